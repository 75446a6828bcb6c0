//! Credentials of a tenant: written, replaced, removed, and never read back.

mod read;
mod trial;

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use toolwright_sdk::{BoxFuture, Network};
use tw_base::{Error, Page, PageRequest, Result, Secrets, by};
use tw_identity::{
    Epochs,
    rights::{Permit, ReadCredentials, WriteCredentials},
};
use tw_model::{Caller, CredentialId, TenantId};
use tw_store::{Changed, Store, StoredCredential};

use self::read::{Change, New, read_change, read_new};
pub use self::trial::{Trial, Tried};
use crate::vault::Vault;

/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;

/// Names a credential as it stands.
#[must_use]
pub fn credential_mark(credential: &StoredCredential) -> String {
    format!("{}-{:x}", credential.revision, credential.updated.micros())
}

/// Something that would not work without another thing of the tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsedBy {
    pub kind: &'static str,
    pub slug: String,
    pub name: String,
}

/// Who knows what refers to a credential.
pub trait References: Send + Sync + std::fmt::Debug {
    /// Everything that refers to a credential, and the epoch as of which that is so: `epoch` or a later one.
    fn references<'a>(
        &'a self,
        tenant: TenantId,
        epoch: i64,
        credential: &'a StoredCredential,
    ) -> BoxFuture<'a, Result<(Vec<UsedBy>, i64)>>;
}

/// The credentials of tenants, as their administrators see them.
pub struct CredentialAdmin {
    store: Store,
    vault: Vault,
    epochs: Arc<Epochs>,
    secrets: Secrets,
    references: Arc<dyn References>,
    network: Arc<dyn Network>,
}

impl std::fmt::Debug for CredentialAdmin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialAdmin").field("vault", &self.vault).finish_non_exhaustive()
    }
}

impl CredentialAdmin {
    #[must_use]
    pub fn new(
        store: Store,
        vault: Vault,
        epochs: Arc<Epochs>,
        secrets: Secrets,
        references: Arc<dyn References>,
        network: Arc<dyn Network>,
    ) -> Self {
        Self { store, vault, epochs, secrets, references, network }
    }

    pub async fn create(
        &self,
        permit: &Permit<WriteCredentials>,
        body: &Value,
        request_id: Option<&str>,
    ) -> Result<StoredCredential> {
        let caller = permit.caller();
        let New { label, kind, provider_key, provider_variant, allowed_hosts, payload } = read_new(body)?;
        let by = by(caller, request_id);
        let (id, revision, now) = (CredentialId::new(), 1, tw_model::Timestamp::now());
        let made = StoredCredential {
            id,
            label,
            kind,
            provider_key,
            provider_variant,
            sealed: self.vault.seal(caller.tenant, id, revision, &payload.json),
            fields: payload.fields,
            allowed_hosts,
            revision,
            last_used: None,
            created: now,
            updated: now,
            created_by: by.actor.clone(),
        };
        let scope = self.store.tenant(caller.tenant);
        scope.create_credential(&made, &by).await.map_err(Error::store("making a credential"))?;
        self.epochs.ask(caller.tenant).await?;
        Ok(made)
    }

