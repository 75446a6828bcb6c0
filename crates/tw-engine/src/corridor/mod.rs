//! The corridor: the one way from a request to a recorded outcome.
//!
//! Each station hands on a value that only it can make, so a step that is left out does not compile:
//! [`resolve::Resolved`] → [`authorize::Authorized`] → [`validate::Valid`] → [`gate::Cleared`] →
//! [`execute`]. Inner calls come in by the same front door with their chain attached.

pub(crate) mod authorize;
pub(crate) mod execute;
pub(crate) mod gate;
mod groups;
pub(crate) mod park;
pub(crate) mod payload;
pub(crate) mod record;
pub(crate) mod resolve;
pub(crate) mod slot;
pub(crate) mod validate;

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tw_model::{ApprovalId, Caller, Mode, RunId, RunStatus, SessionId, Timestamp, WaitsFor};
use tw_store::{
    KeyScope, PendingCall, Run,
    log::{Claim, Rejected},
};

use crate::{
    Engine, calls,
    catalogue::Tool,
    error::{Error, Result},
    rights::{Permit, RunTools},
};

/// A request to run a tool, as a door understood it.
#[derive(Debug)]
pub struct CallRequest {
    /// Slug or id.
    pub tool: String,
    /// JSON that the strict scanner has let through.
    pub input: Box<RawValue>,
    pub session: Option<SessionId>,
    /// How long the caller waits; `None` for as long as the tool may take.
    pub wait: Option<Duration>,
    pub version: Option<String>,
    pub mode: Mode,
    /// What the tool is to be for this one call, as it would be sent to be saved.
    pub unsaved: Option<serde_json::Value>,
    pub idempotency: Option<IdempotencyKey>,
    /// Fires when the caller no longer wants the run; without it a run goes on whoever hangs up.
    pub unwanted: Option<CancellationToken>,
    /// When whoever waits for it is out of time, where that is sooner than the tool's own time.
    pub deadline: Option<Instant>,
}

/// A key that makes a request the same request when it is sent again.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    pub key: String,
    pub route: String,
    /// Of the body's bytes as they came.
    pub body_hash: [u8; 32],
}

/// How a call stands when its caller is answered: ended, or still open.
#[derive(Debug)]
pub struct Answer {
    pub run: Run,
    /// What has to be decided first.
    pub approval: Option<ApprovalId>,
    /// How it waits, or waited; of a run that waits for one of its own, how that one waits.
    pub pending: Option<PendingCall>,
    /// Whether the call was made before, under the same idempotency key.
    pub is_repeat: bool,
}

/// How often a call walks the corridor again because its tenant changed under it. Each walk is a few
/// reads, and somebody who makes keys in a loop must not be able to fail everybody's calls.
const WALKS_MAX: usize = 64;
/// How long an idempotency key is kept.
pub(crate) const KEY_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a run finds the calls that it has made: it may wait for thirty days, and more than once.
const STEP_KEPT: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// How long it may take until a call that is out of time is written down as that.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);
/// How soon it is seen that a chain waits for somebody else than before.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// The longest a caller may wait for an answer.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// How long the caller of a run that waits itself is kept waiting.
enum Patience {
    None,
    For(Duration),
    /// At the most, and no longer than somebody is asked who has to answer within the time of a call.
    WhileAnsweredSoon(Duration),
}

/// What came of one walk.
enum Walk {
    Answered(Box<Answer>),
    /// Answered before, under the same idempotency key.
    Replayed(Box<Answer>),
    /// Somebody changed the tenant between reading the rights and writing the start.
    Changed,
    /// Somebody else took the idempotency key first.
    KeyTaken,
}

impl Engine {
    /// Calls a tool. Answers once the run has ended and is on disk, or when the wait is over.
    ///
    /// What only some calls do is boxed on the way: the future of a call is copied more than once, as large
    /// as the largest thing that it might do.
    pub async fn call(&self, permit: &Permit<RunTools>, request: CallRequest) -> Result<Answer> {
        let caller = permit.caller();
        let result = self.walk_until_answered(caller, &request).await;
        if let Err(error) = &result {
            Box::pin(self.note_refusal(caller, &request, error)).await;
        }
        result
    }

