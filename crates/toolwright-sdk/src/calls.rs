//! Calls that a run makes itself, and what a run waits for.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;
use tw_model::{RunId, ToolFailure, ToolResult, WaitsFor};

use crate::BoxFuture;

/// Makes calls in the name of whoever called. Each goes through every check that a call from outside goes through.
pub trait InnerCalls: fmt::Debug + Send + Sync {
    /// Makes one call, or finds the run that made it before. `Err` is a refusal: nothing ran.
    fn call<'a>(&'a self, call: InnerCall<'a>) -> BoxFuture<'a, Result<Called, ToolFailure>>;
}

/// A call that a run makes itself.
#[derive(Clone, Debug)]
pub struct InnerCall<'a> {
    /// Unique among the calls of a run. When a run is resumed, the call of the same name is answered by the run that
    /// it made before.
    pub name: &'a str,
    /// Slug of the tool.
    pub tool: &'a str,
    pub input: &'a Value,
    /// The author's settings, where the call is made by a tool that wraps this one: with their secrets sealed, as they
    /// stand in the wrapper's definition.
    pub settings: Option<Arc<Value>>,
}

/// How an inner call stands.
#[derive(Debug)]
pub enum Called {
    Ended(Result<ToolResult, ToolFailure>),
    /// Not ended: the run that made it has to wait too.
    Open(Wait),
}

/// What a run waits for.
#[derive(Clone, Debug)]
pub enum Wait {
    /// An answer by a worker or a person, which is accepted for this long.
    Answer { by: WaitsFor, within: Duration },
    /// The end of all these runs, which this one has started.
    Runs { ids: Vec<RunId>, needs_approval: bool },
    /// Another replica: this one is about to stop.
    Replica,
}
