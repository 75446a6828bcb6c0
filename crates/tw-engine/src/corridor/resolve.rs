//! Which tool is meant, is it in the tenant's catalogue, may it run at all.

use std::sync::Arc;

use tw_base::{Error, Result};
use tw_model::{Mode, Party, ToolId, Unlisted};
use tw_policy::Unavailable;
use tw_registry::{Side, Tool, ToolEntry, Unsaved, View};
use tw_store::{Approval, Run};

use crate::{
    Engine,
    run_log::{Begun, Resumption, WrapperSettings},
};

/// What a call is about. Every way of calling is one of these, and all are held against the tool as it is now.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// A tool by its name, as it runs now or under the number of a version.
    Named {
        tool: &'a str,
        version: Option<&'a str>,
        mode: Mode,
        /// The author's settings, where a tool that wraps this one makes the call.
        settings: Option<&'a WrapperSettings>,
    },
    /// A tool with a definition that is not saved.
    Unsaved { tool: &'a str, definition: &'a Unsaved },
    /// A call that was approved, with the input that was approved.
    Approved(Parked<'a>),
    /// A call that waits for an approval, with another input.
    Edited(Parked<'a>),
    /// A run that began and is resumed.
    Begun { tool: ToolId, begun: Option<&'a Begun>, mode: Mode, edited_by: Option<&'a Party> },
}

impl<'a> Subject<'a> {
    /// Who changed the input of the call before it was approved.
    pub(super) fn edited_by(self) -> Option<&'a Party> {
        match self {
            Self::Approved(parked) => parked.kept.edited_by.as_ref(),
            Self::Begun { edited_by, .. } => edited_by,
            // One that is about to be changed is held against whoever changes it as their own call.
            Self::Named { .. } | Self::Unsaved { .. } | Self::Edited(_) => None,
        }
    }
}

/// A call that waits for an approval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parked<'a> {
    pub(crate) approval: &'a Approval,
    pub(crate) run: &'a Run,
    pub(crate) kept: &'a Resumption,
}

/// A tool that is in the catalogue and switched on.
#[derive(Debug)]
pub(crate) struct Resolved {
    tool: Arc<Tool>,
    /// The tool that a direct call would run, where that is another definition of it.
    now: Option<Arc<Tool>>,
    /// Whether it is not, or not yet, what everybody runs.
    is_draft: bool,
}

impl Resolved {
    pub(super) fn is_draft(&self) -> bool {
        self.is_draft
    }

    pub(super) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    /// The tool that a direct call would run, where that is another definition.
    pub(super) fn now(&self) -> Option<&Arc<Tool>> {
        self.now.as_ref()
    }

    /// All definitions that a call is held against, the one that would run first.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &Arc<Tool>> {
        [Some(&self.tool), self.now.as_ref()].into_iter().flatten()
    }
}

impl Engine {
    /// Production runs what is live, or a number that was published once; debug what was saved last.
    pub(super) async fn resolve(&self, view: &View, subject: Subject<'_>) -> Result<Resolved> {
        match subject {
            Subject::Named { tool, version, mode, .. } => self.named(view, tool, version, mode).await,
            Subject::Unsaved { tool, definition } => self.unsaved_tool(view, tool, definition).await,
            Subject::Approved(parked) | Subject::Edited(parked) => {
                let Parked { approval, kept, .. } = parked;
                self.named(view, &approval.tool_id.to_string(), kept.pinned.as_deref(), kept.mode).await
            }
            Subject::Begun { tool, begun, mode, .. } => self.as_begun(view, tool, begun, mode).await,
        }
    }

