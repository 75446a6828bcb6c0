//! One change to a tool of the tenant's own: read it, plan, check, write, and again if others came first.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_sdk::spawn_yielding;
use tw_base::{Error, Result};
use tw_exec::Kinds;
use tw_model::{Caller, Definition, McpDriftId, Timestamp, ToolId, ToolStatus, redacted};
use tw_schema::Fault;
use tw_store::{ArtifactChange, Changed, Claim, Left, NewAudit, Note, Premise, StoredTool, moment_after};

use super::{
    EditContext, by,
    callees::may_concern_callers,
    names::shares_a_name,
    read::{as_text, checked},
};
use crate::{
    Registry,
    catalogue::{View, content_hash, mark},
    tools::Listed,
};

/// How often a change is tried again that somebody else came before.
pub(super) const TRIES: usize = 16;

/// What is to become of a tool.
pub(super) struct Edit {
    /// The tool afterwards, but for what follows from `notes`.
    pub(super) after: StoredTool,
    /// What it would say, to be checked as a whole: saved by a `Save`, else only looked at.
    pub(super) definition: Option<Definition>,
    /// What is wrong with what was sent, to be told with what is wrong with the whole.
    pub(super) faults: Vec<Fault>,
    /// What it leaves in the history: a save is one revision more, what is published goes live.
    pub(super) notes: &'static [Note],
    pub(super) action: &'static str,
    /// Whether it could claim names that belong to others.
    pub(super) claims_names: bool,
    /// Whether what has become of another tool meanwhile might forbid it, where that can be.
    pub(super) upset_by: Option<UpsetBy>,
    /// What the audit log says beside it.
    pub(super) note: Option<String>,
    /// The drift that it accepts, and the text of the remote definition that the tool is pinned to then, if another.
    pub(super) accepts: Option<(McpDriftId, Option<String>)>,
    /// What becomes of the artifact that the definition names.
    pub(super) artifact: Option<ArtifactChange>,
}

/// Whether what has become of a tool may forbid a change to another one.
pub(super) type UpsetBy = fn(&dyn Kinds, &StoredTool) -> bool;

impl Edit {
    /// A change to what is no part of the definition, which leaves no revision.
    pub(super) fn of_switches(after: StoredTool) -> Self {
        Self {
            after,
            definition: None,
            faults: Vec::new(),
            notes: &[],
            action: "tool.changed",
            claims_names: false,
            upset_by: None,
            note: None,
            accepts: None,
            artifact: None,
        }
    }

    fn publishes(&self) -> bool {
        self.notes.contains(&Note::Publish)
    }
}

impl Registry {
    /// Changes a tool of the tenant's own as `plan` says, given how it is found. Returns it as it is then.
    pub(super) async fn edit_own(
        &self,
        caller: &Caller,
        id: ToolId,
        asked: EditContext<'_>,
        plan: impl Fn(&StoredTool, &View) -> Result<Edit> + Send,
    ) -> Result<StoredTool> {
        let _alone = self.edits.enter(caller.tenant).await;
        let mut epoch = caller.epoch;
        for _ in 0..TRIES {
            let (stored, view) = self.stored(caller, id, epoch, asked).await?;
            let mut edit = plan(&stored, &view)?;
            if let Some(definition) = self.check_edit(caller, &view, &mut edit).await?
                && edit.notes.contains(&Note::Save)
            {
                edit.after.definition = self.to_be_kept(caller, id, definition).await?;
                edit.after.revision += 1;
            }
            if edit.publishes() {
                go_live(&mut edit.after);
            }
            let after = edit.after.clone();
            if self.write(caller, stored, edit, view.epoch, asked).await? {
                self.identity.epochs().ask(caller.tenant).await?;
                return Ok(after);
            }
            epoch = self.identity.epochs().ask(caller.tenant).await?;
        }
        Err(busy())
    }

    /// What a tool would say, if nothing is wrong with it as a whole.
    pub(super) async fn check_edit(
        &self,
        caller: &Caller,
        view: &View,
        edit: &mut Edit,
    ) -> Result<Option<Definition>> {
        let Some(mut definition) = edit.definition.take() else { return Ok(None) };
        let (id, slug) = (edit.after.id, &edit.after.slug);
        let mut faults = std::mem::take(&mut edit.faults);
        if edit.notes.contains(&Note::Save) {
            // Until it is written, the tool says what it said before.
            let (artifact, wrong) = self.pin_change(caller.tenant, &edit.after, &mut definition).await?;
            edit.artifact = artifact;
            faults.extend(wrong);
        }
        let (wrong, calls_any) = self.check_calls(caller, view, (id, slug), &definition)?;
        faults.extend(wrong);
        if edit.publishes() {
            faults.extend(self.doubts(caller, view, &definition).await?);
        }
        checked(caller.tenant, slug, definition.clone(), self.catalogue.kinds(), faults).await?;
        if calls_any {
            edit.upset_by = Some(may_concern_callers);
        }
        Ok(Some(definition))
    }

    /// A definition as it is stored: with its secrets sealed.
    pub(super) async fn to_be_kept(
        &self,
        caller: &Caller,
        id: ToolId,
        mut definition: Definition,
    ) -> Result<Arc<str>> {
        self.vault.seal_definition(caller.tenant, id, &mut definition).await?;
        Ok(as_text(&definition))
    }

