//! Sign-ins to MCP servers of others: those under way, and what came of them. Secrets come here sealed.

use std::time::Duration;

use serde_json::json;
use tw_model::{McpServerId, Timestamp, UserId};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    row::row,
    scope::TenantScope,
    tenants::Changed,
};

/// Somebody on the way to a sign-in page, and back.
#[derive(Clone, PartialEq, Eq)]
pub struct McpSignIn {
    pub server: McpServerId,
    pub user: UserId,
    /// What the code is exchanged with. Sealed.
    pub sealed: Vec<u8>,
    pub expires: Timestamp,
}

/// What a server gave to somebody who signed in.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredMcpGrant {
    /// Names this sign-in.
    pub id: Uuid,
    pub server: McpServerId,
    /// The address that it is for.
    pub url: String,
    pub issuer: String,
    pub scope: Option<String>,
    /// The tokens, and how they are renewed. Sealed.
    pub sealed: Vec<u8>,
    /// Counts the times that it was renewed.
    pub revision: i64,
    /// When the token was given.
    pub given: Timestamp,
    /// Until when it holds, where that is known.
    pub expires: Option<Timestamp>,
    /// Why it cannot be renewed any more.
    pub refused: Option<String>,
    pub signed_in: Timestamp,
    /// Who signed in, as [`By::actor`].
    pub signed_in_by: String,
}

/// What a grant becomes when it is renewed.
pub struct RenewedGrant<'a> {
    pub sealed: &'a [u8],
    pub scope: Option<&'a str>,
    pub given: Timestamp,
    pub expires: Option<Timestamp>,
}

macro_rules! shown_without_secret {
    ($($name:ident $(<$life:lifetime>)?: $field:ident;)+) => {$(
        impl std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).field(stringify!($field), &self.$field).finish_non_exhaustive()
            }
        }
    )+};
}
shown_without_secret! {
    McpSignIn: server;
    StoredMcpGrant: server;
    RenewedGrant<'_>: expires;
}

row! {
    struct SignInRow {
        server_id: Uuid,
        user_id: Uuid,
        sealed: Vec<u8>,
        expires_us: i64,
    }
}

row! {
    struct GrantRow {
        id: Uuid,
        server_id: Uuid,
        url: String,
        issuer: String,
        scope: Option<String>,
        sealed: Vec<u8>,
        revision: i64,
        given_us: i64,
        expires_us: Option<i64>,
        refused: Option<String>,
        signed_in_us: i64,
        signed_in_by: String,
    }
}

/// The grants of the tenant `$1`; a condition follows.
macro_rules! grants {
    ($rest:literal) => {
        concat!(
            "SELECT id, server_id, url, issuer, scope, sealed, revision, given_us, expires_us, refused, signed_in_us,
             signed_in_by FROM mcp_grants WHERE tenant_id = $1 ",
            $rest
        )
    };
}

impl TenantScope {
    /// Lets somebody go to a sign-in page. They come back with what `state_hash` is the hash of. Of two ways to the same
    /// server the later one counts.
    pub async fn begin_mcp_sign_in(
        &self,
        state_hash: &[u8; 32],
        sign_in: &McpSignIn,
        now: Timestamp,
        audited: serde_json::Value,
        by: &By,
    ) -> Result<()> {
        const OLD: &str = "DELETE FROM mcp_sign_ins WHERE tenant_id = $1 AND expires_us <= $2";
        const EARLIER: &str =
            "DELETE FROM mcp_sign_ins WHERE tenant_id = $1 AND server_id = $2 AND user_id = $3";
        const Q: &str =
            "INSERT INTO mcp_sign_ins (tenant_id, state_hash, server_id, user_id, sealed, expires_us)
            VALUES ($1, $2, $3, $4, $5, $6)";
        let mut tx = self.begin().await?;
        let (server, user) = (sign_in.server.uuid(), sign_in.user.uuid());
        within!(&mut tx, c => sqlx::query(OLD)
            .bind(self.tenant.uuid()).bind(now.micros()).execute(c).await.map(drop))
        .map_err(Error::doing("forgetting sign-ins"))?;
        within!(&mut tx, c => sqlx::query(EARLIER)
            .bind(self.tenant.uuid()).bind(server).bind(user).execute(c).await.map(drop))
        .map_err(Error::doing("forgetting sign-ins"))?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(&state_hash[..]).bind(server).bind(user).bind(&sign_in.sealed)
            .bind(sign_in.expires.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("beginning a sign-in"))?;
        let object = format!("mcp_server:{}", sign_in.server);
        self.audit_in(&mut tx, by, NewAudit::change("mcp_server.sign_in_begun", object, None, Some(audited)))
            .await?;
        tx.commit().await
    }

