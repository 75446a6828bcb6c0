//! The approvals inbox: looking, and deciding once.

use std::time::Duration;

use serde_json::{Value, value::RawValue};
use tw_base::{Error, Page, PageRequest, Result};
use tw_exec::BoxFuture;
use tw_identity::rights::{DecideApprovals, Permit, ReadApprovals};
use tw_model::{
    ApprovalId, ApprovalStatus, Caller, EventKind, Level, PendingCallId, PendingState, Role, RunStatus,
    StandingApprovalId, UserId, WaitsFor,
};
use tw_registry::Side;
use tw_store::{
    Approval, NewAudit, Run,
    log::{ApprovalDecision, Audit, Change, EditedInput, Entry, Expect, NewEvent, Rejected},
};
use tw_vault::{DefinitionParts, OpenedCall};

use crate::{
    Engine,
    corridor::{
        Answer,
        gate::Gate,
        resolve::{Parked, Subject},
        validate::ValidParts,
    },
    resume::resumed_caller,
    run_log::{self, Approved, End, Reason, Resumption, RunIdentity, Sealed, input_digest, raw, storable},
    runs::LongLists,
    standing::{ApprovedInput, StandingWish},
};

/// What the approver says yes to.
#[derive(Debug, Default)]
pub struct Approve {
    /// Another input than the one asked for.
    pub input: Option<Box<RawValue>>,
    pub note: Option<String>,
    /// How long to wait for the run to end.
    pub wait: Option<Duration>,
    /// Yes to later calls as well.
    pub standing: Option<StandingWish>,
}

/// What came of a yes.
#[derive(Debug)]
pub struct ApprovedCall {
    pub answer: Answer,
    pub standing: Option<StandingApprovalId>,
}

