//! Replay: recorded calls of a tool, made again with a draft or a version, and what differs.
//!
//! The calls are made as test cases are: as calls of whoever asks, in the mode `debug`. What has effects is answered from
//! the record; see `corridor/record.rs`.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolwright_sdk::HeavyPool;
use tw_base::{Error, Result, faultless};
use tw_identity::rights::{Permit, ReadRuns, RunTools, TestTools};
use tw_model::{Caller, Code, Mode, RunId, RunStatus, Timestamp, ToolId, left_redacted};
use tw_registry::{
    AT_ONCE, Against, BATCH_TIME, COMPARE_TIME, CaseCall, CaseEnd, Diff, EndStatus, Expectation, Outcome,
    seen,
};
use tw_schema::Violation;
use tw_store::{PAGE_BYTES_MAX, Run, RunFilter, RunPlace};

use crate::{
    Engine,
    cases::{is_about_the_input, outcome_of, refused},
    corridor::{record::Record, validate::overloaded},
};

/// How many recorded calls are replayed where nobody says how many.
pub const REPLAY_DEFAULT: i64 = 20;
/// How many recorded calls are replayed at the most.
pub const REPLAY_MAX: i64 = 100;
/// How many runs are read at a time, and how many times, to find those that can be replayed.
const READ_AT_ONCE: i64 = 100;
const READS_MAX: usize = 20;

/// How the recorded calls of a tool went the second time.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayReport {
    pub same: usize,
    pub different: usize,
    pub not_replayed: usize,
    pub items: Vec<ReplayedCall>,
}

/// One recorded call, and what came of it the second time.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayedCall {
    pub run_id: RunId,
    pub version: String,
    pub at: Timestamp,
    pub input: Value,
    pub recorded: Value,
    pub replayed: Value,
    /// `None` where the call was not made again.
    pub same: Option<bool>,
    pub recorded_status: RunStatus,
    pub replayed_status: Option<RunStatus>,
    pub recorded_error_code: Option<String>,
    pub replayed_error_code: Option<String>,
    pub replay_run_id: Option<RunId>,
    pub diff: Vec<Diff>,
    /// Why the call was not made again, or not to its end.
    pub reason: Option<String>,
    /// The same for programs: a word in lower snake case, or the code of the error.
    pub reason_code: Option<&'static str>,
    /// The values in `reason`.
    pub reason_params: Map<String, Value>,
    /// Whether `replayed` was left out because the answer is full.
    pub is_cut: bool,
}

impl Engine {
    /// Makes recorded calls of a tool again, the newest first, with what was saved last or with a version.
    pub async fn replay(
        &self,
        permit: &Permit<TestTools>,
        name: &str,
        version: &str,
        limit: Option<i64>,
    ) -> Result<ReplayReport> {
        let caller = permit.caller();
        let permit = Permit::<RunTools>::check(caller.clone())?;
        Permit::<ReadRuns>::check(caller.clone())?;
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let entry = view.tools.get(name).filter(|entry| seen(entry, caller, &view).is_some());
        let entry = entry.ok_or_else(|| Error::ToolNotFound { tool: name.to_owned() })?;
        let limit = limit.unwrap_or(REPLAY_DEFAULT);
        let mut faults = Vec::new();
        if !(1..=REPLAY_MAX).contains(&limit) {
            faults.push(Violation::range(1, REPLAY_MAX).at("/limit"));
        }
        let against = Against::read(Some(version), "/version");
        faults.extend(against.as_ref().err().into_iter().flat_map(Error::faults).cloned());
        faultless(faults)?;
        let against = against?;
        self.inner.registry.check_against(caller, entry, &against).await?;
        let pinned = match &against {
            Against::Version(number) => Some(number.as_str()),
            Against::Saved | Against::Draft(_) => None,
        };
        for tool in self.definitions_of(&view, entry.id(), pinned, Mode::Debug).await? {
            let slug = &tool.def.slug;
            if tool.def.has_effects() && !tool.def.is_pure() {
                let why = format!(
                    "`{slug}` has effects: only calls of tools that are pure, or whose level is read or draft, are replayed"
                );
                return Err(Error::Conflict { why });
            }
            if tool.executor.asks_outside() {
                let why = format!("`{slug}` asks a worker or a person: there is nothing to replay");
                return Err(Error::Conflict { why });
            }
        }
        let runs = self.recorded_calls(caller, entry.id(), entry.slug().as_str(), limit).await?;
        let (until, bytes) = (Instant::now() + BATCH_TIME, AtomicUsize::new(0));
        let items: Vec<ReplayedCall> = futures::stream::iter(runs)
            .map(|run| self.replay_run(&permit, run, &against, until, &bytes))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let count = |same| items.iter().filter(|item| item.same == same).count();
        let (same, different, not_replayed) = (count(Some(true)), count(Some(false)), count(None));
        Ok(ReplayReport { same, different, not_replayed, items })
    }

