//! Two servers on one database.

use std::time::Duration;

use serde_json::json;
use tw_model::Role;
use tw_test::{Kind, TestDb};

use super::{at, call, echo, make, needing, number, publish, read, with};
use crate::world::{World, eventually};

const SOON: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_publishes_the_other_runs() {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let (a, b) = (world.server(), world.server());
    let author = world.client(&a, "acme", Role::Builder).await;
    let there = world.client(&b, "acme", Role::Member).await;
    let author_there = author.at(&b);
    there.run("shared", json!({ "a": 1 })).await.is("404 TOOL_NOT_FOUND");
    make(&author, &echo("shared")).await;
    there.run("shared", json!({ "a": 1 })).await.is("409 TOOL_NOT_PUBLISHED");
    publish(&author, "shared").await.is("200 published");
    there.run("shared", json!({ "a": 1 })).await.is("200 success");
    for turn in 2..8 {
        let name = format!("p{turn}");
        let change = json!({ "input_schema": needing(&name) });
        author.patch(&at("shared"), &change).await.is("200 published");
        number(&author, "shared", &format!("{turn}.0.0")).await.is("200 published");
        assert_eq!(read(&author_there, "shared").await, read(&author, "shared").await);
        publish(&author, "shared").await.is("200 published");
        let run = there.run("shared", json!({ &*name: 1 })).await;
        assert_eq!(run.is("200 success").text_at("/version"), format!("{turn}.0.0"));
        let pinned = json!({ "input": { "a": 1 }, "version": "1.0.0" });
        call(&there, "shared", &pinned).await.is("200 success");
    }
    author_there.patch(&at("shared"), &json!({ "is_active": false })).await.is("200 published");
    author.run("shared", json!({ "p7": 1 })).await.is("409 TOOL_DISABLED");
    author_there.delete(&at("shared")).await.is("204");
    eventually("the other server hears that it is gone", SOON, async || {
        author.get(&at("shared")).await.verdict() == "404 TOOL_NOT_FOUND"
    })
    .await;
    publish(&author, "shared").await.is("404 TOOL_NOT_FOUND");
    author.post("/api/tools", &with(&echo("SHARED"), &json!({ "publish": true }))).await.is("201 published");
    there.run("shared", json!({ "a": 1 })).await.is("200 success");
}
