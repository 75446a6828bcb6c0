//! What somebody sends about a credential, read with every fault at once. No message repeats a value: it may
//! be the secret, also where none belongs.

use serde_json::{Map, Value};
use tw_base::{Error, Result, faultless, is_of_client, members};
use tw_exec::label_violation;
use tw_model::{AllowedHost, CredentialType, Label, REDACTED};
use tw_schema::{Fault, Violation};
use zeroize::Zeroizing;

/// Derived or written elsewhere. Whoever saves what they read sends them back.
const READ_ONLY: &[&str] =
    &["id", "fields", "revision", "last_used_at", "created_at", "updated_at", "created_by"];

const TEXT_BYTES_MAX: usize = 16 << 10;
const PAYLOAD_BYTES_MAX: usize = 64 << 10;
const FIELDS_MAX: usize = 32;
const FIELD_NAME_MAX: usize = 64;
/// How much of a name that is not known is repeated, and how many of them.
const SHOWN_MAX: usize = 64;
const UNKNOWN_TOLD: usize = 10;

/// A credential to be made.
#[derive(Debug)]
pub(super) struct New {
    pub(super) label: Label,
    pub(super) kind: CredentialType,
    pub(super) provider_key: Option<String>,
    pub(super) provider_variant: Option<String>,
    /// `None` for every host.
    pub(super) allowed_hosts: Option<Vec<String>>,
    pub(super) payload: Payload,
}

/// What is to change; `None` leaves as it is.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) label: Option<Label>,
    /// Of the payload, where one is sent.
    pub(super) kind: CredentialType,
    pub(super) provider_key: Option<Option<String>>,
    pub(super) provider_variant: Option<Option<String>>,
    pub(super) allowed_hosts: Option<Option<Vec<String>>>,
    pub(super) payload: Option<Payload>,
}

/// A payload that fits its type, as it is sealed, and the names of what is in it.
pub(super) struct Payload {
    pub(super) json: Zeroizing<Vec<u8>>,
    pub(super) fields: Vec<String>,
}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payload").field("fields", &self.fields).finish_non_exhaustive()
    }
}

pub(super) fn read_new(body: &Value) -> Result<New> {
    let mut sent = Sent::new(body)?;
    let label = sent.label();
    let kind = sent.kind();
    let provider_key = sent.provider("provider_key").flatten();
    let provider_variant = sent.provider("provider_variant").flatten();
    let allowed_hosts = sent.allowed_hosts().flatten();
    let has_payload = sent.members.contains_key("payload");
    let payload = sent.payload(kind);
    sent.refuse_unknown();
    for (key, is_there) in [("label", label.is_some()), ("type", kind.is_some()), ("payload", has_payload)] {
        if !is_there {
            sent.need(key);
        }
    }
    faultless(std::mem::take(&mut sent.faults))?;
    match (label, kind, payload) {
        (Some(label), Some(kind), Some(payload)) => {
            Ok(New { label, kind, provider_key, provider_variant, allowed_hosts, payload })
        }
        _ => Err(Error::invalid("/payload", Violation::required())),
    }
}

/// A change to a credential of the type `stored`.
pub(super) fn read_change(body: &Value, stored: CredentialType) -> Result<Change> {
    let mut sent = Sent::new(body)?;
    let label = sent.label();
    let wanted = sent.kind();
    let provider_key = sent.provider("provider_key");
    let provider_variant = sent.provider("provider_variant");
    let allowed_hosts = sent.allowed_hosts();
    let kind = wanted.unwrap_or(stored);
    let payload = sent.payload(Some(kind));
    if kind != stored && payload.is_none() {
        sent.need("payload");
    }
    sent.refuse_unknown();
    faultless(sent.faults)?;
    Ok(Change { label, kind, provider_key, provider_variant, allowed_hosts, payload })
}

/// A body, taken apart key by key. What is left at the end is not known.
struct Sent {
    members: Map<String, Value>,
    faults: Vec<Fault>,
}

