//! Ending runs that have not ended.

use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::json;
use tw_base::Error;
use tw_model::{RunId, RunStatus};
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{Server, World, refused, request, told},
};

/// A run that is in mid-flight, at the gate of this key.
async fn in_flight(server: &Server, tool: &str, key: &str) -> RunId {
    server.ask_soon("member", request(tool, &json!({ "key": key })));
    gate(key).reached(1).await;
    let filter = tw_store::RunFilter { tool: Some(tool.to_owned()), ..Default::default() };
    crate::world::until("the start is on disk", async || {
        let runs = server.scope().runs(&filter, None, 0, 1).await.unwrap();
        runs.first().map(|run| run.id)
    })
    .await
}

on_both! {
    async fn run_is_cancelled_within_a_second_wherever_it_runs(db: TestDb) {
        let world = World::pair(db).await;
        let mut quickest = Duration::MAX;
        for key in ["stop", "halt", "enough"] {
            let caller = world.one().ask_soon("member", request("test.gate", &json!({ "key": key })));
            gate(key).reached(1).await;
            let run = world.one().scope().runs(&Default::default(), None, 0, 1).await.unwrap()[0].id;
            let asked = Instant::now();

            let answer = world.other().cancel("member", run).await;

            assert_eq!(told(&answer), "cancelled CANCELLED the run was cancelled");
            assert_eq!(told(&caller.await.unwrap()), "cancelled CANCELLED the run was cancelled");
            gate(key).emptied(1).await;
            quickest = quickest.min(asked.elapsed());
            gate(key).open();
            let stored = world.one().stored(run).await;
            assert_eq!((stored.status, stored.effect.map(tw_model::Effect::as_str)), (RunStatus::Cancelled, Some("unknown")));
            expect![[r"
                tool.started test.gate
                tool.cancelled test.gate cancelled effect=unknown
            "]]
            .assert_eq(&world.one().trail(run).await);
            assert_eq!(effects(key), 0);
            assert_eq!(world.one().engine.in_flight(), 0);
        }
        // The best of three, since a busy machine may hold up any one of them.
        assert!(quickest < Duration::from_secs(1), "{quickest:?}");
    }

    async fn cancelled_read_had_no_effect(db: TestDb) {
        let world = World::pair(db).await;
        let run = in_flight(world.one(), "test.gate_read", "look").await;

        world.other().cancel("admin", run).await.unwrap();

        gate("look").emptied(1).await;
        expect![[r"
            tool.started test.gate_read
            tool.cancelled test.gate_read cancelled effect=none
        "]]
        .assert_eq(&world.one().trail(run).await);
    }

    async fn cancelling_a_call_that_waits_takes_its_approval_away(db: TestDb) {
        let world = World::pair(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "withdrawn" })).await;

        world.other().cancel("agent", run).await.unwrap();

        let approval = world.one().approval(id).await;
        assert_eq!((approval.status.as_str(), approval.state.as_str()), ("cancelled", "cancelled"));
        let answer = world.one().approve("approver", id).await;
        assert_eq!(told(&answer), "ALREADY_DECIDED: the approval is cancelled already");
        expect![[r"
            tool.needs_approval test.write level_write
            tool.cancelled test.write cancelled effect=none
        "]]
        .assert_eq(&world.one().trail(run).await);
        assert_eq!(effects("withdrawn"), 0);
    }

    async fn run_that_has_ended_stays_as_it_is(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let run = server.call("member", "test.write", json!({ "key": "over" })).await.unwrap().run.id;

        let error = server.cancel("member", run).await.unwrap_err();

        assert_eq!(refused(&error), "CONFLICT: the run has ended already: success");
        assert_eq!(server.stored(run).await.status, RunStatus::Success);
    }

    async fn run_of_somebody_else_is_not_there_to_be_cancelled(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let run = in_flight(server, "test.gate", "theirs").await;

        for who in ["stranger", "agent", "approver"] {
            let error = server.cancel(who, run).await.unwrap_err();
            assert_eq!(refused(&error), "NOT_FOUND: there is no such run", "{who}");
        }
        let error = server.cancel("viewer", run).await.unwrap_err();
        assert!(matches!(error, Error::NotPermitted { .. }));

        assert_eq!(server.stored(run).await.status, RunStatus::Running);
        gate("theirs").open();
        assert_eq!(server.ended(run).await.status, RunStatus::Success);
    }

    async fn of_many_who_cancel_one_does(db: TestDb) {
        let world = World::pair(db).await;
        let run = in_flight(world.one(), "test.gate", "many").await;

        let tries = (0..16).map(|number| {
            let server = if number % 2 == 0 { world.one() } else { world.other() };
            server.cancel("admin", run)
        });
        let answers = futures::future::join_all(tries).await;

        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert!(answers.iter().flat_map(|answer| answer.as_ref().err()).all(|error| matches!(error, Error::Conflict { .. })));
        assert_eq!(world.one().trail(run).await.lines().count(), 2);
    }
}
