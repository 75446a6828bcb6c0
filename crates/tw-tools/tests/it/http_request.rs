//! `http_request` against a server that does what it is told.

use serde_json::{Value, json};
use toolwright_sdk::{Code, ToolFailure};
use tw_test::Upstream;

use crate::{house::Hut, run};

async fn ask(upstream: &Upstream, input: Value) -> Result<Value, ToolFailure> {
    Ok(run("http_request", Hut::near(&[upstream]).context(), input).await?.data)
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn request_is_sent_as_asked_and_its_answer_comes_back() {
    let upstream = Upstream::start().await;
    upstream
        .script([answer("201 Created\r\ncontent-type: application/json\r\nx-a: 1\r\nx-a: 2", r#"{"id":7}"#)]);
    let input = json!({
        "url": upstream.url("/orders?a=b"), "method": "POST", "headers": { "X-Source": "desk" },
        "query": { "page": 2, "q": "ä & b", "all": true }, "body": { "item": "A-17" },
    });
    let given = ask(&upstream, input).await.unwrap();
    assert_eq!(given["status"], 201);
    assert_eq!(given["body"], json!({ "id": 7 }));
    assert_eq!(given["bytes"], 8);
    assert_eq!(given["headers"]["x-a"], "1, 2");

    let asked = upstream.requests().remove(0);
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/orders?a=b&all=true&page=2&q=%C3%A4+%26+b")
    );
    assert_eq!(asked.header("x-source"), Some("desk"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.body, br#"{"item":"A-17"}"#);
}

#[tokio::test]
async fn text_is_sent_as_it_stands_and_keeps_the_type_it_is_given() {
    let upstream = Upstream::start().await;
    let url = upstream.url("/");
    ask(&upstream, json!({ "url": url, "method": "PUT", "body": "a=1" })).await.unwrap();
    let typed = json!({ "Content-Type": "application/x-www-form-urlencoded" });
    ask(&upstream, json!({ "url": url, "method": "PUT", "body": "a=1", "headers": typed })).await.unwrap();
    ask(&upstream, json!({ "url": url })).await.unwrap();
    let requests = upstream.requests();
    assert_eq!(requests[0].header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(requests[1].header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(requests[1].body, b"a=1");
    assert_eq!((requests[2].method.as_str(), requests[2].header("content-type")), ("GET", None));
}

#[tokio::test]
async fn status_that_is_no_success_is_a_result() {
    let upstream = Upstream::start().await;
    for status in [404, 500, 503] {
        let given =
            ask(&upstream, json!({ "url": upstream.url(&format!("/status/{status}")) })).await.unwrap();
        assert_eq!((&given["status"], &given["body"]), (&json!(status), &json!("so")));
    }
}

#[tokio::test]
async fn redirect_is_shown_and_not_followed() {
    let upstream = Upstream::start().await;
    let given = ask(&upstream, json!({ "url": upstream.url("/redirect?to=/there") })).await.unwrap();
    assert_eq!(given["status"], 302);
    assert_eq!(given["headers"]["location"], "/there");
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn body_is_json_where_it_is_json_and_else_text() {
    let upstream = Upstream::start().await;
    let table = [
        ("content-type: application/json", "[1]", json!([1])),
        ("content-type: application/problem+json", r#""a""#, json!("a")),
        ("content-type: application/json", "oops", json!("oops")),
        ("content-type: text/plain", "0123", json!("0123")),
        ("content-type: text/plain", "12", json!("12")),
        ("content-type: text/plain", r#"{"a":1}"#, json!({ "a": 1 })),
        ("x-type: none", "12", json!(12)),
        ("content-type: text/plain", "", json!(null)),
        ("content-type: image/png", "\0PNG", json!(null)),
    ];
    for (header, body, expected) in table {
        upstream.script([answer(&format!("200 OK\r\n{header}"), body)]);
        let given = ask(&upstream, json!({ "url": upstream.url("/") })).await.unwrap();
        assert_eq!(given["body"], expected, "{header} {body:?}");
    }
}

#[tokio::test]
async fn body_is_read_in_the_letters_that_its_type_names() {
    let upstream = Upstream::start().await;
    let table: [(&str, &[u8], Value); 6] = [
        ("text/plain; charset=iso-8859-1", b"caf\xe9", json!("café")),
        ("text/csv; charset=windows-1252", b"1;\x80", json!("1;€")),
        ("application/json; charset=iso-8859-1", b"[\"caf\xe9\"]", json!(["café"])),
        ("application/json; charset=utf-16le", b"[\x001\x00]\x00", json!([1])),
        ("application/json; charset=utf-16", b"\xfe\xff\x00[\x001\x00]", json!([1])),
        ("text/plain", b"caf\xe9", json!(null)),
    ];
    for (kind, body, expected) in table {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        upstream.script([[head.as_bytes(), body].concat()]);
        let given = ask(&upstream, json!({ "url": upstream.url("/") })).await.unwrap();
        assert_eq!(given["body"], expected, "{kind}");
        assert_eq!(given["bytes"], body.len(), "{kind}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_the_callers_mistake() {
    let upstream = Upstream::start().await;
    let url = upstream.url("/");
    for input in [
        json!({ "url": url, "headers": { "x-a": "b\r\nx-c: d" } }),
        json!({ "url": url, "headers": { "x-a\nb": "c" } }),
        json!({ "url": url, "headers": { "host": "evil.test" } }),
        json!({ "url": "ftp://example.com/" }),
        json!({ "url": "no address" }),
        json!({ "url": "mailto:a@b.test", "query": { "a": "b" } }),
        json!({ "url": url, "method": "TRACE" }),
        json!({ "url": url, "query": { "a": ["b"] } }),
    ] {
        let failure = ask(&upstream, input.clone()).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidParams, "{input}: {failure}");
    }
    assert_eq!(upstream.connections(), 0);
}

#[tokio::test]
async fn address_within_is_refused_and_a_broken_line_is_told() {
    let (upstream, shut) = (Upstream::start().await, Upstream::start().await);
    for url in [shut.url("/"), "http://169.254.169.254/".to_owned(), "http://10.0.0.1/".to_owned()] {
        let failure = ask(&upstream, json!({ "url": url })).await.unwrap_err();
        assert_eq!(failure.code, Code::EgressDenied, "{failure}");
        assert!(failure.message.contains("egress.allow"), "{failure}");
    }
    assert_eq!(shut.connections(), 0);
    for path in ["/reset", "/no-http", "/huge", "/gzip-bomb"] {
        let failure = ask(&upstream, json!({ "url": upstream.url(path) })).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError, "{path}: {failure}");
    }
}
