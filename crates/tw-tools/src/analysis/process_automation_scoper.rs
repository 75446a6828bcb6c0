//! `process-automation-scoper`: which steps of a process to automate, and how much time it frees.
//!
//! A step scores 40 for fixed rules, 30 for structured data and 30 for the absence of exceptions. All
//! formulas and a worked example are in `docs/tools/process-automation-scoper.md`.

use std::{cmp::Reverse, ops::RangeInclusive};

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::{
    figures::{exact, grouped, percent, positive, rounded, shown, too_large},
    names,
};

const STEPS_MAX: usize = 100;
const MINUTES_MAX: i64 = 10_080;
const RATING: RangeInclusive<i64> = 1..=5;
const PERCENT: RangeInclusive<i64> = 0..=100;
const HOURLY: RangeInclusive<i64> = 0..=1_000_000;
const RUNS_MAX: i64 = 10_000_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "steps": [
        { "name": "Enter the invoice", "minutes": 6, "rules": 5, "data": "structured", "exceptionRate": 5 },
        { "name": "Match it with the order", "minutes": 4, "rules": 4, "data": "mixed", "exceptionRate": 20 },
        { "name": "Settle differences", "minutes": 10, "rules": 2, "data": "unstructured", "exceptionRate": 60 },
        { "name": "Approve the payment", "minutes": 2, "rules": 5, "data": "structured", "keepManual": true },
    ],
    "runsPerMonth": 600, "hourlyCost": 40, "currency": "EUR",
}))]
struct Input {
    /// The steps of one run, in their order. Every name appears once.
    #[schemars(title = "Steps", length(min = 1, max = 100))]
    steps: Vec<ProcessStep>,
    /// How often the whole process runs in a month.
    #[schemars(title = "Runs per month", range(max = 10_000_000))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "runs"), example = 600)]
    runs_per_month: f64,
    /// What an hour of work costs, to give the time a value. 0 leaves money out.
    #[serde(default)]
    #[schemars(title = "Hourly cost", range(min = 0, max = 1_000_000), extend("x-unit" = "currency"))]
    hourly_cost: f64,
    /// From this score on, a step is automated.
    #[serde(default = "automate_from_default")]
    #[schemars(title = "Automate from", range(min = 0, max = 100), extend("x-unit" = "points"))]
    automate_from: f64,
    /// From this score on, a step is assisted: a machine prepares, a person decides.
    #[serde(default = "assist_from_default")]
    #[schemars(title = "Assist from", range(min = 0, max = 100), extend("x-unit" = "points"))]
    assist_from: f64,
    /// The currency of the hourly cost, only to show it. Nothing is converted.
    #[serde(default = "currency_default")]
    #[schemars(title = "Currency", regex(pattern = "^[A-Z]{3}$"), example = &"EUR")]
    currency: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProcessStep {
    /// What is done, in a few words; unique in the list.
    #[schemars(title = "Name", length(min = 1, max = 200), regex(pattern = r"\S"))]
    name: String,
    /// How many minutes of work it takes in one run, without waiting.
    #[schemars(title = "Minutes", range(max = 10_080))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "minutes"))]
    minutes: f64,
    /// How far it follows fixed rules. 1: judgement every time. 3: rules for the usual case. 5: rules
    /// for everything.
    #[schemars(title = "Rules", range(min = 1, max = 5), extend("x-unit" = "points"))]
    rules: f64,
    /// What it works on: `structured` is fields and tables, `unstructured` is free text, pictures or
    /// talk, `mixed` is both.
    #[serde(default = "data_default")]
    #[schemars(title = "Data")]
    data: Data,
    /// How many runs in a hundred need something out of the ordinary here.
    #[serde(default)]
    #[schemars(title = "Exception rate", range(min = 0, max = 100), extend("x-unit" = "percent"))]
    exception_rate: f64,
    /// Whether a person has to do it in any case, by law or by decision.
    #[serde(default)]
    #[schemars(title = "Keep manual")]
    keep_manual: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Data {
    Structured,
    Mixed,
    Unstructured,
}

fn automate_from_default() -> f64 {
    70.0
}

fn assist_from_default() -> f64 {
    40.0
}

fn data_default() -> Data {
    Data::Mixed
}

fn currency_default() -> String {
    "USD".to_owned()
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// The steps in the order of the process.
    steps: Vec<Scoped>,
    /// Steps to automate or to assist, the one that frees most time first.
    candidates: Vec<Candidate>,
    /// The currency of all amounts.
    currency: String,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// The scores of the steps, weighted by their minutes, from 0 to 100.
    #[schemars(title = "Suitability", extend("x-unit" = "points"))]
    suitability: f64,
    /// Of the minutes of one run.
    #[schemars(title = "Time freed", extend("x-unit" = "percent"))]
    freed_percent: Option<f64>,
    #[schemars(title = "Hours freed per month", extend("x-unit" = "hours"))]
    hours_freed_per_month: f64,
    #[schemars(title = "Value per year", extend("x-unit" = "currency"))]
    value_per_year: f64,
    #[schemars(title = "Steps to automate")]
    automate: usize,
    #[schemars(title = "Steps to assist")]
    assist: usize,
    #[schemars(title = "Steps that stay manual")]
    manual: usize,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Scoped {
    #[schemars(title = "Step")]
    name: String,
    /// From 0 to 100.
    #[schemars(title = "Score", extend("x-unit" = "points"))]
    score: f64,
    #[schemars(title = "Mode")]
    mode: Mode,
    #[schemars(title = "Minutes before", extend("x-unit" = "minutes"))]
    minutes_before: f64,
    #[schemars(title = "Minutes after", extend("x-unit" = "minutes"))]
    minutes_after: f64,
    #[schemars(title = "Hours freed per month", extend("x-unit" = "hours"))]
    hours_freed_per_month: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[schemars(title = "Rank")]
    rank: usize,
    #[schemars(title = "Step")]
    name: String,
    #[schemars(title = "Mode")]
    mode: Mode,
    #[schemars(title = "Hours freed per month", extend("x-unit" = "hours"))]
    hours_freed_per_month: f64,
    /// Of all the hours that are freed.
    #[schemars(title = "Share", extend("x-unit" = "percent"))]
    share_percent: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Automate,
    Assist,
    Manual,
}

/// Scopes the automation of a process: for each step whether to automate it, to assist it or to leave
/// it to people, how many hours that frees, and where to begin.
///
/// Use it when you know the steps of a process, their minutes, and how regular they are. Ask for the
/// steps instead of inventing them. For a single task use `time-savings-calculator`; for what the
/// automation costs and brings over years use `roi-calculator`, with the value given here.
#[tool(
    slug = "process-automation-scoper",
    name = "Process Automation Scoper",
    category = "analysis",
    icon = "workflow",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["automation", "process", "scoping", "hours"],
    form = "process_automation_scoper.form.json",
    texts = [("de", "process_automation_scoper.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        (
            "candidates",
            "Where to begin",
            "ranking",
            r#"{ "label": "name", "value": "hoursFreedPerMonth", "group": "mode" }"#
        ),
        (
            "steps",
            "Minutes per run",
            "chart",
            r#"{ "chart": "bar", "x": "name", "y": ["minutesBefore", "minutesAfter"] }"#
        )
    ]
)]
async fn process_automation_scoper(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = scope(&input)?;
    let (summary, markdown) = (in_words(&output), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// The input as decimals, checked.
struct Process {
    steps: Vec<Judged>,
    runs: Decimal,
    hourly: Decimal,
}

struct Judged {
    name: String,
    minutes: Decimal,
    score: Decimal,
    mode: Mode,
    /// Minutes of one run.
    freed: Decimal,
}

impl Process {
    fn new(input: &Input) -> Result<Self, ToolFailure> {
        if input.steps.is_empty() || STEPS_MAX < input.steps.len() {
            return Err(ToolFailure::invalid(format!("'steps' must have 1 to {STEPS_MAX} entries")));
        }
        let automate_from = exact("automateFrom", input.automate_from, &PERCENT)?;
        let assist_from = exact("assistFrom", input.assist_from, &PERCENT)?;
        if automate_from < assist_from {
            return Err(ToolFailure::invalid("'automateFrom' must not be below 'assistFrom'"));
        }
        let names = names::unique("step", input.steps.iter().map(|step| step.name.as_str()))?;
        let judged = input.steps.iter().zip(names);
        let judged = judged.map(|(step, name)| Judged::new(step, name, automate_from, assist_from));
        Ok(Self {
            steps: judged.collect::<Result<_, _>>()?,
            runs: positive("runsPerMonth", input.runs_per_month, RUNS_MAX)?,
            hourly: exact("hourlyCost", input.hourly_cost, &HOURLY)?,
        })
    }

    fn hours_per_month(&self, minutes: Decimal) -> Decimal {
        minutes * self.runs / Decimal::from(60)
    }
}

impl Judged {
    fn new(
        step: &ProcessStep,
        name: String,
        automate_from: Decimal,
        assist_from: Decimal,
    ) -> Result<Self, ToolFailure> {
        let minutes = positive("minutes", step.minutes, MINUTES_MAX)?;
        let rules = exact("rules", step.rules, &RATING)?;
        let regular = Decimal::ONE_HUNDRED - exact("exceptionRate", step.exception_rate, &PERCENT)?;
        let data = match step.data {
            Data::Structured => 30,
            Data::Mixed => 15,
            Data::Unstructured => 0,
        };
        // 40 for rules, 30 for data, 30 for regularity.
        let score = (rules - Decimal::ONE) * Decimal::TEN
            + Decimal::from(data)
            + regular * Decimal::from(30) / Decimal::ONE_HUNDRED;
        let mode = match rounded(score) {
            _ if step.keep_manual => Mode::Manual,
            score if automate_from <= score => Mode::Automate,
            score if assist_from <= score => Mode::Assist,
            _ => Mode::Manual,
        };
        let freed = match mode {
            Mode::Automate => minutes * regular / Decimal::ONE_HUNDRED,
            Mode::Assist => minutes * regular / Decimal::ONE_HUNDRED / Decimal::TWO,
            Mode::Manual => Decimal::ZERO,
        };
        Ok(Self { name, minutes, score, mode, freed })
    }
}

fn scope(input: &Input) -> Result<Output, ToolFailure> {
    let process = Process::new(input)?;
    let scoped = |step: &Judged| {
        Ok(Scoped {
            name: step.name.clone(),
            score: shown(step.score)?,
            mode: step.mode,
            minutes_before: shown(step.minutes)?,
            minutes_after: shown(step.minutes - step.freed)?,
            hours_freed_per_month: shown(process.hours_per_month(step.freed))?,
        })
    };
    Ok(Output {
        summary: summarize(&process)?,
        steps: process.steps.iter().map(scoped).collect::<Result<_, ToolFailure>>()?,
        candidates: candidates(&process)?,
        currency: input.currency.clone(),
    })
}

fn summarize(process: &Process) -> Result<Summary, ToolFailure> {
    let minutes: Decimal = process.steps.iter().map(|step| step.minutes).sum();
    let freed: Decimal = process.steps.iter().map(|step| step.freed).sum();
    let points: Decimal = process.steps.iter().map(|step| step.score * step.minutes).sum();
    let count = |mode: Mode| process.steps.iter().filter(|step| step.mode == mode).count();
    // 12 months of minutes by 60 are a fifth of the minutes of a month.
    let per_year = freed * process.runs * process.hourly / Decimal::from(5);
    Ok(Summary {
        suitability: shown(points.checked_div(minutes).ok_or_else(too_large)?)?,
        freed_percent: percent(freed, minutes)?,
        hours_freed_per_month: shown(process.hours_per_month(freed))?,
        value_per_year: shown(per_year)?,
        automate: count(Mode::Automate),
        assist: count(Mode::Assist),
        manual: count(Mode::Manual),
    })
}

/// A step that frees nothing is no candidate. Of two that free as much, the better suited comes first,
/// then the earlier one.
fn candidates(process: &Process) -> Result<Vec<Candidate>, ToolFailure> {
    let all: Decimal = process.steps.iter().map(|step| step.freed).sum();
    let mut steps: Vec<&Judged> = process.steps.iter().filter(|step| !step.freed.is_zero()).collect();
    steps.sort_by_key(|step| (Reverse(step.freed), Reverse(step.score)));
    let candidate = |(step, rank): (&Judged, usize)| {
        Ok(Candidate {
            rank,
            name: step.name.clone(),
            mode: step.mode,
            hours_freed_per_month: shown(process.hours_per_month(step.freed))?,
            share_percent: percent(step.freed, all)?,
        })
    };
    steps.into_iter().zip(1..).map(candidate).collect()
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Automate => "automate",
            Self::Assist => "assist",
            Self::Manual => "manual",
        }
    }
}

fn in_words(output: &Output) -> String {
    let Output { summary, candidates, currency, .. } = output;
    let mut text = format!("{} hours freed per month", grouped(summary.hours_freed_per_month));
    if let Some(freed) = summary.freed_percent {
        text.push_str(&format!(" ({freed:.2} % of the work)"));
    }
    if 0.0 < summary.value_per_year {
        text.push_str(&format!(", worth {} {currency} per year", grouped(summary.value_per_year)));
    }
    let Summary { automate, assist, manual, .. } = summary;
    text.push_str(&format!("; {automate} to automate, {assist} to assist, {manual} manual"));
    if let Some(first) = candidates.first() {
        text.push_str(&format!("; begin with: {}", first.name));
    }
    text
}

fn in_markdown(output: &Output) -> String {
    let mut text = format!("{}\n\n", in_words(output));
    for (step, number) in output.steps.iter().zip(1..) {
        let Scoped { name, score, mode, minutes_before, minutes_after, .. } = step;
        let mode = mode.name();
        text.push_str(&format!(
            "{number}. {name}: {mode} (score {score:.2}), {minutes_before:.2} to {minutes_after:.2} minutes\n"
        ));
    }
    text
}

#[cfg(test)]
#[path = "process_automation_scoper_tests.rs"]
mod tests;
