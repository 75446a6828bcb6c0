//! Scripts that do what they should.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::Barrier;
use tw_sandbox::{
    CallFailure, Script, ScriptCall, ScriptError, ScriptFault, ScriptHost, ScriptLanguage, ScriptLimits,
};

use crate::{PATIENCE, World};

/// Answers calls by a function, and keeps the log.
pub(crate) struct Host<F> {
    pub(crate) logs: Vec<String>,
    pub(crate) rounds: Vec<(usize, usize)>,
    pub(crate) answer: F,
}

impl<F: FnMut(usize, &ScriptCall) -> Option<Result<Value, CallFailure>> + Send> ScriptHost for Host<F> {
    fn log(&mut self, line: String) {
        self.logs.push(line);
    }

    fn restart(&mut self) {
        self.logs.clear();
    }

    async fn call(
        &mut self,
        first: usize,
        calls: Vec<ScriptCall>,
    ) -> Option<Vec<Result<Value, CallFailure>>> {
        self.rounds.push((first, calls.len()));
        calls.iter().enumerate().map(|(at, call)| (self.answer)(first + at, call)).collect()
    }
}

pub(crate) fn host<F>(answer: F) -> Host<F> {
    Host { logs: Vec::new(), rounds: Vec::new(), answer }
}

pub(crate) fn script<'a>(language: ScriptLanguage, source: &'a str, input: &'a Value) -> Script<'a> {
    Script { language, source, input, now_ms: 1_700_000_000_000, seed: [1, 2, 3, 4] }
}

impl World {
    /// A script that makes no calls, and its log.
    pub(crate) async fn js(&self, source: &str, input: Value) -> (Result<Value, ScriptError>, Vec<String>) {
        self.js_within(PATIENCE, source, input).await
    }

    pub(crate) async fn js_within(
        &self,
        time: Duration,
        source: &str,
        input: Value,
    ) -> (Result<Value, ScriptError>, Vec<String>) {
        let mut host =
            host(|_, call: &ScriptCall| -> Option<Result<Value, CallFailure>> { panic!("{call:?}") });
        let script = script(ScriptLanguage::JavaScript, source, &input);
        let given = self.sandbox.script(1, script, ScriptLimits::within(time), &mut host).await;
        (given.map(Option::unwrap), host.logs)
    }
}

#[tokio::test]
async fn script_gives_what_its_function_returns() {
    let world = World::new();
    for (source, input, output) in [
        (
            "export default (input) => ({ sum: input.a + input.b })",
            json!({ "a": 1, "b": 2.5 }),
            json!({ "sum": 3.5 }),
        ),
        (
            "export default async ({ a }) => { await null; return [a, await Promise.resolve(2)] }",
            json!({ "a": "ä" }),
            json!(["ä", 2]),
        ),
        (
            "const twice = (n) => n * 2;\nexport default function (input) { return twice(input.n) }",
            json!({ "n": 4 }),
            json!(8),
        ),
        ("export default () => {}", json!({}), json!(null)),
        ("const late = await Promise.resolve(3); export default () => late", json!({}), json!(3)),
        (
            "export default (input) => ({ ...input, t: '{{ input.x }}' })",
            json!({ "x": "{{y}}" }),
            json!({ "x": "{{y}}", "t": "{{ input.x }}" }),
        ),
        (
            "export default () => [typeof setTimeout, typeof fetch, typeof process, typeof require, typeof SharedArrayBuffer, typeof Atomics, typeof performance]",
            json!({}),
            json!([
                "undefined",
                "undefined",
                "undefined",
                "undefined",
                "undefined",
                "undefined",
                "undefined"
            ]),
        ),
        (
            "export default () => [(() => 1) instanceof Function, new Date(5).getTime(), new Date() instanceof Date]",
            json!({}),
            json!([true, 5, true]),
        ),
    ] {
        let (given, _) = world.js(source, input).await;
        assert_eq!(given.unwrap_or_else(|error| panic!("{source}: {error}")), output, "{source}");
    }
}

