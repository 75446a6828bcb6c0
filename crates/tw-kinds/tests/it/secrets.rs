//! Credentials: in the request, and nowhere else.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tw_model::Code;

use crate::House;

const KEY: &str = "canary/k3y+\"q\" 1";

#[tokio::test]
async fn reference_is_filled_in_wherever_an_author_writes_it() {
    let house = House::new().await.secret("weather", KEY).secret("crm.token", "canary-token");
    let more = json!({
        "method": "POST", "query": { "key": "secret:weather" },
        "headers": { "X-Api-Key": "secret:weather", "Authorization": "Bearer secret:crm.token" },
        "body": { "deep": ["k=secret:weather"], "said": "{{ input.said }}" },
    });
    house
        .call("/bot/secret:crm.token/?k=secret:crm.token", more, json!({ "said": "secret:weather" }))
        .await
        .unwrap();
    let asked = house.asked();
    assert_eq!(asked.path, "/bot/canary-token/?k=canary-token&key=canary%2Fk3y%2B%22q%22%201");
    assert_eq!(asked.header("x-api-key"), Some(KEY));
    assert_eq!(asked.header("authorization"), Some("Bearer canary-token"));
    let body: Value = serde_json::from_slice(&asked.body).unwrap();
    assert_eq!(body, json!({ "deep": [format!("k={KEY}")], "said": "secret:weather" }));
}

#[tokio::test]
async fn echoed_credential_is_hidden_in_data_and_in_failures() {
    let literal = "literal-canary";
    let more = json!({
        "method": "POST", "query": { "key": "secret:weather" }, "body": { "k": "secret:weather" },
        "headers": { "Authorization": format!("Bearer {literal}"), "X-Key": "secret:weather", "X-Basic": "Basic secret:basic" },
    });
    let basic = STANDARD.encode("user:canary-password");
    let house = House::new().await.secret("weather", KEY).secret("basic", &basic);
    let echoed = house.call("/echo", more.clone(), json!({})).await.unwrap();
    let text = format!("{echoed:?}");
    assert!(text.contains("***"), "{text}");
    for secret in ["canary", basic.as_str()] {
        assert!(!text.contains(secret), "{text}");
    }

    let quoted = json!({ "error": format!("bad key {KEY} of user:canary-password"), (KEY): KEY }).to_string();
    for (status, filter) in [("200 OK", Value::Null), ("200 OK", json!(".gone")), ("401 No", Value::Null)] {
        house
            .upstream
            .script([format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{quoted}", quoted.len())]);
        let mut more = more.clone();
        more["response"] = filter;
        let text = format!("{:?}", house.call("/", more, json!({})).await);
        assert!(text.contains("***") && !text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn header_that_is_no_secret_stays_in_the_answer() {
    let house = House::new().await.secret("short", "k-123");
    let more = json!({ "headers": {
        "X-Units": "metric", "X-GitHub-Api-Version": "2022-11-28", "X-Id": "123456", "X-Key": "secret:short",
    } });
    let body = json!({
        "metric": "metric units", "n": 9_123_456, "id": 123_456, "since": "2022-11-28", "key": "k-123",
        "sent": STANDARD.encode("Bearer k-123"),
    });
    let body = body.to_string();
    house.upstream.script([format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())]);
    let data = house.call("/", more, json!({})).await.unwrap().data;
    let sent = data["sent"].as_str().unwrap();
    assert!(sent.contains("***") && !sent.contains("LTEy"), "{sent}");
    assert_eq!(
        data,
        json!({
            "metric": "metric units", "n": 9_123_456, "id": 123_456, "since": "2022-11-28", "key": "***", "sent": sent,
        })
    );
}

#[tokio::test]
async fn setting_that_sounds_like_a_secret_stays_in_the_answer() {
    let house = House::new().await;
    let more = json!({
        "method": "POST", "headers": { "X-Session-Type": "read" }, "query": { "secret_scanning": "open" },
        "body": { "model": "m", "max_tokens": 4096, "token_type": "Bearer", "api_key": "canary-1" },
    });
    let answer = json!({ "limit": 4096, "type": "Bearer", "state": "already open", "key": "canary-1", "old": "canary-2" });
    let body = answer.to_string();
    house.upstream.script([format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())]);
    let data = house.call("/?access_token=canary-2", more, json!({})).await.unwrap().data;
    assert_eq!(
        data,
        json!({ "limit": 4096, "type": "Bearer", "state": "already open", "key": "***", "old": "***" })
    );
}

#[tokio::test]
async fn credential_is_hidden_before_a_failure_is_cut() {
    let house = House::new().await.secret("weather", "canary-canary-canary");
    let body = format!("{}canary-canary-canary", "x".repeat(490));
    house.upstream.script([format!("HTTP/1.1 500 No\r\ncontent-length: {}\r\n\r\n{body}", body.len())]);
    let more = json!({ "headers": { "X-Key": "secret:weather" } });
    let failure = house.call("/", more, json!({})).await.unwrap_err();
    assert_eq!(failure.message, format!("HTTP 500: {}***", "x".repeat(490)));
}

#[tokio::test]
async fn missing_credential_stops_the_call_before_it_is_sent() {
    let house = House::new().await;
    let failure =
        house.call("/", json!({ "headers": { "X-Key": "secret:weather" } }), json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::CredentialMissing);
    assert_eq!(house.upstream.connections(), 0);
}

#[tokio::test]
async fn credential_with_a_line_break_is_refused_and_not_shown() {
    let house = House::new().await.secret("weather", "canary\r\nHost: evil.test");
    let failure =
        house.call("/", json!({ "headers": { "X-Key": "secret:weather" } }), json!({})).await.unwrap_err();
    assert!(failure.message.contains("line break") && !failure.message.contains("canary"), "{failure}");
    assert_eq!(house.upstream.connections(), 0);
}

#[tokio::test]
async fn credential_goes_to_the_hosts_of_its_list_alone() {
    let more = json!({ "headers": { "X-Key": "secret:weather" } });
    let house = House::new().await.bound("weather", "canary", &["*.example.com", "127.0.0.1"]);
    house.call("/", more.clone(), json!({})).await.unwrap();
    assert_eq!(house.asked().header("x-key"), Some("canary"));

    for hosts in [&["api.example.com", "*.127.0.0.1"][..], &[]] {
        let house = House::new().await.bound("weather", "canary", hosts);
        let failure = house.call("/", more.clone(), json!({})).await.unwrap_err();
        assert_eq!(failure.code, Code::EgressDenied);
        assert!(failure.message.contains("`weather`") && !failure.message.contains("canary"), "{failure}");
        assert_eq!(house.upstream.connections(), 0);
    }
}
