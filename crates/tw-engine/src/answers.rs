//! Runs as their callers are told of them: how they stand, and what blocks those that wait.

use tw_base::{Error, Result};
use tw_model::{ApprovalId, PendingState, RunId, RunStatus, TenantId, WaitsFor};
use tw_store::{PendingCall, Run};

use crate::{Engine, corridor::Answer};

impl Engine {
    /// A run as its caller is told of it.
    pub(crate) async fn answer_of(&self, run: Run) -> Result<Answer> {
        let pending = match run.status {
            RunStatus::Pending | RunStatus::NeedsApproval | RunStatus::TimedOut => {
                self.pending_call_of(run.tenant, run.id).await?
            }
            _ => None,
        };
        let approval = match &pending {
            Some(call) if run.status == RunStatus::NeedsApproval => {
                self.approval_below(run.tenant, call).await?
            }
            _ => None,
        };
        // One of several that it waits for may be decided on while others wait for somebody else.
        let waits_outside = run.status.waits() && approval.is_none();
        let pending = match pending {
            Some(call) if waits_outside => Some(self.call_below(run.tenant, call).await?),
            pending => pending,
        };
        Ok(Answer { run, approval, pending, is_repeat: false })
    }

    /// What has to be decided before a run goes on: about itself, or about what it waits for. The first that nobody has
    /// decided; without one, the first that was decided and has not run yet.
    async fn approval_below(&self, tenant: TenantId, call: &PendingCall) -> Result<Option<ApprovalId>> {
        let mut decided = None;
        let mut below = Below::of(call);
        while let Some(call) = below.next(self, tenant).await? {
            let id = Some(ApprovalId::from_uuid(call.id.uuid()));
            match (call.waits_for, call.state) {
                (WaitsFor::Approval, PendingState::Waiting) => return Ok(id),
                (WaitsFor::Approval, PendingState::Ready | PendingState::Claimed) => decided = decided.or(id),
                _ => {}
            }
        }
        Ok(decided)
    }

    /// The pending call that blocks a run: its own, or the first that is open of the runs it waits for.
    async fn call_below(&self, tenant: TenantId, call: PendingCall) -> Result<PendingCall> {
        let scope = self.inner.store.tenant(tenant);
        let mut below = Below::of(&call);
        while let Some(found) = below.next(self, tenant).await? {
            if !found.is_open() {
                continue;
            }
            // One whose own time is over is waited for by nobody, although it may still be answered.
            let waiting = scope.run(found.run).await.map_err(Error::store("reading a run"))?;
            if waiting.is_some_and(|run| run.status == RunStatus::Pending) {
                return Ok(found);
            }
        }
        Ok(call)
    }

    async fn pending_call_of(&self, tenant: TenantId, run: RunId) -> Result<Option<PendingCall>> {
        let call = self.inner.store.tenant(tenant).pending_call_of(run).await;
        call.map_err(Error::store("reading a pending call"))
    }
}

/// A pending call and those of all runs that it waits for, each before what it waits for itself.
struct Below {
    first: Option<PendingCall>,
    /// Whose calls come then, from the last one on.
    runs: Vec<RunId>,
}

impl Below {
    fn of(call: &PendingCall) -> Self {
        Self { first: Some(call.clone()), runs: Vec::new() }
    }

    async fn next(&mut self, engine: &Engine, tenant: TenantId) -> Result<Option<PendingCall>> {
        let mut next = self.first.take();
        while next.is_none()
            && let Some(run) = self.runs.pop()
        {
            // A run that has ended may have left none.
            next = engine.pending_call_of(tenant, run).await?;
        }
        if let Some(call) = &next
            && call.waits_for == WaitsFor::Child
            && call.state == PendingState::Waiting
        {
            self.runs.extend(call.children.iter().rev());
        }
        Ok(next)
    }
}
