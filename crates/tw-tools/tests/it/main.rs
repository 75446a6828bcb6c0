//! The shipped tools from outside: as they register, as they run, with real sockets of this machine.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod conformance;
mod data;
mod house;
mod http_request;
mod mcp_call;
mod web_fetch;
mod web_search;

use serde_json::Value;
use toolwright_sdk::{CodeTool, ToolContext, ToolFailure, ToolResult, registered};

/// Runs a tool by its slug, as the engine does once the input fits the schema.
async fn run(slug: &str, cx: ToolContext, input: Value) -> Result<ToolResult, ToolFailure> {
    (tool(slug).run)(cx, input).await
}

fn tool(slug: &str) -> &'static CodeTool {
    tw_tools::link();
    let tools = registered().unwrap();
    tools.into_iter().find(|tool| (tool.define)().slug.as_str() == slug).expect(slug)
}
