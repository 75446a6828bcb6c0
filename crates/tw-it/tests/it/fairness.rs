//! One tenant at full load, and what another one notices of it.
//!
//! A test here starts a server, lets a quiet tenant call `test.echo` one call after the other, and does so again while
//! a noisy tenant keeps [`CLIENTS`] requests under way whose cost it chooses itself. The quiet tenant's p99 may rise
//! to [`RATIO_MAX`] times what it was in the same run. Nothing is compared with a time that was measured elsewhere.
#![expect(clippy::print_stdout, reason = "figures are what a test has to say")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use futures::future::{join_all, select};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{runtime, sync::watch};
use tw_model::{ActsAs, Role};
use tw_test::{Kind, TestDb};

use crate::{
    load::Rng,
    world::{Client, Server, World, http_client},
};

/// How many requests the noisy tenant has under way.
const CLIENTS: usize = 16;
/// How many calls of the quiet tenant are measured, before the load and under it, after some that are not.
const WARM_UP: usize = 50;
const QUIET_CALLS: usize = 500;
const LOADED_CALLS: usize = 300;
/// How long the load is watched at least: some loads do little in a second. How long a measurement lasts at the most, and
/// how long one call.
const LOADED_FOR: Duration = Duration::from_secs(3);
const MEASURED_FOR: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(60);
/// How many requests the noisy tenant sends at the most.
const REQUESTS_MAX: usize = 200_000;
const RATIO_MAX: f64 = 3.0;
/// The quiet p99 counts as no less than this. Some tenths of a millisecond more are the scheduler's doing, and three
/// times a tiny time is a tiny time.
const FLOOR: Duration = Duration::from_millis(2);
/// The machine is shared with other tests, so the best of some rounds counts, each on a server of its own.
const ROUNDS: usize = 3;

/// As far below others as `nice` goes without being told.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// A request of the noisy tenant.
#[derive(Clone)]
struct Ready {
    method: Method,
    path: String,
    body: String,
    /// A key of its own, instead of that of the load.
    key: Option<String>,
}

impl Ready {
    fn post(path: &str, body: &Value) -> Self {
        Self { method: Method::POST, path: path.to_owned(), body: body.to_string(), key: None }
    }

    fn get(path: &str) -> Self {
        Self { method: Method::GET, path: path.to_owned(), body: String::new(), key: None }
    }
}

/// What the noisy tenant does: a key, and the request with a number.
struct Load {
    key: Option<String>,
    request: Box<dyn Fn(usize) -> Ready + Send>,
}

impl Load {
    /// The same requests again and again, written once.
    fn of(who: &Client, requests: Vec<Ready>) -> Self {
        Self::by(who, move |number| requests[number % requests.len()].clone())
    }

    fn by(who: &Client, request: impl Fn(usize) -> Ready + Send + 'static) -> Self {
        Self { key: who.key.clone(), request: Box::new(request) }
    }
}

