//! What an output holds beside its data: pictures, sound and resources, as MCP writes them.

use serde_json::{Map, Value};

/// The member of an output that has them, all blocks of the result in their order.
pub const MCP_CONTENT: &str = "mcp_content";

/// The data of an output with blocks beside it. Data that is no object, or has such a member already, has no place for
/// them.
#[must_use]
pub fn with_content(data: &Value, blocks: &[Value]) -> Option<Value> {
    let mut members = data.as_object().filter(|members| !members.contains_key(MCP_CONTENT))?.clone();
    members.insert(MCP_CONTENT.to_owned(), Value::Array(blocks.to_vec()));
    Some(Value::Object(members))
}

/// An output parted into its data and its blocks; `None` for one without blocks, or with something else in their place.
#[must_use]
pub fn parted(output: &Value) -> Option<(Map<String, Value>, Vec<Value>)> {
    let blocks = output.get(MCP_CONTENT)?.as_array().filter(|blocks| !blocks.is_empty())?;
    if !blocks.iter().all(is_block) {
        return None;
    }
    let mut data = output.as_object()?.clone();
    data.shift_remove(MCP_CONTENT);
    Some((data, blocks.clone()))
}

/// Whether a value is a block that every client knows.
fn is_block(block: &Value) -> bool {
    let has = |names: &[&str]| names.iter().all(|name| block[*name].is_string());
    match block["type"].as_str() {
        Some("text") => has(&["text"]),
        Some("image" | "audio") => has(&["data", "mimeType"]),
        Some("resource_link") => has(&["uri", "name"]),
        Some("resource") => block["resource"]["uri"].is_string(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_put_beside_data_and_found_again() {
        let blocks = [
            json!({ "type": "text", "text": "a" }),
            json!({ "type": "image", "data": "", "mimeType": "image/png" }),
        ];
        let output = with_content(&json!({ "n": 1 }), &blocks).unwrap();
        let (data, found) = parted(&output).unwrap();
        assert_eq!((Value::Object(data), found), (json!({ "n": 1 }), blocks.to_vec()));
        assert_eq!(with_content(&json!([1]), &blocks), None);
        assert_eq!(with_content(&output, &blocks), None);
    }

    #[test]
    fn what_is_no_block_is_data() {
        for content in
            [json!([]), json!("x"), json!([{ "type": "image" }]), json!([{ "type": "poem" }]), json!([7])]
        {
            assert_eq!(parted(&json!({ MCP_CONTENT: content })), None);
        }
        assert_eq!(parted(&json!({ "a": 1 })), None);
    }
}
