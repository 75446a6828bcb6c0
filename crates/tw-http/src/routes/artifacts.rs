//! Artifacts: scripts that tools run, with their versions.

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_engine::{ArtifactVersion, StoredArtifact};
use tw_identity::rights::{CreateTools, DeleteTools, ReadHistory, UpdateTools};
use tw_model::{ArtifactId, Timestamp};
use tw_registry::{ArtifactWithSource, SentArtifact, artifact_mark};
use uuid::Uuid;

use super::{
    List,
    authoring::{Users, author, marks},
};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    body::JsonBytes,
    idempotent::Write,
    members::Body,
    problem::{Problem, ProblemDocument, Result},
    query::{Id, Params, no_id},
};

/// Properties that only the server sets.
const READ_ONLY: &[&str] = &["id", "version", "checksum", "etag", "created_at", "updated_at", "created_by"];

/// An artifact without its source.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ArtifactItem {
    id: Uuid,
    /// The display name; it need not be unique.
    name: String,
    /// The number of the latest version; the first is 1.
    version: i64,
    /// The language of the latest version: `javascript` or `typescript`.
    language: String,
    /// The digest of the latest source, with its algorithm: `blake3:…`.
    checksum: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Object)]
    created_by: Value,
}

impl From<StoredArtifact> for ArtifactItem {
    fn from(artifact: StoredArtifact) -> Self {
        Self {
            id: artifact.id.uuid(),
            name: artifact.name,
            version: artifact.version,
            language: artifact.language,
            checksum: artifact.checksum,
            created_at: artifact.created,
            updated_at: artifact.updated,
            created_by: author(&artifact.created_by),
        }
    }
}

/// An artifact with the source of its latest version.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ArtifactView {
    #[serde(flatten)]
    item: ArtifactItem,
    source: String,
    etag: String,
}

fn whole(status: StatusCode, ArtifactWithSource { stored, source }: ArtifactWithSource) -> JsonAnswer {
    let etag = format!("\"{}\"", artifact_mark(&stored));
    let view = ArtifactView { item: stored.into(), source, etag };
    JsonAnswer::new(status, &view).with(header::ETAG, &view.etag)
}

/// A version of an artifact. A version never changes.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ArtifactVersionView {
    version: i64,
    language: String,
    /// Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    checksum: String,
    #[schema(value_type = Object)]
    author: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<ArtifactVersion> for ArtifactVersionView {
    fn from(version: ArtifactVersion) -> Self {
        let ArtifactVersion { version, language, source, checksum, author: by, created } = version;
        Self { version, language, source, checksum, author: author(&by), created_at: created }
    }
}

/// A new artifact.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateArtifact {
    name: String,
    /// `javascript` or `typescript`.
    language: String,
    /// A script with `export default (input, ctx) => …`.
    source: String,
}

impl Body for CreateArtifact {
    const READ_ONLY: &'static [&'static str] = READ_ONLY;
}

/// Changes to an artifact. A different source creates a new version.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeArtifact {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    source: Option<String>,
}

impl Body for ChangeArtifact {
    const READ_ONLY: &'static [&'static str] = READ_ONLY;
}

/// List artifacts without their sources, oldest first.
#[utoipa::path(get, path = "/api/artifacts", tag = "artifacts", operation_id = "list_artifacts",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<ArtifactItem>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadHistory>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.registry().artifacts(&permit, &params.page()?).await?;
    place.page(move || List::from(page.map(ArtifactItem::from))).await
}

/// Create an artifact. Tools refer to it by its id.
#[utoipa::path(post, path = "/api/artifacts", tag = "artifacts", operation_id = "create_artifact",
    params(("Idempotency-Key" = Option<String>, Header)),
    request_body(content = CreateArtifact, example = json!({
        "name": "Sum of a list", "language": "javascript",
        "source": "export default ({ numbers }) => numbers.reduce((sum, number) => sum + number, 0)",
    })),
    responses((status = 201, body = ArtifactView), (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<CreateTools>,
    JsonBytes(body, bytes): JsonBytes<CreateArtifact>,
) -> Result<Response> {
    let sent =
        SentArtifact { name: Some(body.name), language: Some(body.language), source: Some(body.source) };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let made = app.engine.registry().create_artifact(&permit, sent, Some(&request_id)).await?;
            let location = format!("/api/artifacts/{}", made.stored.id);
            Ok(whole(StatusCode::CREATED, made).with(header::LOCATION, &location))
        })
        .await
}