    pub async fn list(
        &self,
        permit: &Permit<ReadCredentials>,
        page: &PageRequest,
    ) -> Result<Page<StoredCredential>> {
        let caller = permit.caller();
        let place = format!("credentials/{}/{}", caller.tenant, caller.principal.label());
        let after = self.secrets.open_cursor(&place, page)?.map(CredentialId::from_uuid);
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.credentials(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading credentials"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_credentials().await.map_err(Error::store("counting credentials"))?;
        Ok(self.secrets.page(rows, page, &place, total, |credential| credential.id.uuid()))
    }

    pub async fn get(&self, permit: &Permit<ReadCredentials>, id: CredentialId) -> Result<StoredCredential> {
        self.stored(permit.caller(), id).await
    }

    /// What uses a credential, and would not work without it.
    pub async fn users(&self, permit: &Permit<ReadCredentials>, id: CredentialId) -> Result<Vec<UsedBy>> {
        let caller = permit.caller();
        let credential = self.stored(caller, id).await?;
        Ok(self.references.references(caller.tenant, caller.epoch, &credential).await?.0)
    }

    /// Changes a credential, property by property. A payload replaces the one before as a whole.
    pub async fn change(
        &self,
        permit: &Permit<WriteCredentials>,
        id: CredentialId,
        body: &Value,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<StoredCredential> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.as_read(caller, id, marks).await?;
            let mut after = self.with_change(caller, &before, read_change(body, before.kind)?);
            if after == before {
                return Ok(before);
            }
            // Whatever refers to the old label would be left without.
            let unused_at = match after.label.key() == before.label.key() {
                true => None,
                false => Some(self.unused(caller, &before, "renamed").await?),
            };
            after.updated = before.moment_after();
            let changed = scope.change_credential(&after, before.updated, unused_at, &by).await;
            match changed.map_err(Error::store("changing a credential"))? {
                Changed::Done(()) => {
                    self.epochs.ask(caller.tenant).await?;
                    return Ok(after);
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    /// Removes a credential that nothing uses.
    pub async fn remove(
        &self,
        permit: &Permit<WriteCredentials>,
        id: CredentialId,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.as_read(caller, id, marks).await?;
            let unused_at = self.unused(caller, &before, "removed").await?;
            let removed = scope.remove_credential(id, before.updated, unused_at, &by).await;
            match removed.map_err(Error::store("removing a credential"))? {
                Changed::Done(()) => {
                    self.epochs.ask(caller.tenant).await?;
                    return Ok(());
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    async fn stored(&self, caller: &Caller, id: CredentialId) -> Result<StoredCredential> {
        let found = self.store.tenant(caller.tenant).credential(id).await;
        found.map_err(Error::store("reading a credential"))?.ok_or(Error::NotFound { what: "credential" })
    }

    async fn as_read(
        &self,
        caller: &Caller,
        id: CredentialId,
        marks: Option<&[String]>,
    ) -> Result<StoredCredential> {
        let stored = self.stored(caller, id).await?;
        match marks {
            Some(seen) if !seen.contains(&credential_mark(&stored)) => {
                Err(Error::Stale { what: "credential" })
            }
            _ => Ok(stored),
        }
    }

    fn with_change(&self, caller: &Caller, before: &StoredCredential, change: Change) -> StoredCredential {
        let mut after = before.clone();
        if let Some(label) = change.label {
            after.label = label;
        }
        if let Some(provider_key) = change.provider_key {
            after.provider_key = provider_key;
        }
        if let Some(provider_variant) = change.provider_variant {
            after.provider_variant = provider_variant;
        }
        if let Some(allowed_hosts) = change.allowed_hosts {
            after.allowed_hosts = allowed_hosts;
        }
        if let Some(payload) = change.payload {
            after.kind = change.kind;
            after.revision += 1;
            after.sealed = self.vault.seal(caller.tenant, after.id, after.revision, &payload.json);
            after.fields = payload.fields;
        }
        after
    }

    /// As of which epoch nothing uses a credential, or a refusal that names what does.
    async fn unused(
        &self,
        caller: &Caller,
        credential: &StoredCredential,
        to_be: &'static str,
    ) -> Result<i64> {
        let epoch = self.epochs.ask(caller.tenant).await?;
        let (users, epoch) = self.references.references(caller.tenant, epoch, credential).await?;
        if users.is_empty() {
            return Ok(epoch);
        }
        let by = users.into_iter().map(|user| user.slug).collect();
        Err(Error::InUse { what: "credential", to_be, by })
    }
}

fn busy() -> Error {
    Error::Busy { what: "tenant" }
}
