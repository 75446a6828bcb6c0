//! A row that cannot be read takes nothing but itself away.

use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, echo, execute, live, make, publish, with};
use crate::world::World;

on_both! {
    async fn row_that_cannot_be_read_takes_no_other_tool_with_it(db: TestDb) {
        let world = World::on(db).await;
        {
            let server = world.server();
            let author = world.client(&server, "acme", Role::Admin).await;
            for slug in ["sound", "torn", "unknown-kind", "bad-tags", "bad-version", "bad-live"] {
                live(&author, slug).await;
            }
            author
                .patch(&at("test.fail"), &json!({ "tags": ["x"], "is_active": false }))
                .await
                .is("200 published");
        }
        let of = |slug: &str, change: &str| format!("UPDATE tools SET {change} WHERE slug = '{slug}'");
        for sql in [
            of("torn", "definition = '{\"name\":', live = '{'"),
            of(
                "unknown-kind",
                "definition = replace(definition, '\"internal\"', '\"teleport\"'), live = replace(live, '\"internal\"', '\"teleport\"')",
            ),
            of("bad-tags", "tags = 'x'"),
            of("bad-version", "version = 'x', live_version = 'x'"),
            of("bad-live", "live = '7'"),
            of("test.fail", "tags = 'x'"),
        ] {
            execute(&world.db, &sql).await;
        }
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        member.run("sound", json!({ "a": 1 })).await.is("200 success");
        member.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        let listed = author.get("/api/tools?limit=200").await;
        assert_eq!(listed.status, 200, "{}", listed.text);
        assert!(listed.text.contains("\"sound\"") && !listed.text.contains("\"torn\""));
        let paged = author.get("/api/tools?limit=1&kind=tenant_custom").await.json();
        assert_eq!(paged["items"][0]["slug"], "sound", "{paged}");
        for slug in ["torn", "bad-tags", "bad-live"] {
            author.get(&at(slug)).await.is("404 TOOL_NOT_FOUND");
            author.run(slug, json!({ "a": 1 })).await.is("404 TOOL_NOT_FOUND");
        }
        for slug in ["unknown-kind", "bad-version"] {
            author.run(slug, json!({ "a": 1 })).await.is("500 INTERNAL");
        }
        // What nobody can read was perhaps a prohibition.
        member.run("test.fail", json!({ "message": "x" })).await.is("404 TOOL_NOT_FOUND");
        // Life goes on: others are made, changed and published.
        make(&author, &with(&echo("later"), &json!({ "aliases": ["later-too"] }))).await;
        publish(&author, "later-too").await.is("200 published");
        member.run("later", json!({ "a": 1 })).await.is("200 success");
        author.delete(&at("sound")).await.is("204");
    }
}
