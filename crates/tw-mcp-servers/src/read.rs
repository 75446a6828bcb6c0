//! What somebody sends about a server, read with every fault at once. No message repeats the value of a header.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tw_base::{Error, Result, faultless, is_of_client, members, name_violation};
use tw_mcp_client::Target;
use tw_model::{REDACTED, check_name, left_redacted, names_a_secret, with_kept_secrets};
use tw_registry::makes_slugs;
use tw_schema::{Fault, Violation};

/// Derived or written elsewhere. Whoever saves what they read sends them back.
const READ_ONLY: &[&str] = &[
    "id",
    "status",
    "last_error",
    "server",
    "protocol_version",
    "tools",
    "tool_count",
    "pending_drifts",
    "sign_in",
    "left_out",
    "last_listed_at",
    "created_at",
    "updated_at",
    "created_by",
    "etag",
];
/// Members of the configuration of servers that are started by a command.
const OF_COMMANDS: &[&str] = &["command", "args", "env", "cwd"];
const TRANSPORTS: &[&str] = &["http", "streamable-http", "streamable_http"];

const NAME_BYTES_MAX: usize = 64;
const URL_BYTES_MAX: usize = 2_048;
const HEADERS_MAX: usize = 32;
const HEADER_BYTES_MAX: usize = 16 << 10;
const CLIENT_ID_BYTES_MAX: usize = 2_048;
const CLIENT_SECRET_BYTES_MAX: usize = 8 << 10;
const ALLOWED_MAX: usize = 2_000;
const ALLOWED_BYTES_MAX: usize = 512;
/// How many members that are not known are named, and how much of each.
const UNKNOWN_TOLD: usize = 10;
const SHOWN_MAX: usize = 64;

/// What is said about a server; `None` leaves as it is.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) name: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) headers: Option<Map<String, Value>>,
    pub(crate) allowed_tools: Option<Option<Vec<String>>>,
    pub(crate) client_id: Option<Option<String>>,
    pub(crate) client_secret: Option<Option<String>>,
    /// What comes of the two before.
    pub(crate) client: Option<Value>,
}

/// A server to be made.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) headers: Map<String, Value>,
    pub(crate) allowed_tools: Option<Vec<String>>,
    pub(crate) client: Option<Value>,
}

/// `refuses` says what is wrong with an address that may not be called.
pub(crate) fn read_new(body: &Value, refuses: impl Fn(&str) -> Option<Violation>) -> Result<New> {
    let (sent, mut faults) = read(body, refuses)?;
    let mut need = |key: &str, is_there: bool| {
        let path = format!("/{key}");
        if !is_there && !faults.iter().any(|fault| fault.path == path) {
            faults.push(Violation::required().at(path));
        }
    };
    need("name", sent.name.is_some());
    // Who sends a command is told about that, not about the address it does not have.
    need("url", sent.url.is_some() || OF_COMMANDS.iter().any(|key| body.get(*key).is_some()));
    let headers = sent.headers.unwrap_or_default();
    refuse_redacted(&headers, &mut faults);
    let client = client(sent.client_id.flatten(), sent.client_secret.flatten(), &mut faults);
    faultless(faults)?;
    match (sent.name, sent.url) {
        (Some(name), Some(url)) => {
            Ok(New { name, url, headers, allowed_tools: sent.allowed_tools.flatten(), client })
        }
        _ => Err(Error::invalid("/url", Violation::required())),
    }
}

/// A change to a server that is at `url` and is sent `headers`, which may be sealed, as may what is known of the `client`.
/// Returns the headers that it is to be sent, where something about them or the address changes, and the client that this
/// is to be there. `refuses` says what is wrong with an address that may not be called.
pub(crate) fn read_change(
    body: &Value,
    url: &str,
    headers: &Value,
    before: Option<&Value>,
    refuses: impl Fn(&str) -> Option<Violation>,
) -> Result<Sent> {
    let (mut sent, mut faults) = read(body, |new| if new == url { None } else { refuses(new) })?;
    let target = sent.url.as_deref().unwrap_or(url);
    let new = sent
        .headers
        .clone()
        .map_or_else(|| tw_model::redacted(&json!({ "headers": headers }))["headers"].clone(), Value::Object);
    let kept = with_kept_secrets(
        json!({ "url": target, "headers": new }),
        &json!({ "url": url, "headers": headers }),
    );
    let kept = kept["headers"].as_object().cloned().unwrap_or_default();
    refuse_redacted(&kept, &mut faults);
    sent.client = changed_client(&sent, url, before, &mut faults);
    faultless(faults)?;
    sent.headers = Some(kept);
    Ok(sent)
}

