//! What a browser is made to do by others.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;
use tw_base::secrets;
use tw_model::{Role, Timestamp};
use tw_store::{By, NewLogin, Opens};
use tw_test::{TestDb, on_both};

use super::{Browser, PASSWORD, add, browser_of, cookie_of, link};
use crate::{
    rights::{Scene, operations, send},
    world::{World, slug},
};

on_both! {
    async fn cookie_that_was_planted_is_not_adopted(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        world.add_user("acme", "eve@example.com", Role::Viewer).await;
        let eve = browser_of(&world, &server, "eve@example.com").await;
        let token = link(&world, "acme", "ada@example.com").await;
        // Eve has put a cookie into Ada's browser: one she made up, or that of her own login.
        for planted in [format!("toolwright_login={}", "A".repeat(43)), eve.cookie.clone()] {
            let browser = Browser::with(&server, &planted);
            let credentials = json!({ "email": "ada@example.com", "password": PASSWORD });
            let first = browser.post("/api/auth/login", &credentials).await;
            let second = browser.post("/api/auth/login", &credentials).await;
            assert_ne!(cookie_of(&first), cookie_of(&second), "every sign-in has a token of its own");
            for answer in [&first, &second] {
                assert_ne!(cookie_of(answer), planted);
                let ada = Browser::with(&server, &cookie_of(answer));
                assert_eq!(ada.get("/api/me").await.json()["roles"], json!(["member"]));
            }
        }
        let by_link = eve.post("/api/auth/link", &json!({ "token": token })).await;
        assert_ne!(cookie_of(&by_link), eve.cookie);
        let made_up = Browser::with(&server, &format!("toolwright_login={}", "A".repeat(43)));
        made_up.get("/api/me").await.is("401 UNAUTHENTICATED");
        assert_eq!(eve.get("/api/me").await.json()["roles"], json!(["viewer"]), "Eve is still only Eve");
    }

    async fn page_of_another_site_cannot_use_the_cookie(db: TestDb) {
        let scene = Scene::on(db).await;
        let browser = browser_of(&scene.world, &scene.server, "admin@acme.example").await;
        let admin = scene.world.client(&scene.server, "acme", Role::Admin).await;
        let mut asked = 0;
        for operation in operations() {
            if operation.method == Method::GET {
                continue;
            }
            let name = operation.name();
            let ask = scene.ask(&operation, &scene.neighbour).await.unwrap();
            let entries = admin.get("/api/audit?limit=1").await.json()["items"].clone();
            let request = || {
                let request = browser.request(ask.method.clone(), &ask.path());
                request.json(ask.body.as_ref().unwrap_or(&json!({})))
            };
            for (header, value, code) in [
                ("sec-fetch-site", "cross-site", "403 CSRF_REJECTED"),
                ("sec-fetch-site", "same-site", "403 CSRF_REJECTED"),
                ("origin", "http://evil.example", "403 FOREIGN_HOST"),
                ("origin", "https://127.0.0.1.evil.example", "403 FOREIGN_HOST"),
                ("origin", "null", "403 FOREIGN_HOST"),
            ] {
                let answer = send(request().header(header, value), None).await;
                assert_eq!(answer.verdict(), code, "{name} with {header}: {value}");
                assert!(answer.headers.get("set-cookie").is_none(), "{name}");
                assert!(answer.headers.get("access-control-allow-origin").is_none(), "{name}");
                asked += 1;
            }
            // What a form can send without asking first.
            if let Some(body) = &ask.body {
                for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
                    let request = browser.request(ask.method.clone(), &ask.path()).header("content-type", kind);
                    let answer = send(request.body(body.to_string()), None).await;
                    assert_eq!(answer.verdict(), "415 UNSUPPORTED_MEDIA_TYPE", "{name} as {kind}");
                }
            }
            assert_eq!(admin.get("/api/audit?limit=1").await.json()["items"], entries, "{name} has left a trace");
        }
        assert!(80 <= asked);
        // Nor may a page of ours that still shows the tenant before.
        for (shown, status) in [("elsewhere", 409), ("", 409), ("acme", 201)] {
            let request = browser.request(Method::POST, "/api/sessions").header("x-toolwright-tenant", shown);
            let answer = send(request.json(&json!({})), None).await;
            assert_eq!(answer.status, status, "{shown}: {}", answer.text);
        }
        // The server's own pages may, and so may programs, whose key no browser sends by itself.
        for (header, value) in [("sec-fetch-site", "same-origin"), ("origin", scene.server.url.as_str())] {
            let request = browser.request(Method::POST, "/api/sessions").header(header, value).json(&json!({}));
            assert_eq!(send(request, None).await.status, StatusCode::CREATED, "{header}: {value}");
        }
        let request = admin.request(Method::POST, "/api/sessions").header("sec-fetch-site", "cross-site");
        assert_eq!(send(request, Some(&json!({}))).await.status, StatusCode::CREATED);
        assert_eq!(browser.get("/api/me").await.status, StatusCode::OK, "nobody was signed out");
    }

    async fn every_stream_of_a_login_ends_at_the_moment_it_expires(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let tenant = world.store().find_tenant(&slug("acme")).await.unwrap().unwrap();
        let scope = world.store().tenant(tenant);
        let builder = scope.user_by_email("builder@acme.example").await.unwrap().unwrap();
        // A login lasts for a fortnight, so this one is made by hand.
        let (token, hash) = secrets::token();
        let expires = Timestamp::now().plus(Duration::from_secs(2));
        let opens = Opens::new();
        let new = NewLogin { user: builder.id, token_hash: &hash, expires, opens: &opens, how: "test" };
        scope.create_login(new, None, &By::operator()).await.unwrap().unwrap();
        let browser = Browser::with(&server, &format!("toolwright_login={token}"));
        let session = browser.post("/api/sessions", &json!({})).await.text_at("/id");

        let open = async |path: &str| {
            let answer = browser.request(Method::GET, path).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK, "{path}");
            let text = tokio::time::timeout(Duration::from_secs(10), answer.text()).await;
            (text.expect("the stream ends").unwrap_or_default(), Timestamp::now())
        };
        let events = format!("/api/sessions/{session}/events/stream");
        let (events, calls) = tokio::join!(open(&events), open("/api/workers/stream"));

        for (text, ended) in [events, calls] {
            assert!(expires <= ended, "it ended early: {text}");
            assert!(ended < expires.plus(Duration::from_secs(2)), "it ended late: {text}");
        }
        browser.get("/api/me").await.is("401 UNAUTHENTICATED");
    }

    async fn get_changes_nothing(db: TestDb) {
        let scene = Scene::on(db).await;
        let browser = browser_of(&scene.world, &scene.server, "admin@acme.example").await;
        let state = async || {
            let mut state = Vec::new();
            for list in ["users", "runs", "approvals?status=all", "audit", "tools", "tenants/current"] {
                state.push(browser.get(&format!("/api/{list}")).await.text);
            }
            state
        };
        let mut asks = Vec::new();
        for operation in operations() {
            asks.push((operation.name(), scene.ask(&operation, &scene.neighbour).await.unwrap()));
        }
        let before = state().await;
        for (name, ask) in &asks {
            for method in [Method::GET, Method::HEAD] {
                let mut request = browser.request(method, &ask.path());
                for header in ["x-http-method-override", "x-method-override", "x-http-method"] {
                    request = request.header(header, ask.method.as_str());
                }
                let answer = send(request, ask.body.as_ref()).await;
                let known = matches!(answer.status.as_u16(), 200 | 405);
                assert!(known, "{name}: {} {}", answer.status, answer.text);
            }
        }
        assert_eq!(state().await, before);
    }
}