/// The noisy tenant at work, on a thread of its own. It stands for other machines, so it yields to what is measured.
struct Noise {
    stop: watch::Sender<bool>,
    answered: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Noise {
    fn start(url: &str, load: Load) -> Self {
        let (stop, stopped) = watch::channel(false);
        let answered = Arc::new(AtomicUsize::new(0));
        let (url, counter) = (url.to_owned(), Arc::clone(&answered));
        let thread = std::thread::spawn(move || {
            #[cfg(target_os = "linux")]
            rustix::process::setpriority_process(None, NICENESS).unwrap();
            single_thread().block_on(make_noise(&url, &load, &counter, stopped));
        });
        Self { stop, answered, thread }
    }

    /// Hangs up, and says how many requests were answered.
    fn stop(self) -> usize {
        self.stop.send_replace(true);
        self.thread.join().unwrap();
        self.answered.load(Ordering::Relaxed)
    }
}

fn single_thread() -> runtime::Runtime {
    runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

async fn make_noise(url: &str, load: &Load, answered: &AtomicUsize, mut stopped: watch::Receiver<bool>) {
    let http = http_client(PATIENCE);
    let number = AtomicUsize::new(0);
    let client = || async {
        loop {
            let number = number.fetch_add(1, Ordering::Relaxed);
            if REQUESTS_MAX <= number {
                return;
            }
            let Ready { method, path, body, key } = (load.request)(number);
            let mut request = http.request(method, format!("{url}{path}")).body(body);
            request = request.header("content-type", "application/json");
            if let Some(key) = key.as_ref().or(load.key.as_ref()) {
                request = request.bearer_auth(key);
            }
            let Ok(answer) = request.send().await else { continue };
            let status = answer.status();
            let text = answer.text().await.unwrap_or_default();
            // Once is enough to see what the load comes to.
            if answered.fetch_add(1, Ordering::Relaxed) == 0 {
                let body: Value = serde_json::from_str(&text).unwrap_or_default();
                println!("  a request of the load: {status} {} {}", body["status"], body["error"]);
            }
        }
    };
    let clients = Box::pin(join_all((0..CLIENTS).map(|_| client())));
    let stop = Box::pin(stopped.wait_for(|stopped| *stopped));
    select(clients, stop).await;
}

/// How long calls took, in order.
struct Times(Vec<Duration>);

impl Times {
    fn at(&self, percent: usize) -> Duration {
        self.0[(self.0.len() - 1) * percent / 100]
    }

    /// Calls one after the other, on a thread of its own: so many, and for so long.
    async fn of(client: &Client, count: usize, at_least: Duration) -> Self {
        let (url, key) = (client.url.clone(), client.key.clone().unwrap());
        let calls = move || single_thread().block_on(call(&url, &key, count, at_least));
        let measured = tokio::task::spawn_blocking(calls);
        let mut times = measured.await.unwrap();
        times.sort_unstable();
        Self(times)
    }
}

async fn call(url: &str, key: &str, count: usize, at_least: Duration) -> Vec<Duration> {
    let (http, began) = (http_client(PATIENCE), Instant::now());
    let mut times = Vec::new();
    for number in 0.. {
        if count <= number && at_least <= began.elapsed() {
            break;
        }
        // A value of its own: the tool is pure, and an answer from memory would measure nothing.
        let value = format!("{number} {:?}", began.elapsed());
        let body = json!({ "input": { "value": value } }).to_string();
        let asked = Instant::now();
        let request = http.post(format!("{url}/api/tools/test.echo/run")).bearer_auth(key).body(body);
        let answer = request.header("content-type", "application/json").send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.bytes().await.unwrap();
        times.push(asked.elapsed());
        if MEASURED_FOR < began.elapsed() {
            break;
        }
    }
    times
}

/// What the quiet tenant has noticed.
struct Noticed {
    quiet: Times,
    loaded: Times,
    /// Requests of the noisy tenant that were answered in a second.
    rate: f64,
}

impl Noticed {
    fn ratio(&self) -> f64 {
        self.loaded.at(99).as_secs_f64() / self.quiet.at(99).max(FLOOR).as_secs_f64()
    }

    fn row(&self, name: &str) -> String {
        let ms = |time: Duration| format!("{:>8.2}", time.as_secs_f64() * 1000.0);
        let Self { quiet, loaded, rate } = self;
        format!(
            "{name:<24} {} {} {} {} {:>7.2} {rate:>9.1}",
            ms(quiet.at(50)),
            ms(quiet.at(99)),
            ms(loaded.at(50)),
            ms(loaded.at(99)),
            self.ratio()
        )
    }
}

/// The noisy tenant, with what it needs to make its load.
struct Noisy<'a> {
    world: &'a World,
    server: &'a Server,
    admin: Client,
}

impl Noisy<'_> {
    /// A tool that everybody may call.
    async fn make(&self, slug: &str, rest: &Value) {
        let mut body = json!({
            "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
            "implementation_type": "internal", "input_schema": { "type": "object" }, "publish": true,
        });
        body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        self.admin.post("/api/tools", &body).await.is("201 published");
    }

    async fn agent(&self) -> Client {
        let key = self.world.key("acme", Role::Agent, ActsAs::Agent).await;
        Client::new(&self.server.url, Some(key))
    }
}

