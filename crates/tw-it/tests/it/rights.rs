//! Who may do what: every operation of the published description, asked by everybody.
//!
//! The answers are written to `docs/rights.md`, where people who do not read code can check them.
//! `UPDATE_EXPECT=1` writes the page anew; an operation without a request below fails the test.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use expect_test::expect_file;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tw_identity::{CreatedKey, KeyRequest, UserRequest};
use tw_model::{ActsAs, Role, Timestamp};
use tw_test::{AuthServer, Generation, McpServer, TestDb};

use crate::{
    mcp_servers::{plant, plant_unused},
    people::Browser,
    world::{Answer, Client, Server, World, eventually, slug},
};

// Rights are checked before any store is asked, so one database is enough.
#[tokio::test]
async fn everybody_gets_what_the_table_of_rights_says() {
    let scene = Scene::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    let mut faults = Vec::new();
    let mut rows = Vec::new();
    for operation in operations() {
        let mut cells = Vec::new();
        for who in Who::ALL {
            cells.push(scene.cell(&operation, who, &mut faults).await);
        }
        rows.push((operation, cells));
    }

    assert!(faults.is_empty(), "{}", faults.join("\n"));
    expect_file!["../../../../docs/rights.md"].assert_eq(&page(&rows));
}

#[tokio::test]
async fn person_may_do_the_same_by_key_and_signed_in() {
    let scene = Scene::on(TestDb::new(tw_test::Kind::Sqlite).await).await;
    for who in Who::ALL {
        let Who::Person(role) = who else { continue };
        let token = scene.link("acme", &format!("{role}@acme.example")).await;
        let browser = Browser::by_link(&scene.server, &token).await;
        for operation in operations() {
            if operation.needs_login() {
                continue;
            }
            let ask = scene.ask(&operation, &scene.neighbour).await.unwrap();
            let by_login = send(browser.request(ask.method.clone(), &ask.path()), ask.body.as_ref()).await;
            let ask = scene.ask(&operation, &scene.neighbour).await.unwrap();
            let by_key = send(scene.request(&operation, who, &ask).await, ask.body.as_ref()).await;
            assert_eq!(by_login.status, by_key.status, "{} as {role}: {}", operation.name(), by_login.text);
        }
    }
}
/// An operation of the published description.
#[derive(Clone, Debug)]
pub struct Operation {
    pub method: Method,
    pub path: String,
    pub tag: String,
    summary: String,
    /// Whether it needs no credentials.
    pub open: bool,
}

pub fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(tw_http::openapi()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
            let summary =
                operation["summary"].as_str().unwrap_or_else(|| panic!("{method} {path} has no summary"));
            assert!(!summary.contains('\n'), "the summary of {method} {path} is more than a line");
            operations.push(Operation {
                method,
                path: path.clone(),
                tag: operation["tags"][0].as_str().unwrap().to_owned(),
                summary: summary
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .trim_end_matches('.')
                    .to_owned(),
                open: operation["security"] == json!([{}]),
            });
        }
    }
    assert!(40 <= operations.len(), "the description has lost operations");
    operations
}

impl Operation {
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether it is about runs, of which everybody has their own.
    fn is_about_runs(&self) -> bool {
        self.path.starts_with("/api/runs") || self.path.starts_with("/api/sessions/")
    }

    /// Whether it ends what the same person began.
    fn is_for_whoever_went(&self) -> bool {
        self.path == "/api/mcp-servers/callback"
    }

    /// Whether the answer is about the whole server.
    fn is_for_all_tenants(&self) -> bool {
        self.open || self.path == "/metrics"
    }

    /// Whether only a person who signed in can do it, whatever key they may have.
    fn needs_login(&self) -> bool {
        ["/api/auth/logout", "/api/auth/switch", "/api/auth/password"].contains(&self.path.as_str())
    }
}

/// A request that its owner may make.
#[derive(Clone, Debug)]
pub struct Ask {
    pub method: Method,
    /// With `{}` where the name of the thing stands.
    template: String,
    /// The thing it is about, where the path names one.
    pub object: Option<String>,
    pub body: Option<Value>,
    /// What a list shows to those who may see it.
    shows: Option<String>,
}

impl Ask {
    pub fn path(&self) -> String {
        self.path_to(self.object.as_deref().unwrap_or_default())
    }

    /// The same for another thing.
    pub fn path_to(&self, object: &str) -> String {
        self.template.replace("{}", object)
    }
}

