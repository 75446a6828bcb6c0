//! Tools: list, read, run.

use std::time::Duration;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tw_engine::{CallRequest, IdempotencyKey};
use tw_identity::{
    Freshness,
    rights::{ReadHistory, ReadTools, RunTools, UpdateTools},
};
use tw_model::{Layer, Listing, Mode, Origin, OutputSection, SessionId, Timestamp, ToolDef, ToolStatus};
use tw_registry::{Listed, Saved, ToolFilter, Unsaved};
use tw_schema::Violation;
use uuid::Uuid;

use super::{List, runs::RunAnswer};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    calling::{CallBody, Calling},
    members::Body,
    problem::{FaultDocument, Problem, ProblemDocument, Result},
    query::{Params, ToolName},
};

/// The longest time that a request may wait for a run to end.
pub(super) const WAIT_MS_MAX: u64 = 120_000;

/// A tool without its schemas.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ToolItem {
    id: Uuid,
    slug: String,
    name: String,
    description: String,
    /// Name and description in other languages: `{ "de": { "name", "description" } }`.
    #[schema(value_type = Option<Object>)]
    i18n: Option<Value>,
    category: String,
    icon: String,
    tags: Vec<String>,
    /// `code`, `system_override` or `tenant_custom`.
    kind: &'static str,
    origin: &'static str,
    scope: &'static str,
    /// The tenant that owns the tool; `null` for a built-in tool.
    tenant_id: Option<Uuid>,
    /// Whether it is a built-in tool.
    is_system: bool,
    /// The built-in that a tool of kind `internal` runs.
    builtin_key: Option<String>,
    tool_type: &'static str,
    implementation_type: String,
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
    /// When the tool was first published.
    #[schema(value_type = Option<String>, format = DateTime)]
    published_at: Option<Timestamp>,
    /// Whether there is a draft that is not published yet.
    has_draft: bool,
}

/// A tool with its schemas.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ToolView {
    #[serde(flatten)]
    item: ToolItem,
    input_schema: Value,
    output_schema: Option<Value>,
    /// The input as a list of fields; `null` if the schema cannot be expressed as fields.
    fields: Option<Value>,
    form_spec: Option<Value>,
    view_spec: Option<Value>,
    /// The settings of the tool's kind. Secrets are shown as `***`; sending `***` back keeps them.
    #[schema(value_type = Object)]
    implementation: Value,
    /// The artifact that a script tool runs, as in `implementation`. Absent for other tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>, required = false)]
    artifact_id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, required = false)]
    artifact_version: Option<Value>,
    execution: ExecutionView,
    /// The steps of a chain. Secrets are shown as in `implementation`.
    execution_spec: Option<Value>,
    aliases: Vec<String>,
    /// The number of saves.
    revision: i64,
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
    fn from(listed: &Listed) -> Self {
        let (def, available) = (&listed.def, &listed.available);
        let is_own = def.layer == Layer::TenantCustom;
        Self {
            id: def.id.uuid(),
            slug: def.slug.to_string(),
            name: def.name.clone(),
            description: def.description.clone(),
            i18n: def.authored.i18n.clone(),
            category: def.category.clone(),
            icon: def.icon.clone(),
            tags: def.tags.clone(),
            kind: def.layer.as_str(),
            origin: def.origin.as_str(),
            scope: if is_own { "tenant" } else { "global" },
            tenant_id: is_own.then(|| listed.tenant.uuid()),
            is_system: !is_own,
            builtin_key: listed.builtin_key.clone(),
            tool_type: listed.tool_type,
            implementation_type: listed.implementation_type.clone(),
            execution_type: def.implementation.execution_type(),
            status: def.status.as_str(),
            version: def.version.to_string(),
            enabled: def.enabled.unwrap_or(def.listing == Listing::OptOut),
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
            published_at: def.published_at,
            has_draft: def.has_draft,
        }
    }
}

/// A saved tool with its schemas.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SavedToolView {
    #[serde(flatten)]
    tool: ToolView,
    /// Advice for the author, in the form of `errors`. The tool was saved.
    warnings: Vec<FaultDocument>,
}

/// A tool with its schemas and its ETag.
pub(crate) fn whole(status: StatusCode, listed: &Listed) -> JsonAnswer {
    let view = view(listed);
    JsonAnswer::new(status, &view).with(header::ETAG, &view.etag)
}

/// Like [`whole`], with warnings for the author.
pub(crate) fn saved(status: StatusCode, saved: Saved) -> JsonAnswer {
    let warnings = saved.warnings.into_iter().map(FaultDocument::from).collect();
    let view = SavedToolView { tool: view(&saved.tool), warnings };
    JsonAnswer::new(status, &view).with(header::ETAG, &view.tool.etag)
}

