//! The workers of this process, and who is next.

use std::{
    borrow::Cow,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout, timeout_at},
};

use crate::{
    error::Error,
    jq,
    limits::JqLimits,
    process::{Process, Worker},
    wire::{self, WorkerFailure, WorkerRequest, WorkerResponse},
};

/// How long a request may wait for a worker.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// After how many requests a worker makes room for a fresh one.
const SERVED_MAX: usize = 1000;

/// Where tenants' code runs. Cheap to clone; clones share the workers.
///
/// Workers are started when they are needed, one for each processor (at least 2, at most 8), and kept.
/// Requests are served in the order in which they come. A future that is dropped takes its worker with
/// it, and so does a `Sandbox` that is dropped.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pool: Arc<Pool>,
    /// How many requests of these clones may be in front of the workers at once.
    lane: Arc<Semaphore>,
}

#[derive(Debug)]
struct Pool {
    worker: Worker,
    workers_max: usize,
    wait_max: Duration,
    /// Whoever has a worker has a permit, until the worker is back or gone.
    seats: Arc<Semaphore>,
    idle: Mutex<Vec<Process>>,
    closed: AtomicBool,
}

impl Sandbox {
    #[must_use]
    pub fn new(worker: Worker) -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self::with(worker, processors.clamp(2, 8), WAIT_MAX)
    }

    fn with(worker: Worker, workers_max: usize, wait_max: Duration) -> Self {
        let pool = Pool {
            worker,
            workers_max,
            wait_max,
            seats: Arc::new(Semaphore::new(workers_max)),
            idle: Mutex::new(Vec::new()),
            closed: AtomicBool::new(false),
        };
        Self { pool: Arc::new(pool), lane: Arc::new(Semaphore::new(workers_max)) }
    }

    /// The same workers, with a queue of its own.
    ///
    /// For each tenant: it then never has all workers at once, and whatever it has waiting beyond that
    /// waits behind itself. Others get a worker when one of its requests has used up its time.
    #[must_use]
    pub fn apart(&self) -> Self {
        let lane = Arc::new(Semaphore::new(self.pool.workers_max - 1));
        Self { pool: Arc::clone(&self.pool), lane }
    }

    /// Everything that a jq filter gives for an input.
    pub async fn jq(&self, filter: &str, input: &Value, limits: JqLimits) -> Result<Vec<Value>, Error> {
        if let Some(message) = jq::too_long(filter) {
            return Err(Error::Filter { message });
        }
        let request = WorkerRequest::Jq { filter: Cow::Borrowed(filter), input, limits };
        let too_large = Error::Memory { bytes: limits.memory_bytes };
        let Ok(request) = wire::frame(&request) else { return Err(too_large) };
        if limits.memory_bytes < request.len() {
            return Err(too_large);
        }
        let answer = self.seat().await?.ask(&request, &limits).await?;
        match serde_json::from_slice(&answer) {
            Ok(WorkerResponse::Outputs(outputs)) => Ok(outputs),
            Ok(WorkerResponse::Failure(failure)) => Err(said(failure, &limits)),
            Err(error) => {
                Err(Error::Worker { why: "the worker's answer makes no sense", source: Some(error.into()) })
            }
        }
    }

    /// Ends the workers, each when it has answered what it was asked, and returns when all are gone.
    /// What comes later, or still waits for a worker, is refused.
    pub async fn close(&self) {
        self.pool.closed.store(true, Ordering::Relaxed);
        let all = u32::try_from(self.pool.workers_max).unwrap_or(u32::MAX);
        let Ok(_all) = self.pool.seats.acquire_many(all).await else { return };
        let idle = mem::take(&mut *self.pool.idle());
        for process in idle {
            process.end().await;
        }
        self.pool.seats.close();
    }

    /// Waits for a worker, and starts one if none is idle.
    async fn seat(&self) -> Result<Seat, Error> {
        let deadline = Instant::now() + self.pool.wait_max;
        let permits = timeout_at(deadline, async {
            let lane = Arc::clone(&self.lane).acquire_owned().await?;
            Ok((lane, Arc::clone(&self.pool.seats).acquire_owned().await?))
        });
        let permits = permits.await.map_err(|_| Error::worker("all workers are busy"))?;
        let closed = |_: tokio::sync::AcquireError| Error::worker("the sandbox is closed");
        let permits = permits.map_err(closed)?;
        if self.pool.closed.load(Ordering::Relaxed) {
            return Err(Error::worker("the sandbox is closed"));
        }
        let process = match self.pool.wake() {
            Some(process) => process,
            None => Process::start(&self.pool.worker).await?,
        };
        Ok(Seat { taken: Some((process, permits)), pool: Arc::clone(&self.pool) })
    }
}

impl Pool {
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

/// A worker for one request.
#[derive(Debug)]
struct Seat {
    taken: Option<(Process, Permits)>,
    pool: Arc<Pool>,
}

impl Seat {
    /// Leaves the worker to the next only if it has answered; `Drop` sees to it in all other cases.
    async fn ask(mut self, request: &[u8], limits: &JqLimits) -> Result<Vec<u8>, Error> {
        let (process, _) = self.taken.as_mut().expect("nothing was taken back yet");
        match timeout(limits.time, process.ask(request, limits)).await {
            Err(_) => Err(Error::Time { after: limits.time }),
            Ok(Err(broke)) => Err(process.autopsy(limits, broke).await),
            Ok(Ok(answer)) => {
                if process.served() < SERVED_MAX
                    && let Some((process, _permits)) = self.taken.take()
                {
                    self.pool.idle().push(process);
                }
                Ok(answer)
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some((process, permits)) = self.taken.take() else { return };
        // With no runtime left, dropping the worker kills it, and there is nobody to wait.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                process.end().await;
                drop(permits);
            });
        }
    }
}

fn said(failure: WorkerFailure, limits: &JqLimits) -> Error {
    match failure {
        WorkerFailure::Filter { message } => Error::Filter { message },
        WorkerFailure::Failed { message } => Error::Failed { message },
        WorkerFailure::Memory => Error::Memory { bytes: limits.memory_bytes },
        WorkerFailure::Outputs => Error::Outputs { max: limits.outputs },
        WorkerFailure::OutputBytes => Error::OutputBytes { max: limits.output_bytes },
    }
}

#[cfg(test)]
mod tests;
