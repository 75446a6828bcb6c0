//! What fields say, what they refuse, and that they come back from their schema.

use std::collections::HashSet;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::{Fault, Schema};

mod generated;

fn lines(faults: &[Fault]) -> String {
    let lines: Vec<String> =
        faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
    lines.join("\n")
}

/// Shows everything that is wrong with a list of fields.
#[track_caller]
fn refused(fields: Value, expected: Expect) {
    let faults = parse_fields(&fields).expect_err("the fields are refused");
    expected.assert_eq(&lines(&faults));
}

#[track_caller]
fn schema(fields: Value) -> Value {
    let fields = parse_fields(&fields).unwrap_or_else(|faults| panic!("{}", lines(&faults)));
    fields_to_schema(&fields).unwrap_or_else(|faults| panic!("{}", lines(&faults)))
}

/// Shows which keyword of a schema has no counterpart.
#[track_caller]
fn unsayable(schema: Value, expected: Expect) {
    Schema::compile(&schema).unwrap();
    let fault = schema_to_fields(&schema).expect_err("the schema cannot be said in fields");
    expected.assert_eq(&format!("{} {}: {}", fault.path, fault.keyword, fault.message));
}

#[test]
fn there_are_twelve_types_each_with_variants_and_two_components() {
    assert_eq!(FieldType::ALL.len(), 12);
    let mut components = HashSet::new();
    for kind in FieldType::ALL.iter().copied() {
        assert_eq!(serde_json::to_value(kind).unwrap(), json!(kind.as_str()));
        assert_eq!(FieldType::parse(kind.as_str()), Some(kind));
        let looks = variants(kind);
        assert!(!looks.is_empty());
        assert_eq!(looks.iter().collect::<HashSet<_>>().len(), looks.len(), "{kind}");
        components.insert(component(kind, ComponentSide::Input));
        components.insert(component(kind, ComponentSide::Display));
    }
    assert_eq!(components.len(), 24);
    assert_eq!(component(FieldType::Text, ComponentSide::Input), "field-input:text");
    assert_eq!(component(FieldType::Array, ComponentSide::Display), "field-display:array");
}

#[test]
fn one_field_of_each_type_makes_a_closed_schema_in_order() {
    let fields = json!([
        { "name": "title", "type": "text", "label": "Title", "description": "What it is called.", "required": true },
        { "name": "size", "type": "number", "default": 1.5 },
        { "name": "count", "type": "number", "variant": "integer" },
        { "name": "done", "type": "boolean" },
        { "name": "due", "type": "date" },
        { "name": "at", "type": "date", "variant": "datetime" },
        { "name": "from", "type": "date", "variant": "time" },
        { "name": "level", "type": "enum", "options": [{ "value": "low", "label": "Low" }, "high"], "default": "high" },
        { "name": "site", "type": "url" },
        { "name": "mail", "type": "email" },
        { "name": "phone", "type": "phone" },
        { "name": "photo", "type": "media", "target": "image/*" },
        { "name": "owner", "type": "relation", "target": "person", "required": true },
        { "name": "address", "type": "object", "fields": [{ "name": "city", "type": "text", "required": true }] },
        { "name": "extra", "type": "object" },
        { "name": "tags", "type": "array", "variant": "tags", "items": { "type": "text" } },
        { "name": "team", "type": "array", "items": { "type": "relation", "target": "person" } },
    ]);
    let schema = schema(fields.clone());
    let expected = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "title": "Title", "description": "What it is called." },
            "size": { "type": "number", "default": 1.5 },
            "count": { "type": "integer", "x-variant": "integer" },
            "done": { "type": "boolean" },
            "due": { "type": "string", "format": "date" },
            "at": { "type": "string", "format": "date-time", "x-variant": "datetime" },
            "from": { "type": "string", "format": "time", "x-variant": "time" },
            "level": { "type": "string", "enum": ["low", "high"], "x-enum-labels": ["Low", null], "default": "high" },
            "site": { "type": "string", "format": "uri" },
            "mail": { "type": "string", "format": "email" },
            "phone": { "type": "string", "pattern": write::PHONE_PATTERN, "x-toolwright-type": "phone" },
            "photo": { "type": "string", "x-toolwright-type": "media", "x-accept": "image/*" },
            "owner": { "type": "string", "x-toolwright-type": "relation", "x-entity-type": "person" },
            "address": {
                "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
                "additionalProperties": false,
            },
            "extra": { "type": "object" },
            "tags": { "type": "array", "items": { "type": "string" }, "x-variant": "tags" },
            "team": {
                "type": "array",
                "items": { "type": "string", "x-toolwright-type": "relation", "x-entity-type": "person" },
                "x-entity-type": "person", "x-entity-select": "multiple",
            },
        },
        "required": ["title", "owner"],
        "additionalProperties": false,
    });
    assert_eq!(schema, expected);
    let names = |value: &Value| value["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&schema), names(&expected));
    assert_eq!(schema_to_fields(&schema).unwrap(), parse_fields(&fields).unwrap());
}

