//! What an imported tool's server was found to offer instead of what was imported. Finding it and holding the tool is one
//! transaction, and so is deciding it and letting the tool go.

use serde_json::{Value, json};
use tw_model::{McpDriftId, McpServerId, Timestamp, ToolId};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    row::row,
    scope::{TenantScope, now_us},
    tenants::Changed,
};

/// Where an imported tool comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub server: McpServerId,
    /// What the server calls it.
    pub tool: String,
    /// The name of the remote definition that was imported, by which [`TenantScope::tool_content`] finds it.
    pub hash: String,
    /// Whether nobody may call it until a person has decided about a drift.
    pub held: bool,
}

/// A drift as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpDrift {
    pub id: McpDriftId,
    pub server: McpServerId,
    pub tool: ToolId,
    pub slug: String,
    /// `changed`, `renamed` or `removed`.
    pub kind: String,
    /// What the server calls the tool now; `None` where it has it no more.
    pub remote_name: Option<String>,
    pub pinned_hash: String,
    pub current_hash: Option<String>,
    /// JSON.
    pub diff: String,
    pub status: DriftStatus,
    pub seen: Timestamp,
    pub decided: Option<Timestamp>,
    /// Who decided, as [`By::actor`].
    pub decided_by: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftStatus {
    Pending,
    Accepted,
    Rejected,
    /// What was found is not so any more.
    Closed,
}

impl DriftStatus {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Closed => "closed",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let all = [Self::Pending, Self::Accepted, Self::Rejected, Self::Closed];
        all.into_iter().find(|status| status.as_str() == text)
    }
}

row! {
    #[derive(Debug)]
    struct DriftRow {
        id: Uuid,
        server_id: Uuid,
        tool_id: Uuid,
        slug: String,
        kind: String,
        remote_name: Option<String>,
        pinned_hash: String,
        current_hash: Option<String>,
        diff: String,
        status: String,
        seen_us: i64,
        decided_us: Option<i64>,
        decided_by: Option<String>,
    }
}

macro_rules! drifts {
    ($rest:literal) => {
        concat!(
            "SELECT id, server_id, tool_id, slug, kind, remote_name, pinned_hash, current_hash, diff, status, seen_us,
             decided_us, decided_by FROM mcp_drifts WHERE tenant_id = $1 ",
            $rest
        )
    };
}

