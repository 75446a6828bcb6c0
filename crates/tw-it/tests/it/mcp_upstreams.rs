//! Servers that are made with the official SDKs, as upstreams of ours.

use std::{path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::{Instant, timeout},
};
use toolwright_sdk::Network;
use tw_egress::{Egress, Policy, Reach};
use tw_mcp_client::{Client, EARLIER, ListLimits, PRESENT, Target};
use tw_model::{Role, TenantId};
use tw_test::{Kind, TestDb};

use crate::{
    mcp::tool,
    world::{World, eventually},
};

/// How long a server may take to say where it listens.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of an SDK, gone when dropped.
struct Upstream {
    url: String,
    _process: Child,
}

async fn start(language: &str, way: &str) -> Upstream {
    let folder = std::env::var_os("TW_TEST_CLIENTS");
    let folder = PathBuf::from(folder.expect("run this by `cargo xtask test`")).join(language);
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients").join(language);
    let mut command = match language {
        "python" => {
            let mut command = Command::new(folder.join("bin/python"));
            command.args(["-W", "ignore"]).arg(script.join("serve.py"));
            command
        }
        _ => {
            // Packages are looked for from where the script is.
            let copy = folder.join(format!("serve-{}.mjs", std::process::id()));
            std::fs::copy(script.join("serve.mjs"), &copy).unwrap();
            let mut command = Command::new("node");
            command.arg(copy);
            command
        }
    };
    command.arg(way).current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let url = timeout(PATIENCE, lines.next_line()).await.expect("the server starts").unwrap();
    Upstream { url: url.expect("the server says where it listens"), _process: process }
}

#[derive(Debug)]
struct Way(Egress);

impl Network for Way {
    fn egress(&self, _: TenantId) -> Egress {
        self.0.clone()
    }
}

