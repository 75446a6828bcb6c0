//! Servers that are killed in the middle of their work, and what is left of it.
#![expect(clippy::print_stdout, reason = "figures are part of what a test has to say")]

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use crate::{
    load::{Crowd, Fleet, Keys, Log, Rng, seed, session_at, settled, soak},
    world::{Client, World, eventually, lines_of},
};

/// Kills servers under a mixed load and asks for everything that was promised. On SQLite there is one server,
/// on PostgreSQL there are two, killed one at a time.
async fn kill_under_load(kind: Kind, kills: u32) {
    let mut rng = Rng::new(seed());
    let world = World::on(TestDb::new(kind).await).await;
    let keys = Keys::of(&world).await;
    let ledger = world.ledger("effects");
    let count = if kind == Kind::Sqlite { 1 } else { 2 };
    let mut fleet = Fleet::of(&world, count).await;
    let session = session_at(&fleet.servers[0], &keys).await;
    let crowd = Crowd::start(&fleet.doors, &keys, &ledger, &session, &mut rng);
    crowd.goes_on(20, Duration::from_secs(30)).await;
    for _ in 0..kills {
        tokio::time::sleep(rng.millis(20, 500)).await;
        let victim = usize::try_from(rng.below(count as u64)).unwrap();
        fleet.kill(victim);
        if rng.chance(20) {
            fleet.stillborn(rng.millis(10, 300)).await;
        }
        fleet.restart(victim).await;
    }
    crowd.goes_on(20, Duration::from_secs(30)).await;
    let mut notes = crowd.stop().await;
    println!("{kills} kills; {}", fleet.starts_in_words());
    println!("{}", notes.in_words());

    // Whoever was on the database all the time can still work with it.
    world.store().ping().await.unwrap();
    let server = &fleet.servers[0];
    let took = settled(server, &keys).await;
    println!("settled after {took:?}");
    let log = Log::read(&world.db.target()).await;
    println!("{}", log.in_words());
    log.is_sound();
    log.tells_the_truth_about(&ledger);
    log.keeps(&notes);

    notes.ask_again(server).await;
    notes.decide_left(server, &keys).await;
    settled(server, &keys).await;
    let log = Log::read(&world.db.target()).await;
    log.is_sound();
    log.tells_the_truth_about(&ledger);
    log.keeps(&notes);
    (0..count).for_each(|index| fleet.look_at(index));
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_nothing_acknowledged_is_lost_when_an_sqlite_server_is_killed() {
    kill_under_load(Kind::Sqlite, 25).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_nothing_acknowledged_is_lost_when_postgres_servers_are_killed() {
    kill_under_load(Kind::Postgres, 25).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: 300 kills"]
async fn heavy_sqlite_server_is_killed_many_times() {
    kill_under_load(Kind::Sqlite, 300 * soak()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: 300 kills"]
async fn heavy_postgres_servers_are_killed_many_times() {
    kill_under_load(Kind::Postgres, 300 * soak()).await;
}

on_both! {
    async fn interrupted_write_is_not_made_again_and_an_interrupted_read_is(db: TestDb) {
        let kind = db.kind();
        let world = World::on(db).await;
        let mut first = world.server();
        // On PostgreSQL somebody else has to notice; on SQLite there is nobody else.
        let other = (kind == Kind::Postgres).then(|| world.server());
        let member = world.client(&first, "acme", Role::Member).await;
        let ledger = world.ledger("effects");
        let calls = [
            ("test.write", json!({ "file": ledger, "line": "never", "before_ms": 60_000 }), "before the effect"),
            ("test.write", json!({ "file": ledger, "line": "once", "after_ms": 60_000 }), "after the effect"),
            ("test.slow", json!({ "ms": 2500 }), "a read"),
        ];
        let ask = |client: &Client, (tool, input, key): &(&str, Value, &str)| {
            let request = client.request(Method::POST, &format!("/api/tools/{tool}/run"));
            request.json(&json!({ "input": input })).header("idempotency-key", *key)
        };
        let mut callers = Vec::new();
        for call in &calls {
            let (client, request) = (member.clone(), ask(&member, call));
            callers.push(tokio::spawn(async move { client.try_send(request).await }));
        }
        let running = async || member.get("/api/runs?status=running").await.json()["items"].as_array().unwrap().clone();
        let patience = Duration::from_secs(30);
        eventually("all three are under way", patience, async || {
            running().await.len() == 3 && lines_of(&ledger) == ["once"]
        })
        .await;
        let before: Vec<Value> = running().await;

        let killed = Instant::now();
        first.kill();
        for caller in callers {
            assert!(caller.await.unwrap().is_err(), "nobody was there to answer");
        }
        let second = other.unwrap_or_else(|| world.server());
        let member = member.at(&second);
        if kind == Kind::Postgres {
            let early = member.send(ask(&member, &calls[0])).await;
            early.is("409 IDEMPOTENCY_IN_FLIGHT");
            assert!(early.headers.contains_key("retry-after"));
        }
        eventually("the runs of the dead server are closed", patience, async || {
            let runs = member.get("/api/runs?status=running").await.json();
            runs["items"].as_array().unwrap().is_empty()
        })
        .await;
        println!("closed {:?} after the kill", killed.elapsed());

        for (call, effect) in calls.iter().zip(["unknown", "unknown", "none"]) {
            let run = before.iter().find(|run| run["tool"] == call.0 && run["input"] == full(call.0, &call.1)).unwrap();
            let id = run["run_id"].as_str().unwrap();
            let closed = member.get(&format!("/api/runs/{id}")).await.json();
            assert_eq!(
                (&closed["status"], &closed["error_code"], &closed["effect"]),
                (&json!("error"), &json!("INTERRUPTED"), &json!(effect)),
                "{closed}"
            );
            assert_eq!(member.trail(id).await, ["tool.started", "tool.failed"]);
            let again = member.send(ask(&member, call)).await;
            if effect == "none" {
                again.is("200 success");
                assert_ne!(again.text_at("/run_id"), id);
            } else {
                again.is("200 error");
                assert_eq!(again.text_at("/run_id"), id);
                assert_eq!(again.text_at("/effect"), "unknown");
            }
        }
        assert_eq!(lines_of(&ledger), ["once"]);
    }
}

/// An input as it is recorded: with the defaults filled in.
fn full(tool: &str, input: &Value) -> Value {
    let mut input = input.clone();
    if tool == "test.write" {
        for field in ["before_ms", "after_ms"] {
            let field = input.as_object_mut().unwrap().entry(field);
            field.or_insert(0.into());
        }
    }
    input
}

/// Faults at a chosen system call, by strace. It costs too much time for every day.
mod long {
    use std::{
        io::{BufRead, BufReader},
        process::{Child, Command, Stdio},
    };

    use super::*;
    use crate::load::{Doors, serving};

    /// The command under strace, which does as told at the `nth` of these system calls.
    fn tampered(command: &Command, calls: &str, fault: &str, nth: u64) -> Command {
        let mut strace = Command::new("strace");
        // The tracer is the grandchild, so that our child is the server itself.
        strace.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={calls}"));
        strace.arg("-e").arg(format!("inject={calls}:{fault}:when={nth}"));
        strace.arg(command.get_program()).args(command.get_args());
        strace.env_clear();
        strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        strace
    }

    /// Starts a server that may not live to say where it listens.
    fn try_start(mut command: Command) -> (Child, Option<String>) {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned));
        (child, url)
    }

    /// Lets a crowd meet the fault, then asks for everything that was promised. Returns how much that was.
    async fn fault_at(rng: &mut Rng, calls: &str, fault: &str, nth: u64) -> usize {
        let world = World::on(TestDb::new(Kind::Sqlite).await).await;
        let keys = Keys::of(&world).await;
        let ledger = world.ledger("effects");
        let session = session_at(&world.server(), &keys).await;
        let command = tampered(&serving(world.command()), calls, fault, nth);
        let (mut child, url) = tokio::task::spawn_blocking(move || try_start(command)).await.unwrap();
        let mut notes = None;
        if let Some(url) = url {
            let doors = Doors::default();
            doors.lock().unwrap().push(url);
            let crowd = Crowd::start(&doors, &keys, &ledger, &session, rng);
            let until =
                Instant::now() + Duration::from_secs(if fault.starts_with("signal") { 20 } else { 3 });
            while child.try_wait().unwrap().is_none() && Instant::now() < until {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let _ = child.kill();
            notes = Some(crowd.stop().await);
        }
        let _ = child.kill();
        child.wait().unwrap();
        let server = world.server();
        settled(&server, &keys).await;
        let Some(mut notes) = notes else { return 0 };
        notes.ask_again(&server).await;
        notes.decide_left(&server, &keys).await;
        let log = Log::read(&world.db.target()).await;
        log.is_sound();
        log.tells_the_truth_about(&ledger);
        log.keeps(&notes);
        notes.acknowledged
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "soak: a fault at every one of many system calls"]
    async fn heavy_fault_at_any_system_call_loses_nothing() {
        let works = Command::new("strace").args(["-D", "-o", "/dev/null", "true"]).status();
        if !works.is_ok_and(|status| status.success()) {
            println!("SKIPPED: strace is not there, or may not trace");
            return;
        }
        let mut rng = Rng::new(seed());
        let flushes = "fsync,fdatasync";
        for (calls, fault, step) in [
            (flushes, "signal=SIGKILL", 1),
            ("pwrite64", "signal=SIGKILL", 17),
            ("write,writev,sendto", "signal=SIGKILL", 23),
            (flushes, "error=EIO", 3),
            ("pwrite64", "error=ENOSPC", 29),
            ("pwrite64", "error=EINTR", 29),
        ] {
            let mut acknowledged = 0;
            for turn in 1..=20 * u64::from(soak()) {
                acknowledged += fault_at(&mut rng, calls, fault, turn * step).await;
            }
            println!("{calls} {fault}: {acknowledged} acknowledged");
        }
    }
}
