//! Scripts of a tenant, each with all of its versions.

use serde_json::{Value, json};
use tw_model::{ArtifactId, Timestamp};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions},
    row::row,
    scope::{TenantScope, now_us},
    tenants::Changed,
};

/// An artifact with what can be said of its newest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredArtifact {
    pub id: ArtifactId,
    pub name: String,
    /// The number of the newest version: 1, 2, 3, …
    pub version: i64,
    pub language: String,
    pub checksum: String,
    pub created: Timestamp,
    /// Moves with every change, so it names the row as it stands.
    pub updated: Timestamp,
    /// Who made it, as [`By::actor`].
    pub created_by: String,
}

/// A version of an artifact. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactVersion {
    pub version: i64,
    pub language: String,
    /// `None` in a list.
    pub source: Option<String>,
    pub checksum: String,
    /// Who wrote it, as [`By::actor`].
    pub author: String,
    pub created: Timestamp,
}

/// What a save of a tool does to the artifact that its definition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArtifactChange {
    /// Nothing; it only has to be there.
    Kept(ArtifactId),
    /// A new one.
    Made { artifact: StoredArtifact, source: String },
    /// A next version of the one that is `before`.
    Next { before: StoredArtifact, after: StoredArtifact, source: String },
}

row! {
    #[derive(Debug)]
    struct ArtifactRow {
        id: Uuid,
        name: String,
        version: i64,
        language: String,
        checksum: String,
        created_us: i64,
        updated_us: i64,
        created_by: String,
    }
}

row! {
    #[derive(Debug)]
    struct VersionRow {
        version: i64,
        language: String,
        source: Option<String>,
        checksum: String,
        author: String,
        created_us: i64,
    }
}

/// The artifacts of the tenant `$1`; a condition follows.
macro_rules! artifacts {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, version, language, checksum, created_us, updated_us, created_by FROM artifacts
             WHERE tenant_id = $1 ",
            $rest
        )
    };
}

const ONE: &str = artifacts!("AND id = $2");

impl TenantScope {
    pub async fn create_artifact(&self, new: &StoredArtifact, source: &str, by: &By) -> Result<()> {
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        self.insert_artifact(&mut tx, new, source, by).await?;
        self.commit_bumped(tx).await
    }

    pub async fn artifact(&self, id: ArtifactId) -> Result<Option<StoredArtifact>> {
        let mut conn = self.read().await?;
        let row: Option<ArtifactRow> = on!(conn, c => sqlx::query_as(ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading an artifact"))?;
        Ok(row.map(ArtifactRow::read))
    }

    /// Artifacts after the one given, oldest first.
    pub async fn artifacts(&self, after: Option<ArtifactId>, limit: i64) -> Result<Vec<StoredArtifact>> {
        const Q: &str = artifacts!("AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or(Uuid::nil(), ArtifactId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<ArtifactRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing artifacts"))?;
        Ok(rows.into_iter().map(ArtifactRow::read).collect())
    }

    /// How many artifacts there are, as far as that is counted.
    pub async fn count_artifacts(&self) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        self.count("artifacts", &conditions).await
    }

