//! When a call is tried again, and how long it waits before that.

use std::time::Duration;

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
    match sent.as_ref().ok().and_then(|response| response.headers.retry_after()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_doubles_up_to_a_limit() {
        let waits: Vec<_> = (1..8).map(|tries| backoff(tries).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 5000, 5000]);
    }
}
