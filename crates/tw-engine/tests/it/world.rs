//! A tenant with people and keys, one or two servers on its database, and a way past the store.

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::{Value, value::RawValue};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use tw_base::{Error, MasterKey, Result};
use tw_egress::{Egress, Policy};
use tw_engine::{Answer, Approve, CallRequest, Engine, IdempotencyKey, Operator, RateLimits, Setup};
use tw_identity::{
    Freshness, KeyRequest, UserRequest,
    rights::{CancelRuns, DecideApprovals, Permit, Right, RunTools, UpdateTools, WriteKeys},
};
use tw_kinds::AllKinds;
use tw_model::{
    ActsAs, ApprovalId, Caller, EventKind, KeyId, Mode, Role, RunId, RunStatus, SessionId, TenantId, UserId,
};
use tw_registry::EditContext;
use tw_sandbox::{Sandbox, Worker};
use tw_store::{Approval, Event, Run, Store, Target, TenantScope};
use tw_test::{Kind, TestDb};
use uuid::Uuid;

/// How long a test waits for what has to happen, before it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The tenant `acme` and its servers.
pub(crate) struct World {
    // Dropped in this order: the database goes last.
    servers: Vec<Server>,
    master_key: MasterKey,
    people: Arc<People>,
    pub(crate) db: TestDb,
}

/// Whom the tests call as, by name.
pub(crate) struct People {
    pub(crate) tenant: TenantId,
    pub(crate) users: HashMap<&'static str, UserId>,
    keys: Mutex<HashMap<String, (KeyId, String)>>,
}

/// One server on the database.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    people: Arc<People>,
}

impl World {
    /// One server, whatever the database.
    pub(crate) async fn new(db: TestDb) -> Self {
        Self::with_servers(db, 1).await
    }

    /// As many servers as the database takes: one on SQLite, two on PostgreSQL.
    pub(crate) async fn pair(db: TestDb) -> Self {
        let servers = if db.kind() == Kind::Sqlite { 1 } else { 2 };
        Self::with_servers(db, servers).await
    }

    async fn with_servers(db: TestDb, servers: usize) -> Self {
        let store = db.store().await;
        let people = Arc::new(People::settle(&store).await);
        let mut world = Self { servers: Vec::new(), master_key: MasterKey::generate(), people, db };
        world.start_on(store);
        while world.servers.len() < servers {
            world.start().await;
        }
        world
    }

    /// Starts another server on the same database.
    pub(crate) async fn start(&mut self) -> Server {
        let store = self.db.store().await;
        self.start_on(store)
    }

    /// Starts another server on a store that the test has opened itself.
    pub(crate) fn start_on(&mut self, store: Store) -> Server {
        let sandbox = Sandbox::new(Worker::this_program());
        let setup = Setup {
            store: store.clone(),
            master_key: self.master_key.clone(),
            limits: RateLimits::default(),
            egress: Egress::new(Policy::default()),
            kinds: Arc::new(AllKinds::new(sandbox.clone())),
            sandbox,
            models: tw_models::Models::default(),
            base_url: None,
            mcp_servers: Vec::new(),
            telemetry: None,
        };
        let server =
            Server { engine: Engine::start(setup).unwrap(), store, people: Arc::clone(&self.people) };
        self.servers.push(server.clone());
        server
    }

    /// The first server.
    pub(crate) fn one(&self) -> &Server {
        self.servers.first().unwrap()
    }

    /// The other server, or the same one where there is no other.
    pub(crate) fn other(&self) -> &Server {
        self.servers.last().unwrap()
    }

    pub(crate) fn servers(&self) -> &[Server] {
        &self.servers
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.people.tenant
    }

    pub(crate) fn user(&self, name: &str) -> UserId {
        self.people.users[name]
    }

    pub(crate) async fn raw(&self) -> Raw {
        Raw::open(&self.db).await
    }
}

