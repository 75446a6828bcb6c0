//! `mcp_call` against servers that do what they are told.

use serde_json::{Value, json};
use toolwright_sdk::{Code, ToolFailure, ToolResult};
use tw_test::{Generation, McpServer, Quirk};

use crate::{house::Hut, run};

async fn call(server: &McpServer, tool: &str, arguments: Value) -> Result<ToolResult, ToolFailure> {
    let input = json!({ "server_url": server.url(), "tool_name": tool, "arguments": arguments });
    run("mcp_call", Hut::near(&[&server.upstream]).context(), input).await
}

#[tokio::test]
async fn tool_of_either_generation_is_called() {
    for generation in [Generation::Present, Generation::Earlier("2025-06-18")] {
        let server = McpServer::start(generation).await;
        let added = call(&server, "add", json!({ "a": 1, "b": 2 })).await.unwrap();
        assert_eq!(
            (added.data, added.summary.as_str()),
            (json!({ "result": { "sum": 3.0 } }), "`add` answered")
        );
        assert_eq!(
            call(&server, "echo", json!({ "text": "hi" })).await.unwrap().data,
            json!({ "result": "hi" })
        );
        let picture = call(&server, "picture", json!({})).await.unwrap().data;
        assert_eq!(
            (&picture["result"], &picture["mcp_content"][1]["mimeType"]),
            (&json!("a dot"), &json!("image/png"))
        );
    }
}

#[tokio::test]
async fn failure_says_whose_it_is() {
    let server = McpServer::start(Generation::Present).await;
    let failure = call(&server, "fail", json!({})).await.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (Code::ToolFailed, "the cellar is locked"));
    let failure = call(&server, "nothing", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::UpstreamError);
    assert!(failure.message.contains("Unknown tool: nothing"), "{}", failure.message);
    server.set(Quirk::Redirect("http://169.254.169.254/".to_owned()));
    assert_eq!(call(&server, "add", json!({})).await.unwrap_err().code, Code::UpstreamError);
    let shut = json!({ "server_url": "http://169.254.169.254/mcp", "tool_name": "add" });
    let failure = run("mcp_call", Hut::near(&[]).context(), shut).await.unwrap_err();
    assert_eq!(failure.code, Code::EgressDenied);
}
