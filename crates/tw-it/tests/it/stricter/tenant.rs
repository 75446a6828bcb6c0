//! Tools of a tenant: versions, drafts, switches and settings, called by every way.

use serde_json::{Value, json};
use tw_test::{Kind, TestDb};
use uuid::Uuid;

use super::{
    add_case, extended, make, script, set,
    states::{definition, held, settings, switches},
    tool,
    ways::{Caller, Case, Tally, Way, callers},
};
use crate::{
    credentials::{execute, literal},
    load::Rng,
    world::{Client, World},
};

/// How many ways a person has, and an agent, who has no browser. Five people and three agents call.
const BY_PERSON: usize = 33;
const PER_STATE: usize = 5 * BY_PERSON + 3 * (BY_PERSON - 1);

/// How many tools a test has, each in three states.
const TOOLS: usize = 7;

/// The comparisons of all tests on SQLite here.
pub(super) const COMPARED: usize = 2 * TOOLS * 3 * PER_STATE;

fn chain(slug: &str, spec: &Value) -> Value {
    let spec = extended(&json!({ "kind": "composition" }), spec);
    tool(slug, &json!({ "implementation_type": "composition", "execution_spec": spec }))
}

/// A tool with an old, a withdrawn and a live version, and chains that call it. Returns its id.
async fn found(author: &Client, index: usize, old: &Value) -> String {
    let (slug, alias) = (format!("own-{index}"), format!("alias-{index}"));
    make(author, &extended(&tool(&slug, old), &json!({ "aliases": [alias] }))).await;
    for number in ["1.1.0", "2.0.0"] {
        author
            .post(&format!("/api/tools/{slug}/version?new_version={number}"), &json!({}))
            .await
            .is("200 published");
        author.post(&format!("/api/tools/{slug}/publish"), &json!({})).await.is("200 published");
    }
    let withdrawn = author.post(&format!("/api/tools/{slug}/versions/1.1.0/withdraw"), &json!({})).await;
    assert_eq!(withdrawn.status, 200, "{}", withdrawn.text);
    add_case(author, &slug, &json!({})).await;
    let id = author.get(&format!("/api/tools/{slug}")).await.text_at("/id");
    let step = |id: &str, tool: &str| json!({ "id": id, "tool": tool });
    let names = [step("a", &alias), step("b", &slug.to_uppercase())];
    let goes_on = json!([{ "id": "s", "tool": slug, "on_error": "continue" }]);
    for (name, spec) in [
        (format!("chain-{index}"), json!({ "steps": [step("s", &slug)] })),
        (format!("outer-{index}"), json!({ "steps": [step("s", &format!("chain-{index}"))] })),
        (format!("names-{index}"), json!({ "steps": names })),
        (
            format!("goes-on-{index}"),
            json!({ "steps": goes_on, "output": { "ran": "{{ steps.s.output }}" } }),
        ),
    ] {
        make(author, &chain(&name, &spec)).await;
    }
    let calls = format!("ctx.callTool('{slug}', {{}})");
    make(author, &script(&format!("script-{index}"), &calls)).await;
    let goes_on = format!("{calls}.catch(() => ({{ ran: null }}))");
    make(author, &script(&format!("script-goes-on-{index}"), &goes_on)).await;
    id
}

/// Holds a tool, as if it had changed on the server it comes from, or lets it go. Written past the program, which would
/// have to ask that server.
async fn hold(world: &World, index: usize, held: bool) {
    let server = literal(&world.db, Uuid::nil());
    let sql = format!(
        "UPDATE tenant_epoch SET epoch = epoch + 1;
         UPDATE tools SET mcp_server_id = {server}, mcp_tool = 'a', mcp_hash = 'a', mcp_held = {held},
            changed_epoch = (SELECT epoch FROM tenant_epoch WHERE tenant_epoch.tenant_id = tools.tenant_id)
         WHERE slug = 'own-{index}';"
    );
    execute(&world.db, sql).await;
}

/// A state in which everybody may call, for the first tool; for the second one in which agents have to ask.
fn set_state(index: usize) -> Option<Value> {
    let policy = [Value::Null, json!("always_ask")].get(index)?.clone();
    Some(json!({
        "permission_level": "read", "required_permission": null, "permission_policy": policy, "enabled": null,
        "is_active": true, "tenant_slugs": [],
    }))
}

/// Brings a tool into a state, and tells it.
async fn bring(world: &World, author: &Client, index: usize, set: Option<Value>, rng: &mut Rng) -> Value {
    let place = format!("/api/tools/own-{index}");
    // A case of a tool that is switched off does not pass.
    let publish = |state: &Value| extended(state, &json!({ "publish": true, "ignore_tests": true }));
    if let Some(state) = set {
        author.patch(&place, &publish(&state)).await.is("200 published");
        return state;
    }
    let held = held(rng);
    hold(world, index, held).await;
    let state = extended(&definition(rng), &switches(rng));
    author.patch(&place, &publish(&state)).await.is("200 published");
    let draft = rng.chance(40).then(|| definition(rng));
    if let Some(draft) = &draft {
        author.patch(&place, draft).await.is("200 published");
    }
    let status = match rng.below(20) {
        0 => Some("deprecated"),
        1 => Some("disabled"),
        _ => None,
    };
    if let Some(status) = status {
        author.patch(&place, &json!({ "status": status })).await.is(&format!("200 {status}"));
    }
    extended(&state, &json!({ "draft on top": draft, "status": status, "held": held }))
}

