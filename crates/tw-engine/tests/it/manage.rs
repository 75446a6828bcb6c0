//! `manageTools`: an agent asks, a person approves, and the right is that of the person behind the agent.

use serde_json::{Value, json};
use tw_base::{Error, PageRequest};
use tw_identity::rights::{ReadAudit, ReadTools, UpdateTools, WriteMembers};
use tw_model::{Policy, Role, RunStatus};
use tw_registry::EditContext;
use tw_store::AuditFilter;
use tw_store::{By, Override};
use tw_test::{TestDb, on_both};

use crate::world::{Server, World, refused, told};

fn greet() -> Value {
    json!({
        "action": "create", "slug": "greet", "name": "Greet", "description": "Says whom to greet.",
        "implementation_type": "internal",
        "fields": [{ "name": "who", "type": "text", "required": true }],
    })
}

/// What came of an approved call of an agent that belongs to the admin.
async fn approved(server: &Server, input: Value) -> Value {
    let answer = server.call("bot", "manageTools", input).await;
    assert_eq!(told(&answer), "needs_approval");
    let answer = answer.unwrap();
    server.approve("approver", answer.approval.unwrap()).await.unwrap();
    let run = server.ended(answer.run.id).await;
    let output = run.output.as_deref().map(|output| serde_json::from_str(output.get()).unwrap());
    output.unwrap_or_else(
        || json!({ "error": run.error, "code": run.error_code, "status": run.status.as_str() }),
    )
}

async fn exists(server: &Server, slug: &str) -> bool {
    let permit = server.permit::<ReadTools>("admin").await.unwrap();
    match server.engine.registry().tool(&permit, slug).await {
        Ok(_) => true,
        Err(Error::ToolNotFound { .. }) => false,
        Err(error) => panic!("{}", refused(&error)),
    }
}

