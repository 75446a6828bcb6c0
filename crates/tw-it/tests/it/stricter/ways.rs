//! Callers, the ways by which they call, and how strict the answers are.

use std::{collections::BTreeMap, time::Duration};

use futures::{
    future::join_all,
    stream::{self, StreamExt},
};
use reqwest::Method;
use serde_json::{Value, json};
use tw_model::{ActsAs, Role};

use crate::{
    people::Browser,
    world::{Client, Server, World, eventually, slug},
};

const PATIENCE: Duration = Duration::from_secs(30);
/// The one revision of MCP that knows batches, one without them, and the present one.
const WITH_BATCHES: &str = "2025-03-26";
const EARLIER: &str = "2025-11-25";
const PRESENT: &str = "2026-07-28";
/// How many callers call by REST at once, each by all of its ways.
const AT_ONCE: usize = 4;

/// Somebody who calls, at every door.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) name: String,
    pub(super) client: Client,
    /// Of a person: signed in.
    browser: Option<Browser>,
    /// By which `explain` is asked about the caller.
    key_id: Option<String>,
}

/// Everybody who could call in a tenant. The first is the admin, who owns the agents.
pub(super) async fn callers(world: &World, server: &Server, tenant: &str) -> Vec<Caller> {
    let mut callers = Vec::new();
    for role in [Role::Admin, Role::Builder, Role::Approver, Role::Member, Role::Viewer] {
        let link = world.operator().sign_in_link(&slug(tenant), &format!("{role}@{tenant}.example")).await;
        callers.push(Caller {
            name: format!("the {role} of {tenant}"),
            client: world.client(server, tenant, role).await,
            browser: Some(Browser::by_link(server, &link.unwrap()).await),
            key_id: None,
        });
    }
    for role in [Role::Agent, Role::Builder, Role::Admin] {
        let key = world.key(tenant, role, ActsAs::Agent).await;
        callers.push(Caller {
            name: format!("an agent of {tenant} with the role {role}"),
            client: Client::new(&server.url, Some(key)),
            browser: None,
            key_id: None,
        });
    }
    let keys = callers[0].client.get("/api/api-keys?limit=200").await.json();
    let keys: Vec<_> =
        keys["items"].as_array().unwrap().iter().map(|key| (&key["prefix"], &key["id"])).collect();
    for caller in &mut callers {
        let text = caller.client.key.as_ref().unwrap();
        let (_, id) = keys.iter().find(|(prefix, _)| text.contains(prefix.as_str().unwrap())).unwrap();
        caller.key_id = id.as_str().map(str::to_owned);
    }
    callers
}

/// The door by which a call comes in.
#[derive(Debug)]
enum Door {
    Rest {
        path: String,
        body: Value,
    },
    Browser {
        path: String,
        body: Value,
    },
    /// Answered by the events of the run.
    Stream {
        path: String,
        body: Value,
    },
    Mcp {
        revision: &'static str,
        call: Value,
    },
    Batch {
        call: Value,
    },
}

/// A way of calling a tool.
#[derive(Debug)]
pub(super) struct Way {
    name: &'static str,
    door: Door,
    /// What comes of it in some state, beside refusals.
    can_be: &'static [Decision],
}

impl Way {
    fn new(name: &'static str, door: Door) -> Self {
        Self { name, door, can_be: &[Decision::Ran, Decision::Asked] }
    }

    pub(super) fn run(name: &'static str, tool: &str, body: Value) -> Self {
        Self::new(name, Door::Rest { path: format!("/api/tools/{tool}/run"), body })
    }

    pub(super) fn test(name: &'static str, tool: &str, body: Value) -> Self {
        Self::new(name, Door::Rest { path: format!("/api/tools/{tool}/test"), body }).for_people()
    }

    /// The test cases of a tool, which has one.
    pub(super) fn cases(name: &'static str, tool: &str, body: Value) -> Self {
        Self::new(name, Door::Rest { path: format!("/api/tools/{tool}/tests/run"), body }).for_people()
    }

