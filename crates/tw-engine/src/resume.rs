//! Calls that go on after a decision or after what they waited for, and calls whose time is over. Any replica
//! does this for all.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tw_base::{Error, Result};
use tw_identity::ParkedCaller;
use tw_model::{
    ApprovalId, ApprovalStatus, Caller, Code, PendingCallId, PendingState, RunStatus, TenantId, Timestamp,
    WaitsFor,
};
use tw_store::{
    Approval, PendingCall, Run,
    log::{ApprovalDecision, Change, Entry, Expect, Rejected, WaitChange},
};

use crate::{
    Engine,
    corridor::{
        Refusals,
        execute::{Job, Lease},
        gate::{Cleared, Gate},
        resolve::{Parked, Subject},
    },
    flights::Boarding,
    run_log::{self, End, Reason, Resumption, RunIdentity, Starting},
};

/// How many waiting calls are read at a time.
const LOOK_MOST: usize = 100;
/// How often a call is resumed again at once because its tenant changed under it; then the next look
/// has it.
const TRIES_MAX: usize = 8;
/// How long a resumed run waits for a slot in its concurrency group before it is left to the next look.
const SLOT_PATIENCE: Duration = Duration::from_secs(600);
const CLAIM_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// What came of taking a call up.
enum ResumeOutcome {
    /// It has run, was ended, or is somebody else's.
    Over,
    /// Rights or tool changed between reading them and writing the start.
    TenantChanged,
}

/// A run that is resumed, with what it needs beside its tool and input.
struct ToResume {
    run: Run,
    caller: Caller,
    kept: Resumption,
    /// Whether it begins now rather than goes on.
    begins: bool,
}

/// Whose an approved call is.
enum Claimed {
    Ours { lease_epoch: i64 },
    Theirs,
    TenantChanged,
}

/// The caller of a parked call with the rights it has today, and what else was kept of the call.
pub(crate) async fn resumed_caller(
    engine: &Engine,
    run: &Run,
    context: &str,
) -> Result<(Caller, Resumption)> {
    let mut kept = Resumption::read(context)?;
    if let Some(sealed) = &kept.sealed_input {
        kept.opened = Some(engine.inner.vault.open_call(run.tenant, run.id, sealed).await?);
    }
    let parked = ParkedCaller {
        principal: kept.principal.clone(),
        display_name: kept.display_name.clone(),
        role: kept.role,
        source: kept.source,
        channel: kept.channel,
        chain: kept.chain.clone(),
        trace: kept.trace.clone(),
    };
    Ok((engine.inner.identity.of_parked(run.tenant, parked).await?, kept))
}

/// The waiting calls that this replica is busy with.
#[derive(Debug, Default)]
pub(crate) struct Resuming(Mutex<HashSet<PendingCallId>>);

/// One of them, until dropped.
#[derive(Debug)]
struct Entered<'a>(&'a Resuming, PendingCallId);

impl Resuming {
    fn has(&self, id: PendingCallId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    fn enter(&self, id: PendingCallId) -> Option<Entered<'_>> {
        let new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        // Made only when it is ours: dropping one takes the call off the list.
        new.then(|| Entered(self, id))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.1);
    }
}

impl Engine {
    /// Takes a decided call up at once, rather than at the next look.
    pub(crate) fn resume_soon(&self, tenant: TenantId, id: PendingCallId) {
        let engine = self.clone();
        tokio::spawn(async move { engine.resume_pending(tenant, id).await });
    }

    /// Looks after what waits at once.
    pub(crate) fn look_soon(&self) {
        self.look_at(Timestamp::now());
    }

