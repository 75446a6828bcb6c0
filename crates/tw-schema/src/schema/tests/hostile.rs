//! Schemas and values that were made to hurt. None of these tests looks at a clock: where the guard
//! is missing, they do not end.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{compile, refused};
use crate::{Schema, SchemaFault, strict};

/// `depth` definitions, each made from the reference to the next by `step`, and the last a leaf.
fn chain(depth: usize, step: impl Fn(Value) -> Value) -> Value {
    let reference = |level: usize| json!({ "$ref": format!("#/$defs/d{level}") });
    let mut defs: Map<String, Value> =
        (0..depth).map(|level| (format!("d{level}"), step(reference(level + 1)))).collect();
    defs.insert(format!("d{depth}"), json!({ "type": "integer" }));
    json!({ "$ref": "#/$defs/d0", "$defs": defs })
}

/// A value nested in itself under one key.
fn nested(depth: usize, key: &str, leaf: Value) -> Value {
    (0..depth).fold(leaf, |inner, _| json!({ key: inner }))
}

#[test]
fn schema_that_doubles_at_every_step_is_refused() {
    let document = chain(20, |next| json!({ "allOf": [next, next] }));
    assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::TooComplex);
    let document = chain(20, |next| json!({ "anyOf": [next, next] }));
    assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::TooComplex);
    // The same, one level of the value deeper at every step.
    let document = chain(20, |next| json!({ "properties": { "a": { "allOf": [next, next] } } }));
    assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::TooComplex);
    let document = chain(20, |next| json!({ "allOf": [{ "items": next }, { "items": next }] }));
    assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::TooComplex);
}

/// A document that leads into a bomb by every keyword that may hold a schema, each by itself.
fn leading_to(bomb: &Value) -> Vec<Value> {
    let one = [
        "not",
        "if",
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "$ref",
        "$dynamicRef",
    ];
    let list = ["allOf", "anyOf", "oneOf", "prefixItems"];
    let named = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
    let one = one.map(|keyword| match keyword {
        "$ref" | "$dynamicRef" => json!({ keyword: bomb["$ref"] }),
        _ => json!({ keyword: bomb }),
    });
    let list = list.map(|keyword| json!({ keyword: [bomb] }));
    let named = named.map(|keyword| json!({ keyword: { "a": bomb } }));
    let branch = ["then", "else"].map(|keyword| json!({ "if": true, keyword: bomb }));
    one.into_iter().chain(list).chain(named).chain(branch).collect()
}

#[test]
fn doubling_is_found_behind_every_keyword() {
    let mut document = chain(33, |next| json!({ "allOf": [next, next] }));
    let bomb = json!({ "$ref": "#/$defs/d0" });
    for mut leading in leading_to(&bomb) {
        leading["$defs"] = document["$defs"].clone();
        assert_eq!(Schema::compile(&leading).unwrap_err(), SchemaFault::TooComplex, "{leading}");
    }
    // Behind a place that only a reference leads to.
    document["x-part"] = json!({ "dependencies": { "a": bomb, "b": ["c"] } });
    document["$ref"] = json!("#/x-part");
    assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::TooComplex);
}

#[test]
fn keywords_of_older_drafts_are_followed_or_refused_wherever_they_stand() {
    let schema = compile(json!({ "dependencies": { "a": ["b"], "b": { "required": ["c"] } } }));
    assert!(schema.is_valid(&json!({ "a": 1, "b": 1, "c": 1 })));
    assert_eq!(schema.faults(&json!({ "a": 1 }))[0].path, "/b");
    assert_eq!(schema.faults(&json!({ "b": 1 }))[0].path, "/c");
    refused(
        json!({ "$ref": "#/x-part", "x-part": { "items": [{}], "additionalItems": false } }),
        expect![
            "the schema is invalid at ``: refers to an invalid part: its `items` must be one schema; for a list of schemas use `prefixItems`"
        ],
    );
    // These mean nothing in 2020-12, and the validator does not look at them.
    compile(
        json!({ "extends": 1, "disallow": [], "divisibleBy": {}, "$recursiveRef": "#", "additionalItems": {} }),
    );
    let content = chain(33, |next| json!({ "allOf": [next, next] }));
    compile(json!({ "contentSchema": { "$ref": "#/$defs/d0" }, "$defs": content["$defs"] }));
}

