//! The serving side: runs of scripts, and what they ask for on the way.

use std::{
    borrow::Cow,
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};

use super::{Script, ScriptCall, ScriptFault, ScriptHost};
use crate::{
    error::ScriptError,
    language::ScriptLanguage,
    limits::ScriptLimits,
    process::{Death, Process, Worker},
    seats::{Pool, Seat},
    wire::{self, ScriptFailure, ScriptMessage, WorkerRequest},
};

/// How many workers may wait for calls that their scripts make.
const WAITING_MAX: usize = 32;
/// What a worker may say at once: some calls, or the output.
const MESSAGE_BYTES_MAX: usize = 40 << 20;
/// How many calls a script makes at once, and in all. It can get round both in its worker: see `prelude.js`.
const BATCH_MAX: usize = 8;
const CALLS_MAX: usize = 1000;
/// The 1,024 UTF-16 units of a message in the most bytes that they can have.
const FAILURE_BYTES_MAX: usize = 3 << 10;
/// How long reading a source may take.
const CHECK_MAX: Duration = Duration::from_secs(3);
const TOO_DEEP: &str = "it is nested too deeply";
const NO_SENSE: &str = "the sandbox worker sent an invalid answer";

/// Workers for scripts. They are not those of filters: a script may take as long as its tool, and its calls may filter.
#[derive(Debug)]
pub(crate) struct ScriptPool {
    pool: Arc<Pool>,
    lanes: Mutex<HashMap<u128, Weak<Semaphore>>>,
    waiting: Arc<Semaphore>,
}

/// How one attempt to run a script came out.
enum Attempt {
    Ended(Value),
    /// It waits for a call that takes longer than a worker waits.
    Suspended,
    /// There was no room for its worker to wait; the calls are made, and it begins again.
    Again,
}

impl ScriptPool {
    pub(crate) fn new(worker: Worker, workers_max: usize) -> Self {
        Self::with(worker, workers_max, WAITING_MAX)
    }

    fn with(worker: Worker, workers_max: usize, waiting_max: usize) -> Self {
        let waiting = Arc::new(Semaphore::new(waiting_max));
        Self { pool: Pool::new(worker, workers_max, true), lanes: Mutex::default(), waiting }
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    pub(crate) async fn run(
        &self,
        lane: u128,
        script: Script<'_>,
        limits: ScriptLimits,
        host: &mut impl ScriptHost,
    ) -> Result<Option<Value>, ScriptError> {
        let Script { language, source, input, now_ms, seed } = script;
        let source = Cow::Borrowed(source);
        let request = WorkerRequest::Script { language, source, input, now_ms, seed, limits };
        let memory = || ScriptError::Memory { bytes: limits.memory_bytes };
        let request = wire::frame(&request).ok().filter(|request| request.len() <= limits.memory_bytes);
        let request = request.ok_or_else(memory)?;
        let run = Run { pool: self, lane: self.lane(lane), until: Instant::now() + limits.time, limits };
        let mut made = 0;
        loop {
            host.restart();
            match run.attempt(&request, &mut made, host).await? {
                Attempt::Ended(output) => return Ok(Some(output)),
                Attempt::Suspended => return Ok(None),
                Attempt::Again => {}
            }
        }
    }

    /// The queue of a lane, for as long as somebody is in it.
    fn lane(&self, lane: u128) -> Arc<Semaphore> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lanes.get(&lane).and_then(Weak::upgrade) {
            return known;
        }
        lanes.retain(|_, lane| 0 < lane.strong_count());
        let fresh = Arc::new(Semaphore::new((self.pool.workers_max / 2).max(1)));
        lanes.insert(lane, Arc::downgrade(&fresh));
        fresh
    }
}

/// What all attempts of a run share.
struct Run<'a> {
    pool: &'a ScriptPool,
    lane: Arc<Semaphore>,
    until: Instant,
    limits: ScriptLimits,
}