async fn noticed(kind: Kind, load: &impl AsyncFn(&Noisy<'_>) -> Load) -> Noticed {
    let world = World::on(TestDb::new(kind).await).await;
    let server = world.server();
    let quiet = world.client(&server, "globex", Role::Member).await;
    let admin = world.client(&server, "acme", Role::Admin).await;
    let load = load(&Noisy { world: &world, server: &server, admin }).await;
    Times::of(&quiet, WARM_UP, Duration::ZERO).await;
    let before = Times::of(&quiet, QUIET_CALLS, Duration::ZERO).await;
    let noise = Noise::start(&server.url, load);
    Times::of(&quiet, WARM_UP, Duration::ZERO).await;
    let began = (Instant::now(), noise.answered.load(Ordering::Relaxed));
    let loaded = Times::of(&quiet, LOADED_CALLS, LOADED_FOR).await;
    let (seconds, answered) = (began.0.elapsed().as_secs_f64(), noise.stop() - began.1);
    Noticed { quiet: before, loaded, rate: f64::from(u32::try_from(answered).unwrap()) / seconds }
}

/// The best of some rounds; the first that holds is good enough.
async fn best(name: &str, kind: Kind, load: &impl AsyncFn(&Noisy<'_>) -> Load) -> f64 {
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>8} {:>7} {:>9}",
        "load", "p50", "p99", "p50", "p99", "ratio", "load/s"
    );
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let noticed = noticed(kind, load).await;
        println!("{}", noticed.row(name));
        best = best.min(noticed.ratio());
        // So far off is no doing of other tests.
        if best <= RATIO_MAX || 5.0 * RATIO_MAX < best {
            break;
        }
    }
    best
}

/// Both databases are measured before anything is said against either.
async fn check(name: &str, load: impl AsyncFn(&Noisy<'_>) -> Load) {
    let mut slowed = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let best = best(&format!("{name}, {kind:?}"), kind, &load).await;
        if RATIO_MAX < best {
            slowed.push(format!("{name} on {kind:?}: another's p99 is {best:.2} times what it was"));
        }
    }
    assert!(slowed.is_empty(), "{}", slowed.join("; "));
}

fn run(tool: &str, input: &Value) -> Ready {
    Ready::post(&format!("/api/tools/{tool}/run"), &json!({ "input": input }))
}

/// About as many steps as one rendering may take: more of them in one text are refused, and so are more texts.
async fn templates(noisy: &Noisy<'_>) -> Load {
    let text = "{% for i in range(100) %}{% for j in range(40) %}{{ j }}{% endfor %}{% endfor %}";
    let input = json!({ "value": vec![text; 200] });
    let steps = json!([{ "id": "s", "tool": "test.echo", "input": input }]);
    noisy.make("loops", &json!({ "implementation_type": "composition", "execution_spec": { "kind": "composition", "steps": steps } })).await;
    Load::of(&noisy.admin, vec![run("loops", &json!({}))])
}

async fn filters(noisy: &Noisy<'_>) -> Load {
    let input = json!({ "data": 1, "expression": "reduce range(2000000) as $i (0; . + $i)" });
    Load::of(&noisy.admin, vec![run("json_transform", &input)])
}

/// Ninety subschemas for each of a hundred thousand items, in a body that is not large.
async fn schemas(noisy: &Noisy<'_>) -> Load {
    let all: Vec<Value> = (0..90).map(|number| json!({ "maximum": 10 + number })).collect();
    let list = json!({ "type": "array", "items": { "allOf": all } });
    noisy
        .make("checked", &json!({ "input_schema": { "type": "object", "properties": { "list": list } } }))
        .await;
    Load::of(&noisy.admin, vec![run("checked", &json!({ "list": vec![1; 100_000] }))])
}

/// A pattern with as many places as are let through for a text that is not large. What has been read so far can be in
/// any combination of them, so the engine cannot remember what it has seen before.
async fn patterns(noisy: &Noisy<'_>) -> Load {
    let text = json!({ "type": "string", "not": { "pattern": "[ab]*a[ab]{150}c" } });
    noisy
        .make("matched", &json!({ "input_schema": { "type": "object", "properties": { "text": text } } }))
        .await;
    let mut rng = Rng::new(1);
    let text: String = (0..200_000).map(|_| if rng.chance(50) { 'a' } else { 'b' }).collect();
    Load::of(&noisy.admin, vec![run("matched", &json!({ "text": text }))])
}

