//! Looking at runs, and cancelling them.

use std::{
    collections::HashSet,
    hash::{Hash, Hasher},
    time::Duration,
};

use tw_base::{Error, Page, PageRequest, Result};
use tw_identity::rights::{CancelRuns, Permit, ReadRuns};
use tw_model::{ApprovalStatus, Caller, Effect, RunId, RunStatus, TenantId};
use tw_store::{
    Run, RunFilter, RunPlace,
    log::{ApprovalDecision, Change, Entry, Expect, Rejected},
};

use crate::{
    Engine,
    corridor::Answer,
    run_log::{End, Reason, RunIdentity, storable},
};

/// How often, and how far apart, a run is looked for whose start is not on disk yet.
const START_LOOKS: usize = 40;
const START_PAUSE: Duration = Duration::from_millis(50);
/// More than one run can have begun at a time.
const CHILDREN_MOST: i64 = 100;

/// Lists of runs and of approvals that are known to be longer than what is counted. Neither is ever taken away, so once
/// a list is long it stays long, and counting it again would cost the same again.
#[derive(Debug, Default)]
pub(crate) struct LongLists(std::sync::Mutex<HashSet<u64>>);

impl LongLists {
    fn key(tenant: TenantId, filter: &RunFilter) -> Option<u64> {
        // A run leaves these lists again when it ends.
        if filter.status.is_some_and(RunStatus::is_open) {
            return None;
        }
        let mut hasher = std::hash::DefaultHasher::new();
        (tenant, &filter.tool, filter.status, filter.source, filter.session).hash(&mut hasher);
        (filter.parent, &filter.principal, filter.since, filter.until).hash(&mut hasher);
        (&filter.error_code, filter.mode).hash(&mut hasher);
        Some(hasher.finish())
    }

    pub(crate) fn key_of_approvals(tenant: TenantId, status: Option<ApprovalStatus>) -> Option<u64> {
        // One that is decided leaves this list.
        if status == Some(ApprovalStatus::Pending) {
            return None;
        }
        let mut hasher = std::hash::DefaultHasher::new();
        ("approvals", tenant, status.map(ApprovalStatus::as_str)).hash(&mut hasher);
        Some(hasher.finish())
    }

    pub(crate) fn knows(&self, key: Option<u64>) -> bool {
        key.is_some_and(|key| self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).contains(&key))
    }

    pub(crate) fn learn(&self, key: Option<u64>) {
        if let Some(key) = key {
            let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // A bound, so that ever new filters cannot fill the memory.
            if 10_000 < known.len() {
                known.clear();
            }
            known.insert(key);
        }
    }
}

impl Engine {
    /// One run, if the caller may see it. What they may not see does not exist for them.
    pub async fn run(&self, permit: &Permit<ReadRuns>, id: RunId) -> Result<Answer> {
        let run = self.visible_run(permit.caller(), id, "runs.tenant.read").await?;
        let answer = self.answer_of(run).await?;
        if answer.pending.is_some() {
            return Ok(answer);
        }
        let pending = self.inner.store.tenant(answer.run.tenant).pending_call_of(id).await;
        Ok(Answer { pending: pending.map_err(Error::store("reading a pending call"))?, ..answer })
    }

    async fn visible_run(&self, caller: &Caller, id: RunId, right: &str) -> Result<Run> {
        let run =
            self.inner.store.tenant(caller.tenant).run(id).await.map_err(Error::store("reading a run"))?;
        run.filter(|run| caller.permissions.has(right) || run.principal == caller.principal.label())
            .ok_or(Error::NotFound { what: "run" })
    }

    /// Runs, newest first.
    pub async fn runs(
        &self,
        permit: &Permit<ReadRuns>,
        mut filter: RunFilter,
        page: &PageRequest,
    ) -> Result<Page<Run>> {
        let caller = permit.caller();
        if !caller.permissions.has("runs.tenant.read") {
            filter.principal = Some(caller.principal.label());
        }
        let scope = self.inner.store.tenant(caller.tenant);
        let place = format!("runs/{}/{}", caller.tenant, caller.principal.label());
        let behind = self.open_place(&place, page)?;
        let rows = scope.run_page(&filter, behind, page.offset, page.limit + 1).await;
        let (rows, is_cut) = rows.map_err(Error::store("reading runs"))?;
        let page = &page.cut(rows.len(), is_cut);
        let long = LongLists::key(caller.tenant, &filter);
        let total = if self.inner.long_lists.knows(long) {
            None
        } else {
            scope.count_runs(&filter).await.map_err(Error::store("counting runs"))?
        };
        if total.is_none() {
            self.inner.long_lists.learn(long);
        }
        let mut page = self.inner.secrets.page(rows, page, &place, total, |run| run.id.uuid());
        page.next_cursor = page.items.last().filter(|_| page.next_cursor.is_some()).map(|run| {
            let listed = run.listed().micros();
            format!("{listed}.{}", self.inner.secrets.cursor(&format!("{place}/{listed}"), run.id.uuid()))
        });
        Ok(page)
    }

