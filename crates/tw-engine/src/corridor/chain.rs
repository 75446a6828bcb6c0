//! Calls that a run makes itself. They come in by the same door as every call, with the chain attached.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, value::RawValue};
use tokio::time::Instant;
use toolwright_sdk::{Called, HeavyPool, INLINE_BYTES_MAX, InnerCall, InnerCalls};
use tw_base::Error;
use tw_exec::{BoxFuture, DEPTH_MAX, STEPS_MAX, Wait};
use tw_identity::rights::{Permit, RunTools};
use tw_model::{
    Caller, Code, Link, Mode, Party, RunId, RunStatus, SessionId, ToolFailure, ToolResult,
    upstream_key_within,
};
use tw_registry::Tool;
use tw_store::Run;
use tw_vault::CallSecrets;

use super::{Answer, CallRequest, IdempotencyKey, record::Record};
use crate::{
    Engine,
    run_log::{KeptRefusal, WrapperSettings, look_again, raw},
};

/// How soon a call is looked at again that another replica, or an earlier try, is still at work on.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The route under which inner calls keep their answers.
pub(super) const ROUTE: &str = "inner";

/// A run, as a caller.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) engine: Engine,
    pub(super) caller: Caller,
    pub(super) run: RunId,
    pub(super) tool: Arc<Tool>,
    pub(super) session: SessionId,
    pub(super) deadline: Instant,
    /// What services outside know this run by.
    pub(super) upstream_key: String,
    /// Who changed the input of this run.
    pub(super) edited_by: Option<Party>,
    /// What its calls may hold and no record may show.
    pub(super) secrets: Option<Arc<CallSecrets>>,
    pub(super) refusals: Arc<Refusals>,
    /// The record that answers calls with effects, where a recorded run is made again.
    pub(super) record: Option<Arc<Record>>,
}

/// The calls of a run that were refused at the door. A refusal leaves no run that would answer again, and what a run
/// has built on one must still hold when it goes on.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<String, KeptRefusal>>);

impl Refusals {
    pub(crate) fn kept(refused: BTreeMap<String, KeptRefusal>) -> Self {
        Self(Mutex::new(refused))
    }

    pub(crate) fn all(&self) -> BTreeMap<String, KeptRefusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn get(&self, name: &str) -> Option<ToolFailure> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get(name).map(|refusal| ToolFailure::with_code(refusal.code, refusal.message.clone()))
    }

    fn keep(&self, name: &str, failure: ToolFailure) -> ToolFailure {
        let refusal = KeptRefusal { code: failure.code, message: failure.message.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), refusal);
        failure
    }
}

impl InnerCalls for Inner {
    fn call<'a>(&'a self, call: InnerCall<'a>) -> BoxFuture<'a, Result<Called, ToolFailure>> {
        Box::pin(async move {
            match self.refusals.get(call.name) {
                Some(refused) => Err(refused),
                None => {
                    let made = self.make(&call).await;
                    made.map_err(|failure| self.refusals.keep(call.name, failure))
                }
            }
        })
    }
}

impl Inner {
    async fn make(&self, call: &InnerCall<'_>) -> Result<Called, ToolFailure> {
        let caller = self.as_caller(call.tool)?;
        let permit = Permit::<RunTools>::check(caller).map_err(|error| refused(call.tool, &error))?;
        let input = raw(call.input);
        loop {
            let request = self.request(call, &input);
            let answer = match Box::pin(self.engine.call(&permit, request)).await {
                Ok(answer) => answer,
                // It was begun before this replica, or this try, took over.
                Err(Error::IdempotencyInFlight) => {
                    look_again(std::future::pending::<()>(), LOOK_EVERY, None).await;
                    continue;
                }
                Err(Error::ShuttingDown) => return Ok(Called::Open(Wait::Replica)),
                Err(error) => return Err(refused(call.tool, &error)),
            };
            let Answer { run, is_repeat, .. } = answer;
            // What was done before this run was resumed was paid for then.
            if is_repeat {
                self.engine.inner.budgets.give_back(permit.caller().chain[0].run);
            }
            let ids = vec![run.id];
            return Ok(match run.status {
                RunStatus::Running => continue,
                RunStatus::NeedsApproval => Called::Open(Wait::Runs { ids, needs_approval: true }),
                RunStatus::Pending => Called::Open(Wait::Runs { ids, needs_approval: false }),
                _ => Called::Ended(self.result_of(run).await),
            });
        }
    }

