//! What takes effect at once, whatever version is live.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, call, kinds, live, number, publish, put, read, with};
use crate::world::{Client, World};

/// What a change of switches does to callers.
async fn told(member: &Client, author: &Client, slug: &str) -> (String, String, Value) {
    let shown = read(author, slug).await;
    let debug = call(author, slug, &json!({ "input": { "a": 1 }, "mode": "debug" })).await.verdict();
    let run = member.run(slug, json!({ "a": 1 })).await.verdict();
    (run, debug, json!([shown["available"], shown["unavailable_reason"]]))
}

on_both! {
    async fn switches_hold_at_once_and_say_why(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "toggled").await;
        let fine = ("200 success".to_owned(), "200 success".to_owned(), json!([true, null]));
        assert_eq!(told(&member, &author, "toggled").await, fine);

        for (off, on, refused, reason) in [
            (json!({ "enabled": false }), json!({ "enabled": true }), "404 TOOL_NOT_FOUND", "switched_off"),
            (json!({ "enabled": false }), json!({ "enabled": null }), "404 TOOL_NOT_FOUND", "switched_off"),
            (json!({ "is_active": false }), json!({ "is_active": null }), "409 TOOL_DISABLED", "inactive"),
            (json!({ "isActive": false }), json!({ "isActive": true }), "409 TOOL_DISABLED", "inactive"),
            (
                json!({ "tenant_slugs": ["globex"] }),
                json!({ "tenant_slugs": ["globex", "acme"] }),
                "404 TOOL_NOT_FOUND",
                "not_for_this_tenant",
            ),
            (
                json!({ "tenant_slugs": ["acm"] }),
                json!({ "tenant_slugs": [] }),
                "404 TOOL_NOT_FOUND",
                "not_for_this_tenant",
            ),
        ] {
            author.patch(&at("toggled"), &off).await.is("200 published");
            let (run, debug, shown) = told(&member, &author, "toggled").await;
            assert_eq!((run.as_str(), debug.as_str()), (refused, refused), "{off}");
            assert_eq!(shown, json!([false, reason]), "{off}");
            let hidden = refused.starts_with("404");
            assert_eq!(member.get(&at("toggled")).await.status == 404, hidden, "{off}");
            assert_eq!(member.get("/api/tools?q=toggled").await.json()["total"], i32::from(!hidden), "{off}");
            assert_eq!(author.get("/api/tools?q=toggled").await.json()["total"], 1, "{off}");
            // Whoever saves what they read relaxes nothing.
            put(&author, "toggled", &read(&author, "toggled").await).await.is("200 published");
            assert_eq!(told(&member, &author, "toggled").await, (run, debug, shown), "{off}");

            author.patch(&at("toggled"), &on).await.is("200 published");
            assert_eq!(told(&member, &author, "toggled").await, fine, "{on}");
        }
        let both = json!({ "enabled": false, "tenant_slugs": ["globex"] });
        author.patch(&at("toggled"), &both).await.is("200 published");
        assert_eq!(read(&author, "toggled").await["enabled"], false);
        put(&author, "toggled", &read(&author, "toggled").await).await.is("200 published");
        author.patch(&at("toggled"), &json!({ "tenant_slugs": [] })).await.is("200 published");
        member.run("toggled", json!({ "a": 1 })).await.is("404 TOOL_NOT_FOUND");
        assert_eq!(read(&author, "toggled").await["has_draft"], false, "switches are no part of a version");
    }

    async fn status_ends_and_comes_back_by_its_own_ways(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "ageing").await;
        author.patch(&at("ageing"), &json!({ "status": "deprecated" })).await.is("200 deprecated");
        let refused = member.run("ageing", json!({ "a": 1 })).await;
        assert!(refused.is("409 TOOL_NOT_PUBLISHED").text.contains("deprecated"));
        let (_, debug, shown) = told(&member, &author, "ageing").await;
        assert_eq!((debug.as_str(), shown), ("409 TOOL_NOT_PUBLISHED", json!([false, "deprecated"])));
        let pinned = json!({ "input": { "a": 1 }, "version": "1.0.0" });
        call(&member, "ageing", &pinned).await.is("409 TOOL_NOT_PUBLISHED");
        author.patch(&at("ageing"), &json!({ "status": "published" })).await.is("422 INVALID_PARAMS");
        publish(&author, "ageing").await.is("200 published");
        member.run("ageing", json!({ "a": 1 })).await.is("200 success");

        author.patch(&at("ageing"), &json!({ "status": "disabled" })).await.is("200 disabled");
        let (run, debug, shown) = told(&member, &author, "ageing").await;
        assert_eq!((run.as_str(), debug.as_str()), ("409 TOOL_DISABLED", "409 TOOL_DISABLED"));
        assert_eq!(shown, json!([false, "disabled"]));
        call(&member, "ageing", &pinned).await.is("409 TOOL_DISABLED");
        author.patch(&at("ageing"), &json!({ "status": "draft" })).await.is("200 draft");
        member.run("ageing", json!({ "a": 1 })).await.is("409 TOOL_NOT_PUBLISHED");
        call(&author, "ageing", &json!({ "input": { "a": 1 }, "mode": "debug" })).await.is("200 success");
        for word in ["deprecated", "Published", "gone"] {
            author.patch(&at("ageing"), &json!({ "status": word })).await.is("422 INVALID_PARAMS");
        }
        publish(&author, "ageing").await.is("200 published");
        author.patch(&at("ageing"), &json!({ "status": "draft" })).await.is("422 INVALID_PARAMS");
        number(&author, "ageing", "1.1.0").await.is("200 published");
        assert_eq!(kinds(&author, "ageing").await[0], "version");
    }

    async fn policy_and_tags_hold_at_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        live(&author, "asked").await;
        agent.run("asked", json!({ "a": 1 })).await.is("200 success");

        let ask = json!({ "permission_policy": "always_ask", "tags": ["careful"] });
        let shown = author.patch(&at("asked"), &ask).await.is("200 published").json();
        assert_eq!((&shown["has_draft"], &shown["permission_policy"]), (&json!(false), &json!("always_ask")));
        assert_eq!(read(&agent, "asked").await["tags"], json!(["careful"]));
        agent.run("asked", json!({ "a": 1 })).await.is("202 needs_approval");
        author.patch(&at("asked"), &json!({ "permission_policy": null })).await.is("200 published");
        agent.run("asked", json!({ "a": 1 })).await.is("200 success");

        // The level is part of the definition: what was let through stays so until somebody publishes.
        author.patch(&at("asked"), &json!({ "permission_level": "write" })).await.is("200 published");
        agent.run("asked", json!({ "a": 1 })).await.is("200 success");
        publish(&author, "asked").await.is("200 published");
        agent.run("asked", json!({ "a": 1 })).await.is("202 needs_approval");
        let shown = read(&author, "asked").await;
        assert_eq!(shown["permission_policy"], Value::Null, "derived, and said so");
        put(&author, "asked", &shown).await.is("200 published");
        agent.run("asked", json!({ "a": 1 })).await.is("202 needs_approval");
        for (key, value) in [
            ("permission_policy", json!("never")),
            ("permission_level", json!("harmless")),
            ("tags", json!([""])),
        ] {
            author.patch(&at("asked"), &json!({ key: value })).await.is("422 INVALID_PARAMS");
        }
    }

    async fn tool_that_needs_a_permission_is_there_for_its_author_and_those_who_hold_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        {
            let slug = "for-admins";
            let right = json!({ "required_permission": "settings.tenant.write", "publish": true });
            let body = with(&super::echo(slug), &right);
            let made = author.post("/api/tools", &body).await.is("201 published").json();
            assert_eq!(
                (&made["available"], &made["unavailable_reason"]),
                (&json!(false), &json!("not_permitted"))
            );
            author.run(slug, json!({ "a": 1 })).await.is("403 NOT_PERMITTED");
            member.run(slug, json!({ "a": 1 })).await.is("403 NOT_PERMITTED");
            member.get(&at(slug)).await.is("404 TOOL_NOT_FOUND");
            assert_eq!(member.get(&format!("/api/tools?q={slug}")).await.json()["total"], 0);
            admin.delete(&at(slug)).await.is("204");
            author.post("/api/tools", &body).await.is("201 published");
        }
        admin.run("for-admins", json!({ "a": 1 })).await.is("200 success");
        for bad in ["", "Not A Permission", "a b.c", "moon.base.land", "tools.tenant.rum"] {
            let body = with(&super::echo("odd"), &json!({ "required_permission": bad }));
            author.post("/api/tools", &body).await.is("422 INVALID_PARAMS");
        }
        let typo = json!({ "required_permission": "tools.tenant.rum" });
        let refused = author.patch(&at("for-admins"), &typo).await;
        assert!(refused.text.contains("tools.tenant.run"), "{}", refused.text);
    }

    async fn what_cannot_be_meant_is_refused_when_it_is_saved(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let pure = json!({ "is_pure": true });
        for (wrong, place) in [
            (json!({ "tenant_slugs": ["acme", "Not A Tenant"] }), "/tenant_slugs/1"),
            (json!({ "execution": pure, "permission_level": "write" }), "/execution/is_pure"),
            (json!({ "execution": pure, "permission_level": "destructive" }), "/execution/is_pure"),
        ] {
            let refused = author.post("/api/tools", &with(&super::echo("wrong"), &wrong)).await;
            assert_eq!(refused.is("422 INVALID_PARAMS").json()["errors"][0]["path"], place, "{}", refused.text);
        }
        let body = with(&super::echo("pure"), &json!({ "execution": pure, "permission_level": "read" }));
        author.post("/api/tools", &body).await.is("201 draft");
        let raised = author.patch(&at("pure"), &json!({ "permission_level": "write" })).await;
        assert_eq!(raised.is("422 INVALID_PARAMS").json()["errors"][0]["path"], "/execution/is_pure");
        let shown = author.get(&at("pure")).await.json();
        assert_eq!((&shown["is_system"], &shown["visible"]), (&json!(false), &json!(null)));
        assert!(shown["tenant_id"].is_string() && shown["builtin_key"].is_null(), "{shown}");
        author.send(author.request(reqwest::Method::PUT, &at("pure")).json(&shown)).await.is("200 draft");
    }
}
