//! Inputs described as a list of parameters.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::{Violation, fault::FirstFaults, pointer, words::cut};

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "object", "array", "null"];

/// The schema of `parameters` or `paramSchema`.
///
/// The value is a JSON Schema, of which only the required names change, or maps each name to a
/// description. With a list of required names all others are optional. Without one, the parameters of
/// `paramSchema` are optional, since its dialect has such a list; those of `parameters` are required
/// unless they have a default or are called optional, as in the library it comes from.
pub(super) fn schema(
    key: &str,
    value: &Value,
    required: Option<(&str, &Value)>,
    faults: &mut FirstFaults,
) -> Option<Value> {
    let at = pointer::join("", key);
    let Some(members) = value.as_object() else {
        faults.say(at, Violation::typed(&["object"], value));
        return None;
    };
    let before = faults.count();
    let listed = required.and_then(|(key, value)| names(key, value, faults));
    let schema = if is_schema(members) {
        with_required(value.clone(), listed.as_deref().unwrap_or_default())
    } else {
        let unlisted =
            if listed.is_some() || key != "parameters" { Unlisted::Optional } else { Unlisted::Required };
        from_map(members, &at, listed.unwrap_or_default(), unlisted, faults)
    };
    let known = schema.get("properties").and_then(Value::as_object);
    if let Some((key, Value::Array(listed))) = required
        && let Some(known) = known
    {
        for (index, name) in listed.iter().enumerate() {
            if let Some(name) = name.as_str().filter(|name| !known.contains_key(*name)) {
                let at = format!("{}/{index}", pointer::join("", key));
                faults.say(at, Violation::not_described(cut(name)));
            }
        }
    }
    (faults.count() == before).then_some(schema)
}

/// Whether a parameter is required that does not say so itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unlisted {
    Required,
    Optional,
}

/// Whether an object is a JSON Schema rather than a map of parameters, one of which may well be
/// called `type` or `properties`.
fn is_schema(members: &Map<String, Value>) -> bool {
    let is_subschema = |value: &Value| value.is_object() || value.is_boolean();
    members.iter().any(|(key, value)| match (key.as_str(), value) {
        ("type" | "$ref" | "$schema", Value::String(_)) => true,
        ("type" | "allOf" | "anyOf" | "oneOf" | "required", Value::Array(_)) => true,
        ("additionalProperties", Value::Bool(_)) => true,
        ("properties", Value::Object(properties)) => properties.values().all(is_subschema),
        _ => false,
    })
}

fn names(key: &str, value: &Value, faults: &mut FirstFaults) -> Option<Vec<String>> {
    let names = value.as_array().map(|names| names.iter().map(|name| name.as_str().map(str::to_owned)));
    let names = names.and_then(|names| names.collect::<Option<Vec<_>>>());
    if names.is_none() && !value.is_null() {
        faults.say(pointer::join("", key), Violation::name_list());
    }
    names
}

fn with_required(mut schema: Value, listed: &[String]) -> Value {
    let mut required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut known: HashSet<String> =
        required.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    required.extend(listed.iter().filter(|name| known.insert((*name).clone())).map(|name| json!(name)));
    if !required.is_empty() {
        schema["required"] = Value::Array(required);
    }
    schema
}

fn from_map(
    members: &Map<String, Value>,
    at: &str,
    mut required: Vec<String>,
    unlisted: Unlisted,
    faults: &mut FirstFaults,
) -> Value {
    let mut properties = Map::new();
    for (name, value) in members {
        let at = pointer::join(at, name);
        let Some(parameter) = value.as_object() else {
            faults.say(at, Violation::typed(&["object"], value));
            continue;
        };
        check_type(parameter.get("type"), &at, faults);
        let mut property = parameter.clone();
        let mut said = |word: &str| match property.get(word) {
            Some(Value::Bool(flag)) => {
                let flag = *flag;
                property.shift_remove(word);
                Some(flag)
            }
            _ => None,
        };
        let by_word = said("required").or(said("optional").map(|optional| !optional));
        let by_default = unlisted == Unlisted::Required && !parameter.contains_key("default");
        if by_word.unwrap_or(by_default) {
            required.push(name.clone());
        }
        properties.insert(name.clone(), Value::Object(property));
    }
    let schema = json!({ "type": "object", "properties": properties });
    with_required(schema, &required)
}

fn check_type(given: Option<&Value>, at: &str, faults: &mut FirstFaults) {
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let fits = match given {
        None => true,
        Some(Value::Array(names)) => names.iter().all(is_type),
        Some(name) => is_type(name),
    };
    if !fits {
        faults.say(pointer::join(at, "type"), Violation::words(TYPES.iter().copied()));
    }
}
