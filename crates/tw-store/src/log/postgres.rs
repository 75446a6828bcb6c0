//! Carries a group out on PostgreSQL: whole columns as arrays, rows locked in the order of their ids.

use std::{collections::HashMap, time::Duration};

use sqlx::{PgConnection, Postgres, postgres::PgArguments, query::Query};
use tw_model::{AuditId, ReplicaId, RunId, SessionId, TenantId, WebhookDeliveryId};
use uuid::Uuid;

use super::{
    entry::{Audit, Entry, Item, NewRun, Rejected},
    lane::{Group, Outcome, Written},
    one_trip::Known,
    plan::{Found, Plan, RunState, WebhookTelling, existing_runs, plan, stored_sessions, told},
    rows::{self, Needed, RunRow, Statement, Value},
};
use crate::{
    db::{Pg, tenants_setting},
    error::{Error, Result},
};

/// Writes groups, and knows what the last ones have left.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) pg: Pg,
    known: Known,
}

impl Writer {
    pub(super) fn new(pg: Pg) -> Self {
        Self { pg, known: Known::default() }
    }

    pub(super) async fn carry_out(&mut self, group: &Group) -> Outcome {
        let items = &group.items();
        if let Some(written) = self.known.write(&self.pg, items).await? {
            return Ok(written);
        }
        self.known.have_fence(&self.pg).await?;
        self.carry_out_by_steps(items).await
    }

    async fn carry_out_by_steps(&mut self, items: &[&Item]) -> Outcome {
        let Self { pg, known } = self;
        let mut tenants: Vec<_> = items.iter().map(|item| item.tenant()).collect();
        tenants.sort_unstable();
        tenants.dedup();
        let setting = tenants_setting(tenants.iter().copied());
        let mut tx = pg.begin(&setting).await.map_err(Error::doing("beginning a transaction"))?;
        let connection = tx.parts().0;
        let (found, transaction) = find(connection, items, &tenants).await?;
        let told = |tenant| found.told.get(tenant).copied().unwrap_or(0);
        let met: Vec<_> =
            found.epochs.iter().map(|(tenant, epoch)| (*tenant, (*epoch, told(tenant)))).collect();
        let refused = decide_first(connection, items, &found).await?;
        let plan = plan(items, found, &refused);
        write(connection, &plan).await?;
        write_audits(connection, &plan.audits).await?;
        for statement in rows::waits(&plan) {
            say(connection, statement).await?;
        }
        let is_told = tell(connection, &plan.tellings).await?;
        match (tx.commit().await, transaction) {
            (Ok(()), _) => {}
            // The connection broke in the commit, so nobody knows. The database does.
            (Err(Error::Unavailable { source }), Some(transaction)) => {
                if !committed(pg, &setting, &transaction).await? {
                    return Err(Error::Unavailable { source });
                }
            }
            (Err(error), _) => return Err(error),
        }
        known.met(met.into_iter());
        known.left(&plan);
        Ok(Written { answers: plan.answers, is_told })
    }
}

