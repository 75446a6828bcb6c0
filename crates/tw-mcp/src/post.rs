//! The way of one request.

use std::{convert::Infallible, time::Duration};

use axum::{
    body::{Body, HttpBody as _},
    extract::{Extension, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::{Value, json, value::RawValue};
use tokio_util::sync::DropGuard;
use tw_base::{Asker, Error, Turn, Turns};
use tw_identity::{
    Freshness,
    rights::{Permit, RunTools},
};
use tw_model::{BearerError, Caller, Channel, RunId};

use crate::{
    Door,
    call::{WantedCall, forbidden},
    era::{self, EARLIER, Era},
    listing::GET_RUN,
    mirrored::ParamHeaders,
    reports::CallReports,
    room::{ROOM, Room},
    rpc::{
        INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, OVER_LIMIT, PARSE_ERROR,
        RpcFault, RpcParams, UNAUTHENTICATED, respond, respond_kept, result,
    },
};

/// After this long a call is answered as a stream, whose heartbeat tells the client that it goes on.
const PLAIN_FOR: Duration = Duration::from_secs(3);
const HEARTBEAT: Duration = Duration::from_secs(5);
/// The end of a stream whose key is gone.
const LAPSED: &str = "the API key expired or was revoked while the call was running; the run goes on";
/// How long a body may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How many messages may come at once, and how many of them, from all batches of a tenant, are worked on at once.
const BATCH_MAX: usize = 50;
pub(crate) const BATCH_AT_ONCE: usize = 8;

/// Goes with an answer: the run that was made for it.
#[derive(Clone, Copy, Debug)]
struct RunMade(RunId);

pub(crate) async fn only_post() -> Response {
    let body = "this server keeps no session and no stream: send each request by POST";
    (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST")], body).into_response()
}

pub(crate) async fn post(
    State(door): State<Door>,
    turn: Option<Extension<Turn>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match door.take(turn.map(|turn| turn.0), &headers, body).await {
        Ok(response) => response,
        Err(fault) => fault.answer(None),
    }
}

impl Door {
    async fn take(&self, turn: Option<Turn>, headers: &HeaderMap, body: Body) -> Result<Response, RpcFault> {
        // Who asks is settled before a byte of the body is read.
        let caller = match self.caller(turn.as_ref(), headers).await {
            Ok(caller) => caller,
            Err(refusal) => return Ok(refusal),
        };
        if let Some(turn) = &turn {
            turn.take_as(caller.tenant).await;
        }
        let is_json = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if is_json.is_none_or(|kind| !kind.trim_start().to_ascii_lowercase().starts_with("application/json"))
        {
            let text = "a request must be `application/json`";
            return Err(RpcFault {
                status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ..RpcFault::new(INVALID_REQUEST, text)
            });
        }
        let bytes = read(body, self.settings.body_limit).await?;
        tw_schema::scan(&bytes).map_err(|fault| RpcFault::bad_request(PARSE_ERROR, fault.to_string()))?;
        if bytes.trim_ascii_start().starts_with(b"[") {
            let turns = turn.map(Turn::part).unwrap_or_default();
            return self.take_batch(caller, &bytes, headers, &turns).await;
        }
        Ok(match Message::read(&bytes) {
            Ok(message) => self.take_message(caller, &message, headers, accepts_stream(headers)).await,
            Err((fault, id)) => fault.answer(id),
        })
    }

    /// Several messages at once, all of them answered together.
    async fn take_batch(
        &self,
        caller: Caller,
        bytes: &[u8],
        headers: &HeaderMap,
        turns: &Turns,
    ) -> Result<Response, RpcFault> {
        era::takes_batches(headers)?;
        let messages: Vec<&RawValue> = serde_json::from_slice(bytes).unwrap_or_default();
        if !(1..=BATCH_MAX).contains(&messages.len()) {
            let text = format!("a batch must have 1 to {BATCH_MAX} messages");
            return Err(RpcFault::bad_request(INVALID_REQUEST, text));
        }
        let room = Room::default();
        let mut each = Vec::with_capacity(messages.len());
        for message in messages {
            let (turn, asker) = (turns.begin(), Asker::Tenant(caller.tenant));
            let entry = self.take_entry(caller.clone(), message.get().as_bytes(), headers, &room);
            each.push(async move {
                let begun = async {
                    turn.take(asker).await;
                    entry.await
                };
                turn.hold(begun).await
            });
        }
        let mut answers = stream::iter(each).buffered(BATCH_AT_ONCE);
        let mut body = vec![b'['];
        while let Some(answer) = answers.next().await {
            if 1 < body.len() && !answer.is_empty() {
                body.push(b',');
            }
            body.extend_from_slice(&answer);
        }
        if body.len() == 1 {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        body.push(b']');
        Ok(respond(StatusCode::OK, body.into()))
    }

    /// One message of a batch. It is begun once there is room for its answer, so that no call is made that could not be
    /// told. A list or a run that turns out too long is left out, since it can be asked for again; a call that was made
    /// is told by its run.
    async fn take_entry(&self, caller: Caller, bytes: &[u8], headers: &HeaderMap, room: &Room) -> Bytes {
        let message = match Message::read(bytes) {
            Ok(message) => message,
            Err((fault, id)) => return body_of(fault.answer(id)).await,
        };
        if message.id.is_none() {
            return body_of(self.take_message(caller, &message, headers, false).await).await;
        }
        if message.method == "initialize" {
            let fault = RpcFault::new(INVALID_REQUEST, "`initialize` must come alone");
            return body_of(fault.answer(message.id)).await;
        }
        let Some(reserved) = room.reserve().await else {
            let fault = self.not_called(&caller, &message, too_much(None)).await;
            return body_of(fault.answer(message.id)).await;
        };
        let _place = self.batches.enter(caller.tenant).await;
        let answer = self.take_message(caller, &message, headers, false).await;
        let made = answer.extensions().get::<RunMade>().copied();
        match reserved.take(size_of(&answer)) {
            Ok(()) => body_of(answer).await,
            Err(reserved) => {
                let short = body_of(too_much(made).answer(message.id)).await;
                // It fits, unless the client's own id is too long; and that it has sent itself.
                drop(reserved.take(short.len()));
                short
            }
        }
    }

    /// A fault of a message, which counts if the message was to be a call.
    async fn not_called(&self, caller: &Caller, message: &Message<'_>, fault: RpcFault) -> RpcFault {
        if message.method != "tools/call" {
            return fault;
        }
        self.turned_away(caller, &message.shown_name(), fault).await
    }

    async fn take_message(
        &self,
        caller: Caller,
        message: &Message<'_>,
        headers: &HeaderMap,
        may_stream: bool,
    ) -> Response {
        let Some(id) = message.id else {
            // A notification asks for nothing, and but one of them means nothing to a server without sessions.
            if message.method == "notifications/cancelled"
                && let Some(id) = message.params.get("requestId")
            {
                self.calls.take_back(caller.key, &id.to_string());
            }
            return StatusCode::ACCEPTED.into_response();
        };
        match Era::of(message, headers) {
            Ok(era) => {
                let repeated = (era == Era::Present).then(|| ParamHeaders::of(headers));
                self.answer(caller, message, id, (era, repeated), may_stream).await
            }
            Err(fault) => self.not_called(&caller, message, fault).await.answer(Some(id)),
        }
    }

    async fn answer(
        &self,
        caller: Caller,
        message: &Message<'_>,
        id: &RawValue,
        (era, repeated): (Era, Option<ParamHeaders>),
        may_stream: bool,
    ) -> Response {
        let written = match (message.method.as_str(), era) {
            ("initialize", _) => Ok(initialized(&message.params).to_string()),
            ("server/discover", Era::Present) => Ok(discovered().to_string()),
            ("ping", Era::Earlier) => Ok("{}".to_owned()),
            ("tools/list", _) => match self.list(caller, &message.params, era).await {
                Ok(listed) => return respond_kept(id, listed),
                Err(fault) => Err(fault),
            },
            ("tools/call", _) => match self.wanted(caller, message, repeated).await {
                Ok((permit, wanted)) => {
                    let (listener, reports) = CallReports::of(&message.params, may_stream);
                    let wanted = wanted.watched(listener);
                    return self.call_or_stream(permit, wanted, id, era, may_stream.then_some(reports)).await;
                }
                Err(fault) => Err(fault),
            },
            (method, _) => {
                let status = if era == Era::Present { StatusCode::NOT_FOUND } else { StatusCode::OK };
                let text = format!("there is no method {method} here");
                Err(RpcFault { status, ..RpcFault::new(METHOD_NOT_FOUND, text) })
            }
        };
        match written {
            Ok(written) => respond(StatusCode::OK, result(id, &written)),
            Err(fault) => fault.answer(Some(id)),
        }
    }

    async fn list(&self, caller: Caller, params: &RpcParams<'_>, era: Era) -> Result<Bytes, RpcFault> {
        let permit = Permit::<RunTools>::check(caller).map_err(|error| forbidden(&error))?;
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(RpcFault::new(INVALID_PARAMS, "`cursor` must be left out: the list has one page"));
        }
        self.listed(&permit, era).await.map_err(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "a list over MCP failed");
            RpcFault {
                status: StatusCode::SERVICE_UNAVAILABLE,
                ..RpcFault::new(INTERNAL_ERROR, format!("{}: {error}", error.code().as_str()))
            }
        })
    }

    /// Answers plainly when the call is soon over, and as a stream with a heartbeat when it is not, or when there is
    /// something to report before: some clients hang up on a connection that stays silent. Without reports it may be no
    /// stream.
    async fn call_or_stream(
        &self,
        permit: Permit<RunTools>,
        wanted: WantedCall,
        id: &RawValue,
        era: Era,
        reports: Option<CallReports>,
    ) -> Response {
        let (door, owned_id) = (self.clone(), id.to_owned());
        let lapse = Box::pin(self.engine.identity().lapse(&permit));
        let entered = self.calls.enter(permit.caller().key, id);
        let mut call = Box::pin(async move {
            let hung_up = (era == Era::Present).then(|| entered.unwanted().drop_guard());
            let called = door.call(&permit, wanted, era, entered.unwanted()).await;
            // Whatever goes on from here was answered so.
            hung_up.map(DropGuard::disarm);
            match called {
                Ok(told) => Ok((result(&owned_id, &told.result), told.run)),
                Err(fault) => Err(fault.answer(Some(&owned_id))),
            }
        });
        let Some(mut reports) = reports else {
            return call.await.map_or_else(
                |fault| fault,
                |(body, run)| {
                    let mut answer = respond(StatusCode::OK, body);
                    if let Some(run) = run {
                        answer.extensions_mut().insert(RunMade(run));
                    }
                    answer
                },
            );
        };
        let soon = async {
            tokio::select! {
                biased;
                Some(report) = reports.next() => Err(Some(report)),
                ended = &mut call => Ok(ended),
                () = tokio::time::sleep(PLAIN_FOR) => Err(None),
            }
        };
        match soon.await {
            Ok(Ok((body, _))) => respond(StatusCode::OK, body),
            Ok(Err(fault)) => fault,
            Err(report) => {
                let refusal = unauthenticated(LAPSED, Some(id));
                let first = stream::iter(report.map(|report| event(&report)));
                let events = stream::unfold(Some((call, lapse, refusal, reports)), |open| async {
                    let (mut call, mut lapse, refusal, mut reports) = open?;
                    tokio::select! {
                        biased;
                        () = &mut lapse => {
                            // A run that has begun goes on, also after the key behind it is gone.
                            tokio::spawn(call);
                            Some((event(&body_of(refusal).await), None))
                        }
                        Some(report) = reports.next() => {
                            Some((event(&report), Some((call, lapse, refusal, reports))))
                        }
                        ended = &mut call => {
                            let body = match ended {
                                Ok((body, _)) => body,
                                Err(fault) => body_of(fault).await,
                            };
                            Some((event(&body), None))
                        }
                        () = tokio::time::sleep(HEARTBEAT) => {
                            let beat = Bytes::from_static(b": still running\n\n");
                            Some((beat, Some((call, lapse, refusal, reports))))
                        }
                    }
                });
                let headers = [
                    (header::CONTENT_TYPE, "text/event-stream"),
                    (header::CACHE_CONTROL, "no-store"),
                    // Asks proxies to pass on each event at once.
                    (header::HeaderName::from_static("x-accel-buffering"), "no"),
                ];
                (headers, Body::from_stream(first.chain(events).map(Ok::<_, Infallible>))).into_response()
            }
        }
    }

    /// Who calls what, once both are known to be in order. A refusal is audited as by the other door.
    async fn wanted(
        &self,
        caller: Caller,
        message: &Message<'_>,
        repeated: Option<ParamHeaders>,
    ) -> Result<(Permit<RunTools>, WantedCall), RpcFault> {
        let may_run = self.engine.may_run(caller, &message.shown_name()).await;
        let permit = may_run.map_err(|error| forbidden(&error))?;
        match WantedCall::read(&message.params, repeated) {
            Ok(wanted) => Ok((permit, wanted)),
            Err(fault) => Err(self.not_called(permit.caller(), message, fault).await),
        }
    }

    async fn caller(&self, turn: Option<&Turn>, headers: &HeaderMap) -> Result<Caller, Response> {
        let values = headers.get_all(header::AUTHORIZATION).iter().map(header::HeaderValue::as_bytes);
        let key = match tw_model::bearer(values) {
            Ok(Some(key)) => key,
            Ok(None) | Err(BearerError::NoBearer) => {
                return Err(unauthenticated("send `Authorization: Bearer <API key>`", None));
            }
            Err(error @ BearerError::Doubled) => {
                return Err(RpcFault::bad_request(INVALID_REQUEST, error.to_string()).answer(None));
            }
        };
        // What nobody here knows is looked for in the database, and a stranger can send as much of it as it likes.
        if let Some(turn) = turn.filter(|_| !self.engine.identity().knows_key(key)) {
            turn.take_as_stranger().await;
        }
        match self.engine.identity().by_key(key, Freshness::Heard).await {
            Ok(caller) => {
                let trace = headers.get("traceparent").and_then(|value| value.to_str().ok()?.parse().ok());
                Ok(caller.via(Channel::Mcp, trace))
            }
            Err(Error::Unauthenticated { why }) => Err(unauthenticated(why, None)),
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "a key could not be looked up");
                let fault = RpcFault::new(INTERNAL_ERROR, format!("{}: {error}", error.code().as_str()));
                Err(RpcFault { status: StatusCode::SERVICE_UNAVAILABLE, ..fault }.answer(None))
            }
        }
    }
}

