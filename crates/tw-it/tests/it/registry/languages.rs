//! What people of other languages read of a tool: kept with it, held against its rules, and not told to models.

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{as_read, at, echo, faults, live, number, publish, read, with};
use crate::world::{Client, World};

/// A tool with a translation at every place that can have one.
fn translated(slug: &str) -> Value {
    let german = |texts: Value| json!({ "de": texts });
    let unit = json!({
        "type": "string", "enum": ["m", "km"], "x-enum-labels": ["Metres", "Kilometres"],
        "x-i18n": german(json!({ "title": "Einheit", "x-enum-labels": ["Meter", null] })),
    });
    let far = json!({
        "type": "integer", "title": "Far", "description": "How far.",
        "x-i18n": { "de": { "title": "Weite", "description": "Wie weit." }, "de-AT": {} },
    });
    let out = json!({ "type": "object", "x-i18n": german(json!({ "title": "Alles" })) });
    with(
        &echo(slug),
        &json!({
            "i18n": german(json!({ "name": "Echo auf Deutsch", "description": "Gibt zurück, was es bekommt." })),
            "input_schema": { "type": "object", "properties": { "a": far, "unit": unit }, "required": ["a"] },
            "output_schema": { "type": "object", "properties": { "args": out } },
            "output_sections": [
                { "key": "args", "label": "All", "type": "custom", "i18n": german(json!({ "label": "Alles" })) },
            ],
            "form_spec": {
                "version": 2, "i18n": german(json!({ "title": "Formular" })), "title": "Form",
                "sections": [{ "id": "s", "title": "Where", "i18n": german(json!({ "title": "Wo" })) }],
                "fields": [{ "path": "/a", "section": "s", "help": "x", "i18n": german(json!({ "help": "y" })) }],
            },
        }),
    )
}

/// The schema of a tool's input as an agent's client lists it.
async fn listed(agent: &Client, slug: &str) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let request = agent.request(Method::POST, "/mcp").header("mcp-protocol-version", "2025-11-25");
    let answer = agent.send(request.json(&body)).await.json();
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    tools.into_iter().find(|tool| tool["name"] == slug).unwrap()
}

