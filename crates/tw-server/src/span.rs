//! Spans of time on the command line.

use std::time::Duration;

/// A span such as `90s`, `30m`, `12h`, `90d` or `52w`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "`{text}` is not a duration: use seconds, minutes, hours, days or weeks, such as 90s, 30m, 12h, 90d or 52w"
        )
    };
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    let number = &text[..text.len() - unit.len_utf8()];
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = number.parse().map_err(|_| wrong())?;
    // A century is longer than anything that is meant, and far from where the calendar ends.
    let span = number.checked_mul(seconds).filter(|span| (1..=100 * 366 * 24 * 60 * 60).contains(span));
    span.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_number_and_a_unit() {
        for (text, hours) in [("3600s", 1), ("60m", 1), ("12h", 12), ("90d", 90 * 24), ("52w", 52 * 7 * 24)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(hours * 3600)), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in [
            "",
            "d",
            "90",
            "0d",
            "-1d",
            "+1d",
            "1.5h",
            "9 d",
            "90D",
            "1y",
            "90é",
            "99999999999999999999d",
            "9999999w",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
