//! Chains that wait for somebody, and those who wait for them.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{answer, call, calling, composition, external, first, ids, make, once, run_of, tool, with};
use crate::world::World;

/// One step that somebody outside does.
fn one_step(slug: &str, tool: &str) -> Value {
    composition(slug, &json!({ "steps": [{ "id": "a", "tool": tool }] }))
}

on_both! {
    async fn time_of_a_chain_stands_still_while_somebody_is_asked(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("work", &json!({ "timeout_ms": 60_000 }))).await;
        make(&builder, &with(one_step("quick", "work"), &json!({ "timeout_ms": 300 }))).await;

        // Whoever waits for less than it takes is told whom to ask.
        let open = call(&builder, "quick", &json!({ "input": {}, "wait_ms": 700 })).await;
        open.is("202 pending");
        let (run, id) = ids(&open);
        assert_eq!(run_of(&builder, &run).await["status"], "pending", "its time was over long ago");
        answer(&builder, &run, &id, &json!({ "n": 1 })).await.is("200 success");
        assert_eq!(once(&builder, &run, "success").await["output"], json!({ "n": 1 }));

        // Whoever waits for as long as the chain may take is answered by the worker.
        make(&builder, &with(one_step("patient", "work"), &json!({ "timeout_ms": 60_000 }))).await;
        let waiting = calling(&builder, "patient", json!({ "input": {} }));
        let inner = first(&builder, "work", "pending").await;
        let id = run_of(&builder, &inner).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        answer(&builder, &inner, &id, &json!({ "n": 2 })).await.is("200 success");
        assert_eq!(waiting.await.unwrap().is("200 success").json()["output"], json!({ "n": 2 }));
    }

    async fn caller_who_does_not_wait_at_all_is_told_what_was_asked(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("work", &json!({}))).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        for tool in ["work", "job"] {
            let open = call(&builder, tool, &json!({ "input": {}, "wait_ms": 0 })).await;
            open.is("202 pending");
            let (run, id) = ids(&open);
            answer(&builder, &run, &id, &json!(1)).await.is("200 success");
        }
    }

    async fn chain_goes_on_as_it_was_begun_whatever_is_published_meanwhile(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        make(&builder, &tool("echo", &json!({ "implementation_type": "internal" }))).await;
        let saying = |what: &str| json!({
            "kind": "composition",
            "steps": [{ "id": "a", "tool": "job" }, { "id": "b", "tool": "echo", "input": { "says": what } }],
            "output": "{{ steps.b.output.args.says }}",
        });
        make(&builder, &composition("chain", &saying("first"))).await;
        let begin = async || ids(builder.run("chain", json!({})).await.is("202 pending"));
        let (published, switched) = (begin().await, begin().await);
        let change = json!({ "execution_spec": saying("second"), "publish": true });
        builder.patch("/api/tools/chain", &change).await.is("200 published");
        assert_eq!(builder.get("/api/tools/chain").await.json()["version"], "1.0.0", "the same number");
        answer(&builder, &published.0, &published.1, &json!(1)).await.is("200 success");
        assert_eq!(once(&builder, &published.0, "success").await["output"], "first");

        builder.patch("/api/tools/chain", &json!({ "permission_policy": "always_ask" })).await.is("200 published");
        answer(&builder, &switched.0, &switched.1, &json!(1)).await.is("200 success");
        assert_eq!(once(&builder, &switched.0, "success").await["output"], "first");

        // One that is switched off does not go on.
        builder.patch("/api/tools/chain", &json!({ "permission_policy": null })).await.is("200 published");
        let (run, id) = begin().await;
        builder.patch("/api/tools/chain", &json!({ "is_active": false })).await.is("200 published");
        answer(&builder, &run, &id, &json!(1)).await.is("200 success");
        assert_eq!(once(&builder, &run, "error").await["error_code"], "TOOL_DISABLED");
    }

    async fn step_that_is_not_there_is_told_when_the_chain_is_saved(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &tool("echo", &json!({ "implementation_type": "internal" }))).await;
        let step = |id: &str, rest: Value| with(json!({ "id": id, "tool": "echo" }), &rest);
        let spec = json!({
            "steps": [
                step("a", json!({ "input": { "q": "{{ steps.b.output.q }}" } })),
                step("b", json!({ "when": "steps.zzz.output.n > 3" })),
                step("c", json!({ "input": { "q": "{{ steps.c.output.q }}" } })),
            ],
            "output": { "a": "{{ steps.a.output }}", "d": "{{ steps.d.output }}" },
        });
        let refused = builder.post("/api/tools", &composition("chain", &spec)).await;
        let told: Vec<_> = refused.is("422 INVALID_PARAMS").json()["errors"].as_array().unwrap().iter()
            .map(|fault| format!("{}: {}", fault["path"].as_str().unwrap(), fault["message"].as_str().unwrap())).collect();
        assert_eq!(told, [
            "/execution_spec/steps/0/input: must read an earlier step; there is no `b` before this one",
            "/execution_spec/steps/1/when: must read an earlier step; there is no `zzz` before this one",
            "/execution_spec/steps/2/input: must read an earlier step; there is no `c` before this one",
            "/execution_spec/output: must read an earlier step; there is no `d` before this one",
        ]);
    }

    async fn output_of_a_step_that_cannot_be_read_is_a_step_that_failed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "is_async": true }))).await;
        let wrapped = json!({ "steps": [{ "id": "a", "tool": "job" }], "output": { "a": { "b": { "c": { "d": { "e": "{{ steps.a.output }}" } } } } } });
        make(&builder, &composition("wraps", &wrapped)).await;
        let outer = json!({
            "steps": [{ "id": "w", "tool": "wraps", "on_error": "continue" }],
            "output": { "error": "{{ steps.w.error.code }}", "told": "Got {{ steps.w.output.a }}." },
        });
        make(&builder, &composition("outer", &outer)).await;
        let (run, id) = ids(builder.run("outer", json!({})).await.is("202 pending"));
        let deep = (0..123).fold(json!(1), |inner, _| json!([inner]));
        answer(&builder, &run, &id, &deep).await.is("200 success");
        let output = once(&builder, &run, "success").await["output"].clone();
        // What is not there leaves a gap in a text, and does not undo a chain that is done.
        assert_eq!(output, json!({ "error": "OUTPUT_INVALID", "told": "Got ." }));
    }
}
