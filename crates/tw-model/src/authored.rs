//! The part of a tool that only its author could write.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What only a tool that is written down outside the program has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Authored {
    /// Settings of whatever runs. May hold secrets: show it through `redacted` only.
    pub implementation: Value,
    pub execution_spec: Option<Value>,
    /// The input as the author laid it out, where it was authored as fields.
    pub fields: Option<Value>,
    pub form_spec: Option<Value>,
    pub view_spec: Option<Value>,
    /// Other names under which the tool is found.
    pub aliases: Vec<String>,
}

impl Default for Authored {
    fn default() -> Self {
        Self {
            implementation: Value::Object(serde_json::Map::new()),
            execution_spec: None,
            fields: None,
            form_spec: None,
            view_spec: None,
            aliases: Vec::new(),
        }
    }
}

impl Authored {
    /// For a tool of the program, which has none of it.
    #[must_use]
    pub fn none() -> Arc<Self> {
        Arc::default()
    }
}
