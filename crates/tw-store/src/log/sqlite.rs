//! Carries groups out on SQLite, by a connection of its own. The writer is alone, so reading is locking.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rusqlite::{
    CachedStatement, Connection, Row, Statement as Prepared, ToSql, Transaction, TransactionBehavior, params,
    params_from_iter,
    types::{ToSqlOutput, Value as Stored, ValueRef},
};
use tw_model::{AuditId, ReplicaId, RunId, SessionId, TenantId, WebhookDeliveryId};

use super::{
    entry::{Audit, Item, Rejected},
    lane::{Group, Outcome, PATIENCE, Written},
    plan::{Found, Plan, RunState, WebhookTelling, existing_runs, plan, stored_sessions, told},
    rows::{self, Needed, RunRow, Statement, Value},
};
use crate::{
    db::File,
    error::{Error, Result},
};

/// Writes groups, on the thread that it is called on.
#[derive(Debug)]
pub(super) struct Writer {
    file: Arc<File>,
    connection: Option<Connection>,
}

impl Writer {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self { file, connection: None }
    }

    pub(super) async fn carry_out(&mut self, group: &Group) -> Outcome {
        let Self { file, connection } = self;
        let turn = tokio::time::timeout(PATIENCE, file.turn.lock());
        let _turn = turn.await.map_err(|_| crate::timed_out())?;
        let written = catch_unwind(AssertUnwindSafe(|| carry_out(file, connection, group)));
        let usable = written.is_ok() && connection.as_ref().is_none_or(Connection::is_autocommit);
        if !usable {
            *connection = None;
        }
        // A panic has spoken for itself.
        written.unwrap_or_else(|_| Err(Error::crashed()))
    }
}

fn carry_out(file: &File, connection: &mut Option<Connection>, group: &Group) -> Outcome {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(file.connect().map_err(Error::doing("opening the database file"))?),
    };
    let items = &group.items();
    let tx = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(Error::doing("beginning a transaction"))?;
    let found = find(&tx, items)?;
    let refused = decide_first(&tx, items, &found)?;
    let plan = plan(items, found, &refused);
    write(&tx, &plan)?;
    let is_told = tell(&tx, &plan.tellings).map_err(Error::doing("telling webhooks"))?;
    tx.commit().map_err(Error::doing("committing"))?;
    Ok(Written { answers: plan.answers, is_told })
}

const FIND_EPOCH: &str = "SELECT tenant_id, epoch, webhook_events FROM tenant_epoch WHERE tenant_id = ?1";
const FIND_RUN: &str =
    "SELECT id, tenant_id, session_id, status, replica_id, lease_epoch, last_seq, input_seq,
    output_seq, summary, error, error_code, effect, started_us, finished_us, duration_us, listed_us
    FROM runs WHERE tenant_id = ?1 AND id = ?2";
const FIND_SESSION: &str = "SELECT tenant_id, id, last_seq FROM sessions WHERE tenant_id = ?1 AND id = ?2";

fn find(tx: &Transaction<'_>, items: &[&Item]) -> Result<Found> {
    let mut found = Found::default();
    let mut tenants: Vec<_> = items.iter().map(|item| item.tenant()).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let epochs = each(tx, FIND_EPOCH, &tenants, |statement, tenant| {
        statement.query_row([tenant.uuid()], |row| {
            Ok((TenantId::from_uuid(row.get(0)?), row.get(1)?, row.get(2)?))
        })
    });
    for (tenant, epoch, told) in epochs.map_err(Error::doing("reading epochs"))? {
        found.epochs.insert(tenant, epoch);
        found.told.insert(tenant, told);
    }
    let runs = each(tx, FIND_RUN, &existing_runs(items), |statement, (tenant, run)| {
        statement.query_row([tenant.uuid(), run.uuid()], run_row)
    });
    for row in runs.map_err(Error::doing("reading runs"))? {
        found.runs.insert((TenantId::from_uuid(row.tenant_id), RunId::from_uuid(row.id)), row.state()?);
    }
    let sessions = each(tx, FIND_SESSION, &stored_sessions(items), |statement, (tenant, session)| {
        statement.query_row([tenant.uuid(), session.uuid()], |row| {
            let key = (TenantId::from_uuid(row.get(0)?), SessionId::from_uuid(row.get(1)?));
            Ok((key, row.get(2)?))
        })
    });
    found.sessions = sessions.map_err(Error::doing("reading sessions"))?.into_iter().collect();
    Ok(found)
}