on_both! {
    async fn translations_stay_with_a_tool_wherever_it_goes(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let sent = translated("spoken");
        let made = as_read(author.post("/api/tools", &with(&sent, &json!({ "publish": true }))).await.is("201 published"));
        for key in ["i18n", "input_schema", "output_schema", "output_sections", "form_spec", "name"] {
            assert_eq!(made[key], sent[key], "{key}");
        }
        let listed = author.get("/api/tools?limit=200").await.json();
        let item = listed["items"].as_array().unwrap().iter().find(|item| item["slug"] == "spoken").unwrap();
        assert_eq!((&item["name"], &item["i18n"]), (&sent["name"], &sent["i18n"]));

        // What was read can be sent back, whole or as fields.
        let again = as_read(author.patch(&at("spoken"), &made).await.is("200 published"));
        for key in ["i18n", "input_schema", "output_schema", "output_sections", "form_spec", "fields"] {
            assert_eq!(again[key], made[key], "{key}");
        }
        assert_eq!(made["fields"][1]["i18n"]["de"]["option_labels"], json!(["Meter", null]));
        let mut body = with(&echo("of-fields"), &json!({ "fields": made["fields"] }));
        body.as_object_mut().unwrap().remove("input_schema");
        let of_fields = as_read(author.post("/api/tools", &body).await.is("201 draft"));
        let far = &of_fields["input_schema"]["properties"]["a"];
        assert_eq!(far["x-i18n"], sent["input_schema"]["properties"]["a"]["x-i18n"]);

        let cloned = author.post("/api/tools/spoken/clone", &json!({ "slug": "again" })).await;
        assert_eq!(cloned.json()["i18n"], sent["i18n"], "{}", cloned.text);
        author.patch(&at("spoken"), &json!({ "i18n": null })).await.is("200 published");
        assert_eq!(read(&author, "spoken").await["i18n"], Value::Null);
        let first = author.get("/api/tools/spoken/versions/1").await.json();
        assert_eq!(first["snapshot"]["i18n"], sent["i18n"]);
    }

    async fn another_translation_breaks_nobody(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        author.post("/api/tools", &with(&translated("spoken"), &json!({ "publish": true }))).await.is("201 published");
        let mut changed = translated("spoken")["input_schema"].clone();
        changed["properties"]["a"]["x-i18n"]["de"]["title"] = json!("Entfernung");
        author.patch(&at("spoken"), &json!({ "input_schema": changed })).await.is("200 published");
        let compared = author.get("/api/tools/spoken/versions/compare?from=1.0.0&to=draft").await.json();
        assert_eq!((&compared["breaking"], &compared["required_bump"]), (&json!(false), &json!("patch")), "{compared}");
        let change = &compared["changes"][0];
        assert_eq!((&change["path"], &change["kind"]), (&json!("/a"), &json!("translation_changed")));
        number(&author, "spoken", "1.0.1").await.is("200 published");
        publish(&author, "spoken").await.is("200 published");
        author.patch(&at("spoken"), &json!({ "i18n": { "de": { "name": "Anders" } } })).await.is("200 published");
        let compared = author.get("/api/tools/spoken/versions/compare?from=1.0.1&to=draft").await.json();
        assert_eq!((&compared["breaking"], &compared["required_bump"]), (&json!(false), &json!("patch")), "{compared}");
    }

    async fn agents_read_the_original_and_pay_for_no_translation(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let sent = with(&translated("spoken"), &json!({ "publish": true }));
        author.post("/api/tools", &sent).await.is("201 published");
        let tool = listed(&agent, "spoken").await;
        assert_eq!((&tool["title"], &tool["description"]), (&sent["name"], &sent["description"]));
        assert_eq!(tool["inputSchema"]["properties"]["a"]["title"], "Far");
        assert!(!tool.to_string().contains("i18n"), "{tool}");
        let read = read(&agent, "spoken").await;
        assert_eq!((&read["input_schema"], &read["i18n"]), (&sent["input_schema"], &sent["i18n"]));
    }

    async fn wrong_translation_is_told_at_its_place(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let property = |texts: Value| json!({ "input_schema": { "type": "object", "properties": { "a": { "x-i18n": texts } } } });
        let long = "x".repeat(201);
        for (change, expected) in [
            (json!({ "i18n": { "deutsch": {} } }), "/i18n/deutsch"),
            (json!({ "i18n": { "DE": { "name": "x" } } }), "/i18n/DE"),
            (json!({ "i18n": { "de": { "title": "x" } } }), "/i18n/de/title"),
            (json!({ "i18n": { "de": { "name": long } } }), "/i18n/de/name"),
            (json!({ "i18n": { "de": { "name": "a\nb" } } }), "/i18n/de/name"),
            (json!({ "i18n": { "de": { "description": " " } } }), "/i18n/de/description"),
            (json!({ "i18n": ["de"] }), "/i18n"),
            (property(json!({ "de": { "name": "x" } })), "/input_schema/properties/a/x-i18n/de/name"),
            (property(json!({ "de": { "title": 7 } })), "/input_schema/properties/a/x-i18n/de/title"),
            (property(json!({ "german": {} })), "/input_schema/properties/a/x-i18n/german"),
            (json!({ "output_schema": { "x-i18n": 7 } }), "/output_schema/x-i18n"),
            (
                json!({ "output_sections": [{ "key": "args", "label": "x", "type": "table", "i18n": { "de": { "key": "x" } } }] }),
                "/output_sections/0/i18n/de/key",
            ),
            (
                json!({ "form_spec": { "version": 2, "fields": [{ "path": "/a", "i18n": { "de": { "hint": "x" } } }] } }),
                "/form_spec/fields/0/i18n/de/hint",
            ),
        ] {
            let answer = author.post("/api/tools", &with(&echo("wrong"), &change)).await;
            answer.is("422 INVALID_PARAMS");
            assert_eq!(faults(&answer), [expected], "{change}");
        }
    }

    async fn tenant_translates_what_it_calls_a_tool_of_the_program(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let theirs = world.client(&server, "globex", Role::Admin).await;
        let before = read(&author, "roi-calculator").await;
        assert_eq!(before["i18n"]["de"]["name"], "ROI-Rechner");
        let german = &before["input_schema"]["properties"]["initialInvestment"]["x-i18n"]["de"]["title"];
        assert_eq!(*german, "Anfangsinvestition");

        // What the program says in German does not translate the tenant's own name.
        let named = author.patch(&at("roi-calculator"), &json!({ "name": "Does it pay?" })).await.json();
        assert_eq!(named["i18n"]["de"], json!({ "description": before["i18n"]["de"]["description"] }));
        let own = json!({ "i18n": { "de": { "name": "Lohnt es sich?" } } });
        let said = as_read(author.patch(&at("roi-calculator"), &own).await.is("200 published"));
        assert_eq!(said["i18n"], own["i18n"]);
        assert_eq!(as_read(author.patch(&at("roi-calculator"), &said).await.is("200 published")), said);
        assert_eq!(read(&theirs, "roi-calculator").await["i18n"], before["i18n"]);
        let wrong = author.patch(&at("roi-calculator"), &json!({ "i18n": { "de": { "colour": "rot" } } })).await;
        wrong.is("422 INVALID_PARAMS");
        assert_eq!(faults(&wrong), ["/i18n/de/colour"]);
        author.patch(&at("roi-calculator"), &json!({ "i18n": null, "name": null })).await.is("200 published");
        assert_eq!(read(&author, "roi-calculator").await["i18n"], before["i18n"]);
    }

    async fn translations_go_through_manage_tools(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        live(&author, "managed").await;
        let i18n = json!({ "de": { "name": "Verwaltet" } });
        let update = json!({ "action": "update", "slug": "managed", "i18n": i18n });
        let done = author.run("manageTools", update).await;
        assert_eq!(done.json()["output"]["tool"]["i18n"], i18n, "{}", done.text);
        assert_eq!(read(&author, "managed").await["i18n"], i18n);
    }
}
