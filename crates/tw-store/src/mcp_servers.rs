//! MCP servers of others, and what they offered when they were asked last. A secret comes here sealed.

use serde_json::{Value, json};
use tw_model::{McpServerId, TenantId, Timestamp};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions},
    row::row,
    scope::{Store, TenantScope, now_us},
    tenants::Changed,
};

/// A server as stored, without the tools that it listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMcpServer {
    pub id: McpServerId,
    pub name: String,
    pub url: String,
    /// JSON, its secrets sealed.
    pub headers: String,
    /// The remote tools that may be imported; `None` for all.
    pub allowed_tools: Option<Vec<String>>,
    /// The OAuth client of the tenant: JSON, its secret encrypted.
    pub oauth: Option<String>,
    pub answer: LastAnswer,
    pub created: Timestamp,
    /// Moves with every change that a person makes, so it names the row as it stands. An answer is no change.
    pub updated: Timestamp,
    /// Who made it, as [`By::actor`].
    pub created_by: String,
}

/// How it went when the server was asked last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastAnswer {
    /// A word of whoever asks.
    pub status: String,
    pub error: Option<String>,
    /// JSON: what the server says about itself.
    pub about: Option<String>,
    /// How many tools it listed last.
    pub tools: i64,
    /// When it listed its tools last.
    pub listed: Option<Timestamp>,
}

row! {
    #[derive(Debug)]
    struct ServerRow {
        id: Uuid,
        name: String,
        url: String,
        headers: String,
        allowed_tools: Option<String>,
        oauth: Option<String>,
        status: String,
        last_error: Option<String>,
        about: Option<String>,
        tools: i64,
        listed_us: Option<i64>,
        created_us: i64,
        updated_us: i64,
        created_by: String,
    }
}

/// The servers of the tenant `$1`; a condition follows.
macro_rules! servers {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, url, headers, allowed_tools, oauth, status, last_error, about, tools, listed_us,
             created_us, updated_us, created_by FROM mcp_servers WHERE tenant_id = $1 ",
            $rest
        )
    };
}
const SELECT_ONE: &str = servers!("AND id = $2");

