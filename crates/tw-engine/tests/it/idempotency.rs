//! The same request again is the same request.

use std::time::Duration;

use serde_json::json;
use tw_base::{Error, Result};
use tw_engine::{Answer, CallRequest};
use tw_model::RunStatus;
use tw_test::{Kind, TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{World, keyed, told},
};

fn again(request: &CallRequest) -> CallRequest {
    CallRequest {
        tool: request.tool.clone(),
        input: request.input.clone(),
        session: request.session,
        wait: request.wait,
        version: request.version.clone(),
        unsaved: None,
        settings: None,
        secrets: None,
        upstream_key: None,
        unwanted: None,
        progress: None,
        mode: request.mode,
        idempotency: request.idempotency.clone(),
        deadline: None,
        record: None,
    }
}

/// What a door shows of an answer.
fn shown(answer: &Result<Answer>) -> String {
    let Answer { run, approval, .. } = answer.as_ref().unwrap();
    let output = run.output.as_ref().map(|output| output.get());
    format!(
        "{} {} {} {:?} {output:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {approval:?}",
        run.id,
        run.tool,
        run.version,
        run.status,
        run.summary,
        run.markdown,
        run.error,
        run.error_code,
        run.duration_us,
        run.session,
        run.effect
    )
}

on_both! {
    async fn same_key_and_body_get_the_same_answer_and_one_effect(db: TestDb) {
        let world = World::pair(db).await;
        let request = keyed("test.write", &json!({ "key": "once" }), "k1");

        let first = world.one().ask("member", again(&request)).await;
        let second = world.other().ask("member", again(&request)).await;
        let third = world.one().ask("member", request).await;

        assert_eq!(told(&first), r#"success {"count":1,"amount":0}"#);
        assert_eq!(shown(&second), shown(&first));
        assert_eq!(shown(&third), shown(&first));
        assert_eq!(effects("once"), 1);
        assert_eq!(world.one().count_runs().await, 1);
    }

    async fn failure_is_an_answer_like_any_other(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        for (tool, input) in [
            ("test.fail", json!({ "text": "no" })),
            ("test.panic", json!({ "text": "no" })),
            ("test.hasty", json!({ "key": "no", "ms": 60_000 })),
        ] {
            let request = keyed(tool, &input, "k1");
            let first = server.ask("member", again(&request)).await;
            assert_eq!(shown(&server.ask("member", request).await), shown(&first));
        }
        assert_eq!(server.count_runs().await, 3);
    }

    async fn same_key_with_another_body_is_refused(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        server.ask("member", keyed("test.write", &json!({ "key": "body" }), "k1")).await.unwrap();

        let other = server.ask("member", keyed("test.write", &json!({ "key": "body", "amount": 2 }), "k1")).await;

        assert!(matches!(other, Err(Error::IdempotencyMismatch)), "{}", told(&other));
        assert_eq!(effects("body"), 1);
    }

    async fn key_belongs_to_its_caller_and_its_route(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let input = json!({ "key": "scope" });
        for who in ["member", "stranger"] {
            server.ask(who, keyed("test.write", &input, "k1")).await.unwrap();
        }
        server.ask("member", keyed("test.auto", &input, "k1")).await.unwrap();
        assert_eq!(effects("scope"), 3);
    }

    async fn request_that_is_under_way_is_not_made_again(db: TestDb) {
        let world = World::pair(db).await;
        let request = keyed("test.gate", &json!({ "key": "flight" }), "k1");
        let first = world.one().ask_soon("member", again(&request));
        gate("flight").reached(1).await;

        let second = world.other().ask("member", again(&request)).await;

        assert!(matches!(second, Err(Error::IdempotencyInFlight)), "{}", told(&second));
        assert_eq!(second.unwrap_err().retry_after(), Some(Duration::from_secs(1)));
        gate("flight").open();
        let first = first.await.unwrap();
        assert_eq!(shown(&world.other().ask("member", request).await), shown(&first));
        assert_eq!(effects("flight"), 1);
    }

    async fn thirty_two_at_once_under_one_key_have_one_effect(db: TestDb) {
        let world = World::pair(db).await;
        let request = keyed("test.write", &json!({ "key": "crowd" }), "k1");

        let calls: Vec<_> = (0..32)
            .map(|number| {
                let server = if number % 2 == 0 { world.one() } else { world.other() };
                server.ask_soon("member", again(&request))
            })
            .collect();
        let mut answers = Vec::new();
        for call in calls {
            answers.push(call.await.unwrap());
        }

        assert_eq!(effects("crowd"), 1);
        let told: Vec<_> = answers.iter().map(told).collect();
        let known = |text: &&String| {
            *text == r#"success {"count":1,"amount":0}"#
                || *text == "IDEMPOTENCY_IN_FLIGHT: the request with this idempotency key is still running"
        };
        assert_eq!(told.iter().filter(known).count(), 32, "{told:#?}");
        assert!(answers.iter().any(Result::is_ok));
        assert_eq!(world.one().count_runs().await, 1);
        let last = world.other().ask("member", request).await;
        assert_eq!(shown(&last), shown(answers.iter().find(|answer| answer.is_ok()).unwrap()));
    }

    async fn callers_of_the_same_few_keys_do_not_hold_each_other_up(db: TestDb) {
        let world = World::pair(db).await;
        for round in 0..5 {
            let calls: Vec<_> = (0..96)
                .map(|number| {
                    let server = if number % 2 == 0 { world.one() } else { world.other() };
                    // Some go up the list of keys and some go down it.
                    let key = if number % 4 < 2 { number % 12 } else { 11 - number % 12 };
                    let name = format!("few{round}-{key}");
                    server.ask_soon("member", keyed("test.write", &json!({ "key": name }), &name))
                })
                .collect();
            for call in calls {
                let answer = call.await.unwrap();
                assert!(matches!(answer, Ok(_) | Err(Error::IdempotencyInFlight)), "{}", told(&answer));
            }
            for key in 0..12 {
                assert!(effects(&format!("few{round}-{key}")) <= 1);
            }
        }
        if world.db.kind() == Kind::Postgres {
            let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
            assert_eq!(world.raw().await.count(sql).await, 0, "each of them costs everybody a second");
        }
    }

    async fn parked_call_is_not_parked_again(db: TestDb) {
        let world = World::pair(db).await;
        let request = keyed("test.write", &json!({ "key": "parked" }), "k1");
        let first = world.one().ask("agent", again(&request)).await;
        let second = world.other().ask("agent", again(&request)).await;
        assert_eq!(told(&first), "needs_approval");
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!((first.run.id, first.approval), (second.run.id, second.approval));

        world.other().approve("approver", first.approval.unwrap()).await.unwrap();

        let third = world.one().ask("agent", request).await;
        assert_eq!(told(&third), r#"success {"count":1,"amount":0}"#);
        assert_eq!(third.unwrap().run.id, first.run.id);
        assert_eq!((effects("parked"), world.one().count_runs().await), (1, 1));
    }

    async fn refused_request_leaves_its_key_free(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let mut request = keyed("test.write", &json!({ "key": "free" }), "k1");
        request.version = Some("9.9.9".to_owned());
        assert!(server.ask("member", again(&request)).await.is_err());
        request.version = None;
        assert_eq!(told(&server.ask("member", request).await), r#"success {"count":1,"amount":0}"#);
    }

    async fn key_that_has_run_out_is_free_again(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let request = keyed("test.write", &json!({ "key": "old" }), "k1");
        server.ask("member", again(&request)).await.unwrap();
        world.raw().await.execute("UPDATE idempotency SET expires_us = 1").await;

        server.ask("member", request).await.unwrap();

        assert_eq!(effects("old"), 2);
    }

    async fn interrupted_read_is_made_again_and_interrupted_write_is_not(db: TestDb) {
        let mut world = World::new(db).await;
        let read = keyed("test.gate_read", &json!({ "key": "cut read" }), "k1");
        let write = keyed("test.gate", &json!({ "key": "cut write" }), "k2");
        world.one().ask_soon("member", again(&read));
        world.one().ask_soon("member", again(&write));
        gate("cut read").reached(1).await;
        gate("cut write").reached(1).await;
        // The server is gone before either ends.
        crate::world::until("both starts are on disk", async || (world.one().count_runs().await == 2).then_some(())).await;
        world.one().engine.close().await;
        let server = world.start().await;
        server.engine.close_left_over_runs().await.unwrap();
        gate("cut read").open();
        gate("cut write").open();

        let calls: Vec<_> = (0..8).map(|_| server.ask_soon("member", again(&read))).collect();
        let mut made = Vec::new();
        for call in calls {
            made.extend(call.await.unwrap().ok().map(|answer| answer.run.id));
        }
        let repeated = server.ask("member", read).await;
        let stored = server.ask("member", write).await;

        assert_eq!(repeated.as_ref().unwrap().run.status, RunStatus::Success);
        made.retain(|run| *run != repeated.as_ref().unwrap().run.id);
        assert_eq!(made, [], "it is made again once");
        assert_eq!(told(&stored), "error INTERRUPTED the server stopped while the tool was running");
        assert_eq!(stored.unwrap().run.effect.map(tw_model::Effect::as_str), Some("unknown"));
        assert_eq!(gate("cut write").entered(), 1, "nobody knows whether it had its effect, so it is not made again");
        assert_eq!(gate("cut read").entered(), 2);
        assert_eq!(server.count_runs().await, 3);
    }
}
