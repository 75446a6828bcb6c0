//! Tools that need no running, and kinds that are refused when they are saved.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{make, tool};
use crate::world::World;

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
