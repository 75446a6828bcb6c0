//! From credentials to a caller: API keys and browser logins.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use tw_base::{
    Error, Result, Secrets,
    secrets::{self, equal},
};
use tw_model::{
    ActsAs, Caller, CallerParts, Channel, KeyId, Link, LoginId, PermissionSet, Principal, Role, Source,
    TenantId, Timestamp, Trace, UserId,
};
use tw_store::{ApiKey, Store, Tenant, User};

use crate::{
    epochs::Epochs,
    passwords::Passwords,
    rights::{Permit, Right},
    throttle::Throttle,
};

/// How old the knowledge about a caller's rights may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// As last heard from the database, half a second ago at the most. For calls of tools, whose start
    /// the log refuses if anything has changed since.
    Heard,
    /// As the database has it now.
    Now,
}

const NO_KEY: Error = Error::Unauthenticated { why: "the API key is not valid" };
const NO_LOGIN: Error = Error::Unauthenticated { why: "the sign-in is not valid any more; sign in again" };

/// How often an open stream asks whether its reader may still read.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// How often the last use of a key is written down.
const TOUCH_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct Identity {
    pub(crate) store: Store,
    pub(crate) epochs: Arc<Epochs>,
    pub(crate) secrets: Secrets,
    pub(crate) throttle: Throttle,
    pub(crate) passwords: Passwords,
    keys: RwLock<HashMap<String, Arc<KnownKey>>>,
    logins: RwLock<HashMap<[u8; 32], Arc<Caller>>>,
    touched: Mutex<HashMap<uuid::Uuid, Instant>>,
}

/// What was kept of the caller of a parked call.
#[derive(Debug)]
pub struct ParkedCaller {
    pub principal: Principal,
    pub display_name: String,
    pub role: Role,
    pub source: Source,
    pub channel: Channel,
    pub chain: Vec<Link>,
    pub trace: Option<Trace>,
}

/// A tenant that is not suspended, as of an epoch.
struct Active {
    tenant: Tenant,
    epoch: i64,
}

#[derive(Debug)]
struct KnownKey {
    hash: [u8; 32],
    caller: Caller,
}

/// A new key's text: `tw_<prefix>_<secret>`, what of it is stored, and nothing else.
pub(crate) fn new_key() -> (String, String, [u8; 32]) {
    let prefix: String = secrets::random::<6>().iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("tw_{prefix}_{}", URL_SAFE_NO_PAD.encode(secrets::random::<32>()));
    let hash = secrets::hash(&text);
    (text, prefix, hash)
}

/// The part of a key's text that it is found by.
fn prefix_of(key: &str) -> Option<&str> {
    let (prefix, secret) = key.strip_prefix("tw_")?.split_once('_')?;
    (prefix.len() == 12 && secret.len() == 43).then_some(prefix)
}

impl Identity {
    #[must_use]
    pub fn new(store: Store, secrets: Secrets) -> Self {
        Self {
            epochs: Arc::new(Epochs::new(store.clone())),
            store,
            secrets,
            throttle: Throttle::default(),
            passwords: Passwords::default(),
            keys: RwLock::default(),
            logins: RwLock::default(),
            touched: Mutex::default(),
        }
    }

    /// What this server has heard about changes in tenants.
    #[must_use]
    pub fn epochs(&self) -> &Arc<Epochs> {
        &self.epochs
    }

    /// The caller behind an API key.
    pub async fn by_key(&self, text: &str, freshness: Freshness) -> Result<Caller> {
        let prefix = prefix_of(text).ok_or(NO_KEY)?;
        let hash = secrets::hash(text);
        let known = match self.known_key(prefix) {
            Some(known) if self.is_current(&known.caller, freshness).await? => known,
            _ => self.load_key(prefix).await.inspect_err(|error| self.forget_key(error, prefix))?,
        };
        if !equal(&known.hash, &hash) {
            return Err(NO_KEY);
        }
        refuse_expired(&known.caller)?;
        self.touch_key(&known.caller);
        Ok(known.caller.clone())
    }

    /// Whether a key is in memory. Any other has to be looked for in the database, whoever sent it.
    #[must_use]
    pub fn knows_key(&self, text: &str) -> bool {
        let known = prefix_of(text).and_then(|prefix| self.known_key(prefix));
        known.is_some_and(|known| equal(&known.hash, &secrets::hash(text)))
    }

    /// Whether a browser's login is in memory.
    #[must_use]
    pub fn knows_login(&self, token: &str) -> bool {
        let logins = self.logins.read().unwrap_or_else(PoisonError::into_inner);
        logins.contains_key(&secrets::hash(token))
    }

    /// A key that is none any more is a stranger's from now on.
    fn forget_key(&self, error: &Error, prefix: &str) {
        if matches!(error, Error::Unauthenticated { .. }) {
            self.keys.write().unwrap_or_else(PoisonError::into_inner).remove(prefix);
        }
    }

