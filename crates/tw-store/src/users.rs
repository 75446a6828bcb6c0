//! People, and what they are in a tenant. A person exists once, by email; everything else about them, the
//! name and the password too, is what one tenant knows and no other sees.

use serde_json::json;
use tw_model::{Role, Timestamp, UserId};
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

/// A person as a member of one tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub email: String,
    /// As this tenant calls them.
    pub display_name: String,
    /// Whether a password opens this tenant to them.
    pub has_password: bool,
    pub role: Role,
    /// Since when they are a member.
    pub created: Timestamp,
    /// When the membership last changed.
    pub updated: Timestamp,
}

/// A member to be.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// From [`normal_email`].
    pub email: String,
    pub display_name: String,
    pub role: Role,
    /// Kept for a person who belongs to no other tenant, else dropped; see [`Added::Joined`].
    pub password_hash: Option<String>,
}

/// What [`TenantScope::add_user`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// Nobody else has a member with this email.
    Created,
    /// The person belongs to another tenant too. Here they start without a password: with a link.
    Joined,
    /// Nothing was done; the role is what it was.
    AlreadyMember,
}

/// The one spelling of an email address that is stored and looked for; `None` where the text is none.
///
/// Only a letter to it can prove that an address exists, so little is asked: one `@` with something on
/// either side, nothing blank or unprintable, at most 254 bytes.
#[must_use]
pub fn normal_email(text: &str) -> Option<String> {
    const LEN_MAX: usize = 254;
    let email = text.to_lowercase();
    let (name, host) = email.split_once('@')?;
    let strange = |c: char| c.is_whitespace() || c.is_control();
    let fits = email.len() <= LEN_MAX && !name.is_empty() && !host.is_empty();
    (fits && !host.contains('@') && !email.contains(strange)).then_some(email)
}

row! {
    #[derive(Debug)]
    struct UserRow {
        id: Uuid,
        email: String,
        display_name: String,
        has_password: bool,
        role: String,
        created_us: i64,
        updated_us: i64,
    }
}

/// The members of the tenant `$1`; a condition follows.
macro_rules! members {
    ($rest:literal) => {
        concat!(
            "SELECT u.id, u.email, m.display_name, m.password_hash IS NOT NULL AS has_password, m.role,
             m.created_us, m.updated_us
             FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.tenant_id = $1 ",
            $rest
        )
    };
}

const SELECT_ONE: &str = members!("AND m.user_id = $2");

impl TenantScope {
    /// Makes somebody a member, and a person first where nobody has that email.
    pub async fn add_user(&self, new: NewUser, by: &By) -> Result<(User, Added)> {
        const MEMBER: &str = "INSERT INTO memberships
            (tenant_id, user_id, role, created_us, updated_us, created_by, display_name, password_hash)
            VALUES ($1, $2, $3, $4, $4, $5, $6, $7)";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let id = person_in(&mut tx, &new.email).await?;
        if let Some(user) = self.user_in(&mut tx, id).await? {
            return Ok((user, Added::AlreadyMember));
        }
        let (added, password) = match belongs_somewhere(&mut tx, id).await? {
            true => (Added::Joined, None),
            false => (Added::Created, new.password_hash),
        };
        within!(&mut tx, c => sqlx::query(MEMBER)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(new.role.as_str()).bind(now_us()).bind(&by.actor)
            .bind(&new.display_name).bind(password.as_deref()).execute(c).await.map(drop))
        .map_err(Error::doing("adding a member"))?;
        let user = self.user_in(&mut tx, id).await?.ok_or_else(|| Error::Corrupt {
            what: format!("user {id} was just added to tenant {} and is not there", self.tenant),
        })?;
        let after = json!({ "email": user.email, "role": user.role });
        self.audit_in(&mut tx, by, NewAudit::change("member.added", user.object(), None, Some(after)))
            .await?;
        self.commit_bumped(tx).await?;
        Ok((user, added))
    }

    pub async fn user(&self, id: UserId) -> Result<Option<User>> {
        let mut conn = self.read().await?;
        let row: Option<UserRow> = on!(conn, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a member"))?;
        row.map(UserRow::user).transpose()
    }

    /// The member with this [`normal_email`].
    pub async fn user_by_email(&self, email: &str) -> Result<Option<User>> {
        const Q: &str = members!("AND u.email = $2");
        let mut conn = self.read().await?;
        let row: Option<UserRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(email).fetch_optional(c).await)
        .map_err(Error::doing("reading a member"))?;
        row.map(UserRow::user).transpose()
    }

