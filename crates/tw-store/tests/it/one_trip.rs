//! Groups that a lane of PostgreSQL writes in one trip, over a way that counts transactions and can break.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tw_model::{EventKind, Role, RunId, RunStatus};
use tw_store::{
    Options, Store, Target, TenantScope,
    log::{Change, Entry, Expect, Finished, Rejected, Transition},
};
use tw_test::{Kind, TestDb, entries};

use crate::world::{by, member, new_tenant};

/// Starts and ends of runs before a lane counts as warm: each lane has met the tenant, and each connection has seen the
/// statements.
const WARM_UP: usize = 80;

/// What becomes of the next message that brings the end of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Break {
    /// The database never hears of it.
    Before,
    /// The database carries it out, and the answer is lost.
    Behind,
}

/// A way to a database.
struct Way {
    /// Removed when the way is dropped.
    #[expect(dead_code, reason = "kept for as long as the way leads there")]
    db: TestDb,
    url: String,
    /// How many transactions of several trips began.
    begun: Arc<AtomicUsize>,
    breaks: Arc<Mutex<Option<Break>>>,
}

impl Way {
    async fn to(db: TestDb) -> Self {
        let Target::Postgres { url } = db.target() else { unreachable!("it was asked for") };
        let (host, database) = url.strip_prefix("postgres://postgres@").unwrap().split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://postgres@{}/{database}", listener.local_addr().unwrap());
        let way = Self { db, url, begun: Arc::default(), breaks: Arc::default() };
        let (host, begun, breaks) = (host.to_owned(), Arc::clone(&way.begun), Arc::clone(&way.breaks));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&host).await.unwrap();
                let (begun, breaks) = (Arc::clone(&begun), Arc::clone(&breaks));
                tokio::spawn(relay(client, server, begun, breaks));
            }
        });
        way
    }

    async fn store(&self) -> Store {
        Store::open(&Options::new(Target::Postgres { url: self.url.clone() })).await.unwrap()
    }
}

