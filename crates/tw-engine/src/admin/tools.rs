//! Looking at the catalogue.

use std::sync::Arc;

use tw_model::{Caller, Level, Policy, ToolDef, ToolStatus};
use tw_store::{Changed, Override};

use super::by;
use crate::{
    Engine,
    catalogue::{Tool, View},
    corridor::authorize,
    error::{Error, Result},
    page::PageRequest,
    rights::{Permit, ReadTools, UpdateTools},
};

/// Which tools.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    pub status: Option<String>,
    pub implementation_type: Option<String>,
    pub tool_type: Option<String>,
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
            let from =
                tools.iter().position(|(tool, _)| tool.def.id.uuid() == after).map_or(0, |index| index + 1);
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

/// What somebody wants to lay over a tool: a field that is left out stays as it is, `Some(None)` takes
/// it back to what the tool's author wrote.
#[derive(Clone, Debug, Default)]
pub struct ToolChange {
    pub name: Option<Option<String>>,
    pub description: Option<Option<String>>,
    pub category: Option<Option<String>>,
    pub icon: Option<Option<String>>,
    pub tags: Option<Option<Vec<String>>>,
    pub enabled: Option<Option<bool>>,
    pub is_active: Option<Option<bool>>,
    pub status: Option<Option<ToolStatus>>,
    pub permission_policy: Option<Option<Policy>>,
    pub permission_level: Option<Option<Level>>,
    pub visible: Option<Option<bool>>,
    pub timeout_ms: Option<Option<u64>>,
}

impl ToolChange {
    fn onto(self, mut layer: Override) -> Override {
        layer.name = self.name.unwrap_or(layer.name);
        layer.description = self.description.unwrap_or(layer.description);
        layer.category = self.category.unwrap_or(layer.category);
        layer.icon = self.icon.unwrap_or(layer.icon);
        layer.tags = self.tags.unwrap_or(layer.tags);
        layer.enabled = self.enabled.unwrap_or(layer.enabled);
        layer.is_active = self.is_active.unwrap_or(layer.is_active);
        layer.status = self.status.unwrap_or(layer.status);
        layer.permission_policy = self.permission_policy.unwrap_or(layer.permission_policy);
        layer.permission_level = self.permission_level.unwrap_or(layer.permission_level);
        layer.visible = self.visible.unwrap_or(layer.visible);
        layer.timeout_ms = self.timeout_ms.unwrap_or(layer.timeout_ms);
        layer
    }
}

const TEXT_MAX: usize = 4000;
const TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1000;

fn check(layer: &Override, tool: &ToolDef) -> Result<()> {
    for (path, text) in [
        ("/name", &layer.name),
        ("/description", &layer.description),
        ("/category", &layer.category),
        ("/icon", &layer.icon),
    ] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty() || TEXT_MAX < text.len()) {
            return Err(Error::invalid(path, format!("has 1 to {TEXT_MAX} bytes")));
        }
    }
    if layer.tags.as_ref().is_some_and(|tags| 50 < tags.len() || tags.iter().any(|tag| 100 < tag.len())) {
        return Err(Error::invalid("/tags", "has at most 50 tags of 100 bytes"));
    }
    if layer.status.is_some_and(|status| !matches!(status, ToolStatus::Deprecated | ToolStatus::Disabled)) {
        let message =
            "of a tool defined in code can be deprecated or disabled; null takes it back to published";
        return Err(Error::invalid("/status", message));
    }
    if layer.permission_level.is_some_and(|level| Some(level) < tool.level) {
        let message = format!("can only be raised above `{}`", tool.level.map_or("none", Level::as_str));
        return Err(Error::invalid("/permission_level", message));
    }
    if layer.timeout_ms.is_some_and(|timeout| !(1..=TIMEOUT_MS_MAX).contains(&timeout)) {
        return Err(Error::invalid("/timeout_ms", format!("is a number from 1 to {TIMEOUT_MS_MAX}")));
    }
    Ok(())
}

impl Engine {
    /// Lays a change over a tool for the caller's tenant. It holds at once, on every replica.
    pub async fn change_tool(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        change: ToolChange,
        expected_revision: Option<i64>,
        request_id: Option<&str>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let missing = || Error::ToolNotFound { tool: name.to_owned() };
        let tool = view.tools.get(name).ok_or_else(missing)?;
        if seen(tool, caller, &view).is_none() {
            return Err(missing());
        }
        let scope = self.inner.store.tenant(caller.tenant);
        let stored = scope.overrides().await.map_err(Error::store("reading overrides"))?;
        let key = tool.def.slug.key();
        let stored = stored.into_iter().find(|stored| stored.slug.to_ascii_lowercase() == key);
        let revision = stored.as_ref().map_or(0, |stored| stored.revision);
        let layer = change.onto(stored.map(|stored| stored.layer).unwrap_or_default());
        let written = self.inner.catalogue.as_written(tool.def.id).ok_or_else(missing)?;
        check(&layer, &written.def)?;
        let expected = Some(expected_revision.unwrap_or(revision));
        let changed = scope.set_override(&tool.def.slug, layer, expected, &by(caller, request_id)).await;
        match changed.map_err(Error::store("changing a tool"))? {
            Changed::Done(_) => {}
            Changed::Stale(_) | Changed::Missing if expected_revision.is_some() => {
                return Err(Error::Stale { what: "tool" });
            }
            Changed::Stale(_) | Changed::Missing => {
                return Err(Error::Conflict {
                    why: "somebody changed the tool at this moment; try again".to_owned(),
                });
            }
        }
        let epoch = self.inner.identity.epochs.ask(caller.tenant).await?;
        let view = self.inner.catalogue.view(caller.tenant, epoch).await?;
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
        // Who may switch it on has to be able to see it. An agent never may, whatever its role.
        Err(reason) if caller.permissions.has("tools.tenant.update") && !caller.principal.is_agent() => {
            Some(Err(reason))
        }
        Err(_) => None,
        Ok(()) => {
            let facts = authorize::facts(tool, caller, view);
            if tool.def.required_permission.is_some() && !facts.holds_required {
                return None;
            }
            Some(runs(&tool.def))
        }
    }
}

/// Whether a tool of the catalogue would run, or the word for why not. What a call is refused for must
/// not be shown as available.
fn runs(def: &ToolDef) -> Result<(), &'static str> {
    match def.status {
        ToolStatus::Disabled => Err("disabled"),
        _ if !def.is_active => Err("inactive"),
        ToolStatus::Draft => Err("draft"),
        ToolStatus::Deprecated => Err("deprecated"),
        ToolStatus::Published => Ok(()),
    }
}

impl ToolFilter {
    fn takes(&self, def: &ToolDef, available: bool) -> bool {
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        is(&self.status, def.status.as_str())
            && is(&self.implementation_type, def.implementation.type_name())
            // Every tool there is so far.
            && is(&self.tool_type, "system")
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
