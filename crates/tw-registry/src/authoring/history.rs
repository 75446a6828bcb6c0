//! How a tool came to be what it is, what a change would mean, and to whom.

use serde_json::Value;
use tw_base::{Error, Page, PageRequest, Result};
use tw_identity::rights::{Permit, PublishTools, ReadHistory};
use tw_model::{Definition, Timestamp, ToolId};
use tw_schema::{Bump, Comparison, Violation, compare};
use tw_store::{NewAudit, Note, Snapshot, TenantScope, ToolVersion, Withdrawn};
use tw_vault::UsedBy;

use super::{
    EditContext, by,
    edit::shown_definition,
    read::{LOOKING_FOR_USERS, in_lane, parse, read_version},
};
use crate::{
    Registry,
    catalogue::{Side, ToolEntry, View},
    tools::find,
};

/// How much of a history is looked through at a time.
const HISTORY_PAGE: i64 = 200;

/// A revision of a tool, as it may be shown.
#[derive(Debug)]
pub struct History {
    pub version: String,
    pub revision: i64,
    pub content_hash: String,
    pub author: String,
    pub created: Timestamp,
    pub definition: Value,
}

/// What lies between two versions.
#[derive(Debug)]
pub struct Compared {
    pub from: String,
    pub to: String,
    pub comparison: Comparison,
}

impl Registry {
    /// Every save, publication and new number of a tool, newest first.
    pub async fn tool_history(
        &self,
        permit: &Permit<ReadHistory>,
        name: &str,
        only: Option<Note>,
        page: &PageRequest,
    ) -> Result<Page<ToolVersion>> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let id = find(&view, caller, name)?.0.id();
        let place = format!("versions/{}/{id}/{}", caller.tenant, only.map_or("", Note::as_str));
        let before = self.secrets.open_cursor(&place, page)?;
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.tool_history(id, only, before, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading a history"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_tool_history(id, only).await.map_err(Error::store("counting a history"))?;
        Ok(self.secrets.page(rows, page, &place, total, |row| row.id))
    }

