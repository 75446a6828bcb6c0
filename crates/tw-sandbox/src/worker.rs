//! The worker: reads a request, answers it, reads the next.

use std::{
    any::Any,
    cell::RefCell,
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
    rc::Rc,
    thread,
};

use serde_json::value::RawValue;

use crate::{
    jq::{self, Filter, STACK_BYTES},
    language::ScriptLanguage,
    limits::{JqLimits, ScriptLimits},
    outputs,
    recent::Recent,
    script::{
        ScriptFault,
        engine::{self, Pipes, Prepared},
        syntax,
    },
    walls::Walls,
    wire::{self, ScriptFailure, ScriptMessage, WorkerFailure, WorkerRequest, WorkerResponse},
};

/// How many compiled filters are kept. They count as memory of the requests that come after.
const FILTERS_MAX: usize = 16;
/// How many sources are kept as JavaScript.
const SOURCES_MAX: usize = 4;
/// What a script needs beside its own heap: its input, its calls and its output as text.
const SCRIPT_BESIDE_BYTES: usize = 48 << 20;

/// Is a worker, until the other side of standard input hangs up.
///
/// The whole of the hidden command `sandbox-worker`, and nothing should come before it: a logger, a
/// thread or an open file would be one more thing to reach for.
#[must_use]
pub fn serve() -> ExitCode {
    // What a panic says may be long, and nobody reads it.
    panic::set_hook(Box::new(|_| ()));
    let worker = thread::Builder::new().name("sandbox".to_owned()).stack_size(STACK_BYTES).spawn(answer_all);
    let served =
        worker.and_then(|worker| worker.join().unwrap_or_else(|_| Err(io::Error::other("panicked"))));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn answer_all() -> io::Result<()> {
    let walls = Walls::raise()?;
    let mut pipes = Pipes { input: io::stdin().lock(), output: io::stdout().lock() };
    pipes.output.write_all(&[walls.greeting()])?;
    pipes.output.flush()?;
    let pipes = Rc::new(RefCell::new(pipes));
    let mut kept = Kept { filters: Recent::new(FILTERS_MAX), sources: Recent::new(SOURCES_MAX) };
    loop {
        let Some(message) = wire::read(&mut pipes.borrow_mut().input)? else { return Ok(()) };
        let request = serde_json::from_slice::<WorkerRequest<'_, &RawValue>>(&message)?;
        let answer = kept.answer(request, &walls, &pipes)?;
        walls.widen()?;
        wire::write(&mut pipes.borrow_mut().output, &answer)?;
    }
}

/// What a worker keeps from one request to the next.
struct Kept {
    filters: Recent<String, Filter>,
    /// TypeScript, and the JavaScript in it.
    sources: Recent<String, String>,
}

impl Kept {
    fn answer(
        &mut self,
        request: WorkerRequest<'_, &RawValue>,
        walls: &Walls,
        pipes: &Rc<RefCell<Pipes>>,
    ) -> io::Result<Vec<u8>> {
        match request {
            WorkerRequest::Jq { filter, input, limits } => {
                walls.narrow(limits.time, limits.memory_bytes)?;
                let run = AssertUnwindSafe(|| self.filter(&filter, input, &limits));
                match panic::catch_unwind(run).unwrap_or_else(|panic| Err(stumbled(&*panic))) {
                    Ok(outputs) => Ok(outputs),
                    Err(failure) => Ok(serde_json::to_vec(&WorkerResponse::Failure(failure))?),
                }
            }
            WorkerRequest::Script { language, source, input, now_ms, seed, limits } => {
                walls.narrow(limits.time, limits.memory_bytes.saturating_add(SCRIPT_BESIDE_BYTES))?;
                let ended = match self.javascript(language, &source) {
                    Ok(text) => {
                        let prepared = Prepared { text, input: input.get(), now_ms, seed };
                        engine::run(&prepared, &limits, pipes)?
                    }
                    Err(faults) => Err(unread(&faults)),
                };
                let output = ended.map(RawValue::from_string);
                let said = match &output {
                    Ok(Ok(output)) => ScriptMessage::Done(&**output),
                    Ok(Err(error)) => ScriptMessage::Failed(ScriptFailure::Output { why: error.to_string() }),
                    Err(failure) => {
                        return Ok(serde_json::to_vec(&ScriptMessage::<()>::Failed(failure.clone()))?);
                    }
                };
                Ok(serde_json::to_vec(&said)?)
            }
            WorkerRequest::CheckScript { language, source, limits } => {
                walls.narrow(limits.time, limits.memory_bytes.saturating_add(SCRIPT_BESIDE_BYTES))?;
                Ok(serde_json::to_vec(&faults_of(language, &source, &limits))?)
            }
        }
    }

    fn filter(&mut self, text: &str, input: &RawValue, limits: &JqLimits) -> Result<Vec<u8>, WorkerFailure> {
        let filter =
            self.filters.get(text, jq::compile).map_err(|message| WorkerFailure::Filter { message })?;
        let input = jaq_json::read::parse_single(input.get().as_bytes()).map_err(outputs::failed)?;
        outputs::run(filter, input, limits)
    }

    fn javascript<'a>(
        &'a mut self,
        language: ScriptLanguage,
        source: &'a str,
    ) -> Result<&'a str, Vec<ScriptFault>> {
        match language {
            ScriptLanguage::JavaScript => Ok(source),
            ScriptLanguage::TypeScript => {
                let read = |source: &str| syntax::read(language, source);
                self.sources.get(source, read).map(String::as_str)
            }
        }
    }
}

/// jq itself failed, in this one request.
fn stumbled(panic: &(dyn Any + Send)) -> WorkerFailure {
    let said = panic.downcast_ref::<&str>().copied();
    match said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)) {
        // What the standard library says when more is asked for than an address can count.
        Some("capacity overflow") => WorkerFailure::Memory,
        _ => outputs::failed("jq failed internally; change the filter"),
    }
}

fn faults_of(language: ScriptLanguage, source: &str, limits: &ScriptLimits) -> Vec<ScriptFault> {
    match syntax::read(language, source) {
        Err(faults) => faults,
        Ok(text) => engine::compile(&text, limits).err().into_iter().collect(),
    }
}

/// A source that was saved and cannot be read any more.
fn unread(faults: &[ScriptFault]) -> ScriptFailure {
    let (message, line) = match faults.first() {
        Some(ScriptFault::Syntax { line, why, .. }) => (why.clone(), Some(*line)),
        _ => ("there is no default export".to_owned(), None),
    };
    ScriptFailure::Exception { message, line, code: None }
}
