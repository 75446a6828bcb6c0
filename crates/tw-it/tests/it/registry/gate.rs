//! What has to hold before a draft goes live, whichever way it is published.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{Kind, TestDb, on_both, trials};

use super::{at, call, echo, faults, history, kinds, live, make, needing, number, put, read, with};
use crate::world::{Answer, Client, World, eventually, together};

const PATIENCE: Duration = Duration::from_secs(30);

async fn publish(who: &Client, slug: &str, body: &Value) -> Answer {
    who.post(&format!("{}/publish", at(slug)), body).await
}

async fn add(who: &Client, slug: &str, name: &str, input: Value, expect: Value) -> String {
    let body = json!({ "name": name, "input": input, "expect": expect });
    who.post(&format!("{}/tests", at(slug)), &body).await.is("201").text_at("/id")
}

async fn run_cases(who: &Client, slug: &str) -> Value {
    who.post(&format!("{}/tests/run", at(slug)), &json!({})).await.is("200").json()
}

/// Everything that a publication could have changed.
async fn state(who: &Client, slug: &str) -> (Value, usize) {
    (read(who, slug).await, history(who, slug).await.len())
}

/// The newest line of the audit log about a tool: what was done, and what is noted.
async fn last_audit(admin: &Client, slug: &str) -> (String, String) {
    let found = admin.get(&format!("/api/audit?limit=1&object=tool:{slug}")).await.json();
    let text = |name: &str| found["items"][0][name].as_str().unwrap_or_default().to_owned();
    (text("action"), text("note"))
}

/// A chain of one step.
fn chain(slug: &str, tool: &str, input: &Value) -> Value {
    json!({
        "slug": slug, "name": "Chain", "description": "Calls one tool.", "permission_level": "read",
        "input_schema": { "type": "object", "properties": { "n": {} } },
        "execution_spec": { "kind": "composition", "steps": [{ "id": "one", "tool": tool, "input": input }] },
    })
}

