//! Why a server gave no result.
//!
//! These texts reach whoever called the tool. They name the method and, of the server's address, what is before its
//! path; what the server itself said stands in them cut, and without the credentials that were sent to it.

use std::{fmt, time::Duration};

use serde_json::Value;
use toolwright_sdk::{Overload, failure_of};
use tw_egress::Site;
use tw_model::{Code, ToolFailure};

use crate::{
    NoToken,
    era::{EARLIER, PRESENT},
};

/// What was asked, and of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    pub method: &'static str,
    pub site: Site,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// Nothing has left: the address is refused, or a credential is not for this host.
    #[error("MCP `{}`: {why}", at.method)]
    Denied { at: At, why: String },
    /// The server asks who calls.
    #[error("{at} answered HTTP 401: check the credentials in its headers{}", of_challenge(challenge.as_deref()))]
    Unauthorized {
        at: At,
        /// The header `WWW-Authenticate`.
        challenge: Option<String>,
    },
    /// The server does not take the token of whoever signed in, and there is no other one.
    #[error("{at} answered HTTP 401: {}", why.why())]
    SignIn { at: At, why: NoToken },
    /// No answer came, or none that HTTP knows.
    #[error("MCP `{}`: {error}", at.method)]
    Unanswered { at: At, error: tw_egress::Error },
    #[error("{at} did not answer within {after:?}")]
    Late { at: At, after: Duration },
    /// An answer of HTTP alone, without a message of the protocol.
    #[error("{at} answered HTTP {status}{}", of_text(text))]
    Refused { at: At, status: u16, text: String },
    /// An error of the protocol: the tool, if there is one, did not run.
    #[error("{at} answered with the error {code}{}", of_text(message))]
    Protocol { at: At, code: i64, message: String, data: Option<Value> },
    /// An answer that the protocol does not allow.
    #[error("the answer of {at} cannot be used: {why}")]
    Invalid { at: At, why: String },
    #[error("the answer of {at} is too large: {over}")]
    TooLarge { at: At, over: Overrun },
    #[error("{at} supports no protocol revision that Toolwright supports ({PRESENT}, {}): it offers {}", EARLIER.join(", "), of_revisions(supported))]
    Revision { at: At, supported: Vec<String> },
    /// The tool asks back, which nobody here can answer.
    #[error("{at} requests more input (elicitation or sampling), which is not supported")]
    InputRequired { at: At },
    #[error("the call of {at} was cancelled")]
    Cancelled { at: At },
    /// The process of a server is not there, or not any more.
    #[error("the process of {at} is gone: {why}")]
    Gone { at: At, why: String, effect_possible: bool },
    /// This side has too much to do for the tenant.
    #[error("the answer of {at} was not read: {why}")]
    Busy { at: At, why: Overload },
}

/// Which limit an answer went over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    Tools(usize),
    Pages(usize),
    Bytes(usize),
}

impl Error {
    /// What was asked, and of whom.
    #[must_use]
    pub fn at(&self) -> &At {
        match self {
            Self::Denied { at, .. }
            | Self::Unauthorized { at, .. }
            | Self::SignIn { at, .. }
            | Self::Unanswered { at, .. }
            | Self::Late { at, .. }
            | Self::Refused { at, .. }
            | Self::Protocol { at, .. }
            | Self::Invalid { at, .. }
            | Self::TooLarge { at, .. }
            | Self::Revision { at, .. }
            | Self::InputRequired { at }
            | Self::Cancelled { at }
            | Self::Gone { at, .. }
            | Self::Busy { at, .. } => at,
        }
    }

    /// Whether the server may have read the request and acted on it.
    #[must_use]
    pub fn effect_possible(&self) -> bool {
        match self {
            Self::Denied { .. } | Self::Unauthorized { .. } | Self::SignIn { .. } | Self::Revision { .. } => {
                false
            }
            Self::Unanswered { error, .. } => error.effect_possible(),
            Self::Gone { effect_possible, .. } => *effect_possible,
            Self::Late { .. }
            | Self::Refused { .. }
            | Self::Protocol { .. }
            | Self::Invalid { .. }
            | Self::TooLarge { .. }
            | Self::InputRequired { .. }
            | Self::Cancelled { .. }
            | Self::Busy { .. } => true,
        }
    }

    /// Whether the same request may succeed in a moment, and cannot have done anything yet.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Unanswered { error, .. } => error.is_retryable() && !error.effect_possible(),
            _ => false,
        }
    }

    /// What it says about the server itself; `None` where it says nothing.
    #[must_use]
    pub fn is_well(&self) -> Option<bool> {
        match self {
            Self::Unanswered { error, .. } => match error {
                tw_egress::Error::BadUrl { .. }
                | tw_egress::Error::BadRequest { .. }
                | tw_egress::Error::Denied { .. }
                | tw_egress::Error::TooLarge { .. } => None,
                _ => Some(false),
            },
            Self::Late { .. } | Self::Gone { .. } => Some(false),
            Self::Refused { status, .. } => Some(*status < 500),
            Self::Unauthorized { .. }
            | Self::SignIn { .. }
            | Self::Protocol { .. }
            | Self::InputRequired { .. }
            | Self::Revision { .. } => Some(true),
            Self::Denied { .. }
            | Self::Invalid { .. }
            | Self::TooLarge { .. }
            | Self::Cancelled { .. }
            | Self::Busy { .. } => None,
        }
    }
}

impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Denied { .. } => Code::EgressDenied,
            Error::Unanswered { error, .. } => failure_of(error).code,
            Error::Late { .. } => Code::Timeout,
            Error::Cancelled { .. } => Code::Cancelled,
            Error::Busy { why, .. } => Self::from(*why).code,
            Error::Unauthorized { .. }
            | Error::SignIn { .. }
            | Error::Refused { .. }
            | Error::Gone { .. }
            | Error::Protocol { .. }
            | Error::Invalid { .. }
            | Error::TooLarge { .. }
            | Error::Revision { .. }
            | Error::InputRequired { .. } => Code::UpstreamError,
        };
        Self::with_code(code, error.to_string())
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the MCP server `{}` (`{}`)", self.site, self.method)
    }
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tools(max) => write!(f, "over {max} tools"),
            Self::Pages(max) => write!(f, "over {max} pages"),
            Self::Bytes(max) => write!(f, "over {max} bytes"),
        }
    }
}

fn of_text(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

fn of_challenge(challenge: Option<&str>) -> String {
    challenge.map_or_else(String::new, |challenge| format!(" ({challenge})"))
}

fn of_revisions(supported: &[String]) -> String {
    if supported.is_empty() { "none".to_owned() } else { supported.join(", ") }
}