/// The largest pages of every list, of a tenant that has something to list.
async fn lists(noisy: &Noisy<'_>) -> Load {
    noisy.make("plain", &json!({})).await;
    let agent = noisy.agent().await;
    for _ in 0..60 {
        join_all((0..25).map(|_| noisy.admin.run("plain", json!({})))).await;
        agent.run("test.guarded", json!({ "message": "no" })).await.is("403 NOT_PERMITTED");
    }
    let pages = [
        "/api/runs?limit=200",
        "/api/runs?limit=200&status=success",
        "/api/runs?limit=200&tool=plain&skip=1000",
        "/api/runs?limit=200&source=api&since=2020-01-01T00:00:00Z",
        "/api/tools?limit=200&q=a",
        "/api/audit?limit=200",
    ];
    Load::of(&noisy.admin, pages.map(Ready::get).into())
}

async fn batches(noisy: &Noisy<'_>) -> Load {
    noisy.make("plain", &json!({})).await;
    let call = |id: usize| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "plain", "arguments": {} } });
    let batch: Vec<Value> = (0..50).map(call).collect();
    Load::of(&noisy.admin, vec![Ready::post("/mcp", &json!(batch))])
}

/// Names that nobody has, each another one.
async fn names(noisy: &Noisy<'_>) -> Load {
    Load::by(&noisy.admin, |number| {
        let url = format!("http://host-{number}.fairness.invalid/");
        run("http_request", &json!({ "url": url, "method": "GET" }))
    })
}

/// Scripts that keep their thread busy, and make many values.
async fn scripts(noisy: &Noisy<'_>) -> Load {
    let source = "export default () => {
        let all = [];
        for (let i = 0; i < 300000; i++) { all.push({ i }); if (10000 < all.length) all = []; }
        return all.length;
    }";
    let implementation = json!({ "language": "javascript", "source": source });
    noisy
        .make("script", &json!({ "implementation_type": "artifact", "implementation": implementation }))
        .await;
    Load::of(&noisy.admin, vec![run("script", &json!({}))])
}

/// Documents that are made into as many tools as may be, each time others.
async fn imports(noisy: &Noisy<'_>) -> Load {
    let document = |number: usize| {
        let paths: serde_json::Map<String, Value> = (0..200)
            .map(|path| {
                let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
                let body = json!({ "content": { "application/json": { "schema": schema } } });
                let operation = json!({
                    "operationId": format!("imported-{number}-{path}"), "summary": "Imported.", "requestBody": body,
                    "responses": { "200": { "description": "Done." } },
                });
                (format!("/things/{path}"), json!({ "post": operation }))
            })
            .collect();
        let info = json!({ "title": "Things", "version": "1.0.0" });
        json!({ "openapi": "3.0.3", "info": info, "servers": [{ "url": "https://things.example" }], "paths": paths })
    };
    Load::by(&noisy.admin, move |number| {
        Ready::post("/api/tools/import/openapi", &json!({ "document": document(number) }))
    })
}

/// Recorded calls, as many as may be replayed at once.
async fn replays(noisy: &Noisy<'_>) -> Load {
    noisy.make("recorded", &json!({})).await;
    for _ in 0..4 {
        join_all((0..25).map(|_| noisy.admin.run("recorded", json!({ "list": vec![1; 1_000] })))).await;
    }
    Load::of(
        &noisy.admin,
        vec![Ready::post("/api/tools/recorded/replay", &json!({ "version": "draft", "limit": 100 }))],
    )
}

async fn sign_ins(_: &Noisy<'_>) -> Load {
    let request = |number: usize| {
        let email = format!("somebody-{number}@acme.example");
        Ready::post("/api/auth/login", &json!({ "email": email, "password": "not the password" }))
    };
    Load { key: None, request: Box::new(request) }
}

/// Keys that nobody has, each another one.
async fn bad_keys(_: &Noisy<'_>) -> Load {
    let request = |number: usize| Ready {
        key: Some(format!("tw_{number:012x}_{}", "x".repeat(43))),
        ..run("test.echo", &json!({ "value": 1 }))
    };
    Load { key: None, request: Box::new(request) }
}

async fn refusals(noisy: &Noisy<'_>) -> Load {
    Load::of(&noisy.agent().await, vec![run("test.guarded", &json!({ "message": "no" }))])
}