impl TenantScope {
    /// Adds a server, unless the tenant has `most` already. It is to be asked again at `due`.
    pub async fn create_mcp_server(
        &self,
        new: &StoredMcpServer,
        listing: Option<&str>,
        due: Timestamp,
        most: i64,
        by: &By,
    ) -> Result<()> {
        const COUNT: &str = "SELECT count(*) FROM mcp_servers WHERE tenant_id = $1";
        const Q: &str = "INSERT INTO mcp_servers (tenant_id, id, name, name_key, url, headers, allowed_tools,
            status, last_error, about, listing, tools, listed_us, due_us, created_us, updated_us, created_by, oauth)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let count: i64 = within!(&mut tx, c => sqlx::query_scalar(COUNT)
            .bind(self.tenant.uuid()).fetch_one(c).await)
        .map_err(Error::doing("counting MCP servers"))?;
        if most <= count {
            return Err(Error::Refused {
                why: "the tenant has reached the limit of 200 MCP servers: remove one first",
            });
        }
        let answer = &new.answer;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(new.id.uuid()).bind(&new.name).bind(new.name.to_ascii_lowercase())
            .bind(&new.url).bind(&new.headers).bind(allowed(new)).bind(&answer.status)
            .bind(&answer.error).bind(&answer.about).bind(listing).bind(answer.tools)
            .bind(answer.listed.map(Timestamp::micros)).bind(due.micros()).bind(new.created.micros())
            .bind(new.updated.micros()).bind(&new.created_by).bind(&new.oauth)
            .execute(c).await.map(drop))
        .map_err(Error::taken("name", "adding an MCP server"))?;
        let entry = NewAudit::change("mcp_server.created", new.object(), None, Some(new.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await
    }

    pub async fn mcp_server(&self, id: McpServerId) -> Result<Option<StoredMcpServer>> {
        let mut conn = self.read().await?;
        let row: Option<ServerRow> = on!(conn, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading an MCP server"))?;
        row.map(ServerRow::server).transpose()
    }

    /// By its name, whatever the case.
    pub async fn mcp_server_by_name(&self, name: &str) -> Result<Option<StoredMcpServer>> {
        const Q: &str = servers!("AND name_key = $2");
        let mut conn = self.read().await?;
        let row: Option<ServerRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(name.to_ascii_lowercase()).fetch_optional(c).await)
        .map_err(Error::doing("reading an MCP server"))?;
        row.map(ServerRow::server).transpose()
    }

    /// Servers after the one given, oldest first.
    pub async fn mcp_servers(&self, after: Option<McpServerId>, limit: i64) -> Result<Vec<StoredMcpServer>> {
        const Q: &str = servers!("AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or(Uuid::nil(), McpServerId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<ServerRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing MCP servers"))?;
        rows.into_iter().map(ServerRow::server).collect()
    }

    pub async fn count_mcp_servers(&self) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        self.count("mcp_servers", &conditions).await
    }

    /// The tools as the server listed them last, as JSON.
    pub async fn mcp_listing(&self, id: McpServerId) -> Result<Option<String>> {
        const Q: &str = "SELECT listing FROM mcp_servers WHERE tenant_id = $1 AND id = $2";
        let mut conn = self.read().await?;
        let found: Option<Option<String>> = on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading what an MCP server listed"))?;
        Ok(found.flatten())
    }

    /// Writes a server over the one that was last changed at `seen`. It is asked again at `due`.
    pub async fn change_mcp_server(
        &self,
        after: &StoredMcpServer,
        seen: Timestamp,
        due: Timestamp,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str =
            "UPDATE mcp_servers SET name = $3, name_key = $4, url = $5, headers = $6, allowed_tools = $7,
            updated_us = $8, due_us = $9, oauth = $10 WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(before) = self.mcp_server_in(&mut tx, after.id).await? else { return Ok(Changed::Missing) };
        if before.updated != seen {
            return Ok(Changed::Stale(()));
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(after.id.uuid()).bind(&after.name).bind(after.name.to_ascii_lowercase())
            .bind(&after.url).bind(&after.headers).bind(allowed(after))
            .bind(after.updated.micros()).bind(due.micros()).bind(&after.oauth)
            .execute(c).await.map(drop))
        .map_err(Error::taken("name", "changing an MCP server"))?;
        // A token is for one address, and of one client.
        if before.url != after.url || before.oauth != after.oauth {
            self.forget_mcp_grant_in(&mut tx, after.id).await?;
        }
        let (audited, object) = (before.audited(), before.object());
        let entry = NewAudit::change("mcp_server.changed", object, Some(audited), Some(after.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Removes a server that was last changed at `seen` and that nothing used as of an epoch.
    pub async fn remove_mcp_server(
        &self,
        id: McpServerId,
        seen: Timestamp,
        unused_at: i64,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str = "DELETE FROM mcp_servers WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        let Some(before) = self.mcp_server_in(&mut tx, id).await? else { return Ok(Changed::Missing) };
        if before.updated != seen || unused_at + 1 != epoch {
            return Ok(Changed::Stale(()));
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).execute(c).await.map(drop))
        .map_err(Error::doing("removing an MCP server"))?;
        self.forget_mcp_grant_in(&mut tx, id).await?;
        let entry = NewAudit::change("mcp_server.removed", before.object(), Some(before.audited()), None);
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Writes down how it went with a server that is still as it was at `seen`; a `listing` replaces the one before.
    /// Changes nothing that callers may see or do, so the epoch stays.
    pub async fn note_mcp_answer(
        &self,
        id: McpServerId,
        seen: Timestamp,
        answer: &LastAnswer,
        listing: Option<&str>,
        due: Timestamp,
    ) -> Result<bool> {
        const Q: &str = "UPDATE mcp_servers SET status = $4, last_error = $5, about = $6, tools = $7, listed_us = $8,
            due_us = $9, listing = coalesce($10, listing) WHERE tenant_id = $1 AND id = $2 AND updated_us = $3";
        let mut tx = self.begin().await?;
        let noted = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(seen.micros()).bind(&answer.status).bind(&answer.error)
            .bind(&answer.about).bind(answer.tools).bind(answer.listed.map(Timestamp::micros)).bind(due.micros())
            .bind(listing)
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("noting what an MCP server answered"))?;
        tx.commit().await?;
        Ok(noted == 1)
    }

    /// Takes a server that is due at `now`, so that no other replica asks it before `until`. `false` where another did.
    pub async fn claim_mcp_server(&self, id: McpServerId, now: Timestamp, until: Timestamp) -> Result<bool> {
        const Q: &str =
            "UPDATE mcp_servers SET due_us = $4 WHERE tenant_id = $1 AND id = $2 AND due_us <= $3";
        let mut tx = self.begin().await?;
        let claimed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(now.micros()).bind(until.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("taking an MCP server"))?;
        tx.commit().await?;
        Ok(claimed == 1)
    }

    /// Has a server asked at `due`, where that is sooner than it would be.
    pub async fn hasten_mcp_server(&self, id: McpServerId, due: Timestamp) -> Result<bool> {
        const Q: &str = "UPDATE mcp_servers SET due_us = $3 WHERE tenant_id = $1 AND id = $2 AND due_us > $3";
        let mut tx = self.begin().await?;
        let hastened = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(due.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("having an MCP server asked sooner"))?;
        tx.commit().await?;
        Ok(hastened == 1)
    }

    pub(crate) async fn mcp_server_in(
        &self,
        tx: &mut Tx,
        id: McpServerId,
    ) -> Result<Option<StoredMcpServer>> {
        let row: Option<ServerRow> = within!(tx, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading an MCP server"))?;
        row.map(ServerRow::server).transpose()
    }
}

impl Store {
    /// Servers of all tenants that are to be asked at `now`, the longest due first. Ids only.
    pub async fn due_mcp_servers(&self, now: Timestamp, most: i64) -> Result<Vec<(TenantId, McpServerId)>> {
        const SQLITE: &str =
            "SELECT tenant_id, id FROM mcp_servers WHERE due_us <= $1 ORDER BY due_us LIMIT $2";
        const PG: &str = "SELECT tenant_id, id FROM tw_due_mcp_servers($1, $2)";
        let sql = if self.is_shared() { PG } else { SQLITE };
        let mut conn = self.db.read("{}").await?;
        let rows: Vec<(Uuid, Uuid)> = on!(conn, c => sqlx::query_as(sql)
            .bind(now.micros()).bind(most).fetch_all(c).await)
        .map_err(Error::doing("looking for due MCP servers"))?;
        let ids = rows.into_iter();
        Ok(ids.map(|(tenant, id)| (TenantId::from_uuid(tenant), McpServerId::from_uuid(id))).collect())
    }
}

fn allowed(server: &StoredMcpServer) -> Option<String> {
    server.allowed_tools.as_ref().map(|names| json!(names).to_string())
}

impl StoredMcpServer {
    pub(crate) fn object(&self) -> String {
        format!("mcp_server:{}", self.id)
    }

    /// Of headers the names alone.
    fn audited(&self) -> Value {
        let headers: Value = serde_json::from_str(&self.headers).unwrap_or_default();
        let headers: Vec<_> = headers.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
        let mut audited = json!({
            "name": self.name, "url": self.url, "headers": headers, "allowed_tools": self.allowed_tools,
        });
        let oauth: Option<Value> = self.oauth.as_deref().and_then(|oauth| serde_json::from_str(oauth).ok());
        if let Some(oauth) = oauth {
            audited["client_id"] = oauth["client_id"].clone();
        }
        audited
    }

    /// The moment of a change to it: now, but later than the one before.
    #[must_use]
    pub fn moment_after(&self) -> Timestamp {
        Timestamp::from_micros(now_us().max(self.updated.micros() + 1))
    }
}

impl ServerRow {
    fn server(self) -> Result<StoredMcpServer> {
        let allowed_tools = self.allowed_tools.as_deref().map(serde_json::from_str).transpose();
        let allowed_tools = allowed_tools
            .map_err(|_| Error::Corrupt { what: format!("the allowed tools of MCP server {}", self.id) })?;
        Ok(StoredMcpServer {
            id: McpServerId::from_uuid(self.id),
            name: self.name,
            url: self.url,
            headers: self.headers,
            allowed_tools,
            oauth: self.oauth,
            answer: LastAnswer {
                status: self.status,
                error: self.last_error,
                about: self.about,
                tools: self.tools,
                listed: self.listed_us.map(Timestamp::from_micros),
            },
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
            created_by: self.created_by,
        })
    }
}
