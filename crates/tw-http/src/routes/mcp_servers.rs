//! MCP servers of others: where they are, what they offer, what is imported, and what changed there since.

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tw_engine::{McpDrift, StoredMcpGrant as McpGrant};
use tw_identity::rights::{ReadMcpServers, WriteMcpServers};
use tw_mcp_servers::{
    CallbackSent, Decision, ListedTool, OwnAddress, SentImport, ServerAbout, ServerDetail, ServerSummary,
    ToolState, server_mark, stdio_name,
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
    query::{Id, Params, no_id},
};

/// An external MCP server.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct McpServerView {
    id: Uuid,
    name: String,
    url: String,
    transport: &'static str,
    /// Sent with every request. Values are shown as `***`.
    #[schema(value_type = Object)]
    headers: Map<String, Value>,
    /// The remote tools that may be imported; `null` allows all.
    allowed_tools: Option<Vec<String>>,
    /// The OAuth client id for this server; `null` to identify the client automatically.
    client_id: Option<String>,
    /// The OAuth client secret, shown as `***`.
    client_secret: Option<String>,
    /// The current sign-in; `null` if nobody has signed in.
    sign_in: Option<SignInView>,
    /// The result of the last request: `ready`, `unauthorized`, `unreachable` or `failed`.
    status: String,
    last_error: Option<String>,
    /// The server's own name and version.
    server: Option<AboutView>,
    /// The protocol revision used with the server.
    protocol_version: Option<String>,
    /// The number of tools in its latest list.
    tool_count: i64,
    /// The number of changes to imported tools that are not decided yet.
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

/// A sign-in to an MCP server. The token itself is never returned.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SignInView {
    /// `signed_in`, or `over` if a new sign-in is needed.
    status: &'static str,
    /// The reason, if the sign-in is over.
    error: Option<String>,
    /// The issuer: the authorization server.
    issuer: String,
    scope: Option<String>,
    /// When the current token expires. It is refreshed before that.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    signed_in_at: Timestamp,
    #[schema(value_type = Object)]
    signed_in_by: Value,
}

impl From<McpGrant> for SignInView {
    fn from(grant: McpGrant) -> Self {
        Self {
            status: if grant.refused.is_some() { "over" } else { "signed_in" },
            error: grant.refused,
            issuer: grant.issuer,
            scope: grant.scope,
            expires_at: grant.expires,
            signed_in_at: grant.signed_in,
            signed_in_by: author(&grant.signed_in_by),
        }
    }
}

/// The server's own name and version. They are not verified.
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
    /// Entries of the server's list that cannot be imported.
    left_out: Vec<SkippedRemoteView>,
}

/// A tool on an MCP server.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RemoteToolView {
    name: String,
    title: Option<String>,
    description: Option<String>,
    /// The server's hints about the tool.
    #[schema(value_type = Option<Object>)]
    annotations: Option<Value>,
    /// The digest of the definition: schemas, texts and hints.
    hash: Option<String>,
    /// The level according to the hints. An imported tool gets `destructive` if the server says so, otherwise `write`.
    proposed_level: Option<&'static str>,
    /// `new`, `imported`, or `held` until a change is accepted or rejected.
    #[schema(value_type = String)]
    status: ToolState,
    /// Whether the tool is in the server's latest list.
    listed: bool,
    /// The slug of the imported tool.
    slug: Option<String>,
    tool_id: Option<Uuid>,
    /// Findings that a person should check before a model reads the text.
    warnings: Vec<SuspicionView>,
}

/// A finding in a text: something that people may overlook and models read.
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

/// A remote tool that was not imported.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SkippedRemoteView {
    tool: String,
    reason: String,
}

impl From<ServerSummary> for McpServerView {
    fn from(summary: ServerSummary) -> Self {
        let ServerSummary { server, headers, client_id, client_secret, grant, pending_drifts } = summary;
        let about = ServerAbout::kept(server.answer.about.as_deref());
        Self {
            id: server.id.uuid(),
            transport: if stdio_name(&server).is_some() { "stdio" } else { "http" },
            name: server.name,
            url: server.url,
            headers,
            allowed_tools: server.allowed_tools,
            client_id,
            client_secret,
            sign_in: grant.map(SignInView::from),
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

/// The properties of an MCP server.
#[derive(Debug, utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "described, not read: the body is read as a whole and all that is wrong is told, without values"
)]
pub(crate) struct McpServerBody {
    /// Unique in the tenant, ignoring case. The slugs of imported tools begin with it.
    name: Option<String>,
    url: Option<String>,
    /// Sent with every request. A value may be `secret:<label>`, alone or after a word such as `Bearer`. Other values are
    /// stored encrypted and shown as `***`; sending `***` back keeps the value, unless the host of the URL changes.
    #[schema(value_type = Option<Object>)]
    headers: Option<Value>,
    /// The remote tools that may be imported; `null` allows all.
    allowed_tools: Option<Vec<String>>,
    /// The OAuth client id. Without one, the client identifies itself by its client document or registers itself.
    client_id: Option<String>,
    /// The OAuth client secret, or `secret:<label>`. It is stored encrypted, shown as `***`, and sent to the authorization
    /// server only.
    client_secret: Option<String>,
}

/// List MCP servers with their last known state, oldest first. The servers are not contacted.
#[utoipa::path(get, path = "/api/mcp-servers", operation_id = "list_mcp_servers", tag = "administration",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<McpServerView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadMcpServers>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.mcp_servers().list(&permit, &params.page()?).await?;
    place.page(move || List::from(page.map(McpServerView::from))).await
}

