//! Tools from MCP servers of others: imported as they were listed, pinned to that, and held once the server offers
//! something else.
//!
//! `crates/tw-registry/src/remote.rs` is what a server says about a tool, `plan.rs` what an import makes of it, `suspicious.rs` what a person should
//! look at first, and `drift.rs` what became of it. All four are pure. Who asks the servers is `tw-mcp-servers`.

mod drift;
mod plan;
mod suspicious;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Value, json};
use tw_base::{Error, Result, by};
use tw_identity::rights::{CreateTools, Permit, PublishTools};
use tw_model::{
    Code, Implementation, McpDriftId, McpServerId, Slug, TenantId, Timestamp, ToolId, ToolStatus,
};
use tw_store::{By, Changed, DriftStatus, Import, McpDrift, StoredTool};
use tw_vault::UsedBy;

use self::{
    drift::{Found, Pinned, compare},
    plan::{Planned, plan},
};
pub use self::{
    plan::SkippedRemote,
    suspicious::{Suspicion, suspicions},
};
use crate::{
    Registry,
    authoring::{EditContext, LOOKING_FOR_USERS, Origin, decided, in_lane},
    catalogue::{Own, Side, ToolEntry, View},
    remote::RemoteDefinition,
    tools::Listed,
};

const COMPARING: &str = "comparing tools with their server";

/// A server, as far as tools refer to it.
#[derive(Clone, Copy, Debug)]
pub struct McpSource<'a> {
    pub id: McpServerId,
    pub name: &'a str,
}

/// A tool that was imported from a server.
#[derive(Clone, Debug)]
pub struct ImportedTool {
    pub id: ToolId,
    pub slug: Slug,
    pub status: ToolStatus,
    pub import: Import,
}

/// What came of an import.
#[derive(Debug)]
pub struct McpImport {
    /// The tools asked for that are here now, those that were here before included.
    pub items: Vec<Listed>,
    pub skipped: Vec<SkippedRemote>,
    /// By remote tool.
    pub warnings: Vec<(String, Suspicion)>,
}

/// Whether a name of a server can begin the slugs of its tools.
#[must_use]
pub fn makes_slugs(server: &str) -> bool {
    plan::slug(server, "tool").is_ok()
}

