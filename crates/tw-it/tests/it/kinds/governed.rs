//! What holds for every kind, and for chains above all: rights, places, time, and what is done once.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use super::{
    PATIENCE, answer, approve, call, composition, external, first, make, once, run_of, server_to, tool, with,
};
use crate::world::{Client, World, eventually, lines_of};

/// A call in the revision in which whoever hangs up takes the call back.
fn over_mcp(client: &Client, tool: &str, arguments: &Value) -> JoinHandle<()> {
    const REVISION: &str = "2026-07-28";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let request = client.request(Method::POST, "/mcp").header("mcp-protocol-version", REVISION);
    let request = request.header("mcp-method", "tools/call").header("mcp-name", tool);
    let body = json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": params });
    let sent = request.json(&body).send();
    tokio::spawn(async move { drop(sent.await) })
}

fn http(slug: &str, url: &str, rest: &Value) -> Value {
    let mut body = tool(slug, &json!({ "implementation_type": "http", "implementation": { "url": url } }));
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

on_both! {
    async fn chain_that_is_said_to_be_pure_asks_for_the_rights_of_its_steps_each_time(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let pure = json!({ "execution": { "is_pure": true } });
        let inner = tool("inner", &json!({ "implementation_type": "internal", "required_permission": "members.tenant.read" }));
        make(&admin, &inner).await;
        let steps = json!({ "steps": [{ "id": "a", "tool": "inner", "input": { "n": "{{ input.n }}" } }] });
        make(&admin, &with(composition("outer", &steps), &pure)).await;
        admin.run("outer", json!({ "n": 1 })).await.is("200 success");
        let told = member.run("outer", json!({ "n": 1 })).await;
        assert_eq!(told.is("200 error").text_at("/error_code"), "NOT_PERMITTED");

        let ledger = world.ledger("effects");
        let write = json!({ "id": "w", "tool": "test.write", "input": { "file": ledger, "line": "x" } });
        make(&admin, &with(composition("writes", &json!({ "steps": [write] })), &pure)).await;
        admin.run("writes", json!({})).await.is("200 success");
        agent.run("writes", json!({})).await.is("202 needs_approval");
        assert_eq!(lines_of(&ledger), ["x"]);
    }

    async fn step_that_was_refused_stays_refused_when_its_chain_goes_on(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let ledger = world.ledger("effects");
        make(&builder, &tool("later", &json!({ "implementation_type": "internal" }))).await;
        let input = json!({ "file": ledger, "line": "{{ \"on\" if steps.x.output else \"off\" }}" });
        make(&builder, &composition("chain", &json!({
            "steps": [
                { "id": "x", "tool": "later", "on_error": "continue" },
                { "id": "w", "tool": "test.write", "input": input },
                { "id": "z", "tool": "test.echo", "input": { "value": "{{ steps.w.output.done }}" } },
            ],
        }))).await;
        builder.patch("/api/tools/later", &json!({ "is_active": false })).await.is("200 published");
        let parked = agent.run("chain", json!({})).await;
        let run = parked.is("202 needs_approval").text_at("/run_id");
        builder.patch("/api/tools/later", &json!({ "is_active": true })).await.is("200 published");
        approve(&approver, &parked.text_at("/approval_id")).await.is("200 success");
        assert_eq!(once(&agent, &run, "success").await["output"], json!({ "value": "off" }));
        assert_eq!(lines_of(&ledger), ["off"]);
    }

    async fn chain_has_its_steps_take_part_in_its_own_place(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let alone = json!({ "execution": { "concurrency_group": "press", "max_concurrency": 1 }, "timeout_ms": 10_000 });
        make(&builder, &with(tool("part", &json!({ "implementation_type": "internal" })), &alone)).await;
        let step = |id: &str| json!({ "id": id, "tool": "part", "input": { "id": id } });
        make(&builder, &with(composition("whole", &json!({ "steps": [step("a"), step("b")] })), &alone)).await;
        let told = builder.run("whole", json!({})).await;
        assert_eq!(told.is("200 success").json()["output"]["args"], json!({ "id": "b" }));
    }

    async fn time_that_a_chain_was_at_work_counts_after_it_waited(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("ask", &json!({ "is_async": true }))).await;
        let slow = |id: &str| json!({ "id": id, "tool": "test.slow", "input": { "ms": 1500 } });
        let steps = [slow("a"), json!({ "id": "b", "tool": "ask" }), slow("c")];
        make(&builder, &with(composition("chain", &json!({ "steps": steps })), &json!({ "timeout_ms": 2500 }))).await;
        let run = builder.run("chain", json!({})).await.is("202 pending").text_at("/run_id");
        let inner = first(&builder, "ask", "pending").await;
        let id = run_of(&builder, &inner).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        answer(&builder, &inner, &id, &json!(1)).await.is("200 success");
        let ended = once(&builder, &run, "timed_out").await;
        assert_eq!(ended["error"], "Tool timed out after 2500ms");
        assert!(2500 <= ended["duration_ms"].as_u64().unwrap(), "{ended}");
    }

    async fn session_of_a_chain_tells_what_it_did_in_order(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let echo = |id: &str| json!({ "id": id, "tool": "test.echo", "input": { "value": id } });
        make(&builder, &composition("inner", &json!({ "steps": [echo("i")] }))).await;
        let steps = [echo("a"), json!({ "id": "b", "tool": "inner" })];
        make(&builder, &composition("outer", &json!({ "steps": steps }))).await;
        let told = builder.run("outer", json!({})).await;
        let session = told.is("200 success").text_at("/session_id");
        let events = builder.get(&format!("/api/sessions/{session}/events")).await.json();
        let told: Vec<_> = events["items"].as_array().unwrap().iter()
            .map(|event| format!("{} {}", event["type"].as_str().unwrap(), event["payload"]["tool"].as_str().unwrap_or("-")))
            .collect();
        assert_eq!(told, [
            "tool.started outer", "tool.started test.echo", "tool.completed -", "tool.started inner",
            "tool.started test.echo", "tool.completed -", "tool.completed -", "tool.completed -",
        ]);
    }

    async fn condition_that_fails_is_a_step_that_failed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let step = |rest: Value| with(json!({ "id": "a", "tool": "test.echo", "input": { "value": 1 }, "when": "1 / input.n > 0" }), &rest);
        let then = json!({ "id": "b", "tool": "test.echo", "input": { "value": "{{ steps.a.status }}" } });
        make(&builder, &composition("stops", &json!({ "steps": [step(json!({})), then] }))).await;
        make(&builder, &composition("goes-on", &json!({ "steps": [step(json!({ "on_error": "continue" })), then] }))).await;
        builder.run("stops", json!({ "n": 0 })).await.is("200 error");
        let told = builder.run("goes-on", json!({ "n": 0 })).await;
        assert_eq!(told.is("200 success").json()["output"]["value"], "error");
        let told = builder.run("goes-on", json!({ "n": 1 })).await;
        assert_eq!(told.is("200 success").json()["output"]["value"], "success");
    }

    async fn call_is_made_once_while_the_tenant_changes(db: TestDb) {
        let world = World::on(db).await;
        let upstream = Upstream::start().await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &http("ask", &upstream.url("/echo"), &json!({}))).await;
        let changing = admin.clone();
        let changes = tokio::spawn(async move {
            for turn in 0..30 {
                let body = json!({ "label": format!("c{turn}"), "type": "bearer", "payload": { "token": "t-123456" } });
                changing.post("/api/credentials", &body).await.is("201");
            }
        });
        let mut calls = 0;
        while calls < 20 || !changes.is_finished() {
            admin.run("ask", json!({ "n": calls })).await.is("200 success");
            calls += 1;
        }
        changes.await.unwrap();
        assert_eq!(upstream.requests().len(), calls);
    }

    async fn service_is_told_which_trace_a_call_is_part_of(db: TestDb) {
        let world = World::on(db).await;
        let upstream = Upstream::start().await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &http("ask", &upstream.url("/echo"), &json!({}))).await;
        make(&admin, &composition("chain", &json!({ "steps": [{ "id": "a", "tool": "ask" }] }))).await;
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for tool in ["ask", "chain"] {
            let request = admin.request(Method::POST, &format!("/api/tools/{tool}/run")).header("traceparent", trace);
            admin.send(request.json(&json!({ "input": {} }))).await.is("200 success");
        }
        admin.run("ask", json!({})).await.is("200 success");
        let asked = upstream.requests();
        let told: Vec<_> = asked.iter().map(|asked| asked.header("traceparent")).collect();
        for told in &told[..2] {
            let told = told.unwrap();
            assert!(told.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && told != trace, "{told}");
        }
        assert_eq!(told[2], None);
    }

    async fn worker_tool_with_an_address_is_called_like_a_service(db: TestDb) {
        let world = World::on(db).await;
        let upstream = Upstream::start().await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        for kind in ["external", "space"] {
            let body = json!({ "implementation_type": kind, "implementation": { "url": upstream.url("/echo") } });
            make(&admin, &tool(kind, &body)).await;
            let began = Instant::now();
            let told = admin.run(kind, json!({ "n": 1 })).await;
            assert!(told.is("200 success").text_at("/output").starts_with("GET /echo?n=1"), "{}", told.text);
            assert!(began.elapsed() < Duration::from_secs(10), "nobody is waited for");
        }
        assert_eq!(upstream.requests().len(), 2);
    }

    async fn call_over_mcp_that_waits_can_be_cancelled(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        make(&admin, &external("job", &json!({ "timeout_ms": 60_000 }))).await;
        let rpc = |body: Value| {
            let request = agent.request(Method::POST, "/mcp").header("accept", "application/json, text/event-stream");
            let request = request.header("mcp-protocol-version", "2025-06-18").json(&body);
            let agent = agent.clone();
            async move { agent.send(request).await }
        };
        let line = json!({ "file": world.ledger("w"), "line": "one" });
        for (tool, input, status) in [("job", json!({}), "pending"), ("test.write", line, "needs_approval")] {
            let waiting = tokio::spawn(rpc(json!({
                "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": { "name": tool, "arguments": input },
            })));
            let run = first(&admin, tool, status).await;
            let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 } });
            assert_eq!(rpc(cancelled).await.status, 202);
            once(&admin, &run, "cancelled").await;
            tokio::time::timeout(PATIENCE, waiting).await.expect("the caller is answered").unwrap();
        }
    }

    async fn who_hangs_up_takes_back_what_a_worker_is_asked_and_not_what_a_person_is(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let patient = json!({ "timeout_ms": 60_000 });
        make(&admin, &external("job", &patient)).await;
        make(&admin, &with(tool("confirm", &json!({ "implementation_type": "space" })), &patient)).await;
        for (chain, step) in [("jobs", "job"), ("all-jobs", "jobs"), ("asks", "confirm")] {
            let steps = json!({ "steps": [{ "id": "a", "tool": step }] });
            make(&admin, &with(composition(chain, &steps), &patient)).await;
        }
        let hang_up_on = async |tool: &str, status: &str| {
            let call = over_mcp(&agent, tool, &json!({ "file": world.ledger("w"), "line": tool }));
            let run = first(&admin, tool, status).await;
            call.abort();
            let _ = call.await;
            run
        };
        let for_people = [
            ("confirm", hang_up_on("confirm", "pending").await),
            ("asks", hang_up_on("asks", "pending").await),
            ("test.write", hang_up_on("test.write", "needs_approval").await),
        ];
        for tool in ["job", "jobs", "all-jobs"] {
            let run = hang_up_on(tool, "pending").await;
            once(&admin, &run, "cancelled").await;
        }
        assert_eq!(admin.get("/api/runs?status=pending&tool=job").await.json()["total"], 0);

        // Those of people were hung up on before, and are still there to be answered.
        for (tool, run) in for_people {
            let open = run_of(&admin, &run).await;
            if tool == "test.write" {
                let id = open["approval_id"].as_str().unwrap_or_else(|| panic!("{open}"));
                approve(&admin, id).await.is("200 success");
            } else {
                let id = open["pending_tool_call_id"].as_str().unwrap_or_else(|| panic!("{open}"));
                answer(&admin, &run, id, &json!({ "yes": true })).await.is("200 success");
                once(&admin, &run, "success").await;
            }
        }
    }

    async fn credential_is_tried_and_nothing_of_it_shown(db: TestDb) {
        let world = World::on(db).await;
        let upstream = Upstream::start().await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let builder = world.client(&server, "acme", Role::Builder).await;
        let make = async |label: &str, kind: &str, payload: Value| {
            let body = json!({ "label": label, "type": kind, "payload": payload });
            admin.post("/api/credentials", &body).await.is("201").text_at("/id")
        };
        let echo = upstream.url("/echo");
        let token = make("token", "bearer", json!({ "token": "canary-1" })).await;
        let test = |id: &str| format!("/api/credentials/{id}/test");
        let told = admin.post(&test(&token), &json!({ "url": echo })).await;
        assert_eq!((&told.json()["ok"], &told.json()["status"]), (&json!(true), &json!(200)), "{}", told.text);
        let pair = make("pair", "basic", json!({ "username": "u", "password": "canary-2" })).await;
        admin.post(&test(&pair), &json!({ "url": echo })).await.is("200");
        let key = make("key", "api_key", json!({ "api_key": "canary-3" })).await;
        admin.post(&test(&key), &json!({ "url": echo })).await.is("200");
        admin.post(&test(&key), &json!({ "url": echo, "header": "X-Other" })).await.is("200");
        let asked = upstream.requests();
        assert_eq!(asked[0].header("authorization"), Some("Bearer canary-1"));
        assert_eq!(asked[1].header("authorization"), Some("Basic dTpjYW5hcnktMg=="));
        assert_eq!((asked[2].header("x-api-key"), asked[3].header("x-other")), (Some("canary-3"), Some("canary-3")));

        let told = admin.post(&test(&key), &json!({ "url": "http://127.0.0.1:1/" })).await;
        assert_eq!((&told.json()["ok"], &told.json()["status"]), (&json!(false), &Value::Null));
        assert!(told.text_at("/message").contains("egress.allow"), "{}", told.text);
        admin.post(&test(&key), &json!({})).await.is("422 MISSING_PARAM");
        for wrong in [json!({ "url": "no url" }), json!({ "url": echo, "header": "a b" }), json!({ "url": echo, "x": 1 })] {
            admin.post(&test(&key), &wrong).await.is("422 INVALID_PARAMS");
        }
        let several = make("several", "custom", json!({ "a": "canary-4", "b": "canary-5" })).await;
        let told = admin.post(&test(&several), &json!({ "url": echo })).await;
        assert!(told.is("422 INVALID_PARAMS").text_at("/detail").contains("has several"), "{}", told.text);
        builder.post(&test(&key), &json!({ "url": echo })).await.is("403 NOT_PERMITTED");
        let globex = world.client(&server, "globex", Role::Admin).await;
        globex.post(&test(&key), &json!({ "url": echo })).await.is("404 NOT_FOUND");

        let audit = admin.get("/api/audit?action=credential.tested").await;
        assert_eq!(audit.json()["items"].as_array().unwrap().len(), 5);
        assert!(!audit.text.contains("canary") && !server.log().contains("canary"));
        eventually("its use is noted", PATIENCE, async || {
            admin.get(&format!("/api/credentials/{key}")).await.json()["last_used_at"].is_string()
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chain_is_killed_between_every_two_steps_and_repeats_none() {
    for at in 1..=4 {
        let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("effects");
        // A step that only reads stands in every gap, long enough to be caught at it.
        let mut steps = Vec::new();
        for step in 1..=4 {
            let line = json!({ "file": ledger, "line": format!("{step}") });
            steps.push(json!({ "id": format!("w{step}"), "tool": "test.write", "input": line }));
            let ms = if step == at { 1000 } else { 0 };
            steps.push(json!({ "id": format!("r{step}"), "tool": "test.slow", "input": { "ms": ms } }));
        }
        make(&builder, &composition("chain", &json!({ "steps": steps }))).await;
        let open = call(&builder, "chain", &json!({ "input": {}, "wait_ms": 0 })).await;
        let run = open.text_at("/run_id");
        eventually("the gap", PATIENCE, async || lines_of(&ledger).len() == at).await;
        first(&builder, "test.slow", "running").await;
        server.kill();

        let server = world.server();
        let builder = builder.at(&server);
        once(&builder, &run, "success").await;
        assert_eq!(lines_of(&ledger), ["1", "2", "3", "4"], "killed after step {at}");
        let inner =
            builder.get(&format!("/api/runs?parent_run_id={run}&tool=test.write&limit=50")).await.json();
        assert_eq!(inner["items"].as_array().unwrap().len(), 4);
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.completed"]);
    }
}
