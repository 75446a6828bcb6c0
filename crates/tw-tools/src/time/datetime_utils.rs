//! `datetime_utils`: the current time, and reading, writing, adding, comparing, converting times.
//!
//! All operations with examples are in `docs/tools/datetime_utils.md`.

use std::fmt;

use jiff::{Span, Timestamp, Unit, Zoned, fmt::strtime, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_sdk::{Code, Reply, ToolContext, ToolFailure, tool};

use super::moment::{self, Moment};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Operation {
    Now,
    Parse,
    Format,
    Add,
    Diff,
    Convert,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Now => "now",
            Self::Parse => "parse",
            Self::Format => "format",
            Self::Add => "add",
            Self::Diff => "diff",
            Self::Convert => "convert",
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum StepUnit {
    Years,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
}

/// A moment as a caller writes it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Written {
    Unix(f64),
    Text(String),
}

impl JsonSchema for Written {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number"], "maxLength": 100 })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({ "operation": "now", "timezone": "Europe/Vienna" }))]
#[schemars(example = json!({ "operation": "parse", "value": "01.07.2026", "format": "%d.%m.%Y" }))]
#[schemars(example = json!({
    "operation": "format", "value": "2026-03-29T10:00:00Z", "format": "%A, %d %B %Y",
}))]
#[schemars(example = json!({
    "operation": "add", "value": "2024-01-31", "amount": 1, "unit": "months",
}))]
#[schemars(example = json!({
    "operation": "diff", "value": "2024-02-28", "other": "2024-03-01",
}))]
#[schemars(example = json!({
    "operation": "convert", "value": "2026-03-29T10:00:00", "timezone": "Europe/Vienna",
    "to_timezone": "America/New_York",
}))]
#[schemars(extend("allOf" = needs_by_operation()))]
struct Input {
    /// What to do. `now` needs nothing else; `parse` needs `value`; `format` needs `value` and
    /// `format`; `add` needs `value`, `amount` and `unit`; `diff` needs `value` and `other`;
    /// `convert` needs `value` and `to_timezone`.
    #[schemars(title = "Operation")]
    operation: Operation,
    /// The moment to work on: 2026-03-29T10:00:00Z, a local time without offset, a date, or Unix
    /// seconds.
    #[schemars(title = "Date or time", example = &"2026-03-29T10:00:00Z", example = 1_774_778_400)]
    value: Option<Written>,
    /// The second moment of `diff`, written like `value`.
    #[schemars(title = "Other date or time")]
    other: Option<Written>,
    /// IANA name of the zone to read local times in and to answer in. Without it, the zone that
    /// `value` names, or UTC.
    #[schemars(title = "Time zone", length(max = 100), example = &"Europe/Vienna")]
    timezone: Option<String>,
    /// For `convert`: the zone to convert to.
    #[schemars(title = "To time zone", length(max = 100), example = &"America/New_York")]
    to_timezone: Option<String>,
    /// A pattern with `%Y %m %d %H %M %S %A %B %z` and the like: how to write (`format`), or how
    /// `value` is written (`parse`).
    #[schemars(title = "Format", length(max = 200), example = &"%d.%m.%Y %H:%M")]
    format: Option<String>,
    /// For `add`: how much, in `unit`. Negative goes back.
    #[schemars(title = "Amount", range(min = -1_000_000_000_000_i64, max = 1_000_000_000_000_i64))]
    amount: Option<i64>,
    /// For `add`: the unit of `amount`.
    #[schemars(title = "Unit")]
    unit: Option<StepUnit>,
}

/// What each operation needs, so that a call without it never runs. The input stays one flat object.
fn needs_by_operation() -> Value {
    let needs = |operations: &[&str], fields: &[&str]| {
        json!({
            "if": { "properties": { "operation": { "enum": operations } }, "required": ["operation"] },
            "then": { "required": fields },
        })
    };
    json!([
        needs(&["parse", "format", "add", "diff", "convert"], &["value"]),
        needs(&["format"], &["format"]),
        needs(&["add"], &["amount", "unit"]),
        needs(&["diff"], &["other"]),
        needs(&["convert"], &["to_timezone"]),
    ])
}

