//! Tools: make, change, publish, remove, and how they came to be.

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_engine::{Note, ToolVersion};
use tw_identity::rights::{CreateTools, DeleteTools, PublishTools, ReadHistory, UpdateTools};
use tw_model::{Code, Timestamp};
use tw_registry::{EditContext, History, Publication, Waived};
use tw_vault::UsedBy;
use uuid::Uuid;

use super::{
    List,
    tools::{SavedToolView, ToolView, saved, whole},
};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    body::JsonBytes,
    idempotent::Write,
    members::{Body, Nothing},
    problem::{Problem, ProblemDocument, Result},
    query::{Params, ToolName},
};

/// The ETags of the header `If-Match`; `None` if any state is accepted.
pub(super) fn marks(headers: &HeaderMap) -> Result<Option<Vec<String>>> {
    let mut values = headers.get_all(header::IF_MATCH).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Problem::new(Code::BadRequest, "there is more than one `If-Match` header"));
    }
    match value.to_str().map(str::trim) {
        Ok("*") => Ok(None),
        Ok(list) => Ok(Some(listed(list))),
        // None of ours is like that.
        Err(_) => Ok(Some(Vec::new())),
    }
}

/// The ETags of a list. Weak ones are ignored: they do not prove that nothing changed. Our ETags contain no comma.
fn listed(list: &str) -> Vec<String> {
    let tags = list.split(',').map(str::trim).filter(|tag| !tag.starts_with("W/"));
    let unquoted = |tag: &str| {
        let inner = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        inner.unwrap_or(tag).to_owned()
    };
    tags.map(unquoted).collect()
}

/// The properties of a tool. Property names of other dialects are accepted too; answers use these names.
#[derive(Debug, utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "described, not read: the engine reads a body as a whole and tells all that is wrong"
)]
pub(crate) struct ToolBody {
    /// Required for a new tool; it cannot be changed later.
    slug: Option<String>,
    name: Option<String>,
    /// For people and models: when to use the tool, and when to use another.
    description: Option<String>,
    /// Name and description in other languages: `{ "de": { "name", "description" } }`. Schemas have `x-i18n`.
    #[schema(value_type = Option<Object>)]
    i18n: Option<Value>,
    category: Option<String>,
    /// The name of a Lucide icon.
    icon: Option<String>,
    tags: Option<Vec<String>>,
    /// A JSON Schema 2020-12 of type object. A list of `fields` can be sent instead.
    #[schema(value_type = Option<Object>)]
    input_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Value>,
    /// `read`, `draft`, `write` or `destructive`.
    permission_level: Option<String>,
    /// `auto` or `always_ask`; `null` uses the default of the level.
    permission_policy: Option<String>,
    required_permission: Option<String>,
    visible: Option<bool>,
    is_async: Option<bool>,
    timeout_ms: Option<u64>,
    #[schema(value_type = Option<Vec<Object>>)]
    output_sections: Option<Value>,
    collaborative: Option<bool>,
    #[schema(value_type = Option<Object>)]
    form_spec: Option<Value>,
    #[schema(value_type = Option<Object>)]
    view_spec: Option<Value>,
    /// `is_pure`, `concurrency_group`, `max_concurrency`, `timeout_s`.
    #[schema(value_type = Option<Object>)]
    execution: Option<Value>,
    implementation_type: Option<String>,
    #[schema(value_type = Option<Object>)]
    implementation: Option<Value>,
    /// The artifact to run; it can also be a property of `implementation`. Without a version the latest is used.
    artifact_id: Option<Uuid>,
    artifact_version: Option<i64>,
    #[schema(value_type = Option<Object>)]
    execution_spec: Option<Value>,
    aliases: Option<Vec<String>>,
    tenant_slugs: Option<Vec<String>>,
    /// Whether the tool is in the catalogue of the tenant.
    enabled: Option<bool>,
    /// Whether the tool may run.
    is_active: Option<bool>,
    /// `deprecated`, `disabled`, or `draft` for a disabled tool.
    status: Option<String>,
    /// The version of a new tool. Later versions are set with `/version` or `/publish`.
    version: Option<String>,
    /// Publish at once. If publishing is refused, nothing is saved.
    publish: Option<bool>,
    /// With `publish`: accept changes that break callers of the published version.
    accept_breaking: Option<bool>,
    /// With `publish`: do not run the test cases.
    ignore_tests: Option<bool>,
}

