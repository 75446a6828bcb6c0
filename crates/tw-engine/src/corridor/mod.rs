//! The corridor: the one way from a request to a recorded outcome.
//!
//! Each station hands on a value that only it can make, so a step that is left out does not compile:
//! [`resolve::Resolved`] → [`authorize::Authorized`] → [`validate::Valid`] → [`gate::Cleared`] → [`execute::Job`].
//! [`Engine::walk`] is the only caller of the stations: for a call, for an edited and an approved one, for a run that is
//! resumed. Inner calls come in by the same door with their chain attached.

pub(crate) mod authorize;
mod chain;
pub(crate) mod execute;
pub(crate) mod gate;
mod groups;
mod limits;
pub(crate) mod park;
mod parties;
mod progress;
pub(crate) mod record;
pub(crate) mod resolve;
pub(crate) mod slot;
mod unwanted;
pub(crate) mod validate;

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use toolwright_sdk::ToolProgress;
use tw_base::{Error, Result};
use tw_exec::BoxFuture;
use tw_identity::rights::{Permit, RunTools};
use tw_model::{
    ApprovalId, Caller, Code, Level, Mode, RunId, RunStatus, SessionId, TenantId, Timestamp, upstream_key,
};
use tw_policy::Verdict;
use tw_registry::{Tool, Unsaved, View};
use tw_store::{
    KeyScope, PendingCall, Run,
    log::{Claim, Rejected},
};
use tw_vault::CallSecrets;

use self::{
    gate::{Clearance, Cleared, Gate},
    record::{Record, Replayed},
    resolve::{Parked, Subject},
    unwanted::Unanswered,
    validate::{Valid, ValidParts, Words},
};
use crate::{
    Engine,
    run_log::{CallReach, Parking, Resumption, Starting, Unsealed, Way, WrapperSettings, tools_above},
};

