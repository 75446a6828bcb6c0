//! The port between the engine and whatever runs a tool.
//!
//! An [`Executor`] runs one tool. It gets a [`Call`] and gives back an end, or what the run waits for; who is asked
//! then, and how the run goes on, is the engine's business. What the engine has to know about a tool beyond its
//! definition (which tools it calls, which credentials it opens, how dangerous one call is) the executor says: the
//! engine knows no tool and no kind by name. This room has no logic of its own, and never touches a store.
//!
//! Start with [`Executor`], then [`Kinds`].

mod names;

use std::{collections::BTreeSet, fmt};

use serde_json::Value;
use toolwright_sdk::ToolContext;
pub use toolwright_sdk::{BoxFuture, Called, InnerCall, InnerCalls, Services, Wait};
use tw_model::{Actor, Caller, Code, Implementation, Level, Mode, ToolDef, ToolFailure, ToolResult};
use tw_schema::Fault;

pub use names::{label_violation, slug_violation};

/// How deep calls may be nested.
pub const DEPTH_MAX: usize = 8;
/// How many calls one outer call may lead to.
pub const STEPS_MAX: usize = 1_000;

/// How a tool runs, as its author wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    pub kind: Implementation,
    pub implementation: &'a Value,
    pub execution_spec: Option<&'a Value>,
    /// Whether it is about to be saved. A stored definition was checked when it was saved.
    pub is_new: bool,
}

/// A tool that a definition calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callee {
    /// Where it is named, from the definition's root.
    pub path: String,
    pub name: String,
    /// Whether it is called by this name whenever it is called. What is not certain need not exist when it is saved.
    pub is_certain: bool,
}

/// What the expressions of a definition look up, and what its steps are given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expressions {
    pub lookups: Vec<Lookup>,
    pub steps: Vec<StepInput>,
    /// The output that the definition writes down, where it does.
    pub output: Option<WrittenOutput>,
}

/// An output as a definition writes it down, filled in at a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenOutput {
    /// Where it stands, from the definition's root.
    pub path: String,
    pub value: Value,
}

/// A value that an expression looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Where the expression stands, from the definition's root.
    pub path: String,
    /// Names one below the other, joined by dots, such as `input.city` or `steps.find.output.id`.
    pub name: String,
}

/// What a step is given for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepInput {
    /// How expressions call it.
    pub id: String,
    pub tool: String,
    /// Where its input stands, from the definition's root.
    pub path: String,
    /// The members that it is given; `None` where one expression yields them all.
    pub members: Option<BTreeSet<String>>,
    /// Whether its output may be something else than what its tool gives.
    pub falls_back: bool,
}

/// All execution kinds.
pub trait Kinds: fmt::Debug + Send + Sync {
    /// Reads a definition, or tells every fault of it, with paths from the definition's root.
    fn read(&self, written: Written<'_>) -> Result<Box<dyn Executor>, Vec<Fault>>;

    /// The tools that a definition names. Also of a definition that [`Kinds::read`] refuses, so that all faults can be
    /// told at once.
    fn called(&self, written: Written<'_>) -> Vec<Callee>;

    /// What its expressions look up. Nothing of a definition that [`Kinds::read`] refuses.
    fn expressions(&self, written: Written<'_>) -> Expressions;

    /// Whether a definition of this kind can name other tools. Those of the other kinds need not be read to know that
    /// they call none.
    fn can_call(&self, kind: Implementation) -> bool;

    /// The tool of the program that a definition is another name for, where its kind makes such tools.
    fn builtin_key<'a>(&self, written: Written<'a>) -> Option<&'a str>;
}

/// One tool, ready to run.
pub trait Executor: fmt::Debug + Send + Sync {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended>;

    /// Why a call whose input fits the schema cannot be made by this caller. Asked before anybody is asked to
    /// approve it, and again when it runs.
    fn check<'a>(
        &'a self,
        _caller: &'a Caller,
        _services: &'a Services,
        _input: &'a Value,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// How dangerous a call with this input is, where that is more than the definition says.
    fn level_of(&self, _input: &Value) -> Option<Level> {
        None
    }

    /// Whether no override of a tenant can take the question for approval away.
    fn always_asks(&self) -> bool {
        false
    }

    /// The tools that it calls, by the names it knows them by.
    fn calls(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The tools that a call with this input may call, where the input has their names.
    fn calls_with<'a>(&'a self, _input: &'a Value) -> Vec<&'a str> {
        self.calls()
    }

    /// The members of the input that are parts of a definition. What is a secret there by the rule for definitions is in
    /// no record of the call, and the tool does not give it back.
    fn definition_parts(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a call may touch what is neither this server nor the people on it, where the definition does not say.
    fn reaches_out(&self) -> bool {
        true
    }

    /// Whether it does nothing but ask a worker or a person.
    fn asks_outside(&self) -> bool {
        false
    }

    /// The credentials that it opens, by what stands behind `secret:`, in an `implementation` with its secrets open.
    fn credentials(&self, _implementation: &Value) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// The MCP servers of the tenant that it asks, by their names or ids.
    fn mcp_servers(&self, _implementation: &Value) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Whether the service that it calls is told an idempotency key, and so does a thing once.
    fn sends_idempotency_key(&self) -> bool {
        false
    }

    /// Whether a run that was cut off, or that waited, is resumed by running it again: the calls it has made answer
    /// as they did.
    fn is_resumable(&self) -> bool {
        false
    }

    /// Whether it is a function of the program: quicker than looking up a result that was kept.
    fn is_function(&self) -> bool {
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
    pub caller: &'a Caller,
    /// Who changed the input before it was approved: what the call does is done in their name.
    pub edited_by: Option<&'a Actor>,
    pub secrets: &'a dyn Unseal,
    pub inner: &'a dyn InnerCalls,
}

/// Opens the secrets that lie sealed in a definition.
pub trait Unseal: fmt::Debug + Send + Sync {
    /// The `implementation` of the tool that is called, with its secrets open.
    fn implementation(&self) -> BoxFuture<'_, Result<Value, ToolFailure>>;

    /// Its `execution_spec`, with its secrets open; `null` where it has none.
    fn execution_spec(&self) -> BoxFuture<'_, Result<Value, ToolFailure>>;
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

impl From<Result<Called, ToolFailure>> for Ended {
    fn from(inner: Result<Called, ToolFailure>) -> Self {
        match inner {
            Ok(Called::Ended(ended)) => ended.into(),
            Ok(Called::Open(wait)) => Self::Waits(wait),
            Err(failure) => Self::Failed(failure),
        }
    }
}

/// Why a call is not made.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    pub faults: Vec<Fault>,
}
