//! People: members of a tenant, and signing in.

use std::time::Duration;

use tw_model::{Caller, Role, TenantId, TenantSlug, Timestamp, UserId};
use tw_store::{Added, By, Changed, NewAudit, NewUser, Tenant, TenantScope, User, normal_email};

use super::{by, passwords};
use crate::{
    Engine,
    error::{Error, Result},
    identity::Freshness,
    page::{Page, PageRequest},
    rights::{Permit, ReadMembers, Right, SignedIn as AnyCaller, WriteMembers},
    secrets,
};

/// How long a browser stays signed in.
const LOGIN_LIFE: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How long a sign-in link may be used.
pub(super) const LINK_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

const NAME_MAX: usize = 200;

/// A person to be added to a tenant.
#[derive(Debug)]
pub struct UserRequest {
    pub email: String,
    pub display_name: String,
    pub role: Role,
    pub password: Option<String>,
}

/// A browser that has just signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// For the cookie; stored only as a hash.
    pub token: String,
    pub expires: Timestamp,
    pub caller: Caller,
}

const WRONG: Error = Error::Unauthenticated { why: "the email or the password is wrong" };

impl Engine {
    /// Signs in by email and password, to the given tenant or the person's first.
    pub async fn sign_in(
        &self,
        email: &str,
        password: String,
        tenant: Option<&TenantSlug>,
    ) -> Result<SignedIn> {
        let email = normal_email(email).ok_or(WRONG)?;
        self.inner.throttle.attempt(&email)?;
        let memberships = self.inner.store.find_memberships(&email).await;
        let memberships = memberships.map_err(Error::store("looking for a person"))?;
        let wanted = match tenant {
            Some(slug) => {
                self.inner.store.find_tenant(slug).await.map_err(Error::store("looking for a tenant"))?
            }
            None => memberships.first().map(|(tenant, _)| *tenant),
        };
        let member = memberships.into_iter().find(|(tenant, _)| Some(*tenant) == wanted);
        let hash = match member {
            Some((tenant, user)) => {
                let hash = self.inner.store.tenant(tenant).password_hash(user).await;
                hash.map_err(Error::store("reading a password"))?
            }
            None => None,
        };
        let right = self.inner.throttle.verify(password, hash).await;
        match member {
            Some((tenant, user)) if right => {
                self.inner.throttle.succeeded(&email);
                self.open_login(tenant, user).await
            }
            _ => Err(WRONG),
        }
    }

    /// Signs in by a one-time link. The link is used up by this, and by nothing else.
    pub async fn sign_in_by_link(&self, token: &str) -> Result<SignedIn> {
        const GONE: Error = Error::Unauthenticated { why: "the sign-in link has been used or has expired" };
        let hash = secrets::hash(token);
        let found = self.inner.store.find_link(&hash).await.map_err(Error::store("looking for a link"))?;
        let (tenant, _) = found.ok_or(GONE)?;
        let used = self.inner.store.tenant(tenant).use_link(&hash, Timestamp::now()).await;
        let user = used.map_err(Error::store("using a link"))?.ok_or(GONE)?;
        self.open_login(tenant, user).await
    }

    async fn open_login(&self, tenant: TenantId, user: UserId) -> Result<SignedIn> {
        // A new token with every sign-in: one that was planted before is worth nothing after.
        let (token, hash) = secrets::token();
        let expires = Timestamp::now().plus(LOGIN_LIFE);
        let scope = self.inner.store.tenant(tenant);
        scope.create_login(user, &hash, expires).await.map_err(Error::store("signing in"))?;
        let caller = self.inner.identity.by_login(&token, Freshness::Now).await?;
        Ok(SignedIn { token, expires, caller })
    }

    /// Ends the login the request came with.
    pub async fn sign_out(&self, permit: &Permit<AnyCaller>) -> Result<()> {
        let caller = permit.caller();
        if let Some(login) = caller.login {
            let scope = self.inner.store.tenant(caller.tenant);
            scope.end_login(login).await.map_err(Error::store("signing out"))?;
            self.inner.identity.epochs.ask(caller.tenant).await?;
        }
        Ok(())
    }

