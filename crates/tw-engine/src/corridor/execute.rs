//! Steps 9 and 10: running the tool under its deadline, and checking what it gave back.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use serde_json::{Value, value::RawValue};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use toolwright_sdk::{ContextParts, House, ToolContext};
use tracing::Instrument;
use tw_model::{
    Caller, Code, Effect, EventKind, Mode, Principal, RunId, RunStatus, SessionId, Timestamp, ToolFailure,
    ToolResult,
};
use tw_store::{
    Run,
    log::{Appended, Change, Claim, Entry, Expect, Finished, Rejected, Step, Ticket, WaitChange, WaitState},
};

use super::{
    Answer,
    gate::Cleared,
    park::going_on,
    payload,
    record::{self, Resumption, raw},
    slot::Slot,
};
use crate::{
    Engine,
    catalogue::{Body, Tool},
    chain::{Inner, Refusals},
    flights::{Boarding, Stop},
    kinds::{Call, Ended, Wait},
    pure::Asked,
    settle::RunIdentity,
};

/// What a run may give back.
const OUTPUT_BYTES_MAX: usize = 10 << 20;
/// How close to its deadline a run is out of time.
const AT_THE_END: Duration = Duration::from_millis(250);
/// How many pieces of appended output wait to be written.
const OUTPUT_QUEUE: usize = 64;

/// A run that is about to begin.
pub(crate) struct Start {
    pub(crate) run: RunId,
    pub(crate) session: Option<SessionId>,
    pub(crate) caller: Caller,
    pub(crate) mode: Mode,
    pub(crate) claim: Option<Claim>,
    pub(crate) unwanted: Option<CancellationToken>,
    pub(crate) deadline: Option<Instant>,
}

/// A run under way.
pub(crate) struct Job {
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) tool: Arc<Tool>,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) mode: Mode,
    pub(crate) started: Timestamp,
    pub(crate) lease_epoch: i64,
    /// The start that is still on its way to disk, where the tool need not wait for it.
    pub(crate) starting: Option<Ticket>,
    pub(crate) input: Value,
    pub(crate) boarding: Boarding,
    pub(crate) slot: Slot,
    /// How long it may take.
    pub(crate) limit: Duration,
    /// How much of that was taken before it stopped to wait.
    pub(crate) spent: Duration,
    pub(crate) refusals: Arc<Refusals>,
}

/// How the tool came to an end.
enum Outcome {
    Succeeded(ToolResult),
    Failed(ToolFailure),
    TimedOut,
    /// The row says already how.
    EndedElsewhere,
    Interrupted,
    Waits(Wait),
}

