//! The languages of the pages.

use serde::{Deserialize, Serialize};

/// A language that a person can choose. What authors write may be translated into others, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    De,
    En,
}

impl Language {
    pub const ALL: &[Self] = &[Self::De, Self::En];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::De => "de",
            Self::En => "en",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.as_str() == text)
    }
}
