//! Headers, in the order they were sent.

use std::{fmt, time::Duration};

use http::HeaderMap;
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};

/// The headers of an answer. Names are lower case. Printed, it shows names alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The first header of that name, in any case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How long the service asks us to wait by `Retry-After`, which has seconds or a date.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        asked_wait(self.get("retry-after")?, Timestamp::now())
    }

    pub(crate) fn of(map: &HeaderMap) -> Self {
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        Self(map.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect())
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

fn asked_wait(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let at = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_time_is_read_as_seconds_or_as_a_date() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let table = [
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("999999999", Some(999_999_999)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Fri, 02 Jan 2026 03:04:15 GMT", Some(10)),
            ("Fri, 02 Jan 2026 03:04:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ];
        for (text, seconds) in table {
            assert_eq!(asked_wait(text, now), seconds.map(Duration::from_secs), "{text:?}");
        }
    }
}
