//! Every way by which a tenant can name an address: none of them leads inside, however the address is written.

use std::time::Duration;

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Generation, Kind, McpServer, Quirk, Receiver, TestDb, Upstream, on_both};

use crate::world::{Answer, Client, Server, World, eventually};

const SOON: Duration = Duration::from_secs(20);

/// Loopback and its neighbours, as one would write them to get past somebody.
pub fn shut_urls(port: u16) -> Vec<String> {
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "0.0.0.0",
        "0",
        "[::]",
        "127.0.0.2",
        "user:pass@127.0.0.1",
        "example.com@127.0.0.1",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "%31%32%37.0.0.1",
    ]
    .map(|host| format!("http://{host}:{port}/"))
    .into()
}

fn reaching(world: &World, upstreams: &[&Upstream]) -> Server {
    let allowed: Vec<_> = upstreams.iter().map(|upstream| upstream.host_and_port()).collect();
    let environment = [
        ("TOOLWRIGHT_EGRESS__ALLOW", allowed.join(",")),
        ("TOOLWRIGHT_MODELS__DEFAULT__PROVIDER", "openai".to_owned()),
        ("TOOLWRIGHT_MODELS__DEFAULT__MODEL", "m-1".to_owned()),
    ];
    let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    world.server_with(&[], &environment)
}

