//! Heads of requests, and how their bodies are framed.

use tokio::io::AsyncWriteExt;
use tw_test::{TestDb, on_both};

use super::{
    Report, Scene, Wanted,
    raw::{self, Outcome},
};

const BAD: Wanted = Wanted::Problem(&[400]);
const FOREIGN: Wanted = Wanted::Problem(&[403]);
const STRANGER: Wanted = Wanted::Problem(&[401]);
/// What is no HTTP, or more of it than is read.
const NO_HTTP: Wanted = Wanted::Unreadable(&[400, 414, 431]);
const FINE: Wanted = Wanted::Done(200);

on_both! {
    async fn header_that_says_two_things_or_nothing_is_refused(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let bearer = scene.bearer.as_str();
        let long = "x".repeat(10_000);
        let (long_bearer, long_cookie) =
            (format!("Authorization: Bearer {long}"), format!("Cookie: toolwright_login={long}"));
        let cut = &bearer[..bearer.len() - 1];
        let longer = format!("{bearer}x");
        let cases: Vec<(&str, Vec<&str>, &Wanted)> = vec![
            ("two keys", vec![bearer, bearer], &BAD),
            ("two keys, one wrong", vec![bearer, "Authorization: Bearer x"], &BAD),
            ("no credentials", vec![], &STRANGER),
            ("no key", vec!["Authorization: Bearer"], &STRANGER),
            ("an empty key", vec!["Authorization: Bearer "], &STRANGER),
            ("an empty header", vec!["Authorization:"], &STRANGER),
            ("another scheme", vec!["Authorization: Basic YWRtaW46YWRtaW4="], &STRANGER),
            ("a key that is no text", vec!["Authorization: Bearer tw_\u{e9}"], &STRANGER),
            ("a long key", vec![&long_bearer], &STRANGER),
            ("a key cut short", vec![cut], &STRANGER),
            ("a key with more behind it", vec![&longer], &STRANGER),
            ("a template", vec!["Authorization: Bearer {{key}}"], &STRANGER),
            ("a cookie that is no login", vec!["Cookie: toolwright_login=x"], &STRANGER),
            ("an empty cookie", vec!["Cookie: toolwright_login="], &STRANGER),
            ("cookies in disorder", vec!["Cookie: ;;=; a; =b; toolwright_login"], &STRANGER),
            ("a long cookie", vec![&long_cookie], &STRANGER),
            ("a key as query and cookie only", vec!["X-Api-Key: x", "Cookie: key=x"], &STRANGER),
            ("a second host", vec![bearer, "Host: 127.0.0.1"], &BAD),
            ("a second host of another name", vec![bearer, "Host: evil.example"], &BAD),
            ("a foreign page", vec![bearer, "Origin: http://evil.example"], &FOREIGN),
            ("a page of nowhere", vec![bearer, "Origin: null"], &FOREIGN),
            (
                "two pages, one foreign",
                vec![bearer, "Origin: http://localhost", "Origin: http://evil.example"],
                &FOREIGN,
            ),
            ("an origin that is no text", vec![bearer, "Origin: http://\u{e9}"], &FOREIGN),
            (
                "a host by the back door",
                vec![bearer, "X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"],
                &FINE,
            ),
            (
                "another path by the back door",
                vec![bearer, "X-Original-URL: /api/users", "X-HTTP-Method-Override: DELETE"],
                &FINE,
            ),
            ("an id that is none", vec![bearer, "X-Request-Id: a b"], &FINE),
            ("a trace that is none", vec![bearer, "Traceparent: 00-zz-01"], &FINE),
            ("an expectation nobody has", vec![bearer, "Expect: 200-ok"], &FINE),
            ("an unknown encoding", vec![bearer, "Accept-Encoding: nonsense;q=9", "Accept: x/y"], &FINE),
            ("a range", vec![bearer, "Range: bytes=0-0,-1"], &FINE),
        ];
        for (name, lines, wanted) in cases {
            scene.ask(&mut report, name, raw::head("GET", "/api/me", &lines).as_bytes(), wanted).await;
        }
        for (name, target, lines, wanted) in [
            ("no key in the key header", "/api/sessions", vec!["Idempotency-Key:"], &BAD),
            ("a key of 256 letters", "/api/sessions", vec![&long[..0], "Idempotency-Key: long"], &BAD),
            ("a key of other letters", "/api/sessions", vec!["Idempotency-Key: \u{e9}"], &BAD),
            ("two idempotency keys", "/api/sessions", vec!["Idempotency-Key: a", "Idempotency-Key: b"], &BAD),
            ("no idempotency key for a run", "/api/tools/test.echo/run", vec!["Idempotency-Key:"], &BAD),
            (
                "two idempotency keys for a run",
                "/api/tools/test.echo/run",
                vec!["Idempotency-Key: a", "Idempotency-Key: b"],
                &BAD,
            ),
        ] {
            let key = format!("Idempotency-Key: {}", "k".repeat(256));
            let lines = lines.into_iter().filter(|line| !line.is_empty());
            let lines = lines.map(|line| if line == "Idempotency-Key: long" { key.as_str() } else { line });
            let lines: Vec<&str> = lines.chain([bearer, "Content-Type: application/json"]).collect();
            let request = raw::with_body("POST", target, &lines, br#"{"input":{"value":1}}"#);
            scene.ask(&mut report, name, &request, wanted).await;
        }
        for (name, target, line) in [
            ("an ETag of nothing", "/api/tenants/current", "If-Match: \"x\""),
            ("an empty ETag", "/api/tenants/current", "If-Match:"),
            ("an ETag that is no text", "/api/tenants/current", "If-Match: \"\u{e9}\""),
            ("an ETag beyond numbers", "/api/tenants/current", "If-Match: \"99999999999999999999\""),
            ("an ETag of another tool", "/api/tools/test.echo", "If-Match: \"9.9.9-7\""),
            ("an empty ETag of a tool", "/api/tools/test.echo", "If-Match:"),
        ] {
            let lines = [bearer, line, "Content-Type: application/json"];
            let request = raw::with_body("PATCH", target, &lines, br#"{"name":"Other"}"#);
            scene.ask(&mut report, name, &request, &Wanted::Problem(&[412])).await;
        }
        let stream = format!("/api/sessions/{}/events/stream", scene.things["/api/sessions/"]);
        for line in [
            "Last-Event-ID: x",
            "Last-Event-ID: -1",
            "Last-Event-ID:",
            "Last-Event-ID: 99999999999999999999",
            "Last-Event-ID: 1e9",
            "Last-Event-ID: \u{e9}",
            "Last-Event-ID: 4000000000",
        ] {
            let request = raw::head("GET", &stream, &[bearer, line]);
            scene.ask(&mut report, line, request.as_bytes(), &BAD).await;
        }
        scene.conclude(report, &before).await;
    }

    async fn head_that_is_too_much_or_no_http_is_refused(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let many: String = (0..101).map(|number| format!("X-{number}: 1\r\n")).collect();
        let longest = "x".repeat(64 << 10);
        let start = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n";
        let cases: Vec<(&str, String)> = vec![
            ("a header of 64 KiB", format!("{start}X-Long: {longest}\r\n\r\n")),
            ("a name of 64 KiB", format!("{start}{longest}: 1\r\n\r\n")),
            ("64 KiB without an end", format!("{start}X-Long: {longest}{longest}")),
            ("101 headers", format!("{start}{many}\r\n")),
            ("a path of 64 KiB", format!("GET /{longest} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")),
            ("a query of 64 KiB", format!("GET /api/runs?q={longest} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")),
            ("a method of 64 KiB", format!("{longest} /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")),
            ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0".to_owned()),
            ("HTTP/9.9", "GET /healthz HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
            ("no version", "GET /healthz\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
            ("TLS", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}\r\n\r\n".to_owned()),
            ("SSH", "SSH-2.0-OpenSSH_9.6\r\n\r\n".to_owned()),
            ("a space in a name", format!("{start}X Y: 1\r\n\r\n")),
            ("a space before the colon", format!("{start}X-Y : 1\r\n\r\n")),
            ("no colon", format!("{start}nonsense\r\n\r\n")),
            ("NUL in a header", format!("{start}X-Y: a\0b\r\n\r\n")),
            ("NUL in a path", "GET /healthz\0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
            ("a folded header", format!("{start}X-Y: a\r\n b: c\r\n\r\n")),
            ("a lone carriage return", format!("{start}X-Y: a\rEvil: 1\r\n\r\n")),
            ("a target that is none", "GET :// HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned()),
            ("a length that is none", format!("{start}Content-Length: abc\r\n\r\n")),
            ("a length below zero", format!("{start}Content-Length: -1\r\n\r\n")),
            ("a length with a sign", format!("{start}Content-Length: +5\r\n\r\nhello")),
            ("a length beyond numbers", format!("{start}Content-Length: 99999999999999999999999\r\n\r\n")),
            ("two lengths", format!("{start}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")),
            ("two lengths in one", format!("{start}Content-Length: 1, 2\r\n\r\nab")),
            ("an encoding that ends in no chunks", format!("{start}Transfer-Encoding: gzip\r\n\r\n")),
            ("chunks inside of something", format!("{start}Transfer-Encoding: chunked, gzip\r\n\r\n")),
            ("chunks that are misspelled", format!("{start}Transfer-Encoding: xchunked\r\n\r\n")),
            ("chunks in HTTP/1.0", "POST /api/sessions HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned()),
        ];
        for (name, request) in cases {
            scene.ask(&mut report, name, request.as_bytes(), &NO_HTTP).await;
        }
        scene.conclude(report, &before).await;
    }

    /// Who is asked is what the first line says, where it says it.
    async fn host_of_the_target_counts_like_the_header(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let bearer = scene.bearer.as_str();
        let own = scene.server.url.as_str();
        for (name, request, wanted) in [
            (
                "another host in the target",
                format!("GET http://evil.example/api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\n\r\n"),
                &FOREIGN,
            ),
            (
                "another host in both",
                format!("GET http://evil.example/api/me HTTP/1.1\r\nHost: evil.example\r\n{bearer}\r\n\r\n"),
                &FOREIGN,
            ),
            (
                "another host in the header",
                format!("GET {own}/api/me HTTP/1.1\r\nHost: evil.example\r\n{bearer}\r\n\r\n"),
                &FOREIGN,
            ),
            (
                "somebody at this host",
                format!(
                    "GET http://localhost@evil.example/api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\n\r\n"
                ),
                &FOREIGN,
            ),
            (
                "no host at all",
                format!("GET /api/me HTTP/1.1\r\n{bearer}\r\n\r\n"),
                &Wanted::Problem(&[400, 403]),
            ),
            (
                "an empty host",
                format!("GET /api/me HTTP/1.1\r\nHost:\r\n{bearer}\r\n\r\n"),
                &Wanted::Problem(&[400, 403]),
            ),
            (
                "a host that is no text",
                format!("GET /api/me HTTP/1.1\r\nHost: \u{e9}\r\n{bearer}\r\n\r\n"),
                &Wanted::Problem(&[400, 403]),
            ),
            (
                "a tunnel",
                format!("CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\n\r\n"),
                &Wanted::Unreadable(&[400, 403, 404, 405]),
            ),
            (
                "a star",
                format!("OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\n\r\n"),
                &Wanted::Problem(&[404, 405]),
            ),
            (
                "this host in both",
                format!("GET {own}/api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\n\r\n"),
                &FINE,
            ),
            (
                "this host, loud",
                format!("GET /api/me HTTP/1.1\r\nHost: LOCALHOST:1\r\n{bearer}\r\n\r\n"),
                &FINE,
            ),
        ] {
            scene.ask(&mut report, name, request.as_bytes(), wanted).await;
        }
        scene.conclude(report, &before).await;
    }

    /// A request whose end is in doubt is the last one on its connection: whatever follows it must not be
    /// taken for a request of its own.
    async fn request_with_two_ends_is_the_last_on_its_connection(db: TestDb) {
        let (scene, mut report) = (Scene::on(db).await, Report::default());
        let before = scene.census().await;
        let bearer = scene.bearer.as_str();
        let hidden = format!(
            "POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        let start = format!("POST /api/auth/logout HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\n");
        let run = format!(
            "POST /api/tools/test.echo/run HTTP/1.1\r\nHost: 127.0.0.1\r\n{bearer}\r\nContent-Type: application/json\r\n"
        );
        for (name, request) in [
            (
                "a length, then chunks",
                format!("{start}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"),
            ),
            (
                "chunks, then a length",
                format!("{start}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n{hidden}"),
            ),
            ("no number of a chunk", format!("{run}Transfer-Encoding: chunked\r\n\r\nzz\r\n{hidden}")),
            ("a negative chunk", format!("{run}Transfer-Encoding: chunked\r\n\r\n-1\r\n{hidden}")),
            (
                "a chunk beyond numbers",
                format!("{run}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{hidden}"),
            ),
            (
                "a chunk longer than it says",
                format!("{run}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}{hidden}"),
            ),
            ("two lengths", format!("{run}Content-Length: 2\r\nContent-Length: 4\r\n\r\n{{}}{hidden}")),
            ("a length that is none", format!("{run}Content-Length: 2x\r\n\r\n{{}}{hidden}")),
            ("a foreign encoding", format!("{run}Transfer-Encoding: gzip\r\n\r\n{hidden}")),
            ("a space before the colon", format!("{run}Content-Length : 2\r\n\r\n{{}}{hidden}")),
            ("a body over the limit", format!("{run}Content-Length: 100000000\r\n\r\n{hidden}")),
        ] {
            match raw::conversation(&scene.server.url, request.as_bytes()).await {
                None => report.fault(name, "the connection stays open"),
                Some(said) if 1 < said.matches("HTTP/1.1 ").count() => {
                    report.fault(name, &format!("two answers: {said}"))
                }
                Some(said) if said.contains("HTTP/1.1 5") => report.fault(name, &said),
                Some(_) => report.count += 1,
            }
        }
        scene.conclude(report, &before).await;
    }

    /// One connection, one request after the other: a refusal spoils nothing for the next.
    async fn connection_goes_on_after_a_refusal(db: TestDb) {
        let scene = Scene::on(db).await;
        let mut stream = raw::connect(&scene.server.url).await;
        let lines = [scene.bearer.as_str(), "Content-Type: application/json"];
        let good =
            raw::with_body("POST", "/api/tools/test.echo/run", &lines, br#"{"input":{"value":"good"}}"#);
        for bad in [
            raw::with_body("POST", "/api/tools/test.echo/run", &lines, br#"{"input":{"value":1,"value":2}}"#),
            raw::with_body(
                "POST",
                "/api/tools/test.echo/run",
                &[&scene.bearer],
                b"POST /api/sessions HTTP/1.1\r\n\r\n",
            ),
            raw::with_body("POST", "/nowhere", &lines, b"GET /api/me HTTP/1.1\r\n\r\n"),
            raw::with_body("GET", "/healthz", &lines, b"{}"),
            raw::head("GET", "/api/runs?limit=0", &lines).into_bytes(),
        ] {
            for (request, status) in [(&bad, None), (&good, Some(200))] {
                stream.write_all(request).await.unwrap();
                let Outcome::Answered(response) = raw::answer(&mut stream).await else { panic!("no answer") };
                assert!(response.status < 500, "{}", response.body);
                if let Some(status) = status {
                    assert_eq!(response.status, status, "{}", response.body);
                    assert_eq!(response.json()["output"]["value"], "good");
                }
            }
        }
    }

    async fn body_is_asked_for_only_where_it_is_wanted(db: TestDb) {
        let scene = Scene::on(db).await;
        let body = br#"{"input":{"value":1}}"#;
        let length = format!("Content-Length: {}", body.len());
        let lines =
            [scene.bearer.as_str(), "Content-Type: application/json", &length, "Expect: 100-continue"];
        let mut stream = raw::connect(&scene.server.url).await;
        let head = raw::head("POST", "/api/tools/test.echo/run", &lines);
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut said = [0; 25];
        tokio::io::AsyncReadExt::read_exact(&mut stream, &mut said).await.unwrap();
        assert_eq!(&said, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(body).await.unwrap();
        let Outcome::Answered(response) = raw::answer(&mut stream).await else { panic!("no answer") };
        assert_eq!(response.status, 200, "{}", response.body);

        let lines = [scene.bearer.as_str(), "Content-Type: text/plain", &length, "Expect: 100-continue"];
        for (target, lines, status) in [
            ("/api/tools/test.echo/run", vec!["Content-Length: 20", "Expect: 100-continue"], 401),
            ("/api/tools/test.echo/run", lines.to_vec(), 415),
            ("/nowhere", lines.to_vec(), 404),
        ] {
            let head = raw::head("POST", target, &lines);
            let outcome = raw::exchange(&scene.server.url, head.as_bytes()).await;
            let Outcome::Answered(response) = outcome else { panic!("{target}: {outcome:?}") };
            assert_eq!((response.status, response.continued), (status, false), "{target}");
        }
    }
}