    /// The tenants a signed-in person belongs to.
    pub async fn my_tenants<R: Right>(&self, permit: &Permit<R>) -> Result<Vec<Tenant>> {
        let caller = permit.caller();
        // A key is for one tenant, whoever made it.
        let ids = match caller.login {
            Some(_) => self.inner.store.memberships_of(caller.principal.owner()).await,
            None => Ok(vec![caller.tenant]),
        };
        let mut tenants = Vec::new();
        for id in ids.map_err(Error::store("reading memberships"))? {
            let tenant =
                self.inner.store.tenant(id).tenant().await.map_err(Error::store("reading a tenant"))?;
            tenants.extend(tenant);
        }
        Ok(tenants)
    }

    /// Signs a person who is signed in already in to another of their tenants.
    pub async fn switch_tenant(&self, permit: &Permit<AnyCaller>, slug: &TenantSlug) -> Result<SignedIn> {
        let caller = permit.caller();
        let nowhere = || Error::NotFound { what: "tenant" };
        if caller.login.is_none() {
            return Err(Error::NotPermitted {
                why: "a key belongs to one tenant; sign in to switch".to_owned(),
            });
        }
        let tenant =
            self.inner.store.find_tenant(slug).await.map_err(Error::store("looking for a tenant"))?;
        let tenant = tenant.ok_or_else(nowhere)?;
        let user = caller.principal.owner();
        let role = self.inner.store.tenant(tenant).role_of(user).await;
        role.map_err(Error::store("reading a membership"))?.ok_or_else(nowhere)?;
        self.sign_out(permit).await?;
        self.open_login(tenant, user).await
    }

    /// Changes one's own password. Every login of the person ends, in every tenant, and a new one is
    /// opened here.
    pub async fn change_password(
        &self,
        permit: &Permit<AnyCaller>,
        current: Option<String>,
        new: String,
        request_id: Option<&str>,
    ) -> Result<SignedIn> {
        let caller = permit.caller();
        if caller.login.is_none() {
            return Err(Error::NotPermitted {
                why: "a password is changed by its owner, signed in".to_owned(),
            });
        }
        let scope = self.inner.store.tenant(caller.tenant);
        let user = caller.principal.owner();
        let hash = scope.password_hash(user).await.map_err(Error::store("reading a password"))?;
        if hash.is_some() {
            // Whoever found an open browser must not be able to guess at leisure.
            let guesser = format!("user:{user}");
            self.inner.throttle.attempt(&guesser)?;
            if !self.inner.throttle.verify(current.unwrap_or_default(), hash).await {
                return Err(Error::invalid("/current_password", "is wrong"));
            }
            self.inner.throttle.succeeded(&guesser);
        }
        let hash = self.inner.throttle.hash(new).await?;
        scope
            .set_password(user, &hash, &by(caller, request_id))
            .await
            .map_err(Error::store("setting a password"))?;
        let tenants =
            self.inner.store.memberships_of(user).await.map_err(Error::store("reading memberships"))?;
        for elsewhere in tenants.into_iter().filter(|tenant| *tenant != caller.tenant) {
            let scope = self.inner.store.tenant(elsewhere);
            scope.end_logins_of(user).await.map_err(Error::store("ending logins"))?;
            self.inner.identity.epochs.ask(elsewhere).await?;
        }
        self.inner.identity.epochs.ask(caller.tenant).await?;
        self.open_login(caller.tenant, user).await
    }

