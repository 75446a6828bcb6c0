//! Who one is, signing in and out.

use axum::{
    extract::{FromRequestParts, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use tw_identity::{
    SignedIn as NewLogin,
    rights::{Permit, Person, Right, SignedIn},
};
use tw_model::{Caller, Code, Language, Permission, Principal, TenantSlug, Timestamp};
use uuid::Uuid;

use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, COOKIE, refuse_forgery},
    body::{Json, JsonBytes},
    front::RequestId,
    idempotent::Write,
    members::{Body, Nothing},
    peer::ClientAddress,
    problem::{Problem, ProblemDocument, Result},
};

/// The caller.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Me {
    tenant: TenantName,
    principal: PrincipalView,
    /// The role of the API key or of the membership.
    roles: Vec<&'static str>,
    #[schema(value_type = Vec<String>)]
    permissions: Vec<Permission>,
    source: &'static str,
    /// The caller's tenant, and the tenants that a signed-in person can switch to.
    tenants: Vec<TenantName>,
    /// The language that the person chose in this tenant, `de` or `en`; `null` uses the browser's language.
    #[schema(value_type = Option<String>)]
    language: Option<Language>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TenantName {
    id: Uuid,
    slug: String,
    name: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PrincipalView {
    /// `user` or `agent`.
    kind: &'static str,
    /// The person, or the owner of the agent.
    user_id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    display_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<Uuid>,
}

impl PrincipalView {
    fn of(caller: &Caller) -> Self {
        let (kind, agent) = match &caller.principal {
            Principal::User { .. } => ("user", None),
            Principal::Agent { slug, .. } => ("agent", Some(slug.clone())),
        };
        Self {
            kind,
            user_id: caller.principal.owner().uuid(),
            agent,
            display_name: caller.display_name.to_string(),
            key_id: caller.key.map(tw_model::KeyId::uuid),
        }
    }
}

/// Get the tenant, principal, roles, permissions and language of the caller.
#[utoipa::path(get, path = "/api/me", operation_id = "get_me", tag = "people", responses((status = 200, body = Me)))]
pub(crate) async fn me(State(app): State<App>, Allowed(permit): Allowed<SignedIn>) -> Result<axum::Json<Me>> {
    Ok(axum::Json(Me::of(&app, &permit).await?))
}

impl Me {
    async fn of<R: Right>(app: &App, permit: &Permit<R>) -> Result<Self> {
        let tenants = app.engine.identity().my_tenants(permit).await?;
        let language = app.engine.identity().my_language(permit).await?;
        let caller = permit.caller();
        let names: Vec<_> = tenants
            .into_iter()
            .map(|tenant| TenantName {
                id: tenant.id.uuid(),
                slug: tenant.slug.to_string(),
                name: tenant.name,
            })
            .collect();
        let own = names.iter().find(|tenant| tenant.id == caller.tenant.uuid());
        Ok(Self {
            tenant: TenantName {
                id: caller.tenant.uuid(),
                slug: caller.tenant_slug.to_string(),
                name: own.map(|tenant| tenant.name.clone()).unwrap_or_default(),
            },
            principal: PrincipalView::of(caller),
            roles: vec![caller.role.as_str()],
            permissions: caller.permissions.iter().cloned().collect(),
            source: caller.source.as_str(),
            tenants: names,
            language,
        })
    }
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeMe {
    /// `de` or `en`; `null` uses the browser's language.
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<String>)]
    language: Option<Option<Language>>,
}

impl Body for ChangeMe {
    const READ_ONLY: &'static [&'static str] =
        &["tenant", "principal", "roles", "permissions", "source", "tenants"];
}

/// A member that is there, be it `null`.
fn said<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Change the language of the caller. With an API key, the language of its owner changes.
#[utoipa::path(patch, path = "/api/me", operation_id = "update_me", tag = "people", request_body = ChangeMe,
    params(("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = Me), (status = 403, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn change_me(
    write: Write<Person>,
    JsonBytes(body, bytes): JsonBytes<ChangeMe>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, .. }| async move {
            if let Some(language) = body.language {
                app.engine.identity().set_my_language(&permit, language).await?;
            }
            Ok(JsonAnswer::new(StatusCode::OK, &Me::of(&app, &permit).await?))
        })
        .await
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    email: String,
    password: String,
    /// The slug of the tenant to sign in to; by default the first that accepts the password.
    #[serde(default)]
    tenant: Option<String>,
}

impl Body for SignIn {}

/// A login. Its token is in the cookie.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct LoginView {
    tenant: String,
    display_name: String,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// Sign in with email and password.
#[utoipa::path(post, path = "/api/auth/login", operation_id = "sign_in", tag = "people", security(()), request_body = SignIn,
    responses((status = 200, body = LoginView), (status = 401, body = ProblemDocument),
              (status = 429, description = "Too many failed attempts", body = ProblemDocument)))]
