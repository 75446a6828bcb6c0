//! Saving: what was read can be sent back, and a part of it can be sent alone.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use super::{at, echo, faults, history, live, make, needing, publish, put, read, with};
use crate::world::World;

/// What a save may move although it changes nothing.
fn lasting(tool: &Value) -> Value {
    let mut tool = tool.clone();
    for key in ["etag", "revision", "warnings"] {
        tool.as_object_mut().unwrap().remove(key);
    }
    tool
}

on_both! {
    async fn clients_own_members_are_taken_at_every_level_and_not_kept(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let own = json!({
            "x_own_a": 1, "execution": { "is_pure": true, "x_own_b": 1 }, "implementation_type": "http",
            "implementation": { "url": "https://h.test/", "x_own_c": 1, "retry": { "max": 1, "x_own_d": {} }, "headers": { "x_kept": "{{ input.a }}" } },
            "fields": [{ "name": "a", "type": "text", "x_own_e": 1 }], "form_spec": { "version": 2, "fields": [{ "path": "/a", "x_own_f": 1 }] },
        });
        let mut body = with(&echo("own"), &own);
        body.as_object_mut().unwrap().remove("input_schema");
        author.post("/api/tools", &body).await.is("201 draft");
        author.patch(&at("own"), &own).await.is("200 draft");
        let read = author.get(&at("own")).await;
        assert!(read.text.contains("x_kept") && !read.text.contains("x_own"), "{}", read.text);
        let case = json!({ "name": "One", "expect": { "status": "error", "x_own_g": 1 } });
        let made = author.post(&format!("{}/tests", at("own")), &case).await;
        assert!(made.status == 201 && !made.text.contains("x_own"), "{}", made.text);
        let chain = json!({ "implementation_type": "composition", "execution_spec": { "kind": "composition", "x_own_h": 1,
            "steps": [{ "id": "s", "tool": "own", "input": { "x_kept": 1 }, "x_own_i": 1 }] } });
        let made = author.post("/api/tools", &with(&echo("chain"), &chain)).await;
        made.is("201 draft");
        assert!(made.text.contains("x_kept") && !made.text.contains("x_own"), "{}", made.text);
        // Others are refused as before.
        for wrong in [json!({ "execution": { "zz": 1 } }), json!({ "implementation": { "url": "https://h.test/", "zz": 1 } })] {
            author.patch(&at("own"), &wrong).await.is("422 INVALID_PARAMS");
        }
        let misspelt = with(&echo("typo"), &json!({ "implementation": { "bultin_key": "json_transform" } }));
        assert_eq!(faults(author.post("/api/tools", &misspelt).await.is("422 INVALID_PARAMS")), ["/implementation/bultin_key"]);
    }

    async fn own_tool_saved_as_it_was_read_stays_as_it_is(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let fields = json!([
            { "name": "b", "type": "text", "label": "Bee", "required": true },
            { "name": "a", "type": "number", "default": 3 },
        ]);
        let mut by_fields = with(&echo("by-fields"), &json!({ "fields": fields }));
        by_fields.as_object_mut().unwrap().remove("input_schema");
        let bodies = [
            echo("plain"),
            by_fields,
            with(
                &echo("titled"),
                &json!({ "input_schema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Titled", "type": "object",
                "properties": { "z": { "type": "string" }, "a": { "$ref": "#/$defs/A" } }, "additionalProperties": true,
                "$defs": { "A": { "type": "integer", "minimum": 1 } },
            } }),
            ),
            with(
                &echo("rich"),
                &json!({
                    "category": "x", "icon": "y", "tags": ["t"], "aliases": ["rich-alias"], "is_async": false, "visible": true,
                    "output_schema": { "type": "object", "properties": { "args": { "type": "object" } } },
                    "output_sections": [{ "key": "args", "label": "Args", "type": "summary" }], "collaborative": true,
                    "required_permission": "tools.tenant.read", "tenant_slugs": ["acme"], "permission_policy": "auto",
                    "execution": { "is_pure": true, "concurrency_group": "g", "max_concurrency": 2, "timeout_s": 9 },
                    "timeout_ms": 1234, "implementation": { "headers": { "A": "secret text" }, "method": "PUT" },
                }),
            ),
        ];
        for body in bodies {
            let slug = body["slug"].as_str().unwrap().to_owned();
            make(&author, &body).await;
            publish(&author, &slug).await.is("200 published");
            let before = read(&author, &slug).await;
            let hash = history(&author, &slug).await[0]["content_hash"].clone();
            for turn in 0..2 {
                let saved = put(&author, &slug, &read(&author, &slug).await).await;
                saved.is("200 published");
                assert_eq!(lasting(&saved.json()), lasting(&before), "{slug}, {turn}");
            }
            author.patch(&at(&slug), &read(&author, &slug).await).await.is("200 published");
            assert_eq!(lasting(&read(&author, &slug).await), lasting(&before), "{slug}");
            let all = history(&author, &slug).await;
            assert_eq!(all[0]["content_hash"], hash, "{slug}");
            assert_eq!(all.iter().filter(|entry| entry["kind"] == "save").count(), 4, "a save is a save");
            // Sent as it was read but for one thing, that one thing changes.
            let renamed = put(&author, &slug, &with(&before, &json!({ "name": "Anew" }))).await;
            assert_eq!(
                lasting(&renamed.json()),
                lasting(&with(&before, &json!({ "name": "Anew", "has_draft": true }))),
                "{slug}"
            );
        }
    }

    async fn tool_of_the_program_saved_as_it_was_read_stays_as_it_is(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let listed = author.get("/api/tools?limit=200").await.json();
        let items = listed["items"].as_array().unwrap();
        assert!(10 < items.len());
        for item in items {
            let slug = item["slug"].as_str().unwrap();
            let before = read(&author, slug).await;
            put(&author, slug, &before).await.is("200 published");
            assert_eq!(read(&author, slug).await, before, "{slug}");
            assert_eq!(before["kind"], "code", "{slug}");
        }
        // And with something laid over it.
        let change =
            json!({ "name": "Ours", "enabled": false, "permission_level": "destructive", "timeout_ms": 77 });
        author.patch(&at("test.echo"), &change).await.is("200 published");
        let before = read(&author, "test.echo").await;
        assert_eq!(before["kind"], "system_override");
        put(&author, "test.echo", &before).await.is("200 published");
        assert_eq!(read(&author, "test.echo").await, before);
    }

    async fn what_is_left_out_stays_and_null_takes_back(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let rich = json!({
            "category": "x", "icon": "y", "tags": ["t"], "output_schema": { "type": "object" }, "visible": true,
            "timeout_ms": 1234, "execution": { "is_pure": true }, "implementation": { "method": "PUT" }, "aliases": ["other"],
        });
        let made = make(&author, &with(&echo("partly"), &rich)).await;
        for method in ["patch", "put"] {
            let body = json!({ "name": method });
            let changed = match method {
                "put" => put(&author, "partly", &body).await,
                _ => author.patch(&at("partly"), &body).await,
            };
            assert_eq!(lasting(&changed.json()), lasting(&with(&made, &body)), "{method}");
        }
        let nothing = json!({
            "category": null, "icon": null, "tags": null, "output_schema": null, "visible": null, "timeout_ms": null,
            "execution": null, "implementation": null, "aliases": null, "permission_level": null,
        });
        let bare = author.patch(&at("partly"), &nothing).await.json();
        for (key, value) in [
            ("category", json!("general")),
            ("icon", json!("wrench")),
            ("tags", json!([])),
            ("output_schema", Value::Null),
            ("visible", Value::Null),
            ("timeout_ms", json!(30_000)),
            ("implementation", json!({})),
            ("aliases", json!([])),
            ("permission_level", Value::Null),
        ] {
            assert_eq!(bare[key], value, "{key}");
        }
        assert_eq!(bare["execution"]["is_pure"], false);
        for key in ["name", "description", "input_schema"] {
            author.patch(&at("partly"), &json!({ key: null })).await.is("422 INVALID_PARAMS");
        }
        author.patch(&at("partly"), &json!({ "slug": "PARTLY" })).await.is("200 draft");
        author.patch(&at("partly"), &json!({ "slug": "elsewhere" })).await.is("422 INVALID_PARAMS");
    }

    async fn either_way_to_say_the_input_can_be_the_one_that_changed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "two-ways").await;
        let before = read(&author, "two-ways").await;
        assert_eq!(before["fields"][0]["name"], "a");
        // Read, the schema edited, sent back whole.
        let changed =
            put(&author, "two-ways", &with(&before, &json!({ "input_schema": needing("b") }))).await;
        let changed = changed.is("200 published").json();
        assert_eq!((&changed["input_schema"], &changed["fields"][0]["name"]), (&needing("b"), &json!("b")));
        // Read, the fields edited, sent back whole.
        let fields = json!([{ "name": "c", "type": "text", "required": true }]);
        let changed = put(&author, "two-ways", &with(&changed, &json!({ "fields": fields }))).await;
        let changed = changed.is("200 published").json();
        assert_eq!(changed["input_schema"]["required"], json!(["c"]));
        assert_eq!(changed["fields"][0]["name"], "c");
        // Both edited, and not to the same: nobody guesses.
        let both = json!({ "fields": [{ "name": "d", "type": "text" }], "input_schema": needing("e") });
        put(&author, "two-ways", &with(&changed, &both)).await.is("422 INVALID_PARAMS");
        assert_eq!(read(&author, "two-ways").await["input_schema"]["required"], json!(["c"]));
    }

    async fn save_tells_its_author_what_models_would_not_see(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let open = json!({ "type": "object", "properties": { "rest": { "type": "object", "additionalProperties": true } } });
        let made = author.post("/api/tools", &with(&echo("told"), &json!({ "input_schema": open }))).await;
        let warning = made.is("201 draft").json()["warnings"][0].clone();
        assert_eq!((&warning["path"], &warning["code"]), (&json!("/input_schema/properties/rest"), &json!("open_map")));
        assert!(warning["params"].is_object() && warning["message"].is_string(), "{warning}");
        assert!(read(&author, "told").await.get("warnings").is_none());

        let bare = author.patch(&at("told"), &json!({ "input_schema": { "type": "object" } })).await;
        assert_eq!(bare.is("200 draft").json()["warnings"][0]["code"], "no_properties");
        // What was answered can be sent back, and is told about again.
        let again = put(&author, "told", &bare.json()).await;
        assert_eq!(again.is("200 draft").json()["warnings"], bare.json()["warnings"]);
        let mended = author.patch(&at("told"), &json!({ "input_schema": needing("a") })).await;
        assert_eq!(mended.is("200 draft").json()["warnings"], json!([]));
        let laid_over = author.patch(&at("test.echo"), &json!({ "name": "Mine" })).await;
        assert_eq!(laid_over.is("200 published").json()["warnings"], json!([]));
    }

    async fn smaller_of_two_limits_that_are_named_counts(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let minute = json!({ "execution": { "timeout_s": 60 } });
        let alone = make(&author, &with(&echo("alone"), &minute)).await;
        assert_eq!(alone["timeout_ms"], 60_000);
        // The default is a limit like any other where somebody writes it down.
        let both = make(&author, &with(&with(&echo("both"), &minute), &json!({ "timeout_ms": 30_000 }))).await;
        assert_eq!(both["timeout_ms"], 30_000);
        let sent_back = put(&author, "alone", &alone).await.is("200 draft").json();
        assert_eq!(sent_back["timeout_ms"], 60_000);
        let longer = author.patch(&at("alone"), &json!({ "execution": { "timeout_s": 90 } })).await.json();
        assert_eq!(longer["timeout_ms"], 90_000, "nobody has named another limit");
        let shorter = author.patch(&at("alone"), &json!({ "timeout_ms": 30_000 })).await.json();
        assert_eq!(shorter["timeout_ms"], 30_000);
        let back = author.patch(&at("alone"), &json!({ "timeout_ms": null })).await.json();
        assert_eq!(back["timeout_ms"], 90_000);
    }

    async fn clone_of_a_built_in_from_an_older_system_is_found_and_not_listed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let legacy = json!({ "builtin_template_id": "5f0c", "is_builtin_template": false, "publish": true });
        author.post("/api/tools", &with(&echo("legacy"), &legacy)).await.is("201 published");
        live(&author, "ours").await;
        let listed = author.get("/api/tools?limit=200&kind=tenant_custom").await.json();
        let slugs: Vec<_> = listed["items"].as_array().unwrap().iter().map(|tool| &tool["slug"]).collect();
        assert_eq!(slugs, ["ours"]);
        assert_eq!(listed["total"], 1);
        author.run("legacy", json!({ "a": 1 })).await.is("200 success");
        put(&author, "legacy", &read(&author, "legacy").await).await.is("200 published");
        assert_eq!(author.get("/api/tools?q=legacy").await.json()["total"], 0, "a save changes nothing of that");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shipped_tools_answer_to_every_name_that_older_systems_have_for_them() {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let server = world.server();
    let member = world.client(&server, "acme", Role::Member).await;
    for (name, slug) in [
        ("webSearch", "web_search"),
        ("web.searchCompany", "web_search"),
        ("web_search", "web_search"),
        ("web_fetch", "web_fetch"),
        ("http_request", "http_request"),
        ("json_transform", "json_transform"),
        ("function_call", "function_call"),
        ("datetime_utils", "datetime_utils"),
        ("manageTools", "manageTools"),
        ("roi-calculator", "roi-calculator"),
    ] {
        assert_eq!(read(&member, name).await["slug"], slug, "{name}");
        let listed = member.get("/api/tools?limit=200").await.json();
        let items = listed["items"].as_array().unwrap();
        assert_eq!(items.iter().filter(|tool| tool["slug"] == slug).count(), 1, "{name}");
    }
}
