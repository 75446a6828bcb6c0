//! Health, readiness, metrics, and the description of the API.

use std::sync::LazyLock;

use axum::{
    body::Bytes,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use tw_identity::rights::{ReadSettings, SignedIn};
use tw_model::Code;

use crate::{
    App,
    auth::Allowed,
    problem::{Problem, Result},
};

/// Check that the process is alive.
#[utoipa::path(get, path = "/healthz", operation_id = "get_health", tag = "operations", security(()),
    responses((status = 200, description = "Alive", body = String, content_type = "text/plain")))]
pub(crate) async fn healthz() -> &'static str {
    "ok\n"
}

/// Check that the server can work: its database answers, and it is not about to stop.
#[utoipa::path(get, path = "/readyz", operation_id = "get_readiness", tag = "operations", security(()),
    responses((status = 200, description = "Ready", body = String, content_type = "text/plain"),
              (status = 503, description = "Not ready, with the reason", body = crate::problem::ProblemDocument)))]
pub(crate) async fn readyz(State(app): State<App>) -> Result<&'static str> {
    app.engine.ready().await?;
    Ok("ready\n")
}

/// Get metrics for Prometheus. Needs a key with `settings.tenant.read` unless metrics are public.
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "operations",
    responses((status = 200, description = "Prometheus text format", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<App>, allowed: Option<Allowed<SignedIn>>) -> Result<Response> {
    if !app.settings.metrics_public {
        let Some(Allowed(permit)) = allowed else {
            return Err(Problem::new(
                Code::Unauthenticated,
                "metrics need an admin's key; the setting `metrics.public` opens them",
            ));
        };
        tw_identity::rights::Permit::<ReadSettings>::check(permit.caller().clone())?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a gauge needs no more digits")]
    metrics::gauge!("toolwright_runs_in_flight").set(app.engine.in_flight() as f64);
    let text = (app.settings.render_metrics)();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// Get the OpenAPI 3.1 description of this API.
#[utoipa::path(get, path = "/api/openapi.json", operation_id = "get_openapi", tag = "operations", security(()),
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
pub(crate) async fn openapi_json() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], Bytes::clone(&DESCRIPTION)).into_response()
}

/// Written once: the document is large, and strangers may ask for it.
static DESCRIPTION: LazyLock<Bytes> =
    LazyLock::new(|| serde_json::to_vec(&super::openapi()).expect("a description is plain JSON").into());
