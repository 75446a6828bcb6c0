//! What changes are called, whom they break, and that no promise of compatibility is wrong.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

mod hostile;
mod oracle;

fn show(comparison: &Comparison) -> String {
    let mut lines = vec![format!("{:?}", comparison.required_bump)];
    for change in &comparison.changes {
        let mark = if change.breaking { "!" } else { " " };
        lines.push(format!("{mark} {} {}: {}", change.path, change.kind, change.message));
    }
    lines.join("\n")
}

fn inputs(from: &Value, to: &Value) -> Comparison {
    compare(&SchemaPair { input: from, output: None }, &SchemaPair { input: to, output: None })
}

fn outputs(from: &Value, to: &Value) -> Comparison {
    let input = json!({});
    compare(
        &SchemaPair { input: &input, output: Some(from) },
        &SchemaPair { input: &input, output: Some(to) },
    )
}

/// Shows a change as one of an input and as one of an output.
#[track_caller]
fn check(from: Value, to: Value, as_input: Expect, as_output: Expect) {
    as_input.assert_eq(&show(&inputs(&from, &to)));
    as_output.assert_eq(&show(&outputs(&from, &to)));
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn closed(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

#[test]
fn equal_documents_have_no_changes_whatever_their_key_order() {
    let from = json!({ "type": "object", "properties": { "a": { "minimum": 1.0, "type": "integer" } } });
    let to = json!({ "properties": { "a": { "type": "integer", "minimum": 1 } }, "type": "object" });
    check(from, to, expect!["None"], expect!["None"]);
}

#[test]
fn document_that_only_looks_different_asks_for_a_patch() {
    check(
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "string", "minLength": 0 } } }),
        json!({ "allOf": [{ "type": "string" }] }),
        expect![[r#"
            Patch
               schema_changed: is written differently and means the same"#]],
        expect![[r#"
            Patch
               schema_changed: is written differently and means the same"#]],
    );
}

#[test]
fn words_ask_for_a_patch() {
    check(
        object(json!({ "a": { "type": "string", "title": "A", "x-variant": "input" } })),
        object(
            json!({ "a": { "type": "string", "title": "B", "description": "New.", "examples": ["x"], "x-variant": "code" } }),
        ),
        expect![[r#"
            Patch
              /a title_changed: has another title
              /a description_changed: has another description
              /a schema_changed: `examples` changed
              /a schema_changed: `x-variant` changed"#]],
        expect![[r#"
            Patch
              /a title_changed: has another title
              /a description_changed: has another description
              /a schema_changed: `examples` changed
              /a schema_changed: `x-variant` changed"#]],
    );
}

#[test]
fn new_optional_property_is_minor_everywhere() {
    let minor = || {
        expect![[r#"
            Minor
              /b property_added: is a new property"#]]
    };
    let (a, ab) = (json!({ "a": {} }), json!({ "a": {}, "b": { "type": "string" } }));
    check(object(a.clone()), object(ab.clone()), minor(), minor());
    check(closed(a), closed(ab), minor(), minor());
}

#[test]
fn new_property_where_such_members_had_another_rule_breaks() {
    check(
        json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "properties": { "b": { "type": "string" } } }),
        expect![[r#"
            Major
            ! /b property_added: is a new property"#]],
        expect![[r#"
            Major
            ! /b property_added: is a new property"#]],
    );
}

#[test]
fn required_property_breaks_callers_unless_it_has_a_default() {
    check(
        object(json!({ "a": { "type": "string" } })),
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "string" } }, "required": ["a", "b"] }),
        expect![[r#"
            Major
              /b property_added: is a new property
            ! /a required_added: is required now
            ! /b required_added: is required now"#]],
        expect![[r#"
            Minor
              /b property_added: is a new property
              /a required_added: is required now
              /b required_added: is required now"#]],
    );
    check(
        object(json!({ "a": {} })),
        json!({ "type": "object", "properties": { "a": {}, "b": { "type": "string", "default": "x" } }, "required": ["b"] }),
        expect![[r#"
            Minor
              /b property_added: is a new property
              /b required_added: is required now, and has a default"#]],
        expect![[r#"
            Minor
              /b property_added: is a new property
              /b required_added: is required now"#]],
    );
    check(
        json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }),
        object(json!({ "a": {} })),
        expect![[r#"
            Minor
              /a required_removed: is no longer required"#]],
        expect![[r#"
            Major
            ! /a required_removed: is no longer required"#]],
    );
}

#[test]
fn defaults_matter_where_they_are_filled_in() {
    let with = |default: Value, required: bool| {
        let mut schema = object(json!({ "a": { "type": "integer", "default": default } }));
        if required {
            schema["required"] = json!(["a"]);
        }
        schema
    };
    check(
        with(json!(1), false),
        with(json!(2), false),
        expect![[r#"
            Minor
              /a default_changed: has another default"#]],
        expect![[r#"
            Patch
              /a default_changed: has another default, which is only shown"#]],
    );
    let without =
        json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    check(
        with(json!(1), true),
        without,
        expect![[r#"
            Major
            ! /a default_changed: is required and has no default any more"#]],
        expect![[r#"
            Patch
              /a default_changed: has another default, which is only shown"#]],
    );
    check(
        with(json!(1), false),
        with(json!("one"), false),
        expect![[r#"
            Major
            ! /a default_changed: has a default that does not fit"#]],
        expect![[r#"
            Patch
              /a default_changed: has another default, which is only shown"#]],
    );
    // With a limit on the number of members, filling one in may be one too many.
    let counted = |default: Value| json!({ "properties": { "a": default, "b": {} }, "maxProperties": 1 });
    check(
        counted(json!({})),
        counted(json!({ "default": 1 })),
        expect![[r#"
            Major
            ! /a default_changed: has another default, and other rules depend on it"#]],
        expect![[r#"
            Patch
              /a default_changed: has another default, which is only shown"#]],
    );
}

#[test]
fn default_of_a_refused_property_breaks_every_caller() {
    // The first subschema knows no member, so the default of the second is refused wherever it is filled in.
    let both = |second: Value| json!({ "allOf": [closed(json!({})), second] });
    let with_default = object(json!({ "a": { "type": "integer", "default": 0 } }));
    let choice = json!({ "anyOf": [with_default.clone(), { "type": "string" }] });
    // Nothing is filled in behind a choice.
    check(
        both(choice),
        both(with_default.clone()),
        expect![[r#"
            Major
            ! /a default_changed: is refused, and has a default now
               schema_changed: need no longer fit one of several forms"#]],
        expect![[r#"
            Major
            !  schema_changed: need no longer fit one of several forms"#]],
    );
    check(
        both(with_default),
        both(object(json!({ "a": { "type": "integer" } }))),
        expect![[r#"
            Minor
              /a default_changed: is refused, and has no default any more"#]],
        expect![[r#"
            Patch
               schema_changed: is written differently and means the same"#]],
    );
}

#[test]
fn removed_property_breaks_callers_only_where_it_is_refused() {
    let (ab, a) = (json!({ "a": {}, "b": {} }), json!({ "a": {} }));
    check(
        object(ab.clone()),
        object(a.clone()),
        expect![[r#"
            Minor
              /b property_removed: was removed"#]],
        expect![[r#"
            Major
            ! /b property_removed: was removed"#]],
    );
    check(
        closed(ab),
        closed(a),
        expect![[r#"
            Major
            ! /b property_removed: was removed, and is refused now"#]],
        expect![[r#"
            Major
            ! /b property_removed: was removed"#]],
    );
}

#[test]
fn types_values_and_bounds_go_by_their_direction() {
    check(
        object(
            json!({ "a": { "type": "integer", "minimum": 1 }, "b": { "enum": ["x", "y"] }, "c": { "type": "string", "maxLength": 5 } }),
        ),
        object(
            json!({ "a": { "type": ["number", "null"], "minimum": 0 }, "b": { "enum": ["x", "y", "z"] }, "c": { "type": "string" } }),
        ),
        expect![[r#"
            Minor
              /a type_widened: may also be a fraction or null
              /a bound_loosened: must be at least 0, before 1
              /b enum_value_added: may also be "z"
              /c bound_loosened: need no longer have at most 5 characters"#]],
        expect![[r#"
            Major
            ! /a type_widened: may also be a fraction or null
            ! /a bound_loosened: must be at least 0, before 1
            ! /b enum_value_added: may also be "z"
            ! /c bound_loosened: need no longer have at most 5 characters"#]],
    );
    check(
        object(
            json!({ "a": { "type": "number", "maximum": 10 }, "b": { "enum": ["x", 1] }, "c": { "type": "string" } }),
        ),
        object(
            json!({ "a": { "type": "integer", "exclusiveMaximum": 10 }, "b": { "const": "x" }, "c": { "type": "string", "pattern": "^a", "format": "email" } }),
        ),
        expect![[r#"
            Major
            ! /a type_changed: may no longer be a fraction
            ! /a bound_tightened: must be at most 10 (exclusive), before 10
            ! /b enum_value_removed: may no longer be 1
            ! /c pattern_changed: has the pattern `^a` now
            ! /c format_changed: has the format `email` now"#]],
        expect![[r#"
            Minor
              /a type_changed: may no longer be a fraction
              /a bound_tightened: must be at most 10 (exclusive), before 10
              /b enum_value_removed: may no longer be 1
              /c pattern_changed: has the pattern `^a` now
              /c format_changed: has the format `email` now"#]],
    );
    let both = || {
        expect![[r#"
            Major
            !  type_changed: was a text and is now a whole number"#]]
    };
    check(json!({ "type": "string" }), json!({ "type": "integer" }), both(), both());
    check(
        json!({ "type": "string", "format": "password" }),
        json!({ "type": "string", "format": "hidden" }),
        expect![[r#"
            Patch
               format_changed: has another format, which is only a hint"#]],
        expect![[r#"
            Patch
               format_changed: has another format, which is only a hint"#]],
    );
    // A bound on numbers means nothing to those who only ever sent texts.
    check(
        json!({ "type": "string" }),
        json!({ "type": ["string", "integer"], "minimum": 3 }),
        expect![[r#"
            Minor
               type_widened: may also be a whole number"#]],
        expect![[r#"
            Major
            !  type_widened: may also be a whole number"#]],
    );
    check(
        json!({ "multipleOf": 6 }),
        json!({ "multipleOf": 3 }),
        expect![[r#"
            Minor
               bound_loosened: must be a multiple of another number"#]],
        expect![[r#"
            Major
            !  bound_loosened: must be a multiple of another number"#]],
    );
}

#[test]
fn closing_and_opening_an_object_go_by_their_direction() {
    check(
        object(json!({ "a": {} })),
        closed(json!({ "a": {} })),
        expect![[r#"
            Major
            !  additional_properties_closed: other members are refused now"#]],
        expect![[r#"
            Minor
               additional_properties_closed: other members are refused now"#]],
    );
    check(
        json!({ "properties": { "a": {} }, "unevaluatedProperties": false }),
        json!({ "properties": { "a": {} } }),
        expect![[r#"
            Minor
               additional_properties_opened: other members are allowed now"#]],
        expect![[r#"
            Major
            !  additional_properties_opened: other members are allowed now"#]],
    );
    // Both ways of closing are the same thing where all members are in plain sight.
    check(
        json!({ "properties": { "a": {} }, "unevaluatedProperties": false }),
        json!({ "properties": { "a": {}, "b": {} }, "additionalProperties": false }),
        expect![[r#"
            Minor
              /b property_added: is a new property"#]],
        expect![[r#"
            Minor
              /b property_added: is a new property"#]],
    );
}

#[test]
fn places_inside_arrays_and_references_are_named() {
    let schema = |city: Value, extra: Value| {
        json!({
            "type": "object",
            "properties": {
                "homes": { "type": "array", "items": { "$ref": "#/$defs/address" }, "maxItems": 3 },
                "pair": { "prefixItems": [{ "type": "string" }, extra] },
            },
            "$defs": { "address": { "type": "object", "properties": { "city": city } } },
        })
    };
    check(
        schema(json!({ "type": "string" }), json!({ "type": "integer" })),
        schema(json!({ "type": "string", "minLength": 1 }), json!({ "type": "number" })),
        expect![[r#"
            Major
            ! /homes/*/city bound_tightened: must have at least 1 characters now
              /pair/1 type_widened: may also be a fraction"#]],
        expect![[r#"
            Major
              /homes/*/city bound_tightened: must have at least 1 characters now
            ! /pair/1 type_widened: may also be a fraction"#]],
    );
}

#[test]
fn schema_that_refers_to_itself_is_compared_once() {
    let tree = |name: Value| {
        json!({
            "$ref": "#/$defs/node",
            "$defs": { "node": { "type": "object", "properties": {
                "name": name, "children": { "type": "array", "items": { "$ref": "#/$defs/node" } },
            } } },
        })
    };
    check(
        tree(json!({ "type": "string" })),
        tree(json!({ "type": ["string", "null"] })),
        expect![[r#"
            Minor
              /name type_widened: may also be null
              /children/*/name type_widened: may also be null"#]],
        expect![[r#"
            Major
            ! /name type_widened: may also be null
            ! /children/*/name type_widened: may also be null"#]],
    );
    // Cycles of different lengths, which meet only after many turns.
    let ring = |length: usize, kind: &str| {
        let mut document = json!({ "$ref": "#/$defs/0", "$defs": {} });
        for index in 0..length {
            let next = json!({ "$ref": format!("#/$defs/{}", (index + 1) % length) });
            document["$defs"][index.to_string()] = object(json!({ "v": { "type": kind }, "next": next }));
        }
        document
    };
    assert!(!inputs(&ring(3, "integer"), &ring(4, "number")).breaking);
    assert!(inputs(&ring(3, "number"), &ring(4, "integer")).breaking);
    assert!(inputs(&ring(97, "integer"), &ring(89, "number")).breaking, "too deep to be sure");
}

#[test]
fn making_something_optional_by_a_choice_with_null_is_seen_through() {
    let person =
        || json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let nullable = json!({ "anyOf": [person(), { "type": "null" }] });
    check(
        person(),
        nullable.clone(),
        expect![[r#"
            Minor
               type_widened: may also be null"#]],
        expect![[r#"
            Major
            !  type_widened: may also be null"#]],
    );
    check(
        nullable.clone(),
        person(),
        expect![[r#"
            Major
            !  type_changed: may no longer be null"#]],
        expect![[r#"
            Minor
               type_changed: may no longer be null"#]],
    );
    let mut longer = nullable.clone();
    longer["anyOf"][0]["properties"]["age"] = json!({ "type": "integer" });
    check(
        nullable,
        longer,
        expect![[r#"
            Minor
              /age property_added: is a new property"#]],
        expect![[r#"
            Minor
              /age property_added: is a new property"#]],
    );
}

#[test]
fn forms_of_a_choice_are_matched_with_what_became_of_them() {
    let tagged = |kind: &str, more: Value| {
        let mut schema = object(json!({ "kind": { "const": kind }, "n": more }));
        schema["required"] = json!(["kind"]);
        schema
    };
    let (a, b, c) = (
        tagged("a", json!({ "type": "integer" })),
        tagged("b", json!({ "type": "string" })),
        tagged("c", json!({})),
    );
    check(
        json!({ "oneOf": [a.clone(), b.clone()] }),
        json!({ "oneOf": [c.clone(), b.clone(), tagged("a", json!({ "type": "number" }))] }),
        expect![[r#"
            Minor
              /n type_widened: may also be a fraction
               schema_changed: another form is accepted"#]],
        expect![[r#"
            Major
            ! /n type_widened: may also be a fraction
            !  schema_changed: another form is accepted"#]],
    );
    check(
        json!({ "anyOf": [a.clone(), b.clone()] }),
        json!({ "anyOf": [a.clone()] }),
        expect![[r#"
            Major
            !  schema_changed: one of its forms is no longer accepted"#]],
        expect![[r#"
            Minor
               schema_changed: one of its forms is no longer accepted"#]],
    );
    // A list of constants in many words is still a list of constants.
    check(
        json!({ "oneOf": [{ "const": "x", "description": "X." }, { "const": "y" }] }),
        json!({ "enum": ["x", "y", "z"] }),
        expect![[r#"
            Minor
               enum_value_added: may also be "z""#]],
        expect![[r#"
            Major
            !  enum_value_added: may also be "z""#]],
    );
    // Forms that overlap: a wider one can push values out of another.
    let overlapping = |most: i64| json!({ "oneOf": [{ "maximum": most }, { "minimum": 10 }] });
    let both = || {
        expect![[r#"
            Major
            !  schema_changed: `oneOf` changed"#]]
    };
    check(overlapping(5), overlapping(15), both(), both());
}

#[test]
fn choice_that_is_dropped_breaks_readers_only_and_a_new_one_callers_only() {
    let anything = json!({ "type": ["string", "integer"] });
    let choice =
        json!({ "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "integer", "minimum": 0 }] });
    check(
        choice.clone(),
        anything.clone(),
        expect![[r#"
            Minor
               schema_changed: need no longer fit one of several forms"#]],
        expect![[r#"
            Major
            !  schema_changed: need no longer fit one of several forms"#]],
    );
    check(
        anything,
        choice,
        expect![[r#"
            Major
            !  schema_changed: must fit one of several forms now"#]],
        expect![[r#"
            Minor
               schema_changed: must fit one of several forms now"#]],
    );
}

#[test]
fn new_property_breaks_callers_where_a_choice_has_a_rule_for_other_names() {
    let choice = json!([
        { "properties": { "a": { "const": "x" } }, "required": ["a"], "additionalProperties": { "type": "string" } },
        { "properties": { "a": { "const": "y" } }, "required": ["a"] },
    ]);
    let inner = json!([{ "properties": { "a": { "additionalProperties": { "type": "string" } } } }, { "required": ["a"] }]);
    for (choice, bump) in [(choice, Bump::Major), (inner, Bump::Minor)] {
        let from = json!({ "type": "object", "anyOf": choice });
        let to = json!({ "type": "object", "anyOf": choice, "properties": { "b": { "type": "integer" } } });
        assert_eq!(inputs(&from, &to).required_bump, bump, "{choice}");
    }
}

#[test]
fn what_is_not_understood_breaks_when_it_differs() {
    let changes = [
        (json!({ "not": { "type": "string" } }), json!({ "not": { "type": "integer" } })),
        (json!({ "if": true, "then": { "minimum": 1 } }), json!({ "if": true, "then": { "minimum": 0 } })),
        (json!({ "propertyNames": { "maxLength": 3 } }), json!({ "propertyNames": { "maxLength": 4 } })),
        (json!({ "contains": { "const": 1 } }), json!({ "contains": { "const": 1 }, "minContains": 2 })),
        (json!({ "shape": "round" }), json!({ "shape": "square" })),
        (json!({ "patternProperties": { "^a": {} } }), json!({ "patternProperties": { "^b": {} } })),
        (
            json!({ "prefixItems": [{}], "unevaluatedItems": false }),
            json!({ "prefixItems": [{}, {}], "unevaluatedItems": false }),
        ),
        (
            json!({ "$id": "https://example.com/a", "$defs": { "x": { "$id": "x" } } }),
            json!({ "$defs": { "x": { "$id": "y" } } }),
        ),
    ];
    for (from, to) in changes {
        for comparison in [inputs(&from, &to), outputs(&from, &to), inputs(&to, &from), outputs(&to, &from)] {
            assert!(comparison.breaking, "{from} {to}");
        }
    }
    // A demand that is only dropped, or only added, has a direction.
    let (not, any) = (json!({ "not": { "type": "string" } }), json!({}));
    assert_eq!(
        [
            inputs(&not, &any).breaking,
            outputs(&not, &any).breaking,
            inputs(&any, &not).breaking,
            outputs(&any, &not).breaking
        ],
        [false, true, true, false]
    );
}

#[test]
fn change_behind_a_reference_in_a_condition_is_not_missed() {
    let schema = |minimum: i64| {
        json!({
            "if": { "properties": { "a": { "$ref": "#/$defs/n" } } }, "then": { "required": ["b"] },
            "$defs": { "n": { "minimum": minimum } },
        })
    };
    assert!(inputs(&schema(1), &schema(2)).breaking);
}

#[test]
fn output_schema_that_comes_or_goes_is_a_promise_made_or_broken() {
    let (input, output) = (json!({}), json!({ "type": "object" }));
    let without = SchemaPair { input: &input, output: None };
    let with = SchemaPair { input: &input, output: Some(&output) };
    assert_eq!(compare(&without, &with).required_bump, Bump::Minor);
    assert_eq!(compare(&with, &without).required_bump, Bump::Major);
    assert_eq!(compare(&with, &with).required_bump, Bump::None);
    let json = serde_json::to_value(compare(&with, &without)).unwrap();
    assert_eq!(
        json,
        json!({ "breaking": true, "required_bump": "major", "changes": [{
            "part": "output", "path": "", "kind": "schema_changed", "breaking": true,
            "message": "the output is no longer described",
        }] })
    );
}
