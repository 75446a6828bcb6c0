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
        author.run("bad-version", json!({ "a": 1 })).await.is("500 INTERNAL");
        // What nobody can read was perhaps a prohibition.
        member.run("test.fail", json!({ "message": "x" })).await.is("404 TOOL_NOT_FOUND");
        // Life goes on: others are made, changed and published.
        make(&author, &with(&echo("later"), &json!({ "aliases": ["later-too"] }))).await;
        publish(&author, "later-too").await.is("200 published");
        member.run("later", json!({ "a": 1 })).await.is("200 success");
        author.delete(&at("sound")).await.is("204");
    }

    /// As in a rolling upgrade: the row was written by a newer program.
    async fn tool_of_an_unknown_kind_is_shown_and_can_be_switched_off(db: TestDb) {
        let world = World::on(db).await;
        {
            let server = world.server();
            let author = world.client(&server, "acme", Role::Admin).await;
            live(&author, "newer").await;
            live(&author, "sound").await;
        }
        let newer = "UPDATE tools SET definition = replace(definition, '\"internal\"', '\"teleport\"'),
                     live = replace(live, '\"internal\"', '\"teleport\"') WHERE slug = 'newer'";
        execute(&world.db, newer).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;

        let shown = author.get(&at("newer")).await.json();
        assert_eq!(
            (&shown["available"], &shown["unavailable_reason"], &shown["implementation_type"]),
            (&json!(false), &json!("unknown_kind"), &json!("teleport"))
        );
        let listed = author.get("/api/tools?implementation_type=teleport").await.json();
        assert_eq!(listed["items"][0]["unavailable_reason"], "unknown_kind", "{listed}");
        for client in [&author, &agent] {
            let refused = client.run("newer", json!({ "a": 1 })).await;
            assert!(refused.is("409 TOOL_DISABLED").text.contains("`teleport`"), "{}", refused.text);
        }
        let why = author.get("/api/tools/newer/explain").await.is("200").json();
        assert_eq!(
            (&why["callable"], &why["decision"], &why["rule"]),
            (&json!(false), &json!("deny"), &json!("known_kind")),
            "{why}"
        );
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let over_mcp = agent.post("/mcp", &list).await;
        assert!(over_mcp.text.contains("\"sound\"") && !over_mcp.text.contains("newer"), "{}", over_mcp.text);
        let off = author.patch(&at("newer"), &json!({ "enabled": false, "tags": ["x"] })).await;
        assert_eq!(off.is("200 published").json()["unavailable_reason"], "switched_off");
        author.run("newer", json!({ "a": 1 })).await.is("404 TOOL_NOT_FOUND");
        author.patch(&at("newer"), &json!({ "enabled": null, "is_active": false })).await.is("200 published");
        author.run("newer", json!({ "a": 1 })).await.is("409 TOOL_DISABLED");
        author.patch(&at("newer"), &json!({ "description": "Anew." })).await.is("422 INVALID_PARAMS");
        assert_eq!(author.get(&at("newer")).await.json()["implementation_type"], "teleport");
        author.delete(&at("newer")).await.is("204");
    }
}
