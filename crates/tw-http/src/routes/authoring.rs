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

/// The marks of what was read, out of `If-Match`; `None` where it may be however it is.
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

/// The ETags of a list. A weak one says that something is much the same, which is not enough to write over it.
/// Ours hold no comma, and what is none of ours names no state of anything.
fn listed(list: &str) -> Vec<String> {
    let tags = list.split(',').map(str::trim).filter(|tag| !tag.starts_with("W/"));
    let unquoted = |tag: &str| {
        let inner = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        inner.unwrap_or(tag).to_owned()
    };
    tags.map(unquoted).collect()
}

/// What can be said about a tool. Other dialects are taken too; these are the words that are given back.
#[derive(Debug, utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "described, not read: the engine reads a body as a whole and tells all that is wrong"
)]
pub(crate) struct ToolBody {
    /// Needed for a new tool, and cannot be changed.
    slug: Option<String>,
    name: Option<String>,
    /// Read by people and by models: when to use the tool, and what to use instead.
    description: Option<String>,
    /// Name and description in other languages: `{ "de": { "name", "description" } }`. Schemas have `x-i18n`.
    #[schema(value_type = Option<Object>)]
    i18n: Option<Value>,
    category: Option<String>,
    /// Name of a Lucide icon.
    icon: Option<String>,
    tags: Option<Vec<String>>,
    /// JSON Schema 2020-12 of an object. A list of `fields` can be given instead.
    #[schema(value_type = Option<Object>)]
    input_schema: Option<Value>,
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Value>,
    /// `read`, `draft`, `write` or `destructive`.
    permission_level: Option<String>,
    /// `auto` or `always_ask`; `null` leaves it to the level.
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
    /// The artifact that runs, also taken as a member of `implementation`. Without a version the newest is meant.
    artifact_id: Option<Uuid>,
    artifact_version: Option<i64>,
    #[schema(value_type = Option<Object>)]
    execution_spec: Option<Value>,
    aliases: Option<Vec<String>>,
    tenant_slugs: Option<Vec<String>>,
    /// Whether the tool is in the tenant's catalogue.
    enabled: Option<bool>,
    /// Whether it may run at all.
    is_active: Option<bool>,
    /// `deprecated`, `disabled` or, from disabled, `draft`.
    status: Option<String>,
    /// Of a new tool; later by its own route.
    version: Option<String>,
    /// Make it live at once. Refused, nothing is saved.
    publish: Option<bool>,
    /// With `publish`: callers of what is live may break.
    accept_breaking: Option<bool>,
    /// With `publish`: the test cases are not asked.
    ignore_tests: Option<bool>,
}

/// How a draft goes live.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishTool {
    /// A new number, greater than the one it has, that the draft gets first.
    #[serde(default)]
    version: Option<String>,
    /// Publish also if callers of what is live can break and the major number is not greater.
    #[serde(default)]
    accept_breaking: Option<bool>,
    /// Publish without asking the test cases.
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

/// What a clone is called.
#[derive(Debug, utoipa::ToSchema)]
#[expect(dead_code, reason = "described, not read: as `ToolBody`")]
pub(crate) struct CloneBody {
    slug: String,
    name: Option<String>,
}

/// Makes a tool. It is a draft, unless `"publish": true` is sent by somebody who may publish.
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

/// Changes a tool, property by property; `null` takes one back.
///
/// What a tool of the tenant's own says is a draft until it is published. Switches, and what is laid over
/// a tool that is part of the program, hold at once.
#[utoipa::path(patch, path = "/api/tools/{tool}", tag = "tools", operation_id = "change_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
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

/// As PATCH: what is left out stays as it is, so what was read can be sent back.
#[utoipa::path(put, path = "/api/tools/{tool}", tag = "tools", operation_id = "save_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
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

/// Removes a tool of the tenant's own, or what the tenant has laid over one of the program.
///
/// The history of a removed tool stays, and its slug is free again.
#[utoipa::path(delete, path = "/api/tools/{tool}", tag = "tools", operation_id = "remove_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
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

/// Makes what was saved last what runs, once it is checked.
///
/// `BREAKING_CHANGE` carries the members of a comparison, `TESTS_FAILED` those of a report of the test cases. A refusal
/// changes nothing, also not the number.
#[utoipa::path(post, path = "/api/tools/{tool}/publish", tag = "tools", operation_id = "publish_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
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

/// Gives what was saved last a new number, greater than the one it has. It runs once it is published.
#[utoipa::path(post, path = "/api/tools/{tool}/version", tag = "tools", operation_id = "version_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("new_version" = String, Query, description = "A semantic version"),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
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

/// Makes a draft like another tool, under another slug.
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

/// An entry of a tool's history.
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
    /// Since when no call may name this number any more.
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

/// Every save, publication and new number of a tool, newest first.
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

/// A tool as it was at one revision.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RevisionView {
    version: String,
    revision: i64,
    content_hash: String,
    #[schema(value_type = Object)]
    author: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// What the tool said.
    #[schema(value_type = Object)]
    snapshot: Value,
}

/// A tool as it was at one revision.
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

/// A tool and one of its revisions, out of the path.
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

/// Makes an old revision the newest save. What runs stays what it is until it is published.
#[utoipa::path(post, path = "/api/tools/{tool}/versions/{revision}/restore", tag = "tools",
    operation_id = "restore_tool_revision",
    params(("tool" = String, Path, description = "Slug or id"), ("revision" = i64, Path),
           ("If-Match" = Option<String>, Header, description = "The ETag of what was read"),
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

/// A tool and one of its numbers, out of the path.
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

/// Withdraws a version: no call may name it any more, and its number is never published again.
#[utoipa::path(post, path = "/api/tools/{tool}/versions/{revision}/withdraw", tag = "tools",
    operation_id = "withdraw_tool_version",
    params(("tool" = String, Path, description = "Slug or id"),
           ("revision" = String, Path, description = "The number of the version, X.Y.Z"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = VersionItem), (status = 404, body = ProblemDocument),
              (status = 409, description = "It is what runs", body = ProblemDocument)))]
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

/// What lies between two versions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ComparisonView {
    from: String,
    to: String,
    /// Whether somebody who uses the old one can be broken by the new one.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    comparison: tw_schema::Comparison,
}

/// What changed between two versions, whom that breaks, and which part of the number has to go up.
#[utoipa::path(get, path = "/api/tools/{tool}/versions/compare", tag = "tools",
    operation_id = "compare_tool_versions",
    params(("tool" = String, Path, description = "Slug or id"),
           ("from" = Option<String>, Query, description = "`live` (default), `draft`, a version, or the number of a revision"),
           ("to" = Option<String>, Query, description = "`draft` (default), `live`, a version, or the number of a revision")),
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

/// What uses a tool or a credential.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Users {
    #[schema(value_type = Vec<Object>)]
    pub(super) items: Vec<UsedBy>,
}

/// What uses a tool, and would not work without it.
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
