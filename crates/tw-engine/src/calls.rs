//! Calls that somebody outside answers: a worker by the API, a person in a form. One answer counts, and it counts
//! even if it comes after the caller has given up.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use serde_json::{Value, json, value::RawValue};
use tokio::{sync::broadcast, time::Instant};
use toolwright_sdk::{HeavyPool, INLINE_BYTES_MAX, bytes_of};
use tw_base::{Error, Page, PageRequest, Result};
use tw_identity::rights::{AnswerCalls, Permit};
use tw_model::{
    Caller, Code, Effect, EventKind, PendingCallId, PendingState, RunId, RunStatus, TenantId, Timestamp,
    ToolFailure, ToolResult, WaitsFor,
};
use tw_schema::Schema;
use tw_store::{
    PAGE_BYTES_MAX, PendingCall, Run, Wanted,
    log::{Change, Entry, Expect, Rejected, WaitChange},
};
use uuid::Uuid;

use crate::{
    Engine,
    corridor::{Answer, execute::count, validate::overloaded},
    flights::DEAD_AFTER,
    run_log::{self, End, LateResult, Resumption, RunIdentity, look_again, storable},
};

/// How long a worker that was told of a call has it to itself, unless it stays.
const LEASE: Duration = Duration::from_secs(30);
const RENEW_EVERY: Duration = Duration::from_secs(10);
/// How often a stream looks by itself, behind the hints.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const TOLD_MOST: i64 = 50;
/// What a worker is told at a time of inputs.
const TOLD_BYTES_MAX: usize = 1 << 20;
/// How long it may take to hold an answer against the tool's schema, waiting for a thread included.
const JUDGED_WITHIN: Duration = Duration::from_secs(30);
/// Up to this size a schema is read on the thread that serves others.
const INLINE_SCHEMA_BYTES_MAX: usize = 16 << 10;
/// The permission to answer what workers are asked.
const WORKS: &str = "workers.tenant.answer";

/// What somebody outside says about a call.
#[derive(Clone, Debug)]
pub enum Answered {
    Result(Value),
    Error(String),
}

impl Answered {
    /// About how large it is.
    fn bytes(&self) -> usize {
        match self {
            Self::Result(result) => bytes_of(result),
            Self::Error(error) => error.len(),
        }
    }

    fn as_text(&self) -> String {
        match self {
            Self::Result(result) => json!({ "result": result }).to_string(),
            Self::Error(error) => json!({ "error": error }).to_string(),
        }
    }
}

/// What a result has to be like, as the tool said when it was called.
pub fn answer_schema(call: &PendingCall) -> Result<Option<Arc<Value>>> {
    Ok(Resumption::read(&call.context)?.answer_schema)
}

impl Engine {
    /// Whether the caller may answer whatever call the run waits for, before the answer is read.
    pub async fn may_answer(&self, permit: &Permit<AnswerCalls>, run: RunId) -> Result<()> {
        let caller = permit.caller();
        let call = self.inner.store.tenant(caller.tenant).pending_call_of(run).await;
        let call = call.map_err(Error::store("reading a pending call"))?;
        call.map_or(Ok(()), |call| answers(caller, &call))
    }