/// Prepares a statement, once per connection, and tells it as those of the pools are told.
fn prepare<'t>(tx: &'t Transaction<'_>, sql: &str) -> rusqlite::Result<CachedStatement<'t>> {
    tracing::event!(target: "sqlx::query", tracing::Level::TRACE, db.statement = sql);
    tx.prepare_cached(sql)
}

/// Asks for the row of each key, and leaves out those that have none.
fn each<K, R>(
    tx: &Transaction<'_>,
    sql: &str,
    keys: &[K],
    ask: impl Fn(&mut Prepared<'_>, &K) -> rusqlite::Result<R>,
) -> rusqlite::Result<Vec<R>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = prepare(tx, sql)?;
    let mut rows = Vec::with_capacity(keys.len());
    for key in keys {
        match ask(&mut statement, key) {
            Ok(row) => rows.push(row),
            Err(rusqlite::Error::QueryReturnedNoRows) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(rows)
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        tenant_id: row.get(1)?,
        session_id: row.get(2)?,
        status: row.get(3)?,
        replica_id: row.get(4)?,
        lease_epoch: row.get(5)?,
        last_seq: row.get(6)?,
        input_seq: row.get(7)?,
        output_seq: row.get(8)?,
        summary: row.get(9)?,
        error: row.get(10)?,
        error_code: row.get(11)?,
        effect: row.get(12)?,
        started_us: row.get(13)?,
        finished_us: row.get(14)?,
        duration_us: row.get(15)?,
        listed_us: row.get(16)?,
    })
}

fn decide_first(tx: &Transaction<'_>, items: &[&Item], found: &Found) -> Result<HashMap<usize, Rejected>> {
    let (needed, refused) = rows::first(items, found);
    let mut refused: HashMap<_, _> = refused.into_iter().collect();
    for Needed { index, statement, or_else } in needed {
        if say(tx, &statement)? == 0 {
            refused.insert(index, or_else);
        }
    }
    Ok(refused)
}

/// Says one statement, and returns how many rows it changed.
fn say(tx: &Transaction<'_>, statement: &Statement<'_>) -> Result<usize> {
    let said = || prepare(tx, statement.sql)?.execute(params_from_iter(&statement.values));
    said().map_err(Error::doing(statement.doing))
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Id(Some(id)) => ToSqlOutput::Borrowed(ValueRef::Blob(id.as_bytes())),
            Self::Text(Some(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(Some(bytes)) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Number(Some(number)) => ToSqlOutput::Owned(Stored::Integer(*number)),
            Self::Id(None) | Self::Text(None) | Self::Bytes(None) | Self::Number(None) => {
                ToSqlOutput::Owned(Stored::Null)
            }
        })
    }
}

const INSERT_RUN: &str = "INSERT INTO runs (status, replica_id, lease_epoch, last_seq, input_seq, output_seq,
    summary, error, error_code, effect, started_us, finished_us, duration_us, listed_us, tenant_id, id, session_id,
    own_session, parent_run_id, root_run_id, tool_id, tool, version, source, channel, mode, principal, actor,
    effectful, repeatable, requested_us) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
    ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)";
const UPDATE_RUN: &str = "UPDATE runs SET status = ?1, replica_id = ?2, lease_epoch = ?3, last_seq = ?4,
    input_seq = ?5, output_seq = ?6, summary = ?7, error = ?8, error_code = ?9, effect = ?10, started_us = ?11,
    finished_us = ?12, duration_us = ?13, listed_us = ?14 WHERE tenant_id = ?15 AND id = ?16";
