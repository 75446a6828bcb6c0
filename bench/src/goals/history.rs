//! P12: pages of runs and events out of many against the same pages out of few.

use anyhow::{Context, Result};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tw_model::{TenantId, Timestamp};
use tw_store::Target;
use uuid::Uuid;

use crate::{
    Bench, Kind, data,
    data::{ACTOR, COMPLETED, STARTED},
    floors,
    load::{self, Client, Request},
    process::Server,
    serving,
    table::{Goal, Table},
};

const FEW: u32 = 1_000;
const MANY: u32 = 1_000_000;
const TENANTS: usize = 10;
/// How often each page is read.
const READS: usize = 150;
/// Between two runs.
const STEP_MS: i64 = 2_000;

/// A server on a history of some length.
struct Side {
    server: Server,
    key: String,
    /// A stored session with a fifth of the tenant's runs.
    session: Uuid,
    runs: u32,
    first_ms: i64,
}

pub(crate) fn flat(bench: &Bench, table: &mut Table) -> Result<()> {
    for kind in Kind::ALL {
        let (Some(few), Some(many)) =
            (bench.database(kind, "history_few")?, bench.database(kind, "history_many")?)
        else {
            table.missing("P12", "there is no PostgreSQL here");
            continue;
        };
        let most = if bench.quick { MANY / 10 } else { MANY };
        bench.runtime.block_on(async {
            let (few, many) = (Side::load(few, FEW).await?, Side::load(many, most).await?);
            measure(kind, &few, &many, table).await
        })?;
    }
    Ok(())
}

async fn measure(kind: Kind, few: &Side, many: &Side, table: &mut Table) -> Result<()> {
    let (few_pages, many_pages) = (few.pages().await?, many.pages().await?);
    for ((what, few_page), (_, many_page)) in few_pages.into_iter().zip(many_pages) {
        let (mut few_client, mut many_client) = (few.client().await?, many.client().await?);
        let (few_page, many_page) = (few.get(&few_page), many.get(&many_page));
        let (mut few_us, mut many_us) = (Vec::new(), Vec::new());
        for _ in 0..READS {
            few_us.push(timed(&mut few_client, &few_page).await?);
            many_us.push(timed(&mut many_client, &many_page).await?);
        }
        let [few_us, many_us] = [few_us, many_us].map(median);
        table.ratio(
            "P12",
            &format!("{what}, p50 at {} runs against at {}, {}", million(many.runs), FEW, kind.name()),
            format!("{:.2} ms", many_us / 1e3),
            format!("{:.2} ms", few_us / 1e3),
            many_us / few_us,
            Goal::AtMost { aim: 1.2, accept: 2.0 },
        );
    }
    Ok(())
}

fn million(runs: u32) -> String {
    if runs == MANY { "1 million".to_owned() } else { runs.to_string() }
}

async fn timed(client: &mut Client, request: &Request) -> Result<f64> {
    let sent = std::time::Instant::now();
    client.call(request).await?;
    Ok(sent.elapsed().as_secs_f64() * 1e6)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

impl Side {
    async fn load(target: Target, runs: u32) -> Result<Self> {
        let tenants = data::tenants(&target, TENANTS).await?;
        let first = tenants.first().context("the tenants just made")?;
        let first_ms = Timestamp::now().micros() / 1000 - i64::from(runs) * STEP_MS;
        let session = Uuid::now_v7();
        let history = History { runs, first_ms, session, tenant: first.id, others: &tenants[1..] };
        match &target {
            Target::Sqlite { file } => history.fill_sqlite(file).await?,
            Target::Postgres { url } => history.fill_postgres(url).await?,
        }
        let server = Server::start("subject", &serving(&target))?;
        Ok(Self { server, key: first.key.clone(), session, runs, first_ms })
    }

    async fn client(&self) -> Result<Client> {
        Client::connect(self.server.port).await
    }

    fn get(&self, path: &str) -> Request {
        load::get(path, &self.key)
    }

    /// The pages to read. Each has 50 items, whatever the length of the history.
    async fn pages(&self) -> Result<Vec<(&'static str, String)>> {
        let half = self.first_ms + i64::from(self.runs / 2) * STEP_MS;
        let half = Timestamp::from_micros(half * 1000);
        // The cursor says where, not which filter led there.
        let cursor = self.json(&format!("/api/runs?limit=1&until={half}")).await?;
        let cursor = cursor["next_cursor"].as_str().context("there are runs before the middle")?;
        let session = self.session;
        let middle = self.runs / 5 / 2;
        let pages = vec![
            ("newest runs", "/api/runs?limit=50".to_owned()),
            ("runs from the middle on, by cursor", format!("/api/runs?limit=50&cursor={cursor}")),
            ("runs of one tool", "/api/runs?limit=50&tool=tool-3".to_owned()),
            ("runs that failed", "/api/runs?limit=50&status=error".to_owned()),
            (
                "events from the middle of a long session",
                format!("/api/sessions/{session}/events?limit=50&after={middle}"),
            ),
        ];
        for (what, page) in &pages {
            let answer = self.json(page).await?;
            let items = answer["items"].as_array().map_or(0, Vec::len);
            anyhow::ensure!(items == 50, "{what}: a page of {items}");
        }
        Ok(pages)
    }

    async fn json(&self, path: &str) -> Result<Value> {
        let mut client = self.client().await?;
        Ok(serde_json::from_slice(client.call(&self.get(path)).await?)?)
    }
}

/// Runs as they would be after weeks: nine in ten of one tenant, 5 tools, one in sixteen failed, a fifth
/// in one long session, the rest each a session of its own.
struct History<'a> {
    runs: u32,
    first_ms: i64,
    session: Uuid,
    tenant: TenantId,
    others: &'a [data::Tenant],
}

