//! Names that say that what they name is secret.
//!
//! A name that says such a word names a secret, whatever else it says: `access_token`, `api_key_prod`. Unless it says
//! behind it that it is about something of the secret: a `token_type` is none, and `max_tokens` are counted. How the
//! words are put together does not matter: `api_key`, `apiKey` and `X-API-Key` are one name.

/// What is written out under names that end like this is secret, numbers included.
const SECRETS: &[&str] = &[
    "accesskey",
    "apikey",
    "apikeys",
    "authorization",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "privatekey",
    "secret",
    "secretkey",
    "secrets",
];
/// Words of which no number is a secret by name, except where they end it.
const WORDS: &[&str] = &[
    "accesskey",
    "apikey",
    "authorization",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "token",
];
/// What is behind such a word where it is not the secret itself that is named.
const ABOUT: &[&str] = &[
    "age",
    "budget",
    "count",
    "endpoint",
    "enabled",
    "expires",
    "expiresat",
    "expiresin",
    "expiry",
    "field",
    "format",
    "header",
    "hint",
    "id",
    "izer",
    "kind",
    "length",
    "limit",
    "location",
    "method",
    "name",
    "path",
    "policy",
    "ref",
    "required",
    "scanning",
    "sref",
    "s",
    "size",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
];
/// How long a text is that looks like a secret under any name.
const SECRET_LEN_MIN: usize = 20;

/// Whether a text under this name is secret.
///
/// # Example
///
/// ```
/// use tw_model::names_a_secret;
///
/// assert!(names_a_secret("apiKey") && names_a_secret("access_token"));
/// assert!(!names_a_secret("max_tokens") && !names_a_secret("token_type"));
/// ```
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    Hidden::Texts <= Hidden::under(name)
}

/// Whether a name ends in one of these words, which are in lower case and without anything between.
#[must_use]
pub fn name_ends_in(name: &str, words: &[&str]) -> bool {
    let name = plain(name);
    words.iter().any(|word| name.ends_with(word))
}

/// Whether a word is like those that machines make for keys.
#[must_use]
pub fn looks_secret(word: &str) -> bool {
    SECRET_LEN_MIN <= word.len()
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
}

/// How much of what stands in a place is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hidden {
    Nothing,
    /// Texts that look like it.
    Alike,
    Texts,
    /// Texts and numbers that stand there themselves, and of what is further below the texts.
    Numbers,
    /// Texts and numbers, however far below.
    Everything,
}

impl Hidden {
    /// What is secret under a name.
    pub(crate) fn under(name: &str) -> Self {
        let name = plain(name);
        if name == "headers" {
            Self::Everything
        } else if SECRETS.iter().any(|word| name.ends_with(word)) || name == "pin" || name == "token" {
            Self::Numbers
        } else if name == "tokens" {
            Self::Alike
        } else if WORDS
            .iter()
            .any(|word| name.rsplit_once(word).is_some_and(|(_, rest)| !ABOUT.contains(&rest)))
        {
            // A number of a tokenizer is no secret.
            Self::Texts
        } else {
            Self::Nothing
        }
    }

    /// What is secret in the members of an object that stands there.
    pub(crate) fn in_members(self) -> Self {
        if self == Self::Numbers { Self::Texts } else { self }
    }
}

/// A name without what its words are put together with, and without what tells several of its kind apart.
fn plain(name: &str) -> String {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    match name.strip_suffix("value") {
        Some(named) if !named.is_empty() => named.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_says_a_secret_names_one_unless_it_says_more() {
        for name in [
            "api_key",
            "apiKey",
            "APIKey",
            "x-api-key",
            "apikey",
            "token",
            "access_token",
            "accessToken",
            "accesstoken",
            "client_secret",
            "secret",
            "secretKey",
            "secretAccessKey",
            "private_key",
            "password",
            "db_password",
            "password2",
            "api_key_2",
            "token_value",
            "Authorization",
            "Proxy-Authorization",
            "credentials",
            "pin",
            "api_key_prod",
            "tokenProduction",
            "password_of_bob",
            "secret_old",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in [
            "max_tokens",
            "tokens",
            "token_type",
            "tokenizer",
            "token_count",
            "password_policy",
            "secret_scanning",
            "credentials_ref",
            "credential_ref",
            "credential_id",
            "authorization_url",
            "author",
            "key",
            "sort_key",
            "monkey",
            "spin",
            "value",
            "",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn word_of_a_machine_looks_secret_and_a_long_one_of_people_does_not() {
        assert!(looks_secret("sk_live_0123456789abcdef"));
        for word in ["sk_live_0123", "01234567890123456789012", "internationalization-of-tools"] {
            assert!(!looks_secret(word), "{word}");
        }
    }
}
