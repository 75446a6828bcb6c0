//! Making tools of remote ones, and taking over what became of those.

use std::sync::Arc;

use serde_json::Value;
use tw_base::{Error, Result};
use tw_model::{Caller, Definition, Level, ToolStatus};
use tw_schema::Bump;
use tw_store::{Import, McpDrift, Note, StoredTool};

use super::{EditContext, Origin, draft::check, edit::Edit, history::compare_definitions, read::parse};
use crate::{Registry, catalogue::View, remote::RemoteDefinition, tools::Listed};

impl Registry {
    /// As [`Registry::create_tool`], of a definition that was made of a remote one.
    pub(crate) async fn create_imported(
        &self,
        caller: &Caller,
        body: &Value,
        origin: Origin,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let (new, faults) = self.read_new(caller.tenant, body.clone()).await?;
        self.insert(caller, new, faults, Some(&origin), asked).await
    }

    /// Writes what a server offers now to the tool that was imported from it. Breaking callers and test cases are no
    /// question here: whoever accepts a drift has seen both definitions, and the remote tool is what it is.
    pub(crate) async fn adopt(
        &self,
        caller: &Caller,
        drift: &McpDrift,
        before: Option<RemoteDefinition>,
        now: Option<(RemoteDefinition, String)>,
        asked: EditContext<'_>,
    ) -> Result<()> {
        let kinds = Arc::clone(self.catalogue.kinds());
        let plan = |stored: &StoredTool, _: &View| {
            let import = stored.import.as_deref().filter(|import| import.hash == drift.pinned_hash);
            let import = import.ok_or_else(decided)?;
            let Some((now, text)) = &now else { return Ok(switched_off(stored, drift)) };
            if let Some(why) = now.refusal() {
                return Err(Error::Conflict { why });
            }
            let is_live = stored.switches.status == ToolStatus::Published && stored.live.is_some();
            let base = stored.live.as_ref().filter(|_| is_live).unwrap_or(&stored.definition);
            let base: Definition = parse(base)?;
            let mut definition = with_remote(base.clone(), before.as_ref(), now);
            // What was made for the old schemas and does not fit the new ones is left out.
            let unfit = check(&stored.slug, &definition, &*kinds);
            let is_unfit = |part: &str| unfit.iter().any(|fault| fault.path.starts_with(part));
            if is_unfit("/form_spec") {
                definition.authored.form_spec = None;
            }
            if is_unfit("/view_spec") {
                definition.authored.view_spec = None;
            }
            if is_unfit("/output_sections") {
                definition.output_sections = Vec::new();
            }
            let mut after = stored.clone();
            let bump = compare_definitions(&base, &definition).required_bump;
            let numbers = [Some(&stored.version), stored.live_version.as_ref()];
            let numbers = numbers.into_iter().flatten().filter_map(|number| number.parse().ok());
            let newest = numbers.max().unwrap_or(semver::Version::new(0, 0, 0));
            after.version = bumped(&newest, bump).to_string();
            let hash = drift.current_hash.clone().ok_or_else(decided)?;
            let import = Import { tool: now.name.clone(), hash, held: false, ..import.clone() };
            after.import = Some(Box::new(import));
            let notes: &[Note] = match is_live {
                true => &[Note::Save, Note::Version, Note::Publish],
                false => &[Note::Save, Note::Version],
            };
            Ok(Edit {
                definition: Some(definition),
                notes,
                action: "mcp.drift_accepted",
                note: Some(format!("drift {}", drift.id)),
                accepts: Some((drift.id, Some(text.clone()))),
                ..Edit::of_switches(after)
            })
        };
        let adopted = self.edit_own(caller, drift.tool, asked, plan).await;
        match adopted {
            Err(Error::ToolNotFound { .. }) => Err(decided()),
            done => done.map(drop),
        }
    }
}

/// The tool is gone on its server. It stays held as well, until it is there again.
fn switched_off(stored: &StoredTool, drift: &McpDrift) -> Edit {
    let mut after = stored.clone();
    after.switches.status = ToolStatus::Disabled;
    Edit {
        action: "mcp.drift_accepted",
        note: Some(format!("drift {}", drift.id)),
        accepts: Some((drift.id, None)),
        ..Edit::of_switches(after)
    }
}

/// A definition with what its server says now. What the tenant says about name and description instead stays.
fn with_remote(
    mut definition: Definition,
    before: Option<&RemoteDefinition>,
    now: &RemoteDefinition,
) -> Definition {
    if before.is_none_or(|before| definition.name == before.tool_name()) {
        definition.name = now.tool_name();
    }
    if before.is_none_or(|before| definition.description == before.tool_description()) {
        definition.description = now.tool_description();
    }
    if definition.input_schema != now.input_schema {
        definition.authored.fields = None;
    }
    definition.input_schema = now.input_schema.clone();
    definition.output_schema.clone_from(&now.output_schema);
    // A server that calls its tool more dangerous now is believed; one that calls it harmless is not.
    if now.level() == Level::Destructive {
        definition.permission_level = Some(Level::Destructive);
    }
    if let Some(tool) = definition.authored.implementation.get_mut("tool_name") {
        *tool = Value::String(now.name.clone());
    }
    definition
}

/// What is told to whoever comes second.
#[must_use]
pub fn decided() -> Error {
    let why = "the drift was decided about already, or the server has changed the tool again since";
    Error::Conflict { why: why.to_owned() }
}

/// The next number that is greater than `version` by at least `bump`.
fn bumped(version: &semver::Version, bump: Bump) -> semver::Version {
    match bump {
        Bump::Major => semver::Version::new(version.major + 1, 0, 0),
        Bump::Minor => semver::Version::new(version.major, version.minor + 1, 0),
        // A pre-release is before the number that it prepares.
        Bump::None | Bump::Patch if !version.pre.is_empty() => {
            semver::Version::new(version.major, version.minor, version.patch)
        }
        Bump::None | Bump::Patch => semver::Version::new(version.major, version.minor, version.patch + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_number_is_greater_by_at_least_the_bump() {
        let next = |version: &str, bump| bumped(&version.parse().unwrap(), bump).to_string();
        assert_eq!(next("1.2.3", Bump::None), "1.2.4");
        assert_eq!(next("1.2.3", Bump::Patch), "1.2.4");
        assert_eq!(next("1.2.3", Bump::Minor), "1.3.0");
        assert_eq!(next("1.2.3", Bump::Major), "2.0.0");
        assert_eq!(next("1.2.3-rc.1", Bump::Patch), "1.2.3");
    }
}