pub(super) fn view(listed: &Listed) -> ToolView {
    let def = &listed.def;
    let authored = &def.authored;
    ToolView {
        item: ToolItem::from(listed),
        input_schema: (*def.input_schema).clone(),
        output_schema: def.output_schema.as_deref().cloned(),
        fields: listed.fields(),
        form_spec: authored.form_spec.clone(),
        view_spec: authored.view_spec.clone(),
        implementation: tw_model::redacted(&authored.implementation),
        artifact_id: authored.implementation.get("artifact_id").cloned(),
        artifact_version: authored.implementation.get("artifact_version").cloned(),
        execution: ExecutionView {
            is_pure: def.execution.is_pure,
            concurrency_group: def.execution.concurrency_group.clone(),
            max_concurrency: def.execution.max_concurrency,
            timeout_s: def.execution.timeout_s,
        },
        execution_spec: authored.execution_spec.as_ref().map(tw_model::redacted),
        aliases: authored.aliases.clone(),
        revision: listed.revision,
        etag: etag(listed),
    }
}

fn etag(listed: &Listed) -> String {
    format!("\"{}\"", listed.mark)
}

/// A built-in for tools of kind `internal`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct BuiltinTemplate {
    builtin_key: String,
    #[serde(flatten)]
    says: TemplateFacts,
}

/// The default properties of a tool that uses a built-in or a function.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TemplateFacts {
    name: String,
    description: String,
    category: String,
    icon: String,
    version: String,
    permission_level: Option<&'static str>,
    #[schema(value_type = Object)]
    input_schema: Value,
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Value>,
}

impl TemplateFacts {
    fn of(def: &tw_model::ToolDef) -> Self {
        Self {
            name: def.name.clone(),
            description: def.description.clone(),
            category: def.category.clone(),
            icon: def.icon.clone(),
            version: def.version.to_string(),
            permission_level: def.level.map(tw_model::Level::as_str),
            input_schema: (*def.input_schema).clone(),
            output_schema: def.output_schema.as_deref().cloned(),
        }
    }
}

/// List the built-ins for tools of kind `internal`, by key.
#[utoipa::path(get, path = "/api/tools/builtins/templates", operation_id = "list_builtin_templates", tag = "tools",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<BuiltinTemplate>)))]
pub(crate) async fn builtins(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadHistory>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.registry().builtins(&permit, &params.page()?)?;
    let templates =
        page.map(|def| BuiltinTemplate { builtin_key: def.slug.to_string(), says: TemplateFacts::of(&def) });
    place.page(move || List::from(templates)).await
}

/// A function for tools of kind `function`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct FunctionTemplate {
    function_name: String,
    #[serde(flatten)]
    says: TemplateFacts,
}

/// List the functions for tools of kind `function`, by name.
#[utoipa::path(get, path = "/api/tools/builtins/functions", operation_id = "list_function_templates", tag = "tools",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<FunctionTemplate>)))]
pub(crate) async fn functions(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadHistory>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.registry().functions(&permit, &params.page()?)?;
    let templates = page
        .map(|def| FunctionTemplate { function_name: def.slug.to_string(), says: TemplateFacts::of(&def) });
    place.page(move || List::from(templates)).await
}

/// List the tools of the tenant's catalogue that the caller may see, by slug.
#[utoipa::path(get, path = "/api/tools", operation_id = "list_tools", tag = "tools",
    params(("status" = Option<String>, Query), ("implementation_type" = Option<String>, Query),
           ("tool_type" = Option<String>, Query), ("kind" = Option<String>, Query), ("origin" = Option<String>, Query),
           ("category" = Option<String>, Query), ("available" = Option<bool>, Query),
           ("q" = Option<String>, Query, description = "Words in slug, name or description"),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<ToolItem>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadTools>,
    mut params: Params,
) -> Result<Response> {
    let status = params.word("status", ToolStatus::parse, "draft, published, deprecated, disabled");
    let layer = params.word("kind", Layer::parse, "code, system_override, tenant_custom");
    let origin = params.word("origin", Origin::parse, "code, builtin, database, bundle, mcp");
    let of_type = |text: &str| ToolDef::TOOL_TYPES.iter().copied().find(|word| *word == text);
    let tool_type = params.read("tool_type", of_type, Violation::words(ToolDef::TOOL_TYPES.iter().copied()));
    let filter = ToolFilter {
        status: status.map(|status| status.as_str().to_owned()),
        implementation_type: params.text("implementation_type"),
        tool_type: tool_type.map(str::to_owned),
        kind: layer.map(|layer| layer.as_str().to_owned()),
        origin: origin.map(|origin| origin.as_str().to_owned()),
        category: params.text("category"),
        available: params.parsed("available", Violation::words([true, false])),
        q: params.search("q"),
    };
    let page = app.engine.registry().tools(&permit, &filter, &params.page()?).await?;
    place.page(move || List::from(page.map(|listed| ToolItem::from(&listed)))).await
}

