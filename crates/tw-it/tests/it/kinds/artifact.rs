//! Tools that are a script.

use std::path::Path;

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{
    PATIENCE, answer, approve, artifact, call, calling, cancel, composition, external, first, make, once,
    run_of, with,
};
use crate::world::{Answer, World, eventually, lines_of};

/// The lines of a fault, with its path and code.
#[track_caller]
fn faults(answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let told = |fault: &Value| {
        let line = fault["params"]["line"].as_u64().map(|line| format!(" {line}"));
        let word = |name: &str| fault[name].as_str().unwrap().to_owned();
        format!("{} {}{}", word("path"), word("code"), line.unwrap_or_default())
    };
    body["errors"].as_array().unwrap_or_else(|| panic!("{body}")).iter().map(told).collect()
}

/// A call of `test.write` in a script.
fn write(ledger: &Path, line: &str) -> String {
    let input = json!({ "file": ledger, "line": line });
    format!("ctx.callTool('test.write', {input})")
}

on_both! {
    async fn script_runs_and_what_goes_wrong_is_told_apart(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let source = "export default async (input, ctx) => {
            console.log('asked for', input.what);
            switch (input.what) {
                case 'sum': return { sum: input.a + input.b, given: '{{ input.a }}' };
                case 'throw': throw new TypeError('not today');
                case 'memory': { const all = []; for (;;) all.push(new Array(1000).fill(0)); }
                case 'output': return 10n;
                case 'large': return 'a'.repeat(2 << 20);
                case 'call': return (await ctx.callTool('test.echo', { value: [1, 'x'] })).value;
                case 'unknown': try { await ctx.callTool('no.such'); } catch ({ code, message }) { return { code, message }; }
                case 'uncaught': return ctx.callTool('test.fail', { message: 'x' });
                case 'itself': return ctx.callTool('script', { what: 'sum' });
                case 'whole': return { success: true, summary: '2 found', data: [1, 2], markdown: '**2**' };
            }
        }";
        make(&builder, &artifact("script", source)).await;
        let told = member.run("script", json!({ "what": "sum", "a": 1, "b": 2 })).await;
        let body = told.is("200 success").json();
        assert_eq!(body["output"], json!({ "sum": 3, "given": "{{ input.a }}" }));
        assert_eq!(body["logs"], json!(["asked for sum"]));
        let run = run_of(&member, &told.text_at("/run_id")).await;
        assert_eq!((&run["logs"], &run["summary"]), (&json!(["asked for sum"]), &json!("script: done")));
        for (what, code, error) in [
            ("throw", "SANDBOX_EXCEPTION", "not today (line 5)"),
            ("memory", "SANDBOX_MEMORY", "the script needs more than 64 MiB of memory"),
            ("output", "SANDBOX_OUTPUT", "the output cannot be written as JSON"),
            ("large", "SANDBOX_OUTPUT", "the output is over 1048576 bytes as JSON"),
            ("uncaught", "TOOL_FAILED", " (line 11)"),
            ("itself", "DEPTH_EXCEEDED", "recursion: `script` is already in this call chain (line 12)"),
        ] {
            let told = member.run("script", json!({ "what": what })).await;
            let body = told.is("200 error").json();
            assert_eq!(body["error_code"], code, "{what}: {body}");
            assert!(body["error"].as_str().unwrap().contains(error), "{what}: {body}");
            assert_eq!(run_of(&member, &told.text_at("/run_id")).await["logs"], json!([format!("asked for {what}")]));
        }
        let called = member.run("script", json!({ "what": "call" })).await;
        assert_eq!(called.is("200 success").json()["output"], json!([1, "x"]));
        let inner = member.get(&format!("/api/runs?parent_run_id={}", called.text_at("/run_id"))).await.json();
        assert_eq!((&inner["total"], &inner["items"][0]["tool"]), (&json!(1), &json!("test.echo")));
        let unknown = member.run("script", json!({ "what": "unknown" })).await;
        assert_eq!(unknown.is("200 success").json()["output"]["code"], "TOOL_NOT_FOUND");
        let whole = member.run("script", json!({ "what": "whole" })).await.is("200 success").json();
        assert_eq!((&whole["output"], &whole["summary"], &whole["markdown"]), (&json!([1, 2]), &json!("2 found"), &json!("**2**")));

        let tool = builder.get("/api/tools/script").await.json();
        assert_eq!((&tool["implementation_type"], &tool["tool_type"]), (&json!("artifact"), &json!("artifact")));
        let used = builder.get("/api/tools/test.echo/used-by").await.json();
        assert_eq!(used["items"][0]["slug"], "script");
    }

    async fn source_that_cannot_be_read_is_refused_with_every_fault(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        for (implementation, wanted) in [
            (json!({}), vec!["/implementation/language required", "/implementation/source required"]),
            (json!({ "language": "javascript", "source": "export default (", "code": 1 }), vec!["/implementation/code unknown_member", "/implementation/source script 1"]),
            (json!({ "language": "javascript", "source": "const a = 1;\nimport b from 'b';" }), vec!["/implementation/source script 2", "/implementation/source script_export"]),
            (json!({ "language": "typescript", "source": "enum A { B }\n\nexport default (a: A) => {\n  a ++ a\n}" }), vec!["/implementation/source script 4"]),
            (json!({ "language": "typescript", "source": "export default () => 1;\nenum A { B }" }), vec!["/implementation/source script 2"]),
        ] {
            let body = with(artifact("never", ""), &json!({ "implementation": implementation }));
            let refused = builder.post("/api/tools", &body).await;
            assert_eq!(refused.status, 422);
            assert_eq!(faults(&refused), wanted, "{}", refused.text);
        }
        builder.get("/api/tools/never").await.is("404 TOOL_NOT_FOUND");
    }

    async fn script_ends_with_its_time_or_when_it_is_cancelled(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let endless = "export default () => { console.log('here'); for (;;) {} }";
        make(&builder, &with(artifact("short", endless), &json!({ "timeout_ms": 300 }))).await;
        let body = builder.run("short", json!({})).await.is("200 timed_out").json();
        assert_eq!((&body["error"], &body["error_code"]), (&json!("Tool timed out after 300ms"), &json!("TIMEOUT")));
        assert_eq!(body["logs"], json!(["here"]));

        make(&builder, &artifact("long", endless)).await;
        let waiting = calling(&builder, "long", json!({ "input": {} }));
        let run = first(&builder, "long", "running").await;
        cancel(&builder, &run).await.is("200 cancelled");
        waiting.await.unwrap().is("200 cancelled");
    }

    async fn script_reaches_no_other_tenant_and_no_more_than_its_caller(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let here = world.client(&server, "acme", Role::Builder).await;
        let there = world.client(&server, "globex", Role::Builder).await;
        let member = world.client(&server, "globex", Role::Member).await;
        make(&here, &artifact("mine", "export default () => 1")).await;
        there.run("mine", json!({})).await.is("404 TOOL_NOT_FOUND");
        let call = "export default (input, ctx) => ctx.callTool(input.tool, input.input).catch(({ code }) => code)";
        make(&there, &artifact("caller", call)).await;
        for (tool, code) in [("mine", "TOOL_NOT_FOUND"), ("no.such", "TOOL_NOT_FOUND"), ("test.guarded", "NOT_PERMITTED"), ("test.echo", "MISSING_PARAM")] {
            let told = member.run("caller", json!({ "tool": tool, "input": {} })).await;
            assert_eq!(told.is("200 success").json()["output"], code, "{tool}");
        }
    }

    async fn approvals_inside_outlive_the_server_and_nothing_is_done_twice(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let agent = world.agent(&server, "acme").await;
        let ledger = world.ledger("effects");
        // Whatever differs when the script is run again would be another call, and is refused.
        let source = format!(
            "export default async (input, ctx) => {{
                console.log('begun');
                const first = await ctx.callTool('test.echo', {{ value: [Date.now(), Math.random(), new Date().toISOString()] }});
                const done = await Promise.all([{}, {}]);
                console.log('done');
                return {{ done, same: first.value[0] === Date.now() }};
            }}",
            write(&ledger, "one"), write(&ledger, "two")
        );
        make(&builder, &artifact("script", &source)).await;
        let parked = agent.run("script", json!({})).await;
        let run = parked.is("202 needs_approval").text_at("/run_id");
        assert!(lines_of(&ledger).is_empty());
        server.kill();

        let server = world.server();
        let (approver, agent) = (world.client(&server, "acme", Role::Approver).await, agent.at(&server));
        let waiting = approver.get("/api/approvals").await.json();
        assert_eq!(waiting["total"], 2, "both were asked for at once: {waiting}");
        for approval in waiting["items"].as_array().unwrap() {
            approve(&approver, approval["id"].as_str().unwrap()).await.is("200 success");
        }
        let ended = once(&agent, &run, "success").await;
        assert_eq!(ended["output"], json!({ "done": [{ "done": "one" }, { "done": "two" }], "same": true }));
        assert_eq!(ended["logs"], json!(["begun", "done"]));
        let mut lines = lines_of(&ledger);
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(agent.trail(&run).await, ["tool.started", "tool.completed"]);
    }

    async fn script_at_work_goes_on_after_its_server_was_killed(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("effects");
        make(&builder, &external("lookup", &json!({ "is_async": true }))).await;
        let source = format!(
            "export default async (input, ctx) => {{
                await {};
                const found = await ctx.callTool('lookup');
                await {};
                if (input.spin) for (;;) {{}}
                return found;
            }}",
            write(&ledger, "one"), write(&ledger, "three")
        );
        make(&builder, &artifact("script", &source)).await;
        // One waits for a worker, the other is in the middle of its own code.
        let open = call(&builder, "script", &json!({ "input": {}, "wait_ms": 0 })).await;
        let waits = open.text_at("/run_id");
        let inner = first(&builder, "lookup", "pending").await;
        once(&builder, &waits, "pending").await;
        server.kill();

        let mut server = world.server();
        let builder = builder.at(&server);
        let pending = run_of(&builder, &inner).await["pending_tool_call"]["id"].as_str().unwrap().to_owned();
        answer(&builder, &inner, &pending, &json!("found")).await.is("200 success");
        assert_eq!(once(&builder, &waits, "success").await["output"], "found");
        assert_eq!(lines_of(&ledger), ["one", "three"]);

        let spinning = format!("export default async (input, ctx) => {{ await {}; {} return 1 }}", write(&ledger, "once"),
            "await ctx.callTool('test.slow', { ms: 3000 });");
        make(&builder, &artifact("spinning", &spinning)).await;
        let open = call(&builder, "spinning", &json!({ "input": {}, "wait_ms": 0 })).await;
        // The next step is at work: the effect is on record. Cut off before that, it would not be made again.
        first(&builder, "test.slow", "running").await;
        server.kill();
        let server = world.server();
        let builder = builder.at(&server);
        let run = open.text_at("/run_id");
        // A server of PostgreSQL counts as dead after 15 s; then others look after its runs.
        let ended = async || run_of(&builder, &run).await["status"] == "success";
        eventually("the script has gone on", 2 * PATIENCE, ended).await;
        assert_eq!(run_of(&builder, &run).await["output"], 1);
        assert_eq!(lines_of(&ledger), ["one", "three", "once"]);
    }

    async fn script_that_calls_something_else_when_it_runs_again_ends_and_says_so(db: TestDb) {
        let world = World::on(db).await;
        let mut server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        // A refused call leaves no run, so a server that was not told of the refusal asks again.
        let source = "export default async (input, ctx) => {
            const there = await ctx.callTool('late').then(() => true, () => false);
            return ctx.callTool('test.slow', { ms: there ? 10 : 60000 });
        }";
        make(&builder, &artifact("script", source)).await;
        make(&builder, &artifact("late", "export default () => 1")).await;
        let switch = async |is_active: bool| {
            assert_eq!(builder.patch("/api/tools/late", &json!({ "is_active": is_active })).await.status, 200);
        };
        switch(false).await;
        let open = call(&builder, "script", &json!({ "input": {}, "wait_ms": 0 })).await;
        let run = open.text_at("/run_id");
        first(&builder, "test.slow", "running").await;
        switch(true).await;
        server.kill();

        let server = world.server();
        let builder = builder.at(&server);
        let ended = async || run_of(&builder, &run).await["status"] == "error";
        eventually("the script has ended", 2 * PATIENCE, ended).await;
        let ended = run_of(&builder, &run).await;
        assert_eq!(ended["error_code"], "SANDBOX_EXCEPTION", "{ended}");
        let said = "a resumed script must make the same calls again: call 2 (`test.slow`)";
        assert!(ended["error"].as_str().unwrap().contains(said), "{ended}");
        let made = builder.get(&format!("/api/runs?parent_run_id={run}&tool=test.slow")).await.json();
        assert_eq!(made["total"], 1, "the other one was not made: {made}");
    }

    async fn secret_that_a_script_is_given_is_in_no_log(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let source = "export default (input) => { console.log(`key ${input.api_key}`); throw new Error(input.api_key) }";
        make(&builder, &artifact("script", source)).await;
        let steps = json!([{ "id": "one", "tool": "script", "input": { "api_key": "sk-canary-71234567" } }]);
        make(&builder, &composition("chain", &json!({ "steps": steps }))).await;
        let told = builder.run("chain", json!({})).await;
        assert_eq!(told.is("200 error").json()["error_code"], "SANDBOX_EXCEPTION");
        let inner = builder.get(&format!("/api/runs?parent_run_id={}", told.text_at("/run_id"))).await;
        assert_eq!(inner.json()["items"][0]["logs"], json!(["key ***"]));
        assert!(!inner.text.contains("canary") && !told.text.contains("canary"), "{}", inner.text);
    }
}
