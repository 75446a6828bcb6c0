//! A crowd of callers at servers that may die, a note of everything they were told, and what the log has to
//! say afterwards.
//!
//! Start with [`Fleet`], the servers; [`Crowd`] calls them until told to stop and leaves [`Notes`]; [`Log`] is
//! what the database holds, read past the server, and checks itself and the notes.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{
    Connection,
    postgres::PgConnection,
    sqlite::{SqliteConnectOptions, SqliteConnection},
};
use tokio::task::JoinHandle;
use tw_model::{ActsAs, Role};
use tw_store::Target;
use uuid::Uuid;

use crate::world::{Client, Server, World, lines_of};

/// How long everything may take to settle after the last start.
pub(crate) const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// How often a caller sends a request again that was not answered, before it leaves it for later.
const TRIES: u32 = 5;
/// How many approvals are left for the end, at the most.
const LEFT_MAX: usize = 12;

/// Chance that can be repeated.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }
}

/// A seed that is printed, or the one in `TW_SEED`.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("TW_SEED").ok().and_then(|text| text.parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = given.unwrap_or(now.as_secs() * 1000 + u64::from(now.subsec_millis()));
    println!("TW_SEED={seed}");
    seed
}

/// How many times longer a soak is than its least, by `TW_SOAK`.
pub(crate) fn soak() -> u32 {
    std::env::var("TW_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The addresses of the servers, also of those that are away.
pub(crate) type Doors = Arc<Mutex<Vec<String>>>;

/// Servers on one database, that die and come back.
pub(crate) struct Fleet<'a> {
    make: Box<dyn Fn() -> Command + 'a>,
    pub(crate) servers: Vec<Server>,
    pub(crate) doors: Doors,
    pub(crate) starts: Vec<Duration>,
}

impl<'a> Fleet<'a> {
    /// `make` is the command that starts a server.
    pub(crate) async fn start(count: usize, make: impl Fn() -> Command + 'a) -> Self {
        let mut fleet = Self { make: Box::new(make), servers: Vec::new(), doors: Doors::default(), starts: Vec::new() };
        for _ in 0..count {
            let server = fleet.one_more().await;
            fleet.doors.lock().unwrap().push(server.url.clone());
            fleet.servers.push(server);
        }
        fleet
    }

    pub(crate) async fn of(world: &'a World, count: usize) -> Self {
        Self::start(count, || serving(world.command())).await
    }

    async fn one_more(&mut self) -> Server {
        let command = (self.make)();
        let began = Instant::now();
        let server = tokio::task::spawn_blocking(move || Server::start(command)).await.unwrap();
        self.starts.push(began.elapsed());
        server
    }

    /// Ends a server without a word.
    pub(crate) fn kill(&mut self, index: usize) {
        self.servers[index].kill();
        self.look_at(index);
    }

    /// No server may have been in trouble of its own making.
    pub(crate) fn look_at(&self, index: usize) {
        let log = self.servers[index].log();
        assert!(!log.contains("panicked"), "{log}");
    }

    /// Starts a server in the place of one that has ended.
    pub(crate) async fn restart(&mut self, index: usize) {
        let server = self.one_more().await;
        self.doors.lock().unwrap()[index].clone_from(&server.url);
        self.servers[index] = server;
    }

    /// Starts one that does not live to see its first request.
    pub(crate) async fn stillborn(&mut self, life: Duration) {
        let null = std::process::Stdio::null;
        let mut child = (self.make)().stdin(null()).stdout(null()).stderr(null()).spawn().unwrap();
        tokio::time::sleep(life).await;
        let _ = child.kill();
        child.wait().unwrap();
    }

    pub(crate) fn starts_in_words(&self) -> String {
        let mut starts = self.starts.clone();
        starts.sort_unstable();
        let at = |percent: usize| starts[(starts.len() - 1) * percent / 100].as_millis();
        format!("{} starts, median {} ms, longest {} ms", starts.len(), at(50), at(100))
    }
}

/// The command as one that serves, on a port that the system chooses.
pub(crate) fn serving(mut command: Command) -> Command {
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command
}

/// The keys of those who call.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) admin: String,
    pub(crate) member: String,
    pub(crate) agent: String,
    pub(crate) approver: String,
}

impl Keys {
    pub(crate) async fn of(world: &World) -> Self {
        let tenant = "acme";
        Self {
            admin: world.key(tenant, Role::Admin, ActsAs::User).await,
            member: world.key(tenant, Role::Member, ActsAs::User).await,
            agent: world.key(tenant, Role::Agent, ActsAs::Agent).await,
            approver: world.key(tenant, Role::Approver, ActsAs::User).await,
        }
    }

