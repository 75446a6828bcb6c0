//! JSON out of the text of a model.

use serde_json::Value;
use tw_schema::Schema;

/// How many faults a model is told of.
const FAULTS_MAX: usize = 10;
const FENCE: &str = "```";

/// What is said to the model about the form of its answer.
pub(super) fn instruction(schema: Option<&Value>) -> String {
    match schema {
        Some(schema) => format!(
            "Answer with one JSON value and nothing else: no explanation, no code fence. It must fit this JSON Schema:\n{schema}"
        ),
        None => "Answer with one JSON value and nothing else: no explanation, no code fence.".to_owned(),
    }
}

/// Reads an answer and holds it against the schema, or says what is wrong with it.
pub(super) fn read(text: &str, schema: Option<&Schema>) -> Result<Value, String> {
    let value: Value =
        serde_json::from_str(unfenced(text)).map_err(|error| format!("it is not JSON: {error}"))?;
    let Some(schema) = schema.filter(|schema| !schema.is_valid(&value)) else { return Ok(value) };
    let faults = schema.faults(&value);
    let told: Vec<_> =
        faults.iter().take(FAULTS_MAX).map(|fault| format!("`{}` {}", fault.path, fault.message)).collect();
    Err(format!("it does not fit the schema: {}", told.join("; ")))
}

/// What a model is asked when its answer cannot be used.
pub(super) fn correction(why: &str) -> String {
    format!("That answer cannot be used: {why}. Send the whole answer again, corrected, as JSON alone.")
}

/// Models put code fences around JSON, also where they are asked not to.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix(FENCE).and_then(|text| text.strip_suffix(FENCE)) else { return text };
    let inner = inner.strip_prefix("json").or_else(|| inner.strip_prefix("JSON")).unwrap_or(inner);
    inner.trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fence_around_json_is_taken_off() {
        for text in ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "```\n{\"a\":1}```"] {
            assert_eq!(read(text, None), Ok(json!({ "a": 1 })), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let schema =
            Schema::compile(&json!({ "type": "object", "properties": { "a": { "type": "string" } } }))
                .unwrap();
        assert_eq!(
            read("{\"a\":1}", Some(&schema)),
            Err("it does not fit the schema: `/a` must be a string, not a number".to_owned())
        );
        assert!(read("here it is: {}", Some(&schema)).unwrap_err().starts_with("it is not JSON"));
    }
}
