//! Sessions: ordered logs of events, to page through and to follow.

use std::{convert::Infallible, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response,
        sse::{Event as Message, KeepAlive, Sse},
    },
};
use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tw_engine::{Event, EventReader, Session, StreamStart};
use tw_identity::rights::{Permit, ReadRuns, RunTools};
use tw_model::{Code, SessionId, Timestamp};
use tw_schema::Violation;
use uuid::Uuid;

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

/// How often a stream sends a heartbeat.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SessionView {
    id: Uuid,
    /// `chat`, `agent_run`, `collaborative`, `background` or `api`.
    kind: String,
    title: Option<String>,
    status: String,
    /// The sequence number of the newest event.
    last_seq: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Session> for SessionView {
    fn from(session: Session) -> Self {
        Self {
            id: session.id.uuid(),
            kind: session.kind,
            title: session.title,
            status: session.status,
            last_seq: session.last_seq,
            created_at: session.created,
            updated_at: session.updated,
        }
    }
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct EventView {
    id: Uuid,
    seq: i64,
    /// The type of the event, such as `tool.started`.
    r#type: &'static str,
    /// `null` if the event does not belong to a run.
    run_id: Option<Uuid>,
    session_id: Uuid,
    tool: Option<String>,
    #[schema(value_type = Object)]
    actor: Box<RawValue>,
    #[schema(value_type = Object)]
    payload: Box<RawValue>,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        Self {
            id: event.id.uuid(),
            seq: event.seq,
            r#type: event.kind.as_str(),
            run_id: event.run.map(tw_model::RunId::uuid),
            session_id: event.session.uuid(),
            tool: event.tool,
            actor: event.actor,
            payload: event.payload,
            at: event.at,
        }
    }
}

/// A page of events. It has no total, because a log grows.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct EventList {
    items: Vec<EventView>,
    /// The last sequence number of this page; send it as `after` or `cursor` to get the next page.
    next_cursor: Option<String>,
    total: Option<i64>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSession {
    #[serde(default)]
    title: Option<String>,
}

impl Body for NewSession {
    const READ_ONLY: &'static [&'static str] =
        &["id", "kind", "status", "last_seq", "created_at", "updated_at"];
}

/// Create a session.
#[utoipa::path(post, path = "/api/sessions", operation_id = "create_session", tag = "sessions", request_body = NewSession,
    params(("Idempotency-Key" = Option<String>, Header)),
    responses((status = 201, body = SessionView)))]
pub(crate) async fn create(
    write: Write<RunTools>,
    JsonBytes(body, bytes): JsonBytes<NewSession>,
) -> Result<Response> {
    if body.title.as_ref().is_some_and(|title| 500 < title.len()) {
        return Err(Problem::invalid("/title", Violation::max_bytes(500)));
    }
    write
        .once(&bytes, |Write { app, permit, .. }| async move {
            let session = app.engine.create_session(&permit, body.title.as_deref()).await?;
            Ok(JsonAnswer::new(StatusCode::CREATED, &SessionView::from(session)))
        })
        .await
}

/// Get a session. A run outside any session has its own session with the id of the run.
#[utoipa::path(get, path = "/api/sessions/{id}", operation_id = "get_session", tag = "sessions", params(("id" = Uuid, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadRuns>,
    Id(id): Id<SessionId>,
) -> Result<axum::Json<SessionView>> {
    Ok(axum::Json(app.engine.session(&permit, id).await?.into()))
}

/// List the events of a session in order.
#[utoipa::path(get, path = "/api/sessions/{id}/events", operation_id = "list_session_events", tag = "sessions",
    params(("id" = Uuid, Path), ("after" = Option<i64>, Query, description = "A sequence number"),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query)),
    responses((status = 200, body = EventList), (status = 404, body = ProblemDocument)))]