impl Sent {
    fn new(body: &Value) -> Result<Self> {
        let mut members = members(body)?;
        for key in READ_ONLY {
            members.remove(*key);
        }
        Ok(Self { members, faults: Vec::new() })
    }

    fn say(&mut self, path: impl Into<String>, violation: Violation) {
        self.faults.push(violation.at(path));
    }

    /// Says that something is needed, unless it was said that what is there is no good.
    fn need(&mut self, key: &str) {
        let path = format!("/{key}");
        let below = format!("{path}/");
        if !self.faults.iter().any(|fault| fault.path == path || fault.path.starts_with(&below)) {
            self.say(path, Violation::required());
        }
    }

    /// A text that is there, or `null`.
    fn text(&mut self, key: &str) -> Option<Option<String>> {
        match self.members.remove(key)? {
            Value::Null => Some(None),
            Value::String(text) => Some(Some(text)),
            other => {
                self.say(format!("/{key}"), Violation::typed(&["string"], &other));
                None
            }
        }
    }

    fn label(&mut self) -> Option<Label> {
        let Some(text) = self.text("label")? else {
            self.say("/label", Violation::not_null());
            return None;
        };
        text.parse().map_err(|error: tw_model::LabelError| self.say("/label", label_violation(&error))).ok()
    }

    fn kind(&mut self) -> Option<CredentialType> {
        let kind = self.text("type")?.as_deref().and_then(CredentialType::parse);
        if kind.is_none() {
            self.say("/type", Violation::words(CredentialType::ALL.map(CredentialType::as_str)));
        }
        kind
    }

    fn provider(&mut self, key: &str) -> Option<Option<String>> {
        let text = self.text(key)?;
        match text.as_deref().map(str::parse::<Label>) {
            Some(Err(error)) => {
                self.say(format!("/{key}"), label_violation(&error));
                None
            }
            Some(Ok(_)) | None => Some(text),
        }
    }

    /// The hosts that it may be sent to, each held against what a host can be; `null` for every host.
    fn allowed_hosts(&mut self) -> Option<Option<Vec<String>>> {
        let hosts = match self.members.remove("allowed_hosts")? {
            Value::Null => return Some(None),
            Value::Array(hosts) => hosts,
            _ => {
                self.say("/allowed_hosts", Violation::wrong_type("array", Value::Null));
                return None;
            }
        };
        // What is no text cannot be a host either, and is told like one that is not.
        let hosts: Vec<String> =
            hosts.into_iter().map(|host| host.as_str().unwrap_or_default().to_owned()).collect();
        let faults = AllowedHost::faults(&hosts);
        for (index, message) in &faults {
            self.say(format!("/allowed_hosts/{index}"), Violation::allowed_host(message.as_str()));
        }
        faults.is_empty().then_some(Some(hosts))
    }

    /// The payload, if it fits the type. Without a type no more can be said than that it is an object.
    fn payload(&mut self, kind: Option<CredentialType>) -> Option<Payload> {
        let payload = self.members.remove("payload")?;
        let Value::Object(ref members) = payload else {
            self.say("/payload", Violation::typed(&["object"], &payload));
            return None;
        };
        let kind = kind?;
        let told = self.faults.len();
        let (needed, optional): (&[&str], &[&str]) = match kind {
            CredentialType::ApiKey => (&["api_key"], &["endpoint"]),
            CredentialType::Bearer => (&["token"], &["endpoint"]),
            CredentialType::Basic => (&["username", "password"], &[]),
            CredentialType::Custom => (&[], &[]),
        };
        for name in needed {
            if !members.contains_key(*name) {
                self.say(format!("/payload/{name}"), Violation::required());
            }
        }
        if members.is_empty() && kind == CredentialType::Custom {
            self.say("/payload", Violation::min_properties(1));
        }
        if FIELDS_MAX < members.len() {
            self.say("/payload", Violation::max_properties(FIELDS_MAX));
        }
        for (name, value) in members.iter().take(FIELDS_MAX) {
            let known = needed.contains(&name.as_str()) || optional.contains(&name.as_str());
            let place = format!("/payload/{}", shown(name));
            if kind != CredentialType::Custom && !known {
                self.say(place, Violation::not_for_type(kind.as_str()));
            } else if !is_field_name(name) {
                self.say(place, Violation::member_name(FIELD_NAME_MAX));
            } else if let Some(violation) = violation_of(kind, name, value) {
                self.say(place, violation);
            }
        }
        let json = Zeroizing::new(serde_json::to_vec(&members).expect("texts are plain JSON"));
        if PAYLOAD_BYTES_MAX < json.len() {
            self.say("/payload", Violation::max_bytes(PAYLOAD_BYTES_MAX));
        }
        (self.faults.len() == told).then(|| Payload { json, fields: members.keys().cloned().collect() })
    }

