//! Chains whose server dies under them.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use super::{
    PATIENCE, Worker, answer, approve, calling, composition, external, first, make, once, run_of, with,
};
use crate::world::{Client, World, eventually, lines_of};

fn write(id: &str, ledger: &Path, before_ms: u64, after_ms: u64) -> Value {
    let input = json!({ "file": ledger, "line": id, "before_ms": before_ms, "after_ms": after_ms });
    json!({ "id": id, "tool": "test.write", "input": input })
}

async fn below(client: &Client, run: &str) -> Vec<String> {
    let runs = client.get(&format!("/api/runs?parent_run_id={run}&limit=200")).await.json();
    let runs = runs["items"].as_array().unwrap().iter().rev();
    runs.map(|run| format!("{} {}", run["tool"].as_str().unwrap(), run["status"].as_str().unwrap())).collect()
}

on_both! {
    async fn chain_that_waited_goes_on_after_its_server_was_killed(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let mut builder = world.client(&server, "acme", Role::Builder).await;
        for (tool, is_async) in [("job", true), ("lookup", false)] {
            let ledger = world.ledger(tool);
            make(&builder, &external(tool, &json!({ "timeout_ms": 100_000, "is_async": is_async }))).await;
            let steps = [write("one", &ledger, 0, 0), json!({ "id": "out", "tool": tool }), write("three", &ledger, 0, 0)];
            let chain = composition(&format!("{tool}-chain"), &json!({ "steps": steps, "output": "{{ steps.out.output }}" }));
            make(&builder, &chain).await;
            let body = json!({ "input": {}, "wait_ms": 0 });
            let open = builder.post(&format!("/api/tools/{tool}-chain/run"), &body).await;
            assert_eq!(open.status, 202, "{}", open.text);
            let run = open.text_at("/run_id");
            let inner = first(&builder, tool, "pending").await;
            let call = run_of(&builder, &inner).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
            if is_async {
                once(&builder, &run, "pending").await;
            }
            server.kill();

            server = world.server();
            builder = builder.at(&server);
            answer(&builder, &inner, &call, &json!("found")).await.is("200 success");

            assert_eq!(once(&builder, &run, "success").await["output"], "found");
            assert_eq!(lines_of(&ledger), ["one", "three"]);
            let lookup = format!("{tool} success");
            assert_eq!(below(&builder, &run).await, ["test.write success", &lookup, "test.write success"]);
            assert_eq!(builder.trail(&run).await, ["tool.started", "tool.completed"]);
        }
    }

    async fn chain_at_work_goes_on_after_its_server_was_killed(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("effects");
        // What only reads can be made again; it is long enough to be caught at it.
        let slow = json!({ "id": "slow", "tool": "test.slow", "input": { "ms": 1500 } });
        let asked = json!({ "steps": [slow] });
        let steps = [write("one", &ledger, 0, 0), slow, write("three", &ledger, 0, 0)];
        make(&builder, &composition("chain", &json!({ "steps": steps }))).await;
        make(&builder, &with(composition("asked", &asked), &json!({ "permission_policy": "always_ask" }))).await;
        let (agent, approver) = (world.agent(&server, "acme").await, world.client(&server, "acme", Role::Approver).await);
        let parked = agent.run("asked", json!({})).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        approver.post(&format!("/api/approvals/{id}/approve"), &json!({ "wait_ms": 0 })).await;
        let approved = first(&builder, "asked", "running").await;
        let (caller, path) = (builder.clone(), "/api/tools/chain/run");
        let waiting = tokio::spawn(async move {
            let request = caller.request(reqwest::Method::POST, path).json(&json!({ "input": {} }));
            caller.try_send(request).await
        });
        let run = first(&builder, "chain", "running").await;
        eventually("the first effect", PATIENCE, async || lines_of(&ledger).len() == 1).await;
        eventually("the slow step", PATIENCE, async || below(&builder, &run).await.len() == 2).await;
        assert_eq!(lines_of(&ledger), ["one"]);
        server.kill();
        assert!(waiting.await.unwrap().is_err());

        let server = world.server();
        let builder = builder.at(&server);
        assert_eq!(once(&builder, &run, "success").await["output"], json!({ "done": "three" }));
        assert_eq!(lines_of(&ledger), ["one", "three"]);
        let trail = builder.trail(&run).await;
        assert_eq!(trail, ["tool.started", "tool.completed"]);
        // One that was approved goes on too.
        once(&builder, &approved, "success").await;
        let trail = builder.trail(&approved).await;
        assert_eq!(trail, ["tool.needs_approval", "tool.approved", "tool.started", "tool.completed"]);
    }

    async fn step_with_an_effect_that_was_cut_off_is_not_made_again(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("effects");
        let steps = [write("one", &ledger, 0, 0), write("two", &ledger, 0, 60_000), write("three", &ledger, 0, 0)];
        make(&builder, &composition("chain", &json!({ "steps": steps }))).await;
        let (caller, path) = (builder.clone(), "/api/tools/chain/run");
        let waiting = tokio::spawn(async move {
            let request = caller.request(reqwest::Method::POST, path).json(&json!({ "input": {} }));
            caller.try_send(request).await
        });
        eventually("the second effect", PATIENCE, async || lines_of(&ledger).len() == 2).await;
        let run = first(&builder, "chain", "running").await;
        server.kill();
        assert!(waiting.await.unwrap().is_err());

        let server = world.server();
        let builder = builder.at(&server);
        let outer = once(&builder, &run, "error").await;
        assert_eq!(outer["error_code"], "INTERRUPTED");
        assert_eq!(lines_of(&ledger), ["one", "two"]);
        assert_eq!(below(&builder, &run).await, ["test.write success", "test.write error"]);
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.failed"]);
    }

    async fn approval_inside_a_chain_outlives_its_server(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        let ledger = world.ledger("effects");
        make(&builder, &composition("chain", &json!({ "steps": [write("one", &ledger, 0, 0)] }))).await;
        let parked = agent.run("chain", json!({})).await;
        let run = parked.is("202 needs_approval").text_at("/run_id");
        server.kill();

        let server = world.server();
        let approver = world.client(&server, "acme", Role::Approver).await;
        approve(&approver, &parked.text_at("/approval_id")).await.is("200 success");
        assert_eq!(once(&agent.at(&server), &run, "success").await["output"], json!({ "done": "one" }));
        assert_eq!(lines_of(&ledger), ["one"]);
    }

    async fn chain_of_a_server_that_is_asked_to_end_goes_on_on_the_next(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("effects");
        make(&builder, &external("lookup", &json!({ "is_async": true }))).await;
        let steps = [write("one", &ledger, 0, 0), json!({ "id": "out", "tool": "lookup" }), write("three", &ledger, 0, 0)];
        make(&builder, &composition("chain", &json!({ "steps": steps }))).await;
        let waiting = calling(&builder, "chain", json!({ "input": {}, "wait_ms": 60_000 }));
        let run = first(&builder, "chain", "pending").await;
        let mut worker = Worker::listens(&builder, "lookup", None).await;
        worker.told().await;
        let (code, took) = server.terminate();
        assert_eq!(code, Some(0), "{}", server.log());
        assert!(took < Duration::from_secs(10), "neither the chain nor the worker is waited for: {took:?}");
        waiting.await.unwrap().is("202 pending");

        let server = world.server();
        let builder = builder.at(&server);
        let inner = first(&builder, "lookup", "pending").await;
        let call = run_of(&builder, &inner).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        answer(&builder, &inner, &call, &json!(1)).await.is("200 success");
        once(&builder, &run, "success").await;
        assert_eq!(lines_of(&ledger), ["one", "three"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chain_on_one_server_goes_on_after_an_answer_on_the_other() {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let (mut here, there) = (world.server(), world.server());
    let builder = world.client(&here, "acme", Role::Builder).await;
    let ledger = world.ledger("effects");
    make(&builder, &external("job", &json!({ "is_async": true }))).await;
    let steps =
        [write("one", &ledger, 0, 0), json!({ "id": "out", "tool": "job" }), write("three", &ledger, 0, 0)];
    make(&builder, &composition("chain", &json!({ "steps": steps }))).await;
    for killed in [false, true] {
        let waiting =
            calling(&builder, "chain", json!({ "input": {}, "wait_ms": if killed { 0 } else { 30_000 } }));
        let inner = first(&builder, "job", "pending").await;
        let run = run_of(&builder, &inner).await["parent_run_id"].as_str().unwrap().to_owned();
        let call = run_of(&builder, &inner).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        if killed {
            assert_eq!(waiting.await.unwrap().status, 202);
            once(&builder, &run, "pending").await;
            here.kill();
            answer(&builder.at(&there), &inner, &call, &json!(1)).await.is("200 success");
        } else {
            answer(&builder.at(&there), &inner, &call, &json!(1)).await.is("200 success");
            waiting.await.unwrap().is("200 success");
        }
        once(&builder.at(&there), &run, "success").await;
        assert_eq!(builder.at(&there).trail(&run).await, ["tool.started", "tool.completed"]);
    }
    assert_eq!(lines_of(&ledger), ["one", "three", "one", "three"]);
}