pub(crate) async fn events(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadRuns>,
    Id(id): Id<SessionId>,
    mut params: Params,
) -> Result<Response> {
    let number = || Violation::wrong_type("integer", "string");
    let after = match params.parsed::<u32>("after", number()) {
        Some(after) => Some(after),
        None => params.text("cursor").and_then(|_| params.parsed("cursor", number())),
    };
    let limit = params.limit()?;
    let (items, has_more) = app.engine.events(&permit, id, after.unwrap_or(0).into(), limit).await?;
    let next_cursor = items.last().filter(|_| has_more).map(|event| event.seq.to_string());
    place
        .page(move || EventList {
            items: items.into_iter().map(Into::into).collect(),
            next_cursor,
            total: None,
        })
        .await
}

/// Stream the events of a session as server-sent events. Their `id` is the sequence number.
///
/// The stream starts at the beginning, or after `Last-Event-ID` or `after`. With `after=latest` it has new events only.
#[utoipa::path(get, path = "/api/sessions/{id}/events/stream", operation_id = "stream_session_events", tag = "sessions",
    params(("id" = Uuid, Path), ("after" = Option<String>, Query, description = "A sequence number, or `latest`"),
           ("Last-Event-ID" = Option<i64>, Header)),
    responses((status = 200, description = "A stream of events", body = String, content_type = "text/event-stream"),
              (status = 404, body = ProblemDocument)))]
pub(crate) async fn stream(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadRuns>,
    Id(id): Id<SessionId>,
    params: Params,
    headers: HeaderMap,
) -> Result<Response> {
    let from = start_of(params, &headers)?;
    let reader = app.engine.follow(&permit, id, from).await;
    // A place that is not in the log is like one that cannot be read: a header is no parameter.
    let by_header = headers.contains_key("last-event-id");
    let reader = reader.map_err(|error| match Problem::from(error) {
        problem if by_header && problem.code() == Code::InvalidParams => problem.recoded(Code::BadRequest),
        problem => problem,
    })?;
    let messages = events_of(app, permit, reader).map(|event| Ok::<_, Infallible>(message(event)));
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response())
}

fn start_of(mut params: Params, headers: &HeaderMap) -> Result<StreamStart> {
    if let Some(last) = headers.get("last-event-id") {
        let seq = last.to_str().ok().and_then(|text| text.parse::<u32>().ok());
        let seq =
            seq.ok_or_else(|| Problem::new(Code::BadRequest, "`Last-Event-ID` must be a sequence number"))?;
        return Ok(StreamStart::After(seq.into()));
    }
    let place = |text: &str| match text {
        "latest" => Some(StreamStart::Latest),
        number => number.parse::<u32>().ok().map(|seq| StreamStart::After(seq.into())),
    };
    let from = params.read("after", place, Violation::sequence());
    params.check()?;
    Ok(from.unwrap_or(StreamStart::After(0)))
}

/// Ends when the reader loses the right to read, the database cannot be reached or the server is about to stop. A client
/// that reconnects continues where it was.
pub(super) fn events_of(
    app: App,
    permit: Permit<ReadRuns>,
    reader: EventReader,
) -> impl Stream<Item = Event> + Send + 'static {
    let lapse = app.engine.identity().lapse(&permit);
    let state = (app, permit, reader, std::collections::VecDeque::new());
    let events = futures::stream::unfold(state, |(app, mut permit, mut reader, mut ready)| async move {
        loop {
            tokio::select! {
                biased;
                () = app.engine.closing() => return None,
                () = std::future::ready(()), if !ready.is_empty() => {
                    let event = ready.pop_front()?;
                    return Some((event, (app, permit, reader, ready)));
                }
                events = reader.next() => {
                    let events = events.ok()?;
                    // Who lost the right while waiting is not told what happened since.
                    permit = app.engine.identity().renew(&permit).await.ok()?;
                    ready.extend(events);
                }
            }
        }
    });
    events.take_until(lapse)
}

pub(super) fn message(event: Event) -> Message {
    let view = EventView::from(event);
    let data = serde_json::to_string(&view).expect("an event is plain JSON");
    Message::default().id(view.seq.to_string()).event(view.r#type).data(data)
}
