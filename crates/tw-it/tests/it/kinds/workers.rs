//! The stream by which workers fetch their calls.

use std::collections::BTreeSet;

use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{PATIENCE, Worker, answer, cancel, external, ids, make};
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