    async fn walk_until_answered(&self, caller: &Caller, request: &CallRequest) -> Result<Answer> {
        if self.inner.flights.is_closed() {
            return Err(Error::ShuttingDown);
        }
        self.announce().await?;
        let mut caller = caller.clone();
        for _ in 0..WALKS_MAX {
            let walked = self.walk_once(&caller, request).await;
            // The log refuses a start under rights that are gone. An answer from before and a refusal are
            // not written, so here is where to ask whether the caller may still be told.
            let unwritten = match &walked {
                Ok(walk) => matches!(walk, Walk::Replayed(_)),
                Err(error) => matches!(error.code().status(), 403 | 404 | 409 | 422),
            };
            if unwritten && self.inner.identity.epochs.ask(caller.tenant).await? != caller.epoch {
                let again = Box::pin(self.inner.identity.again(&caller)).await?;
                caller = Permit::<RunTools>::check(again)?.caller().clone();
                continue;
            }
            match walked? {
                Walk::Answered(answer) => return Ok(*answer),
                Walk::Replayed(answer) => return Ok(Answer { is_repeat: true, ..*answer }),
                Walk::KeyTaken => {}
                Walk::Changed => caller = Box::pin(self.inner.identity.again(&caller)).await?,
            }
        }
        Err(Error::Conflict {
            why: "the tenant changed again and again while the call was starting".to_owned(),
        })
    }

    async fn walk_once(&self, caller: &Caller, request: &CallRequest) -> Result<Walk> {
        let claim = match &request.idempotency {
            Some(key) => match Box::pin(self.seen_before(caller, key)).await? {
                Seen::Answer(answer) => return Ok(Walk::Replayed(answer)),
                Seen::Free { instead_of } => Some(claim(key, instead_of)),
            },
            None => None,
        };
        self.walk(caller, request, claim).await
    }

    async fn walk(&self, caller: &Caller, request: &CallRequest, claim: Option<Claim>) -> Result<Walk> {
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        if view.epoch != caller.epoch {
            return Ok(Walk::Changed);
        }
        let resolved = match &request.unsaved {
            Some(definition) => Box::pin(self.resolve_unsaved(&view, &request.tool, definition)).await?,
            None => self.resolve(&view, &request.tool, request.version.as_deref(), request.mode).await?,
        };
        let authorized = authorize::authorize(resolved, caller, &view)?;
        let valid = self.validate(authorized, &request.input, caller, &view).await?;
        let session = match self.session_for(caller, request.session).await? {
            // What it does is told in one place, in its order.
            None if valid.tool().goes_on() => Some(self.session_of_chain(caller, valid.tool()).await?),
            session => session,
        };
        let recorded = match gate::gate(valid) {
            gate::Gate::Clear(cleared) => {
                let wait = request.wait.unwrap_or(cleared.tool().def.timeout()).min(WAIT_MAX);
                let since = Instant::now();
                let slot = if cleared.tool().has_place(caller) {
                    slot::Slot::none()
                } else {
                    self.inner.slots.take(caller, cleared.tool(), wait).await?
                };
                // A run that made the call stops to wait itself, and is told when there is something to go on with.
                let answers_at_once = cleared.tool().def.is_async || !caller.chain.is_empty();
                let goes_on = cleared.tool().goes_on();
                // Whoever waits for as long as the call may take is told how it ended.
                let to_the_end = cleared.tool().def.timeout() <= wait;
                // Made once the call has its place: an id begins with the time by which runs are found.
                let run = RunId::new();
                let (by, mode, unwanted) = (caller, request.mode, request.unwanted.clone());
                let caller = by.clone();
                let start = execute::Start {
                    run,
                    session,
                    caller,
                    mode,
                    claim,
                    unwanted,
                    deadline: request.deadline,
                };
                match self.begin(start, cleared, slot, wait).await {
                    Ok(answer) if answer.run.status.waits() => {
                        let left = wait.saturating_sub(since.elapsed());
                        let patience = match (request.wait, answer.run.status) {
                            (None, RunStatus::NeedsApproval) => Patience::None,
                            (None, _) if answers_at_once => Patience::None,
                            (None, _) if goes_on => Patience::WhileAnsweredSoon(left),
                            _ if to_the_end && !goes_on => Patience::For(left + CLOSED_WITHIN),
                            _ => Patience::For(left),
                        };
                        return Box::pin(self.answer_parked(by, answer.run, patience, request)).await;
                    }
                    recorded => recorded,
                }
            }
            // Nobody asks before an author tries something; if it ever came to that, there would be nothing to
            // resume.
            gate::Gate::Ask(_) if request.unsaved.is_some() => {
                let why = "somebody has to approve this call, and can only approve what is saved: save the draft first";
                return Err(Error::Conflict { why: why.to_owned() });
            }
            gate::Gate::Ask(asked) => {
                let pinned = request.version.as_deref();
                let run = RunId::new();
                let credentials = &self.credentials_of(caller.tenant, &asked.tool).await?;
                let mode = request.mode;
                let park = record::Parking { run, session, caller, mode, pinned, claim, credentials };
                Box::pin(self.park(park, &asked, request.wait.map(|wait| wait.min(WAIT_MAX)))).await
            }
        };
        match recorded {
            Ok(answer) => Ok(Walk::Answered(Box::new(answer))),
            Err(Rejected::Stale { .. }) => Ok(Walk::Changed),
            Err(Rejected::Claimed) => Ok(Walk::KeyTaken),
            Err(Rejected::NoSession) => Err(Error::SessionNotFound),
            Err(Rejected::Closed) => Err(Error::ShuttingDown),
            Err(source) => Err(Error::Record { source }),
        }
    }

