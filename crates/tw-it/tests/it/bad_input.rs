//! What must not get in. Every operation of the published description is fed with what nobody should
//! send; each time the answer is a problem that says what is wrong, it comes at once, nothing has
//! changed, and the server goes on as if nothing had happened.

mod bodies;
mod heads;
mod places;
pub(crate) mod raw;

use std::{
    collections::BTreeMap,
    fmt::Write,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use tw_model::Role;
use tw_store::Target;
use tw_test::TestDb;

use crate::{
    mcp_servers::plant,
    world::{Client, Server, World, lines_of, slug},
};
use raw::{Outcome, Response, exchange};

/// By when an answer has to be there. A server that is not optimised reads a large body more slowly.
fn at_once(request: &[u8]) -> Duration {
    let per_mebibyte = if cfg!(debug_assertions) { 3 } else { 0 };
    Duration::from_secs(1) + Duration::from_secs(per_mebibyte) * u32::try_from(request.len() >> 20).unwrap()
}

/// How often a slow answer is asked for again: the machine may have been busy with something else.
const TRIES: usize = 3;

/// A server with one of everything that a request can name, and the operations it describes.
struct Scene {
    world: World,
    server: Server,
    admin: Client,
    /// `Authorization: Bearer …` of an admin.
    bearer: String,
    /// `Cookie: …` of an admin who has signed in.
    cookie: String,
    /// Things there are, by the beginning of their path.
    things: BTreeMap<&'static str, String>,
    operations: Vec<Operation>,
}

/// An operation, as the description has it.
struct Operation {
    method: String,
    /// With its parameter in braces.
    path: String,
    /// The names in the query, with their types.
    query: Vec<(String, String)>,
    /// The fields of the body with their types; `None` for an operation without a body.
    fields: Option<BTreeMap<String, Vec<String>>>,
}

impl Operation {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl Scene {
    async fn on(db: TestDb) -> Self {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        let parked = agent.run("test.write", json!({ "file": world.ledger("writes"), "line": "one" })).await;
        parked.is("202 needs_approval");
        let users = admin.get("/api/users").await.json();
        let member = users["items"].as_array().unwrap().iter().find(|user| user["role"] == "member").unwrap();
        let key = admin.get("/api/api-keys").await.text_at("/items/0/id");
        let secret = json!({ "label": "weather", "type": "api_key", "payload": { "api_key": "x" } });
        let credential = admin.post("/api/credentials", &secret).await.text_at("/id");
        let hook = json!({ "url": "https://a.example/hook", "events": ["mcp.drift"] });
        let webhook = admin.post("/api/webhooks", &hook).await.text_at("/id");
        let script =
            json!({ "name": "Script", "language": "javascript", "source": "export default () => 1" });
        let artifact = admin.post("/api/artifacts", &script).await.text_at("/id");
        let things = BTreeMap::from([
            ("/api/artifacts/", artifact),
            ("/api/webhooks/", webhook),
            ("/api/credentials/", credential),
            ("/api/mcp-servers/", plant(&world, "acme", "remote").await.0),
            ("/api/approvals/", parked.text_at("/approval_id")),
            ("/api/runs/", parked.text_at("/run_id")),
            ("/api/sessions/", parked.text_at("/run_id")),
            ("/api/users/", member["id"].as_str().unwrap().to_owned()),
            ("/api/api-keys/", key),
            ("/api/tools/", "test.echo".to_owned()),
        ]);
        let cookie = sign_in(&world, &server).await;
        let operations = operations(&admin).await;
        let bearer = format!("Authorization: Bearer {}", admin.key.as_deref().unwrap());
        Self { world, server, admin, bearer, cookie, things, operations }
    }

    /// The path of an operation with `thing` where its parameter is.
    fn path_with(operation: &Operation, thing: &str) -> String {
        match (operation.path.find('{'), operation.path.find('}')) {
            (Some(from), Some(to)) => {
                format!("{}{thing}{}", &operation.path[..from], &operation.path[to + 1..])
                    .replace("{delivery}", NOBODY)
            }
            _ => operation.path.clone(),
        }
    }

    /// The path of an operation on something that is there.
    fn path(&self, operation: &Operation) -> String {
        let known = self.things.iter().find(|(start, _)| operation.path.starts_with(**start));
        Self::path_with(operation, known.map_or(NOBODY, |(_, thing)| thing))
    }

    /// The path of something that is there, by the beginning of its path.
    fn thing(&self, start: &str) -> String {
        format!("{start}{}", self.things[start])
    }

    /// The line with the credentials that the operation is for.
    fn credentials(&self, operation: &Operation) -> &str {
        if operation.path.starts_with("/api/auth/") { &self.cookie } else { &self.bearer }
    }

    /// A body that the operation would take.
    fn good_body(&self, operation: &Operation) -> Value {
        let known = match operation.name().as_str() {
            "post /api/tools/{tool}/run" => json!({ "input": { "value": 1 } }),
            "patch /api/tools/{tool}" => json!({ "name": "Echo" }),
            "post /api/api-keys" => json!({ "name": "new", "role": "viewer" }),
            "post /api/users" => {
                json!({ "email": "new@acme.example", "display_name": "New", "role": "member" })
            }
            "patch /api/users/{id}" => json!({ "role": "viewer" }),
            "patch /api/me" => json!({ "language": "de" }),
            "post /api/webhooks" => json!({ "url": "https://a.example/other", "events": ["mcp.drift"] }),
            "patch /api/webhooks/{id}" => json!({ "enabled": true }),
            "patch /api/tenants/current" => json!({ "name": "acme" }),
            "post /api/artifacts" => {
                json!({ "name": "New", "language": "javascript", "source": "export default () => 1" })
            }
            "patch /api/artifacts/{id}" => json!({ "name": "Renamed" }),
            "post /api/credentials/{id}/test" => json!({ "url": "https://api.example.com/" }),
            "post /api/approvals/{id}/approve" => json!({ "note": "text" }),
            "post /api/auth/login" => {
                json!({ "email": "nobody@acme.example", "password": "not the password" })
            }
            _ => Value::Null,
        };
        if known.is_object() {
            return known;
        }
        let sample = |types: &Vec<String>| match types.first().map_or("", String::as_str) {
            "integer" | "number" => json!(1),
            "boolean" => json!(true),
            "array" => json!([]),
            "object" => json!({}),
            _ => json!("text"),
        };
        let fields = operation.fields.iter().flatten();
        fields.map(|(name, types)| (name.clone(), sample(types))).collect()
    }

    /// Sends a request, again if the answer was slow, and notes what is wrong with the answer.
    async fn ask(&self, report: &mut Report, name: &str, request: &[u8], wanted: &Wanted) {
        let mut fastest = Duration::MAX;
        for _ in 0..TRIES {
            let began = Instant::now();
            let outcome = exchange(&self.server.url, request).await;
            fastest = fastest.min(began.elapsed());
            if let Err(fault) = wanted.accept(&outcome) {
                return report.fault(name, &fault);
            }
            if fastest <= at_once(request) {
                report.count += 1;
                return;
            }
        }
        report.fault(name, &format!("took {fastest:?}"));
    }

    /// As [`Scene::ask`], for a JSON body sent to something that is there.
    async fn post(
        &self,
        report: &mut Report,
        operation: &Operation,
        name: &str,
        body: &[u8],
        wanted: &Wanted,
    ) {
        let lines = [self.credentials(operation), "Content-Type: application/json"];
        let request = raw::with_body(&operation.method.to_uppercase(), &self.path(operation), &lines, body);
        self.ask(report, &format!("{}, {name}", operation.name()), &request, wanted).await;
    }

    /// Everything there is to count.
    async fn census(&self) -> BTreeMap<&'static str, i64> {
        let mut counts = BTreeMap::new();
        for (name, sql) in CENSUS {
            counts.insert(name, count(&self.world, sql).await);
        }
        counts
    }

    /// Ends the test: says what went wrong, and looks whether the server has been left as it was.
    async fn conclude(&self, mut report: Report, before: &BTreeMap<&'static str, i64>) {
        let after = self.census().await;
        for (name, count) in before {
            if after[name] != *count {
                report.fault(
                    "afterwards",
                    &format!("there were {count} {name}, now there are {}", after[name]),
                );
            }
        }
        self.is_well(&mut report).await;
        report.conclude();
    }

    /// The server is alive, serves, and has not panicked.
    async fn is_well(&self, report: &mut Report) {
        // A client of its own: its connections are fresh.
        let fresh = Client::new(&self.server.url, self.admin.key.clone());
        for path in ["/healthz", "/readyz", "/api/me", "/api/tools"] {
            let answer = fresh.get(path).await;
            if answer.status != 200 {
                report.fault("afterwards", &format!("{path} answers {}: {}", answer.status, answer.text));
            }
        }
        let log = self.server.log();
        for line in log.lines().filter(|line| line.contains("panic") || line.contains("ERROR")) {
            report.fault("the log", line);
        }
    }
}

/// An id that nothing has.
const NOBODY: &str = "0193a000-0000-7000-8000-000000000000";

const CENSUS: [(&str, &str); 13] = [
    ("runs", "SELECT count(*) FROM runs"),
    ("events", "SELECT count(*) FROM session_events"),
    ("sessions", "SELECT count(*) FROM sessions"),
    ("approvals that wait", "SELECT count(*) FROM approvals WHERE status = 'pending'"),
    ("keys in use", "SELECT count(*) FROM api_keys WHERE revoked_us IS NULL"),
    ("users", "SELECT count(*) FROM users"),
    ("members", "SELECT count(*) FROM memberships"),
    ("logins", "SELECT count(*) FROM logins WHERE ended_us IS NULL"),
    ("sign-in links", "SELECT count(*) FROM sign_in_links"),
    ("overrides", "SELECT count(*) FROM tools"),
    ("idempotency keys", "SELECT count(*) FROM idempotency"),
    ("lines of the audit log", "SELECT count(*) FROM audit_log"),
    // Every change to a tenant, a member, a key or a tool moves it on.
    ("changes", "SELECT CAST(sum(epoch) AS BIGINT) FROM tenant_epoch"),
];

async fn count(world: &World, sql: &str) -> i64 {
    let query = AssertSqlSafe(sql.to_owned());
    match world.db.target() {
        Target::Sqlite { file } => {
            let options = SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(10));
            let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
        }
        Target::Postgres { url } => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
        }
    }
}

