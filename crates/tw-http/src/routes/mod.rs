//! The routes, one file per noun. What is listed here is what the published description says.

mod approvals;
mod audit;
mod authoring;
mod calls;
mod credentials;
mod error_pages;
mod explain;
mod keys;
mod login;
mod operations;
mod runs;
mod sessions;
mod tenants;
mod tools;
mod users;

use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tw_engine::Page;
use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::App;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Toolwright",
        description = "Define a tool once; people get a form, agents a function, programs an endpoint, and every \
                       call goes through one governed, durable path. Errors are `application/problem+json` with a \
                       stable `code`; lists take `limit`, `cursor` and `offset`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    components(schemas(crate::problem::ProblemDocument)),
    modifiers(&Credentials),
    security(("api_key" = []), ("login" = [])),
)]
struct Description;

struct Credentials;

impl Modify for Credentials {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let bearer =
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("An API key")).build();
        components.add_security_scheme("api_key", SecurityScheme::Http(bearer));
        let cookie = ApiKeyValue::with_description(crate::auth::COOKIE, "A browser that has signed in");
        components.add_security_scheme("login", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}

/// Every route with its description.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
        .routes(routes!(operations::openapi_json))
        .routes(routes!(operations::docs))
        .route("/api/docs/{file}", axum::routing::get(operations::docs_file))
        .route("/docs/errors/{code}", axum::routing::get(error_pages::error_page))
        .routes(routes!(login::me))
        .routes(routes!(login::sign_in))
        .routes(routes!(login::sign_in_by_link))
        .routes(routes!(login::sign_out))
        .routes(routes!(login::switch_tenant))
        .routes(routes!(login::change_password))
        .routes(routes!(tools::builtins))
        .routes(routes!(tools::list, authoring::create))
        .routes(routes!(tools::read, authoring::change, authoring::save, authoring::remove))
        .routes(routes!(authoring::publish))
        .routes(routes!(authoring::version))
        .routes(routes!(authoring::clone))
        .routes(routes!(authoring::versions))
        .routes(routes!(authoring::compare))
        .routes(routes!(authoring::revision))
        .routes(routes!(authoring::restore))
        .routes(routes!(authoring::used_by))
        .routes(routes!(explain::explain))
        .routes(routes!(tools::run))
        .routes(routes!(tools::test))
        .routes(routes!(runs::list))
        .routes(routes!(runs::read))
        .routes(routes!(runs::cancel))
        .routes(routes!(calls::submit))
        .routes(routes!(calls::list))
        .routes(routes!(calls::read))
        .routes(routes!(calls::stream))
        .routes(routes!(sessions::create))
        .routes(routes!(sessions::read))
        .routes(routes!(sessions::events))
        .routes(routes!(sessions::stream))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::read))
        .routes(routes!(approvals::approve))
        .routes(routes!(approvals::deny))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(credentials::list, credentials::create))
        .routes(routes!(credentials::read, credentials::change, credentials::remove))
        .routes(routes!(credentials::used_by))
        .routes(routes!(credentials::test))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::read, users::change, users::remove))
        .routes(routes!(users::invite))
        .routes(routes!(users::roles))
        .routes(routes!(tenants::list))
        .routes(routes!(tenants::read, tenants::change))
        .routes(routes!(audit::list))
}

/// The OpenAPI 3.1 description of everything served here.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

/// A page of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct List<T> {
    items: Vec<T>,
    /// Send it as `cursor` to get the next page; `null` on the last.
    next_cursor: Option<String>,
    /// How many there are in all; `null` when that is more than is counted.
    total: Option<i64>,
}

impl<T> List<T> {
    /// A list that is all there is.
    fn of(items: Vec<T>) -> Self {
        let total = i64::try_from(items.len()).ok();
        Self { items, next_cursor: None, total }
    }
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { items: page.items, next_cursor: page.next_cursor, total: page.total }
    }
}

/// JSON written once, without a detour.
pub(crate) fn json(status: axum::http::StatusCode, value: &impl Serialize) -> Response {
    let body = serde_json::to_vec(value).expect("answers are plain JSON");
    (status, [(axum::http::header::CONTENT_TYPE, "application/json")], body).into_response()
}
