//! Signing in to MCP servers that ask for it.

use reqwest::StatusCode;
use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{
    AuthServer, Kind, TestDb,
    mcp::{EARLIER, Generation, McpServer},
    on_both,
    sign_in::TOKEN_CANARY,
};

use crate::{
    canary::{everything_stored, holds},
    people::Browser,
    world::{Answer, Client, Server, World, slug, together},
};

const PATH: &str = "/api/mcp-servers";
const CALLBACK: &str = "/api/mcp-servers/callback";

/// A server that asks to sign in, and who lets people in there.
struct Scene {
    world: World,
    remote: McpServer,
    auth: AuthServer,
}

impl Scene {
    async fn on(db: TestDb) -> Self {
        let remote = McpServer::start(Generation::Present).await;
        let auth = AuthServer::start().await;
        remote.ask_to_sign_in(auth.tokens());
        Self { world: World::on(db).await, remote, auth }
    }

    fn server(&self) -> Server {
        self.server_with(&[])
    }

    fn server_with(&self, more: &[(&str, &str)]) -> Server {
        let allowed = [&self.remote.upstream, &self.auth.upstream].map(|upstream| upstream.host_and_port());
        let allowed = allowed.join(",");
        let allow = [("TOOLWRIGHT_EGRESS__ALLOW", allowed.as_str())];
        self.world.server_with(&[], &[&allow, more].concat())
    }

    /// Registers the server; returns its path.
    async fn add(&self, admin: &Client) -> String {
        let made = admin.post(PATH, &json!({ "name": "garden", "url": self.remote.url() })).await;
        format!("{PATH}/{}", made.is("201 unauthorized").text_at("/id"))
    }

    /// Signs in as an admin does, and imports a tool that may be called without being asked.
    async fn signed_in(&self, admin: &Client) -> String {
        let garden = self.add(admin).await;
        let back = self.auth.agree(&page(admin, &garden).await);
        admin.post(CALLBACK, &back.body()).await.is("200 ready");
        let sent = json!({ "tools": ["add"], "publish": true });
        admin.post(&format!("{garden}/import"), &sent).await.is("200");
        garden
    }
}

async fn page(admin: &Client, server: &str) -> String {
    admin.post(&format!("{server}/authorize"), &json!({})).await.is("200").text_at("/authorization_url")
}

async fn adds(client: &Client) -> Answer {
    client.run("garden.add", json!({ "a": 1, "b": 2 })).await
}

async fn sign_in_of(admin: &Client, server: &str) -> Value {
    admin.get(server).await.json()["sign_in"].clone()
}

