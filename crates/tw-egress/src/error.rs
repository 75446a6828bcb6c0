//! Why a request got no answer.
//!
//! These texts reach whoever called the tool. So they show of a URL what is before its path and
//! nothing more, and never the value of a header: keys travel in both. They name the kind of an
//! address and not the address, which would tell a stranger what a name means inside the network.

use std::{fmt, time::Duration};

use crate::address::Class;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the URL cannot be used: {why}")]
    BadUrl { why: &'static str },
    #[error("the request cannot be sent: {why}")]
    BadRequest { why: String },
    /// No connection was made.
    #[error("{}", denied(site, *class))]
    Denied { site: Site, class: Class },
    /// No connection came about, so nothing was asked.
    #[error("`{site}` cannot be reached: {why}")]
    Unreachable { site: Site, why: Obstacle },
    #[error("`{site}` did not finish its answer within {after:?}")]
    Timeout { site: Site, after: Duration },
    #[error("the answer of `{site}` is too large: {part}")]
    TooLarge { site: Site, part: AnswerPart },
    #[error("the answer of `{site}` cannot be used: {why}")]
    BadResponse { site: Site, why: String },
    /// The connection broke after it was made. Whether the request was read, nobody here knows.
    #[error("the connection to `{site}` broke before the answer was complete")]
    Interrupted { site: Site },
}

/// Which part of an answer went over which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    Head { bytes: usize, headers: usize },
    Body { bytes: usize },
}

/// Why no connection could be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    NoAddress,
    /// Too many look-ups wait already.
    Crowded,
    Refused,
    NoRoute,
    TimedOut,
    /// The certificate is not one that we trust for this host.
    Untrusted,
    Handshake,
}

impl Error {
    /// Whether the same request, unchanged, may succeed later. Whether it may be sent twice is for the
    /// caller to know; see [`Error::effect_possible`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable { why, .. } => *why != Obstacle::Untrusted,
            Self::Interrupted { .. } => true,
            Self::BadUrl { .. }
            | Self::BadRequest { .. }
            | Self::Denied { .. }
            | Self::Timeout { .. }
            | Self::TooLarge { .. }
            | Self::BadResponse { .. } => false,
        }
    }

    /// Whether the other side may have read the request and acted on it.
    #[must_use]
    pub fn effect_possible(&self) -> bool {
        match self {
            Self::BadUrl { .. }
            | Self::BadRequest { .. }
            | Self::Denied { .. }
            | Self::Unreachable { .. } => false,
            Self::Timeout { .. }
            | Self::TooLarge { .. }
            | Self::BadResponse { .. }
            | Self::Interrupted { .. } => true,
        }
    }
}

/// Which site a request was for: scheme, host and port.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Site(String);

impl Site {
    pub(crate) fn of(url: &url::Url) -> Self {
        Self(url.origin().ascii_serialization())
    }

    /// What may be told of a URL that somebody sent.
    #[must_use]
    pub fn in_text(url: &str) -> Self {
        url::Url::parse(url).map_or_else(|_| Self::unreadable(), |url| Self::of(&url))
    }

    /// For what is reached by a name of the operator's, and by no URL.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// For a URL whose host nobody can read.
    pub(crate) fn unreadable() -> Self {
        Self("the URL".to_owned())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn denied(site: &Site, class: Class) -> String {
    match class {
        Class::Metadata => {
            format!(
                "`{site}` resolves to {class}, which must not be called; `egress.allow` cannot change that"
            )
        }
        Class::Unreadable => format!("{site} names {class}; no entry of `egress.allow` can open it"),
        _ => format!("`{site}` resolves to {class}; an operator can allow it with `egress.allow`"),
    }
}

impl fmt::Display for AnswerPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head { bytes, headers } => {
                write!(f, "over {bytes} bytes of head, or over {headers} headers")
            }
            Self::Body { bytes } => write!(f, "over {bytes} bytes of body"),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAddress => "its host name has no address (DNS)",
            Self::Crowded => "too many DNS lookups are running; try again",
            Self::Refused => "the connection was refused",
            Self::NoRoute => "no connection could be made",
            Self::TimedOut => "connecting took too long",
            Self::Untrusted => "its certificate is not trusted",
            Self::Handshake => "the TLS handshake failed",
        })
    }
}
