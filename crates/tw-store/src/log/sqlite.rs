//! Carries a group out on SQLite. The writer is alone, so reading is locking.

use std::sync::LazyLock;

use sqlx::{
    Sqlite, SqliteConnection,
    query::{Query, QueryAs},
    sqlite::{SqliteArguments, SqliteRow},
};
use tw_model::{ReplicaId, RunId, SessionId, TenantId};
use uuid::Uuid;

use super::{
    entry::Entry,
    plan::{Found, Plan, PlannedEvent, RunState, existing_runs, stored_sessions},
    rows::RunRow,
};
use crate::error::{Error, Result};

/// How many rows one statement carries. Each size is prepared once.
const SIZES: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

/// A statement in each of [`SIZES`].
struct Sized([String; SIZES.len()]);

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

    /// The rows in as few pieces as there are statements for, each with its own.
    fn pieces<'r, T>(&'static self, mut rows: &'r [T]) -> impl Iterator<Item = (&'static str, &'r [T])> {
        std::iter::from_fn(move || {
            let index = SIZES.iter().position(|size| *size <= rows.len())?;
            let (piece, later) = rows.split_at(SIZES[index]);
            rows = later;
            Some((self.0[index].as_str(), piece))
        })
    }
}

type Bound<'q> = Query<'q, Sqlite, SqliteArguments>;
type BoundAs<'q, R> = QueryAs<'q, Sqlite, R, SqliteArguments>;

/// Runs a sized statement over all rows, in pieces.
async fn in_pieces<T>(
    connection: &mut SqliteConnection,
    statement: &'static Sized,
    rows: &[T],
    doing: &'static str,
    bind: impl Fn(Bound<'static>, &T) -> Bound<'static>,
) -> Result<()> {
    for (sql, piece) in statement.pieces(rows) {
        let query = piece.iter().fold(sqlx::query(sql), &bind);
        query.execute(&mut *connection).await.map_err(Error::doing(doing))?;
    }
    Ok(())
}

/// Reads rows by their keys with a sized statement, in pieces.
async fn find_in_pieces<T, R>(
    connection: &mut SqliteConnection,
    statement: &'static Sized,
    keys: &[T],
    doing: &'static str,
    bind: impl Fn(BoundAs<'static, R>, &T) -> BoundAs<'static, R>,
) -> Result<Vec<R>>
where
    R: for<'r> sqlx::FromRow<'r, SqliteRow> + Send + Unpin,
{
    let mut found = Vec::new();
    for (sql, piece) in statement.pieces(keys) {
        let query = piece.iter().fold(sqlx::query_as(sql), &bind);
        found.extend(query.fetch_all(&mut *connection).await.map_err(Error::doing(doing))?);
    }
    Ok(found)
}

// `CROSS JOIN` makes the database go from the keys to the rows, whatever it believes to know of either.
static FIND_EPOCHS: LazyLock<Sized> = LazyLock::new(|| {
    Sized::new(
        "SELECT e.tenant_id, e.epoch FROM (VALUES ",
        1,
        ") AS w CROSS JOIN tenant_epoch e ON e.tenant_id = w.column1",
    )
});

static FIND_RUNS: LazyLock<Sized> = LazyLock::new(|| {
    Sized::new(
        "SELECT r.id, r.tenant_id, r.session_id, r.status, r.replica_id, r.lease_epoch, r.last_seq, r.input_seq,
         r.output_seq, r.summary, r.error, r.error_code, r.effect, r.started_us, r.finished_us, r.duration_us
         FROM (VALUES ",
        2,
        ") AS w CROSS JOIN runs r ON r.tenant_id = w.column1 AND r.id = w.column2",
    )
});

static FIND_SESSIONS: LazyLock<Sized> = LazyLock::new(|| {
    Sized::new(
        "SELECT s.tenant_id, s.id, s.last_seq FROM (VALUES ",
        2,
        ") AS w CROSS JOIN sessions s ON s.tenant_id = w.column1 AND s.id = w.column2",
    )
});

pub(super) async fn find(
    connection: &mut SqliteConnection,
    entries: &[&Entry],
    tenants: &[TenantId],
) -> Result<Found> {
    let mut found = Found::default();
    let epochs: Vec<(Uuid, i64)> =
        find_in_pieces(connection, &FIND_EPOCHS, tenants, "reading epochs", |query, tenant| {
            query.bind(tenant.uuid())
        })
        .await?;
    found.epochs = epochs.into_iter().map(|(tenant, epoch)| (TenantId::from_uuid(tenant), epoch)).collect();
    let runs: Vec<RunRow> = find_in_pieces(
        connection,
        &FIND_RUNS,
        &existing_runs(entries),
        "reading runs",
        |query, (tenant, run)| query.bind(tenant.uuid()).bind(run.uuid()),
    )
    .await?;
    for row in runs {
        found.runs.insert((TenantId::from_uuid(row.tenant_id), RunId::from_uuid(row.id)), row.state()?);
    }
    let sessions: Vec<(Uuid, Uuid, i64)> = find_in_pieces(
        connection,
        &FIND_SESSIONS,
        &stored_sessions(entries),
        "reading sessions",
        |query, (tenant, session)| query.bind(tenant.uuid()).bind(session.uuid()),
    )
    .await?;
    found.sessions = sessions
        .into_iter()
        .map(|(tenant, session, seq)| ((TenantId::from_uuid(tenant), SessionId::from_uuid(session)), seq))
        .collect();
    Ok(found)
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
