//! The log itself, without an engine in front of it.

use std::{collections::HashMap, sync::Arc};

use tw_model::{
    ApprovalId, Code, Effect, EventKind, ReplicaId, RunId, RunStatus, SessionId, TenantId, Timestamp, UserId,
};
use tw_store::{
    By, Store,
    log::{Change, Entry, Expect, Finished, NewApproval, NewRun, Park, Rejected, Transition},
};
use tw_test::{TestDb, entries, on_both};

/// A tenant, and what entries about it have in common.
struct Desk {
    store: Store,
    tenant: TenantId,
    epoch: i64,
}

impl Desk {
    async fn new(db: &TestDb) -> Self {
        let store = db.store().await;
        let tenant = store.create_tenant(&"acme".parse().unwrap(), "Acme", &By::operator()).await.unwrap().id;
        let epoch = store.tenant(tenant).epoch().await.unwrap();
        Self { store, tenant, epoch }
    }

    async fn session(&self) -> SessionId {
        self.store.tenant(self.tenant).create_session("api", None, "user:1").await.unwrap().id
    }

    fn entry(&self, run: RunId, session: SessionId, kind: EventKind, transition: Transition) -> Entry {
        entries::entry(self.tenant, (run, session), kind, transition)
    }

    fn start(&self, run: RunId, session: SessionId) -> Entry {
        let new = self.new_run(run);
        self.entry(run, session, EventKind::Started, Transition::Open(Box::new(new)))
    }

    fn new_run(&self, run: RunId) -> NewRun {
        entries::new_run(run, ReplicaId::new(), self.epoch)
    }

    /// A run that waits for an approval.
    fn parked(&self, run: RunId) -> (Entry, ApprovalId) {
        let id = ApprovalId::new();
        let approval = NewApproval {
            id,
            input: "{}".to_owned(),
            input_digest: "digest".to_owned(),
            definition_hash: "hash".to_owned(),
            seal: vec![0; 32],
            level: None,
            reason: "a test".to_owned(),
            owner: UserId::new(),
            expires: Timestamp::from_micros(4_000_000_000_000_000),
        };
        let park = Some(Park { context: "{}".to_owned(), approval });
        let step = Transition::Open(Box::new(NewRun { park, ..self.new_run(run) }));
        (self.entry(run, run.into(), EventKind::NeedsApproval, step), id)
    }

    fn output(&self, run: RunId, session: SessionId) -> Entry {
        self.entry(run, session, EventKind::OutputAppended, change(Expect::Lease(1), None))
    }

    fn end(&self, run: RunId, session: SessionId, expect: Expect) -> Entry {
        self.entry(run, session, EventKind::Completed, change(expect, Some(RunStatus::Success)))
    }
}

fn change(expect: Expect, to: Option<RunStatus>) -> Transition {
    let finished = to.map(|_| Finished::default());
    Transition::Change(Box::new(Change { to, finished, ..Change::expecting(expect) }))
}

