//! API keys of a tenant.

use tw_base::{Error, Page, PageRequest, Result, by, name_violation};
use tw_exec::slug_violation;
use tw_model::{ActsAs, KeyId, Role, TenantSlug, Timestamp, UserId, check_name};
use tw_schema::Violation;
use tw_store::{ApiKey, By, NewKey, TenantScope};

use crate::{
    callers::{self, Identity},
    rights::{Permit, ReadKeys, WriteKeys},
};

/// A key somebody wants.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    pub name: String,
    pub role: Role,
    pub acts_as: ActsAs,
    /// The agent the key stands for, where it acts as one.
    pub agent: Option<String>,
    pub expires: Option<Timestamp>,
}

/// A new key, with its text. The text is nowhere else and is never shown again.
#[derive(Debug)]
pub struct CreatedKey {
    pub key: ApiKey,
    pub text: String,
}

impl Identity {
    pub async fn create_key(
        &self,
        permit: &Permit<WriteKeys>,
        request: KeyRequest,
        request_id: Option<&str>,
    ) -> Result<CreatedKey> {
        let caller = permit.caller();
        let held = request.role.permissions().intersect(&caller.permissions);
        if held != request.role.permissions() {
            let why = format!(
                "a key must not have more rights than its creator: the role `{}` has more",
                request.role
            );
            return Err(Error::NotPermitted { why });
        }
        let scope = self.store.tenant(caller.tenant);
        let created = create(&scope, request, caller.principal.owner(), &by(caller, request_id)).await?;
        self.epochs.ask(caller.tenant).await?;
        Ok(created)
    }

    pub async fn keys(&self, permit: &Permit<ReadKeys>, page: &PageRequest) -> Result<Page<ApiKey>> {
        let caller = permit.caller();
        let place = format!("keys/{}/{}", caller.tenant, caller.principal.label());
        let after = self.secrets.open_cursor(&place, page)?.map(KeyId::from_uuid);
        let rows = self.store.tenant(caller.tenant).keys(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading keys"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total =
            self.store.tenant(caller.tenant).count_keys().await.map_err(Error::store("counting keys"))?;
        Ok(self.secrets.page(rows, page, &place, total, |key| key.id.uuid()))
    }

    /// Revokes a key at once: no call that starts after this has been answered is let through with it.
    pub async fn revoke_key(
        &self,
        permit: &Permit<WriteKeys>,
        id: KeyId,
        request_id: Option<&str>,
    ) -> Result<ApiKey> {
        let caller = permit.caller();
        let revoked = self.store.tenant(caller.tenant).revoke_key(id, &by(caller, request_id)).await;
        let revoked =
            revoked.map_err(Error::store("revoking a key"))?.ok_or(Error::NotFound { what: "API key" })?;
        self.epochs.ask(caller.tenant).await?;
        Ok(revoked)
    }
}

/// Makes a key for a tenant: what the route and the operator's command share.
pub async fn create(scope: &TenantScope, request: KeyRequest, owner: UserId, by: &By) -> Result<CreatedKey> {
    let name = request.name.trim();
    check_name(name).map_err(|error| Error::invalid("/name", name_violation(&error)))?;
    let agent = match (request.acts_as, request.agent) {
        (ActsAs::User, Some(_)) => {
            return Err(Error::invalid("/agent", Violation::only_with("acts_as: agent")));
        }
        (ActsAs::User, None) => None,
        (ActsAs::Agent, agent) => {
            let agent = agent.unwrap_or_else(|| "default".to_owned());
            agent.parse::<TenantSlug>().map_err(|error| Error::invalid("/agent", slug_violation(&error)))?;
            Some(agent)
        }
    };
    if request.expires.is_some_and(|expires| expires <= Timestamp::now()) {
        return Err(Error::invalid("/expires_at", Violation::future()));
    }
    let (text, prefix, hash) = callers::new_key();
    let new = NewKey {
        name: name.to_owned(),
        prefix,
        hash,
        role: request.role,
        acts_as: request.acts_as,
        agent,
        owner,
        expires: request.expires,
    };
    let key = scope.create_key(new, by).await.map_err(Error::store("creating a key"))?;
    Ok(CreatedKey { key, text })
}