#[tokio::test]
async fn typescript_runs_and_its_lines_are_those_of_the_author() {
    let world = World::new();
    let source = "interface Input {\n  a: number;\n}\n\nexport default (input: Input): number => {\n  if (input.a > 1) throw new Error('too much' as string);\n  return input.a;\n};\n";
    for (a, wanted) in [(1, Ok(json!(1))), (2, Err("too much (line 6)"))] {
        let input = json!({ "a": a });
        let mut host = host(|_, _: &ScriptCall| None);
        let script = script(ScriptLanguage::TypeScript, source, &input);
        let given = world.sandbox.script(1, script, ScriptLimits::within(PATIENCE), &mut host).await;
        assert_eq!(
            given.map(Option::unwrap).map_err(|error| error.to_string()),
            wanted.map_err(str::to_owned)
        );
    }
    assert_eq!(world.workers().len(), 1);
}

#[tokio::test]
async fn log_is_told_in_order() {
    let world = World::new();
    let source = "export default () => { console.log('a', 1, { b: [2] }); console.warn(new TypeError('no')); console.error(null, undefined) }";
    let (given, logs) = world.js(source, json!({})).await;
    assert_eq!(given.unwrap(), json!(null));
    assert_eq!(logs, ["a 1 {\"b\":[2]}", "TypeError: no", "null undefined"]);
}

#[tokio::test]
async fn time_and_chance_are_those_of_the_run() {
    let world = World::new();
    let source = "export default async () => [Date.now(), new Date().toISOString(), Date().length > 0, Math.random(), Math.random()]";
    let (first, _) = world.js(source, json!({})).await;
    let (second, _) = world.js(source, json!({})).await;
    let first = first.unwrap();
    assert_eq!(first, second.unwrap());
    assert_eq!((&first[0], &first[1]), (&json!(1_700_000_000_000_u64), &json!("2023-11-14T22:13:20.000Z")));
    let chances = [first[3].as_f64().unwrap(), first[4].as_f64().unwrap()];
    assert!(
        chances[0] != chances[1] && chances.iter().all(|chance| (0.0..1.0).contains(chance)),
        "{chances:?}"
    );
}

#[tokio::test]
async fn calls_are_answered_in_their_order_and_failures_can_be_caught() {
    let world = World::new();
    let source = "export default async (input, ctx) => {
        const [a, b] = await Promise.all([ctx.callTool('one', { n: 1 }), ctx.callTool('two', { n: 2 })]);
        let failed;
        try { await ctx.callTool('three'); } catch (error) { failed = error; }
        return { a, b, failed, again: await ctx.callTool('one', { n: 4 }) };
    }";
    let mut host = host(|_, call: &ScriptCall| {
        Some(match call.tool.as_str() {
            "three" => Err(CallFailure { code: "NOT_PERMITTED".to_owned(), message: "no".to_owned() }),
            _ => Ok(json!({ "tool": call.tool, "input": call.input })),
        })
    });
    let input = json!({});
    let script = script(ScriptLanguage::JavaScript, source, &input);
    let given =
        world.sandbox.script(1, script, ScriptLimits::within(PATIENCE), &mut host).await.unwrap().unwrap();
    assert_eq!(given["a"], json!({ "tool": "one", "input": { "n": 1 } }));
    assert_eq!(given["b"]["input"]["n"], 2);
    assert_eq!(given["failed"], json!({ "message": "no", "code": "NOT_PERMITTED" }));
    assert_eq!(given["again"]["input"]["n"], 4);
    assert_eq!(host.rounds, [(0, 2), (2, 1), (3, 1)]);
}

