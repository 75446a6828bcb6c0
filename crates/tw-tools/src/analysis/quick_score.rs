//! `quick-score`: which option is best, by weighted criteria?
//!
//! An option's score is the sum of weight · value ÷ sum of weights, from 0 to 100, where a value is
//! the score on its scale, turned around for a criterion of which less is better. All rules and a
//! worked example are in `docs/tools/quick-score.md`.

use std::{cmp::Reverse, ops::RangeInclusive};

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::{
    figures::{exact, percent, rounded, shown, too_large},
    names,
};

const CRITERIA_MAX: usize = 20;
const OPTIONS_MAX: usize = 50;
const WEIGHT: RangeInclusive<i64> = 0..=100;
const SCALE: RangeInclusive<u32> = 1..=100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "criteria": [
        { "name": "Fit", "weight": 5 },
        { "name": "Support", "weight": 2 },
        { "name": "Price", "weight": 3, "better": "lower" },
    ],
    "options": [
        { "name": "Alpha", "scores": [9, 6, 8] },
        { "name": "Beta", "scores": [7, 8, 3] },
        { "name": "Gamma", "scores": [5, 9, 2] },
    ],
}))]
struct Input {
    /// What the options are judged by. Every name appears once.
    #[schemars(title = "Criteria", length(min = 1, max = 20))]
    criteria: Vec<Criterion>,
    /// What to choose from. Every name appears once.
    #[schemars(title = "Options", length(min = 1, max = 50))]
    options: Vec<Choice>,
    /// The highest score that can be given; the lowest is 0.
    #[serde(default = "scale_max_default")]
    #[schemars(title = "Highest score", range(min = 1, max = 100), extend("x-unit" = "points"))]
    scale_max: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Criterion {
    /// A short name, unique in the list.
    #[schemars(title = "Name", length(min = 1, max = 200), regex(pattern = r"\S"))]
    name: String,
    /// How much it counts, against the others. Weights need not add up to anything; 0 leaves the
    /// criterion out.
    #[serde(default = "weight_default")]
    #[schemars(title = "Weight", range(min = 0, max = 100))]
    weight: f64,
    /// Whether a higher score is better, or a lower one, as with a price or a risk.
    #[serde(default = "better_default")]
    #[schemars(title = "Better")]
    better: Better,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// A short name, unique in the list.
    #[schemars(title = "Name", length(min = 1, max = 200), regex(pattern = r"\S"))]
    name: String,
    /// One score per criterion, in the order of `criteria`, each from 0 to `scaleMax`.
    #[schemars(title = "Scores", length(min = 1, max = 20), inner(range(min = 0, max = 100)))]
    #[schemars(extend("x-unit" = "points"))]
    scores: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Better {
    Higher,
    Lower,
}

fn scale_max_default() -> u32 {
    10
}

fn weight_default() -> f64 {
    1.0
}

fn better_default() -> Better {
    Better::Higher
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    /// All options, the best first. Options with the same score have the same rank.
    ranking: Vec<Ranked>,
    /// What each criterion adds to the score of each option, in the order of the ranking.
    breakdown: Vec<Part>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    #[schemars(title = "Options")]
    option_count: usize,
    /// The best option; of several with the same score the first by name.
    #[schemars(title = "Best")]
    top_option: String,
    /// From 0 to 100.
    #[schemars(title = "Best score", extend("x-unit" = "points"))]
    top_score: f64,
    /// How far the next option is behind; 0 means a tie, `null` that there is no other.
    #[schemars(title = "Margin", extend("x-unit" = "points"))]
    margin: Option<f64>,
    /// Criteria that decide the result: without any one of them, another option would win. The more there are, the closer
    /// the decision.
    #[schemars(title = "Decided by")]
    decided_by: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Ranked {
    #[schemars(title = "Rank")]
    rank: usize,
    #[schemars(title = "Option")]
    name: String,
    /// From 0 to 100.
    #[schemars(title = "Score", extend("x-unit" = "points"))]
    score: f64,
    /// How far it is behind the best.
    #[schemars(title = "Behind", extend("x-unit" = "points"))]
    behind: f64,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[schemars(title = "Option")]
    option: String,
    #[schemars(title = "Criterion")]
    criterion: String,
    /// The part of the criterion in all weights.
    #[schemars(title = "Weight", extend("x-unit" = "percent"))]
    weight_percent: Option<f64>,
    /// As it was given.
    #[schemars(title = "Given", extend("x-unit" = "points"))]
    given: f64,
    /// What it adds to the score.
    #[schemars(title = "Adds", extend("x-unit" = "points"))]
    adds: f64,
}

/// Scores and ranks options by weighted criteria, says how far they are apart, and which criteria
/// decide.
///
/// Use it to choose among vendors, candidates, places or designs when each can be scored on the same
/// criteria. Give the scores of an option in the order of the criteria; mark a price or a risk with
/// `"better": "lower"`. For ideas with only impact and effort use `priority-matrix`; when amounts of
/// money are known use `roi-calculator` for each.
#[tool(
    slug = "quick-score",
    name = "Quick Score",
    category = "analysis",
    icon = "list-ordered",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    tags = ["decision", "ranking", "criteria", "weights"],
    form = "quick_score.form.json",
    texts = [("de", "quick_score.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        ("ranking", "Ranking", "ranking", r#"{ "label": "name", "value": "score" }"#),
        ("breakdown", "What the scores are made of", "table")
    ]
)]
async fn quick_score(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = Sheet::new(&input)?.rank()?;
    let (summary, markdown) = (in_words(&output), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// The input as decimals, checked: at least one weight is above 0, and every option has one score per
/// criterion.
struct Sheet {
    criteria: Vec<Weighed>,
    options: Vec<Scored>,
    scale_max: Decimal,
}

struct Weighed {
    name: String,
    weight: Decimal,
    better: Better,
}

struct Scored {
    name: String,
    scores: Vec<Decimal>,
}

impl Sheet {
    fn new(input: &Input) -> Result<Self, ToolFailure> {
        for (what, count, max) in
            [("criteria", input.criteria.len(), CRITERIA_MAX), ("options", input.options.len(), OPTIONS_MAX)]
        {
            if count == 0 || max < count {
                return Err(ToolFailure::invalid(format!("'{what}' must have 1 to {max} entries")));
            }
        }
        if !SCALE.contains(&input.scale_max) {
            return Err(ToolFailure::invalid("'scaleMax' must be from 1 to 100"));
        }
        let criteria = weighed(&input.criteria)?;
        let names = names::unique("option", input.options.iter().map(|option| option.name.as_str()))?;
        let options = input.options.iter().zip(names);
        let options = options.map(|(option, name)| Scored::new(option, name, &criteria, input.scale_max));
        let options = options.collect::<Result<_, _>>()?;
        Ok(Self { criteria, options, scale_max: Decimal::from(input.scale_max) })
    }

    /// The sum of the weights, one criterion left out if asked for.
    fn weights(&self, without: Option<usize>) -> Decimal {
        let kept = self.criteria.iter().enumerate().filter(|(index, _)| Some(*index) != without);
        kept.map(|(_, criterion)| criterion.weight).sum()
    }

    /// Weight times value, by the scale: what a score adds, times the sum of the weights.
    fn points(&self, criterion: &Weighed, score: Decimal) -> Decimal {
        let value = match criterion.better {
            Better::Higher => score,
            Better::Lower => self.scale_max - score,
        };
        criterion.weight * value * Decimal::ONE_HUNDRED / self.scale_max
    }

    /// The score of an option as it is shown, one criterion left out if asked for; `None` when no
    /// weight is left.
    fn score(&self, option: &Scored, without: Option<usize>) -> Option<Decimal> {
        let kept = self.criteria.iter().zip(&option.scores).enumerate();
        let kept = kept.filter(|(index, _)| Some(*index) != without);
        let points: Decimal = kept.map(|(_, (criterion, score))| self.points(criterion, *score)).sum();
        points.checked_div(self.weights(without)).map(rounded)
    }

    fn rank(mut self) -> Result<Output, ToolFailure> {
        let mut scored = Vec::new();
        for option in std::mem::take(&mut self.options) {
            scored.push((self.score(&option, None).ok_or_else(too_large)?, option));
        }
        scored.sort_by_cached_key(|(score, option)| (Reverse(*score), option.name.to_lowercase()));
        let (top_score, top) = scored.first().ok_or_else(too_large)?;
        let mut ranking: Vec<Ranked> = Vec::new();
        for ((score, option), place) in scored.iter().zip(1..) {
            let (shown_score, behind) = (shown(*score)?, shown(top_score - score)?);
            let tied = ranking.last().filter(|before| before.behind == behind).map(|before| before.rank);
            let rank = tied.unwrap_or(place);
            ranking.push(Ranked { rank, name: option.name.clone(), score: shown_score, behind });
        }
        let options: Vec<&Scored> = scored.iter().map(|(_, option)| option).collect();
        let summary = Summary {
            option_count: ranking.len(),
            top_option: top.name.clone(),
            top_score: shown(*top_score)?,
            margin: ranking.get(1).map(|second| second.behind),
            decided_by: self.decided_by(&options),
        };
        Ok(Output { summary, ranking, breakdown: self.breakdown(&options)? })
    }

    /// Expects the options in their order, the best first.
    fn decided_by(&self, options: &[&Scored]) -> Vec<String> {
        let decides = |index: usize| {
            let mut scores = options.iter().map(|option| self.score(option, Some(index)));
            // Without any weight nobody is ahead, and all scores are `None`.
            let top = scores.next().flatten();
            top.is_some() && scores.any(|score| top < score)
        };
        let criteria = self.criteria.iter().enumerate().filter(|(index, _)| decides(*index));
        criteria.map(|(_, criterion)| criterion.name.clone()).collect()
    }

    fn breakdown(&self, options: &[&Scored]) -> Result<Vec<Part>, ToolFailure> {
        let weights = self.weights(None);
        let mut parts = Vec::new();
        for option in options {
            for (criterion, score) in self.criteria.iter().zip(&option.scores) {
                let adds = self.points(criterion, *score).checked_div(weights).ok_or_else(too_large)?;
                parts.push(Part {
                    option: option.name.clone(),
                    criterion: criterion.name.clone(),
                    weight_percent: percent(criterion.weight, weights)?,
                    given: shown(*score)?,
                    adds: shown(adds)?,
                });
            }
        }
        Ok(parts)
    }
}

fn weighed(criteria: &[Criterion]) -> Result<Vec<Weighed>, ToolFailure> {
    let names = names::unique("criterion", criteria.iter().map(|criterion| criterion.name.as_str()))?;
    let weighed = criteria.iter().zip(names).map(|(criterion, name)| {
        let weight = exact("weight", criterion.weight, &WEIGHT)?;
        Ok(Weighed { name, weight, better: criterion.better })
    });
    let weighed: Vec<Weighed> = weighed.collect::<Result<_, ToolFailure>>()?;
    if weighed.iter().all(|criterion| criterion.weight.is_zero()) {
        return Err(ToolFailure::invalid("at least one criterion needs a weight above 0"));
    }
    Ok(weighed)
}

impl Scored {
    fn new(option: &Choice, name: String, criteria: &[Weighed], max: u32) -> Result<Self, ToolFailure> {
        let (found, expected) = (option.scores.len(), criteria.len());
        if found != expected {
            let scores = if found == 1 { "1 score" } else { &format!("{found} scores") };
            let message = format!("'{name}' has {scores}; it needs {expected}, one per criterion");
            return Err(ToolFailure::invalid(message));
        }
        let scores = option.scores.iter().zip(criteria).map(|(score, criterion)| {
            exact(&format!("{name}: {}", criterion.name), *score, &(0..=i64::from(max)))
        });
        let scores = scores.collect::<Result<_, _>>()?;
        Ok(Self { name, scores })
    }
}

fn in_words(output: &Output) -> String {
    let Summary { top_option, top_score, margin, decided_by, .. } = &output.summary;
    let mut text = format!("best: {top_option} with {top_score:.2} of 100");
    match (margin, output.ranking.get(1)) {
        (Some(0.0), Some(second)) => text.push_str(&format!(", level with {}", second.name)),
        (Some(margin), Some(second)) => text.push_str(&format!(", {margin:.2} ahead of {}", second.name)),
        _ => {}
    }
    if !decided_by.is_empty() {
        text.push_str(&format!("; decided by: {}", decided_by.join(", ")));
    }
    text
}

fn in_markdown(output: &Output) -> String {
    let mut text = format!("{}\n\n", in_words(output));
    for Ranked { rank, name, score, .. } in &output.ranking {
        // Not a numbered list: that would count on, and ties have the same rank.
        text.push_str(&format!("- {rank}: {name} ({score:.2})\n"));
    }
    text
}

#[cfg(test)]
#[path = "quick_score_tests.rs"]
mod tests;
