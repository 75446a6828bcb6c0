//! No way of calling a tool is laxer than calling it directly: an old version, a draft, a test, a chain, a wrapper, a
//! function, an approval that was edited.

use futures::future::join_all;
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use crate::world::{Answer, Client, Server, World, slug};

fn tool(name: &str, rest: &Value) -> Value {
    let mut body = json!({
        "slug": name, "name": name, "description": "Made by a test.", "permission_level": "read",
        "implementation_type": "internal", "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    body
}

async fn make(author: &Client, body: &Value) {
    author.post("/api/tools", body).await.is("201 published");
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

/// How strict an answer is: it ran, somebody is asked, it was refused.
#[track_caller]
fn strictness(answer: &Answer) -> u8 {
    let body = answer.json();
    match (answer.status.as_u16(), body["status"].as_str()) {
        (200, Some("success")) => 0,
        (202, Some("needs_approval")) => 1,
        (200, Some("error" | "cancelled")) | (400..500, _) => 2,
        _ => panic!("{}: {}", answer.status, answer.text),
    }
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
        let server = world.server_with(&[], &[("TOOLWRIGHT_LIMITS__PER_KEY", "4")]);
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let parked = agent.run("test.write", json!({ "file": world.ledger("w"), "line": "one" })).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        agent.run("no.such.tool", json!({})).await.is("404 TOOL_NOT_FOUND");
        agent.run("test.echo", json!({})).await.is("422 MISSING_PARAM");
        agent.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        agent.run("test.echo", json!({ "value": 1 })).await.is("429 RATE_LIMITED");
        // What was asked for before runs: it was counted then.
        approve(&approver, &id, &json!({})).await.is("200 success");
    }
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn one_of(&mut self, values: &[Value]) -> Value {
        values[self.below(values.len())].clone()
    }
}

/// Everybody who could call, from the most to the least powerful.
async fn callers(world: &World, server: &Server) -> Vec<Client> {
    let mut callers = Vec::new();
    for role in [Role::Admin, Role::Builder, Role::Member, Role::Viewer] {
        callers.push(world.client(server, "acme", role).await);
    }
    callers.push(world.agent(server, "acme").await);
    callers.push(Client::new(&server.url, Some(world.key("acme", Role::Builder, ActsAs::Agent).await)));
    callers
}

/// Compares every way with the direct call, for every caller, and says how many were compared.
async fn compare(
    state: &Value,
    callers: &[Client],
    direct: (&str, &Value),
    ways: &[(&str, &str, Value)],
) -> usize {
    for caller in callers {
        let run = caller.post(direct.0, direct.1).await;
        let others = ways.iter().map(|(_, path, body)| caller.post(path, body));
        for ((name, _, _), answer) in ways.iter().zip(join_all(others).await) {
            assert!(
                strictness(&run) <= strictness(&answer),
                "{name} is laxer than the direct call\nstate {state}\ndirect {}\nway {}",
                run.text,
                answer.text
            );
        }
    }
    callers.len() * ways.len()
}

#[tokio::test]
async fn every_way_of_calling_a_tool_of_the_program_is_as_strict_as_the_direct_one() {
    let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let server = world.server();
    let callers = callers(&world, &server).await;
    let admin = &callers[0];
    let wraps = json!({ "implementation": { "builtin_key": "json_transform" } });
    make(admin, &tool("wrapper", &wraps)).await;
    let function =
        json!({ "implementation_type": "function", "implementation": { "function_name": "json_transform" } });
    make(admin, &tool("function", &function)).await;
    let input = json!({ "data": 1, "expression": "." });
    let step = |tool: &str, input: &Value| {
        json!({ "implementation_type": "composition",
            "execution_spec": { "kind": "composition", "steps": [{ "id": "s", "tool": tool, "input": input }] } })
    };
    make(admin, &tool("chain", &step("json_transform", &input))).await;
    make(admin, &tool("chain-of-wrapper", &step("wrapper", &input))).await;
    let called = json!({ "input": { "function_name": "json_transform", "arguments": input } });
    let (plain, none) = (json!({ "input": input }), json!({ "input": {} }));
    let ways = [
        ("a wrapper", "/api/tools/wrapper/run", plain.clone()),
        ("a function tool", "/api/tools/function/run", plain.clone()),
        ("function_call", "/api/tools/function_call/run", called),
        ("a chain", "/api/tools/chain/run", none.clone()),
        ("a chain of a wrapper", "/api/tools/chain-of-wrapper/run", none),
        (
            "its version by number",
            "/api/tools/json_transform/run",
            json!({ "input": input, "version": "1.0.0" }),
        ),
        ("debug mode", "/api/tools/json_transform/run", json!({ "input": input, "mode": "debug" })),
        ("a test of the wrapper", "/api/tools/wrapper/test", plain.clone()),
    ];
    let (mut numbers, mut compared) = (Numbers(7), 0);
    for _ in 0..60 {
        let state = json!({
            "permission_policy": numbers.one_of(&[Value::Null, json!("auto"), json!("always_ask")]),
            "permission_level": numbers.one_of(&[Value::Null, json!("write"), json!("destructive")]),
            "enabled": numbers.one_of(&[Value::Null, json!(true), json!(true), json!(false)]),
            "is_active": numbers.one_of(&[json!(true), json!(true), json!(true), json!(false)]),
            "status": numbers.one_of(&[Value::Null, Value::Null, Value::Null, json!("deprecated"), json!("disabled")]),
        });
        let set = admin.patch("/api/tools/json_transform", &state).await;
        assert_eq!(set.status, 200, "{state}: {}", set.text);
        compared += compare(&state, &callers, ("/api/tools/json_transform/run", &plain), &ways).await;
    }
    assert_eq!(compared, 60 * 6 * 8);
}

#[tokio::test]
async fn every_way_of_calling_a_tool_of_the_tenant_is_as_strict_as_the_direct_one() {
    let world = World::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let server = world.server();
    let callers = callers(&world, &server).await;
    let admin = &callers[0];
    make(admin, &tool("own", &json!({}))).await;
    admin.post("/api/tools/own/version?new_version=2.0.0", &json!({})).await;
    admin.post("/api/tools/own/publish", &json!({})).await;
    let steps = json!([{ "id": "s", "tool": "own" }]);
    let step = json!({
        "implementation_type": "composition",
        "execution_spec": { "kind": "composition", "steps": steps },
    });
    make(admin, &tool("chain", &step)).await;
    let plain = json!({ "input": {} });
    let lax = json!({ "permission_level": "read", "required_permission": null, "is_active": true, "enabled": true });
    let ways = [
        ("an old version", "/api/tools/own/run", json!({ "input": {}, "version": "1.0.0" })),
        ("debug mode", "/api/tools/own/run", json!({ "input": {}, "mode": "debug" })),
        ("a test", "/api/tools/own/test", plain.clone()),
        ("a test of another definition", "/api/tools/own/test", json!({ "input": {}, "definition": lax })),
        ("a chain", "/api/tools/chain/run", plain.clone()),
        ("a test of the chain", "/api/tools/chain/test", plain.clone()),
    ];
    let (mut numbers, mut compared) = (Numbers(11), 0);
    for _ in 0..60 {
        let state = json!({
            "permission_level": numbers.one_of(&[Value::Null, json!("read"), json!("write"), json!("destructive")]),
            "permission_policy": numbers.one_of(&[Value::Null, json!("auto"), json!("always_ask")]),
            "required_permission": numbers.one_of(&[Value::Null, Value::Null, json!("members.tenant.read")]),
            "enabled": numbers.one_of(&[Value::Null, json!(true), json!(true), json!(false)]),
            "is_active": numbers.one_of(&[json!(true), json!(true), json!(false)]),
            "publish": true,
        });
        let set = admin.patch("/api/tools/own", &state).await;
        assert_eq!(set.status, 200, "{state}: {}", set.text);
        // Now and then there is a draft on top that says something else.
        if numbers.below(2) == 0 {
            let draft = json!({ "permission_level": "read", "required_permission": null });
            admin.patch("/api/tools/own", &draft).await;
        }
        compared += compare(&state, &callers, ("/api/tools/own/run", &plain), &ways).await;
    }
    assert_eq!(compared, 60 * 6 * 6);
}