#[test]
fn thirteenth_type_is_refused_and_the_twelve_are_named() {
    refused(
        json!([{ "name": "a", "type": "colour" }, { "name": "b" }]),
        expect![[r#"
            /0/type: must be one of "text", "number", "boolean", "date", "enum", "url", "email", "phone", "media", "relation", "object", "array"
            /1/type: is required"#]],
    );
    let error = serde_json::from_value::<Field>(json!({ "name": "a", "type": "colour" })).unwrap_err();
    assert!(error.to_string().contains("expected one of `text`, `number`"), "{error}");
}

#[test]
fn every_fault_is_told_with_its_place() {
    refused(
        json!([
            { "name": "", "type": "text" },
            { "name": "a", "type": "enum" },
            { "name": "a", "type": "array" },
            { "name": "b", "type": "text", "variant": "slider", "default": 1 },
            { "name": "c", "type": "number", "default": "1" },
            { "name": "d".repeat(129), "type": "text" },
            { "name": "e", "type": "object", "fields": [{ "name": "x", "type": "text" }, { "name": "x", "type": "text" }] },
            { "name": "f", "type": "array", "items": { "type": "colour" } },
            { "name": "g", "type": "text", "items": { "type": "text" }, "options": ["a"], "target": "x" },
            { "name": "h", "type": "enum", "options": ["a", "a", null, { "label": "x" }] },
            { "name": "i", "type": "text", "label": 1, "required": "yes", "placeholder": "…" },
            "j",
        ]),
        expect![[r#"
            /0/name: is required
            /1/options: must have at least 1 item
            /2/items: is required
            /2/name: must be unique; "a" appears twice
            /3/variant: must be one of "input", "textarea", "markdown", "code", "password"
            /4/default: must be a number, not a string
            /5/name: must have at most 128 characters
            /6/fields/1/name: must be unique; "x" appears twice
            /7/items/type: must be one of "text", "number", "boolean", "date", "enum", "url", "email", "phone", "media", "relation", "object", "array"
            /8/items: must be left out: `text` does not support it
            /8/options: must be left out: `text` does not support it
            /8/target: must be left out: `text` does not support it
            /9/options/3/value: is required
            /10/label: must be a string, not a number
            /10/placeholder: is not a known member
            /10/required: must be a boolean, not a string
            /11: must be an object, not a string"#]],
    );
    refused(
        json!([{ "name": "h", "type": "enum", "options": ["a", "a", null, 1, 1.0, ["x"]] }]),
        expect![[r#"
            /0/options/1/value: must be unique; "a" appears twice
            /0/options/2/value: must be a string, a number or a boolean
            /0/options/4/value: must be unique; 1.0 appears twice
            /0/options/5/value: must be a string, a number or a boolean"#]],
    );
    refused(json!({ "a": "text" }), expect![": must be an array, not an object"]);
}

#[test]
fn defaults_pass_the_check_that_a_call_would_meet() {
    for (field, good, bad) in [
        (json!({ "type": "date" }), json!("2026-01-31"), json!("2026-02-30")),
        (
            json!({ "type": "date", "variant": "datetime" }),
            json!("2026-01-31T10:00:00Z"),
            json!("2026-01-31"),
        ),
        (json!({ "type": "url" }), json!("https://example.com"), json!("example")),
        (json!({ "type": "email" }), json!("a@example.com"), json!("a")),
        (json!({ "type": "phone" }), json!("+49 (30) 123-456"), json!("call me")),
        (json!({ "type": "enum", "options": [1, 2] }), json!(2), json!(3)),
        (json!({ "type": "number", "variant": "integer" }), json!(2), json!(2.5)),
        (json!({ "type": "array", "items": { "type": "number" } }), json!([1, 2]), json!([1, "2"])),
        (
            json!({ "type": "object", "fields": [{ "name": "x", "type": "text", "required": true, "default": "y" }] }),
            json!({}),
            json!({ "z": 1 }),
        ),
    ] {
        let with = |default: &Value| {
            let mut field = field.clone();
            field["name"] = json!("a");
            field["default"] = default.clone();
            json!([field])
        };
        assert!(parse_fields(&with(&good)).is_ok(), "{field} {good}");
        let faults = parse_fields(&with(&bad)).expect_err("a default that does not fit");
        assert!(faults.iter().all(|fault| fault.path.starts_with("/0/default")), "{field} {bad}");
    }
}

#[test]
fn fields_are_nested_sixteen_deep_and_no_deeper() {
    let nested = |depth: usize| {
        (1..depth).fold(Field::new("a", FieldType::Text), |inner, _| {
            let mut outer = Field::new("a", FieldType::Object);
            outer.fields = vec![inner];
            outer
        })
    };
    let schema = fields_to_schema(&[nested(16)]).unwrap();
    assert_eq!(schema_to_fields(&schema).unwrap(), [nested(16)]);
    let faults = fields_to_schema(&[nested(17)]).unwrap_err();
    assert_eq!(
        lines(&faults),
        format!("/0{}: must be nested at most 16 levels deep", "/fields/0".repeat(16))
    );
    // However deep they are, it is one fault.
    assert_eq!(fields_to_schema(&[nested(5_000)]).unwrap_err().len(), 1);
}

#[test]
fn thousand_fields_are_taken_and_one_more_is_not() {
    let fields =
        |count: usize| (0..count).map(|n| Field::new(format!("f{n}"), FieldType::Text)).collect::<Vec<_>>();
    assert!(fields_to_schema(&fields(1_000)).is_ok());
    let faults = fields_to_schema(&fields(1_002)).unwrap_err();
    assert_eq!(lines(&faults), ": must have at most 1000 fields, nested ones included");
}

#[test]
fn schemas_that_people_write_become_fields() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Input",
        "properties": {
            "who": { "$ref": "#/$defs/person", "description": "The owner." },
            "also": { "type": "array", "items": { "$ref": "#/$defs/person" } },
            "many": { "type": "array", "items": { "type": "string" }, "x-entity-type": "deal", "x-entity-select": "multiple" },
            "one": { "type": "string", "x-entity-type": "deal" },
            "count": { "type": "integer" },
            "secret": { "type": "string", "format": "password" },
            "rank": { "type": "number", "enum": [1, 2] },
        },
        "required": ["who"],
        "$defs": {
            "person": { "type": "object", "description": "Anybody.", "properties": { "name": { "$ref": "#/$defs/name" } } },
            "name": { "type": "string", "title": "Name" },
        },
    });
    let fields = schema_to_fields(&schema).unwrap();
    assert_eq!(
        serde_json::to_value(&fields).unwrap(),
        json!([
            { "name": "who", "type": "object", "description": "The owner.", "required": true,
              "fields": [{ "name": "name", "type": "text", "label": "Name" }] },
            { "name": "also", "type": "array", "items": { "type": "object", "description": "Anybody.",
              "fields": [{ "name": "name", "type": "text", "label": "Name" }] } },
            { "name": "many", "type": "array", "items": { "type": "relation", "target": "deal" } },
            { "name": "one", "type": "relation", "target": "deal" },
            { "name": "count", "type": "number", "variant": "integer" },
            { "name": "secret", "type": "text", "variant": "password" },
            { "name": "rank", "type": "enum", "options": [{ "value": 1 }, { "value": 2 }] },
        ])
    );
    assert!(fields_to_schema(&fields).is_ok());
}

#[test]
fn what_fields_cannot_say_is_named_with_its_place() {
    let property = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    unsayable(
        property(json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
        expect!["/properties/a anyOf: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": ["string", "null"] })),
        expect!["/properties/a type: must be one type"],
    );
    unsayable(property(json!({})), expect!["/properties/a type: must be one type"]);
    unsayable(property(json!(true)), expect!["/properties/a type: must be said"]);
    unsayable(property(json!({ "const": 1 })), expect!["/properties/a const: has no counterpart in fields"]);
    unsayable(
        property(json!({ "type": "number", "minimum": 0 })),
        expect!["/properties/a minimum: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": "string", "pattern": "^a" })),
        expect!["/properties/a pattern: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": "string", "format": "uuid" })),
        expect!["/properties/a format: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": "string", "x-internal": true })),
        expect!["/properties/a x-internal: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": "string", "x-toolwright-type": "colour" })),
        expect!["/properties/a x-toolwright-type: is none of the twelve types"],
    );
    unsayable(
        property(json!({ "type": "string", "x-toolwright-type": "number" })),
        expect!["/properties/a type: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": "string", "x-variant": "slider" })),
        expect![[
            r#"/properties/a x-variant: must be one of "input", "textarea", "markdown", "code", "password""#
        ]],
    );
    unsayable(
        property(json!({ "type": "string", "default": 1 })),
        expect!["/properties/a default: must be a string, not a number"],
    );
    unsayable(
        property(json!({ "enum": ["a", null] })),
        expect!["/properties/a enum: must be a string, a number or a boolean"],
    );
    unsayable(
        property(json!({ "enum": ["a"], "x-enum-labels": [] })),
        expect!["/properties/a x-enum-labels: must have one entry for each choice"],
    );
    unsayable(
        property(
            json!({ "type": "object", "properties": { "b": { "type": "string" } }, "additionalProperties": true }),
        ),
        expect!["/properties/a additionalProperties: has no counterpart in fields"],
    );
    unsayable(
        property(json!({ "type": "object", "properties": {}, "additionalProperties": false })),
        expect!["/properties/a properties: is empty"],
    );
    unsayable(
        property(json!({ "type": "array" })),
        expect!["/properties/a items: must say what the items are"],
    );
    unsayable(json!({ "type": "object" }), expect![" properties: must name the members"]);
    unsayable(json!({ "type": "array" }), expect![" type: must be \"object\""]);
    unsayable(json!(true), expect![" type: must be said"]);
    unsayable(
        json!({ "properties": { "a": { "type": "string" } }, "if": { "required": ["a"] }, "then": true }),
        expect![" if: has no counterpart in fields"],
    );
    unsayable(
        json!({ "properties": {}, "required": ["a"] }),
        expect![" required: names a member that is not described"],
    );
    unsayable(
        json!({ "properties": { "": { "type": "string" } } }),
        expect!["/properties/ properties: is required"],
    );
}

