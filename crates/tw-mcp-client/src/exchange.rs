//! One request to a server, and the answer that belongs to it.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};
use toolwright_sdk::{HeavyPool, INLINE_BYTES_MAX, Redactor, ToolProgress};
use tw_egress::{
    AnswerPart, Egress, Error as EgressError, EventTooLarge, Method, OpenResponse, Request, Site, SseReader,
};

use crate::{
    At, Error, ListWatch, Overrun, Target,
    era::ServerManner,
    process::{McpProcess, ProcessGone},
    rpc::{self, Incoming, RpcError, RpcRequest, text_of},
};

/// How many requests of its own a server may make before it answers.
const ASKS_MAX: usize = 100;
/// How long the answer to such a request, or a notification, may be under way.
pub(crate) const ASIDE_FOR: Duration = Duration::from_secs(5);
/// How large the answer to one of these may be. It says nothing.
const ASIDE_BYTES_MAX: usize = 64 << 10;
/// How long a stream may go on behind its answer; the connection serves again once it has ended.
const REST_FOR: Duration = Duration::from_secs(1);
const SESSION_CHARS_MAX: usize = 1_024;

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";
const METHOD_NOT_FOUND: i64 = -32601;

/// A server, and the way to it.
#[derive(Clone)]
pub(crate) struct ServerLine {
    pub(crate) egress: Egress,
    pub(crate) target: Arc<Target>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) site: Site,
    watch: Option<Arc<dyn ListWatch>>,
}

/// What is sent along with a request, and what its answer may take.
#[derive(Debug)]
pub(crate) struct Terms<'a> {
    /// `None` before it is known how the server is spoken to.
    pub(crate) manner: Option<&'a ServerManner>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) deadline: Instant,
    pub(crate) bytes: usize,
    pub(crate) progress: Option<&'a mpsc::Sender<ToolProgress>>,
}

impl<'a> Terms<'a> {
    pub(crate) fn new(manner: Option<&'a ServerManner>, deadline: Instant, bytes: usize) -> Self {
        Self { manner, headers: Vec::new(), deadline, bytes, progress: None }
    }
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct RpcAnswer {
    pub(crate) status: u16,
    /// The session that the server names.
    pub(crate) session: Option<String>,
    /// How large the message was.
    pub(crate) bytes: usize,
    pub(crate) said: Said,
}

#[derive(Debug)]
pub(crate) enum Said {
    Result(Map<String, Value>),
    Fault(RpcError),
    /// No message of the protocol; what stands there instead.
    Nothing(String),
}

impl ServerLine {
    pub(crate) fn new(egress: Egress, target: &Target, watch: Option<Arc<dyn ListWatch>>) -> Self {
        let redactor = Arc::new(target.redactor());
        let site = match &target.process {
            Some(process) => Site::named(&process.command().name),
            None => Site::in_text(&target.url),
        };
        Self { egress, target: Arc::new(target.clone()), redactor, site, watch }
    }

    /// Tells whoever watches that the tools of the server may be other than they were.
    pub(crate) fn may_have_changed(&self) {
        if let Some(watch) = &self.watch {
            watch.may_have_changed(self.target.tenant, &self.target.url);
        }
    }

    pub(crate) fn at(&self, method: &'static str) -> At {
        At { method, site: self.site.clone() }
    }

    /// A text of the server, as an error shows it. Secrets are taken out before it is cut, or a cut through one would
    /// leave its beginning.
    pub(crate) fn shown(&self, text: &str) -> String {
        text_of(&self.redactor.text(text.to_owned()))
    }

