//! Calls that wait while their tool changes.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, call, echo, number, publish, with};
use crate::world::World;

on_both! {
    async fn approval_is_for_the_definition_it_was_asked_about(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let body = with(&echo("weighty"), &json!({ "permission_level": "write", "publish": true }));
        author.post("/api/tools", &body).await.is("201 published");
        let park = async |body: Value| call(&agent, "weighty", &body).await;
        let approve =
            async |id: &str| approver.post(&format!("/api/approvals/{id}/approve"), &json!({})).await;
        let plain = json!({ "input": { "a": 1 } });

        // A draft changes nothing for those who wait, nor does a number.
        let parked = park(plain.clone()).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        author
            .patch(&at("weighty"), &json!({ "implementation": { "method": "PUT" }, "tags": ["t"] }))
            .await
            .is("200 published");
        number(&author, "weighty", "1.1.0").await.is("200 published");
        assert_eq!(approve(&id).await.is("200 success").text_at("/version"), "1.0.0");

        // What goes live does.
        let parked = park(plain.clone()).await;
        let (id, run) = (parked.is("202 needs_approval").text_at("/approval_id"), parked.text_at("/run_id"));
        let pinned = park(with(&plain, &json!({ "version": "1.0.0" }))).await;
        let pinned_id = pinned.is("202 needs_approval").text_at("/approval_id");
        publish(&author, "weighty").await.is("200 published");
        approve(&id).await.is("409 SUPERSEDED");
        assert_eq!(agent.trail(&run).await, ["tool.needs_approval", "tool.cancelled"]);
        let ended = agent.get(&format!("/api/runs/{run}")).await.json();
        assert_eq!(ended["status"], "cancelled");
        // A pinned version is what it was.
        let approved = approve(&pinned_id).await;
        assert_eq!(approved.is("200 success").text_at("/version"), "1.0.0");

        // The same number again, with something else behind it.
        let parked = park(with(&plain, &json!({ "version": "1.1.0" }))).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        let change = json!({ "implementation": { "method": "POST" }, "publish": true });
        author.patch(&at("weighty"), &change).await.is("200 published");
        approve(&id).await.is("409 SUPERSEDED");

        // The gate itself, and a tool that is gone.
        let parked = park(plain.clone()).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        author.patch(&at("weighty"), &json!({ "permission_policy": "always_ask" })).await.is("200 published");
        approve(&id).await.is("409 SUPERSEDED");
        let parked = park(plain.clone()).await;
        let id = parked.is("202 needs_approval").text_at("/approval_id");
        let pinned = park(with(&plain, &json!({ "version": "1.0.0" }))).await;
        let pinned_id = pinned.is("202 needs_approval").text_at("/approval_id");
        author.delete(&at("weighty")).await.is("204");
        author.post("/api/tools", &body).await.is("201 published");
        for id in [id, pinned_id] {
            let refused = approve(&id).await;
            assert!(matches!(refused.status.as_u16(), 404 | 409), "{}", refused.text);
        }
        let ran = approver.get("/api/runs?tool=weighty&status=success").await.json();
        assert_eq!(ran["total"], 2, "{ran}");
    }
}
