//! Takes credentials out of what a service sends back.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use tw_model::{REDACTED, ToolFailure, ToolResult};
use zeroize::Zeroizing;

use crate::url_template::ENCODED;

/// What is shorter is a word that answers are full of.
const LEN_MIN: usize = 6;

/// The credentials of one call, in every spelling that a service may echo.
#[derive(Default)]
pub(crate) struct Redactor {
    /// The longest first, so that no part of a secret is left where another begins.
    spellings: Vec<Zeroizing<String>>,
}

impl Redactor {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut spellings = Vec::new();
        for secret in secrets {
            spell(secret, &mut spellings);
            // A header of type `Basic` is read by the other side, which then knows the password.
            if let Some(pair) = decoded(secret) {
                spell(&pair, &mut spellings);
                if let Some((_, password)) = pair.split_once(':') {
                    spell(password, &mut spellings);
                }
            }
        }
        spellings.sort_by(|left, right| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        spellings.dedup();
        Self { spellings }
    }

    pub(crate) fn text(&self, text: String) -> String {
        let mut text = text;
        for spelling in &self.spellings {
            if text.contains(spelling.as_str()) {
                text = text.replace(spelling.as_str(), REDACTED);
            }
        }
        text
    }

    pub(crate) fn value(&self, value: Value) -> Value {
        if self.spellings.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Value::Object(members) => {
                let clean = |(name, member)| (self.text(name), self.value(member));
                Value::Object(members.into_iter().map(clean).collect::<Map<_, _>>())
            }
            Value::Number(number) => {
                let text = number.to_string();
                let is_secret = self.spellings.iter().any(|spelling| text.contains(spelling.as_str()));
                if is_secret { Value::String(REDACTED.to_owned()) } else { Value::Number(number) }
            }
            plain => plain,
        }
    }

    pub(crate) fn outcome(
        &self,
        outcome: Result<ToolResult, ToolFailure>,
    ) -> Result<ToolResult, ToolFailure> {
        match outcome {
            Ok(ToolResult { data, summary, markdown }) => Ok(ToolResult {
                data: self.value(data),
                summary: self.text(summary),
                markdown: markdown.map(|text| self.text(text)),
            }),
            Err(ToolFailure { code, message }) => Err(ToolFailure { code, message: self.text(message) }),
        }
    }
}

fn decoded(secret: &str) -> Option<Zeroizing<String>> {
    let bytes = Zeroizing::new(STANDARD.decode(secret).ok()?);
    let text = std::str::from_utf8(&bytes).ok()?;
    text.contains(':').then(|| Zeroizing::new(text.to_owned()))
}

fn spell(secret: &str, into: &mut Vec<Zeroizing<String>>) {
    if secret.chars().count() < LEN_MIN {
        return;
    }
    let quoted = Value::String(secret.to_owned()).to_string();
    let percent = utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string();
    let form: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let spellings = [
        secret.to_owned(),
        quoted[1..quoted.len() - 1].to_owned(),
        quoted[1..quoted.len() - 1].replace('/', "\\/"),
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        lower_hex(&percent),
        lower_hex(&form),
        utf8_percent_encode(secret, ENCODED).to_string(),
        percent,
        form,
    ];
    into.extend(spellings.into_iter().map(Zeroizing::new));
}

/// `%2F` as `%2f`, with everything else as it was.
fn lower_hex(encoded: &str) -> String {
    let mut left = 0;
    let lower = |c: char| {
        left = if c == '%' { 2 } else { left };
        if c != '%' && left > 0 {
            left -= 1;
            return c.to_ascii_lowercase();
        }
        c
    };
    encoded.chars().map(lower).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECRET: &str = "pa/ss+\"wörd\" 1";

    #[test]
    fn secret_is_found_in_every_spelling() {
        let redactor = Redactor::new([SECRET]);
        let spellings = [
            SECRET.to_owned(),
            json!(SECRET).to_string(),
            json!(SECRET).to_string().replace('/', "\\/"),
            STANDARD.encode(SECRET),
            URL_SAFE_NO_PAD.encode(SECRET),
            utf8_percent_encode(SECRET, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(SECRET, NON_ALPHANUMERIC).to_string().to_lowercase(),
            url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect(),
        ];
        for spelling in spellings {
            let clean = redactor.text(format!("<{spelling}>"));
            assert!(matches!(&*clean, "<***>" | "<\"***\">"), "{spelling}: {clean}");
        }
        let clean = redactor.value(json!({ "a": [format!("Bearer {SECRET}")], (SECRET): 1 }));
        assert_eq!(clean, json!({ "a": ["Bearer ***"], "***": 1 }));
    }

    #[test]
    fn password_behind_a_basic_header_is_found_too() {
        let redactor = Redactor::new([STANDARD.encode("user:hunter2!").as_str()]);
        assert_eq!(redactor.text("user:hunter2! and hunter2! for user".to_owned()), "*** and *** for user");
    }

    #[test]
    fn number_that_is_a_secret_is_found_and_short_words_are_left() {
        let redactor = Redactor::new(["8675309", "abc"]);
        assert_eq!(redactor.value(json!([8675309, 86753, "abc"])), json!(["***", 86753, "abc"]));
    }

    #[test]
    fn no_part_is_left_where_one_secret_is_within_another() {
        let redactor = Redactor::new(["secret-1", "secret-1-and-more"]);
        assert_eq!(redactor.text("secret-1-and-more secret-1".to_owned()), "*** ***");
    }
}
