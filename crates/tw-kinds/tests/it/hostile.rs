//! Services that behave badly, D1 to D12 of the catalogue.

use std::time::Instant;

use serde_json::json;
use tw_model::Code;

use crate::{House, PATIENCE, SOON};

#[tokio::test]
async fn service_that_never_finishes_is_left_at_the_deadline() {
    for path in ["/hang", "/hang-after-headers", "/drip", "/never-close"] {
        let house = House::new().await.within(SOON);
        let started = Instant::now();
        let failure = house.call(path, json!({ "retry": { "max": 5 } }), json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::Timeout, "{path}: {failure}");
        assert!(started.elapsed() < PATIENCE / 2, "{path}: {:?}", started.elapsed());
        house.upstream.hung_up(house.upstream.connections()).await;
        assert_eq!(house.upstream.requests().len(), 1, "{path}");
    }
}

#[tokio::test]
async fn answer_that_is_too_large_is_cut_off() {
    for path in ["/huge", "/endless", "/gzip-bomb", "/big-header", "/many-headers", "/continue-forever"] {
        let house = House::new().await;
        let failure = house.get(path).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError, "{path}: {failure}");
        assert!(failure.message.contains("too large"), "{path}: {failure}");
    }
}

#[tokio::test]
async fn broken_answer_is_a_failure_and_its_connection_is_not_used_again() {
    for path in [
        "/bad-chunk",
        "/two-lengths",
        "/same-length-twice",
        "/wrong-length",
        "/crlf-header",
        "/nul-header",
        "/no-http",
        "/length-and-chunks",
        "/cut-chunk",
        "/gzip-cut",
        "/not-gzip",
        "/switch",
    ] {
        let house = House::new().await;
        let failure = house.get(path).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError, "{path}: {failure}");
        assert_eq!(house.get("/").await.unwrap().data, json!("hello"), "{path}");
        assert_eq!(house.upstream.connections(), 2, "{path}");
    }
    let house = House::new().await;
    assert_eq!(house.get("/short-length").await.unwrap().data, json!("hello"));
    assert_eq!(house.get("/").await.unwrap().data, json!("hello"));
}

#[tokio::test]
async fn cookies_are_never_sent_back() {
    let house = House::new().await;
    house.get("/cookies").await.unwrap();
    house.get("/").await.unwrap();
    assert!(house.upstream.requests().iter().all(|asked| asked.header("cookie").is_none()));
}

#[tokio::test]
async fn service_that_is_down_opens_the_circuit_and_refusals_do_not() {
    let house = House::new().await;
    for _ in 0..25 {
        assert!(house.failure("/status/404").await.contains("404"));
    }
    for _ in 0..20 {
        assert!(house.failure("/status/500").await.contains("500"));
    }
    let seen = house.upstream.requests().len();
    assert!(house.failure("/").await.starts_with("CIRCUIT_OPEN: the service failed 20 times in a row"));
    assert_eq!(house.upstream.requests().len(), seen);
}