    fn forget_login(&self, error: &Error, hash: [u8; 32]) {
        if matches!(error, Error::Unauthenticated { .. }) {
            self.logins.write().unwrap_or_else(PoisonError::into_inner).remove(&hash);
        }
    }

    fn known_key(&self, prefix: &str) -> Option<Arc<KnownKey>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).get(prefix).cloned()
    }

    /// The caller behind a browser's login.
    pub async fn by_login(&self, token: &str, freshness: Freshness) -> Result<Caller> {
        let hash = secrets::hash(token);
        let known = self.logins.read().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned();
        let known = match known {
            Some(known) if self.is_current(&known, freshness).await? => known,
            _ => self.load_login(hash).await.inspect_err(|error| self.forget_login(error, hash))?,
        };
        refuse_expired(&known)?;
        Ok(Caller::clone(&known))
    }

    /// The same caller with the rights it has now, or a refusal if its key or login is revoked or expired.
    pub async fn again(&self, caller: &Caller) -> Result<Caller> {
        self.epochs.ask(caller.tenant).await?;
        let fresh = match (caller.key, caller.login) {
            (Some(key), _) => self.key_caller(caller.tenant, key).await?.caller,
            (None, Some(login)) => self.login_caller(caller.tenant, login).await?,
            (None, None) => self.by_principal(caller).await?,
        };
        refuse_expired(&fresh)?;
        let fresh = fresh.via(caller.channel, caller.trace.as_deref().cloned());
        Ok(fresh.within(Arc::clone(&caller.chain)))
    }

    /// The caller of a parked call, with the rights it has today.
    pub async fn of_parked(&self, tenant: TenantId, parked: ParkedCaller) -> Result<Caller> {
        let active = self.active_tenant(tenant).await?;
        let owner = self.owner_role(tenant, parked.principal.owner()).await?;
        Ok(Caller::new(CallerParts {
            tenant,
            tenant_slug: active.tenant.slug,
            permissions: rights_of(&parked.principal, parked.role, owner),
            principal: parked.principal,
            display_name: parked.display_name.into(),
            role: parked.role,
            source: parked.source,
            channel: parked.channel,
            key: None,
            login: None,
            expires: None,
            epoch: active.epoch,
            chain: parked.chain.into(),
            trace: parked.trace.map(Arc::new),
        }))
    }

    /// A caller whose credentials are long gone, for a call that goes on: its role, held against what
    /// its owner may do today.
    pub async fn by_principal(&self, caller: &Caller) -> Result<Caller> {
        let active = self.active_tenant(caller.tenant).await?;
        let owner = self.owner_role(caller.tenant, caller.principal.owner()).await?;
        let permissions = rights_of(&caller.principal, caller.role, owner);
        Ok(Caller::new(CallerParts { permissions, epoch: active.epoch, ..caller.clone().into_parts() }))
    }

    /// The person behind a call: of an agent its owner, with all that the owner may do today.
    pub async fn person_behind(&self, caller: &Caller) -> Result<Caller> {
        let Principal::Agent { owner, .. } = caller.principal else {
            return self.by_principal(caller).await;
        };
        let active = self.active_tenant(caller.tenant).await?;
        let role = self.owner_role(caller.tenant, owner).await?;
        Ok(Caller::new(CallerParts {
            principal: Principal::User { id: owner },
            role,
            permissions: role.permissions(),
            key: None,
            login: None,
            expires: None,
            epoch: active.epoch,
            ..caller.clone().into_parts()
        }))
    }

    async fn is_current(&self, caller: &Caller, freshness: Freshness) -> Result<bool> {
        let epoch = match freshness {
            Freshness::Heard => self.epochs.last_heard(caller.tenant),
            Freshness::Now => self.epochs.ask(caller.tenant).await?,
        };
        Ok(caller.epoch == epoch)
    }

    async fn load_key(&self, prefix: &str) -> Result<Arc<KnownKey>> {
        let found = self.store.find_key(prefix).await.map_err(Error::store("looking for a key"))?;
        let (tenant, key) = found.ok_or(NO_KEY)?;
        let known = Arc::new(self.key_caller(tenant, key).await?);
        self.keys
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(prefix.to_owned(), Arc::clone(&known));
        Ok(known)
    }

    async fn load_login(&self, hash: [u8; 32]) -> Result<Arc<Caller>> {
        let found = self.store.find_login(&hash).await.map_err(Error::store("looking for a login"))?;
        let (tenant, login) = found.ok_or(NO_LOGIN)?;
        let known = Arc::new(self.login_caller(tenant, login).await?);
        self.logins.write().unwrap_or_else(PoisonError::into_inner).insert(hash, Arc::clone(&known));
        Ok(known)
    }

    async fn key_caller(&self, tenant: TenantId, id: KeyId) -> Result<KnownKey> {
        let active = self.active_tenant(tenant).await?;
        let key = self.store.tenant(tenant).key(id).await.map_err(Error::store("reading a key"))?;
        let key = key.filter(|key| key.revoked.is_none()).ok_or(NO_KEY)?;
        let owner = self.owner_role(tenant, key.owner).await?;
        Ok(KnownKey { hash: key.hash, caller: stands_for(&key, owner, &active) })
    }

    /// Whom a key stands for, also one that does not work, and why it does not.
    pub async fn behind_key(
        &self,
        tenant: TenantId,
        id: KeyId,
    ) -> Result<(Caller, Result<(), &'static str>)> {
        let active = self.active_tenant(tenant).await?;
        let key = self.store.tenant(tenant).key(id).await.map_err(Error::store("reading a key"))?;
        let key = key.ok_or(Error::NotFound { what: "API key" })?;
        let is_over = key.expires.is_some_and(|expires| expires <= Timestamp::now());
        let (owner, works) = match self.owner_role(tenant, key.owner).await {
            Ok(owner) if key.revoked.is_some() => (owner, Err("the key is revoked")),
            Ok(owner) if is_over => (owner, Err("the key has expired")),
            Ok(owner) => (owner, Ok(())),
            Err(Error::Unauthenticated { why }) => (key.role, Err(why)),
            Err(error) => return Err(error),
        };
        Ok((stands_for(&key, owner, &active), works))
    }

    /// A member as they would be signed in.
    pub async fn user_caller(&self, tenant: TenantId, id: UserId) -> Result<Caller> {
        let active = self.active_tenant(tenant).await?;
        let user = self.store.tenant(tenant).user(id).await.map_err(Error::store("reading a user"))?;
        Ok(signed_in(&user.ok_or(Error::NotFound { what: "user" })?, &active))
    }

    async fn login_caller(&self, tenant: TenantId, id: LoginId) -> Result<Caller> {
        let active = self.active_tenant(tenant).await?;
        let scope = self.store.tenant(tenant);
        let login = scope.login(id).await.map_err(Error::store("reading a login"))?;
        let login = login.filter(|login| login.ended.is_none()).ok_or(NO_LOGIN)?;
        let user = scope.user(login.user).await.map_err(Error::store("reading a user"))?.ok_or(NO_LOGIN)?;
        let parts = signed_in(&user, &active).into_parts();
        Ok(Caller::new(CallerParts { login: Some(id), expires: Some(login.expires), ..parts }))
    }

    /// The tenant, unless it is suspended. The epoch is read first, so the tenant is at least as new.
    async fn active_tenant(&self, tenant: TenantId) -> Result<Active> {
        let epoch = self.epochs.ask(tenant).await?;
        let row = self.store.tenant(tenant).tenant().await.map_err(Error::store("reading the tenant"))?;
        let tenant = row.ok_or(Error::NotFound { what: "tenant" })?;
        if tenant.status != "active" {
            return Err(Error::Unauthenticated { why: "the tenant is suspended" });
        }
        Ok(Active { tenant, epoch })
    }

    async fn owner_role(&self, tenant: TenantId, owner: UserId) -> Result<Role> {
        let role =
            self.store.tenant(tenant).role_of(owner).await.map_err(Error::store("reading a membership"))?;
        role.ok_or(Error::Unauthenticated {
            why: "the owner of this key is no member of the tenant any more",
        })
    }

    /// Writes down that a key is in use, now and then, without making the call wait for it.
    fn touch_key(&self, caller: &Caller) {
        let Some(key) = caller.key else { return };
        let now = Instant::now();
        let due = {
            let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
            let last = touched.insert(key.uuid(), now);
            match last {
                Some(last) if now.duration_since(last) < TOUCH_EVERY => {
                    touched.insert(key.uuid(), last);
                    false
                }
                _ => true,
            }
        };
        if due {
            let scope = self.store.tenant(caller.tenant);
            tokio::spawn(async move {
                if let Err(error) = scope.touch_key(key, Timestamp::now()).await {
                    tracing::debug!(%error, "the last use of a key was not written down");
                }
            });
        }
    }
}

