//! `fte-impact-calculator`: what does a change of a team's work mean in full-time positions?
//!
//! The workload of year *t* is headcount · share · (1 + growth)^(t − 1) positions; the change frees
//! workload · reduction · usable share of them. All formulas and a worked example are in
//! `docs/tools/fte-impact-calculator.md`.

use std::ops::RangeInclusive;

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::figures::{exact, grouped, percent, positive, shown, too_large};

const HEADCOUNT_MAX: i64 = 1_000_000;
const PERCENT: RangeInclusive<i64> = 0..=100;
const GROWTH: RangeInclusive<i64> = -100..=100;
const MONEY: RangeInclusive<i64> = 0..=100_000_000;
const YEARS: RangeInclusive<u32> = 1..=10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "headcount": 12, "shareOfTime": 50, "reduction": 40, "usableShare": 75, "volumeGrowth": 10, "years": 3,
    "annualCostPerFte": 60000, "currency": "EUR",
}))]
#[schemars(example = serde_json::json!({ "headcount": 5, "reduction": 30 }))]
struct Input {
    /// How many full-time positions the people who do the work add up to; two half positions are 1.
    #[schemars(title = "Headcount", range(max = 1_000_000))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "FTE"), example = 12)]
    headcount: f64,
    /// Which part of their time goes into the work that changes.
    #[serde(default = "whole")]
    #[schemars(title = "Share of time", range(min = 0, max = 100), extend("x-unit" = "percent"))]
    share_of_time: f64,
    /// Which part of that work the change takes away.
    #[schemars(title = "Reduction", range(min = 0, max = 100))]
    #[schemars(extend("x-unit" = "percent"), example = 40)]
    reduction: f64,
    /// Which part of the freed time can really be used for something else. Minutes here and there
    /// cannot.
    #[serde(default = "whole")]
    #[schemars(title = "Usable share", range(min = 0, max = 100), extend("x-unit" = "percent"))]
    usable_share: f64,
    /// By how much the work grows (or shrinks, if negative) from one year to the next.
    #[serde(default)]
    #[schemars(title = "Volume growth", range(min = -100, max = 100), extend("x-unit" = "percent"))]
    volume_growth: f64,
    /// How many years to look at.
    #[serde(default = "years_default")]
    #[schemars(title = "Years", range(min = 1, max = 10), extend("x-unit" = "years"))]
    years: u32,
    /// What one full-time position costs in a year, with everything. 0 leaves money out.
    #[serde(default)]
    #[schemars(title = "Annual cost per FTE", range(min = 0, max = 100_000_000))]
    #[schemars(extend("x-unit" = "currency"))]
    annual_cost_per_fte: f64,
    /// How many hours one full-time position works in a year, without holidays and absences.
    #[serde(default = "hours_default")]
    #[schemars(title = "Hours per FTE and year", range(max = 8_784))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "hours"))]
    hours_per_fte: f64,
    /// The currency of the cost, only to show it. Nothing is converted.
    #[serde(default = "currency_default")]
    #[schemars(title = "Currency", regex(pattern = "^[A-Z]{3}$"), example = &"EUR")]
    currency: String,
}

fn whole() -> f64 {
    100.0
}

fn years_default() -> u32 {
    3
}

/// 46 weeks of 40 hours.
fn hours_default() -> f64 {
    1_840.0
}

