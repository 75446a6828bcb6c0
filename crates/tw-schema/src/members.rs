//! Which members a value can have, as far as its schema says.

use serde_json::Value;

use crate::local::Document;

/// How many references are followed one after the other.
const REFERENCES_MAX: usize = 16;
/// Keywords that may say something about members in a way that is not looked into: then a value can have any.
const MAY_SAY_MORE: &[&str] = &[
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentSchemas",
    "const",
    "enum",
];

/// What a schema means that names members and says nothing about others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unnamed {
    /// A value may have them.
    Allowed,
    /// The named ones are all there are.
    Absent,
}

/// Looks for a member of a value, by names one below the other. Where a value of the schema cannot have it: which of the
/// names is the first that leads nowhere, and the members that there are instead.
///
/// `None` where a value can have it, and where the schema is too complex to tell.
///
/// # Example
///
/// ```
/// use serde_json::json;
/// use tw_schema::{Unnamed, known_instead};
///
/// let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
/// assert_eq!(known_instead(&schema, &["town"], Unnamed::Absent), Some((0, vec!["city".to_owned()])));
/// assert_eq!(known_instead(&schema, &["city"], Unnamed::Absent), None);
/// ```
#[must_use]
pub fn known_instead(schema: &Value, names: &[&str], unnamed: Unnamed) -> Option<(usize, Vec<String>)> {
    let document = Document::new(schema);
    let mut at = schema;
    for (depth, name) in names.iter().enumerate() {
        at = followed(&document, at)?;
        let members = at.as_object()?;
        if MAY_SAY_MORE.iter().any(|keyword| members.contains_key(*keyword)) {
            return None;
        }
        match kind(at) {
            Kind::Object => {}
            Kind::Other => return Some((depth, Vec::new())),
            Kind::Unknown => return None,
        }
        let properties = at.get("properties").and_then(Value::as_object).filter(|named| !named.is_empty());
        let rest = at.get("additionalProperties");
        let member = properties.and_then(|properties| properties.get(*name));
        at = match (member, rest) {
            (Some(member), _) => member,
            (None, Some(Value::Bool(false))) => return Some((depth, names_of(at))),
            (None, Some(rest)) => rest,
            (None, None) if properties.is_some() && unnamed == Unnamed::Absent => {
                return Some((depth, names_of(at)));
            }
            (None, None) => return None,
        };
    }
    None
}

fn names_of(schema: &Value) -> Vec<String> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// The schema itself, or what it refers to.
fn followed<'a>(document: &Document<'a>, mut schema: &'a Value) -> Option<&'a Value> {
    for _ in 0..REFERENCES_MAX {
        match schema.get("$ref") {
            None => return Some(schema),
            Some(reference) => schema = document.resolve(reference.as_str()?)?,
        }
    }
    None
}

/// What expressions look for members in.
enum Kind {
    Object,
    /// Texts, numbers and the like, which have none.
    Other,
    Unknown,
}

fn kind(schema: &Value) -> Kind {
    let is_object = |kind: &Value| kind == "object";
    let is_bare =
        |kind: &Value| matches!(kind.as_str(), Some("string" | "number" | "integer" | "boolean" | "null"));
    match schema.get("type") {
        Some(Value::Array(kinds)) if kinds.iter().any(is_object) => Kind::Object,
        Some(Value::Array(kinds)) if kinds.iter().all(is_bare) => Kind::Other,
        Some(one) if is_object(one) => Kind::Object,
        Some(one) if is_bare(one) => Kind::Other,
        None if schema.get("properties").is_some() => Kind::Object,
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, path: &str, closed: Option<&[&str]>, open: Option<&[&str]>) {
        let names: Vec<_> = path.split('.').collect();
        for (unnamed, expected) in [(Unnamed::Absent, closed), (Unnamed::Allowed, open)] {
            let known = known_instead(schema, &names, unnamed);
            let known: Option<Vec<_>> =
                known.as_ref().map(|(_, known)| known.iter().map(String::as_str).collect());
            assert_eq!(known.as_deref(), expected, "{path} in {schema}, {unnamed:?}");
        }
    }

    #[test]
    fn named_members_are_all_there_are_unless_more_are_allowed() {
        let text = json!({ "type": "string" });
        let plain = json!({ "type": "object", "properties": { "city": text, "to": { "type": "object", "properties": { "zip": text } } } });
        check(&plain, "city", None, None);
        check(&plain, "to.zip", None, None);
        check(&plain, "town", Some(&["city", "to"]), None);
        check(&plain, "to.code", Some(&["zip"]), None);
        check(&plain, "city.name", Some(&[]), Some(&[]));
        let closed =
            json!({ "type": "object", "properties": { "city": text }, "additionalProperties": false });
        check(&closed, "town", Some(&["city"]), Some(&["city"]));
        let typed =
            json!({ "type": "object", "properties": { "city": text }, "additionalProperties": plain });
        check(&typed, "any", None, None);
        check(&typed, "any.town", Some(&["city", "to"]), None);
        check(&json!({ "properties": { "city": text }, "additionalProperties": true }), "town.b", None, None);
    }

    #[test]
    fn schema_that_names_nothing_or_is_not_plain_lets_everything_be() {
        for schema in [
            json!({}),
            json!(true),
            json!({ "type": "object" }),
            json!({ "type": "object", "properties": {} }),
            json!({ "type": "object", "properties": { "a": {} }, "anyOf": [{ "properties": { "town": {} } }] }),
            json!({ "type": "object", "properties": { "a": {} }, "patternProperties": { "^t": {} } }),
            json!({ "$ref": "https://elsewhere.test/schema", "properties": { "a": {} } }),
        ] {
            check(&schema, "town", None, None);
            check(&schema, "town.name", None, None);
        }
        let list = json!({ "type": "object", "properties": { "list": { "type": "array" }, "maybe": { "type": ["object", "null"], "properties": { "a": {} } } } });
        check(&list, "list.first", None, None);
        check(&list, "maybe.b", Some(&["a"]), None);
    }

    #[test]
    fn references_within_the_schema_are_followed_and_circles_end() {
        let schema = json!({
            "type": "object", "properties": { "at": { "$ref": "#/$defs/place" }, "round": { "$ref": "#/$defs/round" } },
            "$defs": { "place": { "type": "object", "properties": { "zip": {}, "in": { "$ref": "#/$defs/place" } } }, "round": { "$ref": "#/$defs/round" } },
        });
        check(&schema, "at.in.in.zip", None, None);
        check(&schema, "at.in.town", Some(&["zip", "in"]), None);
        check(&schema, "round.town", None, None);
    }
}
