//! How far a tool says that it is.

use serde::Serialize;

/// A report of a tool that works for long. A later one has a higher number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolProgress {
    pub progress: f64,
    /// What the number leads up to, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
