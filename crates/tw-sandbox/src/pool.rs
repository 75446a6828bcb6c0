//! The workers of this process, and who is next.

use std::{borrow::Cow, sync::Arc, thread, time::Duration};

use serde_json::Value;
use tokio::{
    runtime::{self, Handle, RuntimeFlavor},
    sync::Semaphore,
    task,
    time::{Instant, timeout},
};

use crate::{
    error::{Error, ScriptError},
    jq,
    language::ScriptLanguage,
    limits::{JqLimits, ScriptLimits},
    process::{Death, Worker},
    script::{Script, ScriptFault, ScriptHost, ScriptPool, check_in},
    seats::Pool,
    wire::{self, WorkerFailure, WorkerRequest, WorkerResponse},
};

/// How long a request may wait for a worker.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Where tenants' code runs. Cheap to clone; clones share the workers.
///
/// Workers are started when they are needed and kept: for filters one for each processor (at least 2, at most 8),
/// for scripts, which may take longer, four times as many. Requests are served in the order in which they come. A
/// future that is dropped takes its worker with it, and so does a `Sandbox` that is dropped.
#[derive(Clone, Debug)]
pub struct Sandbox {
    pool: Arc<Pool>,
    /// How many requests of these clones may be in front of the workers at once.
    lane: Arc<Semaphore>,
    wait_max: Duration,
    scripts: Arc<ScriptPool>,
}

impl Sandbox {
    #[must_use]
    pub fn new(worker: Worker) -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self::with(worker, processors.clamp(2, 8), WAIT_MAX)
    }

    fn with(worker: Worker, workers_max: usize, wait_max: Duration) -> Self {
        let scripts = Arc::new(ScriptPool::new(worker.clone(), workers_max * 4));
        let pool = Pool::new(worker, workers_max, false);
        Self { pool, lane: Arc::new(Semaphore::new(workers_max)), wait_max, scripts }
    }

    /// The same workers, with a queue of its own for filters.
    ///
    /// For each tenant: it then never has all workers at once, and whatever it has waiting beyond that
    /// waits behind itself. Others get a worker when one of its requests has used up its time.
    #[must_use]
    pub fn apart(&self) -> Self {
        let lane = Arc::new(Semaphore::new(self.pool.workers_max - 1));
        Self { lane, ..self.clone() }
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
        let answer = self.ask(&request, &limits).await?;
        match serde_json::from_slice(&answer) {
            Ok(WorkerResponse::Outputs(outputs)) => Ok(outputs),
            Ok(WorkerResponse::Failure(failure)) => Err(said(failure, &limits)),
            Err(error) => Err(Error::Worker {
                why: "the sandbox worker sent an invalid answer",
                source: Some(error.into()),
            }),
        }
    }

    async fn ask(&self, request: &[u8], limits: &JqLimits) -> Result<Vec<u8>, Error> {
        let mut seat = self.pool.seat(&self.lane, Instant::now() + self.wait_max).await?;
        let process = seat.process();
        let answer_max = limits.output_bytes.saturating_add(wire::ANSWER_BESIDE_MAX);
        match timeout(limits.time, process.ask(request, answer_max)).await {
            Err(_) => Err(Error::Time { after: limits.time }),
            Ok(Err(broke)) => Err(match process.autopsy().await {
                Death::Memory => Error::Memory { bytes: limits.memory_bytes },
                Death::Stack => {
                    Error::Failed { message: "it recurses, or nests values, too deeply".to_owned() }
                }
                Death::Unknown => {
                    Error::Worker { why: "the sandbox worker ended before it answered", source: Some(broke) }
                }
            }),
            Ok(Ok(answer)) => {
                seat.give_back();
                Ok(answer)
            }
        }
    }

    /// What a script gives for its input; `None` where it has to wait for a call, and is to be run again.
    ///
    /// Scripts of one lane, a tenant for instance, never have all workers at once.
    pub async fn script(
        &self,
        lane: u128,
        script: Script<'_>,
        limits: ScriptLimits,
        host: &mut impl ScriptHost,
    ) -> Result<Option<Value>, ScriptError> {
        self.scripts.run(lane, script, limits, host).await
    }

    /// Everything that is wrong with a source. Runs nothing of it. Takes the time that a worker takes to start.
    pub fn check_script(
        &self,
        language: ScriptLanguage,
        source: &str,
    ) -> Result<Vec<ScriptFault>, ScriptError> {
        // A runtime of its own, because the one that waits for this may have no other thread.
        let check = || {
            thread::scope(|scope| {
                let checker = scope.spawn(|| {
                    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
                    Ok(runtime.block_on(check_in(&self.pool.worker, language, source)))
                });
                checker.join().unwrap_or_else(|_| Err(std::io::Error::other("panicked")))
            })
        };
        let is_shared =
            Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        let checked = if is_shared { task::block_in_place(check) } else { check() };
        let why = "the source cannot be checked now";
        checked.unwrap_or_else(|error| Err(ScriptError::Worker { why, source: Some(error) }))
    }

    /// Ends the workers, each when it has answered what it was asked, and returns when all are gone.
    /// What comes later, or still waits for a worker, is refused.
    pub async fn close(&self) {
        self.pool.close().await;
        self.scripts.close().await;
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
