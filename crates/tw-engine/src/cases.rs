//! The calls of test cases: calls like any other, in the mode `debug`, that nobody is kept waiting for.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;
use toolwright_sdk::{BoxFuture, Filters};
use tw_base::{Error, Result};
use tw_identity::rights::{Permit, RunTools};
use tw_model::{Mode, RunStatus, TenantId, ToolFailure};
use tw_registry::{Against, CaseCall, CaseEnd, CaseRunner, Outcome, Unsaved};
use tw_store::Run;

use crate::{CallRequest, Engine, Inside, corridor::record::Record};

/// The engine, for the registry that it has.
pub(crate) struct CaseCalls(Weak<Inside>);

impl fmt::Debug for CaseCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseCalls").finish_non_exhaustive()
    }
}

impl CaseCalls {
    pub(crate) fn of(inside: &Arc<Inside>) -> Self {
        Self(Arc::downgrade(inside))
    }

    fn engine(&self) -> Result<Engine> {
        self.0.upgrade().map(|inner| Engine { inner }).ok_or(Error::ShuttingDown)
    }
}

impl CaseRunner for CaseCalls {
    fn call<'a>(&'a self, permit: &'a Permit<RunTools>, call: CaseCall) -> BoxFuture<'a, Result<CaseEnd>> {
        Box::pin(async move {
            match self.engine()?.call_and_tell(permit, call, None).await {
                Err(error) if is_about_the_input(&error) => Ok(refused(&error)),
                ended => ended,
            }
        })
    }

    fn jq<'a>(
        &'a self,
        tenant: TenantId,
        filter: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Vec<Value>, ToolFailure>> {
        Box::pin(async move {
            let engine = self.engine().map_err(|error| ToolFailure::new(error.to_string()))?;
            let filters = engine.inner.services.get::<dyn Filters>().cloned();
            let filters = filters.ok_or_else(|| ToolFailure::new("this server cannot run jq filters"))?;
            filters.jq(tenant, filter, input).await
        })
    }

    fn check_jq(&self, filter: &str) -> Result<(), String> {
        tw_sandbox::check_jq(filter).map_err(|error| error.to_string())
    }
}

impl Engine {
    /// Calls a tool and says what came of it. Whoever hangs up must not leave a call behind that waits for somebody.
    pub(crate) async fn call_and_tell(
        &self,
        permit: &Permit<RunTools>,
        call: CaseCall,
        record: Option<Arc<Record>>,
    ) -> Result<CaseEnd> {
        let (engine, permit) = (self.clone(), permit.clone());
        let called = tokio::spawn(async move { engine.call_case(&permit, call, record).await });
        called.await.unwrap_or_else(|error| Err(Error::internal("running a test case", error)))
    }

    async fn call_case(
        &self,
        permit: &Permit<RunTools>,
        call: CaseCall,
        record: Option<Arc<Record>>,
    ) -> Result<CaseEnd> {
        let CaseCall { tool, against, input, secrets, until } = call;
        let (version, unsaved) = match against {
            Against::Saved => (None, None),
            Against::Version(number) => (Some(number), None),
            Against::Draft(entry) => (None, Some(Unsaved::Draft(entry))),
        };
        let request = CallRequest {
            tool: tool.to_string(),
            input,
            session: None,
            // As long as the tool may take, and not at all for a decision.
            wait: None,
            version,
            mode: Mode::Debug,
            unsaved,
            settings: None,
            secrets,
            upstream_key: None,
            idempotency: None,
            unwanted: None,
            progress: None,
            deadline: Some(until),
            record,
        };
        let answer = self.call(permit, request).await?;
        let run = self.ended_or_taken_back(permit, answer.run, until).await;
        Ok(CaseEnd { run: Some(run.id), outcome: outcome_of(&run)? })
    }

    /// Waits for a run that goes on by itself. One that waits for somebody who may take days, or longer than there is
    /// time, is cancelled: no approval and no pending call stay open for a test. Returns the run as it stood before
    /// that.
    async fn ended_or_taken_back(&self, permit: &Permit<RunTools>, run: Run, until: Instant) -> Run {
        let enough = |run| Box::pin(self.takes_long(run)) as BoxFuture<'_, bool>;
        let left = until.saturating_duration_since(Instant::now());
        let run = match run.status {
            RunStatus::Pending | RunStatus::Running if left != Duration::ZERO => {
                self.inner.log.wait_until(run, left, &enough).await
            }
            _ => run,
        };
        if run.status.is_open() {
            self.cancel_unwanted(permit.caller().clone(), run.id).await;
        }
        run
    }
}

/// What came of a run, as its record shows it.
pub(crate) fn outcome_of(run: &Run) -> Result<Outcome> {
    let output = run.output.as_deref().map(|output| serde_json::from_str(output.get()));
    let output = output.transpose().map_err(|error| Error::internal("reading an output", error))?;
    Ok(Outcome {
        status: run.status,
        output: output.unwrap_or_default(),
        error: run.error.clone(),
        error_code: run.error_code.map(|code| code.to_string()),
    })
}

/// Whether a refusal says something about one case: its input, or the moment. What is refused for the tool or the
/// caller is refused for all of them.
pub(crate) fn is_about_the_input(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidParams { .. }
            | Error::MissingParam { .. }
            | Error::Refused(_)
            | Error::Conflict { .. }
            | Error::CredentialMissing { .. }
            | Error::RateLimited { .. }
            | Error::OverLimit { .. }
    )
}

/// A call that was refused has ended with an error, without a run.
pub(crate) fn refused(error: &Error) -> CaseEnd {
    let outcome = Outcome {
        status: RunStatus::Error,
        output: Value::Null,
        error: Some(error.to_string()),
        error_code: Some(error.code().to_string()),
    };
    CaseEnd { run: None, outcome }
}
