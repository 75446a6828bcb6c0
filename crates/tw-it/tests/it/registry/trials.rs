//! Trying a tool before anybody else can run it: what was saved last, and what is not saved at all.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, call, count, echo, live, make, needing, publish, read, with};
use crate::world::{Answer, Client, World};

async fn try_out(who: &Client, slug: &str, body: &Value) -> Answer {
    who.post(&format!("/api/tools/{slug}/test"), body).await
}

on_both! {
    async fn draft_is_tried_by_its_authors_and_by_nobody_else(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "tried").await;
        author.patch(&at("tried"), &json!({ "input_schema": needing("b") })).await.is("200 published");

        let run = try_out(&author, "tried", &json!({ "input": { "b": 1 } })).await.is("200 success").json();
        assert_eq!(run["output"]["args"], json!({ "b": 1 }));
        let record = author.get(&format!("/api/runs/{}", run["run_id"].as_str().unwrap())).await.json();
        assert_eq!((&record["mode"], &record["tool"]), (&json!("debug"), &json!("tried")));

        try_out(&member, "tried", &json!({ "input": { "b": 1 } })).await.is("403 NOT_PERMITTED");
        let debug = json!({ "input": { "b": 1 }, "mode": "debug" });
        call(&member, "tried", &debug).await.is("403 NOT_PERMITTED");
        member.run("tried", json!({ "a": 1 })).await.is("200 success");
        publish(&author, "tried").await.is("200 published");
        call(&member, "tried", &debug).await.is("200 success");
    }

    async fn unsaved_definition_runs_and_leaves_nothing_behind(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let saved = live(&author, "kept").await;

        let change = json!({ "input": { "c": 3 }, "definition": { "input_schema": needing("c") } });
        let run = try_out(&author, "kept", &change).await.is("200 success").json();
        assert_eq!(run["output"]["args"], json!({ "c": 3 }));
        assert_eq!(read(&author, "kept").await, saved, "trying changes nothing");

        let new = json!({ "input": { "a": 1 }, "definition": echo("not-yet") });
        try_out(&author, "not-yet", &new).await.is("200 success");
        let mut nameless = new.clone();
        nameless["definition"].as_object_mut().unwrap().remove("slug");
        try_out(&author, "not-yet", &nameless).await.is("200 success");
        author.get(&at("not-yet")).await.is("404 TOOL_NOT_FOUND");
        try_out(&author, "not-yet", &json!({ "input": { "a": 1 } })).await.is("404 TOOL_NOT_FOUND");
        assert_eq!(count(&world.db, "SELECT count(*) FROM tools").await, 1);
    }

    async fn unsaved_definition_is_refused_as_it_would_be_when_saved(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        make(&author, &echo("held")).await;

        let faulty = json!({ "definition": { "timeout_ms": 0, "input_schema": { "type": "array" }, "nothing": 1 } });
        let refused = try_out(&author, "held", &faulty).await.is("422 INVALID_PARAMS").json();
        let paths: Vec<_> = refused["errors"].as_array().unwrap().iter().map(|fault| &fault["path"]).collect();
        assert!(paths.iter().all(|path| path.as_str().unwrap().starts_with("/definition/")), "{paths:?}");

        let other = with(&echo("elsewhere"), &json!({}));
        let refused = try_out(&author, "here", &json!({ "definition": other })).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").json()["errors"][0]["path"], "/definition/slug");
        let code = json!({ "definition": { "name": "Mine" }, "input": { "value": 1 } });
        try_out(&author, "test.echo", &code).await.is("409 CONFLICT");
        try_out(&author, "test.echo", &json!({ "input": { "value": 1 } })).await.is("200 success");
        try_out(&author, "held", &json!({ "input": { "a": 1 }, "definition": { "is_active": false } }))
            .await
            .is("409 TOOL_DISABLED");
        try_out(&agent, "held", &json!({ "input": { "a": 1 } })).await.is("403 NOT_PERMITTED");
        assert_eq!(count(&world.db, "SELECT count(*) FROM approvals").await, 0);
    }
}
