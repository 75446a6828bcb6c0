//! Calls that run and do not succeed. A failure is a result: it is answered and kept like any other.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::json;
use tw_model::RunStatus;
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{Server, World, told},
};

/// Calls as `member`, and holds the answer against what the database keeps.
async fn fails(server: &Server, tool: &str, input: serde_json::Value) -> (String, String) {
    let answer = server.call("member", tool, input).await;
    let said = told(&answer);
    let answer = answer.unwrap().run;
    let stored = server.stored(answer.id).await;
    assert_eq!(stored.status, answer.status);
    assert_eq!((stored.error, stored.error_code), (answer.error, answer.error_code));
    assert_eq!((stored.effect, stored.summary), (answer.effect, answer.summary));
    assert_eq!((stored.duration_us, stored.finished), (answer.duration_us, answer.finished));
    assert!(stored.output.is_none() && answer.output.is_none());
    (said, server.trail(answer.id).await)
}

on_both! {
    async fn failure_of_a_tool_is_a_result(db: TestDb) {
        let world = World::new(db).await;
        let (said, trail) = fails(world.one(), "test.fail", json!({ "text": "no\u{0}good" })).await;
        assert_eq!(said, "error TOOL_FAILED no\u{fffd}good");
        expect![[r"
            tool.started test.fail
            tool.failed test.fail TOOL_FAILED
        "]]
        .assert_eq(&trail);
    }

    async fn panic_ends_its_own_run_and_nothing_else(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        for _ in 0..3 {
            let (said, trail) = fails(server, "test.panic", json!({ "text": "password is 1234" })).await;
            assert_eq!(said, "error TOOL_PANICKED the tool crashed; its author can find out why in the server's log");
            expect![[r"
                tool.started test.panic
                tool.failed test.panic TOOL_PANICKED
            "]]
            .assert_eq(&trail);
        }
        let answer = server.call("member", "test.echo", json!({ "text": "hi" })).await;
        assert_eq!(told(&answer), r#"success {"text":"hi"}"#);
        assert_eq!(server.engine.in_flight(), 0);
    }

    async fn output_that_breaks_its_schema_is_not_handed_on(db: TestDb) {
        let world = World::new(db).await;
        let (said, trail) = fails(world.one(), "test.bad_output", json!({ "text": "seven" })).await;
        expect![[r"error OUTPUT_INVALID the tool's output does not fit its schema: `/number` must be an integer, not a string"]]
            .assert_eq(&said);
        expect![[r"
            tool.started test.bad_output
            tool.failed test.bad_output OUTPUT_INVALID
        "]]
        .assert_eq(&trail);
        assert!(!trail.contains("seven"));
    }

    async fn tool_past_its_time_is_stopped_and_answered(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let began = Instant::now();

        let (said, trail) = fails(server, "test.hasty", json!({ "key": "late", "ms": 60_000 })).await;

        assert!(began.elapsed() < Duration::from_secs(5));
        assert_eq!(said, "timed_out TIMEOUT Tool timed out after 150ms");
        expect![[r"
            tool.started test.hasty
            tool.failed test.hasty TIMEOUT effect=unknown
        "]]
        .assert_eq(&trail);
        let (said, trail) = fails(server, "test.hasty_read", json!({ "key": "late", "ms": 60_000 })).await;
        assert_eq!(said, "timed_out TIMEOUT Tool timed out after 150ms");
        expect![[r"
            tool.started test.hasty_read
            tool.failed test.hasty_read TIMEOUT effect=none
        "]]
        .assert_eq(&trail);
        assert_eq!(effects("late"), 0);
        assert_eq!(server.engine.in_flight(), 0);
    }

    async fn cancelling_tells_blocking_work_and_does_not_wait_for_it(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let input = json!({ "key": "stubborn" });
        let call = server.ask_soon("member", crate::world::request("test.block", &input));
        gate("stubborn").reached(1).await;
        let runs = server.scope().runs(&tw_store::RunFilter::default(), None, 0, 1).await.unwrap();

        server.cancel("member", runs[0].id).await.unwrap();

        let answer = tokio::time::timeout(Duration::from_secs(5), call).await.expect("the caller is not kept");
        assert_eq!(told(&answer.unwrap()), "cancelled CANCELLED the run was cancelled");
        gate("stubborn").open();
        gate("stubborn").emptied(1).await;
        assert_eq!(server.stored(runs[0].id).await.status, RunStatus::Cancelled, "what came later is thrown away");
        expect![[r"
            tool.started test.block
            tool.cancelled test.block cancelled effect=unknown
        "]]
        .assert_eq(&server.trail(runs[0].id).await);
    }
}
