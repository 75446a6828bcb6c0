//! Signing in and out, switching tenants, and one's own password.
//!
//! Trust ends at the tenant (ADR 0015). A password, a link and a login each open the tenant they were made
//! in. A person goes from one of their tenants to another only where the password they signed in with is
//! their password in both: nobody else can have vouched for them.

use std::{net::IpAddr, time::Duration};

use tw_base::{Error, Result, by, secrets};
use tw_model::{Actor, Caller, Principal, TenantId, TenantSlug, Timestamp, UserId};
use tw_schema::Violation;
use tw_store::{By, Login, NewAudit, NewLogin, Opens, Tenant, normal_email};

use crate::{
    callers::Freshness,
    callers::Identity,
    passwords::check_length,
    rights::{Permit, Right, SignedIn as AnyCaller},
    throttle::{Try, TryOrigin},
};

/// How long a browser stays signed in.
const LOGIN_LIFE: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How many tenants of a person a password is tried at: each try costs as much as hashing does.
const DOORS_MAX: usize = 8;

/// A browser that has just signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// For the cookie; stored only as a hash.
    pub token: String,
    pub expires: Timestamp,
    pub caller: Caller,
}

/// A tenant that a password of the person opens.
struct Door {
    tenant: TenantId,
    user: UserId,
    hash: String,
}

const WRONG: Error = Error::WrongPassword;

impl Identity {
    /// Signs in by email and password: to the given tenant, or the first that the password opens. `address` is where
    /// the request comes from, by which guesses are counted.
    pub async fn sign_in(
        &self,
        email: &str,
        password: String,
        tenant: Option<&TenantSlug>,
        address: IpAddr,
        request_id: Option<&str>,
    ) -> Result<SignedIn> {
        let email = normal_email(email).ok_or(WRONG)?;
        let tried = self.throttle.attempt(&email, TryOrigin::of_address(address))?;
        let memberships = self.store.find_memberships(&email).await;
        let mut memberships = memberships.map_err(Error::store("looking for a person"))?;
        if let Some(slug) = tenant {
            let asked = self.store.find_tenant(slug).await;
            let asked = asked.map_err(Error::store("looking for a tenant"))?;
            match memberships.iter().position(|(tenant, _)| Some(*tenant) == asked) {
                Some(place) => memberships[..=place].rotate_right(1),
                None => memberships.clear(),
            }
        }
        let only_first = tenant.is_some();
        let opened = self.opened_by(&password, &memberships, only_first).await?;
        let Some(first) = opened.first() else {
            let concerned = if only_first { 1 } else { DOORS_MAX };
            self.note_failure(memberships.into_iter().take(concerned), &tried, request_id);
            return Err(WRONG);
        };
        tried.succeeded();
        let opening = Opening { user: first.user, opens: &opens(&opened), how: "password", expires: None };
        let login = self.open_login(first.tenant, opening, Some(&first.hash), request_id).await?;
        login.ok_or(WRONG)
    }

    /// The memberships that the password opens, in order. Where the first has to be among them and is not,
    /// nobody asks for the rest.
    async fn opened_by(
        &self,
        password: &str,
        memberships: &[(TenantId, UserId)],
        only_first: bool,
    ) -> Result<Vec<Door>> {
        let (mut opened, mut tried) = (Vec::new(), 0);
        for (place, (tenant, user)) in memberships.iter().enumerate() {
            let hash = self.store.tenant(*tenant).password_hash(*user).await;
            let hash = hash.map_err(Error::store("reading a password"))?;
            if let Some(hash) = hash
                && tried < DOORS_MAX
            {
                tried += 1;
                if self.passwords.verify(password.to_owned(), Some(hash.clone())).await {
                    opened.push(Door { tenant: *tenant, user: *user, hash });
                }
            }
            if only_first && place == 0 && opened.is_empty() {
                break;
            }
        }
        if tried == 0 {
            // Whoever has no password anywhere is refused as slowly as somebody who has.
            self.passwords.verify(password.to_owned(), None).await;
        }
        Ok(opened)
    }

    /// Tells the tenants of a person that somebody tried to be them: at the first failure, the tenth, the hundredth
    /// and so on, from wherever, so that guessers cannot fill the log. Does not make the guesser wait, who could tell by it
    /// that the person exists.
    fn note_failure(
        &self,
        memberships: impl Iterator<Item = (TenantId, UserId)>,
        tried: &Try,
        request_id: Option<&str>,
    ) {
        if !is_power_of_ten(tried.number) {
            return;
        }
        let by = By::stranger(request_id);
        for (tenant, user) in memberships {
            let entry = NewAudit {
                action: "login.failed".to_owned(),
                object: format!("user:{user}"),
                before: None,
                after: Some(serde_json::json!({ "tries": tried.number, "shut": tried.is_last })),
                note: None,
            };
            let (scope, by) = (self.store.tenant(tenant), by.clone());
            tokio::spawn(async move {
                if let Err(error) = scope.audit(&by, entry).await {
                    tracing::warn!(%error, "a failed sign-in could not be written to the audit log");
                }
            });
        }
    }

