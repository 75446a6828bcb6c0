//! What one tenant, one person or one agent must never learn of another, and what a tenant hides from
//! its own.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};
use uuid::Uuid;

use crate::{
    mcp_servers::plant as plant_server,
    rights::{Scene, operations, send},
    world::{Answer, Client, Server, World, slug},
};

on_both! {
    async fn thing_of_another_tenant_answers_like_one_that_never_was(db: TestDb) {
        let scene = Scene::on(db).await;
        let strangers = everybody(&scene.world, &scene.server, "globex").await;
        for operation in operations().into_iter().filter(|operation| operation.path.contains('{')) {
            let owned = scene.ask(&operation, &scene.neighbour).await.unwrap();
            let name = operation.name();
            let mut things = vec![owned.object.clone().unwrap()];
            if operation.tag == "tools" {
                let admin = scene.world.client(&scene.server, "acme", Role::Admin).await;
                things.push(admin.get(&format!("/api/tools/{}", things[0])).await.text_at("/id"));
            }
            for thing in things {
                let nothing = like(&thing);
                for (who, stranger) in &strangers {
                    let ask = async |object: &str| {
                        let request = stranger.request(owned.method.clone(), &owned.path_to(object));
                        comparable(&send(request, owned.body.as_ref()).await, object)
                    };
                    let (theirs, missing) = (ask(&thing).await, ask(&nothing).await);
                    assert_eq!(theirs, missing, "{name} as {who}");
                    assert!(matches!(theirs.status.as_u16(), 403 | 404), "{name} as {who}: {theirs:?}");
                    if *who == "admin" {
                        assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{name}");
                    }
                }
            }
            // Nothing happened to the thing meanwhile: its owner can still do what the strangers tried.
            let owner = match operation.tag.as_str() {
                "runs" | "sessions" => scene.neighbour.clone(),
                _ => scene.world.client(&scene.server, "acme", Role::Admin).await,
            };
            let answer = send(owner.request(owned.method.clone(), &owned.path()), owned.body.as_ref()).await;
            assert!(answer.status.is_success(), "{name}: {} {}", answer.status, answer.text);
        }
    }

    async fn run_and_session_of_a_colleague_answer_like_ones_that_never_were(db: TestDb) {
        let scene = Scene::on(db).await;
        let member = scene.world.client(&scene.server, "acme", Role::Member).await;
        let agent = scene.world.agent(&scene.server, "acme").await;
        for operation in operations() {
            if !matches!(operation.tag.as_str(), "runs" | "sessions") || !operation.path.contains('{') {
                continue;
            }
            let owned = scene.ask(&operation, &scene.neighbour).await.unwrap();
            let (thing, nothing) = (owned.object.clone().unwrap(), Uuid::now_v7().to_string());
            for caller in [&member, &agent] {
                let ask = async |object: &str| {
                    let request = caller.request(owned.method.clone(), &owned.path_to(object));
                    comparable(&send(request, owned.body.as_ref()).await, object)
                };
                let theirs = ask(&thing).await;
                assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{}", operation.name());
                assert_eq!(theirs, ask(&nothing).await, "{}", operation.name());
            }
        }
    }

    async fn no_answer_to_another_tenant_holds_a_word_of_ours(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let planted = plant(&world, &server).await;
        let admin = world.client(&server, "acme", Role::Admin).await;

        // First that the search finds what is there.
        let mut ours = String::new();
        for path in reads(&planted) {
            ours.push_str(&whole(&send(admin.request(Method::GET, &path), None).await));
        }
        for canary in &planted.canaries {
            assert!(ours.contains(canary), "the admin's own reads do not show `{canary}`");
        }

        for (who, stranger) in everybody(&world, &server, "globex").await {
            // Something of their own, so that lists are not simply empty.
            stranger.run("test.echo", json!({ "value": "ours" })).await;
            for path in reads(&planted) {
                let answer = send(stranger.request(Method::GET, &path), None).await;
                let text = whole(&answer).to_lowercase();
                assert!(!text.contains("canary"), "{who} of globex: GET {path}: {text}");
                for id in &planted.ids {
                    assert!(!text.contains(id.as_str()), "{who} of globex: GET {path} names {id}: {text}");
                }
                assert!(!answer.status.is_server_error(), "{who}: GET {path}: {}", answer.text);
            }
        }
    }

    async fn session_of_another_tenant_takes_no_runs(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let ours = world.client(&server, "acme", Role::Admin).await;
        let session = ours.post("/api/sessions", &json!({ "title": "ours" })).await.text_at("/id");
        let run = ours.run("test.echo", json!({ "value": 1 })).await.text_at("/run_id");

        for (who, stranger) in everybody(&world, &server, "globex").await {
            if who == "viewer" {
                continue;
            }
            let before = stranger.get("/api/runs").await.json()["total"].clone();
            let into = async |session: &str| {
                let body = json!({ "input": { "value": 1 }, "session_id": session });
                stranger.post("/api/tools/test.echo/run", &body).await
            };
            let missing = Uuid::now_v7().to_string();
            for session in [&session, &run] {
                let answer = into(session).await;
                answer.is("404 SESSION_NOT_FOUND");
                assert_eq!(comparable(&answer, session), comparable(&into(&missing).await, &missing), "{who}");
            }
            assert_eq!(stranger.get("/api/runs").await.json()["total"], before, "a refused call leaves no run");
        }
        let events = ours.get(&format!("/api/sessions/{session}/events")).await.json();
        assert_eq!(events["items"], json!([]));
    }

    async fn cursor_serves_its_own_list_and_reader_only(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        world.add_user("acme", "second@acme.example", Role::Admin).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let second = client_of(&world, &server, "acme", "second@acme.example", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        for _ in 0..3 {
            let ledger = world.ledger("never written");
            agent.run("test.write", json!({ "file": ledger, "line": "x" })).await.is("202 needs_approval");
            let label = Uuid::now_v7().to_string();
            let body = json!({ "label": label, "type": "bearer", "payload": { "token": "x" } });
            admin.post("/api/credentials", &body).await.is("201");
        }
        let lists =
            ["/api/runs", "/api/api-keys", "/api/credentials", "/api/users", "/api/approvals", "/api/audit", "/api/tools"];
        for (index, list) in lists.iter().enumerate() {
            let first = admin.get(&format!("{list}?limit=1")).await;
            let cursor = first.text_at("/next_cursor");
            let page = |cursor: &str| format!("{list}?limit=1&cursor={cursor}");
            let next = admin.get(&page(&cursor)).await;
            assert_eq!(next.status, StatusCode::OK, "{list}");
            assert_ne!(next.json()["items"], first.json()["items"], "{list} stands still");

            let refused = [
                ("another tenant's admin", stranger.get(&page(&cursor)).await),
                ("another admin", second.get(&page(&cursor)).await),
                ("another list", admin.get(&format!("{}?cursor={cursor}", lists[(index + 1) % lists.len()])).await),
                ("a letter changed", admin.get(&page(&with_a_letter_changed(&cursor))).await),
                ("a letter less", admin.get(&page(&cursor[1..])).await),
                ("made up", admin.get(&page(&Uuid::now_v7().to_string())).await),
            ];
            for (how, answer) in refused {
                assert_eq!(answer.verdict(), "422 INVALID_PARAMS", "{list}, {how}: {}", answer.text);
            }
        }
    }

    async fn nothing_in_a_request_names_another_tenant_or_person(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let ours = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let me = ours.get("/api/me").await.json();
        let (tenant, person) = (me["tenant"]["id"].as_str().unwrap(), me["principal"]["user_id"].as_str().unwrap());
        let their_me = stranger.get("/api/me").await.json();

        let headers =
            ["x-tenant-id", "x-tenant", "tenant", "x-organization-id", "x-org-id", "x-user-id", "x-forwarded-user"];
        for header in headers {
            for value in ["acme", tenant, person] {
                let request = stranger.request(Method::GET, "/api/me").header(header, value);
                assert_eq!(stranger.send(request).await.json(), their_me, "{header}: {value}");
            }
        }
        for name in ["tenant", "tenant_id", "tenant_slug", "organization_id", "org", "user_id", "principal"] {
            for value in ["acme", tenant, person] {
                let answer = stranger.get(&format!("/api/me?{name}={value}")).await;
                assert_eq!(answer.json(), their_me, "{name}={value}");
                for list in ["/api/users", "/api/api-keys", "/api/runs", "/api/audit"] {
                    let (plain, steered) =
                        (stranger.get(list).await, stranger.get(&format!("{list}?{name}={value}")).await);
                    assert_eq!(plain.text, steered.text, "{list}?{name}={value}");
                }
            }
        }
        let names = json!({
            "tenant": "acme", "tenant_id": tenant, "tenant_slug": "acme", "organization_id": tenant,
            "user_id": person, "owner_id": person, "owner": person, "principal": person, "source": "web",
            "permissions": ["settings.tenant.write"], "role": "viewer",
        });
        let with = |body: Value| {
            let mut all = names.clone();
            all.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            all
        };
        // A body that names somebody else is refused as a whole, rather than done for somebody else or as if unsaid.
        let run = json!({ "input": { "value": 1 } });
        let user = json!({ "email": "new@example.com", "display_name": "New", "role": "member" });
        for (path, body) in [
            ("/api/tools/test.echo/run", run.clone()),
            ("/api/sessions", json!({ "title": "x" })),
            ("/api/api-keys", json!({ "name": "x", "role": "member" })),
            ("/api/users", user),
        ] {
            stranger.post(path, &with(body)).await.is("422 INVALID_PARAMS");
        }
        stranger.patch("/api/tenants/current", &with(json!({ "name": "Globex anew" }))).await.is("422 INVALID_PARAMS");
        let run = stranger.post("/api/tools/test.echo/run", &run).await;
        let run = format!("/api/runs/{}", run.is("200 success").text_at("/run_id"));
        assert_eq!(stranger.get(&run).await.json()["actor"]["id"], their_me["principal"]["user_id"]);
        assert_eq!(stranger.get(&run).await.json()["source"], "api");
        ours.get(&run).await.is("404 NOT_FOUND");
        assert_eq!(ours.get("/api/me").await.json()["tenant"]["name"], "acme");
    }

    async fn member_sees_their_own_runs_and_others_see_the_tenants(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        world.add_user("acme", "second@acme.example", Role::Member).await;
        let neighbour = client_of(&world, &server, "acme", "second@acme.example", Role::Member).await;
        let session = neighbour.post("/api/sessions", &json!({})).await.text_at("/id");
        let in_session = json!({ "input": { "value": "theirs" }, "session_id": session });
        let done = neighbour.post("/api/tools/test.echo/run", &in_session).await.text_at("/run_id");
        let alone = neighbour.run("test.echo", json!({ "value": "theirs" })).await.text_at("/run_id");

        for (who, caller) in everybody(&world, &server, "acme").await {
            // An agent has its own, whatever the role of its key.
            let sees_all = !matches!(who, "member" | "agent" | "agent, role admin");
            let slow = json!({ "input": { "ms": 60_000 }, "wait_ms": 0 });
            let open = neighbour.post("/api/tools/test.slow/run", &slow).await.is("202 running").text_at("/run_id");
            let mine = match who {
                "viewer" => None,
                _ => Some(caller.run("test.echo", json!({ "value": "mine" })).await.text_at("/run_id")),
            };
            let listed: BTreeSet<String> = ids(&caller.get("/api/runs?limit=200").await, "run_id");
            let by_session = ids(&caller.get(&format!("/api/runs?session_id={session}")).await, "run_id");
            for run in [&done, &alone, &open] {
                assert_eq!(listed.contains(run), sees_all, "{who}");
                let read = caller.get(&format!("/api/runs/{run}")).await.verdict();
                assert_eq!(read == "404 NOT_FOUND", !sees_all, "{who}: {read}");
            }
            assert_eq!(by_session.contains(&done), sees_all, "{who}");
            for log in [&session, &alone] {
                for path in ["", "/events", "/events/stream"] {
                    let path = format!("/api/sessions/{log}{path}");
                    let status = send(caller.request(Method::GET, &path), None).await.status;
                    assert_eq!(status.is_success(), sees_all, "{who}: {path} {status}");
                    assert_eq!(status == StatusCode::NOT_FOUND, !sees_all, "{who}: {path} {status}");
                }
            }
            if let Some(mine) = &mine {
                assert!(listed.contains(mine), "{who}");
                assert_eq!(caller.trail(mine).await, ["tool.started", "tool.completed"], "{who}");
            }
            let cancelled = caller.post(&format!("/api/runs/{open}/cancel"), &json!({})).await.verdict();
            let expected = match who {
                "admin" => "200 cancelled",
                "viewer" => "403 NOT_PERMITTED",
                _ => "404 NOT_FOUND",
            };
            assert_eq!(cancelled, expected, "{who}");
            let still = neighbour.get(&format!("/api/runs/{open}")).await.text_at("/status");
            assert_eq!(still == "running", expected != "200 cancelled", "{who}");
            if still == "running" {
                neighbour.post(&format!("/api/runs/{open}/cancel"), &json!({})).await.is("200 cancelled");
            }
        }
        assert_eq!(neighbour.trail(&done).await, ["tool.started", "tool.completed"]);
    }

    async fn session_of_a_colleague_takes_no_runs_of_a_member(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let session = builder.post("/api/sessions", &json!({})).await.text_at("/id");
        let body = json!({ "input": { "value": 1 }, "session_id": session });

        member.post("/api/tools/test.echo/run", &body).await.is("404 SESSION_NOT_FOUND");
        // Also once the server has the session in memory.
        builder.post("/api/tools/test.echo/run", &body).await.is("200 success");
        member.post("/api/tools/test.echo/run", &body).await.is("404 SESSION_NOT_FOUND");
    }

    async fn list_and_call_agree_for_every_tool_and_caller(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for (tool, change) in [
            ("test.fail", json!({ "enabled": false })),
            ("test.slow", json!({ "is_active": false })),
            ("test.append", json!({ "status": "deprecated" })),
            ("test.impatient", json!({ "status": "disabled" })),
        ] {
            let answer = admin.patch(&format!("/api/tools/{tool}"), &change).await;
            assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        }
        let mut callers = Vec::new();
        for tenant in ["acme", "globex"] {
            for (who, caller) in everybody(&world, &server, tenant).await {
                let listed = caller.get("/api/tools?limit=200").await.json();
                assert_eq!(listed["next_cursor"], Value::Null, "more tools than a page holds");
                callers.push((format!("{who} of {tenant}"), caller, by_slug(&listed)));
            }
        }
        let mut slugs: BTreeSet<String> =
            ["no.such", "test.optin", "test.private", "test.guarded"].map(str::to_owned).into();
        slugs.extend(callers.iter().flat_map(|(_, _, listed)| listed.keys().cloned()));
        let mut differences = Vec::new();
        let mut counts = [0, 0];
        for (who, caller, listed) in &callers {
            let may_switch = (who.starts_with("admin") || who.starts_with("builder")) && !who.starts_with("agent");
            for slug in &slugs {
                let item = listed.get(slug);
                let read = caller.get(&format!("/api/tools/{slug}")).await;
                // What fits no tool's schema: a call that gets this far was let through.
                let run = caller.run(slug, json!({ "no such field": [] })).await;
                let refused = matches!(run.status.as_u16(), 403 | 404 | 409);
                let available = item.is_some_and(|item| item["available"] == true);
                let hidden = item.is_some_and(|item| {
                    ["switched_off", "not_switched_on"].iter().any(|reason| item["unavailable_reason"] == **reason)
                });
                let agrees = match item {
                    Some(item) => {
                        read.status == StatusCode::OK
                            && read.json()["available"] == item["available"]
                            && item["available"].is_boolean()
                            && item["unavailable_reason"].is_null() == available
                            && (!hidden || may_switch)
                    }
                    None => read.verdict() == "404 TOOL_NOT_FOUND",
                };
                let reads_only = who.starts_with("viewer");
                if !agrees || (if reads_only { run.verdict() != "403 NOT_PERMITTED" } else { available == refused }) {
                    let (read, run) = (read.verdict(), run.verdict());
                    differences.push(format!("{who}, {slug}: listed {item:?}, read {read}, run {run}"));
                }
                counts[usize::from(available)] += 1;
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        assert!(counts.iter().all(|count| 30 < *count), "too little was compared: {counts:?}");
    }

    async fn tool_that_needs_a_permission_is_not_there_without_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        for (who, caller) in everybody(&world, &server, "acme").await {
            let holds = matches!(who, "admin" | "builder" | "agent, role admin");
            let listed = caller.get("/api/tools?limit=200").await.text.contains("test.guarded");
            assert_eq!(listed, holds, "{who}");
            assert_eq!(caller.get("/api/tools?q=guarded").await.json()["total"], i32::from(holds), "{who}");
            let admin = world.client(&server, "acme", Role::Admin).await;
            let id = admin.get("/api/tools/test.guarded").await.text_at("/id");
            for name in ["test.guarded", "TEST.GUARDED", &id] {
                let read = caller.get(&format!("/api/tools/{name}")).await;
                assert_eq!(read.status == StatusCode::OK, holds, "{who}: {name}");
                let run = caller.run(name, json!({ "message": "hello" })).await;
                run.is(if holds { "200 success" } else { "403 NOT_PERMITTED" });
            }
        }
    }

    async fn tool_of_one_tenant_is_there_for_nobody_else(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let ours = world.client(&server, "acme", Role::Member).await;
        ours.run("test.private", json!({ "message": "hello" })).await.is("200 success");
        let id = ours.get("/api/tools/test.private").await.text_at("/id");
        for (who, stranger) in everybody(&world, &server, "globex").await {
            assert!(!stranger.get("/api/tools?limit=200").await.text.contains("test.private"), "{who}");
            for name in ["test.private", "Test.Private", &id] {
                stranger.get(&format!("/api/tools/{name}")).await.is("404 TOOL_NOT_FOUND");
                let run = stranger.run(name, json!({ "message": "hello" })).await;
                run.is(if who == "viewer" { "403 NOT_PERMITTED" } else { "404 TOOL_NOT_FOUND" });
                for change in [json!({ "enabled": true }), json!({ "tenant_slugs": ["globex"] })] {
                    let change = stranger.patch(&format!("/api/tools/{name}"), &change).await;
                    let may = matches!(who, "admin" | "builder");
                    change.is(if may { "404 TOOL_NOT_FOUND" } else { "403 NOT_PERMITTED" });
                }
            }
        }
    }

    async fn switch_hides_and_shows_a_tool_at_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let stranger = world.client(&server, "globex", Role::Member).await;
        let switch = async |tool: &str, to: Value| {
            admin.patch(&format!("/api/tools/{tool}"), &json!({ "enabled": to })).await
        };
        let hello = || json!({ "message": "hello" });
        for caller in [&member, &agent] {
            caller.run("test.optin", hello()).await.is("404 TOOL_NOT_FOUND");
            caller.get("/api/tools/test.optin").await.is("404 TOOL_NOT_FOUND");
        }
        assert_eq!(admin.get("/api/tools/test.optin").await.json()["unavailable_reason"], "not_switched_on");

        assert_eq!(switch("test.optin", json!(true)).await.json()["available"], true);
        for caller in [&member, &agent] {
            caller.run("test.optin", hello()).await.is("200 success");
            assert!(caller.get("/api/tools?limit=200").await.text.contains("test.optin"));
        }
        stranger.run("test.optin", hello()).await.is("404 TOOL_NOT_FOUND");

        let echo = || json!({ "value": 1 });
        let off = switch("test.echo", json!(false)).await.json();
        assert_eq!((&off["enabled"], &off["available"]), (&json!(false), &json!(false)));
        for caller in [&member, &agent, &admin] {
            caller.run("test.echo", echo()).await.is("404 TOOL_NOT_FOUND");
            let listed = caller.get("/api/tools?limit=200&available=true").await.text.contains("test.echo");
            assert!(!listed);
        }
        member.get("/api/tools/test.echo").await.is("404 TOOL_NOT_FOUND");
        let read = admin.get("/api/tools/test.echo").await.json();
        assert_eq!((&read["available"], &read["unavailable_reason"]), (&json!(false), &json!("switched_off")));
        stranger.run("test.echo", echo()).await.is("200 success");

        switch("test.echo", Value::Null).await;
        member.run("test.echo", echo()).await.is("200 success");
    }

    async fn tool_that_is_switched_off_or_withdrawn_does_not_run_in_any_way(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let id = admin.get("/api/tools/test.echo").await.text_at("/id");
        for (change, refusal, reason) in [
            (json!({ "is_active": false }), "409 TOOL_DISABLED", "inactive"),
            (json!({ "status": "disabled" }), "409 TOOL_DISABLED", "disabled"),
            (json!({ "status": "deprecated" }), "409 TOOL_NOT_PUBLISHED", "deprecated"),
        ] {
            let changed = admin.patch("/api/tools/test.echo", &change).await;
            assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
            assert_eq!(changed.json()["available"], false, "{change}");
            for caller in [&admin, &agent] {
                assert_eq!(caller.get("/api/tools/test.echo").await.json()["unavailable_reason"], reason);
                for name in ["test.echo", "TEST.echo", &id] {
                    for extra in [json!({}), json!({ "version": "1.0.0" }), json!({ "mode": "debug" })] {
                        let mut body = json!({ "input": { "value": 1 } });
                        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
                        caller.post(&format!("/api/tools/{name}/run"), &body).await.is(refusal);
                    }
                }
            }
            admin.patch("/api/tools/test.echo", &json!({ "is_active": null, "status": null })).await;
            agent.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }
        let runs = admin.get("/api/runs?tool=test.echo").await.json()["total"].clone();
        assert_eq!(runs, 3, "only the three in between have run");
    }

    async fn level_of_a_tool_can_be_raised_and_never_lowered(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let level = async |tool: &str, level: Value| {
            admin.patch(&format!("/api/tools/{tool}"), &json!({ "permission_level": level })).await
        };
        for lower in ["read", "draft"] {
            level("test.write", json!(lower)).await.is("422 INVALID_PARAMS");
        }
        for lower in ["read", "draft", "write"] {
            level("test.destroy", json!(lower)).await.is("422 INVALID_PARAMS");
        }
        level("test.echo", json!("harmless")).await.is("422 INVALID_PARAMS");
        agent.run("test.echo", json!({ "value": 1 })).await.is("200 success");
        assert_eq!(level("test.echo", json!("write")).await.json()["permission_level"], "write");
        agent.run("test.echo", json!({ "value": 1 })).await.is("202 needs_approval");

        // A policy cannot relax what is destructive.
        let relaxed = admin.patch("/api/tools/test.destroy", &json!({ "permission_policy": "auto" })).await;
        assert_eq!(relaxed.status, StatusCode::OK);
        let ledger = world.ledger("destroyed");
        agent.run("test.destroy", json!({ "file": ledger, "line": "x" })).await.is("202 needs_approval");
        for fixed in ["input_schema", "output_schema", "implementation"] {
            let change = json!({ fixed: { "title": "Another" } });
            admin.patch("/api/tools/test.echo", &change).await.is("422 INVALID_PARAMS");
        }
    }

    async fn change_of_what_has_changed_since_it_was_read_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for (path, first, second) in [
            ("/api/tools/test.echo", json!({ "name": "One" }), json!({ "name": "Two" })),
            ("/api/tenants/current", json!({ "name": "One" }), json!({ "name": "Two" })),
        ] {
            let change = async |etag: &str, body: &Value| {
                admin.send(admin.request(Method::PATCH, path).header("if-match", etag).json(body)).await
            };
            let etag = admin.get(path).await.headers["etag"].to_str().unwrap().to_owned();
            let changed = change(&etag, &first).await;
            assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
            for stale in [etag.as_str(), "\"nonsense\"", "\"\"", "\"99999999-1\""] {
                change(stale, &second).await.is("412 PRECONDITION_FAILED");
            }
            assert_eq!(admin.get(path).await.json()["name"], "One");
            let now = changed.headers["etag"].to_str().unwrap();
            assert_eq!(change(now, &second).await.json()["name"], "Two");
            assert_eq!(change("*", &first).await.json()["name"], "One");
        }
    }

    async fn key_of_an_agent_never_administers_authors_or_decides(db: TestDb) {
        let scene = Scene::on(db).await;
        let mut agents = Vec::new();
        for role in Role::ALL {
            let key = scene.world.key("acme", role, ActsAs::Agent).await;
            agents.push((role, Client::new(&scene.server.url, Some(key))));
        }
        let mut asked = 0;
        for operation in operations() {
            let shut = matches!(operation.tag.as_str(), "administration" | "approvals")
                || operation.tag == "tools"
                    && !["GET /api/tools", "GET /api/tools/{tool}", "POST /api/tools/{tool}/run"]
                        .contains(&operation.name().as_str())
                || operation.path == "/metrics"
                || operation.path == "/api/auth/switch"
                || operation.path == "/api/auth/password";
            if !shut {
                continue;
            }
            let owned = scene.ask(&operation, &scene.neighbour).await.unwrap();
            for (role, agent) in &agents {
                let answer = send(agent.request(owned.method.clone(), &owned.path()), owned.body.as_ref()).await;
                assert_eq!(answer.verdict(), "403 NOT_PERMITTED", "{} as {role}", operation.name());
                asked += 1;
            }
        }
        assert!(100 <= asked, "only {asked} requests were made");
    }
}