/// Options for publishing a draft.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishTool {
    /// The version to publish as; it must be greater than the current one.
    #[serde(default)]
    version: Option<String>,
    /// Publish even if the change breaks callers and the major version stays the same.
    #[serde(default)]
    accept_breaking: Option<bool>,
    /// Publish without running the test cases.
    #[serde(default)]
    ignore_tests: Option<bool>,
}

impl Body for PublishTool {}

impl From<PublishTool> for Publication {
    fn from(PublishTool { version, accept_breaking, ignore_tests }: PublishTool) -> Self {
        let (accept_breaking, ignore_tests) =
            (accept_breaking.unwrap_or_default(), ignore_tests.unwrap_or_default());
        Self { version, waived: Waived { accept_breaking, ignore_tests } }
    }
}

/// The slug and name of a copy.
#[derive(Debug, utoipa::ToSchema)]
#[expect(dead_code, reason = "described, not read: as `ToolBody`")]
pub(crate) struct CloneBody {
    slug: String,
    name: Option<String>,
}

/// Create a tool. It is a draft, unless the request has `"publish": true` and the caller may publish.
#[utoipa::path(post, path = "/api/tools", tag = "tools", operation_id = "create_tool",
    params(("Idempotency-Key" = Option<String>, Header)),
    request_body(content = ToolBody, example = json!({
        "slug": "greet", "name": "Greet", "description": "Gives back the name it is given.",
        "implementation_type": "internal",
        "input_schema": {
            "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"],
        },
    })),
    responses((status = 201, body = SavedToolView), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<CreateTools>,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: None, request_id: Some(&request_id), actor: None };
            let made = app.engine.registry().create_tool(&permit, &body, asked).await?;
            let location = format!("/api/tools/{}", made.tool.def.slug);
            Ok(saved(StatusCode::CREATED, made).with(header::LOCATION, &location))
        })
        .await
}

/// Change properties of a tool; `null` resets a property.
///
/// Changes to the tenant's own tools stay in the draft until it is published. Switches and changes to a built-in
/// tool take effect at once.
#[utoipa::path(patch, path = "/api/tools/{tool}", tag = "tools", operation_id = "change_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = ToolBody,
    responses((status = 200, body = SavedToolView), (status = 404, body = ProblemDocument),
              (status = 412, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<UpdateTools>,
    ToolName(name): ToolName,
    headers: HeaderMap,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: marks.as_deref(), request_id: Some(&request_id), actor: None };
            let changed = app.engine.registry().change_tool(&permit, &name, &body, asked).await?;
            Ok(saved(StatusCode::OK, changed))
        })
        .await
}

/// Save a tool. Like PATCH: absent properties keep their values, so a tool that was read can be sent back.
#[utoipa::path(put, path = "/api/tools/{tool}", tag = "tools", operation_id = "save_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = ToolBody,
    responses((status = 200, body = SavedToolView), (status = 404, body = ProblemDocument),
              (status = 412, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn save(
    write: Write<UpdateTools>,
    name: ToolName,
    headers: HeaderMap,
    body: JsonBytes<Value>,
) -> Result<Response> {
    change(write, name, headers, body).await
}

/// Delete one of the tenant's own tools, or the tenant's changes to a built-in tool.
///
/// The history of a deleted tool is kept, and its slug can be used again.
#[utoipa::path(delete, path = "/api/tools/{tool}", tag = "tools", operation_id = "remove_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 412, body = ProblemDocument)))]
pub(crate) async fn remove(
    write: Write<DeleteTools>,
    ToolName(name): ToolName,
    headers: HeaderMap,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: marks.as_deref(), request_id: Some(&request_id), actor: None };
            app.engine.registry().remove_tool(&permit, &name, asked).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// Publish the draft after checking it.
///
/// `BREAKING_CHANGE` has the properties of a comparison, `TESTS_FAILED` those of a test report. If publishing is refused,
/// nothing changes, not even the version.
#[utoipa::path(post, path = "/api/tools/{tool}/publish", tag = "tools", operation_id = "publish_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = PublishTool,
    responses((status = 200, body = ToolView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 412, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn publish(
    write: Write<PublishTools>,
    ToolName(name): ToolName,
    headers: HeaderMap,
    JsonBytes(body, bytes): JsonBytes<PublishTool>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: marks.as_deref(), request_id: Some(&request_id), actor: None };
            let published = app.engine.registry().publish_tool(&permit, &name, body.into(), asked).await?;
            Ok(whole(StatusCode::OK, &published))
        })
        .await
}

/// Set the version of the draft. It must be greater than the current one and takes effect on publishing.
#[utoipa::path(post, path = "/api/tools/{tool}/version", tag = "tools", operation_id = "version_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("new_version" = String, Query, description = "A semantic version"),
           ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = ToolView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 412, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn version(
    write: Write<PublishTools>,
    ToolName(name): ToolName,
    params: Params,
    headers: HeaderMap,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    // Whether there is such a tool comes first: a missing one is missing whatever is asked of it.
    let number = params.given("new_version").unwrap_or_default();
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: marks.as_deref(), request_id: Some(&request_id), actor: None };
            let versioned = app.engine.registry().new_version(&permit, &name, &number, asked).await?;
            Ok(whole(StatusCode::OK, &versioned))
        })
        .await
}

