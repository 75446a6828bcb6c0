//! The rules of the log, as a pure function: entries and the rows they meet in, rows to write out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tw_model::{EventKind, ReplicaId, RunId, RunStatus, SessionId, TenantId, Timestamp, WebhookEvent};
use uuid::Uuid;

use super::entry::{
    Appended, Audit, Change, Entry, Expect, Item, NewEvent, NewRun, Rejected, SessionNote, Transition,
    WaitChange,
};

/// The part of a run's row that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunState {
    pub(crate) session: SessionId,
    pub(crate) status: RunStatus,
    pub(crate) replica: Option<ReplicaId>,
    pub(crate) lease_epoch: i64,
    pub(crate) last_seq: i64,
    pub(crate) input_seq: i64,
    pub(crate) output_seq: Option<i64>,
    pub(crate) summary: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) error_code: Option<String>,
    pub(crate) effect: Option<String>,
    /// By which moment lists are in order: when it began, or else when it was asked for.
    pub(crate) listed_us: i64,
    /// When it began; not while it waits for an approval.
    pub(crate) started_us: Option<i64>,
    pub(crate) finished_us: Option<i64>,
    pub(crate) duration_us: Option<i64>,
}

/// What the batch found in the database, locked.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) epochs: HashMap<TenantId, i64>,
    /// What the webhooks of each tenant are told of, as [`WebhookEvent::bits`].
    pub(crate) told: HashMap<TenantId, i64>,
    pub(crate) runs: HashMap<(TenantId, RunId), RunState>,
    pub(crate) sessions: HashMap<(TenantId, SessionId), i64>,
}

/// What to write.
#[derive(Debug, Default)]
pub(crate) struct Plan<'a> {
    pub(crate) new_runs: Vec<(&'a Entry, &'a NewRun, RunState)>,
    pub(crate) changed_runs: Vec<ChangedRun>,
    pub(crate) sessions: Vec<(TenantId, SessionId, i64)>,
    pub(crate) events: Vec<PlannedEvent<'a>>,
    /// Entries that also change the rows of a run that waits or waited.
    pub(crate) waits: Vec<(&'a Entry, &'a Change)>,
    pub(crate) audits: Vec<(&'a Item, &'a Audit)>,
    /// What webhooks are told, where a tenant has some for it.
    pub(crate) tellings: Vec<WebhookTelling>,
    /// One per entry, in order.
    pub(crate) answers: Vec<Result<Appended, Rejected>>,
}

#[derive(Debug)]
pub(crate) struct ChangedRun {
    pub(crate) tenant: TenantId,
    pub(crate) run: RunId,
    pub(crate) state: RunState,
    /// Nothing but the number of its last event is new.
    pub(crate) only_numbered: bool,
}

/// Something about a run that webhooks may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WebhookTelling {
    pub(crate) tenant: TenantId,
    pub(crate) event: WebhookEvent,
    pub(crate) run: RunId,
    pub(crate) at: Timestamp,
}

#[derive(Debug)]
pub(crate) struct PlannedEvent<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) session: SessionId,
    /// What it is about, where that is a run.
    pub(crate) run: Option<RunId>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) actor: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) event: &'a NewEvent,
    pub(crate) seq: i64,
}

/// Why an item cannot be written whatever its run says, as far as can be known before idempotency keys are claimed.
/// Those items claim nothing.
pub(crate) fn check_start(item: &Item, found: &Found) -> Result<(), Rejected> {
    let epoch = match item.as_run().map(|entry| &entry.transition) {
        Some(Transition::Open(run)) => Some(run.epoch),
        Some(Transition::Change(change)) => change.epoch,
        None => None,
    };
    if let Some(epoch) = epoch {
        let now = found.epochs.get(&item.tenant()).copied().unwrap_or(0);
        if now != epoch {
            return Err(Rejected::Stale { epoch: now });
        }
    }
    let is_known = |session| found.sessions.contains_key(&(item.tenant(), session));
    if item.stored_session().is_some_and(|session| !is_known(session)) {
        return Err(Rejected::NoSession);
    }
    Ok(())
}

/// Why a late answer cannot be kept: the run it is about is not one that has ended.
pub(crate) fn check_late(entry: &Entry, found: &Found) -> Result<(), Rejected> {
    let state = found.runs.get(&(entry.tenant, entry.run)).ok_or(Rejected::NoRun)?;
    if state.status.is_open() { Err(Rejected::Status { status: state.status }) } else { Ok(()) }
}

