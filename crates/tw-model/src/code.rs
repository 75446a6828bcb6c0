//! The words that programs match on when something was refused or went wrong.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($name:ident => $word:literal, $status:literal, $title:literal;)+) => {
        /// A stable word for a refusal or a failure. Once released it never changes; each has a page
        /// of the same name under `docs/errors/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $(#[serde(rename = $word)] $name,)+
        }

        impl Code {
            pub const ALL: &[Self] = &[$(Self::$name),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }

            /// The HTTP status a door answers with when this code refuses a request. A call that ran
            /// and failed is answered with 200 whatever its code.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status),+ }
            }

            /// A short sentence for a person who has not met the code before.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),+ }
            }
        }
    };
}

codes! {
    BadRequest => "BAD_REQUEST", 400, "The request cannot be read";
    InvalidJson => "INVALID_JSON", 400, "The body is not valid JSON";
    Unauthenticated => "UNAUTHENTICATED", 401, "Not signed in, or the key is not valid";
    NotPermitted => "NOT_PERMITTED", 403, "Not permitted";
    ForeignHost => "FOREIGN_HOST", 403, "This server does not serve that host or origin";
    CsrfRejected => "CSRF_REJECTED", 403, "The request did not come from the app's own pages";
    OtherTenant => "OTHER_TENANT", 409, "The page shows another tenant than the current one";
    NotFound => "NOT_FOUND", 404, "Not found";
    ToolNotFound => "TOOL_NOT_FOUND", 404, "Tool not found";
    SessionNotFound => "SESSION_NOT_FOUND", 404, "Session not found";
    MethodNotAllowed => "METHOD_NOT_ALLOWED", 405, "This path does not support the method";
    Conflict => "CONFLICT", 409, "The current state does not allow this";
    ToolDisabled => "TOOL_DISABLED", 409, "The tool is switched off";
    ToolHeld => "TOOL_HELD", 409, "The tool changed on its MCP server and is on hold until the change is reviewed";
    ToolNotPublished => "TOOL_NOT_PUBLISHED", 409, "The tool is not published";
    VersionWithdrawn => "VERSION_WITHDRAWN", 409, "The version was withdrawn";
    BreakingChange => "BREAKING_CHANGE", 409, "Publishing would break callers of the published version";
    TestsFailed => "TESTS_FAILED", 409, "Test cases of the tool fail";
    NotRecorded => "NOT_RECORDED", 409, "The replayed run made a call that is not in the recording";
    NeedsApproval => "NEEDS_APPROVAL", 409, "The call needs approval";
    AlreadyDecided => "ALREADY_DECIDED", 409, "The approval has already been decided";
    Superseded => "SUPERSEDED", 409, "The tool changed after the approval was requested";
    IdempotencyMismatch => "IDEMPOTENCY_MISMATCH", 409, "The idempotency key was used with another request";
    IdempotencyInFlight => "IDEMPOTENCY_IN_FLIGHT", 409, "A request with this idempotency key is still running";
    Expired => "EXPIRED", 410, "The deadline has passed";
    PreconditionFailed => "PRECONDITION_FAILED", 412, "The object has changed since it was read";
    PayloadTooLarge => "PAYLOAD_TOO_LARGE", 413, "The body is too large";
    UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE", 415, "The content type is not supported";
    InvalidParams => "INVALID_PARAMS", 422, "The input is not valid";
    MissingParam => "MISSING_PARAM", 422, "A required field is missing";
    RateLimited => "RATE_LIMITED", 429, "Too many requests";
    Internal => "INTERNAL", 500, "Internal server error";
    Unavailable => "UNAVAILABLE", 503, "The server cannot reach its database";
    ShuttingDown => "SHUTTING_DOWN", 503, "The server is shutting down";
    Timeout => "TIMEOUT", 504, "The tool did not finish in time";
    Cancelled => "CANCELLED", 409, "The run was cancelled";
    Denied => "DENIED", 409, "An approver denied the call";
    OutputInvalid => "OUTPUT_INVALID", 502, "The tool's output does not match its schema";
    ToolFailed => "TOOL_FAILED", 502, "The tool failed";
    CredentialMissing => "CREDENTIAL_MISSING", 409, "A credential that the tool needs is missing";
    EgressDenied => "EGRESS_DENIED", 502, "Calls to this address are not allowed";
    UpstreamError => "UPSTREAM_ERROR", 502, "The service behind the tool returned an error or no answer";
    CircuitOpen => "CIRCUIT_OPEN", 503, "The service behind the tool keeps failing and is temporarily not called";
    DepthExceeded => "DEPTH_EXCEEDED", 422, "Calls are nested too deeply";
    BudgetExceeded => "BUDGET_EXCEEDED", 422, "The call exceeds its budget";
    ModelNotConfigured => "MODEL_NOT_CONFIGURED", 409, "No language model with this name is configured";
    SandboxException => "SANDBOX_EXCEPTION", 502, "The script raised an exception";
    SandboxMemory => "SANDBOX_MEMORY", 502, "The script exceeded its memory limit";
    SandboxOutput => "SANDBOX_OUTPUT", 502, "The script's output is not JSON, or is too large";
    ToolPanicked => "TOOL_PANICKED", 502, "The tool crashed";
    Interrupted => "INTERRUPTED", 503, "The server stopped while the tool was running";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Code {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}
