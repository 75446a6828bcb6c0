//! Tools that call a service: what is sent, what comes back, what stays secret, and where they may not go.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use super::{
    PATIENCE, approve, call, calling, cancel, composition, first, make, once, run_of, server_to, tool, with,
};
use crate::{
    canary::{everything_stored, holds},
    ways_out::shut_urls,
    world::{Answer, Client, World, eventually},
};

fn http(slug: &str, implementation: &Value) -> Value {
    tool(slug, &json!({ "implementation_type": "http", "implementation": implementation }))
}

/// A tool that asks one URL.
fn getting(slug: &str, url: &str) -> Value {
    http(slug, &json!({ "url": url }))
}

async fn credential(admin: &Client, label: &str, kind: &str, payload: Value) {
    let body = json!({ "label": label, "type": kind, "payload": payload });
    admin.post("/api/credentials", &body).await.is("201");
}

/// An answer of a service.
fn saying(status: &str, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[track_caller]
fn failed_with(answer: &Answer, code: &str) -> String {
    answer.is("200 error");
    assert_eq!(answer.text_at("/error_code"), code, "{}", answer.text);
    assert_eq!(answer.json()["output"], Value::Null);
    answer.text_at("/error")
}

on_both! {
    async fn service_gets_what_the_template_says_and_the_caller_what_the_filter_leaves(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        credential(&admin, "weather", "api_key", json!({ "api_key": "k-123" })).await;
        make(&admin, &http("weather", &json!({
            "url": upstream.url("/v1/cities/{{ input.city }}"), "method": "GET",
            "query": { "units": "{{ input.units }}", "days": "{{ input.days }}", "absent": "{{ input.absent }}" },
            "headers": { "X-Api-Key": "secret:weather" }, "response": ".current",
        }))).await;
        upstream.script([saying("200 OK", "application/json", r#"{"current":{"t":21.5},"rest":"ignored"}"#)]);
        let told = member.run("weather", json!({ "city": "São Paulo/../x?y=1#z", "units": "metric", "days": 3 })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "t": 21.5 }));
        let asked = upstream.requests().remove(0);
        assert_eq!(asked.method, "GET");
        assert_eq!(asked.path, "/v1/cities/S%C3%A3o%20Paulo%2F..%2Fx%3Fy%3D1%23z?units=metric&days=3");
        assert_eq!(asked.header("x-api-key"), Some("k-123"));
        assert!(!asked.head.contains("tw_") && asked.header("authorization").is_none(), "{}", asked.head);
        assert_eq!(member.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.completed"]);

        // A value that is one expression keeps its type; a text is inserted once and never read again.
        make(&admin, &http("order", &json!({
            "url": upstream.url("/orders"), "method": "POST",
            "body": { "count": "{{ input.count }}", "all": "{{ input }}", "note": "for {{ input.note }}", "fixed": [1, null] },
        }))).await;
        upstream.script([saying("201 Created", "application/json; charset=utf-8", r#"{"id":9007199254740993}"#)]);
        let note = "{{ 7*7 }} {% raw %} secret:weather";
        let told = member.run("order", json!({ "count": 2, "note": note })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "id": 9_007_199_254_740_993_u64 }));
        let asked = upstream.requests().remove(1);
        assert_eq!((asked.method.as_str(), asked.header("content-type")), ("POST", Some("application/json")));
        let sent: Value = serde_json::from_slice(&asked.body).unwrap();
        assert_eq!(sent, json!({
            "count": 2, "all": { "count": 2, "note": note }, "note": format!("for {note}"), "fixed": [1, null],
        }));
    }

    async fn secret_that_a_service_gives_back_is_found_nowhere(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let canaries = ["canary-api-key-7f31", "canary-token-99aa", "canary-pass-40b1", "canary-literal-5c", "canary:quoted\"{é}"];
        credential(&admin, "key", "api_key", json!({ "api_key": canaries[0] })).await;
        credential(&admin, "token", "bearer", json!({ "token": canaries[1] })).await;
        credential(&admin, "login", "basic", json!({ "username": "user", "password": canaries[2] })).await;
        credential(&admin, "odd", "custom", json!({ "api_key": canaries[4] })).await;
        let implementation = json!({
            "url": upstream.url("/echo"), "method": "POST", "query": { "k": "secret:key" },
            "headers": {
                "X-Key": "secret:key", "Authorization": "Bearer secret:token", "X-Login": "Basic secret:login",
                "X-Literal-Key": canaries[3],
            },
            "body": { "token": "secret:token", "odd": "secret:odd" },
        });
        make(&admin, &http("echoing", &implementation)).await;
        make(&admin, &http("filtered", &with(implementation.clone(), &json!({ "response": "." })))).await;

        let mut seen = String::new();
        let basic = "dXNlcjpjYW5hcnktcGFzcy00MGIx";
        for caller in [&member, &agent] {
            for slug in ["echoing", "filtered"] {
                let told = caller.run(slug, json!({})).await;
                told.is("200 success");
                assert!(told.text.contains("***"), "{}", told.text);
                seen.push_str(&told.text);
            }
        }
        let asked = upstream.requests().remove(0);
        assert_eq!(asked.header("authorization"), Some("Bearer canary-token-99aa"));
        assert_eq!(asked.header("x-login"), Some(format!("Basic {basic}").as_str()));
        assert_eq!(asked.path, "/echo?k=canary-api-key-7f31");
        assert!(String::from_utf8_lossy(&asked.body).contains(canaries[1]));

        // In an error, also where the end of what is shown goes through the middle of it.
        let long = format!("{}{}", "x".repeat(490), canaries[0]);
        upstream.script([
            saying("500 No", "text/plain", &format!("you sent {}", canaries.join(" and "))),
            saying("400 No", "text/plain", &long),
            saying("302 Found", "text/plain", &long),
            saying("200 OK", "application/json", &json!({ canaries[0]: { "deep": [canaries[1], basic] } }).to_string()),
            saying("200 OK", "application/json", &format!("{{ no JSON {}", canaries[0])),
        ]);
        for _ in 0..5 {
            seen.push_str(&member.run("echoing", json!({})).await.text);
        }
        assert!(!seen.contains(&canaries[0][..9]), "cut through: {seen}");

        for path in ["/api/runs?limit=200", "/api/audit?limit=200", "/api/tools/echoing", "/api/tools?limit=200", "/api/credentials"] {
            seen.push_str(&admin.get(path).await.text);
        }
        for run in admin.get("/api/runs?limit=200").await.json()["items"].as_array().unwrap() {
            let run = run["run_id"].as_str().unwrap();
            seen.push_str(&admin.get(&format!("/api/runs/{run}")).await.text);
            let events = member.get(&format!("/api/sessions/{run}/events?limit=200")).await;
            seen.push_str(&events.text);
        }
        seen.push_str(&admin.get("/metrics").await.text);
        seen.push_str(&server.log());
        let stored = everything_stored(&world.db).await;
        for canary in canaries.into_iter().chain([basic]) {
            let escaped = json!(canary).to_string();
            let escaped = escaped.trim_matches('"');
            assert!(!seen.contains(canary) && !seen.contains(escaped), "{canary} was told");
            assert!(!holds(&stored, canary) && !holds(&stored, escaped), "{canary} is stored");
        }
    }

    async fn answer_that_is_no_success_is_an_error_with_its_beginning(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        for status in [400, 401, 404, 429, 500, 503] {
            let slug = format!("s{status}");
            make(&admin, &getting(&slug, &upstream.url(&format!("/status/{status}")))).await;
            let told = admin.run(&slug, json!({})).await;
            assert_eq!(failed_with(&told, "UPSTREAM_ERROR"), format!("HTTP {status}: so"));
            assert_eq!(admin.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        }
        upstream.script([saying("500 No", "text/plain", &"é".repeat(2000))]);
        let told = failed_with(&admin.run("s500", json!({})).await, "UPSTREAM_ERROR");
        assert_eq!(told, format!("HTTP 500: {}", "é".repeat(500)));
        assert_eq!(upstream.requests().len(), 7, "nothing is tried again that nobody asked to");

        for trick in ["reset", "wrong-length", "bad-chunk", "two-lengths", "crlf-header", "no-http", "gzip-bomb", "silent-close"] {
            make(&admin, &getting(trick, &upstream.url(&format!("/{trick}")))).await;
            failed_with(&admin.run(trick, json!({})).await, "UPSTREAM_ERROR");
        }
    }

    async fn busy_service_is_asked_again_where_that_does_no_harm(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let busy = "HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n".to_owned();
        let fine = saying("200 OK", "application/json", "{}");
        let url = upstream.url("/");
        make(&admin, &http("safe", &json!({ "url": url, "retry": { "max": 2 } }))).await;
        make(&admin, &http("unsafe", &json!({ "url": url, "method": "POST", "retry": { "max": 2 } }))).await;
        make(&admin, &http("keyed", &json!({
            "url": url, "method": "POST", "retry": { "max": 2 }, "idempotency_header": "Idempotency-Key",
        }))).await;

        upstream.script([busy.clone(), busy.clone(), fine.clone()]);
        admin.run("safe", json!({})).await.is("200 success");
        assert_eq!(upstream.requests().len(), 3);

        upstream.script([busy.clone()]);
        failed_with(&admin.run("unsafe", json!({})).await, "UPSTREAM_ERROR");
        assert_eq!(upstream.requests().len(), 4);

        upstream.script([busy.clone(), fine]);
        admin.run("keyed", json!({})).await.is("200 success");
        let asked = upstream.requests().split_off(4);
        assert_eq!(asked.len(), 2);
        assert!(asked[0].header("idempotency-key").is_some());
        assert_eq!(asked[0].header("idempotency-key"), asked[1].header("idempotency-key"));

        upstream.script([busy.clone(), busy.clone(), busy]);
        failed_with(&admin.run("safe", json!({})).await, "UPSTREAM_ERROR");
        assert_eq!(upstream.requests().len(), 9);
    }

    async fn failed_run_keeps_what_the_service_said_about_it(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &getting("send", &upstream.url("/"))).await;
        let step = json!({ "id": "s", "tool": "send" });
        make(&admin, &composition("stops", &json!({ "steps": [step] }))).await;
        let goes_on = json!({ "id": "s", "tool": "send", "on_error": "continue" });
        let said = json!({ "success": false, "summary": "{{ steps.s.error.message }}, says the chain", "error": "gave up" });
        make(&admin, &composition("says", &json!({ "steps": [goes_on], "output": said }))).await;
        let said = r#"{ "success": false, "summary": "1 of 3 sent", "error": "no route", "data": { "sent": 1 }, "markdown": "**1**" }"#;
        upstream.script(vec![saying("200 OK", "application/json", said); 3]);

        let told = admin.run("send", json!({})).await;
        let record = run_of(&admin, &told.is("200 error").text_at("/run_id")).await;
        for answer in [&told.json(), &record] {
            assert_eq!((&answer["error"], &answer["error_code"]), (&json!("no route"), &json!("TOOL_FAILED")));
            assert_eq!((&answer["summary"], &answer["markdown"]), (&json!("1 of 3 sent"), &json!("**1**")), "{answer}");
            assert_eq!(answer["output"], json!({ "sent": 1 }));
        }
        assert_eq!(admin.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);

        // A chain that such a step stops has failed too, and so has one that says so itself.
        let told = admin.run("stops", json!({})).await;
        assert!(told.is("200 error").text_at("/error").contains("no route"), "{}", told.text);
        assert_eq!(admin.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        let told = admin.run("says", json!({})).await;
        assert_eq!(told.is("200 error").text_at("/summary"), "no route, says the chain");
        assert_eq!(told.text_at("/error"), "gave up");
    }

    async fn argument_in_a_header_is_one_value_or_nothing_is_sent(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &http("header", &json!({ "url": upstream.url("/"), "headers": { "X-Name": "n {{ input.x }}" } }))).await;
        for x in ["a\r\nHost: evil.example", "a\nb: c", "a\rb", "a\u{0}b"] {
            let told = admin.run("header", json!({ "x": x })).await;
            if told.status == 200 {
                failed_with(&told, "INVALID_PARAMS");
            } else {
                assert!(told.status.is_client_error(), "{}", told.text);
            }
        }
        assert_eq!(upstream.connections(), 0);
        admin.run("header", json!({ "x": "{{ 7*7 }}" })).await.is("200 success");
        assert_eq!(upstream.requests()[0].header("x-name"), Some("n {{ 7*7 }}"));
    }

    async fn redirect_is_an_error_and_is_not_followed(db: TestDb) {
        let (upstream, elsewhere) = (Upstream::start().await, Upstream::start().await);
        let world = World::on(db).await;
        // Both may be called, so it is not the guard that keeps it here.
        let server = server_to(&world, &[&upstream, &elsewhere]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let targets = [elsewhere.url("/"), "http://169.254.169.254/".to_owned(), "file:///etc/passwd".to_owned()];
        for (number, to) in targets.iter().enumerate() {
            let slug = format!("r{number}");
            make(&admin, &getting(&slug, &upstream.url(&format!("/redirect?to={to}")))).await;
            let told = failed_with(&admin.run(&slug, json!({})).await, "UPSTREAM_ERROR");
            assert!(told.starts_with("HTTP 302: "), "{told}");
        }
        assert_eq!((upstream.requests().len(), elsewhere.connections()), (3, 0));
    }

    async fn service_that_hangs_times_out_with_one_event_and_is_let_go(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let ways = ["hang", "hang-after-headers", "drip", "never-close"];
        for (number, way) in ways.iter().enumerate() {
            let body = with(getting(way, &upstream.url(&format!("/{way}"))), &json!({ "timeout_ms": 300 }));
            make(&admin, &body).await;
            let began = Instant::now();
            let told = admin.run(way, json!({})).await;
            told.is("200 timed_out");
            assert!(Duration::from_millis(300) <= began.elapsed() && began.elapsed() < Duration::from_secs(5));
            let told = told.json();
            assert_eq!(told["error"], "Tool timed out after 300ms", "{way}");
            assert_eq!(
                (&told["error_code"], &told["success"], &told["output"]),
                (&json!("TIMEOUT"), &json!(false), &Value::Null)
            );
            assert!(told.get("pending_tool_call_id").is_none());
            let run = told["run_id"].as_str().unwrap();
            assert_eq!(admin.trail(run).await, ["tool.started", "tool.failed"]);
            tokio::time::timeout(PATIENCE, upstream.hung_up(number + 1)).await.expect("the connection is let go");
        }
        // The client's own limit and the tool's are the same moment; which is noticed first must not matter.
        // The circuit stays shut for one try more.
        for _ in 0..18 {
            admin.run("hang", json!({})).await.is("200 timed_out");
        }
        let open = call(&admin, "drip", &json!({ "input": {}, "wait_ms": 20 })).await;
        let run = open.is("202 running").text_at("/run_id");
        assert_eq!(once(&admin, &run, "timed_out").await["error"], "Tool timed out after 300ms");
    }

    async fn call_that_hangs_can_be_cancelled(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &getting("hangs", &upstream.url("/hang"))).await;
        let waiting = calling(&admin, "hangs", json!({ "input": {} }));
        tokio::time::timeout(PATIENCE, upstream.connected(1)).await.unwrap();
        let run = first(&admin, "hangs", "running").await;

        cancel(&admin, &run).await.is("200 cancelled");

        waiting.await.unwrap().is("200 cancelled");
        tokio::time::timeout(PATIENCE, upstream.hung_up(1)).await.expect("the connection is let go");
        assert_eq!(admin.trail(&run).await, ["tool.started", "tool.cancelled"]);
        cancel(&admin, &run).await.is("409 CONFLICT");
    }

    async fn address_inside_is_not_called_however_it_is_written(db: TestDb) {
        let inside = Upstream::start().await;
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let mut ran = 0;
        for (number, url) in shut_urls(inside.port()).iter().enumerate() {
            let slug = format!("t{number}");
            let made = admin.post("/api/tools", &getting(&slug, url)).await;
            if made.status == 422 {
                assert_eq!(made.text_at("/errors/0/path"), "/implementation/url", "{url}");
                continue;
            }
            made.is("201 published");
            let told = failed_with(&admin.run(&slug, json!({})).await, "EGRESS_DENIED");
            assert!(told.contains("egress.allow"), "{url}: {told}");
            ran += 1;
        }
        assert!(15 <= ran, "only {ran} were accepted and denied");
        assert_eq!(inside.connections(), 0);
    }

    async fn built_in_that_is_given_an_address_inside_does_not_call_it(db: TestDb) {
        let (inside, outside) = (Upstream::start().await, Upstream::start().await);
        let world = World::on(db).await;
        let server = server_to(&world, &[&outside]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let shut = shut_urls(inside.port()).into_iter().chain(
            ["file:///etc/passwd", "gopher://127.0.0.1/", "http://169.254.169.254/latest/", "//127.0.0.1/"].map(str::to_owned),
        );
        for url in shut {
            for (tool, input) in [
                ("web_fetch", json!({ "url": url })),
                ("http_request", json!({ "url": url, "method": "GET" })),
            ] {
                let told = admin.run(tool, input).await;
                if told.status == 200 {
                    told.is("200 error");
                    let code = told.text_at("/error_code");
                    assert!(["EGRESS_DENIED", "INVALID_PARAMS"].contains(&code.as_str()), "{tool} {url}: {}", told.text);
                    assert!(code != "EGRESS_DENIED" || told.text.contains("egress.allow"), "{}", told.text);
                } else {
                    told.is("422 INVALID_PARAMS");
                }
            }
        }
        for tool in ["web_fetch", "http_request"] {
            let elsewhere = outside.url(&format!("/redirect?to={}", inside.url("/")));
            let told = admin.run(tool, json!({ "url": elsewhere, "method": "GET" })).await;
            assert_ne!(told.status, 500, "{}", told.text);
        }
        assert_eq!(inside.connections(), 0);
    }

    async fn argument_never_changes_whom_a_tool_calls(db: TestDb) {
        let (upstream, inside) = (Upstream::start().await, Upstream::start().await);
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &getting("path", &upstream.url("/v1/{{ input.x }}/end"))).await;
        make(&admin, &getting("query", &upstream.url("/v1?x={{ input.x }}"))).await;
        let host = inside.host_and_port();
        let hostile = [
            format!("@{host}"), format!("@{host}/"), format!("//{host}/"), inside.url("/"), format!("\\\\{host}\\"), format!("../../@{host}"),
            format!("?@{host}"), format!("#@{host}"), "%2e%2e".to_owned(), "%2F..%2F".to_owned(), format!(".{host}"), "a\r\nHost: x".to_owned(),
            "{{ input.y }}".to_owned(), "..;".to_owned(), "\u{2025}".to_owned(),
        ].into_iter().chain(shut_urls(inside.port()));
        for x in hostile {
            let before = upstream.requests().len();
            for slug in ["path", "query"] {
                admin.run(slug, json!({ "x": x })).await.is("200 success");
            }
            let asked = upstream.requests().split_off(before);
            let (path, query) = (&asked[0].path, &asked[1].path);
            assert!(path.starts_with("/v1/") && path.ends_with("/end") && path.matches('/').count() == 3, "{x:?}: {path}");
            assert!(query.starts_with("/v1?x=") && query.matches(['?', '&', '#', '/']).count() == 2, "{x:?}: {query}");
            for asked in asked {
                assert_eq!(asked.header("host"), Some(upstream.host_and_port().as_str()), "{x:?}");
            }
        }
        let before = upstream.requests().len();
        for x in [".", "..", ""] {
            let told = admin.run("path", json!({ "x": x })).await;
            failed_with(&told, "INVALID_PARAMS");
        }
        assert_eq!((upstream.requests().len(), inside.connections()), (before, 0));
        for url in ["http://{{ input.x }}/", "{{ input.x }}", "{{ input.x }}://a.example/", "http://a.example:{{ input.x }}/", "http://{{ input.x }}.example/", "ftp://a.example/", "file:///etc/passwd", "a.example"] {
            let refused = admin.post("/api/tools", &getting("refused", url)).await;
            assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/path"), "/implementation/url", "{url}");
        }
    }

    async fn metadata_of_clouds_stays_shut_and_a_listed_address_opens_its_port_alone(db: TestDb) {
        let (upstream, inside) = (Upstream::start().await, Upstream::start().await);
        let world = World::on(db).await;
        let allowed = format!("{},169.254.0.0/16,169.254.169.254:80", upstream.host_and_port());
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed), ("HTTP_PROXY", &inside.url("/")), ("http_proxy", &inside.url("/"))]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        for (slug, url) in [("cloud", "http://169.254.169.254/latest/meta-data/"), ("port", &*inside.url("/"))] {
            make(&admin, &getting(slug, url)).await;
            failed_with(&admin.run(slug, json!({})).await, "EGRESS_DENIED");
        }
        make(&admin, &getting("listed", &upstream.url("/"))).await;
        admin.run("listed", json!({})).await.is("200 success");
        assert_eq!(inside.connections(), 0);
    }

    async fn circuit_opens_for_one_tool_of_one_tenant(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let acme = world.client(&server, "acme", Role::Admin).await;
        let globex = world.client(&server, "globex", Role::Admin).await;
        for tenant in [&acme, &globex] {
            make(tenant, &getting("down", &upstream.url("/status/500"))).await;
        }
        make(&acme, &getting("other", &upstream.url("/status/500"))).await;
        make(&acme, &getting("wrong", &upstream.url("/status/404"))).await;
        for _ in 0..20 {
            failed_with(&acme.run("down", json!({})).await, "UPSTREAM_ERROR");
            failed_with(&acme.run("wrong", json!({})).await, "UPSTREAM_ERROR");
        }
        let before = upstream.requests().len();
        for _ in 0..3 {
            let told = acme.run("down", json!({})).await;
            failed_with(&told, "CIRCUIT_OPEN");
            assert_eq!(acme.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        }
        assert_eq!(upstream.requests().len(), before, "nobody was asked");
        failed_with(&globex.run("down", json!({})).await, "UPSTREAM_ERROR");
        failed_with(&acme.run("other", json!({})).await, "UPSTREAM_ERROR");
        failed_with(&acme.run("wrong", json!({})).await, "UPSTREAM_ERROR");
        assert_eq!(upstream.requests().len(), before + 3);
    }

    async fn circuit_is_that_of_a_definition_and_no_test_of_an_author_opens_it(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let down = json!({ "implementation": { "url": upstream.url("/status/500") } });
        make(&admin, &getting("used", &upstream.url("/"))).await;
        admin.patch("/api/tools/used", &down).await.is("200 published");
        let trying = async || call(&admin, "used", &json!({ "input": {}, "mode": "debug" })).await;
        for _ in 0..20 {
            failed_with(&trying().await, "UPSTREAM_ERROR");
        }
        failed_with(&trying().await, "CIRCUIT_OPEN");
        admin.run("used", json!({})).await.is("200 success");

        // What was broken in production as well is asked at once when it is mended.
        admin.post("/api/tools/used/publish", &json!({})).await.is("200 published");
        for _ in 0..20 {
            failed_with(&admin.run("used", json!({})).await, "UPSTREAM_ERROR");
        }
        failed_with(&admin.run("used", json!({})).await, "CIRCUIT_OPEN");
        let mended = json!({ "implementation": { "url": upstream.url("/") }, "publish": true });
        admin.patch("/api/tools/used", &mended).await.is("200 published");
        admin.run("used", json!({})).await.is("200 success");
    }

    async fn approval_is_void_once_a_credential_of_the_tool_is_another(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        for who in [&admin, &stranger] {
            credential(who, "rot", "basic", json!({ "username": "u", "password": "canary-1" })).await;
        }
        let id_of = async |who: &Client| who.get("/api/credentials").await.text_at("/items/0/id");
        let path = format!("/api/credentials/{}", id_of(&admin).await);
        let theirs = format!("/api/credentials/{}", id_of(&stranger).await);
        let url = upstream.url("/");
        let writing = |slug: &str, more: Value| {
            with(http(slug, &with(json!({ "url": url }), &more)), &json!({ "permission_level": "write" }))
        };
        for (slug, more) in [
            ("by-label", json!({ "query": { "k": "secret:rot" } })),
            ("by-field", json!({ "query": { "k": "secret:rot.username" } })),
            ("by-id", json!({ "headers": { "X-K": format!("Basic secret:{}", id_of(&admin).await) } })),
            // Stored sealed, since it is more than a reference.
            ("in-text", json!({ "headers": { "X-K": "name=x; key=secret:rot" } })),
        ] {
            make(&admin, &writing(slug, more)).await;
            let asked = async || agent.run(slug, json!({})).await.is("202 needs_approval").text_at("/approval_id");
            approve(&admin, &asked().await).await.is("200 success");

            let (waiting, edited) = (asked().await, asked().await);
            let new = json!({ "payload": { "username": "u", "password": format!("canary-{slug}") } });
            stranger.patch(&theirs, &new).await.is("200");
            admin.patch(&path, &json!({ "provider_key": slug })).await.is("200");
            approve(&admin, &asked().await).await.is("200 success");
            let before = upstream.requests().len();
            admin.patch(&path, &new).await.is("200");
            approve(&admin, &waiting).await.is("409 SUPERSEDED");
            let other = admin.post(&format!("/api/approvals/{edited}/approve"), &json!({ "input": { "a": 1 } })).await;
            other.is("409 SUPERSEDED");
            assert_eq!(upstream.requests().len(), before, "{slug}: nothing was sent");
            approve(&admin, &asked().await).await.is("200 success");
        }

        // Nor may it be sent elsewhere than it could be when the call was approved.
        let waiting = agent.run("by-label", json!({})).await.is("202 needs_approval").text_at("/approval_id");
        admin.patch(&path, &json!({ "allowed_hosts": ["127.0.0.1"] })).await.is("200");
        approve(&admin, &waiting).await.is("409 SUPERSEDED");

        // Nor may one appear that was not there.
        make(&admin, &writing("early", json!({ "query": { "k": "secret:late" } }))).await;
        let waiting = agent.run("early", json!({})).await.is("202 needs_approval").text_at("/approval_id");
        credential(&admin, "late", "api_key", json!({ "api_key": "canary-2" })).await;
        approve(&admin, &waiting).await.is("409 SUPERSEDED");
    }

    async fn output_that_breaks_its_schema_is_no_success(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        make(&admin, &with(getting("checked", &upstream.url("/")), &json!({ "output_schema": schema }))).await;
        for body in [r#"{"n":"one"}"#, "[]", "{}", "null"] {
            upstream.script([saying("200 OK", "application/json", body)]);
            let told = admin.run("checked", json!({})).await;
            failed_with(&told, "OUTPUT_INVALID");
            assert_eq!(admin.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.failed"]);
        }
        upstream.script([saying("200 OK", "application/json", r#"{"n":1}"#)]);
        admin.run("checked", json!({})).await.is("200 success");
    }

    async fn credential_of_another_tenant_is_missing(db: TestDb) {
        let upstream = Upstream::start().await;
        let world = World::on(db).await;
        let server = server_to(&world, &[&upstream]);
        let acme = world.client(&server, "acme", Role::Admin).await;
        let globex = world.client(&server, "globex", Role::Admin).await;
        credential(&globex, "weather", "api_key", json!({ "api_key": "canary" })).await;
        let body = http("weather", &json!({ "url": upstream.url("/"), "headers": { "X-Key": "secret:weather" } }));
        let made = acme.post("/api/tools", &body).await;
        // The one who saves may be told already, and in the same words as of one that is nobody's.
        if made.status == 201 {
            let told = failed_with(&acme.run("weather", json!({})).await, "CREDENTIAL_MISSING");
            assert!(told.contains("weather") && !told.contains("canary"), "{told}");
            assert!(told.ends_with("looked among the tenant's credentials by label and by id"), "{told}");
        } else {
            made.is("409 CREDENTIAL_MISSING");
        }
        assert_eq!(upstream.connections(), 0);
        make(&globex, &body).await;
        globex.run("weather", json!({})).await.is("200 success");
        assert_eq!(upstream.requests()[0].header("x-key"), Some("canary"));
    }

    async fn pure_tool_is_asked_once_for_the_same_input_by_one_tenant(db: TestDb) {
        let world = World::on(db).await;
        let upstream = Upstream::start().await;
        let server = server_to(&world, &[&upstream]);
        let asked = |path: &str| upstream.requests().iter().filter(|asked| asked.path.starts_with(path)).count();
        for tenant in ["acme", "globex"] {
            let admin = world.client(&server, tenant, Role::Admin).await;
            let pure = json!({ "execution": { "is_pure": true } });
            make(&admin, &with(getting("rates", &upstream.url("/echo")), &pure)).await;
            let first = admin.run("rates", json!({ "a": 1, "b": 2 })).await;
            let again = admin.run("rates", json!({ "b": 2, "a": 1.0 })).await;
            assert_eq!(first.is("200 success").json()["output"], again.is("200 success").json()["output"]);
            assert_ne!(first.text_at("/run_id"), again.text_at("/run_id"), "each call is a run");
            admin.run("rates", json!({ "a": 2 })).await.is("200 success");
        }
        assert_eq!(asked("/echo"), 4, "two inputs for each of two tenants");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_interrupted_call_is_made_again_under_the_key_that_the_service_knows() {
    let upstream = Upstream::start().await;
    let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let mut server = server_to(&world, &[&upstream]);
    let builder = world.client(&server, "acme", Role::Builder).await;
    let pay =
        json!({ "url": upstream.url("/hang"), "method": "POST", "idempotency_header": "Idempotency-Key" });
    make(&builder, &with(http("pay", &pay), &json!({ "permission_level": "write" }))).await;
    let request = |builder: &Client| {
        let request = builder.request(reqwest::Method::POST, "/api/tools/pay/run");
        request.header("idempotency-key", "order-7").json(&json!({ "input": {} }))
    };
    let cut_off = tokio::spawn(request(&builder).send());
    eventually("the service is asked", PATIENCE, async || upstream.requests().len() == 1).await;
    server.kill();
    assert!(cut_off.await.unwrap().is_err());

    let server = server_to(&world, &[&upstream]);
    let builder = builder.at(&server);
    first(&builder, "pay", "error").await;
    upstream.script([saying("200 OK", "application/json", r#"{ "paid": true }"#)]);
    let again = builder.send(request(&builder)).await;

    assert_eq!(again.is("200 success").json()["output"], json!({ "paid": true }));
    let asked = upstream.requests();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].header("idempotency-key").is_some_and(|key| !key.is_empty()));
    assert_eq!(asked[0].header("idempotency-key"), asked[1].header("idempotency-key"));
    // Now it is done, and nobody is asked a third time.
    assert_eq!(builder.send(request(&builder)).await.text, again.text);
    assert_eq!(upstream.requests().len(), 2);
}
