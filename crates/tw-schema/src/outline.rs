//! A schema as a graph: which subschema applies where, with every reference followed.
//!
//! The validator answers only yes or no. Filling in defaults, coercing an agent's input and estimating
//! the cost of a schema all need a walk through it. This graph is made once, so that those walks follow
//! plain indices. The validator's own registry resolves the references, so the two never disagree.

mod build;
mod types;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

pub(crate) use types::{Types, type_name};

/// Texts by their lower-case form.
pub(crate) type Cases = HashMap<String, Vec<String>>;

/// The index of a subschema in [`Outline::nodes`].
pub(crate) type NodeId = usize;

/// The root is the first node.
pub(crate) const ROOT: NodeId = 0;

#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) nodes: Vec<Node>,
}

/// One subschema.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Which JSON types may pass, by `type`, `enum` and `const` together.
    pub(crate) types: Types,
    pub(crate) default: Option<Value>,
    /// The texts among the entries of `enum` and `const`, by their lower-case form. `None` when the
    /// subschema has neither keyword.
    pub(crate) cases: Option<Cases>,
    /// How many entries the validator compares one by one.
    pub(crate) compared: usize,
    /// Whether all items of an array have to differ.
    pub(crate) differing: bool,
    /// How heavy the regular expressions are that stand here.
    pub(crate) patterns_weight: u64,
    pub(crate) required: Vec<String>,
    /// Other names by which callers know this property (`x-aliases`).
    pub(crate) aliases: Vec<String>,
    pub(crate) properties: Vec<(String, NodeId)>,
    pub(crate) by_name: HashMap<String, NodeId>,
    pub(crate) additional: Additional,
    pub(crate) patterns: Vec<NodeId>,
    pub(crate) items: Option<NodeId>,
    pub(crate) prefix: Vec<NodeId>,
    /// Subschemas that hold for the same value, always: `$ref` and `allOf`.
    pub(crate) all: Vec<NodeId>,
    /// The one branch of `anyOf` or `oneOf` that is left when the others only stand for null.
    pub(crate) unless_null: Vec<NodeId>,
    /// Subschemas that are tried on the same value: `anyOf`, `oneOf`, `not`, `if` and the like.
    pub(crate) tried: Vec<NodeId>,
    /// Further subschemas for the members of an object, and for the items of an array.
    pub(crate) other_members: Vec<NodeId>,
    pub(crate) other_items: Vec<NodeId>,
    /// Whether `unevaluatedProperties` or `unevaluatedItems` makes the validator look twice.
    pub(crate) unevaluated: bool,
    /// Whether a default stands here or anywhere below.
    pub(crate) defaults: bool,
}

/// The value of `additionalProperties`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Additional {
    #[default]
    Unsaid,
    Closed,
    Open,
    Schema(NodeId),
}

impl Outline {
    /// Every subschema that surely holds where these do: themselves and what they reach by `$ref` and
    /// `allOf`, each once, in the order of the schema.
    pub(crate) fn layers(&self, subschemas: &[NodeId]) -> Vec<NodeId> {
        self.closure(subschemas, |_| &[])
    }

    /// As [`Self::layers`], for a value that is not null.
    pub(crate) fn layers_unless_null(&self, subschemas: &[NodeId]) -> Vec<NodeId> {
        self.closure(subschemas, |node| &node.unless_null)
    }

    fn closure(&self, subschemas: &[NodeId], more: impl Fn(&Node) -> &[NodeId]) -> Vec<NodeId> {
        let mut layers: Vec<NodeId> = Vec::with_capacity(subschemas.len());
        // Looking through a few layers is quicker than hashing; through many it is not.
        let mut many: HashSet<NodeId> = HashSet::new();
        let mut open: Vec<NodeId> = subschemas.iter().rev().copied().collect();
        while let Some(id) = open.pop() {
            let few = layers.len() < 32;
            if !few && many.is_empty() {
                many.extend(&layers);
            }
            if if few { layers.contains(&id) } else { !many.insert(id) } {
                continue;
            }
            layers.push(id);
            let node = &self.nodes[id];
            open.extend(more(node).iter().rev());
            open.extend(node.all.iter().rev());
        }
        layers
    }

    /// The subschemas for the member of this name.
    pub(crate) fn member(&self, layers: &[NodeId], name: &str) -> Vec<NodeId> {
        let mut subschemas: Vec<NodeId> =
            layers.iter().filter_map(|id| self.nodes[*id].by_name.get(name).copied()).collect();
        if subschemas.is_empty() && layers.iter().all(|id| self.nodes[*id].patterns.is_empty()) {
            subschemas.extend(layers.iter().filter_map(|id| match self.nodes[*id].additional {
                Additional::Schema(schema) => Some(schema),
                _ => None,
            }));
        }
        subschemas
    }

    /// The subschemas for the item at this index.
    pub(crate) fn item(&self, layers: &[NodeId], index: usize) -> Vec<NodeId> {
        let of = |node: &Node| node.prefix.get(index).copied().or(node.items);
        layers.iter().filter_map(|id| of(&self.nodes[*id])).collect()
    }

    /// Notes at every node whether a default can be reached from it.
    fn mark_defaults(&mut self) {
        let mut above: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        let mut open = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            let additional = match node.additional {
                Additional::Schema(schema) => Some(schema),
                _ => None,
            };
            let properties = node.properties.iter().map(|(_, property)| property);
            let below = properties.chain(&node.all).chain(&node.prefix).chain(&node.items).chain(&additional);
            below.for_each(|lower| above[*lower].push(id));
            if node.default.is_some() {
                open.push(id);
            }
        }
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut self.nodes[id].defaults, true) {
                open.extend(&above[id]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outline(document: &Value) -> Outline {
        Outline::build(document).unwrap()
    }

    #[test]
    fn references_are_followed_in_every_spelling() {
        for reference in ["#/$defs/n", "#n", "https://example.com/s#/$defs/n", "s#n", "/s#n"] {
            let document = json!({
                "$id": "https://example.com/s",
                "properties": { "a": { "$ref": reference } },
                "$defs": { "n": { "$anchor": "n", "type": "integer" } },
            });
            let outline = outline(&document);
            let subschemas = outline.member(&[ROOT], "a");
            let types: Vec<_> =
                outline.layers(&subschemas).iter().map(|id| outline.nodes[*id].types).collect();
            assert_eq!(types, [Types::ANY, Types::INTEGER], "{reference}");
        }
    }

    #[test]
    fn reference_between_embedded_schemas_finds_its_target() {
        let document = json!({
            "$id": "https://example.com/root",
            "$ref": "part",
            "$defs": { "p": { "$id": "part", "$ref": "#/$defs/q", "$defs": { "q": { "type": "string" } } } },
        });
        let outline = outline(&document);
        let layers = outline.layers(&[ROOT]);
        assert_eq!(outline.nodes[*layers.last().unwrap()].types, Types::STRING);
    }

    #[test]
    fn defaults_are_seen_through_references_and_not_through_choices() {
        let seen = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "items": { "properties": { "x": { "default": 1 } } } } } });
        assert!(outline(&seen).nodes[ROOT].defaults);
        let unseen = json!({ "anyOf": [{ "properties": { "x": { "default": 1 } } }] });
        assert!(!outline(&unseen).nodes[ROOT].defaults);
    }
}
