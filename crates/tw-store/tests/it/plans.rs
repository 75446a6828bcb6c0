//! What the store asks costs the same however much there is: the plans of both databases.
//!
//! Three things hold this together. The recorder knows what was said, by the store's own trace. The sources say what
//! could be said, so that nothing is left out. And the plan of each statement is read on both databases; one that costs
//! more with every row is on a list with its reason, or the test fails.

mod exercise;
mod fill;
mod recorder;
mod sources;
mod verdict;

use std::collections::BTreeSet;

use tw_model::{Mode, RunId, RunStatus, SessionId, Source, Timestamp};
use tw_store::{RunFilter, RunPlace};
use tw_test::{Kind, TestDb, on_both};

use self::{
    fill::RUNS,
    recorder::Said,
    verdict::{Plan, Planner},
};
use crate::world::{Raw, two_tenants};

/// Every filter with the index that it is read by.
fn filters() -> Vec<(&'static str, RunFilter)> {
    let any = RunFilter::default;
    let word = |word: &str| Some(word.to_owned());
    let moment = |micros| Some(Timestamp::from_micros(micros));
    let by_status = |status| RunFilter { status: Some(status), ..any() };
    vec![
        ("runs_by_source", any()),
        ("runs_by_source", RunFilter { source: Some(Source::Web), ..any() }),
        ("runs_by_source", RunFilter { source: Some(Source::Api), ..any() }),
        ("runs_by_source", RunFilter { since: moment(100), until: moment(9_000), ..any() }),
        ("runs_by_source", RunFilter { mode: Some(Mode::Production), ..any() }),
        ("runs_by_source", by_status(RunStatus::Success)),
        ("runs_by_tool", RunFilter { tool: word("rare"), ..any() }),
        ("runs_by_tool", RunFilter { tool: word("usual"), ..any() }),
        ("runs_by_tool", RunFilter { tool: word("usual"), principal: word("user:usual"), ..any() }),
        ("runs_by_principal", RunFilter { principal: word("user:usual"), ..any() }),
        (
            "runs_by_principal",
            RunFilter { principal: word("user:usual"), source: Some(Source::Api), ..any() },
        ),
        ("runs_not_successful", by_status(RunStatus::Error)),
        ("runs_not_successful", by_status(RunStatus::Pending)),
        ("runs_not_successful", by_status(RunStatus::TimedOut)),
        ("runs_not_successful", RunFilter { tool: word("usual"), ..by_status(RunStatus::Error) }),
        ("runs_by_error", RunFilter { error_code: word("TIMEOUT"), ..any() }),
        ("runs_by_error", RunFilter { error_code: word("TIMEOUT"), ..by_status(RunStatus::Error) }),
        ("runs_not_production", RunFilter { mode: Some(Mode::Debug), ..any() }),
        ("runs_by_session", RunFilter { session: Some(SessionId::new()), ..any() }),
        (
            "runs_by_session",
            RunFilter {
                session: Some(SessionId::new()),
                parent: Some(RunId::new()),
                error_code: word("TIMEOUT"),
                ..any()
            },
        ),
        ("runs_by_parent", RunFilter { parent: Some(RunId::new()), ..any() }),
        ("runs_by_parent", RunFilter { parent: Some(RunId::new()), ..by_status(RunStatus::Running) }),
    ]
}

/// A statement that may cost more with every row of something.
struct Allowed {
    on: &'static [Kind],
    /// What may be wrong with it, or how that begins; see [`verdict::Flaw`].
    flaw: &'static str,
    /// A part of the statement, with single blanks.
    part: &'static str,
    why: &'static str,
}

const fn allowed(on: &'static [Kind], flaw: &'static str, part: &'static str, why: &'static str) -> Allowed {
    Allowed { on, flaw, part, why }
}

const SQLITE: &[Kind] = &[Kind::Sqlite];
const POSTGRES: &[Kind] = &[Kind::Postgres];
const BOTH: &[Kind] = &[Kind::Sqlite, Kind::Postgres];

/// Without an agent or a tool, for which there are indexes.
const WALKS_STANDING: &str = "walks all of a tenant's standing_approvals";
const STANDING_BY_STATUS: &str = "lists alone, to the end of the page, of rows that people make one by one";

