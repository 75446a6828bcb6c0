//! The MCP server of the library: without sessions, answers as plain JSON.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use tw_bench::work::{self, Confirmed, Order, Sum, Terms};

#[derive(Clone)]
pub(crate) struct Bare {
    tools: Arc<[Tool]>,
}

pub(crate) fn service(more: u32) -> StreamableHttpService<Bare, NeverSessionManager> {
    let named = [
        tool::<Terms, Sum>("add", "Adds two numbers."),
        tool::<Order, Confirmed>("order", "Takes an order and confirms it with its total."),
    ];
    let bare = Bare { tools: named.into_iter().chain((0..more).map(one_of_many)).collect() };
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    StreamableHttpService::new(move || Ok(bare.clone()), Arc::new(NeverSessionManager::default()), config)
}

fn tool<I: JsonSchema, O: JsonSchema>(name: &'static str, description: &'static str) -> Tool {
    let input = members(schemars::schema_for!(I).to_value());
    let output = members(schemars::schema_for!(O).to_value());
    Tool::new(name, description, input).with_raw_output_schema(Arc::new(output))
}

/// As the tenant's own tools are in the catalogue of many.
fn one_of_many(number: u32) -> Tool {
    let description =
        format!("Takes a text and gives it back, as number {number} of many tools that do the same.");
    let input = json!({
        "type": "object",
        "required": ["text"],
        "properties": { "text": { "type": "string", "maxLength": 1000 + number } },
    });
    Tool::new(format!("crowd.tool{number}"), description, members(input))
}

fn members(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = ListToolsResult::with_all_items(self.tools.to_vec());
        Ok(listed.with_ttl_ms(5_000).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let output = match &*request.name {
            "add" => run(arguments, work::add),
            "order" => run(arguments, work::confirm),
            name => Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
        }?;
        Ok(CallToolResult::structured(output).into())
    }
}

fn run<I: DeserializeOwned, O: Serialize>(arguments: Value, work: fn(I) -> O) -> Result<Value, ErrorData> {
    let input = serde_json::from_value(arguments)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    serde_json::to_value(work(input)).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