    /// Waits with the caller of a run that waits itself.
    async fn answer_parked(
        &self,
        caller: &Caller,
        run: Run,
        patience: Patience,
        request: &CallRequest,
    ) -> Result<Walk> {
        let id = run.id;
        let waiting = async {
            match patience {
                Patience::None => Ok(run),
                Patience::For(long) => Ok(self.wait_for(run, long, None).await.run),
                Patience::WhileAnsweredSoon(long) => self.wait_while_answered_soon(run, long).await,
            }
        };
        let run = match &request.unwanted {
            None => waiting.await?,
            Some(unwanted) => {
                tokio::pin!(waiting);
                tokio::select! {
                    biased;
                    run = &mut waiting => run?,
                    () = unwanted.cancelled() => {
                        self.cancel_unwanted(caller.clone(), id).await;
                        waiting.await?
                    }
                }
            }
        };
        Ok(Walk::Answered(Box::new(self.answer_of(run).await?)))
    }

    /// Waits with the caller of a chain, unless that waits for somebody who may take days.
    async fn wait_while_answered_soon(&self, open: Run, patience: Duration) -> Result<Run> {
        let until = Instant::now() + patience;
        let mut run = open;
        loop {
            let takes_long = match run.status {
                RunStatus::Pending => {
                    let asked = self.answer_of(run.clone()).await?.pending;
                    asked.is_some_and(|call| calls::is_open(&call) && call.deadline.is_none())
                }
                status => status == RunStatus::NeedsApproval || !status.is_open(),
            };
            let left = until.saturating_duration_since(Instant::now());
            if takes_long || left.is_zero() {
                return Ok(run);
            }
            run = self.wait_for(run, left.min(LOOK_AGAIN), None).await.run;
        }
    }

    /// The session the run belongs to: the caller's own choice, or the run itself.
    async fn session_for(&self, caller: &Caller, wanted: Option<SessionId>) -> Result<Option<SessionId>> {
        let Some(id) = wanted else { return Ok(None) };
        let owner = match self.inner.session_owners.get(&(caller.tenant, id)).await {
            Some(owner) => owner,
            None => {
                let session = self.inner.store.tenant(caller.tenant).session(id).await;
                let session =
                    session.map_err(Error::store("reading a session"))?.ok_or(Error::SessionNotFound)?;
                let owner: std::sync::Arc<str> = session.principal.into();
                self.inner.session_owners.insert((caller.tenant, id), owner.clone()).await;
                owner
            }
        };
        if crate::sessions::may_write(&owner, caller) { Ok(Some(id)) } else { Err(Error::SessionNotFound) }
    }

