//! Tools of somebody else's MCP server: what is sent, what comes back, what stays secret, and where they may not go.

use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{Generation, McpServer, Quirk, TestDb, Upstream, mcp, on_both};

use super::{PATIENCE, approve, call, calling, cancel, first, make, run_of, server_to, tool, with};
use crate::{
    canary::{everything_stored, holds},
    world::{Answer, World, eventually},
};

fn remote(slug: &str, implementation: &Value) -> Value {
    tool(slug, &json!({ "implementation_type": "mcp", "implementation": implementation }))
}

fn of(server: &McpServer, slug: &str, name: &str) -> Value {
    remote(slug, &json!({ "server_url": server.url(), "tool_name": name }))
}

#[track_caller]
fn failed_with(answer: &Answer, code: &str) -> String {
    answer.is("200 error");
    assert_eq!(answer.text_at("/error_code"), code, "{}", answer.text);
    assert_eq!(answer.json()["output"], Value::Null);
    answer.text_at("/error")
}

on_both! {
    async fn tool_of_another_server_is_called_like_any_other(db: TestDb) {
        let world = World::on(db).await;
        let present = McpServer::start(Generation::Present).await;
        let earlier = McpServer::start(Generation::Earlier("2025-06-18")).await.streaming();
        let server = server_to(&world, &[&present.upstream, &earlier.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        for (name, upstream) in [("present", &present), ("earlier", &earlier)] {
            for tool in ["add", "echo", "fail", "picture", "missing"] {
                make(&admin, &of(upstream, &format!("{name}.{tool}"), tool)).await;
            }
            for caller in [&member, &agent] {
                let told = caller.run(&format!("{name}.add"), json!({ "a": 1, "b": 2 })).await;
                assert_eq!(told.is("200 success").json()["output"], json!({ "sum": 3.0 }), "structured content");
                assert_eq!(admin.trail(&told.text_at("/run_id")).await, ["tool.started", "tool.completed"]);
            }
            let told = member.run(&format!("{name}.echo"), json!({ "text": "hi {{ 7 * 7 }}" })).await;
            assert_eq!(told.is("200 success").json()["output"], json!("hi {{ 7 * 7 }}"), "the joined text");
            let told = member.run(&format!("{name}.fail"), json!({})).await;
            assert_eq!(failed_with(&told, "TOOL_FAILED"), "the cellar is locked");
            let told = member.run(&format!("{name}.missing"), json!({})).await;
            let error = failed_with(&told, "UPSTREAM_ERROR");
            assert!(error.contains("`tools/call`") && error.contains("Unknown tool: missing"), "{error}");

            // What is no text stands beside it, and goes on to clients of ours as content.
            let told = member.run(&format!("{name}.picture"), json!({})).await;
            let output = &told.is("200 success").json()["output"];
            assert_eq!(output["text"], "a dot");
            assert_eq!(output["mcp_content"][1], json!({ "type": "image", "data": mcp::DOT, "mimeType": "image/png" }));
            let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": format!("{name}.picture") } });
            let through = agent.post("/mcp", &asked).await.json()["result"].clone();
            assert_eq!(through["content"], output["mcp_content"], "{through}");
            assert_eq!(through["structuredContent"], json!({ "text": "a dot" }));
        }
        let listed = admin.get("/api/tools?implementation_type=mcp&tool_type=mcp").await.json();
        assert_eq!(listed["items"].as_array().map(Vec::len), Some(10), "{listed}");
        // The caller's own key stays here.
        for asked in present.upstream.requests().iter().chain(&earlier.upstream.requests()) {
            assert!(!asked.head.contains("tw_") && asked.header("authorization").is_none(), "{}", asked.head);
        }
    }

    async fn definition_in_the_older_form_is_called_at_a_server_without_a_handshake(db: TestDb) {
        let world = World::on(db).await;
        let upstream = McpServer::start(Generation::Bare("200 OK")).await;
        let server = server_to(&world, &[&upstream.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let body = json!({
            "slug": "older", "name": "Older", "description": "Adds two numbers.", "publish": true,
            "tool_type": "mcp", "permission_level": "read",
            "input_schema": { "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } } },
            "config_schema": { "implementation": {
                "type": "mcp", "server_url": upstream.url(), "tool_name": "add", "headers": { "X-Api-Key": "canary-literal-32" },
            } },
        });
        let made = admin.post("/api/tools", &body).await;
        assert!(!made.is("201 published").text.contains("canary"), "{}", made.text);
        let told = admin.run("older", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(told.is("200 success").json()["output"], json!({ "sum": 3.0 }));
        let asked = upstream.asked("tools/call");
        assert_eq!(asked.len(), 1);
        assert_eq!((&asked[0]["jsonrpc"], &asked[0]["params"]), (&json!("2.0"), &json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })));
        assert_eq!(upstream.upstream.requests().pop().unwrap().header("x-api-key"), Some("canary-literal-32"));
        for missing in ["server_url", "tool_name"] {
            let mut body = body.clone();
            body["slug"] = json!("wanting");
            body["config_schema"]["implementation"].as_object_mut().unwrap().remove(missing);
            let refused = admin.post("/api/tools", &body).await.is("422 INVALID_PARAMS").json();
            assert_eq!(refused["errors"][0]["path"], format!("/implementation/{missing}"), "{refused}");
        }
    }

    async fn call_that_is_cancelled_or_late_ends_there_too(db: TestDb) {
        let world = World::on(db).await;
        let upstream = McpServer::start(Generation::Earlier("2025-11-25")).await;
        let server = server_to(&world, &[&upstream.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &of(&upstream, "slow", "slow")).await;
        make(&admin, &with(of(&upstream, "late", "slow"), &json!({ "timeout_ms": 900 }))).await;

        let told = admin.run("late", json!({})).await;
        told.is("200 timed_out");
        assert_eq!(told.text_at("/error"), "Tool timed out after 900ms");
        assert_eq!(told.text_at("/error_code"), "TIMEOUT");
        let told_to_stop = async |count: usize| {
            eventually("the server is told", PATIENCE, async || {
                upstream.asked("notifications/cancelled").len() == count
            })
            .await;
        };
        told_to_stop(1).await;

        let waiting = calling(&admin, "slow", json!({ "input": {} }));
        let run = first(&admin, "slow", "running").await;
        eventually("the server works", PATIENCE, async || upstream.asked("tools/call").len() == 2).await;
        cancel(&admin, &run).await.is("200 cancelled");
        waiting.await.unwrap().is("200 cancelled");
        told_to_stop(2).await;
        let calls: Vec<_> = upstream.asked("tools/call").iter().map(|asked| asked["id"].clone()).collect();
        let cancelled = upstream.asked("notifications/cancelled");
        let cancelled: Vec<_> = cancelled.iter().map(|asked| asked["params"]["requestId"].clone()).collect();
        assert_eq!(calls, cancelled);
    }

    async fn progress_of_a_remote_tool_is_told_while_its_run_is_under_way(db: TestDb) {
        let world = World::on(db).await;
        let present = McpServer::start(Generation::Present).await;
        let earlier = McpServer::start(Generation::Earlier("2025-11-25")).await;
        let server = server_to(&world, &[&present.upstream, &earlier.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let key = world.key("acme", Role::Member, ActsAs::User).await;
        for (slug, upstream, revision) in
            [("present.slow", &present, mcp::PRESENT), ("earlier.slow", &earlier, "2025-11-25")]
        {
            // The text of its reports is what it is sent in a header.
            let headers = json!({ "X-Api-Key": "digging" });
            let implementation = json!({ "server_url": upstream.url(), "tool_name": "slow", "headers": headers });
            make(&admin, &remote(slug, &implementation)).await;
            let waiting = calling(&admin, slug, json!({ "input": {} }));
            let run = first(&admin, slug, "running").await;
            let told = async || {
                let events = admin.get(&format!("/api/sessions/{run}/events")).await.json();
                let events = events["items"].as_array().unwrap().iter();
                let told = events.filter(|event| event["type"] == "tool.progress" && event["run_id"] == run.as_str());
                told.map(|event| event["payload"].clone()).collect::<Vec<_>>()
            };
            eventually("both reports are told", PATIENCE, async || told().await.len() == 2).await;
            let report = |progress: f64| json!({ "progress": progress, "total": 3.0, "message": "***" });
            assert_eq!(told().await, [report(1.0), report(2.0)]);
            assert_eq!(run_of(&admin, &run).await["status"], "running");
            cancel(&admin, &run).await.is("200 cancelled");
            waiting.await.unwrap().is("200 cancelled");
            assert_eq!(admin.trail(&run).await, ["tool.started", "tool.progress", "tool.progress", "tool.cancelled"]);

            // A client of ours that asked for them hears the same under the name that it gave.
            for token in [json!("dig-1"), json!(7)] {
                let mut meta = json!({ "progressToken": token });
                if revision == mcp::PRESENT {
                    meta["io.modelcontextprotocol/protocolVersion"] = json!(revision);
                    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
                }
                let params = json!({ "name": slug, "arguments": {}, "_meta": meta });
                let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
                let asked = crate::world::http_client(PATIENCE)
                    .post(format!("{}/mcp", server.url))
                    .bearer_auth(&key)
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-protocol-version", revision)
                    .header("mcp-method", "tools/call")
                    .header("mcp-name", slug)
                    .json(&body);
                let mut answer = asked.send().await.unwrap();
                let mut heard = String::new();
                while heard.matches("\n\n").count() < 2 {
                    let piece = answer.chunk().await.unwrap();
                    heard.push_str(&String::from_utf8_lossy(&piece.unwrap_or_else(|| panic!("no more after {heard}"))));
                }
                let messages = heard.lines().filter_map(|line| line.strip_prefix("data: "));
                let messages: Vec<Value> = messages.map(|message| serde_json::from_str(message).unwrap()).collect();
                let report = |progress: f64| json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
                    "progressToken": token, "progress": progress, "total": 3.0, "message": "***" } });
                assert_eq!(messages, [report(1.0), report(2.0)]);
                let run = first(&admin, slug, "running").await;
                cancel(&admin, &run).await.is("200 cancelled");
            }
        }
    }

    async fn credential_of_a_remote_tool_is_told_and_stored_nowhere(db: TestDb) {
        let world = World::on(db).await;
        let upstream = McpServer::start(Generation::Present).await;
        let server = server_to(&world, &[&upstream.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let canaries = ["canary-token-77ab", "canary-literal-31"];
        let credential = json!({ "label": "garden", "type": "bearer", "payload": { "token": canaries[0] } });
        admin.post("/api/credentials", &credential).await.is("201");
        let implementation = json!({
            "server_url": upstream.url(), "tool_name": "echo",
            "headers": { "Authorization": "Bearer secret:garden", "X-Api-Key": canaries[1] },
        });
        make(&admin, &remote("echoing", &implementation)).await;
        let shown = admin.get("/api/tools/echoing").await;
        assert_eq!(shown.json()["implementation"]["headers"]["X-Api-Key"], "***");
        // What was read can be sent back, and keeps what was not shown.
        let same = json!({ "implementation": shown.json()["implementation"], "publish": true });
        admin.patch("/api/tools/echoing", &same).await.is("200 published");

        let mut seen = shown.text;
        let text = format!("you sent {}", canaries.join(" and "));
        let told = member.run("echoing", json!({ "text": text.replace(canaries[0], "") })).await;
        assert_eq!(told.is("200 success").json()["output"], "you sent  and ***");
        let asked = upstream.upstream.requests().pop().unwrap();
        assert_eq!(asked.header("authorization"), Some("Bearer canary-token-77ab"));
        assert_eq!(asked.header("x-api-key"), Some(canaries[1]));
        let text_block = json!([{ "type": "text", "text": text }]);
        for quirk in [
            Quirk::Result(json!({ "content": text_block })),
            Quirk::Result(json!({ "content": text_block, "isError": true })),
            Quirk::Result(json!({ "content": [], "structuredContent": { canaries[0]: text } })),
            Quirk::Fault { status: "200 OK", code: -32000, message: text.clone(), data: json!(text) },
            Quirk::Answer { status: "500 No", kind: "text/plain", body: text.clone() },
            Quirk::Answer { status: "200 OK", kind: "text/html", body: text.clone() },
            Quirk::Unauthorized("Bearer error=\"canary-token-77ab\""),
        ] {
            upstream.set(quirk);
            seen.push_str(&member.run("echoing", json!({ "text": "x" })).await.text);
        }
        seen.push_str(&admin.get("/api/runs?limit=200").await.text);
        seen.push_str(&admin.get("/api/audit?limit=200").await.text);
        seen.push_str(&server.log());
        assert!(seen.contains("HTTP 401"), "{seen}");
        let stored = everything_stored(&world.db).await;
        // The input of the first run has the second one, as its caller sent it.
        assert!(!seen.contains(canaries[0]) && !holds(&stored, canaries[0]));
    }

    async fn heavy_call_of_a_remote_tool_that_was_cut_off_is_interrupted(db: TestDb) {
        let world = World::on(db).await;
        let upstream = McpServer::start(Generation::Present).await;
        let mut server = server_to(&world, &[&upstream.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &with(of(&upstream, "slow", "slow"), &json!({ "permission_level": "write" }))).await;
        let waiting = calling(&admin, "slow", json!({ "input": {} }));
        let run = first(&admin, "slow", "running").await;
        eventually("the server works", PATIENCE, async || upstream.asked("tools/call").len() == 1).await;
        server.kill();
        waiting.abort();
        let server = server_to(&world, &[&upstream.upstream]);
        let admin = admin.at(&server);
        // A server of PostgreSQL counts as dead after 15 s; then others look after its runs.
        let is_closed = async || run_of(&admin, &run).await["status"] == "error";
        eventually("the run is closed", 2 * PATIENCE, is_closed).await;
        assert_eq!(run_of(&admin, &run).await["error_code"], "INTERRUPTED");
        assert_eq!(upstream.asked("tools/call").len(), 1);
    }
}

#[tokio::test]
async fn remote_tool_obeys_limits_walls_and_hosts() {
    let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let upstream = McpServer::start(Generation::Present).await;
    let shut = Upstream::start().await;
    let server = server_to(&world, &[&upstream.upstream]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &of(&upstream, "add", "add")).await;
    for (quirk, code, words) in [
        (Quirk::Flood, "UPSTREAM_ERROR", "over 10485760 bytes"),
        (Quirk::WrongId, "UPSTREAM_ERROR", "it answers another request"),
        (Quirk::CutStream, "UPSTREAM_ERROR", "the stream ended before the answer"),
        (Quirk::Redirect("http://169.254.169.254/latest".to_owned()), "UPSTREAM_ERROR", "HTTP 307"),
        (Quirk::Unauthorized("Bearer realm=\"garden\""), "UPSTREAM_ERROR", "Bearer realm=\"garden\""),
    ] {
        upstream.set(quirk);
        let error = failed_with(&admin.run("add", json!({ "a": 1 })).await, code);
        assert!(error.contains(words), "{error}");
    }
    upstream.set(None);

    // An address that is shut, however it is written, and a credential for another host.
    let port = shut.port();
    for (index, host) in
        ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "0x7f.1"].iter().enumerate()
    {
        let slug = format!("shut{index}");
        let url = format!("http://{host}:{port}/mcp");
        make(&admin, &remote(&slug, &json!({ "server_url": url, "tool_name": "add" }))).await;
        let error = failed_with(&admin.run(&slug, json!({})).await, "EGRESS_DENIED");
        assert!(error.contains("egress.allow"), "{error}");
    }
    assert_eq!(shut.connections(), 0);
    let credential = json!({ "label": "bound", "type": "bearer", "payload": { "token": "t-1" }, "allowed_hosts": ["mcp.example.com"] });
    admin.post("/api/credentials", &credential).await.is("201");
    let headers = json!({ "Authorization": "Bearer secret:bound" });
    make(
        &admin,
        &remote("bound", &json!({ "server_url": upstream.url(), "tool_name": "add", "headers": headers })),
    )
    .await;
    let before = upstream.upstream.requests().len();
    let error = failed_with(&admin.run("bound", json!({})).await, "EGRESS_DENIED");
    assert!(error.contains("`bound`"), "{error}");
    assert_eq!(upstream.upstream.requests().len(), before);
    let headers = json!({ "Authorization": "Bearer secret:nothing" });
    make(
        &admin,
        &remote(
            "unlabelled",
            &json!({ "server_url": upstream.url(), "tool_name": "add", "headers": headers }),
        ),
    )
    .await;
    failed_with(&admin.run("unlabelled", json!({})).await, "CREDENTIAL_MISSING");

    // Another tenant sees nothing of it, and neither do those who may not run it.
    let stranger = world.client(&server, "globex", Role::Admin).await;
    let (missing, theirs) = (stranger.run("nothing", json!({})).await, stranger.run("add", json!({})).await);
    missing.is("404 TOOL_NOT_FOUND");
    theirs.is("404 TOOL_NOT_FOUND");

    // A definition's faults are told all at once.
    let wrong = json!({ "server_url": "ftp://h.test", "server": "x", "url": 1, "headers": { "Mcp-Session-Id": "1" } });
    let refused = admin.post("/api/tools", &remote("wrong", &wrong)).await;
    refused.is("422 INVALID_PARAMS");
    for path in ["/implementation", "/implementation/url", "/implementation/tool_name"] {
        assert!(refused.text.contains(&format!("\"{path}\"")), "{path}: {}", refused.text);
    }
    let unnamed = remote("unnamed", &json!({ "server": "garden", "tool_name": "add" }));
    make(&admin, &unnamed).await;
    let error = admin.run("unnamed", json!({})).await.text_at("/error");
    assert!(error.contains("garden"), "{error}");
}

#[tokio::test]
async fn write_of_a_remote_tool_asks_and_is_made_once() {
    let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let upstream = McpServer::start(Generation::Present).await;
    let server = server_to(&world, &[&upstream.upstream]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let agent = world.agent(&server, "acme").await;
    make(&admin, &with(of(&upstream, "add", "add"), &json!({ "permission_level": "write" }))).await;
    let waits = agent.run("add", json!({ "a": 1, "b": 1 })).await;
    waits.is("202 needs_approval");
    let mcp_call =
        json!({ "server_url": upstream.url(), "tool_name": "add", "arguments": { "a": 2, "b": 2 } });
    let asked = agent.run("mcp_call", mcp_call.clone()).await;
    asked.is("202 needs_approval");
    assert!(upstream.asked("tools/call").is_empty());
    approve(&admin, &waits.text_at("/approval_id")).await.is("200 success");
    let told = admin.run("mcp_call", mcp_call).await;
    assert_eq!(told.is("200 success").json()["output"], json!({ "result": { "sum": 4.0 } }));
    assert_eq!(upstream.asked("tools/call").len(), 2);

    // A write whose connection broke is not made again; a read that never got there is.
    upstream.set(Quirk::Reset);
    failed_with(&admin.run("add", json!({ "a": 1 })).await, "UPSTREAM_ERROR");
    assert_eq!(upstream.asked("tools/call").len(), 3);
}

#[tokio::test]
async fn own_server_is_an_upstream_like_any_other() {
    let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", "127.0.0.1/32")]);
    let key = world.key("globex", Role::Member, ActsAs::User).await;
    let theirs = world.client(&server, "globex", Role::Admin).await;
    make(&theirs, &tool("theirs.echo", &json!({ "implementation_type": "internal" }))).await;
    let admin = world.client(&server, "acme", Role::Admin).await;
    let credential = json!({ "label": "globex", "type": "bearer", "payload": { "token": key } });
    admin.post("/api/credentials", &credential).await.is("201");
    let headers = json!({ "Authorization": "Bearer secret:globex" });
    let implementation = json!({ "server_url": format!("{}/mcp", server.url), "tool_name": "theirs.echo", "headers": headers });
    make(&admin, &remote("ours", &implementation)).await;
    let told = admin.run("ours", json!({ "a": [1, "x"] })).await;
    assert_eq!(
        told.is("200 success").json()["output"],
        json!({ "success": true, "args": { "a": [1, "x"] } })
    );
    let wrong = with(implementation.clone(), &json!({ "headers": { "Authorization": "Bearer nonsense" } }));
    make(&admin, &remote("unknown", &wrong)).await;
    let error = failed_with(&call(&admin, "unknown", &json!({ "input": {} })).await, "UPSTREAM_ERROR");
    assert!(error.contains("HTTP 401"), "{error}");
}
