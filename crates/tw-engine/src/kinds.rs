//! What runs tools that are written down outside the program, as far as the corridor has to know.
//!
//! The kinds themselves live in a crate above this one. They get what a call may use, and give back an end or
//! the word that the call waits for somebody; who that is, and how it goes on, is the engine's business.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde_json::Value;
use toolwright_sdk::{BoxFuture, ToolContext};
use tw_model::{Implementation, Mode, RunId, ToolDef, ToolFailure, ToolResult, WaitsFor};
use tw_schema::Fault;

use crate::{chain::Inner, vault::Vault};

/// How a tool runs, as its author wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub kind: Implementation,
    pub implementation: &'a Value,
    pub execution_spec: Option<&'a Value>,
    pub is_async: bool,
    /// Whether somebody is about to save it. What was saved was checked.
    pub is_new: bool,
}

/// All kinds of tools that can be written down.
pub trait Kinds: fmt::Debug + Send + Sync {
    /// Reads what was written, or tells every fault of it, with paths from the definition's root.
    fn read(&self, written: Written<'_>) -> Result<Box<dyn Executor>, Vec<Fault>>;
}

/// One tool, ready to run.
pub trait Executor: fmt::Debug + Send + Sync {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended>;

    /// The tools that it calls, by the names it knows them by.
    fn calls(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Whether it does nothing but ask somebody outside.
    fn asks_outside(&self) -> bool {
        false
    }

    /// The credentials that it opens, by what stands behind `secret:`, in an `implementation` with its secrets open.
    fn credentials(&self, _implementation: &Value) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Whether a run that was cut off is taken up again, by running it again: whatever it has called before
    /// answers as it did.
    fn goes_on(&self) -> bool {
        false
    }
}

/// What an executor is given.
#[derive(Debug)]
pub struct Call<'a> {
    pub cx: ToolContext,
    pub def: &'a ToolDef,
    pub mode: Mode,
    pub input: Value,
    pub vault: &'a Vault,
    pub inner: &'a Inner,
}

/// How far an executor came.
#[derive(Debug)]
pub enum Ended {
    Done(ToolResult),
    Failed(ToolFailure),
    Waits(Wait),
}

impl From<Result<ToolResult, ToolFailure>> for Ended {
    fn from(result: Result<ToolResult, ToolFailure>) -> Self {
        match result {
            Ok(result) => Self::Done(result),
            Err(failure) => Self::Failed(failure),
        }
    }
}

/// What a run waits for.
#[derive(Debug)]
pub enum Wait {
    /// An answer from outside, by a worker or a person, that is taken for so long.
    Answer { by: WaitsFor, within: Duration },
    /// A run that this one has started.
    Run { id: RunId, needs_approval: bool },
    /// Another server: this one is about to stop.
    Others,
}
