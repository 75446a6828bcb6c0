//! One's own tenant.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_base::is_of_client;
use tw_engine::{Tenant, TenantChange};
use tw_identity::{
    rights::{Person, ReadSettings, WriteSettings},
    tenant_mark,
};
use tw_model::Timestamp;
use tw_schema::Violation;
use uuid::Uuid;

use super::{List, authoring::marks};
use crate::{
    App,
    answer::JsonAnswer,
    auth::Allowed,
    body::JsonBytes,
    idempotent::Write,
    members::Body,
    problem::{Problem, ProblemDocument, Result},
};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TenantView {
    id: Uuid,
    slug: String,
    name: String,
    status: String,
    #[schema(value_type = Object)]
    settings: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Tenant> for TenantView {
    fn from(tenant: Tenant) -> Self {
        Self {
            id: tenant.id.uuid(),
            slug: tenant.slug.to_string(),
            name: tenant.name,
            status: tenant.status,
            settings: tenant.settings,
            created_at: tenant.created,
            updated_at: tenant.updated,
        }
    }
}

/// A tenant that the caller belongs to.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TenantItem {
    id: Uuid,
    slug: String,
    name: String,
}

/// List the tenants of the caller: one for an API key, all of the person's for a login.
#[utoipa::path(get, path = "/api/tenants", operation_id = "list_tenants", tag = "administration",
    responses((status = 200, body = List<TenantItem>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed(permit): Allowed<Person>,
) -> Result<axum::Json<List<TenantItem>>> {
    let tenants = app.engine.identity().my_tenants(&permit).await?;
    let items: Vec<_> = tenants
        .into_iter()
        .map(|tenant| TenantItem { id: tenant.id.uuid(), slug: tenant.slug.to_string(), name: tenant.name })
        .collect();
    let total = i64::try_from(items.len()).ok();
    Ok(axum::Json(List { items, next_cursor: None, total }))
}

/// Get the caller's tenant with its settings.
#[utoipa::path(get, path = "/api/tenants/current", operation_id = "get_current_tenant", tag = "administration",
    responses((status = 200, body = TenantView)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadSettings>,
) -> Result<JsonAnswer> {
    Ok(with_etag(app.engine.identity().tenant(&permit).await?))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeTenant {
    #[serde(default)]
    name: Option<String>,
    /// Settings to change; `null` resets a setting to its default.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    settings: Option<Value>,
    /// The current slug; it cannot be changed.
    #[serde(default)]
    slug: Option<String>,
}

impl Body for ChangeTenant {
    const READ_ONLY: &'static [&'static str] = &["id", "status", "created_at", "updated_at"];
}

/// Change the name or settings of the caller's tenant.
#[utoipa::path(patch, path = "/api/tenants/current", operation_id = "update_current_tenant", tag = "administration", request_body = ChangeTenant,
    params(("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = TenantView), (status = 412, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<WriteSettings>,
    headers: HeaderMap,
    JsonBytes(mut body, bytes): JsonBytes<ChangeTenant>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    if body.slug.is_some_and(|slug| slug != write.permit.caller().tenant_slug.as_str()) {
        return Err(Problem::invalid("/slug", Violation::fixed()));
    }
    if let Some(Value::Object(settings)) = &mut body.settings {
        settings.retain(|name, _| !is_of_client(name));
    }
    let change = TenantChange { name: body.name, settings: body.settings, status: None };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let changed = app
                .engine
                .identity()
                .change_tenant(&permit, change, marks.as_deref(), Some(&request_id))
                .await?;
            Ok(with_etag(changed))
        })
        .await
}

fn with_etag(tenant: Tenant) -> JsonAnswer {
    let etag = format!("\"{}\"", tenant_mark(&tenant));
    JsonAnswer::new(StatusCode::OK, &TenantView::from(tenant)).with(header::ETAG, &etag)
}
