//! `toolwright mcp`: a bridge for clients that start their servers as programs. Lines in, requests out, answers as lines.

mod add;

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};

use anyhow::{Context, Result};
use clap::Subcommand;
use futures::StreamExt;
use reqwest::{Method, Url, header};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};

use super::{Client, SILENCE, Server, sse};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add this server to the settings of an MCP client, after showing the change
    #[command(after_help = "Examples:\n  \
        toolwright mcp add cursor\n  \
        toolwright mcp add vscode --name tools --yes\n\n\
        The client starts `toolwright mcp --profile NAME`; no key is written into its settings.")]
    Add(add::Args),
}

pub(crate) async fn run(server: &Server, command: Option<Command>) -> Result<()> {
    match command {
        Some(Command::Add(args)) => add::run(server, &args),
        None => bridge(server).await,
    }
}

/// Carries what stands on standard input to the server and what it answers to standard output, until the
/// input ends. Requests do not wait for each other.
async fn bridge(server: &Server) -> Result<()> {
    let client = Arc::new(server.client()?);
    let mut url = client.base.clone();
    url.path_segments_mut()
        .map_err(|()| anyhow::anyhow!("the address has no path"))?
        .pop_if_empty()
        .push("mcp");
    let mut lines = lines_of_input();
    let mut under_way = JoinSet::new();
    // What was agreed on in the handshake goes into every later request.
    let mut version: Option<String> = None;
    while let Some(line) = lines.recv().await {
        let line = line.context("cannot read standard input")?;
        if line.trim().is_empty() {
            continue;
        }
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let carry = Carry { client: Arc::clone(&client), url: url.clone() };
        if message["method"] == "initialize" {
            // Nothing else is sent before the answer to this is there.
            let answer = carry.send(line, &message, None).await?;
            version = answer.pointer("/result/protocolVersion").and_then(Value::as_str).map(str::to_owned);
        } else {
            let version = version.clone();
            under_way.spawn(async move {
                if let Err(error) = carry.send(line, &message, version).await {
                    // Nobody waits for an answer to it; standard error is where such programs complain.
                    let _ = writeln!(io::stderr(), "toolwright mcp: {error:#}");
                }
            });
        }
        while under_way.try_join_next().is_some() {}
    }
    while under_way.join_next().await.is_some() {}
    Ok(())
}

/// One message on its way.
struct Carry {
    client: Arc<Client>,
    url: Url,
}

/// Standard input can only be waited for by a thread.
fn lines_of_input() -> mpsc::UnboundedReceiver<io::Result<String>> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Carry {
    /// Sends a message and writes down what comes back, which is also returned.
    async fn send(&self, line: String, message: &Value, version: Option<String>) -> Result<Value> {
        let answer = match self.answer(line, message, version).await {
            Ok(answer) => answer,
            // Whoever asked waits for an answer under its number.
            Err(error) if message.get("id").is_some() => json!({
                "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32603, "message": format!("{error:#}") },
            }),
            Err(error) => return Err(error),
        };
        if !answer.is_null() {
            let mut text = answer.to_string();
            text.push('\n');
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())
                .and_then(|()| out.flush())
                .context("cannot write to standard output")?;
        }
        Ok(answer)
    }

    async fn answer(&self, line: String, message: &Value, version: Option<String>) -> Result<Value> {
        let present = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        let version = present.and_then(Value::as_str).map(str::to_owned).or(version);
        let mut request = self
            .client
            .request(Method::POST, self.url.clone())
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(version) = version {
            request = request.header("MCP-Protocol-Version", version);
        }
        if let Some(method) = message["method"].as_str() {
            request = request.header("Mcp-Method", method);
        }
        if let Some(name) = message.pointer("/params/name").and_then(Value::as_str) {
            request = request.header("Mcp-Name", name);
        }
        let response = request.body(line).send().await.context("cannot reach the server")?;
        let streams = response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if !streams {
            let bytes = response.bytes().await.context("the server hung up")?;
            // A notification is answered with nothing.
            return if bytes.is_empty() {
                Ok(Value::Null)
            } else {
                serde_json::from_slice(&bytes).context("the server's answer is not MCP: check the address")
            };
        }
        let (mut pieces, mut parser) = (response.bytes_stream(), sse::Parser::default());
        while let Ok(Some(piece)) = tokio::time::timeout(SILENCE, pieces.next()).await {
            if let Some(message) = parser.push(&piece.context("the server hung up")?)?.into_iter().next() {
                return serde_json::from_str(&message.data)
                    .context("the server's answer is not MCP: check the address");
            }
        }
        anyhow::bail!("the server stopped in the middle of an answer")
    }
}
