//! Steps 7 and 11: what is written about a run, and waiting for it to be written.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tw_model::{
    ApprovalId, Caller, Channel, EventKind, Link, Mode, Principal, Role, RunId, RunStatus, SessionId, Source,
    Timestamp, Trace,
};
use tw_store::{
    Run,
    log::{Claim, Entry, NewApproval, NewEvent, NewRun, Park, Rejected, Step},
};

use super::{Answer, gate::Asked, payload};
use crate::{Engine, catalogue::Tool, chain::Refusal, seal, settle::RunIdentity, vault::Stamp};

/// How long an approval may be decided.
pub(crate) const APPROVAL_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a waiter looks by itself, behind the hints.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A run that is to wait for an approval.
pub(crate) struct Parking<'a> {
    pub(crate) run: RunId,
    pub(crate) session: Option<SessionId>,
    pub(crate) caller: &'a Caller,
    pub(crate) mode: Mode,
    pub(crate) pinned: Option<&'a str>,
    pub(crate) claim: Option<Claim>,
    pub(crate) credentials: &'a [Stamp],
}

/// What a parked call needs to go on, wherever and whenever that is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Resumption {
    pub(crate) principal: Principal,
    pub(crate) display_name: String,
    pub(crate) role: Role,
    pub(crate) source: Source,
    pub(crate) channel: Channel,
    pub(crate) mode: Mode,
    /// The number of the tool's version, where the caller named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pinned: Option<String>,
    pub(crate) session: SessionId,
    pub(crate) chain: Vec<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<Trace>,
    /// What ran, where it goes on rather than being begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<Begun>,
    /// How long the run may take, where somebody outside is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    /// What the answer has to be like, where somebody outside is waited for: as it was when they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer_schema: Option<Arc<Value>>,
    /// How long it has been at work before, where it goes on.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub(crate) spent: Duration,
    /// The calls it made that were refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refused: BTreeMap<String, Refusal>,
}

/// A tool of the tenant's own, as it was when a run began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) content_hash: String,
    pub(crate) version: String,
}

impl Resumption {
    pub(crate) fn new(caller: &Caller, mode: Mode, session: SessionId) -> Self {
        Self {
            principal: caller.principal.clone(),
            display_name: caller.display_name.to_string(),
            role: caller.role,
            source: caller.source,
            channel: caller.channel,
            mode,
            pinned: None,
            session,
            chain: caller.chain.to_vec(),
            trace: caller.trace.as_deref().cloned(),
            begun: None,
            timeout_ms: None,
            answer_schema: None,
            spent: Duration::ZERO,
            refused: BTreeMap::new(),
        }
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a resumption is plain JSON")
    }
}

/// The row of a new run, as far as caller and tool say it.
pub(crate) fn new_run(
    engine: &Engine,
    caller: &Caller,
    tool: &Tool,
    run: RunId,
    mode: Mode,
    claim: Option<Claim>,
) -> NewRun {
    NewRun {
        parent: caller.chain.last().map(|link| link.run),
        root: caller.chain.first().map_or(run, |link| link.run),
        tool_id: tool.def.id,
        version: Arc::clone(&tool.version),
        source: caller.source,
        channel: caller.channel,
        mode,
        principal: caller.principal.label().into(),
        effectful: tool.def.has_effects(),
        repeatable: tool.def.is_repeatable(),
        replica: engine.inner.store.replica(),
        epoch: caller.epoch,
        claim,
        park: None,
        wait: None,
    }
}

/// An entry of the log about a run of this caller.
pub(crate) fn entry(
    caller: &Caller,
    tool: &Arc<str>,
    run: RunId,
    session: SessionId,
    step: Step,
    events: Vec<NewEvent>,
) -> Entry {
    let actor = serde_json::to_string(&caller.actor()).expect("an actor is plain JSON");
    Entry {
        tenant: caller.tenant,
        run,
        session,
        tool: Arc::clone(tool),
        actor: actor.into(),
        at: Timestamp::now(),
        step,
        events,
        audit: None,
    }
}