/// Signs the admin of `acme` in. Returns the cookie as a header line.
async fn sign_in(world: &World, server: &Server) -> String {
    let token = world.operator().sign_in_link(&slug("acme"), "admin@acme.example").await.unwrap();
    let browser = Client::new(&server.url, None);
    let signed_in = browser.post("/api/auth/link", &json!({ "token": token })).await;
    assert_eq!(signed_in.status, 200, "{}", signed_in.text);
    let set = signed_in.headers["set-cookie"].to_str().unwrap();
    format!("Cookie: {}", set.split(';').next().unwrap())
}

/// What the server says it can do.
async fn operations(admin: &Client) -> Vec<Operation> {
    let api = admin.get("/api/openapi.json").await.json();
    let mut operations = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            let parameters = described["parameters"].as_array().into_iter().flatten();
            let query = parameters.filter(|parameter| parameter["in"] == "query").map(|parameter| {
                (parameter["name"].as_str().unwrap().to_owned(), types(&api, &parameter["schema"])[0].clone())
            });
            let schema = described.pointer("/requestBody/content/application~1json/schema/$ref");
            let fields = schema.and_then(Value::as_str).map(|place| {
                let schema = api.pointer(place.trim_start_matches('#')).unwrap();
                let properties = schema["properties"].as_object().unwrap();
                properties.iter().map(|(name, property)| (name.clone(), types(&api, property))).collect()
            });
            assert_eq!(described["requestBody"].is_object(), fields.is_some(), "the body of {method} {path}");
            let query = query.collect();
            operations.push(Operation { method: method.clone(), path: path.clone(), query, fields });
        }
    }
    assert!(30 < operations.len());
    operations
}