/// Names no column that an index knows, so that no index is looked at.
const NUMBER_RUN: &str = "UPDATE runs SET last_seq = ?1 WHERE tenant_id = ?2 AND id = ?3";
const NUMBER_SESSION: &str = "UPDATE sessions SET last_seq = ?1 WHERE tenant_id = ?2 AND id = ?3";
const INSERT_EVENT: &str = "INSERT INTO session_events
    (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const INSERT_AUDIT: &str = "INSERT INTO audit_log
    (id, tenant_id, at_us, actor, action, object, before, after, request_id, note)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

fn write(tx: &Transaction<'_>, plan: &Plan<'_>) -> Result<()> {
    write_runs(tx, plan).map_err(Error::doing("writing runs"))?;
    number_sessions(tx, plan).map_err(Error::doing("numbering events"))?;
    write_events(tx, plan).map_err(Error::doing("writing events"))?;
    for statement in rows::waits(plan) {
        say(tx, &statement)?;
    }
    write_audits(tx, plan).map_err(Error::doing("writing the audit"))
}

const FIND_WEBHOOKS: &str = "SELECT id, tenant_id, events FROM webhooks
    WHERE tenant_id = ?1 AND enabled";
const TELL: &str =
    "INSERT INTO webhook_deliveries (id, tenant_id, webhook_id, type, run_id, at_us, state, next_us)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?6
    WHERE (?4 NOT IN ('run.completed', 'run.failed') OR EXISTS (SELECT 1 FROM runs r
            WHERE r.tenant_id = ?2 AND r.id = ?5 AND r.parent_run_id IS NULL AND r.mode = 'production'))
        AND (?4 <> 'approval.decided' OR EXISTS (SELECT 1 FROM approvals a
            WHERE a.run_id = ?5 AND a.tenant_id = ?2 AND a.decided_us = ?6))";

/// Writes what webhooks are told, and says whether there is any of it.
fn tell(tx: &Transaction<'_>, tellings: &[WebhookTelling]) -> rusqlite::Result<bool> {
    if tellings.is_empty() {
        return Ok(false);
    }
    let mut tenants: Vec<_> = tellings.iter().map(|telling| telling.tenant).collect();
    tenants.sort_unstable();
    tenants.dedup();
    let mut find = prepare(tx, FIND_WEBHOOKS)?;
    let mut webhooks = Vec::new();
    for tenant in tenants {
        let rows = find.query_map([tenant.uuid()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        webhooks.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    let mut insert = prepare(tx, TELL)?;
    let mut written = 0;
    for (WebhookTelling { tenant, event, run, at }, webhook) in told(tellings, &webhooks) {
        let id = WebhookDeliveryId::new().uuid();
        let values = params![id, tenant.uuid(), webhook, event.as_str(), run.uuid(), at.micros()];
        written += insert.execute(values)?;
    }
    Ok(written != 0)
}

fn write_audits(tx: &Transaction<'_>, plan: &Plan<'_>) -> rusqlite::Result<()> {
    if plan.audits.is_empty() {
        return Ok(());
    }
    let mut insert = prepare(tx, INSERT_AUDIT)?;
    for (item, Audit { by, what }) in &plan.audits {
        insert.execute(params![
            AuditId::new().uuid(),
            item.tenant().uuid(),
            item.at().micros(),
            by.actor,
            what.action,
            what.object,
            what.before.as_ref().map(ToString::to_string),
            what.after.as_ref().map(ToString::to_string),
            by.request_id,
            what.note,
        ])?;
    }
    Ok(())
}

fn write_runs(tx: &Transaction<'_>, plan: &Plan<'_>) -> rusqlite::Result<()> {
    let mut insert = prepare(tx, INSERT_RUN)?;
    for (entry, run, state) in &plan.new_runs {
        bind_state(&mut insert, state)?;
        bind_key(&mut insert, entry.tenant, entry.run)?;
        insert.raw_bind_parameter(17, entry.session.uuid())?;
        insert.raw_bind_parameter(18, entry.session == entry.run.into())?;
        insert.raw_bind_parameter(19, run.parent.map(RunId::uuid))?;
        insert.raw_bind_parameter(20, run.root.uuid())?;
        insert.raw_bind_parameter(21, run.tool_id.uuid())?;
        insert.raw_bind_parameter(22, &*entry.tool)?;
        insert.raw_bind_parameter(23, &*run.version)?;
        insert.raw_bind_parameter(24, run.source.as_str())?;
        insert.raw_bind_parameter(25, run.channel.as_str())?;
        insert.raw_bind_parameter(26, run.mode.as_str())?;
        insert.raw_bind_parameter(27, &*run.principal)?;
        insert.raw_bind_parameter(28, &*entry.actor)?;
        insert.raw_bind_parameter(29, run.effectful)?;
        insert.raw_bind_parameter(30, run.repeatable)?;
        insert.raw_bind_parameter(31, entry.at.micros())?;
        insert.raw_execute()?;
    }
    let mut update = prepare(tx, UPDATE_RUN)?;
    let mut number = prepare(tx, NUMBER_RUN)?;
    for changed in &plan.changed_runs {
        if changed.only_numbered {
            number.execute(params![changed.state.last_seq, changed.tenant.uuid(), changed.run.uuid()])?;
        } else {
            bind_state(&mut update, &changed.state)?;
            bind_key(&mut update, changed.tenant, changed.run)?;
            update.raw_execute()?;
        }
    }
    Ok(())
}

fn bind_state(statement: &mut Prepared<'_>, state: &RunState) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(1, state.status.as_str())?;
    statement.raw_bind_parameter(2, state.replica.map(ReplicaId::uuid))?;
    statement.raw_bind_parameter(3, state.lease_epoch)?;
    statement.raw_bind_parameter(4, state.last_seq)?;
    statement.raw_bind_parameter(5, state.input_seq)?;
    statement.raw_bind_parameter(6, state.output_seq)?;
    statement.raw_bind_parameter(7, state.summary.as_deref())?;
    statement.raw_bind_parameter(8, state.error.as_deref())?;
    statement.raw_bind_parameter(9, state.error_code.as_deref())?;
    statement.raw_bind_parameter(10, state.effect.as_deref())?;
    statement.raw_bind_parameter(11, state.started_us)?;
    statement.raw_bind_parameter(12, state.finished_us)?;
    statement.raw_bind_parameter(13, state.duration_us)?;
    statement.raw_bind_parameter(14, state.listed_us)
}

/// After what [`bind_state`] binds.
fn bind_key(statement: &mut Prepared<'_>, tenant: TenantId, run: RunId) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(15, tenant.uuid())?;
    statement.raw_bind_parameter(16, run.uuid())
}

fn number_sessions(tx: &Transaction<'_>, plan: &Plan<'_>) -> rusqlite::Result<()> {
    for (tenant, session, seq) in &plan.sessions {
        prepare(tx, NUMBER_SESSION)?.execute(params![seq, tenant.uuid(), session.uuid()])?;
    }
    Ok(())
}

fn write_events(tx: &Transaction<'_>, plan: &Plan<'_>) -> rusqlite::Result<()> {
    let mut insert = prepare(tx, INSERT_EVENT)?;
    for planned in &plan.events {
        insert.execute(params![
            planned.tenant.uuid(),
            planned.session.uuid(),
            planned.seq,
            planned.event.id.uuid(),
            planned.event.kind.as_str(),
            planned.run.map(RunId::uuid),
            planned.tool,
            planned.actor,
            planned.event.payload,
            planned.at.micros(),
        ])?;
    }
    Ok(())
}