impl Engine {
    /// Writes down that the call waits for a person, and waits with it if the caller wants to.
    pub(super) async fn park(
        &self,
        parking: Parking<'_>,
        asked: &Asked,
        wait: Option<Duration>,
    ) -> Result<Answer, Rejected> {
        let Parking { run, session, caller, mode, pinned, claim, credentials } = parking;
        let session = session.unwrap_or(run.into());
        let expires = Timestamp::now().plus(APPROVAL_LIFE);
        let input_digest = seal::input_digest(&asked.value);
        let root = caller.chain.first().map_or(run, |link| link.run);
        let principal = seal::principal(caller);
        let resumption =
            Resumption { pinned: pinned.map(str::to_owned), ..Resumption::new(caller, mode, session) };
        let context = resumption.to_text();
        let facts = seal::Sealed {
            tenant: caller.tenant,
            principal: &principal,
            context: &context,
            root,
            run,
            session,
            tool: &asked.tool,
            credentials,
            input_digest: &input_digest,
            expires,
        };
        let approval = NewApproval {
            id: ApprovalId::new(),
            input: asked.text.get().to_owned(),
            seal: facts.seal(&self.inner.secrets).to_vec(),
            input_digest: input_digest.clone(),
            definition_hash: asked.tool.definition_hash.clone(),
            level: asked.level(),
            reason: asked.rule.to_string(),
            owner: caller.principal.owner(),
            expires,
        };
        let id = approval.id;
        let event = payload::event(
            EventKind::NeedsApproval,
            run,
            &payload::NeedsApproval {
                about: payload::About::new(caller, &asked.tool, mode),
                approval_id: id,
                input: &asked.text,
                level: approval.level,
                rule: asked.rule.as_str(),
                reason: &approval.reason,
                expires_at: expires,
            },
        );
        let mut new = new_run(self, caller, &asked.tool, run, mode, claim);
        new.park = Some(Park { context, approval });
        let entry = entry(caller, &asked.tool.slug, run, session, Step::Open(Box::new(new)), vec![event]);
        let at = entry.at;
        self.append(entry).await?;
        metrics::counter!("toolwright_approvals_requested_total").increment(1);
        let parked = self.fresh_run(caller, &asked.tool, run, session, mode, at, RunStatus::NeedsApproval);
        match wait {
            Some(wait) => Ok(self.wait_for(parked, wait, Some(id)).await),
            None => Ok(Answer { run: parked, approval: Some(id), pending: None, is_repeat: false }),
        }
    }

    /// A run as its first entry makes it, without reading it back.
    #[expect(clippy::too_many_arguments, reason = "each is one column of the row it stands for")]
    pub(crate) fn fresh_run(
        &self,
        caller: &Caller,
        tool: &Tool,
        run: RunId,
        session: SessionId,
        mode: Mode,
        at: Timestamp,
        status: RunStatus,
    ) -> Run {
        Run {
            id: run,
            tenant: caller.tenant,
            session,
            parent: caller.chain.last().map(|link| link.run),
            root: caller.chain.first().map_or(run, |link| link.run),
            tool_id: tool.def.id,
            tool: tool.slug.to_string(),
            version: tool.version.to_string(),
            status,
            source: caller.source,
            channel: caller.channel.as_str().to_owned(),
            mode,
            principal: String::new(),
            actor: String::new(),
            effectful: tool.def.has_effects(),
            repeatable: tool.def.is_repeatable(),
            replica: Some(self.inner.store.replica()),
            lease_epoch: 1,
            input: None,
            output: None,
            summary: None,
            markdown: None,
            error: None,
            error_code: None,
            effect: None,
            started: at,
            finished: None,
            duration_us: None,
        }
    }

    /// Waits until the run has ended, or the wait is over, or this server is about to stop and the run is not
    /// under way on it. Whatever goes wrong while looking leaves the answer at what is known: the run itself
    /// is safe.
    pub(crate) async fn wait_for(&self, open: Run, wait: Duration, approval: Option<ApprovalId>) -> Answer {
        let scope = self.inner.store.tenant(open.tenant);
        let watch = self.inner.store.wake().watch(open.session);
        let until = tokio::time::Instant::now() + wait;
        let mut newest = open;
        loop {
            let changed = watch.changed();
            // Asked before looking: a run that ends in between is seen to have ended.
            let leaving = self.inner.flights.is_closed() && !self.inner.flights.holds(newest.id);
            match scope.run(newest.id).await {
                Ok(Some(run)) => newest = run,
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a waiter could not look at its run"),
            }
            if !newest.status.is_open() || leaving || until <= tokio::time::Instant::now() {
                let approval = approval.filter(|_| newest.status == RunStatus::NeedsApproval);
                return Answer { run: newest, approval, pending: None, is_repeat: false };
            }
            let look = until.min(tokio::time::Instant::now() + LOOK_EVERY);
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(look) => {}
            }
        }
    }

    /// Appends and waits. An entry that failed for the database's sake may still have been written, so
    /// the run is put on the list of those to be looked after.
    pub(crate) async fn append(&self, entry: Entry) -> Result<tw_store::log::Appended, Rejected> {
        let opened = matches!(entry.step, Step::Open(_)).then(|| RunIdentity::of(&entry));
        let result = self.inner.store.log().append(entry).wait().await;
        if let (Err(Rejected::Failed(_)), Some(identity)) = (&result, opened) {
            self.inner.settler.never_started(identity);
        }
        result
    }
}

/// The raw JSON of a value that is known to be writable.
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a JSON value can be written as JSON")
}
