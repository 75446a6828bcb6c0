//! The worker's side: one run of a script, in an engine of its own.

use std::{
    cell::RefCell,
    io::{self, StdinLock, StdoutLock},
    mem,
    rc::Rc,
};

use rquickjs::{
    Context, Ctx, Error, Function, Module, Object, Promise, Result, Runtime, Value, context::intrinsic,
    function::Func, promise::PromiseState,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ScriptFault;
use crate::{
    limits::ScriptLimits,
    wire::{self, ScriptFailure, ScriptMessage},
};

const PRELUDE: &str = include_str!("prelude.js");
/// What frames of its stack call the source.
const NAME: &str = "artifact";
const CUT: &str = "… (the log is full; the rest is left out)";
const NEVER: &str = "it waits for a promise that nothing will settle";
/// What the engine says where it has no memory, or could not have so much.
const NO_ROOM: [&str; 2] = ["out of memory", "string too long"];
/// How a script throws null itself.
const NULL_OF_ITS_OWN: [&str; 2] = ["throw null", "reject(null"];

/// The language without clocks, shared memory and references that are cleared at a time of their own.
type ScriptLanguage = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// The pipes to the process that serves.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) input: StdinLock<'static>,
    pub(crate) output: StdoutLock<'static>,
}

impl Pipes {
    fn say(&mut self, message: &ScriptMessage<&RawValue>) -> io::Result<()> {
        wire::write(&mut self.output, &serde_json::to_vec(message)?)
    }
}

/// What is run, once it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) text: &'a str,
    pub(crate) input: &'a str,
    pub(crate) now_ms: u64,
    pub(crate) seed: [u32; 4],
}

/// Whether the engine can read JavaScript that was read before. Runs nothing of it.
pub(crate) fn compile(text: &str, limits: &ScriptLimits) -> std::result::Result<(), ScriptFault> {
    let unread =
        |line: Option<u32>, why: String| ScriptFault::Syntax { line: line.unwrap_or(1), column: 1, why };
    let Ok((runtime, context)) = fresh(limits) else {
        return Err(unread(None, "it is too large".to_owned()));
    };
    let compiled = context.with(|ctx| {
        let declared = Module::declare(ctx.clone(), NAME, text);
        declared.map(drop).map_err(|_| {
            let thrown = ctx.catch();
            let exception = thrown.as_exception();
            let stack = exception.and_then(|exception| exception.stack()).unwrap_or_default();
            let message = exception.and_then(|exception| exception.message());
            unread(line_in(&stack), message.unwrap_or_else(|| "it cannot be read".to_owned()))
        })
    });
    mem::forget((context, runtime));
    compiled
}

fn line_in(stack: &str) -> Option<u32> {
    let (_, behind) = stack.split_once(&format!("{NAME}:"))?;
    behind.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Runs a script to its end. The outer error is that of the pipes: nobody is there to hear of the run.
pub(crate) fn run(
    prepared: &Prepared<'_>,
    limits: &ScriptLimits,
    pipes: &Rc<RefCell<Pipes>>,
) -> io::Result<std::result::Result<String, ScriptFailure>> {
    let Ok((runtime, context)) = fresh(limits) else { return Ok(Err(ScriptFailure::Memory)) };
    let log = Log { pipes: Rc::clone(pipes), left: limits.log_bytes, broken: Rc::default() };
    let broken = Rc::clone(&log.broken);
    let mut ended = context.with(|ctx| {
        let drive = match Drive::new(&ctx, prepared, log) {
            Ok(drive) => drive,
            Err(_) => return Ok(Err(ScriptFailure::Memory)),
        };
        drive.run(prepared, limits, pipes)
    });
    if let Some(error) = broken.take() {
        return Err(error);
    }
    // Where there is no room for an exception either, the engine throws null.
    if let Ok(Err(ScriptFailure::Exception { message, .. })) = &ended
        && message == "null"
        && !NULL_OF_ITS_OWN.iter().any(|throws| prepared.text.contains(throws))
    {
        ended = Ok(Err(ScriptFailure::Memory));
    }
    // What ran out of memory may not have been put in order; the worker ends after it.
    if matches!(ended, Ok(Err(ScriptFailure::Memory))) {
        mem::forget((context, runtime));
    }
    ended
}

fn fresh(limits: &ScriptLimits) -> Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(limits.memory_bytes);
    runtime.set_max_stack_size(limits.stack_bytes);
    let context = Context::custom::<ScriptLanguage>(&runtime)?;
    Ok((runtime, context))
}

/// Where lines of the log go, as long as there is room.
struct Log {
    pipes: Rc<RefCell<Pipes>>,
    left: usize,
    broken: Rc<RefCell<Option<io::Error>>>,
}

impl Log {
    fn take(&mut self, mut line: String) {
        if self.left == 0 {
            return;
        }
        // An empty line is one too.
        match self.left.checked_sub(line.len() + 1) {
            Some(left) => self.left = left,
            None => {
                let cut = (0..=self.left.min(line.len())).rev().find(|&at| line.is_char_boundary(at));
                line.truncate(cut.unwrap_or(0));
                line.push_str(CUT);
                self.left = 0;
            }
        }
        if let Err(error) = self.pipes.borrow_mut().say(&ScriptMessage::Log(line)) {
            *self.broken.borrow_mut() = Some(error);
        }
    }
}

#[derive(Deserialize)]
struct Thrown {
    message: String,
    line: Option<u32>,
    code: Option<String>,
}

