//! The program as an operator uses it: real processes on a folder of their own.
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod profiles;
#[cfg(unix)]
mod signals;
mod tools;
mod world;

use std::{
    fs,
    io::Write,
    process::{Child, Stdio},
};

use serde_json::Value;

use crate::world::{World, ask, stderr, stdout};

#[test]
fn keys_create_on_a_fresh_folder_prints_one_key_and_nothing_else() {
    let world = World::new();
    let made = world.run("keys create --tenant demo --role admin");
    assert!(made.status.success(), "{}", stderr(&made));
    let key = stdout(&made);
    assert!(key.starts_with("tw_") && key.ends_with('\n') && key.lines().count() == 1, "{key:?}");

    let keys = world.json("keys list --json");
    let states: Vec<_> = keys["items"].as_array().unwrap().iter().map(|key| &key["state"]).collect();
    assert_eq!(states, ["active"], "no key was made that nobody has seen");
    assert!(!keys.to_string().contains(key.trim()), "a list has no secrets");
}

#[test]
fn operator_commands_say_which_database_they_work_on() {
    let world = World::new();
    let file = world.folder().join("toolwright.sqlite");
    let database = format!("SQLite, {}", file.display());
    let made = world.run("keys create --role admin --json");
    let key: Value = serde_json::from_str(&stdout(&made)).unwrap();
    assert_eq!(key["database"], database.as_str());
    for line in ["keys list", "tenants create acme", "users list --tenant demo --json"] {
        let said = stderr(&world.run(line));
        assert!(said.contains(&format!("database: {database}")), "{line}: {said}");
    }
    assert!(world.ok("migrate").contains(&database));
}

#[test]
fn commands_at_once_on_a_fresh_folder_all_succeed() {
    let world = World::new();
    let create = || world.command("keys create --role admin").stdout(Stdio::piped()).spawn().unwrap();
    let children: Vec<Child> = (0..4).map(|_| create()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(stdout(&output).lines().count(), 1);
    }
    let keys = world.json("keys list --json");
    let active = keys["items"].as_array().unwrap().iter().filter(|key| key["state"] == "active");
    assert_eq!(active.count(), 4);
}

#[test]
fn tenant_is_asked_for_where_there_are_several() {
    let world = World::new();
    world.ok("tenants create acme --name Acme");
    world.ok("keys list");
    world.ok("tenants create globex");
    let refused = world.refused("keys list");
    assert!(refused.contains("--tenant") && refused.contains("acme, globex"), "{refused}");
    let refused = world.refused("keys create --tenant nowhere --role admin");
    assert!(refused.contains("there is no tenant `nowhere`"), "{refused}");
    let refused = world.refused("tenants create acme");
    assert!(refused.contains("taken"), "{refused}");
}

#[test]
fn person_is_added_with_a_password_that_is_never_shown() {
    let world = World::new();
    let mut child = world
        .command("users create ada@example.com --role builder --password-stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"correct horse battery\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!format!("{}{}", stdout(&output), stderr(&output)).contains("horse"));

    let users = world.json("users list --json");
    let ada =
        users["items"].as_array().unwrap().iter().find(|user| user["email"] == "ada@example.com").unwrap();
    assert_eq!((&ada["role"], &ada["has_password"]), (&"builder".into(), &true.into()));

    world.ok("users create ada@example.com --role builder");
    let refused = world.refused("users create ada@example.com --role admin");
    assert!(refused.contains("belongs to `demo` already, as builder"), "{refused}");
}

#[test]
fn first_start_greets_and_commands_work_beside_the_server() {
    let world = World::new();
    let server = world.serve("");
    assert!(server.said("sign in: ").starts_with(&format!("{}/sign-in?token=", server.url)));
    assert!(server.said("api key: ").starts_with("tw_"));
    assert!(server.greeting.iter().any(|line| line.contains(&format!("\"url\": \"{}/mcp\"", server.url))));

    let link = world.ok("users link admin@demo.localhost");
    assert!(link.starts_with(&format!("sign in: {}/sign-in?token=", server.url)), "{link}");
    let key = world.ok("keys create --role admin");
    assert_eq!(server.ask("me --json", key.trim()).status.code(), Some(0));
    let doctor = world.json("doctor --json");
    assert_eq!(doctor["ok"], true, "{doctor}");
    let line =
        |check: &str| doctor["items"].as_array().unwrap().iter().find(|line| line["check"] == check).unwrap();
    assert_eq!(line("master key")["detail"], "fits the database");
    assert!(line("server")["detail"].as_str().unwrap().contains(&server.url));
    assert_eq!(line("migrations")["detail"], "none is pending");

    drop(server);
    let server = world.serve("");
    assert!(!server.greeting.iter().any(|line| line.contains("tw_") || line.contains("token=")));
    assert!(server.greeting.iter().any(|line| line.contains("toolwright users link")));
    assert_eq!(server.ask("me", key.trim()).status.code(), Some(0));
}

