//! What compiles, what fits, and what is said about the rest.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

mod hostile;

fn compile(document: Value) -> Schema {
    Schema::compile(&document).unwrap_or_else(|fault| panic!("{document} is refused: {fault}"))
}

/// Shows why a document is no schema.
#[track_caller]
fn refused(document: Value, expected: Expect) {
    let fault = Schema::compile(&document).expect_err("the schema is refused");
    expected.assert_eq(&fault.to_string());
}

/// Shows every fault of a value, one to a line.
#[track_caller]
fn check(schema: Value, value: Value, expected: Expect) {
    let schema = compile(schema);
    let faults = schema.faults(&value);
    assert_eq!(schema.is_valid(&value), faults.is_empty());
    let lines: Vec<String> =
        faults.into_iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn document_that_is_no_schema_is_refused_with_the_place() {
    refused(json!(null), expect!["a schema must be an object or a boolean"]);
    refused(json!([]), expect!["a schema must be an object or a boolean"]);
    refused(
        json!({ "type": "wish" }),
        expect![[
            r#"the schema is invalid at `/type`: must be one of "array", "boolean", "integer", "null", "number", "object", "string""#
        ]],
    );
    refused(
        json!({ "properties": { "a": { "minimum": "1" } } }),
        expect!["the schema is invalid at `/properties/a/minimum`: must be a number, not a string"],
    );
    refused(
        json!({ "required": "a" }),
        expect!["the schema is invalid at `/required`: must be an array, not a string"],
    );
    refused(
        json!({ "properties": [] }),
        expect!["the schema is invalid at `/properties`: must be an object, not an array"],
    );
    refused(
        json!({ "type": ["string", "string"] }),
        expect!["the schema is invalid at `/type`: must not contain two equal items"],
    );
    refused(json!({ "minLength": -1 }), expect!["the schema is invalid at `/minLength`: must be at least 0"]);
    refused(
        json!({ "pattern": "(" }),
        expect![
            "the schema is invalid at `/pattern`: a pattern must be a regular expression of ECMA-262 (with the flag `u`) of moderate size, without look-around, back-references and flags inside"
        ],
    );
    refused(
        json!({ "properties": { "a": { "pattern": "(?=a)" } } }),
        expect![
            "the schema is invalid at `/properties/a/pattern`: a pattern must be a regular expression of ECMA-262 (with the flag `u`) of moderate size, without look-around, back-references and flags inside"
        ],
    );
    refused(
        json!({ "patternProperties": { "(a)\\1": {} } }),
        expect![[
            r#"the schema is invalid at `/patternProperties/(a)\1`: a pattern must be a regular expression of ECMA-262 (with the flag `u`) of moderate size, without look-around, back-references and flags inside"#
        ]],
    );
    refused(
        json!({ "pattern": "(\\p{L}{100}){100}" }),
        expect![
            "the schema is invalid at `/pattern`: a pattern must be a regular expression of ECMA-262 (with the flag `u`) of moderate size, without look-around, back-references and flags inside"
        ],
    );
}

#[test]
fn reference_that_leads_nowhere_or_outside_is_refused() {
    refused(
        json!({ "$ref": "#/$defs/none" }),
        expect!["the schema refers to `#/$defs/none`, which does not exist"],
    );
    refused(json!({ "$ref": "#none" }), expect!["the schema refers to `#none`, which does not exist"]);
    refused(
        json!({ "$ref": "https://example.com/schema.json" }),
        expect![
            "the schema refers to `https://example.com/schema.json`, which is not part of it; nothing is fetched"
        ],
    );
    refused(
        json!({ "$ref": "http://127.0.0.1:1/x" }),
        expect!["the schema refers to `http://127.0.0.1:1/x`, which is not part of it; nothing is fetched"],
    );
    refused(
        json!({ "$ref": "file:///etc/passwd" }),
        expect!["the schema refers to `file:///etc/passwd`, which is not part of it; nothing is fetched"],
    );
    refused(
        json!({ "$ref": "other.json" }),
        expect!["the schema refers to `other.json`, which is not part of it; nothing is fetched"],
    );
    refused(
        json!({ "$id": "https://example.com/a", "$ref": "b" }),
        expect!["the schema refers to `https://example.com/b`, which is not part of it; nothing is fetched"],
    );
    refused(
        json!({ "items": { "$dynamicRef": "https://example.com/x#m" } }),
        expect!["the schema refers to `https://example.com/x`, which is not part of it; nothing is fetched"],
    );
    refused(
        json!({ "$id": "::not a uri", "type": "object" }),
        expect![
            "the schema is invalid at ``: must have an `$id`, anchors and references that are well formed"
        ],
    );
    refused(
        json!({ "properties": { "a": { "$id": "::not a uri" } } }),
        expect![
            "the schema is invalid at ``: must have an `$id`, anchors and references that are well formed"
        ],
    );
    refused(
        json!({ "properties": { "a": { "$ref": "::not a uri" } } }),
        expect![
            "the schema is invalid at ``: must have an `$id`, anchors and references that are well formed"
        ],
    );
    refused(
        json!({ "$defs": { "a": { "$anchor": "x" }, "b": { "$anchor": "x" } }, "$ref": "#y" }),
        expect!["the schema refers to `#y`, which does not exist"],
    );
    refused(
        json!({ "$id": "https://example.com/#frag" }),
        expect!["the schema is invalid at `/$id`: must match the pattern `^[^#]*#?$`"],
    );
}

#[test]
fn booleans_and_the_empty_object_are_schemas() {
    assert!(compile(json!(true)).is_valid(&json!(1)));
    assert!(compile(json!({})).is_valid(&json!(1)));
    check(json!(false), json!(1), expect![": is not allowed"]);
}

#[test]
fn every_schema_is_read_as_2020_12_whatever_it_says_it_is() {
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://example.com/my-own-dialect",
    ] {
        let schema = compile(json!({
            "$schema": dialect,
            "type": "object",
            "properties": { "a": { "$ref": "#/definitions/small", "minimum": 3 } },
            "definitions": { "small": { "type": "integer", "maximum": 9 } },
        }));
        assert!(schema.is_valid(&json!({ "a": 5 })), "{dialect}");
        // In draft 7 the `minimum` beside a reference would be ignored.
        assert!(!schema.is_valid(&json!({ "a": 2 })), "{dialect}");
        assert!(!schema.is_valid(&json!({ "a": 10 })), "{dialect}");
        let tree = compile(json!({
            "$schema": dialect,
            "properties": { "n": { "$ref": "#", "minProperties": 1 }, "v": { "type": "integer" } },
        }));
        assert!(tree.is_valid(&json!({ "n": { "v": 1 } })), "{dialect}");
        assert!(!tree.is_valid(&json!({ "n": {} })), "{dialect}");
        assert!(!tree.is_valid(&json!({ "n": { "v": "x" } })), "{dialect}");
    }
}