/// Two tenants with people in them, and things of the tenant `acme` to ask for.
#[derive(Debug)]
pub struct Scene {
    pub world: World,
    pub server: Server,
    /// A member of `acme` who minds their own business.
    pub neighbour: Client,
    /// An agent of `acme`, but not the one who asks.
    agent: Client,
    clients: Vec<(Who, Client)>,
    number: AtomicU32,
    /// A server that asks to sign in, and who lets people in there.
    remote: McpServer,
    auth: AuthServer,
}

const PASSWORD: &str = "correct horse battery";

impl Scene {
    pub async fn on(db: TestDb) -> Self {
        let world = World::on(db).await;
        let (remote, auth) = (McpServer::start(Generation::Present).await, AuthServer::start().await);
        remote.ask_to_sign_in(auth.tokens());
        let allowed = [&remote.upstream, &auth.upstream].map(|upstream| upstream.host_and_port()).join(",");
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed)]);
        let operator = world.operator();
        for (email, password) in
            [("neighbour@acme.example", None), ("known@acme.example", Some(PASSWORD.to_owned()))]
        {
            let display_name = "Neighbour of acme".to_owned();
            let request = UserRequest { email: email.to_owned(), display_name, role: Role::Member, password };
            operator.add_user(&slug("acme"), request).await.unwrap();
        }
        let neighbour = key(&world, Role::Member, "neighbour@acme.example", None, None).await;
        let agent = key(&world, Role::Agent, "admin@acme.example", Some("other"), None).await;
        let client = |key: CreatedKey| Client::new(&server.url, Some(key.text));
        let (neighbour, agent) = (client(neighbour), client(agent));
        let mut clients = Vec::new();
        for who in Who::ALL {
            clients.push((who, who.client(&world, &server).await));
        }
        // What is to be open while it is asked for stays so for as long as a test may take.
        let patient = world.client(&server, "acme", Role::Admin).await;
        let patience = json!({ "timeout_ms": 600_000 });
        assert_eq!(patient.patch("/api/tools/test.slow", &patience).await.status, StatusCode::OK);
        Self { world, server, neighbour, agent, clients, number: AtomicU32::new(0), remote, auth }
    }

    fn client(&self, who: Who) -> &Client {
        self.clients.iter().find_map(|(each, client)| (*each == who).then_some(client)).unwrap()
    }

    /// A name that nothing has yet.
    fn fresh(&self, what: &str) -> String {
        format!("{what}-{}", self.number.fetch_add(1, Ordering::Relaxed))
    }

    /// A person nobody has met, in the given tenants. Returns their email and id.
    async fn person(&self, tenants: &[&str], role: Role) -> (String, String) {
        let email = format!("{}@example.com", self.fresh("person"));
        let mut id = String::new();
        for tenant in tenants {
            let request = UserRequest {
                email: email.clone(),
                display_name: format!("person of {tenant}"),
                role,
                password: None,
            };
            let (user, _) = self.world.operator().add_user(&slug(tenant), request).await.unwrap();
            id = user.id.to_string();
        }
        (email, id)
    }

    async fn link(&self, tenant: &str, email: &str) -> String {
        self.world.operator().sign_in_link(&slug(tenant), email).await.unwrap()
    }

    /// A run of `owner` that has ended.
    async fn ended_run(&self, owner: &Client) -> Option<String> {
        let answer = owner.run("test.echo", json!({ "value": self.fresh("run of acme") })).await;
        answer.status.is_success().then(|| answer.text_at("/run_id"))
    }

    /// A run of `owner` that goes on until it is cancelled or the tool's time is up.
    async fn open_run(&self, owner: &Client) -> Option<String> {
        let body = json!({ "input": { "ms": 600_000 }, "wait_ms": 0 });
        let answer = owner.post("/api/tools/test.slow/run", &body).await;
        answer.status.is_success().then(|| answer.text_at("/run_id"))
    }

    async fn session(&self, owner: &Client) -> Option<String> {
        let answer = owner.post("/api/sessions", &json!({ "title": self.fresh("session of acme") })).await;
        answer.status.is_success().then(|| answer.text_at("/id"))
    }

    /// A call that a worker has to answer: its run, and its id.
    async fn waiting_call(&self) -> (String, String) {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        let slug = self.fresh("outside");
        let body = json!({
            "slug": slug, "name": "Outside", "description": "Done by others.", "publish": true, "is_async": true,
            "implementation_type": "external", "input_schema": { "type": "object" },
        });
        admin.post("/api/tools", &body).await.is("201 published");
        let waits = admin.run(&slug, json!({})).await;
        let waits = waits.is("202 pending");
        (waits.text_at("/run_id"), waits.text_at("/pending_tool_call_id"))
    }

    /// An approval that waits.
    async fn approval(&self) -> String {
        let ledger = self.world.ledger(&self.fresh("ledger"));
        let parked = self.agent.run("test.write", json!({ "file": ledger, "line": "acme" })).await;
        parked.is("202 needs_approval").text_at("/approval_id")
    }

    async fn standing_approval(&self) -> String {
        let approver = self.world.client(&self.server, "acme", Role::Approver).await;
        let path = format!("/api/approvals/{}/approve", self.approval().await);
        let approved = approver.post(&path, &json!({ "standing": { "for_s": 60 } })).await;
        approved.is("200 success").text_at("/standing_approval_id")
    }

    async fn credential(&self) -> String {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        let made = admin.post("/api/credentials", &credential_body(&self.fresh("credential"))).await;
        made.is("201").text_at("/id")
    }

    /// A tenant may have fifty webhooks, and this test makes more.
    async fn makes_room_for_a_webhook(&self, admin: &Client) {
        let all = admin.get("/api/webhooks?limit=200").await.json();
        let all = all["items"].as_array().unwrap();
        for old in all.iter().take(all.len().saturating_sub(20)) {
            admin.delete(&format!("/api/webhooks/{}", old["id"].as_str().unwrap())).await;
        }
    }

    async fn webhook(&self) -> String {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        self.makes_room_for_a_webhook(&admin).await;
        admin.post("/api/webhooks", &webhook_body()).await.is("201").text_at("/id")
    }

    /// A webhook and something that it was told.
    async fn delivery(&self) -> (String, String) {
        let (hook, admin) =
            (self.webhook().await, self.world.client(&self.server, "acme", Role::Admin).await);
        let tested = admin.post(&format!("/api/webhooks/{hook}/test"), &json!({})).await;
        (hook, tested.is("200 failed").text_at("/id"))
    }

    /// A server that asks to sign in.
    async fn server_to_sign_in_to(&self) -> String {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        let servers = admin.get("/api/mcp-servers?limit=200").await.json();
        let all = servers["items"].as_array().unwrap();
        if let Some(known) = all.iter().find(|server| server["name"] == "asks-to-sign-in") {
            return known["id"].as_str().unwrap().to_owned();
        }
        let body = json!({ "name": "asks-to-sign-in", "url": self.remote.url() });
        admin.post("/api/mcp-servers", &body).await.is("201 unauthorized").text_at("/id")
    }

    /// What a sign-in page sends somebody back with: `owner`, or an admin where `owner` may not go there.
    async fn brought_back(&self, owner: &Client) -> Value {
        let path = format!("/api/mcp-servers/{}/authorize", self.server_to_sign_in_to().await);
        let mut page = owner.post(&path, &json!({})).await;
        if !page.status.is_success() {
            let admin = self.world.client(&self.server, "acme", Role::Admin).await;
            page = admin.post(&path, &json!({})).await;
        }
        self.auth.agree(&page.is("200").text_at("/authorization_url")).body()
    }

    async fn artifact(&self) -> String {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        admin.post("/api/artifacts", &artifact_body()).await.is("201").text_at("/id")
    }

    /// A tool that the tenant has written itself.
    async fn own_tool(&self) -> String {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        let slug = self.fresh("tool");
        let body = json!({
            "slug": slug, "name": "Own", "description": "One of the tenant's own.", "publish": true,
            "implementation_type": "internal", "permission_level": "read", "input_schema": { "type": "object" },
        });
        admin.post("/api/tools", &body).await.is("201 published");
        slug
    }

    /// A tool with a test case: its slug, and the case's id.
    async fn tool_with_case(&self) -> (String, String) {
        let admin = self.world.client(&self.server, "acme", Role::Admin).await;
        let slug = self.own_tool().await;
        let made = admin.post(&format!("/api/tools/{slug}/tests"), &json!({ "name": "A case" })).await;
        (slug, made.is("201").text_at("/id"))
    }

    /// A request for the operation, about a thing of `acme` that `owner` has made, or the tenant has.
    /// `None` where `owner` cannot make such a thing.
    pub async fn ask(&self, operation: &Operation, owner: &Client) -> Option<Ask> {
        let mut shows = None;
        let mut case = None;
        let mut second = String::new();
        let (object, body) = match operation.name().as_str() {
            "GET /healthz"
            | "GET /readyz"
            | "GET /metrics"
            | "GET /api/openapi.json"
            | "GET /api/docs"
            | "GET /api/me"
            | "GET /api/tools"
            | "GET /api/tools/builtins/functions"
            | "GET /api/tools/builtins/templates"
            | "GET /api/approvals"
            | "GET /api/standing-approvals"
            | "GET /api/pending-calls"
            | "GET /api/workers/stream"
            | "GET /api/api-keys"
            | "GET /api/credentials"
            | "GET /api/webhooks"
            | "GET /api/artifacts"
            | "GET /api/users"
            | "GET /api/roles"
            | "GET /api/models"
            | "GET /api/tenants"
            | "GET /api/tenants/current"
            | "GET /api/audit" => (None, None),
            "GET /api/runs" => {
                shows = Some(self.ended_run(owner).await?);
                (None, None)
            }
            "GET /api/tools/{tool}" => (Some("test.private".to_owned()), None),
            "PATCH /api/tools/{tool}" => (Some("test.private".to_owned()), Some(json!({ "icon": "eye" }))),
            "POST /api/tools/import/openapi" => {
                (None, Some(json!({ "document": { "openapi": "3.1.0", "paths": {} } })))
            }
            "POST /api/tools" => {
                let body = json!({
                    "slug": self.fresh("made"), "name": "Made", "description": "Made by whoever may.",
                    "implementation_type": "internal", "input_schema": { "type": "object" },
                });
                (None, Some(body))
            }
            "PUT /api/tools/{tool}" => (Some(self.own_tool().await), Some(json!({ "icon": "eye" }))),
            "DELETE /api/tools/{tool}"
            | "GET /api/tools/{tool}/versions"
            | "GET /api/tools/{tool}/versions/compare"
            | "GET /api/tools/{tool}/versions/{revision}"
            | "GET /api/tools/{tool}/used-by"
            | "GET /api/tools/{tool}/tests"
            | "GET /api/tools/{tool}/explain" => (Some(self.own_tool().await), None),
            "POST /api/tools/{tool}/publish"
            | "POST /api/tools/{tool}/version"
            | "POST /api/tools/{tool}/versions/{revision}/restore" => {
                (Some(self.own_tool().await), Some(json!({})))
            }
            "POST /api/tools/{tool}/versions/{revision}/withdraw" => {
                let slug = self.own_tool().await;
                let admin = self.world.client(&self.server, "acme", Role::Admin).await;
                let number = format!("/api/tools/{slug}/version?new_version=2.0.0");
                admin.post(&number, &json!({})).await.is("200 published");
                (Some(slug), Some(json!({})))
            }
            "POST /api/tools/{tool}/tests" => {
                (Some(self.own_tool().await), Some(json!({ "name": "A case" })))
            }
            "POST /api/tools/{tool}/replay" => {
                (Some(self.tool_with_case().await.0), Some(json!({ "version": "draft" })))
            }
            "POST /api/tools/{tool}/tests/run" => (Some(self.tool_with_case().await.0), Some(json!({}))),
            "PATCH /api/tools/{tool}/tests/{id}" | "DELETE /api/tools/{tool}/tests/{id}" => {
                let (slug, id) = self.tool_with_case().await;
                case = Some(id);
                (Some(slug), (operation.method == Method::PATCH).then(|| json!({ "name": "Another" })))
            }
            "POST /api/tools/{tool}/clone" => {
                (Some(self.own_tool().await), Some(json!({ "slug": self.fresh("clone") })))
            }
            "POST /api/tools/{tool}/run"
            | "POST /api/tools/{tool}/test"
            | "POST /api/tools/{tool}/test/stream" => {
                (Some("test.private".to_owned()), Some(json!({ "input": { "message": "hello" } })))
            }
            "GET /api/runs/{id}" => (Some(self.ended_run(owner).await?), None),
            "POST /api/runs/{id}/cancel" => (Some(self.open_run(owner).await?), Some(json!({}))),
            "POST /api/runs/{id}/tool-results" => {
                let (run, call) = self.waiting_call().await;
                (Some(run), Some(json!({ "call_id": call, "result": {} })))
            }
            "GET /api/pending-calls/{id}" => (Some(self.waiting_call().await.1), None),
            "POST /api/sessions" => (None, Some(json!({ "title": "a session" }))),
            "GET /api/sessions/{id}"
            | "GET /api/sessions/{id}/events"
            | "GET /api/sessions/{id}/events/stream" => (Some(self.session(owner).await?), None),
            "GET /api/approvals/{id}" => (Some(self.approval().await), None),
            "POST /api/approvals/{id}/approve" | "POST /api/approvals/{id}/deny" => {
                (Some(self.approval().await), Some(json!({ "note": "a note" })))
            }
            "DELETE /api/standing-approvals/{id}" => (Some(self.standing_approval().await), None),
            "POST /api/api-keys" => (None, Some(json!({ "name": self.fresh("key"), "role": "viewer" }))),
            "DELETE /api/api-keys/{id}" => {
                let key = key(&self.world, Role::Viewer, "viewer@acme.example", None, None).await;
                (Some(key.key.id.to_string()), None)
            }
            "POST /api/artifacts" => (None, Some(artifact_body())),
            "GET /api/artifacts/{id}"
            | "DELETE /api/artifacts/{id}"
            | "GET /api/artifacts/{id}/versions"
            | "GET /api/artifacts/{id}/versions/{version}"
            | "GET /api/artifacts/{id}/used-by" => (Some(self.artifact().await), None),
            "PATCH /api/artifacts/{id}" => (Some(self.artifact().await), Some(json!({ "name": "Renamed" }))),
            "POST /api/credentials" => (None, Some(credential_body(&self.fresh("credential")))),
            "GET /api/credentials/{id}"
            | "DELETE /api/credentials/{id}"
            | "GET /api/credentials/{id}/used-by" => (Some(self.credential().await), None),
            "POST /api/credentials/{id}/test" => {
                (Some(self.credential().await), Some(json!({ "url": "http://127.0.0.1:1/" })))
            }
            "PATCH /api/credentials/{id}" => {
                (Some(self.credential().await), Some(json!({ "provider_key": "weather" })))
            }
            "GET /api/mcp-servers" => (None, None),
            "POST /api/mcp-servers" => {
                // A name that nobody has: no server answers there.
                let url = "https://mcp.invalid/";
                (None, Some(json!({ "name": self.fresh("server"), "url": url })))
            }
            "POST /api/mcp-servers/{id}/authorize" => (Some(self.server_to_sign_in_to().await), None),
            "POST /api/mcp-servers/callback" => (None, Some(self.brought_back(owner).await)),
            "DELETE /api/mcp-servers/{id}" => {
                (Some(plant_unused(&self.world, "acme", &self.fresh("server")).await), None)
            }
            name if name.contains(" /api/mcp-servers/{id}") => {
                let (server, drift) = plant(&self.world, "acme", &self.fresh("server")).await;
                second = drift;
                let body = match operation.method {
                    _ if name.ends_with("/import") => Some(json!({ "tools": ["none"] })),
                    Method::PATCH => Some(json!({ "allowed_tools": ["add"] })),
                    _ => None,
                };
                (Some(server), body)
            }
            "POST /api/webhooks" => {
                let admin = self.world.client(&self.server, "acme", Role::Admin).await;
                self.makes_room_for_a_webhook(&admin).await;
                (None, Some(webhook_body()))
            }
            "GET /api/webhooks/{id}"
            | "DELETE /api/webhooks/{id}"
            | "GET /api/webhooks/{id}/deliveries"
            | "POST /api/webhooks/{id}/rotate-secret"
            | "POST /api/webhooks/{id}/test" => (Some(self.webhook().await), None),
            "PATCH /api/webhooks/{id}" => (Some(self.webhook().await), Some(json!({ "enabled": false }))),
            "POST /api/webhooks/deliveries/{id}/redeliver" => (Some(self.delivery().await.1), None),
            "POST /api/webhooks/{id}/deliveries/{delivery}/redeliver" => {
                let (hook, delivery) = self.delivery().await;
                case = Some(delivery);
                (Some(hook), None)
            }
            "POST /api/users" => {
                let email = format!("{}@example.com", self.fresh("invited"));
                (None, Some(json!({ "email": email, "display_name": "Invited", "role": "member" })))
            }
            "GET /api/users/{id}" | "DELETE /api/users/{id}" | "POST /api/users/{id}/link" => {
                (Some(self.person(&["acme"], Role::Member).await.1), None)
            }
            "PATCH /api/users/{id}" => {
                (Some(self.person(&["acme"], Role::Member).await.1), Some(json!({ "role": "viewer" })))
            }
            "PATCH /api/me" => (None, Some(json!({ "language": "de" }))),
            "PATCH /api/tenants/current" => {
                (None, Some(json!({ "settings": { "approve_all_writes": false } })))
            }
            "POST /api/auth/login" => {
                (None, Some(json!({ "email": "known@acme.example", "password": PASSWORD })))
            }
            "POST /api/auth/link" => {
                (None, Some(json!({ "token": self.link("acme", "known@acme.example").await })))
            }
            "POST /api/auth/logout" => (None, None),
            "POST /api/auth/switch" => (None, Some(json!({ "tenant": "acme" }))),
            "POST /api/auth/password" => (None, Some(json!({ "password": "another horse battery" }))),
            unknown => panic!("`{unknown}` is not asked by anybody: give it a request here"),
        };
        let (before, rest) = operation.path.split_once('{').unwrap_or((&operation.path, ""));
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        let mut template =
            if object.is_some() { format!("{before}{{}}{after}") } else { operation.path.clone() };
        let revision = if operation.path.ends_with("/withdraw") { "2.0.0" } else { "1" };
        template = template.replace("{revision}", revision).replace("{drift}", &second);
        template = template.replace("{version}", "1");
        if let Some(case) = case {
            template =
                template.replace(if template.contains("{delivery}") { "{delivery}" } else { "{id}" }, &case);
        }
        if operation.path.ends_with("/version") {
            template.push_str("?new_version=2.0.0");
        }
        Some(Ask { method: operation.method.clone(), template, object, body, shows })
    }

    /// What one caller gets from one operation, as the table says it.
    async fn cell(&self, operation: &Operation, who: Who, faults: &mut Vec<String>) -> &'static str {
        let name = operation.name();
        let owner = if operation.is_for_whoever_went() { self.client(who) } else { &self.neighbour };
        let ask = self.ask(operation, owner).await.expect("the neighbour can make one of each");
        let mut outcome = self.outcome(operation, who, &ask, faults).await;
        if outcome != Outcome::Yes && operation.is_about_runs() && who.is_in_acme() {
            let own = self.ask(operation, self.client(who)).await;
            if let Some(own) = own
                && self.outcome(operation, who, &own, faults).await == Outcome::Yes
            {
                outcome = Outcome::OwnOnly;
            }
        }
        if who == Who::Person(Role::Admin) && outcome != Outcome::Yes {
            faults
                .push(format!("{name}: the admin's own call does not succeed, so the others prove nothing"));
        }
        let shut = matches!(who, Who::Nobody | Who::RevokedKey | Who::ExpiredKey);
        if shut && !operation.open && outcome != Outcome::Refused(StatusCode::UNAUTHORIZED) {
            faults.push(format!("{name}: open to {}", who.title()));
        }
        match outcome {
            Outcome::Yes if who == Who::OtherTenant && !operation.is_for_all_tenants() => {
                if ask.object.is_some() {
                    faults.push(format!("{name}: a stranger got at {:?}", ask.object));
                }
                "own tenant"
            }
            Outcome::Hidden if who == Who::OtherTenant => "own tenant",
            Outcome::Yes => "yes",
            Outcome::OwnOnly => "own only",
            Outcome::Refused(StatusCode::UNAUTHORIZED) => "sign in (401)",
            Outcome::Refused(StatusCode::FORBIDDEN) => "no (403)",
            Outcome::Refused(StatusCode::NOT_FOUND) => "not found (404)",
            Outcome::Hidden | Outcome::Refused(_) => {
                faults.push(format!("{name}: {} got {outcome:?}", who.title()));
                "?"
            }
        }
    }

    async fn outcome(&self, operation: &Operation, who: Who, ask: &Ask, faults: &mut Vec<String>) -> Outcome {
        let answer = send(self.request(operation, who, ask).await, ask.body.as_ref()).await;
        let mut fault = |what: &str| {
            faults.push(format!(
                "{}: {} {what}: {} {}",
                operation.name(),
                who.title(),
                answer.status,
                answer.text
            ));
        };
        // `test.private` is named by whoever asks for it.
        let text = answer.text.replace("test.private", "");
        if !who.is_in_acme() && !operation.open && text.contains("acme") {
            fault("was told something about acme");
        }
        if answer.status.is_success() {
            let shown = ask.shows.as_ref().is_none_or(|shown| answer.text.contains(shown));
            return if shown { Outcome::Yes } else { Outcome::Hidden };
        }
        let expected = match answer.status {
            StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
            StatusCode::FORBIDDEN => "NOT_PERMITTED",
            _ => return Outcome::Refused(answer.status),
        };
        if answer.verdict() != format!("{} {expected}", answer.status.as_u16()) {
            fault("was refused in other words than usual");
        }
        if ask.body.is_some() {
            let request = self.request(operation, who, ask).await;
            let garbled = send_text(request, "{\"broken").await;
            if garbled.status != answer.status {
                fault("is refused only after the body was read");
            }
        }
        Outcome::Refused(answer.status)
    }

    /// The request with the caller's credentials: a login of their own where a key is not enough.
    async fn request(&self, operation: &Operation, who: Who, ask: &Ask) -> RequestBuilder {
        let (role, tenants): (_, &[&str]) = match who {
            Who::Person(role) => (role, &["globex", "acme"]),
            Who::OtherTenant => (Role::Admin, &["globex"]),
            _ => return self.client(who).request(ask.method.clone(), &ask.path()),
        };
        if !operation.needs_login() {
            return self.client(who).request(ask.method.clone(), &ask.path());
        }
        let (email, _) = self.person(tenants, role).await;
        let mut browser = Browser::by_link(&self.server, &self.link("globex", &email).await).await;
        if operation.path == "/api/auth/switch" {
            // Only a password that opens both leads from one tenant to the other.
            for tenant in tenants {
                let browser = Browser::by_link(&self.server, &self.link(tenant, &email).await).await;
                let set = browser.post("/api/auth/password", &json!({ "password": PASSWORD })).await;
                assert_eq!(set.status, StatusCode::OK, "{}", set.text);
            }
            browser = Browser::by_password(&self.server, &email, PASSWORD).await;
        }
        browser.request(ask.method.clone(), &ask.path())
    }
}

