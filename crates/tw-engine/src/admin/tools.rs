//! Looking at the catalogue.

use std::sync::Arc;

use tw_model::{Caller, ToolDef};

use crate::{
    Engine,
    catalogue::{Tool, View},
    corridor::authorize,
    error::{Error, Result},
    page::PageRequest,
    rights::{Permit, ReadTools},
};

/// Which tools.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    pub status: Option<String>,
    pub implementation_type: Option<String>,
    pub kind: Option<String>,
    pub origin: Option<String>,
    pub category: Option<String>,
    pub available: Option<bool>,
    /// Words to be found in slug, name or description.
    pub q: Option<String>,
}

/// A tool as a caller sees it: `Err` says why it is not available.
pub type Listed = (Arc<Tool>, Result<(), &'static str>);

impl Engine {
    /// The tools the caller may see, by slug. Returns the page, whether there is more, and how many
    /// there are in all.
    pub async fn tools(
        &self,
        permit: &Permit<ReadTools>,
        filter: &ToolFilter,
        page: &PageRequest,
    ) -> Result<crate::Page<Listed>> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let mut tools: Vec<Listed> = view
            .tools
            .sorted()
            .into_iter()
            .filter_map(|tool| seen(&tool, caller, &view).map(|available| (tool, available)))
            .filter(|(tool, available)| filter.takes(&tool.def, available.is_ok()))
            .collect();
        let total = i64::try_from(tools.len()).ok();
        let place = format!("tools/{}/{}", caller.tenant, caller.principal.label());
        if let Some(after) = self.open_cursor(&place, page)? {
            let from = tools.iter().position(|(tool, _)| tool.def.id.uuid() == after).map_or(0, |index| index + 1);
            tools.drain(..from);
        }
        tools.drain(..tools.len().min(usize::try_from(page.offset).unwrap_or(0)));
        tools.truncate(usize::try_from(page.limit + 1).unwrap_or(0));
        Ok(self.page(tools, page, &place, total, |(tool, _)| tool.def.id.uuid()))
    }

    /// One tool, by id or slug.
    pub async fn tool(&self, permit: &Permit<ReadTools>, name: &str) -> Result<Listed> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let missing = || Error::ToolNotFound { tool: name.to_owned() };
        let tool = view.tools.get(name).ok_or_else(missing)?;
        let available = seen(tool, caller, &view).ok_or_else(missing)?;
        Ok((Arc::clone(tool), available))
    }
}

/// Whether the caller sees the tool at all, and whether it could be called.
fn seen(tool: &Tool, caller: &Caller, view: &View) -> Option<Result<(), &'static str>> {
    let in_catalogue = tool.def.in_catalogue(view.slug().as_str());
    match in_catalogue {
        // A tool of other tenants does not exist here, for nobody.
        Err("not_for_this_tenant") => None,
        // Who may switch it on has to be able to see it.
        Err(reason) if caller.permissions.has("tools.tenant.update") => Some(Err(reason)),
        Err(_) => None,
        Ok(()) => {
            let facts = authorize::facts(tool, caller, view);
            if tool.def.required_permission.is_some() && !facts.holds_required {
                return None;
            }
            Some(if tool.def.is_active { Ok(()) } else { Err("inactive") })
        }
    }
}

impl ToolFilter {
    fn takes(&self, def: &ToolDef, available: bool) -> bool {
        let is = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        is(&self.status, def.status.as_str())
            && is(&self.implementation_type, def.implementation.type_name())
            && is(&self.kind, def.layer.as_str())
            && is(&self.origin, def.origin.as_str())
            && is(&self.category, &def.category)
            && self.available.is_none_or(|wanted| wanted == available)
            && self.q.as_deref().is_none_or(|words| mentions(def, words))
    }
}

fn mentions(def: &ToolDef, words: &str) -> bool {
    let text = format!("{} {} {}", def.slug, def.name, def.description).to_lowercase();
    words.to_lowercase().split_whitespace().all(|word| text.contains(word))
}