    /// The newest calls of a tool that ended by themselves, as many as there is room for.
    async fn recorded_calls(&self, caller: &Caller, id: ToolId, slug: &str, limit: i64) -> Result<Vec<Run>> {
        let sees_all = caller.permissions.has("runs.tenant.read");
        let filter = RunFilter {
            tool: Some(slug.to_owned()),
            mode: Some(Mode::Production),
            principal: (!sees_all).then(|| caller.principal.label()),
            ..RunFilter::default()
        };
        let scope = self.inner.store.tenant(caller.tenant);
        let limit = usize::try_from(limit).unwrap_or(0);
        let (mut found, mut behind, mut bytes) = (Vec::new(), None, 0);
        for _ in 0..READS_MAX {
            let page = scope.run_page(&filter, behind, 0, READ_AT_ONCE).await;
            let (page, _) = page.map_err(Error::store("reading runs"))?;
            let Some(last) = page.last() else { break };
            behind = Some(RunPlace { listed: last.listed(), id: last.id });
            for run in page.into_iter().filter(|run| run.tool_id == id && is_comparable(run)) {
                bytes += [&run.input, &run.output]
                    .into_iter()
                    .flatten()
                    .map(|part| part.get().len())
                    .sum::<usize>();
                if found.len() == limit || (PAGE_BYTES_MAX < bytes && !found.is_empty()) {
                    return Ok(found);
                }
                found.push(run);
            }
        }
        Ok(found)
    }

    async fn replay_run(
        &self,
        permit: &Permit<RunTools>,
        run: Run,
        against: &Against,
        until: Instant,
        bytes: &AtomicUsize,
    ) -> Result<ReplayedCall> {
        let before = outcome_of(&run)?;
        let input = run.input.as_deref().map(|input| serde_json::from_str::<Value>(input.get()));
        let input = input.transpose().map_err(|error| Error::internal("reading an input", error))?;
        let mut item = ReplayedCall {
            run_id: run.id,
            version: run.version.clone(),
            at: run.listed(),
            input: input.clone().unwrap_or_default(),
            recorded: before.output.clone(),
            replayed: Value::Null,
            same: None,
            recorded_status: before.status,
            replayed_status: None,
            recorded_error_code: before.error_code.clone(),
            replayed_error_code: None,
            replay_run_id: None,
            diff: Vec::new(),
            reason: None,
            reason_code: None,
            reason_params: Map::new(),
            is_cut: false,
        };
        let Some(raw) = run.input.as_deref().map(ToOwned::to_owned) else {
            return Ok(item.because("no_input", json!({}), "its record has no input"));
        };
        if let Some(at) = left_redacted(&item.input) {
            let why = format!("its input has a secret at `{at}`, and secrets are not recorded");
            return Ok(item.because("secret", json!({ "path": at }), why));
        }
        if until <= Instant::now() {
            return Ok(item.because(
                "no_time",
                json!({}),
                "there was no time left for it: replay fewer calls",
            ));
        }
        let record = Arc::new(Record::of(run.id));
        let call = CaseCall { tool: run.tool_id, against: against.clone(), input: raw, secrets: None, until };
        let CaseEnd { run: made, outcome: after } =
            match self.call_and_tell(permit, call, Some(Arc::clone(&record))).await {
                Err(
                    error @ (Error::Refused(_)
                    | Error::RateLimited { .. }
                    | Error::OverLimit { .. }
                    | Error::CredentialMissing { .. }),
                ) => {
                    let params = Value::Object(error.params());
                    return Ok(item.because(error.code().as_str(), params, error.to_string()));
                }
                Err(error) if is_about_the_input(&error) => refused(&error),
                ended => ended?,
            };
        item.replay_run_id = made;
        item.replayed_status = Some(after.status);
        item.replayed_error_code.clone_from(&after.error_code);
        let compare = move || (differences(&before, &after), after.output);
        let compared = HeavyPool::shared().run(permit.caller().tenant, COMPARE_TIME, compare).await;
        let (diff, output) = compared.map_err(overloaded)?;
        let missing = record.missing();
        if !missing.is_empty() {
            let tools = missing.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
            let why = format!(
                "it calls {tools}, and the record has no such call with this input: the call has effects and was not made"
            );
            item = item.because("not_recorded", json!({ "tools": missing }), why);
        }
        item.same = Some(diff.is_empty() && missing.is_empty());
        item.diff = diff;
        let size = output.to_string().len();
        item.is_cut = PAGE_BYTES_MAX < bytes.fetch_add(size, Ordering::Relaxed) + size;
        if !item.is_cut {
            item.replayed = output;
        }
        Ok(item)
    }
}

impl ReplayedCall {
    /// The same with why the call was not made again, or not to its end.
    fn because(self, code: &'static str, params: Value, why: impl Into<String>) -> Self {
        let reason_params = params.as_object().cloned().unwrap_or_default();
        Self { reason: Some(why.into()), reason_code: Some(code), reason_params, ..self }
    }
}

/// Whether a run says what its tool does. One that was cancelled or cut off does not, and one within another run is
/// replayed with that.
fn is_comparable(run: &Run) -> bool {
    let has_ended = matches!(run.status, RunStatus::Success | RunStatus::Error | RunStatus::TimedOut);
    has_ended && run.parent.is_none() && run.error_code != Some(Code::Interrupted)
}

fn differences(before: &Outcome, after: &Outcome) -> Vec<Diff> {
    let status = EndStatus::ALL.into_iter().find(|status| status.as_str() == before.status.as_str());
    let expect = Expectation {
        output: Some(before.output.clone()),
        status,
        error_code: before.error_code.clone(),
        ..Expectation::default()
    };
    expect.diffs(after)
}
