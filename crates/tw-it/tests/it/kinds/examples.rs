//! The files under `examples/`: each is imported, published and run.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Generation, McpServer, Quirk, TestDb, Upstream, on_both};

use super::{Worker, answer, call, calling, ids, once};
use crate::world::{Client, World, eventually};

const SERVICE: &str = "https://api.github.com";
const REMOTE: &str = "https://mcp.deepwiki.com";

/// The examples in a folder of their own, with others in place of the services on the internet.
fn examples_for(upstream: &Upstream, remote: &McpServer, folder: &Path) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fs::create_dir_all(folder).unwrap();
    let mut slugs = Vec::new();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read_to_string(&path).unwrap();
            let definition: Value = serde_json::from_str(&text).unwrap();
            slugs.push(definition["slug"].as_str().unwrap().to_owned());
            let text = text.replace(SERVICE, &upstream.url("")).replace(REMOTE, &remote.upstream.url(""));
            fs::write(folder.join(path.file_name().unwrap()), text).unwrap();
        }
    }
    slugs.sort();
    slugs
}

/// `toolwright tools import`, as `--json` tells of it.
fn import(world: &World, client: &Client, folder: &Path) -> Value {
    let mut command = world.command();
    command.args(["tools", "import", "--json", "--url", &client.url, "--key"]);
    let done = command.arg(client.key.as_ref().unwrap()).arg(folder).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}{}", String::from_utf8_lossy(&done.stderr)))
}

fn issues(count: usize) -> String {
    let issue = |number: usize| {
        json!({ "number": number, "title": format!("Issue {number}"), "user": { "login": "ada", "id": 7 },
                "html_url": format!("https://github.com/o/r/issues/{number}"), "body": "…" })
    };
    let mut all: Vec<Value> = (1..=count).map(issue).collect();
    all.push(json!({ "number": 99, "pull_request": {}, "user": { "login": "bob" } }));
    json_answer(&json!(all))
}

