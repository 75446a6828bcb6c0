//! Which servers are alive, by the database's own clock.

use tw_model::{ReplicaId, Timestamp};

use crate::{
    db::{Db, on, within},
    error::{Error, Result},
    scope::{Store, now_us},
};

impl Store {
    /// Says that this server is alive. Returns the database's time.
    pub async fn heartbeat(&self) -> Result<Timestamp> {
        const Q: &str = "INSERT INTO replicas (id, started_us, heartbeat_us, version) VALUES ($1, $2, $2, $3)
            ON CONFLICT (id) DO UPDATE SET heartbeat_us = excluded.heartbeat_us";
        let now = self.now().await?;
        let mut tx = self.db.begin("{}").await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.replica.uuid()).bind(now.micros()).bind(env!("CARGO_PKG_VERSION")).execute(c).await.map(drop))
        .map_err(Error::doing("saying that this server is alive"))?;
        tx.commit().await?;
        Ok(now)
    }

    /// Says that this server has ended in order.
    pub async fn sign_off(&self) -> Result<()> {
        self.forget("DELETE FROM replicas WHERE id = $1", self.replica.uuid()).await
    }

    /// Removes servers that were last heard of before this moment.
    pub async fn forget_dead(&self, before: Timestamp) -> Result<()> {
        self.forget("DELETE FROM replicas WHERE heartbeat_us < $1", before.micros()).await
    }

    async fn forget<'q, T>(&self, sql: &'static str, value: T) -> Result<()>
    where
        T: 'q
            + Send
            + sqlx::Encode<'q, sqlx::Sqlite>
            + sqlx::Type<sqlx::Sqlite>
            + sqlx::Encode<'q, sqlx::Postgres>
            + sqlx::Type<sqlx::Postgres>,
    {
        let mut tx = self.db.begin("{}").await?;
        within!(&mut tx, c => sqlx::query(sql).bind(value).execute(c).await.map(drop))
            .map_err(Error::doing("forgetting a server"))?;
        tx.commit().await
    }

    /// Whether a server has been heard of since this moment.
    pub async fn is_alive(&self, replica: ReplicaId, since: Timestamp) -> Result<bool> {
        const Q: &str = "SELECT count(*) FROM replicas WHERE id = $1 AND heartbeat_us > $2";
        let mut conn = self.db.read("{}").await?;
        let count: i64 = on!(conn, c => sqlx::query_scalar(Q).bind(replica.uuid()).bind(since.micros())
            .fetch_one(c).await)
        .map_err(Error::doing("asking for a server"))?;
        Ok(count != 0)
    }

    /// The time by which leases and deadlines across servers are told. Clocks of servers may differ.
    pub async fn now(&self) -> Result<Timestamp> {
        match &self.db {
            Db::Sqlite { .. } => Ok(Timestamp::from_micros(now_us())),
            Db::Pg(pg) => {
                const Q: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
                let mut connection = pg.acquire().await.map_err(Error::doing("connecting"))?;
                let (c, presence) = connection.parts();
                let now = presence.in_time(sqlx::query_scalar(Q).fetch_one(c)).await;
                now.map(Timestamp::from_micros).map_err(Error::doing("asking for the time"))
            }
        }
    }
}