/// What an expired key or login is told: the same as one that never was.
fn refuse_expired(caller: &Caller) -> Result<()> {
    match (caller.is_expired(Timestamp::now()), caller.login) {
        (false, _) => Ok(()),
        (true, None) => Err(NO_KEY),
        (true, Some(_)) => Err(NO_LOGIN),
    }
}

/// Whom a key stands for, and what they may do while its owner has this role.
fn stands_for(key: &ApiKey, owner: Role, active: &Active) -> Caller {
    let principal = principal_of(key);
    Caller::new(CallerParts {
        tenant: active.tenant.id,
        tenant_slug: active.tenant.slug.clone(),
        permissions: rights_of(&principal, key.role, owner),
        principal,
        display_name: Arc::from(key.name.as_str()),
        role: key.role,
        source: match key.acts_as {
            ActsAs::User => Source::Api,
            ActsAs::Agent => Source::Agent,
        },
        channel: Channel::Rest,
        key: Some(key.id),
        login: None,
        expires: key.expires,
        epoch: active.epoch,
        chain: Arc::from([]),
        trace: None,
    })
}

fn signed_in(user: &User, active: &Active) -> Caller {
    Caller::new(CallerParts {
        tenant: active.tenant.id,
        tenant_slug: active.tenant.slug.clone(),
        principal: Principal::User { id: user.id },
        display_name: Arc::from(user.display_name.as_str()),
        role: user.role,
        permissions: user.role.permissions(),
        source: Source::Web,
        channel: Channel::Rest,
        key: None,
        login: None,
        expires: None,
        epoch: active.epoch,
        chain: Arc::from([]),
        trace: None,
    })
}

