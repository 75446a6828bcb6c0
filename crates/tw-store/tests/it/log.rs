use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};
use tw_model::{
    ApprovalId, EventId, EventKind, Level, PendingCallId, RunId, RunStatus, SessionId, Timestamp, UserId,
    WaitsFor,
};
use tw_store::{
    By, Error, NewAudit, Options, Store, Target, TenantScope,
    log::{
        ApprovalDecision, Audit, Change, EditedInput, Entry, Expect, Finished, NewApproval, NewEvent, NewRun,
        NewWait, Park, Rejected, SessionNote, Transition, WaitChange,
    },
};
use tw_test::{Kind, TestDb, entries, on_both};

use crate::world::{FAR, audit_of, by, member, new_tenant};

fn entry(tenant: &TenantScope, run: RunId, kind: EventKind, transition: Transition) -> Entry {
    entries::entry(tenant.id(), (run, run.into()), kind, transition)
}

async fn start(store: &Store, tenant: &TenantScope, run: RunId) -> Entry {
    let new = entries::new_run(run, store.replica(), tenant.epoch().await.unwrap());
    entry(tenant, run, EventKind::Started, Transition::Open(Box::new(new)))
}

fn change(expect: Expect, to: Option<RunStatus>) -> Change {
    let finished = to.filter(|to| !to.is_open()).map(|_| Finished::default());
    Change { to, finished, ..Change::expecting(expect) }
}

fn end(tenant: &TenantScope, run: RunId) -> Entry {
    let change = change(Expect::Lease(1), Some(RunStatus::Success));
    entry(tenant, run, EventKind::Completed, Transition::Change(Box::new(change)))
}

fn line(action: &str) -> NewAudit {
    NewAudit { action: action.to_owned(), object: "x".to_owned(), before: None, after: None, note: None }
}

/// A run that waits for these, or, without any, for a worker.
async fn wait_for(store: &Store, tenant: &TenantScope, children: &[RunId]) -> (RunId, PendingCallId) {
    let (run, id) = (RunId::new(), PendingCallId::new());
    store.log().append(start(store, tenant, run).await).wait().await.unwrap();
    let wait = NewWait {
        id,
        waits_for: if children.is_empty() { WaitsFor::Worker } else { WaitsFor::Child },
        state: tw_model::PendingState::Waiting,
        context: "{}".to_owned(),
        children: children.to_vec(),
        deadline: None,
        expires: FAR,
    };
    let parked =
        Change { wait: Some(WaitChange::Park(wait)), ..change(Expect::Lease(1), Some(RunStatus::Pending)) };
    let parked = Entry {
        events: Vec::new(),
        ..entry(tenant, run, EventKind::Started, Transition::Change(Box::new(parked)))
    };
    store.log().append(parked).wait().await.unwrap();
    (run, id)
}

/// A run that waits for an approval.
async fn ask(store: &Store, tenant: &TenantScope) -> (RunId, ApprovalId) {
    let (run, id) = (RunId::new(), ApprovalId::new());
    let approval = NewApproval {
        id,
        input: "{}".to_owned(),
        input_digest: "digest".to_owned(),
        definition_hash: "hash".to_owned(),
        seal: vec![0; 32],
        level: Some(Level::Write),
        reason: "a test".to_owned(),
        owner: UserId::new(),
        expires: FAR,
    };
    let new = NewRun {
        park: Some(Park { context: "{}".to_owned(), approval }),
        ..entries::new_run(run, store.replica(), tenant.epoch().await.unwrap())
    };
    let asked = entry(tenant, run, EventKind::NeedsApproval, Transition::Open(Box::new(new)));
    store.log().append(asked).wait().await.unwrap();
    (run, id)
}

async fn approve(store: &Store, tenant: &TenantScope, run: RunId, input: Option<EditedInput>) {
    let status = tw_model::ApprovalStatus::Approved;
    let decision = ApprovalDecision { status, by: None, note: None, changes: None, input, standing: None };
    let yes = Change {
        decision: Some(decision),
        ..change(Expect::Status(RunStatus::NeedsApproval), Some(RunStatus::Pending))
    };
    let yes = entry(tenant, run, EventKind::Approved, Transition::Change(Box::new(yes)));
    store.log().append(yes).wait().await.unwrap();
}

/// The start of an approved run, by which a server claims it.
fn claim(store: &Store, tenant: &TenantScope, run: RunId) -> Entry {
    let claim = Change {
        claimed_by: Some(store.replica()),
        ..change(Expect::Status(RunStatus::Pending), Some(RunStatus::Running))
    };
    entry(tenant, run, EventKind::Started, Transition::Change(Box::new(claim)))
}