fn currency_default() -> String {
    "USD".to_owned()
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// One entry per year.
    yearly_results: Vec<YearlyResult>,
    /// Positions needed without and with the change, for a chart.
    staffing: Vec<Point>,
    /// The currency of all amounts.
    currency: String,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// What the work takes today.
    #[schemars(title = "Workload today", extend("x-unit" = "FTE"))]
    fte_today: f64,
    /// In the first year.
    #[schemars(title = "Freed", extend("x-unit" = "FTE"))]
    fte_freed: f64,
    /// What is freed in the first year, in whole positions, rounded down.
    #[schemars(title = "Whole positions freed", extend("x-unit" = "FTE"))]
    whole_positions_freed: u32,
    /// In the first year.
    #[schemars(title = "Hours freed", extend("x-unit" = "hours"))]
    hours_freed: f64,
    /// Of the time of the whole headcount, in the first year.
    #[schemars(title = "Capacity freed", extend("x-unit" = "percent"))]
    capacity_freed_percent: Option<f64>,
    /// What the work takes in the last year with the change, less what it takes today. Negative means
    /// fewer positions, positive more.
    #[schemars(title = "Change by the last year", extend("x-unit" = "FTE"))]
    fte_change: f64,
    /// The freed positions of all years at their cost. Saved only if the time is put to use.
    #[schemars(title = "Value of all years", extend("x-unit" = "currency"))]
    total_value: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct YearlyResult {
    #[schemars(title = "Year")]
    year: u32,
    #[schemars(title = "Without the change", extend("x-unit" = "FTE"))]
    fte_without: f64,
    #[schemars(title = "With the change", extend("x-unit" = "FTE"))]
    fte_with: f64,
    #[schemars(title = "Freed", extend("x-unit" = "FTE"))]
    fte_freed: f64,
    #[schemars(title = "Hours freed", extend("x-unit" = "hours"))]
    hours_freed: f64,
    #[schemars(title = "Value", extend("x-unit" = "currency"))]
    value: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Point {
    #[schemars(title = "Year")]
    year: u32,
    #[schemars(title = "Without the change", extend("x-unit" = "FTE"))]
    fte_without: f64,
    #[schemars(title = "With the change", extend("x-unit" = "FTE"))]
    fte_with: f64,
}

/// Calculates what a change of a team's work means in full-time positions (FTE): positions and hours
/// freed, positions needed year by year while the work grows, and their value.
///
/// Use it when you know how many people do a kind of work and which part of it a change takes away.
/// It says what capacity becomes free, not that anybody leaves. For one task with known minutes use
/// `time-savings-calculator`; for whether an investment pays use `roi-calculator`.
#[tool(
    slug = "fte-impact-calculator",
    name = "FTE Impact Calculator",
    category = "analysis",
    icon = "users",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["fte", "capacity", "staffing", "planning"],
    form = "fte_impact_calculator.form.json",
    texts = [("de", "fte_impact_calculator.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        ("yearlyResults", "Year by year", "table"),
        (
            "staffing",
            "Positions needed",
            "chart",
            r#"{ "chart": "line", "x": "year", "y": ["fteWithout", "fteWith"] }"#
        )
    ]
)]
async fn fte_impact_calculator(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = calculate(&input)?;
    let (summary, markdown) = (in_words(&output), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// The input as decimals, checked. All rates are in percent.
struct Team {
    headcount: Decimal,
    share: Decimal,
    reduction: Decimal,
    usable: Decimal,
    growth: Decimal,
    years: u32,
    cost: Decimal,
    hours: Decimal,
}

/// Positions in one year, not rounded.
struct Year {
    year: u32,
    without: Decimal,
    freed: Decimal,
}

impl Team {
    fn new(input: &Input) -> Result<Self, ToolFailure> {
        if !YEARS.contains(&input.years) {
            return Err(ToolFailure::invalid("'years' must be from 1 to 10"));
        }
        Ok(Self {
            headcount: positive("headcount", input.headcount, HEADCOUNT_MAX)?,
            share: exact("shareOfTime", input.share_of_time, &PERCENT)?,
            reduction: exact("reduction", input.reduction, &PERCENT)?,
            usable: exact("usableShare", input.usable_share, &PERCENT)?,
            growth: exact("volumeGrowth", input.volume_growth, &GROWTH)?,
            years: input.years,
            cost: exact("annualCostPerFte", input.annual_cost_per_fte, &MONEY)?,
            hours: positive("hoursPerFte", input.hours_per_fte, 8_784)?,
        })
    }

    fn today(&self) -> Decimal {
        self.headcount * self.share / Decimal::ONE_HUNDRED
    }

    /// Work can at most double nine times, so no number outgrows what a decimal can hold.
    fn years(&self) -> Vec<Year> {
        let growth = (Decimal::ONE_HUNDRED + self.growth) / Decimal::ONE_HUNDRED;
        let mut without = self.today();
        let mut years = Vec::new();
        for year in 1..=self.years {
            let freed = without * self.reduction * self.usable / Decimal::from(10_000);
            years.push(Year { year, without, freed });
            without *= growth;
        }
        years
    }

    fn result(&self, year: &Year) -> Result<YearlyResult, ToolFailure> {
        Ok(YearlyResult {
            year: year.year,
            fte_without: shown(year.without)?,
            fte_with: shown(year.with())?,
            fte_freed: shown(year.freed)?,
            hours_freed: shown(year.freed * self.hours)?,
            value: shown(year.freed * self.cost)?,
        })
    }
}

impl Year {
    fn with(&self) -> Decimal {
        self.without - self.freed
    }

    fn point(&self) -> Result<Point, ToolFailure> {
        Ok(Point { year: self.year, fte_without: shown(self.without)?, fte_with: shown(self.with())? })
    }
}

fn calculate(input: &Input) -> Result<Output, ToolFailure> {
    let team = Team::new(input)?;
    let years = team.years();
    let (first, last) = years.first().zip(years.last()).ok_or_else(too_large)?;
    let freed: Decimal = years.iter().map(|year| year.freed).sum();
    let whole = u32::try_from(first.freed.trunc()).map_err(|_| too_large())?;
    let summary = Summary {
        fte_today: shown(team.today())?,
        fte_freed: shown(first.freed)?,
        whole_positions_freed: whole,
        hours_freed: shown(first.freed * team.hours)?,
        capacity_freed_percent: percent(first.freed, team.headcount)?,
        fte_change: shown(last.with() - team.today())?,
        total_value: shown(freed * team.cost)?,
    };
    Ok(Output {
        summary,
        yearly_results: years.iter().map(|year| team.result(year)).collect::<Result<_, _>>()?,
        staffing: years.iter().map(Year::point).collect::<Result<_, _>>()?,
        currency: input.currency.clone(),
    })
}

fn in_words(output: &Output) -> String {
    let Output { summary, yearly_results, currency, .. } = output;
    let mut text = format!(
        "{} of {} FTE freed ({} hours per year)",
        grouped(summary.fte_freed),
        grouped(summary.fte_today),
        grouped(summary.hours_freed)
    );
    if 0.0 < summary.total_value {
        text.push_str(&format!(", worth {} {currency}", grouped(summary.total_value)));
        let years = yearly_results.len();
        text.push_str(&if years == 1 { " in 1 year".to_owned() } else { format!(" in {years} years") });
    }
    let sign = if 0.0 < summary.fte_change { "+" } else { "" };
    text.push_str(&format!("; {sign}{} FTE against today by the last year", grouped(summary.fte_change)));
    text
}

fn in_markdown(output: &Output) -> String {
    let mut text = format!(
        "{}\n\n| Year | FTE without | FTE with | FTE freed | Hours freed |\n| --: | --: | --: | --: | --: |\n",
        in_words(output)
    );
    for year in &output.yearly_results {
        let figures = [year.fte_without, year.fte_with, year.fte_freed, year.hours_freed].map(grouped);
        text.push_str(&format!("| {} | {} |\n", year.year, figures.join(" | ")));
    }
    text
}

#[cfg(test)]
#[path = "fte_impact_calculator_tests.rs"]
mod tests;
