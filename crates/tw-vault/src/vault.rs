//! Credentials, opened for whatever runs a tool.
//!
//! No door gets here: a vault is made of a store and a master key, and what it hands out goes into requests to
//! others and never into an answer.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tw_base::{Error, MasterKey, Result};
use tw_model::{CredentialId, CredentialType, Label, TenantId, Timestamp};
use tw_store::{By, Rewrap, SealedSecret, Store, StoredCredential, WrappedKey};
use zeroize::Zeroizing;

use crate::envelope::{Binding, TenantKey, Wrapping};

/// The credentials of all tenants, and the key to them.
#[derive(Clone, Debug)]
pub struct Vault {
    store: Store,
    wrapping: Wrapping,
    /// The keys of tenants never change, only what they are wrapped by.
    tenant_keys: Arc<RwLock<HashMap<TenantId, Arc<TenantKey>>>>,
}

/// What is in a credential. Forgotten for good when dropped, and never shown.
pub struct OpenedCredential {
    pub id: CredentialId,
    pub revision: i64,
    pub kind: CredentialType,
    /// What it is called, for a failure.
    pub label: Label,
    /// The hosts that it may be sent to; `None` for every host.
    pub allowed_hosts: Option<Vec<String>>,
    /// Whom it is for, as its provider and the variant of that.
    pub providers: Vec<String>,
    fields: BTreeMap<String, Zeroizing<String>>,
}

/// What a reference in a tool leads to, as far as an approval is bound to it.
#[derive(Debug)]
pub struct Stamp {
    pub reference: String,
    /// `None` where there is none.
    pub found: Option<Stamped>,
}

/// The state of a credential: its payload, and where it may be sent.
#[derive(Debug)]
pub struct Stamped {
    pub id: CredentialId,
    pub revision: i64,
    pub allowed_hosts: Option<Vec<String>>,
}

impl fmt::Debug for OpenedCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields.keys().collect();
        let mut shown = f.debug_struct("OpenedCredential");
        shown.field("id", &self.id).field("revision", &self.revision).field("kind", &self.kind);
        shown.field("fields", &names).finish_non_exhaustive()
    }
}

impl OpenedCredential {
    /// What is inserted for `secret:<label>`: the key or the token, for `basic` what stands after `Basic` in a
    /// header, of a custom one `api_key`, else `token`, else the only text there is.
    #[must_use]
    pub fn value(&self) -> Option<Zeroizing<String>> {
        match self.kind {
            CredentialType::ApiKey => self.fields.get("api_key").cloned(),
            CredentialType::Bearer => self.fields.get("token").cloned(),
            CredentialType::Basic => {
                let (username, password) = (self.field("username")?, self.field("password")?);
                let pair = Zeroizing::new([username, ":", password].concat());
                Some(Zeroizing::new(STANDARD.encode(pair.as_bytes())))
            }
            CredentialType::Custom => {
                let named = self.fields.get("api_key").or_else(|| self.fields.get("token"));
                let only = || self.fields.values().next().filter(|_| self.fields.len() == 1);
                named.or_else(only).cloned()
            }
        }
    }

    pub fn into_fields(self) -> BTreeMap<String, Zeroizing<String>> {
        self.fields
    }

    /// One of the texts in it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|text| text.as_str())
    }
}

impl Vault {
    #[must_use]
    pub fn new(store: Store, master: &MasterKey) -> Self {
        Self { store, wrapping: Wrapping::of(master), tenant_keys: Arc::default() }
    }

    /// Opens the credential that a tool refers to, by its label or its id.
    pub async fn open(&self, tenant: TenantId, named: &str) -> Result<OpenedCredential> {
        let found = self.find(tenant, named).await?;
        let missing = || Error::CredentialMissing { label: named.chars().take(Label::LEN_MAX).collect() };
        self.opened(tenant, &found.ok_or_else(missing)?)
    }

    async fn find(&self, tenant: TenantId, named: &str) -> Result<Option<StoredCredential>> {
        let scope = self.store.tenant(tenant);
        let found = match (named.parse::<CredentialId>(), named.parse::<Label>()) {
            (Ok(id), _) => scope.credential(id).await,
            (Err(_), Ok(label)) => scope.credential_by_label(&label).await,
            (Err(_), Err(_)) => Ok(None),
        };
        found.map_err(Error::store("reading a credential"))
    }

    /// What references lead to now, without opening anything.
    pub async fn stamps(&self, tenant: TenantId, references: BTreeSet<String>) -> Result<Vec<Stamp>> {
        let mut stamps = Vec::new();
        for reference in references {
            let mut found = self.find(tenant, &reference).await?;
            // As where it is opened: a label may hold dots itself, so the field comes second.
            if let (None, Some((label, _))) = (&found, reference.rsplit_once('.')) {
                found = self.find(tenant, label).await?;
            }
            let found = found.map(|credential| Stamped {
                id: credential.id,
                revision: credential.revision,
                allowed_hosts: credential.allowed_hosts,
            });
            stamps.push(Stamp { reference, found });
        }
        Ok(stamps)
    }