impl Engine {
    /// Writes down the start and runs the tool, in a task of its own: a caller who hangs up does not
    /// stop a run.
    pub(super) async fn begin(
        &self,
        start: Start,
        cleared: Cleared,
        slot: Slot,
        wait: Duration,
    ) -> Result<Answer, Rejected> {
        let Start { run, session, caller, mode, claim, unwanted, deadline } = start;
        let (tool, input, text) = cleared.into_parts();
        let session = session.unwrap_or(run.into());
        // While somebody outside is asked, whoever made the call does nothing, and its time stands still.
        let asks_outside = tool.asks_outside();
        let left = deadline.filter(|_| !asks_outside);
        let left = left.map_or(Duration::MAX, |deadline| deadline.duration_since(Instant::now()));
        let limit = tool.def.timeout().min(left);
        let in_time = limit <= wait;
        let goes_on = tool.goes_on();
        // A start may be refused because the tenant has changed, and the call is then made anew. What is run
        // beside it must not mind being run twice.
        let flush_first = !tool.may_run_twice() || claim.is_some() || !in_time;

        // Waiting for a place may have taken so long that this server is about to stop by now.
        let boarding = self.inner.flights.board(caller.tenant, run).ok_or(Rejected::Closed)?;
        let mut new = record::new_run(self, &caller, &tool, run, mode, claim);
        new.wait =
            goes_on.then(|| going_on(Resumption::new(&caller, mode, session), &tool, WaitState::Claimed));
        let event = started_event(&caller, &tool, run, mode, &text);
        let entry = record::entry(&caller, &tool.slug, run, session, Step::Open(Box::new(new)), vec![event]);
        let started = entry.at;
        // Asking takes no time, and whoever waits for less wants to know what was asked.
        let open = (!in_time && !asks_outside)
            .then(|| self.fresh_run(&caller, &tool, run, session, mode, started, RunStatus::Running));
        let engine = self.clone();
        let (on_disk, told) = oneshot::channel();
        // From here on nothing depends on the caller: a start that is written has somebody who runs it,
        // and a run that ends has somebody who writes that down.
        // The run is some kilobytes, which are moved once and not at every step into the task.
        let mut task = tokio::spawn(
            Box::pin(async move {
                let starting = if flush_first {
                    engine.append(entry).await?;
                    // Only a caller who no longer waits for the end wants to know.
                    let _ = on_disk.send(());
                    None
                } else {
                    Some(engine.inner.store.log().append_patiently(entry))
                };
                let lease_epoch = 1;
                let job = Job {
                    engine,
                    caller,
                    tool,
                    run,
                    session,
                    mode,
                    started,
                    lease_epoch,
                    starting,
                    input,
                    boarding,
                    slot,
                    limit,
                    spent: Duration::ZERO,
                    refusals: Arc::default(),
                };
                match unwanted {
                    Some(unwanted) => job.run_while_wanted(unwanted).await,
                    None => job.run().await,
                }
            })
            .in_current_span(),
        );
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

/// The event that says that a run has begun, with its input.
pub(crate) fn started_event(
    caller: &Caller,
    tool: &Tool,
    run: RunId,
    mode: Mode,
    input: &RawValue,
) -> tw_store::log::NewEvent {
    let payload = payload::Started { about: payload::About::new(caller, tool, mode), input };
    payload::event(EventKind::Started, run, &payload)
}

impl Job {
    /// As [`Job::run`], cancelled like by hand once nobody wants it any more.
    async fn run_while_wanted(self, unwanted: CancellationToken) -> Result<Run, Rejected> {
        let (engine, caller, run) = (self.engine.clone(), self.caller.clone(), self.run);
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
        let span = tracing::info_span!("run", run_id = %self.run, tool = &*self.tool.slug);
        let deadline = began + self.limit.saturating_sub(self.spent);
        let outcome = self.run_tool(deadline).instrument(span).await;
        self.spent += began.elapsed();
        let duration = self.spent;
        let result = match outcome {
            Outcome::Waits(wait) => Box::pin(self.park(wait, deadline)).await,
            Outcome::Interrupted if self.tool.goes_on() => Box::pin(self.leave_to_others()).await,
            outcome => self.finish(outcome, duration).await,
        };
        if let Ok(run) = &result
            && !run.status.is_open()
        {
            self.engine.has_ended(run);
        }
        // The place in the concurrency group is free once the end is on disk, not before.
        drop(self.slot);
        result
    }

    async fn run_tool(&mut self, deadline: Instant) -> Outcome {
        let Some(asked) = Asked::of(&self.caller, &self.tool, self.mode, &self.input) else {
            return self.run_body(deadline).await;
        };
        let results = &self.engine.clone().inner.pure;
        if let Some(result) = results.get(&asked) {
            return Outcome::Succeeded(result);
        }
        let outcome = self.run_body(deadline).await;
        if let Outcome::Succeeded(result) = &outcome {
            results.keep(asked, result);
        }
        outcome
    }

    async fn run_body(&mut self, deadline: Instant) -> Outcome {
        let (output, mut appended) = mpsc::channel(OUTPUT_QUEUE);
        let cx = ToolContext::new(ContextParts {
            tenant: self.caller.tenant,
            tenant_slug: self.caller.tenant_slug.clone(),
            user: self.caller.principal.owner(),
            agent: match &self.caller.principal {
                Principal::Agent { slug, .. } => Some(slug.clone()),
                Principal::User { .. } => None,
            },
            session: self.session,
            run: self.run,
            source: self.caller.source,
            permissions: self.caller.permissions.clone(),
            deadline,
            cancel: self.boarding.cancel.clone(),
            output: Some(output),
            blocking_in_flight: Arc::clone(&self.engine.inner.flights.blocking),
            trace: self.caller.trace.as_ref().map(|trace| trace.parent(self.run)),
            house: Some(Arc::clone(&self.engine.inner.rooms) as Arc<dyn House>),
        });
        let input = std::mem::take(&mut self.input);
        let (engine, tool) = (self.engine.clone(), Arc::clone(&self.tool));
        let (caller, run_id, session, mode) = (self.caller.clone(), self.run, self.session, self.mode);
        let refusals = Arc::clone(&self.refusals);
        let tool = async move {
            match &tool.body {
                Body::Code(run) => run(cx, input).await.into(),
                Body::ManageTools => engine.manage_tools(&caller, run_id, input).await.into(),
                Body::Kind(executor) => {
                    let own = Arc::clone(&tool);
                    let inner = Inner { engine, caller, run: run_id, tool: own, session, deadline, refusals };
                    let vault = &inner.engine.inner.vault;
                    executor.run(Call { cx, def: &tool.def, mode, input, vault, inner: &inner }).await
                }
            }
        };
        let tool = AssertUnwindSafe(tool).catch_unwind();
        tokio::pin!(tool);
        let outcome = loop {
            tokio::select! {
                biased;
                Some(text) = appended.recv() => self.note_output(&text),
                ended = &mut tool => break match ended {
                    Ok(Ended::Done(result)) => self.check_output(result),
                    Ok(Ended::Waits(wait)) => Outcome::Waits(wait),
                    // A tool that was told to stop may put that in its own words; why it was told counts.
                    Ok(Ended::Failed(_)) if self.boarding.cancel.is_cancelled() => self.stopped(),
                    // Whatever it waited for last took as long as the run may take.
                    Ok(Ended::Failed(failure))
                        if failure.code == Code::Timeout && deadline <= Instant::now() + AT_THE_END =>
                    {
                        Outcome::TimedOut
                    }
                    Ok(Ended::Failed(failure)) => Outcome::Failed(failure),
                    Err(_) => Outcome::Failed(ToolFailure::with_code(
                        Code::ToolPanicked,
                        "the tool crashed; its author can find out why in the server's log",
                    )),
                },
                () = self.boarding.cancel.cancelled() => break self.stopped(),
                () = sleep_until(deadline) => {
                    // Blocking work of the tool sees the signal; the future itself is dropped.
                    self.boarding.cancel.cancel();
                    break Outcome::TimedOut;
                }
            }
        };
        while let Ok(text) = appended.try_recv() {
            self.note_output(&text);
        }
        outcome
    }

    fn stopped(&self) -> Outcome {
        match self.boarding.why_stopped() {
            Stop::EndedElsewhere => Outcome::EndedElsewhere,
            Stop::Shutdown => Outcome::Interrupted,
        }
    }

    fn check_output(&self, result: ToolResult) -> Outcome {
        let Some(schema) = &self.tool.output else { return Outcome::Succeeded(result) };
        if schema.is_valid(&result.data) {
            return Outcome::Succeeded(result);
        }
        let faults = schema.faults(&result.data);
        let first =
            faults.first().map_or_else(String::new, |fault| format!(": `{}` {}", fault.path, fault.message));
        Outcome::Failed(ToolFailure::with_code(
            Code::OutputInvalid,
            format!("the tool's output does not fit its schema{first}"),
        ))
    }

    /// A piece of output while the tool runs. Not waited for: the end of the run is, and it comes after.
    fn note_output(&self, text: &str) {
        let event = payload::event(EventKind::OutputAppended, self.run, &payload::OutputAppended { text });
        let change = self.change(None, None);
        drop(self.engine.inner.store.log().append_patiently(self.entry(change, vec![event])));
    }

    async fn finish(&mut self, outcome: Outcome, duration: Duration) -> Result<Run, Rejected> {
        let duration_us = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        let mut run = self.engine.fresh_run(
            &self.caller,
            &self.tool,
            self.run,
            self.session,
            self.mode,
            self.started,
            RunStatus::Running,
        );
        run.lease_epoch = self.lease_epoch;
        run.duration_us = Some(duration_us);
        let event = match outcome {
            Outcome::Succeeded(result) => self.succeed(result, &mut run),
            Outcome::Failed(failure) => {
                self.fail(&mut run, RunStatus::Error, failure.code, &failure.message, None)
            }
            Outcome::TimedOut => {
                let message = timed_out(self.limit);
                self.fail(&mut run, RunStatus::TimedOut, Code::Timeout, &message, Some(self.effect()))
            }
            Outcome::Interrupted => {
                let message = "the server stopped while the tool was running";
                self.fail(&mut run, RunStatus::Error, Code::Interrupted, message, Some(self.effect()))
            }
            Outcome::EndedElsewhere => return Box::pin(self.as_stored()).await,
            Outcome::Waits(_) => unreachable!("a run that waits does not finish"),
        };
        let finished = Finished {
            summary: run.summary.clone(),
            error: run.error.clone(),
            error_code: run
                .error_code
                .as_deref()
                .and_then(|code| code.parse::<Code>().ok())
                .map(Code::as_str),
            effect: run.effect.as_deref().map(|_| self.effect()),
            duration_us: Some(duration_us),
        };
        let entry = self.entry(self.change(Some(run.status), Some(finished)), vec![event]);
        run.finished = Some(entry.at);
        self.write_end(entry, run).await
    }

    pub(super) async fn write_end(&mut self, entry: Entry, run: Run) -> Result<Run, Rejected> {
        let again = entry.clone();
        let ending = self.engine.inner.store.log().append(entry);
        if let Some(starting) = self.starting.take() {
            let started = starting.wait().await;
            if let Err(rejected) = started {
                // The end went the same way; the start says why.
                let _ = ending.wait().await;
                if matches!(rejected, Rejected::Failed(_)) {
                    self.engine.inner.settler.never_started(RunIdentity::of(&again));
                }
                return Err(rejected);
            }
        }
        match ending.wait().await {
            Ok(Appended { .. }) => {
                if !run.status.is_open() {
                    count(&run);
                }
                Ok(run)
            }
            Err(Rejected::Status { .. }) => Box::pin(self.as_stored()).await,
            Err(rejected) => {
                if matches!(rejected, Rejected::Failed(_)) {
                    self.engine.inner.settler.later(again);
                }
                Err(rejected)
            }
        }
    }

    /// The run as somebody else has ended it.
    async fn as_stored(&mut self) -> Result<Run, Rejected> {
        if let Some(starting) = self.starting.take() {
            starting.wait().await?;
        }
        let scope = self.engine.inner.store.tenant(self.caller.tenant);
        match scope.run(self.run).await {
            Ok(Some(run)) => Ok(run),
            Ok(None) => Err(Rejected::NoRun),
            Err(error) => Err(Rejected::Failed(Arc::new(error))),
        }
    }

    fn succeed(&self, result: ToolResult, run: &mut Run) -> tw_store::log::NewEvent {
        let output = raw(&result.data);
        if OUTPUT_BYTES_MAX < output.get().len() {
            let message = format!("the tool's output is over {OUTPUT_BYTES_MAX} bytes");
            return self.fail(run, RunStatus::Error, Code::OutputInvalid, &message, None);
        }
        let event = payload::event(
            EventKind::Completed,
            self.run,
            &payload::Completed {
                output: &output,
                summary: &result.summary,
                markdown: result.markdown.as_deref(),
                duration_ms: run.duration_us.unwrap_or(0) / 1000,
                duration_us: run.duration_us.unwrap_or(0),
            },
        );
        run.status = RunStatus::Success;
        run.output = Some(output);
        run.summary = Some(storable(&result.summary));
        run.markdown = result.markdown;
        event
    }

    fn fail(
        &self,
        run: &mut Run,
        status: RunStatus,
        code: Code,
        message: &str,
        effect: Option<Effect>,
    ) -> tw_store::log::NewEvent {
        run.status = status;
        run.error = Some(storable(message));
        run.error_code = Some(code.as_str().to_owned());
        run.effect = effect.map(|effect| effect.as_str().to_owned());
        payload::event(
            EventKind::Failed,
            self.run,
            &payload::Failed {
                status,
                error: message,
                error_code: code.as_str(),
                effect,
                duration_ms: run.duration_us.map(|duration| duration / 1000),
                duration_us: run.duration_us,
            },
        )
    }

    fn effect(&self) -> Effect {
        if self.tool.def.has_effects() { Effect::Unknown } else { Effect::None }
    }

    fn change(&self, to: Option<RunStatus>, finished: Option<Finished>) -> Step {
        Step::Change(Box::new(Change {
            expect: Expect::Lease(self.lease_epoch),
            to,
            finished,
            claimed_by: None,
            epoch: None,
            decision: None,
            wait: (self.tool.goes_on() && to.is_some()).then_some(WaitChange::Over),
        }))
    }

    pub(super) fn entry(&self, step: Step, events: Vec<tw_store::log::NewEvent>) -> Entry {
        record::entry(&self.caller, &self.tool.slug, self.run, self.session, step, events)
    }
}

/// What a run that took too long says.
pub(crate) fn timed_out(limit: Duration) -> String {
    format!("Tool timed out after {}ms", limit.as_millis())
}

/// A text as both databases take it: PostgreSQL has no NUL in text.
pub(crate) fn storable(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

pub(crate) fn count(run: &Run) {
    metrics::counter!("toolwright_runs_total", "status" => run.status.as_str(), "source" => run.source.as_str())
        .increment(1);
    #[expect(clippy::cast_precision_loss, reason = "a duration in seconds needs no more digits")]
    let seconds = run.duration_us.unwrap_or(0) as f64 / 1e6;
    metrics::histogram!("toolwright_run_seconds").record(seconds);
}
