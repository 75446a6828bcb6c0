//! Calls that wait for a worker or a person outside, or for a call of their own.

use serde_json::value::RawValue;
use sqlx::AssertSqlSafe;
use tw_model::{PendingCallId, PendingState, RunId, TenantId, Timestamp, WaitsFor};
use uuid::Uuid;

use crate::{
    bytes::{PAGE_BYTES_MAX, until_full},
    db::{on, within},
    error::{Error, Result},
    filter::{Arg, Conditions, bind_args},
    row::row,
    scope::{Store, TenantScope},
};

/// A run that waits or waited, as far as its waiting goes.
#[derive(Clone, Debug)]
pub struct PendingCall {
    pub id: PendingCallId,
    pub run: RunId,
    pub tool: String,
    pub waits_for: WaitsFor,
    pub state: PendingState,
    /// What resuming needs, as JSON.
    pub context: String,
    /// The runs that are waited for, oldest first.
    pub children: Vec<RunId>,
    /// When the run itself is out of time.
    pub deadline: Option<Timestamp>,
    pub expires: Timestamp,
    pub result: Option<Box<RawValue>>,
    pub answered_by: Option<String>,
    pub created: Timestamp,
}

impl PendingCall {
    /// Whether a worker or a person answers it.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        matches!(self.waits_for, WaitsFor::Worker | WaitsFor::Person)
    }

    /// Whether a worker or a person is asked at the moment.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_outside() && self.state == PendingState::Waiting
    }
}

row! {
    #[derive(Debug)]
    struct PendingRow {
        id: Uuid,
        run_id: Uuid,
        tool: String,
        waits_for: String,
        state: String,
        context: String,
        deadline_us: Option<i64>,
        expires_us: i64,
        result: Option<String>,
        answered_by: Option<String>,
        created_us: i64,
    }
}

const SELECT: &str =
    "SELECT p.id, p.run_id, p.tool, p.waits_for, p.state, p.context, p.deadline_us, p.expires_us,
    p.result, p.answered_by, p.created_us FROM pending_calls p";

const CHILDREN: &str = "SELECT child_run_id FROM pending_children WHERE tenant_id = $1 AND run_id = $2
    ORDER BY child_run_id";

row! {
    #[derive(Debug)]
    struct ToldRow {
        told_to: Option<Uuid>,
        tellings: i64,
        delivered_us: Option<i64>,
    }
}

/// Which calls a worker is told of.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// Slugs, in lower case; none for all.
    pub tools: &'a [String],
    /// Whose the calls are from now on: one connection of a worker.
    pub lease: Uuid,
    /// The worker, whichever connection it has.
    pub worker: Uuid,
    pub now: Timestamp,
    /// A server that was not heard of since is dead, and its leases are over.
    pub alive_since: Timestamp,
    pub until: Timestamp,
    pub most: i64,
}

impl TenantScope {
    pub async fn pending_call(&self, id: PendingCallId) -> Result<Option<PendingCall>> {
        self.one_pending("p.id =", id.uuid()).await
    }

    pub async fn pending_call_of(&self, run: RunId) -> Result<Option<PendingCall>> {
        self.one_pending("p.run_id =", run.uuid()).await
    }

