//! Why something that was asked for was not done.

use std::{num::NonZeroU32, time::Duration};

use serde_json::{Map, Value, json};
use tw_model::Code;
use tw_schema::{Comparison, Difference, Fault, Part, Violation};

/// How many changes a message names.
const LINES_SHOWN: usize = 5;

/// A refusal, or a fault of our own.
///
/// A tool that ran and failed is not here: that is a run like any other, and is recorded. A variant
/// exists where some caller acts on it differently.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{why}")]
    Unauthenticated { why: &'static str },
    #[error("the email or the password is wrong")]
    WrongPassword,
    #[error("the sign-in link has been used or has expired")]
    LinkUsed,
    #[error("{why}")]
    NotPermitted { why: String },
    #[error("the owner of an agent cannot decide on its calls here; another approver can")]
    SelfApproval,
    #[error("there is no tool named `{tool}`")]
    ToolNotFound { tool: String },
    #[error("there is no such {what}")]
    NotFound { what: &'static str },
    #[error("there is no such session")]
    SessionNotFound,
    #[error("the tool `{tool}` is switched off")]
    ToolDisabled { tool: String },
    #[error("the tool `{tool}` is of the kind `{kind}`, which this version of the program cannot run")]
    UnknownKind { tool: String, kind: String },
    #[error(
        "the tool `{tool}` changed on its MCP server: it cannot run until a person accepts or rejects the change"
    )]
    ToolHeld { tool: String },
    #[error("version {version} of the tool `{tool}` was withdrawn")]
    VersionWithdrawn { tool: String, version: String },
    #[error("the tool `{tool}` is {status} and runs only once it is published")]
    ToolNotPublished { tool: String, status: &'static str },
    #[error(
        "publishing would break callers of version {live}: {}; publish with a higher major version, or with `accept_breaking`",
        breaking_lines(comparison)
    )]
    BreakingChange { live: String, comparison: Box<Comparison> },
    #[error("these test cases fail: {}; fix the draft or the cases, or publish with `ignore_tests`", failed.join(", "))]
    TestsFailed {
        failed: Vec<String>,
        /// As `POST …/tests/run` answers.
        report: Box<Value>,
    },
    #[error("Missing required param: {param}")]
    MissingParam { param: String, faults: Vec<Fault> },
    #[error("{what}")]
    InvalidParams { what: String, faults: Vec<Fault> },
    #[error("{why}")]
    Conflict { why: String },
    /// What runs the tool refuses the call.
    #[error("{}", .0.message)]
    Refused(tw_exec::Refusal),
    #[error("{why}")]
    Taken { why: String, fault: Box<Fault> },
    #[error("the {what} cannot be {to_be}: it is used by {}", by.join(", "))]
    InUse { what: &'static str, to_be: &'static str, by: Vec<String> },
    #[error("the {what} is being changed by others; try again")]
    Busy { what: &'static str },
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
    #[error("the {what} was changed after you read it; read it again")]
    Stale { what: &'static str },
    #[error("{why}")]
    RateLimited { why: String, retry_after: Duration },
    #[error("this {limit} may make at most {per_minute} calls per minute; try again later")]
    OverLimit { limit: &'static str, per_minute: NonZeroU32, retry_after: Duration },
    #[error("this server is about to stop")]
    ShuttingDown,
    #[error("the background task `{name}` crashed and was restarted; see the server's log")]
    Unwell { name: &'static str },
    #[error("the database {} while {doing}", if source.is_retryable() { "did not answer" } else { "failed" })]
    Store {
        doing: &'static str,
        #[source]
        source: tw_store::Error,
    },
    /// What is neither the caller's nor the database's.
    #[error("the server failed while {doing}")]
    Internal {
        doing: &'static str,
        /// For the log alone.
        #[source]
        why: Box<dyn std::error::Error + Send + Sync>,
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
            Self::Unauthenticated { .. } | Self::WrongPassword | Self::LinkUsed => Code::Unauthenticated,
            Self::NotPermitted { .. } | Self::SelfApproval => Code::NotPermitted,
            Self::ToolNotFound { .. } => Code::ToolNotFound,
            Self::NotFound { .. } => Code::NotFound,
            Self::SessionNotFound => Code::SessionNotFound,
            Self::ToolDisabled { .. } | Self::UnknownKind { .. } => Code::ToolDisabled,
            Self::ToolHeld { .. } => Code::ToolHeld,
            Self::VersionWithdrawn { .. } => Code::VersionWithdrawn,
            Self::ToolNotPublished { .. } => Code::ToolNotPublished,
            Self::BreakingChange { .. } => Code::BreakingChange,
            Self::TestsFailed { .. } => Code::TestsFailed,
            Self::MissingParam { .. } => Code::MissingParam,
            Self::InvalidParams { .. } => Code::InvalidParams,
            Self::Conflict { .. } | Self::Taken { .. } | Self::InUse { .. } | Self::Busy { .. } => {
                Code::Conflict
            }
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
            Self::Record { .. } | Self::Internal { .. } => Code::Internal,
        }
    }

    /// The values in the message, by which it can be said in other languages. `reason` tells those apart that share
    /// a code.
    #[must_use]
    pub fn params(&self) -> Map<String, Value> {
        let params = match self {
            Self::WrongPassword => json!({ "reason": "wrong_password" }),
            Self::LinkUsed => json!({ "reason": "link_used" }),
            Self::SelfApproval => json!({ "reason": "self_approval" }),
            Self::ToolNotFound { tool } | Self::ToolDisabled { tool } | Self::ToolHeld { tool } => {
                json!({ "tool": tool })
            }
            Self::UnknownKind { tool, kind } => {
                json!({ "reason": "unknown_kind", "tool": tool, "kind": kind })
            }
            Self::VersionWithdrawn { tool, version } => json!({ "tool": tool, "version": version }),
            Self::Unwell { name } => json!({ "reason": "unwell", "name": name }),
            Self::NotFound { what } | Self::Expired { what } | Self::Stale { what } => {
                json!({ "what": what })
            }
            Self::ToolNotPublished { tool, status } => json!({ "tool": tool, "status": status }),
            Self::BreakingChange { live, comparison } => {
                json!({ "version": live, "required_bump": comparison.required_bump })
            }
            Self::TestsFailed { failed, .. } => json!({ "names": failed, "count": failed.len() }),
            Self::MissingParam { param, .. } => json!({ "param": param }),
            Self::InvalidParams { faults, .. } => json!({ "count": faults.len() }),
            Self::Taken { .. } => json!({ "reason": "taken" }),
            Self::InUse { what, by, .. } => json!({ "reason": "in_use", "what": what, "by": by }),
            Self::Busy { what } => json!({ "reason": "busy", "what": what }),
            Self::CredentialMissing { label } => json!({ "label": label }),
            Self::AlreadyDecided { status } => json!({ "status": status }),
            Self::OverLimit { limit, per_minute, .. } => json!({ "limit": limit, "per_minute": per_minute }),
            Self::Unauthenticated { .. }
            | Self::NotPermitted { .. }
            | Self::SessionNotFound
            | Self::Conflict { .. }
            | Self::Refused(_)
            | Self::Superseded
            | Self::IdempotencyMismatch
            | Self::IdempotencyInFlight
            | Self::RateLimited { .. }
            | Self::ShuttingDown
            | Self::Store { .. }
            | Self::Internal { .. }
            | Self::Record { .. } => json!({}),
        };
        params.as_object().cloned().unwrap_or_default()
    }

    /// What the refusal is about, in the words of the route that tells it without being refused.
    #[must_use]
    pub fn members(&self) -> Option<Map<String, Value>> {
        let members = match self {
            Self::BreakingChange { comparison, .. } => json!(comparison),
            Self::TestsFailed { report, .. } => (**report).clone(),
            _ => return None,
        };
        members.as_object().cloned()
    }

    /// What is wrong with what was sent, each at its place.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::InvalidParams { faults, .. } | Self::MissingParam { faults, .. } => faults,
            Self::Taken { fault, .. } => std::slice::from_ref(fault),
            Self::Refused(refusal) => &refusal.faults,
            _ => &[],
        }
    }

    /// Whether it says that the caller may not make this request, or not like this. The answer depends on what the
    /// caller may do, so it holds only as long as that has not changed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotPermitted { .. }
            | Self::SelfApproval
            | Self::Taken { .. }
            | Self::InUse { .. }
            | Self::Busy { .. }
            | Self::ToolNotFound { .. }
            | Self::NotFound { .. }
            | Self::SessionNotFound
            | Self::ToolDisabled { .. }
            | Self::ToolHeld { .. }
            | Self::UnknownKind { .. }
            | Self::ToolNotPublished { .. }
            | Self::BreakingChange { .. }
            | Self::TestsFailed { .. }
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
            | Self::WrongPassword
            | Self::LinkUsed
            | Self::Internal { .. }
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

    /// For a query that failed while `doing` something.
    pub fn store(doing: &'static str) -> impl FnOnce(tw_store::Error) -> Self {
        move |source| match source {
            tw_store::Error::Taken { what } => {
                let fault = Violation::taken(what).at(format!("/{what}"));
                Self::Taken { why: format!("the {what} is taken"), fault: Box::new(fault) }
            }
            tw_store::Error::Refused { why } => Self::Conflict { why: why.to_owned() },
            // The database did its part: what it holds is not what was written.
            source @ tw_store::Error::Corrupt { .. } => Self::internal(doing, source),
            source => Self::Store { doing, source },
        }
    }

    /// The same error about a part of what was sent. What is missing there is not missing from the whole.
    #[must_use]
    pub fn below(self, place: &str) -> Self {
        match self {
            Self::InvalidParams { faults, .. } | Self::MissingParam { faults, .. } => {
                Self::refused(faults.into_iter().map(|fault| fault.below(place)).collect())
            }
            other => other,
        }
    }

    /// One thing in what was sent that breaks a rule.
    #[must_use]
    pub fn invalid(path: &str, violation: Violation) -> Self {
        Self::refused(vec![violation.at(path)])
    }

    /// What was sent is wrong in these places, in words of our own. A missing field is told before anything else.
    #[must_use]
    pub fn refused(faults: Vec<Fault>) -> Self {
        let what = match faults.first() {
            Some(fault) => match fault.path.trim_start_matches('/') {
                "" => fault.message.clone(),
                place => format!("`{place}` {}", fault.message),
            },
            None => "the input does not fit".to_owned(),
        };
        Self::refused_as(what, faults)
    }

    /// As [`Error::refused`], in words of the caller's, which count where nothing is missing.
    #[must_use]
    pub fn refused_as(what: String, mut faults: Vec<Fault>) -> Self {
        faults.truncate(tw_schema::FAULTS_MAX);
        match faults.iter().find(|fault| fault.is_missing_member()) {
            Some(missing) => {
                let param = missing.path[1..].replace("~1", "/").replace("~0", "~");
                Self::MissingParam { param, faults }
            }
            None => Self::InvalidParams { what, faults },
        }
    }

    /// For work of our own that came to no end.
    pub fn internal(doing: &'static str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal { doing, why: why.into() }
    }
}

