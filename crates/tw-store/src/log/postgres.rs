//! Carries a group out on PostgreSQL: whole columns as arrays, rows locked in the order of their ids.

use sqlx::PgConnection;
use tw_model::{ReplicaId, RunId, SessionId, TenantId};
use uuid::Uuid;

use super::{
    entry::{Entry, NewRun},
    plan::{Found, Plan, RunState, existing_runs, stored_sessions},
    rows::RunRow,
};
use crate::error::{Error, Result};

pub(super) async fn find(
    connection: &mut PgConnection,
    entries: &[&Entry],
    tenants: &[TenantId],
) -> Result<Found> {
    let mut found = Found::default();
    let ids: Vec<Uuid> = tenants.iter().map(|tenant| tenant.uuid()).collect();
    // The share lock makes a revocation wait for this group, or this group see the revocation.
    let epochs: Vec<(Uuid, i64)> = sqlx::query_as(
        "SELECT tenant_id, epoch FROM tenant_epoch WHERE tenant_id = ANY ($1) ORDER BY tenant_id FOR SHARE",
    )
    .bind(&ids)
    .fetch_all(&mut *connection)
    .await
    .map_err(Error::doing("reading epochs"))?;
    found.epochs = epochs.into_iter().map(|(tenant, epoch)| (TenantId::from_uuid(tenant), epoch)).collect();
    find_runs(connection, entries, &mut found).await?;
    find_sessions(connection, entries, &mut found).await?;
    Ok(found)
}

async fn find_runs(connection: &mut PgConnection, entries: &[&Entry], found: &mut Found) -> Result<()> {
    let (tenants, runs): (Vec<Uuid>, Vec<Uuid>) =
        existing_runs(entries).into_iter().map(|(tenant, run)| (tenant.uuid(), run.uuid())).unzip();
    if runs.is_empty() {
        return Ok(());
    }
    let rows: Vec<RunRow> = sqlx::query_as(
        "SELECT r.id, r.tenant_id, r.session_id, r.status, r.replica_id, r.lease_epoch, r.last_seq, r.input_seq,
            r.output_seq, r.summary, r.error, r.error_code, r.effect, r.started_us, r.finished_us, r.duration_us
         FROM unnest($1::uuid[], $2::uuid[]) AS w (tenant_id, id)
         JOIN runs r ON r.tenant_id = w.tenant_id AND r.id = w.id ORDER BY r.tenant_id, r.id FOR UPDATE OF r",
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

async fn find_sessions(connection: &mut PgConnection, entries: &[&Entry], found: &mut Found) -> Result<()> {
    let (tenants, sessions): (Vec<Uuid>, Vec<Uuid>) =
        stored_sessions(entries).into_iter().map(|(tenant, session)| (tenant.uuid(), session.uuid())).unzip();
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

pub(super) async fn write(connection: &mut PgConnection, plan: &Plan<'_>) -> Result<()> {
    if !plan.new_runs.is_empty() {
        insert_runs(connection, &plan.new_runs).await?;
    }
    if !plan.changed_runs.is_empty() {
        update_runs(connection, &plan.changed_runs).await?;
    }
    if !plan.sessions.is_empty() {
        let ids: Vec<Uuid> = plan.sessions.iter().map(|(_, session, _)| session.uuid()).collect();
        let seqs: Vec<i64> = plan.sessions.iter().map(|(_, _, seq)| *seq).collect();
        sqlx::query(
            "UPDATE sessions s SET last_seq = w.seq FROM unnest($1::uuid[], $2::bigint[]) AS w (id, seq)
             WHERE s.id = w.id",
        )
        .bind(ids)
        .bind(seqs)
        .execute(&mut *connection)
        .await
        .map_err(Error::doing("numbering events"))?;
    }
    insert_events(connection, plan).await
}

/// The columns of [`RunState`], each as an array.
#[derive(Default)]
struct States {
    status: Vec<&'static str>,
    replica: Vec<Option<Uuid>>,
    lease_epoch: Vec<i64>,
    last_seq: Vec<i64>,
    input_seq: Vec<i64>,
    output_seq: Vec<Option<i64>>,
    summary: Vec<Option<String>>,
    error: Vec<Option<String>>,
    error_code: Vec<Option<String>>,
    effect: Vec<Option<String>>,
    started_us: Vec<i64>,
    finished_us: Vec<Option<i64>>,
    duration_us: Vec<Option<i64>>,
}

impl States {
    fn push(&mut self, state: &RunState) {
        self.status.push(state.status.as_str());
        self.replica.push(state.replica.map(ReplicaId::uuid));
        self.lease_epoch.push(state.lease_epoch);
        self.last_seq.push(state.last_seq);
        self.input_seq.push(state.input_seq);
        self.output_seq.push(state.output_seq);
        self.summary.push(state.summary.clone());
        self.error.push(state.error.clone());
        self.error_code.push(state.error_code.clone());
        self.effect.push(state.effect.clone());
        self.started_us.push(state.started_us);
        self.finished_us.push(state.finished_us);
        self.duration_us.push(state.duration_us);
    }
}

async fn insert_runs(connection: &mut PgConnection, runs: &[(&Entry, &NewRun, RunState)]) -> Result<()> {
    const Q: &str = "INSERT INTO runs (status, replica_id, lease_epoch, last_seq, input_seq, output_seq, summary,
        error, error_code, effect, started_us, finished_us, duration_us, id, tenant_id, session_id, own_session,
        parent_run_id, root_run_id, tool_id, tool, version, source, channel, mode, principal, actor, effectful,
        repeatable)
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::uuid[],
        $15::uuid[], $16::uuid[], $17::boolean[], $18::uuid[], $19::uuid[], $20::uuid[], $21::text[], $22::text[],
        $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::boolean[], $29::boolean[])";
    fn column<'a, T>(
        runs: &[(&'a Entry, &'a NewRun, RunState)],
        of: impl Fn(&'a Entry, &'a NewRun) -> T,
    ) -> Vec<T> {
        runs.iter().map(|(entry, run, _)| of(entry, run)).collect()
    }
    let mut states = States::default();
    runs.iter().for_each(|(_, _, state)| states.push(state));
    sqlx::query(Q)
        .bind(states.status)
        .bind(states.replica)
        .bind(states.lease_epoch)
        .bind(states.last_seq)
        .bind(states.input_seq)
        .bind(states.output_seq)
        .bind(states.summary)
        .bind(states.error)
        .bind(states.error_code)
        .bind(states.effect)
        .bind(states.started_us)
        .bind(states.finished_us)
        .bind(states.duration_us)
        .bind(column(runs, |entry, _| entry.run.uuid()))
        .bind(column(runs, |entry, _| entry.tenant.uuid()))
        .bind(column(runs, |entry, _| entry.session.uuid()))
        .bind(column(runs, |entry, _| entry.session == entry.run.into()))
        .bind(column(runs, |_, run| run.parent.map(RunId::uuid)))
        .bind(column(runs, |_, run| run.root.uuid()))
        .bind(column(runs, |_, run| run.tool_id.uuid()))
        .bind(column(runs, |entry, _| &*entry.tool))
        .bind(column(runs, |_, run| &*run.version))
        .bind(column(runs, |_, run| run.source.as_str()))
        .bind(column(runs, |_, run| run.channel.as_str()))
        .bind(column(runs, |_, run| run.mode.as_str()))
        .bind(column(runs, |_, run| &*run.principal))
        .bind(column(runs, |entry, _| &*entry.actor))
        .bind(column(runs, |_, run| run.effectful))
        .bind(column(runs, |_, run| run.repeatable))
        .execute(connection)
        .await
        .map(drop)
        .map_err(Error::doing("writing runs"))
}

