//! The way in: a store, and a scope of it for one tenant.

use std::sync::Arc;

use tw_model::{ReplicaId, TenantId, Timestamp};

use crate::{
    db::{Conn, Db, Durability, Target, Tx, tenants_setting, within},
    deaths::Deaths,
    error::{Error, Result},
    log::Log,
    wake::Wake,
};

/// The open database of a server or a command. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) db: Db,
    pub(crate) replica: ReplicaId,
    log: Log,
    wake: Arc<Wake>,
    deaths: Deaths,
}

/// How to open a store.
#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    pub durability: Durability,
    /// Connections to PostgreSQL at the most; SQLite needs no such number.
    pub connections: u32,
}

impl Options {
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self { target, durability: Durability::Full, connections: 20 }
    }
}

impl Store {
    /// Opens a database whose schema is up to date; see [`crate::migrate`].
    pub async fn open(options: &Options) -> Result<Self> {
        let db = Db::open(&options.target, options.durability, options.connections).await?;
        let replica = ReplicaId::new();
        let deaths = Deaths::default();
        let wake = Arc::new(Wake::start(&db, replica, &deaths));
        let log = Log::start(&db, &wake, &deaths)?;
        Ok(Self { db, replica, log, wake, deaths })
    }

    /// This boot of this process.
    #[must_use]
    pub fn replica(&self) -> ReplicaId {
        self.replica
    }

    /// Everything about one tenant. There is no query about a tenant's things without it.
    #[must_use]
    pub fn tenant(&self, tenant: TenantId) -> TenantScope {
        TenantScope { store: self.clone(), tenant }
    }

    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Tells who waits for what when something changes, here or on another replica.
    #[must_use]
    pub fn wake(&self) -> &Wake {
        &self.wake
    }

    /// Names the one who is told when a task of the store dies, such as a lane of the log. Only the first counts.
    pub fn on_death(&self, tell: impl Fn(&'static str) + Send + Sync + 'static) {
        self.deaths.are_told_to(tell);
    }

    /// Whether the database answers and the log takes entries, for `/readyz`.
    pub async fn ping(&self) -> Result<()> {
        if self.log.has_ended() {
            return Err(Error::crashed());
        }
        let mut conn = self.db.read("{}").await?;
        crate::db::on!(conn, c => sqlx::query("SELECT 1").execute(c).await.map(drop))
            .map_err(Error::doing("pinging"))
    }

    /// Ends the log's lanes after what they hold, then the connections.
    pub async fn close(&self) {
        self.log.close().await;
        self.wake.close();
        self.db.close().await;
    }
}

/// One tenant's part of the store.
#[derive(Clone, Debug)]
pub struct TenantScope {
    pub(crate) store: Store,
    pub(crate) tenant: TenantId,
}

impl TenantScope {
    #[must_use]
    pub fn id(&self) -> TenantId {
        self.tenant
    }

    pub(crate) async fn read(&self) -> Result<Conn> {
        self.store.db.read(&tenants_setting([self.tenant])).await
    }

    /// As [`Self::read`], for a list whose order is that of an index.
    pub(crate) async fn read_in_order(&self) -> Result<Conn> {
        self.store.db.read_in_order(&tenants_setting([self.tenant])).await
    }

    pub(crate) async fn begin(&self) -> Result<Tx> {
        self.store.db.begin(&tenants_setting([self.tenant])).await
    }

    /// Says in this transaction that what callers of the tenant may see or do has changed.
    pub(crate) async fn bump_epoch(&self, tx: &mut Tx) -> Result<i64> {
        const Q: &str = "INSERT INTO tenant_epoch (tenant_id, epoch) VALUES ($1, 1)
            ON CONFLICT (tenant_id) DO UPDATE SET epoch = tenant_epoch.epoch + 1 RETURNING epoch";
        within!(tx, c => sqlx::query_scalar(Q).bind(self.tenant.uuid()).fetch_one(c).await)
            .map_err(Error::doing("bumping the epoch"))
    }

    /// Commits a transaction that bumped the epoch, and tells everybody.
    pub(crate) async fn commit_bumped(&self, tx: Tx) -> Result<()> {
        tx.commit().await?;
        self.store.wake.tenant_changed(self.tenant);
        Ok(())
    }
}

pub(crate) fn now_us() -> i64 {
    Timestamp::now().micros()
}
