//! Sorts what the HTTP library reports by what a caller can do about it.

use std::{error, io};

use http::Extensions;
use hyper_util::client::legacy;

use crate::{
    connect::ConnectFailure,
    error::{AnswerPart, Error, Site},
    limits::RequestLimits,
    stream::{Endless, Stale},
};

/// Why there is no answer at all.
pub(crate) fn of_exchange(failure: &legacy::Error, site: &Site, limits: &RequestLimits) -> Error {
    let site = site.clone();
    if let Some(failure) = find::<ConnectFailure>(failure) {
        return match *failure {
            ConnectFailure::Denied(class) => Error::Denied { site, class },
            ConnectFailure::Unreachable(why) => Error::Unreachable { site, why },
        };
    }
    match find::<hyper::Error>(failure) {
        Some(failure) if failure.is_parse_too_large() || is_endless(failure) => {
            let part = AnswerPart::Head { bytes: limits.head_bytes, headers: limits.headers };
            Error::TooLarge { site, part }
        }
        Some(failure) if failure.is_parse() => {
            Error::BadResponse { site, why: "it is not HTTP/1.1".to_owned() }
        }
        Some(_) | None => Error::Interrupted { site },
    }
}

/// Whether the connection was kept from before and closed without a word, so that another one may serve.
pub(crate) fn is_stale(failure: &legacy::Error) -> bool {
    let mut extras = Extensions::new();
    if let Some(connection) = failure.connect_info() {
        connection.get_extras(&mut extras);
    }
    extras.get::<Stale>().is_some_and(Stale::get)
}

fn is_endless(failure: &hyper::Error) -> bool {
    let inner = find::<io::Error>(failure).and_then(io::Error::get_ref);
    inner.is_some_and(|inner| inner.is::<Endless>())
}

/// Why the body of an answer ended before its end.
pub(crate) fn of_body(failure: &hyper::Error, site: &Site) -> Error {
    let site = site.clone();
    let broken = find::<io::Error>(failure).is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::Other
        )
    });
    if broken {
        return Error::BadResponse { site, why: "its body is not chunked as it claims to be".to_owned() };
    }
    Error::Interrupted { site }
}

/// The first of its kind in a chain of causes.
fn find<'a, E: error::Error + 'static>(failure: &'a (dyn error::Error + 'static)) -> Option<&'a E> {
    std::iter::successors(Some(failure), |error| error.source()).find_map(|error| error.downcast_ref())
}
