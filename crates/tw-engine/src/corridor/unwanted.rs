//! Callers who no longer want what they called (ADR 0019).

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tw_base::{Error, Result};
use tw_model::{Caller, RunId, RunStatus, TenantId, WaitsFor};
use tw_store::Run;

use crate::Engine;

/// How soon after its future is dropped a caller says that it hung up on purpose. A door that says so does it while it
/// drops the future; a client of an earlier revision hangs up and comes back, and its signal stays silent.
const SAYS_SO_WITHIN: Duration = Duration::from_secs(1);

/// A call whose caller was not answered yet. Dropped in this state, it is taken back if the caller says so.
///
/// Whoever hangs up drops the future of the call. A run at work hears the signal itself; one that waits belongs to
/// nobody who could.
#[derive(Debug)]
pub(super) struct Unanswered<'a> {
    pub(super) engine: &'a Engine,
    pub(super) caller: &'a Caller,
    pub(super) run: RunId,
    pub(super) unwanted: Option<&'a CancellationToken>,
}

impl Unanswered<'_> {
    pub(super) fn answered(mut self) {
        self.unwanted = None;
    }
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        let Some(unwanted) = self.unwanted.cloned() else { return };
        let (engine, caller, run) = (self.engine.clone(), self.caller.clone(), self.run);
        tokio::spawn(async move {
            if tokio::time::timeout(SAYS_SO_WITHIN, unwanted.cancelled()).await.is_ok() {
                engine.take_back(caller, run).await;
            }
        });
    }
}

impl Engine {
    /// Waits with the caller of a run, and cancels the run if they say meanwhile that they do not want it any more.
    pub(super) async fn wait_while_wanted(
        &self,
        caller: &Caller,
        run: RunId,
        unwanted: Option<&CancellationToken>,
        wait: impl Future<Output = Run> + Send,
    ) -> Run {
        let Some(unwanted) = unwanted else { return wait.await };
        tokio::pin!(wait);
        tokio::select! {
            biased;
            run = &mut wait => run,
            () = unwanted.cancelled() => {
                self.cancel_unwanted(caller.clone(), run).await;
                wait.await
            }
        }
    }

    /// Cancels a run whose caller hung up, unless a person has it in their inbox: a lost connection is more likely than
    /// a changed mind.
    async fn take_back(&self, caller: Caller, run: RunId) {
        match self.is_in_an_inbox(caller.tenant, run).await {
            Ok(true) => {}
            Ok(false) => self.cancel_unwanted(caller, run).await,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, run_id = %run, "not taken back");
            }
        }
    }

    /// Whether a person has to decide or answer before the run goes on.
    async fn is_in_an_inbox(&self, tenant: TenantId, run: RunId) -> Result<bool> {
        let run = self.inner.store.tenant(tenant).run(run).await.map_err(Error::store("reading a run"))?;
        Ok(match run {
            Some(run) if run.status == RunStatus::NeedsApproval => true,
            Some(run) if run.status == RunStatus::Pending => {
                let pending = self.answer_of(run).await?.pending;
                pending.is_some_and(|call| call.waits_for == WaitsFor::Person)
            }
            _ => false,
        })
    }
}
