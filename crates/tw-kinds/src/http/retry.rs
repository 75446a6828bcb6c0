//! When a call is tried again, and how long it waits before that.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use tw_egress::{Error, Response};

const FIRST_WAIT: Duration = Duration::from_millis(200);
const WAIT_MAX: Duration = Duration::from_secs(5);
/// However long a service asks us to wait.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(30);

/// Whether the same request may succeed in a moment.
pub(super) fn may_pass(sent: &Result<Response, Error>) -> bool {
    match sent {
        Ok(response) => matches!(response.status, 429 | 502 | 503 | 504),
        Err(error) => error.is_retryable(),
    }
}

/// How long to wait before another try; `tries` have been made.
pub(super) fn wait(tries: u32, sent: &Result<Response, Error>) -> Duration {
    let asked = sent.as_ref().ok().and_then(|response| response.headers.get("retry-after"));
    match asked.and_then(|asked| asked_wait(asked, Timestamp::now())) {
        Some(asked) => asked.min(ASKED_WAIT_MAX),
        None => short_wait(tries),
    }
}

/// How long to wait where nobody has asked for more.
pub(crate) fn short_wait(tries: u32) -> Duration {
    backoff(tries).mul_f64(0.5 + fastrand::f64() / 2.0)
}

fn backoff(tries: u32) -> Duration {
    let factor = 1 << tries.saturating_sub(1).min(10);
    (FIRST_WAIT * factor).min(WAIT_MAX)
}

/// `Retry-After`: seconds, or a date.
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

    #[test]
    fn waiting_doubles_up_to_a_limit() {
        let waits: Vec<_> = (1..8).map(|tries| backoff(tries).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 5000, 5000]);
    }
}