/// Get an artifact with the source of its latest version.
#[utoipa::path(get, path = "/api/artifacts/{id}", tag = "artifacts", operation_id = "read_artifact",
    params(("id" = Uuid, Path)),
    responses((status = 200, body = ArtifactView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadHistory>,
    Id(id): Id<ArtifactId>,
) -> Result<JsonAnswer> {
    Ok(whole(StatusCode::OK, app.engine.registry().artifact(&permit, id).await?))
}

/// Change an artifact. A different source creates a new version; existing tools keep the version they use.
#[utoipa::path(patch, path = "/api/artifacts/{id}", tag = "artifacts", operation_id = "change_artifact",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = ChangeArtifact,
    responses((status = 200, body = ArtifactView), (status = 404, body = ProblemDocument),
              (status = 412, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<UpdateTools>,
    Id(id): Id<ArtifactId>,
    headers: HeaderMap,
    JsonBytes(body, bytes): JsonBytes<ChangeArtifact>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    let ChangeArtifact { name, language, source } = body;
    let sent = SentArtifact { name, language, source };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let registry = app.engine.registry();
            let changed =
                registry.change_artifact(&permit, id, sent, marks.as_deref(), Some(&request_id)).await?;
            Ok(whole(StatusCode::OK, changed))
        })
        .await
}

/// Delete an artifact and its versions. No tool may use it.
#[utoipa::path(delete, path = "/api/artifacts/{id}", tag = "artifacts", operation_id = "remove_artifact",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument),
              (status = 409, description = "Tools use the artifact", body = ProblemDocument),
              (status = 412, body = ProblemDocument)))]
pub(crate) async fn remove(
    write: Write<DeleteTools>,
    Id(id): Id<ArtifactId>,
    headers: HeaderMap,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            let registry = app.engine.registry();
            registry.remove_artifact(&permit, id, marks.as_deref(), Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// List the versions of an artifact without their sources, newest first.
#[utoipa::path(get, path = "/api/artifacts/{id}/versions", tag = "artifacts", operation_id = "list_artifact_versions",
    params(("id" = Uuid, Path),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<ArtifactVersionView>), (status = 404, body = ProblemDocument)))]
pub(crate) async fn versions(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadHistory>,
    Id(id): Id<ArtifactId>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.registry().artifact_versions(&permit, id, &params.page()?).await?;
    place.page(move || List::from(page.map(ArtifactVersionView::from))).await
}

/// The artifact and the version that the path names.
pub(crate) struct VersionPlace {
    id: ArtifactId,
    version: i64,
}

impl FromRequestParts<App> for VersionPlace {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((id, version)) = path.map_err(|_| no_id(""))?;
        let id = id.parse().map_err(|_| no_id(&id))?;
        // What is no number names no version; whether there is such an artifact is the first question.
        Ok(Self { id, version: version.parse().unwrap_or_default() })
    }
}

/// Get a version of an artifact with its source.
#[utoipa::path(get, path = "/api/artifacts/{id}/versions/{version}", tag = "artifacts",
    operation_id = "read_artifact_version", params(("id" = Uuid, Path), ("version" = i64, Path)),
    responses((status = 200, body = ArtifactVersionView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn version(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadHistory>,
    VersionPlace { id, version }: VersionPlace,
) -> Result<axum::Json<ArtifactVersionView>> {
    Ok(axum::Json(app.engine.registry().artifact_version(&permit, id, version).await?.into()))
}

/// List the tools whose published version or draft uses any version of an artifact.
#[utoipa::path(get, path = "/api/artifacts/{id}/used-by", tag = "artifacts", operation_id = "list_artifact_users",
    params(("id" = Uuid, Path)),
    responses((status = 200, body = Users), (status = 404, body = ProblemDocument)))]
pub(crate) async fn used_by(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadHistory>,
    Id(id): Id<ArtifactId>,
) -> Result<axum::Json<Users>> {
    Ok(axum::Json(Users { items: app.engine.registry().artifact_users(&permit, id).await? }))
}