/// The types that a schema names, itself or by what it refers to.
fn types(api: &Value, schema: &Value) -> Vec<String> {
    if let Some(place) = schema["$ref"].as_str() {
        return types(api, api.pointer(place.trim_start_matches('#')).unwrap());
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().flat_map(|choice| types(api, choice)).collect();
    }
    match &schema["type"] {
        Value::String(name) => vec![name.clone()],
        Value::Array(names) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        // A record of its own, or none.
        _ if schema["oneOf"].is_array() => vec!["object".to_owned(), "null".to_owned()],
        // What takes anything names none.
        _ if schema.as_object().is_some_and(|words| words.keys().all(|word| word == "description")) => {
            Vec::new()
        }
        _ => vec!["string".to_owned()],
    }
}

/// What an answer has to be.
enum Wanted {
    /// A problem with one of these statuses.
    Problem(&'static [u16]),
    /// The same, or what the HTTP library itself says to a request that it cannot read: a bare status in
    /// the four hundreds, or nothing but a closed connection.
    Unreadable(&'static [u16]),
    /// Done as asked, with this status.
    Done(u16),
}

/// Any refusal.
const REFUSED: Wanted = Wanted::Problem(&[]);

impl Wanted {
    fn accept(&self, outcome: &Outcome) -> Result<(), String> {
        let response = match (outcome, self) {
            (Outcome::Answered(response), _) => response,
            (Outcome::Closed, Self::Unreadable(_)) => return Ok(()),
            (Outcome::Closed, _) => return Err("the connection was closed".to_owned()),
            (Outcome::Hung, _) => return Err("no answer".to_owned()),
        };
        match self {
            Self::Done(status) if response.status == *status => Ok(()),
            Self::Done(status) => Err(format!("{} instead of {status}: {}", response.status, response.body)),
            Self::Unreadable(_) if response.body.is_empty() && (400..500).contains(&response.status) => {
                Ok(())
            }
            Self::Problem(statuses) | Self::Unreadable(statuses) => {
                if !(400..500).contains(&response.status)
                    || !statuses.is_empty() && !statuses.contains(&response.status)
                {
                    let body: String = response.body.chars().take(300).collect();
                    return Err(format!("{} instead of {statuses:?}: {body}", response.status));
                }
                is_problem(response)
            }
        }
    }
}

/// Whether an answer is a problem document as the contract has it.
pub(crate) fn is_problem(response: &Response) -> Result<(), String> {
    let wrong =
        |what: &str| Err(format!("{what}: {} {} {:?}", response.status, response.body, response.headers));
    if response.header("content-type") != Some("application/problem+json") {
        return wrong("not a problem document");
    }
    let problem = response.json();
    let text = |key: &str| problem[key].as_str().unwrap_or_default();
    if ["type", "title", "detail", "code", "request_id"].into_iter().any(|key| text(key).is_empty()) {
        return wrong("a field is missing");
    }
    if problem["status"] != response.status || text("type") != format!("/docs/errors/{}", text("code")) {
        return wrong("status or type does not fit");
    }
    if response.header("x-request-id") != Some(text("request_id")) {
        return wrong("the request has two ids");
    }
    // Each fault has its path, its code, the values of its message, and the message.
    if 5000 < response.body.len() {
        return wrong("long-winded");
    }
    Ok(())
}

/// What went wrong, all of it.
#[derive(Default)]
struct Report {
    count: usize,
    faults: Vec<String>,
}

impl Report {
    fn fault(&mut self, name: &str, fault: &str) {
        self.faults.push(format!("{name:.200}: {fault:.400}"));
    }

    #[expect(clippy::print_stdout, reason = "a figure without its count says little")]
    fn conclude(self) {
        let mut text = String::new();
        for fault in &self.faults {
            writeln!(text, "  {fault}").unwrap();
        }
        assert!(self.faults.is_empty(), "{} faults in {} cases:\n{text}", self.faults.len(), self.count);
        println!("{} cases", self.count);
    }
}

/// Nothing of what the tools of this scene could have done has been done.
fn nothing_was_written(scene: &Scene) {
    assert!(lines_of(&scene.world.ledger("writes")).is_empty());
}
