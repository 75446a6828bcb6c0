//! The tools that a tool calls: they have to be there, their author has to be allowed to call them, and no call
//! may lead back to where it began.

use std::collections::HashSet;

use tw_base::{Error, Result};
use tw_exec::{Callee, Kinds};
use tw_model::{Caller, Definition, Implementation, Slug, ToolId};
use tw_policy::Verdict;
use tw_schema::{Fault, Violation};
use tw_store::StoredTool;

use super::draft::written;
use crate::{
    Registry,
    catalogue::{Face, Side, View},
    tools::seen,
};

/// Whether a tool calls others, in what runs or in what was saved last.
pub(super) fn calls_others(kinds: &dyn Kinds, tool: &StoredTool) -> bool {
    let texts = [Some(&tool.definition), tool.live.as_ref()];
    // One that cannot be read cannot be run either, so it calls nothing.
    texts.into_iter().flatten().any(|text| Face::read(text, kinds).is_ok_and(|face| !face.calls.is_empty()))
}

/// Whether what has become of a tool might concern another that calls some: it may be gone, or call back.
pub(super) fn may_concern_callers(kinds: &dyn Kinds, tool: &StoredTool) -> bool {
    tool.is_deleted || calls_others(kinds, tool)
}

impl Registry {
    /// What is wrong with the tools that a tool calls, and whether it calls any.
    pub(super) fn check_calls(
        &self,
        caller: &Caller,
        view: &View,
        (id, slug): (ToolId, &Slug),
        definition: &Definition,
    ) -> Result<(Vec<Fault>, bool)> {
        let (mut faults, mut calls_any) = (Vec::new(), false);
        let Some(kind) = Implementation::parse(&definition.implementation_type) else {
            return Ok((faults, calls_any));
        };
        for Callee { path, name, is_certain } in
            self.catalogue.kinds().called(written(kind, definition, true))
        {
            let name = &*name;
            calls_any = true;
            let mut say = |violation: Violation| {
                if is_certain {
                    faults.push(violation.at(&path));
                }
            };
            let entry = view.tools.get(name).filter(|entry| seen(entry, caller, view).is_some());
            // A new tool is not there yet.
            if name.eq_ignore_ascii_case(slug.as_str()) || entry.is_some_and(|entry| entry.id() == id) {
                say(Violation::calls_itself(name));
                continue;
            }
            let Some(entry) = entry else {
                say(Violation::unknown_tool(name));
                continue;
            };
            if leads_back(view, name, id) {
                say(Violation::calls_back(name));
            }
            // What somebody may not call, they must not have called for them either.
            if let Some(tool) = self.catalogue.ready(entry, Side::Live)?
                && tw_policy::decide(&tool.facts(caller, view)).verdict() == Verdict::Deny
            {
                return Err(Error::NotPermitted { why: format!("you may not call `{name}` yourself") });
            }
        }
        Ok((faults, calls_any))
    }
}

/// Whether a call of `from` can lead to a call of the tool `to`, by what is live or by what was saved last.
fn leads_back(view: &View, from: &str, to: ToolId) -> bool {
    let mut ahead = vec![from];
    let mut known = HashSet::new();
    while let Some(name) = ahead.pop() {
        let Some(entry) = view.tools.get(name) else { continue };
        if entry.id() == to {
            return true;
        }
        if known.insert(entry.id()) {
            ahead.extend(entry.calls());
        }
    }
    false
}
