//! What is read as something else, and what is left for the full check.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Schema, strict};

/// Coerces a value and shows the result, with one line for every change.
#[track_caller]
fn check(schema: Value, mut value: Value, expected: Expect) {
    let schema = Schema::compile(&schema).unwrap();
    let done = schema.coerce(&mut value);
    let mut shown = value.to_string();
    for change in done {
        shown.push_str(&format!("\n{}: {} -> {}", change.path, change.from, change.to));
    }
    expected.assert_eq(&shown);
}

/// One value under one schema: what it becomes. `None` is for unchanged.
#[track_caller]
fn becomes(schema: &Value, value: Value, expected: Option<Value>) {
    let mut read = value.clone();
    let done = Schema::compile(schema).unwrap().coerce(&mut read);
    let wanted = expected.clone().unwrap_or_else(|| value.clone());
    assert_eq!(read.to_string(), wanted.to_string(), "{value} under {schema}");
    assert_eq!(done.is_empty(), expected.is_none(), "{value} under {schema}");
}

#[test]
fn texts_become_numbers_where_only_those_fit() {
    let (number, integer) = (json!({ "type": "number" }), json!({ "type": "integer" }));
    becomes(&number, json!("5"), Some(json!(5)));
    becomes(&number, json!(" -2.5e3 "), Some(json!(-2500.0)));
    becomes(&integer, json!("18446744073709551615"), Some(json!(u64::MAX)));
    becomes(&integer, json!("5.0"), Some(json!(5.0)));
    for text in [
        "5.5",
        "five",
        "",
        "5 years",
        "0x5",
        "05",
        "+5",
        "1,000",
        "NaN",
        "1e999",
        "18446744073709551616",
        "[5]",
    ] {
        becomes(&integer, json!(text), None);
    }
    becomes(&number, json!("9".repeat(10_000)), None);
    becomes(&json!({ "type": ["number", "string"] }), json!("5"), None);
    becomes(&json!({ "type": ["number", "null"] }), json!("5"), Some(json!(5)));
    becomes(&json!({}), json!("5"), None);
    becomes(&json!({ "enum": [5, 10] }), json!("5"), Some(json!(5)));
    becomes(
        &json!({ "allOf": [{ "type": ["string", "integer"] }, { "type": "number" }] }),
        json!("5"),
        Some(json!(5)),
    );
    becomes(&number, json!(true), None);
    becomes(&number, json!(null), None);
}

#[test]
fn texts_become_booleans_where_only_those_fit() {
    let boolean = json!({ "type": "boolean" });
    becomes(&boolean, json!("true"), Some(json!(true)));
    becomes(&boolean, json!("False"), Some(json!(false)));
    for other in [json!("yes"), json!("1"), json!(1), json!(0), json!("")] {
        becomes(&boolean, other, None);
    }
    becomes(&json!({ "type": ["boolean", "string"] }), json!("true"), None);
}

#[test]
fn scalars_become_texts_where_nothing_else_fits() {
    let text = json!({ "type": "string" });
    becomes(&text, json!(5), Some(json!("5")));
    becomes(&text, json!(1.5), Some(json!("1.5")));
    becomes(&text, json!(u64::MAX), Some(json!("18446744073709551615")));
    becomes(&text, json!(true), Some(json!("true")));
    becomes(&json!({ "type": ["string", "null"] }), json!(5), Some(json!("5")));
    becomes(&json!({ "type": ["string", "boolean"] }), json!(5), None);
    for other in [json!(null), json!([1]), json!({})] {
        becomes(&text, other, None);
    }
}

#[test]
fn texts_become_the_structure_they_hold() {
    let (object, array) = (json!({ "type": "object" }), json!({ "type": "array" }));
    becomes(&object, json!(" {\"a\": [1]} "), Some(json!({ "a": [1] })));
    becomes(&array, json!("[1, \"b\"]"), Some(json!([1, "b"])));
    becomes(&object, json!("[1]"), None);
    becomes(&object, json!("{\"a\": 1, \"a\": 2}"), None);
    becomes(&object, json!("{'a': 1}"), None);
    becomes(&json!({ "type": ["object", "string"] }), json!("{}"), None);
    // What the text holds is read in turn.
    let nested = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    becomes(&nested, json!("{\"n\": \"5\"}"), Some(json!({ "n": 5 })));
}

#[test]
fn structure_in_a_text_never_makes_a_value_too_deep_to_read() {
    let schema = json!({ "items": { "$ref": "#" }, "type": "array" });
    let text = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    becomes(&schema, json!([text(126)]), Some(strict::parse(text(127).as_bytes()).unwrap()));
    becomes(&schema, json!([text(127)]), None);
}

