//! What a caller could call right now, for doors that hand out functions.

use std::sync::Arc;

use tw_base::{Error, Result};
use tw_identity::rights::{Permit, RunTools};
use tw_model::{Caller, ToolDef};
use tw_policy::Verdict;

use crate::{
    Registry,
    catalogue::{Side, Tool, ToolEntry, View},
};

/// A tool that the caller may call.
#[derive(Clone, Debug)]
pub struct Callable {
    pub def: Arc<ToolDef>,
    /// Whether somebody is asked before it runs.
    pub asks: bool,
    /// Whether it may stop to wait for a worker, a person or a call of its own.
    may_wait: bool,
    /// Whether a call may touch what is neither this server nor the people on it. What cannot be known, may.
    pub open_world: bool,
}

impl Callable {
    /// Whether a call may be answered before it has run.
    #[must_use]
    pub fn can_be_pending(&self) -> bool {
        self.asks || self.def.is_async || self.may_wait
    }
}

impl Registry {
    /// Everything the caller may call, by slug. Equal for equal [`Registry::toolset_key`] and epoch.
    pub async fn toolset(&self, permit: &Permit<RunTools>) -> Result<Vec<Callable>> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let mut tools = Vec::new();
        for entry in view.tools.sorted().iter() {
            if crate::tools::seen(entry, caller, &view) != Some(Ok(())) {
                continue;
            }
            let Some(tool) = self.ready_or_left_out(entry) else { continue };
            match tw_policy::decide(&tool.facts(caller, &view)).verdict() {
                Verdict::Deny => {}
                verdict => tools.push(self.callable_of(&tool, &view, verdict)),
            }
        }
        Ok(tools)
    }

    /// One that cannot be read must not take the others with it.
    fn ready_or_left_out(&self, entry: &ToolEntry) -> Option<Arc<Tool>> {
        let ready = self.catalogue.ready(entry, Side::Live);
        ready
            .inspect_err(|error| {
                let (slug, error) = (entry.slug(), error as &dyn std::error::Error);
                tracing::error!(%slug, error, "a tool is left out of a toolset");
            })
            .ok()?
    }

    /// The tool that a call by this name would run, its slug or alias written exactly so. Nothing where none
    /// is ready; why, and whether the caller may, the call itself says.
    pub async fn callable(&self, permit: &Permit<RunTools>, name: &str) -> Result<Option<Callable>> {
        let caller = permit.caller();
        let missing = || Error::ToolNotFound { tool: name.to_owned() };
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let entry = view.tools.get(name).ok_or_else(missing)?;
        let tool = self.catalogue.ready(entry, Side::Live)?;
        let is_alias = |tool: &Arc<Tool>| tool.def.authored.aliases.iter().any(|alias| alias == name);
        if entry.slug().as_str() != name && !tool.as_ref().is_some_and(is_alias) {
            return Err(missing());
        }
        Ok(tool.map(|tool| {
            let verdict = tw_policy::decide(&tool.facts(caller, &view)).verdict();
            self.callable_of(&tool, &view, verdict)
        }))
    }

    fn callable_of(&self, tool: &Tool, view: &View, verdict: Verdict) -> Callable {
        let executor = &tool.executor;
        Callable {
            def: Arc::clone(&tool.def),
            asks: verdict == Verdict::Ask,
            may_wait: executor.asks_outside() || executor.is_resumable(),
            open_world: reaches_out(tool) && self.parts_reach_out(&executor.calls(), view),
        }
    }

    /// Whether one of the tools that a tool calls reaches out. One that calls none reaches as far as it says itself.
    fn parts_reach_out(&self, called: &[&str], view: &View) -> bool {
        let part = |name: &&str| {
            let entry = view.tools.get(name)?;
            self.catalogue.ready(entry, Side::Live).ok().flatten()
        };
        called.is_empty() || called.iter().any(|name| part(name).is_none_or(|part| reaches_out(&part)))
    }

    /// Names what a caller's toolset depends on.
    #[must_use]
    pub fn toolset_key(&self, caller: &Caller) -> ToolsetKey {
        let permissions: Vec<&str> = caller.permissions.iter().map(tw_model::Permission::as_str).collect();
        ToolsetKey {
            tenant: caller.tenant,
            by_agent: caller.principal.is_agent(),
            permissions: permissions.join(" ").into(),
        }
    }
}

/// Two callers with the same key and the same epoch have the same toolset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolsetKey {
    tenant: tw_model::TenantId,
    by_agent: bool,
    permissions: Arc<str>,
}

fn reaches_out(tool: &Tool) -> bool {
    tool.def.open_world.unwrap_or_else(|| tool.executor.reaches_out())
}