/// A schema that takes a while to be checked and to be compared: as many properties as may stand in one, each of them a
/// choice. No two numbers give the same.
fn costly_schema(number: usize) -> Value {
    let choice = |name: usize| json!({ "anyOf": (0..8).map(|at| json!({ "maximum": at + name + number })).collect::<Vec<_>>() });
    let properties: serde_json::Map<String, Value> =
        (0..90).map(|name| (format!("p{name}"), choice(name))).collect();
    json!({ "type": "object", "properties": properties })
}

async fn saves(noisy: &Noisy<'_>) -> Load {
    noisy.make("saved", &json!({})).await;
    let save = |number: usize| {
        let body = json!({ "input_schema": costly_schema(number) });
        Ready { method: Method::PATCH, ..Ready::post("/api/tools/saved", &body) }
    };
    Load::by(&noisy.admin, save)
}

async fn comparisons(noisy: &Noisy<'_>) -> Load {
    noisy.make("compared", &json!({ "input_schema": costly_schema(1) })).await;
    let draft = json!({ "input_schema": costly_schema(2) });
    noisy.admin.patch("/api/tools/compared", &draft).await.is("200 published");
    let viewer = noisy.world.client(noisy.server, "acme", Role::Viewer).await;
    Load::of(&viewer, vec![Ready::get("/api/tools/compared/versions/compare")])
}

/// Answers of workers that are dear to check, each to a call of its own, and again once all are answered.
async fn answers(noisy: &Noisy<'_>) -> Load {
    let all: Vec<Value> = (0..90).map(|number| json!({ "maximum": 10 + number })).collect();
    let output =
        json!({ "type": "object", "properties": { "list": { "type": "array", "items": { "allOf": all } } } });
    noisy
        .make(
            "worked",
            &json!({ "implementation_type": "external", "is_async": true, "output_schema": output }),
        )
        .await;
    let result = json!({ "list": vec![1; 50_000] });
    let mut ready = Vec::new();
    for _ in 0..60 {
        let waits = noisy.admin.run("worked", json!({})).await.json();
        let run = waits["run_id"].as_str().unwrap();
        let body = json!({ "callId": waits["pending_tool_call_id"], "result": result });
        ready.push(Ready::post(&format!("/api/runs/{run}/tool-results"), &body));
    }
    Load::of(&noisy.admin, ready)
}

async fn plain_calls(noisy: &Noisy<'_>) -> Load {
    noisy.make("plain", &json!({})).await;
    Load::of(&noisy.admin, vec![run("plain", &json!({}))])
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_templates_of_one_tenant_do_not_slow_down_another() {
    check("templates", templates).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_filters_of_one_tenant_do_not_slow_down_another() {
    check("jq", filters).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_schemas_of_one_tenant_do_not_slow_down_another() {
    check("schemas", schemas).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_patterns_of_one_tenant_do_not_slow_down_another() {
    check("patterns", patterns).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_lists_of_one_tenant_do_not_slow_down_another() {
    check("lists", lists).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_batches_of_one_tenant_do_not_slow_down_another() {
    check("batches", batches).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_look_ups_of_one_tenant_do_not_slow_down_another() {
    check("names", names).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_refusals_of_one_tenant_do_not_slow_down_another() {
    check("refusals", refusals).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_saves_of_one_tenant_do_not_slow_down_another() {
    check("saves", saves).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_comparisons_of_one_tenant_do_not_slow_down_another() {
    check("comparisons", comparisons).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_answers_of_one_tenant_do_not_slow_down_another() {
    check("answers", answers).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_plain_calls_of_one_tenant_do_not_slow_down_another() {
    check("plain calls", plain_calls).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_scripts_of_one_tenant_do_not_slow_down_another() {
    check("scripts", scripts).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_imports_of_one_tenant_do_not_slow_down_another() {
    check("imports", imports).await;
}

#[tokio::test]
#[ignore = "soak: timed, one tenant at full load"]
async fn heavy_replays_of_one_tenant_do_not_slow_down_another() {
    check("replays", replays).await;
}

#[tokio::test]
#[ignore = "soak: timed, strangers at full load"]
async fn heavy_bad_keys_of_strangers_do_not_slow_down_a_tenant() {
    check("bad keys", bad_keys).await;
}

#[tokio::test]
#[ignore = "soak: timed, strangers at full load"]
async fn heavy_sign_ins_of_strangers_do_not_slow_down_a_tenant() {
    check("sign-ins", sign_ins).await;
}
