//! Tools that need no running: they give back what they were given, or are a built-in under a name of one's own.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use serde_json::{Value, json};
use tw_exec::{BoxFuture, Call, Callee, Ended, Executor, InnerCall};
use tw_model::ToolResult;
use tw_schema::{Fault, Violation};

use crate::{faults::below, program::builtins};

const PATH: &str = "/implementation";
const KEY: &str = "builtin_key";
/// What the key is taken for by mistake, without what words are put together with.
const NEARLY_KEY: &[&str] = &["builtin", "builtinkey", "builtinname", "functionname"];

/// Settings of the kinds `http`, `external`, `space` and `mcp`.
const OF_OTHER_KINDS: &[&str] = &[
    "url",
    "method",
    "query",
    "headers",
    "body",
    "response",
    "retry",
    "idempotency_header",
    "pending_ttl_ms",
    "server",
    "server_url",
    "tool_name",
];

pub(crate) fn read(implementation: &Value, is_new: bool) -> Result<Box<dyn Executor>, Vec<Fault>> {
    let key = implementation.get(KEY).filter(|key| !key.is_null());
    let found = key.and_then(|key| builtins().find(|(slug, _)| key == slug));
    if let (Some(_), None) = (key, found) {
        return Err(vec![Violation::words(builtins().map(|(slug, _)| slug)).at(below(PATH, KEY))]);
    }
    // A tool that was saved when nobody looked at the rest goes on without it.
    let settings = found.map_or(&[][..], |(_, tool)| tool.settings);
    let faults = if is_new { faults(implementation, settings) } else { Vec::new() };
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(match found {
        Some((slug, _)) => Box::new(BuiltIn { slug, settings: OnceLock::new() }),
        None => Box::new(Echo),
    })
}

/// The built-in that an implementation names, with its path.
pub(crate) fn called(implementation: &Value) -> Option<Callee> {
    let key = builtin_key(implementation)?;
    let is_there = builtins().any(|(slug, _)| slug == key);
    is_there.then(|| Callee { path: below(PATH, KEY), name: key.to_owned(), is_certain: true })
}

/// The key of an implementation, whether or not there is such a built-in.
pub(crate) fn builtin_key(implementation: &Value) -> Option<&str> {
    implementation.get(KEY)?.as_str()
}

/// What is written there and would never be used. An echo may keep the settings of another kind, for a tool whose
/// kind is changed to and fro; a built-in has settings of its own.
fn faults(implementation: &Value, settings: &[&str]) -> Vec<Fault> {
    let is_echo = implementation.get(KEY).is_none_or(Value::is_null);
    let known = if is_echo { OF_OTHER_KINDS } else { settings };
    let is_known = |name: &str| known.contains(&name);
    let mut faults = Vec::new();
    for (name, value) in implementation.as_object().into_iter().flatten().filter(|(name, _)| *name != KEY) {
        let place = below(PATH, name);
        if is_nearly_the_key(name) {
            faults.push(Violation::misnamed(KEY).at(place));
        } else if !is_known(name) {
            faults.push(Violation::unknown_member().at(place));
        } else if name == "credentials_ref" && value.as_str().is_some_and(|text| text.starts_with("secret:"))
        {
            faults.push(Violation::label_only().at(place));
        }
    }
    faults
}

fn is_nearly_the_key(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    NEARLY_KEY.contains(&plain.to_ascii_lowercase().as_str())
}

/// Gives back its input.
#[derive(Debug)]
struct Echo;

impl Executor for Echo {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        let result = ToolResult {
            data: json!({ "success": true, "args": call.input }),
            summary: format!("{}: gave back its input", call.def.name),
            markdown: None,
        };
        Box::pin(std::future::ready(Ended::Done(result)))
    }

    fn reaches_out(&self) -> bool {
        false
    }
}

/// A tool of the program under a name of the tenant's own, with settings.
#[derive(Debug)]
struct BuiltIn {
    slug: &'static str,
    /// Its definition has them, with their secrets sealed.
    settings: OnceLock<Arc<Value>>,
}

impl Executor for BuiltIn {
    /// The tool is called as the tool that it is, so that everything said about it counts here too.
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            let sealed = self.settings.get_or_init(|| Arc::new(call.def.authored.implementation.clone()));
            let settings = Some(Arc::clone(sealed));
            let inner = InnerCall { name: "builtin", tool: self.slug, input: &call.input, settings };
            call.inner.call(inner).await.into()
        })
    }

    fn calls(&self) -> Vec<&str> {
        vec![self.slug]
    }

    fn is_resumable(&self) -> bool {
        true
    }

    fn credentials(&self, implementation: &Value) -> BTreeSet<String> {
        let setting = |name: &str| implementation.get(name).and_then(Value::as_str);
        let key = setting("api_key").and_then(|key| key.strip_prefix("secret:"));
        key.into_iter().chain(setting("credentials_ref")).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The built-ins of the program are not linked into the tests of this crate.
    #[track_caller]
    fn check(implementation: Value, places: &[&str]) {
        let faults = faults(&implementation, &["api_key", "credentials_ref", "endpoint"]);
        let found: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(found, places, "{implementation}");
        let echo = implementation.get(KEY).is_none();
        assert!(!echo || read(&implementation, false).is_ok(), "what was saved before still runs");
    }

    #[test]
    fn member_that_would_never_be_used_is_refused() {
        check(json!({}), &[]);
        check(json!({ "url": "https://h.test/", "method": "POST", "headers": {} }), &[]);
        check(
            json!({ "bultin_key": "json_transform", "zz": 1 }),
            &["/implementation/bultin_key", "/implementation/zz"],
        );
        for name in ["builtinKey", "builtin", "Builtin-Key", "function_name"] {
            check(json!({ name: "json_transform" }), &[&format!("/implementation/{name}")]);
        }
        check(json!({ "builtin_key": "json_transform", "a/b": 1 }), &["/implementation/a~1b"]);
        check(json!({ "builtin_key": "http_request", "headers": {} }), &["/implementation/headers"]);
        let search =
            json!({ "builtin_key": "web_search", "api_key": "k", "credentials_ref": "crm", "endpoint": "e" });
        check(search, &[]);
        let reference = json!({ "builtin_key": "web_search", "credentials_ref": "secret:crm" });
        check(reference, &["/implementation/credentials_ref"]);
    }
}