/// What this is to be known as, after what was said about it. Who lets people in is kept only as long as they are asked
/// in the same words.
fn changed_client(sent: &Sent, url: &str, before: Option<&Value>, faults: &mut Vec<Fault>) -> Option<Value> {
    let is_moved = sent.url.as_deref().is_some_and(|sent| sent != url);
    if sent.client_id.is_none() && sent.client_secret.is_none() && !is_moved {
        return before.cloned();
    }
    let text = |name: &str| before.and_then(|before| before[name].as_str()).map(str::to_owned);
    let id = sent.client_id.clone().unwrap_or_else(|| text("client_id"));
    let is_same_id = id == text("client_id");
    let shown =
        || text("client_secret").map(|secret| if is_open(&secret) { secret } else { REDACTED.to_owned() });
    // Left out, the secret goes with the name that it belongs to.
    let secret = match &sent.client_secret {
        Some(secret) => secret.clone(),
        None => shown().filter(|_| id.is_some() && is_same_id),
    };
    let target = sent.url.as_deref().unwrap_or(url);
    let kept = with_kept_secrets(
        json!({ "url": target, "client_secret": secret }),
        &json!({ "url": url, "client_secret": text("client_secret").filter(|_| is_same_id) }),
    );
    let secret = kept["client_secret"].as_str().map(str::to_owned);
    let mut client = client(id, secret, faults)?;
    let is_same = before.is_some_and(|before| {
        ["client_id", "client_secret"].iter().all(|name| client[*name] == before[*name])
    });
    if let Some(issuer) = text("issuer").filter(|_| is_same && !is_moved) {
        client["issuer"] = json!(issuer);
    }
    Some(client)
}

/// Whether a secret is a reference, which may be shown.
fn is_open(secret: &str) -> bool {
    tw_model::redacted(&json!({ "client_secret": secret }))["client_secret"] == *secret
}

fn client(id: Option<String>, secret: Option<String>, faults: &mut Vec<Fault>) -> Option<Value> {
    if secret.as_deref() == Some(REDACTED) {
        faults.push(Violation::redacted().at("/client_secret"));
    }
    match (id, secret) {
        (None, None) => None,
        (None, Some(_)) => {
            faults.push(Violation::required().at("/client_id"));
            None
        }
        (Some(id), None) => Some(json!({ "client_id": id })),
        (Some(id), Some(secret)) => Some(json!({ "client_id": id, "client_secret": secret })),
    }
}

fn refuse_redacted(headers: &Map<String, Value>, faults: &mut Vec<Fault>) {
    if let Some(path) = left_redacted(&json!({ "headers": headers })) {
        faults.push(Violation::redacted().at(path));
    }
}

fn read(body: &Value, refuses: impl Fn(&str) -> Option<Violation>) -> Result<(Sent, Vec<Fault>)> {
    let mut members = members(body)?;
    for key in READ_ONLY {
        members.shift_remove(*key);
    }
    if let Some(allowed) = members.shift_remove("allowedTools") {
        members.entry("allowed_tools").or_insert(allowed);
    }
    let mut faults = Vec::new();
    let mut sent = Sent::default();
    let mut command = false;
    for key in OF_COMMANDS {
        if members.shift_remove(*key).is_some() && !std::mem::replace(&mut command, true) {
            faults.push(Violation::mcp_command().at(format!("/{key}")));
        }
    }
    match members.shift_remove("transport") {
        Some(Value::String(transport)) if TRANSPORTS.contains(&transport.as_str()) => {}
        None | Some(Value::Null) => {}
        Some(Value::String(transport)) if transport == "stdio" => {
            if !command {
                faults.push(Violation::mcp_command().at("/transport"));
            }
        }
        Some(_) => faults.push(Violation::constant("http").at("/transport")),
    }
    if let Some(name) = members.shift_remove("name") {
        sent.name = text("name", name, &mut faults).filter(|name| {
            let wrong = match check_name(name) {
                Err(error) => Some(name_violation(&error)),
                Ok(()) if NAME_BYTES_MAX < name.len() => Some(Violation::byte_length(1, NAME_BYTES_MAX)),
                Ok(()) if !makes_slugs(name) => Some(Violation::slug_unmakeable()),
                Ok(()) => None,
            };
            faults.extend(wrong.clone().map(|wrong| wrong.at("/name")));
            wrong.is_none()
        });
    }
    if let Some(url) = members.shift_remove("url") {
        sent.url = text("url", url, &mut faults).filter(|url| {
            let wrong = wrong_url(url).or_else(|| refuses(url));
            faults.extend(wrong.clone().map(|wrong| wrong.at("/url")));
            wrong.is_none()
        });
    }
    if let Some(headers) = members.shift_remove("headers") {
        sent.headers = read_headers(headers, &mut faults);
    }
    if let Some(allowed) = members.shift_remove("allowed_tools") {
        sent.allowed_tools = read_allowed(allowed, &mut faults);
    }
    let mut client_text = |name: &str, most| {
        let path = format!("/{name}");
        match members.shift_remove(name)? {
            Value::Null => Some(None),
            Value::String(text) if !(1..=most).contains(&text.len()) => {
                faults.push(Violation::byte_length(1, most).at(path));
                None
            }
            Value::String(text) if !text.bytes().all(|b| (0x20..0x7f).contains(&b)) => {
                faults.push(Violation::header("it must be of visible ASCII characters").at(path));
                None
            }
            Value::String(text) => Some(Some(text)),
            other => {
                faults.push(Violation::typed(&["string", "null"], &other).at(path));
                None
            }
        }
    };
    sent.client_id = client_text("client_id", CLIENT_ID_BYTES_MAX);
    sent.client_secret = client_text("client_secret", CLIENT_SECRET_BYTES_MAX);
    members.retain(|name, _| !is_of_client(name));
    for key in members.keys().take(UNKNOWN_TOLD) {
        let shown: String = key.chars().take(SHOWN_MAX).collect();
        let path = format!("/{}", shown.replace('~', "~0").replace('/', "~1"));
        faults.push(Violation::unknown_member().at(path));
    }
    Ok((sent, faults))
}