/// Copy a tool to a draft with another slug.
#[utoipa::path(post, path = "/api/tools/{tool}/clone", tag = "tools", operation_id = "clone_tool",
    params(("tool" = String, Path, description = "Slug or id"), ("Idempotency-Key" = Option<String>, Header)),
    request_body = CloneBody,
    responses((status = 201, body = ToolView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn clone(
    write: Write<CreateTools>,
    ToolName(name): ToolName,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: None, request_id: Some(&request_id), actor: None };
            let made = app.engine.registry().clone_tool(&permit, &name, &body, asked).await?;
            let location = format!("/api/tools/{}", made.def.slug);
            Ok(whole(StatusCode::CREATED, &made).with(header::LOCATION, &location))
        })
        .await
}

/// An entry in the history of a tool.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct VersionItem {
    /// `save`, `publish` or `version`.
    kind: &'static str,
    version: String,
    revision: i64,
    content_hash: String,
    #[schema(value_type = Object)]
    author: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When the version was withdrawn. Calls that pin it are refused.
    #[schema(value_type = Option<String>, format = DateTime)]
    withdrawn_at: Option<Timestamp>,
}

impl From<ToolVersion> for VersionItem {
    fn from(entry: ToolVersion) -> Self {
        Self {
            kind: entry.note.as_str(),
            version: entry.version,
            revision: entry.revision,
            content_hash: entry.content_hash,
            author: author(&entry.author),
            created_at: entry.created,
            withdrawn_at: entry.withdrawn,
        }
    }
}

pub(super) fn author(actor: &str) -> Value {
    serde_json::from_str(actor).unwrap_or_else(|_| Value::String(actor.to_owned()))
}

/// List the saves, publications and version changes of a tool, newest first.
#[utoipa::path(get, path = "/api/tools/{tool}/versions", tag = "tools", operation_id = "list_tool_versions",
    params(("tool" = String, Path, description = "Slug or id"),
           ("kind" = Option<String>, Query, description = "`save`, `publish` or `version`"),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<VersionItem>), (status = 404, body = ProblemDocument)))]
pub(crate) async fn versions(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadHistory>,
    ToolName(name): ToolName,
    mut params: Params,
) -> Result<Response> {
    let only = params.word("kind", Note::parse, "save, publish, version");
    let page = app.engine.registry().tool_history(&permit, &name, only, &params.page()?).await?;
    place.page(move || List::from(page.map(VersionItem::from))).await
}

/// A tool at one revision.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RevisionView {
    version: String,
    revision: i64,
    content_hash: String,
    #[schema(value_type = Object)]
    author: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The definition of the tool.
    #[schema(value_type = Object)]
    snapshot: Value,
}

/// Get a tool at one revision.
#[utoipa::path(get, path = "/api/tools/{tool}/versions/{revision}", tag = "tools",
    operation_id = "read_tool_revision",
    params(("tool" = String, Path, description = "Slug or id"), ("revision" = i64, Path)),
    responses((status = 200, body = RevisionView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn revision(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadHistory>,
    ToolRevision { name, revision }: ToolRevision,
) -> Result<axum::Json<RevisionView>> {
    let History { version, revision, content_hash, author: by, created, definition } =
        app.engine.registry().tool_revision(&permit, &name, revision).await?;
    Ok(axum::Json(RevisionView {
        version,
        revision,
        content_hash,
        author: author(&by),
        created_at: created,
        snapshot: definition,
    }))
}

/// The tool and the revision that the path names.
pub(crate) struct ToolRevision {
    name: String,
    revision: i64,
}

impl FromRequestParts<App> for ToolRevision {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bad = || Problem::new(Code::BadRequest, "the path is not UTF-8");
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((name, revision)) = path.map_err(|_| bad())?;
        let name = ToolName::checked(&name)?;
        // What is no number names no revision; whether there is such a tool is the first question.
        Ok(Self { name, revision: revision.parse().unwrap_or(0) })
    }
}

/// Restore an old revision as the latest draft. The published version stays as it is.
#[utoipa::path(post, path = "/api/tools/{tool}/versions/{revision}/restore", tag = "tools",
    operation_id = "restore_tool_revision",
    params(("tool" = String, Path, description = "Slug or id"), ("revision" = i64, Path),
           ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = ToolView), (status = 404, body = ProblemDocument),
              (status = 412, body = ProblemDocument)))]
