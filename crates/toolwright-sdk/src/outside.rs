//! What a tool makes of a request that got no answer.

use tw_egress::Error;
use tw_model::{Code, ToolFailure};

/// Why there is no answer, for the caller of a tool.
#[must_use]
pub fn failure_of(error: &Error) -> ToolFailure {
    let code = match error {
        Error::Denied { .. } => Code::EgressDenied,
        Error::Timeout { .. } => Code::Timeout,
        Error::BadUrl { .. } | Error::BadRequest { .. } => Code::InvalidParams,
        Error::Unreachable { .. }
        | Error::TooLarge { .. }
        | Error::BadResponse { .. }
        | Error::Interrupted { .. } => Code::UpstreamError,
    };
    ToolFailure::with_code(code, error.to_string())
}