#[test]
fn what_clients_would_stumble_over_is_refused() {
    for pattern in ["(?i)^abc$", r"\Aabc\z", "(?P<n>x)", "(?x) a b", "a++", "[[:alpha:]]", r"\@"] {
        for (document, path) in [
            (json!({ "pattern": pattern }), "/pattern".to_owned()),
            (json!({ "$defs": { "a": { "pattern": pattern } } }), "/$defs/a/pattern".to_owned()),
            (json!({ "patternProperties": { pattern: {} } }), format!("/patternProperties/{pattern}")),
        ] {
            assert_eq!(Schema::compile(&document).unwrap_err(), SchemaFault::Pattern { path });
        }
    }
    refused(
        json!({ "properties": { "a": { "enum": [] } } }),
        expect![
            "the schema is invalid at `/properties/a/enum`: must have at least one value: an empty list allows nothing"
        ],
    );
    compile(
        json!({ "const": { "enum": [], "pattern": "(?i)" }, "properties": { "enum": {}, "pattern": {} } }),
    );
}

#[test]
fn meta_schema_can_be_referred_to_without_being_fetched() {
    let schema =
        compile(json!({ "properties": { "s": { "$ref": "https://json-schema.org/draft/2020-12/schema" } } }));
    assert!(schema.is_valid(&json!({ "s": { "type": "string" } })));
    assert!(!schema.is_valid(&json!({ "s": { "type": "wish" } })));
}

