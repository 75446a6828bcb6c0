//! The event log: append-only, gap-free per session, written in groups.
//!
//! Everything that happens to a run is an [`Entry`]: the events to append, and what they make of the
//! run's row. Entries of many tenants and sessions share one transaction, and an entry is answered
//! after that transaction is on disk. The run's row is the lock: an entry names the state it expects
//! the run to be in, and one that finds another state is rejected alone, without a gap and without
//! disturbing its neighbours. A [`SessionNote`] is about a session and no run, a line of the audit about neither; both share
//! the transactions.
//!
//! Start with [`Entry`], then `plan.rs`, which is pure and holds the rules; `sqlite.rs` and
//! `postgres.rs` only carry its result out.

mod entry;
mod lane;
mod lines;
mod plan;
mod postgres;
mod rows;
mod sqlite;

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

use tw_model::{SessionId, TenantId};

pub use entry::{
    Appended, ApprovalDecision, Audit, Change, Claim, EditedInput, Entry, Expect, Finished, NewApproval,
    NewEvent, NewRun, NewStanding, NewWait, Park, Rejected, SessionNote, Transition, WaitChange,
};

use self::{entry::Item, lane::Carrier, lines::Lines};
use crate::{
    audit_line::{By, NewAudit},
    db::Db,
    deaths::Deaths,
    error::{Error, Result},
    wake::Wake,
};

/// How many lanes write at the same time. SQLite has one writer anyway.
const LANES_POSTGRES: usize = 4;

/// The writer of the log. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Log {
    lanes: Arc<[Lane]>,
    tasks: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>>,
}

#[derive(Debug)]
struct Lane {
    jobs: mpsc::UnboundedSender<LaneJob>,
    lines: Arc<Lines>,
}

#[derive(Debug)]
pub(crate) enum LaneJob {
    Append {
        item: Item,
        answer: oneshot::Sender<Result<Appended, Rejected>>,
        patient: bool,
    },
    /// There are lines of the audit to take.
    Lines,
    Close,
}

/// An entry on its way to disk.
#[derive(Debug)]
#[must_use = "an entry is only on disk once this has been awaited"]
pub struct Ticket(oneshot::Receiver<Result<Appended, Rejected>>);

impl Ticket {
    /// Waits until the entry is on disk, or is known not to be.
    pub async fn wait(self) -> Result<Appended, Rejected> {
        self.0.await.unwrap_or_else(|_| Err(unanswered()))
    }
}

/// A lane answers everything that it takes, also that it is closed. Where there is no answer it has died, and nobody
/// knows how far it had come.
fn unanswered() -> Rejected {
    Rejected::Failed(Arc::new(Error::crashed()))
}

impl Log {
    pub(crate) fn start(db: &Db, wake: &Arc<Wake>, deaths: &Deaths) -> Result<Self> {
        let carriers = match db {
            Db::Sqlite { file, .. } => vec![Carrier::Sqlite(sqlite::Writer::start(Arc::clone(file))?)],
            Db::Pg(pg) => (0..LANES_POSTGRES).map(|_| Carrier::Postgres(pg.clone())).collect(),
        };
        let start = |carrier| {
            let (sender, jobs) = mpsc::unbounded_channel();
            let lane = Lane { jobs: sender, lines: Arc::default() };
            let task =
                lane::keep_up(deaths.clone(), carrier, Arc::clone(wake), jobs, Arc::clone(&lane.lines));
            (lane, tokio::spawn(task))
        };
        let (lanes, tasks): (Vec<_>, Vec<_>) = carriers.into_iter().map(start).unzip();
        Ok(Self { lanes: lanes.into(), tasks: Arc::new(Mutex::new(tasks)) })
    }

    /// Whether there is a lane that takes no more entries: it was closed, or it broke off.
    pub(crate) fn has_ended(&self) -> bool {
        self.lanes.iter().any(|lane| lane.jobs.is_closed())
    }

    /// Hands an entry to the writer at once. Entries of one session are written in the order of these
    /// calls.
    pub fn append(&self, entry: Entry) -> Ticket {
        self.send(entry.session, Item::Run(entry), false)
    }

    /// Hands events about a session that are about no run to the writer. They are numbered like its other events.
    pub fn note(&self, note: SessionNote) -> Ticket {
        self.send(note.session, Item::Note(note), false)
    }

    /// Writes a line of the audit about something that is no change in this database, such as a refused call, and waits
    /// until it is on disk. It shares the transactions of others. A tenant that brings many lines at once waits behind
    /// its own. Once the line is in its tenant's queue, which is at the first poll unless that is full, it is written
    /// whether or not this is awaited further.
    pub async fn audit(&self, tenant: TenantId, by: By, what: NewAudit) -> Result<(), Rejected> {
        let lane = &self.lanes[self.lane_of(tenant.uuid())];
        let audit = Box::new(Audit { by, what });
        let nudge = || drop(lane.jobs.send(LaneJob::Lines));
        let answered = lane.lines.add(tenant, audit, nudge).await?;
        answered.await.unwrap_or_else(|_| Err(unanswered())).map(drop)
    }

    /// The same for an entry that nobody waits for yet: the writer keeps it back for a moment, so that it
    /// can share a transaction with what follows.
    pub fn append_patiently(&self, entry: Entry) -> Ticket {
        self.send(entry.session, Item::Run(entry), true)
    }

    fn send(&self, session: SessionId, item: Item, patient: bool) -> Ticket {
        let (answer, ticket) = oneshot::channel();
        let sent =
            self.lanes[self.lane_of(session.uuid())].jobs.send(LaneJob::Append { item, answer, patient });
        if let Err(mpsc::error::SendError(LaneJob::Append { answer, .. })) = sent {
            let _ = answer.send(Err(Rejected::Closed));
        }
        Ticket(ticket)
    }

    fn lane_of(&self, id: uuid::Uuid) -> usize {
        usize::try_from(id.as_u128() % self.lanes.len() as u128).unwrap_or(0)
    }

    pub(crate) async fn close(&self) {
        for lane in self.lanes.iter() {
            let _ = lane.jobs.send(LaneJob::Close);
        }
        for task in self.tasks.lock().await.drain(..) {
            // A lane that panicked has said so; closing goes on.
            let _ = task.await;
        }
    }
}
