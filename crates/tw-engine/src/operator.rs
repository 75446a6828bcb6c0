//! What an operator does on the database itself, with or without a server running on it.

use tw_base::{Error, MasterKey, Result, name_violation};
use tw_identity::{CreatedKey, KeyRequest, Passwords, UserRequest, keys, people};
use tw_model::{ActsAs, Code, KeyId, Role, Slug, TenantId, TenantSlug, Timestamp, check_name};
use tw_schema::Violation;
use tw_store::{Added, By, Override, Store, Tenant, User, normal_email};
use tw_vault::Vault;

/// The name under which the database remembers which master key it belongs to.
const KEY_CHECK: &str = "master_key_check";
/// How many rows are read at a time.
const PAGE: i64 = 1000;

/// An operator at the command line: no tenant, no rights to check, everything audited.
#[derive(Clone, Debug)]
pub struct Operator {
    store: Store,
    by: By,
    passwords: Passwords,
}

impl Operator {
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, by: By::operator(), passwords: Passwords::default() }
    }

    /// Whether the database belongs to this master key. A fresh one belongs to the first that asks.
    pub async fn check_master_key(&self, key: &MasterKey) -> Result<bool> {
        let kept = self.store.set_meta_once(KEY_CHECK, &key.fingerprint()).await;
        Ok(kept.map_err(Error::store("checking the master key"))? == key.fingerprint())
    }

    /// Puts every stored secret under another master key, and says how many keys that were; `None` where the
    /// database belongs to neither. What was interrupted is finished when it is asked for again.
    pub async fn rotate_master_key(&self, now: &MasterKey, next: &MasterKey) -> Result<Option<u64>> {
        if !self.check_master_key(now).await? && !self.check_master_key(next).await? {
            return Ok(None);
        }
        let keys = Vault::new(self.store.clone(), now).rewrap(next).await?;
        let replaced = self.store.replace_meta(KEY_CHECK, &next.fingerprint()).await;
        replaced.map_err(Error::store("noting the master key"))?;
        Ok(Some(keys))
    }

    pub async fn tenants(&self) -> Result<Vec<Tenant>> {
        self.store.tenants().await.map_err(Error::store("reading tenants"))
    }

    pub async fn create_tenant(&self, slug: &TenantSlug, name: &str) -> Result<Tenant> {
        check_name(name).map_err(|error| Error::invalid("/name", name_violation(&error)))?;
        self.store.create_tenant(slug, name, &self.by).await.map_err(Error::store("creating a tenant"))
    }

    async fn scope(&self, slug: &TenantSlug) -> Result<tw_store::TenantScope> {
        let tenant = self.store.find_tenant(slug).await.map_err(Error::store("looking for a tenant"))?;
        Ok(self.store.tenant(tenant.ok_or(Error::NotFound { what: "tenant" })?))
    }

    pub async fn add_user(&self, tenant: &TenantSlug, request: UserRequest) -> Result<(User, Added)> {
        people::add(&self.scope(tenant).await?, request, &self.passwords, &self.by).await
    }

    pub async fn users(&self, tenant: &TenantSlug) -> Result<Vec<User>> {
        let (scope, mut users) = (self.scope(tenant).await?, Vec::<User>::new());
        loop {
            let after = users.last().map(|user| user.id);
            let more = scope.users(after, PAGE).await.map_err(Error::store("reading users"))?;
            if more.is_empty() {
                return Ok(users);
            }
            users.extend(more);
        }
    }

    /// The token of a new sign-in link, which opens this tenant.
    pub async fn sign_in_link(&self, tenant: &TenantSlug, email: &str) -> Result<String> {
        let scope = self.scope(tenant).await?;
        let email =
            normal_email(email).ok_or_else(|| Error::invalid("/email", Violation::format("email")))?;
        let user = scope.user_by_email(&email).await.map_err(Error::store("looking for a person"))?;
        people::link(&scope, user.ok_or(Error::NotFound { what: "user" })?.id, &self.by).await
    }

    /// A key owned by the given member, or by the tenant's first admin.
    pub async fn create_key(
        &self,
        tenant: &TenantSlug,
        request: KeyRequest,
        owner: Option<&str>,
    ) -> Result<CreatedKey> {
        let scope = self.scope(tenant).await?;
        let found = match owner.map(normal_email) {
            Some(Some(email)) => scope.user_by_email(&email).await,
            Some(None) => Ok(None),
            None => scope.first_with_role(Role::Admin).await,
        };
        let found = found.map_err(Error::store("looking for the owner of a key"))?;
        let owner = found.ok_or_else(|| Error::Conflict {
            why: "a key needs an owner, and the tenant has no such member: add one with `toolwright users create`"
                .to_owned(),
        })?;
        keys::create(&scope, request, owner.id, &self.by).await
    }

    pub async fn keys(&self, tenant: &TenantSlug) -> Result<Vec<tw_store::ApiKey>> {
        let (scope, mut keys) = (self.scope(tenant).await?, Vec::<tw_store::ApiKey>::new());
        loop {
            let after = keys.last().map(|key| key.id);
            let more = scope.keys(after, PAGE).await.map_err(Error::store("reading keys"))?;
            if more.is_empty() {
                return Ok(keys);
            }
            keys.extend(more);
        }
    }

    /// Revokes by id or by prefix.
    pub async fn revoke_key(&self, name: &str) -> Result<tw_store::ApiKey> {
        let revoke = async |tenant: TenantId, key: KeyId| {
            let revoked = self.store.tenant(tenant).revoke_key(key, &self.by).await;
            revoked.map_err(Error::store("revoking a key"))
        };
        let missing = || Error::NotFound { what: "API key" };
        let Ok(id) = name.parse::<KeyId>() else {
            let found = self.store.find_key(name).await.map_err(Error::store("looking for a key"))?;
            let (tenant, key) = found.ok_or_else(missing)?;
            return revoke(tenant, key).await?.ok_or_else(missing);
        };
        for tenant in self.tenants().await? {
            if let Some(revoked) = revoke(tenant.id, id).await? {
                return Ok(revoked);
            }
        }
        Err(missing())
    }

    /// Switches a tool of the program on or off for every tenant, or leaves it to what its author and each
    /// tenant say. What is off for everybody cannot be switched on by one.
    ///
    /// # Errors
    ///
    /// When the tool is not part of this program: a tenant's own are the tenant's business.
    pub async fn switch_for_everybody(&self, slug: &Slug, enabled: Option<bool>) -> Result<()> {
        if !is_of_the_program(slug) {
            return Err(Error::ToolNotFound { tool: slug.to_string() });
        }
        let everybody = self.store.tenant(TenantId::GLOBAL);
        let stored = everybody.overrides().await.map_err(Error::store("reading overrides"))?;
        let said = stored.into_iter().find(|stored| stored.slug.eq_ignore_ascii_case(slug.as_str()));
        let layer = Override { enabled, ..said.map(|stored| stored.layer).unwrap_or_default() };
        let set = self.store.set_for_everybody(slug, layer, &self.by).await;
        set.map_err(Error::store("switching a tool for everybody"))
    }

    /// Makes the tenant `demo` and its admin, if the database has no tenant yet. Returns the admin's email. What was
    /// interrupted is finished when it is asked for again.
    pub async fn prepare(&self) -> Result<Option<(TenantSlug, String)>> {
        let slug: TenantSlug = "demo".parse().expect("the word is a tenant slug");
        match self.tenants().await?.as_slice() {
            [] => match self.create_tenant(&slug, "Demo").await {
                Ok(_) => {}
                // Another server is making it right now.
                Err(error) if error.code() == Code::Conflict => return Ok(None),
                Err(error) => return Err(error),
            },
            [only] if only.slug == slug && self.users(&slug).await?.is_empty() => {}
            _ => return Ok(None),
        }
        let admin = UserRequest {
            email: "admin@demo.localhost".to_owned(),
            display_name: "Admin".to_owned(),
            role: Role::Admin,
            password: None,
        };
        match self.add_user(&slug, admin).await {
            Ok((user, _)) => Ok(Some((slug, user.email))),
            Err(error) if error.code() == Code::Conflict => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// As [`Operator::prepare`], with a key and a sign-in link for somebody who sees them.
    pub async fn bootstrap(&self) -> Result<Option<FirstRun>> {
        let Some((slug, email)) = self.prepare().await? else { return Ok(None) };
        let request = KeyRequest {
            name: "first key".to_owned(),
            role: Role::Admin,
            acts_as: ActsAs::User,
            agent: None,
            expires: None::<Timestamp>,
        };
        let key = self.create_key(&slug, request, Some(&email)).await?;
        let link = self.sign_in_link(&slug, &email).await?;
        Ok(Some(FirstRun { link, key: key.text }))
    }
}

fn is_of_the_program(slug: &Slug) -> bool {
    let registered = toolwright_sdk::registered().unwrap_or_default();
    let registered = registered.iter().map(|tool| (tool.define)().slug);
    registered.chain([tw_registry::manage_tools().slug]).any(|known| known.key() == slug.key())
}

/// What the first start of a server prints.
#[derive(Debug)]
pub struct FirstRun {
    pub link: String,
    pub key: String,
}
