//! Browsers that are signed in to a tenant, and the one-time links that sign them in.
//!
//! Tokens come here as hashes. A new login bumps no epoch, since nobody can have asked for it before.

use std::collections::BTreeMap;

use serde_json::json;
use tw_model::{LoginId, TenantId, Timestamp, UserId};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    row::row,
    scope::{TenantScope, now_us},
};

const NOT_A_MEMBER: &str = "only members of a tenant sign in to it";

/// A login as stored, in force or not: see `ended` and `expires`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    pub id: LoginId,
    pub tenant: TenantId,
    pub user: UserId,
    pub created: Timestamp,
    pub last_seen: Timestamp,
    pub expires: Timestamp,
    pub ended: Option<Timestamp>,
    /// What the password it was opened with opens.
    pub opens: Opens,
}

/// Tenants, each with a mark of the password that opened it. A mark says nothing about the password, and
/// no two passwords have the same.
pub type Opens = BTreeMap<TenantId, String>;

/// A login to be.
#[derive(Clone, Copy, Debug)]
pub struct NewLogin<'a> {
    pub user: UserId,
    pub token_hash: &'a [u8; 32],
    pub expires: Timestamp,
    pub opens: &'a Opens,
    /// How it came about, for the audit: `password`, `link`, `switch`, `password_change`.
    pub how: &'static str,
}

row! {
    #[derive(Debug)]
    struct LoginRow {
        id: Uuid,
        tenant_id: Uuid,
        user_id: Uuid,
        created_us: i64,
        last_seen_us: i64,
        expires_us: i64,
        ended_us: Option<i64>,
        opens: String,
    }
}

impl TenantScope {
    /// Signs a member in. `None` where there is no such member, or `password` is given and is not their
    /// password's hash any more.
    pub async fn create_login(
        &self,
        new: NewLogin<'_>,
        password: Option<&str>,
        by: &By,
    ) -> Result<Option<Login>> {
        let mut tx = self.begin().await?;
        let Some(hash) = self.password_in(&mut tx, new.user).await? else { return Ok(None) };
        if password.is_some() && password != hash.as_deref() {
            return Ok(None);
        }
        let login = self.login_in(&mut tx, new, by).await?;
        tx.commit().await?;
        Ok(Some(login))
    }

    async fn login_in(&self, tx: &mut Tx, new: NewLogin<'_>, by: &By) -> Result<Login> {
        const Q: &str = "INSERT INTO logins
            (id, tenant_id, user_id, token_hash, created_us, last_seen_us, expires_us, opens)
            VALUES ($1, $2, $3, $4, $5, $5, $6, $7)";
        let (id, now) = (LoginId::new(), Timestamp::from_micros(now_us()));
        let opens = serde_json::to_string(new.opens).expect("ids and marks are plain JSON");
        within!(tx, c => sqlx::query(Q)
            .bind(id.uuid()).bind(self.tenant.uuid()).bind(new.user.uuid()).bind(&new.token_hash[..])
            .bind(now.micros()).bind(new.expires.micros()).bind(opens).execute(c).await.map(drop))
        .map_err(Error::taken("login token", "signing in"))?;
        let after = json!({ "login": id, "by": new.how });
        let entry = NewAudit::change("login.opened", format!("user:{}", new.user), None, Some(after));
        self.audit_in(tx, by, entry).await?;
        Ok(Login {
            id,
            tenant: self.tenant,
            user: new.user,
            created: now,
            last_seen: now,
            expires: new.expires,
            ended: None,
            opens: new.opens.clone(),
        })
    }

    pub async fn login(&self, id: LoginId) -> Result<Option<Login>> {
        const Q: &str = "SELECT id, tenant_id, user_id, created_us, last_seen_us, expires_us, ended_us, opens
            FROM logins WHERE tenant_id = $1 AND id = $2";
        let mut conn = self.read().await?;
        let row: Option<LoginRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a login"))?;
        row.map(LoginRow::login).transpose()
    }

