//! Templates that take long, beside callers who have nothing to do with them.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use serde_json::json;
use tw_model::Code;

use crate::House;

/// One thread serves everything here, as it does when all others are busy.
#[tokio::test]
async fn expensive_templates_of_one_tenant_hold_up_nobody() {
    let (busy, other) = (House::new().await, House::new().await);
    let endless = "{% for a in range(9000) %}{% if input.text | upper == 'x' %}{% endif %}{% endfor %}";
    let done = AtomicUsize::new(0);
    let expensive = join_all((0..8).map(|_| async {
        let more = json!({ "method": "POST", "body": { "text": endless } });
        let failure = busy.call("/", more, json!({ "text": "x".repeat(20_000) })).await.unwrap_err();
        done.fetch_add(1, Ordering::SeqCst);
        failure
    }));
    // Where templates ran on this thread, all of them would be over before this is polled a second time.
    let watching = async {
        let mut polls = 0;
        while done.load(Ordering::SeqCst) < 8 {
            tokio::task::yield_now().await;
            polls += 1;
        }
        polls
    };
    let small = async {
        other.get("/").await.unwrap();
        let greeting = json!({ "query": { "a": "{{ input.a | join(',') }}" } });
        other.call("/", greeting, json!({ "a": [1, 2] })).await.unwrap();
        done.load(Ordering::SeqCst)
    };
    let (failures, polls, done_before) = tokio::join!(expensive, watching, small);
    for failure in failures {
        assert_eq!(failure.code, Code::InvalidParams);
        assert!(failure.message.contains("more than 67108864 bytes"), "{failure}");
    }
    assert!(100 < polls, "{polls}");
    assert!(done_before < 8, "another tenant waited for all of them");
    assert_eq!(busy.upstream.connections(), 0);
}
