//! `web_search` against servers that play Serper, Exa and Brave.

use std::{env, process::Stdio, sync::Arc};

use serde_json::{Value, json};
use tokio::process::Command;
use toolwright_sdk::{Code, ToolContext, ToolFailure};
use tw_test::Upstream;

use crate::{house::Hut, run};

const FOUND: &str = r#"{
    "organic": [
        { "title": "One", "link": "https://one.test/", "snippet": "First", "position": 1 },
        { "title": "Two", "link": "https://two.test/" }
    ],
    "credits": 1
}"#;

fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn search(cx: ToolContext) -> Result<Value, ToolFailure> {
    Ok(run("web_search", cx, json!({ "query": " rye bread ", "max_results": 5 })).await?.data)
}

fn set(cx: ToolContext, settings: Value) -> ToolContext {
    cx.with_settings(Arc::new(settings))
}

#[tokio::test]
async fn results_come_in_order_with_their_places() {
    let serper = Upstream::start().await;
    serper.script([answer("200 OK", FOUND)]);
    let cx =
        set(Hut::near(&[&serper]).context(), json!({ "api_key": "k-1", "endpoint": serper.url("/search") }));
    assert_eq!(
        search(cx).await.unwrap(),
        json!({
            "results": [
                { "title": "One", "url": "https://one.test/", "snippet": "First", "position": 1 },
                { "title": "Two", "url": "https://two.test/", "snippet": "", "position": 2 },
            ],
            "provider": "serper",
        })
    );
    let asked = serper.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/search"));
    assert_eq!(asked.header("x-api-key"), Some("k-1"));
    assert_eq!(serde_json::from_slice::<Value>(&asked.body).unwrap(), json!({ "q": "rye bread", "num": 5 }));
}