impl Engine {
    pub async fn approvals(
        &self,
        permit: &Permit<ReadApprovals>,
        status: Option<ApprovalStatus>,
        page: &PageRequest,
    ) -> Result<Page<Approval>> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let place = format!("approvals/{}/{}", caller.tenant, caller.principal.label());
        let after = self.inner.secrets.open_cursor(&place, page)?.map(ApprovalId::from_uuid);
        let rows = scope.approvals(status, after, page.offset, page.limit + 1).await;
        let (rows, is_cut) = rows.map_err(Error::store("reading approvals"))?;
        let page = &page.cut(rows.len(), is_cut);
        let (long, long_lists) = (LongLists::key_of_approvals(caller.tenant, status), &self.inner.long_lists);
        let total = if long_lists.knows(long) {
            None
        } else {
            scope.count_approvals(status).await.map_err(Error::store("counting approvals"))?
        };
        if total.is_none() {
            long_lists.learn(long);
        }
        Ok(self.inner.secrets.page(rows, page, &place, total, |approval| approval.id.uuid()))
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
        yes: Approve,
    ) -> Result<ApprovedCall> {
        let mut permit = permit.clone();
        loop {
            match self.try_approve(permit.caller(), id, &yes).await? {
                Decided::Done { run, standing } => {
                    self.resume_soon(run.tenant, PendingCallId::from_uuid(id.uuid()));
                    let wait = yes.wait.unwrap_or(Duration::from_secs(30)).min(Duration::from_secs(120));
                    let answer = self.wait_until_it_waits(*run, wait, yes.wait.is_some()).await?;
                    return Ok(ApprovedCall { answer, standing });
                }
                // Whoever decides must have the right at the moment it counts.
                Decided::TenantChanged => permit = self.inner.identity.renew(&permit).await?,
            }
        }
    }

    /// Waits for the end of an approved run; without a word on how long, no longer than somebody is at work on it.
    async fn wait_until_it_waits(&self, run: Run, wait: Duration, to_the_end: bool) -> Result<Answer> {
        let waits_on = |run| {
            let waits_on = async move {
                let pending = self.answer_of(run).await.ok().and_then(|answer| answer.pending);
                // One that a server has taken up since the run was read is at work by now.
                let waits = pending.is_some_and(|call| {
                    call.waits_for != WaitsFor::Approval && call.state == PendingState::Waiting
                });
                !to_the_end && waits
            };
            Box::pin(waits_on) as BoxFuture<'_, bool>
        };
        let run = self.inner.log.wait_until(run, wait, &waits_on).await;
        // What it waits for was read after the run, and may be what came later.
        let newest = self.inner.store.tenant(run.tenant).run(run.id).await;
        let newest = newest.map_err(Error::store("reading a run"))?;
        self.answer_of(newest.unwrap_or(run)).await
    }

    async fn try_approve(&self, caller: &Caller, id: ApprovalId, yes: &Approve) -> Result<Decided> {
        let (approval, run) = self.decidable(caller, id).await?;
        let kept = Resumption::read(&approval.context)?;
        let parked = Parked { approval: &approval, run: &run, kept: &kept };
        let edited = match &yes.input {
            Some(input) => self.edit(caller, parked, input).await,
            None => self.check_unchanged(caller, parked).await.map(|level| (None, level)),
        };
        let (edited, level) = match edited {
            Err(Error::Superseded) => {
                self.supersede(caller, id, &run).await?;
                return Err(Error::Superseded);
            }
            edited => edited?,
        };
        if self.forbids_self_approval(caller, approval.owner, level).await? {
            return Err(Error::SelfApproval);
        }
        let standing = match &yes.standing {
            Some(wish) => {
                let approved = approved_input(&approval, &kept, edited.as_ref(), level);
                Some(Box::new(self.stand(caller, parked, approved, wish).await?))
            }
            None => None,
        };
        let note = yes.note.as_deref().map(storable);
        let changes = edited.as_ref().map(|edited| &*edited.changes);
        let standing_approval_id = standing.as_ref().map(|standing| standing.id);
        let said = Approved { approval_id: id, note: note.as_deref(), changes, standing_approval_id };
        let event = run_log::event(EventKind::Approved, run.id, &said);
        let change = Change {
            to: Some(RunStatus::Pending),
            epoch: Some(caller.epoch),
            decision: Some(ApprovalDecision {
                status: ApprovalStatus::Approved,
                by: Some(caller.principal.label()),
                note,
                changes: edited.as_ref().map(|edited| edited.changes.get().to_owned()),
                input: edited.map(|edited| edited.input),
                standing,
            }),
            ..Change::expecting(Expect::Status(RunStatus::NeedsApproval))
        };
        self.decide(caller, id, run, change, event).await
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
            let (approval, run) = self.decidable(caller, id).await?;
            if self.forbids_self_approval(caller, approval.owner, approval.level).await? {
                return Err(Error::SelfApproval);
            }
            // Whoever asked learns why, and may ask better.
            let message = note.clone().unwrap_or_else(|| "a person declined the call".to_owned());
            let end = End::Cancelled { reason: Reason::Denied, message, note: note.clone(), effect: None };
            let (change, event) = ending(
                &run,
                RunStatus::NeedsApproval,
                end,
                ApprovalStatus::Denied,
                Some(caller),
                note.clone(),
            );
            match self.decide(caller, id, run, Change { epoch: Some(caller.epoch), ..change }, event).await? {
                Decided::Done { .. } => {
                    self.look_soon();
                    return self.known_approval(caller, id).await;
                }
                Decided::TenantChanged => permit = self.inner.identity.renew(&permit).await?,
            }
        }
    }

    /// An approval that this caller may decide now.
    async fn decidable(&self, caller: &Caller, id: ApprovalId) -> Result<(Approval, Run)> {
        let approval = self.known_approval(caller, id).await?;
        let scope = self.inner.store.tenant(caller.tenant);
        let run = scope.run(approval.run).await.map_err(Error::store("reading a run"))?;
        let run = run.ok_or(Error::NotFound { what: "run" })?;
        match approval.status {
            ApprovalStatus::Pending => {}
            // Nobody decided: its version was withdrawn, or somebody else met the change first.
            ApprovalStatus::Cancelled if Reason::of(&run) == Some(Reason::Superseded) => {
                return Err(Error::Superseded);
            }
            status => return Err(Error::AlreadyDecided { status: status.as_str().to_owned() }),
        }
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        if approval.expires <= now {
            return Err(Error::Expired { what: "approval" });
        }
        Ok((approval, run))
    }

    /// Whether a call of this level has to be decided by somebody else than the owner of the agent that asks.
    pub(crate) async fn forbids_self_approval(
        &self,
        caller: &Caller,
        owner: UserId,
        level: Option<Level>,
    ) -> Result<bool> {
        if owner != caller.principal.owner() {
            return Ok(false);
        }
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        Ok(match view.tenant.settings.get("forbid_self_approval").and_then(Value::as_bool) {
            Some(setting) => setting,
            None => level == Some(Level::Destructive) && self.has_another_approver(caller).await?,
        })
    }

    /// Whether anybody else could decide. A tenant of one person must not lock itself out.
    async fn has_another_approver(&self, caller: &Caller) -> Result<bool> {
        let decides = |role: &Role| role.permissions().has("approvals.tenant.decide");
        let deciding: Vec<Role> = Role::ALL.into_iter().filter(decides).collect();
        let scope = self.inner.store.tenant(caller.tenant);
        let found = scope.has_other_member(&deciding, caller.principal.owner()).await;
        found.map_err(Error::store("looking for another approver"))
    }

    /// How dangerous the call is now. A changed tool, or another credential, voids what was asked about the old one.
    async fn check_unchanged(&self, caller: &Caller, parked: Parked<'_>) -> Result<Option<Level>> {
        let Parked { approval, run, .. } = parked;
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let _ = self.unseal(&view, parked).await?;
        // The call may be of an old version, and the live one may have become more dangerous since.
        let entry = view.tools.get(&run.tool_id.to_string());
        let live = entry.map(|entry| self.inner.catalogue.ready(entry, Side::Live)).transpose()?.flatten();
        let input: Value = serde_json::from_str(approval.input.get()).unwrap_or(Value::Null);
        Ok(live.and_then(|live| live.level_of(&input)).max(approval.level))
    }

    pub(crate) async fn supersede(&self, caller: &Caller, id: ApprovalId, run: &Run) -> Result<()> {
        let end = End::void(Reason::Superseded, "the tool has changed since the approval was asked for");
        let (change, event) = ending(run, run.status, end, ApprovalStatus::Cancelled, None, None);
        self.decide(caller, id, run.clone(), change, event).await.map(drop)
    }

    /// Checks another input as if the agent had sent it and as if the approver made the call, and seals it. An approver
    /// must not get done by editing what they may not do themselves. What comes back hidden stays as it was.
    async fn edit(
        &self,
        approver: &Caller,
        parked: Parked<'_>,
        input: &RawValue,
    ) -> Result<(Option<Edited>, Option<Level>)> {
        let Parked { approval, run, kept } = parked;
        let opened = match &kept.sealed_input {
            Some(sealed) => Some(self.inner.vault.open_call(run.tenant, run.id, sealed).await?),
            None => None,
        };
        let meant = match &opened {
            Some(OpenedCall { input: before, secrets }) => match secrets.callers_parts() {
                Some(parts) => restored(parts, input, before),
                None => return self.unedited(approver, parked, input).await.map(|level| (None, level)),
            },
            None => input.to_owned(),
        };
        let secrets = opened.as_ref().map(|opened| &opened.secrets);
        let resumed = resumed_caller(self, run, &approval.context).await;
        let (agent, _) = resumed.map_err(|error| match error {
            // It is the agent that may not, and the approver's own credentials are in order.
            Error::Unauthenticated { why } => Error::NotPermitted { why: why.to_owned() },
            error => error,
        })?;
        let view = self.inner.catalogue.view(run.tenant, agent.epoch).await?;
        let subject = Subject::Edited(parked);
        let Gate::Ask(edited) = self.walk(&agent, &view, subject, &meant, secrets).await? else {
            return Err(Error::Superseded);
        };
        let (digest, sealed_input) = (edited.input_digest(), edited.sealed_for(run.id));
        let ValidParts { tool, value, text, level, .. } = edited.into_parts();
        let shown_before: Value = serde_json::from_str(approval.input.get()).unwrap_or(Value::Null);
        let before = opened.as_ref().map_or(&shown_before, |opened| &opened.input);
        if input_digest(&value) == input_digest(before) {
            return Ok((None, level));
        }
        self.walk(approver, &view, subject, &meant, secrets).await?;
        let reach = self.reach_of(run.tenant, &tool).await?;
        // Under the seal: whoever changed the input is asked for their right again when the call and what it calls run.
        let kept = Resumption::read(&approval.context)?;
        let has_secrets = sealed_input.is_some();
        let kept = Resumption { edited_by: Some(approver.party()), sealed_input, ..kept };
        let context = kept.text_for(tool.def.implementation);
        let facts = Sealed { context: &context, ..Sealed::of(approval, run, &tool, &reach, &digest) };
        let shown: Value = serde_json::from_str(text.get()).unwrap_or(Value::Null);
        let changes = changes([before, &shown_before], [&value, &shown]);
        let seal = facts.seal(&self.inner.secrets).to_vec();
        let input = EditedInput { input: text.get().to_owned(), digest, seal, level, context };
        Ok((Some(Edited { input, changes: raw(&changes), has_secrets }), level))
    }

    /// An input that holds secrets of the tool that makes the call is approved as it is: whoever changed the rest could
    /// send them elsewhere.
    async fn unedited(&self, caller: &Caller, parked: Parked<'_>, input: &RawValue) -> Result<Option<Level>> {
        let input: Value = serde_json::from_str(input.get()).unwrap_or_default();
        if input_digest(&input) != parked.approval.input_digest {
            let why =
                "the input holds secrets of the tool that makes the call; approve it as it is, or deny it";
            return Err(Error::Conflict { why: why.to_owned() });
        }
        self.check_unchanged(caller, parked).await
    }

    async fn decide(
        &self,
        caller: &Caller,
        id: ApprovalId,
        run: Run,
        change: Change,
        event: NewEvent,
    ) -> Result<Decided> {
        let standing = change.decision.as_ref().and_then(|decision| Some(decision.standing.as_ref()?.id));
        let audit = match &change.decision {
            Some(decision) if decision.by.is_some() => {
                Some(audit(caller, id, &run, decision.status.as_str(), decision))
            }
            _ => None,
        };
        let entry = Entry { audit, ..RunIdentity::by(caller, &run).change(change, vec![event]) };
        match self.inner.log.append(entry).await {
            Ok(_) => Ok(Decided::Done { run: Box::new(run), standing }),
            Err(Rejected::Status { status }) => {
                let status = match status {
                    RunStatus::Cancelled => "decided or cancelled".to_owned(),
                    RunStatus::Pending | RunStatus::Running | RunStatus::Success => {
                        ApprovalStatus::Approved.as_str().to_owned()
                    }
                    status => status.as_str().to_owned(),
                };
                Err(Error::AlreadyDecided { status })
            }
            Err(Rejected::Stale { .. }) => Ok(Decided::TenantChanged),
            Err(source) => Err(Error::Record { source }),
        }
    }
}

