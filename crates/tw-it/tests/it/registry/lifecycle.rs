//! From a draft to what runs, and out again.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{
    as_read, at, audited, call, count, echo, kinds, live, make, needing, number, publish, put, read, with,
};
use crate::world::World;

const KEYS: [&str; 45] = [
    "id",
    "slug",
    "name",
    "description",
    "category",
    "icon",
    "i18n",
    "tags",
    "kind",
    "origin",
    "scope",
    "tenant_id",
    "is_system",
    "builtin_key",
    "tool_type",
    "implementation_type",
    "execution_type",
    "status",
    "version",
    "published_at",
    "enabled",
    "is_active",
    "available",
    "visible",
    "is_async",
    "timeout_ms",
    "permission_level",
    "permission_policy",
    "required_permission",
    "tenant_slugs",
    "collaborative",
    "output_sections",
    "input_schema",
    "output_schema",
    "fields",
    "form_spec",
    "view_spec",
    "implementation",
    "execution",
    "execution_spec",
    "aliases",
    "etag",
    "has_draft",
    "revision",
    "unavailable_reason",
];

on_both! {
    async fn created_tool_is_a_draft_until_it_is_published(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let admin = world.client(&server, "acme", Role::Admin).await;

        let made = author.post("/api/tools", &echo("draft-one")).await;
        let told = as_read(made.is("201 draft"));
        assert_eq!(made.headers["location"], "/api/tools/draft-one");
        assert_eq!(made.headers["etag"].to_str().unwrap(), told["etag"].as_str().unwrap());
        let keys: BTreeSet<_> = told.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, BTreeSet::from(KEYS));
        for (key, value) in [
            ("kind", json!("tenant_custom")),
            ("origin", json!("database")),
            ("scope", json!("tenant")),
            ("tool_type", json!("custom")),
            ("implementation_type", json!("internal")),
            ("execution_type", json!("internal")),
            ("version", json!("1.0.0")),
            ("published_at", Value::Null),
            ("available", json!(false)),
            ("unavailable_reason", json!("draft")),
            ("enabled", json!(true)),
            ("is_active", json!(true)),
            ("permission_policy", Value::Null),
            ("has_draft", json!(true)),
            ("timeout_ms", json!(30_000)),
            ("visible", Value::Null),
            ("category", json!("general")),
            ("revision", json!(1)),
        ] {
            assert_eq!(told[key], value, "{key}");
        }
        for name in ["draft-one", "DRAFT-One", told["id"].as_str().unwrap()] {
            assert_eq!(read(&author, name).await, told, "{name}");
        }

        member.run("draft-one", json!({ "a": 1 })).await.is("409 TOOL_NOT_PUBLISHED");
        let debug = call(&author, "draft-one", &json!({ "input": { "a": 1 }, "mode": "debug" })).await;
        assert_eq!(debug.is("200 success").json()["output"], json!({ "success": true, "args": { "a": 1 } }));

        let published = publish(&author, "draft-one").await.is("200 published").json();
        assert_eq!((&published["available"], &published["has_draft"]), (&json!(true), &json!(false)));
        assert!(published["published_at"].is_string() && published["unavailable_reason"].is_null());
        let run = member.run("draft-one", json!({ "a": 2 })).await;
        let told = run.is("200 success").json();
        assert_eq!(told["output"], json!({ "success": true, "args": { "a": 2 } }));
        assert_eq!((&told["tool"], &told["version"]), (&json!("draft-one"), &json!("1.0.0")));
        assert_eq!(member.trail(told["run_id"].as_str().unwrap()).await, ["tool.started", "tool.completed"]);
        member.run("draft-one", json!({})).await.is("422 MISSING_PARAM");
        member.run("draft-one", json!({ "a": "x" })).await.is("422 INVALID_PARAMS");

        let again = publish(&author, "draft-one").await.is("200 published").json();
        assert_eq!(again["published_at"], published["published_at"], "the first time counts");
        assert_eq!(kinds(&author, "draft-one").await, ["publish", "publish", "save"]);
        assert_eq!(audited(&admin, "draft-one").await, ["tool.published", "tool.published", "tool.created"]);
    }

    async fn create_and_publish_is_one_action(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let made = live(&author, "at-once").await;
        assert!(made["published_at"].is_string());
        member.run("at-once", json!({ "a": 1 })).await.is("200 success");
        assert_eq!(kinds(&author, "at-once").await, ["publish", "save"]);

        for publish in [json!("yes"), json!(1)] {
            let body = with(&echo("not-at-once"), &json!({ "publish": publish }));
            author.post("/api/tools", &body).await.is("422 INVALID_PARAMS");
        }
        let changed = author.patch(&at("at-once"), &json!({ "name": "Anew", "publish": true })).await;
        assert_eq!(changed.is("200 published").json()["has_draft"], false);
        assert_eq!(read(&member, "at-once").await["name"], "Anew");
        assert_eq!(kinds(&author, "at-once").await, ["publish", "save", "publish", "save"]);
    }

    async fn nobody_writes_published_by_hand(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let published = json!({ "status": "published" });
        for body in [
            with(&echo("by-hand"), &published),
            with(&with(&echo("by-hand"), &published), &json!({ "publish": true })),
        ] {
            let refused = author.post("/api/tools", &body).await;
            assert!(refused.is("422 INVALID_PARAMS").text.contains("/publish"), "{}", refused.text);
        }
        author.get(&at("by-hand")).await.is("404 TOOL_NOT_FOUND");
        make(&author, &echo("by-hand")).await;
        for refused in
            [author.patch(&at("by-hand"), &published).await, put(&author, "by-hand", &published).await]
        {
            assert!(refused.is("422 INVALID_PARAMS").text.contains("/publish"), "{}", refused.text);
        }
        author.run("by-hand", json!({ "a": 1 })).await.is("409 TOOL_NOT_PUBLISHED");
        assert_eq!(kinds(&author, "by-hand").await, ["save"]);
    }

    async fn change_is_a_draft_on_top_of_what_runs(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "layered").await;

        let change = json!({ "input_schema": needing("b"), "name": "Second", "timeout_ms": 5000 });
        let changed = author.patch(&at("layered"), &change).await.is("200 published").json();
        assert_eq!((&changed["has_draft"], &changed["available"]), (&json!(true), &json!(true)));
        assert_eq!((&changed["name"], &changed["input_schema"]), (&json!("Second"), &needing("b")));
        let shown = read(&member, "layered").await;
        assert_eq!((&shown["name"], &shown["input_schema"]), (&json!("Echo"), &needing("a")));
        member.run("layered", json!({ "a": 1 })).await.is("200 success");
        member.run("layered", json!({ "b": 1 })).await.is("422 MISSING_PARAM");
        let debug = json!({ "input": { "b": 1 }, "mode": "debug" });
        call(&author, "layered", &debug).await.is("200 success");

        // A number is not yet a publication.
        let numbered = number(&author, "layered", "2.0.0").await.is("200 published").json();
        assert_eq!((&numbered["version"], &numbered["has_draft"]), (&json!("2.0.0"), &json!(true)));
        assert_eq!(read(&member, "layered").await["version"], "1.0.0");
        let first = member.run("layered", json!({ "a": 1 })).await;
        assert_eq!(first.is("200 success").text_at("/version"), "1.0.0");
        let second = json!({ "input": { "b": 1 }, "version": "2.0.0" });
        call(&member, "layered", &second).await.is("404 NOT_FOUND");
        call(&author, "layered", &with(&second, &json!({ "mode": "debug" }))).await.is("200 success");

        publish(&author, "layered").await.is("200 published");
        assert_eq!(
            member.run("layered", json!({ "b": 1 })).await.is("200 success").text_at("/version"),
            "2.0.0"
        );
        call(&member, "layered", &second).await.is("200 success");
        let pinned = json!({ "input": { "a": 1 }, "version": "1.0.0" });
        assert_eq!(call(&member, "layered", &pinned).await.is("200 success").text_at("/version"), "1.0.0");
        // Published again without a new number, the number stands for what was published last.
        author.patch(&at("layered"), &json!({ "input_schema": needing("c") })).await.is("200 published");
        call(&member, "layered", &second).await.is("200 success");
        publish(&author, "layered").await.is("200 published");
        let third = json!({ "input": { "c": 1 }, "version": "2.0.0" });
        call(&member, "layered", &third).await.is("200 success");
        call(&member, "layered", &second).await.is("422 MISSING_PARAM");
        call(&member, "layered", &pinned).await.is("200 success");
        for version in ["1.0.1", "9.9.9", "x", ""] {
            let body = json!({ "input": { "a": 1 }, "version": version });
            call(&member, "layered", &body).await.is("404 NOT_FOUND");
        }
    }

    async fn version_only_goes_up(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        make(&author, &with(&echo("numbered"), &json!({ "version": "1.2.0" }))).await;
        let before = (read(&author, "numbered").await, kinds(&author, "numbered").await);
        for same_or_lower in ["1.2.0", "1.1.9", "0.9.0", "1.2.0-rc.1", "1.2.0+build.7"] {
            number(&author, "numbered", same_or_lower).await.is("409 CONFLICT");
        }
        let long = format!("2.0.0-{}", "a".repeat(500));
        for no_number in ["1.2", "abc", "v2.0.0", "2.0.0.0", "02.0.0", &long] {
            number(&author, "numbered", no_number).await.is("422 INVALID_PARAMS");
        }
        for nothing in ["", " "] {
            number(&author, "numbered", nothing).await.is("422 MISSING_PARAM");
        }
        author.post("/api/tools/numbered/version", &json!({})).await.is("422 MISSING_PARAM");
        assert_eq!((read(&author, "numbered").await, kinds(&author, "numbered").await), before);

        for greater in ["1.2.1-rc.1", "1.2.1", "2.0.0+build.1"] {
            assert_eq!(
                number(&author, "numbered", greater).await.is("200 draft").text_at("/version"),
                greater
            );
        }
        assert_eq!(kinds(&author, "numbered").await, ["version", "version", "version", "save"]);
        for no_number in ["1.2", "x", &long] {
            let body = with(&echo("no-number"), &json!({ "version": no_number }));
            author.post("/api/tools", &body).await.is("422 INVALID_PARAMS");
        }
        let other = author.patch(&at("numbered"), &json!({ "version": "3.0.0" })).await;
        assert!(other.is("422 INVALID_PARAMS").text.contains("/version"), "{}", other.text);
    }

    async fn removed_tool_is_gone_and_its_slug_is_free_and_its_history_stays(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let first = live(&admin, "passing").await;
        let id = first["id"].as_str().unwrap().to_owned();
        let run = admin.run("passing", json!({ "a": 1 })).await.text_at("/run_id");

        admin.delete(&at("Passing")).await.is("204");

        for name in ["passing", &id] {
            admin.get(&at(name)).await.is("404 TOOL_NOT_FOUND");
            admin.run(name, json!({ "a": 1 })).await.is("404 TOOL_NOT_FOUND");
            publish(&admin, name).await.is("404 TOOL_NOT_FOUND");
            number(&admin, name, "2.0.0").await.is("404 TOOL_NOT_FOUND");
            admin.patch(&at(name), &json!({ "name": "x" })).await.is("404 TOOL_NOT_FOUND");
            admin.delete(&at(name)).await.is("404 TOOL_NOT_FOUND");
        }
        assert_eq!(admin.get("/api/tools?q=passing").await.json()["total"], 0);
        assert_eq!(admin.get(&format!("/api/runs/{run}")).await.json()["tool"], "passing");
        assert_eq!(audited(&admin, "passing").await, ["tool.removed", "tool.created_and_published"]);

        let second = live(&admin, "PASSING").await;
        assert_ne!(second["id"], first["id"]);
        assert_eq!((&second["slug"], &second["version"]), (&json!("PASSING"), &json!("1.0.0")));
        admin.run("passing", json!({ "a": 1 })).await.is("200 success");
        assert_eq!(
            kinds(&admin, "passing").await,
            ["publish", "save"],
            "a new tool has a history of its own"
        );
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM schema_versions").await, 2);
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM tool_versions").await, 2);
    }

    async fn clone_is_a_draft_of_its_own(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let body =
            with(&echo("original"), &json!({ "aliases": ["the-first"], "tags": ["x"], "version": "3.0.0" }));
        make(&author, &body).await;
        publish(&author, "original").await.is("200 published");
        let clone = async |body: Value| author.post("/api/tools/original/clone", &body).await;

        let copy = clone(json!({ "slug": "copy" })).await;
        let told = copy.is("201 draft").json();
        assert_eq!(copy.headers["location"], "/api/tools/copy");
        assert_eq!((&told["name"], &told["version"]), (&json!("Echo"), &json!("1.0.0")));
        assert_eq!((&told["aliases"], &told["tags"]), (&json!([]), &json!(["x"])));
        assert_eq!(told["input_schema"], needing("a"));
        assert_eq!(clone(json!({ "slug": "named", "name": "Other" })).await.text_at("/name"), "Other");
        author.patch(&at("copy"), &json!({ "name": "Changed" })).await.is("200 draft");
        assert_eq!(read(&author, "original").await["name"], "Echo");

        clone(json!({ "slug": "COPY" })).await.is("409 CONFLICT");
        clone(json!({ "slug": "test.echo" })).await.is("409 CONFLICT");
        clone(json!({})).await.is("422 MISSING_PARAM");
        for bad in [
            json!({ "slug": "no good" }),
            json!({ "slug": "x", "nmae": "y" }),
            json!({ "slug": "x", "name": "" }),
            json!({ "slug": "x", "name": "n".repeat(5000) }),
        ] {
            clone(bad).await.is("422 INVALID_PARAMS");
        }
        author.get(&at("x")).await.is("404 TOOL_NOT_FOUND");
        author.post("/api/tools/test.echo/clone", &json!({ "slug": "y" })).await.is("409 CONFLICT");
    }

    async fn stale_change_is_refused_and_leaves_nothing(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        live(&author, "guarded").await;
        author.patch("/api/tools/test.fail", &json!({ "icon": "a" })).await.is("200 published");
        let requests = [
            (Method::PATCH, "", json!({ "name": "Late" })),
            (Method::PUT, "", json!({ "name": "Late" })),
            (Method::POST, "/publish", json!({})),
            (Method::POST, "/version?new_version=9.0.0", json!({})),
            (Method::POST, "/versions/1/restore", json!({})),
            (Method::DELETE, "", Value::Null),
        ];
        let send = async |tool: &str, request: &(Method, &str, Value), etag: &str| {
            let sent = author.request(request.0.clone(), &format!("/api/tools/{tool}{}", request.1));
            let sent = sent.header("if-match", etag);
            author.send(if request.2.is_null() { sent } else { sent.json(&request.2) }).await
        };
        for tool in ["guarded", "test.fail"] {
            let old = read(&author, tool).await["etag"].as_str().unwrap().to_owned();
            author.patch(&at(tool), &json!({ "icon": "newer" })).await.is("200 published");
            let before = (read(&author, tool).await, kinds(&author, tool).await);
            for request in &requests {
                if tool == "test.fail" && request.0 == Method::POST {
                    continue;
                }
                for etag in [&old, "\"never\"", "never", "\"\""] {
                    send(tool, request, etag).await.is("412 PRECONDITION_FAILED");
                }
            }
            assert_eq!((read(&author, tool).await, kinds(&author, tool).await), before);
            for request in &requests {
                if tool == "test.fail" && request.0 == Method::POST {
                    continue;
                }
                let now = author.get(&at(tool)).await.headers["etag"].to_str().unwrap().to_owned();
                let answer = send(tool, request, &now).await;
                assert!(answer.status.is_success(), "{request:?}: {}", answer.text);
            }
        }
        // A number of a state is not used for another one.
        let one = author.patch("/api/tools/test.fail", &json!({ "icon": "one" })).await.text_at("/etag");
        author.delete(&at("test.fail")).await.is("204");
        let two = author.patch("/api/tools/test.fail", &json!({ "icon": "two" })).await.text_at("/etag");
        assert_ne!(one, two);
    }

    async fn repeated_write_is_made_once_and_answers_the_same(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let steps = [
            (Method::POST, "/api/tools", echo("once")),
            (Method::PATCH, "/api/tools/once", json!({ "name": "Twice" })),
            (Method::PUT, "/api/tools/once", json!({ "name": "Thrice" })),
            (Method::POST, "/api/tools/once/publish", json!({})),
            (Method::POST, "/api/tools/once/version?new_version=2.0.0", json!({})),
            (Method::POST, "/api/tools/once/versions/1/restore", json!({})),
            (Method::POST, "/api/tools/once/clone", json!({ "slug": "another" })),
            (Method::DELETE, "/api/tools/once", Value::Null),
        ];
        for (index, (method, path, body)) in steps.iter().enumerate() {
            let send = async |body: &Value| {
                let request =
                    author.request(method.clone(), path).header("idempotency-key", format!("key-{index}"));
                author.send(if body.is_null() { request } else { request.json(body) }).await
            };
            let first = send(body).await;
            assert!(first.status.is_success(), "{method} {path}: {}", first.text);
            let again = send(body).await;
            assert_eq!((again.status, &again.text), (first.status, &first.text), "{method} {path}");
            assert_eq!(again.headers.get("etag"), first.headers.get("etag"), "{method} {path}");
            assert_eq!(again.headers.get("location"), first.headers.get("location"), "{method} {path}");
            if *method != Method::DELETE {
                let mut other = body.clone();
                other["x_other"] = json!(true);
                send(&other).await.is("409 IDEMPOTENCY_MISMATCH");
            }
        }
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM schema_versions").await, 5);
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM tool_versions").await, 2);
    }
}
