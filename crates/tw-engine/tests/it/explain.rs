//! Why somebody sees or may call a tool, and the operator's switch for everybody.

use serde_json::json;
use tw_base::Result;
use tw_engine::Operator;
use tw_identity::rights::{ReadTools, UpdateTools};
use tw_registry::{ExplainAbout, Explained};
use tw_test::{TestDb, on_both};

use crate::world::{Server, World, told, until};

async fn explain(server: &Server, tool: &str, subject: ExplainAbout) -> Result<Explained> {
    let permit = server.permit::<UpdateTools>("admin").await.unwrap();
    server.engine.registry().explain_tool(&permit, tool, subject).await
}

/// Whether it is seen, whether it can be called, the decision, what decided, and the checks that failed.
fn gist(explained: &Explained) -> String {
    let failed: Vec<_> =
        explained.checks.iter().filter(|check| !check.passed).map(|check| check.check).collect();
    let Explained { visible, callable, decision, rule, .. } = explained;
    format!("{visible} {callable} {decision:?} {rule} {}", failed.join(",")).trim_end().to_owned()
}

on_both! {
    async fn explanation_says_what_a_call_would_do(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (member, viewer) = (ExplainAbout::User(world.user("member")), ExplainAbout::User(world.user("viewer")));
        let agent = ExplainAbout::Key(server.key_id("agent"));
        for (tool, subject, expected) in [
            ("test.write", ExplainAbout::Asker, "true true Allow persons_own_call"),
            ("test.write", member, "true true Allow persons_own_call"),
            ("test.write", agent, "true true Ask level_write"),
            ("test.destroy", agent, "true true Ask destructive"),
            ("test.write", viewer, "true false Deny may_run may_run"),
            ("test.secret", member, "false false Deny required_permission required_permission"),
            ("manageTools", agent, "true true Ask policy_always_ask"),
        ] {
            let explained = explain(server, tool, subject).await.unwrap();
            assert_eq!(gist(&explained), expected, "{tool} {subject:?}: {explained:?}");
        }

        server.change_tool("test.write", json!({ "enabled": false, "is_active": false })).await;
        let explained = explain(server, "test.write", member).await.unwrap();
        assert_eq!(gist(&explained), "false false Deny switched_on_here switched_on_here,active");
        assert_eq!(explained.reason, "this tenant has switched it off");
        server.change_tool("test.write", json!({ "enabled": null, "is_active": null, "status": "deprecated" })).await;
        let explained = explain(server, "test.write", member).await.unwrap();
        assert_eq!(gist(&explained), "true false Deny status status");

        let names: Vec<_> = explained.checks.iter().map(|check| check.check).collect();
        assert_eq!(names, [
            "exists", "tenant_allow_list", "switched_on_for_everybody", "switched_on_here", "required_permission",
            "not_disabled", "active", "not_held", "known_kind", "status", "may_run", "policy",
        ]);
    }

    async fn explanation_of_a_key_that_does_not_work_says_so(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let key = ExplainAbout::Key(server.key_id("stranger"));
        assert_eq!(gist(&explain(server, "test.write", key).await.unwrap()), "true true Allow persons_own_call");
        server.revoke("stranger").await;
        let explained = explain(server, "test.write", key).await.unwrap();
        assert_eq!(gist(&explained), "false false Deny credentials credentials");
        assert_eq!(explained.reason, "the key is revoked");
    }

    async fn nobody_is_told_of_what_is_not_here(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let refused = async |tool: &str, subject| {
            explain(server, tool, subject).await.map_or_else(|error| error.code().to_string(), |e| format!("{e:?}"))
        };
        assert_eq!(refused("nothing", ExplainAbout::Asker).await, "TOOL_NOT_FOUND");
        assert_eq!(refused("test.hidden", ExplainAbout::Asker).await, "TOOL_NOT_FOUND");
        assert_eq!(refused("test.write", ExplainAbout::User(tw_model::UserId::new())).await, "NOT_FOUND");
        assert_eq!(refused("test.write", ExplainAbout::Key(tw_model::KeyId::new())).await, "NOT_FOUND");
        assert!(server.permit::<UpdateTools>("member").await.is_err() && server.permit::<UpdateTools>("agent").await.is_err());
    }

    async fn operator_takes_a_tool_from_every_tenant_and_gives_it_back(db: TestDb) {
        let world = World::pair(db).await;
        let operator = Operator::new(world.one().store.clone());
        let slug = "test.write".parse().unwrap();
        let input = json!({ "key": "for everybody" });
        let all = async |expected: &str| {
            for server in world.servers() {
                // A call is refused or let through at once; a list, once the server has heard of it.
                let answer = server.call("member", "test.write", input.clone()).await;
                assert!(told(&answer).starts_with(expected), "{}", told(&answer));
                until("everybody sees it", async || {
                    let permit = server.permit::<ReadTools>("member").await.unwrap();
                    let seen = server.engine.registry().tool(&permit, "test.write").await.is_ok();
                    (seen == (expected == "success")).then_some(())
                })
                .await;
            }
        };
        all("success").await;
        operator.switch_for_everybody(&slug, Some(false)).await.unwrap();
        all("TOOL_NOT_FOUND").await;
        // What is off for everybody is not switched on by one.
        world.one().change_tool("test.write", json!({ "enabled": true })).await;
        all("TOOL_NOT_FOUND").await;
        let explained = explain(world.one(), "test.write", ExplainAbout::Asker).await.unwrap();
        assert_eq!(explained.rule, "switched_on_for_everybody");
        operator.switch_for_everybody(&slug, None).await.unwrap();
        all("success").await;

        let refused = operator.switch_for_everybody(&"nothing.here".parse().unwrap(), Some(false)).await;
        assert_eq!(refused.unwrap_err().to_string(), "there is no tool named `nothing.here`");
    }
}