    /// Signs in by a one-time link, to the tenant it was made in. The link is used up by this, and by
    /// nothing else.
    pub async fn sign_in_by_link(&self, token: &str, request_id: Option<&str>) -> Result<SignedIn> {
        const GONE: Error = Error::LinkUsed;
        let link = secrets::hash(token);
        let found = self.store.find_link(&link).await.map_err(Error::store("looking for a link"))?;
        let (tenant, user) = found.ok_or(GONE)?;
        let (token, hash) = secrets::token();
        let opens = Opens::new();
        let expires = Timestamp::now().plus(LOGIN_LIFE);
        let new = NewLogin { user, token_hash: &hash, expires, opens: &opens, how: "link" };
        let scope = self.store.tenant(tenant);
        let used = scope.use_link(&link, Timestamp::now(), new, &by_user(user, request_id)).await;
        used.map_err(Error::store("using a link"))?.ok_or(GONE)?;
        self.signed_in(token, expires).await
    }

    /// `None` where the person is no member, or `password` not their password's hash any more.
    async fn open_login(
        &self,
        tenant: TenantId,
        opening: Opening<'_>,
        password: Option<&str>,
        request_id: Option<&str>,
    ) -> Result<Option<SignedIn>> {
        // A new token with every sign-in: one that was planted before is worth nothing after.
        let (token, hash) = secrets::token();
        let Opening { user, opens, how, expires } = opening;
        let expires = expires.unwrap_or_else(|| Timestamp::now().plus(LOGIN_LIFE));
        let new = NewLogin { user, token_hash: &hash, expires, opens, how };
        let scope = self.store.tenant(tenant);
        let made = scope.create_login(new, password, &by_user(user, request_id)).await;
        match made.map_err(Error::store("signing in"))? {
            Some(_) => self.signed_in(token, expires).await.map(Some),
            None => Ok(None),
        }
    }

    async fn signed_in(&self, token: String, expires: Timestamp) -> Result<SignedIn> {
        let caller = self.by_login(&token, Freshness::Now).await?;
        Ok(SignedIn { token, expires, caller })
    }

    /// Ends the login the request came with.
    pub async fn sign_out(&self, permit: &Permit<AnyCaller>, request_id: Option<&str>) -> Result<()> {
        self.end_login(permit.caller(), "sign_out", request_id).await
    }

    async fn end_login(&self, caller: &Caller, how: &'static str, request_id: Option<&str>) -> Result<()> {
        if let Some(login) = caller.login {
            let scope = self.store.tenant(caller.tenant);
            let ended = scope.end_login(login, how, &by(caller, request_id)).await;
            ended.map_err(Error::store("signing out"))?;
            self.epochs.ask(caller.tenant).await?;
        }
        Ok(())
    }

    /// The caller's tenant, and those a signed-in person can switch to.
    pub async fn my_tenants<R: Right>(&self, permit: &Permit<R>) -> Result<Vec<Tenant>> {
        let caller = permit.caller();
        let mut tenants = Vec::new();
        for id in self.reachable(caller).await? {
            let tenant = self.store.tenant(id).tenant().await.map_err(Error::store("reading a tenant"))?;
            tenants.extend(tenant);
        }
        Ok(tenants)
    }

    async fn reachable(&self, caller: &Caller) -> Result<Vec<TenantId>> {
        // A key is for one tenant, whoever made it.
        let Some(login) = self.login_of(caller).await? else { return Ok(vec![caller.tenant]) };
        let memberships = self.store.memberships_of(login.user).await;
        let mut reachable = Vec::new();
        for tenant in memberships.map_err(Error::store("reading memberships"))? {
            if tenant == caller.tenant || self.still_opens(&login, tenant).await?.is_some() {
                reachable.push(tenant);
            }
        }
        Ok(reachable)
    }

    async fn login_of(&self, caller: &Caller) -> Result<Option<Login>> {
        let Some(login) = caller.login else { return Ok(None) };
        let login = self.store.tenant(caller.tenant).login(login).await;
        login.map_err(Error::store("reading a login"))
    }

    /// The hash of the person's password in a tenant, if it is still the one that the login was opened with.
    async fn still_opens(&self, login: &Login, tenant: TenantId) -> Result<Option<String>> {
        let Some(opened) = login.opens.get(&tenant) else { return Ok(None) };
        let hash = self.store.tenant(tenant).password_hash(login.user).await;
        let hash = hash.map_err(Error::store("reading a password"))?;
        Ok(hash.filter(|hash| mark(hash) == *opened))
    }

