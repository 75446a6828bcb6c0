//! Approvals, edited or not and for later calls too, of tools that change between the question and the answer: of the tool itself, and of chains
//! that call it.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role};
use tw_store::{By, Override};
use tw_test::{Kind, TestDb};

use super::{
    another_admin, extended, make, set,
    states::{one_of, settings},
    tool,
    ways::{Caller, Decision, Told},
};
use crate::{
    load::Rng,
    world::{Client, Server, World, slug},
};

/// By each way of asking each of five approvers decides unedited, which is one comparison, and edited, which is two.
const PER_TOOL: usize = ASKS.len() * 5 * (1 + 2);
const TOOLS: usize = CHANGES.len();

/// The comparisons of all tests on SQLite here.
pub(super) const COMPARED: usize = TOOLS * PER_TOOL;

/// What happens to a tool between the question and the answer. A change that is not about the definition or the
/// switches is a request of its own.
const CHANGES: [(&str, &str); 19] = [
    ("nothing", "{}"),
    ("destructive", r#"{ "permission_level": "destructive", "publish": true }"#),
    ("write", r#"{ "permission_level": "write", "publish": true }"#),
    ("read", r#"{ "permission_level": "read", "publish": true }"#),
    ("always ask", r#"{ "permission_policy": "always_ask" }"#),
    ("auto", r#"{ "permission_policy": "auto" }"#),
    ("no policy", r#"{ "permission_policy": null }"#),
    ("a right of agent and builder", r#"{ "required_permission": "entities.team.delete", "publish": true }"#),
    ("a right of approvers", r#"{ "required_permission": "approvals.tenant.decide", "publish": true }"#),
    ("a right of admins", r#"{ "required_permission": "members.tenant.read", "publish": true }"#),
    (
        "another schema",
        r#"{ "input_schema": { "type": "object", "maxProperties": 3 }, "publish": true, "accept_breaking": true }"#,
    ),
    ("hidden", r#"{ "enabled": false }"#),
    ("inactive", r#"{ "is_active": false }"#),
    ("disabled", r#"{ "status": "disabled" }"#),
    ("deprecated", r#"{ "status": "deprecated" }"#),
    ("for others", r#"{ "tenant_slugs": ["globex"] }"#),
    ("a draft on top", r#"{ "permission_level": "read", "required_permission": null }"#),
    // The tool at this place wraps the one of the program.
    ("what it wraps taken from everybody", TAKEN),
    ("its old version withdrawn", WITHDRAWN),
];
const TAKEN: &str = "taken";
const WITHDRAWN: &str = "withdrawn";

/// What the tool does: itself nothing, or by a tool of the program.
const RUNS: [&str; 3] = [
    "{}",
    r#"{ "implementation": { "builtin_key": "datetime_utils" } }"#,
    r#"{ "implementation_type": "function", "implementation": { "function_name": "datetime_utils" } }"#,
];

/// A way of asking: a name, the tool that is called, and the version. Of the first three the call of the tool itself is
/// asked about; of the others a chain, and then the call in it.
const ASKS: [(&str, &str, Option<&str>); 5] = [
    ("a call", "own", None),
    ("a call of an old version", "own", Some("1.0.0")),
    ("a chain", "chain", None),
    ("a chain that asks itself", "outer", None),
    ("a chain in a chain that asks itself", "outermost", None),
];

/// By how many ways of asking, and by how many of the approvers, yeses are given that hold for later calls: by a call, by
/// one of an old version and by a chain; the others may not approve.
const STANDING_ASKS: usize = 3;
const STANDING_APPROVERS: usize = 3;

/// An input that all tools here take.
fn input(day: u8) -> Value {
    json!({ "operation": "parse", "value": format!("2026-01-{day:02}T12:00:00Z") })
}

/// Somebody's decision on a call that was asked by some way.
struct Trial<'a> {
    ask: usize,
    approver: &'a Caller,
    is_edited: bool,
    approval: String,
}

impl Trial<'_> {
    /// What the approver is to run where they edit.
    fn edited() -> Value {
        input(2)
    }

    /// Decides. What the call asks for then is let through by somebody who may do everything, as it is.
    async fn decide(&self, approval: &str, other: &Caller) -> Told {
        let body = if self.is_edited { json!({ "input": Self::edited() }) } else { json!({}) };
        let told = self.approver.post(&place_of(approval), &body).await;
        match told.decision {
            Decision::Asked => other.post(&place_of(&approval_of(&told)), &json!({})).await,
            _ => told,
        }
    }

    /// The approver makes the edited call, as the tool is now.
    async fn call_directly(&self, index: usize) -> Told {
        let (_, _, version) = ASKS[self.ask];
        let body = json!({ "input": Self::edited(), "version": version });
        self.approver.post(&format!("/api/tools/own-{index}/run"), &body).await
    }
}

/// A yes of an approver that is to hold for later calls with the same input.
struct Standing<'a> {
    ask: usize,
    approver: &'a Caller,
    day: u8,
}

impl<'a> Standing<'a> {
    /// By some ways of asking and those who may approve, each for an input of its own. Not of what is destructive: its
    /// approval cannot stand.
    async fn granted(agent: &Caller, index: usize, approvers: &'a [Caller]) -> Vec<Self> {
        let who = (0..STANDING_ASKS).flat_map(|ask| approvers.iter().map(move |approver| (ask, approver)));
        let each = who.zip(3..).map(|((ask, approver), day)| async move {
            let approval = approval_of(&ask_for(agent, index, ask, day).await);
            let body = json!({ "standing": { "for_s": 3600 } });
            let answer = approver.client.post(&place_of(&approval), &body).await;
            let is_granted = answer.json()["standing_approval_id"].is_string();
            // The owner of the agent may not decide on what is destructive, nor may anybody for later calls of it.
            assert!(is_granted || matches!(answer.status.as_u16(), 403 | 422), "{}", answer.text);
            is_granted.then_some(Self { ask, approver, day })
        });
        join_all(each).await.into_iter().flatten().collect()
    }

    /// What comes of the call that it is for, with whether it let it through, and of one that the approver is asked
    /// about now.
    async fn decisions(&self, agent: &Caller, index: usize) -> ((Told, bool), Told) {
        let decided = async |told: Told| match told.decision {
            Decision::Asked => self.approver.post(&place_of(&approval_of(&told)), &json!({})).await,
            _ => told,
        };
        let fresh = ask_for(agent, index, self.ask, self.day + 12).await;
        let was_asked = fresh.decision == Decision::Asked;
        let stands = ask_for(agent, index, self.ask, self.day).await;
        let let_through = was_asked && stands.decision == Decision::Ran;
        ((decided(stands).await, let_through), decided(fresh).await)
    }
}

async fn ask(agent: &Caller, index: usize, way: usize) -> Told {
    ask_for(agent, index, way, 1).await
}

async fn ask_for(agent: &Caller, index: usize, way: usize, day: u8) -> Told {
    let (_, prefix, version) = ASKS[way];
    let body = json!({ "input": input(day), "version": version });
    agent.post(&format!("/api/tools/{prefix}-{index}/run"), &body).await
}

fn place_of(approval: &str) -> String {
    format!("/api/approvals/{approval}/approve")
}

fn approval_of(told: &Told) -> String {
    told.body["approval_id"].as_str().unwrap_or_else(|| panic!("nobody was asked: {}", told.body)).to_owned()
}

async fn approvers(world: &World, server: &Server) -> Vec<Caller> {
    let mut approvers = vec![
        Caller::by_key("the approver", world.client(server, "acme", Role::Approver).await),
        Caller::by_key("the admin, who owns the agent", world.client(server, "acme", Role::Admin).await),
        Caller::by_key("another admin", another_admin(world, server).await),
        Caller::by_key("the builder", world.client(server, "acme", Role::Builder).await),
    ];
    let name = "an agent with the role approver";
    let request = KeyRequest {
        name: name.to_owned(),
        role: Role::Approver,
        acts_as: ActsAs::Agent,
        agent: Some("judge".to_owned()),
        expires: None,
    };
    let key =
        world.operator().create_key(&slug("acme"), request, Some("approver@acme.example")).await.unwrap();
    approvers.push(Caller::by_key(name, Client::new(&server.url, Some(key.text))));
    approvers
}

/// A tool in a state in which agents have to ask, with an old version and a chain.
async fn found(author: &Client, index: usize, rng: &mut Rng) -> Value {
    let levels = [Value::Null, json!("read"), json!("write"), json!("destructive")];
    let rights = [Value::Null, json!("entities.team.delete")];
    let old =
        json!({ "permission_level": one_of(rng, &levels), "required_permission": one_of(rng, &rights) });
    let mut now = json!({
        "permission_level": one_of(rng, &levels), "required_permission": one_of(rng, &rights),
        "permission_policy": one_of(rng, &[json!("always_ask"), Value::Null]),
    });
    if now["permission_policy"].is_null() {
        now["permission_level"] = one_of(rng, &levels[2..]);
    }
    let runs: Value = serde_json::from_str(RUNS[index % RUNS.len()]).unwrap();
    let place = format!("/api/tools/own-{index}");
    make(author, &tool(&format!("own-{index}"), &extended(&runs, &old))).await;
    author.patch(&place, &now).await.is("200 published");
    author.post(&format!("{place}/version?new_version=2.0.0"), &json!({})).await.is("200 published");
    author.post(&format!("{place}/publish"), &json!({})).await.is("200 published");
    for (name, called, policy) in [
        ("chain", "own", Value::Null),
        ("outer", "own", json!("always_ask")),
        ("outermost", "chain", json!("always_ask")),
    ] {
        let steps = json!([{ "id": "s", "tool": format!("{called}-{index}"), "input": "{{ input }}" }]);
        let spec = json!({
            "implementation_type": "composition", "execution_spec": { "kind": "composition", "steps": steps },
            "permission_policy": policy,
        });
        make(author, &tool(&format!("{name}-{index}"), &spec)).await;
    }
    json!({ "runs": runs, "version 1.0.0": old, "version 2.0.0": now })
}

async fn change(world: &World, author: &Client, index: usize, change: &str) {
    let place = format!("/api/tools/own-{index}");
    let changed = match change {
        TAKEN => return switch_for_everybody(world, Some(false)).await,
        WITHDRAWN => author.post(&format!("{place}/versions/1.0.0/withdraw"), &json!({})).await,
        change => author.patch(&place, &serde_json::from_str(change).unwrap()).await,
    };
    assert_eq!(changed.status, 200, "{change}: {}", changed.text);
}

/// The operator takes a tool of the program from all tenants, or gives it back.
async fn switch_for_everybody(world: &World, enabled: Option<bool>) {
    let (tool, layer) = ("datetime_utils".parse().unwrap(), Override { enabled, ..Override::default() });
    world.store().set_for_everybody(&tool, layer, &By::operator()).await.unwrap();
}

/// The decision on the call that was asked before the change, that on one asked now with whether it was for the
/// approver to take, and what comes of the approver's own call where they edit.
async fn decisions(
    agent: &Caller,
    other: &Caller,
    index: usize,
    trial: &Trial<'_>,
) -> (Told, (Told, bool), Option<Told>) {
    let fresh = ask(agent, index, trial.ask).await;
    let fresh = match fresh.decision {
        Decision::Asked => (trial.decide(&approval_of(&fresh), other).await, true),
        _ => (fresh, false),
    };
    let own = if trial.is_edited { Some(trial.call_directly(index).await) } else { None };
    (trial.decide(&trial.approval, other).await, fresh, own)
}

/// Holds every decision on a call that was asked before a change against the same decision on a call that is asked
/// after it, and an edited one also against the approver's own call.
async fn compared(kind: Kind, seed: u64, changes: &[(&str, &str)]) -> usize {
    let world = World::on(TestDb::new(kind).await).await;
    let server = world.server();
    let approvers = approvers(&world, &server).await;
    let admin = &approvers[1].client;
    let key = world.key("acme", Role::Builder, ActsAs::Agent).await;
    let agent = Caller::by_key("an agent with the role builder", Client::new(&server.url, Some(key)));
    let mut rng = Rng::new(seed);
    let (mut compared, mut ran, mut let_through) = (0, BTreeMap::new(), 0);
    for (index, (name, body)) in changes.iter().enumerate() {
        let none = json!({ "approve_all_writes": null, "forbid_self_approval": null });
        set(admin, &none).await;
        let state = found(admin, index, &mut rng).await;
        let mut trials = Vec::new();
        for way in 0..ASKS.len() {
            for (approver, is_edited) in
                approvers.iter().flat_map(|approver| [(approver, false), (approver, true)])
            {
                let agent = &agent;
                trials.push(async move {
                    let approval = approval_of(&ask(agent, index, way).await);
                    Trial { ask: way, approver, is_edited, approval }
                });
            }
        }
        let trials = join_all(trials).await;
        let standing = Standing::granted(&agent, index, &approvers[..STANDING_APPROVERS]).await;
        change(&world, admin, index, body).await;
        let settings = settings(&mut rng);
        set(admin, &settings).await;

        let other = &approvers[2];
        let decided = join_all(trials.iter().map(|trial| decisions(&agent, other, index, trial))).await;
        let stands = join_all(standing.iter().map(|one| one.decisions(&agent, index))).await;
        switch_for_everybody(&world, None).await;
        for (one, ((told, was_let_through), fresh)) in standing.iter().zip(stands) {
            assert!(
                fresh.decision <= told.decision,
                "a standing approval from before is laxer than an approval from after\nseed {seed}\nstate {state}\n\
                 then {name}, settings {settings}\nasked by {}, approver {}\n{}\nagainst {}",
                ASKS[one.ask].0,
                one.approver.name,
                told.body,
                fresh.body,
            );
            let_through += usize::from(was_let_through);
        }
        for (trial, (before, (fresh, is_decided), own)) in trials.iter().zip(decided) {
            let way = ASKS[trial.ask].0;
            let hold = |what: &str, told: &Told, against: &str, other: &Told| {
                assert!(
                    other.decision <= told.decision,
                    "{what} is laxer than {against}\nseed {seed}\nstate {state}\nthen {name}, settings {settings}\n\
                     asked by {way}, edited: {}\napprover {}\n{}\nagainst {}",
                    trial.is_edited,
                    trial.approver.name,
                    told.body,
                    other.body,
                );
            };
            hold("an approval from before", &before, "one from after", &fresh);
            compared += 1;
            if let Some(own) = own {
                hold("an edited approval from before", &before, "the approver's call", &own);
                compared += 1;
                if is_decided {
                    hold("an edited approval from after", &fresh, "the approver's call", &own);
                }
            }
            *ran.entry((way, trial.is_edited)).or_insert(0) += usize::from(before.decision == Decision::Ran);
        }
    }
    assert!(ran.values().all(|ran| 0 < *ran), "{ran:?}");
    // A few tools may all be such as ask for every call.
    let is_whole = changes.len() == CHANGES.len();
    assert!(!is_whole || 0 < let_through, "no standing approval let a call through");
    compared
}

#[tokio::test]
async fn decision_on_a_tool_that_changed_is_as_strict_as_one_on_a_new_call() {
    assert_eq!(compared(Kind::Sqlite, 21, &CHANGES).await, COMPARED);
}

mod postgres {
    use super::*;

    #[tokio::test]
    async fn decision_on_a_tool_that_changed_is_as_strict_as_one_on_a_new_call() {
        assert_eq!(compared(Kind::Postgres, 22, &CHANGES[..2]).await, 2 * PER_TOOL);
    }
}
