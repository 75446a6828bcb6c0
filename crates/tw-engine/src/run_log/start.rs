//! How runs begin: the one place that makes the entry of a start, and the record of a run that has just begun.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tw_base::Secrets;
use tw_model::{
    ApprovalId, Caller, EventKind, Level, Mode, PendingCallId, PendingState, RunId, RunStatus, SessionId,
    Timestamp, WaitsFor,
};
use tw_policy::Rule;
use tw_registry::Tool;
use tw_store::{
    Run, Store,
    log::{Claim, Entry, NewApproval, NewEvent, NewRun, NewWait, Park, Transition},
};

use super::{Begun, CallReach, Resumption, RunIdentity, Sealed, Standing, actor, payload};

/// How long an approval may be decided.
const APPROVAL_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// A run, as far as caller and tool say it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starting<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) tool: &'a Tool,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) mode: Mode,
}

/// What an approver is asked.
#[derive(Debug)]
pub(crate) struct Parking<'a> {
    pub(crate) resumption: Resumption,
    pub(crate) claim: Option<Claim>,
    pub(crate) reach: &'a CallReach,
    pub(crate) input: &'a RawValue,
    pub(crate) input_digest: String,
    pub(crate) level: Option<Level>,
    pub(crate) rule: Rule,
}

impl Starting<'_> {
    /// The event that says that the run has begun, with its input.
    pub(crate) fn event(&self, input: &RawValue) -> NewEvent {
        let payload = payload::Started { about: self.about(), input };
        payload::event(EventKind::Started, self.run, &payload)
    }

    /// The entry that begins the run, by a standing approval where it had to be asked about.
    pub(crate) fn open(
        &self,
        store: &Store,
        claim: Option<Claim>,
        wait: Option<NewWait>,
        input: &RawValue,
        standing: Option<&Standing>,
    ) -> Entry {
        let new = NewRun { wait, standing: standing.map(Standing::id), ..self.row(store, claim) };
        let approved = standing.map(|standing| {
            let payload = payload::ApprovedByStanding {
                standing: true,
                standing_approval_id: standing.id(),
                approved_by: standing.approved_by(),
            };
            payload::event(EventKind::Approved, self.run, &payload)
        });
        let events = approved.into_iter().chain([self.event(input)]).collect();
        self.identity().entry(Transition::Open(Box::new(new)), events)
    }

    /// The entry of a run that waits for an approval before it begins.
    pub(crate) fn park(&self, store: &Store, secrets: &Secrets, parking: Parking<'_>) -> (Entry, ApprovalId) {
        let Parking { resumption, claim, reach, input, input_digest, level, rule } = parking;
        let expires = Timestamp::now().plus(APPROVAL_LIFE);
        let context = resumption.text_for(self.tool.def.implementation);
        let facts = Sealed {
            tenant: self.caller.tenant,
            principal: &self.caller.principal.label(),
            context: &context,
            root: self.root(),
            run: self.run,
            session: self.session,
            tool: self.tool,
            reach,
            input_digest: &input_digest,
            expires,
        };
        let seal = facts.seal(secrets).to_vec();
        let approval = NewApproval {
            id: ApprovalId::new(),
            input: input.get().to_owned(),
            seal,
            input_digest,
            definition_hash: self.tool.definition_hash.clone(),
            level,
            reason: rule.to_string(),
            owner: self.caller.principal.owner(),
            expires,
        };
        let id = approval.id;
        let payload = payload::NeedsApproval {
            about: self.about(),
            approval_id: id,
            input,
            level,
            rule: rule.as_str(),
            reason: &approval.reason,
            expires_at: expires,
        };
        let event = payload::event(EventKind::NeedsApproval, self.run, &payload);
        let new = NewRun { park: Some(Park { context, approval }), ..self.row(store, claim) };
        (self.identity().entry(Transition::Open(Box::new(new)), vec![event]), id)
    }

    /// The record of the run as its first entry makes it, without reading it back.
    pub(crate) fn record(&self, store: &Store, at: Timestamp, status: RunStatus) -> Run {
        Run {
            id: self.run,
            tenant: self.caller.tenant,
            session: self.session,
            parent: self.caller.chain.last().map(|link| link.run),
            root: self.root(),
            tool_id: self.tool.def.id,
            tool: self.tool.slug.to_string(),
            version: self.tool.version.to_string(),
            status,
            source: self.caller.source,
            channel: self.caller.channel,
            mode: self.mode,
            principal: String::new(),
            actor: String::new(),
            effectful: self.tool.def.has_effects(),
            repeatable: self.tool.is_repeatable(),
            replica: Some(store.replica()),
            lease_epoch: 1,
            input: None,
            output: None,
            summary: None,
            markdown: None,
            logs: Vec::new(),
            error: None,
            error_code: None,
            effect: None,
            requested: at,
            started: (status != RunStatus::NeedsApproval).then_some(at),
            finished: None,
            duration_us: None,
            usage: None,
        }
    }

    pub(crate) fn identity(&self) -> RunIdentity {
        RunIdentity {
            tenant: self.caller.tenant,
            run: self.run,
            session: self.session,
            tool: Arc::clone(&self.tool.slug),
            actor: actor(self.caller),
        }
    }

    fn row(&self, store: &Store, claim: Option<Claim>) -> NewRun {
        NewRun {
            parent: self.caller.chain.last().map(|link| link.run),
            root: self.root(),
            tool_id: self.tool.def.id,
            version: Arc::clone(&self.tool.version),
            source: self.caller.source,
            channel: self.caller.channel,
            mode: self.mode,
            principal: self.caller.principal.label().into(),
            effectful: self.tool.def.has_effects(),
            repeatable: self.tool.is_repeatable(),
            replica: store.replica(),
            epoch: self.caller.epoch,
            claim,
            park: None,
            wait: None,
            standing: None,
        }
    }

    fn root(&self) -> RunId {
        self.caller.chain.first().map_or(self.run, |link| link.run)
    }

    fn about(&self) -> payload::About<'_> {
        payload::About::new(self.caller, self.tool, self.mode)
    }
}

impl Resumption {
    /// The row of a run that is resumed by running it again.
    pub(crate) fn row(self, tool: &Tool, state: PendingState) -> NewWait {
        let begun = |content_hash: &String| Begun {
            content_hash: content_hash.clone(),
            version: tool.version.to_string(),
        };
        let resumption = Self { begun: tool.content_hash.as_ref().map(begun), ..self };
        NewWait {
            id: PendingCallId::new(),
            waits_for: WaitsFor::Child,
            state,
            context: resumption.text_for(tool.def.implementation),
            children: Vec::new(),
            deadline: None,
            // What it waits for runs out of time by itself.
            expires: Timestamp::from_micros(i64::MAX),
        }
    }
}