    /// Takes the answer to a call. The same answer again changes nothing, another one is refused.
    pub async fn answer_call(
        &self,
        permit: &Permit<AnswerCalls>,
        run: RunId,
        call: PendingCallId,
        answered: Answered,
    ) -> Result<Answer> {
        let caller = permit.caller();
        let answered = Arc::new(answered);
        loop {
            let (call, run) = self.answerable(caller, run, call).await?;
            let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
            match call.state {
                PendingState::Waiting if call.expires <= now => return Err(Error::Expired { what: "call" }),
                PendingState::Waiting => {}
                PendingState::Resolved if self.is_same(&call, &run, &answered).await? => {
                    return Ok(Answer { run, approval: None, pending: Some(call), is_repeat: true });
                }
                PendingState::Resolved => {
                    return Err(Error::Conflict { why: "the call was answered before".to_owned() });
                }
                PendingState::Cancelled => {
                    return Err(Error::Conflict { why: "the call was cancelled".to_owned() });
                }
                PendingState::Expired => return Err(Error::Expired { what: "call" }),
                _ => return Err(Error::NotFound { what: "call" }),
            }
            let scope = self.inner.store.tenant(caller.tenant);
            let (end, text) = self.end_by(&call, &run, &answered).await?;
            if run.status != RunStatus::Pending {
                match self.inner.log.append(late(caller, &run, &call, &answered, text)).await {
                    Ok(_) | Err(Rejected::Answered | Rejected::Status { .. }) => continue,
                    Err(source) => return Err(Error::Record { source }),
                }
            }
            let (entry, ended) = ending(caller, &run, end, text);
            match self.inner.log.append(entry).await {
                Ok(_) => {
                    self.has_ended(&ended);
                    count(&ended);
                    self.observe_answered(&ended, &call);
                    let call =
                        scope.pending_call(call.id).await.map_err(Error::store("reading a pending call"))?;
                    return Ok(Answer { run: ended, approval: None, pending: call, is_repeat: false });
                }
                // Somebody else was quicker, or its time ran out just now.
                Err(Rejected::Status { .. }) => {}
                Err(source) => return Err(Error::Record { source }),
            }
        }
    }

    /// A call of this tenant that the caller may answer, by its own run or by one that waits for that.
    async fn answerable(
        &self,
        caller: &Caller,
        run: RunId,
        call: PendingCallId,
    ) -> Result<(PendingCall, Run)> {
        let scope = self.inner.store.tenant(caller.tenant);
        let missing = || Error::NotFound { what: "call" };
        let found = scope.pending_call(call).await.map_err(Error::store("reading a pending call"))?;
        let found = found.filter(PendingCall::is_outside).ok_or_else(missing)?;
        let of_call =
            scope.run(found.run).await.map_err(Error::store("reading a run"))?.ok_or_else(missing)?;
        let mut named = of_call.id == run;
        let mut above = of_call.parent;
        while let (false, Some(parent)) = (named, above) {
            named = parent == run;
            above = scope
                .run(parent)
                .await
                .map_err(Error::store("reading a run"))?
                .and_then(|parent| parent.parent);
        }
        if !named {
            return Err(missing());
        }
        answers(caller, &found)?;
        Ok((found, of_call))
    }

    /// How a run ends by what is said about its call, and what is kept of the answer. A large one, and one that takes long
    /// to be checked, is read apart from everybody else.
    async fn end_by(&self, call: &PendingCall, run: &Run, answered: &Arc<Answered>) -> Result<(End, String)> {
        let schema = answer_schema(call)?;
        let bytes = answered.bytes();
        let is_small = bytes <= INLINE_BYTES_MAX
            && schema.as_ref().is_none_or(|schema| bytes_of(schema) <= INLINE_SCHEMA_BYTES_MAX);
        let judged = Judged { answered: Arc::clone(answered), tool: run.tool.clone(), asked: call.waits_for };
        let catalogue = &self.inner.catalogue;
        if is_small {
            let schema = schema.as_ref().map(|schema| catalogue.schema(schema)).transpose()?;
            if schema.as_ref().is_none_or(|schema| schema.is_quick(bytes)) {
                return judged.against(schema.as_ref());
            }
        }
        let catalogue = Arc::clone(catalogue);
        let judge = move || {
            let schema = schema.as_ref().map(|schema| catalogue.schema(schema)).transpose()?;
            judged.against(schema.as_ref())
        };
        HeavyPool::shared().run(run.tenant, JUDGED_WITHIN, judge).await.map_err(overloaded)?
    }

    /// Whether a call was answered with the same before.
    async fn is_same(&self, call: &PendingCall, run: &Run, answered: &Arc<Answered>) -> Result<bool> {
        let Some(kept) = call.result.clone() else { return Ok(false) };
        if kept.get().len().max(answered.bytes()) <= INLINE_BYTES_MAX {
            return Ok(is_same(&kept, answered));
        }
        let answered = Arc::clone(answered);
        let compared = HeavyPool::shared().run(run.tenant, JUDGED_WITHIN, move || is_same(&kept, &answered));
        compared.await.map_err(overloaded)
    }