    pub(super) fn test_stream(name: &'static str, tool: &str, body: Value) -> Self {
        Self::new(name, Door::Stream { path: format!("/api/tools/{tool}/test/stream"), body }).for_people()
    }

    /// The newest recorded call of a tool, made again.
    pub(super) fn replay(name: &'static str, tool: &str, version: &str) -> Self {
        let body = json!({ "version": version, "limit": 1 });
        Self::new(name, Door::Rest { path: format!("/api/tools/{tool}/replay"), body }).for_people()
    }

    pub(super) fn browser(name: &'static str, tool: &str, body: Value) -> Self {
        Self::new(name, Door::Browser { path: format!("/api/tools/{tool}/run"), body }).for_people()
    }

    pub(super) fn mcp(name: &'static str, tool: &str, arguments: &Value) -> Self {
        Self::new(
            name,
            Door::Mcp { revision: EARLIER, call: json!({ "name": tool, "arguments": arguments }) },
        )
    }

    pub(super) fn present_mcp(name: &'static str, tool: &str, arguments: &Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": PRESENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let call = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        Self::new(name, Door::Mcp { revision: PRESENT, call })
    }

    pub(super) fn batch(name: &'static str, tool: &str, arguments: &Value) -> Self {
        Self::new(name, Door::Batch { call: json!({ "name": tool, "arguments": arguments }) })
    }

    /// No agent may call by it, and people are never asked.
    pub(super) fn for_people(self) -> Self {
        Self { can_be: &[Decision::Ran], ..self }
    }

    pub(super) fn that_never_runs(self) -> Self {
        Self { can_be: &[], ..self }
    }

    fn is_rest(&self) -> bool {
        matches!(self.door, Door::Rest { .. } | Door::Browser { .. } | Door::Stream { .. })
    }

    fn is_open_to(&self, caller: &Caller) -> bool {
        !matches!(self.door, Door::Browser { .. }) || caller.browser.is_some()
    }
}

/// How strict a decision is. The order is from lax to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decision {
    Ran,
    Asked,
    Refused,
}

/// A decision, and the answer that told it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) decision: Decision,
    pub(super) body: Value,
}

impl Told {
    /// Of an answer by REST. A chain that goes on without a step tells by its output whether that ran.
    #[track_caller]
    pub(super) fn by_rest(status: u16, body: Value) -> Self {
        let decision = match (status, body["status"].as_str()) {
            (200, Some("success")) if body["output"] == json!({ "ran": null }) => Decision::Refused,
            (200, Some("success")) => Decision::Ran,
            // A replay. Without a recorded call, or with one that could not be made, nothing ran.
            (200, None) if body["not_replayed"].is_i64() => match &body["items"][0]["replayed_status"] {
                status if status == "success" => Decision::Ran,
                _ => Decision::Refused,
            },
            (200, None) if body["passed"] == 1 && body["failed"] == 0 => Decision::Ran,
            (200, None) if body["passed"] == 0 && body["failed"] == 1 => Decision::Refused,
            (202, Some("needs_approval")) => Decision::Asked,
            (200, Some("error" | "cancelled")) | (400..500, _) => Decision::Refused,
            _ => panic!("{status}: {body}"),
        };
        Self { decision, body }
    }

    /// Of the events of a run.
    #[track_caller]
    fn by_events(events: &str) -> Self {
        let mut events = events.lines().filter_map(|line| line.strip_prefix("data: "));
        let body: Value = serde_json::from_str(events.next_back().expect("an event")).unwrap();
        let decision = match body["type"].as_str().unwrap() {
            "tool.completed" => Decision::Ran,
            "tool.failed" | "tool.cancelled" => Decision::Refused,
            _ => panic!("{body}"),
        };
        Self { decision, body }
    }

    /// What `explain` says of a call.
    #[track_caller]
    fn by_explanation(status: u16, body: Value) -> Self {
        let decision = match (status, body["decision"].as_str()) {
            (200, Some("allow")) => Decision::Ran,
            (200, Some("ask")) => Decision::Asked,
            (200, Some("deny")) | (404, _) => Decision::Refused,
            _ => panic!("{status}: {body}"),
        };
        Self { decision, body }
    }

