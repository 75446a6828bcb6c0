//! Which revision of the protocol a server speaks.

use serde_json::{Map, Value, json};

use crate::rpc::{RpcError, text_of};

/// The present revision: no handshake, every request says who it is.
pub const PRESENT: &str = "2026-07-28";
/// Earlier ones, newest first. They open with `initialize`.
pub const EARLIER: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// How many revisions of a server's list are told.
const TOLD_MAX: usize = 8;

/// How requests to a server are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerManner {
    /// In the present revision.
    Stateless,
    /// In an earlier one, behind a handshake.
    Session { revision: &'static str, id: Option<String> },
    /// In none: a server that knows neither gets calls of tools as plain JSON-RPC.
    Bare,
}

impl ServerManner {
    pub(crate) fn revision(&self) -> Option<&'static str> {
        match self {
            Self::Stateless => Some(PRESENT),
            Self::Session { revision, .. } => Some(revision),
            Self::Bare => None,
        }
    }

    pub(crate) fn is_stateless(&self) -> bool {
        *self == Self::Stateless
    }

    pub(crate) fn session(&self) -> Option<&str> {
        match self {
            Self::Stateless | Self::Bare => None,
            Self::Session { id, .. } => id.as_deref(),
        }
    }

    /// Whether requests open nothing that could end, so that learning the same again tells nothing new.
    pub(crate) fn is_sessionless(&self) -> bool {
        matches!(self, Self::Stateless | Self::Bare)
    }
}

/// Who this client is.
pub(crate) fn client_info() -> Value {
    json!({ "name": "toolwright", "title": "Toolwright", "version": env!("CARGO_PKG_VERSION") })
}

/// What every request of the present revision says about itself.
pub(crate) fn request_meta() -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert(VERSION.to_owned(), json!(PRESENT));
    meta.insert(CLIENT_INFO.to_owned(), client_info());
    meta.insert(CAPABILITIES.to_owned(), json!({}));
    meta
}

/// The earlier revision of this name.
pub(crate) fn earlier(name: &str) -> Option<&'static str> {
    EARLIER.into_iter().find(|revision| *revision == name)
}

/// Whether an error is one that only servers of the present revision and later ones give.
pub(crate) fn is_of_present(fault: &RpcError) -> bool {
    matches!(fault.code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)
}

/// Whether headers of a request did not say what its body says.
pub(crate) fn is_header_mismatch(fault: &RpcError) -> bool {
    fault.code == HEADER_MISMATCH
}

/// The revisions that a server names where it does not speak the one it was asked in.
pub(crate) fn supported_by(fault: &RpcError) -> Vec<String> {
    revisions(fault.data.as_ref().and_then(|data| data.get("supported")))
}

/// The revisions of a list that a server sent. Only what looks like one is told.
pub(crate) fn revisions(listed: Option<&Value>) -> Vec<String> {
    let named = listed.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let named = named.filter(|name| name.len() <= 32 && name.chars().all(|c| c.is_ascii_graphic()));
    named.take(TOLD_MAX).map(text_of).collect()
}

/// What of it is spoken here: the present revision, or else the newest earlier one.
pub(crate) fn best(supported: &[String]) -> Option<&'static str> {
    std::iter::once(PRESENT).chain(EARLIER).find(|revision| supported.iter().any(|name| name == revision))
}
