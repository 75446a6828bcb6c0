//! Secrets in a definition: never shown, and kept when they come back hidden.

use reqwest::Method;
use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, call, echo, history, needing, number, publish, put, read, with};
use crate::world::World;

on_both! {
    async fn secret_is_in_no_answer_event_audit_or_log(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let mut seen = String::new();
        let implementation = json!({
            "url": "https://api.example.com/x",
            "headers": { "X-Plain": "canary-1", "Accept": "canary-2", "X-Ref": "secret:weather", "X-Odd": "{{ 'canary-3' }}" },
            "body": {
                "auth": { "api_key": "canary-4", "apiKey": "canary-5", "user": "bob", "clientSecret": "canary-6" },
                "Authorization": "canary-7", "nested": [{ "access_token": "canary-8" }, { "password": { "value": "canary-9" } }],
                "HEADERS": { "a": ["canary-10"] }, "db_password": 424_242_777, "max_tokens": 4096, "token_type": "Bearer",
            },
        });
        let kind = json!({ "implementation_type": "http", "implementation": implementation, "publish": true });
        let body = with(&echo("secretive"), &kind);
        for _ in 0..2 {
            let request = admin.request(Method::POST, "/api/tools").header("idempotency-key", "made-once");
            let made = admin.send(request.json(&body)).await;
            seen += &made.is("201 published").text;
        }
        let shown = read(&admin, "secretive").await;
        assert_eq!(
            shown["implementation"],
            json!({
                "url": "https://api.example.com/x",
                "headers": { "X-Plain": "***", "Accept": "***", "X-Ref": "secret:weather", "X-Odd": "***" },
                "body": {
                    "auth": { "api_key": "***", "apiKey": "***", "user": "bob", "clientSecret": "***" },
                    "Authorization": "***", "nested": [{ "access_token": "***" }, { "password": { "value": "***" } }],
                    "HEADERS": { "a": ["***"] }, "db_password": "***", "max_tokens": 4096, "token_type": "Bearer",
                },
            })
        );
        seen += &put(&admin, "secretive", &shown).await.is("200 published").text;
        seen += &admin.patch(&at("secretive"), &json!({ "input_schema": needing("b") })).await.text;
        // Refusals say what is wrong, not what was there.
        let mut broken = implementation.clone();
        broken["headers"]["X-New"] = json!("***");
        let odd = json!({ "implementation": broken, "name": 7, "execution_spec": { "kind": "x" }, "input_schema": { "type": "canary" } });
        let refused = admin.patch(&at("secretive"), &odd).await;
        seen += &refused.is("422 INVALID_PARAMS").text.replace("\"canary\"", "");
        seen += &put(&admin, "secretive", &json!({ "implementation": "canary-11" }))
            .await
            .is("422 INVALID_PARAMS")
            .text;
        seen += &number(&admin, "secretive", "2.0.0").await.text;
        seen += &publish(&admin, "secretive").await.text;
        seen +=
            &admin.post("/api/tools/secretive/versions/1/restore", &json!({})).await.is("200 published").text;
        seen += &admin
            .post("/api/tools/secretive/clone", &json!({ "slug": "secretive-too" }))
            .await
            .is("201 draft")
            .text;
        let run = call(&admin, "secretive", &json!({ "input": { "b": 1 } })).await;
        // There is no such credential, so nothing was sent anywhere.
        seen += &run.is("200 error").text;
        assert_eq!(run.text_at("/error_code"), "CREDENTIAL_MISSING");
        for path in [
            "/api/tools?limit=200".to_owned(),
            "/api/tools/secretive".to_owned(),
            "/api/tools/secretive-too".to_owned(),
            "/api/tools/secretive/versions".to_owned(),
            "/api/tools/secretive/versions/1".to_owned(),
            "/api/tools/secretive/versions/2".to_owned(),
            "/api/tools/secretive/versions/compare?from=1.0.0".to_owned(),
            "/api/tools/secretive/used-by".to_owned(),
            "/api/audit?limit=200".to_owned(),
            format!("/api/sessions/{}/events", run.text_at("/session_id")),
            format!("/api/runs/{}", run.text_at("/run_id")),
        ] {
            let answer = admin.get(&path).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text);
            seen += &answer.text;
        }
        seen += &server.log();
        for number in (1..=11).rev() {
            assert!(!seen.contains(&format!("canary-{number}")), "canary-{number} was shown");
        }
        assert!(!seen.contains("424242777"));
        assert!(seen.contains("tool.created_and_published"), "the audit was looked at");
    }

    async fn hidden_secret_that_comes_back_is_kept(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let url = "https://api.example.com/x";
        let secret = json!({ "headers": { "A": "one", "B": "two" }, "body": { "secrets": ["x", "y"] }, "url": url });
        let kind = json!({ "implementation_type": "http", "implementation": secret, "publish": true });
        let body = with(&echo("keeping"), &kind);
        author.post("/api/tools", &body).await.is("201 published");
        let hash = async || history(&author, "keeping").await[0]["content_hash"].clone();
        let first = hash().await;
        put(&author, "keeping", &read(&author, "keeping").await).await.is("200 published");
        let hidden = json!({ "headers": { "A": "***", "B": "***" }, "body": { "secrets": ["***", "***"] }, "url": url });
        author.patch(&at("keeping"), &json!({ "implementation": hidden })).await.is("200 published");
        assert_eq!(hash().await, first);
        assert_eq!(read(&author, "keeping").await["has_draft"], false);

        // One of them changed, and changed back.
        let mut one = hidden.clone();
        one["headers"]["B"] = json!("three");
        author.patch(&at("keeping"), &json!({ "implementation": one })).await.is("200 published");
        assert_ne!(hash().await, first);
        one["headers"]["B"] = json!("two");
        author.patch(&at("keeping"), &json!({ "implementation": one })).await.is("200 published");
        assert_eq!(hash().await, first);

        // Nothing is stored there, or nobody knows which one it was.
        for (place, value, at_path) in [
            ("headers", json!({ "A": "***", "New": "***" }), "/implementation/headers/New"),
            ("body", json!({ "secrets": ["***"] }), "/implementation/body/secrets/0"),
            ("query", json!({ "other": "***" }), "/implementation/query/other"),
        ] {
            let mut sent = hidden.clone();
            sent[place] = value;
            let refused = author.patch(&at("keeping"), &json!({ "implementation": sent })).await;
            assert_eq!(super::faults(refused.is("422 INVALID_PARAMS")), [at_path]);
        }
        let fresh = with(&echo("fresh"), &json!({ "implementation": { "headers": { "A": "***" } } }));
        author.post("/api/tools", &fresh).await.is("422 INVALID_PARAMS");
        assert_eq!(hash().await, first);
    }
}
