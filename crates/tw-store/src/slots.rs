//! Slots in concurrency groups, where several servers share a database.
//!
//! The table and its column are called `places` and `place`: a new name would take the table away from servers of the
//! version before, which may still be running during an upgrade.

use tw_model::Timestamp;

use crate::{
    db::{Db, within},
    error::{Error, Result},
    scope::{Store, TenantScope},
};

impl Store {
    /// Whether other servers may work on the same database.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.db, Db::Pg(_))
    }
}

impl TenantScope {
    /// Takes a free slot of a group, if there is one, until a moment at the latest. There is one while fewer than
    /// `size` are taken, and fewer than each of those who have one allows. A slot of a server that was not heard of
    /// since is free.
    pub async fn take_slot(
        &self,
        group: &str,
        size: u32,
        until: Timestamp,
        now: Timestamp,
        since: Timestamp,
    ) -> Result<Option<i64>> {
        // The first free number is the first of all, one that was left, or one behind another.
        const TAKE: &str = "WITH taken AS (
                SELECT p.place, p.size FROM places p JOIN replicas r ON r.id = p.replica_id AND r.heartbeat_us > $7
                WHERE p.tenant_id = $2 AND p.name = $3 AND p.until_us > $6),
            numbers AS (
                SELECT CAST(0 AS bigint) AS n
                UNION SELECT place FROM places WHERE tenant_id = $2 AND name = $3
                UNION SELECT place + 1 FROM places WHERE tenant_id = $2 AND name = $3)
            INSERT INTO places (tenant_id, name, place, replica_id, until_us, size)
            SELECT $2, $3, n, $4, $5, $1 FROM numbers
            WHERE n < $1 AND n NOT IN (SELECT place FROM taken)
                AND (SELECT count(*) FROM taken) < $1
                AND NOT EXISTS (SELECT 1 FROM taken WHERE size <= (SELECT count(*) FROM taken))
            ORDER BY n LIMIT 1
            ON CONFLICT (tenant_id, name, place) DO UPDATE
            SET replica_id = excluded.replica_id, until_us = excluded.until_us, size = excluded.size
            WHERE places.until_us <= $6
                OR NOT EXISTS (SELECT 1 FROM replicas r WHERE r.id = places.replica_id AND r.heartbeat_us > $7)
            RETURNING place";
        let mut tx = self.begin().await?;
        let slot: Option<i64> = within!(&mut tx, c => sqlx::query_scalar(TAKE)
            .bind(i64::from(size)).bind(self.tenant.uuid()).bind(group).bind(self.store.replica().uuid())
            .bind(until.micros()).bind(now.micros()).bind(since.micros()).fetch_optional(c).await)
        .map_err(Error::doing("taking a slot"))?;
        tx.commit().await?;
        Ok(slot)
    }

    /// Gives a slot back that this server took until that moment.
    pub async fn leave_slot(&self, group: &str, slot: i64, until: Timestamp) -> Result<()> {
        const LEAVE: &str = "DELETE FROM places
            WHERE tenant_id = $1 AND name = $2 AND place = $3 AND replica_id = $4 AND until_us = $5";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(LEAVE)
            .bind(self.tenant.uuid()).bind(group).bind(slot).bind(self.store.replica().uuid())
            .bind(until.micros()).execute(c).await.map(drop))
        .map_err(Error::doing("leaving a slot"))?;
        tx.commit().await
    }
}