/// The line of the audit about a decision. It is written with the decision: a caller who hangs up hides nothing.
fn audit(
    caller: &Caller,
    id: ApprovalId,
    run: &Run,
    status: &str,
    decision: &ApprovalDecision,
) -> Box<Audit> {
    let mut after = serde_json::json!({ "run_id": run.id, "tool": run.tool, "version": run.version });
    if let Some(changes) = decision.changes.as_deref() {
        after["changes"] = serde_json::from_str(changes).unwrap_or_default();
    }
    if let Some(standing) = &decision.standing {
        let fields = standing.fields.as_deref().map(serde_json::from_str::<Value>).transpose();
        after["standing"] = serde_json::json!({
            "id": standing.id, "expires_at": standing.expires, "fields": fields.unwrap_or_default(),
        });
    }
    let what = NewAudit {
        action: format!("approval.{status}"),
        object: format!("approval:{id}"),
        before: None,
        after: Some(after),
        note: decision.note.clone(),
    };
    Box::new(Audit { by: tw_base::by(caller, None), what })
}

/// Whether a decision was written.
enum Decided {
    Done {
        run: Box<Run>,
        standing: Option<StandingApprovalId>,
    },
    /// What the decider may do has changed since it was read.
    TenantChanged,
}

struct Edited {
    input: EditedInput,
    changes: Box<RawValue>,
    has_secrets: bool,
}