impl Run<'_> {
    /// `made` is how many calls earlier attempts have made: those answer at once.
    async fn attempt(
        &self,
        request: &[u8],
        made: &mut usize,
        host: &mut impl ScriptHost,
    ) -> Result<Attempt, ScriptError> {
        let mut seat = self.pool.pool.seat(&self.lane, self.until).await?;
        let mut asked = 0;
        let mut log_left = self.limits.log_bytes.saturating_add(wire::ANSWER_BESIDE_MAX);
        self.send(&mut seat, request).await?;
        loop {
            let said = self.receive(&mut seat).await?;
            let said = serde_json::from_slice::<ScriptMessage<Box<RawValue>>>(&said);
            match said.map_err(no_sense)? {
                ScriptMessage::Log(line) => {
                    log_left =
                        log_left.checked_sub(line.len()).ok_or_else(|| no_sense("its log is too long"))?;
                    host.log(line);
                }
                ScriptMessage::Calls(calls) => {
                    let calls: Vec<ScriptCall> = serde_json::from_str(calls.get()).map_err(unreadable)?;
                    let first = asked;
                    asked += calls.len();
                    if BATCH_MAX < calls.len() || CALLS_MAX < asked {
                        return Err(no_sense("it asks for more calls than a script can"));
                    }
                    let was_made = asked <= *made;
                    if !was_made && !seat.step_aside(&self.pool.waiting) {
                        drop(seat);
                        let answers = host.call(first, calls).await;
                        *made = (*made).max(asked);
                        return Ok(answers.map_or(Attempt::Suspended, |_| Attempt::Again));
                    }
                    let Some(answers) = host.call(first, calls).await else { return Ok(Attempt::Suspended) };
                    *made = (*made).max(asked);
                    if !was_made {
                        seat.return_to(&self.lane, self.until).await?;
                    }
                    self.answer(&mut seat, &answers).await?;
                }
                ScriptMessage::Done(output) => {
                    seat.give_back();
                    return serde_json::from_str(output.get()).map(Attempt::Ended).map_err(unreadable);
                }
                ScriptMessage::Failed(failure) => {
                    // What ran out of memory leaves no worker for the next.
                    if failure != ScriptFailure::Memory {
                        seat.give_back();
                    }
                    return Err(self.failed(failure));
                }
            }
        }
    }

    async fn answer(&self, seat: &mut Seat, answers: &impl Serialize) -> Result<(), ScriptError> {
        let frame = wire::frame(answers).ok().filter(|frame| frame.len() <= self.limits.memory_bytes);
        let frame = frame.ok_or(ScriptError::Memory { bytes: self.limits.memory_bytes })?;
        self.send(seat, &frame).await
    }

    async fn send(&self, seat: &mut Seat, frame: &[u8]) -> Result<(), ScriptError> {
        match timeout_at(self.until, seat.process().send(frame)).await {
            Err(_) => Err(ScriptError::Time { after: self.limits.time }),
            Ok(Err(broke)) => Err(self.broken(seat, broke).await),
            Ok(Ok(())) => Ok(()),
        }
    }

    async fn receive(&self, seat: &mut Seat) -> Result<Vec<u8>, ScriptError> {
        match timeout_at(self.until, seat.process().receive(MESSAGE_BYTES_MAX)).await {
            Err(_) => Err(ScriptError::Time { after: self.limits.time }),
            Ok(Err(broke)) => Err(self.broken(seat, broke).await),
            Ok(Ok(said)) => Ok(said),
        }
    }

    async fn broken(&self, seat: &mut Seat, broke: io::Error) -> ScriptError {
        match seat.process().autopsy().await {
            Death::Memory => ScriptError::Memory { bytes: self.limits.memory_bytes },
            Death::Stack => ScriptError::Exception { message: TOO_DEEP.to_owned(), line: None, code: None },
            Death::Unknown => {
                let why = "the worker broke off before the script ended";
                ScriptError::Worker { why, source: Some(broke) }
            }
        }
    }

    fn failed(&self, failure: ScriptFailure) -> ScriptError {
        match failure {
            ScriptFailure::Exception { message, line, code } => {
                let (message, code) = (cut(message), code.map(cut));
                ScriptError::Exception { message, line, code }
            }
            ScriptFailure::Memory => ScriptError::Memory { bytes: self.limits.memory_bytes },
            ScriptFailure::Output { why } => ScriptError::Output { why: cut(why) },
        }
    }
}

/// What a worker says of a failure, no longer than it would be if its script had left everything as it found it.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(FAILURE_BYTES_MAX));
    text
}

fn no_sense(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ScriptError {
    ScriptError::Worker { why: NO_SENSE, source: Some(io::Error::other(error)) }
}

/// JSON that the language takes and nobody else does, for its depth or for half a character.
fn unreadable(error: serde_json::Error) -> ScriptError {
    ScriptError::Output { why: format!("is JSON that cannot be read: {error}") }
}

/// Has a source checked by a worker of its own.
pub(crate) async fn check_in(
    worker: &Worker,
    language: ScriptLanguage,
    source: &str,
) -> Result<Vec<ScriptFault>, ScriptError> {
    let limits = ScriptLimits::within(CHECK_MAX);
    let source = Cow::Borrowed(source);
    let request: WorkerRequest<'_, ()> = WorkerRequest::CheckScript { language, source, limits };
    let request = wire::frame(&request).map_err(no_sense)?;
    let mut process = Process::start(worker).await?;
    let unread = |why: &str| Ok(vec![ScriptFault::Syntax { line: 1, column: 1, why: why.to_owned() }]);
    let faults = match timeout(CHECK_MAX, process.ask(&request, wire::ANSWER_BESIDE_MAX)).await {
        Err(_) => unread("it takes too long to read"),
        Ok(Ok(answer)) => serde_json::from_slice(&answer).map_err(no_sense),
        Ok(Err(broke)) => match process.autopsy().await {
            Death::Memory => unread("it takes too much memory to read"),
            Death::Stack => unread(TOO_DEEP),
            Death::Unknown => Err(no_sense(broke)),
        },
    };
    process.end().await;
    faults
}
