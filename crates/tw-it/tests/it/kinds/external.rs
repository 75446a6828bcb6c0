//! Tools that a worker outside answers: in time, too late, twice, never.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{Kind, TestDb, on_both};

use super::{
    PATIENCE, Worker, answer, call, calling, cancel, composition, external, first, ids, make, once, run_of,
};
use crate::world::{Client, World, eventually};

/// A call that nobody waits for.
async fn left_open(client: &Client, tool: &str) -> (String, String) {
    let open = client.run(tool, json!({})).await;
    open.is("202 pending");
    ids(&open)
}

/// What is told of a run that timed out and was answered after that.
const LATE: [&str; 3] = ["tool.started", "tool.failed", "tool.late_result"];

on_both! {
    async fn caller_who_waits_gets_what_the_worker_says(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&builder, &external("lookup", &json!({}))).await;
        let mut worker = Worker::listens(&builder, "lookup", None).await;
        let waiting = calling(&member, "lookup", json!({ "input": { "q": "projects" } }));
        let told = worker.told().await;
        assert_eq!((&told.data["tool"], &told.data["input"]), (&json!("lookup"), &json!({ "q": "projects" })));
        assert!(told.data["deadline"].is_string() && told.data["expires_at"].is_string());
        assert_eq!(run_of(&member, &told.run).await["pending_tool_call"]["status"], "waiting");

        let said = answer(&builder, &told.run, &told.call, &json!({ "found": 3 })).await;

        assert_eq!(said.is("200 success").text_at("/run_id"), told.run);
        let heard = waiting.await.unwrap();
        assert_eq!(heard.is("200 success").json()["output"], json!({ "found": 3 }));
        assert!(heard.json().get("pending_tool_call_id").is_none());
        assert_eq!(member.trail(&told.run).await, ["tool.started", "tool.completed"]);
        let record = run_of(&member, &told.run).await;
        assert_eq!(record["pending_tool_call"]["status"], "resolved");
        assert!(record["pending_tool_call"]["answered_by"].is_string());
        assert_eq!(record.get("late_result"), None);
    }

    async fn late_result_is_kept_once_and_the_run_stays_timed_out(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("late", &json!({ "timeout_ms": 300 }))).await;
        let began = Instant::now();
        let told = builder.run("late", json!({})).await;
        told.is("200 timed_out");
        assert!(Duration::from_millis(300) <= began.elapsed() && began.elapsed() < Duration::from_secs(5));
        let (run, call) = ids(&told);
        let body = told.json();
        assert_eq!((&body["error"], &body["error_code"]), (&json!("Tool timed out after 300ms"), &json!("TIMEOUT")));
        assert_eq!((&body["success"], &body["output"]), (&json!(false), &Value::Null));
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.failed"]);
        let record = run_of(&builder, &run).await;
        assert_eq!(record["pending_tool_call"]["status"], "pending");
        assert_eq!(record["pending_tool_call_id"], json!(call));

        let late = answer(&builder, &run, &call, &json!({ "n": 1 })).await;
        assert_eq!(late.is("200 timed_out").text_at("/run_id"), run);
        let record = run_of(&builder, &run).await;
        assert_eq!((&record["status"], &record["output"]), (&json!("timed_out"), &Value::Null));
        assert_eq!(record["late_result"], json!({ "n": 1 }));
        answer(&builder, &run, &call, &json!({ "n": 2 })).await.is("409 CONFLICT");
        answer(&builder, &run, &call, &json!({ "n": 1 })).await.is("200 timed_out");
        let error = json!({ "callId": call, "error": "no" });
        builder.post(&format!("/api/runs/{run}/tool-results"), &error).await.is("409 CONFLICT");
        assert_eq!(run_of(&builder, &run).await["late_result"], json!({ "n": 1 }));
        assert_eq!(builder.trail(&run).await, LATE, "one event is added");

        // Nothing is a result as well, and so is what went wrong.
        let (run, call) = ids(builder.run("late", json!({})).await.is("200 timed_out"));
        assert_eq!(run_of(&builder, &run).await.get("late_result"), None);
        answer(&builder, &run, &call, &Value::Null).await.is("200 timed_out");
        assert_eq!(run_of(&builder, &run).await.get("late_result"), Some(&Value::Null));
        let (run, call) = ids(builder.run("late", json!({})).await.is("200 timed_out"));
        let failed = json!({ "call_id": call, "error": "no such order" });
        builder.post(&format!("/api/runs/{run}/tool-results"), &failed).await.is("200 timed_out");
        assert_eq!(run_of(&builder, &run).await["late_result"], json!({ "error": "no such order" }));
        let read = builder.get(&format!("/api/pending-calls/{call}")).await.json();
        assert_eq!(read["result"], json!({ "error": "no such order" }));
    }

    async fn what_a_worker_is_asked_is_not_for_everybody(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&admin, &external("job", &json!({ "is_async": true }))).await;
        let (run, call) = ids(admin.run("job", json!({ "salary": 7 })).await.is("202 pending"));
        let path = format!("/api/pending-calls/{call}");
        member.get(&path).await.is("404 NOT_FOUND");
        member.get(&format!("/api/runs/{run}")).await.is("404 NOT_FOUND");
        for role in [Role::Admin, Role::Builder, Role::Approver] {
            let read = world.client(&server, "acme", role).await.get(&path).await.json();
            assert_eq!((&read["input"], &read["result"]), (&json!({ "salary": 7 }), &Value::Null), "{role}");
        }
        answer(&admin, &run, &call, &json!({ "paid": true })).await.is("200 success");
        assert_eq!(admin.get(&path).await.json()["result"], json!({ "paid": true }));
        member.get(&path).await.is("404 NOT_FOUND");
        let (_, own) = ids(member.run("job", json!({})).await.is("202 pending"));
        assert_eq!(member.get(&format!("/api/pending-calls/{own}")).await.json()["waits_for"], "worker");
    }

    async fn chain_that_waits_names_what_has_to_be_answered(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let steps = |tool: &str| composition(tool, &json!({ "steps": [{ "id": "one", "tool": "job" }] }));
        make(&builder, &steps("inner")).await;
        make(&builder, &composition("outer", &json!({ "steps": [{ "id": "one", "tool": "inner" }] }))).await;
        for chain in ["inner", "outer"] {
            let (run, call) = ids(member.run(chain, json!({})).await.is("202 pending"));
            let read = run_of(&member, &run).await;
            assert_eq!((&read["pending_tool_call_id"], read.get("pending_tool_call")), (&json!(call), None));
            let step = builder.get(&format!("/api/pending-calls/{call}")).await.text_at("/run_id");
            assert_ne!(step, run);
            assert_eq!(run_of(&member, &step).await["pending_tool_call"]["id"], json!(call));

            // By the run that the caller knows, or by the call's own; and not by whoever may not.
            answer(&member, &run, &call, &json!(7)).await.is("403 NOT_PERMITTED");
            let said = answer(&builder, &run, &call, &json!(7)).await;
            assert_eq!(said.is("200 success").text_at("/run_id"), step);
            answer(&builder, &step, &call, &json!(7)).await.is("200 success");
            answer(&builder, &run, &call, &json!(8)).await.is("409 CONFLICT");
            let ended = once(&member, &run, "success").await;
            assert_eq!((&ended["output"], ended.get("pending_tool_call_id")), (&json!(7), None));
        }
    }

    async fn async_call_answers_at_once_and_is_answered_in_its_own_time(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        make(&builder, &external("job", &json!({ "is_async": true, "timeout_ms": 300 }))).await;
        let open = agent.run("job", json!({})).await;
        open.is("202 pending");
        let (run, call) = ids(&open);
        assert_eq!(open.headers["location"], format!("/api/runs/{run}"));
        assert_eq!(run_of(&agent, &run).await["status"], "pending");
        answer(&builder, &run, &call, &json!("done")).await.is("200 success");
        assert_eq!(run_of(&agent, &run).await["output"], "done");
        assert_eq!(agent.trail(&run).await, ["tool.started", "tool.completed"]);

        // The same answer again changes nothing, also with its members in another order; another one is refused.
        let (run, call) = left_open(&agent, "job").await;
        answer(&builder, &run, &call, &json!({ "a": 1, "b": 2 })).await.is("200 success");
        answer(&builder, &run, &call, &json!({ "b": 2, "a": 1 })).await.is("200 success");
        answer(&builder, &run, &call, &json!({ "a": 1, "b": 3 })).await.is("409 CONFLICT");
        answer(&builder, &run, &call, &Value::Null).await.is("409 CONFLICT");
        assert_eq!(run_of(&agent, &run).await["output"], json!({ "a": 1, "b": 2 }));

        // Whoever says how long they wait does wait.
        let waiting = calling(&agent, "job", json!({ "input": {}, "wait_ms": 20_000 }));
        let run = first(&agent, "job", "pending").await;
        let call = run_of(&agent, &run).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        answer(&builder, &run, &call, &Value::Null).await.is("200 success");
        let heard = waiting.await.unwrap();
        assert_eq!(heard.is("200 success").json()["output"], Value::Null);
    }

    async fn caller_who_waits_for_less_is_told_that_it_is_pending(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("slow", &json!({ "timeout_ms": 2500 }))).await;
        let open = call(&builder, "slow", &json!({ "input": {}, "wait_ms": 700 })).await;
        open.is("202 pending");
        let (run, call_id) = ids(&open);
        assert_eq!(open.headers["location"], format!("/api/runs/{run}"));
        let record = once(&builder, &run, "timed_out").await;
        assert_eq!(record["error"], "Tool timed out after 2500ms");
        answer(&builder, &run, &call_id, &json!(1)).await.is("200 timed_out");
        assert_eq!(builder.trail(&run).await, LATE);
    }

    async fn worker_says_that_it_failed_in_one_of_two_ways(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let schema = json!({ "type": "object", "required": ["n"] });
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        make(&builder, &external("checked", &json!({ "is_async": true, "output_schema": schema }))).await;
        let submit = async |tool: &str, mut body: Value| {
            let (run, call) = left_open(&builder, tool).await;
            body["callId"] = json!(call);
            let said = builder.post(&format!("/api/runs/{run}/tool-results"), &body).await;
            said.is("200 error");
            assert_eq!(builder.trail(&run).await, ["tool.started", "tool.failed"]);
            (said.text_at("/error_code"), said.text_at("/error"))
        };
        let failed = |error: &str| ("TOOL_FAILED".to_owned(), error.to_owned());
        assert_eq!(submit("job", json!({ "error": "no such order" })).await, failed("no such order"));
        assert_eq!(submit("job", json!({ "result": { "success": false, "error": "empty" } })).await, failed("empty"));
        let said = json!({ "success": false, "summary": "Search failed", "data": { "n": 1 } });
        for tool in ["job", "checked"] {
            assert_eq!(submit(tool, json!({ "result": said })).await, failed("Search failed"));
        }
        let said = json!({ "success": false, "summary": "Search failed", "error": "no index" });
        assert_eq!(submit("job", json!({ "result": said })).await, failed("no index"));
        let (code, _) = submit("checked", json!({ "result": { "m": 1 } })).await;
        assert_eq!(code, "OUTPUT_INVALID", "what a worker sends is what came of the call");

        let (run, call) = left_open(&builder, "job").await;
        let path = format!("/api/runs/{run}/tool-results");
        for body in [
            json!({ "call_id": call }), json!({ "call_id": 7, "result": 1 }),
            json!({ "call_id": call, "result": 1, "error": "both" }), json!({ "call_id": call, "error": 7 }),
            json!({ "call_id": call, "error": "" }), json!({ "call_id": call, "error": " \n" }),
        ] {
            builder.post(&path, &body).await.is("422 INVALID_PARAMS");
        }
        for body in [json!({}), json!({ "result": 1 })] {
            builder.post(&path, &body).await.is("422 MISSING_PARAM");
        }
        assert_eq!(run_of(&builder, &run).await["status"], "pending");
    }

    async fn result_is_taken_from_whoever_may_give_it_and_for_its_own_run(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let (run, call) = left_open(&builder, "job").await;
        let (other_run, _) = left_open(&builder, "job").await;
        let nothing = "0193a000-0000-7000-8000-000000000000";
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let missing = |answer: crate::world::Answer| {
            let mut told = answer.is("404 NOT_FOUND").json();
            told["request_id"] = Value::Null;
            told
        };
        let expected = missing(answer(&stranger, nothing, nothing, &json!(1)).await);
        assert_eq!(missing(answer(&stranger, &run, &call, &json!(1)).await), expected);
        assert_eq!(missing(answer(&builder, &other_run, &call, &json!(1)).await), expected);
        assert_eq!(missing(answer(&builder, nothing, &call, &json!(1)).await), expected);
        assert_eq!(missing(answer(&builder, &run, &run, &json!(1)).await), expected);
        assert_eq!(missing(answer(&builder, &run, "no-id", &json!(1)).await), expected);
        for role in [Role::Viewer, Role::Member, Role::Approver] {
            let who = world.client(&server, "acme", role).await;
            answer(&who, &run, &call, &json!(1)).await.is("403 NOT_PERMITTED");
            if role == Role::Viewer {
                who.post(&format!("/api/runs/{run}/tool-results"), &json!({ "nonsense": 1 })).await.is("403 NOT_PERMITTED");
            }
            who.get("/api/workers/stream").await.is("403 NOT_PERMITTED");
        }
        for role in [Role::Agent, Role::Admin] {
            let agent = Client::new(&server.url, Some(world.key("acme", role, ActsAs::Agent).await));
            answer(&agent, &run, &call, &json!(1)).await.is("403 NOT_PERMITTED");
            agent.get("/api/workers/stream").await.is("403 NOT_PERMITTED");
        }
        answer(&Client::new(&server.url, None), &run, &call, &json!(1)).await.is("401 UNAUTHENTICATED");
        assert_eq!(run_of(&builder, &run).await["status"], "pending");
        answer(&builder, &run, &call, &json!(1)).await.is("200 success");
    }

    async fn result_has_ten_mebibytes_at_the_most(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let (run, call) = left_open(&builder, "job").await;
        // Two of the bytes are the quotation marks.
        let limit = (10 << 20) - 2;
        for over in [1, 4, 1 << 20] {
            let large = json!("x".repeat(limit + over));
            answer(&builder, &run, &call, &large).await.is("413 PAYLOAD_TOO_LARGE");
        }
        assert_eq!(run_of(&builder, &run).await["status"], "pending");
        let fits = json!("x".repeat(limit));
        answer(&builder, &run, &call, &fits).await.is("200 success");
        assert_eq!(run_of(&builder, &run).await["output"], fits);
    }

    async fn list_of_large_runs_comes_in_shorter_pages(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let large = json!("x".repeat(5 << 20));
        let mut made = Vec::new();
        for _ in 0..4 {
            let (run, call) = left_open(&builder, "job").await;
            answer(&builder, &run, &call, &large).await.is("200 success");
            made.push(run);
        }
        made.reverse();
        let (mut found, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = builder.get(&format!("/api/runs?tool=job&limit=50{cursor}")).await.json();
            let items = page["items"].as_array().unwrap();
            assert!(items.len() < 4, "a page is some mebibytes");
            found.extend(items.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()));
            pages += 1;
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!((found, 1 < pages), (made, true));
    }

    async fn call_that_nobody_answers_expires(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let short = json!({ "pending_ttl_ms": 200 });
        make(&builder, &external("job", &json!({ "is_async": true, "implementation": short }))).await;
        make(&builder, &external("sync", &json!({ "timeout_ms": 100, "implementation": short }))).await;
        let (run, call) = left_open(&builder, "job").await;
        eventually("it expires", PATIENCE, async || answer(&builder, &run, &call, &json!(1)).await.status == 410
            || run_of(&builder, &run).await["status"] == "success").await;
        // Whether the first answer was quick enough is not ours to say; on its own it never is.
        let (run, call) = left_open(&builder, "job").await;
        let record = once(&builder, &run, "error").await;
        assert_eq!(record["error_code"], "EXPIRED");
        assert_eq!(record["pending_tool_call"]["status"], "expired");
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.failed"]);
        answer(&builder, &run, &call, &json!(1)).await.is("410 EXPIRED");

        let (run, call) = ids(builder.run("sync", json!({})).await.is("200 timed_out"));
        eventually("it expires", PATIENCE, async || {
            run_of(&builder, &run).await["pending_tool_call"]["status"] == "expired"
        }).await;
        answer(&builder, &run, &call, &json!(1)).await.is("410 EXPIRED");
        assert_eq!(run_of(&builder, &run).await["status"], "timed_out");
        let refused = builder.post("/api/tools", &external("bad", &json!({ "implementation": { "pending_ttl_ms": 0 } }))).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/path"), "/implementation/pending_ttl_ms");
    }

    async fn answer_is_awaited_no_longer_than_it_is_taken(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "timeout_ms": 20_000, "pending_ttl_ms": 300 }))).await;
        assert_eq!(builder.get("/api/tools/job").await.json()["implementation"], json!({ "pending_ttl_ms": 300 }));
        let mut in_time = 0;
        for _ in 0..4 {
            let began = Instant::now();
            let told = builder.run("job", json!({})).await;
            assert_eq!(told.is("200 error").text_at("/error_code"), "EXPIRED");
            in_time += usize::from(began.elapsed() < Duration::from_millis(800));
        }
        assert!(3 <= in_time, "{in_time} of 4 ended when they had to");

        let two = json!({ "pending_ttl_ms": 300, "implementation": { "pending_ttl_ms": 400 } });
        let refused = builder.post("/api/tools", &external("two", &two)).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/path"), "/pending_ttl_ms");
        builder.patch("/api/tools/job", &json!({ "pending_ttl_ms": 500 })).await.is("200 published");
        let draft = builder.get("/api/tools/job?mode=debug").await.json();
        assert_eq!(draft["implementation"], json!({ "pending_ttl_ms": 500 }));
    }

    async fn result_of_a_cancelled_call_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({}))).await;
        let waiting = calling(&builder, "job", json!({ "input": {} }));
        let run = first(&builder, "job", "pending").await;
        let call = run_of(&builder, &run).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        cancel(&builder, &run).await.is("200 cancelled");
        waiting.await.unwrap().is("200 cancelled");
        answer(&builder, &run, &call, &json!(1)).await.is("409 CONFLICT");
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.cancelled"]);
        assert_eq!(run_of(&builder, &run).await["pending_tool_call"]["status"], "cancelled");
    }

    async fn call_outlives_its_server(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "timeout_ms": 100_000 }))).await;
        make(&builder, &external("short", &json!({ "timeout_ms": 2500 }))).await;
        let open = call(&builder, "job", &json!({ "input": { "n": 7 }, "wait_ms": 700 })).await;
        let (run, call_id) = ids(open.is("202 pending"));
        let short = call(&builder, "short", &json!({ "input": {}, "wait_ms": 700 })).await;
        let (short, _) = ids(short.is("202 pending"));
        server.kill();

        let server = world.server();
        let builder = builder.at(&server);
        assert_eq!(run_of(&builder, &run).await["status"], "pending");
        let mut worker = Worker::listens(&builder, "job", None).await;
        let told = worker.told().await;
        assert_eq!((&told.run, &told.call, &told.data["input"]), (&run, &call_id, &json!({ "n": 7 })));
        answer(&builder, &told.run, &told.call, &json!("after all")).await.is("200 success");
        assert_eq!(run_of(&builder, &run).await["output"], "after all");
        assert_eq!(builder.trail(&run).await, ["tool.started", "tool.completed"]);
        // Its time runs out also where nobody waits for it any more.
        assert_eq!(once(&builder, &short, "timed_out").await["error"], "Tool timed out after 2500ms");
        assert_eq!(builder.trail(&short).await, ["tool.started", "tool.failed"]);
    }

    async fn gated_call_waits_for_a_person_first_and_for_its_worker_then(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        make(&builder, &external("deploy", &json!({ "permission_level": "write", "is_async": true }))).await;
        make(&builder, &external("marker", &json!({ "is_async": true }))).await;
        let parked = agent.run("deploy", json!({ "to": "production" })).await;
        let run = parked.is("202 needs_approval").text_at("/run_id");
        let mut worker = Worker::listens(&builder, "", None).await;
        let (marker, _) = left_open(&builder, "marker").await;
        assert_eq!(worker.told().await.run, marker, "nobody is told of a call that is not approved");

        let path = format!("/api/approvals/{}/approve", parked.text_at("/approval_id"));
        let began = Instant::now();
        let approved = approver.post(&path, &json!({})).await;

        approved.is("202 pending");
        assert!(began.elapsed() < Duration::from_secs(10), "whoever approves does not wait for the worker");
        let told = worker.told().await;
        assert_eq!((&told.run, &told.data["input"]), (&run, &json!({ "to": "production" })));
        assert_eq!(run_of(&agent, &run).await["status"], "pending");
        answer(&builder, &told.run, &told.call, &json!("deployed")).await.is("200 success");
        assert_eq!(run_of(&agent, &run).await["output"], "deployed");
        let trail = agent.trail(&run).await;
        assert_eq!(trail.first().map(String::as_str), Some("tool.needs_approval"), "{trail:?}");
        assert_eq!(trail[trail.len() - 2..], ["tool.started", "tool.completed"], "{trail:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn call_on_one_server_is_told_and_answered_on_the_other() {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let (here, there) = (world.server(), world.server());
    let member = world.client(&here, "acme", Role::Member).await;
    let builder = world.client(&there, "acme", Role::Builder).await;
    make(&builder, &external("job", &json!({}))).await;
    let mut worker = Worker::listens(&builder, "job", None).await;
    for turn in 0..5 {
        let waiting = calling(&member, "job", json!({ "input": { "turn": turn } }));
        let told = worker.told().await;
        answer(&builder, &told.run, &told.call, &json!(turn)).await.is("200 success");
        let answered = Instant::now();
        let heard = waiting.await.unwrap();
        assert_eq!(heard.is("200 success").json()["output"], turn);
        assert!(
            answered.elapsed() < Duration::from_secs(3),
            "the caller heard after {:?}",
            answered.elapsed()
        );
        assert_eq!(member.trail(&told.run).await, ["tool.started", "tool.completed"]);
    }
    let waiting = calling(&member, "job", json!({ "input": {} }));
    let told = worker.told().await;
    cancel(&builder.at(&there), &told.run).await.is("404 NOT_FOUND");
    let admin = world.client(&there, "acme", Role::Admin).await;
    cancel(&admin, &told.run).await.is("200 cancelled");
    waiting.await.unwrap().is("200 cancelled");
    answer(&builder.at(&here), &told.run, &told.call, &json!(1)).await.is("409 CONFLICT");
}