    /// Ends what has run out of its own time, and closes what nobody answers any more.
    pub(crate) async fn end_unanswered(&self, call: &PendingCall, run: &Run, now: Timestamp) -> Result<()> {
        if call.state != PendingState::Waiting {
            return Ok(());
        }
        let scope = self.inner.store.tenant(run.tenant);
        if run.status != RunStatus::Pending {
            if call.expires <= now {
                let closed = scope.close_unanswered(call.id, now).await;
                closed.map_err(Error::store("closing a call"))?;
            }
            return Ok(());
        }
        let effect = if run.effectful { Effect::Unknown } else { Effect::None };
        let (end, wait) = if call.expires <= now {
            let failure = ToolFailure::with_code(Code::Expired, "nobody answered in time");
            (End::Failure { failure, effect: Some(effect) }, Some(WaitChange::Expired))
        } else if call.deadline.is_some_and(|deadline| deadline <= now) {
            let limit = Resumption::read(&call.context)?.timeout_ms.unwrap_or_default();
            (End::TimedOut { limit: Duration::from_millis(limit), effect }, None)
        } else {
            return Ok(());
        };
        let ended = end.of(run.id, &run.tool, Some(age(run)));
        let change = Change { wait, ..ended.change(Expect::Status(RunStatus::Pending)) };
        let identity = RunIdentity { actor: run.actor.as_str().into(), ..RunIdentity::by_the_system(run) };
        let entry = identity.change(change, vec![ended.event.clone()]);
        let ended = ended.onto(run.clone(), entry.at);
        match self.inner.log.append(entry).await {
            Ok(_) => {
                count(&ended);
                self.has_ended(&ended);
                self.observe_answered(&ended, call);
                Ok(())
            }
            // An answer came at the same moment.
            Err(Rejected::Status { .. }) => Ok(()),
            Err(source) => Err(Error::Record { source }),
        }
    }

    /// Calls that a person has to answer, oldest first, each with its run.
    pub async fn calls_for_people(
        &self,
        permit: &Permit<AnswerCalls>,
        page: &PageRequest,
    ) -> Result<Page<(PendingCall, Run)>> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let place = format!("calls/{}/{}", caller.tenant, caller.principal.label());
        let after = self.inner.secrets.open_cursor(&place, page)?.map(PendingCallId::from_uuid);
        let calls = scope.calls_for_people(after, page.offset, page.limit + 1).await;
        let (calls, mut is_cut) = calls.map_err(Error::store("reading calls"))?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for call in calls {
            if let Some(run) = scope.run(call.run).await.map_err(Error::store("reading a run"))? {
                bytes += weight_of(&call, &run);
                rows.push((call, run));
            }
            if PAGE_BYTES_MAX < bytes && 1 < rows.len() {
                is_cut = true;
                break;
            }
        }
        let page = &page.cut(rows.len(), is_cut);
        let total = scope.count_calls_for_people().await.map_err(Error::store("counting calls"))?;
        Ok(self.inner.secrets.page(rows, page, &place, total, |(call, _)| call.id.uuid()))
    }

    /// One call that a person or a worker has to answer, or had to. What a worker is asked is for workers, and for
    /// those who may see the run; what a person has answered is for them and for that person.
    pub async fn call_to_answer(
        &self,
        permit: &Permit<AnswerCalls>,
        id: PendingCallId,
    ) -> Result<(PendingCall, Run)> {
        let caller = permit.caller();
        let missing = || Error::NotFound { what: "call" };
        let scope = self.inner.store.tenant(caller.tenant);
        let call = scope.pending_call(id).await.map_err(Error::store("reading a pending call"))?;
        let mut call = call.filter(PendingCall::is_outside).ok_or_else(missing)?;
        let run = scope.run(call.run).await.map_err(Error::store("reading a run"))?.ok_or_else(missing)?;
        let label = caller.principal.label();
        let sees_run = caller.permissions.has("runs.tenant.read") || run.principal == label;
        match call.waits_for {
            WaitsFor::Worker if !sees_run && !caller.permissions.has(WORKS) => return Err(missing()),
            WaitsFor::Person if !sees_run && call.answered_by.as_ref() != Some(&label) => call.result = None,
            _ => {}
        }
        Ok((call, run))
    }

    /// The calls for a worker that does the work of these tools, or of all.
    pub fn worker_calls(
        &self,
        permit: &Permit<AnswerCalls>,
        tools: Vec<String>,
        after: Option<PendingCallId>,
    ) -> Result<WorkerCalls> {
        let caller = permit.caller().clone();
        if !caller.permissions.has(WORKS) {
            let why = "a worker needs the permission `workers.tenant.answer`";
            return Err(Error::NotPermitted { why: why.to_owned() });
        }
        let tools = tools.iter().map(|tool| tool.to_ascii_lowercase()).collect();
        let hints = self.inner.store.wake().calls();
        let renew = Instant::now() + RENEW_EVERY;
        let (engine, lease, worker) = (self.clone(), Uuid::now_v7(), Uuid::now_v7());
        let leased = VecDeque::new();
        Ok(WorkerCalls { engine, caller, tools, lease, worker, resumes: after, leased, hints, renew })
    }
}