/// Of something that no test does: nothing is sent there but tests, and those are refused at the door.
fn webhook_body() -> Value {
    json!({ "url": "https://hooks.invalid/", "events": ["mcp.drift"] })
}

fn artifact_body() -> Value {
    json!({ "name": "A script", "language": "javascript", "source": "export default () => 1" })
}

fn credential_body(label: &str) -> Value {
    json!({ "label": label, "type": "api_key", "payload": { "api_key": "the secret of acme" } })
}

/// A key of `acme`.
async fn key(
    world: &World,
    role: Role,
    owner: &str,
    agent: Option<&str>,
    expires: Option<Timestamp>,
) -> CreatedKey {
    let acts_as = if agent.is_some() { ActsAs::Agent } else { ActsAs::User };
    let request =
        KeyRequest { name: format!("{role} key"), role, acts_as, agent: agent.map(str::to_owned), expires };
    world.operator().create_key(&slug("acme"), request, Some(owner)).await.unwrap()
}

/// Sends a request; of an answer without an end only the head is read.
pub async fn send(request: RequestBuilder, body: Option<&Value>) -> Answer {
    let request = match body {
        Some(body) => request.json(body),
        None => request,
    };
    received(request).await
}

pub async fn send_text(request: RequestBuilder, body: &'static str) -> Answer {
    received(request.header("content-type", "application/json").body(body)).await
}

