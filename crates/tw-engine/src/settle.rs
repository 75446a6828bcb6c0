//! Runs whose end could not be written, because the database was away.
//!
//! The caller was told that the call failed, or is still waiting; the log has to say so too, or the run
//! would look as if it were running for ever. Each entry is tried again until the log takes it or says
//! that the run has ended or never existed.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;
use tw_model::{Code, Effect, EventKind, RunId, RunStatus, SessionId, TenantId, Timestamp};
use tw_store::{
    PendingCall, Run, Store,
    log::{Change, Entry, Expect, Finished, NewWait, Rejected, Step, WaitChange, WaitState},
};

use crate::corridor::payload;

/// Which run, for an entry that has to be made up later.
#[derive(Clone, Debug)]
pub(crate) struct RunIdentity {
    pub(crate) tenant: TenantId,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) tool: Arc<str>,
    pub(crate) actor: Arc<str>,
}

impl RunIdentity {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            tenant: entry.tenant,
            run: entry.run,
            session: entry.session,
            tool: Arc::clone(&entry.tool),
            actor: Arc::clone(&entry.actor),
        }
    }

    /// Of a run that ends by itself.
    pub(crate) fn of_run(run: &Run) -> Self {
        Self {
            tenant: run.tenant,
            run: run.id,
            session: run.session,
            tool: run.tool.as_str().into(),
            actor: r#"{"kind":"system"}"#.into(),
        }
    }
}

/// For how long a start of which nothing is known may still turn up: a database that was cut off in the
/// middle of a commit finishes it, or not, once it goes on.
const DOUBT: Duration = Duration::from_secs(30);
const AGAIN_AFTER: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Settler {
    store: Store,
    queue: mpsc::UnboundedSender<Entry>,
}

impl Settler {
    pub(crate) fn start(store: Store) -> Self {
        let (queue, entries) = mpsc::unbounded_channel();
        tokio::spawn(settle(store.clone(), entries));
        Self { store, queue }
    }

    /// A run whose start may or may not have been written, and that was never made.
    pub(crate) fn never_started(&self, identity: RunIdentity) {
        let message = "the database was away when the call started, so it was not made";
        let entry = interrupted(identity, Expect::Open, Effect::None, message);
        tokio::spawn(close_if_it_turns_up(self.store.clone(), entry));
    }

    /// An end that could not be written.
    pub(crate) fn later(&self, entry: Entry) {
        // The task lives as long as the engine; while closing, the next start closes the run.
        let _ = self.queue.send(entry);
    }
}

/// How a run ends that nobody is at work on.
#[derive(Debug)]
pub(crate) struct Failure<'a> {
    pub(crate) expect: Expect,
    pub(crate) status: RunStatus,
    pub(crate) code: Code,
    pub(crate) message: &'a str,
    pub(crate) effect: Option<Effect>,
    pub(crate) duration_us: Option<i64>,
    pub(crate) wait: Option<WaitChange>,
}

/// The entry that ends a run so.
pub(crate) fn failed(identity: RunIdentity, failure: Failure<'_>) -> Entry {
    let RunIdentity { tenant, run, session, tool, actor } = identity;
    let Failure { expect, status, code, message, effect, duration_us, wait } = failure;
    let said = payload::Failed {
        status,
        error: message,
        error_code: code.as_str(),
        effect,
        duration_ms: duration_us.map(|duration| duration / 1000),
        duration_us,
    };
    let change = Change {
        expect,
        to: Some(status),
        finished: Some(Finished {
            summary: None,
            error: Some(message.to_owned()),
            error_code: Some(code.as_str()),
            effect,
            duration_us,
        }),
        claimed_by: None,
        epoch: None,
        decision: None,
        wait,
    };
    Entry {
        tenant,
        run,
        session,
        tool,
        actor,
        at: Timestamp::now(),
        step: Step::Change(Box::new(change)),
        events: vec![payload::event(EventKind::Failed, run, &said)],
        audit: None,
    }
}

/// An entry that closes a run as interrupted.
pub(crate) fn interrupted(identity: RunIdentity, expect: Expect, effect: Effect, message: &str) -> Entry {
    let failure = Failure {
        expect,
        status: RunStatus::Error,
        code: Code::Interrupted,
        message,
        effect: Some(effect),
        duration_us: None,
        wait: None,
    };
    failed(identity, failure)
}

/// An entry that leaves a run to whoever goes on with it.
pub(crate) fn left_over(identity: RunIdentity, lease_epoch: i64, call: PendingCall) -> Entry {
    let RunIdentity { tenant, run, session, tool, actor } = identity;
    let wait = NewWait {
        id: call.id,
        waits_for: call.waits_for,
        state: WaitState::Ready,
        context: call.context,
        children: Vec::new(),
        deadline: None,
        expires: call.expires,
    };
    let change = Change {
        expect: Expect::Lease(lease_epoch),
        to: Some(RunStatus::Pending),
        finished: None,
        claimed_by: None,
        epoch: None,
        decision: None,
        wait: Some(WaitChange::Park(wait)),
    };
    let step = Step::Change(Box::new(change));
    Entry { tenant, run, session, tool, actor, at: Timestamp::now(), step, events: Vec::new(), audit: None }
}

async fn settle(store: Store, mut entries: mpsc::UnboundedReceiver<Entry>) {
    while let Some(entry) = entries.recv().await {
        if let Err(Rejected::Closed) = insist(&store, &entry).await {
            return;
        }
    }
}

/// Closes a run whose start may be written after it was asked for in vain.
async fn close_if_it_turns_up(store: Store, entry: Entry) {
    let mut pause = AGAIN_AFTER;
    let mut doubted = Duration::ZERO;
    while let Err(Rejected::NoRun) = insist(&store, &entry).await
        && doubted < DOUBT
    {
        tokio::time::sleep(pause).await;
        doubted += pause;
        pause *= 2;
    }
}

/// Appends an entry; while the database is away, again and again.
async fn insist(store: &Store, entry: &Entry) -> Result<(), Rejected> {
    loop {
        match store.log().append(entry.clone()).wait().await {
            Err(Rejected::Failed(error)) if error.is_retryable() => tokio::time::sleep(AGAIN_AFTER).await,
            Err(Rejected::Failed(error)) => {
                tracing::error!(error = &*error as &dyn std::error::Error, run = %entry.run, "the end of a run cannot be written");
                return Err(Rejected::Failed(error));
            }
            result => return result.map(drop),
        }
    }
}
