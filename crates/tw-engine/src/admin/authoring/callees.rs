//! The tools that a tool calls: they have to be there, their author has to be allowed to call them, and no call
//! may lead back to where it began.

use std::collections::HashSet;

use tw_model::{Caller, Definition, Implementation, ToolId};
use tw_policy::Verdict;
use tw_schema::Fault;

use super::{draft::written, read::faultless};
use crate::{
    Engine,
    admin::tools::seen,
    catalogue::{Body, Side, View},
    corridor::authorize,
    error::{Error, Result},
};

impl Engine {
    pub(super) fn can_call(
        &self,
        caller: &Caller,
        view: &View,
        id: ToolId,
        definition: &Definition,
    ) -> Result<()> {
        let Some(kind) = Implementation::parse(&definition.implementation_type) else { return Ok(()) };
        let read = self.inner.catalogue.kinds().read(written(kind, definition, false));
        let Ok(executor) = read else { return Ok(()) };
        let mut faults = Vec::new();
        for (index, name) in executor.calls().into_iter().enumerate() {
            let place = format!("/execution_spec/steps/{index}/tool");
            let mut say = |message: String| faults.push(Fault { path: place.clone(), message });
            let entry = view.tools.get(name).filter(|entry| seen(entry, caller, view).is_some());
            let Some(entry) = entry else {
                say(format!("there is no tool `{name}`"));
                continue;
            };
            if self.leads_back(view, name, id)? {
                say(format!("`{name}` leads back to this tool"));
            }
            // What somebody may not call, they must not have called for them either.
            if let Some(tool) = self.inner.catalogue.ready(entry, Side::Live)?
                && tw_policy::decide(&authorize::facts(&tool, caller, view)).verdict() == Verdict::Deny
            {
                return Err(Error::NotPermitted { why: format!("you may not call `{name}` yourself") });
            }
        }
        faultless(faults)
    }

    /// Whether a call of `from` can lead to a call of the tool `to`, by what is live or by what was saved last.
    fn leads_back(&self, view: &View, from: &str, to: ToolId) -> Result<bool> {
        let mut ahead = vec![from.to_owned()];
        let mut known = HashSet::new();
        while let Some(name) = ahead.pop() {
            let Some(entry) = view.tools.get(&name) else { continue };
            if entry.id() == to {
                return Ok(true);
            }
            if !known.insert(entry.id()) {
                continue;
            }
            for side in [Side::Live, Side::Draft] {
                if let Some(tool) = self.inner.catalogue.ready(entry, side)?
                    && let Body::Kind(executor) = &tool.body
                {
                    ahead.extend(executor.calls().into_iter().map(str::to_owned));
                }
            }
        }
        Ok(false)
    }
}
