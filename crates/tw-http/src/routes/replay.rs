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

/// The request to replay recorded calls.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replay {
    /// A version, or `draft` for the latest draft (the published version if there is no draft).
    version: String,
    /// How many of the newest calls to replay: 1 to 100; default 20.
    #[serde(default)]
    limit: Option<i64>,
}

impl Body for Replay {}

impl CallBody for Replay {
    type Right = TestTools;
}

/// The result of a replay.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = ReplayReport)]
#[expect(dead_code, reason = "described, not written: the engine has the type")]
pub(crate) struct ReplayView {
    /// The number of calls with the same result.
    same: usize,
    /// The number of calls with a different result.
    different: usize,
    /// The number of calls that were not replayed.
    not_replayed: usize,
    #[schema(value_type = Vec<ReplayedView>)]
    items: Vec<ReplayedView>,
}

/// A recorded call and the result of its replay.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = ReplayedCall)]
#[expect(dead_code, reason = "described, not written: the engine has the type")]
pub(crate) struct ReplayedView {
    /// The recorded run.
    run_id: Uuid,
    /// The version that the recorded run used.
    version: String,
    #[schema(value_type = String, format = DateTime)]
    at: String,
    #[schema(value_type = Value)]
    input: Value,
    /// The recorded output; `null` if there is none.
    recorded: Value,
    /// The output of the replay; `null` if there is none.
    replayed: Value,
    /// Whether status, error code and output are equal; `null` if the call was not replayed.
    same: Option<bool>,
    recorded_status: String,
    replayed_status: Option<String>,
    recorded_error_code: Option<String>,
    replayed_error_code: Option<String>,
    /// The run of the replay, in mode `debug`; `null` if the call was refused or not replayed.
    replay_run_id: Option<Uuid>,
    #[schema(value_type = Vec<DiffView>)]
    diff: Vec<DiffView>,
    /// Why the call was not replayed, or which of its steps has no recorded answer.
    reason: Option<String>,
    /// The reason as a word: `no_input`, `secret`, `no_time`, `not_recorded`, or the code of an error.
    reason_code: Option<String>,
    /// The values in `reason`.
    #[schema(value_type = Object)]
    reason_params: Map<String, Value>,
    /// Whether `replayed` was omitted because the answer reached its size limit.
    is_cut: bool,
}

/// Replay recorded calls of a tool with its draft or a version, and compare the results.
///
/// The tool must be pure or have the level `read` or `draft`. Steps with effects never run; they get their recorded
/// answers.
#[utoipa::path(post, path = "/api/tools/{tool}/replay", tag = "tools", operation_id = "replay_calls",
    params(("tool" = String, Path, description = "Slug or id"), ("Idempotency-Key" = Option<String>, Header)),
    request_body = Replay,
    responses((status = 200, body = ReplayView), (status = 404, body = ProblemDocument),
              (status = 409, description = "The tool has effects, or asks a person", body = ProblemDocument),
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
