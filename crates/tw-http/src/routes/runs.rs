//! Runs: what was called, and how it went.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tw_engine::{Answer, PendingCall, Run, RunFilter};
use tw_identity::rights::{CancelRuns, ReadRuns};
use tw_model::{Code, Effect, Mode, RunId, RunStatus, SessionId, Source, Timestamp, WaitsFor};
use tw_schema::Violation;
use uuid::Uuid;

use super::{List, models::UsageView};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    body::JsonBytes,
    idempotent::Write,
    members::Body,
    problem::{Problem, ProblemDocument, Result},
    query::{Id, Params},
};

/// A run, as its caller sees it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RunAnswer {
    run_id: Uuid,
    tool: String,
    version: String,
    /// `running`, `success`, `error`, `pending`, `needs_approval`, `cancelled` or `timed_out`.
    status: &'static str,
    /// `null` while the run is open.
    success: Option<bool>,
    #[schema(value_type = Option<Value>)]
    output: Option<Box<RawValue>>,
    summary: Option<String>,
    markdown: Option<String>,
    /// The log lines of the tool; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    logs: Vec<String>,
    error: Option<String>,
    error_code: Option<&'static str>,
    duration_ms: Option<i64>,
    session_id: Uuid,
    /// The effects of a run that was interrupted: `none` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    /// The usage of language models by the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageView>,
    /// The pending approval, if one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<Uuid>,
    /// The call that a worker or a person must answer: the run's own, or that of the innermost run it waits for. Also present
    /// after a timeout, while a late answer is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_tool_call_id: Option<Uuid>,
}

/// How a run waits, or waited, for a worker or a person.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PendingToolCall {
    id: Uuid,
    /// `worker` or `person`.
    waits_for: &'static str,
    /// `waiting` while the caller waits, `pending` once it has stopped waiting, `resolved`, `expired` or `cancelled`.
    status: &'static str,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    answered_by: Option<String>,
}

/// A recorded run.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct RunRecord {
    #[serde(flatten)]
    answer: RunAnswer,
    parent_run_id: Option<Uuid>,
    #[schema(value_type = Option<Object>)]
    input: Option<Box<RawValue>>,
    source: &'static str,
    channel: &'static str,
    mode: &'static str,
    /// Who called.
    #[schema(value_type = Object)]
    actor: Box<RawValue>,
    #[schema(value_type = String, format = DateTime)]
    requested_at: Timestamp,
    /// `null` if the run has not started.
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_tool_call: Option<PendingToolCall>,
    /// The answer that came after the run had timed out: the result, or `{ error }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<serde_json::Value>)]
    late_result: Option<Box<RawValue>>,
}

/// The call that a run waits for, if a worker or a person answers it.
fn to_answer(answer: &Answer) -> Option<&PendingCall> {
    let outside = |call: &&PendingCall| matches!(call.waits_for, WaitsFor::Worker | WaitsFor::Person);
    answer.pending.as_ref().filter(outside)
}

impl From<Answer> for RunAnswer {
    fn from(answer: Answer) -> Self {
        let unanswered = matches!(answer.run.status, RunStatus::Pending | RunStatus::TimedOut);
        let pending = to_answer(&answer).filter(|_| unanswered).map(|call| call.id.uuid());
        let Answer { run, approval, .. } = answer;
        Self {
            run_id: run.id.uuid(),
            tool: run.tool,
            version: run.version,
            status: run.status.as_str(),
            success: (!run.status.is_open()).then_some(run.status == RunStatus::Success),
            output: run.output,
            summary: run.summary,
            markdown: run.markdown,
            logs: run.logs,
            error: run.error,
            error_code: run.error_code.map(Code::as_str),
            duration_ms: run.duration_us.map(|duration| duration / 1000),
            session_id: run.session.uuid(),
            effect: run.effect.map(Effect::as_str),
            usage: run.usage.map(Into::into),
            approval_id: approval.map(tw_model::ApprovalId::uuid),
            pending_tool_call_id: pending,
        }
    }
}

