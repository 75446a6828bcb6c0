//! Calls that a person has to allow first.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{ANSWER_KEYS, PATIENCE, call, ended, keys, place_of, runs_of};
use crate::world::{Answer, Client, World, eventually, lines_of};

/// An agent's write that waits.
async fn park(world: &World, agent: &Client, line: &str) -> Answer {
    let parked = agent.run("test.write", json!({ "file": world.ledger("w"), "line": line })).await;
    parked.is("202 needs_approval");
    parked
}

async fn approve(who: &Client, id: &str, body: &Value) -> Answer {
    who.post(&format!("/api/approvals/{id}/approve"), body).await
}

async fn deny(who: &Client, id: &str, body: &Value) -> Answer {
    who.post(&format!("/api/approvals/{id}/deny"), body).await
}

async fn approval(who: &Client, id: &str) -> Value {
    who.get(&format!("/api/approvals/{id}")).await.json()
}

/// The id of the only approval that waits, once there is one.
async fn only_pending(who: &Client) -> String {
    eventually("somebody asks", PATIENCE, async || who.get("/api/approvals").await.json()["total"] == 1)
        .await;
    who.get("/api/approvals").await.text_at("/items/0/id")
}

fn lines(world: &World) -> Vec<String> {
    lines_of(&world.ledger("w"))
}

