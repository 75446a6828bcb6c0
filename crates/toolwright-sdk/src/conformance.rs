//! What every tool that is defined in code has to keep, beyond what the compiler checks.
//!
//! A crate of tools has one test that calls [`problems`] for each of its tools and expects none.
//! Whether the schemas are valid JSON Schema is left to that test, which may use a validator; this
//! crate stays light.

use serde_json::{Map, Value};
use tw_model::ToolDef;

use crate::texts;

/// Names that would let a caller say who it is. That is settled before a tool is called.
const NOT_FROM_INPUT: [&str; 5] = ["tenant", "tenantid", "organization", "organizationid", "orgid"];

/// Words of which a schema needs one to say anything about a value.
const SAYING: [&str; 8] = ["type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "not"];

/// What is wrong with a definition, one sentence each; empty when nothing is.
#[must_use]
pub fn problems(tool: &ToolDef, input_less: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (what, text) in [
        ("name", &tool.name),
        ("description", &tool.description),
        ("category", &tool.category),
        ("icon", &tool.icon),
    ] {
        if text.trim().is_empty() {
            found.push(format!("the {what} is empty"));
        }
    }
    if tool.level.is_none() {
        found.push("no level is declared".to_owned());
    }
    if tool.timeout_ms == 0 {
        found.push("the timeout is zero".to_owned());
    }
    found.extend(problems_of_input(&tool.input_schema, input_less));
    match &tool.output_schema {
        Some(schema) => found.extend(problems_of_output(schema, tool)),
        None => found.push("no output schema is declared".to_owned()),
    }
    found
}

/// The texts of a tool that people read and that are not translated into a language.
#[must_use]
pub fn untranslated(tool: &ToolDef, language: &str) -> Vec<String> {
    texts::untranslated(tool, language)
}

fn problems_of_input(schema: &Value, input_less: bool) -> Vec<String> {
    let mut found = Vec::new();
    if schema["type"] != "object" {
        found.push("the input schema is not of type object".to_owned());
    }
    if schema.get("additionalProperties").or_else(|| schema.get("unevaluatedProperties")).is_none() {
        found.push("the input takes unknown fields silently: add `deny_unknown_fields`".to_owned());
    }
    let properties = properties(schema);
    match (properties.is_empty(), input_less) {
        (true, false) => found.push("the input schema has no properties, and no `input_less`".to_owned()),
        (false, true) => found.push("the tool is `input_less` and has input properties".to_owned()),
        _ => {}
    }
    for (name, property) in properties {
        if !SAYING.iter().any(|word| property.get(word).is_some()) {
            found.push(format!("the input property `{name}` takes anything"));
        }
        if !is_described(schema, property) {
            found.push(format!("the input property `{name}` has no description"));
        }
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        if NOT_FROM_INPUT.iter().any(|word| plain.eq_ignore_ascii_case(word)) {
            found.push(format!("the input property `{name}` belongs to the context, not to the input"));
        }
    }
    found
}

fn problems_of_output(schema: &Value, tool: &ToolDef) -> Vec<String> {
    let mut found = Vec::new();
    if schema["type"] != "object" {
        found.push("the output schema is not of type object".to_owned());
    }
    let properties = properties(schema);
    if properties.is_empty() {
        found.push("the output schema has no properties".to_owned());
    }
    for section in &tool.output_sections {
        if !properties.iter().any(|(name, _)| **name == section.key) {
            found.push(format!("the section `{}` is no property of the output", section.key));
        }
    }
    found
}

fn properties(schema: &Value) -> Vec<(&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).map(Map::iter).into_iter().flatten().collect()
}

/// Whether a property is described where it stands or where it points to.
fn is_described(root: &Value, property: &Value) -> bool {
    let has_text = |schema: &Value| {
        schema.get("description").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
    };
    let target = property.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
    has_text(property) || target.and_then(|pointer| root.pointer(pointer)).is_some_and(has_text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tw_model::{Implementation, Level, OutputSection, SectionKind};

    use super::*;

    fn good() -> ToolDef {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The text to count." },
                "unit": { "$ref": "#/$defs/Unit" },
            },
            "additionalProperties": false,
            "$defs": { "Unit": { "enum": ["words"], "description": "What to count." } },
        });
        ToolDef {
            name: "Word count".to_owned(),
            description: "Counts words.".to_owned(),
            category: "text".to_owned(),
            icon: "text".to_owned(),
            level: Some(Level::Read),
            output_schema: Some(Arc::new(json!({
                "type": "object", "properties": { "words": { "type": "integer" } },
            }))),
            ..ToolDef::new("text.word_count".parse().unwrap(), Implementation::Code, Arc::new(schema))
        }
    }

    #[test]
    fn good_tool_has_no_problems() {
        assert_eq!(problems(&good(), false), [""; 0]);
    }

    #[test]
    fn tool_without_output_schema_level_or_description_is_told_so() {
        let bad = ToolDef {
            output_schema: None,
            level: None,
            timeout_ms: 0,
            description: "\n".to_owned(),
            ..good()
        };
        let expected = [
            "the description is empty",
            "no level is declared",
            "the timeout is zero",
            "no output schema is declared",
        ];
        assert_eq!(problems(&bad, false), expected);
    }

    #[test]
    fn input_that_is_no_object_with_real_properties_is_told_so() {
        let with = |schema: Value| ToolDef { input_schema: Arc::new(schema), ..good() };
        let bad = with(json!({ "type": "string" }));
        let expected = [
            "the input schema is not of type object",
            "the input takes unknown fields silently: add `deny_unknown_fields`",
            "the input schema has no properties, and no `input_less`",
        ];
        assert_eq!(problems(&bad, false), expected);

        let properties =
            json!({ "anything": {}, "tenant_id": { "type": "string", "description": "Whose?" } });
        let bad = with(json!({ "type": "object", "properties": properties, "additionalProperties": false }));
        let expected = [
            "the input property `anything` takes anything",
            "the input property `anything` has no description",
            "the input property `tenant_id` belongs to the context, not to the input",
        ];
        assert_eq!(problems(&bad, false), expected);
    }

    #[test]
    fn input_less_tool_has_no_properties_and_only_then_none() {
        let empty = json!({ "type": "object", "additionalProperties": false });
        let none = ToolDef { input_schema: Arc::new(empty), ..good() };
        assert_eq!(problems(&none, true), [""; 0]);
        assert_eq!(problems(&good(), true), ["the tool is `input_less` and has input properties"]);
    }

    #[test]
    fn section_of_something_that_is_not_in_the_output_is_told_so() {
        let section = OutputSection {
            key: "lines".to_owned(),
            label: "Lines".to_owned(),
            kind: SectionKind::Table,
            config: None,
            i18n: None,
        };
        let bad = ToolDef { output_sections: vec![section], ..good() };
        assert_eq!(problems(&bad, false), ["the section `lines` is no property of the output"]);

        let list = ToolDef { output_schema: Some(Arc::new(json!({ "type": "array" }))), ..good() };
        let expected = ["the output schema is not of type object", "the output schema has no properties"];
        assert_eq!(problems(&list, false), expected);
    }
}
