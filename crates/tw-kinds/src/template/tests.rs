use std::time::Instant;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(template: &Value) -> Result<Template, Vec<Fault>> {
    Template::read(template, "/t", &["input"])
}

fn input() -> Value {
    json!({
        "n": 9_007_199_254_740_993_u64, "min": i64::MIN, "max": u64::MAX, "real": 3.0, "yes": true, "none": null,
        "text": "{{ input.n }}", "list": [1, "b", null], "object": { "z": 1, "a": [] }, "empty": "",
    })
}

#[track_caller]
fn check(template: Value, expected: Expect) {
    let rendered = match read(&template) {
        Ok(template) => template.render(&Context::of_input(&input())),
        Err(faults) => {
            let told: Vec<_> =
                faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
            return expected.assert_eq(&format!("at save: {}", told.join("; ")));
        }
    };
    expected.assert_eq(&match rendered {
        Ok(value) => value.to_string(),
        Err(failure) => format!("{}: {}", failure.code, failure.message),
    });
}

#[test]
fn one_expression_yields_the_value_itself() {
    check(json!("{{ input.n }}"), expect!["9007199254740993"]);
    check(json!("{{ input.min }}"), expect!["-9223372036854775808"]);
    check(json!("{{ input.max }}"), expect!["18446744073709551615"]);
    check(json!("{{ input.real }}"), expect!["3.0"]);
    check(json!("{{input.yes}}"), expect!["true"]);
    check(json!("{{ input.none }}"), expect!["null"]);
    check(json!("{{ input.list }}"), expect![[r#"[1,"b",null]"#]]);
    check(json!("{{ input.object }}"), expect![[r#"{"z":1,"a":[]}"#]]);
    check(json!("{{ {'a': input.n} }}"), expect![[r#"{"a":9007199254740993}"#]]);
    check(json!("{{ input.list[1] | upper }}"), expect![[r#""B""#]]);
    check(json!("{{ input.missing | default('d') }}"), expect![[r#""d""#]]);
    check(json!("{{ input.list | length + 1 }}"), expect!["4"]);
    check(json!("{{ [3, 1] | sort(reverse=true) }}"), expect!["[3,1]"]);
    check(json!("{{ [{'p': 1}, {'p': 2}] | sum(attribute='p') }}"), expect!["3"]);
    check(json!("{{ [{'p': 1}, {'p': 2}] | map(attribute='p') | join(', ') }}"), expect![[r#""1, 2""#]]);
    check(json!("{{ input.list | select('number') | list }}"), expect!["[1]"]);
    check(json!("{{ input.object | tojson }}"), expect![[r#""{\"z\":1,\"a\":[]}""#]]);
}

#[test]
fn longer_text_is_joined() {
    check(json!("a {{ input.n }} b {{ input.yes }}"), expect![[r#""a 9007199254740993 b true""#]]);
    check(json!("{{ input.list }}!"), expect![[r#""[1,\"b\",null]!""#]]);
    check(json!(" {{ input.n }}"), expect![[r#"" 9007199254740993""#]]);
    check(
        json!("{% for each in input.object.a %}x{% else %}none{% endfor %} {# said #}{{ input.real }}"),
        expect![[r#""none 3.0""#]],
    );
    check(json!("{% if input.missing %}a{% else %}b{% endif %}"), expect![[r#""b""#]]);
    check(json!({ "a": [1, "x{{ input.yes }}"], "b": null }), expect![[r#"{"a":[1,"xtrue"],"b":null}"#]]);
}

#[test]
fn what_is_absent_is_left_out_of_an_object_and_fails_elsewhere() {
    check(
        json!({ "a": "{{ input.missing }}", "b": "{{ input.missing.more }}", "c": "{{ input.none }}", "d": "{{ input.empty }}" }),
        expect![[r#"{"c":null,"d":""}"#]],
    );
    check(
        json!("{{ input.missing }}"),
        expect!["INVALID_PARAMS: `input.missing` has no value, and `/t` needs one"],
    );
    check(
        json!(["{{ input.missing }}"]),
        expect!["INVALID_PARAMS: `input.missing` has no value, and `/t/0` needs one"],
    );
    check(
        json!({ "a": "x {{ input.missing }}" }),
        expect!["INVALID_PARAMS: `input.missing` has no value, and `/t/a` needs one"],
    );
    check(
        json!({ "a": "x {{ input.none }}" }),
        expect!["INVALID_PARAMS: `input.none` has no value, and `/t/a` needs one"],
    );
    check(
        json!("{% if true %}{{ input.missing }}{% endif %}"),
        expect!["INVALID_PARAMS: `/t` cannot be filled in: something in it has no value"],
    );
}

#[test]
fn inserted_value_is_never_a_template() {
    check(json!("{{ input.text }}"), expect![[r#""{{ input.n }}""#]]);
    check(json!("a {{ input.text }}"), expect![[r#""a {{ input.n }}""#]]);
    check(json!("{% if true %}{{ input.text }}{% endif %}"), expect![[r#""{{ input.n }}""#]]);
    check(json!("${input.n} {input.n} <%= 1 %>"), expect![[r#""${input.n} {input.n} <%= 1 %>""#]]);
}

#[test]
fn what_cannot_be_read_is_told_when_it_is_saved() {
    check(
        json!({ "a": "{{ input.", "b": ["{{ other.x }}"], "c": "{{ input.a | uper }}" }),
        expect![
            "at save: /t/a: a `{{` has no `}}`; /t/b/0: `other` is not known here; `input` is; /t/c: filter uper is unknown"
        ],
    );
    check(
        json!("{{ input.a.b() }}"),
        expect![
            "INVALID_PARAMS: `input.a.b()` in `/t` cannot be worked out: undefined has no method named b"
        ],
    );
    check(json!("{{ cycler(1) }}"), expect!["at save: /t: `cycler` is not known here; `input` is"]);
    check(
        json!({ "{{ input.a }}": 1 }),
        expect!["at save: /t/{{ input.a }}: a name is taken as it is and cannot hold an expression"],
    );
    check(
        json!("{% include 'x' %}"),
        expect!["at save: /t: only `if` and `for` can stand in `{% … %}`, not `include`"],
    );
    check(
        json!("{%- set a = 1 %}"),
        expect!["at save: /t: only `if` and `for` can stand in `{% … %}`, not `set`"],
    );
    check(
        json!("{% macro m() %}{% endmacro %}"),
        expect!["at save: /t: only `if` and `for` can stand in `{% … %}`, not `macro`"],
    );
    check(
        json!("{% for a in input.list %}"),
        expect!["at save: /t: unexpected end of input, expected end of block"],
    );
}

#[test]
fn template_that_would_grow_without_end_is_stopped() {
    let started = Instant::now();
    check(
        json!("{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}"),
        expect!["INVALID_PARAMS: `/t` cannot be filled in: it takes too many steps"],
    );
    check(
        json!("{{ range(10000000) | list }}"),
        expect![
            "INVALID_PARAMS: `range(10000000) | list` in `/t` cannot be worked out: range has too many elements"
        ],
    );
    check(
        json!("{{ ([1] * 100000000) | list }}"),
        expect![
            "INVALID_PARAMS: `([1] * 100000000) | list` in `/t` cannot be worked out: what it makes is over 8388608 bytes"
        ],
    );
    check(
        json!("{{ [1] * 100000000 }}"),
        expect![
            "INVALID_PARAMS: `[1] * 100000000` in `/t` cannot be worked out: what it makes is over 8388608 bytes"
        ],
    );
    check(
        json!("{{ 'x' * 9000000 }}"),
        expect![
            "INVALID_PARAMS: `'x' * 9000000` in `/t` cannot be worked out: what it makes is over 8388608 bytes"
        ],
    );
    check(
        json!("{{ ('x' * 8000000) | replace('x', 'y' * 1000) }}"),
        expect![
            "INVALID_PARAMS: `('x' * 8000000) | replace('x', 'y' * 1000)` in `/t` cannot be worked out: what it makes is over 8388608 bytes"
        ],
    );
    check(
        json!("{% for a in range(1000) %}{{ 'x' * 100000 }}{% endfor %}"),
        expect!["INVALID_PARAMS: `/t` cannot be filled in: what it makes is over 8388608 bytes"],
    );
    check(
        json!(format!("{{{{ {} }}}}", vec!["input.text"; 40].join(" ~ "))),
        expect!["at save: /t: has more than 32 of `~` and `+`"],
    );
    check(
        json!(format!("{{{{ {}1{} }}}}", "(".repeat(2000), ")".repeat(2000))),
        expect!["at save: /t: template exceeds maximum recursion limits"],
    );
    let long = "x".repeat(1 << 20);
    for grown in [
        "([input] * 100000) | sort",
        "([input] * 1000) | map('upper') | list",
        "['a', 'b'] | sum(start=input)",
    ] {
        let template = read(&json!(format!("{{{{ {grown} }}}}"))).unwrap();
        assert!(template.render(&Context::of_input(&json!(long))).is_err(), "{grown}");
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_any_value_comes_back_as_it_was(text in ".{0,80}") {
        let _ = read(&Value::String(text.clone()));
        let template = read(&json!({ "whole": "{{ input }}", "part": "<{{ input }}>" })).unwrap();
        let rendered = template.render(&Context::of_input(&Value::String(text.clone()))).unwrap();
        prop_assert_eq!(rendered, json!({ "whole": text.clone(), "part": format!("<{text}>") }));
    }

    #[test]
    fn text_of_braces_and_quotes_never_panics(text in "[{}%#'\"\\\\a. (|)\\[\\]~*-]{0,40}") {
        let _ = read(&Value::String(text));
    }
}
