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
    InvalidJson => "INVALID_JSON", 400, "The body is not strict JSON";
    Unauthenticated => "UNAUTHENTICATED", 401, "No valid credentials were sent";
    NotPermitted => "NOT_PERMITTED", 403, "The caller may not do this";
    ForeignHost => "FOREIGN_HOST", 403, "The request names a host or an origin that is not served here";
    CsrfRejected => "CSRF_REJECTED", 403, "The request did not come from the app's own pages";
    OtherTenant => "OTHER_TENANT", 409, "The page shows another tenant than the one signed in to";
    NotFound => "NOT_FOUND", 404, "There is no such thing";
    ToolNotFound => "TOOL_NOT_FOUND", 404, "No tool of that name is in the catalogue";
    SessionNotFound => "SESSION_NOT_FOUND", 404, "There is no such session";
    MethodNotAllowed => "METHOD_NOT_ALLOWED", 405, "This path does not take that method";
    Conflict => "CONFLICT", 409, "The state of the thing does not allow this";
    ToolDisabled => "TOOL_DISABLED", 409, "The tool is switched off";
    ToolHeld => "TOOL_HELD", 409, "The tool changed on its server and is held until somebody has looked at it";
    ToolNotPublished => "TOOL_NOT_PUBLISHED", 409, "The tool is not published";
    VersionWithdrawn => "VERSION_WITHDRAWN", 409, "The version was withdrawn";
    BreakingChange => "BREAKING_CHANGE", 409, "Publishing would break callers of what is live";
    TestsFailed => "TESTS_FAILED", 409, "Test cases of the tool do not pass";
    NotRecorded => "NOT_RECORDED", 409, "A replayed call would do what its record has no answer for";
    NeedsApproval => "NEEDS_APPROVAL", 409, "A person has to approve this first";
    AlreadyDecided => "ALREADY_DECIDED", 409, "The approval was decided before";
    Superseded => "SUPERSEDED", 409, "The tool has changed since the approval was asked for";
    IdempotencyMismatch => "IDEMPOTENCY_MISMATCH", 409, "The idempotency key was used with another body";
    IdempotencyInFlight => "IDEMPOTENCY_IN_FLIGHT", 409, "A request with this idempotency key is still running";
    Expired => "EXPIRED", 410, "The time for this is over";
    PreconditionFailed => "PRECONDITION_FAILED", 412, "The thing has changed since it was read";
    PayloadTooLarge => "PAYLOAD_TOO_LARGE", 413, "The body is larger than allowed";
    UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE", 415, "The body is not of a content type this route reads";
    InvalidParams => "INVALID_PARAMS", 422, "The input does not fit its schema";
    MissingParam => "MISSING_PARAM", 422, "A required field is missing";
    RateLimited => "RATE_LIMITED", 429, "Too many requests";
    Internal => "INTERNAL", 500, "The server failed to do its own work";
    Unavailable => "UNAVAILABLE", 503, "The server cannot reach its database";
    ShuttingDown => "SHUTTING_DOWN", 503, "This server is about to stop";
    Timeout => "TIMEOUT", 504, "The tool did not finish in time";
    Cancelled => "CANCELLED", 409, "The run was cancelled";
    Denied => "DENIED", 409, "A person declined the call";
    OutputInvalid => "OUTPUT_INVALID", 502, "The tool's output does not fit its schema";
    ToolFailed => "TOOL_FAILED", 502, "The tool reported a failure";
    CredentialMissing => "CREDENTIAL_MISSING", 409, "The tool needs a credential that is not there";
    EgressDenied => "EGRESS_DENIED", 502, "The address is not one that may be called";
    UpstreamError => "UPSTREAM_ERROR", 502, "The service behind the tool did not answer as it should";
    CircuitOpen => "CIRCUIT_OPEN", 503, "The service behind the tool keeps failing and is not asked for now";
    DepthExceeded => "DEPTH_EXCEEDED", 422, "Calls within calls go too deep";
    BudgetExceeded => "BUDGET_EXCEEDED", 422, "The call would take more than its budget";
    ModelNotConfigured => "MODEL_NOT_CONFIGURED", 409, "The server has no language model of that name";
    SandboxException => "SANDBOX_EXCEPTION", 502, "The script raised an exception";
    SandboxMemory => "SANDBOX_MEMORY", 502, "The script needs more memory than it may have";
    SandboxOutput => "SANDBOX_OUTPUT", 502, "The script's output is not JSON, or too large";
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
