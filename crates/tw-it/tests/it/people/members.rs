//! Members of a tenant: roles, leaving, and the audit of it.

use futures::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{Browser, PASSWORD, add, agent_key_of, audited, key_of, servers, sign_in};
use crate::world::{Answer, Client, World};

on_both! {
    async fn tenant_keeps_its_last_admin(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let me = admin.get("/api/me").await.json()["principal"]["user_id"].as_str().unwrap().to_owned();
        let path = format!("/api/users/{me}");
        for role in ["builder", "approver", "member", "viewer"] {
            admin.patch(&path, &json!({ "role": role })).await.is("409 CONFLICT");
        }
        admin.delete(&path).await.is("409 CONFLICT");
        assert_eq!(admin.get(&path).await.json()["role"], "admin");

        // Two admins who put each other out at the same moment: one of them stays.
        for round in 0..5 {
            let email = format!("second{round}@acme.example");
            world.add_user("acme", &email, Role::Admin).await;
            let second = Client::new(&server.url, Some(key_of(&world, "acme", &email, Role::Admin).await));
            let them = second.get("/api/me").await.json()["principal"]["user_id"].as_str().unwrap().to_owned();
            let (of_them, of_me) = (format!("/api/users/{them}"), path.clone());
            let to_member = json!({ "role": "member" });
            let (first, other) = tokio::join!(admin.delete(&of_them), second.patch(&of_me, &to_member));
            let done = [&first, &other].iter().filter(|answer| answer.status.is_success()).count();
            assert_eq!(done, 1, "{} {}, {} {}", first.status, first.text, other.status, other.text);
            let survivor = if first.status.is_success() { &admin } else { &second };
            let users = survivor.get("/api/users?limit=200").await.json();
            let admins = users["items"].as_array().unwrap().iter().filter(|user| user["role"] == "admin").count();
            assert_eq!(admins, 1);
            if other.status.is_success() {
                second.patch(&of_me, &json!({ "role": "admin" })).await;
                admin.delete(&of_them).await;
            }
        }
    }

    async fn person_cannot_be_given_the_role_of_an_agent(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, None).await.text_at("/id");

        add(&admin, "eve@example.com", Role::Agent, None).await.is("422 INVALID_PARAMS");
        admin.patch(&format!("/api/users/{user}"), &json!({ "role": "agent" })).await.is("422 INVALID_PARAMS");
        admin.patch(&format!("/api/users/{user}"), &json!({ "role": "king" })).await.is("422 INVALID_PARAMS");

        assert_eq!(admin.get(&format!("/api/users/{user}")).await.json()["role"], "member");
    }

    async fn tenant_that_adds_many_people_at_once_is_slowed_down_and_no_other(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let other = world.client(&server, "globex", Role::Admin).await;
        add(&other, "ada@example.com", Role::Member, Some(PASSWORD)).await.is("201");

        let many = (0..60).map(|number| {
            let admin = admin.clone();
            async move { add(&admin, &format!("eve{number}@example.com"), Role::Member, Some(PASSWORD)).await }
        });
        let (made, ada) = tokio::join!(join_all(many), sign_in(&server, "ada@example.com", PASSWORD));

        assert_eq!(ada.status, StatusCode::OK, "{}", ada.text);
        let refused: Vec<_> = made.iter().filter(|answer| answer.status != StatusCode::CREATED).collect();
        assert!((1..60).contains(&refused.len()), "{} of 60 were refused", refused.len());
        for answer in refused {
            answer.is("429 RATE_LIMITED");
            assert!(answer.headers.contains_key("retry-after"));
        }
        let members = admin.get("/api/users?limit=200").await.text;
        let added = made.iter().filter(|answer| answer.status == StatusCode::CREATED).count();
        assert_eq!(members.matches("eve").count(), added, "who was refused is no member");
    }

    async fn member_is_not_added_twice(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let request = || {
            let request = admin.request(Method::POST, "/api/users").header("idempotency-key", "once");
            request.json(&json!({ "email": "ada@example.com", "display_name": "Ada", "role": "member" }))
        };
        let made = admin.send(request()).await;
        assert_eq!(made.status, StatusCode::CREATED);

        for role in [Role::Member, Role::Admin] {
            add(&admin, "ADA@example.com", role, Some(PASSWORD)).await.is("409 CONFLICT");
        }

        assert_eq!(admin.send(request()).await.text, made.text, "the same request is no second one");
        let ada = admin.get(&format!("/api/users/{}", made.text_at("/id"))).await.json();
        assert_eq!((&ada["role"], &ada["has_password"]), (&json!("member"), &json!(false)));
        sign_in(&server, "ada@example.com", PASSWORD).await.is("401 UNAUTHENTICATED");
    }

    async fn what_a_member_had_ends_with_the_membership(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Builder, Some(PASSWORD)).await.text_at("/id");
        let program = Client::new(&servers[0].url, Some(key_of(&world, "acme", "ada@example.com", Role::Builder).await));
        let agent = Client::new(&servers[0].url, Some(agent_key_of(&world, "acme", "ada@example.com").await));
        let browser = Browser::by_password(&servers[0], "ada@example.com", PASSWORD).await;
        for server in &servers {
            program.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            agent.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }

        assert_eq!(admin.delete(&format!("/api/users/{user}")).await.status, StatusCode::NO_CONTENT);

        for server in servers.iter().rev() {
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("401 UNAUTHENTICATED");
            browser.at(server).get("/api/me").await.is("401 UNAUTHENTICATED");
            for program in [&program, &agent] {
                program.at(server).run("test.echo", json!({ "value": 1 })).await.is("401 UNAUTHENTICATED");
                program.at(server).get("/api/me").await.is("401 UNAUTHENTICATED");
            }
        }
        sign_in(&servers[0], "ada@example.com", PASSWORD).await.is("401 UNAUTHENTICATED");
        admin.get(&format!("/api/users/{user}")).await.is("404 NOT_FOUND");
        admin.delete(&format!("/api/users/{user}")).await.is("404 NOT_FOUND");
        // Coming back is a new beginning: the old keys and logins stay dead.
        add(&admin, "ada@example.com", Role::Builder, None).await;
        program.get("/api/me").await.is("401 UNAUTHENTICATED");
        browser.get("/api/me").await.is("401 UNAUTHENTICATED");
    }

    async fn role_that_is_lowered_lowers_keys_and_logins_at_once(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Admin, Some(PASSWORD)).await.text_at("/id");
        let program = Client::new(&servers[0].url, Some(key_of(&world, "acme", "ada@example.com", Role::Admin).await));
        let browser = Browser::by_password(&servers[0], "ada@example.com", PASSWORD).await;
        for server in &servers {
            assert_eq!(program.at(server).get("/api/users").await.status, StatusCode::OK);
            program.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }

        let changed = admin.patch(&format!("/api/users/{user}"), &json!({ "role": "viewer" })).await;

        assert_eq!(changed.json()["role"], "viewer");
        for server in servers.iter().rev() {
            program.at(server).run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");
            program.at(server).get("/api/users").await.is("403 NOT_PERMITTED");
            browser.at(server).get("/api/users").await.is("403 NOT_PERMITTED");
        }
        assert_eq!(browser.get("/api/me").await.json()["roles"], json!(["viewer"]));
    }

    async fn audit_says_who_changed_what_from_what_to_what(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let me = admin.get("/api/me").await.json()["principal"]["user_id"].clone();
        let check = async |answer: Answer, action: &str, object: &str, before: Value, after: Value| {
            assert!(answer.status.is_success(), "{}", answer.text);
            let entry = audited(&admin, action).await;
            assert_eq!(entry["object"], object, "{action}");
            assert!(covers(&entry["before"], &before), "{action} before: {entry}");
            assert!(covers(&entry["after"], &after), "{action} after: {entry}");
            assert_eq!(entry["actor"]["id"], me, "{action}: {entry}");
            assert_eq!(entry["request_id"], answer.headers["x-request-id"].to_str().unwrap(), "{action}");
            answer
        };
        let added = add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        let user = format!("user:{}", added.text_at("/id"));
        let path = format!("/api/users/{}", added.text_at("/id"));
        let member = json!({ "email": "ada@example.com", "role": "member" });
        check(added, "member.added", &user, Value::Null, member).await;
        let link = admin.post(&format!("{path}/link"), &json!({})).await;
        check(link, "user.link_made", &user, Value::Null, Value::Null).await;
        let raised = admin.patch(&path, &json!({ "role": "builder" })).await;
        let (was, is) = (json!({ "role": "member" }), json!({ "role": "builder" }));
        check(raised, "member.role_changed", &user, was, is).await;
        let key = admin.post("/api/api-keys", &json!({ "name": "k", "role": "member" })).await;
        let object = format!("key:{}", key.text_at("/id"));
        let as_made = json!({ "name": "k", "role": "member", "acts_as": "user", "revoked": null });
        let key = check(key, "key.created", &object, Value::Null, as_made.clone()).await;
        let revoked = admin.delete(&format!("/api/api-keys/{}", key.text_at("/id"))).await;
        let revoked = check(revoked, "key.revoked", &object, as_made, json!({ "name": "k" })).await;
        let entry = audited(&admin, "key.revoked").await;
        assert_eq!(entry["after"]["revoked"], revoked.json()["revoked_at"]);
        let removed = admin.delete(&path).await;
        check(removed, "member.removed", &user, json!({ "role": "builder" }), Value::Null).await;
        let settings = |on: Value| json!({ "settings": { "approve_all_writes": on } });
        let changed = admin.patch("/api/tenants/current", &settings(json!(true))).await;
        let tenant = format!("tenant:{}", changed.text_at("/id"));
        check(changed, "tenant.changed", &tenant, json!({ "settings": {} }), settings(json!(true))).await;
        let hidden = admin.patch("/api/tools/test.echo", &json!({ "enabled": false })).await;
        assert!(hidden.status.is_success());
        let entry = &admin.get("/api/audit?limit=1").await.json()["items"][0];
        assert_eq!((&entry["before"]["enabled"], &entry["after"]["enabled"]), (&Value::Null, &json!(false)), "{entry}");
        assert!(entry["object"].as_str().unwrap().contains("test.echo"), "{entry}");

        // What was refused or changed nothing is no change.
        let entries = admin.get("/api/audit?limit=200").await.json()["items"].clone();
        admin.patch("/api/tools/test.echo", &json!({ "enabled": false })).await;
        admin.patch("/api/tenants/current", &settings(json!(true))).await;
        admin.delete(&path).await.is("404 NOT_FOUND");
        admin.post("/api/api-keys", &json!({ "name": "", "role": "member" })).await.is("422 INVALID_PARAMS");
        assert_eq!(admin.get("/api/audit?limit=200").await.json()["items"], entries);
    }
}

/// Whether everything in `expected` is in `found`.
fn covers(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| covers(found.get(name).unwrap_or(&Value::Null), value))
        }
        (found, expected) => found == expected,
    }
}
