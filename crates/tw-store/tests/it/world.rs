//! Two tenants, people and keys in them, and a way past the store for what the store would never do.

use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use tw_model::{ActsAs, Role, Timestamp, UserId};
use tw_store::{
    ApiKey, AuditFilter, AuditRecord, By, Error, Login, NewKey, NewLogin, NewUser, Opens, Store, Target,
    TenantScope, User,
};
use tw_test::{Kind, TestDb};

/// A moment that no test lives to see.
pub(crate) const FAR: Timestamp = Timestamp::from_micros(4_000_000_000_000_000);

/// A store with the tenants `acme` and `globex`.
pub(crate) async fn two_tenants(db: &TestDb) -> (Store, TenantScope, TenantScope) {
    let store = db.store().await;
    let (acme, globex) = (new_tenant(&store, "acme").await, new_tenant(&store, "globex").await);
    (store, acme, globex)
}

pub(crate) async fn new_tenant(store: &Store, slug: &str) -> TenantScope {
    store.tenant(store.create_tenant(&slug.parse().unwrap(), slug, &By::operator()).await.unwrap().id)
}

/// Members with ids before all others, written past the store: one by one would take long.
pub(crate) async fn crowd(db: &TestDb, tenant: &TenantScope, count: u32) {
    let (tenant, id, from) = match db.kind() {
        Kind::Sqlite => (
            format!("x'{}'", tenant.id().uuid().simple()),
            "unhex(printf('%032x', i))",
            format!(
                "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n)"
            ),
        ),
        Kind::Postgres => (
            format!("'{}'::uuid", tenant.id()),
            "lpad(to_hex(i), 32, '0')::uuid",
            format!("generate_series(1, {count}) AS n (i)"),
        ),
    };
    let sql = format!(
        "INSERT INTO memberships (tenant_id, user_id, role, created_us, updated_us, created_by, display_name)
         SELECT {tenant}, {id}, 'member', 1, 1, '{{}}', 'C' FROM {from}"
    );
    assert_eq!(Raw::open(db).await.execute(sql).await.unwrap(), u64::from(count));
}

/// A change made on behalf of somebody, within a request.
pub(crate) fn by(request: &str) -> By {
    let id = UserId::new();
    By { actor: format!(r#"{{"kind":"user","id":"{id}"}}"#), request_id: Some(request.to_owned()) }
}

pub(crate) fn person(email: &str, role: Role) -> NewUser {
    NewUser { email: email.to_owned(), display_name: "Somebody".to_owned(), role, password_hash: None }
}

pub(crate) async fn member(tenant: &TenantScope, email: &str, role: Role) -> User {
    tenant.add_user(person(email, role), &By::operator()).await.unwrap().0
}

/// Signs a member in until [`FAR`].
pub(crate) async fn sign_in(
    tenant: &TenantScope,
    user: UserId,
    token: &[u8; 32],
) -> Result<Option<Login>, Error> {
    let opens = Opens::new();
    let new = NewLogin { user, token_hash: token, expires: FAR, opens: &opens, how: "password" };
    tenant.create_login(new, None, &By::operator()).await
}

/// A login of a member.
pub(crate) async fn login_of(tenant: &TenantScope, user: UserId) -> Login {
    sign_in(tenant, user, &fresh_hash()).await.unwrap().unwrap()
}

/// A link that signs a member in.
pub(crate) async fn link_to(tenant: &TenantScope, user: UserId, token: &[u8; 32]) {
    tenant.create_link(user, token, FAR, &By::operator()).await.unwrap();
}

/// Whom the link lets in, if anybody.
pub(crate) async fn use_link(
    tenant: &TenantScope,
    user: UserId,
    link: &[u8; 32],
    now: Timestamp,
) -> Option<UserId> {
    let (opens, token) = (Opens::new(), fresh_hash());
    let new = NewLogin { user, token_hash: &token, expires: FAR, opens: &opens, how: "link" };
    tenant.use_link(link, now, new, &By::operator()).await.unwrap().map(|login| login.user)
}

/// Another 32 bytes at every call.
pub(crate) fn fresh_hash() -> [u8; 32] {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut hash = [7; 32];
    hash[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    hash
}

pub(crate) fn new_key(prefix: &str, owner: UserId) -> NewKey {
    NewKey {
        name: "deploy".to_owned(),
        prefix: prefix.to_owned(),
        hash: fresh_hash(),
        role: Role::Member,
        acts_as: ActsAs::User,
        agent: None,
        owner,
        expires: None,
    }
}

pub(crate) async fn key(tenant: &TenantScope, prefix: &str, owner: UserId) -> ApiKey {
    tenant.create_key(new_key(prefix, owner), &By::operator()).await.unwrap()
}

/// The tenant's audit with this action, newest first.
pub(crate) async fn audit_of(tenant: &TenantScope, action: &str) -> Vec<AuditRecord> {
    let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
    tenant.audit_page(&filter, None, 0, 1000).await.unwrap().0
}

/// How many lines the tenant's audit has.
pub(crate) async fn audit_len(tenant: &TenantScope) -> usize {
    tenant.audit_page(&AuditFilter::default(), None, 0, 1000).await.unwrap().0.len()
}

/// A connection as the owner of the database, whom no fence holds.
pub(crate) enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Raw {
    pub(crate) async fn open(db: &TestDb) -> Self {
        match db.target() {
            Target::Sqlite { file } => {
                let options = SqliteConnectOptions::new().filename(file);
                Self::Sqlite(SqliteConnection::connect_with(&options).await.unwrap())
            }
            Target::Postgres { url } => Self::Postgres(PgConnection::connect(&url).await.unwrap()),
        }
    }

    /// As whoever the address names, in a database of PostgreSQL.
    pub(crate) async fn at(url: &str) -> Self {
        Self::Postgres(PgConnection::connect(url).await.unwrap())
    }

    pub(crate) async fn execute(&mut self, sql: impl Into<String>) -> sqlx::Result<u64> {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Self::Sqlite(c) => sqlx::raw_sql(sql).execute(c).await.map(|done| done.rows_affected()),
            Self::Postgres(c) => sqlx::raw_sql(sql).execute(c).await.map(|done| done.rows_affected()),
        }
    }

    /// The JSON that PostgreSQL answers with.
    pub(crate) async fn json(&mut self, sql: impl Into<String>) -> sqlx::Result<serde_json::Value> {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Self::Sqlite(_) => panic!("SQLite has no such answers"),
            Self::Postgres(c) => sqlx::query_scalar(sql).fetch_one(c).await,
        }
    }

    /// The text of the first column of every row.
    pub(crate) async fn column(&mut self, sql: impl Into<String>) -> sqlx::Result<Vec<String>> {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Self::Sqlite(c) => sqlx::query_scalar(sql).fetch_all(c).await,
            Self::Postgres(c) => sqlx::query_scalar(sql).fetch_all(c).await,
        }
    }
}
