//! Reading what people and programs write for a moment, and the zones they mean.

use std::sync::LazyLock;

use jiff::{
    Timestamp, Zoned,
    civil::DateTime,
    fmt::{strtime, temporal::DateTimeParser},
    tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase},
};
use toolwright_sdk::ToolFailure;

static PARSER: DateTimeParser = DateTimeParser::new();

/// The zones that come with the program. Those of the machine may be older or missing, and then the
/// same input would give another output there.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A moment, and what was assumed to get it.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) zoned: Zoned,
    pub(super) note: Option<String>,
}

impl From<Zoned> for Moment {
    fn from(zoned: Zoned) -> Self {
        Self { zoned, note: None }
    }
}

pub(super) fn zone(name: &str) -> Result<TimeZone, ToolFailure> {
    ZONES.get(name.trim()).map_err(|_| {
        ToolFailure::invalid(format!(
            "'{name}' is not a time zone: use an IANA name such as Europe/Vienna or UTC"
        ))
    })
}

/// The name of a moment's zone, or its offset if it has no name.
pub(super) fn zone_name(zoned: &Zoned) -> String {
    let zone = zoned.time_zone();
    zone.iana_name().map_or_else(|| zoned.offset().to_string(), str::to_owned)
}

/// A moment from Unix seconds, to the microsecond.
pub(super) fn from_unix(field: &str, seconds: f64, zone: Option<&TimeZone>) -> Result<Moment, ToolFailure> {
    let micros = (seconds * 1e6).round();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cast from float saturates, and the range is checked"
    )]
    let timestamp = Timestamp::from_microsecond(micros as i64);
    let timestamp = timestamp.ok().filter(|_| seconds.is_finite()).ok_or_else(|| {
        ToolFailure::invalid(format!(
            "'{field}' is out of range: seconds since 1970 are meant, not milliseconds"
        ))
    })?;
    Ok(in_zone(timestamp, zone).into())
}

/// A moment from a text.
///
/// A text that names a zone of its own keeps it unless another is asked for; a text without zone and
/// offset is local time in the zone asked for, or in UTC.
pub(super) fn from_text(field: &str, text: &str, zone: Option<&TimeZone>) -> Result<Moment, ToolFailure> {
    let text = text.trim();
    if let Some(seconds) = unix_seconds(text) {
        return from_unix(field, seconds, zone);
    }
    let unreadable = |reason: &jiff::Error| {
        ToolFailure::invalid(format!(
            "'{field}' is not a date or time: \"{text}\" ({reason}). Use 2026-03-29T10:00:00Z, \
             2026-03-29T10:00:00+02:00[Europe/Vienna], 2026-03-29T10:00:00, 2026-03-29 or Unix seconds"
        ))
    };
    let has_offset = PARSER.parse_timestamp(text);
    if text.contains('[') {
        let own = PARSER.parse_zoned_with(&ZONES, text).map_err(|error| unreadable(&error))?;
        let moment = match PARSER.parse_datetime(text) {
            Ok(civil) if has_offset.is_err() => local(field, civil, own.time_zone())?,
            _ => own.into(),
        };
        return Ok(match zone {
            Some(zone) => Moment { zoned: moment.zoned.with_time_zone(zone.clone()), ..moment },
            None => moment,
        });
    }
    if let Ok(timestamp) = has_offset {
        return Ok(in_zone(timestamp, zone).into());
    }
    let civil = PARSER.parse_datetime(text).map_err(|error| unreadable(&error))?;
    local(field, civil, zone.unwrap_or(&TimeZone::UTC))
}

