//! Filling in the defaults of absent properties.

use serde_json::Value;

use crate::{
    Schema,
    outline::{NodeId, Outline, ROOT},
};

/// How many properties one call may be given by defaults that stand inside defaults.
const NESTED_MAX: usize = 10_000;
/// How many bytes of defaults one call may be given. A long default for each of many items would
/// otherwise fill the memory.
const BYTES_MAX: usize = 8 << 20;

impl Schema {
    /// Fills in the `default` of every absent property, and returns whether the value changed.
    ///
    /// It goes through `properties`, `additionalProperties`, `items`, `prefixItems`, `$ref` and
    /// `allOf`, and into the defaults that it fills in. It does not go through `anyOf`, `oneOf` or `if`:
    /// the missing property may decide which branch holds. A present property keeps its value, also
    /// null. The default of the root itself is not used.
    pub fn with_defaults(&self, value: &mut Value) -> bool {
        let outline = self.outline();
        if !outline.nodes[ROOT].defaults || !self.allows_walk(value) {
            return false;
        }
        let mut filling = Filling { outline, given: Vec::new(), nested: 0, bytes: 0, changed: false };
        filling.fill(&[ROOT], value);
        filling.changed
    }
}

struct Filling<'a> {
    outline: &'a Outline,
    /// The subschemas whose default is being filled in turn. One that comes up again inside its own
    /// default would never end.
    given: Vec<NodeId>,
    nested: usize,
    bytes: usize,
    changed: bool,
}

impl Filling<'_> {
    fn fill(&mut self, subschemas: &[NodeId], value: &mut Value) {
        if !subschemas.iter().any(|id| self.outline.nodes[*id].defaults) {
            return;
        }
        let layers = self.outline.layers(subschemas);
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    self.fill(&self.outline.member(&layers, name), member);
                }
                self.give(&layers, members);
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.fill(&self.outline.item(&layers, index), item);
                }
            }
            _ => {}
        }
    }

    /// Puts in the properties that an object lacks.
    fn give(&mut self, layers: &[NodeId], members: &mut serde_json::Map<String, Value>) {
        let outline = self.outline;
        for (name, property) in layers.iter().flat_map(|id| &outline.nodes[*id].properties) {
            if !outline.nodes[*property].defaults || members.contains_key(name) {
                continue;
            }
            let subschemas = outline.member(layers, name);
            let mut holders = outline.layers(&subschemas).into_iter();
            let Some((id, default)) =
                holders.find_map(|id| outline.nodes[id].default.as_ref().map(|default| (id, default)))
            else {
                continue;
            };
            if !self.may_give(id, default) {
                continue;
            }
            let mut value = default.clone();
            self.given.push(id);
            self.fill(&subschemas, &mut value);
            self.given.pop();
            members.insert(name.clone(), value);
            self.changed = true;
        }
    }

    fn may_give(&mut self, id: NodeId, default: &Value) -> bool {
        if self.given.contains(&id) {
            return false;
        }
        self.nested += usize::from(!self.given.is_empty());
        self.bytes += bytes(default);
        self.nested <= NESTED_MAX && self.bytes <= BYTES_MAX
    }
}

/// Roughly how many bytes a value takes.
fn bytes(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(bytes).sum(),
            Value::Object(members) => members.iter().map(|(name, member)| name.len() + bytes(member)).sum(),
            _ => 0,
        }
}

#[cfg(test)]
mod tests;
