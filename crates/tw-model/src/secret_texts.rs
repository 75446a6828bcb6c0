//! Finds the secrets that an author wrote out in a definition.
//!
//! Whoever reads a definition sees none of its headers, to be on the safe side. An answer is another matter:
//! what is taken out of it is gone for good, and `X-Units: metric` would take every `metric` with it.

use serde_json::{Value, json};

use crate::{each_secret, looks_secret, name_ends_in, names_a_secret};

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

/// The secrets that are written out in a part of a definition: what is named like one, and whatever in a header looks
/// like one. Of `Bearer abc` also the `abc`.
///
/// Elsewhere looks do not count: the name of a model or the id of a folder looks like a key, and answers are full of it.
#[must_use]
pub fn secret_texts(part: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(part, &mut found);
    found
}

fn collect(part: &Value, found: &mut Vec<String>) {
    match part {
        Value::Object(members) => members.iter().for_each(|(name, member)| match member {
            Value::Object(headers) if name.eq_ignore_ascii_case("headers") => {
                headers.iter().for_each(|(name, value)| of_header(name, value, found));
            }
            _ if names_a_secret(name) || !(member.is_object() || member.is_array()) => {
                each_secret(&mut json!({ name: member }), &mut |secret| push(&text(secret), found));
            }
            Value::Array(items) => {
                let plain = items.iter().filter(|item| !(item.is_object() || item.is_array())).cloned();
                let plain: Vec<Value> = plain.collect();
                each_secret(&mut json!({ name: plain }), &mut |secret| push(&text(secret), found));
                collect(member, found);
            }
            _ => collect(member, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

fn of_header(name: &str, value: &Value, found: &mut Vec<String>) {
    each_secret(&mut json!({ "headers": value }), &mut |secret| {
        let text = text(secret);
        if name_ends_in(name, &["cookie"]) {
            let values = text.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim()));
            found.extend(values.filter(|value| COOKIE_LEN_MIN <= value.len()).map(str::to_owned));
            found.push(text);
        } else if name_ends_in(name, SECRET_HEADERS) || text.split(' ').any(looks_secret) {
            push(&text, found);
        }
    });
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
        let plain = json!({ "headers": {
            "X-Units": "metric", "X-GitHub-Api-Version": "2022-11-28", "X-Id": "123456", "X-N": 123_456,
            "X-Author": "Jane Doe", "Accept": "application/json", "User-Agent": "toolwright example agent",
            "X-Note": "a sentence of more than 20 letters", "Authorization": "secret:crm", "X-Key": "{{ input.key }}",
            "X-Session-Type": "read", "X-Token-Limit": 4096, "X-Cookie-Consent": "yes", "X-Login": "Bearer secret:crm",
        } });
        assert_eq!(secret_texts(&plain), [""; 0]);
        let plain = json!({
            "query": { "token_type": "Bearer", "secret_scanning": "open", "folder": "0123456789abcdefghij" },
            "body": {
                "model": "model-of-the-year-20260101", "max_tokens": 4096, "tokens": [1, "two"], "eos_token": 2,
                "password_policy": { "min": 8 },
            },
        });
        assert_eq!(secret_texts(&plain), [""; 0]);
        let secret = json!({
            "query": { "apiKey": "q", "units": "metric" }, "body": { "deep": [{ "password": "p" }, { "pin": 4711 }] },
            "headers": {
                "Authorization": "Bearer abc", "X-Api-Key": "k-1", "X-Auth": 1234, "X-Signature": "s", "X-Access-Token": "t",
                "Cookie": "theme=dark; sid=canary-cookie", "X-Thing": "0123456789abcdefghij",
            },
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
        assert_eq!(secret_texts(&secret), expected);
    }

    #[test]
    fn secret_is_found_in_the_steps_of_a_chain() {
        let chain = json!({ "kind": "composition", "steps": [
            { "id": "a", "tool": "x", "input": { "headers": { "Authorization": "Bearer one", "Accept": "text/plain" } } },
            { "id": "b", "tool": "x", "input": { "secrets": ["two", { "value": "three" }], "tokens": ["sk_live_0123456789abcdef"] } },
        ], "output": { "password": "four" } });
        let expected = ["one", "Bearer one", "two", "three", "sk_live_0123456789abcdef", "four"];
        assert_eq!(secret_texts(&chain), expected);
    }
}
