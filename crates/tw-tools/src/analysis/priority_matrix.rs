//! `priority-matrix`: what to do first, by impact and effort.
//!
//! The rules and a worked example are in `docs/tools/priority-matrix.md`.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_sdk::{Reply, Submission, ToolContext, ToolFailure, tool};

use crate::figures::{exact, rounded, shown};

const ITEMS_MAX: usize = 200;
const SCALE: RangeInclusive<i64> = 1..=10;
const PERCENT: RangeInclusive<i64> = 0..=100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "items": [
        { "name": "Self-service password reset", "impact": 8, "effort": 3 },
        { "name": "New billing system", "impact": 9, "effort": 9, "confidence": 60 },
        { "name": "Dark mode", "impact": 3, "effort": 2 },
        { "name": "Rewrite the reports", "impact": 4, "effort": 8, "confidence": 50 },
    ],
}))]
struct Input {
    /// What to put in order. Every name appears once.
    #[schemars(title = "Items", length(min = 1, max = 200))]
    items: Vec<Item>,
    /// From this impact on, an item counts as having a high impact.
    #[serde(default = "threshold_default")]
    #[schemars(title = "Impact threshold", range(min = 1, max = 10))]
    impact_threshold: f64,
    /// From this effort on, an item counts as a high effort.
    #[serde(default = "threshold_default")]
    #[schemars(title = "Effort threshold", range(min = 1, max = 10))]
    effort_threshold: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Item {
    /// A short name, unique in the list.
    #[schemars(title = "Name", length(min = 1, max = 200), regex(pattern = r"\S"))]
    name: String,
    /// How much it helps: 1 is hardly at all, 10 is as much as anything could.
    #[schemars(title = "Impact", range(min = 1, max = 10))]
    impact: f64,
    /// How much work it is: 1 is an afternoon, 10 is the largest thing you would consider.
    #[schemars(title = "Effort", range(min = 1, max = 10))]
    effort: f64,
    /// How sure you are of the impact.
    #[serde(default = "confidence_default")]
    #[schemars(title = "Confidence", range(min = 0, max = 100), extend("x-unit" = "percent"))]
    confidence: f64,
}

/// The middle of a scale from 1 to 10.
fn threshold_default() -> f64 {
    5.5
}

fn confidence_default() -> f64 {
    100.0
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Output {
    summary: Summary,
    /// All items, the first to do first.
    ranking: Vec<Ranked>,
    quadrants: Quadrants,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Summary {
    #[schemars(title = "Items")]
    item_count: usize,
    /// The item to do first.
    #[schemars(title = "First")]
    top_item: String,
    #[schemars(title = "Quick wins")]
    quick_wins: usize,
    #[schemars(title = "Major projects")]
    major_projects: usize,
    #[schemars(title = "Fill-ins")]
    fill_ins: usize,
    #[schemars(title = "Thankless tasks")]
    thankless: usize,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct Ranked {
    #[schemars(title = "Rank")]
    rank: usize,
    #[schemars(title = "Item")]
    name: String,
    #[schemars(title = "Impact")]
    impact: f64,
    #[schemars(title = "Effort")]
    effort: f64,
    #[schemars(title = "Confidence", extend("x-unit" = "percent"))]
    confidence: f64,
    /// Impact times confidence, by effort.
    #[schemars(title = "Score")]
    score: f64,
    #[schemars(title = "Quadrant")]
    quadrant: Quadrant,
}

/// Names in the order of the ranking.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct Quadrants {
    /// High impact, low effort: do these first.
    quick_wins: Vec<String>,
    /// High impact, high effort: plan these.
    major_projects: Vec<String>,
    /// Low impact, low effort: do these when there is time.
    fill_ins: Vec<String>,
    /// Low impact, high effort: leave these.
    thankless: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Quadrant {
    QuickWins,
    MajorProjects,
    FillIns,
    Thankless,
}

/// Puts ideas, tasks or features in order by impact and effort, and sorts them into four quadrants:
/// quick wins, major projects, fill-ins, thankless tasks.
///
/// Use it when there are several things to choose from and a judgement from 1 to 10 is all there is.
/// Give `confidence` in percent where you are guessing. When amounts of money are known, use
/// `roi-calculator` for each instead.
#[tool(
    slug = "priority-matrix",
    name = "Priority Matrix",
    category = "analysis",
    icon = "grid-2x2",
    version = "1.0.0",
    level = "read",
    pure,
    callable,
    timeout_ms = 5_000,
    collaborative,
    aggregate = combine,
    tags = ["planning", "ranking", "impact", "effort"],
    form = "priority_matrix.form.json",
    texts = [("de", "priority_matrix.de.json")],
    sections = [
        ("summary", "Summary", "summary"),
        ("ranking", "Ranking", "ranking", r#"{ "label": "name", "value": "score", "group": "quadrant" }"#)
    ]
)]
async fn priority_matrix(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let output = rank(Board::new(&input)?)?;
    let (summary, markdown) = (in_words(&output.summary), in_markdown(&output));
    Ok(Reply::new(output, summary).markdown(markdown))
}

/// Averages what several people think of each item, and ranks again.
///
/// An item counts for those who named it; names are compared without case and outer spaces.
fn combine(submissions: Vec<Submission>) -> Result<Value, ToolFailure> {
    let boards = submissions.into_iter().map(|submission| {
        let input: Input = serde_json::from_value(submission.input)
            .map_err(|error| ToolFailure::invalid(format!("a submission cannot be read: {error}")))?;
        Board::new(&input)
    });
    let boards: Vec<Board> = boards.collect::<Result<_, _>>()?;
    let output = rank(Board::average(&boards)?)?;
    serde_json::to_value(output).map_err(|error| ToolFailure::new(format!("the result is not JSON: {error}")))
}

/// The input as decimals, checked.
struct Board {
    items: Vec<Judged>,
    impact_threshold: Decimal,
    effort_threshold: Decimal,
}

struct Judged {
    name: String,
    impact: Decimal,
    effort: Decimal,
    confidence: Decimal,
}

impl Board {
    fn new(input: &Input) -> Result<Self, ToolFailure> {
        if input.items.is_empty() || ITEMS_MAX < input.items.len() {
            return Err(ToolFailure::invalid(format!("'items' must have 1 to {ITEMS_MAX} entries")));
        }
        let items: Vec<Judged> = input.items.iter().map(Judged::new).collect::<Result<_, _>>()?;
        let mut keys = BTreeSet::new();
        if let Some(twice) = items.iter().find(|item| !keys.insert(item.key())) {
            return Err(ToolFailure::invalid(format!("two items are named '{}'", twice.name)));
        }
        Ok(Self {
            items,
            impact_threshold: exact("impactThreshold", input.impact_threshold, &SCALE)?,
            effort_threshold: exact("effortThreshold", input.effort_threshold, &SCALE)?,
        })
    }

    fn average(boards: &[Self]) -> Result<Self, ToolFailure> {
        let mean_of = |figure: fn(&Self) -> Decimal| {
            mean(boards.iter().map(figure))
                .ok_or_else(|| ToolFailure::invalid("there are no submissions to combine"))
        };
        let (impact_threshold, effort_threshold) =
            (mean_of(|board| board.impact_threshold)?, mean_of(|board| board.effort_threshold)?);
        let mut same: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
        for item in boards.iter().flat_map(|board| &board.items) {
            same.entry(item.key()).or_default().push(item);
        }
        let items = same.into_values().filter_map(|same| {
            Some(Judged {
                name: same.first()?.name.clone(),
                impact: mean(same.iter().map(|item| item.impact))?,
                effort: mean(same.iter().map(|item| item.effort))?,
                confidence: mean(same.iter().map(|item| item.confidence))?,
            })
        });
        Ok(Self { items: items.collect(), impact_threshold, effort_threshold })
    }

    fn quadrant(&self, item: &Judged) -> Quadrant {
        match (self.impact_threshold <= item.impact, self.effort_threshold <= item.effort) {
            (true, false) => Quadrant::QuickWins,
            (true, true) => Quadrant::MajorProjects,
            (false, false) => Quadrant::FillIns,
            (false, true) => Quadrant::Thankless,
        }
    }
}

/// The average to two decimals, as it is shown; what follows is calculated from what is shown.
fn mean(figures: impl ExactSizeIterator<Item = Decimal>) -> Option<Decimal> {
    let count = Decimal::from(figures.len());
    figures.sum::<Decimal>().checked_div(count).map(rounded)
}

impl Judged {
    fn new(item: &Item) -> Result<Self, ToolFailure> {
        let name = item.name.trim();
        if name.is_empty() {
            return Err(ToolFailure::invalid("every item needs a name"));
        }
        Ok(Self {
            name: name.to_owned(),
            impact: exact("impact", item.impact, &SCALE)?,
            effort: exact("effort", item.effort, &SCALE)?,
            confidence: exact("confidence", item.confidence, &PERCENT)?,
        })
    }

    /// What two names are compared by.
    fn key(&self) -> String {
        self.name.to_lowercase()
    }

    fn score(&self) -> Decimal {
        // The effort is at least 1, so this divides by no zero and no number grows.
        rounded(self.impact * self.confidence / Decimal::ONE_HUNDRED / self.effort)
    }
}

fn rank(mut board: Board) -> Result<Output, ToolFailure> {
    let order = |item: &Judged| (Reverse(item.score()), Reverse(item.impact), item.effort, item.key());
    board.items.sort_by_cached_key(order);
    let mut quadrants = Quadrants::default();
    let mut ranking = Vec::new();
    for (item, rank) in board.items.iter().zip(1..) {
        let quadrant = board.quadrant(item);
        quadrants.names_of(quadrant).push(item.name.clone());
        ranking.push(Ranked {
            rank,
            name: item.name.clone(),
            impact: shown(item.impact)?,
            effort: shown(item.effort)?,
            confidence: shown(item.confidence)?,
            score: shown(item.score())?,
            quadrant,
        });
    }
    let summary = Summary {
        item_count: ranking.len(),
        top_item: ranking.first().map(|item| item.name.clone()).unwrap_or_default(),
        quick_wins: quadrants.quick_wins.len(),
        major_projects: quadrants.major_projects.len(),
        fill_ins: quadrants.fill_ins.len(),
        thankless: quadrants.thankless.len(),
    };
    Ok(Output { summary, ranking, quadrants })
}

impl Quadrants {
    fn names_of(&mut self, quadrant: Quadrant) -> &mut Vec<String> {
        match quadrant {
            Quadrant::QuickWins => &mut self.quick_wins,
            Quadrant::MajorProjects => &mut self.major_projects,
            Quadrant::FillIns => &mut self.fill_ins,
            Quadrant::Thankless => &mut self.thankless,
        }
    }
}

fn in_words(summary: &Summary) -> String {
    let (items, wins) = (summary.item_count, summary.quick_wins);
    let items = if items == 1 { "1 item".to_owned() } else { format!("{items} items") };
    let wins = if wins == 1 { "1 quick win".to_owned() } else { format!("{wins} quick wins") };
    format!("{items}, {wins}; first: {}", summary.top_item)
}

fn in_markdown(output: &Output) -> String {
    let Quadrants { quick_wins, major_projects, fill_ins, thankless } = &output.quadrants;
    let mut text = String::new();
    for item in &output.ranking {
        text.push_str(&format!("{}. {} (score {:.2})\n", item.rank, item.name, item.score));
    }
    for (title, names) in [
        ("Quick wins", quick_wins),
        ("Major projects", major_projects),
        ("Fill-ins", fill_ins),
        ("Thankless", thankless),
    ] {
        if !names.is_empty() {
            text.push_str(&format!("\n{title}: {}\n", names.join(", ")));
        }
    }
    text
}

#[cfg(test)]
#[path = "priority_matrix_tests.rs"]
mod tests;
