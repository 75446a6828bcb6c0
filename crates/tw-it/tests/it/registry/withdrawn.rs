//! Versions that are taken out of use.

use serde_json::{Value, json};
use tw_model::Role;
use tw_store::{By, NewAudit};
use tw_test::{TestDb, on_both};

use super::{at, audited, call, history, live, number, publish};
use crate::world::{Answer, Client, World};

async fn withdraw(who: &Client, slug: &str, version: &str) -> Answer {
    who.post(&format!("/api/tools/{slug}/versions/{version}/withdraw"), &json!({})).await
}

on_both! {
    async fn withdrawn_version_runs_for_nobody_and_its_number_never_comes_back(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        live(&author, "counted").await;
        number(&author, "counted", "2.0.0").await.is("200 published");
        publish(&author, "counted").await.is("200 published");
        let pinned = json!({ "input": { "a": 1 }, "version": "1.0.0" });
        call(&member, "counted", &pinned).await.is("200 success");
        author.patch(&at("counted"), &json!({ "permission_policy": "always_ask" })).await.is("200 published");
        let parked = call(&agent, "counted", &pinned).await;
        let approval = parked.is("202 needs_approval").text_at("/approval_id");

        withdraw(&member, "counted", "1.0.0").await.is("403 NOT_PERMITTED");
        for missing in ["7.0.0", "1", "nonsense"] {
            withdraw(&author, "counted", missing).await.is("404 NOT_FOUND");
        }
        withdraw(&author, "counted", "2.0.0").await.is("409 CONFLICT");
        withdraw(&author, "test.echo", "1.0.0").await.is("409 CONFLICT");
        withdraw(&author, "nothing", "1.0.0").await.is("404 TOOL_NOT_FOUND");
        let done = withdraw(&author, "counted", "1.0.0").await;
        assert_eq!(done.status, 200, "{}", done.text);
        let item = done.json();
        assert!(item["withdrawn_at"].is_string() && item["version"] == "1.0.0", "{item}");
        assert_eq!(withdraw(&author, "counted", "1.0.0").await.json(), item);

        for who in [&member, &author, &agent] {
            call(who, "counted", &pinned).await.is("409 VERSION_WITHDRAWN");
        }
        let refused = author.get("/api/audit?action=call.refused&object=tool:counted").await.json();
        assert_eq!(refused["items"][0]["after"]["code"], "VERSION_WITHDRAWN", "{refused}");
        author.post(&format!("/api/approvals/{approval}/approve"), &json!({})).await.is("409 SUPERSEDED");
        member.run("counted", json!({ "a": 1 })).await.is("200 success");
        let marked: Vec<Value> = history(&author, "counted").await;
        let marked = marked.iter().filter(|entry| !entry["withdrawn_at"].is_null());
        assert!(marked.clone().count() == 1 && marked.clone().all(|entry| entry["version"] == "1.0.0"));
        assert_eq!(audited(&author, "counted").await.iter().filter(|action| *action == "tool.version_withdrawn").count(), 1);

        number(&author, "counted", "3.0.0").await.is("200 published");
        assert_eq!(withdraw(&author, "counted", "3.0.0").await.status, 200);
        publish(&author, "counted").await.is("409 CONFLICT");
        number(&author, "counted", "3.0.1").await.is("200 published");
        publish(&author, "counted").await.is("200 published");
    }

    async fn approvals_that_wait_on_a_withdrawn_version_are_superseded_at_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        for slug in ["counted", "other"] {
            live(&author, slug).await;
            number(&author, slug, "2.0.0").await.is("200 published");
            publish(&author, slug).await.is("200 published");
            author.patch(&at(slug), &json!({ "permission_policy": "always_ask" })).await.is("200 published");
        }
        let ask = async |slug: &str, version: &str| {
            let parked = call(&agent, slug, &json!({ "input": { "a": 1 }, "version": version })).await;
            parked.is("202 needs_approval").json()
        };
        let (old, again) = (ask("counted", "1.0.0").await, ask("counted", "1.0.0").await);
        let others = [ask("counted", "2.0.0").await, ask("other", "1.0.0").await];

        assert_eq!(withdraw(&author, "counted", "1.0.0").await.status, 200);

        let approval_of = async |parked: &Value| {
            author.get(&format!("/api/approvals/{}", parked["approval_id"].as_str().unwrap())).await.json()
        };
        for parked in [&old, &again] {
            assert_eq!(approval_of(parked).await["status"], "cancelled");
            let run = parked["run_id"].as_str().unwrap();
            let ended = author.get(&format!("/api/runs/{run}")).await.json();
            assert_eq!((&ended["status"], &ended["error"]), (&json!("cancelled"), &json!("version 1.0.0 was withdrawn")));
            assert_eq!(agent.trail(run).await, ["tool.needs_approval", "tool.cancelled"]);
            let session = ended["session_id"].as_str().unwrap();
            let events = author.get(&format!("/api/sessions/{session}/events")).await.json();
            assert_eq!(events["items"][1]["payload"]["reason"], "superseded", "{events}");
        }
        for parked in &others {
            assert_eq!(approval_of(parked).await["status"], "pending");
        }
        // Once more changes nothing.
        assert_eq!(withdraw(&author, "counted", "1.0.0").await.status, 200);
        assert_eq!(agent.trail(old["run_id"].as_str().unwrap()).await.len(), 2);
    }

    async fn what_a_server_that_died_left_open_is_superseded_by_the_next_withdrawal_or_decision(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        live(&author, "counted").await;
        number(&author, "counted", "2.0.0").await.is("200 published");
        publish(&author, "counted").await.is("200 published");
        author.patch(&at("counted"), &json!({ "permission_policy": "always_ask" })).await.is("200 published");
        let mut approvals = Vec::new();
        for _ in 0..2 {
            let parked = call(&agent, "counted", &json!({ "input": { "a": 1 }, "version": "1.0.0" })).await;
            approvals.push(parked.is("202 needs_approval").text_at("/approval_id"));
        }
        // As a server leaves it that dies right after the withdrawal.
        let tenant = world.store().find_tenant(&crate::world::slug("acme")).await.unwrap().unwrap();
        let tool = author.get(&at("counted")).await.text_at("/id").parse().unwrap();
        let (action, object) = ("tool.version_withdrawn".to_owned(), "tool:counted".to_owned());
        let audit = NewAudit { action, object, before: None, after: None, note: None };
        world.store().tenant(tenant).withdraw_version(tool, "1.0.0", audit, &By::operator()).await.unwrap();

        let decided = author.post(&format!("/api/approvals/{}/approve", approvals[0]), &json!({})).await;
        decided.is("409 SUPERSEDED");
        assert_eq!(withdraw(&author, "counted", "1.0.0").await.status, 200);
        for id in approvals {
            assert_eq!(author.get(&format!("/api/approvals/{id}")).await.text_at("/status"), "cancelled");
        }
    }
}