#[test]
fn faults_are_said_in_plain_words() {
    let schema = json!({
        "type": "object",
        "properties": {
            "years": { "type": "integer", "minimum": 1, "maximum": 50 },
            "rate": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
            "level": { "enum": ["low", "high", 3, null] },
            "kind": { "const": "loan" },
            "name": { "type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$" },
            "born": { "type": "string", "format": "date" },
            "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3, "uniqueItems": true },
            "step": { "multipleOf": 5 },
            "note": { "type": ["string", "null"] },
            "never": false,
            "sizes": { "type": "object", "minProperties": 1, "maxProperties": 2 },
        },
        "required": ["years", "rate"],
        "additionalProperties": false,
    });
    check(schema.clone(), json!({ "years": 1, "rate": 0.5 }), expect![""]);
    check(
        schema.clone(),
        json!({}),
        expect![[r#"
            /rate: is required
            /years: is required"#]],
    );
    check(
        schema.clone(),
        json!({ "years": 0, "rate": 1, "level": "x", "kind": "gift", "name": "A", "step": 3 }),
        expect![[r#"
            /kind: must be "loan"
            /level: must be one of "low", "high", 3, null
            /name: must have at least 2 characters
            /name: must match the pattern `^[a-z]+$`
            /rate: must be less than 1
            /step: must be a multiple of 5
            /years: must be at least 1"#]],
    );
    check(
        schema.clone(),
        json!({ "years": "3", "rate": null, "note": 1, "never": 1, "extra": 1, "m/n": 1 }),
        expect![[r#"
        /extra: is not a known property
        /m~1n: is not a known property
        /never: is not allowed
        /note: must be a string or null, not a number
        /rate: must be a number, not null
        /years: must be an integer, not a string"#]],
    );
    check(
        schema.clone(),
        json!({ "years": 1.5, "rate": 0, "name": "abcdef", "born": "31.1.2026", "sizes": {} }),
        expect![[r#"
        /born: must be a valid date
        /name: must have at most 5 characters
        /rate: must be more than 0
        /sizes: must have at least 1 property
        /years: must be an integer, not a number"#]],
    );
    check(
        schema.clone(),
        json!({ "years": 51, "rate": 0.1, "tags": ["a", 1, "a", true], "sizes": [] }),
        expect![[r#"
        /sizes: must be an object, not an array
        /tags: must have at most 3 items
        /tags: must not contain two equal items
        /tags/1: must be a string, not a number
        /tags/3: must be a string, not a boolean
        /years: must be at most 50"#]],
    );
    check(schema, json!([1]), expect![": must be an object, not an array"]);
}

#[test]
fn faults_of_a_choice_are_those_of_the_form_that_was_meant() {
    let optional = json!({ "properties": { "a": { "anyOf": [{ "type": "object", "required": ["b"] }, { "type": "null" }] } } });
    check(optional.clone(), json!({ "a": {} }), expect!["/a/b: is required"]);
    check(optional.clone(), json!({ "a": 1 }), expect!["/a: must be an object or null, not a number"]);
    check(optional, json!({ "a": null }), expect![""]);
    let tagged = json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "a" }, "x": { "type": "integer" } }, "required": ["kind", "x"] },
        { "type": "object", "properties": { "kind": { "const": "b" }, "y": { "type": "integer" } }, "required": ["kind", "y"] },
    ] });
    check(tagged.clone(), json!({ "kind": "b", "x": 1 }), expect!["/y: is required"]);
    check(tagged, json!({ "kind": "c" }), expect![": must match at least one of the allowed forms"]);
    check(
        json!({ "anyOf": [{ "minimum": 5 }, { "maximum": 1 }] }),
        json!(3),
        expect![": must match at least one of the allowed forms"],
    );
    check(
        json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 5 }] }),
        json!(3),
        expect![": must match exactly one of the allowed forms, and matches several"],
    );
    check(
        json!({ "not": { "type": "string" } }),
        json!("x"),
        expect![": must not match the schema in `not`"],
    );
}

