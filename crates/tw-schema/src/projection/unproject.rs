//! Arguments on their way back from a model.

use serde_json::Value;

use super::{
    ToolFormat, WHOLE,
    dialect::Dialect,
    plain::{Plain, Shape},
};
use crate::local::Document;

/// How many references are followed one within the other. A value is not deeper than that.
const OPEN_MAX: usize = 300;

/// Turns the arguments that a model gave in a format into an input of the tool with this schema.
///
/// What does not look as the projection asked for stays as it is; the tool's own schema is checked afterwards.
///
/// # Example
///
/// ```
/// use serde_json::json;
/// use tw_schema::{ToolFormat, unproject};
///
/// let schema = json!({ "type": "object", "properties": { "unit": { "type": "string" }, "labels": { "type": "object" } } });
/// let sent = json!({ "unit": null, "labels": "{\"a\": 1}" });
/// assert_eq!(unproject(sent, &schema, ToolFormat::OpenAiStrict), json!({ "labels": { "a": 1 } }));
/// ```
#[must_use]
pub fn unproject(arguments: Value, schema: &Value, format: ToolFormat) -> Value {
    let Some(dialect) = Dialect::of(format).filter(|dialect| dialect.whole) else { return arguments };
    let schema = crate::without_booleans(schema);
    let document = Document::new(&schema);
    let Some(Ok(root)) = schema.as_object().map(|written| Plain::of_root(&document, written)) else {
        return arguments;
    };
    let mut back = Back { dialect, document: &document, open: Vec::new() };
    match (root.shape(), arguments) {
        (Shape::Object, arguments) => back.restored(&root, arguments),
        (_, Value::Object(mut members)) if members.len() == 1 => match members.shift_remove(WHOLE) {
            Some(text) => decoded(text),
            None => Value::Object(members),
        },
        (_, arguments) => arguments,
    }
}

struct Back<'a> {
    dialect: &'static Dialect,
    document: &'a Document<'a>,
    /// The references that are being followed, where the projection wrote them out.
    open: Vec<String>,
}

impl Back<'_> {
    fn node(&mut self, written: &Value, value: Value) -> Value {
        match Plain::of(self.document, written, "") {
            Ok(plain) => self.restored(&plain, value),
            Err(_) => value,
        }
    }

    fn restored(&mut self, plain: &Plain, value: Value) -> Value {
        match (plain.shape(), value) {
            (Shape::Encoded, value) => decoded(value),
            (Shape::Refers(reference), value) => self.referred(reference, value),
            (Shape::Union(branches), value) => match self.fitting(branches, &value) {
                Some(branch) => self.node(&branch.clone(), value),
                None => value,
            },
            (Shape::Object, Value::Object(members)) => {
                let required = plain.required();
                let mut restored = serde_json::Map::new();
                for (name, value) in members {
                    let Some(property) = plain.property(&name) else {
                        restored.insert(name, value);
                        continue;
                    };
                    let is_optional = !required.contains(&name.as_str());
                    if value.is_null() && is_optional && !self.takes_null(property) {
                        continue;
                    }
                    restored.insert(name, self.node(property, value));
                }
                Value::Object(restored)
            }
            (Shape::Array(items), Value::Array(values)) => {
                Value::Array(values.into_iter().map(|value| self.node(items, value)).collect())
            }
            (_, value) => value,
        }
    }

    fn referred(&mut self, reference: &str, value: Value) -> Value {
        if self.dialect.inlines && self.open.iter().any(|open| open == reference) {
            return decoded(value);
        }
        let target = self.document.resolve(reference).filter(|_| self.open.len() < OPEN_MAX);
        let Some(target) = target else { return value };
        self.open.push(reference.to_owned());
        let restored = self.node(target, value);
        self.open.pop();
        restored
    }

    /// Whether a model that sends `null` can mean it. Of any value, the null is the text `null`.
    fn takes_null(&self, written: &Value) -> bool {
        let Ok(plain) = Plain::of(self.document, written, "") else { return false };
        match plain.shape() {
            _ if plain.nullable => true,
            Shape::Refers(reference) => {
                self.document.resolve(reference).is_some_and(|target| self.takes_null_once(target))
            }
            _ => false,
        }
    }

    /// Behind a reference no other is followed: a circle would have no end.
    fn takes_null_once(&self, written: &Value) -> bool {
        Plain::of(self.document, written, "").is_ok_and(|plain| plain.nullable)
    }

    /// The alternative that a value was made for: the first with its type and its members.
    fn fitting<'b>(&self, branches: &'b [Value], value: &Value) -> Option<&'b Value> {
        let fits = |branch: &&Value| {
            let target = match branch.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.document.resolve(reference),
                None => Some(*branch),
            };
            let Some(Ok(plain)) = target.map(|target| Plain::of(self.document, target, "")) else {
                return false;
            };
            match (plain.shape(), value) {
                (Shape::Object, Value::Object(members)) => {
                    members.keys().all(|name| plain.property(name).is_some())
                        && plain.required().iter().all(|name| members.contains_key(*name))
                        && members.iter().all(|(name, value)| is_listed(plain.property(name), value))
                }
                (Shape::Array(_), Value::Array(_)) => true,
                _ => false,
            }
        };
        branches.iter().find(fits)
    }
}

/// Whether a value is one of those that a schema enumerates, where it does.
fn is_listed(schema: Option<&Value>, value: &Value) -> bool {
    let Some(schema) = schema else { return true };
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => only == value,
        (None, Some(Value::Array(values))) => values.contains(value) || value.is_null(),
        _ => true,
    }
}

/// A value that travelled as a text of JSON. A text that is no JSON was meant as a text.
fn decoded(value: Value) -> Value {
    match value {
        Value::String(text) => crate::parse(text.as_bytes()).unwrap_or(Value::String(text)),
        value => value,
    }
}