on_both! {
    async fn change_that_breaks_callers_is_published_only_by_number_or_by_word(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        make(&author, &echo("broken")).await;
        publish(&author, "broken", &json!({})).await.is("200 published");
        let breaking = json!({ "input_schema": needing("b") });

        // The change and the publication at once: nothing is saved.
        let before = state(&author, "broken").await;
        let at_once = with(&breaking, &json!({ "publish": true }));
        author.patch(&at("broken"), &at_once).await.is("409 BREAKING_CHANGE");
        put(&author, "broken", &with(&at_once, &json!({ "ignore_tests": true }))).await.is("409 BREAKING_CHANGE");
        assert_eq!(state(&author, "broken").await, before);

        // As a draft: nothing goes live, and no number is given.
        author.patch(&at("broken"), &breaking).await.is("200 published");
        let before = state(&author, "broken").await;
        for body in [
            json!({}), json!({ "accept_breaking": false }), json!({ "accept_breaking": null }),
            json!({ "ignore_tests": true }), json!({ "version": "1.9.0" }),
        ] {
            let refused = publish(&author, "broken", &body).await;
            let problem = refused.is("409 BREAKING_CHANGE").json();
            let compared = author.get("/api/tools/broken/versions/compare").await.json();
            for member in ["breaking", "required_bump", "changes"] {
                assert_eq!(problem[member], compared[member], "{problem}");
            }
            assert_eq!((&problem["breaking"], &problem["required_bump"]), (&json!(true), &json!("major")));
            assert!(refused.text_at("/detail").contains("/b"), "{problem}");
        }
        let without_body = author.send(author.request(Method::POST, "/api/tools/broken/publish")).await;
        without_body.is("409 BREAKING_CHANGE");
        assert_eq!(state(&author, "broken").await, before);
        author.run("broken", json!({ "a": 1 })).await.is("200 success");

        let done = publish(&author, "broken", &json!({ "accept_breaking": true })).await;
        assert_eq!(done.is("200 published").text_at("/version"), "1.0.0");
        let (action, note) = last_audit(&author, "broken").await;
        assert_eq!(action, "tool.published");
        assert!(note.contains("accept_breaking"), "{note}");
        author.run("broken", json!({ "b": 1 })).await.is("200 success");

        // A greater major number says it, and nothing was waived then.
        author.patch(&at("broken"), &json!({ "input_schema": needing("c") })).await.is("200 published");
        let done = publish(&author, "broken", &json!({ "version": "2.0.0", "accept_breaking": true })).await;
        assert_eq!(done.is("200 published").text_at("/version"), "2.0.0");
        assert_eq!(last_audit(&author, "broken").await, ("tool.published".to_owned(), String::new()));
        assert_eq!(kinds(&author, "broken").await[..2], ["publish", "version"]);
        let accepted = json!({ "input_schema": needing("d"), "publish": true, "accept_breaking": true });
        author.patch(&at("broken"), &accepted).await.is("200 published");
        assert!(last_audit(&author, "broken").await.1.contains("accept_breaking"));
        number(&author, "broken", "3.0.0").await.is("200 published");
        let by_number = json!({ "input_schema": needing("e"), "publish": true });
        put(&author, "broken", &by_number).await.is("200 published");

        // An old revision comes back as a draft, which nobody asks about before it is published.
        let old = author.post("/api/tools/broken/versions/1/restore", &json!({})).await;
        assert_eq!(old.is("200 published").json()["has_draft"], true);
        publish(&author, "broken", &json!({})).await.is("409 BREAKING_CHANGE");
        author.run("broken", json!({ "e": 1 })).await.is("200 success");
    }

    async fn number_of_a_publication_is_held_against_the_rules_for_numbers(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "numbered").await;
        let before = state(&author, "numbered").await;
        for version in ["1.0.0", "0.9.0", "1.0.0+build"] {
            publish(&author, "numbered", &json!({ "version": version })).await.is("409 CONFLICT");
        }
        let odd = json!({ "version": "two", "accept_breaking": "yes", "ignore_tests": 1, "force": true });
        let refused = publish(&author, "numbered", &odd).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/accept_breaking", "/force", "/ignore_tests"]);
        let refused = publish(&author, "numbered", &json!({ "version": "two" })).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/version"]);
        publish(&member, "numbered", &odd).await.is("403 NOT_PERMITTED");
        let odd = json!({ "publish": true, "accept_breaking": "yes", "ignore_tests": 1 });
        let refused = author.patch(&at("numbered"), &odd).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/accept_breaking", "/ignore_tests"]);
        let refused = author.post("/api/tools", &with(&echo("other"), &odd)).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/accept_breaking", "/ignore_tests"]);
        assert_eq!(state(&author, "numbered").await, before);

        let new = with(&echo("other"), &json!({ "publish": true, "accept_breaking": true, "ignore_tests": true }));
        author.post("/api/tools", &new).await.is("201 published");
        publish(&author, "numbered", &json!({ "version": null, "x_mine": 1 })).await.is("200 published");
        publish(&author, "numbered", &json!({ "version": "1.1.0" })).await.is("200 published");
        let pinned = json!({ "input": { "a": 1 }, "version": "1.1.0" });
        call(&member, "numbered", &pinned).await.is("200 success");
        publish(&author, "numbered", &json!({ "version": "1.2.0" })).await.is("200 published");
        author.post("/api/tools/numbered/versions/1.1.0/withdraw", &json!({})).await.is("200");
        publish(&author, "numbered", &json!({ "version": "1.1.0" })).await.is("409 CONFLICT");
        let stale = author.request(Method::POST, "/api/tools/numbered/publish").header("if-match", "\"1-1\"");
        author.send(stale.json(&json!({ "version": "1.3.0" }))).await.is("412 PRECONDITION_FAILED");
        publish(&author, "test.echo", &json!({ "accept_breaking": true })).await.is("409 CONFLICT");
    }

    async fn draft_that_fails_a_test_case_is_not_published(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        live(&author, "tested").await;
        let good = add(&author, "tested", "Good", json!({ "a": 1 }), json!({ "contains": { "success": true } })).await;
        let bad = add(&author, "tested", "Bad", json!({ "a": 1 }), json!({ "jq": ".args.a == 2" })).await;
        author.patch(&at("tested"), &json!({ "name": "Draft" })).await.is("200 published");
        let before = state(&author, "tested").await;
        let refused = publish(&author, "tested", &json!({ "version": "1.1.0", "accept_breaking": true })).await;
        let report = refused.is("409 TESTS_FAILED").json();
        assert_eq!((&report["passed"], &report["failed"]), (&json!(1), &json!(1)), "{report}");
        let items = report["items"].as_array().unwrap();
        let told: Vec<_> = items.iter().map(|item| (&item["id"], &item["name"], &item["passed"])).collect();
        let (good, bad_id) = (json!(good), json!(bad));
        assert_eq!(told, [(&good, &json!("Good"), &json!(true)), (&bad_id, &json!("Bad"), &json!(false))]);
        assert_eq!(items[1]["diff"], json!([{ "path": "/jq", "expected": true, "actual": false }]));
        let run = author.get(&format!("/api/runs/{}", items[1]["run_id"].as_str().unwrap())).await.json();
        assert_eq!((&run["mode"], &run["tool"]), (&json!("debug"), &json!("tested")));
        assert!(refused.text_at("/detail").contains("Bad"));
        assert_eq!(state(&author, "tested").await, before);

        // A change is tested as it would be saved, whatever the draft is like.
        let no_more = json!({ "input_schema": { "type": "object", "properties": { "a": { "const": 3 } } } });
        let accepted = json!({ "publish": true, "accept_breaking": true });
        put(&author, "tested", &with(&json!({ "name": "Put" }), &accepted)).await.is("409 TESTS_FAILED");
        author.patch(&at("tested"), &with(&no_more, &accepted)).await.is("409 TESTS_FAILED");
        assert_eq!(state(&author, "tested").await, before);
        let of_bad = format!("{}/tests/{bad}", at("tested"));
        author.patch(&of_bad, &json!({ "expect": { "status": "error" } })).await.is("200");
        let report = author.patch(&at("tested"), &with(&no_more, &accepted)).await;
        assert_eq!(report.is("409 TESTS_FAILED").json()["items"][0]["name"], "Good", "the other one fails now");
        author.patch(&of_bad, &json!({ "expect": { "jq": ".args.a == 1" } })).await.is("200");
        author.patch(&at("tested"), &with(&json!({ "name": "Passes" }), &json!({ "publish": true }))).await.is("200 published");
        assert_eq!(read(&author, "tested").await["has_draft"], false);

        author.patch(&of_bad, &json!({ "expect": { "status": "error" } })).await.is("200");
        publish(&author, "tested", &json!({})).await.is("409 TESTS_FAILED");
        publish(&author, "tested", &json!({ "ignore_tests": true })).await.is("200 published");
        let (action, note) = last_audit(&author, "tested").await;
        assert_eq!(action, "tool.published");
        assert!(note.contains("ignore_tests") && !note.contains("accept_breaking"), "{note}");
        let both = json!({ "input_schema": needing("b"), "publish": true, "ignore_tests": true, "accept_breaking": true });
        author.patch(&at("tested"), &both).await.is("200 published");
        let (_, note) = last_audit(&author, "tested").await;
        assert!(note.contains("ignore_tests") && note.contains("accept_breaking"), "{note}");

        // Switched off, its cases cannot run, so nothing is known about it.
        author.patch(&at("tested"), &json!({ "is_active": false, "name": "Off" })).await.is("200 published");
        let refused = publish(&author, "tested", &json!({})).await.is("409 TESTS_FAILED").json();
        assert_eq!((&refused["failed"], &refused["items"][0]["diff"][0]["path"]), (&json!(2), &json!("/error")));
    }

    async fn checks_are_made_in_order_and_a_first_publication_breaks_nothing(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "inner").await;
        make(&author, &chain("ordered", "inner", &json!({ "a": "{{ input.n }}" }))).await;
        let case = add(&author, "ordered", "Fails", json!({ "n": 1 }), json!({ "status": "error" })).await;
        publish(&author, "ordered", &json!({})).await.is("409 TESTS_FAILED");
        publish(&author, "ordered", &json!({ "ignore_tests": true })).await.is("200 published");

        let spec = json!({ "kind": "composition", "steps": [{ "id": "one", "tool": "inner", "input": {} }] });
        let all_wrong = json!({ "input_schema": needing("m"), "execution_spec": spec });
        author.patch(&at("ordered"), &all_wrong).await.is("200 published");
        let waived = json!({ "accept_breaking": true, "ignore_tests": true });
        let refused = publish(&author, "ordered", &waived).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/execution_spec/steps/0/input/a"]);
        let spec = json!({ "kind": "composition", "steps": [{ "id": "one", "tool": "inner", "input": { "a": 1 } }] });
        author.patch(&at("ordered"), &json!({ "execution_spec": spec })).await.is("200 published");
        publish(&author, "ordered", &json!({})).await.is("409 BREAKING_CHANGE");
        author.patch(&format!("{}/tests/{case}", at("ordered")), &json!({ "input": { "m": 1 } })).await.is("200");
        publish(&author, "ordered", &json!({ "accept_breaking": true })).await.is("409 TESTS_FAILED");
        author.delete(&format!("{}/tests/{case}", at("ordered"))).await.is("204");
        publish(&author, "ordered", &json!({ "accept_breaking": true })).await.is("200 published");
    }

    async fn output_that_cannot_fit_its_schema_is_told_and_not_published(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let mut tool = chain("shaped", "test.echo", &json!({ "value": "x" }));
        tool["output_schema"] = json!({
            "type": "object", "required": ["text", "count"],
            "properties": { "text": { "type": "string" }, "count": { "type": "integer" } },
        });
        tool["execution_spec"]["output"] = json!({ "count": "one" });
        let made = author.post("/api/tools", &tool).await;
        let codes = |answer: &Answer, member: &str| {
            let faults = answer.json()[member].as_array().unwrap().clone();
            let pair = |fault: &Value| format!("{} {}", fault["path"].as_str().unwrap(), fault["code"].as_str().unwrap());
            faults.iter().map(pair).collect::<Vec<_>>()
        };
        let expected = ["/execution_spec/output/text output_missing", "/execution_spec/output/count output_type"];
        assert_eq!(codes(made.is("201 draft"), "warnings"), expected);
        assert_eq!(codes(publish(&author, "shaped", &json!({})).await.is("422 INVALID_PARAMS"), "errors"), expected);
        tool["execution_spec"]["output"] = json!({ "count": 1, "text": "{{ steps.one.output }}" });
        let spec = json!({ "execution_spec": tool["execution_spec"], "publish": true });
        author.patch(&at("shaped"), &spec).await.is("200 published");

        // What is a chain by its spec alone is one too.
        let custom = json!({ "slug": "custom", "implementation_type": "custom" });
        let mut custom = with(&tool, &custom);
        custom["execution_spec"]["output"] = json!({ "count": "one" });
        let made = author.post("/api/tools", &custom).await;
        assert_eq!(codes(made.is("201 draft"), "warnings"), expected);
        publish(&author, "custom", &json!({})).await.is("422 INVALID_PARAMS");
    }

    async fn cases_of_tools_with_effects_count_by_their_last_result(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        for (slug, level) in [("writes", json!("write")), ("destroys", json!("destructive")), ("unsaid", json!(null))] {
            make(&author, &with(&echo(slug), &json!({ "permission_level": level }))).await;
            let case = add(&author, slug, "Fails", json!({ "a": 1 }), json!({ "status": "error" })).await;
            publish(&author, slug, &json!({})).await.is("200 published");
            let runs = author.get(&format!("/api/runs?tool={slug}&mode=debug")).await.json();
            assert_eq!(runs["items"], json!([]), "the publication ran nothing");

            assert_eq!(run_cases(&author, slug).await["failed"], 1);
            let refused = publish(&author, slug, &json!({})).await.is("409 TESTS_FAILED").json();
            assert_eq!((&refused["passed"], &refused["failed"]), (&json!(0), &json!(1)));
            assert!(refused["items"][0]["run_id"].is_string());
            // Of another content nothing is known.
            author.patch(&at(slug), &json!({ "name": "Other", "publish": true })).await.is("200 published");
            run_cases(&author, slug).await;
            publish(&author, slug, &json!({})).await.is("409 TESTS_FAILED");
            // Said to be harmless, it is still what it is until it is live.
            author.patch(&at(slug), &json!({ "permission_level": "read", "publish": true })).await.is("200 published");
            publish(&author, slug, &json!({})).await.is("409 TESTS_FAILED");
            let mended = json!({ "expect": { "status": "success" } });
            author.patch(&format!("{}/tests/{case}", at(slug)), &mended).await.is("200");
            publish(&author, slug, &json!({})).await.is("200 published");
        }
    }

    async fn cases_of_a_chain_are_run_only_if_all_that_it_calls_is_harmless(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("gate");
        let line = json!({ "file": ledger, "line": "x" });
        make(&author, &chain("deep", "test.write", &line)).await;
        publish(&author, "deep", &json!({})).await.is("200 published");
        make(&author, &chain("outer", "deep", &json!({}))).await;
        add(&author, "outer", "Writes", json!({}), json!({ "status": "cancelled" })).await;
        publish(&author, "outer", &json!({})).await.is("200 published");
        assert!(!ledger.exists(), "nothing was written");
    }

    async fn managed_publication_passes_the_same_checks(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        live(&admin, "managed").await;
        let update = |rest: Value| with(&json!({ "action": "update", "slug": "managed", "publish": true }), &rest);
        let breaking = json!({ "input_schema": needing("b") });
        let before = state(&admin, "managed").await;
        admin.run("manageTools", update(breaking.clone())).await.is("409 BREAKING_CHANGE");
        agent.run("manageTools", update(breaking.clone())).await.is("409 BREAKING_CHANGE");
        add(&admin, "managed", "Fails", json!({ "a": 1 }), json!({ "status": "error" })).await;
        let run = admin.run("manageTools", update(json!({ "name": "New" }))).await;
        assert_eq!(run.is("200 error").json()["error_code"], "TESTS_FAILED");
        assert!(run.text_at("/error").contains("Fails"), "{}", run.text);
        let asked = agent.run("manageTools", update(json!({ "name": "New" }))).await;
        let approval = asked.is("202 needs_approval").text_at("/approval_id");
        admin.post(&format!("/api/approvals/{approval}/approve"), &json!({})).await.is("200 error");
        assert_eq!(state(&admin, "managed").await, before);

        let waived = json!({ "accept_breaking": true, "ignore_tests": true });
        let asked = agent.run("manageTools", update(with(&breaking, &waived))).await;
        let approval = asked.is("202 needs_approval").text_at("/approval_id");
        admin.post(&format!("/api/approvals/{approval}/approve"), &json!({})).await.is("200 success");
        admin.run("managed", json!({ "b": 1 })).await.is("200 success");
        let (action, note) = last_audit(&admin, "managed").await;
        assert_eq!(action, "tool.changed_and_published");
        assert!(note.contains("accept_breaking") && note.contains("ignore_tests"), "{note}");
    }

    async fn draft_that_changes_while_its_cases_run_is_checked_again(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "neighbour").await;
        make(&author, &chain("slow", "test.slow", &json!({ "ms": 120_000 }))).await;
        add(&author, "slow", "Is cancelled", json!({}), json!({ "status": "cancelled" })).await;
        let publisher = author.clone();
        let publishing = tokio::spawn(async move { publish(&publisher, "slow", &json!({})).await });
        let running = || async {
            let runs = author.get("/api/runs?tool=slow&status=running").await.json();
            runs["items"][0]["run_id"].as_str().map(str::to_owned)
        };
        eventually("the case runs", PATIENCE, async || running().await.is_some()).await;
        let run = running().await.unwrap();

        // Nobody waits for the cases of others.
        author.patch(&at("neighbour"), &json!({ "name": "Changed", "publish": true })).await.is("200 published");
        let fast = chain("slow", "neighbour", &json!({ "a": 1 }))["execution_spec"].clone();
        author.patch(&at("slow"), &json!({ "execution_spec": fast })).await.is("200 draft");
        author.post(&format!("/api/runs/{run}/cancel"), &json!({})).await;
        publishing.await.unwrap().is("409 TESTS_FAILED");
        assert_eq!(read(&author, "slow").await["status"], "draft");
    }

    async fn nothing_goes_live_that_was_not_checked(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&author, &chain("raced", "test.echo", &json!({ "value": "good" }))).await;
        add(&author, "raced", "Is good", json!({}), json!({ "jq": "tostring | contains(\"good\")" })).await;
        publish(&author, "raced", &json!({})).await.is("200 published");
        let said = |text: &str| {
            let chain = chain("raced", "test.echo", &json!({ "value": text }));
            json!({ "execution_spec": chain["execution_spec"] })
        };
        for trial in 0..trials() / 4 {
            author.patch(&at("raced"), &said(&format!("good {trial}"))).await.is("200 published");
            let (one, two, bad) = (author.clone(), author.clone(), said("bad"));
            let (published, saved) = together(
                async move { publish(&one, "raced", &json!({})).await },
                async move { two.patch("/api/tools/raced", &bad).await },
            )
            .await;
            saved.is("200 published");
            assert!(["200 published", "409 TESTS_FAILED"].contains(&published.verdict().as_str()), "{}", published.text);
            let run = member.run("raced", json!({})).await;
            assert!(run.is("200 success").text.contains("good"), "{}", run.text);
        }
        // Two at once: one of them raises the number, and both make the same content live.
        author.patch(&at("raced"), &said("good at last")).await.is("200 published");
        let (one, two) = (author.clone(), author.clone());
        let raise = |who: Client| async move { publish(&who, "raced", &json!({ "version": "1.1.0" })).await };
        let (one, two) = together(raise(one), raise(two)).await;
        let mut verdicts = [one.verdict(), two.verdict()];
        verdicts.sort();
        assert_eq!(verdicts, ["200 published", "409 CONFLICT"]);
        let numbers = history(&author, "raced").await.into_iter().filter(|entry| entry["version"] == "1.1.0").count();
        assert_eq!(numbers, 2, "a number and a publication");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn publication_on_one_server_checks_what_was_saved_on_another() {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let (a, b) = (world.server(), world.server());
    let here = world.client(&a, "acme", Role::Builder).await;
    let there = here.at(&b);
    live(&here, "shared").await;
    let jq = json!({ "jq": ".args.a == 1" });
    add(&here, "shared", "Gives it back", json!({ "a": 1 }), jq).await;
    publish(&there, "shared", &json!({})).await.is("200 published");
    for turn in 0..10 {
        let text =
            json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        here.patch(&at("shared"), &json!({ "input_schema": text })).await.is("200 published");
        publish(&there, "shared", &json!({ "accept_breaking": true })).await.is("409 TESTS_FAILED");
        let right = json!({ "input_schema": needing("a"), "name": format!("Turn {turn}") });
        there.patch(&at("shared"), &right).await.is("200 published");
        publish(&here, "shared", &json!({})).await.is("200 published");
    }
}
