//! Tools that a person answers.

use serde_json::{Value, json};
use tw_model::{ActsAs, Role};
use tw_test::{TestDb, on_both};

use super::{answer, calling, cancel, external, ids, make, run_of, tool};
use crate::world::{Client, World, eventually};

const PATH: &str = "/api/pending-calls";

fn question(slug: &str) -> Value {
    tool(
        slug,
        &json!({
            "implementation_type": "space", "is_async": true,
            "output_schema": {
                "type": "object", "properties": { "confirmed": { "type": "boolean" } }, "required": ["confirmed"],
            },
        }),
    )
}

async fn listed(client: &Client) -> Vec<Value> {
    client.get(PATH).await.json()["items"].as_array().unwrap().clone()
}

on_both! {
    async fn question_is_listed_and_a_member_answers_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        make(&builder, &question("confirm")).await;
        let first = ids(agent.run("confirm", json!({ "text": "Book it?" })).await.is("202 pending"));
        let second = ids(agent.run("confirm", json!({ "text": "And this?" })).await.is("202 pending"));

        let items = listed(&member).await;
        assert_eq!(items.iter().map(|item| item["id"].as_str().unwrap()).collect::<Vec<_>>(), [&first.1, &second.1]);
        let item = &items[0];
        assert_eq!((&item["run_id"], &item["tool"], &item["input"]), (&json!(first.0), &json!("confirm"), &json!({ "text": "Book it?" })));
        assert_eq!((&item["waits_for"], &item["status"]), (&json!("person"), &json!("pending")));
        assert!(item["requested_by"].is_string() && item["expires_at"].is_string() && item["deadline"].is_null());
        assert_eq!(member.get(&format!("{PATH}/{}", first.1)).await.json(), *item);
        assert_eq!(member.get(&format!("{PATH}?limit=1")).await.json()["total"], 2);

        assert_eq!(listed(&stranger).await, Vec::<Value>::new());
        stranger.get(&format!("{PATH}/{}", first.1)).await.is("404 NOT_FOUND");
        answer(&stranger, &first.0, &first.1, &json!({ "confirmed": true })).await.is("404 NOT_FOUND");

        let said = answer(&member, &first.0, &first.1, &json!({ "confirmed": true })).await;
        assert_eq!(said.is("200 success").json()["output"], json!({ "confirmed": true }));
        assert_eq!(run_of(&agent, &first.0).await["output"], json!({ "confirmed": true }));
        assert_eq!(agent.trail(&first.0).await, ["tool.started", "tool.completed"]);
        let record = member.get(&format!("{PATH}/{}", first.1)).await.json();
        assert_eq!(record["status"], "resolved");
        assert!(record["answered_by"].is_string());
        cancel(&agent, &second.0).await.is("200 cancelled");
        assert_eq!(listed(&member).await, Vec::<Value>::new());
        answer(&member, &second.0, &second.1, &json!({ "confirmed": true })).await.is("409 CONFLICT");
    }

    async fn answer_that_does_not_fit_is_refused_with_its_place_and_may_be_mended(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&builder, &question("confirm")).await;
        let (run, call) = ids(member.run("confirm", json!({})).await.is("202 pending"));
        for (wrong, path, verdict) in [
            (json!({ "confirmed": "yes" }), "/confirmed", "422 INVALID_PARAMS"),
            (json!({}), "/confirmed", "422 MISSING_PARAM"),
            (json!("yes"), "", "422 INVALID_PARAMS"),
        ] {
            let refused = answer(&member, &run, &call, &wrong).await;
            refused.is(verdict);
            assert_eq!(refused.text_at("/errors/0/path"), path, "{wrong}");
            assert_eq!((run_of(&member, &run).await["status"].as_str(), listed(&member).await.len()), (Some("pending"), 1));
        }
        answer(&member, &run, &call, &json!({ "confirmed": false })).await.is("200 success");
        assert_eq!(member.trail(&run).await, ["tool.started", "tool.completed"]);
    }

    async fn answer_fits_what_was_asked_for_also_when_the_tool_has_changed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let asked = question("confirm");
        make(&builder, &asked).await;
        let mut work = external("weigh", &json!({ "is_async": true }));
        work["output_schema"] = asked["output_schema"].clone();
        make(&builder, &work).await;
        let open: [_; 2] = [builder.run("confirm", json!({})).await, builder.run("weigh", json!({})).await];
        let [(run, call), (done, by_worker)] = open.each_ref().map(|open| ids(open.is("202 pending")));
        let other = json!({ "type": "object", "required": ["amount"] });
        for slug in ["confirm", "weigh"] {
            let change =
                json!({ "output_schema": other, "version": "1.0.0", "publish": true, "accept_breaking": true });
            builder.patch(&format!("/api/tools/{slug}"), &change).await.is("200 published");
        }

        let record = builder.get(&format!("{PATH}/{call}")).await.json();
        assert_eq!(record["output_schema"], asked["output_schema"]);
        answer(&builder, &run, &call, &json!({ "amount": 1 })).await.is("422 MISSING_PARAM");
        answer(&builder, &run, &call, &json!({ "confirmed": true })).await.is("200 success");
        answer(&builder, &done, &by_worker, &json!({ "confirmed": true })).await.is("200 success");
        let next = ids(builder.run("confirm", json!({})).await.is("202 pending"));
        assert_eq!(listed(&builder).await[0]["output_schema"], other);
        answer(&builder, &next.0, &next.1, &json!({ "amount": 1 })).await.is("200 success");
    }

    async fn agent_and_viewer_never_answer(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &question("confirm")).await;
        let viewer = world.client(&server, "acme", Role::Viewer).await;
        let mut refused = vec![viewer];
        for role in [Role::Agent, Role::Member, Role::Admin] {
            refused.push(Client::new(&server.url, Some(world.key("acme", role, ActsAs::Agent).await)));
        }
        let (run, call) = ids(refused[1].run("confirm", json!({})).await.is("202 pending"));
        for who in &refused {
            answer(who, &run, &call, &json!({ "confirmed": true })).await.is("403 NOT_PERMITTED");
            who.get(PATH).await.is("403 NOT_PERMITTED");
            who.get(&format!("{PATH}/{call}")).await.is("403 NOT_PERMITTED");
        }
        assert_eq!(run_of(&builder, &run).await["status"], "pending");
    }

    async fn caller_waits_for_the_person_up_to_the_timeout(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        make(&builder, &tool("ask", &json!({ "implementation_type": "space" }))).await;
        make(&builder, &tool("brief", &json!({ "implementation_type": "space", "timeout_ms": 300 }))).await;
        let waiting = calling(&agent, "ask", json!({ "input": {} }));
        eventually("the question is asked", super::PATIENCE, async || listed(&builder).await.len() == 1).await;
        let item = listed(&builder).await.remove(0);
        assert_eq!(item["status"], "waiting");
        answer(&builder, item["run_id"].as_str().unwrap(), item["id"].as_str().unwrap(), &json!("yes")).await.is("200 success");
        assert_eq!(waiting.await.unwrap().is("200 success").json()["output"], "yes");

        let late = agent.run("brief", json!({})).await;
        let (run, call) = ids(late.is("200 timed_out"));
        assert_eq!(late.text_at("/error"), "Tool timed out after 300ms");
        answer(&builder, &run, &call, &json!("yes")).await.is("200 timed_out");
        assert_eq!(run_of(&agent, &run).await["late_result"], json!("yes"));
    }

    async fn question_whose_caller_has_given_up_can_still_be_answered(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let other = Client::new(&server.url, Some(world.key("acme", Role::Approver, ActsAs::User).await));
        let agent = world.agent(&server, "acme").await;
        let mut body = question("confirm");
        (body["is_async"], body["timeout_ms"]) = (json!(false), json!(300));
        make(&builder, &body).await;
        let (run, call) = ids(agent.run("confirm", json!({})).await.is("200 timed_out"));
        let items = listed(&member).await;
        assert_eq!(items.len(), 1);
        assert_eq!((&items[0]["id"], &items[0]["late"], &items[0]["status"]), (&json!(call), &json!(true), &json!("pending")));
        assert_eq!((&items[0]["result"], &items[0]["deadline"]), (&Value::Null, &Value::Null));

        let refused = answer(&member, &run, &call, &json!({ "confirmed": "yes" })).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/path"), "/confirmed");
        assert_eq!((listed(&member).await.len(), run_of(&agent, &run).await.get("late_result")), (1, None));

        answer(&member, &run, &call, &json!({ "confirmed": true })).await.is("200 timed_out");
        assert_eq!(run_of(&agent, &run).await["late_result"], json!({ "confirmed": true }));
        assert_eq!(listed(&member).await, Vec::<Value>::new());
        for who in [&member, &other, &builder] {
            let read = who.get(&format!("{PATH}/{call}")).await.json();
            assert_eq!((&read["status"], &read["late"]), (&json!("resolved"), &json!(false)));
            assert_eq!(read["result"], json!({ "confirmed": true }));
        }
    }

    async fn answer_is_for_whoever_gave_it_and_for_those_who_may_see_the_run(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&builder, &question("confirm")).await;
        let (run, call) = ids(builder.run("confirm", json!({})).await.is("202 pending"));
        answer(&builder, &run, &call, &json!({ "confirmed": false })).await.is("200 success");
        let path = format!("{PATH}/{call}");
        assert_eq!(builder.get(&path).await.json()["result"], json!({ "confirmed": false }));
        let seen = member.get(&path).await.json();
        assert_eq!((&seen["status"], &seen["result"]), (&json!("resolved"), &Value::Null));
        member.get(&format!("/api/runs/{run}")).await.is("404 NOT_FOUND");
    }
}
