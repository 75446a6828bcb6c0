//! `complexity-estimator`: how complex is a piece of work, why, and how many days may it take?
//!
//! Seven factors are rated from 1 to 5; the score is the sum of weight · (rating − 1) ÷ 4, from 0 to
//! 100, and the likely effort is base days · (1 + score ÷ 50). All formulas and a worked example are
//! in `docs/tools/complexity-estimator.md`.

use std::{cmp::Reverse, ops::RangeInclusive};

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::figures::{exact, grouped, percent, positive, rounded, shown};

const RATING: RangeInclusive<i64> = 1..=5;
const DAYS_MAX: i64 = 100_000;
const INTEGRATIONS_MAX: u32 = 1_000;
const TEAMS: RangeInclusive<u32> = 1..=1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "scope": 3, "integrations": 4, "dataComplexity": 2, "novelty": 4, "uncertainty": 3, "compliance": 5,
    "teams": 2, "baseDays": 20,
}))]
#[schemars(example = serde_json::json!({ "scope": 2, "integrations": 1 }))]
struct Input {
    /// How much there is to do. 1: one small change. 3: several parts of one system. 5: a whole system
    /// or more.
    #[schemars(title = "Scope", range(min = 1, max = 5), extend("x-unit" = "points"), example = 3)]
    scope: f64,
    /// How many other systems it exchanges something with. From 8 on, more make no difference.
    #[serde(default)]
    #[schemars(title = "Integrations", range(min = 0, max = 1_000), extend("x-unit" = "systems"))]
    integrations: u32,
    /// The data involved. 1: one clean source. 3: several, to be matched. 5: many, with gaps and no
    /// common key.
    #[serde(default = "rating_default")]
    #[schemars(title = "Data complexity", range(min = 1, max = 5), extend("x-unit" = "points"))]
    data_complexity: f64,
    /// How new it is for those who do it. 1: done many times. 3: parts are new. 5: nobody has done it.
    #[serde(default = "rating_default")]
    #[schemars(title = "Novelty", range(min = 1, max = 5), extend("x-unit" = "points"))]
    novelty: f64,
    /// How unclear it is what is wanted. 1: written down and agreed. 3: the goal is clear, details are
    /// open. 5: the goal is open. Also widens the range of the effort.
    #[serde(default = "rating_default")]
    #[schemars(title = "Uncertainty", range(min = 1, max = 5), extend("x-unit" = "points"))]
    uncertainty: f64,
    /// Rules to keep: privacy, security, law. 1: none. 3: the usual. 5: audits and approvals.
    #[serde(default = "rating_default")]
    #[schemars(title = "Compliance", range(min = 1, max = 5), extend("x-unit" = "points"))]
    compliance: f64,
    /// How many teams have to work together. From 5 on, more make no difference.
    #[serde(default = "teams_default")]
    #[schemars(title = "Teams", range(min = 1, max = 1_000), extend("x-unit" = "teams"))]
    teams: u32,
    /// How many person-days it would take if every factor were at its lowest.
    #[serde(default = "base_days_default")]
    #[schemars(title = "Base days", range(max = 100_000))]
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "person-days"))]
    base_days: f64,
}

fn rating_default() -> f64 {
    1.0
}

fn teams_default() -> u32 {
    1
}

