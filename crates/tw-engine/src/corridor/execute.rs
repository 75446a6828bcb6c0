//! Running the tool under its deadline, and checking what it gave back.

use std::{panic::AssertUnwindSafe, sync::Arc, task::Poll, time::Duration};

use futures::{FutureExt, poll};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use toolwright_sdk::{
    ContextParts, HeavyPool, INLINE_BYTES_MAX, LogLines, Overload, ToolContext, ToolProgress, UsageMeter,
    bytes_of,
};
use tracing::Instrument;
use tw_exec::{BoxFuture, Call, Ended, InnerCalls, Unseal, Wait};
use tw_model::{
    Actor, Caller, Code, Effect, EventKind, Mode, Party, PendingState, PermissionSet, Principal, RunId,
    RunStatus, SessionId, TenantId, Timestamp, ToolFailure, ToolId, ToolResult,
};
use tw_registry::Tool;
use tw_schema::Schema;
use tw_store::{
    Run,
    log::{Change, Claim, Entry, Expect, NewEvent, Rejected, WaitChange},
};
use tw_vault::{CallSecrets, Vault};

use super::{
    Answer,
    chain::{Inner, Refusals},
    gate::Cleared,
    progress::ReportPace,
    record::Record,
    slot::Slot,
};
use crate::{
    Engine,
    detaching::Detaching,
    flights::{Boarding, Stop},
    pure::Question,
    run_log::{self, Beginning, Beside, End, OutputAppended, Resumption, Starting, WrapperSettings},
};

/// How close to its deadline a run is out of time.
const AT_THE_END: Duration = Duration::from_millis(250);
/// How many pieces of appended output wait to be written.
const OUTPUT_QUEUE: usize = 64;
/// How many reports of progress wait to be looked at.
const REPORT_QUEUE: usize = 16;

/// A run that is about to begin.
pub(super) struct Start {
    pub(super) run: RunId,
    pub(super) session: Option<SessionId>,
    pub(super) caller: Caller,
    pub(super) mode: Mode,
    pub(super) claim: Option<Claim>,
    pub(super) unwanted: Option<CancellationToken>,
    pub(super) progress: Option<mpsc::Sender<ToolProgress>>,
    pub(super) deadline: Option<Instant>,
    pub(super) settings: Option<WrapperSettings>,
    pub(super) upstream_key: Option<String>,
    pub(super) record: Option<Arc<Record>>,
}

/// What a run under way is, beside its tool and input.
pub(crate) struct Lease {
    pub(crate) caller: Caller,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) mode: Mode,
    pub(crate) started: Timestamp,
    pub(crate) lease_epoch: i64,
    /// The start that is not on disk yet, where the tool need not wait for it.
    pub(crate) starting: Option<Beginning>,
    pub(crate) boarding: Boarding,
    pub(crate) slot: Slot,
    /// How long it may take.
    pub(crate) limit: Duration,
    /// How much of that was taken before it stopped to wait.
    pub(crate) spent: Duration,
    pub(crate) refusals: Refusals,
    pub(crate) settings: Option<WrapperSettings>,
    /// The input to be resumed with, where what is written down does not do.
    pub(crate) sealed_input: Option<String>,
    pub(crate) upstream_key: Option<String>,
    /// Who made the call and wants to hear how far it is.
    pub(crate) progress: Option<mpsc::Sender<ToolProgress>>,
    /// Who changed the input of this very run before it was approved.
    pub(crate) edited_by: Option<Party>,
    /// The record that answers calls with effects, where a recorded run is made again.
    pub(crate) record: Option<Arc<Record>>,
}

/// A run under way.
pub(crate) struct Job {
    pub(super) engine: Engine,
    pub(super) tool: Arc<Tool>,
    input: Value,
    permissions: PermissionSet,
    /// What it and its calls may hold and no record may show.
    secrets: Option<Arc<CallSecrets>>,
    pub(super) lease: Lease,
    refusals: Arc<Refusals>,
    log: LogLines,
    usage: UsageMeter,
}

