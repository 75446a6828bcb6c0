//! Finds the secrets that an author wrote out in a definition.
//!
//! Whoever reads a definition sees none of its headers, to be on the safe side. An answer is another matter:
//! what is taken out of it is gone for good, and `X-Units: metric` would take every `metric` with it.

use serde_json::{Map, Value, json};
use tw_model::{each_secret, looks_secret, name_ends_in};

/// Last words of headers that say that what they name is secret.
const SECRET_HEADERS: &[&str] = &[
    "auth",
    "authorization",
    "credential",
    "credentials",
    "key",
    "password",
    "secret",
    "session",
    "sessionid",
    "signature",
    "token",
];
/// How long the value of a cookie is that is no setting.
const COOKIE_LEN_MIN: usize = 8;

/// The secrets that are written out: what is named like one, and whatever in a header looks like one. Of
/// `Bearer abc` also the `abc`.
///
/// In a query or a body looks do not count: the name of a model or the id of a folder looks like a key, and
/// answers are full of it.
pub(super) fn literals(members: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["query", "body"] {
        if let Some(part) = members.get(name) {
            each_secret(&mut json!({ name: part }), &mut |secret| push(&text(secret), &mut found));
        }
    }
    for (name, value) in members.get("headers").and_then(Value::as_object).into_iter().flatten() {
        each_secret(&mut json!({ "headers": value }), &mut |secret| {
            let text = text(secret);
            if name_ends_in(name, &["cookie"]) {
                let values = text.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim()));
                found.extend(values.filter(|value| COOKIE_LEN_MIN <= value.len()).map(str::to_owned));
                found.push(text);
            } else if name_ends_in(name, SECRET_HEADERS) || text.split(' ').any(looks_secret) {
                push(&text, &mut found);
            }
        });
    }
    found
}

fn text(literal: &Value) -> String {
    literal.as_str().map_or_else(|| literal.to_string(), ToOwned::to_owned)
}

fn push(text: &str, into: &mut Vec<String>) {
    into.extend(text.split_once(' ').map(|(_, rest)| rest.to_owned()));
    into.push(text.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_that_is_no_secret_is_not_taken_out_of_answers() {
        let found = |implementation: Value| literals(implementation.as_object().unwrap());
        let plain = json!({ "headers": {
            "X-Units": "metric", "X-GitHub-Api-Version": "2022-11-28", "X-Id": "123456", "X-N": 123_456,
            "X-Author": "Jane Doe", "Accept": "application/json", "User-Agent": "toolwright example agent",
            "X-Note": "a sentence of more than 20 letters", "Authorization": "secret:crm", "X-Key": "{{ input.key }}",
            "X-Session-Type": "read", "X-Token-Limit": 4096, "X-Cookie-Consent": "yes", "X-Login": "Bearer secret:crm",
        } });
        assert_eq!(found(plain), [""; 0]);
        let plain = json!({
            "query": { "token_type": "Bearer", "secret_scanning": "open", "folder": "0123456789abcdefghij" },
            "body": {
                "model": "model-of-the-year-20260101", "max_tokens": 4096, "tokens": [1, "two"], "eos_token": 2,
                "password_policy": { "min": 8 },
            },
        });
        assert_eq!(found(plain), [""; 0]);
        let secret = json!({
            "headers": {
                "Authorization": "Bearer abc", "X-Api-Key": "k-1", "X-Auth": 1234, "X-Signature": "s", "X-Access-Token": "t",
                "Cookie": "theme=dark; sid=canary-cookie", "X-Thing": "0123456789abcdefghij",
            },
            "query": { "apiKey": "q", "units": "metric" }, "body": { "deep": [{ "password": "p" }, { "pin": 4711 }] },
        });
        let expected = [
            "q",
            "p",
            "4711",
            "abc",
            "Bearer abc",
            "k-1",
            "1234",
            "s",
            "t",
            "canary-cookie",
            "theme=dark; sid=canary-cookie",
            "0123456789abcdefghij",
        ];
        assert_eq!(found(secret), expected);
    }
}
