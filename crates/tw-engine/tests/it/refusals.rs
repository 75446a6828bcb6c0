//! Calls that never start. They leave no run, and an agent's leaves a line in the audit log.

use expect_test::expect;
use serde_json::{Value, json};
use tw_base::{Error, PageRequest};
use tw_engine::CallRequest;
use tw_identity::rights::ReadAudit;
use tw_store::AuditFilter;
use tw_test::{TestDb, on_both};

use crate::{
    tools::effects,
    world::{Server, World, request, told},
};

async fn audit(server: &Server) -> Vec<String> {
    let permit = server.permit::<ReadAudit>("admin").await.unwrap();
    let filter = AuditFilter { action: Some("call.refused".to_owned()), ..AuditFilter::default() };
    let page = server
        .engine
        .identity()
        .audit(&permit, &filter, &PageRequest::new(None, None, None).unwrap())
        .await
        .unwrap();
    let mut lines: Vec<_> = page
        .items
        .iter()
        .map(|record| {
            let actor: Value = serde_json::from_str(&record.actor.to_string()).unwrap();
            format!("{} {} {}", actor["slug"], record.object, record.note.as_deref().unwrap_or("-"))
        })
        .collect();
    lines.reverse();
    lines
}

on_both! {
    async fn tool_that_is_missing_hidden_or_not_switched_on_is_not_found(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        for tool in ["test.nothing", "test.hidden", "test.optin"] {
            for who in ["admin", "agent"] {
                let answer = server.call(who, tool, json!({ "text": "hi" })).await;
                assert_eq!(told(&answer), format!("TOOL_NOT_FOUND: there is no tool named `{tool}`"));
            }
        }

        assert_eq!(server.count_runs().await, 0);
        expect![[r#"
            "helper" tool:test.nothing there is no tool named `test.nothing`
            "helper" tool:test.hidden there is no tool named `test.hidden`
            "helper" tool:test.optin there is no tool named `test.optin`"#]]
        .assert_eq(&audit(server).await.join("\n"));
    }

    async fn caller_without_the_right_is_refused_and_leaves_no_run(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let input = json!({ "text": "hi" });

        let viewer = server.call("viewer", "test.echo", input.clone()).await;
        assert_eq!(told(&viewer), "NOT_PERMITTED: this needs the permission `tools.tenant.run`");
        for who in ["member", "agent"] {
            let answer = server.call(who, "test.secret", input.clone()).await;
            expect![[r"NOT_PERMITTED: Tool not permitted: test.secret: the caller lacks the permission that the tool requires"]]
                .assert_eq(&told(&answer));
        }
        assert_eq!(server.count_runs().await, 0);
        expect![[r#""helper" tool:test.secret Tool not permitted: test.secret: the caller lacks the permission that the tool requires"#]]
            .assert_eq(&audit(server).await.join("\n"));

        assert_eq!(told(&server.call("admin", "test.secret", input).await), r#"success {"text":"hi"}"#);
    }

    async fn tool_that_is_switched_off_is_refused_on_every_server_at_once(db: TestDb) {
        let world = World::pair(db).await;
        let input = json!({ "key": "switched" });
        let switch = async |change: Value| {
            // Both servers have just used it.
            for server in [world.one(), world.other()] {
                let calm = json!({ "is_active": null, "status": null, "enabled": null });
                server.change_tool("test.write", calm).await;
                server.call("member", "test.write", input.clone()).await.unwrap();
            }
            let before = effects("switched");
            world.one().change_tool("test.write", change).await;
            let answer = world.other().call("agent", "test.write", input.clone()).await;
            assert_eq!(effects("switched"), before);
            told(&answer)
        };

        let inactive = switch(json!({ "is_active": false })).await;
        assert_eq!(inactive, "TOOL_DISABLED: the tool `test.write` is switched off");
        let disabled = switch(json!({ "status": "disabled" })).await;
        assert_eq!(disabled, "TOOL_DISABLED: the tool `test.write` is switched off");
        let old = switch(json!({ "status": "deprecated" })).await;
        assert_eq!(old, "TOOL_NOT_PUBLISHED: the tool `test.write` is deprecated and runs only once it is published");
        let hidden = switch(json!({ "enabled": false })).await;
        assert_eq!(hidden, "TOOL_NOT_FOUND: there is no tool named `test.write`");

        assert_eq!(audit(world.one()).await.len(), 4);
    }

    async fn right_is_asked_before_the_input_is_looked_at(db: TestDb) {
        let world = World::new(db).await;
        let answer = world.one().call("member", "test.secret", json!({ "nonsense": 1 })).await;
        assert!(matches!(answer, Err(Error::NotPermitted { .. })));
    }

    async fn first_missing_field_is_named(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let answer = server.call("member", "test.form", json!({})).await;
        assert_eq!(told(&answer), "MISSING_PARAM: Missing required param: first");
        let answer = server.call("member", "test.form", json!({ "first": "a" })).await;
        assert_eq!(told(&answer), "MISSING_PARAM: Missing required param: second");
        // The others are told as well, whatever is wrong with them.
        let answer = server.call("member", "test.form", json!({ "third": "maybe" })).await.unwrap_err();
        let faults: Vec<_> =
            answer.faults().iter().map(|fault| (fault.path.as_str(), fault.code.as_str())).collect();
        assert_eq!(faults, [("/first", "required"), ("/second", "required"), ("/third", "type")]);

        assert_eq!(server.count_runs().await, 0);
    }

    async fn every_fault_is_told_with_its_place(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let input = json!({ "first": 1, "second": -1, "third": "maybe", "more": [1, "two", 3], "fourth": 4 });
        let answer = server.call("member", "test.form", input).await;

        expect![[r"
            INVALID_PARAMS: the input has 6 faults
              /first must be a string, not a number
              /fourth is not a known property
              /more must have at most 2 items
              /more/1 must be an integer, not a string
              /second must be at least 0
              /third must be a boolean or null, not a string"]]
        .assert_eq(&told(&answer));
        assert_eq!(server.count_runs().await, 0);
    }

    async fn only_an_agents_input_is_read_as_it_was_meant(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let input = json!({ "first": "a", "second": "7", "third": "true", "more": "[1]" });

        let person = server.call("member", "test.form", input.clone()).await;
        assert!(matches!(person, Err(Error::InvalidParams { .. })), "{}", told(&person));
        let agent = server.call("agent", "test.form", input).await;
        assert_eq!(told(&agent), r#"success {"first":"a","second":7,"third":true,"more":[1]}"#);

        let kept = server.stored(agent.unwrap().run.id).await.input.unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(kept.get()).unwrap(),
            json!({ "first": "a", "second": 7, "third": true, "more": [1] })
        );
    }

    async fn version_that_is_not_the_live_one_is_not_found(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let of = |version: &str| CallRequest {
            version: Some(version.to_owned()),
            ..request("test.write", &json!({ "key": "versions" }))
        };

        assert_eq!(told(&server.ask("member", of("1.1.9")).await), "NOT_FOUND: there is no such version of this tool");
        assert_eq!(server.count_runs().await, 0);
        assert_eq!(told(&server.ask("member", of("1.2.0")).await), r#"success {"count":1,"amount":0}"#);
    }
}