#[tokio::test]
async fn failure_of_a_call_that_is_not_caught_keeps_its_code_and_the_line_of_the_call() {
    let world = World::new();
    let source = "export default async (input, ctx) => {\n  const a = 1;\n  return ctx.callTool('x');\n}";
    let mut host = host(|_, _: &ScriptCall| {
        Some(Err(CallFailure { code: "TOOL_DISABLED".to_owned(), message: "off".to_owned() }))
    });
    let input = json!({});
    let script = script(ScriptLanguage::JavaScript, source, &input);
    let error = world.sandbox.script(1, script, ScriptLimits::within(PATIENCE), &mut host).await.unwrap_err();
    let ScriptError::Exception { message, line, code } = error else { panic!("{error:?}") };
    assert_eq!((message.as_str(), line, code.as_deref()), ("off", Some(3), Some("TOOL_DISABLED")));
}

#[tokio::test]
async fn call_that_waits_suspends_the_script_and_the_worker_is_free() {
    let world = World::new();
    let source = "export default async (input, ctx) => ctx.callTool('slow')";
    let mut host = host(|_, _: &ScriptCall| None);
    let input = json!({});
    let limits = ScriptLimits::within(PATIENCE);
    assert!(
        world
            .sandbox
            .script(1, script(ScriptLanguage::JavaScript, source, &input), limits, &mut host)
            .await
            .unwrap()
            .is_none()
    );
    let (given, _) = world.js("export default () => 1", json!({})).await;
    assert_eq!(given.unwrap(), json!(1));
}

#[tokio::test]
async fn source_is_checked_without_running_it() {
    let world = World::new();
    let check = |source: &str| world.sandbox.check_script(ScriptLanguage::JavaScript, source).unwrap();
    assert_eq!(check("while (true) {}\nexport default () => 1"), []);
    assert_eq!(check("const a = 1;"), [ScriptFault::NoExport]);
    let faults = check("export default () => 1;\nlet a = 1;\nlet a = 2;");
    assert!(matches!(&faults[..], [ScriptFault::Syntax { line: 3, .. }]), "{faults:?}");
    for deep in [
        "[".repeat(100_000),
        "(".repeat(100_000),
        "!".repeat(200_000),
        "a=>".repeat(50_000),
        "{".repeat(200_000),
    ] {
        let faults = check(&format!("export default {deep}"));
        assert!(matches!(&faults[..], [ScriptFault::Syntax { .. }, ..]), "{faults:?}");
    }
}

/// Waits for all others in its first call.
struct Patient {
    all: Arc<Barrier>,
    begun: usize,
    made: usize,
}

impl ScriptHost for Patient {
    fn log(&mut self, _: String) {}

    fn restart(&mut self) {
        self.begun += 1;
    }

    async fn call(&mut self, _: usize, _: Vec<ScriptCall>) -> Option<Vec<Result<Value, CallFailure>>> {
        self.made += 1;
        if self.made == 1 {
            self.all.wait().await;
        }
        Some(vec![Ok(json!(1))])
    }
}

#[tokio::test]
async fn more_scripts_than_workers_wait_at_once_and_all_come_to_their_end() {
    // As many as may wait with their worker, and some more.
    const ALL: usize = 32 + 6;
    let world = World::new();
    let all = Arc::new(Barrier::new(ALL));
    let source = "export default (input, ctx) => ctx.callTool('a')";
    let input = json!({});
    let runs = (0..ALL).map(async |lane| {
        let mut host = Patient { all: Arc::clone(&all), begun: 0, made: 0 };
        let script = script(ScriptLanguage::JavaScript, source, &input);
        let given =
            world.sandbox.script(lane as u128, script, ScriptLimits::within(PATIENCE), &mut host).await;
        assert_eq!(given.unwrap(), Some(json!(1)));
        host.begun
    });
    let begun = futures::future::join_all(runs).await;
    let times = |times| begun.iter().filter(|&&begun| begun == times).count();
    assert_eq!((times(1), times(2)), (32, ALL - 32), "{begun:?}");
}
