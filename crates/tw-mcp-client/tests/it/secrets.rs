//! Credentials leave for their hosts alone and never come back; addresses that are shut stay shut.

use serde_json::json;
use toolwright_sdk::{Secret, ToolFailure};
use tw_mcp_client::{Error, Target};
use tw_model::{Code, TenantId};
use tw_test::{Generation, McpServer, Quirk};

use crate::{House, far};

const CANARY: &str = "canary-7f3a91bc";

fn with_secret(server: &McpServer, hosts: Option<&[&str]>) -> House {
    let mut house = House::of(server);
    house.target = house.target.header("Authorization", format!("Bearer {CANARY}"));
    let allowed_hosts = hosts.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect());
    let secret = Secret { label: "garden-key".to_owned(), allowed_hosts, ..Secret::anywhere(CANARY) };
    house.target.secrets.push(secret);
    house
}

#[tokio::test]
async fn credential_is_taken_out_of_whatever_comes_back() {
    let server = McpServer::start(Generation::Present).await;
    let house = with_secret(&server, None);
    let echoed = house.call("echo", json!({ "text": format!("you sent {CANARY}") })).await.unwrap();
    assert_eq!(echoed.text(), "you sent ***");
    let tool = json!({ "name": "t", "description": CANARY, "inputSchema": { "title": CANARY } });
    server.set(Quirk::Result(json!({ "tools": [tool] })));
    let listing = house.list().await.unwrap();
    assert!(!format!("{listing:?}").contains(CANARY), "{listing:?}");
    let message = format!("bad key {CANARY}");
    let faults = [
        Quirk::Fault {
            status: "200 OK",
            code: -32000,
            message: message.clone(),
            data: json!({ "key": CANARY }),
        },
        Quirk::Answer { status: "403 Forbidden", kind: "text/plain", body: message },
        Quirk::Result(json!({ "structuredContent": { CANARY: [CANARY] }, "_meta": { "a": CANARY } })),
    ];
    for quirk in faults {
        server.set(quirk);
        let called = house.call("add", json!({})).await;
        assert!(!format!("{called:?}").contains(CANARY), "{called:?}");
    }
    assert!(!format!("{:?}", house.target).contains(CANARY));
    let sent = server.upstream.requests();
    assert!(
        sent.iter().all(|asked| asked.header("authorization").is_some_and(|sent| sent.ends_with(CANARY)))
    );
}

#[tokio::test]
async fn credential_does_not_leave_for_another_host() {
    let server = McpServer::start(Generation::Present).await;
    let error = with_secret(&server, Some(&["api.example.com"])).call("add", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::Denied { .. }), "{error}");
    assert!(error.to_string().contains("garden-key") && !error.to_string().contains(CANARY), "{error}");
    assert_eq!(ToolFailure::from(error).code, Code::EgressDenied);
    assert_eq!(server.upstream.connections(), 0);
    with_secret(&server, Some(&["127.0.0.1"])).call("add", json!({})).await.unwrap();
}

#[tokio::test]
async fn address_that_is_shut_is_never_called() {
    let server = McpServer::start(Generation::Present).await;
    let other = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    let port = other.upstream.port();
    for url in [
        format!("http://127.0.0.1:{port}/mcp"),
        format!("http://2130706433:{port}/mcp"),
        format!("http://[::ffff:127.0.0.1]:{port}/mcp"),
        format!("http://0x7f.1:{port}/mcp"),
        "http://169.254.169.254/latest".to_owned(),
        format!("http://localhost:{port}/mcp"),
    ] {
        let target = Target::new(TenantId::new(), url.clone());
        let listed = house.client.list_tools(&target, tw_mcp_client::ListLimits::until(far())).await;
        let error = listed.unwrap_err();
        assert!(matches!(error, Error::Denied { .. }), "{url}: {error}");
        assert!(error.to_string().contains("egress.allow"), "{error}");
    }
    assert_eq!(other.upstream.connections(), 0);
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let server = McpServer::start(Generation::Present).await;
    let other = McpServer::start(Generation::Present).await;
    for to in ["http://169.254.169.254/latest".to_owned(), other.url()] {
        server.set_from_the_start(Quirk::Redirect(to));
        let error = House::of(&server).list().await.unwrap_err();
        assert!(matches!(error, Error::Refused { status: 307, .. }), "{error}");
    }
    assert_eq!(other.upstream.connections(), 0);
}

#[tokio::test]
async fn header_that_belongs_to_the_protocol_is_refused() {
    let server = McpServer::start(Generation::Present).await;
    for name in ["Mcp-Session-Id", "accept", "MCP-Protocol-Version", "Mcp-Param-Region", "Host"] {
        let mut house = House::of(&server);
        house.target = house.target.header(name, "x");
        let error = house.list().await.unwrap_err();
        assert!(error.to_string().contains("must be left out"), "{error}");
        assert_eq!(ToolFailure::from(error).code, Code::InvalidParams);
    }
    assert_eq!(server.upstream.connections(), 0);
}