    async fn one_pending(&self, column: &'static str, id: Uuid) -> Result<Option<PendingCall>> {
        let mut conditions = Conditions::default();
        conditions.and("p.tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and(column, Arg::Id(id));
        Ok(self.select_pending(SELECT, conditions, "").await?.0.pop())
    }

    /// Calls that a person has to answer, oldest first, from the one after `after`: of large ones fewer, at least two,
    /// and then it says that it left some out.
    pub async fn calls_for_people(
        &self,
        after: Option<PendingCallId>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<PendingCall>, bool)> {
        let mut conditions = self.open_calls(WaitsFor::Person);
        if let Some(after) = after {
            conditions.and("p.id >", Arg::Id(after.uuid()));
        }
        let tail = format!(" ORDER BY p.id LIMIT {limit} OFFSET {offset}");
        self.select_pending(SELECT, conditions, &tail).await
    }

    pub async fn count_calls_for_people(&self) -> Result<Option<i64>> {
        let most = crate::runs::COUNT_MAX;
        let conditions = self.open_calls(WaitsFor::Person);
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 AS one FROM pending_calls p{} LIMIT {}) AS counted",
            conditions.sql(),
            most + 1
        );
        let mut conn = self.read().await?;
        let count: i64 = on!(conn, c => bind_args!(sqlx::query_scalar(AssertSqlSafe(sql)), conditions.args())
            .fetch_one(c).await)
        .map_err(Error::doing("counting calls that wait"))?;
        Ok((count <= most).then_some(count))
    }

    /// Calls that can be answered, also those whose caller has given up.
    fn open_calls(&self, waits_for: WaitsFor) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.and("p.tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and("p.waits_for =", Arg::Text(waits_for.as_str().to_owned()));
        conditions.and_always("p.state = 'waiting'");
        conditions
    }

    /// Takes calls for a worker, oldest first, that no other worker has.
    pub async fn lease_calls(&self, wanted: &Wanted<'_>) -> Result<Vec<PendingCall>> {
        let mut conditions = self.open_calls(WaitsFor::Worker);
        conditions.and("p.expires_us >", Arg::Int(wanted.now.micros()));
        conditions.and("NOT (coalesce(p.lease_until_us, 0) >=", Arg::Int(wanted.now.micros()));
        conditions.and(
            "EXISTS (SELECT 1 FROM replicas r WHERE r.id = p.lease_replica AND r.heartbeat_us >",
            Arg::Int(wanted.alive_since.micros()),
        );
        conditions.close();
        conditions.close();
        if !wanted.tools.is_empty() {
            conditions.any_of("lower(p.tool)", wanted.tools);
        }
        let tail = format!(" ORDER BY p.id LIMIT {}", wanted.most);
        let (candidates, _) = self.select_pending(SELECT, conditions, &tail).await?;
        let mut leased = Vec::with_capacity(candidates.len());
        for call in candidates {
            if self.lease_call(call.id, wanted).await? {
                leased.push(call);
            }
        }
        Ok(leased)
    }

    async fn lease_call(&self, id: PendingCallId, wanted: &Wanted<'_>) -> Result<bool> {
        const LEASE: &str =
            "UPDATE pending_calls SET lease_owner = $1, lease_until_us = $2, lease_replica = $3, delivered_us = $4,
            tellings = CASE WHEN told_to = $5 THEN tellings ELSE tellings + 1 END, told_to = $5
            WHERE tenant_id = $6 AND id = $7 AND state = 'waiting' AND NOT (coalesce(lease_until_us, 0) >= $4
                AND EXISTS (SELECT 1 FROM replicas r WHERE r.id = lease_replica AND r.heartbeat_us > $8))";
        let args = vec![
            Arg::Id(wanted.lease),
            Arg::Int(wanted.until.micros()),
            Arg::Id(self.store.replica().uuid()),
            Arg::Int(wanted.now.micros()),
            Arg::Id(wanted.worker),
            self.as_arg(),
            Arg::Id(id.uuid()),
            Arg::Int(wanted.alive_since.micros()),
        ];
        Ok(self.change_calls(LEASE, args).await? != 0)
    }

    /// Which worker it was that was told of this call last of all it has heard, and until when: what it was told up
    /// to then it has seen. None where several workers were told of the call, since it could be any of them.
    pub async fn worker_told_of(&self, last: PendingCallId) -> Result<Option<(Uuid, Timestamp)>> {
        const Q: &str =
            "SELECT told_to, tellings, delivered_us FROM pending_calls WHERE tenant_id = $1 AND id = $2";
        let mut conn = self.read().await?;
        let row: Option<ToldRow> =
            on!(conn, c => sqlx::query_as(Q).bind(self.tenant.uuid()).bind(last.uuid())
            .fetch_optional(c).await)
            .map_err(Error::doing("reading calls that wait"))?;
        let told = row.filter(|row| row.tellings == 1);
        Ok(told.and_then(|row| Some((row.told_to?, Timestamp::from_micros(row.delivered_us?)))))
    }

    /// Gives a worker that comes back what it has seen, without telling it again: what it was told up to this call
    /// and moment, and nobody else since. Its connection from before may not have been missed yet.
    pub async fn take_back_calls(
        &self,
        wanted: &Wanted<'_>,
        last: PendingCallId,
        told: Timestamp,
    ) -> Result<()> {
        let mut sql = "UPDATE pending_calls SET lease_owner = $1, lease_until_us = $2, lease_replica = $3
            WHERE tenant_id = $4 AND waits_for = 'worker' AND state = 'waiting' AND told_to = $5
            AND (delivered_us < $6 OR (delivered_us = $6 AND id <= $7))"
            .to_owned();
        let mut args = vec![
            Arg::Id(wanted.lease),
            Arg::Int(wanted.until.micros()),
            Arg::Id(self.store.replica().uuid()),
            self.as_arg(),
            Arg::Id(wanted.worker),
            Arg::Int(told.micros()),
            Arg::Id(last.uuid()),
        ];
        if !wanted.tools.is_empty() {
            let places: Vec<_> = (0..wanted.tools.len()).map(|index| format!("${}", index + 8)).collect();
            sql.push_str(&format!(" AND lower(tool) IN ({})", places.join(", ")));
            args.extend(wanted.tools.iter().cloned().map(Arg::Text));
        }
        let mut tx = self.begin().await?;
        within!(&mut tx, c => bind_args!(sqlx::query(AssertSqlSafe(sql)), args).execute(c).await.map(drop))
            .map_err(Error::doing("changing calls that wait"))?;
        tx.commit().await
    }

    /// Keeps what a worker has for longer.
    pub async fn renew_leases(&self, lease: Uuid, until: Timestamp) -> Result<()> {
        const RENEW: &str = "UPDATE pending_calls SET lease_until_us = $1
            WHERE tenant_id = $2 AND lease_owner = $3 AND state = 'waiting' AND waits_for = 'worker'";
        let args = vec![Arg::Int(until.micros()), self.as_arg(), Arg::Id(lease)];
        self.change_calls(RENEW, args).await.map(drop)
    }

    /// Gives back what a worker has and will not answer.
    pub async fn release_leases(&self, lease: Uuid) -> Result<()> {
        const RELEASE: &str =
            "UPDATE pending_calls SET lease_until_us = NULL, lease_owner = NULL, lease_replica = NULL
            WHERE tenant_id = $1 AND lease_owner = $2 AND state = 'waiting' AND waits_for = 'worker'";
        self.change_calls(RELEASE, vec![self.as_arg(), Arg::Id(lease)]).await.map(drop)
    }

    /// Closes a call whose run has ended and that nobody answered.
    pub async fn close_unanswered(&self, id: PendingCallId, now: Timestamp) -> Result<()> {
        const CLOSE: &str = "UPDATE pending_calls SET state = 'expired', deadline_us = NULL, updated_us = $1
            WHERE tenant_id = $2 AND id = $3 AND state = 'waiting'";
        let args = vec![Arg::Int(now.micros()), self.as_arg(), Arg::Id(id.uuid())];
        self.change_calls(CLOSE, args).await.map(drop)
    }

    fn as_arg(&self) -> Arg {
        Arg::Id(self.tenant.uuid())
    }

    async fn change_calls(&self, sql: &'static str, args: Vec<Arg>) -> Result<u64> {
        let mut tx = self.begin().await?;
        let changed = within!(&mut tx, c => bind_args!(sqlx::query(sql), args).execute(c).await
            .map(|done| done.rows_affected()))
        .map_err(Error::doing("changing calls that wait"))?;
        tx.commit().await?;
        Ok(changed)
    }

    async fn select_pending(
        &self,
        select: &'static str,
        conditions: Conditions,
        tail: &str,
    ) -> Result<(Vec<PendingCall>, bool)> {
        let sql = format!("{select}{}{tail}", conditions.sql());
        let mut conn = self.read().await?;
        let (rows, is_cut): (Vec<PendingRow>, bool) = on!(conn, c => {
            let found = bind_args!(sqlx::query_as(AssertSqlSafe(sql)), conditions.args()).fetch(c);
            until_full(found, PAGE_BYTES_MAX, PendingRow::bytes).await
        })
        .map_err(Error::doing("reading calls that wait"))?;
        let mut calls: Vec<_> = rows.into_iter().map(PendingRow::call).collect::<Result<_>>()?;
        for call in calls.iter_mut().filter(|call| call.waits_for == WaitsFor::Child) {
            let children: Vec<Uuid> = on!(conn, c => sqlx::query_scalar(CHILDREN)
                .bind(self.tenant.uuid()).bind(call.run.uuid()).fetch_all(c).await)
            .map_err(Error::doing("reading calls that wait"))?;
            call.children = children.into_iter().map(RunId::from_uuid).collect();
        }
        Ok((calls, is_cut))
    }
}