/// Reads a body, as far as it keeps to its limits in bytes and in time.
async fn read(body: Body, limit: usize) -> Result<Bytes, RpcFault> {
    let read = Limited::new(body, limit).collect();
    let Ok(read) = tokio::time::timeout(BODY_PATIENCE, read).await else {
        let text = format!("the body must arrive within {BODY_PATIENCE:?}");
        return Err(RpcFault::bad_request(INVALID_REQUEST, text));
    };
    match read {
        Ok(read) => Ok(read.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(RpcFault {
            status: StatusCode::PAYLOAD_TOO_LARGE,
            ..RpcFault::new(INVALID_REQUEST, format!("a request must have at most {limit} bytes"))
        }),
        Err(_) => Err(RpcFault::bad_request(INVALID_REQUEST, "the body ended early")),
    }
}

fn accepts_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|line| line.split(',')).any(|kind| kind.trim().starts_with("text/event-stream"))
}

fn event(body: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(body.len() + 24);
    event.extend_from_slice(b"event: message\ndata: ");
    event.extend_from_slice(body);
    event.extend_from_slice(b"\n\n");
    event.into()
}

/// What stands inside a stream or a batch has no status of its own.
async fn body_of(response: Response) -> Bytes {
    response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default()
}

/// How long an answer is. A list that is kept ready says so in its header.
fn size_of(answer: &Response) -> usize {
    let announced =
        answer.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    announced.unwrap_or_else(|| usize::try_from(answer.body().size_hint().lower()).unwrap_or(usize::MAX))
}

