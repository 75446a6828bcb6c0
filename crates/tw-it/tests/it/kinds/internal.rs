//! Tools that need no running, and kinds that are refused when they are saved.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use super::{approve, make, once, server_to, tool};
use crate::{
    canary::{everything_stored, holds},
    world::World,
};

fn of(kind: &str, implementation: &Value) -> Value {
    tool("bad", &json!({ "implementation_type": kind, "implementation": implementation }))
}

on_both! {
    async fn echo_gives_back_exactly_its_input(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &tool("chart", &json!({ "implementation_type": "internal" }))).await;
        make(&builder, &tool("empty", &json!({ "implementation_type": "internal", "implementation": {} }))).await;
        for input in [json!({}), json!({ "a": [1, null, "{{ input.a }}"], "n": u64::MAX })] {
            for slug in ["chart", "empty"] {
                let told = builder.run(slug, input.clone()).await;
                assert_eq!(told.is("200 success").json()["output"], json!({ "success": true, "args": input }));
                assert_eq!(builder.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.completed"]);
            }
        }
    }

    async fn secret_of_a_wrapper_is_nowhere_in_clear_while_the_wrapped_call_waits(db: TestDb) {
        let world = World::on(db).await;
        let upstream = Upstream::start().await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let settings =
            json!({ "builtin_key": "web_search", "api_key": "canary-of-a-wrapper", "endpoint": upstream.url("/search") });
        make(&admin, &tool("search", &json!({ "implementation_type": "internal", "implementation": settings }))).await;
        admin.patch("/api/tools/web_search", &json!({ "permission_policy": "always_ask" })).await;
        let parked = agent.run("search", json!({ "query": "rye bread" })).await;
        let (run, id) = (parked.is("202 needs_approval").text_at("/run_id"), parked.text_at("/approval_id"));

        assert!(!holds(&everything_stored(&world.db).await, "canary-of-a-wrapper"));

        // It is opened when the call runs, by whichever server that is.
        drop(server);
        let server = server_to(&world, &[&upstream]);
        let found = r#"{ "organic": [{ "title": "Rye", "link": "https://rye.example/", "snippet": "Bread.", "position": 1 }] }"#;
        upstream.script([format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{found}", found.len())]);
        approve(&approver.at(&server), &id).await.is("200 success");
        once(&agent.at(&server), &run, "success").await;
        assert!(upstream.requests()[0].head.contains("canary-of-a-wrapper"), "{:?}", upstream.requests());
        assert!(!holds(&everything_stored(&world.db).await, "canary-of-a-wrapper"));
    }

    async fn kind_with_a_fault_is_refused_at_its_place_and_nothing_is_saved(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        for (body, path) in [
            (of("internal", &json!({ "builtin_key": "no-such" })), "/implementation/builtin_key"),
            (of("internal", &json!({ "builtin_key": 7 })), "/implementation/builtin_key"),
            // A tool of the program that is no built-in is not had under another name.
            (of("internal", &json!({ "builtin_key": "test.write" })), "/implementation/builtin_key"),
            (of("internal", &json!({ "builtin_key": "manageTools" })), "/implementation/builtin_key"),
            // What would never be used is no echo that looks like a success.
            (of("internal", &json!({ "builtinKey": "json_transform" })), "/implementation/builtinKey"),
            (of("internal", &json!({ "builtin_key": "http_request", "headers": {} })), "/implementation/headers"),
            (
                of("internal", &json!({ "builtin_key": "web_search", "credentials_ref": "secret:crm" })),
                "/implementation/credentials_ref",
            ),
            (of("function", &json!({})), "/implementation/function_name"),
            (of("function", &json!({ "function_name": "no_such" })), "/implementation/function_name"),
            (of("function", &json!({ "function_name": "test.write" })), "/implementation/function_name"),
            (of("function", &json!({ "function_name": ["datetime_utils"] })), "/implementation/function_name"),
            (of("space", &json!({ "pending_ttl_ms": "long" })), "/implementation/pending_ttl_ms"),
            (of("http", &json!({})), "/implementation/url"),
            (of("http", &json!({ "url": "https://a.example/?api_key=abc" })), "/implementation/url"),
            (of("http", &json!({ "url": "https://a.example/", "method": "STEAL" })), "/implementation/method"),
            (of("http", &json!({ "url": "https://a.example/", "headers": { "Host": "b.example" } })), "/implementation/headers/Host"),
            (of("http", &json!({ "url": "https://a.example/", "headers": { "X": "a\r\nY: b" } })), "/implementation/headers/X"),
            (of("http", &json!({ "url": "https://a.example/", "response": ".[" })), "/implementation/response"),
            (of("http", &json!({ "url": "https://a.example/", "retry": { "max": 1000 } })), "/implementation/retry/max"),
            (of("http", &json!({ "url": "https://a.example/", "body": { "a": "{{ input.a" } })), "/implementation/body/a"),
            (of("code", &json!({})), "/implementation_type"),
            (of("no-such-kind", &json!({})), "/implementation_type"),
        ] {
            let refused = builder.post("/api/tools", &body).await;
            assert_eq!(refused.verdict(), "422 INVALID_PARAMS", "{body}: {}", refused.text);
            assert_eq!(refused.text_at("/errors/0/path"), path, "{}", refused.text);
        }
        builder.get("/api/tools/bad").await.is("404 TOOL_NOT_FOUND");
    }
}