#[test]
fn doctor_names_the_migrations_that_are_pending() {
    let world = World::new();
    fs::create_dir_all(world.folder()).unwrap();
    fs::write(world.folder().join("toolwright.sqlite"), "").unwrap();
    let said = stdout(&world.run("doctor"));
    let line = said.lines().find(|line| line.contains("migrations: ")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        line.starts_with("warn") && line.contains("pending: 0001_spine, 0002_tools, 0003_people_per_tenant"),
        "{line}"
    );

    world.ok("migrate");

    let said = stdout(&world.run("doctor"));
    assert!(said.contains("migrations: none is pending"), "{said}");
}

#[test]
fn second_server_on_a_folder_is_refused_by_its_name() {
    let world = World::new();
    let server = world.serve("");
    let refused = world.refused("serve --listen 127.0.0.1:0");
    assert!(refused.contains("another server is running on the data folder"), "{refused}");
    assert!(
        refused.contains(&world.folder().display().to_string()) && refused.contains(&server.url),
        "{refused}"
    );
}

#[test]
fn wrong_or_missing_master_key_is_refused() {
    let world = World::new();
    drop(world.serve(""));
    let key = world.ok("master-key");
    let serve = |key: Option<&str>| {
        let mut command = world.command("serve --listen 127.0.0.1:0");
        key.map(|key| command.env("TOOLWRIGHT_MASTER_KEY", key));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stdout(&output), "");
        stderr(&output)
    };
    let refused = serve(Some(key.trim()));
    assert!(refused.contains("belongs to another master key"), "{refused}");
    assert!(!refused.contains(key.trim()));

    let file = world.folder().join("master.key");
    fs::rename(&file, world.folder().join("elsewhere")).unwrap();
    let refused = serve(None);
    assert!(refused.contains("master.key is missing"), "{refused}");
    assert!(!file.exists(), "a key that fits nothing is not left behind");
    assert_eq!(world.run("doctor").status.code(), Some(1));
}

#[test]
fn everything_stored_is_put_under_another_master_key_while_no_server_runs() {
    let world = World::new();
    let server = world.serve("");
    let next = world.folder().join("next.key");
    fs::write(&next, world.ok("master-key")).unwrap();
    let rotate = format!("master-key rotate --to {}", next.display());
    let refused = world.refused(&rotate);
    assert!(refused.contains("another server is running"), "{refused}");
    drop(server);

    let before = fs::read_to_string(world.folder().join("master.key")).unwrap();
    let told = world.ok(&rotate);
    assert!(told.contains("re-encrypted 0 keys with the new master key"), "{told}");
    let after = fs::read_to_string(world.folder().join("master.key")).unwrap();
    assert_eq!(after.trim(), fs::read_to_string(&next).unwrap().trim());
    world.ok(&rotate);
    drop(world.serve(""));

    fs::write(world.folder().join("master.key"), before).unwrap();
    let refused = world.refused("serve --listen 127.0.0.1:0");
    assert!(refused.contains("belongs to another master key"), "{refused}");
}

#[test]
fn taken_port_is_told_before_anything_is_shown_once() {
    let world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = world.refused(&format!("serve --listen {}", taken.local_addr().unwrap()));
    assert!(refused.contains("cannot listen on 127.0.0.1:"), "{refused}");
    let server = world.serve("");
    assert!(server.said("api key: ").starts_with("tw_"));
}

