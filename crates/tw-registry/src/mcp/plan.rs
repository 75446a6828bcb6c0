//! What an import makes of remote tools: definitions, or reasons why not. Pure.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use tw_model::Slug;
use tw_schema::slug_from_name;

use crate::remote::{RemoteDefinition, cut};

const CATEGORY_BYTES_MAX: usize = 100;

/// A tool that is to be made.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) remote: RemoteDefinition,
    pub(super) body: Value,
}

/// A remote tool that becomes none, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRemote {
    pub tool: String,
    pub reason: String,
}

/// Plans the import of the tools named in `wanted`, of those that a server lists.
pub(super) fn plan(
    server: &str,
    wanted: &[String],
    listed: &[RemoteDefinition],
    publish: bool,
) -> (Vec<Planned>, Vec<SkippedRemote>) {
    let mut by_name: HashMap<&str, &RemoteDefinition> = HashMap::new();
    let mut twice = HashSet::new();
    for tool in listed {
        if by_name.insert(&tool.name, tool).is_some() {
            twice.insert(tool.name.as_str());
        }
    }
    let (mut planned, mut skipped) = (Vec::new(), Vec::new());
    let (mut asked, mut slugs) = (HashSet::new(), HashMap::new());
    for name in wanted.iter().filter(|name| asked.insert(name.as_str())) {
        let made = match by_name.get(name.as_str()) {
            None => Err("the server lists no tool of this name; refresh to see what it lists now".to_owned()),
            Some(_) if twice.contains(name.as_str()) => {
                Err("the server lists two tools of this name".to_owned())
            }
            Some(remote) => body(server, remote, publish).and_then(|(slug, body)| {
                match slugs.insert(slug.key(), name.clone()) {
                    None => Ok(Planned { remote: (*remote).clone(), body }),
                    Some(other) => Err(format!("its slug would be `{slug}`, which `{other}` already gets")),
                }
            }),
        };
        match made {
            Ok(made) => planned.push(made),
            Err(reason) => skipped.push(SkippedRemote { tool: name.clone(), reason }),
        }
    }
    (planned, skipped)
}

fn body(server: &str, remote: &RemoteDefinition, publish: bool) -> Result<(Slug, Value), String> {
    let slug = slug(server, &remote.name)?;
    if let Some(reason) = remote.refusal() {
        return Err(reason);
    }
    let mut body = json!({
        "slug": slug, "name": remote.tool_name(), "description": remote.tool_description(),
        "category": cut(server, CATEGORY_BYTES_MAX), "permission_level": remote.level().as_str(), "visible": false,
        "implementation_type": "mcp", "implementation": { "server": server, "tool_name": remote.name },
        "input_schema": remote.input_schema, "publish": publish,
    });
    if let Some(schema) = &remote.output_schema {
        body["output_schema"] = schema.clone();
    }
    Ok((slug, body))
}

/// `<server>.<tool>`, made to fit the rule for slugs.
pub(super) fn slug(server: &str, tool: &str) -> Result<Slug, String> {
    let server =
        server_part(server).ok_or("no slug can be made from the server's name; rename the server")?;
    let told = format!("{server}.{tool}");
    if let Ok(slug) = told.parse() {
        return Ok(slug);
    }
    let mut fitted = String::new();
    for c in tool.chars() {
        let c = if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' };
        if !(c == '_' && fitted.ends_with('_')) {
            fitted.push(c);
        }
    }
    let fitted = fitted.trim_matches(['-', '.']);
    format!("{server}.{fitted}")
        .parse()
        .map_err(|error| format!("no slug can be made from its name: {error}"))
}

/// A server's name as the first part of slugs.
pub(super) fn server_part(name: &str) -> Option<String> {
    match name.parse::<Slug>() {
        Ok(slug) => Some(slug.to_string()),
        Err(_) => slug_from_name(name),
    }
}
