//! What would fail at the first call is told when a tool is saved, and is not published.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, echo, needing};
use crate::world::{Answer, World};

fn told(answer: &Answer, member: &str) -> Vec<(String, String)> {
    let body = answer.json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pair = |fault: &Value| (text(&fault["path"]), text(&fault["code"]));
    body[member].as_array().unwrap_or_else(|| panic!("{body}")).iter().map(pair).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect()
}

/// A call of a service by an address and a body.
fn service(url: &str, body: &Value) -> Value {
    json!({
        "slug": "weather", "name": "Weather", "description": "Asks a service.", "implementation_type": "http",
        "permission_level": "read",
        "implementation": { "url": url, "method": "POST", "body": body },
        "input_schema": { "type": "object", "properties": { "city": { "type": "string" } } },
    })
}

on_both! {
    async fn expression_over_a_field_that_does_not_exist_is_told_and_not_published(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let wrong = service("https://h.test/{{ input.town }}", &json!({ "at": ["{{ input.city.zip }}", "{{ input.city }}"] }));
        let expected = pairs(&[("/implementation/url", "unknown_field_in_expression"), ("/implementation/body/at/0", "unknown_field_in_expression")]);

        let made = author.post("/api/tools", &wrong).await;
        assert_eq!(told(made.is("201 draft"), "warnings"), expected);
        let message = made.json()["warnings"][0]["message"].clone();
        assert_eq!(message, "must read a field that exists: there is no `input.town`, only `input.city`");
        let refused = author.post(&format!("{}/publish", at("weather")), &json!({})).await;
        assert_eq!(told(refused.is("422 INVALID_PARAMS"), "errors"), expected);
        let at_once = author.patch(&at("weather"), &json!({ "name": "Other", "publish": true })).await;
        assert_eq!(told(at_once.is("422 INVALID_PARAMS"), "errors"), expected);
        assert_eq!(author.get(&at("weather")).await.text_at("/name"), "Weather", "nothing is saved");
        let mut new = wrong.clone();
        new["slug"] = json!("other");
        new["publish"] = json!(true);
        assert_eq!(told(author.post("/api/tools", &new).await.is("422 INVALID_PARAMS"), "errors"), expected);

        // Whoever declares the field, or that there are others, has it published.
        let declared = json!({ "type": "object", "properties": { "city": {} }, "additionalProperties": true });
        author.patch(&at("weather"), &json!({ "input_schema": declared, "publish": true })).await.is("200 published");
    }

    async fn step_that_lacks_what_its_tool_requires_is_told_and_not_published(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let mut asked = echo("asked");
        asked["publish"] = json!(true);
        asked["output_schema"] = json!({ "type": "object", "properties": { "n": {} }, "additionalProperties": false });
        author.post("/api/tools", &asked).await.is("201 published");
        let chain = |steps: Value| json!({
            "slug": "chain", "name": "Chain", "description": "Asks twice.", "implementation_type": "composition",
            "permission_level": "read", "input_schema": needing("a"),
            "execution_spec": { "kind": "composition", "steps": steps },
        });
        let steps = json!([
            { "id": "one", "tool": "asked" },
            { "id": "two", "tool": "asked", "input": { "a": null }, "when": "steps.one.status == 'success'" },
            { "id": "three", "tool": "asked", "input": { "a": "{{ steps.one.output.m }}" }, "when": "input.b > steps.one.took" },
            { "id": "four", "tool": "asked", "input": "{{ input }}" },
        ]);
        let made = author.post("/api/tools", &chain(steps)).await;
        let expected = pairs(&[
            ("/execution_spec/steps/2/input/a", "unknown_field_in_expression"),
            ("/execution_spec/steps/2/when", "unknown_field_in_expression"),
            ("/execution_spec/steps/2/when", "unknown_field_in_expression"),
            ("/execution_spec/steps/0/input/a", "step_input_missing"),
            ("/execution_spec/steps/1/input/a", "step_input_missing"),
        ]);
        assert_eq!(told(made.is("201 draft"), "warnings"), expected);
        let refused = author.post(&format!("{}/publish", at("chain")), &json!({})).await;
        assert_eq!(told(refused.is("422 INVALID_PARAMS"), "errors"), expected);

        let right = json!([
            { "id": "one", "tool": "asked", "input": { "a": "{{ input.a }}" } },
            { "id": "two", "tool": "asked", "input": { "a": "{{ steps.one.output.n }}" }, "on_error": "fallback", "fallback": { "m": 1 } },
            { "id": "three", "tool": "asked", "input": { "a": "{{ steps.two.output.m }}" } },
        ]);
        let spec = json!({ "execution_spec": { "kind": "composition", "steps": right } });
        let saved = author.patch(&at("chain"), &spec).await;
        assert_eq!(told(saved.is("200 draft"), "warnings"), []);
        author.post(&format!("{}/publish", at("chain")), &json!({})).await.is("200 published");
    }
}
