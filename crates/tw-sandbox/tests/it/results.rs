//! What filters give.

use serde_json::{Value, json};
use tw_sandbox::Error;

use crate::World;

#[tokio::test]
async fn filters_give_what_jq_gives() {
    let world = World::new();
    let team = json!({ "users": [
        { "name": "Ada", "age": 36, "tags": ["a", "b"] },
        { "name": "Bob", "age": 17, "tags": [] },
    ]});
    for (filter, outputs) in [
        (".", json!([team])),
        (".users[].name", json!(["Ada", "Bob"])),
        (".users | map(select(.age >= 18) | .name)", json!([["Ada"]])),
        (
            "[.users[] | {name, adult: (.age >= 18)}]",
            json!([[{ "name": "Ada", "adult": true }, { "name": "Bob", "adult": false }]]),
        ),
        (".users | map(.age) | add", json!([53])),
        (".users | map(.age) | add / length", json!([26.5])),
        (".users | group_by(.age < 18) | map(length)", json!([[1, 1]])),
        (".users[0].tags | join(\"-\")", json!(["a-b"])),
        ("\"\\(.users | length) users\"", json!(["2 users"])),
        (".missing // \"none\"", json!(["none"])),
        (".users[].missing?", json!([null, null])),
        ("[limit(3; repeat(1))]", json!([[1, 1, 1]])),
        ("first(range(10; infinite))", json!([10])),
        ("[.users[].age] | sort | until(length < 2; .[1:])", json!([[36]])),
        ("1 | [recurse(if . < 3 then . + 1 else empty end)]", json!([[1, 2, 3]])),
        ("try error(\"no\") catch .", json!(["no"])),
        ("def twice(f): f | f; 3 | twice(. * .)", json!([81])),
        ("reduce .users[] as $u (0; . + $u.age)", json!([53])),
        ("[.users[] | to_entries[0].key]", json!([["name", "name"]])),
        ("\"a1b22\" | [scan(\"[0-9]+\")]", json!([["1", "22"]])),
        ("\"x\" | debug | stderr", json!(["x"])),
        ("\"2024-01-02T03:04:05Z\" | fromdate | todate", json!(["2024-01-02T03:04:05Z"])),
        ("0 | strflocaltime(\"%H\")", json!(["00"])),
        ("now > 0", json!([true])),
        ("empty", json!([])),
        ("4 / 2", json!([2])),
        ("[nan, infinite, -infinite]", json!([[null, f64::MAX, f64::MIN]])),
    ] {
        let given = world.jq(filter, team.clone()).await.unwrap_or_else(|error| panic!("{filter}: {error}"));
        assert_eq!(Value::Array(given), outputs, "{filter}");
    }
}