/// What is approved: the input as asked for, or as edited.
fn approved_input<'a>(
    approval: &'a Approval,
    kept: &Resumption,
    edited: Option<&'a Edited>,
    level: Option<Level>,
) -> ApprovedInput<'a> {
    let (text, has_secrets) = match edited {
        Some(edited) => (edited.input.input.as_str(), edited.has_secrets),
        None => (approval.input.get(), kept.sealed_input.is_some()),
    };
    ApprovedInput { text, has_secrets, level }
}

/// The end of a waiting run that will never run, with what becomes of its approval.
fn ending(
    run: &Run,
    expected: RunStatus,
    end: End,
    approval: ApprovalStatus,
    by: Option<&Caller>,
    note: Option<String>,
) -> (Change, NewEvent) {
    let ended = end.of(run.id, &run.tool, None);
    let by = by.map(|caller| caller.principal.label());
    let decision =
        ApprovalDecision { status: approval, by, note, changes: None, input: None, standing: None };
    let change = Change { decision: Some(decision), ..ended.change(Expect::Status(expected)) };
    (change, ended.event)
}

/// Another input, with what comes back hidden as it was.
fn restored(parts: &DefinitionParts, input: &RawValue, before: &Value) -> Box<RawValue> {
    match serde_json::from_str(input.get()) {
        Ok(input) => raw(&parts.restore(input, before)),
        // What cannot be read is refused where every input is read.
        Err(_) => input.to_owned(),
    }
}

