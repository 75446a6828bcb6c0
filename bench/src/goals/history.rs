//! P12: every list of runs, events, approvals and waiting calls, and a cancel, with many runs against with few.

use anyhow::{Context, Result};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use tw_model::{Mode, RunStatus, Source, TenantId, Timestamp};
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
const READS: usize = 100;
/// How many items a page has.
const PAGE: usize = 40;
/// Between two runs.
const STEP_MS: i64 = 2_000;
/// How many of the last runs wait, if they ever did. A history grows, what waits does not.
const OPEN: u32 = 640;

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
        let (few_page, many_page) = (few.get(&few_page), many.get(&many_page));
        let both = [vec![few_page; READS], vec![many_page; READS]];
        compare(kind, &what, [few, many], both, table).await?;
    }
    for status in [RunStatus::NeedsApproval, RunStatus::Pending] {
        let both = [few.cancels(status).await?, many.cancels(status).await?];
        compare(kind, &format!("cancel of a run that is {}", status.as_str()), [few, many], both, table)
            .await?;
    }
    Ok(())
}

/// Sends the requests of both sides in turn.
async fn compare(
    kind: Kind,
    what: &str,
    [few, many]: [&Side; 2],
    [few_asks, many_asks]: [Vec<Request>; 2],
    table: &mut Table,
) -> Result<()> {
    let (mut few_client, mut many_client) = (few.client().await?, many.client().await?);
    let (mut few_us, mut many_us) = (Vec::new(), Vec::new());
    for (few_ask, many_ask) in few_asks.iter().zip(&many_asks) {
        few_us.push(timed(&mut few_client, few_ask).await?);
        many_us.push(timed(&mut many_client, many_ask).await?);
    }
    let [few_us, many_us] = [few_us, many_us].map(median);
    table.ratio(
        "P12",
        &format!("{what}, p50 at {} runs against at {}, {}", million(many.runs), few.runs, kind.name()),
        format!("{:.2} ms", many_us / 1e3),
        format!("{:.2} ms", few_us / 1e3),
        many_us / few_us,
        Goal::AtMost { aim: 1.2, accept: 2.0 },
    );
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

    /// The pages to read: each has as many items, whatever the length of the history.
    async fn pages(&self) -> Result<Vec<(String, String)>> {
        let moment = |part: u32| {
            Timestamp::from_micros((self.first_ms + i64::from(self.runs / 8 * part) * STEP_MS) * 1000)
        };
        // The cursor says where, not which filter led there.
        let cursor = self.json(&format!("/api/runs?limit=1&until={}", moment(4))).await?;
        let cursor = cursor["next_cursor"].as_str().context("there are runs before the middle")?;
        let mut filters = vec![
            ("newest runs".to_owned(), String::new()),
            ("runs from the middle on, by cursor".to_owned(), format!("&cursor={cursor}")),
            ("runs of one tool".to_owned(), "&tool=tool-3".to_owned()),
            ("production runs of one tool".to_owned(), "&tool=tool-3&mode=production".to_owned()),
            ("runs of a session".to_owned(), format!("&session_id={}", self.session)),
            ("runs that a run began".to_owned(), format!("&parent_run_id={}", id_of(self.first_ms, 1))),
            ("runs that ended with a code".to_owned(), "&error_code=TIMEOUT".to_owned()),
            ("runs since a moment".to_owned(), format!("&since={}", moment(1))),
            ("runs until a moment".to_owned(), format!("&until={}", moment(4))),
            ("runs of a span".to_owned(), format!("&since={}&until={}", moment(1), moment(4))),
        ];
        let by = |name: &str, word: &str| (format!("runs with {name} {word}"), format!("&{name}={word}"));
        filters.extend(RunStatus::ALL.map(|status| by("status", status.as_str())));
        filters.extend(Source::ALL.map(|source| by("source", source.as_str())));
        filters.extend([Mode::Production, Mode::Debug].map(|mode| by("mode", mode.as_str())));
        let mut pages: Vec<_> = filters
            .into_iter()
            .map(|(what, filter)| (what, format!("/api/runs?limit={PAGE}{filter}")))
            .collect();
        let (session, middle) = (self.session, (self.runs - OPEN) / 5);
        let others = [
            (
                "events from the middle of a long session",
                format!("/api/sessions/{session}/events?after={middle}&"),
            ),
            ("approvals", "/api/approvals?".to_owned()),
            ("approvals to decide", "/api/approvals?status=pending&".to_owned()),
            ("approvals that were given", "/api/approvals?status=approved&".to_owned()),
            ("calls that wait for people", "/api/pending-calls?".to_owned()),
        ];
        pages.extend(others.map(|(what, path)| (what.to_owned(), format!("{path}limit={PAGE}"))));
        for (what, page) in &pages {
            let items = self.items(page).await?.len();
            // What runs at this moment is closed as left over.
            let expected = if page.ends_with("status=running") { 0 } else { PAGE };
            anyhow::ensure!(items == expected, "{what}: a page of {items}");
        }
        Ok(pages)
    }

    /// Requests that cancel a page of runs, each one.
    async fn cancels(&self, status: RunStatus) -> Result<Vec<Request>> {
        let runs = self.items(&format!("/api/runs?limit={PAGE}&status={}", status.as_str())).await?;
        let cancel = |run: &Value| {
            let id = run["run_id"].as_str().context("a run has an id")?;
            Ok(load::post(&format!("/api/runs/{id}/cancel"), Some(&self.key), b"{}"))
        };
        runs.iter().map(cancel).collect()
    }

    async fn items(&self, page: &str) -> Result<Vec<Value>> {
        Ok(self.json(page).await?["items"].as_array().cloned().unwrap_or_default())
    }

    async fn json(&self, path: &str) -> Result<Value> {
        let mut client = self.client().await?;
        Ok(serde_json::from_slice(client.call(&self.get(path)).await?)?)
    }
}

