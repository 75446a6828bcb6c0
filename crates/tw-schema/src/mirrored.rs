//! Arguments that clients of MCP repeat in headers, because a tool's schema asks for it by `x-mcp-header`.

use serde_json::{Map, Value};

const ANNOTATION: &str = "x-mcp-header";

/// An argument that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredParam {
    /// What stands behind `Mcp-Param-` in the name of the header, as the schema writes it.
    pub header: String,
    /// The names that lead to the argument.
    pub path: Vec<String>,
}

/// The annotations that clients follow: below `properties` alone, on a text, a whole number or a flag, with a name that
/// a header can have and no other has.
#[must_use]
pub fn mirrored_params(schema: &Value) -> Vec<MirroredParam> {
    let mut found = Vec::new();
    find(schema, &mut Vec::new(), &mut found);
    let headers: Vec<String> = found.iter().map(|mirrored| mirrored.header.to_ascii_lowercase()).collect();
    found.retain(|mirrored| {
        headers.iter().filter(|header| mirrored.header.eq_ignore_ascii_case(header)).count() == 1
    });
    found
}

fn find(schema: &Value, path: &mut Vec<String>, found: &mut Vec<MirroredParam>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = annotation(property) {
            found.push(MirroredParam { header: header.to_owned(), path: path.clone() });
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
pub fn without_unfit_mirrors(schema: &mut Value) {
    let kept: Vec<Vec<String>> = mirrored_params(schema).into_iter().map(|mirrored| mirrored.path).collect();
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
        without_unfit_mirrors(&mut mixed);
        assert_eq!(mixed.to_string().matches("\"x-mcp-header\":\"").count(), 1, "{mixed}");
        assert_eq!(mixed["properties"]["region"]["x-mcp-header"], "Region");
        assert_eq!(mixed["properties"]["x-mcp-header"]["type"], "string");
    }
}
