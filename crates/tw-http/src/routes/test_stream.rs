//! Tests of tools that are watched while they run.

use std::{convert::Infallible, pin::pin, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event as Message, KeepAlive, Sse},
    },
};
use futures::{Stream, StreamExt};
use tw_engine::{Event, StreamStart};
use tw_identity::rights::{Permit, ReadRuns};
use tw_model::{EventKind, RunId};

use super::{
    sessions::{HEARTBEAT, events_of, message},
    tools::TestRequest,
};
use crate::{
    App,
    calling::Calling,
    problem::{ProblemDocument, Result},
};

/// Test a tool like `test`, and stream the events of the run as server-sent events.
///
/// `tool.output_appended` has the next piece of a text. `tool.completed`, `tool.failed` or `tool.cancelled` is the last
/// event. The run goes on if the connection closes.
#[utoipa::path(post, path = "/api/tools/{tool}/test/stream", operation_id = "stream_tool_test", tag = "tools",
    params(("tool" = String, Path, description = "Slug or id; with a definition also an unused slug"),
           ("Idempotency-Key" = Option<String>, Header, description = "Repeating the request with this key returns the same run")),
    request_body = TestRequest,
    responses((status = 200, description = "A stream of events", body = String, content_type = "text/event-stream"),
              (status = 404, body = ProblemDocument), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn stream(
    State(app): State<App>,
    Calling { permit: author, tool, key, body, bytes }: Calling<TestRequest>,
) -> Result<Response> {
    let permit = app.engine.may_run(author.caller().clone(), &tool).await?;
    let reader = Permit::<ReadRuns>::check(author.caller().clone())?;
    let mut request = body.call(tool, key.of_secret(&app.engine, &bytes));
    request.wait = Some(Duration::ZERO);
    let run = app.engine.call(&permit, request).await?.run;
    let events = app.engine.follow(&reader, run.session, StreamStart::After(0)).await?;
    let messages = until_end(events_of(app, reader, events), run.id);
    Ok(Sse::new(messages).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response())
}

/// Ends after the last event of the run.
fn until_end(
    events: impl Stream<Item = Event> + Send + 'static,
    run: RunId,
) -> impl Stream<Item = std::result::Result<Message, Infallible>> {
    futures::stream::unfold(Some(Box::pin(events)), move |events| async move {
        let mut events = events?;
        let event = pin!(events.next()).await?;
        let is_end = matches!(event.kind, EventKind::Completed | EventKind::Failed | EventKind::Cancelled);
        let rest = (!is_end || event.run != Some(run)).then_some(events);
        Some((Ok(message(event)), rest))
    })
}