/// What a key can do: what its role and its owner both can. An owner who loses a right takes it from every
/// key they made. An agent has less than that, whatever the role of its key: what no agent may do it does not
/// hold either, so that neither a list of its rights nor a tool that asks for one is mistaken.
fn rights_of(principal: &Principal, role: Role, owner: Role) -> PermissionSet {
    let of_role = match principal {
        Principal::User { .. } => role.permissions(),
        Principal::Agent { .. } => role.permissions_of_an_agent(),
    };
    of_role.intersect(&owner.permissions())
}

fn principal_of(key: &ApiKey) -> Principal {
    match (key.acts_as, &key.agent) {
        (ActsAs::Agent, Some(slug)) => Principal::Agent { slug: slug.clone(), owner: key.owner },
        (ActsAs::Agent, None) => Principal::Agent { slug: "default".to_owned(), owner: key.owner },
        (ActsAs::User, _) => Principal::User { id: key.owner },
    }
}

impl Identity {
    /// The same permit, as long as the credentials behind it still stand. For streams that stay open.
    pub async fn renew<R: Right>(&self, permit: &Permit<R>) -> Result<Permit<R>> {
        let caller = permit.caller();
        refuse_expired(caller)?;
        if self.epochs.ask(caller.tenant).await? == caller.epoch {
            return Ok(permit.clone());
        }
        Permit::check(self.again(caller).await?)
    }

    /// Resolves when the credentials behind a permit expire, at that moment, or soon after they are revoked. Every
    /// open stream races against this: its next event may be hours away.
    pub fn lapse<R: Right>(self: &Arc<Self>, permit: &Permit<R>) -> impl Future<Output = ()> + Send + use<R> {
        let (identity, mut permit) = (Arc::clone(self), permit.clone());
        async move {
            loop {
                let left = permit.caller().expires.map(|expires| expires.since(Timestamp::now()));
                tokio::time::sleep(left.map_or(RENEW_EVERY, |left| left.min(RENEW_EVERY))).await;
                match identity.renew(&permit).await {
                    Ok(renewed) => permit = renewed,
                    Err(error) => return tracing::debug!(%error, "a stream ends"),
                }
            }
        }
    }
}

/// The person behind a call, with the rights that person has now.
///
/// An agent never holds the right to write tools, and gets no permit for it here either. What it asks for
/// and a person approves is done in the name of the person it belongs to, who must hold the right
/// themselves, at this moment: their role is read again, and the role of the agent's key plays no part. A
/// person's own call keeps to what their key may do.
///
/// For tools that act in the corridor's stead, and for nothing that a door could call.
#[derive(Debug)]
pub struct PersonBehind(Caller);

impl PersonBehind {
    pub async fn of(caller: &Caller, identity: &Identity) -> Result<Self> {
        let person = identity.person_behind(caller).await;
        person.map(Self).map_err(|error| match error {
            // The credentials of whoever asks are in order; it is the person who is gone.
            Error::Unauthenticated { why } => Error::NotPermitted { why: why.to_owned() },
            error => error,
        })
    }

    /// Checks a right of the person.
    pub fn permit<R: Right>(&self) -> Result<Permit<R>> {
        Permit::check(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_found_by_its_prefix_and_only_in_its_own_shape() {
        let (text, prefix, hash) = new_key();
        assert_eq!(prefix_of(&text), Some(prefix.as_str()));
        assert_eq!(secrets::hash(&text), hash);
        for wrong in ["", "tw_", "tw_abc_def", "Bearer x", &text[1..]] {
            assert_eq!(prefix_of(wrong), None, "{wrong}");
        }
    }
}
