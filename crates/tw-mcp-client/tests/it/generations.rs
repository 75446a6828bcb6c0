//! Servers of the present revision and of earlier ones.

use serde_json::json;
use tw_mcp_client::{CallOptions, Error};
use tw_test::{Generation, McpServer, Quirk, mcp};

use crate::{House, far};

const ALL: [Generation; 4] = [
    Generation::Present,
    Generation::Earlier("2025-11-25"),
    Generation::Earlier("2025-03-26"),
    Generation::Sessionless,
];

#[tokio::test]
async fn tools_of_every_generation_are_listed_and_called_in_both_forms_of_an_answer() {
    for generation in ALL {
        for streams in [false, true] {
            let server = McpServer::start(generation).await.paged(2);
            let server = if streams { server.streaming() } else { server };
            let house = House::of(&server);
            let listing = house.list().await.unwrap();
            let names: Vec<_> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["add", "echo", "fail", "picture", "slow"], "{generation:?}");
            assert_eq!(server.asked("tools/list").len(), 3, "pages");
            assert_eq!(
                (listing.server.name.as_deref(), listing.server.version.as_deref()),
                (Some("garden"), Some("2.1.0"))
            );
            assert_eq!(listing.server.instructions.as_deref(), Some("Dig gently."));
            let revision = match generation {
                Generation::Present => mcp::PRESENT,
                Generation::Earlier(revision) => revision,
                Generation::Sessionless => mcp::EARLIER,
                Generation::Bare(_) => unreachable!("it lists nothing"),
            };
            assert_eq!(listing.revision.as_deref(), Some(revision));
            let sum = house.call("add", json!({ "a": 1, "b": 2 })).await.unwrap();
            assert_eq!(sum.structured_content, Some(json!({ "sum": 3.0 })));
            assert_eq!((sum.text().as_str(), sum.is_error), ("{\"sum\":3}", false));
        }
    }
}

#[tokio::test]
async fn definition_is_handed_on_with_all_its_members() {
    let server = McpServer::start(Generation::Present).await;
    let add = House::of(&server).list().await.unwrap().tools.remove(0);
    assert_eq!((add.title.as_deref(), add.description.as_deref()), (Some("Add"), Some("Adds two numbers.")));
    assert_eq!(add.input_schema["required"], json!(["a", "b"]));
    assert_eq!(add.output_schema.as_ref().unwrap()["required"], json!(["sum"]));
    let hints = &add.annotations;
    assert_eq!((hints.read_only, hints.destructive, hints.open_world), (Some(true), None, Some(false)));
    assert_eq!(add.icons[0].src, "https://example.com/add.svg");
    assert_eq!(add.execution, Some(json!({ "taskSupport": "optional" })));
    assert_eq!(add.raw["inputSchema"], add.input_schema);
}

#[tokio::test]
async fn generation_is_asked_for_once() {
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    for _ in 0..2 {
        house.call("add", json!({})).await.unwrap();
    }
    assert_eq!(server.methods(), ["server/discover", "tools/call", "tools/call"]);

    let server = McpServer::start(Generation::Earlier("2025-06-18")).await;
    let house = House::of(&server);
    for _ in 0..2 {
        house.call("add", json!({})).await.unwrap();
    }
    let opening = ["server/discover", "initialize", "notifications/initialized"];
    assert_eq!(server.methods(), [&opening[..], &["tools/call", "tools/call"]].concat());
    let requests = server.upstream.requests();
    let header = |at: usize, name: &str| requests[at].header(name);
    assert_eq!((header(1, "mcp-protocol-version"), header(1, "mcp-session-id")), (None, None));
    for at in 2..5 {
        assert_eq!(header(at, "mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(header(at, "mcp-session-id"), Some("session-1"));
    }
}

#[tokio::test]
async fn many_calls_at_once_open_one_session() {
    let server = McpServer::start(Generation::Earlier("2025-11-25")).await;
    let house = House::of(&server);
    let calls = (0..20).map(|number| house.call("add", json!({ "a": number, "b": 1 })));
    for (number, called) in futures::future::join_all(calls).await.into_iter().enumerate() {
        let sum = u32::try_from(number).unwrap() + 1;
        assert_eq!(called.unwrap().structured_content, Some(json!({ "sum": f64::from(sum) })));
    }
    assert_eq!(server.asked("initialize").len(), 1);
}

#[tokio::test]
async fn session_that_has_ended_is_opened_once_more() {
    let server = McpServer::start(Generation::Earlier("2025-11-25")).await;
    let house = House::of(&server);
    house.call("add", json!({})).await.unwrap();
    server.forget_sessions();
    house.call("add", json!({})).await.unwrap();
    assert_eq!(server.asked("initialize").len(), 2);
    assert_eq!(server.asked("server/discover").len(), 1, "it is known to be an earlier one");
    server.forget_sessions();
    assert_eq!(house.list().await.unwrap().tools.len(), 5);

    // A server that forgets every session at once is asked no more often.
    let body =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32001, "message": "Session not found" } });
    let status = "404 Not Found";
    server.set(Quirk::Answer { status, kind: "application/json", body: body.to_string() });
    let before = server.asked("initialize").len();
    let error = house.call("add", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::Protocol { code: -32001, .. }), "{error}");
    assert_eq!(server.asked("initialize").len(), before + 1);
}

#[tokio::test]
async fn server_that_changes_its_generation_is_asked_again() {
    let server = McpServer::start(Generation::Earlier("2025-11-25")).await;
    let house = House::of(&server);
    house.call("add", json!({})).await.unwrap();
    server.becomes(Generation::Present);
    house.call("add", json!({})).await.unwrap();
    assert_eq!(house.list().await.unwrap().revision.as_deref(), Some(mcp::PRESENT));
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    house.call("add", json!({})).await.unwrap();
    server.becomes(Generation::Earlier("2025-11-25"));
    house.call("add", json!({})).await.unwrap();
    assert_eq!(house.list().await.unwrap().revision.as_deref(), Some("2025-11-25"));
}