pub(crate) use chain::{Budgets, Refusals};
pub(crate) use limits::Limits;
pub use limits::RateLimits;

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
    /// The definition of the tool for this one call.
    pub unsaved: Option<Unsaved>,
    /// The author's settings, where a tool that wraps this one makes the call.
    pub settings: Option<WrapperSettings>,
    /// The secrets that the tool which makes the call passes on, which no record of it may show.
    pub secrets: Option<Arc<CallSecrets>>,
    /// What services outside know the call by when it is made again; `None` to derive it from the idempotency key.
    pub upstream_key: Option<String>,
    pub idempotency: Option<IdempotencyKey>,
    /// Fires when the caller no longer wants the run; without it a run goes on whoever hangs up.
    pub unwanted: Option<CancellationToken>,
    /// Who hears how far the run is while its caller waits.
    pub progress: Option<mpsc::Sender<ToolProgress>>,
    /// When whoever waits for it is out of time, where that is sooner than the tool's own time.
    pub deadline: Option<Instant>,
    /// Where a recorded call is replayed: the record of the run that is made again, or that makes this call.
    pub record: Option<Arc<Record>>,
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
            Box::pin(self.note_refused(caller, &request.tool, error)).await;
        }
        result
    }

    async fn walk_until_answered(&self, caller: &Caller, request: &CallRequest) -> Result<Answer> {
        if self.inner.flights.is_closed() {
            return Err(Error::ShuttingDown);
        }
        self.announce().await?;
        let mut caller = caller.clone();
        let mut is_counted = false;
        for _ in 0..WALKS_MAX {
            let walked = self.walk_once(&caller, request, &mut is_counted).await;
            // The log refuses a start under rights that are gone. An answer from before and a refusal are
            // not written, so here is where to ask whether the caller may still be told.
            let unwritten = match &walked {
                Ok(walk) => matches!(walk, Walk::Replayed(_)),
                Err(error) => error.is_refusal(),
            };
            if unwritten && self.inner.identity.epochs().ask(caller.tenant).await? != caller.epoch {
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
            why: "the tenant's configuration kept changing while the call was starting; call again"
                .to_owned(),
        })
    }

    async fn walk_once(&self, caller: &Caller, request: &CallRequest, is_counted: &mut bool) -> Result<Walk> {
        let claimed = match &request.idempotency {
            Some(key) => match Box::pin(self.seen_before(caller, key)).await {
                Ok(Seen::Answer(answer)) => return Ok(Walk::Replayed(answer)),
                Ok(Seen::Free { instead_of }) => Ok(Some(claim(key, instead_of))),
                Err(error) => Err(error),
            },
            None => Ok(None),
        };
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        // A call counts once, at the door: however often it has to walk, whatever it calls itself, and also if it is
        // refused, be it for its key. Only an answer from before is none.
        if !*is_counted && caller.chain.is_empty() {
            *is_counted = true;
            self.inner.limits.count(caller, view.tools.get(&request.tool).map(|entry| entry.id()))?;
        }
        let claim = claimed?;
        if view.epoch != caller.epoch {
            return Ok(Walk::Changed);
        }
        let (subject, secrets) = (request.subject(), request.secrets.as_ref());
        let gate = self.walk(caller, &view, subject, &request.input, secrets).await?;
        let record = match &request.record {
            None => None,
            Some(record) => match Box::pin(self.replayed(caller, record, &gate)).await? {
                Replayed::Again(record) => Some(record),
                Replayed::AsRecorded(run) => {
                    let run = *run;
                    let answer = Answer { run, approval: None, pending: None, is_repeat: true };
                    return Ok(Walk::Replayed(Box::new(answer)));
                }
            },
        };
        let recorded = match gate {
            Gate::Clear(cleared) => return self.run_cleared(caller, request, claim, cleared, record).await,
            Gate::Ask(asked) => Box::pin(self.ask(caller, request, claim, asked)).await?,
        };
        walked(recorded)
    }

    /// Passes every station, for whichever way of calling.
    pub(crate) async fn walk(
        &self,
        caller: &Caller,
        view: &View,
        subject: Subject<'_>,
        input: &RawValue,
        secrets: Option<&Arc<CallSecrets>>,
    ) -> Result<Gate> {
        // The seal comes first: nothing else of what is stored about a parked call can be believed without it.
        let clearance = match subject {
            Subject::Named { .. } | Subject::Unsaved { .. } => Clearance::Rule,
            Subject::Approved(parked) => Clearance::Approved(Box::pin(self.unseal(view, parked)).await?),
            Subject::Edited(parked) => {
                Box::pin(self.unseal(view, parked)).await?;
                Clearance::Undecided
            }
            Subject::Begun { .. } => Clearance::Begun,
        };
        let parties = self.parties(caller, subject.edited_by()).await?;
        let resolved = self.resolve(view, subject).await?;
        let now = resolved.now().cloned();
        let authorized = authorize::authorize(resolved, &parties, view)?;
        let words = match subject {
            Subject::Edited(_) => Words::OfPerson,
            _ if parties.are_agents() => Words::OfModel,
            _ => Words::OfPerson,
        };
        let valid = validate::validate(authorized, input, words, secrets, view, &self.inner).await?;
        let clearance = match (clearance, subject) {
            (Clearance::Rule, Subject::Named { mode, settings, .. })
                if valid.rule.verdict() == Verdict::Ask =>
            {
                let way = Way::new(mode, tools_above(caller), settings);
                Box::pin(self.clearance_of_asked(caller, &valid, now.as_deref(), &way)).await?
            }
            (clearance, _) => clearance,
        };
        Ok(gate::gate(valid, clearance))
    }

    /// By what a call may go on that somebody would have to be asked about.
    async fn clearance_of_asked(
        &self,
        caller: &Caller,
        valid: &Valid,
        now: Option<&Tool>,
        way: &Way,
    ) -> Result<Clearance> {
        // An approver who saw no secrets has not approved those of a later call.
        if valid.level == Some(Level::Destructive) || valid.secrets.is_some() {
            return Ok(Clearance::Rule);
        }
        let definitions: Vec<&Tool> = std::iter::once(&*valid.tool).chain(now).collect();
        let standing = self.standing_for(caller, &definitions, way, &valid.value).await?;
        Ok(standing.map_or(Clearance::Rule, Clearance::Standing))
    }

    /// Holds an approval against the call that it is about, with the tool and its credentials as they are now.
    pub(crate) async fn unseal(&self, view: &View, parked: Parked<'_>) -> Result<Unsealed> {
        let tool = self.tool_of(view, parked).await?.ok_or(Error::Superseded)?;
        let Parked { approval, run, .. } = parked;
        let reach = self.reach_of(run.tenant, &tool).await?;
        Unsealed::check(approval, run, &tool, &reach, &self.inner.secrets).ok_or(Error::Superseded)
    }

    /// What a call of this tool would open, and whom it would ask, now.
    pub(crate) async fn reach_of(&self, tenant: TenantId, tool: &Tool) -> Result<CallReach> {
        if tool.executor.is_function() {
            return Ok(CallReach::default());
        }
        let (vault, implementation) = (&self.inner.vault, &tool.def.authored.implementation);
        let opened = vault.open_part(tenant, tool.def.id, implementation).await?;
        let servers = self.inner.mcp_servers.stamps(tenant, tool.executor.mcp_servers(&opened)).await?;
        let mut credentials = tool.executor.credentials(&opened);
        let found = servers.iter().filter_map(|server| server.found.as_ref());
        credentials.extend(found.flat_map(|server| server.credentials.iter().cloned()));
        Ok(CallReach { credentials: vault.stamps(tenant, credentials).await?, servers })
    }

    /// Runs a call that may run.
    async fn run_cleared(
        &self,
        caller: &Caller,
        request: &CallRequest,
        claim: Option<Claim>,
        cleared: Cleared,
        record: Option<Arc<Record>>,
    ) -> Result<Walk> {
        let tool = Arc::clone(cleared.tool());
        let session = self.session_for(caller, request.session, &tool).await?;
        let wait = request.wait.unwrap_or(tool.def.timeout()).min(WAIT_MAX);
        let since = Instant::now();
        let slot = if tool.has_slot(caller) {
            slot::Slot::none()
        } else {
            self.inner.slots.take(caller, &tool, wait).await?
        };
        if let Some(standing) = cleared.standing() {
            let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
            if standing.is_over(now) {
                return Ok(Walk::Changed);
            }
        }
        // Made once the call has its slot: an id begins with the time by which runs are found.
        let run = RunId::new();
        let unanswered = Unanswered { engine: self, caller, run, unwanted: request.unwanted.as_ref() };
        let start = execute::Start {
            run,
            session,
            caller: caller.clone(),
            mode: request.mode,
            claim,
            unwanted: request.unwanted.clone(),
            progress: request.progress.clone(),
            deadline: request.deadline,
            settings: request.settings.clone(),
            upstream_key: request.upstream_key(caller),
            record,
        };
        let walk = match self.begin(start, cleared, slot, wait).await {
            Ok(answer) if answer.run.status.waits() => {
                let left = wait.saturating_sub(since.elapsed());
                let patience = patience(caller, request, &tool, answer.run.status, wait, left);
                Box::pin(self.answer_parked(caller, answer.run, patience, request)).await
            }
            recorded => walked(recorded),
        };
        unanswered.answered();
        walk
    }

    /// Writes down that the call waits for a person, and waits with it if the caller wants to.
    async fn ask(
        &self,
        caller: &Caller,
        request: &CallRequest,
        claim: Option<Claim>,
        asked: Valid,
    ) -> Result<Result<Answer, Rejected>> {
        if let Some(unsaved) = &request.unsaved {
            let why = match unsaved {
                Unsaved::Change(_) => {
                    "this call needs approval, and only a saved draft can be approved: save the draft first"
                }
                Unsaved::Draft(_) => "this call needs approval, and publishing does not wait for it",
            };
            return Err(Error::Conflict { why: why.to_owned() });
        }
        let (run, input_digest) = (RunId::new(), asked.input_digest());
        let sealed_input = asked.sealed_for(run);
        let ValidParts { tool, rule, level, text, .. } = asked.into_parts();
        let session = self.session_for(caller, request.session, &tool).await?.unwrap_or(run.into());
        let reach = self.reach_of(caller.tenant, &tool).await?;
        let starting = Starting { caller, tool: &tool, run, session, mode: request.mode };
        let parking = Parking {
            resumption: Resumption {
                pinned: request.version.clone(),
                wrapper: request.settings.clone(),
                sealed_input,
                upstream_key: request.upstream_key(caller),
                ..Resumption::new(caller, request.mode, session)
            },
            claim,
            reach: &reach,
            input: &text,
            input_digest,
            level,
            rule,
        };
        let (entry, id) = starting.park(&self.inner.store, &self.inner.secrets, parking);
        let parked = starting.record(&self.inner.store, entry.at, RunStatus::NeedsApproval);
        if let Err(rejected) = self.inner.log.append(entry).await {
            return Ok(Err(rejected));
        }
        metrics::counter!("toolwright_approvals_requested_total").increment(1);
        let run = match request.wait {
            Some(wait) => {
                let wait = self.inner.log.wait_for(parked, wait.min(WAIT_MAX));
                self.wait_while_wanted(caller, run, request.unwanted.as_ref(), wait).await
            }
            None => parked,
        };
        let approval = (run.status == RunStatus::NeedsApproval).then_some(id);
        Ok(Ok(Answer { run, approval, pending: None, is_repeat: false }))
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
        let wait = async {
            match patience {
                Patience::None => run,
                Patience::For(long) => self.inner.log.wait_for(run, long).await,
                Patience::WhileAnsweredSoon(long) => {
                    let enough = |run| Box::pin(self.takes_long(run)) as BoxFuture<'_, bool>;
                    self.inner.log.wait_until(run, long, &enough).await
                }
            }
        };
        let run = self.wait_while_wanted(caller, id, request.unwanted.as_ref(), wait).await;
        Ok(Walk::Answered(Box::new(self.answer_of(run).await?)))
    }

    /// Whether a run waits for somebody who may take days.
    pub(crate) async fn takes_long(&self, run: Run) -> bool {
        match run.status {
            RunStatus::NeedsApproval => true,
            RunStatus::Pending => match self.answer_of(run).await {
                Ok(Answer { pending: Some(call), .. }) => call.is_open() && call.deadline.is_none(),
                _ => false,
            },
            _ => false,
        }
    }

    /// The session the run belongs to: the caller's own choice, one for a run that makes calls, or the run itself.
    async fn session_for(
        &self,
        caller: &Caller,
        wanted: Option<SessionId>,
        tool: &Tool,
    ) -> Result<Option<SessionId>> {
        let Some(id) = wanted else {
            // What a run and its calls do is told in one place, in its order.
            let makes_calls = tool.executor.is_resumable();
            return Ok(if makes_calls { Some(self.new_session(caller, tool).await?) } else { None });
        };
        let owner = match self.inner.session_owners.get(&(caller.tenant, id)).await {
            Some(owner) => owner,
            None => {
                let session = self.inner.store.tenant(caller.tenant).session(id).await;
                let session =
                    session.map_err(Error::store("reading a session"))?.ok_or(Error::SessionNotFound)?;
                let owner: Arc<str> = session.principal.into();
                self.inner.session_owners.insert((caller.tenant, id), owner.clone()).await;
                owner
            }
        };
        if crate::sessions::may_write(&owner, caller) { Ok(Some(id)) } else { Err(Error::SessionNotFound) }
    }

    async fn new_session(&self, caller: &Caller, tool: &Tool) -> Result<SessionId> {
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
            RunStatus::Error if run.error_code == Some(Code::Interrupted) && run.repeatable => {
                Ok(Seen::Free { instead_of: Some(id) })
            }
            _ => Ok(Seen::Answer(Box::new(self.answer_of(run).await?))),
        }
    }
}