/// Add an MCP server and list its tools.
///
/// A server that does not answer is added as well; `status` and `last_error` say what went wrong. An address that is not
/// allowed and a command are refused.
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

/// Get an MCP server with its latest list of tools. The server is not contacted.
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

/// Change an MCP server. If the URL or headers change, its tools are listed at once.
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

/// Delete an MCP server. No tool may use it; 409 names the tools that do.
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

/// List the tools of an MCP server and compare them with the imported ones. `status` has the result.
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

/// The page to sign in on.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SignInPage {
    /// The URL to open in a browser. Only the person who requested it can use it.
    authorization_url: String,
}

/// Start signing in to an MCP server: return the URL of its sign-in page.
///
/// The sign-in page redirects to `/mcp-servers/callback` of this server; the request is valid for ten minutes. If
/// `public_url` is not configured and the request does not come from the same machine, the answer is 409.
#[utoipa::path(post, path = "/api/mcp-servers/{id}/authorize", operation_id = "authorize_mcp_server",
    tag = "administration", params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = SignInPage), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 502, body = ProblemDocument)))]
pub(crate) async fn authorize(
    write: Write<WriteMcpServers>,
    headers: HeaderMap,
    Id(id): Id<McpServerId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
            let own = (app.settings.public_url.as_deref(), host);
            let page = app.engine.mcp_servers().authorize(&permit, id, own, Some(&request_id)).await?;
            let view =
                |authorization_url: &str| SignInPage { authorization_url: authorization_url.to_owned() };
            Ok(JsonAnswer::new(StatusCode::OK, &view(&page)).keeping(&view("***")))
        })
        .await
}

/// Sign out of an MCP server: delete the stored token.
#[utoipa::path(delete, path = "/api/mcp-servers/{id}/authorize", operation_id = "sign_out_of_mcp_server",
    tag = "administration", params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument)))]
pub(crate) async fn sign_out(write: Write<WriteMcpServers>, Id(id): Id<McpServerId>) -> Result<Response> {
    write
        .once(&[], |Write { app, permit, request_id, .. }| async move {
            app.engine.mcp_servers().sign_out(&permit, id, Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// The parameters that the sign-in page returned.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallbackBody {
    state: String,
    #[serde(default)]
    code: Option<String>,
    /// The issuer that answered.
    #[serde(default)]
    iss: Option<String>,
    /// The error code, if the sign-in failed.
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    error_description: Option<String>,
}

impl Body for CallbackBody {}

/// Finish signing in to an MCP server, then list its tools. It works once, and only for the person who started it.
#[utoipa::path(post, path = "/api/mcp-servers/callback", operation_id = "come_back_to_mcp_server",
    tag = "administration", request_body = CallbackBody,
    responses((status = 200, body = McpServerDetail), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 422, body = ProblemDocument),
              (status = 502, body = ProblemDocument)))]
pub(crate) async fn come_back(
    Write { app, permit, request_id, .. }: Write<WriteMcpServers>,
    JsonBytes(body, _): JsonBytes<CallbackBody>,
) -> Result<JsonAnswer> {
    let CallbackBody { state, code, iss, error, error_description } = body;
    let sent = CallbackSent { state, code, iss, error, error_description };
    let detail = app.engine.mcp_servers().come_back(&permit, &sent, Some(&request_id)).await?;
    Ok(whole(StatusCode::OK, detail))
}

/// Get the OAuth client document of this server. It is public.
pub(crate) async fn client_document(State(app): State<App>) -> Result<Response> {
    let document = OwnAddress::of(app.settings.public_url.as_deref(), None).ok();
    let missing = || Problem::new(Code::NotFound, "this server has no `public_url` with TLS");
    let document = document.and_then(|address| address.document()).ok_or_else(missing)?;
    Ok(super::json(StatusCode::OK, &document))
}

/// The tools to import from a server.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportBody {
    /// The names of the tools on the server.
    tools: Vec<String>,
    /// Publish the tools at once instead of creating drafts.
    #[serde(default)]
    publish: bool,
}

impl Body for ImportBody {}

/// The result of an import.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct McpImportView {
    /// The imported tools. Tools that were imported before are unchanged.
    items: Vec<ToolView>,
    skipped: Vec<SkippedRemoteView>,
    warnings: Vec<ImportWarning>,
}

/// A finding in a tool's definition that a person should check.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportWarning {
    /// The name of the tool on the server.
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

/// Import tools from the server's latest list, as drafts or published.
///
/// The server is not contacted. Tools that were not imported are in `skipped` with the reason.
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

/// A change to an imported tool on its server.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DriftView {
    id: Uuid,
    /// The current name of the tool on the server; of a removed tool, its last name.
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

/// List changes to the imported tools of a server, newest first. The server is not contacted.
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

/// Accept a change: the server's current definition becomes a new version of the tool.
///
/// The version is published if the tool was published. If the server no longer has the tool, it is switched off.
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

/// Reject a change.
///
/// The tool stays held until the server offers the imported definition again or another change is accepted.
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

/// The server and the change that the path names.
pub(crate) struct DriftOfServer {
    server: McpServerId,
    drift: McpDriftId,
}

impl FromRequestParts<App> for DriftOfServer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((server, drift)) = path.map_err(|_| no_id(""))?;
        let server = server.parse().map_err(|_| no_id(&server))?;
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
