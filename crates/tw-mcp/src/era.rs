//! Which revision of the protocol a request speaks, and what that asks of it.

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::{
    mirrored,
    rpc::{
        HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, RpcFault,
        UNSUPPORTED_VERSION,
    },
};

/// The present revision: no handshake, every request says who it is.
pub(crate) const PRESENT: &str = "2026-07-28";
/// Earlier ones, newest first. They open with `initialize`.
pub(crate) const EARLIER: [&str; 3] = ["2025-11-25", "2025-06-18", WITH_BATCHES];
const WITH_BATCHES: &str = "2025-03-26";

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Present,
    Earlier,
}

impl Era {
    /// The era of a request whose headers and body agree.
    pub(crate) fn of(message: &Message<'_>, headers: &HeaderMap) -> Result<Self, RpcFault> {
        let header = one(headers, "mcp-protocol-version")?;
        let meta = message.params.get("_meta").unwrap_or(&Value::Null);
        let named = meta.get(VERSION).and_then(Value::as_str);
        let is_present = named.is_some()
            || message.method == "server/discover"
            || header.is_some_and(|header| PRESENT <= header);
        if is_present && message.method == "initialize" {
            return Err(no_handshake());
        }
        if !is_present {
            return match header {
                Some(version) if version != PRESENT && !known_before(version) => Err(unsupported(version)),
                _ => Ok(Self::Earlier),
            };
        }
        check_meta(message, meta)?;
        let named = named.unwrap_or_default();
        match header {
            None => {
                return Err(RpcFault::bad_request(
                    HEADER_MISMATCH,
                    "the header `MCP-Protocol-Version` is missing",
                ));
            }
            Some(header) if header != named => {
                let message = format!(
                    "`MCP-Protocol-Version` must match `_meta`: it is {header}, and `_meta` has {named}"
                );
                return Err(RpcFault::bad_request(HEADER_MISMATCH, message));
            }
            Some(_) => {}
        }
        if named != PRESENT {
            return Err(unsupported(named));
        }
        check_routing(message, headers)?;
        Ok(Self::Present)
    }
}

/// Several messages in one array were part of one revision only. It knew no header yet, so whoever sends
/// none is taken to speak it.
pub(crate) fn takes_batches(headers: &HeaderMap) -> Result<(), RpcFault> {
    match one(headers, "mcp-protocol-version")? {
        None | Some(WITH_BATCHES) => Ok(()),
        Some(version) => {
            let text = format!("revision {version} has no batches: send one request at a time");
            Err(RpcFault::bad_request(INVALID_REQUEST, text))
        }
    }
}

fn known_before(version: &str) -> bool {
    // One revision before ours said nothing about the header yet.
    EARLIER.contains(&version) || version == "2024-11-05"
}

/// The present revision opens with no handshake; which revisions do is told.
fn no_handshake() -> RpcFault {
    let text = format!("revision {PRESENT} has no method initialize: send it as {}", EARLIER[0]);
    let data = Some(json!({ "supported": supported() }));
    RpcFault { status: StatusCode::NOT_FOUND, data, ..RpcFault::new(METHOD_NOT_FOUND, text) }
}

/// Every revision that is spoken here, newest first.
pub(crate) fn supported() -> Vec<&'static str> {
    std::iter::once(PRESENT).chain(EARLIER).collect()
}

fn unsupported(version: &str) -> RpcFault {
    RpcFault {
        data: Some(json!({ "supported": supported(), "requested": version })),
        ..RpcFault::bad_request(UNSUPPORTED_VERSION, format!("protocol version {version} is not supported"))
    }
}

fn check_meta(message: &Message<'_>, meta: &Value) -> Result<(), RpcFault> {
    let is_told = |key: &&str| match (*key, meta.get(*key)) {
        (VERSION, said) => said.is_some_and(Value::is_string),
        // Who the client is may be left out.
        (CLIENT_INFO, said) => said.is_none_or(Value::is_object),
        (_, said) => said.is_some_and(Value::is_object),
    };
    let missing: Vec<&str> =
        [VERSION, CLIENT_INFO, CAPABILITIES].into_iter().filter(|key| !is_told(key)).collect();
    if missing.is_empty() || message.id.is_none() {
        return Ok(());
    }
    let text = format!("`_meta` must have these members, with the right type: {}", missing.join(", "));
    Err(RpcFault::bad_request(INVALID_PARAMS, text))
}

/// What stands between us and the client routes by headers, so they have to say what the body says.
fn check_routing(message: &Message<'_>, headers: &HeaderMap) -> Result<(), RpcFault> {
    let mismatch = |name: &str, header: Option<&str>, body: &str| {
        let text = match header {
            Some(header) => {
                format!("the header `{name}` must match the body: it is {header}, and the body has {body}")
            }
            None => format!("the header `{name}` is missing"),
        };
        RpcFault::bad_request(HEADER_MISMATCH, text)
    };
    let method = one(headers, "mcp-method")?;
    if method != Some(message.method.as_str()) {
        return Err(mismatch("Mcp-Method", method, &message.method));
    }
    if message.method == "tools/call" {
        let name = message.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let header = one(headers, "mcp-name")?;
        if header.and_then(mirrored::decoded).as_deref() != Some(name) {
            return Err(mismatch("Mcp-Name", header, name));
        }
    }
    Ok(())
}

fn one<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, RpcFault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    text.map(Some).ok_or_else(|| RpcFault {
        status: StatusCode::BAD_REQUEST,
        ..RpcFault::new(HEADER_MISMATCH, format!("the header `{name}` must be given once and as plain text"))
    })
}
