//! Tools that tenants write themselves, and the history of each.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use tw_model::{
    McpDriftId, McpServerId, Policy, Slug, Switches, TenantId, Timestamp, ToolId, ToolStatus, WebhookEvent,
};
use uuid::Uuid;

use crate::{
    artifacts::ArtifactChange,
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions},
    mcp_drifts::{DriftStatus, Import},
    row::row,
    scope::{Store, TenantScope, now_us},
    tenants::Changed,
};

/// A tool of a tenant's own. What it says is text here: the canonical JSON of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTool {
    pub id: ToolId,
    pub slug: Slug,
    pub switches: Switches,
    /// What was saved last, with the number it has or will have.
    pub definition: Arc<str>,
    pub version: String,
    /// What runs, with its number.
    pub live: Option<Arc<str>>,
    pub live_version: Option<String>,
    /// When it was first published.
    pub published: Option<Timestamp>,
    /// Goes up with every save.
    pub revision: i64,
    /// Moves with every change, so it names the row as it stands.
    pub updated: Timestamp,
    pub created: Timestamp,
    pub created_by: String,
    pub is_deleted: bool,
    /// Where it comes from, if it was imported from an MCP server.
    pub import: Option<Box<Import>>,
}

/// A row of a tenant's own tools: the tool, or the little that can be said of one that cannot be read.
#[derive(Debug)]
pub enum ReadTool {
    Tool(StoredTool),
    Unreadable { id: ToolId, why: Error },
}

/// What a change to a tool leaves in its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    Save,
    Publish,
    Version,
}

/// The names a tool claims, which were free as of an epoch. Two may claim one at the same moment, and only
/// the database knows who came first.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    pub free_at: i64,
    /// Whether another tool of the tenant's own has one of the names.
    pub is_taken_by: &'a (dyn Fn(&StoredTool) -> bool + Sync),
}

impl std::fmt::Debug for Claim<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim").field("free_at", &self.free_at).finish_non_exhaustive()
    }
}

/// What a change to a tool takes for granted about the tenant's other tools, as they were at an epoch: that it
/// calls what there is, say, or that nothing calls it. Others may change theirs at the same moment, and only the
/// database knows who came first.
#[derive(Clone, Copy)]
pub struct Premise<'a> {
    pub as_of: i64,
    /// Whether what has become of another tool since might make it wrong. Then everything is looked at again.
    pub is_upset_by: &'a (dyn Fn(&StoredTool) -> bool + Sync),
}

impl std::fmt::Debug for Premise<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Premise").field("as_of", &self.as_of).finish_non_exhaustive()
    }
}

/// Everything a change to a tool leaves behind.
#[derive(Debug)]
pub struct Left<'a> {
    pub premise: Option<Premise<'a>>,
    /// Where the change claims names.
    pub claim: Option<Claim<'a>>,
    pub notes: &'a [Note],
    /// The name of the content of the definition.
    pub content_hash: &'a str,
    /// The drift that it accepts. Refused where somebody has decided about that already.
    pub accepts: Option<McpDriftId>,
    /// The remote definition that the tool is pinned to from now on.
    pub pins: Option<&'a str>,
    /// What becomes of the artifact whose version the definition names.
    pub artifact: Option<&'a ArtifactChange>,
    pub audit: NewAudit,
}

const ALREADY_DECIDED: &str =
    "the drift was decided about already, or the server has changed the tool again since";

impl Note {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Save => "save",
            Self::Publish => "publish",
            Self::Version => "version",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Save, Self::Publish, Self::Version].into_iter().find(|note| note.as_str() == text)
    }
}

/// An entry of a tool's history.
#[derive(Clone, Debug)]
pub struct ToolVersion {
    pub id: Uuid,
    pub note: Note,
    pub version: String,
    pub revision: i64,
    pub content_hash: String,
    pub author: String,
    pub created: Timestamp,
    /// Since when nobody may call this number any more. Never set for a save.
    pub withdrawn: Option<Timestamp>,
}