#[test]
fn reference_that_never_ends_is_told_at_its_place() {
    unsayable(
        json!({
            "properties": { "tree": { "$ref": "#/$defs/node" } },
            "$defs": { "node": { "type": "object", "properties": {
                "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/$defs/node" } },
            } } },
        }),
        expect!["/properties/tree/properties/children/items $ref: leads back to itself"],
    );
    unsayable(
        json!({ "properties": { "a": { "$ref": "#" } } }),
        expect!["/properties/a $ref: leads back to itself"],
    );
    unsayable(
        json!({ "properties": { "a": { "$ref": "https://json-schema.org/draft/2020-12/schema" } } }),
        expect![[
            r#"/properties/a $ref: leads to "https://json-schema.org/draft/2020-12/schema", which is not in the schema"#
        ]],
    );
    // Each of these names the next twice, so written out there would be a million fields.
    let mut document = json!({ "properties": { "a": { "$ref": "#/$defs/0" } }, "$defs": {} });
    for level in 0..12 {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        document["$defs"][level.to_string()] =
            json!({ "type": "object", "properties": { "x": next, "y": next, "z": next } });
    }
    document["$defs"]["12"] = json!({ "type": "string" });
    assert!(schema_to_fields(&document).unwrap_err().message.contains("too many"));
}

