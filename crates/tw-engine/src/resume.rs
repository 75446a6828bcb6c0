//! Calls that go on after a decision or after what they waited for, and calls whose time is over. Any replica
//! does this for all.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tw_model::{
    ApprovalId, Caller, Code, EventKind, PendingCallId, RunStatus, TenantId, Timestamp, WaitsFor,
};
use tw_store::{
    Approval, PendingCall, Run,
    log::{Change, Entry, Expect, NewEvent, Rejected, Step, WaitChange},
};

use crate::{
    Engine,
    approvals::{end_waiting, has_expired},
    catalogue::Tool,
    chain::Refusals,
    corridor::{
        authorize,
        execute::{Job, started_event},
        gate, payload,
        record::{self, Resumption},
    },
    error::{Error, Result},
    flights::Boarding,
    settle::{self, Failure, RunIdentity},
};

/// How many waiting calls are read at a time.
const LOOK_MOST: usize = 100;
/// How often a call is taken up again at once because its tenant changed under it; then the next look
/// has it.
const TRIES_MAX: usize = 8;
const CLAIM_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// What came of taking a call up.
enum TakenUp {
    /// It has run, was ended, or is somebody else's.
    Over,
    /// Rights or tool changed between reading them and writing the start.
    TenantChanged,
}

/// What a run that is taken up runs.
struct Started {
    tool: Arc<Tool>,
    input: Value,
    /// That it begins, where it has not begun before.
    event: Option<NewEvent>,
}

/// Whose an approved call is.
enum Claimed {
    Ours { lease_epoch: i64 },
    Theirs,
    TenantChanged,
}

/// What was kept of a parked call.
pub(crate) fn kept(context: &str) -> Result<Resumption> {
    serde_json::from_str(context).map_err(|_| Error::Store {
        doing: "reading a parked call",
        source: tw_store::Error::Corrupt { what: "the context of a pending call".to_owned() },
    })
}

/// The caller of a parked call with the rights it has today, and what else was kept of the call.
pub(crate) async fn resumed_caller(
    engine: &Engine,
    tenant: TenantId,
    context: &str,
) -> Result<(Caller, Resumption)> {
    let kept = kept(context)?;
    let epoch = engine.inner.identity.epochs.ask(tenant).await?;
    let view = engine.inner.catalogue.view(tenant, epoch).await?;
    let caller = Caller {
        tenant,
        tenant_slug: view.slug().clone(),
        principal: kept.principal.clone(),
        display_name: kept.display_name.as_str().into(),
        role: kept.role,
        permissions: tw_model::PermissionSet::default(),
        source: kept.source,
        channel: kept.channel,
        key: None,
        login: None,
        epoch: view.epoch,
        chain: kept.chain.clone().into(),
        trace: kept.trace.clone().map(Arc::new),
    };
    Ok((engine.inner.identity.by_principal(&caller).await?, kept))
}

/// The waiting calls that this replica is busy with.
#[derive(Debug, Default)]
pub(crate) struct TakingUp(Mutex<HashSet<PendingCallId>>);

/// One of them, until dropped.
#[derive(Debug)]
struct Entered<'a>(&'a TakingUp, PendingCallId);