    /// A run may move to another place of the list when it begins, so the cursor says where it was.
    fn open_place(&self, place: &str, page: &PageRequest) -> Result<Option<RunPlace>> {
        let Some(cursor) = &page.cursor else { return Ok(None) };
        let opened = cursor.split_once('.').and_then(|(listed, cursor)| {
            let page = PageRequest { cursor: Some(cursor.to_owned()), ..page.clone() };
            let id = self.inner.secrets.open_cursor(&format!("{place}/{listed}"), &page).ok()??;
            let listed = tw_model::Timestamp::from_micros(listed.parse().ok()?);
            Some(RunPlace { listed, id: RunId::from_uuid(id) })
        });
        opened.map(Some).ok_or_else(|| Error::invalid("/cursor", tw_schema::Violation::cursor()))
    }

    /// Ends a run that has not ended: first in the log, then wherever it runs.
    pub async fn cancel(
        &self,
        permit: &Permit<CancelRuns>,
        id: RunId,
        reason: Option<&str>,
    ) -> Result<Answer> {
        let caller = permit.caller();
        let note = reason.map(storable);
        loop {
            let run = self.visible_run(caller, id, "runs.tenant.cancel").await?;
            if !run.status.is_open() {
                let why = format!("the run has ended already: {}", run.status.as_str());
                return Err(Error::Conflict { why });
            }
            match self.inner.log.append(cancelling(caller, &run, note.clone())).await {
                Ok(_) => {
                    self.inner.flights.stop(id);
                    let run = self.visible_run(caller, id, "runs.tenant.cancel").await?;
                    self.cancel_children(caller, &run).await;
                    self.look_soon();
                    return Ok(Answer { run, approval: None, pending: None, is_repeat: false });
                }
                // It moved on meanwhile, for instance because it was approved. What is written about its
                // effect depends on where it stands, so look again.
                Err(Rejected::Status { .. }) => {}
                Err(source) => return Err(Error::Record { source }),
            }
        }
    }
}

impl Engine {
    /// Ends what a run has begun and waits for. Whatever was not begun never will be.
    async fn cancel_children(&self, caller: &Caller, run: &Run) {
        let filter = RunFilter { parent: Some(run.id), ..RunFilter::default() };
        let children = self.inner.store.tenant(run.tenant).runs(&filter, None, 0, CHILDREN_MOST).await;
        match children {
            Ok(children) => {
                for child in children.into_iter().filter(|child| child.status.is_open()) {
                    Box::pin(self.cancel_unwanted(caller.clone(), child.id)).await;
                }
            }
            Err(error) => tracing::warn!(%error, run_id = %run.id, "what it has begun was not cancelled"),
        }
    }

    /// Cancels a run that its caller no longer wants, if it is still under way and the caller may.
    pub(crate) async fn cancel_unwanted(&self, caller: Caller, id: RunId) {
        let Ok(permit) = Permit::<CancelRuns>::check(caller) else { return };
        for _ in 0..START_LOOKS {
            match self.cancel(&permit, id, Some("the caller no longer wanted it")).await {
                // The start is on its way to disk.
                Err(Error::NotFound { .. }) => tokio::time::sleep(START_PAUSE).await,
                Err(error @ (Error::Store { .. } | Error::Record { .. })) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, run_id = %id, "not cancelled");
                    return;
                }
                _ => return,
            }
        }
    }
}

/// The entry that ends a run where it stands now.
fn cancelling(caller: &Caller, run: &Run, note: Option<String>) -> Entry {
    let effect = match run.status {
        RunStatus::Running if run.effectful => Effect::Unknown,
        _ => Effect::None,
    };
    let end = End::Cancelled {
        reason: Reason::Cancelled,
        message: "the run was cancelled".to_owned(),
        note: note.clone(),
        effect: Some(effect),
    };
    let ended = end.of(run.id, &run.tool, None);
    let by = Some(caller.principal.label());
    let decision = ApprovalDecision {
        status: ApprovalStatus::Cancelled,
        by,
        note,
        changes: None,
        input: None,
        standing: None,
    };
    let decision = run.status.waits().then_some(decision);
    let change = Change { decision, ..ended.change(Expect::Status(run.status)) };
    RunIdentity::by(caller, run).change(change, vec![ended.event])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_only_added_to_are_remembered_as_long() {
        let (tenant, other, lists) = (TenantId::new(), TenantId::new(), LongLists::default());
        let all = LongLists::key_of_approvals(tenant, None);
        lists.learn(all);
        assert!(lists.knows(LongLists::key_of_approvals(tenant, None)));
        for unknown in [
            LongLists::key_of_approvals(other, None),
            LongLists::key_of_approvals(tenant, Some(ApprovalStatus::Approved)),
            LongLists::key(tenant, &RunFilter::default()),
        ] {
            assert!(unknown.is_some() && !lists.knows(unknown), "{unknown:?}");
        }
        let shrinking = LongLists::key_of_approvals(tenant, Some(ApprovalStatus::Pending));
        lists.learn(shrinking);
        assert!(!lists.knows(shrinking), "what waits for a decision is counted each time");
    }
}