const ALLOWED: [Allowed; 32] = [
    allowed(
        POSTGRES,
        "scans log_fences",
        "WITH old AS (DELETE FROM log_fences",
        "four for each server that was started within a day",
    ),
    allowed(
        BOTH,
        "walks all of a tenant's mcp_servers",
        "SELECT count(*) FROM mcp_servers",
        "a tenant has at most 200",
    ),
    allowed(
        BOTH,
        "walks all of a tenant's mcp_drifts",
        "status = 'pending' GROUP BY server_id",
        "in an index of those alone that nobody has decided about: at most one for each tool",
    ),
    allowed(BOTH, "sorts", "status = 'pending' GROUP BY server_id", "at most one for each tool"),
    allowed(
        POSTGRES,
        "walks all of a tenant's mcp_drifts",
        "UPDATE mcp_drifts SET status = $3",
        "in an index of those alone that nobody has decided about",
    ),
    allowed(SQLITE, "walks all of", "LIMIT 10001) AS counted", "stops at ten thousand"),
    allowed(
        SQLITE,
        "walks all of a tenant's audit_log",
        "FROM audit_log WHERE tenant_id = $1 ORDER BY id DESC LIMIT $2",
        "stops at the end of the page",
    ),
    allowed(
        SQLITE,
        "walks all of a tenant's approvals",
        "WHERE a.tenant_id = $1 ORDER BY a.id LIMIT",
        "stops at the end of the page",
    ),
    allowed(
        SQLITE,
        WALKS_STANDING,
        "FROM standing_approvals WHERE tenant_id = $1 ORDER BY",
        STANDING_BY_STATUS,
    ),
    allowed(BOTH, WALKS_STANDING, "tenant_id = $1 AND revoked_us IS NOT NULL ORDER BY", STANDING_BY_STATUS),
    allowed(
        POSTGRES,
        WALKS_STANDING,
        "revoked_us IS NOT NULL LIMIT 10001) AS counted",
        "stops at ten thousand",
    ),
    allowed(BOTH, WALKS_STANDING, "revoked_us IS NULL AND expires_us <= $2 ORDER BY", STANDING_BY_STATUS),
    allowed(BOTH, WALKS_STANDING, "revoked_us IS NULL AND expires_us > $2 ORDER BY", STANDING_BY_STATUS),
    allowed(
        SQLITE,
        "sorts",
        "FROM standing_approvals WHERE tenant_id = $1 AND revoked_us IS NULL AND expires_us",
        "lists alone, of rows that people make one by one",
    ),
    allowed(
        BOTH,
        "walks all of a tenant's webhooks",
        "FROM webhooks WHERE tenant_id =",
        "at most fifty, made one by one",
    ),
    allowed(
        SQLITE,
        "scans webhook_deliveries",
        "WHERE state = 'pending' AND claimed_by IS NOT NULL",
        "what waits, once at the start of a server",
    ),
    allowed(SQLITE, "sorts", "AS part UNION ALL SELECT * FROM (SELECT r.id", "a page of each source"),
    allowed(
        BOTH,
        "sorts",
        "AND r.session_id <> r.id",
        "a page, and the one run that is a session of its own",
    ),
    allowed(
        SQLITE,
        "sorts",
        "AS part UNION ALL SELECT * FROM (SELECT id, reason",
        "a page of each kind of entry",
    ),
    allowed(BOTH, "scans tenants", "FROM tenants ORDER BY slug", "the list of all tenants, for an operator"),
    allowed(SQLITE, "scans tenants", "SELECT id FROM tenants", "the list of all tenants, for an operator"),
    allowed(
        SQLITE,
        "scans tenant_epoch",
        "SELECT tenant_id, epoch FROM tenant_epoch",
        "one number for each tenant",
    ),
    allowed(
        SQLITE,
        "scans tenant_epoch",
        "UPDATE tenant_epoch SET epoch = epoch + 1",
        "an operator's word to everybody",
    ),
    allowed(
        BOTH,
        "scans replicas",
        "DELETE FROM replicas WHERE heartbeat_us",
        "as many as there are servers",
    ),
    allowed(POSTGRES, "scans replicas", "INSERT INTO places", "as many as there are servers"),
    allowed(BOTH, "sorts", "INSERT INTO places", "as many as a group has slots"),
    allowed(SQLITE, "scans runs", "r.status = 'running' AND NOT EXISTS", "an index of what runs now"),
    allowed(SQLITE, "sorts", "WHERE state = 'waiting' AND expires_us <= $1 UNION", "what is due now"),
    allowed(SQLITE, "sorts", "FROM memberships WHERE user_id = $1", "the tenants of one person"),
    allowed(SQLITE, "sorts", "ON m.user_id = u.id WHERE u.email = $1", "the tenants of one person"),
    allowed(
        BOTH,
        "walks all of a tenant's tools",
        "kind = 'system_override' AND deleted_us IS NULL",
        "an index of overrides, of which all are asked for",
    ),
    allowed(
        BOTH,
        "walks all of a tenant's credentials",
        "AND key_id <> $2 ORDER BY id",
        "all are wrapped anew, by an operator",
    ),
];

