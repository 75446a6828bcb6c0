//! What the log can say about a run.

use serde::{Deserialize, Serialize};

/// What happens to a run. The set is closed: a refusal or an expiry is a `tool.cancelled` with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EventKind {
    #[serde(rename = "tool.started")]
    Started,
    #[serde(rename = "tool.output_appended")]
    OutputAppended,
    /// How far the tool says that it is.
    #[serde(rename = "tool.progress")]
    Progress,
    #[serde(rename = "tool.completed")]
    Completed,
    #[serde(rename = "tool.failed")]
    Failed,
    #[serde(rename = "tool.cancelled")]
    Cancelled,
    #[serde(rename = "tool.needs_approval")]
    NeedsApproval,
    #[serde(rename = "tool.approved")]
    Approved,
    /// An answer that came after the run had ended. It is kept; the run stays as it is.
    #[serde(rename = "tool.late_result")]
    LateResult,
}

impl EventKind {
    pub const ALL: [Self; 9] = [
        Self::Started,
        Self::OutputAppended,
        Self::Progress,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::NeedsApproval,
        Self::Approved,
        Self::LateResult,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "tool.started",
            Self::OutputAppended => "tool.output_appended",
            Self::Progress => "tool.progress",
            Self::Completed => "tool.completed",
            Self::Failed => "tool.failed",
            Self::Cancelled => "tool.cancelled",
            Self::NeedsApproval => "tool.needs_approval",
            Self::Approved => "tool.approved",
            Self::LateResult => "tool.late_result",
        }
    }

    /// Whether it ends the run. Only a late result can follow.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a run that was cut off may have done to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    None,
    Unknown,
}

impl Effect {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::None, Self::Unknown].into_iter().find(|effect| effect.as_str() == text)
    }
}
