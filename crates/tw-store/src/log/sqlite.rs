//! Carries a group out on SQLite. The writer is alone, so reading is locking.

use std::sync::LazyLock;

use sqlx::{Sqlite, SqliteConnection, query::Query, sqlite::SqliteArguments};
use tw_model::{ReplicaId, RunId, TenantId};

use super::{
    entry::Entry,
    plan::{Found, Plan, PlannedEvent, RunState, existing_runs, stored_sessions},
    rows::RunRow,
};
use crate::error::{Error, Result};

/// How many rows one statement carries. Each size is prepared once.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// A statement in each of [`SIZES`].
struct Sized([String; 4]);

impl Sized {
    fn new(before: &str, columns: usize, after: &str) -> Self {
        Self(SIZES.map(|rows| {
            let mut sql = String::from(before);
            for row in 0..rows {
                sql.push_str(if row == 0 { "(" } else { ",(" });
                for column in 0..columns {
                    if column != 0 {
                        sql.push(',');
                    }
                    sql.push('?');
                }
                sql.push(')');
            }
            sql.push_str(after);
            sql
        }))
    }
}

type Bound<'q> = Query<'q, Sqlite, SqliteArguments>;

/// Runs a sized statement over all rows, in pieces.
async fn in_pieces<T>(
    connection: &mut SqliteConnection,
    statement: &'static Sized,
    rows: &[T],
    doing: &'static str,
    bind: impl Fn(Bound<'static>, &T) -> Bound<'static>,
) -> Result<()> {
    let mut rest = rows;
    for (index, size) in SIZES.into_iter().enumerate() {
        while size <= rest.len() {
            let (piece, later) = rest.split_at(size);
            let mut query = sqlx::query(statement.0[index].as_str());
            for row in piece {
                query = bind(query, row);
            }
            query.execute(&mut *connection).await.map_err(Error::doing(doing))?;
            rest = later;
        }
    }
    Ok(())
}

pub(super) async fn find(
    connection: &mut SqliteConnection,
    entries: &[&Entry],
    tenants: &[TenantId],
) -> Result<Found> {
    let mut found = Found::default();
    for tenant in tenants {
        let epoch: Option<i64> = sqlx::query_scalar("SELECT epoch FROM tenant_epoch WHERE tenant_id = ?")
            .bind(tenant.uuid())
            .fetch_optional(&mut *connection)
            .await
            .map_err(Error::doing("reading epochs"))?;
        found.epochs.insert(*tenant, epoch.unwrap_or(0));
    }
    find_runs(connection, entries, &mut found).await?;
    find_sessions(connection, entries, &mut found).await?;
    Ok(found)
}

async fn find_runs(connection: &mut SqliteConnection, entries: &[&Entry], found: &mut Found) -> Result<()> {
    const Q: &str = "SELECT id, tenant_id, session_id, status, replica_id, lease_epoch, last_seq, input_seq,
        output_seq, summary, error, error_code, effect, started_us, finished_us, duration_us
        FROM runs WHERE tenant_id = ? AND id = ?";
    for (tenant, run) in existing_runs(entries) {
        let row: Option<RunRow> = sqlx::query_as(Q)
            .bind(tenant.uuid())
            .bind(run.uuid())
            .fetch_optional(&mut *connection)
            .await
            .map_err(Error::doing("reading runs"))?;
        if let Some(row) = row {
            found.runs.insert((tenant, run), row.state()?);
        }
    }
    Ok(())
}

async fn find_sessions(
    connection: &mut SqliteConnection,
    entries: &[&Entry],
    found: &mut Found,
) -> Result<()> {
    for (tenant, session) in stored_sessions(entries) {
        let seq: Option<i64> =
            sqlx::query_scalar("SELECT last_seq FROM sessions WHERE id = ? AND tenant_id = ?")
                .bind(session.uuid())
                .bind(tenant.uuid())
                .fetch_optional(&mut *connection)
                .await
                .map_err(Error::doing("reading sessions"))?;
        if let Some(seq) = seq {
            found.sessions.insert((tenant, session), seq);
        }
    }
    Ok(())
}

static INSERT_RUNS: LazyLock<Sized> = LazyLock::new(|| {
    Sized::new(
        "INSERT INTO runs (id, tenant_id, session_id, own_session, parent_run_id, root_run_id, tool_id, tool,
         version, status, source, channel, mode, principal, actor, effectful, repeatable, replica_id, lease_epoch,
         last_seq, input_seq, output_seq, summary, error, error_code, effect, started_us, finished_us, duration_us)
         VALUES ",
        29,
        "",
    )
});