async fn received(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let endless = headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let text = if endless { String::new() } else { response.text().await.unwrap() };
    Answer { status, headers, text }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Yes,
    OwnOnly,
    /// Answered, but without what was looked for.
    Hidden,
    Refused(StatusCode),
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Nobody,
    OtherTenant,
    RevokedKey,
    ExpiredKey,
    Person(Role),
    Agent,
    AgentAsAdmin,
}

impl Who {
    const ALL: [Self; 11] = [
        Self::Nobody,
        Self::OtherTenant,
        Self::RevokedKey,
        Self::ExpiredKey,
        Self::Person(Role::Admin),
        Self::Person(Role::Builder),
        Self::Person(Role::Approver),
        Self::Person(Role::Member),
        Self::Person(Role::Viewer),
        Self::Agent,
        Self::AgentAsAdmin,
    ];

    fn title(self) -> String {
        match self {
            Self::Nobody => "nobody".to_owned(),
            Self::OtherTenant => "other tenant's admin".to_owned(),
            Self::RevokedKey => "revoked key".to_owned(),
            Self::ExpiredKey => "expired key".to_owned(),
            Self::Person(role) => role.to_string(),
            Self::Agent => "agent".to_owned(),
            Self::AgentAsAdmin => "agent, role admin".to_owned(),
        }
    }

