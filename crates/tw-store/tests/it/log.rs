use std::sync::Arc;

use tokio::task::JoinSet;
use tw_model::{Channel, EventId, EventKind, Mode, RunId, RunStatus, Source, Timestamp, ToolId};
use tw_store::{
    Error, Store, TenantScope,
    log::{Change, Entry, Expect, Finished, NewEvent, NewRun, Rejected, Step},
};
use tw_test::{TestDb, on_both};

use crate::world::{member, new_tenant};

fn entry(tenant: &TenantScope, run: RunId, kind: EventKind, step: Step) -> Entry {
    Entry {
        tenant: tenant.id(),
        run,
        session: run.into(),
        tool: Arc::from("echo"),
        actor: Arc::from("{}"),
        at: Timestamp::now(),
        step,
        events: vec![NewEvent { id: EventId::new(), kind, payload: "{}".to_owned() }],
    }
}

async fn start(store: &Store, tenant: &TenantScope, run: RunId) -> Entry {
    let new = NewRun {
        parent: None,
        root: run,
        tool_id: ToolId::new(),
        version: Arc::from("1.0.0"),
        source: Source::Api,
        channel: Channel::Rest,
        mode: Mode::Production,
        principal: Arc::from("user:1"),
        effectful: false,
        repeatable: true,
        replica: store.replica(),
        epoch: tenant.epoch().await.unwrap(),
        claim: None,
        park: None,
        wait: None,
    };
    entry(tenant, run, EventKind::Started, Step::Open(Box::new(new)))
}

fn end(tenant: &TenantScope, run: RunId) -> Entry {
    let change = Change {
        expect: Expect::Lease(1),
        to: Some(RunStatus::Success),
        finished: Some(Finished::default()),
        claimed_by: None,
        epoch: None,
        decision: None,
        wait: None,
    };
    entry(tenant, run, EventKind::Completed, Step::Change(Box::new(change)))
}

on_both! {
    async fn entry_that_the_database_refuses_fails_alone(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let taken = RunId::new();
        store.log().append(start(&store, &tenant, taken).await).wait().await.unwrap();
        let (before, after) = (RunId::new(), RunId::new());
        let entries = [
            start(&store, &tenant, before).await,
            start(&store, &tenant, taken).await,
            start(&store, &tenant, after).await,
        ];

        let tickets = entries.map(|entry| store.log().append(entry));

        let [first, refused, last] = tickets.map(tw_store::log::Ticket::wait);
        first.await.unwrap();
        let refused = refused.await.unwrap_err();
        assert!(matches!(&refused, Rejected::Failed(error) if matches!(**error, Error::Database { .. })), "{refused:?}");
        last.await.unwrap();
        store.log().append(end(&tenant, after)).wait().await.unwrap();
        assert_eq!(tenant.run(after).await.unwrap().unwrap().status, RunStatus::Success);
    }

    async fn other_writes_and_the_log_take_turns(db: TestDb) {
        let store = db.store().await;
        let (busy, other) = (new_tenant(&store, "acme").await, new_tenant(&store, "globex").await);
        let mut tasks = JoinSet::new();
        for _ in 0..8 {
            let (store, tenant) = (store.clone(), busy.clone());
            tasks.spawn(async move {
                for _ in 0..25 {
                    let run = RunId::new();
                    store.log().append(start(&store, &tenant, run).await).wait().await.unwrap();
                    store.log().append(end(&tenant, run)).wait().await.unwrap();
                }
            });
        }
        for index in 0..25 {
            member(&other, &format!("{index}@globex.example"), tw_model::Role::Member).await;
        }
        tasks.join_all().await;
    }

    async fn closed_log_writes_what_it_has_and_says_that_it_is_closed(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let (run, late) = (RunId::new(), RunId::new());
        let late = start(&store, &tenant, late).await;
        let ticket = store.log().append(start(&store, &tenant, run).await);

        store.close().await;

        ticket.wait().await.unwrap();
        assert!(matches!(store.log().append(late).wait().await, Err(Rejected::Closed)));
        assert!(store.ping().await.is_err());
        assert!(db.store().await.tenant(tenant.id()).run(run).await.unwrap().is_some());
    }
}