#[tokio::test]
async fn no_more_results_than_asked_for_and_ten_by_default() {
    let serper = Upstream::start().await;
    serper.script([answer("200 OK", FOUND), answer("200 OK", "{}")]);
    let settings = json!({ "api_key": "k-1", "endpoint": serper.url("/") });
    let cx = || set(Hut::near(&[&serper]).context(), settings.clone());
    let one = run("web_search", cx(), json!({ "query": "a", "max_results": 1 })).await.unwrap();
    assert_eq!(one.data["results"].as_array().unwrap().len(), 1);
    assert_eq!(one.summary, "1 result: One");
    let none = run("web_search", cx(), json!({ "query": "a" })).await.unwrap();
    assert_eq!((&none.data["results"], none.summary.as_str()), (&json!([]), "nothing was found"));
    assert_eq!(serper.requests()[1].body, br#"{"q":"a","num":10}"#);
    for input in [json!({ "query": " " }), json!({ "query": "a", "max_results": 21 })] {
        assert_eq!(run("web_search", cx(), input).await.unwrap_err().code, Code::InvalidParams);
    }
}

/// Takes away the first place each time; the next one is then used.
#[tokio::test]
async fn key_is_looked_for_in_the_order_that_is_promised() {
    let serper = Upstream::start().await;
    let endpoint = serper.url("/");
    let at = |key: &'static str| [("endpoint", endpoint.as_str()), ("api_key", key)];
    let by_token = [("endpoint", endpoint.as_str()), ("token", "from-serper")];
    let hut = || {
        let hut = Hut::near(&[&serper]).label("mine", &at("from-label"));
        hut.provider("serper", None, &by_token)
    };
    let both = || hut().provider("web_search", Some("serper"), &at("from-web-search"));
    let own = json!({ "api_key": "from-settings", "credentials_ref": "mine", "endpoint": endpoint });
    for (cx, expected) in [
        (set(both().context(), own), "from-settings"),
        (set(both().context(), json!({ "credentials_ref": "mine" })), "from-label"),
        (set(both().context(), json!({})), "from-web-search"),
        (both().context(), "from-web-search"),
        (hut().context(), "from-serper"),
    ] {
        serper.script([answer("200 OK", FOUND)]);
        search(cx).await.unwrap();
        assert_eq!(serper.requests().last().unwrap().header("x-api-key"), Some(expected));
    }
}

#[tokio::test]
async fn credential_that_is_named_and_cannot_be_used_is_not_replaced_by_another() {
    let serper = Upstream::start().await;
    let hut = || {
        Hut::near(&[&serper]).provider("serper", None, &[("api_key", "k-2"), ("endpoint", &serper.url("/"))])
    };
    let gone = search(set(hut().context(), json!({ "credentials_ref": "gone" }))).await.unwrap_err();
    assert_eq!(gone.code, Code::CredentialMissing);
    assert_eq!(
        gone.message,
        "no credential 'gone': looked among the tenant's credentials by label and by id"
    );
    let hut = hut().label("other", &[("username", "u")]);
    let other = search(set(hut.context(), json!({ "credentials_ref": "other" }))).await.unwrap_err();
    assert_eq!(other.code, Code::CredentialMissing);
    assert_eq!(other.message, "the credential 'other' has neither 'api_key' nor 'token'");
    assert_eq!(serper.connections(), 0);
}

#[tokio::test]
async fn key_in_the_settings_may_be_a_reference_to_a_credential() {
    let serper = Upstream::start().await;
    let hut =
        || Hut::near(&[&serper]).value("weather", "k-of-weather").label("crm", &[("api_key", "k-of-crm")]);
    for (reference, expected) in [("secret:weather", "k-of-weather"), ("secret:crm.api_key", "k-of-crm")] {
        serper.script([answer("200 OK", FOUND)]);
        search(set(hut().context(), json!({ "api_key": reference, "endpoint": serper.url("/") })))
            .await
            .unwrap();
        assert_eq!(serper.requests().last().unwrap().header("x-api-key"), Some(expected));
    }
    let before = serper.connections();
    let looked = "looked among the tenant's credentials by label and by id";
    for (reference, message) in [
        ("secret:gone", format!("no credential 'gone': {looked}")),
        (
            "secret:gone.api_key",
            format!(
                "no credential 'gone.api_key': {looked}, and there is no `gone` whose field `api_key` it could be"
            ),
        ),
        ("secret:crm.token", format!("no credential 'crm.token': {looked}, and `crm` has no field `token`")),
        (
            "secret:crm",
            "the credential `crm` has no value that could be inserted; name one of its fields, as in \
             `crm.<field>`: `api_key`"
                .to_owned(),
        ),
    ] {
        let failure = search(set(hut().context(), json!({ "api_key": reference }))).await.unwrap_err();
        assert_eq!((failure.code, failure.message), (Code::CredentialMissing, message));
    }
    assert_eq!(serper.connections(), before);
}

#[tokio::test]
async fn exa_is_asked_with_its_key_and_its_answer_is_read() {
    let exa = Upstream::start().await;
    let found = json!({ "requestId": "r", "results": [
        { "title": "One", "url": "https://one.test/", "text": "x".repeat(400), "score": 0.3 },
        { "title": null, "url": "https://two.test/" },
    ] });
    exa.script([answer("200 OK", &found.to_string())]);
    let own = [("api_key", "k-exa"), ("endpoint", &exa.url("/search"))];
    let told = search(Hut::near(&[&exa]).provider("exa", None, &own).context()).await.unwrap();
    assert_eq!(
        told,
        json!({
            "results": [
                { "title": "One", "url": "https://one.test/", "snippet": "x".repeat(300), "position": 1 },
                { "title": "", "url": "https://two.test/", "snippet": "", "position": 2 },
            ],
            "provider": "exa",
        })
    );
    let asked = exa.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.header("x-api-key")), ("POST", Some("k-exa")));
    let body = serde_json::from_slice::<Value>(&asked.body).unwrap();
    assert_eq!((&body["query"], &body["numResults"]), (&json!("rye bread"), &json!(5)));
}