impl People {
    /// Makes the tenant, its people, a key for each, and an agent that belongs to `owner`.
    async fn settle(store: &Store) -> Self {
        let operator = Operator::new(store.clone());
        let slug = "acme".parse().unwrap();
        let tenant = operator.create_tenant(&slug, "Acme").await.unwrap().id;
        let (mut users, mut keys) = (HashMap::new(), HashMap::new());
        let people = [
            ("admin", Role::Admin),
            ("approver", Role::Approver),
            ("member", Role::Member),
            ("stranger", Role::Member),
            ("viewer", Role::Viewer),
            ("owner", Role::Member),
        ];
        for (name, role) in people {
            let email = format!("{name}@acme.test");
            let request =
                UserRequest { email: email.clone(), display_name: name.to_owned(), role, password: None };
            users.insert(name, operator.add_user(&slug, request).await.unwrap().0.id);
            let created = operator
                .create_key(&slug, key_request(name, role, ActsAs::User), Some(&email))
                .await
                .unwrap();
            keys.insert(name.to_owned(), (created.key.id, created.text));
        }
        let request = key_request("agent", Role::Agent, ActsAs::Agent);
        let created = operator.create_key(&slug, request, Some("owner@acme.test")).await.unwrap();
        keys.insert("agent".to_owned(), (created.key.id, created.text));
        Self { tenant, users, keys: Mutex::new(keys) }
    }

    fn key(&self, who: &str) -> (KeyId, String) {
        self.keys.lock().unwrap().get(who).unwrap_or_else(|| panic!("nobody is called {who}")).clone()
    }
}

fn key_request(name: &str, role: Role, acts_as: ActsAs) -> KeyRequest {
    let agent = (acts_as == ActsAs::Agent).then(|| "helper".to_owned());
    KeyRequest { name: name.to_owned(), role, acts_as, agent, expires: None }
}

/// A plain call, to be changed where a test wants more.
pub(crate) fn request(tool: &str, input: &Value) -> CallRequest {
    CallRequest {
        tool: tool.to_owned(),
        input: raw_json(input),
        session: None,
        wait: None,
        version: None,
        unsaved: None,
        settings: None,
        secrets: None,
        upstream_key: None,
        unwanted: None,
        progress: None,
        mode: Mode::Production,
        idempotency: None,
        deadline: None,
        record: None,
    }
}

/// A call under an idempotency key, as a door would make it.
pub(crate) fn keyed(tool: &str, input: &Value, key: &str) -> CallRequest {
    let mut body_hash = [0; 32];
    let text = format!("{tool} {input}");
    for (index, byte) in text.bytes().enumerate() {
        body_hash[index % 32] = byte.wrapping_add(body_hash[index % 32]).rotate_left(3);
    }
    let idempotency = IdempotencyKey { key: key.to_owned(), route: format!("run {tool}"), body_hash };
    CallRequest { idempotency: Some(idempotency), ..request(tool, input) }
}

pub(crate) fn waiting(wait: Duration, request: CallRequest) -> CallRequest {
    CallRequest { wait: Some(wait), ..request }
}

