//! The event log: append-only, gap-free per session, written in groups.
//!
//! Everything that happens to a run is an [`Entry`]: the events to append, and what they make of the
//! run's row. Entries of many tenants and sessions share one transaction, and an entry is answered
//! after that transaction is on disk. The run's row is the lock: an entry names the state it expects
//! the run to be in, and one that finds another state is rejected alone, without a gap and without
//! disturbing its neighbours.
//!
//! Start with [`Entry`], then `plan.rs`, which is pure and holds the rules; `sqlite.rs` and
//! `postgres.rs` only carry its result out.

mod entry;
mod lane;
mod plan;
mod postgres;
mod rows;
mod sqlite;

use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};

pub use entry::{
    Appended, ApprovalDecision, Change, Claim, Entry, Expect, Finished, NewApproval, NewEvent, NewRun,
    NewWait, Park, Rejected, Step, WaitChange, WaitState,
};

use self::lane::Carrier;
use crate::{db::Db, error::Result, wake::Wake};

/// How many lanes write at the same time. SQLite has one writer anyway.
const LANES_POSTGRES: usize = 4;

/// The writer of the log. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Log {
    lanes: Arc<[mpsc::UnboundedSender<Job>]>,
    tasks: Arc<Mutex<Vec<tokio::task::JoinHandle<()>>>>,
}

#[derive(Debug)]
pub(crate) enum Job {
    Append { entry: Entry, answer: oneshot::Sender<Result<Appended, Rejected>>, patient: bool },
    Close,
}

/// An entry on its way to disk.
#[derive(Debug)]
#[must_use = "an entry is only on disk once this has been awaited"]
pub struct Ticket(oneshot::Receiver<Result<Appended, Rejected>>);

impl Ticket {
    /// Waits until the entry is on disk, or is known not to be.
    pub async fn wait(self) -> Result<Appended, Rejected> {
        self.0.await.unwrap_or(Err(Rejected::Closed))
    }
}

impl Log {
    pub(crate) fn start(db: &Db, wake: &Arc<Wake>) -> Result<Self> {
        let carriers = match db {
            Db::Sqlite { file, .. } => vec![Carrier::Sqlite(sqlite::Writer::start(Arc::clone(file))?)],
            Db::Pg(pg) => (0..LANES_POSTGRES).map(|_| Carrier::Postgres(pg.clone())).collect(),
        };
        let start = |carrier| {
            let (sender, jobs) = mpsc::unbounded_channel();
            (sender, tokio::spawn(lane::run(carrier, Arc::clone(wake), jobs)))
        };
        let (senders, tasks): (Vec<_>, Vec<_>) = carriers.into_iter().map(start).unzip();
        Ok(Self { lanes: senders.into(), tasks: Arc::new(Mutex::new(tasks)) })
    }

    /// Whether there is a lane that takes no more entries: it was closed, or it broke off.
    pub(crate) fn has_ended(&self) -> bool {
        self.lanes.iter().any(mpsc::UnboundedSender::is_closed)
    }

    /// Hands an entry to the writer at once. Entries of one session are written in the order of these
    /// calls.
    pub fn append(&self, entry: Entry) -> Ticket {
        self.send(entry, false)
    }

    /// The same for an entry that nobody waits for yet: the writer keeps it back for a moment, so that it
    /// can share a transaction with what follows.
    pub fn append_patiently(&self, entry: Entry) -> Ticket {
        self.send(entry, true)
    }

    fn send(&self, entry: Entry, patient: bool) -> Ticket {
        let lane = usize::try_from(entry.session.uuid().as_u128() % self.lanes.len() as u128).unwrap_or(0);
        let (answer, ticket) = oneshot::channel();
        // A closed lane drops the job, and the ticket says so.
        let _ = self.lanes[lane].send(Job::Append { entry, answer, patient });
        Ticket(ticket)
    }

    pub(crate) async fn close(&self) {
        for lane in self.lanes.iter() {
            let _ = lane.send(Job::Close);
        }
        for task in self.tasks.lock().await.drain(..) {
            // A lane that panicked has said so; closing goes on.
            let _ = task.await;
        }
    }
}
