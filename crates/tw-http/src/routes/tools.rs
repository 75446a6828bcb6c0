//! Tools: list, read, run.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, value::RawValue};
use tw_engine::{
    CallRequest, Listed, ToolChange, ToolFilter,
    rights::{Permit, ReadTools, UpdateTools},
};
use tw_model::{Code, Layer, Level, Mode, Origin, OutputSection, Policy, SessionId, ToolStatus};
use uuid::Uuid;

use super::{List, runs::RunAnswer};
use crate::{
    App,
    auth::{Allowed, MayRun},
    body::JsonBytes,
    front::RequestId,
    idempotent::{Answered, Key, once},
    problem::{Problem, ProblemDocument, Result},
    query::{Params, ToolName},
};

/// A tool in a list: everything but its schemas.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ToolItem {
    id: Uuid,
    slug: String,
    name: String,
    description: String,
    category: String,
    icon: String,
    tags: Vec<String>,
    /// `code`, `system_override` or `tenant_custom`.
    kind: &'static str,
    origin: &'static str,
    scope: &'static str,
    tool_type: &'static str,
    implementation_type: &'static str,
    execution_type: Option<&'static str>,
    status: &'static str,
    version: String,
    enabled: bool,
    is_active: bool,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable_reason: Option<&'static str>,
    visible: Option<bool>,
    is_async: bool,
    timeout_ms: u64,
    permission_level: Option<&'static str>,
    permission_policy: Option<&'static str>,
    required_permission: Option<String>,
    tenant_slugs: Vec<String>,
    collaborative: bool,
    #[schema(value_type = Vec<Object>)]
    output_sections: Vec<OutputSection>,
}

/// A tool, whole.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ToolView {
    #[serde(flatten)]
    item: ToolItem,
    input_schema: Value,
    output_schema: Option<Value>,
    execution: ExecutionView,
    etag: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ExecutionView {
    is_pure: bool,
    concurrency_group: String,
    max_concurrency: Option<u32>,
    timeout_s: Option<u32>,
}

impl From<&Listed> for ToolItem {
    fn from((tool, available): &Listed) -> Self {
        let def = &tool.def;
        Self {
            id: def.id.uuid(),
            slug: def.slug.to_string(),
            name: def.name.clone(),
            description: def.description.clone(),
            category: def.category.clone(),
            icon: def.icon.clone(),
            tags: def.tags.clone(),
            kind: def.layer.as_str(),
            origin: def.origin.as_str(),
            scope: "global",
            tool_type: "system",
            implementation_type: def.implementation.type_name(),
            execution_type: None,
            status: def.status.as_str(),
            version: def.version.to_string(),
            enabled: !matches!(available, Err("switched_off" | "not_switched_on")),
            is_active: def.is_active,
            available: available.is_ok(),
            unavailable_reason: available.as_ref().err().copied(),
            visible: def.visible,
            is_async: def.is_async,
            timeout_ms: def.timeout_ms,
            permission_level: def.level.map(tw_model::Level::as_str),
            permission_policy: def.policy.map(tw_model::Policy::as_str),
            required_permission: def.required_permission.as_ref().map(ToString::to_string),
            tenant_slugs: def.tenant_slugs.clone(),
            collaborative: def.collaborative,
            output_sections: def.output_sections.clone(),
        }
    }
}

