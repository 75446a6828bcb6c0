//! MCP servers of others: where they are, what they offer, what is imported, and what changed there since.

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tw_engine::McpDrift;
use tw_identity::rights::{ReadMcpServers, WriteMcpServers};
use tw_mcp_servers::{
    Decision, ListedTool, SentImport, ServerAbout, ServerDetail, ServerSummary, ToolState, server_mark,
    stdio_name,
};
use tw_model::{Code, McpDriftId, McpServerId, Timestamp};
use tw_registry::{McpImport, SkippedRemote, Suspicion};
use uuid::Uuid;

use super::{
    List,
    authoring::{author, marks},
    tools::{ToolView, view},
};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    body::JsonBytes,
    idempotent::Write,
    members::{Body, Nothing},
    problem::{Problem, ProblemDocument, Result},
    query::{Id, Params},
};

/// An MCP server of others.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct McpServerView {
    id: Uuid,
    name: String,
    url: String,
    transport: &'static str,
    /// Sent with every request, their values shown as `***`.
    #[schema(value_type = Object)]
    headers: Map<String, Value>,
    /// The remote tools that may be imported; `null` for all.
    allowed_tools: Option<Vec<String>>,
    /// How it went last: `ready`, `unauthorized`, `unreachable` or `failed`.
    status: String,
    last_error: Option<String>,
    /// What the server says about itself.
    server: Option<AboutView>,
    /// The revision of the protocol that it is asked in.
    protocol_version: Option<String>,
    /// How many tools it listed last.
    tool_count: i64,
    /// How many changes of imported tools nobody has decided about.
    pending_drifts: i64,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_listed_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Object)]
    created_by: Value,
}

/// What a server says about itself. Nobody has verified it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AboutView {
    name: Option<String>,
    title: Option<String>,
    version: Option<String>,
}

/// An MCP server with its tools.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct McpServerDetail {
    #[serde(flatten)]
    server: McpServerView,
    tools: Vec<RemoteToolView>,
    /// Entries of the server's list that are no tools.
    left_out: Vec<SkippedRemoteView>,
}

/// A tool of a server.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RemoteToolView {
    name: String,
    title: Option<String>,
    description: Option<String>,
    /// Hints of the server about itself.
    #[schema(value_type = Option<Object>)]
    annotations: Option<Value>,
    /// The name of its definition: schemas, texts and hints.
    hash: Option<String>,
    /// The level that the hints speak for. An imported tool gets `write`, or `destructive` where the server says so.
    proposed_level: Option<&'static str>,
    /// `new`, `imported`, or `held` until somebody has decided about a change.
    #[schema(value_type = String)]
    status: ToolState,
    /// Whether the server has it in the list it gave last.
    listed: bool,
    /// The tool that was imported.
    slug: Option<String>,
    tool_id: Option<Uuid>,
    /// What a person should look at before a model reads it.
    warnings: Vec<SuspicionView>,
}

/// Something in a text that a person may not see, and a model reads.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SuspicionView {
    path: String,
    code: &'static str,
    message: String,
}

impl From<Suspicion> for SuspicionView {
    fn from(Suspicion { path, code, message }: Suspicion) -> Self {
        Self { path, code, message }
    }
}

/// A remote tool that is no tool here.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SkippedRemoteView {
    tool: String,
    reason: String,
}

impl From<ServerSummary> for McpServerView {
    fn from(ServerSummary { server, headers, pending_drifts }: ServerSummary) -> Self {
        let about = ServerAbout::kept(server.answer.about.as_deref());
        Self {
            id: server.id.uuid(),
            transport: if stdio_name(&server).is_some() { "stdio" } else { "http" },
            name: server.name,
            url: server.url,
            headers,
            allowed_tools: server.allowed_tools,
            status: server.answer.status,
            last_error: server.answer.error,
            protocol_version: about.as_ref().and_then(|about| about.revision.clone()),
            server: about.map(|ServerAbout { name, title, version, .. }| AboutView { name, title, version }),
            tool_count: server.answer.tools,
            pending_drifts,
            last_listed_at: server.answer.listed,
            created_at: server.created,
            updated_at: server.updated,
            created_by: author(&server.created_by),
        }
    }
}

