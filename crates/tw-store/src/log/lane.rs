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
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const CONFLICT_TRIES: usize = 5;
/// How often others get a turn before a transaction begins, as long as they bring something.
const TURNS: usize = 4;

type AnswerSender = oneshot::Sender<Result<Appended, Rejected>>;

/// Who is told what came of an item.
#[derive(Debug)]
pub(super) enum Reply {
    To(AnswerSender),
    /// Whoever waits for the next item, which is about the same run. If this one is rejected, that is the answer.
    WithNext,
    Nobody,
}

/// Brings groups to the database.
#[derive(Debug)]
pub(super) enum Carrier {
    Sqlite(sqlite::Writer),
    Postgres(Box<postgres::Writer>),
    #[cfg(test)]
    Broken,
}

/// What became of a group that is on disk.
#[derive(Debug)]
pub(super) struct Written {
    /// One per item.
    pub(super) answers: Vec<Result<Appended, Rejected>>,
    /// Some of it is on its way to webhooks.
    pub(super) is_told: bool,
}

impl Written {
    /// Wakes whoever sends to webhooks, and leaves the answers.
    fn told(self, wake: &Wake) -> Vec<Result<Appended, Rejected>> {
        if self.is_told {
            wake.deliveries_wait();
        }
        self.answers
    }
}

pub(super) type Outcome = Result<Written, Error>;

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

/// Runs a lane until it is closed: on SQLite on a thread of its own, on PostgreSQL in a task. One that dies answers nobody of whom it had just taken an entry, and goes on with
/// the next at once.
pub(super) async fn keep_up(
    deaths: Deaths,
    mut carrier: Carrier,
    wake: Arc<Wake>,
    mut jobs: mpsc::UnboundedReceiver<LaneJob>,
    lines: Arc<Lines>,
) {
    let mut closing = false;
    while !deaths.are_none("log_lane", run(&mut carrier, &wake, &mut jobs, &lines, &mut closing)).await {}
    jobs.close();
    // What arrived after the close was asked for is answered rather than dropped without a word.
    while let Ok(job) = jobs.try_recv() {
        if let LaneJob::Append { reply: Reply::To(answer), .. } = job {
            let _ = answer.send(Err(Rejected::Closed));
        }
    }
}

async fn run(
    carrier: &mut Carrier,
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
        batch.gather(matches!(carrier, Carrier::Sqlite(_)), jobs, lines).await;
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
    replies: Vec<Reply>,
    /// The places of its lines in their queues, free once the batch is written.
    places: Vec<OwnedSemaphorePermit>,
    bytes: usize,
    closing: bool,
}

impl Batch {
    fn add(&mut self, job: LaneJob) {
        match job {
            LaneJob::Append { first, item, reply, since } => {
                // Its caller has been told that it takes too long, and goes by that.
                if matches!(&reply, Reply::To(answer) if answer.is_closed()) && PATIENCE <= since.elapsed() {
                    return;
                }
                if let Some(first) = first {
                    self.push(*first, Reply::WithNext);
                }
                self.push(item, reply);
            }
            LaneJob::Lines => {}
            LaneJob::Close => self.closing = true,
        }
    }

    fn push(&mut self, item: Item, reply: Reply) {
        self.bytes += item.events().iter().map(|event| event.payload.len()).sum::<usize>();
        self.items.push(item);
        self.replies.push(reply);
    }