/// The tools of the tenant's catalogue that the caller may see, by slug.
#[utoipa::path(get, path = "/api/tools", operation_id = "list_tools", tag = "tools",
    params(("status" = Option<String>, Query), ("implementation_type" = Option<String>, Query),
           ("tool_type" = Option<String>, Query), ("kind" = Option<String>, Query), ("origin" = Option<String>, Query),
           ("category" = Option<String>, Query), ("available" = Option<bool>, Query),
           ("q" = Option<String>, Query, description = "Words in slug, name or description"),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<ToolItem>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadTools>,
    params: Params,
) -> Result<axum::Json<List<ToolItem>>> {
    let status = params.word("status", ToolStatus::parse, "draft, published, deprecated, disabled")?;
    let layer = params.word("kind", Layer::parse, "code, system_override, tenant_custom")?;
    let origin = params.word("origin", Origin::parse, "code, builtin, database, bundle, mcp")?;
    let filter = ToolFilter {
        status: status.map(|status| status.as_str().to_owned()),
        implementation_type: params.text("implementation_type"),
        tool_type: params.text("tool_type"),
        kind: layer.map(|layer| layer.as_str().to_owned()),
        origin: origin.map(|origin| origin.as_str().to_owned()),
        category: params.text("category"),
        available: params.parsed("available", "is true or false")?,
        q: params.text("q"),
    };
    let page = app.engine.tools(&permit, &filter, &params.page()?).await?;
    Ok(axum::Json(page.map(|listed| ToolItem::from(&listed)).into()))
}

/// One tool, with its schemas.
#[utoipa::path(get, path = "/api/tools/{tool}", operation_id = "get_tool", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id")),
    responses((status = 200, body = ToolView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadTools>,
    ToolName(name): ToolName,
) -> Result<Answered> {
    Ok(whole(&app.engine.tool(&permit, &name).await?))
}

/// What a tenant can lay over a tool that is defined in code. `null` takes a field back.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub(crate) struct ChangeTool {
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    name: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    description: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    category: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    icon: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    tags: Option<Option<Vec<String>>>,
    /// Whether the tool is in the tenant's catalogue.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    enabled: Option<Option<bool>>,
    /// Whether it may run at all.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    is_active: Option<Option<bool>>,
    /// `deprecated` or `disabled`.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    status: Option<Option<ToolStatus>>,
    /// `auto` or `always_ask`.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    permission_policy: Option<Option<Policy>>,
    /// Can only be raised.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    permission_level: Option<Option<Level>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<bool>)]
    visible: Option<Option<bool>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    timeout_ms: Option<Option<u64>>,
    /// What runs and what it takes belongs to the tool's author.
    #[serde(deserialize_with = "given")]
    #[schema(ignore)]
    input_schema: Option<Option<Value>>,
    #[serde(deserialize_with = "given")]
    #[schema(ignore)]
    output_schema: Option<Option<Value>>,
    #[serde(deserialize_with = "given")]
    #[schema(ignore)]
    implementation: Option<Option<Value>>,
}

