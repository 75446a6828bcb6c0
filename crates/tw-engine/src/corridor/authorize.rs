//! May everybody who has a say in this call make it.

use std::sync::Arc;

use serde_json::Value;
use tw_base::{Error, Result};
use tw_exec::Services;
use tw_identity::rights::{Permit, UpdateTools};
use tw_model::{Caller, PermissionSet};
use tw_policy::{Facts, Rule, Verdict};
use tw_registry::{Tool, View};

use super::{parties::Parties, resolve::Resolved};

/// A tool that all parties of a call may call, perhaps after somebody has approved.
#[derive(Debug)]
pub(crate) struct Authorized<'a> {
    resolved: Resolved,
    parties: &'a Parties<'a>,
}

impl Authorized<'_> {
    pub(super) fn tool(&self) -> &Arc<Tool> {
        self.resolved.tool()
    }

    pub(super) fn caller(&self) -> &Caller {
        self.parties.caller
    }

    /// What the tool may do in the name of its caller.
    pub(super) fn permissions(&self) -> PermissionSet {
        self.parties.permissions()
    }

    /// Asks the tool whether each party may make a call with this input.
    pub(super) async fn check(&self, services: &Services, input: &Value) -> Result<()> {
        for party in self.parties.all() {
            self.tool().executor.check(party, services, input).await.map_err(|mut refusal| {
                refusal.message = self.parties.why(party, refusal.message);
                Error::Refused(refusal)
            })?;
        }
        Ok(())
    }

    /// The rule that decides a call with this input: the strictest of all definitions that it is held against, for all
    /// parties.
    pub(super) fn rule(&self, view: &View, input: &Value) -> Rule {
        let mut facts = Vec::with_capacity(2);
        for party in self.parties.all() {
            facts.extend(self.resolved.definitions().map(|tool| facts_of_call(tool, party, view, input)));
        }
        tw_policy::strictest(&facts).expect("there is a definition that would run")
    }

    /// Whether a call with this input changes nothing outside and asks nobody, by all definitions.
    pub(super) fn is_harmless(&self, input: &Value) -> bool {
        self.resolved.definitions().all(|tool| tool.is_harmless(input))
    }

    /// How dangerous a call with this input is.
    pub(super) fn level(&self, input: &Value) -> Option<tw_model::Level> {
        self.resolved.definitions().map(|tool| tool.level_of(input)).max().flatten()
    }
}

pub(super) fn authorize<'a>(
    resolved: Resolved,
    parties: &'a Parties<'a>,
    view: &View,
) -> Result<Authorized<'a>> {
    for party in parties.all() {
        if resolved.is_draft() && Permit::<UpdateTools>::check(party.clone()).is_err() {
            let why = "only callers that may change tools can run a draft; leave out `mode` to run the published version";
            return Err(Error::NotPermitted { why: parties.why(party, why.to_owned()) });
        }
        for tool in resolved.definitions() {
            let rule = tw_policy::decide(&tool.facts(party, view));
            if rule.verdict() == Verdict::Deny {
                let why = format!("Tool not permitted: {}: {rule}", tool.def.slug);
                return Err(Error::NotPermitted { why: parties.why(party, why) });
            }
        }
    }
    Ok(Authorized { resolved, parties })
}

fn facts_of_call(tool: &Tool, caller: &Caller, view: &View, input: &Value) -> Facts {
    Facts { level: tool.level_of(input), ..tool.facts(caller, view) }
}