/// Whether a transaction was committed, by its number. The rows it wrote do not tell: another replica that claims the
/// same run writes the same event.
async fn committed(pg: &Pg, setting: &str, transaction: &str) -> Result<bool> {
    const Q: &str = "SELECT pg_xact_status($1::xid8)";
    const DOING: &str = "asking whether a commit happened";
    let mut last = None;
    for _ in 0..20 {
        match pg.read(setting).await {
            Ok(mut connection) => {
                let (c, presence) = connection.parts();
                let status = sqlx::query_scalar::<_, Option<String>>(Q).bind(transaction).fetch_one(c);
                match presence.in_time(status).await.map(|status| status.as_deref().map(Fate::parse)) {
                    Ok(Some(Fate::Committed)) => return Ok(true),
                    Ok(Some(Fate::Aborted)) => return Ok(false),
                    // The database may still be at it, or has not noticed yet that we are gone.
                    Ok(Some(Fate::Open) | None) => {}
                    Err(error) => last = Some(Error::sorted(DOING, error.into())),
                }
            }
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Err(last.unwrap_or_else(crate::timed_out))
}

/// What became of a transaction.
enum Fate {
    Committed,
    Aborted,
    Open,
}

impl Fate {
    fn parse(status: &str) -> Self {
        match status {
            "committed" => Self::Committed,
            "aborted" => Self::Aborted,
            _ => Self::Open,
        }
    }
}

async fn decide_first(
    connection: &mut PgConnection,
    items: &[&Item],
    found: &Found,
) -> Result<HashMap<usize, Rejected>> {
    let (needed, refused) = rows::first(items, found);
    let mut refused: HashMap<_, _> = refused.into_iter().collect();
    for Needed { index, statement, or_else } in needed {
        if say(connection, statement).await? == 0 {
            refused.insert(index, or_else);
        }
    }
    Ok(refused)
}

/// Says one statement, and returns how many rows it changed.
async fn say(connection: &mut PgConnection, statement: Statement<'_>) -> Result<u64> {
    let query = statement.values.into_iter().fold(sqlx::query(statement.sql), |query, value| match value {
        Value::Id(id) => query.bind(id),
        Value::Text(text) => query.bind(text),
        Value::Bytes(bytes) => query.bind(bytes),
        Value::Number(number) => query.bind(number),
    });
    let done = query.execute(connection).await.map_err(Error::doing(statement.doing))?;
    Ok(done.rows_affected())
}

/// What the group meets, and the number of its transaction.
async fn find(
    connection: &mut PgConnection,
    items: &[&Item],
    tenants: &[TenantId],
) -> Result<(Found, Option<String>)> {
    let mut found = Found::default();
    let ids: Vec<Uuid> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    // The share lock makes a revocation wait for this group, or this group see the revocation.
    let epochs: Vec<(Uuid, i64, i64, String)> = sqlx::query_as(
        "SELECT tenant_id, epoch, webhook_events, pg_current_xact_id()::text FROM tenant_epoch WHERE tenant_id = ANY ($1)
         ORDER BY tenant_id FOR SHARE",
    )
    .bind(&ids)
    .fetch_all(&mut *connection)
    .await
    .map_err(Error::doing("reading epochs"))?;
    let transaction = epochs.first().map(|(_, _, _, transaction)| transaction.clone());
    for (tenant, epoch, told, _) in epochs {
        found.epochs.insert(TenantId::from_uuid(tenant), epoch);
        found.told.insert(TenantId::from_uuid(tenant), told);
    }
    find_runs(connection, items, &mut found).await?;
    find_sessions(connection, items, &mut found).await?;
    Ok((found, transaction))
}

async fn find_runs(connection: &mut PgConnection, items: &[&Item], found: &mut Found) -> Result<()> {
    let (tenants, runs): (Vec<Uuid>, Vec<Uuid>) =
        existing_runs(items).into_iter().map(|(tenant, run)| (tenant.uuid(), run.uuid())).unzip();
    if runs.is_empty() {
        return Ok(());
    }
    let rows: Vec<RunRow> = sqlx::query_as(
        // Each run is looked up by itself, in the order of the names: a plan that is made while the table is empty is kept,
        // and a join with all runs of a tenant seems as good as any then.
        "SELECT found.* FROM unnest($1::uuid[], $2::uuid[]) AS w (tenant_id, id)
         CROSS JOIN LATERAL (SELECT r.id, r.tenant_id, r.session_id, r.status, r.replica_id, r.lease_epoch, r.last_seq,
            r.input_seq, r.output_seq, r.summary, r.error, r.error_code, r.effect, r.started_us, r.finished_us,
            r.duration_us, r.listed_us
            FROM runs r WHERE r.tenant_id = w.tenant_id AND r.id = w.id FOR UPDATE) AS found",
    )
    .bind(&tenants)
    .bind(&runs)
    .fetch_all(connection)
    .await
    .map_err(Error::doing("reading runs"))?;
    for row in rows {
        found.runs.insert((TenantId::from_uuid(row.tenant_id), RunId::from_uuid(row.id)), row.state()?);
    }
    Ok(())
}

async fn find_sessions(connection: &mut PgConnection, items: &[&Item], found: &mut Found) -> Result<()> {
    let (tenants, sessions): (Vec<Uuid>, Vec<Uuid>) =
        stored_sessions(items).into_iter().map(|(tenant, session)| (tenant.uuid(), session.uuid())).unzip();
    if sessions.is_empty() {
        return Ok(());
    }
    let rows: Vec<(Uuid, Uuid, i64)> = sqlx::query_as(
        "SELECT s.tenant_id, s.id, s.last_seq FROM unnest($1::uuid[], $2::uuid[]) AS w (tenant_id, id)
         JOIN sessions s ON s.id = w.id AND s.tenant_id = w.tenant_id
         ORDER BY s.tenant_id, s.id FOR UPDATE OF s",
    )
    .bind(&tenants)
    .bind(&sessions)
    .fetch_all(connection)
    .await
    .map_err(Error::doing("reading sessions"))?;
    found.sessions = rows
        .into_iter()
        .map(|(tenant, session, seq)| ((TenantId::from_uuid(tenant), SessionId::from_uuid(session)), seq))
        .collect();
    Ok(())
}

/// Writes the whole group in one statement: every trip to the database is paid for by everybody in it.
async fn write(connection: &mut PgConnection, plan: &Plan<'_>) -> Result<()> {
    const Q: &str = "SELECT tw_write_group($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40,
        $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60)";
    if plan.new_runs.is_empty() && plan.changed_runs.is_empty() && plan.events.is_empty() {
        return Ok(());
    }
    let written = bind_rows(sqlx::query(Q), plan).execute(connection).await;
    written.map(drop).map_err(Error::doing("writing a group"))
}

/// The rows of a group, as the columns that `tw_write_group` takes.
pub(super) fn bind_rows<'q>(query: Bound<'q>, plan: &'q Plan<'_>) -> Bound<'q> {
    let query = bind_new_runs(query, &plan.new_runs);
    let query = States::of(plan.changed_runs.iter().map(|changed| &changed.state))
        .bind(query)
        .bind(column(&plan.changed_runs, |changed| changed.run.uuid()))
        .bind(column(&plan.changed_runs, |changed| changed.tenant.uuid()))
        .bind(column(&plan.sessions, |(_, session, _)| session.uuid()))
        .bind(column(&plan.sessions, |(tenant, _, _)| tenant.uuid()))
        .bind(column(&plan.sessions, |(_, _, seq)| *seq));
    let events = &plan.events;
    query
        .bind(column(events, |planned| planned.tenant.uuid()))
        .bind(column(events, |planned| planned.session.uuid()))
        .bind(column(events, |planned| planned.seq))
        .bind(column(events, |planned| planned.event.id.uuid()))
        .bind(column(events, |planned| planned.event.kind.as_str()))
        .bind(column(events, |planned| planned.run.map(RunId::uuid)))
        .bind(column(events, |planned| planned.tool))
        .bind(column(events, |planned| planned.actor))
        .bind(column(events, |planned| planned.event.payload.as_str()))
        .bind(column(events, |planned| planned.at.micros()))
}

