//! A call goes on when nobody has to be asked, or when somebody was asked and said yes.

use std::sync::Arc;

use serde_json::{Value, value::RawValue};
use tw_model::{Level, PermissionSet, RunId};
use tw_policy::Verdict;
use tw_registry::Tool;
use tw_vault::CallSecrets;

use super::validate::{Valid, ValidParts};
use crate::run_log::{Standing, Unsealed};

/// A call that may run now. Only this station makes one, and a run is made of nothing else.
#[derive(Debug)]
pub(crate) struct Cleared {
    tool: Arc<Tool>,
    value: Value,
    text: Box<RawValue>,
    permissions: PermissionSet,
    secrets: Option<Arc<CallSecrets>>,
    standing: Option<Standing>,
    is_harmless: bool,
}

impl Cleared {
    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    pub(crate) fn text(&self) -> &RawValue {
        &self.text
    }

    /// Whether it changes nothing outside and asks nobody, now and before it could run.
    pub(super) fn is_harmless(&self) -> bool {
        self.is_harmless && self.standing.is_none()
    }

    /// The standing approval by which it may run, where somebody would have to be asked.
    pub(super) fn standing(&self) -> Option<&Standing> {
        self.standing.as_ref()
    }

    /// The input for a run that may have to wait, where what is written down does not do.
    pub(super) fn sealed_for(&self, run: RunId) -> Option<String> {
        self.secrets.as_ref().map(|secrets| secrets.seal(run, &self.value))
    }

    pub(super) fn into_parts(self) -> (Arc<Tool>, Value, PermissionSet, Option<Arc<CallSecrets>>) {
        (self.tool, self.value, self.permissions, self.secrets)
    }
}

/// By what a call may go on without asking.
#[derive(Debug)]
pub(super) enum Clearance {
    /// By the rule that decides it, if that allows it.
    Rule,
    /// By an approval of this very call.
    Approved(Unsealed),
    /// By an approval that holds for calls such as this.
    Standing(Standing),
    /// It went on before.
    Begun,
    /// By nothing: somebody is about to decide on it.
    Undecided,
}

#[derive(Debug)]
pub(crate) enum Gate {
    Clear(Cleared),
    /// A person has to approve the call first.
    Ask(Valid),
}

pub(super) fn gate(valid: Valid, clearance: Clearance) -> Gate {
    let is_denied = valid.rule.verdict() == Verdict::Deny;
    let (clear, standing) = match clearance {
        Clearance::Rule => (valid.rule.verdict() == Verdict::Allow, None),
        Clearance::Approved(Unsealed { .. }) | Clearance::Begun => (!is_denied, None),
        // Whatever was approved before: each destructive call is asked about.
        Clearance::Standing(standing) => {
            (!is_denied && valid.level != Some(Level::Destructive), Some(standing))
        }
        Clearance::Undecided => (false, None),
    };
    if clear {
        let ValidParts { tool, value, text, permissions, secrets, is_harmless, .. } = valid.into_parts();
        Gate::Clear(Cleared { tool, value, text, permissions, secrets, standing, is_harmless })
    } else {
        Gate::Ask(valid)
    }
}
