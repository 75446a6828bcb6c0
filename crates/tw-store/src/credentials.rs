//! Credentials of a tenant. A secret never comes here: what was made of it with keys that this crate does not
//! have does, and the names of what is in it.

use std::fmt;

use serde_json::{Value, json};
use tw_model::{CredentialId, CredentialType, Label, TenantId, Timestamp};
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

/// A credential as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCredential {
    pub id: CredentialId,
    pub label: Label,
    pub kind: CredentialType,
    /// Whom it is for, such as `web_search`.
    pub provider_key: Option<String>,
    /// And which of several, such as `serper`.
    pub provider_variant: Option<String>,
    /// The names of what is set.
    pub fields: Vec<String>,
    /// The hosts that it may be sent to; `None` for every host.
    pub allowed_hosts: Option<Vec<String>>,
    pub sealed: SealedSecret,
    /// Goes up with every new payload.
    pub revision: i64,
    pub last_used: Option<Timestamp>,
    pub created: Timestamp,
    /// Moves with every change, so it names the row as it stands. A use is no change.
    pub updated: Timestamp,
    /// Who made it, as [`By::actor`].
    pub created_by: String,
}

/// A payload under a key of its own, and that key under another.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret {
    pub ciphertext: Vec<u8>,
    pub wrapped_key: Vec<u8>,
    /// The name of the key that `wrapped_key` is under.
    pub key_id: String,
}

impl fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedSecret").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

row! {
    #[derive(Debug)]
    struct CredentialRow {
        id: Uuid,
        label: String,
        kind: String,
        provider_key: Option<String>,
        provider_variant: Option<String>,
        fields: String,
        allowed_hosts: Option<String>,
        ciphertext: Vec<u8>,
        wrapped_key: Vec<u8>,
        key_id: String,
        revision: i64,
        last_used_us: Option<i64>,
        created_us: i64,
        updated_us: i64,
        created_by: String,
    }
}

/// A key under another.
#[derive(Clone, PartialEq, Eq)]
pub struct WrappedKey {
    pub bytes: Vec<u8>,
    /// The name of the key that it is under.
    pub key_id: String,
}

impl fmt::Debug for WrappedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WrappedKey").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

row! {
    #[derive(Debug)]
    struct TenantKeyRow {
        wrapped_key: Vec<u8>,
        key_id: String,
    }
}

impl TenantKeyRow {
    fn read(self) -> WrappedKey {
        WrappedKey { bytes: self.wrapped_key, key_id: self.key_id }
    }
}

const SELECT_TENANT_KEY: &str = "SELECT wrapped_key, key_id FROM tenant_keys WHERE tenant_id = $1";

/// The credentials of the tenant `$1`; a condition follows.
macro_rules! credentials {
    ($rest:literal) => {
        concat!(
            "SELECT id, label, type AS kind, provider_key, provider_variant, fields, allowed_hosts, ciphertext, wrapped_key,
             key_id, revision, last_used_us, created_us, updated_us, created_by FROM credentials WHERE tenant_id = $1 ",
            $rest
        )
    };
}

const SELECT_ONE: &str = credentials!("AND id = $2");

impl TenantScope {
    pub async fn create_credential(&self, new: &StoredCredential, by: &By) -> Result<()> {
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        self.insert_credential(&mut tx, new).await?;
        let entry = NewAudit::change("credential.created", new.object(), None, Some(new.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await
    }

    pub async fn credential(&self, id: CredentialId) -> Result<Option<StoredCredential>> {
        let mut conn = self.read().await?;
        let row: Option<CredentialRow> = on!(conn, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a credential"))?;
        row.map(CredentialRow::credential).transpose()
    }

    pub async fn credential_by_label(&self, label: &Label) -> Result<Option<StoredCredential>> {
        const Q: &str = credentials!("AND label_key = $2");
        let mut conn = self.read().await?;
        let row: Option<CredentialRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(label.key()).fetch_optional(c).await)
        .map_err(Error::doing("reading a credential"))?;
        row.map(CredentialRow::credential).transpose()
    }

    /// The oldest credential for a provider, of the variant where one is named; the empty one names those that have none.
    pub async fn credential_for(
        &self,
        provider: &str,
        variant: Option<&str>,
    ) -> Result<Option<StoredCredential>> {
        const Q: &str = credentials!(
            "AND provider_key = $2 AND ($3 IS NULL OR coalesce(provider_variant, '') = $3) ORDER BY id LIMIT 1"
        );
        let mut conn = self.read().await?;
        let row: Option<CredentialRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(provider).bind(variant).fetch_optional(c).await)
        .map_err(Error::doing("reading a credential"))?;
        row.map(CredentialRow::credential).transpose()
    }

    /// How many credentials there are, as far as that is counted.
    pub async fn count_credentials(&self) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        self.count("credentials", &conditions).await
    }