fn too_much(made: Option<RunMade>) -> RpcFault {
    let why = format!("the answers to this batch must have at most {ROOM} bytes together");
    match made {
        None => RpcFault::new(OVER_LIMIT, format!("{why}: send this alone")),
        Some(RunMade(run)) => RpcFault {
            data: Some(json!({ "run_id": run.to_string() })),
            ..RpcFault::new(OVER_LIMIT, format!("{why}: the call was made, collect it with {GET_RUN}"))
        },
    }
}

fn unauthenticated(why: &str, id: Option<&RawValue>) -> Response {
    let fault = RpcFault { status: StatusCode::UNAUTHORIZED, ..RpcFault::new(UNAUTHENTICATED, why) };
    let mut response = fault.answer(id);
    let challenge = header::HeaderValue::from_static("Bearer realm=\"toolwright\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

fn server_info() -> Value {
    json!({ "name": "toolwright", "title": "Toolwright", "version": env!("CARGO_PKG_VERSION") })
}

const INSTRUCTIONS: &str = "Every call is checked and recorded. A call that a person has to approve answers with the \
                            status needs_approval, a run_id and a link for that person; collect its result with get_run.";

/// The handshake of earlier revisions. Nothing of it is kept.
fn initialized(params: &RpcParams<'_>) -> Value {
    let wanted = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = EARLIER.iter().find(|version| **version == wanted).unwrap_or(&EARLIER[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": era::supported(),
        "capabilities": { "tools": {} },
        "instructions": INSTRUCTIONS,
        "ttlMs": 3_600_000,
        "cacheScope": "private",
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// A body that sends a byte every so often, and never ends.
    fn trickle(every: Duration) -> Body {
        Body::from_stream(stream::unfold((), move |()| async move {
            tokio::time::sleep(every).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b" ")), ()))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_arrives_slowly_is_cut_off_whether_it_stands_still_or_trickles() {
        for every in [Duration::from_secs(1), Duration::from_secs(3600)] {
            let began = Instant::now();
            let fault = read(trickle(every), 1 << 20).await.unwrap_err();
            assert_eq!((fault.status, began.elapsed()), (StatusCode::BAD_REQUEST, BODY_PATIENCE));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_is_too_long_is_cut_off_as_soon_as_it_is() {
        let fault = read(trickle(Duration::from_millis(1)), 100).await.unwrap_err();
        assert_eq!(fault.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(read(Body::from("{}"), 2).await.unwrap(), "{}");
    }
}