    pub async fn add_user(
        &self,
        permit: &Permit<WriteMembers>,
        request: UserRequest,
        request_id: Option<&str>,
    ) -> Result<(User, Added)> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let added = add(&scope, request, &by(caller, request_id)).await?;
        self.inner.identity.epochs.ask(caller.tenant).await?;
        Ok(added)
    }

    /// A sign-in link for a member, to be sent by whoever asked for it.
    ///
    /// Not for somebody who belongs to other tenants too: the login it opens can be switched to those, and
    /// an admin here has no say there.
    pub async fn invite(
        &self,
        permit: &Permit<WriteMembers>,
        user: UserId,
        request_id: Option<&str>,
    ) -> Result<String> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let known = scope.user(user).await.map_err(Error::store("reading a user"))?;
        known.ok_or(Error::NotFound { what: "user" })?;
        let tenants =
            self.inner.store.memberships_of(user).await.map_err(Error::store("reading memberships"))?;
        if tenants != [caller.tenant] {
            let why = "the person belongs to other tenants too, so only an operator can make a link for them";
            return Err(Error::Conflict { why: why.to_owned() });
        }
        let made = NewAudit {
            action: "user.link_made".to_owned(),
            object: format!("user:{user}"),
            before: None,
            after: None,
            note: None,
        };
        scope.audit(&by(caller, request_id), made).await.map_err(Error::store("writing the audit log"))?;
        link(&scope, user).await
    }

    pub async fn users(&self, permit: &Permit<ReadMembers>, page: &PageRequest) -> Result<Page<User>> {
        let caller = permit.caller();
        let place = format!("users/{}/{}", caller.tenant, caller.principal.label());
        let after = self.open_cursor(&place, page)?.map(UserId::from_uuid);
        let rows = self.inner.store.tenant(caller.tenant).users(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading users"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        Ok(self.page(rows, page, &place, None, |user| user.id.uuid()))
    }

    pub async fn user(&self, permit: &Permit<ReadMembers>, id: UserId) -> Result<User> {
        let user = self.inner.store.tenant(permit.caller().tenant).user(id).await;
        user.map_err(Error::store("reading a user"))?.ok_or(Error::NotFound { what: "user" })
    }

    pub async fn set_role(
        &self,
        permit: &Permit<WriteMembers>,
        id: UserId,
        role: Role,
        request_id: Option<&str>,
    ) -> Result<User> {
        let caller = permit.caller();
        check_role(role)?;
        let changed =
            self.inner.store.tenant(caller.tenant).set_role(id, role, &by(caller, request_id)).await;
        let user = match changed.map_err(Error::store("changing a role"))? {
            Changed::Done(user) | Changed::Stale(user) => user,
            Changed::Missing => return Err(Error::NotFound { what: "user" }),
        };
        self.inner.identity.epochs.ask(caller.tenant).await?;
        Ok(user)
    }

    pub async fn remove_user(
        &self,
        permit: &Permit<WriteMembers>,
        id: UserId,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let removed = self.inner.store.tenant(caller.tenant).remove_member(id, &by(caller, request_id)).await;
        let removed = removed.map_err(Error::store("removing a member"))?;
        self.inner.identity.epochs.ask(caller.tenant).await?;
        if removed { Ok(()) } else { Err(Error::NotFound { what: "user" }) }
    }
}

/// Adds a person to a tenant: what the route and the operator's command share.
pub(super) async fn add(scope: &TenantScope, request: UserRequest, by: &By) -> Result<(User, Added)> {
    let email =
        normal_email(&request.email).ok_or_else(|| Error::invalid("/email", "is not an email address"))?;
    let name = request.display_name.trim();
    if name.is_empty() || NAME_MAX < name.len() || name.contains(char::is_control) {
        let message = format!("has 1 to {NAME_MAX} bytes and no control characters");
        return Err(Error::invalid("/display_name", message));
    }
    check_role(request.role)?;
    let password_hash = match request.password {
        Some(password) => Some(passwords::hash(password).await?),
        None => None,
    };
    let new = NewUser { email, display_name: name.to_owned(), role: request.role, password_hash };
    scope.add_user(new, by).await.map_err(Error::store("adding a user"))
}

fn check_role(role: Role) -> Result<()> {
    if role == Role::Agent {
        return Err(Error::invalid("/role", "`agent` is a role for keys, not for people"));
    }
    Ok(())
}

/// Makes a sign-in link's token.
pub(super) async fn link(scope: &TenantScope, user: UserId) -> Result<String> {
    let (token, hash) = secrets::token();
    let expires = Timestamp::now().plus(LINK_LIFE);
    scope.create_link(user, &hash, expires).await.map_err(Error::store("making a sign-in link"))?;
    Ok(token)
}