#[test]
fn faults_of_the_rarer_keywords_have_words_too() {
    check(
        json!({ "propertyNames": { "maxLength": 3 } }),
        json!({ "long-name": 1 }),
        expect![[r#": must not have a property "long-name": its name must have at most 3 characters"#]],
    );
    check(
        json!({ "contains": { "type": "integer" } }),
        json!(["a"]),
        expect![": must contain the required number of items that match `contains`"],
    );
    check(json!({ "dependentRequired": { "a": ["b"] } }), json!({ "a": 1 }), expect!["/b: is required"]);
    check(
        json!({ "properties": { "a": {} }, "unevaluatedProperties": false }),
        json!({ "a": 1, "b": 2 }),
        expect!["/b: is not a known property"],
    );
    check(json!({ "prefixItems": [{}], "items": false }), json!([1, 2]), expect!["/1: is not allowed"]);
    check(
        json!({ "prefixItems": [{}], "unevaluatedItems": false }),
        json!([1, 2]),
        expect![": must not contain items that the schema does not describe"],
    );
    check(
        json!({ "if": { "type": "integer" }, "then": { "minimum": 5 } }),
        json!(3),
        expect![": must be at least 5"],
    );
    check(
        json!({ "enum": (0..30).collect::<Vec<_>>() }),
        json!(30),
        expect![": must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more"],
    );
}

#[test]
fn formats_are_checked_and_unknown_ones_are_not() {
    for (format, good, bad) in [
        ("date", "2026-01-31", "2026-02-30"),
        ("date-time", "2026-01-31T12:00:00Z", "2026-01-31 12:00"),
        ("time", "12:00:00Z", "25:00:00Z"),
        ("duration", "P1D", "1 day"),
        ("email", "a@example.com", "a.example.com"),
        ("uri", "https://example.com/a?b=c", "example"),
        ("uuid", "01980a3e-0000-7000-8000-000000000000", "01980a3e"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001:::1"),
        ("hostname", "example.com", "-example-.com"),
        ("json-pointer", "/a/0", "a"),
        ("regex", "^a+$", "("),
    ] {
        let schema = compile(json!({ "type": "string", "format": format }));
        assert!(schema.is_valid(&json!(good)), "{format} {good}");
        assert!(!schema.is_valid(&json!(bad)), "{format} {bad}");
    }
    assert!(compile(json!({ "format": "password" })).is_valid(&json!("x")));
}

#[test]
fn messages_never_repeat_long_values() {
    let long = "x".repeat(10_000);
    let schema = compile(json!({
        "properties": { "a": { "enum": [long, "y"] }, "b": { "const": long }, "c": { "pattern": "y".repeat(8_000) } },
        "required": [long],
    }));
    for fault in schema.faults(&json!({ "a": long.clone() + "z", "b": long.clone() + "z", "c": long })) {
        assert!(fault.message.chars().count() < 200, "{}", fault.message);
    }
}

#[test]
fn first_missing_goes_by_the_order_of_the_schema() {
    let schema = compile(json!({ "required": ["b", "a"], "allOf": [{ "required": ["c"] }] }));
    assert_eq!(schema.first_missing(&json!({})).as_deref(), Some("b"));
    assert_eq!(schema.first_missing(&json!({ "a": 1, "b": null })).as_deref(), Some("c"));
    assert_eq!(schema.first_missing(&json!({ "c": 1, "b": null })).as_deref(), Some("a"));
    assert_eq!(schema.first_missing(&json!({ "a": 1, "b": 1, "c": 1 })), None);
    assert_eq!(schema.first_missing(&json!([])), None);
}

#[test]
fn faults_are_at_most_a_hundred_and_always_in_the_same_order() {
    let schema = compile(json!({ "items": { "type": "string" } }));
    let value = Value::from((0..5_000).collect::<Vec<_>>());
    let faults = schema.faults(&value);
    assert_eq!(faults.len(), FAULTS_MAX);
    let paths: Vec<_> = faults.iter().map(|fault| fault.path.clone()).collect();
    assert_eq!(paths, (0..100).map(|index| format!("/{index}")).collect::<Vec<_>>());
    assert_eq!(faults, schema.faults(&value));
}

#[test]
fn clone_is_the_same_schema_and_can_be_sent() {
    fn sendable<T: Send + Sync + 'static>(_: &T) {}
    let schema = compile(json!({ "b": 1, "a": 2 }));
    sendable(&schema);
    let clone = schema.clone();
    assert!(std::ptr::eq(schema.document(), clone.document()));
    assert_eq!(schema.digest(), canonical::digest(&json!({ "a": 2, "b": 1 })));
    assert!(format!("{schema:?}").starts_with("Schema { digest: Digest("));
}
