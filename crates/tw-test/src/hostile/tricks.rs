//! What the upstream does, by path. An unknown path is an ordinary `200` with the text `hello`.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use tokio::{io::AsyncWrite, time::interval};

use super::{Received, Then, say};

/// How often `/drip` sends a byte.
pub const DRIP: Duration = Duration::from_millis(20);
/// What `/gzip-bomb` unpacks to.
pub const BOMB_BYTES: usize = 64 << 20;
/// What `/huge` claims, and sends.
pub const HUGE_BYTES: usize = 500 << 20;
/// What `/short-length` says behind the answer that was asked for.
pub const FORGED: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged";

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

pub(super) async fn play(stream: &mut (impl AsyncWrite + Unpin), asked: &Received) -> io::Result<Then> {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    if let Some((answer, then)) = fixed(path) {
        say(stream, answer).await?;
        return Ok(then);
    }
    match path {
        "/hang" => return Ok(Then::Hold),
        "/drip" => {
            say(stream, CHUNKED).await?;
            return drip(stream).await;
        }
        "/endless" => {
            say(stream, CHUNKED).await?;
            return flood(stream, &chunk(&[b'x'; 16 << 10]), usize::MAX).await;
        }
        "/continue-forever" => return flood(stream, b"HTTP/1.1 100 Continue\r\n\r\n", usize::MAX).await,
        "/huge" => {
            say(stream, format!("HTTP/1.1 200 OK\r\ncontent-length: {HUGE_BYTES}\r\n\r\n")).await?;
            return flood(stream, &[0; 64 << 10], HUGE_BYTES / (64 << 10)).await;
        }
        "/gzip" => say(stream, packed(&gzip(b"hello, packed")?)).await?,
        "/gzip-bytewise" => {
            let body = gzip(b"hello, packed")?;
            let chunks: Vec<u8> = body.iter().flat_map(|byte| chunk(&[*byte])).collect();
            let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n";
            say(stream, [head.as_bytes(), &chunks, b"0\r\n\r\n"].concat()).await?;
        }
        "/gzip-cut" => {
            let body = gzip(b"hello, packed")?;
            say(stream, packed(&body[..body.len() - 6])).await?;
        }
        "/gzip-bomb" => {
            // Several members make one body, and packing one of them is quick.
            let body = gzip(&[0; 1 << 20])?.repeat(BOMB_BYTES >> 20);
            say(stream, packed(&body)).await?;
        }
        "/echo" => {
            let body = [asked.head.as_bytes(), b"\n\n", &asked.body].concat();
            say(stream, [length(body.len()).as_bytes(), &body].concat()).await?;
        }
        // What follows `to=` is sent as it stands.
        "/redirect" => {
            let to = query.strip_prefix("to=").unwrap_or_default();
            say(stream, format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")).await?;
        }
        "/big-header" => {
            let value = "x".repeat(4 << 20);
            say(stream, format!("HTTP/1.1 200 OK\r\nx-big: {value}\r\ncontent-length: 0\r\n\r\n")).await?;
        }
        "/many-headers" => {
            let headers: String = (0..1000).map(|n| format!("x-{n}: y\r\n")).collect();
            say(stream, format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n")).await?;
        }
        _ => match path.strip_prefix("/status/").and_then(|status| status.parse::<u16>().ok()) {
            Some(status) => {
                say(stream, format!("HTTP/1.1 {status} So\r\ncontent-length: 2\r\n\r\nso")).await?
            }
            None => say(stream, format!("{}hello", length(5))).await?,
        },
    }
    Ok(Then::NextRequest)
}

/// The ones that are a text and an end.
fn fixed(path: &str) -> Option<(String, Then)> {
    let with = |head: &str, body: &str| format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
    Some(match path {
        "/hang-after-headers" => (with("content-length: 10", ""), Then::Hold),
        "/never-close" => (with("x-length: none", "for now"), Then::Hold),
        "/close-to-end" => (with("connection: close", "hello"), Then::Close),
        "/silent-close" => (String::new(), Then::Close),
        "/silent-reset" => (String::new(), Then::Reset),
        "/reset" => (with("content-length: 100", "hello"), Then::Reset),
        "/wrong-length" => (with("content-length: 100", "hello"), Then::Close),
        "/short-length" => (with("content-length: 5", &format!("hello{FORGED}")), Then::NextRequest),
        "/not-a-length" => (with("content-length: five", "hello"), Then::Hold),
        "/two-lengths" => (with("content-length: 5\r\ncontent-length: 6", "hello!"), Then::Hold),
        "/same-length-twice" => (with("content-length: 5\r\ncontent-length: 5", "hello"), Then::Hold),
        "/length-list" => (with("content-length: 5, 5", "hello"), Then::Hold),
        "/length-and-chunks" => {
            (with("content-length: 5\r\ntransfer-encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"), Then::Hold)
        }
        "/two-types" => {
            (with("content-type: text/html\r\ncontent-type: text/plain\r\ncontent-length: 0", ""), Then::Hold)
        }
        "/two-places" => (
            "HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n".to_owned(),
            Then::Hold,
        ),
        "/odd-transfer" => (with("transfer-encoding: gzip, chunked", "0\r\n\r\n"), Then::Hold),
        "/bad-chunk" => (format!("{CHUNKED}zz\r\nhello\r\n0\r\n\r\n"), Then::Hold),
        "/huge-chunk" => (format!("{CHUNKED}fffffffffffffffff\r\nhello"), Then::Hold),
        "/cut-chunk" => (format!("{CHUNKED}a\r\nhello"), Then::Close),
        "/crlf-header" => (with("x-a: b\rx-c: d\r\ncontent-length: 0", ""), Then::Hold),
        "/nul-header" => (with("x-a: b\0c\r\ncontent-length: 0", ""), Then::Hold),
        "/no-http" => ("SSH-2.0-OpenSSH_9.6\r\n".to_owned(), Then::Hold),
        "/switch" => {
            let head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n";
            (head.to_owned(), Then::Hold)
        }
        "/not-gzip" => (with("content-encoding: gzip\r\ncontent-length: 5", "hello"), Then::Hold),
        "/no-gzip" => (with("content-encoding: gzip\r\ncontent-length: 0", ""), Then::NextRequest),
        "/brotli" => (with("content-encoding: br\r\ncontent-length: 5", "hello"), Then::Hold),
        "/cookies" => {
            let cookies = "set-cookie: a=1; path=/\r\nset-cookie: b=2; path=/\r\ncontent-length: 0";
            (with(cookies, ""), Then::NextRequest)
        }
        _ => return None,
    })
}

/// A byte now and then: never silent for long, and never done.
pub(super) async fn drip(stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<Then> {
    let mut pace = interval(DRIP);
    loop {
        pace.tick().await;
        say(stream, chunk(b"x")).await?;
    }
}

pub(super) async fn flood(
    stream: &mut (impl AsyncWrite + Unpin),
    piece: &[u8],
    times: usize,
) -> io::Result<Then> {
    for _ in 0..times {
        say(stream, piece).await?;
        // The one who reads may be on this very thread.
        tokio::task::yield_now().await;
    }
    Ok(Then::NextRequest)
}

fn chunk(body: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat()
}

fn length(bytes: usize) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n")
}

fn packed(body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body)?;
    encoder.finish()
}
