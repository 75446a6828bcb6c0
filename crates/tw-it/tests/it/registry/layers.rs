//! What a tenant has: the program's tools, what everybody is told about them, what the tenant says on top, and
//! its own.

use serde_json::{Value, json};
use tw_model::Role;
use tw_store::{By, Override};
use tw_test::{TestDb, on_both};

use super::{as_read, at, audited, count, echo, live, make, read, with};
use crate::world::{Client, World, eventually};

async fn for_everybody(world: &World, tool: &str, enabled: Option<bool>) {
    let layer = Override { enabled, ..Override::default() };
    world.store().set_for_everybody(&tool.parse().unwrap(), layer, &By::operator()).await.unwrap();
}

async fn becomes(who: &Client, tool: &str, verdict: &str) {
    let input = json!({ "message": "hello" });
    eventually(verdict, std::time::Duration::from_secs(10), async || {
        who.run(tool, input.clone()).await.verdict() == verdict
    })
    .await;
}

on_both! {
    async fn every_layer_is_there_once_and_says_which_it_is(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let ours = world.client(&server, "acme", Role::Admin).await;
        let theirs = world.client(&server, "globex", Role::Admin).await;
        assert_eq!(
            count(&world.db, "SELECT COUNT(*) FROM tools").await,
            0,
            "tools of the program are not rows"
        );
        let code = read(&ours, "test.echo").await;
        for (key, value) in [
            ("kind", "code"),
            ("origin", "code"),
            ("scope", "global"),
            ("tool_type", "built_in"),
            ("status", "published"),
        ] {
            assert_eq!(code[key], value, "{key}");
        }
        let change =
            json!({ "name": "Ours", "description": "As we see it.", "tags": ["x"], "is_active": false });
        ours.patch("/api/tools/TEST.Echo", &change).await.is("200 published");
        live(&ours, "mine").await;

        for path in [
            "/api/tools?limit=200",
            "/api/tools?limit=200&kind=system_override",
            "/api/tools?kind=tenant_custom",
        ] {
            let listed = ours.get(path).await.json();
            for item in listed["items"].as_array().unwrap() {
                let whole = read(&ours, item["slug"].as_str().unwrap()).await;
                for (key, value) in item.as_object().unwrap() {
                    assert_eq!(&whole[key], value, "{key}");
                }
                assert!(item.get("input_schema").is_none() && item.get("implementation").is_none());
            }
            let slugs: Vec<_> =
                listed["items"].as_array().unwrap().iter().map(|item| &item["slug"]).collect();
            let mut once = slugs.clone();
            once.dedup();
            assert_eq!(slugs.len(), once.len());
        }
        let laid = read(&ours, "test.echo").await;
        assert_eq!(
            (&laid["kind"], &laid["id"], &laid["name"]),
            (&json!("system_override"), &code["id"], &json!("Ours"))
        );
        assert_eq!(laid["input_schema"], code["input_schema"]);
        ours.run("test.echo", json!({ "value": 1 })).await.is("409 TOOL_DISABLED");
        assert_eq!(read(&theirs, "test.echo").await, code);
        theirs.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        theirs.get(&at("mine")).await.is("404 TOOL_NOT_FOUND");

        let total = async |query: &str| {
            ours.get(&format!("/api/tools?{query}")).await.json()["total"].as_i64().unwrap()
        };
        for (query, wanted) in [
            ("kind=tenant_custom", 1),
            ("kind=system_override", 1),
            ("origin=database", 1),
            ("tool_type=custom", 1),
            ("implementation_type=internal", 1),
            ("category=general&kind=tenant_custom", 1),
            ("q=mine", 1),
            ("q=gives+back+mine", 1),
            ("q=mine+nothing", 0),
            ("origin=mcp", 0),
            ("status=draft", 0),
            ("kind=tenant_custom&available=true", 1),
            ("kind=tenant_custom&available=false", 0),
        ] {
            assert_eq!(total(query).await, wanted, "{query}");
        }
        for bad in ["kind=other", "status=gone", "origin=moon", "available=maybe"] {
            ours.get(&format!("/api/tools?{bad}")).await.is("422 INVALID_PARAMS");
        }

        ours.delete("/api/tools/test.echo").await.is("204");
        let mut back = read(&ours, "test.echo").await;
        back["etag"] = code["etag"].clone();
        assert_eq!(back, code);
        ours.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        ours.delete("/api/tools/test.echo").await.is("409 CONFLICT");
        assert_eq!(audited(&ours, "test.echo").await, ["tool.override_removed", "tool.overridden"]);
    }

    async fn switch_matrix_of_system_and_other_tools(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let other = world.client(&server, "globex", Role::Member).await;
        let opt_out = "test.append";
        for (tool, row, visible) in [
            ("test.optin", Value::Null, false),
            ("test.optin", json!(true), true),
            ("test.optin", json!(false), false),
            (opt_out, Value::Null, true),
            (opt_out, json!(true), true),
            (opt_out, json!(false), false),
        ] {
            let answer = admin.patch(&at(tool), &json!({ "enabled": row })).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            let run = member.run(tool, json!({ "message": "x" })).await.verdict();
            assert_eq!(run, if visible { "200 success" } else { "404 TOOL_NOT_FOUND" }, "{tool} {row}");
            assert_eq!(member.get(&at(tool)).await.status == 200, visible, "{tool} {row}");
            let shown = read(&admin, tool).await;
            assert_eq!(
                (&shown["available"], &shown["enabled"]),
                (&json!(visible), &json!(visible)),
                "{tool} {row}"
            );
            assert_eq!(shown["unavailable_reason"].is_null(), visible, "{tool} {row}");
        }
        other.run(opt_out, json!({ "message": "x" })).await.is("200 success");
        other.run("test.optin", json!({ "message": "x" })).await.is("404 TOOL_NOT_FOUND");

        // The word to everybody: on for all, off for all, and a tenant can say no but not yes on top.
        admin.patch(&at("test.optin"), &json!({ "enabled": null })).await.is("200 published");
        for_everybody(&world, "test.optin", Some(true)).await;
        becomes(&member, "test.optin", "200 success").await;
        becomes(&other, "test.optin", "200 success").await;
        admin.patch(&at("test.optin"), &json!({ "enabled": false })).await.is("200 published");
        member.run("test.optin", json!({ "message": "x" })).await.is("404 TOOL_NOT_FOUND");
        other.run("test.optin", json!({ "message": "x" })).await.is("200 success");
        for_everybody(&world, opt_out, Some(false)).await;
        becomes(&other, opt_out, "404 TOOL_NOT_FOUND").await;
        admin.patch(&at(opt_out), &json!({ "enabled": true })).await.is("200 published");
        member.run(opt_out, json!({ "message": "x" })).await.is("404 TOOL_NOT_FOUND");

        // A list that does not name the tenant hides the tool whatever the switches say.
        let stranger = world.client(&server, "globex", Role::Admin).await;
        stranger.patch(&at("test.private"), &json!({ "enabled": true })).await.is("404 TOOL_NOT_FOUND");
        for_everybody(&world, "test.private", Some(true)).await;
        becomes(&member, "test.private", "200 success").await;
        other.run("test.private", json!({ "message": "x" })).await.is("404 TOOL_NOT_FOUND");
    }

    async fn own_tool_never_stands_before_one_of_the_program_that_is_seen(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let ours = world.client(&server, "acme", Role::Admin).await;
        let theirs = world.client(&server, "globex", Role::Admin).await;
        for slug in ["test.echo", "TEST.echo", "test.private", "test.optin"] {
            ours.post("/api/tools", &echo(slug)).await.is("409 CONFLICT");
            let aliased = with(&echo("beside"), &json!({ "aliases": [slug] }));
            ours.post("/api/tools", &aliased).await.is("409 CONFLICT");
        }
        ours.patch("/api/tools/test.echo", &json!({ "enabled": false })).await.is("200 published");
        ours.post("/api/tools", &echo("test.echo")).await.is("409 CONFLICT");
        ours.get(&at("beside")).await.is("404 TOOL_NOT_FOUND");

        // One of other tenants takes no name away, or its being there would be told.
        live(&theirs, "test.private").await;
        theirs.run("test.private", json!({ "a": 1 })).await.is("200 success");
        for_everybody(&world, "test.private", Some(true)).await;
        eventually("the word is heard", std::time::Duration::from_secs(10), async || {
            ours.get("/api/tools?q=test.private").await.json()["items"][0]["enabled"] == true
        })
        .await;
        theirs.patch(&at("test.fail"), &json!({ "icon": "x" })).await.is("200 published");
        theirs.run("test.private", json!({ "a": 1 })).await.is("200 success");
        assert_eq!(read(&theirs, "test.private").await["kind"], "tenant_custom");
        ours.run("test.private", json!({ "message": "x" })).await.is("200 success");
        theirs.delete(&at("test.private")).await.is("204");
        theirs.get(&at("test.private")).await.is("404 TOOL_NOT_FOUND");
        let aliased = with(&echo("other-name"), &json!({ "aliases": ["test.private"], "publish": true }));
        theirs.post("/api/tools", &aliased).await.is("201 published");
        theirs.run("test.private", json!({ "a": 1 })).await.is("200 success");
        // And what one tenant has takes nothing from another.
        live(&ours, "other-name").await;
    }

    async fn list_goes_on_where_it_was_although_a_tool_is_gone(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        for slug in ["a-1", "a-2", "a-3", "a-4"] {
            make(&author, &echo(slug)).await;
        }
        let page =
            async |rest: &str| author.get(&format!("/api/tools?kind=tenant_custom&limit=1{rest}")).await;
        let mut path = String::new();
        for slug in ["a-1", "a-2", "a-3", "a-4"] {
            let answer = page(&path).await;
            assert_eq!(answer.text_at("/items/0/slug"), slug);
            path = format!("&cursor={}", answer.json()["next_cursor"].as_str().unwrap_or_default());
            author.delete(&at(slug)).await.is("204");
        }
    }

    async fn alias_finds_the_tool_and_belongs_to_one(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let stranger = world.client(&server, "globex", Role::Builder).await;
        let body = with(&echo("main-name"), &json!({ "aliases": ["other.name", "Third"], "publish": true }));
        let made = as_read(author.post("/api/tools", &body).await.is("201 published"));
        for alias in ["other.name", "OTHER.name", "third"] {
            assert_eq!(read(&author, alias).await, made, "{alias}");
            let run = author.run(alias, json!({ "a": 1 })).await;
            assert_eq!(run.is("200 success").text_at("/tool"), "main-name");
        }
        stranger.get(&at("third")).await.is("404 TOOL_NOT_FOUND");
        author.post("/api/tools", &echo("THIRD")).await.is("409 CONFLICT");
        for taken in ["third", "main-name"] {
            author
                .post("/api/tools", &with(&echo("second"), &json!({ "aliases": [taken] })))
                .await
                .is("409 CONFLICT");
        }
        make(&author, &echo("second")).await;
        author.patch(&at("second"), &json!({ "aliases": ["third"] })).await.is("409 CONFLICT");
        for bad in [
            json!(["main-name"]),
            json!(["no good"]),
            json!(["new"]),
            json!("third"),
            json!([made["id"]]),
            json!(["аlias"]),
        ] {
            author.patch(&at("main-name"), &json!({ "aliases": bad })).await.is("422 INVALID_PARAMS");
        }
        author
            .patch(&at("main-name"), &json!({ "aliases": ["other.name"], "publish": true }))
            .await
            .is("200 published");
        author.get(&at("third")).await.is("404 TOOL_NOT_FOUND");
        author.patch(&at("second"), &json!({ "aliases": ["third"] })).await.is("200 draft");
        author.delete(&at("other.name")).await.is("204");
        author.get(&at("other.name")).await.is("404 TOOL_NOT_FOUND");
        make(&author, &echo("other.name")).await;
    }

    async fn override_changes_what_is_seen_and_never_what_runs(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let before = read(&admin, "test.write").await;
        for (key, value) in [
            ("input_schema", json!({ "type": "object" })),
            ("output_schema", json!({ "type": "object" })),
            ("implementation", json!({ "url": "x" })),
            ("implementation_type", json!("internal")),
            ("fields", json!([{ "name": "x", "type": "text" }])),
            ("aliases", json!(["w"])),
            ("slug", json!("other")),
            ("version", json!("2.0.0")),
            ("tenant_slugs", json!(["acme"])),
            ("required_permission", json!("a.b.c")),
            ("permission_level", json!("read")),
            ("execution", json!({ "is_pure": true })),
            ("is_async", json!(true)),
            ("publish", json!(true)),
            ("status", json!("draft")),
            ("form_spec", json!({ "fields": [] })),
            ("execution_spec", json!({ "kind": "prompt" })),
            ("unheard_of", json!(1)),
            ("timeout_ms", json!(0)),
            ("name", json!("")),
            ("name", json!("\u{200b}")),
            ("name", json!("a\u{202e}b")),
            ("scope", json!("tenant")),
            ("kind", json!("tenant_custom")),
        ] {
            let refused = admin.patch(&at("test.write"), &json!({ "name": "Half", key: value })).await;
            assert_eq!(refused.verdict(), "422 INVALID_PARAMS", "{key}: {}", refused.text);
            assert!(refused.text.contains(key), "{key}: {}", refused.text);
        }
        assert_eq!(read(&admin, "test.write").await, before, "nothing half-written");
        for action in ["publish", "version?new_version=2.0.0", "versions/1/restore"] {
            admin.post(&format!("/api/tools/test.write/{action}"), &json!({})).await.is("409 CONFLICT");
        }
        admin
            .patch(&at("test.write"), &json!({ "permission_level": "destructive" }))
            .await
            .is("200 published");
        assert_eq!(read(&admin, "test.write").await["permission_level"], "destructive");
    }
}