    /// Signs out. `false` where there was nothing to end.
    pub async fn end_login(&self, id: LoginId, how: &'static str, by: &By) -> Result<bool> {
        const Q: &str = "UPDATE logins SET ended_us = $3
            WHERE tenant_id = $1 AND id = $2 AND ended_us IS NULL RETURNING user_id";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let user: Option<Uuid> = within!(&mut tx, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(now_us()).fetch_optional(c).await)
        .map_err(Error::doing("signing out"))?;
        let Some(user) = user else { return Ok(false) };
        let after = json!({ "login": id, "by": how });
        let entry = NewAudit::change("login.ended", format!("user:{user}"), None, Some(after));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    /// Notes that a login was used. The epoch stays.
    pub async fn touch_login(&self, id: LoginId, at: Timestamp) -> Result<()> {
        const Q: &str = "UPDATE logins SET last_seen_us = $3
            WHERE tenant_id = $1 AND id = $2 AND last_seen_us < $3 AND ended_us IS NULL";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(at.micros()).execute(c).await.map(drop))
        .map_err(Error::doing("noting the use of a login"))?;
        tx.commit().await
    }

    /// Keeps a one-time link that signs a member in.
    pub async fn create_link(
        &self,
        user: UserId,
        token_hash: &[u8; 32],
        expires: Timestamp,
        by: &By,
    ) -> Result<()> {
        const Q: &str = "INSERT INTO sign_in_links (token_hash, tenant_id, user_id, created_us, expires_us)
            VALUES ($1, $2, $3, $4, $5)";
        let mut tx = self.begin().await?;
        if !self.is_member_in(&mut tx, user).await? {
            return Err(Error::Refused { why: NOT_A_MEMBER });
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(&token_hash[..]).bind(self.tenant.uuid()).bind(user.uuid()).bind(now_us()).bind(expires.micros())
            .execute(c).await.map(drop))
        .map_err(Error::taken("link token", "keeping a sign-in link"))?;
        self.audit_in(&mut tx, by, NewAudit::change("user.link_made", format!("user:{user}"), None, None))
            .await?;
        tx.commit().await
    }

    /// Uses a link up and signs in whom it is for. However many ask at once, one is let in, and only before
    /// it runs out.
    pub async fn use_link(
        &self,
        link: &[u8; 32],
        now: Timestamp,
        new: NewLogin<'_>,
        by: &By,
    ) -> Result<Option<Login>> {
        const Q: &str = "UPDATE sign_in_links SET used_us = $4 WHERE tenant_id = $1 AND token_hash = $2
            AND user_id = $3 AND used_us IS NULL AND expires_us > $4";
        let mut tx = self.begin().await?;
        // First the membership, then the link: in the order in which a removal and a new password lock them.
        if !self.is_member_in(&mut tx, new.user).await? {
            return Ok(None);
        }
        let used = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(&link[..]).bind(new.user.uuid()).bind(now.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("using a sign-in link"))?;
        if used == 0 {
            return Ok(None);
        }
        let login = self.login_in(&mut tx, new, by).await?;
        tx.commit().await?;
        Ok(Some(login))
    }

    /// Ends every login of a person here and voids their links, in a transaction that has bumped the
    /// epoch.
    pub(crate) async fn sign_out_everywhere(&self, tx: &mut Tx, user: UserId) -> Result<()> {
        const LOGINS: &str =
            "UPDATE logins SET ended_us = $3 WHERE tenant_id = $1 AND user_id = $2 AND ended_us IS NULL";
        const LINKS: &str =
            "UPDATE sign_in_links SET used_us = $3 WHERE tenant_id = $1 AND user_id = $2 AND used_us IS NULL";
        for sql in [LOGINS, LINKS] {
            within!(tx, c => sqlx::query(sql)
                .bind(self.tenant.uuid()).bind(user.uuid()).bind(now_us()).execute(c).await.map(drop))
            .map_err(Error::doing("ending the logins of a member"))?;
        }
        Ok(())
    }
}

impl LoginRow {
    fn login(self) -> Result<Login> {
        let opens = serde_json::from_str(&self.opens)
            .map_err(|_| Error::Corrupt { what: format!("what login {} opens", self.id) })?;
        Ok(Login {
            id: LoginId::from_uuid(self.id),
            tenant: TenantId::from_uuid(self.tenant_id),
            user: UserId::from_uuid(self.user_id),
            created: Timestamp::from_micros(self.created_us),
            last_seen: Timestamp::from_micros(self.last_seen_us),
            expires: Timestamp::from_micros(self.expires_us),
            ended: self.ended_us.map(Timestamp::from_micros),
            opens,
        })
    }
}
