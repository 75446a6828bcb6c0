//! Recorded calls of a tool, made again.

use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;
use serde_json::{Map, Value};
use tw_identity::rights::TestTools;
use uuid::Uuid;

use super::test_cases::DiffView;
use crate::{
    App,
    answer::JsonAnswer,
    calling::{CallBody, Calling},
    front::RequestId,
    idempotent::Write,
    members::Body,
    problem::{ProblemDocument, Result},
};

/// What the recorded calls are made again with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replay {
    /// `draft` for what was saved last (what is live where there is no draft), or the number of a version.
    version: String,
    /// How many calls, the newest first: 1 to 100, 20 without it.
    #[serde(default)]
    limit: Option<i64>,
}

impl Body for Replay {}

impl CallBody for Replay {
    type Right = TestTools;
}

/// How the recorded calls went the second time.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = ReplayReport)]
#[expect(dead_code, reason = "described, not written: the engine has the type")]
pub(crate) struct ReplayView {
    /// How many gave the same.
    same: usize,
    /// How many gave something else.
    different: usize,
    /// How many were not made again.
    not_replayed: usize,
    #[schema(value_type = Vec<ReplayedView>)]
    items: Vec<ReplayedView>,
}

/// One recorded call, and what came of it the second time.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = ReplayedCall)]
#[expect(dead_code, reason = "described, not written: the engine has the type")]
pub(crate) struct ReplayedView {
    /// The recorded run.
    run_id: Uuid,
    /// The version that it ran.
    version: String,
    #[schema(value_type = String, format = DateTime)]
    at: String,
    #[schema(value_type = Value)]
    input: Value,
    /// The output that was recorded; `null` where there is none.
    recorded: Value,
    /// The output that came now; `null` where there is none.
    replayed: Value,
    /// Whether status, error code and output are equal; `null` where the call was not made again.
    same: Option<bool>,
    recorded_status: String,
    replayed_status: Option<String>,
    recorded_error_code: Option<String>,
    replayed_error_code: Option<String>,
    /// The run of the replay, in the mode `debug`; `null` where the call was refused or not made.
    replay_run_id: Option<Uuid>,
    #[schema(value_type = Vec<DiffView>)]
    diff: Vec<DiffView>,
    /// Why the call was not made again, or which of its steps has no record.
    reason: Option<String>,
    /// The reason as a word: `no_input`, `secret`, `no_time`, `not_recorded`, or the code of an error.
    reason_code: Option<String>,
    /// The values in `reason`.
    #[schema(value_type = Object)]
    reason_params: Map<String, Value>,
    /// Whether `replayed` was left out because the answer is full.
    is_cut: bool,
}

/// Makes recorded calls of a tool again, with a draft or a version, and says what differs.
///
/// Only calls of tools that are pure, or whose level is `read` or `draft`, are made again. Steps with effects are answered
/// from the record, and never run.
#[utoipa::path(post, path = "/api/tools/{tool}/replay", tag = "tools", operation_id = "replay_calls",
    params(("tool" = String, Path, description = "Slug or id"), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Replay,
    responses((status = 200, body = ReplayView), (status = 404, body = ProblemDocument),
              (status = 409, description = "The tool has effects, or asks somebody", body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn replay(
    State(app): State<App>,
    RequestId(request_id): RequestId,
    Calling { permit, tool: name, key, body, bytes }: Calling<Replay>,
) -> Result<Response> {
    Write::new(app, permit, request_id, key)
        .once(&bytes, |Write { app, permit, .. }| async move {
            let report = app.engine.replay(&permit, &name, &body.version, body.limit).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &report))
        })
        .await
}