impl From<ListedTool> for RemoteToolView {
    fn from(tool: ListedTool) -> Self {
        Self {
            name: tool.name,
            title: tool.title,
            description: tool.description,
            annotations: tool.annotations,
            hash: tool.hash,
            proposed_level: tool.proposed_level.map(tw_model::Level::as_str),
            status: tool.state,
            listed: tool.listed,
            slug: tool.imported.as_ref().map(|imported| imported.slug.to_string()),
            tool_id: tool.imported.map(|imported| imported.id.uuid()),
            warnings: tool.warnings.into_iter().map(SuspicionView::from).collect(),
        }
    }
}

impl From<ServerDetail> for McpServerDetail {
    fn from(ServerDetail { summary, tools }: ServerDetail) -> Self {
        let about = ServerAbout::kept(summary.server.answer.about.as_deref()).unwrap_or_default();
        let skipped = |(tool, reason)| SkippedRemoteView { tool, reason };
        Self {
            left_out: about.left_out.into_iter().map(skipped).collect(),
            server: summary.into(),
            tools: tools.into_iter().map(RemoteToolView::from).collect(),
        }
    }
}

fn whole(status: StatusCode, detail: ServerDetail) -> JsonAnswer {
    let etag = format!("\"{}\"", server_mark(&detail.summary.server));
    JsonAnswer::new(status, &McpServerDetail::from(detail)).with(header::ETAG, &etag)
}

/// What can be said about a server.
#[derive(Debug, utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "described, not read: the body is read as a whole and all that is wrong is told, without values"
)]
pub(crate) struct McpServerBody {
    /// Unique in the tenant whatever its case. The slugs of imported tools begin with it.
    name: Option<String>,
    url: Option<String>,
    /// Sent with every request. A value may be `secret:<label>`, alone or behind a word such as `Bearer`; any other one is
    /// kept encrypted and shown as `***`, which sent back keeps it as long as the server stays at the same host.
    #[schema(value_type = Option<Object>)]
    headers: Option<Value>,
    /// The remote tools that may be imported; `null` for all.
    allowed_tools: Option<Vec<String>>,
}

/// The tenant's MCP servers, oldest first, as they answered last. None of them is asked.
#[utoipa::path(get, path = "/api/mcp-servers", operation_id = "list_mcp_servers", tag = "administration",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<McpServerView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, _place): AllowedList<ReadMcpServers>,
    params: Params,
) -> Result<axum::Json<List<McpServerView>>> {
    let page = app.engine.mcp_servers().list(&permit, &params.page()?).await?;
    Ok(axum::Json(page.map(McpServerView::from).into()))
}

/// Adds an MCP server and asks it for its tools.
///
/// A server that does not answer is added all the same: `status` and `last_error` say what went wrong. An address that may
/// not be called is refused, and so is a command.
#[utoipa::path(post, path = "/api/mcp-servers", operation_id = "create_mcp_server", tag = "administration",
    params(("Idempotency-Key" = Option<String>, Header)),
    request_body(content = McpServerBody, example = json!({
        "name": "weather", "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer secret:weather" },
    })),
    responses((status = 201, body = McpServerDetail), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<WriteMcpServers>,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let made = app.engine.mcp_servers().create(&permit, &body, Some(&request_id)).await?;
            let location = format!("/api/mcp-servers/{}", made.summary.server.id);
            Ok(whole(StatusCode::CREATED, made).with(header::LOCATION, &location))
        })
        .await
}

/// One MCP server with the tools that it listed last. It is not asked.
#[utoipa::path(get, path = "/api/mcp-servers/{id}", operation_id = "read_mcp_server", tag = "administration",
    params(("id" = Uuid, Path)),
    responses((status = 200, body = McpServerDetail), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadMcpServers>,
    Id(id): Id<McpServerId>,
) -> Result<Response> {
    let detail = app.engine.mcp_servers().get(&permit, id).await?;
    Ok(axum::response::IntoResponse::into_response(whole(StatusCode::OK, detail)))
}

