//! Streams of events that stay open for long.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tw_model::{Role, Timestamp};
use tw_test::{TestDb, on_both};

use crate::world::{Client, Server, World};

/// How much memory the server holds.
fn memory_of(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

on_both! {
    /// A stream is read when its reader reads: who stops costs nothing, and has missed nothing.
    async fn reader_that_stops_reading_slows_nobody_and_misses_nothing(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let session = member.post("/api/sessions", &json!({})).await.text_at("/id");
        let stream = member.request(Method::GET, &format!("/api/sessions/{session}/events/stream"));
        let mut stream = stream.send().await.unwrap();
        assert_eq!(stream.status(), 200);
        let before = memory_of(&server);
        // Much more than what fits between the two.
        let body = json!({ "input": { "value": "x".repeat(100_000) }, "session_id": session });
        for _ in 0..150 {
            member.post("/api/tools/test.echo/run", &body).await.is("200 success");
        }
        assert!(memory_of(&server) < before + (100 << 20), "{before} bytes became {}", memory_of(&server));
        let mut text = String::new();
        let mut ids = Vec::new();
        while ids.len() < 300 {
            let piece = stream.chunk().await.unwrap().expect("the stream goes on");
            text.push_str(&String::from_utf8_lossy(&piece));
            while let Some(end) = text.find("\n\n") {
                let event: String = text.drain(..end + 2).collect();
                ids.extend(
                    event
                        .lines()
                        .filter_map(|line| line.strip_prefix("id:"))
                        .map(|id| id.trim().parse::<usize>().unwrap()),
                );
            }
        }
        assert_eq!(ids, (1..=300).collect::<Vec<_>>());
    }

    async fn stream_of_a_revoked_key_ends_also_while_events_flow(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let key = admin.post("/api/api-keys", &json!({ "name": "reader", "role": "viewer" })).await;
        let reader = Client::new(&server.url, Some(key.text_at("/key")));
        let session = admin.post("/api/sessions", &json!({})).await.text_at("/id");
        let path = format!("/api/sessions/{session}/events/stream");
        let mut stream = reader.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(stream.status(), 200);
        let writer = tokio::spawn({
            let (admin, body) = (admin.clone(), json!({ "input": { "value": 1 }, "session_id": session }));
            async move {
                loop {
                    admin.post("/api/tools/test.echo/run", &body).await.is("200 success");
                }
            }
        });
        assert!(stream.chunk().await.unwrap().is_some());
        assert_eq!(admin.delete(&format!("/api/api-keys/{}", key.text_at("/id"))).await.status, 200);
        let ends = async { while stream.chunk().await.is_ok_and(|piece| piece.is_some()) {} };
        tokio::time::timeout(Duration::from_secs(20), ends).await.expect("the stream ends");
        writer.abort();
        reader.get(&path).await.is("401 UNAUTHENTICATED");
    }

    async fn every_stream_of_a_key_ends_at_the_moment_it_expires(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let session = admin.post("/api/sessions", &json!({})).await.text_at("/id");
        // A call over MCP becomes a stream after three seconds.
        let expires = Timestamp::now().plus(Duration::from_secs(5));
        let body = json!({ "name": "short", "role": "builder", "expires_at": expires });
        let key = admin.post("/api/api-keys", &body).await.text_at("/key");
        let short = Client::new(&server.url, Some(key));
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
                           "params": { "name": "test.slow", "arguments": { "ms": 20_000 } } });
        let open = |request: reqwest::RequestBuilder| async move {
            let answer = request.header("accept", "application/json, text/event-stream").send().await.unwrap();
            assert_eq!(answer.status(), 200);
            let text = tokio::time::timeout(Duration::from_secs(12), answer.text()).await;
            (text.expect("the stream ends").unwrap_or_default(), Timestamp::now())
        };
        let (events, calls, mcp) = tokio::join!(
            open(short.request(Method::GET, &format!("/api/sessions/{session}/events/stream"))),
            open(short.request(Method::GET, "/api/workers/stream")),
            open(short.request(Method::POST, "/mcp").json(&call)),
        );

        for (what, (text, ended)) in [("events", &events), ("calls", &calls), ("mcp", &mcp)] {
            assert!(expires <= *ended, "{what} ended early: {text}");
            assert!(*ended < expires.plus(Duration::from_secs(2)), "{what} ended late: {text}");
        }
        assert!(mcp.0.contains("expired or was revoked") && mcp.0.contains(r#""id":7"#), "{}", mcp.0);
        short.get("/api/me").await.is("401 UNAUTHENTICATED");
    }

    async fn revoked_key_is_told_nothing_that_happens_afterwards(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let session = admin.post("/api/sessions", &json!({})).await.text_at("/id");
        let run = json!({ "input": { "value": 1 }, "session_id": session });
        let key = admin.post("/api/api-keys", &json!({ "name": "reader", "role": "viewer" })).await;
        let reader = Client::new(&server.url, Some(key.text_at("/key")));
        let path = format!("/api/sessions/{session}/events/stream");
        let mut stream = reader.request(Method::GET, &path).send().await.unwrap();
        admin.post("/api/tools/test.echo/run", &run).await.is("200 success");
        let mut before = String::new();
        while !before.contains("id: 2\n") {
            before.push_str(&String::from_utf8_lossy(&stream.chunk().await.unwrap().expect("two events")));
        }

        assert_eq!(admin.delete(&format!("/api/api-keys/{}", key.text_at("/id"))).await.status, 200);
        admin.post("/api/tools/test.echo/run", &run).await.is("200 success");

        let rest = tokio::time::timeout(Duration::from_secs(20), stream.text()).await.expect("the stream ends");
        assert_eq!(rest.unwrap_or_default(), "");
    }
}
