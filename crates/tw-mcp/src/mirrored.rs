//! Arguments that a client repeats in headers, because the tool's schema asks for it by `x-mcp-header`.
//!
//! What stands between us and the client decides by the headers, the tool acts by the body: the two must agree.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::HeaderMap;
use serde_json::{Map, Value};

use crate::rpc::{HEADER_MISMATCH, RpcFault};

const ANNOTATION: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";

/// An argument that is repeated in a header.
#[derive(Debug, PartialEq, Eq)]
struct Mirrored {
    /// The header, in lower case.
    header: String,
    /// The names that lead to the argument.
    path: Vec<String>,
}

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
        let mirrored = annotated(schema);
        if mirrored.is_empty() {
            return Ok(());
        }
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        for Mirrored { header, path } in mirrored {
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

/// The annotations that clients follow: below `properties` alone, on a text, a whole number or a flag, with a name that
/// a header can have and no other has.
fn annotated(schema: &Value) -> Vec<Mirrored> {
    let mut found = Vec::new();
    find(schema, &mut Vec::new(), &mut found);
    let headers: Vec<String> = found.iter().map(|mirrored| mirrored.header.clone()).collect();
    found.retain(|mirrored| headers.iter().filter(|header| **header == mirrored.header).count() == 1);
    found
}

fn find(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirrored>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = annotation(property) {
            found.push(Mirrored {
                header: format!("{PREFIX}{}", header.to_ascii_lowercase()),
                path: path.clone(),
            });
        }
        find(property, path, found);
        path.pop();
    }
}

fn annotation(property: &Value) -> Option<&str> {
    let is_plain = matches!(property["type"].as_str(), Some("string" | "integer" | "boolean"));
    let is_token = |name: &&str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
    };
    property.get(ANNOTATION)?.as_str().filter(|_| is_plain).filter(is_token)
}

/// Takes out the annotations that no client can follow: a client must leave out a tool that has one.
pub(crate) fn without_unfit(schema: &mut Value) {
    let kept: Vec<Vec<String>> = annotated(schema).into_iter().map(|mirrored| mirrored.path).collect();
    let kept: Vec<String> = kept
        .iter()
        .map(|path| path.iter().map(|name| format!("/properties/{}", escaped(name))).collect())
        .collect();
    remove(schema, "", &kept);
}

fn remove(value: &mut Value, place: &str, kept: &[String]) {
    match value {
        Value::Object(members) => remove_in(members, place, kept),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                remove(item, &format!("{place}/{index}"), kept);
            }
        }
        _ => {}
    }
}

fn remove_in(members: &mut Map<String, Value>, place: &str, kept: &[String]) {
    // A property may itself be called so; it is an object or a flag.
    if members.get(ANNOTATION).is_some_and(|said| !said.is_object() && !said.is_boolean())
        && !kept.iter().any(|kept| kept == place)
    {
        members.shift_remove(ANNOTATION);
    }
    for (name, member) in members {
        // Data, whatever it looks like.
        if !matches!(name.as_str(), "const" | "enum" | "default" | "examples") {
            remove(member, &format!("{place}/{}", escaped(name)), kept);
        }
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
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

    #[test]
    fn annotation_that_no_client_can_follow_is_not_listed() {
        let mut mixed = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "a": { "type": "string", "x-mcp-header": "Twice" },
            "b": { "type": "string", "x-mcp-header": "TWICE" },
            "c": { "type": "number", "x-mcp-header": "Number" },
            "d": { "type": "string", "x-mcp-header": "two words" },
            "e": { "type": "array", "items": { "type": "string", "x-mcp-header": "Item" } },
            "x-mcp-header": { "type": "string" },
        } });
        without_unfit(&mut mixed);
        assert_eq!(mixed.to_string().matches("\"x-mcp-header\":\"").count(), 1, "{mixed}");
        assert_eq!(mixed["properties"]["region"]["x-mcp-header"], "Region");
        assert_eq!(mixed["properties"]["x-mcp-header"]["type"], "string");
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
