//! The approvals inbox.

use std::time::Duration;

use axum::{extract::State, http::StatusCode, response::Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tw_engine::{Approval, Approve, ApprovedCall, StandingWish};
use tw_identity::rights::{DecideApprovals, ReadApprovals};
use tw_model::{ApprovalId, ApprovalStatus, StandingApprovalId, Timestamp};
use tw_policy::Rule;
use tw_schema::Violation;
use uuid::Uuid;

use super::{List, runs::RunAnswer};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    body::JsonBytes,
    idempotent::Write,
    members::Body,
    object::object,
    problem::{Problem, ProblemDocument, Result},
    query::{Id, Params},
};

/// A request to approve one call.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ApprovalView {
    id: Uuid,
    run_id: Uuid,
    tool: String,
    version: String,
    #[schema(value_type = Object)]
    input: Box<RawValue>,
    level: Option<&'static str>,
    /// Why the call needs approval.
    reason: String,
    /// The rule that requires approval, such as `level_write`; `null` for a rule of an older version.
    rule: Option<&'static str>,
    requested_by: String,
    #[schema(value_type = String, format = DateTime)]
    requested_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// `pending`, `approved`, `denied`, `expired` or `cancelled`.
    status: &'static str,
    decided_by: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    decided_at: Option<Timestamp>,
    note: Option<String>,
    /// The changes that the approver made to the input.
    #[schema(value_type = Option<Vec<InputChange>>)]
    changes: Option<Box<RawValue>>,
}

/// One property of the input that the approver changed.
#[derive(Debug, utoipa::ToSchema)]
#[expect(dead_code, reason = "described, not read: the engine writes it down as it is answered")]
pub(crate) struct InputChange {
    /// A JSON Pointer into the input.
    path: String,
    /// `null` if the property was absent.
    before: Value,
    /// `null` if the approver removed the property.
    after: Value,
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
        Self {
            id: approval.id.uuid(),
            run_id: approval.run.uuid(),
            tool: approval.tool,
            version: approval.version,
            input: approval.input,
            level: approval.level.map(tw_model::Level::as_str),
            rule: Rule::told(&approval.reason).map(Rule::as_str),
            reason: approval.reason,
            requested_by: approval.requested_by,
            requested_at: approval.requested,
            expires_at: approval.expires,
            status: approval.status.as_str(),
            decided_by: approval.decided_by,
            decided_at: approval.decided,
            note: approval.note,
            changes: approval.changes,
        }
    }
}

/// The values of the parameter `status`.
pub(super) const STATUSES: [&str; 6] = ["pending", "approved", "denied", "expired", "cancelled", "all"];

/// List approvals, oldest first. By default only pending ones; `status=all` lists all.
#[utoipa::path(get, path = "/api/approvals", operation_id = "list_approvals", tag = "approvals",
    params(("status" = Option<String>, Query), ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query),
           ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<ApprovalView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadApprovals>,
    mut params: Params,
) -> Result<Response> {
    let known = |word: &str| match word {
        "all" => Some(None),
        word => ApprovalStatus::parse(word).map(Some),
    };
    let status = params.word("status", known, &STATUSES.join(", "));
    let status = status.unwrap_or(Some(ApprovalStatus::Pending));
    let page = app.engine.approvals(&permit, status, &params.page()?).await?;
    place.page(move || List::from(page.map(ApprovalView::from))).await
}

