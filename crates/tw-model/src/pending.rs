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

/// How a pending call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingState {
    Waiting,
    /// Nothing is waited for any more; a replica has to resume the run.
    Ready,
    /// A replica has.
    Claimed,
    Resolved,
    Expired,
    Cancelled,
}

impl PendingState {
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Ready, Self::Claimed, Self::Resolved, Self::Expired, Self::Cancelled];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ready => "ready",
            Self::Claimed => "claimed",
            Self::Resolved => "resolved",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// How an approval stands. All but `Pending` are for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    Pending,
    Approved,
    Denied,
    Expired,
    Cancelled,
}

impl ApprovalStatus {
    pub const ALL: [Self; 5] = [Self::Pending, Self::Approved, Self::Denied, Self::Expired, Self::Cancelled];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// How a standing approval stands. Only an active one lets calls through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandingStatus {
    Active,
    Expired,
    /// Somebody took it back.
    Revoked,
    /// What it is bound to has changed.
    Void,
}

impl StandingStatus {
    pub const ALL: [Self; 4] = [Self::Active, Self::Expired, Self::Revoked, Self::Void];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Void => "void",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}