#[test]
fn part_of_another_dialect_is_refused() {
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://example.com/my-own-dialect",
    ] {
        for id in [json!(null), json!("https://example.com/part")] {
            let mut part = json!({ "$schema": dialect, "type": "object", "properties": { "x": true } });
            if id.is_string() {
                part["$id"] = id;
            }
            let fault = Schema::compile(&json!({ "properties": { "a": part } })).unwrap_err();
            assert_eq!(fault.path(), "/properties/a/$schema", "{fault}");
            let fault = Schema::compile(&json!({ "$defs": { "a": part } })).unwrap_err();
            assert_eq!(fault.path(), "/$defs/a/$schema", "{fault}");
            for reference in ["#/x-part", "#/x-part/properties/x", "https://example.com/part"] {
                let document = json!({ "properties": { "a": { "$ref": reference } }, "x-part": part });
                let fault = Schema::compile(&document);
                // The inside of it is read like everything else.
                assert!(fault.is_err() || reference.ends_with("/x"), "{document}");
            }
        }
    }
    let same = "https://json-schema.org/draft/2020-12/schema";
    compile(json!({ "properties": { "a": { "$schema": same, "$id": "https://example.com/part" } } }));
    compile(json!({ "properties": { "$schema": { "type": "string" } }, "default": { "$schema": "x" } }));
    refused(
        json!({ "$ref": "http://json-schema.org/draft-07/schema#" }),
        expect![
            "the schema refers to `http://json-schema.org/draft-07/schema`, which is not part of it; nothing is fetched"
        ],
    );
}

#[test]
fn schema_with_many_paths_but_few_at_one_place_compiles() {
    let schema = compile(chain(20, |next| json!({ "properties": { "a": next, "b": next } })));
    assert!(schema.is_valid(&nested(20, "a", json!(1))));
    assert!(!schema.is_valid(&nested(20, "b", json!("x"))));
}

#[test]
fn reference_to_itself_at_the_same_place_is_refused() {
    refused(json!({ "$ref": "#" }), expect!["the schema refers to itself endlessly for the same value"]);
    refused(
        json!({ "allOf": [{ "$ref": "#" }] }),
        expect!["the schema refers to itself endlessly for the same value"],
    );
    refused(
        json!({ "not": { "$ref": "#" } }),
        expect!["the schema refers to itself endlessly for the same value"],
    );
    let mutual = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "anyOf": [{ "$ref": "#/$defs/a" }] } } });
    refused(mutual, expect!["the schema refers to itself endlessly for the same value"]);
    refused(
        json!({ "$dynamicAnchor": "x", "$dynamicRef": "#x" }),
        expect!["the schema refers to itself endlessly for the same value"],
    );
}

