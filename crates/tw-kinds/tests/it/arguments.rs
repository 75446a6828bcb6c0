//! Where the input goes.

use serde_json::{Value, json};
use tw_model::Code;

use crate::{House, shown};

fn body(asked: &tw_test::hostile::Received) -> Value {
    serde_json::from_slice(&asked.body).unwrap()
}

#[tokio::test]
async fn get_has_its_arguments_in_the_query() {
    let house = House::new().await;
    let input = json!({ "city": "São Paulo", "n": 3, "yes": true, "none": null, "list": ["a", "b&c"], "o": { "k": 1 } });
    house.call("/weather", json!({}), input).await.unwrap();
    let asked = house.asked();
    assert_eq!(asked.method, "GET");
    assert_eq!(
        asked.path,
        "/weather?city=S%C3%A3o%20Paulo&n=3&yes=true&list=a&list=b%26c&o=%7B%22k%22%3A1%7D"
    );
    assert!(asked.body.is_empty());
}

#[tokio::test]
async fn post_has_its_arguments_in_a_json_body() {
    let house = House::new().await;
    let input = json!({ "id": "7", "big": u64::MAX, "none": null });
    house.call("/items/{{ input.id }}", json!({ "method": "POST" }), input).await.unwrap();
    let asked = house.asked();
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/items/7"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(body(&asked), json!({ "big": u64::MAX, "none": null }));
}

#[tokio::test]
async fn post_with_a_query_has_the_rest_of_its_arguments_in_the_body() {
    let house = House::new().await;
    let more = json!({ "method": "POST", "query": { "units": "{{ input.units }}", "l": "{% if input.l %}{{ input.l }}{% endif %}", "v": 2 } });
    let input = json!({ "id": "7", "units": "metric", "l": "de", "text": "x", "n": 1 });
    house.call("/items/{{ input.id }}", more, input).await.unwrap();
    let asked = house.asked();
    assert_eq!(asked.path, "/items/7?units=metric&l=de&v=2");
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(body(&asked), json!({ "text": "x", "n": 1 }));

    let house = House::new().await;
    house.call("/", json!({ "method": "DELETE", "query": { "v": 2 } }), json!({ "a": 1 })).await.unwrap();
    let asked = house.asked();
    assert_eq!((asked.path.as_str(), asked.body.len()), ("/?v=2", 0));
}

