//! `toolwright tools switch`.

use anyhow::{Context, Result};
use serde_json::json;
use tw_model::Slug;

use super::with_office;
use crate::{config::Sources, fail::Hint, output};

/// Switches a tool of the program for every tenant.
pub(crate) async fn switch(place: &Sources, slug: &Slug, to: &str, as_json: bool) -> Result<()> {
    // Which tools the program has is known once they are linked in.
    tw_tools::link();
    let enabled = match to {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    with_office(place, async |office, _| {
        let switched = office.operator.switch_for_everybody(slug, enabled).await;
        let switched = switched.with_context(|| format!("cannot switch `{slug}`"));
        switched.hint("only built-in tools can be switched for all tenants")
    })
    .await?;
    match as_json {
        true => output::json(&json!({ "tool": slug, "enabled": enabled })),
        false => output::say(&match enabled {
            Some(true) => format!("{slug} is on for every tenant that does not switch it off"),
            Some(false) => format!("{slug} is off for every tenant"),
            None => {
                format!("{slug}: the operator's switch is removed; the tool's default and each tenant decide")
            }
        }),
    }
}
