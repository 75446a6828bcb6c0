//! Calls that a run makes itself. They come in by the front door like any other, with the chain attached.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use tw_model::{Caller, Code, Link, Mode, RunId, RunStatus, SessionId, ToolFailure};
use tw_store::Run;

use crate::{
    Engine,
    catalogue::Tool,
    corridor::{Answer, CallRequest, IdempotencyKey, record::raw},
    error::Error,
    rights::{Permit, RunTools},
};

/// How deep calls may be nested.
pub const DEPTH_MAX: usize = 8;
/// How many calls one outer call may lead to.
pub const STEPS_MAX: usize = 1_000;
/// The route under which inner calls keep their answers.
pub(crate) const ROUTE: &str = "inner";

/// Whoever runs, as a caller.
#[derive(Debug)]
pub struct Inner {
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) run: RunId,
    pub(crate) tool: Arc<Tool>,
    pub(crate) session: SessionId,
    pub(crate) deadline: Instant,
    pub(crate) refusals: Arc<Refusals>,
}

/// How an inner call stands.
#[derive(Debug)]
pub enum Step {
    Ended(Box<Run>),
    /// It waits for somebody.
    Open {
        run: RunId,
        needs_approval: bool,
    },
    /// This server is about to stop and makes no more calls; another one makes it.
    NotHere,
}

/// The calls of a run that were refused at the door. A refusal leaves no run that would answer again, and what a run
/// has built on one must still hold when it goes on.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<String, Refusal>>);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refusal {
    code: Code,
    message: String,
}

impl Refusals {
    pub(crate) fn kept(refused: BTreeMap<String, Refusal>) -> Self {
        Self(Mutex::new(refused))
    }

    pub(crate) fn all(&self) -> BTreeMap<String, Refusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn get(&self, name: &str) -> Option<ToolFailure> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get(name).map(|refusal| ToolFailure::with_code(refusal.code, refusal.message.clone()))
    }

    fn keep(&self, name: &str, failure: ToolFailure) -> ToolFailure {
        let refusal = Refusal { code: failure.code, message: failure.message.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), refusal);
        failure
    }
}

impl Inner {
    /// Makes one call. Under the same name, the same run answers it again, however often this one is taken up.
    pub async fn call(&self, name: &str, tool: &str, input: &Value) -> Result<Step, ToolFailure> {
        match self.refusals.get(name) {
            Some(refused) => Err(refused),
            None => {
                self.call_again(name, tool, input).await.map_err(|failure| self.refusals.keep(name, failure))
            }
        }
    }

    async fn call_again(&self, name: &str, tool: &str, input: &Value) -> Result<Step, ToolFailure> {
        let caller = self.as_caller(tool)?;
        let permit = Permit::<RunTools>::check(caller).map_err(|error| refused(tool, &error))?;
        let input = raw(input);
        loop {
            let request = CallRequest {
                tool: tool.to_owned(),
                session: Some(self.session),
                // Not longer than there is somebody at work on it.
                wait: None,
                version: None,
                mode: Mode::Production,
                unsaved: None,
                idempotency: Some(IdempotencyKey {
                    key: format!("{}/{name}", self.run),
                    route: ROUTE.to_owned(),
                    body_hash: *blake3::hash(input.get().as_bytes()).as_bytes(),
                }),
                unwanted: None,
                deadline: Some(self.deadline),
                input: input.clone(),
            };
            let answer = match Box::pin(self.engine.call(&permit, request)).await {
                Ok(answer) => answer,
                // It was begun before this server, or this run of it, took over.
                Err(Error::IdempotencyInFlight) => {
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
                Err(Error::ShuttingDown) => return Ok(Step::NotHere),
                Err(error) => return Err(refused(tool, &error)),
            };
            let Answer { run, is_repeat, .. } = answer;
            // What was done before this run was taken up again was paid for then.
            if is_repeat {
                self.engine.inner.budgets.give_back(permit.caller().chain[0].run);
            }
            match run.status {
                RunStatus::Running => {}
                RunStatus::NeedsApproval => return Ok(Step::Open { run: run.id, needs_approval: true }),
                RunStatus::Pending => return Ok(Step::Open { run: run.id, needs_approval: false }),
                _ => return Ok(Step::Ended(Box::new(run))),
            }
        }
    }

    fn as_caller(&self, called: &str) -> Result<Caller, ToolFailure> {
        let mut chain = self.caller.chain.to_vec();
        let tool = self.tool.def.slug.clone();
        chain.push(Link { run: self.run, tool, group: self.tool.group().map(str::to_owned) });
        if DEPTH_MAX <= chain.len() {
            let message =
                format!("`{called}` would be called {DEPTH_MAX} calls deep, which is as far as calls go");
            return Err(ToolFailure::with_code(Code::DepthExceeded, message));
        }
        if chain.iter().any(|link| link.tool.as_str().eq_ignore_ascii_case(called)) {
            let message = format!("`{called}` would be called by itself");
            return Err(ToolFailure::with_code(Code::DepthExceeded, message));
        }
        let root = chain[0].run;
        if !self.engine.inner.budgets.spend(root) {
            let message =
                format!("the call has led to {STEPS_MAX} calls already, which is as many as it may");
            return Err(ToolFailure::with_code(Code::BudgetExceeded, message));
        }
        Ok(Caller { chain: chain.into(), ..self.caller.clone() })
    }
}

/// A call that was refused at the door, as a failure of the step that made it.
fn refused(tool: &str, error: &Error) -> ToolFailure {
    ToolFailure::with_code(error.code(), format!("`{tool}`: {error}"))
}

/// How many calls the outer calls under way have led to.
#[derive(Debug, Default)]
pub(crate) struct Budgets(Mutex<HashMap<RunId, usize>>);

impl Budgets {
    fn spend(&self, root: RunId) -> bool {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = spent.entry(root).or_default();
        *spent += 1;
        *spent <= STEPS_MAX
    }

    /// An account for an outer call that led to so many calls before this server had to do with it.
    pub(crate) fn open(&self, root: RunId, spent: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(root).or_insert(spent);
    }

    pub(crate) fn is_open(&self, root: RunId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&root)
    }

    fn give_back(&self, root: RunId) {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spent) = spent.get_mut(&root) {
            *spent = spent.saturating_sub(1);
        }
    }

    /// An outer call that has ended needs no account.
    pub(crate) fn close(&self, root: RunId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&root);
    }
}
