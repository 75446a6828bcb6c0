//! Credentials of a tenant: written, replaced, removed, and never read back.

mod read;
mod trial;
mod users;

use serde_json::Value;
use tw_model::{Caller, CredentialId};
use tw_store::{Changed, Credential};

pub use self::trial::{Trial, Tried};
use self::{
    read::{Change, New, read_change, read_new},
    users::users_of,
};
use super::{UsedBy, by};
use crate::{
    Engine,
    error::{Error, Result},
    page::{Page, PageRequest},
    rights::{Permit, ReadCredentials, WriteCredentials},
};

/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;

/// Names a credential as it stands.
#[must_use]
pub fn credential_mark(credential: &Credential) -> String {
    format!("{}-{:x}", credential.revision, credential.updated.micros())
}

impl Engine {
    /// What a body with a secret in it is remembered by. A plain digest of a weak password would be as good as
    /// the password.
    #[must_use]
    pub fn blinded(&self, body: &[u8]) -> [u8; 32] {
        self.inner.secrets.blinded(body)
    }

    pub async fn create_credential(
        &self,
        permit: &Permit<WriteCredentials>,
        body: &Value,
        request_id: Option<&str>,
    ) -> Result<Credential> {
        let caller = permit.caller();
        let New { label, kind, provider_key, provider_variant, allowed_hosts, payload } = read_new(body)?;
        let by = by(caller, request_id);
        let (id, revision, now) = (CredentialId::new(), 1, tw_model::Timestamp::now());
        let made = Credential {
            id,
            label,
            kind,
            provider_key,
            provider_variant,
            sealed: self.inner.vault.seal(caller.tenant, id, revision, &payload.json),
            fields: payload.fields,
            allowed_hosts,
            revision,
            last_used: None,
            created: now,
            updated: now,
            created_by: by.actor.clone(),
        };
        let scope = self.inner.store.tenant(caller.tenant);
        scope.create_credential(&made, &by).await.map_err(Error::store("making a credential"))?;
        self.inner.identity.epochs.ask(caller.tenant).await?;
        Ok(made)
    }

    pub async fn credentials(
        &self,
        permit: &Permit<ReadCredentials>,
        page: &PageRequest,
    ) -> Result<Page<Credential>> {
        let caller = permit.caller();
        let place = format!("credentials/{}/{}", caller.tenant, caller.principal.label());
        let after = self.open_cursor(&place, page)?.map(CredentialId::from_uuid);
        let scope = self.inner.store.tenant(caller.tenant);
        let rows = scope.credentials(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading credentials"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_credentials().await.map_err(Error::store("counting credentials"))?;
        Ok(self.page(rows, page, &place, total, |credential| credential.id.uuid()))
    }

    pub async fn credential(&self, permit: &Permit<ReadCredentials>, id: CredentialId) -> Result<Credential> {
        self.stored_credential(permit.caller(), id).await
    }

    /// What uses a credential, and would not work without it.
    pub async fn credential_users(
        &self,
        permit: &Permit<ReadCredentials>,
        id: CredentialId,
    ) -> Result<Vec<UsedBy>> {
        let caller = permit.caller();
        let credential = self.stored_credential(caller, id).await?;
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let key = self.inner.vault.tool_secrets(caller.tenant).await?;
        Ok(users_of(&view, key.as_deref(), &credential))
    }

    /// Changes a credential, property by property. A payload replaces the one before as a whole.
    pub async fn change_credential(
        &self,
        permit: &Permit<WriteCredentials>,
        id: CredentialId,
        body: &Value,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<Credential> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.inner.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.credential_as_read(caller, id, marks).await?;
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
                    self.inner.identity.epochs.ask(caller.tenant).await?;
                    return Ok(after);
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    /// Removes a credential that nothing uses.
    pub async fn remove_credential(
        &self,
        permit: &Permit<WriteCredentials>,
        id: CredentialId,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.inner.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.credential_as_read(caller, id, marks).await?;
            let unused_at = self.unused(caller, &before, "removed").await?;
            let removed = scope.remove_credential(id, before.updated, unused_at, &by).await;
            match removed.map_err(Error::store("removing a credential"))? {
                Changed::Done(()) => {
                    self.inner.identity.epochs.ask(caller.tenant).await?;
                    return Ok(());
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    async fn stored_credential(&self, caller: &Caller, id: CredentialId) -> Result<Credential> {
        let found = self.inner.store.tenant(caller.tenant).credential(id).await;
        found.map_err(Error::store("reading a credential"))?.ok_or(Error::NotFound { what: "credential" })
    }

    async fn credential_as_read(
        &self,
        caller: &Caller,
        id: CredentialId,
        marks: Option<&[String]>,
    ) -> Result<Credential> {
        let stored = self.stored_credential(caller, id).await?;
        match marks {
            Some(seen) if !seen.contains(&credential_mark(&stored)) => {
                Err(Error::Stale { what: "credential" })
            }
            _ => Ok(stored),
        }
    }

    fn with_change(&self, caller: &Caller, before: &Credential, change: Change) -> Credential {
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
            after.sealed = self.inner.vault.seal(caller.tenant, after.id, after.revision, &payload.json);
            after.fields = payload.fields;
        }
        after
    }

    /// As of which epoch nothing uses a credential, or a refusal that names what does.
    async fn unused(&self, caller: &Caller, credential: &Credential, to_be: &'static str) -> Result<i64> {
        let epoch = self.inner.identity.epochs.ask(caller.tenant).await?;
        let view = self.inner.catalogue.view(caller.tenant, epoch).await?;
        let key = self.inner.vault.tool_secrets(caller.tenant).await?;
        let users = users_of(&view, key.as_deref(), credential);
        if users.is_empty() {
            return Ok(view.epoch);
        }
        let by = users.into_iter().map(|user| user.slug.to_string()).collect();
        Err(Error::InUse { what: "credential", to_be, by })
    }
}

fn busy() -> Error {
    Error::Busy { what: "tenant" }
}
