//! Secrets in the definitions that `manageTools` is given: what the routes for tools seal and hide is hidden in every
//! record of such a call, however it is made, and is saved all the same.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use crate::{
    canary::{everything_stored, holds},
    world::{Answer, Client, Server, World, eventually},
};

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";

/// What makes a tool that sends a secret to a service. Its schema has a property that is named like a secret.
fn making(slug: &str, url: &str, key: &str) -> Value {
    json!({
        "action": "create", "slug": slug, "name": slug, "description": "Asks a service.", "permission_level": "read",
        "implementation_type": "http",
        "implementation": { "url": url, "method": "POST", "headers": headers(key), "body": { "password": key } },
        "input_schema": { "type": "object", "properties": { "token": { "type": "string" } } },
    })
}

fn headers(key: &str) -> Value {
    json!({ "Authorization": format!("Bearer {key}") })
}

/// A server whose tools may call the service.
fn server_to(world: &World, upstream: &Upstream) -> Server {
    world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &upstream.host_and_port())])
}

async fn approve(who: &Client, id: &str, body: &Value) -> Answer {
    who.post(&format!("/api/approvals/{id}/approve"), body).await
}

/// Calls the tool, and says which key the service got.
async fn sent_by(who: &Client, slug: &str, upstream: &Upstream) -> (String, Value) {
    upstream.script([ANSWER]);
    who.run(slug, json!({})).await.is("200 success");
    let asked = upstream.requests().pop().unwrap();
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    (asked.header("authorization").unwrap().to_owned(), body["password"].clone())
}

/// Everything that can be read about runs and approvals, and the server's log.
async fn everything_shown(admin: &Client, server: &Server) -> String {
    let mut seen = server.log();
    let mut paths = vec![
        "/api/audit?limit=200".to_owned(),
        "/api/runs?limit=200".to_owned(),
        "/api/approvals?status=all&limit=200".to_owned(),
        "/api/tools?limit=200".to_owned(),
    ];
    let items = |list: Answer| list.json()["items"].as_array().unwrap().clone();
    for run in items(admin.get("/api/runs?limit=200").await) {
        paths.push(format!("/api/runs/{}", run["run_id"].as_str().unwrap()));
        paths.push(format!("/api/sessions/{}/events?limit=200", run["session_id"].as_str().unwrap()));
    }
    for approval in items(admin.get("/api/approvals?status=all&limit=200").await) {
        paths.push(format!("/api/approvals/{}", approval["id"].as_str().unwrap()));
    }
    for path in paths {
        let answer = admin.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        seen += &answer.text;
    }
    seen
}