/// A definition as it once was.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub version: String,
    pub revision: i64,
    pub content_hash: String,
    pub author: String,
    pub created: Timestamp,
    /// Since when nobody may call this number any more, where it was asked for by its number.
    pub withdrawn: Option<Timestamp>,
    pub content: Arc<str>,
}

row! {
    #[derive(Debug)]
    struct ToolRow {
        id: Uuid,
        slug: String,
        enabled: Option<bool>,
        is_active: Option<bool>,
        status: Option<String>,
        permission_policy: Option<String>,
        tenant_slugs: Option<String>,
        tags: Option<String>,
        definition: Option<String>,
        version: Option<String>,
        live: Option<String>,
        live_version: Option<String>,
        published_us: Option<i64>,
        revision: i64,
        updated_us: i64,
        created_us: i64,
        created_by: String,
        deleted_us: Option<i64>,
        mcp_server_id: Option<Uuid>,
        mcp_tool: Option<String>,
        mcp_hash: Option<String>,
        mcp_held: bool,
    }
}

row! {
    #[derive(Debug)]
    struct VersionRow {
        id: Uuid,
        reason: String,
        version: String,
        revision: i64,
        content_hash: String,
        author: String,
        created_us: i64,
        withdrawn_us: Option<i64>,
    }
}

row! {
    #[derive(Debug)]
    struct SnapshotRow {
        version: String,
        revision: i64,
        content_hash: String,
        author: String,
        created_us: i64,
        withdrawn_us: Option<i64>,
        content: String,
    }
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, slug, enabled, is_active, status, permission_policy, tenant_slugs, tags, definition, version,
             live, live_version, published_us, revision, updated_us, created_us, created_by, deleted_us,
             mcp_server_id, mcp_tool, mcp_hash, mcp_held FROM tools WHERE tenant_id = $1 AND kind = 'tenant_custom' AND ",
            $rest
        )
    };
}

/// The newest entries of a tool's history before `$3`, of each kind. Each has an index in this order.
const HISTORY: [(Note, &str); 3] = [
    (
        Note::Save,
        "SELECT id, 'save' AS reason, version, revision, content_hash, author, created_us FROM schema_versions
         WHERE tenant_id = $1 AND subject_id = $2 AND subject_kind = 'tool' AND id < $3 ORDER BY id DESC LIMIT $4",
    ),
    (
        Note::Publish,
        "SELECT id, reason, version, revision, content_hash, author, created_us FROM tool_versions
         WHERE tenant_id = $1 AND tool_id = $2 AND reason = 'publish' AND id < $3 ORDER BY id DESC LIMIT $4",
    ),
    (
        Note::Version,
        "SELECT id, reason, version, revision, content_hash, author, created_us FROM tool_versions
         WHERE tenant_id = $1 AND tool_id = $2 AND reason = 'version' AND id < $3 ORDER BY id DESC LIMIT $4",
    ),
];

impl TenantScope {
    /// The tenant's own tools that changed after `epoch`, removed ones included. A row that cannot be read
    /// takes nothing but itself away.
    pub async fn tools_changed_since(&self, epoch: i64) -> Result<Vec<ReadTool>> {
        const Q: &str = select!("changed_epoch > $2");
        let mut conn = self.read().await?;
        let rows: Vec<ToolRow> =
            on!(conn, c => sqlx::query_as(Q).bind(self.tenant.uuid()).bind(epoch).fetch_all(c).await)
                .map_err(Error::doing("reading tools"))?;
        let read = rows.into_iter().map(|row| {
            let id = ToolId::from_uuid(row.id);
            row.stored().map_or_else(|why| ReadTool::Unreadable { id, why }, ReadTool::Tool)
        });
        Ok(read.collect())
    }