    /// Looks after what waits at a moment, rather than at the look after it.
    pub(crate) fn look_at(&self, due: Timestamp) {
        let engine = self.clone();
        let left = u64::try_from(due.micros() - Timestamp::now().micros()).unwrap_or_default();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_micros(left)).await;
            if !engine.inner.flights.is_closed()
                && let Err(error) = engine.look_after_waiting().await
            {
                tracing::debug!(%error, "waiting calls could not be looked after");
            }
        });
    }

    /// A run is over: whoever waits for it goes on.
    pub(crate) fn has_ended(&self, run: &Run) {
        match run.parent {
            None => self.inner.budgets.close(run.id),
            // One that is at work here waits for it, or stops to wait and then looks itself.
            Some(parent) if self.inner.flights.holds(parent) => {}
            Some(_) => self.look_soon(),
        }
    }

    /// Takes up what may go on and ends what has run out of time.
    pub(crate) async fn look_after_waiting(&self) -> Result<()> {
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        let mut after = None;
        // To the end: those in front may only wait for a place, and must not keep those behind from their time.
        loop {
            let due = self.inner.store.due_pending(now, after, LOOK_MOST).await;
            let due = due.map_err(Error::store("looking for due calls"))?;
            let is_last = due.len() < LOOK_MOST;
            after = due.last().copied();
            for (tenant, id) in due {
                if !self.inner.resuming.has(id) {
                    self.resume_soon(tenant, id);
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    async fn resume_pending(&self, tenant: TenantId, id: PendingCallId) {
        if self.inner.flights.is_closed() {
            return;
        }
        // The next look finds it again while it waits here for a place in its concurrency group.
        let Some(_mine) = self.inner.resuming.enter(id) else { return };
        for _ in 0..TRIES_MAX {
            match self.try_resume(tenant, id).await {
                Ok(ResumeOutcome::Over) => return,
                Ok(ResumeOutcome::TenantChanged) => {}
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, call = %id, "a waiting call was not resumed");
                    return;
                }
            }
        }
    }

    async fn try_resume(&self, tenant: TenantId, id: PendingCallId) -> Result<ResumeOutcome> {
        self.announce().await?;
        let scope = self.inner.store.tenant(tenant);
        let call = scope.pending_call(id).await.map_err(Error::store("reading a pending call"))?;
        let Some(call) = call else { return Ok(ResumeOutcome::Over) };
        let run = scope.run(call.run).await.map_err(Error::store("reading a run"))?;
        let Some(run) = run else { return Ok(ResumeOutcome::Over) };
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        match call.waits_for {
            WaitsFor::Worker | WaitsFor::Person => {
                self.end_unanswered(&call, &run, now).await?;
                return Ok(ResumeOutcome::Over);
            }
            WaitsFor::Child => return self.go_on(&call, run).await,
            WaitsFor::Approval => {}
        }
        let approval = scope.approval(ApprovalId::from_uuid(id.uuid())).await;
        let Some(approval) = approval.map_err(Error::store("reading an approval"))? else {
            return Ok(ResumeOutcome::Over);
        };
        match approval.state {
            PendingState::Waiting
                if approval.status == ApprovalStatus::Pending && approval.expires <= now =>
            {
                let end = End::void(Reason::Expired, "nobody decided in time");
                self.end_parked(&run, RunStatus::NeedsApproval, ApprovalStatus::Expired, end).await?;
            }
            PendingState::Ready => return self.resume(&approval, run).await,
            _ => {}
        }
        Ok(ResumeOutcome::Over)
    }

    /// Takes up a run that waited for runs of its own.
    async fn go_on(&self, call: &PendingCall, run: Run) -> Result<ResumeOutcome> {
        if !run.status.waits() || !matches!(call.state, PendingState::Waiting | PendingState::Ready) {
            return Ok(ResumeOutcome::Over);
        }
        let waited_for = if call.state == PendingState::Waiting { call.children.as_slice() } else { &[] };
        for child in waited_for {
            let child = self.inner.store.tenant(run.tenant).run(*child).await;
            if child.map_err(Error::store("reading a run"))?.is_some_and(|child| child.status.is_open()) {
                return Ok(ResumeOutcome::Over);
            }
        }
        let (caller, kept) = match resumed_caller(self, &run, &call.context).await {
            Ok(resumed) => resumed,
            Err(Error::Unauthenticated { why }) => {
                return self.cannot_go_on(&run, Code::NotPermitted, why).await;
            }
            Err(error) => return Err(error),
        };
        let view = self.inner.catalogue.view(run.tenant, caller.epoch).await?;
        let (begun, edited_by) = (kept.begun.as_ref(), kept.edited_by.as_ref());
        let subject = Subject::Begun { tool: run.tool_id, begun, mode: kept.mode, edited_by };
        let empty = run_log::raw(&serde_json::Value::Null);
        let input = run.input.as_deref().unwrap_or(&empty);
        let (opened, secrets) = kept.opened_input();
        let input = opened.as_deref().unwrap_or(input);
        let cleared = match self.walk(&caller, &view, subject, input, secrets).await {
            Ok(Gate::Clear(cleared)) => cleared,
            Ok(Gate::Ask(_)) => {
                let why = "the call would need approval now, so the run cannot go on";
                return self.cannot_go_on(&run, Code::NotPermitted, why).await;
            }
            Err(error) if is_of_this_moment(&error) => return Err(error),
            Err(error) => return self.cannot_go_on(&run, error.code(), &error.to_string()).await,
        };
        let caller = caller.as_of(view.epoch);
        self.run_again(ToResume { run, caller, kept, begins: false }, cleared).await
    }

    /// Ends a run that waited and cannot go on.
    async fn cannot_go_on(&self, run: &Run, code: Code, why: &str) -> Result<ResumeOutcome> {
        let ended = End::failed(code, why).of(run.id, &run.tool, None);
        let change = Change { wait: Some(WaitChange::Over), ..ended.change(Expect::Status(run.status)) };
        let entry = RunIdentity::by_the_system(run).change(change, vec![ended.event]);
        match self.inner.log.append(entry).await {
            Ok(_) => self.has_ended(run),
            Err(Rejected::Status { .. }) => {}
            Err(source) => return Err(Error::Record { source }),
        }
        Ok(ResumeOutcome::Over)
    }

    /// Ends a parked run by itself, with what becomes of its approval.
    pub(crate) async fn end_parked(
        &self,
        run: &Run,
        expected: RunStatus,
        approval: ApprovalStatus,
        end: End,
    ) -> Result<()> {
        let ended = end.of(run.id, &run.tool, None);
        let decision = ApprovalDecision {
            status: approval,
            by: None,
            note: None,
            changes: None,
            input: None,
            standing: None,
        };
        let change = Change { decision: Some(decision), ..ended.change(Expect::Status(expected)) };
        let entry = RunIdentity::by_the_system(run).change(change, vec![ended.event]);
        match self.inner.log.append(entry).await {
            // Somebody else was quicker, which is as good.
            Ok(_) | Err(Rejected::Status { .. }) => Ok(()),
            Err(source) => Err(Error::Record { source }),
        }
    }

    /// Runs an approved call, if it is still the call that was approved.
    async fn resume(&self, approval: &Approval, run: Run) -> Result<ResumeOutcome> {
        let resumed = resumed_caller(self, &run, &approval.context).await;
        let (caller, kept) = match resumed {
            Ok(resumed) => resumed,
            Err(Error::Unauthenticated { why }) => {
                self.end_parked(
                    &run,
                    RunStatus::Pending,
                    ApprovalStatus::Cancelled,
                    End::void(Reason::NotPermitted, why),
                )
                .await?;
                return Ok(ResumeOutcome::Over);
            }
            Err(error) => return Err(error),
        };
        let view = self.inner.catalogue.view(run.tenant, caller.epoch).await?;
        let parked = Parked { approval, run: &run, kept: &kept };
        match self.clear_approved(&caller, &view, parked).await {
            Ok(cleared) => {
                let caller = caller.as_of(view.epoch);
                self.run_again(ToResume { run, caller, kept, begins: true }, cleared).await
            }
            Err(error) if is_of_this_moment(&error) => Err(error),
            Err(error) => {
                let end = match error {
                    Error::Superseded => {
                        End::void(Reason::Superseded, "the tool has changed since it was approved")
                    }
                    error => End::void(Reason::NotPermitted, error.to_string()),
                };
                self.end_parked(&run, RunStatus::Pending, ApprovalStatus::Cancelled, end).await?;
                Ok(ResumeOutcome::Over)
            }
        }
    }

    /// Walks the corridor again with the approved input: seal, rights and schema as they are now. An approver who
    /// changed the input has to have the right to make the call at this moment too.
    async fn clear_approved(
        &self,
        caller: &Caller,
        view: &tw_registry::View,
        parked: Parked<'_>,
    ) -> Result<Cleared> {
        let (opened, secrets) = parked.kept.opened_input();
        let input = opened.as_deref().unwrap_or(&parked.approval.input);
        match self.walk(caller, view, Subject::Approved(parked), input, secrets).await? {
            Gate::Clear(cleared) => Ok(cleared),
            Gate::Ask(_) => Err(Error::Superseded),
        }
    }

    /// Makes a run that nobody is at work on this replica's, and works on it.
    async fn run_again(&self, taken: ToResume, cleared: Cleared) -> Result<ResumeOutcome> {
        let ToResume { run, caller, kept, begins } = taken;
        let tool = Arc::clone(cleared.tool());
        let slot = self.inner.slots.take(&caller, &tool, SLOT_PATIENCE).await?;
        // A server that is about to stop leaves the call to the others.
        let Some(boarding) = self.inner.flights.board(run.tenant, run.id) else {
            return Ok(ResumeOutcome::Over);
        };
        let (id, session, mode) = (run.id, run.session, kept.mode);
        // Its row says from now on how it is resumed if this server dies, as that of a run that was not asked about.
        let resumable = begins && tool.executor.is_resumable();
        let wait = resumable.then(|| {
            let resumption = Resumption {
                edited_by: kept.edited_by.clone(),
                wrapper: kept.wrapper.clone(),
                sealed_input: kept.sealed_input.clone(),
                upstream_key: kept.upstream_key.clone(),
                ..Resumption::new(&caller, mode, session)
            };
            WaitChange::Park(resumption.row(&tool, PendingState::Claimed))
        });
        let change = Change {
            to: Some(RunStatus::Running),
            claimed_by: Some(self.inner.store.replica()),
            epoch: Some(caller.epoch),
            wait,
            ..Change::expecting(Expect::Status(run.status))
        };
        let starting = Starting { caller: &caller, tool: &tool, run: id, session, mode };
        let event = begins.then(|| starting.event(cleared.text()));
        let entry = starting.identity().change(change, event.into_iter().collect());
        let started = if begins { entry.at } else { run.listed() };
        let lease_epoch = match self.claim(entry, &boarding).await? {
            Claimed::Ours { lease_epoch } => lease_epoch,
            Claimed::Theirs => return Ok(ResumeOutcome::Over),
            Claimed::TenantChanged => return Ok(ResumeOutcome::TenantChanged),
        };
        if begins {
            self.observe_wait(&run, caller.trace.as_deref(), "wait for approval", [run.requested, started]);
        }
        if tool.executor.is_resumable() && !self.inner.budgets.is_open(run.root) {
            let spent = self.inner.store.tenant(run.tenant).count_below(run.root).await;
            self.inner.budgets.open(run.root, spent.map_err(Error::store("counting inner runs"))?);
        }
        let lease = Lease {
            caller,
            run: id,
            session,
            mode,
            started,
            lease_epoch,
            starting: None,
            boarding,
            slot,
            limit: tool.def.timeout(),
            spent: kept.spent,
            refusals: Refusals::kept(kept.refused),
            settings: kept.wrapper,
            sealed_input: kept.sealed_input,
            upstream_key: kept.upstream_key,
            progress: None,
            edited_by: kept.edited_by,
            record: None,
        };
        match Job::new(self.clone(), cleared, lease).run().await {
            Ok(_) => Ok(ResumeOutcome::Over),
            Err(source) => Err(Error::Record { source }),
        }
    }

    /// Writes the start of an approved call, which is the claim to it.
    ///
    /// A database that broke off leaves a doubt whether the start is there. It is not left to anybody
    /// else: a start of ours that was written must have somebody who runs it.
    async fn claim(&self, entry: Entry, boarding: &Boarding) -> Result<Claimed> {
        let scope = self.inner.store.tenant(entry.tenant);
        let mut doubtful = false;
        loop {
            let rejected = match self.inner.log.append(entry.clone()).await {
                Ok(claimed) => return Ok(Claimed::Ours { lease_epoch: claimed.lease_epoch }),
                Err(rejected) => rejected,
            };
            match &rejected {
                Rejected::Status { .. } | Rejected::Stale { .. } if doubtful => {
                    let run = scope.run(entry.run).await.map_err(Error::store("reading a run"))?;
                    let ours = |run: &Run| run.replica == Some(self.inner.store.replica());
                    if let Some(run) = run.filter(ours) {
                        return Ok(Claimed::Ours { lease_epoch: run.lease_epoch });
                    }
                }
                Rejected::Failed(error) if error.is_retryable() => {
                    doubtful = true;
                    tokio::select! {
                        () = tokio::time::sleep(CLAIM_AGAIN_AFTER) => continue,
                        () = boarding.cancel.cancelled() => return Err(Error::Record { source: rejected }),
                    }
                }
                _ => {}
            }
            return match rejected {
                Rejected::Status { .. } => Ok(Claimed::Theirs),
                Rejected::Stale { .. } => Ok(Claimed::TenantChanged),
                source => Err(Error::Record { source }),
            };
        }
    }
}

/// Whether what a call was refused for is this server's doing and will pass, so that it is tried again: the database is
/// away, the tenant has too much costly work waiting, the server is about to stop, or only a newer program knows the kind.
fn is_of_this_moment(error: &Error) -> bool {
    matches!(
        error,
        Error::Store { .. }
            | Error::Record { .. }
            | Error::RateLimited { .. }
            | Error::UnknownKind { .. }
            | Error::ShuttingDown
    )
}
