//! A world to test in: a database, one or more servers on it, and callers.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tw_engine::Operator;
use tw_identity::{KeyRequest, UserRequest};
use tw_model::{ActsAs, Role, TenantSlug};
use tw_store::{Store, Target};
use tw_test::TestDb;

/// The program with the tools of `src/tools.rs`.
pub const UNDER_TEST: &str = env!("CARGO_BIN_EXE_toolwright-under-test");
/// How long a server may take to say where it listens.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// A database, and who is in it: the tenants `acme` and `globex`, each with one person per role.
#[derive(Debug)]
pub struct World {
    pub db: TestDb,
    pub folder: tempfile::TempDir,
    operator: Operator,
    store: Store,
}

/// A server process, killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

/// Somebody with a key, and a server to ask.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    pub url: String,
    pub key: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl World {
    pub async fn on(db: TestDb) -> Self {
        // Once per process is enough, and again does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = db.store().await;
        let world =
            Self { operator: Operator::new(store.clone()), store, db, folder: tempfile::tempdir().unwrap() };
        for tenant in ["acme", "globex"] {
            world.add_tenant(tenant).await;
        }
        world
    }

    /// A tenant with one person per role.
    pub async fn add_tenant(&self, tenant: &str) {
        self.operator.create_tenant(&slug(tenant), tenant).await.unwrap();
        for role in Role::ALL.into_iter().filter(|role| *role != Role::Agent) {
            self.add_user(tenant, &format!("{role}@{tenant}.example"), role).await;
        }
    }

    pub async fn add_user(&self, tenant: &str, email: &str, role: Role) {
        let request = UserRequest {
            email: email.to_owned(),
            display_name: format!("{role} of {tenant}"),
            role,
            password: None,
        };
        self.operator.add_user(&slug(tenant), request).await.unwrap();
    }

    pub fn operator(&self) -> &Operator {
        &self.operator
    }

    /// The same database, looked at directly.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// A new key of a tenant. People's keys are owned by the person of that role, agents' by the admin.
    pub async fn key(&self, tenant: &str, role: Role, acts_as: ActsAs) -> String {
        let owner = match acts_as {
            ActsAs::User => format!("{role}@{tenant}.example"),
            ActsAs::Agent => format!("admin@{tenant}.example"),
        };
        let request = KeyRequest {
            name: format!("{role} key"),
            role,
            acts_as,
            agent: (acts_as == ActsAs::Agent).then(|| "bot".to_owned()),
            expires: None,
        };
        self.operator.create_key(&slug(tenant), request, Some(&owner)).await.unwrap().text
    }

    /// Starts a server on the database. On PostgreSQL there can be several.
    pub fn server(&self) -> Server {
        self.server_with(&[], &[])
    }

    pub fn server_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Server {
        let mut command = self.command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        command.envs(environment.iter().copied());
        Server::start(command)
    }

    /// The program, told which database to use.
    pub fn command(&self) -> Command {
        program(Path::new(UNDER_TEST), &self.db, self.folder.path())
    }

    /// A server, and somebody at it.
    pub async fn client(&self, server: &Server, tenant: &str, role: Role) -> Client {
        Client::new(&server.url, Some(self.key(tenant, role, ActsAs::User).await))
    }

    pub async fn agent(&self, server: &Server, tenant: &str) -> Client {
        Client::new(&server.url, Some(self.key(tenant, Role::Agent, ActsAs::Agent).await))
    }

    /// A file in which `test.write` counts.
    pub fn ledger(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A program, told which database to use and, where that has none, which folder.
pub fn program(path: &Path, db: &TestDb, folder: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("TOOLWRIGHT_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    match db.target() {
        Target::Sqlite { file } => command.env("TOOLWRIGHT_DATA_DIR", file.parent().unwrap()),
        Target::Postgres { url } => {
            command.env("TOOLWRIGHT_DATABASE_URL", url).env("TOOLWRIGHT_DATA_DIR", folder)
        }
    };
    command
}

/// The lines that tools have written.
pub fn lines_of(file: &Path) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

pub fn slug(text: &str) -> TenantSlug {
    text.parse().unwrap()
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let (said, heard) = mpsc::channel();
        for stream in [
            Box::new(child.stdout.take().unwrap()) as Box<dyn std::io::Read + Send>,
            Box::new(child.stderr.take().unwrap()),
        ] {
            let (lines, said) = (Arc::clone(&lines), said.clone());
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if let Some(url) = line.strip_prefix("listening on ") {
                        let _ = said.send(url.trim().to_owned());
                    }
                    lines.lock().unwrap().push(line);
                }
            });
        }
        drop(said);
        match heard.recv_timeout(START_PATIENCE) {
            Ok(url) => Self { child, url, lines },
            Err(_) => {
                let _ = child.kill();
                panic!("the server did not start:\n{}", lines.lock().unwrap().join("\n"));
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything it has printed so far.
    pub fn log(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }

    /// As a power cut would: no goodbye.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end and waits. Returns the exit code and how long it took.
    pub fn terminate(&mut self) -> (Option<i32>, Duration) {
        let asked = Instant::now();
        self.signal("TERM");
        let status = self.child.wait().unwrap();
        (status.code(), asked.elapsed())
    }

    /// Whether it has ended, and with which code.
    pub fn ended(&mut self) -> Option<Option<i32>> {
        self.child.try_wait().unwrap().map(|status| status.code())
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client that trusts nobody's certificate. The tests' servers have none, and to read those of the machine
/// would cost more than most tests do.
pub fn http_client(timeout: Duration) -> reqwest::Client {
    // The server hangs up on a connection after ten seconds without a request. A request that is sent at that very
    // moment would be lost.
    let idle = Duration::from_secs(5);
    let builder = reqwest::Client::builder().no_proxy().tls_certs_only([]).pool_idle_timeout(idle);
    builder.timeout(timeout).build().unwrap()
}

impl Client {
    pub fn new(url: &str, key: Option<String>) -> Self {
        Self { http: http_client(Duration::from_secs(60)), url: url.to_owned(), key }
    }

    /// The same caller at another server.
    pub fn at(&self, server: &Server) -> Self {
        Self { url: server.url.clone(), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        self.try_send(request).await.unwrap()
    }

    /// As [`Client::send`], where the server may be gone.
    pub async fn try_send(&self, request: reqwest::RequestBuilder) -> reqwest::Result<Answer> {
        let response = request.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Answer { status, headers, text: response.text().await? })
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// Runs a tool.
    pub async fn run(&self, tool: &str, input: Value) -> Answer {
        self.post(&format!("/api/tools/{tool}/run"), &json!({ "input": input })).await
    }

    /// The types of a run's events, in order, checked to be numbered without a gap.
    pub async fn trail(&self, run: &str) -> Vec<String> {
        let run = self.get(&format!("/api/runs/{run}")).await.json();
        let session = run["session_id"].as_str().unwrap().to_owned();
        let events = self.get(&format!("/api/sessions/{session}/events?limit=200")).await.json();
        let events = events["items"].as_array().unwrap().clone();
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], index + 1, "the log of {session} has a gap");
        }
        let own = events.iter().filter(|event| event["run_id"] == run["run_id"]);
        own.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|_| panic!("{} is not JSON: {}", self.status, self.text))
    }

    /// Status and code in a word: `403 NOT_PERMITTED`, `200 success`.
    #[track_caller]
    pub fn verdict(&self) -> String {
        let body: Value = serde_json::from_str(&self.text).unwrap_or(Value::Null);
        let word = body["code"].as_str().or(body["status"].as_str()).unwrap_or_default();
        format!("{} {word}", self.status.as_u16()).trim_end().to_owned()
    }

    #[track_caller]
    pub fn is(&self, verdict: &str) -> &Self {
        assert_eq!(self.verdict(), verdict, "{}", self.text);
        self
    }

    /// A text field of the body.
    #[track_caller]
    pub fn text_at(&self, pointer: &str) -> String {
        self.json()
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("no {pointer} in {}", self.text))
            .to_owned()
    }
}

/// Waits until a condition holds, with a bound.
pub async fn eventually<F: Future<Output = bool>>(
    what: &str,
    patience: Duration,
    mut holds: impl FnMut() -> F,
) {
    let until = Instant::now() + patience;
    while !holds().await {
        assert!(Instant::now() < until, "{what} did not happen within {patience:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Two requests that start together.
pub async fn together<A, B>(first: A, second: B) -> (Answer, Answer)
where
    A: Future<Output = Answer> + Send + 'static,
    B: Future<Output = Answer> + Send + 'static,
{
    let start = Arc::new(Barrier::new(2));
    let other = Arc::clone(&start);
    let first = tokio::spawn(async move {
        start.wait().await;
        first.await
    });
    let second = tokio::spawn(async move {
        other.wait().await;
        second.await
    });
    (first.await.unwrap(), second.await.unwrap())
}
