//! What an author writes about a tool.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Authored, Execution, Level, OutputSection, Permission, Policy, ToolStatus,
    secret_name::{Hidden, looks_secret},
};

const TIMEOUT_MS_DEFAULT: u64 = crate::ToolDef::TIMEOUT_MS_DEFAULT;

/// The part of a tool that a version keeps: what it is called, takes, gives and does.
///
/// As JSON this is the snapshot of a version, and its digest is the version's content hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Definition {
    pub name: String,
    pub description: String,
    pub category: String,
    pub icon: String,
    pub permission_level: Option<Level>,
    pub required_permission: Option<Permission>,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub output_sections: Vec<OutputSection>,
    pub collaborative: bool,
    pub visible: Option<bool>,
    pub is_async: bool,
    pub timeout_ms: u64,
    /// Whether the author wrote the default themselves, so that it is a limit beside `execution.timeout_s`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub says_default_timeout: bool,
    pub execution: Execution,
    pub implementation_type: String,
    /// The built-in that an older system made this tool of. Such a clone is found by its name and not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub builtin_template_id: Option<Value>,
    #[serde(flatten)]
    pub authored: Authored,
}

impl Default for Definition {
    fn default() -> Self {
        Self {
            name: String::new(),
            description: String::new(),
            category: "general".to_owned(),
            icon: "wrench".to_owned(),
            permission_level: None,
            required_permission: None,
            input_schema: Value::Null,
            output_schema: None,
            output_sections: Vec::new(),
            collaborative: false,
            visible: None,
            is_async: false,
            timeout_ms: TIMEOUT_MS_DEFAULT,
            says_default_timeout: false,
            execution: Execution::default(),
            implementation_type: String::new(),
            builtin_template_id: None,
            authored: Authored::default(),
        }
    }
}

impl Definition {
    /// How long a call may take: the smaller of the two limits that an author can name. The default stands where
    /// nobody says anything, so it is no limit beside one that somebody names.
    #[must_use]
    pub fn limit_ms(&self) -> u64 {
        let is_said = self.says_default_timeout || self.timeout_ms != TIMEOUT_MS_DEFAULT;
        match self.execution.timeout_s.map(|seconds| u64::from(seconds) * 1000) {
            Some(seconds) if is_said => seconds.min(self.timeout_ms),
            Some(seconds) => seconds,
            None => self.timeout_ms,
        }
    }
}

/// The part of a tool that takes effect at once, whatever version is live.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Switches {
    /// Whether the tool is in the tenant's catalogue; `None` where nobody has said.
    pub enabled: Option<bool>,
    pub is_active: bool,
    pub status: ToolStatus,
    pub permission_policy: Option<Policy>,
    pub tenant_slugs: Vec<String>,
    pub tags: Vec<String>,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            enabled: None,
            is_active: true,
            status: ToolStatus::Draft,
            permission_policy: None,
            tenant_slugs: Vec::new(),
            tags: Vec::new(),
        }
    }
}

/// What is in the place of a secret where a definition is shown.
pub const REDACTED: &str = "***";

/// What a secret in a stored definition begins with once it is sealed.
pub const SEALED: &str = "sealed:1:";
/// Words before a credential in a header, such as `Bearer`, are not longer.
const SCHEME_LEN_MAX: usize = 20;

/// A reference names a secret and holds none: `secret:<label>`, alone or behind the one word that a header wants
/// before it, or one expression without a literal in it.
fn is_reference(text: &str) -> bool {
    let is_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let label = behind_a_scheme(text).unwrap_or(text).strip_prefix("secret:");
    let expression = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    label.is_some_and(|label| label.chars().all(is_label))
        || expression.is_some_and(|inner| {
            inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | '_' | '|' | '[' | ']'))
        })
}

/// What stands behind the one word at the start, as in `Bearer …`.
fn behind_a_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(' ')?;
    let is_word = scheme.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    (is_word && (1..=SCHEME_LEN_MAX).contains(&scheme.len())).then(|| rest.trim_start())
}

/// A part of a definition as it may be shown: every literal under `headers`, and whatever is named like a
/// secret, is hidden.
#[must_use]
pub fn redacted(part: &Value) -> Value {
    let mut shown = part.clone();
    each_secret(&mut shown, &mut |secret| *secret = Value::String(REDACTED.to_owned()));
    shown
}