fn json_answer(body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

on_both! {
    async fn examples_come_in_and_run(db: TestDb) {
        let upstream = Upstream::start().await;
        let remote = McpServer::start(Generation::Present).await;
        let world = World::on(db).await;
        let allowed = format!("{},{}", upstream.host_and_port(), remote.upstream.host_and_port());
        let server = world.server_with(&[], &[
            ("TOOLWRIGHT_EGRESS__ALLOW", &allowed),
            ("TOOLWRIGHT_MODELS__DEFAULT__PROVIDER", "ollama"),
            ("TOOLWRIGHT_MODELS__DEFAULT__MODEL", "m"),
            ("TOOLWRIGHT_MODELS__DEFAULT__BASE_URL", &upstream.url("/v1")),
        ]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let folder = world.folder.path().join("examples");
        let slugs = examples_for(&upstream, &remote, &folder);
        assert_eq!(slugs.len(), 9);
        let came = import(&world, &admin, &folder);
        assert_eq!((&came["created"], &came["failed"]), (&json!(9), &json!(0)), "{came:#}");
        let again = import(&world, &admin, &folder);
        assert_eq!((&again["unchanged"], &again["failed"]), (&json!(9), &json!(0)), "{again:#}");
        for slug in &slugs {
            admin.post(&format!("/api/tools/{slug}/publish"), &json!({})).await.is("200 published");
        }

        let topics = json!({ "content": [{ "type": "text", "text": "- 1 Overview" }] });
        remote.set(Quirk::Result(topics));
        let told = member.run("repository.outline", json!({ "repoName": "tokio-rs/tokio" })).await;
        assert_eq!(told.is("200 success").json()["output"], "- 1 Overview");
        assert_eq!(remote.asked("tools/call")[0]["params"]["name"], "read_wiki_structure");

        let summary = json!({ "wish": "money back", "urgency": "normal", "products": ["lamp"] });
        let body = json!({ "choices": [{ "message": { "content": summary.to_string() }, "finish_reason": "stop" }] });
        upstream.script([json_answer(&body)]);
        let told = member.run("ticket.summary", json!({ "letter": "The lamp is broken. Ada" })).await;
        assert_eq!(told.is("200 success").json()["output"], summary);
        assert_eq!(upstream.requests()[0].header("authorization"), None, "this provider needs no key");

        let credential = json!({ "label": "github", "type": "bearer", "payload": { "token": "t-1" } });
        admin.post("/api/credentials", &credential).await.is("201");
        upstream.script([issues(2)]);
        let told = member.run("github.issues", json!({ "owner": "o", "repo": "r" })).await;
        let one = json!({ "number": 1, "title": "Issue 1", "author": "ada", "link": "https://github.com/o/r/issues/1" });
        assert_eq!(told.is("200 success").json()["output"][0], one);
        assert_eq!(told.json()["output"].as_array().unwrap().len(), 2);
        let asked = upstream.requests().remove(1);
        assert_eq!(asked.path, "/repos/o/r/issues?state=open&per_page=10");
        assert_eq!(asked.header("authorization"), Some("Bearer t-1"));
        assert_eq!(asked.header("user-agent"), Some("toolwright"));

        let mut worker = Worker::listens(&admin, "warehouse.stock", None).await;
        let waiting = calling(&member, "warehouse.stock", json!({ "input": { "article": "A-7" } }));
        let asked = worker.told().await;
        assert_eq!(asked.data["input"], json!({ "article": "A-7" }));
        let stock = json!({ "pieces": 12, "place": "hall 3" });
        answer(&admin, &asked.run, &asked.call, &stock).await.is("200 success");
        assert_eq!(waiting.await.unwrap().is("200 success").json()["output"], stock);

        let (run, pending) = ids(agent.run("confirm.action", json!({ "question": "Send it?" })).await.is("202 pending"));
        answer(&member, &run, &pending, &json!({ "confirmed": true })).await.is("200 success");

        let clock = member.run("office.clock", json!({ "timezone": "Asia/Singapore" })).await;
        assert!(clock.is("200 success").text.contains("+08:00"), "{}", clock.text);
        member.run("office.clock", json!({ "timezone": "Mars/Olympus" })).await.is("422 INVALID_PARAMS");

        let shaped = member.run("data.reshape", json!({ "data": { "items": [1, 2, 3] }, "expression": ".items | length" })).await;
        assert_eq!(shaped.is("200 success").json()["output"]["result"], 3);

        let lines = json!([{ "text": "Paper", "quantity": 3, "price": 4.1 }, { "quantity": 1, "price": 0.2 }]);
        let invoice = json!({ "number": "R-1", "due": "2026-12-01", "total": 12.6, "lines": lines });
        let checked = member.run("invoice.check", invoice).await;
        let output = json!({ "sum": 12.5, "matches": false, "due_text": "Tuesday, 1 December 2026" });
        assert_eq!(checked.is("200 success").json()["output"], output);
        assert_eq!(checked.json()["logs"], json!(["the lines add up to 12.5 and the invoice says 12.6"]));

        upstream.script([issues(2)]);
        let few = member.run("github.triage", json!({ "owner": "o", "repo": "r" })).await;
        assert_eq!(few.is("200 success").json()["output"], json!({ "open": 2, "plan": false }));
        upstream.script([issues(6)]);
        let many = call(&member, "github.triage", &json!({ "input": { "owner": "o", "repo": "r" }, "wait_ms": 300 })).await;
        let run = many.text_at("/run_id");
        eventually("somebody is asked", super::PATIENCE, async || member.get("/api/pending-calls").await.json()["total"] == 1).await;
        let asked = member.get("/api/pending-calls").await.json()["items"][0].clone();
        assert_eq!(asked["input"]["question"], "r has 6 open issues. Plan a clean-up?");
        let (inner, pending) = (asked["run_id"].as_str().unwrap(), asked["id"].as_str().unwrap());
        answer(&member, inner, pending, &json!({ "confirmed": true, "note": "next week" })).await.is("200 success");
        assert_eq!(once(&member, &run, "success").await["output"], json!({ "open": 6, "plan": true }));
    }
}
