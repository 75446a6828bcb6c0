//! Step 7: a call goes on when nobody has to be asked, or when somebody was asked and said yes.

use std::sync::Arc;

use serde_json::{Value, value::RawValue};
use tw_model::Level;
use tw_policy::{Rule, Verdict};

use super::validate::Valid;
use crate::catalogue::{Body, Tool};

/// A call that may run now.
#[derive(Debug)]
pub(crate) struct Cleared {
    tool: Arc<Tool>,
    value: Value,
    text: Box<RawValue>,
}

impl Cleared {
    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    pub(crate) fn into_parts(self) -> (Arc<Tool>, Value, Box<RawValue>) {
        (self.tool, self.value, self.text)
    }
}

/// A call that a person has to approve first.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) tool: Arc<Tool>,
    pub(crate) rule: Rule,
    pub(crate) value: Value,
    pub(crate) text: Box<RawValue>,
}

impl Asked {
    /// How dangerous this very call is. Making and changing a tool can be undone, deleting one cannot.
    pub(crate) fn level(&self) -> Option<Level> {
        let deletes = matches!(self.tool.body, Body::ManageTools) && self.value["action"] == "delete";
        if deletes { Some(Level::Destructive) } else { self.tool.def.level }
    }
}

#[derive(Debug)]
pub(crate) enum Gate {
    Clear(Cleared),
    Ask(Asked),
}

pub(crate) fn gate(valid: Valid) -> Gate {
    let (tool, rule, value, text) = valid.into_parts();
    match rule.verdict() {
        Verdict::Allow => Gate::Clear(Cleared { tool, value, text }),
        // A denial ended the call two stations ago; if one ever came here, it must not pass.
        Verdict::Ask | Verdict::Deny => Gate::Ask(Asked { tool, rule, value, text }),
    }
}

/// Clears a call that was approved. The proof is a seal that was checked against this very call.
pub(crate) fn redeem(valid: Valid, proof: crate::seal::Unsealed) -> Cleared {
    let crate::seal::Unsealed { .. } = proof;
    let (tool, _, value, text) = valid.into_parts();
    Cleared { tool, value, text }
}
