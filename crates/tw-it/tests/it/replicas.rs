//! Two servers on one database: what happens on one holds on the other. And followers of a log that are cut
//! off, come back, and miss nothing.
#![expect(clippy::print_stdout, reason = "figures are part of what a test has to say")]

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use crate::{
    load::{Log, Rng, seed, soak},
    world::{Answer, Client, Server, World, eventually, lines_of},
};

/// How soon the other server knows.
const SOON: Duration = Duration::from_secs(1);
/// How soon, where two processors are shared with the whole test run.
const SOON_UNDER_LOAD: Duration = Duration::from_secs(3);

async fn two_servers() -> (World, Server, Server) {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let (a, b) = (world.server(), world.server());
    (world, a, b)
}

/// A call under way, as the one who waits for it.
fn calling(client: &Client, tool: &str, body: Value) -> tokio::task::JoinHandle<(Answer, Instant)> {
    let (client, path) = (client.clone(), format!("/api/tools/{tool}/run"));
    tokio::spawn(async move { (client.post(&path, &body).await, Instant::now()) })
}

async fn the_running(client: &Client, tool: &str) -> String {
    let mut found = None;
    let until = Instant::now() + Duration::from_secs(20);
    while found.is_none() {
        assert!(Instant::now() < until, "{tool} does not run");
        let runs = client.get(&format!("/api/runs?status=running&tool={tool}")).await.json();
        found = runs["items"][0]["run_id"].as_str().map(str::to_owned);
    }
    found.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrency_group_binds_over_all_servers() {
    let (world, a, b) = two_servers().await;
    let admin = world.client(&a, "acme", Role::Admin).await;
    let there = world.client(&b, "acme", Role::Admin).await;
    let file = world.ledger("press");
    let write = |id: &str, before_ms: u64| {
        let input = json!({ "file": file, "line": id, "before_ms": before_ms });
        json!({ "id": id, "tool": "test.write", "input": input })
    };
    let body = json!({
        "slug": "press", "name": "Press", "description": "One at a time.", "publish": true,
        "input_schema": { "type": "object" },
        "execution": { "concurrency_group": "press", "max_concurrency": 1 },
        "execution_spec": { "kind": "composition", "steps": [write("enters", 0), write("leaves", 50)] },
    });
    admin.post("/api/tools", &body).await.is("201 published");

    let calls: Vec<_> =
        (0..8).map(|turn| calling(if turn % 2 == 0 { &admin } else { &there }, "press", json!({}))).collect();
    for call in calls {
        call.await.unwrap().0.is("200 success");
    }
    let lines = lines_of(&file);
    assert_eq!(lines, ["enters", "leaves"].repeat(8), "nobody enters before the one before has left");
}

#[tokio::test(flavor = "multi_thread")]
async fn change_on_one_server_holds_on_the_other_at_once() {
    let (world, a, b) = two_servers().await;
    let admin = world.client(&a, "acme", Role::Admin).await;
    let there = world.client(&b, "acme", Role::Member).await;
    there.run("test.echo", json!({ "value": 1 })).await.is("200 success");

    for turn in 0..10 {
        admin.patch("/api/tools/test.echo", &json!({ "is_active": false })).await.is("200 published");
        there.run("test.echo", json!({ "value": turn })).await.is("409 TOOL_DISABLED");
        assert_eq!(there.get("/api/tools/test.echo").await.json()["is_active"], false);

        admin.patch("/api/tools/test.echo", &json!({ "is_active": null })).await.is("200 published");
        there.run("test.echo", json!({ "value": turn })).await.is("200 success");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_revoked_on_one_server_is_refused_by_the_other_at_once() {
    let (world, a, b) = two_servers().await;
    let admin = world.client(&a, "acme", Role::Admin).await;
    let ledger = world.ledger("effects");
    for turn in 0..5 {
        let wanted = json!({ "name": "short-lived", "role": "member", "acts_as": "user" });
        let made = admin.post("/api/api-keys", &wanted).await;
        let revoked = Arc::new(AtomicBool::new(false));
        // Several callers on the other server, who do not stop.
        let callers: Vec<_> = (0..3)
            .map(|caller| {
                let client = Client::new(&b.url, Some(made.text_at("/key")));
                let (revoked, ledger) = (Arc::clone(&revoked), ledger.clone());
                tokio::spawn(async move {
                    for count in 0.. {
                        let late = revoked.load(Ordering::SeqCst);
                        let when = if late { "late" } else { "early" };
                        let line = format!("{when} {turn} {caller} {count}");
                        let answer = client.run("test.write", json!({ "file": ledger, "line": line })).await;
                        if late {
                            answer.is("401 UNAUTHENTICATED");
                            client.get("/api/runs").await.is("401 UNAUTHENTICATED");
                            return;
                        }
                        assert!(matches!(answer.status.as_u16(), 200 | 401), "{}", answer.text);
                    }
                })
            })
            .collect();
        eventually("the key is in use", Duration::from_secs(20), async || {
            lines_of(&ledger).iter().any(|line| line.starts_with(&format!("early {turn} ")))
        })
        .await;
        admin.delete(&format!("/api/api-keys/{}", made.text_at("/id"))).await.is("200");
        revoked.store(true, Ordering::SeqCst);
        for caller in callers {
            caller.await.unwrap();
        }
    }
    assert!(!lines_of(&ledger).iter().any(|line| line.starts_with("late")));
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_caller_gets_the_result_of_an_approval_on_the_other_server() {
    let (world, a, b) = two_servers().await;
    let agent = world.agent(&a, "acme").await;
    let approver = world.client(&b, "acme", Role::Approver).await;
    let ledger = world.ledger("effects");
    let body = json!({ "input": { "file": ledger, "line": "one" }, "wait_ms": 60_000 });
    let waiting = calling(&agent, "test.write", body);
    let inbox = async || approver.get("/api/approvals").await.json()["items"].as_array().unwrap().clone();
    eventually("the approval is seen on the other server", Duration::from_secs(20), async || {
        !inbox().await.is_empty()
    })
    .await;
    let id = inbox().await[0]["id"].as_str().unwrap().to_owned();

    let approved = approver.post(&format!("/api/approvals/{id}/approve"), &json!({})).await;

    let decided = Instant::now();
    approved.is("200 success");
    let (answer, answered) = waiting.await.unwrap();
    answer.is("200 success");
    let took = answered.saturating_duration_since(decided);
    assert!(took < SOON_UNDER_LOAD, "the caller heard after {took:?}");
    assert_eq!(answer.json()["output"], approved.json()["output"]);
    assert_eq!(lines_of(&ledger), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn run_cancelled_on_the_other_server_ends_here_and_its_finish_is_discarded() {
    let (world, a, b) = two_servers().await;
    let here = world.client(&a, "acme", Role::Member).await;
    let there = world.client(&b, "acme", Role::Admin).await;
    let ledger = world.ledger("effects");
    let tool_ends_after = Duration::from_millis(2500);
    for (line, input) in [
        ("before", json!({ "file": ledger, "line": "before", "before_ms": 2500 })),
        ("after", json!({ "file": ledger, "line": "after", "after_ms": 2500 })),
    ] {
        let began = Instant::now();
        let waiting = calling(&here, "test.write", json!({ "input": input }));
        let run = the_running(&there, "test.write").await;
        if line == "after" {
            eventually("the effect", Duration::from_secs(20), async || !lines_of(&ledger).is_empty()).await;
        }

        let cancelled =
            there.post(&format!("/api/runs/{run}/cancel"), &json!({ "reason": "no longer" })).await;

        let decided = Instant::now();
        cancelled.is("200 cancelled");
        assert_eq!(cancelled.text_at("/effect"), "unknown");
        let (answer, answered) = waiting.await.unwrap();
        answer.is("200 cancelled");
        let took = answered.saturating_duration_since(decided);
        println!("cancelled {line} the effect; the caller heard after {took:?}");
        assert!(took < SOON_UNDER_LOAD, "the caller heard after {took:?}");
        // Whatever the tool does at its end comes after this.
        tokio::time::sleep((tool_ends_after + SOON).saturating_sub(began.elapsed())).await;
        assert_eq!(there.trail(&run).await, ["tool.started", "tool.cancelled"]);
        there.get(&format!("/api/runs/{run}")).await.is("200 cancelled");
    }
    assert_eq!(lines_of(&ledger), ["after"], "a run that was stopped before its effect has none");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_approved_on_both_servers_at_once_happen_once() {
    let (world, a, b) = two_servers().await;
    let ledger = world.ledger("effects");
    let approvers =
        [world.client(&a, "acme", Role::Approver).await, world.client(&b, "acme", Role::Admin).await];
    let agents = [world.agent(&a, "acme").await, world.agent(&b, "acme").await];
    let mut parked = Vec::new();
    for number in 0..40 {
        let answer =
            agents[number % 2].run("test.write", json!({ "file": ledger, "line": number.to_string() })).await;
        parked.push(answer.is("202 needs_approval").text_at("/approval_id"));
    }

    let deciding = parked.iter().flat_map(|id| approvers.iter().map(move |approver| (id, approver))).map(
        async |(id, approver)| {
            let answer =
                approver.post(&format!("/api/approvals/{id}/approve"), &json!({ "wait_ms": 30_000 })).await;
            (id.clone(), answer.verdict())
        },
    );
    let verdicts = futures::future::join_all(deciding).await;

    let of = |wanted: &str| -> BTreeSet<&String> {
        verdicts.iter().filter(|(_, verdict)| verdict == wanted).map(|(id, _)| id).collect()
    };
    assert_eq!(of("200 success").len(), 40, "{verdicts:?}");
    assert_eq!(of("409 ALREADY_DECIDED").len(), 40, "{verdicts:?}");
    let mut lines: Vec<u32> = lines_of(&ledger).iter().map(|line| line.parse().unwrap()).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..40).collect::<Vec<_>>());
    Log::read(&world.db.target()).await.is_sound();
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_was_taken_for_dead_does_not_overwrite_what_others_wrote() {
    let (world, a, b) = two_servers().await;
    let here = world.client(&a, "acme", Role::Member).await;
    let there = world.client(&b, "acme", Role::Admin).await;
    let ledger = world.ledger("effects");
    let waiting =
        calling(&here, "test.write", json!({ "input": { "file": ledger, "line": "one", "after_ms": 3000 } }));
    let run = the_running(&there, "test.write").await;
    eventually("the effect", Duration::from_secs(20), async || !lines_of(&ledger).is_empty()).await;

    a.signal("STOP");
    let stopped = Instant::now();
    eventually("the run is closed", Duration::from_secs(30), async || {
        there.get(&format!("/api/runs/{run}")).await.verdict() == "200 error"
    })
    .await;
    println!("closed {:?} after the server froze", stopped.elapsed());
    let closed = there.get(&format!("/api/runs/{run}")).await.json();
    a.signal("CONT");

    let (answer, _) = waiting.await.unwrap();
    answer.is("200 error");
    assert_eq!(answer.text_at("/error_code"), "INTERRUPTED");
    assert_eq!(answer.text_at("/effect"), "unknown");
    assert_eq!(there.get(&format!("/api/runs/{run}")).await.json(), closed);
    assert_eq!(there.trail(&run).await, ["tool.started", "tool.failed"]);
    here.run("test.echo", json!({ "value": 1 })).await.is("200 success");
    assert_eq!(lines_of(&ledger), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn script_of_a_server_that_was_taken_for_dead_is_finished_once_by_the_other() {
    let (world, a, b) = two_servers().await;
    let here = world.client(&a, "acme", Role::Builder).await;
    let there = world.client(&b, "acme", Role::Admin).await;
    let ledger = world.ledger("effects");
    let effect =
        |line: &str| format!("await ctx.callTool('test.write', {})", json!({ "file": ledger, "line": line }));
    let source = format!(
        "export default async (input, ctx) => {{ {}; await ctx.callTool('test.slow', {{ ms: 4000 }}); {}; return Date.now() }}",
        effect("one"),
        effect("two")
    );
    let body = json!({
        "slug": "script", "name": "Script", "description": "Runs a script.", "implementation_type": "artifact",
        "permission_level": "write", "publish": true, "input_schema": { "type": "object" }, "timeout_ms": 120_000,
        "implementation": { "language": "javascript", "source": source },
    });
    here.post("/api/tools", &body).await.is("201 published");
    let waiting = calling(&here, "script", json!({ "input": {} }));
    let run = the_running(&there, "script").await;
    the_running(&there, "test.slow").await;

    // The other server takes the script up while the first one still holds its own run of it.
    a.signal("STOP");
    eventually("the script is finished", Duration::from_secs(60), async || {
        there.get(&format!("/api/runs/{run}")).await.verdict() == "200 success"
    })
    .await;
    let finished = there.get(&format!("/api/runs/{run}")).await.json();
    a.signal("CONT");

    let (answer, _) = waiting.await.unwrap();
    answer.is("200 success");
    assert_eq!(answer.json()["output"], finished["output"]);
    here.run("test.echo", json!({ "value": 1 })).await.is("200 success");
    assert_eq!(there.get(&format!("/api/runs/{run}")).await.json(), finished);
    assert_eq!(there.trail(&run).await, ["tool.started", "tool.completed"]);
    assert_eq!(lines_of(&ledger), ["one", "two"]);
}

/// Somebody who follows a session, is cut off, and comes back.
struct Follower {
    client: Client,
    session: String,
    /// What has come so far: number and event.
    seen: Vec<(u64, Value)>,
    cuts: usize,
}

impl Follower {
    fn new(client: &Client, session: &str) -> Self {
        Self { client: client.clone(), session: session.to_owned(), seen: Vec::new(), cuts: 0 }
    }

    fn request(&self, url: &str) -> reqwest::RequestBuilder {
        let mut client = self.client.clone();
        client.url = url.to_owned();
        client.request(Method::GET, &format!("/api/sessions/{}/events/stream", self.session))
    }

    fn last(&self) -> u64 {
        self.seen.last().map_or(0, |(seq, _)| *seq)
    }

    /// Reads on from where it was until `most` bytes have come or none for `patience`, then hangs up, in the
    /// middle of an event as likely as not.
    async fn read_some(&mut self, url: &str, most: usize, patience: Duration) {
        let mut request = self.request(url);
        if self.last() != 0 {
            request = request.header("last-event-id", self.last().to_string());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let mut bytes = response.bytes_stream();
        let mut text = Vec::new();
        while text.len() < most {
            match tokio::time::timeout(patience, bytes.next()).await {
                Ok(Some(Ok(chunk))) => text.extend_from_slice(&chunk),
                Ok(Some(Err(_)) | None) | Err(_) => break,
            }
        }
        text.truncate(most);
        self.cuts += 1;
        let text = String::from_utf8_lossy(&text);
        // What is not ended by an empty line has not come whole.
        let whole = text.rfind("\n\n").map_or("", |end| &text[..end]);
        self.seen.extend(whole.split("\n\n").filter_map(parse));
    }
}

fn parse(message: &str) -> Option<(u64, Value)> {
    let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
    // A comment has no data.
    let data: Value = serde_json::from_str(field("data:")?).unwrap();
    let id: u64 = field("id:").unwrap().parse().unwrap();
    assert_eq!(data["seq"], id);
    assert_eq!(data["type"].as_str(), field("event:"));
    Some((id, data))
}

/// Four callers who write to one session, on all servers in turn.
fn writers(
    servers: &[Server],
    member: &Client,
    session: &str,
    calls: usize,
) -> Vec<tokio::task::JoinHandle<()>> {
    let clients: Vec<Client> = servers.iter().map(|server| member.at(server)).collect();
    let start = |writer: usize| {
        let (clients, session) = (clients.clone(), session.to_owned());
        tokio::spawn(async move {
            for call in 0..calls {
                let body = json!({ "input": { "message": "some words to say" }, "session_id": session });
                let client = &clients[(writer + call) % clients.len()];
                client.post("/api/tools/test.append/run", &body).await.is("200 success");
            }
        })
    };
    (0..4).map(start).collect()
}

async fn all_events(client: &Client, session: &str) -> Vec<(u64, Value)> {
    let mut events = Vec::new();
    loop {
        let after = events.last().map_or(0, |(seq, _)| *seq);
        let page =
            client.get(&format!("/api/sessions/{session}/events?after={after}&limit=200")).await.json();
        let items = page["items"].as_array().unwrap();
        events.extend(items.iter().map(|item| (item["seq"].as_u64().unwrap(), item.clone())));
        if page["next_cursor"].is_null() {
            return events;
        }
    }
}

async fn follow_with_cuts(db: TestDb, readers: usize, calls: usize) {
    let mut rng = Rng::new(seed());
    let count = if db.kind() == Kind::Sqlite { 1 } else { 2 };
    let world = World::on(db).await;
    let servers: Vec<Server> = (0..count).map(|_| world.server()).collect();
    let member = world.client(&servers[0], "acme", Role::Member).await;
    let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
    let writing = Arc::new(AtomicBool::new(true));
    let reading: Vec<_> = (0..readers)
        .map(|_| {
            let mut rng = Rng::new(rng.next());
            let mut follower = Follower::new(&member, &session);
            let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
            let writing = Arc::clone(&writing);
            tokio::spawn(async move {
                while writing.load(Ordering::Acquire) {
                    let url = &urls[usize::try_from(rng.below(urls.len() as u64)).unwrap()];
                    let most = usize::try_from(rng.below(8000)).unwrap();
                    follower.read_some(url, most, rng.millis(1, 200)).await;
                }
                follower
            })
        })
        .collect();
    for writer in writers(&servers, &member, &session, calls) {
        writer.await.unwrap();
    }
    writing.store(false, Ordering::Release);

    let whole = all_events(&member, &session).await;
    assert_eq!(whole.len(), 4 * calls * 6, "four words and two ends for every call");
    let mut cuts = 0;
    for follower in reading {
        let mut follower = follower.await.unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while follower.seen.len() < whole.len() && Instant::now() < until {
            let url = &servers[follower.cuts % servers.len()].url;
            follower.read_some(url, usize::MAX, Duration::from_millis(500)).await;
        }
        assert!(follower.seen == whole, "what was followed is not what was written");
        cuts += follower.cuts;
    }
    println!("{readers} readers were cut off {cuts} times over {} events", whole.len());
}

on_both! {
    async fn follower_that_is_cut_off_again_and_again_misses_nothing(db: TestDb) {
        follow_with_cuts(db, 3, 30).await;
    }

    async fn follower_is_told_when_it_cannot_go_on_from_there(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
        let body = json!({ "input": { "value": 1 }, "session_id": session });
        member.post("/api/tools/test.echo/run", &body).await.is("200 success");
        let follower = Follower::new(&member, &session);

        for wrong in ["x", "-1", "1.5", "99999999999999999999", "0x1", " "] {
            let answer = member.send(follower.request(&server.url).header("last-event-id", wrong)).await;
            assert!(answer.status.is_client_error(), "{wrong:?}: {} {}", answer.status, answer.text);
        }
        let answer = member.send(follower.request(&server.url).header("last-event-id", "3")).await;
        assert!(answer.status.is_client_error(), "the future: {} {}", answer.status, answer.text);
        let foreign = Follower::new(&stranger, &session);
        stranger.send(foreign.request(&server.url).header("last-event-id", "1")).await.is("404 SESSION_NOT_FOUND");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn follower_on_one_server_sees_what_is_called_on_the_other() {
    let (world, a, b) = two_servers().await;
    let member = world.client(&a, "acme", Role::Member).await;
    let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
    let follower = Follower::new(&member, &session);
    let response = follower.request(&b.url).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut bytes = response.bytes_stream();

    let mut slowest = Duration::ZERO;
    for turn in 1..=10 {
        let body = json!({ "input": { "value": turn }, "session_id": session });
        member.post("/api/tools/test.echo/run", &body).await.is("200 success");
        let written = Instant::now();
        let mut text = String::new();
        while !text.contains(&format!("id: {}\n", turn * 2)) {
            let chunk =
                tokio::time::timeout(SOON_UNDER_LOAD, bytes.next()).await.expect("the events come soon");
            text.push_str(&String::from_utf8_lossy(&chunk.unwrap().unwrap()));
        }
        slowest = slowest.max(written.elapsed());
    }
    println!("the slowest event came {slowest:?} after its call was answered");
}

mod long {
    use super::*;

    async fn heartbeat(kind: Kind) {
        let world = World::on(TestDb::new(kind).await).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
        let response = Follower::new(&member, &session).request(&server.url).send().await.unwrap();
        let mut bytes = response.bytes_stream();
        let began = Instant::now();
        for _ in 0..2 {
            let chunk =
                tokio::time::timeout(Duration::from_secs(20), bytes.next()).await.expect("a heartbeat");
            let text = String::from_utf8(chunk.unwrap().unwrap().to_vec()).unwrap();
            assert!(text.starts_with(':'), "{text:?}");
        }
        assert!(Duration::from_secs(25) < began.elapsed());
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "soak: half a minute of silence"]
    async fn silent_stream_has_a_heartbeat() {
        tokio::join!(heartbeat(Kind::Sqlite), heartbeat(Kind::Postgres));
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "soak: a thousand cuts for each of twenty readers"]
    async fn heavy_followers_are_cut_off_thousands_of_times() {
        for kind in [Kind::Sqlite, Kind::Postgres] {
            follow_with_cuts(TestDb::new(kind).await, 20, 600 * soak() as usize).await;
        }
    }
}
