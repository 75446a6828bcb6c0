//! What is found when a tool is saved.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tw_kinds::http::HttpSpec;

use crate::Members;

#[track_caller]
fn check(implementation: Value, expected: Expect) {
    let shown = match HttpSpec::read(&implementation, &Members) {
        Ok(spec) => format!("host {}, labels {:?}", spec.host(), spec.labels()),
        Err(faults) => faults.iter().map(|fault| format!("{}: {}\n", fault.path, fault.message)).collect(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn implementations_of_the_contract_are_read() {
    check(
        json!({
            "url": "https://api.example.com/v1/cities/{{ input.city }}", "method": "GET",
            "query": { "units": "{{ input.units }}" }, "headers": { "X-Api-Key": "secret:weather" },
            "body": {}, "response": ".current", "retry": { "max": 2 }, "idempotency_header": "Idempotency-Key",
        }),
        expect![[r#"host api.example.com, labels {"weather"}"#]],
    );
    check(
        json!({ "url": "https://api.weather.com/current", "method": "GET" }),
        expect!["host api.weather.com, labels {}"],
    );
    check(
        json!({
            "url": "https://h.test/bot secret:bot/?key=secret:key", "method": "post",
            "headers": { "Authorization": "Basic secret:crm", "X-User": "secret:crm.username", "X-None": null },
            "body": { "deep": ["secret:deep"] }, "query": null,
        }),
        expect![[r#"host h.test, labels {"bot", "crm", "crm.username", "deep", "key"}"#]],
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    check(
        json!({
            "url": "https://{{ input.host }}/", "method": "TRACE", "headers": {
                "Host": "evil.test", "content-length": "0", "X A": "b", "X-A": "{{ other }}", "x-a": "c", "X-L": [],
                "Proxy-Authorization": "x", "X-{{ input.a }}": "y", "X-S": "secret:", "X-T": "secret:{{ input.a }}",
            },
            "query": { "a": "{{ input.", "{{ input.b }}": 1 }, "body": { "x/y": ["{{ nothing }}"] },
            "response": "nonsense", "retry": { "max": 6, "min": 1 }, "idempotency_header": "X-A", "auth": {},
        }),
        expect![[r#"
            /implementation/auth: is not a known member
            /implementation/method: must be one of "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
            /implementation/url: must have a fixed scheme, host and port; expressions are allowed after the first `/` or `?`
            /implementation/query/a: must close every `{{` with `}}`
            /implementation/query/{{ input.b }}: must not contain an expression: names are fixed
            /implementation/headers/Host: cannot be sent: the header `host` must be left out: Toolwright sets it
            /implementation/headers/content-length: cannot be sent: the header `content-length` must be left out: Toolwright sets it
            /implementation/headers/X A: cannot be sent: the name of a header has characters that cannot be sent
            /implementation/headers/X-A: must use one of `input`; `other` is not known
            /implementation/headers/x-a: must be another header than `X-A`
            /implementation/headers/X-L: must be a string, not an array
            /implementation/headers/Proxy-Authorization: cannot be sent: the header `proxy-authorization` must be left out: Toolwright sets it
            /implementation/headers/X-{{ input.a }}: cannot be sent: the name of a header has characters that cannot be sent
            /implementation/headers/X-T: must have fixed text after `secret:`, and a space between it and any expression
            /implementation/idempotency_header: must be another header than `X-A`
            /implementation/body/x~1y/0: must use one of `input`; `nothing` is not known
            /implementation/response: must be a valid jq filter: `nonsense` is no filter
            /implementation/retry/min: is not a known member
            /implementation/retry/max: must be a whole number from 0 to 5
        "#]],
    );
    check(
        json!({}),
        expect![[r#"
        /implementation/url: is required
    "#]],
    );
    check(
        json!([]),
        expect![[r#"
        /implementation: must be an object, not an array
    "#]],
    );
    check(
        json!({ "url": 1, "method": 2, "headers": [], "query": "{{ input }}", "retry": 3, "response": "" }),
        expect![[r#"
            /implementation/method: must be one of "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
            /implementation/url: must be a string, not a number
            /implementation/query: must be an object, not a string
            /implementation/headers: must be an object, not an array
            /implementation/response: must not be empty
            /implementation/retry: must be an object, not a number
        "#]],
    );
    check(
        json!({ "url": "https://h.test/", "idempotency_header": "Host" }),
        expect![[r#"
        /implementation/idempotency_header: cannot be sent: the header `host` must be left out: Toolwright sets it
    "#]],
    );
}