#[test]
fn schema_that_stands_for_too_much_is_refused() {
    // A thousand references to ten thousand choices, and to a long text.
    let crowd = |definition: Value| {
        let properties: serde_json::Map<String, Value> =
            (0..1_000).map(|n| (format!("p{n}"), json!({ "$ref": "#/$defs/d" }))).collect();
        json!({ "properties": properties, "$defs": { "d": definition } })
    };
    let choices = crowd(json!({ "enum": (0..10_000).collect::<Vec<_>>() }));
    assert_eq!(schema_to_fields(&choices).unwrap_err().message, "makes the fields too large");
    let words = crowd(json!({ "type": "string", "description": "x".repeat(1 << 20) }));
    assert_eq!(schema_to_fields(&words).unwrap_err().message, "makes the fields too large");
    // References in a row, by name and by anchor.
    let mut defs: serde_json::Map<String, Value> = (0..10_000)
        .map(|n| (n.to_string(), json!({ "$anchor": format!("a{n}"), "$ref": format!("#a{}", n + 1) })))
        .collect();
    defs.insert("10000".to_owned(), json!({ "$anchor": "a10000", "type": "string" }));
    let long = json!({ "properties": { "a": { "$ref": "#/$defs/0" } }, "$defs": defs });
    assert_eq!(schema_to_fields(&long).unwrap_err().message, "leads through too many others");
}

