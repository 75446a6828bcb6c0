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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    pub code: Code,
    pub message: String,
}

impl ToolFailure {
    /// A failure with the general code; the message is read by the caller, so it says what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: Code::ToolFailed, message: message.into() }
    }

    /// The input fits the schema and still makes no sense, for instance a date that does not exist.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: Code::InvalidParams, message: message.into() }
    }

    pub fn with_code(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