#[test]
fn recursion_that_goes_down_with_the_value_is_welcome() {
    let tree = compile(json!({
        "type": "object",
        "properties": { "value": { "type": "integer" }, "children": { "type": "array", "items": { "$ref": "#" } } },
        "required": ["value"],
    }));
    assert!(tree.is_valid(&json!({ "value": 1, "children": [{ "value": 2, "children": [] }] })));
    let faults = tree.faults(&json!({ "value": 1, "children": [{ "value": 2 }, {}] }));
    assert_eq!(faults[0].path, "/children/1/value");
    let mutual = compile(json!({
        "$ref": "#/$defs/a",
        "$defs": {
            "a": { "properties": { "b": { "$ref": "#/$defs/b" } } },
            "b": { "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } } },
        },
    }));
    assert!(mutual.is_valid(&json!({ "b": { "a": { "b": {} } } })));
    assert!(!mutual.is_valid(&json!({ "b": { "a": { "b": 1 } } })));
}

#[test]
fn recursion_that_doubles_at_every_level_of_the_value_is_still_checked() {
    let node = json!({ "properties": { "n": { "allOf": [{ "$ref": "#/$defs/n" }, { "$ref": "#/$defs/n" }] } }, "type": "object" });
    let schema = compile(json!({ "$ref": "#/$defs/n", "$defs": { "n": node } }));
    assert!(schema.is_valid(&nested(100, "n", json!({}))));
    let wrong = nested(100, "n", json!(1));
    assert!(!schema.is_valid(&wrong));
    let faults = schema.faults(&wrong);
    assert_eq!((faults.len(), faults[0].message.as_str()), (1, "does not fit the schema"));
    // A value of ordinary depth is told its faults.
    assert_eq!(schema.faults(&nested(5, "n", json!(1)))[0].path, "/n/n/n/n/n");

    let twice = json!({ "type": "object", "properties": { "n": { "$ref": "#" } }, "patternProperties": { "n": { "$ref": "#" } } });
    let schema = compile(twice);
    assert!(schema.is_valid(&nested(100, "n", json!({}))));
    assert_eq!(schema.faults(&nested(100, "n", json!(1))).len(), 1);

    let forms: Vec<Value> = (0..10)
        .map(|n| json!({ "type": "object", "properties": { "n": { "$ref": "#" } }, "required": [format!("k{n}")] }))
        .collect();
    let schema = compile(json!({ "anyOf": forms }));
    let wrong = nested(100, "n", json!(1));
    assert!(!schema.is_valid(&wrong));
    assert_eq!(schema.faults(&wrong).len(), 1);
}

#[test]
fn longest_chain_that_compiles_fits_on_the_stack_with_the_deepest_value() {
    let links = |count: usize| {
        let mut document = chain(count, |next| json!({ "allOf": [next] }));
        document["$defs"][format!("d{count}")] =
            json!({ "type": "object", "properties": { "n": { "$ref": "#" } } });
        document
    };
    let longest = (1..40).rev().find_map(|count| Schema::compile(&links(count)).ok());
    let schema = longest.expect("a short chain compiles");
    assert!(schema.is_valid(&nested(127, "n", json!({}))));
    let mut wrong = nested(126, "n", json!(1));
    assert!(!schema.faults(&wrong).is_empty());
    schema.coerce(&mut wrong);
    schema.with_defaults(&mut wrong);
    let document = chain(900, |next| json!({ "allOf": [next] }));
    assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::TooComplex);
}

#[test]
fn pattern_made_for_backtracking_is_linear() {
    let text = "a".repeat(50_000) + "!";
    for pattern in ["^(a+)+$", "^(a|a)*$", "(x+x+)+y", "^([a-z]+)*$"] {
        let schema = compile(json!({ "type": "string", "pattern": pattern }));
        assert!(!schema.is_valid(&json!(text)), "{pattern}");
        assert_eq!(schema.faults(&json!(text)).len(), 1);
    }
    let schema = compile(json!({ "patternProperties": { "^(a+)+$": false } }));
    assert!(schema.is_valid(&json!({ text: 1 })));
}

#[test]
fn text_that_a_heavy_pattern_would_take_long_for_is_refused() {
    for pattern in ["(a{30}){1000}", "[ab]*a[ab]{500}c", ".*a(.{30}){30}c"] {
        let schema = compile(json!({ "items": { "allOf": [{ "pattern": pattern }] } }));
        let faults = schema.faults(&json!(["ab".repeat(500_000)]));
        assert_eq!(faults[0].message, "is too large to be checked against this schema", "{pattern}");
        assert_eq!(schema.faults(&json!(["ab".repeat(1_000)]))[0].path, "/0", "{pattern}");
    }
    let light = compile(json!({ "type": "string", "pattern": "^[A-Za-z0-9+/]+={0,2}$" }));
    assert!(light.is_valid(&json!("QUJD".repeat(1_000_000))));
    let names = compile(json!({ "patternProperties": { "(a{30}){1000}": {} } }));
    assert!(!names.is_valid(&json!({ "a".repeat(100_000): 1 })));
}

#[test]
fn items_that_have_to_differ_many_times_over_are_refused_when_there_are_many() {
    let value = Value::from_iter(0..100_000);
    assert!(compile(json!({ "uniqueItems": true })).is_valid(&value));
    let many = compile(json!({ "allOf": vec![json!({ "uniqueItems": true }); 60] }));
    assert_eq!(many.faults(&value)[0].message, "is too large to be checked against this schema");
}

