//! The MCP door, byte by byte: what real clients do not try.

use std::{sync::Arc, time::Duration};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use crate::world::{Client, Server, World, eventually, http_client, lines_of};

const PRESENT: &str = "2026-07-28";
const PATIENCE: Duration = Duration::from_secs(20);

/// Somebody who speaks JSON-RPC by hand.
struct Speaker {
    http: reqwest::Client,
    url: String,
    key: Option<String>,
}

struct Heard {
    status: StatusCode,
    body: Value,
}

impl Speaker {
    fn new(server: &Server, key: Option<String>) -> Self {
        Self { http: http_client(PATIENCE), url: format!("{}/mcp", server.url), key }
    }

    async fn agent(world: &World, server: &Server, tenant: &str) -> Self {
        Self::new(server, Some(world.key(tenant, Role::Agent, ActsAs::Agent).await))
    }

    async fn send(&self, body: impl Into<reqwest::Body>, headers: &[(&str, &str)]) -> Heard {
        let mut request = self.http.post(&self.url).header("content-type", "application/json").body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        Heard { status, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
    }

    /// A request as before the present revision.
    async fn earlier(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let heard = self.send(body, &[("mcp-protocol-version", "2025-11-25")]).await;
        assert_eq!(heard.status, StatusCode::OK, "{}", heard.body);
        assert_eq!(heard.body["id"], 1);
        heard.body
    }

    async fn present(&self, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Heard {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": PRESENT,
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params }).to_string();
        self.send(body, headers).await
    }

    async fn call(&self, name: &str, arguments: Value) -> Value {
        self.earlier("tools/call", json!({ "name": name, "arguments": arguments })).await["result"].clone()
    }
}

