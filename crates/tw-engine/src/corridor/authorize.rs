//! May this caller call this tool.

use std::sync::Arc;

use serde_json::Value;
use tw_base::{Error, Result};
use tw_identity::rights::{Permit, UpdateTools};
use tw_model::Caller;
use tw_policy::{Facts, Rule, Verdict};
use tw_registry::{Tool, View};

use super::resolve::Resolved;

/// A tool that the caller may call, perhaps after somebody has approved.
#[derive(Debug)]
pub(crate) struct Authorized(Resolved);

impl Authorized {
    pub(super) fn tool(&self) -> &Arc<Tool> {
        self.0.tool()
    }

    /// The rule that decides a call with this input: the strictest of all definitions that it is held against.
    pub(super) fn rule(&self, caller: &Caller, view: &View, input: &Value) -> Rule {
        let facts: Vec<_> =
            self.0.definitions().map(|tool| facts_of_call(tool, caller, view, input)).collect();
        tw_policy::strictest(&facts).expect("there is a definition that would run")
    }

    /// How dangerous a call with this input is.
    pub(super) fn level(&self, input: &Value) -> Option<tw_model::Level> {
        self.0.definitions().map(|tool| tool.level_of(input)).max().flatten()
    }
}

pub(super) fn authorize(resolved: Resolved, caller: &Caller, view: &View) -> Result<Authorized> {
    if resolved.is_draft() && Permit::<UpdateTools>::check(caller.clone()).is_err() {
        let why = "a draft is run by those who may change tools; what is published is run without `mode`";
        return Err(Error::NotPermitted { why: why.to_owned() });
    }
    for tool in resolved.definitions() {
        let rule = tw_policy::decide(&tool.facts(caller, view));
        if rule.verdict() == Verdict::Deny {
            return Err(Error::NotPermitted {
                why: format!("Tool not permitted: {}: {rule}", tool.def.slug),
            });
        }
    }
    Ok(Authorized(resolved))
}

fn facts_of_call(tool: &Tool, caller: &Caller, view: &View, input: &Value) -> Facts {
    Facts { level: tool.level_of(input), ..tool.facts(caller, view) }
}