#[tokio::test]
async fn server_that_knows_no_handshake_gets_the_call_alone() {
    for status in
        ["200 OK", "404 Not Found", "405 Method Not Allowed", "400 Bad Request", "501 Not Implemented"]
    {
        let server = McpServer::start(Generation::Bare(status)).await;
        let mut house = House::of(&server);
        house.target = house.target.header("x-key", "k-1");
        if status.starts_with("501") {
            let error = house.call("add", json!({})).await.unwrap_err();
            assert!(matches!(error, Error::Refused { status: 501, .. }), "{error}");
            continue;
        }
        for _ in 0..2 {
            let (sender, _reports) = tokio::sync::mpsc::channel(1);
            let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned();
            let options =
                CallOptions { progress: Some(sender), trace: Some(trace), ..CallOptions::until(far()) };
            let sum = house.call_with("add", json!({ "a": 1, "b": 2 }), options).await.unwrap();
            assert_eq!(sum.structured_content, Some(json!({ "sum": 3.0 })), "{status}");
        }
        assert_eq!(
            server.methods(),
            ["server/discover", "initialize", "tools/call", "tools/call"],
            "{status}"
        );
        let called = server.asked("tools/call").remove(0);
        assert_eq!(called["params"], json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
        let request = server.upstream.requests().pop().unwrap();
        assert!(!request.head.to_ascii_lowercase().contains("mcp-"), "{}", request.head);
        assert_eq!(request.header("x-key"), Some("k-1"));
        let error = house.call("nothing", json!({})).await.unwrap_err();
        assert!(matches!(error, Error::Protocol { code: -32602, .. }), "{error}");
        house.list().await.unwrap_err();

        // It may learn.
        for generation in [Generation::Present, Generation::Earlier("2025-11-25")] {
            server.becomes(generation);
            house.call("add", json!({})).await.unwrap();
            assert_eq!(house.list().await.unwrap().tools.len(), 5, "{status} {generation:?}");
            server.becomes(Generation::Bare(status));
            house.call("add", json!({})).await.unwrap();
        }
    }

    // One that says the same whatever it is asked.
    let server = McpServer::start(Generation::Sessionless).await;
    server.set_from_the_start(Quirk::Result(json!({ "content": [{ "type": "text", "text": "hi" }] })));
    assert_eq!(House::of(&server).call("add", json!({})).await.unwrap().text(), "hi");
}

#[tokio::test]
async fn address_that_is_none_of_a_server_is_told_as_such() {
    let server = McpServer::start(Generation::Present).await;
    let status = "404 Not Found";
    server.set_from_the_start(Quirk::Answer { status, kind: "text/html", body: "<p>gone".to_owned() });
    let house = House::of(&server);
    for _ in 0..2 {
        let error = house.call("add", json!({})).await.unwrap_err().to_string();
        assert!(error.contains("HTTP 404: is this the address of an MCP endpoint"), "{error}");
    }
    let error = house.list().await.unwrap_err().to_string();
    assert!(error.contains("is this the address"), "{error}");
}

#[tokio::test]
async fn server_that_knows_no_revision_of_ours_is_told() {
    let server = McpServer::start(Generation::Present).await;
    let data = json!({ "supported": ["2031-01-01", "2030-01-01"] });
    server.set_from_the_start(Quirk::Fault {
        status: "400 Bad Request",
        code: -32022,
        message: "no".to_owned(),
        data,
    });
    let error = House::of(&server).list().await.unwrap_err();
    let Error::Revision { supported, .. } = &error else { panic!("{error}") };
    assert_eq!(supported, &["2031-01-01", "2030-01-01"]);
    assert!(error.to_string().contains("2026-07-28") && error.to_string().contains("2031-01-01"), "{error}");
}

#[tokio::test]
async fn sessions_are_not_shared_between_tenants_or_credentials() {
    let server = McpServer::start(Generation::Earlier("2025-11-25")).await;
    let house = House::of(&server);
    let other = House { client: house.client.clone(), target: house.target.clone().header("x-key", "k-1") };
    let mut third = House { client: house.client.clone(), target: house.target.clone() };
    third.target.tenant = tw_model::TenantId::new();
    for house in [&house, &other, &third, &house] {
        house.call("add", json!({})).await.unwrap();
    }
    let requests = server.upstream.requests();
    let calls = requests.iter().filter(|asked| asked.body.windows(10).any(|window| window == b"tools/call"));
    let sessions: Vec<_> = calls.map(|asked| asked.header("mcp-session-id").unwrap()).collect();
    assert_eq!(sessions, ["session-1", "session-2", "session-3", "session-1"]);
}

#[tokio::test]
async fn argument_that_the_server_wants_in_a_header_is_repeated_there() {
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    let region = |server: &McpServer| {
        let requests = server.upstream.requests();
        requests.last().unwrap().header("mcp-param-region").map(str::to_owned)
    };
    for (text, header) in [("grün", "=?base64?Z3LDvG4=?="), ("eu", "eu")] {
        let called = house.call("echo", json!({ "text": "hi", "region": text })).await.unwrap();
        assert_eq!((called.text().as_str(), region(&server).as_deref()), ("hi", Some(header)));
    }
    // Nothing was known of the tool at first: the server refused, and its list said why.
    assert_eq!(server.methods(), ["server/discover", "tools/call", "tools/list", "tools/call", "tools/call"]);
}