/// Visits the secrets in a part of a definition: what [`redacted`] hides, and nothing else.
pub fn each_secret(part: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    visit_below(part, Hidden::Nothing, visit);
}

/// Whether a secret lies sealed in a part of a definition.
#[must_use]
pub fn holds_sealed(part: &Value) -> bool {
    match part {
        Value::Object(members) => members.values().any(holds_sealed),
        Value::Array(items) => items.iter().any(holds_sealed),
        Value::String(text) => text.starts_with(SEALED),
        _ => false,
    }
}

fn visit_below(value: &mut Value, hidden: Hidden, visit: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                visit_below(member, Hidden::under(key).max(hidden.in_members()), visit);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| visit_below(item, hidden, visit)),
        leaf if is_secret(leaf, hidden) => visit(leaf),
        _ => {}
    }
}

fn is_secret(leaf: &Value, hidden: Hidden) -> bool {
    match leaf {
        // What was sealed stays a secret, whatever names were taken for secret at that time.
        Value::String(text) if text.starts_with(SEALED) => true,
        Value::String(text) if hidden == Hidden::Alike => looks_secret(text),
        Value::String(text) => Hidden::Texts <= hidden && !is_reference(text),
        Value::Number(_) => Hidden::Numbers <= hidden,
        _ => false,
    }
}

/// `new` with what was hidden put back from `old`: whoever saves what they read keeps the secrets they
/// did not see.
#[must_use]
pub fn unredacted(new: Value, old: &Value) -> Value {
    match new {
        Value::Object(members) => members
            .into_iter()
            .map(|(key, member)| {
                let kept = unredacted(member, old.get(&key).unwrap_or(&Value::Null));
                (key, kept)
            })
            .collect(),
        // The steps of a chain have ids, by which they are known wherever they stand.
        Value::Array(items) if have_ids(&items) => items
            .into_iter()
            .map(|item| {
                let same = |old: &&Value| old.get("id") == item.get("id");
                let old = old.as_array().and_then(|old| old.iter().find(same));
                unredacted(item, old.unwrap_or(&Value::Null))
            })
            .collect(),
        // Where other items came or went, nobody knows which of them a hidden one was.
        Value::Array(items) if old.as_array().is_some_and(|old| old.len() == items.len()) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| unredacted(item, old.get(index).unwrap_or(&Value::Null)))
            .collect(),
        Value::String(text) if text == REDACTED && !old.is_null() => old.clone(),
        other => other,
    }
}

/// Whether all of several items are told apart by an `id`.
fn have_ids(items: &[Value]) -> bool {
    let ids: BTreeSet<_> = items.iter().filter_map(|item| item.get("id")?.as_str()).collect();
    !items.is_empty() && ids.len() == items.len()
}