/// How the tool came to an end.
enum Outcome {
    Ended(End),
    /// The row says already how.
    EndedElsewhere,
    Interrupted,
    Waits(Wait),
}

impl Engine {
    /// Writes down the start and runs the tool. A caller who hangs up does not stop a run: it goes on in a task of its
    /// own.
    pub(super) async fn begin(
        &self,
        start: Start,
        cleared: Cleared,
        slot: Slot,
        wait: Duration,
    ) -> Result<Answer, Rejected> {
        let Start {
            run,
            session,
            caller,
            mode,
            claim,
            unwanted,
            progress,
            deadline,
            settings,
            upstream_key,
            record,
        } = start;
        let tool = Arc::clone(cleared.tool());
        let session = session.unwrap_or(run.into());
        // While a worker or a person is asked, whoever made the call does nothing, and its time stands still.
        let asks_outside = tool.executor.asks_outside();
        let left = deadline.filter(|_| !asks_outside);
        let left = left.map_or(Duration::MAX, |deadline| deadline.duration_since(Instant::now()));
        let limit = tool.def.timeout().min(left);
        let in_time = limit <= wait;
        // A start may be refused because the tenant has changed, and the call is then made anew. What is run
        // beside it must not mind being run twice.
        let flush_first =
            !tool.may_run_twice() || claim.is_some() || !in_time || cleared.standing().is_some();

        // Waiting for a slot may have taken so long that this server is about to stop by now.
        let boarding = self.inner.flights.board(caller.tenant, run).ok_or(Rejected::Closed)?;
        let starting = Starting { caller: &caller, tool: &tool, run, session, mode };
        let sealed_input = cleared.sealed_for(run);
        let kept = || Resumption {
            wrapper: settings.clone(),
            sealed_input: sealed_input.clone(),
            upstream_key: upstream_key.clone(),
            ..Resumption::new(&caller, mode, session)
        };
        // Nobody goes on with a replay: without its record it would do what the recorded run did.
        let is_resumable = tool.executor.is_resumable() && record.is_none();
        let waits = is_resumable.then(|| kept().row(&tool, PendingState::Claimed));
        let entry = starting.open(&self.inner.store, claim, waits, cleared.text(), cleared.standing());
        let started = entry.at;
        // Asking takes no time, and a caller who waits for less wants to know what was asked.
        let open = (!in_time && !asks_outside)
            .then(|| starting.record(&self.inner.store, started, RunStatus::Running));
        let engine = self.clone();
        let (on_disk, told) = oneshot::channel();
        let is_inner = !caller.chain.is_empty();
        // From here on nothing depends on the caller: a start that is written has somebody who runs it,
        // and a run that ends has somebody who writes that down.
        let work = async move {
            let starting = if flush_first {
                engine.inner.log.append(entry).await?;
                // Only a caller who no longer waits for the end wants to know.
                let _ = on_disk.send(());
                None
            } else {
                Some(Beginning::Kept(Box::new(entry)))
            };
            let lease = Lease {
                caller,
                run,
                session,
                mode,
                started,
                lease_epoch: 1,
                starting,
                boarding,
                slot,
                limit,
                spent: Duration::ZERO,
                refusals: Refusals::default(),
                settings,
                sealed_input,
                upstream_key,
                progress,
                edited_by: None,
                record,
            };
            let job = Job::new(engine, cleared, lease);
            match unwanted {
                Some(unwanted) => job.run_while_wanted(unwanted).await,
                None => job.run().await,
            }
        };
        let work = work.in_current_span();
        // A chain of calls would be deep for one stack, so each call in it has a task and with it a stack of its own.
        let mut task = if is_inner {
            tokio::spawn(Box::pin(work)).map(Result::ok).left_future()
        } else {
            Detaching::new(work).map(Result::ok).right_future()
        };
        let ended = match open {
            None => task.await,
            Some(open) => match tokio::time::timeout(wait, &mut task).await {
                Ok(ended) => ended,
                // What is answered as running is on disk as running.
                Err(_) => tokio::select! {
                    ended = &mut task => ended,
                    Ok(()) = told => return Ok(Answer { run: open, approval: None, pending: None, is_repeat: false }),
                },
            },
        };
        // The task contains the tool's panics itself; one that is left is ours.
        let run = ended.unwrap_or(Err(Rejected::Closed))?;
        Ok(Answer { run, approval: None, pending: None, is_repeat: false })
    }
}

