//! API keys. A secret never comes here: its hash does, and the prefix by which the key is found.

use serde_json::{Value, json};
use tw_model::{ActsAs, KeyId, Role, TenantId, Timestamp, UserId};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions},
    row::row,
    scope::{TenantScope, now_us},
};

/// A key as stored, in force or not: see `revoked` and `expires`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub tenant: TenantId,
    pub name: String,
    /// The part of the secret that is no secret; unique over all tenants.
    pub prefix: String,
    pub hash: [u8; 32],
    pub role: Role,
    pub acts_as: ActsAs,
    /// The agent's slug, where the key acts as one.
    pub agent: Option<String>,
    pub owner: UserId,
    pub expires: Option<Timestamp>,
    pub last_used: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
    pub created: Timestamp,
    /// Who made it, as [`By::actor`].
    pub created_by: String,
}

/// A key to be made.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub name: String,
    pub prefix: String,
    pub hash: [u8; 32],
    pub role: Role,
    pub acts_as: ActsAs,
    pub agent: Option<String>,
    pub owner: UserId,
    pub expires: Option<Timestamp>,
}

row! {
    #[derive(Debug)]
    struct KeyRow {
        id: Uuid,
        tenant_id: Uuid,
        name: String,
        prefix: String,
        hash: Vec<u8>,
        role: String,
        acts_as: String,
        agent: Option<String>,
        owner_id: Uuid,
        expires_us: Option<i64>,
        last_used_us: Option<i64>,
        revoked_us: Option<i64>,
        created_us: i64,
        created_by: String,
    }
}

/// The keys of the tenant `$1`; a condition follows.
macro_rules! keys {
    ($rest:literal) => {
        concat!(
            "SELECT id, tenant_id, name, prefix, hash, role, acts_as, agent, owner_id, expires_us, last_used_us,
             revoked_us, created_us, created_by FROM api_keys WHERE tenant_id = $1 ",
            $rest
        )
    };
}

const SELECT_ONE: &str = keys!("AND id = $2");

