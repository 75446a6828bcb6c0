//! Exact numbers, from JSON and back.
//!
//! Amounts are calculated as decimals, because a sum of binary fractions is off by a cent sooner or
//! later. JSON has one kind of number, so they come in and go out as such: what a person wrote as
//! `0.1` is read as exactly one tenth.

use std::ops::RangeInclusive;

use rust_decimal::{Decimal, RoundingStrategy};
use toolwright_sdk::ToolFailure;

/// Up to here two decimals survive the way through a JSON number: below 2^46 its steps are smaller
/// than a hundredth.
const SHOWN_MAX: i64 = 70_000_000_000_000;

/// Reads a number of the input as the decimal that was written.
pub(crate) fn exact(name: &str, value: f64, range: &RangeInclusive<i64>) -> Result<Decimal, ToolFailure> {
    // The shortest text that stands for this number is what the caller wrote.
    let decimal = value.to_string().parse::<Decimal>().ok();
    let inside =
        |decimal: &Decimal| (Decimal::from(*range.start())..=Decimal::from(*range.end())).contains(decimal);
    decimal.filter(inside).ok_or_else(|| {
        ToolFailure::invalid(format!(
            "'{name}' must be from {} to {}, not {value}",
            range.start(),
            range.end()
        ))
    })
}

/// Reads a number of the input that something is divided by, or that makes no sense as nothing.
pub(crate) fn positive(name: &str, value: f64, max: i64) -> Result<Decimal, ToolFailure> {
    let decimal = value.to_string().parse::<Decimal>().ok();
    let inside = |decimal: &Decimal| Decimal::ZERO < *decimal && *decimal <= Decimal::from(max);
    decimal.filter(inside).ok_or_else(|| {
        ToolFailure::invalid(format!("'{name}' must be above 0 and at most {max}, not {value}"))
    })
}

/// A part in percent of a whole; `None` when there is no whole.
pub(crate) fn percent(part: Decimal, whole: Decimal) -> Result<Option<f64>, ToolFailure> {
    if whole.is_zero() {
        return Ok(None);
    }
    let percent = part.checked_mul(Decimal::ONE_HUNDRED).and_then(|part| part.checked_div(whole));
    shown(percent.ok_or_else(too_large)?).map(Some)
}

/// Rounds to two decimals, halves away from zero. Only results are rounded, never what they are
/// calculated from.
pub(crate) fn rounded(value: Decimal) -> Decimal {
    let rounded = value.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    // There is no minus zero in money.
    if rounded.is_zero() { Decimal::ZERO } else { rounded }
}

/// A result as a JSON number with two decimals.
pub(crate) fn shown(value: Decimal) -> Result<f64, ToolFailure> {
    let rounded = rounded(value);
    if Decimal::from(SHOWN_MAX) < rounded.abs() {
        return Err(too_large());
    }
    Ok(rounded.to_string().parse().expect("a decimal is written as a number"))
}

pub(crate) fn too_large() -> ToolFailure {
    ToolFailure::invalid(
        "the result is too large to be given to two decimals: use smaller amounts or larger units",
    )
}

/// A result for people: two decimals, thousands apart.
pub(crate) fn grouped(value: f64) -> String {
    let text = format!("{value:.2}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, cents) = digits.split_once('.').unwrap_or((digits, "00"));
    let mut out = sign.to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if 0 < index && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    format!("{out}.{cents}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn number_is_read_as_the_decimal_that_was_written() {
        let read = |value| exact("x", value, &(0..=1_000_000_000_000)).unwrap();
        assert_eq!(read(0.1) + read(0.2), decimal("0.3"));
        assert_eq!(read(999_999_999_999.99), decimal("999999999999.99"));
        assert_eq!(read(1e12), decimal("1000000000000"));
        assert_eq!(read(1e-300), Decimal::ZERO);
    }

    #[test]
    fn number_out_of_range_is_refused_by_name() {
        for value in [-0.01, 10.01, 1e300, f64::NAN, f64::INFINITY] {
            let failure = exact("impact", value, &(0..=10)).unwrap_err();
            assert!(failure.message.starts_with("'impact' must be from 0 to 10, not "), "{failure}");
        }
    }

    #[test]
    fn divisor_has_to_be_above_zero() {
        assert_eq!(positive("weeks", 0.01, 52), Ok(decimal("0.01")));
        assert_eq!(positive("weeks", 52.0, 52), Ok(decimal("52")));
        for value in [0.0, -1.0, 52.01, 1e-300, f64::NAN, f64::INFINITY] {
            let failure = positive("weeks", value, 52).unwrap_err();
            assert!(failure.message.starts_with("'weeks' must be above 0 and at most 52, not "), "{failure}");
        }
    }

    #[test]
    fn percent_of_nothing_is_none_and_one_too_large_is_refused() {
        assert_eq!(percent(decimal("1"), decimal("3")), Ok(Some(33.33)));
        assert_eq!(percent(decimal("1"), Decimal::ZERO), Ok(None));
        assert_eq!(percent(decimal("1000000"), decimal("0.0000000000000000000000000001")), Err(too_large()));
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (value, expected) in [
            ("0.005", 0.01),
            ("0.015", 0.02),
            ("2.675", 2.68),
            ("-0.005", -0.01),
            ("-2.674", -2.67),
            ("7", 7.0),
        ] {
            assert_eq!(shown(decimal(value)), Ok(expected), "{value}");
        }
        assert!(shown(decimal("-0.004")).unwrap().is_sign_positive());
    }

    #[test]
    fn largest_result_keeps_its_cents_and_a_larger_one_is_refused() {
        let text = serde_json::to_string(&shown(decimal("69999999999999.99")).unwrap()).unwrap();
        assert_eq!(text, "69999999999999.99");
        assert_eq!(shown(decimal("70000000000000.01")), Err(too_large()));
    }

    #[test]
    fn thousands_stand_apart() {
        let cases =
            [(0.0, "0.00"), (-525.92, "-525.92"), (1_000.0, "1,000.00"), (-1_234_567.8, "-1,234,567.80")];
        for (value, expected) in cases {
            assert_eq!(grouped(value), expected);
        }
    }
}