    async fn named(&self, view: &View, name: &str, version: Option<&str>, mode: Mode) -> Result<Resolved> {
        let missing = || Error::ToolNotFound { tool: name.to_owned() };
        let entry = view.tools.get(name).ok_or_else(missing)?;
        let tool = self.switched_on(view, name, entry, mode)?;
        let now = self.live_besides(entry, &tool)?;
        match version {
            Some(version) if !is_numbered(entry, &tool, version, mode) => {
                let tool_now = now.unwrap_or(tool);
                let pinned = self.pinned(view, entry, version, mode).await?;
                Ok(Resolved { tool: pinned, now: Some(tool_now), is_draft: mode == Mode::Debug })
            }
            _ => Ok(Resolved { tool, now, is_draft: mode == Mode::Debug && entry.has_draft() }),
        }
    }

    /// What everybody runs, where that is not the tool that was found.
    fn live_besides(&self, entry: &ToolEntry, found: &Arc<Tool>) -> Result<Option<Arc<Tool>>> {
        let live = self.inner.catalogue.ready(entry, Side::Live)?;
        Ok(live.filter(|live| !Arc::ptr_eq(live, found)))
    }

    /// A tool as it would be with a definition that is not saved, for this one call. It does not get round what is
    /// said about the tool that it would change.
    async fn unsaved_tool(&self, view: &View, name: &str, definition: &Unsaved) -> Result<Resolved> {
        let definition = match definition {
            Unsaved::Change(definition) => definition,
            Unsaved::Draft(draft) => return self.draft(view, name, draft),
        };
        let now = match view.tools.get(name) {
            Some(entry) if entry.in_catalogue(view.slug()) != Err(Unlisted::NotForThisTenant) => {
                let saved = self.switched_on(view, name, entry, Mode::Debug)?;
                Some(self.inner.catalogue.ready(entry, Side::Live)?.unwrap_or(saved))
            }
            _ => None,
        };
        let entry = self.inner.registry.unsaved(view, name, definition).await?;
        Ok(Resolved { tool: self.switched_on(view, name, &entry, Mode::Debug)?, now, is_draft: true })
    }

    /// A tool as it is about to go live, under the switches that it will have.
    fn draft(&self, view: &View, name: &str, draft: &ToolEntry) -> Result<Resolved> {
        let tool = self.switched_on(view, name, draft, Mode::Debug)?;
        let now = self.live_besides(draft, &tool)?;
        Ok(Resolved { tool, now, is_draft: true })
    }

    /// The side of a tool that a mode runs, if the tool is in the catalogue and nobody switched it off.
    fn switched_on(&self, view: &View, name: &str, entry: &ToolEntry, mode: Mode) -> Result<Arc<Tool>> {
        let slug = || entry.slug().to_string();
        let available = entry.switches(view.slug(), side(mode)).available(mode);
        available.map_err(|why| match why {
            Unavailable::Hidden(_) => Error::ToolNotFound { tool: name.to_owned() },
            Unavailable::Disabled | Unavailable::Inactive => Error::ToolDisabled { tool: slug() },
            Unavailable::Held => Error::ToolHeld { tool: slug() },
            Unavailable::UnknownKind => {
                let kind = entry.unknown_kind(side(mode)).unwrap_or_default().to_owned();
                Error::UnknownKind { tool: slug(), kind }
            }
            Unavailable::NotPublished(status) => {
                Error::ToolNotPublished { tool: slug(), status: status.as_str() }
            }
        })?;
        let unpublished = || Error::ToolNotPublished { tool: slug(), status: "a draft" };
        self.inner.catalogue.ready(entry, side(mode))?.ok_or_else(unpublished)
    }

    async fn pinned(&self, view: &View, entry: &ToolEntry, version: &str, mode: Mode) -> Result<Arc<Tool>> {
        let missing = || Error::NotFound { what: "version of this tool" };
        let ToolEntry::Own(own) = entry else { return Err(missing()) };
        let scope = self.inner.store.tenant(view.tenant.id);
        let snapshot = scope.tool_at_version(own.stored.id, version, mode == Mode::Production).await;
        let snapshot = snapshot.map_err(Error::store("reading a version"))?.ok_or_else(missing)?;
        if snapshot.withdrawn.is_some() {
            let (tool, version) = (entry.slug().to_string(), snapshot.version);
            return Err(Error::VersionWithdrawn { tool, version });
        }
        self.inner.catalogue.ready_at(own, &snapshot.content, &snapshot.version)
    }

