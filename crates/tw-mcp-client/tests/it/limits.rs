//! What servers send too much of.

use serde_json::json;
use tokio::time::Instant;
use tw_mcp_client::{CallOptions, Error, ListLimits, Overrun};
use tw_test::{Generation, McpServer, Quirk};

use crate::{House, far};

#[tokio::test]
async fn list_without_an_end_is_cut() {
    let cases = [
        (Quirk::EndlessPages, Overrun::Pages(200)),
        (Quirk::Tools(2_001), Overrun::Tools(2_000)),
        (Quirk::Flood, Overrun::Bytes(8 << 20)),
    ];
    for (quirk, limit) in cases {
        let server = McpServer::start(Generation::Present).await;
        server.set(quirk.clone());
        let error = House::of(&server).list().await.unwrap_err();
        assert!(matches!(&error, Error::TooLarge { over, .. } if *over == limit), "{quirk:?}: {error}");
        assert!(error.to_string().contains("`tools/list`"), "{error}");
    }
}

#[tokio::test]
async fn bytes_of_all_pages_count_together() {
    let server = McpServer::start(Generation::Present).await;
    server.set(Quirk::EndlessPages);
    let house = House::of(&server);
    let limits = ListLimits { bytes: 1_000, ..ListLimits::until(far()) };
    let error = house.client.list_tools(&house.target, limits).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { over: Overrun::Bytes(1_000), .. }), "{error}");
    assert!(server.asked("tools/list").len() < 20);
}

#[tokio::test]
async fn list_that_leads_back_is_told() {
    let server = McpServer::start(Generation::Present).await;
    server.set(Quirk::CursorLoop);
    let error = House::of(&server).list().await.unwrap_err();
    assert!(error.to_string().contains("leads back to an earlier page"), "{error}");
    assert_eq!(server.asked("tools/list").len(), 3);
}

#[tokio::test]
async fn list_that_takes_too_long_is_given_up() {
    let server = McpServer::start(Generation::Present).await;
    server.set(Quirk::Drip);
    let house = House::of(&server);
    let limits = ListLimits::until(Instant::now() + std::time::Duration::from_millis(400));
    let error = house.client.list_tools(&house.target, limits).await.unwrap_err();
    assert!(matches!(error, Error::Late { .. }), "{error}");
}

#[tokio::test]
async fn entry_that_is_no_tool_does_not_hide_the_others() {
    let server = McpServer::start(Generation::Present).await;
    server.set(Quirk::StrangeTools);
    let listing = House::of(&server).list().await.unwrap();
    assert_eq!(listing.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["good"]);
    let left_out: Vec<_> = listing.left_out.iter().map(|entry| entry.why.as_str()).collect();
    expect_test::expect![[r#"
        [
            "another tool of the list has the same name",
            "`name` must be a text",
            "`inputSchema` must be an object",
            "`name` must be a text",
            "`name` must have 1 to 128 characters and no control characters",
            "`inputSchema` has an `x-mcp-header` that no client can follow",
        ]
    "#]]
    .assert_debug_eq(&left_out);
}

#[tokio::test]
async fn result_that_is_too_large_is_cut() {
    let server = McpServer::start(Generation::Present).await;
    server.set(Quirk::Flood);
    let house = House::of(&server);
    let error = house.call("add", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { over: Overrun::Bytes(10_485_760), .. }), "{error}");
    server.set(Quirk::Result(json!({ "content": [{ "type": "text", "text": "x".repeat(2_000) }] })));
    let small = CallOptions { bytes: 1_000, ..CallOptions::until(far()) };
    let error = house.call_with("add", json!({}), small).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { over: Overrun::Bytes(1_000), .. }), "{error}");
    // A large one within its limit is whole.
    server.set(Quirk::Result(json!({ "content": [{ "type": "text", "text": "x".repeat(1 << 20) }] })));
    assert_eq!(house.call("add", json!({})).await.unwrap().text().len(), 1 << 20);
}