/// Where `***` stands in a part of a definition although nothing is stored there to be kept.
#[must_use]
pub fn left_redacted(part: &Value) -> Option<String> {
    match part {
        Value::Object(members) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            members
                .iter()
                .find_map(|(key, member)| Some(format!("/{}{}", escaped(key), left_redacted(member)?)))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| Some(format!("/{index}{}", left_redacted(item)?))),
        Value::String(text) => (text == REDACTED).then(String::new),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_in_headers_and_what_is_named_like_a_secret_are_hidden() {
        let implementation = json!({
            "url": "https://api.example.com", "headers": { "X-Anything": "s3cret", "X-Ref": "secret:weather" },
            "auth": { "api_key": "k", "clientSecret": "c", "Authorization": "Bearer t", "user": "bob" },
            "password": ["a", 7, { "value": "x", "length": 8 }], "timeout": 5,
        });
        assert_eq!(
            redacted(&implementation),
            json!({
                "url": "https://api.example.com", "headers": { "X-Anything": "***", "X-Ref": "secret:weather" },
                "auth": { "api_key": "***", "clientSecret": "***", "Authorization": "***", "user": "bob" },
                "password": ["***", "***", { "value": "***", "length": 8 }], "timeout": 5,
            })
        );
    }

    #[test]
    fn what_only_sounds_like_a_secret_is_shown() {
        let harmless = json!({
            "max_tokens": 4096, "tokens": ["a", 7], "token_type": "Bearer", "tokenizer": "bpe", "eos_token": 2,
            "secret_scanning": "open", "password_policy": { "min": 8, "note": "long" }, "credentials_ref": "crm",
        });
        assert_eq!(redacted(&harmless), harmless);
        let key = json!({ "tokens": ["sk_live_0123456789abcdef"] });
        assert_eq!(redacted(&key), json!({ "tokens": ["***"] }));
    }

    #[test]
    fn what_was_sealed_under_a_name_that_is_none_any_more_stays_hidden() {
        assert_eq!(
            redacted(&json!({ "max_tokens": "sealed:1:abc", "a": ["sealed:1:abc"] })),
            json!({ "max_tokens": "***", "a": ["***"] })
        );
    }

    #[test]
    fn reference_is_shown_and_a_literal_dressed_as_one_is_not() {
        let shown = |text: &str| redacted(&json!({ "headers": { "A": text } }))["headers"]["A"] == *text;
        for reference in [
            "secret:weather",
            "secret:a.b-c_1",
            "Bearer secret:weather",
            "Basic secret:crm.password",
            "Api-Key  secret:weather",
            "{{ input.token }}",
            "{{ input.a[0] | lower }}",
        ] {
            assert!(shown(reference), "{reference}");
        }
        for literal in [
            "secret: hunter2",
            "{{ 'hunter2' }}",
            "{{ a }}hunter2{{ b }}",
            "{{ \"x\" }}",
            "Bearer {{ a }}",
            "hunter2 secret:weather",
            "Bearer secret:weather hunter2",
            "Bearer hunter2",
        ] {
            assert!(!shown(literal), "{literal}");
        }
    }

    #[test]
    fn smaller_limit_that_somebody_names_counts() {
        let limit = |timeout_ms, says_default_timeout, timeout_s| {
            let execution = Execution { timeout_s, ..Execution::default() };
            Definition { timeout_ms, says_default_timeout, execution, ..Definition::default() }.limit_ms()
        };
        for (timeout_ms, says_default, timeout_s, expected) in [
            (TIMEOUT_MS_DEFAULT, false, None, TIMEOUT_MS_DEFAULT),
            (TIMEOUT_MS_DEFAULT, false, Some(60), 60_000),
            (TIMEOUT_MS_DEFAULT, true, Some(60), TIMEOUT_MS_DEFAULT),
            (TIMEOUT_MS_DEFAULT, true, Some(5), 5_000),
            (TIMEOUT_MS_DEFAULT, false, Some(5), 5_000),
            (90_000, false, None, 90_000),
            (90_000, false, Some(60), 60_000),
            (1_500, false, Some(60), 1_500),
        ] {
            let found = limit(timeout_ms, says_default, timeout_s);
            assert_eq!(found, expected, "{timeout_ms} {says_default} {timeout_s:?}");
        }
    }

    #[test]
    fn hidden_item_of_a_list_that_has_changed_is_not_guessed() {
        let kept = unredacted(json!({ "secrets": ["***"] }), &json!({ "secrets": ["one", "two"] }));
        assert_eq!(left_redacted(&kept).as_deref(), Some("/secrets/0"));
    }

    #[test]
    fn hidden_secret_of_a_step_is_known_by_the_id_of_the_step() {
        let step = |id: &str, token: &str| json!({ "id": id, "input": { "token": token } });
        let stored = json!({ "steps": [step("a", "one"), step("b", "two")] });
        let sent = json!({ "steps": [step("b", "***"), step("new", "***"), step("a", "***")] });
        let kept = unredacted(sent, &stored);
        assert_eq!(kept, json!({ "steps": [step("b", "two"), step("new", "***"), step("a", "one")] }));
        assert_eq!(left_redacted(&kept).as_deref(), Some("/steps/1/input/token"));
    }

    #[test]
    fn what_comes_back_hidden_keeps_what_is_stored() {
        let stored = json!({ "headers": { "A": "one", "B": "two" }, "secrets": ["x"] });
        let mut sent = redacted(&stored);
        sent["headers"]["B"] = json!("three");
        let kept = unredacted(sent, &stored);
        assert_eq!(kept, json!({ "headers": { "A": "one", "B": "three" }, "secrets": ["x"] }));
        assert_eq!(left_redacted(&kept), None);
    }

    #[test]
    fn hidden_secret_that_was_never_stored_is_found() {
        let kept = unredacted(json!({ "headers": { "New": "***" } }), &json!({ "headers": {} }));
        assert_eq!(left_redacted(&kept).as_deref(), Some("/headers/New"));
    }
}
