//! Calls that somebody outside answers: workers, who fetch them here, and people.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response,
        sse::{Event as Message, KeepAlive, Sse},
    },
};
use futures::{Stream, StreamExt};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, value::RawValue};
use tw_engine::{Answered, PendingCall, Run, WorkerCalls, answer_schema};
use tw_identity::rights::{AnswerCalls, Permit};
use tw_model::{Code, PendingCallId, PendingState, RunId, RunStatus, Timestamp};
use tw_schema::Violation;
use uuid::Uuid;

use super::{List, json, runs::RunAnswer};
use crate::{
    App,
    auth::{Allowed, AllowedList},
    body::read_json,
    members::Body,
    problem::{Problem, ProblemDocument, Result},
    query::{Id, Params},
};

/// The size limit of a result as JSON.
const RESULT_BYTES_MAX: usize = 10 << 20;
/// Room for the rest of the body: the call's id, and white space.
const AROUND_BYTES_MAX: usize = 4 << 10;
/// How often a stream sends a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(10);
const TOOLS_MAX: usize = 200;

/// A call that a person or a worker answers.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PendingCallView {
    id: Uuid,
    run_id: Uuid,
    tool: String,
    version: String,
    #[schema(value_type = Option<Object>)]
    input: Option<Box<RawValue>>,
    /// The schema that a result must match, as the tool had it when it was called.
    #[schema(value_type = Option<Object>)]
    output_schema: Option<Arc<Value>>,
    /// `production`, or `debug` for a test call.
    mode: &'static str,
    /// `worker` or `person`.
    waits_for: &'static str,
    /// `waiting` while the caller waits, `pending` once it has stopped waiting, `resolved`, `expired` or `cancelled`.
    status: &'static str,
    /// Whether the run has timed out. A result is still accepted and stored with the run.
    late: bool,
    /// Who called.
    requested_by: String,
    #[schema(value_type = String, format = DateTime)]
    requested_at: Timestamp,
    /// When the run times out.
    #[schema(value_type = Option<String>, format = DateTime)]
    deadline: Option<Timestamp>,
    /// Until when a result is accepted.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    answered_by: Option<String>,
    /// The answer, if the caller may see it: the result, or `{ error }`.
    #[schema(value_type = Option<Value>)]
    result: Option<Box<RawValue>>,
}

impl PendingCallView {
    fn of((call, run): (PendingCall, Run)) -> Result<Self> {
        Ok(Self {
            output_schema: answer_schema(&call)?,
            id: call.id.uuid(),
            run_id: run.id.uuid(),
            mode: run.mode.as_str(),
            waits_for: call.waits_for.as_str(),
            status: status_of(&call, run.status),
            late: is_late(&call, run.status),
            result: said_of(&call),
            requested_by: run.principal,
            requested_at: call.created,
            deadline: call.deadline,
            expires_at: call.expires,
            answered_by: call.answered_by,
            tool: run.tool,
            version: run.version,
            input: run.input,
        })
    }
}

/// The status of a call, in the words of the API.
pub(crate) fn status_of(call: &PendingCall, run: RunStatus) -> &'static str {
    match call.state {
        PendingState::Waiting if call.deadline.is_some() && run == RunStatus::Pending => "waiting",
        PendingState::Waiting | PendingState::Ready | PendingState::Claimed => "pending",
        PendingState::Resolved => "resolved",
        PendingState::Expired => "expired",
        PendingState::Cancelled => "cancelled",
    }
}

fn is_late(call: &PendingCall, run: RunStatus) -> bool {
    call.state == PendingState::Waiting && run == RunStatus::TimedOut
}

/// The answer to a call: the result, or `{ error }`.
pub(crate) fn said_of(call: &PendingCall) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Said {
        #[serde(default, deserialize_with = "present")]
        result: Option<Box<RawValue>>,
    }
    let said = call.result.as_deref()?;
    let result = serde_json::from_str::<Said>(said.get()).ok().and_then(|said| said.result);
    Some(result.unwrap_or_else(|| said.to_owned()))
}

/// The answer to a call: a `result` or an `error`.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolResultRequest {
    /// `callId` is accepted too.
    #[serde(default, alias = "callId")]
    #[schema(value_type = String, required = true)]
    call_id: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Value, required = false)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<String>,
}

impl Body for ToolResultRequest {}

