//! What is expected of a call, and how what came of it differs from that. Pure.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use tw_model::RunStatus;
use tw_schema::canonical;

/// How many differences of one case are told. The first ones say what is wrong.
pub(super) const DIFFS_MAX: usize = 20;
/// How much of one value a difference shows.
const SHOWN_BYTES_MAX: usize = 2048;
const SHOWN_CHARS: usize = 500;

/// What has to hold. All that is given must; where nothing is, the call must succeed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The output, equal in canonical form. `null` is a value too.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// A part of the output.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub contains: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<EndStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// A filter that makes `true` of the output, and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jq: Option<String>,
}

/// A member that is there, be it `null`.
fn given<'de, D: Deserializer<'de>>(sent: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(sent).map(Some)
}

/// How a call can end. One that still waits has not done what anybody could expect of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    Success,
    Error,
    TimedOut,
    Cancelled,
}

impl EndStatus {
    pub const ALL: [Self; 4] = [Self::Success, Self::Error, Self::TimedOut, Self::Cancelled];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }

    fn is(self, status: RunStatus) -> bool {
        self.as_str() == status.as_str()
    }
}

/// What came of a call, as its record shows it. A call that was refused has ended with an error.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub status: RunStatus,
    pub output: Value,
    pub error: Option<String>,
    pub error_code: Option<String>,
}

/// One difference between what was expected and what came.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// A JSON pointer: `/status`, `/error_code`, `/jq`, or into `/output`.
    pub path: String,
    pub expected: Value,
    pub actual: Value,
}

impl Diff {
    pub(crate) fn new(path: impl Into<String>, expected: &Value, actual: &Value) -> Self {
        Self { path: path.into(), expected: shown(expected), actual: shown(actual) }
    }
}

/// A value, or its beginning where it is long.
fn shown(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= SHOWN_BYTES_MAX {
        return value.clone();
    }
    let start: String = text.chars().take(SHOWN_CHARS).collect();
    Value::String(format!("{start}… ({} bytes)", text.len()))
}

impl Expectation {
    /// The differences, without that of the filter. None where the case passes.
    #[must_use]
    pub fn diffs(&self, outcome: &Outcome) -> Vec<Diff> {
        let mut diffs = Vec::new();
        self.diff_status(outcome, &mut diffs);
        if let Some(code) = &self.error_code
            && outcome.error_code.as_ref() != Some(code)
        {
            diffs.push(Diff::new("/error_code", &json!(code), &json!(outcome.error_code)));
        }
        if let Some(output) = &self.output {
            compare(output, &outcome.output, "/output", &mut diffs);
        }
        if let Some(part) = &self.contains {
            contain(part, &outcome.output, "/output", &mut diffs);
        }
        // What went wrong helps wherever something did.
        if !diffs.is_empty()
            && let (Some(error), false) = (&outcome.error, self.expects_failure())
        {
            let code = json!(outcome.error_code);
            diffs.truncate(DIFFS_MAX - 2);
            diffs.push(Diff::new("/error_code", &Value::Null, &code));
            diffs.push(Diff::new("/error", &Value::Null, &json!(error)));
        }
        diffs.truncate(DIFFS_MAX);
        diffs
    }

    fn diff_status(&self, outcome: &Outcome, diffs: &mut Vec<Diff>) {
        let is_empty = *self == Self::default();
        let wanted = self.status.or(is_empty.then_some(EndStatus::Success));
        // Nobody can expect anything of a call that has not ended.
        let fits = match wanted {
            Some(wanted) => wanted.is(outcome.status),
            None => !outcome.status.is_open(),
        };
        if !fits {
            let wanted = wanted.unwrap_or(EndStatus::Success).as_str();
            diffs.push(Diff::new("/status", &json!(wanted), &json!(outcome.status.as_str())));
        }
    }

    fn expects_failure(&self) -> bool {
        self.error_code.is_some() || self.status.is_some_and(|status| status != EndStatus::Success)
    }
}

/// Where two values differ in canonical form, each place once.
fn compare(expected: &Value, actual: &Value, path: &str, diffs: &mut Vec<Diff>) {
    if DIFFS_MAX <= diffs.len() {
        return;
    }
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, expected) in wanted {
                compare(expected, found.get(key).unwrap_or(&Value::Null), &below(path, key), diffs);
                if !found.contains_key(key) && expected.is_null() {
                    diffs.push(Diff::new(below(path, key), &Value::Null, &json!("(absent)")));
                }
            }
            for (key, actual) in found.iter().filter(|(key, _)| !wanted.contains_key(*key)) {
                diffs.push(Diff::new(below(path, key), &json!("(absent)"), actual));
            }
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            for (index, (expected, actual)) in wanted.iter().zip(found).enumerate() {
                compare(expected, actual, &format!("{path}/{index}"), diffs);
            }
        }
        _ if canonical(expected) == canonical(actual) => {}
        _ => diffs.push(Diff::new(path, expected, actual)),
    }
}

