//! Arguments that a client repeats in headers, because the tool's schema asks for it by `x-mcp-header`.
//!
//! What stands between us and the client decides by the headers, the tool acts by the body: the two must agree.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::HeaderMap;
use serde_json::Value;
use tw_schema::{MirroredParam, mirrored_params};

use crate::rpc::{HEADER_MISMATCH, RpcFault};

const PREFIX: &str = "mcp-param-";

/// The headers of a request that repeat arguments, by their names in lower case. `None` stands for a header that is
/// given twice or is no plain text.
#[derive(Debug, Default)]
pub(crate) struct ParamHeaders(Vec<(String, Option<String>)>);

impl ParamHeaders {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let names = headers.keys().filter(|name| name.as_str().starts_with(PREFIX));
        let read = |name: &http::HeaderName| {
            let mut values = headers.get_all(name).iter();
            let value = values.next().filter(|_| values.next().is_none())?;
            value.to_str().ok().map(str::to_owned)
        };
        Self(names.map(|name| (name.as_str().to_owned(), read(name))).collect())
    }

    /// Holds the headers against the arguments, as far as the tool's schema names them.
    pub(crate) fn check(&self, schema: &Value, arguments: &str) -> Result<(), RpcFault> {
        let mirrored = mirrored_params(schema);
        if mirrored.is_empty() {
            return Ok(());
        }
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        for MirroredParam { header, path } in mirrored {
            let header = format!("{PREFIX}{}", header.to_ascii_lowercase());
            let sent = self.0.iter().find(|(name, _)| *name == header).map(|(_, value)| value.as_deref());
            let body = path.iter().try_fold(&arguments, |value, name| value.get(name));
            let agrees = match (sent, body.filter(|value| !value.is_null())) {
                (None, None) => true,
                (Some(Some(sent)), Some(body)) => decoded(sent).is_some_and(|sent| is_same(&sent, body)),
                _ => false,
            };
            if !agrees {
                let text =
                    format!("the header `{header}` must say what the argument `{}` says", path.join("."));
                return Err(RpcFault::bad_request(HEADER_MISMATCH, text));
            }
        }
        Ok(())
    }
}

/// The value of a header that a client may have packed because it is no plain ASCII; `None` for a package that cannot
/// be opened.
pub(crate) fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(packed) => String::from_utf8(BASE64_STANDARD.decode(packed).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

fn is_same(sent: &str, body: &Value) -> bool {
    match body {
        Value::String(text) => text == sent,
        Value::Bool(flag) => sent == if *flag { "true" } else { "false" },
        // `42.0` and `42` are the same number.
        Value::Number(number) => {
            number.to_string() == sent
                || sent.parse::<f64>().ok().is_some_and(|sent| number.as_f64() == Some(sent))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "count": { "type": "integer", "x-mcp-header": "Count" },
            "at": { "type": "object", "properties": { "dry": { "type": "boolean", "x-mcp-header": "Dry" } } },
        } })
    }

    #[test]
    fn header_must_say_what_the_body_says() {
        let body = json!({ "region": "us", "count": 42, "at": { "dry": true } });
        let good = [("mcp-param-region", "us"), ("mcp-param-count", "42.0"), ("mcp-param-dry", "true")];
        check(&body, &good, true);
        check(&body, &[("mcp-param-other", "x"), good[0], good[1], good[2]], true);
        check(&body, &[good[0], good[1]], false);
        check(&body, &[("mcp-param-region", "eu"), good[1], good[2]], false);
        check(&body, &[("mcp-param-region", "=?base64?dXM=?="), good[1], good[2]], true);
        check(&body, &[("mcp-param-region", "=?base64?%%?="), good[1], good[2]], false);
        check(&body, &[good[0], good[0], good[1], good[2]], false);
    }

    #[test]
    fn argument_that_is_not_given_needs_no_header_and_takes_none() {
        check(&json!({ "region": null }), &[], true);
        check(&json!({}), &[], true);
        check(&json!({}), &[("mcp-param-region", "us")], false);
        check(&json!({ "region": "grün" }), &[("mcp-param-region", "=?base64?Z3LDvG4=?=")], true);
    }

    #[track_caller]
    fn check(body: &Value, headers: &[(&'static str, &'static str)], agrees: bool) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let checked = ParamHeaders::of(&map).check(&schema(), &body.to_string());
        assert_eq!(checked.is_ok(), agrees, "{body} {headers:?}");
    }
}
