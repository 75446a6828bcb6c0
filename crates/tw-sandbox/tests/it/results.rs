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