    fn request(&self, call: &InnerCall<'_>, input: &RawValue) -> CallRequest {
        CallRequest {
            tool: call.tool.to_owned(),
            session: Some(self.session),
            // Not longer than there is somebody at work on it.
            wait: None,
            version: None,
            mode: Mode::Production,
            unsaved: None,
            settings: call
                .settings
                .as_ref()
                .map(|sealed| WrapperSettings { tool: self.tool.def.id, sealed: Arc::clone(sealed) }),
            upstream_key: Some(upstream_key_within(&self.upstream_key, call.name)),
            idempotency: Some(IdempotencyKey {
                key: format!("{}/{}", self.run, call.name),
                route: ROUTE.to_owned(),
                body_hash: self.hash(call.tool, input),
            }),
            secrets: self.secrets.clone(),
            unwanted: None,
            progress: None,
            deadline: Some(self.deadline),
            record: self.record.clone(),
            input: input.to_owned(),
        }
    }

    /// A hash that everybody can make would tell a short secret by trying.
    fn hash(&self, tool: &str, input: &RawValue) -> [u8; 32] {
        // A script that is run again may ask another tool the same.
        let asked = format!("{tool}\n{}", input.get());
        match self.secrets {
            Some(_) => self.engine.inner.secrets.seal(&asked),
            None => *blake3::hash(asked.as_bytes()).as_bytes(),
        }
    }

    fn as_caller(&self, called: &str) -> Result<Caller, ToolFailure> {
        let mut chain = self.caller.chain.to_vec();
        let tool = self.tool.def.slug.clone();
        chain.push(Link {
            run: self.run,
            tool,
            by: Some(self.caller.party()),
            edited_by: self.edited_by.clone(),
            group: self.tool.group().map(str::to_owned),
        });
        if DEPTH_MAX <= chain.len() {
            let message =
                format!("calls must be nested at most {DEPTH_MAX} levels deep; `{called}` would be deeper");
            return Err(ToolFailure::with_code(Code::DepthExceeded, message));
        }
        if chain.iter().any(|link| link.tool.as_str().eq_ignore_ascii_case(called)) {
            let message = format!("recursion: `{called}` is already in this call chain");
            return Err(ToolFailure::with_code(Code::DepthExceeded, message));
        }
        let root = chain[0].run;
        if !self.engine.inner.budgets.spend(root) {
            let message =
                format!("one call may lead to at most {STEPS_MAX} calls, and this one has led to as many");
            return Err(ToolFailure::with_code(Code::BudgetExceeded, message));
        }
        Ok(self.caller.clone().within(chain.into()))
    }
}

impl Inner {
    /// A large output is read apart from everybody else.
    async fn result_of(&self, run: Run) -> Result<ToolResult, ToolFailure> {
        if run.output.as_ref().is_none_or(|output| output.get().len() <= INLINE_BYTES_MAX) {
            return result_of(run);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        HeavyPool::shared().run(self.caller.tenant, left, move || result_of(run)).await?
    }
}

/// What an inner call gave, or why it gave nothing.
fn result_of(run: Run) -> Result<ToolResult, ToolFailure> {
    let parsed = |text: &RawValue| serde_json::from_str::<Value>(text.get());
    let data = run.output.as_deref().map_or(Ok(Value::Null), parsed).map_err(|_| {
        let message = "its output is nested too deeply to be read by the run that called it";
        ToolFailure::with_code(Code::OutputInvalid, message)
    })?;
    let result = ToolResult { data, summary: run.summary.unwrap_or_default(), markdown: run.markdown };
    if run.status == RunStatus::Success {
        return Ok(result);
    }
    let code = run.error_code;
    let message = run.error.unwrap_or_else(|| run.status.as_str().to_owned());
    let failure = ToolFailure::with_code(code.unwrap_or(Code::ToolFailed), message);
    Err(ToolFailure { said: run.output.map(|_| Box::new(result)), ..failure })
}

/// A call that was refused, as a failure of the step that made it.
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
