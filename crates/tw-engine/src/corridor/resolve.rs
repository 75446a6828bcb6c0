//! Steps 2 to 4: which tool is meant, is it in the tenant's catalogue, may it run at all.

use std::sync::Arc;

use tw_model::{Mode, ToolStatus};

use crate::{
    Engine,
    catalogue::{Entry, Side, Tool, View},
    corridor::record::Begun,
    error::{Error, Result},
};

/// A tool that is in the catalogue and switched on.
#[derive(Debug)]
pub(crate) struct Resolved {
    tool: Arc<Tool>,
    /// Whether it is not, or not yet, what everybody runs.
    is_draft: bool,
}

impl Resolved {
    pub(crate) fn is_draft(&self) -> bool {
        self.is_draft
    }

    pub(crate) fn into_tool(self) -> Arc<Tool> {
        self.tool
    }
}

impl Engine {
    /// Production runs what is live, or a number that was published once; debug what was saved last.
    pub(crate) async fn resolve(
        &self,
        view: &View,
        name: &str,
        version: Option<&str>,
        mode: Mode,
    ) -> Result<Resolved> {
        let missing = || Error::ToolNotFound { tool: name.to_owned() };
        let entry = view.tools.get(name).ok_or_else(missing)?;
        let tool = self.switched_on(view, name, entry, mode)?;
        match version {
            Some(version) if version != &*tool.version => self.pinned(view, entry, version, mode).await,
            _ => Ok(Resolved { tool, is_draft: mode == Mode::Debug && entry.has_draft() }),
        }
    }

    /// A tool as it would be with a definition that nobody has saved, for this one call.
    pub(crate) async fn resolve_unsaved(
        &self,
        view: &View,
        name: &str,
        definition: &serde_json::Value,
    ) -> Result<Resolved> {
        let entry = self.unsaved(view, name, definition).await?;
        Ok(Resolved { tool: self.switched_on(view, name, &entry, Mode::Debug)?, is_draft: true })
    }

    /// The side of a tool that a mode runs, if the tool is in the catalogue and nobody switched it off.
    fn switched_on(&self, view: &View, name: &str, entry: &Entry, mode: Mode) -> Result<Arc<Tool>> {
        // A hidden tool answers like one that does not exist.
        let missing = |_| Error::ToolNotFound { tool: name.to_owned() };
        entry.in_catalogue(view.slug()).map_err(missing)?;
        let slug = || entry.slug().to_string();
        let status = entry.status();
        if !entry.is_active() || status == ToolStatus::Disabled {
            return Err(Error::ToolDisabled { tool: slug() });
        }
        let runs = match mode {
            Mode::Production => status == ToolStatus::Published,
            Mode::Debug => matches!(status, ToolStatus::Published | ToolStatus::Draft),
        };
        if !runs {
            return Err(Error::ToolNotPublished { tool: slug(), status: status.as_str() });
        }
        let unpublished = || Error::ToolNotPublished { tool: slug(), status: "a draft" };
        self.inner.catalogue.ready(entry, side(mode))?.ok_or_else(unpublished)
    }

    async fn pinned(&self, view: &View, entry: &Entry, version: &str, mode: Mode) -> Result<Resolved> {
        let missing = || Error::NotFound { what: "version of this tool" };
        let Entry::Own(own) = entry else { return Err(missing()) };
        let scope = self.inner.store.tenant(view.tenant.id);
        let snapshot = scope.tool_at_version(own.stored.id, version, mode == Mode::Production).await;
        let snapshot = snapshot.map_err(Error::store("reading a version"))?.ok_or_else(missing)?;
        let tool = self.inner.catalogue.ready_at(own, &snapshot.content, &snapshot.version)?;
        Ok(Resolved { tool, is_draft: mode == Mode::Debug })
    }

    /// A tool of the tenant's own as it was when a run of it began, whatever was published since.
    pub(crate) async fn as_begun(&self, view: &View, now: Arc<Tool>, begun: &Begun) -> Result<Arc<Tool>> {
        if now.content_hash.as_ref() == Some(&begun.content_hash) && *now.version == *begun.version {
            return Ok(now);
        }
        let lost = || {
            let why = "it was begun with a definition that nobody has saved: save the draft and test that";
            Error::Conflict { why: why.to_owned() }
        };
        let Some(Entry::Own(own)) = view.tools.get(&now.def.id.to_string()) else { return Err(lost()) };
        let content = self.inner.store.tenant(view.tenant.id).tool_content(&begun.content_hash).await;
        let content = content.map_err(Error::store("reading a version"))?.ok_or_else(lost)?;
        self.inner.catalogue.ready_at(own, &content, &begun.version)
    }

    /// The tool that a parked call was about, as it is now.
    pub(crate) async fn tool_now(
        &self,
        view: &View,
        id: tw_model::ToolId,
        pinned: Option<&str>,
        mode: Mode,
    ) -> Result<Option<Arc<Tool>>> {
        let Some(entry) = view.tools.get(&id.to_string()) else { return Ok(None) };
        match self.inner.catalogue.ready(entry, side(mode))? {
            Some(tool) if pinned.is_none_or(|version| version == &*tool.version) => Ok(Some(tool)),
            _ => match pinned {
                Some(version) => match self.pinned(view, entry, version, mode).await {
                    Ok(resolved) => Ok(Some(resolved.into_tool())),
                    Err(Error::NotFound { .. }) => Ok(None),
                    Err(error) => Err(error),
                },
                None => Ok(None),
            },
        }
    }
}

fn side(mode: Mode) -> Side {
    match mode {
        Mode::Production => Side::Live,
        Mode::Debug => Side::Draft,
    }
}
