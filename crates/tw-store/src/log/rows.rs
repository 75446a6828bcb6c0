//! The rows around a run that are written one by one: idempotency keys, and what waits.
//!
//! Here is what to say to the database, the same for both; who says it is in `sqlite.rs` and `postgres.rs`.

use std::collections::BTreeMap;

use tw_model::{ApprovalStatus, ReplicaId, RunId, RunStatus, SessionId};
use uuid::Uuid;

use super::{
    entry::{
        ApprovalDecision, Change, Claim, EditedInput, Entry, Expect, Item, NewRun, NewStanding, NewWait,
        Park, Rejected, Transition, WaitChange,
    },
    plan::{Found, Plan, RunState, check_late, check_start},
};
use crate::{
    error::{Error, Result},
    row::row,
};

/// One statement with its values. Its parameters are numbered in the order in which they are first named,
/// because SQLite numbers them so, whatever they are called.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    pub(super) sql: &'static str,
    pub(super) values: Vec<Value<'a>>,
    pub(super) doing: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Id(Option<Uuid>),
    Text(Option<&'a str>),
    Bytes(Option<&'a [u8]>),
    Number(Option<i64>),
}

impl From<Uuid> for Value<'_> {
    fn from(id: Uuid) -> Self {
        Self::Id(Some(id))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(Some(bytes))
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Number(Some(number))
    }
}

row! {
    #[derive(Debug)]
    pub(super) struct RunRow {
        pub(super) id: Uuid,
        pub(super) tenant_id: Uuid,
        pub(super) session_id: Uuid,
        pub(super) status: String,
        pub(super) replica_id: Option<Uuid>,
        pub(super) lease_epoch: i64,
        pub(super) last_seq: i64,
        pub(super) input_seq: i64,
        pub(super) output_seq: Option<i64>,
        pub(super) summary: Option<String>,
        pub(super) error: Option<String>,
        pub(super) error_code: Option<String>,
        pub(super) effect: Option<String>,
        pub(super) listed_us: i64,
        pub(super) started_us: Option<i64>,
        pub(super) finished_us: Option<i64>,
        pub(super) duration_us: Option<i64>,
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
            listed_us: self.listed_us,
            started_us: self.started_us,
            finished_us: self.finished_us,
            duration_us: self.duration_us,
        })
    }
}

// A key that has run out is free, and so is the key of the interrupted run that is made again.
const CLAIM: &str = "INSERT INTO idempotency
    (tenant_id, principal, route, key, body_hash, run_id, replica_id, created_us, expires_us)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (tenant_id, principal, route, key) DO UPDATE
    SET body_hash = excluded.body_hash, run_id = excluded.run_id, replica_id = excluded.replica_id,
        created_us = excluded.created_us, expires_us = excluded.expires_us
    WHERE idempotency.expires_us <= excluded.created_us OR idempotency.run_id = $10";

/// A statement that has to change a row, or else the item with this index is rejected.
#[derive(Debug)]
pub(super) struct Needed<'a> {
    pub(super) index: usize,
    pub(super) statement: Statement<'a>,
    pub(super) or_else: Rejected,
}

/// What is decided by a row of the database before there is a plan: idempotency keys, and first answers that come
/// late. Items that could not be written anyway take nothing; they are in the second list.
pub(super) fn first<'a>(items: &[&'a Item], found: &Found) -> (Vec<Needed<'a>>, Vec<(usize, Rejected)>) {
    let mut refused = Vec::new();
    let (mut claims, mut needed) = (Vec::new(), Vec::new());
    for (index, item) in items.iter().enumerate().filter(|(_, item)| check_start(item, found).is_ok()) {
        let Some(entry) = item.as_run() else { continue };
        match &entry.transition {
            Transition::Open(run) => {
                claims.extend(run.claim.as_ref().map(|claim| (index, entry, &**run, claim)))
            }
            Transition::Change(change) => {
                if let Some(WaitChange::Late { result, by }) = &change.wait {
                    match check_late(entry, found) {
                        Ok(()) => needed.push(Needed {
                            index,
                            statement: keep_late(entry, result, by),
                            or_else: Rejected::Answered,
                        }),
                        Err(rejected) => refused.push((index, rejected)),
                    }
                }
            }
        }
    }
    // Everybody takes keys in this order, so two groups that want the same ones never wait for each
    // other; of entries that want the same key the first still comes first.
    claims.sort_by_key(|(_, entry, run, claim)| (entry.tenant, &run.principal, &claim.route, &claim.key));
    let claim = |(index, entry, run, claim)| Needed {
        index,
        statement: claim_key(entry, run, claim),
        or_else: Rejected::Claimed,
    };
    needed.extend(claims.into_iter().map(claim));
    (needed, refused)
}

