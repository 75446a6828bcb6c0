//! Whatever the other side does, it ends: in time, in size, and with an error that says so.

use std::time::Instant;

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};
use tw_egress::{AnswerPart, Egress, Error, Obstacle, Request, RequestLimits};
use tw_test::Upstream;

use crate::{PATIENCE, SOON, builder_to, egress_to, limits, names::Names, policy};

#[tokio::test]
async fn answer_that_does_not_come_ends_at_the_deadline_and_frees_its_connection() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let slow = ["/hang", "/hang-after-headers", "/drip", "/never-close"];
    for (index, path) in slow.into_iter().enumerate() {
        let began = Instant::now();
        let error = egress.send(Request::get(upstream.url(path)).timeout(SOON)).await.unwrap_err();

        assert!(matches!(&error, Error::Timeout { after, .. } if *after == SOON), "{path}: {error:?}");
        assert!(SOON <= began.elapsed() && began.elapsed() < PATIENCE, "{path}: {:?}", began.elapsed());
        assert!(!error.is_retryable() && error.effect_possible());
        timeout(PATIENCE, upstream.hung_up(index + 1)).await.expect(path);
    }
}

#[tokio::test]
async fn deadline_counts_from_when_the_caller_set_it() {
    let upstream = Upstream::start().await;
    let past = Instant::now();
    let request = Request::get(upstream.url("/hang")).deadline(past);
    let error = egress_to(&upstream).send(request).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}

#[tokio::test]
async fn limit_of_the_client_holds_where_the_request_names_none() {
    let upstream = Upstream::start().await;
    let egress = builder_to(&upstream).limits(RequestLimits { total: SOON, ..limits() }).build();
    let error = egress.send(Request::get(upstream.url("/hang"))).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}

#[tokio::test]
async fn body_over_the_limit_is_cut_off() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for (index, path) in ["/huge", "/endless", "/gzip-bomb"].into_iter().enumerate() {
        let error = egress.send(Request::get(upstream.url(path)).body_max(1 << 20)).await.unwrap_err();
        assert!(
            matches!(error, Error::TooLarge { part: AnswerPart::Body { bytes: 1_048_576 }, .. }),
            "{path}: {error:?}"
        );
        timeout(PATIENCE, upstream.hung_up(index + 1)).await.expect(path);
    }
}

#[tokio::test]
async fn body_of_exactly_the_limit_is_read() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let ask = async |path, max| egress.send(Request::get(upstream.url(path)).body_max(max)).await;

    assert_eq!(ask("/", 5).await.unwrap().body, "hello");
    assert!(matches!(ask("/", 4).await, Err(Error::TooLarge { .. })));
    assert_eq!(ask("/close-to-end", 5).await.unwrap().body, "hello");
    assert!(matches!(ask("/close-to-end", 4).await, Err(Error::TooLarge { .. })));
    assert_eq!(ask("/gzip", 13).await.unwrap().body, "hello, packed");
    assert!(matches!(ask("/gzip", 12).await, Err(Error::TooLarge { .. })));
}

#[tokio::test]
async fn head_over_the_limit_is_cut_off() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for path in ["/big-header", "/many-headers"] {
        let error = egress.send(Request::get(upstream.url(path))).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge { part: AnswerPart::Head { .. }, .. }), "{path}: {error:?}");
    }
}

/// Without an end of its own it would keep a thread busy past every timer.
#[tokio::test]
async fn promises_of_an_answer_are_cut_off_like_a_head() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let began = Instant::now();
    let error = egress.send(Request::get(upstream.url("/continue-forever"))).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { part: AnswerPart::Head { .. }, .. }), "{error:?}");
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    timeout(PATIENCE, upstream.hung_up(1)).await.unwrap();
}

#[tokio::test]
async fn a_few_promises_are_skipped() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let hint = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n";
    for count in [1, 10, 100] {
        upstream.script([format!("{}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nso", hint.repeat(count))]);
        let response = egress.send(Request::get(upstream.url("/"))).await.unwrap();
        assert_eq!((response.status, &*response.body), (200, b"so".as_slice()), "{count}");
    }
    assert_eq!(upstream.connections(), 1, "each request is counted by itself");
}

#[tokio::test]
async fn dropped_future_takes_its_request_with_it() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let asking = tokio::spawn({
        let (egress, url) = (egress.clone(), upstream.url("/hang"));
        async move { egress.send(Request::get(url)).await }
    });
    timeout(PATIENCE, upstream.connected(1)).await.unwrap();
    asking.abort();
    timeout(PATIENCE, upstream.hung_up(1)).await.unwrap();
}

#[tokio::test]
async fn dropped_answer_closes_its_connection() {
    let upstream = Upstream::start().await;
    let mut answer = egress_to(&upstream).open(Request::get(upstream.url("/drip"))).await.unwrap();
    assert_eq!(answer.chunk().await.unwrap().unwrap(), "x");
    drop(answer);
    timeout(PATIENCE, upstream.hung_up(1)).await.unwrap();
}

#[tokio::test]
async fn nobody_there_is_an_error_worth_another_try() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let port = address.port();
    let names = Names::default().with("gone.test", &[&["127.0.0.1"]]);
    let policy = policy(&[&address.to_string()]);
    let egress = Egress::builder(policy).resolver(names).limits(limits()).build();

    let table = [
        (format!("http://127.0.0.1:{port}/"), Obstacle::Refused),
        (format!("http://gone.test:{port}/"), Obstacle::Refused),
        ("http://unknown.test/".to_owned(), Obstacle::NoAddress),
    ];
    for (url, expected) in table {
        let error = egress.send(Request::get(&url)).await.unwrap_err();
        assert!(matches!(&error, Error::Unreachable { why, .. } if *why == expected), "{url}: {error:?}");
        assert!(error.is_retryable() && !error.effect_possible());
    }
}

/// A listener whose queue is full answers nothing, like a host behind a wall that drops packets.
#[tokio::test]
async fn connecting_has_a_limit_of_its_own() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = timeout(SOON, TcpStream::connect(address)).await {
        waiting.push(stream.unwrap());
    }

    let limits = RequestLimits { connect: SOON, ..limits() };
    let egress = Egress::builder(policy(&[&address.to_string()])).limits(limits).build();
    let error = egress.send(Request::get(format!("http://{address}/"))).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { why: Obstacle::TimedOut, .. }), "{error:?}");
}