    #[track_caller]
    fn by_mcp(body: Value) -> Self {
        let result = &body["result"];
        let decision = match &result["isError"] {
            Value::Bool(true) => Decision::Refused,
            Value::Bool(false) => Decision::Ran,
            _ if result["structuredContent"]["approval_id"].is_string() => Decision::Asked,
            _ if body["error"]["code"].is_i64() => Decision::Refused,
            _ => panic!("{body}"),
        };
        Self { decision, body }
    }
}

impl Caller {
    pub(super) fn by_key(name: &str, client: Client) -> Self {
        Self { name: name.to_owned(), client, browser: None, key_id: None }
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Told {
        let answer = self.client.post(path, body).await;
        self.once_it_stands(answer.status.as_u16(), answer.json()).await
    }

    /// What was answered before it was decided is looked at again.
    async fn once_it_stands(&self, status: u16, body: Value) -> Told {
        if status != 202 || body["status"] == "needs_approval" {
            return Told::by_rest(status, body);
        }
        let place = format!("/api/runs/{}", body["run_id"].as_str().unwrap());
        eventually("the run is decided", PATIENCE, async || {
            let run = self.client.get(&place).await.json();
            !["running", "pending"].contains(&run["status"].as_str().unwrap())
        })
        .await;
        let body = self.client.get(&place).await.json();
        let status = if body["status"] == "needs_approval" { 202 } else { 200 };
        Told::by_rest(status, body)
    }

    /// Calls by one way; by a batch, each of its entries is one.
    async fn call(&self, way: &Way) -> Told {
        match &way.door {
            Door::Rest { path, body } => self.post(path, body).await,
            Door::Browser { path, body } => {
                let answer = self.browser.as_ref().unwrap().post(path, body).await;
                self.once_it_stands(answer.status.as_u16(), answer.json()).await
            }
            Door::Stream { path, body } => {
                let answer = self.client.post(path, body).await;
                match answer.status.as_u16() {
                    200 => Told::by_events(&answer.text),
                    status => Told::by_rest(status, answer.json()),
                }
            }
            Door::Mcp { revision, call } => {
                Told::by_mcp(self.speak(&message(0, call), revision, &[("mcp-name", &call["name"])]).await)
            }
            Door::Batch { .. } => panic!("an entry of a batch is sent with the others"),
        }
    }

    /// What the admin is told that a call by this caller would come to.
    async fn explained(&self, admin: &Client, tool: &str) -> Told {
        let key = self.key_id.as_ref().unwrap();
        let answer = admin.get(&format!("/api/tools/{tool}/explain?key={key}")).await;
        Told::by_explanation(answer.status.as_u16(), answer.json())
    }

    async fn call_batch(&self, ways: &[&Way]) -> Vec<Told> {
        let entry = |(id, way): (usize, &&Way)| match &way.door {
            Door::Batch { call } => message(id, call),
            door => panic!("{door:?} is no entry of a batch"),
        };
        let entries: Vec<Value> = ways.iter().enumerate().map(entry).collect();
        let mut body = self.speak(&json!(entries), WITH_BATCHES, &[]).await;
        if body["error"].is_object() {
            return ways.iter().map(|_| Told::by_mcp(body.clone())).collect();
        }
        let answers = body.as_array_mut().unwrap();
        assert_eq!(answers.len(), ways.len());
        answers.iter_mut().map(|answer| Told::by_mcp(answer.take())).collect()
    }

    async fn speak(&self, message: &Value, revision: &str, headers: &[(&str, &Value)]) -> Value {
        let mut request = self.client.request(Method::POST, "/mcp").header("mcp-protocol-version", revision);
        if revision == PRESENT {
            request = request.header("mcp-method", "tools/call");
            for (name, value) in headers {
                request = request.header(*name, value.as_str().unwrap());
            }
        }
        self.client.send(request.json(message)).await.json()
    }

    /// Calls by all ways that are open to this caller and pass a filter, all at once.
    async fn call_all<'w>(&self, ways: &'w [Way], filter: impl Fn(&Way) -> bool) -> Vec<(&'w Way, Told)> {
        let open = ways.iter().filter(|way| filter(way) && way.is_open_to(self));
        let (entries, single): (Vec<&Way>, Vec<&Way>) =
            open.partition(|way| matches!(way.door, Door::Batch { .. }));
        let batch = async {
            match entries.is_empty() {
                true => Vec::new(),
                false => self.call_batch(&entries).await,
            }
        };
        let (told, of_batch) = tokio::join!(join_all(single.iter().map(|way| self.call(way))), batch);
        single.into_iter().zip(told).chain(entries.iter().copied().zip(of_batch)).collect()
    }
}