#[tokio::test]
async fn argument_that_has_its_place_is_not_sent_twice() {
    let more = json!({ "headers": { "X-T": "{{ input.a }}", "X-U": "t-{{ input['b'] }}", "X-V": "{{ input.c.d }}" } });
    let input = json!({ "a": "1", "b": "2", "c": { "d": "3" }, "id": "4", "input": { "e": "6" }, "e": "5" });
    for (method, path, body) in [("GET", "/4/6?e=5", ""), ("POST", "/4/6", r#"{"e":"5"}"#)] {
        let house = House::new().await;
        let mut more = more.clone();
        more["method"] = json!(method);
        let url = "/{{ input[ \"id\" ] }}/{{ input.input[\"e\"] }}";
        house.call(url, more, input.clone()).await.unwrap();
        let asked = house.asked();
        assert_eq!(
            (asked.header("x-t"), asked.header("x-u"), asked.header("x-v")),
            (Some("1"), Some("t-2"), Some("3"))
        );
        assert_eq!((asked.path.as_str(), String::from_utf8_lossy(&asked.body).as_ref()), (path, body));
    }
}

#[tokio::test]
async fn what_the_author_says_is_sent_and_nothing_else() {
    let house = House::new().await;
    let more = json!({
        "method": "PUT", "query": { "units": "{{ input.units }}", "lang": "{{ input.lang }}", "v": 2, "q": "{{ input.tags }}" },
        "headers": { "X-Trace": "t-{{ input.trace }}", "X-Opt": "{{ input.opt }}", "X-Null": "{{ input.null }}", "X-N": 5 },
        "body": { "n": "{{ input.n }}", "opt": "{{ input.opt }}", "null": "{{ input.null }}", "text": "<{{ input.n }}>" },
    });
    let input = json!({ "units": "metric", "trace": "1", "n": 9_007_199_254_740_993_u64, "null": null, "tags": ["a", "b"], "other": 1 });
    house.call("/x", more, input).await.unwrap();
    let asked = house.asked();
    assert_eq!(asked.path, "/x?units=metric&v=2&q=a&q=b");
    assert_eq!((asked.header("x-trace"), asked.header("x-n")), (Some("t-1"), Some("5")));
    assert_eq!((asked.header("x-opt"), asked.header("x-null")), (None, None));
    assert_eq!(
        body(&asked),
        json!({ "n": 9_007_199_254_740_993_u64, "null": null, "text": "<9007199254740993>" })
    );
}

#[tokio::test]
async fn body_is_written_as_its_content_type_says() {
    let form = json!({ "method": "POST", "headers": { "Content-Type": "application/x-www-form-urlencoded" }, "body": { "a": "{{ input.a }}", "b": [1, 2] } });
    let text = json!({ "method": "POST", "headers": { "content-type": "text/plain; charset=utf-8" }, "body": "a={{ input.a }}" });
    let whole = json!({ "method": "POST", "body": "{{ input }}" });
    let absent = json!({ "method": "POST", "body": "{{ input.nothing }}" });
    for (more, sent) in
        [(form, "a=x%26+%22&b=1&b=2"), (text, "a=x& \""), (whole, r#"{"a":"x& \""}"#), (absent, "")]
    {
        let house = House::new().await;
        house.call("/", more, json!({ "a": "x& \"" })).await.unwrap();
        assert_eq!(String::from_utf8(house.asked().body).unwrap(), sent);
    }
}

#[tokio::test]
async fn expression_in_the_input_is_sent_as_it_is() {
    let house = House::new().await;
    let more = json!({ "method": "POST", "body": { "a": "{{ input.a }}", "b": "x {{ input.a }}" } });
    for text in ["{{7*7}}", "{% include 'x' %}", "${7*7}", "{{ input.b }}", "secret:weather", "{# x #}"] {
        house.call("/", more.clone(), json!({ "a": text, "b": "B" })).await.unwrap();
        let asked = house.upstream.requests().pop().unwrap();
        assert_eq!(body(&asked), json!({ "a": text, "b": format!("x {text}") }));
    }
}

#[tokio::test]
async fn argument_cannot_leave_its_header() {
    let house = House::new().await;
    let more = json!({ "headers": { "X-Note": "{{ input.note }}", "X-More": "n: {{ input.note }}" } });
    for note in ["a\r\nHost: evil.test", "a\nAuthorization: Bearer x", "a\rb", "a\0b", "\u{7f}"] {
        let failure = house.call("/", more.clone(), json!({ "note": note })).await.unwrap_err();
        assert_eq!(
            shown(&failure),
            "INVALID_PARAMS: the value of the header `X-Note` must not have a line break or another control character"
        );
    }
    let failure = house.call("/", more, json!({ "note": { "a": 1 } })).await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    assert_eq!(house.upstream.connections(), 0);
}

#[tokio::test]
async fn argument_named_like_a_header_is_none() {
    let house = House::new().await;
    let input =
        json!({ "Host": "evil.test", "Authorization": "Bearer x", "headers": { "Authorization": "y" } });
    house.call("/", json!({ "headers": { "X-A": "b" } }), input).await.unwrap();
    let asked = house.asked();
    assert_eq!(asked.header("host"), Some(house.upstream.host_and_port().as_str()));
    assert_eq!(asked.header("authorization"), None);
}

#[tokio::test]
async fn argument_cannot_leave_its_segment() {
    let house = House::new().await;
    for city in ["../admin", "%2e%2e", "a/b", "?x=", "#", "@evil.test", "\\\\evil.test\\"] {
        house.call("/v1/{{ input.city }}/now", json!({}), json!({ "city": city })).await.unwrap();
        let path = house.upstream.requests().pop().unwrap().path;
        let segments: Vec<_> = path.split('/').collect();
        assert_eq!((segments.len(), segments[1], segments[3]), (4, "v1", "now"), "{path}");
        assert!(!path.contains(['?', '#', '@', '\\']), "{path}");
    }
    let seen = house.upstream.requests().len();
    for city in [json!("."), json!(".."), json!(""), json!(null), json!([])] {
        let failure =
            house.call("/v1/{{ input.city }}/now", json!({}), json!({ "city": city })).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidParams, "{failure}");
    }
    assert_eq!(house.upstream.requests().len(), seen);
}

#[tokio::test]
async fn missing_argument_within_a_text_is_named_before_anything_is_sent() {
    let house = House::new().await;
    let failure = house
        .call("/", json!({ "headers": { "X-A": "Bearer {{ input.token }}" } }), json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        shown(&failure),
        "INVALID_PARAMS: `input.token` has no value, but `/implementation/headers/X-A` requires one"
    );
    assert_eq!(house.upstream.connections(), 0);
}
