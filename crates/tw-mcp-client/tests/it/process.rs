//! Servers that are processes.

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;
use tw_mcp_client::{CallOptions, Error, McpCommand, McpProcess, Overrun, Target};
use tw_model::TenantId;
use tw_test::{Generation, McpServer};

use crate::{House, far};

const SECRET: &str = "canary-of-a-process";

/// A server in a shell: lines in, lines out.
const SCRIPT: &str = r#"
echo "started with $KEY" >&2
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
text() { say "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case "$line" in
    *'"method":"initialize"'*)
      say '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"garden"}}' ;;
    *'"method":"tools/list"'*) say '{"tools":[{"name":"hi","inputSchema":{"type":"object"}}]}' ;;
    *'"name":"hi"'*) text "hi" ;;
    *'"name":"environment"'*) text "[$HOME][$TW_TEST_PG] $KEY" ;;
    *'"name":"die"'*) exit 1 ;;
    *'"name":"report"'*)
      printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n' "$id"
      text "done" ;;
    *'"name":"flood"'*) yes '{"jsonrpc":"2.0","method":"notifications/message","params":{}}' ;;
    *'"name":"endless"'*) head -c 20000000 /dev/zero | tr '\0' a ;;
    *'"name":"nonsense"'*) echo 'Listening on port 80'; text "hi" ;;
  esac
done
"#;

fn command(program: &str, args: &[&str]) -> McpCommand {
    let env = [("PATH", "/usr/bin:/bin"), ("KEY", SECRET)];
    McpCommand {
        name: "garden".to_owned(),
        program: PathBuf::from(program),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned().into())).to_vec(),
        secrets: vec![SECRET.to_owned().into()],
    }
}

/// Somebody with a process, and a way to nowhere.
async fn house(command: McpCommand) -> House {
    let mut house = House::of(&McpServer::start(Generation::Present).await);
    let process = Arc::new(McpProcess::new(command));
    house.target = Target::of_process(TenantId::new(), "stdio:garden", process);
    house
}

async fn shell() -> House {
    house(command("/bin/sh", &["-c", SCRIPT])).await
}

/// A call that may take a moment, until a process is there again that says hi.
async fn says_hi(house: &House) {
    let until = far();
    loop {
        let deadline = Instant::now() + Duration::from_secs(5);
        match house.call_with("hi", json!({}), CallOptions::until(deadline)).await {
            Ok(called) => return assert_eq!(called.text(), "hi"),
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    }
}

#[tokio::test]
async fn process_is_started_when_it_is_asked_and_again_once_it_has_ended() {
    let house = shell().await;
    let listing = house.list().await.unwrap();
    assert_eq!((listing.tools[0].name.as_str(), listing.revision.as_deref()), ("hi", Some("2025-11-25")));
    says_hi(&house).await;
    for _ in 0..3 {
        let error = house.call("die", json!({})).await.unwrap_err();
        assert!(matches!(error, Error::Gone { effect_possible: true, .. }), "{error}");
        let said = error.to_string();
        assert_eq!(
            said,
            "the process of the MCP server `garden` (`tools/call`) is gone: it ended before its answer"
        );
        says_hi(&house).await;
    }
    let calls = (0..20).map(|_| house.call("hi", json!({})));
    for called in futures::future::join_all(calls).await {
        assert_eq!(called.unwrap().text(), "hi");
    }
}

#[tokio::test]
async fn environment_is_its_own_and_its_values_do_not_come_back() {
    let house = shell().await;
    assert_eq!(house.call("environment", json!({})).await.unwrap().text(), "[][] ***");
    let (sender, mut reports) = tokio::sync::mpsc::channel(8);
    let options = CallOptions { progress: Some(sender), ..CallOptions::until(far()) };
    assert_eq!(house.call_with("report", json!({}), options).await.unwrap().text(), "done");
    assert_eq!(reports.recv().await.unwrap().progress, 1.0);
    assert_eq!(house.call("nonsense", json!({})).await.unwrap().text(), "hi", "a line that is no message");
    assert!(!format!("{:?}", house.target).contains("canary"));
}

#[tokio::test]
async fn silence_floods_and_endless_lines_end() {
    let house = shell().await;
    let soon = CallOptions::until(Instant::now() + Duration::from_millis(300));
    let error = house.call_with("silent", json!({}), soon).await.unwrap_err();
    assert!(matches!(error, Error::Late { .. }), "{error}");
    says_hi(&house).await;
    let error = house.call("flood", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { over: Overrun::Bytes(_), .. } | Error::Gone { .. }), "{error}");
    says_hi(&house).await;
    let error = house.call("endless", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::Gone { .. }), "{error}");
    says_hi(&house).await;
}

#[tokio::test]
async fn program_that_is_not_there_or_ends_at_once_is_not_started_in_a_loop() {
    for command in [command("/nowhere/garden", &[]), command("/bin/sh", &["-c", "exit 0"])] {
        let house = house(command).await;
        let mut said: Vec<Value> = Vec::new();
        for _ in 0..20 {
            let error = house.call("hi", json!({})).await.unwrap_err();
            assert!(matches!(error, Error::Gone { .. }), "{error}");
            assert!(!error.is_repeatable());
            said.push(json!(error.to_string()));
        }
        assert!(said.iter().any(|text| text.as_str().unwrap().contains("it keeps ending")), "{said:?}");
    }
}
