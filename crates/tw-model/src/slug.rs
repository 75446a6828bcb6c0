//! The names of tools and tenants.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a tool, such as `roi-calculator` or `data.searchRecords`.
///
/// ASCII letters, digits, `_` and `-` in parts joined by dots; each part starts with a letter; no
/// `__`; at most 128 characters. Dots become `__` for model providers that forbid dots, which is why
/// `__` is not allowed: the way back would be ambiguous. Look-alike letters of other alphabets cannot
/// be spelled at all.
///
/// Case is kept and shown, and two slugs that differ only by case are the same name: see [`Slug::key`].
///
/// ```
/// use tw_model::Slug;
///
/// let slug: Slug = "data.searchRecords".parse()?;
/// assert_eq!(slug.category(), Some("data"));
/// assert!("2fast".parse::<Slug>().is_err());
/// # Ok::<(), tw_model::SlugError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(
    // Invariant: `from_str` is the only way in.
    Arc<str>,
);

/// Why a text is not a slug.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlugError {
    #[error("a slug must have 1 to {max} characters, not {len}", max = Slug::LEN_MAX)]
    Length { len: usize },
    #[error("a slug cannot contain {found:?}: use letters a-z, digits, `.`, `_` and `-`")]
    Character { found: char },
    #[error("every part of a slug between dots must start with a letter")]
    PartStart,
    #[error("a slug cannot contain `__`, which stands for a dot in function names")]
    DoubleUnderscore,
    #[error("`{slug}` is reserved")]
    Reserved { slug: String },
}

impl Slug {
    pub const LEN_MAX: usize = 128;

    /// Words that stand where a slug could stand in a path, and the tools that the doors have of their own.
    pub const RESERVED: &[&str] =
        &["builtins", "new", "session", "import", "image-models", "get_run", "search_tools", "run_tool"];

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two slugs are compared by: the slug in lower case.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// The part before the last dot; `None` without a dot.
    #[must_use]
    pub fn category(&self) -> Option<&str> {
        self.0.rsplit_once('.').map(|(category, _)| category)
    }
}

/// Whether a quick reader takes two names for one: they differ by case, or by which of `.`, `_` and `-` they
/// are joined with.
#[must_use]
pub fn look_alike(one: &str, other: &str) -> bool {
    let seen = |byte: u8| match byte {
        b'.' | b'_' => b'-',
        byte => byte.to_ascii_lowercase(),
    };
    one.len() == other.len() && one.bytes().map(seen).eq(other.bytes().map(seen))
}

impl FromStr for Slug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        if text.is_empty() || Self::LEN_MAX < text.len() {
            return Err(SlugError::Length { len: text.chars().count() });
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if let Some(found) = text.chars().find(|c| !allowed(*c)) {
            return Err(SlugError::Character { found });
        }
        if text.split('.').any(|part| !part.starts_with(|c: char| c.is_ascii_alphabetic())) {
            return Err(SlugError::PartStart);
        }
        if text.contains("__") {
            return Err(SlugError::DoubleUnderscore);
        }
        let reserved = Self::RESERVED.iter().any(|word| word.eq_ignore_ascii_case(text));
        if reserved || uuid::Uuid::try_parse(text).is_ok() {
            return Err(SlugError::Reserved { slug: text.to_owned() });
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for Slug {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The name of a tenant or an agent: lower-case letters, digits and `-`, starting with a letter or a
/// digit, at most 63 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantSlug(Arc<str>);

impl TenantSlug {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantSlug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        if text.is_empty() || 63 < text.len() {
            return Err(SlugError::Length { len: text.chars().count() });
        }
        let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
        if let Some(found) = text.chars().find(|c| !allowed(*c)) {
            return Err(SlugError::Character { found });
        }
        if text.starts_with('-') {
            return Err(SlugError::PartStart);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for TenantSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! serde_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
serde_as_text!(Slug);
serde_as_text!(TenantSlug);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> SlugError {
        text.parse::<Slug>().unwrap_err()
    }

    #[test]
    fn names_of_all_five_dialects_are_slugs() {
        for text in
            ["roi-calculator", "manageTools", "web_search", "data.searchRecords", "github.create_issue"]
        {
            assert_eq!(text.parse::<Slug>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn what_could_be_taken_for_another_name_is_refused() {
        for text in
            ["p\u{430}y", "a\u{200b}b", "a/b", "a b", "..", "a..b", ".a", "a.", "%2e", "a\u{202e}b", "ａ"]
        {
            refused(text);
        }
        assert_eq!(refused("a__b"), SlugError::DoubleUnderscore);
        assert_eq!(refused("9lives"), SlugError::PartStart);
        assert!(matches!(refused("New"), SlugError::Reserved { .. }));
        assert!(matches!(refused("a1932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11"), SlugError::Reserved { .. }));
        assert_eq!(refused(&"a".repeat(129)), SlugError::Length { len: 129 });
    }

    #[test]
    fn names_that_differ_by_their_joints_look_alike() {
        for (one, other) in [("roi-calculator", "roi_calculator"), ("a.b-c", "A-b.C"), ("same", "same")] {
            assert!(look_alike(one, other), "{one} {other}");
        }
        for (one, other) in [("roi-calculator", "roicalculator"), ("a-b", "a-c"), ("a-b", "a-b-")] {
            assert!(!look_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn slugs_that_differ_by_case_share_a_key() {
        let (a, b): (Slug, Slug) = ("manageTools".parse().unwrap(), "MANAGETOOLS".parse().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.key(), b.key());
    }
}
