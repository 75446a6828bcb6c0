//! Webhooks: what happens is told once, signed, and again until it is taken.

use std::{collections::BTreeSet, time::Duration};

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{HookMessage, Kind, Receiver, TestDb, on_both};

use crate::{
    canary::{everything_stored, holds},
    credentials::execute,
    world::{Client, Server, World, eventually},
};

const PATH: &str = "/api/webhooks";
/// How long a test waits for a message.
const SOON: Duration = Duration::from_secs(20);
const NOT_THERE: &str = "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11";

struct Scene {
    world: World,
    server: Server,
    admin: Client,
    receiver: Receiver,
}

impl Scene {
    async fn on(db: TestDb) -> Self {
        let world = World::on(db).await;
        let receiver = Receiver::start().await;
        let server = reaching(&world, &[&receiver]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        Self { world, server, admin, receiver }
    }

    /// A webhook of `acme` that is told this: its id and its secret.
    async fn hook(&self, events: &[&str]) -> (String, String) {
        hook(&self.admin, &self.receiver, events).await
    }

    async fn deliveries(&self, hook: &str) -> Vec<Value> {
        deliveries(&self.admin, hook).await
    }

    /// Waits until a webhook has so many deliveries, all tried this often and none under way.
    async fn tried(&self, hook: &str, count: usize, attempts: i64) -> Vec<Value> {
        let is_tried = async || {
            let found = self.deliveries(hook).await;
            let rests = |one: &Value| {
                one["attempts"] == attempts
                    && (one["status"] != "pending" || one["next_attempt_at"].is_string())
            };
            found.len() == count && found.iter().all(rests)
        };
        eventually("the tries", SOON, is_tried).await;
        self.deliveries(hook).await
    }

    /// Lets the time pass until everything that waits is due.
    async fn time_passes(&self) {
        execute(
            &self.world.db,
            "UPDATE webhook_deliveries SET next_us = 0 WHERE claimed_by IS NULL".to_owned(),
        )
        .await;
    }

    async fn received(&self, count: usize) -> Vec<HookMessage> {
        received(&self.receiver, count).await
    }
}

/// A server that may send to these receivers.
fn reaching(world: &World, receivers: &[&Receiver]) -> Server {
    let allowed: Vec<_> = receivers.iter().map(|receiver| receiver.upstream.host_and_port()).collect();
    world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed.join(","))])
}

async fn hook(admin: &Client, receiver: &Receiver, events: &[&str]) -> (String, String) {
    let made = admin.post(PATH, &json!({ "url": receiver.url(), "events": events })).await;
    (made.is("201").text_at("/id"), made.text_at("/secret"))
}

async fn deliveries(admin: &Client, hook: &str) -> Vec<Value> {
    let answer = admin.get(&format!("{PATH}/{hook}/deliveries?limit=200")).await;
    answer.is("200").json()["items"].as_array().unwrap().clone()
}

async fn received(receiver: &Receiver, count: usize) -> Vec<HookMessage> {
    eventually("the messages", SOON, async || count <= receiver.messages().len()).await;
    receiver.messages()
}

/// By how much the next try comes after the last, in seconds.
fn waits(delivery: &Value) -> i64 {
    let moment = |name: &str| delivery[name].as_str().unwrap().parse::<tw_model::Timestamp>().unwrap();
    let (last, next) = (moment("last_attempt_at"), moment("next_attempt_at"));
    (next.micros() - last.micros()) / 1_000_000
}