    /// One of the tenant's own tools, as it is now.
    pub async fn custom_tool(&self, id: ToolId) -> Result<Option<StoredTool>> {
        const Q: &str = select!("id = $2 AND deleted_us IS NULL");
        let mut conn = self.read().await?;
        let row: Option<ToolRow> =
            on!(conn, c => sqlx::query_as(Q).bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
                .map_err(Error::doing("reading a tool"))?;
        row.map(ToolRow::stored).transpose()
    }

    /// What one of the tenant's own tools is or was called, also once it is removed.
    pub async fn tool_slug(&self, id: ToolId) -> Result<Option<Slug>> {
        const Q: &str = "SELECT slug FROM tools WHERE tenant_id = $1 AND id = $2 AND kind = 'tenant_custom'";
        let mut conn = self.read().await?;
        let slug: Option<String> = on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a tool"))?;
        Ok(slug.and_then(|slug| slug.parse().ok()))
    }

    /// What others have changed or removed after the epoch `since`, told behind the lock that `epoch` is.
    async fn changed_meanwhile(&self, tx: &mut Tx, since: i64, epoch: i64) -> Result<Vec<StoredTool>> {
        const Q: &str = select!("changed_epoch > $2 AND changed_epoch < $3");
        if epoch <= since + 1 {
            return Ok(Vec::new());
        }
        let rows: Vec<ToolRow> = within!(tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(since).bind(epoch).fetch_all(c).await)
        .map_err(Error::doing("reading tools"))?;
        Ok(rows.into_iter().filter_map(|row| row.stored().ok()).collect())
    }

    /// Whether the names of `claim` are still free.
    async fn are_free(&self, tx: &mut Tx, claim: Option<Claim<'_>>, epoch: i64) -> Result<bool> {
        let Some(claim) = claim else { return Ok(true) };
        let others = self.changed_meanwhile(tx, claim.free_at, epoch).await?;
        Ok(!others.iter().any(|tool| !tool.is_deleted && (claim.is_taken_by)(tool)))
    }

    async fn holds(&self, tx: &mut Tx, premise: Option<Premise<'_>>, epoch: i64) -> Result<bool> {
        let Some(premise) = premise else { return Ok(true) };
        let others = self.changed_meanwhile(tx, premise.as_of, epoch).await?;
        Ok(!others.iter().any(|tool| (premise.is_upset_by)(tool)))
    }

    /// Writes a new tool with what it leaves in the history. `Stale` where its premise may be wrong by now, or its
    /// artifact is not what it was.
    pub async fn insert_tool(&self, tool: &StoredTool, left: Left<'_>, by: &By) -> Result<Changed<()>> {
        const Q: &str = "INSERT INTO tools (id, tenant_id, slug, slug_key, kind, enabled, is_active, status,
            permission_policy, tenant_slugs, tags, definition, version, live, live_version, published_us, revision,
            updated_us, created_us, created_by, changed_epoch, mcp_server_id, mcp_tool, mcp_hash, mcp_held)
            VALUES ($1, $2, $3, $4, 'tenant_custom', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
            $18, $19, $20, $21, $22, $23, $24)
            ON CONFLICT (tenant_id, slug_key, kind) WHERE deleted_us IS NULL DO NOTHING";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        if !self.are_free(&mut tx, left.claim, epoch).await? {
            return Err(Error::Taken { what: "name" });
        }
        if !self.holds(&mut tx, left.premise, epoch).await?
            || !self.write_artifact(&mut tx, left.artifact, by).await?
        {
            return Ok(Changed::Stale(()));
        }
        let (switches, import) = (&tool.switches, tool.import.as_deref());
        let inserted = within!(&mut tx, c => sqlx::query(Q)
            .bind(tool.id.uuid()).bind(self.tenant.uuid()).bind(tool.slug.as_str()).bind(tool.slug.key())
            .bind(switches.enabled).bind(switches.is_active).bind(switches.status.as_str())
            .bind(switches.permission_policy.map(Policy::as_str))
            .bind(json!(switches.tenant_slugs).to_string()).bind(json!(switches.tags).to_string())
            .bind(&*tool.definition).bind(&tool.version).bind(tool.live.as_deref()).bind(&tool.live_version)
            .bind(tool.published.map(Timestamp::micros)).bind(tool.revision).bind(tool.updated.micros())
            .bind(tool.created.micros()).bind(&tool.created_by).bind(epoch)
            .bind(import.map(|import| import.server.uuid())).bind(import.map(|import| &import.tool))
            .bind(import.map(|import| &import.hash)).bind(import.is_some_and(|import| import.held))
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("writing a tool"))?;
        if inserted == 0 {
            return Err(Error::Taken { what: "slug" });
        }
        self.note(&mut tx, tool, &left, by).await?;
        let is_published = left.notes.contains(&Note::Publish);
        if is_published {
            self.tell_published(&mut tx, tool, by).await?;
        }
        self.audit_in(&mut tx, by, left.audit).await?;
        self.commit_bumped(tx).await?;
        if is_published {
            self.store.wake().deliveries_wait();
        }
        Ok(Changed::Done(()))
    }

    /// Writes a tool over the one that was last changed at `seen`, with what that leaves in the history.
    pub async fn update_tool(
        &self,
        tool: &StoredTool,
        seen: Timestamp,
        left: Left<'_>,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str = "UPDATE tools SET enabled = $3, is_active = $4, status = $5, permission_policy = $6,
            tenant_slugs = $7, tags = $8, definition = $9, version = $10, live = $11, live_version = $12,
            published_us = $13, revision = $14, updated_us = $15, deleted_us = $16, changed_epoch = $17,
            mcp_tool = $19, mcp_hash = $20, mcp_held = $21
            WHERE tenant_id = $1 AND id = $2 AND updated_us = $18 AND deleted_us IS NULL";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        if !self.are_free(&mut tx, left.claim, epoch).await? {
            return Err(Error::Taken { what: "name" });
        }
        if !self.holds(&mut tx, left.premise, epoch).await?
            || !self.write_artifact(&mut tx, left.artifact, by).await?
        {
            return Ok(Changed::Stale(()));
        }
        let (switches, import) = (&tool.switches, tool.import.as_deref());
        let deleted = tool.is_deleted.then_some(tool.updated.micros());
        let updated = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.id.uuid())
            .bind(switches.enabled).bind(switches.is_active).bind(switches.status.as_str())
            .bind(switches.permission_policy.map(Policy::as_str))
            .bind(json!(switches.tenant_slugs).to_string()).bind(json!(switches.tags).to_string())
            .bind(&*tool.definition).bind(&tool.version).bind(tool.live.as_deref()).bind(&tool.live_version)
            .bind(tool.published.map(Timestamp::micros)).bind(tool.revision).bind(tool.updated.micros())
            .bind(deleted).bind(epoch).bind(seen.micros()).bind(import.map(|import| &import.tool))
            .bind(import.map(|import| &import.hash)).bind(import.is_some_and(|import| import.held))
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("writing a tool"))?;
        if updated == 0 {
            return Ok(Changed::Stale(()));
        }
        if tool.is_deleted {
            self.forget_test_cases(&mut tx, tool.id).await?;
            self.close_drift(&mut tx, tool.id).await?;
        }
        if let Some(drift) = left.accepts
            && !self.decide_drift(&mut tx, drift, DriftStatus::Accepted, by).await?
        {
            return Err(Error::Refused { why: ALREADY_DECIDED });
        }
        self.note(&mut tx, tool, &left, by).await?;
        let is_published = left.notes.contains(&Note::Publish);
        if is_published {
            self.tell_published(&mut tx, tool, by).await?;
        }
        self.audit_in(&mut tx, by, left.audit).await?;
        self.commit_bumped(tx).await?;
        if is_published {
            self.store.wake().deliveries_wait();
        }
        Ok(Changed::Done(()))
    }

    async fn tell_published(&self, tx: &mut Tx, tool: &StoredTool, by: &By) -> Result<()> {
        let actor: Value = serde_json::from_str(&by.actor).unwrap_or_default();
        let data = json!({
            "tool_id": tool.id, "tool": tool.slug.as_str(), "version": tool.version,
            "published_at": tool.updated, "published_by": actor,
        });
        self.tell_webhooks(tx, WebhookEvent::ToolPublished, &data, tool.updated).await
    }

    async fn note(&self, tx: &mut Tx, tool: &StoredTool, left: &Left<'_>, by: &By) -> Result<()> {
        let Left { notes, content_hash: hash, .. } = *left;
        const SAVE: &str = "INSERT INTO schema_versions
            (id, tenant_id, subject_kind, subject_id, revision, version, content_hash, author, created_us)
            VALUES ($1, $2, 'tool', $3, $4, $5, $6, $7, $8)";
        const OTHER: &str = "INSERT INTO tool_versions
            (id, tenant_id, tool_id, revision, version, content_hash, author, created_us, reason)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        if let (Some(import), Some(remote)) = (&tool.import, left.pins) {
            self.keep_content(tx, &import.hash, remote).await?;
        }
        if notes.is_empty() {
            return Ok(());
        }
        let gives_number = notes.iter().any(|note| *note != Note::Save);
        if gives_number && self.withdrawn_in(tx, tool.id, &tool.version).await?.is_some() {
            return Err(Error::Taken { what: "version" });
        }
        self.keep_content(tx, hash, &tool.definition).await?;
        for (index, note) in notes.iter().enumerate() {
            let at = tool.updated.micros();
            let saves = *note == Note::Save;
            within!(tx, c => {
                let query = sqlx::query(if saves { SAVE } else { OTHER })
                    .bind(place_in_history(tool.updated, index)).bind(self.tenant.uuid())
                    .bind(tool.id.uuid()).bind(tool.revision)
                    .bind(&tool.version).bind(hash).bind(&by.actor).bind(at);
                let query = if saves { query } else { query.bind(note.as_str()) };
                query.execute(c).await.map(drop)
            })
            .map_err(Error::doing("writing a history"))?;
        }
        Ok(())
    }

    /// The history of a tool, newest first.
    pub async fn tool_history(
        &self,
        tool: ToolId,
        only: Option<Note>,
        before: Option<Uuid>,
        limit: i64,
    ) -> Result<Vec<ToolVersion>> {
        // All numbers are our own; nothing from outside is spelled out here.
        let parts = HISTORY.iter().filter(|(note, _)| only.is_none_or(|only| only == *note));
        let parts: Vec<_> = parts.map(|(_, part)| format!("SELECT * FROM ({part}) AS part")).collect();
        let sql = format!(
            "SELECT id, reason, history.version, revision, content_hash, history.author, created_us,
                CASE WHEN reason <> 'save' THEN w.withdrawn_us END AS withdrawn_us
             FROM ({}) AS history
             LEFT JOIN withdrawn_versions w ON w.tenant_id = $1 AND w.tool_id = $2 AND w.version = history.version
             ORDER BY id DESC LIMIT $4",
            parts.join(" UNION ALL ")
        );
        let mut conn = self.read().await?;
        let rows: Vec<VersionRow> = on!(conn, c => sqlx::query_as(AssertSqlSafe(sql))
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(before.unwrap_or(Uuid::max())).bind(limit)
            .fetch_all(c).await)
        .map_err(Error::doing("reading a history"))?;
        rows.into_iter().map(VersionRow::read).collect()
    }

    /// How long the history of a tool is, as far as that is counted.
    pub async fn count_tool_history(&self, tool: ToolId, only: Option<Note>) -> Result<Option<i64>> {
        let (mut saves, mut others) = (Conditions::default(), Conditions::default());
        saves.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        saves.and("subject_id =", Arg::Id(tool.uuid()));
        saves.and("subject_kind =", Arg::Text("tool".to_owned()));
        others.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        others.and("tool_id =", Arg::Id(tool.uuid()));
        if let Some(note) = only {
            others.and("reason =", Arg::Text(note.as_str().to_owned()));
        }
        let saves = match only {
            None | Some(Note::Save) => self.count("schema_versions", &saves).await?,
            Some(_) => Some(0),
        };
        let others = self.count("tool_versions", &others).await?;
        let total = saves.zip(others).map(|(saves, others)| saves + others);
        Ok(total.filter(|total| *total <= crate::runs::COUNT_MAX))
    }

    /// What a tool said at one revision.
    pub async fn tool_snapshot(&self, tool: ToolId, revision: i64) -> Result<Option<Snapshot>> {
        const Q: &str = "SELECT v.version, v.revision, v.content_hash, v.author, v.created_us,
                CAST(NULL AS bigint) AS withdrawn_us, c.content
            FROM schema_versions v
            JOIN schema_contents c ON c.tenant_id = v.tenant_id AND c.content_hash = v.content_hash
            WHERE v.tenant_id = $1 AND v.subject_id = $2 AND v.revision = $3";
        let mut conn = self.read().await?;
        let row: Option<SnapshotRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(revision).fetch_optional(c).await)
        .map_err(Error::doing("reading a snapshot"))?;
        Ok(row.map(SnapshotRow::read))
    }

    /// What was saved under a hash, of whichever tool.
    pub async fn tool_content(&self, content_hash: &str) -> Result<Option<String>> {
        const Q: &str = "SELECT content FROM schema_contents WHERE tenant_id = $1 AND content_hash = $2";
        let mut conn = self.read().await?;
        on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(content_hash).fetch_optional(c).await)
        .map_err(Error::doing("reading a version"))
    }

    /// What a tool says under a number: its newest publication, or else what the number was given to.
    pub async fn tool_at_version(
        &self,
        tool: ToolId,
        version: &str,
        published_only: bool,
    ) -> Result<Option<Snapshot>> {
        // `publish` comes before `version` in the alphabet too, and in the index.
        const Q: &str =
            "SELECT v.version, v.revision, v.content_hash, v.author, v.created_us, w.withdrawn_us,
                c.content
            FROM tool_versions v
            JOIN schema_contents c ON c.tenant_id = v.tenant_id AND c.content_hash = v.content_hash
            LEFT JOIN withdrawn_versions w
                ON w.tenant_id = v.tenant_id AND w.tool_id = v.tool_id AND w.version = v.version
            WHERE v.tenant_id = $1 AND v.tool_id = $2 AND v.version = $3 AND (v.reason = 'publish' OR $4)
            ORDER BY v.reason, v.id DESC LIMIT 1";
        let mut conn = self.read_in_order().await?;
        let row: Option<SnapshotRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(version).bind(!published_only)
            .fetch_optional(c).await)
        .map_err(Error::doing("reading a version"))?;
        Ok(row.map(SnapshotRow::read))
    }
}

