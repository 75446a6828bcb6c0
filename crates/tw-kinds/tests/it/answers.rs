//! What becomes of an answer.

use serde_json::{Value, json};
use tw_model::Code;

use crate::House;

/// Calls an upstream that says what it is told to.
async fn answered(
    kind: &str,
    body: &[u8],
    more: Value,
) -> Result<tw_model::ToolResult, tw_model::ToolFailure> {
    let house = House::new().await;
    let kind = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
    house.upstream.script([[
        format!("HTTP/1.1 200 OK\r\n{kind}content-length: {}\r\n\r\n", body.len()).as_bytes(),
        body,
    ]
    .concat()]);
    house.call("/", more, json!({})).await
}

async fn data(kind: &str, body: &[u8]) -> Value {
    answered(kind, body, json!({})).await.unwrap().data
}

#[tokio::test]
async fn answer_is_data_by_its_type_or_by_its_look() {
    let object = br#" {"n": 9007199254740993, "a": [null]} "#;
    let value = json!({ "n": 9_007_199_254_740_993_u64, "a": [null] });
    for kind in [
        "application/json",
        "application/problem+json; charset=utf-8",
        "Application/JSON",
        "text/plain",
        "",
        "text/html",
    ] {
        assert_eq!(data(kind, object).await, value, "{kind}");
    }
    assert_eq!(data("application/json", b"\xef\xbb\xbf[1]").await, json!([1]));
    assert_eq!(data("application/json", b"42").await, json!(42));
    assert_eq!(data("", b"42").await, json!(42));
    assert_eq!(data("text/plain", b"42").await, json!("42"));
    assert_eq!(data("text/plain", b"0042").await, json!("0042"));
    assert_eq!(data("text/plain", b"{not json").await, json!("{not json"));
    assert_eq!(data("text/plain", "grüße".as_bytes()).await, json!("grüße"));
    assert_eq!(data("application/json", b"").await, Value::Null);
    assert_eq!(data("text/plain", b" \n").await, Value::Null);
}

#[tokio::test]
async fn answer_is_read_in_the_letters_that_its_type_names() {
    let table: [(&str, &[u8], Value); 5] = [
        ("text/plain; charset=iso-8859-1", b"caf\xe9", json!("café")),
        ("text/csv; charset=windows-1252", b"1;\x80", json!("1;€")),
        ("application/json; charset=iso-8859-1", b"[\"caf\xe9\"]", json!(["café"])),
        ("application/json; charset=utf-16le", b"[\x001\x00]\x00", json!([1])),
        ("application/json; charset=utf-16", b"\xfe\xff\x00[\x001\x00]", json!([1])),
    ];
    for (kind, body, expected) in table {
        assert_eq!(data(kind, body).await, expected, "{kind}");
    }
    let failure = answered("text/plain", b"caf\xe9", json!({})).await.unwrap_err();
    assert_eq!(failure.message, "the service answered with 4 bytes that are not text, of type `text/plain`");
}

#[tokio::test]
async fn answer_that_is_no_text_or_not_what_it_claims_is_a_failure() {
    for (kind, body, text) in [
        (
            "image/png",
            &b"\x89PNG\r\n\x1a\n\0"[..],
            "the service answered with 9 bytes that are not text, of type `image/png`",
        ),
        ("", b"a\0b", "the service answered with 3 bytes that are not text"),
        (
            "application/json",
            b"<html>",
            "the service claims to send JSON, but the body is not JSON: expected value at line 1 column 1",
        ),
    ] {
        let failure = answered(kind, body, json!({})).await.unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (Code::UpstreamError, text));
    }
    let deep = "[".repeat(100_000);
    assert_eq!(
        answered("application/json", deep.as_bytes(), json!({})).await.unwrap_err().code,
        Code::UpstreamError
    );
}

#[tokio::test]
async fn filter_picks_from_the_answer() {
    let body = br#"{"current": {"t": 3}}"#;
    let result = answered("application/json", body, json!({ "response": ".current" })).await.unwrap();
    assert_eq!(result.data, json!({ "t": 3 }));
    assert_eq!(result.summary, "HTTP 200 from 127.0.0.1, 21 B");
    let failure = answered("application/json", body, json!({ "response": ".gone" })).await.unwrap_err();
    assert_eq!(failure.code, Code::ToolFailed);
}

#[tokio::test]
async fn other_status_than_success_is_a_failure_with_its_first_words() {
    let house = House::new().await;
    for status in [400, 401, 404, 422, 500, 599] {
        assert_eq!(
            house.failure(&format!("/status/{status}")).await,
            format!("UPSTREAM_ERROR: HTTP {status}: so")
        );
    }
    let body = "ü".repeat(600);
    house.upstream.script([format!("HTTP/1.1 418 No\r\ncontent-length: {}\r\n\r\n{body}", body.len())]);
    let failure = house.get("/").await.unwrap_err();
    assert_eq!(failure.message, format!("HTTP 418: {}", "ü".repeat(500)));
}

#[tokio::test]
async fn status_of_the_third_hundred_is_called_a_redirect_only_where_it_is_one() {
    let house = House::new().await;
    for (status, text) in [
        (300, "the service has several answers and chooses none"),
        (304, "not modified: the request has conditional headers, so the service sent no content"),
        (305, "the service requires a proxy, which is not supported"),
        (308, "the service redirects, and redirects are not followed; use the final URL"),
        (399, ""),
    ] {
        house.upstream.script([format!("HTTP/1.1 {status} So\r\ncontent-length: 0\r\n\r\n")]);
        assert_eq!(house.failure("/").await, format!("UPSTREAM_ERROR: HTTP {status}: {text}"));
    }
}

#[tokio::test]
async fn redirect_is_a_failure_and_is_not_followed() {
    let house = House::new().await;
    for to in ["/elsewhere", "http://169.254.169.254/latest", "http://127.0.0.1:1/", "file:///etc/passwd"] {
        let failure = house.get(&format!("/redirect?to={to}")).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError);
        assert_eq!(
            failure.message,
            "HTTP 302: the service redirects, and redirects are not followed; use the final URL"
        );
    }
    assert!(house.upstream.requests().iter().all(|asked| asked.path.starts_with("/redirect")));
}

#[tokio::test]
async fn answer_in_the_shape_of_a_result_is_read_as_one() {
    let json = "application/json";
    let whole = br#"{ "success": true, "summary": "2 found", "data": [1, 2], "markdown": "**2**" }"#;
    let result = answered(json, whole, json!({})).await.unwrap();
    assert_eq!((result.data, result.summary.as_str()), (json!([1, 2]), "2 found"));
    assert_eq!(result.markdown.as_deref(), Some("**2**"));

    let failed =
        br#"{ "success": false, "summary": "none sent", "error": "no route", "data": { "sent": 0 } }"#;
    let failure = answered(json, failed, json!({})).await.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (Code::ToolFailed, "no route"));
    let said = failure.said.unwrap();
    assert_eq!((said.summary.as_str(), said.data), ("none sent", json!({ "sent": 0 })));

    let failure = answered(json, br#"{ "error": "no such file" }"#, json!({})).await.unwrap_err();
    assert_eq!(failure.message, "no such file");
    let filtered = answered(json, br#"{ "d": { "error": "x" } }"#, json!({ "response": ".d" })).await;
    assert_eq!(filtered.unwrap_err().message, "x");
}
