//! The checks before a draft goes live: it can work, it breaks no caller unannounced, and its test cases pass.
//!
//! The first one is part of every check of a definition. The other two take long, most of all the test cases. So they
//! are made before the tenant's turn to change a tool is taken, and again where the tool has changed meanwhile.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Value, json};
use tw_base::{Error, Result};
use tw_identity::rights::{Permit, RunTools};
use tw_model::{Caller, Definition, Level, ToolId, ToolStatus};
use tw_store::{StoredTool, TestCase};

use super::{
    EditContext,
    draft::Sent,
    edit::{Edit, busy},
    history::compare_definitions,
    read::{as_text, in_lane, parse},
};
use crate::{
    Registry,
    cases::{Against, CaseReport, CaseResult, Diff},
    catalogue::{Own, Side, Tool, ToolEntry, View, content_hash},
};

/// How often a publication is checked again because the tool changed meanwhile. Every time may run all test cases.
const TRIES: usize = 4;

const ACCEPT_BREAKING: &str = "accept_breaking";
const IGNORE_TESTS: &str = "ignore_tests";

/// The checks that whoever publishes does without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waived {
    /// Callers of what is live may break.
    pub accept_breaking: bool,
    /// The test cases are not run.
    pub ignore_tests: bool,
}

impl Waived {
    /// As it stands beside `publish` in a body that [`Waived::read`] has nothing against.
    pub(super) fn in_body(body: &Value) -> Self {
        let is = |name: &str| body.get(name) == Some(&Value::Bool(true));
        Self { accept_breaking: is(ACCEPT_BREAKING), ignore_tests: is(IGNORE_TESTS) }
    }

    /// Takes the members out of a body, and tells where one is no flag.
    pub(super) fn read(sent: &mut Sent) {
        for name in [ACCEPT_BREAKING, IGNORE_TESTS] {
            let _ = sent.take::<bool>(name);
        }
    }
}

impl Registry {
    /// Changes a tool as `plan` says, which publishes it, once every check has passed for exactly this change.
    pub(super) async fn publish_own(
        &self,
        caller: &Caller,
        id: ToolId,
        asked: EditContext<'_>,
        waived: Waived,
        plan: impl Fn(&StoredTool, &View) -> Result<Edit> + Send + Sync,
    ) -> Result<StoredTool> {
        for _ in 0..TRIES {
            let epoch = self.identity.epochs().ask(caller.tenant).await?;
            let (seen, view) = self.stored(caller, id, epoch, asked).await?;
            let mut edit = plan(&seen, &view)?;
            let definition = self.check_edit(caller, &view, &mut edit).await?;
            let definition =
                definition.ok_or_else(|| Error::internal("publishing a tool", "nothing to publish"))?;
            let note = self.may_go_live(caller, &view, &edit.after, definition, waived).await?;
            let as_seen = |now: &StoredTool, view: &View| {
                if now.updated != seen.updated {
                    return Err(busy());
                }
                Ok(Edit { note: note.clone(), ..plan(now, view)? })
            };
            match self.edit_own(caller, id, asked, as_seen).await {
                Err(Error::Busy { .. }) => {}
                done => return done,
            }
        }
        Err(busy())
    }

    /// Holds a draft against what is live and against its test cases. Returns what was waived, for the audit log.
    async fn may_go_live(
        &self,
        caller: &Caller,
        view: &View,
        after: &StoredTool,
        definition: Definition,
        waived: Waived,
    ) -> Result<Option<String>> {
        let text = as_text(&definition);
        let mut notes = self.breaks(caller, after, definition, waived).await?;
        let cases = self.cases_of(caller, after.id).await?;
        if !cases.is_empty() && waived.ignore_tests {
            notes.push(format!("{IGNORE_TESTS}: {} test cases were not run", cases.len()));
        } else if !cases.is_empty() {
            let mut draft = StoredTool { definition: text, ..after.clone() };
            draft.switches.status = ToolStatus::Published;
            self.pass_cases(caller, view, draft, cases).await?;
        }
        Ok((!notes.is_empty()).then(|| notes.join("; ")))
    }

    /// Refuses a draft that breaks callers of what is live under the same major number. Returns the note that it was
    /// accepted.
    pub(super) async fn breaks(
        &self,
        caller: &Caller,
        after: &StoredTool,
        definition: Definition,
        waived: Waived,
    ) -> Result<Vec<String>> {
        let (Some(live), Some(number)) = (&after.live, &after.live_version) else { return Ok(Vec::new()) };
        if major(number) < major(&after.version) {
            return Ok(Vec::new());
        }
        let before: Definition = parse(live)?;
        let compare = move || compare_definitions(&before, &definition);
        let comparison = in_lane(caller.tenant, "comparing versions", compare).await?;
        if !comparison.breaking {
            return Ok(Vec::new());
        }
        if !waived.accept_breaking {
            return Err(Error::BreakingChange { live: number.clone(), comparison: Box::new(comparison) });
        }
        Ok(vec![format!("{ACCEPT_BREAKING}: callers of version {number} may break")])
    }

