//! Tools of a tenant's own, written and carried about from the command line.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::{Value, json};

use crate::world::{Running, World, stderr, stdout};

/// A server, and a folder for files.
struct Scene {
    server: Running,
    key: String,
    files: tempfile::TempDir,
    world: World,
}

impl Scene {
    fn new() -> Self {
        let world = World::new();
        let server = world.serve("");
        let key = server.said("api key: ").to_owned();
        Self { server, key, files: tempfile::tempdir().unwrap(), world }
    }

    fn run(&self, line: &str) -> Output {
        self.server.ask(line, &self.key)
    }

    #[track_caller]
    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}{}", stdout(&output), stderr(&output));
        stdout(&output)
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("{line} --json"))).unwrap()
    }

    #[track_caller]
    fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", stdout(&output));
        stderr(&output)
    }

    fn file(&self, name: &str, definition: &Value) -> PathBuf {
        let path = self.files.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, definition.to_string()).unwrap();
        path
    }

    fn dir(&self, name: &str) -> String {
        self.files.path().join(name).display().to_string()
    }

    /// What an import says of each file.
    #[track_caller]
    fn imported(&self, dir: &str, code: i32) -> Vec<(String, String)> {
        let output = self.run(&format!("tools import {dir} --json"));
        assert_eq!(output.status.code(), Some(code), "{}{}", stdout(&output), stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let items = report["items"].as_array().unwrap();
        items.iter().map(|item| (text(&item["file"]), text(&item["outcome"]))).collect()
    }
}

