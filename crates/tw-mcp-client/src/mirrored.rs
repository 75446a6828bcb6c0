//! Headers that say what the body says, for what stands between us and the server.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};
use tw_schema::MirroredParam;

const PACKED: (&str, &str) = ("=?base64?", "?=");

/// A text as the value of a header: packed where a header could not carry it as it stands.
pub(crate) fn header_value(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let has_edges = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let looks_packed = text.starts_with(PACKED.0) && text.ends_with(PACKED.1);
    if is_plain && !has_edges && !looks_packed {
        return text.to_owned();
    }
    format!("{}{}{}", PACKED.0, BASE64_STANDARD.encode(text), PACKED.1)
}

/// The headers for the arguments that a tool's schema asks to be repeated.
pub(crate) fn headers(params: &[MirroredParam], arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let header = |param: &MirroredParam| {
        let (first, rest) = param.path.split_first()?;
        let value = rest.iter().try_fold(arguments.get(first)?, |value, name| value.get(name))?;
        let text = match value {
            Value::String(text) => header_value(text),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return None,
        };
        Some((format!("mcp-param-{}", param.header.to_ascii_lowercase()), text))
    };
    params.iter().filter_map(header).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_header_cannot_carry_is_packed() {
        for (text, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(header_value(text), header);
        }
    }

    #[test]
    fn argument_that_is_not_given_has_no_header() {
        let param = |header: &str, path: &[&str]| MirroredParam {
            header: header.to_owned(),
            path: path.iter().map(|name| (*name).to_owned()).collect(),
        };
        let params = [param("Region", &["region"]), param("Dry", &["at", "dry"]), param("Count", &["count"])];
        let arguments = json!({ "region": null, "at": { "dry": true }, "count": 42 });
        let headers = headers(&params, arguments.as_object().unwrap());
        let expected = [("mcp-param-dry", "true"), ("mcp-param-count", "42")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
