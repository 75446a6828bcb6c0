//! What an author, the operator and a tenant say about the calls of a tool, and what of it counts.

use tw_model::{Caller, Level, Mode, Permission, Policy, ToolDef, ToolStatus, Unlisted};

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

/// What is said about a tool that decides whether it can be called at all.
#[derive(Clone, Copy, Debug)]
pub struct CallSwitches {
    pub listed: Result<(), Unlisted>,
    pub is_active: bool,
    /// It changed on the server it comes from, and nobody has decided about that.
    pub is_held: bool,
    /// Whether this program knows the kind of what would run.
    pub is_known_kind: bool,
    pub status: ToolStatus,
}

/// Why nobody can call a tool now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// It answers like one that does not exist.
    Hidden(Unlisted),
    Disabled,
    Inactive,
    Held,
    UnknownKind,
    NotPublished(ToolStatus),
}

impl Unavailable {
    /// The word used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hidden(unlisted) => unlisted.as_str(),
            Self::Disabled => "disabled",
            Self::Inactive => "inactive",
            Self::Held => "held",
            Self::UnknownKind => "unknown_kind",
            Self::NotPublished(status) => status.as_str(),
        }
    }
}

/// One of the checks that let a tool be called at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSwitch {
    Catalogue,
    NotDisabled,
    Active,
    NotHeld,
    KnownKind,
    Published,
}

impl CallSwitches {
    /// Every check, in the order in which a call is held against them. The first that fails says why it is refused.
    pub fn checks(&self, mode: Mode) -> [(CallSwitch, Result<(), Unavailable>); 6] {
        let unless = |failed: bool, why| if failed { Err(why) } else { Ok(()) };
        let runs = match mode {
            Mode::Production => self.status == ToolStatus::Published,
            Mode::Debug => matches!(self.status, ToolStatus::Published | ToolStatus::Draft),
        };
        let is_disabled = self.status == ToolStatus::Disabled;
        [
            (CallSwitch::Catalogue, self.listed.map_err(Unavailable::Hidden)),
            (CallSwitch::NotDisabled, unless(is_disabled, Unavailable::Disabled)),
            (CallSwitch::Active, unless(!self.is_active, Unavailable::Inactive)),
            (CallSwitch::NotHeld, unless(self.is_held, Unavailable::Held)),
            (CallSwitch::KnownKind, unless(!self.is_known_kind, Unavailable::UnknownKind)),
            (CallSwitch::Published, unless(!runs, Unavailable::NotPublished(self.status))),
        ]
    }

    /// Whether the switches of a tool let it be called at all.
    pub fn available(&self, mode: Mode) -> Result<(), Unavailable> {
        self.checks(mode).into_iter().try_for_each(|(_, passed)| passed)
    }
}

/// Whether a caller holds the permission that a tool requires.
#[must_use]
pub fn holds_required(caller: &Caller, required: Option<&str>) -> bool {
    required.is_none_or(|permission| caller.permissions.has(permission))
}

impl Facts {
    /// What is known about a caller and a tool before there is an input.
    #[must_use]
    pub fn of(def: &ToolDef, caller: &Caller, approve_all_writes: bool) -> Self {
        let required = def.required_permission.as_ref().map(Permission::as_str);
        Self {
            by_agent: caller.principal.is_agent(),
            may_run: caller.permissions.has("tools.tenant.run"),
            holds_required: holds_required(caller, required),
            level: def.level,
            policy: def.policy,
            approve_all_writes,
        }
    }
}