/// One caller of each kind in a tenant.
async fn everybody(world: &World, server: &Server, tenant: &str) -> Vec<(&'static str, Client)> {
    let mut callers = Vec::new();
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Agent) {
        callers.push((role.as_str(), world.client(server, tenant, role).await));
    }
    callers.push(("agent", world.agent(server, tenant).await));
    let request = KeyRequest {
        name: "chief's key".to_owned(),
        role: Role::Admin,
        acts_as: ActsAs::Agent,
        agent: Some("chief".to_owned()),
        expires: None,
    };
    let owner = format!("admin@{tenant}.example");
    let key = world.operator().create_key(&slug(tenant), request, Some(&owner)).await.unwrap();
    callers.push(("agent, role admin", Client::new(&server.url, Some(key.text))));
    callers
}

async fn client_of(world: &World, server: &Server, tenant: &str, email: &str, role: Role) -> Client {
    let request = KeyRequest {
        name: format!("key of {email}"),
        role,
        acts_as: ActsAs::User,
        agent: None,
        expires: None,
    };
    let key = world.operator().create_key(&slug(tenant), request, Some(email)).await.unwrap();
    Client::new(&server.url, Some(key.text))
}

/// Another name of the same shape and length that names nothing.
fn like(name: &str) -> String {
    match name.parse::<Uuid>() {
        Ok(_) => Uuid::now_v7().to_string(),
        Err(_) => with_a_letter_changed(name),
    }
}