/// What one worker is told, for as long as it listens. What it was told and has not answered when it goes is
/// told to another.
#[derive(Debug)]
pub struct WorkerCalls {
    engine: Engine,
    caller: Caller,
    tools: Vec<String>,
    /// This connection.
    lease: Uuid,
    /// The same for every connection of a worker that comes back.
    worker: Uuid,
    /// The last call that it has heard of before, until it has back what it had.
    resumes: Option<PendingCallId>,
    /// What it has and is yet to be told, oldest first.
    leased: VecDeque<PendingCall>,
    hints: broadcast::Receiver<TenantId>,
    renew: Instant,
}

impl WorkerCalls {
    /// The next calls, as soon as there are some; none once this server is about to stop or the worker may no
    /// longer have them.
    pub async fn next(&mut self) -> Result<Vec<(PendingCall, Run)>> {
        // A lease of a server that nobody has heard of counts for nothing.
        self.engine.announce().await?;
        loop {
            let told = self.lease().await?;
            if !told.is_empty() {
                return Ok(told);
            }
            tokio::select! {
                () = look_again(self.hints.recv(), LOOK_EVERY, None) => {}
                () = self.engine.closing() => return Ok(Vec::new()),
            }
            let again = self.engine.inner.identity.again(&self.caller).await?;
            self.caller = Permit::<AnswerCalls>::check(again)?.caller().clone();
        }
    }

    async fn lease(&mut self) -> Result<Vec<(PendingCall, Run)>> {
        let now = self.engine.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        let scope = self.engine.inner.store.tenant(self.caller.tenant);
        if self.renew <= Instant::now() {
            let renewed = scope.renew_leases(self.lease, now.plus(LEASE)).await;
            renewed.map_err(Error::store("renewing what a worker has"))?;
            self.renew = Instant::now() + RENEW_EVERY;
        }
        if let Some(last) = self.resumes {
            let doing = "giving a worker back what it had";
            if let Some((worker, told)) = scope.worker_told_of(last).await.map_err(Error::store(doing))? {
                self.worker = worker;
                let taken = scope.take_back_calls(&self.wanted(now), last, told).await;
                taken.map_err(Error::store(doing))?;
            }
            self.resumes = None;
        }
        if self.leased.is_empty() {
            let leased = scope.lease_calls(&self.wanted(now)).await;
            self.leased = leased.map_err(Error::store("taking calls for a worker"))?.into();
        }
        let (mut told, mut bytes) = (Vec::new(), 0);
        while bytes < TOLD_BYTES_MAX
            && let Some(call) = self.leased.pop_front()
        {
            if let Some(mut run) = scope.run(call.run).await.map_err(Error::store("reading a run"))? {
                // The worker is what runs the tool, so it is told what everybody else sees as `***`.
                if let Some(sealed) = &Resumption::read(&call.context)?.sealed_input {
                    let opened = self.engine.inner.vault.open_call(run.tenant, run.id, sealed).await?;
                    run.input = Some(run_log::raw(&opened.input));
                }
                bytes += weight_of(&call, &run);
                told.push((call, run));
            }
        }
        Ok(told)
    }

    fn wanted(&self, now: Timestamp) -> Wanted<'_> {
        Wanted {
            tools: &self.tools,
            lease: self.lease,
            worker: self.worker,
            now,
            alive_since: now.minus(DEAD_AFTER),
            until: now.plus(LEASE),
            most: TOLD_MOST,
        }
    }
}

