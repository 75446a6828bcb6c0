//! JSON-RPC 2.0, as far as MCP over HTTP uses it.

use std::{convert::Infallible, fmt};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::stream;
use http::{StatusCode, header};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value, json, value::RawValue};
use tw_model::Slug;

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;
pub(crate) const HEADER_MISMATCH: i32 = -32020;
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
/// Of the range that is left to servers.
pub(crate) const UNAUTHENTICATED: i32 = -32001;
pub(crate) const OVER_LIMIT: i32 = -32002;

/// A request or a notification.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// Given back as it came; absent in a notification.
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: String,
    pub(crate) params: RpcParams<'a>,
}

impl<'a> Message<'a> {
    /// Reads what is known to be JSON. A fault comes with the id it is answered under, where that is one.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, (RpcFault, Option<&'a RawValue>)> {
        let invalid = |text: &str| RpcFault::bad_request(INVALID_REQUEST, text);
        let Ok(members) = serde_json::from_slice::<Members<'_>>(bytes) else {
            return Err((invalid("a request must be an object"), None));
        };
        let id = members.id.filter(|id| is_id(id));
        let fail = |text: &str| Err((invalid(text), id));
        if id.is_none() && members.id.is_some() {
            return fail("`id` must be a text or a number");
        }
        if let Some(name) = &members.unknown {
            return fail(&format!(
                "`{name}` is unknown: a request must have no other members than jsonrpc, id, method and params"
            ));
        }
        if text(members.jsonrpc).as_deref() != Some("2.0") {
            return fail("`jsonrpc` must be \"2.0\"");
        }
        let Some(method) = text(members.method) else { return fail("`method` must be a text") };
        match members.params.map_or(Ok(RpcParams::default()), |params| serde_json::from_str(params.get())) {
            Ok(params) => Ok(Self { id, method, params }),
            Err(_) => fail("`params` must be an object"),
        }
    }
}

impl Message<'_> {
    /// The name of the tool that is to be called, for the log: no longer than one can be.
    pub(crate) fn shown_name(&self) -> String {
        let name = self.params.get("name").and_then(Value::as_str).unwrap_or_default();
        name.chars().take(Slug::LEN_MAX + 1).collect()
    }
}

fn is_id(id: &RawValue) -> bool {
    id.get().starts_with(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}

fn text(value: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(value?.get()).ok()
}

/// The members of a message as they came.
#[derive(Debug, Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    /// The first of those that are no part of a message.
    unknown: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message as an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some(key) = map.next_key::<String>()? {
                    let value = Some(map.next_value()?);
                    match key.as_str() {
                        "jsonrpc" => members.jsonrpc = value,
                        "id" => members.id = value,
                        "method" => members.method = value,
                        "params" => members.params = value,
                        _ => members.unknown = members.unknown.or(Some(key)),
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Each)
    }
}

/// The members of `params`. The arguments of a call stay as they came: they may be large, and the engine
/// reads them itself.
#[derive(Debug, Default)]
pub(crate) struct RpcParams<'a> {
    pub(crate) arguments: Option<&'a RawValue>,
    others: Map<String, Value>,
}

impl RpcParams<'_> {
    /// A member other than the arguments.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.others.get(name)
    }

    /// Refuses members whose name is a known one in another case: who reads strictly and who does not would
    /// see two different requests.
    pub(crate) fn check_case(&self, known: &[&str]) -> Result<(), RpcFault> {
        for key in self.others.keys() {
            if let Some(meant) = known.iter().find(|known| known.eq_ignore_ascii_case(key) && *known != key) {
                return Err(RpcFault::new(INVALID_PARAMS, format!("`{key}` must be written `{meant}`")));
            }
        }
        Ok(())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RpcParams<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = RpcParams<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`params` as an object")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(RpcParams::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut params = RpcParams::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "arguments" {
                        params.arguments = Some(map.next_value()?);
                    } else {
                        params.others.insert(key, map.next_value()?);
                    }
                }
                Ok(params)
            }
        }

        deserializer.deserialize_any(Members)
    }
}

/// A fault of the protocol, not of a tool.
#[derive(Debug)]
pub(crate) struct RpcFault {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// In the present era some faults have a status of their own.
    pub(crate) status: StatusCode,
}

impl RpcFault {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status: StatusCode::OK }
    }

    /// One that a proxy should see too.
    pub(crate) fn bad_request(code: i32, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, ..Self::new(code, message) }
    }

    pub(crate) fn answer(self, id: Option<&RawValue>) -> Response {
        let Self { code, message, data, status } = self;
        let mut error = json!({ "code": code, "message": message });
        if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
            error.insert("data".to_owned(), data);
        }
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.map_or("null", RawValue::get));
        respond(status, body.into())
    }
}

/// A result that is written already.
pub(crate) fn result(id: &RawValue, result: &str) -> Bytes {
    let id = id.get();
    let mut body = String::with_capacity(result.len() + id.len() + 40);
    body.push_str(r#"{"jsonrpc":"2.0","id":"#);
    body.push_str(id);
    body.push_str(r#","result":"#);
    body.push_str(result);
    body.push('}');
    body.into()
}

/// A result that is kept ready: sent from where it is kept, and not copied, because it may be large.
pub(crate) fn respond_kept(id: &RawValue, result: Bytes) -> Response {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{},"result":"#, id.get());
    let pieces = [head.into(), result, Bytes::from_static(b"}")];
    let length: usize = pieces.iter().map(Bytes::len).sum();
    let headers =
        [(header::CONTENT_TYPE, "application/json".to_owned()), (header::CONTENT_LENGTH, length.to_string())];
    (headers, Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)))).into_response()
}

pub(crate) fn respond(status: StatusCode, body: Bytes) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