impl TenantScope {
    /// Makes a key. Its owner must be a member: removing a member takes their keys along, and a key that
    /// nobody here owns would outlive everybody.
    pub async fn create_key(&self, new: NewKey, by: &By) -> Result<ApiKey> {
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        if !self.is_member_in(&mut tx, new.owner).await? {
            return Err(Error::Refused { why: "the owner of a key must be a member of its tenant" });
        }
        let key = ApiKey {
            id: KeyId::new(),
            tenant: self.tenant,
            name: new.name,
            prefix: new.prefix,
            hash: new.hash,
            role: new.role,
            acts_as: new.acts_as,
            agent: new.agent,
            owner: new.owner,
            expires: new.expires,
            last_used: None,
            revoked: None,
            created: Timestamp::from_micros(now_us()),
            created_by: by.actor.clone(),
        };
        self.insert_key(&mut tx, &key).await?;
        let entry = NewAudit::change("key.created", key.object(), None, Some(key.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(key)
    }

    pub async fn key(&self, id: KeyId) -> Result<Option<ApiKey>> {
        let mut conn = self.read().await?;
        let row: Option<KeyRow> = on!(conn, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a key"))?;
        row.map(KeyRow::key).transpose()
    }

    /// Keys after the one given, oldest first, revoked ones too.
    pub async fn keys(&self, after: Option<KeyId>, limit: i64) -> Result<Vec<ApiKey>> {
        const Q: &str = keys!("AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or(Uuid::nil(), KeyId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<KeyRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing keys"))?;
        rows.into_iter().map(KeyRow::key).collect()
    }

    /// How many keys there are, revoked ones too, as far as that is counted.
    pub async fn count_keys(&self) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        self.count("api_keys", &conditions).await
    }

    /// Revokes a key for good. Again does nothing and gives the same answer.
    pub async fn revoke_key(&self, id: KeyId, by: &By) -> Result<Option<ApiKey>> {
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let row: Option<KeyRow> = within!(&mut tx, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a key"))?;
        let Some(key) = row.map(KeyRow::key).transpose()? else { return Ok(None) };
        if key.revoked.is_some() {
            return Ok(Some(key));
        }
        let revoked = self.revoke_in(&mut tx, key, by).await?;
        self.commit_bumped(tx).await?;
        Ok(Some(revoked))
    }

    /// Notes when a key was last used. Changes nothing about what it may do, so the epoch stays.
    pub async fn touch_key(&self, id: KeyId, at: Timestamp) -> Result<()> {
        const Q: &str = "UPDATE api_keys SET last_used_us = $3
            WHERE tenant_id = $1 AND id = $2 AND (last_used_us IS NULL OR last_used_us < $3)";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(at.micros()).execute(c).await.map(drop))
        .map_err(Error::doing("noting the use of a key"))?;
        tx.commit().await
    }

    /// Revokes what a person owns here, in a transaction that has bumped the epoch.
    pub(crate) async fn revoke_keys_of(&self, tx: &mut Tx, owner: UserId, by: &By) -> Result<()> {
        const Q: &str = keys!("AND owner_id = $2 AND revoked_us IS NULL ORDER BY id");
        let rows: Vec<KeyRow> = within!(tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(owner.uuid()).fetch_all(c).await)
        .map_err(Error::doing("reading a member's keys"))?;
        for row in rows {
            self.revoke_in(tx, row.key()?, by).await?;
        }
        Ok(())
    }

    async fn revoke_in(&self, tx: &mut Tx, key: ApiKey, by: &By) -> Result<ApiKey> {
        const Q: &str = "UPDATE api_keys SET revoked_us = $3 WHERE tenant_id = $1 AND id = $2";
        let now = now_us();
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(key.id.uuid()).bind(now).execute(c).await.map(drop))
        .map_err(Error::doing("revoking a key"))?;
        let revoked = ApiKey { revoked: Some(Timestamp::from_micros(now)), ..key.clone() };
        let entry =
            NewAudit::change("key.revoked", key.object(), Some(key.audited()), Some(revoked.audited()));
        self.audit_in(tx, by, entry).await?;
        Ok(revoked)
    }

    async fn insert_key(&self, tx: &mut Tx, key: &ApiKey) -> Result<()> {
        const Q: &str =
            "INSERT INTO api_keys (id, tenant_id, name, prefix, hash, role, acts_as, agent, owner_id,
            expires_us, created_us, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        within!(tx, c => sqlx::query(Q)
            .bind(key.id.uuid()).bind(self.tenant.uuid()).bind(&key.name).bind(&key.prefix).bind(&key.hash[..])
            .bind(key.role.as_str()).bind(key.acts_as.as_str()).bind(key.agent.as_deref()).bind(key.owner.uuid())
            .bind(key.expires.map(Timestamp::micros)).bind(key.created.micros()).bind(&key.created_by)
            .execute(c).await.map(drop))
        .map_err(Error::taken("key prefix", "creating a key"))
    }
}

impl ApiKey {
    fn object(&self) -> String {
        format!("key:{}", self.id)
    }

    /// Without the hash: the audit is read by more people than the keys are.
    fn audited(&self) -> Value {
        json!({
            "name": self.name, "prefix": self.prefix, "role": self.role, "acts_as": self.acts_as,
            "agent": self.agent, "owner": self.owner, "expires": self.expires, "revoked": self.revoked,
        })
    }
}

impl KeyRow {
    fn key(self) -> Result<ApiKey> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("the {what} of key {}", self.id) };
        Ok(ApiKey {
            id: KeyId::from_uuid(self.id),
            tenant: TenantId::from_uuid(self.tenant_id),
            hash: self.hash.as_slice().try_into().map_err(|_| corrupt("hash"))?,
            role: self.role.parse().map_err(|_| corrupt("role"))?,
            acts_as: ActsAs::parse(&self.acts_as).ok_or_else(|| corrupt("nature"))?,
            name: self.name,
            prefix: self.prefix,
            agent: self.agent,
            owner: UserId::from_uuid(self.owner_id),
            expires: self.expires_us.map(Timestamp::from_micros),
            last_used: self.last_used_us.map(Timestamp::from_micros),
            revoked: self.revoked_us.map(Timestamp::from_micros),
            created: Timestamp::from_micros(self.created_us),
            created_by: self.created_by,
        })
    }
}