#[test]
fn scalar_becomes_a_list_of_one_where_a_list_of_scalars_is_wanted() {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    becomes(&texts, json!("a"), Some(json!(["a"])));
    becomes(&texts, json!("[\"a\"]"), Some(json!(["a"])));
    becomes(&texts, json!(["a"]), None);
    let numbers = json!({ "type": "array", "items": { "type": "integer" } });
    becomes(&numbers, json!(5), Some(json!([5])));
    becomes(&numbers, json!("5"), Some(json!([5])));
    becomes(&numbers, json!("five"), None);
    for schema in [
        json!({ "type": "array" }),
        json!({ "type": "array", "items": {} }),
        json!({ "type": "array", "items": { "type": ["string", "array"] } }),
        json!({ "type": "array", "items": { "type": "object" } }),
        json!({ "type": ["array", "string"], "items": { "type": "string" } }),
    ] {
        becomes(&schema, json!("a"), None);
    }
    becomes(&texts, json!({}), None);
    becomes(&texts, json!(null), None);
}

#[test]
fn enum_entries_are_met_in_any_case_when_only_one_is_meant() {
    let level = json!({ "enum": ["low", "High", "ÉTÉ"] });
    becomes(&level, json!("HIGH"), Some(json!("High")));
    becomes(&level, json!("été"), Some(json!("ÉTÉ")));
    becomes(&level, json!("low"), None);
    becomes(&level, json!("medium"), None);
    becomes(&json!({ "enum": ["a", "A"] }), json!("a"), None);
    becomes(&json!({ "enum": ["ab", "AB"] }), json!("aB"), None);
    becomes(&json!({ "const": "loan" }), json!("Loan"), Some(json!("loan")));
    becomes(
        &json!({ "allOf": [{ "enum": ["a", "b"] }, { "enum": ["b", "c"] }] }),
        json!("B"),
        Some(json!("b")),
    );
    becomes(&json!({ "allOf": [{ "enum": ["a", "b"] }, { "enum": ["b", "c"] }] }), json!("A"), None);
}

