//! Scripts that try to get out, to stay, or to take more than there is for them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tw_sandbox::{ScriptCall, ScriptError, ScriptLanguage, ScriptLimits};

use crate::{
    PATIENCE, SOON, World,
    scripts::{host, script},
};

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
async fn script_that_bends_the_language_bends_it_for_itself_alone() {
    all(
        PATIENCE,
        &[
            // What it is given is its own copy, and what it gives back is data.
            ("export default (input) => { Object.defineProperty(input, 'a', { get: () => 7 }); return input }", End::Output(json!({ "a": 7 }))),
            ("export default (input) => { input.__proto__.left = 1; input.constructor.left = 1; return Object.keys(input) }", End::Output(json!(["a"]))),
            ("export default () => JSON.parse('{\"__proto__\": { \"left\": 1 }, \"constructor\": 2 }')", End::Output(json!({ "__proto__": { "left": 1 }, "constructor": 2 }))),
            ("export default () => ({ ['__proto__']: 1 })", End::Output(json!({ "__proto__": 1 }))),
            ("export default () => Object.create({ left: 1 }, { seen: { value: 2, enumerable: true } })", End::Output(json!({ "seen": 2 }))),
            ("export default () => new Proxy([1, 2], { get: (all, key) => key === 'length' ? 2 : all[key] })", End::Output(json!([1, 2]))),
            ("export default () => ({ then: (resolve) => resolve(3) })", End::Output(json!(3))),
            ("export default () => ({ then: (_, reject) => reject(new Error('no')) })", End::Exception),
            ("export default () => ({ then() {} })", End::Exception),
            ("export default () => { const a = { then: (resolve) => resolve(a) }; let left = 5; a.then = (resolve) => resolve(left-- ? a : 4); return a }", End::Output(json!(4))),
            ("export default function* () { yield 1 }", End::Output(json!({}))),
            ("export default async function* () { yield 1 }", End::Output(json!({}))),
            ("export default () => [undefined, () => 1, Symbol('a'), NaN, -0, Infinity]", End::Output(json!([null, null, null, null, 0, null]))),
            ("export default () => ({ a: 1n })", End::NotJson),
            // Its surroundings are frozen, or its own.
            ("export default (input, ctx) => { 'use strict'; ctx.left = 1 }", End::Exception),
            ("export default (input, ctx) => { delete ctx.callTool }", End::Exception),
            ("export default (input, ctx) => Object.setPrototypeOf(ctx, null)", End::Exception),
            ("export default () => { console.log = () => {} }", End::Exception),
            ("export default () => { globalThis.console = null; globalThis.Date = null; return Object.keys(globalThis).includes('native') }", End::Output(json!(false))),
            ("export default () => [globalThis.native, globalThis.std, globalThis.os, globalThis.process].every((it) => it === undefined)", End::Output(json!(true))),
            ("export default () => new (Object.getPrototypeOf(function* () {}).constructor)('return 1')", End::Exception),
            ("export default () => Reflect.construct((() => {}).constructor, ['return 1'])()", End::Exception),
            ("export default () => [1].map(eval)", End::Exception),
            ("export default () => new Function.prototype.constructor('return 1')", End::Exception),
            ("const left = await import('data:text/javascript,export default 1'); export default () => 1", End::Exception),
            ("export default () => import.meta.url ?? 'none'", End::Output(json!("none"))),
            ("export default () => globalThis.WebAssembly ?? globalThis.Worker ?? globalThis.WeakRef ?? 'none'", End::Output(json!("none"))),
            ("export default () => { throw new Error('x'.repeat(1e6)) }", End::Exception),
            ("export default () => { const error = new Error('x'); error.stack = 'artifact:3 '.repeat(1e6); throw error }", End::Exception),
            ("export default () => { const error = new Error('x'); error.line = -1; error.code = 'DENIED'; throw error }", End::Exception),
            ("export default () => { throw new Proxy(new Error('x'), { get() { throw 1 } }) }", End::Exception),
            ("export default () => { const deep = (n) => n === 0 ? 0 : [deep(n - 1)]; return JSON.stringify(deep(100)).length }", End::Output(json!(201))),
            ("export default () => JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", End::Exception),
            ("export default () => structuredClone({})", End::Exception),
        ],
    )
    .await;
}