#[test]
fn everyday_patterns_fit_in_the_limit() {
    for pattern in [
        r"^[\w.%+-]+@[\w.-]+\.\w{2,}$",
        r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$",
        r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        r"^\p{L}[\p{L}\p{N} '-]{0,99}$",
        r"^.{1,1000}$",
        r"^[A-Za-z0-9_-]{1,1000}$",
    ] {
        compile(json!({ "pattern": pattern }));
    }
}

#[test]
fn schema_beyond_the_limits_is_refused() {
    let deep = |depth: usize| {
        (0..depth)
            .fold(json!({}), |inner, _| Value::Object([("items".to_owned(), inner)].into_iter().collect()))
    };
    compile(deep(60));
    refused(deep(64), expect!["a schema must have at most 64 levels"]);
    let very_deep = deep(10_000);
    assert!(matches!(Schema::compile(&very_deep), Err(SchemaFault::TooLarge { what: "levels", .. })));
    // Dropping it would take the recursion that this crate avoids.
    std::mem::forget(very_deep);
    let wide = |count: usize| json!({ "properties": (0..count).map(|n| (format!("p{n}"), json!({}))).collect::<Map<_, _>>() });
    compile(wide(2_000));
    refused(wide(2_001), expect!["a schema must have at most 2000 properties in one object"]);
    let many = |count: usize| json!({ "properties": (0..count).map(|n| (format!("p{n}"), wide(999))).collect::<Map<_, _>>() });
    compile(many(10));
    refused(many(50), expect!["a schema must have at most 50000 values"]);
    refused(
        json!({ "required": (0..2_001).map(|n| n.to_string()).collect::<Vec<_>>() }),
        expect!["a schema must have at most 2000 required properties in one object"],
    );
    refused(
        json!({ "items": { "anyOf": vec![json!({}); 1_001] } }),
        expect!["a schema must have at most 1000 subschemas in one list"],
    );
    let below = json!({ "properties": { "a/b": { "items": [{ "required": vec!["x"; 2_001] }] } } });
    assert_eq!(Schema::compile(&below).unwrap_err().path(), "/properties/a~1b/items/0");
    refused(
        json!({ "pattern": "a".repeat(8193) }),
        expect!["a schema must have at most 8192 bytes in one regular expression"],
    );
    compile(json!({ "enum": (0..10_000).collect::<Vec<_>>() }));
    refused(
        json!({ "enum": (0..10_001).collect::<Vec<_>>() }),
        expect!["a schema must have at most 10000 entries in all `enum`s together"],
    );
    refused(
        json!({ "enum": ["x".repeat(50_000_000)] }),
        expect!["a schema must have at most 4194304 bytes of text"],
    );
    let patterns = (0..300).map(|n| (format!("^{n}$"), json!({}))).collect::<Map<_, _>>();
    refused(
        json!({ "patternProperties": patterns }),
        expect!["a schema must have at most 256 regular expressions"],
    );
    refused(
        json!({ "allOf": vec![json!({ "allOf": (0..700).map(|n| json!({ "minimum": n })).collect::<Vec<_>>() }); 3] }),
        expect!["the schema is too complex: too many subschemas apply to one value"],
    );
}

#[test]
fn huge_value_is_checked_and_told_one_fault_at_least() {
    let schema = compile(json!({ "type": "array", "items": { "type": "string" } }));
    let value = Value::from(vec![0; 1_000_000]);
    assert_eq!(schema.faults(&value)[0].path, "/0");
    let choices: Vec<Value> = (0..500).map(|n| json!({ "const": n })).collect();
    let schema = compile(json!({ "anyOf": choices }));
    assert!(!schema.faults(&json!({ "text": "x".repeat(5_000_000) })).is_empty());
    let heavy = compile(
        json!({ "items": { "allOf": (0..1_000).map(|n| json!({ "minimum": n })).collect::<Vec<_>>() } }),
    );
    let faults = heavy.faults(&value);
    assert_eq!(faults[0].message, "is too large to be checked against this schema");
}