/// A field that is there, be it `null`.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Lays a change over a tool for the caller's tenant. It holds at once.
#[utoipa::path(patch, path = "/api/tools/{tool}", operation_id = "update_tool", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = ChangeTool,
    responses((status = 200, body = ToolView), (status = 404, body = ProblemDocument),
              (status = 412, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    State(app): State<App>,
    Allowed(permit): Allowed<UpdateTools>,
    ToolName(name): ToolName,
    RequestId(id): RequestId,
    headers: HeaderMap,
    key: Key,
    JsonBytes(body, bytes): JsonBytes<ChangeTool>,
) -> Result<Response> {
    let fixed = [
        ("/input_schema", body.input_schema.is_some()),
        ("/output_schema", body.output_schema.is_some()),
        ("/implementation", body.implementation.is_some()),
    ];
    if let Some((path, _)) = fixed.into_iter().find(|(_, given)| *given) {
        return Err(Problem::invalid(path, "of a tool defined in code cannot be overridden"));
    }
    let wanted = headers.get(header::IF_MATCH).map(|value| value.to_str().unwrap_or_default().to_owned());
    let change = ToolChange {
        name: body.name,
        description: body.description,
        category: body.category,
        icon: body.icon,
        tags: body.tags,
        enabled: body.enabled,
        is_active: body.is_active,
        status: body.status,
        permission_policy: body.permission_policy,
        permission_level: body.permission_level,
        visible: body.visible,
        timeout_ms: body.timeout_ms,
    };
    let route = format!("tools/{}", name.to_ascii_lowercase());
    once(app.clone(), permit.caller().clone(), key.of(&route, &bytes), async move {
        let expected = match wanted.as_deref() {
            None | Some("*") => None,
            Some(etag) => Some(revision_behind(&app, &permit, &name, etag).await?),
        };
        Ok(whole(&app.engine.change_tool(&permit, &name, change, expected, Some(&id)).await?))
    })
    .await
}

/// The revision that an ETag stands for, if the tool still has it.
async fn revision_behind(app: &App, permit: &Permit<UpdateTools>, name: &str, etag: &str) -> Result<i64> {
    let reader = Permit::<ReadTools>::check(permit.caller().clone())?;
    let listed = app.engine.tool(&reader, name).await?;
    if etag == etag_of(&listed) {
        Ok(listed.0.revision)
    } else {
        Err(Problem::new(Code::PreconditionFailed, "the tool has changed since it was read"))
    }
}

/// Names a tool as it stands: its version, and the revision of what lies over it.
fn etag_of((tool, _): &Listed) -> String {
    format!("\"{}-{}\"", tool.def.version, tool.revision)
}

fn whole(listed: &Listed) -> Answered {
    let def = &listed.0.def;
    let view = ToolView {
        item: ToolItem::from(listed),
        input_schema: (*def.input_schema).clone(),
        output_schema: def.output_schema.as_deref().cloned(),
        execution: ExecutionView {
            is_pure: def.execution.is_pure,
            concurrency_group: def.execution.concurrency_group.clone(),
            max_concurrency: def.execution.max_concurrency,
            timeout_s: def.execution.timeout_s,
        },
        etag: etag_of(listed),
    };
    Answered::json(StatusCode::OK, &view).with(header::ETAG, &view.etag)
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct RunRequest {
    /// What the tool's input schema asks for.
    #[serde(default)]
    #[schema(value_type = Object)]
    input: Option<Box<RawValue>>,
    /// A session whose log the run's events join.
    #[serde(default)]
    session_id: Option<Uuid>,
    /// How long to wait for the run to end, 120,000 at the most.
    #[serde(default)]
    wait_ms: Option<u64>,
    /// A pinned version.
    #[serde(default)]
    version: Option<String>,
    /// `production` or `debug`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    mode: Option<Mode>,
}

/// Runs a tool. A tool that ran and failed is answered with 200 and `"status": "error"`.
#[utoipa::path(post, path = "/api/tools/{tool}/run", operation_id = "run_tool", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id"),
           ("Idempotency-Key" = Option<String>, Header, description = "The same request again gets the same answer")),
    request_body = RunRequest,
    responses((status = 200, description = "The run has ended", body = RunAnswer),
              (status = 202, description = "The run goes on, or waits for a person", body = RunAnswer),
              (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument), (status = 429, body = ProblemDocument)))]
pub(crate) async fn run(
    State(app): State<App>,
    MayRun(permit): MayRun,
    ToolName(tool): ToolName,
    key: Key,
    JsonBytes(body, bytes): JsonBytes<RunRequest>,
) -> Result<Response> {
    if body.wait_ms.is_some_and(|wait| 120_000 < wait) {
        return Err(Problem::invalid("/wait_ms", "is at most 120000"));
    }
    let session = body.session_id.map(SessionId::from_uuid);
    if let Some(session) = session {
        app.engine.check_session(&permit, session).await?;
    }
    let input =
        body.input.unwrap_or_else(|| RawValue::from_string("{}".to_owned()).expect("an empty object"));
    let request = CallRequest {
        idempotency: key.of(&format!("run/{}", tool.to_ascii_lowercase()), &bytes),
        tool,
        input,
        session,
        wait: body.wait_ms.map(Duration::from_millis),
        version: body.version,
        mode: body.mode.unwrap_or_default(),
    };
    let answer = app.engine.call(&permit, request).await?;
    Ok(super::runs::answered(answer).into_response())
}