impl Job {
    /// There is no run but of a call that was cleared.
    pub(crate) fn new(engine: Engine, cleared: Cleared, mut lease: Lease) -> Self {
        let (tool, input, permissions, secrets) = cleared.into_parts();
        let refusals = Arc::new(std::mem::take(&mut lease.refusals));
        let (log, usage) = (LogLines::default(), UsageMeter::default());
        Self { engine, tool, input, permissions, secrets, lease, refusals, log, usage }
    }

    /// As [`Job::run`], cancelled like by hand once nobody wants it any more.
    async fn run_while_wanted(self, unwanted: CancellationToken) -> Result<Run, Rejected> {
        let (engine, caller, run) = (self.engine.clone(), self.lease.caller.clone(), self.lease.run);
        let mut job = Box::pin(self.run());
        tokio::select! {
            biased;
            ended = &mut job => ended,
            () = unwanted.cancelled() => {
                // The run hears of it from its row, as it would from another replica.
                let (ended, ()) = tokio::join!(job, engine.cancel_unwanted(caller, run));
                ended
            }
        }
    }

    /// Runs the tool and writes down how it ended.
    pub(crate) async fn run(mut self) -> Result<Run, Rejected> {
        let began = Instant::now();
        let span = tracing::info_span!("run", run_id = %self.lease.run, tool = &*self.tool.slug);
        let deadline = began + self.lease.limit.saturating_sub(self.lease.spent);
        let outcome = self.run_tool(deadline).instrument(span).await;
        self.lease.spent += began.elapsed();
        let result = match outcome {
            Outcome::Waits(Wait::Runs { .. } | Wait::Answer { .. }) if self.lease.record.is_some() => {
                let message = "not replayed: the call waits for a worker or a person";
                self.finish(End::failed(Code::NotRecorded, message.to_owned())).await
            }
            Outcome::Waits(wait) if self.lease.record.is_none() => Box::pin(self.park(wait, deadline)).await,
            Outcome::Interrupted if self.is_resumable() => Box::pin(self.leave_to_others()).await,
            Outcome::Interrupted | Outcome::Waits(_) => {
                let message = "the server stopped while the tool was running";
                self.finish(End::interrupted(self.effect(), message)).await
            }
            Outcome::EndedElsewhere => Box::pin(self.as_stored()).await,
            Outcome::Ended(end) => self.finish(end).await,
        };
        if let Ok(run) = &result
            && !run.status.is_open()
        {
            self.engine.has_ended(run);
            let agent = match &self.lease.caller.principal {
                Principal::Agent { slug, .. } => Some(slug.as_str()),
                Principal::User { .. } => None,
            };
            self.engine.observe(run, agent, self.lease.caller.trace.as_deref());
        }
        // The slot in the concurrency group is free once the end is on disk, not before.
        drop(self.lease.slot);
        result
    }

    async fn run_tool(&mut self, deadline: Instant) -> Outcome {
        let Some(question) = Question::of(&self.lease.caller, &self.tool, self.lease.mode, &self.input)
        else {
            return self.run_executor(deadline).await;
        };
        let results = &self.engine.clone().inner.pure;
        if let Some(result) = results.get(&question) {
            return Outcome::Ended(End::Success(result));
        }
        let outcome = self.run_executor(deadline).await;
        if let Outcome::Ended(End::Success(result)) = &outcome {
            results.keep(question, result);
        }
        outcome
    }

