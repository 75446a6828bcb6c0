//! Runs that stop to wait: what is kept of them, so that anybody can go on.

use std::time::Duration;

use tokio::time::Instant;
use tw_model::{PendingCallId, RunStatus, Timestamp, WaitsFor};
use tw_store::{
    Run,
    log::{Change, Expect, NewWait, Rejected, Step, WaitChange, WaitState},
};

use super::{
    execute::Job,
    record::{Begun, Resumption},
};
use crate::{catalogue::Tool, kinds::Wait};

/// The row by which a run that was cut off is known to be one that goes on.
pub(crate) fn going_on(resumption: Resumption, tool: &Tool, state: WaitState) -> NewWait {
    let begun = |content_hash: &String| Begun {
        content_hash: content_hash.clone(),
        version: tool.version.to_string(),
    };
    let resumption = Resumption { begun: tool.content_hash.as_ref().map(begun), ..resumption };
    NewWait {
        id: PendingCallId::new(),
        waits_for: WaitsFor::Child,
        state,
        context: resumption.to_text(),
        children: Vec::new(),
        deadline: None,
        // What it waits for runs out of time by itself.
        expires: Timestamp::from_micros(i64::MAX),
    }
}

impl Job {
    /// Stops to wait. From here on nobody is at work on the run, and anybody can go on with it.
    pub(super) async fn park(&mut self, wait: Wait, deadline: Instant) -> Result<Run, Rejected> {
        let (status, wait) = match wait {
            Wait::Answer { by, within } => (RunStatus::Pending, self.wait_for_answer(by, within, deadline)),
            Wait::Run { id, needs_approval } => {
                let row = going_on(self.resumption(), &self.tool, WaitState::Waiting);
                let status = if needs_approval { RunStatus::NeedsApproval } else { RunStatus::Pending };
                (status, NewWait { children: vec![id], ..row })
            }
            Wait::Others => return self.leave_to_others().await,
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

    /// This server is about to stop; another goes on.
    pub(super) async fn leave_to_others(&mut self) -> Result<Run, Rejected> {
        let wait = going_on(self.resumption(), &self.tool, WaitState::Ready);
        self.stop_to_wait(RunStatus::Pending, wait).await
    }

    fn wait_for_answer(&self, by: WaitsFor, within: Duration, deadline: Instant) -> NewWait {
        let resumption = Resumption {
            timeout_ms: Some(u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX)),
            answer_schema: self.tool.def.output_schema.clone(),
            ..Resumption::new(&self.caller, self.mode, self.session)
        };
        let left = deadline.saturating_duration_since(Instant::now());
        NewWait {
            id: PendingCallId::new(),
            waits_for: by,
            state: WaitState::Waiting,
            context: resumption.to_text(),
            children: Vec::new(),
            deadline: (!self.tool.def.is_async).then(|| Timestamp::now().plus(left)),
            expires: Timestamp::now().plus(within),
        }
    }

    /// What has to be known to go on after what was done so far.
    fn resumption(&self) -> Resumption {
        Resumption {
            spent: self.spent,
            refused: self.refusals.all(),
            ..Resumption::new(&self.caller, self.mode, self.session)
        }
    }

    async fn stop_to_wait(&mut self, status: RunStatus, wait: NewWait) -> Result<Run, Rejected> {
        let change = Change {
            expect: Expect::Lease(self.lease_epoch),
            to: Some(status),
            finished: None,
            claimed_by: None,
            epoch: None,
            decision: None,
            wait: Some(WaitChange::Park(wait)),
        };
        let entry = self.entry(Step::Change(Box::new(change)), Vec::new());
        let run = self.engine.fresh_run(
            &self.caller,
            &self.tool,
            self.run,
            self.session,
            self.mode,
            self.started,
            status,
        );
        self.write_end(entry, run).await
    }
}