/// What of a value is not in another: members are looked for by their names, items of an array anywhere in the array.
fn contain(part: &Value, whole: &Value, path: &str, diffs: &mut Vec<Diff>) {
    if DIFFS_MAX <= diffs.len() {
        return;
    }
    match (part, whole) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, expected) in wanted {
                match found.get(key) {
                    Some(actual) => contain(expected, actual, &below(path, key), diffs),
                    None => diffs.push(Diff::new(below(path, key), expected, &json!("(absent)"))),
                }
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            for (index, expected) in wanted.iter().enumerate() {
                if !found.iter().any(|actual| is_in(expected, actual)) {
                    diffs.push(Diff::new(format!("{path}/{index}"), expected, &json!("(absent)")));
                }
            }
        }
        _ if canonical(part) == canonical(whole) => {}
        _ => diffs.push(Diff::new(path, part, whole)),
    }
}

fn is_in(part: &Value, whole: &Value) -> bool {
    let mut diffs = Vec::new();
    contain(part, whole, "", &mut diffs);
    diffs.is_empty()
}

fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(output: Value) -> Outcome {
        Outcome { status: RunStatus::Success, output, error: None, error_code: None }
    }

    fn failed(code: &str) -> Outcome {
        let (error, error_code) = (Some("it broke".to_owned()), Some(code.to_owned()));
        Outcome { status: RunStatus::Error, output: Value::Null, error, error_code }
    }

    #[track_caller]
    fn check(expect: Value, outcome: &Outcome, places: &[&str]) {
        let expect: Expectation = serde_json::from_value(expect).unwrap();
        let diffs = expect.diffs(outcome);
        let found: Vec<_> = diffs.iter().map(|diff| diff.path.as_str()).collect();
        assert_eq!(found, places, "{diffs:?}");
    }

    #[test]
    fn nothing_expected_is_success_expected() {
        check(json!({}), &outcome(json!(1)), &[]);
        check(json!({}), &failed("TOOL_FAILED"), &["/status", "/error_code", "/error"]);
        check(json!({ "status": "error" }), &failed("TOOL_FAILED"), &[]);
        check(json!({ "error_code": "TOOL_FAILED" }), &failed("TOOL_FAILED"), &[]);
        check(
            json!({ "error_code": "TIMEOUT", "status": "error" }),
            &failed("TOOL_FAILED"),
            &["/error_code"],
        );
        check(json!({ "output": null }), &failed("TOOL_FAILED"), &[]);
    }

    #[test]
    fn output_is_equal_in_canonical_form() {
        let found = outcome(json!({ "a": 1.0, "b": [1, { "c": "x" }], "d/e": null }));
        check(json!({ "output": { "b": [1, { "c": "x" }], "d/e": null, "a": 1 } }), &found, &[]);
        check(
            json!({ "output": { "a": 2, "b": [1, { "c": "y" }], "f": null } }),
            &found,
            &["/output/a", "/output/b/1/c", "/output/f", "/output/d~1e"],
        );
        check(json!({ "output": { "a": 1, "b": [1], "d/e": null } }), &found, &["/output/b"]);
    }

    #[test]
    fn part_is_in_the_whole_whatever_is_beside_it() {
        let found = outcome(json!({ "items": [{ "id": 1, "n": "a" }, { "id": 2 }], "more": true }));
        check(json!({ "contains": { "items": [{ "id": 2 }] } }), &found, &[]);
        check(
            json!({ "contains": { "items": [{ "id": 3 }], "none": 1 } }),
            &found,
            &["/output/items/0", "/output/none"],
        );
        check(json!({ "contains": {} }), &outcome(Value::Null), &["/output"]);
    }

    #[test]
    fn call_that_has_not_ended_passes_nothing() {
        for status in [RunStatus::NeedsApproval, RunStatus::Pending, RunStatus::Running] {
            let open = Outcome { status, ..outcome(Value::Null) };
            check(json!({}), &open, &["/status"]);
            check(json!({ "output": null }), &open, &["/status"]);
            check(json!({ "status": "cancelled" }), &open, &["/status"]);
        }
    }

    #[test]
    fn differences_are_few_and_short() {
        let many: Vec<_> = (0..1000).collect();
        let other: Vec<_> = (1..1001).collect();
        let expect = Expectation { output: Some(json!(many)), ..Expectation::default() };
        assert_eq!(expect.diffs(&outcome(json!(other))).len(), DIFFS_MAX);
        let long = Expectation { output: Some(json!("x".repeat(100_000))), ..Expectation::default() };
        let told = serde_json::to_string(&long.diffs(&outcome(json!("y".repeat(100_000))))).unwrap();
        assert!(told.len() < 2000 && told.contains("100002 bytes"), "{told}");
    }

    #[test]
    fn unknown_words_are_not_read() {
        for sent in [json!({ "outputs": 1 }), json!({ "status": "needs_approval" }), json!({ "jq": 1 })] {
            assert!(serde_json::from_value::<Expectation>(sent.clone()).is_err(), "{sent}");
        }
        for status in EndStatus::ALL {
            assert_eq!(json!(status), status.as_str());
        }
    }
}