/// The runs that the items change and do not open themselves, in the order in which everybody locks.
pub(crate) fn existing_runs(items: &[&Item]) -> Vec<(TenantId, RunId)> {
    let entries = || items.iter().filter_map(|item| item.as_run());
    let opened: HashSet<RunId> = entries()
        .filter(|entry| matches!(entry.transition, Transition::Open(_)))
        .map(|entry| entry.run)
        .collect();
    let changed = entries().filter(|entry| !opened.contains(&entry.run));
    let runs: BTreeSet<_> = changed.map(|entry| (entry.tenant, entry.run)).collect();
    runs.into_iter().collect()
}

/// The stored sessions of the items, in the order in which everybody locks.
pub(crate) fn stored_sessions(items: &[&Item]) -> Vec<(TenantId, SessionId)> {
    let stored = items.iter().filter_map(|item| Some((item.tenant(), item.stored_session()?)));
    stored.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Lays the items on top of what was found, in order.
///
/// `refused` holds items that lost earlier, by index: those whose idempotency key is taken, say.
pub(crate) fn plan<'a>(items: &[&'a Item], mut found: Found, refused: &HashMap<usize, Rejected>) -> Plan<'a> {
    let mut plan = Plan::default();
    let mut opened: HashMap<(TenantId, RunId), usize> = HashMap::new();
    let mut touched = BTreeMap::new();
    for (index, item) in items.iter().copied().enumerate() {
        let allowed = refused.get(&index).cloned().map_or_else(|| check_start(item, &found), Err);
        let answer = allowed.and_then(|()| match item {
            Item::Run(entry) => match &entry.transition {
                Transition::Open(run) => Ok(open(entry, run, &mut found, &mut plan, &mut opened)),
                Transition::Change(change) => {
                    change_run(entry, change, &mut found, &mut plan, &opened, &mut touched)
                }
            },
            Item::Note(written) => Ok(note(written, &mut found, &mut plan)),
            Item::Line { .. } => Ok(Appended { seq: 0, lease_epoch: 0 }),
        });
        if let (Ok(_), Some(audit)) = (&answer, item.audit()) {
            plan.audits.push((item, audit));
        }
        if let (Ok(_), Some(entry)) = (&answer, item.as_run()) {
            tell(entry, &found, &mut plan.tellings);
        }
        plan.answers.push(answer);
    }
    plan.changed_runs.extend(touched.into_iter().map(|(key, only_numbered)| {
        let state = found.runs.remove(&key).expect("found before it was changed");
        ChangedRun { tenant: key.0, run: key.1, state, only_numbered }
    }));
    let mut sessions: Vec<_> =
        found.sessions.into_iter().map(|((tenant, session), seq)| (tenant, session, seq)).collect();
    sessions.sort_unstable();
    plan.sessions = sessions;
    plan
}

/// Notes what the tenant's webhooks are told of this entry. Most tenants have none.
fn tell(entry: &Entry, found: &Found, tellings: &mut Vec<WebhookTelling>) {
    let told = found.told.get(&entry.tenant).copied().unwrap_or(0);
    if told == 0 {
        return;
    }
    let of_events = entry.events.iter().filter_map(|event| match event.kind {
        EventKind::Completed => Some(WebhookEvent::RunCompleted),
        EventKind::Failed => Some(WebhookEvent::RunFailed),
        EventKind::NeedsApproval => Some(WebhookEvent::ApprovalRequested),
        _ => None,
    });
    // Whether there was an approval to decide is seen where the decision is written.
    let may_decide = match &entry.transition {
        Transition::Open(_) => false,
        Transition::Change(change) => change.decision.is_some() || change.to.is_some_and(|to| !to.is_open()),
    };
    let events = of_events.chain(may_decide.then_some(WebhookEvent::ApprovalDecided));
    tellings.extend(events.filter(|event| told & event.bit() != 0).map(|event| WebhookTelling {
        tenant: entry.tenant,
        event,
        run: entry.run,
        at: entry.at,
    }));
}

/// Who is told what, of webhooks as `(id, tenant, events)`.
pub(crate) fn told<'a>(
    tellings: &'a [WebhookTelling],
    webhooks: &[(Uuid, Uuid, i64)],
) -> Vec<(&'a WebhookTelling, Uuid)> {
    let of = |telling: &'a WebhookTelling| {
        let wants = move |(_, tenant, events): &&(Uuid, Uuid, i64)| {
            *tenant == telling.tenant.uuid() && events & telling.event.bit() != 0
        };
        webhooks.iter().filter(wants).map(move |(webhook, ..)| (telling, *webhook))
    };
    tellings.iter().flat_map(of).collect()
}