    /// The first member with this role, in the order of their ids.
    pub async fn first_with_role(&self, role: Role) -> Result<Option<User>> {
        const Q: &str = members!("AND m.role = $2 ORDER BY m.user_id LIMIT 1");
        let mut conn = self.read_in_order().await?;
        let row: Option<UserRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(role.as_str()).fetch_optional(c).await)
        .map_err(Error::doing("reading a member"))?;
        row.map(UserRow::user).transpose()
    }

    /// How many members there are, as far as that is counted.
    pub async fn count_users(&self) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        self.count("memberships", &conditions).await
    }

    /// Members after the one given, in the order of their ids.
    pub async fn users(&self, after: Option<UserId>, limit: i64) -> Result<Vec<User>> {
        const Q: &str = members!("AND m.user_id > $2 ORDER BY m.user_id LIMIT $3");
        let after = after.map_or(Uuid::nil(), UserId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<UserRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing members"))?;
        rows.into_iter().map(UserRow::user).collect()
    }

    /// Whether somebody other than `except` is a member with one of these roles.
    pub async fn has_other_member(&self, roles: &[Role], except: UserId) -> Result<bool> {
        // One role after the other: PostgreSQL would look for several among all members.
        const Q: &str =
            "SELECT role FROM memberships WHERE tenant_id = $1 AND role = $2 AND user_id <> $3 LIMIT 1";
        let mut conn = self.read().await?;
        for role in roles {
            let found: Option<String> = on!(conn, c => sqlx::query_scalar(Q)
                .bind(self.tenant.uuid()).bind(role.as_str()).bind(except.uuid()).fetch_optional(c).await)
            .map_err(Error::doing("looking for a member"))?;
            if found.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub async fn role_of(&self, id: UserId) -> Result<Option<Role>> {
        const Q: &str = "SELECT role FROM memberships WHERE tenant_id = $1 AND user_id = $2";
        let mut conn = self.read().await?;
        let role: Option<String> = on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a role"))?;
        role.map(|role| parse_role(&role, id.uuid())).transpose()
    }

    /// Since when somebody is a member, and since when with the role that they have. Whoever lost a role and got it back
    /// has it since then.
    pub async fn role_since(&self, id: UserId) -> Result<Option<(Timestamp, Timestamp)>> {
        const Q: &str = "SELECT created_us, role_us FROM memberships WHERE tenant_id = $1 AND user_id = $2";
        let mut conn = self.read().await?;
        let since: Option<(i64, i64)> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a role"))?;
        Ok(since.map(|(joined, role)| (Timestamp::from_micros(joined), Timestamp::from_micros(role))))
    }

    /// Gives a member another role. The last admin keeps theirs.
    pub async fn set_role(&self, id: UserId, role: Role, by: &By) -> Result<Changed<User>> {
        const Q: &str = "UPDATE memberships SET role = $3, updated_us = $4, role_us = $4 WHERE tenant_id = $1 AND user_id = $2";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(before) = self.user_in(&mut tx, id).await? else { return Ok(Changed::Missing) };
        if before.role == role {
            return Ok(Changed::Done(before));
        }
        self.keep_an_admin(&mut tx, &before).await?;
        let updated = Timestamp::from_micros(now_us().max(before.updated.micros() + 1));
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(role.as_str()).bind(updated.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("changing a role"))?;
        let (was, is) = (json!({ "role": before.role }), json!({ "role": role }));
        let entry = NewAudit::change("member.role_changed", before.object(), Some(was), Some(is));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(User { role, updated, ..before }))
    }

    /// Ends a membership, and with it the member's logins, links and keys here. The person stays.
    /// `false` where there was no such member.
    pub async fn remove_member(&self, id: UserId, by: &By) -> Result<bool> {
        const Q: &str = "DELETE FROM memberships WHERE tenant_id = $1 AND user_id = $2";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(user) = self.user_in(&mut tx, id).await? else { return Ok(false) };
        self.keep_an_admin(&mut tx, &user).await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).execute(c).await.map(drop))
        .map_err(Error::doing("removing a member"))?;
        self.sign_out_everywhere(&mut tx, id).await?;
        self.revoke_keys_of(&mut tx, id, by).await?;
        let before = json!({ "email": user.email, "role": user.role });
        self.audit_in(&mut tx, by, NewAudit::change("member.removed", user.object(), Some(before), None))
            .await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    /// Sets the password that opens this tenant to a member, ends their logins here and voids their links.
    /// `false` where there is no such member, or `before` is not their password any more.
    ///
    /// Who may do so is not asked here.
    pub async fn set_password(&self, id: UserId, before: Option<&str>, hash: &str, by: &By) -> Result<bool> {
        const Q: &str = "UPDATE memberships SET password_hash = $3, updated_us = $4
            WHERE tenant_id = $1 AND user_id = $2";
        let mut tx = self.begin().await?;
        // The epoch's row is the lock: of two who change it at once the second finds it changed.
        self.bump_epoch(&mut tx).await?;
        let Some(user) = self.user_in(&mut tx, id).await? else { return Ok(false) };
        if self.password_in(&mut tx, id).await?.flatten().as_deref() != before {
            return Ok(false);
        }
        let updated = now_us().max(user.updated.micros() + 1);
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(hash).bind(updated).execute(c).await.map(drop))
        .map_err(Error::doing("setting a password"))?;
        self.sign_out_everywhere(&mut tx, id).await?;
        let (was, is) = (json!({ "has_password": user.has_password }), json!({ "has_password": true }));
        let entry = NewAudit::change("user.password_set", user.object(), Some(was), Some(is));
        self.audit_in(&mut tx, by, entry).await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    /// The language that a member chose. `None` also where there is no such member.
    pub async fn language(&self, id: UserId) -> Result<Option<String>> {
        const Q: &str = "SELECT language FROM memberships WHERE tenant_id = $1 AND user_id = $2";
        let mut conn = self.read().await?;
        let language: Option<Option<String>> = on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a language"))?;
        Ok(language.flatten())
    }

    /// Sets the language of a member. `false` where there is no such member. Nobody's rights depend on it, so the
    /// epoch stays.
    pub async fn set_language(&self, id: UserId, language: Option<&str>) -> Result<bool> {
        const Q: &str = "UPDATE memberships SET language = $3 WHERE tenant_id = $1 AND user_id = $2";
        let mut tx = self.begin().await?;
        let changed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(language).execute(c).await
            .map(|done| done.rows_affected()))
        .map_err(Error::doing("setting a language"))?;
        tx.commit().await?;
        Ok(changed == 1)
    }

    /// What a member's password is checked against. `None` also where there is no such member.
    pub async fn password_hash(&self, id: UserId) -> Result<Option<String>> {
        const Q: &str = "SELECT password_hash FROM memberships WHERE tenant_id = $1 AND user_id = $2";
        let mut conn = self.read().await?;
        let hash: Option<Option<String>> = on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a password's hash"))?;
        Ok(hash.flatten())
    }

    /// Whether somebody is a member, and stays one until the transaction ends.
    pub(crate) async fn is_member_in(&self, tx: &mut Tx, id: UserId) -> Result<bool> {
        Ok(self.password_in(tx, id).await?.is_some())
    }

    /// A member's password, which stays as it is until the transaction ends; `None` where there is no such
    /// member.
    pub(crate) async fn password_in(&self, tx: &mut Tx, id: UserId) -> Result<Option<Option<String>>> {
        let sql = match tx {
            Tx::Sqlite(..) => "SELECT password_hash FROM memberships WHERE tenant_id = $1 AND user_id = $2",
            Tx::Pg(_) => {
                "SELECT password_hash FROM memberships WHERE tenant_id = $1 AND user_id = $2 FOR SHARE"
            }
        };
        within!(tx, c => sqlx::query_scalar(sql)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a membership"))
    }

    async fn user_in(&self, tx: &mut Tx, id: UserId) -> Result<Option<User>> {
        let row: Option<UserRow> = within!(tx, c => sqlx::query_as(SELECT_ONE)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a member"))?;
        row.map(UserRow::user).transpose()
    }

    /// Refuses to let the last admin go. The transaction has bumped the epoch, so of two admins who
    /// step down at once the second waits here and finds themselves alone.
    async fn keep_an_admin(&self, tx: &mut Tx, leaving: &User) -> Result<()> {
        const Q: &str =
            "SELECT count(*) FROM memberships WHERE tenant_id = $1 AND role = $2 AND user_id <> $3";
        if leaving.role != Role::Admin {
            return Ok(());
        }
        let others: i64 = within!(tx, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(Role::Admin.as_str()).bind(leaving.id.uuid()).fetch_one(c).await)
        .map_err(Error::doing("counting admins"))?;
        if others == 0 {
            Err(Error::Refused { why: "a tenant must keep at least one admin" })
        } else {
            Ok(())
        }
    }
}

/// Finds the person with this email, or makes them.
async fn person_in(tx: &mut Tx, email: &str) -> Result<UserId> {
    // Names no column to conflict with: that would ask for the right to see the new row, and who is
    // not yet a member of anything is seen by nobody. Their name is each tenant's own.
    const Q: &str = "INSERT INTO users (id, email, display_name, created_us, updated_us)
        VALUES ($1, $2, '', $3, $3) ON CONFLICT DO NOTHING";
    if let Some(id) = find_person(tx, email).await? {
        return Ok(id);
    }
    let id = UserId::new();
    let inserted = within!(tx, c => sqlx::query(Q)
        .bind(id.uuid()).bind(email).bind(now_us()).execute(c).await.map(|done| done.rows_affected()))
    .map_err(Error::doing("creating a person"))?;
    if inserted == 1 {
        return Ok(id);
    }
    // Another tenant has made the same person since we looked.
    find_person(tx, email).await?.ok_or(Error::Taken { what: "email" })
}

/// Whether any tenant has this person as a member. Looks past the fence.
async fn belongs_somewhere(tx: &mut Tx, id: UserId) -> Result<bool> {
    let sql = match tx {
        Tx::Sqlite(..) => "SELECT count(*) FROM memberships WHERE user_id = $1",
        Tx::Pg(_) => "SELECT count(*) FROM tw_memberships_of($1)",
    };
    let count: i64 = within!(tx, c => sqlx::query_scalar(sql).bind(id.uuid()).fetch_one(c).await)
        .map_err(Error::doing("looking for memberships"))?;
    Ok(count != 0)
}

/// Looks past the fence, because a person may be known to other tenants only.
async fn find_person(tx: &mut Tx, email: &str) -> Result<Option<UserId>> {
    let sql = match tx {
        Tx::Sqlite(..) => "SELECT id FROM users WHERE email = $1",
        Tx::Pg(_) => "SELECT id FROM tw_find_user($1)",
    };
    let id: Option<Uuid> = within!(tx, c => sqlx::query_scalar(sql).bind(email).fetch_optional(c).await)
        .map_err(Error::doing("looking for a person"))?;
    Ok(id.map(UserId::from_uuid))
}

fn parse_role(text: &str, user: Uuid) -> Result<Role> {
    text.parse().map_err(|_| Error::Corrupt { what: format!("the role of user {user}") })
}

impl User {
    fn object(&self) -> String {
        format!("user:{}", self.id)
    }
}

impl UserRow {
    fn user(self) -> Result<User> {
        Ok(User {
            id: UserId::from_uuid(self.id),
            role: parse_role(&self.role, self.id)?,
            email: self.email,
            display_name: self.display_name,
            has_password: self.has_password,
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_has_one_spelling() {
        assert_eq!(normal_email("Ada@Example.COM").as_deref(), Some("ada@example.com"));
        assert_eq!(normal_email("ÄDA@example.com").as_deref(), Some("äda@example.com"));
    }

    #[test]
    fn what_no_letter_can_reach_is_no_email() {
        for text in ["", "@", "ada", "ada@", "@example.com", "a@b@c", "a b@c", " ada@b", "ada@b\n", "a\0@b"] {
            assert_eq!(normal_email(text), None, "{text:?}");
        }
        let longest = format!("{}@b", "a".repeat(252));
        assert!(normal_email(&longest).is_some());
        assert_eq!(normal_email(&format!("a{longest}")), None);
    }
}
