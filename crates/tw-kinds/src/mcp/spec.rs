//! What an author writes: `implementation` of a tool of kind `mcp`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toolwright_sdk::Secret;
use tw_mcp_client::Target;
use tw_model::{TenantId, ToolFailure, names_a_secret, secret_texts};
use tw_schema::{Fault, Violation};
use zeroize::Zeroizing;

use crate::{
    faults::{Faults, below},
    headers,
    template::{Context, text::Text},
    url_template::{UrlTemplate, scalar},
};

const PATH: &str = "/implementation";
const MEMBERS: &[&str] = &["server", "server_url", "tool_name", "headers"];
/// No expression: a server, and the session with it, is the same for every call.
const NAMES: &[&str] = &[];
const NAME_CHARS_MAX: usize = 128;

/// A tool of a server, read once.
#[derive(Debug)]
pub(super) struct McpSpec {
    pub(super) server: Server,
    pub(super) tool: String,
}

#[derive(Debug)]
pub(super) enum Server {
    /// One that the tenant has a name for.
    Named(String),
    At(At),
}

/// A server that the definition itself says all about.
#[derive(Debug)]
pub(super) struct At {
    url: UrlTemplate,
    headers: Vec<(String, Text)>,
    /// Secrets that stand in the definition itself.
    literals: Vec<String>,
}

impl McpSpec {
    /// Reads an implementation, and tells everything that is wrong with it.
    pub(super) fn read(implementation: &Value, is_new: bool) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        let Some(members) = implementation.as_object() else {
            faults.say(PATH, Violation::typed(&["object"], implementation));
            return faults.told(None);
        };
        for name in members.keys().filter(|name| !MEMBERS.contains(&name.as_str())) {
            faults.say(below(PATH, name), Violation::unknown_member());
        }
        let part = |name: &str| members.get(name).filter(|value| !value.is_null());
        let tool = name(part("tool_name"), &below(PATH, "tool_name"), &mut faults);
        let server = match (part("server"), part("server_url")) {
            (Some(_), Some(_)) => {
                faults.say(PATH, Violation::one_member(vec!["server", "server_url"]));
                None
            }
            (Some(server), None) => {
                if part("headers")
                    .is_some_and(|headers| headers.as_object().is_none_or(|headers| !headers.is_empty()))
                {
                    faults.say(below(PATH, "headers"), Violation::unknown_member());
                }
                name(Some(server), &below(PATH, "server"), &mut faults).map(Server::Named)
            }
            (None, url) => At::read(url, part("headers"), members, is_new, &mut faults).map(Server::At),
        };
        faults.told(tool.zip(server).map(|(tool, server)| Self { server, tool }))
    }

    /// The credentials that it refers to.
    pub(super) fn labels(&self) -> BTreeSet<String> {
        let mut labels = BTreeSet::new();
        if let Server::At(at) = &self.server {
            at.url.labels(&mut labels);
            at.headers.iter().for_each(|(_, value)| value.labels(&mut labels));
        }
        labels
    }
}

impl At {
    fn read(
        url: Option<&Value>,
        headers: Option<&Value>,
        members: &Map<String, Value>,
        is_new: bool,
        faults: &mut Faults,
    ) -> Option<Self> {
        let at = below(PATH, "server_url");
        let headers = headers.map_or(Some(Vec::new()), |value| {
            headers::read(value, &below(PATH, "headers"), NAMES, Target::check_header, faults)
        });
        let url = match url {
            None => {
                faults.say(at.as_str(), Violation::required());
                return None;
            }
            Some(Value::String(text)) if text.is_empty() => {
                faults.say(at.as_str(), Violation::not_empty());
                return None;
            }
            Some(Value::String(text)) => faults.take(UrlTemplate::read(text, &at, NAMES))?,
            Some(other) => {
                faults.say(at.as_str(), Violation::typed(&["string"], other));
                return None;
            }
        };
        let secrets: Vec<_> = url.written_out().filter(|(name, _)| names_a_secret(name)).collect();
        if is_new {
            for (name, _) in &secrets {
                faults.say(at.as_str(), Violation::url_secret(name.as_str()));
            }
        }
        let written = members.get("headers").map(|headers| serde_json::json!({ "headers": headers }));
        let mut literals = written.as_ref().map(secret_texts).unwrap_or_default();
        literals.extend(secrets.into_iter().map(|(_, secret)| secret));
        Some(Self { url, headers: headers?, literals })
    }

