//! `ai-readiness-assessment`: how ready is an organization to put AI to use, and what to work on first?
//!
//! A rating from 1 to 5 becomes a score of (rating − 1) ÷ 4 · 100; the overall score is the mean of
//! the seven scores, weighted by the focus. All rules and a worked example are in
//! `docs/tools/ai-readiness-assessment.md`.

use std::{cmp::Reverse, ops::RangeInclusive};

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::figures::{exact, rounded, shown, too_large};

const RATING: RangeInclusive<i64> = 1..=5;

/// A rating below this stands in the way of everything else.
const BLOCKING_BELOW: Decimal = Decimal::TWO;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "strategy": 4, "data": 2, "technology": 3, "skills": 3, "processes": 4, "governance": 1.5, "culture": 4,
    "focus": "regulated",
}))]
#[schemars(example = serde_json::json!({
    "strategy": 3, "data": 3, "technology": 4, "skills": 2, "processes": 3, "governance": 2, "culture": 3,
}))]
struct Input {
    /// Goals and sponsorship. 1: nobody has said what AI is for. 3: some goals, no budget. 5: goals
    /// with owners, figures and money.
    #[schemars(title = "Strategy", range(min = 1, max = 5), extend("x-unit" = "points"))]
    strategy: f64,
    /// Data that is needed. 1: scattered or missing. 3: there, with gaps. 5: complete, correct,
    /// reachable, and known to be so.
    #[schemars(title = "Data", range(min = 1, max = 5), extend("x-unit" = "points"))]
    data: f64,
    /// Systems and interfaces. 1: closed systems. 3: some can be connected. 5: interfaces, test
    /// environments and monitoring everywhere.
    #[schemars(title = "Technology", range(min = 1, max = 5), extend("x-unit" = "points"))]
    technology: f64,
    /// What people can do. 1: nobody has experience. 3: a few have. 5: those who build and those who
    /// use it are trained.
    #[schemars(title = "Skills", range(min = 1, max = 5), extend("x-unit" = "points"))]
    skills: f64,
    /// How work is done. 1: everybody differently. 3: written down in part. 5: written down, measured
    /// and followed.
    #[schemars(title = "Processes", range(min = 1, max = 5), extend("x-unit" = "points"))]
    processes: f64,
    /// Rules for privacy, security and responsibility. 1: none. 3: some, not enforced. 5: in force and
    /// checked.
    #[schemars(title = "Governance", range(min = 1, max = 5), extend("x-unit" = "points"))]
    governance: f64,
    /// Willingness to change. 1: resistance. 3: curiosity. 5: people try things and tell each other.
    #[schemars(title = "Culture", range(min = 1, max = 5), extend("x-unit" = "points"))]
    culture: f64,
    /// The rating to reach in every dimension.
    #[serde(default = "target_default")]
    #[schemars(title = "Target", range(min = 1, max = 5), extend("x-unit" = "points"))]
    target: f64,
    /// What counts more: `balanced` nothing, `scale` data, technology and processes (twice),
    /// `regulated` data (twice) and governance (three times).
    #[serde(default = "focus_default")]
    #[schemars(title = "Focus")]
    focus: Focus,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Focus {
    Balanced,
    Scale,
    Regulated,
}

fn target_default() -> f64 {
    4.0
}

fn focus_default() -> Focus {
    Focus::Balanced
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// One corner per dimension.
    radar: Vec<Corner>,
    /// All dimensions, the one to work on first first.
    priorities: Vec<Priority>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// From 0 to 100.
    #[schemars(title = "Readiness", extend("x-unit" = "points"))]
    overall_score: f64,
    #[schemars(title = "Level")]
    level: Level,
    #[schemars(title = "Strongest")]
    strongest: Dimension,
    #[schemars(title = "Weakest")]
    weakest: Dimension,
    /// Dimensions rated below 2. While there is one, the level is at most `developing`.
    #[schemars(title = "Blockers")]
    blockers: Vec<Dimension>,
    /// How many dimensions are below the target.
    #[schemars(title = "Below target")]
    below_target: usize,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Corner {
    #[schemars(title = "Dimension")]
    dimension: Dimension,
    /// From 0 to 100.
    #[schemars(title = "Score", extend("x-unit" = "points"))]
    score: f64,
    /// The target on the same scale.
    #[schemars(title = "Target", extend("x-unit" = "points"))]
    target: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Priority {
    #[schemars(title = "Rank")]
    rank: usize,
    #[schemars(title = "Dimension")]
    dimension: Dimension,
    /// From 1 to 5.
    #[schemars(title = "Rating", extend("x-unit" = "points"))]
    rating: f64,
    /// What is missing to the target, in points of the rating; 0 when it is reached.
    #[schemars(title = "Gap", extend("x-unit" = "points"))]
    gap: f64,
    #[schemars(title = "Weight")]
    weight: u32,
    /// What to do next; for a dimension at its target, to keep it.
    #[schemars(title = "Next step")]
    next_step: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Dimension {
    Strategy,
    Data,
    Technology,
    Skills,
    Processes,
    Governance,
    Culture,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Beginning,
    Developing,
    Ready,
    Leading,
}

/// Assesses how ready an organization or a team is to put AI to use: a score from 0 to 100, a level,
/// a radar of seven dimensions, and what to work on first.
///
/// Use it with ratings from 1 to 5 that people gave, or that you can support by what they told you;
/// ask for those that are missing instead of guessing. For one process use
/// `process-automation-scoper`; to choose among projects use `priority-matrix` or `quick-score`.
#[tool(
    slug = "ai-readiness-assessment",
    name = "AI Readiness Assessment",
    category = "analysis",
    icon = "radar",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["ai", "readiness", "maturity", "assessment"],
    form = "ai_readiness_assessment.form.json",
    texts = [("de", "ai_readiness_assessment.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        (
            "radar",
            "Dimensions",
            "radar",
            r#"{ "label": "dimension", "value": ["score", "target"], "min": 0, "max": 100 }"#
        ),
        ("priorities", "What to work on", "table")
    ]
)]
async fn ai_readiness_assessment(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = assess(&input)?;
    let (summary, markdown) = (in_words(&output.summary), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// One dimension, checked.
struct Rated {
    dimension: Dimension,
    rating: Decimal,
    gap: Decimal,
    weight: u32,
}

impl Rated {
    fn all(input: &Input, target: Decimal) -> Result<Vec<Self>, ToolFailure> {
        let ratings = [
            (Dimension::Strategy, input.strategy),
            (Dimension::Data, input.data),
            (Dimension::Technology, input.technology),
            (Dimension::Skills, input.skills),
            (Dimension::Processes, input.processes),
            (Dimension::Governance, input.governance),
            (Dimension::Culture, input.culture),
        ];
        let rated = ratings.into_iter().map(|(dimension, rating)| {
            let rating = exact(dimension.name(), rating, &RATING)?;
            let gap = (target - rating).max(Decimal::ZERO);
            Ok(Self { dimension, rating, gap, weight: input.focus.weight(dimension) })
        });
        rated.collect()
    }

    fn weighted_gap(&self) -> Decimal {
        self.gap * Decimal::from(self.weight)
    }
}

impl Focus {
    fn weight(self, dimension: Dimension) -> u32 {
        match (self, dimension) {
            (Self::Scale, Dimension::Data | Dimension::Technology | Dimension::Processes)
            | (Self::Regulated, Dimension::Data) => 2,
            (Self::Regulated, Dimension::Governance) => 3,
            (Self::Balanced | Self::Scale | Self::Regulated, _) => 1,
        }
    }
}

/// A rating from 1 to 5 on a scale from 0 to 100.
fn score(rating: Decimal) -> Decimal {
    (rating - Decimal::ONE) * Decimal::from(25)
}

fn assess(input: &Input) -> Result<Output, ToolFailure> {
    let target = exact("target", input.target, &RATING)?;
    let mut rated = Rated::all(input, target)?;
    let corner = |one: &Rated| {
        Ok(Corner {
            dimension: one.dimension,
            score: shown(score(one.rating))?,
            target: shown(score(target))?,
        })
    };
    let radar = rated.iter().map(corner).collect::<Result<_, ToolFailure>>()?;
    let summary = summarize(&rated)?;
    rated.sort_by_key(|one| (Reverse(one.weighted_gap()), one.rating, one.dimension));
    let priority = |(one, rank): (&Rated, usize)| {
        let next_step = if one.gap.is_zero() { "Keep it up." } else { one.dimension.next_step(one.rating) };
        Ok(Priority {
            rank,
            dimension: one.dimension,
            rating: shown(one.rating)?,
            gap: shown(one.gap)?,
            weight: one.weight,
            next_step: next_step.to_owned(),
        })
    };
    let priorities = rated.iter().zip(1..).map(priority).collect::<Result<_, ToolFailure>>()?;
    Ok(Output { summary, radar, priorities })
}

/// Expects all dimensions in their usual order; among equals the first is named.
fn summarize(rated: &[Rated]) -> Result<Summary, ToolFailure> {
    let weights: Decimal = rated.iter().map(|one| Decimal::from(one.weight)).sum();
    let points: Decimal = rated.iter().map(|one| score(one.rating) * Decimal::from(one.weight)).sum();
    let overall = rounded(points.checked_div(weights).ok_or_else(too_large)?);
    let blockers: Vec<Dimension> =
        rated.iter().filter(|one| one.rating < BLOCKING_BELOW).map(|one| one.dimension).collect();
    let level = Level::of(overall);
    let strongest = rated.iter().min_by_key(|one| (Reverse(one.rating), one.dimension));
    let weakest = rated.iter().min_by_key(|one| (one.rating, one.dimension));
    Ok(Summary {
        overall_score: shown(overall)?,
        level: if blockers.is_empty() { level } else { level.min(Level::Developing) },
        strongest: strongest.ok_or_else(too_large)?.dimension,
        weakest: weakest.ok_or_else(too_large)?.dimension,
        blockers,
        below_target: rated.iter().filter(|one| !one.gap.is_zero()).count(),
    })
}

impl Level {
    fn of(score: Decimal) -> Self {
        if score < Decimal::from(25) {
            Self::Beginning
        } else if score < Decimal::from(50) {
            Self::Developing
        } else if score < Decimal::from(75) {
            Self::Ready
        } else {
            Self::Leading
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Beginning => "beginning",
            Self::Developing => "developing",
            Self::Ready => "ready",
            Self::Leading => "leading",
        }
    }
}

impl Dimension {
    fn name(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::Data => "data",
            Self::Technology => "technology",
            Self::Skills => "skills",
            Self::Processes => "processes",
            Self::Governance => "governance",
            Self::Culture => "culture",
        }
    }

    /// Below a rating of 3 the ground is missing, from there on the reach.
    fn next_step(self, rating: Decimal) -> &'static str {
        match (self, rating < Decimal::from(3)) {
            (Self::Strategy, true) => "Name one goal that AI is to serve, and who answers for it.",
            (Self::Strategy, false) => "Give every goal a figure, an owner and a budget.",
            (Self::Data, true) => "List the data that the first use needs, where it is and what is missing.",
            (Self::Data, false) => "Measure the quality of the data, and name an owner for each source.",
            (Self::Technology, true) => {
                "Open one system by an interface, with an environment to try things in."
            }
            (Self::Technology, false) => {
                "Add monitoring and a way back to everything that runs in production."
            }
            (Self::Skills, true) => "Train a small group on a real task.",
            (Self::Skills, false) => "Train those who will use it, not only those who build it.",
            (Self::Processes, true) => "Write down how the most frequent process is really done.",
            (Self::Processes, false) => {
                "Measure time and errors of each process, before anything is changed."
            }
            (Self::Governance, true) => "Write down which data may be used for what, and who decides.",
            (Self::Governance, false) => "Check the rules regularly, and record who approved what.",
            (Self::Culture, true) => "Show one small result to those whose work it eases.",
            (Self::Culture, false) => "Give people time to try things, and a place to tell of them.",
        }
    }
}

fn in_words(summary: &Summary) -> String {
    let level = summary.level.name();
    let mut text = format!("readiness {:.2} of 100 ({level})", summary.overall_score);
    text.push_str(&format!("; weakest: {}", summary.weakest.name()));
    if !summary.blockers.is_empty() {
        let names: Vec<_> = summary.blockers.iter().map(|blocker| blocker.name()).collect();
        text.push_str(&format!("; blocked by: {}", names.join(", ")));
    }
    text
}

fn in_markdown(output: &Output) -> String {
    let mut text = format!(
        "{}\n\n| | Dimension | Rating | Gap | Next step |\n| --: | --- | --: | --: | --- |\n",
        in_words(&output.summary)
    );
    for row in &output.priorities {
        let Priority { rank, dimension, rating, gap, next_step, .. } = row;
        let dimension = dimension.name();
        text.push_str(&format!("| {rank} | {dimension} | {rating:.2} | {gap:.2} | {next_step} |\n"));
    }
    text
}

#[cfg(test)]
#[path = "ai_readiness_assessment_tests.rs"]
mod tests;
