//! Filters that would never end, or never have enough.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tw_sandbox::{Error, JqLimits};

use crate::{SOON, World, patient};

#[tokio::test]
async fn endless_filter_ends_with_its_time_and_the_next_one_works() {
    let world = World::new();
    let limits = JqLimits { time: SOON, outputs: usize::MAX, output_bytes: 1 << 30, ..JqLimits::default() };
    let mut fastest = Duration::MAX;
    for filter in [
        "def f: f; f",
        "last(repeat(.))",
        "until(false; .)",
        "[limit(1; repeat(empty))]",
        "reduce range(1e12) as $i (0; . + 1)",
        "first(recurse | select(false), repeat(empty))",
        "[range(100000) | tostring] | join(\",\") as $text | reduce range(1e9) as $i (0; $text | test(\"(([0-9]+)+,)+$\"))",
    ] {
        world.jq(".", json!(1)).await.unwrap();
        let start = Instant::now();
        let error = world.sandbox.jq(filter, &Value::Null, limits).await.unwrap_err();
        let took = start.elapsed();
        assert!(matches!(error, Error::Time { after } if after == SOON), "{filter}: {error:?}");
        assert!(SOON <= took, "{filter}: {took:?}");
        fastest = fastest.min(took);
        assert_eq!(world.jq(". + 1", json!(1)).await.unwrap(), [json!(2)]);
    }
    // The machine may have been busy with something else at one of them, or at most.
    assert!(fastest < SOON + SOON / 10, "{fastest:?}");
}

#[tokio::test]
async fn filter_that_wants_all_memory_gets_no_more_than_its_limit() {
    let world = World::new();
    let limits = JqLimits { memory_bytes: 32 << 20, ..patient() };
    for filter in [
        "[range(1e12)]",
        "\"a\" * 1000000000",
        "\"ab\" * 9000000000000000000",
        "reduce range(64) as $i (\"a\"; . + .)",
        "[limit(1e9; repeat(\"a\"))]",
        "[range(1e6)] | [combinations(9)]",
        "[repeat(0)] | length",
    ] {
        let error = world.sandbox.jq(filter, &Value::Null, limits).await.unwrap_err();
        let right = matches!(error, Error::Memory { bytes } if bytes == 32 << 20);
        assert!(right, "{filter}: {error:?}");
        assert_eq!(world.jq(". + 1", json!(1)).await.unwrap(), [json!(2)], "after {filter}");
    }
}

#[tokio::test]
async fn limit_of_memory_is_of_one_request_and_not_of_its_worker() {
    let world = World::new();
    let half = "[range(500000)] | length";
    for _ in 0..8 {
        let limits = JqLimits { memory_bytes: 32 << 20, ..patient() };
        assert_eq!(world.sandbox.jq(half, &Value::Null, limits).await.unwrap(), [json!(500_000)]);
        let limits = JqLimits { memory_bytes: 128 << 20, ..patient() };
        let more = "[range(2000000)] | length";
        assert_eq!(world.sandbox.jq(more, &Value::Null, limits).await.unwrap(), [json!(2_000_000)]);
    }
    assert_eq!(world.workers().len(), 1);
    let input = Value::String("a".repeat(1 << 20));
    let limits = JqLimits { memory_bytes: 1 << 20, ..patient() };
    let error = world.sandbox.jq(".", &input, limits).await.unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error:?}");
}

#[tokio::test]
async fn filter_that_recurses_or_nests_without_end_fails_alone() {
    let world = World::new();
    let limits = JqLimits { memory_bytes: 1 << 30, ..patient() };
    for filter in [
        "def f: [f]; f",
        "def f: 1 + f; f",
        "reduce range(200) as $i (0; [.])",
        "reduce range(200) as $i (0; {a: .})",
        "\"[\" * 1000000 | fromjson",
    ] {
        let error = world.sandbox.jq(filter, &Value::Null, limits).await.unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{filter}: {error:?}");
        assert_eq!(world.jq(". + 1", json!(1)).await.unwrap(), [json!(2)], "after {filter}");
    }
    let given = world.jq("reduce range(99) as $i (0; [.])", Value::Null).await.unwrap();
    assert_eq!(given[0].to_string(), format!("{}0{}", "[".repeat(99), "]".repeat(99)));
}

#[tokio::test]
async fn results_are_cut_by_number_and_by_size() {
    let world = World::new();
    let limits = JqLimits { outputs: 3, output_bytes: 20, ..patient() };
    let jq = async |filter| world.sandbox.jq(filter, &Value::Null, limits).await;

    assert_eq!(jq("range(3)").await.unwrap().len(), 3);
    assert!(matches!(jq("range(4)").await, Err(Error::Outputs { max: 3 })));
    assert!(matches!(jq("repeat(.)").await, Err(Error::Outputs { max: 3 })));
    // Not a second more than the limit is asked for, so the error after it never happens.
    assert!(matches!(jq("1, 2, 3, 4, error").await, Err(Error::Outputs { max: 3 })));
    assert_eq!(jq("\"a\" * 18").await.unwrap(), [json!("a".repeat(18))]);
    assert!(matches!(jq("\"a\" * 19").await, Err(Error::OutputBytes { max: 20 })));
    assert!(matches!(jq("[range(10)]").await, Err(Error::OutputBytes { max: 20 })));
    assert!(matches!(jq("{a: (\"b\" * 1000000)}").await, Err(Error::OutputBytes { max: 20 })));
}

#[tokio::test]
async fn regular_expression_takes_linear_time() {
    let world = World::new();
    let input = Value::String(format!("{}!", "a".repeat(5000)));

    assert_eq!(world.jq("test(\"^(a+)+$\")", input).await.unwrap(), [json!(false)]);

    let bomb = world.jq("test(\"((a{100}){100}){100}\")", json!("a")).await.unwrap_err();
    assert!(matches!(bomb, Error::Failed { .. } | Error::Memory { .. } | Error::Time { .. }), "{bomb:?}");
}