pub(crate) fn raw_json(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

impl Server {
    pub(crate) fn scope(&self) -> TenantScope {
        self.store.tenant(self.people.tenant)
    }

    /// The caller as a door finds it for a call: by what this server has last heard.
    pub(crate) async fn caller(&self, who: &str) -> Result<Caller> {
        self.engine.identity().by_key(&self.people.key(who).1, Freshness::Heard).await
    }

    /// A right, as a door finds it for everything but a call.
    pub(crate) async fn permit<R: Right>(&self, who: &str) -> Result<Permit<R>> {
        Permit::check(self.engine.identity().by_key(&self.people.key(who).1, Freshness::Now).await?)
    }

    pub(crate) async fn call(&self, who: &str, tool: &str, input: Value) -> Result<Answer> {
        self.ask(who, request(tool, &input)).await
    }

    pub(crate) async fn ask(&self, who: &str, request: CallRequest) -> Result<Answer> {
        self.engine.call(&Permit::<RunTools>::check(self.caller(who).await?)?, request).await
    }

    /// A call that goes on while the test does something else.
    pub(crate) fn ask_soon(
        &self,
        who: &str,
        request: CallRequest,
    ) -> tokio::task::JoinHandle<Result<Answer>> {
        let (server, who) = (self.clone(), who.to_owned());
        tokio::spawn(async move { server.ask(&who, request).await })
    }

    /// An agent's call that waits for a person.
    pub(crate) async fn park(&self, tool: &str, input: Value) -> (RunId, ApprovalId) {
        let answer = self.call("agent", tool, input).await.unwrap();
        assert_eq!(answer.run.status, RunStatus::NeedsApproval);
        (answer.run.id, answer.approval.unwrap())
    }

    pub(crate) async fn approve(&self, who: &str, id: ApprovalId) -> Result<Answer> {
        self.approve_as(who, id, Approve::default()).await
    }

    pub(crate) async fn approve_as(&self, who: &str, id: ApprovalId, yes: Approve) -> Result<Answer> {
        let approved = self.engine.approve(&self.permit::<DecideApprovals>(who).await?, id, yes).await;
        approved.map(|approved| approved.answer)
    }

    pub(crate) async fn deny(&self, who: &str, id: ApprovalId) -> Result<Approval> {
        self.engine.deny(&self.permit::<DecideApprovals>(who).await?, id, Some("no thanks")).await
    }

    pub(crate) async fn cancel(&self, who: &str, run: RunId) -> Result<Answer> {
        self.engine.cancel(&self.permit::<CancelRuns>(who).await?, run, None).await
    }

    pub(crate) async fn new_agent_key(&self, name: &str) {
        let permit = self.permit::<WriteKeys>("admin").await.unwrap();
        let request = key_request(name, Role::Agent, ActsAs::Agent);
        let created = self.engine.identity().create_key(&permit, request, None).await.unwrap();
        self.people.keys.lock().unwrap().insert(name.to_owned(), (created.key.id, created.text));
    }

    /// Whether the key is in this server's memory.
    pub(crate) fn knows_key(&self, who: &str) -> bool {
        self.engine.identity().knows_key(&self.people.key(who).1)
    }

    pub(crate) async fn revoke(&self, who: &str) {
        let permit = self.permit::<WriteKeys>("admin").await.unwrap();
        self.engine.identity().revoke_key(&permit, self.people.key(who).0, None).await.unwrap();
    }

    /// Lays something over a tool, as the admin.
    pub(crate) async fn change_tool(&self, tool: &str, change: Value) {
        let permit = self.permit::<UpdateTools>("admin").await.unwrap();
        let _ =
            self.engine.registry().change_tool(&permit, tool, &change, EditContext::default()).await.unwrap();
    }

    pub(crate) fn key_id(&self, who: &str) -> KeyId {
        self.people.key(who).0
    }

    /// The run as the database has it.
    pub(crate) async fn stored(&self, run: RunId) -> Run {
        self.scope().run(run).await.unwrap().unwrap()
    }

    pub(crate) async fn approval(&self, id: ApprovalId) -> Approval {
        self.scope().approval(id).await.unwrap().unwrap()
    }

    /// Waits until the run has ended.
    pub(crate) async fn ended(&self, run: RunId) -> Run {
        let watch = self.store.wake().watch(run.into());
        let end = Instant::now() + PATIENCE;
        loop {
            let changed = watch.changed();
            let stored = self.stored(run).await;
            if !stored.status.is_open() {
                return stored;
            }
            assert!(Instant::now() < end, "the run does not end: {stored:?}");
            // A run within a session is not told of here.
            let _ = tokio::time::timeout(Duration::from_millis(50), changed).await;
        }
    }

    pub(crate) async fn events(&self, session: impl Into<SessionId>) -> Vec<Event> {
        self.scope().events(session.into(), 0, 10_000).await.unwrap()
    }

    /// What the log says about a run outside any session, a line for each event.
    pub(crate) async fn trail(&self, run: RunId) -> String {
        let events = self.events(run).await;
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event.seq, i64::try_from(index).unwrap() + 1, "the log of {run} has a gap");
            assert_eq!(event.run, Some(run));
        }
        lines(&events)
    }

    /// How many runs the tenant has.
    pub(crate) async fn count_runs(&self) -> i64 {
        self.scope().count_runs(&tw_store::RunFilter::default()).await.unwrap().unwrap()
    }
}

