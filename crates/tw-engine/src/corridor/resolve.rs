//! Steps 2 to 4: which tool is meant, is it in the tenant's catalogue, may it run at all.

use std::sync::Arc;

use tw_model::{Mode, ToolStatus};

use crate::{
    catalogue::{Tool, View},
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

pub(crate) fn resolve(view: &View, name: &str, version: Option<&str>, mode: Mode) -> Result<Resolved> {
    let missing = || Error::ToolNotFound { tool: name.to_owned() };
    let tool = view.tools.get(name).ok_or_else(missing)?;
    // A hidden tool answers like one that does not exist.
    tool.def.in_catalogue(view.slug().as_str()).map_err(|_| missing())?;
    let slug = || tool.def.slug.to_string();
    if !tool.def.is_active || tool.def.status == ToolStatus::Disabled {
        return Err(Error::ToolDisabled { tool: slug() });
    }
    let runs = match mode {
        Mode::Production => tool.def.status == ToolStatus::Published,
        Mode::Debug => matches!(tool.def.status, ToolStatus::Published | ToolStatus::Draft),
    };
    if !runs {
        return Err(Error::ToolNotPublished { tool: slug(), status: tool.def.status.as_str() });
    }
    if version.is_some_and(|version| version != &*tool.version) {
        return Err(Error::NotFound { what: "version of this tool" });
    }
    Ok(Resolved { tool: Arc::clone(tool) })
}