impl From<Answer> for RunRecord {
    fn from(mut answer: Answer) -> Self {
        let nobody = || RawValue::from_string("null".to_owned()).expect("null is JSON");
        let call = to_answer(&answer).filter(|call| call.run == answer.run.id);
        let late = call.filter(|_| answer.run.status == RunStatus::TimedOut);
        let late_result = late.and_then(super::calls::said_of);
        let pending_tool_call = call.map(|call| PendingToolCall {
            id: call.id.uuid(),
            waits_for: call.waits_for.as_str(),
            status: super::calls::status_of(call, answer.run.status),
            expires_at: call.expires,
            answered_by: call.answered_by.clone(),
        });
        let run = &mut answer.run;
        Self {
            pending_tool_call,
            late_result,
            parent_run_id: run.parent.map(RunId::uuid),
            input: run.input.take(),
            source: run.source.as_str(),
            channel: run.channel.as_str(),
            mode: run.mode.as_str(),
            actor: RawValue::from_string(std::mem::take(&mut run.actor)).unwrap_or_else(|_| nobody()),
            requested_at: run.requested,
            started_at: run.started,
            finished_at: run.finished,
            answer: answer.into(),
        }
    }
}

/// 200 for a run that has ended; 202 with its location for one that has not.
pub(crate) fn answered(answer: Answer) -> JsonAnswer {
    answered_as(answer, |run| run)
}

/// Like [`answered`], with more properties.
pub(crate) fn answered_as<V: Serialize>(answer: Answer, view: impl FnOnce(RunAnswer) -> V) -> JsonAnswer {
    let place = answer.run.status.is_open().then(|| format!("/api/runs/{}", answer.run.id));
    let view = view(RunAnswer::from(answer));
    match place {
        Some(place) => JsonAnswer::new(StatusCode::ACCEPTED, &view).with(header::LOCATION, &place),
        None => JsonAnswer::new(StatusCode::OK, &view),
    }
}

/// List runs, newest first: your own, or all of the tenant if you may see them.
#[utoipa::path(get, path = "/api/runs", operation_id = "list_runs", tag = "runs",
    params(("tool" = Option<String>, Query), ("status" = Option<String>, Query), ("source" = Option<String>, Query),
           ("session_id" = Option<Uuid>, Query), ("parent_run_id" = Option<Uuid>, Query),
           ("error_code" = Option<String>, Query), ("mode" = Option<String>, Query),
           ("since" = Option<String>, Query, description = "Runs that started (or, before their start, were requested) at or after this time"),
           ("until" = Option<String>, Query, description = "Runs that started (or, before their start, were requested) before this time"),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<RunRecord>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadRuns>,
    mut params: Params,
) -> Result<Response> {
    let id = || Violation::format("uuid");
    let statuses = "running, success, error, pending, needs_approval, cancelled, timed_out";
    let filter = RunFilter {
        tool: params.text("tool"),
        status: params.word("status", RunStatus::parse, statuses),
        source: params.word("source", Source::parse, "web, agent, api, embed"),
        session: params.parsed::<SessionId>("session_id", id()),
        parent: params.parsed::<RunId>("parent_run_id", id()),
        principal: None,
        error_code: params.text("error_code"),
        mode: params.word("mode", Mode::parse, "production, debug"),
        since: params.moment("since"),
        until: params.moment("until"),
    };
    let page = app.engine.runs(&permit, filter, &params.page()?).await?;
    let record = |run: Run| RunRecord::from(Answer { run, approval: None, pending: None, is_repeat: false });
    place.page(move || List::from(page.map(record))).await
}

/// Get a run.
#[utoipa::path(get, path = "/api/runs/{id}", operation_id = "get_run", tag = "runs", params(("id" = Uuid, Path)),
    responses((status = 200, body = RunRecord), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadRuns>,
    Id(id): Id<RunId>,
) -> Result<axum::Json<RunRecord>> {
    let answer = app.engine.run(&permit, id).await?;
    Ok(axum::Json(answer.into()))
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelRequest {
    /// The reason, for the log.
    #[serde(default)]
    reason: Option<String>,
}

impl Body for CancelRequest {}

/// Cancel a run that has not ended, on whichever server it runs.
#[utoipa::path(post, path = "/api/runs/{id}/cancel", operation_id = "cancel_run", tag = "runs",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    request_body = CancelRequest,
    responses((status = 200, body = RunAnswer), (status = 404, body = ProblemDocument),
              (status = 409, description = "The run has already ended", body = ProblemDocument)))]
pub(crate) async fn cancel(
    write: Write<CancelRuns>,
    Id(id): Id<RunId>,
    JsonBytes(body, bytes): JsonBytes<CancelRequest>,
) -> Result<Response> {
    if body.reason.as_ref().is_some_and(|reason| 4000 < reason.len()) {
        return Err(Problem::invalid("/reason", Violation::max_bytes(4_000)));
    }
    write
        .once(&bytes, |Write { app, permit, .. }| async move {
            Ok(answered(app.engine.cancel(&permit, id, body.reason.as_deref()).await?))
        })
        .await
}
