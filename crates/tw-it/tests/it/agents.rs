//! Agents: their own runs and sessions and nobody else's, and the trace of what they are refused.

use reqwest::StatusCode;
use serde_json::json;
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use crate::world::{Client, World};

on_both! {
    async fn agent_has_its_own_runs_whatever_the_role_of_its_key(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let colleague = world.client(&server, "acme", Role::Member).await;
        let theirs = colleague.run("test.echo", json!({ "value": 1 })).await.text_at("/run_id");
        let open = colleague.post("/api/tools/test.slow/run", &json!({ "input": { "ms": 20_000 }, "wait_ms": 0 })).await;
        let open = open.text_at("/run_id");
        for role in [Role::Admin, Role::Builder, Role::Approver, Role::Member, Role::Agent] {
            let agent = Client::new(&server.url, Some(world.key("acme", role, ActsAs::Agent).await));
            let own = agent.run("test.echo", json!({ "value": 1 })).await.text_at("/run_id");

            let runs = agent.get("/api/runs?limit=200").await;

            assert!(runs.text.contains(&own) && !runs.text.contains(&theirs), "{role}: {}", runs.text);
            assert_eq!(agent.get(&format!("/api/runs/{own}")).await.status, StatusCode::OK);
            for run in [&theirs, &open] {
                agent.get(&format!("/api/runs/{run}")).await.is("404 NOT_FOUND");
                agent.post(&format!("/api/runs/{run}/cancel"), &json!({})).await.is("404 NOT_FOUND");
                agent.get(&format!("/api/sessions/{run}")).await.is("404 SESSION_NOT_FOUND");
                agent.get(&format!("/api/sessions/{run}/events")).await.is("404 SESSION_NOT_FOUND");
            }
            assert!(!agent.get("/api/me").await.text.contains("runs.tenant."), "{role}");
        }
        admin.post(&format!("/api/runs/{open}/cancel"), &json!({})).await.is("200 cancelled");
    }

    async fn agent_is_not_credited_with_rights_that_no_agent_has(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let strong_agent = Client::new(&server.url, Some(world.key("acme", Role::Admin, ActsAs::Agent).await));
        let me = strong_agent.get("/api/me").await;
        for right in ["approvals.", "keys.", "credentials.", "tools.tenant.update", "workers.", "audit.", "settings."] {
            assert!(!me.text.contains(right), "{right}: {}", me.text);
        }
        assert!(me.text.contains("tools.tenant.run"));
        for (right, verdict) in [("approvals.tenant.decide", "404 TOOL_NOT_FOUND"), ("entities.team.delete", "200 success")] {
            let slug = format!("needs-{}", right.replace('.', "-"));
            let body = json!({
                "slug": slug, "name": "Echo", "description": "For those who hold a right.", "publish": true,
                "implementation_type": "internal", "implementation": {}, "permission_level": "read",
                "input_schema": { "type": "object" }, "required_permission": right,
            });
            builder.post("/api/tools", &body).await.is("201 published");
            let answer = strong_agent.run(&slug, json!({})).await;
            assert!(answer.verdict() == verdict || (answer.status == 403 && verdict.starts_with('4')), "{}", answer.text);
        }
    }

    async fn session_takes_the_runs_of_its_owner_and_of_those_who_rule_all_runs(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let strong_agent = Client::new(&server.url, Some(world.key("acme", Role::Admin, ActsAs::Agent).await));
        let run_in = async |client: &Client, session: &str| {
            let body = json!({ "input": { "value": 1 }, "session_id": session });
            client.post("/api/tools/test.echo/run", &body).await
        };
        for (owner, also) in [(&member, None), (&agent, Some(&strong_agent)), (&admin, None)] {
            let session = owner.post("/api/sessions", &json!({})).await.text_at("/id");
            run_in(owner, &session).await.is("200 success");
            run_in(&admin, &session).await.is("200 success");
            // Another key of the same agent is the same agent.
            if let Some(also) = also {
                run_in(also, &session).await.is("200 success");
            }
            let before = admin.get(&format!("/api/sessions/{session}")).await.json()["last_seq"].clone();
            let never = run_in(&member, "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11").await;
            for role in [Role::Builder, Role::Approver] {
                // They may read it, and no more.
                let reader = world.client(&server, "acme", role).await;
                assert_eq!(reader.get(&format!("/api/sessions/{session}")).await.status, StatusCode::OK);
                let refused = run_in(&reader, &session).await;
                refused.is("404 SESSION_NOT_FOUND");
                assert_eq!(refused.json()["detail"], never.json()["detail"]);
            }
            for stranger in [&member, &agent, &strong_agent] {
                let own = stranger.key == owner.key || also.is_some_and(|also| also.key == stranger.key);
                if !own {
                    run_in(stranger, &session).await.is("404 SESSION_NOT_FOUND");
                }
            }
            assert_eq!(admin.get(&format!("/api/sessions/{session}")).await.json()["last_seq"], before);
        }
    }

    async fn agent_that_may_run_nothing_leaves_a_trace_when_it_tries(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = Client::new(&server.url, Some(world.key("acme", Role::Viewer, ActsAs::Agent).await));
        let person = world.client(&server, "acme", Role::Viewer).await;

        person.run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");
        agent.run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");

        let found = admin.get("/api/audit?action=call.refused").await.json();
        let entries = found["items"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "{found}");
        assert_eq!((&entries[0]["object"], &entries[0]["after"]["code"]), (&json!("tool:test.echo"), &json!("NOT_PERMITTED")));
        assert_eq!(entries[0]["actor"]["slug"], "bot", "{found}");
    }
}
