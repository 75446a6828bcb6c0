//! The audit log.

use axum::{extract::State, response::Response};
use serde::Serialize;
use serde_json::Value;
use tw_engine::{AuditFilter, AuditRecord};
use tw_identity::rights::ReadAudit;
use tw_model::Timestamp;
use uuid::Uuid;

use super::List;
use crate::{App, auth::AllowedList, problem::Result, query::Params};

/// An audit entry: who did what, with the state before and after.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AuditView {
    id: Uuid,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    #[schema(value_type = Object)]
    actor: Value,
    action: String,
    object: String,
    before: Option<Value>,
    after: Option<Value>,
    request_id: Option<String>,
    note: Option<String>,
}

impl From<AuditRecord> for AuditView {
    fn from(record: AuditRecord) -> Self {
        Self {
            id: record.id.uuid(),
            at: record.at,
            actor: record.actor,
            action: record.action,
            object: record.object,
            before: record.before,
            after: record.after,
            request_id: record.request_id,
            note: record.note,
        }
    }
}

/// List the audit log of the tenant, newest first.
#[utoipa::path(get, path = "/api/audit", operation_id = "list_audit", tag = "administration",
    params(("action" = Option<String>, Query), ("object" = Option<String>, Query), ("since" = Option<String>, Query),
           ("until" = Option<String>, Query), ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query),
           ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<AuditView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadAudit>,
    mut params: Params,
) -> Result<Response> {
    let filter = AuditFilter {
        action: params.text("action"),
        object: params.text("object"),
        since: params.moment("since"),
        until: params.moment("until"),
    };
    let page = app.engine.identity().audit(&permit, &filter, &params.page()?).await?;
    place.page(move || List::from(page.map(AuditView::from))).await
}
