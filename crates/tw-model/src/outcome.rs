//! What a tool answers.

use serde_json::Value;

use crate::Code;

/// What a tool answers when it ran: one shape for every tool.
///
/// `data` is for programs and models, `summary` for the person who watches, `markdown` for a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    pub data: Value,
    pub summary: String,
    pub markdown: Option<String>,
}

/// Why a tool that ran did not succeed. It is data for the caller, not a fault of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    pub code: Code,
    pub message: String,
    /// What the tool said about its failure in the shape of a result: its own summary, data and Markdown.
    pub said: Option<Box<ToolResult>>,
}

impl ToolFailure {
    /// A failure with the general code; the message is read by the caller, so it says what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_code(Code::ToolFailed, message)
    }

    /// The input fits the schema and still makes no sense, for instance a date that does not exist.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::with_code(Code::InvalidParams, message)
    }

    pub fn with_code(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), said: None }
    }

    /// The same failure, with what the tool said about it.
    #[must_use]
    pub fn saying(self, said: ToolResult) -> Self {
        Self { said: Some(Box::new(said)), ..self }
    }
}

impl ToolResult {
    /// Reads what somebody outside the program returned: a service, a chain, a worker, a person.
    ///
    /// - An object with a boolean `success` and a text `summary` is a whole result. Its `data` becomes the data;
    ///   with `success: false` it is a failure that keeps what was said.
    /// - `{ "error": "…" }` alone, and `success: false` beside a text `error`, are failures.
    /// - Everything else is data, and `summary` says something about it.
    pub fn returned(value: Value, summary: impl FnOnce() -> String) -> Result<Self, ToolFailure> {
        let Value::Object(mut members) = value else {
            return Ok(Self { data: value, summary: summary(), markdown: None });
        };
        let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        let success = members.get("success").and_then(Value::as_bool);
        let error = text("error").filter(|error| !error.is_empty());
        match (success, text("summary")) {
            (Some(success), Some(own)) => {
                let message = error.unwrap_or_else(|| failed(&own));
                let markdown = text("markdown");
                let data = members.remove("data").unwrap_or_default();
                let said = Self { data, summary: own, markdown };
                if success { Ok(said) } else { Err(ToolFailure::new(message).saying(said)) }
            }
            (Some(false), None) if error.is_some() => Err(ToolFailure::new(error.unwrap_or_default())),
            _ if members.len() == 1 && members.get("error").is_some_and(Value::is_string) => {
                Err(ToolFailure::new(error.unwrap_or_else(|| failed(""))))
            }
            _ => Ok(Self { data: Value::Object(members), summary: summary(), markdown: None }),
        }
    }
}

fn failed(summary: &str) -> String {
    let told = if summary.is_empty() { "The tool reported a failure and did not say why" } else { summary };
    told.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn returned(value: Value) -> Result<ToolResult, ToolFailure> {
        ToolResult::returned(value, || "made up".to_owned())
    }

    fn result(data: Value, summary: &str, markdown: Option<&str>) -> ToolResult {
        ToolResult { data, summary: summary.to_owned(), markdown: markdown.map(str::to_owned) }
    }

    #[test]
    fn whole_result_is_taken_apart() {
        let whole = json!({ "success": true, "summary": "2 found", "data": [1, 2], "markdown": "**2**", "error": null });
        assert_eq!(returned(whole), Ok(result(json!([1, 2]), "2 found", Some("**2**"))));
        let bare = json!({ "success": true, "summary": "done" });
        assert_eq!(returned(bare), Ok(result(Value::Null, "done", None)));
    }

    #[test]
    fn result_that_says_it_failed_is_a_failure_and_keeps_what_it_said() {
        let said = json!({ "success": false, "summary": "0 of 3 sent", "data": { "sent": 0 }, "markdown": "none", "error": "no route" });
        let failure = returned(said).unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (Code::ToolFailed, "no route"));
        assert_eq!(*failure.said.unwrap(), result(json!({ "sent": 0 }), "0 of 3 sent", Some("none")));
        let failure = returned(json!({ "success": false, "summary": "0 of 3 sent" })).unwrap_err();
        assert_eq!(failure.message, "0 of 3 sent");
        let failure = returned(json!({ "success": false, "summary": "", "error": "" })).unwrap_err();
        assert_eq!(failure.message, "The tool reported a failure and did not say why");
        assert_eq!(returned(json!({ "success": false, "error": "x" })).unwrap_err().message, "x");
    }

    #[test]
    fn error_alone_is_a_failure() {
        assert_eq!(returned(json!({ "error": "no such file" })), Err(ToolFailure::new("no such file")));
        assert!(returned(json!({ "error": "" })).is_err());
    }

    #[test]
    fn everything_else_is_data_with_a_summary_that_is_made_up() {
        for value in [
            json!(null),
            json!("text"),
            json!([{ "error": "x" }]),
            json!({ "error": "x", "code": 3 }),
            json!({ "error": null }),
            json!({ "error": { "message": "x" } }),
            json!({ "success": true }),
            json!({ "success": false, "errors": [] }),
            json!({ "success": "no", "summary": "x" }),
            json!({ "summary": "x", "data": 1 }),
        ] {
            assert_eq!(returned(value.clone()), Ok(result(value, "made up", None)));
        }
    }
}