fn message(id: usize, call: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call })
}

/// A tool in some state, and the ways of calling it.
#[derive(Debug)]
pub(super) struct Case {
    /// Everything that was said about the tool, for whoever has to find out why.
    pub(super) state: Value,
    pub(super) tool: String,
    pub(super) direct: Way,
    pub(super) ways: Vec<Way>,
}

/// How often each way ran, was asked about and was refused.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: BTreeMap<&'static str, (&'static [Decision], [usize; 3])>,
}

impl Tally {
    pub(super) fn compared(&self) -> usize {
        self.seen.values().flat_map(|(_, seen)| seen).sum()
    }

    /// A way that is always refused would pass every comparison. The states have one in which everybody may call, and
    /// one in which agents have to ask.
    pub(super) fn check_that_every_way_ran_and_was_asked_about(&self) {
        for (way, (can_be, seen)) in &self.seen {
            for decision in [Decision::Ran, Decision::Asked] {
                let is_seen = 0 < seen[decision as usize];
                assert_eq!(is_seen, can_be.contains(&decision), "{way}, {decision:?}: {seen:?}");
            }
        }
    }

    /// Compares every way with the direct call, for every caller. What `explain` says to the first of them, the
    /// admin, has to be what comes of the direct call.
    pub(super) async fn compare(&mut self, seed: u64, callers: &[Caller], cases: &[Case]) {
        let pairs: Vec<(&Case, &Caller)> =
            cases.iter().flat_map(|case| callers.iter().map(move |caller| (case, caller))).collect();
        let by_rest = stream::iter(&pairs).map(|(case, caller)| async move {
            let (direct, explained) =
                tokio::join!(caller.call(&case.direct), caller.explained(&callers[0].client, &case.tool));
            assert_eq!(
                explained.decision, direct.decision,
                "seed {seed}, state {}, caller {}: {} {}",
                case.state, caller.name, explained.body, direct.body,
            );
            (direct, caller.call_all(&case.ways, Way::is_rest).await)
        });
        let by_rest: Vec<_> = by_rest.buffered(AT_ONCE).collect().await;
        // All of them together: a call that has to be approved is answered after ten seconds.
        let by_mcp = pairs.iter().map(|(case, caller)| caller.call_all(&case.ways, |way| !way.is_rest()));
        let by_mcp = join_all(by_mcp).await;
        for ((case, caller), ((direct, rest), mcp)) in pairs.into_iter().zip(by_rest.into_iter().zip(by_mcp))
        {
            for (way, told) in rest.into_iter().chain(mcp) {
                assert!(
                    direct.decision <= told.decision,
                    "{} is laxer than the direct call\nseed {seed}\nstate {}\ncaller {}\ndirect {}\nway {:?}\n{}",
                    way.name,
                    case.state,
                    caller.name,
                    direct.body,
                    way.door,
                    told.body,
                );
                self.count(way, told.decision);
            }
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for (way, (can_be, seen)) in other.seen {
            let own = &mut self.seen.entry(way).or_insert((can_be, [0; 3])).1;
            own.iter_mut().zip(seen).for_each(|(own, seen)| *own += seen);
        }
    }

    fn count(&mut self, way: &Way, decision: Decision) {
        self.seen.entry(way.name).or_insert((way.can_be, [0; 3])).1[decision as usize] += 1;
    }
}