fn greet() -> Value {
    json!({
        "slug": "greet", "name": "Greet", "description": "Greets somebody.", "implementation_type": "internal",
        "implementation": { "headers": { "X-Key": "s3cret" } },
        "input_schema": { "type": "object", "properties": { "who": { "type": "string" } }, "required": ["who"] },
    })
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(file, outcome)| ((*file).to_owned(), (*outcome).to_owned())).collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn tool_is_made_changed_published_numbered_and_removed() {
    let scene = Scene::new();
    let file = scene.file("greet.json", &greet());
    assert_eq!(scene.ok(&format!("tools create {}", file.display())), "created greet 1.0.0 (draft)\n");
    let refused = scene.refused(&format!("tools create {}", file.display()));
    assert!(refused.contains("CONFLICT") && refused.contains("greet"), "{refused}");
    assert!(scene.refused("tools run greet --input {\"who\":\"Ada\"}").contains("TOOL_NOT_PUBLISHED"));

    assert_eq!(scene.json("tools publish greet")["status"], "published");
    let ran: Value = serde_json::from_str(&scene.ok("tools run greet --input {\"who\":\"Ada\"}")).unwrap();
    assert_eq!(ran["args"]["who"], "Ada");

    let change = scene.file("change.json", &json!({ "input_schema": { "type": "object" } }));
    assert_eq!(scene.json(&format!("tools patch greet {}", change.display()))["has_draft"], true);
    let compared = scene.json("tools compare greet");
    assert_eq!((&compared["from"], &compared["to"]), (&json!("1.0.0"), &json!("1.0.0")));
    assert!(compared["changes"].as_array().is_some_and(|changes| !changes.is_empty()), "{compared}");
    assert!(scene.ok("tools compare greet --from live --to draft").contains("required bump"));

    assert_eq!(scene.ok("tools version greet 2.0.0"), "changed greet 2.0.0 (published)\n");
    assert!(scene.refused("tools version greet 1.5.0").contains("greater than 2.0.0"));
    let kinds: Vec<Value> = scene.json("tools versions greet")["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["kind"].clone())
        .collect();
    assert_eq!(kinds, ["version", "save", "publish", "save"]);
    assert!(scene.ok("tools versions greet --kind publish").contains("publish"));

    assert_eq!(scene.json("tools delete greet"), json!({ "tool": "greet", "removed": true }));
    assert!(scene.refused("tools show greet").contains("TOOL_NOT_FOUND"));
    assert!(scene.refused("tools delete greet").contains("TOOL_NOT_FOUND"));
}

#[test]
fn every_fault_of_a_definition_is_told_with_its_place() {
    let scene = Scene::new();
    let wrong = json!({ "slug": "no spaces", "name": "", "implementation_type": "internal", "input_schema": { "type": "strin" } });
    let file = scene.file("wrong.json", &wrong);
    let refused = scene.refused(&format!("tools create {}", file.display()));
    assert!(refused.contains("(INVALID_PARAMS, request "), "{refused}");
    for place in ["\n  /slug: ", "\n  /name: "] {
        assert!(refused.contains(place), "{place} is not in {refused}");
    }
    fs::write(&file, "{ not JSON").unwrap();
    assert!(scene.refused(&format!("tools create {}", file.display())).contains("is not JSON"));
    assert!(scene.refused("tools create /nowhere.json").contains("cannot read /nowhere.json"));
    // Standard input is empty.
    assert!(scene.refused("tools create -").contains("is not JSON"));
}

#[test]
fn refused_publication_names_what_breaks_and_what_fails() {
    let scene = Scene::new();
    let file = scene.file("greet.json", &greet());
    scene.ok(&format!("tools create {}", file.display()));
    scene.ok("tools publish greet");
    let schema = json!({ "type": "object", "properties": { "age": {} }, "required": ["age"] });
    let change = scene.file("change.json", &json!({ "input_schema": schema }));
    scene.ok(&format!("tools patch greet {}", change.display()));
    let refused = scene.refused("tools publish greet --version 1.1.0");
    assert!(
        refused.contains("BREAKING_CHANGE") && refused.contains("\n  input /age: is required now"),
        "{refused}"
    );
    assert_eq!(scene.json("tools show greet")["version"], "1.0.0");
    assert_eq!(scene.ok("tools publish greet --version 2.0.0"), "published greet 2.0.0 (published)\n");
    scene.ok(&format!("tools patch greet {}", file.display()));
    assert!(scene.refused("tools publish greet --ignore-tests").contains("BREAKING_CHANGE"));
    scene.ok("tools publish greet --accept-breaking");
}

#[test]
fn exported_tools_come_back_as_they_were_and_a_second_time_changes_nothing() {
    let scene = Scene::new();
    let file = scene.file("greet.json", &greet());
    scene.ok(&format!("tools create {}", file.display()));
    scene.ok("tools publish greet");
    let dir = scene.dir("out");
    let said = scene.json(&format!("tools export --out {dir}"));
    assert_eq!(said["items"][0]["tool"], "greet");

    let path = Path::new(&dir).join("greet.json");
    let (text, exported) = (fs::read_to_string(&path).unwrap(), read(&path));
    assert!(
        text.starts_with("{\n  \"slug\": \"greet\",\n  \"name\": \"Greet\",\n") && text.ends_with("}\n"),
        "{text}"
    );
    assert_eq!(exported["implementation"]["headers"]["X-Key"], "***");
    for word in ["\"id\"", "etag", "revision", "_at\"", "\"status\"", "s3cret"] {
        assert!(!text.contains(word), "{word} is in {text}");
    }
    scene.ok(&format!("tools export --out {dir}"));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    assert_eq!(scene.imported(&dir, 0), pairs(&[("greet.json", "unchanged")]));
    let revision = scene.json("tools show greet")["revision"].clone();
    assert_eq!(revision, 1, "nothing was saved");

    let mut changed = exported.clone();
    changed["description"] = json!("Greets somebody warmly.");
    changed["version"] = json!("1.1.0");
    fs::write(&path, changed.to_string()).unwrap();
    assert_eq!(scene.imported(&dir, 0), pairs(&[("greet.json", "changed")]));
    assert_eq!(scene.imported(&dir, 0), pairs(&[("greet.json", "unchanged")]));
    let tool = scene.json("tools show greet");
    assert_eq!(
        (&tool["version"], &tool["has_draft"], &tool["revision"]),
        (&json!("1.1.0"), &json!(true), &json!(2))
    );

    // An older number is no reason to go back.
    fs::write(&path, exported.to_string()).unwrap();
    assert_eq!(scene.imported(&dir, 0), pairs(&[("greet.json", "changed")]));
    assert_eq!(scene.json("tools show greet")["version"], "1.1.0");
}

#[test]
fn failing_file_does_not_stop_the_others() {
    let scene = Scene::new();
    let mut other = greet();
    other["slug"] = json!("other");
    other["implementation"] = json!({});
    scene.file("in/a-wrong.json", &json!({ "slug": "wrong" }));
    fs::write(scene.files.path().join("in/b-twice.json"), r#"{ "slug": "a", "slug": "b" }"#).unwrap();
    scene.file("in/c-code.json", &json!({ "slug": "datetime_utils", "name": "Mine" }));
    scene.file("in/d-good.json", &other);
    scene.file("in/notes.txt", &json!("not looked at"));
    let dir = scene.dir("in");
    let failed = [("a-wrong.json", "failed"), ("b-twice.json", "failed"), ("c-code.json", "failed")];
    let expected = |last: &'static str| pairs(&[&failed[..], &[("d-good.json", last)]].concat());
    assert_eq!(scene.imported(&dir, 1), expected("created"));
    assert_eq!(scene.imported(&dir, 1), expected("unchanged"));

    let output = scene.run(&format!("tools import {dir}"));
    let said = stdout(&output);
    for word in ["failed     a-wrong.json", "missing: name, ", "duplicate key `slug`", "is a built-in tool"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    assert!(stderr(&output).contains("created 0, changed 0, unchanged 1, failed 3"));
    assert!(
        scene
            .refused(&format!("tools import {}", scene.files.path().join("nowhere").display()))
            .contains("nowhere")
    );
}

#[test]
fn manifest_in_camel_case_is_imported_as_it_is() {
    let scene = Scene::new();
    scene.file(
        "in/manifest.json",
        &json!({
            "name": "crm.lookup", "description": "Looks somebody up.", "executionType": "internal", "isAsync": false,
            "inputSchema": { "type": "object", "properties": { "email": { "type": "string" } } }, "timeout": 5000,
        }),
    );
    let dir = scene.dir("in");
    assert_eq!(scene.imported(&dir, 0), pairs(&[("manifest.json", "created")]));
    assert_eq!(scene.imported(&dir, 0), pairs(&[("manifest.json", "unchanged")]));
    let tool = scene.json("tools show crm.lookup");
    assert_eq!(
        (&tool["status"], &tool["timeout_ms"], &tool["category"]),
        (&json!("draft"), &json!(5000), &json!("crm"))
    );
}

#[test]
fn rows_of_an_older_registry_get_its_defaults_and_are_live_where_they_were() {
    let scene = Scene::new();
    let row = |slug: &str, is_active: bool| {
        json!({
            "id": "0b1c", "tenant_id": "t", "slug": slug, "name": slug, "description": "An old tool.", "scope": "tenant",
            "schema": { "input": { "type": "object" } }, "is_active": is_active, "is_system": true,
            "config_schema": { "implementation": {}, "execution": { "is_pure": true } },
        })
    };
    scene.file("in/active.json", &row("old.active", true));
    scene.file("in/inactive.json", &row("old.inactive", false));
    let dir = scene.dir("in");
    let said = scene.ok(&format!("tools import {dir}"));
    assert!(said.contains("created    active.json, published"), "{said}");
    assert!(said.contains("had no implementation_type: `internal`"), "{said}");
    let active = scene.json("tools show old.active");
    assert_eq!(
        (&active["status"], &active["version"], &active["execution"]["is_pure"]),
        (&json!("published"), &json!("1.0.0"), &json!(true))
    );
    assert_eq!(scene.json("tools show old.inactive")["status"], "disabled");
    assert_eq!(
        scene.imported(&dir, 0),
        pairs(&[("active.json", "unchanged"), ("inactive.json", "unchanged")])
    );
}

#[test]
fn explanation_names_every_step_and_the_one_that_failed() {
    let scene = Scene::new();
    let said = scene.ok("tools explain roi-calculator");
    assert!(said.contains("decision  allow") && said.contains("yes  status: it is published"), "{said}");
    assert!(
        said.contains("subject   ") && said.contains(" (admin)") && !said.contains("kind user"),
        "{said}"
    );
    let viewer = scene.world.json("keys create --role viewer --name looker --json");
    let line = format!("tools explain roi-calculator --for-key {}", viewer["id"].as_str().unwrap());
    let explained = scene.json(&line);
    assert_eq!(
        (&explained["visible"], &explained["callable"], &explained["decision"], &explained["rule"]),
        (&json!(true), &json!(false), &json!("deny"), &json!("may_run"))
    );
    let by_prefix = format!("tools explain roi-calculator --for-key {}", viewer["prefix"].as_str().unwrap());
    assert_eq!(scene.json(&by_prefix), explained);
    let by_email = scene.json("tools explain roi-calculator --user admin@demo.localhost");
    assert_eq!(by_email["subject"]["role"], "admin");
    let stranger = scene.refused("tools explain roi-calculator --user nobody@demo.localhost");
    assert!(stranger.contains("no member has the email `nobody@demo.localhost`"), "{stranger}");
    assert!(scene.refused("tools explain nothing-of-ours").contains("TOOL_NOT_FOUND"));
    let nobody = "tools explain roi-calculator --user 01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11";
    assert!(scene.refused(nobody).contains("NOT_FOUND"));
}

#[test]
fn operator_switches_a_tool_off_for_every_tenant_of_a_running_server() {
    let scene = Scene::new();
    scene.world.ok("tenants create acme");
    scene.world.ok("users create ada@acme.example --tenant acme --role admin");
    let acme = scene.world.ok("keys create --tenant acme --role admin");
    let keys = [scene.key.as_str(), acme.trim()];
    let until = |available: bool| {
        for key in keys {
            let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
            loop {
                let shown = stdout(&scene.server.ask("tools show roi-calculator --json", key));
                let tool: Value = serde_json::from_str(&shown).unwrap();
                if tool["available"] == available {
                    break;
                }
                assert!(std::time::Instant::now() < end, "{tool}");
            }
        }
    };
    until(true);
    scene.world.ok("tools switch roi-calculator off");
    until(false);
    for key in keys {
        let refused = stderr(&scene.server.ask("tools run roi-calculator", key));
        assert!(refused.contains("TOOL_NOT_FOUND"), "{refused}");
    }
    // One tenant cannot undo it.
    let change = scene.file("on.json", &json!({ "enabled": true }));
    scene.ok(&format!("tools patch roi-calculator {}", change.display()));
    until(false);
    let explained = scene.json("tools explain roi-calculator");
    assert_eq!(explained["rule"], "switched_on_for_everybody");

    let switched = scene.world.json("tools switch roi-calculator default --json");
    assert_eq!(switched, json!({ "tool": "roi-calculator", "enabled": null }));
    until(true);
    let refused = scene.world.refused("tools switch nothing-of-ours off");
    assert!(refused.contains("nothing-of-ours") && refused.contains("built-in tools"), "{refused}");
}

/// The allocator of the program is not that of the other tests, and what it reserves counts in the worker.
#[test]
fn filter_gets_no_more_memory_than_its_limit() {
    let scene = Scene::new();
    let run = |filter: &str| {
        let input = json!({ "data": null, "expression": filter }).to_string();
        let output = scene.run(&format!("tools run json_transform --input {input}"));
        format!("{}{}", stdout(&output), stderr(&output))
    };
    // The values of the second take a hundred times what those of the first do.
    assert!(run("[range(20000)]|length").contains("20000"));
    let refused = run("[range(2000000)]|length");
    assert!(refused.contains("needs more than 67108864 bytes of memory"), "{refused}");
}
