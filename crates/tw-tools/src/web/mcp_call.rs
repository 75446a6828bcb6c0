//! `mcp_call`: one call of a tool of any MCP server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};
use tw_mcp_client::{CallOptions, Client, Target};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "server_url": "https://mcp.example.com/mcp", "tool_name": "add", "arguments": { "a": 1, "b": 2 },
}))]
struct Input {
    /// The address of the server, with `http://` or `https://`.
    #[schemars(title = "Server", length(min = 1, max = 8_000), example = &"https://mcp.example.com/mcp")]
    server_url: String,
    /// The tool to call, as the server calls it.
    #[schemars(title = "Tool", length(min = 1, max = 128), example = &"add")]
    tool_name: String,
    /// Its input.
    #[serde(default)]
    #[schemars(title = "Arguments")]
    arguments: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The structured content of the answer, else its text.
    #[schemars(title = "Result")]
    result: Value,
    /// All blocks of the answer, where some of them are pictures, sound or resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Content", with = "Option<Vec<Map<String, Value>>>")]
    mcp_content: Option<Vec<Value>>,
}

/// Calls a tool of an MCP server and gives back what it gave: its structured content, else its text.
///
/// Use it for a server whose tools are not in the catalogue. It can change things at the other side. A
/// server that is called often deserves tools of its own, where its credentials are kept and its tools
/// are listed with their inputs.
#[tool(
    slug = "mcp_call",
    name = "Call an MCP tool",
    category = "web",
    icon = "plug",
    version = "1.0.0",
    level = "write",
    timeout_ms = 30_000,
    tags = ["mcp", "server", "call"],
    form = "mcp_call.form.json",
    texts = [("de", "mcp_call.de.json")],
    builtin
)]
async fn mcp_call(cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let target = Target::new(cx.tenant(), input.server_url);
    let options = CallOptions {
        progress: cx.reports().cloned(),
        trace: cx.trace().map(str::to_owned),
        ..CallOptions::until(cx.deadline())
    };
    let client = cx.service::<Client>()?;
    let called = client.call_tool(&target, &input.tool_name, &input.arguments, options).await?.succeeded()?;
    let result = called.data();
    let has_others = called.others().next().is_some();
    let mcp_content = has_others.then_some(called.content);
    Ok(Reply::new(Output { result, mcp_content }, format!("`{}` answered", input.tool_name)))
}
