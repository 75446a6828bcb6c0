//! People: the members of a tenant.

use std::time::Duration;

use tw_base::{Error, Page, PageRequest, Result, by, name_violation, secrets};
use tw_model::{Language, Role, Timestamp, UserId, check_name};
use tw_schema::Violation;
use tw_store::{Added, By, Changed, NewUser, TenantScope, User, normal_email};

use crate::{
    callers::Identity,
    passwords::{Passwords, check_length},
    rights::{Permit, Person, ReadMembers, Right, WriteMembers},
};

/// How long a sign-in link may be used.
const LINK_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// A person to be added to a tenant.
#[derive(Debug)]
pub struct UserRequest {
    pub email: String,
    pub display_name: String,
    pub role: Role,
    pub password: Option<String>,
}

impl Identity {
    pub async fn add_user(
        &self,
        permit: &Permit<WriteMembers>,
        request: UserRequest,
        request_id: Option<&str>,
    ) -> Result<User> {
        let caller = permit.caller();
        let scope = self.store.tenant(caller.tenant);
        let (user, added) = add(&scope, request, &self.passwords, &by(caller, request_id)).await?;
        if added == Added::AlreadyMember {
            return Err(Error::Conflict { why: format!("{} is a member already", user.email) });
        }
        self.epochs.ask(caller.tenant).await?;
        Ok(user)
    }

    /// A sign-in link for a member, to be sent by whoever asked for it. It opens this tenant and no other,
    /// wherever else the person belongs.
    pub async fn invite(
        &self,
        permit: &Permit<WriteMembers>,
        user: UserId,
        request_id: Option<&str>,
    ) -> Result<String> {
        let caller = permit.caller();
        let scope = self.store.tenant(caller.tenant);
        let known = scope.user(user).await.map_err(Error::store("reading a user"))?;
        known.ok_or(Error::NotFound { what: "user" })?;
        link(&scope, user, &by(caller, request_id)).await
    }

    pub async fn users(&self, permit: &Permit<ReadMembers>, page: &PageRequest) -> Result<Page<User>> {
        let caller = permit.caller();
        let place = format!("users/{}/{}", caller.tenant, caller.principal.label());
        let after = self.secrets.open_cursor(&place, page)?.map(UserId::from_uuid);
        let rows = self.store.tenant(caller.tenant).users(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading users"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total =
            self.store.tenant(caller.tenant).count_users().await.map_err(Error::store("counting users"))?;
        Ok(self.secrets.page(rows, page, &place, total, |user| user.id.uuid()))
    }

    pub async fn user(&self, permit: &Permit<ReadMembers>, id: UserId) -> Result<User> {
        let user = self.store.tenant(permit.caller().tenant).user(id).await;
        user.map_err(Error::store("reading a user"))?.ok_or(Error::NotFound { what: "user" })
    }

    /// The language that the caller chose here. An agent reads what authors wrote, whatever its owner chose.
    pub async fn my_language<R: Right>(&self, permit: &Permit<R>) -> Result<Option<Language>> {
        let caller = permit.caller();
        if caller.principal.is_agent() {
            return Ok(None);
        }
        let language = self.store.tenant(caller.tenant).language(caller.principal.owner()).await;
        let language = language.map_err(Error::store("reading a language"))?;
        Ok(language.as_deref().and_then(Language::parse))
    }

    /// Chooses the caller's language here; `None` leaves it to the browser.
    pub async fn set_my_language(&self, permit: &Permit<Person>, language: Option<Language>) -> Result<()> {
        let caller = permit.caller();
        let scope = self.store.tenant(caller.tenant);
        let done = scope.set_language(caller.principal.owner(), language.map(Language::as_str)).await;
        let done = done.map_err(Error::store("setting a language"))?;
        if done { Ok(()) } else { Err(Error::NotFound { what: "user" }) }
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
        let changed = self.store.tenant(caller.tenant).set_role(id, role, &by(caller, request_id)).await;
        let user = match changed.map_err(Error::store("changing a role"))? {
            Changed::Done(user) | Changed::Stale(user) => user,
            Changed::Missing => return Err(Error::NotFound { what: "user" }),
        };
        self.epochs.ask(caller.tenant).await?;
        Ok(user)
    }

    pub async fn remove_user(
        &self,
        permit: &Permit<WriteMembers>,
        id: UserId,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let removed = self.store.tenant(caller.tenant).remove_member(id, &by(caller, request_id)).await;
        let removed = removed.map_err(Error::store("removing a member"))?;
        self.epochs.ask(caller.tenant).await?;
        if removed { Ok(()) } else { Err(Error::NotFound { what: "user" }) }
    }
}

/// Adds a person to a tenant: what the route and the operator's command share.
pub async fn add(
    scope: &TenantScope,
    request: UserRequest,
    passwords: &Passwords,
    by: &By,
) -> Result<(User, Added)> {
    let email =
        normal_email(&request.email).ok_or_else(|| Error::invalid("/email", Violation::format("email")))?;
    let name = request.display_name.trim();
    check_name(name).map_err(|error| Error::invalid("/display_name", name_violation(&error)))?;
    check_role(request.role)?;
    request.password.as_deref().map(check_length).transpose()?;
    // Whoever is a member already costs no hash.
    let known = scope.user_by_email(&email).await.map_err(Error::store("reading a user"))?;
    if let Some(user) = known {
        return Ok((user, Added::AlreadyMember));
    }
    let password_hash = match request.password {
        Some(password) => {
            let turn = passwords.turn(scope.id()).await?;
            Some(passwords.hash(password, &turn).await?)
        }
        None => None,
    };
    let new = NewUser { email, display_name: name.to_owned(), role: request.role, password_hash };
    scope.add_user(new, by).await.map_err(Error::store("adding a user"))
}

fn check_role(role: Role) -> Result<()> {
    if role == Role::Agent {
        return Err(Error::invalid("/role", Violation::role_of_keys()));
    }
    Ok(())
}

/// Makes a sign-in link's token.
pub async fn link(scope: &TenantScope, user: UserId, by: &By) -> Result<String> {
    let (token, hash) = secrets::token();
    let expires = Timestamp::now().plus(LINK_LIFE);
    scope.create_link(user, &hash, expires, by).await.map_err(Error::store("making a sign-in link"))?;
    Ok(token)
}