#[tokio::test]
async fn brave_is_asked_with_its_key_and_its_answer_is_read() {
    let brave = Upstream::start().await;
    let found = json!({ "type": "search", "web": { "results": [
        { "title": "<strong>Rye</strong> &amp; bread", "url": "https://one.test/", "description": "It&#x27;s &lt;b&gt;" },
    ] } });
    brave.script([answer("200 OK", &found.to_string()), answer("200 OK", r#"{"type":"search"}"#)]);
    let own = [("token", "k-brave"), ("endpoint", &brave.url("/res/v1/web/search"))];
    let cx = || Hut::near(&[&brave]).provider("web_search", Some("brave"), &own).context();
    assert_eq!(
        search(cx()).await.unwrap(),
        json!({
            "results": [{ "title": "Rye & bread", "url": "https://one.test/", "snippet": "It's <b>", "position": 1 }],
            "provider": "brave",
        })
    );
    let asked = brave.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.header("x-subscription-token")), ("GET", Some("k-brave")));
    assert_eq!(asked.path, "/res/v1/web/search?q=rye+bread&count=5");
    assert_eq!(search(cx()).await.unwrap()["results"], json!([]));
}

#[tokio::test]
async fn provider_is_the_one_that_there_is_a_key_for() {
    let upstream = Upstream::start().await;
    let endpoint = upstream.url("/");
    let at = [("api_key", "k"), ("endpoint", endpoint.as_str())];
    let hut = || {
        let hut = Hut::near(&[&upstream]).provider("brave", None, &at).provider("exa", None, &at);
        hut.label_for("mine", "brave", &at).label("other", &at)
    };
    let key = json!({ "api_key": "k", "endpoint": endpoint });
    let with = |settings: Value, provider: &str| {
        let mut settings = settings;
        settings["provider"] = json!(provider);
        settings
    };
    for (settings, expected) in [
        (json!({}), "exa"),
        (with(json!({}), "brave"), "brave"),
        (json!({ "credentials_ref": "mine" }), "brave"),
        (json!({ "credentials_ref": "other" }), "serper"),
        (with(json!({ "credentials_ref": "other" }), "exa"), "exa"),
        (key.clone(), "serper"),
        (with(key, "brave"), "brave"),
    ] {
        upstream.script([answer("200 OK", "{}")]);
        let told = search(set(hut().context(), settings.clone())).await.unwrap();
        assert_eq!(told["provider"], expected, "{settings}");
    }
    let before = upstream.connections();
    // Another one's key is not used, and not another one's service.
    let failure = search(set(hut().context(), with(json!({}), "serper"))).await.unwrap_err();
    if env::var_os("SERPER_API_KEY").is_none() {
        assert_eq!(failure.code, Code::CredentialMissing);
        assert!(failure.message.contains("'serper'") && !failure.message.contains("exa"), "{failure}");
    }
    let failure = search(set(hut().context(), with(json!({}), "altavista"))).await.unwrap_err();
    assert_eq!(failure.message, "'provider' in the settings of the tool must be one of serper, exa, brave");
    assert_eq!(upstream.connections(), before);
}

/// The environment belongs to the whole process, so a process of its own gets it: this program again,
/// with this test.
#[tokio::test]
async fn key_of_the_installation_is_the_last_one_and_stays_with_its_provider() {
    if env::var("SERPER_API_KEY").as_deref() == Ok("k-of-the-installation") {
        // Settings name an endpoint and no key: the installation's key must not go there.
        let stranger = Upstream::start().await;
        let cx = set(Hut::near(&[&stranger]).context(), json!({ "endpoint": stranger.url("/") }));
        let failure = search(cx).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError);
        assert!(failure.message.contains("`https://google.serper.dev` cannot be reached"), "{failure}");
        assert_eq!(stranger.connections(), 0);
        // A tenant's own key comes first.
        let own = [("api_key", "k-own"), ("endpoint", &stranger.url("/"))];
        stranger.script([answer("200 OK", FOUND)]);
        search(Hut::near(&[&stranger]).provider("serper", None, &own).context()).await.unwrap();
        assert_eq!(stranger.requests()[0].header("x-api-key"), Some("k-own"));
        return;
    }
    let name = "web_search::key_of_the_installation_is_the_last_one_and_stays_with_its_provider";
    let mut child = Command::new(env::current_exe().unwrap());
    child.env("SERPER_API_KEY", "k-of-the-installation").stdout(Stdio::piped());
    let output = child.args([name, "--exact"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn without_any_key_the_failure_names_every_place() {
    if ["SERPER_API_KEY", "EXA_API_KEY", "BRAVE_API_KEY"].into_iter().any(|name| env::var_os(name).is_some())
    {
        return;
    }
    let failure = search(Hut::near(&[]).context()).await.unwrap_err();
    assert_eq!(failure.code, Code::CredentialMissing);
    for place in [
        "'api_key'",
        "'credentials_ref'",
        "'web_search'",
        "'serper' or 'exa' or 'brave'",
        "SERPER_API_KEY",
        "EXA_API_KEY",
        "BRAVE_API_KEY",
    ] {
        assert!(failure.message.contains(place), "{place}: {failure}");
    }
}

#[tokio::test]
async fn key_never_shows() {
    let serper = Upstream::start().await;
    let settings = json!({ "api_key": "k-secret-1", "endpoint": serper.url("/") });
    let cx = || set(Hut::near(&[&serper]).context(), settings.clone());

    serper.script([answer("403 Forbidden", r#"{"message":"Unauthorized: k-secret-1"}"#)]);
    let failure = search(cx()).await.unwrap_err();
    assert_eq!(failure.code, Code::UpstreamError);
    assert_eq!(failure.message, r#"HTTP 403: {"message":"Unauthorized: ***"}"#);

    serper.script([answer("400 Bad", &format!("{}k-secret-1", "x".repeat(495)))]);
    assert!(!search(cx()).await.unwrap_err().message.contains("k-se"));

    serper.script([answer(
        "200 OK",
        &FOUND.replace("First", "for k-secret-1").replace("one.test/", "one.test/k-secret-1"),
    )]);
    let found = run("web_search", cx(), json!({ "query": "a" })).await.unwrap();
    assert_eq!(found.data["results"][0]["snippet"], "for ***");
    assert!(!format!("{found:?}").contains("k-secret-1"));

    serper.script([answer("200 OK", &FOUND.replace("First", "6b2d7365637265742d31 k%2Dsecret%2D1"))]);
    assert_eq!(search(cx()).await.unwrap()["results"][0]["snippet"], "*** ***");

    for body in ["no json", r#"{"organic": [{}]}"#, r#"{"organic": "k-secret-1"}"#] {
        serper.script([answer("200 OK", body)]);
        let failure = search(cx()).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError);
        assert!(failure.message.starts_with("the answer of serper cannot be read"), "{failure}");
        assert!(!failure.message.contains("k-secret-1"), "{failure}");
    }
}

#[tokio::test]
async fn what_was_found_steers_no_screen_and_links_to_pages_alone() {
    let serper = Upstream::start().await;
    let found = json!({ "organic": [
        { "title": "A\u{0}B\u{1b}[31m", "link": "https://one.test/a b(c)", "snippet": "x\n# y\u{0}\u{9f}z" },
        { "title": "Click", "link": "javascript:alert(1)" },
        { "title": "Tab", "link": "java\tscript:alert(1)" },
        { "title": "Data", "link": "data:text/html,x" },
        { "title": "Path", "link": "/relative" },
    ] });
    serper.script([answer("200 OK", &found.to_string())]);
    let cx = set(Hut::near(&[&serper]).context(), json!({ "api_key": "k-1", "endpoint": serper.url("/") }));
    let found = run("web_search", cx, json!({ "query": "a" })).await.unwrap();
    assert_eq!(
        found.markdown.unwrap(),
        "1. [A B  31m](https://one.test/a%20b%28c%29)\n   x # y  z\n2. Click\n   \n3. Tab\n   \n\
         4. Data\n   \n5. Path\n   "
    );
    assert_eq!(found.data["results"][0]["title"], "A B [31m");
    assert_eq!(found.data["results"][0]["snippet"], "x # y  z");
    assert_eq!(found.data["results"][1]["url"], "javascript:alert(1)");
}

#[tokio::test]
async fn endpoint_that_may_not_be_called_is_refused() {
    let shut = Upstream::start().await;
    let cx = set(Hut::near(&[]).context(), json!({ "api_key": "k", "endpoint": shut.url("/") }));
    assert_eq!(search(cx).await.unwrap_err().code, Code::EgressDenied);
    let cx = set(Hut::near(&[]).context(), json!({ "api_key": "k", "endpoint": "nowhere" }));
    assert_eq!(search(cx).await.unwrap_err().code, Code::ToolFailed);
    assert_eq!(shut.connections(), 0);
}

#[tokio::test]
async fn key_that_is_bound_to_hosts_goes_nowhere_else() {
    let serper = Upstream::start().await;
    let endpoint = serper.url("/");
    let fields = [("endpoint", endpoint.as_str()), ("api_key", "canary")];
    let settings = json!({ "credentials_ref": "mine" });
    let cx =
        |hosts: &[&str]| set(Hut::near(&[&serper]).bound("mine", &fields, hosts).context(), settings.clone());
    let failure = search(cx(&["google.serper.dev"])).await.unwrap_err();
    assert_eq!(failure.code, Code::EgressDenied);
    assert!(failure.message.contains("`mine`") && !failure.message.contains("canary"), "{failure}");
    assert_eq!(serper.connections(), 0);

    serper.script([answer("200 OK", FOUND)]);
    search(cx(&["127.0.0.1"])).await.unwrap();

    let hut = Hut::near(&[&serper]).bound("mine", &fields, &["google.serper.dev"]);
    let settings = json!({ "api_key": "secret:mine.api_key", "endpoint": endpoint });
    assert_eq!(search(set(hut.context(), settings)).await.unwrap_err().code, Code::EgressDenied);
}