#[test]
fn properties_are_found_under_other_spellings() {
    let schema = json!({
        "properties": {
            "discountRate": { "type": "number" },
            "user_id": { "type": "string" },
            "city": { "type": "string", "x-aliases": ["town", "place"] },
        },
        "additionalProperties": false,
    });
    check(
        schema.clone(),
        json!({ "discount_rate": "0.1", "UserID": 7, "town": "Bern" }),
        expect![[r#"
            {"discountRate":0.1,"user_id":"7","city":"Bern"}
            /discountRate: discount_rate -> discountRate
            /user_id: UserID -> user_id
            /city: town -> city
            /discountRate: string -> number
            /user_id: integer -> string"#]],
    );
    check(
        schema.clone(),
        json!({ "discountRate": 1, "discount_rate": 2 }),
        expect![[r#"{"discountRate":1,"discount_rate":2}"#]],
    );
    check(
        schema.clone(),
        json!({ "discount-rate": 1, "discount_rate": 2 }),
        expect![[r#"{"discount-rate":1,"discount_rate":2}"#]],
    );
    check(schema.clone(), json!({ "town": "a", "place": "b" }), expect![[r#"{"town":"a","place":"b"}"#]]);
    check(schema, json!({ "rate": 1 }), expect![[r#"{"rate":1}"#]]);
}

#[test]
fn property_that_could_be_two_keeps_its_name() {
    let schema = json!({ "properties": { "a_b": {}, "aB": {} } });
    check(schema, json!({ "a-b": 1 }), expect![[r#"{"a-b":1}"#]]);
}

#[test]
fn similar_names_stay_where_other_names_are_welcome() {
    for open in [json!(true), json!({ "type": "string" })] {
        let schema =
            json!({ "properties": { "name": { "x-aliases": ["title"] } }, "additionalProperties": open });
        check(schema.clone(), json!({ "Name": "x" }), expect![[r#"{"Name":"x"}"#]]);
        check(
            schema,
            json!({ "title": "x" }),
            expect![[r#"
            {"name":"x"}
            /name: title -> name"#]],
        );
    }
    // Where nothing is said of other names, a similar one is a slip.
    check(
        json!({ "properties": { "name": {} } }),
        json!({ "Name": "x" }),
        expect![[r#"
        {"name":"x"}
        /name: Name -> name"#]],
    );
}

#[test]
fn reading_goes_through_references_items_and_a_form_that_may_be_null() {
    let schema = json!({
        "properties": {
            "list": { "items": { "$ref": "#/$defs/n" } },
            "maybe": { "anyOf": [{ "$ref": "#/$defs/n" }, { "type": "null" }] },
            "either": { "anyOf": [{ "type": "integer" }, { "type": "boolean" }] },
            "next": { "$ref": "#" },
        },
        "allOf": [{ "properties": { "n": { "$ref": "#/$defs/n" } } }],
        "$defs": { "n": { "type": "integer" } },
    });
    check(
        schema,
        json!({ "list": ["1", 2], "maybe": "3", "either": "4", "n": "5", "next": { "next": { "n": "6" } } }),
        expect![[r#"
            {"list":[1,2],"maybe":3,"either":"4","n":5,"next":{"next":{"n":6}}}
            /list/0: string -> integer
            /maybe: string -> integer
            /n: string -> integer
            /next/next/n: string -> integer"#]],
    );
}

#[test]
fn maps_of_values_are_read_by_the_schema_of_their_values() {
    let schema = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    check(
        schema,
        json!({ "a/b": "1" }),
        expect![[r#"
        {"a/b":1}
        /a~1b: string -> integer"#]],
    );
    // Which names a pattern takes is not known here, so nothing is assumed.
    let schema = json!({ "patternProperties": { "^a": {} }, "additionalProperties": { "type": "integer" } });
    check(schema, json!({ "a": "1" }), expect![[r#"{"a":"1"}"#]]);
}

#[test]
fn many_unknown_names_are_read_in_one_pass() {
    let properties: serde_json::Map<_, _> = (0..2_000).map(|n| (format!("p_{n}"), json!({}))).collect();
    let schema = Schema::compile(&json!({ "properties": properties })).unwrap();
    let members: serde_json::Map<_, _> = (0..2_000).map(|n| (format!("P-{n}"), json!(n))).collect();
    let mut value = Value::Object(members);
    assert_eq!(schema.coerce(&mut value).len(), 2_000);
    assert_eq!(value["p_1999"], 1_999);
}

proptest! {
    #[test]
    fn value_that_fits_is_never_changed(value in strict::tests::any_value()) {
        for schema in [
            json!({ "type": ["object", "array", "string", "null", "boolean", "number"] }),
            json!({ "type": ["object", "array"], "items": { "type": "string" } }),
            json!({ "type": "string" }),
            json!({ "type": "number" }),
        ] {
            let schema = Schema::compile(&schema).unwrap();
            let mut read = value.clone();
            let done = schema.coerce(&mut read);
            if schema.is_valid(&value) {
                prop_assert_eq!(&read, &value);
            }
            prop_assert_eq!(done.is_empty(), read == value);
        }
    }
}

#[test]
fn bare_scalar_becomes_the_only_property_it_can_be_meant_for() {
    let search = json!({ "type": "object", "required": ["query"],
                         "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } } });
    becomes(&search, json!("text"), Some(json!({ "query": "text" })));
    becomes(&search, json!(r#"{"query":"text"}"#), Some(json!({ "query": "text" })));
    // What is no text is not made one here: two readings at once are a guess.
    becomes(&search, json!(5), None);
    becomes(&search, json!(["text"]), None);
    let one = json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    becomes(&one, json!(5), Some(json!({ "n": 5 })));
    let two = json!({ "type": "object", "required": ["a", "b"],
                      "properties": { "a": { "type": "string" }, "b": { "type": "string" } } });
    becomes(&two, json!("text"), None);
    becomes(&json!({ "properties": { "a": {} } }), json!("text"), None);
}

#[test]
fn short_name_becomes_the_only_required_property_that_begins_with_it() {
    let search = json!({ "type": "object", "required": ["query"],
                         "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } } });
    becomes(&search, json!({ "q": "text" }), Some(json!({ "query": "text" })));
    becomes(&search, json!({ "q": "text", "limit": 3 }), Some(json!({ "query": "text", "limit": 3 })));
    for unclear in [
        json!({ "q": "a", "que": "b" }),
        json!({ "q": "a", "x": 1 }),
        json!({ "text": "a" }),
        json!({ "l": 3 }),
    ] {
        becomes(&search, unclear, None);
    }
    becomes(&search, json!({ "query": "a", "q": "b" }), None);
    let mut open = search.clone();
    open["additionalProperties"] = json!(true);
    becomes(&open, json!({ "q": "text" }), None);
    let mut two = search;
    two["required"] = json!(["query", "limit"]);
    becomes(&two, json!({ "q": "text" }), None);
}