    /// Keys of the tenant `demo`, made by the program itself.
    pub(crate) fn made_by(make: impl Fn() -> Command) -> Self {
        let key = |role: &str, more: &[&str]| {
            let output = make().args(["keys", "create", "--tenant", "demo", "--role", role]).args(more).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        Self {
            admin: key("admin", &[]),
            member: key("member", &[]),
            agent: key("agent", &["--acts-as", "agent", "--agent", "bot"]),
            approver: key("approver", &[]),
        }
    }
}

/// An answer that counts: a 2xx, or a refusal that says how things stand.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Told {
    pub(crate) fn acknowledged(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn word(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_default()
    }

    /// The answer says how the call ended, and nothing may change that any more.
    fn is_final(&self) -> bool {
        self.status == 200
    }
}

/// A request under an idempotency key, and every acknowledgement it got.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    by: String,
    path: &'static str,
    body: Value,
    key: String,
    pub(crate) told: Vec<Told>,
}

/// A call that waits for a person.
#[derive(Clone, Debug)]
pub(crate) struct Parked {
    pub(crate) approval: String,
    pub(crate) run: String,
    pub(crate) line: String,
}

/// What a person said about a waiting call, and what came back.
#[derive(Clone, Debug)]
struct Decision {
    parked: Parked,
    yes: bool,
    told: Option<Told>,
}

/// Everything the crowd remembers.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) acknowledged: usize,
    /// Requests that ended without an answer, and how many of them had been let in.
    pub(crate) unanswered: usize,
    pub(crate) cut: usize,
    /// Requests that were told to come back later.
    pub(crate) later: usize,
    /// How long the answers took that were no acknowledgement.
    pub(crate) refusals: Vec<Duration>,
    /// Answers that nobody should ever get.
    pub(crate) strange: Vec<String>,
    /// Acknowledged calls without a key.
    calls: Vec<Told>,
    keyed: Vec<Keyed>,
    decisions: Vec<Decision>,
    /// Runs whose cancellation was acknowledged.
    cancelled: Vec<String>,
    /// Approvals that nobody decided.
    pub(crate) left: Vec<Parked>,
}

#[derive(Debug)]
struct Shared {
    doors: Doors,
    stop: AtomicBool,
    notes: Mutex<Notes>,
    inbox: Mutex<VecDeque<Parked>>,
    ledger: PathBuf,
    /// How often each caller has come to the end of a request.
    turns: Vec<AtomicUsize>,
}

/// Callers at work.
#[derive(Debug)]
pub(crate) struct Crowd {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

impl Crowd {
    /// Sends everybody to work. `session` is a session of the member, for calls that share a log.
    pub(crate) fn start(doors: &Doors, keys: &Keys, ledger: &Path, session: &str, rng: &mut Rng) -> Self {
        let work = [
            Work::Read,
            Work::Write,
            Work::Write,
            Work::Park,
            Work::Decide,
            Work::Slow,
            Work::Open,
            Work::Look,
        ];
        let shared = Arc::new(Shared {
            doors: Arc::clone(doors),
            stop: AtomicBool::new(false),
            notes: Mutex::default(),
            inbox: Mutex::default(),
            ledger: ledger.to_owned(),
            turns: work.iter().map(|_| AtomicUsize::new(0)).collect(),
        });
        let tasks = work.into_iter().enumerate().map(|(index, work)| {
            let caller = Caller {
                shared: Arc::clone(&shared),
                http: Client::new("", None),
                rng: Rng::new(rng.next()),
                keys: keys.clone(),
                session: session.to_owned(),
                index,
                count: 0,
            };
            tokio::spawn(caller.work(work))
        });
        let tasks = tasks.collect();
        Self { shared, tasks }
    }

    pub(crate) fn acknowledged(&self) -> usize {
        self.shared.notes.lock().unwrap().acknowledged
    }

