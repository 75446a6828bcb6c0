//! A person at the command line: profiles, fields as flags, completion, MCP clients.

use std::{fs, io::Write, path::Path, process::Output, process::Stdio};

use serde_json::Value;

use crate::world::{World, program, stderr, stdout};

/// The program with a home folder, and nothing else of this environment.
fn at_home(home: &Path, line: &str, input: &str) -> Output {
    let mut command = program(line);
    command.env("HOME", home).current_dir(home);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[track_caller]
fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    stdout(output)
}

#[test]
fn key_is_saved_once_it_works_and_never_sent_elsewhere() {
    let (world, home) = (World::new(), tempfile::tempdir().unwrap());
    let server = world.serve("");
    let (url, key) = (&server.url, server.said("api key: "));

    let refused = at_home(home.path(), &format!("login --url {url}"), "tw_000000000000_wrong\n");
    assert!(stderr(&refused).contains("UNAUTHENTICATED"), "{}", stderr(&refused));
    assert!(stderr(&at_home(home.path(), "me", "")).contains("there is no API key"));

    let saved = ok(&at_home(home.path(), &format!("login --url {url}"), &format!("{key}\n")));
    assert!(saved.contains("Demo (demo)") && !saved.contains(key), "{saved}");
    assert!(ok(&at_home(home.path(), "me", "")).contains("admin"));
    assert!(ok(&at_home(home.path(), "profiles", "")).contains(&format!("{url}/")));

    let other = stderr(&at_home(home.path(), "me --url http://127.0.0.1:1", ""));
    assert!(other.contains("there is no API key for http://127.0.0.1:1/"), "{other}");
    let unknown = stderr(&at_home(home.path(), "me --profile work", ""));
    assert!(
        unknown.contains("no profile named `work`") && unknown.contains("there are: default"),
        "{unknown}"
    );

    ok(&at_home(home.path(), "logout", ""));
    assert!(stderr(&at_home(home.path(), "me", "")).contains("there is no API key"));
}

#[test]
fn fields_of_a_tool_are_flags_and_all_missing_ones_are_named_at_once() {
    let world = World::new();
    let server = world.serve("");
    let key = server.said("api key: ");
    let ran =
        server.ask("tools run roi-calculator --initial-investment 10000 --annual-benefit 4000 --json", key);
    let run: Value = serde_json::from_str(&ok(&ran)).unwrap();
    assert_eq!(run["status"], "success", "{run}");

    let missing = stderr(&server.ask("tools run roi-calculator", key));
    assert!(
        missing.contains("missing: ")
            && missing.contains("annualBenefit")
            && missing.contains("initialInvestment"),
        "{missing}"
    );
    let help = ok(&server.ask("tools run roi-calculator --help", key));
    assert!(help.contains("--initial-investment <JSON>") && help.contains("[required]"), "{help}");
    assert!(ok(&server.ask("tools run --help", key)).contains("--input-file"));
    let unknown = stderr(&server.ask("tools run roi-calculator --initial-invest 5", key));
    assert!(unknown.contains("--initial-investment"), "{unknown}");

    let input =
        r#"tools run datetime_utils --input {"operation":"now"} --operation parse --value 2026-01-02 --json"#;
    let run: Value = serde_json::from_str(&ok(&server.ask(input, key))).unwrap();
    assert_eq!(run["status"], "success", "a flag wins over the same field: {run}");
}

#[test]
fn names_stand_where_ids_would() {
    let world = World::new();
    let server = world.serve("");
    let key = server.said("api key: ");
    server.ask("tools patch datetime_utils -", key);
    let file = world.folder().join("greet.json");
    let greet = r#"{ "slug": "greet", "name": "Greet", "description": "Greets.", "implementation_type": "internal",
        "permission_policy": "always_ask", "permission_level": "write", "input_schema": { "type": "object" }, "publish": true }"#;
    fs::write(&file, greet).unwrap();
    ok(&server.ask(&format!("tools create {}", file.display()), key));
    assert!(ok(&server.ask("tools versions greet", key)).contains("Admin"));
    assert!(ok(&server.ask("tools ls", key)).contains("greet"));
    let agent = world.ok("keys create --role agent --acts-as agent --agent analyst");
    let waits = server.ask(r#"tools run greet --input {"who":"Ada"}"#, agent.trim());
    assert_eq!(waits.status.code(), Some(3), "{}", stderr(&waits));
    let listed = ok(&server.ask("approvals list", key));
    assert!(listed.contains("agent analyst") && listed.contains(r#"{"who":"Ada"}"#), "{listed}");
}

#[test]
fn key_tells_on_the_side_which_database_it_is_in() {
    let world = World::new();
    let made = world.run("keys create --role admin");
    assert_eq!(stdout(&made).lines().count(), 1);
    assert!(
        stderr(&made).contains(&world.folder().join("toolwright.sqlite").display().to_string()),
        "{}",
        stderr(&made)
    );
}

#[test]
fn mcp_client_is_told_of_the_server_without_the_key() {
    let (world, home) = (World::new(), tempfile::tempdir().unwrap());
    let server = world.serve("");
    let key = server.said("api key: ");
    let early = stderr(&at_home(home.path(), "mcp add cursor --yes", ""));
    assert!(early.contains("toolwright login"), "{early}");
    ok(&at_home(home.path(), &format!("login --url {}", server.url), key));

    let unasked = at_home(home.path(), "mcp add cursor", "");
    assert!(!unasked.status.success() && stderr(&unasked).contains("--yes"), "{}", stderr(&unasked));
    let file = home.path().join(".cursor/mcp.json");
    assert!(!file.exists());
    let added = at_home(home.path(), "mcp add cursor --yes", "");
    assert!(ok(&added).contains("restart the client"));
    let written = fs::read_to_string(&file).unwrap();
    let settings: Value = serde_json::from_str(&written).unwrap();
    let entry = &settings["mcpServers"]["toolwright"];
    assert_eq!(entry["args"], serde_json::json!(["mcp", "--profile", "default"]));
    assert!(!written.contains("tw_"), "{written}");
    assert!(ok(&at_home(home.path(), "mcp add cursor --yes", "")).contains("already has this entry"));

    // What was written works: the client starts it and asks for the tools.
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}
"#;
    let answered = ok(&at_home(home.path(), "mcp --profile default", ask));
    assert!(answered.contains("roi-calculator"), "{answered}");
}

#[test]
fn completion_scripts_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = ok(&program(&format!("completions {shell}")).output().unwrap());
        assert!(script.contains("approvals"), "{shell}");
    }
}
