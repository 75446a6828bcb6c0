//! Traces and metrics for a collector: what is told, what is not, and that nobody waits for it.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, Upstream};

use crate::{
    canary::holds,
    world::{World, eventually},
};

const SOON: Duration = Duration::from_secs(20);
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SENDER: &str = "b7ad6b7169203331";

/// What was sent to a path of the collector.
fn sent(collector: &Upstream, path: &str) -> Vec<Value> {
    let requests = collector.requests().into_iter().filter(|request| request.path == path);
    requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

fn spans(collector: &Upstream) -> Vec<Value> {
    let of = |sent: Value| sent["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
    sent(collector, "/v1/traces").into_iter().flat_map(of).collect()
}

fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|one| one["key"] == key).map(|one| &one["value"]["stringValue"])
}

#[tokio::test(flavor = "multi_thread")]
async fn run_its_steps_and_their_requests_are_one_trace_without_what_was_in_them() {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let (collector, upstream) = (Upstream::start().await, Upstream::start().await);
    let environment = [
        ("TOOLWRIGHT_OTEL__ENDPOINT", collector.url("")),
        ("TOOLWRIGHT_OTEL__HEADERS__X_COLLECTOR_KEY", "k-collector".to_owned()),
        ("TOOLWRIGHT_EGRESS__ALLOW", upstream.host_and_port()),
    ];
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut server = world.server_with(&[], &environment);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let call = json!({
        "slug": "call", "name": "Call", "description": "Calls.", "publish": true, "permission_level": "read",
        "implementation_type": "http", "input_schema": { "type": "object" },
        "implementation": { "url": upstream.url("/canary-path"), "headers": { "x-key": "canary-header" } },
    });
    admin.post("/api/tools", &call).await.is("201 published");
    let chain = json!({
        "slug": "chain", "name": "Chain", "description": "One step.", "publish": true,
        "input_schema": { "type": "object" }, "execution_spec": { "kind": "composition", "steps": [
            { "id": "one", "tool": "call", "input": { "q": "canary-input" } }] },
    });
    admin.post("/api/tools", &chain).await.is("201 published");

    let traced = admin.request(Method::POST, "/api/tools/chain/run");
    let traced = traced.header("traceparent", format!("00-{TRACE}-{SENDER}-01"));
    let run = admin.send(traced.json(&json!({ "input": {} }))).await.is("200 success").text_at("/run_id");
    let failed = admin
        .run("test.fail", json!({ "message": "canary-message" }))
        .await
        .is("200 error")
        .text_at("/run_id");
    // Whoever does not want a trace recorded gets none.
    let unsampled = admin.request(Method::POST, "/api/tools/test.echo/run");
    let unsampled = unsampled.header("traceparent", format!("00-{TRACE}-{SENDER}-00"));
    admin.send(unsampled.json(&json!({ "input": { "value": "canary-value" } }))).await.is("200 success");
    let agent = world.agent(&server, "acme").await;
    let parked = agent.run("test.write", json!({ "file": world.ledger("l"), "line": "canary-line" })).await;
    let approval = parked.is("202 needs_approval").text_at("/approval_id");
    admin.post(&format!("/api/approvals/{approval}/approve"), &json!({})).await.is("200 success");

    assert_eq!(server.terminate().0, Some(0));
    let spans = spans(&collector);
    let named = |name: &str| {
        let found: Vec<_> = spans.iter().filter(|span| span["name"] == name).collect();
        assert_eq!(found.len(), 1, "{name}: {spans:#?}");
        found[0]
    };
    let (whole, step, request) = (named("run chain"), named("run call"), named("GET"));
    for span in [whole, step, request] {
        assert_eq!(span["traceId"], TRACE);
        let time = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
    }
    assert_eq!(
        [&whole["parentSpanId"], &step["parentSpanId"], &request["parentSpanId"]],
        [&json!(SENDER), &whole["spanId"], &step["spanId"]]
    );
    assert_eq!(json!([whole["kind"], step["kind"], request["kind"]]), json!([2, 1, 3]));
    assert_eq!(attribute(whole, "toolwright.run_id"), Some(&json!(run)));
    assert_eq!(attribute(whole, "toolwright.status"), Some(&json!("success")));
    assert_eq!(attribute(request, "server.address"), Some(&json!(upstream.url(""))));
    let upstream_saw = upstream.requests()[0].header("traceparent").unwrap().to_owned();
    assert_eq!(upstream_saw, format!("00-{TRACE}-{}-01", step["spanId"].as_str().unwrap()));
    let failure = named("run test.fail");
    assert_eq!(failure["traceId"], failed.replace('-', ""), "a trace of its own");
    assert_eq!((&failure["parentSpanId"], &failure["status"]["code"]), (&Value::Null, &json!(2)));
    assert_eq!(attribute(failure, "error.type"), Some(&json!("TOOL_FAILED")));
    let (written, waited) = (named("run test.write"), named("wait for approval"));
    assert_eq!((&waited["parentSpanId"], &waited["traceId"]), (&written["spanId"], &written["traceId"]));
    assert_eq!(attribute(written, "toolwright.agent"), Some(&json!("bot")));
    assert!(!spans.iter().any(|span| span["name"] == "run test.echo"));

    let metrics = sent(&collector, "/v1/metrics").pop().unwrap();
    let all = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
    let runs = all.iter().find(|metric| metric["name"] == "toolwright_runs_total").unwrap();
    assert_eq!(
        (&runs["sum"]["isMonotonic"], &runs["sum"]["aggregationTemporality"]),
        (&json!(true), &json!(2))
    );
    assert!(all.iter().any(|metric| metric.get("histogram").is_some()));
    for request in collector.requests() {
        assert!(!holds(&request.body, "canary"), "{}", String::from_utf8_lossy(&request.body));
        assert_eq!(request.header("x_collector_key"), Some("k-collector"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn collector_that_is_dead_or_silent_holds_up_no_call_and_no_end() {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let silent = Upstream::start().await;
    for endpoint in ["http://127.0.0.1:1".to_owned(), silent.url("/hang?")] {
        let endpoint = endpoint.trim_end_matches('?').to_owned();
        let mut server = world.server_with(&[], &[("TOOLWRIGHT_OTEL__ENDPOINT", &endpoint)]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let began = Instant::now();
        for value in 0..20 {
            admin.run("test.echo", json!({ "value": value })).await.is("200 success");
        }
        assert!(began.elapsed() < Duration::from_secs(5), "calls wait for the collector");
        if endpoint.ends_with(":1") {
            let is_counted =
                async || admin.get("/metrics").await.text.contains("toolwright_otel_dropped_total");
            eventually("that what is dropped is counted", SOON, is_counted).await;
            assert!(server.log().contains("takes nothing"));
        }
        let (code, took) = server.terminate();
        assert_eq!(code, Some(0));
        assert!(took < Duration::from_secs(10), "the end waits for the collector: {took:?}");
    }
}
