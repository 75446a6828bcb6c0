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
mod one_trip;
mod plan;
mod postgres;
mod rows;
mod sqlite;

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::{
    runtime::Handle,
    sync::{Mutex, mpsc, oneshot},
};

use tw_model::{SessionId, TenantId};

pub use entry::{
    Appended, ApprovalDecision, Audit, Change, Claim, EditedInput, Entry, Expect, Finished, NewApproval,
    NewEvent, NewRun, NewStanding, NewWait, Park, Rejected, SessionNote, Transition, WaitChange,
};

use self::{
    entry::Item,
    lane::{Carrier, PATIENCE, Reply},
    lines::Lines,
};
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
    /// One for each lane, told when it has ended.
    ends: Arc<Mutex<Vec<oneshot::Receiver<()>>>>,
    /// How long somebody waits for an answer, where the lane itself cannot give up what takes too long.
    patience: Option<Duration>,
}

#[derive(Debug)]
struct Lane {
    jobs: mpsc::UnboundedSender<LaneJob>,
    lines: Arc<Lines>,
}

#[derive(Debug)]
enum LaneJob {
    Append {
        /// What goes before it into the same transaction.
        first: Option<Box<Item>>,
        item: Item,
        reply: Reply,
        since: Instant,
    },
    /// There are lines of the audit to take.
    Lines,
    Close,
}

/// An entry on its way to disk.
#[derive(Debug)]
#[must_use = "an entry is only on disk once this has been awaited"]
pub struct Ticket {
    answer: oneshot::Receiver<Result<Appended, Rejected>>,
    patience: Option<Duration>,
}

impl Ticket {
    /// Waits until the entry is on disk, or is known not to be.
    pub async fn wait(self) -> Result<Appended, Rejected> {
        match in_time(self.patience, self.answer).await {
            Some(answered) => answered.unwrap_or_else(|_| Err(unanswered())),
            None => Err(Rejected::Failed(Arc::new(crate::timed_out()))),
        }
    }
}

/// What comes of it, unless it takes longer than that.
async fn in_time<T>(patience: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match patience {
        Some(patience) => tokio::time::timeout(patience, work).await.ok(),
        None => Some(work.await),
    }
}

/// A lane answers everything that it takes, also that it is closed. Where there is no answer it has died, and nobody
/// knows how far it had come.
fn unanswered() -> Rejected {
    Rejected::Failed(Arc::new(Error::crashed()))
}

impl Log {
    pub(crate) fn start(db: &Db, wake: &Arc<Wake>, deaths: &Deaths) -> Result<Self> {
        let (carriers, patience) = match db {
            // The disk cannot be given up on: whoever waits for it too long goes.
            Db::Sqlite { file, .. } => {
                (vec![Carrier::Sqlite(sqlite::Writer::new(Arc::clone(file)))], Some(PATIENCE))
            }
            Db::Pg(pg) => {
                let writer = || Carrier::Postgres(Box::new(postgres::Writer::new(pg.clone())));
                ((0..LANES_POSTGRES).map(|_| writer()).collect(), None)
            }
        };
        let (mut lanes, mut ends) = (Vec::new(), Vec::new());
        for carrier in carriers {
            let (sender, jobs) = mpsc::unbounded_channel();
            let lane = Lane { jobs: sender, lines: Arc::default() };
            let on_thread = matches!(carrier, Carrier::Sqlite(_));
            let kept_up =
                lane::keep_up(deaths.clone(), carrier, Arc::clone(wake), jobs, Arc::clone(&lane.lines));
            let (end, ended) = oneshot::channel();
            let work = async move {
                kept_up.await;
                // Nobody may wait for it.
                let _ = end.send(());
            };
            if on_thread {
                // Writing blocks, and a hand-over between threads costs more than most of what a call does: the
                // thread that writes takes from the queue and answers callers itself.
                let runtime = Handle::current();
                let thread = thread::Builder::new().name("log".to_owned());
                let spawned = thread.spawn(move || runtime.block_on(work));
                spawned.map_err(|error| Error::Startup(format!("no thread for the log: {error}")))?;
            } else {
                tokio::spawn(work);
            }
            lanes.push(lane);
            ends.push(ended);
        }
        Ok(Self { lanes: lanes.into(), ends: Arc::new(Mutex::new(ends)), patience })
    }

    /// Whether there is a lane that takes no more entries: it was closed, or it broke off.
    pub(crate) fn has_ended(&self) -> bool {
        self.lanes.iter().any(|lane| lane.jobs.is_closed())
    }

    /// Hands an entry to the writer at once. Entries of one session are written in the order of these
    /// calls.
    pub fn append(&self, entry: Entry) -> Ticket {
        self.send(entry.session, None, Item::Run(entry))
    }

    /// The same for two entries about one run, in one transaction where the database takes it. Where the first is
    /// rejected, that is the answer.
    pub fn append_both(&self, first: Entry, second: Entry) -> Ticket {
        self.send(second.session, Some(Box::new(Item::Run(first))), Item::Run(second))
    }

    /// The same for an entry that nobody waits for.
    pub fn append_unwatched(&self, entry: Entry) {
        self.job(entry.session, None, Item::Run(entry), Reply::Nobody);
    }

    /// Hands events about a session that are about no run to the writer. They are numbered like its other events.
    pub fn note(&self, note: SessionNote) -> Ticket {
        self.send(note.session, None, Item::Note(note))
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
        Ticket { answer: answered, patience: self.patience }.wait().await.map(drop)
    }

    fn send(&self, session: SessionId, first: Option<Box<Item>>, item: Item) -> Ticket {
        let (answer, ticket) = oneshot::channel();
        self.job(session, first, item, Reply::To(answer));
        Ticket { answer: ticket, patience: self.patience }
    }

    fn job(&self, session: SessionId, first: Option<Box<Item>>, item: Item, reply: Reply) {
        let job = LaneJob::Append { first, item, reply, since: Instant::now() };
        let sent = self.lanes[self.lane_of(session.uuid())].jobs.send(job);
        if let Err(mpsc::error::SendError(LaneJob::Append { reply: Reply::To(answer), .. })) = sent {
            let _ = answer.send(Err(Rejected::Closed));
        }
    }

    fn lane_of(&self, id: uuid::Uuid) -> usize {
        usize::try_from(id.as_u128() % self.lanes.len() as u128).unwrap_or(0)
    }

    pub(crate) async fn close(&self) {
        for lane in self.lanes.iter() {
            let _ = lane.jobs.send(LaneJob::Close);
        }
        for ended in self.ends.lock().await.drain(..) {
            // A lane that panicked has said so; closing goes on. One that hangs in the disk ends with the process.
            let _ = in_time(self.patience, ended).await;
        }
    }
}