fn open<'a>(
    entry: &'a Entry,
    run: &'a NewRun,
    found: &mut Found,
    plan: &mut Plan<'a>,
    opened: &mut HashMap<(TenantId, RunId), usize>,
) -> Appended {
    let mut state = RunState {
        session: entry.session,
        status: if run.park.is_some() { RunStatus::NeedsApproval } else { RunStatus::Running },
        replica: run.park.is_none().then_some(run.replica),
        lease_epoch: 1,
        last_seq: 0,
        input_seq: 0,
        output_seq: None,
        summary: None,
        error: None,
        error_code: None,
        effect: None,
        listed_us: entry.at.micros(),
        started_us: run.park.is_none().then_some(entry.at.micros()),
        finished_us: None,
        duration_us: None,
    };
    let seq = number(entry, &mut state, found, plan);
    state.input_seq = seq;
    opened.insert((entry.tenant, entry.run), plan.new_runs.len());
    plan.new_runs.push((entry, run, state));
    Appended { seq, lease_epoch: 1 }
}

fn change_run<'a>(
    entry: &'a Entry,
    change: &'a Change,
    found: &mut Found,
    plan: &mut Plan<'a>,
    opened: &HashMap<(TenantId, RunId), usize>,
    touched: &mut BTreeMap<(TenantId, RunId), bool>,
) -> Result<Appended, Rejected> {
    let key = (entry.tenant, entry.run);
    let index = opened.get(&key).copied();
    let mut state = match index {
        Some(index) => plan.new_runs[index].2.clone(),
        None => found.runs.get(&key).cloned().ok_or(Rejected::NoRun)?,
    };
    let fits = match change.expect {
        Expect::Lease(epoch) => state.status == RunStatus::Running && state.lease_epoch == epoch,
        Expect::Status(status) => state.status == status,
        Expect::Open => state.status.is_open(),
        Expect::Ended => !state.status.is_open(),
    };
    if !fits {
        return Err(Rejected::Status { status: state.status });
    }
    let waited = matches!(state.status, RunStatus::NeedsApproval | RunStatus::Pending);
    let seq = number(entry, &mut state, found, plan);
    apply(entry, change, &mut state, seq);
    let answer = Appended { seq, lease_epoch: state.lease_epoch };
    // A lease above the first means that the run once waited, so there is a row that says so.
    let ends_wait = (waited || 1 < state.lease_epoch) && change.to.is_some_and(|to| !to.is_open());
    // A late answer was kept before: the row of the call is what says that it is the first.
    let waits = change.wait.as_ref().is_some_and(|wait| !matches!(wait, WaitChange::Late { .. }));
    if change.decision.is_some() || change.claimed_by.is_some() || waits || ends_wait {
        plan.waits.push((entry, change));
    }
    match index {
        Some(index) => plan.new_runs[index].2 = state,
        None => {
            found.runs.insert(key, state);
            *touched.entry(key).or_insert(true) &= change.only_numbers();
        }
    }
    Ok(answer)
}

fn apply(entry: &Entry, change: &Change, state: &mut RunState, seq: i64) {
    if let Some(replica) = change.claimed_by {
        state.replica = Some(replica);
        state.lease_epoch += 1;
        // A run that goes on where it stopped began before.
        if !entry.events.is_empty() {
            state.input_seq = seq;
            // The time a person took to decide is not time the tool took to run.
            state.started_us = Some(entry.at.micros());
            state.listed_us = entry.at.micros();
        }
    }
    if let Some(status) = change.to {
        state.status = status;
        if !status.is_open() {
            state.finished_us = Some(entry.at.micros());
            state.output_seq = Some(seq);
        }
        if status != RunStatus::Running {
            state.replica = None;
        }
    }
    if let Some(finished) = &change.finished {
        state.summary.clone_from(&finished.summary);
        state.error.clone_from(&finished.error);
        state.error_code = finished.error_code.map(|code| code.as_str().to_owned());
        state.effect = finished.effect.map(|effect| effect.as_str().to_owned());
        state.duration_us = finished.duration_us;
    }
}

fn note<'a>(note: &'a SessionNote, found: &mut Found, plan: &mut Plan<'a>) -> Appended {
    let key = (note.tenant, note.session);
    let counter = found.sessions.get_mut(&key).expect("checked by `check_start`");
    for event in &note.events {
        *counter += 1;
        plan.events.push(PlannedEvent {
            tenant: note.tenant,
            session: note.session,
            run: None,
            tool: None,
            actor: &note.actor,
            at: note.at,
            event,
            seq: *counter,
        });
    }
    Appended { seq: *counter, lease_epoch: 0 }
}