    async fn run_executor(&mut self, deadline: Instant) -> Outcome {
        if let Err(failure) = self.learn_secrets().await {
            return failed(failure);
        }
        let (output, mut appended) = mpsc::channel(OUTPUT_QUEUE);
        let (reports, mut reported) = mpsc::channel(REPORT_QUEUE);
        let mut pace = ReportPace::new();
        let (waits, mut has_to_wait) = mpsc::channel(1);
        let inner: Arc<dyn InnerCalls> = Arc::new(self.inner_calls(deadline));
        let cx = self.context(deadline, (output, reports), waits, &inner);
        let input = std::mem::take(&mut self.input);
        let (engine, tool) = (self.engine.clone(), Arc::clone(&self.tool));
        let (caller, mode) = (self.lease.caller.clone(), self.lease.mode);
        // Of several who changed an input on the way here the last one chose what is done.
        let editor = self.lease.edited_by.as_ref().or(caller.edited_by());
        let edited_by = editor.map(|party| Actor { principal: party.principal.clone(), key: None });
        let (settings, hidden) = (self.lease.settings.clone(), self.secrets.clone());
        let tool = async move {
            let vault = &engine.inner.vault;
            let cx = match settings {
                Some(settings) => match opened(vault, caller.tenant, settings).await {
                    Ok(settings) => cx.with_settings(settings),
                    Err(failure) => return Ended::Failed(failure),
                },
                None => cx,
            };
            let secrets = OwnSecrets { vault, tenant: caller.tenant, tool: &tool };
            let call = Call {
                cx,
                def: &tool.def,
                mode,
                input,
                caller: &caller,
                edited_by: edited_by.as_ref(),
                secrets: &secrets,
                inner: &*inner,
            };
            let ended = tool.executor.run(call).await;
            match hidden {
                Some(secrets) => without(secrets, ended, caller.tenant, deadline).await,
                None => ended,
            }
        };
        let tool = AssertUnwindSafe(tool).catch_unwind();
        tokio::pin!(tool);
        let mut at_once = match poll!(&mut tool) {
            Poll::Ready(ended) => Some(ended),
            Poll::Pending => {
                self.send_start();
                None
            }
        };
        let outcome = loop {
            let ended = async {
                match at_once.take() {
                    Some(ended) => ended,
                    None => (&mut tool).await,
                }
            };
            tokio::select! {
                biased;
                Some(text) = appended.recv() => self.note_output(&text),
                report = pace.due() => self.note_progress(report),
                Some(report) = reported.recv() => pace.take(report),
                Some(wait) = has_to_wait.recv() => break Outcome::Waits(wait),
                ended = ended => break match ended {
                    Ok(Ended::Done(result)) => self.check_output(result, deadline).await,
                    Ok(Ended::Waits(wait)) => Outcome::Waits(wait),
                    // A tool that was told to stop may put that in its own words; why it was told counts.
                    Ok(Ended::Failed(_)) if self.lease.boarding.cancel.is_cancelled() => self.stopped(),
                    // Whatever it waited for last took as long as the run may take.
                    Ok(Ended::Failed(failure))
                        if failure.code == Code::Timeout && deadline <= Instant::now() + AT_THE_END =>
                    {
                        self.timed_out()
                    }
                    Ok(Ended::Failed(failure)) => failed(failure),
                    Err(_) => failed(ToolFailure::with_code(
                        Code::ToolPanicked,
                        "the tool crashed; its author can find out why in the server's log",
                    )),
                },
                () = self.lease.boarding.cancel.cancelled() => break self.stopped(),
                () = sleep_until(deadline) => {
                    // Blocking work of the tool sees the signal; the future itself is dropped.
                    self.lease.boarding.cancel.cancel();
                    break self.timed_out();
                }
            }
        };
        while let Ok(text) = appended.try_recv() {
            self.note_output(&text);
        }
        outcome
    }