fn text(key: &str, value: Value, faults: &mut Vec<Fault>) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null => {
            faults.push(Violation::not_null().at(format!("/{key}")));
            None
        }
        other => {
            faults.push(Violation::typed(&["string"], &other).at(format!("/{key}")));
            None
        }
    }
}

/// What is wrong with an address without asking whether it may be called.
fn wrong_url(url: &str) -> Option<Violation> {
    if url.is_empty() || URL_BYTES_MAX < url.len() {
        return Some(Violation::byte_length(1, URL_BYTES_MAX));
    }
    let Some((scheme, rest)) = url.split_once("://") else { return Some(Violation::url_scheme()) };
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Some(Violation::url_scheme());
    }
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some(Violation::url_user());
    }
    if url.contains('#') {
        return Some(Violation::url_fragment());
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let named = query.split('&').filter_map(|pair| pair.split('=').next()).find(|name| names_a_secret(name));
    named.map(Violation::url_secret)
}

fn read_headers(headers: Value, faults: &mut Vec<Fault>) -> Option<Map<String, Value>> {
    let headers = match headers {
        Value::Null => return Some(Map::new()),
        Value::Object(headers) => headers,
        other => {
            faults.push(Violation::typed(&["object"], &other).at("/headers"));
            return None;
        }
    };
    if HEADERS_MAX < headers.len() {
        faults.push(Violation::schema_limit(HEADERS_MAX, "headers").at("/headers"));
        return None;
    }
    let told = faults.len();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (name, value) in &headers {
        let shown: String = name.chars().take(SHOWN_MAX).collect();
        let path = format!("/headers/{}", shown.replace('~', "~0").replace('/', "~1"));
        let Some(value) = value.as_str() else {
            faults.push(Violation::typed(&["string"], value).at(path));
            continue;
        };
        if HEADER_BYTES_MAX < value.len() {
            faults.push(Violation::byte_length(0, HEADER_BYTES_MAX).at(path));
        } else if let Err(error) = Target::check_header(name, value) {
            faults.push(Violation::header(crate::ask::why_of(&error)).at(path));
        } else if !names.insert(name.to_ascii_lowercase()) {
            faults.push(Violation::header_twice(name.as_str()).at(path));
        }
    }
    (faults.len() == told).then_some(headers)
}

fn read_allowed(allowed: Value, faults: &mut Vec<Fault>) -> Option<Option<Vec<String>>> {
    let allowed = match allowed {
        Value::Null => return Some(None),
        Value::Array(allowed) => allowed,
        other => {
            faults.push(Violation::typed(&["array"], &other).at("/allowed_tools"));
            return None;
        }
    };
    if ALLOWED_MAX < allowed.len() {
        faults.push(Violation::max_items(ALLOWED_MAX).at("/allowed_tools"));
        return None;
    }
    let told = faults.len();
    let mut names: Vec<String> = Vec::new();
    for (index, name) in allowed.into_iter().enumerate() {
        match name {
            Value::String(name) if (1..=ALLOWED_BYTES_MAX).contains(&name.len()) && !name.contains('\0') => {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Value::String(_) => {
                faults
                    .push(Violation::byte_length(1, ALLOWED_BYTES_MAX).at(format!("/allowed_tools/{index}")));
            }
            other => {
                faults.push(Violation::typed(&["string"], &other).at(format!("/allowed_tools/{index}")));
            }
        }
    }
    (faults.len() == told).then_some(Some(names))
}
