//! Tools that a tenant writes itself: made, changed, published, numbered, restored, removed, and run.

mod approvals;
mod artifacts;
mod callers;
mod doubts;
mod gate;
mod history;
mod languages;
mod layers;
mod lifecycle;
mod openapi;
mod races;
mod refusals;
mod replicas;
mod saves;
mod schemas;
mod secrets;
mod switches;
mod test_cases;
mod trials;
mod unreadable;
mod withdrawn;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use tw_store::Target;
use tw_test::TestDb;

use crate::world::{Answer, Client};

/// A tool that gives back what it is given.
fn echo(slug: &str) -> Value {
    json!({
        "slug": slug, "name": "Echo", "description": "Gives back what it is given.",
        "implementation_type": "internal", "implementation": {}, "permission_level": "read",
        "input_schema": needing("a"),
    })
}

/// A schema that tells which definition ran: it needs one property.
fn needing(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "integer" } }, "required": [name] })
}

/// `body` with other properties laid over it.
fn with(body: &Value, change: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    body
}

async fn make(author: &Client, body: &Value) -> Value {
    let made = author.post("/api/tools", body).await;
    as_read(made.is("201 draft"))
}

/// A tool that was saved, as it is read afterwards.
fn as_read(saved: &Answer) -> Value {
    let mut tool = saved.json();
    assert!(tool.as_object_mut().unwrap().remove("warnings").unwrap().is_array());
    tool
}

/// A published echo.
async fn live(author: &Client, slug: &str) -> Value {
    let made = author.post("/api/tools", &with(&echo(slug), &json!({ "publish": true }))).await;
    as_read(made.is("201 published"))
}

fn at(slug: &str) -> String {
    format!("/api/tools/{slug}")
}

async fn read(who: &Client, slug: &str) -> Value {
    let answer = who.get(&at(slug)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn put(who: &Client, slug: &str, body: &Value) -> Answer {
    who.send(who.request(Method::PUT, &at(slug)).json(body)).await
}

/// Publishes a tool, whomever that breaks.
async fn publish(who: &Client, slug: &str) -> Answer {
    who.post(&format!("/api/tools/{slug}/publish"), &json!({ "accept_breaking": true })).await
}

async fn number(who: &Client, slug: &str, version: &str) -> Answer {
    let version = version.replace('+', "%2B");
    who.post(&format!("/api/tools/{slug}/version?new_version={version}"), &json!({})).await
}

/// Runs a tool with a body of one's own.
async fn call(who: &Client, slug: &str, body: &Value) -> Answer {
    who.post(&format!("/api/tools/{slug}/run"), body).await
}

/// The whole history, newest first.
async fn history(who: &Client, slug: &str) -> Vec<Value> {
    let answer = who.get(&format!("/api/tools/{slug}/versions?limit=200")).await;
    answer.json()["items"].as_array().unwrap_or_else(|| panic!("{}", answer.text)).clone()
}

async fn kinds(who: &Client, slug: &str) -> Vec<String> {
    history(who, slug).await.iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect()
}

/// How many entries the audit log has about a tool.
async fn audited(admin: &Client, slug: &str) -> Vec<String> {
    let found = admin.get(&format!("/api/audit?limit=200&object=tool:{slug}")).await.json();
    found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].as_str().unwrap().to_owned())
        .collect()
}

/// The paths of the faults that a refusal names.
fn faults(answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let faults = body["errors"].as_array().cloned().unwrap_or_default();
    faults.iter().map(|fault| fault["path"].as_str().unwrap().to_owned()).collect()
}

/// Past the server, as the owner of the database.
async fn execute(db: &TestDb, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    let changed = match db.target() {
        Target::Sqlite { file } => {
            let options = SqliteConnectOptions::new().filename(file);
            let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap().rows_affected()
        }
        Target::Postgres { url } => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap().rows_affected()
        }
    };
    assert!(0 < changed, "nothing was changed");
}

async fn count(db: &TestDb, sql: &str) -> i64 {
    let sql = AssertSqlSafe(sql.to_owned());
    match db.target() {
        Target::Sqlite { file } => {
            let options = SqliteConnectOptions::new().filename(file);
            let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
            sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
        }
        Target::Postgres { url } => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
        }
    }
}
