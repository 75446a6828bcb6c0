//! Runs whose end could not be written, because the database was away.
//!
//! The caller was told that the call failed, or is still waiting; the log has to say so too, or the run
//! would look as if it were running for ever. Each entry is tried again until the log takes it or says
//! that the run has ended or never existed.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tw_model::{Effect, PendingState, RunStatus};
use tw_store::{
    PendingCall, Store,
    log::{Change, Entry, Expect, NewWait, Rejected, WaitChange},
};

use super::{End, RunIdentity};
use crate::pulse::Pulse;

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
    /// Starts the loop. It is begun again where it dies: an end that is never written looks like a run that goes on.
    pub(crate) fn start(store: Store, pulse: &Pulse) -> Self {
        let (queue, entries) = mpsc::unbounded_channel();
        let (pulse, settled, over) = (pulse.clone(), store.clone(), CancellationToken::new());
        let entries = Arc::new(Mutex::new(entries));
        tokio::spawn(async move {
            let begin = || settle(settled.clone(), Arc::clone(&entries), over.clone());
            over.run_until_cancelled(pulse.keep_up("settle_ends", begin)).await
        });
        Self { store, queue }
    }

    /// A run whose start may or may not have been written, and that was never made.
    pub(crate) fn never_started(&self, identity: RunIdentity) {
        let message = "the database was unavailable when the call started, so the call was not made";
        let entry = interrupted(identity, Expect::Open, Effect::None, message);
        tokio::spawn(close_if_it_turns_up(self.store.clone(), entry));
    }

    /// An end that could not be written.
    pub(crate) fn later(&self, entry: Entry) {
        // The task lives as long as the engine; while closing, the next start closes the run.
        let _ = self.queue.send(entry);
    }
}

/// The entry that ends a run that nobody is at work on.
pub(crate) fn interrupted(identity: RunIdentity, expect: Expect, effect: Effect, message: &str) -> Entry {
    let ended = End::interrupted(effect, message).of(identity.run, &identity.tool, None);
    let change = ended.change(expect);
    identity.change(change, vec![ended.event])
}

/// The entry that leaves a run to the replica that resumes it.
pub(crate) fn left_over(identity: RunIdentity, lease_epoch: i64, call: PendingCall) -> Entry {
    let wait = NewWait {
        id: call.id,
        waits_for: call.waits_for,
        state: PendingState::Ready,
        context: call.context,
        children: Vec::new(),
        deadline: None,
        expires: call.expires,
    };
    let change = Change {
        to: Some(RunStatus::Pending),
        wait: Some(WaitChange::Park(wait)),
        ..Change::expecting(Expect::Lease(lease_epoch))
    };
    identity.change(change, Vec::new())
}

/// Writes one end after the other, until the log is closed or nobody is left to bring one. An entry over which the loop
/// dies is lost, and no other.
async fn settle(store: Store, entries: Arc<Mutex<mpsc::UnboundedReceiver<Entry>>>, over: CancellationToken) {
    let mut entries = entries.lock().await;
    while let Some(entry) = entries.recv().await {
        if let Err(Rejected::Closed) = insist(&store, &entry).await {
            break;
        }
    }
    over.cancel();
    pending().await
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
