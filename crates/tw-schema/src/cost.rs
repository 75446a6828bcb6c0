//! The cost of applying a schema, so that a small schema cannot keep a core busy for hours.
//!
//! Twenty definitions that each refer twice to the next make a million paths, and a schema that
//! refers to itself makes as many as the value is deep. The validator remembers results for
//! references that recur, but not for the others and not while it collects errors. So the first kind
//! is refused when the schema is compiled, and the second is weighed against the value at hand
//! before errors are collected.

mod weigh;

use serde_json::Value;

use weigh::Weighing;

use crate::{
    SchemaFault,
    outline::{Additional, Node, NodeId, Outline, ROOT},
};

/// How many subschemas may apply to the same instance location.
const SAME_LOCATION_MAX: u64 = 2_000;
/// How many may lead to one another at the same instance location. Each is a call inside a call, for every
/// level of the value, and the stack is not endless.
const CHAIN_MAX: u64 = 24;
/// How many may apply along one path from the root of a value to a leaf.
const PATH_MAX: u64 = 200_000;
/// How many steps one check of one value may take.
const CHECK_MAX: u64 = 10_000_000;
/// How many steps the collection of errors may take.
const COLLECT_MAX: u64 = 200_000;
/// How deep the calls may go, one inside another, while errors are collected. Each takes about a
/// kilobyte of stack, and a thread has two megabytes.
const COLLECT_DEPTH_MAX: u64 = 512;
/// Schemas this light need no look at the value before a check.
const LIGHT: u64 = 8;
/// How many steps the patterns may take on all texts of one value.
const MATCH_MAX: u64 = 100_000_000;
/// How many steps of a check, and how many of patterns, take a few milliseconds at the very most. A step of a pattern
/// is the worst case of an engine that mostly needs one for each letter, so many more of them are taken.
const QUICK_CHECK_MAX: u64 = 50_000;
const QUICK_MATCH_MAX: u64 = 2_000_000;
/// To see that all items differ counts as this many steps for each of them.
const DIFFERING: u64 = 32;
/// Comparing with this many entries of a list counts as one step.
const COMPARED_PER_STEP: u64 = 8;

/// The price of a compiled schema, by which values are weighed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Price {
    /// How many subschemas apply to one instance location at most.
    same_location: u64,
    /// How many of them lead to one another at most.
    chain: u64,
    /// Whether there is one way only to every instance location. Then the search for the first error goes
    /// straight down and needs no weighing.
    straight: bool,
    /// How heavy the patterns are that apply to one text at most.
    patterns: u64,
}

/// How many faults of an invalid value may be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    Everything,
    FirstError,
    Nothing,
}

impl Price {
    /// Weighs a schema, and refuses it if it is endless or too heavy.
    pub(crate) fn of(outline: &Outline) -> Result<Self, SchemaFault> {
        let most = |costs: Vec<u64>| costs.into_iter().max().unwrap_or(1);
        let own = |node: &Node| {
            1 + node.compared as u64 / COMPARED_PER_STEP + if node.differing { DIFFERING } else { 0 }
        };
        let same_location = most(Sweep::run(outline, |node, below| own(node) + below.iter().sum::<u64>())?);
        let chain = most(Sweep::run(outline, |_, below| 1 + below.iter().max().unwrap_or(&0))?);
        // A path that comes back to where it was is not counted on: those results the validator
        // remembers.
        let path = Sweep::run_through_cycles(outline, all_below, path_cost)[ROOT];
        if SAME_LOCATION_MAX < same_location || CHAIN_MAX < chain || PATH_MAX < path {
            return Err(SchemaFault::TooComplex);
        }
        let straight = outline.nodes.iter().all(is_straight);
        let heavy = |node: &Node, below: &[u64]| {
            below.iter().fold(node.patterns_weight, |sum, cost| sum.saturating_add(*cost))
        };
        let patterns = most(Sweep::run_through_cycles(outline, same_location_below, heavy));
        Ok(Self { same_location, chain, straight, patterns })
    }

    /// Whether a value can be checked at all. Only a heavy schema on a huge value cannot.
    pub(crate) fn allows_check(&self, value: &Value) -> bool {
        (self.same_location <= LIGHT || self.same_location.saturating_mul(count(value)) <= CHECK_MAX)
            && (self.patterns == 0 || self.patterns.saturating_mul(text_bytes(value)) <= MATCH_MAX)
    }

    /// Whether every value of so many bytes is checked within a few milliseconds.
    pub(crate) fn is_quick(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        // An item has one character at least, and a comma.
        self.same_location.saturating_mul(bytes / 2) <= QUICK_CHECK_MAX
            && self.patterns.saturating_mul(bytes) <= QUICK_MATCH_MAX
    }

