//! May this caller call this tool.

use std::sync::Arc;

use serde_json::Value;
use tw_model::Caller;
use tw_policy::{Facts, Rule, Verdict};

use super::resolve::Resolved;
use crate::{
    catalogue::{Tool, View},
    error::{Error, Result},
    rights::{Permit, UpdateTools},
};

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
        self.0.definitions().map(|tool| level_of(tool, input)).max().flatten()
    }
}

pub(super) fn authorize(resolved: Resolved, caller: &Caller, view: &View) -> Result<Authorized> {
    if resolved.is_draft() && Permit::<UpdateTools>::check(caller.clone()).is_err() {
        let why = "a draft is run by those who may change tools; what is published is run without `mode`";
        return Err(Error::NotPermitted { why: why.to_owned() });
    }
    for tool in resolved.definitions() {
        let rule = tw_policy::decide(&facts(tool, caller, view));
        if rule.verdict() == Verdict::Deny {
            return Err(Error::NotPermitted {
                why: format!("Tool not permitted: {}: {rule}", tool.def.slug),
            });
        }
    }
    Ok(Authorized(resolved))
}

/// What is known about caller, tool and tenant before there is an input.
pub(crate) fn facts(tool: &Tool, caller: &Caller, view: &View) -> Facts {
    let required = tool.def.required_permission.as_ref();
    Facts {
        by_agent: caller.principal.is_agent(),
        may_run: caller.permissions.has("tools.tenant.run"),
        holds_required: required.is_none_or(|permission| caller.permissions.has(permission.as_str())),
        level: tool.def.level,
        policy: tool.def.policy,
        approve_all_writes: view.setting("approve_all_writes"),
    }
}

fn facts_of_call(tool: &Tool, caller: &Caller, view: &View, input: &Value) -> Facts {
    Facts { level: level_of(tool, input), ..facts(tool, caller, view) }
}

fn level_of(tool: &Tool, input: &Value) -> Option<tw_model::Level> {
    tool.executor.level_of(input).max(tool.def.level)
}
