//! Credentials: what tools show to others. What is in one goes in and never comes out.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_engine::StoredCredential;
use tw_identity::rights::{ReadCredentials, WriteCredentials};
use tw_model::{CredentialId, Timestamp};
use tw_vault::{Trial, Tried, credential_mark};
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
    front::RequestId,
    idempotent::Write,
    members::Body,
    problem::{ProblemDocument, Result},
    query::{Id, Params},
};

/// A credential without its secret values.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct CredentialView {
    id: Uuid,
    /// Tools refer to the credential as `secret:<label>`.
    label: String,
    /// `api_key`, `bearer`, `basic` or `custom`.
    r#type: &'static str,
    provider_key: Option<String>,
    provider_variant: Option<String>,
    /// The names of the stored values.
    fields: Vec<String>,
    /// The hosts that the credential may be sent to; `null` for every host.
    allowed_hosts: Option<Vec<String>>,
    /// Increases with every new payload.
    revision: i64,
    /// When a tool last used it, to the minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Object)]
    created_by: Value,
}

impl From<StoredCredential> for CredentialView {
    fn from(credential: StoredCredential) -> Self {
        Self {
            id: credential.id.uuid(),
            label: credential.label.to_string(),
            r#type: credential.kind.as_str(),
            provider_key: credential.provider_key,
            provider_variant: credential.provider_variant,
            fields: credential.fields,
            allowed_hosts: credential.allowed_hosts,
            revision: credential.revision,
            last_used_at: credential.last_used,
            created_at: credential.created,
            updated_at: credential.updated,
            created_by: author(&credential.created_by),
        }
    }
}

fn whole(status: StatusCode, credential: StoredCredential) -> JsonAnswer {
    let etag = format!("\"{}\"", credential_mark(&credential));
    JsonAnswer::new(status, &CredentialView::from(credential)).with(header::ETAG, &etag)
}

/// The properties of a credential.
#[derive(Debug, utoipa::ToSchema)]
#[expect(
    dead_code,
    reason = "described, not read: the engine reads a body as a whole and tells all that is wrong, without values"
)]
pub(crate) struct CredentialBody {
    /// At most 64 letters, digits, `.`, `_` and `-`; unique in the tenant, ignoring case.
    label: Option<String>,
    /// `api_key`, `bearer`, `basic` or `custom`.
    r#type: Option<String>,
    /// The purpose that tools look it up by, such as `web_search`.
    provider_key: Option<String>,
    /// The provider for that purpose, such as `serper`.
    provider_variant: Option<String>,
    /// Host names or IP addresses as in a URL, without port; `*.example.com` matches every subdomain. `null` allows every
    /// host.
    allowed_hosts: Option<Vec<String>>,
    /// `{ api_key }`, `{ token }`, `{ username, password }` or, for `custom`, an object of strings. Replaces the
    /// stored payload as a whole and is never returned.
    #[schema(value_type = Option<Object>)]
    payload: Option<Value>,
}

/// List credentials without their secret values.
#[utoipa::path(get, path = "/api/credentials", operation_id = "list_credentials", tag = "administration",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<CredentialView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadCredentials>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.credentials().list(&permit, &params.page()?).await?;
    place.page(move || List::from(page.map(CredentialView::from))).await
}

/// Create a credential. Its values are encrypted and never returned.
#[utoipa::path(post, path = "/api/credentials", operation_id = "create_credential", tag = "administration",
    params(("Idempotency-Key" = Option<String>, Header)),
    request_body(content = CredentialBody, example = json!({
        "label": "weather", "type": "api_key", "payload": { "api_key": "…" }, "allowed_hosts": ["api.example.com"],
    })),
    responses((status = 201, body = CredentialView), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<WriteCredentials>,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let made = app.engine.credentials().create(&permit, &body, Some(&request_id)).await?;
            let location = format!("/api/credentials/{}", made.id);
            Ok(whole(StatusCode::CREATED, made).with(header::LOCATION, &location))
        })
        .await
}

/// Get a credential without its secret values.
#[utoipa::path(get, path = "/api/credentials/{id}", operation_id = "read_credential", tag = "administration",
    params(("id" = Uuid, Path)),
    responses((status = 200, body = CredentialView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadCredentials>,
    Id(id): Id<CredentialId>,
) -> Result<JsonAnswer> {
    Ok(whole(StatusCode::OK, app.engine.credentials().get(&permit, id).await?))
}

/// Change properties of a credential. A payload is replaced as a whole.
#[utoipa::path(patch, path = "/api/credentials/{id}", operation_id = "change_credential", tag = "administration",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = CredentialBody,
    responses((status = 200, body = CredentialView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 412, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<WriteCredentials>,
    Id(id): Id<CredentialId>,
    headers: HeaderMap,
    JsonBytes(body, bytes): JsonBytes<Value>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let changed = app
                .engine
                .credentials()
                .change(&permit, id, &body, marks.as_deref(), Some(&request_id))
                .await?;
            Ok(whole(StatusCode::OK, changed))
        })
        .await
}

/// Delete a credential. No tool may refer to it.
#[utoipa::path(delete, path = "/api/credentials/{id}", operation_id = "remove_credential", tag = "administration",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 412, body = ProblemDocument)))]
pub(crate) async fn remove(
    write: Write<WriteCredentials>,
    Id(id): Id<CredentialId>,
    headers: HeaderMap,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            app.engine.credentials().remove(&permit, id, marks.as_deref(), Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// List the tools that need a credential to work.
#[utoipa::path(get, path = "/api/credentials/{id}/used-by", operation_id = "list_credential_users",
    tag = "administration", params(("id" = Uuid, Path)),
    responses((status = 200, body = Users), (status = 404, body = ProblemDocument)))]
pub(crate) async fn used_by(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadCredentials>,
    Id(id): Id<CredentialId>,
) -> Result<axum::Json<Users>> {
    Ok(axum::Json(Users { items: app.engine.credentials().users(&permit, id).await? }))
}

/// The request to test a credential with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialBody {
    /// A URL that answers GET with success only if the credential is right.
    url: String,
    /// The header to send the credential in. The default is `Authorization`, or `X-Api-Key` for an API key.
    #[serde(default)]
    header: Option<String>,
}

impl Body for TrialBody {}

/// The result of testing a credential.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TrialView {
    ok: bool,
    /// The HTTP status of the answer; `null` if there was none.
    status: Option<u16>,
    message: String,
}

/// Test a credential with one request. The answer tells whether the service accepted it, and nothing else.
#[utoipa::path(post, path = "/api/credentials/{id}/test", operation_id = "test_credential", tag = "administration",
    params(("id" = Uuid, Path)), request_body = TrialBody,
    responses((status = 200, body = TrialView), (status = 404, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn test(
    State(app): State<App>,
    Allowed(permit): Allowed<WriteCredentials>,
    RequestId(request): RequestId,
    Id(id): Id<CredentialId>,
    crate::body::Json(body): crate::body::Json<TrialBody>,
) -> Result<axum::Json<TrialView>> {
    let trial = Trial { url: body.url, header: body.header };
    let Tried { ok, status, message } =
        app.engine.credentials().try_out(&permit, id, &trial, Some(&request)).await?;
    Ok(axum::Json(TrialView { ok, status, message }))
}