/// Pieces of SQL that the exercise does not bring the store to say.
const UNSAID: [(&str, &str); 11] = [
    ("DELETE FROM log_fences WHERE id", "one row by its key, after a connection broke"),
    (
        "SELECT count(*) FROM session_events WHERE tenant_id = $1 AND session_id",
        "one row by its key, after the same",
    ),
    ("SELECT pg_xact_status(", "asked after a commit that broke off; reads no table"),
    ("SELECT pg_notify(", "said when its time has come; reads no table"),
    ("SELECT set_config(", "how a connection is set; reads no table"),
    ("BEGIN IMMEDIATE", "the driver's own"),
    ("VACUUM INTO", "copies the whole file"),
    ("_sqlx_migrations", "asked before the server starts"),
    ("toolwright_app_", "asked by a migration"),
    ("pg_advisory_xact_lock(", "asked by a migration"),
    ("SELECT tw_app_role()", "asked by a new connection; reads no table"),
];

/// Functions of PostgreSQL that are there to read every row of a table that has one for each tenant.
const READ_ALL: [&str; 3] = ["tw_all_epochs", "tw_all_tenants", "tw_bump_every_epoch"];
/// More rows than another function has to read. Of what waits there are some hundreds, of everything else thousands.
const MANY: u32 = 400;

/// The statements that have a plan, each once.
fn statements(said: Vec<Said>) -> BTreeSet<Said> {
    let verbs = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
    let has_plan = |said: &Said| {
        verbs.iter().any(|verb| said.sql.starts_with(verb)) && !said.sql.starts_with("SELECT set_config(")
    };
    said.into_iter().filter(has_plan).collect()
}

/// What is wrong with the plans of these statements, except for what may be. Notes which allowances were needed.
async fn complaints(
    kind: Kind,
    planner: &mut Planner,
    statements: &BTreeSet<Said>,
    needed: &mut BTreeSet<usize>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for said in statements {
        let Plan { text, flaws } = planner.plan(said).await;
        for flaw in flaws {
            let flaw = flaw.to_string();
            let fits = |allowed: &Allowed| {
                allowed.on.contains(&kind)
                    && said.sql.contains(allowed.part)
                    && flaw.starts_with(allowed.flaw)
            };
            match ALLOWED.iter().position(fits) {
                Some(index) => drop(needed.insert(index)),
                None => complaints.push(format!("{flaw}: {}\n{text}\n", said.sql)),
            }
        }
    }
    complaints
}

