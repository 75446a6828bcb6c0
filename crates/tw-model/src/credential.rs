//! What a tool shows to somebody else's door: the types of credentials, and what they are called.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

/// What kind of secret a credential is, which says what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialType {
    /// `{ api_key }`.
    ApiKey,
    /// `{ token }`.
    Bearer,
    /// `{ username, password }`.
    Basic,
    /// Texts under names of the author's choice.
    Custom,
}

impl CredentialType {
    pub const ALL: [Self; 4] = [Self::ApiKey, Self::Bearer, Self::Basic, Self::Custom];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Bearer => "bearer",
            Self::Basic => "basic",
            Self::Custom => "custom",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.as_str() == text)
    }
}

impl Serialize for CredentialType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What a credential is called, and what stands after `secret:` where a tool refers to it.
///
/// ASCII letters, digits, `.`, `_` and `-`, the first and the last a letter or a digit, 64 characters at most:
/// a reference inside a longer text ends where its label ends. Case is kept and shown, and two labels that
/// differ only by case are the same: see [`Label::key`].
///
/// ```
/// use tw_model::Label;
///
/// let label: Label = "Weather-2".parse()?;
/// assert_eq!(label.key(), "weather-2");
/// assert!("my key".parse::<Label>().is_err());
/// # Ok::<(), tw_model::LabelError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label(
    // Invariant: `from_str` is the only way in.
    String,
);

/// Why a text is no label. The text itself is not repeated: somebody may have pasted the secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    #[error("has 1 to {max} characters", max = Label::LEN_MAX)]
    Length,
    #[error("consists of letters a-z, digits, `.`, `_` and `-`")]
    Character,
    #[error("starts and ends with a letter or a digit")]
    Ends,
}

impl Label {
    pub const LEN_MAX: usize = 64;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What two labels are compared by: the label in lower case.
    #[must_use]
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// Whether a character can be part of a label.
    #[must_use]
    pub fn takes(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        if text.is_empty() || Self::LEN_MAX < text.chars().count() {
            return Err(LabelError::Length);
        }
        if !text.chars().all(Self::takes) {
            return Err(LabelError::Character);
        }
        let is_inner = |c: char| !c.is_ascii_alphanumeric();
        if text.starts_with(is_inner) || text.ends_with(is_inner) {
            return Err(LabelError::Ends);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
