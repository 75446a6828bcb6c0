//! The runs that are under way on this replica.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tw_model::{RunId, TenantId};

/// How long a replica may be silent before its runs and leases count as left over.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(15);

/// Why a run under way is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Its row says that it has ended: cancelled by somebody, or closed by another replica.
    EndedElsewhere,
    /// This server ends.
    Shutdown,
}

#[derive(Debug)]
struct Flight {
    tenant: TenantId,
    since: Instant,
    cancel: CancellationToken,
}

#[derive(Debug, Default)]
pub(crate) struct Flights {
    open: Mutex<HashMap<RunId, Flight>>,
    closed: AtomicBool,
    aborted: AtomicBool,
    landed: Notify,
    /// Blocking work that goes on although its run has ended.
    pub(crate) blocking: Arc<AtomicUsize>,
}

/// A run under way, until dropped.
#[derive(Debug)]
pub(crate) struct Boarding {
    flights: Arc<Flights>,
    run: RunId,
    pub(crate) cancel: CancellationToken,
}

impl Boarding {
    /// Why the run was told to stop. Ask only after `cancel` has fired.
    pub(crate) fn why_stopped(&self) -> Stop {
        if self.flights.aborted.load(Ordering::Acquire) { Stop::Shutdown } else { Stop::EndedElsewhere }
    }
}

impl Drop for Boarding {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.run);
        self.flights.landed.notify_waiters();
    }
}

impl Flights {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Flight>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a run in; `None` once this server is about to stop, or where the run is under way here already.
    pub(crate) fn board(self: &Arc<Self>, tenant: TenantId, run: RunId) -> Option<Boarding> {
        let cancel = CancellationToken::new();
        let mut open = self.lock();
        // Asked under the lock, so that `drain` counts the run or the run sees that the door is shut.
        if self.is_closed() || open.contains_key(&run) {
            return None;
        }
        open.insert(run, Flight { tenant, since: Instant::now(), cancel: cancel.clone() });
        Some(Boarding { flights: Arc::clone(self), run, cancel })
    }

    /// Tells one run to stop.
    pub(crate) fn stop(&self, run: RunId) {
        if let Some(flight) = self.lock().get(&run) {
            flight.cancel.cancel();
        }
    }

    /// Runs that have been under way for a while, by tenant.
    pub(crate) fn older_than(&self, age: Duration) -> HashMap<TenantId, Vec<RunId>> {
        let mut old: HashMap<_, Vec<_>> = HashMap::new();
        for (run, flight) in self.lock().iter() {
            if age <= flight.since.elapsed() {
                old.entry(flight.tenant).or_default().push(*run);
            }
        }
        old
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Whether a run is under way here.
    pub(crate) fn holds(&self, run: RunId) -> bool {
        self.lock().contains_key(&run)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Lets nothing new in and waits for what is under way; what is still there after `patience` is
    /// stopped and recorded as interrupted.
    pub(crate) async fn drain(&self, patience: Duration) {
        self.closed.store(true, Ordering::Release);
        if tokio::time::timeout(patience, self.empty()).await.is_err() {
            self.aborted.store(true, Ordering::Release);
            self.lock().values().for_each(|flight| flight.cancel.cancel());
            // Each of them still has to write down how it ended.
            let _ = tokio::time::timeout(Duration::from_secs(3), self.empty()).await;
        }
    }

    async fn empty(&self) {
        loop {
            let landed = self.landed.notified();
            tokio::pin!(landed);
            landed.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            landed.await;
        }
    }
}
