//! The subschemas of a schema: where they stand, and the rules that each must keep beyond the meta-schema.
//!
//! The meta-schema accepts documents that this crate would misread and that other engines refuse.
//! Clients list the tools and compile their schemas with engines of their own. If a client refuses one
//! schema, it refuses the whole list.

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::{SchemaFault, Violation, pattern, pointer};

/// Where a schema has the translations of its texts.
pub(crate) const TRANSLATIONS: &str = "x-i18n";

/// How a keyword holds other schemas.
enum Holds {
    /// It is one.
    One,
    List,
    ByName,
}

fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "not"
        | "if"
        | "then"
        | "else"
        | "items"
        | "contains"
        | "additionalProperties"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Holds::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "$defs" | "definitions" | "properties" | "patternProperties" | "dependentSchemas"
        | "dependencies" => Holds::ByName,
        _ => return None,
    })
}

/// Checks a document that is valid by the meta-schema and within the limits, subschema by subschema.
pub(crate) fn check(document: &Value) -> Result<(), SchemaFault> {
    check_below(document, "")
}

fn check_below(value: &Value, path: &str) -> Result<(), SchemaFault> {
    let Value::Object(schema) = value else { return Ok(()) };
    if !path.is_empty() {
        check_dialect(schema).map_err(|fault| fault.at(path))?;
    }
    check_own(schema).map_err(|fault| fault.at(path))?;
    for (keyword, said) in schema {
        let below = || pointer::join(path, keyword);
        match (holds(keyword), said) {
            (Some(Holds::One), said) => check_below(said, &below())?,
            (Some(Holds::List), Value::Array(list)) => {
                let below = below();
                for (index, subschema) in list.iter().enumerate() {
                    check_below(subschema, &pointer::join(&below, &index.to_string()))?;
                }
            }
            (Some(Holds::ByName), Value::Object(named)) => {
                let below = below();
                for (name, subschema) in named {
                    check_below(subschema, &pointer::join(&below, name))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Visits a schema and its subschemas, each with its JSON pointer.
pub(crate) fn each(schema: &Value, path: &str, visit: &mut impl FnMut(&Value, &str)) {
    visit(schema, path);
    for (keyword, said) in schema.as_object().into_iter().flatten() {
        let below = || pointer::join(path, keyword);
        match (holds(keyword), said) {
            (Some(Holds::One), said) => each(said, &below(), visit),
            (Some(Holds::List), Value::Array(list)) => {
                let below = below();
                for (index, subschema) in list.iter().enumerate() {
                    each(subschema, &pointer::join(&below, &index.to_string()), visit);
                }
            }
            (Some(Holds::ByName), Value::Object(named)) => {
                let below = below();
                for (name, subschema) in named {
                    each(subschema, &pointer::join(&below, name), visit);
                }
            }
            _ => {}
        }
    }
}

/// One thing wrong with a subschema, at one of its keywords.
pub(crate) struct SubschemaFault {
    /// Below the subschema.
    pointer: String,
    /// Nothing stands for a pattern, which has words of its own.
    violation: Option<Violation>,
}

impl SubschemaFault {
    fn new(keyword: &str, violation: Violation) -> Self {
        Self { pointer: pointer::join("", keyword), violation: Some(violation) }
    }

    fn at(self, path: &str) -> SchemaFault {
        let path = format!("{path}{}", self.pointer);
        match self.violation {
            Some(violation) => SchemaFault::Invalid { path, violation },
            None => SchemaFault::Pattern { path },
        }
    }

    /// For a subschema that only a reference leads to.
    pub(crate) fn somewhere(self) -> SchemaFault {
        let path = String::new();
        match self.violation {
            Some(violation) => {
                let violation = Violation::schema_referred(&self.pointer[1..], violation.to_string());
                SchemaFault::Invalid { path, violation }
            }
            None => SchemaFault::Pattern { path },
        }
    }
}

/// Inside a document another dialect would be followed, and there other keywords mean other things.
pub(crate) fn check_dialect(schema: &Map<String, Value>) -> Result<(), SubschemaFault> {
    match schema.get("$schema").and_then(Value::as_str) {
        Some(dialect) if Draft::from_schema_uri(dialect) != Draft::Draft202012 => {
            Err(SubschemaFault::new("$schema", Violation::schema_dialect()))
        }
        _ => Ok(()),
    }
}

/// Checks the keywords of one schema that hold no other schemas.
pub(crate) fn check_own(schema: &Map<String, Value>) -> Result<(), SubschemaFault> {
    if schema.get("items").is_some_and(Value::is_array) {
        return Err(SubschemaFault::new("items", Violation::schema_items()));
    }
    if schema.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Err(SubschemaFault::new("enum", Violation::schema_enum()));
    }
    let readable = |text: &str, pointer: String| {
        if pattern::is_readable(text) { Ok(()) } else { Err(SubschemaFault { pointer, violation: None }) }
    };
    if let Some(text) = schema.get("pattern").and_then(Value::as_str) {
        readable(text, "/pattern".to_owned())?;
    }
    let mut named = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    named.try_for_each(|(text, _)| readable(text, pointer::join("/patternProperties", text)))
}

/// The same schema, moved into a larger document: its references to itself lead to the new location.
///
/// `pointer` is the JSON pointer to the new location. A schema with an `$id` keeps its references, which are relative
/// to itself wherever it stands.
///
/// # Example
///
/// ```
/// use serde_json::json;
///
/// let tree = json!({ "properties": { "children": { "items": { "$ref": "#" } } } });
/// let moved = tw_schema::moved(&tree, "/anyOf/0");
/// assert_eq!(moved["properties"]["children"]["items"]["$ref"], "#/anyOf/0");
/// ```
#[must_use]
pub fn moved(schema: &Value, pointer: &str) -> Value {
    let mut moved = schema.clone();
    lead(&mut moved, pointer);
    moved
}

fn lead(value: &mut Value, pointer: &str) {
    let schema = match value {
        Value::Object(schema) => schema,
        Value::Array(list) => return list.iter_mut().for_each(|subschema| lead(subschema, pointer)),
        _ => return,
    };
    let id = schema.get("$id").and_then(Value::as_str);
    if id.is_some_and(|id| !matches!(id, "" | "#")) {
        return;
    }
    for (keyword, said) in schema {
        match (keyword.as_str(), said) {
            ("$ref" | "$dynamicRef", Value::String(reference)) => {
                if matches!(&**reference, "" | "#") || reference.starts_with("#/") {
                    *reference = format!("#{pointer}{}", reference.trim_start_matches('#'));
                }
            }
            // Data, whatever it looks like.
            ("const" | "enum" | "default" | "examples", _) => {}
            (keyword, Value::Object(named)) if matches!(holds(keyword), Some(Holds::ByName)) => {
                named.values_mut().for_each(|subschema| lead(subschema, pointer));
            }
            // References may lead into keywords that nobody knows.
            (_, said) => lead(said, pointer),
        }
    }
}

/// The same schema, with an object instead of every subschema that is `true` or `false`. Some clients expect objects.
///
/// `additionalProperties`, `unevaluatedProperties` and `unevaluatedItems` keep their booleans, which every client reads.
///
/// # Example
///
/// ```
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "all": { "items": true } }, "additionalProperties": false });
/// let plain = json!({ "properties": { "all": { "items": {} } }, "additionalProperties": false });
/// assert_eq!(tw_schema::without_booleans(&schema), plain);
/// ```
#[must_use]
pub fn without_booleans(schema: &Value) -> Value {
    let mut plain = schema.clone();
    write_out(&mut plain);
    plain
}

fn write_out(value: &mut Value) {
    let schema = match value {
        Value::Bool(true) => return *value = Value::Object(Map::new()),
        Value::Bool(false) => return *value = serde_json::json!({ "not": {} }),
        Value::Object(schema) => schema,
        _ => return,
    };
    for (keyword, said) in schema {
        let is_rest =
            matches!(keyword.as_str(), "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems");
        match (holds(keyword), said) {
            (Some(Holds::One), Value::Bool(_)) if is_rest => {}
            (Some(Holds::One), said) => write_out(said),
            (Some(Holds::List), Value::Array(list)) => list.iter_mut().for_each(write_out),
            (Some(Holds::ByName), Value::Object(named)) => {
                // The values of `dependencies` may be lists of names.
                named.values_mut().for_each(write_out);
            }
            _ => {}
        }
    }
}

/// The same schema without its translations, which cost a model tokens and tell it nothing.
///
/// # Example
///
/// ```
/// use serde_json::json;
///
/// let text = json!({ "title": "City", "x-i18n": { "de": { "title": "Stadt" } } });
/// let schema = json!({ "properties": { "city": text, "x-i18n": { "type": "string" } } });
/// let plain = json!({ "properties": { "city": { "title": "City" }, "x-i18n": { "type": "string" } } });
/// assert_eq!(tw_schema::without_translations(&schema), plain);
/// ```
#[must_use]
pub fn without_translations(schema: &Value) -> Value {
    let mut plain = schema.clone();
    drop_translations(&mut plain);
    plain
}

fn drop_translations(value: &mut Value) {
    let Value::Object(schema) = value else { return };
    schema.shift_remove(TRANSLATIONS);
    for (keyword, said) in schema {
        match (holds(keyword), said) {
            (Some(Holds::One), said) => drop_translations(said),
            (Some(Holds::List), Value::Array(list)) => list.iter_mut().for_each(drop_translations),
            (Some(Holds::ByName), Value::Object(named)) => named.values_mut().for_each(drop_translations),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Schema;

    #[test]
    fn schema_that_was_moved_means_the_same() {
        let money = json!({ "type": "integer", "minimum": 0 });
        for own in [
            json!({ "properties": { "a": money, "b": { "$ref": "#/properties/a" } } }),
            json!({ "properties": { "b": { "$ref": "#/$defs/m" } }, "$defs": { "m": money } }),
            json!({ "properties": { "b": { "$ref": "#/definitions/m~1n" } }, "definitions": { "m/n": money } }),
            json!({ "properties": { "b": { "$ref": "#m" } }, "$defs": { "m": { "$anchor": "m", "minimum": 0 } } }),
            json!({ "properties": { "b": { "$dynamicRef": "#/$defs/m" } }, "$defs": { "m": money } }),
            json!({ "properties": { "b": { "$ref": "#/x-types/m" } }, "x-types": { "m": { "$ref": "#/x-types/n" }, "n": money } }),
            json!({ "$id": "https://example.com/own", "properties": { "b": { "$ref": "#/$defs/m" } }, "$defs": { "m": money } }),
            json!({
                "properties": { "b": { "$ref": "https://example.com/part" } },
                "$defs": { "p": { "$id": "https://example.com/part", "$ref": "#/$defs/m", "$defs": { "m": money } } },
            }),
        ] {
            let whole = json!({ "anyOf": [moved(&own, "/anyOf/0"), { "required": ["status"] }] });
            for schema in [&own, &whole] {
                let schema = Schema::compile(schema).unwrap_or_else(|fault| panic!("{schema}: {fault}"));
                assert!(schema.is_valid(&json!({ "b": 1 })), "{own}");
                assert!(!schema.is_valid(&json!({ "b": -1 })), "{own}");
            }
        }
    }

    #[test]
    fn booleans_in_the_place_of_schemas_are_written_out() {
        let sent = json!({
            "properties": { "a": true, "b": false, "c": { "items": true, "contains": true, "default": true } },
            "anyOf": [true, { "not": false }],
            "additionalProperties": true,
            "required": ["a"],
            "const": true,
        });
        let plain = json!({
            "properties": { "a": {}, "b": { "not": {} }, "c": { "items": {}, "contains": {}, "default": true } },
            "anyOf": [{}, { "not": { "not": {} } }],
            "additionalProperties": true,
            "required": ["a"],
            "const": true,
        });
        assert_eq!(without_booleans(&sent), plain);
    }

    #[test]
    fn what_looks_like_a_reference_and_is_data_stays() {
        let own = json!({
            "const": { "$ref": "#" },
            "default": { "$ref": "#/a" },
            "examples": [{ "$ref": "#" }],
            "properties": { "default": { "$ref": "#" }, "$ref": { "enum": ["#"] } },
        });
        let mut expected = own.clone();
        expected["properties"]["default"]["$ref"] = json!("#/x");
        assert_eq!(moved(&own, "/x"), expected);
    }
}
