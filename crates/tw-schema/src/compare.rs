//! What a change of a definition's schemas means to those who use it.
//!
//! Callers send inputs, so an input schema that accepts less breaks them. They read outputs, so an
//! output schema that promises less breaks them. Everything here is a question of which values fit
//! before and after; two rules bend it to what people mean by compatible:
//!
//! - A caller sends only members that the schema names. So a new optional property breaks nobody,
//!   although an open object accepted anything under that name before.
//! - A reader ignores members it does not know. So a new property in an output breaks nobody,
//!   although a closed object promised that there would be none.
//!
//! Where the meaning of a change is not understood it counts as breaking: a false alarm costs a
//! version number, a missed one costs somebody's integration.

mod alike;
mod bounds;
mod choices;
mod layers;
mod members;
mod walk;

use std::cell::Cell;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical;
use layers::Root;
use walk::Walk;

/// How many differences are listed at most. The verdict is made from all of them.
const DIFFERENCES_MAX: usize = 500;
/// How many steps the comparison of two schemas may take. An ordinary one takes a few hundred.
const STEPS_MAX: u64 = 1_000_000;

/// The schemas of one version of a definition. A missing output schema promises nothing.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'a> {
    pub input: &'a Value,
    pub output: Option<&'a Value>,
}

/// The least part of the version number that has to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    None,
    Patch,
    Minor,
    Major,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Input,
    Output,
}

/// One change between two versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub part: Part,
    /// A pointer to the place in the values, not in the schema: `/address/city`. The items of an
    /// array and the unnamed members of an object are `*`.
    pub path: String,
    /// A word that never changes once released.
    pub kind: &'static str,
    pub breaking: bool,
    pub message: String,
}

/// All changes between two versions, and what they add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    pub breaking: bool,
    pub required_bump: Bump,
    pub changes: Vec<Difference>,
}

/// Compares the schemas of two versions of a definition.
///
/// Both are expected to be schemas that compile; of anything else it only says that it changed.
///
/// # Example
///
/// ```
/// use serde_json::json;
/// use tw_schema::{Bump, Definition, compare};
///
/// let (old, new) = (
///     json!({ "type": "object", "properties": { "years": { "type": "integer" } } }),
///     json!({ "type": "object", "properties": { "years": { "type": "integer", "minimum": 1 } } }),
/// );
/// let (from, to) = (Definition { input: &old, output: None }, Definition { input: &new, output: None });
/// let comparison = compare(&from, &to);
/// assert_eq!(comparison.required_bump, Bump::Major);
/// assert_eq!((comparison.changes[0].path.as_str(), comparison.changes[0].kind), ("/years", "bound_tightened"));
/// ```
#[must_use]
pub fn compare(from: &Definition<'_>, to: &Definition<'_>) -> Comparison {
    let mut found = compare_part(Part::Input, from.input, to.input);
    found.extend(match (from.output, to.output) {
        (None, None) => Vec::new(),
        (None, Some(_)) => vec![whole(Effect::Narrower, "the output is described now")],
        (Some(_), None) => vec![whole(Effect::Wider, "the output is no longer described")],
        (Some(from), Some(to)) => compare_part(Part::Output, from, to),
    });
    let breaking = found.iter().any(|found| found.difference.breaking);
    let required_bump = found.iter().map(|found| found.bump).max().unwrap_or(Bump::None);
    let changes = found.into_iter().take(DIFFERENCES_MAX).map(|found| found.difference).collect();
    Comparison { breaking, required_bump, changes }
}

fn compare_part(part: Part, from: &Value, to: &Value) -> Vec<Found> {
    if canonical(from) == canonical(to) {
        return Vec::new();
    }
    let left = Cell::new(STEPS_MAX);
    let (from, to) = (Root::new(from, &left), Root::new(to, &left));
    let mut found = Walk::new(part, &from, &to).run();
    if found.is_empty() {
        let message = "is written differently and means the same";
        found.push(Found::new(part, "", "schema_changed", Effect::Same, message.to_owned()));
    }
    found
}

fn whole(effect: Effect, message: &str) -> Found {
    Found::new(Part::Output, "", "schema_changed", effect, message.to_owned())
}

/// What a change does to the values that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The same values fit; only the words changed.
    Same,
    /// Some may no longer fit, and nothing new does.
    Narrower,
    /// More may fit, and whatever did still does.
    Wider,
    /// The sets may differ either way, or nobody knows.
    Both,
    /// Other values fit, but none that a caller or a reader relied on.
    Harmless,
}

impl Effect {
    fn breaks(self, part: Part) -> bool {
        match self {
            Self::Same | Self::Harmless => false,
            Self::Narrower => part == Part::Input,
            Self::Wider => part == Part::Output,
            Self::Both => true,
        }
    }
}

/// A difference and what it asks of the version number.
#[derive(Clone, Debug)]
struct Found {
    difference: Difference,
    bump: Bump,
}

impl Found {
    fn new(part: Part, path: &str, kind: &'static str, effect: Effect, message: String) -> Self {
        let breaking = effect.breaks(part);
        let bump = match effect {
            _ if breaking => Bump::Major,
            Effect::Same => Bump::Patch,
            _ => Bump::Minor,
        };
        Self { difference: Difference { part, path: path.to_owned(), kind, breaking, message }, bump }
    }
}

#[cfg(test)]
mod tests;