/// The moment that was asked for, or, for `diff`, the difference.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    operation: Operation,
    /// The zone that the answer is in.
    timezone: String,
    #[serde(flatten)]
    answer: TimeAnswer,
    /// What was assumed, for instance about a time that the clocks skip.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The fields of a moment or those of a difference.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct TimeAnswer {
    /// The moment in RFC 3339, with the offset of the zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    iso: Option<String>,
    /// Whole seconds since 1970-01-01T00:00:00Z.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "seconds"))]
    unix_seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weekday: Option<String>,
    /// The moment as `format` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    formatted: Option<String>,
    /// Whole seconds from `value` to `other`; negative when `other` is earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "seconds"))]
    seconds: Option<i64>,
    /// The same in days of 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "days"))]
    days: Option<f64>,
    /// The difference in words, by the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    human: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calendar: Option<Calendar>,
    /// `value` in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// `other` in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

/// A difference by the calendar of the zone: months and days as long as they are. All parts have the
/// same sign.
#[derive(Debug, Serialize, JsonSchema)]
struct Calendar {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
}

/// Tells the current date and time, and works with dates and times: parse, format, add or subtract,
/// difference, convert between time zones. Knows leap years, month ends and daylight saving time.
///
/// Use it whenever today's date matters or a date has to be calculated, instead of guessing. It does
/// not know holidays, opening hours or calendars of people.
#[tool(
    slug = "datetime_utils",
    name = "Date and time",
    category = "time",
    icon = "clock",
    version = "1.0.0",
    level = "read",
    timeout_ms = 5_000,
    tags = ["date", "time", "timezone", "now"],
    form = "datetime_utils.form.json",
    texts = [("de", "datetime_utils.de.json")],
    open_world = false,
    builtin,
    callable
)]
async fn datetime_utils(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    run_at(Timestamp::now(), &input)
}

/// The whole tool but for the clock.
fn run_at(now: Timestamp, input: &Input) -> Result<Reply<Output>, ToolFailure> {
    let zone = input.timezone.as_deref().map(moment::zone).transpose()?;
    let (moment, formatted) = match input.operation {
        Operation::Now => (now.to_zoned(zone.unwrap_or(TimeZone::UTC)).into(), None),
        Operation::Parse => (input.value(zone.as_ref())?, None),
        Operation::Format => {
            let moment = input.value(zone.as_ref())?;
            let formatted = formatted(input.needs("format", input.format.as_deref())?, &moment.zoned)?;
            (moment, Some(formatted))
        }
        Operation::Add => (input.add(zone.as_ref())?, None),
        Operation::Diff => return input.diff(zone.as_ref()),
        Operation::Convert => {
            let to = moment::zone(input.needs("to_timezone", input.to_timezone.as_deref())?)?;
            let moment = input.value(zone.as_ref())?;
            (Moment { zoned: moment.zoned.with_time_zone(to), ..moment }, None)
        }
    };
    let summary = formatted.clone().unwrap_or_else(|| in_words(&moment.zoned));
    let answer = TimeAnswer { formatted, ..TimeAnswer::of(&moment.zoned) };
    Ok(input.reply(&moment.zoned, answer, moment.note, summary))
}

impl Input {
    fn needs<T>(&self, field: &str, value: Option<T>) -> Result<T, ToolFailure> {
        value.ok_or_else(|| {
            let message = format!("datetime_utils.{} requires '{field}'", self.operation);
            ToolFailure::with_code(Code::MissingParam, message)
        })
    }

    fn value(&self, zone: Option<&TimeZone>) -> Result<Moment, ToolFailure> {
        match (self.needs("value", self.value.as_ref())?, &self.format) {
            (Written::Text(text), Some(pattern)) if self.operation == Operation::Parse => {
                moment::from_pattern("value", text, pattern, zone)
            }
            (value, _) => value.read("value", zone),
        }
    }

    fn add(&self, zone: Option<&TimeZone>) -> Result<Moment, ToolFailure> {
        let moment = self.value(zone)?;
        let amount = self.needs("amount", self.amount)?;
        let span = Span::new();
        let span = match self.needs("unit", self.unit)? {
            StepUnit::Years => span.try_years(amount),
            StepUnit::Months => span.try_months(amount),
            StepUnit::Weeks => span.try_weeks(amount),
            StepUnit::Days => span.try_days(amount),
            StepUnit::Hours => span.try_hours(amount),
            StepUnit::Minutes => span.try_minutes(amount),
            StepUnit::Seconds => span.try_seconds(amount),
        };
        let zoned = span.and_then(|span| moment.zoned.checked_add(span)).map_err(|_| {
            ToolFailure::invalid(
                "the result is out of range: from the year -9999 to 30 December 9999 can be calculated",
            )
        })?;
        Ok(Moment { zoned, ..moment })
    }