/// The id of a run: a UUIDv7 of its moment.
fn id_of(first_ms: i64, number: i64) -> Uuid {
    let ms = first_ms + number * STEP_MS;
    let text = format!("{ms:012x}7{:03x}a{:015x}", number % 4096, number * 2_654_435_761);
    Uuid::try_parse(&text).unwrap_or_default()
}

/// Runs as they would be after weeks: nine in ten of one tenant, 5 tools, all ends and sources, a fifth in one long
/// session, the rest each a session of its own. A quarter of them waited once, for an approval or a person; the last
/// still do.
struct History<'a> {
    runs: u32,
    first_ms: i64,
    session: Uuid,
    tenant: TenantId,
    others: &'a [data::Tenant],
}

/// The columns of the tables, in the order of the SELECTs of both databases.
const RUNS: &str = "INSERT INTO runs (id, tenant_id, session_id, own_session, parent_run_id, root_run_id, tool_id, tool,
    version, status, source, channel, mode, principal, actor, effectful, repeatable, lease_epoch, last_seq, input_seq,
    output_seq, summary, error, error_code, listed_us, requested_us, started_us, finished_us, duration_us)";
const EVENTS: &str =
    "INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)";
const PENDING: &str =
    "INSERT INTO pending_calls (id, tenant_id, run_id, waits_for, state, context, expires_us, created_us,
    updated_us, tool)";
const APPROVALS: &str =
    "INSERT INTO approvals (id, tenant_id, run_id, tool_id, tool, version, input, input_digest,
    definition_hash, seal, level, reason, requested_by, owner_id, requested_us, expires_us, status)";
const FAILED: &str =
    r#"{"error":"the other side did not answer","error_code":"TOOL_FAILED","duration_ms":12}"#;
/// What a call that waits is resumed with.
const CONTEXT: &str = r#"{"principal":{"kind":"user","id":"01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11"},"display_name":"Admin","role":"admin","source":"api","channel":"rest","mode":"production","session":"01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a13","chain":[]}"#;
/// A moment that no measurement lives to see.
const FAR_US: i64 = 4_000_000_000_000_000;

