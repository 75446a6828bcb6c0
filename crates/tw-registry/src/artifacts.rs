//! Artifacts: scripts as records of their own, with versions that only ever grow in number.
//!
//! A tool of the kind `artifact` names one version and keeps its source, so that what runs never changes by itself. Whoever
//! saves a tool with a source of its own gets an artifact for it, or a next version of the one that it has.

use std::sync::Arc;

use serde_json::{Value, json};
use tw_base::{Error, Page, PageRequest, Result, by, faultless, name_violation};
use tw_exec::Written;
use tw_identity::rights::{CreateTools, DeleteTools, Permit, ReadHistory, UpdateTools};
use tw_model::{ArtifactId, Caller, Implementation, TenantId, check_name};
use tw_schema::Fault;
use tw_store::{ArtifactVersion, Changed, StoredArtifact};
use tw_vault::UsedBy;
use uuid::Uuid;

use crate::{
    Registry,
    authoring::{LOOKING_FOR_USERS, in_lane},
    catalogue::{Side, ToolEntry, View},
    pin::{Pin, first, next},
};

/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;
const CHECKING: &str = "checking a script";

/// What is said about an artifact. What is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct SentArtifact {
    pub name: Option<String>,
    pub language: Option<String>,
    pub source: Option<String>,
}

/// An artifact with the source of its newest version.
#[derive(Clone, Debug)]
pub struct ArtifactWithSource {
    pub stored: StoredArtifact,
    pub source: String,
}

/// Names an artifact as it stands.
#[must_use]
pub fn artifact_mark(artifact: &StoredArtifact) -> String {
    format!("{}-{:x}", artifact.version, artifact.updated.micros())
}

impl Registry {
    pub async fn create_artifact(
        &self,
        permit: &Permit<CreateTools>,
        sent: SentArtifact,
        request_id: Option<&str>,
    ) -> Result<ArtifactWithSource> {
        let caller = permit.caller();
        let (name, language) = (sent.name.unwrap_or_default(), sent.language.unwrap_or_default());
        let source = sent.source.unwrap_or_default();
        self.check_artifact(caller, &name, &language, &source).await?;
        let by = by(caller, request_id);
        let stored = first(name, &language, &source, by.actor.clone());
        let scope = self.store.tenant(caller.tenant);
        scope.create_artifact(&stored, &source, &by).await.map_err(Error::store("making an artifact"))?;
        self.identity.epochs().ask(caller.tenant).await?;
        Ok(ArtifactWithSource { stored, source })
    }