    /// Sends the start on its way to disk. What the tool appends and its end come after it.
    fn send_start(&mut self) {
        self.lease.starting = match self.lease.starting.take() {
            Some(Beginning::Kept(entry)) => Some(self.engine.inner.log.append_start(*entry)),
            sent => sent,
        };
    }

    /// A tool that makes calls passes on what its definition holds.
    async fn learn_secrets(&mut self) -> Result<(), ToolFailure> {
        if self.tool.executor.is_resumable() {
            let (def, given) = (&self.tool.def, self.secrets.as_ref());
            let vault = &self.engine.inner.vault;
            let all = vault.call_secrets(self.lease.caller.tenant, def.id, &def.authored, given).await;
            self.secrets = all.map_err(|error| unopened(&error))?;
        }
        Ok(())
    }

    fn context(
        &self,
        deadline: Instant,
        (output, progress): (mpsc::Sender<String>, mpsc::Sender<ToolProgress>),
        waits: mpsc::Sender<Wait>,
        inner: &Arc<dyn InnerCalls>,
    ) -> ToolContext {
        let Lease { caller, session, run, upstream_key, .. } = &self.lease;
        ToolContext::new(ContextParts {
            tenant: caller.tenant,
            tenant_slug: caller.tenant_slug.clone(),
            user: caller.principal.owner(),
            agent: match &caller.principal {
                Principal::Agent { slug, .. } => Some(slug.clone()),
                Principal::User { .. } => None,
            },
            session: *session,
            run: *run,
            source: caller.source,
            permissions: self.permissions.clone(),
            deadline,
            cancel: self.lease.boarding.cancel.clone(),
            output: Some(output),
            progress: Some(progress),
            log: self.log.clone(),
            blocking_in_flight: Arc::clone(&self.engine.inner.flights.blocking),
            idempotency: upstream_key.clone(),
            trace: self.engine.traceparent(caller, *run),
            services: self.engine.inner.services.clone(),
            // Only a run that can be resumed can wait for a call of its own.
            inner: self.tool.executor.is_resumable().then(|| Arc::clone(inner)),
            waits: Some(waits),
            usage: self.usage.clone(),
        })
    }

    fn inner_calls(&self, deadline: Instant) -> Inner {
        Inner {
            engine: self.engine.clone(),
            caller: self.lease.caller.clone(),
            run: self.lease.run,
            tool: Arc::clone(&self.tool),
            session: self.lease.session,
            deadline,
            upstream_key: self.lease.upstream_key.clone().unwrap_or_else(|| self.lease.run.to_string()),
            edited_by: self.lease.edited_by.clone(),
            secrets: self.secrets.clone(),
            refusals: Arc::clone(&self.refusals),
            record: self.lease.record.clone(),
        }
    }

    /// Whether another replica can go on with it.
    fn is_resumable(&self) -> bool {
        self.tool.executor.is_resumable() && self.lease.record.is_none()
    }

    fn stopped(&self) -> Outcome {
        match self.lease.boarding.why_stopped() {
            Stop::EndedElsewhere => Outcome::EndedElsewhere,
            Stop::Shutdown => Outcome::Interrupted,
        }
    }

    fn timed_out(&self) -> Outcome {
        Outcome::Ended(End::TimedOut { limit: self.lease.limit, effect: self.effect() })
    }

    /// Holds a result against the tool's schema; apart from everybody else where that takes long.
    async fn check_output(&self, result: ToolResult, deadline: Instant) -> Outcome {
        let Some(schema) = &self.tool.output else { return Outcome::Ended(End::Success(result)) };
        let bytes = bytes_of(&result.data);
        if bytes <= INLINE_BYTES_MAX && schema.is_quick(bytes) {
            return Outcome::Ended(checked(schema, result));
        }
        let (tenant, schema) = (self.lease.caller.tenant, schema.clone());
        let left = deadline.saturating_duration_since(Instant::now());
        match HeavyPool::shared().run(tenant, left, move || checked(&schema, result)).await {
            Ok(end) => Outcome::Ended(end),
            Err(Overload::Late { .. }) => self.timed_out(),
            Err(overload) => failed(overload.into()),
        }
    }

