//! Approved calls that go on elsewhere or later than where they were approved.

use std::time::Duration;

use futures::FutureExt as _;
use serde_json::json;
use toolwright_sdk::{HeavyPool, INLINE_BYTES_MAX, Overload};
use tw_engine::Approve;
use tw_identity::rights::CreateTools;
use tw_model::{ApprovalId, EventId, EventKind, RunId, RunStatus, Timestamp};
use tw_registry::EditContext;
use tw_store::{
    Store,
    log::{ApprovalDecision, Change, Entry, Expect, NewEvent, Transition},
};
use tw_test::{TestDb, on_both};

use crate::{
    tools::effects,
    world::{PATIENCE, Server, World},
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

    async fn approved_call_waits_while_the_tenant_has_too_much_costly_work(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let permit = server.permit::<CreateTools>("admin").await.unwrap();
        let tool = json!({
            "slug": "gives-back", "name": "Gives back", "description": "Gives back what it got.",
            "implementation_type": "internal", "permission_level": "write",
            "input_schema": { "type": "object" }, "publish": true,
        });
        server.engine.registry().create_tool(&permit, &tool, EditContext::default()).await.unwrap();
        // So large that it is checked apart, like all costly work of the tenant.
        let input = json!({ "value": "x".repeat(INLINE_BYTES_MAX + 1) });
        let (run, id) = server.park("gives-back", input).await;
        let (finish, may_finish) = std::sync::mpsc::channel::<()>();
        let (pool, tenant) = (HeavyPool::shared(), world.tenant());
        let mut work = vec![tokio::spawn(pool.run(tenant, PATIENCE, move || {
            let _ = may_finish.recv();
        }))];
        while !matches!(pool.run(tenant, PATIENCE, || ()).now_or_never(), Some(Err(Overload::Full))) {
            work.push(tokio::spawn(pool.run(tenant, PATIENCE, || ())));
            tokio::task::yield_now().await;
        }

        let at_once = Approve { wait: Some(Duration::ZERO), ..Approve::default() };
        server.approve_as("approver", id, at_once).await.unwrap();
        for _ in 0..50 {
            assert_eq!(server.stored(run).await.status, RunStatus::Pending);
        }

        finish.send(()).unwrap();
        for piece in work {
            // The last one may have found no room.
            let _ended = piece.await.unwrap();
        }
        assert_eq!(server.ended(run).await.status, RunStatus::Success);
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
