//! The rows around a run that are written one by one: idempotency keys, and what waits.

use std::collections::HashMap;

use tw_model::{ReplicaId, RunId, RunStatus, SessionId};
use uuid::Uuid;

use super::{
    entry::{ApprovalDecision, Change, Entry, Expect, NewRun, Park, Rejected, Step},
    plan::{Found, Plan, RunState, check_start},
};
use crate::{
    db::{Tx, within},
    error::{Error, Result},
    row::row,
};

row! {
    #[derive(Debug)]
    pub(super) struct RunRow {
        pub(super) id: Uuid,
        pub(super) tenant_id: Uuid,
        session_id: Uuid,
        status: String,
        replica_id: Option<Uuid>,
        lease_epoch: i64,
        last_seq: i64,
        input_seq: i64,
        output_seq: Option<i64>,
        summary: Option<String>,
        error: Option<String>,
        error_code: Option<String>,
        effect: Option<String>,
        started_us: i64,
        finished_us: Option<i64>,
        duration_us: Option<i64>,
    }
}

impl RunRow {
    pub(super) fn state(self) -> Result<RunState> {
        let status = RunStatus::parse(&self.status)
            .ok_or_else(|| Error::Corrupt { what: format!("run {} has status {}", self.id, self.status) })?;
        Ok(RunState {
            session: SessionId::from_uuid(self.session_id),
            status,
            replica: self.replica_id.map(ReplicaId::from_uuid),
            lease_epoch: self.lease_epoch,
            last_seq: self.last_seq,
            input_seq: self.input_seq,
            output_seq: self.output_seq,
            summary: self.summary,
            error: self.error,
            error_code: self.error_code,
            effect: self.effect,
            started_us: self.started_us,
            finished_us: self.finished_us,
            duration_us: self.duration_us,
        })
    }
}

/// Takes the idempotency keys of the entries that may go ahead; says which entries lost.
pub(super) async fn claim_keys(
    tx: &mut Tx,
    entries: &[&Entry],
    found: &Found,
) -> Result<HashMap<usize, Rejected>> {
    // A key that has run out is free, and so is the key of the interrupted run that is made again.
    const Q: &str = "INSERT INTO idempotency
        (tenant_id, principal, route, key, body_hash, run_id, replica_id, created_us, expires_us)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (tenant_id, principal, route, key) DO UPDATE
        SET body_hash = excluded.body_hash, run_id = excluded.run_id, replica_id = excluded.replica_id,
            created_us = excluded.created_us, expires_us = excluded.expires_us
        WHERE idempotency.expires_us <= excluded.created_us OR idempotency.run_id = $10";
    let mut refused = HashMap::new();
    let mut claims: Vec<_> = entries
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| match &entry.step {
            Step::Open(run) => Some((index, entry, run, run.claim.as_ref()?)),
            Step::Change(_) => None,
        })
        .filter(|(_, entry, _, _)| check_start(entry, found).is_ok())
        .collect();
    // Everybody takes keys in this order, so two groups that want the same ones never wait for each
    // other; of entries that want the same key the first still comes first.
    claims.sort_by_key(|(_, entry, run, claim)| (entry.tenant, &run.principal, &claim.route, &claim.key));
    for (index, entry, run, claim) in claims {
        let claimed = within!(tx, c => sqlx::query(Q)
            .bind(entry.tenant.uuid()).bind(&*run.principal).bind(&claim.route).bind(&claim.key)
            .bind(&claim.body_hash[..]).bind(entry.run.uuid()).bind(run.replica.uuid())
            .bind(entry.at.micros()).bind(claim.expires.micros()).bind(claim.instead_of.map(RunId::uuid))
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("claiming an idempotency key"))?;
        if claimed == 0 {
            refused.insert(index, Rejected::Claimed);
        }
    }
    Ok(refused)
}

const NOBODY_DECIDED: ApprovalDecision =
    ApprovalDecision { status: "cancelled", by: None, note: None, changes: None, input: None };