    /// How many faults of a value can be collected at a reasonable cost.
    pub(crate) fn telling(&self, outline: &Outline, value: &Value) -> Telling {
        if COLLECT_DEPTH_MAX < self.chain.saturating_mul(levels(value)) {
            return Telling::Nothing;
        }
        match Weighing::new(outline).steps(ROOT, value) {
            0..=COLLECT_MAX => Telling::Everything,
            _ if self.straight => Telling::FirstError,
            _ => Telling::Nothing,
        }
    }
}

fn is_straight(node: &Node) -> bool {
    let beside = [&node.tried, &node.patterns, &node.other_members, &node.other_items];
    node.all.len() <= 1 && beside.iter().all(|subschemas| subschemas.is_empty())
}

/// How many levels a value has, scalars counted.
fn levels(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

fn count(value: &Value) -> u64 {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| name.len() as u64 + text_bytes(member)).sum()
        }
        _ => 0,
    }
}

fn same_location_below(node: &Node) -> Vec<NodeId> {
    node.all.iter().chain(&node.tried).copied().collect()
}

fn all_below(node: &Node) -> Vec<NodeId> {
    let mut below = same_location_below(node);
    below.extend(node.properties.iter().map(|(_, id)| *id));
    below.extend(&node.patterns);
    below.extend(&node.other_members);
    below.extend(match node.additional {
        Additional::Schema(id) => Some(id),
        _ => None,
    });
    below.extend(&node.prefix);
    below.extend(&node.items);
    below.extend(&node.other_items);
    below
}

/// The steps along the costliest path below a node, from those of the nodes in [`all_below`].
///
/// Subschemas of the same instance location add up. Of the members of an object only one is on a path, but
/// that one may be met by a property, by patterns and by the rest at once.
fn path_cost(node: &Node, below: &[u64]) -> u64 {
    let mut rest = below;
    let mut next = |length: usize| {
        let (these, others) = rest.split_at(length);
        rest = others;
        these
    };
    let sum = |costs: &[u64]| costs.iter().fold(0_u64, |total, cost| total.saturating_add(*cost));
    let most = |costs: &[u64]| costs.iter().max().copied().unwrap_or(0);
    let same = sum(next(node.all.len() + node.tried.len()));
    let properties = most(next(node.properties.len()));
    let additional = usize::from(matches!(node.additional, Additional::Schema(_)));
    let members = sum(next(node.patterns.len() + node.other_members.len() + additional));
    let prefix = most(next(node.prefix.len()));
    let items = sum(next(usize::from(node.items.is_some()) + node.other_items.len()));
    // To know what was evaluated, the validator walks the same instance location again.
    let same = same.saturating_mul(if node.unevaluated { 3 } else { 1 });
    let down = properties.saturating_add(members).max(prefix.saturating_add(items));
    same.saturating_add(down).saturating_add(1)
}

/// One number for every node, from the numbers of the nodes below it.
struct Sweep {
    done: Vec<Option<u64>>,
    entered: Vec<bool>,
}

impl Sweep {
    /// Over the subschemas of the same instance location. There a way back has no end: the value never gets
    /// smaller.
    fn run(outline: &Outline, total: impl Fn(&Node, &[u64]) -> u64) -> Result<Vec<u64>, SchemaFault> {
        let mut cycle = false;
        let total = |node: &Node, costs: &[u64]| total(node, costs).min(SAME_LOCATION_MAX + 1);
        let costs = Self::sweep(outline, same_location_below, total, &mut cycle);
        if cycle { Err(SchemaFault::EndlessReference) } else { Ok(costs) }
    }

    fn run_through_cycles(
        outline: &Outline,
        below: impl Fn(&Node) -> Vec<NodeId>,
        total: impl Fn(&Node, &[u64]) -> u64,
    ) -> Vec<u64> {
        Self::sweep(outline, below, total, &mut false)
    }

    /// Depth first with a stack of its own, since a chain of references may be as long as the
    /// schema is large. An edge back to an open node counts nothing and is noted.
    fn sweep(
        outline: &Outline,
        below: impl Fn(&Node) -> Vec<NodeId>,
        total: impl Fn(&Node, &[u64]) -> u64,
        cycle: &mut bool,
    ) -> Vec<u64> {
        let size = outline.nodes.len();
        let mut sweep = Sweep { done: vec![None; size], entered: vec![false; size] };
        let mut open: Vec<NodeId> = (0..size).rev().collect();
        while let Some(id) = open.last().copied() {
            let node = &outline.nodes[id];
            if sweep.done[id].is_some() {
                open.pop();
            } else if sweep.entered[id] {
                let costs: Vec<u64> =
                    below(node).into_iter().map(|lower| sweep.done[lower].unwrap_or(0)).collect();
                sweep.done[id] = Some(total(node, &costs));
                open.pop();
            } else {
                sweep.entered[id] = true;
                for lower in below(node) {
                    if sweep.done[lower].is_some() {
                        continue;
                    }
                    *cycle |= sweep.entered[lower];
                    if !sweep.entered[lower] {
                        open.push(lower);
                    }
                }
            }
        }
        sweep.done.into_iter().map(|cost| cost.unwrap_or(0)).collect()
    }
}
