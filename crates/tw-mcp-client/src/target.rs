//! Where a server is, and what is sent to it.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};
use toolwright_sdk::{BoxFuture, Redactor, Secret};
use tw_egress::{Error as EgressError, Request};
use tw_model::{TenantId, secret_texts};
use zeroize::Zeroizing;

use crate::McpProcess;

/// A server as one tenant calls it. Printed, it shows no path, no query and no value of a header.
#[derive(Clone)]
pub struct McpTarget {
    /// Whose server it is: its connections, its session and its lane are of this tenant alone.
    pub tenant: TenantId,
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// The credentials that stand in the headers. They leave only for the hosts that they are for, and are taken out of
    /// whatever comes back.
    pub secrets: Vec<Secret>,
    /// The token that the server gave to somebody who signed in.
    pub bearer: Option<Bearer>,
    /// The process that is the server, where it is none behind HTTP.
    pub process: Option<Arc<McpProcess>>,
}

/// A token for one server, sent as `Authorization: Bearer`.
#[derive(Clone)]
pub struct Bearer {
    /// Names the sign-in that it came of. GivenTokens of one sign-in share a session with the server.
    pub grant: String,
    pub token: Zeroizing<String>,
    pub renewal: Arc<dyn Renewal>,
}

/// Gives another token in the place of one that a server did not take.
pub trait Renewal: fmt::Debug + Send + Sync {
    fn renewed<'a>(&'a self, refused: &'a str) -> BoxFuture<'a, Result<Zeroizing<String>, NoToken>>;
}

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoToken {
    /// Somebody has to sign in again.
    Over(String),
    /// It may be there in a moment.
    Late(String),
}

impl NoToken {
    #[must_use]
    pub fn why(&self) -> &str {
        let (Self::Over(why) | Self::Late(why)) = self;
        why
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bearer").field("grant", &self.grant).finish_non_exhaustive()
    }
}

/// What the protocol itself says by headers.
const OURS: &[&str] = &[
    "accept",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
];
const PARAMETER: &str = "mcp-param-";

impl McpTarget {
    /// A server that is sent no headers of its own.
    #[must_use]
    pub fn new(tenant: TenantId, url: impl Into<String>) -> Self {
        Self {
            tenant,
            url: url.into(),
            headers: Vec::new(),
            secrets: Vec::new(),
            bearer: None,
            process: None,
        }
    }

    /// A server that is a process of the operator's.
    #[must_use]
    pub fn of_process(tenant: TenantId, url: impl Into<String>, process: Arc<McpProcess>) -> Self {
        let secrets = process.command().as_secrets();
        Self { secrets, process: Some(process), ..Self::new(tenant, url) }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Zeroizing::new(value.into())));
        self
    }

    /// Refuses a header that could not be sent, or that the protocol says something else by; such as when a tool is
    /// saved.
    pub fn check_header(name: &str, value: &str) -> Result<(), EgressError> {
        let lower = name.to_ascii_lowercase();
        if OURS.contains(&lower.as_str()) || lower.starts_with(PARAMETER) {
            let why = format!("the header `{lower}` must be left out: it belongs to the protocol");
            return Err(EgressError::BadRequest { why });
        }
        Request::check_header(name, value)
    }

    /// Finds everything in an answer that only this side may know.
    pub(crate) fn redactor(&self) -> Redactor {
        let header = |(name, value): &(String, Zeroizing<String>)| {
            (name.clone(), Value::String(value.as_str().to_owned()))
        };
        let headers: Map<String, Value> = self.headers.iter().map(header).collect();
        let written = secret_texts(&serde_json::json!({ "headers": headers }));
        let opened = self.secrets.iter().map(|secret| secret.value.as_str());
        let token = self.bearer.iter().map(|bearer| bearer.token.as_str());
        Redactor::new(opened.chain(written.iter().map(String::as_str)).chain(token))
    }
}

impl fmt::Debug for McpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("McpTarget")
            .field("tenant", &self.tenant)
            .field("site", &tw_egress::Site::in_text(&self.url))
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}
