//! API keys: their text, their end, and what ends with them.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tw_model::{Role, Timestamp};
use tw_test::{TestDb, on_both};

use super::{Browser, PASSWORD, add, servers, without_id};
use crate::{
    rights::send,
    world::{Client, Server, World, eventually, lines_of},
};

on_both! {
    async fn what_is_missing_is_named(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for (path, body, place) in [
            ("/api/api-keys", json!({ "name": "k" }), "/role"),
            ("/api/users", json!({ "email": "a@b.example", "display_name": "A" }), "/role"),
            ("/api/auth/login", json!({ "email": "a@b.example" }), "/password"),
        ] {
            let refused = admin.post(path, &body).await;
            let told = refused.is("422 MISSING_PARAM").json();
            let fault = json!({ "path": place, "code": "required", "params": {}, "message": "is required" });
            assert_eq!(told["errors"], json!([fault]));
            assert_eq!(told["params"], json!({ "param": &place[1..] }));
        }
        let refused = admin.post("/api/users", &json!({ "rolle": "admin", "password": 5 })).await;
        assert_eq!(refused.is("422 MISSING_PARAM").text_at("/detail"), "Missing required param: email");
        let body = refused.json();
        let told: Vec<_> = body["errors"].as_array().unwrap().iter()
            .map(|fault| format!("{} {}", fault["path"].as_str().unwrap(), fault["code"].as_str().unwrap()))
            .collect();
        for fault in ["/password type", "/email required", "/display_name required", "/role required"] {
            assert!(told.iter().any(|told| told == fault), "{told:?}");
        }
        let refused = admin.patch("/api/tenants/current", &json!({ "slug": "zz" })).await;
        assert_eq!(refused.is("422 INVALID_PARAMS").json()["errors"][0]["path"], "/slug");
    }

    async fn any_of_several_etags_will_do_and_a_weak_one_will_not(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for path in ["/api/tenants/current", "/api/tools/test.echo"] {
            let etag = admin.get(path).await.headers["etag"].to_str().unwrap().to_owned();
            let change = async |etags: &str| {
                let request = admin.request(reqwest::Method::PATCH, path).header("if-match", etags);
                admin.send(request.json(&json!({ "name": "Anew" }))).await
            };
            change(&format!("W/{etag}")).await.is("412 PRECONDITION_FAILED");
            change("\"a\", \"b\"").await.is("412 PRECONDITION_FAILED");
            assert_eq!(change(&format!("\"a\", {etag}")).await.status, 200);
            assert_eq!(change("*").await.status, 200);
        }
    }

    async fn name_that_cannot_be_seen_or_misleads_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for name in ["", " \u{3000}", "\u{200b}\u{feff}", "\u{2800}", "Ada\u{202e}nimda", "\u{2067}Ada", "a\tb"] {
            let person = json!({ "email": "ada@example.com", "display_name": name, "role": "member" });
            for refused in [
                admin.post("/api/api-keys", &json!({ "name": name, "role": "member" })).await,
                admin.post("/api/users", &person).await,
                admin.patch("/api/tenants/current", &json!({ "name": name })).await,
            ] {
                assert!(refused.is("422 INVALID_PARAMS").text.contains("name\""), "{name:?}: {}", refused.text);
            }
        }
        admin.patch("/api/tenants/current", &json!({ "name": "Ünal & Söhne 👩\u{200d}🔬" })).await.is("200 active");
    }

    async fn key_stops_when_its_time_is_up(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let create = async |expires: Timestamp| {
            let body = json!({ "name": "short", "role": "member", "expires_at": expires });
            admin.post("/api/api-keys", &body).await
        };
        create(Timestamp::from_micros(Timestamp::now().micros() - 1_000_000)).await.is("422 INVALID_PARAMS");
        let expires = Timestamp::now().plus(Duration::from_secs(3));
        let made = create(expires).await;
        let short = Client::new(&server.url, Some(made.text_at("/key")));
        short.run("test.echo", json!({ "value": 1 })).await.is("200 success");

        eventually("the end of the key", Duration::from_secs(20), || async {
            short.get("/api/me").await.status == StatusCode::UNAUTHORIZED
        })
        .await;

        assert!(expires <= Timestamp::now(), "it ended early");
        short.run("test.echo", json!({ "value": 1 })).await.is("401 UNAUTHENTICATED");
        let never = Client::new(&server.url, Some("tw_000000000000_nonsense".to_owned()));
        assert_eq!(without_id(&short.get("/api/me").await), without_id(&never.get("/api/me").await));
    }

    async fn revoked_key_is_refused_at_once_on_every_server(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        for round in 0..10 {
            let made = admin.post("/api/api-keys", &json!({ "name": "k", "role": "member" })).await;
            let program = Client::new(&servers[0].url, Some(made.text_at("/key")));
            let ledger = world.ledger(&format!("revoked-{round}"));
            let write = json!({ "file": ledger, "line": "x" });
            let body = json!({ "input": { "value": round } });
            let replayed = |server: &Server| {
                let request = program.at(server).request(Method::POST, "/api/tools/test.echo/run");
                request.header("idempotency-key", format!("round-{round}")).json(&body)
            };
            for server in &servers {
                program.at(server).run("test.write", write.clone()).await.is("200 success");
                send(replayed(server), None).await.is("200 success");
            }
            let before = lines_of(&ledger).len();

            let id = made.text_at("/id");
            let revoked = admin.delete(&format!("/api/api-keys/{id}")).await;

            assert!(revoked.json()["revoked_at"].is_string(), "{}", revoked.text);
            for server in servers.iter().rev() {
                program.at(server).run("test.write", write.clone()).await.is("401 UNAUTHENTICATED");
                send(replayed(server), None).await.is("401 UNAUTHENTICATED");
                program.at(server).run("test.echo", json!({})).await.is("401 UNAUTHENTICATED");
                program.at(server).run("no.such", json!({})).await.is("401 UNAUTHENTICATED");
                program.at(server).get("/api/me").await.is("401 UNAUTHENTICATED");
            }
            assert_eq!(lines_of(&ledger).len(), before, "the tool ran for a revoked key");
            let again = admin.delete(&format!("/api/api-keys/{id}")).await;
            assert_eq!(again.json()["revoked_at"], revoked.json()["revoked_at"]);
        }
    }

    async fn first_answer_at_another_server_after_a_revocation_is_a_refusal(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        let last = servers.last().unwrap();
        // One request after each revocation, because the first one tells the server.
        for (what, tool, body) in [
            ("a replay", "test.echo", json!({ "input": { "value": 1 } })),
            ("an input that does not fit", "test.echo", json!({ "input": {} })),
            ("no such tool", "no.such", json!({ "input": {} })),
            ("a tool that needs more", "test.guarded", json!({ "input": { "message": "x" } })),
        ] {
            for round in 0..5 {
                let made = admin.post("/api/api-keys", &json!({ "name": "k", "role": "member" })).await;
                let program = Client::new(&last.url, Some(made.text_at("/key")));
                let request = || {
                    let request = program.request(Method::POST, &format!("/api/tools/{tool}/run"));
                    request.header("idempotency-key", format!("{what} {round}")).json(&body)
                };
                let before = send(request(), None).await;
                assert_ne!(before.status, StatusCode::UNAUTHORIZED, "{what}");
                admin.delete(&format!("/api/api-keys/{}", made.text_at("/id"))).await;
                let after = send(request(), None).await;
                assert_eq!(after.verdict(), "401 UNAUTHENTICATED", "{what}, round {round}: {}", after.text);
            }
        }
    }

    async fn stream_ends_soon_after_its_reader_has_lost_the_right(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        let made = admin.post("/api/api-keys", &json!({ "name": "k", "role": "member" })).await;
        let reader = Client::new(&servers[0].url, Some(made.text_at("/key"))).at(servers.last().unwrap());
        let session = reader.post("/api/sessions", &json!({})).await.text_at("/id");
        let stream = format!("/api/sessions/{session}/events/stream");
        let mut open = reader.request(Method::GET, &stream).send().await.unwrap();
        assert_eq!(open.status(), StatusCode::OK);

        admin.delete(&format!("/api/api-keys/{}", made.text_at("/id"))).await;

        // It is asked every 5 seconds; what waits longer than this waits for ever.
        let ended = tokio::time::timeout(Duration::from_secs(30), async {
            while let Ok(Some(_)) = open.chunk().await {}
        });
        assert!(ended.await.is_ok(), "the stream goes on");
        reader.get(&stream).await.is("401 UNAUTHENTICATED");
    }

    async fn last_use_of_a_key_is_written_down(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let made = admin.post("/api/api-keys", &json!({ "name": "fresh", "role": "member" })).await;
        let row = async || {
            let keys = admin.get("/api/api-keys?limit=200").await.json();
            let rows = keys["items"].as_array().unwrap().clone();
            rows.into_iter().find(|key| key["id"] == made.json()["id"]).unwrap()
        };
        assert_eq!(row().await["last_used_at"], Value::Null);
        let began = Timestamp::now();
        let program = Client::new(&server.url, Some(made.text_at("/key")));

        program.run("test.echo", json!({ "value": 1 })).await.is("200 success");

        let written = || async { row().await["last_used_at"].is_string() };
        eventually("the last use", Duration::from_secs(10), written).await;
        let used: Timestamp = row().await["last_used_at"].as_str().unwrap().parse().unwrap();
        assert!(began <= used && used <= Timestamp::now());
    }

    async fn text_of_a_key_is_shown_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let create = async |name: &str| {
            let request = admin.request(Method::POST, "/api/api-keys").header("idempotency-key", "once");
            admin.send(request.json(&json!({ "name": name, "role": "member" }))).await
        };
        let made = create("mine").await;
        assert_eq!(made.status, StatusCode::CREATED);
        let text = made.text_at("/key");
        assert_eq!(Client::new(&server.url, Some(text.clone())).get("/api/me").await.status, StatusCode::OK);

        let again = create("mine").await;

        assert_eq!(again.status, StatusCode::CREATED);
        let mut expected = made.json();
        expected["key"] = json!("***");
        assert_eq!(again.json(), expected);
        create("other").await.is("409 IDEMPOTENCY_MISMATCH");
        let secret = text.splitn(3, '_').nth(2).unwrap();
        for path in ["/api/api-keys?limit=200", "/api/audit?limit=200", "/api/me"] {
            assert!(!admin.get(path).await.text.contains(secret), "{path}");
        }
        assert!(!server.log().contains(secret));
    }

    async fn no_secret_lies_readable_in_the_database(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await.text_at("/id");
        let request = admin.request(Method::POST, "/api/api-keys").header("idempotency-key", "once");
        let key = admin.send(request.json(&json!({ "name": "k", "role": "member" }))).await.text_at("/key");
        let cookie = Browser::by_password(&server, "ada@example.com", PASSWORD).await.cookie;
        let link = admin.post(&format!("/api/users/{user}/link"), &json!({})).await.text_at("/url");
        let secrets = [
            PASSWORD,
            key.splitn(3, '_').nth(2).unwrap(),
            cookie.split_once('=').unwrap().1,
            link.split_once("token=").unwrap().1,
        ];
        for secret in secrets {
            assert!(!server.log().contains(secret), "in the log");
            assert!(!admin.get("/api/audit?limit=200").await.text.contains(secret), "in the audit");
        }
        if let tw_store::Target::Sqlite { file } = world.db.target() {
            let folder = file.parent().unwrap();
            let mut searched = 0;
            for entry in std::fs::read_dir(folder).unwrap() {
                let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
                searched += usize::from(holds(&bytes, b"ada@example.com"));
                for secret in secrets {
                    assert!(!holds(&bytes, secret.as_bytes()), "a secret is in the file");
                }
            }
            assert!(0 < searched, "the search finds what is there");
        }
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
