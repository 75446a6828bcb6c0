//! Members of the tenant, and the roles they can have.

use axum::{extract::State, http::StatusCode, response::Response};
use serde::{Deserialize, Serialize};
use tw_engine::User;
use tw_identity::{
    UserRequest,
    rights::{Permit, ReadMembers, WriteMembers},
};
use tw_model::{Permission, Role, Timestamp, UserId};
use tw_schema::Violation;
use uuid::Uuid;

use super::List;
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

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct UserView {
    id: Uuid,
    email: String,
    display_name: String,
    role: &'static str,
    /// Whether the member can sign in to this tenant with a password.
    has_password: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id.uuid(),
            email: user.email,
            display_name: user.display_name,
            role: user.role.as_str(),
            has_password: user.has_password,
            created_at: user.created,
        }
    }
}

/// List the members of the tenant.
#[utoipa::path(get, path = "/api/users", operation_id = "list_users", tag = "administration",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<UserView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadMembers>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.identity().users(&permit, &params.page()?).await?;
    place.page(move || List::from(page.map(UserView::from))).await
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateUser {
    email: String,
    display_name: String,
    #[schema(value_type = String)]
    role: Role,
    /// Without a password, give the member a sign-in link. Ignored for a person of another tenant.
    #[serde(default)]
    password: Option<String>,
}

impl Body for CreateUser {
    const READ_ONLY: &'static [&'static str] = &["id", "has_password", "created_at"];
}

/// Add a member. A person of another tenant has no password here and signs in with a link first.
#[utoipa::path(post, path = "/api/users", operation_id = "create_user", tag = "administration", request_body = CreateUser,
    params(("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, body = UserView), (status = 422, body = ProblemDocument),
              (status = 409, description = "The person is already a member", body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<WriteMembers>,
    JsonBytes(body, bytes): JsonBytes<CreateUser>,
) -> Result<Response> {
    let request = UserRequest {
        email: body.email,
        display_name: body.display_name,
        role: body.role,
        password: body.password,
    };
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let user = app.engine.identity().add_user(&permit, request, Some(&request_id)).await?;
            Ok(JsonAnswer::new(StatusCode::CREATED, &UserView::from(user)))
        })
        .await
}

/// Get a member.
#[utoipa::path(get, path = "/api/users/{id}", operation_id = "get_user", tag = "administration", params(("id" = Uuid, Path)),
    responses((status = 200, body = UserView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadMembers>,
    Id(id): Id<UserId>,
) -> Result<axum::Json<UserView>> {
    Ok(axum::Json(app.engine.identity().user(&permit, id).await?.into()))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeUser {
    #[schema(value_type = String)]
    role: Role,
    /// The current value; it cannot be changed here.
    #[serde(default)]
    email: Option<String>,
    /// The current value; it cannot be changed here.
    #[serde(default)]
    display_name: Option<String>,
}

impl Body for ChangeUser {
    const READ_ONLY: &'static [&'static str] = &["id", "has_password", "created_at"];
}

/// Change the role of a member.
#[utoipa::path(patch, path = "/api/users/{id}", operation_id = "update_user", tag = "administration",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ChangeUser,
    responses((status = 200, body = UserView), (status = 404, body = ProblemDocument),
              (status = 409, description = "The last admin must keep the role", body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<WriteMembers>,
    Id(id): Id<UserId>,
    JsonBytes(body, bytes): JsonBytes<ChangeUser>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            refuse_rename(&app, &permit, id, &body).await?;
            let user = app.engine.identity().set_role(&permit, id, body.role, Some(&request_id)).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &UserView::from(user)))
        })
        .await
}

/// Values that were read can be sent back. A different one is refused instead of silently ignored.
async fn refuse_rename(
    app: &App,
    permit: &Permit<WriteMembers>,
    id: UserId,
    body: &ChangeUser,
) -> Result<()> {
    if body.email.is_none() && body.display_name.is_none() {
        return Ok(());
    }
    let user =
        app.engine.identity().user(&Permit::<ReadMembers>::check(permit.caller().clone())?, id).await?;
    for (path, sent, is) in
        [("/email", &body.email, &user.email), ("/display_name", &body.display_name, &user.display_name)]
    {
        if sent.as_ref().is_some_and(|sent| sent != is) {
            return Err(Problem::invalid(path, Violation::fixed()));
        }
    }
    Ok(())
}

/// Remove a member from the tenant, with their logins and API keys.
#[utoipa::path(delete, path = "/api/users/{id}", operation_id = "delete_user", tag = "administration",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument)))]
pub(crate) async fn remove(write: Write<WriteMembers>, Id(id): Id<UserId>) -> Result<Response> {
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            app.engine.identity().remove_user(&permit, id, Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// A one-time sign-in link for a member.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Invitation {
    /// The path and query of the link on this server.
    url: String,
}

/// Create a one-time sign-in link for a member. It opens only this tenant.
#[utoipa::path(post, path = "/api/users/{id}/link", operation_id = "create_sign_in_link", tag = "administration",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, body = Invitation), (status = 404, body = ProblemDocument)))]
pub(crate) async fn invite(
    write: Write<WriteMembers>,
    Id(id): Id<UserId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let token = app.engine.identity().invite(&permit, id, Some(&request_id)).await?;
            let base = app.settings.public_url.as_deref().unwrap_or_default().trim_end_matches('/');
            let view = |token: &str| Invitation { url: format!("{base}/sign-in?token={token}") };
            Ok(JsonAnswer::new(StatusCode::CREATED, &view(&token)).keeping(&view("***")))
        })
        .await
}

/// A role and its permissions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RoleView {
    slug: &'static str,
    #[schema(value_type = Vec<String>)]
    permissions: Vec<Permission>,
}

/// List the roles.
#[utoipa::path(get, path = "/api/roles", operation_id = "list_roles", tag = "administration", responses((status = 200, body = List<RoleView>)))]
pub(crate) async fn roles(_permit: Allowed<ReadMembers>) -> axum::Json<List<RoleView>> {
    let items: Vec<_> = Role::ALL
        .into_iter()
        .map(|role| RoleView {
            slug: role.as_str(),
            permissions: role.permissions().iter().cloned().collect(),
        })
        .collect();
    let total = i64::try_from(items.len()).ok();
    axum::Json(List { items, next_cursor: None, total })
}