    /// A tool as it was at one revision.
    pub async fn tool_revision(
        &self,
        permit: &Permit<ReadHistory>,
        name: &str,
        revision: i64,
    ) -> Result<History> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let id = find(&view, caller, name)?.0.id();
        let scope = self.store.tenant(caller.tenant);
        let snapshot = scope.tool_snapshot(id, revision).await.map_err(Error::store("reading a revision"))?;
        let snapshot = snapshot.ok_or(Error::NotFound { what: "revision of this tool" })?;
        Ok(History {
            definition: shown_definition(&snapshot.content),
            version: snapshot.version,
            revision: snapshot.revision,
            content_hash: snapshot.content_hash,
            author: snapshot.author,
            created: snapshot.created,
        })
    }

    /// What changed between two versions, whom that breaks, and the number it asks for. `draft` is what
    /// was saved last, `live` what runs, and a whole number a revision of the history.
    pub async fn compare_versions(
        &self,
        permit: &Permit<ReadHistory>,
        name: &str,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Result<Compared> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, _) = find(&view, caller, name)?;
        let before = self.definition_at(&view, entry, from.unwrap_or("live"), "/from").await?;
        let after = self.definition_at(&view, entry, to.unwrap_or("draft"), "/to").await?;
        let (from, to) = (before.0, after.0);
        let compare = move || compare_definitions(&before.1, &after.1);
        let comparison = in_lane(caller.tenant, "comparing versions", compare).await?;
        Ok(Compared { from, to, comparison })
    }

    async fn definition_at(
        &self,
        view: &View,
        entry: &ToolEntry,
        which: &str,
        place: &str,
    ) -> Result<(String, Definition)> {
        let stored = &entry.own("is a built-in tool and has only one version")?.stored;
        match which {
            "draft" => Ok((stored.version.clone(), parse(&stored.definition)?)),
            "live" => match (&stored.live, &stored.live_version) {
                (Some(live), Some(version)) => Ok((version.clone(), parse(live)?)),
                _ => Err(Error::invalid(place, Violation::version_required())),
            },
            other => {
                let scope = self.store.tenant(view.tenant.id);
                // A version has dots, so a whole number can only be a revision.
                let (found, what) = match other.parse() {
                    Ok(revision) => (scope.tool_snapshot(stored.id, revision).await, "revision of this tool"),
                    Err(_) => (scope.tool_at_version(stored.id, other, false).await, "version of this tool"),
                };
                let found: Option<Snapshot> = found.map_err(Error::store("reading a version"))?;
                let snapshot = found.ok_or(Error::NotFound { what })?;
                Ok((snapshot.version, parse(&snapshot.content)?))
            }
        }
    }

    /// Withdraws a version: no call may name it any more, and its number is never published again. The seals of approvals
    /// that wait on it do not hold any more; the engine supersedes them.
    pub async fn withdraw_version(
        &self,
        permit: &Permit<PublishTools>,
        name: &str,
        number: &str,
        asked: EditContext<'_>,
    ) -> Result<ToolVersion> {
        let caller = permit.caller();
        let missing = || Error::NotFound { what: "version of this tool" };
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let own = find(&view, caller, name)?.0.own("is a built-in tool and has only one version")?;
        // What is no number names no version.
        read_version(number).map_err(|_| missing())?;
        let audit = NewAudit {
            action: "tool.version_withdrawn".to_owned(),
            object: format!("tool:{}", own.stored.slug),
            before: None,
            after: Some(serde_json::json!({ "version": number })),
            note: None,
        };
        let scope = self.store.tenant(caller.tenant);
        let withdrawn = scope.withdraw_version(own.stored.id, number, audit, &by(caller, asked)).await;
        match withdrawn.map_err(Error::store("withdrawing a version"))? {
            Withdrawn::At(_) => {}
            Withdrawn::Missing => return Err(missing()),
            Withdrawn::Live => {
                let why = format!("version {number} is live; publish another version first");
                return Err(Error::Conflict { why });
            }
        }
        self.identity.epochs().ask(caller.tenant).await?;
        self.numbered(&scope, own.stored.id, number).await?.ok_or_else(missing)
    }

    /// The newest entry of a tool's history by which a number was given: its publication, or the number alone.
    async fn numbered(&self, scope: &TenantScope, id: ToolId, number: &str) -> Result<Option<ToolVersion>> {
        for only in [Note::Publish, Note::Version] {
            let mut before = None;
            loop {
                let rows = scope.tool_history(id, Some(only), before, HISTORY_PAGE).await;
                let rows = rows.map_err(Error::store("reading a history"))?;
                before = rows.last().map(|row| row.id);
                if let Some(found) = rows.into_iter().find(|row| row.version == number) {
                    return Ok(Some(found));
                }
                if before.is_none() {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// What uses a tool.
    pub async fn tool_users(&self, permit: &Permit<ReadHistory>, name: &str) -> Result<Vec<UsedBy>> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let id = find(&view, caller, name)?.0.id();
        in_lane(caller.tenant, LOOKING_FOR_USERS, move || users_of(&view, id)).await
    }
}

pub(super) fn compare_definitions(before: &Definition, after: &Definition) -> Comparison {
    fn side(definition: &Definition) -> tw_schema::SchemaPair<'_> {
        tw_schema::SchemaPair { input: &definition.input_schema, output: definition.output_schema.as_ref() }
    }
    let mut comparison = compare(&side(before), &side(after));
    // The schemas are not all there is: whatever else differs is at least a correction.
    if comparison.required_bump == Bump::None && before != after {
        comparison.required_bump = Bump::Patch;
    }
    comparison
}

/// The tenant's tools that call this one, in what runs or in what was saved last.
fn users_of(view: &View, id: ToolId) -> Vec<UsedBy> {
    let is_it = |name: &str| view.tools.get(name).is_some_and(|named| named.id() == id);
    let mut users = Vec::new();
    for other in view.tools.sorted().iter() {
        let ToolEntry::Own(own) = other else { continue };
        if own.stored.id != id && own.calls().any(is_it) {
            let (slug, name) = (own.stored.slug.to_string(), own.face(Side::Draft).name.clone());
            users.push(UsedBy { kind: "tool", slug, name });
        }
    }
    users
}

/// Refuses to go on with a tool that others call.
pub(super) fn is_unused(view: &View, id: ToolId) -> Result<()> {
    let users = users_of(view, id);
    if users.is_empty() {
        return Ok(());
    }
    let by = users.into_iter().map(|user| user.slug).collect();
    Err(Error::InUse { what: "tool", to_be: "removed", by })
}