/// Get an approval.
#[utoipa::path(get, path = "/api/approvals/{id}", operation_id = "get_approval", tag = "approvals", params(("id" = Uuid, Path)),
    responses((status = 200, body = ApprovalView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadApprovals>,
    Id(id): Id<ApprovalId>,
) -> Result<axum::Json<ApprovalView>> {
    Ok(axum::Json(app.engine.approval(&permit, id).await?.into()))
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApproveRequest {
    /// Run the call with this input instead of the requested one. It is validated like the original.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    note: Option<String>,
    /// How many milliseconds to wait for the run to end, at most 120,000.
    #[serde(default)]
    wait_ms: Option<u64>,
    /// Also approve later calls of the same agent.
    #[serde(default, deserialize_with = "object")]
    standing: Option<StandingRequest>,
}

impl Body for ApproveRequest {}

/// Approve later calls too, if agent, tool, definition and the chain of calling tools are the same.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StandingRequest {
    /// How long the approval lasts, in seconds.
    for_s: u64,
    /// JSON Pointers to the input values that must be equal. By default the whole input must be equal.
    #[serde(default)]
    fields: Option<Vec<String>>,
}

/// The longest time that a standing approval may last.
pub(super) const STANDING_S_MAX: u64 = tw_engine::STANDING_LIFE_MAX.as_secs();

impl StandingRequest {
    fn wish(self) -> Result<StandingWish> {
        if !(1..=STANDING_S_MAX).contains(&self.for_s) {
            return Err(Problem::invalid("/standing/for_s", Violation::range(1, STANDING_S_MAX)));
        }
        Ok(StandingWish { life: Duration::from_secs(self.for_s), fields: self.fields })
    }
}

/// The run of the approved call, and the standing approval if one was created.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ApproveAnswer {
    #[serde(flatten)]
    run: RunAnswer,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing_approval_id: Option<Uuid>,
}

/// Approve a call. It runs once, and the answer is its run.
#[utoipa::path(post, path = "/api/approvals/{id}/approve", operation_id = "approve_call", tag = "approvals",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = ApproveRequest,
    responses((status = 200, description = "The run has ended", body = ApproveAnswer),
              (status = 202, description = "The run has not ended yet", body = ApproveAnswer),
              (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 410, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn approve(
    write: Write<DecideApprovals>,
    Id(id): Id<ApprovalId>,
    JsonBytes(body, bytes): JsonBytes<ApproveRequest>,
) -> Result<Response> {
    if body.wait_ms.is_some_and(|wait| super::tools::WAIT_MS_MAX < wait) {
        return Err(Problem::invalid("/wait_ms", Violation::maximum(super::tools::WAIT_MS_MAX)));
    }
    check_note(body.note.as_deref())?;
    let standing = body.standing.map(StandingRequest::wish).transpose()?;
    let wait = body.wait_ms.map(Duration::from_millis);
    let yes = Approve { input: body.input, note: body.note, wait, standing };
    write
        .once_with_secret(&bytes, |Write { app, permit, .. }| async move {
            let ApprovedCall { answer, standing } = app.engine.approve(&permit, id, yes).await?;
            let standing_approval_id = standing.map(StandingApprovalId::uuid);
            Ok(super::runs::answered_as(answer, |run| ApproveAnswer { run, standing_approval_id }))
        })
        .await
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DenyRequest {
    #[serde(default)]
    note: Option<String>,
}

impl Body for DenyRequest {}

/// Deny a call. Its run ends as cancelled.
#[utoipa::path(post, path = "/api/approvals/{id}/deny", operation_id = "deny_call", tag = "approvals",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = DenyRequest,
    responses((status = 200, body = ApprovalView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 410, body = ProblemDocument)))]
pub(crate) async fn deny(
    write: Write<DecideApprovals>,
    Id(id): Id<ApprovalId>,
    JsonBytes(body, bytes): JsonBytes<DenyRequest>,
) -> Result<Response> {
    check_note(body.note.as_deref())?;
    write
        .once(&bytes, |Write { app, permit, .. }| async move {
            let denied = app.engine.deny(&permit, id, body.note.as_deref()).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &ApprovalView::from(denied)))
        })
        .await
}

fn check_note(note: Option<&str>) -> Result<()> {
    if note.is_some_and(|note| 4000 < note.len()) {
        return Err(Problem::invalid("/note", Violation::max_bytes(4_000)));
    }
    Ok(())
}