    /// Fills in the credentials.
    pub(super) fn target(
        &self,
        tenant: TenantId,
        opened: BTreeMap<String, Secret>,
    ) -> Result<Target, ToolFailure> {
        let values = opened.iter().map(|(label, secret)| (label.clone(), secret.value.clone())).collect();
        let context = Context::of_input(&Value::Null).with_secrets(values);
        let mut target = Target::new(tenant, self.url.render(&context, &[])?);
        for (name, value) in &self.headers {
            if let Some(text) = value.value(&context)?.as_ref().and_then(scalar) {
                target.headers.push((name.clone(), Zeroizing::new(text)));
            }
        }
        target.secrets = opened.into_values().collect();
        target.secrets.extend(self.literals.iter().map(Secret::anywhere));
        Ok(target)
    }
}

/// A text that names something.
fn name(value: Option<&Value>, at: &str, faults: &mut Faults) -> Option<String> {
    let violation = match value {
        None => Violation::required(),
        Some(Value::String(text)) if (1..=NAME_CHARS_MAX).contains(&text.chars().count()) => {
            return Some(text.clone());
        }
        Some(Value::String(_)) => Violation::length(1, NAME_CHARS_MAX),
        Some(other) => Violation::typed(&["string"], other),
    };
    faults.say(at, violation);
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(implementation: Value, places: &[&str]) {
        let faults = McpSpec::read(&implementation, true).err().unwrap_or_default();
        let found: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(found, places, "{implementation}: {faults:?}");
        assert!(!format!("{faults:?}").contains("hunter2"), "{faults:?}");
    }

    #[test]
    fn server_is_a_url_or_a_name() {
        check(json!({ "server_url": "https://h.test/mcp", "tool_name": "add" }), &[]);
        check(
            json!({ "server_url": "https://h.test/mcp", "tool_name": "add", "headers": { "X-Units": "metric" } }),
            &[],
        );
        check(json!({ "server": "garden", "tool_name": "add" }), &[]);
        check(json!({ "server": "garden", "tool_name": "add", "headers": {}, "server_url": null }), &[]);
        check(
            json!({ "server": "garden", "server_url": "https://h.test/", "tool_name": "add" }),
            &["/implementation"],
        );
        check(
            json!({ "server": "garden", "tool_name": "add", "headers": { "A": "b" } }),
            &["/implementation/headers"],
        );
    }

    #[test]
    fn every_fault_is_told_at_its_place() {
        check(json!({}), &["/implementation/tool_name", "/implementation/server_url"]);
        check(json!([]), &["/implementation"]);
        check(
            json!({ "server_url": 7, "tool_name": "", "url": "x", "headers": { "Mcp-Session-Id": "x", "a b": "c" } }),
            &[
                "/implementation/url",
                "/implementation/tool_name",
                "/implementation/headers/Mcp-Session-Id",
                "/implementation/headers/a b",
                "/implementation/server_url",
            ],
        );
        for url in ["ftp://h.test/", "https://{{ input.host }}/mcp", "mcp", "https://h.test/{{ input.a }}"] {
            check(json!({ "server_url": url, "tool_name": "add" }), &["/implementation/server_url"]);
        }
        let headers = json!({ "X-City": "{{ input.city }}" });
        check(
            json!({ "server_url": "https://h.test/", "tool_name": "add", "headers": headers }),
            &["/implementation/headers/X-City"],
        );
    }

    #[test]
    fn secret_that_is_written_out_in_the_url_is_refused() {
        let with = |url: &str| json!({ "server_url": url, "tool_name": "add" });
        check(with("https://h.test/mcp?api_key=hunter2"), &["/implementation/server_url"]);
        check(with("https://h.test/mcp?api_key=secret:crm"), &[]);
        let read = McpSpec::read(&with("https://h.test/mcp?api_key=hunter2"), false);
        assert!(read.is_ok(), "what was saved before still runs");
    }

    #[test]
    fn credentials_are_filled_in_with_their_hosts() {
        let implementation = json!({
            "server_url": "https://h.test/mcp?key=secret:k.part", "tool_name": "add",
            "headers": { "Authorization": "Bearer secret:crm", "X-Api-Key": "hunter2-literal" },
        });
        let spec = McpSpec::read(&implementation, true).unwrap();
        assert_eq!(spec.labels(), BTreeSet::from(["crm".to_owned(), "k.part".to_owned()]));
        let opened = [("crm", "t-1"), ("k.part", "a/b")];
        let opened = opened.map(|(label, value)| (label.to_owned(), Secret::anywhere(value)));
        let Server::At(at) = &spec.server else { panic!("{spec:?}") };
        let target = at.target(TenantId::new(), opened.into_iter().collect()).unwrap();
        assert_eq!(target.url, "https://h.test/mcp?key=a%2Fb");
        assert_eq!(target.headers[0].1.as_str(), "Bearer t-1");
        assert_eq!(target.secrets.len(), 3, "with the literal");
    }
}