    /// A piece of output while the tool runs. Not waited for: the end of the run is, and it comes after.
    fn note_output(&mut self, text: &str) {
        self.send_start();
        let clean = self.secrets.as_ref().map(|secrets| secrets.text(text.to_owned()));
        let text = clean.as_deref().unwrap_or(text);
        let event = run_log::event(EventKind::OutputAppended, self.lease.run, &OutputAppended { text });
        let entry = self.change(Change::expecting(self.expect()), Some(event));
        self.engine.inner.log.append_unwatched(entry);
    }

    /// How far the tool is while it runs. Not waited for either.
    fn note_progress(&mut self, report: ToolProgress) {
        self.send_start();
        let message = report.message.map(|message| match &self.secrets {
            Some(secrets) => secrets.text(message),
            None => message,
        });
        let report = ToolProgress { message, ..report };
        let event = run_log::event(EventKind::Progress, self.lease.run, &report);
        let entry = self.change(Change::expecting(self.expect()), Some(event));
        self.engine.inner.log.append_unwatched(entry);
        if let Some(listener) = &self.lease.progress {
            // Whoever listens slowly misses some.
            let _ = listener.try_send(report);
        }
    }

    /// What the tool wrote to its log, without secrets.
    fn logs(&self) -> Vec<String> {
        let lines = self.log.take().into_iter();
        match &self.secrets {
            Some(secrets) => lines.map(|line| secrets.text(line)).collect(),
            None => lines.collect(),
        }
    }

    async fn finish(&mut self, end: End) -> Result<Run, Rejected> {
        let (run, spent) = (self.lease.run, Some(self.lease.spent));
        let beside = Beside { logs: self.logs(), usage: self.usage.total() };
        let ended = end.with(run, &self.tool.slug, spent, beside);
        let over = self.is_resumable().then_some(WaitChange::Over);
        let change = Change { wait: over, ..ended.change(self.expect()) };
        let entry = self.change(change, Some(ended.event.clone()));
        let run = ended.onto(self.record(RunStatus::Running), entry.at);
        self.write(entry, run).await
    }

    /// Writes the last entry that this replica makes about the run.
    pub(super) async fn write(&mut self, entry: Entry, run: Run) -> Result<Run, Rejected> {
        match self.engine.inner.log.append_end(entry, self.lease.starting.take()).await {
            Ok(_) => {
                if !run.status.is_open() {
                    count(&run);
                }
                Ok(run)
            }
            Err(Rejected::Status { .. }) => Box::pin(self.as_stored()).await,
            Err(rejected) => Err(rejected),
        }
    }

    /// The run as somebody else has ended it.
    async fn as_stored(&mut self) -> Result<Run, Rejected> {
        self.send_start();
        if let Some(Beginning::Sent(starting)) = self.lease.starting.take() {
            starting.wait().await?;
        }
        let scope = self.engine.inner.store.tenant(self.lease.caller.tenant);
        match scope.run(self.lease.run).await {
            Ok(Some(run)) => Ok(run),
            Ok(None) => Err(Rejected::NoRun),
            Err(error) => Err(Rejected::Failed(Arc::new(error))),
        }
    }

    fn effect(&self) -> Effect {
        if self.tool.def.has_effects() { Effect::Unknown } else { Effect::None }
    }

    pub(super) fn expect(&self) -> Expect {
        Expect::Lease(self.lease.lease_epoch)
    }

    pub(super) fn change(&self, change: Change, event: Option<NewEvent>) -> Entry {
        self.starting().identity().change(change, event.into_iter().collect())
    }

    pub(super) fn record(&self, status: RunStatus) -> Run {
        let run = self.starting().record(&self.engine.inner.store, self.lease.started, status);
        Run { lease_epoch: self.lease.lease_epoch, ..run }
    }