fn claim_key<'a>(entry: &'a Entry, run: &'a NewRun, claim: &'a Claim) -> Statement<'a> {
    let values = vec![
        entry.tenant.uuid().into(),
        (&*run.principal).into(),
        claim.route.as_str().into(),
        claim.key.as_str().into(),
        claim.body_hash.as_slice().into(),
        entry.run.uuid().into(),
        run.replica.uuid().into(),
        entry.at.micros().into(),
        claim.expires.micros().into(),
        Value::Id(claim.instead_of.map(RunId::uuid)),
    ];
    Statement { sql: CLAIM, values, doing: "claiming an idempotency key" }
}

const KEEP_LATE: &str =
    "UPDATE pending_calls SET state = 'resolved', result = $1, answered_by = $2, updated_us = $3
    WHERE tenant_id = $4 AND run_id = $5 AND state = 'waiting' AND expires_us > $3";

/// Only one answer finds the call still waiting.
fn keep_late<'a>(entry: &'a Entry, result: &'a str, by: &'a str) -> Statement<'a> {
    let values = vec![
        result.into(),
        by.into(),
        entry.at.micros().into(),
        entry.tenant.uuid().into(),
        entry.run.uuid().into(),
    ];
    Statement { sql: KEEP_LATE, values, doing: "keeping a late result" }
}

const NOBODY_DECIDED: ApprovalDecision = ApprovalDecision {
    status: ApprovalStatus::Cancelled,
    by: None,
    note: None,
    changes: None,
    input: None,
    standing: None,
};

/// What the plan says about runs that wait.
pub(super) fn waits<'a>(plan: &Plan<'a>) -> Vec<Statement<'a>> {
    let mut statements = Vec::new();
    for (entry, run, _) in &plan.new_runs {
        if let Some(park) = &run.park {
            statements.extend(park_run(entry, run, park));
        }
        if let Some(wait) = &run.wait {
            statements.push(wait_for(entry, wait));
            statements.extend(children(entry, wait));
        }
    }
    for (entry, change) in &plan.waits {
        if let Some(WaitChange::Park(wait)) = &change.wait {
            statements.push(wait_for(entry, wait));
            statements.push(forget_children(entry));
            statements.extend(children(entry, wait));
            continue;
        }
        match &change.decision {
            Some(decision) => {
                statements.push(decide(entry, decision));
                statements.extend(decision.input.as_ref().map(|edited| resume_with(entry, edited)));
                statements.extend(decision.standing.as_ref().map(|standing| stand(entry, standing)));
            }
            // Where nobody decided, an end leaves nothing to decide either.
            None if !matches!(change.expect, Expect::Lease(_)) && change.claimed_by.is_none() => {
                statements.push(decide(entry, &NOBODY_DECIDED));
            }
            None => {}
        }
        statements.push(move_pending(entry, change));
    }
    statements.extend(uses(plan));
    statements
}

const STAND: &str =
    "INSERT INTO standing_approvals (tenant_id, id, principal, tool_id, tool, definition_hash, context,
    fields, field_values, values_digest, approved_by, seal, created_us, expires_us)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

fn stand<'a>(entry: &'a Entry, standing: &'a NewStanding) -> Statement<'a> {
    let values = vec![
        entry.tenant.uuid().into(),
        standing.id.uuid().into(),
        standing.principal.as_str().into(),
        standing.tool_id.uuid().into(),
        standing.tool.as_str().into(),
        standing.definition_hash.as_str().into(),
        standing.context.as_str().into(),
        Value::Text(standing.fields.as_deref()),
        standing.values.as_str().into(),
        standing.values_digest.as_str().into(),
        standing.approved_by.as_str().into(),
        standing.seal.as_slice().into(),
        standing.created.micros().into(),
        standing.expires.micros().into(),
    ];
    Statement { sql: STAND, values, doing: "making a standing approval" }
}

const USE: &str = "UPDATE standing_approvals SET uses = uses + $1 WHERE tenant_id = $2 AND id = $3";

