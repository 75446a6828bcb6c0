//! What a tool answers.

use serde_json::Value;

use crate::Code;

/// What a tool answers when it ran: one shape for every tool.
///
/// `data` is for programs and models, `summary` for the person who watches, `markdown` for a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub data: Value,
    pub summary: String,
    pub markdown: Option<String>,
}

/// Why a tool that ran did not succeed. It is data for the caller, not a fault of the server.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    pub code: Code,
    pub message: String,
    /// What the tool said itself about its failure: summary, data and markdown.
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
}

/// What a tool outside the program gave back, as its result.
///
/// An object with a boolean `success` and a text `summary` is taken at its word: its `data` is the output, and
/// `success: false` is a failure that keeps what it says. An object with nothing but a text `error` is a failure.
/// Everything else is the output itself.
pub fn read_result(given: Value, summary: impl FnOnce() -> String) -> Result<ToolResult, ToolFailure> {
    let text = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_owned);
    match (given.get("success").and_then(Value::as_bool), text("summary")) {
        (Some(success), Some(summary)) => {
            let markdown = text("markdown");
            let result = ToolResult {
                data: given.get("data").cloned().unwrap_or(Value::Null),
                summary: summary.clone(),
                markdown,
            };
            if success {
                return Ok(result);
            }
            let message = text("error").filter(|error| !error.is_empty()).unwrap_or(summary);
            Err(ToolFailure { said: Some(Box::new(result)), ..ToolFailure::new(message) })
        }
        (Some(false), None) if text("error").is_some_and(|error| !error.is_empty()) => {
            Err(ToolFailure::new(text("error").unwrap_or_default()))
        }
        _ => match (text("error"), given.as_object().map(serde_json::Map::len)) {
            (Some(error), Some(1)) => Err(ToolFailure::new(error)),
            _ => Ok(ToolResult { data: given, summary: summary(), markdown: None }),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: Value) -> Result<ToolResult, ToolFailure> {
        read_result(given, || "made up".to_owned())
    }

    #[test]
    fn result_that_says_so_is_taken_at_its_word() {
        let given = json!({ "success": true, "summary": "done", "data": { "n": 1 }, "markdown": "*done*" });
        let result = read(given).unwrap();
        assert_eq!((result.data, &*result.summary), (json!({ "n": 1 }), "done"));
        assert_eq!(result.markdown.as_deref(), Some("*done*"));
    }

    #[test]
    fn failure_keeps_what_it_says() {
        let given = json!({ "success": false, "summary": "2 of 3", "error": "one bounced", "data": [1, 2] });
        let failure = read(given).unwrap_err();
        assert_eq!((failure.code, &*failure.message), (Code::ToolFailed, "one bounced"));
        let said = failure.said.unwrap();
        assert_eq!((said.data, &*said.summary), (json!([1, 2]), "2 of 3"));
        assert_eq!(read(json!({ "success": false, "summary": "no" })).unwrap_err().message, "no");
        assert_eq!(read(json!({ "success": false, "error": "no" })).unwrap_err().message, "no");
        assert_eq!(read(json!({ "error": "no such record" })).unwrap_err().message, "no such record");
    }

    #[test]
    fn everything_else_is_the_output() {
        for given in [json!(null), json!([1]), json!({ "error": "none", "rows": 3 }), json!({ "error": 5 })] {
            let result = read(given.clone()).unwrap();
            assert_eq!((result.data, &*result.summary), (given, "made up"));
        }
        let plain = json!({ "success": false, "rows": 3 });
        assert_eq!(read(plain.clone()).unwrap().data, plain);
    }
}