/// Lists and calls the tools of a server, and calls them by a server of ours.
async fn serves(language: &str, way: &str, revision: &str) {
    let upstream = start(language, way).await;
    let egress = Egress::new(Policy::new(Reach::Public, ["127.0.0.1/32"]).unwrap());
    let client = Client::new(Arc::new(Way(egress)));
    let target = Target::new(TenantId::new(), upstream.url.as_str());
    let listing = client.list_tools(&target, ListLimits::until(Instant::now() + PATIENCE)).await.unwrap();
    assert_eq!(listing.revision.as_deref(), Some(revision));
    assert_eq!(listing.server.name.as_deref(), Some("garden"));
    assert_eq!(listing.server.instructions.as_deref(), Some("Dig gently."));
    assert_eq!(listing.left_out, []);
    let add = listing.tools.iter().find(|tool| tool.name == "add").unwrap();
    assert_eq!(add.description.as_deref(), Some("Adds two numbers."));
    assert_eq!(add.input_schema["required"], json!(["a", "b"]));
    assert_eq!(add.output_schema.as_ref().unwrap()["properties"]["sum"]["type"], "number");

    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", "127.0.0.1/32")]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    for remote in &listing.tools {
        let implementation = json!({ "server_url": upstream.url, "tool_name": remote.name });
        let rest = json!({
            "implementation_type": "mcp", "implementation": implementation, "permission_level": "read",
            "input_schema": remote.input_schema, "output_schema": remote.output_schema,
        });
        admin.post("/api/tools", &tool(&remote.name, &rest)).await.is("201 published");
    }
    for _ in 0..2 {
        let told = admin.run("add", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(told.is("200 success").json()["output"]["sum"].as_f64(), Some(3.0), "{}", told.text);
    }
    let told = admin.run("echo", json!({ "text": "hi" })).await;
    assert_eq!(told.is("200 success").json()["output"], "hi", "{}", told.text);
    let told = admin.run("fail", json!({})).await;
    told.is("200 error");
    assert!(told.text_at("/error").contains("the cellar is locked"), "{}", told.text);
    let told = admin.run("picture", json!({})).await;
    let block = &told.is("200 success").json()["output"]["mcp_content"][0];
    assert_eq!((&block["type"], &block["mimeType"]), (&json!("image"), &json!("image/png")), "{}", told.text);
    if listing.tools.iter().any(|tool| tool.name == "dig") {
        let told = admin.run("dig", json!({})).await;
        assert_eq!(told.is("200 success").json()["output"], "a hole");
        let run = admin.get(&format!("/api/runs/{}", told.text_at("/run_id"))).await.json();
        if way != "json" {
            assert_eq!(run["logs"], json!(["progress 1 of 2: digging"]), "{run}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn official_python_server_that_answers_with_json() {
    serves("python", "json", PRESENT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_python_server_that_answers_with_streams() {
    serves("python", "stream", PRESENT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_python_server_with_sessions() {
    serves("python", "earlier", EARLIER[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_of_an_official_server_is_imported_and_held_once_it_is_another() {
    for way in ["stream", "earlier"] {
        let upstream = start("python", way).await;
        let world = World::on(TestDb::new(Kind::Sqlite).await).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", "127.0.0.1/32")]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let made = admin.post("/api/mcp-servers", &json!({ "name": "garden", "url": upstream.url })).await;
        let path = format!("/api/mcp-servers/{}", made.is("201 ready").text_at("/id"));
        let sent = json!({ "tools": ["add", "replant"], "publish": true });
        let imported = admin.post(&format!("{path}/import"), &sent).await;
        assert_eq!(imported.is("200").json()["skipped"], json!([]), "{}", imported.text);
        let told = admin.run("garden.add", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(told.is("200 success").json()["output"]["sum"].as_f64(), Some(3.0), "{}", told.text);
        admin.post(&format!("{path}/refresh"), &json!({})).await.is("200 ready");
        admin.run("garden.replant", json!({})).await.is("200 success");
        let shown = admin.post(&format!("{path}/refresh"), &json!({})).await.is("200 ready").json();
        assert_eq!(shown["pending_drifts"], 1, "{way}: {shown}");
        admin.run("garden.add", json!({ "a": 1, "b": 2 })).await.is("409 TOOL_HELD");
        let drifts = admin.get(&format!("{path}/drift")).await.json();
        let change = json!({ "path": "/description", "before": "Adds two numbers.", "after": "Adds two numbers, and more." });
        assert_eq!(drifts["items"][0]["diff"], json!([change]), "{drifts}");
        let drift = drifts["items"][0]["id"].as_str().unwrap();
        admin.post(&format!("{path}/drift/{drift}/accept"), &json!({})).await.is("200 accepted");
        admin.run("garden.add", json!({ "a": 1, "b": 2 })).await.is("200 success");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_of_the_configuration_is_started_for_its_tenants_and_changed_by_nobody() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let world = World::on(TestDb::new(kind).await).await;
        let folder =
            PathBuf::from(std::env::var_os("TW_TEST_CLIENTS").expect("run this by `cargo xtask test`"));
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients/python/serve.py");
        let python = folder.join("python/bin/python");
        let file = world.ledger("toolwright.toml");
        let args = json!(["-W", "ignore", script, "stdio"]);
        let config = format!(
            "[mcp_servers.garden]\ncommand = {}\nargs = {args}\ntenants = [\"acme\"]\n",
            json!(python)
        );
        std::fs::write(&file, config).unwrap();
        let server = world.server_with(&["--config", file.to_str().unwrap()], &[]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let list = "/api/mcp-servers";
        eventually("it is listed", PATIENCE, async || {
            admin.get(list).await.json()["items"][0]["status"] == "ready"
        })
        .await;
        let shown = admin.get(list).await.json()["items"][0].clone();
        assert_eq!(
            (&shown["name"], &shown["transport"], &shown["url"]),
            (&json!("garden"), &json!("stdio"), &json!("stdio:garden"))
        );
        assert_eq!(stranger.get(list).await.json()["items"], json!([]));
        let path = format!("{list}/{}", shown["id"].as_str().unwrap());
        for body in [
            json!({ "name": "other" }),
            json!({ "url": "https://example.com/" }),
            json!({ "allowed_tools": [] }),
        ] {
            admin.patch(&path, &body).await.is("409 CONFLICT");
        }
        admin.delete(&path).await.is("409 CONFLICT");
        let copied = json!({ "name": "theirs", "url": "stdio:garden" });
        stranger.post(list, &copied).await.is("422 INVALID_PARAMS");
        let sent = json!({ "tools": ["add", "dig", "replant"], "publish": true });
        admin.post(&format!("{path}/import"), &sent).await.is("200");
        let told = admin.run("garden.add", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(told.is("200 success").json()["output"]["sum"].as_f64(), Some(3.0), "{}", told.text);
        let told = admin.run("garden.dig", json!({})).await;
        let run = admin.get(&format!("/api/runs/{}", told.is("200 success").text_at("/run_id"))).await.json();
        assert_eq!(run["logs"], json!(["progress 1 of 2: digging"]), "{run}");
        admin.run("garden.replant", json!({})).await.is("200 success");
        admin.post(&format!("{path}/refresh"), &json!({})).await.is("200 ready");
        admin.run("garden.add", json!({ "a": 1, "b": 2 })).await.is("409 TOOL_HELD");
        // What starts it is under the seal of an approval.
        let asked = agent.run("garden.dig", json!({})).await.is("202 needs_approval").text_at("/approval_id");
        let same_tool = json!({ "server": "garden", "tool_name": "dig" });
        let theirs = tool(
            "dig",
            &json!({ "implementation_type": "mcp", "implementation": same_tool, "permission_level": "read" }),
        );
        stranger.post("/api/tools", &theirs).await.is("201 published");
        let failed = stranger.run("dig", json!({})).await;
        assert!(
            failed.is("200 error").text_at("/error").contains("there is no MCP server"),
            "{}",
            failed.text
        );

        drop(server);
        let server = world.server();
        let admin = admin.at(&server);
        let failed = admin.run("garden.dig", json!({})).await;
        assert!(
            failed.is("200 error").text_at("/error").contains("starts no MCP server `garden`"),
            "{}",
            failed.text
        );
        admin.post(&format!("/api/approvals/{asked}/approve"), &json!({})).await.is("409 SUPERSEDED");
        for tool in ["add", "dig", "replant"] {
            admin.delete(&format!("/api/tools/garden.{tool}")).await.is("204");
        }
        admin.delete(&path).await.is("204");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn official_typescript_server_1_with_sessions() {
    serves("typescript", "v1", EARLIER[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_typescript_server_2_of_the_present_revision() {
    serves("typescript", "v2", PRESENT).await;
}