on_both! {
    async fn entry_that_the_database_cannot_take_fails_alone(db: TestDb) {
        let desk = Desk::new(&db).await;
        let session = desk.session().await;
        let twice = RunId::new();
        desk.store.log().append(desk.start(twice, session)).wait().await.unwrap();

        // Handed over without a pause, so they share a transaction; one of them opens a run that exists.
        let tickets: Vec<_> = (0..40)
            .map(|number| {
                let run = if number == 20 { twice } else { RunId::new() };
                desk.store.log().append(desk.start(run, session))
            })
            .collect();
        let mut seqs = Vec::new();
        let mut failed = Vec::new();
        for (number, ticket) in tickets.into_iter().enumerate() {
            match ticket.wait().await {
                Ok(appended) => seqs.push(appended.seq),
                Err(rejected) => failed.push((number, rejected)),
            }
        }

        assert!(matches!(failed[..], [(20, Rejected::Failed(_))]), "{failed:?}");
        assert_eq!(seqs, (2..=40).collect::<Vec<_>>(), "in order and without a gap");
    }

    async fn entry_that_is_refused_leaves_its_neighbours_and_no_gap(db: TestDb) {
        let desk = Desk::new(&db).await;
        let session = desk.session().await;
        let runs: Vec<_> = (0..20).map(|_| RunId::new()).collect();
        let mut tickets = Vec::new();
        for run in &runs {
            tickets.push(desk.store.log().append(desk.start(*run, session)));
            tickets.push(desk.store.log().append(desk.end(*run, session, Expect::Lease(1))));
            tickets.push(desk.store.log().append(desk.end(*run, session, Expect::Lease(1))));
            tickets.push(desk.store.log().append(desk.end(RunId::new(), session, Expect::Open)));
        }

        let mut seqs = Vec::new();
        for (number, ticket) in tickets.into_iter().enumerate() {
            match (number % 4, ticket.wait().await) {
                (0 | 1, Ok(appended)) => seqs.push(appended.seq),
                (2, Err(Rejected::Status { status: RunStatus::Success })) | (3, Err(Rejected::NoRun)) => {}
                (_, answer) => panic!("entry {number} got {answer:?}"),
            }
        }

        assert_eq!(seqs, (1..=40).collect::<Vec<_>>());
        assert_eq!(desk.store.tenant(desk.tenant).events(session, 0, 1000).await.unwrap().len(), 40);
    }

    async fn thousand_entries_of_many_tasks_keep_their_order(db: TestDb) {
        let desk = Arc::new(Desk::new(&db).await);
        let sessions = [desk.session().await, desk.session().await, desk.session().await];
        let tasks: Vec<_> = (0..64)
            .map(|number| {
                let desk = Arc::clone(&desk);
                tokio::spawn(async move {
                    let (run, session) = (RunId::new(), sessions[number % 3]);
                    // 64 tasks, 16 entries each, are 1,024.
                    let mut tickets = vec![desk.store.log().append(desk.start(run, session))];
                    tickets.extend((0..14).map(|_| desk.store.log().append(desk.output(run, session))));
                    tickets.push(desk.store.log().append(desk.end(run, session, Expect::Lease(1))));
                    let mut seqs = Vec::new();
                    for ticket in tickets {
                        seqs.push(ticket.wait().await.unwrap().seq);
                    }
                    (run, session, seqs)
                })
            })
            .collect();

        let mut all: HashMap<SessionId, Vec<i64>> = HashMap::new();
        for task in tasks {
            let (run, session, seqs) = task.await.unwrap();
            assert!(seqs.is_sorted_by(|a, b| a < b), "entries of one task changed places");
            let stored = desk.store.tenant(desk.tenant).run(run).await.unwrap().unwrap();
            assert_eq!(stored.status, RunStatus::Success);
            all.entry(session).or_default().extend(seqs);
        }
        for (session, mut seqs) in all {
            seqs.sort_unstable();
            let last = i64::try_from(seqs.len()).unwrap();
            assert_eq!(seqs, (1..=last).collect::<Vec<_>>());
            assert_eq!(desk.store.tenant(desk.tenant).last_seq(session).await.unwrap(), last);
        }
    }

    async fn two_writers_of_one_session_number_it_together(db: TestDb) {
        let desk = Desk::new(&db).await;
        let (session, other) = (desk.session().await, db.store().await);
        let tickets: Vec<_> = (0..200)
            .map(|number| {
                let log = if number % 2 == 0 { desk.store.log() } else { other.log() };
                log.append(desk.start(RunId::new(), session))
            })
            .collect();
        let mut seqs = Vec::new();
        for ticket in tickets {
            seqs.push(ticket.wait().await.unwrap().seq);
        }
        seqs.sort_unstable();
        assert_eq!(seqs, (1..=200).collect::<Vec<_>>());
    }

    async fn start_under_an_old_epoch_is_sent_back_with_all_that_follows_it(db: TestDb) {
        let mut desk = Desk::new(&db).await;
        desk.epoch -= 1;
        let (stale, session) = (RunId::new(), desk.session().await);
        let tickets = [
            desk.store.log().append(desk.start(stale, session)),
            desk.store.log().append(desk.output(stale, session)),
            desk.store.log().append(desk.end(stale, session, Expect::Lease(1))),
        ];
        let mut answers = Vec::new();
        for ticket in tickets {
            answers.push(ticket.wait().await);
        }
        assert!(
            matches!(answers[..], [Err(Rejected::Stale { .. }), Err(Rejected::NoRun), Err(Rejected::NoRun)]),
            "{answers:?}"
        );
        assert_eq!(desk.store.tenant(desk.tenant).last_seq(session).await.unwrap(), 0);
    }

    async fn what_was_written_cannot_be_changed_or_removed(db: TestDb) {
        let desk = Desk::new(&db).await;
        let run = RunId::new();
        desk.store.log().append(desk.start(run, run.into())).wait().await.unwrap();
        let mut raw = crate::world::Raw::open(&db).await;

        for sql in ["UPDATE session_events SET payload = '{\"forged\":1}'", "DELETE FROM session_events"] {
            let error = raw.try_execute(sql).await.unwrap_err();
            assert!(error.to_string().contains("append-only"), "{sql}: {error}");
        }

        assert_eq!(raw.count("SELECT count(*) FROM session_events WHERE payload = '{}'").await, 1);
    }

    async fn run_that_waits_has_not_ended(db: TestDb) {
        let desk = Desk::new(&db).await;
        let scope = desk.store.tenant(desk.tenant);
        let (waits, runs, ended) = (RunId::new(), RunId::new(), RunId::new());
        desk.store.log().append(desk.parked(waits).0).wait().await.unwrap();
        desk.store.log().append(desk.start(runs, runs.into())).wait().await.unwrap();
        desk.store.log().append(desk.start(ended, ended.into())).wait().await.unwrap();
        desk.store.log().append(desk.end(ended, ended.into(), Expect::Open)).wait().await.unwrap();

        let told = scope.ended_of(&[waits, runs, ended, RunId::new()]).await.unwrap();

        assert_eq!(told, [ended], "a call that is about to be taken up must not be stopped");
    }

    async fn waiting_run_that_ends_by_itself_takes_its_approval_along(db: TestDb) {
        let desk = Desk::new(&db).await;
        let run = RunId::new();
        let (entry, id) = desk.parked(run);
        desk.store.log().append(entry).wait().await.unwrap();

        // As after a database that was away in the middle of the commit: the caller was told that it failed.
        let step = Transition::Change(Box::new(Change {
            expect: Expect::Open,
            to: Some(RunStatus::Error),
            finished: Some(Finished {
                error_code: Some(Code::Interrupted),
                effect: Some(Effect::None),
                ..Finished::default()
            }),
            claimed_by: None,
            epoch: None,
            decision: None,
            wait: None,
        }));
        desk.store.log().append(desk.entry(run, run.into(), EventKind::Failed, step)).wait().await.unwrap();

        let approval = desk.store.tenant(desk.tenant).approval(id).await.unwrap().unwrap();
        assert_eq!((approval.status.as_str(), approval.state.as_str()), ("cancelled", "resolved"));
        let far = Timestamp::from_micros(4_000_000_000_000_001);
        assert_eq!(desk.store.due_pending(far, None, 10).await.unwrap(), [], "nobody looks after it for ever");
    }

    async fn everything_that_is_due_is_found_page_by_page(db: TestDb) {
        let desk = Desk::new(&db).await;
        let mut parked = Vec::new();
        for _ in 0..25 {
            let (mut entry, id) = desk.parked(RunId::new());
            if let Transition::Open(run) = &mut entry.transition {
                run.park.as_mut().unwrap().approval.expires = Timestamp::from_micros(1);
            }
            desk.store.log().append(entry).wait().await.unwrap();
            parked.push(id.uuid());
        }
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = desk.store.due_pending(Timestamp::now(), after, 10).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(*last);
            found.extend(page.iter().map(|(_, id)| id.uuid()));
        }
        parked.sort_unstable();
        assert_eq!(found, parked);
    }
}
