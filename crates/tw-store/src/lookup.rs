//! What has to be found before a tenant is known. Ids come back, and nothing else: what is behind an id
//! is read through its tenant's scope.

use sqlx::{Encode, Postgres, Sqlite, Type};
use tw_model::{KeyId, LoginId, TenantId, TenantSlug, UserId};
use uuid::Uuid;

use crate::{
    db::{Conn, on},
    error::{Error, Result},
    scope::Store,
};

/// One question in two wordings, each answered with `tenant_id` and `id`. On PostgreSQL a function of
/// the schema's owner looks past the fence.
struct Find {
    sqlite: &'static str,
    postgres: &'static str,
    doing: &'static str,
}

const KEY: Find = Find {
    sqlite: "SELECT tenant_id, id FROM api_keys WHERE prefix = $1",
    postgres: "SELECT tenant_id, id FROM tw_find_key($1)",
    doing: "looking for a key",
};
const LOGIN: Find = Find {
    sqlite: "SELECT tenant_id, id FROM logins WHERE token_hash = $1",
    postgres: "SELECT tenant_id, id FROM tw_find_login($1)",
    doing: "looking for a login",
};
const LINK: Find = Find {
    sqlite: "SELECT tenant_id, user_id FROM sign_in_links WHERE token_hash = $1",
    postgres: "SELECT tenant_id, id FROM tw_find_link($1)",
    doing: "looking for a sign-in link",
};
const TENANT: Find = Find {
    sqlite: "SELECT id, id FROM tenants WHERE slug = $1",
    postgres: "SELECT tenant_id, id FROM tw_find_tenant($1)",
    doing: "looking for a tenant",
};
const MEMBERSHIPS: Find = Find {
    sqlite: "SELECT m.tenant_id, u.id FROM users u JOIN memberships m ON m.user_id = u.id WHERE u.email = $1
        ORDER BY m.created_us, m.tenant_id",
    postgres: "SELECT tenant_id, id FROM tw_find_memberships($1)",
    doing: "looking for memberships",
};
const MEMBERSHIPS_OF: Find = Find {
    sqlite: "SELECT tenant_id, user_id FROM memberships WHERE user_id = $1 ORDER BY created_us, tenant_id",
    postgres: "SELECT tenant_id, id FROM tw_memberships_of($1)",
    doing: "looking for memberships",
};

impl Store {
    /// The key with this prefix, also when it is revoked or has run out.
    pub async fn find_key(&self, prefix: &str) -> Result<Option<(TenantId, KeyId)>> {
        let found = self.find(&KEY, prefix).await?.into_iter().next();
        Ok(found.map(|(tenant, id)| (tenant, KeyId::from_uuid(id))))
    }

    /// The login with this token, also when it has ended or run out.
    pub async fn find_login(&self, token_hash: &[u8; 32]) -> Result<Option<(TenantId, LoginId)>> {
        let found = self.find(&LOGIN, &token_hash[..]).await?.into_iter().next();
        Ok(found.map(|(tenant, id)| (tenant, LoginId::from_uuid(id))))
    }

    /// Whom a sign-in link is for, also when it was used or has run out.
    pub async fn find_link(&self, token_hash: &[u8; 32]) -> Result<Option<(TenantId, UserId)>> {
        let found = self.find(&LINK, &token_hash[..]).await?.into_iter().next();
        Ok(found.map(|(tenant, id)| (tenant, UserId::from_uuid(id))))
    }

    pub async fn find_tenant(&self, slug: &TenantSlug) -> Result<Option<TenantId>> {
        Ok(self.find(&TENANT, slug.as_str()).await?.into_iter().next().map(|(tenant, _)| tenant))
    }

    /// The tenants that a person belongs to, oldest membership first. The email is a
    /// [`normal_email`](crate::normal_email).
    pub async fn find_memberships(&self, email: &str) -> Result<Vec<(TenantId, UserId)>> {
        let found = self.find(&MEMBERSHIPS, email).await?.into_iter();
        Ok(found.map(|(tenant, id)| (tenant, UserId::from_uuid(id))).collect())
    }

    /// As [`Store::find_memberships`], of a person already known.
    pub async fn memberships_of(&self, user: UserId) -> Result<Vec<TenantId>> {
        Ok(self.find(&MEMBERSHIPS_OF, user.uuid()).await?.into_iter().map(|(tenant, _)| tenant).collect())
    }

    pub(crate) async fn all_tenants(&self) -> Result<Vec<TenantId>> {
        let mut conn = self.db.read("{}").await?;
        let sql = match conn {
            Conn::Sqlite(_) => "SELECT id FROM tenants",
            Conn::Pg(_) => "SELECT id FROM tw_all_tenants()",
        };
        let ids: Vec<Uuid> = on!(conn, c => sqlx::query_scalar(sql).fetch_all(c).await)
            .map_err(Error::doing("looking for all tenants"))?;
        Ok(ids.into_iter().map(TenantId::from_uuid).collect())
    }

    /// The epochs of all tenants, for a server that looks whether it missed a hint.
    pub async fn all_epochs(&self) -> Result<Vec<(TenantId, i64)>> {
        let mut conn = self.db.read("{}").await?;
        let sql = match conn {
            Conn::Sqlite(_) => "SELECT tenant_id, epoch FROM tenant_epoch",
            Conn::Pg(_) => "SELECT tenant_id, epoch FROM tw_all_epochs()",
        };
        let rows: Vec<(Uuid, i64)> = on!(conn, c => sqlx::query_as(sql).fetch_all(c).await)
            .map_err(Error::doing("reading all epochs"))?;
        Ok(rows.into_iter().map(|(tenant, epoch)| (TenantId::from_uuid(tenant), epoch)).collect())
    }

    async fn find<'q, T>(&self, find: &Find, wanted: T) -> Result<Vec<(TenantId, Uuid)>>
    where
        T: 'q + Send + Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres>,
    {
        let mut conn = self.db.read("{}").await?;
        let sql = match conn {
            Conn::Sqlite(_) => find.sqlite,
            Conn::Pg(_) => find.postgres,
        };
        let rows: Vec<(Uuid, Uuid)> = on!(conn, c => sqlx::query_as(sql).bind(wanted).fetch_all(c).await)
            .map_err(Error::doing(find.doing))?;
        Ok(rows.into_iter().map(|(tenant, id)| (TenantId::from_uuid(tenant), id)).collect())
    }
}
