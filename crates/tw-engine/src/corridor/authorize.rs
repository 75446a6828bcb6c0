//! Step 5: may this caller call this tool, and does somebody have to be asked.

use std::sync::Arc;

use tw_model::Caller;
use tw_policy::{Facts, Rule, Verdict};

use super::resolve::Resolved;
use crate::{
    catalogue::{Tool, View},
    error::{Error, Result},
    rights::{Permit, UpdateTools},
};

/// A tool that the caller may call, with the rule that says so.
#[derive(Debug)]
pub(crate) struct Authorized {
    tool: Arc<Tool>,
    rule: Rule,
}

impl Authorized {
    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }

    pub(crate) fn into_parts(self) -> (Arc<Tool>, Rule) {
        (self.tool, self.rule)
    }
}

pub(crate) fn authorize(resolved: Resolved, caller: &Caller, view: &View) -> Result<Authorized> {
    if resolved.is_draft() && Permit::<UpdateTools>::check(caller.clone()).is_err() {
        let why = "a draft is run by those who may change tools; what is published is run without `mode`";
        return Err(Error::NotPermitted { why: why.to_owned() });
    }
    let tool = resolved.into_tool();
    let rule = tw_policy::decide(&facts(&tool, caller, view));
    match rule.verdict() {
        Verdict::Deny => {
            Err(Error::NotPermitted { why: format!("Tool not permitted: {}: {rule}", tool.def.slug) })
        }
        Verdict::Allow | Verdict::Ask => Ok(Authorized { tool, rule }),
    }
}

/// What is known about the caller, the tool and the tenant.
pub(crate) fn facts<'a>(tool: &'a Tool, caller: &Caller, view: &View) -> Facts<'a> {
    let required = tool.def.required_permission.as_ref();
    Facts {
        tool: &tool.def,
        by_agent: caller.principal.is_agent(),
        may_run: caller.permissions.has("tools.tenant.run"),
        holds_required: required.is_none_or(|permission| caller.permissions.has(permission.as_str())),
        approve_all_writes: view.setting("approve_all_writes"),
    }
}
