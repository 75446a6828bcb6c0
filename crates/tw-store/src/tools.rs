//! What a tenant says about tools that are defined in code.

use serde::Serialize;
use serde_json::{Value, json};
use tw_model::{Level, Policy, Slug, Timestamp, ToolId, ToolStatus};

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    row::row,
    scope::{TenantScope, now_us},
    tenants::Changed,
};

/// A layer on top of a tool: what is `None` says nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Override {
    pub name: Option<String>,
    pub description: Option<String>,
    pub category: Option<String>,
    pub icon: Option<String>,
    pub tags: Option<Vec<String>>,
    /// Name and description in other languages.
    pub i18n: Option<Value>,
    pub enabled: Option<bool>,
    pub is_active: Option<bool>,
    pub status: Option<ToolStatus>,
    pub permission_policy: Option<Policy>,
    pub permission_level: Option<Level>,
    pub visible: Option<bool>,
    pub timeout_ms: Option<u64>,
}

/// An override as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredOverride {
    pub slug: String,
    pub layer: Override,
    /// Goes up with every change; 0 stands for no row.
    pub revision: i64,
    pub updated: Timestamp,
}

row! {
    #[derive(Debug)]
    struct OverrideRow {
        slug: String,
        name: Option<String>,
        description: Option<String>,
        category: Option<String>,
        icon: Option<String>,
        tags: Option<String>,
        i18n: Option<String>,
        enabled: Option<bool>,
        is_active: Option<bool>,
        status: Option<String>,
        permission_policy: Option<String>,
        permission_level: Option<String>,
        visible: Option<bool>,
        timeout_ms: Option<i64>,
        revision: i64,
        updated_us: i64,
    }
}

const SELECT: &str = "SELECT slug, name, description, category, icon, tags, i18n, enabled, is_active, status,
    permission_policy, permission_level, visible, timeout_ms, revision, updated_us
    FROM tools WHERE tenant_id = $1 AND kind = 'system_override' AND deleted_us IS NULL";
const SELECT_ONE: &str =
    "SELECT slug, name, description, category, icon, tags, i18n, enabled, is_active, status,
    permission_policy, permission_level, visible, timeout_ms, revision, updated_us
    FROM tools WHERE tenant_id = $1 AND kind = 'system_override' AND slug_key = $2
    AND deleted_us IS NULL";

impl TenantScope {
    /// Every override of the tenant. One that cannot be read hides its tool, since nobody can say what it
    /// was meant to forbid, and no other.
    pub async fn overrides(&self) -> Result<Vec<StoredOverride>> {
        let mut conn = self.read().await?;
        let rows: Vec<OverrideRow> =
            on!(conn, c => sqlx::query_as(SELECT).bind(self.tenant.uuid()).fetch_all(c).await)
                .map_err(Error::doing("reading overrides"))?;
        Ok(rows.into_iter().map(OverrideRow::stored_or_hiding).collect())
    }

