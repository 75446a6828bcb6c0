//! Changes between two versions of a definition's schemas, and whether they break its users.
//!
//! Callers send inputs, so an input schema that accepts less breaks them. They read outputs, so an
//! output schema that promises less breaks them. The comparison asks which values fit before and
//! after, with two exceptions that people expect of compatible versions:
//!
//! - A caller sends only members that the schema names. So a new optional property breaks nobody,
//!   although an open object accepted anything under that name before.
//! - A reader ignores members it does not know. So a new property in an output breaks nobody,
//!   although a closed object promised that there would be none.
//!
//! A change that is not understood counts as breaking: a false alarm costs a version number, a missed
//! one costs somebody's integration.

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

/// How many differences are listed at most. The verdict counts all of them.
const DIFFERENCES_MAX: usize = 500;
/// How many steps the comparison of two schemas may take. An ordinary one takes a few hundred.
const STEPS_MAX: u64 = 1_000_000;

/// The schemas of one version of a definition. A missing output schema promises nothing.
#[derive(Clone, Copy, Debug)]
pub struct SchemaPair<'a> {
    pub input: &'a Value,
    pub output: Option<&'a Value>,
}

/// The least bump of the version number that a change requires.
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
    /// The instance location, not the location in the schema: `/address/city`. `*` stands for the items
    /// of an array and for the unnamed members of an object.
    pub path: String,
    /// The kind of change. A kind never changes once released.
    pub kind: &'static str,
    pub breaking: bool,
    pub message: String,
}

/// All changes between two versions, with their verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    pub breaking: bool,
    pub required_bump: Bump,
    pub changes: Vec<Difference>,
}

/// Compares the schemas of two versions of a definition.
///
/// Both must be schemas that compile. Of other documents it reports only that they changed.
///
/// # Example
///
/// ```
/// use serde_json::json;
/// use tw_schema::{Bump, SchemaPair, compare};
///
/// let (old, new) = (
///     json!({ "type": "object", "properties": { "years": { "type": "integer" } } }),
///     json!({ "type": "object", "properties": { "years": { "type": "integer", "minimum": 1 } } }),
/// );
/// let (from, to) = (SchemaPair { input: &old, output: None }, SchemaPair { input: &new, output: None });
/// let comparison = compare(&from, &to);
/// assert_eq!(comparison.required_bump, Bump::Major);
/// assert_eq!((comparison.changes[0].path.as_str(), comparison.changes[0].kind), ("/years", "bound_tightened"));
/// ```
#[must_use]
pub fn compare(from: &SchemaPair<'_>, to: &SchemaPair<'_>) -> Comparison {
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

/// The effect of a change on the set of values that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The same values fit; only the words changed.
    Same,
    /// Some values may no longer fit, and no new ones do.
    Narrower,
    /// New values may fit, and all old ones still do.
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

/// A difference, and the bump that it requires.
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
