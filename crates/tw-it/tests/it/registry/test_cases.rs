//! What authors expect of their tools, and whether it holds.

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, audited, count, echo, faults, live, needing, number, with};
use crate::{
    canary::{everything_stored, holds},
    world::{Answer, Client, World},
};

fn cases(slug: &str) -> String {
    format!("/api/tools/{slug}/tests")
}

async fn add(who: &Client, slug: &str, name: &str, input: Value, expect: Value) -> String {
    let body = json!({ "name": name, "input": input, "expect": expect });
    who.post(&cases(slug), &body).await.is("201").text_at("/id")
}

async fn run(who: &Client, slug: &str, body: &Value) -> Answer {
    who.post(&format!("{}/run", cases(slug)), body).await
}

/// Each case with whether it passed and the places that differ.
fn told(report: &Value) -> Vec<(String, bool, Vec<String>)> {
    let items = report["items"].as_array().unwrap_or_else(|| panic!("{report}"));
    let failed = items.iter().filter(|item| item["passed"] == false).count();
    assert_eq!((&report["failed"], &report["passed"]), (&json!(failed), &json!(items.len() - failed)));
    let told = |item: &Value| {
        let diff = item["diff"].as_array().unwrap().iter();
        let paths = diff.map(|diff| diff["path"].as_str().unwrap().to_owned()).collect();
        (item["name"].as_str().unwrap().to_owned(), item["passed"].as_bool().unwrap(), paths)
    };
    items.iter().map(told).collect()
}