    /// Lays `layer` over a tool, unless the row is no longer at the revision that was read.
    pub async fn set_override(
        &self,
        slug: &Slug,
        layer: Override,
        expect_revision: Option<i64>,
        by: &By,
    ) -> Result<Changed<StoredOverride>> {
        let mut tx = self.begin().await?;
        // The epoch's row is the lock behind which changes to a tenant queue.
        let epoch = self.bump_epoch(&mut tx).await?;
        let before = self.override_in(&mut tx, slug).await?;
        let revision = before.as_ref().map_or(0, |before| before.revision);
        let last = match before {
            Some(_) => revision,
            None => self.last_revision_in(&mut tx, slug).await?,
        };
        let empty = || StoredOverride {
            slug: slug.to_string(),
            layer: Override::default(),
            revision: 0,
            updated: Timestamp::from_micros(0),
        };
        if expect_revision.is_some_and(|expected| expected != revision) {
            return Ok(Changed::Stale(before.unwrap_or_else(empty)));
        }
        let old = before.unwrap_or_else(empty);
        if old.layer == layer {
            return Ok(Changed::Done(old));
        }
        let after = StoredOverride {
            layer,
            revision: last + 1,
            updated: Timestamp::from_micros(now_us()),
            ..old.clone()
        };
        self.write_override(&mut tx, slug, &after, epoch, by).await?;
        let audited = |layer: &Override| -> Value { json!(layer) };
        let entry = NewAudit {
            action: "tool.overridden".to_owned(),
            object: format!("tool:{slug}"),
            before: Some(audited(&old.layer)),
            after: Some(audited(&after.layer)),
            note: None,
        };
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(after))
    }

    /// Takes the tenant's override off a tool, unless it is no longer at the revision that was read.
    pub async fn remove_override(
        &self,
        slug: &Slug,
        expect_revision: Option<i64>,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str = "UPDATE tools SET deleted_us = $3, updated_us = $3, changed_epoch = $4
            WHERE tenant_id = $1 AND slug_key = $2 AND kind = 'system_override' AND deleted_us IS NULL";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        let before = self.override_in(&mut tx, slug).await?;
        let revision = before.as_ref().map_or(0, |before| before.revision);
        if expect_revision.is_some_and(|expected| expected != revision) {
            return Ok(Changed::Stale(()));
        }
        let Some(before) = before else { return Ok(Changed::Missing) };
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(slug.key()).bind(now_us()).bind(epoch)
            .execute(c).await.map(drop))
        .map_err(Error::doing("removing an override"))?;
        let entry = NewAudit {
            action: "tool.override_removed".to_owned(),
            object: format!("tool:{slug}"),
            before: Some(json!(before.layer)),
            after: None,
            note: None,
        };
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// The revision of the last override that was taken off a tool. Numbers are not used twice, so that one names one
    /// state.
    async fn last_revision_in(&self, tx: &mut Tx, slug: &Slug) -> Result<i64> {
        const Q: &str = "SELECT COALESCE(MAX(revision), 0) FROM tools
            WHERE tenant_id = $1 AND kind = 'system_override' AND slug_key = $2 AND deleted_us IS NOT NULL";
        within!(tx, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(slug.key()).fetch_one(c).await)
        .map_err(Error::doing("reading an override"))
    }

    async fn override_in(&self, tx: &mut Tx, slug: &Slug) -> Result<Option<StoredOverride>> {
        let row: Option<OverrideRow> = within!(tx, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(slug.key()).fetch_optional(c).await)
        .map_err(Error::doing("reading an override"))?;
        Ok(row.map(OverrideRow::stored_or_hiding))
    }

    async fn write_override(
        &self,
        tx: &mut Tx,
        slug: &Slug,
        after: &StoredOverride,
        epoch: i64,
        by: &By,
    ) -> Result<()> {
        const Q: &str = "INSERT INTO tools (id, tenant_id, slug, slug_key, kind, name, description, category, icon,
            tags, enabled, is_active, status, permission_policy, permission_level, visible, timeout_ms, revision,
            created_us, updated_us, created_by, changed_epoch, i18n)
            VALUES ($1, $2, $3, $4, 'system_override', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
            $18, $18, $19, $20, $21)
            ON CONFLICT (tenant_id, slug_key, kind) WHERE deleted_us IS NULL DO UPDATE SET name = excluded.name,
            description = excluded.description, category = excluded.category, icon = excluded.icon,
            tags = excluded.tags, enabled = excluded.enabled, is_active = excluded.is_active,
            status = excluded.status, permission_policy = excluded.permission_policy,
            permission_level = excluded.permission_level, visible = excluded.visible,
            timeout_ms = excluded.timeout_ms, revision = excluded.revision, updated_us = excluded.updated_us,
            changed_epoch = excluded.changed_epoch, i18n = excluded.i18n";
        let layer = &after.layer;
        let tags = layer.tags.as_ref().map(|tags| json!(tags).to_string());
        let i18n = layer.i18n.as_ref().map(Value::to_string);
        let timeout = layer.timeout_ms.map(|timeout| i64::try_from(timeout).unwrap_or(i64::MAX));
        within!(tx, c => sqlx::query(Q)
            .bind(ToolId::new().uuid()).bind(self.tenant.uuid()).bind(slug.as_str()).bind(slug.key())
            .bind(&layer.name).bind(&layer.description).bind(&layer.category).bind(&layer.icon).bind(&tags)
            .bind(layer.enabled).bind(layer.is_active).bind(layer.status.map(ToolStatus::as_str))
            .bind(layer.permission_policy.map(Policy::as_str)).bind(layer.permission_level.map(Level::as_str))
            .bind(layer.visible).bind(timeout).bind(after.revision).bind(after.updated.micros()).bind(&by.actor)
            .bind(epoch).bind(&i18n)
            .execute(c).await.map(drop))
        .map_err(Error::doing("writing an override"))
    }
}

impl OverrideRow {
    fn stored_or_hiding(self) -> StoredOverride {
        let (slug, revision, updated) =
            (self.slug.clone(), self.revision, Timestamp::from_micros(self.updated_us));
        self.stored().unwrap_or_else(|error| {
            tracing::error!(%slug, error = &error as &dyn std::error::Error, "a tool is hidden");
            let layer = Override { enabled: Some(false), ..Override::default() };
            StoredOverride { slug, layer, revision, updated }
        })
    }

    fn stored(self) -> Result<StoredOverride> {
        let corrupt =
            |what: &str| Error::Corrupt { what: format!("{what} of the override of {}", self.slug) };
        let word = |text: &Option<String>, what: &str, known: bool| match text {
            Some(_) if !known => Err(corrupt(what)),
            _ => Ok(()),
        };
        let status = self.status.as_deref().and_then(ToolStatus::parse);
        let policy = self.permission_policy.as_deref().and_then(Policy::parse);
        let level = self.permission_level.as_deref().and_then(Level::parse);
        word(&self.status, "the status", status.is_some())?;
        word(&self.permission_policy, "the policy", policy.is_some())?;
        word(&self.permission_level, "the level", level.is_some())?;
        let tags =
            self.tags.as_deref().map(serde_json::from_str).transpose().map_err(|_| corrupt("the tags"))?;
        let i18n = self.i18n.as_deref().map(serde_json::from_str).transpose();
        let i18n = i18n.map_err(|_| corrupt("the translations"))?;
        Ok(StoredOverride {
            layer: Override {
                name: self.name,
                description: self.description,
                category: self.category,
                icon: self.icon,
                tags,
                i18n,
                enabled: self.enabled,
                is_active: self.is_active,
                status,
                permission_policy: policy,
                permission_level: level,
                visible: self.visible,
                timeout_ms: self.timeout_ms.and_then(|timeout| u64::try_from(timeout).ok()),
            },
            slug: self.slug,
            revision: self.revision,
            updated: Timestamp::from_micros(self.updated_us),
        })
    }
}