pub(crate) fn lines(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        let payload: Value = serde_json::from_str(event.payload.get()).unwrap();
        let word = |name: &str| payload[name].as_str().unwrap_or("?").to_owned();
        write!(text, "{} {}", event.kind.as_str(), event.tool.as_deref().unwrap_or("-")).unwrap();
        match event.kind {
            EventKind::Failed => write!(text, " {}", word("error_code")).unwrap(),
            EventKind::Cancelled => write!(text, " {}", word("reason")).unwrap(),
            EventKind::OutputAppended => write!(text, " {:?}", word("text")).unwrap(),
            EventKind::NeedsApproval => write!(text, " {}", word("rule")).unwrap(),
            EventKind::Approved if !payload["changes"].is_null() => text.push_str(" changed"),
            EventKind::Started
            | EventKind::Completed
            | EventKind::Approved
            | EventKind::Progress
            | EventKind::LateResult => {}
        }
        if let Some(effect) = payload["effect"].as_str() {
            write!(text, " effect={effect}").unwrap();
        }
        text.push('\n');
    }
    text
}

/// What a caller was told, in a line.
pub(crate) fn told(result: &Result<Answer>) -> String {
    match result {
        Ok(Answer { run, .. }) => {
            let mut text = run.status.as_str().to_owned();
            let output = run.output.as_deref().map(RawValue::get);
            for part in [run.error_code.map(tw_model::Code::as_str), run.error.as_deref(), output]
                .into_iter()
                .flatten()
            {
                write!(text, " {part}").unwrap();
            }
            text
        }
        Err(error) => refused(error),
    }
}

pub(crate) fn refused(error: &Error) -> String {
    let mut text = format!("{}: {error}", error.code());
    if error.code() == tw_model::Code::InvalidParams {
        for fault in error.faults() {
            write!(text, "\n  {} {}", fault.path, fault.message).unwrap();
        }
    }
    text
}

/// Looks again and again until there is something to see.
pub(crate) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A connection as the owner of the database, whom no fence holds.
pub(crate) enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Raw {
    pub(crate) async fn open(db: &TestDb) -> Self {
        match db.target() {
            Target::Sqlite { file } => {
                let options =
                    SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(10));
                Self::Sqlite(SqliteConnection::connect_with(&options).await.unwrap())
            }
            Target::Postgres { url } => Self::Postgres(PgConnection::connect(&url).await.unwrap()),
        }
    }

    /// An id as this database spells it.
    pub(crate) fn id(&self, id: Uuid) -> String {
        match self {
            Self::Sqlite(_) => format!("x'{}'", id.simple()),
            Self::Postgres(_) => format!("'{id}'"),
        }
    }

    pub(crate) async fn try_execute(&mut self, sql: impl Into<String>) -> sqlx::Result<u64> {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Self::Sqlite(c) => sqlx::raw_sql(sql).execute(c).await.map(|done| done.rows_affected()),
            Self::Postgres(c) => sqlx::raw_sql(sql).execute(c).await.map(|done| done.rows_affected()),
        }
    }

    /// Changes something behind everybody's back. It has to be there.
    pub(crate) async fn execute(&mut self, sql: impl Into<String>) {
        assert_ne!(self.try_execute(sql).await.unwrap(), 0, "nothing was changed");
    }

    pub(crate) async fn count(&mut self, sql: impl Into<String>) -> i64 {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Self::Sqlite(c) => sqlx::query_scalar(sql).fetch_one(c).await.unwrap(),
            Self::Postgres(c) => sqlx::query_scalar(sql).fetch_one(c).await.unwrap(),
        }
    }
}
