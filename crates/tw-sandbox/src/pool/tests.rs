use serde_json::Value;

use super::*;

#[tokio::test]
async fn request_that_waits_too_long_for_a_worker_is_told_so() {
    let sandbox = sandbox();
    let _all = sandbox.pool.seats.acquire_many(2).await.unwrap();

    let error = sandbox.jq(".", &Value::Null, JqLimits::default()).await.unwrap_err();

    assert_eq!(error.to_string(), "all workers are busy");
    assert!(error.is_retryable());
}

#[tokio::test]
async fn queue_apart_never_has_all_workers() {
    let apart = sandbox().apart();
    let _endless = Arc::clone(&apart.lane).acquire_owned().await.unwrap();

    let error = apart.jq(".", &Value::Null, JqLimits::default()).await.unwrap_err();

    assert_eq!(error.to_string(), "all workers are busy");
    assert_eq!(apart.pool.seats.available_permits(), 2);
}

#[tokio::test]
async fn worker_that_cannot_be_started_is_an_error_that_may_pass() {
    let error = sandbox().jq(".", &Value::Null, JqLimits::default()).await.unwrap_err();

    assert_eq!(error.to_string(), "a worker cannot be started");
    assert!(error.is_retryable());
}

fn sandbox() -> Sandbox {
    let nothing = Worker { program: "/nowhere/at-all".into(), args: Vec::new() };
    Sandbox::with(nothing, 2, Duration::from_millis(20))
}