/// Documents made of keywords in their right places with odd contents, many of them schemas.
fn any_document() -> impl Strategy<Value = Value> {
    let reference = prop::sample::select(vec![
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/$defs/none",
        "#x",
        "a",
        "b#x",
        "https://example.com/a",
        "urn:x",
        "",
        "#/properties/a",
        "https://json-schema.org/draft/2020-12/schema",
        "http://",
        "a b",
        "%",
        "#/%25",
        "#%",
    ]);
    let reference = reference.prop_map(Value::from);
    let types =
        prop::sample::select(vec!["object", "array", "string", "integer", "number", "boolean", "null"]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        types.prop_map(|name| json!({ "type": name })),
        reference.clone().prop_map(|target| json!({ "$ref": target })),
        reference.clone().prop_map(|target| json!({ "$dynamicRef": target })),
        strict::tests::any_value().prop_map(|value| json!({ "default": value, "enum": [value] })),
        (0..5).prop_map(
            |limit| json!({ "minLength": limit, "maximum": limit, "minItems": limit, "pattern": "^a" })
        ),
    ];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        let single = prop::sample::select(vec![
            "not",
            "if",
            "then",
            "else",
            "items",
            "contains",
            "additionalProperties",
            "unevaluatedProperties",
            "unevaluatedItems",
            "propertyNames",
        ]);
        let list = prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let map = prop::sample::select(vec!["properties", "$defs", "patternProperties", "dependentSchemas"]);
        let named = prop::collection::hash_map("[ab]", inner.clone(), 0..3);
        let named = named.prop_map(|named| Value::Object(named.into_iter().collect()));
        let identity = prop::sample::select(vec!["$id", "$anchor", "$dynamicAnchor", "$schema"]);
        let member = prop_oneof![
            (single, inner.clone()),
            (list, prop::collection::vec(inner, 1..3).prop_map(Value::from)),
            (map, named),
            (identity, prop_oneof![reference.clone(), Just(json!("x"))]),
        ];
        prop::collection::vec(member, 1..5).prop_map(|members| {
            Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        })
    })
}

proptest! {
    #[test]
    fn any_document_is_refused_or_works_on_any_value(document in any_document(), value in strict::tests::any_value()) {
        let Ok(schema) = Schema::compile(&document) else { return Ok(()) };
        prop_assert_eq!(schema.faults(&value).is_empty(), schema.is_valid(&value));
        let mut read = value;
        schema.coerce(&mut read);
        schema.with_defaults(&mut read);
        prop_assert_eq!(schema.faults(&read).is_empty(), schema.is_valid(&read));
        let _ = schema.first_missing(&read);
    }
}

#[test]
fn odd_identifiers_are_refused_or_harmless() {
    for id in [
        "",
        "#",
        "urn:x",
        "urn:x#",
        "a",
        "a#",
        "http://x/#",
        "http://x",
        "//x",
        "json-schema:///",
        "?q",
        "http://[::1]/é",
    ] {
        let document =
            json!({ "$id": id, "$ref": "#/$defs/a", "$defs": { "a": { "$id": id, "type": "string" } } });
        if let Ok(schema) = Schema::compile(&document) {
            let _ = schema.is_valid(&json!(1));
        }
        let document = json!({ "$id": id, "type": "string" });
        if let Ok(schema) = Schema::compile(&document) {
            assert!(!schema.is_valid(&json!(1)), "{id}");
        }
    }
}

#[test]
fn expensive_check_is_known_before_it_is_made() {
    let ordinary = compile(json!({
        "type": "object",
        "properties": {
            "email": { "type": "string", "pattern": r"^[\w.%+-]+@[\w.-]+\.\w{2,}$" },
            "id": { "type": "string", "pattern": r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" },
            "name": { "type": "string", "pattern": "^.{1,200}$" },
            "lines": { "type": "array", "items": { "type": "object", "properties": { "n": { "type": "integer" } } } },
        },
    }));
    for bytes in [0, 200, 2_000] {
        assert!(ordinary.is_quick(bytes), "{bytes}");
    }
    let many = json!({ "items": { "allOf": vec![json!({ "maximum": 9 }); 90] } });
    assert!(compile(many.clone()).is_quick(1_000) && !compile(many).is_quick(200_000));
    let pattern = json!({ "pattern": "[ab]*a[ab]{150}c" });
    assert!(!compile(pattern).is_quick(20_000));
}
