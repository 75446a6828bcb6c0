//! One lane: takes what has gathered, writes it in one transaction, answers, and starts again.

use std::{ops::Range, sync::Arc, time::Duration};
use tw_model::{ApprovalStatus, PendingState};

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::{
    LaneJob,
    entry::{Appended, Change, Entry, Expect, Item, Rejected, Transition, WaitChange},
    lines::Lines,
    postgres, sqlite,
};
use crate::{
    db::Pg,
    deaths::Deaths,
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

type AnswerSender = oneshot::Sender<Result<Appended, Rejected>>;

/// Brings groups to the database.
#[derive(Debug)]
pub(super) enum Carrier {
    Sqlite(sqlite::Writer),
    Postgres(Pg),
    #[cfg(test)]
    Broken,
}

/// One answer per item, once the group is on disk.
pub(super) type Outcome = Result<Vec<Result<Appended, Rejected>>, Error>;

/// Items that share a transaction. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Group {
    items: Arc<Vec<Item>>,
    part: Range<usize>,
}

impl Group {
    fn new(items: Vec<Item>) -> Self {
        Self { part: 0..items.len(), items: Arc::new(items) }
    }

    pub(super) fn items(&self) -> Vec<&Item> {
        self.items[self.part.clone()].iter().collect()
    }

    /// The same items, each in a group of its own.
    fn singles(&self) -> impl Iterator<Item = Self> + '_ {
        let single = |index| Self { items: Arc::clone(&self.items), part: index..index + 1 };
        self.part.clone().map(single)
    }
}

/// Runs a lane until it is closed. One that dies answers nobody of whom it had just taken an entry, and goes on with
/// the next at once.
pub(super) async fn keep_up(
    deaths: Deaths,
    carrier: Carrier,
    wake: Arc<Wake>,
    mut jobs: mpsc::UnboundedReceiver<LaneJob>,
    lines: Arc<Lines>,
) {
    let mut closing = false;
    while !deaths.are_none("log_lane", run(&carrier, &wake, &mut jobs, &lines, &mut closing)).await {}
    jobs.close();
    // What arrived after the close was asked for is answered rather than dropped without a word.
    while let Ok(job) = jobs.try_recv() {
        if let LaneJob::Append { answer, .. } = job {
            let _ = answer.send(Err(Rejected::Closed));
        }
    }
    if let Carrier::Sqlite(writer) = carrier {
        // A thread that hangs in the disk ends with the process.
        let _ = tokio::time::timeout(PATIENCE, writer.close()).await;
    }
}

async fn run(
    carrier: &Carrier,
    wake: &Wake,
    jobs: &mut mpsc::UnboundedReceiver<LaneJob>,
    lines: &Lines,
    closing: &mut bool,
) {
    // A close takes no new lines, so those that are left come to an end.
    while !*closing || !lines.is_empty() {
        let mut batch = Batch { closing: *closing, ..Batch::default() };
        if lines.is_empty() {
            let Some(first) = jobs.recv().await else { return };
            batch.add(first);
        }
        batch.gather(jobs, lines).await;
        if batch.closing {
            *closing = true;
            lines.close();
        }
        write(carrier, wake, batch).await;
    }
}

/// What is written next.
#[derive(Default)]
struct Batch {
    items: Vec<Item>,
    /// One per item.
    answers: Vec<AnswerSender>,
    /// The places of its lines in their queues, free once the batch is written.
    places: Vec<OwnedSemaphorePermit>,
    bytes: usize,
    /// Somebody waits for one of them.
    hurried: bool,
    closing: bool,
}

impl Batch {
    fn add(&mut self, job: LaneJob) {
        match job {
            LaneJob::Append { item, answer, patient } => {
                self.bytes += item.events().iter().map(|event| event.payload.len()).sum::<usize>();
                self.hurried |= !patient;
                self.items.push(item);
                self.answers.push(answer);
            }
            LaneJob::Lines => self.hurried = true,
            LaneJob::Close => self.closing = true,
        }
    }

    /// Lines are taken last, and have room of their own: however many there are, entries find theirs.
    fn add_lines(&mut self, lines: &Lines) {
        for line in lines.take() {
            self.items.push(line.item);
            self.answers.push(line.answer);
            self.places.push(line.place);
        }
    }

    fn is_full(&self) -> bool {
        self.closing || ENTRIES_MAX <= self.items.len() || BYTES_MAX <= self.bytes
    }

    /// Takes what has come in the meantime. Says whether there was anything.
    fn drain(&mut self, jobs: &mut mpsc::UnboundedReceiver<LaneJob>) -> bool {
        let before = self.items.len();
        while !self.is_full() {
            let Ok(job) = jobs.try_recv() else { break };
            self.add(job);
        }
        before < self.items.len()
    }

