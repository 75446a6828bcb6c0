//! Specs that fit, and all that can be wrong with one.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::Fault;

#[track_caller]
fn told(faults: &[Fault], expected: Expect) {
    let lines: Vec<String> =
        faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
    expected.assert_eq(&lines.join("\n"));
}

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "mode": { "enum": ["fast", "slow"] },
            "photo": { "type": "string" },
            "a/b": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "items": { "type": "array", "items": { "type": "object", "properties": { "name": {}, "size": {} } } },
            "labels": { "type": "object", "additionalProperties": { "type": "object", "properties": { "text": {} } } },
            "maybe": { "anyOf": [{ "type": "object", "properties": { "inner": {} } }, { "type": "null" }] },
            "pair": { "type": "array", "prefixItems": [{ "type": "object", "properties": { "x": {} } }] },
            "tree": { "$ref": "#/$defs/tree" },
        },
        "if": { "properties": { "mode": { "const": "slow" } } },
        "then": { "properties": { "reason": { "type": "string" } } },
        "$defs": {
            "address": { "allOf": [{ "type": "object", "properties": { "city": { "type": "string" } } }] },
            "tree": { "type": "object", "properties": { "next": { "$ref": "#/$defs/tree" } } },
        },
    })
}

#[test]
fn form_with_everything_in_it_is_accepted() {
    let spec = json!({
        "version": 2,
        "title": "Order", "description": "What to order.", "submit_label": "Order",
        "sections": [
            { "id": "main", "title": "Main" },
            { "id": "more", "title": "More", "description": "Rarely needed.", "collapsed": true },
        ],
        "fields": [
            { "path": "/mode", "label": "Mode", "help": "…", "placeholder": "…", "component": "field-input:enum", "variant": "radio", "width": "half", "section": "main" },
            { "path": "/reason", "rows": 3, "show_when": { "path": "/mode", "equals": "slow" } },
            { "path": "/photo", "upload": { "accept": ["image/*", "application/pdf", ".heic"], "max_bytes": 1000000 }, "section": "more" },
            { "path": "/a~1b", "unit": "kg" },
            { "path": "/address/city", "show_when": { "path": "/mode", "in": ["fast", "slow"] } },
            { "path": "/items" },
            { "path": "/items/*/name", "show_when": { "path": "/items/*/size", "not_equals": null } },
            { "path": "/labels/*/text" },
            { "path": "/maybe/inner", "hidden": true, "show_when": { "path": "/maybe", "exists": true } },
            { "path": "/pair/0/x" },
            { "path": "/tree/next/next/next" },
        ],
    });
    told(&check_form_spec(&spec, &input()), expect![""]);
    told(&check_form_spec(&json!({ "version": 2, "fields": [] }), &json!({})), expect![""]);
}