fn with_a_letter_changed(text: &str) -> String {
    let (rest, last) = text.split_at(text.len() - 1);
    format!("{rest}{}", if last == "x" { "y" } else { "x" })
}

/// All of an answer that must not differ.
#[derive(Debug, PartialEq)]
struct Comparable {
    status: StatusCode,
    headers: BTreeMap<String, String>,
    body: String,
}

fn comparable(answer: &Answer, object: &str) -> Comparable {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "date" && *name != "x-request-id");
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let mut body = answer.json();
    assert!(body.as_object_mut().unwrap().remove("request_id").is_some(), "{body}");
    // The caller's own word for it may come back.
    Comparable { status: answer.status, headers, body: body.to_string().replace(object, "…") }
}

fn ids(list: &Answer, field: &str) -> BTreeSet<String> {
    let list = list.json();
    list["items"].as_array().unwrap().iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

fn by_slug(list: &Value) -> BTreeMap<String, Value> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| (item["slug"].as_str().unwrap().to_owned(), item.clone())).collect()
}

fn whole(answer: &Answer) -> String {
    format!("{} {:?} {}\n", answer.status, answer.headers, answer.text)
}

/// Texts that only `acme` may see, and the ids of what holds them.
struct Planted {
    canaries: Vec<String>,
    run: String,
    session: String,
    approval: String,
    user: String,
    credential: String,
    artifact: String,
    call: String,
    remote: String,
    webhook: String,
    ids: Vec<String>,
}

