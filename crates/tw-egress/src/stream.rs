//! A connection that knows how far an answer has come.
//!
//! The HTTP library cannot be asked. It skips what only says that an answer will follow (such as
//! `103 Early Hints`) without counting it, for ever and past every timer. And of a connection that breaks
//! it does not say whether the other side had begun to answer.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Debug)]
pub(crate) struct Stream<S> {
    inner: S,
    reading: Reading,
    /// How much came since the request, up to the head that is the answer's own.
    before_answer: usize,
    before_answer_max: usize,
    stale: Stale,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// The beginning of a head, of which so many bytes are there.
    Beginning(usize),
    /// A head behind which another one comes.
    Interim { at_line_start: bool },
    /// The answer itself, which the library and the limits of a body bound.
    Answer,
}

/// What every head begins with. One more byte and a space behind it stands the status.
const HEAD: &[u8] = b"HTTP/1.";
const STATUS_AT: usize = HEAD.len() + 2;

/// Whether a request went out on a connection that had served before, and nothing at all has come back.
/// That is what it looks like when the other side closes a connection just before it is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stale(Arc<AtomicBool>);

/// More than the limit came before the answer.
#[derive(Debug, thiserror::Error)]
#[error("the service sent too many interim (1xx) responses")]
pub(crate) struct Endless;

impl<S> Stream<S> {
    pub(crate) fn new(inner: S, before_answer_max: usize) -> Self {
        let reading = Reading::Beginning(0);
        Self { inner, reading, before_answer: 0, before_answer_max, stale: Stale::default() }
    }

    fn heard(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !bytes.is_empty() {
            self.stale.set(false);
        }
        for byte in bytes {
            if self.reading == Reading::Answer {
                return Ok(());
            }
            self.before_answer += 1;
            self.reading = self.reading.after(*byte);
        }
        if self.before_answer_max < self.before_answer { Err(io::Error::other(Endless)) } else { Ok(()) }
    }

    /// What is written behind an answer is the next request. It may also be the rest of one that was
    /// answered early; the body that is read then does not begin like a head, so nothing is counted.
    fn said(&mut self) {
        if self.reading == Reading::Answer {
            self.reading = Reading::Beginning(0);
            self.before_answer = 0;
            self.stale.set(true);
        }
    }
}

impl Reading {
    fn after(self, byte: u8) -> Self {
        match self {
            // Empty lines before a head are skipped by the library too.
            Self::Beginning(0) if matches!(byte, b'\r' | b'\n') => self,
            Self::Beginning(STATUS_AT) if byte == b'1' => Self::Interim { at_line_start: false },
            Self::Beginning(STATUS_AT) => Self::Answer,
            Self::Beginning(at) if HEAD.get(at).is_some_and(|expected| *expected != byte) => Self::Answer,
            Self::Beginning(at) => Self::Beginning(at + 1),
            Self::Interim { at_line_start: true } if byte == b'\n' => Self::Beginning(0),
            Self::Interim { at_line_start } => {
                Self::Interim { at_line_start: byte == b'\n' || at_line_start && byte == b'\r' }
            }
            Self::Answer => self,
        }
    }
}

impl Stale {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn set(&self, stale: bool) {
        self.0.store(stale, Ordering::Release);
    }
}

impl<S: Connection> Connection for Stream<S> {
    fn connected(&self) -> Connected {
        self.inner.connected().extra(self.stale.clone())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        Poll::Ready(self.heard(&buf.filled()[before..]))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.said();
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.said();
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
