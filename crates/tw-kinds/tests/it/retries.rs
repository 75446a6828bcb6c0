//! What is tried again, how often, and under which key.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tw_model::Code;

use crate::House;

async fn tries(path: &str, more: Value) -> usize {
    let house = House::new().await;
    assert!(house.call(path, more, json!({})).await.is_err());
    house.upstream.requests().len()
}

#[tokio::test]
async fn only_what_may_pass_is_tried_again() {
    for path in ["/status/429", "/status/502", "/status/503", "/status/504", "/silent-close", "/reset"] {
        assert_eq!(tries(path, json!({ "retry": { "max": 2 } })).await, 3, "{path}");
        assert_eq!(tries(path, json!({})).await, 1, "{path}");
    }
    for path in ["/status/400", "/status/404", "/status/500", "/status/501", "/bad-chunk", "/redirect?to=/"] {
        assert_eq!(tries(path, json!({ "retry": { "max": 2 } })).await, 1, "{path}");
    }
}

#[tokio::test]
async fn request_with_an_effect_is_repeated_only_under_one_key() {
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let more = json!({ "method": method, "retry": { "max": 2 } });
        assert_eq!(tries("/status/503", more).await, 1, "{method}");
        assert_eq!(tries("/reset", json!({ "method": method, "retry": { "max": 2 } })).await, 1, "{method}");

        let house = House::new().await;
        let more =
            json!({ "method": method, "retry": { "max": 2 }, "idempotency_header": "Idempotency-Key" });
        house.call("/status/503", more, json!({ "a": 1 })).await.unwrap_err();
        let requests = house.upstream.requests();
        assert_eq!(requests.len(), 3, "{method}");
        assert!(requests.iter().all(|asked| asked.header("idempotency-key") == Some("run-1")));
        assert!(
            requests.iter().all(|asked| asked.body == requests[0].body && asked.path == requests[0].path)
        );
    }
}

#[tokio::test]
async fn answer_that_comes_in_the_end_is_the_outcome() {
    let house = House::new().await;
    let busy = "HTTP/1.1 503 No\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
    house.upstream.script([busy, busy, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"]);
    let result = house.call("/", json!({ "retry": { "max": 2 } }), json!({})).await.unwrap();
    assert_eq!(result.data, json!({}));
    assert_eq!(house.upstream.requests().len(), 3);
}

#[tokio::test]
async fn wait_that_does_not_fit_the_deadline_is_not_begun() {
    let house = House::new().await.within(Duration::from_secs(20));
    house.upstream.script(["HTTP/1.1 429 No\r\nretry-after: 999999999\r\ncontent-length: 4\r\n\r\nbusy"]);
    let started = Instant::now();
    let failure = house.call("/", json!({ "retry": { "max": 5 } }), json!({})).await.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (Code::UpstreamError, "HTTP 429: busy"));
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!(house.upstream.requests().len(), 1);
}
