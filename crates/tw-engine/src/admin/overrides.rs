//! What a tenant may lay over a tool of the program.

use tw_model::{Level, Policy, ToolDef, ToolStatus};
use tw_store::Override;

use crate::error::{Error, Result};

const TEXT_MAX: usize = 4000;
const TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1000;

pub(super) fn check(layer: &Override, tool: &ToolDef) -> Result<()> {
    for (path, text) in [
        ("/name", &layer.name),
        ("/description", &layer.description),
        ("/category", &layer.category),
        ("/icon", &layer.icon),
    ] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty() || TEXT_MAX < text.len()) {
            return Err(Error::invalid(path, format!("has 1 to {TEXT_MAX} bytes")));
        }
    }
    if layer.tags.as_ref().is_some_and(|tags| 50 < tags.len() || tags.iter().any(|tag| 100 < tag.len())) {
        return Err(Error::invalid("/tags", "has at most 50 tags of 100 bytes"));
    }
    if layer.status.is_some_and(|status| !matches!(status, ToolStatus::Deprecated | ToolStatus::Disabled)) {
        let message =
            "of a tool defined in code can be deprecated or disabled; null takes it back to published";
        return Err(Error::invalid("/status", message));
    }
    if layer.permission_level.is_some_and(|level| Some(level) < tool.level) {
        let message = format!("can only be raised above `{}`", tool.level.map_or("none", Level::as_str));
        return Err(Error::invalid("/permission_level", message));
    }
    if layer.permission_policy == Some(Policy::Auto) && tool.id == super::manage_tools().id {
        return Err(Error::invalid("/permission_policy", "of this tool is always `always_ask`"));
    }
    if layer.timeout_ms.is_some_and(|timeout| !(1..=TIMEOUT_MS_MAX).contains(&timeout)) {
        return Err(Error::invalid("/timeout_ms", format!("is a number from 1 to {TIMEOUT_MS_MAX}")));
    }
    Ok(())
}
