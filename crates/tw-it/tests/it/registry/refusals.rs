//! What cannot be a tool, refused with its reason and without a trace.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, count, echo, faults, history, live, read, with};
use crate::world::World;

on_both! {
    async fn bad_definition_names_its_fault_and_leaves_nothing(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        live(&author, "standing").await;
        let before = (read(&author, "standing").await, history(&author, "standing").await);
        let entries = count(&world.db, "SELECT COUNT(*) FROM audit_log").await;
        let bad = [
            ("name", json!("")),
            ("name", json!(7)),
            ("name", json!("n".repeat(201))),
            ("name", json!("\u{a0}\u{200b}\u{2060}")),
            ("name", json!("\u{3164}")),
            ("name", json!("Invoice\u{202e}fdp")),
            ("name", json!("One\nTwo")),
            ("description", json!("")),
            ("description", json!("d".repeat(20_001))),
            ("icon", json!("")),
            ("category", json!({})),
            ("nmae", json!("typo")),
            ("__proto__", json!({})),
            ("is_system", json!(true)),
            ("scope", json!("global")),
            ("scope", json!("bundle")),
            ("kind", json!("code")),
            ("kind", json!("system_override")),
            ("implementation_type", json!("rag_retrieval")),
            ("implementation_type", json!("shell")),
            ("implementation_type", json!(1)),
            ("implementation", json!([])),
            ("implementation", json!("x")),
            ("timeout_ms", json!(0)),
            ("timeout_ms", json!(-1)),
            ("timeout_ms", json!(90_000_000)),
            ("timeout_ms", json!("5")),
            ("is_async", json!("no")),
            ("visible", json!(1)),
            ("execution", json!({ "max_concurrency": 0 })),
            ("execution", json!({ "timeout_s": 0 })),
            ("execution", json!({ "timeout_s": 86_401 })),
            ("execution", json!({ "concurrency_group": "" })),
            ("execution", json!({ "max_concurency": 1 })),
            ("execution", json!([])),
            ("execution_spec", json!({ "kind": "unheard" })),
            ("output_sections", json!({})),
            ("aliases", json!([1])),
            ("tags", json!("x")),
            ("tags", json!((0..51).map(|n| n.to_string()).collect::<Vec<_>>())),
            ("tenant_slugs", json!([""])),
            ("enabled", json!("yes")),
            ("status", json!("live")),
            ("permission_level", json!("root")),
        ];
        for &(key, ref value) in &bad {
            let refused = author.post("/api/tools", &with(&echo("never"), &json!({ key: value }))).await;
            assert_eq!(refused.verdict(), "422 INVALID_PARAMS", "{key}: {}", refused.text);
            assert!(
                faults(&refused).iter().any(|path| path.starts_with(&format!("/{key}"))),
                "{key}: {}",
                refused.text
            );
            let refused = author.patch(&at("standing"), &json!({ "description": "Half.", key: value })).await;
            assert_eq!(refused.verdict(), "422 INVALID_PARAMS", "{key}: {}", refused.text);
        }
        for key in ["name", "description", "input_schema", "implementation_type"] {
            let mut body = echo("never");
            body.as_object_mut().unwrap().remove(key);
            let refused = author.post("/api/tools", &body).await;
            assert!(
                faults(refused.is("422 MISSING_PARAM")).contains(&format!("/{key}")),
                "{}",
                refused.text
            );
        }
        // Everything at once, and no more of it than anybody reads.
        let all =
            author.post("/api/tools", &json!({ "slug": "no good", "name": 1, "is_async": 0, "x": 1 })).await;
        assert!(4 <= faults(all.is("422 INVALID_PARAMS")).len(), "{}", all.text);
        let strange: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("k{n}"), json!(1))).collect();
        let many = author.post("/api/tools", &with(&echo("never"), &Value::Object(strange))).await;
        assert!(many.is("422 INVALID_PARAMS").text.len() < 100_000);

        author.get(&at("never")).await.is("404 TOOL_NOT_FOUND");
        assert_eq!((read(&author, "standing").await, history(&author, "standing").await), before);
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM tools").await, 1);
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM schema_contents").await, 1);
        assert_eq!(count(&world.db, "SELECT COUNT(*) FROM audit_log").await, entries);
    }

    async fn name_that_looks_like_another_or_like_a_route_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        live(&author, "lookalike").await;
        for slug in ["LOOKALIKE", "LookAlike", "lookalike"] {
            author.post("/api/tools", &echo(slug)).await.is("409 CONFLICT");
        }
        for slug in [
            "lookаlike",
            "look\u{200b}alike",
            "\u{202e}ekilakool",
            "ｌｏｏｋａｌｉｋｅ",
            "lookalike.",
            ".lookalike",
            "look..alike",
            "..",
            "look%2ealike",
            "look alike",
            "look/alike",
            "look\\alike",
            "look__alike",
            "1look",
            "look.1alike",
            "",
            " ",
            "-x",
            "_x",
            "builtins",
            "new",
            "New",
            "session",
            "import",
            "image-models",
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "F47AC10B58CC4372A5670E02B2C3D479",
            "lookalike\n",
            "É",
            &"x".repeat(129),
        ] {
            let refused = author.post("/api/tools", &echo(slug)).await;
            assert_eq!(refused.verdict(), "422 INVALID_PARAMS", "{slug:?}: {}", refused.text);
            assert_eq!(faults(&refused), ["/slug"], "{slug:?}: {}", refused.text);
            let clone = author.post("/api/tools/lookalike/clone", &json!({ "slug": slug })).await;
            assert_eq!(clone.verdict(), "422 INVALID_PARAMS", "{slug:?}: {}", clone.text);
        }
        for slug in ["a", "A.b-c_d9", &"x".repeat(128)] {
            author.post("/api/tools", &echo(slug)).await.is("201 draft");
        }
        assert_eq!(author.get("/api/tools?kind=tenant_custom").await.json()["total"], 4);
    }

    async fn name_that_could_be_taken_for_another_is_refused_with_that_one(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        live(&author, "pay-out.now").await;
        live(&author, "beside").await;
        for (slug, other) in [
            ("pay_out.now", "pay-out.now"),
            ("pay-out-now", "pay-out.now"),
            ("Pay.Out_Now", "pay-out.now"),
            ("test-echo", "test.echo"),
            ("TEST_echo", "test.echo"),
            ("test_private", "test.private"),
            ("get-run", "get_run"),
        ] {
            let aliases = json!({ "aliases": [slug] });
            for refused in [
                author.post("/api/tools", &echo(slug)).await,
                author.post("/api/tools", &with(&echo("other"), &aliases)).await,
                author.post("/api/tools/beside/clone", &json!({ "slug": slug })).await,
                author.patch(&at("beside"), &aliases).await,
            ] {
                assert!(refused.is("409 CONFLICT").text.contains(&format!("`{other}`")), "{}", refused.text);
            }
        }
        // Another spelling of its own name a tool may have, and nobody minds what another tenant has.
        author.patch(&at("pay-out.now"), &json!({ "aliases": ["pay_out_now"] })).await.is("200 published");
        author.patch(&at("pay-out.now"), &json!({ "slug": "pay_out.now" })).await.is("422 INVALID_PARAMS");
        live(&stranger, "pay_out.now").await;
        live(&stranger, "test_private").await;
        live(&author, "payoutnow").await;
        author.delete(&at("pay-out.now")).await.is("204");
        live(&author, "pay_out.now").await;
    }

    async fn body_that_is_too_large_or_no_json_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        live(&author, "sized").await;
        let send = async |method: Method, path: &str, body: String| {
            let request = author.request(method, path).header("content-type", "application/json").body(body);
            author.send(request).await
        };
        let huge = with(&echo("huge"), &json!({ "description": "d".repeat(50 << 20) })).to_string();
        let begun = Instant::now();
        for (method, path) in [
            (Method::POST, "/api/tools"),
            (Method::PATCH, "/api/tools/sized"),
            (Method::PUT, "/api/tools/sized"),
            (Method::POST, "/api/tools/sized/publish"),
            (Method::POST, "/api/tools/sized/clone"),
        ] {
            send(method.clone(), path, huge.clone()).await.is("413 PAYLOAD_TOO_LARGE");
            send(method.clone(), path, r#"{"name":"a","name":"b"}"#.to_owned()).await.is("400 INVALID_JSON");
            send(method.clone(), path, "{\"name\":\"\\u0000\"}".to_owned()).await.is("400 INVALID_JSON");
            send(method, path, "[]".to_owned()).await.is("422 INVALID_PARAMS");
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        assert_eq!(history(&author, "sized").await.len(), 2);
        author.get(&at("huge")).await.is("404 TOOL_NOT_FOUND");
        for path in [
            "/api/tools/%ff",
            "/api/tools/%ff/versions/1",
            "/api/tools/%00/versions/1",
            "/api/tools/sized/versions/%ff",
        ] {
            let refused = author.get(path).await;
            assert!(matches!(refused.status.as_u16(), 400 | 404), "{path}: {}", refused.text);
            assert_eq!(refused.headers["content-type"], "application/problem+json", "{path}");
        }
    }
}
