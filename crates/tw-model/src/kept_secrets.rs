//! Secrets that are kept where `***` comes back in a definition, and only while they go where they went.
//!
//! Whoever may change a tool does not see its secrets, and must not get them sent to a server of their own either.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::unredacted;

/// Members that say which tool or function is called.
const CALLEES: &[&str] = &["tool", "tool_name", "builtin_key", "function_name"];
/// Members whose content is sent along, and does not say where.
const CONTENTS: &[&str] = &["headers", "query", "body"];

/// `new` with what was hidden put back from `old`, as far as it goes where it went: the servers that are named, by
/// scheme, host and port, and the tools that are called are the same. Of a chain each step stands for itself, and no
/// other place may be new either, as a step is given what those before it had.
#[must_use]
pub fn with_kept_secrets(new: Value, old: &Value) -> Value {
    let (named, known) = (destinations(&new), destinations(old));
    let known: BTreeSet<&String> = known.values().collect();
    let is_same = destinations(&without_steps(&new)) == destinations(&without_steps(old));
    if !is_same || !named.values().all(|place| known.contains(place)) {
        return new;
    }
    let mut old = old.clone();
    if let Some(steps) = old.get_mut("steps").and_then(Value::as_array_mut) {
        let is_kept = |step: &Value| {
            let sent = new["steps"].as_array().into_iter().flatten();
            let mut same = sent.filter(|sent| sent.get("id") == step.get("id"));
            same.any(|sent| destinations(sent) == destinations(step))
        };
        for step in steps.iter_mut().filter(|step| !is_kept(step)) {
            // It stays in its place, so that the others are found by theirs.
            let id = step.get("id").cloned().unwrap_or_default();
            *step = serde_json::json!({ "id": id });
        }
    }
    unredacted(new, &old)
}

fn without_steps(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(members) = part.as_object_mut() {
        members.remove("steps");
    }
    part
}

/// What a part of a definition names as the places to which it sends something, by their paths.
fn destinations(part: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(part, "", "", &mut found);
    found
}

fn collect(value: &Value, path: &str, name: &str, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| !CONTENTS.contains(&name.as_str())) {
                collect(member, &format!("{path}/{name}"), name, found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &format!("{path}/{index}"), name, found);
            }
        }
        Value::String(text) => {
            let is_place = name.to_ascii_lowercase().ends_with("url") || text.contains("://");
            if is_place {
                found.insert(path.to_owned(), origin(text));
            } else if CALLEES.contains(&name) {
                found.insert(path.to_owned(), text.clone());
            }
        }
        _ => {}
    }
}

/// Scheme, host and port of a URL; all of a text that is none.
fn origin(url: &str) -> String {
    // Readers of URLs leave such characters out, wherever they stand.
    let url: String = url.chars().filter(|c| !c.is_control()).collect();
    let Some((scheme, rest)) = url.trim().split_once("://") else { return url };
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let (scheme, authority) = (scheme.to_ascii_lowercase(), authority.to_ascii_lowercase());
    let default_port = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let authority = authority.strip_suffix(default_port).unwrap_or(&authority);
    format!("{scheme}://{authority}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn http(url: &str, key: &str) -> Value {
        json!({ "url": url, "method": "GET", "headers": { "X-Key": key } })
    }

    #[test]
    fn secret_is_kept_while_scheme_host_and_port_are_the_same() {
        let stored = http("https://api.example.com/v1?a=b", "key");
        for same in ["https://api.example.com/v2", "HTTPS://API.example.com:443", "https://api.example.com#x"]
        {
            assert_eq!(with_kept_secrets(http(same, "***"), &stored), http(same, "key"));
        }
        for other in [
            "https://evil.example/v1",
            "http://api.example.com/v1",
            "https://api.example.com:8443/v1",
            "https://api.example.com@evil.example/v1",
            "https://api.example.com.evil.example/",
            "https:///evil.example",
            "https:evil.example",
            "//evil.example",
            "",
        ] {
            assert_eq!(with_kept_secrets(http(other, "***"), &stored), http(other, "***"), "{other}");
        }
        let slashes = http("https:///api.example.com", "key");
        assert_eq!(
            with_kept_secrets(http("https:///evil.example", "***"), &slashes)["headers"]["X-Key"],
            "***"
        );
        // What is sent along says nothing about where it goes.
        let body = |link: &str, key: &str| json!({ "url": "https://a.test", "body": { "link": link }, "query": { "api_key": key } });
        let kept = with_kept_secrets(body("https://two.test", "***"), &body("https://one.test", "key"));
        assert_eq!(kept, body("https://two.test", "key"));
    }

    #[test]
    fn secret_of_a_built_in_is_kept_while_it_is_the_same_built_in_at_the_same_server() {
        let search = |key: &str, api_key: &str, endpoint: &str| json!({ "builtin_key": key, "api_key": api_key, "endpoint": endpoint });
        let stored = search("web_search", "key", "https://s.test/a");
        let kept = |key: &str, endpoint: &str| with_kept_secrets(search(key, "***", endpoint), &stored);
        assert_eq!(kept("web_search", "https://s.test/b")["api_key"], "key");
        assert_eq!(kept("web_search", "https://evil.test/a")["api_key"], "***");
        assert_eq!(kept("other", "https://s.test/a")["api_key"], "***");
    }

    #[test]
    fn each_step_of_a_chain_stands_for_itself() {
        let step = |id: &str, tool: &str, url: &str, token: &str| json!({ "id": id, "tool": tool, "input": { "url": url, "token": token } });
        let chain = |steps: Vec<Value>| json!({ "kind": "composition", "steps": steps });
        let (one, two) = ("https://one.test", "https://two.test");
        let stored = chain(vec![
            step("a", "send", one, "A"),
            step("b", "send", two, "B"),
            step("c", "other", two, "C"),
            step("d", "send", one, "D"),
        ]);
        let tokens = |sent: Vec<Value>| -> Vec<String> {
            let kept = with_kept_secrets(chain(sent), &stored);
            let steps = kept["steps"].as_array().unwrap();
            steps.iter().map(|step| step["input"]["token"].as_str().unwrap().to_owned()).collect()
        };
        let sent = [("d", "send", one), ("a", "send", two), ("b", "other", two), ("c", "other", two)];
        let mut sent: Vec<Value> = sent.iter().map(|(id, tool, url)| step(id, tool, url, "***")).collect();
        assert_eq!(tokens(sent.clone()), ["D", "***", "***", "C"]);
        // A step that is new gets at what others had.
        sent.push(step("e", "send", "https://evil.test", "{{ steps.d.output }}"));
        assert_eq!(tokens(sent)[..4], ["***"; 4]);
    }
}
