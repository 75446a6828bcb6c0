//! Answers that mean two things, or nothing, are errors; the others arrive as they are.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::join_all;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tw_egress::{Egress, Error, Method, Request};
use tw_test::{Upstream, hostile::tricks::FORGED};

use crate::{egress_to, limits, policy};

#[tokio::test]
async fn answer_with_two_meanings_or_none_is_refused_and_its_connection_given_up() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let table = [
        ("/not-a-length", "it is not HTTP/1.1"),
        ("/two-lengths", "it is not HTTP/1.1"),
        ("/length-list", "its `content-length` is not a number"),
        ("/same-length-twice", "it has the header `content-length` twice"),
        ("/length-and-chunks", "it must not have both `content-length` and `transfer-encoding`"),
        ("/two-types", "it has the header `content-type` twice"),
        ("/two-places", "it has the header `location` twice"),
        ("/odd-transfer", "its `transfer-encoding` is not `chunked`"),
        ("/bad-chunk", "its body is not chunked as it claims to be"),
        ("/huge-chunk", "its body is not chunked as it claims to be"),
        ("/crlf-header", "it is not HTTP/1.1"),
        ("/nul-header", "it is not HTTP/1.1"),
        ("/no-http", "it is not HTTP/1.1"),
        ("/switch", "it switches protocols (HTTP 101), which is not supported"),
        ("/not-gzip", "its body is not the gzip that it claims to be"),
        ("/gzip-cut", "its body is not the gzip that it claims to be"),
        ("/brotli", "its `content-encoding` must be `gzip` or absent"),
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
async fn safe_request_is_repeated_where_a_kept_connection_was_closed() {
    let fickle = Fickle::start().await;
    let egress = fickle.egress();
    for method in [Method::Get, Method::Head, Method::Options, Method::Get] {
        let response = egress.send(Request::new(method, &fickle.url)).await.unwrap();
        assert_eq!(response.status, 200, "{method:?}");
    }
    // However many are kept: the second try does not take one of them.
    join_all((0..5).map(|_| egress.send(Request::get(&fickle.url)))).await;
    for _ in 0..10 {
        assert_eq!(egress.send(Request::get(&fickle.url)).await.unwrap().body, BODY);
    }
}

#[tokio::test]
async fn request_with_an_effect_is_not_repeated_by_itself() {
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let fickle = Fickle::start().await;
        let egress = fickle.egress();
        egress.send(Request::get(&fickle.url)).await.unwrap();
        let error = egress.send(Request::new(method, &fickle.url)).await.unwrap_err();
        assert!(matches!(error, Error::Interrupted { .. }), "{method:?}: {error:?}");
        assert_eq!(fickle.requests.load(Ordering::SeqCst), 2, "{method:?}");
    }
}

#[tokio::test]
async fn request_is_repeated_once_and_only_where_nothing_was_answered() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for (path, times) in [("/silent-close", 2), ("/silent-reset", 2), ("/wrong-length", 1), ("/reset", 1)] {
        egress.send(Request::get(upstream.url("/"))).await.unwrap();
        let error = egress.send(Request::get(upstream.url(path))).await.unwrap_err();
        assert!(matches!(error, Error::Interrupted { .. }), "{path}: {error:?}");
        let sent = upstream.requests().iter().filter(|asked| asked.path == path).count();
        assert_eq!(sent, times, "{path}");
    }
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

/// What a [`Fickle`] answers with. More than one piece, so that it is read behind the head.
const BODY: &[u8] = &[b'x'; 100_000];

/// Answers the first request of every connection, and closes it without a word at the second.
struct Fickle {
    url: String,
    host_and_port: String,
    requests: Arc<AtomicUsize>,
}

impl Fickle {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host_and_port = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move {
                    let mut request = [0; 4096];
                    let first = stream.read(&mut request).await.unwrap();
                    seen.fetch_add(1, Ordering::SeqCst);
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", BODY.len());
                    let body = if request[..first].starts_with(b"HEAD") { &[] } else { BODY };
                    let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
                    if stream.read(&mut request).await.is_ok_and(|length| 0 < length) {
                        seen.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { url: format!("http://{host_and_port}/"), host_and_port, requests }
    }

    fn egress(&self) -> Egress {
        Egress::builder(policy(&[&self.host_and_port])).limits(limits()).build()
    }
}
