//! `roi-calculator`: is an investment worth it, and when is it paid back?
//!
//! The formulas and a worked example are in `docs/tools/roi-calculator.md`.

use std::ops::RangeInclusive;

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::figures::{exact, grouped, shown, too_large};

const MONEY: RangeInclusive<i64> = 0..=1_000_000_000_000;
const DISCOUNT: RangeInclusive<i64> = 0..=100;
const GROWTH: RangeInclusive<i64> = -100..=100;
const YEARS: RangeInclusive<u32> = 1..=30;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "initialInvestment": 100000, "annualBenefit": 50000, "annualCost": 10000, "years": 4,
    "discountRate": 10, "benefitGrowthRate": 5, "currency": "EUR",
}))]
#[schemars(example = serde_json::json!({ "initialInvestment": 24000, "annualBenefit": 18000 }))]
struct Input {
    /// What is paid once, before the first year.
    #[schemars(title = "Initial investment", range(min = 0, max = 1_000_000_000_000_i64))]
    #[schemars(extend("x-unit" = "currency"), example = 100_000)]
    initial_investment: f64,
    /// What the investment brings in, or saves, in its first year.
    #[schemars(title = "Annual benefit", range(min = 0, max = 1_000_000_000_000_i64))]
    #[schemars(extend("x-unit" = "currency"), example = 50_000)]
    annual_benefit: f64,
    /// What it costs to run, every year the same.
    #[serde(default)]
    #[schemars(title = "Annual cost", range(min = 0, max = 1_000_000_000_000_i64))]
    #[schemars(extend("x-unit" = "currency"), example = 10_000)]
    annual_cost: f64,
    /// How many years to look at.
    #[serde(default = "years_default")]
    #[schemars(title = "Years", range(min = 1, max = 30), extend("x-unit" = "years"))]
    years: u32,
    /// The yearly return of the same money elsewhere. Later amounts are discounted by this rate.
    #[serde(default = "discount_rate_default")]
    #[schemars(title = "Discount rate", range(min = 0, max = 100), extend("x-unit" = "percent"))]
    discount_rate: f64,
    /// By how much the benefit grows (or shrinks, if negative) from one year to the next.
    #[serde(default)]
    #[schemars(title = "Benefit growth rate", range(min = -100, max = 100), extend("x-unit" = "percent"))]
    benefit_growth_rate: f64,
    /// The currency of all amounts, only to show it. Nothing is converted.
    #[serde(default = "currency_default")]
    #[schemars(title = "Currency", regex(pattern = "^[A-Z]{3}$"), example = &"EUR")]
    currency: String,
}

fn years_default() -> u32 {
    3
}

