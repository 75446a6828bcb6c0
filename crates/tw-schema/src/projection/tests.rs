use serde_json::{Value, json};

use super::*;
use crate::Schema;

/// Inputs that tools really have, and some that they could.
fn corpus() -> Vec<Value> {
    let point = json!({ "type": "object", "properties": { "x": { "type": "number" }, "y": { "type": "number" } }, "required": ["x"] });
    vec![
        json!({ "type": "object" }),
        json!({ "type": "object", "additionalProperties": false }),
        json!({ "type": "object", "properties": { "a": {}, "b": { "type": "object" }, "c": { "type": "array" } } }),
        json!({ "properties": { "n": { "type": "integer", "minimum": 1, "default": 3 }, "s": { "type": ["string", "null"], "maxLength": 9 } }, "required": ["s"] }),
        json!({ "type": "object", "properties": { "unit": { "enum": ["c", "f", null] }, "level": { "enum": [1, 2] }, "only": { "const": "x" } }, "required": ["level"] }),
        json!({ "type": "object", "properties": { "when": { "type": "string", "format": "date-time" }, "where": { "type": "string", "format": "uri" } } }),
        json!({ "type": "object", "properties": { "points": { "type": "array", "items": point, "minItems": 1, "uniqueItems": true } }, "required": ["points"] }),
        json!({ "type": "object", "properties": { "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }] } } }),
        json!({ "type": "object", "properties": { "to": { "oneOf": [{ "type": "string" }, point] } } }),
        json!({ "type": "object", "properties": { "to": { "anyOf": [{ "type": "string" }, { "type": "object" }] } } }),
        json!({ "type": "object", "properties": { "p": { "$ref": "#/$defs/point" } }, "$defs": { "point": point } }),
        json!({ "type": "object", "properties": { "p": { "$ref": "#/definitions/point", "description": "where" } }, "definitions": { "point": point } }),
        json!({ "type": "object", "properties": { "tree": { "$ref": "#/$defs/tree" } }, "required": ["tree"], "$defs": {
            "tree": { "type": "object", "properties": { "name": { "type": "string" }, "parts": { "type": "array", "items": { "$ref": "#/$defs/tree" } } }, "required": ["name"] } } }),
        json!({ "type": "object", "properties": { "kind": { "enum": ["card", "bank"] } }, "required": ["kind"],
            "if": { "properties": { "kind": { "const": "card" } } }, "then": { "properties": { "number": { "type": "string" } }, "required": ["number"] },
            "else": { "properties": { "iban": { "type": "string" } } } }),
        json!({ "oneOf": [
            { "type": "object", "properties": { "action": { "const": "get" }, "id": { "type": "integer" } }, "required": ["action", "id"] },
            { "type": "object", "properties": { "action": { "const": "list" }, "limit": { "type": "integer" } }, "required": ["action"] } ] }),
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        json!({ "allOf": [point, { "properties": { "z": { "type": "number" } }, "required": ["z"] }] }),
        json!({ "$ref": "#/$defs/point", "$defs": { "point": point } }),
        json!({ "type": "object", "properties": { "list": { "anyOf": [{ "type": "array", "items": { "type": "string" } }, { "type": "null" }] } } }),
        json!({ "type": "object", "properties": { "m": { "type": "object", "additionalProperties": { "type": "integer" } } }, "dependentRequired": { "m": ["n"] } }),
    ]
}

/// What OpenAI says about strict schemas, held by a reader of its own.
fn strict_faults(schema: &Value, is_root: bool, faults: &mut Vec<String>) {
    const KNOWN: [&str; 20] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "description",
        "$ref",
        "$defs",
        "definitions",
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ];
    let Some(node) = schema.as_object() else { return faults.push(format!("no object: {schema}")) };
    faults
        .extend(node.keys().filter(|key| !KNOWN.contains(&key.as_str())).map(|key| format!("keyword {key}")));
    if is_root && (node.get("type") != Some(&json!("object")) || node.contains_key("anyOf")) {
        faults.push("the root is no plain object".to_owned());
    }
    if node.contains_key("$ref") {
        if node.len() > 1 {
            faults.push(format!("a reference with company: {schema}"));
        }
        return;
    }
    if !node.contains_key("type") && !node.contains_key("anyOf") {
        faults.push(format!("no type: {schema}"));
    }
    let is = |kind: &str| {
        node.get("type")
            .is_some_and(|own| own == kind || own.as_array().is_some_and(|all| all.contains(&json!(kind))))
    };
    if is("object") {
        let properties = node.get("properties").and_then(Value::as_object);
        let Some(properties) = properties else { return faults.push(format!("no properties: {schema}")) };
        let required: Vec<&str> =
            node["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if properties.keys().any(|name| !required.contains(&name.as_str()))
            || required.len() != properties.len()
        {
            faults.push(format!("not all required: {schema}"));
        }
        if node.get("additionalProperties") != Some(&json!(false)) {
            faults.push(format!("open: {schema}"));
        }
        properties.values().for_each(|property| strict_faults(property, false, faults));
    }
    if is("array") && !node.contains_key("items") {
        faults.push(format!("no items: {schema}"));
    }
    node.get("items").into_iter().for_each(|items| strict_faults(items, false, faults));
    node.get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .for_each(|branch| strict_faults(branch, false, faults));
    for keyword in ["$defs", "definitions"] {
        let definitions = node.get(keyword).and_then(Value::as_object);
        definitions
            .into_iter()
            .flatten()
            .for_each(|(_, definition)| strict_faults(definition, false, faults));
    }
}

/// The fields of Gemini's `Schema` message, held by a reader of its own.
fn gemini_faults(schema: &Value, faults: &mut Vec<String>) {
    const KNOWN: [&str; 15] = [
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "enum",
        "description",
        "nullable",
        "format",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
    ];
    let Some(node) = schema.as_object() else { return faults.push(format!("no object: {schema}")) };
    let known = |key: &str| KNOWN.contains(&key) || key == "pattern";
    faults.extend(node.keys().filter(|key| !known(key)).map(|key| format!("keyword {key}")));
    match node.get("type") {
        Some(Value::String(_)) => {}
        None if node.contains_key("anyOf") => {}
        other => faults.push(format!("type {other:?}")),
    }
    let values = node.get("enum").and_then(Value::as_array);
    if values.is_some_and(|values| !values.iter().all(Value::is_string)) {
        faults.push(format!("an enumeration of no texts: {schema}"));
    }
    if node.get("type") == Some(&json!("array")) && !node.contains_key("items") {
        faults.push(format!("no items: {schema}"));
    }
    let properties = node.get("properties").and_then(Value::as_object);
    let children = properties.into_iter().flatten().map(|(_, property)| property);
    let branches = node.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    children.chain(branches).chain(node.get("items")).for_each(|child| gemini_faults(child, faults));
}

#[test]
fn strict_schemas_keep_the_rules_of_openai() {
    for schema in corpus() {
        let strict = project(&schema, ToolFormat::OpenAiStrict).unwrap();
        let mut faults = Vec::new();
        strict_faults(&strict.schema, true, &mut faults);
        assert!(faults.is_empty(), "{schema}\n{}\n{faults:#?}", strict.schema);
        Schema::compile(&strict.schema).unwrap_or_else(|fault| panic!("{}: {fault}", strict.schema));
    }
}

#[test]
fn schemas_for_gemini_have_its_fields_alone() {
    for schema in corpus() {
        let gemini = project(&schema, ToolFormat::Gemini).unwrap();
        let mut faults = Vec::new();
        gemini_faults(&gemini.schema, &mut faults);
        assert!(faults.is_empty(), "{schema}\n{}\n{faults:#?}", gemini.schema);
    }
}

#[test]
fn root_is_a_plain_object_for_everybody() {
    for format in [ToolFormat::OpenAi, ToolFormat::Anthropic, ToolFormat::AiSdk] {
        for schema in corpus() {
            let projected = project(&schema, format).unwrap().schema;
            assert_eq!(projected["type"], "object", "{schema}");
            for keyword in ["anyOf", "oneOf", "allOf", "if", "$ref", "$schema", "enum"] {
                assert!(projected.get(keyword).is_none(), "{keyword} in {projected}");
            }
            Schema::compile(&projected).unwrap_or_else(|fault| panic!("{projected}: {fault}"));
        }
    }
}

#[test]
fn schema_that_fits_already_is_left_alone() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "minLength": 1 } }, "required": ["a"] });
    for format in [ToolFormat::OpenAi, ToolFormat::Anthropic, ToolFormat::AiSdk, ToolFormat::Mcp] {
        assert_eq!(
            project(&schema, format).unwrap(),
            Projected { schema: schema.clone(), changes: Vec::new() }
        );
    }
    let closed = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false });
    let strict = project(&closed, ToolFormat::OpenAiStrict).unwrap();
    assert_eq!((&strict.schema, strict.changes.len()), (&closed, 0));
}

