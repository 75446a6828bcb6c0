//! Credentials: what goes in does not come out, whoever looks and wherever.

use std::time::Duration;

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection, sqlite::SqliteConnectOptions};
use tw_base::{Error, MasterKey};
use tw_model::{ActsAs, Code, Role, TenantId};
use tw_store::Target;
use tw_test::{TestDb, Upstream, on_both};
use tw_vault::Vault;
use uuid::Uuid;

use crate::{
    canary::{everything_stored, holds},
    world::{Answer, Client, World, eventually, slug},
};

const PATH: &str = "/api/credentials";
const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn at(id: &str) -> String {
    format!("{PATH}/{id}")
}

fn api_key(label: &str, key: &str) -> Value {
    json!({ "label": label, "type": "api_key", "payload": { "api_key": key } })
}

/// A credential with an API key in it; returns its id.
async fn make(admin: &Client, label: &str, key: &str) -> String {
    admin.post(PATH, &api_key(label, key)).await.is("201").text_at("/id")
}

/// A tool of the tenant's own with this implementation; one with a URL calls it.
async fn tool(admin: &Client, slug: &str, implementation: Value) {
    let kind = if implementation.get("url").is_some() { "http" } else { "internal" };
    let body = json!({
        "slug": slug, "name": format!("{slug}, a tool"), "description": "Refers to a credential.",
        "implementation_type": kind, "permission_level": "read", "input_schema": { "type": "object" },
        "implementation": implementation, "publish": true,
    });
    admin.post("/api/tools", &body).await.is("201 published");
}

fn etag(answer: &Answer) -> String {
    answer.headers[header::ETAG].to_str().unwrap().to_owned()
}

fn faults(answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let faults = body["errors"].as_array().cloned().unwrap_or_default();
    faults.iter().map(|fault| fault["path"].as_str().unwrap().to_owned()).collect()
}

async fn tenant(world: &World, name: &str) -> TenantId {
    world.store().find_tenant(&slug(name)).await.unwrap().unwrap()
}

fn vault(world: &World) -> Vault {
    Vault::new(world.store().clone(), &MasterKey::parse(MASTER_KEY).unwrap())
}

/// An id as it is written in SQL.
pub fn literal(db: &TestDb, id: Uuid) -> String {
    match db.target() {
        Target::Sqlite { .. } => format!("X'{}'", id.simple()),
        Target::Postgres { .. } => format!("'{id}'"),
    }
}

/// Past the server, as the owner of the database.
pub async fn execute(db: &TestDb, sql: String) -> u64 {
    let sql = AssertSqlSafe(sql);
    match db.target() {
        Target::Sqlite { file } => {
            let options = SqliteConnectOptions::new().filename(file);
            let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap().rows_affected()
        }
        Target::Postgres { url } => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap().rows_affected()
        }
    }
}

