//! Answers that mean two things, or nothing, are errors; the others arrive as they are.

use tw_egress::{Error, Method, Request};
use tw_test::{Upstream, hostile::tricks::FORGED};

use crate::egress_to;

#[tokio::test]
async fn answer_with_two_meanings_or_none_is_refused_and_its_connection_given_up() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let table = [
        ("/not-a-length", "it is not HTTP/1.1"),
        ("/two-lengths", "it is not HTTP/1.1"),
        ("/length-list", "its `content-length` is not a number"),
        ("/same-length-twice", "it has the header `content-length` twice"),
        ("/length-and-chunks", "it says twice how long it is, by `content-length` and `transfer-encoding`"),
        ("/two-types", "it has the header `content-type` twice"),
        ("/two-places", "it has the header `location` twice"),
        ("/odd-transfer", "its `transfer-encoding` is not `chunked`"),
        ("/bad-chunk", "its body is not chunked as it claims to be"),
        ("/huge-chunk", "its body is not chunked as it claims to be"),
        ("/crlf-header", "it is not HTTP/1.1"),
        ("/nul-header", "it is not HTTP/1.1"),
        ("/no-http", "it is not HTTP/1.1"),
        ("/switch", "it changes the protocol, which was not asked for"),
        ("/not-gzip", "its body is not the gzip that it claims to be"),
        ("/gzip-cut", "its body is not the gzip that it claims to be"),
        ("/brotli", "its `content-encoding` is not `gzip`, which was asked for"),
    ];
    for (path, expected) in table {
        let error = egress.send(Request::get(upstream.url(path))).await.unwrap_err();
        assert!(matches!(&error, Error::BadResponse { why, .. } if why == expected), "{path}: {error:?}");
        assert!(!error.is_retryable() && error.effect_possible());

        let before = upstream.connections();
        let next = egress.send(Request::get(upstream.url("/"))).await.unwrap();
        assert_eq!(next.body, "hello", "after {path}");
        assert_eq!(upstream.connections(), before + 1, "{path}: the connection was used again");
    }
}

#[tokio::test]
async fn connection_that_breaks_is_an_error_worth_another_try() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for path in ["/reset", "/wrong-length", "/cut-chunk", "/silent-close", "/silent-reset"] {
        let error = egress.send(Request::get(upstream.url(path))).await.unwrap_err();
        assert!(matches!(error, Error::Interrupted { .. }), "{path}: {error:?}");
        assert!(error.is_retryable() && error.effect_possible());
    }
    assert_eq!(upstream.requests().len(), 5, "nothing is sent twice by itself");
}

#[tokio::test]
async fn words_behind_an_answer_are_not_the_answer_to_the_next_request() {
    assert!(FORGED.ends_with("forged"));
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for _ in 0..200 {
        let first = egress.send(Request::get(upstream.url("/short-length"))).await.unwrap();
        assert_eq!(first.body, "hello");
        let second = egress.send(Request::get(upstream.url("/status/201"))).await.unwrap();
        assert_eq!((second.status, &*second.body), (201, b"so".as_slice()));
    }
}

#[tokio::test]
async fn connection_is_not_used_again_behind_an_answer_that_can_have_no_body() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for (method, status) in
        [(Method::Get, "204 No Content"), (Method::Get, "304 Not Modified"), (Method::Head, "200 OK")]
    {
        for behind in ["", FORGED] {
            upstream.script([format!("HTTP/1.1 {status}\r\ncontent-length: 6\r\n\r\n{behind}")]);
            let first = egress.send(Request::new(method, upstream.url("/"))).await.unwrap();
            assert_eq!(first.body, "", "{status}");
            let before = upstream.connections();
            let second = egress.send(Request::get(upstream.url("/status/201"))).await.unwrap();
            assert_eq!((second.status, &*second.body), (201, b"so".as_slice()), "after {status}");
            assert_eq!(upstream.connections(), before + 1, "{status}: the connection was used again");
        }
    }
}

#[tokio::test]
async fn connections_are_used_again_and_never_shared_apart() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for _ in 0..3 {
        egress.clone().send(Request::get(upstream.url("/"))).await.unwrap();
    }
    assert_eq!(upstream.connections(), 1);
    egress.apart().send(Request::get(upstream.url("/"))).await.unwrap();
    assert_eq!(upstream.connections(), 2);
}

#[tokio::test]
async fn cookies_are_shown_and_never_sent_back() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let response = egress.send(Request::get(upstream.url("/cookies"))).await.unwrap();
    let cookies: Vec<_> = response.headers.all("set-cookie").collect();
    assert_eq!(cookies, ["a=1; path=/", "b=2; path=/"]);

    egress.send(Request::get(upstream.url("/"))).await.unwrap();
    assert_eq!(upstream.requests()[1].header("cookie"), None);
}

#[tokio::test]
async fn packed_body_arrives_unpacked_and_says_so() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for path in ["/gzip", "/gzip-bytewise"] {
        let response = egress.send(Request::get(upstream.url(path))).await.unwrap();
        assert_eq!(response.body, "hello, packed", "{path}");
        assert_eq!(response.headers.get("content-encoding"), None);
        assert_eq!(response.headers.get("content-length"), None);
    }
    assert_eq!(egress.send(Request::get(upstream.url("/no-gzip"))).await.unwrap().body, "");
}

#[tokio::test]
async fn answer_can_be_read_piece_by_piece() {
    let upstream = Upstream::start().await;
    let mut answer = egress_to(&upstream).open(Request::get(upstream.url("/drip"))).await.unwrap();
    assert_eq!(answer.status, 200);
    for _ in 0..3 {
        assert_eq!(answer.chunk().await.unwrap().unwrap(), "x");
    }
}

#[tokio::test]
async fn every_status_is_an_answer() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for status in [200, 301, 307, 404, 429, 500, 503] {
        let url = upstream.url(&format!("/status/{status}"));
        let response = egress.send(Request::get(url)).await.unwrap();
        assert_eq!((response.status, response.is_success()), (status, status == 200));
    }
}

#[tokio::test]
async fn answer_to_head_has_no_body_however_it_is_packed() {
    let upstream = Upstream::start().await;
    let request = Request::new(Method::Head, upstream.url("/no-gzip"));
    let response = egress_to(&upstream).send(request).await.unwrap();
    assert_eq!((response.status, response.body.len()), (200, 0));
    assert_eq!(response.headers.get("content-encoding"), Some("gzip"));
}