    /// Waits until this many more calls have been acknowledged.
    pub(crate) async fn goes_on(&self, more: usize, patience: Duration) {
        let (began, goal) = (Instant::now(), self.acknowledged() + more);
        while self.acknowledged() < goal {
            assert!(began.elapsed() < patience, "the crowd got no {more} answers within {patience:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until everybody has got an answer of whatever kind. Returns how long the last one waited.
    pub(crate) async fn everybody_is_answered(&self, patience: Duration) -> Duration {
        let turns = || self.shared.turns.iter().map(|turns| turns.load(Ordering::Acquire)).collect::<Vec<_>>();
        let (began, before) = (Instant::now(), turns());
        loop {
            let now = turns();
            let waiting: Vec<usize> = (0..now.len()).filter(|caller| now[*caller] == before[*caller]).collect();
            if waiting.is_empty() {
                return began.elapsed();
            }
            assert!(began.elapsed() < patience, "callers {waiting:?} got no answer within {patience:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lets everybody finish what they are at.
    pub(crate) async fn stop(self) -> Notes {
        self.shared.stop.store(true, Ordering::Release);
        for task in self.tasks {
            task.await.unwrap();
        }
        let mut notes = std::mem::take(&mut *self.shared.notes.lock().unwrap());
        notes.left.extend(self.shared.inbox.lock().unwrap().drain(..));
        notes
    }
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Read,
    Write,
    Park,
    Decide,
    Slow,
    Open,
    Look,
}

struct Caller {
    shared: Arc<Shared>,
    http: Client,
    rng: Rng,
    keys: Keys,
    session: String,
    index: usize,
    count: u32,
}

impl Caller {
    async fn work(mut self, work: Work) {
        while !self.shared.stop.load(Ordering::Acquire) {
            match work {
                Work::Read => self.read().await,
                Work::Write => self.write().await,
                Work::Park => self.park().await,
                Work::Decide => self.decide().await,
                Work::Slow => self.slow().await,
                Work::Open => self.open_session().await,
                Work::Look => self.look().await,
            }
        }
    }

    fn name(&mut self) -> String {
        self.count += 1;
        format!("{}-{}", self.index, self.count)
    }

    fn note(&self, change: impl FnOnce(&mut Notes)) {
        change(&mut self.shared.notes.lock().unwrap());
    }

    /// Sends a request once, to any server. Nothing comes back where there was no answer, or "later".
    async fn ask(&mut self, by: &str, path: &str, body: &Value, key: Option<&str>) -> Option<Told> {
        let door = {
            let doors = self.shared.doors.lock().unwrap();
            let index = usize::try_from(self.rng.next() % doors.len() as u64).unwrap();
            doors[index].clone()
        };
        let method = if body.is_null() { Method::GET } else { Method::POST };
        let (told, took, kind) = send(&self.http, &door, by, method, path, body, key).await;
        self.shared.turns[self.index].fetch_add(1, Ordering::AcqRel);
        self.note(|notes| match &kind {
            Kind::Acknowledged => notes.acknowledged += 1,
            Kind::Refused => {}
            Kind::Unanswered { cut } => {
                notes.unanswered += 1;
                notes.cut += usize::from(*cut);
            }
            Kind::Later => {
                notes.later += 1;
                notes.refusals.push(took);
            }
            Kind::Strange(answer) => notes.strange.push(format!("{path} {body}: {answer}")),
        });
        if told.is_none() {
            // Servers that are away must not keep the processor busy.
            tokio::time::sleep(self.rng.millis(5, 40)).await;
        }
        told
    }

    /// Sends a request under a key until it is answered, a few times at the most.
    async fn ask_keyed(&mut self, by: String, path: &'static str, body: Value, key: String) -> Option<Told> {
        let mut keyed = Keyed { by, path, body, key, told: Vec::new() };
        for _ in 0..TRIES {
            if let Some(told) = self.ask(&keyed.by, path, &keyed.body, Some(&keyed.key)).await {
                keyed.told.push(told);
                // Some are so careful that they ask again although they know.
                if !self.rng.chance(10) {
                    break;
                }
            }
        }
        let told = keyed.told.last().cloned();
        self.note(|notes| notes.keyed.push(keyed));
        told
    }

    async fn read(&mut self) {
        let by = self.keys.member.clone();
        let value = self.name();
        let (path, body) = match self.rng.below(3) {
            0 => ("/api/tools/test.echo/run", json!({ "input": { "value": value } })),
            1 => ("/api/tools/test.echo/run", json!({ "input": { "value": value }, "session_id": self.session })),
            _ => {
                let input = json!({ "message": "one word after the other" });
                ("/api/tools/test.append/run", json!({ "input": input, "session_id": self.session }))
            }
        };
        if let Some(told) = self.ask(&by, path, &body, None).await {
            self.note(|notes| notes.calls.push(told));
        }
    }

    fn line(&mut self) -> (String, Value) {
        let line = self.name();
        let file = self.shared.ledger.clone();
        let (before, after) = (self.rng.below(12), self.rng.below(12));
        let input = json!({ "file": file, "line": line, "before_ms": before, "after_ms": after });
        (line, input)
    }

    async fn write(&mut self) {
        let (line, input) = self.line();
        let by = self.keys.member.clone();
        self.ask_keyed(by, "/api/tools/test.write/run", json!({ "input": input }), line).await;
    }

    async fn park(&mut self) {
        let (line, input) = self.line();
        let by = self.keys.agent.clone();
        let mut body = json!({ "input": input });
        if self.rng.chance(20) {
            body["wait_ms"] = 100.into();
        }
        let told = self.ask_keyed(by.clone(), "/api/tools/test.write/run", body, line.clone()).await;
        let Some(told) = told.filter(|told| told.word("status") == "needs_approval") else { return };
        let (approval, run) = (told.word("approval_id").to_owned(), told.word("run_id").to_owned());
        let parked = Parked { approval, run: run.clone(), line };
        self.shared.inbox.lock().unwrap().push_back(parked);
        if self.rng.chance(15) {
            self.cancel(&by, &run).await;
        }
    }

    async fn decide(&mut self) {
        let next = self.shared.inbox.lock().unwrap().pop_front();
        let Some(parked) = next else {
            self.shared.turns[self.index].fetch_add(1, Ordering::AcqRel);
            tokio::time::sleep(Duration::from_millis(5)).await;
            return;
        };
        let room = self.shared.notes.lock().unwrap().left.len() < LEFT_MAX;
        if room && self.rng.chance(10) {
            return self.note(|notes| notes.left.push(parked));
        }
        let by = self.keys.approver.clone();
        let yes = self.rng.chance(75);
        let (verb, body) = match yes {
            true => ("approve", json!({ "wait_ms": self.rng.below(200) })),
            false => ("deny", json!({ "note": "no" })),
        };
        let path = format!("/api/approvals/{}/{verb}", parked.approval);
        let mut told = None;
        for _ in 0..TRIES {
            told = self.ask(&by, &path, &body, None).await;
            if told.is_some() {
                break;
            }
        }
        self.note(|notes| notes.decisions.push(Decision { parked, yes, told }));
    }

    async fn cancel(&mut self, by: &str, run: &str) {
        let path = format!("/api/runs/{run}/cancel");
        for _ in 0..TRIES {
            if let Some(told) = self.ask(by, &path, &json!({}), None).await {
                if told.acknowledged() {
                    self.note(|notes| notes.cancelled.push(run.to_owned()));
                }
                return;
            }
        }
    }

    async fn slow(&mut self) {
        let by = self.keys.member.clone();
        let ms = 20 + self.rng.below(200);
        if self.rng.chance(30) {
            let key = self.name();
            self.ask_keyed(by, "/api/tools/test.slow/run", json!({ "input": { "ms": ms } }), key).await;
            return;
        }
        let body = json!({ "input": { "ms": ms }, "wait_ms": 1 });
        let Some(told) = self.ask(&by, "/api/tools/test.slow/run", &body, None).await else { return };
        let run = told.word("run_id").to_owned();
        self.note(|notes| notes.calls.push(told));
        if self.rng.chance(60) {
            self.cancel(&by, &run).await;
        }
    }

    /// Reading is a request like any other; what it shows is checked elsewhere.
    async fn look(&mut self) {
        let by = self.keys.admin.clone();
        let path = match self.rng.below(4) {
            0 => "/api/runs?limit=20".to_owned(),
            1 => "/api/approvals".to_owned(),
            2 => "/api/tools?limit=5".to_owned(),
            _ => format!("/api/sessions/{}/events?limit=20", self.session),
        };
        self.ask(&by, &path, &Value::Null, None).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }

    /// A write that is not a run. Some hang up before they have heard the answer.
    async fn open_session(&mut self) {
        let by = self.keys.member.clone();
        let (key, body) = (self.name(), json!({ "title": "made under a key" }));
        let path = "/api/sessions";
        if self.rng.chance(25) {
            let patience = Duration::from_micros(self.rng.below(6000));
            let asking = self.ask(&by, path, &body, Some(&key));
            let _ = tokio::time::timeout(patience, asking).await;
        }
        self.ask_keyed(by, path, body, key).await;
    }
}

enum Kind {
    Acknowledged,
    Refused,
    Later,
    Unanswered { cut: bool },
    Strange(String),
}

async fn send(
    http: &Client,
    door: &str,
    by: &str,
    method: Method,
    path: &str,
    body: &Value,
    key: Option<&str>,
) -> (Option<Told>, Duration, Kind) {
    let mut client = http.clone();
    client.url = door.to_owned();
    client.key = Some(by.to_owned());
    let mut request = client.request(method, path);
    if !body.is_null() {
        request = request.json(body);
    }
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let began = Instant::now();
    let answer = client.try_send(request).await;
    let took = began.elapsed();
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return (None, took, Kind::Unanswered { cut: !error.is_connect() }),
    };
    let told = Told { status: answer.status.as_u16(), body: serde_json::from_str(&answer.text).unwrap_or_default() };
    let waits = answer.headers.contains_key("retry-after");
    match (told.status, told.word("code")) {
        (200..300, _) => (Some(told), took, Kind::Acknowledged),
        (503, _) | (409, "IDEMPOTENCY_IN_FLIGHT") if waits => (None, took, Kind::Later),
        (409, "CONFLICT" | "ALREADY_DECIDED") => (Some(told), took, Kind::Refused),
        _ => (None, took, Kind::Strange(format!("{} {}", answer.status, answer.text))),
    }
}

/// Opens the session that part of the crowd shares.
pub(crate) async fn session_at(server: &Server, keys: &Keys) -> String {
    let member = Client::new(&server.url, Some(keys.member.clone()));
    member.post("/api/sessions", &json!({ "title": "shared" })).await.text_at("/id")
}

/// Waits until nothing runs or is about to. Returns how long that took.
pub(crate) async fn settled(server: &Server, keys: &Keys) -> Duration {
    let admin = Client::new(&server.url, Some(keys.admin.clone()));
    let began = Instant::now();
    loop {
        let mut open = Vec::new();
        for status in ["running", "pending"] {
            let answer = admin.get(&format!("/api/runs?status={status}&limit=3")).await;
            open.extend(answer.json()["items"].as_array().cloned().unwrap_or_else(|| panic!("{}", answer.text)));
        }
        if open.is_empty() {
            return began.elapsed();
        }
        assert!(began.elapsed() < SETTLED_WITHIN, "still open after {SETTLED_WITHIN:?}: {open:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

impl Notes {
    /// Sends every request under a key once more: who was answered gets the same answer, who was not gets one
    /// now. What is answered joins the notes.
    pub(crate) async fn ask_again(&mut self, server: &Server) {
        let http = Client::new("", None);
        let (mut known, mut new) = (0, 0);
        let until = Instant::now() + SETTLED_WITHIN;
        for keyed in &mut self.keyed {
            let told = loop {
                let (told, _, kind) =
                    send(&http, &server.url, &keyed.by, Method::POST, keyed.path, &keyed.body, Some(&keyed.key)).await;
                match (told, kind) {
                    (Some(told), Kind::Acknowledged) => break told,
                    // The key of a dead server is free once the others have noticed that it is dead.
                    (_, Kind::Later) if keyed.path == "/api/sessions" && Instant::now() < until => {}
                    (_, Kind::Strange(answer)) => panic!("{keyed:?}: {answer}"),
                    (told, _) => panic!("there should be an answer by now: {keyed:?}: {told:?}"),
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            };
            match keyed.told.iter().find(|told| told.is_final() || told.status == 201) {
                Some(first) => {
                    known += 1;
                    assert_eq!(first.body, told.body, "another answer to the same request: {keyed:?}");
                }
                None => new += 1,
            }
            keyed.told.push(told);
        }
        println!("asked again under {known} known keys, and {new} whose answer was lost or open");
    }

    /// Decides what was left, and sees it happen.
    pub(crate) async fn decide_left(&mut self, server: &Server, keys: &Keys) {
        let approver = Client::new(&server.url, Some(keys.approver.clone()));
        let mut decided = 0;
        for parked in std::mem::take(&mut self.left) {
            let answer = approver.post(&format!("/api/approvals/{}/approve", parked.approval), &json!({})).await;
            if answer.verdict() == "409 ALREADY_DECIDED" && self.cancelled.contains(&parked.run) {
                continue;
            }
            answer.is("200 success");
            decided += 1;
            let told = Some(Told { status: 200, body: answer.json() });
            self.decisions.push(Decision { parked, yes: true, told });
        }
        println!("decided {decided} calls that had waited");
    }

    pub(crate) fn in_words(&self) -> String {
        let approvals = self.decisions.iter().filter(|one| one.told.as_ref().is_some_and(Told::acknowledged)).count();
        format!(
            "{} acknowledged ({} under keys, {approvals} decisions, {} cancellations), {} without an answer ({} cut \
             off), {} told to come back",
            self.acknowledged,
            self.keyed.iter().filter(|keyed| !keyed.told.is_empty()).count(),
            self.cancelled.len(),
            self.unanswered,
            self.cut,
            self.later,
        )
    }
}

/// A run's row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) tool: String,
    pub(crate) status: String,
    effectful: bool,
    pub(crate) error_code: Option<String>,
    pub(crate) effect: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) session: Uuid,
    pub(crate) seq: i64,
    pub(crate) id: Uuid,
    pub(crate) kind: String,
    pub(crate) run: Uuid,
    pub(crate) payload: String,
}

/// The log and its projection, as the database has them.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) runs: BTreeMap<Uuid, Row>,
    /// By session, in order.
    pub(crate) entries: Vec<Entry>,
}

const RUNS: &str = "SELECT id, tool, status, effectful, error_code, effect FROM runs";
const ENTRIES: &str =
    "SELECT session_id, seq, id, type, run_id, payload FROM session_events ORDER BY session_id, seq";
type RunColumns = (Uuid, String, String, bool, Option<String>, Option<String>);
type EntryColumns = (Uuid, i64, Uuid, String, Uuid, String);

impl Log {
    pub(crate) async fn read(target: &Target) -> Self {
        let (runs, entries): (Vec<RunColumns>, Vec<EntryColumns>) = match target {
            Target::Sqlite { file } => {
                let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(10));
                let mut db = SqliteConnection::connect_with(&options).await.unwrap();
                let mut tx = db.begin().await.unwrap();
                let runs = sqlx::query_as(RUNS).fetch_all(&mut *tx).await.unwrap();
                (runs, sqlx::query_as(ENTRIES).fetch_all(&mut *tx).await.unwrap())
            }
            Target::Postgres { url } => {
                let mut db = PgConnection::connect(url).await.unwrap();
                let mut tx = db.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
                let runs = sqlx::query_as(RUNS).fetch_all(&mut *tx).await.unwrap();
                (runs, sqlx::query_as(ENTRIES).fetch_all(&mut *tx).await.unwrap())
            }
        };
        let row = |(id, tool, status, effectful, error_code, effect)| {
            (id, Row { tool, status, effectful, error_code, effect })
        };
        let entry = |(session, seq, id, kind, run, payload)| Entry { session, seq, id, kind, run, payload };
        Self { runs: runs.into_iter().map(row).collect(), entries: entries.into_iter().map(entry).collect() }
    }

    pub(crate) fn of_run(&self) -> BTreeMap<Uuid, Vec<&Entry>> {
        let mut by_run: BTreeMap<Uuid, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            by_run.entry(entry.run).or_default().push(entry);
        }
        by_run
    }

    /// What holds of every log whatever happened: numbers without a gap, one end to a run, and rows that say
    /// what the events say.
    pub(crate) fn is_sound(&self) {
        let mut expected = (Uuid::nil(), 0);
        for entry in &self.entries {
            expected = if entry.session == expected.0 { (entry.session, expected.1 + 1) } else { (entry.session, 1) };
            assert_eq!((entry.session, entry.seq), expected, "the numbers of a session have a gap");
        }
        let ids: BTreeSet<Uuid> = self.entries.iter().map(|entry| entry.id).collect();
        assert_eq!(ids.len(), self.entries.len(), "an event is there twice");
        let by_run = self.of_run();
        assert!(by_run.keys().eq(self.runs.keys()), "there are runs without events, or events without a run");
        for (id, entries) in by_run {
            let row = &self.runs[&id];
            let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
            let end = match row.status.as_str() {
                "success" => Some("tool.completed"),
                "error" | "timed_out" => Some("tool.failed"),
                "cancelled" => Some("tool.cancelled"),
                _ => None,
            };
            let ends: Vec<&str> = kinds.iter().copied().filter(|kind| is_end(kind)).collect();
            assert_eq!(ends, end.into_iter().collect::<Vec<_>>(), "{id} {row:?} {kinds:?}");
            if end.is_some() {
                assert!(is_end(kinds[kinds.len() - 1]), "something came after the end of {id}: {kinds:?}");
            }
            let starts = kinds.iter().filter(|kind| **kind == "tool.started").count();
            let ran = matches!(row.status.as_str(), "success" | "running" | "timed_out");
            assert!(starts <= 1 && (starts == 1 || !ran), "{id} {row:?} {kinds:?}");
            assert!(matches!(kinds[0], "tool.started" | "tool.needs_approval"), "{id} {kinds:?}");
            if row.error_code.as_deref() == Some("INTERRUPTED") {
                let effect = row.effect.as_deref();
                assert!(effect == Some("none") || row.effectful && effect == Some("unknown"), "{id} {row:?}");
            }
        }
    }

    /// What a run that wrote, or would have written, had for a line.
    pub(crate) fn line_of(entries: &[&Entry]) -> Option<String> {
        let first: Value = serde_json::from_str(&entries[0].payload).unwrap();
        first["input"]["line"].as_str().map(str::to_owned)
    }

    /// Every effect belongs to a run that had begun, and every run says truly whether it had its effect.
    pub(crate) fn tells_the_truth_about(&self, ledger: &Path) {
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for line in lines_of(ledger) {
            *lines.entry(line).or_default() += 1;
        }
        let twice: Vec<_> = lines.iter().filter(|(_, count)| **count != 1).collect();
        assert!(twice.is_empty(), "effects that happened more than once: {twice:?}");
        let mut seen = BTreeSet::new();
        for (id, entries) in self.of_run() {
            let row = &self.runs[&id];
            let Some(line) = Self::line_of(&entries) else { continue };
            assert!(seen.insert(line.clone()), "two runs for the line {line}");
            let there = lines.remove(&line).is_some();
            let began = entries.iter().any(|entry| entry.kind == "tool.started");
            let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
            match (row.status.as_str(), row.effect.as_deref()) {
                ("success", _) => assert!(there, "{line} was reported and did not happen: {id} {row:?} {kinds:?}"),
                (_, Some("unknown")) => assert!(began, "{id} {row:?} {kinds:?}"),
                _ => assert!(!there, "{line} happened and nobody says so: {id} {row:?} {kinds:?}"),
            }
        }
        assert!(lines.is_empty(), "effects that no run tells of: {lines:?}");
    }

    #[track_caller]
    fn run(&self, told: &Told) -> (Uuid, &Row) {
        let id: Uuid = told.word("run_id").parse().unwrap_or_else(|_| panic!("no run in {told:?}"));
        (id, self.runs.get(&id).unwrap_or_else(|| panic!("an acknowledged call is not in the log: {told:?}")))
    }

    /// Every run of the log is one that somebody was told of: nobody was left without an answer.
    pub(crate) fn has_nothing_but(&self, notes: &Notes) {
        let keyed = notes.keyed.iter().flat_map(|keyed| &keyed.told);
        let told: BTreeSet<Uuid> =
            notes.calls.iter().chain(keyed).filter_map(|told| told.word("run_id").parse().ok()).collect();
        let untold: Vec<_> = self.runs.iter().filter(|(run, _)| !told.contains(run)).collect();
        assert!(untold.is_empty(), "nobody was told of {untold:#?}");
    }

    /// How many runs were cut off.
    pub(crate) fn interrupted(&self) -> usize {
        self.runs.values().filter(|row| row.error_code.as_deref() == Some("INTERRUPTED")).count()
    }

    /// What was acknowledged is there, with the status that was acknowledged.
    pub(crate) fn keeps(&self, notes: &Notes) {
        assert!(notes.strange.is_empty(), "{:#?}", notes.strange);
        let by_run = self.of_run();
        let keyed = notes.keyed.iter().filter(|keyed| keyed.path != "/api/sessions");
        for told in notes.calls.iter().chain(keyed.clone().flat_map(|keyed| &keyed.told)) {
            let (_, row) = self.run(told);
            if told.is_final() {
                assert_eq!(told.word("status"), row.status, "{told:?} {row:?}");
                assert_eq!(told.body["error_code"].as_str(), row.error_code.as_deref(), "{told:?} {row:?}");
            }
        }
        for keyed in keyed {
            let runs: BTreeSet<&str> = keyed.told.iter().map(|told| told.word("run_id")).collect();
            let repeatable = keyed.path.contains("test.slow");
            assert!(runs.len() <= 1 || repeatable, "one key, several runs: {keyed:?}");
        }
        for decision in &notes.decisions {
            let id: Uuid = decision.parked.run.parse().unwrap();
            let (row, entries) = (&self.runs[&id], &by_run[&id]);
            let approved = entries.iter().any(|entry| entry.kind == "tool.approved");
            if decision.told.as_ref().is_some_and(Told::acknowledged) {
                assert_eq!(approved, decision.yes, "a decision was lost: {decision:?} {row:?}");
                let cancelled = notes.cancelled.contains(&decision.parked.run);
                let ended = match decision.yes {
                    true => match row.status.as_str() {
                        "success" => true,
                        "error" => row.error_code.as_deref() == Some("INTERRUPTED"),
                        "cancelled" => cancelled,
                        _ => false,
                    },
                    false => row.status == "cancelled",
                };
                assert!(ended, "{decision:?} {row:?}");
            }
        }
        for run in &notes.cancelled {
            let row = &self.runs[&run.parse::<Uuid>().unwrap()];
            assert_eq!(row.status, "cancelled", "a cancellation was lost: {run} {row:?}");
        }
        for parked in &notes.left {
            let row = &self.runs[&parked.run.parse::<Uuid>().unwrap()];
            let waits = row.status == "needs_approval" || notes.cancelled.contains(&parked.run);
            assert!(waits, "{parked:?} should still wait: {row:?}");
        }
    }

    pub(crate) fn in_words(&self) -> String {
        let mut by_status: BTreeMap<String, usize> = BTreeMap::new();
        for row in self.runs.values() {
            let word = match (row.error_code.as_deref(), row.effect.as_deref()) {
                (Some("INTERRUPTED"), Some(effect)) => format!("interrupted, effect {effect}"),
                _ => row.status.clone(),
            };
            *by_status.entry(word).or_default() += 1;
        }
        format!("{} runs {by_status:?}, {} events", self.runs.len(), self.entries.len())
    }
}

fn is_end(kind: &str) -> bool {
    matches!(kind, "tool.completed" | "tool.failed" | "tool.cancelled")
}

/// The checks themselves, on a log with a fault in it.
mod planted {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    const RAN: Uuid = Uuid::from_u128(1);
    const WAITS: Uuid = Uuid::from_u128(2);

    fn entry(run: Uuid, seq: i64, kind: &str) -> Entry {
        let id = Uuid::from_u128(run.as_u128() * 100 + u128::try_from(seq).unwrap());
        let payload = json!({ "input": { "line": run.to_string() } }).to_string();
        Entry { session: run, seq, id, kind: kind.to_owned(), run, payload }
    }

    fn row(status: &str) -> Row {
        let tool = "test.write".to_owned();
        Row { tool, status: status.to_owned(), effectful: true, error_code: None, effect: None }
    }

    /// A write that happened, and one that waits; what was said about them; and the ledger.
    fn scene() -> (Log, Notes, Vec<String>) {
        let entries = vec![
            entry(RAN, 1, "tool.needs_approval"),
            entry(RAN, 2, "tool.approved"),
            entry(RAN, 3, "tool.started"),
            entry(RAN, 4, "tool.completed"),
            entry(WAITS, 1, "tool.needs_approval"),
        ];
        let runs = BTreeMap::from([(RAN, row("success")), (WAITS, row("needs_approval"))]);
        let parked = |run: Uuid| Parked { approval: run.to_string(), run: run.to_string(), line: run.to_string() };
        let told = Told { status: 200, body: json!({ "run_id": RAN, "status": "success", "error_code": null }) };
        let notes = Notes {
            calls: vec![told.clone()],
            decisions: vec![Decision { parked: parked(RAN), yes: true, told: Some(told) }],
            left: vec![parked(WAITS)],
            ..Notes::default()
        };
        (Log { runs, entries }, notes, vec![RAN.to_string()])
    }

    fn passes(plant: impl FnOnce(&mut Log, &mut Notes, &mut Vec<String>)) -> bool {
        let (mut log, mut notes, mut lines) = scene();
        plant(&mut log, &mut notes, &mut lines);
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("effects");
        std::fs::write(&ledger, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let checked = catch_unwind(AssertUnwindSafe(|| {
            log.is_sound();
            log.tells_the_truth_about(&ledger);
            log.keeps(&notes);
        }));
        checked.is_ok()
    }

    #[test]
    fn kill_check_passes_what_is_in_order_and_finds_every_planted_fault() {
        assert!(passes(|_, _, _| {}));
        let row_of = |log: &mut Log, status: &str, effect: Option<&str>| {
            *log.runs.get_mut(&RAN).unwrap() = Row {
                error_code: Some("INTERRUPTED".to_owned()),
                effect: effect.map(str::to_owned),
                ..row(status)
            };
            log.entries[3].kind = "tool.failed".to_owned();
        };
        assert!(passes(|log, notes, _| {
            row_of(log, "error", Some("unknown"));
            notes.calls.clear();
        }));

        assert!(!passes(|log, _, _| drop(log.entries.remove(1))), "a gap");
        assert!(!passes(|log, _, _| log.entries.insert(4, entry(RAN, 5, "tool.failed"))), "a second end");
        assert!(!passes(|log, _, _| log.entries.insert(4, entry(RAN, 5, "tool.started"))), "life after the end");
        assert!(!passes(|log, _, _| drop(log.entries.remove(3))), "no end");
        assert!(!passes(|log, _, _| drop(log.runs.insert(RAN, row("error")))), "a row that says something else");
        assert!(!passes(|log, _, _| drop(log.runs.remove(&WAITS))), "events without a run");
        assert!(!passes(|_, _, lines| lines.push(RAN.to_string())), "an effect that happened twice");
        assert!(!passes(|_, _, lines| lines.push(WAITS.to_string())), "an effect before the approval");
        assert!(!passes(|_, _, lines| lines.push("unknown".to_owned())), "an effect of nobody");
        assert!(!passes(|_, _, lines| lines.clear()), "a success without its effect");
        assert!(
            !passes(|log, notes, _| {
                row_of(log, "error", Some("none"));
                notes.calls.clear();
            }),
            "an effect that is denied"
        );
        assert!(!passes(|_, notes, _| notes.calls[0].body["run_id"] = json!(Uuid::from_u128(3))), "a lost call");
        assert!(!passes(|_, notes, _| notes.calls[0].body["status"] = json!("error")), "another end than was told");
        assert!(!passes(|_, notes, _| notes.decisions[0].yes = false), "a lost decision");
        assert!(!passes(|_, notes, _| notes.cancelled.push(RAN.to_string())), "a lost cancellation");
        assert!(!passes(|_, notes, _| notes.left[0].run = RAN.to_string()), "a decision nobody made");
        assert!(!passes(|_, notes, _| notes.strange.push("500".to_owned())), "an answer that should not be");
    }
}