/// Counts the runs that began by standing approvals. Everybody locks these in the same order.
fn uses<'a>(plan: &Plan<'_>) -> impl Iterator<Item = Statement<'a>> {
    let mut uses: BTreeMap<_, i64> = BTreeMap::new();
    for (entry, run, _) in &plan.new_runs {
        if let Some(standing) = run.standing {
            *uses.entry((entry.tenant, standing)).or_default() += 1;
        }
    }
    uses.into_iter().map(|((tenant, standing), count)| Statement {
        sql: USE,
        values: vec![count.into(), tenant.uuid().into(), standing.uuid().into()],
        doing: "counting the use of a standing approval",
    })
}

const PARK: &str = "INSERT INTO pending_calls
    (id, tenant_id, run_id, waits_for, state, context, expires_us, created_us, updated_us, tool)
    VALUES ($1, $2, $3, 'approval', 'waiting', $4, $5, $6, $6, $7)";
const WAIT: &str = "INSERT INTO pending_calls
    (id, tenant_id, run_id, waits_for, state, context, deadline_us, expires_us, created_us, updated_us, tool)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)
    ON CONFLICT (run_id) DO UPDATE SET waits_for = excluded.waits_for, state = excluded.state,
        context = excluded.context, deadline_us = excluded.deadline_us, expires_us = excluded.expires_us, updated_us = excluded.updated_us, lease_owner = NULL";
const ASK: &str = "INSERT INTO approvals (id, tenant_id, run_id, tool_id, tool, version, input,
    input_digest, definition_hash, seal, level, reason, requested_by, owner_id, requested_us, expires_us, status)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 'pending')";

fn park_run<'a>(entry: &'a Entry, run: &'a NewRun, park: &'a Park) -> [Statement<'a>; 2] {
    let approval = &park.approval;
    let pending = vec![
        approval.id.uuid().into(),
        entry.tenant.uuid().into(),
        entry.run.uuid().into(),
        park.context.as_str().into(),
        approval.expires.micros().into(),
        entry.at.micros().into(),
        (&*entry.tool).into(),
    ];
    let asked = vec![
        approval.id.uuid().into(),
        entry.tenant.uuid().into(),
        entry.run.uuid().into(),
        run.tool_id.uuid().into(),
        (&*entry.tool).into(),
        (&*run.version).into(),
        approval.input.as_str().into(),
        approval.input_digest.as_str().into(),
        approval.definition_hash.as_str().into(),
        approval.seal.as_slice().into(),
        Value::Text(approval.level.map(tw_model::Level::as_str)),
        approval.reason.as_str().into(),
        (&*run.principal).into(),
        approval.owner.uuid().into(),
        entry.at.micros().into(),
        approval.expires.micros().into(),
    ];
    [
        Statement { sql: PARK, values: pending, doing: "parking a call" },
        Statement { sql: ASK, values: asked, doing: "asking for an approval" },
    ]
}

fn wait_for<'a>(entry: &'a Entry, wait: &'a NewWait) -> Statement<'a> {
    let values = vec![
        wait.id.uuid().into(),
        entry.tenant.uuid().into(),
        entry.run.uuid().into(),
        wait.waits_for.as_str().into(),
        wait.state.as_str().into(),
        wait.context.as_str().into(),
        Value::Number(wait.deadline.map(tw_model::Timestamp::micros)),
        wait.expires.micros().into(),
        entry.at.micros().into(),
        (&*entry.tool).into(),
    ];
    Statement { sql: WAIT, values, doing: "waiting" }
}

const FORGET_CHILDREN: &str = "DELETE FROM pending_children WHERE tenant_id = $1 AND run_id = $2";
const CHILD: &str = "INSERT INTO pending_children (tenant_id, run_id, child_run_id) VALUES ($1, $2, $3)
    ON CONFLICT (tenant_id, run_id, child_run_id) DO NOTHING";

fn forget_children(entry: &Entry) -> Statement<'_> {
    let values = vec![entry.tenant.uuid().into(), entry.run.uuid().into()];
    Statement { sql: FORGET_CHILDREN, values, doing: "waiting" }
}

fn children<'a>(entry: &'a Entry, wait: &'a NewWait) -> impl Iterator<Item = Statement<'a>> {
    wait.children.iter().map(|child| {
        let values = vec![entry.tenant.uuid().into(), entry.run.uuid().into(), child.uuid().into()];
        Statement { sql: CHILD, values, doing: "waiting" }
    })
}

