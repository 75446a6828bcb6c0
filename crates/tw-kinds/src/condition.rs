//! Conditions: `when` of a step.

use std::collections::BTreeSet;

use minijinja::Value;
use tw_model::ToolFailure;
use tw_schema::{Fault, Violation};

use crate::template::{
    Context,
    language::{CheckedExpression, Cost, Manner},
    text::failure,
};

/// An expression that holds or does not, such as `input.a > 0`.
///
/// What is absent is false, and can be looked into. A condition over a step that was skipped or failed,
/// whose output is null, never holds, whatever it says: `steps.a.output.n < 3` is not true of a
/// number that does not exist.
#[derive(Debug)]
pub struct Condition {
    at: String,
    code: CheckedExpression,
    /// The ids of the steps that it looks at.
    steps: BTreeSet<String>,
}

const STEPS: &str = "steps";

impl Condition {
    /// Compiles a condition over some names; `path` is where it stands.
    pub fn read(text: &str, path: &str, names: &[&str]) -> Result<Self, Vec<Fault>> {
        let refused = |violation: Violation| vec![violation.at(path)];
        let code = CheckedExpression::read(text, Manner::Condition, names).map_err(refused)?;
        let mut steps = BTreeSet::new();
        for read in code.reads() {
            let mut names = read.split('.');
            if names.next() != Some(STEPS) {
                continue;
            }
            let id = names.next().ok_or_else(|| refused(Violation::step_reference()))?;
            steps.insert(id.to_owned());
        }
        Ok(Self { at: path.to_owned(), code, steps })
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self) -> &BTreeSet<String> {
        self.code.reads()
    }

    pub(crate) fn cost(&self) -> Cost {
        self.code.cost()
    }

    pub fn holds(&self, context: &Context) -> Result<bool, ToolFailure> {
        let known = context.found().get_attr(STEPS).unwrap_or(Value::UNDEFINED);
        let output = |id: &String| known.get_attr(id).and_then(|step| step.get_attr("output"));
        if self
            .steps
            .iter()
            .any(|id| output(id).map_or(true, |output| output.is_undefined() || output.is_none()))
        {
            return Ok(false);
        }
        let value = self.code.value(context).map_err(|error| failure(&self.at, &self.code, &error))?;
        Ok(value.is_true())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::template::Known;

    #[track_caller]
    fn holds(text: &str) -> bool {
        let values: Value = json!({
            "input": { "a": 3, "text": "x", "none": null },
            "steps": { "ran": { "output": { "n": 1, "ok": true } }, "skipped": { "output": null } },
        });
        let condition = Condition::read(text, "/when", &["input", "steps"]).unwrap();
        let known = |name: &str| Known::of(&values[name]);
        let context = Context::new([("input", known("input")), ("steps", known("steps"))]);
        condition.holds(&context).unwrap()
    }

    #[test]
    fn condition_holds_by_the_truth_of_its_value() {
        for yes in [
            "input.a > 0",
            "input.a",
            "input.text == 'x'",
            "steps.ran.output.ok",
            "not input.b",
            "input.b is undefined",
        ] {
            assert!(holds(yes), "{yes}");
        }
        for no in ["input.a > 3", "input.none", "''", "input.b", "input.b.c.d", "not steps.ran.output.ok"] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn condition_over_a_skipped_step_never_holds() {
        for no in [
            "steps.skipped.output",
            "steps.skipped.output.n < 3",
            "steps.skipped.output.deep.n != 3",
            "not steps.skipped.output.ok",
            "steps.skipped.output is none",
            "steps.unknown.output.n < 3",
            "steps.ran.output.ok and not steps.skipped.output.ok",
        ] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn condition_that_cannot_be_read_is_refused() {
        for wrong in ["input.a >", "other.a", "input.a | nothing", "steps['a'].output", "{{ input.a }} x"] {
            assert!(Condition::read(wrong, "/when", &["input", "steps"]).is_err(), "{wrong}");
        }
    }
}