fn discount_rate_default() -> f64 {
    10.0
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
    /// The running total from the day of the investment (year 0) on, for a chart.
    cumulative_cash_flow: Vec<Point>,
    /// The currency of all amounts.
    currency: String,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// Net present value: what the investment is worth today, after its cost. Above 0 it is worth it.
    #[schemars(title = "Net present value", extend("x-unit" = "currency"))]
    npv: f64,
    /// Net benefit in percent of the total cost; `null` when nothing is paid at all.
    #[schemars(title = "Return on investment", extend("x-unit" = "percent"))]
    roi_percent: Option<f64>,
    /// When the investment is paid back; `null` when not within the years looked at.
    #[schemars(title = "Payback period", extend("x-unit" = "years"))]
    payback_period_years: Option<f64>,
    /// As the payback period, with later money counting for less.
    #[schemars(title = "Discounted payback period", extend("x-unit" = "years"))]
    discounted_payback_period_years: Option<f64>,
    #[schemars(title = "Total benefit", extend("x-unit" = "currency"))]
    total_benefit: f64,
    /// The initial investment and the cost of all years.
    #[schemars(title = "Total cost", extend("x-unit" = "currency"))]
    total_cost: f64,
    /// Total benefit less total cost.
    #[schemars(title = "Net benefit", extend("x-unit" = "currency"))]
    net_benefit: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct YearlyResult {
    #[schemars(title = "Year")]
    year: u32,
    #[schemars(title = "Benefit", extend("x-unit" = "currency"))]
    benefit: f64,
    #[schemars(title = "Cost", extend("x-unit" = "currency"))]
    cost: f64,
    #[schemars(title = "Net cash flow", extend("x-unit" = "currency"))]
    net_cash_flow: f64,
    #[schemars(title = "Cumulative cash flow", extend("x-unit" = "currency"))]
    cumulative_cash_flow: f64,
    #[schemars(title = "Present value", extend("x-unit" = "currency"))]
    present_value: f64,
    #[schemars(title = "Cumulative present value", extend("x-unit" = "currency"))]
    cumulative_present_value: f64,
    /// Benefit minus cost up to the end of the year, in percent of the cost up to then.
    #[schemars(title = "Return on investment", extend("x-unit" = "percent"))]
    roi_percent: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Point {
    #[schemars(title = "Year")]
    year: u32,
    #[schemars(title = "Cumulative cash flow", extend("x-unit" = "currency"))]
    cumulative_cash_flow: f64,
    #[schemars(title = "Cumulative present value", extend("x-unit" = "currency"))]
    cumulative_present_value: f64,
}

/// Calculates whether an investment pays: net present value, return on investment, payback period,
/// and the cash flow of every year.
///
/// Use it when you know what something costs once and what it brings in or saves each year. Amounts
/// are plain numbers in one currency, rates are percent per year (10 means 10 %). Not for loans or
/// monthly plans, and not for choosing among ideas without amounts: use `priority-matrix` for those.
#[tool(
    slug = "roi-calculator",
    name = "ROI Calculator",
    category = "analysis",
    icon = "calculator",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["finance", "investment", "npv", "payback"],
    form = "roi_calculator.form.json",
    texts = [("de", "roi_calculator.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        ("yearlyResults", "Year-by-Year", "table"),
        (
            "cumulativeCashFlow",
            "Cumulative cash flow",
            "chart",
            r#"{ "chart": "line", "x": "year", "y": ["cumulativeCashFlow", "cumulativePresentValue"] }"#
        )
    ]
)]
async fn roi_calculator(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = calculate(&input)?;
    let (summary, markdown) = (in_words(&output), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// The input as decimals; rates as fractions.
struct Plan {
    initial: Decimal,
    benefit: Decimal,
    cost: Decimal,
    years: u32,
    discount: Decimal,
    growth: Decimal,
}

/// The state at the end of a year, not rounded. Year 0 is the day of the investment.
#[derive(Clone, Copy)]
struct Year {
    year: u32,
    benefit: Decimal,
    cost: Decimal,
    net: Decimal,
    cumulative: Decimal,
    present: Decimal,
    cumulative_present: Decimal,
    benefit_so_far: Decimal,
    cost_so_far: Decimal,
}

fn calculate(input: &Input) -> Result<Output, ToolFailure> {
    let plan = Plan::new(input)?;
    let years = plan.years().ok_or_else(too_large)?;
    let last = years.last().ok_or_else(too_large)?;
    let payback = payback(&years, |year| (year.cumulative, year.net));
    let discounted = self::payback(&years, |year| (year.cumulative_present, year.present));
    let summary = Summary {
        npv: shown(last.cumulative_present)?,
        roi_percent: last.roi_percent()?,
        payback_period_years: payback.map(shown).transpose()?,
        discounted_payback_period_years: discounted.map(shown).transpose()?,
        total_benefit: shown(last.benefit_so_far)?,
        total_cost: shown(last.cost_so_far)?,
        net_benefit: shown(last.cumulative)?,
    };
    Ok(Output {
        summary,
        yearly_results: years.iter().skip(1).map(Year::result).collect::<Result<_, _>>()?,
        cumulative_cash_flow: years.iter().map(Year::point).collect::<Result<_, _>>()?,
        currency: input.currency.clone(),
    })
}

impl Plan {
    fn new(input: &Input) -> Result<Self, ToolFailure> {
        if !YEARS.contains(&input.years) {
            return Err(ToolFailure::invalid("'years' must be from 1 to 30"));
        }
        Ok(Self {
            initial: exact("initialInvestment", input.initial_investment, &MONEY)?,
            benefit: exact("annualBenefit", input.annual_benefit, &MONEY)?,
            cost: exact("annualCost", input.annual_cost, &MONEY)?,
            years: input.years,
            discount: exact("discountRate", input.discount_rate, &DISCOUNT)? / Decimal::ONE_HUNDRED,
            growth: exact("benefitGrowthRate", input.benefit_growth_rate, &GROWTH)? / Decimal::ONE_HUNDRED,
        })
    }

    /// Year 0 and all that follow; `None` when a number outgrows what a decimal can hold.
    fn years(&self) -> Option<Vec<Year>> {
        let zero = Decimal::ZERO;
        let mut last = Year {
            year: 0,
            benefit: zero,
            cost: zero,
            net: zero,
            cumulative: -self.initial,
            present: zero,
            cumulative_present: -self.initial,
            benefit_so_far: zero,
            cost_so_far: self.initial,
        };
        let (mut benefit, mut discounting) = (self.benefit, Decimal::ONE);
        let mut years = vec![last];
        for year in 1..=self.years {
            discounting = discounting.checked_mul(Decimal::ONE.checked_add(self.discount)?)?;
            let net = benefit.checked_sub(self.cost)?;
            let present = net.checked_div(discounting)?;
            last = Year {
                year,
                benefit,
                cost: self.cost,
                net,
                cumulative: last.cumulative.checked_add(net)?,
                present,
                cumulative_present: last.cumulative_present.checked_add(present)?,
                benefit_so_far: last.benefit_so_far.checked_add(benefit)?,
                cost_so_far: last.cost_so_far.checked_add(self.cost)?,
            };
            years.push(last);
            benefit = benefit.checked_mul(Decimal::ONE.checked_add(self.growth)?)?;
        }
        Some(years)
    }
}

/// When the running total first reaches zero, as if the money of a year came in evenly.
fn payback(years: &[Year], of: impl Fn(&Year) -> (Decimal, Decimal)) -> Option<Decimal> {
    let position = years.iter().position(|year| Decimal::ZERO <= of(year).0)?;
    let Some(before) = position.checked_sub(1).and_then(|index| years.get(index)) else {
        return Some(Decimal::ZERO);
    };
    let (missing, coming) = (-of(before).0, of(years.get(position)?).1);
    Decimal::from(before.year).checked_add(missing.checked_div(coming)?)
}

impl Year {
    fn roi_percent(&self) -> Result<Option<f64>, ToolFailure> {
        if self.cost_so_far.is_zero() {
            return Ok(None);
        }
        let percent = self.cumulative.checked_div(self.cost_so_far);
        let percent = percent.and_then(|ratio| ratio.checked_mul(Decimal::ONE_HUNDRED));
        shown(percent.ok_or_else(too_large)?).map(Some)
    }

    fn result(&self) -> Result<YearlyResult, ToolFailure> {
        Ok(YearlyResult {
            year: self.year,
            benefit: shown(self.benefit)?,
            cost: shown(self.cost)?,
            net_cash_flow: shown(self.net)?,
            cumulative_cash_flow: shown(self.cumulative)?,
            present_value: shown(self.present)?,
            cumulative_present_value: shown(self.cumulative_present)?,
            roi_percent: self.roi_percent()?,
        })
    }

    fn point(&self) -> Result<Point, ToolFailure> {
        Ok(Point {
            year: self.year,
            cumulative_cash_flow: shown(self.cumulative)?,
            cumulative_present_value: shown(self.cumulative_present)?,
        })
    }
}

fn in_words(output: &Output) -> String {
    let Output { summary, currency, .. } = output;
    let roi =
        summary.roi_percent.map_or_else(|| "no cost".to_owned(), |roi| format!("ROI {} %", grouped(roi)));
    let payback = summary
        .payback_period_years
        .map_or_else(|| "not paid back".to_owned(), |years| format!("paid back after {years:.2} years"));
    format!("NPV {} {currency}, {roi}, {payback}", grouped(summary.npv))
}

fn in_markdown(output: &Output) -> String {
    let currency = &output.currency;
    let mut text = format!(
        "{}\n\n| Year | Net cash flow ({currency}) | Cumulative | Cumulative present value |\n| --: | --: | --: | --: |\n",
        in_words(output)
    );
    for year in &output.yearly_results {
        let figures =
            [year.net_cash_flow, year.cumulative_cash_flow, year.cumulative_present_value].map(grouped);
        text.push_str(&format!("| {} | {} |\n", year.year, figures.join(" | ")));
    }
    text
}

#[cfg(test)]
#[path = "roi_calculator_tests.rs"]
mod tests;
