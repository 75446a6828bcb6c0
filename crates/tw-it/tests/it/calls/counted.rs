//! Every call counts once for the rate limits, also one that is refused before the engine sees it.

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use crate::world::{Answer, Client, Server, World};

const JSON: &str = "application/json";

/// A request that no call can be made of: path, content type, body, and what is answered.
type Refused = (&'static str, &'static str, &'static str, &'static str);

const BY_PEOPLE: &[Refused] = &[
    ("test.echo/run", JSON, r#"{"input":{"value":1},"zz":1}"#, "422 INVALID_PARAMS"),
    ("test.echo/run", JSON, r#"{"input":{"value":1},"wait_ms":999999}"#, "422 INVALID_PARAMS"),
    ("test.echo/run", JSON, r#"{"input":"#, "400 INVALID_JSON"),
    ("test.echo/run", JSON, "[]", "422 INVALID_PARAMS"),
    ("test.echo/run", "text/plain", "{}", "415 UNSUPPORTED_MEDIA_TYPE"),
    ("no.such.tool/run", JSON, r#"{"zz":1}"#, "422 INVALID_PARAMS"),
    ("test.echo/test", JSON, r#"{"input":{"value":1},"zz":1}"#, "422 INVALID_PARAMS"),
    ("test.echo/test", "text/plain", "{}", "415 UNSUPPORTED_MEDIA_TYPE"),
    ("test.echo/tests/run", JSON, r#"{"agianst":"draft"}"#, "422 INVALID_PARAMS"),
];

/// What an agent never may: it is refused before the body is read.
const BY_AGENTS: &[Refused] = &[
    ("test.echo/test", JSON, r#"{"input":"#, "403 NOT_PERMITTED"),
    ("test.echo/tests/run", JSON, r#"{"zz":1}"#, "403 NOT_PERMITTED"),
];

async fn send(who: &Client, &(path, content_type, body, _): &Refused) -> Answer {
    let request = who.request(Method::POST, &format!("/api/tools/{path}"));
    who.send(request.header("content-type", content_type).body(body)).await
}

async fn somebody(world: &World, server: &Server, acts_as: ActsAs) -> Client {
    Client::new(&server.url, Some(world.key("acme", Role::Builder, acts_as).await))
}

/// How many refusals of agents the audit log has.
async fn refusals(admin: &Client) -> usize {
    let lines = admin.get("/api/audit?action=call.refused").await.json();
    lines["items"].as_array().unwrap().len()
}

async fn run_under(who: &Client, key: &str, value: Value) -> Answer {
    let request = who.request(Method::POST, "/api/tools/test.echo/run").header("idempotency-key", key);
    who.send(request.json(&json!({ "input": { "value": value } }))).await
}

on_both! {
    async fn call_that_is_refused_at_the_door_counts(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_LIMITS__PER_KEY", "2")]);
        let people = BY_PEOPLE.iter().map(|refused| (refused, ActsAs::User));
        for (refused, acts_as) in people.chain(BY_AGENTS.iter().map(|refused| (refused, ActsAs::Agent))) {
            let who = somebody(&world, &server, acts_as).await;
            send(&who, refused).await.is(refused.3);
            send(&who, refused).await.is(refused.3);
            send(&who, refused).await.is("429 RATE_LIMITED");
            who.run("test.echo", json!({ "value": 1 })).await.is("429 RATE_LIMITED");
        }
        // What is over the limit leaves no line: a flood of refusals stays cheap.
        let admin = world.client(&server, "acme", Role::Admin).await;
        assert_eq!(refusals(&admin).await, 2 * BY_AGENTS.len());
    }

    async fn key_that_is_over_its_limit_leaves_the_tenants_to_others(db: TestDb) {
        let world = World::on(db).await;
        let limits = [("TOOLWRIGHT_LIMITS__PER_KEY", "2"), ("TOOLWRIGHT_LIMITS__PER_TENANT", "4")];
        let server = world.server_with(&[], &limits);
        let (busy, other) =
            (somebody(&world, &server, ActsAs::User).await, somebody(&world, &server, ActsAs::User).await);
        for expected in ["200 success", "200 success"].into_iter().chain(["429 RATE_LIMITED"; 6]) {
            busy.run("test.echo", json!({ "value": 1 })).await.is(expected);
        }
        for _ in 0..2 {
            other.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }
        let third = somebody(&world, &server, ActsAs::User).await;
        third.run("test.echo", json!({ "value": 1 })).await.is("429 RATE_LIMITED");
    }

    async fn key_with_another_body_counts_and_an_answer_repeated_by_it_does_not(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_LIMITS__PER_KEY", "3")]);
        let who = somebody(&world, &server, ActsAs::User).await;
        let first = run_under(&who, "k", json!(1)).await;
        first.is("200 success");
        for _ in 0..4 {
            assert_eq!(run_under(&who, "k", json!(1)).await.text, first.text);
        }
        run_under(&who, "k", json!(2)).await.is("409 IDEMPOTENCY_MISMATCH");
        run_under(&who, "k", json!(3)).await.is("409 IDEMPOTENCY_MISMATCH");
        run_under(&who, "k", json!(4)).await.is("429 RATE_LIMITED");
        assert_eq!(run_under(&who, "k", json!(1)).await.text, first.text);
    }
}