    /// Gathers what belongs into the same transaction. A flush costs far more than the moment that lets
    /// callers who were just answered come back, and a start wait for its own end.
    async fn gather(&mut self, jobs: &mut mpsc::UnboundedReceiver<LaneJob>, lines: &Lines) {
        self.drain(jobs);
        let patience = tokio::time::Instant::now() + LINGER;
        while !self.hurried && lines.is_empty() && !self.is_full() {
            match tokio::time::timeout_at(patience, jobs.recv()).await {
                Ok(Some(job)) => self.add(job),
                Ok(None) | Err(_) => break,
            }
            self.drain(jobs);
        }
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
            if !self.drain(jobs) {
                break;
            }
        }
        self.add_lines(lines);
    }
}

async fn write(carrier: &Carrier, wake: &Wake, batch: Batch) {
    if batch.items.is_empty() {
        return;
    }
    let group = Group::new(batch.items);
    match attempt(carrier, &group).await {
        Ok(written) => answer_all(wake, &group, batch.answers, written),
        // One item that the database cannot take must not fail its neighbours.
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
    drop(batch.places);
}

fn fail(error: Error) -> Rejected {
    tracing::warn!(error = &error as &dyn std::error::Error, "a group of events was not written");
    Rejected::Failed(Arc::new(error))
}

fn answer_all(
    wake: &Wake,
    group: &Group,
    answers: Vec<AnswerSender>,
    written: Vec<Result<Appended, Rejected>>,
) {
    for ((item, answer), result) in group.items().into_iter().zip(answers).zip(written) {
        if result.is_ok() {
            tell(wake, item);
        }
        // A caller that has gone away no longer needs the answer; the item stands.
        let _ = answer.send(result);
    }
}

/// Wakes whoever waits for what this item has brought about.
fn tell(wake: &Wake, item: &Item) {
    match item {
        Item::Run(entry) => match &entry.transition {
            // Nobody can have watched a run of its own session before it existed.
            Transition::Open(_) if entry.session == entry.run.into() => {}
            Transition::Open(_) => wake.session_changed(entry.session),
            Transition::Change(change) => {
                wake.session_changed(entry.session);
                tell_change(wake, entry, change);
            }
        },
        Item::Note(note) => wake.session_changed(note.session),
        Item::Line { .. } => {}
    }
}

fn tell_change(wake: &Wake, entry: &Entry, change: &Change) {
    if change.decision.as_ref().is_some_and(|decision| decision.status == ApprovalStatus::Approved) {
        wake.pending_ready();
    }
    match &change.wait {
        Some(WaitChange::Park(wait)) if wait.state == PendingState::Ready => wake.pending_ready(),
        Some(WaitChange::Park(_)) => wake.call_waits(entry.tenant),
        _ => {}
    }
    let ends = change.to.is_some_and(|to| !to.is_open());
    if ends && !matches!(change.expect, Expect::Lease(_)) {
        wake.run_ended(entry.run);
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
            #[cfg(test)]
            Carrier::Broken => panic!("nobody carries this"),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tw_model::{TenantId, Timestamp};

    use super::*;
    use crate::{
        audit_line::{By, NewAudit},
        log::entry::Audit,
    };

    fn append(jobs: &mpsc::UnboundedSender<LaneJob>) -> oneshot::Receiver<Result<Appended, Rejected>> {
        let what = NewAudit::change("call.refused", "tool:echo".to_owned(), None, None);
        let audit = Box::new(Audit { by: By::operator(), what });
        let item = Item::Line { tenant: TenantId::new(), at: Timestamp::now(), audit };
        let (answer, answered) = oneshot::channel();
        assert!(jobs.send(LaneJob::Append { item, answer, patient: false }).is_ok());
        answered
    }

    #[tokio::test]
    async fn lane_that_dies_is_told_and_goes_on_with_the_next_entry() {
        let (deaths, count) = (Deaths::default(), Arc::new(AtomicUsize::new(0)));
        let told = Arc::clone(&count);
        deaths.are_told_to(move |name| {
            assert_eq!(name, "log_lane");
            told.fetch_add(1, Ordering::Relaxed);
        });
        let (jobs, taken) = mpsc::unbounded_channel();
        let lane =
            keep_up(deaths, Carrier::Broken, Arc::new(Wake::alone()), taken, Arc::new(Lines::default()));
        let lane = tokio::spawn(lane);

        for _ in 0..2 {
            assert!(append(&jobs).await.is_err(), "nobody answers for an entry that killed the lane");
        }
        assert!(jobs.send(LaneJob::Close).is_ok());
        lane.await.unwrap();

        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert!(jobs.is_closed());
    }
}
