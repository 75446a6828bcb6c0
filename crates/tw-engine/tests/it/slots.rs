//! Places in a concurrency group.

use std::time::Duration;

use serde_json::json;
use tw_model::RunStatus;
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{World, request, told, until, waiting},
};

on_both! {
    async fn calls_of_a_narrow_group_run_one_after_another(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let calls: Vec<_> = (0..8)
            .map(|number| {
                server.ask_soon("member", request("test.limited", &json!({ "key": format!("narrow{number}") })))
            })
            .collect();
        let gates: Vec<_> = (0..8).map(|number| gate(&format!("narrow{number}"))).collect();

        for _ in 0..8 {
            let inside: Vec<_> = until("one of them has the slot", async || {
                let inside: Vec<_> = gates.iter().filter(|gate| gate.inside() == 1).collect();
                (!inside.is_empty()).then_some(inside)
            })
            .await;
            assert_eq!(inside.len(), 1, "two calls of a group for one run at the same time");
            inside[0].open();
            inside[0].emptied(1).await;
        }

        for call in calls {
            assert_eq!(call.await.unwrap().unwrap().run.status, RunStatus::Success);
        }
    }

    async fn call_that_finds_no_slot_in_time_is_refused_and_leaves_no_run(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let first = server.ask_soon("member", request("test.limited", &json!({ "key": "full" })));
        gate("full").reached(1).await;

        let second = request("test.limited", &json!({ "key": "late" }));
        let answer = server.ask("member", waiting(Duration::from_millis(30), second)).await;

        assert_eq!(told(&answer), "RATE_LIMITED: the concurrency group `narrow` was full for 30 ms");
        assert_eq!(server.count_runs().await, 1);
        gate("full").open();
        assert_eq!(first.await.unwrap().unwrap().run.status, RunStatus::Success);
        assert_eq!((effects("full"), effects("late")), (1, 0));
    }

    async fn approved_call_waits_for_its_slot_and_runs_once(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let first = server.ask_soon("member", request("test.limited", &json!({ "key": "busy" })));
        gate("busy").reached(1).await;
        let (run, id) = server.park("test.limited", json!({ "key": "patient" })).await;
        gate("patient").open();

        let yes = tw_engine::Approve { wait: Some(Duration::from_millis(2500)), ..Default::default() };
        let answer = server.approve_as("approver", id, yes).await.unwrap();

        assert_eq!(answer.run.status, RunStatus::Pending, "the slot is taken, and looked for more than once");
        gate("busy").open();
        assert_eq!(server.ended(run).await.status, RunStatus::Success);
        assert_eq!(first.await.unwrap().unwrap().run.status, RunStatus::Success);
        assert_eq!(effects("patient"), 1);
        until("nobody is left over", async || (server.engine.in_flight() == 0).then_some(())).await;
    }
}