/// Writes all lines of the audit in one statement.
async fn write_audits(connection: &mut PgConnection, audits: &[(&Item, &Audit)]) -> Result<()> {
    const Q: &str = "INSERT INTO audit_log
        (id, tenant_id, at_us, actor, action, object, before, after, request_id, note)
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[])";
    if audits.is_empty() {
        return Ok(());
    }
    sqlx::query(Q)
        .bind(column(audits, |_| AuditId::new().uuid()))
        .bind(column(audits, |(item, _)| item.tenant().uuid()))
        .bind(column(audits, |(item, _)| item.at().micros()))
        .bind(column(audits, |(_, audit)| audit.by.actor.as_str()))
        .bind(column(audits, |(_, audit)| audit.what.action.as_str()))
        .bind(column(audits, |(_, audit)| audit.what.object.as_str()))
        .bind(column(audits, |(_, audit)| audit.what.before.as_ref().map(ToString::to_string)))
        .bind(column(audits, |(_, audit)| audit.what.after.as_ref().map(ToString::to_string)))
        .bind(column(audits, |(_, audit)| audit.by.request_id.as_deref()))
        .bind(column(audits, |(_, audit)| audit.what.note.as_deref()))
        .execute(connection)
        .await
        .map(drop)
        .map_err(Error::doing("writing the audit"))
}

/// Writes what webhooks are told, in two statements, and says whether there is any of it.
async fn tell(connection: &mut PgConnection, tellings: &[WebhookTelling]) -> Result<bool> {
    // Counted and not asked by EXISTS, which may be answered by a look at all runs of a tenant.
    const Q: &str =
        "INSERT INTO webhook_deliveries (id, tenant_id, webhook_id, type, run_id, at_us, state, next_us)
        SELECT t.id, t.tenant_id, t.webhook_id, t.type, t.run_id, t.at_us, 'pending', t.at_us
        FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::bigint[])
            AS t (id, tenant_id, webhook_id, type, run_id, at_us)
        WHERE CASE WHEN t.type IN ('run.completed', 'run.failed')
            THEN (SELECT count(*) FROM runs r WHERE r.tenant_id = t.tenant_id AND r.id = t.run_id
                AND r.parent_run_id IS NULL AND r.mode = 'production')
            WHEN t.type = 'approval.decided'
            THEN (SELECT count(*) FROM approvals a WHERE a.run_id = t.run_id AND a.tenant_id = t.tenant_id
                AND a.decided_us = t.at_us)
            ELSE 1 END <> 0";
    if tellings.is_empty() {
        return Ok(false);
    }
    let mut tenants: Vec<_> = tellings.iter().map(|telling| telling.tenant.uuid()).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let webhooks: Vec<(Uuid, Uuid, i64)> =
        sqlx::query_as("SELECT id, tenant_id, events FROM webhooks WHERE tenant_id = ANY ($1) AND enabled")
            .bind(&tenants)
            .fetch_all(&mut *connection)
            .await
            .map_err(Error::doing("reading webhooks"))?;
    let told = told(tellings, &webhooks);
    let written = sqlx::query(Q)
        .bind(column(&told, |_| WebhookDeliveryId::new().uuid()))
        .bind(column(&told, |(telling, _)| telling.tenant.uuid()))
        .bind(column(&told, |(_, webhook)| *webhook))
        .bind(column(&told, |(telling, _)| telling.event.as_str()))
        .bind(column(&told, |(telling, _)| telling.run.uuid()))
        .bind(column(&told, |(telling, _)| telling.at.micros()))
        .execute(connection)
        .await
        .map_err(Error::doing("telling webhooks"))?;
    Ok(written.rows_affected() != 0)
}