static INSERT_EVENTS: LazyLock<Sized> = LazyLock::new(|| {
    Sized::new(
        "INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
         VALUES ",
        10,
        "",
    )
});

static UPDATE_RUNS: LazyLock<Sized> = LazyLock::new(|| {
    Sized::new(
        "UPDATE runs SET status = v.column3, replica_id = v.column4, lease_epoch = v.column5, last_seq = v.column6,
         input_seq = v.column7, output_seq = v.column8, summary = v.column9, error = v.column10,
         error_code = v.column11, effect = v.column12, started_us = v.column13, finished_us = v.column14,
         duration_us = v.column15 FROM (VALUES ",
        15,
        ") AS v WHERE runs.tenant_id = v.column1 AND runs.id = v.column2",
    )
});

pub(super) async fn write(connection: &mut SqliteConnection, plan: &Plan<'_>) -> Result<()> {
    in_pieces(connection, &INSERT_RUNS, &plan.new_runs, "writing runs", |query, (entry, run, state)| {
        let query = query
            .bind(entry.run.uuid())
            .bind(entry.tenant.uuid())
            .bind(entry.session.uuid())
            .bind(entry.session == entry.run.into())
            .bind(run.parent.map(RunId::uuid))
            .bind(run.root.uuid())
            .bind(run.tool_id.uuid())
            .bind(entry.tool.clone())
            .bind(run.version.clone())
            .bind(state.status.as_str())
            .bind(run.source.as_str())
            .bind(run.channel.as_str())
            .bind(run.mode.as_str())
            .bind(run.principal.clone())
            .bind(entry.actor.clone())
            .bind(run.effectful)
            .bind(run.repeatable);
        bind_state(query, state)
    })
    .await?;
    in_pieces(connection, &UPDATE_RUNS, &plan.changed_runs, "writing runs", |query, (tenant, run, state)| {
        bind_state(query.bind(tenant.uuid()).bind(run.uuid()).bind(state.status.as_str()), state)
    })
    .await?;
    for (tenant, session, seq) in &plan.sessions {
        sqlx::query("UPDATE sessions SET last_seq = ? WHERE id = ? AND tenant_id = ?")
            .bind(seq)
            .bind(session.uuid())
            .bind(tenant.uuid())
            .execute(&mut *connection)
            .await
            .map_err(Error::doing("numbering events"))?;
    }
    in_pieces(connection, &INSERT_EVENTS, &plan.events, "writing events", bind_event).await?;
    Ok(())
}

fn bind_state(query: Bound<'static>, state: &RunState) -> Bound<'static> {
    query
        .bind(state.replica.map(ReplicaId::uuid))
        .bind(state.lease_epoch)
        .bind(state.last_seq)
        .bind(state.input_seq)
        .bind(state.output_seq)
        .bind(state.summary.clone())
        .bind(state.error.clone())
        .bind(state.error_code.clone())
        .bind(state.effect.clone())
        .bind(state.started_us)
        .bind(state.finished_us)
        .bind(state.duration_us)
}

fn bind_event(query: Bound<'static>, planned: &PlannedEvent<'_>) -> Bound<'static> {
    let (entry, event) = (planned.entry, &planned.entry.events[planned.index]);
    query
        .bind(entry.tenant.uuid())
        .bind(entry.session.uuid())
        .bind(planned.seq)
        .bind(event.id.uuid())
        .bind(event.kind.as_str())
        .bind(entry.run.uuid())
        .bind(entry.tool.clone())
        .bind(entry.actor.clone())
        .bind(event.payload.clone())
        .bind(entry.at.micros())
}
