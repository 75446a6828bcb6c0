//! A tool as a server of others describes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tw_model::{Level, NAME_MAX};
use tw_schema::{Digest, canonical};

/// How many differences are told one by one. More are told by the members that they are in.
const DIFFERENCES_MAX: usize = 100;
/// As many bytes of one text of a difference are kept.
const SIDE_BYTES_MAX: usize = 16 * 1024;
const DEFINITION_BYTES_MAX: usize = 256 * 1024;
/// As for every tool.
const DESCRIPTION_BYTES_MAX: usize = 20_000;

/// What a server says about one of its tools, as far as callers and models see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteDefinition {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints of the server about itself. Nothing here believes them where they make a tool look safer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

/// One place where two definitions differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteDifference {
    pub path: String,
    pub before: Value,
    pub after: Value,
}

impl RemoteDefinition {
    /// The definition as text, equal for equal definitions, and its name.
    #[must_use]
    pub fn pinned(&self) -> (String, String) {
        let text = canonical(&self.value());
        let hash = Digest::of(text.as_bytes()).to_string();
        (text, hash)
    }

    fn value(&self) -> Value {
        serde_json::to_value(self).expect("a remote tool is plain JSON")
    }

    /// Whether it is the same tool but for its name.
    #[must_use]
    pub fn is_renamed(&self, other: &Self) -> bool {
        self.name != other.name
            && self.description == other.description
            && canonical(&self.input_schema) == canonical(&other.input_schema)
            && self.output_schema.as_ref().map(canonical) == other.output_schema.as_ref().map(canonical)
    }

    fn hint(&self, name: &str) -> bool {
        self.annotations.as_ref().is_some_and(|hints| hints[name] == Value::Bool(true))
    }

    /// The level that an imported tool gets. A server that calls its tool harmless is not believed; one that calls it
    /// destructive is.
    #[must_use]
    pub fn level(&self) -> Level {
        match self.hint("destructiveHint") && !self.hint("readOnlyHint") {
            true => Level::Destructive,
            false => Level::Write,
        }
    }

    /// The level that the server's hints speak for, which a person may choose.
    #[must_use]
    pub fn proposed_level(&self) -> Level {
        if self.hint("readOnlyHint") { Level::Read } else { self.level() }
    }

    /// What a person reads above it.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        let hinted = self.annotations.as_ref().and_then(|hints| hints["title"].as_str());
        let names = [self.title.as_deref(), hinted];
        let said = names.into_iter().flatten().map(str::trim).find(|name| !name.is_empty());
        said.unwrap_or(&self.name)
    }

    /// What it is called here.
    pub(crate) fn tool_name(&self) -> String {
        cut(self.shown_name(), NAME_MAX)
    }

    /// What it is described as here. A tool must have a description, and a server need not give one.
    pub(crate) fn tool_description(&self) -> String {
        let said = self.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
        said.map_or_else(|| self.tool_name(), str::to_owned)
    }

    /// Why no tool can be made of it, as far as its own definition says.
    pub(crate) fn refusal(&self) -> Option<String> {
        let (size, description) = (self.pinned().0.len(), self.tool_description().len());
        if DEFINITION_BYTES_MAX < size {
            return Some(format!(
                "its definition has {size} bytes; at most {DEFINITION_BYTES_MAX} are taken"
            ));
        }
        if DESCRIPTION_BYTES_MAX < description {
            return Some(format!(
                "its description has {description} bytes; at most {DESCRIPTION_BYTES_MAX} are taken"
            ));
        }
        let is_object = self.input_schema.get("type").is_some_and(|kind| kind == "object");
        (!is_object).then(|| "its input schema must have the type `object`".to_owned())
    }

    /// Every text of it that a model or a person may read, with its place.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        collect(&self.value(), String::new(), &mut found);
        found
    }
}

fn collect(value: &Value, path: String, found: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            found.insert(path, text.clone());
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{path}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                // A name is read as well as what it names.
                found.insert(format!("{path}/{}", step(name)), name.clone());
                collect(member, format!("{path}/{}", step(name)), found);
            }
        }
        _ => {}
    }
}

fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What lies between two definitions, `None` for one that is not there.
#[must_use]
pub fn differences(before: &RemoteDefinition, after: Option<&RemoteDefinition>) -> Vec<RemoteDifference> {
    let (old, new) = (before.value(), after.map(RemoteDefinition::value));
    let Some(new) = new else { return vec![difference(String::new(), Some(&old), None)] };
    let mut found = Vec::new();
    walk(&old, &new, String::new(), &mut found);
    if found.len() <= DIFFERENCES_MAX {
        return found;
    }
    let empty = Map::new();
    let (old, new) = (old.as_object().unwrap_or(&empty), new.as_object().unwrap_or(&empty));
    members(old, new)
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| difference(format!("/{}", step(name)), old.get(name), new.get(name)))
        .collect()
}

fn walk(old: &Value, new: &Value, path: String, found: &mut Vec<RemoteDifference>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for name in members(old, new) {
                let path = format!("{path}/{}", step(name));
                match (old.get(name), new.get(name)) {
                    (Some(old), Some(new)) => walk(old, new, path, found),
                    (old, new) => found.push(difference(path, old, new)),
                }
            }
        }
        (old, new) if canonical(old) != canonical(new) => found.push(difference(path, Some(old), Some(new))),
        _ => {}
    }
}

fn members<'a>(old: &'a Map<String, Value>, new: &'a Map<String, Value>) -> impl Iterator<Item = &'a String> {
    old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)))
}

fn difference(path: String, before: Option<&Value>, after: Option<&Value>) -> RemoteDifference {
    let side = |side: Option<&Value>| side.map_or(Value::Null, shortened);
    RemoteDifference { path, before: side(before), after: side(after) }
}

fn shortened(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= SIDE_BYTES_MAX {
        return value.clone();
    }
    json!(format!("{}… ({} bytes in all)", cut(&text, SIDE_BYTES_MAX), text.len()))
}

/// The beginning of a text, of at most so many bytes.
pub(crate) fn cut(text: &str, max: usize) -> String {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
