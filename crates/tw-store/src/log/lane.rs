//! One lane: takes what has gathered, writes it in one transaction, answers, and starts again.

use std::{ops::Range, sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};

use super::{
    Job,
    entry::{Appended, Entry, Expect, Rejected, Step, WaitChange, WaitState},
    postgres, sqlite,
};
use crate::{
    db::Pg,
    error::{Cause, Error},
    wake::Wake,
};

/// How many entries share a transaction at the most.
const ENTRIES_MAX: usize = 512;
/// How much payload does.
const BYTES_MAX: usize = 16 << 20;
/// How long one transaction may take before it is given up: a database that accepts and never answers must
/// not hold callers for ever.
const PATIENCE: Duration = Duration::from_secs(10);
const CONFLICT_TRIES: usize = 5;
/// How long an entry that nobody waits for is kept back.
const LINGER: Duration = Duration::from_millis(2);
/// How often others get a turn before a transaction begins, as long as they bring something.
const TURNS: usize = 4;

type Answer = oneshot::Sender<Result<Appended, Rejected>>;

/// Brings groups to the database.
#[derive(Debug)]
pub(super) enum Carrier {
    Sqlite(sqlite::Writer),
    Postgres(Pg),
}

/// One answer per entry, once the group is on disk.
pub(super) type Outcome = Result<Vec<Result<Appended, Rejected>>, Error>;

/// Entries that share a transaction. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Group {
    entries: Arc<Vec<Entry>>,
    part: Range<usize>,
}

impl Group {
    fn new(entries: Vec<Entry>) -> Self {
        Self { part: 0..entries.len(), entries: Arc::new(entries) }
    }

    pub(super) fn entries(&self) -> Vec<&Entry> {
        self.entries[self.part.clone()].iter().collect()
    }

    /// The same entries, each in a group of its own.
    fn singles(&self) -> impl Iterator<Item = Self> + '_ {
        let single = |index| Self { entries: Arc::clone(&self.entries), part: index..index + 1 };
        self.part.clone().map(single)
    }
}

pub(super) async fn run(carrier: Carrier, wake: Arc<Wake>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let mut closing = false;
    while !closing {
        let Some(first) = jobs.recv().await else { return };
        let mut batch = Batch::default();
        batch.add(first);
        batch.gather(&mut jobs).await;
        closing = batch.closing;
        write(&carrier, &wake, batch).await;
    }
    // What arrived after the close was asked for is answered rather than dropped without a word.
    while let Ok(job) = jobs.try_recv() {
        if let Job::Append { answer, .. } = job {
            let _ = answer.send(Err(Rejected::Closed));
        }
    }
    if let Carrier::Sqlite(writer) = carrier {
        // A thread that hangs in the disk ends with the process.
        let _ = tokio::time::timeout(PATIENCE, writer.close()).await;
    }
}

/// What is written next.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    /// One per entry.
    answers: Vec<Answer>,
    bytes: usize,
    /// Somebody waits for one of them.
    hurried: bool,
    closing: bool,
}

impl Batch {
    fn add(&mut self, job: Job) {
        match job {
            Job::Append { entry, answer, patient } => {
                self.bytes += entry.events.iter().map(|event| event.payload.len()).sum::<usize>();
                self.hurried |= !patient;
                self.entries.push(entry);
                self.answers.push(answer);
            }
            Job::Close => self.closing = true,
        }
    }

    fn is_full(&self) -> bool {
        self.closing || ENTRIES_MAX <= self.entries.len() || BYTES_MAX <= self.bytes
    }

    /// Takes what has come in the meantime. Says whether there was anything.
    fn drain(&mut self, jobs: &mut mpsc::UnboundedReceiver<Job>) -> bool {
        let before = self.entries.len();
        while !self.is_full() {
            let Ok(job) = jobs.try_recv() else { break };
            self.add(job);
        }
        before < self.entries.len()
    }

