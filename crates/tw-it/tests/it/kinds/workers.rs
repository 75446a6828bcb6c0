//! The stream by which workers fetch their calls.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use super::{PATIENCE, Worker, answer, calling, cancel, external, ids, make, run_of};
use crate::world::{Client, World};

async fn open(client: &Client, tool: &str) -> String {
    let open = client.run(tool, json!({})).await;
    ids(open.is("202 pending")).1
}

async fn world_with(db: TestDb) -> (World, crate::world::Server, Client) {
    let world = World::on(db).await;
    let server = world.server();
    let builder = world.client(&server, "acme", Role::Builder).await;
    for slug in ["a", "b", "marker"] {
        make(&builder, &external(slug, &json!({ "is_async": true }))).await;
    }
    (world, server, builder)
}

on_both! {
    async fn stream_begins_with_every_open_call_of_its_tools_oldest_first(db: TestDb) {
        let (world, server, builder) = world_with(db).await;
        let stranger = world.client(&server, "globex", Role::Builder).await;
        make(&stranger, &external("a", &json!({ "is_async": true }))).await;
        open(&stranger, "a").await;
        let mut calls = Vec::new();
        // More than one look takes.
        for turn in 0..60 {
            calls.push(open(&builder, if turn % 2 == 0 { "a" } else { "b" }).await);
        }
        let gone = builder.run("a", json!({})).await;
        cancel(&builder, &gone.text_at("/run_id")).await.is("200 cancelled");
        let done = ids(builder.run("b", json!({})).await.is("202 pending"));
        answer(&builder, &done.0, &done.1, &json!(1)).await.is("200 success");

        let mut worker = Worker::listens(&builder, "A", None).await;
        for call in calls.iter().step_by(2) {
            assert_eq!(worker.told().await.call, *call);
        }
        let new = open(&builder, "a").await;
        assert_eq!(worker.told().await.call, new, "then those that come");
        drop(worker);

        let mut worker = Worker::listens(&builder, "b,a", None).await;
        let mut all = Vec::new();
        for _ in 0..61 {
            all.push(worker.told().await.call);
        }
        calls.push(new);
        // What the first worker gave back may come a moment after what nobody had.
        assert_eq!(all.iter().collect::<BTreeSet<_>>(), calls.iter().collect::<BTreeSet<_>>());
        let mut strangers = Worker::listens(&stranger, "", None).await;
        assert!(!calls.contains(&strangers.told().await.call));
    }

    async fn call_goes_to_one_of_the_workers(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        let mut one = Worker::listens(&builder, "a,b", None).await;
        let mut two = Worker::listens(&builder, "a,marker", None).await;
        let mut calls = BTreeSet::new();
        for _ in 0..20 {
            calls.insert(open(&builder, "a").await);
        }
        let (last_of_one, last_of_two) = (open(&builder, "b").await, open(&builder, "marker").await);
        // Each one's own call is the youngest, so whatever it gets it has by then.
        let mut told = Vec::new();
        for (worker, last) in [(&mut one, last_of_one), (&mut two, last_of_two)] {
            loop {
                let call = worker.told().await.call;
                if call == last {
                    break;
                }
                told.push(call);
            }
        }
        assert_eq!(told.len(), 20, "each once");
        assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), calls);
    }

    async fn worker_that_goes_leaves_its_calls_to_the_others(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        let mut one = Worker::listens(&builder, "a", None).await;
        let first = open(&builder, "a").await;
        let told = one.told().await;
        assert_eq!(told.call, first);
        let mut two = Worker::listens(&builder, "a,b", None).await;
        let marker = open(&builder, "b").await;
        assert_eq!(two.told().await.call, marker, "it is the other's while that one listens");
        drop(one);
        let again = two.told().await;
        assert_eq!((&again.call, &again.run), (&told.call, &told.run));
        answer(&builder, &again.run, &again.call, &json!(1)).await.is("200 success");
    }

    async fn worker_that_comes_back_goes_on_behind_what_it_was_told(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        let mut worker = Worker::listens(&builder, "a", None).await;
        let (one, two) = (open(&builder, "a").await, open(&builder, "a").await);
        assert_eq!([worker.told().await.call, worker.told().await.call], [one, two.clone()]);
        drop(worker);
        let three = open(&builder, "a").await;

        let mut worker = Worker::listens(&builder, "a", Some(&two)).await;

        assert_eq!(worker.told().await.call, three);
        // It still has the first two, and is not told of them again.
        for _ in 0..3 {
            let next = open(&builder, "a").await;
            assert_eq!(worker.told().await.call, next);
        }
        for wrong in ["7", "not-an-id", ""] {
            let request = builder.request(reqwest::Method::GET, "/api/workers/stream").header("last-event-id", wrong);
            builder.send(request).await.is("400 BAD_REQUEST");
        }
    }

    async fn worker_that_comes_back_is_told_what_others_have_left(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        let mut one = Worker::listens(&builder, "a", None).await;
        let mut two = Worker::listens(&builder, "b", None).await;
        let (first, second) = (open(&builder, "a").await, open(&builder, "b").await);
        assert_eq!((one.told().await.call, two.told().await.call), (first.clone(), second.clone()));
        drop((one, two));

        let mut two = Worker::listens(&builder, "", Some(&second)).await;
        assert_eq!(two.told().await.call, first, "it was somebody else's");
        let third = open(&builder, "a").await;
        assert_eq!(two.told().await.call, third, "and it still has its own");
        drop(two);

        // Once more: whichever connection it was told of a call by, it is the same worker.
        let mut two = Worker::listens(&builder, "", Some(&third)).await;
        let marker = open(&builder, "marker").await;
        assert_eq!(two.told().await.call, marker);
        drop(two);

        // One that did not come back has left them to the next; that was told of all, and may come back as well.
        let all = BTreeSet::from([first, second, third, marker]);
        let mut next = Worker::listens(&builder, "", None).await;
        let mut told = BTreeSet::new();
        while told.len() < all.len() {
            told.insert(next.told().await.call);
        }
        assert_eq!(told, all);
    }

    async fn call_that_two_workers_were_told_of_is_told_again_to_either(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        let mut one = Worker::listens(&builder, "b", None).await;
        let second = open(&builder, "b").await;
        assert_eq!(one.told().await.call, second);
        drop(one);
        let first = open(&builder, "a").await;
        let mut other = Worker::listens(&builder, "", None).await;
        let told = BTreeSet::from([other.told().await.call, other.told().await.call]);
        assert_eq!(told, BTreeSet::from([first.clone(), second.clone()]));
        drop(other);
        // The first of the two has never heard of the other call.
        let mut one = Worker::listens(&builder, "", Some(&second)).await;
        let told = BTreeSet::from([one.told().await.call, one.told().await.call]);
        assert_eq!(told, BTreeSet::from([first, second]));
    }

    async fn worker_that_came_back_takes_over_from_those_who_go(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        let mut one = Worker::listens(&builder, "a", None).await;
        let (first, second) = (open(&builder, "a").await, open(&builder, "a").await);
        assert_eq!([one.told().await.call, one.told().await.call], [first.clone(), second.clone()]);
        let mut two = Worker::listens(&builder, "b", None).await;
        let third = open(&builder, "b").await;
        assert_eq!(two.told().await.call, third);
        drop(two);
        let mut two = Worker::listens(&builder, "", Some(&third)).await;
        let marker = open(&builder, "marker").await;
        assert_eq!(two.told().await.call, marker);

        drop(one);

        assert_eq!([two.told().await.call, two.told().await.call], [first, second]);
    }

    async fn worker_of_a_server_that_died_leaves_its_calls_to_the_others(db: TestDb) {
        let on_its_own = db.kind() == Kind::Sqlite;
        let (world, mut server, builder) = world_with(db).await;
        let mut worker = Worker::listens(&builder, "a", None).await;
        let call = open(&builder, "a").await;
        assert_eq!(worker.told().await.call, call);
        server.kill();
        let died = Instant::now();

        let server = world.server();
        let mut worker = Worker::listens(&builder.at(&server), "a", None).await;
        assert_eq!(worker.told().await.call, call);
        // One among several is known to be dead by its silence.
        let patience = Duration::from_secs(if on_its_own { 10 } else { 24 });
        assert!(died.elapsed() < patience, "told after {:?}", died.elapsed());
    }

    async fn call_whose_caller_has_given_up_is_still_told(db: TestDb) {
        let (_world, _server, builder) = world_with(db).await;
        make(&builder, &external("brief", &json!({ "timeout_ms": 1500 }))).await;
        let (run, call) = ids(builder.run("brief", json!({})).await.is("200 timed_out"));
        let mut worker = Worker::listens(&builder, "brief,marker", None).await;
        let told = worker.told().await;
        assert_eq!((&told.call, &told.data["late"], &told.data["deadline"]), (&call, &json!(true), &Value::Null));

        // One that is out of time while a worker has it stays that worker's.
        let waiting = calling(&builder, "brief", json!({ "input": {} }));
        let slow = worker.told().await;
        assert_eq!(slow.data["late"], false);
        waiting.await.unwrap().is("200 timed_out");
        let mut other = Worker::listens(&builder, "brief,b", None).await;
        for tool in ["marker", "b"] {
            let marker = open(&builder, tool).await;
            let told = if tool == "b" { other.told().await } else { worker.told().await };
            assert_eq!(told.call, marker);
        }
        for (run, call) in [(&run, &call), (&slow.run, &slow.call)] {
            answer(&builder, run, call, &json!("at last")).await.is("200 timed_out");
            assert_eq!(run_of(&builder, run).await["late_result"], "at last");
        }
    }

    async fn worker_whose_key_is_revoked_is_told_nothing_more(db: TestDb) {
        let (world, server, builder) = world_with(db).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let made = admin.post("/api/api-keys", &json!({ "name": "w", "role": "builder", "acts_as": "user" })).await;
        let worker = Client::new(&server.url, Some(made.text_at("/key")));
        let mut revoked = Worker::listens(&worker, "a", None).await;
        let first = open(&builder, "a").await;
        assert_eq!(revoked.told().await.call, first);
        admin.delete(&format!("/api/api-keys/{}", made.text_at("/id"))).await.is("200");
        let second = open(&builder, "a").await;
        let rest = async {
            let mut rest = Vec::new();
            while let Ok(Some(chunk)) = revoked.stream.chunk().await {
                rest.extend(chunk);
            }
            rest
        };
        let rest = tokio::time::timeout(PATIENCE, rest).await.expect("the stream ends");
        assert!(!String::from_utf8_lossy(&rest).contains(&second));
        // What it had goes to those who may have it.
        let mut other = Worker::listens(&builder, "a", None).await;
        let told = BTreeSet::from([other.told().await.call, other.told().await.call]);
        assert_eq!(told, BTreeSet::from([first, second]));
    }
}
