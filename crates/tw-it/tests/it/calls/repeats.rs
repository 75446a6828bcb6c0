//! The same request again, under an idempotency key.

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use super::{PATIENCE, place_of, runs_of};
use crate::world::{Answer, Client, World, eventually, lines_of};

/// A request under a key.
async fn under(client: &Client, key: &str, method: Method, path: &str, body: &Value) -> Answer {
    client.send(client.request(method, path).header("idempotency-key", key).json(body)).await
}

async fn run_under(client: &Client, key: &str, tool: &str, input: Value) -> Answer {
    under(client, key, Method::POST, &format!("/api/tools/{tool}/run"), &json!({ "input": input })).await
}

on_both! {
    async fn same_call_again_gets_the_same_bytes_and_no_second_run(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let ledger = world.ledger("once");
        let line = json!({ "file": ledger, "line": "one" });
        for (who, tool, input, verdict) in [
            (
                &member,
                "test.echo",
                json!({ "value": [1.0, 0.1, "\u{e9}", 18_446_744_073_709_551_615_u64] }),
                "200 success",
            ),
            (&member, "test.write", line.clone(), "200 success"),
            (&member, "test.append", json!({ "message": "a b" }), "200 success"),
            (&member, "test.fail", json!({ "message": "no" }), "200 error"),
            (&member, "test.panic", json!({ "message": "no" }), "200 error"),
            (&member, "test.impatient", json!({ "ms": 60_000 }), "200 timed_out"),
            (&agent, "test.write", line.clone(), "202 needs_approval"),
        ] {
            let before = runs_of(who).await;
            let first = run_under(who, "the-key", tool, input.clone()).await;
            first.is(verdict);
            for _ in 0..3 {
                let again = run_under(who, "the-key", tool, input.clone()).await;
                assert_eq!((again.status, &again.text), (first.status, &first.text), "{tool}");
                assert_eq!(again.headers.get("location"), first.headers.get("location"), "{tool}");
            }
            assert_eq!(runs_of(who).await, before + 1, "{tool}");
        }
        assert_eq!(lines_of(&ledger), ["one"]);
        // A restart forgets nothing.
        let first = run_under(&member, "over-a-restart", "test.write", line.clone()).await;
        drop(server);
        let server = world.server();
        assert_eq!(
            run_under(&member.at(&server), "over-a-restart", "test.write", line).await.text,
            first.text
        );
        assert_eq!(lines_of(&ledger), ["one", "one"]);
    }

    async fn key_stands_for_one_body_one_tool_and_one_principal(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let first = run_under(&member, "k", "test.echo", json!({ "value": 1 })).await;
        first.is("200 success");
        run_under(&member, "k", "test.echo", json!({ "value": 2 })).await.is("409 IDEMPOTENCY_MISMATCH");
        let spaced = member.request(Method::POST, "/api/tools/test.echo/run").header("idempotency-key", "k");
        let spaced = spaced.header("content-type", "application/json").body(r#"{ "input": {"value":1} }"#);
        member.send(spaced).await.is("409 IDEMPOTENCY_MISMATCH");
        assert_eq!(runs_of(&member).await, 1);

        // The same words elsewhere or from somebody else are other words.
        run_under(&member, "K", "test.echo", json!({ "value": 2 })).await.is("200 success");
        run_under(&member, "k", "test.slow", json!({ "ms": 0 })).await.is("200 success");
        assert_eq!(under(&member, "k", Method::POST, "/api/sessions", &json!({})).await.status, 201);
        for other in [
            world.client(&server, "acme", Role::Builder).await,
            world.client(&server, "globex", Role::Member).await,
            world.agent(&server, "acme").await,
        ] {
            let answer = run_under(&other, "k", "test.echo", json!({ "value": 3 })).await;
            answer.is("200 success");
            assert_eq!(answer.json()["output"]["value"], 3);
        }
        // A new key of the same person is the same person.
        let rotated = Client::new(&server.url, Some(world.key("acme", Role::Member, ActsAs::User).await));
        assert_eq!(run_under(&rotated, "k", "test.echo", json!({ "value": 1 })).await.text, first.text);

        // What was refused has not used its key up.
        run_under(&member, "fresh", "test.echo", json!({})).await.is("422 MISSING_PARAM");
        run_under(&member, "fresh", "test.echo", json!({ "value": 1 })).await.is("200 success");
    }

    async fn call_under_way_is_not_made_twice(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let waiting = tokio::spawn({
            let member = member.clone();
            async move { run_under(&member, "k", "test.slow", json!({ "ms": 100_000 })).await }
        });
        let running = async || {
            member.get("/api/runs?status=running").await.json()["items"][0]["run_id"]
                .as_str()
                .map(str::to_owned)
        };
        eventually("the call runs", PATIENCE, async || running().await.is_some()).await;
        let run = running().await.unwrap();
        let again = run_under(&member, "k", "test.slow", json!({ "ms": 100_000 })).await;
        again.is("409 IDEMPOTENCY_IN_FLIGHT");
        let seconds: u64 = again.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!(1 <= seconds);
        run_under(&member, "k", "test.slow", json!({ "ms": 1 })).await.is("409 IDEMPOTENCY_MISMATCH");

        member.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.is("200 cancelled");
        let first = waiting.await.unwrap();
        first.is("200 cancelled");
        let again = run_under(&member, "k", "test.slow", json!({ "ms": 100_000 })).await;
        assert_eq!(again.text, first.text);
        assert_eq!(runs_of(&member).await, 1);

        // Twenty at once: one is made, and nobody is told anything else.
        let ledger = world.ledger("herd");
        let input = json!({ "file": ledger, "line": "x", "before_ms": 50 });
        let herd = (0..20).map(|_| run_under(&member, "herd", "test.write", input.clone()));
        let mut told = std::collections::BTreeSet::new();
        for answer in futures::future::join_all(herd).await {
            match answer.status.as_u16() {
                200 => {
                    told.insert(answer.text);
                }
                _ => {
                    answer.is("409 IDEMPOTENCY_IN_FLIGHT");
                }
            }
        }
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(lines_of(&ledger), ["x"]);
    }

    async fn other_writes_are_made_once_too(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let park = async |line: &str| {
            agent.run("test.write", json!({ "file": world.ledger("w"), "line": line })).await
        };
        let (yes, no, cancelled) = (park("yes").await, park("no").await, park("cancel").await);
        let member = admin.get("/api/users").await.json();
        let member =
            member["items"].as_array().unwrap().iter().find(|user| user["role"] == "member").unwrap()["id"]
                .clone();
        let key = world.key("acme", Role::Viewer, ActsAs::User).await;
        let keys = admin.get("/api/api-keys").await.json();
        let key = keys["items"]
            .as_array()
            .unwrap()
            .iter()
            .find(|item| key.contains(item["prefix"].as_str().unwrap()))
            .unwrap()["id"]
            .clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (member, key) = (text(&member), text(&key));
        let audited =
            async || admin.get("/api/audit?limit=200").await.json()["items"].as_array().unwrap().len();
        for (method, path, body, status) in [
            (Method::POST, "/api/sessions".to_owned(), json!({ "title": "once" }), 201),
            (
                Method::POST,
                "/api/users".to_owned(),
                json!({ "email": "new@acme.example", "display_name": "New", "role": "viewer" }),
                201,
            ),
            (
                Method::POST,
                format!("/api/approvals/{}/approve", yes.text_at("/approval_id")),
                json!({ "note": "go" }),
                200,
            ),
            (
                Method::POST,
                format!("/api/approvals/{}/deny", no.text_at("/approval_id")),
                json!({ "note": "stop" }),
                200,
            ),
            (Method::POST, format!("/api/runs/{}/cancel", cancelled.text_at("/run_id")), json!({}), 200),
            (Method::PATCH, "/api/tenants/current".to_owned(), json!({ "name": "Once" }), 200),
            (Method::PATCH, "/api/tools/test.echo".to_owned(), json!({ "name": "Once" }), 200),
            (Method::PATCH, format!("/api/users/{member}"), json!({ "role": "builder" }), 200),
            (Method::DELETE, format!("/api/users/{member}"), json!({}), 204),
            (Method::DELETE, format!("/api/api-keys/{key}"), json!({}), 200),
        ] {
            let first = under(&admin, "once", method.clone(), &path, &body).await;
            assert_eq!(first.status, status, "{method} {path}: {}", first.text);
            let after = audited().await;
            let again = under(&admin, "once", method.clone(), &path, &body).await;
            assert_eq!((again.status, &again.text), (first.status, &first.text), "{method} {path}");
            for header in ["content-type", "etag", "location"] {
                assert_eq!(
                    again.headers.get(header),
                    first.headers.get(header),
                    "{header} of {method} {path}"
                );
            }
            assert_eq!(audited().await, after, "{method} {path} was done again");
            if method != Method::DELETE {
                let mut other = body.clone();
                other["x_other"] = json!(true);
                let other = under(&admin, "once", method.clone(), &path, &other).await;
                other.is("409 IDEMPOTENCY_MISMATCH");
            }
        }
        assert_eq!(lines_of(&world.ledger("w")), ["yes"]);

        // A secret is shown once, also to whoever asks again.
        let body = json!({ "name": "new", "role": "viewer" });
        let first = under(&admin, "secret", Method::POST, "/api/api-keys", &body).await;
        let again = under(&admin, "secret", Method::POST, "/api/api-keys", &body).await;
        assert_eq!((again.status, again.text_at("/id")), (first.status, first.text_at("/id")));
        assert_eq!(again.text_at("/key"), "***");
        assert_ne!(first.text_at("/key"), "***");
        let own = admin.get("/api/me").await.text_at("/principal/user_id");
        let link = format!("/api/users/{own}/link");
        let first = under(&admin, "link", Method::POST, &link, &json!({})).await;
        let again = under(&admin, "link", Method::POST, &link, &json!({})).await;
        assert!(again.text_at("/url").ends_with("token=***") && !first.text.contains("***"));

        // An approval that is still running answers with a place, again too.
        let slow = agent
            .run("test.write", json!({ "file": world.ledger("w"), "line": "slow", "before_ms": 2000 }))
            .await;
        let path = format!("/api/approvals/{}/approve", slow.text_at("/approval_id"));
        let first = under(&admin, "slow", Method::POST, &path, &json!({ "wait_ms": 0 })).await;
        assert_eq!(first.status, 202, "{}", first.text);
        place_of(&first);
        let again = under(&admin, "slow", Method::POST, &path, &json!({ "wait_ms": 0 })).await;
        assert_eq!((again.status, &again.text), (first.status, &first.text));
        assert_eq!(place_of(&again), place_of(&first));
    }
}
