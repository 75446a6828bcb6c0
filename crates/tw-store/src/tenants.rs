//! Tenants: their names, their settings, and whether they are open.

use serde_json::{Value, json};
use tw_model::{TenantId, TenantSlug, Timestamp};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, tenants_setting, within},
    error::{Error, Result},
    row::row,
    scope::{Store, TenantScope, now_us},
};

/// A tenant as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenant {
    pub id: TenantId,
    pub slug: TenantSlug,
    pub name: String,
    /// `active` or `suspended`.
    pub status: String,
    /// A JSON object.
    pub settings: Value,
    pub created: Timestamp,
    /// Another one after every change, so it can serve as a version.
    pub updated: Timestamp,
}

/// What is to change about a tenant; `None` leaves as it is.
#[derive(Clone, Debug, Default)]
pub struct TenantChange {
    pub name: Option<String>,
    /// A JSON object: a key given here replaces the stored one, `null` removes it, the rest stays.
    pub settings: Option<Value>,
    pub status: Option<String>,
}

/// What became of a change to something that may have changed meanwhile, or may be gone.
#[derive(Clone, Debug, PartialEq)]
pub enum Changed<T> {
    Done(T),
    /// Nothing was done: this is how it stands, and not what the caller had seen.
    Stale(T),
    Missing,
}

row! {
    #[derive(Debug)]
    struct TenantRow {
        id: Uuid,
        slug: String,
        name: String,
        status: String,
        settings: String,
        created_us: i64,
        updated_us: i64,
    }
}

const SELECT_ONE: &str =
    "SELECT id, slug, name, status, settings, created_us, updated_us FROM tenants WHERE id = $1";

impl Store {
    /// Makes a tenant, with its epoch at 1 and nobody in it.
    pub async fn create_tenant(&self, slug: &TenantSlug, name: &str, by: &By) -> Result<Tenant> {
        const Q: &str =
            "INSERT INTO tenants (id, slug, name, created_us, updated_us) VALUES ($1, $2, $3, $4, $4)";
        let scope = self.tenant(TenantId::new());
        let now = now_us();
        let mut tx = scope.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(scope.tenant.uuid()).bind(slug.as_str()).bind(name).bind(now).execute(c).await.map(drop))
        .map_err(Error::taken("tenant slug", "creating a tenant"))?;
        scope.bump_epoch(&mut tx).await?;
        let tenant = Tenant {
            id: scope.tenant,
            slug: slug.clone(),
            name: name.to_owned(),
            status: "active".to_owned(),
            settings: json!({}),
            created: Timestamp::from_micros(now),
            updated: Timestamp::from_micros(now),
        };
        let entry = NewAudit::change("tenant.created", tenant.object(), None, Some(tenant.audited()));
        scope.audit_in(&mut tx, by, entry).await?;
        scope.commit_bumped(tx).await?;
        Ok(tenant)
    }

    /// All tenants by slug, for an operator.
    pub async fn tenants(&self) -> Result<Vec<Tenant>> {
        const Q: &str =
            "SELECT id, slug, name, status, settings, created_us, updated_us FROM tenants ORDER BY slug";
        let ids = self.all_tenants().await?;
        let mut conn = self.db.read(&tenants_setting(ids)).await?;
        let rows: Vec<TenantRow> =
            on!(conn, c => sqlx::query_as(Q).fetch_all(c).await).map_err(Error::doing("listing tenants"))?;
        rows.into_iter().map(TenantRow::tenant).collect()
    }
}

impl TenantScope {
    pub async fn tenant(&self) -> Result<Option<Tenant>> {
        let mut conn = self.read().await?;
        let row: Option<TenantRow> = on!(conn, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a tenant"))?;
        row.map(TenantRow::tenant).transpose()
    }

    /// Changes the tenant, unless it was changed after `expect_updated`.
    pub async fn change_tenant(
        &self,
        change: TenantChange,
        expect_updated: Option<Timestamp>,
        by: &By,
    ) -> Result<Changed<Tenant>> {
        let mut tx = self.begin().await?;
        // Bumping first: the epoch's row is the lock behind which changes to a tenant queue. Where
        // nothing changes after all, the transaction is dropped and the epoch with it.
        self.bump_epoch(&mut tx).await?;
        let Some(before) = self.tenant_in(&mut tx).await? else { return Ok(Changed::Missing) };
        if expect_updated.is_some_and(|expected| expected != before.updated) {
            return Ok(Changed::Stale(before));
        }
        let mut after = before.clone().with(change)?;
        if after == before {
            return Ok(Changed::Done(before));
        }
        after.updated = Timestamp::from_micros(now_us().max(before.updated.micros() + 1));
        self.write_tenant(&mut tx, &after).await?;
        let entry = NewAudit::change(
            "tenant.changed",
            before.object(),
            Some(before.audited()),
            Some(after.audited()),
        );
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(after))
    }

    /// Grows with everything that changes what callers of the tenant may see or do; 0 where there is no
    /// such tenant.
    pub async fn epoch(&self) -> Result<i64> {
        const Q: &str = "SELECT epoch FROM tenant_epoch WHERE tenant_id = $1";
        let mut conn = self.read().await?;
        let epoch: Option<i64> =
            on!(conn, c => sqlx::query_scalar(Q).bind(self.tenant.uuid()).fetch_optional(c).await)
                .map_err(Error::doing("reading the epoch"))?;
        Ok(epoch.unwrap_or(0))
    }

    async fn tenant_in(&self, tx: &mut Tx) -> Result<Option<Tenant>> {
        let row: Option<TenantRow> = within!(tx, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a tenant"))?;
        row.map(TenantRow::tenant).transpose()
    }

    async fn write_tenant(&self, tx: &mut Tx, tenant: &Tenant) -> Result<()> {
        const Q: &str =
            "UPDATE tenants SET name = $2, status = $3, settings = $4, updated_us = $5 WHERE id = $1";
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(&tenant.name).bind(&tenant.status).bind(tenant.settings.to_string())
            .bind(tenant.updated.micros()).execute(c).await.map(drop))
        .map_err(Error::doing("changing a tenant"))
    }
}

impl Tenant {
    fn with(mut self, change: TenantChange) -> Result<Self> {
        if let Some(name) = change.name {
            self.name = name;
        }
        if let Some(status) = change.status {
            if !matches!(status.as_str(), "active" | "suspended") {
                return Err(Error::Refused { why: "the status of a tenant must be `active` or `suspended`" });
            }
            self.status = status;
        }
        if let Some(given) = change.settings {
            let (Value::Object(settings), Value::Object(given)) = (&mut self.settings, given) else {
                return Err(Error::Refused { why: "`settings` must be an object" });
            };
            for (key, value) in given {
                if value.is_null() {
                    settings.shift_remove(&key);
                } else {
                    settings.insert(key, value);
                }
            }
        }
        Ok(self)
    }

    fn object(&self) -> String {
        format!("tenant:{}", self.id)
    }

    fn audited(&self) -> Value {
        json!({ "slug": self.slug, "name": self.name, "status": self.status, "settings": self.settings })
    }
}

impl TenantRow {
    fn tenant(self) -> Result<Tenant> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("the {what} of tenant {}", self.id) };
        let settings: Value = serde_json::from_str(&self.settings).map_err(|_| corrupt("settings"))?;
        if !settings.is_object() {
            return Err(corrupt("settings"));
        }
        Ok(Tenant {
            id: TenantId::from_uuid(self.id),
            slug: self.slug.parse().map_err(|_| corrupt("slug"))?,
            name: self.name,
            status: self.status,
            settings,
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
        })
    }
}
