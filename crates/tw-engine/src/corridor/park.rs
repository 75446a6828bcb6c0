//! Runs that stop to wait: what is kept of them, so that any replica can resume them.

use std::time::Duration;

use tokio::time::Instant;
use tw_exec::Wait;
use tw_model::{PendingCallId, PendingState, RunStatus, Timestamp, WaitsFor};
use tw_store::{
    Run,
    log::{Change, NewWait, Rejected, WaitChange},
};

use super::execute::Job;
use crate::run_log::Resumption;

impl Job {
    /// Stops to wait. From here on nobody is at work on the run, and any replica can resume it.
    pub(super) async fn park(&mut self, wait: Wait, deadline: Instant) -> Result<Run, Rejected> {
        let (status, wait) = match wait {
            Wait::Answer { by, within } => (RunStatus::Pending, self.wait_for_answer(by, within, deadline)),
            Wait::Runs { ids, needs_approval } => {
                let row = self.resumption().row(&self.tool, PendingState::Waiting);
                let status = if needs_approval { RunStatus::NeedsApproval } else { RunStatus::Pending };
                (status, NewWait { children: ids, ..row })
            }
            Wait::Replica => return self.leave_to_others().await,
        };
        let due = wait.deadline.map(|deadline| deadline.min(wait.expires));
        let run = self.stop_to_wait(status, wait).await?;
        match due {
            Some(due) if run.status.waits() => self.engine.look_at(due),
            // What it waits for may have ended in between.
            _ => self.engine.look_soon(),
        }
        Ok(run)
    }

    /// This replica is about to stop; another one resumes the run.
    pub(super) async fn leave_to_others(&mut self) -> Result<Run, Rejected> {
        let wait = self.resumption().row(&self.tool, PendingState::Ready);
        self.stop_to_wait(RunStatus::Pending, wait).await
    }

    fn wait_for_answer(&self, by: WaitsFor, within: Duration, deadline: Instant) -> NewWait {
        let lease = &self.lease;
        let resumption = Resumption {
            timeout_ms: Some(u64::try_from(lease.limit.as_millis()).unwrap_or(u64::MAX)),
            answer_schema: self.tool.def.output_schema.clone(),
            edited_by: lease.edited_by.clone(),
            sealed_input: lease.sealed_input.clone(),
            ..Resumption::new(&lease.caller, lease.mode, lease.session)
        };
        let left = deadline.saturating_duration_since(Instant::now());
        NewWait {
            id: PendingCallId::new(),
            waits_for: by,
            state: PendingState::Waiting,
            context: resumption.to_text(),
            children: Vec::new(),
            deadline: (!self.tool.def.is_async).then(|| Timestamp::now().plus(left)),
            expires: Timestamp::now().plus(within),
        }
    }

    /// What has to be known to go on after what was done so far.
    fn resumption(&self) -> Resumption {
        let lease = &self.lease;
        Resumption {
            spent: lease.spent,
            refused: self.refused(),
            edited_by: lease.edited_by.clone(),
            sealed_input: lease.sealed_input.clone(),
            wrapper: lease.settings.clone(),
            upstream_key: lease.upstream_key.clone(),
            ..Resumption::new(&lease.caller, lease.mode, lease.session)
        }
    }

    async fn stop_to_wait(&mut self, status: RunStatus, wait: NewWait) -> Result<Run, Rejected> {
        let change = Change {
            to: Some(status),
            wait: Some(WaitChange::Park(wait)),
            ..Change::expecting(self.expect())
        };
        let entry = self.change(change, None);
        let run = self.record(status);
        self.write(entry, run).await
    }
}