    /// Sends a request and waits for the answer that belongs to it.
    pub(crate) async fn ask(&self, outgoing: &RpcRequest, terms: &Terms<'_>) -> Result<RpcAnswer, Error> {
        if let Some(process) = &self.target.process {
            let began = Instant::now();
            let late = |_| Error::Late { at: self.at(outgoing.method), after: began.elapsed() };
            return timeout_at(terms.deadline, self.ask_process(process, outgoing, terms))
                .await
                .map_err(late)?;
        }
        let at = || self.at(outgoing.method);
        let unanswered = |error: EgressError| self.unanswered(outgoing.method, error, terms);
        let left = terms.deadline.saturating_duration_since(Instant::now());
        let mut request = self.request(outgoing.body(), terms.manner, left).body_max(terms.bytes);
        for (name, value) in &terms.headers {
            request = request.header(name, value);
        }
        let response = self.egress.open(request).await.map_err(unanswered)?;
        let (status, session) = (response.status, session_of(&response));
        if status == 401 {
            let challenge = response.headers.get("www-authenticate").map(|text| self.shown(text));
            return Err(Error::Unauthorized { at: at(), challenge });
        }
        let is_success = (200..300).contains(&status);
        if is_success && content_type(&response) == STREAM {
            let (said, bytes) = self.read_stream(response, outgoing, terms).await?;
            return Ok(RpcAnswer { status, session, bytes, said });
        }
        let kind = content_type(&response);
        let whole = response.read().await.map_err(unanswered)?;
        let bytes = whole.body.len();
        let parsed = self.parsed(outgoing.method, &whole.body, terms.deadline).await;
        let found = match parsed {
            Ok(message) => found(message, outgoing.id),
            Err(error @ Error::Busy { .. }) => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        match found {
            Ok(said) => Ok(RpcAnswer { status, session, bytes, said }),
            Err(_) if !is_success => {
                let text = self.shown(&String::from_utf8_lossy(&whole.in_utf8()));
                Ok(RpcAnswer { status, session, bytes, said: Said::Nothing(text) })
            }
            Err(_) if whole.body.trim_ascii().is_empty() => {
                Err(Error::Invalid { at: at(), why: format!("it is HTTP {status} without a body") })
            }
            Err(_) if kind != JSON => {
                let why = format!("its type is `{}`, not `{JSON}` or `{STREAM}`", text_of(&kind));
                Err(Error::Invalid { at: at(), why })
            }
            Err(why) => Err(Error::Invalid { at: at(), why }),
        }
    }

    /// The same, of a server that is a process.
    async fn ask_process(
        &self,
        process: &McpProcess,
        outgoing: &RpcRequest,
        terms: &Terms<'_>,
    ) -> Result<RpcAnswer, Error> {
        let at = || self.at(outgoing.method);
        let gone = |gone| self.gone(outgoing.method, gone);
        let session = terms.manner.and_then(ServerManner::session);
        let heard = process.ask(outgoing.id, &outgoing.body(), session).await.map_err(gone)?;
        let Some(mut heard) = heard else {
            let text = "the process was started anew and knows no session".to_owned();
            return Ok(RpcAnswer { status: 404, session: None, bytes: 0, said: Said::Nothing(text) });
        };
        let mut bytes = 0;
        loop {
            let message = heard.next().await.map_err(gone)?;
            bytes += message.len();
            if terms.bytes < bytes {
                return Err(Error::TooLarge { at: at(), over: Overrun::Bytes(terms.bytes) });
            }
            let read = self.parsed(outgoing.method, &message, terms.deadline).await?;
            let said = match Incoming::read(read, outgoing.id) {
                Incoming::Result(result) => Said::Result(result),
                Incoming::Fault(fault) => Said::Fault(fault),
                Incoming::Asks { id, method } => {
                    heard.write(&rpc::answer(&id, &answer_to(&method))).await.map_err(gone)?;
                    continue;
                }
                Incoming::Tells { method, params } => {
                    self.told(&method, &params, outgoing.id, terms);
                    continue;
                }
                Incoming::Other(why) => return Err(Error::Invalid { at: at(), why: why.to_owned() }),
            };
            let session = Some(heard.answered());
            return Ok(RpcAnswer { status: 200, session, bytes: message.len(), said });
        }
    }

    fn gone(&self, method: &'static str, ProcessGone { why, effect_possible }: ProcessGone) -> Error {
        Error::Gone { at: self.at(method), why, effect_possible }
    }

    /// Sends what has no answer.
    pub(crate) async fn tell(
        &self,
        method: &'static str,
        body: String,
        manner: &ServerManner,
        deadline: Instant,
    ) -> Result<u16, Error> {
        if let Some(process) = &self.target.process {
            let late = |_| Error::Late { at: self.at(method), after: ASIDE_FOR };
            let told = timeout_at(deadline, process.tell(&body)).await.map_err(late)?;
            return told.map(|()| 202).map_err(|gone| self.gone(method, gone));
        }
        let terms = Terms::new(Some(manner), deadline, ASIDE_BYTES_MAX);
        let left = deadline.saturating_duration_since(Instant::now());
        let request = self.request(body, Some(manner), left).body_max(ASIDE_BYTES_MAX);
        let sent = self.egress.open(request).await.map_err(|error| self.unanswered(method, error, &terms))?;
        Ok(sent.status)
    }

    fn request(&self, body: String, manner: Option<&ServerManner>, timeout: Duration) -> Request {
        let mut request = Request::new(Method::Post, self.target.url.clone());
        for (name, value) in &self.target.headers {
            request = request.header(name, value.as_str());
        }
        if let Some(bearer) = &self.target.bearer {
            request = request.header("authorization", format!("Bearer {}", bearer.token.as_str()));
        }
        request = request.header("accept", format!("{JSON}, {STREAM}")).header("content-type", JSON);
        if let Some(revision) = manner.and_then(ServerManner::revision) {
            request = request.header("mcp-protocol-version", revision);
        }
        if let Some(session) = manner.and_then(ServerManner::session) {
            request = request.header("mcp-session-id", session);
        }
        request.body(body).timeout(timeout)
    }

    fn unanswered(&self, method: &'static str, error: EgressError, terms: &Terms<'_>) -> Error {
        let at = self.at(method);
        match error {
            EgressError::Denied { .. } => Error::Denied { at, why: error.to_string() },
            EgressError::Timeout { after, .. } => Error::Late { at, after },
            EgressError::TooLarge { part: AnswerPart::Body { .. }, .. } => {
                Error::TooLarge { at, over: Overrun::Bytes(terms.bytes) }
            }
            error => Error::Unanswered { at, error },
        }
    }

    /// Reads a stream up to the answer.
    async fn read_stream(
        &self,
        mut response: OpenResponse,
        outgoing: &RpcRequest,
        terms: &Terms<'_>,
    ) -> Result<(Said, usize), Error> {
        let at = || self.at(outgoing.method);
        let mut reader = SseReader::new(terms.bytes);
        let mut asked = 0;
        let mut strange = None;
        loop {
            let piece = response.chunk().await;
            let piece = piece.map_err(|error| self.unanswered(outgoing.method, error, terms))?;
            let is_last = piece.is_none();
            let events = match piece {
                Some(bytes) => reader.feed(&bytes).map_err(|EventTooLarge| Error::TooLarge {
                    at: at(),
                    over: Overrun::Bytes(terms.bytes),
                })?,
                None => std::mem::replace(&mut reader, SseReader::new(0)).rest().into_iter().collect(),
            };
            for event in events.into_iter().filter(|event| !event.trim_ascii().is_empty()) {
                let message = self.parsed(outgoing.method, &event, terms.deadline).await?;
                match Incoming::read(message, outgoing.id) {
                    Incoming::Result(result) => {
                        end_aside(response);
                        return Ok((Said::Result(result), event.len()));
                    }
                    Incoming::Fault(fault) => {
                        end_aside(response);
                        return Ok((Said::Fault(fault), event.len()));
                    }
                    Incoming::Asks { id, method } => {
                        asked += 1;
                        if ASKS_MAX < asked {
                            let why = format!("it makes over {ASKS_MAX} requests of its own");
                            return Err(Error::Invalid { at: at(), why });
                        }
                        self.answer(&id, &method, terms).await;
                    }
                    Incoming::Tells { method, params } => {
                        self.told(&method, &params, outgoing.id, terms);
                    }
                    Incoming::Other(why) => strange = Some(why),
                }
            }
            if is_last {
                let more = strange
                    .map_or_else(String::new, |why| format!("; an earlier message was invalid: {why}"));
                let why = format!("the stream ended before the answer{more}");
                return Err(Error::Invalid { at: at(), why });
            }
        }
    }

    /// Answers a request of the server's own. In the present revision there are none.
    async fn answer(&self, id: &Value, method: &str, terms: &Terms<'_>) {
        let Some(manner @ ServerManner::Session { .. }) = terms.manner else { return };
        let result = answer_to(method);
        let deadline = terms.deadline.min(Instant::now() + ASIDE_FOR);
        // A server that does not take the answer goes on or gives up as it likes.
        let _ = self.tell("ping", rpc::answer(id, &result), manner, deadline).await;
    }

    /// What a server says that asks for no answer.
    fn told(&self, method: &str, params: &Value, id: u64, terms: &Terms<'_>) {
        match method {
            "notifications/progress" => self.report(params, id, terms),
            "notifications/tools/list_changed" => self.may_have_changed(),
            _ => {}
        }
    }

    /// Hands on a report about this request.
    fn report(&self, params: &Value, id: u64, terms: &Terms<'_>) {
        let Some(listener) = terms.progress else { return };
        let is_ours = params.get("progressToken").and_then(Value::as_u64) == Some(id);
        let Some(progress) = params.get("progress").and_then(Value::as_f64).filter(|_| is_ours) else {
            return;
        };
        let total = params.get("total").and_then(Value::as_f64);
        let message = params.get("message").and_then(Value::as_str).map(|text| self.shown(text));
        // Whoever watches slowly misses some.
        let _ = listener.try_send(ToolProgress { progress, total, message });
    }

    /// Reads JSON; a large one apart from everybody else.
    async fn parsed(&self, method: &'static str, bytes: &[u8], deadline: Instant) -> Result<Value, Error> {
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes);
        let parsed = if bytes.len() <= INLINE_BYTES_MAX {
            read(bytes)
        } else {
            let bytes = bytes.to_vec();
            self.apart(method, deadline, move || read(&bytes)).await?
        };
        parsed.map_err(|error| Error::Invalid { at: self.at(method), why: format!("it is no JSON: {error}") })
    }

