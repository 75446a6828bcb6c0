//! Giving what was saved a number, and making it what runs.

use semver::Version;
use tw_base::{Error, Result};
use tw_identity::rights::{Permit, PublishTools};
use tw_schema::Violation;
use tw_store::{Note, StoredTool};

use super::{
    EditContext,
    edit::Edit,
    gate::Waived,
    read::{parse, read_version},
};
use crate::{Registry, catalogue::View, tools::Listed};

/// How a draft is to go live.
#[derive(Clone, Debug, Default)]
pub struct Publication {
    /// The number that it gets first.
    pub version: Option<String>,
    pub waived: Waived,
}

impl Registry {
    /// Makes what was saved last what runs, under a new number if one is given.
    pub async fn publish_tool(
        &self,
        permit: &Permit<PublishTools>,
        name: &str,
        Publication { version, waived }: Publication,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let id = self.own_id(caller, name, "is a built-in tool: it is always published").await?;
        let wanted = version.map(|number| read_version(&number)).transpose();
        let wanted = wanted.map_err(|violation| Error::invalid("/version", violation))?;
        let plan = |stored: &StoredTool, _: &View| {
            let definition = Some(parse(&stored.definition)?);
            let (after, notes): (_, &[Note]) = match &wanted {
                Some(wanted) => (numbered(stored, wanted)?, &[Note::Version, Note::Publish]),
                None => (stored.clone(), &[Note::Publish]),
            };
            let action = "tool.published";
            Ok(Edit { definition, notes, action, ..Edit::of_switches(after) })
        };
        self.publish_own(caller, id, asked, waived, plan).await?;
        self.after_change(caller, &id.to_string()).await
    }

    /// Gives what was saved last a new number, greater than the one it has.
    pub async fn new_version(
        &self,
        permit: &Permit<PublishTools>,
        name: &str,
        number: &str,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let id = self.own_id(caller, name, "is a built-in tool: its version cannot be changed").await?;
        if number.is_empty() {
            return Err(Error::invalid("/new_version", Violation::required()));
        }
        let wanted = read_version(number).map_err(|violation| Error::invalid("/new_version", violation))?;
        let plan = |stored: &StoredTool, _: &View| {
            let after = numbered(stored, &wanted)?;
            Ok(Edit { notes: &[Note::Version], action: "tool.versioned", ..Edit::of_switches(after) })
        };
        self.edit_own(caller, id, asked, plan).await?;
        self.after_change(caller, &id.to_string()).await
    }
}

/// A tool under a new number, which must be greater than the one it has.
fn numbered(stored: &StoredTool, wanted: &Version) -> Result<StoredTool> {
    let current = Version::parse(&stored.version);
    // Build metadata says nothing about which of two comes first.
    if current.is_ok_and(|current| wanted.cmp_precedence(&current).is_le()) {
        let why = format!("the new version must be greater than {}, and {wanted} is not", stored.version);
        return Err(Error::Conflict { why });
    }
    Ok(StoredTool { version: wanted.to_string(), ..stored.clone() })
}
