//! The cost of collecting the errors of one value.

use std::collections::HashMap;

use serde_json::Value;

use super::{COLLECT_MAX, COMPARED_PER_STEP};
use crate::outline::{Additional, Node, NodeId, Outline};

/// Cloning this many bytes of a value counts as one step.
const BYTES_PER_STEP: u64 = 64;

/// Counts the steps the validator would take to collect every error.
///
/// Each pair of subschema and instance location is looked at once and counted as often as it would be met. A
/// failed choice keeps a copy of the value for each of its branches, so those are counted too.
pub(super) struct Weighing<'a> {
    outline: &'a Outline,
    /// Steps for a subschema at an instance location, by the address of the value there.
    known: HashMap<(NodeId, usize), u64>,
    copies: HashMap<usize, u64>,
}

impl<'a> Weighing<'a> {
    pub(super) fn new(outline: &'a Outline) -> Self {
        Self { outline, known: HashMap::new(), copies: HashMap::new() }
    }

    /// The recursion is as deep as that of the validator. It gives up as soon as there is too much
    /// to remember.
    pub(super) fn steps(&mut self, id: NodeId, value: &Value) -> u64 {
        let key = (id, std::ptr::from_ref(value) as usize);
        if let Some(steps) = self.known.get(&key) {
            return *steps;
        }
        if COLLECT_MAX < self.known.len() as u64 {
            return COLLECT_MAX + 1;
        }
        self.known.insert(key, 0);
        let steps = self.same_location_steps(id, value).saturating_add(self.lower_steps(id, value));
        self.known.insert(key, steps);
        steps
    }

    fn same_location_steps(&mut self, id: NodeId, value: &Value) -> u64 {
        let node = &self.outline.nodes[id];
        let mut steps = 1 + node.compared as u64 / COMPARED_PER_STEP;
        for lower in &node.all {
            steps = steps.saturating_add(self.steps(*lower, value));
        }
        if !node.tried.is_empty() {
            steps = steps.saturating_add(self.copying(value).saturating_mul(node.tried.len() as u64));
        }
        for lower in &node.tried {
            steps = steps.saturating_add(self.steps(*lower, value));
        }
        steps
    }

    fn lower_steps(&mut self, id: NodeId, value: &Value) -> u64 {
        let node = &self.outline.nodes[id];
        let mut steps = 0_u64;
        match value {
            Value::Object(members) => {
                let pairs = members
                    .iter()
                    .flat_map(|(name, member)| members_of(node, name).map(move |id| (id, member)));
                for (lower, member) in pairs {
                    steps = steps.saturating_add(self.steps(lower, member));
                    if COLLECT_MAX < steps {
                        break;
                    }
                }
            }
            Value::Array(items) => {
                let pairs = items
                    .iter()
                    .enumerate()
                    .flat_map(|(index, item)| items_of(node, index).map(move |id| (id, item)));
                for (lower, item) in pairs {
                    steps = steps.saturating_add(self.steps(lower, item));
                    if COLLECT_MAX < steps {
                        break;
                    }
                }
            }
            _ => {}
        }
        steps
    }

    /// How many steps a copy of the value counts for. Only containers are remembered, and nothing is
    /// counted beyond what is too much already.
    fn copying(&mut self, value: &Value) -> u64 {
        let key = std::ptr::from_ref(value) as usize;
        if let Some(steps) = self.copies.get(&key) {
            return *steps;
        }
        let mut steps = 1_u64;
        match value {
            Value::String(text) => return steps + text.len() as u64 / BYTES_PER_STEP,
            Value::Array(items) => {
                for item in items {
                    steps = steps.saturating_add(self.copying(item));
                    if COLLECT_MAX < steps {
                        break;
                    }
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    steps = steps.saturating_add(name.len() as u64 / BYTES_PER_STEP + self.copying(member));
                    if COLLECT_MAX < steps {
                        break;
                    }
                }
            }
            _ => return steps,
        }
        self.copies.insert(key, steps);
        steps
    }
}

/// Every subschema that may be applied to the member of this name.
fn members_of(node: &Node, name: &str) -> impl Iterator<Item = NodeId> {
    let named = node.by_name.get(name).copied();
    let additional = match node.additional {
        Additional::Schema(id) if named.is_none() => Some(id),
        _ => None,
    };
    named.into_iter().chain(additional).chain(node.patterns.iter().chain(&node.other_members).copied())
}

fn items_of(node: &Node, index: usize) -> impl Iterator<Item = NodeId> {
    let own = node.prefix.get(index).copied().or(node.items);
    own.into_iter().chain(node.other_items.iter().copied())
}