on_both! {
    async fn webhook_is_made_read_changed_and_removed(db: TestDb) {
        let scene = Scene::on(db).await;
        let Scene { world, server, admin, receiver } = &scene;
        let wish = json!({ "url": format!("{}/path-key", receiver.url()), "events": ["run.failed", "mcp.drift"] });
        let once = || admin.request(Method::POST, PATH).header("idempotency-key", "once").json(&wish);
        let made = admin.send(once()).await;
        let id = made.is("201").text_at("/id");
        let secret = made.text_at("/secret");
        assert!(secret.starts_with("whsec_"));
        assert_eq!(made.headers[header::LOCATION], format!("{PATH}/{id}"));
        assert_eq!(admin.send(once()).await.is("201").text_at("/secret"), "***");

        let path = format!("{PATH}/{id}");
        let read = admin.get(&path).await;
        let shown = read.is("200").json();
        assert_eq!((&shown["events"], &shown["enabled"]), (&json!(["run.failed", "mcp.drift"]), &json!(true)));
        assert!(shown.get("secret").is_none());
        assert_eq!(admin.get(PATH).await.json()["items"], json!([shown]));
        // What was read can be sent back, and changes nothing.
        assert_eq!(admin.patch(&path, &shown).await.is("200").json(), shown);
        let changed = admin.patch(&path, &json!({ "events": ["run.completed"], "enabled": false })).await.is("200").json();
        assert_eq!((&changed["events"], &changed["enabled"]), (&json!(["run.completed"]), &json!(false)));
        let late = admin.request(Method::PATCH, &path).header(header::IF_MATCH, read.headers[header::ETAG].clone());
        admin.send(late.json(&json!({ "enabled": true }))).await.is("412 PRECONDITION_FAILED");

        for (body, verdict, paths) in [
            (json!({}), "422 MISSING_PARAM", vec!["/events", "/url"]),
            (json!({ "url": "https://a.example", "events": ["run.failed", "run.lost"] }), "422 INVALID_PARAMS", vec!["/events/1"]),
            (json!({ "url": "https://a.example", "events": ["run.failed", "run.failed"] }), "422 INVALID_PARAMS", vec!["/events/1"]),
            (json!({ "url": "no url", "events": [] }), "422 INVALID_PARAMS", vec!["/events", "/url"]),
            (json!({ "url": "https://a.example", "events": ["run.failed"], "evnts": [] }), "422 INVALID_PARAMS", vec!["/evnts"]),
        ] {
            let answer = admin.post(PATH, &body).await;
            let mut found: Vec<_> = answer.is(verdict).json()["errors"].as_array().unwrap().iter()
                .map(|fault| fault["path"].as_str().unwrap().to_owned()).collect();
            found.sort();
            assert_eq!(found, paths, "{body}");
        }
        for url in ["http://169.254.169.254/", "http://2130706433:1/", "http://[::ffff:10.0.0.1]/", "http://localhost:1/",
                    "http://0x7f.1/", "http://user@127.0.0.1:1/"] {
            for answer in [
                admin.post(PATH, &json!({ "url": url, "events": ["run.failed"] })).await,
                admin.patch(&path, &json!({ "url": url })).await,
            ] {
                let fault = answer.is("422 INVALID_PARAMS").json()["errors"][0].clone();
                assert_eq!((&fault["path"], &fault["code"]), (&json!("/url"), &json!("egress_denied")), "{url}");
                assert!(url.contains("169.254") || fault["message"].as_str().unwrap().contains("egress.allow"), "{fault}");
            }
        }

        // Nobody else gets there: another tenant finds nothing, an agent and a member are refused.
        let stranger = world.client(server, "globex", Role::Admin).await;
        for (method, path) in [
            (Method::GET, path.clone()), (Method::PATCH, path.clone()), (Method::DELETE, path.clone()),
            (Method::GET, format!("{path}/deliveries")), (Method::POST, format!("{path}/test")),
            (Method::POST, format!("{path}/rotate-secret")),
        ] {
            let body = if method == Method::PATCH { json!({ "enabled": true }) } else { json!({}) };
            let theirs = stranger.send(stranger.request(method.clone(), &path).json(&body)).await;
            let nothing = path.replace(&id, NOT_THERE);
            let missing = stranger.send(stranger.request(method, &nothing).json(&body)).await;
            theirs.is("404 NOT_FOUND");
            assert_eq!(theirs.json()["detail"], missing.is("404 NOT_FOUND").json()["detail"]);
        }
        world.agent(server, "acme").await.get(&path).await.is("403 NOT_PERMITTED");
        world.client(server, "acme", Role::Member).await.get(PATH).await.is("403 NOT_PERMITTED");

        assert_eq!(admin.delete(&path).await.status, StatusCode::NO_CONTENT);
        admin.get(&path).await.is("404 NOT_FOUND");
        admin.get(&format!("{path}/deliveries")).await.is("404 NOT_FOUND");
        let audit = admin.get(&format!("/api/audit?object=webhook:{id}&limit=200")).await.json();
        let actions: Vec<_> = audit["items"].as_array().unwrap().iter().map(|line| line["action"].clone()).collect();
        assert_eq!(actions, ["webhook.removed", "webhook.changed", "webhook.created"]);
        assert!(!audit.to_string().contains("path-key"), "a URL can hold a key");
        let stored = everything_stored(&world.db).await;
        let bare = secret.strip_prefix("whsec_").unwrap();
        assert!(!holds(&stored, bare), "the secret is stored sealed");
        assert!(!server.log().contains(bare));
    }

    async fn what_happens_is_told_once_signed_and_without_inputs(db: TestDb) {
        let scene = Scene::on(db).await;
        let Scene { world, server, admin, receiver } = &scene;
        let all = ["run.completed", "run.failed", "approval.requested", "approval.decided", "tool.published"];
        let (_, secret) = scene.hook(&all).await;
        let agent = world.agent(server, "acme").await;

        let run = admin.run("test.echo", json!({ "value": "canary-input" })).await.is("200 success").text_at("/run_id");
        let failed = admin.run("test.fail", json!({ "message": "it broke" })).await.is("200 error").text_at("/run_id");
        let parked = agent.run("test.write", json!({ "file": world.ledger("l"), "line": "canary-line" })).await;
        let approval = parked.is("202 needs_approval").text_at("/approval_id");
        admin.post(&format!("/api/approvals/{approval}/deny"), &json!({ "note": "canary-note" })).await.is("200 denied");
        let tool = json!({
            "slug": "chain", "name": "Chain", "description": "One step.", "publish": true,
            "input_schema": { "type": "object" }, "execution_spec": { "kind": "composition", "steps": [
                { "id": "one", "tool": "test.echo", "input": { "value": 1 } }] },
        });
        admin.post("/api/tools", &tool).await.is("201 published");
        let chain = admin.run("chain", json!({})).await.is("200 success").text_at("/run_id");
        // Neither steps nor tests are told.
        admin.post("/api/tools/test.echo/run", &json!({ "input": { "value": 1 }, "mode": "debug" })).await.is("200 success");

        let messages = scene.received(6).await;
        for message in &messages {
            assert!(message.is_signed_by(&secret), "{message:?}");
            assert!(!message.is_signed_by("whsec_AAAA"));
            assert_eq!(message.received.header("content-type"), Some("application/json"));
            let (sent, now) = (message.received.header("webhook-timestamp").unwrap(), tw_model::Timestamp::now());
            assert!((now.micros() / 1_000_000 - sent.parse::<i64>().unwrap()).abs() < 60);
        }
        let ids: BTreeSet<_> = messages.iter().map(HookMessage::id).collect();
        assert_eq!((messages.len(), ids.len()), (6, 6), "{messages:?}");
        let one = |kind: &str| {
            let told = receiver.told(kind);
            assert_eq!(told.len(), 1, "{kind}: {told:?}");
            told[0].body.clone()
        };
        let completed: BTreeSet<_> =
            receiver.told("run.completed").iter().map(|told| told.body["data"]["run_id"].to_string()).collect();
        assert_eq!(completed, [&run, &chain].map(|id| json!(id).to_string()).into());
        let told = one("run.failed");
        let data = &told["data"];
        assert_eq!(
            json!([data["run_id"], data["tool"], data["status"], data["error"], data["error_code"]]),
            json!([failed, "test.fail", "error", "it broke", "TOOL_FAILED"])
        );
        assert_eq!(data["url"], format!("{}/runs/{failed}", server.url));
        let record = admin.get(&format!("/api/runs/{failed}")).await.json();
        assert_eq!((&data["finished_at"], &told["timestamp"]), (&record["finished_at"], &record["finished_at"]));
        let (requested, decided) = (one("approval.requested"), one("approval.decided"));
        assert_eq!(json!([requested["data"]["approval_id"], requested["data"]["status"]]), json!([approval, "pending"]));
        assert_eq!(json!([decided["data"]["approval_id"], decided["data"]["status"]]), json!([approval, "denied"]));
        assert!(decided["data"]["decided_by"].as_str().unwrap().starts_with("user:"));
        assert_eq!(one("tool.published")["data"]["tool"], "chain");
        for message in &messages {
            assert!(!holds(&message.received.body, "canary"), "{message:?}");
        }
        // A tenant without webhooks has no deliveries, and nobody sees those of others.
        let stranger = world.client(server, "globex", Role::Admin).await;
        stranger.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        assert_eq!(stranger.get(PATH).await.json()["items"], json!([]));
        assert_eq!(scene.received(6).await.len(), 6);
    }

    async fn message_that_is_not_taken_comes_again_under_the_same_id(db: TestDb) {
        let scene = Scene::on(db).await;
        let Scene { world, server, admin, receiver } = &scene;
        let (hook, secret) = scene.hook(&["run.completed"]).await;
        for status in [500, 302, 429] {
            receiver.answers(status, "not now");
        }
        admin.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        for (tries, delay) in [(1, 1), (2, 5), (3, 30)] {
            let tried = &scene.tried(&hook, 1, tries).await[0];
            assert_eq!((&tried["status"], waits(tried)), (&json!("pending"), delay), "{tried}");
            assert_eq!(tried["response_body"], "not now");
            assert!(tried["error"].is_string());
            scene.time_passes().await;
        }
        let tried = &scene.tried(&hook, 1, 4).await[0];
        assert_eq!(json!([tried["status"], tried["response_status"], tried["error"]]), json!(["delivered", 200, null]));
        assert_eq!(tried["next_attempt_at"], Value::Null);
        let messages = scene.received(4).await;
        assert!(messages.iter().all(|message| message.id() == tried["id"].as_str().unwrap()));
        assert!(messages.iter().all(|message| message.body == tried["payload"] && message.is_signed_by(&secret)));

        // By hand it goes out once more, by either path.
        let id = tried["id"].as_str().unwrap();
        for (path, attempts) in [
            (format!("{PATH}/deliveries/{id}/redeliver"), 5),
            (format!("{PATH}/{hook}/deliveries/{id}/redeliver"), 6),
        ] {
            let again = admin.post(&path, &json!({})).await.is("200 delivered").json();
            assert_eq!((again["id"].as_str(), &again["attempts"]), (Some(id), &json!(attempts)));
        }
        assert_eq!(receiver.messages().last().unwrap().id(), id);
        let stranger = world.client(server, "globex", Role::Admin).await;
        stranger.post(&format!("{PATH}/deliveries/{id}/redeliver"), &json!({})).await.is("404 NOT_FOUND");
        admin.post(&format!("{PATH}/{NOT_THERE}/deliveries/{id}/redeliver"), &json!({})).await.is("404 NOT_FOUND");

        // With another secret, both sign for a while.
        let rotated = admin.post(&format!("{PATH}/{hook}/rotate-secret"), &json!({})).await.is("200").text_at("/secret");
        assert_ne!(rotated, secret);
        let tested = admin.post(&format!("{PATH}/{hook}/test"), &json!({})).await.is("200 delivered").json();
        assert_eq!(tested["type"], "webhook.test");
        let message = receiver.messages().pop().unwrap();
        assert!(message.is_signed_by(&secret) && message.is_signed_by(&rotated));
        execute(&world.db, "UPDATE webhooks SET old_secret_until_us = 1".to_owned()).await;
        admin.post(&format!("{PATH}/{hook}/test"), &json!({})).await.is("200 delivered");
        let message = receiver.messages().pop().unwrap();
        assert!(!message.is_signed_by(&secret) && message.is_signed_by(&rotated));
    }

    async fn receiver_that_is_gone_or_fails_for_days_is_not_told_any_more(db: TestDb) {
        let scene = Scene::on(db).await;
        let Scene { admin, receiver, .. } = &scene;
        let (hook, _) = scene.hook(&["run.completed"]).await;
        let path = format!("{PATH}/{hook}");
        let state = async || {
            let read = admin.get(&path).await.json();
            json!([read["enabled"], read["disabled_reason"]])
        };
        let echo = async || {
            admin.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        };

        // A test says nothing about the receiver.
        receiver.answers(410, "");
        admin.post(&format!("{path}/test"), &json!({})).await.is("200 failed");
        assert_eq!(state().await, json!([true, null]));
        receiver.answers(410, "");
        echo().await;
        eventually("the end of the webhook", SOON, async || state().await == json!([false, "gone"])).await;
        let gone = scene.deliveries(&hook).await[0].clone();
        assert_eq!(json!([gone["status"], gone["response_status"]]), json!(["failed", 410]));
        admin.post(&format!("{PATH}/deliveries/{}/redeliver", gone["id"].as_str().unwrap()), &json!({})).await
            .is("409 CONFLICT");
        // Nothing is kept for it while it is off.
        echo().await;
        assert_eq!(scene.deliveries(&hook).await.len(), 2);

        assert_eq!(admin.patch(&path, &json!({ "enabled": true })).await.json()["disabled_reason"], Value::Null);
        receiver.answers(500, "");
        echo().await;
        eventually("a failure", SOON, async || admin.get(&path).await.json()["failing_since"].is_string()).await;
        // Off by hand: what waits is not sent. On again: it is.
        admin.patch(&path, &json!({ "enabled": false })).await.is("200");
        scene.time_passes().await;
        admin.patch(&path, &json!({ "enabled": true })).await.is("200");
        eventually("the message", SOON, async || scene.deliveries(&hook).await[0]["status"] == "delivered").await;
        assert_eq!(admin.get(&path).await.json()["failing_since"], Value::Null);

        receiver.answers(500, "");
        receiver.answers(500, "");
        echo().await;
        eventually("a failure", SOON, async || admin.get(&path).await.json()["failing_since"].is_string()).await;
        let days = 3 * 24 * 3600 * 1_000_000_i64;
        execute(&scene.world.db, format!("UPDATE webhooks SET failing_since_us = failing_since_us - {days}")).await;
        scene.time_passes().await;
        eventually("the end of the webhook", SOON, async || state().await == json!([false, "failing"])).await;
        let audit = admin.get("/api/audit?action=webhook.disabled").await.json();
        assert_eq!(audit["items"].as_array().unwrap().len(), 2);
        assert_eq!(audit["items"][0]["actor"]["kind"], "system");
    }

    async fn slow_receivers_of_one_tenant_delay_no_other_tenant(db: TestDb) {
        let world = World::on(db).await;
        let (slow, quick) = (Receiver::start().await, Receiver::start().await);
        let server = reaching(&world, &[&slow, &quick]);
        let loud = world.client(&server, "acme", Role::Admin).await;
        let quiet = world.client(&server, "globex", Role::Admin).await;
        for _ in 0..200 {
            slow.falls_silent();
        }
        for _ in 0..5 {
            hook(&loud, &slow, &["run.completed"]).await;
        }
        hook(&quiet, &quick, &["run.completed"]).await;
        for value in 0..20 {
            loud.run("test.echo", json!({ "value": value })).await.is("200 success");
        }
        eventually("a slow message", SOON, async || !slow.messages().is_empty()).await;
        quiet.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        received(&quick, 1).await;
        assert!(slow.messages().len() <= 8, "one tenant has so many messages under way and no more");
    }

    async fn heavy_message_of_a_server_that_was_killed_is_sent_by_the_next(db: TestDb) {
        let mut scene = Scene::on(db).await;
        let (hook, secret) = scene.hook(&["run.completed"]).await;
        scene.receiver.falls_silent();
        scene.admin.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        let first = scene.received(1).await[0].clone();
        scene.server.kill();

        let server = reaching(&scene.world, &[&scene.receiver]);
        scene.admin = scene.admin.at(&server);
        if scene.world.db.kind() == Kind::Postgres {
            // There another server could still be at it, until its claim runs out.
            let claimed = deliveries(&scene.admin, &hook).await;
            assert_eq!(json!([claimed[0]["status"], claimed[0]["next_attempt_at"]]), json!(["pending", null]));
            execute(&scene.world.db, "UPDATE webhook_deliveries SET next_us = 0".to_owned()).await;
        }
        let again = &scene.received(2).await[1];
        assert_eq!((again.id(), &again.body), (first.id(), &first.body));
        assert!(again.is_signed_by(&secret));
        scene.tried(&hook, 1, 2).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_send_each_message_once() {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let receiver = Receiver::start().await;
    let (a, b) = (reaching(&world, &[&receiver]), reaching(&world, &[&receiver]));
    let admin = world.client(&a, "acme", Role::Admin).await;
    let there = admin.at(&b);
    let (id, _) = hook(&admin, &receiver, &["run.completed"]).await;
    for value in 0..20 {
        let (one, other) = tokio::join!(
            admin.run("test.echo", json!({ "value": value })),
            there.run("test.echo", json!({ "value": value }))
        );
        one.is("200 success");
        other.is("200 success");
    }
    received(&receiver, 40).await;
    let all_taken = async || {
        let found = deliveries(&admin, &id).await;
        found.len() == 40 && found.iter().all(|one| one["status"] == "delivered" && one["attempts"] == 1)
    };
    eventually("that all are taken", SOON, all_taken).await;
    let messages = receiver.messages();
    let ids: BTreeSet<_> = messages.iter().map(HookMessage::id).collect();
    assert_eq!((messages.len(), ids.len()), (40, 40));
}