    fn is_in_acme(self) -> bool {
        matches!(self, Self::Person(_) | Self::Agent | Self::AgentAsAdmin)
    }

    async fn client(self, world: &World, server: &Server) -> Client {
        let owner = "admin@acme.example";
        let key = match self {
            Self::Nobody => return Client::new(&server.url, None),
            Self::OtherTenant => return world.client(server, "globex", Role::Admin).await,
            Self::Person(role) => return world.client(server, "acme", role).await,
            Self::Agent => key(world, Role::Agent, owner, Some("bot"), None).await,
            Self::AgentAsAdmin => key(world, Role::Admin, owner, Some("chief"), None).await,
            Self::RevokedKey => {
                let key = key(world, Role::Admin, owner, None, None).await;
                world.operator().revoke_key(&key.key.prefix).await.unwrap();
                key
            }
            Self::ExpiredKey => {
                let soon = Timestamp::now().plus(Duration::from_secs(2));
                key(world, Role::Admin, owner, None, Some(soon)).await
            }
        };
        let client = Client::new(&server.url, Some(key.text));
        if self == Self::ExpiredKey {
            eventually("the end of a key", Duration::from_secs(20), || async {
                client.get("/api/me").await.status == StatusCode::UNAUTHORIZED
            })
            .await;
        }
        client
    }
}