/// What a run is like, by its number: the same words for both databases.
const KIND: &str = "CASE WHEN i % 8 = 0 THEN 'approval' WHEN i % 8 = 4 THEN 'person' END AS waits,
    CASE i % 16 WHEN 13 THEN 'web' WHEN 14 THEN 'agent' WHEN 15 THEN 'embed' ELSE 'api' END AS source,
    CASE i % 16 WHEN 11 THEN 'debug' ELSE 'production' END AS mode,
    CASE i % 16 WHEN 3 THEN 'TOOL_FAILED' WHEN 5 THEN 'TIMEOUT' END AS error_code,
    i % 16 = 10 AS is_child, 'tool-' || (i / 3 % 5) AS tool";
/// Its status, where `is_open` is known.
const STATUS: &str = "CASE WHEN is_open AND waits = 'approval' THEN 'needs_approval' WHEN is_open AND waits = 'person'
    THEN 'pending' WHEN i % 16 = 3 THEN 'error' WHEN i % 16 = 5 THEN 'timed_out' WHEN i % 16 = 7 THEN 'cancelled'
    ELSE 'success' END";
/// The number of its first event: in the long session, two runs of every ten.
const SEQ: &str =
    "(CASE WHEN in_session THEN (i / 10 * 2 + (CASE WHEN i % 10 = 6 THEN 1 ELSE 0 END)) * 2 + 1 ELSE 1 END)";
/// Whether it has ended, and with it whether it has a second event.
const ENDED: &str = "(NOT is_open OR waits IS NULL)";

/// How a database spells what the other spells otherwise.
struct Spelling {
    numbers: String,
    id: String,
    tenant: String,
    session: String,
    parent: String,
    event_id: &'static str,
    seal: &'static str,
    yes: &'static str,
    no: &'static str,
}