pub(crate) async fn sign_in(
    State(app): State<App>,
    Unforged: Unforged,
    ClientAddress(address): ClientAddress,
    RequestId(id): RequestId,
    Json(body): Json<SignIn>,
) -> Result<Response> {
    let tenant = body.tenant.as_deref().map(tenant_slug).transpose()?;
    let login = app
        .engine
        .identity()
        .sign_in(&body.email, body.password, tenant.as_ref(), address, Some(&id))
        .await?;
    Ok(signed_in(&app, login))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkToken {
    token: String,
}

impl Body for LinkToken {}

/// Sign in with the token of a one-time link. The link then no longer works.
///
/// The login is for the tenant that created the link and cannot switch to another.
#[utoipa::path(post, path = "/api/auth/link", operation_id = "sign_in_by_link", tag = "people", security(()), request_body = LinkToken,
    responses((status = 200, body = LoginView), (status = 401, body = ProblemDocument)))]
pub(crate) async fn sign_in_by_link(
    State(app): State<App>,
    Unforged: Unforged,
    RequestId(id): RequestId,
    Json(body): Json<LinkToken>,
) -> Result<Response> {
    let login = app.engine.identity().sign_in_by_link(&body.token, Some(&id)).await?;
    Ok(signed_in(&app, login))
}

/// Sign out.
#[utoipa::path(post, path = "/api/auth/logout", operation_id = "sign_out", tag = "people", responses((status = 204)))]
pub(crate) async fn sign_out(
    State(app): State<App>,
    Allowed(permit): Allowed<SignedIn>,
    RequestId(id): RequestId,
    JsonBytes(Nothing {}, _): JsonBytes<Nothing>,
) -> Result<Response> {
    app.engine.identity().sign_out(&permit, Some(&id)).await?;
    let gone = cookie(&app, "", 0);
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchTenant {
    tenant: String,
}

impl Body for SwitchTenant {}

/// Switch to another tenant of the same person.
///
/// The tenant must accept the password of this login; otherwise the answer is 404, and the person must sign in there.
#[utoipa::path(post, path = "/api/auth/switch", operation_id = "switch_tenant", tag = "people", request_body = SwitchTenant,
    responses((status = 200, body = LoginView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn switch_tenant(
    State(app): State<App>,
    AtBrowser(permit): AtBrowser,
    RequestId(id): RequestId,
    Json(body): Json<SwitchTenant>,
) -> Result<Response> {
    let login = app.engine.identity().switch_tenant(&permit, &tenant_slug(&body.tenant)?, Some(&id)).await?;
    Ok(signed_in(&app, login))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangePassword {
    /// Not needed if the person has no password yet.
    #[serde(default)]
    current_password: Option<String>,
    password: String,
}

impl Body for ChangePassword {}

/// Change your own password and end your other logins.
///
/// The password changes in the current tenant and in every other one that the current password opens.
#[utoipa::path(post, path = "/api/auth/password", operation_id = "change_password", tag = "people", request_body = ChangePassword,
    responses((status = 200, body = LoginView), (status = 422, body = ProblemDocument)))]
pub(crate) async fn change_password(
    State(app): State<App>,
    AtBrowser(permit): AtBrowser,
    RequestId(id): RequestId,
    Json(body): Json<ChangePassword>,
) -> Result<Response> {
    let login = app
        .engine
        .identity()
        .change_password(&permit, body.current_password, body.password, Some(&id))
        .await?;
    Ok(signed_in(&app, login))
}

fn tenant_slug(text: &str) -> Result<TenantSlug> {
    text.parse()
        .map_err(|error: tw_model::SlugError| Problem::invalid("/tenant", tw_exec::slug_violation(&error)))
}

/// A person who has signed in. An API key is refused before the body is read.
#[derive(Debug)]
pub(crate) struct AtBrowser(Permit<SignedIn>);

impl FromRequestParts<App> for AtBrowser {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Allowed(permit) =
            <Allowed<SignedIn> as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        if permit.caller().login.is_none() {
            return Err(Problem::new(Code::NotPermitted, "a key cannot do this for its owner; sign in"));
        }
        Ok(Self(permit))
    }
}

/// Anyone may sign in, but not from the pages of another site.
#[derive(Debug)]
pub(crate) struct Unforged;

impl<S: Sync> FromRequestParts<S> for Unforged {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        refuse_forgery(parts).map(|()| Self)
    }
}

fn signed_in(app: &App, login: NewLogin) -> Response {
    let left = login.expires.since(Timestamp::now()).as_secs();
    let set = cookie(app, &login.token, left);
    let view = LoginView {
        tenant: login.caller.tenant_slug.to_string(),
        display_name: login.caller.display_name.to_string(),
        expires_at: login.expires,
    };
    let mut response = super::json(StatusCode::OK, &view);
    response.headers_mut().insert(header::SET_COOKIE, set);
    response
}

fn cookie(app: &App, token: &str, seconds: u64) -> HeaderValue {
    let https = app.settings.public_url.as_deref().is_some_and(|url| url.starts_with("https://"));
    let secure = if https { "; Secure" } else { "" };
    let text = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).expect("a token is made of letters that a header takes")
}
