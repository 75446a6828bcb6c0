//! What the other side answers: checked, unpacked and counted while it arrives.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, header, response};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};

use crate::{
    error::{AnswerPart, Error, Site},
    failure,
    gunzip::{Gunzip, UnpackStop},
    headers::Headers,
    line::Line,
    request::Method,
};

/// What one request may still take, and what to call it when it takes more.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub(crate) site: Site,
    pub(crate) method: Method,
    pub(crate) after: Duration,
    pub(crate) end: Instant,
    pub(crate) body_max: usize,
}

impl Bounds {
    pub(crate) fn late(&self) -> Error {
        Error::Timeout { site: self.site.clone(), after: self.after }
    }

    fn large(&self) -> Error {
        Error::TooLarge { site: self.site.clone(), part: AnswerPart::Body { bytes: self.body_max } }
    }

    fn bad(&self, why: impl Into<String>) -> Error {
        Error::BadResponse { site: self.site.clone(), why: why.into() }
    }
}

/// A whole answer. A redirect is an answer like any other, nobody follows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    pub headers: Headers,
    pub body: Bytes,
}

/// An answer whose body is still on its way. Dropped before its end, it takes the connection with it.
pub struct OpenResponse {
    pub status: u16,
    pub headers: Headers,
    body: Incoming,
    gunzip: Option<Gunzip>,
    /// What came and is not unpacked yet.
    unread: Bytes,
    packed: usize,
    bounds: Bounds,
    line: Line,
}

/// By how much a packed body may be larger than what it unpacks to.
const PACKING: usize = 64 << 10;
/// How much of a packed body is unpacked at once. It becomes a thousand times as much at worst, and whoever
/// reads piece by piece may want no more than the first one.
const UNPACKED_AT_ONCE: usize = 1 << 10;

/// What has one meaning must be said once: with two, we and the next reader would each pick one.
const SINGLE: &[header::HeaderName] = &[
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONTENT_ENCODING,
    header::CONTENT_TYPE,
    header::LOCATION,
];

impl OpenResponse {
    pub(crate) fn new(
        mut head: response::Parts,
        body: Incoming,
        bounds: Bounds,
        line: Line,
    ) -> Result<Self, Error> {
        // A body that must not be there is sent all the same by some. It may still be on its way, and the
        // next request would take it for its answer.
        if bounds.method == Method::Head || matches!(head.status.as_u16(), 204 | 304) {
            line.give_up();
        }
        if head.status == http::StatusCode::SWITCHING_PROTOCOLS {
            return Err(bounds.bad("it switches protocols (HTTP 101), which is not supported"));
        }
        check_framing(&head.headers).map_err(|why| bounds.bad(why))?;
        let packed = packed(&head.headers).map_err(|why| bounds.bad(why))?;
        let empty = bounds.method == Method::Head || body.is_end_stream();
        let gunzip = (packed && !empty).then(|| Gunzip::new(bounds.body_max));
        if gunzip.is_some() {
            // What they say of the packed body is wrong of the one we hand on.
            head.headers.remove(header::CONTENT_ENCODING);
            head.headers.remove(header::CONTENT_LENGTH);
        }
        let status = head.status.as_u16();
        let headers = Headers::of(&head.headers);
        let answer = Self { status, headers, body, gunzip, unread: Bytes::new(), packed: 0, bounds, line };
        if answer.packed_max() < usize::try_from(answer.body.size_hint().lower()).unwrap_or(usize::MAX) {
            return Err(answer.bounds.large());
        }
        Ok(answer)
    }

    /// The next piece of the body, `None` behind the last one. A piece is never much larger than a megabyte,
    /// however large the body may be.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            // A body that is always there before we ask would never meet the timer.
            if self.bounds.end <= Instant::now() {
                return Err(self.bounds.late());
            }
            if self.unread.is_empty() {
                let Some(piece) = self.arrived().await? else { return self.last() };
                self.unread = piece;
            }
            let piece = self.unpacked()?;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    /// The next piece as it came.
    async fn arrived(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame =
                timeout_at(self.bounds.end, self.body.frame()).await.map_err(|_| self.bounds.late())?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| failure::of_body(&error, &self.bounds.site))?;
            // What follows a body (trailers) is nobody's business here.
            let Ok(piece) = frame.into_data() else { continue };
            self.packed = self.packed.saturating_add(piece.len());
            if self.packed_max() < self.packed {
                return Err(self.bounds.large());
            }
            return Ok(Some(piece));
        }
    }

    fn unpacked(&mut self) -> Result<Bytes, Error> {
        let Some(gunzip) = &mut self.gunzip else { return Ok(std::mem::take(&mut self.unread)) };
        let next = self.unread.split_to(self.unread.len().min(UNPACKED_AT_ONCE));
        gunzip.feed(&next).map_err(|stop| self.stopped(stop))
    }

    /// Reads the body to its end.
    pub async fn read(mut self) -> Result<Response, Error> {
        let mut body = Vec::new();
        while let Some(piece) = self.chunk().await? {
            if body.capacity() - body.len() < piece.len() {
                // Doubling, but never past the limit, so that the limit is what a request costs.
                let wanted = (2 * body.len()).min(self.bounds.body_max).max(body.len() + piece.len());
                body.reserve_exact(wanted - body.len());
            }
            body.extend_from_slice(&piece);
        }
        Ok(Response { status: self.status, headers: self.headers, body: body.into() })
    }

    fn last(&mut self) -> Result<Option<Bytes>, Error> {
        let rest = match self.gunzip.take() {
            Some(mut gunzip) => gunzip.finish().map_err(|stop| self.stopped(stop))?,
            None => Bytes::new(),
        };
        self.line.keep();
        Ok((!rest.is_empty()).then_some(rest))
    }

    fn stopped(&self, stop: UnpackStop) -> Error {
        match stop {
            UnpackStop::Full => self.bounds.large(),
            UnpackStop::Broken => self.bounds.bad("its body is not the gzip that it claims to be"),
        }
    }

    fn packed_max(&self) -> usize {
        let more = if self.gunzip.is_some() { PACKING } else { 0 };
        self.bounds.body_max.saturating_add(more)
    }
}

/// Two ways of saying where a body ends are how one answer is read as two.
fn check_framing(headers: &HeaderMap) -> Result<(), String> {
    for name in SINGLE {
        if headers.get_all(name).iter().nth(1).is_some() {
            return Err(format!("it has the header `{name}` twice"));
        }
    }
    let length = headers.get(header::CONTENT_LENGTH);
    if length.is_some_and(|length| !length.as_bytes().iter().all(u8::is_ascii_digit)) {
        return Err("its `content-length` is not a number".to_owned());
    }
    let Some(coding) = headers.get(header::TRANSFER_ENCODING) else { return Ok(()) };
    if length.is_some() {
        return Err("it must not have both `content-length` and `transfer-encoding`".to_owned());
    }
    if !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
        return Err("its `transfer-encoding` is not `chunked`".to_owned());
    }
    Ok(())
}

fn packed(headers: &HeaderMap) -> Result<bool, String> {
    let Some(coding) = headers.get(header::CONTENT_ENCODING) else { return Ok(false) };
    match coding.as_bytes().trim_ascii().to_ascii_lowercase().as_slice() {
        b"" | b"identity" => Ok(false),
        b"gzip" | b"x-gzip" => Ok(true),
        _ => Err("its `content-encoding` must be `gzip` or absent".to_owned()),
    }
}

impl Response {
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

impl fmt::Debug for OpenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}
