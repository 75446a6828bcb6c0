//! Tools that call others: what they call stays as long as they do, and no call leads back.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, faults, live, publish};
use crate::world::{World, together};

/// A tool that calls others, one after the other.
fn calling(slug: &str, tools: &[&str]) -> Value {
    json!({
        "slug": slug, "name": slug, "description": "Calls others.", "input_schema": { "type": "object" },
        "permission_level": "read", "execution_spec": spec(tools),
    })
}

fn spec(tools: &[&str]) -> Value {
    let step = |(index, tool): (usize, &&str)| json!({ "id": format!("s{index}"), "tool": tool, "input": { "a": 1 } });
    json!({ "kind": "composition", "steps": tools.iter().enumerate().map(step).collect::<Vec<_>>() })
}

on_both! {
    async fn tool_is_in_use_by_what_runs_and_by_what_was_saved_last(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        for slug in ["old-inner", "new-inner"] {
            live(&author, slug).await;
        }
        author.post("/api/tools", &calling("outer", &["old-inner"])).await.is("201 draft");
        publish(&author, "outer").await.is("200 published");
        author.patch(&at("outer"), &json!({ "execution_spec": spec(&["new-inner"]) })).await.is("200 published");

        for inner in ["old-inner", "new-inner"] {
            let users = author.get(&format!("/api/tools/{inner}/used-by")).await.json();
            assert_eq!(users["items"], json!([{ "kind": "tool", "slug": "outer", "name": "outer" }]), "{inner}");
            author.delete(&at(inner)).await.is("409 CONFLICT");
            // Nobody is asked for what would be refused in the end.
            agent.run("manageTools", json!({ "action": "delete", "slug": inner })).await.is("409 CONFLICT");
        }
        agent.run("manageTools", json!({ "action": "delete", "slug": "test.echo" })).await.is("409 CONFLICT");
        author.run("outer", json!({})).await.is("200 success");

        publish(&author, "outer").await.is("200 published");
        agent.run("manageTools", json!({ "action": "delete", "slug": "old-inner" })).await.is("202 needs_approval");
        author.delete(&at("old-inner")).await.is("204");
        author.delete(&at("new-inner")).await.is("409 CONFLICT");
        author.patch("/api/tools/test.echo", &json!({ "icon": "bell" })).await.is("200 published");
        agent.run("manageTools", json!({ "action": "delete", "slug": "test.echo" })).await.is("202 needs_approval");
    }

    async fn tool_goes_or_is_called_and_never_both(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        for trial in 0..tw_test::trials() {
            let (inner, outer) = (format!("inner-{trial}"), format!("outer-{trial}"));
            live(&author, &inner).await;
            let (one, two, body) = (author.clone(), author.clone(), calling(&outer, &[&inner]));
            let place = at(&inner);
            let (removed, made) = together(
                async move { one.delete(&place).await },
                async move { two.post("/api/tools", &body).await },
            )
            .await;
            match (removed.verdict().as_str(), made.verdict().as_str()) {
                ("204", "422 INVALID_PARAMS") | ("409 CONFLICT", "201 draft") => {}
                both => panic!("{both:?}: {} {}", removed.text, made.text),
            }
        }
    }

    async fn two_tools_never_call_each_other(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "leaf").await;
        for trial in 0..tw_test::trials() {
            let (a, b) = (format!("a-{trial}"), format!("b-{trial}"));
            for slug in [&a, &b] {
                author.post("/api/tools", &calling(slug, &["leaf"])).await.is("201 draft");
            }
            let linking = |from: &str, to: &str| {
                let (author, place, change) = (author.clone(), at(from), json!({ "execution_spec": spec(&[to]) }));
                async move { author.patch(&place, &change).await }
            };
            let (one, two) = together(linking(&a, &b), linking(&b, &a)).await;
            let mut verdicts = [one.verdict(), two.verdict()];
            verdicts.sort();
            assert_eq!(verdicts, ["200 draft", "422 INVALID_PARAMS"], "{} {}", one.text, two.text);
        }
    }

    async fn all_that_is_wrong_is_told_at_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let mut body = calling("hopeless", &["nowhere", "hopeless", "test.echo", "not-there"]);
        body["execution_spec"]["steps"][2]["when"] = json!("((");
        let refused = author.post("/api/tools", &body).await;
        let told = faults(refused.is("422 INVALID_PARAMS"));
        for path in ["0/tool", "1/tool", "2/when", "3/tool"] {
            assert!(told.contains(&format!("/execution_spec/steps/{path}")), "{path}: {}", refused.text);
        }
        assert!(refused.text.contains("would call itself"), "{}", refused.text);

        author.post("/api/tools", &calling("fine", &["test.echo"])).await.is("201 draft");
        for (change, wanted) in [
            (json!({ "execution_spec": spec(&["fine", "nowhere"]), "tags": [7] }), vec!["/tags/0", "0/tool", "1/tool"]),
            (json!({ "timeout_ms": "5", "name": 5, "nmae": 1 }), vec!["/timeout_ms", "/name", "/nmae"]),
        ] {
            let refused = author.patch(&at("fine"), &change).await;
            let told = faults(refused.is("422 INVALID_PARAMS"));
            for path in wanted {
                assert!(told.iter().any(|told| told.ends_with(path)), "{path}: {}", refused.text);
            }
        }

        let refused = author.post("/api/tools", &json!({
            "slug": "wrong", "name": 5, "description": "Of many faults.", "timeout_ms": "soon", "is_async": "no",
            "tags": ["a", "a", "", 5], "execution": { "is_pure": "yes" }, "visible": 1, "implementation_type": "internal",
            "output_sections": [{ "key": "x", "label": "X", "type": "sculpture" }], "input_schema": { "type": "object" },
        })).await;
        let mut told = faults(refused.is("422 INVALID_PARAMS"));
        told.sort();
        let wanted = [
            "/execution/is_pure", "/is_async", "/name", "/output_sections/0/type", "/tags/3", "/timeout_ms", "/visible",
        ];
        assert_eq!(told, wanted, "{}", refused.text);
        for fault in refused.json()["errors"].as_array().unwrap() {
            let message = fault["message"].as_str().unwrap();
            for word in ["expected", "invalid type", "struct", "u64", "sequence"] {
                assert!(!message.contains(word), "{word}: {message}");
            }
        }
    }
}
