//! Learns how a server is spoken to.
//!
//! The present revision is tried first, by `server/discover`, which has no effect in any revision: a call of a tool that
//! an older server might take for its own must not be what finds that out. Whatever is no answer of the present
//! revision makes it an older one, which is then opened with `initialize`. A server that knows that as little is called
//! without either.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{
    Error, ServerInfo,
    era::{self, EARLIER, PRESENT, SERVER_INFO, ServerManner},
    exchange::{RpcAnswer, Said, ServerLine, Terms},
    rpc::{self, RpcRequest},
};

pub(crate) const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";
const METHOD_NOT_FOUND: i64 = -32601;
const INITIALIZED: &str = "notifications/initialized";

/// An older server may not answer at all what it does not know.
const PROBE_FOR: Duration = Duration::from_secs(10);
const BYTES_MAX: usize = 1 << 20;

/// What was learned about a server.
#[derive(Clone, Debug)]
pub(crate) struct Greeting {
    pub(crate) manner: ServerManner,
    pub(crate) server: ServerInfo,
}

impl Greeting {
    /// Of a server that says nothing about itself.
    fn bare() -> Self {
        Self { manner: ServerManner::Bare, server: ServerInfo::default() }
    }
}

/// What the answer to the first request says about the server.
enum Probe {
    Present(Greeting),
    /// To be opened with `initialize`, under this revision.
    Earlier(&'static str),
}

/// Numbers for requests; a number is used once.
pub(crate) type Numbers<'a> = &'a (dyn Fn() -> u64 + Send + Sync);

/// Learns how a server is spoken to, and opens a session where it wants one.
pub(crate) async fn greet(
    line: &ServerLine,
    numbers: Numbers<'_>,
    deadline: Instant,
) -> Result<Greeting, Error> {
    // A process that is asked before its handshake need not answer at all.
    if line.target.process.is_some() {
        return initialize(line, numbers, EARLIER[0], deadline).await;
    }
    match probe(line, numbers, deadline).await? {
        Probe::Present(greeting) => Ok(greeting),
        Probe::Earlier(revision) => initialize(line, numbers, revision, deadline).await,
    }
}

/// Opens another session with a server that had one.
pub(crate) async fn greet_again(
    line: &ServerLine,
    numbers: Numbers<'_>,
    revision: &'static str,
    deadline: Instant,
) -> Result<Greeting, Error> {
    match initialize(line, numbers, revision, deadline).await {
        // It may have been replaced by a newer one in the meantime, which knows no handshake.
        Ok(Greeting { manner: ServerManner::Bare, .. })
        | Err(Error::Protocol { .. } | Error::Refused { .. } | Error::Revision { .. }) => {
            greet(line, numbers, deadline).await
        }
        greeting => greeting,
    }
}

async fn probe(line: &ServerLine, numbers: Numbers<'_>, deadline: Instant) -> Result<Probe, Error> {
    let mut params = Map::new();
    params.insert("_meta".to_owned(), Value::Object(era::request_meta()));
    let outgoing = RpcRequest { method: DISCOVER, id: numbers(), params };
    let left = deadline.saturating_duration_since(Instant::now());
    let until = Instant::now() + PROBE_FOR.min(left / 3);
    let mut terms = Terms::new(Some(&ServerManner::Stateless), until, BYTES_MAX);
    terms.headers.push(("mcp-method".to_owned(), DISCOVER.to_owned()));
    let answer = match twice(line, &outgoing, &terms).await {
        Ok(answer) => answer,
        Err(Error::Late { .. } | Error::Invalid { .. }) => return Ok(Probe::Earlier(EARLIER[0])),
        Err(error) => return Err(error),
    };
    match answer.said {
        Said::Result(result) => {
            let supported = era::revisions(result.get("supportedVersions"));
            match chosen(line, DISCOVER, &supported)? {
                Some(PRESENT) => Ok(Probe::Present(Greeting {
                    manner: ServerManner::Stateless,
                    server: ServerInfo::read(
                        line,
                        result.get("_meta").and_then(|meta| meta.get(SERVER_INFO)),
                        &result,
                    ),
                })),
                earlier => Ok(Probe::Earlier(earlier.unwrap_or(EARLIER[0]))),
            }
        }
        Said::Fault(fault) if era::is_of_present(&fault) => {
            match chosen(line, DISCOVER, &era::supported_by(&fault))? {
                Some(revision) if revision != PRESENT => Ok(Probe::Earlier(revision)),
                _ => Err(protocol(line, DISCOVER, &fault)),
            }
        }
        Said::Nothing(_) | Said::Fault(_) if is_refusal_of_the_request(answer.status) => {
            Ok(Probe::Earlier(EARLIER[0]))
        }
        Said::Fault(fault) => Err(protocol(line, DISCOVER, &fault)),
        Said::Nothing(text) => Err(Error::Refused { at: line.at(DISCOVER), status: answer.status, text }),
    }
}

/// Whether a status says that this request was not understood, and not that nobody is let in or that nothing works.
fn is_refusal_of_the_request(status: u16) -> bool {
    matches!(status, 200..300 | 400 | 404 | 405 | 406 | 415 | 422 | 500 | 501)
}

/// The best revision of those that a server names; `None` where it names none.
fn chosen(
    line: &ServerLine,
    method: &'static str,
    supported: &[String],
) -> Result<Option<&'static str>, Error> {
    match era::best(supported) {
        None if !supported.is_empty() => {
            Err(Error::Revision { at: line.at(method), supported: supported.to_vec() })
        }
        best => Ok(best),
    }
}

