//! Recorded calls, made again with a draft or a version.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{artifact, composition, make, with};
use crate::world::{Answer, Client, World, lines_of};

async fn replay(who: &Client, tool: &str, body: &Value) -> Answer {
    who.post(&format!("/api/tools/{tool}/replay"), body).await
}

fn counts(report: &Value) -> (i64, i64, i64) {
    let count = |name: &str| report[name].as_i64().unwrap_or_else(|| panic!("{report}"));
    (count("same"), count("different"), count("not_replayed"))
}

/// A chain of level `read` that gives back a text made of its input.
fn saying(slug: &str, text: &str) -> Value {
    let steps = json!([{ "id": "say", "tool": "test.echo", "input": { "value": text } }]);
    let chain = composition(slug, &json!({ "steps": steps, "output": "{{ steps.say.output.value }}" }));
    with(chain, &json!({ "permission_level": "read" }))
}

/// A chain of level `read` with a step that writes a line.
fn writing(slug: &str, file: &str, line: &str) -> Value {
    let steps = json!([{ "id": "w", "tool": "test.write", "input": { "file": file, "line": line } }]);
    let chain = composition(slug, &json!({ "steps": steps, "output": "wrote {{ steps.w.output.done }}" }));
    with(chain, &json!({ "permission_level": "read" }))
}

fn spec(tool: &Value) -> Value {
    json!({ "execution_spec": tool["execution_spec"] })
}