    fn refuse_unknown(&mut self) {
        let mut unknown = std::mem::take(&mut self.members);
        // A client's own members are taken and not kept.
        unknown.retain(|name, _| !is_of_client(name));
        for key in unknown.keys().take(UNKNOWN_TOLD) {
            self.say(format!("/{}", shown(key)), Violation::unknown_member());
        }
        if UNKNOWN_TOLD < unknown.len() {
            let more = unknown.len() - UNKNOWN_TOLD;
            self.say("", Violation::unknown_members(more));
        }
    }
}

/// Names that can stand behind a label, as in `secret:crm.username`.
fn is_field_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let goes_on = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    starts && goes_on && name.len() <= FIELD_NAME_MAX
}

/// What is wrong with a text of a payload.
fn violation_of(kind: CredentialType, name: &str, value: &Value) -> Option<Violation> {
    let Value::String(text) = value else { return Some(Violation::typed(&["string"], value)) };
    // Some services take a key for the name and want no password.
    let may_be_empty = kind == CredentialType::Basic && name == "password";
    if (text.is_empty() && !may_be_empty) || TEXT_BYTES_MAX < text.len() {
        return Some(Violation::byte_length(1, TEXT_BYTES_MAX));
    }
    if text == REDACTED {
        return Some(Violation::redacted());
    }
    // What goes into a header must not end it. A key in a file has several lines.
    let is_refused = |c: char| match kind {
        CredentialType::Custom => c == '\0',
        _ => c.is_control(),
    };
    if text.contains(is_refused) {
        return Some(Violation::control_characters());
    }
    if kind == CredentialType::Basic && name == "username" && text.contains(':') {
        return Some(Violation::forbidden_character(":"));
    }
    None
}