#[test]
fn tools_are_listed_run_and_followed() {
    let world = World::new();
    let server = world.serve("");
    let key = server.said("api key: ");
    let tools: Value = serde_json::from_str(&stdout(&server.ask("tools list --json", key))).unwrap();
    assert!(tools["items"].as_array().unwrap().iter().any(|tool| tool["slug"] == "datetime_utils"));
    assert!(stdout(&server.ask("tools show datetime_utils", key)).contains("operation"));

    let ran = server.ask(r#"tools run datetime_utils --input {"operation":"now"}"#, key);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let output: Value = serde_json::from_str(&stdout(&ran)).unwrap();
    assert_eq!(output["timezone"], "UTC");

    let failed =
        server.ask(r#"tools run datetime_utils --input {"operation":"parse","value":"never"} --json"#, key);
    assert_eq!(failed.status.code(), Some(1));
    let run: Value = serde_json::from_str(&stdout(&failed)).unwrap();
    assert_eq!(run["status"], "error");

    let id = run["run_id"].as_str().unwrap();
    let followed = stdout(&server.ask(&format!("runs tail {id} --json"), key));
    let kinds: Vec<Value> = followed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = kinds.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool.started", "tool.failed"]);
    let listed = stdout(&server.ask("runs list --status error --mode production", key));
    assert!(listed.contains(id) && listed.contains("Admin") && listed.contains("production"), "{listed}");
    for none in ["runs list --status denied", "runs list --mode debug"] {
        assert!(!stdout(&server.ask(none, key)).contains(id), "{none}");
    }
    assert!(stdout(&server.ask(&format!("runs show {id}"), key)).contains("datetime_utils"));
    assert_eq!(server.ask("approvals list", key).status.code(), Some(0));
}

#[test]
fn refusal_of_a_server_is_told_in_words() {
    let world = World::new();
    let server = world.serve("");
    let key = server.said("api key: ");
    let refused = server.ask("tools run datetime_utils", key);
    assert_eq!(refused.status.code(), Some(1));
    let text = stderr(&refused);
    assert!(text.starts_with("error: ") && text.contains("(MISSING_PARAM, request "), "{text}");
    assert!(text.contains("missing: operation"), "{text}");

    let text = stderr(&server.ask("runs show nope", key));
    assert!(text.starts_with("error: nothing has the id `nope`: an id must be a UUID (NOT_FOUND"), "{text}");
    let text = stderr(&server.ask("runs show 01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11", key));
    assert!(
        text.starts_with("error: there is no such run: `01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11` (NOT_FOUND"),
        "{text}"
    );
    let text = stderr(&server.ask("tools show nope", key));
    assert!(text.starts_with("error: there is no tool named `nope` (TOOL_NOT_FOUND"), "{text}");

    let text = stderr(&server.ask("me", "tw_000000000000_wrong"));
    assert!(text.contains("UNAUTHENTICATED") && text.contains("hint: check --key"), "{text}");
    let text = stderr(&server.ask("tools run \u{1b}[31mred", key));
    assert!(text.starts_with("error: ") && !text.contains('\u{1b}'), "{text:?}");

    let text = stderr(&ask("http://127.0.0.1:1", "me", key));
    assert!(text.contains("cannot reach the server") && text.contains("toolwright serve"), "{text}");
}

#[test]
fn backup_of_a_running_server_serves_elsewhere() {
    let world = World::new();
    let server = world.serve("");
    let key = server.said("api key: ").to_owned();
    let file = world.folder().join("copy.sqlite");
    let said = world.ok(&format!("backup --out {}", file.display()));
    assert!(said.contains("master key is not part of it"), "{said}");
    let refused = world.refused(&format!("backup --out {}", file.display()));
    assert!(refused.contains("exists already"), "{refused}");

    let elsewhere = World::new();
    fs::create_dir_all(elsewhere.folder()).unwrap();
    fs::copy(&file, elsewhere.folder().join("toolwright.sqlite")).unwrap();
    fs::copy(world.folder().join("master.key"), elsewhere.folder().join("master.key")).unwrap();
    let restored = elsewhere.serve("");
    assert_eq!(restored.ask("me", &key).status.code(), Some(0));
}

#[test]
fn bad_settings_are_named_and_nothing_is_started() {
    let world = World::new();
    let refused = world.refused("serve --listen nowhere");
    assert!(refused.contains("`listen` must be an address and a port"), "{refused}");
    let refused = world.refused("serve --config /nowhere.toml");
    assert!(refused.contains("/nowhere.toml"), "{refused}");
    assert!(!world.folder().exists());
}