/// Rows of the manual of jq 1.7 for what jaq has not or has otherwise.
#[tokio::test]
async fn filters_of_the_manual_are_there() {
    let world = World::new();
    for (filter, input, outputs) in [
        ("@csv", json!([1, "a\"b", null, true, ""]), json!(["1,\"a\"\"b\",,true,\"\""])),
        ("@tsv", json!([1, "a\tb\\\n", null, false]), json!(["1\ta\\tb\\\\\\n\t\tfalse"])),
        (
            "@html",
            json!("x < 'y' & \"z\" > &apos;"),
            json!(["x &lt; &#39;y&#39; &amp; &quot;z&quot; &gt; &amp;apos;"]),
        ),
        ("@html \"<b>\\(.)</b>\"", json!("it's"), json!(["<b>it&#39;s</b>"])),
        ("@base32", json!("This is a message"), json!(["KRUGS4ZANFZSAYJANVSXG43BM5SQ===="])),
        ("@base32d", json!("KRUGS4ZANFZSAYJANVSXG43BM5SQ===="), json!(["This is a message"])),
        (
            "[\"\", \"f\", \"fo\", \"foo\", \"foob\", \"fooba\", \"ü\"] | map(@base32 | @base32d) | join(\"|\")",
            json!(null),
            json!(["|f|fo|foo|foob|fooba|ü"]),
        ),
        ("try (\"a1\" | @base32d) catch \"no\"", json!(null), json!(["no"])),
        ("format(\"csv\"), format(\"base64\")", json!([1]), json!(["1", "WzFd"])),
        (".[] | IN(2, 3)", json!([1, 2]), json!([false, true])),
        ("IN(.[]; 2, 5)", json!([1, 2]), json!([true])),
        (
            "INDEX(.id)",
            json!([{ "id": 1, "a": 2 }, { "id": "x" }]),
            json!([{ "1": { "id": 1, "a": 2 }, "x": { "id": "x" } }]),
        ),
        ("INDEX(.[]; .id) | keys", json!([{ "id": 1 }]), json!([["1"]])),
        ("[JOIN({\"1\": \"one\"}; .[]; tostring)]", json!([1, 2]), json!([[[1, "one"], [2, null]]])),
        ("toarray, (1 | toarray)", json!([1]), json!([[1], [1]])),
        ("[tostream]", json!([1, [2, 3]]), json!([[[[0], 1], [[1, 0], 2], [[1, 1], 3], [[1, 1]], [[1]]]])),
        (
            "fromstream(tostream)",
            json!({ "a": [1, { "b": 2 }], "c": {} }),
            json!([{ "a": [1, { "b": 2 }], "c": {} }]),
        ),
        (
            "fromstream(1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]]))",
            json!(null),
            json!([[2]]),
        ),
        (
            "[1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]])]",
            json!(null),
            json!([[[[0], 2], [[0]]]]),
        ),
        ("[leaf_paths]", json!({ "a": { "b": 1 }, "c": [2] }), json!([[["a", "b"], ["c", 0]]])),
        ("[paths(type == \"number\")]", json!({ "a": { "b": 1 } }), json!([[["a", "b"]]])),
        ("65 | ascii", json!(null), json!(["A"])),
        ("trimstr(\"x\")", json!("xax"), json!(["a"])),
        (
            "ltrimstr(\"x\"), rtrimstr(1), rtrimstr(\"\"), trimstr(\"abc\")",
            json!("abc"),
            json!(["abc", "abc", "abc", ""]),
        ),
        ("ltrimstr(\"x\"), rtrimstr(\"x\"), trimstr(1)", json!({}), json!([{}, {}, {}])),
        ("ltrimstr(\"ä\") | rtrimstr(\"ö\")", json!("äuö"), json!(["u"])),
        ("have_literal_numbers, have_decnum", json!(null), json!([true, false])),
        ("pick(.a, .b.c)", json!({ "a": 1, "b": { "c": 2, "d": 3 } }), json!([{ "a": 1, "b": { "c": 2 } }])),
        ("pick(.[1])", json!([1, 2, 3]), json!([[null, 2]])),
        ("pick(first(.[]))", json!([1, 2]), json!([[1]])),
        ("setpath([\"a\", \"b\"]; 1)", json!(null), json!([{ "a": { "b": 1 } }])),
        ("setpath([\"a\", 2]; 1)", json!({ "x": 0 }), json!([{ "x": 0, "a": [null, null, 1] }])),
        ("setpath([-1]; 9), setpath([]; 0)", json!([1, 2]), json!([[1, 9], 0])),
        ("try setpath([\"a\"]; 1) catch \"no\"", json!([1]), json!(["no"])),
        ("del(.[0, 2])", json!([1, 2, 3]), json!([[2]])),
        ("del(.a, .z, .b.c.d)", json!({ "a": 1, "b": { "c": null } }), json!([{ "b": { "c": null } }])),
        (
            "delpaths([[\"a\", \"b\"], [\"c\", 5]])",
            json!({ "a": { "b": 1 }, "c": [1] }),
            json!([{ "a": {}, "c": [1] }]),
        ),
        ("del(.[] | select(. >= 2))", json!([1, 5, 3, 0, 7]), json!([[1, 0]])),
        ("del(.[1:])", json!([1, 2, 3]), json!([[1]])),
        ("getpath([\"a\", \"b\"])", json!(null), json!([null])),
        (
            "from_entries",
            json!([{ "key": "a", "value": 1 }, { "k": "b", "v": 2 }, { "name": "c", "Value": 3 }, { "key": 4, "value": null }]),
            json!([{ "a": 1, "b": 2, "c": 3, "4": null }]),
        ),
        ("with_entries(.key |= ascii_upcase)", json!({ "a": 1 }), json!([{ "A": 1 }])),
        ("join(\"-\"), ([] | join(\"x\"))", json!(["a", null, 1, true]), json!(["a--1-true", ""])),
        ("walk(if type == \"array\" then sort else . end)", json!([3, [2, 1]]), json!([[3, [1, 2]]])),
        ("walk(if type == \"number\" then [.] else . end)", json!({ "a": 1 }), json!([{ "a": [1] }])),
        ("test([\"B\", \"i\"]), test(\"B\"; null), test(\"b\")", json!("abc"), json!([true, false, true])),
        ("[match(\"a\"; \"g\").offset]", json!("aba"), json!([[0, 2]])),
        (
            "capture(\"(?<x>b)\"), gsub(\"b\"; \"-\"), sub(\"(?<l>.)\"; \"\\(.l)!\"; null)",
            json!("abb"),
            json!([{ "x": "b" }, "a--", "a!bb"]),
        ),
        ("[splits(\", *\")], [scan(\"[a-z]\")]", json!("a, b"), json!([["a", "b"], ["a", "b"]])),
        (
            "[limit(2; .[])], until(length < 2; .[1:]), isvalid(error)",
            json!([1, 2, 3]),
            json!([[1, 2], [3], false]),
        ),
        (
            "0 | todate, date, dateadd(\"seconds\"; 5)",
            json!(null),
            json!(["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", 5]),
        ),
        ("[recurse_down] | length", json!([[1]]), json!([3])),
        (
            "ascii_downcase, ascii_upcase, utf8bytelength, explode",
            json!("Aé"),
            json!(["aé", "Aé", 3, [65, 233]]),
        ),
        (
            "getpath([\"a\"]) as $x | {$x, \"y\": ([1, [2]] | flatten), z: (\"1\" | tonumber)}",
            json!({ "a": 1 }),
            json!([{ "x": 1, "y": [1, 2], "z": 1 }]),
        ),
    ] {
        let given = world.jq(filter, input).await.unwrap_or_else(|error| panic!("{filter}: {error}"));
        assert_eq!(Value::Array(given), outputs, "{filter}");
    }
}

