//! The run log: everything that is written about a run, and waiting for it to be written.
//!
//! A run begins in `start.rs` and ends in `end.rs`; there is no other place that makes the entry of a start or of an
//! end. `resumption.rs` is what is kept of a run that waits, `seal.rs` what an approval is bound to,
//! `standing.rs` what one is that holds for later calls, `settle.rs`
//! insists on entries that the database did not take, `wait.rs` is how anybody waits for a run.

mod end;
mod payload;
mod resumption;
mod seal;
mod settle;
mod standing;
mod start;
mod wait;

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use tw_model::{Caller, EventKind, RunId, SessionId, TenantId, Timestamp};
use tw_store::{
    Run, Store,
    log::{Appended, Change, Entry, NewEvent, Rejected, Ticket, Transition},
};

pub use self::resumption::WrapperSettings;
pub(crate) use self::{
    end::{Beside, End, Reason},
    payload::{Approved, LateResult, OutputAppended},
    resumption::{Begun, KeptRefusal, Resumption},
    seal::{CallReach, Sealed, Unsealed, input_digest},
    settle::{Settler, interrupted, left_over},
    standing::{
        Rights, Standing, StandingContext, StandingFacts, StandingSeal, Way, bound_values, definitions_hash,
        tools_above,
    },
    start::{Parking, Starting},
    wait::look_again,
};
use crate::{flights::Flights, pulse::Pulse};

/// Which run an entry is about, and who does what it says.
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

    /// A run about which a caller does something.
    pub(crate) fn by(caller: &Caller, run: &Run) -> Self {
        Self { actor: actor(caller), ..Self::by_the_system(run) }
    }

    /// A run about which nobody does anything: it ends by itself.
    pub(crate) fn by_the_system(run: &Run) -> Self {
        Self {
            tenant: run.tenant,
            run: run.id,
            session: run.session,
            tool: run.tool.as_str().into(),
            actor: r#"{"kind":"system"}"#.into(),
        }
    }

    /// The entry that changes the run.
    pub(crate) fn change(self, change: Change, events: Vec<NewEvent>) -> Entry {
        self.entry(Transition::Change(Box::new(change)), events)
    }

    pub(crate) fn entry(self, transition: Transition, events: Vec<NewEvent>) -> Entry {
        let Self { tenant, run, session, tool, actor } = self;
        Entry { tenant, run, session, tool, actor, at: Timestamp::now(), transition, events, audit: None }
    }
}

/// Who did something, as entries say it.
pub(crate) fn actor(caller: &Caller) -> Arc<str> {
    serde_json::to_string(&caller.actor()).expect("an actor is plain JSON").into()
}

/// An event with its payload as text. A run's `tool.started` has the run's own id.
pub(crate) fn event(kind: EventKind, run: RunId, payload: &impl Serialize) -> NewEvent {
    payload::event(kind, run, payload)
}

/// The raw JSON of a value that is known to be writable.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a JSON value can be written as JSON")
}

/// A text as both databases take it: PostgreSQL has no NUL in text.
pub(crate) fn storable(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

/// Writes entries, and looks after those whose fate is unknown.
#[derive(Debug)]
pub(crate) struct RunLog {
    store: Store,
    settler: Settler,
    flights: Arc<Flights>,
}

impl RunLog {
    pub(crate) fn new(store: Store, flights: Arc<Flights>, pulse: &Pulse) -> Self {
        Self { settler: Settler::start(store.clone(), pulse), store, flights }
    }

    /// Appends and waits. An entry that failed for the database's sake may still have been written, so a run that it
    /// would have begun is closed if it turns up.
    pub(crate) async fn append(&self, entry: Entry) -> Result<Appended, Rejected> {
        let opened = matches!(entry.transition, Transition::Open(_)).then(|| RunIdentity::of(&entry));
        let result = self.store.log().append(entry).wait().await;
        if let (Err(Rejected::Failed(_)), Some(identity)) = (&result, opened) {
            self.settler.never_started(identity);
        }
        result
    }

    /// Appends the start of a run whose end comes later.
    pub(crate) fn append_start(&self, entry: Entry) -> Beginning {
        Beginning::Sent(self.store.log().append(entry))
    }

    /// Appends something that nobody waits for.
    pub(crate) fn append_unwatched(&self, entry: Entry) {
        self.store.log().append_unwatched(entry);
    }

    /// Appends the end of a run, with its start where that has not been sent yet, and waits for both.
    pub(crate) async fn append_end(
        &self,
        entry: Entry,
        beginning: Option<Beginning>,
    ) -> Result<Appended, Rejected> {
        let log = self.store.log();
        let sent = match beginning {
            Some(Beginning::Kept(start)) => {
                let identity = RunIdentity::of(&entry);
                let ended = log.append_both(*start, entry).wait().await;
                if matches!(ended, Err(Rejected::Failed(_))) {
                    self.settler.never_started(identity);
                }
                return ended;
            }
            Some(Beginning::Sent(ticket)) => Some(ticket),
            None => None,
        };
        let again = entry.clone();
        let ending = log.append(entry);
        if let Some(starting) = sent
            && let Err(rejected) = starting.wait().await
        {
            // The end went the same way; the start says why.
            let _ = ending.wait().await;
            if matches!(rejected, Rejected::Failed(_)) {
                self.settler.never_started(RunIdentity::of(&again));
            }
            return Err(rejected);
        }
        let ended = ending.wait().await;
        if matches!(ended, Err(Rejected::Failed(_))) {
            self.settler.later(again);
        }
        ended
    }
}

/// The start of a run for which nothing waits, until it is known to be on disk.
#[derive(Debug)]
pub(crate) enum Beginning {
    /// Not sent yet. A tool that is done at once has its start and its end written together.
    Kept(Box<Entry>),
    Sent(Ticket),
}