    /// Does what may take long for a large answer, in the lane of the tenant.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        method: &'static str,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let left = deadline.saturating_duration_since(Instant::now());
        let done = HeavyPool::shared().run(self.target.tenant, left, work).await;
        done.map_err(|why| Error::Busy { at: self.at(method), why })
    }

    /// The same for an answer of this size: a small one is worked on at once.
    pub(crate) async fn sized<T: Send + 'static>(
        &self,
        method: &'static str,
        deadline: Instant,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        if bytes <= INLINE_BYTES_MAX { Ok(work()) } else { self.apart(method, deadline, work).await }
    }
}

/// What a server is answered that makes a request of its own.
fn answer_to(method: &str) -> Result<Value, (i64, &'static str)> {
    match method {
        "ping" => Ok(Value::Object(Map::new())),
        _ => Err((METHOD_NOT_FOUND, "this client takes no requests of that kind")),
    }
}

/// The answer in a body: one message, or several as one of the earlier revisions allows.
fn found(message: Value, id: u64) -> Result<Said, String> {
    let messages = match message {
        Value::Array(messages) => messages,
        message => vec![message],
    };
    let mut why = "it has no message";
    for message in messages {
        match Incoming::read(message, id) {
            Incoming::Result(result) => return Ok(Said::Result(result)),
            Incoming::Fault(fault) => return Ok(Said::Fault(fault)),
            Incoming::Asks { .. } | Incoming::Tells { .. } => why = "it has no answer to the request",
            Incoming::Other(other) => why = other,
        }
    }
    Err(why.to_owned())
}

fn content_type(response: &OpenResponse) -> String {
    let kind = response.headers.get("content-type").unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The session that a server names, where a header can carry it back.
fn session_of(response: &OpenResponse) -> Option<String> {
    let session = response.headers.get("mcp-session-id")?;
    let is_fit =
        (1..=SESSION_CHARS_MAX).contains(&session.len()) && session.bytes().all(|b| b.is_ascii_graphic());
    is_fit.then(|| session.to_owned())
}

/// Reads on to the end of a stream whose answer is there, so that its connection can be used again.
fn end_aside(mut response: OpenResponse) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        let _ = timeout(REST_FOR, rest).await;
    });
}