const DECIDE: &str =
    "UPDATE approvals SET status = $1, decided_by = $2, decided_us = $3, note = $4, changes = $5,
    input = coalesce($6, input), input_digest = coalesce($7, input_digest), seal = coalesce($8, seal),
    level = CASE WHEN $8 IS NULL THEN level ELSE $9 END
    WHERE tenant_id = $10 AND run_id = $11 AND status = 'pending'";

fn decide<'a>(entry: &'a Entry, decision: &'a ApprovalDecision) -> Statement<'a> {
    let edited = decision.input.as_ref();
    let values = vec![
        decision.status.as_str().into(),
        Value::Text(decision.by.as_deref()),
        entry.at.micros().into(),
        Value::Text(decision.note.as_deref()),
        Value::Text(decision.changes.as_deref()),
        Value::Text(edited.map(|edited| edited.input.as_str())),
        Value::Text(edited.map(|edited| edited.digest.as_str())),
        Value::Bytes(edited.map(|edited| edited.seal.as_slice())),
        Value::Text(edited.and_then(|edited| edited.level).map(tw_model::Level::as_str)),
        entry.tenant.uuid().into(),
        entry.run.uuid().into(),
    ];
    Statement { sql: DECIDE, values, doing: "deciding an approval" }
}

const RESUME_WITH: &str = "UPDATE pending_calls SET context = $1
    WHERE tenant_id = $2 AND run_id = $3 AND state = 'waiting'";

fn resume_with<'a>(entry: &'a Entry, edited: &'a EditedInput) -> Statement<'a> {
    let values = vec![edited.context.as_str().into(), entry.tenant.uuid().into(), entry.run.uuid().into()];
    Statement { sql: RESUME_WITH, values, doing: "keeping who changed an input" }
}

// A call outside that took too long ends the run, and may still be answered by the worker that has it.
const MOVE: &str = "UPDATE pending_calls SET
    state = CASE WHEN $1 = 'late' AND state = 'waiting' AND waits_for IN ('worker', 'person') THEN state
        WHEN $1 = 'late' THEN 'resolved' ELSE $1 END,
    lease_owner = CASE WHEN $1 = 'late' THEN lease_owner ELSE $2 END,
    updated_us = $3, deadline_us = NULL, result = coalesce($4, result), answered_by = coalesce($5, answered_by)
    WHERE tenant_id = $6 AND run_id = $7 AND state IN ('waiting', 'ready', 'claimed')";

fn move_pending<'a>(entry: &'a Entry, change: &'a Change) -> Statement<'a> {
    let state = match (&change.decision, change.claimed_by) {
        (Some(decision), _) => match decision.status {
            ApprovalStatus::Approved => "ready",
            ApprovalStatus::Expired => "expired",
            ApprovalStatus::Pending | ApprovalStatus::Denied | ApprovalStatus::Cancelled => "cancelled",
        },
        (None, Some(_)) => "claimed",
        (None, None) => match (&change.wait, change.to) {
            (Some(WaitChange::Expired), _) => "expired",
            (_, Some(RunStatus::TimedOut)) => "late",
            (_, Some(RunStatus::Cancelled)) => "cancelled",
            _ => "resolved",
        },
    };
    let (result, by) = match &change.wait {
        Some(WaitChange::Answered { result, by }) => (Some(result.as_str()), Some(by.as_str())),
        _ => (None, None),
    };
    let values = vec![
        state.into(),
        Value::Id(change.claimed_by.map(ReplicaId::uuid)),
        entry.at.micros().into(),
        Value::Text(result),
        Value::Text(by),
        entry.tenant.uuid().into(),
        entry.run.uuid().into(),
    ];
    Statement { sql: MOVE, values, doing: "moving a pending call" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_in_the_order_in_which_they_are_first_named() {
        for sql in
            [CLAIM, KEEP_LATE, PARK, WAIT, FORGET_CHILDREN, CHILD, ASK, DECIDE, RESUME_WITH, MOVE, STAND, USE]
        {
            let mut seen = 0;
            for after in sql.split('$').skip(1) {
                let digits = after.split(|c: char| !c.is_ascii_digit()).next().unwrap();
                let number: usize = digits.parse().unwrap();
                assert!(number <= seen + 1, "${number} comes too early in {sql}");
                seen = seen.max(number);
            }
        }
    }
}