    /// Credentials after the one given, oldest first.
    pub async fn credentials(
        &self,
        after: Option<CredentialId>,
        limit: i64,
    ) -> Result<Vec<StoredCredential>> {
        const Q: &str = credentials!("AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or(Uuid::nil(), CredentialId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<CredentialRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing credentials"))?;
        rows.into_iter().map(CredentialRow::credential).collect()
    }

    /// Writes a credential over the one that was last changed at `seen`. What nobody may use meanwhile, as
    /// when the label changes, was so as of the epoch `unused_at`.
    pub async fn change_credential(
        &self,
        after: &StoredCredential,
        seen: Timestamp,
        unused_at: Option<i64>,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str = "UPDATE credentials SET label = $3, label_key = $4, type = $5, provider_key = $6,
            provider_variant = $7, fields = $8, ciphertext = $9, wrapped_key = $10, key_id = $11, revision = $12,
            updated_us = $13, allowed_hosts = $14 WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        let Some(before) = self.credential_in(&mut tx, after.id).await? else { return Ok(Changed::Missing) };
        if before.updated != seen || unused_at.is_some_and(|unused| unused + 1 != epoch) {
            return Ok(Changed::Stale(()));
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(after.id.uuid()).bind(after.label.as_str()).bind(after.label.key())
            .bind(after.kind.as_str()).bind(&after.provider_key).bind(&after.provider_variant)
            .bind(json!(after.fields).to_string()).bind(&after.sealed.ciphertext).bind(&after.sealed.wrapped_key)
            .bind(&after.sealed.key_id).bind(after.revision).bind(after.updated.micros())
            .bind(after.allowed_hosts.as_ref().map(|hosts| json!(hosts).to_string()))
            .execute(c).await.map(drop))
        .map_err(Error::taken("label", "changing a credential"))?;
        let (audited, object) = (before.audited(), before.object());
        let entry = NewAudit::change("credential.changed", object, Some(audited), Some(after.audited()));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Removes a credential that was last changed at `seen` and that nothing used as of an epoch.
    pub async fn remove_credential(
        &self,
        id: CredentialId,
        seen: Timestamp,
        unused_at: i64,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str = "DELETE FROM credentials WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        let Some(before) = self.credential_in(&mut tx, id).await? else { return Ok(Changed::Missing) };
        if before.updated != seen || unused_at + 1 != epoch {
            return Ok(Changed::Stale(()));
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).execute(c).await.map(drop))
        .map_err(Error::doing("removing a credential"))?;
        let entry = NewAudit::change("credential.removed", before.object(), Some(before.audited()), None);
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Notes when a credential was last used, unless that is known to the minute. Changes nothing about what
    /// it opens, so the epoch stays.
    pub async fn touch_credential(&self, id: CredentialId, at: Timestamp) -> Result<()> {
        const Q: &str = "UPDATE credentials SET last_used_us = $3
            WHERE tenant_id = $1 AND id = $2 AND (last_used_us IS NULL OR last_used_us <= $4)";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(at.micros()).bind(at.micros() - MINUTE_US)
            .execute(c).await.map(drop))
        .map_err(Error::doing("noting the use of a credential"))?;
        tx.commit().await
    }

    /// Gives every key of the tenant another wrapping, all or none, and says how many that were. What is
    /// wrapped by `key_id` already is left alone, so this can be repeated.
    async fn rewrap_here(&self, key_id: &str, rewrap: &dyn Rewrap, by: &By) -> Result<u64> {
        const ALL: &str = credentials!("AND key_id <> $2 ORDER BY id");
        const Q: &str =
            "UPDATE credentials SET wrapped_key = $3, key_id = $4 WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        // Nobody changes a credential meanwhile: this is the lock behind which changes to a tenant queue.
        self.bump_epoch(&mut tx).await?;
        let rows: Vec<CredentialRow> = within!(&mut tx, c => sqlx::query_as(ALL)
            .bind(self.tenant.uuid()).bind(key_id).fetch_all(c).await)
        .map_err(Error::doing("listing credentials"))?;
        let mut count = u64::from(self.rewrap_own(&mut tx, key_id, rewrap).await?);
        for row in rows {
            let credential = row.credential()?;
            let wrapped = rewrap.data_key(self.tenant, &credential).ok_or_else(|| Error::Corrupt {
                what: format!("the data key of credential {} does not open", credential.id),
            })?;
            within!(&mut tx, c => sqlx::query(Q)
                .bind(self.tenant.uuid()).bind(credential.id.uuid()).bind(&wrapped).bind(key_id)
                .execute(c).await.map(drop))
            .map_err(Error::doing("wrapping a data key"))?;
            count += 1;
        }
        if count == 0 {
            return Ok(0);
        }
        let after = json!({ "key_id": key_id, "count": count });
        let entry = NewAudit::change("credentials.rewrapped", "credentials".to_owned(), None, Some(after));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(count)
    }

    /// Wraps the tenant's own key anew, unless that is done.
    async fn rewrap_own(&self, tx: &mut Tx, key_id: &str, rewrap: &dyn Rewrap) -> Result<bool> {
        const Q: &str = "UPDATE tenant_keys SET wrapped_key = $2, key_id = $3 WHERE tenant_id = $1";
        let row: Option<TenantKeyRow> = within!(tx, c => sqlx::query_as(SELECT_TENANT_KEY)
            .bind(self.tenant.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a tenant's key"))?;
        let Some(row) = row.filter(|row| row.key_id != key_id) else { return Ok(false) };
        let wrapped = rewrap.tenant_key(self.tenant, &row.wrapped_key).ok_or_else(|| Error::Corrupt {
            what: format!("the key of tenant {} does not open", self.tenant),
        })?;
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(&wrapped).bind(key_id).execute(c).await.map(drop))
        .map_err(Error::doing("wrapping a tenant's key"))?;
        Ok(true)
    }

    /// The tenant's own key, wrapped, if it has one.
    pub async fn tenant_key(&self) -> Result<Option<WrappedKey>> {
        let mut conn = self.read().await?;
        let row: Option<TenantKeyRow> = on!(conn, c => sqlx::query_as(SELECT_TENANT_KEY)
            .bind(self.tenant.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a tenant's key"))?;
        Ok(row.map(TenantKeyRow::read))
    }

    /// Gives the tenant a key of its own where it has none, and says which it has. Of two servers that do so
    /// at once, both get the same.
    pub async fn tenant_key_or(&self, new: &WrappedKey) -> Result<WrappedKey> {
        const Q: &str = "INSERT INTO tenant_keys (tenant_id, wrapped_key, key_id, created_us)
            VALUES ($1, $2, $3, $4) ON CONFLICT (tenant_id) DO NOTHING";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(&new.bytes).bind(&new.key_id).bind(now_us()).execute(c).await.map(drop))
        .map_err(Error::doing("making a tenant's key"))?;
        let row: TenantKeyRow = within!(&mut tx, c => sqlx::query_as(SELECT_TENANT_KEY)
            .bind(self.tenant.uuid()).fetch_one(c).await)
        .map_err(Error::doing("reading a tenant's key"))?;
        tx.commit().await?;
        Ok(row.read())
    }

    async fn credential_in(&self, tx: &mut Tx, id: CredentialId) -> Result<Option<StoredCredential>> {
        let row: Option<CredentialRow> = within!(tx, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a credential"))?;
        row.map(CredentialRow::credential).transpose()
    }

    async fn insert_credential(&self, tx: &mut Tx, new: &StoredCredential) -> Result<()> {
        const Q: &str = "INSERT INTO credentials (id, tenant_id, label, label_key, type, provider_key,
            provider_variant, fields, ciphertext, wrapped_key, key_id, revision, created_us, updated_us, created_by,
            allowed_hosts)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
        within!(tx, c => sqlx::query(Q)
            .bind(new.id.uuid()).bind(self.tenant.uuid()).bind(new.label.as_str()).bind(new.label.key())
            .bind(new.kind.as_str()).bind(&new.provider_key).bind(&new.provider_variant)
            .bind(json!(new.fields).to_string()).bind(&new.sealed.ciphertext).bind(&new.sealed.wrapped_key)
            .bind(&new.sealed.key_id).bind(new.revision).bind(new.created.micros()).bind(new.updated.micros())
            .bind(&new.created_by).bind(new.allowed_hosts.as_ref().map(|hosts| json!(hosts).to_string()))
            .execute(c).await.map(drop))
        .map_err(Error::taken("label", "creating a credential"))
    }
}

/// How often the use of a credential is noted at the most.
const MINUTE_US: i64 = 60_000_000;

/// Makes other wrappings of keys; `None` for one that cannot be opened.
pub trait Rewrap: Sync {
    fn data_key(&self, tenant: TenantId, credential: &StoredCredential) -> Option<Vec<u8>>;
    fn tenant_key(&self, tenant: TenantId, wrapped: &[u8]) -> Option<Vec<u8>>;
}

impl Store {
    /// Wraps the keys of every tenant by the key named `key_id`, tenant by tenant. Broken off, it is simply
    /// done again.
    pub async fn rewrap_keys(&self, key_id: &str, rewrap: &dyn Rewrap, by: &By) -> Result<u64> {
        let mut count = 0;
        for tenant in self.all_tenants().await? {
            count += self.tenant(tenant).rewrap_here(key_id, rewrap, by).await?;
        }
        Ok(count)
    }
}

impl StoredCredential {
    fn object(&self) -> String {
        format!("credential:{}", self.id)
    }

    /// Without anything of the payload but the names in it.
    fn audited(&self) -> Value {
        json!({
            "label": self.label, "type": self.kind, "provider_key": self.provider_key,
            "provider_variant": self.provider_variant, "fields": self.fields,
            "allowed_hosts": self.allowed_hosts, "revision": self.revision,
        })
    }

    /// The moment of a change to it: now, but later than the one before.
    #[must_use]
    pub fn moment_after(&self) -> Timestamp {
        Timestamp::from_micros(now_us().max(self.updated.micros() + 1))
    }
}

impl CredentialRow {
    fn credential(self) -> Result<StoredCredential> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("the {what} of credential {}", self.id) };
        let hosts = self.allowed_hosts.as_deref().map(serde_json::from_str).transpose();
        Ok(StoredCredential {
            id: CredentialId::from_uuid(self.id),
            label: self.label.parse().map_err(|_| corrupt("label"))?,
            kind: CredentialType::parse(&self.kind).ok_or_else(|| corrupt("type"))?,
            fields: serde_json::from_str(&self.fields).map_err(|_| corrupt("fields"))?,
            allowed_hosts: hosts.map_err(|_| corrupt("hosts"))?,
            provider_key: self.provider_key,
            provider_variant: self.provider_variant,
            sealed: SealedSecret {
                ciphertext: self.ciphertext,
                wrapped_key: self.wrapped_key,
                key_id: self.key_id,
            },
            revision: self.revision,
            last_used: self.last_used_us.map(Timestamp::from_micros),
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
            created_by: self.created_by,
        })
    }
}