impl CallRequest {
    fn subject(&self) -> Subject<'_> {
        match &self.unsaved {
            Some(definition) => Subject::Unsaved { tool: &self.tool, definition },
            None => Subject::Named {
                tool: &self.tool,
                version: self.version.as_deref(),
                mode: self.mode,
                settings: self.settings.as_ref(),
            },
        }
    }

    fn upstream_key(&self, caller: &Caller) -> Option<String> {
        let derive =
            |key: &IdempotencyKey| upstream_key(caller.tenant, &caller.principal, &key.route, &key.key);
        self.upstream_key.clone().or_else(|| self.idempotency.as_ref().map(derive))
    }
}

/// How long the caller of a run is kept waiting that waits itself.
fn patience(
    caller: &Caller,
    request: &CallRequest,
    tool: &Tool,
    status: RunStatus,
    wait: Duration,
    left: Duration,
) -> Patience {
    // A run that made the call waits itself, and is told when there is something to go on with.
    let answers_at_once = tool.def.is_async || !caller.chain.is_empty();
    let is_resumable = tool.executor.is_resumable();
    // A caller who waits for as long as the call may take is told how it ended.
    let to_the_end = tool.def.timeout() <= wait;
    match (request.wait, status) {
        (None, RunStatus::NeedsApproval) => Patience::None,
        (None, _) if answers_at_once => Patience::None,
        (None, _) if is_resumable => Patience::WhileAnsweredSoon(left),
        _ if to_the_end && !is_resumable => Patience::For(left + CLOSED_WITHIN),
        _ => Patience::For(left),
    }
}

/// What came of writing the first entry of a run.
fn walked(recorded: Result<Answer, Rejected>) -> Result<Walk> {
    match recorded {
        Ok(answer) => Ok(Walk::Answered(Box::new(answer))),
        Err(Rejected::Stale { .. }) => Ok(Walk::Changed),
        Err(Rejected::Claimed) => Ok(Walk::KeyTaken),
        Err(Rejected::NoSession) => Err(Error::SessionNotFound),
        Err(Rejected::Closed) => Err(Error::ShuttingDown),
        Err(source) => Err(Error::Record { source }),
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
        expires: Timestamp::now().plus(if key.route == chain::ROUTE { STEP_KEPT } else { KEY_KEPT }),
        instead_of,
    }
}
