//! People: signing in and out, passwords, links, keys and memberships.

mod browsers;
mod keys;
mod languages;
mod members;
mod sign_in;
mod tenants;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role};
use tw_test::Kind;

use crate::world::{Answer, Client, Server, World, slug};

/// Long enough to be one.
const PASSWORD: &str = "correct horse battery";

/// Somebody at a browser, with the cookie of their login.
#[derive(Clone, Debug)]
pub struct Browser {
    client: Client,
    pub cookie: String,
}

impl Browser {
    pub fn with(server: &Server, cookie: &str) -> Self {
        Self { client: Client::new(&server.url, None), cookie: cookie.to_owned() }
    }

    /// Signs in by a one-time link's token.
    pub async fn by_link(server: &Server, token: &str) -> Self {
        let answer = post(server, "/api/auth/link", &json!({ "token": token })).await;
        Self::with(server, &cookie_of(&answer))
    }

    pub async fn by_password(server: &Server, email: &str, password: &str) -> Self {
        Self::with(server, &cookie_of(&sign_in(server, email, password).await))
    }

    /// The same login at another server.
    pub fn at(&self, server: &Server) -> Self {
        Self { client: self.client.at(server), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, path).header("cookie", &self.cookie)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.client.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.client.send(self.request(Method::POST, path).json(body)).await
    }

    pub async fn run(&self, tool: &str, input: Value) -> Answer {
        self.post(&format!("/api/tools/{tool}/run"), &json!({ "input": input })).await
    }
}

/// Two servers where the database can serve two, else one.
fn servers(world: &World) -> Vec<Server> {
    let count = if world.db.kind() == Kind::Postgres { 2 } else { 1 };
    (0..count).map(|_| world.server()).collect()
}

async fn post(server: &Server, path: &str, body: &Value) -> Answer {
    Client::new(&server.url, None).post(path, body).await
}

async fn sign_in(server: &Server, email: &str, password: &str) -> Answer {
    post(server, "/api/auth/login", &json!({ "email": email, "password": password })).await
}

async fn add(admin: &Client, email: &str, role: Role, password: Option<&str>) -> Answer {
    let body = json!({ "email": email, "display_name": "Somebody", "role": role, "password": password });
    admin.post("/api/users", &body).await
}

async fn link(world: &World, tenant: &str, email: &str) -> String {
    world.operator().sign_in_link(&slug(tenant), email).await.unwrap()
}

/// Somebody of `acme`, signed in.
async fn browser_of(world: &World, server: &Server, email: &str) -> Browser {
    Browser::by_link(server, &link(world, "acme", email).await).await
}

async fn key_of(world: &World, tenant: &str, email: &str, role: Role) -> String {
    let request =
        KeyRequest { name: "a key".to_owned(), role, acts_as: ActsAs::User, agent: None, expires: None };
    world.operator().create_key(&slug(tenant), request, Some(email)).await.unwrap().text
}

async fn agent_key_of(world: &World, tenant: &str, email: &str) -> String {
    let request = KeyRequest {
        name: "an agent's key".to_owned(),
        role: Role::Agent,
        acts_as: ActsAs::Agent,
        agent: Some("bot".to_owned()),
        expires: None,
    };
    world.operator().create_key(&slug(tenant), request, Some(email)).await.unwrap().text
}

/// The newest entry of a kind.
async fn audited(admin: &Client, action: &str) -> Value {
    let found = admin.get(&format!("/api/audit?limit=1&action={action}")).await.json();
    let entry = found["items"][0].clone();
    assert!(entry.is_object(), "nothing about `{action}` in the audit log");
    entry
}

/// A refusal without what differs every time.
fn without_id(answer: &Answer) -> (StatusCode, Value, Vec<String>) {
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("request_id");
    let mut names: Vec<_> = answer.headers.keys().map(ToString::to_string).collect();
    names.sort();
    (answer.status, body, names)
}

/// `name=value` of the cookie that an answer sets.
#[track_caller]
fn cookie_of(answer: &Answer) -> String {
    let line = answer
        .headers
        .get("set-cookie")
        .unwrap_or_else(|| panic!("no cookie: {} {}", answer.status, answer.text));
    line.to_str().unwrap().split(';').next().unwrap().to_owned()
}
