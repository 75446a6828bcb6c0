//! The record of a run that is made again. It answers what must not be done twice.
//!
//! The calls of a replay walk the corridor like any other. One that is cleared and harmless is made; one that has effects,
//! or that somebody has to be asked about, is answered as the recorded run was. What has no record is refused.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use serde_json::value::RawValue;
use tw_base::{Error, Result};
use tw_exec::Refusal;
use tw_model::{Caller, Code, RunId, TenantId};
use tw_registry::Tool;
use tw_schema::canonical;
use tw_store::{Run, RunFilter, RunPlace};

use super::gate::Gate;
use crate::Engine;

/// How many inner calls of a recorded run are read at a time.
const READ_MOST: i64 = 100;

/// What a run did when it was recorded.
#[derive(Debug)]
pub struct Record {
    /// `None` for a call that the recorded run did not make.
    run: Option<RunId>,
    /// The inner calls that have answered. Of equal calls each has its own answer.
    taken: Mutex<HashSet<RunId>>,
    /// The tools whose calls have no record, at whatever depth.
    missing: Arc<Mutex<Vec<String>>>,
}

impl Record {
    pub(crate) fn of(run: RunId) -> Self {
        Self { run: Some(run), taken: Mutex::default(), missing: Arc::default() }
    }

    /// The record of a call that this run makes.
    fn below(&self, run: Option<RunId>) -> Self {
        Self { run, taken: Mutex::default(), missing: Arc::clone(&self.missing) }
    }

    /// The tools that would have been called with effects, and whose calls have no record.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn miss(&self, tool: &Tool) -> Error {
        let slug = tool.def.slug.to_string();
        let message = format!(
            "`{slug}` has effects or waits for somebody, and the record has no call of it with this input: a replay does not make new calls of this kind"
        );
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        if !missing.contains(&slug) {
            missing.push(slug);
        }
        Error::Refused(Refusal { code: Code::NotRecorded, message, faults: Vec::new() })
    }

    /// The first of these that has not answered yet.
    fn take(&self, found: Vec<Run>) -> Option<Run> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().find(|run| taken.insert(run.id))
    }
}

/// What becomes of a call of a replay.
pub(super) enum Replayed {
    /// It is made, and this is the record of it.
    Again(Arc<Record>),
    /// It is answered as it was.
    AsRecorded(Box<Run>),
}

impl Engine {
    /// Decides about a call of a replay that has passed every station.
    pub(super) async fn replayed(
        &self,
        caller: &Caller,
        record: &Arc<Record>,
        gate: &Gate,
    ) -> Result<Replayed> {
        let is_outer = caller.chain.is_empty();
        let (tool, text) = match gate {
            Gate::Clear(cleared) if cleared.is_harmless() => {
                if is_outer {
                    return Ok(Replayed::Again(Arc::clone(record)));
                }
                let (tool, mut before) = (cleared.tool(), None);
                if tool.executor.is_resumable() {
                    let found = self.recorded(caller.tenant, record, tool, cleared.text()).await?;
                    before = record.take(found).map(|run| run.id);
                }
                return Ok(Replayed::Again(Arc::new(record.below(before))));
            }
            Gate::Clear(cleared) => (cleared.tool(), cleared.text()),
            Gate::Ask(asked) => (&asked.tool, &*asked.text),
        };
        if is_outer {
            let message = "not replayed: the call has effects or needs an approval";
            let refusal =
                Refusal { code: Code::NotRecorded, message: message.to_owned(), faults: Vec::new() };
            return Err(Error::Refused(refusal));
        }
        let mut found = self.recorded(caller.tenant, record, tool, text).await?;
        found.retain(|run| !run.status.is_open());
        match record.take(found) {
            Some(run) => Ok(Replayed::AsRecorded(Box::new(run))),
            None => Err(record.miss(tool)),
        }
    }

    /// The calls of a tool with this input that the recorded run made, oldest first.
    async fn recorded(
        &self,
        tenant: TenantId,
        record: &Record,
        tool: &Tool,
        input: &RawValue,
    ) -> Result<Vec<Run>> {
        let Some(parent) = record.run else { return Ok(Vec::new()) };
        let asked = canonical_text(input);
        let filter = RunFilter { parent: Some(parent), ..RunFilter::default() };
        let scope = self.inner.store.tenant(tenant);
        let (mut found, mut behind) = (Vec::new(), None);
        loop {
            let page = scope.run_page(&filter, behind, 0, READ_MOST).await;
            let (page, _) = page.map_err(Error::store("reading recorded calls"))?;
            let Some(last) = page.last() else { break };
            behind = Some(RunPlace { listed: last.listed(), id: last.id });
            let is_it = |run: &Run| {
                run.tool_id == tool.def.id
                    && run.input.as_deref().is_some_and(|input| canonical_text(input) == asked)
            };
            found.extend(page.into_iter().filter(is_it));
        }
        found.reverse();
        Ok(found)
    }
}

fn canonical_text(json: &RawValue) -> Option<String> {
    let value: Value = serde_json::from_str(json.get()).ok()?;
    Some(canonical(&value).to_string())
}