#[test]
fn many_faults_are_told_as_a_hundred() {
    let options = vec![json!(1); 100_000];
    let faults = parse_fields(&json!([{ "name": "a", "type": "enum", "options": options }])).unwrap_err();
    assert_eq!(faults.len(), crate::FAULTS_MAX);
    let fields: Vec<Value> = (0..5_000).map(|_| json!(1)).collect();
    assert_eq!(parse_fields(&json!(fields)).unwrap_err().len(), crate::FAULTS_MAX);
}

#[test]
fn defaults_inside_one_another_are_checked_within_bounds() {
    let options: Vec<Value> = (0..2_499).map(|n| json!(format!("{n:0>64}"))).collect();
    let choice = |name: &str| json!({ "name": name, "type": "enum", "options": options });
    let leaf = json!([choice("a"), choice("b"), choice("c"), choice("d")]);
    let fields = (0..15)
        .fold(leaf, |fields, _| json!([{ "name": "x", "type": "object", "fields": fields, "default": {} }]));
    let faults = parse_fields(&fields).unwrap_err();
    assert!(faults[0].message.starts_with("cannot be checked"), "{faults:?}");
}

#[test]
fn anchors_and_comments_say_nothing_of_a_field() {
    let schema = json!({
        "properties": { "a": { "$ref": "#name", "title": "A" } },
        "$defs": { "name": { "$anchor": "name", "$comment": "as in the register", "type": "string" } },
    });
    let mut field = Field::new("a", FieldType::Text);
    field.label = Some("A".to_owned());
    assert_eq!(schema_to_fields(&schema), Ok(vec![field]));
}