pub(super) type Bound<'q> = Query<'q, Postgres, PgArguments>;

pub(super) fn column<'r, T, C>(rows: &'r [T], of: impl Fn(&'r T) -> C) -> Vec<C> {
    rows.iter().map(of).collect()
}

fn bind_new_runs<'q>(query: Bound<'q>, runs: &'q [(&Entry, &NewRun, RunState)]) -> Bound<'q> {
    States::of(runs.iter().map(|(_, _, state)| state))
        .bind(query)
        .bind(column(runs, |(entry, _, _)| entry.run.uuid()))
        .bind(column(runs, |(entry, _, _)| entry.tenant.uuid()))
        .bind(column(runs, |(entry, _, _)| entry.session.uuid()))
        .bind(column(runs, |(entry, _, _)| entry.session == entry.run.into()))
        .bind(column(runs, |(_, run, _)| run.parent.map(RunId::uuid)))
        .bind(column(runs, |(_, run, _)| run.root.uuid()))
        .bind(column(runs, |(_, run, _)| run.tool_id.uuid()))
        .bind(column(runs, |(entry, _, _)| &*entry.tool))
        .bind(column(runs, |(_, run, _)| &*run.version))
        .bind(column(runs, |(_, run, _)| run.source.as_str()))
        .bind(column(runs, |(_, run, _)| run.channel.as_str()))
        .bind(column(runs, |(_, run, _)| run.mode.as_str()))
        .bind(column(runs, |(_, run, _)| &*run.principal))
        .bind(column(runs, |(entry, _, _)| &*entry.actor))
        .bind(column(runs, |(_, run, _)| run.effectful))
        .bind(column(runs, |(_, run, _)| run.repeatable))
        .bind(column(runs, |(entry, _, _)| entry.at.micros()))
}

/// The columns of [`RunState`], each as an array.
#[derive(Default)]
struct States<'q> {
    status: Vec<&'static str>,
    replica: Vec<Option<Uuid>>,
    lease_epoch: Vec<i64>,
    last_seq: Vec<i64>,
    input_seq: Vec<i64>,
    output_seq: Vec<Option<i64>>,
    summary: Vec<Option<&'q str>>,
    error: Vec<Option<&'q str>>,
    error_code: Vec<Option<&'q str>>,
    effect: Vec<Option<&'q str>>,
    started_us: Vec<Option<i64>>,
    finished_us: Vec<Option<i64>>,
    duration_us: Vec<Option<i64>>,
    listed_us: Vec<i64>,
}

impl<'q> States<'q> {
    fn of(states: impl Iterator<Item = &'q RunState>) -> Self {
        let mut columns = Self::default();
        for state in states {
            columns.status.push(state.status.as_str());
            columns.replica.push(state.replica.map(ReplicaId::uuid));
            columns.lease_epoch.push(state.lease_epoch);
            columns.last_seq.push(state.last_seq);
            columns.input_seq.push(state.input_seq);
            columns.output_seq.push(state.output_seq);
            columns.summary.push(state.summary.as_deref());
            columns.error.push(state.error.as_deref());
            columns.error_code.push(state.error_code.as_deref());
            columns.effect.push(state.effect.as_deref());
            columns.started_us.push(state.started_us);
            columns.finished_us.push(state.finished_us);
            columns.duration_us.push(state.duration_us);
            columns.listed_us.push(state.listed_us);
        }
        columns
    }

    fn bind(self, query: Bound<'q>) -> Bound<'q> {
        query
            .bind(self.status)
            .bind(self.replica)
            .bind(self.lease_epoch)
            .bind(self.last_seq)
            .bind(self.input_seq)
            .bind(self.output_seq)
            .bind(self.summary)
            .bind(self.error)
            .bind(self.error_code)
            .bind(self.effect)
            .bind(self.started_us)
            .bind(self.finished_us)
            .bind(self.duration_us)
            .bind(self.listed_us)
    }
}