/// Changes an MCP server. At another address, or with other headers, it is asked for its tools at once.
#[utoipa::path(patch, path = "/api/mcp-servers/{id}", operation_id = "change_mcp_server", tag = "administration",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header), ("Idempotency-Key" = Option<String>, Header)),
    request_body = McpServerBody,
    responses((status = 200, body = McpServerDetail), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 412, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<WriteMcpServers>,
    headers: HeaderMap,
    Id(id): Id<McpServerId>,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let marks = marks(&headers)?;
            let servers = app.engine.mcp_servers();
            let changed = servers.change(&permit, id, &body, marks.as_deref(), Some(&request_id)).await?;
            Ok(whole(StatusCode::OK, changed))
        })
        .await
}

/// Removes an MCP server. Tools that were imported from it, or that name it, are removed first: 409 names them.
#[utoipa::path(delete, path = "/api/mcp-servers/{id}", operation_id = "remove_mcp_server", tag = "administration",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 412, body = ProblemDocument)))]
pub(crate) async fn remove(
    write: Write<WriteMcpServers>,
    headers: HeaderMap,
    Id(id): Id<McpServerId>,
) -> Result<Response> {
    write
        .once(&[], |Write { app, permit, request_id, .. }| async move {
            let marks = marks(&headers)?;
            app.engine.mcp_servers().remove(&permit, id, marks.as_deref(), Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// Asks an MCP server for its tools, and holds those against what was imported. `status` says how that went.
#[utoipa::path(post, path = "/api/mcp-servers/{id}/refresh", operation_id = "refresh_mcp_server",
    tag = "administration", params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = McpServerDetail), (status = 404, body = ProblemDocument)))]
pub(crate) async fn refresh(
    write: Write<WriteMcpServers>,
    Id(id): Id<McpServerId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let detail = app.engine.mcp_servers().refresh(&permit, id, Some(&request_id)).await?;
            Ok(whole(StatusCode::OK, detail))
        })
        .await
}

/// Which tools of a server are to be imported.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportBody {
    /// Their names on the server.
    tools: Vec<String>,
    /// Makes them live at once, instead of drafts.
    #[serde(default)]
    publish: bool,
}

impl Body for ImportBody {}

/// What came of an import.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct McpImportView {
    /// The tools that are here now. One that was imported before is as it was.
    items: Vec<ToolView>,
    skipped: Vec<SkippedRemoteView>,
    warnings: Vec<ImportWarning>,
}

/// Something in a tool's definition that a person should look at.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportWarning {
    /// Its name on the server.
    tool: String,
    #[serde(flatten)]
    warning: SuspicionView,
}

impl From<McpImport> for McpImportView {
    fn from(import: McpImport) -> Self {
        let skipped = |SkippedRemote { tool, reason }| SkippedRemoteView { tool, reason };
        let warning = |(tool, warning): (String, Suspicion)| ImportWarning { tool, warning: warning.into() };
        Self {
            items: import.items.iter().map(view).collect(),
            skipped: import.skipped.into_iter().map(skipped).collect(),
            warnings: import.warnings.into_iter().map(warning).collect(),
        }
    }
}

/// Makes tools of those that a server listed last: drafts, or with `publish` tools that are live.
///
/// The server is not asked. What cannot be a tool is in `skipped`, with the reason.
#[utoipa::path(post, path = "/api/mcp-servers/{id}/import", operation_id = "import_mcp_tools", tag = "administration",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ImportBody,
    responses((status = 200, body = McpImportView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn import(
    write: Write<WriteMcpServers>,
    Id(id): Id<McpServerId>,
    JsonBytes(body, bytes): JsonBytes<ImportBody>,
) -> Result<Response> {
    let sent = SentImport { tools: body.tools, publish: body.publish };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let imported = app.engine.mcp_servers().import(&permit, id, &sent, &request_id).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &McpImportView::from(imported)))
        })
        .await
}

/// A change of an imported tool on its server.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DriftView {
    id: Uuid,
    /// What the server calls the tool now; where it has it no more, what it was called.
    tool: String,
    slug: String,
    tool_id: Uuid,
    /// `changed`, `renamed` or `removed`.
    kind: String,
    pinned_hash: String,
    current_hash: Option<String>,
    diff: Vec<DriftDifference>,
    /// `pending`, `accepted` or `rejected`.
    status: &'static str,
    #[schema(value_type = String, format = DateTime)]
    seen_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    decided_at: Option<Timestamp>,
    #[schema(value_type = Option<Object>)]
    decided_by: Option<Value>,
}