impl Registry {
    /// Makes tools of those that a server listed: drafts, or tools that are live at once. What was imported before stays
    /// as it is.
    pub async fn import_mcp(
        &self,
        permit: &Permit<CreateTools>,
        server: McpSource<'_>,
        wanted: &[String],
        listed: Vec<RemoteDefinition>,
        publish: bool,
        request_id: &str,
    ) -> Result<McpImport> {
        let caller = permit.caller();
        if publish {
            Permit::<PublishTools>::check(caller.clone())?;
        }
        let known = self.mcp_tools(caller.tenant, caller.epoch, server.id).await?;
        let mut made = McpImport { items: Vec::new(), skipped: Vec::new(), warnings: Vec::new() };
        let mut new = Vec::new();
        let mut seen = HashSet::new();
        for name in wanted.iter().filter(|name| seen.insert(name.as_str())) {
            match known.iter().find(|tool| tool.import.tool == *name) {
                Some(tool) => {
                    let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
                    made.items.push(self.listed(&view, caller, &tool.id.to_string())?);
                }
                None => new.push(name.clone()),
            }
        }
        let name = server.name.to_owned();
        let planned = in_lane(caller.tenant, "planning an import", move || {
            let (planned, skipped) = plan(&name, &new, &listed, publish);
            let warned: Vec<_> = planned
                .into_iter()
                .map(|planned| {
                    let pinned = planned.remote.pinned();
                    let found = suspicions(&planned.remote);
                    (planned, pinned, found)
                })
                .collect();
            (warned, skipped)
        });
        let (planned, skipped) = planned.await?;
        made.skipped = skipped;
        for (Planned { remote, body }, (text, hash), found) in planned {
            let import = Import { server: server.id, tool: remote.name.clone(), hash, held: false };
            let asked = EditContext { marks: None, request_id: Some(request_id), actor: None };
            match self.create_imported(caller, &body, Origin { import, remote: text }, asked).await {
                Ok(listed) => {
                    made.warnings.extend(found.into_iter().map(|found| (remote.name.clone(), found)));
                    made.items.push(listed);
                }
                Err(error) if concerns_one(&error) => {
                    let reason = crate::openapi::reason(&error);
                    made.skipped.push(SkippedRemote { tool: remote.name, reason });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(made)
    }

    /// The tools that were imported from a server, by slug.
    pub async fn mcp_tools(
        &self,
        tenant: TenantId,
        epoch: i64,
        server: McpServerId,
    ) -> Result<Vec<ImportedTool>> {
        Ok(imported(&*self.catalogue.view(tenant, epoch).await?, server))
    }

    /// What would not work without a server, and the epoch as of which that is so: its imported tools, and those that
    /// refer to it by hand.
    pub async fn mcp_users(
        &self,
        tenant: TenantId,
        epoch: i64,
        server: McpSource<'_>,
    ) -> Result<(Vec<UsedBy>, i64)> {
        let view = self.catalogue.view(tenant, epoch).await?;
        let (epoch, id, name) = (view.epoch, server.id, server.name.to_owned());
        let walk = move || users_of(&view, McpSource { id, name: &name });
        Ok((in_lane(tenant, LOOKING_FOR_USERS, walk).await?, epoch))
    }

    /// Holds what a server lists now against what was imported from it. What differs is written down and held; what is as
    /// it was imported is let go. `asked_at` is when the list was asked for. Returns the new drifts.
    pub async fn observe_mcp(
        &self,
        tenant: TenantId,
        server: McpServerId,
        listed: Vec<RemoteDefinition>,
        listed_before: HashSet<String>,
        asked_at: Timestamp,
        by: &By,
    ) -> Result<Vec<McpDrift>> {
        let scope = self.store.tenant(tenant);
        let epoch = self.identity.epochs().ask(tenant).await?;
        let (mut tools, mut pinned) = (Vec::new(), Vec::new());
        for tool in self.mcp_tools(tenant, epoch, server).await? {
            let hash = tool.import.hash.clone();
            let text =
                scope.tool_content(&hash).await.map_err(Error::store("reading a remote definition"))?;
            let remote = text.as_deref().map(serde_json::from_str::<RemoteDefinition>);
            let Some(Ok(remote)) = remote else {
                tracing::error!(slug = %tool.slug, "what a tool is pinned to cannot be read");
                continue;
            };
            pinned.push(Pinned { hash, remote });
            tools.push(tool);
        }
        let hold = move || {
            let found = compare(&pinned, &listed, &listed_before);
            let now = |found: &Found| found.now().map(RemoteDefinition::pinned);
            found.into_iter().map(|found| (now(&found), found)).collect::<Vec<_>>()
        };
        let found = in_lane(tenant, COMPARING, hold).await?;
        let mut drifts = Vec::new();
        for (tool, (now, found)) in tools.into_iter().zip(found) {
            let Import { hash: pinned_hash, held, .. } = tool.import;
            let last = scope.last_mcp_drift(tool.id).await.map_err(Error::store("reading a drift"))?;
            if found == Found::Same {
                // A list that was asked for before the drift was found is too old to say that it is over.
                if held && last.is_none_or(|last| last.seen < asked_at) {
                    let closed = scope.close_mcp_drift(tool.id, &pinned_hash, tool.slug.as_str(), by).await;
                    closed.map_err(Error::store("closing a drift"))?;
                }
                continue;
            }
            let (text, hash) = now.unzip();
            let is_known = last.is_some_and(|last| {
                held && last.kind == found.kind()
                    && last.current_hash == hash
                    && last.pinned_hash == pinned_hash
            });
            if is_known {
                continue;
            }
            let drift = McpDrift {
                id: McpDriftId::new(),
                server,
                tool: tool.id,
                slug: tool.slug.to_string(),
                kind: found.kind().to_owned(),
                remote_name: found.now().map(|now| now.name.clone()),
                pinned_hash,
                current_hash: hash,
                diff: json!(found.diff()).to_string(),
                status: DriftStatus::Pending,
                seen: Timestamp::now(),
                decided: None,
                decided_by: None,
            };
            let added = scope.add_mcp_drift(&drift, text.as_deref(), by).await;
            if added.map_err(Error::store("writing a drift"))? {
                drifts.push(drift);
            }
        }
        if !drifts.is_empty() {
            self.identity.epochs().ask(tenant).await?;
        }
        Ok(drifts)
    }

    /// Takes what a server offers now: the same tool under a new version, live if it was live. A tool that the server has
    /// no more is switched off.
    pub async fn accept_mcp_drift(
        &self,
        permit: &Permit<PublishTools>,
        drift: &McpDrift,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let asked = EditContext { marks: None, request_id, actor: None };
        let scope = self.store.tenant(caller.tenant);
        let text = match &drift.current_hash {
            Some(hash) => {
                scope.tool_content(hash).await.map_err(Error::store("reading a remote definition"))?
            }
            None => None,
        };
        let remote = |text: &str| -> Result<RemoteDefinition> {
            serde_json::from_str(text).map_err(|error| Error::internal("reading a remote definition", error))
        };
        let before = scope.tool_content(&drift.pinned_hash).await;
        let before = before.map_err(Error::store("reading a remote definition"))?;
        let (before, now) =
            (before.as_deref().map(remote).transpose()?, text.as_deref().map(remote).transpose()?);
        self.adopt(caller, drift, before, now.zip(text), asked).await
    }

    /// Rejects what a server offers now. The tool stays held: a call would run what was rejected.
    pub async fn reject_mcp_drift(
        &self,
        permit: &Permit<PublishTools>,
        drift: &McpDrift,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let rejected =
            self.store.tenant(caller.tenant).reject_mcp_drift(drift, &by(caller, request_id)).await;
        match rejected.map_err(Error::store("rejecting a drift"))? {
            Changed::Done(()) => self.identity.epochs().ask(caller.tenant).await.map(drop),
            Changed::Stale(()) | Changed::Missing => Err(decided()),
        }
    }
}

fn users_of(view: &View, server: McpSource<'_>) -> Vec<UsedBy> {
    let mut users = Vec::new();
    for entry in view.tools.sorted().iter() {
        let ToolEntry::Own(own) = entry else { continue };
        if is_of(own, server.id) || refers(own, server) {
            let (slug, name) = (own.stored.slug.to_string(), own.face(Side::Draft).name.clone());
            users.push(UsedBy { kind: "tool", slug, name });
        }
    }
    users
}

fn is_of(own: &Own, server: McpServerId) -> bool {
    own.stored.import.as_ref().is_some_and(|import| import.server == server)
}

fn imported(view: &View, server: McpServerId) -> Vec<ImportedTool> {
    let mut found = Vec::new();
    for entry in view.tools.sorted().iter() {
        let ToolEntry::Own(own) = entry else { continue };
        let Some(import) = own.stored.import.as_ref().filter(|import| import.server == server) else {
            continue;
        };
        let StoredTool { id, slug, switches, .. } = &own.stored;
        let import = Import::clone(import);
        found.push(ImportedTool { id: *id, slug: slug.clone(), status: switches.status, import });
    }
    found
}

/// Whether a tool names a server, in what runs or in what was saved last.
fn refers(own: &Own, server: McpSource<'_>) -> bool {
    let (id, kind) = (server.id.to_string(), Implementation::Mcp.type_name());
    let is_named = |side| own.face(side).implementation_type == kind;
    // Most tools are of another kind, and need not be read for that.
    if ![Side::Live, Side::Draft].into_iter().any(is_named) {
        return false;
    }
    let texts = [Some(&own.stored.definition), own.stored.live.as_ref()];
    texts.into_iter().flatten().any(|text| {
        let definition: Value = serde_json::from_str(text).unwrap_or_default();
        let named = definition["implementation"]["server"].as_str().unwrap_or_default();
        definition["implementation_type"] == kind
            && (named.eq_ignore_ascii_case(server.name) || named.eq_ignore_ascii_case(&id))
    })
}

/// Whether the next tool may fare better.
fn concerns_one(error: &Error) -> bool {
    matches!(
        error.code(),
        Code::InvalidParams | Code::MissingParam | Code::Conflict | Code::TestsFailed | Code::BreakingChange
    )
}