    async fn session_of_chain(&self, caller: &Caller, tool: &Tool) -> Result<SessionId> {
        let scope = self.inner.store.tenant(caller.tenant);
        let made = scope.create_session("api", Some(&tool.def.name), &caller.principal.label()).await;
        Ok(made.map_err(Error::store("creating a session"))?.id)
    }

    async fn seen_before(&self, caller: &Caller, key: &IdempotencyKey) -> Result<Seen> {
        let scope = self.inner.store.tenant(caller.tenant);
        let principal = caller.principal.label();
        let used = scope
            .idempotency(KeyScope { principal: &principal, route: &key.route, key: &key.key })
            .await
            .map_err(Error::store("reading an idempotency key"))?;
        let Some(used) = used else { return Ok(Seen::Free { instead_of: None }) };
        if used.body_hash != key.body_hash {
            return Err(Error::IdempotencyMismatch);
        }
        let id = used.run.ok_or(Error::IdempotencyMismatch)?;
        let run = scope.run(id).await.map_err(Error::store("reading a run"))?;
        let run = run.ok_or(Error::NotFound { what: "run" })?;
        match run.status {
            RunStatus::Running => Err(Error::IdempotencyInFlight),
            RunStatus::Error if run.error_code.as_deref() == Some("INTERRUPTED") && run.repeatable => {
                Ok(Seen::Free { instead_of: Some(id) })
            }
            _ => Ok(Seen::Answer(Box::new(self.answer_of(run).await?))),
        }
    }

    /// A run as its caller is told of it.
    pub(crate) async fn answer_of(&self, run: Run) -> Result<Answer> {
        let scope = self.inner.store.tenant(run.tenant);
        let pending = match run.status {
            RunStatus::Pending | RunStatus::NeedsApproval | RunStatus::TimedOut => {
                scope.pending_call_of(run.id).await.map_err(Error::store("reading a pending call"))?
            }
            _ => None,
        };
        let approval = match run.status {
            RunStatus::NeedsApproval => self.approval_below(run.tenant, pending.as_ref()).await?,
            _ => None,
        };
        let pending = match pending {
            Some(call) if run.status == RunStatus::Pending => Some(self.call_below(run.tenant, call).await?),
            pending => pending,
        };
        Ok(Answer { run, approval, pending, is_repeat: false })
    }

    /// What has to be decided before a run goes on: about itself, or about what it waits for.
    async fn approval_below(
        &self,
        tenant: tw_model::TenantId,
        pending: Option<&PendingCall>,
    ) -> Result<Option<ApprovalId>> {
        let scope = self.inner.store.tenant(tenant);
        let mut waiting = pending.cloned();
        for _ in 0..=crate::chain::DEPTH_MAX {
            let Some(call) = waiting else { break };
            match (call.waits_for, call.children.first().copied()) {
                (WaitsFor::Approval, _) => return Ok(Some(ApprovalId::from_uuid(call.id.uuid()))),
                (WaitsFor::Child, Some(child)) => {
                    let below = scope.pending_call_of(child).await;
                    waiting = below.map_err(Error::store("reading a pending call"))?;
                }
                _ => break,
            }
        }
        Ok(None)
    }
}

enum Seen {
    Answer(Box<Answer>),
    Free { instead_of: Option<RunId> },
}

fn claim(key: &IdempotencyKey, instead_of: Option<RunId>) -> Claim {
    Claim {
        route: key.route.clone(),
        key: key.key.clone(),
        body_hash: key.body_hash,
        // A run that goes on after a person has decided must find what it has done before.
        expires: Timestamp::now().plus(if key.route == crate::chain::ROUTE { STEP_KEPT } else { KEY_KEPT }),
        instead_of,
    }
}