impl Drop for WorkerCalls {
    fn drop(&mut self) {
        let (scope, lease) = (self.engine.inner.store.tenant(self.caller.tenant), self.lease);
        // The lease runs out by itself if this comes to nothing.
        tokio::spawn(async move {
            if let Err(error) = scope.release_leases(lease).await {
                tracing::debug!(%error, "what a worker had was not given back");
            }
        });
    }
}

/// What varies of a call and its run, as far as it can be large.
fn weight_of(call: &PendingCall, run: &Run) -> usize {
    let raw = [&run.input, &run.output, &call.result].into_iter().flatten().map(|raw| raw.get().len());
    raw.sum::<usize>() + call.context.len()
}

/// Whether the caller may answer a call, as far as that depends on who is asked.
fn answers(caller: &Caller, call: &PendingCall) -> Result<()> {
    if call.waits_for == WaitsFor::Worker && !caller.permissions.has(WORKS) {
        let why = format!("the result of a worker needs the permission `{WORKS}`");
        return Err(Error::NotPermitted { why });
    }
    Ok(())
}

/// The entry that ends a run with its answer, and the run as it will be then.
fn ending(caller: &Caller, run: &Run, end: End, text: String) -> (Entry, Run) {
    let ended = end.of(run.id, &run.tool, Some(age(run)));
    let wait = WaitChange::Answered { result: text, by: caller.principal.label() };
    let change = Change { wait: Some(wait), ..ended.change(Expect::Status(RunStatus::Pending)) };
    let entry = RunIdentity::by(caller, run).change(change, vec![ended.event.clone()]);
    let ended = ended.onto(run.clone(), entry.at);
    (entry, ended)
}

/// The entry that keeps an answer to a run that has ended.
fn late(caller: &Caller, run: &Run, call: &PendingCall, answered: &Answered, text: String) -> Entry {
    let by = caller.principal.label();
    let (result, error) = match answered {
        Answered::Result(result) => (Some(result), None),
        Answered::Error(error) => (None, Some(error.as_str())),
    };
    let said = LateResult { call_id: call.id, by: &by, result, error };
    let event = run_log::event(EventKind::LateResult, run.id, &said);
    let wait = Some(WaitChange::Late { result: text, by });
    RunIdentity::by(caller, run).change(Change { wait, ..Change::expecting(Expect::Ended) }, vec![event])
}

/// How long ago a run began.
fn age(run: &Run) -> Duration {
    let micros = Timestamp::now().micros() - run.listed().micros();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

fn is_same(kept: &RawValue, answered: &Answered) -> bool {
    let digest = |text: &str| serde_json::from_str::<Value>(text).ok().map(|value| tw_schema::digest(&value));
    digest(kept.get()) == digest(&answered.as_text())
}

/// An answer that is held against what was asked.
struct Judged {
    answered: Arc<Answered>,
    tool: String,
    asked: WaitsFor,
}

impl Judged {
    /// A person can mend an answer that does not fit at once; a worker's result is the outcome of the call.
    fn against(&self, schema: Option<&Schema>) -> Result<(End, String)> {
        let text = self.answered.as_text();
        let result = match &*self.answered {
            Answered::Error(error) => return Ok((End::failed(Code::ToolFailed, storable(error)), text)),
            Answered::Result(result) => result,
        };
        let result = match ToolResult::returned(result.clone(), || format!("{}: answered", self.tool)) {
            Ok(result) => result,
            Err(failure) => return Ok((End::Failure { failure, effect: None }, text)),
        };
        let Some(schema) = schema.filter(|schema| !schema.is_valid(&result.data)) else {
            return Ok((End::Success(result), text));
        };
        let faults = schema.faults(&result.data);
        if self.asked == WaitsFor::Person {
            let first = faults.first().map_or("", |fault| &fault.message);
            return Err(Error::refused_as(format!("the answer is invalid: {first}"), faults));
        }
        let first =
            faults.first().map_or_else(String::new, |fault| format!(": `{}` {}", fault.path, fault.message));
        let message = format!("the result does not fit the tool's output schema{first}");
        Ok((End::failed(Code::OutputInvalid, message), text))
    }
}
