//! What the tools of this folder make of answers, and of their absence.

use toolwright_sdk::{Code, ToolFailure, egress::Headers};

/// How much of an answer that is no success a failure shows.
const SHOWN_CHARS: usize = 500;

pub(super) fn upstream(message: impl Into<String>) -> ToolFailure {
    ToolFailure::with_code(Code::UpstreamError, message)
}

/// An answer that is no success, in the words of the service.
pub(super) fn refused(status: u16, body: &str) -> ToolFailure {
    let shown: String = body.trim().chars().take(SHOWN_CHARS).collect();
    upstream(if shown.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {shown}") })
}

/// The type of an answer without its parameters, in lower case; empty when there is none.
pub(super) fn content_type(headers: &Headers) -> String {
    let given = headers.get("content-type").unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

pub(super) fn is_json(content_type: &str) -> bool {
    content_type == "application/json" || content_type.ends_with("+json")
}