fn ways(index: usize, id: &str) -> Vec<Way> {
    let (own, alias) = (&*format!("own-{index}"), &*format!("alias-{index}"));
    let (chain, outer) = (&*format!("chain-{index}"), &*format!("outer-{index}"));
    let (names, goes_on) = (&*format!("names-{index}"), &*format!("goes-on-{index}"));
    let input = &json!({});
    let body = |rest: Value| extended(&json!({ "input": input }), &rest);
    let plain = || body(json!({}));
    let lax = json!({ "permission_level": "read", "required_permission": null, "is_active": true, "enabled": true });
    vec![
        Way::run("an old version", own, body(json!({ "version": "1.0.0" }))),
        Way::run("a withdrawn version", own, body(json!({ "version": "1.1.0" }))).that_never_runs(),
        Way::run("the live version by number", own, body(json!({ "version": "2.0.0" }))),
        Way::run("debug mode", own, body(json!({ "mode": "debug" }))),
        Way::run("an old version in debug mode", own, body(json!({ "mode": "debug", "version": "1.0.0" })))
            .for_people(),
        Way::test("a test", own, plain()),
        Way::test("a test of another definition", own, body(json!({ "definition": lax }))),
        Way::test("a test of a chain", chain, plain()),
        Way::test_stream("a test, streamed", own, plain()),
        Way::replay("a replay", own, "draft"),
        Way::replay("a replay against an old version", own, "1.0.0"),
        Way::cases("its test case", own, json!({})),
        Way::cases("its test case against an old version", own, json!({ "against": "1.0.0" })),
        Way::run("a chain", chain, plain()),
        Way::run("a chain in a chain", outer, plain()),
        Way::run("a chain by alias and other case", names, plain()),
        Way::run("a chain that goes on", goes_on, plain()),
        Way::run("a script", &format!("script-{index}"), plain()),
        Way::run("a script that goes on", &format!("script-goes-on-{index}"), plain()),
        Way::run("its id", id, plain()),
        Way::run("other letter case", &own.to_uppercase(), plain()),
        Way::run("an alias", alias, plain()),
        Way::run("an alias and an old version", alias, body(json!({ "version": "1.0.0" }))),
        Way::run("without waiting", own, body(json!({ "wait_ms": 0 }))),
        Way::run("a chain without waiting", chain, body(json!({ "wait_ms": 0 }))),
        Way::browser("a browser", own, plain()),
        Way::mcp("MCP", own, input),
        Way::mcp("an alias over MCP", alias, input),
        Way::present_mcp("MCP, present revision", own, input),
        Way::batch("a batch", own, input),
        Way::batch("a batch, by alias", alias, input),
        Way::batch("a batch, other letter case", &own.to_uppercase(), input).that_never_runs(),
        Way::batch("a batch, a chain in a chain", outer, input),
    ]
}

/// Compares all ways for some tools in as many states as rounds, and says how many comparisons that were.
async fn compared(kind: Kind, seed: u64, tools: usize, rounds: usize) -> usize {
    let world = World::on(TestDb::new(kind).await).await;
    let server = world.server();
    let callers: Vec<Caller> = callers(&world, &server, "acme").await;
    let admin = &callers[0].client;
    let mut rng = Rng::new(seed);
    let mut made = Vec::new();
    for index in 0..tools {
        let old = if index < 2 { json!({}) } else { definition(&mut rng) };
        let id = found(admin, index, &old).await;
        made.push((old, id));
    }
    let mut tally = Tally::default();
    for round in 0..rounds {
        let settings = settings(&mut rng);
        set(admin, &settings).await;
        let mut cases = Vec::new();
        for (index, (old, id)) in made.iter().enumerate() {
            let set = if round == 0 { set_state(index) } else { None };
            let state = bring(&world, admin, index, set, &mut rng).await;
            let state =
                extended(&state, &json!({ "tool": index, "version 1.0.0": old, "settings": settings }));
            let direct = Way::run("direct", &format!("own-{index}"), json!({ "input": {} }));
            cases.push(Case { state, tool: format!("own-{index}"), direct, ways: ways(index, id) });
        }
        tally.compare(seed, &callers, &cases).await;
    }
    tally.check_that_every_way_ran_and_was_asked_about();
    tally.compared()
}

#[tokio::test]
async fn every_way_of_calling_a_tool_of_the_tenant_is_as_strict_as_the_direct_one() {
    assert_eq!(compared(Kind::Sqlite, 11, TOOLS, 3).await, TOOLS * 3 * PER_STATE);
}

#[tokio::test]
async fn every_way_of_calling_other_tools_of_the_tenant_is_as_strict_as_the_direct_one() {
    assert_eq!(compared(Kind::Sqlite, 12, TOOLS, 3).await, TOOLS * 3 * PER_STATE);
}

mod postgres {
    use super::*;

    #[tokio::test]
    async fn every_way_of_calling_a_tool_of_the_tenant_is_as_strict_as_the_direct_one() {
        assert_eq!(compared(Kind::Postgres, 13, 3, 1).await, 3 * PER_STATE);
    }
}
