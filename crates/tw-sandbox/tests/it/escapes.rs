//! Scripts that try to get out, to stay, or to take more than there is for them.

use std::time::Duration;

use serde_json::{Value, json};
use tw_sandbox::ScriptError;

use crate::{PATIENCE, SOON, World};

/// How an attempt ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Output(Value),
    Exception,
    Memory,
    NotJson,
    Time,
}

async fn attempt(world: &World, time: Duration, source: &str) -> (End, String) {
    let (given, _) = world.js_within(time, source, json!({ "a": 1 })).await;
    match given {
        Ok(output) => (End::Output(output), String::new()),
        Err(error) => {
            let end = match &error {
                ScriptError::Exception { .. } => End::Exception,
                ScriptError::Memory { .. } => End::Memory,
                ScriptError::Output { .. } => End::NotJson,
                ScriptError::Time { .. } => End::Time,
                ScriptError::Worker { .. } => panic!("{source}: {error:?}"),
            };
            (end, error.to_string())
        }
    }
}

/// Each ends as it should, and the next run finds a world that nobody has been in.
async fn all(time: Duration, attempts: &[(&str, End)]) {
    let world = World::new();
    let clean = "export default (input) => [Object.keys(globalThis).filter((name) => name.startsWith('left')), ({}).left ?? null, [].map((x) => x), JSON.stringify(input)]";
    for (source, wanted) in attempts {
        let (end, why) = attempt(&world, time, source).await;
        assert_eq!(end, *wanted, "{source}: {why}");
        let (next, why) = attempt(&world, PATIENCE, clean).await;
        assert_eq!(next, End::Output(json!([[], null, [], "{\"a\":1}"])), "after {source}: {why}");
    }
}

#[tokio::test]
async fn script_cannot_get_out_nor_leave_anything_behind() {
    all(
        PATIENCE,
        &[
            ("Object.prototype.left = 1; globalThis.left = 2; Array.prototype.map = () => 3; export default () => 1", End::Output(json!(1))),
            ("JSON.stringify = () => 'x'; JSON.parse = () => 4; Promise.prototype.then = null; export default (input) => input", End::Output(json!({ "a": 1 }))),
            ("String.prototype.toJSON = () => 5; export default () => new String('x')", End::Output(json!(5))),
            ("export default () => eval('1')", End::Exception),
            ("export default () => (0, eval)('1')", End::Exception),
            ("export default () => Function('return 1')()", End::Exception),
            ("export default () => (() => {}).constructor('return 1')()", End::Exception),
            ("export default () => (async () => {}).constructor('return 1')()", End::Exception),
            ("export default () => (function* () {}).constructor('return 1')()", End::Exception),
            ("export default () => import('os')", End::Exception),
            ("export default () => import('/etc/passwd')", End::Exception),
            ("export default () => setTimeout(() => {}, 1)", End::Exception),
            ("export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", End::Exception),
            ("export default () => require('fs')", End::Exception),
            ("export default () => std.open('/etc/passwd')", End::Exception),
            ("export default (input, ctx) => { ctx.callTool = null; return 1 }", End::Exception),
            ("export default () => { throw null }", End::Exception),
            ("export default () => { throw { get message() { throw 1 } } }", End::Exception),
            ("export default () => Promise.reject(undefined)", End::Exception),
            ("export default () => new Promise(() => {})", End::Exception),
            ("await new Promise(() => {}); export default () => 1", End::Exception),
            ("export default 5", End::Exception),
            ("const f = () => f() + 1; export default () => f()", End::Exception),
            ("export default () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length }", End::Exception),
            ("export default () => new RegExp('('.repeat(1e5))", End::Exception),
        ],
    )
    .await;
}

