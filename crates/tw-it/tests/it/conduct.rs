//! How the server behaves as a server, whatever it is asked: problems, ids, headers, hosts, lists,
//! streams, figures and its own log.

mod book;
mod large;
mod lists;
mod streams;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both};

use crate::{
    bad_input::{
        is_problem,
        raw::{self, Outcome, Response},
    },
    world::{Answer, Client, Server, World, eventually},
};

async fn sqlite() -> World {
    World::on(TestDb::new(Kind::Sqlite).await).await
}

/// Asks for a path with the given headers.
async fn ask(client: &Client, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = client.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request).await
}

/// Asks by hand, where the client would put the request in order first.
async fn by_hand(server: &Server, request: &str) -> Response {
    match raw::exchange(&server.url, request.as_bytes()).await {
        Outcome::Answered(response) => response,
        other => panic!("{request}: {other:?}"),
    }
}

#[track_caller]
fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", answer.headers)).to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn path_without_a_route_and_method_without_a_handler_are_problems() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    for path in ["/nothing", "/api", "/api/nothing", "/api/tools/a/b/c", "/favicon.ico"] {
        admin.get(path).await.is("404 NOT_FOUND");
        let response = by_hand(&server, &raw::head("GET", path, &[])).await;
        is_problem(&response).unwrap();
    }

    let api = admin.get("/api/openapi.json").await.json();
    for (path, item) in api["paths"].as_object().unwrap() {
        let target =
            path.replace("{id}", "0193a000-0000-7000-8000-000000000000").replace("{tool}", "test.echo");
        let mut described: BTreeSet<String> =
            item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
        if described.contains("GET") {
            described.insert("HEAD".to_owned());
        }
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] {
            if described.contains(method) {
                continue;
            }
            let response = by_hand(&server, &raw::head(method, &target, &[])).await;
            assert_eq!(response.status, 405, "{method} {target}");
            is_problem(&response).unwrap();
            assert_eq!(response.json()["code"], "METHOD_NOT_ALLOWED");
            let allow =
                response.header("allow").unwrap_or_else(|| panic!("{method} {target} allows nothing"));
            let allow: BTreeSet<String> = allow.split(',').map(|method| method.trim().to_owned()).collect();
            assert_eq!(allow, described, "{method} {target}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn problem_names_a_page_that_explains_it() {
    let world = sqlite().await;
    let server = world.server();
    let stranger = Client::new(&server.url, None);
    for (path, code) in
        [("/api/nothing", "NOT_FOUND"), ("/api/me", "UNAUTHENTICATED"), ("/docs/errors/nothing", "NOT_FOUND")]
    {
        let refused = stranger.get(path).await;
        assert_eq!(refused.text_at("/code"), code);
        let page = stranger.get(&refused.text_at("/type")).await;
        assert_eq!(page.status, 200);
        assert!(page.text.starts_with(&format!("# {code}\n")), "{}", page.text);
    }
    let refused = stranger.get("/api/me").await;
    assert!(header(&refused, "www-authenticate").starts_with("Bearer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn request_has_one_id_the_callers_or_a_new_one() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    for id in ["my-request-0001", "A.b_c-1234", &"x".repeat(64)] {
        for path in ["/api/me", "/api/nothing", "/healthz", "/api/runs?limit=0"] {
            let answer = ask(&admin, Method::GET, path, &[("x-request-id", id)]).await;
            assert_eq!(header(&answer, "x-request-id"), id);
            if 400 <= answer.status.as_u16() {
                assert_eq!(answer.text_at("/request_id"), id);
            }
        }
    }
    let mut made = BTreeSet::new();
    for given in [
        None,
        Some(""),
        Some("short"),
        Some("with space in it"),
        Some("{\"a\":1}xxxxx"),
        Some("a/../../b"),
        Some("<script>xxx"),
    ] {
        let headers: Vec<_> = given.map(|given| ("x-request-id", given)).into_iter().collect();
        let answer = ask(&admin, Method::GET, "/api/nothing", &headers).await;
        let id = header(&answer, "x-request-id").to_owned();
        assert_eq!(answer.text_at("/request_id"), id);
        id.parse::<uuid::Uuid>().unwrap();
        assert!(made.insert(id), "an id was given twice");
    }
    let long = "x".repeat(65);
    let answer = ask(&admin, Method::GET, "/healthz", &[("x-request-id", &long)]).await;
    assert_ne!(header(&answer, "x-request-id"), long);

    // It is what a change is found by in the audit log.
    let changed = admin.request(Method::PATCH, "/api/tenants/current").header("x-request-id", "the-change-1");
    admin.send(changed.json(&json!({ "name": "Acme Inc." }))).await;
    let audit = admin.get("/api/audit?action=tenant.changed").await.json();
    assert_eq!(audit["items"][0]["request_id"], "the-change-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn trace_is_handed_back_and_what_is_none_is_dropped() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for path in ["/api/me", "/api/nothing", "/healthz"] {
        let answer = ask(&admin, Method::GET, path, &[("traceparent", trace)]).await;
        assert_eq!(header(&answer, "traceparent"), trace);
    }
    for wrong in [
        "",
        "nonsense",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    ] {
        let answer = ask(&admin, Method::GET, "/healthz", &[("traceparent", wrong)]).await;
        assert_eq!(answer.status, 200);
        assert!(!answer.headers.contains_key("traceparent"), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_tells_browsers_to_be_careful() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    let stranger = Client::new(&server.url, None);
    for answer in [
        admin.get("/healthz").await,
        admin.get("/readyz").await,
        admin.get("/metrics").await,
        admin.get("/api/me").await,
        admin.get("/api/openapi.json").await,
        admin.get("/api/docs").await,
        admin.get("/docs/errors/TIMEOUT").await,
        admin.get("/docs/index.json").await,
        admin.get("/llms.txt").await,
        admin.get("/sign-in").await,
        admin.get("/nothing").await,
        stranger.get("/api/me").await,
        stranger.post("/api/me", &json!({})).await,
        ask(&stranger, Method::GET, "/api/me", &[("host", "evil.example")]).await,
        admin.run("test.echo", json!({ "value": "<script>alert(1)</script>" })).await,
    ] {
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
        assert_eq!(header(&answer, "referrer-policy"), "no-referrer");
        assert_eq!(header(&answer, "x-frame-options"), "DENY");
        let policy = header(&answer, "content-security-policy");
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        for name in
            ["server", "x-powered-by", "access-control-allow-origin", "access-control-allow-credentials"]
        {
            assert!(!answer.headers.contains_key(name), "{name}: {:?}", answer.headers);
        }
    }
    for path in ["/api/me", "/api/tools", "/api/nothing"] {
        assert_eq!(header(&admin.get(path).await, "cache-control"), "no-store");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_load_nothing_from_anywhere_else() {
    let world = sqlite().await;
    let server = world.server();
    let anybody = Client::new(&server.url, None);
    for page in ["/api/docs", "/", "/sign-in", "/tools/roi-calculator"] {
        let html = anybody.get(page).await;
        assert_eq!(html.status, 200);
        assert_eq!(header(&html, "content-type"), "text/html; charset=utf-8");
        let policy = header(&html, "content-security-policy");
        for source in policy.split(';').filter(|part| part.contains("-src")) {
            let from: Vec<&str> = source.split_whitespace().skip(1).collect();
            // A style of the app's own making is let in by a word that no two answers share.
            let is_ours = match from[..] {
                ["'none'" | "'self'"] => true,
                ["'self'", nonce] => source.contains("style-src") && nonce.starts_with("'nonce-"),
                _ => false,
            };
            assert!(is_ours, "{source}");
        }
        let again = anybody.get(page).await;
        assert_eq!(policy.contains("'nonce-"), header(&again, "content-security-policy") != policy);
        // Nothing in the page itself may run or be painted: the policy would not let it.
        assert!(
            !html.text.contains("<style") && !html.text.contains("style=") && !html.text.contains(" on"),
            "{page}"
        );
        let mut files = 0;
        for attribute in ["src=\"", "href=\""] {
            for place in html.text.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                assert!(place.starts_with('/') && !place.starts_with("//"), "{page} leads to {place}");
                let file = anybody.get(place).await;
                assert_eq!(file.status, 200, "{place}");
                if place.ends_with(".js") || place.ends_with(".css") {
                    files += 1;
                    let wanted = if place.ends_with(".js") { "text/javascript" } else { "text/css" };
                    assert!(header(&file, "content-type").starts_with(wanted));
                }
            }
        }
        assert!(2 <= files, "{page} has {files} files");
        for script in html.text.split("<script").skip(1) {
            let (tag, text) = script.split_once('>').unwrap();
            assert!(tag.contains(" src=\""), "{page} has a script of its own: {script}");
            assert!(text.starts_with("</script>"), "{page} has a script of its own: {script}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn description_that_is_served_is_the_one_in_the_repository() {
    let world = sqlite().await;
    let server = world.server();
    let served = Client::new(&server.url, None).get("/api/openapi.json").await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi/toolwright.json");
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(served.json(), committed);
    assert_eq!(header(&served, "content-type"), "application/json");
}

/// What no list of words has, no number is and no id.
const NONSENSE: &str = "no-such-word";

#[tokio::test(flavor = "multi_thread")]
async fn parameter_that_takes_some_values_only_is_described_with_them() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    let description = admin.get("/api/openapi.json").await.json();
    let session = admin.post("/api/sessions", &json!({})).await.text_at("/id");
    let (mut free, mut asked) = (Vec::new(), 0);
    for (path, item) in description["paths"].as_object().unwrap() {
        let parameters = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "query") {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let path = path.replace("{tool}", "test.echo").replace("{id}", &session);
            // Those that never end are asked with what is refused only.
            let says = |keyword: &str| schema.get(keyword).is_some();
            let is_said = says("enum")
                || says("format")
                || says("pattern")
                || says("maximum")
                || schema["type"].to_string().contains("boolean");
            let wrong = async |value: &str| {
                let answer = admin.get(&format!("{path}?{name}={value}")).await;
                let errors = answer.json()["errors"].as_array().cloned().unwrap_or_default();
                answer.status == 422 && errors.iter().any(|fault| fault["path"] == format!("/{name}"))
            };
            asked += 1;
            if is_said {
                assert!(wrong(NONSENSE).await, "{path}: `{name}` takes what it does not describe");
            } else if !path.ends_with("/stream") && !["cursor", "from", "to"].contains(&name) {
                assert!(!wrong(NONSENSE).await, "{path}: `{name}` does not say what it takes");
                free.push(name.to_owned());
            }
            assert_eq!(wrong("").await, name != "q", "{path}?{name}=");
        }
    }
    free.sort();
    free.dedup();
    assert_eq!(
        free,
        ["action", "agent", "category", "error_code", "implementation_type", "object", "q", "tool"]
    );
    assert!(40 < asked, "{asked} parameters");
}

/// Who may be asked for, and by whose pages: each line is a `Host`, an `Origin` and the verdict.
async fn judge(server: &Server, key: &str, cases: &[(&str, &str, u16)]) {
    for (host, origin, status) in cases {
        let mut lines = vec![format!("Authorization: Bearer {key}")];
        if !origin.is_empty() {
            lines.push(format!("Origin: {origin}"));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for path in ["/api/me", "/api/docs", "/metrics", "/api/openapi.json", "/nothing", "/sign-in"] {
            let request = raw::head("GET", path, &lines).replace("Host: 127.0.0.1", &format!("Host: {host}"));
            let response = by_hand(server, &request).await;
            if *status == 403 {
                assert_eq!(response.status, 403, "{path} at {host} from {origin}");
                assert_eq!(response.json()["code"], "FOREIGN_HOST");
                is_problem(&response).unwrap();
            } else {
                assert_ne!(response.status, 403, "{path} at {host} from {origin}: {}", response.body);
            }
        }
        for path in ["/healthz", "/readyz"] {
            let request = raw::head("GET", path, &lines).replace("Host: 127.0.0.1", &format!("Host: {host}"));
            assert_eq!(by_hand(server, &request).await.status, 200, "{path} at {host} from {origin}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_own_hosts_and_own_pages_are_served() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    let cases = [
        ("127.0.0.1", "", 200),
        ("localhost:7420", "", 200),
        ("LocalHost:3000", "http://localhost:3000", 200),
        ("localhost:7420", "http://127.0.0.1:7420", 200),
        ("[::1]:7420", "http://[::1]:7420", 200),
        ("127.0.0.1", "https://127.0.0.1", 200),
        ("evil.example", "", 403),
        ("127.0.0.1.evil.example", "", 403),
        ("localhost.evil.example", "", 403),
        ("evil-localhost", "", 403),
        ("localhost.", "", 403),
        ("127.0.0.1:80:80", "", 403),
        ("127.0.0.1, evil.example", "", 403),
        ("127.0.0.1@evil.example", "", 403),
        ("127.1", "", 403),
        ("2130706433", "", 403),
        ("0.0.0.0", "", 403),
        ("::1", "", 403),
        ("127.0.0.1", "null", 403),
        ("localhost:7420", "http://localhost:9999", 403),
        ("localhost:7420", "http://localhost", 403),
        ("127.0.0.1", "http://evil.example", 403),
        ("127.0.0.1", "http://localhost.evil.example", 403),
        ("127.0.0.1", "http://localhost@evil.example", 403),
        ("127.0.0.1", "http://evil.example/localhost", 403),
        ("127.0.0.1", "localhost", 403),
        ("127.0.0.1", "file://", 403),
        ("127.0.0.1", "chrome-extension://localhost", 403),
        ("evil.example", "http://evil.example", 403),
    ];
    judge(&server, admin.key.as_deref().unwrap(), &cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_and_pages_that_the_settings_name_are_served_too() {
    let world = sqlite().await;
    let settings = [
        ("TOOLWRIGHT_PUBLIC_URL", "https://tools.example.com/base"),
        ("TOOLWRIGHT_ALLOWED_HOSTS", "internal.example, Gateway.example:8443"),
        ("TOOLWRIGHT_ALLOWED_ORIGINS", "https://app.example.org, https://other.example.org/"),
    ];
    let server = world.server_with(&[], &settings);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let cases = [
        ("tools.example.com", "", 200),
        ("tools.example.com:443", "https://tools.example.com", 200),
        ("tools.example.com", "http://tools.example.com", 403),
        ("internal.example:1234", "https://internal.example:1234", 200),
        ("internal.example:1234", "https://internal.example", 403),
        ("internal.example:1234", "", 200),
        ("gateway.example:8443", "", 200),
        ("localhost", "", 200),
        ("localhost", "https://app.example.org", 200),
        ("localhost", "https://other.example.org", 200),
        ("gateway.example", "", 403),
        ("gateway.example:8444", "", 403),
        ("xtools.example.com", "", 403),
        ("tools.example.com.evil.example", "", 403),
        ("app.example.org", "", 403),
        ("localhost", "http://app.example.org", 403),
        ("localhost", "https://app.example.org.evil.example", 403),
        ("localhost", "https://evil-app.example.org", 403),
        ("localhost", "https://app.example.org:444", 403),
        ("localhost", "null", 403),
    ];
    judge(&server, admin.key.as_deref().unwrap(), &cases).await;

    // Such a page can read what it gets, with a key and never with a cookie.
    for (origin, welcome) in [
        ("https://app.example.org", true),
        ("https://tools.example.com", false),
        ("http://evil.example", false),
    ] {
        let asked = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,content-type"),
        ];
        let before =
            ask(&Client::new(&server.url, None), Method::OPTIONS, "/api/tools/test.echo/run", &asked).await;
        let read = ask(&admin, Method::GET, "/api/me", &[("origin", origin)]).await;
        let refused = ask(&admin, Method::GET, "/api/nothing", &[("origin", origin)]).await;
        for answer in [&before, &read, &refused] {
            let allowed =
                answer.headers.get("access-control-allow-origin").map(|value| value.to_str().unwrap());
            assert_eq!(allowed, welcome.then_some(origin), "{origin}: {}", answer.status);
            assert!(!answer.headers.contains_key("access-control-allow-credentials"));
        }
        if welcome {
            assert_eq!(before.status, 204);
            assert_eq!(header(&before, "access-control-allow-headers"), "authorization,content-type");
            assert!(header(&before, "access-control-allow-methods").contains("POST"));
            assert!(read.headers.get_all("vary").iter().any(|names| names == "Origin"), "{:?}", read.headers);
        }
    }
    let link = admin
        .post(
            &format!("/api/users/{}/link", admin.get("/api/me").await.text_at("/principal/user_id")),
            &json!({}),
        )
        .await;
    assert!(
        link.text_at("/url").starts_with("https://tools.example.com/base/sign-in?token="),
        "{}",
        link.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_for_admins_and_count() {
    let world = sqlite().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    Client::new(&server.url, None).get("/metrics").await.is("401 UNAUTHENTICATED");
    Client::new(&server.url, Some("tw_wrong".to_owned())).get("/metrics").await.is("401 UNAUTHENTICATED");
    for role in [Role::Member, Role::Viewer, Role::Approver] {
        world.client(&server, "acme", role).await.get("/metrics").await.is("403 NOT_PERMITTED");
    }
    world.agent(&server, "acme").await.get("/metrics").await.is("403 NOT_PERMITTED");

    let successes = r#"toolwright_runs_total{status="success",source="api"}"#;
    let before = figure(&admin.get("/metrics").await.text, successes);
    for number in 0..3 {
        admin.run("test.echo", json!({ "value": number })).await.is("200 success");
    }
    admin.run("test.fail", json!({ "message": "no" })).await.is("200 error");
    let figures = admin.get("/metrics").await;
    assert!(header(&figures, "content-type").starts_with("text/plain"));
    assert_eq!(figure(&figures.text, successes) - before, 3.0);
    assert_eq!(figure(&figures.text, r#"toolwright_runs_total{status="error",source="api"}"#), 1.0);
    assert_eq!(
        figure(
            &figures.text,
            r#"toolwright_http_requests_total{route="/api/tools/{tool}/run",status="200"}"#
        ),
        4.0
    );
    assert_eq!(figure(&figures.text, "toolwright_run_seconds_count"), 4.0);
    assert_eq!(figure(&figures.text, "toolwright_runs_in_flight"), 0.0);
    // What strangers ask for must not become ever new figures.
    for number in 0..20 {
        admin.get(&format!("/nothing/{number}")).await;
        admin.get(&format!("/api/tools/none{number}")).await;
    }
    let text = admin.get("/metrics").await.text;
    assert!(!text.contains("none1") && !text.contains("/nothing"), "{text}");

    drop(server);
    let server = world.server_with(&[], &[("TOOLWRIGHT_METRICS__PUBLIC", "true")]);
    assert_eq!(Client::new(&server.url, None).get("/metrics").await.status, 200);
}

/// One number of the figures; 0 where it has not been counted yet.
fn figure(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0.0, |value| value.trim().parse().unwrap())
}

/// Lines that the server's own log would have if a text from outside could write into it.
const FORGED: &str = r#"{"level":"ERROR","forged":true}"#;

/// Sends texts with line ends wherever a text can be sent.
async fn inject(admin: &Client) {
    let line = format!("quiet\n{FORGED}\r\n{FORGED}\u{2028}\u{1b}[2J");
    let encoded: String = line.bytes().map(|byte| format!("%{byte:02x}")).collect();
    admin.get(&format!("/api/tools/{encoded}")).await;
    admin.get(&format!("/api/runs?tool={encoded}&cursor={encoded}")).await;
    admin.get(&format!("/{encoded}")).await;
    admin.run("test.panic", json!({ "message": line })).await.is("200 error");
    admin.run("test.fail", json!({ "message": line })).await.is("200 error");
    admin.run(&encoded, json!({})).await;
    admin.run("test.echo", json!({ &line: 1 })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn log_is_one_json_object_per_line_with_the_id_of_the_request() {
    let world = sqlite().await;
    let settings = [("TOOLWRIGHT_LOG__FORMAT", "json"), ("TOOLWRIGHT_LOG__LEVEL", "debug")];
    let server = world.server_with(&[], &settings);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let plain = |log: &str| log.lines().filter(|line| !is_object(line)).count();
    // What the server prints for people is read beside the test, and the last line of it comes last.
    eventually("the greeting is read", Duration::from_secs(10), async || {
        server.log().lines().any(|line| line.starts_with("listening on "))
    })
    .await;
    let before = plain(&server.log());
    let marked =
        admin.request(Method::GET, "/api/tools/%0aforged%0d%0a").header("x-request-id", "find-me-in-the-log");
    admin.send(marked).await.is("404 TOOL_NOT_FOUND");
    inject(&admin).await;

    eventually("the log has the request", Duration::from_secs(10), async || {
        server.log().lines().any(|line| line.contains("find-me-in-the-log") && line.contains("\"answered\""))
    })
    .await;
    eventually("the log has the panic", Duration::from_secs(10), async || server.log().contains("\"panic\""))
        .await;
    let log = server.log();
    assert_eq!(plain(&log), before, "a line is no JSON object:\n{log}");
    for line in log.lines().filter(|line| is_object(line)) {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry["timestamp"].is_string() && entry["level"].is_string(), "{line}");
        assert!(entry["forged"].is_null(), "{line}");
        if entry["message"] == "answered" {
            let span = &entry["span"];
            assert!(span["request_id"].as_str().is_some_and(|id| 8 <= id.len()), "{line}");
            assert!(
                span["method"].is_string() && span["path"].is_string() && entry["status"].is_u64(),
                "{line}"
            );
        }
    }
    let panic = log.lines().find(|line| line.contains("\"panic\"")).unwrap();
    assert!(panic.contains("request_id"), "{panic}");
    assert!(!log.contains(admin.key.as_deref().unwrap()), "the log has a key in it");
}

fn is_object(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|value| value.is_object())
}

#[tokio::test(flavor = "multi_thread")]
async fn log_in_words_has_one_line_per_event_too() {
    let world = sqlite().await;
    let server = world.server_with(&[], &[("TOOLWRIGHT_LOG__LEVEL", "debug")]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    // The greeting goes its own way, and may come after the first events.
    eventually("the greeting is there", Duration::from_secs(10), async || {
        server.log().contains("listening on")
    })
    .await;
    let before = server.log().lines().count();
    inject(&admin).await;
    eventually("the log has the panic", Duration::from_secs(10), async || server.log().contains("panic at="))
        .await;
    for line in server.log().lines().skip(before) {
        assert!(line.starts_with("20") && line.contains('Z'), "a line that is no event: {line:?}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn right_is_asked_for_before_the_body() {
    let world = sqlite().await;
    let server = world.server();
    let viewer = world.client(&server, "acme", Role::Viewer).await;
    let member = world.client(&server, "acme", Role::Member).await;
    let agent = world.agent(&server, "acme").await;
    let bodies = ["{\"input\":{\"value\":1}}", "{\"input\":{\"wrong\":1}}", "{", "[]", "{\"a\":1,\"a\":2}"];
    let huge = "x".repeat(5 << 20);
    for body in bodies.into_iter().chain([huge.as_str()]) {
        for (who, method, path) in [
            (&viewer, Method::POST, "/api/tools/test.echo/run"),
            (&viewer, Method::POST, "/api/tools/nothing/run"),
            (&viewer, Method::POST, "/api/sessions"),
            (&member, Method::POST, "/api/users"),
            (&member, Method::PATCH, "/api/tenants/current"),
            (&member, Method::PATCH, "/api/tools/test.echo"),
            (&member, Method::POST, "/api/approvals/nothing/approve"),
            (&agent, Method::PATCH, "/api/tools/test.echo"),
            (&agent, Method::POST, "/api/api-keys"),
        ] {
            let request =
                who.request(method, path).header("content-type", "application/json").body(body.to_owned());
            who.send(request).await.is("403 NOT_PERMITTED");
        }
        let stranger = Client::new(&server.url, None);
        let request = stranger.request(Method::POST, "/api/tools/test.echo/run").body(body.to_owned());
        stranger.send(request).await.is("401 UNAUTHENTICATED");
    }
    // The tool's own permission too wins over what is wrong with the input.
    member.run("test.guarded", json!({ "wrong": 1 })).await.is("403 NOT_PERMITTED");
}

#[tokio::test(flavor = "multi_thread")]
async fn body_may_be_as_large_as_the_settings_say() {
    let world = sqlite().await;
    let send = async |client: &Client, bytes: usize| {
        let frame = r#"{"input":{"value":""}}"#.len();
        let body = format!(r#"{{"input":{{"value":"{}"}}}}"#, "x".repeat(bytes - frame));
        assert_eq!(body.len(), bytes);
        let request = client.request(Method::POST, "/api/tools/test.echo/run");
        client.send(request.header("content-type", "application/json").body(body)).await
    };
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    send(&admin, 4 << 20).await.is("200 success");
    let refused = send(&admin, (4 << 20) + 1).await;
    refused.is("413 PAYLOAD_TOO_LARGE");
    assert!(refused.text_at("/detail").contains("4194304"), "{}", refused.text);

    drop(server);
    let server = world.server_with(&[], &[("TOOLWRIGHT_BODY_LIMIT_BYTES", "1000")]);
    let admin = admin.at(&server);
    send(&admin, 1000).await.is("200 success");
    send(&admin, 1001).await.is("413 PAYLOAD_TOO_LARGE");
}

on_both! {
    async fn etag_names_what_was_read_and_guards_what_is_written(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for (path, one, other) in [
            ("/api/tenants/current", json!({ "name": "One" }), json!({ "name": "Other" })),
            ("/api/tools/test.echo", json!({ "name": "One" }), json!({ "description": "Other" })),
        ] {
            let patch = async |etag: &str, body: &Value| {
                admin.send(admin.request(Method::PATCH, path).header("if-match", etag).json(body)).await
            };
            let first = admin.get(path).await;
            let etag = header(&first, "etag").to_owned();
            assert!(etag.starts_with('"') && etag.ends_with('"'), "{etag}");
            assert_eq!(header(&admin.get(path).await, "etag"), etag, "reading changes nothing");

            let changed = patch(&etag, &one).await;
            assert_eq!(changed.status, 200, "{}", changed.text);
            let new = header(&changed, "etag").to_owned();
            assert_ne!(new, etag);
            assert_eq!(header(&admin.get(path).await, "etag"), new);
            patch(&etag, &other).await.is("412 PRECONDITION_FAILED");
            patch("\"nonsense\"", &other).await.is("412 PRECONDITION_FAILED");
            assert_eq!(header(&admin.get(path).await, "etag"), new, "a refused change changes nothing");
            assert_eq!(admin.get(path).await.json()["name"], "One");
            assert_eq!(patch("*", &other).await.status, 200);
            patch(&new, &one).await.is("412 PRECONDITION_FAILED");

            // Of many who read the same, one may write.
            let etag = header(&admin.get(path).await, "etag").to_owned();
            let names: Vec<Value> =
                (0..8).map(|number| json!({ "name": format!("Name {number}") })).collect();
            let tries = names.iter().map(|body| patch(&etag, body));
            let mut verdicts: BTreeMap<u16, usize> = BTreeMap::new();
            for answer in futures::future::join_all(tries).await {
                *verdicts.entry(answer.status.as_u16()).or_default() += 1;
            }
            assert_eq!(verdicts, BTreeMap::from([(200, 1), (412, 7)]), "{path}");
        }
        assert_eq!(
            admin.get("/api/tools/test.echo").await.json()["etag"],
            header(&admin.get("/api/tools/test.echo").await, "etag")
        );
    }
}
