//! Workers that are kept, and who has one.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    runtime::Handle,
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    error::NoWorker,
    process::{Process, Worker},
};

/// After how many requests a worker makes room for a fresh one.
const SERVED_MAX: usize = 1000;
const CLOSED: NoWorker = NoWorker { why: "the sandbox is closed", source: None };
const BUSY: NoWorker = NoWorker { why: "all workers are busy", source: None };

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) worker: Worker,
    pub(crate) workers_max: usize,
    /// Whether workers yield to the server. Those that have a short time by the clock must not: on a busy machine they
    /// would not get far in it.
    yields: bool,
    /// Whoever has a worker at work has a permit, until the worker is back or gone.
    pub(crate) seats: Arc<Semaphore>,
    idle: Mutex<Vec<Process>>,
    closed: AtomicBool,
}

impl Pool {
    pub(crate) fn new(worker: Worker, workers_max: usize, yields: bool) -> Arc<Self> {
        Arc::new(Self {
            worker,
            workers_max,
            yields,
            seats: Arc::new(Semaphore::new(workers_max)),
            idle: Mutex::new(Vec::new()),
            closed: AtomicBool::new(false),
        })
    }

    /// Waits for a worker, and starts one if none is idle.
    pub(crate) async fn seat(
        self: &Arc<Self>,
        lane: &Arc<Semaphore>,
        until: Instant,
    ) -> Result<Seat, NoWorker> {
        let permits = self.permits(lane, until).await?;
        let process = match self.wake() {
            Some(process) => process,
            None => {
                let fresh = Process::start(&self.worker).await?;
                if self.yields {
                    fresh.yield_to_others();
                }
                fresh
            }
        };
        Ok(Seat { process: Some(process), permits: Some(permits), aside: None, pool: Arc::clone(self) })
    }

    async fn permits(&self, lane: &Arc<Semaphore>, until: Instant) -> Result<Permits, NoWorker> {
        let permits = timeout_at(until, async {
            let lane = Arc::clone(lane).acquire_owned().await?;
            Ok((lane, Arc::clone(&self.seats).acquire_owned().await?))
        });
        let permits = permits.await.map_err(|_| BUSY)?.map_err(|_: AcquireError| CLOSED)?;
        if self.closed.load(Ordering::Relaxed) { Err(CLOSED) } else { Ok(permits) }
    }

    /// Ends the workers, each when it has answered what it was asked, and returns when all are gone.
    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let all = u32::try_from(self.workers_max).unwrap_or(u32::MAX);
        let Ok(_all) = self.seats.acquire_many(all).await else { return };
        let idle = mem::take(&mut *self.idle());
        for process in idle {
            process.end().await;
        }
        self.seats.close();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle worker, if there is one that nobody has killed meanwhile.
    fn wake(&self) -> Option<Process> {
        let mut idle = self.idle();
        while let Some(mut process) = idle.pop() {
            if process.is_alive() {
                return Some(process);
            }
        }
        None
    }
}

type Permits = (OwnedSemaphorePermit, OwnedSemaphorePermit);

/// A worker for one request. It is left to the next only by [`Seat::give_back`]; dropped, it ends.
#[derive(Debug)]
pub(crate) struct Seat {
    process: Option<Process>,
    permits: Option<Permits>,
    /// The permit of a worker that waits and does nothing.
    aside: Option<OwnedSemaphorePermit>,
    pool: Arc<Pool>,
}

impl Seat {
    pub(crate) fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("the worker was not given back yet")
    }

    /// Keeps the worker and lets others work, if there is room for one more that waits.
    pub(crate) fn step_aside(&mut self, room: &Arc<Semaphore>) -> bool {
        self.aside = Arc::clone(room).try_acquire_owned().ok();
        if self.aside.is_some() {
            self.permits = None;
        }
        self.aside.is_some()
    }

    /// Waits until the worker may go on.
    pub(crate) async fn return_to(&mut self, lane: &Arc<Semaphore>, until: Instant) -> Result<(), NoWorker> {
        self.permits = Some(self.pool.permits(lane, until).await?);
        self.aside = None;
        Ok(())
    }

    /// Leaves the worker to the next request. Only for one that has answered.
    pub(crate) fn give_back(mut self) {
        if let Some(process) = self.process.take_if(|process| process.served() < SERVED_MAX) {
            self.pool.idle().push(process);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        let held = (self.permits.take(), self.aside.take());
        // With no runtime left, dropping the worker kills it, and there is nobody to wait.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                process.end().await;
                drop(held);
            });
        }
    }
}