impl Store {
    /// Says something about a tool to every tenant. They all notice.
    pub async fn set_for_everybody(&self, slug: &Slug, layer: crate::tools::Override, by: &By) -> Result<()> {
        let everybody = self.tenant(TenantId::GLOBAL);
        everybody.set_override(slug, layer, None, by).await?;
        let mut tx = everybody.begin().await?;
        match &mut tx {
            Tx::Sqlite(tx, _) => {
                sqlx::query("UPDATE tenant_epoch SET epoch = epoch + 1").execute(&mut **tx).await.map(drop)
            }
            Tx::Pg(tx) => sqlx::query("SELECT tw_bump_every_epoch()").execute(tx.parts().0).await.map(drop),
        }
        .map_err(Error::doing("telling every tenant"))?;
        tx.commit().await
    }
}

impl ToolRow {
    fn stored(self) -> Result<StoredTool> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("{what} of the tool {}", self.slug) };
        let list = |text: &Option<String>, what: &str| -> Result<Vec<String>> {
            let text = text.as_deref().unwrap_or("[]");
            serde_json::from_str(text).map_err(|_| corrupt(what))
        };
        let status = self.status.as_deref().and_then(ToolStatus::parse);
        let policy = self.permission_policy.as_deref().and_then(Policy::parse);
        if policy.is_none() && self.permission_policy.is_some() {
            return Err(corrupt("the policy"));
        }
        let switches = Switches {
            enabled: self.enabled,
            is_active: self.is_active.unwrap_or(true),
            status: status.ok_or_else(|| corrupt("the status"))?,
            permission_policy: policy,
            tenant_slugs: list(&self.tenant_slugs, "the tenants")?,
            tags: list(&self.tags, "the tags")?,
        };
        let import = match (self.mcp_server_id, &self.mcp_tool, &self.mcp_hash) {
            (None, _, _) => None,
            (Some(server), Some(tool), Some(hash)) => Some(Box::new(Import {
                server: McpServerId::from_uuid(server),
                tool: tool.clone(),
                hash: hash.clone(),
                held: self.mcp_held,
            })),
            _ => return Err(corrupt("the origin")),
        };
        Ok(StoredTool {
            import,
            id: ToolId::from_uuid(self.id),
            slug: self.slug.parse().map_err(|_| corrupt("the slug"))?,
            switches,
            definition: self.definition.as_deref().ok_or_else(|| corrupt("the definition"))?.into(),
            version: self.version.clone().ok_or_else(|| corrupt("the version"))?,
            live: self.live.as_deref().map(Arc::from),
            live_version: self.live_version.clone(),
            published: self.published_us.map(Timestamp::from_micros),
            revision: self.revision,
            updated: Timestamp::from_micros(self.updated_us),
            created: Timestamp::from_micros(self.created_us),
            is_deleted: self.deleted_us.is_some(),
            created_by: self.created_by,
        })
    }
}

