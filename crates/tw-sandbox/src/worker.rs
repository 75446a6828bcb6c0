//! The worker: reads a request, answers it, reads the next.

use std::{
    any::Any,
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
    thread,
};

use serde_json::value::RawValue;

use crate::{
    jq::{self, Filter, STACK_BYTES},
    limits::JqLimits,
    outputs,
    walls::Walls,
    wire::{self, WorkerFailure, WorkerRequest, WorkerResponse},
};

/// How many compiled filters are kept. They count as memory of the requests that come after.
const FILTERS_MAX: usize = 16;

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
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    output.write_all(&[walls.greeting()])?;
    output.flush()?;
    let mut filters = Filters::default();
    while let Some(message) = wire::read(&mut input)? {
        let WorkerRequest::Jq { filter, input, limits } =
            serde_json::from_slice::<WorkerRequest<'_, &RawValue>>(&message)?;
        walls.narrow(&limits)?;
        let run = AssertUnwindSafe(|| run(&mut filters, &filter, input, &limits));
        let answer = match panic::catch_unwind(run).unwrap_or_else(|panic| Err(stumbled(&*panic))) {
            Ok(outputs) => outputs,
            Err(failure) => serde_json::to_vec(&WorkerResponse::Failure(failure))?,
        };
        walls.widen()?;
        wire::write(&mut output, &answer)?;
    }
    Ok(())
}

fn run(
    filters: &mut Filters,
    text: &str,
    input: &RawValue,
    limits: &JqLimits,
) -> Result<Vec<u8>, WorkerFailure> {
    let filter = filters.get(text).map_err(|message| WorkerFailure::Filter { message })?;
    let input = jaq_json::read::parse_single(input.get().as_bytes()).map_err(outputs::failed)?;
    outputs::run(filter, input, limits)
}

/// jq itself failed, in this one request.
fn stumbled(panic: &(dyn Any + Send)) -> WorkerFailure {
    let said = panic.downcast_ref::<&str>().copied();
    match said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)) {
        // What the standard library says when more is asked for than an address can count.
        Some("capacity overflow") => WorkerFailure::Memory,
        _ => outputs::failed("jq cannot do this"),
    }
}

/// The filters that were used last, the latest first.
#[derive(Default)]
struct Filters(Vec<(String, Filter)>);

impl Filters {
    fn get(&mut self, text: &str) -> Result<&Filter, String> {
        match self.0.iter().position(|(known, _)| known == text) {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                let filter = jq::compile(text)?;
                self.0.truncate(FILTERS_MAX - 1);
                self.0.insert(0, (text.to_owned(), filter));
            }
        }
        Ok(&self.0[0].1)
    }
}
