//! A yes that holds for later calls of an agent, and everything that ends it.

use std::collections::BTreeSet;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role};
use tw_test::{Kind, TestDb, on_both};

use super::{ANSWER_KEYS, PATIENCE, RECORD_KEYS, call, keys};
use crate::{
    credentials::execute,
    world::{Answer, Client, Server, World, eventually, lines_of, slug},
};

const ASKS: &str = "202 needs_approval";
const RUNS: &str = "200 success";
const BY_STANDING: [&str; 3] = ["tool.approved", "tool.started", "tool.completed"];

/// A tenant with an agent, somebody who decides, and an admin who owns the agent.
struct Scene {
    world: World,
    server: Server,
    agent: Client,
    approver: Client,
    admin: Client,
}

impl Scene {
    async fn on(db: TestDb) -> Self {
        let world = World::on(db).await;
        let server = world.server();
        let agent = world.agent(&server, "acme").await;
        let approver = world.client(&server, "acme", Role::Approver).await;
        let admin = world.client(&server, "acme", Role::Admin).await;
        Self { world, server, agent, approver, admin }
    }

    fn line(&self, line: &str) -> Value {
        json!({ "file": self.world.ledger("w"), "line": line })
    }

    async fn write(&self, line: &str) -> Answer {
        self.agent.run("test.write", self.line(line)).await
    }

    /// Has a call of the agent approved for later ones as well.
    async fn grant(&self, who: &Client, line: &str, standing: Value) -> String {
        let id = self.write(line).await.is(ASKS).text_at("/approval_id");
        approve(who, &id, standing).await.is(RUNS).text_at("/standing_approval_id")
    }

    /// For all calls that write into the same file.
    async fn grant_file(&self) -> String {
        self.grant(&self.approver, "first", json!({ "for_s": 3600, "fields": ["/file"] })).await
    }

    async fn listed(&self, query: &str) -> Vec<Value> {
        let page = self.admin.get(&format!("/api/standing-approvals{query}")).await.json();
        let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}")).clone();
        assert_eq!(page["total"], items.len(), "{query}");
        items
    }

    async fn status(&self, id: &str) -> String {
        let listed = self.listed("").await;
        let found = listed.iter().find(|item| item["id"] == id).expect("it is listed");
        let status = found["status"].as_str().unwrap().to_owned();
        // The filter says the same.
        let same = self.listed(&format!("?status={status}")).await;
        assert!(same.iter().any(|item| item["id"] == id), "{status}");
        status
    }

    async fn waiting(&self) -> Value {
        self.approver.get("/api/approvals").await.json()["total"].clone()
    }

    async fn patch(&self, path: &str, change: Value) {
        let changed = self.admin.patch(path, &change).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
    }

    fn lines(&self) -> Vec<String> {
        lines_of(&self.world.ledger("w"))
    }

    /// An agent by another key.
    async fn agent_with(&self, agent: &str, role: Role, owner: &str) -> Client {
        let request = KeyRequest {
            name: format!("{agent} of {owner}"),
            role,
            acts_as: ActsAs::Agent,
            agent: Some(agent.to_owned()),
            expires: None,
        };
        let key = self.world.operator().create_key(&slug("acme"), request, Some(owner)).await.unwrap();
        Client::new(&self.server.url, Some(key.text))
    }
}

async fn approve(who: &Client, id: &str, standing: Value) -> Answer {
    who.post(&format!("/api/approvals/{id}/approve"), &json!({ "standing": standing })).await
}

async fn revoke(who: &Client, id: &str) -> Answer {
    who.delete(&format!("/api/standing-approvals/{id}")).await
}

