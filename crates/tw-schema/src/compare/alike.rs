//! Questions about subschemas as a whole: equal, mentioning a name, accepting a default.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    layers::Root,
    walk::{LINE, Walk},
};
use crate::{NODES_MAX, Schema, canonical, limits::weight};

/// How much may be compiled to test defaults, and what the least of it counts.
const PROBED_MAX: usize = 4 * NODES_MAX;
const PROBE_LEAST: usize = 100;

/// Which of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Version {
    From,
    To,
}

/// Whether a document keeps to what the comparison follows: references into itself, by one base.
pub(super) fn is_plain(document: &Value) -> bool {
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                let text = |keyword: &str| map.get(keyword).and_then(Value::as_str);
                let based = text("$id").is_some() && !std::ptr::eq(value, document);
                let leads_out = text("$ref").is_some_and(|reference| !reference.starts_with('#'));
                if based || leads_out || text("$dynamicRef").is_some() {
                    return false;
                }
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    true
}

impl<'a> Walk<'a> {
    /// Whether two subschemas are the same text, also behind their references.
    pub(super) fn same(&mut self, from: &'a Value, to: &'a Value) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![(from, to)];
        while let Some((from, to)) = open.pop() {
            if !self.spend(1) {
                return false;
            }
            let same = match (from, to) {
                (Value::Array(froms), Value::Array(tos)) => {
                    open.extend(froms.iter().zip(tos));
                    froms.len() == tos.len()
                }
                (Value::Object(froms), Value::Object(tos)) => {
                    let addresses = (std::ptr::from_ref(from) as usize, std::ptr::from_ref(to) as usize);
                    !seen.insert(addresses) || self.same_members(froms, tos, &mut open)
                }
                (Value::String(from), Value::String(to)) => self.spend(from.len() / LINE) && from == to,
                // Two numbers may be written in two ways; what is of two types is never the same.
                (Value::Number(_), Value::Number(_)) => canonical(from) == canonical(to),
                _ => from == to,
            };
            if !same {
                return false;
            }
        }
        true
    }

    /// Whether two objects may be the same, if all pairs that it adds to `open` are.
    fn same_members(
        &self,
        froms: &'a Map<String, Value>,
        tos: &'a Map<String, Value>,
        open: &mut Vec<(&'a Value, &'a Value)>,
    ) -> bool {
        for (name, from) in froms {
            let Some(to) = tos.get(name) else { return false };
            open.push((from, to));
        }
        let target = |root: &'a Root<'a>, map: &'a Map<String, Value>| {
            map.get("$ref").and_then(Value::as_str).map(|reference| root.document.resolve(reference))
        };
        let same_target = match (target(self.from, froms), target(self.to, tos)) {
            (None, None) => true,
            (Some(Some(from)), Some(Some(to))) => {
                open.push((from, to));
                true
            }
            _ => false,
        };
        same_target && froms.len() == tos.len()
    }

    /// Whether a property of this name plays a part in a subschema, or anywhere behind it.
    pub(super) fn mentions(&mut self, version: Version, value: &'a Value, name: &str) -> bool {
        let root = self.root(version);
        let mut seen = HashSet::new();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if !seen.insert(std::ptr::from_ref(value) as usize) {
                continue;
            }
            if !self.spend(1) {
                return true;
            }
            match value {
                Value::Object(map) => {
                    if map.contains_key(name) {
                        return true;
                    }
                    open.extend(map.values());
                    let reference = map.get("$ref").and_then(Value::as_str);
                    open.extend(reference.and_then(|reference| root.document.resolve(reference)));
                }
                Value::Array(items) => open.extend(items),
                Value::String(text) if text == name => return true,
                _ => {}
            }
        }
        false
    }

    /// Whether an old subschema has a rule for unnamed members, `levels` below its own instance location.
    pub(super) fn rules_unnamed(&mut self, value: &'a Value, levels: usize) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![(value, levels)];
        while let Some((value, levels)) = open.pop() {
            if !seen.insert((std::ptr::from_ref(value) as usize, levels)) {
                continue;
            }
            if !self.spend(1) {
                return true;
            }
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, levels))),
                Value::Object(map) => {
                    let rule = map.get("additionalProperties").and_then(Value::as_object);
                    let ruled =
                        rule.is_some_and(|rule| !rule.is_empty()) || map.contains_key("patternProperties");
                    if levels == 0 && ruled {
                        return true;
                    }
                    let reference = map.get("$ref").and_then(Value::as_str);
                    let target = reference.and_then(|reference| self.from.document.resolve(reference));
                    open.extend(target.map(|target| (target, levels)));
                    open.extend(map.iter().flat_map(|(keyword, value)| below(keyword, value, levels)));
                }
                _ => {}
            }
        }
        false
    }

    /// Whether a default of the new version passes its own schema, filled in as a call would.
    pub(super) fn fits(&mut self, subschemas: &[&'a Value], default: &Value) -> bool {
        if PROBED_MAX < self.probed {
            return false;
        }
        let refers = |value: &&Value| self.to.text(value).contains("\"$ref\"");
        let document = if subschemas.iter().any(refers) {
            match self.probe(subschemas) {
                Some(document) => document,
                None => return false,
            }
        } else {
            serde_json::json!({ "allOf": subschemas })
        };
        self.probed += PROBE_LEAST + weight(&document) + weight(default);
        let Ok(schema) = Schema::compile(&document) else { return false };
        let mut value = default.clone();
        schema.with_defaults(&mut value);
        schema.is_valid(&value)
    }

    /// A document that applies subschemas of the new version where their references still lead
    /// where they did.
    fn probe(&self, subschemas: &[&'a Value]) -> Option<Value> {
        const BASE: &str = "https://toolwright.invalid/whole";
        let mut whole = self.to.document.root().as_object()?.clone();
        whole.insert("$id".to_owned(), Value::from(BASE));
        // Inside another document it would count, and as a root it does not.
        whole.shift_remove("$schema");
        let mut references = Vec::new();
        for value in subschemas {
            let pointer = pointer_to(self.to.document.root(), value)?;
            references.push(serde_json::json!({ "$ref": format!("{BASE}#{pointer}") }));
        }
        Some(serde_json::json!({ "allOf": references, "$defs": { "whole": whole } }))
    }
}

/// The subschemas under a keyword that may apply `levels` down, each with the levels that are left.
fn below<'a>(keyword: &str, value: &'a Value, levels: usize) -> Vec<(&'a Value, usize)> {
    match (keyword, levels.checked_sub(1)) {
        ("enum" | "const" | "default" | "examples" | "$defs" | "definitions", _) => Vec::new(),
        ("properties" | "patternProperties", Some(levels)) => {
            value.as_object().into_iter().flat_map(|map| map.values()).map(|value| (value, levels)).collect()
        }
        (
            "items"
            | "prefixItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            Some(levels),
        ) => vec![(value, levels)],
        (
            "properties"
            | "patternProperties"
            | "items"
            | "prefixItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            None,
        ) => Vec::new(),
        _ => vec![(value, levels)],
    }
}

/// The JSON pointer to a part of a document, escaped for use in a URI.
fn pointer_to(document: &Value, part: &Value) -> Option<String> {
    let mut open = vec![(document, String::new())];
    while let Some((value, at)) = open.pop() {
        if std::ptr::eq(value, part) {
            return Some(at);
        }
        match value {
            Value::Object(map) => {
                open.extend(map.iter().map(|(name, value)| (value, format!("{at}/{}", escaped(name)))));
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, item)| (item, format!("{at}/{index}"))));
            }
            _ => {}
        }
    }
    None
}

fn escaped(name: &str) -> String {
    let mut out = String::new();
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~$".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