fn tool(slug: &str, rest: &Value) -> Value {
    let mut body = json!({
        "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
        "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

/// A run that was refused for its address, or for how that is written.
#[track_caller]
fn is_denied(way: &str, url: &str, told: &Answer) {
    let code = match told.status.as_u16() {
        200 => told.is("200 error").text_at("/error_code"),
        _ => told.text_at("/code"),
    };
    assert!(["EGRESS_DENIED", "INVALID_PARAMS"].contains(&code.as_str()), "{way} {url}: {}", told.text);
}

/// A body that was refused for the address in it.
#[track_caller]
fn is_refused(way: &str, url: &str, told: &Answer) {
    let paths: Vec<_> = told.is("422 INVALID_PARAMS").json()["errors"].as_array().unwrap().clone();
    assert!(paths.iter().all(|fault| fault["path"] == "/url"), "{way} {url}: {}", told.text);
}

/// Makes a credential whose endpoint can be set.
async fn keeper(admin: &Client, label: &str, provider: &str) -> String {
    let payload = json!({ "api_key": "k-1", "endpoint": "https://example.com/" });
    let body = json!({ "label": label, "type": "custom", "provider_key": provider, "payload": payload });
    admin.post("/api/credentials", &body).await.is("201").text_at("/id")
}

#[tokio::test(flavor = "multi_thread")]
async fn no_way_out_leads_inside_however_the_address_is_written() {
    let (shut, receiver) = (Upstream::start().await, Receiver::start().await);
    let remote = McpServer::start(Generation::Present).await;
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let server = reaching(&world, &[&remote.upstream, &receiver.upstream]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let garden = admin.post("/api/mcp-servers", &json!({ "name": "garden", "url": remote.url() })).await;
    let garden = format!("/api/mcp-servers/{}", garden.is("201 ready").text_at("/id"));
    let hook = json!({ "url": receiver.url(), "events": ["run.completed"] });
    let hook = format!("/api/webhooks/{}", admin.post("/api/webhooks", &hook).await.is("201").text_at("/id"));
    let prompt = json!({ "kind": "prompt", "mode": "direct", "prompt_template": "Say {{ input.text }}" });
    admin.post("/api/tools", &tool("ask", &json!({ "execution_spec": prompt }))).await.is("201 published");
    let model = keeper(&admin, "model", "openai").await;
    let searches = ["serper", "exa", "brave"];
    let mut keepers = Vec::new();
    for provider in searches {
        keepers.push(keeper(&admin, provider, provider).await);
        let implementation =
            json!({ "builtin_key": "web_search", "provider": provider, "credentials_ref": provider });
        let search = json!({ "implementation_type": "internal", "implementation": implementation });
        let search = tool(&format!("search.{provider}"), &search);
        admin.post("/api/tools", &search).await.is("201 published");
    }

    for (number, url) in shut_urls(shut.port()).iter().enumerate() {
        let new = json!({ "name": format!("s{number}"), "url": url });
        is_refused("a new MCP server", url, &admin.post("/api/mcp-servers", &new).await);
        is_refused("a changed MCP server", url, &admin.patch(&garden, &json!({ "url": url })).await);
        let new = json!({ "url": url, "events": ["run.completed"] });
        is_refused("a new webhook", url, &admin.post("/api/webhooks", &new).await);
        is_refused("a changed webhook", url, &admin.patch(&hook, &json!({ "url": url })).await);

        let implementation = json!({ "server_url": url, "tool_name": "add" });
        let body = tool("remote", &json!({ "implementation_type": "mcp", "implementation": implementation }));
        let tried = admin.post("/api/tools/remote/test", &json!({ "input": {}, "definition": body })).await;
        is_denied("a tool of a remote server", url, &tried);
        let input = json!({ "server_url": url, "tool_name": "add", "arguments": {} });
        is_denied("mcp_call", url, &admin.run("mcp_call", input).await);

        let payload = json!({ "payload": { "api_key": "k-1", "endpoint": url } });
        let at = |id: &str| format!("/api/credentials/{id}");
        assert_eq!(admin.patch(&at(&model), &payload).await.status, 200);
        is_denied("a model", url, &admin.run("ask", json!({ "text": "x" })).await);
        for (provider, id) in searches.iter().zip(&keepers) {
            assert_eq!(admin.patch(&at(id), &payload).await.status, 200);
            let told = admin.run(&format!("search.{provider}"), json!({ "query": "x" })).await;
            is_denied(provider, url, &told);
        }
    }
    // What an allowed server says does not lead inside either.
    remote.set_from_the_start(Quirk::Redirect(shut.url("/mcp")));
    admin.post(&format!("{garden}/refresh"), &json!({})).await.is("200 failed");
    receiver
        .upstream
        .script([format!("HTTP/1.1 307 So\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", shut.url("/"))]);
    let tested = admin.post(&format!("{hook}/test"), &json!({})).await;
    assert_eq!(tested.json()["response_status"], 307, "{}", tested.text);
    assert_eq!(shut.connections(), 0);
}

on_both! {
    /// Where the operator takes an address back, what was registered before stays inside as well.
    async fn address_that_is_no_longer_allowed_is_not_called(db: TestDb) {
        let (remote, receiver) = (McpServer::start(Generation::Present).await, Receiver::start().await);
        let world = World::on(db).await;
        let server = reaching(&world, &[&remote.upstream, &receiver.upstream]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let garden = admin.post("/api/mcp-servers", &json!({ "name": "garden", "url": remote.url() })).await;
        let garden = format!("/api/mcp-servers/{}", garden.is("201 ready").text_at("/id"));
        let import = json!({ "tools": ["add"], "publish": true });
        admin.post(&format!("{garden}/import"), &import).await.is("200");
        let hook = json!({ "url": receiver.url(), "events": ["run.completed"] });
        let hook = format!("/api/webhooks/{}", admin.post("/api/webhooks", &hook).await.is("201").text_at("/id"));
        drop(server);
        let before = (remote.upstream.connections(), receiver.upstream.connections());

        let server = reaching(&world, &[]);
        let admin = admin.at(&server);
        admin.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        let tried = async || {
            let found = admin.get(&format!("{hook}/deliveries")).await.json();
            found["items"][0]["attempts"] == 1 && found["items"][0]["error"].as_str().is_some_and(|why| why.contains("egress.allow"))
        };
        eventually("the delivery is tried", SOON, tried).await;
        let shown = admin.post(&format!("{garden}/refresh"), &json!({})).await;
        assert!(shown.is("200 unreachable").text_at("/last_error").contains("egress.allow"), "{}", shown.text);
        is_denied("an imported tool", "", &admin.run("garden.add", json!({ "a": 1, "b": 2 })).await);
        assert_eq!((remote.upstream.connections(), receiver.upstream.connections()), before);
    }
}