#[test]
fn everything_that_is_wrong_with_a_form_is_told_with_its_place() {
    let spec = json!({
        "version": 1,
        "title": 5,
        "columns": 2,
        "sections": [{ "id": "main" }, { "id": "main", "title": "Again", "collapsed": "yes" }, { "title": "x", "icon": "y" }, 7],
        "fields": [
            { "path": "/mood" },
            { "path": "mode" },
            { "path": "" },
            { "label": "x" },
            { "path": "/mode", "section": "other", "width": "wide", "rows": 0, "hidden": 1, "colour": "red" },
            { "path": "/mode", "show_when": { "path": "/mode", "equals": 1, "in": [] } },
            { "path": "/photo", "show_when": { "path": "/mood" }, "upload": { "accept": ["picture"], "max_bytes": -1, "fast": true } },
            { "path": "/address/street", "show_when": { "path": "/mode", "exists": "yes" } },
            { "path": "/items/name", "label": ["x"] },
            { "path": "/items/*/colour", "show_when": 3 },
            { "path": "/mode/x" },
            { "path": "/a~b" },
            "mode",
        ],
    });
    told(
        &check_form_spec(&spec, &input()),
        expect![[r#"
            /columns: is not a known member
            /fields/0/path: must be in the input schema; "/mood" is not
            /fields/1/path: must be a JSON pointer such as /a/b or /items/*/name
            /fields/2/path: must not be empty
            /fields/3/path: is required
            /fields/4/colour: is not a known member
            /fields/4/hidden: must be a boolean, not a number
            /fields/4/rows: must be a positive whole number
            /fields/4/section: must be one of the sections; there is no "other"
            /fields/4/width: must be one of "full", "half", "third"
            /fields/5/path: must be unique; "/mode" appears twice
            /fields/5/show_when: must have exactly one of `equals`, `not_equals`, `in`, `exists`
            /fields/5/show_when/in: must have at least 1 item
            /fields/5/show_when/path: must not depend on itself
            /fields/6/show_when: must have exactly one of `equals`, `not_equals`, `in`, `exists`
            /fields/6/show_when/path: must be in the input schema; "/mood" is not
            /fields/6/upload/accept/0: must be a media type such as image/* or an ending such as .pdf
            /fields/6/upload/fast: is not a known member
            /fields/6/upload/max_bytes: must be a positive whole number
            /fields/7/path: must be in the input schema; "/address/street" is not
            /fields/7/show_when/exists: must be a boolean, not a string
            /fields/8/label: must be a string, not an array
            /fields/8/path: must be in the input schema; "/items/name" is not
            /fields/9/path: must be in the input schema; "/items/*/colour" is not
            /fields/9/show_when: must be an object, not a number
            /fields/10/path: must be in the input schema; "/mode/x" is not
            /fields/11/path: must be a JSON pointer such as /a/b or /items/*/name
            /fields/12: must be an object, not a string
            /sections/0/title: is required
            /sections/1/collapsed: must be a boolean, not a string
            /sections/1/id: must be unique; "main" appears twice
            /sections/2/icon: is not a known member
            /sections/2/id: is required
            /sections/3: must be an object, not a number
            /title: must be a string, not a number
            /version: must be 2"#]],
    );
    told(&check_form_spec(&json!([]), &input()), expect![": must be an object, not an array"]);
    told(
        &check_form_spec(&json!({}), &input()),
        expect![[r#"
            /fields: is required
            /version: must be 2"#]],
    );
    told(
        &check_form_spec(&json!({ "version": 2, "fields": {} }), &input()),
        expect!["/fields: must be an array, not an object"],
    );
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "total": { "type": "number" },
            "rows": { "type": "array", "items": { "type": "object", "properties": { "year": {} }, "additionalProperties": false } },
            "extra": { "type": "object" },
            "choice": { "oneOf": [{ "$ref": "#/$defs/a" }, { "type": "null" }] },
        },
        "additionalProperties": false,
        "$defs": { "a": { "type": "object", "properties": { "x": {} }, "additionalProperties": false } },
    })
}

#[test]
fn view_may_name_what_the_output_can_have() {
    let spec = json!({ "version": 1, "blocks": [
        { "type": "summary", "key": "total", "label": "Total" },
        { "type": "table", "path": "/rows", "config": { "columns": ["year"] } },
        { "type": "chart", "path": "/rows/*/year" },
        { "type": "radar", "path": "/rows/0/year" },
        { "type": "ranking", "path": "/extra/anything/at/all" },
        { "type": "markdown", "path": "/choice/x" },
        { "type": "json", "path": "" },
        { "type": "custom", "key": "extra" },
    ] });
    told(&check_view_spec(&spec, Some(&output())), expect![""]);
    let anything = json!({ "version": 1, "blocks": [{ "type": "json", "key": "whatever" }, { "type": "table", "path": "/a/*/b" }] });
    told(&check_view_spec(&anything, None), expect![""]);
    told(&check_view_spec(&anything, Some(&json!({ "type": "object" }))), expect![""]);
}

