//! Runs that a server left open when it died.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use tw_model::{RunId, RunStatus};
use tw_test::{Kind, TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{Server, World, request, told, until},
};

/// A run in mid-flight at the gate of this key, on disk.
async fn in_flight(server: &Server, tool: &str, key: &str) -> RunId {
    server.ask_soon("member", request(tool, &json!({ "key": key })));
    gate(key).reached(1).await;
    until("the start is on disk", async || {
        let runs = server.scope().runs(&Default::default(), None, 0, 100).await.unwrap();
        runs.iter()
            .find(|run| run.input.as_ref().is_some_and(|input| input.get().contains(key)))
            .map(|run| run.id)
    })
    .await
}

/// Takes the database away from a server, which from then on can neither write nor say goodbye.
async fn kill(server: &Server) {
    server.store.close().await;
}

on_both! {
    async fn runs_of_a_server_that_died_are_closed_at_the_next_start(db: TestDb) {
        let mut world = World::new(db).await;
        let write = in_flight(world.one(), "test.gate", "cut write").await;
        let read = in_flight(world.one(), "test.gate_read", "cut read").await;
        let (parked, _) = world.one().park("test.write", json!({ "key": "cut parked" })).await;
        let done = world.one().call("member", "test.write", json!({ "key": "cut done" })).await.unwrap().run.id;
        kill(world.one()).await;

        // At once: a start right after the crash, before anybody could miss the dead server.
        let server = world.start().await;
        server.engine.close_left_over_runs().await.unwrap();

        let (write, read) = (server.stored(write).await, server.stored(read).await);
        for run in [&write, &read] {
            assert_eq!((run.status, run.error_code.map(tw_model::Code::as_str)), (RunStatus::Error, Some("INTERRUPTED")));
            assert_eq!(run.replica, None);
            assert!(run.finished.is_some());
        }
        assert_eq!((write.effect.map(tw_model::Effect::as_str), read.effect.map(tw_model::Effect::as_str)), (Some("unknown"), Some("none")));
        expect![[r"
            tool.started test.gate
            tool.failed test.gate INTERRUPTED effect=unknown
        "]]
        .assert_eq(&server.trail(write.id).await);
        expect![[r"
            tool.started test.gate_read
            tool.failed test.gate_read INTERRUPTED effect=none
        "]]
        .assert_eq(&server.trail(read.id).await);
        assert_eq!(server.stored(parked).await.status, RunStatus::NeedsApproval);
        assert_eq!(server.stored(done).await.status, RunStatus::Success);

        // What the dead server's tool still does changes nothing.
        gate("cut write").open();
        gate("cut write").emptied(1).await;
        server.engine.close_left_over_runs().await.unwrap();
        assert_eq!(server.trail(write.id).await.lines().count(), 2);
    }

    async fn closing_leaves_ones_own_runs_alone(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let run = in_flight(server, "test.gate", "own").await;

        server.engine.close_left_over_runs().await.unwrap();

        assert_eq!(server.stored(run).await.status, RunStatus::Running);
        gate("own").open();
        assert_eq!(server.ended(run).await.status, RunStatus::Success);
    }

    async fn server_that_was_taken_for_dead_cannot_write_over_what_others_wrote(db: TestDb) {
        let world = World::pair(db).await;
        if world.db.kind() == Kind::Sqlite {
            return; // There is no other server on SQLite.
        }
        let (slow, other) = (world.one(), world.other());
        let caller = slow.ask_soon("member", request("test.gate", &json!({ "key": "slow" })));
        gate("slow").reached(1).await;
        let run = slow.scope().runs(&Default::default(), None, 0, 1).await.unwrap()[0].id;
        let theirs = in_flight(other, "test.gate", "theirs").await;

        other.engine.close_left_over_runs().await.unwrap();

        assert_eq!(other.stored(run).await.error_code.map(tw_model::Code::as_str), Some("INTERRUPTED"));
        assert_eq!(other.stored(theirs).await.status, RunStatus::Running);
        let answer = caller.await.unwrap();
        assert_eq!(told(&answer), "error INTERRUPTED the server stopped while the tool was running");
        gate("slow").emptied(1).await;
        gate("slow").open();
        gate("theirs").open();
        assert_eq!(other.ended(theirs).await.status, RunStatus::Success);
        expect![[r"
            tool.started test.gate
            tool.failed test.gate INTERRUPTED effect=unknown
        "]]
        .assert_eq(&other.trail(run).await);
        assert_eq!(effects("slow"), 0);
    }

    async fn dead_server_is_swept_by_the_living_and_theirs_are_untouched(db: TestDb) {
        let mut world = World::pair(db).await;
        if world.db.kind() == Kind::Sqlite {
            return; // There is no other server on SQLite.
        }
        let dead = world.start().await;
        let left = in_flight(&dead, "test.gate", "left").await;
        let (_, id) = world.one().park("test.gate", json!({ "key": "left approved" })).await;
        let yes = tw_engine::Approve { wait: Some(Duration::from_millis(1)), ..Default::default() };
        dead.approve_as("approver", id, yes).await.unwrap();
        gate("left approved").reached(1).await;
        let approved = dead.approval(id).await.run;
        let on_dead = dead.stored(approved).await.replica == Some(dead.store.replica());
        let living = [in_flight(world.one(), "test.gate", "first").await, in_flight(&world.servers()[1], "test.gate", "second").await];
        kill(&dead).await;
        let mut raw = world.raw().await;
        let sql = format!("UPDATE replicas SET heartbeat_us = 1 WHERE id = {}", raw.id(dead.store.replica().uuid()));
        raw.execute(sql).await;

        let server = world.one();
        let began = std::time::Instant::now();
        while server.stored(left).await.status.is_open() {
            assert!(began.elapsed() < Duration::from_secs(30), "a run stays open for more than half a minute");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }

        assert_eq!(server.stored(left).await.error_code.map(tw_model::Code::as_str), Some("INTERRUPTED"));
        assert_eq!(server.trail(left).await.lines().count(), 2);
        if on_dead {
            let run = server.ended(approved).await;
            assert_eq!((run.error_code.map(tw_model::Code::as_str), run.effect.map(tw_model::Effect::as_str)), (Some("INTERRUPTED"), Some("unknown")));
            assert_eq!(server.approval(id).await.state.as_str(), "resolved");
        }
        for run in living {
            assert_eq!(server.stored(run).await.status, RunStatus::Running);
        }
        gate("first").open();
        gate("second").open();
        for run in living {
            assert_eq!(server.ended(run).await.status, RunStatus::Success);
        }
        assert_eq!(raw.count("SELECT count(*) FROM replicas").await, 2);
    }
}
