//! The approvals inbox: looking, and deciding once.

use std::time::Duration;

use serde_json::{Value, value::RawValue};
use tokio::time::Instant;
use tw_model::{ApprovalId, Caller, EventKind, Level, PendingCallId, RunStatus, Timestamp, WaitsFor};
use tw_store::{
    Approval, NewAudit, Run,
    log::{ApprovalDecision, Change, EditedInput, Expect, Finished, Rejected, Step},
};

use crate::{
    Engine,
    catalogue::View,
    corridor::{
        Answer, authorize,
        execute::storable,
        payload, record,
        record::{Resumption, raw},
    },
    error::{Error, Result},
    page::{Page, PageRequest},
    resume::{kept, resumed_caller},
    rights::{DecideApprovals, Permit, ReadApprovals},
    seal,
};

/// How often it is looked whether an approved run waits again.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the approver says yes to.
#[derive(Debug, Default)]
pub struct Yes {
    /// Another input than the one asked for.
    pub input: Option<Box<RawValue>>,
    pub note: Option<String>,
    /// How long to wait for the run to end.
    pub wait: Option<Duration>,
}

impl Engine {
    pub async fn approvals(
        &self,
        permit: &Permit<ReadApprovals>,
        status: Option<&str>,
        page: &PageRequest,
    ) -> Result<Page<Approval>> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let place = format!("approvals/{}/{}", caller.tenant, caller.principal.label());
        let after = self.open_cursor(&place, page)?.map(ApprovalId::from_uuid);
        let rows = scope.approvals(status, after, page.offset, page.limit + 1).await;
        let rows = rows.map_err(Error::store("reading approvals"))?;
        let total = scope.count_approvals(status).await.map_err(Error::store("counting approvals"))?;
        Ok(self.page(rows, page, &place, total, |approval| approval.id.uuid()))
    }

    pub async fn approval(&self, permit: &Permit<ReadApprovals>, id: ApprovalId) -> Result<Approval> {
        self.known_approval(permit.caller(), id).await
    }

    async fn known_approval(&self, caller: &Caller, id: ApprovalId) -> Result<Approval> {
        let approval = self.inner.store.tenant(caller.tenant).approval(id).await;
        approval.map_err(Error::store("reading an approval"))?.ok_or(Error::NotFound { what: "approval" })
    }

    /// Says yes. The call then runs exactly once, here or on another replica.
    pub async fn approve(
        &self,
        permit: &Permit<DecideApprovals>,
        id: ApprovalId,
        yes: Yes,
    ) -> Result<Answer> {
        let mut permit = permit.clone();
        loop {
            match self.try_approve(permit.caller(), id, &yes).await? {
                Decided::Done(run) => {
                    self.resume_soon(run.tenant, PendingCallId::from_uuid(id.uuid()));
                    let note = yes.note.as_deref().map(storable);
                    self.audit_decision(permit.caller(), id, &run, "approved", note).await;
                    let wait = yes.wait.unwrap_or(Duration::from_secs(30)).min(Duration::from_secs(120));
                    return self.wait_until_it_waits(*run, wait, yes.wait.is_some()).await;
                }
                // Whoever decides must have the right at the moment it counts.
                Decided::TenantChanged => permit = self.renew(&permit).await?,
            }
        }
    }

    /// Waits for the end of an approved run; without a word on how long, no longer than somebody is at work on it.
    async fn wait_until_it_waits(&self, run: Run, wait: Duration, to_the_end: bool) -> Result<Answer> {
        let until = Instant::now() + wait;
        let mut run = run;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let slice = if to_the_end { left } else { left.min(LOOK_EVERY) };
            run = self.wait_for(run, slice, None).await.run;
            let answer = self.answer_of(run).await?;
            let waits_on = answer.pending.as_ref().is_some_and(|call| call.waits_for != WaitsFor::Approval);
            if !answer.run.status.is_open() || waits_on || until <= Instant::now() {
                return Ok(answer);
            }
            run = answer.run;
        }
    }

    async fn try_approve(&self, caller: &Caller, id: ApprovalId, yes: &Yes) -> Result<Decided> {
        let (approval, run) = self.decidable(caller, id).await?;
        let edited = match &yes.input {
            Some(input) => self.edit(&approval, &run, input).await?,
            None => {
                self.check_unchanged(caller, &approval, &run).await?;
                None
            }
        };
        let note = yes.note.as_deref().map(storable);
        let event = payload::event(
            EventKind::Approved,
            run.id,
            &payload::Approved {
                approval_id: id,
                note: note.as_deref(),
                changes: edited.as_ref().map(|edited| &*edited.changes),
            },
        );
        let change = Change {
            expect: Expect::Status(RunStatus::NeedsApproval),
            to: Some(RunStatus::Pending),
            finished: None,
            claimed_by: None,
            epoch: Some(caller.epoch),
            wait: None,
            decision: Some(ApprovalDecision {
                status: "approved",
                by: Some(caller.principal.label()),
                note,
                changes: edited.as_ref().map(|edited| edited.changes.get().to_owned()),
                input: edited.map(|edited| EditedInput {
                    input: edited.input,
                    digest: edited.digest,
                    seal: edited.seal,
                    level: approval.level,
                }),
            }),
        };
        self.decide(caller, run, change, event).await
    }

    /// Says no: the run ends as cancelled.
    pub async fn deny(
        &self,
        permit: &Permit<DecideApprovals>,
        id: ApprovalId,
        note: Option<&str>,
    ) -> Result<Approval> {
        let note = note.map(storable);
        let mut permit = permit.clone();
        loop {
            let caller = permit.caller();
            let (_, run) = self.decidable(caller, id).await?;
            // Whoever asked learns why, and may ask better.
            let message = match &note {
                Some(note) => format!("a person declined the call: {note}"),
                None => "a person declined the call".to_owned(),
            };
            let change = end_waiting("denied", "denied", &message, Some(caller), note.clone());
            let event = payload::event(
                EventKind::Cancelled,
                run.id,
                &payload::Cancelled {
                    reason: "denied",
                    error: &message,
                    note: note.as_deref(),
                    effect: None,
                },
            );
            match self.decide(caller, run, Change { epoch: Some(caller.epoch), ..change }, event).await? {
                Decided::Done(run) => {
                    self.audit_decision(caller, id, &run, "denied", note).await;
                    self.look_soon();
                    return self.known_approval(caller, id).await;
                }
                Decided::TenantChanged => permit = self.renew(&permit).await?,
            }
        }
    }

    /// An approval that this caller may decide now.
    async fn decidable(&self, caller: &Caller, id: ApprovalId) -> Result<(Approval, Run)> {
        let approval = self.known_approval(caller, id).await?;
        if approval.status != "pending" {
            return Err(Error::AlreadyDecided { status: approval.status });
        }
        if self.forbids_self_approval(caller, &approval).await? {
            let why = "the owner of an agent cannot decide on its calls here; another approver can";
            return Err(Error::NotPermitted { why: why.to_owned() });
        }
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        if approval.expires <= now {
            return Err(Error::Expired { what: "approval" });
        }
        let scope = self.inner.store.tenant(caller.tenant);
        let run = scope.run(approval.run).await.map_err(Error::store("reading a run"))?;
        Ok((approval, run.ok_or(Error::NotFound { what: "run" })?))
    }

    async fn forbids_self_approval(&self, caller: &Caller, approval: &Approval) -> Result<bool> {
        if approval.owner != caller.principal.owner() {
            return Ok(false);
        }
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        Ok(match view.tenant.settings.get("forbid_self_approval").and_then(Value::as_bool) {
            Some(setting) => setting,
            None => approval.level == Some(Level::Destructive) && self.has_another_approver(caller).await?,
        })
    }

    /// Whether anybody else could decide. A tenant of one person must not lock itself out.
    async fn has_another_approver(&self, caller: &Caller) -> Result<bool> {
        let users = self.inner.store.tenant(caller.tenant).users(None, 200).await;
        let users = users.map_err(Error::store("reading users"))?;
        let decides = |role: tw_model::Role| role.permissions().has("approvals.tenant.decide");
        Ok(users.iter().any(|user| user.id != caller.principal.owner() && decides(user.role)))
    }

    /// A changed tool, or another credential, voids what was asked about the old one.
    async fn check_unchanged(&self, caller: &Caller, approval: &Approval, run: &Run) -> Result<()> {
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        if self.is_unchanged(&view, approval, run, &kept(&approval.context)?).await? {
            return Ok(());
        }
        self.supersede(caller, run).await?;
        Err(Error::Superseded)
    }

    async fn is_unchanged(
        &self,
        view: &View,
        approval: &Approval,
        run: &Run,
        kept: &Resumption,
    ) -> Result<bool> {
        let tool = self.tool_now(view, approval.tool_id, kept.pinned.as_deref(), kept.mode).await?;
        Ok(match tool {
            Some(tool) => self.unseal(approval, run, &tool).await?.is_some(),
            None => false,
        })
    }

    pub(crate) async fn supersede(&self, caller: &Caller, run: &Run) -> Result<()> {
        let message = "the tool has changed since the approval was asked for";
        let change = Change {
            expect: Expect::Status(run.status),
            ..end_waiting("cancelled", "superseded", message, None, None)
        };
        let event = payload::event(
            EventKind::Cancelled,
            run.id,
            &payload::Cancelled { reason: "superseded", error: message, note: None, effect: None },
        );
        self.decide(caller, run.clone(), change, event).await.map(drop)
    }

    /// Checks another input as if the agent had sent it, and seals it.
    async fn edit(&self, approval: &Approval, run: &Run, input: &RawValue) -> Result<Option<Edited>> {
        let resumed = resumed_caller(self, run.tenant, &approval.context).await;
        let (agent, resumption) = resumed.map_err(|error| match error {
            // It is the agent that may not, and the approver's own credentials are in order.
            Error::Unauthenticated { why } => Error::NotPermitted { why: why.to_owned() },
            error => error,
        })?;
        let view = self.inner.catalogue.view(run.tenant, agent.epoch).await?;
        if !self.is_unchanged(&view, approval, run, &resumption).await? {
            self.supersede(&agent, run).await?;
            return Err(Error::Superseded);
        }
        let id = approval.tool_id.to_string();
        let resolved = self.resolve(&view, &id, resumption.pinned.as_deref(), resumption.mode).await?;
        let authorized = authorize::authorize(resolved, &agent, &view)?;
        let valid = self.validate(authorized, input, &agent, &view).await?;
        let (tool, _, value, text) = valid.into_parts();
        let digest = seal::input_digest(&value);
        if digest == approval.input_digest {
            return Ok(None);
        }
        let credentials = self.credentials_of(run.tenant, &tool).await?;
        let facts = seal::Sealed::of(approval, run, &tool, &credentials, &digest);
        let before: Value = serde_json::from_str(approval.input.get()).unwrap_or(Value::Null);
        Ok(Some(Edited {
            seal: facts.seal(&self.inner.secrets).to_vec(),
            changes: raw(&changes(&before, &value)),
            input: text.get().to_owned(),
            digest,
        }))
    }

    async fn decide(
        &self,
        caller: &Caller,
        run: Run,
        change: Change,
        event: tw_store::log::NewEvent,
    ) -> Result<Decided> {
        let tool = run.tool.as_str().into();
        let entry =
            record::entry(caller, &tool, run.id, run.session, Step::Change(Box::new(change)), vec![event]);
        match self.append(entry).await {
            Ok(_) => Ok(Decided::Done(Box::new(run))),
            Err(Rejected::Status { status }) => {
                let status = match status {
                    RunStatus::Cancelled => "decided or cancelled".to_owned(),
                    RunStatus::Pending | RunStatus::Running | RunStatus::Success => "approved".to_owned(),
                    status => status.as_str().to_owned(),
                };
                Err(Error::AlreadyDecided { status })
            }
            Err(Rejected::Stale { .. }) => Ok(Decided::TenantChanged),
            Err(source) => Err(Error::Record { source }),
        }
    }
}

