//! Paths and queries that lead nowhere.

use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{NOBODY, Operation, REFUSED, Report, Scene, Wanted, raw};

/// What stands where an id or a slug should, and is neither. As it goes over the wire.
fn strange_names() -> Vec<String> {
    let long = |count: usize| "a".repeat(count);
    let names = [
        "x",
        "0",
        "-1",
        "null",
        "undefined",
        "*",
        "%20",
        "%00",
        "test.echo%00",
        "test.echo%0a",
        "test.echo%0d%0aX-Evil:%201",
        "test.echo%20",
        "test.echo.",
        ".test.echo",
        "test..echo",
        "test__echo",
        "test.%D0%B5cho",
        "test.e%E2%80%8Bcho",
        "%E2%80%AEtest.echo",
        "%EF%BD%94est.echo",
        "test.%C4%B0cho",
        "..%2f..%2fetc%2fpasswd",
        "..%5c..%5cboot.ini",
        "%2e%2e",
        "%2e%2e%2f",
        "%252e%252e",
        "%2f",
        "test.echo%2frun",
        "test.echo%3fa=b",
        "test.echo%23a",
        "%c0%ae%c0%ae",
        "%ff%fe",
        "%ed%a0%80",
        "%",
        "%zz",
        "%u0041",
        "{id}",
        "'%20OR%20'1'='1",
        "1%3BDROP%20TABLE%20runs",
        "%7B%7B7*7%7D%7D",
        "${7*7}",
        "00000000-0000-0000-0000-000000000000",
        "0193a000-0000-7000-8000-00000000000g",
        "0193a000-0000-7000-8000-0000000000000",
        NOBODY,
    ];
    let mut names: Vec<String> = names.map(str::to_owned).to_vec();
    names.extend([long(128), long(129), long(10_000), "%00".repeat(1000), "%F0%9F%98%80".repeat(500)]);
    names
}

/// What is no value of a parameter, by its name or else by its type.
fn strange_values(name: &str, kind: &str) -> Vec<String> {
    let numbers =
        ["NaN", "Infinity", "1.5", "1e9", "0x10", "ten", "-1", "--1", "5;", "%D9%A3", "99999999999999999999"];
    let words = ["none", "SUCCESS", "success%20", "'", "success,error", "%5B%5D"];
    let moments = [
        "garbage",
        "tomorrow",
        "0",
        "1763193600",
        "2026-13-45T00:00:00Z",
        "2026-11-15",
        "2026-11-15T08:00:00",
    ];
    let cursors =
        ["x", "0", "e30", "eyJpZCI6MX0", "..%2f", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "%F0%9F%98%80"];
    let mut values: Vec<String> = match (name, kind) {
        ("limit", _) => [numbers.as_slice(), &["0", "201", "1000000000", "9223372036854775807"]].concat(),
        ("offset" | "skip", _) => {
            [numbers.as_slice(), &["10001", "1000000000", "9223372036854775807"]].concat()
        }
        ("after", _) => vec!["NaN", "1.5", "1e9", "-1", "ten", "99999999999999999999", "first"],
        ("cursor", _) => cursors.to_vec(),
        ("since" | "until", _) => moments.to_vec(),
        ("session_id" | "parent_run_id", _) => vec!["x", "1", "test.echo", "..%2f"],
        ("status" | "source" | "kind" | "origin", _) => words.to_vec(),
        (_, "boolean") => vec!["maybe", "1", "TRUE", "yes"],
        (_, "integer") => numbers.to_vec(),
        // Free text: nothing that is text is wrong.
        _ => Vec::new(),
    }
    .into_iter()
    .map(str::to_owned)
    .collect();
    values.extend(["%00", "a%00b", "%ff", "%c3", "%ed%a0%80"].map(str::to_owned));
    if name == "cursor" {
        values.push("A".repeat(20_000));
    }
    values
}

impl Scene {
    /// A request for an operation at a path, with a body where it takes one.
    fn request(&self, operation: &Operation, target: &str) -> Vec<u8> {
        let method = operation.method.to_uppercase();
        let credentials = self.credentials(operation);
        match operation.fields {
            Some(_) => {
                let body = self.good_body(operation).to_string();
                raw::with_body(
                    &method,
                    target,
                    &[credentials, "Content-Type: application/json"],
                    body.as_bytes(),
                )
            }
            None => raw::head(&method, target, &[credentials]).into_bytes(),
        }
    }
}

