//! What is filled in, and what is left alone.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::Schema;

/// Fills a value and shows the result. Whether anything changed is checked along the way.
#[track_caller]
fn check(schema: Value, value: Value, expected: Expect) {
    let schema = Schema::compile(&schema).unwrap();
    let mut filled = value.clone();
    assert_eq!(schema.with_defaults(&mut filled), filled != value);
    expected.assert_eq(&filled.to_string());
    assert!(!schema.with_defaults(&mut filled), "a second time changes nothing");
}

#[test]
fn absent_properties_get_their_defaults_in_the_order_of_the_schema() {
    let schema = json!({ "properties": {
        "c": { "default": 3 }, "a": { "default": { "x": [1] } }, "b": { "default": null }, "d": {},
    } });
    check(schema.clone(), json!({}), expect![[r#"{"c":3,"a":{"x":[1]},"b":null}"#]]);
    check(schema.clone(), json!({ "a": 1, "d": 2 }), expect![[r#"{"a":1,"d":2,"c":3,"b":null}"#]]);
    check(schema.clone(), json!({ "c": null, "a": null, "b": 1 }), expect![[r#"{"c":null,"a":null,"b":1}"#]]);
    check(schema, json!([1]), expect!["[1]"]);
}

#[test]
fn defaults_are_found_at_every_depth() {
    let schema = json!({
        "properties": {
            "list": { "items": { "properties": { "on": { "default": true } } } },
            "pair": { "prefixItems": [{}, { "properties": { "n": { "default": 0 } } }] },
            "inner": { "properties": { "deep": { "properties": { "x": { "default": 1 } } } } },
        },
        "additionalProperties": { "properties": { "y": { "default": 2 } } },
    });
    check(
        schema.clone(),
        json!({ "list": [{}, { "on": false }, 5], "pair": [{}, {}], "inner": { "deep": {} }, "other": {} }),
        expect![[
            r#"{"list":[{"on":true},{"on":false},5],"pair":[{},{"n":0}],"inner":{"deep":{"x":1}},"other":{"y":2}}"#
        ]],
    );
    // An object that is absent and has no default of its own is not made up.
    check(schema, json!({ "inner": {} }), expect![[r#"{"inner":{}}"#]]);
}

#[test]
fn defaults_come_through_references_and_all_of_and_not_through_choices() {
    let holder = json!({ "properties": { "x": { "default": 1 } } });
    check(json!({ "$ref": "#/$defs/h", "$defs": { "h": holder } }), json!({}), expect![[r#"{"x":1}"#]]);
    check(
        json!({ "allOf": [holder, { "properties": { "y": { "default": 2 } } }] }),
        json!({}),
        expect![[r#"{"x":1,"y":2}"#]],
    );
    check(
        json!({ "properties": { "p": { "$ref": "#/$defs/d" } }, "$defs": { "d": { "default": 7 } } }),
        json!({}),
        expect![[r#"{"p":7}"#]],
    );
    for keyword in ["anyOf", "oneOf"] {
        check(json!({ keyword: [holder] }), json!({}), expect!["{}"]);
    }
    check(json!({ "if": true, "then": holder }), json!({}), expect!["{}"]);
}

#[test]
fn nearest_default_wins() {
    let schema = json!({
        "properties": { "p": { "$ref": "#/$defs/d", "default": 1 } },
        "allOf": [{ "properties": { "p": { "default": 3 } } }],
        "$defs": { "d": { "default": 2 } },
    });
    check(schema, json!({}), expect![[r#"{"p":1}"#]]);
}

#[test]
fn default_object_is_filled_in_turn() {
    let schema = json!({ "properties": { "o": { "default": {}, "properties": { "a": { "default": 1 } } } } });
    check(schema, json!({}), expect![[r#"{"o":{"a":1}}"#]]);
}

#[test]
fn default_that_holds_itself_is_given_once() {
    let schema = Schema::compile(&json!({ "properties": { "next": { "$ref": "#/$defs/n" } }, "$defs": {
        "n": { "default": {}, "properties": { "next": { "$ref": "#/$defs/n" }, "v": { "default": 0 } } },
    } }))
    .unwrap();
    let mut value = json!({});
    assert!(schema.with_defaults(&mut value));
    assert_eq!(value, json!({ "next": { "v": 0 } }));
}

#[test]
fn defaults_that_multiply_stop_at_a_bound() {
    let mut defs = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1), "default": {} });
        defs.insert(format!("d{level}"), json!({ "properties": { "a": next, "b": next } }));
    }
    defs.insert("d20".to_owned(), json!({}));
    let schema = Schema::compile(&json!({ "$ref": "#/$defs/d0", "$defs": defs })).unwrap();
    let mut value = json!({});
    assert!(schema.with_defaults(&mut value));
    assert!(value.to_string().len() < 1_000_000);

    let long = json!({ "items": { "properties": { "t": { "default": "x".repeat(1_000_000) } } } });
    let mut value = json!(vec![json!({}); 1_000]);
    Schema::compile(&long).unwrap().with_defaults(&mut value);
    assert!(value.to_string().len() < 20_000_000);
}

#[test]
fn schema_without_defaults_changes_nothing() {
    check(
        json!({ "properties": { "a": { "type": "integer" } } }),
        json!({ "b": [{}] }),
        expect![[r#"{"b":[{}]}"#]],
    );
    check(json!(true), json!({}), expect!["{}"]);
}