/// What differs between two inputs in canonical form, at their first level: `[{ path, before, after }]`. Each input comes
/// as it is and as it may be shown: where only a secret differs, both are shown alike.
fn changes([before, shown_before]: [&Value; 2], [after, shown_after]: [&Value; 2]) -> Value {
    let empty = serde_json::Map::new();
    let (old, new) = (before.as_object().unwrap_or(&empty), after.as_object().unwrap_or(&empty));
    let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
    let canonical = |value: Option<&Value>| value.map(tw_schema::digest);
    let changed = keys.filter(|key| canonical(old.get(*key)) != canonical(new.get(*key))).map(|key| {
        serde_json::json!({
            "path": format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            "before": shown_before.get(key),
            "after": shown_after.get(key),
        })
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changes_name_what_was_added_removed_and_replaced() {
        let (before, after) =
            (json!({ "a": 1, "b/c": 2, "same": 0 }), json!({ "a": 2, "same": 0, "d": null }));
        let changes = changes([&before, &before], [&after, &after]);
        assert_eq!(
            changes,
            json!([
                { "path": "/a", "before": 1, "after": 2 },
                { "path": "/b~1c", "before": 2, "after": null },
                { "path": "/d", "before": null, "after": null },
            ])
        );
    }

    #[test]
    fn change_of_a_secret_is_named_and_not_shown() {
        let [before, after, shown] =
            ["one", "two", "***"].map(|key| json!({ "a": { "token": key }, "b": 1 }));
        let hidden = json!({ "token": "***" });
        assert_eq!(
            changes([&before, &shown], [&after, &shown]),
            json!([{ "path": "/a", "before": hidden, "after": hidden }])
        );
    }
}