    /// One version of an artifact, with its source.
    pub async fn artifact_version(&self, id: ArtifactId, version: i64) -> Result<Option<ArtifactVersion>> {
        const Q: &str =
            "SELECT version, language, source, checksum, author, created_us FROM artifact_versions
            WHERE tenant_id = $1 AND artifact_id = $2 AND version = $3";
        let mut conn = self.read().await?;
        let row: Option<VersionRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(version).fetch_optional(c).await)
        .map_err(Error::doing("reading a version"))?;
        Ok(row.map(VersionRow::read))
    }

    /// Versions of an artifact before the one given, newest first, without their sources.
    pub async fn artifact_versions(
        &self,
        id: ArtifactId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<ArtifactVersion>> {
        const Q: &str = "SELECT version, language, CAST(NULL AS text) AS source, checksum, author, created_us
            FROM artifact_versions WHERE tenant_id = $1 AND artifact_id = $2 AND version < $3
            ORDER BY version DESC LIMIT $4";
        let mut conn = self.read().await?;
        let rows: Vec<VersionRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(before.unwrap_or(i64::MAX)).bind(limit)
            .fetch_all(c).await)
        .map_err(Error::doing("listing versions"))?;
        Ok(rows.into_iter().map(VersionRow::read).collect())
    }

    /// Writes an artifact over the one that is `before`, and with a `source` its next version.
    pub async fn change_artifact(
        &self,
        before: &StoredArtifact,
        after: &StoredArtifact,
        source: Option<&str>,
        by: &By,
    ) -> Result<Changed<()>> {
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        if !self.update_artifact(&mut tx, before, after, source, by).await? {
            return Ok(Changed::Stale(()));
        }
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Removes an artifact that was last changed at `seen` and that nothing used as of an epoch.
    pub async fn remove_artifact(
        &self,
        id: ArtifactId,
        seen: Timestamp,
        unused_at: i64,
        by: &By,
    ) -> Result<Changed<()>> {
        const VERSIONS: &str = "DELETE FROM artifact_versions WHERE tenant_id = $1 AND artifact_id = $2";
        const Q: &str = "DELETE FROM artifacts WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        let epoch = self.bump_epoch(&mut tx).await?;
        let Some(before) = self.artifact_in(&mut tx, id).await? else { return Ok(Changed::Missing) };
        if before.updated != seen || unused_at + 1 != epoch {
            return Ok(Changed::Stale(()));
        }
        for sql in [VERSIONS, Q] {
            within!(&mut tx, c => sqlx::query(sql)
                .bind(self.tenant.uuid()).bind(id.uuid()).execute(c).await.map(drop))
            .map_err(Error::doing("removing an artifact"))?;
        }
        let entry = NewAudit::change("artifact.removed", before.object(), Some(before.audited()), None);
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Does what a save of a tool does to an artifact; `false` where that is not as it was seen.
    pub(crate) async fn write_artifact(
        &self,
        tx: &mut Tx,
        change: Option<&ArtifactChange>,
        by: &By,
    ) -> Result<bool> {
        match change {
            None => Ok(true),
            Some(ArtifactChange::Kept(id)) => Ok(self.artifact_in(tx, *id).await?.is_some()),
            Some(ArtifactChange::Made { artifact, source }) => {
                self.insert_artifact(tx, artifact, source, by).await.map(|()| true)
            }
            Some(ArtifactChange::Next { before, after, source }) => {
                self.update_artifact(tx, before, after, Some(source), by).await
            }
        }
    }

    async fn artifact_in(&self, tx: &mut Tx, id: ArtifactId) -> Result<Option<StoredArtifact>> {
        let row: Option<ArtifactRow> = within!(tx, c => sqlx::query_as(ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading an artifact"))?;
        Ok(row.map(ArtifactRow::read))
    }

    async fn insert_artifact(&self, tx: &mut Tx, new: &StoredArtifact, source: &str, by: &By) -> Result<()> {
        const Q: &str = "INSERT INTO artifacts
            (id, tenant_id, name, version, language, checksum, created_us, updated_us, created_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        within!(tx, c => sqlx::query(Q)
            .bind(new.id.uuid()).bind(self.tenant.uuid()).bind(&new.name).bind(new.version).bind(&new.language)
            .bind(&new.checksum).bind(new.created.micros()).bind(new.updated.micros()).bind(&by.actor)
            .execute(c).await.map(drop))
        .map_err(Error::doing("making an artifact"))?;
        self.add_version(tx, new, source, by).await?;
        let entry = NewAudit::change("artifact.created", new.object(), None, Some(new.audited()));
        self.audit_in(tx, by, entry).await
    }

    async fn update_artifact(
        &self,
        tx: &mut Tx,
        before: &StoredArtifact,
        after: &StoredArtifact,
        source: Option<&str>,
        by: &By,
    ) -> Result<bool> {
        const Q: &str =
            "UPDATE artifacts SET name = $3, version = $4, language = $5, checksum = $6, updated_us = $7
            WHERE tenant_id = $1 AND id = $2 AND updated_us = $8";
        let changed = within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(after.id.uuid()).bind(&after.name).bind(after.version)
            .bind(&after.language).bind(&after.checksum).bind(after.updated.micros()).bind(before.updated.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("changing an artifact"))?;
        if changed == 0 {
            return Ok(false);
        }
        if let Some(source) = source {
            self.add_version(tx, after, source, by).await?;
        }
        let (was, is) = (before.audited(), after.audited());
        let entry = NewAudit::change("artifact.changed", after.object(), Some(was), Some(is));
        self.audit_in(tx, by, entry).await?;
        Ok(true)
    }

    async fn add_version(&self, tx: &mut Tx, artifact: &StoredArtifact, source: &str, by: &By) -> Result<()> {
        const Q: &str = "INSERT INTO artifact_versions
            (tenant_id, artifact_id, version, language, source, checksum, author, created_us)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(artifact.id.uuid()).bind(artifact.version).bind(&artifact.language)
            .bind(source).bind(&artifact.checksum).bind(&by.actor).bind(artifact.updated.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("adding a version"))
    }
}

impl StoredArtifact {
    /// The moment of a change to it: now, but later than the one before.
    #[must_use]
    pub fn moment_after(&self) -> Timestamp {
        Timestamp::from_micros(now_us().max(self.updated.micros() + 1))
    }

    fn object(&self) -> String {
        format!("artifact:{}", self.id)
    }

    /// Without its source, which its version keeps.
    fn audited(&self) -> Value {
        json!({
            "name": self.name, "version": self.version, "language": self.language, "checksum": self.checksum,
        })
    }
}

impl ArtifactRow {
    fn read(self) -> StoredArtifact {
        StoredArtifact {
            id: ArtifactId::from_uuid(self.id),
            name: self.name,
            version: self.version,
            language: self.language,
            checksum: self.checksum,
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
            created_by: self.created_by,
        }
    }
}

impl VersionRow {
    fn read(self) -> ArtifactVersion {
        ArtifactVersion {
            version: self.version,
            language: self.language,
            source: self.source,
            checksum: self.checksum,
            author: self.author,
            created: Timestamp::from_micros(self.created_us),
        }
    }
}
