//! Why the house did not do what was asked.

use std::{num::NonZeroU32, time::Duration};

use tw_model::Code;
use tw_schema::Fault;

/// A refusal, or a fault of our own.
///
/// A tool that ran and failed is not here: that is a run like any other, and is recorded. A variant
/// exists where some caller acts on it differently.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{why}")]
    Unauthenticated { why: &'static str },
    #[error("{why}")]
    NotPermitted { why: String },
    #[error("there is no tool `{tool}` in the catalogue")]
    ToolNotFound { tool: String },
    #[error("there is no such {what}")]
    NotFound { what: &'static str },
    #[error("there is no such session")]
    SessionNotFound,
    #[error("the tool `{tool}` is switched off")]
    ToolDisabled { tool: String },
    #[error("the tool `{tool}` is of the kind `{kind}`, which this version of the program cannot run")]
    UnknownKind { tool: String, kind: String },
    #[error("version {version} of the tool `{tool}` was withdrawn")]
    VersionWithdrawn { tool: String, version: String },
    #[error("the tool `{tool}` is {status} and runs only once it is published")]
    ToolNotPublished { tool: String, status: &'static str },
    #[error("Missing required param: {param}")]
    MissingParam { param: String },
    #[error("{what}")]
    InvalidParams { what: String, faults: Vec<Fault> },
    #[error("{why}")]
    Conflict { why: String },
    /// What runs the tool refuses the call.
    #[error("{}", .0.message)]
    Refused(tw_exec::Refusal),
    #[error("there is no credential `{label}`")]
    CredentialMissing { label: String },
    #[error("the approval is {status} already")]
    AlreadyDecided { status: String },
    #[error("the tool has changed since the approval was asked for, so the call was cancelled")]
    Superseded,
    #[error("this idempotency key was used with another body")]
    IdempotencyMismatch,
    #[error("the request with this idempotency key is still running")]
    IdempotencyInFlight,
    #[error("the {what} has expired")]
    Expired { what: &'static str },
    #[error("the {what} has changed since it was read")]
    Stale { what: &'static str },
    #[error("{why}")]
    RateLimited { why: String, retry_after: Duration },
    #[error("this {limit} has made too many calls in a minute")]
    OverLimit { limit: &'static str, per_minute: NonZeroU32, retry_after: Duration },
    #[error("this server is about to stop")]
    ShuttingDown,
    #[error("the background loop `{name}` died a moment ago and was begun again; the log says why")]
    Unwell { name: &'static str },
    #[error("the database did not answer while {doing}")]
    Store {
        doing: &'static str,
        #[source]
        source: tw_store::Error,
    },
    #[error("the call could not be recorded")]
    Record {
        #[source]
        source: tw_store::log::Rejected,
    },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The word programs match on; each has a page under `docs/errors/`.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Unauthenticated { .. } => Code::Unauthenticated,
            Self::NotPermitted { .. } => Code::NotPermitted,
            Self::ToolNotFound { .. } => Code::ToolNotFound,
            Self::NotFound { .. } => Code::NotFound,
            Self::SessionNotFound => Code::SessionNotFound,
            Self::ToolDisabled { .. } | Self::UnknownKind { .. } => Code::ToolDisabled,
            Self::VersionWithdrawn { .. } => Code::VersionWithdrawn,
            Self::ToolNotPublished { .. } => Code::ToolNotPublished,
            Self::MissingParam { .. } => Code::MissingParam,
            Self::InvalidParams { .. } => Code::InvalidParams,
            Self::Conflict { .. } => Code::Conflict,
            Self::Refused(refusal) => refusal.code,
            Self::CredentialMissing { .. } => Code::CredentialMissing,
            Self::AlreadyDecided { .. } => Code::AlreadyDecided,
            Self::Superseded => Code::Superseded,
            Self::IdempotencyMismatch => Code::IdempotencyMismatch,
            Self::IdempotencyInFlight => Code::IdempotencyInFlight,
            Self::Expired { .. } => Code::Expired,
            Self::Stale { .. } => Code::PreconditionFailed,
            Self::RateLimited { .. } | Self::OverLimit { .. } => Code::RateLimited,
            Self::ShuttingDown => Code::ShuttingDown,
            Self::Unwell { .. } => Code::Unavailable,
            Self::Store { source, .. } => store_code(source),
            Self::Record { source: tw_store::log::Rejected::Failed(source) } => store_code(source),
            Self::Record { .. } => Code::Internal,
        }
    }

    /// Whether it says that the caller may not make this request, or not like this. The answer depends on what the
    /// caller may do, so it holds only as long as that has not changed.
    #[must_use]
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::NotPermitted { .. }
            | Self::ToolNotFound { .. }
            | Self::NotFound { .. }
            | Self::SessionNotFound
            | Self::ToolDisabled { .. }
            | Self::UnknownKind { .. }
            | Self::ToolNotPublished { .. }
            | Self::MissingParam { .. }
            | Self::InvalidParams { .. }
            | Self::Conflict { .. }
            | Self::Refused(_)
            | Self::VersionWithdrawn { .. }
            | Self::CredentialMissing { .. }
            | Self::AlreadyDecided { .. }
            | Self::Superseded
            | Self::IdempotencyMismatch
            | Self::IdempotencyInFlight => true,
            Self::Unauthenticated { .. }
            | Self::Expired { .. }
            | Self::Stale { .. }
            | Self::RateLimited { .. }
            | Self::OverLimit { .. }
            | Self::ShuttingDown
            | Self::Unwell { .. }
            | Self::Store { .. }
            | Self::Record { .. } => false,
        }
    }

    /// When the same request may be worth making again.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::OverLimit { retry_after, .. } => Some(*retry_after),
            Self::IdempotencyInFlight | Self::ShuttingDown => Some(Duration::from_secs(1)),
            Self::Store { .. } | Self::Record { .. } if self.code() == Code::Unavailable => {
                Some(Duration::from_secs(1))
            }
            _ => None,
        }
    }

    pub(crate) fn store(doing: &'static str) -> impl FnOnce(tw_store::Error) -> Self {
        move |source| match source {
            tw_store::Error::Taken { what } => Self::Conflict { why: format!("the {what} is taken") },
            tw_store::Error::Refused { why } => Self::Conflict { why: why.to_owned() },
            source => Self::Store { doing, source },
        }
    }

    /// The same error about a part of what was sent.
    pub(crate) fn below(self, place: &str) -> Self {
        match self {
            Self::InvalidParams { what, mut faults } => {
                for fault in &mut faults {
                    fault.path.insert_str(0, place);
                }
                Self::InvalidParams { what, faults }
            }
            other => other,
        }
    }

    pub(crate) fn invalid(path: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self::InvalidParams {
            what: format!("`{}` {message}", path.trim_start_matches('/')),
            faults: vec![Fault { path: path.to_owned(), message }],
        }
    }
}

fn store_code(error: &tw_store::Error) -> Code {
    if error.is_retryable() { Code::Unavailable } else { Code::Internal }
}

impl From<Error> for tw_exec::Refusal {
    fn from(error: Error) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let faults = match error {
            Error::InvalidParams { faults, .. } => faults,
            _ => Vec::new(),
        };
        Self { code, message, faults }
    }
}