    /// A tool as it was when a run of it began, whatever was published since.
    async fn as_begun(&self, view: &View, id: ToolId, begun: Option<&Begun>, mode: Mode) -> Result<Resolved> {
        let resolved = self.named(view, &id.to_string(), None, mode).await?;
        let Some(begun) = begun else { return Ok(resolved) };
        let Resolved { tool: saved, now, is_draft } = resolved;
        if saved.content_hash.as_ref() == Some(&begun.content_hash) && *saved.version == *begun.version {
            return Ok(Resolved { tool: saved, now, is_draft });
        }
        let lost = || {
            let why =
                "the run started with an unsaved definition and cannot go on: save the draft and test it";
            Error::Conflict { why: why.to_owned() }
        };
        let Some(ToolEntry::Own(own)) = view.tools.get(&id.to_string()) else { return Err(lost()) };
        let content = self.inner.store.tenant(view.tenant.id).tool_content(&begun.content_hash).await;
        let content = content.map_err(Error::store("reading a version"))?.ok_or_else(lost)?;
        let tool = self.inner.catalogue.ready_at(own, &content, &begun.version)?;
        Ok(Resolved { tool, now: Some(now.unwrap_or(saved)), is_draft })
    }

    /// The tool that a parked call was about, as it is now. `None` where there is none.
    pub(super) async fn tool_of(&self, view: &View, parked: Parked<'_>) -> Result<Option<Arc<Tool>>> {
        let Parked { approval, kept, .. } = parked;
        let Some(entry) = view.tools.get(&approval.tool_id.to_string()) else { return Ok(None) };
        self.tool_at(view, entry, kept.pinned.as_deref(), kept.mode).await
    }

    /// All definitions that a call of a tool would be held against, the one that would run first, whether or not it is
    /// switched on. None where there is no such tool.
    pub(crate) async fn definitions_of(
        &self,
        view: &View,
        tool: ToolId,
        pinned: Option<&str>,
        mode: Mode,
    ) -> Result<Vec<Arc<Tool>>> {
        let Some(entry) = view.tools.get(&tool.to_string()) else { return Ok(Vec::new()) };
        let Some(tool) = self.tool_at(view, entry, pinned, mode).await? else { return Ok(Vec::new()) };
        let live = self.live_besides(entry, &tool)?;
        Ok([tool].into_iter().chain(live).collect())
    }

    async fn tool_at(
        &self,
        view: &View,
        entry: &ToolEntry,
        pinned: Option<&str>,
        mode: Mode,
    ) -> Result<Option<Arc<Tool>>> {
        match (self.inner.catalogue.ready(entry, side(mode))?, pinned) {
            (Some(tool), None) => Ok(Some(tool)),
            (Some(tool), Some(version)) if is_numbered(entry, &tool, version, mode) => Ok(Some(tool)),
            (_, Some(version)) => match self.pinned(view, entry, version, mode).await {
                Ok(tool) => Ok(Some(tool)),
                Err(Error::NotFound { .. } | Error::VersionWithdrawn { .. }) => Ok(None),
                Err(error) => Err(error),
            },
            (None, None) => Ok(None),
        }
    }
}

/// Whether a number means the side of a tool that a mode runs. A draft that still has the number of what is live is not
/// what the number stands for.
fn is_numbered(entry: &ToolEntry, tool: &Tool, version: &str, mode: Mode) -> bool {
    let is_published = match entry {
        ToolEntry::Own(own) => own.has_draft() && own.stored.live_version.as_deref() == Some(version),
        ToolEntry::Code(_) => false,
    };
    version == &*tool.version && !(mode == Mode::Debug && is_published)
}

fn side(mode: Mode) -> Side {
    match mode {
        Mode::Production => Side::Live,
        Mode::Debug => Side::Draft,
    }
}