    /// Runs the cases that change nothing outside, and asks of the others how they went last.
    async fn pass_cases(
        &self,
        caller: &Caller,
        view: &View,
        draft: StoredTool,
        cases: Vec<TestCase>,
    ) -> Result<()> {
        let hash = content_hash(&draft.definition);
        let entry = ToolEntry::Own(Arc::new(Own::read(draft, &**self.catalogue.kinds())?));
        let sides = [
            self.catalogue.ready(&entry, Side::Draft)?,
            // What is live says how dangerous a call is too: a draft that calls itself harmless is not believed yet.
            self.catalogue.ready(&entry, Side::Live)?,
        ];
        let mut items = Vec::new();
        let mut harmless = Vec::new();
        for case in cases {
            let input: Value = serde_json::from_str(&case.input).unwrap_or_default();
            let is_harmless = |tool: &Arc<Tool>| self.is_harmless(view, tool, &input);
            match sides.iter().flatten().all(is_harmless) {
                true => harmless.push(case),
                false => items.extend(last_result(&case, &hash)),
            }
        }
        if !harmless.is_empty() {
            items.extend(self.run_harmless(caller, entry, harmless).await?);
        }
        items.sort_by_key(|item| item.id);
        let report = CaseReport::of(items);
        if report.failed == 0 {
            return Ok(());
        }
        let failed = report.items.iter().filter(|item| !item.passed).map(|item| item.name.clone()).collect();
        let report = serde_json::to_value(&report).expect("a report is plain JSON");
        Err(Error::TestsFailed { failed, report: Box::new(report) })
    }

    async fn run_harmless(
        &self,
        caller: &Caller,
        draft: ToolEntry,
        cases: Vec<TestCase>,
    ) -> Result<Vec<CaseResult>> {
        let permit = Permit::<RunTools>::check(caller.clone())?;
        match self.run_cases(&permit, cases.clone(), &Against::Draft(draft)).await {
            Ok(report) => Ok(report.items),
            // Such as a tool that is switched off, or that the publisher may not call: nothing is known then.
            Err(error) if error.is_refusal() => {
                let why = Diff::new("/error", &Value::Null, &json!(error.to_string()));
                Ok(cases.iter().map(|case| failed(case, None, why.clone())).collect())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a call with this input changes nothing outside, by the word of the tool and of all that it calls.
    fn is_harmless(&self, view: &View, tool: &Tool, input: &Value) -> bool {
        let is_low = |level| matches!(level, Some(Level::Read | Level::Draft));
        if !is_low(tool.level_of(input)) {
            return false;
        }
        let mut ahead = tool.executor.calls();
        let mut known = HashSet::new();
        while let Some(name) = ahead.pop() {
            let Some(entry) = view.tools.get(name).filter(|entry| known.insert(entry.id())) else { continue };
            match self.catalogue.ready(entry, Side::Live) {
                Ok(Some(called)) if !is_low(called.def.level) => return false,
                // One that cannot run does nothing.
                _ => ahead.extend(entry.calls()),
            }
        }
        true
    }
}

/// How a case went last that is not run here, if that was against the same content.
fn last_result(case: &TestCase, hash: &str) -> Option<CaseResult> {
    let result = case.result.as_ref().filter(|result| result.content_hash == hash)?;
    if result.passed {
        let (id, name) = (case.id, case.name.clone());
        return Some(CaseResult { id, name, passed: true, run_id: result.run, diff: Vec::new() });
    }
    let differs = Diff::new("/last_result/passed", &json!(true), &json!(false));
    Some(failed(case, result.run, differs))
}

fn failed(case: &TestCase, run_id: Option<tw_model::RunId>, why: Diff) -> CaseResult {
    CaseResult { id: case.id, name: case.name.clone(), passed: false, run_id, diff: vec![why] }
}

/// A number that cannot be read announces nothing.
fn major(number: &str) -> u64 {
    semver::Version::parse(number).map_or(0, |version| version.major)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_in_full_is_waived() {
        let body = json!({ "publish": true, "accept_breaking": true, "ignore_tests": false });
        assert_eq!(Waived::in_body(&body), Waived { accept_breaking: true, ignore_tests: false });
        assert_eq!(
            Waived::in_body(&json!({ "ignore_tests": "yes", "accept_breaking": 1 })),
            Waived::default()
        );
    }

    #[test]
    fn only_the_major_number_announces_a_break() {
        assert!(major("1.9.9") < major("2.0.0-rc.1"));
        assert_eq!(major("1.0.0"), major("1.1.0"));
    }
}
