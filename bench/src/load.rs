//! The load: keep-alive connections that send one request after another, on one thread.
//!
//! Written by hand because the machine is small: a client library would take more of it than the server
//! that is measured.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::LocalSet,
};
use tw_bench::bodies::{self, MCP_VERSION};

/// How long all of a load may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Arc<[u8]>,
    /// What its answer has to be, byte for byte.
    answer: Option<Arc<[u8]>>,
}

impl Request {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), answer: None }
    }

    /// The same request, which from now on has to be answered like this.
    pub(crate) fn answered(self, answer: &[u8]) -> Self {
        Self { answer: Some(answer.into()), ..self }
    }

    fn check(&self, body: &[u8]) -> Result<()> {
        let is_known = self.answer.as_deref().is_none_or(|answer| answer == body);
        ensure!(is_known, "answered otherwise than before: {}", String::from_utf8_lossy(body));
        Ok(())
    }
}

/// The bytes of a request with a JSON body.
pub(crate) fn post(path: &str, key: Option<&str>, body: &[u8]) -> Request {
    with_body("POST", path, &credentials(key), body)
}

pub(crate) fn patch(path: &str, key: &str, body: &[u8]) -> Request {
    with_body("PATCH", path, &credentials(Some(key)), body)
}

/// A call of a tool over MCP.
pub(crate) fn tools_call(tool: &str, key: Option<&str>, input: &Value) -> Request {
    mcp(&format!("Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"), key, &bodies::tools_call(tool, input))
}

/// A call of a tool of an MCP server of this revision, by nobody in particular.
pub(crate) fn tools_call_at(path: &str, revision: &str, tool: &str, input: &Value) -> Request {
    if revision == MCP_VERSION {
        return tools_call(tool, None, input);
    }
    let headers =
        format!("Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {revision}\r\n");
    with_body("POST", path, &headers, &bodies::tools_call_earlier(tool, input))
}

/// The list of tools over MCP.
pub(crate) fn tools_list(key: Option<&str>) -> Request {
    mcp("Mcp-Method: tools/list\r\n", key, &bodies::tools_list())
}

fn mcp(routing: &str, key: Option<&str>, body: &[u8]) -> Request {
    let headers = format!(
        "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {MCP_VERSION}\r\n{routing}{}",
        credentials(key)
    );
    with_body("POST", "/mcp", &headers, body)
}

fn with_body(method: &str, path: &str, headers: &str, body: &[u8]) -> Request {
    let length = body.len();
    let mut bytes = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    Request::new(bytes)
}

pub(crate) fn get(path: &str, key: &str) -> Request {
    let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n", credentials(Some(key)));
    Request::new(head.into_bytes())
}

fn credentials(key: Option<&str>) -> String {
    key.map(|key| format!("Authorization: Bearer {key}\r\n")).unwrap_or_default()
}

/// What came of a load.
#[derive(Debug)]
pub(crate) struct Took {
    pub(crate) elapsed: Duration,
    /// Of each call, in microseconds, sorted.
    latencies: Vec<u32>,
}

impl Took {
    pub(crate) fn calls(&self) -> usize {
        self.latencies.len()
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.calls() as f64 / self.elapsed.as_secs_f64()
    }

    /// The median latency in microseconds.
    pub(crate) fn p50(&self) -> f64 {
        self.latencies.get(self.latencies.len() / 2).copied().unwrap_or(0).into()
    }
}

/// Sends `calls` requests over `connections` connections, taking the given ones in turn.
pub(crate) fn run(port: u16, requests: &[Request], connections: usize, calls: usize) -> Result<Took> {
    let requests: Arc<[Request]> = requests.into();
    let load = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, async {
            tokio::time::timeout(PATIENCE, all(port, requests, connections, calls))
                .await
                .context("the load took too long")?
        })
    });
    load.join().map_err(|_| anyhow::anyhow!("the load panicked"))?
}

/// Sends one request and returns the body of its answer.
pub(crate) fn ask(port: u16, request: &Request) -> Result<Vec<u8>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async { Ok(Client::connect(port).await?.call(request).await?.to_vec()) })
}

async fn all(port: u16, requests: Arc<[Request]>, connections: usize, calls: usize) -> Result<Took> {
    let mut clients = Vec::new();
    for _ in 0..connections {
        clients.push(Client::connect(port).await?);
    }
    let began = Instant::now();
    let mut tasks = Vec::new();
    for (number, mut client) in clients.into_iter().enumerate() {
        let requests = Arc::clone(&requests);
        tasks.push(tokio::task::spawn_local(async move {
            let mut latencies = Vec::new();
            for turn in (number..calls).step_by(connections) {
                let request = &requests[turn % requests.len()];
                let sent = Instant::now();
                let body = client.call(request).await?;
                latencies.push(u32::try_from(sent.elapsed().as_micros()).unwrap_or(u32::MAX));
                request.check(body)?;
            }
            anyhow::Ok(latencies)
        }));
    }
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await??);
    }
    let elapsed = began.elapsed();
    latencies.sort_unstable();
    Ok(Took { elapsed, latencies })
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.context("connect")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request and returns the body of its answer, which has to be a success.
    pub(crate) async fn call(&mut self, request: &Request) -> Result<&[u8]> {
        self.stream.write_all(&request.bytes).await.context("send")?;
        self.buffer.clear();
        let (start, length) = loop {
            self.receive().await?;
            if let Some(head) = find(&self.buffer, b"\r\n\r\n") {
                break (head + 4, self.check_head(head)?);
            }
        };
        while self.buffer.len() < start + length {
            self.receive().await?;
        }
        let body = &self.buffer[start..];
        // A run that failed is answered with 200 too, and says so near its beginning. Pages may hold some.
        let is_page = body.starts_with(br#"{"items""#);
        if !is_page && find(&body[..body.len().min(200)], br#""status":"error""#).is_some() {
            bail!("the run failed: {}", String::from_utf8_lossy(body));
        }
        Ok(body)
    }

    async fn receive(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.buffer).await.context("receive")?;
        ensure!(read != 0, "the server hung up: {}", String::from_utf8_lossy(&self.buffer));
        Ok(())
    }

    fn check_head(&self, end: usize) -> Result<usize> {
        let head = &self.buffer[..end];
        ensure!(head.starts_with(b"HTTP/1.1 20"), "refused: {}", String::from_utf8_lossy(&self.buffer));
        let name = b"content-length: ";
        let start = find(head, name).context("an answer without a length")? + name.len();
        let digits = head[start..].split(|byte| *byte == b'\r').next().unwrap_or_default();
        Ok(std::str::from_utf8(digits)?.parse()?)
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
