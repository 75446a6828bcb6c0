//! What a caller could call right now, for doors that hand out functions.

use std::sync::Arc;

use tw_model::{Caller, ToolDef};
use tw_policy::Verdict;

use crate::{
    Engine,
    catalogue::Side,
    corridor::authorize,
    error::Result,
    rights::{Permit, RunTools},
};

/// A tool that the caller may call.
#[derive(Clone, Debug)]
pub struct Callable {
    pub def: Arc<ToolDef>,
    /// Whether somebody is asked before it runs.
    pub asks: bool,
}

impl Callable {
    /// Whether a call may be answered before it has run.
    #[must_use]
    pub fn can_be_pending(&self) -> bool {
        self.asks || self.def.is_async || self.def.implementation.may_wait()
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
            let Some(tool) = self.inner.catalogue.ready(entry, Side::Live)? else { continue };
            match tw_policy::decide(&authorize::facts(&tool, caller, &view)).verdict() {
                Verdict::Deny => {}
                verdict => tools.push(Callable { def: Arc::clone(&tool.def), asks: verdict == Verdict::Ask }),
            }
        }
        Ok(tools)
    }

    /// Whether somebody would be asked before the caller's call of this tool runs.
    pub async fn asks(&self, permit: &Permit<RunTools>, name: &str) -> Result<bool> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let Some(entry) = view.tools.get(name) else { return Ok(false) };
        let Some(tool) = self.inner.catalogue.ready(entry, Side::Live)? else { return Ok(false) };
        Ok(tw_policy::decide(&authorize::facts(&tool, caller, &view)).verdict() == Verdict::Ask)
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
