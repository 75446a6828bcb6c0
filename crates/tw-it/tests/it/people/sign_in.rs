//! Signing in and out: passwords, links, and guessing them.

use std::time::Duration;

use futures::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::json;
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{
    Browser, PASSWORD, add, audited, browser_of, cookie_of, link, post, servers, sign_in, without_id,
};
use crate::world::{Client, World, eventually};

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

    async fn strangers_who_guess_shut_themselves_out_and_not_the_owner(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await;
        // Every address of 127.0.0.0/8 is this machine.
        let from = |number: u8| {
            let address = std::net::Ipv4Addr::new(127, 0, 0, number);
            reqwest::Client::builder().local_address(Some(address.into())).build().unwrap()
        };
        let try_from = async |client: &reqwest::Client, email: &str, password: &str| {
            let request = client.post(format!("{}/api/auth/login", server.url));
            let answer = request.json(&json!({ "email": email, "password": password })).send().await.unwrap();
            (answer.status().as_u16(), answer.headers().contains_key("retry-after"))
        };
        let stranger = from(7);
        for guess in 0..12 {
            let (status, _) = try_from(&stranger, "ada@example.com", &format!("wrong horse {guess}")).await;
            assert_eq!(status, if guess < 10 { 401 } else { 429 });
        }
        // A flood of names: what is not let through is refused at once, and says until when.
        let names = (0..300).map(|name| {
            let (stranger, try_from) = (&stranger, &try_from);
            async move { try_from(stranger, &format!("name{name}@example.com"), "wrong horse").await }
        });
        let owner = from(8);
        let (answers, owned) = tokio::join!(join_all(names), try_from(&owner, "ada@example.com", PASSWORD));
        assert_eq!(owned.0, 200, "the owner is kept out by strangers");
        assert!(answers.iter().all(|answer| matches!(answer, (401, _) | (429, true))), "{answers:?}");
        let hashed = answers.iter().filter(|(status, _)| *status == 401).count();
        assert!(hashed <= 60, "{hashed} passwords of one stranger were hashed");
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

    async fn coming_and_going_is_in_the_audit(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await.text_at("/id");
        let check = async |answer: &crate::world::Answer, action: &str, how: &str| {
            assert!(answer.status.is_success(), "{}", answer.text);
            let entry = audited(&admin, action).await;
            assert_eq!(entry["object"], format!("user:{user}"), "{action}");
            assert_eq!((&entry["actor"]["kind"], &entry["actor"]["id"]), (&json!("user"), &json!(user)), "{entry}");
            assert_eq!(entry["after"]["by"], how, "{entry}");
            assert_eq!(entry["request_id"], answer.headers["x-request-id"].to_str().unwrap());
        };
        let by_password = sign_in(&server, "ada@example.com", PASSWORD).await;
        check(&by_password, "login.opened", "password").await;
        let browser = Browser::with(&server, &cookie_of(&by_password));
        check(&browser.post("/api/auth/logout", &json!({})).await, "login.ended", "sign_out").await;
        let token = link(&world, "acme", "ada@example.com").await;
        assert_eq!(audited(&admin, "user.link_made").await["actor"], json!({ "kind": "operator" }));
        let by_link = post(&server, "/api/auth/link", &json!({ "token": token })).await;
        check(&by_link, "login.opened", "link").await;
        let browser = Browser::with(&server, &cookie_of(&by_link));
        let change = json!({ "current_password": PASSWORD, "password": "another horse entirely" });
        check(&browser.post("/api/auth/password", &change).await, "login.opened", "password_change").await;
        let log = admin.get("/api/audit?limit=200").await.text;
        for secret in [PASSWORD, &token, "another horse entirely", browser.cookie.split_once('=').unwrap().1] {
            assert!(!log.contains(secret), "a secret is in the audit");
        }
    }

    async fn guesser_is_in_the_audit_and_cannot_flood_it(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let user = add(&admin, "ada@example.com", Role::Member, Some(PASSWORD)).await.text_at("/id");
        for _ in 0..15 {
            sign_in(&server, "ada@example.com", "wrong horse battery").await;
            sign_in(&server, "nobody@example.com", "wrong horse battery").await;
        }

        let failed = || async {
            let found = admin.get("/api/audit?action=login.failed&limit=200").await.json();
            found["items"].as_array().unwrap().clone()
        };
        eventually("the end of the guessing", Duration::from_secs(10), || async { failed().await.len() == 2 }).await;

        let entries = failed().await;
        let of = |shut: bool| entries.iter().find(|entry| entry["after"]["shut"] == shut).unwrap();
        assert_eq!((&of(false)["after"]["tries"], &of(true)["after"]["tries"]), (&json!(1), &json!(10)));
        for entry in &entries {
            assert_eq!((&entry["object"], &entry["actor"]), (&json!(format!("user:{user}")), &json!({ "kind": "stranger" })));
            assert!(entry["request_id"].is_string());
        }
        let globex = world.client(&server, "globex", Role::Admin).await;
        assert_eq!(globex.get("/api/audit?action=login.failed").await.json()["items"], json!([]));
    }
}
