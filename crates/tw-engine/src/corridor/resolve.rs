//! Steps 2 to 4: which tool is meant, is it in the tenant's catalogue, may it run at all.

use std::sync::Arc;

use tw_model::{Mode, ToolStatus};

use crate::{
    Engine,
    catalogue::{Entry, Side, Tool, View},
    error::{Error, Result},
};

/// A tool that is in the catalogue and switched on.
#[derive(Debug)]
pub(crate) struct Resolved {
    tool: Arc<Tool>,
}

impl Resolved {
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
        // A hidden tool answers like one that does not exist.
        entry.in_catalogue(view.slug()).map_err(|_| missing())?;
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
        let tool = self.inner.catalogue.ready(entry, side(mode))?.ok_or_else(unpublished)?;
        match version {
            Some(version) if version != &*tool.version => self.pinned(view, entry, version, mode).await,
            _ => Ok(Resolved { tool }),
        }
    }

    async fn pinned(&self, view: &View, entry: &Entry, version: &str, mode: Mode) -> Result<Resolved> {
        let missing = || Error::NotFound { what: "version of this tool" };
        let Entry::Own(own) = entry else { return Err(missing()) };
        let scope = self.inner.store.tenant(view.tenant.id);
        let snapshot = scope.tool_at_version(own.stored.id, version, mode == Mode::Production).await;
        let snapshot = snapshot.map_err(Error::store("reading a version"))?.ok_or_else(missing)?;
        Ok(Resolved { tool: self.inner.catalogue.ready_at(own, &snapshot)? })
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