on_both! {
    async fn credential_is_made_read_changed_and_removed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;

        let body = json!({ "label": "Weather", "type": "api_key", "provider_key": "web_search",
                           "provider_variant": "serper", "payload": { "api_key": "k-1" } });
        let made = admin.post(PATH, &body).await;
        let id = made.is("201").text_at("/id");
        let shown = made.json();
        assert_eq!(made.headers[header::LOCATION], at(&id));
        assert_eq!(
            [&shown["label"], &shown["type"], &shown["provider_key"], &shown["provider_variant"]],
            ["Weather", "api_key", "web_search", "serper"]
        );
        assert_eq!((&shown["fields"], &shown["revision"]), (&json!(["api_key"]), &json!(1)));
        assert_eq!(shown["last_used_at"], Value::Null);
        assert_eq!(shown["created_by"]["kind"], "user");
        assert!(shown.get("payload").is_none());

        let read = admin.get(&at(&id)).await;
        assert_eq!((read.json(), etag(&read)), (shown.clone(), etag(&made)));
        assert_eq!(admin.get(PATH).await.json()["items"], json!([shown]));

        // What was read can be sent back, and changes nothing.
        let same = admin.patch(&at(&id), &shown).await;
        assert_eq!((same.is("200").json(), etag(&same)), (shown.clone(), etag(&made)));

        let moved = admin.patch(&at(&id), &json!({ "provider_variant": null })).await;
        assert_eq!(moved.is("200").json()["provider_variant"], Value::Null);
        assert_eq!(moved.json()["revision"], 1);
        assert_ne!(etag(&moved), etag(&made));

        let replaced = admin.patch(&at(&id), &json!({ "payload": { "api_key": "k-2", "endpoint": "https://e" } })).await;
        assert_eq!(replaced.is("200").json()["revision"], 2);
        assert_eq!(replaced.json()["fields"], json!(["api_key", "endpoint"]));
        let other = json!({ "type": "basic", "payload": { "username": "u", "password": "p" } });
        assert_eq!(admin.patch(&at(&id), &other).await.is("200").json()["type"], "basic");

        let late = admin.request(Method::PATCH, &at(&id)).header(header::IF_MATCH, etag(&made));
        admin.send(late.json(&json!({ "label": "late" }))).await.is("412 PRECONDITION_FAILED");
        let late = admin.request(Method::DELETE, &at(&id)).header(header::IF_MATCH, etag(&made));
        admin.send(late).await.is("412 PRECONDITION_FAILED");
        let now = etag(&admin.get(&at(&id)).await);
        let removed = admin.send(admin.request(Method::DELETE, &at(&id)).header(header::IF_MATCH, now)).await;
        assert_eq!(removed.status, StatusCode::NO_CONTENT);
        admin.get(&at(&id)).await.is("404 NOT_FOUND");
        admin.delete(&at(&id)).await.is("404 NOT_FOUND");

        let audit = admin.get(&format!("/api/audit?object=credential:{id}&limit=200")).await.json();
        let lines = audit["items"].as_array().unwrap();
        let actions: Vec<_> = lines.iter().map(|line| line["action"].as_str().unwrap()).collect();
        assert_eq!(
            actions,
            ["credential.removed", "credential.changed", "credential.changed", "credential.changed", "credential.created"]
        );
        assert_eq!(lines[4]["after"]["label"], "Weather");
        assert_eq!(lines[2]["after"]["revision"], 2);
    }

    async fn label_is_one_name_whatever_its_case_and_only_in_its_tenant(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let id = make(&admin, "Weather", "one").await;
        let other = make(&admin, "other", "two").await;

        let again = admin.post(PATH, &api_key("wEATHER", "three")).await;
        assert_eq!(again.is("409 CONFLICT").text_at("/detail"), "the label is taken");
        admin.patch(&at(&other), &json!({ "label": "WEATHER" })).await.is("409 CONFLICT");
        make(&stranger, "weather", "four").await;
        admin.patch(&at(&id), &json!({ "label": "WEATHER" })).await.is("200");
        admin.delete(&at(&id)).await.is("204");
        make(&admin, "weather", "five").await;
    }

    async fn builder_reads_admin_writes_and_nobody_else_comes_near(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let id = make(&admin, "weather", "canary").await;
        let mut callers = Vec::new();
        for role in Role::ALL.into_iter().filter(|role| !matches!(role, Role::Agent | Role::Admin)) {
            let reads = role == Role::Builder;
            callers.push((role.to_string(), reads, world.client(&server, "acme", role).await));
        }
        for role in [Role::Agent, Role::Builder, Role::Admin] {
            let key = world.key("acme", role, ActsAs::Agent).await;
            callers.push((format!("agent as {role}"), false, Client::new(&server.url, Some(key))));
        }
        for (who, reads, caller) in callers {
            for path in [PATH.to_owned(), at(&id), format!("{}/used-by", at(&id))] {
                let answer = caller.get(&path).await;
                let expected = if reads { "200" } else { "403 NOT_PERMITTED" };
                assert_eq!(answer.verdict(), expected, "{who}: GET {path}");
                assert!(!answer.text.contains("canary"), "{who}: GET {path}");
            }
            for answer in [
                caller.post(PATH, &api_key("mine", "x")).await,
                caller.patch(&at(&id), &json!({ "label": "mine" })).await,
                caller.delete(&at(&id)).await,
            ] {
                assert_eq!(answer.verdict(), "403 NOT_PERMITTED", "{who}");
            }
        }
        assert_eq!(admin.get(&at(&id)).await.json()["label"], "weather");
    }

    async fn credential_of_another_tenant_is_one_that_never_was(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let id = make(&admin, "weather", "canary").await;
        let nothing = Uuid::now_v7().to_string();
        let change = json!({ "label": "mine", "payload": { "api_key": "mine" } });

        for (method, tail, body) in [
            (Method::GET, "", None),
            (Method::GET, "/used-by", None),
            (Method::PATCH, "", Some(&change)),
            (Method::DELETE, "", None),
        ] {
            let ask = async |id: &str| {
                let request = stranger.request(method.clone(), &format!("{}{tail}", at(id)));
                let request = body.map_or_else(|| stranger.request(method.clone(), &format!("{}{tail}", at(id))), |body| request.json(body));
                let answer = stranger.send(request).await;
                let mut told = answer.json();
                told["request_id"] = Value::Null;
                told["instance"] = Value::Null;
                (answer.status, told)
            };
            let (theirs, missing) = (ask(&id).await, ask(&nothing).await);
            assert_eq!(theirs, missing, "{method} {tail}");
            assert_eq!(theirs.0, StatusCode::NOT_FOUND);
        }
        assert_eq!(stranger.get(PATH).await.json()["items"], json!([]));
        assert_eq!(admin.get(&at(&id)).await.json()["revision"], 1);
    }

    async fn credential_in_use_is_neither_removed_nor_renamed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let id = make(&admin, "weather", "canary").await;
        let free = make(&admin, "weather-2", "canary").await;
        tool(&admin, "by-header", json!({ "headers": { "X-Api-Key": "secret:Weather" } })).await;
        tool(&admin, "by-name", json!({ "builtin_key": "web_search", "credentials_ref": "weather" })).await;
        tool(&admin, "by-id", json!({ "builtin_key": "web_search", "credentials_ref": id })).await;
        tool(&admin, "by-id-text", json!({ "headers": { "Authorization": format!("Basic secret:{id}") } })).await;
        let url = "https://api.example.com/";
        tool(&admin, "by-id-field", json!({ "url": url, "query": { "k": format!("secret:{id}.api_key") } })).await;
        tool(&admin, "by-text", json!({ "headers": { "Authorization": "Bearer secret:weather" } })).await;
        tool(&admin, "not-at-all", json!({ "headers": { "X-Api-Key": "secret:weather.com" } })).await;

        let users = admin.get(&format!("{}/used-by", at(&id))).await.json();
        assert_eq!(
            users["items"],
            json!(["by-header", "by-id", "by-id-field", "by-id-text", "by-name", "by-text"]
                .map(|slug| json!({ "kind": "tool", "slug": slug, "name": format!("{slug}, a tool") })))
        );
        let refused = admin.delete(&at(&id)).await;
        assert_eq!(
            refused.is("409 CONFLICT").text_at("/detail"),
            "the credential cannot be removed: it is used by by-header, by-id, by-id-field, by-id-text, by-name, by-text"
        );
        admin.patch(&at(&id), &json!({ "label": "climate" })).await.is("409 CONFLICT");
        // What is in it can be replaced: that is what a reference is for.
        admin.patch(&at(&id), &json!({ "payload": { "api_key": "new" }, "label": "WEATHER" })).await.is("200");
        admin.delete(&at(&free)).await.is("204");

        // A draft without the reference is not enough as long as it runs.
        admin.patch("/api/tools/by-header", &json!({ "implementation": {} })).await.is("200 published");
        assert!(admin.delete(&at(&id)).await.is("409 CONFLICT").text.contains("by-header"));
        admin.post("/api/tools/by-header/publish", &json!({})).await.is("200 published");
        assert!(!admin.delete(&at(&id)).await.is("409 CONFLICT").text.contains("by-header"));
        for slug in ["by-name", "by-id", "by-id-field", "by-id-text", "by-text"] {
            admin.delete(&format!("/api/tools/{slug}")).await.is("204");
        }
        assert_eq!(admin.get(&format!("{}/used-by", at(&id))).await.json()["items"], json!([]));
        admin.delete(&at(&id)).await.is("204");
    }

    async fn payload_that_does_not_fit_is_refused_with_every_fault_and_no_value(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let id = make(&admin, "weather", "fine").await;
        let cases = [
            (json!({}), vec!["/label", "/type", "/payload"]),
            (
                json!({ "label": "canary canary", "type": "canary", "payload": "canary" }),
                vec!["/label", "/type", "/payload"],
            ),
            (json!({ "label": "a", "type": "api_key", "payload": "canary" }), vec!["/payload"]),
            (json!({ "label": "a", "type": "api_key", "payload": null }), vec!["/payload"]),
            (json!({ "label": "a", "type": "api_key", "payload": ["canary"] }), vec!["/payload"]),
            (json!({ "label": "a", "type": "api_key", "payload": { "api_key": 7_777_777 } }), vec!["/payload/api_key"]),
            (
                json!({ "label": "a", "type": "api_key", "payload": { "token": "canary" } }),
                vec!["/payload/api_key", "/payload/token"],
            ),
            (json!({ "label": "a", "type": "bearer", "payload": { "token": "" } }), vec!["/payload/token"]),
            (json!({ "label": "a", "type": "bearer", "payload": { "token": "canary\n" } }), vec!["/payload/token"]),
            (json!({ "label": "a", "type": "basic", "payload": { "username": "canary" } }), vec!["/payload/password"]),
            (
                json!({ "label": "a", "type": "custom", "payload": { "a": { "b": "canary" }, "c d": "canary" } }),
                vec!["/payload/a", "/payload/c d"],
            ),
            (
                json!({ "label": "a", "type": "custom", "payload": { "a": "canary".repeat(3000) } }),
                vec!["/payload/a"],
            ),
            (
                json!({ "label": "a", "type": "api_key", "payload": { "api_key": "canary" }, "api_key": "canary" }),
                vec!["/api_key"],
            ),
        ];
        for (body, places) in cases {
            let refused = admin.post(PATH, &body).await;
            let lacks = ["label", "type", "payload"].iter().any(|key| body.get(key).is_none());
            let expected = if lacks { "422 MISSING_PARAM" } else { "422 INVALID_PARAMS" };
            assert_eq!(faults(refused.is(expected)), places, "{body}");
            assert!(!refused.text.contains("canary") && !refused.text.contains("7777777"), "{}", refused.text);
        }
        for (body, places) in [
            (json!({ "payload": { "token": "canary" } }), vec!["/payload/api_key", "/payload/token"]),
            (json!({ "label": null, "payload": null }), vec!["/label", "/payload"]),
        ] {
            let refused = admin.patch(&at(&id), &body).await;
            assert_eq!(faults(refused.is("422 INVALID_PARAMS")), places, "{body}");
            assert!(!refused.text.contains("canary"), "{}", refused.text);
        }
        let refused = admin.patch(&at(&id), &json!({ "type": "bearer" })).await;
        assert_eq!(faults(refused.is("422 MISSING_PARAM")), ["/payload"]);
        assert_eq!(admin.get(PATH).await.json()["items"].as_array().unwrap().len(), 1);
        assert!(!server.log().contains("canary"));
    }

    async fn write_under_an_idempotency_key_is_made_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let post = async |body: &Value| {
            let request = admin.request(Method::POST, PATH).header("idempotency-key", "once").json(body);
            admin.send(request).await
        };
        let first = post(&api_key("weather", "canary-1")).await;
        let again = post(&api_key("weather", "canary-1")).await;
        assert_eq!((again.status, &again.text), (first.status, &first.text));
        assert_eq!(etag(&again), etag(&first));
        post(&api_key("weather", "canary-2")).await.is("409 IDEMPOTENCY_MISMATCH");
        let change = async |key: &str| {
            let path = at(&first.text_at("/id"));
            let request = admin.request(Method::PATCH, &path).header("idempotency-key", "change");
            admin.send(request.json(&json!({ "payload": { "api_key": key } }))).await
        };
        assert_eq!(change("canary-3").await.json()["revision"], 2);
        assert_eq!(change("canary-3").await.json()["revision"], 2);
        change("canary-4").await.is("409 IDEMPOTENCY_MISMATCH");
        assert_eq!(admin.get(PATH).await.json()["items"].as_array().unwrap().len(), 1);
    }

    async fn secret_is_nowhere_to_be_found_in_clear(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let payloads = [
            ("api_key", json!({ "api_key": "canary-api-key", "endpoint": "canary-endpoint" })),
            ("bearer", json!({ "token": "canary-token" })),
            ("basic", json!({ "username": "canary-user", "password": "canary-password" })),
            ("custom", json!({ "pem": "canary-pem\nsecond line" })),
        ];
        let mut seen = String::new();
        for (index, (kind, payload)) in payloads.iter().enumerate() {
            let body = json!({ "label": format!("label-of-{kind}"), "type": kind, "payload": payload });
            let request = admin.request(Method::POST, PATH).header("idempotency-key", format!("make-{index}"));
            let made = admin.send(request.json(&body)).await;
            let id = made.is("201").text_at("/id");
            seen += &made.text;
            seen += &admin.post(PATH, &body).await.is("409 CONFLICT").text;
            let mut odd = body.clone();
            odd["payload"]["canary-name"] = json!(["canary-nested"]);
            odd["label"] = json!("odd");
            seen += &admin.post(PATH, &odd).await.is("422 INVALID_PARAMS").text.replace("canary-name", "");
            seen += &admin.patch(&at(&id), &json!({ "payload": payload })).await.is("200").text;
            seen += &admin.get(&at(&id)).await.text;
            vault(&world).open(tenant(&world, "acme").await, &id).await.unwrap();
        }
        for path in [PATH, "/api/audit?limit=200", "/metrics", "/api/tools?limit=200"] {
            seen += &admin.get(path).await.text;
        }
        seen += &server.log();
        let stored = everything_stored(&world.db).await;

        assert!(holds(&stored, "label-of-bearer"), "the search finds what is there");
        assert!(holds(&stored, "credential.created"));
        assert!(seen.contains("label-of-bearer"));
        assert!(!holds(&stored, "canary"), "something is stored in clear");
        assert!(!seen.contains("canary"), "something was shown: {seen}");
    }

    async fn vault_opens_what_was_sent_by_label_id_or_provider(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let (vault, acme) = (vault(&world), tenant(&world, "acme").await);
        let body = json!({ "label": "Crm", "type": "basic", "provider_key": "crm", "provider_variant": "eu",
                           "payload": { "username": "bob", "password": "s3cret" } });
        let id = admin.post(PATH, &body).await.is("201").text_at("/id");

        for named in ["crm", "CRM", &id] {
            let secret = vault.open(acme, named).await.unwrap();
            assert_eq!((secret.field("username"), secret.field("password")), (Some("bob"), Some("s3cret")));
            assert_eq!(secret.value().unwrap().as_str(), "Ym9iOnMzY3JldA==");
            assert_eq!(secret.revision, 1);
            assert!(!format!("{secret:?}").contains("s3cret"));
        }
        assert!(vault.open_for(acme, "crm", Some("eu")).await.unwrap().is_some());
        assert!(vault.open_for(acme, "crm", None).await.unwrap().is_some());
        assert!(vault.open_for(acme, "crm", Some("us")).await.unwrap().is_none());
        let missing = vault.open(acme, "crm-2").await.unwrap_err();
        assert_eq!((missing.code(), missing.to_string()), (Code::CredentialMissing, "there is no credential `crm-2`".into()));
        let theirs = vault.open(tenant(&world, "globex").await, "crm").await.unwrap_err();
        assert_eq!(theirs.code(), Code::CredentialMissing);

        admin.patch(&at(&id), &json!({ "payload": { "username": "eve", "password": "" } })).await.is("200");
        let secret = vault.open(acme, "crm").await.unwrap();
        assert_eq!((secret.field("username"), secret.revision), (Some("eve"), 2));
    }

    async fn use_is_noted_to_the_minute_and_changes_nothing_else(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let (vault, acme) = (vault(&world), tenant(&world, "acme").await);
        let id = make(&admin, "weather", "k").await;
        let before = admin.get(&at(&id)).await;

        vault.open(acme, "weather").await.unwrap();
        eventually("the note of a use", Duration::from_secs(10), || async {
            !admin.get(&at(&id)).await.json()["last_used_at"].is_null()
        })
        .await;
        let noted = admin.get(&at(&id)).await;
        assert_eq!((etag(&noted), &noted.json()["updated_at"]), (etag(&before), &before.json()["updated_at"]));
        let moment = tw_model::Timestamp::now();
        let id_of = id.parse().unwrap();
        world.store().tenant(acme).touch_credential(id_of, moment).await.unwrap();
        assert_eq!(admin.get(&at(&id)).await.json(), noted.json(), "twice within a minute");
        let later = moment.plus(Duration::from_secs(61));
        world.store().tenant(acme).touch_credential(id_of, later).await.unwrap();
        assert_ne!(admin.get(&at(&id)).await.json(), noted.json());
    }

    async fn secrets_that_tools_hold_themselves_are_stored_sealed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let (vault, acme) = (vault(&world), tenant(&world, "acme").await);
        let first = json!({ "url": "https://api.example.com", "headers": { "A": "canary-1", "B": "Bearer secret:weather" },
                            "body": { "password": 424_242_777, "secrets": ["canary-2"], "max_tokens": 7 } });
        tool(&admin, "holding", first.clone()).await;
        let path = "/api/tools/holding";
        let shown = admin.get(path).await.json()["implementation"].clone();
        assert_eq!(
            shown,
            json!({ "url": "https://api.example.com", "headers": { "A": "***", "B": "Bearer secret:weather" },
                    "body": { "password": "***", "secrets": ["***"], "max_tokens": 7 } })
        );
        let url = "https://api.example.com";
        let second = json!({ "implementation": { "url": url, "headers": { "A": "***", "C": "canary-3" } } });
        admin.patch(path, &second).await.is("200 published");
        let clone = admin.post(&format!("{path}/clone"), &json!({ "slug": "cloned" })).await;
        let ids = (admin.get(path).await.text_at("/id"), clone.is("201 draft").text_at("/id"));
        let ids = (ids.0.parse().unwrap(), ids.1.parse().unwrap());

        let stored = async |id| {
            let tool = world.store().tenant(acme).custom_tool(id).await.unwrap().unwrap();
            let part = |text: &str| serde_json::from_str::<Value>(text).unwrap()["implementation"].clone();
            (part(&tool.definition), tool.live.as_deref().map(part))
        };
        let changed = json!({ "url": url, "headers": { "A": "canary-1", "C": "canary-3" } });
        let (draft, live) = stored(ids.0).await;
        assert!(draft["headers"]["A"].as_str().unwrap().starts_with("sealed:1:"));
        assert_eq!(vault.open_part(acme, ids.0, &draft).await.unwrap(), changed);
        assert_eq!(vault.open_part(acme, ids.0, &live.unwrap()).await.unwrap(), first);
        let (cloned, _) = stored(ids.1).await;
        assert_ne!(cloned, draft, "a secret is sealed for one tool");
        assert_eq!(vault.open_part(acme, ids.1, &cloned).await.unwrap(), changed);
        for (tenant, id) in [(acme, ids.1), (tenant(&world, "globex").await, ids.0)] {
            assert_eq!(vault.open_part(tenant, id, &draft).await.unwrap_err().code(), Code::Internal);
        }

        // What is taken up again from the history opens as well.
        admin.post(&format!("{path}/versions/1/restore"), &json!({})).await.is("200 published");
        let (restored, live) = stored(ids.0).await;
        assert_eq!(Some(restored), live);
        let bytes = everything_stored(&world.db).await;
        assert!(holds(&bytes, "api.example.com") && holds(&bytes, "sealed:1:"));
        assert!(!holds(&bytes, "canary") && !holds(&bytes, "424242777"), "something is stored in clear");

        // Another master key changes nothing about what is saved, and opens it.
        let next = MasterKey::generate();
        assert_eq!(vault.rewrap(&next).await.unwrap(), 1);
        let new = Vault::new(world.store().clone(), &next);
        assert_eq!(new.open_part(acme, ids.0, &draft).await.unwrap(), changed);
    }

    async fn what_was_sealed_under_a_name_that_is_no_secret_any_more_still_opens(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let acme = tenant(&world, "acme").await;
        let implementation = json!({ "url": "https://api.example.com/", "body": { "password": "canary-1" } });
        tool(&admin, "old", implementation).await;
        // As a server would have stored it that took every name with `token` in it for a secret.
        let sql = r#"UPDATE tools SET definition = replace(definition, '"password":', '"token_type":') WHERE slug = 'old'"#;
        assert_eq!(execute(&world.db, sql.to_owned()).await, 1);

        let path = "/api/tools/old";
        let id = admin.get(path).await.text_at("/id").parse().unwrap();
        admin.patch(path, &json!({ "description": "Another one." })).await.is("200 published");
        assert_eq!(admin.get(path).await.json()["implementation"]["body"], json!({ "token_type": "***" }));
        let stored = world.store().tenant(acme).custom_tool(id).await.unwrap().unwrap();
        let kept: Value = serde_json::from_str(&stored.definition).unwrap();
        let opened = vault(&world).open_part(acme, id, &kept["implementation"]).await.unwrap();
        assert_eq!(opened["body"], json!({ "token_type": "canary-1" }));
    }

    async fn secret_that_was_stored_in_clear_is_sealed_at_the_next_save(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let acme = tenant(&world, "acme").await;
        tool(&admin, "old", json!({ "headers": { "A": "secret:x" } })).await;
        let sql = "UPDATE tools SET definition = replace(definition, 'secret:x', 'canary-1') WHERE slug = 'old'";
        assert_eq!(execute(&world.db, sql.to_owned()).await, 1);

        let path = "/api/tools/old";
        let id = admin.get(path).await.text_at("/id").parse().unwrap();
        admin.patch(path, &json!({ "description": "Another one." })).await.is("200 published");
        let stored = world.store().tenant(acme).custom_tool(id).await.unwrap().unwrap();
        assert!(!stored.definition.contains("canary"));
        let kept: Value = serde_json::from_str(&stored.definition).unwrap();
        let opened = vault(&world).open_part(acme, id, &kept["implementation"]).await.unwrap();
        assert_eq!(opened, json!({ "headers": { "A": "canary-1" } }));
    }

    async fn credential_that_is_bound_to_hosts_does_not_leave_for_others(db: TestDb) {
        let (home, away) = (Upstream::start().await, Upstream::start_on("127.0.0.2:0").await);
        let world = World::on(db).await;
        let allowed = format!("{},{}", home.host_and_port(), away.host_and_port());
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed)]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let builder = world.client(&server, "acme", Role::Builder).await;
        let mut bound = api_key("bound", "canary-bound");
        bound["allowed_hosts"] = json!(["127.0.0.1"]);
        admin.post(PATH, &bound).await.is("201");
        let sending = |upstream: &Upstream, place: &str| match place {
            "headers" => json!({ "url": upstream.url("/x"), "headers": { "X-Api-Key": "secret:bound" } }),
            "query" => json!({ "url": upstream.url("/x"), "query": { "k": "secret:bound" } }),
            _ => json!({ "url": upstream.url("/x"), "method": "POST", "body": { "k": "for secret:bound" } }),
        };
        tool(&admin, "at-home", sending(&home, "headers")).await;
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        home.script([answer]);
        builder.run("at-home", json!({})).await.is("200 success");
        assert_eq!(home.requests()[0].header("x-api-key"), Some("canary-bound"));

        for place in ["headers", "query", "body"] {
            let elsewhere = json!({ "input": {}, "definition": { "implementation": sending(&away, place) } });
            let tested = builder.post("/api/tools/at-home/test", &elsewhere).await;
            assert_eq!(tested.is("200 error").text_at("/error_code"), "EGRESS_DENIED", "{}", tested.text);
            assert!(tested.text_at("/error").contains("bound") && !tested.text.contains("canary"), "{}", tested.text);
        }
        tool(&admin, "away", sending(&away, "headers")).await;
        assert_eq!(builder.run("away", json!({})).await.is("200 error").text_at("/error_code"), "EGRESS_DENIED");
        assert_eq!((away.connections(), home.requests().len()), (0, 1), "nothing has left");
    }

    async fn row_that_was_moved_or_put_together_does_not_open(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let (vault, acme, globex) = (vault(&world), tenant(&world, "acme").await, tenant(&world, "globex").await);
        let (one, two) = (make(&admin, "one", "canary-1").await, make(&admin, "two", "canary-2").await);
        let id = |text: &str| literal(&world.db, text.parse().unwrap());
        let (one, two) = (id(&one), id(&two));
        let refused = async |tenant: TenantId, label: &str| {
            let error = vault.open(tenant, label).await.unwrap_err();
            assert!(matches!(error, Error::Internal { .. }) && error.code() == Code::Internal, "{error:?}");
        };

        // As somebody who can write to the database, and has no master key.
        let to = |tenant: TenantId| literal(&world.db, tenant.uuid());
        let moved = format!("UPDATE credentials SET tenant_id = {} WHERE id = {one}", to(globex));
        assert_eq!(execute(&world.db, moved).await, 1);
        refused(globex, "one").await;
        let back = format!("UPDATE credentials SET tenant_id = {} WHERE id = {one}", to(acme));
        execute(&world.db, back).await;
        assert_eq!(vault.open(acme, "one").await.unwrap().field("api_key"), Some("canary-1"));

        let swapped = format!(
            "UPDATE credentials SET ciphertext = (SELECT ciphertext FROM credentials WHERE id = {two}),
             wrapped_key = (SELECT wrapped_key FROM credentials WHERE id = {two}) WHERE id = {one}"
        );
        execute(&world.db, swapped).await;
        refused(acme, "one").await;
        execute(&world.db, format!("UPDATE credentials SET revision = 2 WHERE id = {two}")).await;
        refused(acme, "two").await;
    }

    async fn another_master_key_opens_nothing_until_the_keys_are_wrapped_anew(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let (acme, globex) = (tenant(&world, "acme").await, tenant(&world, "globex").await);
        make(&admin, "one", "canary-1").await;
        make(&admin, "two", "canary-2").await;
        make(&stranger, "one", "canary-3").await;
        let (old, next) = (vault(&world), MasterKey::generate());
        let new = Vault::new(world.store().clone(), &next);

        assert_eq!(new.open(acme, "one").await.unwrap_err().code(), Code::Internal);
        // Who does not hold the key in use cannot hand it on.
        assert!(new.rewrap(&MasterKey::generate()).await.is_err());
        assert_eq!(old.open(acme, "one").await.unwrap().field("api_key"), Some("canary-1"));

        assert_eq!(old.rewrap(&next).await.unwrap(), 3);
        assert_eq!(old.rewrap(&next).await.unwrap(), 0, "there is nothing left to do");
        for (tenant, label, secret) in
            [(acme, "one", "canary-1"), (acme, "two", "canary-2"), (globex, "one", "canary-3")]
        {
            assert_eq!(new.open(tenant, label).await.unwrap().field("api_key"), Some(secret));
            assert_eq!(old.open(tenant, label).await.unwrap_err().code(), Code::Internal);
        }
        assert!(!holds(&everything_stored(&world.db).await, "canary"));
    }
}
