//! Pages of lists, written apart.
//!
//! A page can have megabytes, and its tenant asks for the next one as soon as it has it. On a thread that serves everybody
//! each would hold up all others for some milliseconds.

use std::io::Write as _;

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use toolwright_sdk::spawn_yielding;
use tw_base::Error;

use crate::{
    compress,
    problem::{Problem, Result},
};

/// A tenant's place among those who ask for lists. It is given back once the page is written.
#[derive(Debug)]
pub(crate) struct ListPlace {
    place: OwnedSemaphorePermit,
    takes_gzip: bool,
}

impl ListPlace {
    pub(crate) fn new(place: OwnedSemaphorePermit, headers: &HeaderMap) -> Self {
        Self { place, takes_gzip: takes_gzip(headers) }
    }

    /// Makes a page and writes it, on a thread that yields to those that serve everybody.
    pub(crate) async fn page<T: Serialize>(
        self,
        make: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Response> {
        let span = tracing::Span::current();
        let written = spawn_yielding(move || {
            let Self { place, takes_gzip } = self;
            let written = span.in_scope(|| written(&make(), takes_gzip));
            drop(place);
            written
        });
        let internal = |error: Box<dyn std::error::Error + Send + Sync>| {
            Problem::from(Error::Internal { doing: "writing a page", why: error })
        };
        let (body, is_gzip) = written.await.map_err(|error| internal(error.into()))?.map_err(internal)?;
        let mut response = body.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(response)
    }
}

type Written = std::result::Result<(Vec<u8>, bool), Box<dyn std::error::Error + Send + Sync>>;

/// A page as JSON, compressed where that is taken and worth the work.
fn written(page: &impl Serialize, takes_gzip: bool) -> Written {
    let text = serde_json::to_vec(page)?;
    if !takes_gzip || !compress::is_worth_it(u64::try_from(text.len()).unwrap_or(u64::MAX)) {
        return Ok((text, false));
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&text)?;
    Ok((gzip.finish()?, true))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|named| {
        let (name, weight) = named.split_once(';').unwrap_or((named, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| 0.0 < weight)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn page_is_compressed_where_that_is_taken_and_worth_it() {
        let (small, large) = (vec!["x"; 10], vec!["x"; 10_000]);
        assert_eq!(written(&small, true).unwrap(), (serde_json::to_vec(&small).unwrap(), false));
        assert_eq!(written(&large, false).unwrap(), (serde_json::to_vec(&large).unwrap(), false));
        let (gzip, true) = written(&large, true).unwrap() else { panic!("it is not compressed") };
        let mut text = Vec::new();
        GzDecoder::new(&*gzip).read_to_end(&mut text).unwrap();
        assert_eq!(text, serde_json::to_vec(&large).unwrap());
    }

    #[test]
    fn gzip_is_taken_by_who_names_it_with_a_weight() {
        let takes = |line: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(line))]))
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("gzip; q=1"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("") && !takes_gzip(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn place_is_given_back_only_when_the_page_is_written() {
        let places = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
        let place = std::sync::Arc::clone(&places).acquire_owned().await.unwrap();
        let inside = std::sync::Arc::clone(&places);
        let page = ListPlace::new(place, &HeaderMap::new()).page(move || inside.available_permits());
        let response = page.await.unwrap();
        assert_eq!(places.available_permits(), 1);
        let body = axum::body::to_bytes(response.into_body(), 10).await.unwrap();
        assert_eq!(&*body, b"0", "nobody else had the place while the page was made");
    }
}
