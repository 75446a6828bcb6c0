//! Scripts: JavaScript, and TypeScript without its types, that tenants write.
//!
//! What is said about a script is here; `session.rs` is the side that serves, `engine.rs` the worker.

pub(crate) mod engine;
mod session;
mod strip;
pub(crate) mod syntax;

use std::future::Future;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use session::{ScriptPool, check_in};

use crate::language::ScriptLanguage;

/// How long a source may be.
pub const SCRIPT_BYTES_MAX: usize = 256 << 10;

/// One run of a script.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    pub language: ScriptLanguage,
    pub source: &'a str,
    pub input: &'a Value,
    /// What time it is for the script, in milliseconds since 1970. It stands still.
    pub now_ms: u64,
    /// What its random numbers are made of.
    pub seed: [u32; 4],
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

/// What is wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFault {
    Syntax {
        line: u32,
        column: u32,
        why: String,
    },
    /// There is no default export.
    NoExport,
}