/// A moment from a text that is written after a pattern.
pub(super) fn from_pattern(
    field: &str,
    text: &str,
    pattern: &str,
    zone: Option<&TimeZone>,
) -> Result<Moment, ToolFailure> {
    let wrong = |error: jiff::Error| {
        ToolFailure::invalid(format!("'{field}' does not fit the format \"{pattern}\": {error}"))
    };
    let parts = strtime::parse(pattern, text.trim()).map_err(wrong)?;
    if parts.iana_time_zone().is_some() {
        let own = parts.to_zoned_with(&ZONES).map_err(wrong)?;
        return Ok(zone.map_or_else(|| own.clone(), |zone| own.with_time_zone(zone.clone())).into());
    }
    if let Ok(timestamp) = parts.to_timestamp() {
        return Ok(in_zone(timestamp, zone).into());
    }
    // A date without a time is the start of its day.
    let civil = parts.to_datetime().or_else(|_| parts.to_date().map(DateTime::from)).map_err(wrong)?;
    local(field, civil, zone.unwrap_or(&TimeZone::UTC))
}

/// Seconds written as a text. Fewer than nine digits are more likely a year or a date such as
/// 20260329.
fn unix_seconds(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (9 <= whole.len() && all_digits(whole) && all_digits(fraction)).then(|| text.parse().ok()).flatten()
}

fn in_zone(timestamp: Timestamp, zone: Option<&TimeZone>) -> Zoned {
    timestamp.to_zoned(zone.cloned().unwrap_or(TimeZone::UTC))
}

