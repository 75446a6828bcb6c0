//! API keys.

use axum::{extract::State, http::StatusCode, response::Response};
use serde::{Deserialize, Serialize};
use tw_engine::ApiKey;
use tw_identity::{
    KeyRequest,
    rights::{ReadKeys, WriteKeys},
};
use tw_model::{ActsAs, KeyId, Role, Timestamp};
use uuid::Uuid;

use super::List;
use crate::{
    App,
    answer::JsonAnswer,
    auth::AllowedList,
    body::JsonBytes,
    idempotent::Write,
    members::Body,
    problem::{ProblemDocument, Result},
    query::{Id, Params},
};

/// An API key without its text.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct KeyView {
    id: Uuid,
    name: String,
    /// The text of the key begins with `tw_` and this prefix.
    prefix: String,
    role: &'static str,
    acts_as: &'static str,
    agent: Option<String>,
    owner_id: Uuid,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// A new key with its text, which is shown only once.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct NewKeyView {
    #[serde(flatten)]
    view: KeyView,
    key: String,
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id.uuid(),
            name: key.name,
            prefix: key.prefix,
            role: key.role.as_str(),
            acts_as: key.acts_as.as_str(),
            agent: key.agent,
            owner_id: key.owner.uuid(),
            expires_at: key.expires,
            last_used_at: key.last_used,
            revoked_at: key.revoked,
            created_at: key.created,
        }
    }
}

/// List API keys.
#[utoipa::path(get, path = "/api/api-keys", operation_id = "list_api_keys", tag = "administration",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<KeyView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadKeys>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.identity().keys(&permit, &params.page()?).await?;
    place.page(move || List::from(page.map(KeyView::from))).await
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateKey {
    name: String,
    #[schema(value_type = String)]
    role: Role,
    /// `user` or `agent`.
    #[serde(default = "as_user")]
    #[schema(value_type = String)]
    acts_as: ActsAs,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
}

impl Body for CreateKey {
    const READ_ONLY: &'static [&'static str] =
        &["id", "prefix", "owner_id", "last_used_at", "revoked_at", "created_at"];
}

fn as_user() -> ActsAs {
    ActsAs::User
}

/// Create an API key. Only this answer contains its text.
#[utoipa::path(post, path = "/api/api-keys", operation_id = "create_api_key", tag = "administration", request_body = CreateKey,
    params(("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, body = NewKeyView), (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<WriteKeys>,
    JsonBytes(body, bytes): JsonBytes<CreateKey>,
) -> Result<Response> {
    let request = KeyRequest {
        name: body.name,
        role: body.role,
        acts_as: body.acts_as,
        agent: body.agent,
        expires: body.expires_at,
    };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let created = app.engine.identity().create_key(&permit, request, Some(&request_id)).await?;
            let view = |text: &str| NewKeyView { view: created.key.clone().into(), key: text.to_owned() };
            Ok(JsonAnswer::new(StatusCode::CREATED, &view(&created.text)).keeping(&view("***")))
        })
        .await
}

/// Revoke an API key. It stops working at once.
#[utoipa::path(delete, path = "/api/api-keys/{id}", operation_id = "revoke_api_key", tag = "administration",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = KeyView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn revoke(write: Write<WriteKeys>, Id(id): Id<KeyId>) -> Result<Response> {
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            let revoked = app.engine.identity().revoke_key(&permit, id, Some(&request_id)).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &KeyView::from(revoked)))
        })
        .await
}