async fn plant(world: &World, server: &Server) -> Planted {
    let admin = world.client(server, "acme", Role::Admin).await;
    let mut canaries = Vec::new();
    let mut canary = |what: &str| {
        canaries.push(format!("canary-{what}"));
        format!("canary-{what}")
    };
    let email = format!("{}@example.com", canary("mail"));
    let person = json!({ "email": email, "display_name": canary("person"), "role": "admin" });
    let user = admin.post("/api/users", &person).await.text_at("/id");
    let key =
        json!({ "name": canary("key"), "role": "member", "acts_as": "agent", "agent": canary("agent") });
    let key = admin.post("/api/api-keys", &key).await;
    let (key_id, agent) = (key.text_at("/id"), Client::new(&server.url, Some(key.text_at("/key"))));
    admin.patch("/api/tenants/current", &json!({ "name": canary("tenant") })).await;
    let words =
        json!({ "name": canary("tool"), "description": canary("description"), "tags": [canary("tag")] });
    admin.patch("/api/tools/test.append", &words).await;

    let credential = json!({
        "label": canary("label"), "type": "custom", "provider_key": canary("provider"),
        "provider_variant": canary("variant"), "payload": { canary("payload-name"): "hidden" },
    });
    let credential = admin.post("/api/credentials", &credential).await.is("201").text_at("/id");

    let (remote, _) = plant_server(world, "acme", &canary("server")).await;
    let hook = json!({ "url": format!("https://a.example/{}", canary("hook")), "events": ["mcp.drift"] });
    let webhook = admin.post("/api/webhooks", &hook).await.is("201").text_at("/id");
    let source = format!("export default () => '{}'", canary("source"));
    let artifact = json!({ "name": canary("script"), "language": "javascript", "source": source });
    let artifact = admin.post("/api/artifacts", &artifact).await.is("201").text_at("/id");

    let own = json!({
        "slug": "planted", "name": canary("own-name"), "description": canary("own-description"), "publish": true,
        "implementation_type": "internal", "input_schema": { "type": "object", "title": canary("own-schema") },
        "aliases": ["planted-too"],
    });
    let own = admin.post("/api/tools", &own).await.is("201 published").text_at("/id");

    let session = agent.post("/api/sessions", &json!({ "title": canary("title") })).await.text_at("/id");
    let input = json!({ "value": { canary("field"): canary("value") } });
    let body = json!({ "input": input, "session_id": session });
    let request =
        agent.request(Method::POST, "/api/tools/test.echo/run").header("idempotency-key", "canary-once");
    let run = agent.send(request.json(&body)).await.is("200 success").text_at("/run_id");
    agent.run("test.fail", json!({ "message": canary("failure") })).await.is("200 error");
    let said = json!({ "input": { "message": canary("said") }, "session_id": session });
    agent.post("/api/tools/test.append/run", &said).await.is("200 success");
    let parked = json!({ "file": world.ledger("unwritten"), "line": canary("line") });
    let parked = agent.run("test.write", parked).await;
    let approval = parked.is("202 needs_approval").text_at("/approval_id");
    admin
        .post(&format!("/api/approvals/{approval}/deny"), &json!({ "note": canary("note") }))
        .await
        .is("200 denied");
    let standing = json!({ "file": world.ledger("written"), "line": canary("standing") });
    let standing = agent.run("test.write", standing).await.is("202 needs_approval").text_at("/approval_id");
    let yes = json!({ "standing": { "for_s": 600 } });
    admin.post(&format!("/api/approvals/{standing}/approve"), &yes).await.is("200 success");
    let asks = json!({
        "slug": "asks", "name": "Asks", "description": "A person answers.", "publish": true, "is_async": true,
        "implementation_type": "space", "input_schema": { "type": "object" },
    });
    admin.post("/api/tools", &asks).await.is("201 published");
    let asked = agent.run("asks", json!({ "question": canary("question") })).await;
    let call = asked.is("202 pending").text_at("/pending_tool_call_id");
    let slow = json!({ "input": { "ms": 60_000 }, "session_id": session, "wait_ms": 0 });
    let slow = agent.post("/api/tools/test.slow/run", &slow).await.is("202 running").text_at("/run_id");
    let reason = json!({ "reason": canary("reason") });
    admin.post(&format!("/api/runs/{slow}/cancel"), &reason).await.is("200 cancelled");

    let ids = vec![
        run.clone(),
        session.clone(),
        approval.clone(),
        user.clone(),
        credential.clone(),
        remote.clone(),
        artifact.clone(),
        call.clone(),
        key_id,
        own,
        slow,
        webhook.clone(),
        parked.text_at("/run_id"),
    ];
    Planted { canaries, run, session, approval, user, credential, artifact, call, remote, webhook, ids }
}

