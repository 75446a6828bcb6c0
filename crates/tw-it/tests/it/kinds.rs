//! Kinds of tools: services over HTTP, workers, people, scripts, chains of tools, echoes.

mod artifact;
mod composition;
mod examples;
mod external;
mod governed;
mod http;
mod internal;
mod mcp;
mod prompt;
mod races;
mod replay;
mod resumed;
mod space;
mod waiting;
mod workers;

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tw_test::Upstream;

use crate::world::{Answer, Client, Server, World, eventually};

/// How long to wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A tool of some kind that takes anything and changes nothing.
fn tool(slug: &str, rest: &Value) -> Value {
    let mut body = json!({
        "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
        "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

/// A body or a step with more members, or others.
fn with(mut body: Value, rest: &Value) -> Value {
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

fn external(slug: &str, rest: &Value) -> Value {
    with(tool(slug, &json!({ "implementation_type": "external" })), rest)
}

fn artifact(slug: &str, source: &str) -> Value {
    let implementation = json!({ "language": "javascript", "source": source });
    tool(slug, &json!({ "implementation_type": "artifact", "implementation": implementation }))
}

fn composition(slug: &str, spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["kind"] = json!("composition");
    tool(slug, &json!({ "execution_spec": spec }))
}

/// Saves and publishes a tool.
async fn make(author: &Client, body: &Value) {
    author.post("/api/tools", body).await.is("201 published");
}

/// A server whose tools may call these services.
fn server_to(world: &World, upstreams: &[&Upstream]) -> Server {
    let allowed: Vec<_> = upstreams.iter().map(|upstream| upstream.host_and_port()).collect();
    world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed.join(","))])
}

/// Runs a tool with a body of one's own.
async fn call(client: &Client, tool: &str, body: &Value) -> Answer {
    client.post(&format!("/api/tools/{tool}/run"), body).await
}

/// A call under way, as the one who waits for it.
fn calling(client: &Client, tool: &str, body: Value) -> JoinHandle<Answer> {
    let (client, tool) = (client.clone(), tool.to_owned());
    tokio::spawn(async move { call(&client, &tool, &body).await })
}

async fn run_of(client: &Client, run: &str) -> Value {
    client.get(&format!("/api/runs/{run}")).await.json()
}

/// The run, once it stands as wanted.
async fn once(client: &Client, run: &str, status: &str) -> Value {
    eventually(&format!("the run is {status}"), PATIENCE, async || {
        run_of(client, run).await["status"] == status
    })
    .await;
    run_of(client, run).await
}

/// The first run of a tool that stands as wanted, once there is one.
async fn first(client: &Client, tool: &str, status: &str) -> String {
    let path = format!("/api/runs?tool={tool}&status={status}");
    eventually(&format!("{tool} is {status}"), PATIENCE, async || {
        client.get(&path).await.json()["items"][0]["run_id"].is_string()
    })
    .await;
    client.get(&path).await.text_at("/items/0/run_id")
}

async fn cancel(client: &Client, run: &str) -> Answer {
    client.post(&format!("/api/runs/{run}/cancel"), &json!({})).await
}

async fn approve(client: &Client, id: &str) -> Answer {
    client.post(&format!("/api/approvals/{id}/approve"), &json!({})).await
}

/// Sends what came of a call, as its worker or as the person who was asked.
async fn answer(client: &Client, run: &str, call: &str, result: &Value) -> Answer {
    let body = json!({ "call_id": call, "result": result });
    client.post(&format!("/api/runs/{run}/tool-results"), &body).await
}

/// The ids of a call's run and of the call itself, from an answer that names both.
#[track_caller]
fn ids(answer: &Answer) -> (String, String) {
    (answer.text_at("/run_id"), answer.text_at("/pending_tool_call_id"))
}

/// A worker that listens for calls.
struct Worker {
    stream: Response,
    unread: Vec<u8>,
}

/// A call as a worker is told of it.
#[derive(Clone, Debug)]
struct Told {
    run: String,
    call: String,
    data: Value,
}

impl Worker {
    /// For some tools, or all of them; after a call that it was told of before, or from the beginning.
    async fn listens(client: &Client, tools: &str, after: Option<&str>) -> Self {
        let tools = if tools.is_empty() { String::new() } else { format!("?tools={tools}") };
        let mut request = client.request(Method::GET, &format!("/api/workers/stream{tools}"));
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        let stream = request.send().await.unwrap();
        assert_eq!(stream.status(), 200);
        assert!(stream.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        Self { stream, unread: Vec::new() }
    }

    /// The next call.
    async fn told(&mut self) -> Told {
        tokio::time::timeout(PATIENCE, self.next()).await.expect("a call comes")
    }

    async fn next(&mut self) -> Told {
        loop {
            if let Some(end) = self.unread.windows(2).position(|window| window == b"\n\n") {
                let message: Vec<u8> = self.unread.drain(..end + 2).collect();
                if let Some(told) = parse(&String::from_utf8(message).unwrap()) {
                    return told;
                }
                continue;
            }
            self.unread.extend(self.stream.chunk().await.unwrap().expect("the stream goes on"));
        }
    }
}

fn parse(message: &str) -> Option<Told> {
    let field = |name: &str| message.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
    // A comment has no data.
    let data: Value = serde_json::from_str(field("data:")?).unwrap();
    assert_eq!(field("event:"), Some("tool.call"));
    let (run, call) = (data["run_id"].as_str().unwrap(), data["call_id"].as_str().unwrap());
    assert_eq!(field("id:"), Some(call));
    Some(Told { run: run.to_owned(), call: call.to_owned(), data })
}