on_both! {
    async fn secret_of_a_managed_definition_is_in_no_record_however_it_is_given(db: TestDb) {
        let (world, upstream) = (World::on(db).await, Upstream::start().await);
        let server = server_to(&world, &upstream);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let url = upstream.url("/x");
        let chain = |tool: &str| {
            let steps = json!([{ "id": "make", "tool": tool, "input": "{{ input.made }}" }]);
            json!({ "kind": "composition", "steps": steps })
        };
        for (slug, spec) in [("chain", chain("manageTools")), ("chain-of-chains", json!({
            "kind": "composition", "steps": [
                { "id": "look", "tool": "test.echo", "input": { "value": "{{ input.made.implementation.headers.Authorization }}" } },
                { "id": "make", "tool": "chain", "input": "{{ input }}" },
            ],
        }))] {
            let body = json!({
                "slug": slug, "name": slug, "description": "Makes tools.", "permission_level": "read", "publish": true,
                "input_schema": { "type": "object" }, "execution_spec": spec,
            });
            admin.post("/api/tools", &body).await.is("201 published");
        }
        let wrapper = json!({
            "slug": "wrapped", "name": "Wrapped", "description": "Calls functions.", "permission_level": "read", "publish": true,
            "implementation_type": "internal", "implementation": { "builtin_key": "function_call" },
            "input_schema": { "type": "object" },
        });
        admin.post("/api/tools", &wrapper).await.is("201 published");

        let mut seen = String::new();
        let once = |slug: &'static str| {
            let request = admin.request(Method::POST, "/api/tools/manageTools/run").header("idempotency-key", "once");
            admin.send(request.json(&json!({ "input": making(slug, &url, "canary-1") })))
        };
        let first = once("one").await;
        assert_eq!(first.is("200 success").json()["output"]["tool"]["implementation"]["headers"], json!({ "Authorization": "***" }));
        seen += &first.text;
        seen += &once("one").await.is("200 success").text;
        let test = json!({ "input": making("two", &url, "canary-2") });
        seen += &admin.post("/api/tools/manageTools/test", &test).await.is("200 success").text;
        let call = json!({ "name": "manageTools", "arguments": making("three", &url, "canary-3") });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        let call = admin.request(Method::POST, "/mcp").header("mcp-protocol-version", "2025-11-25").json(&call);
        seen += &admin.send(call).await.is("200").text;
        let update = json!({ "action": "update", "slug": "three", "publish": true,
            "implementation": { "url": url, "method": "POST", "headers": headers("canary-4"), "body": { "password": "***" } } });
        seen += &admin.run("manageTools", update).await.is("200 success").text;
        for (slug, tool) in [("five", "chain"), ("six", "chain-of-chains")] {
            let made = admin.run(tool, json!({ "made": making(slug, &url, &format!("canary-{slug}")) })).await;
            seen += &made.is("200 success").text;
        }
        // Functions are no way to it, and the try leaves nothing behind.
        for tool in ["function_call", "wrapped"] {
            let call = json!({ "function_name": "manageTools", "arguments": making("no", &url, "canary-7") });
            seen += &admin.run(tool, call).await.is("200 error").text;
        }
        // Refusals say what is wrong, not what was there.
        for (path, value) in [
            ("slug", json!("not a slug")),
            ("implementation", json!("canary-8")),
            ("implementation", json!({ "url": url, "headers": headers("canary-8\r\nX: y") })),
            ("implementation", json!({ "url": url, "headers": headers("{{ 'canary-8'") })),
            ("implementation", json!({ "url": url, "headers": { "Authorization": ["canary-8"] } })),
            ("implementation", json!({ "url": format!("{url}?api_key=canary-8") })),
            ("implementation", json!({ "url": url, "headers": { "A": "canary-8", "B": "***" } })),
            ("execution_spec", json!({ "kind": "composition", "steps": [{ "id": "a", "input": { "token": "canary-8" } }] })),
        ] {
            let mut input = making("no", &url, "canary-8");
            input[path] = value;
            for who in [&admin, &agent] {
                seen += &who.run("manageTools", input.clone()).await.is("422 INVALID_PARAMS").text;
            }
        }

        for (slug, header, password) in
            [("one", "canary-1", "canary-1"), ("two", "canary-2", "canary-2"), ("three", "canary-4", "canary-3"),
             ("five", "canary-five", "canary-five"), ("six", "canary-six", "canary-six")]
        {
            assert_eq!(sent_by(&admin, slug, &upstream).await, (format!("Bearer {header}"), json!(password)));
        }
        seen += &everything_shown(&admin, &server).await;
        assert!(seen.contains(r#""token":{"type":"string"}"#), "the schema is no secret: {seen}");
        let stored = everything_stored(&world.db).await;
        assert!(holds(&stored, "Asks a service."), "the search finds what is there");
        assert!(!holds(&stored, "canary"), "a secret is stored in clear");
        assert!(!seen.contains("canary"), "a secret was shown: {seen}");
    }

    async fn parked_definition_keeps_its_secret_over_a_restart_and_an_edit(db: TestDb) {
        let (world, upstream) = (World::on(db).await, Upstream::start().await);
        let server = server_to(&world, &upstream);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let mut seen = String::new();
        let mut parked = Vec::new();
        for slug in ["kept", "moved", "changed", "cleared"] {
            let asked = agent.run("manageTools", making(slug, &upstream.url("/x"), &format!("canary-{slug}"))).await;
            parked.push(asked.is("202 needs_approval").text_at("/approval_id"));
        }
        assert!(!holds(&everything_stored(&world.db).await, "canary"), "a secret is stored in clear");

        // Whichever server it is that goes on.
        drop(server);
        let server = server_to(&world, &upstream);
        let (admin, agent) = (admin.at(&server), agent.at(&server));
        let shown = admin.get(&format!("/api/approvals/{}", parked[0])).await.json()["input"].clone();
        let mut hidden = making("kept", &upstream.url("/x"), "***");
        hidden["implementation"]["headers"] = json!({ "Authorization": "***" });
        assert_eq!(shown, hidden);
        seen += &approve(&admin, &parked[0], &json!({})).await.is("200 success").text;
        assert_eq!(sent_by(&admin, "kept", &upstream).await, ("Bearer canary-kept".to_owned(), json!("canary-kept")));

        let mut edited = hidden.clone();
        edited["slug"] = json!("moved");
        edited["name"] = json!("moved");
        edited["implementation"]["url"] = json!(upstream.url("/y"));
        let mut wrong = edited.clone();
        wrong["implementation"]["headers"]["X-New"] = json!("***");
        let refused = approve(&admin, &parked[1], &json!({ "input": wrong })).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/path"), "/implementation/headers/X-New");
        seen += &refused.text;
        seen += &approve(&admin, &parked[1], &json!({ "input": edited })).await.is("200 success").text;
        assert_eq!(sent_by(&admin, "moved", &upstream).await, ("Bearer canary-moved".to_owned(), json!("canary-moved")));
        assert!(upstream.requests().pop().unwrap().head.starts_with("POST /y "));

        // A secret can be replaced, which is a change that nobody sees more of than that.
        edited = hidden.clone();
        edited["slug"] = json!("changed");
        edited["name"] = json!("changed");
        edited["implementation"]["headers"] = headers("canary-of-the-approver");
        seen += &approve(&admin, &parked[2], &json!({ "input": edited })).await.is("200 success").text;
        assert_eq!(
            sent_by(&admin, "changed", &upstream).await,
            ("Bearer canary-of-the-approver".to_owned(), json!("canary-changed"))
        );
        let changes = admin.get(&format!("/api/approvals/{}", parked[2])).await.json()["changes"].clone();
        let part = &hidden["implementation"];
        assert_eq!(changes, json!([{ "path": "/implementation", "before": part, "after": part }]));

        edited["slug"] = json!("cleared");
        edited["name"] = json!("cleared");
        edited["implementation"] = json!({ "url": upstream.url("/x"), "method": "POST", "body": {} });
        seen += &approve(&admin, &parked[3], &json!({ "input": edited })).await.is("200 success").text;
        let cleared = admin.get("/api/tools/cleared").await.json();
        assert_eq!(cleared["implementation"].get("headers"), None);

        // An input without one may get one.
        let update = json!({ "action": "update", "slug": "cleared", "publish": true, "implementation": cleared["implementation"] });
        let asked = agent.run("manageTools", update.clone()).await;
        let id = asked.is("202 needs_approval").text_at("/approval_id");
        let mut edited = update;
        edited["implementation"]["headers"] = headers("canary-added");
        edited["implementation"]["body"] = json!({ "password": "canary-added" });
        seen += &approve(&admin, &id, &json!({ "input": edited })).await.is("200 success").text;
        assert_eq!(sent_by(&admin, "cleared", &upstream).await, ("Bearer canary-added".to_owned(), json!("canary-added")));

        seen += &everything_shown(&admin, &server).await;
        assert!(seen.contains("approval.approved"), "the audit was looked at");
        assert!(!seen.contains("canary"), "a secret was shown: {seen}");
        assert!(!holds(&everything_stored(&world.db).await, "canary"), "a secret is stored in clear");
    }

    async fn definition_that_an_agent_passes_through_a_chain_waits_without_its_secret(db: TestDb) {
        let (world, upstream) = (World::on(db).await, Upstream::start().await);
        let server = server_to(&world, &upstream);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let step = json!({ "id": "make", "tool": "manageTools", "input": "{{ input.made }}" });
        let chain = json!({
            "slug": "chain", "name": "Chain", "description": "Makes a tool.", "permission_level": "read", "publish": true,
            "permission_policy": "always_ask", "input_schema": { "type": "object" },
            "execution_spec": { "kind": "composition", "steps": [step] },
        });
        admin.post("/api/tools", &chain).await.is("201 published");
        let asked = agent.run("chain", json!({ "made": making("one", &upstream.url("/x"), "canary-one") })).await;
        let (run, id) = (asked.is("202 needs_approval").text_at("/run_id"), asked.text_at("/approval_id"));
        assert!(!holds(&everything_stored(&world.db).await, "canary"), "a secret is stored in clear");

        // The caller wrote it, so the approver of the chain may change the rest.
        let mut input = admin.get(&format!("/api/approvals/{id}")).await.json()["input"].clone();
        assert_eq!(input["made"]["implementation"]["headers"], json!({ "Authorization": "***" }));
        input["made"]["slug"] = json!("two");
        approve(&admin, &id, &json!({ "input": input })).await.is("202 needs_approval");
        let path = format!("/api/runs/{run}");
        let next = admin.get(&path).await.text_at("/approval_id");
        assert_ne!(next, id);

        drop(server);
        let server = server_to(&world, &upstream);
        let admin = admin.at(&server);
        // What the chain passes on is approved as it is.
        let mut input = admin.get(&format!("/api/approvals/{next}")).await.json()["input"].clone();
        assert_eq!(input["implementation"]["headers"], json!({ "Authorization": "***" }));
        input["slug"] = json!("three");
        approve(&admin, &next, &json!({ "input": input })).await.is("409 CONFLICT");
        approve(&admin, &next, &json!({})).await.is("200 success");
        eventually("the chain ends", Duration::from_secs(30), async || {
            admin.get(&path).await.json()["status"] == "success"
        })
        .await;
        assert_eq!(sent_by(&admin, "two", &upstream).await, ("Bearer canary-one".to_owned(), json!("canary-one")));
        let seen = everything_shown(&admin, &server).await;
        assert!(!seen.contains("canary"), "a secret was shown: {seen}");
        assert!(!holds(&everything_stored(&world.db).await, "canary"), "a secret is stored in clear");
    }
}