/// Every way to read: each `GET` of the published description, lists also with everything that steers
/// them.
fn reads(planted: &Planted) -> Vec<String> {
    let Planted { run, session, approval, user, credential, artifact, call, remote, webhook, .. } = planted;
    let mut paths = Vec::new();
    for operation in operations() {
        if operation.method != Method::GET {
            continue;
        }
        let path = match operation.path.as_str() {
            "/api/tools/{tool}" => "/api/tools/test.append".to_owned(),
            path if path.starts_with("/api/tools/{tool}/") => {
                path.replace("{tool}", "planted").replace("{revision}", "1")
            }
            "/api/runs/{id}" => format!("/api/runs/{run}"),
            "/api/approvals/{id}" => format!("/api/approvals/{approval}"),
            "/api/users/{id}" => format!("/api/users/{user}"),
            "/api/pending-calls/{id}" => format!("/api/pending-calls/{call}"),
            path if path.starts_with("/api/credentials/{id}") => path.replace("{id}", credential),
            path if path.starts_with("/api/mcp-servers/{id}") => path.replace("{id}", remote),
            path if path.starts_with("/api/artifacts/{id}") => {
                path.replace("{id}", artifact).replace("{version}", "1")
            }
            path if path.starts_with("/api/sessions/{id}") => path.replace("{id}", session),
            path if path.starts_with("/api/webhooks/{id}") => path.replace("{id}", webhook),
            path if path.contains('{') => panic!("GET {path} is not searched: give it a thing here"),
            path => path.to_owned(),
        };
        let is_list = [
            "/api/runs",
            "/api/tools",
            "/api/approvals",
            "/api/standing-approvals",
            "/api/users",
            "/api/api-keys",
            "/api/credentials",
            "/api/mcp-servers",
            "/api/webhooks",
            "/api/artifacts",
            "/api/audit",
            "/api/tenants",
        ]
        .contains(&path.as_str());
        if is_list {
            let by_thing = [
                format!("session_id={session}"),
                format!("parent_run_id={run}"),
                format!("object=user:{user}"),
                "tool=test.echo".to_owned(),
                "action=key.created".to_owned(),
                "q=can".to_owned(),
                "status=all".to_owned(),
                "status=denied".to_owned(),
                "status=error".to_owned(),
                "since=2020-01-01T00:00:00Z".to_owned(),
                "offset=1".to_owned(),
                "tenant=acme".to_owned(),
            ];
            paths.extend(by_thing.iter().map(|query| format!("{path}?limit=200&{query}")));
        }
        if path.starts_with("/api/sessions/") {
            paths.push(format!("{path}?after=0&limit=200"));
        }
        paths.push(path);
    }
    paths
}