/// `null` is a result like any other.
fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// Answer a call. The first answer counts; sending the same answer again changes nothing.
///
/// The run is the call's own run or one that waits for it. An answer that arrives after the run has timed out is stored as `late_result`.
#[utoipa::path(post, path = "/api/runs/{id}/tool-results", operation_id = "submit_tool_result", tag = "calls",
    params(("id" = Uuid, Path)), request_body = ToolResultRequest,
    responses((status = 200, body = RunAnswer), (status = 404, body = ProblemDocument),
              (status = 409, description = "The call has another answer, or was cancelled", body = ProblemDocument),
              (status = 410, description = "The deadline has passed", body = ProblemDocument),
              (status = 413, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn submit(
    State(app): State<App>,
    Allowed(permit): Allowed<AnswerCalls>,
    Id(run): Id<RunId>,
    request: Request,
) -> Result<Response> {
    app.engine.may_answer(&permit, run).await?;
    let (body, _) = read_json::<ToolResultRequest>(request, RESULT_BYTES_MAX + AROUND_BYTES_MAX).await?;
    let call = body.call_id.ok_or_else(|| Problem::invalid("/call_id", Violation::required()))?;
    let call: PendingCallId =
        call.parse().map_err(|_| Problem::from(tw_base::Error::NotFound { what: "call" }))?;
    let answered = match (body.result, body.error) {
        (Some(result), None) => Answered::Result(value_of(&result)?),
        (None, Some(error)) if error.trim().is_empty() => {
            return Err(Problem::invalid("/error", Violation::not_empty()));
        }
        (None, Some(error)) => Answered::Error(error),
        (None, None) => return Err(Problem::invalid("", Violation::one_member(["result", "error"]))),
        (Some(_), Some(_)) => return Err(Problem::invalid("", Violation::one_member(["result", "error"]))),
    };
    let answer = app.engine.answer_call(&permit, run, call, answered).await?;
    Ok(json(StatusCode::OK, &RunAnswer::from(answer)))
}

fn value_of(result: &RawValue) -> Result<Value> {
    if RESULT_BYTES_MAX < result.get().len() {
        let detail = format!("the result is over {RESULT_BYTES_MAX} bytes");
        return Err(Problem::new(Code::PayloadTooLarge, detail));
    }
    serde_json::from_str(result.get()).map_err(|_| Problem::invalid("/result", Violation::json()))
}

/// List the calls that a person must answer, oldest first, including those whose run has timed out.
#[utoipa::path(get, path = "/api/pending-calls", operation_id = "list_pending_calls", tag = "calls",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<PendingCallView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<AnswerCalls>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.calls_for_people(&permit, &params.page()?).await?;
    let page = page.try_map(PendingCallView::of)?;
    place.page(move || List::from(page)).await
}

/// Get a call that a person or a worker answers.
#[utoipa::path(get, path = "/api/pending-calls/{id}", operation_id = "get_pending_call", tag = "calls",
    params(("id" = Uuid, Path)),
    responses((status = 200, body = PendingCallView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<AnswerCalls>,
    Id(id): Id<PendingCallId>,
) -> Result<axum::Json<PendingCallView>> {
    let found = app.engine.call_to_answer(&permit, id).await?;
    Ok(axum::Json(PendingCallView::of(found)?))
}

/// A call, as it is sent to a worker.
#[derive(Debug, Serialize)]
struct ToolCall {
    call_id: Uuid,
    run_id: Uuid,
    tool: String,
    input: Option<Box<RawValue>>,
    deadline: Option<Timestamp>,
    expires_at: Timestamp,
    /// Whether the run has timed out. A result is still accepted.
    late: bool,
}

/// Stream the calls for a worker as server-sent events `tool.call`.
///
/// The stream starts with every open call, oldest first. Each call is sent to one worker. If a worker disconnects, its
/// unanswered calls go to other workers. A worker that reconnects with `Last-Event-ID` keeps the calls that it received
/// up to that event; they are not sent again.
#[utoipa::path(get, path = "/api/workers/stream", operation_id = "stream_worker_calls", tag = "calls",
    params(("tools" = Option<String>, Query, description = "Slugs of tools, separated by commas; default: all tools"),
           ("Last-Event-ID" = Option<Uuid>, Header)),
    responses((status = 200, description = "A stream of calls", body = String, content_type = "text/event-stream")))]
pub(crate) async fn stream(
    State(app): State<App>,
    Allowed(permit): Allowed<AnswerCalls>,
    mut params: Params,
    headers: HeaderMap,
) -> Result<Response> {
    let after = match headers.get("last-event-id") {
        None => None,
        Some(last) => {
            let id = last.to_str().ok().and_then(|text| text.parse::<PendingCallId>().ok());
            let wrong = || Problem::new(Code::BadRequest, "`Last-Event-ID` must be the id of a call");
            Some(id.ok_or_else(wrong)?)
        }
    };
    let tools = params.text("tools").unwrap_or_default();
    params.check()?;
    let tools: Vec<String> =
        tools.split(',').map(str::trim).filter(|tool| !tool.is_empty()).map(str::to_owned).collect();
    if TOOLS_MAX < tools.len() {
        return Err(Problem::new(Code::BadRequest, format!("`tools` must name at most {TOOLS_MAX} tools")));
    }
    let calls = app.engine.worker_calls(&permit, tools, after)?;
    Ok(Sse::new(messages(app, permit, calls))
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response())
}

/// Ends when the worker loses its right, the database cannot be reached or the server is about to stop. A worker that
/// reconnects continues where it was.
fn messages(
    app: App,
    permit: Permit<AnswerCalls>,
    calls: WorkerCalls,
) -> impl Stream<Item = std::result::Result<Message, Infallible>> {
    let lapse = app.engine.identity().lapse(&permit);
    let state = (app, permit, calls, VecDeque::new());
    let messages = futures::stream::unfold(state, |(app, mut permit, mut calls, mut ready)| async move {
        if ready.is_empty() {
            let next =
                calls.next().await.inspect_err(|error| tracing::debug!(%error, "a worker's stream ends"));
            let told = next.ok()?;
            // What a worker without the right has taken goes back to the others with the end of its stream.
            permit = app.engine.identity().renew(&permit).await.ok()?;
            ready.extend(told.into_iter().map(message));
        }
        Some((Ok(ready.pop_front()?), (app, permit, calls, ready)))
    });
    messages.take_until(lapse)
}

fn message((call, run): (PendingCall, Run)) -> Message {
    let told = ToolCall {
        call_id: call.id.uuid(),
        run_id: run.id.uuid(),
        late: is_late(&call, run.status),
        tool: run.tool,
        input: run.input,
        deadline: call.deadline,
        expires_at: call.expires,
    };
    let data = serde_json::to_string(&told).expect("a call is plain JSON");
    Message::default().id(told.call_id.to_string()).event("tool.call").data(data)
}