impl Engine {
    /// Repeats a decision in the audit log, for those who look there. What counts is the event, which is written by
    /// now, so nothing that goes wrong here can undo it.
    async fn audit_decision(
        &self,
        caller: &Caller,
        id: ApprovalId,
        run: &Run,
        status: &str,
        note: Option<String>,
    ) {
        let entry = NewAudit {
            action: format!("approval.{status}"),
            object: format!("approval:{id}"),
            before: None,
            after: Some(serde_json::json!({ "run_id": run.id, "tool": run.tool, "version": run.version })),
            note,
        };
        let scope = self.inner.store.tenant(caller.tenant);
        if let Err(error) = scope.audit(&crate::admin::by(caller, None), entry).await {
            tracing::error!(error = &error as &dyn std::error::Error, "a decision is not in the audit log");
        }
    }
}

/// Whether a decision was written.
enum Decided {
    Done(Box<Run>),
    /// What the decider may do has changed since it was read.
    TenantChanged,
}

struct Edited {
    input: String,
    digest: String,
    seal: Vec<u8>,
    changes: Box<RawValue>,
}

/// A waiting run that will never run.
pub(crate) fn end_waiting(
    approval: &'static str,
    reason: &str,
    message: &str,
    by: Option<&Caller>,
    note: Option<String>,
) -> Change {
    Change {
        expect: Expect::Status(RunStatus::NeedsApproval),
        to: Some(RunStatus::Cancelled),
        finished: Some(Finished {
            summary: Some(reason.to_owned()),
            error: Some(message.to_owned()),
            error_code: Some(tw_model::Code::Cancelled.as_str()),
            ..Finished::default()
        }),
        claimed_by: None,
        epoch: None,
        wait: None,
        decision: Some(ApprovalDecision {
            status: approval,
            by: by.map(|caller| caller.principal.label()),
            note,
            changes: None,
            input: None,
        }),
    }
}

/// What differs between two inputs, at their first level: `[{ path, before, after }]`.
fn changes(before: &Value, after: &Value) -> Value {
    let empty = serde_json::Map::new();
    let (old, new) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
    let changed = keys.filter(|key| old.get(*key) != new.get(*key)).map(|key| {
        serde_json::json!({
            "path": format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            "before": old.get(key),
            "after": new.get(key),
        })
    });
    changed.collect()
}

/// Whether the moment for deciding is over.
pub(crate) fn has_expired(approval: &Approval, now: Timestamp) -> bool {
    approval.status == "pending" && approval.expires <= now
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_name_what_was_added_removed_and_replaced() {
        let changes =
            changes(&json!({ "a": 1, "b/c": 2, "same": 0 }), &json!({ "a": 2, "same": 0, "d": null }));
        assert_eq!(
            changes,
            json!([
                { "path": "/a", "before": 1, "after": 2 },
                { "path": "/b~1c", "before": 2, "after": null },
                { "path": "/d", "before": null, "after": null },
            ])
        );
    }
}