    /// Opens the oldest credential that a tenant has for a provider, of the variant where one is named.
    pub async fn open_for(
        &self,
        tenant: TenantId,
        provider_key: &str,
        variant: Option<&str>,
    ) -> Result<Option<OpenedCredential>> {
        let found = self.store.tenant(tenant).credential_for(provider_key, variant).await;
        let found = found.map_err(Error::store("reading a credential"))?;
        found.map(|credential| self.opened(tenant, &credential)).transpose()
    }

    fn opened(&self, tenant: TenantId, credential: &StoredCredential) -> Result<OpenedCredential> {
        let StoredCredential { id, revision, kind, ref sealed, .. } = *credential;
        let corrupt = |why: &str| Error::internal("opening a credential", format!("credential {id} {why}"));
        if sealed.key_id != self.wrapping.id() {
            return Err(corrupt("was sealed under another master key"));
        }
        let binding = Binding { tenant, id, revision };
        let opened = self.wrapping.open(binding, sealed).ok_or_else(|| corrupt("does not open"))?;
        // What a reader says about a text that it cannot read may hold a part of the text.
        let fields: BTreeMap<String, String> =
            serde_json::from_slice(&opened).map_err(|_| corrupt("holds no payload"))?;
        self.touch(tenant, credential);
        let fields = fields.into_iter().map(|(name, text)| (name, Zeroizing::new(text))).collect();
        let (label, allowed_hosts) = (credential.label.clone(), credential.allowed_hosts.clone());
        let providers = [&credential.provider_key, &credential.provider_variant];
        let providers = providers.into_iter().flatten().cloned().collect();
        Ok(OpenedCredential { id, revision, kind, label, allowed_hosts, providers, fields })
    }

    /// Writes down that a credential is in use, to the minute, without making the call wait for it.
    fn touch(&self, tenant: TenantId, credential: &StoredCredential) {
        let now = Timestamp::now();
        if credential.last_used.is_some_and(|last| now.micros() < last.plus(TOUCH_EVERY).micros()) {
            return;
        }
        let (scope, id) = (self.store.tenant(tenant), credential.id);
        tokio::spawn(async move {
            if let Err(error) = scope.touch_credential(id, now).await {
                tracing::debug!(%error, "the last use of a credential was not written down");
            }
        });
    }

    pub fn seal(&self, tenant: TenantId, id: CredentialId, revision: i64, payload: &[u8]) -> SealedSecret {
        self.wrapping.seal(Binding { tenant, id, revision }, payload)
    }

    /// What the secrets in a tenant's tools are sealed and opened with, if there ever were any.
    pub async fn tool_secrets(&self, tenant: TenantId) -> Result<Option<Arc<TenantKey>>> {
        if let Some(key) = self.tenant_keys.read().unwrap_or_else(PoisonError::into_inner).get(&tenant) {
            return Ok(Some(Arc::clone(key)));
        }
        let wrapped = self.store.tenant(tenant).tenant_key().await;
        let wrapped = wrapped.map_err(Error::store("reading a tenant's key"))?;
        wrapped.map(|wrapped| self.unwrapped(tenant, &wrapped)).transpose()
    }

    /// As [`Vault::tool_secrets`], where there are some now.
    pub async fn new_tool_secrets(&self, tenant: TenantId) -> Result<Arc<TenantKey>> {
        if let Some(key) = self.tool_secrets(tenant).await? {
            return Ok(key);
        }
        let bytes = self.wrapping.new_tenant_key(tenant);
        let new = WrappedKey { bytes, key_id: self.wrapping.id().to_owned() };
        let kept = self.store.tenant(tenant).tenant_key_or(&new).await;
        self.unwrapped(tenant, &kept.map_err(Error::store("making a tenant's key"))?)
    }

    fn unwrapped(&self, tenant: TenantId, wrapped: &WrappedKey) -> Result<Arc<TenantKey>> {
        let key = self.wrapping.tenant_key(tenant, &wrapped.bytes).ok_or_else(|| {
            let why = format!("the key of tenant {tenant}, under {}, does not open", wrapped.key_id);
            Error::internal("opening a tenant's key", why)
        })?;
        let key = Arc::new(key);
        let mut keys = self.tenant_keys.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(keys.entry(tenant).or_insert(key)))
    }

    /// Puts the keys of all tenants under another master key, and says how many those were. What is under it
    /// already stays as it is; with one that does not open, nothing of its tenant is changed.
    pub async fn rewrap(&self, next: &MasterKey) -> Result<u64> {
        let next = Wrapping::of(next);
        let rewrap = Both { old: &self.wrapping, next: &next };
        let count = self.store.rewrap_keys(next.id(), &rewrap, &By::operator()).await;
        count.map_err(Error::store("wrapping keys"))
    }
}

struct Both<'a> {
    old: &'a Wrapping,
    next: &'a Wrapping,
}

impl Rewrap for Both<'_> {
    fn data_key(&self, tenant: TenantId, credential: &StoredCredential) -> Option<Vec<u8>> {
        let binding = Binding { tenant, id: credential.id, revision: credential.revision };
        self.old.rewrap(binding, &credential.sealed, self.next)
    }

    fn tenant_key(&self, tenant: TenantId, wrapped: &[u8]) -> Option<Vec<u8>> {
        self.old.rewrap_tenant_key(tenant, wrapped, self.next)
    }
}

const TOUCH_EVERY: std::time::Duration = std::time::Duration::from_secs(60);
