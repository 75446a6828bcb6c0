//! People of more than one tenant: what one tenant knows about a person opens no other.

use reqwest::StatusCode;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{Browser, PASSWORD, add, audited, browser_of, cookie_of, key_of, link, post, servers, sign_in};
use crate::world::{Answer, Client, Server, World, slug};

on_both! {
    async fn person_of_two_tenants_is_in_one_at_a_time(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        ada_of_both(&world, &server, PASSWORD).await;
        world.operator().create_tenant(&slug("initech"), "Initech").await.unwrap();
        let in_acme = Browser::by_password(&server, "ada@example.com", PASSWORD).await;
        assert_eq!(tenants_of(&in_acme).await, ["acme", "globex"]);
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
        // Each tenant sees its own side of it, and nothing of the other.
        for (tenant, action, other) in [("acme", "login.ended", "globex"), ("globex", "login.opened", "acme")] {
            let admin = world.client(&server, tenant, Role::Admin).await;
            let entry = audited(&admin, action).await;
            assert_eq!(entry["after"]["by"], "switch");
            assert!(!entry.to_string().contains(other), "{entry}");
        }
        let back = in_globex.post("/api/auth/switch", &json!({ "tenant": "acme" })).await;
        assert_eq!(back.json()["expires_at"], switched.json()["expires_at"], "a switch makes no sign-in last longer");
        // A key is for one tenant, whoever made it.
        let key = key_of(&world, "acme", "ada@example.com", Role::Admin).await;
        let program = Client::new(&server.url, Some(key));
        assert_eq!(program.get("/api/tenants").await.json()["total"], 1);
        program.post("/api/auth/switch", &json!({ "tenant": "globex" })).await.is("403 NOT_PERMITTED");
    }

    async fn person_of_another_tenant_starts_with_a_link(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let acme = world.client(&server, "acme", Role::Admin).await;
        let globex = world.client(&server, "globex", Role::Admin).await;
        let user = add(&acme, "ada@example.com", Role::Member, Some(PASSWORD)).await.text_at("/id");
        let body = json!({ "email": "ADA@example.com", "display_name": "Countess", "role": "viewer",
            "password": "password of globex" });

        let joined = globex.post("/api/users", &body).await;

        // What acme wrote about her is not for globex to read, and the other way round.
        let joined = joined.json();
        assert_eq!((&joined["id"], &joined["display_name"], &joined["has_password"]),
            (&json!(user), &json!("Countess"), &json!(false)));
        let there = acme.get(&format!("/api/users/{user}")).await.json();
        assert_eq!((&there["display_name"], &there["has_password"]), (&json!("Somebody"), &json!(true)));
        for password in [PASSWORD, "password of globex"] {
            sign_in_to(&server, "globex", password).await.is("401 UNAUTHENTICATED");
        }
        assert_eq!(sign_in(&server, "ada@example.com", PASSWORD).await.json()["tenant"], "acme");
        let browser = Browser::by_link(&server, &link(&world, "globex", "ada@example.com").await).await;
        let me = browser.get("/api/me").await.json();
        assert_eq!((&me["roles"], &me["principal"]["display_name"]), (&json!(["viewer"]), &json!("Countess")));
        let set = browser.post("/api/auth/password", &json!({ "password": "her horse at globex" })).await;
        assert_eq!(set.status, StatusCode::OK, "{}", set.text);
        // Each password opens its own tenant, with or without its name.
        for (password, tenant, other) in [(PASSWORD, "acme", "globex"), ("her horse at globex", "globex", "acme")] {
            assert_eq!(sign_in(&server, "ada@example.com", password).await.json()["tenant"], tenant);
            let here = sign_in_to(&server, tenant, password).await;
            assert_eq!(tenants_of(&Browser::with(&server, &cookie_of(&here))).await, [tenant]);
            sign_in_to(&server, other, password).await.is("401 UNAUTHENTICATED");
        }
        globex.delete(&format!("/api/users/{user}")).await;
        sign_in_to(&server, "globex", "her horse at globex").await.is("401 UNAUTHENTICATED");
        assert_eq!(sign_in_to(&server, "acme", PASSWORD).await.status, StatusCode::OK);
    }

    /// Globex makes a person of acme's to be, and keeps everything that signs them in.
    async fn tenant_that_knew_a_person_first_gets_nowhere_else_as_them(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let (server, last) = (&servers[0], servers.last().unwrap());
        let attacker = world.client(server, "globex", Role::Admin).await;
        let acme = world.client(server, "acme", Role::Admin).await;
        let bob = add(&attacker, "bob@acme.example", Role::Admin, Some("attacker's horse")).await.text_at("/id");
        let link_of = async |admin: &Client| {
            let made = admin.post(&format!("/api/users/{bob}/link"), &json!({})).await;
            made.text_at("/url").split_once("token=").unwrap().1.to_owned()
        };
        let sign_in_of = async |tenant: &str, password: &str| {
            let body = json!({ "email": "bob@acme.example", "password": password, "tenant": tenant });
            post(last, "/api/auth/login", &body).await
        };
        let old_link = link_of(&attacker).await;
        let old_login = Browser::by_link(server, &link_of(&attacker).await).await;
        let mut held = vec![("old login", Browser::with(server, &cookie_of(&sign_in_of("globex", "attacker's horse").await)))];
        // What the person sets themselves is known to whoever was at the browser.
        let change = json!({ "current_password": "attacker's horse", "password": "attacker's second horse" });
        let changed = old_login.post("/api/auth/password", &change).await;
        held.push(("login of a new password", Browser::with(server, &cookie_of(&changed))));

        let joined = add(&acme, "bob@acme.example", Role::Admin, Some("ignored, all of it")).await;
        assert_eq!((joined.status, &joined.json()["has_password"]), (StatusCode::CREATED, &json!(false)));

        held.push(("old link", Browser::by_link(server, &link_of(&attacker).await).await));
        post(server, "/api/auth/link", &json!({ "token": old_link })).await.is("401 UNAUTHENTICATED");
        let attack = async |held: &[(&str, Browser)], when: &str| {
            for password in ["attacker's horse", "attacker's second horse", "ignored, all of it"] {
                sign_in_of("acme", password).await.is("401 UNAUTHENTICATED");
            }
            let anywhere = sign_in(last, "bob@acme.example", "attacker's second horse").await;
            let mut browsers: Vec<_> = held.to_vec();
            browsers.push(("new login", Browser::with(server, &cookie_of(&anywhere))));
            browsers.push(("new link", Browser::by_link(server, &link_of(&attacker).await).await));
            for (what, browser) in &browsers {
                let switched = browser.at(last).post("/api/auth/switch", &json!({ "tenant": "acme" })).await;
                let code = if *what == "old login" { "401 UNAUTHENTICATED" } else { "404 NOT_FOUND" };
                assert_eq!(switched.verdict(), code, "{what}, {when}");
                if *what != "old login" {
                    assert_eq!(tenants_of(&browser.at(last)).await, ["globex"], "{what}, {when}");
                    assert!(!browser.get("/api/me").await.text.contains("\"acme\""), "{what}, {when}");
                }
            }
            let never = browsers[1].1.post("/api/auth/switch", &json!({ "tenant": "no-such" })).await;
            let real = browsers[1].1.post("/api/auth/switch", &json!({ "tenant": "acme" })).await;
            assert_eq!(never.json()["detail"], real.json()["detail"], "it is told that the person is there");
        };
        attack(&held, "before he has been here").await;

        // Bob himself comes, by acme's link, and chooses a password.
        let himself = Browser::by_link(server, &link_of(&acme).await).await;
        assert_eq!(himself.get("/api/me").await.json()["tenant"]["slug"], "acme");
        attack(&held, "while he is here").await;
        let own = himself.post("/api/auth/password", &json!({ "password": "bob's own horse" })).await;
        let himself = Browser::with(server, &cookie_of(&own));
        attack(&held, "once he has a password").await;

        assert_eq!(himself.get("/api/me").await.status, StatusCode::OK, "nobody has signed him out");
        assert_eq!(sign_in_of("acme", "bob's own horse").await.status, StatusCode::OK);
        sign_in_of("globex", "bob's own horse").await.is("401 UNAUTHENTICATED");
    }

    /// The other way round: acme knows somebody, and globex adds them to get at acme.
    async fn tenant_that_adds_a_person_later_gets_nowhere_else_as_them(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let attacker = world.client(&server, "globex", Role::Admin).await;
        let acme = world.client(&server, "acme", Role::Admin).await;
        for password in [None, Some(PASSWORD)] {
            let email = format!("victim-{}@acme.example", password.is_some());
            add(&acme, &email, Role::Admin, password).await;
            let known = Browser::by_link(&server, &link(&world, "acme", &email).await).await;
            let victim = add(&attacker, &email, Role::Member, Some("attacker's horse")).await.text_at("/id");
            sign_in(&server, &email, "attacker's horse").await.is("401 UNAUTHENTICATED");

            let made = attacker.post(&format!("/api/users/{victim}/link"), &json!({})).await.text_at("/url");
            let browser = Browser::by_link(&server, made.split_once("token=").unwrap().1).await;

            browser.post("/api/auth/switch", &json!({ "tenant": "acme" })).await.is("404 NOT_FOUND");
            assert_eq!(tenants_of(&browser).await, ["globex"]);
            let set = browser.post("/api/auth/password", &json!({ "password": "attacker's horse" })).await;
            let browser = Browser::with(&server, &cookie_of(&set));
            browser.post("/api/auth/switch", &json!({ "tenant": "acme" })).await.is("404 NOT_FOUND");
            assert_eq!(sign_in(&server, &email, "attacker's horse").await.json()["tenant"], "globex");
            let there = json!({ "email": email, "password": "attacker's horse", "tenant": "acme" });
            post(&server, "/api/auth/login", &there).await.is("401 UNAUTHENTICATED");
            // And nothing of theirs has ended.
            assert_eq!(known.get("/api/me").await.status, StatusCode::OK);
            if let Some(password) = password {
                assert_eq!(sign_in(&server, &email, password).await.json()["tenant"], "acme");
            }
            attacker.delete(&format!("/api/users/{victim}")).await;
            assert_eq!(known.get("/api/me").await.status, StatusCode::OK);
            acme.post(&format!("/api/users/{victim}/link"), &json!({})).await.text_at("/url");
        }
    }

    async fn link_opens_the_tenant_that_made_it_and_no_other(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        ada_of_both(&world, &server, PASSWORD).await;
        let by_link = browser_of(&world, &server, "ada@example.com").await;
        assert_eq!(tenants_of(&by_link).await, ["acme"]);
        by_link.post("/api/auth/switch", &json!({ "tenant": "globex" })).await.is("404 NOT_FOUND");
        // To one's own tenant there is always a way.
        let again = by_link.post("/api/auth/switch", &json!({ "tenant": "acme" })).await;
        assert_eq!(again.json()["tenant"], "acme", "{}", again.text);
    }

    async fn new_password_ends_every_other_login(db: TestDb) {
        let world = World::on(db).await;
        let servers = servers(&world);
        let server = &servers[0];
        let admin = world.client(server, "acme", Role::Admin).await;
        ada_of_both(&world, server, PASSWORD).await;
        let here = Browser::by_password(server, "ada@example.com", PASSWORD).await;
        let elsewhere = Browser::by_password(server, "ada@example.com", PASSWORD).await;
        let in_globex = Browser::with(server, &cookie_of(&sign_in_to(server, "globex", PASSWORD).await));
        let unused = link(&world, "acme", "ada@example.com").await;
        for browser in [&here, &elsewhere, &in_globex] {
            for server in &servers {
                assert_eq!(browser.at(server).get("/api/me").await.status, StatusCode::OK);
                browser.at(server).run("test.echo", json!({ "value": 1 })).await;
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
        // It was her password in both, and the new one is.
        let new = Browser::with(server, &cookie_of(&changed));
        assert_eq!(tenants_of(&new).await, ["acme", "globex"]);
        post(server, "/api/auth/link", &json!({ "token": unused })).await.is("401 UNAUTHENTICATED");
        for tenant in ["acme", "globex"] {
            sign_in_to(server, tenant, PASSWORD).await.is("401 UNAUTHENTICATED");
            assert_eq!(sign_in_to(server, tenant, "another horse entirely").await.status, StatusCode::OK);
        }
        let entry = audited(&admin, "user.password_set").await;
        let had = json!({ "has_password": true });
        assert_eq!((&entry["before"], &entry["after"]), (&had, &had));
    }

    async fn password_that_is_another_elsewhere_stays_so(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        ada_of_both(&world, &server, "her horse at globex").await;
        let here = Browser::by_password(&server, "ada@example.com", PASSWORD).await;
        let there = Browser::with(&server, &cookie_of(&sign_in_to(&server, "globex", "her horse at globex").await));
        let body = json!({ "current_password": PASSWORD, "password": "another horse entirely" });

        assert_eq!(here.post("/api/auth/password", &body).await.status, StatusCode::OK);

        assert_eq!(there.get("/api/me").await.status, StatusCode::OK);
        assert_eq!(sign_in_to(&server, "globex", "her horse at globex").await.status, StatusCode::OK);
        sign_in_to(&server, "globex", "another horse entirely").await.is("401 UNAUTHENTICATED");
    }

    async fn login_loses_the_way_to_a_tenant_whose_password_has_changed(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        ada_of_both(&world, &server, PASSWORD).await;
        let in_acme = Browser::by_password(&server, "ada@example.com", PASSWORD).await;
        let globex = world.client(&server, "globex", Role::Admin).await;
        // Out of globex and in again, with the same password.
        let users = globex.get("/api/users?limit=200").await.json();
        let ada = users["items"].as_array().unwrap().iter().find(|user| user["email"] == "ada@example.com").unwrap();
        globex.delete(&format!("/api/users/{}", ada["id"].as_str().unwrap())).await;
        in_acme.post("/api/auth/switch", &json!({ "tenant": "globex" })).await.is("404 NOT_FOUND");
        world.add_user("globex", "ada@example.com", Role::Admin).await;
        in_acme.post("/api/auth/switch", &json!({ "tenant": "globex" })).await.is("404 NOT_FOUND");
        set_password(&world, &server, PASSWORD).await;

        in_acme.post("/api/auth/switch", &json!({ "tenant": "globex" })).await.is("404 NOT_FOUND");
        assert_eq!(tenants_of(&in_acme).await, ["acme"]);
        let anew = Browser::by_password(&server, "ada@example.com", PASSWORD).await;
        assert_eq!(tenants_of(&anew).await, ["acme", "globex"]);
    }
}

/// Ada, an admin of acme with the usual password, and a viewer of globex with this one.
async fn ada_of_both(world: &World, server: &Server, password: &str) {
    let admin = world.client(server, "acme", Role::Admin).await;
    assert_eq!(add(&admin, "ada@example.com", Role::Admin, Some(PASSWORD)).await.status, StatusCode::CREATED);
    world.add_user("globex", "ada@example.com", Role::Viewer).await;
    set_password(world, server, password).await;
}

/// Ada sets her password at globex, as she does it: by a link.
async fn set_password(world: &World, server: &Server, password: &str) {
    let browser = Browser::by_link(server, &link(world, "globex", "ada@example.com").await).await;
    let set = browser.post("/api/auth/password", &json!({ "password": password })).await;
    assert_eq!(set.status, StatusCode::OK, "{}", set.text);
}

async fn sign_in_to(server: &Server, tenant: &str, password: &str) -> Answer {
    let body = json!({ "email": "ada@example.com", "password": password, "tenant": tenant });
    post(server, "/api/auth/login", &body).await
}

/// The tenants that a browser is told of, which are the same in both places.
async fn tenants_of(browser: &Browser) -> Vec<String> {
    let slugs = |list: &Value| -> Vec<String> {
        let names = list.as_array().unwrap().iter().map(|tenant| tenant["slug"].as_str().unwrap().to_owned());
        names.collect()
    };
    let told = slugs(&browser.get("/api/me").await.json()["tenants"]);
    assert_eq!(slugs(&browser.get("/api/tenants").await.json()["items"]), told);
    told
}
