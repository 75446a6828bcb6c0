//! Callers who never stop, and who write down every answer.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{Doors, Keys, Rng, SETTLED_WITHIN};
use crate::world::{Client, Server};

/// How often a caller sends a request again that was not answered, before it leaves it for later.
const TRIES: u32 = 5;
/// How many approvals are left for the end, at the most.
const LEFT_MAX: usize = 12;

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

    pub(super) fn word(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_default()
    }

    /// The answer says how the call ended, and nothing may change that any more.
    pub(super) fn is_final(&self) -> bool {
        self.status == 200
    }
}

/// A request under an idempotency key, and every acknowledgement it got.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    by: String,
    pub(super) path: &'static str,
    body: Value,
    key: String,
    pub(crate) told: Vec<Told>,
}

/// A call that waits for a person.
#[derive(Clone, Debug)]
pub(crate) struct Parked {
    pub(crate) approval: String,
    pub(crate) run: String,
}

/// What a person said about a waiting call, and what came back.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) parked: Parked,
    pub(super) yes: bool,
    pub(super) told: Option<Told>,
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
    pub(super) calls: Vec<Told>,
    pub(super) keyed: Vec<Keyed>,
    pub(super) decisions: Vec<Decision>,
    /// Runs that somebody wanted to cancel: where no answer came, nobody knows whether that was done.
    pub(super) given_up: Vec<String>,
    /// Runs whose cancellation was acknowledged.
    pub(super) cancelled: Vec<String>,
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
        let turns =
            || self.shared.turns.iter().map(|turns| turns.load(Ordering::Acquire)).collect::<Vec<_>>();
        let (began, before) = (Instant::now(), turns());
        loop {
            let now = turns();
            let waiting: Vec<usize> =
                (0..now.len()).filter(|caller| now[*caller] == before[*caller]).collect();
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
            1 => (
                "/api/tools/test.echo/run",
                json!({ "input": { "value": value }, "session_id": self.session }),
            ),
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
        let parked = Parked { approval, run: run.clone() };
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
        self.note(|notes| notes.given_up.push(run.to_owned()));
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
    let told =
        Told { status: answer.status.as_u16(), body: serde_json::from_str(&answer.text).unwrap_or_default() };
    let waits = answer.headers.contains_key("retry-after");
    match (told.status, told.word("code")) {
        (200..300, _) => (Some(told), took, Kind::Acknowledged),
        (503, _) | (409, "IDEMPOTENCY_IN_FLIGHT") if waits => (None, took, Kind::Later),
        (409, "CONFLICT" | "ALREADY_DECIDED") => (Some(told), took, Kind::Refused),
        _ => (None, took, Kind::Strange(format!("{} {}", answer.status, answer.text))),
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
                let (told, _, kind) = send(
                    &http,
                    &server.url,
                    &keyed.by,
                    Method::POST,
                    keyed.path,
                    &keyed.body,
                    Some(&keyed.key),
                )
                .await;
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
            let answer =
                approver.post(&format!("/api/approvals/{}/approve", parked.approval), &json!({})).await;
            if answer.verdict() == "409 ALREADY_DECIDED" && self.given_up.contains(&parked.run) {
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
        let approvals =
            self.decisions.iter().filter(|one| one.told.as_ref().is_some_and(Told::acknowledged)).count();
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
