//! One lane: takes what has gathered, writes it in one transaction, answers, and starts again.

use std::{sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};
use tw_model::{EventId, SessionId};

use super::{
    Job,
    entry::{Appended, Entry, Expect, Rejected, Step},
    plan::{Plan, plan},
    postgres, rows, sqlite,
};
use crate::{
    db::{Db, Tx},
    error::Error,
    scope::tenants_setting,
    wake::Wake,
};

/// How many entries share a transaction at the most.
const ENTRIES_MAX: usize = 512;
/// How much payload does.
const BYTES_MAX: usize = 16 << 20;
/// How long one transaction may take before its connection is given up: a database that accepts and
/// never answers must not hold callers for ever.
const PATIENCE: Duration = Duration::from_secs(10);
const CONFLICT_TRIES: usize = 5;
/// How long an entry that nobody waits for is kept back.
const LINGER: Duration = Duration::from_millis(2);
/// How often others get a turn before a transaction begins, as long as they bring something.
const TURNS: usize = 4;

type Answer = oneshot::Sender<Result<Appended, Rejected>>;

pub(crate) async fn run(db: Db, wake: Arc<Wake>, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let mut closing = false;
    while !closing {
        let Some(first) = jobs.recv().await else { return };
        let mut batch = Batch::default();
        batch.add(first);
        batch.gather(&mut jobs).await;
        closing = batch.closing;
        write(&db, &wake, batch.entries).await;
    }
    // What arrived after the close was asked for is answered rather than dropped without a word.
    while let Ok(job) = jobs.try_recv() {
        if let Job::Append { answer, .. } = job {
            let _ = answer.send(Err(Rejected::Closed));
        }
    }
}

/// What is written next.
#[derive(Default)]
struct Batch {
    entries: Vec<(Box<Entry>, Answer)>,
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
                self.entries.push((entry, answer));
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

async fn write(db: &Db, wake: &Wake, batch: Vec<(Box<Entry>, Answer)>) {
    if batch.is_empty() {
        return;
    }
    match attempt(db, &batch.iter().map(|(entry, _)| &**entry).collect::<Vec<_>>()).await {
        Ok(written) => answer_all(wake, batch, written),
        // One entry that the database cannot take must not fail its neighbours.
        Err(Error::Database { .. } | Error::Corrupt { .. }) if 1 < batch.len() => {
            for (entry, answer) in batch {
                let result = attempt(db, &[&*entry]).await;
                match result {
                    Ok(written) => answer_all(wake, vec![(entry, answer)], written),
                    Err(error) => drop(answer.send(Err(fail(error)))),
                }
            }
        }
        Err(error) => {
            let rejected = fail(error);
            for (_, answer) in batch {
                let _ = answer.send(Err(rejected.clone()));
            }
        }
    }
}

fn fail(error: Error) -> Rejected {
    tracing::warn!(error = &error as &dyn std::error::Error, "a group of events was not written");
    Rejected::Failed(Arc::new(error))
}

fn answer_all(wake: &Wake, batch: Vec<(Box<Entry>, Answer)>, answers: Vec<Result<Appended, Rejected>>) {
    for ((entry, answer), result) in batch.into_iter().zip(answers) {
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

/// Writes the entries in one transaction, again where another transaction got in the way.
async fn attempt(db: &Db, entries: &[&Entry]) -> Result<Vec<Result<Appended, Rejected>>, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        let mut writing = std::pin::pin!(once(db, entries));
        let result = match tokio::time::timeout(PATIENCE, &mut writing).await {
            Ok(result) => result,
            Err(_) => {
                db.is_silent();
                Err(crate::timed_out())
            }
        };
        match result {
            Err(error) if is_conflict(&error) && tries < CONFLICT_TRIES => {
                tracing::debug!(tries, "another transaction got in the way; writing the group again");
            }
            result => return result,
        }
    }
}

fn is_conflict(error: &Error) -> bool {
    let Error::Unavailable { source: sqlx::Error::Database(source) } = error else { return false };
    matches!(source.code().as_deref(), Some("40001" | "40P01"))
}

async fn once(db: &Db, entries: &[&Entry]) -> Result<Vec<Result<Appended, Rejected>>, Error> {
    let mut tenants: Vec<_> = entries.iter().map(|entry| entry.tenant).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let setting = tenants_setting(tenants.iter().copied());
    let mut tx = db.begin(&setting).await?;
    let found = match &mut tx {
        Tx::Sqlite(tx) => sqlite::find(tx, entries, &tenants).await?,
        Tx::Pg(tx) => postgres::find(tx.parts().0, entries, &tenants).await?,
    };
    let refused = rows::claim_keys(&mut tx, entries, &found).await?;
    let plan = plan(entries, found, &refused);
    match &mut tx {
        Tx::Sqlite(tx) => sqlite::write(tx, &plan).await?,
        Tx::Pg(tx) => postgres::write(tx.parts().0, &plan).await?,
    }
    rows::write_waits(&mut tx, &plan).await?;
    let witness = witness(&plan);
    let answers = plan.answers;
    match (tx.commit().await, witness) {
        (Ok(()), _) => Ok(answers),
        // The connection broke in the commit, so nobody knows. The log itself does.
        (Err(Error::Unavailable { source }), Some(witness)) => {
            if committed(db, &setting, witness).await? {
                Ok(answers)
            } else {
                Err(Error::Unavailable { source })
            }
        }
        (Err(error), _) => Err(error),
    }
}

/// An event that is in the log exactly if the transaction was committed.
fn witness(plan: &Plan<'_>) -> Option<(SessionId, i64, EventId)> {
    plan.events.first().map(|event| (event.entry.session, event.seq, event.entry.events[event.index].id))
}

async fn committed(db: &Db, setting: &str, witness: (SessionId, i64, EventId)) -> Result<bool, Error> {
    const Q: &str = "SELECT count(*) FROM session_events WHERE session_id = $1 AND seq = $2 AND id = $3";
    let (session, seq, id) = witness;
    let mut last = None;
    for _ in 0..20 {
        match db.read(setting).await {
            Ok(mut conn) => {
                let count: Result<i64, _> = crate::db::on!(conn, c => sqlx::query_scalar(Q)
                    .bind(session.uuid()).bind(seq).bind(id.uuid()).fetch_one(c).await);
                match count {
                    Ok(count) => return Ok(count != 0),
                    Err(error) => last = Some(Error::sorted("asking whether a commit happened", error)),
                }
            }
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Err(last.expect("the loop ran and did not return"))
}
