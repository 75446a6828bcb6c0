//! Idempotency keys: what a key was used for, and answers kept for replay.
//!
//! The key of a run is claimed by the log, in the transaction that starts the run. Here is what reads
//! it, and the keys of other writes.

use tw_model::{ReplicaId, RunId, Timestamp};
use uuid::Uuid;

use crate::{
    db::{Db, on, within},
    error::{Error, Result},
    row::row,
    scope::{Store, TenantScope, now_us},
};

/// What an idempotency key was used for.
#[derive(Clone, Debug)]
pub struct Used {
    pub body_hash: Vec<u8>,
    pub run: Option<RunId>,
    /// The answer of a write that is not a run, as the door wrote it; `None` while it is being made.
    pub answer: Option<String>,
    pub replica: ReplicaId,
}

/// The scope of a key within its tenant.
#[derive(Clone, Copy, Debug)]
pub struct KeyScope<'a> {
    pub principal: &'a str,
    pub route: &'a str,
    pub key: &'a str,
}

row! {
    #[derive(Debug)]
    struct UsedRow {
        body_hash: Vec<u8>,
        run_id: Option<Uuid>,
        status_code: Option<i64>,
        answer: Option<String>,
        replica_id: Uuid,
    }
}

impl TenantScope {
    pub async fn idempotency(&self, scope: KeyScope<'_>) -> Result<Option<Used>> {
        const Q: &str = "SELECT body_hash, run_id, status_code, answer, replica_id FROM idempotency
            WHERE tenant_id = $1 AND principal = $2 AND route = $3 AND key = $4 AND expires_us > $5";
        let mut conn = self.read().await?;
        let row: Option<UsedRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(scope.principal).bind(scope.route).bind(scope.key).bind(now_us())
            .fetch_optional(c).await)
        .map_err(Error::doing("reading an idempotency key"))?;
        Ok(row.map(UsedRow::used))
    }

    /// Takes a key for a write that is not a run. `false` when it is taken. A server that died before it
    /// could say how its write went does not keep the key. The moment tells this claim from others.
    pub async fn claim_key(
        &self,
        scope: KeyScope<'_>,
        body_hash: &[u8; 32],
        at: Timestamp,
        expires: Timestamp,
    ) -> Result<bool> {
        const Q: &str = "INSERT INTO idempotency
            (tenant_id, principal, route, key, body_hash, replica_id, created_us, expires_us)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (tenant_id, principal, route, key) DO UPDATE
            SET body_hash = excluded.body_hash, replica_id = excluded.replica_id, status_code = NULL, answer = NULL,
                created_us = excluded.created_us, expires_us = excluded.expires_us
            WHERE idempotency.expires_us <= excluded.created_us
                OR (idempotency.answer IS NULL AND idempotency.run_id IS NULL
                    AND idempotency.body_hash = excluded.body_hash
                    AND NOT EXISTS (SELECT 1 FROM replicas WHERE replicas.id = idempotency.replica_id))";
        let mut tx = self.begin().await?;
        let claimed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(scope.principal).bind(scope.route).bind(scope.key).bind(&body_hash[..])
            .bind(self.store.replica.uuid()).bind(at.micros()).bind(expires.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("claiming an idempotency key"))?;
        tx.commit().await?;
        Ok(claimed == 1)
    }

    /// Keeps the answer of a write for replay.
    pub async fn keep_answer(&self, scope: KeyScope<'_>, claimed: Timestamp, answer: &str) -> Result<()> {
        const Q: &str = "UPDATE idempotency SET answer = $7
            WHERE tenant_id = $1 AND principal = $2 AND route = $3 AND key = $4 AND replica_id = $5
                AND created_us = $6";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(scope.principal).bind(scope.route).bind(scope.key)
            .bind(self.store.replica.uuid()).bind(claimed.micros()).bind(answer)
            .execute(c).await.map(drop))
        .map_err(Error::doing("keeping an answer"))?;
        tx.commit().await
    }

    /// Gives a key back whose write did not happen.
    pub async fn release_key(&self, scope: KeyScope<'_>, claimed: Timestamp) -> Result<()> {
        const Q: &str = "DELETE FROM idempotency
            WHERE tenant_id = $1 AND principal = $2 AND route = $3 AND key = $4 AND replica_id = $5
                AND created_us = $6 AND answer IS NULL AND run_id IS NULL";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(scope.principal).bind(scope.route).bind(scope.key)
            .bind(self.store.replica.uuid()).bind(claimed.micros()).execute(c).await.map(drop))
        .map_err(Error::doing("releasing an idempotency key"))?;
        tx.commit().await
    }
}

impl Store {
    /// Forgets keys that have run out.
    pub async fn drop_expired_keys(&self, now: Timestamp) -> Result<()> {
        let sql = match &self.db {
            Db::Sqlite { .. } => "DELETE FROM idempotency WHERE expires_us <= $1",
            Db::Pg(_) => "SELECT tw_drop_expired_idempotency($1)",
        };
        let mut tx = self.db.begin("{}").await?;
        within!(&mut tx, c => sqlx::query(sql).bind(now.micros()).execute(c).await.map(drop))
            .map_err(Error::doing("forgetting idempotency keys"))?;
        tx.commit().await
    }
}

impl UsedRow {
    fn used(self) -> Used {
        // Earlier versions kept the status in a column of its own.
        let answer = match (self.status_code, self.answer) {
            (Some(status), Some(answer)) => Some(format!("{status} {answer}")),
            (_, answer) => answer,
        };
        Used {
            body_hash: self.body_hash,
            run: self.run_id.map(RunId::from_uuid),
            answer,
            replica: ReplicaId::from_uuid(self.replica_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_that_an_earlier_version_kept_begins_with_its_status() {
        let kept = |status_code, answer: Option<&str>| {
            let (body_hash, run_id, replica_id) = (Vec::new(), None, Uuid::nil());
            UsedRow { body_hash, run_id, status_code, answer: answer.map(str::to_owned), replica_id }
                .used()
                .answer
        };
        assert_eq!(kept(Some(201), Some("{}\n1")).as_deref(), Some("201 {}\n1"));
        assert_eq!(kept(None, Some("201 {}\n1")).as_deref(), Some("201 {}\n1"));
        assert_eq!(kept(None, None), None);
    }
}