/// A name as it may stand in a path of a fault.
fn shown(name: &str) -> String {
    name.chars().take(SHOWN_MAX).collect::<String>().replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: Value, expected: Expect) {
        let told = match read_new(&body) {
            Ok(new) => format!("{} {} {:?}", new.label, new.kind.as_str(), new.payload.fields),
            Err(error) if !error.faults().is_empty() => {
                error.faults().iter().map(|fault| format!("{}: {}\n", fault.path, fault.message)).collect()
            }
            Err(error) => error.to_string(),
        };
        assert!(!told.contains("hunter2"), "{told}");
        expected.assert_eq(told.trim_end());
    }

    #[test]
    fn payload_of_each_type_is_taken() {
        let body = |kind: &str, payload: Value| json!({ "label": "a", "type": kind, "payload": payload });
        check(body("api_key", json!({ "api_key": "hunter2" })), expect![[r#"a api_key ["api_key"]"#]]);
        check(body("bearer", json!({ "token": "hunter2" })), expect![[r#"a bearer ["token"]"#]]);
        check(
            body("basic", json!({ "username": "bob", "password": "" })),
            expect![[r#"a basic ["username", "password"]"#]],
        );
        check(
            body("custom", json!({ "pem": "-----BEGIN\nhunter2", "key-id": "7" })),
            expect![[r#"a custom ["pem", "key-id"]"#]],
        );
    }

    #[test]
    fn every_fault_is_told_and_no_value() {
        check(
            json!({}),
            expect![[r#"
                /label: is required
                /type: is required
                /payload: is required"#]],
        );
        check(
            json!({ "label": "hunter2 hunter2", "type": "hunter2", "payload": "hunter2", "colour": "hunter2",
                    "provider_key": "hunter2/", "provider_variant": 7 }),
            expect![[r#"
                /label: must consist of letters a-z, digits, `.`, `_` and `-`
                /type: must be one of "api_key", "bearer", "basic", "custom"
                /provider_key: must consist of letters a-z, digits, `.`, `_` and `-`
                /provider_variant: must be a string, not a number
                /payload: must be an object, not a string
                /colour: is not a known member"#]],
        );
        check(
            json!({ "label": "-a", "type": "basic", "payload": { "username": "hunter2:", "token": "hunter2" } }),
            expect![[r#"
                /label: must start and end with a letter or a digit
                /payload/password: is required
                /payload/username: must not contain `:`
                /payload/token: must be left out: `basic` does not support it"#]],
        );
        check(
            json!({ "label": "a", "type": "custom",
                    "payload": { "a b": "hunter2", "c": ["hunter2"], "d": "", "e": "***", "f": "x\u{0}" } }),
            expect![[r#"
                /payload/a b: must have a name of letters a-z, digits, `_` and `-` that starts with a letter or `_` and has at most 64 characters
                /payload/c: must be a string, not an array
                /payload/d: must have 1 to 16384 bytes
                /payload/e: must be the secret itself: `***` keeps a stored secret only while kind, server and tool stay the same
                /payload/f: must not contain control characters"#]],
        );
        check(
            json!({ "label": "a", "type": "api_key", "payload": { "api_key": "hunter2\r\nX-Evil: 1" } }),
            expect!["/payload/api_key: must not contain control characters"],
        );
        check(
            json!({ "label": "a", "type": "custom", "payload": {} }),
            expect!["/payload: must have at least 1 property"],
        );
    }

    #[test]
    fn hosts_are_told_at_their_index_and_null_is_every_host() {
        let with = |hosts: Value| json!({ "label": "a", "type": "bearer", "payload": { "token": "t" }, "allowed_hosts": hosts });
        let hosts = json!(["api.example.com", "*.example.com", "192.0.2.1", "::1"]);
        assert_eq!(json!(read_new(&with(hosts.clone())).unwrap().allowed_hosts), hosts);
        assert_eq!(read_new(&with(Value::Null)).unwrap().allowed_hosts, None);
        let Err(Error::InvalidParams { faults, .. }) =
            read_new(&with(json!(["api.example.com", "https://a.example", 7, "*", "a.example:80"])))
        else {
            panic!("such hosts are refused");
        };
        let places: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(places, ["/allowed_hosts/1", "/allowed_hosts/2", "/allowed_hosts/3", "/allowed_hosts/4"]);
        let change = read_change(&json!({ "allowed_hosts": [] }), CredentialType::Bearer).unwrap();
        assert_eq!(change.allowed_hosts, Some(Some(Vec::new())));
        assert_eq!(read_change(&json!({}), CredentialType::Bearer).unwrap().allowed_hosts, None);
    }

    #[test]
    fn another_type_needs_another_payload() {
        let refused = read_change(&json!({ "type": "basic" }), CredentialType::ApiKey).unwrap_err();
        assert_eq!(refused.to_string(), "Missing required param: payload");
        assert!(read_change(&json!({ "type": "basic" }), CredentialType::Basic).is_ok());
    }

    #[test]
    fn payload_is_bounded() {
        let many: Map<String, Value> = (0..33).map(|n| (format!("f{n}"), json!("x"))).collect();
        let long: Map<String, Value> =
            (0..5).map(|n| (format!("f{n}"), json!("x".repeat(16 << 10)))).collect();
        for payload in [many, long] {
            assert!(read_new(&json!({ "label": "a", "type": "custom", "payload": payload })).is_err());
        }
    }

    #[test]
    fn payload_is_not_shown() {
        let new =
            read_new(&json!({ "label": "a", "type": "bearer", "payload": { "token": "hunter2" } })).unwrap();
        assert!(!format!("{new:?}").contains("hunter2"));
    }
}
