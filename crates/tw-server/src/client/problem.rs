//! A server's refusal, for a person.

use std::fmt;

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use super::tools::case_lines;

/// The part of an RFC 9457 problem that people read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    title: String,
    detail: Option<String>,
    code: Option<String>,
    request_id: Option<String>,
    errors: Vec<ProblemFault>,
    /// Of `BREAKING_CHANGE`: what differs from what is live.
    changes: Vec<Change>,
    /// Of `TESTS_FAILED`: how the test cases went.
    items: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    part: String,
    path: String,
    breaking: bool,
    message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProblemFault {
    path: String,
    code: String,
    message: String,
}

impl ProblemFault {
    /// The name of a field at the top, or the pointer to one further down.
    fn name(&self) -> &str {
        match self.path.strip_prefix('/') {
            Some(name) if !name.contains('/') => name,
            _ => &self.path,
        }
    }
}

impl Problem {
    /// What the body says, or the bare status where it says nothing.
    pub(super) fn of(status: StatusCode, body: &[u8]) -> Self {
        let said: Option<Self> = serde_json::from_slice(body).ok();
        said.filter(|problem| !problem.title.is_empty())
            .unwrap_or_else(|| Self { title: format!("the server answered {status}"), ..Self::default() })
    }

    /// Names the id that was asked for, where the server only says that nothing has it.
    pub(super) fn name_missing(&mut self, id: &str) {
        if self.code() == Some("NOT_FOUND")
            && let Some(detail) = self.detail.as_mut().filter(|detail| !detail.contains(id))
        {
            *detail = format!("{detail}: `{id}`");
        }
    }

    /// The word programs match on.
    pub(super) fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (missing, others): (Vec<&ProblemFault>, Vec<&ProblemFault>) =
            self.errors.iter().partition(|fault| fault.code == "required");
        // The detail of these two names what the lines below name.
        let listed = !self.changes.is_empty() || !self.items.is_empty();
        match missing.as_slice() {
            [] if listed => f.write_str(&self.title)?,
            [] => f.write_str(self.detail.as_deref().unwrap_or(&self.title))?,
            missing => {
                let names: Vec<&str> = missing.iter().map(|fault| fault.name()).collect();
                write!(f, "missing: {}", names.join(", "))?;
            }
        }
        let request = self.request_id.as_ref().map(|id| format!("request {id}"));
        let marks: Vec<String> = self.code.clone().into_iter().chain(request).collect();
        if !marks.is_empty() {
            write!(f, " ({})", marks.join(", "))?;
        }
        // The detail tells a fault that is alone.
        let told = |fault: &ProblemFault| {
            self.errors.len() == 1
                && self.detail.as_ref().is_some_and(|detail| detail.contains(&fault.message))
        };
        for fault in others.into_iter().filter(|fault| !told(fault)) {
            let path = if fault.path.is_empty() { "/" } else { &fault.path };
            write!(f, "\n  {path}: {}", fault.message)?;
        }
        for Change { part, path, message, .. } in self.changes.iter().filter(|change| change.breaking) {
            let place = if path.is_empty() { String::new() } else { format!(" {path}") };
            write!(f, "\n  {part}{place}: {message}")?;
        }
        for case in self.items.iter().filter(|case| case["passed"] == false) {
            write!(f, "\n  {}", case_lines(case).replace('\n', "\n  "))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_is_one_sentence_with_its_code_request_and_faults() {
        let body =
            br#"{ "type": "x", "title": "Invalid input", "status": 422, "detail": "The input has 2 faults",
            "code": "INVALID_PARAMS", "request_id": "r-1",
            "errors": [{ "path": "/a/0", "code": "type", "message": "must be a number" },
                { "path": "/b", "code": "enum", "message": "must be one of x, y" }] }"#;
        let text = Problem::of(StatusCode::UNPROCESSABLE_ENTITY, body).to_string();
        assert_eq!(
            text,
            "The input has 2 faults (INVALID_PARAMS, request r-1)\n  /a/0: must be a number\n  /b: must be one of x, y"
        );
    }

    #[test]
    fn single_fault_is_told_once() {
        let body =
            br#"{ "title": "Invalid input", "detail": "`name` must not be empty", "code": "INVALID_PARAMS",
            "errors": [{ "path": "/name", "code": "not_empty", "message": "must not be empty" }] }"#;
        let text = Problem::of(StatusCode::UNPROCESSABLE_ENTITY, body).to_string();
        assert_eq!(text, "`name` must not be empty (INVALID_PARAMS)");
    }

    #[test]
    fn missing_fields_are_named_together() {
        let body = br#"{ "title": "A required field is missing", "detail": "Missing required param: a",
            "code": "MISSING_PARAM", "errors": [{ "path": "/a", "code": "required", "message": "is required" },
                { "path": "/b", "code": "required", "message": "is required" },
                { "path": "/c", "code": "type", "message": "must be a text" }] }"#;
        let text = Problem::of(StatusCode::UNPROCESSABLE_ENTITY, body).to_string();
        assert_eq!(text, "missing: a, b (MISSING_PARAM)\n  /c: must be a text");
    }

    #[test]
    fn refused_publication_is_told_with_every_line_that_breaks_and_every_case_that_fails() {
        let body =
            br#"{ "title": "It would break callers", "detail": "x: y", "code": "BREAKING_CHANGE", "changes": [
            { "part": "input", "path": "/city", "breaking": true, "message": "is required now" },
            { "part": "output", "path": "/n", "breaking": false, "message": "is new" }] }"#;
        let text = Problem::of(StatusCode::CONFLICT, body).to_string();
        assert_eq!(text, "It would break callers (BREAKING_CHANGE)\n  input /city: is required now");
        let body =
            br#"{ "title": "Test cases fail", "detail": "x: Greets", "code": "TESTS_FAILED", "items": [
            { "name": "Good", "passed": true, "run_id": "r1", "diff": [] },
            { "name": "Greets", "passed": false, "run_id": "r2",
              "diff": [{ "path": "/output/who", "expected": "Ada", "actual": 1 }] }] }"#;
        let text = Problem::of(StatusCode::CONFLICT, body).to_string();
        let case = "failed  Greets  (run r2)\n          /output/who: expected \"Ada\", got 1";
        assert_eq!(text, format!("Test cases fail (TESTS_FAILED)\n  {case}"));
    }

    #[test]
    fn answer_of_somebody_else_is_told_by_its_status() {
        let text = Problem::of(StatusCode::BAD_GATEWAY, b"<html>").to_string();
        assert_eq!(text, "the server answered 502 Bad Gateway");
    }
}
