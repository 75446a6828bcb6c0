//! A server that stops: it lets nothing in, waits for what is under way, and says what it cut off.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::json;
use tw_base::Error;
use tw_model::RunStatus;
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{World, request, told, until},
};

on_both! {
    async fn run_under_way_is_waited_for_and_nothing_new_begins(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let call = server.ask_soon("member", request("test.gate", &json!({ "key": "finishing" })));
        gate("finishing").reached(1).await;
        let (_, id) = server.park("test.write", json!({ "key": "later" })).await;

        let draining = tokio::spawn({
            let engine = server.engine.clone();
            async move { engine.drain(Duration::from_secs(20)).await }
        });
        until("the door is shut", async || server.engine.ready().await.is_err().then_some(())).await;

        for who in ["member", "agent"] {
            let answer = server.call(who, "test.write", json!({ "key": "too late" })).await;
            assert!(matches!(answer, Err(Error::ShuttingDown)), "{}", told(&answer));
        }
        let yes = tw_engine::Approve { wait: Some(Duration::from_millis(50)), ..Default::default() };
        let approved = server.approve_as("approver", id, yes).await.unwrap();
        assert_eq!(approved.run.status, RunStatus::Pending, "the decision stands; another server runs it");
        assert!(!draining.is_finished());
        gate("finishing").open();
        draining.await.unwrap();
        assert_eq!(told(&call.await.unwrap()), r#"success {"count":1,"amount":0}"#);
        assert_eq!(server.engine.in_flight(), 0);
        assert_eq!((effects("too late"), effects("later")), (0, 0));
    }

    async fn run_that_does_not_end_in_time_is_recorded_as_interrupted(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let write = server.ask_soon("member", request("test.gate", &json!({ "key": "endless" })));
        let read = server.ask_soon("member", request("test.gate_read", &json!({ "key": "endless read" })));
        let kind = server.ask_soon("member", request("test.slow_write", &json!({ "key": "kind", "ms": 60_000 })));
        let blocked = server.ask_soon("member", request("test.block", &json!({ "key": "endless block" })));
        gate("endless").reached(1).await;
        gate("endless read").reached(1).await;
        gate("endless block").reached(1).await;
        until("all four are under way", async || (server.count_runs().await == 4).then_some(())).await;
        let began = Instant::now();

        server.engine.drain(Duration::from_millis(100)).await;

        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        gate("endless block").open();
        for (call, effect) in [(write, "unknown"), (read, "none"), (kind, "unknown"), (blocked, "unknown")] {
            let answer = call.await.unwrap();
            assert_eq!(told(&answer), "error INTERRUPTED the server stopped while the tool was running");
            let run = server.stored(answer.unwrap().run.id).await;
            assert_eq!((run.status, run.error_code.map(tw_model::Code::as_str)), (RunStatus::Error, Some("INTERRUPTED")), "{}", run.tool);
            assert_eq!(run.effect.map(tw_model::Effect::as_str), Some(effect), "{}", run.tool);
            assert_eq!(server.trail(run.id).await.lines().count(), 2);
        }
        assert_eq!((effects("endless"), effects("kind")), (0, 0));
    }

    async fn call_that_waits_for_its_place_does_not_begin_while_the_server_stops(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let first = server.ask_soon("member", request("test.limited", &json!({ "key": "inside" })));
        gate("inside").reached(1).await;
        let queued = server.ask_soon("member", request("test.limited", &json!({ "key": "queued" })));
        let (run, id) = server.park("test.limited", json!({ "key": "approved" })).await;
        let yes = tw_engine::Approve { wait: Some(Duration::from_millis(1)), ..Default::default() };
        server.approve_as("approver", id, yes).await.unwrap();
        gate("queued").open();
        gate("approved").open();

        let draining = tokio::spawn({
            let engine = server.engine.clone();
            async move { engine.drain(Duration::from_secs(20)).await }
        });
        until("the door is shut", async || server.engine.ready().await.is_err().then_some(())).await;
        gate("inside").open();
        draining.await.unwrap();

        assert_eq!(first.await.unwrap().unwrap().run.status, RunStatus::Success);
        let queued = queued.await.unwrap();
        assert!(matches!(queued, Err(Error::ShuttingDown)), "{}", told(&queued));
        assert_eq!(server.stored(run).await.status, RunStatus::Pending);
        assert_eq!((effects("queued"), effects("approved")), (0, 0));
    }

    async fn closed_server_refuses_instead_of_hanging(db: TestDb) {
        let mut world = World::new(db).await;
        let caller = world.one().caller("member").await.unwrap();
        let permit = tw_identity::rights::Permit::check(caller).unwrap();
        let server = world.one().clone();
        server.engine.drain(Duration::from_secs(1)).await;
        server.engine.close().await;

        let answer = server.engine.call(&permit, request("test.echo", &json!({ "text": "hi" }))).await;

        expect![[r"SHUTTING_DOWN: this server is about to stop"]].assert_eq(&told(&answer));
        let next = world.start().await;
        assert_eq!(told(&next.call("member", "test.echo", json!({ "text": "hi" })).await), r#"success {"text":"hi"}"#);
    }
}
