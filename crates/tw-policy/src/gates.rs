//! What an author, the operator and a tenant say about the calls of a tool, and what of it counts.

use tw_model::{Caller, Level, Mode, Policy, ToolDef, ToolStatus};

use crate::Facts;

/// The part of an override that decides calls. `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateOverride {
    pub enabled: Option<bool>,
    pub is_active: Option<bool>,
    pub status: Option<ToolStatus>,
    pub level: Option<Level>,
    pub policy: Option<Policy>,
}

impl GateOverride {
    /// Lays the override over a tool. The author's word about the danger stands: a level goes up only.
    pub fn lay_over(self, def: &mut ToolDef, always_asks: bool) {
        // What is switched off for everybody is not switched on for one.
        if def.enabled != Some(false) {
            def.enabled = self.enabled.or(def.enabled);
        }
        def.is_active &= self.is_active.unwrap_or(true);
        def.status = self.status.unwrap_or(def.status);
        def.level = self.level.max(def.level);
        // Who makes tools could otherwise make one that lets it make more without a word.
        if !always_asks {
            def.policy = self.policy.or(def.policy);
        }
    }
}

/// Why nobody can call a tool now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// It answers like one that does not exist.
    Hidden,
    Disabled,
    /// It changed on the server it comes from, and nobody has decided about that.
    Held,
    NotPublished,
}

/// Whether the switches of a tool let it be called at all.
pub fn available(
    in_catalogue: bool,
    is_active: bool,
    is_held: bool,
    status: ToolStatus,
    mode: Mode,
) -> Result<(), Unavailable> {
    let runs = match mode {
        Mode::Production => status == ToolStatus::Published,
        Mode::Debug => matches!(status, ToolStatus::Published | ToolStatus::Draft),
    };
    match (in_catalogue, is_active && status != ToolStatus::Disabled, is_held, runs) {
        (false, ..) => Err(Unavailable::Hidden),
        (true, false, ..) => Err(Unavailable::Disabled),
        (true, true, true, _) => Err(Unavailable::Held),
        (true, true, false, false) => Err(Unavailable::NotPublished),
        (true, true, false, true) => Ok(()),
    }
}

impl Facts {
    /// What is known about a caller and a tool before there is an input.
    #[must_use]
    pub fn of(def: &ToolDef, caller: &Caller, approve_all_writes: bool) -> Self {
        let required = def.required_permission.as_ref();
        Self {
            by_agent: caller.principal.is_agent(),
            may_run: caller.permissions.has("tools.tenant.run"),
            holds_required: required.is_none_or(|permission| caller.permissions.has(permission.as_str())),
            level: def.level,
            policy: def.policy,
            approve_all_writes,
        }
    }
}
