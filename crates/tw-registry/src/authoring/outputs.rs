//! Outputs that cannot fit the schema that a tool gives for them.
//!
//! Only what is certain is told: a member that the schema requires and the written output never has, and a fixed value of
//! a type that the schema does not allow. What an expression yields is not known before a call.

use serde_json::{Map, Value};
use tw_exec::WrittenOutput;
use tw_schema::{Fault, Violation};

use super::doubts::escaped;

/// Everything in a written output that cannot fit the schema of the tool.
pub(super) fn misfits(output: Option<&WrittenOutput>, schema: Option<&Value>) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let (Some(WrittenOutput { path, value }), Some(schema)) = (output, schema) {
        hold(value, schema, path, &mut faults);
    }
    faults
}

/// Holds a written value against a schema.
fn hold(written: &Value, schema: &Value, place: &str, faults: &mut Vec<Fault>) {
    // A reference says something else, and in older dialects it alone counts.
    let Some(schema) = schema.as_object().filter(|schema| !schema.contains_key("$ref")) else { return };
    if is_filled_in(written) {
        return;
    }
    if let Some(expected) = expected_types(schema)
        && !expected.iter().any(|name| is_of_type(written, name))
    {
        let names: Vec<Value> = expected.iter().map(|name| (*name).into()).collect();
        faults.push(Violation::output_type(names, type_name(written)).at(place));
        return;
    }
    let below = |name: &str| format!("{place}/{}", escaped(name));
    match written {
        Value::Object(members) => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let missing = required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name));
            faults.extend(missing.map(|name| Violation::output_missing().at(below(name))));
            for (name, member) in members {
                if let Some(schema) = schema.get("properties").and_then(|named| named.get(name)) {
                    hold(member, schema, &below(name), faults);
                }
            }
        }
        Value::Array(items) if !schema.contains_key("prefixItems") => {
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = schema.get("items") {
                    hold(item, schema, &format!("{place}/{index}"), faults);
                }
            }
        }
        _ => {}
    }
}

/// Whether a text is filled in at a call. What it is then, nobody knows yet.
fn is_filled_in(written: &Value) -> bool {
    written.as_str().is_some_and(|text| ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)))
}

/// The types that a schema allows; `None` where it does not say.
fn expected_types(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(name) => Some(vec![name.as_str()]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        // 1.0 is a whole number too.
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "number" => value.is_number(),
        _ => type_name(value) == name,
    }
}

const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(output: &Value, schema: &Value) -> Vec<(String, &'static str)> {
        let mut faults = Vec::new();
        hold(output, schema, "", &mut faults);
        faults.into_iter().map(|fault| (fault.path, fault.code.as_str())).collect()
    }

    #[test]
    fn only_what_can_never_fit_is_told() {
        let schema = json!({
            "type": "object", "required": ["n", "a/b"],
            "properties": {
                "n": { "type": "integer" }, "a/b": { "type": ["string", "null"] },
                "list": { "items": { "type": "object", "required": ["id"] } },
                "other": { "$ref": "#/$defs/x", "type": "string" },
            },
        });
        let fits =
            json!({ "n": "{{ steps.a.output }}", "a/b": null, "list": [{ "id": 1 }, "{{ x }}"], "other": 1 });
        assert_eq!(told(&fits, &schema), []);
        assert_eq!(told(&json!({ "n": 1.0, "a/b": "" }), &schema), []);
        assert_eq!(told(&json!("{{ input }}"), &schema), []);
        let wrong = json!({ "n": "1", "list": [{}, 7] });
        let expected = [
            ("/a~1b", "output_missing"),
            ("/n", "output_type"),
            ("/list/0/id", "output_missing"),
            ("/list/1", "output_type"),
        ];
        assert_eq!(told(&wrong, &schema), expected.map(|(path, code)| (path.to_owned(), code)));
        assert_eq!(told(&json!(["x"]), &schema), [(String::new(), "output_type")]);
        assert_eq!(told(&json!({ "n": 1.5, "a/b": "x" }), &schema), [("/n".to_owned(), "output_type")]);
    }
}