/// The columns of both tables, in the order of the SELECT of both databases.
const RUNS: &str = "INSERT INTO runs (id, tenant_id, session_id, own_session, root_run_id, tool_id, tool, version, status,
    source, channel, mode, principal, actor, effectful, repeatable, lease_epoch, last_seq, input_seq, output_seq, summary,
    error, error_code, listed_us, requested_us, started_us, finished_us, duration_us)";
const EVENTS: &str =
    "INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)";
const FAILED: &str =
    r#"{"error":"the other side did not answer","error_code":"TOOL_FAILED","duration_ms":12}"#;

impl History<'_> {
    async fn fill_sqlite(&self, file: &std::path::Path) -> Result<()> {
        let blob = |id: Uuid| format!("x'{}'", id.simple());
        let mut connection = floors::sqlite_for_loading(file).await?;
        let others = self.others.iter().enumerate();
        let others: String = others
            .map(|(number, tenant)| format!("WHEN {number} THEN {} ", blob(tenant.id.uuid())))
            .collect();
        // One row per run to derive both tables from; the id is a UUIDv7 of the run's moment.
        let calls = format!(
            "CREATE TEMP TABLE calls AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {runs})
             SELECT i, {first_ms} + i * {STEP_MS} AS ms,
             unhex(printf('%012x7%03xa%015x', {first_ms} + i * {STEP_MS}, i % 4096, i * 2654435761)) AS id,
             CASE WHEN i % 10 = 9 THEN CASE i / 10 % 9 {others} END ELSE {tenant} END AS tenant,
             i % 10 IN (1, 6) AS in_session, i % 16 = 3 AS failed, 'tool-' || (i / 3 % 5) AS tool FROM n",
            runs = self.runs,
            first_ms = self.first_ms,
            tenant = blob(self.tenant.uuid()),
        );
        let session = blob(self.session);
        let runs = format!(
            "{RUNS} SELECT id, tenant, iif(in_session, {session}, id), NOT in_session, id, id, tool, '1.0.0',
             iif(failed, 'error', 'success'), 'api', 'rest', 'production', 'user:' || hex(tenant), '{ACTOR}', 0, 1, 1,
             {seq} + 1, {seq}, {seq} + 1, iif(failed, NULL, 'the sum is 3.75'),
             iif(failed, 'the other side did not answer', NULL), iif(failed, 'TOOL_FAILED', NULL),
             ms * 1000, ms * 1000, ms * 1000, ms * 1000 + 12000, 12000 FROM calls ORDER BY i",
            seq = SEQ,
        );
        let events = format!(
            "{EVENTS} SELECT tenant, iif(in_session, {session}, id), {SEQ} + k.k, iif(k.k, randomblob(16), id),
             iif(k.k, iif(failed, 'tool.failed', 'tool.completed'), 'tool.started'), id, tool, '{ACTOR}',
             iif(k.k, iif(failed, '{FAILED}', '{COMPLETED}'), '{STARTED}'), ms * 1000 + k.k * 12000
             FROM calls, (SELECT 0 AS k UNION ALL SELECT 1) AS k ORDER BY i, k.k"
        );
        let sessions = format!(
            "INSERT INTO sessions (id, tenant_id, kind, principal, last_seq, created_us, updated_us)
             SELECT {session}, {}, 'api', 'operator', count(*) * 2, 0, 0 FROM calls WHERE in_session",
            blob(self.tenant.uuid())
        );
        for sql in [calls, runs, events, sessions, "PRAGMA wal_checkpoint(TRUNCATE)".to_owned()] {
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
        }
        Ok(connection.close().await?)
    }

    async fn fill_postgres(&self, url: &str) -> Result<()> {
        let mut connection = PgConnection::connect(url).await?;
        let others: String = self
            .others
            .iter()
            .enumerate()
            .map(|(number, tenant)| format!("WHEN {number} THEN '{}'::uuid ", tenant.id))
            .collect();
        let calls = format!(
            "CREATE TEMP TABLE calls AS SELECT i, {first_ms} + i * {STEP_MS} AS ms,
             (lpad(to_hex({first_ms} + i * {STEP_MS}), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || 'a'
              || lpad(to_hex(i * 2654435761), 15, '0'))::uuid AS id,
             CASE WHEN i % 10 = 9 THEN CASE i / 10 % 9 {others} END ELSE '{tenant}'::uuid END AS tenant,
             i % 10 IN (1, 6) AS in_session, i % 16 = 3 AS failed, 'tool-' || (i / 3 % 5) AS tool
             FROM generate_series(1::bigint, {runs}::bigint) AS n (i)",
            runs = self.runs,
            first_ms = self.first_ms,
            tenant = self.tenant,
        );
        let session = format!("'{}'::uuid", self.session);
        let runs = format!(
            "{RUNS} SELECT id, tenant, CASE WHEN in_session THEN {session} ELSE id END, NOT in_session, id, id, tool,
             '1.0.0', CASE WHEN failed THEN 'error' ELSE 'success' END, 'api', 'rest', 'production', 'user:' || tenant,
             '{ACTOR}', false, true, 1, {SEQ} + 1, {SEQ}, {SEQ} + 1, CASE WHEN NOT failed THEN 'the sum is 3.75' END,
             CASE WHEN failed THEN 'the other side did not answer' END, CASE WHEN failed THEN 'TOOL_FAILED' END,
             ms * 1000, ms * 1000, ms * 1000, ms * 1000 + 12000, 12000 FROM calls ORDER BY i"
        );
        let events = format!(
            "{EVENTS} SELECT tenant, CASE WHEN in_session THEN {session} ELSE id END, {SEQ} + k,
             CASE WHEN k = 1 THEN gen_random_uuid() ELSE id END,
             CASE WHEN k = 0 THEN 'tool.started' WHEN failed THEN 'tool.failed' ELSE 'tool.completed' END, id, tool,
             '{ACTOR}', CASE WHEN k = 0 THEN '{STARTED}' WHEN failed THEN '{FAILED}' ELSE '{COMPLETED}' END,
             ms * 1000 + k * 12000 FROM calls, generate_series(0, 1) AS k ORDER BY i, k"
        );
        let sessions = format!(
            "INSERT INTO sessions (id, tenant_id, kind, principal, last_seq, created_us, updated_us)
             SELECT {session}, '{}', 'api', 'operator', count(*) * 2, 0, 0 FROM calls WHERE in_session",
            self.tenant
        );
        // As the database's own housekeeping would in time.
        for sql in [
            calls,
            runs,
            events,
            sessions,
            "VACUUM ANALYZE runs".to_owned(),
            "VACUUM ANALYZE session_events".to_owned(),
        ] {
            connection.execute(AssertSqlSafe(sql)).await?;
        }
        Ok(connection.close().await?)
    }
}

/// The number of a run's first event: in the long session, two runs of every ten.
const SEQ: &str =
    "(CASE WHEN in_session THEN (i / 10 * 2 + (CASE WHEN i % 10 = 6 THEN 1 ELSE 0 END)) * 2 + 1 ELSE 1 END)";