/// The functions of the prelude, which know the script's promises.
struct Drive<'js> {
    ctx: Ctx<'js>,
    start: Function<'js>,
    take: Function<'js>,
    answer: Function<'js>,
    describe: Function<'js>,
}

/// Why a run stops early: by what the script did, or because nobody listens.
enum Stop {
    Script(ScriptFailure),
    Pipes(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Pipes(error)
    }
}

impl<'js> Drive<'js> {
    fn new(ctx: &Ctx<'js>, prepared: &Prepared<'_>, log: Log) -> Result<Self> {
        let native = Object::new(ctx.clone())?;
        let log = RefCell::new(log);
        native.set("log", Func::from(move |line: String| log.borrow_mut().take(line)))?;
        let prelude: Function<'js> = ctx.eval(PRELUDE)?;
        #[expect(clippy::cast_precision_loss, reason = "a date is a number of this kind in the language")]
        let now = prepared.now_ms as f64;
        let drive: Object<'js> = prelude.call((native, now, prepared.seed.to_vec()))?;
        Ok(Self {
            ctx: ctx.clone(),
            start: drive.get("start")?,
            take: drive.get("take")?,
            answer: drive.get("answer")?,
            describe: drive.get("describe")?,
        })
    }

    fn run(
        &self,
        prepared: &Prepared<'_>,
        limits: &ScriptLimits,
        pipes: &RefCell<Pipes>,
    ) -> io::Result<std::result::Result<String, ScriptFailure>> {
        match self.output(prepared, limits, pipes) {
            Ok(output) => Ok(Ok(output)),
            Err(Stop::Script(failure)) => Ok(Err(failure)),
            Err(Stop::Pipes(error)) => Err(error),
        }
    }

    fn output(
        &self,
        prepared: &Prepared<'_>,
        limits: &ScriptLimits,
        pipes: &RefCell<Pipes>,
    ) -> std::result::Result<String, Stop> {
        let module = Module::declare(self.ctx.clone(), NAME, prepared.text).and_then(Module::eval);
        let (module, evaluated) = self.checked(module)?;
        self.settle(&evaluated, pipes)?;
        self.checked(evaluated.finish::<()>())?;
        let main: Value<'js> = self.checked(module.get("default"))?;
        let promise: Promise<'js> = self.checked(self.start.call((main, prepared.input)))?;
        self.settle(&promise, pipes)?;
        let value: Value<'js> = self.checked(promise.finish())?;
        let is_nothing = value.is_undefined();
        let text =
            self.ctx.json_stringify(value).and_then(|text| text.map(|text| text.to_string()).transpose());
        let text = match self.checked(text) {
            Ok(text) => text,
            Err(Stop::Script(ScriptFailure::Exception { message, .. })) => {
                return Err(unfit(format!("cannot be written as JSON: {message}")));
            }
            Err(stop) => return Err(stop),
        };
        match text {
            Some(text) if limits.output_bytes < text.len() => {
                Err(unfit(format!("is over {} bytes as JSON", limits.output_bytes)))
            }
            Some(text) => Ok(text),
            None if is_nothing => Ok("null".to_owned()),
            None => Err(unfit("is not JSON, but a function or a symbol".to_owned())),
        }
    }

    /// Does what is left to do, and makes the calls that are asked for, until the promise is settled and nothing is left.
    fn settle(&self, promise: &Promise<'js>, pipes: &RefCell<Pipes>) -> std::result::Result<(), Stop> {
        loop {
            while self.ctx.execute_pending_job() {}
            let calls: Option<String> = self.checked(self.take.call(()))?;
            match calls {
                Some(calls) => {
                    let answers = ask(&calls, pipes)?;
                    self.checked(self.answer.call::<_, ()>((answers,)))?;
                }
                None if promise.state() == PromiseState::Pending => {
                    let (message, line, code) = (NEVER.to_owned(), None, None);
                    return Err(Stop::Script(ScriptFailure::Exception { message, line, code }));
                }
                None => return Ok(()),
            }
        }
    }

    fn checked<T>(&self, done: Result<T>) -> std::result::Result<T, Stop> {
        done.map_err(|error| Stop::Script(self.failure(&error)))
    }

    fn failure(&self, error: &Error) -> ScriptFailure {
        let Error::Exception = error else {
            let out_of_memory = matches!(error, Error::Allocation | Error::Unknown);
            let (message, line, code) = (error.to_string(), None, None);
            return if out_of_memory {
                ScriptFailure::Memory
            } else {
                ScriptFailure::Exception { message, line, code }
            };
        };
        let thrown = self.ctx.catch();
        let described: Result<String> = self.describe.call((thrown,));
        let described = described.ok().and_then(|text| serde_json::from_str(&text).ok());
        match described {
            Some(Thrown { message, .. }) if NO_ROOM.contains(&message.as_str()) => ScriptFailure::Memory,
            Some(Thrown { message, line, code }) => ScriptFailure::Exception { message, line, code },
            None => ScriptFailure::Memory,
        }
    }
}

fn unfit(why: String) -> Stop {
    Stop::Script(ScriptFailure::Output { why })
}

/// Has calls made, and waits for what they give.
fn ask(calls: &str, pipes: &RefCell<Pipes>) -> io::Result<String> {
    let mut pipes = pipes.borrow_mut();
    let calls: &RawValue = serde_json::from_str(calls)?;
    pipes.say(&ScriptMessage::Calls(calls))?;
    let answers = wire::read(&mut pipes.input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    String::from_utf8(answers).map_err(|_| io::ErrorKind::InvalidData.into())
}