async fn relay(
    client: TcpStream,
    server: TcpStream,
    begun: Arc<AtomicUsize>,
    breaks: Arc<Mutex<Option<Break>>>,
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let mut asked = vec![0; 1 << 16];
    let mut answered = vec![0; 1 << 16];
    loop {
        tokio::select! {
            read = from_client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let begins = asked[..count].windows(6).any(|window| window == b"BEGIN;");
                begun.fetch_add(usize::from(begins), Ordering::Relaxed);
                let is_end = asked[..count].windows(14).any(|window| window == b"tool.completed");
                let breaks = if is_end { breaks.lock().unwrap().take() } else { None };
                if breaks == Some(Break::Before) {
                    return;
                }
                to_server.write_all(&asked[..count]).await.unwrap();
                if breaks == Some(Break::Behind) {
                    // Its answer says that it was carried out; the client never gets it.
                    let _ = from_server.read(&mut answered).await;
                    return;
                }
            }
            read = from_server.read(&mut answered) => {
                let Ok(count @ 1..) = read else { return };
                if to_client.write_all(&answered[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn entry(tenant: &TenantScope, run: RunId, kind: EventKind, transition: Transition) -> Entry {
    entries::entry(tenant.id(), (run, run.into()), kind, transition)
}

async fn start(store: &Store, tenant: &TenantScope, run: RunId) -> Entry {
    let new = entries::new_run(run, store.replica(), tenant.epoch().await.unwrap());
    entry(tenant, run, EventKind::Started, Transition::Open(Box::new(new)))
}

fn end(tenant: &TenantScope, run: RunId) -> Entry {
    let to = Some(RunStatus::Success);
    let change = Change { to, finished: Some(Finished::default()), ..Change::expecting(Expect::Lease(1)) };
    entry(tenant, run, EventKind::Completed, Transition::Change(Box::new(change)))
}

fn cancel(tenant: &TenantScope, run: RunId) -> Entry {
    let to = Some(RunStatus::Cancelled);
    let change = Change { to, finished: Some(Finished::default()), ..Change::expecting(Expect::Open) };
    entry(tenant, run, EventKind::Cancelled, Transition::Change(Box::new(change)))
}

async fn warm(store: &Store, tenant: &TenantScope) {
    for _ in 0..WARM_UP {
        let run = RunId::new();
        store.log().append(start(store, tenant, run).await).wait().await.unwrap();
        store.log().append(end(tenant, run)).wait().await.unwrap();
    }
}

/// A store whose lanes are warm, and the way to its database.
async fn warm_lanes() -> (Way, Store, TenantScope) {
    let db = TestDb::new(Kind::Postgres).await;
    let way = Way::to(db).await;
    let store = way.store().await;
    let tenant = new_tenant(&store, "acme").await;
    warm(&store, &tenant).await;
    (way, store, tenant)
}

/// A run at work of a lane that knows it.
async fn run_at_work(store: &Store, tenant: &TenantScope) -> RunId {
    let run = RunId::new();
    store.log().append(start(store, tenant, run).await).wait().await.unwrap();
    run
}

async fn status(tenant: &TenantScope, run: RunId) -> RunStatus {
    tenant.run(run).await.unwrap().unwrap().status
}

#[tokio::test(flavor = "multi_thread")]
async fn start_and_end_of_a_run_take_one_trip_each() {
    let (way, store, tenant) = warm_lanes().await;

    // Other work of a store begins a transaction now and then.
    let mut fewest = [usize::MAX; 2];
    for _ in 0..20 {
        let run = RunId::new();
        let entries = [start(&store, &tenant, run).await, end(&tenant, run)];
        for (entry, fewest) in entries.into_iter().zip(&mut fewest) {
            let before = way.begun.load(Ordering::Relaxed);
            store.log().append(entry).wait().await.unwrap();
            *fewest = (*fewest).min(way.begun.load(Ordering::Relaxed) - before);
        }
        assert_eq!(status(&tenant, run).await, RunStatus::Success);
    }

    assert_eq!(fewest, [0, 0], "a group of one trip is a statement of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn group_whose_answer_was_lost_is_found() {
    let (way, store, tenant) = warm_lanes().await;

    for _ in 0..10 {
        let run = run_at_work(&store, &tenant).await;
        *way.breaks.lock().unwrap() = Some(Break::Behind);
        store.log().append(end(&tenant, run)).wait().await.unwrap();
        assert_eq!(status(&tenant, run).await, RunStatus::Success);
        warm(&store, &tenant).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn group_that_the_database_never_saw_is_not_taken_for_written() {
    let (way, store, tenant) = warm_lanes().await;

    for _ in 0..10 {
        let run = run_at_work(&store, &tenant).await;
        *way.breaks.lock().unwrap() = Some(Break::Before);
        let lost = store.log().append(end(&tenant, run)).wait().await.unwrap_err();
        assert!(matches!(&lost, Rejected::Failed(error) if error.is_retryable()), "{lost:?}");
        assert_eq!(status(&tenant, run).await, RunStatus::Running);
        store.log().append(end(&tenant, run)).wait().await.unwrap();
        assert_eq!(status(&tenant, run).await, RunStatus::Success);
        warm(&store, &tenant).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_lane_knows_is_held_against_what_others_wrote() {
    let db = TestDb::new(Kind::Postgres).await;
    let (store, other) = (db.store().await, db.store().await);
    let tenant = new_tenant(&store, "acme").await;
    warm(&store, &tenant).await;

    let run = run_at_work(&store, &tenant).await;
    other.log().append(cancel(&other.tenant(tenant.id()), run)).wait().await.unwrap();
    let late = store.log().append(end(&tenant, run)).wait().await.unwrap_err();
    assert!(matches!(late, Rejected::Status { status: RunStatus::Cancelled }), "{late:?}");

    // Every lane has met the tenant, and knows its epoch of before.
    let stale = start(&store, &tenant, RunId::new()).await;
    let theirs = other.tenant(tenant.id());
    let user = member(&theirs, "ada@acme.example", Role::Member).await;
    theirs.set_role(user.id, Role::Viewer, &by("a change")).await.unwrap();
    let refused = store.log().append(stale).wait().await.unwrap_err();
    assert!(matches!(refused, Rejected::Stale { .. }), "{refused:?}");
}
