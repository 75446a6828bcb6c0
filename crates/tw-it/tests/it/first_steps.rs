//! What a newcomer does first.

use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, on_both};

use crate::world::{World, lines_of};

on_both! {
    async fn call_is_answered_recorded_and_readable(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;

        let answer = member.run("test.echo", json!({ "value": { "a": [1, 2.5, null] } })).await;

        answer.is("200 success");
        assert_eq!(answer.json()["output"], json!({ "value": { "a": [1, 2.5, null] } }));
        let run = answer.text_at("/run_id");
        assert_eq!(member.trail(&run).await, ["tool.started", "tool.completed"]);
        let stored = member.get(&format!("/api/runs/{run}")).await.json();
        assert_eq!(stored["output"], answer.json()["output"]);
        assert_eq!(stored["input"], json!({ "value": { "a": [1, 2.5, null] } }));
        assert_eq!(stored["source"], "api");
    }

    async fn agents_write_waits_for_a_person_and_then_happens_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let ledger = world.ledger("writes");

        let parked = agent.run("test.write", json!({ "file": ledger, "line": "one" })).await;
        parked.is("202 needs_approval");
        assert!(lines_of(&ledger).is_empty());
        let approval = parked.text_at("/approval_id");
        let approved = approver.post(&format!("/api/approvals/{approval}/approve"), &json!({})).await;

        approved.is("200 success");
        assert_eq!(lines_of(&ledger), ["one"]);
        let run = parked.text_at("/run_id");
        let trail = approver.trail(&run).await;
        assert_eq!(trail, ["tool.needs_approval", "tool.approved", "tool.started", "tool.completed"]);
        approver.post(&format!("/api/approvals/{approval}/approve"), &json!({})).await.is("409 ALREADY_DECIDED");
        assert_eq!(lines_of(&ledger), ["one"]);
    }
}