/// The first of the changes that break somebody, and how many more there are.
fn breaking_lines(comparison: &Comparison) -> String {
    let breaking: Vec<_> = comparison.changes.iter().filter(|change| change.breaking).collect();
    let line = |change: &&Difference| {
        let part = match change.part {
            Part::Input => "input",
            Part::Output => "output",
        };
        let place = if change.path.is_empty() { String::new() } else { format!(" {}", change.path) };
        format!("{part}{place} {}", change.message)
    };
    let mut lines: Vec<String> = breaking.iter().take(LINES_SHOWN).map(line).collect();
    if LINES_SHOWN < breaking.len() {
        lines.push(format!("and {} more", breaking.len() - LINES_SHOWN));
    }
    lines.join("; ")
}

fn store_code(error: &tw_store::Error) -> Code {
    if error.is_retryable() { Code::Unavailable } else { Code::Internal }
}

impl From<Error> for tw_exec::Refusal {
    fn from(error: Error) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let faults = error.faults().to_vec();
        Self { code, message, faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_is_blamed_only_for_what_it_did() {
        let corrupt = tw_store::Error::Corrupt { what: "the status of run 7".to_owned() };
        let corrupt = Error::store("reading a run")(corrupt);
        assert_eq!(
            (corrupt.to_string().as_str(), corrupt.code()),
            ("the server failed while reading a run", Code::Internal)
        );
        assert!(std::error::Error::source(&corrupt).unwrap().to_string().contains("run 7"), "for the log");

        let away = Error::store("reading a run")(tw_store::timed_out());
        assert_eq!(
            (away.to_string().as_str(), away.code()),
            ("the database did not answer while reading a run", Code::Unavailable)
        );
    }
}