const INTRODUCTION: &str = "\
# Who may do what

Every request that the server answers, and what each kind of caller gets for it. This page is written by a test that
makes all of these requests, on SQLite and on PostgreSQL, so it shows actual behaviour. After an intended change,
generate it again with
`UPDATE_EXPECT=1 cargo xtask with-pg -- cargo nextest run -p tw-it rights`, and read the difference.

The columns from `admin` to `viewer` are people of one tenant by their role. `agent` is a key that acts as an agent, the
last column such a key with the role `admin`: an agent's key can never administer, edit tools or decide. `other tenant's
admin` requests objects of a tenant that is not theirs.

| a cell says | and means |
| --- | --- |
| yes | the request is answered |
| own only | only for the caller's own objects; others are not found |
| own tenant | the request works, and neither shows nor touches anything outside the caller's own tenant |
| no (403) | the caller lacks the permission |
| not found (404) | the object does not exist, or the caller may not see it; both get the same response |
| sign in (401) | the caller is not signed in, or the key is not valid |
";

const CHAPTERS: [(&str, &str); 9] = [
    ("people", "Sign-in and account"),
    ("tools", "Tools"),
    ("runs", "Runs"),
    ("artifacts", "Scripts and their versions"),
    ("sessions", "Sessions and their events"),
    ("approvals", "Approvals"),
    ("calls", "Calls that workers and people answer"),
    ("administration", "Administration"),
    ("operations", "Operations"),
];

/// The table as a page.
fn page(rows: &[(Operation, Vec<&'static str>)]) -> String {
    let mut page = INTRODUCTION.to_owned();
    for (operation, _) in rows {
        let known = CHAPTERS.iter().any(|(tag, _)| *tag == operation.tag);
        assert!(known, "`{}` has the tag `{}`, which has no chapter", operation.name(), operation.tag);
    }
    let titles =
        ["request".to_owned(), "what it does".to_owned()].into_iter().chain(Who::ALL.map(Who::title));
    let titles: Vec<String> = titles.collect();
    for (tag, chapter) in CHAPTERS {
        let lines: Vec<Vec<String>> = rows
            .iter()
            .filter(|(operation, _)| operation.tag == tag)
            .map(|(operation, cells)| {
                let first = [format!("`{}`", operation.name()), operation.summary.clone()];
                first.into_iter().chain(cells.iter().map(|cell| (*cell).to_owned())).collect()
            })
            .collect();
        write!(page, "\n## {chapter}\n\n{}", table(&titles, &lines)).unwrap();
    }
    page
}

fn table(titles: &[String], lines: &[Vec<String>]) -> String {
    let width = |index: usize| {
        lines.iter().map(|line| line[index].chars().count()).chain([titles[index].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let row = |cells: &[String]| -> String {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("| {cell:width$} "));
        format!("{}|\n", padded.collect::<String>())
    };
    let rule: String = widths.iter().map(|width| format!("| {} ", "-".repeat(*width))).collect();
    let body: String = lines.iter().map(|line| row(line)).collect();
    format!("{}{rule}|\n{body}", row(titles))
}
