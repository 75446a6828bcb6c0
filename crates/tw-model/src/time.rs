//! A moment, as stored: microseconds since 1970, UTC.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since 1970 in UTC; RFC 3339 on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

impl Timestamp {
    #[must_use]
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
    }

    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The day in UTC, counted from 1970.
    #[must_use]
    pub const fn day(self) -> i64 {
        self.0.div_euclid(DAY_MICROS)
    }

    /// The first day of its month in UTC, counted from 1970.
    #[must_use]
    pub fn first_day_of_month(self) -> i64 {
        let day_of_month = jiff::Timestamp::from_microsecond(self.0)
            .map_or(1, |moment| moment.to_zoned(jiff::tz::TimeZone::UTC).day());
        self.day() - i64::from(day_of_month) + 1
    }

    /// How long after `earlier` this is; zero when it is not after.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(f, "{moment:.6}"),
            // Only a corrupt row could hold such a number; showing it beats hiding it.
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|moment| Self(moment.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_months_are_counted_in_utc() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(at("1970-01-01T23:59:59Z").day(), 0);
        assert_eq!(at("1969-12-31T23:59:59Z").day(), -1);
        let first = at("2028-02-01T00:00:00Z").day();
        for text in ["2028-02-01T00:00:00Z", "2028-02-29T23:59:59Z"] {
            assert_eq!(at(text).first_day_of_month(), first, "{text}");
        }
        assert_eq!(at("2028-03-01T00:00:00Z").first_day_of_month(), first + 29);
    }
}
