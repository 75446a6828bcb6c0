//! No way of calling a tool is laxer than calling it directly: an old version, a draft, a test, a chain, a wrapper, a
//! function, an approval that was edited.

mod decisions;
mod program;
mod states;
mod tenant;
mod ways;

use futures::future::join_all;
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use crate::world::{Answer, Client, Server, World, slug};

/// The least number of comparisons with the direct call on SQLite.
const _: () = assert!(20_000 <= tenant::COMPARED + program::COMPARED + decisions::COMPARED);

/// A body with more members, or others.
fn extended(body: &Value, rest: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

fn tool(name: &str, rest: &Value) -> Value {
    let body = json!({
        "slug": name, "name": name, "description": "Made by a test.", "permission_level": "read",
        "implementation_type": "internal", "input_schema": { "type": "object" }, "publish": true,
    });
    extended(&body, rest)
}

/// A script that gives back what some JavaScript comes to.
fn script(name: &str, expression: &str) -> Value {
    let source = format!("export default async (input, ctx) => {{ return await {expression}; }}");
    let implementation = json!({ "language": "javascript", "source": source });
    tool(name, &json!({ "implementation_type": "artifact", "implementation": implementation }))
}

async fn make(author: &Client, body: &Value) {
    author.post("/api/tools", body).await.is("201 published");
}

/// Adds a test case to a tool, which passes if the call does.
async fn add_case(author: &Client, slug: &str, input: &Value) {
    let case = json!({ "name": "It runs", "input": input });
    let added = author.post(&format!("/api/tools/{slug}/tests"), &case).await;
    assert_eq!(added.status, 201, "{}", added.text);
}

/// Sets what a tenant wants of all its tools.
async fn set(admin: &Client, settings: &Value) {
    let set = admin.patch("/api/tenants/current", &json!({ "settings": settings })).await;
    assert_eq!(set.status, 200, "{}", set.text);
}

async fn approve(who: &Client, id: &str, body: &Value) -> Answer {
    who.post(&format!("/api/approvals/{id}/approve"), body).await
}

/// Somebody with a key whose owner is not the person of the role.
async fn another_admin(world: &World, server: &Server) -> Client {
    let email = "second-admin@acme.example";
    world.add_user("acme", email, Role::Admin).await;
    let (name, acts_as) = ("second".to_owned(), ActsAs::User);
    let request = KeyRequest { name, role: Role::Admin, acts_as, agent: None, expires: None };
    let key = world.operator().create_key(&slug("acme"), request, Some(email)).await.unwrap();
    Client::new(&server.url, Some(key.text))
}

on_both! {
    async fn approver_gets_nothing_done_by_editing_that_they_may_not_do(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let (admin, approver) =
            (world.client(&server, "acme", Role::Admin).await, world.client(&server, "acme", Role::Approver).await);
        let agent = world.agent(&server, "acme").await;
        make(&admin, &tool("victim", &json!({}))).await;

        let parked = agent.run("manageTools", json!({ "action": "list" })).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        let create = json!({ "action": "create", "slug": "mine", "name": "Mine", "description": "Mine.",
            "implementation_type": "internal", "input_schema": { "type": "object" } });
        approve(&approver, &id, &json!({ "input": create })).await.is("403 NOT_PERMITTED");
        approve(&approver, &id, &json!({ "input": { "action": "delete", "slug": "victim" } })).await.is("403 NOT_PERMITTED");
        assert_eq!(approver.get(&format!("/api/approvals/{id}")).await.text_at("/status"), "pending");
        admin.get("/api/tools/mine").await.is("404 TOOL_NOT_FOUND");
        admin.get("/api/tools/victim").await.is("200 published");

        // The admin owns the agent: what the edit makes destructive is for somebody else to decide.
        approve(&admin, &id, &json!({ "input": { "action": "delete", "slug": "victim" } })).await.is("403 NOT_PERMITTED");
        let second = another_admin(&world, &server).await;
        approve(&second, &id, &json!({ "input": { "action": "delete", "slug": "victim" } })).await.is("200 success");
        admin.get("/api/tools/victim").await.is("404 TOOL_NOT_FOUND");
        let removed = admin.get("/api/audit?action=tool.removed").await.json();
        let me = second.get("/api/me").await.json();
        assert_eq!(removed["items"][0]["actor"]["id"], me["principal"]["user_id"], "{removed}\n{me}");
    }

    async fn approver_who_lacks_the_right_of_a_tool_cannot_edit_a_call_of_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = Client::new(&server.url, Some(world.key("acme", Role::Builder, ActsAs::Agent).await));
        let asks = json!({ "permission_policy": "always_ask", "required_permission": "entities.team.delete" });
        make(&builder, &tool("teams", &asks)).await;
        let parked = agent.run("teams", json!({ "team": 1 })).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        approver.run("teams", json!({ "team": 2 })).await.is("403 NOT_PERMITTED");

        approve(&approver, &id, &json!({ "input": { "team": 2 } })).await.is("403 NOT_PERMITTED");

        assert_eq!(approver.get(&format!("/api/approvals/{id}")).await.text_at("/status"), "pending");
        assert_eq!(agent.get(&format!("/api/runs/{}", parked.text_at("/run_id"))).await.text_at("/status"), "needs_approval");
        // As the agent asked for it, the approver may let it through.
        let done = approve(&approver, &id, &json!({})).await;
        assert_eq!(done.is("200 success").json()["output"]["args"], json!({ "team": 1 }));
    }

    async fn approver_who_edits_a_chain_gets_nothing_done_by_its_steps_that_they_may_not_do(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = Client::new(&server.url, Some(world.key("acme", Role::Builder, ActsAs::Agent).await));
        make(&builder, &tool("teams", &json!({ "required_permission": "entities.team.delete" }))).await;
        make(&builder, &tool("asks", &json!({ "permission_policy": "always_ask" }))).await;
        let step = |id: &str, tool: &str| json!({ "id": id, "tool": tool, "input": "{{ input }}" });
        for (name, steps) in [
            ("cleanup", json!([step("s", "teams")])),
            ("deep", json!([step("s", "plain")])),
            ("waits", json!([step("a", "asks"), step("s", "plain")])),
        ] {
            if name == "deep" {
                let spec = json!({ "kind": "composition", "steps": [step("s", "teams")] });
                make(&builder, &tool("plain", &json!({ "execution_spec": spec, "implementation_type": "composition" }))).await;
            }
            let spec = json!({ "kind": "composition", "steps": steps });
            let asks = json!({ "execution_spec": spec, "implementation_type": "composition", "permission_policy": "always_ask" });
            make(&builder, &tool(name, &asks)).await;
        }
        let ask = async |agent: &Client, name: &str| {
            agent.run(name, json!({ "team": 1 })).await.is("202 needs_approval").text_at("/approval_id")
        };
        let edit = json!({ "input": { "team": 2 } });
        for name in ["cleanup", "deep"] {
            let own = approver.run(name, json!({ "team": 2 })).await;
            assert_eq!(own.is("200 error").text_at("/error_code"), "NOT_PERMITTED");

            let edited = approve(&approver, &ask(&agent, name).await, &edit).await;

            assert_eq!(edited.is("200 error").text_at("/error_code"), "NOT_PERMITTED", "{name}");
            // As the agent asked for it, the approver may let it through; and who has the right may edit it.
            approve(&approver, &ask(&agent, name).await, &json!({})).await.is("200 success");
            approve(&admin, &ask(&agent, name).await, &edit).await.is("200 success");
        }

        // The same holds after the run has waited, on another server, and by whomever the step was let through.
        let parked = approve(&approver, &ask(&agent, "waits").await, &edit).await;
        let (run, inner) = (parked.is("202 needs_approval").text_at("/run_id"), parked.text_at("/approval_id"));
        server.kill();
        let server = world.server();
        let (admin, agent) = (admin.at(&server), agent.at(&server));
        approve(&admin, &inner, &json!({})).await.is("200 success");
        crate::world::eventually("the chain ends", std::time::Duration::from_secs(30), async || {
            agent.get(&format!("/api/runs/{run}")).await.json()["error_code"] == "NOT_PERMITTED"
        })
        .await;
        let teams = admin.get("/api/runs?tool=teams&limit=50").await.json();
        assert_eq!(teams["items"].as_array().unwrap().len(), 4, "{teams}");
    }

    async fn editor_of_a_chain_has_the_role_of_the_key_they_edit_with(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = Client::new(&server.url, Some(world.key("acme", Role::Builder, ActsAs::Agent).await));
        // The admin, by a key that can decide and not much more.
        let (name, acts_as) = ("decides".to_owned(), ActsAs::User);
        let request = KeyRequest { name, role: Role::Approver, acts_as, agent: None, expires: None };
        let key = world.operator().create_key(&slug("acme"), request, Some("admin@acme.example")).await.unwrap();
        let approver = Client::new(&server.url, Some(key.text));
        make(&builder, &tool("teams", &json!({ "required_permission": "entities.team.delete" }))).await;
        let steps = json!([{ "id": "s", "tool": "teams", "input": "{{ input }}" }]);
        let spec = json!({ "execution_spec": { "kind": "composition", "steps": steps }, "implementation_type": "composition" });
        make(&builder, &extended(&tool("cleanup", &spec), &json!({ "permission_policy": "always_ask" }))).await;
        approver.run("teams", json!({})).await.is("403 NOT_PERMITTED");
        let id = agent.run("cleanup", json!({ "team": 1 })).await.is("202 needs_approval").text_at("/approval_id");

        let edited = approve(&approver, &id, &json!({ "input": { "team": 2 } })).await;

        assert_eq!(edited.is("200 error").text_at("/error_code"), "NOT_PERMITTED");
    }

    async fn what_a_chain_manages_with_edited_words_is_the_editors_doing(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let second = another_admin(&world, &server).await;
        let agent = world.agent(&server, "acme").await;
        let steps = json!([{ "id": "s", "tool": "manageTools", "input": "{{ input }}" }]);
        let spec = json!({ "execution_spec": { "kind": "composition", "steps": steps }, "implementation_type": "composition" });
        make(&admin, &extended(&tool("author", &spec), &json!({ "permission_policy": "always_ask" }))).await;
        let ask = async || {
            let parked = agent.run("author", json!({ "action": "list" })).await;
            parked.is("202 needs_approval").text_at("/approval_id")
        };
        let create = json!({ "input": { "action": "create", "slug": "mine", "name": "Mine", "description": "Mine.",
            "implementation_type": "internal", "input_schema": { "type": "object" } } });

        let refused = approve(&approver, &ask().await, &create).await;

        assert_eq!(refused.is("200 error").text_at("/error_code"), "NOT_PERMITTED");
        admin.get("/api/tools/mine").await.is("404 TOOL_NOT_FOUND");
        // The one who edits may do it; another lets the step through unedited.
        let parked = approve(&second, &ask().await, &create).await;
        let inner = parked.is("202 needs_approval").text_at("/approval_id");
        approve(&approver, &inner, &json!({})).await.is("200 success");
        admin.get("/api/tools/mine").await.is("200 published");
        let created = admin.get("/api/audit?action=tool.created_and_published&limit=10").await.json();
        let me = second.get("/api/me").await.json();
        let mine = created["items"].as_array().unwrap().iter().find(|line| line.to_string().contains("mine")).unwrap();
        assert_eq!(mine["actor"]["id"], me["principal"]["user_id"], "{created}\n{me}");
    }

    async fn edited_input_is_held_against_the_schema_as_the_approvers_own(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let (admin, agent) = (world.client(&server, "acme", Role::Admin).await, world.agent(&server, "acme").await);
        let number = json!({ "type": "object", "required": ["n"],
            "properties": { "n": { "type": "integer" }, "m": { "type": "integer", "default": 3 } } });
        let asks = json!({ "permission_policy": "always_ask", "input_schema": number });
        make(&admin, &tool("counts", &asks)).await;
        make(&admin, &tool("inner", &json!({ "input_schema": number }))).await;
        let steps = json!([{ "id": "s", "tool": "inner", "input": { "n": "{{ input.n }}" } }]);
        let spec = json!({ "execution_spec": { "kind": "composition", "steps": steps },
            "implementation_type": "composition", "permission_policy": "always_ask" });
        make(&admin, &tool("chain", &spec)).await;
        let ask = async |name: &str| agent.run(name, json!({ "n": "4" })).await.is("202 needs_approval").text_at("/approval_id");

        let id = ask("counts").await;
        // Also where an agent would be understood, and where nothing else is changed.
        for wrong in [json!({ "n": "5", "m": 7 }), json!({ "n": "4" }), json!({ "n": 5, "m": "7" })] {
            admin.run("counts", wrong.clone()).await.is("422 INVALID_PARAMS");
            approve(&admin, &id, &json!({ "input": wrong })).await.is("422 INVALID_PARAMS");
        }
        assert_eq!(admin.get(&format!("/api/approvals/{id}")).await.text_at("/status"), "pending");
        let done = approve(&admin, &id, &json!({ "input": { "n": 5 } })).await;
        assert_eq!(done.is("200 success").json()["output"]["args"], json!({ "n": 5, "m": 3 }));

        // What the words lead to is held the same way.
        let own = admin.run("chain", json!({ "n": "5" })).await;
        assert_eq!(own.is("200 error").text_at("/error_code"), "INVALID_PARAMS");
        let edited = approve(&admin, &ask("chain").await, &json!({ "input": { "n": "5" } })).await;
        assert_eq!(edited.is("200 error").text_at("/error_code"), "INVALID_PARAMS");
        approve(&admin, &ask("chain").await, &json!({})).await.is("200 success");
    }

    async fn old_version_is_held_to_what_is_said_about_the_tool_now(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        make(&builder, &tool("grown", &json!({}))).await;
        let pinned = json!({ "input": {}, "version": "1.0.0" });
        let run = async |body: &Value| agent.post("/api/tools/grown/run", body).await;
        run(&pinned).await.is("200 success");
        let grown = json!({ "permission_level": "destructive" });
        builder.patch("/api/tools/grown", &grown).await.is("200 published");
        builder.post("/api/tools/grown/version?new_version=2.0.0", &json!({})).await;
        builder.post("/api/tools/grown/publish", &json!({})).await;
        run(&json!({ "input": {} })).await.is("202 needs_approval");
        run(&pinned).await.is("202 needs_approval");
        let harder = json!({ "required_permission": "members.tenant.read", "publish": true });
        builder.patch("/api/tools/grown", &harder).await.is("200 published");
        run(&pinned).await.is("403 NOT_PERMITTED");
    }

    async fn owner_of_an_agent_cannot_let_through_what_became_destructive_meanwhile(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let owner = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        make(&owner, &tool("grown", &json!({ "permission_policy": "always_ask" }))).await;
        owner.post("/api/tools/grown/version?new_version=2.0.0", &json!({})).await;
        owner.post("/api/tools/grown/publish", &json!({})).await.is("200 published");
        let pinned = json!({ "input": {}, "version": "1.0.0" });
        let ask = async || agent.post("/api/tools/grown/run", &pinned).await.is("202 needs_approval").text_at("/approval_id");
        let before = ask().await;
        let destructive = json!({ "permission_level": "destructive", "publish": true });
        owner.patch("/api/tools/grown", &destructive).await.is("200 published");
        approve(&owner, &ask().await, &json!({})).await.is("403 NOT_PERMITTED");

        let decided = approve(&owner, &before, &json!({})).await;

        assert_ne!(decided.status, 200, "{}", decided.text);
    }

    async fn wrapper_is_as_strict_as_what_it_wraps_and_stops_when_that_stops(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let wraps = json!({ "implementation": { "builtin_key": "json_transform" } });
        make(&admin, &tool("wrapper", &wraps)).await;
        let function = json!({ "implementation_type": "function", "implementation": { "function_name": "json_transform" } });
        make(&admin, &tool("function", &function)).await;
        let input = json!({ "data": { "a": 1 }, "expression": ".a" });
        let called = json!({ "function_name": "json_transform", "arguments": input });
        let ways = [("wrapper", &input), ("function", &input), ("function_call", &called)];
        for (way, input) in ways {
            agent.run(way, input.clone()).await.is("200 success");
        }
        let wrong = agent.run("function_call", json!({ "function_name": "json_transform", "arguments": { "data": 1 } })).await;
        assert_eq!(wrong.is("200 error").text_at("/error_code"), "MISSING_PARAM");

        admin.patch("/api/tools/json_transform", &json!({ "permission_policy": "always_ask" })).await;
        for (way, input) in ways {
            let parked = agent.run(way, input.clone()).await;
            let (run, id) = (parked.is("202 needs_approval").text_at("/run_id"), parked.text_at("/approval_id"));
            approve(&approver, &id, &json!({})).await.is("200 success");
            crate::world::eventually("the outer run ends", std::time::Duration::from_secs(30), async || {
                agent.get(&format!("/api/runs/{run}")).await.json()["status"] == "success"
            })
            .await;
            let inner = admin.get(&format!("/api/runs?parent_run_id={run}")).await.json();
            assert_eq!(inner["items"][0]["tool"], "json_transform", "{way}: {inner}");
        }
        for (switch, code) in [(json!({ "is_active": false }), "TOOL_DISABLED"), (json!({ "enabled": false }), "TOOL_NOT_FOUND")] {
            admin.patch("/api/tools/json_transform", &switch).await;
            for (way, input) in ways {
                let stopped = admin.run(way, input.clone()).await;
                assert_eq!(stopped.is("200 error").text_at("/error_code"), code, "{way}");
            }
        }
    }

    async fn decision_is_audited_with_the_decision(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let mut ids = Vec::new();
        for line in 0..20 {
            let input = json!({ "file": world.ledger("w"), "line": format!("{line}"), "before_ms": 200 });
            ids.push(agent.run("test.write", input).await.is("202 needs_approval").text_at("/approval_id"));
        }
        let heard = ids.pop().unwrap();
        approve(&approver, &heard, &json!({})).await.is("200 success");
        // Whoever decides and hangs up has decided, or has not: the audit says the same.
        let hang_up = ids.iter().map(|id| {
            let request = approver.request(reqwest::Method::POST, &format!("/api/approvals/{id}/approve"));
            let request = request.json(&json!({})).timeout(std::time::Duration::from_millis(40));
            async move { request.send().await.is_ok() }
        });
        join_all(hang_up).await;
        crate::world::eventually("every decision is audited", std::time::Duration::from_secs(30), async || {
            let audited = admin.get("/api/audit?action=approval.approved&limit=200").await.json()["total"].clone();
            let decided = approver.get("/api/approvals?status=approved&limit=200").await.json()["total"].clone();
            audited == decided && audited != 0
        })
        .await;
    }

    async fn call_counts_once_at_the_door_whatever_becomes_of_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server_with(&[], &[("TOOLWRIGHT_LIMITS__PER_KEY", "5")]);
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let parked = agent.run("test.write", json!({ "file": world.ledger("w"), "line": "one" })).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        agent.run("no.such.tool", json!({})).await.is("404 TOOL_NOT_FOUND");
        agent.run("test.echo", json!({})).await.is("422 MISSING_PARAM");
        agent.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        // What a call leads to comes in by no door.
        let echo = |step: usize| json!({ "id": format!("s{step}"), "tool": "test.echo", "input": { "value": step } });
        let steps: Vec<Value> = (0..6).map(echo).collect();
        let spec = json!({ "execution_spec": { "kind": "composition", "steps": steps }, "implementation_type": "composition" });
        make(&world.client(&server, "acme", Role::Builder).await, &tool("steps", &spec)).await;
        agent.run("steps", json!({})).await.is("200 success");
        agent.run("test.echo", json!({ "value": 1 })).await.is("429 RATE_LIMITED");
        // What was asked for before runs: it was counted then.
        approve(&approver, &id, &json!({})).await.is("200 success");
    }
}
