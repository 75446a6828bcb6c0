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
fn what_is_inside_something_absent_can_be_foreseen() {
    for (template, expected) in [
        ("{{ input.missing.deep | default('d') }}", json!("d")),
        ("{{ input.missing.deep.deeper | d('d') | upper }}", json!("D")),
        ("{{ input.none.deep | default('d') }}", json!("d")),
        ("{{ input.list[9].x | default(0) }}", json!(0)),
        ("{{ input.missing.deep is defined }}", json!(false)),
        ("{{ 'a' if input.missing.deep is undefined else 'b' }}", json!("a")),
        ("<{{ input.missing.deep | default('d') }}>", json!("<d>")),
        ("{% if input.missing.deep is defined %}a{% else %}b{% endif %}", json!("b")),
        ("{% if true %}{{ input.missing.deep | default('d') }}{% endif %}", json!("d")),
    ] {
        let rendered = read(&json!(template)).unwrap().render(&Context::of_input(&input())).unwrap();
        assert_eq!(rendered, expected, "{template}");
    }
    check(
        json!({ "a": "{{ input.missing.deep | upper }}", "b": "{{ input.missing | default }}" }),
        expect![[r#"{"b":""}"#]],
    );
    check(
        json!("{% if input.a is defined %}{% endif %}{{ input.missing }}"),
        expect!["INVALID_PARAMS: `/t` cannot be filled in: something in it has no value"],
    );
}

#[test]
fn filters_of_the_library_are_there() {
    let people = "[{'n': 'Ada', 'a': {'c': 'X'}}, {'n': 'bo', 'a': {'c': 'Y'}}]";
    for (expression, expected) in [
        ("['a', 'b'] | map('upper')", json!(["A", "B"])),
        ("[1, true, 'x'] | map('string')", json!(["1", "true", "x"])),
        ("['a-b', 'c'] | map('replace', '-', '+') | list", json!(["a+b", "c"])),
        ("[[1, 2], [3]] | map('join', '/')", json!(["1/2", "3"])),
        ("[1, none] | map('default', 0, true)", json!([1, 0])),
        ("PEOPLE | map(attribute='n')", json!(["Ada", "bo"])),
        ("PEOPLE | map(attribute='a.c') | join('+')", json!("X+Y")),
        ("PEOPLE | map(attribute='z', default='-')", json!(["-", "-"])),
        ("PEOPLE | join(', ', attribute='n')", json!("Ada, bo")),
        ("PEOPLE | join(', ', 'a.c')", json!("X, Y")),
        ("[1, 2] | join(d='-')", json!("1-2")),
        ("'a b/ü&c' | urlencode", json!("a%20b/%C3%BC%26c")),
        ("{'q': 'a b', 'n': 1, 'x': none} | urlencode", json!("q=a%20b&n=1")),
        ("'one two three four' | truncate(9)", json!("one...")),
        ("'one two three four' | truncate(9, true)", json!("one tw...")),
        ("'one two three four' | truncate(length=9, end='…', leeway=0)", json!("one two…")),
        ("'one two' | truncate(5)", json!("one two")),
        ("[1, 2, 3] | batch(2)", json!([[1, 2], [3]])),
        ("[1, 2, 3] | batch(2, 0)", json!([[1, 2], [3, 0]])),
        ("[1, 2, 3] | slice(2)", json!([[1, 2], [3]])),
        ("'%s is %05.1f' | format('pi', 3.14159)", json!("pi is 003.1")),
        ("'%(a)s-%(a)s' | format(a=1)", json!("1-1")),
        ("'<a href=\"x\">&</a>' | escape", json!("&lt;a href=&quot;x&quot;&gt;&amp;&lt;&#x2f;a&gt;")),
        ("'<b>' | e", json!("&lt;b&gt;")),
        ("'<b>' | safe", json!("<b>")),
        ("'a\nb' | indent(2)", json!("a\n  b")),
        ("'a\nb' | indent(width=2, first=true)", json!("  a\n  b")),
        ("PEOPLE | groupby('n') | map('first')", json!(["Ada", "bo"])),
        ("[1] | chain([2], [3]) | list", json!([1, 2, 3])),
        ("[1, 2] | zip(['a', 'b']) | list", json!([[1, "a"], [2, "b"]])),
        ("{'a': [1]} | tojson(indent=2)", json!("{\n  \"a\": [\n    1\n  ]\n}")),
        ("[1, 'a', 2] | select('int') | list", json!([1, 2])),
        ("[1, 2, 3] | select('>=', 2) | list", json!([2, 3])),
        ("['A', 'b'] | select('upper') | list", json!(["A"])),
        ("1 is sameas 1 and 2 is greaterthan 1 and 'a' is equalto 'a'", json!(true)),
    ] {
        let text = format!("{{{{ {} }}}}", expression.replace("PEOPLE", people));
        let template = read(&json!(text)).unwrap_or_else(|faults| panic!("{expression}: {faults:?}"));
        let rendered = template.render(&Context::of_input(&input()));
        assert_eq!(rendered.map_err(|failure| failure.message), Ok(expected), "{expression}");
    }
    check(
        json!("{{ ['a'] | map('uper') }}"),
        expect!["at save: /t: must be a valid expression: filter uper is unknown"],
    );
    check(
        json!("{{ input.list | map('uper') }}"),
        expect!["at save: /t: must be a valid expression: filter uper is unknown"],
    );
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
        expect!["INVALID_PARAMS: `input.missing` has no value, but `/t` requires one"],
    );
    check(
        json!(["{{ input.missing }}"]),
        expect!["INVALID_PARAMS: `input.missing` has no value, but `/t/0` requires one"],
    );
    check(
        json!({ "a": "x {{ input.missing }}" }),
        expect!["INVALID_PARAMS: `input.missing` has no value, but `/t/a` requires one"],
    );
    check(
        json!({ "a": "x {{ input.none }}" }),
        expect!["INVALID_PARAMS: `input.none` has no value, but `/t/a` requires one"],
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
            "at save: /t/a: must close every `{{` with `}}`; /t/b/0: must use one of `input`; `other` is not known; /t/c: must be a valid expression: filter uper is unknown"
        ],
    );
    check(
        json!("{{ input.a.b() }}"),
        expect!["INVALID_PARAMS: `input.a.b()` in `/t` cannot be evaluated: undefined has no method named b"],
    );
    check(json!("{{ cycler(1) }}"), expect!["at save: /t: must use one of `input`; `cycler` is not known"]);
    check(
        json!({ "{{ input.a }}": 1 }),
        expect!["at save: /t/{{ input.a }}: must not contain an expression: names are fixed"],
    );
    check(
        json!("{% include 'x' %}"),
        expect!["at save: /t: must use only the statements `if` and `for` in `{% … %}`, not `include`"],
    );
    check(
        json!("{%- set a = 1 %}"),
        expect!["at save: /t: must use only the statements `if` and `for` in `{% … %}`, not `set`"],
    );
    check(
        json!("{% macro m() %}{% endmacro %}"),
        expect!["at save: /t: must use only the statements `if` and `for` in `{% … %}`, not `macro`"],
    );
    check(
        json!("{% for a in input.list %}"),
        expect!["at save: /t: must be a valid expression: unexpected end of input, expected end of block"],
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
            "INVALID_PARAMS: `range(10000000) | list` in `/t` cannot be evaluated: range has too many elements"
        ],
    );
    check(
        json!("{{ ([1] * 100000000) | list }}"),
        expect![
            "INVALID_PARAMS: `([1] * 100000000) | list` in `/t` cannot be evaluated: its result is over 8388608 bytes"
        ],
    );
    check(
        json!("{{ [1] * 100000000 }}"),
        expect![
            "INVALID_PARAMS: `[1] * 100000000` in `/t` cannot be evaluated: its result is over 8388608 bytes"
        ],
    );
    check(
        json!("{{ 'x' * 9000000 }}"),
        expect![
            "INVALID_PARAMS: `'x' * 9000000` in `/t` cannot be evaluated: its result is over 8388608 bytes"
        ],
    );
    check(
        json!("{{ ('x' * 8000000) | replace('x', 'y' * 1000) }}"),
        expect![
            "INVALID_PARAMS: `('x' * 8000000) | replace('x', 'y' * 1000)` in `/t` cannot be evaluated: its result is over 8388608 bytes"
        ],
    );
    check(
        json!("{% for a in range(1000) %}{{ 'x' * 100000 }}{% endfor %}"),
        expect!["INVALID_PARAMS: `/t` cannot be filled in: it handles more than 67108864 bytes in total"],
    );
    check(
        json!("{% for a in range(100) %}{{ 'x' * 100000 }}{% endfor %}"),
        expect!["INVALID_PARAMS: `/t` cannot be filled in: its result is over 8388608 bytes"],
    );
    check(json!(format!("{{{{ ({}) | length }}}}", vec!["'ab' * 2"; 40].join(" ~ "))), expect!["160"]);
    check(
        json!(format!("{{{{ {}1{} }}}}", "(".repeat(160), ")".repeat(160))),
        expect!["at save: /t: must be a valid expression: template exceeds maximum recursion limits"],
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

/// The library reads by recursion, and whoever runs out of stack takes the whole server along.
#[test]
fn no_shape_of_a_template_reaches_the_end_of_the_stack() {
    let code = |code: &str| format!("{{{{ {code} }}}}");
    for [start, middle, end] in [
        ["-", "1", ""],
        ["- ", "1", ""],
        ["not ", "1", ""],
        ["(", "1", ")"],
        ["[", "1", "]"],
        ["{'a':", "1", "}"],
        ["(-", "1", ")"],
        ["1 if 1 else ", "1", ""],
        ["1 if ", "1", ""],
        ["1-", "1", ""],
        ["1/", "1", ""],
        ["1<", "1", ""],
        ["1 and ", "1", ""],
        ["1 in ", "1", ""],
        ["1 is ", "odd", ""],
        ["input|string(", "1", ")"],
        ["input[", "1", "]"],
    ] {
        for times in [64, 150, 400, 4_000, 60_000] {
            let nested = format!("{}{middle}{}", start.repeat(times), end.repeat(times));
            // What matters is that it answers.
            for text in [
                code(&nested),
                format!("{{# #}}{}", code(&nested)),
                format!("{{% if {nested} %}}{{% endif %}}"),
            ] {
                let _ = read(&json!(text)).map(|template| template.render(&Context::of_input(&input())));
            }
        }
    }
    for [before, again, behind] in [
        ["{{ input", ".a", " }}"],
        ["{{ input", "[1]", " }}"],
        ["{{ input", "|string", " }}"],
        ["{{ input", "()", " }}"],
        ["{% if 1 %}", "{% elif 1 %}", "{% endif %}"],
        ["", "{% if 1 %}", "{% endif %}"],
        ["", "{% for a in input %}", "{% endfor %}"],
    ] {
        for times in [64, 149, 1_000, 5_000] {
            let _ = read(&json!(format!("{before}{}{}", again.repeat(times), behind.repeat(times))));
            let _ = read(&json!(format!("{before}{}{behind}", again.repeat(times))));
        }
    }
    check(json!(code(&format!("{}1", "-".repeat(399)))), expect!["-1"]);
    check(
        json!(code(&format!("{}1", "-".repeat(400)))),
        expect!["at save: /t: must have expressions of at most 400 names, values and operators"],
    );
}

#[test]
fn filter_that_pads_or_repeats_is_stopped() {
    let started = Instant::now();
    let long = "x".repeat(1 << 20);
    for grown in [
        "(['x'] * 1000) | map('replace', 'x', input)",
        "([none] * 10000) | map('default', [input], true)",
        "(['x'] * 1000) | map('map', 'upper')",
        "'%1000000000d' | format(1)",
        "'%.1000000000f' | format(1.5)",
        "'%*d' | format(1000000000, 1)",
        "('%(a)s' * 1000) | format(a=input)",
        "('%(a)1000d' * 100000) | format(a=1)",
        "'a\nb' | indent(1000000000)",
        "('\n' * 1000000) | indent(1000, blank=true)",
        "[1] | batch(1000000000, 1)",
        "[1] | slice(1000000000)",
        "('<' * 1500000) | escape",
        "('ü' * 1500000) | urlencode",
        "[1] | tojson(indent=1000000000)",
        "([[[[[[1, 2]]]]]] * 1000) | tojson(indent=1000)",
    ] {
        let template = read(&json!(format!("{{{{ {grown} }}}}"))).unwrap();
        assert!(template.render(&Context::of_input(&json!(long))).is_err(), "{grown}");
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// Each class of operations that handles more than the steps say, once too large and once too often.
#[test]
fn operation_pays_for_the_bytes_that_it_handles() {
    let often =
        |what: &str| format!("{{% for a in range(9000) %}}{{% if {what} %}}{{% endif %}}{{% endfor %}}");
    let once = |what: &str| format!("{{{{ {what} }}}}");
    let input = json!({ "text": "x".repeat(1 << 20), "list": vec!["item"; 20_000], "map": { "a": 1 } });
    for grown in [
        once("('x' * 5000000) ~ ('y' * 5000000)"),
        once("('x' * 5000000) + ('y' * 5000000)"),
        once("([[input.text] * 7] * 7) ~ ''"),
        once("([[input.text] * 7] * 7) == ([[input.text] * 7] * 7)"),
        once("([[1] * 10000] * 10000) | length"),
        once("2 * ([1] * 10000000)"),
        once("([1] * 100000000)[99999999]"),
        once("input.text | list"),
        once("input.text | split('x')"),
        once("input.text | replace('x', 'yyyyyyyyyy')"),
        once("input.list | join(input.text)"),
        once("input.list | select('in', input.list) | list"),
        once("input.list | map('replace', 'item', input.text) | list"),
        once("(input.list * 30) | sort"),
        often("input.text | upper == 'x'"),
        often("input.text ~ 'x'"),
        often("input.text == input.text"),
        often("'y' in input.text"),
        often("input.text is upper"),
        often("input.text[::2]"),
        often("{input.text: 1}"),
        often("input.map[input.text]"),
        often("input.list | unique | length == 9"),
        often("loop.changed(input.text)"),
        often("input.text | length == 1"),
    ] {
        let template = read(&json!(grown)).unwrap_or_else(|faults| panic!("{grown}: {faults:?}"));
        let failure = template.render(&Context::of_input(&input)).unwrap_err();
        assert!(failure.message.contains("bytes"), "{grown}: {failure}");
    }
}

#[test]
fn texts_of_one_rendering_share_their_budget() {
    let input = json!("x".repeat(1 << 20));
    let texts = |count| json!(vec!["{{ input ~ '' }}"; count]);
    let rendered = |count| read(&texts(count)).unwrap().render(&Context::of_input(&input));
    assert!(rendered(10).is_ok());
    let failure = rendered(60).unwrap_err();
    assert!(failure.message.contains("it handles more than"), "{failure}");
}

#[test]
fn template_is_cheap_only_where_that_is_certain() {
    for (text, small, bytes) in [
        ("{{ input.a }}", true, 1_000),
        ("{{ input.a }}", false, 1_000_000),
        ("{{ input.a | default('x') | upper }} and {{ input.b + 1 }}", true, 1_000),
        ("{{ input.a ~ input.a ~ input.a ~ input.a }}", false, 100_000),
        ("{{ input.a * 3 }}", false, 10),
        ("{{ input.a | join(',') }}", false, 10),
        ("{{ range(3) }}", false, 10),
        ("{% if input.a %}b{% endif %}", false, 10),
    ] {
        assert_eq!(read(&json!([text])).unwrap().cost().is_small(bytes), small, "{text} over {bytes}");
    }
}

/// What an author saves is looked through and not run.
#[test]
fn nothing_runs_while_it_is_read() {
    let started = Instant::now();
    for _ in 0..50 {
        read(&json!("{% for a in range(90000) %}{{ 'x' * 7000000 }}{% endfor %}")).unwrap();
        read(&json!("{{ ('x' * 100000000) ~ ('x' * 100000000) }}")).unwrap();
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
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