/// Get a tool with its schemas.
#[utoipa::path(get, path = "/api/tools/{tool}", operation_id = "get_tool", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id")),
    responses((status = 200, body = ToolView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadTools>,
    ToolName(name): ToolName,
) -> Result<JsonAnswer> {
    Ok(whole(StatusCode::OK, &app.engine.registry().tool(&permit, &name).await?))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    /// The input; it must match the tool's input schema.
    #[serde(default)]
    #[schema(value_type = Object)]
    input: Option<Box<RawValue>>,
    /// The session to record the run's events in.
    #[serde(default)]
    session_id: Option<Uuid>,
    /// How many milliseconds to wait for the run to end, at most 120,000.
    #[serde(default)]
    wait_ms: Option<u64>,
    /// The version to run; by default the published one.
    #[serde(default)]
    version: Option<String>,
    /// `production` or `debug`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    mode: Option<Mode>,
}

impl Body for RunRequest {}

impl CallBody for RunRequest {
    type Right = RunTools;
    const FRESHNESS: Freshness = Freshness::Heard;

    fn check(&self) -> Result<()> {
        check_wait(self.wait_ms)
    }
}

/// Run a tool. If the tool fails, the answer is 200 with `"status": "error"`.
#[utoipa::path(post, path = "/api/tools/{tool}/run", operation_id = "run_tool", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id"),
           ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key returns the same answer")),
    request_body(content = RunRequest, example = json!({ "input": {} })),
    responses((status = 200, description = "The run has ended", body = RunAnswer),
              (status = 202, description = "The run has not ended yet, or waits for a person", body = RunAnswer),
              (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument), (status = 429, body = ProblemDocument)))]
pub(crate) async fn run(
    State(app): State<App>,
    Calling { permit, tool, key, body, bytes }: Calling<RunRequest>,
) -> Result<Response> {
    let request = CallRequest {
        // The input may hold a definition, and that secrets.
        idempotency: key.of_secret(&app.engine, &bytes),
        tool,
        input: input_or_none(body.input),
        session: body.session_id.map(SessionId::from_uuid),
        wait: body.wait_ms.map(Duration::from_millis),
        version: body.version,
        mode: body.mode.unwrap_or_default(),
        unsaved: None,
        settings: None,
        secrets: None,
        upstream_key: None,
        unwanted: None,
        progress: None,
        deadline: None,
        record: None,
    };
    let answer = app.engine.call(&permit, request).await?;
    Ok(super::runs::answered(answer).into_response())
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestRequest {
    /// The input; it must match the tool's input schema.
    #[serde(default)]
    #[schema(value_type = Object)]
    input: Option<Box<RawValue>>,
    /// The definition to test, in the form used for saving. For an existing tool only the changes are needed. Without a
    /// definition the latest draft runs.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    definition: Option<serde_json::Map<String, Value>>,
    /// How many milliseconds to wait for the run to end, at most 120,000.
    #[serde(default)]
    wait_ms: Option<u64>,
}

impl Body for TestRequest {}

impl TestRequest {
    /// The call that it asks for.
    pub(super) fn call(self, tool: String, idempotency: Option<IdempotencyKey>) -> CallRequest {
        let definition = self.definition.filter(|changes| !changes.is_empty());
        CallRequest {
            idempotency,
            tool,
            input: input_or_none(self.input),
            session: None,
            wait: self.wait_ms.map(Duration::from_millis),
            version: None,
            mode: Mode::Debug,
            unsaved: definition.map(|changes| Unsaved::Change(Value::Object(changes))),
            settings: None,
            secrets: None,
            upstream_key: None,
            unwanted: None,
            progress: None,
            deadline: None,
            record: None,
        }
    }
}

impl CallBody for TestRequest {
    type Right = UpdateTools;

    fn check(&self) -> Result<()> {
        check_wait(self.wait_ms)
    }
}

/// Test the latest draft of a tool, or a definition that is not saved.
///
/// The run is recorded like any other, in mode `debug`.
#[utoipa::path(post, path = "/api/tools/{tool}/test", operation_id = "test_tool", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id; with a definition also an unused slug"),
           ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key returns the same answer")),
    request_body = TestRequest,
    responses((status = 200, description = "The run has ended", body = RunAnswer),
              (status = 202, description = "The run has not ended yet", body = RunAnswer),
              (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn test(
    State(app): State<App>,
    Calling { permit: author, tool, key, body, bytes }: Calling<TestRequest>,
) -> Result<Response> {
    let permit = app.engine.may_run(author.caller().clone(), &tool).await?;
    // The definition may hold secrets.
    let request = body.call(tool, key.of_secret(&app.engine, &bytes));
    let answer = app.engine.call(&permit, request).await?;
    Ok(super::runs::answered(answer).into_response())
}

fn input_or_none(input: Option<Box<RawValue>>) -> Box<RawValue> {
    input.unwrap_or_else(|| RawValue::from_string("{}".to_owned()).expect("an empty object"))
}

fn check_wait(wait_ms: Option<u64>) -> Result<()> {
    if wait_ms.is_some_and(|wait| WAIT_MS_MAX < wait) {
        return Err(Problem::invalid("/wait_ms", Violation::maximum(WAIT_MS_MAX)));
    }
    Ok(())
}