    /// The tool as it is now, if it is still as it was read, and the tenant as it is at least by an epoch.
    pub(super) async fn stored(
        &self,
        caller: &Caller,
        id: ToolId,
        epoch: i64,
        asked: EditContext<'_>,
    ) -> Result<(StoredTool, Arc<View>)> {
        let scope = self.store.tenant(caller.tenant);
        let stored = scope.custom_tool(id).await.map_err(Error::store("reading a tool"))?;
        let stored = stored.ok_or_else(|| Error::ToolNotFound { tool: id.to_string() })?;
        is_as_read(&mark(&stored), asked)?;
        let view = self.catalogue.view(caller.tenant, epoch).await?;
        Ok((stored, view))
    }

    /// Writes a change, unless somebody else came first: then `false`.
    async fn write(
        &self,
        caller: &Caller,
        before: StoredTool,
        edit: Edit,
        epoch: i64,
        asked: EditContext<'_>,
    ) -> Result<bool> {
        let Edit { mut after, notes, action, claims_names, upset_by, note, accepts, artifact, .. } = edit;
        after.updated = moment_after(before.updated);
        let (moment, object) = (before.updated, format!("tool:{}", after.slug));
        let told = after.clone();
        // Off the threads that serve everybody, and in no lane: a tool can be switched off whatever else its tenant does.
        let work = spawn_yielding(move || {
            let after = (!told.is_deleted).then(|| audited(&told));
            (content_hash(&told.definition), audited(&before), after)
        });
        let done = work.await.map_err(|error| Error::internal("changing a tool", error))?;
        let (hash, audited_before, audited_after) = done;
        let (action, before, after_it) = (action.to_owned(), Some(audited_before), audited_after);
        let audit = NewAudit { action, object, before, after: after_it, note };
        let is_taken_by = |other: &StoredTool| shares_a_name(&after, other);
        let claim = claims_names.then_some(Claim { free_at: epoch, is_taken_by: &is_taken_by });
        let kinds = &**self.catalogue.kinds();
        let is_upset_by = |other: &StoredTool| {
            other.id != after.id && upset_by.is_some_and(|upset_by| upset_by(kinds, other))
        };
        let premise = upset_by.map(|_| Premise { as_of: epoch, is_upset_by: &is_upset_by });
        let (accepts, pins) = match &accepts {
            Some((drift, remote)) => (Some(*drift), remote.as_deref()),
            None => (None, None),
        };
        let (content_hash, written) = (&*hash, artifact.as_ref());
        let left = Left { premise, claim, notes, content_hash, artifact: written, accepts, pins, audit };
        let scope = self.store.tenant(caller.tenant);
        let by = by(caller, asked);
        let changed = scope.update_tool(&after, moment, left, &by).await;
        let changed = changed.map_err(|error| match error {
            tw_store::Error::Taken { what: "version" } => {
                let why =
                    format!("version {} was withdrawn; give the draft a new number first", after.version);
                Error::Conflict { why }
            }
            error => Error::store("changing a tool")(error),
        })?;
        match changed {
            Changed::Done(()) => Ok(true),
            // With a premise or an artifact it may be that alone which does not hold; the next look tells.
            Changed::Stale(()) | Changed::Missing
                if asked.marks.is_some() && upset_by.is_none() && artifact.is_none() =>
            {
                Err(Error::Stale { what: "tool" })
            }
            Changed::Stale(()) | Changed::Missing => Ok(false),
        }
    }

    /// The tool as its author sees it after a change.
    pub(super) async fn after_change(&self, caller: &Caller, name: &str) -> Result<Listed> {
        let epoch = self.identity.epochs().ask(caller.tenant).await?;
        let view = self.catalogue.view(caller.tenant, epoch).await?;
        self.listed(&view, caller, name)
    }
}

pub(crate) fn busy() -> Error {
    Error::Busy { what: "tool" }
}

pub(crate) fn is_as_read(mark: &str, asked: EditContext<'_>) -> Result<()> {
    match asked.marks {
        Some(seen) if !seen.iter().any(|seen| seen == mark) => Err(Error::Stale { what: "tool" }),
        _ => Ok(()),
    }
}

pub(crate) fn go_live(stored: &mut StoredTool) {
    stored.live = Some(Arc::clone(&stored.definition));
    stored.live_version = Some(stored.version.clone());
    stored.published = stored.published.or_else(|| Some(Timestamp::now()));
    stored.switches.status = ToolStatus::Published;
}

/// A tool as the audit log has it.
pub(crate) fn audited(stored: &StoredTool) -> Value {
    let definition = shown_definition(&stored.definition);
    json!({
        "version": stored.version, "live_version": stored.live_version, "revision": stored.revision,
        "switches": stored.switches, "definition": definition,
    })
}

/// A stored definition as it may be shown.
pub(crate) fn shown_definition(text: &str) -> Value {
    let mut definition: Value = serde_json::from_str(text).unwrap_or_default();
    for part in ["implementation", "execution_spec"] {
        if let Some(part) = definition.get_mut(part) {
            *part = redacted(part);
        }
    }
    definition
}
