//! Bodies that are no JSON, too much JSON, or JSON of another shape.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use crate::mcp::tool;

use super::{
    NOBODY, Operation, Report, Scene, Wanted, nothing_was_written,
    raw::{self, Outcome},
};

/// What a fault of the text itself is answered with.
const NO_JSON: Wanted = Wanted::Problem(&[400]);
/// What JSON that does not fit is answered with.
const NO_FIT: Wanted = Wanted::Problem(&[422]);
/// What members that nobody knows are answered with: some operations first look for what they are about.
const UNKNOWN: Wanted = Wanted::Problem(&[404, 422]);
const NO_TYPE: Wanted = Wanted::Problem(&[415]);
const TOO_LARGE: Wanted = Wanted::Problem(&[413]);

/// What the largest body may be that any operation reads.
const LIMIT: usize = (10 << 20) + (4 << 10);

/// Texts that no operation takes, whatever it is about.
fn texts() -> Vec<(&'static str, Vec<u8>, &'static Wanted)> {
    let deep =
        |count: usize, open: &str, close: &str| format!("{}{}", open.repeat(count), close.repeat(count));
    let utf16 =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let digits = "9".repeat(400);
    let texts: Vec<(&str, Vec<u8>, &Wanted)> = vec![
        ("arrays 10,000 deep", deep(10_000, "[", "]").into(), &NO_JSON),
        (
            "objects 10,000 deep",
            format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000)).into(),
            &NO_JSON,
        ),
        ("a million arrays, unclosed", "[".repeat(1_000_000).into(), &NO_JSON),
        ("800,000 objects, unclosed", r#"{"a":"#.repeat(800_000).into(), &NO_JSON),
        ("deep within a field", format!(r#"{{"input":{}}}"#, deep(200, "[", "]")).into(), &NO_JSON),
        ("a key twice", r#"{"a":1,"a":1}"#.into(), &NO_JSON),
        ("a key twice, once escaped", r#"{"note":1,"n\u006fte":2}"#.into(), &NO_JSON),
        ("a key twice, deep inside", r#"{"input":{"value":[{"a":{"b":1,"b":2}}]}}"#.into(), &NO_JSON),
        ("half a surrogate", r#"{"note":"\ud800"}"#.into(), &NO_JSON),
        ("the other half", r#"{"note":"\udc00 x"}"#.into(), &NO_JSON),
        ("halves in the wrong order", r#"{"note":"\udc00\ud800"}"#.into(), &NO_JSON),
        ("half a surrogate in a key", r#"{"\ud83d":1}"#.into(), &NO_JSON),
        ("a byte that is no UTF-8", b"{\"note\":\"\xff\"}".to_vec(), &NO_JSON),
        ("an overlong NUL", b"{\"note\":\"\xc0\x80\"}".to_vec(), &NO_JSON),
        ("UTF-8 cut in the middle", b"{\"note\":\"\xe2\x82\"}".to_vec(), &NO_JSON),
        ("a surrogate in UTF-8", b"{\"note\":\"\xed\xa0\x80\"}".to_vec(), &NO_JSON),
        ("Latin-1", b"{\"note\":\"caf\xe9\"}".to_vec(), &NO_JSON),
        ("UTF-16, little end first", utf16("{\"note\":\"x\"}", u16::to_le_bytes), &NO_JSON),
        ("UTF-16, big end first", utf16("{\"note\":\"x\"}", u16::to_be_bytes), &NO_JSON),
        ("UTF-16 with its mark", utf16("\u{feff}{}", u16::to_le_bytes), &NO_JSON),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec(), &NO_JSON),
        ("NUL in a string", r#"{"note":"a\u0000b"}"#.into(), &NO_JSON),
        ("NUL in a key", r#"{"a\u0000":1}"#.into(), &NO_JSON),
        ("NUL deep inside", r#"{"input":{"value":["\u0000"]},"settings":{"x":"\u0000"}}"#.into(), &NO_JSON),
        ("a bare NUL", b"{\"note\":\"\0\"}".to_vec(), &NO_JSON),
        ("a NUL after the end", b"{}\0".to_vec(), &NO_JSON),
        ("a line end in a string", b"{\"note\":\"a\nb\"}".to_vec(), &NO_JSON),
        ("NaN", r#"{"wait_ms":NaN}"#.into(), &NO_JSON),
        ("Infinity", r#"{"wait_ms":Infinity}"#.into(), &NO_JSON),
        ("-Infinity", r#"{"input":{"value":-Infinity}}"#.into(), &NO_JSON),
        ("a hexadecimal number", r#"{"wait_ms":0x10}"#.into(), &NO_JSON),
        ("a number with zeros in front", r#"{"wait_ms":007}"#.into(), &NO_JSON),
        ("a number with nothing behind the point", r#"{"wait_ms":1.}"#.into(), &NO_JSON),
        ("1e999", r#"{"wait_ms":1e999}"#.into(), &NO_FIT),
        ("-1e999", r#"{"input":{"value":-1e999}}"#.into(), &NO_FIT),
        ("an integer of 400 digits", format!(r#"{{"input":{{"value":{digits}}}}}"#).into(), &NO_FIT),
        ("one more than 64 bits", r#"{"input":{"value":18446744073709551616}}"#.into(), &NO_FIT),
        ("one less than 64 bits", r#"{"note":-9223372036854775809}"#.into(), &NO_FIT),
        ("nothing but white space", b" \r\n\t ".to_vec(), &NO_JSON),
        ("null", b"null".to_vec(), &NO_FIT),
        ("an empty array", b"[]".to_vec(), &NO_FIT),
        ("an array of texts", br#"["viewer","viewer"]"#.to_vec(), &NO_FIT),
        ("an array of one object", b"[{}]".to_vec(), &NO_FIT),
        (
            "an array of nulls",
            b"[null,null,null,null,null,null,null,null,null,null,null,null]".to_vec(),
            &NO_FIT,
        ),
        ("a text", br#""x""#.to_vec(), &NO_FIT),
        ("a number", b"7".to_vec(), &NO_FIT),
        ("true", b"true".to_vec(), &NO_FIT),
        ("two values", b"{}{}".to_vec(), &NO_JSON),
        ("a comma at the end", br#"{"a":1,}"#.to_vec(), &NO_JSON),
        ("a comment", b"{/**/}".to_vec(), &NO_JSON),
        ("single quotes", b"{'a':1}".to_vec(), &NO_JSON),
        ("a key without quotes", b"{a:1}".to_vec(), &NO_JSON),
        ("cut off", br#"{"input":{"val"#.to_vec(), &NO_JSON),
        ("a form", b"name=x&role=admin".to_vec(), &NO_JSON),
        ("XML", b"<?xml version='1.0'?><a/>".to_vec(), &NO_JSON),
        ("a gzip file", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\xae\x05\0".to_vec(), &NO_JSON),
        ("an escape that is none", br#"{"a":"\x41"}"#.to_vec(), &NO_JSON),
        ("more than is read", [b"{\"note\":\"".as_slice(), &vec![b'a'; LIMIT], b"\"}"].concat(), &TOO_LARGE),
    ];
    texts
}

/// Content types that are not JSON in UTF-8, with a body that would be taken.
fn types() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("plain text", vec!["Content-Type: text/plain"]),
        ("plain text, as a form could send it", vec!["Content-Type: text/plain;charset=UTF-8"]),
        ("a form", vec!["Content-Type: application/x-www-form-urlencoded"]),
        ("an upload", vec!["Content-Type: multipart/form-data; boundary=x"]),
        ("an upload of JSON", vec!["Content-Type: multipart/form-data; boundary=application/json"]),
        ("no type", vec![]),
        ("an empty type", vec!["Content-Type:"]),
        ("a type of one word", vec!["Content-Type: json"]),
        ("a longer word", vec!["Content-Type: application/jsonp"]),
        ("a cousin", vec!["Content-Type: application/x-json"]),
        ("two in a line", vec!["Content-Type: application/json, text/plain"]),
        ("two lines", vec!["Content-Type: application/json", "Content-Type: text/plain"]),
        ("the same in two lines", vec!["Content-Type: application/json", "Content-Type: application/json"]),
        ("JSON in UTF-16", vec!["Content-Type: application/json; charset=utf-16"]),
        ("JSON in Latin-1", vec!["Content-Type: application/json;charset=\"iso-8859-1\""]),
        ("JSON in two alphabets", vec!["Content-Type: application/json; charset=utf-8; charset=utf-7"]),
        ("packed JSON", vec!["Content-Type: application/json", "Content-Encoding: gzip"]),
        ("a type that is no text", vec!["Content-Type: application/json\u{80}"]),
    ]
}

/// Values of every type but those given.
fn other_than(types: &[String]) -> Vec<(&'static str, Value)> {
    let values = [
        ("null", json!(null)),
        ("boolean", json!(true)),
        ("integer", json!(7)),
        ("integer", json!(-7)),
        ("number", json!(1.5)),
        ("number", json!(1e300)),
        ("string", json!("text")),
        ("array", json!([])),
        ("array", json!([[]])),
        ("object", json!({})),
        ("object", json!({ "$ne": null })),
    ];
    let wrong = |name: &str, value: &Value| {
        let fits = |wanted: &String| {
            wanted == name && (wanted != "integer" || value.is_u64())
                || (wanted == "number" && name == "integer")
        };
        !types.iter().any(fits)
    };
    values.into_iter().filter(|(name, value)| wrong(name, value)).collect()
}

/// Values of the right type that no field of that name takes.
fn values() -> Vec<(&'static str, Value)> {
    let long = |count: usize| "x".repeat(count);
    vec![
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1 }, "wait_ms": 120_001 })),
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1 }, "wait_ms": u64::MAX })),
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1 }, "session_id": "the first" })),
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1 }, "mode": "fast" })),
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1 }, "mode": long(1_000_000) })),
        ("post /api/tools/{tool}/test", json!({ "input": { "value": 1 }, "wait_ms": 120_001 })),
        ("post /api/tools/{tool}/test", json!({ "input": { "value": 1 }, "definition": [] })),
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1, "other": 2 } })),
        ("post /api/tools/{tool}/run", json!({ "input": { "value": 1, long(100_000): 2 } })),
        ("post /api/tools/{tool}/run", json!({ "input": { "Value": 1 } })),
        ("post /api/tools/{tool}/run", json!({ "value": 1 })),
        ("post /api/approvals/{id}/approve", json!({ "wait_ms": 120_001 })),
        ("post /api/approvals/{id}/approve", json!({ "note": long(4001) })),
        ("post /api/approvals/{id}/approve", json!({ "input": { "file": "x" } })),
        ("post /api/approvals/{id}/approve", json!({ "input": { "file": "x", "line": "y", "more": 1 } })),
        (
            "post /api/approvals/{id}/approve",
            json!({ "input": { "file": "x", "line": long(100_000), "before_ms": -1 } }),
        ),
        ("post /api/approvals/{id}/approve", json!({ "standing": { "for_s": 0 } })),
        ("post /api/approvals/{id}/approve", json!({ "standing": { "for_s": 86_401 } })),
        (
            "post /api/approvals/{id}/approve",
            json!({ "standing": { "for_s": 60, "fields": [long(100_000)] } }),
        ),
        ("post /api/approvals/{id}/deny", json!({ "note": long(4001) })),
        ("post /api/runs/{id}/cancel", json!({ "reason": long(4001) })),
        ("post /api/sessions", json!({ "title": long(501) })),
        ("post /api/api-keys", json!({ "role": "viewer" })),
        ("post /api/api-keys", json!({ "name": "new" })),
        ("post /api/api-keys", json!({ "name": "", "role": "viewer" })),
        ("post /api/api-keys", json!({ "name": "  ", "role": "viewer" })),
        ("post /api/api-keys", json!({ "name": "a\nb", "role": "viewer" })),
        ("post /api/api-keys", json!({ "name": long(201), "role": "viewer" })),
        ("post /api/api-keys", json!({ "name": "new", "role": "root" })),
        ("post /api/api-keys", json!({ "name": "new", "role": long(1_000_000) })),
        ("post /api/api-keys", json!({ "name": "new", "role": "Admin" })),
        ("post /api/api-keys", json!({ "name": "new", "role": "viewer", "acts_as": "robot" })),
        ("post /api/api-keys", json!({ "name": "new", "role": "viewer", "agent": "bot" })),
        (
            "post /api/api-keys",
            json!({ "name": "new", "role": "agent", "acts_as": "agent", "agent": "../bot" }),
        ),
        ("post /api/api-keys", json!({ "name": "new", "role": "viewer", "expires_at": "tomorrow" })),
        (
            "post /api/api-keys",
            json!({ "name": "new", "role": "viewer", "expires_at": "2001-01-01T00:00:00Z" }),
        ),
        (
            "post /api/api-keys",
            json!({ "name": "new", "role": "viewer", "expires_at": "2026-02-30T00:00:00Z" }),
        ),
        ("post /api/users", json!({ "display_name": "New", "role": "member" })),
        ("post /api/users", json!({ "email": "new", "display_name": "New", "role": "member" })),
        ("post /api/users", json!({ "email": "a@b@c", "display_name": "New", "role": "member" })),
        ("post /api/users", json!({ "email": "a b@c", "display_name": "New", "role": "member" })),
        (
            "post /api/users",
            json!({ "email": format!("{}@x", long(300)), "display_name": "New", "role": "member" }),
        ),
        ("post /api/users", json!({ "email": "new@x.example", "display_name": "", "role": "member" })),
        ("post /api/users", json!({ "email": "new@x.example", "display_name": "a\u{7}", "role": "member" })),
        ("post /api/users", json!({ "email": "new@x.example", "display_name": long(201), "role": "member" })),
        ("post /api/users", json!({ "email": "new@x.example", "display_name": "New", "role": "agent" })),
        (
            "post /api/users",
            json!({ "email": "new@x.example", "display_name": "New", "role": "member", "password": "short" }),
        ),
        (
            "post /api/users",
            json!({ "email": "new@x.example", "display_name": "New", "role": "member", "password": long(1025) }),
        ),
        ("patch /api/users/{id}", json!({ "role": "root" })),
        ("patch /api/users/{id}", json!({})),
        ("patch /api/tenants/current", json!({ "name": "" })),
        ("patch /api/tenants/current", json!({ "name": long(201) })),
        ("patch /api/tenants/current", json!({ "settings": { "unheard_of": true } })),
        ("patch /api/tenants/current", json!({ "settings": { long(100_000): true } })),
        ("patch /api/tenants/current", json!({ "settings": { "approve_all_writes": "yes" } })),
        ("patch /api/tenants/current", json!({ "settings": { "__proto__": true } })),
        ("patch /api/tools/{tool}", json!({ "name": "" })),
        ("patch /api/tools/{tool}", json!({ "name": long(4001) })),
        ("patch /api/tools/{tool}", json!({ "tags": ["a", 2] })),
        ("patch /api/tools/{tool}", json!({ "tags": [long(101)] })),
        ("patch /api/tools/{tool}", json!({ "tags": vec!["a"; 51] })),
        ("patch /api/tools/{tool}", json!({ "status": "gone" })),
        ("patch /api/tools/{tool}", json!({ "permission_policy": "never" })),
        ("patch /api/tools/{tool}", json!({ "permission_level": "none" })),
        ("patch /api/tools/{tool}", json!({ "timeout_ms": 0 })),
        ("patch /api/tools/{tool}", json!({ "timeout_ms": u64::MAX })),
        ("patch /api/tools/{tool}", json!({ "input_schema": {} })),
        ("patch /api/tools/{tool}", json!({ "implementation": null })),
        ("post /api/auth/switch", json!({ "tenant": "../globex" })),
        ("post /api/auth/switch", json!({ "tenant": long(64) })),
        ("post /api/auth/password", json!({ "password": "short" })),
        ("post /api/auth/password", json!({ "password": long(1025) })),
    ]
}

impl Scene {
    fn with_bodies(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.fields.is_some())
    }
}

on_both! {
    async fn text_that_is_no_strict_json_is_refused_by_every_operation(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        for operation in scene.with_bodies() {
            for (name, body, wanted) in texts() {
                scene.post(&mut report, operation, name, &body, wanted).await;
            }
        }
        nothing_was_written(&scene);
        scene.conclude(report, &before).await;
    }

    async fn body_of_another_content_type_is_refused_by_every_operation(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        for operation in scene.with_bodies() {
            let method = operation.method.to_uppercase();
            let body = scene.good_body(operation).to_string();
            let upload =
                format!("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n{body}\r\n--x--\r\n");
            for (name, mut lines) in types() {
                lines.push(scene.credentials(operation));
                for body in [&body, &upload] {
                    let request = raw::with_body(&method, &scene.path(operation), &lines, body.as_bytes());
                    let name = format!("{}, {name}", operation.name());
                    scene.ask(&mut report, &name, &request, &NO_TYPE).await;
                }
            }
        }
        scene.conclude(report, &before).await;
    }

    async fn field_of_another_type_is_refused_and_named_by_every_operation(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        for operation in scene.with_bodies() {
            for (field, types) in operation.fields.iter().flatten() {
                // Some take anything.
                for (_, value) in other_than(types).into_iter().filter(|_| !types.is_empty()) {
                    let mut body = scene.good_body(operation);
                    body[field] = value;
                    let text = body.to_string();
                    scene.post(&mut report, operation, &text, text.as_bytes(), &NO_FIT).await;
                    // What is inside an input is named by its place there.
                    if field != "input" && field != "settings" {
                        let fault = scene.named(operation, &text, &format!("/{field}")).await;
                        fault
                            .into_iter()
                            .for_each(|fault| report.fault(&format!("{}, {text}", operation.name()), &fault));
                    }
                }
            }
        }
        nothing_was_written(&scene);
        scene.conclude(report, &before).await;
    }

    async fn value_that_does_not_fit_is_refused_by_every_operation(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        for (name, body) in values() {
            let operation = scene.operations.iter().find(|operation| operation.name() == name).unwrap();
            let text = body.to_string();
            let shown: String = text.chars().take(120).collect();
            scene.post(&mut report, operation, &shown, text.as_bytes(), &NO_FIT).await;
        }
        nothing_was_written(&scene);
        scene.conclude(report, &before).await;
    }

    /// A member that nobody reads is a restriction that does not hold, or a typing error that nobody finds.
    async fn member_that_is_not_known_is_refused_and_named_by_every_operation(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let writes = ["post", "patch", "put"];
        for operation in scene.operations.iter().filter(|operation| writes.contains(&operation.method.as_str())) {
            let mut body = scene.good_body(operation);
            body["zzz_unknown"] = json!(1);
            let text = body.to_string();
            scene.post(&mut report, operation, &text, text.as_bytes(), &NO_FIT).await;
            let fault = scene.named(operation, &text, "/zzz_unknown").await;
            fault.into_iter().for_each(|fault| report.fault(&operation.name(), &fault));
        }
        for (name, body, place) in [
            ("post /api/api-keys", json!({ "name": "k", "role": "viewer", "tools": { "allow": [] } }), "/tools"),
            ("post /api/tools/{tool}/run", json!({ "input": { "value": 1 }, "wiat_ms": 1 }), "/wiat_ms"),
            ("post /api/sessions", json!({ "titel": "x" }), "/titel"),
            ("patch /api/tenants/current", json!({ "settings": { "a/b": true } }), "/settings/a~1b"),
            ("patch /api/tenants/current", json!({ "slug": "other" }), "/slug"),
            ("patch /api/users/{id}", json!({ "role": "member", "email": "other@acme.example" }), "/email"),
            ("post /api/tools", tool("new", &json!({ "execution": { "pure": true } })), "/execution/pure"),
        ] {
            let operation = scene.operations.iter().find(|operation| operation.name() == name).unwrap();
            let fault = scene.named(operation, &body.to_string(), place).await;
            fault.into_iter().for_each(|fault| report.fault(&format!("{name}, {body}"), &fault));
        }
        nothing_was_written(&scene);
        scene.conclude(report, &before).await;
    }

    async fn what_was_read_can_be_sent_back_with_members_of_the_clients_own(db: TestDb) {
        let scene = Scene::on(db).await;
        let tool = tool("mine", &json!({ "x_ticket": 7 }));
        scene.admin.post("/api/tools", &tool).await.is("201 published");
        for path in ["/api/tenants/current", "/api/tools/test.echo", "/api/tools/mine", &scene.thing("/api/users/"), &scene.thing("/api/credentials/")] {
            let read = scene.admin.get(path).await.json();
            let mut back = read.clone();
            back["x_mine"] = json!({ "any": "thing" });
            let answer = scene.admin.patch(path, &back).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text);
            let mut after = scene.admin.get(path).await.json();
            for moving in ["etag", "revision", "updated_at", "has_draft", "kind"] {
                if let Some(before) = read.get(moving) {
                    after[moving] = before.clone();
                }
            }
            assert_eq!(after, read, "{path}");
        }
        let settings = json!({ "settings": { "approve_all_writes": true, "x_note": 1 } });
        let tenant = scene.admin.patch("/api/tenants/current", &settings).await;
        assert!(tenant.status == 200 && tenant.json()["settings"].get("x_note").is_none(), "{}", tenant.text);
        let input = json!({ "input": { "value": 1 }, "x_client": true });
        scene.admin.post("/api/tools/test.echo/run", &input).await.is("200 success");
    }

    async fn body_with_nothing_in_it_is_understood(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let many: String = (0..100_000).map(|number| format!(r#""key{number}":{number},"#)).collect();
        let nobody = Wanted::Problem(&[404]);
        for operation in scene.with_bodies() {
            // Something that is not there, so that what is understood need not be undone.
            let path = Scene::path_with(operation, NOBODY);
            let wanted = match operation.name().as_str() {
                "post /api/sessions" => &Wanted::Done(201),
                "patch /api/tenants/current" | "patch /api/me" => &Wanted::Done(200),
                "patch /api/users/{id}"
                | "post /api/tools/{tool}/tests"
                | "post /api/tools/{tool}/replay"
                | "post /api/mcp-servers/{id}/import"
                | "post /api/runs/{id}/tool-results"
                | "post /api/credentials/{id}/test" => &NO_FIT,
                name if name.contains('{') => &nobody,
                _ => &NO_FIT,
            };
            let lines = [scene.credentials(operation), "Content-Type: application/json; charset=\"UTF-8\""];
            let method = operation.method.to_uppercase();
            for (name, body, wanted) in [
                ("no body", String::new(), wanted),
                ("nothing in it", "{}".to_owned(), wanted),
                ("100,000 keys", format!("{{{many}\"last\":null}}"), &UNKNOWN),
                (
                    "keys of JavaScript",
                    r#"{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}"#.to_owned(),
                    &UNKNOWN,
                ),
                (
                    "somebody else's tenant",
                    format!(r#"{{"tenant_id":"{NOBODY}","user_id":"{NOBODY}","principal":"x"}}"#),
                    &UNKNOWN,
                ),
            ] {
                let request = raw::with_body(&method, &path, &lines, body.as_bytes());
                scene.ask(&mut report, &format!("{}, {name}", operation.name()), &request, wanted).await;
            }
        }
        let lines = [scene.bearer.as_str(), "Content-Type: application/json"];
        let body = format!(r#"{{"input":{{"value":{{{many}"last":null}}}}}}"#);
        let request = raw::with_body("POST", "/api/tools/test.echo/run", &lines, body.as_bytes());
        // Stored and given back, which takes its time where nothing is optimised.
        let echoed = raw::exchange(&scene.server.url, &request).await;
        Wanted::Done(200).accept(&echoed).unwrap();
        scene.is_well(&mut report).await;
        report.conclude();
    }

    /// A hundred megabytes, of which only what the server takes is ever sent.
    async fn huge_body_is_refused_at_the_limit(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        for operation in scene.with_bodies() {
            for announced in [true, false] {
                let (sent, took, outcome) = scene.flood(operation, announced).await;
                let name = format!("{}, {sent} bytes, announced: {announced}", operation.name());
                if let Err(fault) = TOO_LARGE.accept(&outcome) {
                    report.fault(&name, &fault);
                }
                // The server goes on reading 32 MiB of a refused body, so that its client gets to the answer; the kernel's
                // buffers on both sides take up to 13 MB more.
                if LIMIT + (48 << 20) < sent || Duration::from_secs(5) < took {
                    report.fault(&name, &format!("was refused after {took:?} only"));
                }
                report.count += 1;
            }
        }
        scene.conclude(report, &before).await;
    }

    async fn client_that_sends_all_of_a_large_body_is_told_that_it_is_too_large(db: TestDb) {
        let scene = Scene::on(db).await;
        let body = json!({ "input": { "value": "x".repeat(12 << 20) } });
        for _ in 0..5 {
            scene.admin.post("/api/tools/test.echo/run", &body).await.is("413 PAYLOAD_TOO_LARGE");
            scene.admin.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }
    }

    async fn body_that_never_comes_holds_up_nobody(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let lines = [scene.bearer.as_str(), "Content-Type: application/json", "Content-Length: 30"];
        let mut waiting = Vec::new();
        for _ in 0..50 {
            let mut stream = raw::connect(&scene.server.url).await;
            let head = raw::head("POST", "/api/sessions", &lines);
            stream.write_all(format!("{head}{{\"title\":").as_bytes()).await.unwrap();
            waiting.push(stream);
        }
        for _ in 0..20 {
            let began = Instant::now();
            scene.admin.get("/api/me").await;
            assert!(began.elapsed() < Duration::from_secs(5));
        }
        // Some hang up, some say that nothing more will come, and are told that this was not all.
        drop(waiting.split_off(25));
        for mut stream in waiting {
            stream.shutdown().await.unwrap();
            let wanted = Wanted::Unreadable(&[400]);
            if let Err(fault) = wanted.accept(&raw::answer(&mut stream).await) {
                report.fault("half a body", &fault);
            }
        }
        scene.conclude(report, &before).await;
    }

    /// Neither the head nor the body of a request may take for ever.
    async fn request_that_stops_halfway_is_given_up(db: TestDb) {
        let scene = Scene::on(db).await;
        let began = Instant::now();
        let (mut head, mut body) =
            (raw::connect(&scene.server.url).await, raw::connect(&scene.server.url).await);
        head.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ").await.unwrap();
        let lines = [scene.bearer.as_str(), "Content-Type: application/json", "Content-Length: 30"];
        body.write_all(format!("{}{{\"tit", raw::head("POST", "/api/sessions", &lines)).as_bytes())
            .await
            .unwrap();
        let mut said = Vec::new();
        let patience = Duration::from_secs(60);
        tokio::time::timeout(patience, head.read_to_end(&mut said)).await.unwrap().unwrap();
        assert!(said.is_empty() || said.starts_with(b"HTTP/1.1 4"), "{said:?}");
        let given_up = began.elapsed();
        assert!(Duration::from_secs(5) < given_up, "{given_up:?}");
        let mut said = [0; 13];
        tokio::time::timeout(patience, body.read_exact(&mut said)).await.unwrap().unwrap();
        assert_eq!(&said, b"HTTP/1.1 400 ");
        assert!(given_up < began.elapsed());
    }

    async fn viewer_is_refused_before_a_byte_of_the_body_is_read(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let viewer = scene.world.client(&scene.server, "acme", Role::Viewer).await;
        let bearer = format!("Authorization: Bearer {}", viewer.key.unwrap());
        let before = scene.census().await;
        let forbidden = Wanted::Problem(&[403]);
        // What is one's own, a viewer changes too.
        let is_own = |path: &str| path.starts_with("/api/auth/") || path == "/api/me";
        for operation in scene.with_bodies().filter(|operation| !is_own(&operation.path)) {
            let method = operation.method.to_uppercase();
            let name = |what: &str| format!("{}, {what}", operation.name());
            for (what, body, _) in texts() {
                let lines = [bearer.as_str(), "Content-Type: text/plain"];
                let request = raw::with_body(&method, &scene.path(operation), &lines, &body);
                scene.ask(&mut report, &name(what), &request, &forbidden).await;
            }
            // Nothing is sent at all, and the answer comes without asking for it.
            let lines =
                [bearer.as_str(), "Content-Length: 100000000", "Expect: 100-continue", "Idempotency-Key:"];
            let head = raw::head(&method, &scene.path(operation), &lines);
            let outcome = raw::exchange(&scene.server.url, head.as_bytes()).await;
            match (forbidden.accept(&outcome), outcome) {
                (Err(fault), _) => report.fault(&name("no body"), &fault),
                (_, Outcome::Answered(response)) if response.continued => {
                    report.fault(&name("no body"), "was asked for");
                }
                _ => {}
            }
        }
        scene.conclude(report, &before).await;
    }

    async fn numbers_and_texts_come_back_as_they_were_sent(db: TestDb) {
        let scene = Scene::on(db).await;
        for text in [
            "18446744073709551615",
            "9223372036854775808",
            "9223372036854775807",
            "-9223372036854775808",
            "9007199254740993",
            "0.1",
            "1e22",
            "5e-324",
            "1.7976931348623157e308",
            "-0.0",
            "0",
            "\"\u{e9}\"",
            "\"e\u{301}\"",
            "\"\u{1f600} \u{10ffff} \u{202e}\u{200b}\"",
            "\"\\u001b[31m \\\\ \\\" / \\n\"",
            r#"{"__proto__":{"a":1},"constructor":null,"":[]}"#,
            r#"{"b":1,"a":2,"B":3}"#,
            "[[[[[[[[]]]]]]]]",
        ] {
            let body = format!(r#"{{"input":{{"value":{text}}}}}"#);
            let lines = [scene.bearer.as_str(), "Content-Type: application/json"];
            let request = raw::with_body("POST", "/api/tools/test.echo/run", &lines, body.as_bytes());
            let Outcome::Answered(response) = raw::exchange(&scene.server.url, &request).await else {
                panic!("{text}: no answer");
            };
            assert_eq!(response.status, 200, "{text}: {}", response.body);
            let run = response.json()["run_id"].as_str().unwrap().to_owned();
            let stored = scene.admin.get(&format!("/api/runs/{run}")).await.text;
            let events = scene.admin.get(&format!("/api/sessions/{run}/events")).await.text;
            // The very letters where they are the shortest way to write the value, else the same value.
            for (place, answer) in
                [("the answer", &response.body), ("the run", &stored), ("the log", &events)]
            {
                let exact = answer.contains(&format!(r#""output":{{"value":{text}}}"#));
                let number =
                    text.parse::<f64>().is_ok_and(|number| text.contains(['.', 'e']) && same(answer, number));
                assert!(exact || number, "{text} in {place}: {answer}");
            }
            for (place, answer) in [("the run", &stored), ("the log", &events)] {
                assert!(
                    answer.contains(&format!(r#""input":{{"value":{text}}}"#)),
                    "{text} in {place}: {answer}"
                );
            }
        }
    }
}

/// Whether the first output in a text is exactly this number.
fn same(answer: &str, number: f64) -> bool {
    let (_, rest) = answer.split_once(r#""output":{"value":"#).unwrap();
    let text = rest.split('}').next().unwrap();
    text.parse::<f64>().is_ok_and(|found| found.to_bits() == number.to_bits())
}

impl Scene {
    /// Whether the problem names the field. Returns what is wrong with it.
    async fn named(&self, operation: &Operation, body: &str, path: &str) -> Option<String> {
        let lines = [self.credentials(operation), "Content-Type: application/json"];
        let request =
            raw::with_body(&operation.method.to_uppercase(), &self.path(operation), &lines, body.as_bytes());
        let Outcome::Answered(response) = raw::exchange(&self.server.url, &request).await else {
            return Some("no answer".to_owned());
        };
        let problem = response.json();
        let named = problem["errors"]
            .as_array()
            .is_some_and(|errors| errors.iter().any(|error| error["path"] == path));
        (!named).then(|| format!("{path} is not named: {}", response.body))
    }

    /// Sends a body piece by piece until there is an answer. Returns how much was sent, how long it took
    /// and the answer.
    async fn flood(&self, operation: &Operation, announced: bool) -> (usize, Duration, Outcome) {
        const PIECE: usize = 64 << 10;
        const ALL: usize = 100 << 20;
        let (length, began) = (format!("Content-Length: {ALL}"), Instant::now());
        let framing = if announced { &length } else { "Transfer-Encoding: chunked" };
        let lines = [self.credentials(operation), "Content-Type: application/json", framing];
        let head = raw::head(&operation.method.to_uppercase(), &self.path(operation), &lines);
        let (mut read, mut write) = raw::connect(&self.server.url).await.into_split();
        write.write_all(head.as_bytes()).await.unwrap();
        let mut piece = vec![b' '; PIECE];
        if !announced {
            piece = [format!("{PIECE:x}\r\n").as_bytes(), &piece, b"\r\n"].concat();
        }
        let mut sent = 0;
        let sending = async {
            while sent < ALL && write.write_all(&piece).await.is_ok() {
                sent += PIECE;
            }
            std::future::pending::<()>().await;
        };
        let outcome = tokio::select! {
            outcome = raw::answer(&mut read) => outcome,
            () = sending => unreachable!("sending never ends"),
        };
        (sent, began.elapsed(), outcome)
    }
}
