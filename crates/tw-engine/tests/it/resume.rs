//! Approved calls that go on elsewhere or later than where they were approved.

use serde_json::json;
use tw_model::{ApprovalId, EventId, EventKind, RunId, RunStatus, Timestamp};
use tw_store::{
    Store,
    log::{ApprovalDecision, Change, Entry, Expect, NewEvent, Transition},
};
use tw_test::{TestDb, on_both};

use crate::{
    tools::effects,
    world::{Server, World},
};

/// Records a yes and does nothing about it, as a server would that died right after.
pub(crate) async fn approve_and_die(store: &Store, server: &Server, run: RunId, id: ApprovalId) {
    let run = server.scope().run(run).await.unwrap().unwrap();
    record_yes(store, &run, id).await;
}

pub(crate) async fn record_yes(store: &Store, run: &tw_store::Run, id: ApprovalId) {
    let change = Change {
        to: Some(RunStatus::Pending),
        decision: Some(ApprovalDecision {
            status: tw_model::ApprovalStatus::Approved,
            by: Some("user:somebody".to_owned()),
            note: None,
            changes: None,
            input: None,
            standing: None,
        }),
        ..Change::expecting(Expect::Status(RunStatus::NeedsApproval))
    };
    let payload = json!({ "approval_id": id }).to_string();
    let entry = Entry {
        tenant: run.tenant,
        run: run.id,
        session: run.session,
        tool: run.tool.as_str().into(),
        actor: r#"{"kind":"system"}"#.into(),
        at: Timestamp::now(),
        transition: Transition::Change(Box::new(change)),
        events: vec![NewEvent { id: EventId::new(), kind: EventKind::Approved, payload }],
        audit: None,
    };
    store.log().append(entry).wait().await.unwrap();
}

const TRAIL: &str = "\
tool.needs_approval test.write level_write
tool.approved test.write
tool.started test.write
tool.completed test.write
";

on_both! {
    async fn approved_call_is_not_forgotten_by_a_restart(db: TestDb) {
        let mut world = World::new(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "restart" })).await;
        let parked = world.one().stored(run).await;
        world.one().engine.close().await;
        let store = world.db.store().await;
        record_yes(&store, &parked, id).await;
        assert_eq!(store.tenant(world.tenant()).run(run).await.unwrap().unwrap().status, RunStatus::Pending);
        store.close().await;
        assert_eq!(effects("restart"), 0);

        let server = world.start().await;

        assert_eq!(server.ended(run).await.status, RunStatus::Success);
        assert_eq!(server.trail(run).await, TRAIL);
        assert_eq!(effects("restart"), 1);
    }

    async fn call_that_waits_is_not_forgotten_by_a_restart(db: TestDb) {
        let mut world = World::new(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "patient" })).await;
        world.one().engine.drain(std::time::Duration::from_secs(1)).await;
        world.one().engine.close().await;

        let server = world.start().await;
        server.engine.close_left_over_runs().await.unwrap();

        assert_eq!(server.stored(run).await.status, RunStatus::NeedsApproval, "it belongs to no server");
        server.approve("approver", id).await.unwrap();
        assert_eq!(server.trail(run).await, TRAIL);
        assert_eq!(effects("patient"), 1);
    }

    async fn server_that_hears_of_an_approval_takes_it_up(db: TestDb) {
        let world = World::pair(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "heard" })).await;

        // On PostgreSQL by somebody who serves no calls at all.
        let store = match world.db.kind() {
            tw_test::Kind::Sqlite => world.one().store.clone(),
            tw_test::Kind::Postgres => world.db.store().await,
        };
        approve_and_die(&store, world.one(), run, id).await;

        assert_eq!(world.other().ended(run).await.status, RunStatus::Success);
        assert_eq!(world.other().trail(run).await, TRAIL);
        assert_eq!(effects("heard"), 1);
    }
}
