//! Calls, as those who call see them: waiting, failing, repeating, asking first.

mod approvals;
mod counted;
mod repeats;
mod standing;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use crate::world::{Answer, Client, World, eventually};

/// How long to wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a tool with a body of one's own.
async fn call(client: &Client, tool: &str, body: &Value) -> Answer {
    client.post(&format!("/api/tools/{tool}/run"), body).await
}

/// The run, once it has ended.
async fn ended(client: &Client, run: &str) -> Value {
    let path = format!("/api/runs/{run}");
    eventually("the run ends", PATIENCE, async || {
        let run = client.get(&path).await.json();
        !["running", "pending", "needs_approval"].contains(&run["status"].as_str().unwrap())
    })
    .await;
    client.get(&path).await.json()
}

/// How many runs the caller can see.
async fn runs_of(client: &Client) -> i64 {
    client.get("/api/runs?limit=1").await.json()["total"].as_i64().unwrap()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn place_of(answer: &Answer) -> String {
    let place = answer.headers.get("location").expect("an open run has a place").to_str().unwrap();
    assert_eq!(place, format!("/api/runs/{}", answer.text_at("/run_id")));
    place.to_owned()
}

const ANSWER_KEYS: [&str; 12] = [
    "run_id",
    "tool",
    "version",
    "status",
    "success",
    "output",
    "summary",
    "markdown",
    "error",
    "error_code",
    "duration_ms",
    "session_id",
];
const RECORD_KEYS: [&str; 9] = [
    "parent_run_id",
    "input",
    "source",
    "channel",
    "mode",
    "actor",
    "requested_at",
    "started_at",
    "finished_at",
];

on_both! {
    async fn answer_and_record_have_exactly_the_promised_keys(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let answer = member.run("test.echo", json!({ "value": 1 })).await;
        let told = answer.is("200 success").json();
        assert_eq!(keys(&told), BTreeSet::from(ANSWER_KEYS));
        assert_eq!(
            (&told["tool"], &told["version"], &told["success"]),
            (&json!("test.echo"), &json!("1.0.0"), &json!(true))
        );
        assert_eq!(
            (&told["summary"], &told["error"], &told["error_code"]),
            (&json!("echoed"), &Value::Null, &Value::Null)
        );
        assert!(told["duration_ms"].is_u64() && !answer.headers.contains_key("location"));
        assert_eq!(told["session_id"], told["run_id"], "a run outside of any session is its own");

        let record = member.get(&format!("/api/runs/{}", answer.text_at("/run_id"))).await.json();
        assert_eq!(keys(&record), BTreeSet::from_iter(ANSWER_KEYS.into_iter().chain(RECORD_KEYS)));
        for key in ANSWER_KEYS {
            assert_eq!(record[key], told[key], "{key}");
        }
        assert_eq!(
            (&record["source"], &record["mode"], &record["parent_run_id"]),
            (&json!("api"), &json!("production"), &Value::Null)
        );
        assert!(record["started_at"].as_str().unwrap() <= record["finished_at"].as_str().unwrap());
        assert!(record["started_at"].as_str().unwrap().ends_with('Z'));
        assert_eq!(record["actor"]["kind"], "user");

        let events = member.get(&format!("/api/sessions/{}/events", answer.text_at("/run_id"))).await.json();
        let event = &events["items"][0];
        let named = ["id", "seq", "type", "run_id", "session_id", "tool", "actor", "payload", "at"];
        assert_eq!(keys(event), BTreeSet::from(named));
        assert_eq!(
            (&event["type"], &event["id"]),
            (&json!("tool.started"), &told["run_id"]),
            "a run has the id of its start"
        );
        assert_eq!(events["total"], Value::Null);
    }

    async fn caller_waits_as_long_as_it_says(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        for wait in [0, 30] {
            let open = call(&member, "test.slow", &json!({ "input": { "ms": 1000 }, "wait_ms": wait })).await;
            open.is("202 running");
            let told = open.json();
            assert_eq!(keys(&told), BTreeSet::from(ANSWER_KEYS));
            for key in ["success", "output", "summary", "error", "error_code", "duration_ms"] {
                assert!(told[key].is_null(), "{key}: {told}");
            }
            place_of(&open);
            let run = open.text_at("/run_id");
            let ended = ended(&member, &run).await;
            assert_eq!(
                (&ended["status"], &ended["output"]),
                (&json!("success"), &json!({ "done": "1000 ms" }))
            );
            assert_eq!(member.trail(&run).await, ["tool.started", "tool.completed"]);
        }
        let whole = call(&member, "test.slow", &json!({ "input": { "ms": 50 }, "wait_ms": 60_000 })).await;
        whole.is("200 success");
        call(&member, "test.echo", &json!({ "input": { "value": 1 }, "wait_ms": 120_000 }))
            .await
            .is("200 success");
        let before = runs_of(&member).await;
        for wait in [json!(120_001), json!(u64::MAX), json!(-1), json!(1.5), json!("100")] {
            let refused =
                call(&member, "test.echo", &json!({ "input": { "value": 1 }, "wait_ms": wait })).await;
            refused.is("422 INVALID_PARAMS");
            assert_eq!(refused.text_at("/errors/0/path"), "/wait_ms");
        }
        assert_eq!(runs_of(&member).await, before, "a refused call leaves no run");
    }

    async fn tool_that_takes_too_long_is_stopped_at_its_own_time(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let began = Instant::now();
        let late = member.run("test.impatient", json!({ "ms": 60_000 })).await;
        late.is("200 timed_out");
        assert!(Duration::from_millis(500) <= began.elapsed() && began.elapsed() < PATIENCE);
        let told = late.json();
        assert_eq!(told["error"], "Tool timed out after 500ms");
        assert_eq!(
            (&told["error_code"], &told["success"], &told["output"]),
            (&json!("TIMEOUT"), &json!(false), &Value::Null)
        );
        assert_eq!(member.trail(&late.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        member.run("test.impatient", json!({ "ms": 1 })).await.is("200 success");

        // 202 comes only where the caller waits for less than the tool may take.
        let open =
            call(&member, "test.impatient", &json!({ "input": { "ms": 60_000 }, "wait_ms": 20 })).await;
        open.is("202 running");
        let run = ended(&member, &open.text_at("/run_id")).await;
        assert_eq!(
            (&run["status"], &run["error"]),
            (&json!("timed_out"), &json!("Tool timed out after 500ms"))
        );
        let long =
            call(&member, "test.impatient", &json!({ "input": { "ms": 60_000 }, "wait_ms": 60_000 })).await;
        long.is("200 timed_out");

        // A tenant can give a tool less time, and that is what it is told.
        let admin = world.client(&server, "acme", Role::Admin).await;
        assert_eq!(admin.patch("/api/tools/test.slow", &json!({ "timeout_ms": 70 })).await.status, 200);
        let shorter = member.run("test.slow", json!({ "ms": 60_000 })).await;
        shorter.is("200 timed_out");
        assert_eq!(shorter.text_at("/error"), "Tool timed out after 70ms");
    }

    async fn tool_that_fails_or_crashes_is_a_run_that_ended(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let failed = member.run("test.fail", json!({ "message": "no luck: \u{e9} \"quoted\"" })).await;
        failed.is("200 error");
        let told = failed.json();
        assert_eq!(told["error"], "no luck: \u{e9} \"quoted\"");
        assert_eq!(
            (&told["error_code"], &told["success"], &told["output"]),
            (&json!("TOOL_FAILED"), &json!(false), &Value::Null)
        );
        let crashed = member.run("test.panic", json!({ "message": "the secret of the house" })).await;
        crashed.is("200 error");
        assert_eq!(crashed.json()["error_code"], "TOOL_PANICKED");
        assert!(!crashed.text.contains("secret of the house"), "{}", crashed.text);
        for answer in [failed, crashed] {
            let run = answer.text_at("/run_id");
            assert_eq!(member.trail(&run).await, ["tool.started", "tool.failed"]);
            let record = member.get(&format!("/api/runs/{run}")).await.json();
            for key in ANSWER_KEYS {
                assert_eq!(record[key], answer.json()[key], "{key}");
            }
        }
        // The server has seen worse.
        member.run("test.echo", json!({ "value": 1 })).await.is("200 success");
    }

    async fn runs_of_a_session_share_its_log(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let session = member.post("/api/sessions", &json!({ "title": "together" })).await.text_at("/id");
        let mut all = Vec::new();
        for (tool, input) in [
            ("test.echo", json!({ "value": 1 })),
            ("test.append", json!({ "message": "a b" })),
            ("test.fail", json!({ "message": "x" })),
        ] {
            let answer = call(&member, tool, &json!({ "input": input, "session_id": session })).await;
            assert_eq!(answer.text_at("/session_id"), session);
            assert_ne!(answer.text_at("/run_id"), session);
            all.push(answer.text_at("/run_id"));
        }
        assert_eq!(
            member.trail(&all[1]).await,
            ["tool.started", "tool.output_appended", "tool.output_appended", "tool.completed"]
        );

        let bodies: Vec<Value> =
            (0..20).map(|number| json!({ "input": { "value": number }, "session_id": session })).collect();
        let answers =
            futures::future::join_all(bodies.iter().map(|body| call(&member, "test.echo", body))).await;
        all.extend(answers.iter().map(|answer| answer.is("200 success").text_at("/run_id")));

        // Page by page: numbered from 1 without a gap, and every run begins before it ends.
        let mut events = Vec::new();
        let mut after = 0;
        loop {
            let page =
                member.get(&format!("/api/sessions/{session}/events?limit=7&after={after}")).await.json();
            events.extend(page["items"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => after = next.parse().unwrap(),
                None => break,
            }
        }
        assert_eq!(events.len(), 2 + 4 + 2 + 40);
        for (index, event) in events.iter().enumerate() {
            assert_eq!((&event["seq"], &event["session_id"]), (&json!(index + 1), &json!(session)));
        }
        for run in &all {
            let own: Vec<&Value> = events.iter().filter(|event| event["run_id"] == *run).collect();
            assert_eq!(own[0]["type"], "tool.started");
            assert_eq!(own[0]["id"], *run);
            assert!(
                ["tool.completed", "tool.failed"].contains(&own.last().unwrap()["type"].as_str().unwrap())
            );
        }
        let read = member.get(&format!("/api/sessions/{session}")).await.json();
        assert_eq!((&read["last_seq"], &read["title"]), (&json!(48), &json!("together")));
        assert_eq!(
            member.get(&format!("/api/runs?session_id={session}&limit=1")).await.json()["total"],
            all.len()
        );
    }

    async fn session_of_nobody_or_somebody_else_is_not_found(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let of_agent = agent.post("/api/sessions", &json!({})).await.text_at("/id");
        let of_stranger = stranger.post("/api/sessions", &json!({})).await.text_at("/id");
        let before = runs_of(&member).await;
        for session in [&of_agent, &of_stranger, "0193a000-0000-7000-8000-000000000000"] {
            let refused =
                call(&member, "test.echo", &json!({ "input": { "value": 1 }, "session_id": session })).await;
            refused.is("404 SESSION_NOT_FOUND");
            for path in ["", "/events", "/events/stream"] {
                member.get(&format!("/api/sessions/{session}{path}")).await.is("404 SESSION_NOT_FOUND");
            }
        }
        assert_eq!(runs_of(&member).await, before);
        assert_eq!(stranger.get(&format!("/api/sessions/{of_stranger}")).await.json()["last_seq"], 0);
    }

    async fn tool_is_named_by_slug_in_any_case_by_id_and_by_version(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let tool = member.get("/api/tools/test.echo").await.json();
        let id = tool["id"].as_str().unwrap();
        for name in ["test.echo", "TEST.ECHO", "Test.Echo", id, &id.to_uppercase(), "test%2Eecho"] {
            let answer = member.run(name, json!({ "value": name })).await;
            answer.is("200 success");
            assert_eq!(answer.text_at("/tool"), "test.echo");
            assert_eq!(member.get(&format!("/api/tools/{name}")).await.json()["id"], id);
        }
        let pinned = |version: &str| json!({ "input": { "value": 1 }, "version": version });
        call(&member, "test.echo", &pinned("1.0.0")).await.is("200 success");
        let before = runs_of(&member).await;
        for version in ["1.0.1", "0.9.0", "1.0", "v1.0.0", "latest", ""] {
            call(&member, "test.echo", &pinned(version)).await.is("404 NOT_FOUND");
        }
        member.run("test.echo2", json!({ "value": 1 })).await.is("404 TOOL_NOT_FOUND");
        assert_eq!(runs_of(&member).await, before);

        let debug = call(&member, "test.echo", &json!({ "input": { "value": 1 }, "mode": "debug" })).await;
        let run = debug.is("200 success").text_at("/run_id");
        assert_eq!(member.get(&format!("/api/runs/{run}")).await.json()["mode"], "debug");
        let events = member.get(&format!("/api/sessions/{run}/events")).await.json();
        assert_eq!(events["items"][0]["payload"]["mode"], "debug");
    }

    async fn agents_are_understood_and_people_are_told(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let meant = agent.run("test.slow", json!({ "ms": "5" })).await;
        meant.is("200 success");
        let record = agent.get(&format!("/api/runs/{}", meant.text_at("/run_id"))).await.json();
        assert_eq!((&record["input"], &record["source"]), (&json!({ "ms": 5 }), &json!("agent")));
        assert_eq!(record["actor"]["slug"], "bot", "{}", record["actor"]);

        let told = member.run("test.slow", json!({ "ms": "5" })).await;
        told.is("422 INVALID_PARAMS");
        assert_eq!(told.text_at("/errors/0/path"), "/ms");
        let missing = member.run("test.slow", json!({})).await;
        missing.is("422 MISSING_PARAM");
        assert_eq!(missing.text_at("/detail"), "Missing required param: ms");
        assert_eq!(missing.text_at("/errors/0/path"), "/ms");
        assert_eq!(missing.text_at("/errors/0/code"), "required");
        let both = member.run("test.write", json!({ "line": [] })).await;
        both.is("422 MISSING_PARAM");
        let told = both.json()["errors"].as_array().unwrap().clone();
        let codes: BTreeSet<&str> = told.iter().map(|error| error["code"].as_str().unwrap()).collect();
        assert!(codes.is_superset(&BTreeSet::from(["required", "type"])), "{}", both.text);
        // Everything that is wrong, at once, each at its place.
        let wrong =
            member.run("test.write", json!({ "file": 1, "line": [], "before_ms": -1, "other": 0 })).await;
        wrong.is("422 INVALID_PARAMS");
        let errors = wrong.json()["errors"].as_array().unwrap().clone();
        let paths: BTreeSet<&str> = errors.iter().map(|error| error["path"].as_str().unwrap()).collect();
        assert!(paths.is_superset(&BTreeSet::from(["/file", "/line", "/before_ms"])), "{}", wrong.text);
        assert!(errors.iter().all(|error| !error["message"].as_str().unwrap().is_empty()));
        assert_eq!(runs_of(&member).await, 0);
    }

    async fn defaults_are_part_of_the_recorded_input(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let ledger = world.ledger("defaults");
        let answer = member.run("test.write", json!({ "file": ledger, "line": "one" })).await;
        let run = answer.is("200 success").text_at("/run_id");
        let whole = json!({ "file": ledger, "line": "one", "before_ms": 0, "after_ms": 0 });
        assert_eq!(member.get(&format!("/api/runs/{run}")).await.json()["input"], whole);
        let events = member.get(&format!("/api/sessions/{run}/events")).await.json();
        assert_eq!(events["items"][0]["payload"]["input"], whole);
    }

    async fn run_is_cancelled_wherever_it_stands(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let other = world.client(&server, "acme", Role::Builder).await;
        let open = call(&member, "test.slow", &json!({ "input": { "ms": 100_000 }, "wait_ms": 0 })).await;
        let run = open.is("202 running").text_at("/run_id");
        let cancel = format!("/api/runs/{run}/cancel");
        let stranger = world.client(&server, "globex", Role::Admin).await;
        stranger.post(&cancel, &json!({})).await.is("404 NOT_FOUND");
        let viewer = world.client(&server, "acme", Role::Viewer).await;
        viewer.post(&cancel, &json!({})).await.is("403 NOT_PERMITTED");
        other.post(&cancel, &json!({})).await.is("404 NOT_FOUND");

        let cancelled = member.post(&cancel, &json!({ "reason": "changed my mind" })).await;
        cancelled.is("200 cancelled");
        assert_eq!(cancelled.json()["error_code"], "CANCELLED");
        assert_eq!(cancelled.json()["success"], false);
        assert_eq!(cancelled.json()["effect"], "none");
        member.post(&cancel, &json!({})).await.is("409 CONFLICT");
        assert_eq!(member.trail(&run).await, ["tool.started", "tool.cancelled"]);
        let events = member.get(&format!("/api/sessions/{run}/events")).await.json();
        assert_eq!(events["items"][1]["payload"]["note"], "changed my mind");

        // Who waits for it is told.
        let waiting = tokio::spawn({
            let member = member.clone();
            async move { member.run("test.slow", json!({ "ms": 100_000 })).await }
        });
        let running = async || {
            member.get("/api/runs?status=running").await.json()["items"][0]["run_id"]
                .as_str()
                .map(str::to_owned)
        };
        eventually("the call runs", PATIENCE, async || running().await.is_some()).await;
        let run = running().await.unwrap();
        let admin = world.client(&server, "acme", Role::Admin).await;
        admin.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.is("200 cancelled");
        waiting.await.unwrap().is("200 cancelled");

        let done = member.run("test.echo", json!({ "value": 1 })).await.text_at("/run_id");
        member.post(&format!("/api/runs/{done}/cancel"), &json!({})).await.is("409 CONFLICT");
        assert_eq!(member.get(&format!("/api/runs/{done}")).await.json()["status"], "success");
        // A body is not needed.
        let open = call(&member, "test.slow", &json!({ "input": { "ms": 100_000 }, "wait_ms": 0 })).await;
        let bare = member.request(Method::POST, &format!("{}/cancel", place_of(&open)));
        member.send(bare).await.is("200 cancelled");
    }

    async fn limits_are_what_the_settings_say(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_LIMITS__PER_KEY", "5")]);
        let member = world.client(&server, "acme", Role::Member).await;
        // What is refused for another reason counts like any other.
        member.run("test.echo", json!({})).await.is("422 MISSING_PARAM");
        for number in 0..4 {
            member.run("test.echo", json!({ "value": number })).await.is("200 success");
        }
        // A call or two more may get through on a machine so slow that seconds have passed.
        let mut through = 4;
        let limited = loop {
            let answer = member.run("test.echo", json!({ "value": "more" })).await;
            if answer.status == 429 {
                break answer;
            }
            through += 1;
            assert!(through < 20, "there is no limit");
        };
        limited.is("429 RATE_LIMITED");
        let header =
            |name: &str| limited.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap();
        let seconds: u64 = header("retry-after").parse().unwrap();
        assert!((1..=12).contains(&seconds), "{seconds}");
        assert_eq!(header("ratelimit"), format!("\"key\";r=0;t={seconds}"));
        assert_eq!(header("ratelimit-policy"), "\"key\";q=5;w=60");
        assert_eq!(header("content-type"), "application/problem+json");
        assert_eq!(runs_of(&member).await, through, "a refused call leaves no run");
        // Looking is not calling, and others have limits of their own.
        assert_eq!(member.get("/api/tools/test.echo").await.status, 200);
        let second = Client::new(&server.url, Some(world.key("acme", Role::Member, ActsAs::User).await));
        second.run("test.echo", json!({ "value": 1 })).await.is("200 success");
    }

    async fn limits_of_tenants_and_tools_bind_everybody_in_them(db: TestDb) {
        let world = World::on(db).await;
        for (setting, name) in
            [("TOOLWRIGHT_LIMITS__PER_TENANT", "tenant"), ("TOOLWRIGHT_LIMITS__PER_TOOL", "tool")]
        {
            let server = world.server_with(&[], &[(setting, "30")]);
            let member = world.client(&server, "acme", Role::Member).await;
            let builder = world.client(&server, "acme", Role::Builder).await;
            let stranger = world.client(&server, "globex", Role::Member).await;
            let mut tries = 0;
            let limited = loop {
                let who = if tries % 2 == 0 { &member } else { &builder };
                let answer = who.run("test.echo", json!({ "value": tries })).await;
                if answer.status == 429 {
                    break answer;
                }
                tries += 1;
                assert!(tries < 500, "there is no limit per {name}");
            };
            assert!(30 <= tries, "{tries}");
            let seconds: u64 = limited.headers["retry-after"].to_str().unwrap().parse().unwrap();
            assert!(limited.headers["ratelimit"].to_str().unwrap().starts_with(&format!("\"{name}\";")));
            stranger.run("test.echo", json!({ "value": 1 })).await.is("200 success");
            if name == "tool" {
                member.run("test.slow", json!({ "ms": 0 })).await.is("200 success");
            }
            // Who comes back when told is let in.
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            member.run("test.echo", json!({ "value": "again" })).await.is("200 success");
        }
    }
}
