//! `time-savings-calculator`: how much time does a faster way of doing a task save?
//!
//! With *r* the runs of one person in a year, *p* people and *a* the adoption as a fraction, the
//! hours saved in a year are r · p · a · (minutes before − minutes after) ÷ 60. All formulas and a
//! worked example are in `docs/tools/time-savings-calculator.md`.

use std::ops::RangeInclusive;

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::figures::{exact, grouped, percent, positive, shown, too_large};

/// A week has this many minutes; a longer run is more than one task.
const MINUTES_MAX: i64 = 10_080;
const MINUTES: RangeInclusive<i64> = 0..=MINUTES_MAX;
const RUNS: RangeInclusive<i64> = 0..=1_000_000;
const PEOPLE: RangeInclusive<u32> = 1..=1_000_000;
const PERCENT: RangeInclusive<i64> = 0..=100;
const HOURLY: RangeInclusive<i64> = 0..=1_000_000;
const SETUP: RangeInclusive<i64> = 0..=1_000_000_000;
const MONTHS: u32 = 12;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "minutesBefore": 30, "minutesAfter": 12, "runs": 10, "per": "week", "people": 4, "adoptionRate": 75,
    "setupHours": 60, "hourlyCost": 50, "currency": "EUR",
}))]
#[schemars(example = serde_json::json!({ "minutesBefore": 15, "runs": 3, "per": "day" }))]
struct Input {
    /// How many minutes one run of the task takes today.
    #[schemars(title = "Minutes before", range(max = 10_080))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "minutes"), example = 30)]
    minutes_before: f64,
    /// How many minutes one run will take, checking the result included. 0 means no work is left.
    #[serde(default)]
    #[schemars(title = "Minutes after", range(min = 0, max = 10_080))]
    #[schemars(extend("x-unit" = "minutes"), example = 12)]
    minutes_after: f64,
    /// How often one person does the task, in the period given in `per`.
    #[schemars(title = "Runs", range(min = 0, max = 1_000_000), extend("x-unit" = "runs"), example = 10)]
    runs: f64,
    /// The period that `runs` is counted in; a day is a working day.
    #[serde(default = "per_default")]
    #[schemars(title = "Per")]
    per: Period,
    /// How many people do the task, each of them that often.
    #[serde(default = "people_default")]
    #[schemars(title = "People", range(min = 1, max = 1_000_000), extend("x-unit" = "people"))]
    people: u32,
    /// Which part of the runs will really be done the new way; the others take as long as before.
    #[serde(default = "adoption_rate_default")]
    #[schemars(title = "Adoption rate", range(min = 0, max = 100), extend("x-unit" = "percent"))]
    adoption_rate: f64,
    /// Hours spent once, by all together, to build and to learn the new way.
    #[serde(default)]
    #[schemars(title = "Setup hours", range(min = 0, max = 1_000_000_000), extend("x-unit" = "hours"))]
    setup_hours: f64,
    /// What an hour of work costs, to give the time a value. 0 leaves money out.
    #[serde(default)]
    #[schemars(title = "Hourly cost", range(min = 0, max = 1_000_000), extend("x-unit" = "currency"))]
    hourly_cost: f64,
    /// How many days one person works in a week.
    #[serde(default = "days_per_week_default")]
    #[schemars(title = "Days per week", range(max = 7))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "days"))]
    days_per_week: f64,
    /// How many hours one person works in a week, to express the time as full-time positions.
    #[serde(default = "hours_per_week_default")]
    #[schemars(title = "Hours per week", range(max = 168))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "hours"))]
    hours_per_week: f64,
    /// How many weeks one person works in a year, without holidays and absences.
    #[serde(default = "weeks_per_year_default")]
    #[schemars(title = "Weeks per year", range(max = 52))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "weeks"))]
    weeks_per_year: f64,
    /// The currency of the hourly cost, only to show it. Nothing is converted.
    #[serde(default = "currency_default")]
    #[schemars(title = "Currency", regex(pattern = "^[A-Z]{3}$"), example = &"EUR")]
    currency: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Period {
    Day,
    Week,
    Month,
    Year,
}

fn per_default() -> Period {
    Period::Week
}

fn people_default() -> u32 {
    1
}

fn adoption_rate_default() -> f64 {
    100.0
}

fn days_per_week_default() -> f64 {
    5.0
}

fn hours_per_week_default() -> f64 {
    40.0
}

fn weeks_per_year_default() -> f64 {
    46.0
}

fn currency_default() -> String {
    "USD".to_owned()
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// Hours of all people together in a working day, a working week, a month and a year.
    by_period: Vec<InPeriod>,
    /// The running total of the first year, less the setup, for a chart.
    cumulative: Vec<Point>,
    /// The currency of all amounts.
    currency: String,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// By all people together. Negative when the new way is slower.
    #[schemars(title = "Hours saved per year", extend("x-unit" = "hours"))]
    hours_saved_per_year: f64,
    /// Of the hours the task takes today; `null` when it is never done.
    #[schemars(title = "Saved", extend("x-unit" = "percent"))]
    saved_percent: Option<f64>,
    #[schemars(title = "Full-time positions", extend("x-unit" = "FTE"))]
    fte_equivalent: f64,
    #[schemars(title = "Value per year", extend("x-unit" = "currency"))]
    value_per_year: f64,
    /// What the first year saves after the setup.
    #[schemars(title = "Net hours in the first year", extend("x-unit" = "hours"))]
    net_hours_first_year: f64,
    /// After how many working weeks the setup is regained; `null` when never.
    #[schemars(title = "Break-even", extend("x-unit" = "weeks"))]
    break_even_weeks: Option<f64>,
    #[schemars(title = "Runs per year", extend("x-unit" = "runs"))]
    runs_per_year: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InPeriod {
    #[schemars(title = "Period")]
    period: Period,
    #[schemars(title = "Hours before", extend("x-unit" = "hours"))]
    hours_before: f64,
    #[schemars(title = "Hours after", extend("x-unit" = "hours"))]
    hours_after: f64,
    #[schemars(title = "Hours saved", extend("x-unit" = "hours"))]
    hours_saved: f64,
    #[schemars(title = "Value", extend("x-unit" = "currency"))]
    value: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Point {
    #[schemars(title = "Month")]
    month: u32,
    #[schemars(title = "Net hours saved", extend("x-unit" = "hours"))]
    net_hours_saved: f64,
}

/// Calculates how many hours a faster way of doing a repeated task saves: per day, week, month and
/// year, as full-time positions, in money, and when the setup is regained.
///
/// Use it for one task of which you know the minutes before and after and how often it is done. For
/// a process of several steps use `process-automation-scoper`; for a share of a whole team's work
/// over years use `fte-impact-calculator`; for money alone use `roi-calculator`.
#[tool(
    slug = "time-savings-calculator",
    name = "Time Savings Calculator",
    category = "analysis",
    icon = "clock",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["time", "productivity", "hours", "automation"],
    form = "time_savings_calculator.form.json",
    texts = [("de", "time_savings_calculator.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        ("byPeriod", "By period", "table"),
        (
            "cumulative",
            "Net hours in the first year",
            "chart",
            r#"{ "chart": "line", "x": "month", "y": ["netHoursSaved"] }"#
        )
    ]
)]
async fn time_savings_calculator(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = calculate(&input)?;
    let (summary, markdown) = (in_words(&output), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// The input as decimals, checked. Adoption is in percent still, so that divisions come last and
/// nothing is lost before a result is rounded.
struct Task {
    before: Decimal,
    after: Decimal,
    runs_per_year: Decimal,
    adoption: Decimal,
    setup: Decimal,
    hourly: Decimal,
    days: Decimal,
    hours: Decimal,
    weeks: Decimal,
}

impl Task {
    fn new(input: &Input) -> Result<Self, ToolFailure> {
        if !PEOPLE.contains(&input.people) {
            return Err(ToolFailure::invalid("'people' must be from 1 to 1000000"));
        }
        let days = positive("daysPerWeek", input.days_per_week, 7)?;
        let weeks = positive("weeksPerYear", input.weeks_per_year, 52)?;
        let periods = match input.per {
            Period::Day => days * weeks,
            Period::Week => weeks,
            Period::Month => Decimal::from(MONTHS),
            Period::Year => Decimal::ONE,
        };
        Ok(Self {
            before: positive("minutesBefore", input.minutes_before, MINUTES_MAX)?,
            after: exact("minutesAfter", input.minutes_after, &MINUTES)?,
            // The bounds keep every product far below what a decimal can hold.
            runs_per_year: exact("runs", input.runs, &RUNS)? * periods * Decimal::from(input.people),
            adoption: exact("adoptionRate", input.adoption_rate, &PERCENT)?,
            setup: exact("setupHours", input.setup_hours, &SETUP)?,
            hourly: exact("hourlyCost", input.hourly_cost, &HOURLY)?,
            days,
            hours: positive("hoursPerWeek", input.hours_per_week, 168)?,
            weeks,
        })
    }

    /// Hours per year times 6000, which is 60 minutes times 100 percent.
    fn saved(&self) -> Decimal {
        self.runs_per_year * self.adoption * (self.before - self.after)
    }

    fn today(&self) -> Decimal {
        self.runs_per_year * Decimal::ONE_HUNDRED * self.before
    }

    fn in_period(&self, period: Period) -> Result<InPeriod, ToolFailure> {
        let part = match period {
            Period::Day => self.days * self.weeks,
            Period::Week => self.weeks,
            Period::Month => Decimal::from(MONTHS),
            Period::Year => Decimal::ONE,
        };
        let (today, saved) = (self.today(), self.saved());
        Ok(InPeriod {
            period,
            hours_before: hours(today, part)?,
            hours_after: hours(today - saved, part)?,
            hours_saved: hours(saved, part)?,
            value: hours(saved * self.hourly, part)?,
        })
    }

    /// Setup by hours saved in a week.
    fn break_even_weeks(&self) -> Result<Option<f64>, ToolFailure> {
        if self.setup.is_zero() {
            return Ok(Some(0.0));
        }
        let saved = self.saved();
        if saved <= Decimal::ZERO {
            return Ok(None);
        }
        hundredths_of_minutes(self.setup * self.weeks)
            .and_then(|setup| setup.checked_div(saved))
            .ok_or_else(too_large)
            .and_then(shown)
            .map(Some)
    }
}

fn hundredths_of_minutes(hours: Decimal) -> Option<Decimal> {
    hours.checked_mul(Decimal::from(6_000))
}

/// Hours of a year, given times 6000, in a part of the year.
fn hours(of_year: Decimal, part: Decimal) -> Result<f64, ToolFailure> {
    let divisor = hundredths_of_minutes(part).ok_or_else(too_large)?;
    shown(of_year.checked_div(divisor).ok_or_else(too_large)?)
}

fn calculate(input: &Input) -> Result<Output, ToolFailure> {
    let task = Task::new(input)?;
    let (one, saved) = (Decimal::ONE, task.saved());
    let setup = hundredths_of_minutes(task.setup).ok_or_else(too_large)?;
    let summary = Summary {
        hours_saved_per_year: hours(saved, one)?,
        saved_percent: percent(saved, task.today())?,
        fte_equivalent: hours(saved, task.hours * task.weeks)?,
        value_per_year: hours(saved * task.hourly, one)?,
        net_hours_first_year: hours(saved - setup, one)?,
        break_even_weeks: task.break_even_weeks()?,
        runs_per_year: shown(task.runs_per_year)?,
    };
    let periods = [Period::Day, Period::Week, Period::Month, Period::Year];
    let months = Decimal::from(MONTHS);
    let point = |month: u32| {
        let net = saved * Decimal::from(month) - setup * months;
        Ok(Point { month, net_hours_saved: hours(net, months)? })
    };
    Ok(Output {
        summary,
        by_period: periods.into_iter().map(|period| task.in_period(period)).collect::<Result<_, _>>()?,
        cumulative: (0..=MONTHS).map(point).collect::<Result<_, ToolFailure>>()?,
        currency: input.currency.clone(),
    })
}

fn in_words(output: &Output) -> String {
    let Output { summary, currency, .. } = output;
    let mut text = format!(
        "{} hours saved per year ({:.2} FTE)",
        grouped(summary.hours_saved_per_year),
        summary.fte_equivalent
    );
    if summary.value_per_year != 0.0 {
        text.push_str(&format!(", worth {} {currency}", grouped(summary.value_per_year)));
    }
    match summary.break_even_weeks {
        Some(0.0) => {}
        Some(weeks) => text.push_str(&format!(", setup regained after {weeks:.2} weeks")),
        None => text.push_str(", setup never regained"),
    }
    text
}

fn in_markdown(output: &Output) -> String {
    let mut text = format!(
        "{}\n\n| Per | Hours before | Hours after | Hours saved |\n| --- | --: | --: | --: |\n",
        in_words(output)
    );
    for row in &output.by_period {
        let period = match row.period {
            Period::Day => "working day",
            Period::Week => "working week",
            Period::Month => "month",
            Period::Year => "year",
        };
        let figures = [row.hours_before, row.hours_after, row.hours_saved].map(grouped);
        text.push_str(&format!("| {period} | {} |\n", figures.join(" | ")));
    }
    text
}

#[cfg(test)]
#[path = "time_savings_calculator_tests.rs"]
mod tests;
