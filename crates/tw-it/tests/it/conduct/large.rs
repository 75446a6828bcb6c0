//! Lists of large things: a page is bounded in bytes, and the cursor goes on.

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_store::{By, NewAudit};
use tw_test::{TestDb, on_both};

use crate::{
    mcp::tool,
    world::{Client, World, slug},
};

/// So many of these are more than a page holds.
const LARGE: usize = 3 << 20;
const COUNT: usize = 3;
const PAGE_BYTES_MAX: usize = 8 << 20;

/// Walks a list that is asked for whole. Returns what `id` finds in its items.
async fn walk(client: &Client, path: &str, id: &str) -> Vec<Value> {
    let (mut found, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = client.get(&format!("{path}limit=200{cursor}")).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        assert!(page.text.len() < PAGE_BYTES_MAX + (64 << 10), "{path}: {} bytes", page.text.len());
        let page = page.json();
        let items = page["items"].as_array().unwrap();
        assert!(!items.is_empty(), "{path}: a page has one item at least");
        found.extend(items.iter().map(|item| item[id].clone()));
        pages += 1;
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(1 < pages, "{path}: {pages} pages");
    found
}

on_both! {
    async fn page_of_large_things_is_short_and_the_next_one_goes_on(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        admin.post("/api/tools", &tool("form", &json!({ "implementation_type": "space" }))).await.is("201 published");
        let tenant = world.store().find_tenant(&slug("acme")).await.unwrap().unwrap();
        let (session, large) = (admin.post("/api/sessions", &json!({})).await.text_at("/id"), "x".repeat(LARGE));
        let (mut approvals, mut calls) = (Vec::new(), Vec::new());
        for number in 0..COUNT {
            let body = json!({ "input": { "value": &large }, "session_id": session });
            admin.post("/api/tools/test.echo/run", &body).await.is("200 success");
            let line = json!({ "file": world.ledger("w"), "line": &large });
            let parked = agent.run("test.write", line).await;
            approvals.push(parked.is("202 needs_approval").json()["approval_id"].clone());
            let body = json!({ "input": { "text": &large }, "wait_ms": 0 });
            let waits = admin.post("/api/tools/form/run", &body).await;
            calls.push(waits.is("202 pending").json()["pending_tool_call_id"].clone());
            let entry = NewAudit {
                action: "test.large".to_owned(),
                object: format!("test:{number}"),
                before: None,
                after: Some(json!(large)),
                note: None,
            };
            world.store().tenant(tenant).audit(&By::operator(), entry).await.unwrap();
        }

        let events: Vec<Value> = (1..=2 * COUNT).map(|seq| json!(seq)).collect();
        assert_eq!(walk(&admin, &format!("/api/sessions/{session}/events?"), "seq").await, events);
        assert_eq!(walk(&admin, "/api/approvals?", "id").await, approvals);
        assert_eq!(walk(&admin, "/api/pending-calls?", "id").await, calls);
        let lines: Vec<Value> = (0..COUNT).rev().map(|number| json!(format!("test:{number}"))).collect();
        assert_eq!(walk(&admin, "/api/audit?action=test.large&", "object").await, lines);

        // A stream has them all too.
        let path = format!("/api/sessions/{session}/events/stream");
        let mut stream = admin.request(Method::GET, &path).send().await.unwrap();
        let (mut tail, mut seen) = (String::new(), 0);
        while seen < 2 * COUNT {
            let piece = stream.chunk().await.unwrap().expect("the stream goes on");
            tail.push_str(&String::from_utf8_lossy(&piece));
            while tail.contains(&format!("id: {}\n", seen + 1)) {
                seen += 1;
            }
            // An id may be cut in two.
            tail.drain(..tail.len().saturating_sub(16));
        }
    }
}
