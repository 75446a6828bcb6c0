//! HTTP by hand: what no well-behaved client would send.

use std::time::Duration;

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// How long the server may leave a connection without answering or closing it.
const PATIENCE: Duration = Duration::from_secs(15);

/// What came back on a connection.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answered(Response),
    /// Hung up without a word.
    Closed,
    /// Neither: the connection just stayed open.
    Hung,
}

/// An answer, read byte by byte.
#[derive(Debug, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Whether `100 Continue` came first.
    pub(crate) continued: bool,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value.as_str()))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

/// The head of a request with a `Host`, and whatever else is given as lines.
pub(crate) fn head(method: &str, target: &str, lines: &[&str]) -> String {
    let mut text = format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text
}

/// A request with a JSON body of a stated length.
pub(crate) fn with_body(method: &str, target: &str, lines: &[&str], body: &[u8]) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    let lines: Vec<&str> = lines.iter().copied().chain([length.as_str()]).collect();
    let mut request = head(method, target, &lines).into_bytes();
    request.extend_from_slice(body);
    request
}

pub(crate) async fn connect(url: &str) -> TcpStream {
    TcpStream::connect(url.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Sends bytes on a fresh connection and reads one answer.
pub(crate) async fn exchange(url: &str, request: &[u8]) -> Outcome {
    let (mut read, mut write) = connect(url).await.into_split();
    let sending = async {
        // A server that has refused the request already need not listen to the rest.
        let _ = write.write_all(request).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        outcome = answer(&mut read) => outcome,
        () = sending => unreachable!("sending never ends"),
    }
}

/// Sends bytes, says that no more will come, and reads whatever comes back until the server hangs up.
/// `None` when it does not.
pub(crate) async fn conversation(url: &str, request: &[u8]) -> Option<String> {
    let (mut read, mut write) = connect(url).await.into_split();
    let _ = write.write_all(request).await;
    let mut said = Vec::new();
    let mut piece = [0; 16 << 10];
    loop {
        match timeout(PATIENCE, read.read(&mut piece)).await {
            Err(_) => return None,
            // A reset ends a connection as well as a close does.
            Ok(Ok(0) | Err(_)) => return Some(String::from_utf8_lossy(&said).into_owned()),
            Ok(Ok(count)) => said.extend_from_slice(&piece[..count]),
        }
    }
}

/// Reads one answer, and `100 Continue` before it.
pub(crate) async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> Outcome {
    match timeout(PATIENCE, read_answer(stream)).await {
        Err(_) => Outcome::Hung,
        Ok(None) => Outcome::Closed,
        Ok(Some(response)) => Outcome::Answered(response),
    }
}

async fn read_answer(stream: &mut (impl AsyncRead + Unpin)) -> Option<Response> {
    let mut seen = Vec::new();
    let mut continued = false;
    loop {
        let end = read_until(stream, &mut seen, b"\r\n\r\n").await?;
        let head = String::from_utf8_lossy(&seen[..end]).into_owned();
        seen.drain(..end + 4);
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        if status == 100 {
            continued = true;
            continue;
        }
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
        let mut response = Response { status, headers, body: String::new(), continued };
        let length =
            response.header("content-length").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        while seen.len() < length {
            read_more(stream, &mut seen).await?;
        }
        response.body = String::from_utf8_lossy(&seen[..length]).into_owned();
        return Some(response);
    }
}

async fn read_until(stream: &mut (impl AsyncRead + Unpin), seen: &mut Vec<u8>, end: &[u8]) -> Option<usize> {
    loop {
        if let Some(at) = seen.windows(end.len()).position(|window| window == end) {
            return Some(at);
        }
        read_more(stream, seen).await?;
    }
}

async fn read_more(stream: &mut (impl AsyncRead + Unpin), seen: &mut Vec<u8>) -> Option<()> {
    let mut piece = [0; 16 << 10];
    match stream.read(&mut piece).await {
        Ok(0) | Err(_) => None,
        Ok(count) => {
            seen.extend_from_slice(&piece[..count]);
            Some(())
        }
    }
}