    fn starting(&self) -> Starting<'_> {
        let Lease { caller, run, session, mode, .. } = &self.lease;
        Starting { caller, tool: &self.tool, run: *run, session: *session, mode: *mode }
    }

    pub(super) fn refused(&self) -> std::collections::BTreeMap<String, run_log::KeptRefusal> {
        self.refusals.all()
    }
}

fn checked(schema: &Schema, result: ToolResult) -> End {
    if schema.is_valid(&result.data) {
        return End::Success(result);
    }
    let faults = schema.faults(&result.data);
    let first =
        faults.first().map_or_else(String::new, |fault| format!(": `{}` {}", fault.path, fault.message));
    End::failed(Code::OutputInvalid, format!("the tool's output does not fit its schema{first}"))
}

fn failed(failure: ToolFailure) -> Outcome {
    Outcome::Ended(End::Failure { failure, effect: None })
}

/// Opens the secrets in the definition of the tool that runs.
#[derive(Debug)]
struct OwnSecrets<'a> {
    vault: &'a Vault,
    tenant: TenantId,
    tool: &'a Tool,
}

impl Unseal for OwnSecrets<'_> {
    fn implementation(&self) -> BoxFuture<'_, Result<Value, ToolFailure>> {
        let sealed = &self.tool.def.authored.implementation;
        Box::pin(unsealed(self.vault, self.tenant, self.tool.def.id, sealed))
    }

    fn execution_spec(&self) -> BoxFuture<'_, Result<Value, ToolFailure>> {
        let sealed = self.tool.def.authored.execution_spec.as_ref().unwrap_or(&Value::Null);
        Box::pin(unsealed(self.vault, self.tenant, self.tool.def.id, sealed))
    }
}

/// The settings of a wrapper, for the run of what it wraps.
async fn opened(
    vault: &Vault,
    tenant: TenantId,
    settings: WrapperSettings,
) -> Result<Arc<Value>, ToolFailure> {
    if !settings.has_secrets() {
        return Ok(settings.sealed);
    }
    unsealed(vault, tenant, settings.tool, &settings.sealed).await.map(Arc::new)
}

async fn unsealed(
    vault: &Vault,
    tenant: TenantId,
    tool: ToolId,
    sealed: &Value,
) -> Result<Value, ToolFailure> {
    vault.open_part(tenant, tool, sealed).await.map_err(|error| unopened(&error))
}

fn unopened(error: &tw_base::Error) -> ToolFailure {
    let error = error as &dyn std::error::Error;
    tracing::error!(error, "the secrets of a tool could not be opened");
    let message = "the tool's secrets could not be opened; the server's log says why";
    ToolFailure::with_code(Code::Internal, message)
}

/// What a tool ends with, without secrets; a large result is searched apart from everybody else.
async fn without(secrets: Arc<CallSecrets>, ended: Ended, tenant: TenantId, deadline: Instant) -> Ended {
    let outcome = match ended {
        Ended::Done(result) => Ok(result),
        Ended::Failed(failure) => Err(failure),
        Ended::Waits(wait) => return Ended::Waits(wait),
    };
    let is_large = outcome.as_ref().is_ok_and(|result| INLINE_BYTES_MAX < bytes_of(&result.data));
    if !is_large {
        return secrets.outcome(outcome).into();
    }
    let left = deadline.saturating_duration_since(Instant::now());
    match HeavyPool::shared().run(tenant, left, move || secrets.outcome(outcome)).await {
        Ok(outcome) => outcome.into(),
        Err(overload) => Ended::Failed(overload.into()),
    }
}

pub(crate) fn count(run: &Run) {
    metrics::counter!("toolwright_runs_total", "status" => run.status.as_str(), "source" => run.source.as_str())
        .increment(1);
    #[expect(clippy::cast_precision_loss, reason = "a duration in seconds needs no more digits")]
    let seconds = run.duration_us.unwrap_or(0) as f64 / 1e6;
    metrics::histogram!("toolwright_run_seconds").record(seconds);
}
