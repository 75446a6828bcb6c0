//! A list of runs costs the same however many runs there are: the plans of both databases, on a history with statistics.

use tw_model::{Mode, RunId, RunStatus, SessionId, Source, TenantId, Timestamp};
use tw_store::{RunFilter, RunPlace};
use tw_test::{Kind, TestDb, on_both};

use crate::world::{Raw, two_tenants};

const RUNS: u32 = 20_000;
const COLUMNS: &str = "INSERT INTO runs (id, tenant_id, session_id, own_session, root_run_id, tool_id, tool, version,
    status, source, channel, mode, principal, actor, effectful, repeatable, lease_epoch, last_seq, input_seq, error_code,
    listed_us, requested_us, started_us)";

/// Nearly all runs are alike; one in a hundred is not, in every respect. Two tenants, as the fence is one of the things
/// that mislead a planner.
async fn fill(db: &TestDb, tenants: [TenantId; 2]) {
    let mut raw = Raw::open(db).await;
    let [ours, theirs] = tenants.map(|tenant| tenant.uuid().simple().to_string());
    let odd = |odd: &str, even: &str| format!("CASE WHEN i % 100 = 0 THEN {odd} ELSE {even} END");
    let (id, ours, theirs, yes, no, from) = match db.kind() {
        Kind::Sqlite => (
            "unhex(printf('%032x', i))",
            format!("x'{ours}'"),
            format!("x'{theirs}'"),
            "1",
            "0",
            format!(
                "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {RUNS}) SELECT i FROM n)"
            ),
        ),
        Kind::Postgres => (
            "lpad(to_hex(i), 32, '0')::uuid",
            format!("'{ours}'::uuid"),
            format!("'{theirs}'::uuid"),
            "true",
            "false",
            format!("generate_series(1, {RUNS}) AS n (i)"),
        ),
    };
    let sql = format!(
        "{COLUMNS} SELECT {id}, CASE WHEN i % 3 = 0 THEN {theirs} ELSE {ours} END, {id}, {yes}, {id}, {id}, {}, '1.0.0',
         {}, {}, 'rest', {}, {}, '{{}}', {no}, {yes}, 1, 2, 1, {}, i, i, i FROM {from}",
        odd("'rare'", "'usual'"), odd("'error'", "'success'"), odd("'web'", "'api'"), odd("'debug'", "'production'"),
        odd("'user:rare'", "'user:usual'"), odd("'TIMEOUT'", "NULL"),
    );
    raw.execute(sql).await.unwrap();
    raw.execute("ANALYZE").await.unwrap();
}

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
        ("runs_by_parent", RunFilter { parent: Some(RunId::new()), ..any() }),
        ("runs_by_parent", RunFilter { parent: Some(RunId::new()), ..by_status(RunStatus::Running) }),
    ]
}

on_both! {
    async fn every_filter_of_runs_is_read_in_the_order_of_its_index(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        fill(&db, [acme.id(), globex.id()]).await;
        let behind = RunPlace { listed: Timestamp::from_micros(10_000), id: RunId::new() };

        for (index, filter) in filters() {
            for behind in [None, Some(behind)] {
                let plan = acme.explain_runs(&filter, behind).await.unwrap().join("\n");
                assert!(plan.contains(index), "{index}: {filter:?}\n{plan}");
                for slow in ["Seq Scan", "Bitmap", "Sort", "SCAN r", "TEMP B-TREE"] {
                    assert!(!plan.contains(slow), "{slow}: {filter:?}\n{plan}");
                }
            }
        }
    }

    async fn lists_are_whole_and_in_order_whatever_the_filter(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        fill(&db, [acme.id(), globex.id()]).await;
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