    fn diff(&self, zone: Option<&TimeZone>) -> Result<Reply<Output>, ToolFailure> {
        let from = self.value(zone)?;
        // Both in one zone: days and months have no common length across two.
        let zone = from.zoned.time_zone();
        let to = self.needs("other", self.other.as_ref())?.read("other", Some(zone))?;
        let span = from
            .zoned
            .until((Unit::Year, &to.zoned))
            .map_err(|error| ToolFailure::invalid(format!("the difference cannot be calculated: {error}")))?;
        let seconds = from.zoned.duration_until(&to.zoned).as_secs();
        let human = human(&span, seconds);
        let answer = TimeAnswer {
            seconds: Some(seconds),
            days: Some(days(seconds)),
            human: Some(human.clone()),
            calendar: Some(Calendar::of(&span)),
            from: Some(iso(&from.zoned)),
            to: Some(iso(&to.zoned)),
            ..TimeAnswer::default()
        };
        let notes: Vec<String> = from.note.into_iter().chain(to.note).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Ok(self.reply(&from.zoned, answer, note, human))
    }

    fn reply(&self, at: &Zoned, answer: TimeAnswer, note: Option<String>, summary: String) -> Reply<Output> {
        let output = Output { operation: self.operation, timezone: moment::zone_name(at), answer, note };
        Reply::new(output, summary)
    }
}

impl Written {
    fn read(&self, field: &str, zone: Option<&TimeZone>) -> Result<Moment, ToolFailure> {
        match self {
            Self::Unix(seconds) => moment::from_unix(field, *seconds, zone),
            Self::Text(text) => moment::from_text(field, text, zone),
        }
    }
}

impl TimeAnswer {
    fn of(zoned: &Zoned) -> Self {
        Self {
            iso: Some(iso(zoned)),
            unix_seconds: Some(zoned.timestamp().as_second()),
            date: Some(zoned.date().to_string()),
            time: Some(zoned.strftime("%H:%M:%S").to_string()),
            weekday: Some(zoned.strftime("%A").to_string()),
            ..Self::default()
        }
    }
}

impl Calendar {
    fn of(span: &Span) -> Self {
        Self {
            years: span.get_years().into(),
            months: span.get_months().into(),
            days: span.get_days().into(),
            hours: span.get_hours().into(),
            minutes: span.get_minutes(),
            seconds: span.get_seconds(),
        }
    }
}

/// RFC 3339: `Z` in UTC, else the offset of the zone.
fn iso(zoned: &Zoned) -> String {
    if zoned.time_zone() == &TimeZone::UTC {
        return zoned.timestamp().to_string();
    }
    zoned.timestamp().display_with_offset(zoned.offset()).to_string()
}

fn formatted(pattern: &str, zoned: &Zoned) -> Result<String, ToolFailure> {
    strtime::format(pattern, zoned)
        .map_err(|error| ToolFailure::invalid(format!("'format' cannot be used: {error}")))
}

/// Days of 24 hours, to six decimals.
fn days(seconds: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the range of times is far below 2^53 seconds")]
    let days = seconds as f64 / 86_400.0;
    (days * 1e6).round() / 1e6
}

fn in_words(zoned: &Zoned) -> String {
    format!("{} {} ({})", zoned.strftime("%A"), iso(zoned), moment::zone_name(zoned))
}

fn human(span: &Span, seconds: i64) -> String {
    let Calendar { years, months, days, hours, minutes, seconds: rest } = Calendar::of(span);
    let parts = [
        (years, "year"),
        (months, "month"),
        (days, "day"),
        (hours, "hour"),
        (minutes, "minute"),
        (rest, "second"),
    ];
    let words: Vec<String> = parts
        .into_iter()
        .map(|(count, word)| (count.unsigned_abs(), word))
        .filter(|(count, _)| *count != 0)
        .map(|(count, word)| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") })
        .collect();
    match (words.is_empty(), seconds < 0) {
        (true, _) => "the same moment, to the second".to_owned(),
        (false, true) => format!("{} earlier", words.join(", ")),
        (false, false) => format!("{} later", words.join(", ")),
    }
}

#[cfg(test)]
#[path = "datetime_utils_tests.rs"]
mod tests;
