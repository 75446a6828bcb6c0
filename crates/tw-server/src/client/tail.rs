//! Following events, over as many connections as it takes.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::StreamExt;
use reqwest::{Method, header};
use serde_json::Value;
use tokio::time::timeout;
use tw_model::EventKind;

use super::{Client, SILENCE, field, items, problem::Problem, sse};
use crate::output;

const AGAIN_AFTER: Duration = Duration::from_secs(1);
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(15);

/// What is followed.
struct Followed {
    session: String,
    /// Only this run's events, up to its end.
    run: Option<String>,
    /// Where the next connection goes on.
    last: Option<String>,
    new: bool,
}

/// How a connection ended.
enum TailEnd {
    /// What was followed has come to its end.
    Done,
    Lost {
        why: String,
    },
}

/// Follows a session, or a run to its end, and shows every event once.
pub(super) async fn follow(
    client: &Client,
    id: Option<String>,
    new: bool,
    show: impl Fn(&Value) -> Result<()>,
) -> Result<()> {
    let mut followed = find(client, id, new).await?;
    let mut pause = AGAIN_AFTER;
    loop {
        let before = followed.last.clone();
        match connection(client, &mut followed, &show).await? {
            TailEnd::Done => return Ok(()),
            TailEnd::Lost { why } => output::note(&format!("{why}; connecting again")),
        }
        if followed.last != before {
            pause = AGAIN_AFTER;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(AGAIN_AFTER_MAX);
    }
}

/// Finds out whether an id is a run's or a session's.
async fn find(client: &Client, id: Option<String>, new: bool) -> Result<Followed> {
    let run = match &id {
        None => {
            let runs = client.list(&["runs"], &[], Some(1)).await?;
            let run = items(&runs).next().context("there is no run yet")?.clone();
            output::note(&format!("run {} of {}", field(&run, "run_id"), field(&run, "tool")));
            Some(run)
        }
        Some(id) => match client.get(&["runs", id], &[]).await {
            Ok(run) => Some(run),
            Err(error) => match error.downcast_ref::<Problem>().and_then(Problem::code) {
                // Then it is a session's, or nothing's.
                Some("NOT_FOUND" | "RUN_NOT_FOUND") => None,
                _ => return Err(error),
            },
        },
    };
    let (session, run) = match (run, id) {
        (Some(run), _) => (field(&run, "session_id"), Some(field(&run, "run_id"))),
        (None, id) => (id.unwrap_or_default(), None),
    };
    Ok(Followed { session, run, last: None, new })
}

async fn connection(
    client: &Client,
    followed: &mut Followed,
    show: &impl Fn(&Value) -> Result<()>,
) -> Result<TailEnd> {
    let first = followed.last.is_none();
    let after = (first && followed.new).then(|| "latest".to_owned());
    let url = client.url(&["sessions", &followed.session, "events", "stream"], &[("after", after)])?;
    let mut request = client.request(Method::GET, url).header(header::ACCEPT, "text/event-stream");
    if let Some(last) = &followed.last {
        request = request.header("Last-Event-ID", last);
    }
    let response = match client.send(request).await {
        Ok(response) => response,
        // Once it has worked, a server that is away is waited for, but not one that refuses.
        Err(error) if !first && is_passing(&error) => return Ok(TailEnd::Lost { why: error.to_string() }),
        Err(error) => return Err(error),
    };
    let mut pieces = response.bytes_stream();
    let mut parser = sse::Parser::default();
    loop {
        let piece = match timeout(SILENCE, pieces.next()).await {
            Ok(Some(Ok(piece))) => piece,
            Ok(Some(Err(_)) | None) => return Ok(TailEnd::Lost { why: "the stream broke off".to_owned() }),
            Err(_) => return Ok(TailEnd::Lost { why: "the server has gone silent".to_owned() }),
        };
        for message in parser.push(&piece)? {
            let event: Value =
                serde_json::from_str(&message.data).context("the server sent an event that is not JSON")?;
            followed.last = message.id.or_else(|| followed.last.take());
            let run = event["run_id"].as_str();
            if followed.run.is_some() && run != followed.run.as_deref() {
                continue;
            }
            show(&event)?;
            let kind = event["type"].as_str().and_then(EventKind::parse);
            if followed.run.is_some() && kind.is_some_and(EventKind::is_terminal) {
                return Ok(TailEnd::Done);
            }
        }
    }
}

/// Whether the same request may succeed later.
fn is_passing(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Problem>() {
        Some(problem) => {
            matches!(problem.code(), None | Some("UNAVAILABLE" | "SHUTTING_DOWN" | "RATE_LIMITED"))
        }
        None => true,
    }
}