    /// Takes a sign-in of this user's, once. `None` where there is none, or none any more, or it is somebody else's.
    pub async fn take_mcp_sign_in(
        &self,
        state_hash: &[u8; 32],
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<McpSignIn>> {
        const Q: &str = "DELETE FROM mcp_sign_ins WHERE tenant_id = $1 AND state_hash = $2 AND user_id = $3
            RETURNING server_id, user_id, sealed, expires_us";
        let mut tx = self.begin().await?;
        let taken: Option<SignInRow> = within!(&mut tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(&state_hash[..]).bind(user.uuid())
            .fetch_optional(c).await)
        .map_err(Error::doing("taking a sign-in"))?;
        tx.commit().await?;
        Ok(taken.map(SignInRow::sign_in).filter(|sign_in| now < sign_in.expires))
    }

    /// Keeps what a server gave, in the place of what it gave before. `oauth` is what the server's row is to say of this
    /// client. Nothing is kept where the server is at another address by now, or gone.
    pub async fn keep_mcp_grant(
        &self,
        grant: &StoredMcpGrant,
        oauth: Option<&str>,
        by: &By,
    ) -> Result<Changed<()>> {
        const MOVE: &str =
            "UPDATE mcp_servers SET updated_us = $3, oauth = $4 WHERE tenant_id = $1 AND id = $2";
        const Q: &str =
            "INSERT INTO mcp_grants (tenant_id, server_id, id, url, issuer, scope, sealed, revision,
            given_us, expires_us, leased_us, signed_in_us, signed_in_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $12)";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(server) = self.mcp_server_in(&mut tx, grant.server).await? else {
            return Ok(Changed::Missing);
        };
        if server.url != grant.url {
            return Ok(Changed::Stale(()));
        }
        self.forget_mcp_grant_in(&mut tx, grant.server).await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(grant.id).bind(&grant.url)
            .bind(&grant.issuer).bind(&grant.scope).bind(&grant.sealed).bind(grant.revision)
            .bind(grant.given.micros()).bind(grant.expires.map(Timestamp::micros))
            .bind(grant.signed_in.micros()).bind(&grant.signed_in_by)
            .execute(c).await.map(drop))
        .map_err(Error::doing("keeping what an MCP server gave"))?;
        within!(&mut tx, c => sqlx::query(MOVE)
            .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(server.moment_after().micros()).bind(oauth)
            .execute(c).await.map(drop))
        .map_err(Error::doing("changing an MCP server"))?;
        let after = json!({ "issuer": grant.issuer, "scope": grant.scope });
        self.audit_in(
            &mut tx,
            by,
            NewAudit::change("mcp_server.signed_in", server.object(), None, Some(after)),
        )
        .await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Forgets what a server gave. `false` where it gave nothing.
    pub async fn forget_mcp_grant(&self, id: McpServerId, by: &By) -> Result<bool> {
        const MOVE: &str = "UPDATE mcp_servers SET updated_us = $3 WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(server) = self.mcp_server_in(&mut tx, id).await? else { return Ok(false) };
        let Some(issuer) = self.forget_mcp_grant_in(&mut tx, id).await? else { return Ok(false) };
        within!(&mut tx, c => sqlx::query(MOVE)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(server.moment_after().micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("changing an MCP server"))?;
        let before = json!({ "issuer": issuer });
        let line = NewAudit::change("mcp_server.signed_out", server.object(), Some(before), None);
        self.audit_in(&mut tx, by, line).await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    /// Forgets sign-ins to a server, those under way as well. Returns who gave what there was.
    pub(crate) async fn forget_mcp_grant_in(&self, tx: &mut Tx, id: McpServerId) -> Result<Option<String>> {
        const BEGUN: &str = "DELETE FROM mcp_sign_ins WHERE tenant_id = $1 AND server_id = $2";
        const Q: &str = "DELETE FROM mcp_grants WHERE tenant_id = $1 AND server_id = $2 RETURNING issuer";
        within!(tx, c => sqlx::query(BEGUN)
            .bind(self.tenant.uuid()).bind(id.uuid()).execute(c).await.map(drop))
        .map_err(Error::doing("forgetting sign-ins"))?;
        within!(tx, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("forgetting what an MCP server gave"))
    }

    pub async fn mcp_grant(&self, server: McpServerId) -> Result<Option<StoredMcpGrant>> {
        const Q: &str = grants!("AND server_id = $2");
        let mut conn = self.read().await?;
        let row: Option<GrantRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(server.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading what an MCP server gave"))?;
        Ok(row.map(GrantRow::grant))
    }

    /// What the servers from one id to another gave.
    pub async fn mcp_grants(&self, first: McpServerId, last: McpServerId) -> Result<Vec<StoredMcpGrant>> {
        const Q: &str = grants!("AND server_id >= $2 AND server_id <= $3 ORDER BY server_id LIMIT 1000");
        let mut conn = self.read().await?;
        let rows: Vec<GrantRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(first.uuid()).bind(last.uuid()).fetch_all(c).await)
        .map_err(Error::doing("reading what MCP servers gave"))?;
        Ok(rows.into_iter().map(GrantRow::grant).collect())
    }

    /// Takes the renewal of a grant that is still at `revision`. `false` where another server has it, or had it.
    pub async fn lease_mcp_grant(
        &self,
        grant: &StoredMcpGrant,
        now: Timestamp,
        lease: Duration,
    ) -> Result<bool> {
        // By the clock of the database, where servers may have several.
        const PG: &str = "UPDATE mcp_grants SET leased_us = tw_no_later($5) + $6 WHERE tenant_id = $1
            AND server_id = $2 AND id = $3 AND revision = $4 AND refused IS NULL AND leased_us <= tw_no_later($5)";
        const SQLITE: &str = "UPDATE mcp_grants SET leased_us = $5 + $6 WHERE tenant_id = $1
            AND server_id = $2 AND id = $3 AND revision = $4 AND refused IS NULL AND leased_us <= $5";
        let sql = if self.store.is_shared() { PG } else { SQLITE };
        let lease = i64::try_from(lease.as_micros()).unwrap_or(i64::MAX);
        let mut tx = self.begin().await?;
        let leased = within!(&mut tx, c => sqlx::query(sql)
            .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(grant.id).bind(grant.revision)
            .bind(now.micros()).bind(lease)
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("taking the renewal of a token"))?;
        tx.commit().await?;
        Ok(leased == 1)
    }

    /// Gives a renewal back that could not be made.
    pub async fn release_mcp_grant(&self, grant: &StoredMcpGrant) -> Result<()> {
        const Q: &str =
            "UPDATE mcp_grants SET leased_us = 0 WHERE tenant_id = $1 AND server_id = $2 AND id = $3
            AND revision = $4";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(grant.id).bind(grant.revision)
            .execute(c).await.map(drop))
        .map_err(Error::doing("giving back the renewal of a token"))?;
        tx.commit().await
    }

    /// Writes what a grant was renewed to.
    pub async fn renew_mcp_grant(&self, grant: &StoredMcpGrant, renewed: &RenewedGrant<'_>) -> Result<()> {
        const Q: &str = "UPDATE mcp_grants SET sealed = $5, scope = $6, given_us = $7, expires_us = $8,
            revision = revision + 1, leased_us = 0, refused = NULL
            WHERE tenant_id = $1 AND server_id = $2 AND id = $3 AND revision = $4";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(grant.id).bind(grant.revision)
            .bind(renewed.sealed).bind(renewed.scope).bind(renewed.given.micros())
            .bind(renewed.expires.map(Timestamp::micros))
            .execute(c).await.map(drop))
        .map_err(Error::doing("renewing a token"))?;
        tx.commit().await
    }

    /// Writes down that a grant cannot be renewed any more. Its server is shown under `status` from now on.
    pub async fn refuse_mcp_grant(&self, grant: &StoredMcpGrant, why: &str, status: &str) -> Result<()> {
        const Q: &str = "UPDATE mcp_grants SET refused = $5, leased_us = 0
            WHERE tenant_id = $1 AND server_id = $2 AND id = $3 AND revision = $4";
        const SHOW: &str =
            "UPDATE mcp_servers SET status = $3, last_error = $4 WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        let refused = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(grant.id).bind(grant.revision).bind(why)
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("ending a sign-in"))?;
        if refused == 1 {
            within!(&mut tx, c => sqlx::query(SHOW)
                .bind(self.tenant.uuid()).bind(grant.server.uuid()).bind(status).bind(why)
                .execute(c).await.map(drop))
            .map_err(Error::doing("noting what an MCP server answered"))?;
            let line = NewAudit {
                action: "mcp_server.sign_in_over".to_owned(),
                object: format!("mcp_server:{}", grant.server),
                before: Some(json!({ "issuer": grant.issuer })),
                after: None,
                note: Some(why.to_owned()),
            };
            self.audit_in(&mut tx, &By::system(), line).await?;
        }
        tx.commit().await
    }
}

impl SignInRow {
    fn sign_in(self) -> McpSignIn {
        McpSignIn {
            server: McpServerId::from_uuid(self.server_id),
            user: UserId::from_uuid(self.user_id),
            sealed: self.sealed,
            expires: Timestamp::from_micros(self.expires_us),
        }
    }
}

impl GrantRow {
    fn grant(self) -> StoredMcpGrant {
        StoredMcpGrant {
            id: self.id,
            server: McpServerId::from_uuid(self.server_id),
            url: self.url,
            issuer: self.issuer,
            scope: self.scope,
            sealed: self.sealed,
            revision: self.revision,
            given: Timestamp::from_micros(self.given_us),
            expires: self.expires_us.map(Timestamp::from_micros),
            refused: self.refused,
            signed_in: Timestamp::from_micros(self.signed_in_us),
            signed_in_by: self.signed_in_by,
        }
    }
}
