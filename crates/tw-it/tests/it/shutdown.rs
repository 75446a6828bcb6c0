//! Servers that are asked to end: they finish what they have begun, begin nothing new, and leave nobody
//! without an answer.
#![expect(clippy::print_stdout, reason = "figures are part of what a test has to say")]

use std::time::{Duration, Instant};

use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use crate::{
    load::{Crowd, Fleet, Keys, Log, Rng, seed, session_at, settled, soak},
    world::{Answer, Client, Server, World, eventually, lines_of},
};

/// By when a server that was asked to end has ended.
const GONE_WITHIN: Duration = Duration::from_secs(30);

/// Waits for a server that was asked to end. Returns its exit code and how long it took.
async fn gone(server: &mut Server, asked: Instant) -> (Option<i32>, Duration) {
    loop {
        if let Some(code) = server.ended() {
            return (code, asked.elapsed());
        }
        assert!(asked.elapsed() < GONE_WITHIN, "the server is still there:\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn calling(client: &Client, tool: &str, body: Value) -> tokio::task::JoinHandle<reqwest::Result<Answer>> {
    let (client, request) =
        (client.clone(), client.request(Method::POST, &format!("/api/tools/{tool}/run")).json(&body));
    tokio::spawn(async move { client.try_send(request).await })
}

async fn running(client: &Client, count: usize) {
    eventually("the calls are under way", Duration::from_secs(20), async || {
        client.get("/api/runs?status=running").await.json()["items"].as_array().unwrap().len() == count
    })
    .await;
}

/// Waits until the server has heard that it is to end.
async fn draining(server: &Server) {
    let nobody = Client::new(&server.url, None);
    eventually("the server says that it will end", Duration::from_secs(10), async || {
        nobody.get("/readyz").await.verdict() == "503 SHUTTING_DOWN"
    })
    .await;
}

async fn restart_under_load(kind: Kind, rounds: u32) {
    let mut rng = Rng::new(seed());
    let world = World::on(TestDb::new(kind).await).await;
    let keys = Keys::of(&world).await;
    let ledger = world.ledger("effects");
    let count = if kind == Kind::Sqlite { 1 } else { 2 };
    let mut fleet = Fleet::of(&world, count).await;
    let session = session_at(&fleet.servers[0], &keys).await;
    let crowd = Crowd::start(&fleet.doors, &keys, &ledger, &session, &mut rng);
    let mut slowest = Duration::ZERO;
    for round in 0..rounds as usize {
        crowd.goes_on(40, Duration::from_secs(30)).await;
        let index = round % count;
        let asked = Instant::now();
        fleet.servers[index].signal("TERM");
        let (code, took) = gone(&mut fleet.servers[index], asked).await;
        assert_eq!(code, Some(0), "{}", fleet.servers[index].log());
        slowest = slowest.max(took);
        fleet.look_at(index);
        fleet.restart(index).await;
    }
    crowd.goes_on(40, Duration::from_secs(30)).await;
    let mut notes = crowd.stop().await;
    println!("{rounds} restarts, the slowest stop took {slowest:?}; {}", fleet.starts_in_words());
    println!("{}", notes.in_words());

    let server = &fleet.servers[0];
    settled(server, &keys).await;
    notes.ask_again(server).await;
    notes.decide_left(server, &keys).await;
    settled(server, &keys).await;
    let log = Log::read(&world.db.target()).await;
    println!("{}", log.in_words());
    log.is_sound();
    log.tells_the_truth_about(&ledger);
    log.keeps(&notes);
    log.has_nothing_but(&notes);
    assert_eq!(log.interrupted(), 0, "every call was short enough to be finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_rolling_restart_of_two_servers_fails_nobody() {
    restart_under_load(Kind::Postgres, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_restart_of_the_only_server_fails_nobody() {
    restart_under_load(Kind::Sqlite, 4).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: many restarts in a row"]
async fn heavy_servers_are_restarted_many_times() {
    restart_under_load(Kind::Postgres, 60 * soak()).await;
    restart_under_load(Kind::Sqlite, 60 * soak()).await;
}

on_both! {
    async fn server_asked_to_end_finishes_what_it_has_begun_and_begins_nothing(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let ledger = world.ledger("effects");
        let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
        let stream = member.request(Method::GET, &format!("/api/sessions/{session}/events/stream"));
        let mut following = stream.send().await.unwrap().bytes_stream();
        let write = json!({ "input": { "file": ledger, "line": "finished", "before_ms": 2500 } });
        let finishing = calling(&member, "test.write", write);
        let patient = json!({ "input": { "file": ledger, "line": "waits" }, "wait_ms": 120_000 });
        let waiting = calling(&agent, "test.write", patient);
        running(&member, 1).await;
        eventually("the agent waits", Duration::from_secs(20), async || {
            let runs = agent.get("/api/runs?status=needs_approval").await.json();
            !runs["items"].as_array().unwrap().is_empty()
        })
        .await;

        let asked = Instant::now();
        server.signal("TERM");
        draining(&server).await;

        for tool in ["test.echo", "test.write"] {
            let refused = member.run(tool, json!({ "value": 1, "file": ledger, "line": "too late" })).await;
            refused.is("503 SHUTTING_DOWN");
            assert!(refused.headers.contains_key("retry-after"));
        }
        assert_eq!(Client::new(&server.url, None).get("/healthz").await.verdict(), "200");
        let finished = finishing.await.unwrap().unwrap();
        finished.is("200 success");
        let parked = waiting.await.unwrap().expect("whoever waits for a person is told that the call waits");
        parked.is("202 needs_approval");
        while let Ok(Some(Ok(_))) = tokio::time::timeout(GONE_WITHIN, following.next()).await {}
        let (code, took) = gone(&mut server, asked).await;
        assert_eq!(code, Some(0), "{}", server.log());
        println!("gone after {took:?}");
        assert!(took < Duration::from_secs(6), "there was nothing to wait for after the last call: {took:?}");
        assert_eq!(lines_of(&ledger), ["finished"]);

        let next = world.server();
        let approver = world.client(&next, "acme", Role::Approver).await;
        let id = parked.text_at("/approval_id");
        approver.post(&format!("/api/approvals/{id}/approve"), &json!({})).await.is("200 success");
        assert_eq!(lines_of(&ledger), ["finished", "waits"]);
        let log = Log::read(&world.db.target()).await;
        log.is_sound();
        assert_eq!(log.interrupted(), 0);
    }

    async fn call_that_outlasts_the_patience_of_an_ending_server_is_told_so(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let ledger = world.ledger("effects");
        for tool in ["test.slow", "test.write"] {
            admin.patch(&format!("/api/tools/{tool}"), &json!({ "timeout_ms": 100_000 })).await.is("200 published");
        }
        let slow = calling(&member, "test.slow", json!({ "input": { "ms": 90_000 } }));
        let input = json!({ "file": ledger, "line": "done", "after_ms": 90_000 });
        let write = calling(&member, "test.write", json!({ "input": input }));
        running(&admin, 2).await;

        let asked = Instant::now();
        server.signal("TERM");

        for (call, effect) in [(slow, "none"), (write, "unknown")] {
            let answer = call.await.unwrap().expect("an answer, although the server ends");
            answer.is("200 error");
            assert_eq!(answer.text_at("/error_code"), "INTERRUPTED");
            assert_eq!(answer.text_at("/effect"), effect);
        }
        let (code, took) = gone(&mut server, asked).await;
        assert_eq!(code, Some(0), "{}", server.log());
        println!("gone after {took:?}");
        let log = Log::read(&world.db.target()).await;
        log.is_sound();
        assert_eq!(log.interrupted(), 2);
    }

    async fn idle_server_asked_to_end_is_gone_at_once(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        // Its connection stays open.
        member.run("test.echo", json!({ "value": 1 })).await.is("200 success");

        let (code, took) = tokio::task::block_in_place(|| server.terminate());

        assert_eq!(code, Some(0), "{}", server.log());
        assert!(took < Duration::from_secs(3), "it took {took:?}");
    }

    async fn second_signal_ends_a_server_at_once(db: TestDb) {
        let kind = db.kind();
        let world = World::on(db).await;
        let mut server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let slow = calling(&member, "test.slow", json!({ "input": { "ms": 20_000 } }));
        running(&member, 1).await;
        server.signal("TERM");
        draining(&server).await;

        let asked = Instant::now();
        server.signal("TERM");
        let (code, took) = gone(&mut server, asked).await;

        assert_eq!(code, Some(1), "{}", server.log());
        assert!(took < Duration::from_secs(2), "it took {took:?}");
        assert!(slow.await.unwrap().is_err());
        if kind == Kind::Sqlite {
            let next = world.server();
            let runs = member.at(&next).get("/api/runs").await.json();
            let run = &runs["items"][0];
            assert_eq!((&run["error_code"], &run["effect"]), (&json!("INTERRUPTED"), &json!("none")), "{run}");
        }
    }
}
