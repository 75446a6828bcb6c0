//! Real clients at the MCP door: list, call, error, approval, pending.

use std::{path::PathBuf, process::Stdio};

use serde_json::json;
use tw_model::{ActsAs, Role};
use tw_test::{Kind, TestDb};

use crate::{
    mcp::tool,
    world::{Client, World, lines_of},
};

/// Where `cargo xtask test` has put the clients.
fn clients() -> PathBuf {
    let folder = std::env::var_os("TW_TEST_CLIENTS");
    folder.expect("run this by `cargo xtask test` or `cargo xtask with-pg`, which install the clients").into()
}

/// Tools whose schemas clients have to find their way in: those who compile what they are listed refuse the
/// whole list for one that they cannot read.
async fn make_tools_that_refer_to_themselves(author: &Client) {
    let money = json!({ "type": "integer", "minimum": 0 });
    for (slug, output) in [
        ("refers.property", json!({ "properties": { "a": money, "b": { "$ref": "#/properties/a" } } })),
        ("refers.defs", json!({ "properties": { "a": { "$ref": "#/$defs/m" } }, "$defs": { "m": money } })),
        ("refers.whole", json!({ "properties": { "a": { "type": "array", "items": { "$ref": "#" } } } })),
        (
            "refers.by-id",
            json!({ "$id": "https://example.com/bill", "properties": { "a": { "$ref": "#/$defs/m" } }, "$defs": { "m": money } }),
        ),
        (
            "refers.pattern",
            json!({ "properties": { "a": { "type": "string", "pattern": r"^[\w.\-]+\/\p{L}\p{Script=Greek}?$" } } }),
        ),
    ] {
        let mut output = output;
        output["type"] = json!("object");
        let gated = json!({ "permission_policy": "always_ask", "output_schema": output });
        author.post("/api/tools", &tool(slug, &gated)).await.is("201 published");
    }
    author
        .post("/api/tools", &tool("refers.open", &json!({ "permission_policy": "always_ask" })))
        .await
        .is("201 published");
}

/// Lets a script of `clients/` go through its scenario against a server of its own.
async fn goes_through(language: &str, way: &str, writes: usize) {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let server = world.server();
    let ledger = world.ledger("writes");
    make_tools_that_refer_to_themselves(&world.client(&server, "acme", Role::Builder).await).await;
    let folder = clients().join(language);
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients").join(language);
    let mut command = match language {
        "python" => {
            let mut command = tokio::process::Command::new(folder.join("bin/python"));
            command.args(["-W", "ignore"]).arg(script.join("check.py"));
            command
        }
        _ => {
            // Packages are looked for from where the script is.
            let copy = folder.join(format!("check-{}.mjs", std::process::id()));
            std::fs::copy(script.join("check.mjs"), &copy).unwrap();
            let mut command = tokio::process::Command::new("node");
            command.arg(copy);
            command
        }
    };
    let output = command
        .arg(way)
        .current_dir(&folder)
        .env("TW_URL", &server.url)
        .env("TW_AGENT_KEY", world.key("acme", Role::Agent, ActsAs::Agent).await)
        .env("TW_ADMIN_KEY", world.key("acme", Role::Admin, ActsAs::User).await)
        .env("TW_LEDGER", &ledger)
        .env("TW_PROGRAM", env!("CARGO_BIN_EXE_toolwright-under-test"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{language} {way}: {}\n{said}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(lines_of(&ledger).len(), writes, "effects");
}

#[tokio::test(flavor = "multi_thread")]
async fn official_python_client_of_the_present_revision() {
    goes_through("python", "sdk", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_python_client_that_opens_with_a_handshake() {
    goes_through("python", "sdk-legacy", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fastmcp_client() {
    goes_through("python", "fastmcp", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_starts_its_server_as_a_program() {
    goes_through("python", "stdio", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_typescript_client_1() {
    goes_through("typescript", "v1", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_typescript_client_2() {
    goes_through("typescript", "v2", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn official_typescript_client_2_of_the_present_revision() {
    goes_through("typescript", "v2-present", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inspector_on_the_command_line() {
    goes_through("typescript", "inspector", 0).await;
}