on_both! {
    async fn admin_signs_in_and_the_token_goes_to_that_server_alone(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.add(&admin).await;
        assert_eq!(sign_in_of(&admin, &garden).await, Value::Null);
        let back = scene.auth.agree(&page(&admin, &garden).await);
        assert_eq!(back.redirect_uri, format!("{}/mcp-servers/callback", server.url), "of the host that was asked");
        assert_eq!((back.resource.as_str(), back.scope.as_deref()), (scene.remote.url().as_str(), Some("tools")));
        let registered = &scene.auth.registrations()[0];
        assert_eq!(registered["application_type"], "native");
        assert_eq!(registered["redirect_uris"], json!([back.redirect_uri]));

        let shown = admin.post(CALLBACK, &back.body()).await;
        let shown = shown.is("200 ready").json();
        assert_eq!((&shown["sign_in"]["status"], &shown["sign_in"]["issuer"]),
            (&json!("signed_in"), &json!(scene.auth.issuer())));
        assert!(shown["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{shown}");
        let exchange = &scene.auth.exchanges("authorization_code")[0];
        assert_eq!((exchange["resource"].as_str(), exchange["redirect_uri"].as_str()),
            (scene.remote.url().as_str(), back.redirect_uri.as_str()));
        admin.post(&format!("{garden}/import"), &json!({ "tools": ["add"], "publish": true })).await.is("200");
        adds(&admin).await.is("200 success");

        let other = McpServer::start(Generation::Earlier(EARLIER)).await;
        let allowed = [&scene.remote.upstream, &scene.auth.upstream, &other.upstream].map(|up| up.host_and_port()).join(",");
        drop(server);
        let server = scene.world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed)]);
        let admin = admin.at(&server);
        adds(&admin).await.is("200 success");
        // Moved elsewhere, the server is sent nothing of what the one before gave.
        admin.patch(&garden, &json!({ "url": other.url() })).await.is("200 ready");
        assert_eq!(sign_in_of(&admin, &garden).await, Value::Null);
        let sent = other.upstream.requests();
        assert!(!sent.is_empty() && sent.iter().all(|asked| asked.header("authorization").is_none()));

        let audit = admin.get("/api/audit?limit=200").await.text;
        assert!(audit.contains("mcp_server.sign_in_begun") && audit.contains("mcp_server.signed_in"), "{audit}");
        let answers = [admin.get(&garden).await.text, admin.get(PATH).await.text, admin.get("/api/runs").await.text, audit];
        assert!(!answers.iter().any(|text| text.contains(TOKEN_CANARY)), "a token is shown");
        assert!(!holds(&everything_stored(&scene.world.db).await, TOKEN_CANARY), "a token is stored in clear");
        assert!(!server.log().contains(TOKEN_CANARY));
    }

    async fn token_is_renewed_before_its_end_and_once_where_it_is_refused(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.signed_in(&admin).await;
        let renewals = || scene.auth.exchanges("refresh_token").len();
        adds(&admin).await.is("200 success");
        assert_eq!(renewals(), 0, "the token still holds");

        scene.auth.revoke_tokens();
        adds(&admin).await.is("200 success");
        assert_eq!(renewals(), 1, "refused, it is renewed");
        assert_eq!(scene.auth.exchanges("refresh_token")[0]["resource"], scene.remote.url());
        adds(&admin).await.is("200 success");
        assert_eq!(renewals(), 1);

        // The next one ends at once, so it is renewed before it is sent again.
        scene.auth.gives_for(Some(0));
        scene.auth.revoke_tokens();
        adds(&admin).await.is("200 success");
        let calls = scene.remote.asked("tools/call").len();
        adds(&admin).await.is("200 success");
        assert_eq!(renewals(), 3);
        assert_eq!(scene.remote.asked("tools/call").len(), calls + 1, "renewed without being refused");

        // A server that never takes it is asked twice and no more.
        scene.auth.gives_for(None);
        admin.post(&format!("{garden}/refresh"), &json!({})).await.is("200 ready");
        let before = renewals();
        let nobody = AuthServer::start().await;
        scene.remote.ask_to_sign_in(nobody.tokens());
        let failed = adds(&admin).await;
        assert_eq!(failed.is("200 error").json()["error_code"], "UPSTREAM_ERROR", "{}", failed.text);
        assert_eq!(renewals(), before + 1);
        assert!(!failed.text.contains(TOKEN_CANARY));
    }

    async fn approval_is_void_once_somebody_signs_in_anew(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.signed_in(&admin).await;
        let agent = scene.world.agent(&server, "acme").await;
        admin.patch("/api/tools/garden.add", &json!({ "permission_policy": "always_ask" })).await.is("200 published");
        let ask = async || adds(&agent).await.is("202 needs_approval").text_at("/approval_id");
        let approve = async |id: &str| admin.post(&format!("/api/approvals/{id}/approve"), &json!({})).await;

        let waiting = ask().await;
        scene.auth.revoke_tokens();
        approve(&waiting).await.is("200 success");
        assert_eq!(scene.auth.exchanges("refresh_token").len(), 1, "a token that is refreshed is of the same sign-in");

        let waiting = ask().await;
        let back = scene.auth.agree(&page(&admin, &garden).await);
        admin.post(CALLBACK, &back.body()).await.is("200 ready");
        let calls = scene.remote.asked("tools/call").len();
        approve(&waiting).await.is("409 SUPERSEDED");
        assert_eq!(scene.remote.asked("tools/call").len(), calls, "nothing was sent");
        approve(&ask().await).await.is("200 success");
    }

    async fn renewal_that_is_refused_asks_to_sign_in_again(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.signed_in(&admin).await;
        scene.auth.revoke_tokens();
        scene.auth.refuses(Some(("503 Service Unavailable", json!({ "error": "server_error" }))));
        let failed = adds(&admin).await.is("200 error").text.clone();
        assert!(failed.contains("could not be renewed") && !failed.contains("sign in again"), "{failed}");
        assert_eq!(sign_in_of(&admin, &garden).await["status"], "signed_in", "it may work in a moment");

        let said = json!({ "error": "invalid_grant", "error_description": "gone\u{1b}[31m" });
        scene.auth.refuses(Some(("400 Bad Request", said)));
        let failed = adds(&admin).await.is("200 error").text.clone();
        assert!(failed.contains("sign in again"), "{failed}");
        let shown = admin.get(&garden).await.is("200 unauthorized").json();
        assert!(shown["last_error"].as_str().unwrap().starts_with("sign in again: "), "{shown}");
        assert_eq!(shown["sign_in"]["status"], "over");
        assert!(admin.get("/api/audit?limit=200").await.text.contains("mcp_server.sign_in_over"));
        let asked = scene.auth.exchanges("refresh_token").len();
        adds(&admin).await.is("200 error");
        admin.post(&format!("{garden}/refresh"), &json!({})).await.is("200 unauthorized");
        assert_eq!(scene.auth.exchanges("refresh_token").len(), asked, "it is not asked for again");

        scene.auth.refuses(None);
        let back = scene.auth.agree(&page(&admin, &garden).await);
        admin.post(CALLBACK, &back.body()).await.is("200 ready");
        adds(&admin).await.is("200 success");
        // A token that came without another to renew it is over with its end.
        scene.auth.gives_no_refresh();
        let back = scene.auth.agree(&page(&admin, &garden).await);
        admin.post(CALLBACK, &back.body()).await.is("200 ready");
        scene.auth.revoke_tokens();
        let failed = adds(&admin).await.is("200 error").text.clone();
        assert!(failed.contains("sign in again"), "{failed}");
        admin.delete(&format!("{garden}/authorize")).await.is("204");
        admin.delete(&format!("{garden}/authorize")).await.is("204");
        assert_eq!(admin.get(&garden).await.is("200 unauthorized").json()["sign_in"], Value::Null);
        assert!(admin.get("/api/audit?limit=200").await.text.contains("mcp_server.signed_out"));
    }

    async fn state_counts_once_and_for_whoever_went(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let builder = scene.world.client(&server, "acme", Role::Builder).await;
        let stranger = scene.world.client(&server, "globex", Role::Admin).await;
        let garden = scene.add(&admin).await;
        let authorize = format!("{garden}/authorize");
        stranger.post(&authorize, &json!({})).await.is("404 NOT_FOUND");
        stranger.delete(&authorize).await.is("404 NOT_FOUND");
        let member = scene.world.client(&server, "acme", Role::Member).await;
        member.post(&authorize, &json!({})).await.is("403 NOT_PERMITTED");

        let first = scene.auth.agree(&page(&admin, &garden).await);
        let back = scene.auth.agree(&page(&admin, &garden).await);
        admin.post(CALLBACK, &first.body()).await.is("404 NOT_FOUND");
        for other in [&builder, &stranger] {
            other.post(CALLBACK, &back.body()).await.is("404 NOT_FOUND");
        }
        admin.post(CALLBACK, &json!({ "state": "made-up", "code": back.code })).await.is("404 NOT_FOUND");
        admin.post(CALLBACK, &json!({ "code": back.code })).await.is("422 MISSING_PARAM");
        assert!(scene.auth.exchanges("authorization_code").is_empty(), "no code was sent anywhere");
        // Of two at one moment one counts.
        let (one, other) = (admin.clone(), admin.clone());
        let (body, same) = (back.body(), back.body());
        let (one, other) = together(
            async move { one.post(CALLBACK, &body).await },
            async move { other.post(CALLBACK, &same).await },
        ).await;
        let mut verdicts = [one.verdict(), other.verdict()];
        verdicts.sort();
        assert_eq!(verdicts, ["200 ready", "404 NOT_FOUND"], "{} {}", one.text, other.text);
        admin.post(CALLBACK, &back.body()).await.is("404 NOT_FOUND");
        assert_eq!(scene.auth.exchanges("authorization_code").len(), 1);

        // An answer from somebody else is not acted on, nor shown, and it is used up.
        for issuer in [json!("https://evil.example"), Value::Null] {
            let back = scene.auth.agree(&page(&admin, &garden).await);
            let mut body = back.body();
            body["iss"] = issuer;
            body["error"] = json!("evil-text");
            let refused = admin.post(CALLBACK, &body).await;
            assert!(!refused.is("409 CONFLICT").text.contains("evil-text"), "{}", refused.text);
            admin.post(CALLBACK, &back.body()).await.is("404 NOT_FOUND");
        }
        assert_eq!(scene.auth.exchanges("authorization_code").len(), 1);
        let back = scene.auth.agree(&page(&admin, &garden).await);
        let no = json!({ "state": back.state, "iss": back.iss, "error": "access_denied", "error_description": "not today" });
        let refused = admin.post(CALLBACK, &no).await;
        assert!(refused.is("409 CONFLICT").text.contains("access_denied (not today)"), "{}", refused.text);
        // A server that moves meanwhile gets no code of the one before.
        let back = scene.auth.agree(&page(&admin, &garden).await);
        let elsewhere = json!({ "url": format!("{}?x=1", scene.remote.url()) });
        admin.patch(&garden, &elsewhere).await.is("200 unauthorized");
        admin.post(CALLBACK, &back.body()).await.is("404 NOT_FOUND");
        assert_eq!(scene.auth.exchanges("authorization_code").len(), 1);
    }

    async fn sign_in_outlives_a_restart_and_needs_an_own_page(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.add(&admin).await;
        let back = scene.auth.agree(&page(&admin, &garden).await);
        drop(server);
        let server = scene.server();
        let admin = admin.at(&server);
        let token = scene.world.operator().sign_in_link(&slug("acme"), "admin@acme.example").await.unwrap();
        let browser = Browser::by_link(&server, &token).await;
        let forged = browser.request(reqwest::Method::POST, CALLBACK).header("sec-fetch-site", "cross-site");
        let forged = forged.json(&back.body()).send().await.unwrap();
        assert_eq!(forged.status(), StatusCode::FORBIDDEN, "a page of others");
        browser.post(CALLBACK, &back.body()).await.is("200 ready");
        assert_eq!(sign_in_of(&admin, &garden).await["status"], "signed_in");
    }

    async fn answers_that_nobody_should_trust_are_refused(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server();
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.add(&admin).await;
        let authorize = format!("{garden}/authorize");
        let issuer = scene.auth.issuer();
        let tried = async |verdict: &str| admin.post(&authorize, &json!({})).await.is(verdict).text.clone();
        for says in [
            json!({ "issuer": "https://evil.example" }),
            json!({ "issuer": format!("{issuer}/") }),
            json!({ "code_challenge_methods_supported": ["plain"] }),
            json!({ "code_challenge_methods_supported": null }),
            json!({ "response_types_supported": ["token"] }),
            json!({ "token_endpoint": null }),
            json!({ "authorization_endpoint": "javascript:alert(1)" }),
            json!({ "authorization_endpoint": "file:///etc/passwd" }),
            json!({ "token_endpoint": "http://example.com/token" }),
            json!({ "token_endpoint": "ftp://example.com/token" }),
            json!({ "registration_endpoint": null }),
        ] {
            scene.auth.says(says.clone());
            let told = tried("502 UPSTREAM_ERROR").await;
            assert!(!told.contains("authorization_url"), "{says}: {told}");
        }
        scene.auth.says(json!({}));
        // What listens where nobody may go counts who comes.
        let inside = tw_test::Upstream::start().await;
        let port = inside.port();
        for url in [
            format!("http://127.0.0.1:{port}/"), format!("http://localhost:{port}/"), format!("http://[::1]:{port}/"),
            format!("http://2130706433:{port}/"), format!("http://0x7f.1:{port}/"), format!("http://0177.0.0.1:{port}/"),
            format!("http://[::ffff:127.0.0.1]:{port}/"), format!("https://127.0.0.1.:{port}/"),
            format!("http://①②⑦.0.0.1:{port}/"), "http://169.254.169.254/".to_owned(), "https://10.0.0.1/".to_owned(),
        ] {
            for endpoint in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
                scene.auth.says(json!({ endpoint: url }));
                tried("502 EGRESS_DENIED").await;
            }
            scene.auth.says(json!({}));
            let resource = json!({ "resource": scene.remote.url(), "authorization_servers": [url] });
            scene.remote.says_of_itself(resource);
            tried("502 EGRESS_DENIED").await;
            scene.remote.challenge_by(&format!("Bearer resource_metadata=\"{url}\""));
            tried("502 EGRESS_DENIED").await;
            scene.remote.ask_to_sign_in(scene.auth.tokens());
        }
        assert_eq!(inside.connections(), 0);
        for metadata in [
            json!({ "resource": "https://else.example/mcp", "authorization_servers": [issuer] }),
            json!({ "resource": scene.remote.url(), "authorization_servers": [] }),
            json!({ "authorization_servers": [issuer] }),
            Value::Null,
        ] {
            scene.remote.says_of_itself(metadata);
            tried("502 UPSTREAM_ERROR").await;
        }
        let open = McpServer::start(Generation::Sessionless).await;
        drop(server);
        let allowed = format!("{},{}", open.upstream.host_and_port(), scene.auth.upstream.host_and_port());
        let server = scene.world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed)]);
        let admin = admin.at(&server);
        let made = admin.post(PATH, &json!({ "name": "open", "url": open.url() })).await;
        let path = format!("{PATH}/{}/authorize", made.is("201 ready").text_at("/id"));
        admin.post(&path, &json!({})).await.is("409 CONFLICT");
        // An address that may not be called any more is not called either.
        admin.post(&authorize, &json!({})).await.is("502 EGRESS_DENIED");
    }

    async fn client_is_the_one_that_was_written_down_or_the_document_about_it(db: TestDb) {
        let scene = Scene::on(db).await;
        let server = scene.server_with(&[("TOOLWRIGHT_PUBLIC_URL", "https://tools.example")]);
        let admin = scene.world.client(&server, "acme", Role::Admin).await;
        let garden = scene.add(&admin).await;
        scene.auth.says(json!({ "client_id_metadata_document_supported": true }));
        let back = scene.auth.agree(&page(&admin, &garden).await);
        assert_eq!(back.client_id, "https://tools.example/oauth/client.json");
        assert_eq!(back.redirect_uri, "https://tools.example/mcp-servers/callback");
        let document = Client::new(&server.url, None).get("/oauth/client.json").await;
        let document = document.is("200").json();
        assert_eq!((&document["client_id"], &document["redirect_uris"]), (&json!(back.client_id), &json!([back.redirect_uri])));
        admin.post(CALLBACK, &back.body()).await.is("200 ready");
        assert!(scene.auth.registrations().is_empty());

        const SECRET: &str = "canary-of-a-client-0815";
        scene.auth.knows("toolwright", Some(SECRET));
        admin.patch(&garden, &json!({ "client_secret": SECRET })).await.is("422 MISSING_PARAM");
        let changed = admin.patch(&garden, &json!({ "client_id": "toolwright", "client_secret": SECRET })).await;
        let shown = changed.is("200 unauthorized").json();
        assert_eq!((&shown["client_id"], &shown["client_secret"]), (&json!("toolwright"), &json!("***")));
        assert_eq!(shown["sign_in"], Value::Null, "the one before was given to another client");
        let back = scene.auth.agree(&page(&admin, &garden).await);
        assert_eq!(back.client_id, "toolwright");
        let signed_in = admin.post(CALLBACK, &back.body()).await;
        // What was read can be sent back.
        let again = admin.patch(&garden, &signed_in.is("200 ready").json()).await;
        assert_eq!(again.is("200 ready").json()["sign_in"]["status"], "signed_in");
        scene.auth.revoke_tokens();
        admin.post(&format!("{garden}/refresh"), &json!({})).await.is("200 ready");
        assert!(!scene.auth.exchanges("refresh_token")[0].contains_key("client_secret"), "it goes into a header");

        // Another authorization server is not shown the secret of this one.
        let other = AuthServer::start().await;
        drop(server);
        let allowed = [&scene.remote.upstream, &scene.auth.upstream, &other.upstream].map(|up| up.host_and_port()).join(",");
        let server = scene.world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &allowed)]);
        let admin = admin.at(&server);
        Client::new(&server.url, None).get("/oauth/client.json").await.is("404 NOT_FOUND");
        scene.remote.ask_to_sign_in(other.tokens());
        let told = admin.post(&format!("{garden}/authorize"), &json!({})).await;
        assert!(told.is("409 CONFLICT").text.contains("client_id"), "{}", told.text);
        scene.remote.ask_to_sign_in(scene.auth.tokens());
        // The secret of a credential goes where that may go.
        let credential = json!({
            "label": "idp", "type": "bearer", "payload": { "token": SECRET }, "allowed_hosts": ["idp.example"],
        });
        admin.post("/api/credentials", &credential).await.is("201");
        let shown = admin.patch(&garden, &json!({ "client_id": "toolwright", "client_secret": "secret:idp" })).await;
        assert_eq!(shown.is("200 unauthorized").json()["client_secret"], "secret:idp");
        let back = scene.auth.agree(&page(&admin, &garden).await);
        let exchanges = scene.auth.exchanges("authorization_code").len();
        admin.post(CALLBACK, &back.body()).await.is("409 CONFLICT");
        assert_eq!(scene.auth.exchanges("authorization_code").len(), exchanges, "nothing was sent");
        assert!(!holds(&everything_stored(&scene.world.db).await, SECRET), "a secret is stored in clear");
        assert!(!server.log().contains(SECRET) && !admin.get("/api/audit?limit=200").await.text.contains(SECRET));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_one_renews_a_token() {
    let scene = Scene::on(TestDb::new(Kind::Postgres).await).await;
    let (a, b) = (scene.server(), scene.server());
    let admin = scene.world.client(&a, "acme", Role::Admin).await;
    let there = admin.at(&b);
    let garden = scene.add(&admin).await;
    // Begun at one, ended at the other.
    let back = scene.auth.agree(&page(&admin, &garden).await);
    there.post(CALLBACK, &back.body()).await.is("200 ready");
    admin.post(&format!("{garden}/import"), &json!({ "tools": ["add"], "publish": true })).await.is("200");
    for turn in 1..=5 {
        adds(&admin).await.is("200 success");
        scene.auth.revoke_tokens();
        let calls = (0..6).map(|number| {
            let client = if number % 2 == 0 { admin.clone() } else { there.clone() };
            tokio::spawn(async move { adds(&client).await })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap().is("200 success");
        }
        assert_eq!(
            scene.auth.exchanges("refresh_token").len(),
            turn,
            "each token counts once, and is asked for once"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_is_signed_in_to_and_changed_by_command_line() {
    let scene = Scene::on(TestDb::new(Kind::Sqlite).await).await;
    let server = scene.server();
    let admin = scene.world.client(&server, "acme", Role::Admin).await;
    let garden = scene.add(&admin).await;
    let run = |arguments: &[&str]| {
        let mut command = scene.world.command();
        command.env("TOOLWRIGHT_URL", &server.url).env("TOOLWRIGHT_KEY", admin.key.as_ref().unwrap());
        let output = command.arg("mcp-servers").args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    };
    let back = scene.auth.agree(run(&["authorize", "GARDEN"]).trim());
    admin.post(CALLBACK, &back.body()).await.is("200 ready");
    assert!(run(&["show", "garden"]).contains("signed_in"));
    run(&["change", "garden", "--header", "X-Unit: metres", "--header", "X-Key: k", "--allow", "add"]);
    run(&["change", "garden", "--header", "x-unit:", "--name", "cellar"]);
    let shown = admin.get(&garden).await.is("200 ready").json();
    assert_eq!((&shown["name"], &shown["headers"]), (&json!("cellar"), &json!({ "X-Key": "***" })));
    assert_eq!(
        (&shown["allowed_tools"], &shown["sign_in"]["status"]),
        (&json!(["add"]), &json!("signed_in"))
    );
    let asked = scene.remote.upstream.requests();
    assert_eq!(asked.last().unwrap().header("x-key"), Some("k"), "what is not named stays");
    run(&["change", "cellar", "--allow-all"]);
    run(&["sign-out", "cellar"]);
    let shown = admin.get(&garden).await.is("200 unauthorized").json();
    assert_eq!((&shown["allowed_tools"], &shown["sign_in"]), (&Value::Null, &Value::Null));
}
