//! The routes, one file per noun. What is listed here is what the published description says.

mod approvals;
mod artifacts;
mod audit;
mod authoring;
mod bounds;
mod calls;
mod credentials;
mod docs;
mod explain;
mod imports;
mod keys;
mod login;
mod mcp_servers;
mod models;
mod operations;
mod replay;
mod runs;
mod sessions;
mod standing;
mod tenants;
mod test_cases;
mod test_stream;
mod tools;
mod users;
mod webhooks;

use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tw_base::Page;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, Ref, RefOr, Response as Described, ResponseBuilder,
        path::Operation,
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::App;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Toolwright",
        description = "Call tools, approve and answer calls, read runs and logs, and administer a tenant. Errors are \
                       `application/problem+json` with a stable `code`; lists take `limit`, `cursor` and `offset`.",
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

/// Adds the problem responses that every operation may have.
struct Problems;

impl Problems {
    const TYPE: &str = "application/problem+json";
    const SCHEMA: &str = "#/components/schemas/Problem";

    fn describe(operation: &mut Operation) {
        let responses = &mut operation.responses.responses;
        for response in responses.values_mut() {
            if let RefOr::T(response) = response {
                Self::give_type(response);
            }
        }
        let is_open =
            operation.security.as_ref().is_some_and(|ways| ways.contains(&SecurityRequirement::default()));
        let of_credentials = [
            ("401", "No valid credentials"),
            ("403", "The caller lacks a permission, or the request came from another site's page"),
        ];
        for (status, description) in of_credentials.into_iter().filter(|_| !is_open) {
            responses.entry(status.to_owned()).or_insert_with(|| Self::response(description).into());
        }
        let any = "Another error; see `code`";
        responses.entry("default".to_owned()).or_insert_with(|| Self::response(any).into());
    }

    /// Problems have their own media type.
    fn give_type(response: &mut Described) {
        let content = std::mem::take(&mut response.content);
        let typed = content.into_iter().map(|(media_type, content)| {
            let is_problem = match &content {
                RefOr::T(content) => {
                    matches!(&content.schema, Some(RefOr::Ref(schema)) if schema.ref_location == Self::SCHEMA)
                }
                RefOr::Ref(_) => false,
            };
            (if is_problem { Self::TYPE.to_owned() } else { media_type }, content)
        });
        response.content = typed.collect();
    }

    fn response(description: &str) -> Described {
        let content = ContentBuilder::new().schema(Some(Ref::new(Self::SCHEMA))).build();
        ResponseBuilder::new().description(description).content(Self::TYPE, content).build()
    }
}

impl Modify for Problems {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        for item in openapi.paths.paths.values_mut() {
            let operations =
                [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
            operations.into_iter().flatten().for_each(Self::describe);
        }
    }
}

/// Every route with its description.
pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
        .routes(routes!(operations::openapi_json))
        .routes(routes!(docs::reference))
        .route("/docs", axum::routing::get(docs::first_page))
        .route("/docs/", axum::routing::get(docs::first_page))
        .route("/docs/index.json", axum::routing::get(docs::index))
        .route("/docs/{*page}", axum::routing::get(docs::page))
        .route("/llms.txt", axum::routing::get(docs::list))
        .route("/oauth/client.json", axum::routing::get(mcp_servers::client_document))
        .routes(routes!(login::me, login::change_me))
        .routes(routes!(login::sign_in))
        .routes(routes!(login::sign_in_by_link))
        .routes(routes!(login::sign_out))
        .routes(routes!(login::switch_tenant))
        .routes(routes!(login::change_password))
        .routes(routes!(tools::builtins))
        .routes(routes!(tools::functions))
        .routes(routes!(tools::list, authoring::create))
        .routes(routes!(tools::read, authoring::change, authoring::save, authoring::remove))
        .routes(routes!(authoring::publish))
        .routes(routes!(authoring::version))
        .routes(routes!(authoring::clone))
        .routes(routes!(authoring::versions))
        .routes(routes!(authoring::compare))
        .routes(routes!(authoring::revision))
        .routes(routes!(authoring::restore))
        .routes(routes!(authoring::withdraw))
        .routes(routes!(authoring::used_by))
        .routes(routes!(imports::openapi))
        .routes(routes!(explain::explain))
        .routes(routes!(artifacts::list, artifacts::create))
        .routes(routes!(artifacts::read, artifacts::change, artifacts::remove))
        .routes(routes!(artifacts::versions))
        .routes(routes!(artifacts::version))
        .routes(routes!(artifacts::used_by))
        .routes(routes!(test_cases::list, test_cases::create))
        .routes(routes!(test_cases::run))
        .routes(routes!(replay::replay))
        .routes(routes!(test_cases::change, test_cases::remove))
        .routes(routes!(tools::run))
        .routes(routes!(tools::test))
        .routes(routes!(test_stream::stream))
        .routes(routes!(models::list))
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
        .routes(routes!(standing::list))
        .routes(routes!(standing::revoke))
        .routes(routes!(keys::list, keys::create))
        .routes(routes!(keys::revoke))
        .routes(routes!(credentials::list, credentials::create))
        .routes(routes!(credentials::read, credentials::change, credentials::remove))
        .routes(routes!(credentials::used_by))
        .routes(routes!(credentials::test))
        .routes(routes!(mcp_servers::list, mcp_servers::create))
        .routes(routes!(mcp_servers::read, mcp_servers::change, mcp_servers::remove))
        .routes(routes!(mcp_servers::come_back))
        .routes(routes!(mcp_servers::authorize, mcp_servers::sign_out))
        .routes(routes!(mcp_servers::refresh))
        .routes(routes!(mcp_servers::import))
        .routes(routes!(mcp_servers::drifts))
        .routes(routes!(mcp_servers::accept))
        .routes(routes!(mcp_servers::reject))
        .routes(routes!(webhooks::list, webhooks::create))
        .routes(routes!(webhooks::read, webhooks::change, webhooks::remove))
        .routes(routes!(webhooks::rotate_secret))
        .routes(routes!(webhooks::test))
        .routes(routes!(webhooks::deliveries))
        .routes(routes!(webhooks::redeliver))
        .routes(routes!(webhooks::redeliver_of))
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
    let mut description = routes().into_openapi();
    Problems.modify(&mut description);
    bounds::Bounds.modify(&mut description);
    description
}

/// A page of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct List<T> {
    items: Vec<T>,
    /// Send this as `cursor` to get the next page; `null` on the last page.
    next_cursor: Option<String>,
    /// The total number of items; `null` if there are too many to count.
    total: Option<i64>,
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