/// Writes what the plan says about runs that wait.
pub(super) async fn write_waits(tx: &mut Tx, plan: &Plan<'_>) -> Result<()> {
    for (entry, run, _) in &plan.new_runs {
        if let Some(park) = &run.park {
            park_run(tx, entry, run, park).await?;
        }
    }
    for (entry, change) in &plan.waits {
        match &change.decision {
            Some(decision) => decide(tx, entry, decision).await?,
            // Where nobody decided, an end leaves nothing to decide either.
            None if !matches!(change.expect, Expect::Lease(_)) && change.claimed_by.is_none() => {
                decide(tx, entry, &NOBODY_DECIDED).await?;
            }
            None => {}
        }
        move_pending(tx, entry, change).await?;
    }
    Ok(())
}

async fn park_run(tx: &mut Tx, entry: &Entry, run: &NewRun, park: &Park) -> Result<()> {
    const PENDING: &str = "INSERT INTO pending_calls
        (id, tenant_id, run_id, waits_for, state, context, expires_us, created_us, updated_us)
        VALUES ($1, $2, $3, 'approval', 'waiting', $4, $5, $6, $6)";
    const APPROVAL: &str = "INSERT INTO approvals (id, tenant_id, run_id, tool_id, tool, version, input,
        input_digest, definition_hash, seal, level, reason, requested_by, owner_id, requested_us, expires_us, status)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 'pending')";
    let approval = &park.approval;
    within!(tx, c => sqlx::query(PENDING)
        .bind(approval.id.uuid()).bind(entry.tenant.uuid()).bind(entry.run.uuid()).bind(&park.context)
        .bind(approval.expires.micros()).bind(entry.at.micros()).execute(c).await.map(drop))
    .map_err(Error::doing("parking a call"))?;
    within!(tx, c => sqlx::query(APPROVAL)
        .bind(approval.id.uuid()).bind(entry.tenant.uuid()).bind(entry.run.uuid()).bind(run.tool_id.uuid())
        .bind(&*entry.tool).bind(&*run.version).bind(&approval.input).bind(&approval.input_digest)
        .bind(&approval.definition_hash).bind(&approval.seal).bind(approval.level.map(tw_model::Level::as_str))
        .bind(&approval.reason).bind(&*run.principal).bind(approval.owner.uuid()).bind(entry.at.micros())
        .bind(approval.expires.micros()).execute(c).await.map(drop))
    .map_err(Error::doing("asking for an approval"))
}

async fn decide(tx: &mut Tx, entry: &Entry, decision: &ApprovalDecision) -> Result<()> {
    const Q: &str =
        "UPDATE approvals SET status = $3, decided_by = $4, decided_us = $5, note = $6, changes = $7,
        input = coalesce($8, input), input_digest = coalesce($9, input_digest), seal = coalesce($10, seal)
        WHERE tenant_id = $1 AND run_id = $2 AND status = 'pending'";
    let (input, digest, seal) = match &decision.input {
        Some((input, digest, seal)) => (Some(input.as_str()), Some(digest.as_str()), Some(&seal[..])),
        None => (None, None, None),
    };
    within!(tx, c => sqlx::query(Q)
        .bind(entry.tenant.uuid()).bind(entry.run.uuid()).bind(decision.status).bind(&decision.by)
        .bind(entry.at.micros()).bind(&decision.note).bind(&decision.changes)
        .bind(input).bind(digest).bind(seal).execute(c).await.map(drop))
    .map_err(Error::doing("deciding an approval"))
}

async fn move_pending(tx: &mut Tx, entry: &Entry, change: &Change) -> Result<()> {
    const Q: &str = "UPDATE pending_calls SET state = $3, lease_owner = $4, updated_us = $5
        WHERE tenant_id = $1 AND run_id = $2 AND state IN ('waiting', 'ready', 'claimed')";
    let state = match (&change.decision, change.claimed_by) {
        (Some(decision), _) => match decision.status {
            "approved" => "ready",
            "expired" => "expired",
            _ => "cancelled",
        },
        (None, Some(_)) => "claimed",
        (None, None) => "resolved",
    };
    within!(tx, c => sqlx::query(Q)
        .bind(entry.tenant.uuid()).bind(entry.run.uuid()).bind(state)
        .bind(change.claimed_by.map(ReplicaId::uuid)).bind(entry.at.micros()).execute(c).await.map(drop))
    .map_err(Error::doing("moving a pending call"))
}