impl VersionRow {
    fn read(self) -> Result<ToolVersion> {
        let note = Note::parse(&self.reason)
            .ok_or_else(|| Error::Corrupt { what: format!("an entry of a history is {}", self.reason) })?;
        Ok(ToolVersion {
            id: self.id,
            note,
            version: self.version,
            revision: self.revision,
            content_hash: self.content_hash,
            author: self.author,
            created: Timestamp::from_micros(self.created_us),
            withdrawn: self.withdrawn_us.map(Timestamp::from_micros),
        })
    }
}

impl SnapshotRow {
    fn read(self) -> Snapshot {
        Snapshot {
            version: self.version,
            revision: self.revision,
            content_hash: self.content_hash,
            author: self.author,
            created: Timestamp::from_micros(self.created_us),
            withdrawn: self.withdrawn_us.map(Timestamp::from_micros),
            content: self.content.into(),
        }
    }
}

/// An id that sorts an entry where it belongs. The moments of a tool's changes only go up, whatever the
/// clocks of several servers say; the clock of the one that writes alone would not do.
fn place_in_history(moment: Timestamp, index: usize) -> Uuid {
    let micros = u64::try_from(moment.micros()).unwrap_or(0);
    let (millis, rest) = (micros / 1000, micros % 1000);
    let fine = u16::try_from(rest << 2).unwrap_or(0) | u16::try_from(index & 3).unwrap_or(0);
    let mut low = [0; 10];
    low[..2].copy_from_slice(&fine.to_be_bytes());
    low[2..].copy_from_slice(&Uuid::now_v7().as_bytes()[8..]);
    uuid::Builder::from_unix_timestamp_millis(millis, &low).into_uuid()
}

/// The moment of a change to a tool: now, but later than the one before.
#[must_use]
pub fn moment_after(seen: Timestamp) -> Timestamp {
    Timestamp::from_micros(now_us().max(seen.micros() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_in_the_order_of_its_moments_and_of_what_one_moment_left() {
        let at = |micros, index| place_in_history(Timestamp::from_micros(micros), index);
        let moments =
            [1_800_000_000_000_000, 1_800_000_000_000_001, 1_800_000_000_000_999, 1_800_000_000_001_000];
        let ids: Vec<_> = moments.iter().flat_map(|moment| [at(*moment, 0), at(*moment, 1)]).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        assert_eq!(ids[0].get_version_num(), 7);
    }
}