impl Store {
    /// Pending calls that have run out of time or may go on, over all tenants, from the one after `after`. Ids only.
    pub async fn due_pending(
        &self,
        now: Timestamp,
        after: Option<(TenantId, PendingCallId)>,
        most: usize,
    ) -> Result<Vec<(TenantId, PendingCallId)>> {
        const SQLITE: &str = "SELECT tenant_id, id FROM (
            SELECT tenant_id, id FROM pending_calls WHERE state = 'waiting' AND expires_us <= $1
            UNION SELECT tenant_id, id FROM pending_calls WHERE state = 'ready'
            UNION SELECT p.tenant_id, p.id FROM pending_calls p
                WHERE p.state = 'waiting' AND p.deadline_us <= $1 AND EXISTS (SELECT 1 FROM runs r
                    WHERE r.tenant_id = p.tenant_id AND r.id = p.run_id AND r.status = 'pending')
            UNION SELECT p.tenant_id, p.id FROM pending_calls p
                WHERE p.waits_for = 'child' AND p.state = 'waiting' AND NOT EXISTS (
                    SELECT 1 FROM pending_children c JOIN runs r ON r.tenant_id = c.tenant_id AND r.id = c.child_run_id
                    WHERE c.tenant_id = p.tenant_id AND c.run_id = p.run_id
                        AND r.status IN ('running', 'pending', 'needs_approval')))
            WHERE (tenant_id, id) > ($3, $4) ORDER BY tenant_id, id LIMIT $2";
        const PG: &str = "SELECT tenant_id, id FROM tw_due_pending($1, $2, $3, $4)";
        let sql = if self.is_shared() { PG } else { SQLITE };
        let (tenant, id) =
            after.map_or((Uuid::nil(), Uuid::nil()), |(tenant, id)| (tenant.uuid(), id.uuid()));
        let mut conn = self.db.read("{}").await?;
        let rows: Vec<(Uuid, Uuid)> = on!(conn, c => sqlx::query_as(sql)
            .bind(now.micros()).bind(i64::try_from(most).unwrap_or(i64::MAX)).bind(tenant).bind(id).fetch_all(c).await)
        .map_err(Error::doing("looking for due calls"))?;
        Ok(rows
            .into_iter()
            .map(|(tenant, id)| (TenantId::from_uuid(tenant), PendingCallId::from_uuid(id)))
            .collect())
    }
}

impl PendingRow {
    /// What varies, as far as it can be large.
    fn bytes(&self) -> usize {
        self.context.len() + self.result.as_ref().map_or(0, String::len)
    }

    fn call(self) -> Result<PendingCall> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("{what} of pending call {}", self.id) };
        let result = self.result.clone().map(RawValue::from_string).transpose();
        Ok(PendingCall {
            id: PendingCallId::from_uuid(self.id),
            run: RunId::from_uuid(self.run_id),
            waits_for: WaitsFor::parse(&self.waits_for).ok_or_else(|| corrupt("whom it waits for"))?,
            children: Vec::new(),
            deadline: self.deadline_us.map(Timestamp::from_micros),
            expires: Timestamp::from_micros(self.expires_us),
            result: result.map_err(|_| corrupt("the result"))?,
            created: Timestamp::from_micros(self.created_us),
            tool: self.tool,
            state: PendingState::parse(&self.state).ok_or_else(|| corrupt("the state"))?,
            context: self.context,
            answered_by: self.answered_by,
        })
    }
}
