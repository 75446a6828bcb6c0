//! Answers are compressed for callers that take it: lists of tools and runs repeat themselves, and networks are slower
//! than processors.

use axum::{body::HttpBody, http::Response};
use tower_http::{
    CompressionLevel,
    compression::{
        CompressionLayer,
        predicate::{DefaultPredicate, Predicate},
    },
};

/// Less is not worth its head.
const SIZE_MIN: u64 = 1_024;
/// More would keep a thread that serves everybody busy: it takes some milliseconds for this.
const SIZE_MAX: u64 = 1_048_576;

pub(crate) fn layer() -> CompressionLayer<Compressible> {
    CompressionLayer::new().quality(CompressionLevel::Default).compress_when(Compressible)
}

/// An answer whose size is known and worth the work. A stream has none, and what is in it must not wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compressible;

impl Predicate for Compressible {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        response.body().size_hint().exact().is_some_and(is_worth_it)
            && DefaultPredicate::new().should_compress(response)
    }
}

/// Whether an answer of this size is compressed.
pub(crate) fn is_worth_it(size: u64) -> bool {
    (SIZE_MIN..=SIZE_MAX).contains(&size)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn compresses(size: usize, content_type: &str) -> bool {
        let response =
            Response::builder().header("content-type", content_type).body(Body::from(vec![b'x'; size]));
        Compressible.should_compress(&response.expect("an answer"))
    }

    #[test]
    fn only_answers_of_a_fitting_size_are_compressed() {
        assert!(!compresses(100, "application/json"));
        assert!(compresses(10_000, "application/json"));
        assert!(compresses(10_000, "application/problem+json"));
        assert!(!compresses(2_000_000, "application/json"));
    }

    #[test]
    fn streams_are_sent_as_they_come() {
        assert!(!compresses(10_000, "text/event-stream"));
        let stream =
            Response::new(Body::from_stream(futures::stream::empty::<Result<Vec<u8>, std::io::Error>>()));
        assert!(!Compressible.should_compress(&stream));
    }
}