fn base_days_default() -> f64 {
    10.0
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// All factors, the one that adds most first.
    factors: Vec<Contribution>,
    /// The effort in the best, the likely, the expected and the worst case.
    effort: Vec<Case>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// From 0 to 100.
    #[schemars(title = "Complexity", extend("x-unit" = "points"))]
    score: f64,
    #[schemars(title = "Level")]
    level: Level,
    /// By how much the effort exceeds that of the simplest case.
    #[schemars(title = "Multiplier", extend("x-unit" = "times"))]
    multiplier: f64,
    #[schemars(title = "Expected effort", extend("x-unit" = "person-days"))]
    expected_days: f64,
    /// The factor that adds most; `null` when none adds anything.
    #[schemars(title = "Main driver")]
    main_driver: Option<Factor>,
    /// How to go about it.
    #[schemars(title = "Advice")]
    advice: String,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Contribution {
    #[schemars(title = "Factor")]
    factor: Factor,
    /// From 1 to 5.
    #[schemars(title = "Rating", extend("x-unit" = "points"))]
    rating: f64,
    /// The most it can add to the score.
    #[schemars(title = "Weight", extend("x-unit" = "points"))]
    weight: u32,
    /// What it adds to the score.
    #[schemars(title = "Contribution", extend("x-unit" = "points"))]
    contribution: f64,
    /// Its part of the score; `null` when the score is 0.
    #[schemars(title = "Share", extend("x-unit" = "percent"))]
    share_percent: Option<f64>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Case {
    #[schemars(title = "Case")]
    case: &'static str,
    #[schemars(title = "Effort", extend("x-unit" = "person-days"))]
    days: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Factor {
    Scope,
    Integrations,
    DataComplexity,
    Novelty,
    Uncertainty,
    Compliance,
    Teams,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Level {
    Low,
    Moderate,
    High,
    VeryHigh,
}

/// Estimates how complex a project, a feature or a change is: a score from 0 to 100, what drives it,
/// and a range of person-days.
///
/// Use it early, when little is known but judgements from 1 to 5. Give `baseDays` if you know what a
/// simple case of the same work takes; without it the days only serve to compare. It is a rule of
/// thumb and no plan. For which steps of a process to automate use `process-automation-scoper`; for
/// what to do first use `priority-matrix`; for whether it pays use `roi-calculator`.
#[tool(
    slug = "complexity-estimator",
    name = "Complexity Estimator",
    category = "analysis",
    icon = "gauge",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["estimation", "complexity", "effort", "planning"],
    form = "complexity_estimator.form.json",
    texts = [("de", "complexity_estimator.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        ("factors", "What makes it complex", "table"),
        ("effort", "Effort", "chart", r#"{ "chart": "bar", "x": "case", "y": ["days"] }"#)
    ]
)]
async fn complexity_estimator(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = estimate(&input)?;
    let (summary, markdown) = (in_words(&output), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

struct Rated {
    factor: Factor,
    rating: Decimal,
}

impl Rated {
    fn all(input: &Input) -> Result<Vec<Self>, ToolFailure> {
        if INTEGRATIONS_MAX < input.integrations {
            return Err(ToolFailure::invalid("'integrations' must be from 0 to 1000"));
        }
        if !TEAMS.contains(&input.teams) {
            return Err(ToolFailure::invalid("'teams' must be from 1 to 1000"));
        }
        let rating = |name, value| exact(name, value, &RATING);
        let ratings = [
            (Factor::Scope, rating("scope", input.scope)?),
            // None is 1, every second one is a point, eight and more are 5.
            (Factor::Integrations, Decimal::ONE + Decimal::from(input.integrations.min(8)) / Decimal::TWO),
            (Factor::DataComplexity, rating("dataComplexity", input.data_complexity)?),
            (Factor::Novelty, rating("novelty", input.novelty)?),
            (Factor::Uncertainty, rating("uncertainty", input.uncertainty)?),
            (Factor::Compliance, rating("compliance", input.compliance)?),
            (Factor::Teams, Decimal::from(input.teams.min(5))),
        ];
        Ok(ratings.into_iter().map(|(factor, rating)| Self { factor, rating }).collect())
    }

    fn contribution(&self) -> Decimal {
        Decimal::from(self.factor.weight()) * (self.rating - Decimal::ONE) / Decimal::from(4)
    }
}

impl Factor {
    /// All weights together are 100.
    fn weight(self) -> u32 {
        match self {
            Self::Scope => 25,
            Self::Integrations => 20,
            Self::DataComplexity | Self::Novelty | Self::Uncertainty => 15,
            Self::Compliance | Self::Teams => 5,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Integrations => "integrations",
            Self::DataComplexity => "data complexity",
            Self::Novelty => "novelty",
            Self::Uncertainty => "uncertainty",
            Self::Compliance => "compliance",
            Self::Teams => "teams",
        }
    }
}

fn estimate(input: &Input) -> Result<Output, ToolFailure> {
    let mut rated = Rated::all(input)?;
    let base = positive("baseDays", input.base_days, DAYS_MAX)?;
    let uncertainty = exact("uncertainty", input.uncertainty, &RATING)?;
    let score: Decimal = rated.iter().map(Rated::contribution).sum();
    // Twice the score is percent on top: the most complex work takes three times the base.
    let multiplier = Decimal::ONE + score * Decimal::TWO / Decimal::ONE_HUNDRED;
    let effort = Effort::new(base * multiplier, uncertainty);
    rated.sort_by_key(|one| (Reverse(one.contribution()), one.factor));
    let row = |one: &Rated| {
        Ok(Contribution {
            factor: one.factor,
            rating: shown(one.rating)?,
            weight: one.factor.weight(),
            contribution: shown(one.contribution())?,
            share_percent: percent(one.contribution(), score)?,
        })
    };
    let level = Level::of(rounded(score));
    let driver = rated.first().filter(|one| !one.contribution().is_zero());
    Ok(Output {
        summary: Summary {
            score: shown(score)?,
            level,
            multiplier: shown(multiplier)?,
            expected_days: shown(effort.expected)?,
            main_driver: driver.map(|one| one.factor),
            advice: level.advice().to_owned(),
        },
        factors: rated.iter().map(row).collect::<Result<_, ToolFailure>>()?,
        effort: effort.cases()?,
    })
}

/// Person-days, not rounded.
struct Effort {
    best: Decimal,
    likely: Decimal,
    expected: Decimal,
    worst: Decimal,
}

impl Effort {
    /// The worst case is as many times 20 % above the likely one as the uncertainty is rated, the best
    /// case as many times 10 % below it.
    fn new(likely: Decimal, uncertainty: Decimal) -> Self {
        let tenth = likely * uncertainty / Decimal::TEN;
        let (best, worst) = (likely - tenth, likely + tenth * Decimal::TWO);
        let expected = (best + likely * Decimal::from(4) + worst) / Decimal::from(6);
        Self { best, likely, expected, worst }
    }

    fn cases(&self) -> Result<Vec<Case>, ToolFailure> {
        let cases = [
            ("best", self.best),
            ("likely", self.likely),
            ("expected", self.expected),
            ("worst", self.worst),
        ];
        cases.into_iter().map(|(case, days)| Ok(Case { case, days: shown(days)? })).collect()
    }
}

impl Level {
    fn of(score: Decimal) -> Self {
        if score < Decimal::from(25) {
            Self::Low
        } else if score < Decimal::from(50) {
            Self::Moderate
        } else if score < Decimal::from(75) {
            Self::High
        } else {
            Self::VeryHigh
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::High => "high",
            Self::VeryHigh => "very high",
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Low => "Start right away; one person can keep it in their head.",
            Self::Moderate => "Write down what is wanted, and deliver in two or three parts.",
            Self::High => "Try the main driver out first, then plan the rest in parts.",
            Self::VeryHigh => "Do not start as one piece: divide it, and estimate each part anew.",
        }
    }
}

fn in_words(output: &Output) -> String {
    let Summary { score, level, expected_days, main_driver, .. } = &output.summary;
    let days = |case: &str| {
        output.effort.iter().find(|one| one.case == case).map(|one| grouped(one.days)).unwrap_or_default()
    };
    let mut text = format!(
        "complexity {score:.2} of 100 ({}), {} person-days expected ({} to {})",
        level.name(),
        grouped(*expected_days),
        days("best"),
        days("worst")
    );
    if let Some(driver) = main_driver {
        text.push_str(&format!("; main driver: {}", driver.name()));
    }
    text
}

fn in_markdown(output: &Output) -> String {
    let mut text = format!(
        "{}\n\n| Factor | Rating | Contribution | Most |\n| --- | --: | --: | --: |\n",
        in_words(output)
    );
    for row in &output.factors {
        let Contribution { factor, rating, weight, contribution, .. } = row;
        let factor = factor.name();
        text.push_str(&format!("| {factor} | {rating:.2} | {contribution:.2} | {weight} |\n"));
    }
    text.push_str(&format!("\n{}\n", output.summary.advice));
    text
}

#[cfg(test)]
#[path = "complexity_estimator_tests.rs"]
mod tests;