/// What the script's side keeps to, the serving side asks of it.
#[tokio::test]
async fn script_that_bends_what_drives_it_gets_no_more_than_its_share() {
    let world = World::new();
    let run = async |source: &str, answer: &mut (dyn FnMut() + Send)| {
        let input = json!({ "a": 1 });
        let mut host = host(|_, _: &ScriptCall| {
            answer();
            Some(Ok(json!(1)))
        });
        let script = script(ScriptLanguage::JavaScript, source, &input);
        let given = world.sandbox.script(1, script, ScriptLimits::within(PATIENCE), &mut host).await;
        (given.map(Option::unwrap), host.rounds)
    };
    let mut made = 0;
    let many = "export default async (input, ctx) => { let made = 0; for (;;) { await ctx.callTool('a'); made += 1 } }";
    let (given, rounds) = run(many, &mut || made += 1).await;
    let Err(ScriptError::Exception { code, .. }) = given else { panic!("{given:?}") };
    assert_eq!((code.as_deref(), rounds.len(), made), (Some("BUDGET_EXCEEDED"), 1000, 1000));

    for (name, source) in [
        (
            "more at once than may be",
            "const all = Array.from({ length: 50 }, () => ({ tool: 'a', text: '1', resolve() {}, reject() {} })); Array.prototype.splice = () => all; export default () => 1",
        ),
        (
            "more in all than may be",
            "let left = 2000; const one = [{ tool: 'a', text: '1', resolve() {}, reject() {} }]; Array.prototype.splice = () => left-- ? one : []; export default () => 1",
        ),
        (
            "no calls but something else",
            "Array.prototype.splice = () => [{ tool: 'a', text: '1}, 7, {' }]; export default () => 1",
        ),
    ] {
        let mut made = 0;
        let (given, rounds) = run(source, &mut || made += 1).await;
        assert!(
            matches!(given, Err(ScriptError::Output { .. } | ScriptError::Worker { .. })),
            "{name}: {given:?}"
        );
        assert!(made <= 1000 && rounds.iter().all(|(_, calls)| *calls <= 8), "{name}: {made} calls");
    }
    // What it says of itself is as short as it would be.
    let loud = "String.prototype.slice = () => 'x'.repeat(2e7); String.prototype.toWellFormed = String.prototype.slice; export default () => { throw new Error('no') }";
    let (given, _) = run(loud, &mut || {}).await;
    let told = given.unwrap_err().to_string();
    assert!(told.len() <= 5000, "{} bytes", told.len());
    // Calls that nobody waits for are made before the end, and their number has one too.
    let late = "export default (input, ctx) => { const again = () => ctx.callTool('a').then(again); again(); return 1 }";
    let (given, rounds) = run(late, &mut || {}).await;
    assert_eq!((given.unwrap(), rounds.len()), (json!(1), 1000));
    assert_eq!(world.js("export default (input) => input", json!([1])).await.0.unwrap(), json!([1]));
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
async fn time_of_a_script_is_kept_to_a_tenth() {
    let world = World::new();
    let mut fastest = Duration::MAX;
    let sources = [
        "export default () => { for (;;) {} }",
        "export default async () => { for (;;) await null }",
        "export default () => { for (;;) { try { for (;;) {} } catch {} } }",
        "export default () => { let text = 'a'; for (;;) text = (text + text).slice(0, 1e6) }",
    ];
    for source in sources.iter().cycle().take(8) {
        let (end, _) = attempt(&world, PATIENCE, "export default () => 1").await;
        assert_eq!(end, End::Output(json!(1)));
        let began = Instant::now();
        let (end, why) = attempt(&world, SOON, source).await;
        let took = began.elapsed();
        assert_eq!(end, End::Time, "{source}: {why}");
        assert!(SOON <= took, "{source}: {took:?}");
        fastest = fastest.min(took);
    }
    // The machine may have been busy with something else at most of them.
    assert!(fastest < SOON + SOON / 10, "{fastest:?}");
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
