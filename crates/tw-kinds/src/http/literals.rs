//! Finds the secrets that an author wrote out in a definition.
//!
//! Whoever reads a definition sees none of its headers, to be on the safe side. An answer is another matter:
//! what is taken out of it is gone for good, and `X-Units: metric` would take every `metric` with it.

use serde_json::{Map, Value, json};
use tw_model::each_secret;

/// Parts of names that say that what they name is secret.
const SECRET_NAMES: &[&str] =
    &["auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token"];
/// How long a text is that looks like a secret under any name.
const SECRET_LEN_MIN: usize = 20;
/// How long the value of a cookie is that is no setting.
const COOKIE_LEN_MIN: usize = 8;

/// The secrets that are written out: texts whose name says so, and whatever in a header looks like one. Of
/// `Bearer abc` also the `abc`.
pub(super) fn literals(members: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["query", "body"] {
        if let Some(part) = members.get(name) {
            each_secret(&mut json!({ name: part }), &mut |secret| push(&text(secret), &mut found));
        }
    }
    for (name, value) in members.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let name = name.to_ascii_lowercase();
        each_secret(&mut json!({ "headers": value }), &mut |secret| {
            let text = text(secret);
            if name.contains("cookie") {
                let values = text.split(';').filter_map(|pair| Some(pair.split_once('=')?.1.trim()));
                found.extend(values.filter(|value| COOKIE_LEN_MIN <= value.len()).map(str::to_owned));
                found.push(text);
            } else if names_a_secret(&name) || text.split(' ').any(looks_secret) {
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

fn names_a_secret(name: &str) -> bool {
    // An author is a person, and no authorization.
    let other = name.replace("authorization", "auth").replace("author", "");
    SECRET_NAMES.iter().any(|word| other.contains(word))
}

fn looks_secret(word: &str) -> bool {
    SECRET_LEN_MIN <= word.len()
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
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
        } });
        assert_eq!(found(plain), [""; 0]);
        let secret = json!({
            "headers": {
                "Authorization": "Bearer abc", "X-Api-Key": "k-1", "X-Auth": 1234, "X-Signature": "s", "X-Access-Token": "t",
                "Cookie": "theme=dark; sid=canary-cookie", "X-Thing": "0123456789abcdefghij",
            },
            "query": { "apiKey": "q", "units": "metric" }, "body": { "deep": [{ "password": "p" }] },
        });
        let expected = [
            "q",
            "p",
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
