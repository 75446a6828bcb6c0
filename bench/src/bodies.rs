//! What is sent.

use serde_json::{Value, json};

/// The revision of MCP that is spoken: the one without a handshake.
pub const MCP_VERSION: &str = "2026-07-28";
/// The newest one with a handshake.
pub const MCP_EARLIER: &str = "2025-11-25";

/// The body of a run over REST.
#[must_use]
pub fn run(input: &Value) -> Vec<u8> {
    json!({ "input": input }).to_string().into_bytes()
}

/// The body of a call over MCP.
#[must_use]
pub fn tools_call(tool: &str, input: &Value) -> Vec<u8> {
    mcp("tools/call", json!({ "name": tool, "arguments": input }))
}

/// The body of a call in a revision with a handshake.
#[must_use]
pub fn tools_call_earlier(tool: &str, input: &Value) -> Vec<u8> {
    let params = json!({ "name": tool, "arguments": input });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string().into_bytes()
}

/// The body that asks for the list of tools over MCP.
#[must_use]
pub fn tools_list() -> Vec<u8> {
    mcp("tools/list", json!({}))
}

fn mcp(method: &str, mut params: Value) -> Vec<u8> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
        "io.modelcontextprotocol/clientInfo": { "name": "tw-bench", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string().into_bytes()
}

/// The input of a call of `add`.
#[must_use]
pub fn add() -> Value {
    json!({ "a": 1.5, "b": 2.25 })
}

/// The input of a call of `order`: 2 KB.
#[must_use]
pub fn order() -> Value {
    let address = |number: u32| json!({ "street": format!("{number} Harbour View Road"), "city": "Hamburg", "postcode": "20457", "country": "DE" });
    let line = |number: u32| {
        json!({
            "sku": format!("SKU-{number:06}"),
            "title": format!("Adjustable shelf bracket, size {number}, brushed steel with four screws"),
            "quantity": number + 1,
            "unit_price": 12.5 + f64::from(number),
            "tags": ["hardware", "steel", "shelf"],
        })
    };
    let lines: Vec<Value> = (0..9).map(line).collect();
    json!({
        "number": "AB-123456",
        "customer": {
            "name": "Ada Lovelace", "email": "ada@example.com", "billing": address(17), "shipping": address(4),
        },
        "lines": lines,
        "payment": { "method": "card", "last_four": "4242", "holder": "Ada Lovelace" },
        "note": "Please leave the parcel with the neighbours on the ground floor if nobody is at home.",
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn order_has_two_kilobytes() {
        let length = super::order().to_string().len();
        assert!((1900..2200).contains(&length), "{length}");
    }
}
