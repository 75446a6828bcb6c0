//! Tools of the program, as tenants have changed them: called by every way.

use futures::future::join_all;
use serde_json::{Value, json};
use tw_test::{Kind, TestDb};

use super::{
    add_case, extended, make, script, set,
    states::{overlay, settings},
    tool,
    ways::{Caller, Case, Tally, Way, callers},
};
use crate::{
    load::Rng,
    world::{Client, Server, World},
};

const BY_PERSON: usize = 31;
const PER_STATE: usize = 5 * BY_PERSON + 3 * (BY_PERSON - 1);

/// The comparisons of all tests on SQLite here.
pub(super) const COMPARED: usize = 2 * TENANTS * TOOLS * 3 * PER_STATE;

const TENANTS: usize = 3;
const TOOLS: usize = 2;

/// Tools of the program that others can be made of, with an input for each.
fn program() -> [(&'static str, Value); TOOLS] {
    [
        ("json_transform", json!({ "data": 1, "expression": "." })),
        ("datetime_utils", json!({ "operation": "parse", "value": "2026-01-31T12:00:00Z" })),
    ]
}

/// Makes the tools by which a tool of the program is called.
async fn surround(author: &Client, slug: &str, input: &Value) {
    let step = |tool: &str| {
        let steps = json!([{ "id": "s", "tool": tool, "input": input }]);
        json!({ "implementation_type": "composition", "execution_spec": { "kind": "composition", "steps": steps } })
    };
    let called = json!({ "function_name": slug, "arguments": input });
    let calls = json!([{ "id": "s", "tool": "function_call", "input": called }]);
    for (name, rest) in [
        ("wrapper", json!({ "implementation": { "builtin_key": slug } })),
        (
            "function",
            json!({ "implementation_type": "function", "implementation": { "function_name": slug } }),
        ),
        ("chain", step(slug)),
        ("outer", step(&format!("chain-{slug}"))),
        ("of-wrapper", step(&format!("wrapper-{slug}"))),
        ("of-function", step(&format!("function-{slug}"))),
        (
            "of-call",
            json!({ "implementation_type": "composition", "execution_spec": { "kind": "composition", "steps": calls } }),
        ),
    ] {
        make(author, &tool(&format!("{name}-{slug}"), &rest)).await;
    }
    let calls = format!("ctx.callTool('{slug}', {input})");
    make(author, &script(&format!("script-{slug}"), &calls)).await;
    add_case(author, &format!("wrapper-{slug}"), input).await;
}

fn ways(slug: &str, id: &str, input: &Value) -> Vec<Way> {
    let of = |name: &str| format!("{name}-{slug}");
    let body = |rest: Value| extended(&json!({ "input": input }), &rest);
    let plain = || body(json!({}));
    let called = json!({ "function_name": slug, "arguments": input });
    let lax = json!({ "permission_level": "read", "permission_policy": "auto", "is_active": true, "enabled": true });
    vec![
        Way::run("a wrapper", &of("wrapper"), plain()),
        Way::run("a function tool", &of("function"), plain()),
        Way::run("function_call", "function_call", json!({ "input": called })),
        Way::run("a chain", &of("chain"), plain()),
        Way::run("a chain in a chain", &of("outer"), plain()),
        Way::run("a chain of a wrapper", &of("of-wrapper"), plain()),
        Way::run("a chain of a function tool", &of("of-function"), plain()),
        Way::run("a chain of function_call", &of("of-call"), plain()),
        Way::run("its version by number", slug, body(json!({ "version": "1.0.0" }))),
        Way::run("debug mode", slug, body(json!({ "mode": "debug" }))),
        Way::run("a wrapper in debug mode", &of("wrapper"), body(json!({ "mode": "debug" }))),
        Way::test("a test", slug, plain()),
        Way::test("a test of the wrapper", &of("wrapper"), plain()),
        Way::test("a test of another wrapper", &of("wrapper"), body(json!({ "definition": lax }))),
        Way::test("a test of the chain", &of("chain"), plain()),
        Way::test_stream("a test, streamed", slug, plain()),
        Way::replay("a replay", slug, "draft"),
        Way::cases("the test case of the wrapper", &of("wrapper"), json!({})),
        Way::run("a script", &of("script"), plain()),
        Way::run("its id", id, plain()),
        Way::run("other letter case", &slug.to_uppercase(), plain()),
        Way::run("without waiting", slug, body(json!({ "wait_ms": 0 }))),
        Way::run("a wrapper without waiting", &of("wrapper"), body(json!({ "wait_ms": 0 }))),
        Way::browser("a browser", slug, plain()),
        Way::mcp("MCP", slug, input),
        Way::mcp("a wrapper over MCP", &of("wrapper"), input),
        Way::present_mcp("MCP, present revision", slug, input),
        Way::batch("a batch", slug, input),
        Way::batch("a batch, function_call", "function_call", &called),
        Way::batch("a batch, a wrapper", &of("wrapper"), input),
        Way::batch("a batch, a chain", &of("chain"), input),
    ]
}

/// Brings a tool into a state: first one in which everybody may call, then one in which agents have to ask, then any.
async fn bring(author: &Client, slug: &str, round: usize, rng: &mut Rng) -> Value {
    let lax = json!({
        "permission_level": null, "permission_policy": null, "enabled": null, "is_active": null, "status": null,
    });
    let state = match round {
        0 => lax,
        1 => extended(&lax, &json!({ "permission_policy": "always_ask" })),
        _ => overlay(rng),
    };
    let set = author.patch(&format!("/api/tools/{slug}"), &state).await;
    assert_eq!(set.status, 200, "{state}: {}", set.text);
    state
}

struct Tenant {
    callers: Vec<Caller>,
    /// The ids of the program's tools.
    ids: Vec<String>,
}

impl Tenant {
    async fn found(world: &World, server: &Server, name: &str) -> Self {
        let callers = callers(world, server, name).await;
        let admin = &callers[0].client;
        let mut ids = Vec::new();
        for (slug, input) in program() {
            surround(admin, slug, &input).await;
            ids.push(admin.get(&format!("/api/tools/{slug}")).await.text_at("/id"));
        }
        Self { callers, ids }
    }

    /// Compares all ways for each tool, in one state of each.
    async fn compare(&self, seed: u64, state: usize, rng: &mut Rng) -> Tally {
        let admin = &self.callers[0].client;
        let settings = settings(rng);
        set(admin, &settings).await;
        let mut cases = Vec::new();
        for ((slug, input), id) in program().iter().zip(&self.ids) {
            let state = bring(admin, slug, state, rng).await;
            let state = extended(&state, &json!({ "tool": slug, "settings": settings }));
            let direct = Way::run("direct", slug, json!({ "input": input }));
            cases.push(Case { state, tool: (*slug).to_owned(), direct, ways: ways(slug, id, input) });
        }
        let mut tally = Tally::default();
        tally.compare(seed, &self.callers, &cases).await;
        tally
    }
}

/// Compares all ways in so many tenants and rounds, and says how many comparisons that were.
async fn compared(seed: u64, tenants: usize, rounds: usize) -> usize {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let server = world.server();
    let mut rng = Rng::new(seed);
    let mut founded = Vec::new();
    for index in 0..tenants {
        let name = format!("tenant-{index}");
        world.add_tenant(&name).await;
        founded.push((Tenant::found(&world, &server, &name).await, Rng::new(rng.next())));
    }
    let mut tally = Tally::default();
    for round in 0..rounds {
        // Each tenant is in another state, and the calls that wait for a person wait together.
        let all = founded.iter_mut().enumerate();
        let each = all.map(|(index, (tenant, rng))| tenant.compare(seed, round * tenants + index, rng));
        for of_tenant in join_all(each).await {
            tally.add(of_tenant);
        }
    }
    tally.check_that_every_way_ran_and_was_asked_about();
    tally.compared()
}

#[tokio::test]
async fn every_way_of_calling_a_tool_of_the_program_is_as_strict_as_the_direct_one() {
    assert_eq!(compared(7, TENANTS, 3).await, TENANTS * TOOLS * 3 * PER_STATE);
}

#[tokio::test]
async fn every_way_of_calling_a_tool_of_the_program_holds_in_other_states_too() {
    assert_eq!(compared(8, TENANTS, 3).await, TENANTS * TOOLS * 3 * PER_STATE);
}