pub(crate) async fn restore(
    write: Write<UpdateTools>,
    ToolRevision { name, revision }: ToolRevision,
    headers: HeaderMap,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: marks.as_deref(), request_id: Some(&request_id), actor: None };
            let restored = app.engine.registry().restore_tool(&permit, &name, revision, asked).await?;
            Ok(whole(StatusCode::OK, &restored))
        })
        .await
}

/// The tool and the version that the path names.
pub(crate) struct ToolNumber {
    name: String,
    number: String,
}

impl FromRequestParts<App> for ToolNumber {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bad = || Problem::new(Code::BadRequest, "the path is not UTF-8");
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((name, number)) = path.map_err(|_| bad())?;
        Ok(Self { name: ToolName::checked(&name)?, number })
    }
}

/// Withdraw a version. Calls that pin it are refused, and its number cannot be published again.
#[utoipa::path(post, path = "/api/tools/{tool}/versions/{revision}/withdraw", tag = "tools",
    operation_id = "withdraw_tool_version",
    params(("tool" = String, Path, description = "Slug or id"),
           ("revision" = String, Path, description = "The version, X.Y.Z"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = VersionItem), (status = 404, body = ProblemDocument),
              (status = 409, description = "The version is the published one", body = ProblemDocument)))]
pub(crate) async fn withdraw(
    write: Write<PublishTools>,
    ToolNumber { name, number }: ToolNumber,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let asked = EditContext { marks: None, request_id: Some(&request_id), actor: None };
            let withdrawn = app.engine.withdraw_version(&permit, &name, &number, asked).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &VersionItem::from(withdrawn)))
        })
        .await
}

/// The differences between two versions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ComparisonView {
    from: String,
    to: String,
    /// Whether the new version can break callers of the old one.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    comparison: tw_schema::Comparison,
}

/// Compare two versions: what changed, who breaks, and which part of the version must increase.
#[utoipa::path(get, path = "/api/tools/{tool}/versions/compare", tag = "tools",
    operation_id = "compare_tool_versions",
    params(("tool" = String, Path, description = "Slug or id"),
           ("from" = Option<String>, Query, description = "`live` (default), `draft`, a version, or a revision number"),
           ("to" = Option<String>, Query, description = "`draft` (default), `live`, a version, or a revision number")),
    responses((status = 200, body = ComparisonView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn compare(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadHistory>,
    ToolName(name): ToolName,
    mut params: Params,
) -> Result<axum::Json<ComparisonView>> {
    let (from, to) = (params.text("from"), params.text("to"));
    params.check()?;
    let compared =
        app.engine.registry().compare_versions(&permit, &name, from.as_deref(), to.as_deref()).await?;
    Ok(axum::Json(ComparisonView { from: compared.from, to: compared.to, comparison: compared.comparison }))
}

/// The tools that use a tool, a credential or an artifact.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Users {
    #[schema(value_type = Vec<Object>)]
    pub(super) items: Vec<UsedBy>,
}

/// List the tools that need a tool to work.
#[utoipa::path(get, path = "/api/tools/{tool}/used-by", tag = "tools", operation_id = "list_tool_users",
    params(("tool" = String, Path, description = "Slug or id")),
    responses((status = 200, body = Users), (status = 404, body = ProblemDocument)))]
pub(crate) async fn used_by(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadHistory>,
    ToolName(name): ToolName,
) -> Result<axum::Json<Users>> {
    Ok(axum::Json(Users { items: app.engine.registry().tool_users(&permit, &name).await? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_of_the_strong_tags_of_a_list_will_do() {
        assert_eq!(listed("\"a\", \"b-1\" ,W/\"c\""), ["a", "b-1"]);
        assert_eq!(listed("W/\"c\""), [""; 0]);
        assert_eq!(listed("\"y,x\""), ["\"y", "x\""]);
    }
}