on_both! {
    async fn later_calls_with_the_same_values_are_approved_at_once(db: TestDb) {
        let scene = Scene::on(db).await;
        let asked = scene.write("first").await;
        let wish = json!({ "for_s": 3600, "fields": ["/file"] });
        let approved = approve(&scene.approver, &asked.text_at("/approval_id"), wish).await;
        let id = approved.is(RUNS).text_at("/standing_approval_id");
        let told = approved.json();
        assert_eq!(keys(&told), BTreeSet::from_iter(ANSWER_KEYS.into_iter().chain(["standing_approval_id"])));

        let ran = scene.write("second").await;
        assert_eq!(keys(&ran.is(RUNS).json()), BTreeSet::from(ANSWER_KEYS));
        let run = ran.text_at("/run_id");
        assert_eq!(scene.agent.trail(&run).await, BY_STANDING);
        let events = scene.agent.get(&format!("/api/sessions/{run}/events")).await.json();
        let payload = &events["items"][0]["payload"];
        assert_eq!((&payload["standing"], &payload["standing_approval_id"]), (&json!(true), &json!(id)));
        assert_eq!(events["items"][1]["id"], run.as_str(), "a run has the id of its start");
        let record = scene.agent.get(&format!("/api/runs/{run}")).await.json();
        assert_eq!(keys(&record), BTreeSet::from_iter(ANSWER_KEYS.into_iter().chain(RECORD_KEYS)));
        assert_eq!((&record["input"]["line"], &record["started_at"]), (&json!("second"), &record["requested_at"]));
        assert_eq!(scene.waiting().await, 0);

        let other = json!({ "file": scene.world.ledger("other"), "line": "third" });
        scene.agent.run("test.write", other).await.is(ASKS);
        let listed = scene.listed("").await;
        assert_eq!(keys(&listed[0]), BTreeSet::from([
            "id", "agent", "tool", "fields", "values", "approved_by", "created_at", "expires_at", "uses", "status",
        ]));
        let shown = |name: &str| listed[0][name].clone();
        assert_eq!((shown("agent"), shown("tool")), (json!("bot"), json!("test.write")));
        assert_eq!((shown("fields"), shown("values")), (json!(["/file"]), json!({ "/file": scene.world.ledger("w") })));
        assert_eq!((shown("uses"), shown("status")), (json!(1), json!("active")));
        let me = scene.approver.get("/api/me").await.text_at("/principal/user_id");
        assert_eq!(shown("approved_by"), format!("user:{me}"));
        let audit = scene.admin.get("/api/audit?action=approval.approved").await.json();
        assert_eq!(audit["items"][0]["after"]["standing"]["id"], id.as_str());
        assert_eq!(scene.lines(), ["first", "second"]);
    }

    async fn without_fields_the_whole_input_has_to_be_the_same(db: TestDb) {
        let scene = Scene::on(db).await;
        scene.grant(&scene.approver, "all", json!({ "for_s": 60 })).await;
        scene.write("all").await.is(RUNS);
        // The same value in other words, and defaults as they would be filled in.
        let words = json!({ "line": "all", "after_ms": 0.0, "before_ms": 0, "file": scene.world.ledger("w") });
        scene.agent.run("test.write", words).await.is(RUNS);
        scene.write("ALL").await.is(ASKS);
        let more = json!({ "line": "all", "after_ms": 1, "file": scene.world.ledger("w") });
        scene.agent.run("test.write", more).await.is(ASKS);
        let listed = scene.listed("?status=active&agent=bot&tool=test.write").await;
        assert_eq!((&listed[0]["fields"], &listed[0]["uses"]), (&Value::Null, &json!(2)));
        assert_eq!(listed[0]["values"]["line"], "all");
        for nothing in ["?agent=other", "?tool=test.echo", "?status=void", "?status=revoked", "?status=expired"] {
            assert_eq!(scene.listed(nothing).await, [] as [Value; 0], "{nothing}");
        }
        scene.admin.get("/api/standing-approvals?status=pending").await.is("422 INVALID_PARAMS");
        // An edit counts as what was approved.
        let id = scene.write("asked").await.is(ASKS).text_at("/approval_id");
        let yes = json!({ "input": scene.line("edited"), "standing": { "for_s": 60, "fields": ["/line"] } });
        scene.admin.post(&format!("/api/approvals/{id}/approve"), &yes).await.is(RUNS);
        scene.write("edited").await.is(RUNS);
        scene.write("asked").await.is(ASKS);
    }

    async fn it_is_for_one_agent_whatever_its_key(db: TestDb) {
        let scene = Scene::on(db).await;
        scene.grant_file().await;
        let owner = "admin@acme.example";
        let rotated = scene.agent_with("bot", Role::Agent, owner).await;
        rotated.run("test.write", scene.line("rotated")).await.is(RUNS);
        let other = scene.agent_with("other", Role::Agent, owner).await;
        other.run("test.write", scene.line("other")).await.is(ASKS);
        // Who may do more or less is not who was asked about.
        let mighty = scene.agent_with("bot", Role::Admin, owner).await;
        mighty.run("test.write", scene.line("mighty")).await.is(ASKS);
        let stranger = scene.world.agent(&scene.server, "globex").await;
        stranger.run("test.write", scene.line("stranger")).await.is(ASKS);
        // People are not asked, and nothing is counted.
        scene.admin.run("test.write", scene.line("by hand")).await.is(RUNS);
        assert_eq!(scene.listed("").await[0]["uses"], 1);
    }

    async fn wish_that_does_not_fit_is_refused_and_the_call_waits(db: TestDb) {
        let scene = Scene::on(db).await;
        let id = scene.write("first").await.is(ASKS).text_at("/approval_id");
        let many: Vec<String> = (0..33).map(|number| format!("/{number}")).collect();
        for (standing, places) in [
            (json!({}), &["/standing/for_s"][..]),
            (json!({ "for_s": 0 }), &["/standing/for_s"]),
            (json!({ "for_s": 86_401 }), &["/standing/for_s"]),
            (json!({ "for_s": "1h" }), &["/standing/for_s"]),
            (json!({ "for_s": 60, "until": 1 }), &["/standing/until"]),
            (json!({ "for_s": 60, "fields": [] }), &["/standing/fields"]),
            (json!({ "for_s": 60, "fields": many }), &["/standing/fields"]),
            (json!({ "for_s": 60, "fields": "/line" }), &["/standing/fields"]),
            (json!({ "for_s": 60, "fields": ["/line", 1] }), &["/standing/fields/1"]),
            (
                json!({ "for_s": 60, "fields": ["/line", "line", "/gone", "/line", "/line/0", "/~2"] }),
                &["/standing/fields/1", "/standing/fields/2", "/standing/fields/3", "/standing/fields/4", "/standing/fields/5"],
            ),
        ] {
            let refused = approve(&scene.approver, &id, standing.clone()).await.json();
            assert_eq!(refused["status"], 422, "{standing}: {refused}");
            let told: Vec<&str> = refused["errors"].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
            assert_eq!(told, places, "{standing}: {refused}");
        }
        // What the edit takes away cannot be named either.
        let large = "x".repeat(20_000);
        let edited = json!({ "input": scene.line(&large), "standing": { "for_s": 60 } });
        let refused = scene.approver.post(&format!("/api/approvals/{id}/approve"), &edited).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/code"), "standing_size");
        assert_eq!(scene.waiting().await, 1);
        assert_eq!(scene.listed("").await, [] as [Value; 0]);
        assert!(scene.lines().is_empty());
        approve(&scene.approver, &id, json!({ "for_s": 86_400, "fields": ["/line", ""] })).await.is(RUNS);
    }

    async fn destructive_calls_are_approved_one_at_a_time(db: TestDb) {
        let scene = Scene::on(db).await;
        let id = scene.agent.run("test.destroy", scene.line("x")).await.is(ASKS).text_at("/approval_id");
        let refused = approve(&scene.approver, &id, json!({ "for_s": 60 })).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/code"), "standing_destructive");
        assert_eq!(scene.waiting().await, 1);

        // A later call that its own input makes destructive asks, whatever else is the same.
        let tool = json!({
            "slug": "victim", "name": "Victim", "description": "Is removed.", "implementation_type": "internal",
            "input_schema": { "type": "object" },
        });
        scene.admin.post("/api/tools", &tool).await.is("201 draft");
        let read = scene.agent.run("manageTools", json!({ "action": "get", "slug": "victim" })).await;
        let wish = json!({ "for_s": 60, "fields": ["/slug"] });
        approve(&scene.approver, &read.is(ASKS).text_at("/approval_id"), wish).await.is(RUNS);
        scene.agent.run("manageTools", json!({ "action": "get", "slug": "victim" })).await.is(RUNS);
        scene.agent.run("manageTools", json!({ "action": "delete", "slug": "victim" })).await.is(ASKS);
        scene.admin.get("/api/tools/victim").await.is("200 draft");

        // One that becomes destructive is void.
        let id = scene.grant_file().await;
        scene.patch("/api/tools/test.write", json!({ "permission_level": "destructive" })).await;
        scene.write("second").await.is(ASKS);
        assert_eq!(scene.status(&id).await, "void");
    }

    async fn it_is_void_once_definition_credential_or_rights_change(db: TestDb) {
        let scene = Scene::on(db).await;
        let id = scene.grant_file().await;
        scene.patch("/api/tools/test.write", json!({ "name": "Another name" })).await;
        scene.write("second").await.is(RUNS);
        scene.patch("/api/tools/test.write", json!({ "permission_policy": "always_ask" })).await;
        scene.write("third").await.is(ASKS);
        assert_eq!(scene.status(&id).await, "void");

        // The role of the approver, also when it comes back; their password is none of it.
        let approver = scene.approver.get("/api/me").await.text_at("/principal/user_id");
        let id = scene.grant_file().await;
        for role in ["member", "approver"] {
            scene.patch(&format!("/api/users/{approver}"), json!({ "role": role })).await;
            scene.write(role).await.is(ASKS);
            assert_eq!(scene.status(&id).await, "void", "{role}");
        }
        let id = scene.grant_file().await;
        scene.write("again").await.is(RUNS);
        assert_eq!(scene.admin.delete(&format!("/api/users/{approver}")).await.status, 204);
        scene.write("removed").await.is(ASKS);
        assert_eq!(scene.status(&id).await, "void");

        // The right of the owner to decide for their own agent, and the owner's own rights.
        let id = scene.grant(&scene.admin, "own", json!({ "for_s": 60, "fields": ["/file"] })).await;
        scene.write("own").await.is(RUNS);
        let forbid = async |setting: Value| {
            scene.patch("/api/tenants/current", json!({ "settings": { "forbid_self_approval": setting } })).await;
        };
        forbid(json!(true)).await;
        scene.write("own").await.is(ASKS);
        assert_eq!(scene.status(&id).await, "void");
        forbid(Value::Null).await;
        scene.write("own").await.is(RUNS);
        assert_eq!(revoke(&scene.admin, &id).await.status, 204);
        let owner = scene.admin.get("/api/me").await.text_at("/principal/user_id");
        scene.world.add_user("acme", "second@acme.example", Role::Admin).await;
        let request = KeyRequest { name: "second".into(), role: Role::Admin, acts_as: ActsAs::User, agent: None, expires: None };
        let key = scene.world.operator().create_key(&slug("acme"), request, Some("second@acme.example")).await.unwrap();
        let second = Client::new(&scene.server.url, Some(key.text));
        let id = scene.grant(&second, "by another", json!({ "for_s": 60, "fields": ["/line"] })).await;
        scene.write("by another").await.is(RUNS);
        let demoted = second.patch(&format!("/api/users/{owner}"), &json!({ "role": "builder" })).await;
        assert_eq!(demoted.status, 200, "{}", demoted.text);
        scene.write("by another").await.is(ASKS);
        let listed = second.get("/api/standing-approvals?status=void").await.json();
        assert!(listed["items"].as_array().unwrap().iter().any(|item| item["id"] == id.as_str()));
    }

    async fn credential_that_is_replaced_voids_it(db: TestDb) {
        let scene = Scene::on(db).await;
        let credential = json!({ "label": "crm", "type": "bearer", "payload": { "token": "one" } });
        let credential = scene.admin.post("/api/credentials", &credential).await.is("201").text_at("/id");
        let tool = json!({
            "slug": "send", "name": "Send", "description": "Sends.", "permission_level": "write", "publish": true,
            "implementation_type": "http", "input_schema": { "type": "object", "properties": { "to": { "type": "string" } } },
            "implementation": { "url": "http://127.0.0.1:1/", "headers": { "Authorization": "secret:crm" } },
        });
        scene.admin.post("/api/tools", &tool).await.is("201 published");
        let send = async || scene.agent.run("send", json!({ "to": "a" })).await;
        let id = send().await.is(ASKS).text_at("/approval_id");
        let id = approve(&scene.approver, &id, json!({ "for_s": 60 })).await.is("200 error").text_at("/standing_approval_id");
        send().await.is("200 error");
        // Saving a draft changes nothing; publishing it does.
        scene.patch(&format!("/api/credentials/{credential}"), json!({ "payload": { "token": "two" } })).await;
        send().await.is(ASKS);
        assert_eq!(scene.status(&id).await, "void");
        let id = scene.approver.get("/api/approvals").await.text_at("/items/0/id");
        let id = approve(&scene.approver, &id, json!({ "for_s": 60 })).await.is("200 error").text_at("/standing_approval_id");
        scene.patch("/api/tools/send", json!({ "timeout_ms": 2000, "implementation": { "url": "http://127.0.0.1:2/", "headers": { "Authorization": "secret:crm" } } })).await;
        send().await.is("200 error");
        assert_eq!(scene.status(&id).await, "active");
        scene.admin.post("/api/tools/send/publish", &json!({})).await.is("200 published");
        send().await.is(ASKS);
        assert_eq!(scene.status(&id).await, "void");
    }

    async fn pinned_version_is_approved_for_itself(db: TestDb) {
        let scene = Scene::on(db).await;
        let tool = json!({
            "slug": "note", "name": "Note", "description": "Notes.", "permission_level": "write", "publish": true,
            "implementation_type": "internal", "input_schema": { "type": "object" },
        });
        scene.admin.post("/api/tools", &tool).await.is("201 published");
        let note = async |version: Option<&str>| {
            let mut body = json!({ "input": { "a": 1 } });
            if let Some(version) = version {
                body["version"] = json!(version);
            }
            call(&scene.agent, "note", &body).await
        };
        let id = note(None).await.is(ASKS).text_at("/approval_id");
        approve(&scene.approver, &id, json!({ "for_s": 60 })).await.is(RUNS);
        note(None).await.is(RUNS);
        note(Some("1.0.0")).await.is(RUNS);
        scene.patch("/api/tools/note", json!({ "description": "Notes more.", "timeout_ms": 1000, "input_schema": { "type": "object", "title": "x" } })).await;
        scene.admin.post("/api/tools/note/version?new_version=1.1.0", &json!({})).await.is("200 published");
        scene.admin.post("/api/tools/note/publish", &json!({})).await.is("200 published");
        note(None).await.is(ASKS);
        let pinned = note(Some("1.0.0")).await;
        let id = pinned.is(ASKS).text_at("/approval_id");
        approve(&scene.approver, &id, json!({ "for_s": 60 })).await.is(RUNS);
        note(Some("1.0.0")).await.is(RUNS);
        note(None).await.is(ASKS);
        // Held against what is live as well.
        scene.patch("/api/tools/note", json!({ "permission_level": "destructive" })).await;
        scene.admin.post("/api/tools/note/version?new_version=1.2.0", &json!({})).await.is("200 published");
        scene.admin.post("/api/tools/note/publish", &json!({})).await.is("200 published");
        note(Some("1.0.0")).await.is(ASKS);
        assert!(scene.listed("?status=active").await.is_empty());
    }

    async fn chain_of_tools_is_part_of_it(db: TestDb) {
        let scene = Scene::on(db).await;
        let chain = |slug: &str| json!({
            "slug": slug, "name": slug, "description": "Writes.", "permission_level": "read", "publish": true,
            "input_schema": { "type": "object", "properties": { "line": { "type": "string" } }, "required": ["line"] },
            "execution_spec": { "kind": "composition", "steps": [
                { "id": "write", "tool": "test.write", "input": { "file": scene.world.ledger("w"), "line": "{{ input.line }}" } },
            ] },
        });
        for slug in ["outer", "other"] {
            scene.admin.post("/api/tools", &chain(slug)).await.is("201 published");
        }
        let through = async |tool: &str, line: &str| scene.agent.run(tool, json!({ "line": line })).await;
        let id = through("outer", "a").await.is(ASKS).text_at("/approval_id");
        approve(&scene.approver, &id, json!({ "for_s": 60, "fields": ["/line"] })).await;
        eventually("the chain ends", PATIENCE, async || scene.lines() == ["a"]).await;
        through("outer", "a").await.is(RUNS);
        through("outer", "b").await.is(ASKS);
        through("other", "a").await.is(ASKS);
        scene.write("a").await.is(ASKS);
        assert_eq!(scene.lines(), ["a", "a"]);
        // And the other way round.
        scene.grant(&scene.approver, "direct", json!({ "for_s": 60 })).await;
        scene.write("direct").await.is(RUNS);
        through("outer", "direct").await.is(ASKS);
    }

    async fn input_with_secrets_is_approved_one_at_a_time(db: TestDb) {
        let scene = Scene::on(db).await;
        let making = |slug: &str, key: Option<&str>| {
            let mut body = json!({
                "action": "create", "slug": slug, "name": "Made", "description": "Asks a service.",
                "implementation_type": "http", "implementation": { "url": "https://example.com/" },
                "input_schema": { "type": "object" },
            });
            if let Some(key) = key {
                body["implementation"]["headers"] = json!({ "X-Api-Key": key });
            }
            body
        };
        let wish = json!({ "for_s": 60, "fields": ["/action"] });
        let parked = scene.agent.run("manageTools", making("one", Some("s3cret"))).await;
        let id = parked.is(ASKS).text_at("/approval_id");
        let refused = approve(&scene.approver, &id, wish.clone()).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/code"), "standing_secrets");
        // Nor does what was approved without secrets let them through.
        let parked = scene.agent.run("manageTools", making("two", None)).await;
        approve(&scene.approver, &parked.is(ASKS).text_at("/approval_id"), wish).await.is(RUNS);
        scene.agent.run("manageTools", making("three", Some("s3cret"))).await.is(ASKS);
        scene.agent.run("manageTools", making("four", None)).await.is(RUNS);
    }

    async fn it_is_revoked_at_once_by_those_who_decide(db: TestDb) {
        let scene = Scene::on(db).await;
        let id = scene.grant_file().await;
        scene.write("second").await.is(RUNS);
        let stranger = scene.world.client(&scene.server, "globex", Role::Approver).await;
        assert_eq!(stranger.get("/api/standing-approvals").await.json()["total"], 0);
        revoke(&stranger, &id).await.is("404 NOT_FOUND");
        revoke(&scene.approver, "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11").await.is("404 NOT_FOUND");
        for role in [Role::Member, Role::Viewer, Role::Builder] {
            let who = scene.world.client(&scene.server, "acme", role).await;
            who.get("/api/standing-approvals").await.is("403 NOT_PERMITTED");
            revoke(&who, &id).await.is("403 NOT_PERMITTED");
        }
        for role in [Role::Agent, Role::Admin] {
            let agent = scene.agent_with("bot", role, "admin@acme.example").await;
            agent.get("/api/standing-approvals").await.is("403 NOT_PERMITTED");
            revoke(&agent, &id).await.is("403 NOT_PERMITTED");
        }
        for _ in 0..2 {
            let revoked = revoke(&scene.approver, &id).await;
            assert_eq!((revoked.status.as_u16(), revoked.text.as_str()), (204, ""));
            scene.write("third").await.is(ASKS);
        }
        assert_eq!(scene.status(&id).await, "revoked");
        let audit = scene.admin.get("/api/audit?action=standing_approval.revoked").await.json();
        assert_eq!((&audit["total"], &audit["items"][0]["object"]), (&json!(1), &json!(format!("standing_approval:{id}"))));
        assert_eq!(scene.lines(), ["first", "second"]);
    }

    async fn it_runs_out(db: TestDb) {
        let scene = Scene::on(db).await;
        let id = scene.grant(&scene.approver, "first", json!({ "for_s": 1, "fields": ["/file"] })).await;
        // By one question at a time: between two of them its time may run out.
        let is_over = async || scene.listed("?status=expired").await.iter().any(|item| item["id"] == id);
        eventually("it runs out", PATIENCE, is_over).await;
        assert_eq!(scene.status(&id).await, "expired");
        scene.write("second").await.is(ASKS);
        assert_eq!(scene.lines(), ["first"]);
    }

    async fn row_that_was_tampered_with_is_void(db: TestDb) {
        let scene = Scene::on(db).await;
        let other = scene.agent_with("other", Role::Agent, "admin@acme.example").await;
        let file = scene.world.ledger("w").display().to_string();
        for change in [
            "expires_us = expires_us + 1",
            "created_us = created_us - 1",
            "fields = NULL",
            r#"fields = '["/line"]'"#,
            r#"field_values = '{"/file":"elsewhere"}'"#,
            "approved_by = 'user:somebody'",
            "context = replace(context, 'approver', 'admin')",
            "context = replace(context, '\"chain\":[]', '\"chain\":[\"outer\"]')",
            "principal = 'agent:other'",
            "tool = 'test.echo'",
            "definition_hash = definition_hash || 'x'",
        ] {
            let id = scene.grant(&scene.approver, &format!("grant {change}"), json!({ "for_s": 60, "fields": ["/file"] })).await;
            let changed = execute(&scene.world.db, format!("UPDATE standing_approvals SET {change} WHERE revoked_us IS NULL")).await;
            assert_eq!(changed, 1, "{change}");
            for agent in [&scene.agent, &other] {
                agent.run("test.write", json!({ "file": file, "line": change })).await.is(ASKS);
            }
            assert_eq!(scene.status(&id).await, "void", "{change}");
            assert_eq!(revoke(&scene.approver, &id).await.status, 204);
        }
    }

    async fn call_that_races_with_a_revocation_is_counted_or_asks(db: TestDb) {
        let kind = db.kind();
        let scene = Scene::on(db).await;
        let second = (kind == Kind::Postgres).then(|| scene.world.server());
        let there = scene.agent.at(second.as_ref().unwrap_or(&scene.server));
        for trial in 0..5 {
            let id = scene.grant(&scene.approver, &format!("grant {trial}"), json!({ "for_s": 60, "fields": ["/file"] })).await;
            let calls = (0..12).map(|number| {
                let agent = if number % 2 == 0 { &scene.agent } else { &there };
                agent.run("test.write", scene.line(&format!("{trial}.{number}")))
            });
            let (ran, revoked) = tokio::join!(join_all(calls), revoke(&scene.approver, &id));
            assert_eq!(revoked.status, 204);
            for agent in [&scene.agent, &there] {
                agent.run("test.write", scene.line("too late")).await.is(ASKS);
            }
            let success = ran.iter().filter(|answer| answer.verdict() == RUNS).count();
            assert!(ran.iter().all(|answer| [RUNS, ASKS].contains(&answer.verdict().as_str())));
            let uses = scene.listed("?status=revoked").await;
            let uses = uses.iter().find(|item| item["id"] == id.as_str()).unwrap()["uses"].clone();
            let lines = scene.lines().iter().filter(|line| line.starts_with(&format!("{trial}."))).count();
            assert_eq!((uses, lines), (json!(success), success));
        }
    }

    async fn it_outlives_the_server_that_was_told_of_it(db: TestDb) {
        let mut scene = Scene::on(db).await;
        let slow = json!({ "file": scene.world.ledger("w"), "line": "slow", "before_ms": 60_000 });
        let id = scene.agent.run("test.write", slow).await.is(ASKS).text_at("/approval_id");
        let yes = json!({ "standing": { "for_s": 600, "fields": ["/file"] }, "wait_ms": 0 });
        let approved = scene.approver.post(&format!("/api/approvals/{id}/approve"), &yes).await;
        let id = approved.text_at("/standing_approval_id");
        scene.server.kill();

        scene.server = scene.world.server();
        for client in [&mut scene.agent, &mut scene.approver, &mut scene.admin] {
            *client = client.at(&scene.server);
        }
        scene.write("after").await.is(RUNS);
        assert_eq!(scene.status(&id).await, "active");
        assert_eq!(scene.listed("").await[0]["uses"], 1);
        assert_eq!(scene.lines(), ["after"]);
        // The same call again, by its key, is the same run and no other use.
        let again = || scene.agent.request(Method::POST, "/api/tools/test.write/run").header("idempotency-key", "k").json(&json!({ "input": scene.line("once") }));
        let (first, second) = (scene.agent.send(again()).await, scene.agent.send(again()).await);
        assert_eq!(first.is(RUNS).text_at("/run_id"), second.is(RUNS).text_at("/run_id"));
        assert_eq!(scene.listed("").await[0]["uses"], 2);
    }
}
