//! Versions that are taken out of use.

use serde_json::{Value, json};
use tw_model::Role;
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
}
