//! Calls that wait for somebody.

use serde::{Deserialize, Serialize};

/// Whom a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsFor {
    /// Somebody who may say yes or no.
    Approval,
    /// A program outside that does the work.
    Worker,
    /// Somebody who gives the answer.
    Person,
    /// A call that it has made itself.
    Child,
}

impl WaitsFor {
    pub const ALL: [Self; 4] = [Self::Approval, Self::Worker, Self::Person, Self::Child];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Worker => "worker",
            Self::Person => "person",
            Self::Child => "child",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|waits_for| waits_for.as_str() == text)
    }
}
