//! The pages that the `type` of a problem leads to.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};
use tw_model::Code;

use crate::problem::{Problem, Result};

macro_rules! pages {
    ($($code:literal,)+) => {
        &[$(($code, include_str!(concat!("../../../../docs/errors/", $code, ".md")))),+]
    };
}

/// Every code with its page.
const PAGES: &[(&str, &str)] = pages![
    "ALREADY_DECIDED",
    "BAD_REQUEST",
    "BUDGET_EXCEEDED",
    "CANCELLED",
    "CIRCUIT_OPEN",
    "CONFLICT",
    "CREDENTIAL_MISSING",
    "CSRF_REJECTED",
    "DENIED",
    "DEPTH_EXCEEDED",
    "OTHER_TENANT",
    "EGRESS_DENIED",
    "EXPIRED",
    "FOREIGN_HOST",
    "IDEMPOTENCY_IN_FLIGHT",
    "IDEMPOTENCY_MISMATCH",
    "INTERNAL",
    "INTERRUPTED",
    "INVALID_JSON",
    "INVALID_PARAMS",
    "METHOD_NOT_ALLOWED",
    "MISSING_PARAM",
    "NEEDS_APPROVAL",
    "NOT_FOUND",
    "NOT_PERMITTED",
    "OUTPUT_INVALID",
    "PAYLOAD_TOO_LARGE",
    "PRECONDITION_FAILED",
    "RATE_LIMITED",
    "SANDBOX_EXCEPTION",
    "SANDBOX_MEMORY",
    "SANDBOX_OUTPUT",
    "SESSION_NOT_FOUND",
    "SHUTTING_DOWN",
    "SUPERSEDED",
    "TIMEOUT",
    "TOOL_DISABLED",
    "TOOL_FAILED",
    "TOOL_NOT_FOUND",
    "TOOL_NOT_PUBLISHED",
    "TOOL_PANICKED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNSUPPORTED_MEDIA_TYPE",
    "UPSTREAM_ERROR",
    "VERSION_WITHDRAWN",
];

/// The page of a code, as it was written.
pub(crate) async fn error_page(code: std::result::Result<Path<String>, PathRejection>) -> Result<Response> {
    let wanted = code.as_deref().map(String::as_str).unwrap_or_default();
    let page = PAGES.iter().find(|(code, _)| code.eq_ignore_ascii_case(wanted));
    let (_, text) = page.ok_or_else(|| Problem::new(Code::NotFound, "there is no such code"))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], *text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_page() {
        for code in Code::ALL {
            let page = PAGES.iter().find(|(name, _)| *name == code.as_str());
            let (_, text) = page.unwrap_or_else(|| panic!("add {code} to the pages"));
            assert!(text.starts_with(&format!("# {code}\n")), "{code}");
        }
    }
}
