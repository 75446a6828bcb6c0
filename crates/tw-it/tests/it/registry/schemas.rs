//! Schemas, fields and layouts that come with a definition.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, call, echo, faults, make, read, with};
use crate::world::World;

/// How long a definition may take to be looked at, without optimisation and with others at work.
const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5000 } else { 200 });

fn nested(levels: usize) -> String {
    let (open, shut) = (r#"{"type":"object","properties":{"a":"#, "}}");
    format!("{}{{}}{}", open.repeat(levels), shut.repeat(levels))
}

/// Twenty definitions, each of which needs the next one twice.
fn doubling() -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        defs.insert(format!("l{level}"), json!({ "allOf": [next, next] }));
    }
    defs.insert("l20".to_owned(), json!({ "type": "object" }));
    json!({ "type": "object", "allOf": [{ "$ref": "#/$defs/l0" }], "$defs": defs })
}

/// The same behind a keyword of older drafts, which the validator still follows.
fn doubling_by_dependency() -> Value {
    let mut bomb = doubling();
    bomb["dependencies"] = json!({ "a": bomb["allOf"][0] });
    bomb.as_object_mut().unwrap().remove("allOf");
    bomb
}

on_both! {
    async fn hostile_schema_is_refused_or_bounded_and_leaves_nothing(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let object = |members: Value| with(&json!({ "type": "object" }), &members);
        let bombs = [
            ("itself", object(json!({ "$ref": "#" }))),
            (
                "mutual",
                object(
                    json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
                ),
            ),
            ("doubling", doubling()),
            ("dependency", doubling_by_dependency()),
            (
                "dialect inside",
                object(json!({ "properties": { "a": { "$schema": "http://json-schema.org/draft-07/schema#" } } })),
            ),
            ("flag", object(json!({ "properties": { "a": { "type": "string", "pattern": "(?i)^a$" } } }))),
            ("anchor", object(json!({ "properties": { "a": { "type": "string", "pattern": "\\Aa\\z" } } }))),
            ("no entry", object(json!({ "properties": { "a": { "enum": [] } } }))),
            (
                "remote",
                object(json!({ "properties": { "a": { "$ref": "https://evil.example/schema.json" } } })),
            ),
            ("file", object(json!({ "$ref": "file:///etc/passwd" }))),
            ("dialect", object(json!({ "$schema": "https://evil.example/dialect" }))),
            ("enum", object(json!({ "properties": { "a": { "enum": (0..20_000).collect::<Vec<_>>() } } }))),
            (
                "wide",
                object(
                    json!({ "properties": (0..51_000).map(|n| (format!("p{n}"), json!({}))).collect::<serde_json::Map<_, _>>() }),
                ),
            ),
            (
                "pattern",
                object(json!({ "properties": { "a": { "type": "string", "pattern": "(a{1000}){1000}" } } })),
            ),
            (
                "backwards",
                object(json!({ "properties": { "a": { "type": "string", "pattern": "(a+)\\1" } } })),
            ),
            ("missing", object(json!({ "$ref": "#/$defs/nothing" }))),
            ("no schema", json!({ "type": "objekt" })),
            ("no object", json!({ "type": "string" })),
            ("true", json!(true)),
            ("text", json!("{}")),
        ];
        for part in ["input_schema", "output_schema"] {
            for (name, bomb) in &bombs {
                let tame = part == "output_schema" && ["no object", "true"].contains(name);
                let body = with(&echo("bomb"), &json!({ part: bomb }));
                let begun = Instant::now();
                let answer = author.post("/api/tools", &body).await;
                let took = begun.elapsed();
                assert!(took < PATIENCE, "{part}, {name}: {took:?}");
                if answer.status == 201 {
                    // Bounded: then it has to be usable, too.
                    assert!(
                        tame || ["itself", "mutual", "doubling", "dialect"].contains(name),
                        "{part}, {name} was taken"
                    );
                    let begun = Instant::now();
                    call(&author, "bomb", &json!({ "input": { "a": 1 }, "mode": "debug" })).await;
                    assert!(begun.elapsed() < PATIENCE, "{part}, {name}: {:?}", begun.elapsed());
                    author.delete(&at("bomb")).await.is("204");
                    continue;
                }
                assert_eq!(answer.verdict(), "422 INVALID_PARAMS", "{part}, {name}: {}", answer.text);
                assert!(
                    faults(&answer)[0].starts_with(&format!("/{part}")),
                    "{part}, {name}: {}",
                    answer.text
                );
                assert!(answer.text.len() < 100_000, "{part}, {name}");
                author.get(&at("bomb")).await.is("404 TOOL_NOT_FOUND");
            }
        }
        for levels in [70, 10_000] {
            let text = echo("bomb").to_string().replace(&super::needing("a").to_string(), &nested(levels));
            let request = author
                .request(reqwest::Method::POST, "/api/tools")
                .header("content-type", "application/json");
            let begun = Instant::now();
            let answer = author.send(request.body(text)).await;
            assert!(matches!(answer.status.as_u16(), 400 | 422), "{}", answer.text);
            assert!(begun.elapsed() < PATIENCE, "{levels} levels: {:?}", begun.elapsed());
        }

        // A pattern that would run away elsewhere is taken, and does not.
        let slow =
            json!({ "type": "object", "properties": { "a": { "type": "string", "pattern": "^(a+)+$" } } });
        author
            .post("/api/tools", &with(&echo("steady"), &json!({ "input_schema": slow, "publish": true })))
            .await
            .is("201 published");
        let begun = Instant::now();
        member
            .run("steady", json!({ "a": format!("{}!", "a".repeat(50_000)) }))
            .await
            .is("422 INVALID_PARAMS");
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        assert_eq!(author.get("/api/tools?kind=tenant_custom").await.json()["total"], 1);
    }

    async fn fields_and_schema_say_the_same_in_the_same_order(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let fields = json!([
            { "name": "zeta", "type": "text", "label": "Zeta", "description": "First.", "required": true, "variant": "textarea" },
            { "name": "alpha", "type": "number", "default": 2 },
            { "name": "mid", "type": "boolean" },
            { "name": "day", "type": "date" },
            { "name": "pick", "type": "enum", "options": [{ "value": "b", "label": "Bee" }, { "value": "a", "label": "Ay" }] },
            { "name": "site", "type": "url" },
            { "name": "mail", "type": "email" },
            { "name": "call", "type": "phone" },
            { "name": "clip", "type": "media" },
            { "name": "link", "type": "relation", "target": "person" },
            { "name": "inner", "type": "object", "fields": [{ "name": "y", "type": "text" }, { "name": "b", "type": "text" }] },
            { "name": "many", "type": "array", "items": { "type": "text" } },
        ]);
        let mut body = with(&echo("fielded"), &json!({ "fields": fields }));
        body.as_object_mut().unwrap().remove("input_schema");
        let made = author.post("/api/tools", &body).await;
        let made = made.is("201 draft").json();
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let wanted: Vec<_> = fields
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names(&made["input_schema"]["properties"]), wanted);
        assert_eq!(names(&made["input_schema"]["properties"]["inner"]["properties"]), ["y", "b"]);
        assert_eq!(made["input_schema"]["required"], json!(["zeta"]));
        for (sent, shown) in fields.as_array().unwrap().iter().zip(made["fields"].as_array().unwrap()) {
            for (key, value) in sent.as_object().unwrap() {
                if !["fields", "items", "options"].contains(&key.as_str()) {
                    assert_eq!(&shown[key], value, "{}: {key}", sent["name"]);
                }
            }
        }
        // The same, by the schema alone: the fields come back from it.
        let by_schema = with(&echo("schemed"), &json!({ "input_schema": made["input_schema"] }));
        let second = make(&author, &by_schema).await;
        assert_eq!(second["fields"], made["fields"]);
        assert_eq!(names(&read(&author, "schemed").await["input_schema"]["properties"]), wanted);
        let run = call(&author, "fielded", &json!({ "input": { "zeta": "z" }, "mode": "debug" })).await;
        assert_eq!(run.is("200 success").json()["output"]["args"], json!({ "zeta": "z", "alpha": 2 }));

        for bad in [
            json!([{ "name": "x", "type": "colour" }]),
            json!([{ "type": "text" }]),
            json!([{ "name": "x" }]),
            json!("x"),
            json!([{ "name": "x", "type": "text" }, { "name": "x", "type": "text" }]),
            json!([{ "name": "x", "type": "text", "nope": 1 }]),
        ] {
            let refused = author.patch(&at("fielded"), &json!({ "fields": bad })).await;
            assert!(faults(refused.is("422 INVALID_PARAMS"))[0].starts_with("/fields"), "{}", refused.text);
        }
        let beyond = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } }, "minProperties": 1 });
        let changed = author.patch(&at("fielded"), &json!({ "input_schema": beyond })).await;
        assert_eq!(
            changed.is("200 draft").json()["fields"],
            Value::Null,
            "a schema may say more than fields can"
        );
    }

    async fn other_words_for_a_definition_are_understood(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let camel = json!({
            "name": "confirmIt", "description": "Asks.", "inputSchema": super::needing("a"), "executionType": "internal",
            "isAsync": false, "timeout": 5000, "permissionLevel": "read", "outputSchema": { "type": "object" },
        });
        let made = author.post("/api/tools", &camel).await.is("201 draft").json();
        assert_eq!(
            (&made["slug"], &made["timeout_ms"], &made["execution_type"]),
            (&json!("confirmIt"), &json!(5000), &json!("internal"))
        );
        assert_eq!(made["input_schema"], super::needing("a"));
        let params = json!({
            "name": "my_tool", "description": "Finds.", "implementation_type": "internal", "permissionLevel": "read",
            "requiredParams": ["query"], "paramSchema": { "query": { "type": "string", "description": "What" }, "max": { "type": "number" } },
        });
        let made = author.post("/api/tools", &params).await.is("201 draft").json();
        assert_eq!(made["input_schema"]["required"], json!(["query"]));
        let nested = json!({
            "name": "Nested One", "description": "x", "schema": { "input": super::needing("a") }, "implementation_type": "internal",
            "config_schema": { "implementation": { "url": "u" }, "execution": { "is_pure": true } },
        });
        let made = author.post("/api/tools", &nested).await.is("201 draft").json();
        assert_eq!((&made["slug"], &made["implementation"]), (&json!("nested-one"), &json!({ "url": "u" })));
        assert_eq!(made["execution"]["is_pure"], true);
        let twice = with(&camel, &json!({ "slug": "twice", "input_schema": super::needing("b") }));
        author.post("/api/tools", &twice).await.is("422 INVALID_PARAMS");
    }

    async fn layouts_are_held_against_the_schemas(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let args = json!({ "type": "object", "properties": { "args": {} }, "additionalProperties": false });
        make(&author, &with(&echo("laid-out"), &json!({ "output_schema": args }))).await;
        for (key, value) in [
            ("form_spec", json!({ "unheard": 1 })),
            ("form_spec", json!("x")),
            ("view_spec", json!({ "unheard": 1 })),
            ("view_spec", json!(7)),
            ("output_sections", json!([{ "key": "nope", "label": "N", "type": "summary" }])),
            ("output_sections", json!([{ "key": "args", "label": "N", "type": "sculpture" }])),
            ("output_sections", json!([{ "key": "args", "label": "N", "type": "summary", "more": 1 }])),
        ] {
            let refused = author.patch(&at("laid-out"), &json!({ key: value })).await;
            assert_eq!(refused.verdict(), "422 INVALID_PARAMS", "{key}: {value}: {}", refused.text);
            assert!(faults(&refused)[0].starts_with(&format!("/{key}")), "{}", refused.text);
        }
        let fine = json!({ "output_sections": [{ "key": "args", "label": "Args", "type": "summary" }] });
        assert_eq!(
            author.patch(&at("laid-out"), &fine).await.is("200 draft").json()["output_sections"],
            fine["output_sections"]
        );
    }
}