    /// Signs a person who is signed in already in to another of their tenants: one that the password of
    /// this login opens as well. To the others there is no way from here, and no word about them.
    pub async fn switch_tenant(
        &self,
        permit: &Permit<AnyCaller>,
        slug: &TenantSlug,
        request_id: Option<&str>,
    ) -> Result<SignedIn> {
        let caller = permit.caller();
        let nowhere = || Error::NotFound { what: "tenant" };
        let login = self.login_of(caller).await?.ok_or_else(|| Error::NotPermitted {
            why: "a key belongs to one tenant; sign in to switch".to_owned(),
        })?;
        let tenant = self.store.find_tenant(slug).await.map_err(Error::store("looking for a tenant"))?;
        let tenant = tenant.ok_or_else(nowhere)?;
        let password = self.still_opens(&login, tenant).await?;
        if password.is_none() && tenant != caller.tenant {
            return Err(nowhere());
        }
        // Going back and forth does not make the sign-in last longer.
        let opening =
            Opening { user: login.user, opens: &login.opens, how: "switch", expires: Some(login.expires) };
        let switched = self.open_login(tenant, opening, password.as_deref(), request_id).await?;
        let switched = switched.ok_or_else(nowhere)?;
        self.end_login(caller, "switch", request_id).await?;
        Ok(switched)
    }

    /// Changes one's own password, here and in those tenants that the present one opens too. Every login
    /// of the person ends there, and a new one is opened here.
    pub async fn change_password(
        &self,
        permit: &Permit<AnyCaller>,
        current: Option<String>,
        new: String,
        request_id: Option<&str>,
    ) -> Result<SignedIn> {
        let caller = permit.caller();
        let login = caller.login.ok_or_else(|| Error::NotPermitted {
            why: "only the signed-in owner can change a password; a key cannot".to_owned(),
        })?;
        let scope = self.store.tenant(caller.tenant);
        let user = caller.principal.owner();
        let before = scope.password_hash(user).await.map_err(Error::store("reading a password"))?;
        let current = current.unwrap_or_default();
        check_length(&new)?;
        let turn = self.passwords.turn(caller.tenant).await?;
        if before.is_some() {
            // Whoever found an open browser must not be able to guess at leisure.
            let tried = self.throttle.attempt(&format!("user:{user}"), TryOrigin::Login(login))?;
            if !self.passwords.verify(current.clone(), before.clone()).await {
                return Err(Error::invalid("/current_password", Violation::wrong()));
            }
            tried.succeeded();
        }
        let hash = self.passwords.hash(new, &turn).await?;
        let doors = if before.is_some() { self.other_doors(caller, &current).await? } else { Vec::new() };
        drop(turn);
        let mut opens = Opens::from([(caller.tenant, mark(&hash))]);
        // Its own tenant last: if this breaks off, the person can do it again.
        for door in doors {
            if self.set_password(caller, &door, &hash, request_id).await? {
                opens.insert(door.tenant, mark(&hash));
            }
        }
        let set = scope.set_password(user, before.as_deref(), &hash, &by(caller, request_id)).await;
        let changed =
            || Error::Conflict { why: "the password was changed by another request; try again".to_owned() };
        if !set.map_err(Error::store("setting a password"))? {
            return Err(changed());
        }
        self.epochs.ask(caller.tenant).await?;
        let opening = Opening { user, opens: &opens, how: "password_change", expires: None };
        let login = self.open_login(caller.tenant, opening, Some(&hash), request_id).await?;
        login.ok_or_else(changed)
    }

    /// The other tenants of the caller that the password opens.
    async fn other_doors(&self, caller: &Caller, password: &str) -> Result<Vec<Door>> {
        let user = caller.principal.owner();
        let memberships = self.store.memberships_of(user).await;
        let memberships = memberships.map_err(Error::store("reading memberships"))?;
        let others: Vec<_> =
            memberships.into_iter().filter(|id| *id != caller.tenant).map(|id| (id, user)).collect();
        if others.is_empty() { Ok(Vec::new()) } else { self.opened_by(password, &others, false).await }
    }

    async fn set_password(
        &self,
        caller: &Caller,
        door: &Door,
        hash: &str,
        request_id: Option<&str>,
    ) -> Result<bool> {
        let scope = self.store.tenant(door.tenant);
        let set = scope.set_password(door.user, Some(&door.hash), hash, &by(caller, request_id)).await;
        let set = set.map_err(Error::store("setting a password"))?;
        self.epochs.ask(door.tenant).await?;
        Ok(set)
    }
}

/// A login about to be opened.
struct Opening<'a> {
    user: UserId,
    opens: &'a Opens,
    how: &'static str,
    /// A fortnight from now without it.
    expires: Option<Timestamp>,
}

fn is_power_of_ten(number: u32) -> bool {
    0 < number && 10_u32.pow(number.ilog10()) == number
}

fn opens(doors: &[Door]) -> Opens {
    doors.iter().map(|door| (door.tenant, mark(&door.hash))).collect()
}

/// By what a password's hash is known again. The hash has a salt of its own, so no two are alike.
fn mark(hash: &str) -> String {
    secrets::hash(hash)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A person who is about to be signed in, for the audit log.
fn by_user(user: UserId, request_id: Option<&str>) -> By {
    let actor = Actor { principal: Principal::User { id: user }, key: None };
    By {
        actor: serde_json::to_string(&actor).expect("an actor is plain JSON"),
        request_id: request_id.map(str::to_owned),
    }
}