impl TenantScope {
    /// Writes a drift down and holds its tool, if the tool is still pinned to what the drift was found against. An older
    /// drift of the tool is closed. `current` is the text of what the server offers now, by its hash.
    pub async fn add_mcp_drift(&self, drift: &McpDrift, current: Option<&str>, by: &By) -> Result<bool> {
        const INSERT: &str =
            "INSERT INTO mcp_drifts (tenant_id, id, server_id, tool_id, slug, kind, remote_name,
            pinned_hash, current_hash, diff, status, seen_us)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11)";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        if !self.hold(&mut tx, drift.tool, &drift.pinned_hash, true, epoch).await? {
            return Ok(false);
        }
        self.close_drift(&mut tx, drift.tool).await?;
        if let (Some(hash), Some(text)) = (&drift.current_hash, current) {
            self.keep_content(&mut tx, hash, text).await?;
        }
        within!(&mut tx, c => sqlx::query(INSERT)
            .bind(self.tenant.uuid()).bind(drift.id.uuid()).bind(drift.server.uuid()).bind(drift.tool.uuid())
            .bind(&drift.slug).bind(&drift.kind).bind(&drift.remote_name).bind(&drift.pinned_hash)
            .bind(&drift.current_hash).bind(&drift.diff).bind(drift.seen.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("writing a drift"))?;
        let told = serde_json::json!({
            "drift_id": drift.id, "server_id": drift.server, "tool_id": drift.tool, "tool": drift.slug,
            "kind": drift.kind, "pinned_hash": drift.pinned_hash, "current_hash": drift.current_hash,
            "seen_at": drift.seen,
        });
        self.tell_webhooks(&mut tx, tw_model::WebhookEvent::McpDrift, &told, drift.seen).await?;
        let entry = NewAudit::change("mcp.drift", drift.object(), None, Some(drift.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        self.store.wake().deliveries_wait();
        Ok(true)
    }

    /// Lets a tool go whose server offers again what was imported. `false` where it is not held, or pinned to something
    /// else by now.
    pub async fn close_mcp_drift(
        &self,
        tool: ToolId,
        pinned_hash: &str,
        slug: &str,
        by: &By,
    ) -> Result<bool> {
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        if !self.hold(&mut tx, tool, pinned_hash, false, epoch).await? {
            return Ok(false);
        }
        self.close_drift(&mut tx, tool).await?;
        let after = json!({ "slug": slug, "pinned_hash": pinned_hash });
        let entry = NewAudit::change("mcp.drift_closed", format!("tool:{slug}"), None, Some(after));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    /// Rejects a drift. Its tool stays held. `Stale` where it was decided about before.
    pub async fn reject_mcp_drift(&self, drift: &McpDrift, by: &By) -> Result<Changed<()>> {
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        if !self.decide_drift(&mut tx, drift.id, DriftStatus::Rejected, by).await? {
            return Ok(Changed::Stale(()));
        }
        let entry = NewAudit::change("mcp.drift_rejected", drift.object(), None, Some(drift.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Decides about a drift that nobody has decided about yet; otherwise `false`.
    pub(crate) async fn decide_drift(
        &self,
        tx: &mut Tx,
        id: McpDriftId,
        status: DriftStatus,
        by: &By,
    ) -> Result<bool> {
        const Q: &str = "UPDATE mcp_drifts SET status = $3, decided_us = $4, decided_by = $5
            WHERE tenant_id = $1 AND id = $2 AND status = 'pending'";
        let decided = within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(status.as_str()).bind(now_us()).bind(&by.actor)
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("deciding about a drift"))?;
        Ok(decided == 1)
    }

    /// Closes what nobody has decided about.
    pub(crate) async fn close_drift(&self, tx: &mut Tx, tool: ToolId) -> Result<()> {
        const Q: &str = "UPDATE mcp_drifts SET status = 'closed', decided_us = $3
            WHERE tenant_id = $1 AND tool_id = $2 AND status = 'pending'";
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(now_us()).execute(c).await.map(drop))
        .map_err(Error::doing("closing a drift"))
    }

    /// Holds a tool or lets it go. A tool that is held already may be held again, for another reason.
    async fn hold(&self, tx: &mut Tx, tool: ToolId, hash: &str, held: bool, epoch: i64) -> Result<bool> {
        const Q: &str = "UPDATE tools SET mcp_held = $4, changed_epoch = $5,
            updated_us = CASE WHEN updated_us < $6 THEN $6 ELSE updated_us + 1 END
            WHERE tenant_id = $1 AND id = $2 AND mcp_hash = $3 AND (mcp_held OR $4) AND deleted_us IS NULL";
        let held = within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(hash).bind(held).bind(epoch).bind(now_us())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("holding a tool"))?;
        Ok(held == 1)
    }

    /// Keeps a text under its hash.
    pub(crate) async fn keep_content(&self, tx: &mut Tx, hash: &str, text: &str) -> Result<()> {
        const Q: &str = "INSERT INTO schema_contents (tenant_id, content_hash, content) VALUES ($1, $2, $3)
            ON CONFLICT (tenant_id, content_hash) DO NOTHING";
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(hash).bind(text).execute(c).await.map(drop))
        .map_err(Error::doing("writing a definition"))
    }

    pub async fn mcp_drift(&self, id: McpDriftId) -> Result<Option<McpDrift>> {
        const Q: &str = drifts!("AND id = $2");
        let mut conn = self.read().await?;
        let row: Option<DriftRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a drift"))?;
        row.map(DriftRow::drift).transpose()
    }

    /// The drifts of a server before the one given, newest first, without those that are closed.
    pub async fn mcp_drifts(
        &self,
        server: McpServerId,
        before: Option<McpDriftId>,
        limit: i64,
    ) -> Result<Vec<McpDrift>> {
        const Q: &str =
            drifts!("AND server_id = $2 AND id < $3 AND status <> 'closed' ORDER BY id DESC LIMIT $4");
        let before = before.map_or(Uuid::max(), McpDriftId::uuid);
        let mut conn = self.read_in_order().await?;
        let rows: Vec<DriftRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(server.uuid()).bind(before).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing drifts"))?;
        rows.into_iter().map(DriftRow::drift).collect()
    }

    /// The drift of a tool that nobody has decided about, or else the one that was decided about last.
    pub async fn last_mcp_drift(&self, tool: ToolId) -> Result<Option<McpDrift>> {
        const Q: &str = drifts!("AND tool_id = $2 AND status <> 'closed' ORDER BY seen_us DESC LIMIT 1");
        let mut conn = self.read_in_order().await?;
        let row: Option<DriftRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a drift"))?;
        row.map(DriftRow::drift).transpose()
    }

    /// How many drifts nobody has decided about, by server.
    pub async fn pending_mcp_drifts(&self) -> Result<Vec<(McpServerId, i64)>> {
        const Q: &str =
            "SELECT server_id, count(*) FROM mcp_drifts WHERE tenant_id = $1 AND status = 'pending'
            GROUP BY server_id";
        let mut conn = self.read().await?;
        let rows: Vec<(Uuid, i64)> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).fetch_all(c).await)
        .map_err(Error::doing("counting drifts"))?;
        Ok(rows.into_iter().map(|(server, count)| (McpServerId::from_uuid(server), count)).collect())
    }
}

impl McpDrift {
    fn object(&self) -> String {
        format!("tool:{}", self.slug)
    }

    /// Without the texts, which may be long and are the server's.
    #[must_use]
    pub fn audited(&self) -> Value {
        json!({
            "id": self.id, "server_id": self.server, "kind": self.kind, "remote_name": self.remote_name,
            "pinned_hash": self.pinned_hash, "current_hash": self.current_hash,
        })
    }
}

impl DriftRow {
    fn drift(self) -> Result<McpDrift> {
        let status = DriftStatus::parse(&self.status);
        Ok(McpDrift {
            id: McpDriftId::from_uuid(self.id),
            server: McpServerId::from_uuid(self.server_id),
            tool: ToolId::from_uuid(self.tool_id),
            slug: self.slug,
            kind: self.kind,
            remote_name: self.remote_name,
            pinned_hash: self.pinned_hash,
            current_hash: self.current_hash,
            diff: self.diff,
            status: status
                .ok_or_else(|| Error::Corrupt { what: format!("the status of drift {}", self.id) })?,
            seen: Timestamp::from_micros(self.seen_us),
            decided: self.decided_us.map(Timestamp::from_micros),
            decided_by: self.decided_by,
        })
    }
}