    /// Gathers what belongs into the same transaction. A flush costs far more than the moment that lets
    /// callers who were just answered come back, and a start wait for its own end.
    async fn gather(&mut self, jobs: &mut mpsc::UnboundedReceiver<Job>) {
        self.drain(jobs);
        let patience = tokio::time::Instant::now() + LINGER;
        while !self.hurried && !self.is_full() {
            match tokio::time::timeout_at(patience, jobs.recv()).await {
                Ok(Some(job)) => self.add(job),
                Ok(None) | Err(_) => return,
            }
            self.drain(jobs);
        }
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
            if !self.drain(jobs) {
                return;
            }
        }
    }
}

async fn write(carrier: &Carrier, wake: &Wake, batch: Batch) {
    if batch.entries.is_empty() {
        return;
    }
    let group = Group::new(batch.entries);
    match attempt(carrier, &group).await {
        Ok(written) => answer_all(wake, &group, batch.answers, written),
        // One entry that the database cannot take must not fail its neighbours.
        Err(Error::Database { .. } | Error::Corrupt { .. }) if 1 < batch.answers.len() => {
            for (single, answer) in group.singles().zip(batch.answers) {
                match attempt(carrier, &single).await {
                    Ok(written) => answer_all(wake, &single, vec![answer], written),
                    Err(error) => drop(answer.send(Err(fail(error)))),
                }
            }
        }
        Err(error) => {
            let rejected = fail(error);
            for answer in batch.answers {
                let _ = answer.send(Err(rejected.clone()));
            }
        }
    }
}

fn fail(error: Error) -> Rejected {
    tracing::warn!(error = &error as &dyn std::error::Error, "a group of events was not written");
    Rejected::Failed(Arc::new(error))
}

fn answer_all(wake: &Wake, group: &Group, answers: Vec<Answer>, written: Vec<Result<Appended, Rejected>>) {
    for ((entry, answer), result) in group.entries().into_iter().zip(answers).zip(written) {
        if result.is_ok() {
            // Nobody can have watched a run of its own session before it existed.
            let fresh = matches!(entry.step, Step::Open(_)) && entry.session == entry.run.into();
            if !fresh {
                wake.session_changed(entry.session);
            }
            if let Step::Change(change) = &entry.step {
                if change.decision.as_ref().is_some_and(|decision| decision.status == "approved") {
                    wake.pending_ready();
                }
                match &change.wait {
                    Some(WaitChange::Park(wait)) if wait.state == WaitState::Ready => wake.pending_ready(),
                    Some(WaitChange::Park(_)) => wake.call_waits(entry.tenant),
                    _ => {}
                }
                let ends = change.to.is_some_and(|to| !to.is_open());
                if ends && !matches!(change.expect, Expect::Lease(_)) {
                    wake.run_ended(entry.run);
                }
            }
        }
        // A caller that has gone away no longer needs the answer; the entry stands.
        let _ = answer.send(result);
    }
}

/// Writes the group in one transaction, again where another transaction got in the way.
async fn attempt(carrier: &Carrier, group: &Group) -> Outcome {
    let mut tries = 0;
    loop {
        tries += 1;
        let carried = match carrier {
            Carrier::Sqlite(writer) => tokio::time::timeout(PATIENCE, writer.carry_out(group.clone())).await,
            Carrier::Postgres(pg) => tokio::time::timeout(PATIENCE, postgres::carry_out(pg, group)).await,
        };
        let outcome = carried.unwrap_or_else(|_| {
            if let Carrier::Postgres(pg) = carrier {
                pg.presence.is_silent();
            }
            Err(crate::timed_out())
        });
        match outcome {
            Err(error) if is_conflict(&error) && tries < CONFLICT_TRIES => {
                tracing::debug!(tries, "another transaction got in the way; writing the group again");
            }
            outcome => return outcome,
        }
    }
}

fn is_conflict(error: &Error) -> bool {
    let Error::Unavailable { source: Cause::Sqlx(sqlx::Error::Database(source)) } = error else {
        return false;
    };
    matches!(source.code().as_deref(), Some("40001" | "40P01"))
}