on_both! {
    async fn agent_has_a_tool_made_changed_and_removed_once_a_person_approves(db: TestDb) {
        let world = World::pair(db).await;
        let server = world.one();
        server.new_agent_key("bot").await;

        let asked = server.call("bot", "manageTools", greet()).await.unwrap();
        assert_eq!(asked.run.status, RunStatus::NeedsApproval);
        assert!(!exists(server, "greet").await, "nothing is written before somebody approves");
        server.approve("approver", asked.approval.unwrap()).await.unwrap();
        assert_eq!(server.ended(asked.run.id).await.status, RunStatus::Success);

        let called = world.other().call("member", "greet", json!({ "who": "Ada" })).await;
        assert_eq!(told(&called), r#"success {"success":true,"args":{"who":"Ada"}}"#);
        let kinds: Vec<_> = server
            .engine
            .registry().tool_history(&server.permit("admin").await.unwrap(), "greet", None, &PageRequest::new(None, None, None).unwrap())
            .await
            .unwrap()
            .items
            .iter()
            .map(|entry| (entry.note.as_str(), entry.author.contains(r#""slug":"helper""#)))
            .collect();
        assert_eq!(kinds, [("publish", true), ("save", true)], "both, and by the agent");

        let changed = approved(server, json!({ "action": "update", "slug": "greet", "name": "Greet them" })).await;
        assert_eq!((&changed["tool"]["name"], &changed["tool"]["has_draft"]), (&json!("Greet them"), &json!(true)));
        let live = json!({ "action": "update", "slug": "greet", "icon": "hand", "publish": true });
        assert_eq!(approved(server, live).await["tool"]["has_draft"], false);
        let listed = approved(server, json!({ "action": "list", "q": "greet" })).await;
        assert_eq!((&listed["total"], &listed["tools"][0]["slug"]), (&json!(1), &json!("greet")));
        let got = approved(server, json!({ "action": "get", "slug": "GREET" })).await;
        assert_eq!(got["tool"]["input_schema"]["required"], json!(["who"]));
        let gone = approved(server, json!({ "action": "delete", "slug": "greet" })).await;
        assert_eq!(gone, json!({ "action": "delete", "deleted": "greet" }));
        assert!(!exists(server, "greet").await);

        let permit = server.permit::<ReadAudit>("admin").await.unwrap();
        let page = PageRequest::new(None, None, None).unwrap();
        let lines = server.engine.identity().audit(&permit, &AuditFilter::default(), &page).await.unwrap();
        let made = lines.items.iter().find(|line| line.action == "tool.created_and_published").unwrap();
        assert_eq!(made.request_id, Some(asked.run.id.to_string()));
        assert_eq!(made.actor["owner"], json!(world.user("admin")));
    }

    async fn call_that_could_not_be_done_errors_at_once_and_nobody_is_asked(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        server.new_agent_key("bot").await;
        let without = |field: &str| {
            let mut input = greet();
            input.as_object_mut().unwrap().shift_remove(field);
            input
        };
        let with = |field: &str, value: Value| {
            let mut input = greet();
            input[field] = value;
            input
        };
        for (input, expected) in [
            (without("action"), "MISSING_PARAM: Missing required param: action"),
            (without("slug"), "INVALID_PARAMS: manageTools.create requires 'slug'\n  /slug is required"),
            (without("name"), "INVALID_PARAMS: manageTools.create requires 'name'\n  /name is required"),
            (json!({ "action": "delete" }), "INVALID_PARAMS: manageTools.delete requires 'slug'\n  /slug is required"),
            (json!({ "action": "get", "slug": "nothing" }), "TOOL_NOT_FOUND: there is no tool named `nothing`"),
            (with("slug", json!("test.write")), "CONFLICT: there is a tool `test.write` already"),
            (with("status", json!("published")), "INVALID_PARAMS: `status` must be set to `published` by"),
            (json!({ "action": "update", "slug": "test.write", "input_schema": { "type": "object" } }),
             "INVALID_PARAMS: `input_schema` cannot be changed in a built-in tool"),
        ] {
            let answer = told(&server.call("bot", "manageTools", input.clone()).await);
            assert!(answer.starts_with(expected), "{input}: {answer}");
        }
        let unknown = server.call("bot", "manageTools", json!({ "action": "sell" })).await;
        assert!(told(&unknown).starts_with("INVALID_PARAMS"), "{}", told(&unknown));
        assert_eq!(server.count_runs().await, 0);
    }

    async fn right_is_that_of_the_person_behind_the_agent_at_the_moment_it_is_done(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        // `agent` belongs to a member, who may look and run but not write.
        let answer = server.call("agent", "manageTools", greet()).await;
        assert_eq!(told(&answer), "NOT_PERMITTED: this needs the permission `tools.tenant.publish`");
        let answer = server.call("member", "manageTools", greet()).await;
        assert_eq!(told(&answer), "NOT_PERMITTED: this needs the permission `tools.tenant.publish`");
        let seen = server.call("member", "manageTools", json!({ "action": "list", "q": "test.write" })).await.unwrap();
        assert_eq!(seen.run.status, RunStatus::Success, "a person's own call is its own approval");

        // Who loses the right while the call waits has lost it.
        let permit = server.permit::<WriteMembers>("admin").await.unwrap();
        let owner = world.user("owner");
        server.engine.identity().set_role(&permit, owner, Role::Builder, None).await.unwrap();
        let asked = server.call("agent", "manageTools", greet()).await.unwrap();
        server.engine.identity().set_role(&permit, owner, Role::Member, None).await.unwrap();
        let _ = server.approve("approver", asked.approval.unwrap()).await;
        let ended = server.ended(asked.run.id).await;
        assert_eq!(ended.status, RunStatus::Cancelled);
        assert!(ended.error.as_deref().unwrap_or_default().contains("tools.tenant.publish"), "{ended:?}");
        assert!(!exists(server, "greet").await);
    }

    async fn question_cannot_be_taken_away(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        server.new_agent_key("bot").await;
        let relaxed = json!({ "action": "update", "slug": "manageTools", "permission_policy": "auto" });
        let answer = server.call("bot", "manageTools", relaxed).await;
        assert!(told(&answer).starts_with("INVALID_PARAMS: `permission_policy` must be `always_ask`"), "{}", told(&answer));
        let permit = server.permit::<UpdateTools>("admin").await.unwrap();
        let change = json!({ "permission_policy": "auto" });
        let changed = server.engine.registry().change_tool(&permit, "manageTools", &change, EditContext::default()).await;
        assert!(matches!(changed, Err(Error::InvalidParams { .. })));

        // Not even by whoever writes to the database.
        let layer = Override { permission_policy: Some(Policy::Auto), ..Override::default() };
        let slug = "manageTools".parse().unwrap();
        server.scope().set_override(&slug, layer, None, &By::operator()).await.unwrap();
        let answer = server.call("bot", "manageTools", json!({ "action": "list" })).await;
        assert_eq!(told(&answer), "needs_approval");
    }

    async fn page_of_the_manual_is_true(db: TestDb) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools/manageTools.md");
        let page = std::fs::read_to_string(path).unwrap();
        let blocks = |mark: &str| -> Vec<Value> {
            let opening = format!("```json {mark}\n");
            let texts = page.split(&opening).skip(1).filter_map(|rest| rest.split("```").next());
            texts.map(|text| serde_json::from_str(text).unwrap()).collect()
        };
        let (inputs, outputs) = (blocks("input"), blocks("output"));
        assert!(!inputs.is_empty() && inputs.len() == outputs.len());
        let world = World::new(db).await;
        let server = world.one();
        server.new_agent_key("bot").await;
        for (input, output) in inputs.into_iter().zip(outputs) {
            assert_eq!(approved(server, input).await, output);
        }
        let definition = tw_registry::manage_tools();
        for name in definition.input_schema["properties"].as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{name}`")), "the page says nothing of `{name}`");
        }
    }
}
