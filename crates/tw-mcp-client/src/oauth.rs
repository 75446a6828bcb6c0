//! Signing in to servers that ask for it: OAuth 2.1, as the protocol profiles it.
//!
//! A server says by its 401 who lets people in (RFC 9728), that one says where and how (RFC 8414, or OpenID Connect
//! Discovery), and everything that either of them names is a stranger's word: an address is called through the guard of
//! the tenant, by TLS unless an operator listed it, and the issuer must be who it was taken for. No text of an answer is
//! passed on but the code of an error and its description, and from an answer with tokens nothing at all.
//!
//! `discovery.rs` finds out who lets people in, `tokens.rs` asks for tokens.

mod challenge;
mod discovery;
mod tokens;

use serde::{Deserialize, Serialize};
use tw_egress::{Egress, Error as EgressError};
use url::{Host, Url};
use zeroize::Zeroizing;

pub use discovery::discover;
pub use tokens::{SignInRequest, code_challenge, exchange, refresh, register};

/// Who lets people in to a server, and for what.
#[derive(Clone, Debug)]
pub struct Discovered {
    pub server: AuthorizationServer,
    /// What tokens are for.
    pub resource: String,
    /// What is asked for; `None` leaves it to the authorization server.
    pub scope: Option<String>,
}

/// An authorization server, as its metadata describe it.
#[derive(Clone, Debug)]
pub struct AuthorizationServer {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub registration_endpoint: Option<String>,
    /// Whether its answers say who they are from (RFC 9207).
    pub names_itself: bool,
    /// Whether a client may be known by the address of a document about it.
    pub takes_documents: bool,
    /// The ways in which it lets clients show their secret; empty where it does not say.
    pub(crate) ways: Vec<String>,
}

/// Who this client is to an authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub struct OAuthClient {
    pub id: String,
    pub secret: Option<Zeroizing<String>>,
    pub way: ClientWay,
}

/// How a client shows its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientWay {
    None,
    Basic,
    Post,
}

/// What an authorization server gave.
pub struct GivenTokens {
    pub access: Zeroizing<String>,
    pub refresh: Option<Zeroizing<String>>,
    /// For how many seconds it holds.
    pub lasts_s: Option<u64>,
    pub scope: Option<String>,
}

/// Why nobody could be signed in, or no token was given.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The server neither asks who calls nor says who lets people in.
    #[error("the server does not ask to sign in")]
    NotAsked,
    #[error("{what}: {error}")]
    Unanswered { what: &'static str, error: EgressError },
    /// What came cannot be used, or not safely.
    #[error("{what}: {why}")]
    Unfit { what: &'static str, why: String },
    /// The authorization server says no, in the words of the protocol.
    #[error("{what} was refused: {code}{}", description.as_ref().map_or_else(String::new, |text| format!(" ({text})")))]
    Refused { what: &'static str, code: String, description: Option<String> },
}

impl OAuthError {
    /// Whether an address may not be called.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Unanswered { error: EgressError::Denied { .. }, .. })
    }

    /// Whether the same request would be refused again.
    #[must_use]
    pub fn is_final(&self) -> bool {
        const PASSING: [&str; 3] = ["temporarily_unavailable", "slow_down", "server_error"];
        matches!(self, Self::Refused { code, .. } if !PASSING.contains(&code.as_str()))
    }

    fn unfit(what: &'static str, why: impl Into<String>) -> Self {
        Self::Unfit { what, why: why.into() }
    }
}

impl AuthorizationServer {
    /// How a client with a secret shows it here.
    pub fn way(&self, has_secret: bool) -> Result<ClientWay, OAuthError> {
        let takes = |way: &str| self.ways.iter().any(|each| each == way);
        match has_secret {
            false => Ok(ClientWay::None),
            true if self.ways.is_empty() || takes("client_secret_basic") => Ok(ClientWay::Basic),
            true if takes("client_secret_post") => Ok(ClientWay::Post),
            true => {
                let why = "it takes a client's secret in no way that is known here";
                Err(OAuthError::unfit("the authorization server", why))
            }
        }
    }
}

impl std::fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuthClient").field("id", &self.id).field("way", &self.way).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for GivenTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GivenTokens").field("lasts_s", &self.lasts_s).finish_non_exhaustive()
    }
}

/// Reads an address that a stranger named. It must have TLS, but for what an operator listed in `egress.allow`; and this
/// machine or a private network can be reached in no other way.
fn read_url(egress: &Egress, what: &'static str, text: &str) -> Result<Url, OAuthError> {
    const BYTES_MAX: usize = 2_048;
    if BYTES_MAX < text.len() {
        return Err(OAuthError::unfit(what, "its address is too long"));
    }
    let url = Url::parse(text).map_err(|_| OAuthError::unfit(what, "its address is no URL"))?;
    match url.scheme() {
        "https" => {}
        "http" if egress.lists(text) => {}
        // Refused for where it leads, where that is the greater fault.
        "http" => {
            egress.check(text).map_err(|error| OAuthError::Unanswered { what, error })?;
            return Err(OAuthError::unfit(what, "its address must begin with `https://`"));
        }
        _ => return Err(OAuthError::unfit(what, "its address must begin with `https://`")),
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err(OAuthError::unfit(what, "its address must have no user name and no fragment"));
    }
    egress.check(text).map_err(|error| OAuthError::Unanswered { what, error })?;
    Ok(url)
}

/// Whether somebody at this machine is meant.
#[must_use]
pub fn is_loopback(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    })
}

/// A text of the other side that may be shown.
fn shown(text: &str, chars: usize) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(chars).collect()
}
