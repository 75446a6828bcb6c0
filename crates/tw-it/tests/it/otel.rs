//! Traces and metrics for a collector: what is told, what is not, and that nobody waits for it.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Generation, Kind, McpServer, ModelFormat, ModelServer, TestDb, Upstream};

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

fn tool(slug: &str, rest: &Value) -> Value {
    let mut body = json!({
        "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
        "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_scripts_models_and_remote_servers_are_told_as_parts_of_their_runs() {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let (collector, models) = (Upstream::start().await, ModelServer::start().await);
    let remote = McpServer::start(Generation::Present).await;
    let allowed = format!("{},{}", models.upstream.host_and_port(), remote.upstream.host_and_port());
    let mut server = world.server_with(
        &[],
        &[
            ("TOOLWRIGHT_OTEL__ENDPOINT", &collector.url("")),
            ("TOOLWRIGHT_EGRESS__ALLOW", &allowed),
            ("TOOLWRIGHT_MODELS__DEFAULT__PROVIDER", "openai"),
            ("TOOLWRIGHT_MODELS__DEFAULT__MODEL", "m-1"),
            ("TOOLWRIGHT_MODELS__DEFAULT__BASE_URL", &models.base_url()),
            ("TOOLWRIGHT_MODELS__DEFAULT__API_KEY", "k-canary"),
        ],
    );
    let admin = world.client(&server, "acme", Role::Admin).await;
    let source = "export default async (input, ctx) => {
        await ctx.callTool('test.echo', { value: 'canary-inner' });
        return 'canary-output';
    }";
    let prompt = json!({ "kind": "prompt", "mode": "direct", "prompt_template": "canary {{ input.text }}" });
    let implementation = json!({ "server_url": remote.url(), "tool_name": "echo" });
    for body in [
        tool("job", &json!({ "implementation_type": "external", "is_async": true })),
        tool("question", &json!({ "implementation_type": "space", "is_async": true })),
        tool(
            "script",
            &json!({ "implementation_type": "artifact", "implementation": { "language": "javascript", "source": source } }),
        ),
        tool("ask", &json!({ "execution_spec": prompt })),
        tool("remote", &json!({ "implementation_type": "mcp", "implementation": implementation })),
    ] {
        admin.post("/api/tools", &body).await.is("201 published");
    }
    for slug in ["job", "question"] {
        let open = admin.run(slug, json!({ "q": "canary-question" })).await;
        let (run, call) = (open.is("202 pending").text_at("/run_id"), open.text_at("/pending_tool_call_id"));
        let answer = json!({ "call_id": call, "result": "canary-answer" });
        admin.post(&format!("/api/runs/{run}/tool-results"), &answer).await.is("200 success");
    }
    models.says(ModelFormat::OpenAi, "canary-text");
    admin.run("script", json!({})).await.is("200 success");
    admin.run("ask", json!({ "text": "x" })).await.is("200 success");
    admin.run("remote", json!({ "text": "canary-remote" })).await.is("200 success");
    assert_eq!(server.terminate().0, Some(0));

    let spans = spans(&collector);
    let below = |run: &str| {
        let whole: Vec<_> = spans.iter().filter(|span| span["name"] == format!("run {run}")).collect();
        assert_eq!(whole.len(), 1, "{run}: {spans:#?}");
        let id = &whole[0]["spanId"];
        let parts = spans.iter().filter(|span| span["parentSpanId"] == *id);
        let parts: Vec<_> = parts.map(|span| span["name"].as_str().unwrap().to_owned()).collect();
        (whole[0], parts)
    };
    for (run, part) in [
        ("job", "wait for worker"),
        ("question", "wait for person"),
        ("script", "run test.echo"),
        ("ask", "chat m-1"),
        ("remote", "POST"),
    ] {
        let (whole, parts) = below(run);
        assert!(parts.iter().any(|found| found == part), "{run}: {parts:?}");
        assert_eq!(attribute(whole, "toolwright.status"), Some(&json!("success")));
        assert!(
            attribute(whole, "toolwright.tenant").is_some()
                && attribute(whole, "toolwright.version").is_some()
        );
    }
    let (remote_run, _) = below("remote");
    let asked = remote.upstream.requests().pop().unwrap();
    let parent = asked.header("traceparent").unwrap();
    assert!(parent.contains(remote_run["traceId"].as_str().unwrap()), "{parent}");
    for request in collector.requests() {
        assert!(!holds(&request.body, "canary"), "{}", String::from_utf8_lossy(&request.body));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_told_and_no_trace_begun_where_no_collector_is_named() {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let (collector, upstream) = (Upstream::start().await, Upstream::start().await);
    let mut server = world.server_with(
        &[],
        &[
            ("TOOLWRIGHT_EGRESS__ALLOW", &upstream.host_and_port()),
            // What other programs read is none of ours.
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url("")),
        ],
    );
    let admin = world.client(&server, "acme", Role::Admin).await;
    let implementation = json!({ "url": upstream.url("/") });
    let call = tool("call", &json!({ "implementation_type": "http", "implementation": implementation }));
    admin.post("/api/tools", &call).await.is("201 published");
    admin.run("call", json!({})).await.is("200 success");
    // A trace of the caller's goes on, with nobody here to tell of it.
    let traced = admin.request(Method::POST, "/api/tools/call/run");
    let traced = traced.header("traceparent", format!("00-{TRACE}-{SENDER}-01"));
    admin.send(traced.json(&json!({ "input": {} }))).await.is("200 success");
    let metrics = admin.get("/metrics").await.text;
    assert!(!metrics.contains("toolwright_otel"), "{metrics}");
    assert_eq!(server.terminate().0, Some(0));
    let asked = upstream.requests();
    assert_eq!(asked[0].header("traceparent"), None);
    assert!(asked[1].header("traceparent").unwrap().contains(TRACE));
    assert_eq!(collector.connections(), 0);
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
            assert!(server.log().contains("does not accept traces"));
        }
        let (code, took) = server.terminate();
        assert_eq!(code, Some(0));
        assert!(took < Duration::from_secs(10), "the end waits for the collector: {took:?}");
    }
}
