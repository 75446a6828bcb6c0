//! What a caller could call right now, for doors that hand out functions.

use std::sync::Arc;

use tw_model::{Caller, ToolDef};
use tw_policy::Verdict;

use crate::{
    Engine,
    catalogue::{Entry, Side, Tool},
    corridor::authorize,
    error::{Error, Result},
    rights::{Permit, RunTools},
};

/// A tool that the caller may call.
#[derive(Clone, Debug)]
pub struct Callable {
    pub def: Arc<ToolDef>,
    /// Whether somebody is asked before it runs.
    pub asks: bool,
    /// Whether it may stop to wait for a worker, a person or a call of its own.
    may_wait: bool,
}

impl Callable {
    fn new(tool: &Tool, verdict: Verdict) -> Self {
        let may_wait = tool.executor.asks_outside() || tool.executor.is_resumable();
        Self { def: Arc::clone(&tool.def), asks: verdict == Verdict::Ask, may_wait }
    }

    /// Whether a call may be answered before it has run.
    #[must_use]
    pub fn can_be_pending(&self) -> bool {
        self.asks || self.def.is_async || self.may_wait
    }
}

impl Engine {
    /// Everything the caller may call, by slug. Equal for equal [`Engine::toolset_key`].
    pub async fn toolset(&self, permit: &Permit<RunTools>) -> Result<Vec<Callable>> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let mut tools = Vec::new();
        for entry in view.tools.sorted().iter() {
            if crate::admin::seen(entry, caller, &view) != Some(Ok(())) {
                continue;
            }
            let Some(tool) = self.ready_or_left_out(entry) else { continue };
            match tw_policy::decide(&authorize::facts(&tool, caller, &view)).verdict() {
                Verdict::Deny => {}
                verdict => tools.push(Callable::new(&tool, verdict)),
            }
        }
        Ok(tools)
    }

    /// One that cannot be read must not take the others with it.
    fn ready_or_left_out(&self, entry: &Entry) -> Option<Arc<Tool>> {
        let ready = self.inner.catalogue.ready(entry, Side::Live);
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
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let entry = view.tools.get(name).ok_or_else(missing)?;
        let tool = self.inner.catalogue.ready(entry, Side::Live)?;
        let is_alias = |tool: &Arc<Tool>| tool.def.authored.aliases.iter().any(|alias| alias == name);
        if entry.slug().as_str() != name && !tool.as_ref().is_some_and(is_alias) {
            return Err(missing());
        }
        Ok(tool.map(|tool| {
            let verdict = tw_policy::decide(&authorize::facts(&tool, caller, &view)).verdict();
            Callable::new(&tool, verdict)
        }))
    }

    /// Names what a caller's toolset depends on.
    #[must_use]
    pub fn toolset_key(&self, caller: &Caller) -> ToolsetKey {
        let permissions: Vec<&str> = caller.permissions.iter().map(tw_model::Permission::as_str).collect();
        ToolsetKey {
            tenant: caller.tenant,
            epoch: caller.epoch,
            by_agent: caller.principal.is_agent(),
            permissions: permissions.join(" ").into(),
        }
    }
}

/// Two callers with the same key have the same toolset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolsetKey {
    tenant: tw_model::TenantId,
    epoch: i64,
    by_agent: bool,
    permissions: Arc<str>,
}
