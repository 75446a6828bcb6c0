//! The table of runs says nothing that the events do not say.
//!
//! The rows are made here a second time, from the events alone, and held against what is stored.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};
use tw_engine::Approve;
use tw_test::{TestDb, on_both};
use uuid::Uuid;

use crate::{
    tools::gate,
    world::{Raw, World, raw_json, request},
};

macro_rules! rows {
    ($(#[$meta:meta])* struct $name:ident { $($field:ident: $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        struct $name { $($field: $type),+ }

        impl $name {
            async fn all(raw: &mut Raw, tail: &str) -> Vec<Self> {
                let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM {tail}"));
                match raw {
                    Raw::Sqlite(c) => {
                        let rows = sqlx::query(sql).fetch_all(c).await.unwrap();
                        rows.iter().map(|row| Self { $($field: sqlx::Row::get(row, stringify!($field))),+ }).collect()
                    }
                    Raw::Postgres(c) => {
                        let rows = sqlx::query(sql).fetch_all(c).await.unwrap();
                        rows.iter().map(|row| Self { $($field: sqlx::Row::get(row, stringify!($field))),+ }).collect()
                    }
                }
            }
        }
    };
}

rows! {
    #[derive(Clone, Debug, PartialEq)]
    struct RunRow {
        id: Uuid,
        tenant_id: Uuid,
        session_id: Uuid,
        own_session: bool,
        parent_run_id: Option<Uuid>,
        root_run_id: Uuid,
        tool_id: Uuid,
        tool: String,
        version: String,
        status: String,
        source: String,
        channel: String,
        mode: String,
        principal: String,
        actor: String,
        effectful: bool,
        repeatable: bool,
        replica_id: Option<Uuid>,
        lease_epoch: i64,
        last_seq: i64,
        input_seq: i64,
        output_seq: Option<i64>,
        summary: Option<String>,
        error: Option<String>,
        error_code: Option<String>,
        effect: Option<String>,
        listed_us: i64,
        requested_us: i64,
        started_us: Option<i64>,
        finished_us: Option<i64>,
        duration_us: Option<i64>,
    }
}

rows! {
    #[derive(Debug)]
    struct EventRow {
        tenant_id: Uuid,
        session_id: Uuid,
        seq: i64,
        id: Uuid,
        kind: String,
        run_id: Uuid,
        tool: String,
        actor: String,
        payload: String,
        at_us: i64,
    }
}

fn id(value: &Value) -> Option<Uuid> {
    value.as_str().map(|text| text.parse().unwrap())
}

fn text(value: &Value) -> Option<String> {
    // PostgreSQL has no NUL in text; a payload has it escaped.
    value.as_str().map(|text| text.replace('\0', "\u{fffd}"))
}

/// The row of a run, from its events alone.
fn made_again(events: &[EventRow]) -> RunRow {
    let (first, about) = (&events[0], payload(&events[0]));
    let actor: Value = serde_json::from_str(&first.actor).unwrap();
    let mut run = RunRow {
        id: first.run_id,
        tenant_id: first.tenant_id,
        session_id: first.session_id,
        own_session: first.session_id == first.run_id,
        parent_run_id: id(&about["parent_run_id"]),
        root_run_id: id(&about["root_run_id"]).unwrap_or(first.run_id),
        tool_id: id(&about["tool_id"]).unwrap(),
        tool: about["tool"].as_str().unwrap().to_owned(),
        version: text(&about["version"]).unwrap(),
        status: String::new(),
        source: text(&about["source"]).unwrap(),
        channel: text(&about["channel"]).unwrap(),
        mode: text(&about["mode"]).unwrap(),
        principal: match actor["kind"].as_str().unwrap() {
            "agent" => format!("agent:{}", actor["slug"].as_str().unwrap()),
            kind => format!("{kind}:{}", actor["id"].as_str().unwrap()),
        },
        actor: first.actor.clone(),
        effectful: about["effectful"].as_bool().unwrap(),
        repeatable: about["repeatable"].as_bool().unwrap(),
        replica_id: None,
        lease_epoch: 1,
        last_seq: 0,
        input_seq: first.seq,
        output_seq: None,
        summary: None,
        error: None,
        error_code: None,
        effect: None,
        listed_us: first.at_us,
        requested_us: first.at_us,
        started_us: None,
        finished_us: None,
        duration_us: None,
    };
    for event in events {
        lay_on(&mut run, event);
    }
    run
}

fn payload(event: &EventRow) -> Value {
    serde_json::from_str(&event.payload).unwrap()
}

fn lay_on(run: &mut RunRow, event: &EventRow) {
    let said = payload(event);
    if event.kind == "tool.late_result" {
        assert_ne!(run.output_seq, None, "an answer is late once the run has ended");
        run.last_seq = event.seq;
        return;
    }
    assert_eq!(run.output_seq, None, "nothing follows the end of a run");
    assert_eq!((event.session_id, event.tenant_id), (run.session_id, run.tenant_id));
    assert_eq!(event.tool, run.tool);
    run.last_seq = event.seq;
    match event.kind.as_str() {
        "tool.needs_approval" => run.status = "needs_approval".to_owned(),
        "tool.approved" => {
            assert_eq!(run.status, "needs_approval");
            run.status = "pending".to_owned();
        }
        "tool.started" => {
            assert_eq!(event.id, event.run_id);
            if run.status == "pending" {
                run.lease_epoch += 1;
            } else {
                assert_eq!(run.status, "", "a run starts once");
            }
            run.status = "running".to_owned();
            (run.input_seq, run.listed_us) = (event.seq, event.at_us);
            run.started_us = Some(event.at_us);
        }
        "tool.output_appended" => assert_eq!(run.status, "running"),
        end => {
            run.status = match end {
                "tool.completed" => "success".to_owned(),
                "tool.failed" => said["status"].as_str().unwrap().to_owned(),
                "tool.cancelled" => "cancelled".to_owned(),
                other => panic!("{other} is no event"),
            };
            run.summary = text(&said["summary"]);
            run.error = text(&said["error"]);
            run.error_code = text(&said["error_code"]);
            if run.status == "cancelled" {
                run.summary = text(&said["reason"]);
            }
            run.effect = text(&said["effect"]);
            run.duration_us = said["duration_us"].as_i64();
            (run.output_seq, run.finished_us) = (Some(event.seq), Some(event.at_us));
        }
    }
}

/// Holds all runs against all events: rows, numbers, and that each run starts and ends at most once.
pub(crate) async fn check(world: &World) -> HashMap<String, usize> {
    let mut raw = world.raw().await;
    // One moment for both tables, also while runs go on.
    let begin = match raw {
        Raw::Sqlite(_) => "BEGIN",
        Raw::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ",
    };
    raw.try_execute(begin).await.unwrap();
    let events = EventRow::all(
        &mut raw,
        "(SELECT e.*, e.type AS kind FROM session_events e) AS e ORDER BY session_id, seq",
    )
    .await;
    let mut last: HashMap<Uuid, i64> = HashMap::new();
    let mut by_run: BTreeMap<Uuid, Vec<EventRow>> = BTreeMap::new();
    for event in events {
        let last = last.entry(event.session_id).or_default();
        assert_eq!(event.seq, *last + 1, "session {} has a gap", event.session_id);
        *last = event.seq;
        by_run.entry(event.run_id).or_default().push(event);
    }
    let mut stored: BTreeMap<Uuid, RunRow> =
        RunRow::all(&mut raw, "runs").await.into_iter().map(|run| (run.id, run)).collect();
    let mut seen = HashMap::new();
    for (id, events) in by_run {
        let mut expected = made_again(&events);
        let actual = stored.remove(&id).expect("there is a row for every run");
        if actual.status == "running" {
            // Who runs it is not for the log; a run that is made again belongs to nobody.
            expected.replica_id = Some(actual.replica_id.expect("a run that runs is somebody's"));
        }
        assert_eq!(actual, expected, "{events:#?}");
        *seen.entry(actual.status).or_default() += 1;
    }
    assert!(stored.is_empty(), "there are runs without events: {stored:#?}");
    seen
}

on_both! {
    async fn every_column_of_a_run_follows_from_its_events(db: TestDb) {
        let mut world = World::new(db).await;
        let server = world.one().clone();
        let key = json!({ "key": "projected" });
        for (tool, input) in [
            ("test.echo", json!({ "text": "hi" })),
            ("test.append", json!({ "text": "hi" })),
            ("test.write", key.clone()),
            ("test.fail", json!({ "text": "no\u{0}good" })),
            ("test.panic", json!({ "text": "no" })),
            ("test.bad_output", json!({ "text": "no" })),
            ("test.hasty", json!({ "key": "projected", "ms": 60_000 })),
            ("test.gives_up", json!({ "text": "the other side was too slow" })),
        ] {
            server.call("member", tool, input).await.unwrap();
        }
        // In a session.
        let permit = server.permit("member").await.unwrap();
        let session = server.engine.create_session(&permit, None).await.unwrap().id;
        for tool in ["test.append", "test.echo"] {
            let mut call = request(tool, &json!({ "text": "hi" }));
            call.session = Some(session);
            server.ask("member", call).await.unwrap();
        }
        // Waiting, decided every way, and cancelled.
        server.park("test.write", key.clone()).await;
        let (_, id) = server.park("test.write", key.clone()).await;
        server.approve("approver", id).await.unwrap();
        let (_, id) = server.park("test.write", key.clone()).await;
        let yes = Approve { input: Some(raw_json(&json!({ "key": "projected", "amount": 2 }))), ..Approve::default() };
        server.approve_as("approver", id, yes).await.unwrap();
        let (_, id) = server.park("test.destroy", key.clone()).await;
        server.deny("approver", id).await.unwrap();
        let (run, _) = server.park("test.write", key.clone()).await;
        server.cancel("agent", run).await.unwrap();
        let (run, id) = server.park("test.write", key.clone()).await;
        let mut raw = world.raw().await;
        for table in ["approvals", "pending_calls"] {
            let sql = format!("UPDATE {table} SET expires_us = 1 WHERE id = {}", raw.id(id.uuid()));
            raw.execute(sql).await;
        }
        server.ended(run).await;
        let (run, id) = server.park("test.write", key.clone()).await;
        let sql = format!("UPDATE approvals SET input_digest = 'x' WHERE id = {}", raw.id(id.uuid()));
        raw.execute(sql).await;
        assert!(server.approve("approver", id).await.is_err());
        server.ended(run).await;
        // Cut off while it runs, and running now.
        for name in ["projected cancel", "projected cut"] {
            server.ask_soon("member", request("test.gate", &json!({ "key": name })));
            gate(name).reached(1).await;
            if name == "projected cancel" {
                let running = tw_store::RunFilter { status: Some(tw_model::RunStatus::Running), ..Default::default() };
                let run = server.scope().runs(&running, None, 0, 1).await.unwrap()[0].id;
                server.cancel("member", run).await.unwrap();
            }
        }

        let seen = check(&world).await;
        assert_eq!(
            seen,
            HashMap::from([
                ("success".to_owned(), 7),
                ("error".to_owned(), 4),
                ("timed_out".to_owned(), 1),
                ("needs_approval".to_owned(), 1),
                ("cancelled".to_owned(), 5),
                ("running".to_owned(), 1),
            ])
        );

        server.store.close().await;
        let next = world.start().await;
        next.engine.close_left_over_runs().await.unwrap();
        let seen = check(&world).await;
        assert_eq!((seen.get("running"), seen["error"]), (None, 5));
    }
}
