//! What is asked of the other side.

use std::{
    fmt,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body_util::Full;

use crate::{error::Error, limits::RequestLimits, target::ParsedUrl};

/// What may be done. `CONNECT` and `TRACE` are for proxies and for mirrors, no tool needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

impl Method {
    pub const ALL: &[Self] =
        &[Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete, Self::Options];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
        }
    }

    /// Whether asking twice does no more than asking once changes, by RFC 9110: nothing.
    #[must_use]
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options)
    }
}

impl std::str::FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.iter().find(|method| method.as_str() == text);
        known.copied().ok_or_else(|| Error::BadRequest {
            why: "the method must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS".to_owned(),
        })
    }
}

/// One request. Printed, it shows no path, no query and no value of a header.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    headers: Vec<(String, String)>,
    body: Bytes,
    end: End,
    body_max: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Usual,
    After(Duration),
    At(Instant),
}

/// What this client decides itself. A header that says otherwise would be read by the other side and
/// not by us: two meanings of one request.
const OURS: &[HeaderName] = &[
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::EXPECT,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

impl Request {
    #[must_use]
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            end: End::Usual,
            body_max: None,
        }
    }

    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new(Method::Get, url)
    }

    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Adds a header. What cannot be sent is found when the request is.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Refuses a header that could not be sent, such as when a tool is saved.
    pub fn check_header(name: &str, value: &str) -> Result<(), Error> {
        readable(name, value).map(drop)
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// When the answer has to be complete, whatever [`RequestLimits::total`] says.
    #[must_use]
    pub fn deadline(mut self, at: Instant) -> Self {
        self.end = End::At(at);
        self
    }

    /// As [`Request::deadline`], counted from when the request is sent.
    #[must_use]
    pub fn timeout(mut self, after: Duration) -> Self {
        self.end = End::After(after);
        self
    }

    /// How large the answer may be, in place of [`RequestLimits::body_bytes`].
    #[must_use]
    pub fn body_max(mut self, bytes: usize) -> Self {
        self.body_max = Some(bytes);
        self
    }

    /// How long the whole may take from now.
    pub(crate) fn time(&self, limits: &RequestLimits) -> Duration {
        match self.end {
            End::Usual => limits.total,
            End::After(after) => after,
            End::At(at) => at.saturating_duration_since(Instant::now()),
        }
    }

    pub(crate) fn answer_max(&self, limits: &RequestLimits) -> usize {
        self.body_max.unwrap_or(limits.body_bytes)
    }

    pub(crate) fn into_wire(self, target: &ParsedUrl) -> Result<http::Request<Full<Bytes>>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let mut own_agent = true;
        for (name, value) in &self.headers {
            let (name, value) = readable(name, value)?;
            if name == header::USER_AGENT && own_agent {
                headers.remove(&name);
                own_agent = false;
            }
            headers.append(name, value);
        }
        // The library leaves it out. RFC 9110 asks for it where a body is expected, and strict servers
        // refuse a request without it.
        if self.body.is_empty() && matches!(self.method, Method::Post | Method::Put | Method::Patch) {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        let mut wire = http::Request::new(Full::new(self.body));
        *wire.method_mut() = match self.method {
            Method::Get => http::Method::GET,
            Method::Head => http::Method::HEAD,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
            Method::Delete => http::Method::DELETE,
            Method::Options => http::Method::OPTIONS,
        };
        *wire.uri_mut() = target.uri.clone();
        *wire.headers_mut() = headers;
        Ok(wire)
    }
}

const USER_AGENT: &str = concat!("toolwright/", env!("CARGO_PKG_VERSION"));

/// Line breaks would let a value start a header or a request of its own.
fn readable(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Error> {
    let bad = |why: String| Error::BadRequest { why };
    let Ok(known) = HeaderName::from_bytes(name.as_bytes()) else {
        return Err(bad("the name of a header has characters that cannot be sent".to_owned()));
    };
    if OURS.contains(&known) || known.as_str().starts_with("proxy-") || known == "keep-alive" {
        return Err(bad(format!("the header `{known}` must be left out: Toolwright sets it")));
    }
    let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) else {
        return Err(bad(format!("the value of the header `{known}` has characters that cannot be sent")));
    };
    Ok((known, value))
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site =
            ParsedUrl::read(&self.url).map_or_else(|_| "?".to_owned(), |target| target.site.to_string());
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("site", &site)
            .field("headers", &headers)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
