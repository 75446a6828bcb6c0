//! What is allowed in an input schema and yet serves its author badly.

use serde_json::Value;

use crate::{Fault, Violation, subschemas};

/// How many of them are told.
const TOLD_MAX: usize = 20;

/// Where models and forms are left in the dark about an input: nothing that is wrong, but something to tell an author.
///
/// # Example
///
/// ```
/// use serde_json::json;
///
/// let warnings = tw_schema::input_warnings(&json!({ "type": "object" }));
/// assert_eq!(warnings[0].code.as_str(), "no_properties");
/// ```
#[must_use]
pub fn input_warnings(schema: &Value) -> Vec<Fault> {
    let mut warnings = Vec::new();
    if says_nothing(schema) {
        warnings.push(Violation::no_properties().at(""));
    }
    subschemas::each(schema, "", &mut |subschema, path| {
        // Nothing more is to be said about a whole that has been told about.
        let is_told = path.is_empty() && !warnings.is_empty();
        if warnings.len() < TOLD_MAX && !is_told && is_open_map(subschema) {
            warnings.push(Violation::open_map().at(path));
        }
    });
    warnings
}

/// Whether the whole names no members, and does not say that it has none either.
fn says_nothing(schema: &Value) -> bool {
    schema.get("properties").is_none() && !takes_nothing_more(schema)
}

fn takes_nothing_more(schema: &Value) -> bool {
    let shuts = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(false));
    shuts("additionalProperties") || shuts("unevaluatedProperties") || schema["maxProperties"] == 0
}

/// Whether members of any name may hold anything: said outright, or because an object is all that is said.
fn is_open_map(schema: &Value) -> bool {
    const DESCRIBE: &[&str] = &[
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "const",
        "enum",
    ];
    match schema.get("additionalProperties") {
        Some(Value::Bool(true)) => true,
        Some(Value::Object(rest)) => rest.is_empty(),
        Some(_) => false,
        None => {
            schema.get("type").is_some_and(|kind| kind == "object")
                && !takes_nothing_more(schema)
                && DESCRIBE.iter().all(|keyword| schema.get(*keyword).is_none())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, told: &[(&str, &str)]) {
        let warnings = input_warnings(&schema);
        let found: Vec<_> = warnings.iter().map(|fault| (fault.path.as_str(), fault.code.as_str())).collect();
        assert_eq!(found, told, "{schema}");
    }

    #[test]
    fn schema_that_names_no_members_is_told_about() {
        check(json!({ "type": "object" }), &[("", "no_properties")]);
        check(json!({ "type": "object", "oneOf": [{ "required": ["a"] }] }), &[("", "no_properties")]);
        check(json!({ "type": "object", "additionalProperties": true }), &[("", "no_properties")]);
        check(json!({ "type": "object", "properties": {} }), &[]);
        check(json!({ "type": "object", "additionalProperties": false }), &[]);
        check(json!({ "type": "object", "maxProperties": 0 }), &[]);
    }

    #[test]
    fn open_map_is_told_about_wherever_it_stands() {
        let text = json!({ "type": "string" });
        check(
            json!({
                "type": "object",
                "properties": {
                    "any": { "type": "object", "additionalProperties": {} },
                    "bare": { "type": "object" },
                    "a/b": { "type": "array", "items": { "type": "object", "additionalProperties": true } },
                    "typed": { "type": "object", "additionalProperties": text },
                    "named": { "type": "object", "properties": { "x": text } },
                    "empty": { "type": "object", "maxProperties": 0 },
                    "other": { "$ref": "#/$defs/o" },
                    "data": { "const": { "type": "object" }, "default": { "additionalProperties": true } },
                },
                "$defs": { "o": { "type": "object", "additionalProperties": true } },
            }),
            &[
                ("/properties/any", "open_map"),
                ("/properties/bare", "open_map"),
                ("/properties/a~1b/items", "open_map"),
                ("/$defs/o", "open_map"),
            ],
        );
        check(
            json!({ "type": "object", "properties": { "a": text }, "additionalProperties": true }),
            &[("", "open_map")],
        );
    }

    #[test]
    fn number_of_warnings_has_a_bound() {
        let many: serde_json::Map<_, _> =
            (0..100).map(|n| (format!("p{n}"), json!({ "type": "object" }))).collect();
        assert_eq!(input_warnings(&json!({ "type": "object", "properties": many })).len(), TOLD_MAX);
    }
}
