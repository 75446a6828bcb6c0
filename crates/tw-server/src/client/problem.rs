//! A server's refusal, for a person.

use std::fmt;

use reqwest::StatusCode;
use serde::Deserialize;

/// The part of an RFC 9457 problem that people read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    title: String,
    detail: Option<String>,
    code: Option<String>,
    request_id: Option<String>,
    errors: Vec<Fault>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fault {
    path: String,
    message: String,
}

impl Problem {
    /// What the body says, or the bare status where it says nothing.
    pub(super) fn of(status: StatusCode, body: &[u8]) -> Self {
        let said: Option<Self> = serde_json::from_slice(body).ok();
        said.filter(|problem| !problem.title.is_empty())
            .unwrap_or_else(|| Self { title: format!("the server answered {status}"), ..Self::default() })
    }

    /// The word programs match on.
    pub(super) fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        if let Some(detail) = &self.detail {
            write!(f, ": {detail}")?;
        }
        let request = self.request_id.as_ref().map(|id| format!("request {id}"));
        let marks: Vec<String> = self.code.clone().into_iter().chain(request).collect();
        if !marks.is_empty() {
            write!(f, " ({})", marks.join(", "))?;
        }
        for Fault { path, message } in &self.errors {
            let path = if path.is_empty() { "/" } else { path };
            write!(f, "\n  {path}: {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_is_told_with_its_code_request_and_faults() {
        let body = br#"{ "type": "x", "title": "Invalid input", "status": 422, "detail": "2 faults",
            "code": "INVALID_PARAMS", "request_id": "r-1",
            "errors": [{ "path": "/a/0", "message": "is no number" }, { "path": "", "message": "is odd" }] }"#;
        let text = Problem::of(StatusCode::UNPROCESSABLE_ENTITY, body).to_string();
        assert_eq!(
            text,
            "Invalid input: 2 faults (INVALID_PARAMS, request r-1)\n  /a/0: is no number\n  /: is odd"
        );
    }

    #[test]
    fn answer_of_somebody_else_is_told_by_its_status() {
        let text = Problem::of(StatusCode::BAD_GATEWAY, b"<html>").to_string();
        assert_eq!(text, "the server answered 502 Bad Gateway");
    }
}