/// Ends a run that waits by another hand than its own.
async fn give_up(store: &Store, tenant: &TenantScope, run: RunId) {
    let late = change(Expect::Status(RunStatus::Pending), Some(RunStatus::TimedOut));
    let late = entry(tenant, run, EventKind::Failed, Transition::Change(Box::new(late)));
    store.log().append(late).wait().await.unwrap();
}

fn late_result(tenant: &TenantScope, run: RunId, result: &str) -> Entry {
    let wait = WaitChange::Late { result: result.to_owned(), by: "user:1".to_owned() };
    let change = Change { wait: Some(wait), ..change(Expect::Ended, None) };
    entry(tenant, run, EventKind::LateResult, Transition::Change(Box::new(change)))
}

fn note(tenant: &TenantScope, session: SessionId) -> SessionNote {
    SessionNote {
        tenant: tenant.id(),
        session,
        actor: Arc::from("{}"),
        at: Timestamp::now(),
        events: vec![NewEvent {
            id: EventId::new(),
            kind: EventKind::OutputAppended,
            payload: "{}".to_owned(),
        }],
        audit: None,
    }
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

    async fn events_about_no_run_are_numbered_with_those_of_the_session(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let session = tenant.create_session("chat", None, "user:1").await.unwrap().id;
        let run = RunId::new();
        let started = Entry { session, ..start(&store, &tenant, run).await };

        store.log().note(note(&tenant, session)).wait().await.unwrap();
        store.log().append(started).wait().await.unwrap();
        let last = store.log().note(note(&tenant, session)).wait().await.unwrap();

        assert_eq!(last.seq, 3);
        let events = tenant.events(session, 0, 10).await.unwrap();
        let about: Vec<_> = events.iter().map(|event| (event.seq, event.run, event.tool.as_deref())).collect();
        assert_eq!(about, [(1, None, None), (2, Some(run), Some("echo")), (3, None, None)]);
        assert_eq!(tenant.session(session).await.unwrap().unwrap().last_seq, 3);
        let nowhere = store.log().note(note(&tenant, SessionId::new())).wait().await;
        assert!(matches!(nowhere, Err(Rejected::NoSession)), "{nowhere:?}");
    }

    async fn audit_of_a_step_stands_exactly_if_the_step_does(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let run = RunId::new();
        store.log().append(start(&store, &tenant, run).await).wait().await.unwrap();
        let who = by("r1");
        let audited = || {
            let audit = Audit { by: who.clone(), what: line("approval.approved") };
            Entry { audit: Some(Box::new(audit)), ..end(&tenant, run) }
        };

        store.log().append(audited()).wait().await.unwrap();
        let again = store.log().append(audited()).wait().await;

        assert!(matches!(again, Err(Rejected::Status { .. })), "{again:?}");
        let lines = audit_of(&tenant, "approval.approved").await;
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].actor, serde_json::from_str::<serde_json::Value>(&who.actor).unwrap());
        assert_eq!(lines[0].request_id.as_deref(), Some("r1"));
    }

    async fn lines_of_many_at_once_are_all_written(db: TestDb) {
        let store = db.store().await;
        let (loud, quiet) = (new_tenant(&store, "acme").await, new_tenant(&store, "globex").await);
        let mut tasks = JoinSet::new();
        for index in 0..400 {
            let (log, tenant) = (store.log().clone(), if index % 40 == 0 { &quiet } else { &loud }.id());
            tasks.spawn(async move { log.audit(tenant, By::operator(), line("call.refused")).await });
        }

        assert!(tasks.join_all().await.into_iter().all(|written| written.is_ok()));

        assert_eq!(audit_of(&loud, "call.refused").await.len(), 390);
        assert_eq!(audit_of(&quiet, "call.refused").await.len(), 10);
        store.close().await;
        let closed = store.log().audit(loud.id(), By::operator(), line("call.refused")).await;
        assert!(matches!(closed, Err(Rejected::Closed)), "{closed:?}");
    }

    async fn first_late_result_is_kept_as_an_event_and_changes_no_run(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let (run, call) = wait_for(&store, &tenant, &[]).await;
        let early = store.log().append(late_result(&tenant, run, r#"{"result":0}"#)).wait().await;
        assert!(matches!(early, Err(Rejected::Status { status: RunStatus::Pending })), "{early:?}");
        give_up(&store, &tenant, run).await;
        let before = tenant.run(run).await.unwrap().unwrap();

        let kept = store.log().append(late_result(&tenant, run, r#"{"result":1}"#)).wait().await.unwrap();
        let second = store.log().append(late_result(&tenant, run, r#"{"result":2}"#)).wait().await;

        assert!(matches!(second, Err(Rejected::Answered)), "{second:?}");
        let events = tenant.events(run.into(), 0, 10).await.unwrap();
        let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::Started, EventKind::Failed, EventKind::LateResult]);
        assert_eq!(kept.seq, 3);
        let call = tenant.pending_call(call).await.unwrap().unwrap();
        assert_eq!((call.state.as_str(), call.result.unwrap().get()), ("resolved", r#"{"result":1}"#));
        let after = tenant.run(run).await.unwrap().unwrap();
        assert_eq!((after.status, after.finished), (RunStatus::TimedOut, before.finished));
    }

    async fn run_that_waits_for_several_goes_on_when_the_last_has_ended(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let children = [RunId::new(), RunId::new()];
        for child in children {
            store.log().append(start(&store, &tenant, child).await).wait().await.unwrap();
        }
        let (run, call) = wait_for(&store, &tenant, &children).await;
        let due = async || store.due_pending(Timestamp::now(), None, 10).await.unwrap();

        assert_eq!(tenant.pending_call_of(run).await.unwrap().unwrap().children, children);
        assert_eq!(due().await, []);
        store.log().append(end(&tenant, children[1])).wait().await.unwrap();
        assert_eq!(due().await, []);
        store.log().append(end(&tenant, children[0])).wait().await.unwrap();

        assert_eq!(due().await, [(tenant.id(), call)]);
    }

    async fn edited_input_brings_its_own_level(db: TestDb) {
        let store = db.store().await;
        let tenant = new_tenant(&store, "acme").await;
        let (run, id) = ask(&store, &tenant).await;
        let input = EditedInput {
            input: r#"{"a":1}"#.to_owned(),
            digest: "other".to_owned(),
            seal: vec![1; 32],
            level: Some(Level::Destructive),
            context: r#"{"edited_by":1}"#.to_owned(),
        };

        approve(&store, &tenant, run, Some(input)).await;

        let stored = tenant.approval(id).await.unwrap().unwrap();
        assert_eq!((stored.level, stored.input_digest.as_str()), (Some(Level::Destructive), "other"));
        assert_eq!(stored.context, r#"{"edited_by":1}"#, "the editor is kept");
    }
}

/// A way to PostgreSQL that breaks at the first commit: the database never hears of it, and the client learns of the
/// break when it is told to.
struct BrokenCommit {
    url: String,
    broken: oneshot::Receiver<()>,
    tell: oneshot::Sender<()>,
}

impl BrokenCommit {
    async fn before(url: &str) -> Self {
        let (host, database) = url.strip_prefix("postgres://postgres@").unwrap().split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://postgres@{}/{database}", listener.local_addr().unwrap());
        let (breaks, broken) = oneshot::channel();
        let (tell, told) = oneshot::channel();
        let ends = Arc::new(Mutex::new(Some((breaks, told))));
        let host = host.to_owned();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&host).await.unwrap();
                tokio::spawn(relay(client, server, Arc::clone(&ends)));
            }
        });
        Self { url, broken, tell }
    }
}

type Ends = Arc<Mutex<Option<(oneshot::Sender<()>, oneshot::Receiver<()>)>>>;

async fn relay(client: TcpStream, server: TcpStream, ends: Ends) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let answers = tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut asked = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from_client.read(&mut asked).await {
        let commits = asked[..count].windows(6).any(|window| window == b"COMMIT");
        let ends = if commits { ends.lock().unwrap().take() } else { None };
        if let Some((breaks, told)) = ends {
            drop(to_server);
            breaks.send(()).unwrap();
            told.await.unwrap();
            break;
        }
        to_server.write_all(&asked[..count]).await.unwrap();
    }
    answers.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn claim_whose_commit_was_lost_is_not_taken_for_that_of_another_server() {
    let db = TestDb::new(Kind::Postgres).await;
    let other = db.store().await;
    let tenant = new_tenant(&other, "acme").await;
    let (run, _) = ask(&other, &tenant).await;
    approve(&other, &tenant, run, None).await;
    let Target::Postgres { url } = db.target() else { unreachable!("it was asked for") };
    let way = BrokenCommit::before(&url).await;
    let store = Store::open(&Options::new(Target::Postgres { url: way.url })).await.unwrap();

    let lost = store.log().append(claim(&store, &tenant, run));
    way.broken.await.unwrap();
    other.log().append(claim(&other, &tenant, run)).wait().await.unwrap();
    way.tell.send(()).unwrap();

    let lost = lost.wait().await.unwrap_err();
    assert!(matches!(&lost, Rejected::Failed(error) if error.is_retryable()), "{lost:?}");
    assert_eq!(tenant.run(run).await.unwrap().unwrap().replica, Some(other.replica()));
}