    /// The artifacts of the tenant, oldest first.
    pub async fn artifacts(
        &self,
        permit: &Permit<ReadHistory>,
        page: &PageRequest,
    ) -> Result<Page<StoredArtifact>> {
        let caller = permit.caller();
        let place = format!("artifacts/{}", caller.tenant);
        let after = self.secrets.open_cursor(&place, page)?.map(ArtifactId::from_uuid);
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.artifacts(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading artifacts"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_artifacts().await.map_err(Error::store("counting artifacts"))?;
        Ok(self.secrets.page(rows, page, &place, total, |artifact| artifact.id.uuid()))
    }

    pub async fn artifact(&self, permit: &Permit<ReadHistory>, id: ArtifactId) -> Result<ArtifactWithSource> {
        self.stored_artifact(permit.caller(), id).await
    }

    /// The versions of an artifact, newest first, without their sources.
    pub async fn artifact_versions(
        &self,
        permit: &Permit<ReadHistory>,
        id: ArtifactId,
        page: &PageRequest,
    ) -> Result<Page<ArtifactVersion>> {
        let caller = permit.caller();
        let newest = self.head(caller, id).await?.version;
        let place = format!("artifacts/{}/{id}", caller.tenant);
        let before = self.secrets.open_cursor(&place, page)?.map(|at| at.as_u64_pair().1);
        let before = before.map_or(newest + 1, |before| i64::try_from(before).unwrap_or(0));
        // Numbers have no gaps.
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.artifact_versions(id, Some(before - page.offset), page.limit + 1).await;
        let rows = rows.map_err(Error::store("reading versions"))?;
        let at = |row: &ArtifactVersion| Uuid::from_u64_pair(0, u64::try_from(row.version).unwrap_or(0));
        Ok(self.secrets.page(rows, page, &place, Some(newest), at))
    }

    /// One version of an artifact, with its source.
    pub async fn artifact_version(
        &self,
        permit: &Permit<ReadHistory>,
        id: ArtifactId,
        version: i64,
    ) -> Result<ArtifactVersion> {
        let caller = permit.caller();
        self.head(caller, id).await?;
        let found = self.version_of(caller.tenant, id, version).await?;
        found.ok_or(Error::NotFound { what: "version of this artifact" })
    }

    /// The tools that name an artifact, in what runs or in what was saved last.
    pub async fn artifact_users(&self, permit: &Permit<ReadHistory>, id: ArtifactId) -> Result<Vec<UsedBy>> {
        let caller = permit.caller();
        self.head(caller, id).await?;
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        in_lane(caller.tenant, LOOKING_FOR_USERS, move || users_of(&view, id)).await
    }

    /// Changes an artifact. Another script is its next version; the same one makes none. No tool changes by that.
    pub async fn change_artifact(
        &self,
        permit: &Permit<UpdateTools>,
        id: ArtifactId,
        sent: SentArtifact,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<ArtifactWithSource> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        for _ in 0..TRIES {
            let ArtifactWithSource { stored: before, source: old } = self.stored_artifact(caller, id).await?;
            is_as_read(&before, marks)?;
            let language = sent.language.as_ref().unwrap_or(&before.language);
            let source = sent.source.as_ref().unwrap_or(&old);
            let name = sent.name.as_ref().unwrap_or(&before.name).clone();
            let is_same_script = (language, source) == (&before.language, &old);
            if is_same_script && name == before.name {
                return Ok(ArtifactWithSource { stored: before, source: old });
            }
            self.check_artifact(caller, &name, language, source).await?;
            let (after, added) = if is_same_script {
                (StoredArtifact { name, updated: before.moment_after(), ..before.clone() }, None)
            } else {
                (StoredArtifact { name, ..next(&before, language, source) }, Some(&**source))
            };
            let scope = self.store.tenant(caller.tenant);
            let changed = scope.change_artifact(&before, &after, added, &by).await;
            if let Changed::Done(()) = changed.map_err(Error::store("changing an artifact"))? {
                self.identity.epochs().ask(caller.tenant).await?;
                return Ok(ArtifactWithSource { stored: after, source: source.clone() });
            }
        }
        Err(busy())
    }

    /// Removes an artifact that no tool names, with all of its versions.
    pub async fn remove_artifact(
        &self,
        permit: &Permit<DeleteTools>,
        id: ArtifactId,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        for _ in 0..TRIES {
            let before = self.head(caller, id).await?;
            is_as_read(&before, marks)?;
            let epoch = self.identity.epochs().ask(caller.tenant).await?;
            let view = self.catalogue.view(caller.tenant, epoch).await?;
            let looked_in = Arc::clone(&view);
            let users = in_lane(caller.tenant, LOOKING_FOR_USERS, move || users_of(&looked_in, id)).await?;
            if !users.is_empty() {
                let by = users.into_iter().map(|user| user.slug).collect();
                return Err(Error::InUse { what: "artifact", to_be: "removed", by });
            }
            let scope = self.store.tenant(caller.tenant);
            let removed = scope.remove_artifact(id, before.updated, view.epoch, &by).await;
            match removed.map_err(Error::store("removing an artifact"))? {
                Changed::Done(()) => {
                    self.identity.epochs().ask(caller.tenant).await?;
                    return Ok(());
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    async fn head(&self, caller: &Caller, id: ArtifactId) -> Result<StoredArtifact> {
        let found = self.store.tenant(caller.tenant).artifact(id).await;
        found.map_err(Error::store("reading an artifact"))?.ok_or_else(missing)
    }

    pub(crate) async fn version_of(
        &self,
        tenant: TenantId,
        id: ArtifactId,
        version: i64,
    ) -> Result<Option<ArtifactVersion>> {
        let found = self.store.tenant(tenant).artifact_version(id, version).await;
        found.map_err(Error::store("reading a version"))
    }

    async fn stored_artifact(&self, caller: &Caller, id: ArtifactId) -> Result<ArtifactWithSource> {
        let stored = self.head(caller, id).await?;
        // Removed in between, it is as gone as if it had never been.
        let newest = self.version_of(caller.tenant, id, stored.version).await?.ok_or_else(missing)?;
        Ok(ArtifactWithSource { stored, source: newest.source.unwrap_or_default() })
    }

    async fn check_artifact(&self, caller: &Caller, name: &str, language: &str, source: &str) -> Result<()> {
        let mut faults: Vec<_> =
            check_name(name).err().map(|error| name_violation(&error).at("/name")).into_iter().collect();
        let kinds = Arc::clone(self.catalogue.kinds());
        let implementation = json!({ "language": language, "source": source });
        let check = move || {
            let kind = Implementation::Artifact;
            let written =
                Written { kind, implementation: &implementation, execution_spec: None, is_new: true };
            kinds.read(written).map(drop)
        };
        if let Err(found) = in_lane(caller.tenant, CHECKING, check).await? {
            faults.extend(found.into_iter().map(beside_the_source));
        }
        faultless(faults)
    }
}

/// A fault of a tool, as one of the artifact itself.
fn beside_the_source(fault: Fault) -> Fault {
    let path = fault.path.strip_prefix("/implementation").unwrap_or(&fault.path).to_owned();
    Fault { path, ..fault }
}

fn is_as_read(artifact: &StoredArtifact, marks: Option<&[String]>) -> Result<()> {
    match marks {
        Some(seen) if !seen.contains(&artifact_mark(artifact)) => Err(Error::Stale { what: "artifact" }),
        _ => Ok(()),
    }
}

fn users_of(view: &View, id: ArtifactId) -> Vec<UsedBy> {
    let text = id.to_string();
    let names_it = |definition: &Arc<str>| {
        // Most tools name none, and need not be read for that.
        definition.contains(&text)
            && serde_json::from_str::<Value>(definition).is_ok_and(|definition| {
                Pin::of(&definition["implementation"]).is_some_and(|pin| pin.id == id)
            })
    };
    let mut users = Vec::new();
    for entry in view.tools.sorted().iter() {
        let ToolEntry::Own(own) = entry else { continue };
        if [Some(&own.stored.definition), own.stored.live.as_ref()].into_iter().flatten().any(names_it) {
            let (slug, name) = (own.stored.slug.to_string(), own.face(Side::Draft).name.clone());
            users.push(UsedBy { kind: "tool", slug, name });
        }
    }
    users
}

fn missing() -> Error {
    Error::NotFound { what: "artifact" }
}

fn busy() -> Error {
    Error::Busy { what: "artifact" }
}