on_both! {
    async fn name_that_is_none_finds_nothing(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let nothing = Wanted::Problem(&[400, 404]);
        for operation in scene.operations.iter().filter(|operation| operation.path.contains('{')) {
            for name in strange_names() {
                let target = Scene::path_with(operation, &name);
                let request = scene.request(operation, &target);
                scene
                    .ask(&mut report, &format!("{} {target:.200}", operation.method), &request, &nothing)
                    .await;
            }
        }
        scene.conclude(report, &before).await;
    }

    /// Such a refusal is written down, and must not be what breaks the log.
    async fn agent_that_calls_strange_names_is_refused_and_audited(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let agent = scene.world.agent(&scene.server, "acme").await;
        let bearer = format!("Authorization: Bearer {}", agent.key.unwrap());
        let nothing = Wanted::Problem(&[400, 404]);
        for name in strange_names() {
            let lines = [bearer.as_str(), "Content-Type: application/json"];
            let target = format!("/api/tools/{name}/run");
            let request = raw::with_body("POST", &target, &lines, br#"{"input":{}}"#);
            scene.ask(&mut report, &format!("{target:.200}"), &request, &nothing).await;
        }
        let audit = scene.admin.get("/api/audit?action=call.refused&limit=200").await.json();
        let objects: Vec<&str> =
            audit["items"].as_array().unwrap().iter().map(|item| item["object"].as_str().unwrap()).collect();
        assert!(objects.contains(&"tool:test.\u{435}cho"), "{objects:?}");
        scene.is_well(&mut report).await;
        report.conclude();
    }

    async fn path_that_is_no_route_is_nowhere(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        for target in [
            "/nothing",
            "/api",
            "/api/",
            "/api/me/",
            "//api/me",
            "/api//me",
            "/API/me",
            "/api/tools/",
            "/api/tools/../me",
            "/api/./me",
            "/api/%6de",
            "/%2fapi/me",
            "/api/me%00",
            "/api/me;x=1",
            "/api/docs/../../etc/passwd",
            "/api/docs/..%2f..%2fetc%2fpasswd",
            "/api/docs/%ff",
            "/api/docs/%00",
            "/docs/../../etc/passwd",
            "/docs/..%2f..%2fetc%2fpasswd",
            "/docs/%ff",
            "/docs/%00",
            "/docs/errors/TIMEOUT.md%00",
            "/.git/config",
            "/icons/..%2findex.html",
            "/icons/..%5ctheme.js",
            "/assets/..%2ftheme.js",
            "/assets/%ff",
            "/metrics/",
            "/healthz/x",
            "/sign-in/%ff",
        ] {
            let request = raw::head("GET", target, &[&scene.bearer]);
            scene.ask(&mut report, target, request.as_bytes(), &Wanted::Problem(&[400, 404])).await;
        }
        for method in ["FOO", "get", "TRACE", "OPTIONS", "PROPFIND", "DELETE", "PUT"] {
            let request = raw::head(method, "/api/me", &[&scene.bearer]);
            scene.ask(&mut report, method, request.as_bytes(), &Wanted::Problem(&[405])).await;
        }
        scene.conclude(report, &before).await;
    }

    async fn parameter_that_makes_no_sense_is_refused(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let wanted = Wanted::Problem(&[400, 422]);
        for operation in scene.operations.iter().filter(|operation| !operation.query.is_empty()) {
            let path = scene.path(operation);
            let mut parameters = operation.query.clone();
            if parameters.iter().any(|(name, _)| name == "offset") {
                parameters.push(("skip".to_owned(), "integer".to_owned()));
            }
            for (name, kind) in &parameters {
                let values = strange_values(name, kind);
                for value in values {
                    // The cursor of a log is a sequence number.
                    if operation.path.ends_with("/events") && name == "cursor" && value == "0" {
                        continue;
                    }
                    let request = scene.request(operation, &format!("{path}?{name}={value}"));
                    let case = format!("{} ?{name}={value:.100}", operation.name());
                    scene.ask(&mut report, &case, &request, &wanted).await;
                }
                let twice = scene.request(operation, &format!("{path}?{name}=1&{name}=1"));
                scene.ask(&mut report, &format!("{} ?{name} twice", operation.name()), &twice, &wanted).await;
            }
            let long = "n".repeat(5_000);
            for query in [format!("{long}=1&{long}=2"), "%00=1".to_owned(), "%ff=1".to_owned()] {
                let request = scene.request(operation, &format!("{path}?{query}"));
                scene
                    .ask(&mut report, &format!("{} ?{query:.50}", operation.name()), &request, &wanted)
                    .await;
            }
        }
        scene.conclude(report, &before).await;
    }

    /// A cursor is for the list and the caller it was given to.
    async fn cursor_of_another_list_or_caller_is_refused(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        for number in 0..3 {
            scene.admin.run("test.echo", json!({ "value": number })).await.is("200 success");
        }
        let cursor = scene.admin.get("/api/runs?limit=1").await.text_at("/next_cursor");
        let member = scene.world.client(&scene.server, "acme", Role::Viewer).await;
        let stranger = scene.world.client(&scene.server, "globex", Role::Admin).await;
        let mut swapped = cursor.clone().into_bytes();
        swapped[3] = if swapped[3] == b'A' { b'B' } else { b'A' };
        let swapped = String::from_utf8(swapped).unwrap();
        for (who, path) in [
            (&scene.admin, format!("/api/tools?cursor={cursor}")),
            (&scene.admin, format!("/api/users?cursor={cursor}")),
            (&scene.admin, format!("/api/audit?cursor={cursor}")),
            (&scene.admin, format!("/api/runs?cursor={swapped}")),
            (&scene.admin, format!("/api/runs?cursor={cursor}{cursor}")),
            (&scene.admin, format!("/api/runs?cursor={}", &cursor[1..])),
            (&member, format!("/api/runs?cursor={cursor}")),
            (&stranger, format!("/api/runs?cursor={cursor}")),
        ] {
            let bearer = format!("Authorization: Bearer {}", who.key.as_deref().unwrap());
            let request = raw::head("GET", &path, &[&bearer]);
            scene.ask(&mut report, &path, request.as_bytes(), &REFUSED).await;
        }
        let next = scene.admin.get(&format!("/api/runs?limit=1&cursor={cursor}")).await;
        assert_eq!(next.status, 200, "{}", next.text);
        report.conclude();
    }
}