impl TakingUp {
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
        tokio::spawn(async move { engine.take_up(tenant, id).await });
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
                if !self.inner.taking_up.has(id) {
                    self.resume_soon(tenant, id);
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    async fn take_up(&self, tenant: TenantId, id: PendingCallId) {
        if self.inner.flights.is_closed() {
            return;
        }
        // The next look finds it again while it waits here for a place in its concurrency group.
        let Some(_mine) = self.inner.taking_up.enter(id) else { return };
        for _ in 0..TRIES_MAX {
            match self.try_take_up(tenant, id).await {
                Ok(TakenUp::Over) => return,
                Ok(TakenUp::TenantChanged) => {}
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, call = %id, "a waiting call was not taken up");
                    return;
                }
            }
        }
    }

    async fn try_take_up(&self, tenant: TenantId, id: PendingCallId) -> Result<TakenUp> {
        self.announce().await?;
        let scope = self.inner.store.tenant(tenant);
        let call = scope.pending_call(id).await.map_err(Error::store("reading a pending call"))?;
        let Some(call) = call else { return Ok(TakenUp::Over) };
        let run = scope.run(call.run).await.map_err(Error::store("reading a run"))?;
        let Some(run) = run else { return Ok(TakenUp::Over) };
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        match call.waits_for {
            WaitsFor::Worker | WaitsFor::Person => {
                self.end_unanswered(&call, &run, now).await?;
                return Ok(TakenUp::Over);
            }
            WaitsFor::Child => return self.go_on(&call, run).await,
            WaitsFor::Approval => {}
        }
        let approval = scope.approval(ApprovalId::from_uuid(id.uuid())).await;
        let Some(approval) = approval.map_err(Error::store("reading an approval"))? else {
            return Ok(TakenUp::Over);
        };
        match approval.state.as_str() {
            "waiting" if has_expired(&approval, now) => self.expire(&approval, &run).await?,
            "ready" => return self.resume(&approval, run).await,
            _ => {}
        }
        Ok(TakenUp::Over)
    }

    /// Takes up a run that waited for one of its own.
    async fn go_on(&self, call: &PendingCall, run: Run) -> Result<TakenUp> {
        if !run.status.waits() || !matches!(call.state.as_str(), "waiting" | "ready") {
            return Ok(TakenUp::Over);
        }
        let waited_for = if call.state == "waiting" { call.children.as_slice() } else { &[] };
        for child in waited_for {
            let child = self.inner.store.tenant(run.tenant).run(*child).await;
            if child.map_err(Error::store("reading a run"))?.is_some_and(|child| child.status.is_open()) {
                return Ok(TakenUp::Over);
            }
        }
        let (caller, kept) = match resumed_caller(self, run.tenant, &call.context).await {
            Ok(resumed) => resumed,
            Err(Error::Unauthenticated { why }) => {
                return self.cannot_go_on(&run, Code::NotPermitted, why).await;
            }
            Err(error) => return Err(error),
        };
        let view = self.inner.catalogue.view(run.tenant, caller.epoch).await?;
        let id = run.tool_id.to_string();
        let authorized = self
            .resolve(&view, &id, None, kept.mode)
            .await
            .and_then(|resolved| authorize::authorize(resolved, &caller, &view));
        let tool = match (authorized, &kept.begun) {
            (Ok(authorized), Some(begun)) => self.as_begun(&view, authorized.into_parts().0, begun).await,
            (Ok(authorized), None) => Ok(authorized.into_parts().0),
            (Err(error), _) => Err(error),
        };
        let tool = match tool {
            Ok(tool) => tool,
            Err(error @ Error::Store { .. }) => return Err(error),
            Err(error) => return self.cannot_go_on(&run, error.code(), &error.to_string()).await,
        };
        let caller = Caller { epoch: view.epoch, ..caller };
        let input = run.input.as_deref().and_then(|input| serde_json::from_str(input.get()).ok());
        let started = Started { tool, input: input.unwrap_or(Value::Null), event: None };
        self.run_again(run, caller, kept, started).await
    }

    /// Ends a run that waited and cannot go on.
    async fn cannot_go_on(&self, run: &Run, code: Code, why: &str) -> Result<TakenUp> {
        let failure = Failure {
            expect: Expect::Status(run.status),
            status: RunStatus::Error,
            code,
            message: why,
            effect: None,
            duration_us: None,
            wait: Some(WaitChange::Over),
        };
        let entry = settle::failed(RunIdentity::of_run(run), failure);
        match self.append(entry).await {
            Ok(_) => self.has_ended(run),
            Err(Rejected::Status { .. }) => {}
            Err(source) => return Err(Error::Record { source }),
        }
        Ok(TakenUp::Over)
    }

    async fn expire(&self, approval: &Approval, run: &Run) -> Result<()> {
        let message = "nobody decided in time";
        let change = end_waiting("expired", "expired", message, None, None);
        self.end_parked(approval, run, ("expired", message), change).await
    }

    async fn end_parked(
        &self,
        approval: &Approval,
        run: &Run,
        (reason, error): (&str, &str),
        change: Change,
    ) -> Result<()> {
        let event = payload::event(
            EventKind::Cancelled,
            run.id,
            &payload::Cancelled { reason, error, note: None, effect: None },
        );
        let entry = Entry {
            tenant: run.tenant,
            run: run.id,
            session: run.session,
            tool: approval.tool.as_str().into(),
            actor: r#"{"kind":"system"}"#.into(),
            at: Timestamp::now(),
            step: Step::Change(Box::new(change)),
            events: vec![event],
            audit: None,
        };
        match self.append(entry).await {
            // Somebody else was quicker, which is as good.
            Ok(_) | Err(Rejected::Status { .. }) => Ok(()),
            Err(source) => Err(Error::Record { source }),
        }
    }

    /// Runs an approved call, if it is still the call that was approved.
    async fn resume(&self, approval: &Approval, run: Run) -> Result<TakenUp> {
        let void = |reason: &str, message: &str| Change {
            expect: Expect::Status(RunStatus::Pending),
            ..end_waiting("cancelled", reason, message, None, None)
        };
        let resumed = resumed_caller(self, run.tenant, &approval.context).await;
        let (caller, kept) = match resumed {
            Ok(resumed) => resumed,
            Err(Error::Unauthenticated { why }) => {
                let change = void("not_permitted", why);
                self.end_parked(approval, &run, ("not_permitted", why), change).await?;
                return Ok(TakenUp::Over);
            }
            Err(error) => return Err(error),
        };
        match self.clear_again(approval, &run, &caller, &kept).await? {
            Ok((cleared, epoch)) => {
                let caller = Caller { epoch, ..caller };
                self.run_approved(run, caller, kept, cleared).await
            }
            Err((reason, message)) => {
                self.end_parked(approval, &run, (reason, &message), void(reason, &message)).await?;
                Ok(TakenUp::Over)
            }
        }
    }

    /// Walks the corridor again with the approved input: seal, rights and schema as they are now. The seal
    /// comes first, since nothing else of what is stored can be believed without it.
    async fn clear_again(
        &self,
        approval: &Approval,
        run: &Run,
        caller: &Caller,
        kept: &Resumption,
    ) -> Result<Result<(gate::Cleared, i64), (&'static str, String)>> {
        let view = self.inner.catalogue.view(run.tenant, caller.epoch).await?;
        let tool = self.tool_now(&view, approval.tool_id, kept.pinned.as_deref(), kept.mode).await?;
        let proof = match &tool {
            Some(tool) => self.unseal(approval, run, tool).await?,
            None => None,
        };
        let Some(proof) = proof else {
            return Ok(Err(("superseded", "what was approved is not what would run now".to_owned())));
        };
        let id = approval.tool_id.to_string();
        let authorized = self
            .resolve(&view, &id, kept.pinned.as_deref(), kept.mode)
            .await
            .and_then(|resolved| authorize::authorize(resolved, caller, &view));
        let walked = match authorized {
            Ok(authorized) => self.validate(authorized, &approval.input, caller, &view).await,
            Err(error) => Err(error),
        };
        Ok(match walked {
            Ok(valid) => Ok((gate::redeem(valid, proof), view.epoch)),
            Err(error) => Err(("not_permitted", error.to_string())),
        })
    }

    async fn run_approved(
        &self,
        run: Run,
        caller: Caller,
        kept: Resumption,
        cleared: gate::Cleared,
    ) -> Result<TakenUp> {
        let (tool, input, text) = cleared.into_parts();
        let event = started_event(&caller, &tool, run.id, kept.mode, &text);
        self.run_again(run, caller, kept, Started { tool, input, event: Some(event) }).await
    }

    /// Makes a run that nobody is at work on this server's, and works on it.
    async fn run_again(
        &self,
        run: Run,
        caller: Caller,
        kept: Resumption,
        started: Started,
    ) -> Result<TakenUp> {
        let Started { tool, input, event } = started;
        let patience = Duration::from_secs(600);
        let slot = self.inner.slots.take(&caller, &tool, patience).await?;
        // A server that is about to stop leaves the call to the others.
        let Some(boarding) = self.inner.flights.board(run.tenant, run.id) else { return Ok(TakenUp::Over) };
        let change = Change {
            expect: Expect::Status(run.status),
            to: Some(RunStatus::Running),
            finished: None,
            claimed_by: Some(self.inner.store.replica()),
            epoch: Some(caller.epoch),
            decision: None,
            wait: None,
        };
        let slug = Arc::clone(&tool.slug);
        let began = event.is_some();
        let entry = record::entry(
            &caller,
            &slug,
            run.id,
            run.session,
            Step::Change(Box::new(change)),
            event.into_iter().collect(),
        );
        let started = if began { entry.at } else { run.started };
        let lease_epoch = match self.claim(entry, &boarding).await? {
            Claimed::Ours { lease_epoch } => lease_epoch,
            Claimed::Theirs => return Ok(TakenUp::Over),
            Claimed::TenantChanged => return Ok(TakenUp::TenantChanged),
        };
        let limit = tool.def.timeout();
        if tool.goes_on() && !self.inner.budgets.is_open(run.root) {
            let spent = self.inner.store.tenant(run.tenant).count_below(run.root).await;
            self.inner.budgets.open(run.root, spent.map_err(Error::store("counting inner runs"))?);
        }
        let job = Job {
            engine: self.clone(),
            caller,
            tool,
            run: run.id,
            session: run.session,
            mode: kept.mode,
            started,
            lease_epoch,
            starting: None,
            input,
            boarding,
            slot,
            limit,
            spent: kept.spent,
            refusals: Arc::new(Refusals::kept(kept.refused)),
        };
        match job.run().await {
            Ok(_) => Ok(TakenUp::Over),
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
            let rejected = match self.append(entry.clone()).await {
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