async fn initialize(
    line: &ServerLine,
    numbers: Numbers<'_>,
    revision: &'static str,
    deadline: Instant,
) -> Result<Greeting, Error> {
    let mut params = Map::new();
    params.insert("protocolVersion".to_owned(), json!(revision));
    params.insert("capabilities".to_owned(), json!({}));
    params.insert("clientInfo".to_owned(), era::client_info());
    let outgoing = RpcRequest { method: INITIALIZE, id: numbers(), params };
    let terms = Terms::new(None, deadline, BYTES_MAX);
    let RpcAnswer { status, session, said, .. } = twice(line, &outgoing, &terms).await?;
    let result = match said {
        Said::Result(result) if result.contains_key("protocolVersion") => result,
        Said::Result(_) => return Ok(Greeting::bare()),
        Said::Fault(fault) if fault.code == METHOD_NOT_FOUND => return Ok(Greeting::bare()),
        Said::Fault(fault) => return Err(protocol(line, INITIALIZE, &fault)),
        Said::Nothing(text) if knows_no_handshake(status, &text) => return Ok(Greeting::bare()),
        Said::Nothing(text) => return Err(Error::Refused { at: line.at(INITIALIZE), status, text }),
    };
    let named = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let Some(revision) = era::earlier(named) else {
        let supported = era::revisions(Some(&json!([named])));
        return Err(Error::Revision { at: line.at(INITIALIZE), supported });
    };
    let server = ServerInfo::read(line, result.get("serverInfo"), &result);
    let manner = ServerManner::Session { revision, id: session };
    let told = line.tell(INITIALIZED, rpc::notification(INITIALIZED, &json!({})), &manner, deadline).await?;
    if !(200..300).contains(&told) {
        return Err(Error::Refused { at: line.at(INITIALIZED), status: told, text: String::new() });
    }
    Ok(Greeting { manner, server })
}

/// Whether an answer without a message says that nothing is done by this name. One that wants a session knows more.
fn knows_no_handshake(status: u16, text: &str) -> bool {
    matches!(status, 404 | 405) || (status == 400 && !text.to_ascii_lowercase().contains("session"))
}

/// What a server says that may be none.
pub(crate) fn doubted(status: u16, text: &str) -> String {
    match status {
        404 | 405 => {
            let text = format!("is this the address of an MCP endpoint for streamable HTTP? {text}");
            text.trim().to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Asks what can be asked again where a connection broke.
pub(crate) async fn twice(
    line: &ServerLine,
    outgoing: &RpcRequest,
    terms: &Terms<'_>,
) -> Result<RpcAnswer, Error> {
    match line.ask(outgoing, terms).await {
        Err(Error::Unanswered { error, .. }) if error.is_retryable() => line.ask(outgoing, terms).await,
        answer => answer,
    }
}

pub(crate) fn protocol(line: &ServerLine, method: &'static str, fault: &rpc::RpcError) -> Error {
    let data = fault.data.clone().map(|data| line.redactor.value(data));
    Error::Protocol { at: line.at(method), code: fault.code, message: line.shown(&fault.message), data }
}
