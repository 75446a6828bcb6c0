//! Standing approvals: a yes that holds for later calls.

use axum::{extract::State, http::StatusCode, response::Response};
use serde::Serialize;
use serde_json::value::RawValue;
use tw_engine::{JudgedStanding, StandingApproval, StandingFilter};
use tw_identity::rights::{DecideApprovals, ReadApprovals};
use tw_model::{StandingApprovalId, StandingStatus, Timestamp};
use uuid::Uuid;

use super::List;
use crate::{
    App,
    answer::JsonAnswer,
    auth::AllowedList,
    idempotent::Write,
    problem::{ProblemDocument, Result},
    query::{Id, Params},
};

/// A standing approval: it approves later calls of an agent.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct StandingApprovalView {
    id: Uuid,
    /// The slug of the agent whose calls it approves.
    agent: String,
    tool: String,
    /// JSON Pointers to the input values that must be equal; `null` if the whole input must be equal.
    fields: Option<Vec<String>>,
    /// The values that must be equal: by their pointers, or the whole input.
    #[schema(value_type = Object)]
    values: Box<RawValue>,
    approved_by: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// The number of calls that it has approved.
    uses: i64,
    /// `active`, `expired`, `revoked`, or `void` after a change to something that it is bound to.
    status: &'static str,
}

/// The prefix of an agent's label.
const AGENT: &str = "agent:";

impl From<JudgedStanding> for StandingApprovalView {
    fn from(JudgedStanding { row, status }: JudgedStanding) -> Self {
        let StandingApproval { id, principal, tool, fields, values, .. } = row;
        Self {
            id: id.uuid(),
            agent: principal.strip_prefix(AGENT).unwrap_or(&principal).to_owned(),
            tool,
            fields,
            values,
            approved_by: row.approved_by,
            created_at: row.created,
            expires_at: row.expires,
            uses: row.uses,
            status: status.as_str(),
        }
    }
}

/// The values of the parameter `status`.
pub(super) const STATUSES: [&str; 5] = ["active", "expired", "revoked", "void", "all"];

/// List standing approvals, newest first.
#[utoipa::path(get, path = "/api/standing-approvals", operation_id = "list_standing_approvals", tag = "approvals",
    params(("agent" = Option<String>, Query, description = "The slug of an agent"),
           ("tool" = Option<String>, Query, description = "The slug of a tool"), ("status" = Option<String>, Query),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<StandingApprovalView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadApprovals>,
    mut params: Params,
) -> Result<Response> {
    let known = |word: &str| match word {
        "all" => Some(None),
        word => StandingStatus::parse(word).map(Some),
    };
    let filter = StandingFilter {
        principal: params.text("agent").map(|slug| format!("{AGENT}{slug}")),
        tool: params.text("tool"),
        status: params.word("status", known, &STATUSES.join(", ")).flatten(),
    };
    let page = app.engine.standing_approvals(&permit, &filter, &params.page()?).await?;
    place.page(move || List::from(page.map(StandingApprovalView::from))).await
}

/// Revoke a standing approval. It no longer approves calls.
#[utoipa::path(delete, path = "/api/standing-approvals/{id}", operation_id = "revoke_standing_approval",
    tag = "approvals", params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument)))]
pub(crate) async fn revoke(
    write: Write<DecideApprovals>,
    Id(id): Id<StandingApprovalId>,
) -> Result<Response> {
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            app.engine.revoke_standing(&permit, id, Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}