on_both! {
    async fn call_that_waits_answers_at_once_and_says_where(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let parked = park(&world, &agent, "one").await;
        let told = parked.json();
        assert_eq!(keys(&told), BTreeSet::from_iter(ANSWER_KEYS.into_iter().chain(["approval_id"])));
        assert_eq!(
            (&told["success"], &told["output"], &told["duration_ms"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
        let read = agent.get(&place_of(&parked)).await.json();
        assert_eq!((&read["status"], &read["approval_id"]), (&json!("needs_approval"), &told["approval_id"]));
        assert_eq!(agent.trail(&parked.text_at("/run_id")).await, ["tool.needs_approval"]);

        let approval = approval(&approver, &parked.text_at("/approval_id")).await;
        let named = [
            "id",
            "run_id",
            "tool",
            "version",
            "input",
            "level",
            "reason",
            "rule",
            "requested_by",
            "requested_at",
            "expires_at",
            "status",
            "decided_by",
            "decided_at",
            "note",
            "changes",
        ];
        assert_eq!(keys(&approval), BTreeSet::from(named));
        assert_eq!(
            (&approval["status"], &approval["level"], &approval["tool"]),
            (&json!("pending"), &json!("write"), &json!("test.write"))
        );
        assert_eq!(
            approval["input"],
            json!({ "file": world.ledger("w"), "line": "one", "before_ms": 0, "after_ms": 0 })
        );
        for key in ["decided_by", "decided_at", "note", "changes"] {
            assert!(approval[key].is_null(), "{key}: {approval}");
        }
        assert!(lines(&world).is_empty());

        // Waiting in vain ends with the same answer.
        let body = json!({ "input": { "file": world.ledger("w"), "line": "two" }, "wait_ms": 30 });
        let waited = call(&agent, "test.write", &body).await;
        waited.is("202 needs_approval");
        place_of(&waited);
        assert!(waited.json()["approval_id"].is_string());
        // A person's own call is its own approval.
        let member = world.client(&server, "acme", Role::Member).await;
        member
            .run("test.write", json!({ "file": world.ledger("w"), "line": "by hand" }))
            .await
            .is("200 success");
        assert_eq!(lines(&world), ["by hand"]);
    }

    async fn waiting_caller_gets_the_result_or_the_refusal(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let wait = |line: &str| {
            let (agent, body) = (
                agent.clone(),
                json!({ "input": { "file": world.ledger("w"), "line": line }, "wait_ms": 60_000 }),
            );
            tokio::spawn(async move { call(&agent, "test.write", &body).await })
        };
        let waiting = wait("allowed");
        let id = only_pending(&approver).await;
        let approved = approve(&approver, &id, &json!({ "note": "fine" })).await;
        approved.is("200 success");
        let answer = waiting.await.unwrap();
        answer.is("200 success");
        assert_eq!(answer.text_at("/run_id"), approved.text_at("/run_id"));
        assert_eq!(answer.json()["output"], json!({ "done": "allowed" }));
        assert_eq!(keys(&answer.json()), BTreeSet::from(ANSWER_KEYS));
        assert_eq!(lines(&world), ["allowed"]);

        let waiting = wait("denied");
        let id = only_pending(&approver).await;
        let denied = deny(&approver, &id, &json!({ "note": "not today" })).await;
        assert_eq!(
            (denied.status.as_u16(), denied.text_at("/status"), denied.text_at("/note")),
            (200, "denied".to_owned(), "not today".to_owned())
        );
        let me = approver.get("/api/me").await.text_at("/principal/user_id");
        assert!(denied.text_at("/decided_by").contains(&me), "{}", denied.text);
        let answer = waiting.await.unwrap();
        answer.is("200 cancelled");
        let told = answer.json();
        assert_eq!((&told["error_code"], &told["success"]), (&json!("DENIED"), &json!(false)));
        assert_eq!(told["error"], "not today");
        assert_eq!(lines(&world), ["allowed"]);
        let run = answer.text_at("/run_id");
        assert_eq!(agent.trail(&run).await, ["tool.needs_approval", "tool.cancelled"]);
        let events = agent.get(&format!("/api/sessions/{run}/events")).await.json();
        assert_eq!(events["items"][1]["payload"]["note"], "not today");
        assert_eq!(events["items"][1]["payload"]["reason"], "denied");
    }

    async fn approver_may_change_the_input_and_the_change_is_kept(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let parked = park(&world, &agent, "asked").await;
        let id = parked.text_at("/approval_id");
        for (input, code) in [
            (json!({ "file": world.ledger("w") }), "422 MISSING_PARAM"),
            (json!({ "file": world.ledger("w"), "line": [] }), "422 INVALID_PARAMS"),
            (json!({ "file": world.ledger("w"), "line": "x", "more": 1 }), "422 INVALID_PARAMS"),
            (json!([]), "422 INVALID_PARAMS"),
        ] {
            approve(&approver, &id, &json!({ "input": input })).await.is(code);
            assert_eq!(approval(&approver, &id).await["status"], "pending");
        }
        assert!(lines(&world).is_empty());
        approve(&approver, &id, &json!({ "wait_ms": 120_001 })).await.is("422 INVALID_PARAMS");

        let edited = json!({ "input": { "file": world.ledger("w"), "line": "allowed" }, "note": "shorter" });
        approve(&approver, &id, &edited).await.is("200 success");
        assert_eq!(lines(&world), ["allowed"]);
        let decided = approval(&approver, &id).await;
        assert_eq!(decided["changes"], json!([{ "path": "/line", "before": "asked", "after": "allowed" }]));
        assert_eq!((&decided["status"], &decided["note"]), (&json!("approved"), &json!("shorter")));
        let run = parked.text_at("/run_id");
        assert_eq!(agent.get(&format!("/api/runs/{run}")).await.json()["input"]["line"], "allowed");
        let events = agent.get(&format!("/api/sessions/{run}/events")).await.json();
        assert_eq!(events["items"][1]["type"], "tool.approved");
        assert_eq!(events["items"][1]["payload"]["changes"], decided["changes"]);

        // The same input in other words is no change.
        let parked = park(&world, &agent, "as it is").await;
        let same = json!({ "input": { "line": "as it is", "file": world.ledger("w"), "after_ms": 0 } });
        approve(&approver, &parked.text_at("/approval_id"), &same).await.is("200 success");
        assert!(approval(&approver, &parked.text_at("/approval_id")).await["changes"].is_null());
    }

    async fn approver_waits_as_long_as_it_says(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let slow = json!({ "file": world.ledger("w"), "line": "slow", "before_ms": 1500 });
        for wait in [0, 20] {
            let parked = agent.run("test.write", slow.clone()).await;
            let open = approve(&approver, &parked.text_at("/approval_id"), &json!({ "wait_ms": wait })).await;
            assert_eq!(open.status, 202, "{}", open.text);
            assert!(["pending", "running"].contains(&open.text_at("/status").as_str()), "{}", open.text);
            place_of(&open);
            let run = ended(&approver, &open.text_at("/run_id")).await;
            assert_eq!(run["status"], "success");
        }
        let parked = agent.run("test.write", slow.clone()).await;
        approve(&approver, &parked.text_at("/approval_id"), &json!({ "wait_ms": 60_000 }))
            .await
            .is("200 success");
        let parked = agent.run("test.write", slow.clone()).await;
        approve(&approver, &parked.text_at("/approval_id"), &json!({})).await.is("200 success");
        assert_eq!(lines(&world).len(), 4);
        let run = parked.text_at("/run_id");
        assert_eq!(
            agent.trail(&run).await,
            ["tool.needs_approval", "tool.approved", "tool.started", "tool.completed"]
        );
    }

    async fn inbox_shows_what_waits_and_what_became_of_the_rest(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let mut ids = Vec::new();
        for line in ["a", "b", "c", "d", "e"] {
            ids.push(park(&world, &agent, line).await);
        }
        let id = |index: usize| ids[index].text_at("/approval_id");
        approve(&approver, &id(0), &json!({})).await.is("200 success");
        deny(&approver, &id(1), &json!({})).await;
        agent
            .post(&format!("/api/runs/{}/cancel", ids[2].text_at("/run_id")), &json!({}))
            .await
            .is("200 cancelled");
        let listed = async |query: &str| -> Vec<String> {
            let page = approver.get(&format!("/api/approvals{query}")).await.json();
            let items = page["items"].as_array().unwrap();
            assert_eq!(page["total"], items.len(), "{query}");
            items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(listed("").await, [id(3), id(4)], "those that wait, oldest first");
        assert_eq!(listed("?status=pending").await, [id(3), id(4)]);
        assert_eq!(listed("?status=approved").await, [id(0)]);
        assert_eq!(listed("?status=denied").await, [id(1)]);
        assert_eq!(listed("?status=cancelled").await, [id(2)]);
        assert_eq!(listed("?status=expired").await, Vec::<String>::new());
        assert_eq!(listed("?status=all").await, [id(0), id(1), id(2), id(3), id(4)]);
        approver.get("/api/approvals?status=decided").await.is("422 INVALID_PARAMS");
        let first = approver.get("/api/approvals?status=all&limit=2").await.json();
        assert_eq!((first["items"].as_array().unwrap().len(), &first["total"]), (2, &json!(5)));

        // Another tenant has none of it.
        let stranger = world.client(&server, "globex", Role::Approver).await;
        assert_eq!(stranger.get("/api/approvals?status=all").await.json()["total"], 0);
        stranger.get(&format!("/api/approvals/{}", id(3))).await.is("404 NOT_FOUND");
        approve(&stranger, &id(3), &json!({})).await.is("404 NOT_FOUND");
        // Nor may those see or decide who may not.
        for who in [
            world.client(&server, "acme", Role::Member).await,
            world.client(&server, "acme", Role::Viewer).await,
            agent.clone(),
        ] {
            who.get("/api/approvals").await.is("403 NOT_PERMITTED");
            approve(&who, &id(3), &json!({})).await.is("403 NOT_PERMITTED");
            deny(&who, &id(3), &json!({})).await.is("403 NOT_PERMITTED");
        }
        assert_eq!(listed("").await, [id(3), id(4)]);
    }

    async fn approval_is_decided_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let yes = park(&world, &agent, "yes").await.text_at("/approval_id");
        approve(&approver, &yes, &json!({})).await.is("200 success");
        let no = park(&world, &agent, "no").await.text_at("/approval_id");
        assert_eq!(deny(&approver, &no, &json!({})).await.status, 200);
        let parked = park(&world, &agent, "cancelled").await;
        agent
            .post(
                &format!("/api/runs/{}/cancel", parked.text_at("/run_id")),
                &json!({ "reason": "never mind" }),
            )
            .await
            .is("200 cancelled");
        let cancelled = parked.text_at("/approval_id");
        for id in [&yes, &no, &cancelled] {
            approve(&approver, id, &json!({})).await.is("409 ALREADY_DECIDED");
            deny(&approver, id, &json!({ "note": "late" })).await.is("409 ALREADY_DECIDED");
        }
        assert_eq!(approval(&approver, &cancelled).await["status"], "cancelled");
        assert!(approval(&approver, &no).await["note"].is_null());
        assert_eq!(agent.trail(&parked.text_at("/run_id")).await, ["tool.needs_approval", "tool.cancelled"]);

        // Ten at once: one decides, and it happens once.
        let id = park(&world, &agent, "herd").await.text_at("/approval_id");
        let body = json!({});
        let (yes, no) =
            ((0..5).map(|_| approve(&approver, &id, &body)), (0..5).map(|_| deny(&approver, &id, &body)));
        let (yes, no) = tokio::join!(futures::future::join_all(yes), futures::future::join_all(no));
        let decided: Vec<String> = yes.iter().chain(&no).map(Answer::verdict).collect();
        assert_eq!(
            decided.iter().filter(|verdict| *verdict == "409 ALREADY_DECIDED").count(),
            9,
            "{decided:?}"
        );
        let status = approval(&approver, &id).await["status"].clone();
        let written = lines(&world).iter().filter(|line| *line == "herd").count();
        assert_eq!(written, usize::from(status == "approved"));
    }

    async fn approval_of_a_tool_that_changed_is_void(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let (first, edited) = (park(&world, &agent, "one").await, park(&world, &agent, "two").await);
        let waiting = tokio::spawn({
            let (agent, body) = (
                agent.clone(),
                json!({ "input": { "file": world.ledger("w"), "line": "three" }, "wait_ms": 60_000 }),
            );
            async move { call(&agent, "test.write", &body).await }
        });
        eventually("three wait", PATIENCE, async || {
            approver.get("/api/approvals").await.json()["total"] == 3
        })
        .await;
        let third = approver.get("/api/approvals").await.text_at("/items/2/id");
        let raised =
            admin.patch("/api/tools/test.write", &json!({ "permission_level": "destructive" })).await;
        assert_eq!(raised.status, 200, "{}", raised.text);

        approve(&approver, &first.text_at("/approval_id"), &json!({})).await.is("409 SUPERSEDED");
        let other = json!({ "input": { "file": world.ledger("w"), "line": "other" } });
        approve(&approver, &edited.text_at("/approval_id"), &other).await.is("409 SUPERSEDED");
        approve(&approver, &third, &json!({})).await.is("409 SUPERSEDED");
        waiting.await.unwrap().is("200 cancelled");
        for parked in [first, edited] {
            let run = parked.text_at("/run_id");
            let record = agent.get(&format!("/api/runs/{run}")).await.json();
            assert_eq!(
                (&record["status"], &record["error_code"]),
                (&json!("cancelled"), &json!("CANCELLED"))
            );
            assert_eq!(agent.trail(&run).await, ["tool.needs_approval", "tool.cancelled"]);
            let events = agent.get(&format!("/api/sessions/{run}/events")).await.json();
            assert_eq!(events["items"][1]["payload"]["reason"], "superseded");
            assert_eq!(approval(&approver, &parked.text_at("/approval_id")).await["status"], "cancelled");
        }
        // What is only for the eye voids nothing.
        let parked = park(&world, &agent, "four").await;
        assert_eq!(
            admin
                .patch("/api/tools/test.write", &json!({ "name": "Another name", "tags": ["x"] }))
                .await
                .status,
            200
        );
        approve(&approver, &parked.text_at("/approval_id"), &json!({})).await.is("200 success");
        assert_eq!(lines(&world), ["four"]);
    }

    async fn destructive_calls_ask_and_policies_decide_about_the_rest(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let set = async |tool: &str, change: Value| {
            let changed = admin.patch(&format!("/api/tools/{tool}"), &change).await;
            assert_eq!(changed.status, 200, "{}", changed.text);
        };
        let tenant = async |settings: Value| {
            let changed = admin.patch("/api/tenants/current", &json!({ "settings": settings })).await;
            assert_eq!(changed.status, 200, "{}", changed.text);
        };
        let line = json!({ "file": world.ledger("w"), "line": "x" });
        let write = async || agent.run("test.write", line.clone()).await.verdict();
        let destroy = async || agent.run("test.destroy", line.clone()).await.verdict();
        let read = async || agent.run("test.echo", json!({ "value": 1 })).await.verdict();
        let (asks, runs) = ("202 needs_approval", "200 success");

        assert_eq!(
            (write().await.as_str(), destroy().await.as_str(), read().await.as_str()),
            (asks, asks, runs)
        );
        for tool in ["test.write", "test.destroy", "test.echo"] {
            set(tool, json!({ "permission_policy": "auto" })).await;
        }
        assert_eq!(
            (write().await.as_str(), destroy().await.as_str(), read().await.as_str()),
            (runs, asks, runs)
        );
        tenant(json!({ "approve_all_writes": true })).await;
        assert_eq!(
            (write().await.as_str(), destroy().await.as_str(), read().await.as_str()),
            (asks, asks, runs)
        );
        tenant(json!({ "approve_all_writes": false })).await;
        assert_eq!(write().await, runs);
        tenant(json!({ "approve_all_writes": true })).await;
        tenant(json!({ "approve_all_writes": null })).await;
        assert_eq!(write().await, runs, "a setting can be taken back");
        set("test.echo", json!({ "permission_policy": "always_ask" })).await;
        set("test.write", json!({ "permission_policy": null })).await;
        assert_eq!((write().await.as_str(), read().await.as_str()), (asks, asks));
        set("test.echo", json!({ "permission_policy": null, "permission_level": "destructive" })).await;
        assert_eq!(read().await, asks);
        // People are not asked about their own calls.
        let member = world.client(&server, "acme", Role::Member).await;
        member.run("test.destroy", line.clone()).await.is(runs);
        // The level goes up only.
        admin
            .patch("/api/tools/test.destroy", &json!({ "permission_level": "read" }))
            .await
            .is("422 INVALID_PARAMS");
        assert_eq!(destroy().await, asks);
        // Another tenant has settings of its own.
        let stranger = world.agent(&server, "globex").await;
        stranger.run("test.write", line.clone()).await.is(asks);
        stranger.run("test.echo", json!({ "value": 1 })).await.is(runs);
        assert_eq!(lines(&world).len(), 4);
        assert_eq!(runs_of(&member).await, 1);
    }

    async fn owner_of_an_agent_decides_for_it_only_where_that_is_allowed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        // The agent's key belongs to the admin.
        let agent = world.agent(&server, "acme").await;
        let owner = world.client(&server, "acme", Role::Admin).await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let ask = async |tool: &str| {
            let parked = agent.run(tool, json!({ "file": world.ledger("w"), "line": tool })).await;
            parked.is("202 needs_approval").text_at("/approval_id")
        };
        let forbid = async |setting: Value| {
            let settings = json!({ "settings": { "forbid_self_approval": setting } });
            assert_eq!(owner.patch("/api/tenants/current", &settings).await.status, 200);
        };
        approve(&owner, &ask("test.write").await, &json!({})).await.is("200 success");
        let destructive = ask("test.destroy").await;
        assert_eq!(approval(&owner, &destructive).await["rule"], "destructive");
        let refused = approve(&owner, &destructive, &json!({})).await;
        refused.is("403 NOT_PERMITTED");
        assert_eq!(refused.json()["params"]["reason"], "self_approval");
        deny(&owner, &destructive, &json!({})).await.is("403 NOT_PERMITTED");
        approve(&approver, &destructive, &json!({})).await.is("200 success");
        forbid(json!(true)).await;
        let write = ask("test.write").await;
        approve(&owner, &write, &json!({})).await.is("403 NOT_PERMITTED");
        assert_eq!(approval(&owner, &write).await["status"], "pending");
        approve(&approver, &write, &json!({})).await.is("200 success");
        forbid(json!(false)).await;
        approve(&owner, &ask("test.destroy").await, &json!({})).await.is("200 success");
        forbid(Value::Null).await;
        approve(&owner, &ask("test.destroy").await, &json!({})).await.is("403 NOT_PERMITTED");
        assert_eq!(lines(&world), ["test.write", "test.destroy", "test.write", "test.destroy"]);
    }

    /// An agent that has lost its right meanwhile does not get what was allowed to it.
    async fn approved_call_of_a_revoked_owner_is_not_made(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let parked = park(&world, &agent, "gone").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        world.add_user("acme", "second@acme.example", Role::Admin).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        let owner = admin.get("/api/me").await.text_at("/principal/user_id");
        let demoted = admin.patch(&format!("/api/users/{owner}"), &json!({ "role": "viewer" })).await;
        assert_eq!(demoted.status, 200, "{}", demoted.text);
        approve(&approver, &parked.text_at("/approval_id"), &json!({ "wait_ms": 20_000 }))
            .await
            .is("200 cancelled");
        assert!(lines(&world).is_empty());
        assert_eq!(approver.trail(&parked.text_at("/run_id")).await.last().unwrap(), "tool.cancelled");
    }
}
