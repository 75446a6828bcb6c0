//! JSON-RPC 2.0, as far as a client of MCP uses it.

use serde_json::{Map, Value, json};

/// A request under way.
#[derive(Debug)]
pub(crate) struct RpcRequest {
    pub(crate) method: &'static str,
    pub(crate) id: u64,
    pub(crate) params: Map<String, Value>,
}

impl RpcRequest {
    pub(crate) fn body(&self) -> String {
        json!({ "jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params }).to_string()
    }
}

pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// An answer to a request of the server.
pub(crate) fn answer(id: &Value, answer: &Result<Value, (i64, &str)>) -> String {
    match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    }
    .to_string()
}

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

/// What a message is to whoever waits for the answer to one request.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Result(Map<String, Value>),
    Fault(RpcError),
    /// A request of the server's own.
    Asks {
        id: Value,
        method: String,
    },
    Tells {
        method: String,
        params: Value,
    },
    /// The answer to something else, or nothing that the protocol knows.
    Other(&'static str),
}

impl Incoming {
    /// Sorts a message. An error without an id is about the one request that was sent.
    pub(crate) fn read(message: Value, id: u64) -> Self {
        let Value::Object(mut message) = message else { return Self::Other("a message must be an object") };
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Self::Other("`jsonrpc` must be \"2.0\"");
        }
        if let Some(method) = message.get("method") {
            let Some(method) = method.as_str().map(str::to_owned) else {
                return Self::Other("`method` must be a text");
            };
            return match message.remove("id").filter(|id| !id.is_null()) {
                Some(id) => Self::Asks { id, method },
                None => Self::Tells { method, params: message.remove("params").unwrap_or_default() },
            };
        }
        let answered = message.get("id").filter(|id| !id.is_null());
        let is_ours = answered.is_some_and(|answered| answered.as_u64() == Some(id));
        if let Some(error) = message.get("error") {
            if !is_ours && answered.is_some() {
                return Self::Other("it answers another request");
            }
            let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
            return match error.get("code").and_then(Value::as_i64) {
                Some(code) => {
                    let data = error.get("data").filter(|data| !data.is_null()).cloned();
                    Self::Fault(RpcError { code, message: text.to_owned(), data })
                }
                None => Self::Other("`error` must have a `code` that is a whole number"),
            };
        }
        match message.remove("result") {
            Some(_) if !is_ours => Self::Other("it answers another request"),
            Some(Value::Object(result)) => Self::Result(result),
            Some(_) => Self::Other("`result` must be an object"),
            None => Self::Other("a message must have a `method`, a `result` or an `error`"),
        }
    }
}

/// What a server says, cut to what an error shows.
pub(crate) fn text_of(text: &str) -> String {
    const SHOWN_CHARS: usize = 500;
    let shown = text.trim().chars().filter(|c| !c.is_control() || *c == '\n');
    shown.take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_known_by_its_id() {
        let read = |message: Value| Incoming::read(message, 7);
        let result = json!({ "jsonrpc": "2.0", "id": 7, "result": { "a": 1 } });
        assert!(matches!(read(result), Incoming::Result(result) if result["a"] == 1));
        for id in [json!(8), json!("7"), Value::Null] {
            let other = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            assert_eq!(read(other), Incoming::Other("it answers another request"));
        }
        let error = json!({ "code": -32600, "message": "no" });
        let of = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "error": error });
        assert!(matches!(read(of(json!(7))), Incoming::Fault(fault) if fault.code == -32600));
        assert!(matches!(read(of(Value::Null)), Incoming::Fault(_)), "it could not read the id");
        assert_eq!(read(of(json!(8))), Incoming::Other("it answers another request"));
    }

    #[test]
    fn what_is_no_answer_is_told_apart() {
        let read = |message: Value| Incoming::read(message, 7);
        let asks = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
        assert_eq!(read(asks), Incoming::Asks { id: json!(7), method: "ping".to_owned() });
        let tells =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progress": 1 } });
        assert!(matches!(read(tells), Incoming::Tells { params, .. } if params["progress"] == 1));
        for strange in
            [json!([]), json!({}), json!({ "jsonrpc": "2.0", "id": 7 }), json!({ "id": 7, "result": {} })]
        {
            assert!(matches!(read(strange), Incoming::Other(_)));
        }
    }
}