on_both! {
    async fn handshake_settles_on_a_revision_both_know(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        for (wanted, agreed) in [
            ("2025-11-25", "2025-11-25"),
            ("2025-06-18", "2025-06-18"),
            ("2025-03-26", "2025-03-26"),
            ("2024-11-05", "2025-11-25"),
            ("2031-01-01", "2025-11-25"),
        ] {
            let params = json!({ "protocolVersion": wanted, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
            let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
            let heard = agent.send(body, &[]).await;
            assert_eq!(heard.body["result"]["protocolVersion"], agreed, "{}", heard.body);
            assert_eq!(heard.body["result"]["serverInfo"]["name"], "toolwright");
        }
        // The present revision has no handshake.
        let params = json!({ "protocolVersion": PRESENT, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        let heard = agent.send(body, &[("mcp-protocol-version", PRESENT)]).await;
        assert_eq!((heard.status, &heard.body["error"]["code"]), (StatusCode::NOT_FOUND, &json!(-32601)), "{}", heard.body);

        let heard = agent.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(), &[]).await;
        assert_eq!(heard.status, StatusCode::ACCEPTED);
        assert_eq!(agent.earlier("ping", json!({})).await["result"], json!({}));
    }

    async fn present_revision_is_discovered_and_says_what_a_result_is(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let of = |method: &'static str| [("mcp-protocol-version", PRESENT), ("mcp-method", method)];

        let discovered = agent.present("server/discover", json!({}), &of("server/discover")).await.body;
        assert_eq!(discovered["result"]["supportedVersions"][0], PRESENT, "{discovered}");
        assert_eq!(discovered["result"]["resultType"], "complete");

        let listed = agent.present("tools/list", json!({}), &of("tools/list")).await.body["result"].clone();
        assert_eq!(listed["cacheScope"], "private");
        assert!(listed["ttlMs"].is_u64() && listed["resultType"] == "complete", "{listed}");
        let echo = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "test.echo").unwrap();
        assert_eq!(echo["annotations"]["readOnlyHint"], true);
        assert!(echo["inputSchema"]["type"] == "object" && echo["outputSchema"]["type"] == "object", "{echo}");

        let mut headers = of("tools/call").to_vec();
        headers.push(("mcp-name", "test.echo"));
        let params = json!({ "name": "test.echo", "arguments": { "value": 7 } });
        let called = agent.present("tools/call", params, &headers).await.body["result"].clone();
        assert_eq!(called["structuredContent"], json!({ "value": 7 }));
        assert!(called["isError"] == false && called["resultType"] == "complete", "{called}");
    }

    async fn headers_that_say_something_else_than_the_body_are_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let call = || json!({ "name": "test.echo", "arguments": { "value": 7 } });
        let version = ("mcp-protocol-version", PRESENT);
        for (headers, code) in [
            (vec![("mcp-method", "tools/call"), ("mcp-name", "test.echo")], -32020),
            (vec![version], -32020),
            (vec![version, ("mcp-method", "tools/list"), ("mcp-name", "test.echo")], -32020),
            (vec![version, ("mcp-method", "tools/call"), ("mcp-name", "test.write")], -32020),
            (vec![("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/call"), ("mcp-name", "test.echo")], -32020),
        ] {
            let heard = agent.present("tools/call", call(), &headers).await;
            assert_eq!((heard.status, &heard.body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(code)), "{headers:?} {}", heard.body);
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
        let heard = agent.send(body.clone(), &[version, ("mcp-method", "tools/list")]).await;
        assert_eq!(heard.body["error"]["code"], -32602, "without _meta: {}", heard.body);
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": PRESENT, "io.modelcontextprotocol/clientCapabilities": {} });
        let nameless = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string();
        let heard = agent.send(nameless, &[version, ("mcp-method", "tools/list")]).await;
        assert!(heard.status == 200 && heard.body["result"]["tools"].is_array(), "without clientInfo: {}", heard.body);
        let packed = [version, ("mcp-method", "tools/call"), ("mcp-name", "=?base64?dGVzdC5lY2hv?=")];
        assert_eq!(agent.present("tools/call", call(), &packed).await.status, StatusCode::OK);
        let heard = agent.send(body, &[("mcp-protocol-version", "1999-01-01")]).await;
        assert_eq!(heard.body["error"]["code"], -32022, "{}", heard.body);
    }

    async fn faults_of_the_protocol_are_errors_and_faults_of_a_tool_results(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        for (body, code) in [
            ("{", -32700),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, -32700),
            (r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":{}}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, -32600),
            (r#""ping""#, -32600),
            ("[]", -32600),
        ] {
            let heard = agent.send(body, &[]).await;
            assert_eq!((heard.status, &heard.body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(code)), "{body}: {}", heard.body);
            let has_id = code == -32600 && body.contains(r#""id":1"#);
            assert_eq!(heard.body["id"], if has_id { json!(1) } else { Value::Null }, "{body}");
            let message = heard.body["error"]["message"].as_str().unwrap();
            assert!(!["invalid type", ", expected", "unknown field", "struct"].iter().any(|word| message.contains(word)), "{message}");
        }
        for (params, code) in [
            (json!({}), -32602),
            (json!({ "name": "no.such.tool" }), -32602),
            (json!({ "name": "Test.Echo", "arguments": { "value": 1 } }), -32602),
            (json!({ "name": "TEST.ECHO", "arguments": { "value": 1 } }), -32602),
            (json!({ "Name": "test.echo" }), -32602),
            (json!({ "name": "test.echo", "Arguments": {} }), -32602),
        ] {
            assert_eq!(agent.earlier("tools/call", params.clone()).await["error"]["code"], code, "{params}");
        }
        assert_eq!(agent.earlier("resources/list", json!({})).await["error"]["code"], -32601);
        for cursor in [json!("zzz"), json!(5), json!("")] {
            let heard = agent.earlier("tools/list", json!({ "cursor": cursor })).await;
            assert_eq!(heard["error"]["code"], -32602, "{cursor}: {heard}");
        }
        assert!(agent.earlier("tools/list", json!({ "cursor": null })).await["result"]["tools"].is_array());

        let refused = agent.call("test.echo", json!({ "other": 1, "value": 2 })).await;
        assert!(
            refused["isError"] == true && refused["content"][0]["text"].as_str().unwrap().contains("`other`"),
            "{refused}"
        );
        let refused = agent.call("test.echo", json!([1])).await;
        assert_eq!(refused["isError"], true, "{refused}");
    }

    async fn batch_is_answered_together_in_the_one_revision_that_knows_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let call = |id: u64| {
            let params = json!({ "name": "test.echo", "arguments": { "value": id } });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        let noted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let batch = json!([call(1), noted, { "jsonrpc": "2.0", "id": 2, "method": 7 }, call(3), 4,
            { "jsonrpc": "2.0", "id": 5, "method": "initialize" }]);
        for headers in [&[][..], &[("mcp-protocol-version", "2025-03-26")]] {
            let heard = agent.send(batch.to_string(), headers).await;
            assert_eq!(heard.status, StatusCode::OK, "{}", heard.body);
            let answers = heard.body.as_array().unwrap();
            let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
            assert_eq!(ids, [&json!(1), &json!(2), &json!(3), &Value::Null, &json!(5)], "{}", heard.body);
            assert_eq!(answers[2]["result"]["structuredContent"], json!({ "value": 3 }));
            for wrong in [1, 3, 4] {
                assert_eq!(answers[wrong]["error"]["code"], -32600, "{}", heard.body);
            }
        }
        let heard = agent.send(json!([noted]).to_string(), &[]).await;
        assert_eq!((heard.status, heard.body), (StatusCode::ACCEPTED, json!("")));
        for (batch, version) in [(json!([]), "2025-03-26"), (json!(vec![noted; 51]), "2025-03-26"), (json!([call(1)]), "2025-11-25"), (json!([call(1)]), PRESENT)] {
            let heard = agent.send(batch.to_string(), &[("mcp-protocol-version", version)]).await;
            assert_eq!((heard.status, &heard.body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32600)), "{version}: {}", heard.body);
        }
    }

    async fn stranger_is_told_to_bring_a_key_before_the_body_is_read(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        for key in [None, Some("tw_nonsense".to_owned())] {
            let heard = Speaker::new(&server, key).send("{", &[]).await;
            assert_eq!(heard.status, StatusCode::UNAUTHORIZED);
        }
        let agent = Speaker::agent(&world, &server, "acme").await;
        let large = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "a".repeat(5 << 20));
        assert_eq!(agent.send(large, &[]).await.status, StatusCode::PAYLOAD_TOO_LARGE);
        let heard = agent.send("{}", &[("host", "evil.example")]).await;
        assert_eq!(heard.status, StatusCode::FORBIDDEN, "{}", heard.body);
        let heard = agent.send("{}", &[("origin", "https://evil.example")]).await;
        assert_eq!(heard.status, StatusCode::FORBIDDEN, "{}", heard.body);
        let answer = agent.http.get(&agent.url).bearer_auth(agent.key.as_ref().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
        let viewer = Speaker::new(&server, Some(world.key("acme", Role::Viewer, ActsAs::User).await));
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
        assert_eq!(viewer.send(body, &[]).await.status, StatusCode::FORBIDDEN);
    }

    async fn runs_of_one_tenant_are_not_collected_by_another(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let (agent, foreign) = (Speaker::agent(&world, &server, "acme").await, Speaker::agent(&world, &server, "globex").await);
        let ledger = world.ledger("writes");

        let waits = agent.call("test.write", json!({ "file": ledger, "line": "one" })).await;

        let content = &waits["structuredContent"];
        assert!(content["status"] == "needs_approval" && waits.get("isError").is_none(), "{waits}");
        assert!(lines_of(&ledger).is_empty());
        let run = json!({ "run_id": content["run_id"] });
        let refused = foreign.call("get_run", run.clone()).await;
        assert!(refused["isError"] == true && refused["content"][0]["text"] == "there is no such run", "{refused}");
        let denied = world.client(&server, "acme", Role::Approver).await;
        let approval = content["approval_id"].as_str().unwrap();
        denied.post(&format!("/api/approvals/{approval}/deny"), &json!({ "note": "not today" })).await.is("200 denied");
        let collected = agent.call("get_run", run).await;
        assert_eq!(collected["structuredContent"]["status"], "cancelled", "{collected}");
    }

    async fn names_are_those_of_the_list_and_nothing_that_is_near(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let author = world.client(&server, "acme", Role::Builder).await;
        let made = author.post("/api/tools", &tool("data.searchRecords", &json!({ "aliases": ["findRecords"] }))).await;
        let id = made.is("201 published").text_at("/id");
        for name in ["data.searchRecords", "findRecords"] {
            assert_eq!(agent.call(name, json!({})).await["isError"], false, "{name}");
        }
        for name in ["data.searchrecords", "Data.searchRecords", "findrecords", id.as_str()] {
            let heard = agent.earlier("tools/call", json!({ "name": name, "arguments": {} })).await;
            assert_eq!(heard["error"]["code"], -32602, "{name}: {heard}");
            // By its other names it is found where people and programs look things up.
            author.run(name, json!({})).await.is("200 success");
        }
    }

    async fn list_says_what_a_tool_answers_and_how_far_it_reaches(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let author = world.client(&server, "acme", Role::Builder).await;
        let gated = json!({ "permission_policy": "always_ask" });
        let own = json!({ "type": "object", "properties": { "args": {}, "same": { "$ref": "#/properties/args" } } });
        let http = json!({ "implementation_type": "http", "implementation": { "url": "https://api.example.com/", "method": "GET" } });
        for body in [
            tool("plain", &json!({})),
            tool("texts", &json!({ "output_schema": { "type": "array", "items": true } })),
            tool("gated", &gated),
            tool("gated.own", &json!({ "permission_policy": "always_ask", "output_schema": own })),
            tool("outside", &json!({ "implementation_type": "external" })),
            tool("person", &json!({ "implementation_type": "space" })),
            tool("service", &http),
            tool("fetches", &json!({ "implementation": { "builtin_key": "web_fetch" } })),
            tool("clock", &json!({ "implementation": { "builtin_key": "datetime_utils" } })),
        ] {
            author.post("/api/tools", &body).await.is("201 published");
        }
        let listed = agent.earlier("tools/list", json!({})).await["result"]["tools"].clone();
        let named = |name: &str| listed.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();

        let names: Vec<&str> = listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(names.is_sorted() && names.contains(&"get_run"), "{names:?}");
        assert_eq!(named("plain")["outputSchema"], json!({ "type": "object" }));
        assert_eq!(named("texts")["outputSchema"]["properties"]["result"], json!({ "type": "array", "items": {} }));
        assert_eq!(named("json_transform")["outputSchema"]["properties"]["results"]["items"], json!({}));
        for name in ["gated", "outside", "person"] {
            let schema = &named(name)["outputSchema"];
            assert!(schema["type"] == "object" && schema["anyOf"][0] == json!({ "type": "object" }), "{name}: {schema}");
            assert_eq!(schema["anyOf"][1]["required"], json!(["status", "run_id", "url"]), "{name}");
        }
        let schema = &named("gated.own")["outputSchema"];
        assert_eq!(schema["anyOf"][0]["properties"]["same"]["$ref"], "#/anyOf/0/properties/args", "{schema}");

        for (name, open) in [
            ("plain", false), ("gated", false), ("person", false), ("clock", false), ("test.echo", false), ("get_run", false),
            ("outside", true), ("service", true), ("fetches", true), ("test.write", true),
        ] {
            assert_eq!(named(name)["annotations"]["openWorldHint"], open, "{name}");
        }
    }

    async fn answer_that_comes_too_late_is_collected_by_the_run(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let author = world.client(&server, "acme", Role::Builder).await;
        let late = tool("late", &json!({ "implementation_type": "external", "timeout_ms": 300 }));
        author.post("/api/tools", &late).await.is("201 published");

        let told = agent.call("late", json!({})).await;

        let text = told["content"][0]["text"].as_str().unwrap();
        assert!(told["isError"] == true && text.starts_with("TIMEOUT: "), "{told}");
        let run = text.rsplit_once(' ').unwrap().1;
        let asked = json!({ "run_id": run });
        let content = agent.call("get_run", asked.clone()).await["structuredContent"].clone();
        assert!(content["status"] == "timed_out" && content.get("late_result").is_none(), "{content}");
        let call = author.get(&format!("/api/runs/{run}")).await.text_at("/pending_tool_call_id");
        let answer = json!({ "callId": call, "result": [1, 2] });
        author.post(&format!("/api/runs/{run}/tool-results"), &answer).await.is("200 timed_out");
        let content = agent.call("get_run", asked).await["structuredContent"].clone();
        assert_eq!(content["late_result"], json!({ "result": [1, 2] }), "{content}");
    }

    async fn answer_that_is_no_object_keeps_the_promise_of_the_list(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Arc::new(Speaker::agent(&world, &server, "acme").await);
        let author = world.client(&server, "acme", Role::Builder).await;
        author.post("/api/tools", &tool("worker", &json!({ "implementation_type": "external" }))).await.is("201 published");
        let called = tokio::spawn({
            let agent = Arc::clone(&agent);
            async move { agent.call("worker", json!({})).await }
        });
        let path = "/api/runs?tool=worker&status=pending";
        eventually("the call waits", PATIENCE, async || author.get(path).await.json()["total"] != 0).await;
        let run = author.get(path).await.text_at("/items/0/run_id");
        let call = author.get(&format!("/api/runs/{run}")).await.text_at("/pending_tool_call_id");
        let answer = json!({ "callId": call, "result": "two \"words\"" });
        author.post(&format!("/api/runs/{run}/tool-results"), &answer).await.is("200 success");
        let told = called.await.unwrap();
        assert_eq!(told["structuredContent"], json!({ "result": "two \"words\"" }), "{told}");
        assert_eq!(told["content"], json!([{ "type": "text", "text": "two \"words\"" }]), "a text is plain text");
    }

    async fn argument_that_is_repeated_in_a_header_must_agree_with_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let author = world.client(&server, "acme", Role::Builder).await;
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let input = json!({ "type": "object", "properties": { "region": region } });
        author.post("/api/tools", &tool("routed", &json!({ "input_schema": input }))).await.is("201 published");
        let call = json!({ "name": "routed", "arguments": { "region": "us" } });
        let headers = [("mcp-protocol-version", PRESENT), ("mcp-method", "tools/call"), ("mcp-name", "routed")];
        for (region, status) in [(Some("us"), 200), (Some("eu"), 400), (None, 400)] {
            let mut headers = headers.to_vec();
            headers.extend(region.map(|region| ("mcp-param-region", region)));
            let heard = agent.present("tools/call", call.clone(), &headers).await;
            assert_eq!(heard.status, status, "{region:?}: {}", heard.body);
            if status == 400 {
                assert_eq!(heard.body["error"]["code"], -32020, "{}", heard.body);
            }
        }
        // Earlier revisions know no such header.
        assert_eq!(agent.call("routed", json!({ "region": "us" })).await["isError"], false);
    }

    async fn long_answer_to_a_batch_ends_in_errors(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let author = world.client(&server, "acme", Role::Builder).await;
        for number in 0..10 {
            let long = json!({ "description": "x".repeat(20_000) });
            author.post("/api/tools", &tool(&format!("long.t{number}"), &long)).await.is("201 published");
        }
        let ask = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
        let call = |id: usize, name: &str, arguments: &Value| {
            let params = json!({ "name": name, "arguments": arguments });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
        };
        let send = async |who: &Speaker, batch: Vec<Value>| {
            let heard = who.send(json!(batch).to_string(), &[]).await.body;
            let bytes = heard.to_string().len();
            assert!(bytes < (4 << 20) + (64 << 10), "{bytes}");
            let answers = heard.as_array().unwrap().clone();
            assert_eq!(answers.len(), batch.len());
            answers
        };

        // Lists fill the room, and what cannot be told is not done.
        let member = Speaker::new(&server, Some(world.key("acme", Role::Member, ActsAs::User).await));
        let line = json!({ "file": world.ledger("w"), "line": "one" });
        let answers = send(&member, (0..49).map(ask).chain([call(49, "test.write", &line)]).collect()).await;
        assert!(answers[0]["result"]["tools"].is_array());
        for last in &answers[40..] {
            assert_eq!(last["error"]["code"], -32002, "{last}");
        }
        assert!(lines_of(&world.ledger("w")).is_empty(), "the call was made and not told");
        assert_eq!(send(&member, vec![call(1, "test.write", &line)]).await[0]["result"]["isError"], false);

        // A call that was made is told by its run where its answer is too long.
        let large = json!({ "value": "x".repeat(1 << 20) });
        let answers = send(&agent, vec![call(1, "test.echo", &large), call(2, "test.echo", &large)]).await;
        let told = answers.iter().filter(|answer| answer["result"]["structuredContent"] == large).count();
        let by_run: Vec<&Value> = answers.iter().filter(|answer| answer["error"]["code"] == -32002).collect();
        assert_eq!((told, by_run.len()), (1, 1));
        let run = json!({ "run_id": by_run[0]["error"]["data"]["run_id"] });
        let collected = agent.call("get_run", run.clone()).await;
        assert_eq!(collected["structuredContent"]["output"], large);

        // To look at a run again and again is no way around it.
        let answers = send(&agent, (0..12).map(|id| call(id, "get_run", &run)).collect()).await;
        let errors = answers.iter().filter(|answer| answer["error"]["code"] == -32002).count();
        assert_eq!(errors, 11, "each has two mebibytes and a little");
    }

    async fn call_that_the_door_refuses_counts_and_leaves_a_trace(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_LIMITS__PER_KEY", "8")]);
        let agent = Speaker::agent(&world, &server, "acme").await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let author = world.client(&server, "acme", Role::Builder).await;
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let input = json!({ "type": "object", "properties": { "region": region } });
        author.post("/api/tools", &tool("routed", &json!({ "input_schema": input }))).await.is("201 published");

        // Eight that are refused by the door: no such name, no such spelling, no name, four headers, one of a batch.
        for name in ["no.such.tool", "Test.Echo"] {
            let heard = agent.earlier("tools/call", json!({ "name": name, "arguments": {} })).await;
            assert_eq!(heard["error"]["code"], -32602, "{heard}");
        }
        assert_eq!(agent.earlier("tools/call", json!({})).await["error"]["code"], -32602);
        let version = ("mcp-protocol-version", PRESENT);
        let echo = json!({ "name": "test.echo", "arguments": { "value": 7 } });
        for headers in [
            vec![version],
            vec![version, ("mcp-method", "tools/list"), ("mcp-name", "test.echo")],
            vec![version, ("mcp-method", "tools/call"), ("mcp-name", "test.write")],
        ] {
            let heard = agent.present("tools/call", echo.clone(), &headers).await;
            assert_eq!(heard.body["error"]["code"], -32020, "{}", heard.body);
        }
        let headers = [version, ("mcp-method", "tools/call"), ("mcp-name", "routed")];
        let routed = json!({ "name": "routed", "arguments": { "region": "us" } });
        let heard = agent.present("tools/call", routed, &headers).await;
        assert_eq!(heard.body["error"]["code"], -32020, "{}", heard.body);
        let unknown = json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "no.such.tool" } }]);
        let heard = agent.send(unknown.to_string(), &[]).await;
        assert_eq!(heard.body[0]["error"]["code"], -32602, "{}", heard.body);

        // What is no call counts for nothing.
        let run = json!({ "run_id": "00000000-0000-7000-8000-000000000000" });
        assert_eq!(agent.call("get_run", run).await["content"][0]["text"], "there is no such run");
        let over = agent.call("test.echo", json!({ "value": 1 })).await;
        let text = over["content"][0]["text"].as_str().unwrap();
        assert!(over["isError"] == true && text.starts_with("RATE_LIMITED: "), "{over}");
        for (name, count) in [("no.such.tool", 2), ("Test.Echo", 1)] {
            let path = format!("/api/audit?action=call.refused&object=tool:{name}");
            let lines = admin.get(&path).await.json();
            assert_eq!(lines["total"], count, "{lines}");
            assert_eq!(lines["items"][0]["after"]["code"], "TOOL_NOT_FOUND", "{lines}");
        }
    }

    async fn refusal_says_why_and_leaves_the_same_trace_as_by_the_other_door(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        for (input, why) in [
            (json!({ "action": "update", "slug": "test.echo" }), "manageTools.update requires a field to change"),
            (json!({ "action": "get" }), "manageTools.get requires 'slug'"),
        ] {
            let refused = agent.call("manageTools", input).await;
            let text = refused["content"][0]["text"].as_str().unwrap();
            assert!(refused["isError"] == true && text.contains(why), "{refused}");
        }
        let looker = world.key("acme", Role::Viewer, ActsAs::Agent).await;
        let viewer = Speaker::new(&server, Some(looker.clone()));
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "test.echo" } });
        assert_eq!(viewer.send(call.to_string(), &[]).await.status, StatusCode::FORBIDDEN);
        Client::new(&server.url, Some(looker)).run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");
        let path = "/api/audit?action=call.refused&object=tool:test.echo";
        eventually("both are in the audit log", PATIENCE, async || admin.get(path).await.json()["total"] == 2).await;
        let lines = admin.get(path).await.json()["items"].clone();
        assert_eq!((&lines[0]["note"], &lines[0]["after"]), (&lines[1]["note"], &lines[1]["after"]), "{lines}");
    }

    async fn two_keys_in_one_request_are_refused_by_both_doors(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let key = world.key("acme", Role::Agent, ActsAs::Agent).await;
        let http = reqwest::Client::new();
        for request in [http.get(format!("{}/api/me", server.url)), http.post(format!("{}/mcp", server.url))] {
            let answer = request.bearer_auth(&key).header("authorization", "Bearer tw_other").send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{}", answer.url());
        }
    }

    async fn tool_that_is_switched_off_leaves_the_list_at_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let names = async || -> Vec<String> {
            let listed = agent.earlier("tools/list", json!({})).await;
            let tools = listed["result"]["tools"].as_array().unwrap().iter();
            tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
        };
        assert!(names().await.contains(&"test.echo".to_owned()));

        admin.patch("/api/tools/test.echo", &json!({ "enabled": false })).await.is("200 published");

        assert!(!names().await.contains(&"test.echo".to_owned()));
        assert_eq!(agent.earlier("tools/call", json!({ "name": "test.echo" })).await["error"]["code"], -32602);
    }

    async fn request_that_is_taken_back_is_cancelled_and_no_other(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Arc::new(Speaker::agent(&world, &server, "acme").await);
        let stranger = Speaker::agent(&world, &server, "acme").await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let called = tokio::spawn({
            let agent = Arc::clone(&agent);
            async move { agent.call("test.slow", json!({ "ms": 60_000 })).await }
        });
        let run = running(&admin, "test.slow").await;

        let taken_back = |id: Value| {
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }).to_string()
        };
        // Another client's request has the same number, and this one none by these.
        for (who, id) in [(&stranger, json!(1)), (&*agent, json!("1")), (&*agent, json!(2)), (&*agent, Value::Null)] {
            assert_eq!(who.send(taken_back(id), &[]).await.status, StatusCode::ACCEPTED);
        }
        assert_eq!(admin.get(&format!("/api/runs/{run}")).await.json()["status"], "running");

        assert_eq!(agent.send(taken_back(json!(1)), &[]).await.status, StatusCode::ACCEPTED);
        let told = called.await.unwrap();
        assert_eq!(told["isError"], true, "{told}");
        assert_eq!(admin.get(&format!("/api/runs/{run}")).await.json()["status"], "cancelled");
        assert_eq!(admin.trail(&run).await, ["tool.started", "tool.cancelled"]);
    }

    async fn who_hangs_up_in_the_present_revision_takes_the_call_back(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Arc::new(Speaker::agent(&world, &server, "acme").await);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let hang_up = |is_present: bool| {
            let agent = Arc::clone(&agent);
            tokio::spawn(async move {
                let params = json!({ "name": "test.slow", "arguments": { "ms": 60_000 } });
                if is_present {
                    let headers = [("mcp-protocol-version", PRESENT), ("mcp-method", "tools/call"), ("mcp-name", "test.slow")];
                    drop(agent.present("tools/call", params, &headers).await);
                } else {
                    agent.earlier("tools/call", params).await;
                }
            })
        };
        let call = hang_up(true);
        let run = running(&admin, "test.slow").await;
        call.abort();
        let status = async || admin.get(&format!("/api/runs/{run}")).await.json()["status"].clone();
        eventually("the run is cancelled", PATIENCE, async || status().await == "cancelled").await;

        // Earlier clients come back for what they asked.
        let call = hang_up(false);
        let run = running(&admin, "test.slow").await;
        call.abort();
        let _ = call.await;
        agent.call("test.echo", json!({ "value": 1 })).await;
        assert_eq!(admin.get(&format!("/api/runs/{run}")).await.json()["status"], "running");
    }

    async fn tool_has_a_picture_that_anybody_can_load(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = Speaker::agent(&world, &server, "acme").await;
        let listed = agent.earlier("tools/list", json!({})).await["result"]["tools"].clone();
        let named = |name: &str| listed.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
        let icon = named("test.slow")["icons"][0].clone();
        assert_eq!(icon["mimeType"], "image/svg+xml", "{icon}");
        let picture = reqwest::get(icon["src"].as_str().unwrap()).await.unwrap();
        assert_eq!((picture.status(), &picture.headers()["content-type"]), (StatusCode::OK, &"image/svg+xml".parse().unwrap()));
        assert!(picture.text().await.unwrap().starts_with("<svg"));
        assert!(named("test.echo")["icons"].is_null(), "an icon without a picture is not promised");
    }
}

/// A published tool that takes anything, changes nothing and, if `rest` says no more, gives back its input.
pub(crate) fn tool(slug: &str, rest: &Value) -> Value {
    let mut body = json!({
        "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
        "implementation_type": "internal", "implementation": {}, "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

/// The run of a tool that is under way, once there is one.
async fn running(admin: &Client, tool: &str) -> String {
    let path = format!("/api/runs?tool={tool}&status=running");
    eventually("a run is under way", PATIENCE, async || {
        admin.get(&path).await.json()["items"].as_array().is_some_and(|runs| !runs.is_empty())
    })
    .await;
    admin.get(&path).await.json()["items"][0]["run_id"].as_str().unwrap().to_owned()
}
