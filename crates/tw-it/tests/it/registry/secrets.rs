//! Secrets in a definition: never shown, and kept when they come back hidden.

use reqwest::Method;
use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use super::{at, call, echo, history, needing, number, publish, put, read, with};
use crate::{
    canary::{everything_stored, holds},
    world::World,
};

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";

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

    async fn hidden_secret_is_not_kept_for_another_server_kind_or_tool(db: TestDb) {
        let (upstream, evil) = (Upstream::start().await, Upstream::start().await);
        let world = World::on(db).await;
        let allow = format!("{},{}", upstream.host_and_port(), evil.host_and_port());
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allow)]);
        let builder = world.client(&server, "acme", Role::Builder).await;
        let definition = |url: &str, key: &str| {
            json!({ "url": url, "method": "GET", "headers": { "X-Key": key }, "query": { "api_key": key } })
        };
        let http = json!({ "implementation_type": "http", "permission_level": "read",
            "implementation": definition(&upstream.url("/a"), "LITERAL-7") });
        builder.post("/api/tools", &with(&echo("keeping"), &http)).await.is("201 draft");

        let elsewhere = json!({ "implementation": definition(&evil.url("/a"), "***") });
        let hidden = ["/implementation/headers/X-Key", "/implementation/query/api_key"];
        let refused = builder.patch(&at("keeping"), &elsewhere).await;
        assert!(hidden.contains(&super::faults(refused.is("422 INVALID_PARAMS"))[0].as_str()), "{}", refused.text);
        let whole = with(&read(&builder, "keeping").await, &elsewhere);
        put(&builder, "keeping", &whole).await.is("422 INVALID_PARAMS");
        let test = json!({ "input": {}, "definition": elsewhere });
        builder.post(&format!("{}/test", at("keeping")), &test).await.is("422 INVALID_PARAMS");
        let kind = json!({ "implementation_type": "internal", "implementation": { "headers": { "X-Key": "***" } } });
        builder.patch(&at("keeping"), &kind).await.is("422 INVALID_PARAMS");
        assert!(evil.requests().is_empty());

        // The same server may be asked for something else, and a secret that is sent again goes anywhere.
        let path = json!({ "implementation": definition(&upstream.url("/b"), "***") });
        upstream.script([ANSWER]);
        let test = json!({ "input": { "a": 1 }, "definition": path });
        builder.post(&format!("{}/test", at("keeping")), &test).await.is("200 success");
        assert_eq!(upstream.requests()[0].header("x-key"), Some("LITERAL-7"));
        let again = json!({ "implementation": definition(&evil.url("/a"), "NEW-8") });
        builder.patch(&at("keeping"), &again).await.is("200 draft");
    }

    async fn secret_in_the_steps_of_a_chain_reaches_the_service_and_nobody_else(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &upstream.host_and_port())]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let step = |id: &str, headers: serde_json::Value, body: serde_json::Value| {
            let input = json!({ "url": upstream.url("/x"), "method": "POST", "headers": headers, "body": body });
            json!({ "id": id, "tool": "http_request", "input": input })
        };
        let headers = |one: &str, two: &str| json!({ "Authorization": one, "X-Mixed": two });
        let chain = |secrets: [&str; 4], pin: serde_json::Value| {
            json!({ "kind": "composition", "steps": [
                step("call", headers(secrets[0], secrets[1]), json!({ "api_key": secrets[2], "deep": [{ "password": pin }] })),
                { "id": "bad", "tool": "test.fail", "input": { "message": "no" }, "on_error": "fallback",
                  "fallback": { "token": secrets[3] } },
                step("again", json!({ "X-Ref": "{{ input.who }}" }), json!({ "note": "it is {{ steps.bad.output.token }}" })),
            ], "output": { "password": secrets[2], "status": "{{ steps.call.output.status }}", "t": "{{ steps.bad.output.token }}" } })
        };
        let secrets = ["Bearer canary-one-1", "canary-two-2 for {{ input.who }}", "canary-three-3", "canary-four-4"];
        let spec = chain(secrets, json!(424_242_777));
        let body = json!({
            "slug": "chained", "name": "Chained", "description": "Calls a service.", "permission_level": "read",
            "execution_spec": spec, "publish": true,
            "input_schema": { "type": "object", "properties": { "who": { "type": "string" } } },
        });
        let mut seen = admin.post("/api/tools", &body).await.is("201 published").text.clone();
        let hidden = chain(["***"; 4], json!("***"));
        assert_eq!(read(&admin, "chained").await["execution_spec"], hidden);

        // Saved as it was read it stays; with one more step the others keep theirs.
        let first = history(&admin, "chained").await[0]["content_hash"].clone();
        seen += &put(&admin, "chained", &read(&admin, "chained").await).await.is("200 published").text;
        assert_eq!(history(&admin, "chained").await[0]["content_hash"], first);
        let mut longer = hidden.clone();
        longer["steps"].as_array_mut().unwrap().insert(0, step("new", json!({ "X-New": "***" }), json!(null)));
        let change = json!({ "execution_spec": longer });
        let refused = admin.patch(&at("chained"), &change).await;
        assert_eq!(super::faults(refused.is("422 INVALID_PARAMS")), ["/execution_spec/steps/0/input/headers/X-New"]);

        // Whatever is written about the calls, the service gets what the author wrote.
        let sent = |from: usize| {
            let asked = upstream.requests().split_off(from);
            let said: serde_json::Value = serde_json::from_slice(&asked[0].body).unwrap();
            assert_eq!(asked[0].header("authorization"), Some("Bearer canary-one-1"));
            assert_eq!(asked[0].header("x-mixed"), Some("canary-two-2 for bob"));
            assert_eq!(said, json!({ "api_key": "canary-three-3", "deep": [{ "password": 424_242_777 }] }));
            let then: serde_json::Value = serde_json::from_slice(&asked[1].body).unwrap();
            assert_eq!(then, json!({ "note": "it is canary-four-4" }));
        };
        upstream.script([ANSWER, ANSWER]);
        let run = call(&admin, "chained", &json!({ "input": { "who": "bob" } })).await;
        let output = run.is("200 success").json()["output"].clone();
        assert_eq!(output, json!({ "password": "***", "status": 200, "t": "***" }));
        sent(0);

        // An approver sees what is asked, but for the secrets, and cannot send them elsewhere.
        let mut waits = call(&agent, "chained", &json!({ "input": { "who": "bob" } })).await;
        upstream.script([ANSWER, ANSWER]);
        for _ in 0..2 {
            let id = waits.is("202 needs_approval").text_at("/approval_id");
            let approval = admin.get(&format!("/api/approvals/{id}")).await;
            let mut input = approval.json()["input"].clone();
            seen += &approval.text;
            input["url"] = json!("https://elsewhere.example/");
            let elsewhere = admin.post(&format!("/api/approvals/{id}/approve"), &json!({ "input": input })).await;
            seen += &elsewhere.is("409 CONFLICT").text;
            let same = json!({ "input": approval.json()["input"] });
            seen += &admin.post(&format!("/api/approvals/{id}/approve"), &same).await.is("200 success").text;
            let path = format!("/api/runs/{}", waits.text_at("/run_id"));
            crate::world::eventually("the chain goes on", std::time::Duration::from_secs(30), async || {
                let next = admin.get(&path).await.json();
                next["status"] == "success" || next["approval_id"] != json!(id) && next["approval_id"].is_string()
            })
            .await;
            let next = admin.get(&path).await;
            seen += &next.text;
            waits = crate::world::Answer { status: waits.status, ..next };
        }
        sent(2);

        for path in [
            "/api/tools?limit=200".to_owned(),
            "/api/tools/chained/versions/1".to_owned(),
            "/api/tools/chained/versions/compare?from=1.0.0".to_owned(),
            "/api/audit?limit=200".to_owned(),
            "/api/runs?limit=200".to_owned(),
            "/api/approvals?status=all".to_owned(),
            format!("/api/sessions/{}/events", run.text_at("/session_id")),
            format!("/api/sessions/{}/events", waits.text_at("/session_id")),
        ] {
            let answer = admin.get(&path).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text);
            seen += &answer.text;
        }
        seen += &admin.post("/api/tools/chained/clone", &json!({ "slug": "cloned" })).await.is("201 draft").text;
        upstream.script([ANSWER, ANSWER]);
        let test = admin.post("/api/tools/cloned/test", &json!({ "input": { "who": "bob" } })).await;
        seen += &test.is("200 success").text;
        sent(4);
        seen += &server.log();
        let stored = everything_stored(&world.db).await;
        assert!(holds(&stored, "http_request"), "the search finds what is there");
        for secret in ["canary", "424242777"] {
            assert!(!holds(&stored, secret), "{secret} is stored in clear");
            assert!(!seen.contains(secret), "{secret} was shown: {seen}");
        }
    }
}