#[tokio::test]
async fn output_that_is_not_json_is_told_as_that() {
    all(
        PATIENCE,
        &[
            ("export default () => () => 1", End::NotJson),
            ("export default () => Symbol('a')", End::NotJson),
            ("export default () => 10n", End::NotJson),
            ("export default () => { const a = {}; a.a = a; return a }", End::NotJson),
            ("export default () => ({ get a() { throw new Error('no') } })", End::NotJson),
            ("export default () => ({ toJSON() { throw 1 } })", End::NotJson),
            ("export default () => new Proxy({}, { ownKeys() { throw 1 } })", End::NotJson),
            ("export default () => 'a'.repeat(1 << 20)", End::NotJson),
            (
                "export default () => { let a = 1; for (let i = 0; i < 200; i++) a = [a]; return a }",
                End::NotJson,
            ),
            (
                "export default () => ({ toJSON: () => ({ b: 1 }), c: undefined, n: NaN })",
                End::Output(json!({ "b": 1 })),
            ),
            ("export default () => 'a'.repeat((1 << 20) - 2).length", End::Output(json!((1 << 20) - 2))),
            ("export default () => ['\\ud800', '\\ud83d\\ude00', '\\0', '\\u2028']", End::NotJson),
        ],
    )
    .await;
}

#[tokio::test]
async fn script_gets_no_more_memory_than_its_limit() {
    all(
        PATIENCE,
        &[
            ("export default () => { let a = 'x'; for (;;) a += a }", End::Memory),
            ("export default () => { const a = []; for (;;) a.push({ a }) }", End::Memory),
            ("export default () => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }", End::Memory),
            ("export default () => new ArrayBuffer(1 << 30).byteLength", End::Memory),
            ("export default () => { const a = new Map(); for (let i = 0; ; i++) a.set(i, `${i}`) }", End::Memory),
            ("export default () => new Array(1e8).fill(1).length", End::Memory),
            ("export default async () => { const a = []; for (;;) { a.push(new Array(1000).fill(0)); await null } }", End::Memory),
            ("export default () => 'ab'.repeat(1e8).split('').length", End::Memory),
        ],
    )
    .await;
}

#[tokio::test]
async fn endless_script_ends_with_its_time() {
    all(
        SOON,
        &[
            ("export default () => { for (;;) {} }", End::Time),
            ("for (;;) {}; export default () => 1", End::Time),
            ("export default async () => { for (;;) await null }", End::Time),
            ("const f = () => { Promise.resolve().then(f) }; export default () => { f(); return new Promise(() => {}) }", End::Time),
            ("export default () => /^(a+)+$/.test('a'.repeat(60) + '!')", End::Time),
            ("export default () => ({ toJSON() { for (;;) {} } })", End::Time),
            ("export default () => { throw { get message() { for (;;) {} } } }", End::Time),
            ("export default () => { for (;;) { try { for (;;) {} } catch {} } }", End::Time),
            ("export default () => { const a = []; for (;;) { try { a.push(new Array(1e6).fill(0)) } catch {} } }", End::Time),
        ],
    )
    .await;
}

#[tokio::test]
async fn log_is_cut_at_its_limit_and_the_script_goes_on() {
    let world = World::new();
    let (given, logs) = world
        .js(
            "export default () => { for (let i = 0; i < 100000; i++) console.log('line ' + i); return 1 }",
            json!({}),
        )
        .await;
    assert_eq!(given.unwrap(), json!(1));
    let bytes: usize = logs.iter().map(String::len).sum();
    assert!((55_000..=(64 << 10) + 100).contains(&bytes), "{bytes}");
    assert!(logs.last().unwrap().ends_with("the rest is left out)"), "{:?}", logs.last());
    let (_, logs) = world.js("export default () => console.log('ä'.repeat(1e6))", json!({})).await;
    assert_eq!(logs.len(), 1);
    assert!(logs[0].len() <= (64 << 10) + 100);
}

#[tokio::test]
async fn log_of_a_script_that_ran_out_of_time_is_kept() {
    let world = World::new();
    let (given, logs) =
        world.js_within(SOON, "export default () => { console.log('here'); for (;;) {} }", json!({})).await;
    assert!(matches!(given, Err(ScriptError::Time { .. })));
    assert_eq!(logs, ["here"]);
}