#[test]
fn every_change_is_told_with_its_place() {
    let schema = json!({ "type": "object", "properties": {
        "n": { "type": "integer", "default": 3 }, "s": { "type": "string", "minLength": 2 }, "any": {} }, "required": ["n", "s"] });
    let strict = project(&schema, ToolFormat::OpenAiStrict).unwrap();
    let told: Vec<String> =
        strict.changes.iter().map(|change| format!("{} {}", change.path, change.change)).collect();
    assert_eq!(
        told,
        [
            "/properties/n/default described",
            "/properties/s/minLength dropped",
            "/properties/any json_text",
            "/properties/any nullable",
            " closed",
        ]
    );
    assert_eq!(strict.schema["properties"]["n"]["description"], "(default: 3)");
}

#[test]
fn arguments_come_back_as_the_tool_takes_them() {
    let check = |schema: Value, sent: Value, back: Value| {
        for format in [ToolFormat::OpenAiStrict, ToolFormat::Gemini] {
            let projected = project(&schema, format).unwrap().schema;
            assert_eq!(unproject(sent.clone(), &schema, format), back, "{format:?} {projected}");
            assert!(Schema::compile(&schema).unwrap().is_valid(&back), "{back}");
        }
        let strict = Schema::compile(&project(&schema, ToolFormat::OpenAiStrict).unwrap().schema).unwrap();
        assert!(strict.is_valid(&sent), "{sent}");
    };
    let of = |at: usize| corpus().swap_remove(at);
    check(of(0), json!({ "arguments": r#"{"anything": [1]}"# }), json!({ "anything": [1] }));
    check(
        of(2),
        json!({ "a": "7", "b": r#"{"x": 1}"#, "c": "[1, \"b\"]" }),
        json!({ "a": 7, "b": { "x": 1 }, "c": [1, "b"] }),
    );
    check(of(2), json!({ "a": "plain words", "b": null, "c": null }), json!({ "a": "plain words" }));
    check(of(3), json!({ "n": null, "s": null }), json!({ "s": null }));
    check(of(4), json!({ "unit": null, "level": 2, "only": null }), json!({ "unit": null, "level": 2 }));
    check(of(6), json!({ "points": [{ "x": 1, "y": null }] }), json!({ "points": [{ "x": 1 }] }));
    check(of(8), json!({ "to": { "x": 1, "y": null } }), json!({ "to": { "x": 1 } }));
    check(of(9), json!({ "to": r#"{"free": true}"# }), json!({ "to": { "free": true } }));
    check(of(10), json!({ "p": { "x": 1, "y": null } }), json!({ "p": { "x": 1 } }));
    check(
        of(13),
        json!({ "kind": "card", "number": "4", "iban": null }),
        json!({ "kind": "card", "number": "4" }),
    );
    check(
        of(14),
        json!({ "action": "list", "id": null, "limit": 3 }),
        json!({ "action": "list", "limit": 3 }),
    );
}

#[test]
fn schema_that_contains_itself_has_an_end() {
    let tree = corpus().swap_remove(12);
    let deep = json!({ "tree": { "name": "a", "parts": [{ "name": "b", "parts": null }] } });
    let back = json!({ "tree": { "name": "a", "parts": [{ "name": "b" }] } });
    assert_eq!(unproject(deep, &tree, ToolFormat::OpenAiStrict), back);
    let gemini = project(&tree, ToolFormat::Gemini).unwrap().schema;
    assert_eq!(gemini["properties"]["tree"]["properties"]["parts"]["items"]["type"], "string");
    let sent = json!({ "tree": { "name": "a", "parts": [r#"{"name": "b"}"#] } });
    assert_eq!(unproject(sent, &tree, ToolFormat::Gemini), back);
    for circle in [
        json!({ "$ref": "#" }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }, { "type": "string" }] } } }),
        json!({ "type": "object", "properties": { "a": { "allOf": [{ "$ref": "#/properties/a" }] } } }),
    ] {
        for format in ToolFormat::ALL {
            drop(project(&circle, format));
            drop(unproject(json!({ "a": { "a": 1 } }), &circle, format));
        }
    }
}

#[test]
fn references_that_double_are_refused_and_not_written_out() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        let both = json!({ "type": "object", "properties": { "a": next, "b": next } });
        definitions.insert(format!("d{level}"), both);
    }
    definitions.insert("d40".to_owned(), json!({ "type": "string" }));
    let schema =
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions });
    let refused = project(&schema, ToolFormat::Gemini).unwrap_err();
    assert!(matches!(refused, Unprojectable::TooMuch { .. }), "{refused}");
    project(&schema, ToolFormat::OpenAiStrict).unwrap();
}

#[test]
fn schema_beyond_the_limits_of_openai_is_refused_with_the_number() {
    let values: Vec<usize> = (0..1_001).collect();
    let schema = json!({ "type": "object", "properties": { "n": { "enum": values } } });
    let refused = project(&schema, ToolFormat::OpenAiStrict).unwrap_err();
    // One more for the `null` of an optional property.
    assert_eq!(refused.to_string(), "values in enumerations: 1002, at most 1000 are accepted");
    let mut deep = json!({ "type": "string" });
    for _ in 0..10 {
        deep = json!({ "type": "object", "properties": { "a": deep } });
    }
    assert!(project(&deep, ToolFormat::OpenAiStrict).is_err());
    project(&deep, ToolFormat::Anthropic).unwrap();
}

#[test]
fn names_are_reversible_and_short_enough() {
    assert_eq!(ToolFormat::OpenAi.tool_name("crm.find"), "crm__find");
    assert_eq!(ToolFormat::Mcp.tool_name("crm.find"), "crm.find");
    let long = format!("a.{}", "b".repeat(120));
    let (name, other) =
        (ToolFormat::Gemini.tool_name(&long), ToolFormat::Gemini.tool_name(&format!("{long}c")));
    assert!(name.len() == 64 && name.starts_with("a__b") && name != other, "{name} {other}");
}
