//! Scripts: JavaScript, and TypeScript without its types, that tenants write.
//!
//! What is said about a script is here; `session.rs` is the side that serves, `engine.rs` the worker.

pub(crate) mod engine;
mod session;
mod strip;
pub(crate) mod syntax;

use std::{future::Future, io, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use session::{ScriptPool, check_in};

/// How long a source may be.
pub const SCRIPT_BYTES_MAX: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    JavaScript,
    TypeScript,
}

/// One run of a script.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    pub language: Language,
    pub source: &'a str,
    pub input: &'a Value,
    /// What time it is for the script, in milliseconds since 1970. It stands still.
    pub now_ms: u64,
    /// What its random numbers are made of.
    pub seed: [u32; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    /// Everything together: waiting for a worker, running, and the calls that the script makes.
    pub time: Duration,
    /// What the script may have on its heap.
    pub memory_bytes: usize,
    pub stack_bytes: usize,
    /// The output, as JSON.
    pub output_bytes: usize,
    /// What it writes to its log; the rest is cut off.
    pub log_bytes: usize,
}

impl ScriptLimits {
    #[must_use]
    pub fn within(time: Duration) -> Self {
        let (memory_bytes, stack_bytes) = (64 << 20, 256 << 10);
        Self { time, memory_bytes, stack_bytes, output_bytes: 1 << 20, log_bytes: 64 << 10 }
    }
}

/// A call of another tool that a script makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptCall {
    pub tool: String,
    pub input: Value,
}

/// Why a call of a script gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFailure {
    pub code: String,
    pub message: String,
}

/// What a script may ask of the process that serves.
pub trait ScriptHost: Send {
    /// Takes a line of the log.
    fn log(&mut self, line: String);

    /// Forgets the log: the script runs again from its beginning.
    fn restart(&mut self);

    /// Makes the calls from the one with this number on, and answers in their order. A call that was made before
    /// answers as it did. `None` where the script has to wait for longer than a worker waits: it is run again later.
    fn call(
        &mut self,
        first: usize,
        calls: Vec<ScriptCall>,
    ) -> impl Future<Output = Option<Vec<Result<Value, CallFailure>>>> + Send;
}

/// Why a script gave no output.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It raised an exception. `code` is there where that came from a call and was not handled.
    #[error("{}", with_line(message, *line))]
    Exception { message: String, line: Option<u32>, code: Option<String> },
    #[error("the script needs more than {} MiB of memory", bytes >> 20)]
    Memory { bytes: usize },
    #[error("the output {why}")]
    Output { why: String },
    #[error("the script did not end within {after:?}")]
    Time { after: Duration },
    /// Nothing is known about the script: it was not run, or not to its end.
    #[error("{why}")]
    Worker { why: &'static str, source: Option<io::Error> },
}

fn with_line(message: &str, line: Option<u32>) -> String {
    line.map_or_else(|| message.to_owned(), |line| format!("{message} (line {line})"))
}

/// What is wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFault {
    Syntax {
        line: u32,
        why: String,
    },
    /// There is no default export.
    NoExport,
}
