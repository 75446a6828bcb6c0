//! Tools that are other tools, one after the other.

use std::time::Duration;

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use super::{
    Worker, answer, approve, call, calling, cancel, composition, external, first, make, once, run_of,
    server_to, tool, with,
};
use crate::world::{Answer, Client, World, eventually, lines_of};

/// A step that gives back one value.
fn echo(id: &str, value: Value) -> Value {
    json!({ "id": id, "tool": "test.echo", "input": { "value": value } })
}

/// The runs that a run has made, oldest first.
async fn below(client: &Client, run: &str) -> Vec<Value> {
    let runs = client.get(&format!("/api/runs?parent_run_id={run}&limit=200")).await.json();
    let mut runs = runs["items"].as_array().unwrap().clone();
    runs.reverse();
    runs
}

#[track_caller]
fn faults(answer: &Answer) -> Vec<String> {
    let body = answer.is("422 INVALID_PARAMS").json();
    body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["path"].as_str().unwrap().to_owned())
        .collect()
}

on_both! {
    async fn steps_run_in_order_and_each_knows_those_before(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&builder, &composition("chain", &json!({
            "steps": [
                echo("one", json!({ "n": "{{ input.n }}", "text": "n is {{ input.n }}" })),
                echo("two", json!("{{ steps.one.output.value.n }}")),
                with(echo("never", json!(1)), &json!({ "when": "input.n > 100" })),
                with(echo("nor", json!(1)), &json!({ "when": "steps.never.output.value < 3" })),
                with(echo("three", json!([1, "{{ steps.two.output.value }}"])), &json!({ "when": "steps.two.output.value > 0" })),
            ],
            "output": {
                "last": "{{ steps.three.output.value }}", "text": "{{ steps.one.output.value.text }}!",
                "skipped": "{{ steps.never.output }}", "of_skipped": "{{ steps.never.output.value.n }}",
            },
        }))).await;
        let told = member.run("chain", json!({ "n": 7 })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "last": [1, 7], "text": "n is 7!", "skipped": null, "of_skipped": null }));
        let run = told.text_at("/run_id");
        let inner = below(&member, &run).await;
        assert_eq!(inner.len(), 3, "a step that is skipped leaves no run");
        for (inner, value) in inner.iter().zip([json!({ "n": 7, "text": "n is 7" }), json!(7), json!([1, 7])]) {
            assert_eq!((&inner["tool"], &inner["status"], &inner["input"]["value"]), (&json!("test.echo"), &json!("success"), &value));
            assert_eq!((&inner["parent_run_id"], &inner["source"]), (&json!(run), &json!("api")));
        }
        assert_eq!(run_of(&member, &run).await["parent_run_id"], Value::Null);
        assert_eq!(member.trail(&run).await, ["tool.started", "tool.completed"]);

        // In a session, what it calls is part of the session.
        let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
        let told = call(&member, "chain", &json!({ "input": { "n": 7 }, "session_id": session })).await;
        for inner in below(&member, &told.is("200 success").text_at("/run_id")).await {
            assert_eq!(inner["session_id"], json!(session));
        }

        make(&builder, &composition("plain", &json!({ "steps": [echo("a", json!(1)), echo("b", json!({ "two": 2 }))] }))).await;
        let told = member.run("plain", json!({})).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "value": { "two": 2 } }), "the last step's");
    }

    async fn step_that_fails_stops_the_chain_or_does_not(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let fail = |rest: Value| with(json!({ "id": "bad", "tool": "test.fail", "input": { "message": "no luck" } }), &rest);
        let then = || json!({ "id": "then", "tool": "test.echo", "input": { "value": "{{ input.x }}" } });
        let chain = |rest: Value, output: Value| json!({ "steps": [fail(rest), then()], "output": output });
        let bad = json!({ "bad": "{{ steps.bad.output }}", "then": "{{ steps.then.output.value }}" });
        make(&builder, &composition("stop", &chain(json!({}), bad.clone()))).await;
        make(&builder, &composition("stops", &chain(json!({ "on_error": "stop" }), bad.clone()))).await;
        make(&builder, &composition("continue", &chain(json!({ "on_error": "continue" }), bad.clone()))).await;
        make(&builder, &composition("fallback", &chain(json!({ "on_error": "fallback", "fallback": { "d": [1] } }), bad))).await;
        for slug in ["stop", "stops"] {
            let told = builder.run(slug, json!({ "x": 1 })).await;
            told.is("200 error");
            assert_eq!(told.text_at("/error_code"), "TOOL_FAILED");
            assert!(told.text_at("/error").contains("bad") && told.text_at("/error").contains("no luck"), "{}", told.text);
            assert_eq!(below(&builder, &told.text_at("/run_id")).await.len(), 1, "nothing is called after it");
            assert_eq!(builder.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        }
        let told = builder.run("continue", json!({ "x": 1 })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "bad": null, "then": 1 }));
        let told = builder.run("fallback", json!({ "x": 1 })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "bad": { "d": [1] }, "then": 1 }));
        assert_eq!(below(&builder, &told.text_at("/run_id")).await[0]["status"], "error");

        // An input that does not fit the inner tool is a failure of the step as well.
        let step = json!({ "id": "misfit", "tool": "test.slow", "input": { "ms": "{{ input.x }}" } });
        make(&builder, &composition("misfit", &json!({ "steps": [step] }))).await;
        let told = builder.run("misfit", json!({ "x": { "no": "number" } })).await;
        assert_eq!(told.is("200 error").text_at("/error_code"), "INVALID_PARAMS");
    }

    async fn approval_inside_holds_the_chain_until_it_is_given(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let ledger = world.ledger("effects");
        let write = |id: &str| json!({ "id": id, "tool": "test.write", "input": { "file": ledger, "line": id } });
        make(&builder, &composition("two-writes", &json!({
            "steps": [echo("before", json!(1)), write("first"), write("second"), echo("after", json!("{{ steps.second.output.done }}"))],
        }))).await;
        let parked = agent.run("two-writes", json!({})).await;
        let run = parked.is("202 needs_approval").text_at("/run_id");
        assert_eq!(parked.headers["location"], format!("/api/runs/{run}"));
        for line in ["first", "second"] {
            let outer = once(&agent, &run, "needs_approval").await;
            let id = outer["approval_id"].as_str().unwrap().to_owned();
            if line == "first" {
                assert_eq!(parked.text_at("/approval_id"), id);
            }
            let asked = approver.get(&format!("/api/approvals/{id}")).await.json();
            assert_eq!((&asked["tool"], &asked["input"]["line"]), (&json!("test.write"), &json!(line)));
            assert_ne!(asked["run_id"], json!(run), "what is approved is the inner call");
            approve(&approver, &id).await.is("200 success");
            if line == "first" {
                // On to the next one: the state is the same, what is asked for is not.
                eventually("the second is asked for", super::PATIENCE, async || {
                    let outer = run_of(&agent, &run).await;
                    outer["approval_id"].is_string() && outer["approval_id"] != json!(id)
                }).await;
            }
        }
        let outer = once(&agent, &run, "success").await;
        assert_eq!(outer["output"], json!({ "value": "second" }));
        assert_eq!(lines_of(&ledger), ["first", "second"]);
        assert_eq!(below(&agent, &run).await.len(), 4, "no step ran twice");
        let trail = agent.trail(&run).await;
        assert_eq!((trail.first().unwrap().as_str(), trail.last().unwrap().as_str()), ("tool.started", "tool.completed"));
        assert_eq!(trail.iter().filter(|kind| *kind == "tool.started").count(), 1, "{trail:?}");

        let parked = agent.run("two-writes", json!({})).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        approver.post(&format!("/api/approvals/{id}/deny"), &json!({ "note": "not today" })).await.is("200 denied");
        let run = parked.text_at("/run_id");
        let outer = once(&agent, &run, "error").await;
        assert!(outer["error"].as_str().unwrap().contains("first"), "{outer}");
        assert_eq!(lines_of(&ledger), ["first", "second"]);
        assert_eq!(agent.trail(&run).await.last().unwrap(), "tool.failed");
    }

    async fn pending_step_is_waited_for(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("lookup", &json!({}))).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let chain = |tool: &str| json!({
            "steps": [
                { "id": "out", "tool": tool, "input": { "q": "{{ input.q }}" } },
                echo("then", json!("{{ steps.out.output.found }}")),
            ],
        });
        make(&builder, &composition("waits", &chain("lookup"))).await;
        make(&builder, &composition("starts", &chain("job"))).await;
        let mut worker = Worker::listens(&builder, "lookup,job", None).await;
        for slug in ["waits", "starts"] {
            let waiting = calling(&builder, slug, json!({ "input": { "q": slug }, "wait_ms": 30_000 }));
            let told = worker.told().await;
            assert_eq!(told.data["input"], json!({ "q": slug }));
            answer(&builder, &told.run, &told.call, &json!({ "found": 3 })).await.is("200 success");
            let heard = waiting.await.unwrap();
            assert_eq!(heard.is("200 success").json()["output"], json!({ "value": 3 }));
            assert_eq!(run_of(&builder, &told.run).await["parent_run_id"], heard.json()["run_id"]);
        }
        // A chain over a call that nobody waits for is not waited for either.
        let open = call(&builder, "starts", &json!({ "input": { "q": 1 } })).await;
        let run = open.is("202 pending").text_at("/run_id");
        assert_eq!(once(&builder, &run, "pending").await["pending_tool_call"], Value::Null);
        let told = worker.told().await;
        answer(&builder, &told.run, &told.call, &json!({ "found": 4 })).await.is("200 success");
        assert_eq!(once(&builder, &run, "success").await["output"], json!({ "value": 4 }));
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.completed"]);
    }

    async fn step_that_times_out_is_a_step_that_failed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("late", &json!({ "timeout_ms": 300 }))).await;
        let late = |rest: Value| with(json!({ "id": "late", "tool": "late" }), &rest);
        make(&builder, &composition("stops", &json!({ "steps": [late(json!({}))] }))).await;
        make(&builder, &composition("goes-on", &json!({ "steps": [late(json!({ "on_error": "fallback", "fallback": 0 })), echo("then", json!("{{ steps.late.output }}"))] }))).await;
        let told = builder.run("stops", json!({})).await;
        told.is("200 error");
        assert_eq!(told.text_at("/error_code"), "TIMEOUT");
        assert!(told.text_at("/error").contains("Tool timed out after 300ms"), "{}", told.text);
        let told = builder.run("goes-on", json!({})).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "value": 0 }));

        // Its own time is over, whatever its steps may still need.
        let slow = json!({ "id": "slow", "tool": "test.slow", "input": { "ms": 20_000 } });
        make(&builder, &with(composition("hurried", &json!({ "steps": [slow] })), &json!({ "timeout_ms": 400 }))).await;
        let told = builder.run("hurried", json!({})).await;
        assert_eq!(told.is("200 timed_out").text_at("/error"), "Tool timed out after 400ms");
        assert_eq!(builder.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        let inner = &below(&builder, &told.text_at("/run_id")).await[0];
        let ended = ["timed_out", "cancelled", "error"];
        eventually("what it called ends", super::PATIENCE, async || {
            let inner = run_of(&builder, inner["run_id"].as_str().unwrap()).await;
            ended.contains(&inner["status"].as_str().unwrap())
        }).await;
    }

    async fn chain_that_could_not_run_is_refused_when_it_is_saved(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let builder = world.client(&server, "acme", Role::Builder).await;
        let stranger = world.client(&server, "globex", Role::Builder).await;
        let calls = |slug: &str, tool: &str| composition(slug, &json!({ "steps": [{ "id": "a", "tool": tool }] }));
        let save = async |body: Value| builder.post("/api/tools", &body).await;
        let place = ["/execution_spec/steps/0/tool"];
        make(&stranger, &tool("theirs", &json!({ "implementation_type": "internal" }))).await;
        assert_eq!(faults(&save(calls("missing", "no-such-tool")).await), place);
        assert_eq!(faults(&save(calls("missing", "theirs")).await), place, "another tenant's is none");
        assert_eq!(faults(&save(calls("itself", "itself")).await), place);

        make(&builder, &tool("leaf", &json!({ "implementation_type": "internal" }))).await;
        make(&builder, &calls("one", "leaf")).await;
        make(&builder, &calls("two", "one")).await;
        make(&builder, &calls("three", "TWO")).await;
        for back in ["three", "two", "one", "ONE"] {
            let spec = json!({ "execution_spec": { "kind": "composition", "steps": [{ "id": "a", "tool": back }] } });
            assert_eq!(faults(&builder.patch("/api/tools/one", &spec).await), place, "{back}");
        }
        // Through what is saved and not live yet, too.
        let draft = json!({ "execution_spec": { "kind": "composition", "steps": [{ "id": "a", "tool": "three" }] } });
        make(&builder, &calls("four", "leaf")).await;
        builder.patch("/api/tools/four", &draft).await.is("200 published");
        let back = json!({ "execution_spec": { "kind": "composition", "steps": [{ "id": "a", "tool": "four" }] } });
        assert_eq!(faults(&builder.patch("/api/tools/one", &back).await), place);

        let guarded = json!({ "implementation_type": "internal", "required_permission": "keys.tenant.read" });
        make(&admin, &tool("guarded", &guarded)).await;
        save(calls("mine", "guarded")).await.is("403 NOT_PERMITTED");
        make(&admin, &calls("mine", "guarded")).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let told = member.run("mine", json!({})).await;
        assert_eq!(told.is("200 error").text_at("/error_code"), "NOT_PERMITTED", "nor at run for the caller");
        admin.run("mine", json!({})).await.is("200 success");

        let of = |spec: Value| composition("bad", &spec);
        let step = || json!({ "id": "a", "tool": "leaf" });
        for (body, path) in [
            (of(json!({})), "/execution_spec/steps"),
            (of(json!({ "steps": [] })), "/execution_spec/steps"),
            (of(json!({ "steps": [with(step(), &json!({ "id": "1a" }))] })), "/execution_spec/steps/0/id"),
            (of(json!({ "steps": [step(), step()] })), "/execution_spec/steps/1/id"),
            (of(json!({ "steps": [with(step(), &json!({ "on_error": "ignore" }))] })), "/execution_spec/steps/0/on_error"),
            (of(json!({ "steps": [with(step(), &json!({ "on_error": "fallback" }))] })), "/execution_spec/steps/0/fallback"),
            (of(json!({ "steps": [with(step(), &json!({ "when": "input.a >" }))] })), "/execution_spec/steps/0/when"),
            (of(json!({ "steps": [with(step(), &json!({ "input": { "x": "{{ nothing.here }}" } }))] })), "/execution_spec/steps/0/input/x"),
            (of(json!({ "steps": [with(step(), &json!({ "retry": 3 }))] })), "/execution_spec/steps/0/retry"),
            (of(json!({ "steps": [step()], "output": "{{ steps. }}" })), "/execution_spec/output"),
        ] {
            assert_eq!(faults(&save(body).await), [path]);
        }
    }

    async fn cancelling_a_chain_cancels_what_it_waits_for(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let ledger = world.ledger("effects");
        make(&builder, &external("lookup", &json!({ "is_async": true }))).await;
        let write = json!({ "id": "w", "tool": "test.write", "input": { "file": ledger, "line": "never" } });
        make(&builder, &composition("asks", &json!({ "steps": [{ "id": "out", "tool": "lookup" }, write] }))).await;
        make(&builder, &composition("outer", &json!({ "steps": [{ "id": "in", "tool": "asks" }] }))).await;
        let waiting = calling(&builder, "outer", json!({ "input": {}, "wait_ms": 30_000 }));
        let mut worker = Worker::listens(&builder, "lookup", None).await;
        let told = worker.told().await;
        let run = builder.get("/api/runs?tool=outer").await.text_at("/items/0/run_id");
        cancel(&builder, &run).await.is("200 cancelled");
        waiting.await.unwrap().is("200 cancelled");
        once(&builder, &told.run, "cancelled").await;
        answer(&builder, &told.run, &told.call, &json!(1)).await.is("409 CONFLICT");
        let middle = first(&builder, "asks", "cancelled").await;
        for run in [&run, &middle, &told.run] {
            assert_eq!(builder.trail(run).await, ["tool.started", "tool.cancelled"]);
        }

        // One that waits for an approval takes the approval with it.
        let write = json!({ "id": "w", "tool": "test.write", "input": { "file": ledger, "line": "never" } });
        make(&builder, &composition("writes", &json!({ "steps": [write] }))).await;
        let parked = agent.run("writes", json!({})).await;
        cancel(&agent, &parked.is("202 needs_approval").text_at("/run_id")).await.is("200 cancelled");
        let id = parked.text_at("/approval_id");
        assert_eq!(approver.get(&format!("/api/approvals/{id}")).await.json()["status"], "cancelled");
        approve(&approver, &id).await.is("409 ALREADY_DECIDED");
        assert_eq!(lines_of(&ledger), Vec::<String>::new());
    }

    async fn cancelling_a_chain_at_work_stops_the_step_it_is_at(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("effects");
        let implementation = json!({ "url": upstream.url("/hang") });
        make(&builder, &tool("hangs", &json!({ "implementation_type": "http", "implementation": implementation }))).await;
        make(&builder, &external("lookup", &json!({}))).await;
        let write = json!({ "id": "w", "tool": "test.write", "input": { "file": ledger, "line": "never" } });
        for (tool, status) in [("hangs", "running"), ("lookup", "pending")] {
            let slug = format!("{tool}-chain");
            let at_work = json!({ "id": "in", "tool": tool, "on_error": "continue" });
            make(&builder, &composition(&slug, &json!({ "steps": [at_work, write] }))).await;
            let waiting = calling(&builder, &slug, json!({ "input": {} }));
            let inner = first(&builder, tool, status).await;
            let run = run_of(&builder, &inner).await["parent_run_id"].as_str().unwrap().to_owned();
            cancel(&builder, &run).await.is("200 cancelled");
            waiting.await.unwrap().is("200 cancelled");
            once(&builder, &inner, "cancelled").await;
            for run in [&run, &inner] {
                assert_eq!(builder.trail(run).await, ["tool.started", "tool.cancelled"]);
            }
            assert_eq!(below(&builder, &run).await.len(), 1, "nothing is begun any more");
        }
        tokio::time::timeout(super::PATIENCE, upstream.hung_up(1)).await.expect("the connection is let go");
        assert_eq!(lines_of(&ledger), Vec::<String>::new());
    }

    async fn calls_within_calls_go_seven_deep_and_no_deeper(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &tool("c0", &json!({ "implementation_type": "internal" }))).await;
        for depth in 1..=8 {
            let inner = format!("c{}", depth - 1);
            make(&builder, &composition(&format!("c{depth}"), &json!({ "steps": [{ "id": "a", "tool": inner, "input": "{{ input }}" }] }))).await;
        }
        let told = builder.run("c7", json!({ "x": 1 })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "success": true, "args": { "x": 1 } }));
        let leaves = async || builder.get("/api/runs?tool=c0&limit=1").await.json()["total"].clone();
        assert_eq!(leaves().await, 1);
        let told = builder.run("c8", json!({ "x": 1 })).await;
        assert_eq!(told.is("200 error").text_at("/error_code"), "DEPTH_EXCEEDED");
        assert_eq!(leaves().await, 1);
    }

    async fn one_call_leads_to_a_thousand_calls_at_the_most(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &tool("leaf", &json!({ "implementation_type": "internal" }))).await;
        let steps = |tool: &str, count: usize| -> Vec<Value> {
            (0..count).map(|step| json!({ "id": format!("s{step}"), "tool": tool })).collect()
        };
        make(&builder, &composition("hundred", &json!({ "steps": steps("leaf", 100) }))).await;
        let many = composition("many", &json!({ "steps": steps("hundred", 11) }));
        make(&builder, &with(many, &json!({ "timeout_ms": 120_000 }))).await;
        let told = builder.post("/api/tools/many/run", &json!({ "input": {}, "wait_ms": 0 })).await;
        let run = told.text_at("/run_id");
        eventually("it is over", Duration::from_secs(120), async || run_of(&builder, &run).await["finished_at"].is_string()).await;
        let run = run_of(&builder, &run).await;
        assert_eq!((&run["status"], &run["error_code"]), (&json!("error"), &json!("BUDGET_EXCEEDED")), "{run}");
        // The ones in between count as well.
        let leaves = builder.get("/api/runs?tool=leaf&limit=1").await.json()["total"].as_u64().unwrap();
        assert_eq!(leaves, 1000 - 10);
        builder.run("hundred", json!({})).await.is("200 success");
    }

    async fn step_that_is_done_does_not_count_again_when_its_chain_goes_on(db: TestDb) {
        const STEPS: usize = 60;
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let steps: Vec<Value> = (0..STEPS).map(|step| json!({ "id": format!("s{step}"), "tool": "job" })).collect();
        make(&builder, &composition("patient", &json!({ "steps": steps }))).await;
        let mut worker = Worker::listens(&builder, "job", None).await;
        let run = builder.run("patient", json!({})).await.is("202 pending").text_at("/run_id");
        for step in 0..STEPS {
            // Every one of them makes the chain wait, and go on from its beginning.
            let told = tokio::select! {
                told = worker.told() => told,
                run = once(&builder, &run, "error") => panic!("after {step} steps: {run}"),
            };
            answer(&builder, &told.run, &told.call, &json!(step)).await.is("200 success");
        }
        assert_eq!(once(&builder, &run, "success").await["output"], STEPS - 1);
        assert_eq!(below(&builder, &run).await.len(), STEPS);
    }

    async fn worker_gets_a_secret_of_the_chain_that_nobody_else_sees(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("outside", &json!({}))).await;
        let step = json!({ "id": "ask", "tool": "outside", "input": { "token": "canary-of-chain", "n": "{{ input.n }}" } });
        make(&builder, &composition("asking", &json!({ "steps": [step] }))).await;
        let mut worker = Worker::listens(&builder, "outside", None).await;
        let asking = calling(&builder, "asking", json!({ "input": { "n": 7 } }));
        let told = worker.told().await;
        assert_eq!(told.data["input"], json!({ "token": "canary-of-chain", "n": 7 }));
        let shown = run_of(&builder, &told.run).await;
        assert_eq!(shown["input"], json!({ "token": "***", "n": 7 }));
        let pending = builder.get(&format!("/api/pending-calls/{}", told.call)).await;
        assert!(pending.status == 200 && !pending.text.contains("canary"), "{}", pending.text);
        answer(&builder, &told.run, &told.call, &json!({ "done": true })).await.is("200 success");
        asking.await.unwrap().is("200 success");
        assert!(!crate::canary::holds(&crate::canary::everything_stored(&world.db).await, "canary-of-chain"));
    }
}