/// Gives the entry's events the next numbers of their session, and returns the last.
fn number<'a>(entry: &'a Entry, state: &mut RunState, found: &mut Found, plan: &mut Plan<'a>) -> i64 {
    let own = entry.session == entry.run.into();
    let counter = if own {
        &mut state.last_seq
    } else {
        found.sessions.get_mut(&(entry.tenant, entry.session)).expect("checked by `check_start`")
    };
    for event in &entry.events {
        *counter += 1;
        plan.events.push(PlannedEvent {
            tenant: entry.tenant,
            session: entry.session,
            run: Some(entry.run),
            tool: Some(&entry.tool),
            actor: &entry.actor,
            at: entry.at,
            event,
            seq: *counter,
        });
    }
    let seq = *counter;
    state.last_seq = seq;
    seq
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tw_model::{Channel, EventId, Mode, Source, ToolId};

    use super::*;
    use crate::{
        audit_line::{By, NewAudit},
        log::Finished,
    };

    fn entry(run: RunId, session: SessionId, kind: EventKind, transition: Transition) -> Item {
        Item::Run(Entry {
            tenant: TenantId::GLOBAL,
            run,
            session,
            tool: Arc::from("echo"),
            actor: Arc::from("{}"),
            at: Timestamp::from_micros(1),
            transition,
            events: vec![NewEvent { id: EventId::new(), kind, payload: "{}".to_owned() }],
            audit: None,
        })
    }

    fn audited(item: Item) -> Item {
        let what = NewAudit::change("approval.approved", "approval:1".to_owned(), None, None);
        let audit = Some(Box::new(Audit { by: By::operator(), what }));
        match item {
            Item::Run(entry) => Item::Run(Entry { audit, ..entry }),
            Item::Note(note) => Item::Note(SessionNote { audit, ..note }),
            Item::Line { .. } => panic!("a line is one already"),
        }
    }

    fn note_in(session: SessionId) -> Item {
        let event =
            NewEvent { id: EventId::new(), kind: EventKind::OutputAppended, payload: "{}".to_owned() };
        Item::Note(SessionNote {
            tenant: TenantId::GLOBAL,
            session,
            actor: Arc::from("{}"),
            at: Timestamp::from_micros(1),
            events: vec![event],
            audit: None,
        })
    }

    fn start(run: RunId, session: SessionId, epoch: i64) -> Item {
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
            replica: ReplicaId::new(),
            epoch,
            claim: None,
            park: None,
            wait: None,
            standing: None,
        };
        entry(run, session, EventKind::Started, Transition::Open(Box::new(new)))
    }

    fn end(run: RunId, session: SessionId, lease: i64) -> Item {
        let change = Change {
            to: Some(RunStatus::Success),
            finished: Some(Finished::default()),
            ..Change::expecting(Expect::Lease(lease))
        };
        entry(run, session, EventKind::Completed, Transition::Change(Box::new(change)))
    }

    #[test]
    fn start_and_end_of_one_batch_make_one_row() {
        let run = RunId::new();
        let (a, b) = (start(run, run.into(), 0), end(run, run.into(), 1));

        let plan = plan(&[&a, &b], Found::default(), &HashMap::new());

        assert_eq!(plan.new_runs.len(), 1);
        assert_eq!(plan.new_runs[0].2.status, RunStatus::Success);
        assert_eq!(plan.changed_runs.len(), 0);
        assert_eq!(plan.events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn stale_start_takes_its_end_with_it_and_leaves_no_gap() {
        let (stale, fresh, session) = (RunId::new(), RunId::new(), SessionId::new());
        let entries = [start(stale, session, 1), end(stale, session, 1), start(fresh, session, 2)];
        let found = Found {
            epochs: [(TenantId::GLOBAL, 2)].into(),
            sessions: [((TenantId::GLOBAL, session), 7)].into(),
            ..Found::default()
        };

        let plan = plan(&entries.iter().collect::<Vec<_>>(), found, &HashMap::new());

        assert!(matches!(plan.answers[0], Err(Rejected::Stale { epoch: 2 })));
        assert!(matches!(plan.answers[1], Err(Rejected::NoRun)));
        assert_eq!(plan.answers[2].as_ref().unwrap().seq, 8);
        assert_eq!(plan.sessions, [(TenantId::GLOBAL, session, 8)]);
    }

    #[test]
    fn only_the_first_end_of_a_run_counts() {
        let run = RunId::new();
        let entries = [start(run, run.into(), 0), end(run, run.into(), 1), end(run, run.into(), 1)];

        let plan = plan(&entries.iter().collect::<Vec<_>>(), Found::default(), &HashMap::new());

        assert!(plan.answers[1].is_ok());
        assert!(matches!(plan.answers[2], Err(Rejected::Status { status: RunStatus::Success })));
        assert_eq!(plan.events.len(), 2);
    }

    #[test]
    fn event_that_changes_nothing_else_only_moves_the_number() {
        let (quiet, ended) = (RunId::new(), RunId::new());
        let append = |run: RunId| {
            let change = Change {
                expect: Expect::Lease(1),
                to: None,
                finished: None,
                claimed_by: None,
                epoch: None,
                decision: None,
                wait: None,
            };
            entry(run, run.into(), EventKind::OutputAppended, Transition::Change(Box::new(change)))
        };
        let opened = [start(quiet, quiet.into(), 0), start(ended, ended.into(), 0)];
        let before = plan(&opened.iter().collect::<Vec<_>>(), Found::default(), &HashMap::new());
        let runs = before.new_runs.iter().map(|(entry, _, state)| ((entry.tenant, entry.run), state.clone()));
        let found = Found { runs: runs.collect(), ..Found::default() };
        let entries = [append(quiet), append(ended), end(ended, ended.into(), 1), append(quiet)];

        let plan = plan(&entries.iter().collect::<Vec<_>>(), found, &HashMap::new());

        let changed = |run| plan.changed_runs.iter().find(|changed| changed.run == run).unwrap();
        assert_eq!((changed(quiet).only_numbered, changed(quiet).state.last_seq), (true, 3));
        assert_eq!((changed(ended).only_numbered, changed(ended).state.last_seq), (false, 3));
    }

    #[test]
    fn webhooks_are_told_what_stands_and_what_they_ask_for() {
        let (run, other) = (RunId::new(), RunId::new());
        let entries = [
            start(run, run.into(), 0),
            end(run, run.into(), 1),
            end(run, run.into(), 1),
            start(other, other.into(), 0),
        ];
        let tellings = |told: &[WebhookEvent]| {
            let told = [(TenantId::GLOBAL, WebhookEvent::bits(told))].into();
            let found = Found { told, ..Found::default() };
            plan(&entries.iter().collect::<Vec<_>>(), found, &HashMap::new()).tellings
        };

        let at = Timestamp::from_micros(1);
        let completed =
            WebhookTelling { tenant: TenantId::GLOBAL, event: WebhookEvent::RunCompleted, run, at };
        assert_eq!(tellings(&[WebhookEvent::RunCompleted, WebhookEvent::RunFailed]), [completed]);
        assert_eq!(tellings(&[WebhookEvent::RunFailed]), []);
        assert_eq!(tellings(&[]), []);
    }

    #[test]
    fn end_under_an_old_lease_is_rejected() {
        let run = RunId::new();
        let entries = [start(run, run.into(), 0), end(run, run.into(), 2)];

        let plan = plan(&entries.iter().collect::<Vec<_>>(), Found::default(), &HashMap::new());

        assert!(matches!(plan.answers[1], Err(Rejected::Status { status: RunStatus::Running })));
    }

    #[test]
    fn unknown_session_is_rejected() {
        let entries = [start(RunId::new(), SessionId::new(), 0), note_in(SessionId::new())];

        let plan = plan(&entries.iter().collect::<Vec<_>>(), Found::default(), &HashMap::new());

        assert!(plan.answers.iter().all(|answer| matches!(answer, Err(Rejected::NoSession))));
    }

    #[test]
    fn events_about_no_run_share_the_numbers_of_their_session() {
        let (run, session) = (RunId::new(), SessionId::new());
        let entries = [note_in(session), start(run, session, 0), note_in(session)];
        let found = Found { sessions: [((TenantId::GLOBAL, session), 7)].into(), ..Found::default() };

        let plan = plan(&entries.iter().collect::<Vec<_>>(), found, &HashMap::new());

        let written: Vec<_> = plan.events.iter().map(|event| (event.seq, event.run, event.tool)).collect();
        assert_eq!(written, [(8, None, None), (9, Some(run), Some("echo")), (10, None, None)]);
        assert_eq!(plan.sessions, [(TenantId::GLOBAL, session, 10)]);
    }

    #[test]
    fn audit_is_written_exactly_for_what_stands() {
        let run = RunId::new();
        let entries =
            [start(run, run.into(), 0), audited(end(run, run.into(), 1)), audited(end(run, run.into(), 1))];

        let plan = plan(&entries.iter().collect::<Vec<_>>(), Found::default(), &HashMap::new());

        assert!(plan.answers[1].is_ok() && plan.answers[2].is_err());
        assert_eq!(plan.audits.len(), 1);
    }
}