#[test]
fn everything_that_is_wrong_with_a_view_is_told_with_its_place() {
    let spec = json!({ "version": 2, "theme": "dark", "blocks": [
        { "type": "summary", "key": "sum" },
        { "type": "pie", "key": "total" },
        { "key": "total" },
        { "type": "json" },
        { "type": "json", "key": "total", "path": "/total" },
        { "type": "table", "path": "rows" },
        { "type": "table", "path": "/rows/*/month", "config": [] },
        { "type": "table", "path": "/rows/year" },
        { "type": "table", "path": "/total/x", "label": 1, "size": 2 },
        { "type": "table", "path": "/choice/y" },
        { "type": "table", "path": "/total/*" },
        null,
    ] });
    told(
        &check_view_spec(&spec, Some(&output())),
        expect![[r#"
            /blocks/0/key: must be in the output schema; "sum" is not
            /blocks/1/type: must be one of "summary", "table", "chart", "radar", "ranking", "markdown", "json", "custom"
            /blocks/2/type: is required
            /blocks/3: must have exactly one of `key`, `path`
            /blocks/4: must have exactly one of `key`, `path`
            /blocks/5/path: must be a JSON pointer such as /a/b or /items/*/name
            /blocks/6/config: must be an object, not an array
            /blocks/6/path: must be in the output schema; "/rows/*/month" is not
            /blocks/7/path: must be in the output schema; "/rows/year" is not
            /blocks/8/label: must be a string, not a number
            /blocks/8/path: must be in the output schema; "/total/x" is not
            /blocks/8/size: is not a known member
            /blocks/9/path: must be in the output schema; "/choice/y" is not
            /blocks/10/path: must be in the output schema; "/total/*" is not
            /blocks/11: must be an object, not null
            /theme: is not a known member
            /version: must be 1"#]],
    );
    told(&check_view_spec(&json!({ "version": 1 }), None), expect!["/blocks: is required"]);
}

#[test]
fn sections_have_one_of_six_types_and_a_key_of_the_output() {
    let good = json!([
        { "key": "total", "label": "Total", "type": "summary" },
        { "key": "rows", "label": "Years", "type": "table", "config": { "sort": "year" } },
        { "key": "rows", "label": "Chart", "type": "chart", "config": null },
        { "key": "extra", "label": "Radar", "type": "radar" },
        { "key": "extra", "label": "Ranking", "type": "ranking" },
        { "key": "extra", "label": "Custom", "type": "custom" },
    ]);
    told(&check_sections(&good, Some(&output())), expect![""]);
    told(&check_sections(&json!([]), None), expect![""]);
    told(
        &check_sections(
            &json!([
                { "key": "sum", "label": "Sum", "type": "summary" },
                { "key": "total", "label": "", "type": "json" },
                { "type": "table", "config": 1, "width": 2 },
                "total",
            ]),
            Some(&output()),
        ),
        expect![[r#"
            /0/key: must be in the output schema; "sum" is not
            /1/label: must not be empty
            /1/type: must be one of "summary", "table", "chart", "radar", "ranking", "custom"
            /2/config: must be an object, not a number
            /2/key: is required
            /2/label: is required
            /2/width: is not a known member
            /3: must be an object, not a string"#]],
    );
    told(&check_sections(&json!({}), None), expect![": must be an array, not an object"]);
}

#[test]
fn hostile_schemas_and_specs_are_checked_in_reasonable_time() {
    // Every definition refers to all others; a path through them is still only as long as it is.
    let mut schema = json!({ "$ref": "#/$defs/0", "$defs": {} });
    for n in 0..50 {
        let others: Vec<Value> = (0..50).map(|n| json!({ "$ref": format!("#/$defs/{n}") })).collect();
        schema["$defs"][n.to_string()] =
            json!({ "anyOf": others, "properties": { "a": { "$ref": "#/$defs/0" } } });
    }
    let spec = json!({ "version": 2, "fields": [{ "path": "/a".repeat(20) }, { "path": "/b" }] });
    told(
        &check_form_spec(&spec, &schema),
        expect![[r#"/fields/1/path: must be in the input schema; "/b" is not"#]],
    );
    let all = schema.to_string().replace("anyOf", "allOf");
    let all: Value = serde_json::from_str(&all).unwrap();
    told(&check_sections(&json!([{ "key": "b", "label": "B", "type": "table" }]), Some(&all)), expect![""]);
    let long = json!({ "version": 2, "fields": vec![json!({ "path": "/a" }); 1_001] });
    told(&check_form_spec(&long, &schema), expect!["/fields: must have at most 1000 items"]);
    let deep = json!({ "version": 2, "fields": [{ "path": "/a".repeat(10_000) }] });
    told(&check_form_spec(&deep, &schema), expect!["/fields/0/path: must have at most 10000 bytes"]);
}

#[test]
fn long_paths_through_a_crowd_of_branches_are_given_up_on() {
    let others: Vec<Value> = (0..2_000).map(|n| json!({ "$ref": format!("#/$defs/{n}") })).collect();
    let mut schema = json!({ "$ref": "#/$defs/0", "$defs": { "0": { "anyOf": others } } });
    for n in 1..2_000 {
        schema["$defs"][n.to_string()] = json!({ "properties": { "a": { "$ref": "#/$defs/0" } } });
    }
    let fields: Vec<Value> =
        (0..1_000).map(|n| json!({ "path": format!("{}/p{n}", "/a".repeat(1_000)) })).collect();
    let faults = check_form_spec(&json!({ "version": 2, "fields": fields }), &schema);
    assert_eq!(faults.len(), crate::FAULTS_MAX);
    assert!(faults[0].message.starts_with("cannot be found in so complex a schema"), "{faults:?}");
}

#[test]
fn field_that_no_renderer_knows_or_that_hides_what_is_needed_is_refused() {
    let input = json!({
        "type": "object", "required": ["name", "mode", "place"],
        "properties": {
            "name": { "type": "string" }, "note": { "type": "string" }, "mode": { "default": "fast" },
            "place": { "type": "object", "required": ["city"], "properties": { "city": {}, "street": {} } },
        },
    });
    let spec = json!({ "version": 2, "fields": [
        { "path": "/name", "component": "field-input:colour", "hidden": true },
        { "path": "/note", "component": "field-input:text", "variant": "slider", "hidden": true },
        { "path": "/mode", "variant": "carousel", "hidden": true },
        { "path": "/place/city", "hidden": true },
        { "path": "/place/street", "variant": "textarea", "hidden": true },
    ] });
    let places: Vec<_> = check_form_spec(&spec, &input).into_iter().map(|fault| fault.path).collect();
    assert_eq!(
        places,
        [
            "/fields/0/component",
            "/fields/0/hidden",
            "/fields/1/variant",
            "/fields/2/variant",
            "/fields/3/hidden",
        ]
    );
}

#[test]
fn field_that_is_required_behind_a_reference_cannot_be_hidden() {
    let input = json!({
        "type": "object", "$ref": "#/$defs/whole",
        "properties": { "place": { "allOf": [{ "$ref": "#place" }, { "required": ["street"] }] } },
        "allOf": [{ "required": ["mode"], "properties": { "mode": { "$ref": "#/$defs/mode" } } }],
        "anyOf": [{ "required": ["either"], "properties": { "either": {} } }, {}],
        "$defs": {
            "whole": { "required": ["name"], "properties": { "name": { "type": "string" } } },
            "place": { "$anchor": "place", "required": ["city"], "properties": { "city": {}, "street": {} } },
            "mode": { "type": "string", "default": "fast" },
        },
    });
    let hidden = ["/name", "/place/city", "/place/street", "/mode", "/either"];
    let fields: Vec<_> = hidden.iter().map(|path| json!({ "path": path, "hidden": true })).collect();
    let faults = check_form_spec(&json!({ "version": 2, "fields": fields }), &input);
    let places: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(places, ["/fields/0/hidden", "/fields/1/hidden", "/fields/2/hidden"]);
}