/// One place where two remote definitions differ.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct DriftDifference {
    path: String,
    before: Value,
    after: Value,
}

impl From<McpDrift> for DriftView {
    fn from(drift: McpDrift) -> Self {
        let diff: Vec<DriftDifference> = serde_json::from_str(&drift.diff).unwrap_or_default();
        let was = || {
            let before = diff.first().map(|each| &each.before);
            before.and_then(|before| before["name"].as_str()).unwrap_or(&drift.slug).to_owned()
        };
        Self {
            id: drift.id.uuid(),
            tool: drift.remote_name.clone().unwrap_or_else(was),
            slug: drift.slug,
            tool_id: drift.tool.uuid(),
            kind: drift.kind,
            pinned_hash: drift.pinned_hash,
            current_hash: drift.current_hash,
            status: drift.status.as_str(),
            seen_at: drift.seen,
            decided_at: drift.decided,
            decided_by: drift.decided_by.as_deref().map(author),
            diff,
        }
    }
}

/// What imported tools of a server were found to be instead, newest first. The server is not asked.
#[utoipa::path(get, path = "/api/mcp-servers/{id}/drift", operation_id = "list_mcp_drift", tag = "administration",
    params(("id" = Uuid, Path), ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query),
           ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<DriftView>), (status = 404, body = ProblemDocument)))]
pub(crate) async fn drifts(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadMcpServers>,
    Id(id): Id<McpServerId>,
    params: Params,
) -> Result<axum::Json<List<DriftView>>> {
    let page = app.engine.mcp_servers().drifts(&permit, id, &params.page()?).await?;
    Ok(axum::Json(page.map(DriftView::from).into()))
}

/// Takes what the server offers now, as a new version of the same tool.
///
/// The version is live if the tool was live. A tool that the server has no more is switched off.
#[utoipa::path(post, path = "/api/mcp-servers/{id}/drift/{drift}/accept", operation_id = "accept_mcp_drift",
    tag = "administration",
    params(("id" = Uuid, Path), ("drift" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = DriftView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument)))]
pub(crate) async fn accept(
    write: Write<WriteMcpServers>,
    of: DriftOfServer,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    decide(write, of, &bytes, Decision::Accept).await
}

/// Rejects what the server offers now.
///
/// The tool stays held until the server offers again what was imported, or something else that is accepted.
#[utoipa::path(post, path = "/api/mcp-servers/{id}/drift/{drift}/reject", operation_id = "reject_mcp_drift",
    tag = "administration",
    params(("id" = Uuid, Path), ("drift" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = DriftView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument)))]
pub(crate) async fn reject(
    write: Write<WriteMcpServers>,
    of: DriftOfServer,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    decide(write, of, &bytes, Decision::Reject).await
}

/// A server and one of its drifts, out of the path.
pub(crate) struct DriftOfServer {
    server: McpServerId,
    drift: McpDriftId,
}

impl FromRequestParts<App> for DriftOfServer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let missing = || Problem::new(Code::NotFound, "nothing has this id: an id must be a UUID");
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((server, drift)) = path.map_err(|_| missing())?;
        let server = server.parse().map_err(|_| missing())?;
        // What is no id names no drift; whether there is such a server is the first question.
        Ok(Self { server, drift: drift.parse().unwrap_or_else(|_| McpDriftId::from_uuid(Uuid::nil())) })
    }
}

async fn decide(
    write: Write<WriteMcpServers>,
    DriftOfServer { server, drift }: DriftOfServer,
    bytes: &[u8],
    decision: Decision,
) -> Result<Response> {
    write
        .once(bytes, |Write { app, permit, request_id, .. }| async move {
            let servers = app.engine.mcp_servers();
            let decided = servers.decide(&permit, server, drift, decision, Some(&request_id)).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &DriftView::from(decided)))
        })
        .await
}
