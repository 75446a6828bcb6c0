//! People: signing in and out, passwords, links, keys and memberships.

use std::time::Duration;

use futures::future::join_all;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tw_engine::KeyRequest;
use tw_model::{ActsAs, Role, Timestamp};
use tw_test::{Kind, TestDb, on_both};

use crate::{
    rights::{Scene, operations, send},
    world::{Answer, Client, Server, World, eventually, lines_of, slug},
};

/// Long enough to be one.
const PASSWORD: &str = "correct horse battery";

on_both! {
    async fn password_signs_in_and_the_cookie_is_kept_from_pages(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let made = add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        assert_eq!(made.json()["has_password"], true);

        let answer = sign_in(&server, "Ada@Example.COM", PASSWORD).await;

        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        assert_eq!(answer.json()["tenant"], "acme");
        let cookies: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
        assert_eq!(cookies.len(), 1);
        let cookie = cookies[0].to_str().unwrap();
        let (value, flags) = cookie.split_once(';').unwrap();
        let flags: Vec<_> = flags.split(';').map(str::trim).collect();
        for flag in ["HttpOnly", "SameSite=Lax", "Path=/"] {
            assert!(flags.contains(&flag), "{cookie}");
        }
        assert!(flags.iter().any(|flag| flag.starts_with("Max-Age=")), "{cookie}");
        assert!(!flags.iter().any(|flag| flag.to_lowercase().starts_with("domain")), "{cookie}");
        let token = value.split_once('=').unwrap().1;
        assert!(32 <= token.len(), "the token is short enough to guess");
        assert!(!answer.text.contains(token), "the token is in reach of the page");

        let browser = Browser::with(&server, value);
        let me = browser.get("/api/me").await.json();
        assert_eq!((&me["source"], &me["roles"]), (&json!("web"), &json!(["member"])));
        assert_eq!(me["principal"]["user_id"], made.json()["id"]);
        let run = browser.post("/api/tools/test.echo/run", &json!({ "input": { "value": 1 } })).await;
        let run = browser.get(&format!("/api/runs/{}", run.is("200 success").text_at("/run_id"))).await.json();
        assert_eq!(run["source"], "web");
        for (what, text) in [("user", made.text), ("list", admin.get("/api/users").await.text)] {
            assert!(!text.contains("argon2") && !text.contains(PASSWORD), "the {what} shows the password");
        }
    }

    async fn cookie_travels_over_https_only_where_the_server_is_reached_so(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server_with(&["--public-url", "https://tools.example.com"], &[]);
        let token = link(&world, "acme", "member@acme.example").await;

        let answer = post(&server, "/api/auth/link", &json!({ "token": token })).await;

        assert!(answer.headers["set-cookie"].to_str().unwrap().contains("; Secure"), "{:?}", answer.headers);
    }

    async fn password_that_is_hardly_one_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let browser = browser_of(&world, &server, "member@acme.example").await;
        for password in ["", "short", &"x".repeat(1025)] {
            add(&admin, "ada@example.com", Role::Member, Some(password)).await.is("422 INVALID_PARAMS");
            browser.post("/api/auth/password", &json!({ "password": password })).await.is("422 INVALID_PARAMS");
        }
        assert!(!admin.get("/api/users").await.text.contains("ada@example.com"));
        assert_eq!(browser.get("/api/me").await.status, StatusCode::OK, "a refused change ends no login");
    }

    async fn failed_sign_in_tells_nobody_why(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        let gone = add(&admin, "gone@example.com", Role::Member, Some(PASSWORD)).await.text_at("/id");
        admin.delete(&format!("/api/users/{gone}")).await;

        let wrong = sign_in(&server, "ada@example.com", "wrong horse battery").await;

        wrong.is("401 UNAUTHENTICATED");
        assert!(wrong.headers.get("set-cookie").is_none());
        let in_tenant = async |email: &str, tenant: &str| {
            let body = json!({ "email": email, "password": PASSWORD, "tenant": tenant });
            post(&server, "/api/auth/login", &body).await
        };
        for (what, answer) in [
            ("unknown email", sign_in(&server, "nobody@example.com", PASSWORD).await),
            ("no password", sign_in(&server, "member@acme.example", PASSWORD).await),
            ("empty password", sign_in(&server, "member@acme.example", "").await),
            ("no email", sign_in(&server, "ada", PASSWORD).await),
            ("removed", sign_in(&server, "gone@example.com", PASSWORD).await),
            ("another tenant", in_tenant("ada@example.com", "globex").await),
            ("no such tenant", in_tenant("ada@example.com", "initech").await),
        ] {
            assert_eq!(without_id(&answer), without_id(&wrong), "{what}");
        }
        assert_eq!(sign_in(&server, "ada@example.com", PASSWORD).await.status, StatusCode::OK);
    }

    async fn guessing_shuts_the_door_for_that_name_only(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for email in ["ada@example.com", "eve@example.com"] {
            add(&admin, email, Role::Member, Some(PASSWORD)).await;
        }
        // One that exists and one that does not, in any spelling: both doors shut alike.
        for email in ["ada@example.com", "nobody@example.com"] {
            let mut tries = 0;
            let shut = loop {
                let spelled = if tries % 2 == 0 { email.to_owned() } else { email.to_uppercase() };
                let answer = sign_in(&server, &spelled, "wrong horse battery").await;
                if answer.status == StatusCode::TOO_MANY_REQUESTS {
                    break answer;
                }
                answer.is("401 UNAUTHENTICATED");
                tries += 1;
                assert!(tries < 30, "{email} may be guessed for ever");
            };
            assert_eq!(tries, 10, "{email}");
            shut.is("429 RATE_LIMITED");
            let seconds: u64 = shut.headers["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((1..=15 * 60).contains(&seconds), "{seconds}");
        }
        sign_in(&server, "ada@example.com", PASSWORD).await.is("429 RATE_LIMITED");
        assert_eq!(sign_in(&server, "eve@example.com", PASSWORD).await.status, StatusCode::OK);
        // An operator can still let her in.
        let browser = browser_of(&world, &server, "ada@example.com").await;
        assert_eq!(browser.get("/api/me").await.status, StatusCode::OK);
    }

    async fn guessing_many_at_once_gets_no_more_tries(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let guesses = (0..40).map(|guess| {
            let server = &server;
            async move { sign_in(server, "nobody@example.com", &format!("wrong horse {guess}")).await.status }
        });

        let answers = join_all(guesses).await;

        let tried = answers.iter().filter(|status| **status == StatusCode::UNAUTHORIZED).count();
        assert!(tried <= 10, "{tried} guesses were answered");
        assert!(answers.iter().all(|status| matches!(status.as_u16(), 401 | 429)), "{answers:?}");
    }

    async fn guessing_the_password_from_within_is_slowed_down_too(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        let stolen = Browser::by_password(&server, "ada@example.com", PASSWORD).await;
        let guess = json!({ "current_password": "wrong horse battery", "password": "eve's own horse" });
        for _ in 0..10 {
            stolen.post("/api/auth/password", &guess).await.is("422 INVALID_PARAMS");
        }
        let shut = stolen.post("/api/auth/password", &guess).await;
        shut.is("429 RATE_LIMITED");
        assert!(shut.headers.contains_key("retry-after"));
    }

    async fn link_signs_in_once_and_only_when_it_is_used(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, None).await.text_at("/id");
        let made = admin.post(&format!("/api/users/{user}/link"), &json!({})).await;
        assert_eq!(made.status, StatusCode::CREATED);
        let by_admin = made.text_at("/url");
        let token = by_admin.split_once("token=").unwrap().1;
        assert_eq!(by_admin.split_once('?').unwrap().0, "/sign-in");
        let by_operator = link(&world, "acme", "ada@example.com").await;

        for token in [token, &by_operator] {
            // A mail scanner opens what it finds, more than once.
            let stranger = Client::new(&server.url, None);
            for method in [Method::GET, Method::HEAD, Method::GET] {
                let page = stranger.send(stranger.request(method, &format!("/sign-in?token={token}"))).await;
                assert_eq!(page.status, StatusCode::OK);
                assert!(page.headers.get("set-cookie").is_none());
                assert!(!page.text.contains(token));
            }
            for path in ["/api/auth/link", &format!("/api/auth/link?token={token}")] {
                assert_eq!(stranger.get(path).await.status, StatusCode::METHOD_NOT_ALLOWED);
            }
            let body = json!({ "token": token });
            let used = join_all((0..8).map(|_| post(&server, "/api/auth/link", &body))).await;
            let (let_in, refused): (Vec<_>, Vec<_>) = used.iter().partition(|answer| answer.status.is_success());
            assert_eq!(let_in.len(), 1, "{used:?}");
            let browser = Browser::with(&server, &cookie_of(let_in[0]));
            assert_eq!(browser.get("/api/me").await.json()["principal"]["user_id"], *user);
            let unknown = post(&server, "/api/auth/link", &json!({ "token": "x".repeat(43) })).await;
            for answer in refused {
                assert_eq!(without_id(answer.is("401 UNAUTHENTICATED")), without_id(&unknown));
            }
        }
    }

    async fn link_of_somebody_who_left_lets_nobody_in(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, None).await.text_at("/id");
        let token = link(&world, "acme", "ada@example.com").await;
        admin.delete(&format!("/api/users/{user}")).await;

        post(&server, "/api/auth/link", &json!({ "token": token })).await.is("401 UNAUTHENTICATED");
        admin.post(&format!("/api/users/{user}/link"), &json!({})).await.is("404 NOT_FOUND");
    }

    async fn sign_out_ends_the_login_at_once_and_everywhere(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let browser = browser_of(&world, &servers[0], "admin@acme.example").await;
        let other = browser_of(&world, &servers[0], "admin@acme.example").await;
        for server in &servers {
            assert_eq!(browser.at(server).get("/api/me").await.status, StatusCode::OK);
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }

        let answer = browser.post("/api/auth/logout", &json!({})).await;

        assert_eq!(answer.status, StatusCode::NO_CONTENT);
        let gone = answer.headers["set-cookie"].to_str().unwrap();
        assert!(gone.starts_with("toolwright_login=;") && gone.contains("Max-Age=0"), "{gone}");
        for server in servers.iter().rev() {
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("401 UNAUTHENTICATED");
            browser.at(server).get("/api/me").await.is("401 UNAUTHENTICATED");
            browser.at(server).post("/api/auth/logout", &json!({})).await.is("401 UNAUTHENTICATED");
        }
        assert_eq!(other.get("/api/me").await.status, StatusCode::OK, "another browser stays signed in");
    }

    async fn person_of_two_tenants_is_in_one_at_a_time(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        world.add_user("acme", "ada@example.com", Role::Admin).await;
        world.add_user("globex", "ada@example.com", Role::Viewer).await;
        world.operator().create_tenant(&slug("initech"), "Initech").await.unwrap();
        let in_acme = browser_of(&world, &server, "ada@example.com").await;
        let tenants = in_acme.get("/api/tenants").await.json();
        let slugs: Vec<_> = tenants["items"].as_array().unwrap().iter().map(|tenant| tenant["slug"].clone()).collect();
        assert_eq!(slugs, ["acme", "globex"]);
        let run = in_acme.run("test.echo", json!({ "value": 1 })).await.text_at("/run_id");
        for tenant in ["initech", "no-such"] {
            in_acme.post("/api/auth/switch", &json!({ "tenant": tenant })).await.is("404 NOT_FOUND");
        }
        assert_eq!(in_acme.get("/api/me").await.status, StatusCode::OK, "a refused switch ends no login");

        let switched = in_acme.post("/api/auth/switch", &json!({ "tenant": "globex" })).await;

        assert_eq!(switched.json()["tenant"], "globex", "{}", switched.text);
        in_acme.get("/api/me").await.is("401 UNAUTHENTICATED");
        let in_globex = Browser::with(&server, &cookie_of(&switched));
        assert_ne!(in_globex.cookie, in_acme.cookie);
        let me = in_globex.get("/api/me").await.json();
        assert_eq!((&me["tenant"]["slug"], &me["roles"]), (&json!("globex"), &json!(["viewer"])));
        in_globex.get(&format!("/api/runs/{run}")).await.is("404 NOT_FOUND");
        in_globex.get("/api/users").await.is("403 NOT_PERMITTED");
        // A key is for one tenant, whoever made it.
        let key = key_of(&world, "acme", "ada@example.com", Role::Admin).await;
        let program = Client::new(&server.url, Some(key));
        assert_eq!(program.get("/api/tenants").await.json()["total"], 1);
        program.post("/api/auth/switch", &json!({ "tenant": "globex" })).await.is("403 NOT_PERMITTED");
    }

    async fn person_who_exists_joins_and_keeps_their_password(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let acme = world.client(&server, "acme", Role::Admin).await;
        let globex = world.client(&server, "globex", Role::Admin).await;
        let user = add(&acme, "ada@example.com", Role::Member, Some(PASSWORD)).await.text_at("/id");

        let joined = add(&globex, "ADA@example.com", Role::Viewer, Some("password of globex")).await;

        assert_eq!(joined.text_at("/id"), user);
        sign_in(&server, "ada@example.com", "password of globex").await.is("401 UNAUTHENTICATED");
        for (tenant, role) in [("acme", "member"), ("globex", "viewer")] {
            let body = json!({ "email": "ada@example.com", "password": PASSWORD, "tenant": tenant });
            let browser = Browser::with(&server, &cookie_of(&post(&server, "/api/auth/login", &body).await));
            assert_eq!(browser.get("/api/me").await.json()["roles"], json!([role]));
        }
        globex.delete(&format!("/api/users/{user}")).await;
        acme.get(&format!("/api/users/{user}")).await.text_at("/id");
        let body = json!({ "email": "ada@example.com", "password": PASSWORD, "tenant": "globex" });
        post(&server, "/api/auth/login", &body).await.is("401 UNAUTHENTICATED");
    }

    async fn admin_of_one_tenant_cannot_become_somebody_in_another(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let attacker = world.client(&server, "globex", Role::Admin).await;
        // The attacker makes a colleague of the victim, who has no password yet, and then signs in for them.
        let victim = add(&attacker, "admin@acme.example", Role::Member, Some("attacker's horse")).await.text_at("/id");
        sign_in(&server, "admin@acme.example", "attacker's horse").await.is("401 UNAUTHENTICATED");

        let link = attacker.post(&format!("/api/users/{victim}/link"), &json!({})).await;

        link.is("409 CONFLICT");
        assert!(!link.text.contains("token="));
        let acme = world.client(&server, "acme", Role::Admin).await;
        acme.post(&format!("/api/users/{victim}/link"), &json!({})).await.is("409 CONFLICT");
        // Once they are alone in their tenant again, it can invite them as before.
        attacker.delete(&format!("/api/users/{victim}")).await;
        acme.post(&format!("/api/users/{victim}/link"), &json!({})).await.text_at("/url");
    }

    async fn new_password_ends_every_other_login(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let server = &servers[0];
        let admin = world.client(server, "acme", Role::Admin).await;
        add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        world.add_user("globex", "ada@example.com", Role::Member).await;
        let here = Browser::by_password(server, "ada@example.com", PASSWORD).await;
        let elsewhere = Browser::by_password(server, "ada@example.com", PASSWORD).await;
        let body = json!({ "email": "ada@example.com", "password": PASSWORD, "tenant": "globex" });
        let in_globex = Browser::with(server, &cookie_of(&post(server, "/api/auth/login", &body).await));
        let unused = link(&world, "acme", "ada@example.com").await;
        for browser in [&here, &elsewhere, &in_globex] {
            for server in &servers {
                browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            }
        }
        let change =
            |current: Option<&str>| json!({ "current_password": current, "password": "another horse entirely" });
        for wrong in [None, Some(""), Some("wrong horse battery")] {
            here.post("/api/auth/password", &change(wrong)).await.is("422 INVALID_PARAMS");
        }

        let changed = here.post("/api/auth/password", &change(Some(PASSWORD))).await;

        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text);
        for (which, browser) in [("this", &here), ("the other", &elsewhere), ("the other tenant's", &in_globex)] {
            for server in servers.iter().rev() {
                let run = browser.at(server).run("test.echo", json!({ "value": 1 })).await;
                assert_eq!(run.verdict(), "401 UNAUTHENTICATED", "{which} browser's old login");
                assert_eq!(browser.at(server).get("/api/me").await.verdict(), "401 UNAUTHENTICATED", "{which}");
            }
        }
        let new = Browser::with(server, &cookie_of(&changed));
        assert_eq!(new.get("/api/me").await.status, StatusCode::OK);
        post(server, "/api/auth/link", &json!({ "token": unused })).await.is("401 UNAUTHENTICATED");
        sign_in(server, "ada@example.com", PASSWORD).await.is("401 UNAUTHENTICATED");
        assert_eq!(sign_in(server, "ada@example.com", "another horse entirely").await.status, StatusCode::OK);
        let entry = audited(&admin, "user.password_set").await;
        let had = json!({ "has_password": true });
        assert_eq!((&entry["before"], &entry["after"]), (&had, &had));
    }

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
        // The server's own pages may, and so may programs, whose key no browser sends by itself.
        for (header, value) in [("sec-fetch-site", "same-origin"), ("origin", scene.server.url.as_str())] {
            let request = browser.request(Method::POST, "/api/sessions").header(header, value).json(&json!({}));
            assert_eq!(send(request, None).await.status, StatusCode::CREATED, "{header}: {value}");
        }
        let request = admin.request(Method::POST, "/api/sessions").header("sec-fetch-site", "cross-site");
        assert_eq!(send(request, Some(&json!({}))).await.status, StatusCode::CREATED);
        assert_eq!(browser.get("/api/me").await.status, StatusCode::OK, "nobody was signed out");
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
        let secret = text.rsplit_once('_').unwrap().1;
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
            key.rsplit_once('_').unwrap().1,
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

    async fn tenant_keeps_its_last_admin(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let me = admin.get("/api/me").await.json()["principal"]["user_id"].as_str().unwrap().to_owned();
        let path = format!("/api/users/{me}");
        for role in ["builder", "approver", "member", "viewer"] {
            admin.patch(&path, &json!({ "role": role })).await.is("409 CONFLICT");
        }
        admin.delete(&path).await.is("409 CONFLICT");
        assert_eq!(admin.get(&path).await.json()["role"], "admin");

        // Two admins who put each other out at the same moment: one of them stays.
        for round in 0..5 {
            let email = format!("second{round}@acme.example");
            world.add_user("acme", &email, Role::Admin).await;
            let second = Client::new(&server.url, Some(key_of(&world, "acme", &email, Role::Admin).await));
            let them = second.get("/api/me").await.json()["principal"]["user_id"].as_str().unwrap().to_owned();
            let (of_them, of_me) = (format!("/api/users/{them}"), path.clone());
            let to_member = json!({ "role": "member" });
            let (first, other) = tokio::join!(admin.delete(&of_them), second.patch(&of_me, &to_member));
            let done = [&first, &other].iter().filter(|answer| answer.status.is_success()).count();
            assert_eq!(done, 1, "{} {}, {} {}", first.status, first.text, other.status, other.text);
            let survivor = if first.status.is_success() { &admin } else { &second };
            let users = survivor.get("/api/users?limit=200").await.json();
            let admins = users["items"].as_array().unwrap().iter().filter(|user| user["role"] == "admin").count();
            assert_eq!(admins, 1);
            if other.status.is_success() {
                second.patch(&of_me, &json!({ "role": "admin" })).await;
                admin.delete(&of_them).await;
            }
        }
    }

    async fn person_cannot_be_given_the_role_of_an_agent(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, None).await.text_at("/id");

        add(&admin, "eve@example.com", Role::Agent, None).await.is("422 INVALID_PARAMS");
        admin.patch(&format!("/api/users/{user}"), &json!({ "role": "agent" })).await.is("422 INVALID_PARAMS");
        admin.patch(&format!("/api/users/{user}"), &json!({ "role": "king" })).await.is("422 INVALID_PARAMS");

        assert_eq!(admin.get(&format!("/api/users/{user}")).await.json()["role"], "member");
    }

    async fn what_a_member_had_ends_with_the_membership(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Builder, Some(PASSWORD)).await.text_at("/id");
        let program = Client::new(&servers[0].url, Some(key_of(&world, "acme", "ada@example.com", Role::Builder).await));
        let agent = Client::new(&servers[0].url, Some(agent_key_of(&world, "acme", "ada@example.com").await));
        let browser = Browser::by_password(&servers[0], "ada@example.com", PASSWORD).await;
        for server in &servers {
            program.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            agent.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }

        assert_eq!(admin.delete(&format!("/api/users/{user}")).await.status, StatusCode::NO_CONTENT);

        for server in servers.iter().rev() {
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("401 UNAUTHENTICATED");
            browser.at(server).get("/api/me").await.is("401 UNAUTHENTICATED");
            for program in [&program, &agent] {
                program.at(server).run("test.echo", json!({ "value": 1 })).await.is("401 UNAUTHENTICATED");
                program.at(server).get("/api/me").await.is("401 UNAUTHENTICATED");
            }
        }
        sign_in(&servers[0], "ada@example.com", PASSWORD).await.is("401 UNAUTHENTICATED");
        admin.get(&format!("/api/users/{user}")).await.is("404 NOT_FOUND");
        admin.delete(&format!("/api/users/{user}")).await.is("404 NOT_FOUND");
        // Coming back is a new beginning: the old keys and logins stay dead.
        add(&admin, "ada@example.com", Role::Builder, None).await;
        program.get("/api/me").await.is("401 UNAUTHENTICATED");
        browser.get("/api/me").await.is("401 UNAUTHENTICATED");
    }

    async fn role_that_is_lowered_lowers_keys_and_logins_at_once(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let admin = world.client(&servers[0], "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Admin, Some(PASSWORD)).await.text_at("/id");
        let program = Client::new(&servers[0].url, Some(key_of(&world, "acme", "ada@example.com", Role::Admin).await));
        let browser = Browser::by_password(&servers[0], "ada@example.com", PASSWORD).await;
        for server in &servers {
            assert_eq!(program.at(server).get("/api/users").await.status, StatusCode::OK);
            program.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("200 success");
        }

        let changed = admin.patch(&format!("/api/users/{user}"), &json!({ "role": "viewer" })).await;

        assert_eq!(changed.json()["role"], "viewer");
        for server in servers.iter().rev() {
            program.at(server).run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");
            browser.at(server).run("test.echo", json!({ "value": 1 })).await.is("403 NOT_PERMITTED");
            program.at(server).get("/api/users").await.is("403 NOT_PERMITTED");
            browser.at(server).get("/api/users").await.is("403 NOT_PERMITTED");
        }
        assert_eq!(browser.get("/api/me").await.json()["roles"], json!(["viewer"]));
    }

    async fn audit_says_who_changed_what_from_what_to_what(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let me = admin.get("/api/me").await.json()["principal"]["user_id"].clone();
        let check = async |answer: Answer, action: &str, object: &str, before: Value, after: Value| {
            assert!(answer.status.is_success(), "{}", answer.text);
            let entry = audited(&admin, action).await;
            assert_eq!(entry["object"], object, "{action}");
            assert!(covers(&entry["before"], &before), "{action} before: {entry}");
            assert!(covers(&entry["after"], &after), "{action} after: {entry}");
            assert_eq!(entry["actor"]["id"], me, "{action}: {entry}");
            assert_eq!(entry["request_id"], answer.headers["x-request-id"].to_str().unwrap(), "{action}");
            answer
        };
        let added = add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        let user = format!("user:{}", added.text_at("/id"));
        let path = format!("/api/users/{}", added.text_at("/id"));
        let member = json!({ "email": "ada@example.com", "role": "member" });
        check(added, "member.added", &user, Value::Null, member).await;
        let link = admin.post(&format!("{path}/link"), &json!({})).await;
        check(link, "user.link_made", &user, Value::Null, Value::Null).await;
        let raised = admin.patch(&path, &json!({ "role": "builder" })).await;
        let (was, is) = (json!({ "role": "member" }), json!({ "role": "builder" }));
        check(raised, "member.role_changed", &user, was, is).await;
        let key = admin.post("/api/api-keys", &json!({ "name": "k", "role": "member" })).await;
        let object = format!("key:{}", key.text_at("/id"));
        let as_made = json!({ "name": "k", "role": "member", "acts_as": "user", "revoked": null });
        let key = check(key, "key.created", &object, Value::Null, as_made.clone()).await;
        let revoked = admin.delete(&format!("/api/api-keys/{}", key.text_at("/id"))).await;
        let revoked = check(revoked, "key.revoked", &object, as_made, json!({ "name": "k" })).await;
        let entry = audited(&admin, "key.revoked").await;
        assert_eq!(entry["after"]["revoked"], revoked.json()["revoked_at"]);
        let removed = admin.delete(&path).await;
        check(removed, "member.removed", &user, json!({ "role": "builder" }), Value::Null).await;
        let settings = |on: Value| json!({ "settings": { "approve_all_writes": on } });
        let changed = admin.patch("/api/tenants/current", &settings(json!(true))).await;
        let tenant = format!("tenant:{}", changed.text_at("/id"));
        check(changed, "tenant.changed", &tenant, json!({ "settings": {} }), settings(json!(true))).await;
        let hidden = admin.patch("/api/tools/test.echo", &json!({ "enabled": false })).await;
        assert!(hidden.status.is_success());
        let entry = &admin.get("/api/audit?limit=1").await.json()["items"][0];
        assert_eq!((&entry["before"]["enabled"], &entry["after"]["enabled"]), (&Value::Null, &json!(false)), "{entry}");
        assert!(entry["object"].as_str().unwrap().contains("test.echo"), "{entry}");

        // What was refused or changed nothing is no change.
        let entries = admin.get("/api/audit?limit=200").await.json()["items"].clone();
        admin.patch("/api/tools/test.echo", &json!({ "enabled": false })).await;
        admin.patch("/api/tenants/current", &settings(json!(true))).await;
        admin.delete(&path).await.is("404 NOT_FOUND");
        admin.post("/api/api-keys", &json!({ "name": "", "role": "member" })).await.is("422 INVALID_PARAMS");
        assert_eq!(admin.get("/api/audit?limit=200").await.json()["items"], entries);
    }
}

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

    async fn by_password(server: &Server, email: &str, password: &str) -> Self {
        Self::with(server, &cookie_of(&sign_in(server, email, password).await))
    }

    /// The same login at another server.
    fn at(&self, server: &Server) -> Self {
        Self { client: self.client.at(server), ..self.clone() }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, path).header("cookie", &self.cookie)
    }

    async fn get(&self, path: &str) -> Answer {
        self.client.send(self.request(Method::GET, path)).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.client.send(self.request(Method::POST, path).json(body)).await
    }

    async fn run(&self, tool: &str, input: Value) -> Answer {
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

/// Whether everything in `expected` is in `found`.
fn covers(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| covers(found.get(name).unwrap_or(&Value::Null), value))
        }
        (found, expected) => found == expected,
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
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