on_both! {
    async fn every_statement_costs_the_same_however_much_there_is(db: TestDb) {
        recorder::begin();
        let tenants = exercise::everything(&db).await;
        let said = statements(recorder::take());
        let mut needed = BTreeSet::new();
        let mut planner = Planner::open(&db, tenants[0]).await;
        // SQLite has no statistics unless somebody asks for them.
        let mut complaints = match db.kind() {
            Kind::Sqlite => complaints(Kind::Sqlite, &mut planner, &said, &mut needed).await,
            Kind::Postgres => Vec::new(),
        };
        fill::everything(&db, tenants).await;
        let mut planner = Planner::open(&db, tenants[0]).await;
        complaints.extend(self::complaints(db.kind(), &mut planner, &said, &mut needed).await);
        assert!(complaints.is_empty(), "{:?}:\n{}", db.kind(), complaints.join("\n"));
        for (index, allowed) in ALLOWED.iter().enumerate().filter(|(_, allowed)| allowed.on.contains(&db.kind())) {
            assert!(needed.contains(&index), "not needed any more: {} {} ({})", allowed.part, allowed.flaw, allowed.why);
        }
    }

    async fn group_of_the_log_keeps_to_its_indexes_though_it_was_planned_on_empty_tables(db: TestDb) {
        recorder::begin();
        let tenants = exercise::everything(&db).await;
        let is_of_a_group = |said: &Said| said.sql.contains("unnest(") && said.sql.contains("runs r");
        let of_groups: BTreeSet<_> = statements(recorder::take()).into_iter().filter(is_of_a_group).collect();
        // SQLite says one row after the other, and its plans do not depend on how many there are.
        assert_eq!(of_groups.is_empty(), db.kind() == Kind::Sqlite);
        let mut planner = Planner::open(&db, tenants[0]).await;
        let complaints = complaints(db.kind(), &mut planner, &of_groups, &mut BTreeSet::new()).await;
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    async fn every_statement_of_the_sources_is_looked_at(db: TestDb) {
        recorder::begin();
        exercise::everything(&db).await;
        let said = recorder::take();
        let is_said = |piece: &sources::Piece| said.iter().any(|said| piece.is_part_of(&said.sql));
        let unsaid: Vec<_> = sources::pieces()
            .into_iter()
            .filter(|piece| piece.is_for(db.kind()) && !is_said(piece))
            .filter(|piece| !UNSAID.iter().any(|(part, _)| piece.text().contains(part)))
            .map(|piece| format!("{}: {}", piece.file, piece.text()))
            .collect();
        assert!(unsaid.is_empty(), "add to the exercise what makes the store say this:\n{}", unsaid.join("\n"));
    }
    async fn every_filter_of_runs_is_read_in_the_order_of_its_index(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        fill::runs(&db, [acme.id(), globex.id()]).await;
        let behind = RunPlace { listed: Timestamp::from_micros(10_000), id: RunId::new() };
        let mut planner = Planner::open(&db, acme.id()).await;

        for (index, filter) in filters() {
            for behind in [None, Some(behind)] {
                recorder::begin();
                acme.runs(&filter, behind, 0, 50).await.unwrap();
                acme.count_runs(&filter).await.unwrap();
                let mut said = statements(recorder::take());
                // A new connection says something of its own.
                said.retain(|said| said.sql.contains("FROM runs r"));
                assert_eq!(said.len(), 2, "{said:?}");
                for said in said {
                    let plan = planner.plan(&said).await;
                    assert!(plan.text.contains(index), "{index}: {filter:?}\n{}", plan.text);
                }
            }
        }
    }

    async fn functions_that_look_past_the_fence_read_no_more_than_they_return(db: TestDb) {
        // One call of each, with values that few rows fit.
        const CALLS: &str = "SELECT proname || '(' || coalesce((SELECT string_agg(CASE t.typname
                WHEN 'int8' THEN '100' WHEN 'text' THEN quote_literal('p7') WHEN 'bytea' THEN quote_literal('00')
                ELSE quote_literal('00000000-0000-0000-0000-000000000007') END, ', ')
            FROM unnest(proargtypes) AS a (oid) JOIN pg_type t ON t.oid = a.oid), '') || ')'
            FROM pg_proc WHERE proname LIKE 'tw\\_%' AND prosecdef ORDER BY proname";
        if db.kind() == Kind::Sqlite {
            return; // It has no functions: what they do there is said as a statement.
        }
        let (_, acme, globex) = two_tenants(&db).await;
        fill::everything(&db, [acme.id(), globex.id()]).await;
        let mut raw = Raw::open(&db).await;
        for (name, value) in sources::one_plan() {
            raw.execute(format!("SET {name} = {value}")).await.unwrap();
        }
        let calls = raw.column(CALLS).await.unwrap();
        assert!(10 < calls.len(), "{calls:?}");
        for call in calls {
            if READ_ALL.contains(&call.split('(').next().unwrap()) {
                continue;
            }
            raw.execute("BEGIN").await.unwrap();
            raw.execute(format!("SELECT * FROM {call}")).await.unwrap();
            let read = raw.column(format!("SELECT relname || ': ' || coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
                FROM pg_stat_xact_user_tables WHERE {MANY} < coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
                ORDER BY relname")).await.unwrap();
            raw.execute("ROLLBACK").await.unwrap();
            assert_eq!(read, [] as [String; 0], "{call}");
        }
    }

    async fn lists_are_whole_and_in_order_whatever_the_filter(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        fill::runs(&db, [acme.id(), globex.id()]).await;
        let all = i64::from(RUNS);
        let ours = (1..=all).filter(|i| i % 3 != 0).collect::<Vec<_>>();

        let mut seen = Vec::new();
        let mut behind = None;
        for _ in 0..3 {
            let page = acme.runs(&RunFilter::default(), behind, 0, 40).await.unwrap();
            behind = page.last().map(|run| RunPlace { listed: run.listed(), id: run.id });
            seen.extend(page.iter().map(|run| run.listed().micros()));
        }
        assert_eq!(seen, ours.iter().rev().take(120).copied().collect::<Vec<_>>());
        let odd = ours.iter().filter(|i| *i % 100 == 0).count();
        for (_, filter) in filters().into_iter().filter(|(_, filter)| filter.session.is_none() && filter.parent.is_none()) {
            let is_odd = filter.source == Some(Source::Web) || filter.mode == Some(Mode::Debug)
                || filter.error_code.is_some() || filter.tool.as_deref() == Some("rare")
                || filter.status == Some(RunStatus::Error);
            let runs = acme.runs(&filter, None, 1, 200).await.unwrap();
            assert!(runs.is_sorted_by(|a, b| b.listed() < a.listed()), "{filter:?}");
            if is_odd && filter.tool.as_deref() != Some("usual") {
                assert_eq!(acme.count_runs(&filter).await.unwrap(), Some(i64::try_from(odd).unwrap()), "{filter:?}");
                assert_eq!(runs.len(), odd - 1, "{filter:?}");
            }
        }
        assert_eq!(acme.count_runs(&RunFilter::default()).await.unwrap(), None);
    }
}