impl History<'_> {
    /// Everything but the spelling. One row per run comes first, to derive the tables from.
    fn statements(&self, spelling: &Spelling) -> [String; 6] {
        let Spelling { numbers, id, tenant, session, parent, event_id, seal, yes, no } = spelling;
        let (runs, first_ms, open) = (self.runs, self.first_ms, i64::from(self.runs) - i64::from(OPEN));
        let calls = format!(
            "CREATE TEMP TABLE calls AS SELECT *, {STATUS} AS status FROM (
             SELECT i, {first_ms} + i * {STEP_MS} AS ms, {id} AS id, {tenant} AS tenant, i > {open} AS is_open,
             i % 10 IN (1, 6) AND i <= {open} AS in_session, {KIND} FROM {numbers}) AS made"
        );
        let all_runs = format!(
            "{RUNS} SELECT id, tenant, CASE WHEN in_session THEN {session} ELSE id END, NOT in_session,
             CASE WHEN is_child THEN {parent} END, id, id, tool, '1.0.0', status, source, 'rest', mode, 'user:' || tool,
             '{ACTOR}', {no}, {yes}, 1, CASE WHEN {ENDED} THEN {SEQ} + 1 ELSE {SEQ} END, {SEQ},
             CASE WHEN {ENDED} THEN {SEQ} + 1 END, CASE WHEN status = 'success' THEN 'the sum is 3.75' END,
             CASE WHEN error_code IS NOT NULL THEN 'the other side did not answer' END, error_code,
             ms * 1000, ms * 1000, CASE WHEN status <> 'needs_approval' THEN ms * 1000 END,
             CASE WHEN {ENDED} THEN ms * 1000 + 12000 END, CASE WHEN {ENDED} THEN 12000 END FROM calls ORDER BY i"
        );
        let events = format!(
            "{EVENTS} SELECT tenant, CASE WHEN in_session THEN {session} ELSE id END, {SEQ} + k.k,
             CASE WHEN k.k = 1 THEN {event_id} ELSE id END,
             CASE WHEN k.k = 0 AND status = 'needs_approval' THEN 'tool.needs_approval' WHEN k.k = 0 THEN 'tool.started'
             WHEN status = 'cancelled' THEN 'tool.cancelled' WHEN error_code IS NOT NULL THEN 'tool.failed'
             ELSE 'tool.completed' END, id, tool, '{ACTOR}',
             CASE WHEN k.k = 0 THEN '{STARTED}' WHEN error_code IS NOT NULL THEN '{FAILED}' ELSE '{COMPLETED}' END,
             ms * 1000 + k.k * 12000 FROM calls, (SELECT 0 AS k UNION ALL SELECT 1) AS k
             WHERE k.k = 0 OR {ENDED} ORDER BY i, k.k"
        );
        let sessions = format!(
            "INSERT INTO sessions (id, tenant_id, kind, principal, last_seq, created_us, updated_us)
             SELECT {session}, tenant, 'api', 'operator', (SELECT count(*) FROM calls WHERE in_session) * 2, 0, 0
             FROM calls WHERE i = {runs} / 10 * 10 - 10"
        );
        let pending = format!(
            "{PENDING} SELECT id, tenant, id, waits, CASE WHEN is_open THEN 'waiting' ELSE 'resolved' END, '{CONTEXT}',
             {FAR_US}, ms * 1000, ms * 1000, tool FROM calls WHERE waits IS NOT NULL ORDER BY i"
        );
        let approvals = format!(
            "{APPROVALS} SELECT id, tenant, id, id, tool, '1.0.0', '{{}}', 'digest', 'hash', {seal}, 'write', 'level',
             'user:' || tool, id, ms * 1000, {FAR_US}, CASE WHEN is_open THEN 'pending' ELSE 'approved' END
             FROM calls WHERE waits = 'approval' ORDER BY i"
        );
        [calls, all_runs, events, sessions, pending, approvals]
    }

    async fn fill_sqlite(&self, file: &std::path::Path) -> Result<()> {
        let blob = |id: Uuid| format!("x'{}'", id.simple());
        let spelling = Spelling {
            numbers: format!(
                "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n)",
                self.runs
            ),
            id: format!(
                "unhex(printf('%012x7%03xa%015x', {} + i * {STEP_MS}, i % 4096, i * 2654435761))",
                self.first_ms
            ),
            tenant: self.tenant_of(blob),
            session: blob(self.session),
            parent: blob(id_of(self.first_ms, 1)),
            event_id: "randomblob(16)",
            seal: "x'00'",
            yes: "1",
            no: "0",
        };
        let mut connection = floors::sqlite_for_loading(file).await?;
        for sql in
            self.statements(&spelling).into_iter().chain(["PRAGMA wal_checkpoint(TRUNCATE)".to_owned()])
        {
            sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await?;
        }
        Ok(connection.close().await?)
    }

    async fn fill_postgres(&self, url: &str) -> Result<()> {
        let quoted = |id: Uuid| format!("'{id}'::uuid");
        let spelling = Spelling {
            numbers: format!("generate_series(1::bigint, {}::bigint) AS n (i)", self.runs),
            id: format!(
                "(lpad(to_hex({} + i * {STEP_MS}), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || 'a'
                 || lpad(to_hex(i * 2654435761), 15, '0'))::uuid",
                self.first_ms
            ),
            tenant: self.tenant_of(quoted),
            session: quoted(self.session),
            parent: quoted(id_of(self.first_ms, 1)),
            event_id: "gen_random_uuid()",
            seal: "'\\x00'::bytea",
            yes: "true",
            no: "false",
        };
        // As the database's own housekeeping would in time.
        let tidy = ["runs", "session_events", "pending_calls", "approvals"]
            .map(|table| format!("VACUUM ANALYZE {table}"));
        let mut connection = PgConnection::connect(url).await?;
        for sql in self.statements(&spelling).into_iter().chain(tidy) {
            connection.execute(AssertSqlSafe(sql)).await?;
        }
        Ok(connection.close().await?)
    }

    /// Whose a run is, by its number.
    fn tenant_of(&self, spelled: impl Fn(Uuid) -> String) -> String {
        let others: String = (self.others.iter().enumerate())
            .map(|(number, tenant)| format!("WHEN {number} THEN {} ", spelled(tenant.id.uuid())))
            .collect();
        let own = spelled(self.tenant.uuid());
        format!("CASE WHEN i % 10 = 9 THEN CASE i / 10 % 9 {others} END ELSE {own} END")
    }
}