on_both! {
    async fn replay_tells_same_and_different_outputs_and_counts_as_debug(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &saying("greet", "n is {{ input.n }}")).await;
        let mut runs = Vec::new();
        for n in [1, 2] {
            runs.push(builder.run("greet", json!({ "n": n })).await.is("200 success").text_at("/run_id"));
        }
        let report = replay(&builder, "greet", &json!({ "version": "draft" })).await.json();
        assert_eq!(counts(&report), (2, 0, 0), "{report}");
        let item = &report["items"][1];
        assert_eq!((&item["run_id"], &item["input"]), (&json!(runs[0]), &json!({ "n": 1 })));
        assert_eq!((&item["recorded"], &item["replayed"], &item["same"]), (&json!("n is 1"), &json!("n is 1"), &json!(true)));
        let made = builder.get(&format!("/api/runs/{}", item["replay_run_id"].as_str().unwrap())).await.json();
        assert_eq!((&made["mode"], &made["status"]), (&json!("debug"), &json!("success")));

        builder.patch("/api/tools/greet", &spec(&saying("greet", "N is {{ input.n }}"))).await.is("200 published");
        let report = replay(&builder, "greet", &json!({ "version": "draft", "limit": 1 })).await.json();
        assert_eq!(counts(&report), (0, 1, 0), "what was replayed before is no recorded call: {report}");
        let item = &report["items"][0];
        assert_eq!((&item["run_id"], &item["replayed"]), (&json!(runs[1]), &json!("N is 2")));
        assert_eq!(item["diff"][0], json!({ "path": "/output", "expected": "n is 2", "actual": "N is 2" }));
        let report = replay(&builder, "greet", &json!({ "version": "1.0.0" })).await.json();
        assert_eq!(counts(&report), (2, 0, 0), "the number stands for what was published: {report}");

        let ask = |arguments: &[&str]| {
            let mut command = world.command();
            command.env("TOOLWRIGHT_URL", &server.url).env("TOOLWRIGHT_KEY", builder.key.as_ref().unwrap());
            let output = command.args(["runs", "replay", "--tool", "greet"]).args(arguments).output().unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (code, said) = ask(&["--against", "draft"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("/output: was \"n is 2\", is \"N is 2\""), "{said}");
        assert!(said.ends_with("0 same, 2 different, 0 not replayed\n"), "{said}");
        let (code, said) = ask(&["--against", "1.0.0", "--json"]);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(counts(&serde_json::from_str(&said).unwrap()), (2, 0, 0));
    }

    async fn step_with_effects_is_answered_from_the_record_and_never_run(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("replayed");
        let file = ledger.to_str().unwrap();
        make(&builder, &writing("noting", file, "n {{ input.n }}")).await;
        builder.run("noting", json!({ "n": 1 })).await.is("200 success");
        assert_eq!(lines_of(&ledger), ["n 1"]);
        let report = replay(&builder, "noting", &json!({ "version": "draft" })).await.json();
        assert_eq!(counts(&report), (1, 0, 0), "{report}");
        assert_eq!(report["items"][0]["replayed"], "wrote n 1");

        builder.patch("/api/tools/noting", &spec(&writing("noting", file, "other {{ input.n }}"))).await.is("200 published");
        let report = replay(&builder, "noting", &json!({ "version": "draft" })).await.json();
        assert_eq!(counts(&report), (0, 1, 0), "{report}");
        let item = &report["items"][0];
        assert_eq!(item["replayed_error_code"], "NOT_RECORDED");
        assert!(item["reason"].as_str().unwrap().contains("`test.write`"), "{item}");
        assert_eq!(item["reason_code"], "not_recorded");
        assert_eq!(item["reason_params"], json!({ "tools": ["test.write"] }));
        assert_eq!(lines_of(&ledger), ["n 1"], "a replay has no effects");
    }

    async fn script_and_chain_in_a_chain_are_replayed_without_their_effects(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let ledger = world.ledger("replayed");
        let file = ledger.to_str().unwrap();
        let script = |said: &str, line: &str| {
            artifact("script", &format!(
                "export default async (input, ctx) => {{
                    const asked = await ctx.callTool('test.echo', {{ value: input.n }});
                    const done = await ctx.callTool('test.write', {{ file: {file:?}, line: {line} }});
                    return `{said} ${{asked.value}}: ${{done.done}}`;
                }}"
            ))
        };
        make(&builder, &script("wrote", "`n ${input.n}`")).await;
        let steps = json!([{ "id": "inner", "tool": "script", "input": { "n": "{{ input.n }}" } }]);
        let outer = composition("outer", &json!({ "steps": steps, "output": "{{ steps.inner.output }}" }));
        make(&builder, &with(outer, &json!({ "permission_level": "read" }))).await;
        builder.run("script", json!({ "n": 1 })).await.is("200 success");
        builder.run("outer", json!({ "n": 2 })).await.is("200 success");
        let written = ["n 1", "n 2"];
        assert_eq!(lines_of(&ledger), written);
        let of = async |tool: &str| replay(&builder, tool, &json!({ "version": "draft" })).await.json();
        let report = of("script").await;
        assert_eq!(counts(&report), (1, 0, 0), "{report}");
        assert_eq!(report["items"][0]["replayed"], "wrote 1: n 1");
        let report = of("outer").await;
        assert_eq!(counts(&report), (1, 0, 0), "{report}");
        assert_eq!(report["items"][0]["replayed"], "wrote 2: n 2");

        // Another text is a difference; another effect is one that was never recorded.
        let source = |body: Value| json!({ "implementation": body["implementation"] });
        builder.patch("/api/tools/script", &source(script("put down", "`n ${input.n}`"))).await.is("200 published");
        let report = of("script").await;
        assert_eq!(counts(&report), (0, 1, 0), "{report}");
        assert_eq!(report["items"][0]["replayed"], "put down 1: n 1");
        builder.patch("/api/tools/script", &source(script("wrote", "`other ${input.n}`"))).await.is("200 published");
        let report = of("script").await;
        assert_eq!(counts(&report), (0, 1, 0), "{report}");
        assert!(report["items"][0].to_string().contains("test.write"), "{report}");
        assert_eq!(lines_of(&ledger), written, "a replay has no effects");
    }

    async fn replay_is_refused_where_it_must_not_be_made(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        let agent = world.agent(&server, "acme").await;
        world.add_tenant("other").await;
        let stranger = world.client(&server, "other", Role::Admin).await;
        make(&builder, &saying("greet", "n is {{ input.n }}")).await;
        let draft = json!({ "version": "draft" });
        for tool in ["test.write", "test.destroy"] {
            replay(&builder, tool, &draft).await.is("409 CONFLICT");
        }
        replay(&stranger, "greet", &draft).await.is("404 TOOL_NOT_FOUND");
        replay(&agent, "greet", &draft).await.is("403 NOT_PERMITTED");
        replay(&builder, "greet", &json!({ "version": "7.0.0" })).await.is("404 NOT_FOUND");
        replay(&builder, "greet", &json!({ "version": "live" })).await.is("422 INVALID_PARAMS");
        replay(&builder, "greet", &json!({})).await.is("422 MISSING_PARAM");
        for limit in [0, 101] {
            replay(&builder, "greet", &json!({ "version": "draft", "limit": limit })).await.is("422 INVALID_PARAMS");
        }
        let both = replay(&builder, "greet", &json!({ "version": "live", "limit": 0 })).await;
        let faults = both.is("422 INVALID_PARAMS").json()["errors"].clone();
        assert_eq!([&faults[0]["path"], &faults[1]["path"]], [&json!("/limit"), &json!("/version")], "{faults}");
        // A member replays their own calls, and no draft.
        builder.run("greet", json!({ "n": 1 })).await.is("200 success");
        member.run("greet", json!({ "n": 2 })).await.is("200 success");
        builder.patch("/api/tools/greet", &spec(&saying("greet", "x"))).await.is("200 published");
        replay(&member, "greet", &draft).await.is("403 NOT_PERMITTED");
    }

    async fn failed_calls_are_replayed_and_calls_with_secrets_are_not(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        builder.run("test.fail", json!({ "message": "no" })).await.is("200 error");
        let report = replay(&builder, "test.fail", &json!({ "version": "draft" })).await.json();
        assert_eq!(counts(&report), (1, 0, 0), "{report}");
        assert_eq!(report["items"][0]["replayed_status"], "error");
        builder.run("test.echo", json!({ "value": { "api_key": "***" } })).await.is("200 success");
        let report = replay(&builder, "test.echo", &json!({ "version": "draft" })).await.json();
        assert_eq!(counts(&report), (0, 0, 1), "{report}");
        assert!(report["items"][0]["reason"].as_str().unwrap().contains("/value/api_key"), "{report}");
        assert_eq!(report["items"][0]["reason_code"], "secret");
        assert!(report["items"][0]["same"].is_null());
    }
}
