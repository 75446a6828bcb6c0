//! Documents that were made to hurt. None of these tests looks at a clock: where the guard is
//! missing, they do not end, or take the process with them.

use serde_json::{Map, Value, json};

use super::{super::DIFFERENCES_MAX, inputs, object, outputs, show};
use crate::{Bump, Comparison};

/// Many properties that each refer to one definition, in words of their own so that none is another.
fn crowd(count: usize, definition: Value) -> Value {
    let property = |n: usize| (format!("p{n}"), json!({ "$ref": "#/$defs/d", "title": n.to_string() }));
    let properties: Map<String, Value> = (0..count).map(property).collect();
    json!({ "properties": properties, "$defs": { "d": definition } })
}

/// Definitions that each refer to the next.
fn chain(depth: usize, step: impl Fn(Value) -> Value, leaf: Value) -> Value {
    let next = |level: usize| json!({ "$ref": format!("#/$defs/{level}") });
    let mut defs: Map<String, Value> =
        (0..depth).map(|level| (level.to_string(), step(next(level + 1)))).collect();
    defs.insert(depth.to_string(), leaf);
    json!({ "$ref": "#/$defs/0", "$defs": defs })
}

/// A comparison that gave up has to say so first, and never says that all is well.
#[track_caller]
fn gave_up(comparison: &Comparison) {
    let first = &comparison.changes[0];
    assert!(comparison.breaking && comparison.required_bump == Bump::Major);
    assert_eq!((first.path.as_str(), first.message.as_str()), ("", "is too complex to be compared in full"));
}

#[test]
fn paths_that_double_at_every_reference_are_walked_once() {
    let bush =
        |kind: &str| chain(25, |next| object(json!({ "l": next, "r": next })), json!({ "type": kind }));
    assert!(inputs(&bush("string"), &bush("integer")).breaking);
}

#[test]
fn many_forms_and_many_members_are_compared() {
    let wide = |count: usize| json!({ "anyOf": (0..count).map(|n| object(json!({ format!("p{n}"): { "minimum": n } }))).collect::<Vec<_>>() });
    assert!(inputs(&wide(300), &wide(299)).breaking);
    let many =
        |count: usize| object((0..count).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect());
    let comparison = inputs(&many(10), &many(2_000));
    assert_eq!((comparison.required_bump, comparison.changes.len()), (Bump::Minor, DIFFERENCES_MAX));
}

#[test]
fn long_list_of_other_forms_is_given_up_on() {
    let forms = |word: &str| json!({ "anyOf": (0..10_000).map(|n| object(json!({ format!("{word}{n}"): { "minimum": n } }))).collect::<Vec<_>>() });
    gave_up(&inputs(&forms("p"), &forms("q")));
}

#[test]
fn large_definition_that_is_used_often_is_given_up_on() {
    let list = |last: usize| json!({ "enum": (0..last).collect::<Vec<_>>() });
    gave_up(&inputs(&crowd(2_000, list(9_999)), &crowd(2_000, list(10_000))));
    let text = |end: &str| json!({ "description": "x".repeat(1 << 20) + end });
    gave_up(&inputs(&crowd(2_000, text("a")), &crowd(2_000, text("b"))));
    let layers = |kind: &str| json!({ "allOf": vec![json!({}); 10_000], "type": kind });
    gave_up(&inputs(&crowd(2_000, layers("string")), &crowd(2_000, layers("integer"))));
}

#[test]
fn anchor_is_found_without_a_search_of_the_document() {
    let document = |kind: &str| {
        let mut document = crowd(10_000, json!({ "$anchor": "here", "type": kind }));
        for property in document["properties"].as_object_mut().unwrap().values_mut() {
            property["$ref"] = json!("#here");
        }
        document
    };
    assert!(inputs(&document("string"), &document("integer")).breaking);
}

#[test]
fn defaults_behind_many_references_are_tested_within_bounds() {
    let tool = |default: &str| {
        let inner =
            object(json!({ "a": { "type": "string", "default": default }, "b": { "$ref": "#/$defs/e" } }));
        let mut document = crowd(3_000, inner);
        document["$defs"]["e"] = json!({ "type": "string", "default": default });
        document
    };
    assert!(inputs(&tool("x"), &tool("y")).required_bump >= Bump::Minor);
}

#[test]
fn endless_and_long_references_do_not_use_up_the_stack() {
    let nothing = json!({ "type": "null" });
    let loops = |title: &str| json!({ "$ref": "#/$defs/a", "title": title, "$defs": { "a": { "oneOf": [nothing, { "$ref": "#/$defs/a" }] } } });
    assert_ne!(inputs(&loops("x"), &loops("y")).required_bump, Bump::None);
    for keyword in ["oneOf", "anyOf", "allOf"] {
        let long = |leaf: Value| chain(5_000, |next| json!({ keyword: [nothing, next] }), leaf);
        let (from, to) = (long(json!({ "type": "string" })), long(json!({ "type": "integer" })));
        assert_ne!(inputs(&from, &to).required_bump, Bump::None);
    }
    // A place inside a place, by choices, as deep as it is followed.
    let nested = |leaf: Value| {
        chain(
            300,
            |next| json!({ "anyOf": [object(json!({ "a": next })), object(json!({ "a": next, "b": next }))] }),
            leaf,
        )
    };
    let (from, to) = (nested(json!({ "type": "string" })), nested(json!({ "type": "integer" })));
    assert!(inputs(&from, &to).breaking && outputs(&from, &to).breaking);
}

#[test]
fn long_names_do_not_make_long_answers() {
    let document = |kind: &str| {
        let inner: Map<String, Value> =
            (0..10_000).map(|n| (format!("p{n}"), json!({ "type": kind }))).collect();
        object(json!({ "x".repeat(1 << 20): object(Value::Object(inner)) }))
    };
    let comparison = inputs(&document("string"), &document("integer"));
    gave_up(&comparison);
    assert!(show(&comparison).len() < 100 << 20);
}
