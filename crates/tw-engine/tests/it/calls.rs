//! A call that runs, and what it leaves behind.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use tw_model::{EventId, RunStatus, ToolId};
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{World, request, told, until, waiting},
};

on_both! {
    async fn answer_of_a_call_is_what_the_database_keeps(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let answer = server.call("member", "test.echo", json!({ "text": "hi", "times": 2 })).await;

        assert_eq!(told(&answer), r#"success {"text":"hihi"}"#);
        let (answer, approval) = answer.map(|answer| (answer.run, answer.approval)).unwrap();
        let stored = server.stored(answer.id).await;
        assert_eq!(approval, None);
        assert_eq!(stored.status, RunStatus::Success);
        assert_eq!(stored.output.unwrap().get(), answer.output.unwrap().get());
        assert_eq!(stored.summary.as_deref(), Some("said 4 bytes"));
        assert_eq!(stored.summary, answer.summary);
        assert_eq!(stored.markdown.as_deref(), Some("**said**"));
        assert_eq!(stored.markdown, answer.markdown);
        assert!(answer.duration_us.is_some());
        assert_eq!(stored.duration_us, answer.duration_us);
        assert_eq!((stored.started, stored.finished), (answer.started, answer.finished));
        assert_eq!((stored.error, stored.error_code, stored.effect), (None, None, None));
        assert_eq!((stored.session, stored.root, stored.parent), (answer.id.into(), answer.id, None));
        assert_eq!((stored.session, stored.version, stored.tool), (answer.session, answer.version, answer.tool));
        assert_eq!(stored.input.unwrap().get(), r#"{"text":"hi","times":2}"#);
        assert_eq!(stored.principal, format!("user:{}", world.user("member")));
        assert_eq!(stored.replica, None);
        assert_eq!(server.engine.in_flight(), 0);
    }

    async fn log_of_a_call_is_its_start_and_its_end(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let run = server.call("member", "test.echo", json!({ "text": "hi" })).await.unwrap().run;

        let events = server.events(run.id).await;
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(events[0].id, EventId::from(run.id), "the run is named by its start");
        assert_ne!(events[1].id, events[0].id);
        expect![[r"
            tool.started test.echo
            tool.completed test.echo
        "]]
        .assert_eq(&server.trail(run.id).await);
        let actor: Value = serde_json::from_str(events[0].actor.get()).unwrap();
        assert_eq!(
            actor,
            json!({ "kind": "user", "id": world.user("member"), "key": server.key_id("member") })
        );
    }

    async fn defaults_are_part_of_the_input_that_is_kept(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let run = server.call("member", "test.echo", json!({ "text": "hi" })).await.unwrap().run;

        let input: Value = serde_json::from_str(server.stored(run.id).await.input.unwrap().get()).unwrap();
        assert_eq!(input, json!({ "text": "hi", "times": 1 }));
    }

    async fn text_appended_on_the_way_stands_between_start_and_end(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let run = server.call("member", "test.append", json!({ "text": "four" })).await.unwrap().run;

        expect![[r#"
            tool.started test.append
            tool.output_appended test.append "one"
            tool.output_appended test.append "two"
            tool.output_appended test.append "three"
            tool.completed test.append
        "#]]
        .assert_eq(&server.trail(run.id).await);
    }

    async fn tool_is_told_for_whom_it_works(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let whoami = async |who: &str| {
            let run = server.call(who, "test.whoami", json!({})).await.unwrap().run;
            (run.id, serde_json::from_str::<Value>(run.output.unwrap().get()).unwrap())
        };

        let (run, person) = whoami("member").await;
        assert_eq!(
            person,
            json!({
                "tenant": "acme", "user": world.user("member"), "agent": null, "source": "api",
                "run": run, "session": run,
            })
        );
        let (run, agent) = whoami("agent").await;
        assert_eq!(
            agent,
            json!({
                "tenant": "acme", "user": world.user("owner"), "agent": "helper", "source": "agent",
                "run": run, "session": run,
            })
        );
    }

    async fn tool_is_found_by_id_and_in_any_case(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        for name in [ToolId::of_code("test.echo").to_string(), "TEST.Echo".to_owned()] {
            let run = server.call("member", &name, json!({ "text": "hi" })).await.unwrap().run;
            assert_eq!(server.stored(run.id).await.tool, "test.echo");
        }
    }

    async fn caller_who_waits_less_than_the_tool_takes_is_told_that_it_runs(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let call = request("test.gate_read", &json!({ "key": "long" }));

        let answer = server.ask("member", waiting(Duration::from_millis(20), call)).await.unwrap();

        assert_eq!(answer.run.status, RunStatus::Running);
        assert_eq!(server.stored(answer.run.id).await.status, RunStatus::Running);
        gate("long").open();
        assert_eq!(server.ended(answer.run.id).await.status, RunStatus::Success);
        expect![[r"
            tool.started test.gate_read
            tool.completed test.gate_read
        "]]
        .assert_eq(&server.trail(answer.run.id).await);
    }

    async fn caller_who_hangs_up_does_not_stop_the_run(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let call = server.ask_soon("member", request("test.gate", &json!({ "key": "alone" })));
        gate("alone").reached(1).await;

        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        gate("alone").open();

        let run = until("the run is kept", async || {
            let runs = server.scope().runs(&tw_store::RunFilter::default(), None, 0, 1).await.unwrap();
            runs.into_iter().find(|run| !run.status.is_open())
        })
        .await;
        assert_eq!(run.status, RunStatus::Success);
        assert_eq!(effects("alone"), 1);
    }

    async fn start_of_a_write_is_on_disk_before_the_tool_runs(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let call = server.ask_soon("member", request("test.gate", &json!({ "key": "first" })));
        gate("first").reached(1).await;

        let runs = server.scope().runs(&tw_store::RunFilter::default(), None, 0, 10).await.unwrap();

        assert_eq!(runs.len(), 1);
        assert_eq!((runs[0].status, runs[0].replica), (RunStatus::Running, Some(server.store.replica())));
        assert_eq!(server.trail(runs[0].id).await, "tool.started test.gate\n");
        let alive = server.store.is_alive(server.store.replica(), tw_model::Timestamp::from_micros(0)).await;
        assert!(alive.unwrap(), "no other server may take the run for one that was left over");
        gate("first").open();
        assert_eq!(told(&call.await.unwrap()), r#"success {"count":1,"amount":0}"#);
    }
}