async fn update_runs(connection: &mut PgConnection, runs: &[(TenantId, RunId, RunState)]) -> Result<()> {
    const Q: &str = "UPDATE runs r SET status = w.status, replica_id = w.replica_id, lease_epoch = w.lease_epoch,
        last_seq = w.last_seq, input_seq = w.input_seq, output_seq = w.output_seq, summary = w.summary,
        error = w.error, error_code = w.error_code, effect = w.effect, started_us = w.started_us,
        finished_us = w.finished_us, duration_us = w.duration_us
        FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::text[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::uuid[],
        $15::uuid[]) AS w (status, replica_id, lease_epoch, last_seq, input_seq, output_seq, summary, error,
        error_code, effect, started_us, finished_us, duration_us, id, tenant_id)
        WHERE r.tenant_id = w.tenant_id AND r.id = w.id";
    let mut states = States::default();
    runs.iter().for_each(|(_, _, state)| states.push(state));
    sqlx::query(Q)
        .bind(states.status)
        .bind(states.replica)
        .bind(states.lease_epoch)
        .bind(states.last_seq)
        .bind(states.input_seq)
        .bind(states.output_seq)
        .bind(states.summary)
        .bind(states.error)
        .bind(states.error_code)
        .bind(states.effect)
        .bind(states.started_us)
        .bind(states.finished_us)
        .bind(states.duration_us)
        .bind(runs.iter().map(|(_, run, _)| run.uuid()).collect::<Vec<_>>())
        .bind(runs.iter().map(|(tenant, _, _)| tenant.uuid()).collect::<Vec<_>>())
        .execute(connection)
        .await
        .map(drop)
        .map_err(Error::doing("writing runs"))
}

async fn insert_events(connection: &mut PgConnection, plan: &Plan<'_>) -> Result<()> {
    const Q: &str = "INSERT INTO session_events
        (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::uuid[], $7::text[],
        $8::text[], $9::text[], $10::bigint[])";
    if plan.events.is_empty() {
        return Ok(());
    }
    let events = &plan.events;
    sqlx::query(Q)
        .bind(events.iter().map(|event| event.entry.tenant.uuid()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.entry.session.uuid()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.seq).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.entry.events[event.index].id.uuid()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.entry.events[event.index].kind.as_str()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.entry.run.uuid()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| &*event.entry.tool).collect::<Vec<_>>())
        .bind(events.iter().map(|event| &*event.entry.actor).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.entry.events[event.index].payload.as_str()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.entry.at.micros()).collect::<Vec<_>>())
        .execute(connection)
        .await
        .map(drop)
        .map_err(Error::doing("writing events"))
}