on_both! {
    async fn test_cases_are_kept_listed_changed_and_go_with_their_tool(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        live(&author, "kept").await;
        let body = json!({ "name": "First", "input": { "a": 1 }, "expect": { "output": null, "status": "success" } });
        let made = author.post(&cases("kept"), &body).await.is("201").json();
        for (key, value) in body.as_object().unwrap() {
            assert_eq!(made[key], *value);
        }
        assert!(made["last_result"].is_null());
        let id = made["id"].as_str().unwrap();
        let one = format!("{}/{id}", cases("kept"));
        for number in 2..=4 {
            add(&author, "kept", &format!("Case {number}"), json!({ "a": number }), json!({})).await;
        }
        let page = member.get(&format!("{}?limit=2", cases("kept"))).await.json();
        assert_eq!((&page["total"], &page["items"][0]), (&json!(4), &made));
        let cursor = page["next_cursor"].as_str().unwrap();
        let rest = member.get(&format!("{}?cursor={cursor}", cases("kept"))).await.json();
        let names: Vec<_> = rest["items"].as_array().unwrap().iter().map(|case| &case["name"]).collect();
        assert_eq!(names, ["Case 3", "Case 4"]);

        // What was read can be sent back, and changes nothing.
        assert_eq!(author.patch(&one, &made).await.json(), made);
        let changed = author.patch(&one, &json!({ "expect": null, "name": "Renamed" })).await.json();
        assert_eq!((&changed["name"], &changed["expect"], &changed["input"]), (&json!("Renamed"), &json!({}), &json!({ "a": 1 })));
        for who in [&member, &agent] {
            who.post(&cases("kept"), &body).await.is("403 NOT_PERMITTED");
            who.patch(&one, &json!({ "nothing": 1 })).await.is("403 NOT_PERMITTED");
            who.delete(&one).await.is("403 NOT_PERMITTED");
        }
        agent.get(&cases("kept")).await.is("403 NOT_PERMITTED");
        run(&agent, "kept", &json!({})).await.is("403 NOT_PERMITTED");
        assert_eq!(author.delete(&one).await.status, 204);
        author.delete(&one).await.is("404 NOT_FOUND");
        author.patch(&one, &json!({ "name": "x" })).await.is("404 NOT_FOUND");
        let log = author.get(&format!("/api/audit?object=test_case:{id}")).await.json();
        let actions: Vec<_> = log["items"].as_array().unwrap().iter().map(|line| &line["action"]).collect();
        assert_eq!(actions, ["test_case.removed", "test_case.changed", "test_case.created"]);
        assert_eq!(log["items"][1]["before"]["name"], "First");

        author.post(&cases("test.echo"), &body).await.is("409 CONFLICT");
        assert_eq!(author.get(&cases("test.echo")).await.json()["total"], 0);
        author.post(&cases("nothing"), &body).await.is("404 TOOL_NOT_FOUND");
        assert_eq!(author.delete(&at("kept")).await.status, 204);
        assert_eq!(count(&world.db, "SELECT count(*) FROM test_cases").await, 0);
    }

    async fn test_case_that_cannot_be_used_is_refused_with_every_fault(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "strict").await;
        let refused = author.post(&cases("strict"), &json!({ "expect": { "outputs": 1 }, "inputs": {} })).await;
        assert_eq!(faults(refused.is("422 MISSING_PARAM")), ["/expect/outputs", "/inputs", "/name"]);
        let odd = json!({ "name": "\u{202e}", "expect": { "jq": ".a | nap(", "error_code": "", "status": "success" } });
        let refused = author.post(&cases("strict"), &odd).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/name", "/expect/error_code", "/expect/jq"]);
        let waits = json!({ "name": "x", "expect": { "status": "needs_approval" } });
        assert_eq!(faults(author.post(&cases("strict"), &waits).await.is("422 INVALID_PARAMS")), ["/expect/status"]);
        let long = "x".repeat(70_000);
        let large = json!({ "name": "x", "input": { "a": long }, "expect": { "contains": long } });
        assert_eq!(faults(author.post(&cases("strict"), &large).await.is("422 INVALID_PARAMS")), ["/input", "/expect"]);
        for number in 0..100 {
            add(&author, "strict", &format!("Case {number}"), json!({}), json!({})).await;
        }
        author.post(&cases("strict"), &json!({ "name": "One more" })).await.is("409 CONFLICT");
        run(&author, "strict", &json!({ "against": "live" })).await.is("422 INVALID_PARAMS");
        run(&author, "strict", &json!({ "against": "7.0.0" })).await.is("404 NOT_FOUND");
        run(&author, "strict", &json!({ "version": "1.0.0" })).await.is("422 INVALID_PARAMS");
    }

    async fn test_cases_say_what_differs_and_their_runs_are_calls_like_others(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "judged").await;
        let whole = json!({ "success": true, "args": { "a": 1 } });
        let one = json!({ "a": 1 });
        add(&author, "judged", "succeeds", one.clone(), json!({})).await;
        add(&author, "judged", "equal", one.clone(), json!({ "output": whole, "contains": { "success": true }, "jq": ".args.a == 1" })).await;
        add(&author, "judged", "unequal", one.clone(), json!({ "output": { "success": true, "args": { "a": 2 } } })).await;
        add(&author, "judged", "not in it", one.clone(), json!({ "contains": { "args": { "b": 1 } } })).await;
        add(&author, "judged", "false", one.clone(), json!({ "jq": ".args.a" })).await;
        add(&author, "judged", "endless", one.clone(), json!({ "jq": "last(repeat(1))" })).await;
        add(&author, "judged", "missing", json!({}), json!({ "error_code": "MISSING_PARAM" })).await;
        add(&author, "judged", "unexpected", json!({}), json!({})).await;

        let report = run(&member, "judged", &json!({})).await.json();
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let expected = [
            ("succeeds", true, paths(&[])),
            ("equal", true, paths(&[])),
            ("unequal", false, paths(&["/output/args/a"])),
            ("not in it", false, paths(&["/output/args/b"])),
            ("false", false, paths(&["/jq"])),
            ("endless", false, paths(&["/jq"])),
            ("missing", true, paths(&[])),
            ("unexpected", false, paths(&["/status", "/error_code", "/error"])),
        ];
        assert_eq!(told(&report), expected.map(|(name, passed, paths)| (name.to_owned(), passed, paths)), "{report}");
        assert_eq!(report["items"][2]["diff"][0], json!({ "path": "/output/args/a", "expected": 2, "actual": 1 }));
        assert!(report["items"][6]["run_id"].is_null(), "a refused call leaves no run");
        let first = member.get(&format!("/api/runs/{}", report["items"][0]["run_id"].as_str().unwrap())).await.json();
        assert_eq!((&first["mode"], &first["status"], &first["input"]), (&json!("debug"), &json!("success"), &one));
        let listed = author.get(&cases("judged")).await.json();
        let last: Vec<_> = listed["items"].as_array().unwrap().iter().map(|case| &case["last_result"]["passed"]).collect();
        assert_eq!(last, [true, true, false, false, false, false, true, false]);

        let ids: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|case| &case["id"]).collect();
        let some = run(&member, "judged", &json!({ "ids": [ids[2], ids[0]] })).await.json();
        assert_eq!((&some["passed"], &some["failed"]), (&json!(1), &json!(1)));
        assert_eq!((&some["items"][0]["id"], &some["items"][1]["id"]), (ids[0], ids[2]));
        live(&author, "other").await;
        run(&author, "other", &json!({ "ids": [ids[0]] })).await.is("404 NOT_FOUND");
        run(&author, "judged", &json!({ "ids": ["x"] })).await.is("422 INVALID_PARAMS");
    }

    async fn test_cases_are_held_against_the_draft_or_a_version(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "numbered").await;
        add(&author, "numbered", "takes a", json!({ "a": 1 }), json!({})).await;
        author.patch(&at("numbered"), &json!({ "input_schema": needing("b") })).await.is("200 published");

        let passed = async |who: &Client, body: Value| run(who, "numbered", &body).await.json()["passed"].clone();
        assert_eq!(passed(&author, json!({})).await, 0, "the draft");
        assert_eq!(passed(&author, json!({ "against": "draft" })).await, 0);
        // The draft still has the number, and the number stands for what was published under it.
        assert_eq!(passed(&author, json!({ "against": "1.0.0" })).await, 1);
        run(&member, "numbered", &json!({})).await.is("403 NOT_PERMITTED");
        number(&author, "numbered", "2.0.0").await.is("200 published");
        author.post("/api/tools/numbered/publish", &json!({ "ignore_tests": true })).await.is("200 published");
        assert_eq!(passed(&member, json!({})).await, 0, "what is live");
        assert_eq!(passed(&author, json!({ "against": "1.0.0" })).await, 1);
        author.post("/api/tools/numbered/versions/1.0.0/withdraw", &json!({})).await;
        run(&author, "numbered", &json!({ "against": "1.0.0" })).await.is("409 VERSION_WITHDRAWN");
        author.patch(&at("numbered"), &json!({ "is_active": false })).await.is("200 published");
        run(&author, "numbered", &json!({})).await.is("409 TOOL_DISABLED");
    }

    async fn test_that_would_wait_has_not_passed_and_leaves_nothing_open(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let outside = json!({ "implementation_type": "external", "timeout_ms": 300, "publish": true });
        author.post("/api/tools", &with(&echo("outside"), &outside)).await.is("201 published");
        add(&author, "outside", "no worker", json!({ "a": 1 }), json!({ "status": "timed_out" })).await;
        let report = run(&author, "outside", &json!({})).await.json();
        assert_eq!(report["passed"], 1, "{report}");

        // Somebody who may take days is not waited for.
        let person = json!({ "implementation_type": "space", "is_async": true, "publish": true });
        author.post("/api/tools", &with(&echo("asking"), &person)).await.is("201 published");
        add(&author, "asking", "waits", json!({ "a": 1 }), json!({ "jq": "true" })).await;
        let report = run(&author, "asking", &json!({})).await.json();
        let item = &report["items"][0];
        assert_eq!((&report["failed"], &item["diff"][0]["actual"]), (&json!(1), &json!("pending")), "{report}");
        let ended = author.get(&format!("/api/runs/{}", item["run_id"].as_str().unwrap())).await;
        assert_eq!(ended.text_at("/status"), "cancelled");
        assert_eq!(author.get("/api/approvals").await.json()["total"], 0);
        let open = "SELECT count(*) FROM runs WHERE status IN ('running', 'pending', 'needs_approval')";
        assert_eq!(count(&world.db, open).await, 0);
    }

    async fn secret_of_a_test_case_is_sealed_and_shown_nowhere(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let open = json!({ "input_schema": { "type": "object" }, "publish": true });
        author.post("/api/tools", &with(&echo("careful"), &open)).await.is("201 published");
        let input = json!({ "user": "bob", "api_key": "canary-1234567890" });
        let expect = json!({ "output": { "success": true, "args": input } });
        let mut seen = String::new();
        for _ in 0..2 {
            let request = author.request(Method::POST, &cases("careful")).header("idempotency-key", "made-once");
            let made = author.send(request.json(&json!({ "name": "Keyed", "input": input, "expect": expect }))).await;
            seen += &made.is("201").text;
        }
        let listed = author.get(&cases("careful")).await;
        assert_eq!(listed.json()["items"][0]["input"], json!({ "user": "bob", "api_key": "***" }));
        let one = format!("{}/{}", cases("careful"), listed.text_at("/items/0/id"));
        let mut back = listed.json()["items"][0].clone();
        back["name"] = json!("Renamed");
        seen += &author.patch(&one, &back).await.is("200").text;
        let report = run(&author, "careful", &json!({})).await;
        assert_eq!(report.json()["passed"], 1, "{}", report.text);
        let run = report.text_at("/items/0/run_id");
        let record = author.get(&format!("/api/runs/{run}")).await;
        assert_eq!(record.json()["input"], json!({ "user": "bob", "api_key": "***" }));
        seen += &(listed.text + &record.text + &report.text + &author.get("/api/audit?limit=200").await.text);
        assert!(!seen.contains("canary"), "{seen}");
        assert!(audited(&author, "careful").await.contains(&"tool.created_and_published".to_owned()));
        assert!(!holds(&everything_stored(&world.db).await, "canary"));
    }

    async fn command_line_shows_what_differs_and_fails_where_a_case_does(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "spoken").await;
        let id = add(&author, "spoken", "one is two", json!({ "a": 1 }), json!({ "contains": { "args": { "a": 2 } } })).await;
        let ask = |arguments: &[&str]| {
            let mut command = world.command();
            command.env("TOOLWRIGHT_URL", &server.url).env("TOOLWRIGHT_KEY", author.key.as_ref().unwrap());
            let output = command.args(["tools", "test", "spoken"]).args(arguments).output().unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (code, said) = ask(&[]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("failed  one is two") && said.contains("/output/args/a: expected 2, got 1"), "{said}");
        assert!(said.ends_with("0 passed, 1 failed\n"), "{said}");
        author.patch(&format!("{}/{id}", cases("spoken")), &json!({ "expect": {} })).await.is("200");
        let (code, said) = ask(&["--against", "1.0.0", "--json"]);
        assert_eq!((code, &serde_json::from_str::<Value>(&said).unwrap()["passed"]), (Some(0), &json!(1)), "{said}");
        assert_eq!(ask(&["--against", "9.9.9"]).0, Some(1));
    }
}