    /// Lines are taken last, and have room of their own: however many there are, entries find theirs.
    fn add_lines(&mut self, lines: &Lines) {
        for line in lines.take() {
            self.items.push(line.item);
            self.replies.push(Reply::To(line.answer));
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
    /// callers who were just answered come back.
    async fn gather(&mut self, has_thread: bool, jobs: &mut mpsc::UnboundedReceiver<LaneJob>, lines: &Lines) {
        self.drain(jobs);
        for _ in 0..TURNS {
            // Those who come back are on the threads of the runtime.
            if has_thread {
                std::thread::yield_now();
            } else {
                tokio::task::yield_now().await;
            }
            if !self.drain(jobs) {
                break;
            }
        }
        self.add_lines(lines);
    }
}

async fn write(carrier: &mut Carrier, wake: &Wake, batch: Batch) {
    if batch.items.is_empty() {
        return;
    }
    let group = Group::new(batch.items);
    let mut replies = Replies { replies: batch.replies.into_iter(), why: None };
    match attempt(carrier, &group).await {
        Ok(written) => replies.send(wake, &group, written.told(wake)),
        // One item that the database cannot take must not fail its neighbours.
        Err(Error::Database { .. } | Error::Corrupt { .. }) if 1 < group.part.len() => {
            for single in group.singles() {
                let written = attempt(carrier, &single).await.map(|written| written.told(wake));
                replies.send(wake, &single, written.unwrap_or_else(|error| vec![Err(fail(error))]));
            }
        }
        Err(error) => {
            let rejected = fail(error);
            let all = group.part.clone().map(|_| Err(rejected.clone())).collect();
            replies.send(wake, &group, all);
        }
    }
    drop(batch.places);
}

fn fail(error: Error) -> Rejected {
    tracing::warn!(error = &error as &dyn std::error::Error, "a group of events was not written");
    Rejected::Failed(Arc::new(error))
}

/// The replies to a batch that are still to be sent, in the order of its items.
struct Replies {
    replies: std::vec::IntoIter<Reply>,
    /// Why the item was rejected whose answer comes with the next one's.
    why: Option<Rejected>,
}

impl Replies {
    /// Answers the next items: one result for each.
    fn send(&mut self, wake: &Wake, group: &Group, written: Vec<Result<Appended, Rejected>>) {
        for ((item, reply), result) in group.items().into_iter().zip(self.replies.by_ref()).zip(written) {
            if result.is_ok() {
                tell(wake, item);
            }
            match reply {
                Reply::To(answer) => {
                    // A caller that has gone away no longer needs the answer; the item stands.
                    let _ = answer.send(self.why.take().map_or(result, Err));
                }
                Reply::WithNext => self.why = result.err(),
                Reply::Nobody => {}
            }
        }
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
async fn attempt(carrier: &mut Carrier, group: &Group) -> Outcome {
    let mut tries = 0;
    loop {
        tries += 1;
        let carried = match carrier {
            Carrier::Sqlite(writer) => Ok(writer.carry_out(group).await),
            Carrier::Postgres(writer) => tokio::time::timeout(PATIENCE, writer.carry_out(group)).await,
            #[cfg(test)]
            Carrier::Broken => panic!("nobody carries this"),
        };
        let outcome = carried.unwrap_or_else(|_| {
            if let Carrier::Postgres(writer) = carrier {
                writer.pg.presence.is_silent();
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
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Instant,
    };

    use tw_model::{TenantId, Timestamp};

    use super::*;
    use crate::{
        audit_line::{By, NewAudit},
        log::entry::Audit,
    };

    fn line() -> Item {
        let what = NewAudit::change("call.refused", "tool:echo".to_owned(), None, None);
        let audit = Box::new(Audit { by: By::operator(), what });
        Item::Line { tenant: TenantId::new(), at: Timestamp::now(), audit }
    }

    fn append(jobs: &mpsc::UnboundedSender<LaneJob>) -> oneshot::Receiver<Result<Appended, Rejected>> {
        let (answer, answered) = oneshot::channel();
        let job =
            LaneJob::Append { first: None, item: line(), reply: Reply::To(answer), since: Instant::now() };
        assert!(jobs.send(job).is_ok());
        answered
    }

    #[test]
    fn answer_to_two_items_is_why_the_first_was_rejected() {
        let ((both, of_both), (next, of_next)) = (oneshot::channel(), oneshot::channel());
        let replies = vec![Reply::WithNext, Reply::To(both), Reply::Nobody, Reply::To(next)];
        let mut replies = Replies { replies: replies.into_iter(), why: None };
        let wake = Wake::alone();
        let appended = Appended { seq: 1, lease_epoch: 1 };

        // One by one, as after a group that the database did not take.
        replies.send(&wake, &Group::new(vec![line()]), vec![Err(Rejected::Stale { epoch: 7 })]);
        let rest = vec![Err(Rejected::NoRun), Err(Rejected::NoRun), Ok(appended)];
        replies.send(&wake, &Group::new(vec![line(), line(), line()]), rest);

        let of_both = of_both.blocking_recv().unwrap();
        assert!(matches!(of_both, Err(Rejected::Stale { epoch: 7 })), "{of_both:?}");
        assert!(of_next.blocking_recv().unwrap().is_ok());
    }

    #[test]
    fn entry_whose_caller_was_told_that_it_takes_too_long_is_not_written() {
        let late = Instant::now().checked_sub(PATIENCE).expect("the machine has been on for longer");
        let job = |reply, since| LaneJob::Append { first: None, item: line(), reply, since };
        let gone = || Reply::To(oneshot::channel().0);
        let (waits, _waiting) = oneshot::channel();
        let mut batch = Batch::default();

        batch.add(job(gone(), late));
        assert!(batch.items.is_empty());
        batch.add(job(gone(), Instant::now()));
        batch.add(job(Reply::To(waits), late));
        batch.add(job(Reply::Nobody, late));
        assert_eq!(batch.items.len(), 3, "those who hang up, who wait still and who never did");
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