/// Local time in a zone. A time that the clocks skip is moved forward by the length of the gap, of a
/// time that happens twice the first is taken, and the note says so.
fn local(field: &str, civil: DateTime, zone: &TimeZone) -> Result<Moment, ToolFailure> {
    let ambiguous = zone.to_ambiguous_zoned(civil);
    let offset = ambiguous.offset();
    let zoned = ambiguous
        .compatible()
        .map_err(|error| ToolFailure::invalid(format!("'{field}' is out of range: {error}")))?;
    let name = zone_name(&zoned);
    let note = match offset {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => Some(format!(
            "{civil} does not exist in {name}, where clocks go forward: moved to {}",
            zoned.datetime()
        )),
        AmbiguousOffset::Fold { .. } => {
            Some(format!("{civil} happens twice in {name}, where clocks go back: the first was taken"))
        }
    };
    Ok(Moment { zoned, note })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, zone_name: Option<&str>, expected: &str) {
        let zone = zone_name.map(|name| zone(name).unwrap());
        assert_eq!(from_text("value", text, zone.as_ref()).unwrap().zoned.to_string(), expected, "{text}");
    }

    #[test]
    fn every_usual_way_to_write_a_moment_is_read() {
        let vienna = Some("Europe/Vienna");
        check("2026-03-29T10:00:00Z", None, "2026-03-29T10:00:00+00:00[UTC]");
        check("2026-03-29T10:00:00Z", vienna, "2026-03-29T12:00:00+02:00[Europe/Vienna]");
        check("2026-03-29T10:00:00.25+05:30", None, "2026-03-29T04:30:00.25+00:00[UTC]");
        check(" 2026-03-29 10:00:00 ", vienna, "2026-03-29T10:00:00+02:00[Europe/Vienna]");
        check("2026-03-29", vienna, "2026-03-29T00:00:00+01:00[Europe/Vienna]");
        check("20260329", None, "2026-03-29T00:00:00+00:00[UTC]");
        check("1774778400", None, "2026-03-29T10:00:00+00:00[UTC]");
        check("-864000000.5", None, "1942-08-15T23:59:59.5+00:00[UTC]");
    }

    #[test]
    fn zone_in_the_text_holds_unless_another_is_asked_for() {
        let text = "2026-01-15T12:00:00+01:00[Europe/Vienna]";
        check(text, None, text);
        check(text, Some("America/New_York"), "2026-01-15T06:00:00-05:00[America/New_York]");
        check("2026-01-15T12:00[Asia/Kolkata]", None, "2026-01-15T12:00:00+05:30[Asia/Kolkata]");
    }

    #[test]
    fn time_that_the_clocks_skip_is_moved_forward_and_noted() {
        for (text, zone_name) in
            [("2024-03-10T02:30:00", Some("America/New_York")), ("2024-03-10T02:30[America/New_York]", None)]
        {
            let zone = zone_name.map(|name| zone(name).unwrap());
            let moment = from_text("value", text, zone.as_ref()).unwrap();
            assert_eq!(moment.zoned.to_string(), "2024-03-10T03:30:00-04:00[America/New_York]");
            assert_eq!(
                moment.note.unwrap(),
                "2024-03-10T02:30:00 does not exist in America/New_York, where clocks go forward: \
                 moved to 2024-03-10T03:30:00"
            );
        }
    }

    #[test]
    fn of_a_time_that_happens_twice_the_first_is_taken_and_noted() {
        let vienna = zone("Europe/Vienna").unwrap();
        let moment = from_text("value", "2025-10-26T02:30:00", Some(&vienna)).unwrap();
        assert_eq!(moment.zoned.to_string(), "2025-10-26T02:30:00+02:00[Europe/Vienna]");
        assert!(moment.note.unwrap().contains("happens twice in Europe/Vienna"));
        let sure = from_text("value", "2025-10-26T02:30:00+01:00[Europe/Vienna]", None).unwrap();
        assert_eq!(sure.zoned.to_string(), "2025-10-26T02:30:00+01:00[Europe/Vienna]");
        assert_eq!(sure.note, None);
    }

    #[test]
    fn what_is_no_moment_is_refused_with_the_ways_to_write_one() {
        for text in [
            "",
            "2024",
            "tomorrow",
            "2023-02-29",
            "2024-13-01",
            "2024-01-01T25:00",
            "2024-01-01T00:00[Mars/Base]",
        ] {
            let failure = from_text("value", text, None).unwrap_err();
            assert!(
                failure.message.starts_with(&format!("'value' is not a date or time: \"{text}\" (")),
                "{failure}"
            );
            assert!(failure.message.ends_with("2026-03-29 or Unix seconds"), "{failure}");
        }
    }

    #[test]
    fn milliseconds_are_not_taken_for_seconds() {
        for seconds in [1_774_778_400_000.0, f64::INFINITY, f64::NAN, -1e300] {
            let failure = from_unix("value", seconds, None).unwrap_err();
            assert!(failure.message.ends_with("not milliseconds"), "{failure}");
        }
        assert!(from_text("value", "1774778400000", None).is_err());
    }

    #[test]
    fn text_after_a_pattern_is_read_with_or_without_zone() {
        let vienna = zone("Europe/Vienna").unwrap();
        let read = |text, pattern| {
            from_pattern("value", text, pattern, Some(&vienna)).map(|moment| moment.zoned.to_string())
        };
        let noon = "2026-07-01T12:00:00+02:00[Europe/Vienna]";
        assert_eq!(read("01.07.2026 12:00", "%d.%m.%Y %H:%M").unwrap(), noon);
        assert_eq!(read("01.07.2026", "%d.%m.%Y").unwrap(), "2026-07-01T00:00:00+02:00[Europe/Vienna]");
        assert_eq!(read("2026-07-01 10:00 +0000", "%F %H:%M %z").unwrap(), noon);
        assert_eq!(read("2026-07-01 03:00 America/Los_Angeles", "%F %H:%M %Q").unwrap(), noon);
        assert!(
            read("1/7/26", "%d.%m.%Y").unwrap_err().message.starts_with("'value' does not fit the format")
        );
        assert!(read("12", "%H").is_err());
    }

    #[test]
    fn unknown_zone_is_refused_by_name() {
        let failure = zone("Middle/Earth").unwrap_err();
        assert_eq!(
            failure.message,
            "'Middle/Earth' is not a time zone: use an IANA name such as Europe/Vienna or UTC"
        );
        assert_eq!(zone("europe/vienna").unwrap().iana_name(), Some("Europe/Vienna"));
    }
}