#[tokio::test]
async fn numbers_and_the_order_of_keys_come_through_exactly() {
    let world = World::new();
    let exact = json!({
        "z": i64::MIN, "a": i64::MAX, "m": u64::MAX, "b": [9_007_199_254_740_993_u64, -1, 0],
        "f": [0.1, 1.0, -0.0, 1e300, 5e-324, 2.225_073_858_507_201_4e-308, 123_456_789.123_456_79],
        "s": "\u{0} \"quoted\" \u{1F600} \u{2028}",
    });

    let given = world.jq(".", exact.clone()).await.unwrap();
    assert_eq!(given[0].to_string(), exact.to_string());

    let given = world.jq(".m - 1, .a + 1, .b[0] + 0, .m * .m", exact).await.unwrap();
    let float = u64::MAX as f64 * u64::MAX as f64;
    assert_eq!(Value::Array(given), json!([u64::MAX - 1, 1_u64 << 63, 9_007_199_254_740_993_u64, float]));
}

#[tokio::test]
async fn error_of_a_filter_is_told_in_its_words_and_not_at_any_length() {
    let world = World::new();

    let Err(Error::Failed { message }) = world.jq(".a + 1", json!({ "a": {} })).await else { panic!() };
    assert_eq!(message, "cannot calculate {} + 1");
    let Err(Error::Failed { message }) = world.jq("error({a: 1})", Value::Null).await else { panic!() };
    assert_eq!(message, r#"{"a":1}"#);
    let Err(Error::Failed { message }) = world.jq("error(\"ä\" * 5000)", Value::Null).await else {
        panic!()
    };
    assert_eq!(message, "ä".repeat(1024));
    let Err(Error::Filter { message }) = world.jq(". |", Value::Null).await else { panic!() };
    assert_eq!(message, "line 1, column 4: expected term, but the filter ends");
}

#[tokio::test]
async fn result_that_is_not_json_is_refused() {
    let world = World::new();
    for filter in ["{(1): 2}", "\"a\" | tobytes", "break_out", "label $f | break $g"] {
        let error = world.jq(filter, Value::Null).await.unwrap_err();
        assert!(matches!(error, Error::Failed { .. } | Error::Filter { .. }), "{filter}: {error:?}");
    }
}
