//! Tools that ask a language model: what is sent, what comes back, what it takes, and what may go wrong.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{ModelFormat, ModelServer, TestDb, on_both};

use super::{PATIENCE, calling, cancel, first, make, once, run_of, tool, with};
use crate::{
    canary::{everything_stored, holds},
    world::{Answer, Client, Server, World, eventually},
};

const KEY: &str = "sk-canary-0f31-operator";

fn prompt(slug: &str, rest: &Value) -> Value {
    let spec =
        json!({ "kind": "prompt", "mode": "direct", "prompt_template": "Summarise: {{ input.text }}" });
    tool(slug, &json!({ "execution_spec": with(spec, rest) }))
}

/// A server that knows this model as `models.default`.
fn server_with(world: &World, models: &ModelServer, format: ModelFormat, more: &[(&str, &str)]) -> Server {
    let (base_url, allowed) = (models.base_url(), models.upstream.host_and_port());
    let mut environment = vec![
        ("TOOLWRIGHT_EGRESS__ALLOW", allowed.as_str()),
        ("TOOLWRIGHT_MODELS__DEFAULT__PROVIDER", format.provider()),
        ("TOOLWRIGHT_MODELS__DEFAULT__MODEL", "m-1"),
        ("TOOLWRIGHT_MODELS__DEFAULT__BASE_URL", &base_url),
        ("TOOLWRIGHT_MODELS__DEFAULT__API_KEY", "env:MODEL_KEY"),
        ("TOOLWRIGHT_MODELS__DEFAULT__PRICE__INPUT", "1.0"),
        ("TOOLWRIGHT_MODELS__DEFAULT__PRICE__CACHED", "0.5"),
        ("TOOLWRIGHT_MODELS__DEFAULT__PRICE__OUTPUT", "2.0"),
        ("TOOLWRIGHT_AGENTS__RETRY_S", "[0, 0]"),
        ("MODEL_KEY", KEY),
    ];
    environment.extend_from_slice(more);
    world.server_with(&[], &environment)
}

#[track_caller]
fn failed_with(answer: &Answer, code: &str) -> String {
    answer.is("200 error");
    assert_eq!(answer.text_at("/error_code"), code, "{}", answer.text);
    answer.text_at("/error")
}

/// The texts that a run has appended, in order.
async fn appended(client: &Client, run: &str) -> Vec<String> {
    let events = client.get(&format!("/api/sessions/{run}/events?limit=200")).await.json();
    let events = events["items"].as_array().unwrap().clone();
    let texts = events.iter().filter(|event| event["type"] == "tool.output_appended");
    texts.map(|event| event["payload"]["text"].as_str().unwrap().to_owned()).collect()
}

on_both! {
    async fn text_is_streamed_and_what_it_took_is_recorded(db: TestDb) {
        let models = ModelServer::start().await;
        let world = World::on(db).await;
        let server = server_with(&world, &models, ModelFormat::OpenAi, &[]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let member = world.client(&server, "acme", Role::Member).await;
        make(&admin, &prompt("summary", &json!({ "system": "In {{ input.language }}.", "temperature": 0 }))).await;
        models.streams(ModelFormat::OpenAi, &["A short ", "text."]);
        let told = member.run("summary", json!({ "text": "{{ 7*7 }}", "language": "German" })).await;
        assert_eq!(told.is("200 success").json()["output"], "A short text.");
        let asked = models.asked(0);
        assert_eq!(asked["messages"], json!([
            { "role": "system", "content": "In German." }, { "role": "user", "content": "Summarise: {{ 7*7 }}" },
        ]));
        assert_eq!((&asked["model"], &asked["stream"]), (&json!("m-1"), &json!(true)));
        let request = models.requests().remove(0);
        let run = told.text_at("/run_id");
        assert_eq!(request.path, "/v1/chat/completions");
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(request.header("x-toolwright-pass"), Some(format!("{run}/1/1").as_str()));
        assert_eq!(appended(&member, &run).await.concat(), "A short text.");
        let trail = member.trail(&run).await;
        assert_eq!((trail.first().unwrap().as_str(), trail.last().unwrap().as_str()), ("tool.started", "tool.completed"));
        // 8 × 1 + 4 × 0.5 + 7 × 2, per million.
        let usage = json!({
            "provider": "openai", "model": "m-1", "input_tokens": 12, "output_tokens": 7, "cached_tokens": 4,
            "cache_write_tokens": 0, "cost": 0.000_024, "estimated": false,
        });
        assert_eq!(told.json()["usage"], usage);
        assert_eq!(run_of(&member, &run).await["usage"], usage);
        // Another tenant sees neither tool nor run.
        let stranger = world.client(&server, "globex", Role::Admin).await;
        stranger.run("summary", json!({ "text": "x" })).await.is("404 TOOL_NOT_FOUND");
        stranger.get(&format!("/api/runs/{run}")).await.is("404 NOT_FOUND");
        assert_eq!(models.requests().len(), 1);
    }

    async fn budget_is_held_before_anything_is_sent(db: TestDb) {
        let models = ModelServer::start().await;
        let world = World::on(db).await;
        let server = server_with(&world, &models, ModelFormat::OpenAi, &[("TOOLWRIGHT_MODELS__DEFAULT__MAX_OUTPUT_TOKENS", "100")]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &prompt("summary", &json!({}))).await;
        let budgets = |budgets: Value| json!({ "settings": { "budgets": budgets } });
        for (wrong, place) in [
            (json!({ "cost_per_day": -1 }), "/settings/budgets/cost_per_day"),
            (json!({ "tokens_per_day": 1.5 }), "/settings/budgets/tokens_per_day"),
            (json!({ "cost_per_year": 1 }), "/settings/budgets/cost_per_year"),
            (json!(7), "/settings/budgets"),
        ] {
            let refused = admin.patch("/api/tenants/current", &budgets(wrong)).await;
            assert_eq!(refused.is("422 INVALID_PARAMS").text_at("/errors/0/path"), place);
        }
        // One request reserves at most 100 tokens out and some for what is asked; it takes 19.
        let change = budgets(json!({ "tokens_per_day": 250 }));
        admin.patch("/api/tenants/current", &change).await.is("200 active");
        models.says(ModelFormat::OpenAi, "first");
        admin.run("summary", json!({ "text": "x" })).await.is("200 success");
        models.says(ModelFormat::OpenAi, "second");
        admin.run("summary", json!({ "text": "x" })).await.is("200 success");
        let change = budgets(json!({ "tokens_per_day": 100 }));
        admin.patch("/api/tenants/current", &change).await.is("200 active");
        let over = admin.run("summary", json!({ "text": "x" })).await;
        let text = failed_with(&over, "BUDGET_EXCEEDED");
        assert!(text.contains("`tokens_per_day`") && text.contains("was not sent"), "{text}");
        for name in ["cost_per_day", "cost_per_month"] {
            let change = budgets(json!({ name: 0.0001 }));
            admin.patch("/api/tenants/current", &change).await.is("200 active");
            let text = failed_with(&admin.run("summary", json!({ "text": "x" })).await, "BUDGET_EXCEEDED");
            assert!(text.contains(name), "{text}");
        }
        assert_eq!(models.requests().len(), 2, "nothing was sent over the budget");
        // The budget of one tenant is none of another's business.
        let other = world.client(&server, "globex", Role::Admin).await;
        make(&other, &prompt("summary", &json!({}))).await;
        models.says(ModelFormat::OpenAi, "theirs");
        other.run("summary", json!({ "text": "x" })).await.is("200 success");
    }

    async fn parallel_runs_never_overspend(db: TestDb) {
        let models = ModelServer::start().await;
        let world = World::on(db).await;
        let server = server_with(&world, &models, ModelFormat::OpenAi, &[("TOOLWRIGHT_MODELS__DEFAULT__MAX_OUTPUT_TOKENS", "100")]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &prompt("summary", &json!({}))).await;
        let change = json!({ "settings": { "budgets": { "tokens_per_day": 400 } } });
        admin.patch("/api/tenants/current", &change).await.is("200 active");
        // Every request holds its reservation open: about 150 tokens, so two of them fit.
        for _ in 0..6 {
            models.falls_silent_after(ModelFormat::OpenAi, &[]);
        }
        let calls: Vec<_> =
            (0..6).map(|_| calling(&admin, "summary", json!({ "input": { "text": "x" }, "wait_ms": 0 }))).collect();
        let mut runs = Vec::new();
        for call in calls {
            runs.push(call.await.unwrap().text_at("/run_id"));
        }
        models.upstream.connected(2).await;
        eventually("four were refused", PATIENCE, async || {
            let found = admin.get("/api/runs?tool=summary&error_code=BUDGET_EXCEEDED").await.json();
            found["items"].as_array().unwrap().len() == 4
        })
        .await;
        assert_eq!(models.requests().len(), 2);
        for run in runs {
            cancel(&admin, &run).await;
        }
        models.upstream.hung_up(2).await;
    }

    async fn heavy_prompt_that_was_cut_off_is_asked_once_and_stays_counted(db: TestDb) {
        let models = ModelServer::start().await;
        let world = World::on(db).await;
        let limited = [("TOOLWRIGHT_MODELS__DEFAULT__MAX_OUTPUT_TOKENS", "100")];
        let mut server = server_with(&world, &models, ModelFormat::OpenAi, &limited);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &prompt("summary", &json!({}))).await;
        // There is room for one reservation, and not for two.
        let change = json!({ "settings": { "budgets": { "tokens_per_day": 250 } } });
        admin.patch("/api/tenants/current", &change).await.is("200 active");
        models.falls_silent_after(ModelFormat::OpenAi, &["half an "]);
        let call = calling(&admin, "summary", json!({ "input": { "text": "x" } }));
        let run = first(&admin, "summary", "running").await;
        eventually("the first words are shown", PATIENCE, async || appended(&admin, &run).await == ["half an "]).await;
        server.kill();
        call.abort();

        let server = server_with(&world, &models, ModelFormat::OpenAi, &limited);
        let admin = admin.at(&server);
        // A server of PostgreSQL counts as dead after 15 s; then others look after its runs.
        let is_closed = async || run_of(&admin, &run).await["status"] == "error";
        eventually("the run is closed", 2 * PATIENCE, is_closed).await;
        assert_eq!(run_of(&admin, &run).await["error_code"], "INTERRUPTED");
        assert_eq!(appended(&admin, &run).await, ["half an "]);
        let text = failed_with(&admin.run("summary", json!({ "text": "x" })).await, "BUDGET_EXCEEDED");
        assert!(text.contains("`tokens_per_day`"), "{text}");
        assert_eq!(models.requests().len(), 1, "nothing was asked twice");
    }

    async fn keys_are_found_in_their_order(db: TestDb) {
        let models = ModelServer::start().await;
        let world = World::on(db).await;
        let server = server_with(&world, &models, ModelFormat::Anthropic, &[
            ("TOOLWRIGHT_MODELS__OWN__PROVIDER", "anthropic"), ("TOOLWRIGHT_MODELS__OWN__MODEL", "m-2"),
            ("TOOLWRIGHT_MODELS__OWN__BASE_URL", &models.base_url()), ("TOOLWRIGHT_MODELS__OWN__API_KEY", KEY),
            ("TOOLWRIGHT_MODELS__OWN__SHARED", "false"),
        ]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        make(&admin, &prompt("summary", &json!({}))).await;
        make(&admin, &prompt("own", &json!({ "model": "own" }))).await;
        let available = async |name: &str| {
            let found = admin.get("/api/models").await.is("200").json();
            found["items"].as_array().unwrap().iter().find(|item| item["name"] == name).unwrap()["available"].clone()
        };
        assert_eq!((available("default").await, available("own").await), (json!(true), json!(false)));
        let missing = admin.run("own", json!({ "text": "x" })).await;
        missing.is("409 CREDENTIAL_MISSING");
        assert!(missing.text_at("/detail").contains("`provider_key` `anthropic`"), "{}", missing.text);
        let keys = ["sk-canary-9921-variant", "sk-canary-7730-tenant"];
        let used = async |tool: &str| {
            models.streams(ModelFormat::Anthropic, &["ok"]);
            admin.run(tool, json!({ "text": "x" })).await.is("200 success");
            let requests = models.requests();
            requests.last().unwrap().header("x-api-key").unwrap().to_owned()
        };
        assert_eq!(used("summary").await, KEY);
        let credential = async |label: &str, variant: Option<&str>, key: &str| {
            let body = json!({ "label": label, "type": "api_key", "provider_key": "anthropic", "provider_variant": variant,
                "payload": { "api_key": key } });
            admin.post("/api/credentials", &body).await.is("201");
        };
        credential("of-own", Some("own"), keys[0]).await;
        assert_eq!((available("own").await, used("own").await), (json!(true), keys[0].to_owned()));
        assert_eq!(used("summary").await, KEY, "a credential for one model is not for another");
        credential("of-all", None, keys[1]).await;
        assert_eq!((used("summary").await, used("own").await), (keys[1].to_owned(), keys[0].to_owned()));
    }
}

/// One database is enough for what does not touch it.
async fn world() -> World {
    World::on(TestDb::new(tw_test::Kind::Sqlite).await).await
}

#[tokio::test]
async fn every_provider_answers_streamed_and_plain() {
    let world = world().await;
    for format in ModelFormat::ALL {
        let models = ModelServer::start().await;
        let server = server_with(&world, &models, format, &[]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let slug = format!("ask-{}", format.provider());
        make(&admin, &prompt(&slug, &json!({}))).await;
        models.streams(format, &["Hé", "llo"]);
        models.says(format, "plain");
        for wanted in ["Héllo", "plain"] {
            let told = admin.run(&slug, json!({ "text": "x" })).await;
            assert_eq!(told.is("200 success").json()["output"], wanted, "{format:?}");
            assert_eq!(told.json()["usage"]["input_tokens"], 12, "{format:?}: {}", told.text);
            assert_eq!(told.json()["usage"]["cached_tokens"], 4);
            assert_eq!(told.json()["usage"]["output_tokens"], 7);
            assert_eq!(appended(&admin, &told.text_at("/run_id")).await.concat(), wanted);
        }
        assert!(models.requests()[0].header(format.key_header()).unwrap().ends_with(KEY));
    }
}

#[tokio::test]
async fn canary_of_the_key_is_in_no_record() {
    let world = world().await;
    let models = ModelServer::start().await;
    let server = server_with(&world, &models, ModelFormat::OpenAi, &[]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &prompt("summary", &json!({}))).await;
    models.streams(ModelFormat::OpenAi, &["it is ", &KEY[..7], &KEY[7..], "!"]);
    let told = admin.run("summary", json!({ "text": "x" })).await;
    assert_eq!(told.is("200 success").json()["output"], "it is ***!");
    assert_eq!(appended(&admin, &told.text_at("/run_id")).await.concat(), "it is ***!");
    models.answers("401 Unauthorized", "text/plain", &format!("no such key: Bearer {KEY}"));
    let text = failed_with(&admin.run("summary", json!({ "text": "x" })).await, "UPSTREAM_ERROR");
    assert_eq!(text, "HTTP 401: no such key: Bearer *** (check the key of `models.default`)");
    let logged = server.log();
    drop(server);
    assert!(!holds(&everything_stored(&world.db).await, KEY));
    assert!(!logged.contains(KEY));
}

#[tokio::test]
async fn what_goes_wrong_is_told_and_tried_again_where_that_may_help() {
    let world = world().await;
    let models = ModelServer::start().await;
    let format = ModelFormat::OpenAi;
    let server = server_with(&world, &models, format, &[]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &prompt("summary", &json!({}))).await;
    let ask = async || admin.run("summary", json!({ "text": "x" })).await;

    // What passes by itself is tried again, each try with a number of its own.
    models.is_busy("0");
    models.breaks_off_after(format, &[]);
    models.streams(format, &["third time"]);
    let told = ask().await;
    assert_eq!(told.is("200 success").json()["output"], "third time");
    let passes: Vec<_> =
        models.requests().iter().map(|asked| asked.header("x-toolwright-pass").unwrap().to_owned()).collect();
    let run = told.text_at("/run_id");
    assert_eq!(passes, [1, 2, 3].map(|attempt| format!("{run}/1/{attempt}")));

    // A wait beyond the deadline is not waited for.
    models.is_busy("999999999");
    let before = models.requests().len();
    let text = failed_with(&ask().await, "UPSTREAM_ERROR");
    assert_eq!(text, "HTTP 429: slow down");
    assert_eq!(models.requests().len(), before + 1);

    // What was shown is not asked again.
    models.breaks_off_after(format, &["half an ans"]);
    let broken = ask().await;
    let text = failed_with(&broken, "UPSTREAM_ERROR");
    assert!(text.contains("broke off"), "{text}");
    assert_eq!(appended(&admin, &broken.text_at("/run_id")).await.concat(), "half an ans");
    assert_eq!(broken.json()["usage"]["estimated"], true);
    assert_eq!(models.requests().len(), before + 2);

    let faults: [(&dyn Fn(), &str); 6] = [
        (&|| models.streams_garbage(), "is not the expected JSON"),
        (&|| models.answers("200 OK", "application/json", "{\"choices\": 7}"), "not the expected JSON"),
        (&|| models.answers("200 OK", "text/html", "<html>"), "content type `text/html`"),
        (&|| models.says(format, &"x".repeat(5 << 20)), "over 4194304 bytes of text"),
        (&|| models.calls_a_tool(format), "no tools were offered"),
        (
            &|| {
                models.answers(
                    "400 Bad Request",
                    "application/json",
                    r#"{"error":{"message":"no such model"}}"#,
                )
            },
            "HTTP 400: no such model",
        ),
    ];
    for (script, wanted) in faults {
        script();
        let text = failed_with(&ask().await, "UPSTREAM_ERROR");
        assert!(text.contains(wanted), "{text}");
    }
    assert_eq!(models.requests().len(), before + 2 + 6, "none of them was tried again");
}

#[tokio::test]
async fn model_behind_another_is_asked_when_that_is_away() {
    let world = world().await;
    let (models, spare) = (ModelServer::start().await, ModelServer::start().await);
    let allowed = format!("{},{}", models.upstream.host_and_port(), spare.upstream.host_and_port());
    let server = server_with(
        &world,
        &models,
        ModelFormat::OpenAi,
        &[
            ("TOOLWRIGHT_EGRESS__ALLOW", &allowed),
            ("TOOLWRIGHT_MODELS__DEFAULT__FALLBACK", "cheap"),
            ("TOOLWRIGHT_MODELS__CHEAP__PROVIDER", "gemini"),
            ("TOOLWRIGHT_MODELS__CHEAP__MODEL", "m-cheap"),
            ("TOOLWRIGHT_MODELS__CHEAP__BASE_URL", &spare.base_url()),
            ("TOOLWRIGHT_MODELS__CHEAP__API_KEY", KEY),
        ],
    );
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &prompt("summary", &json!({}))).await;
    for _ in 0..3 {
        models.answers("503 Service Unavailable", "text/plain", "away");
    }
    spare.streams(ModelFormat::Gemini, &["spare"]);
    let told = admin.run("summary", json!({ "text": "x" })).await;
    assert_eq!(told.is("200 success").json()["output"], "spare");
    assert_eq!(told.json()["usage"]["model"], "m-cheap");
    assert_eq!(told.json()["usage"]["cost"], Value::Null, "the model has no price");
    assert_eq!(spare.requests()[0].path, "/v1/models/m-cheap:streamGenerateContent?alt=sse");
}

#[tokio::test]
async fn json_is_held_against_the_schema_and_repaired_once() {
    let world = world().await;
    let models = ModelServer::start().await;
    let format = ModelFormat::OpenAi;
    let server = server_with(&world, &models, format, &[]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    make(&admin, &with(prompt("count", &json!({ "output": "json" })), &json!({ "output_schema": schema })))
        .await;
    models.streams(format, &["```json\n{\"n\":", "\"three\"}\n```"]);
    models.streams(format, &["{\"n\": 3}"]);
    let told = admin.run("count", json!({ "text": "x" })).await;
    assert_eq!(told.is("200 success").json()["output"], json!({ "n": 3 }));
    assert_eq!(told.json()["usage"]["input_tokens"], 24, "both requests count");
    assert_eq!(appended(&admin, &told.text_at("/run_id")).await, [""; 0], "JSON is shown as a whole");
    let asked = models.asked(1);
    let said = asked["messages"].as_array().unwrap();
    assert!(said[0]["content"].as_str().unwrap().contains("\"required\":[\"n\"]"), "{said:?}");
    assert!(said[3]["content"].as_str().unwrap().contains("`/n` must be an integer"), "{said:?}");
    assert!(models.requests()[1].header("x-toolwright-pass").unwrap().ends_with("/2/1"));
    models.says(format, "I cannot");
    models.says(format, "Still not");
    let text = failed_with(&admin.run("count", json!({ "text": "x" })).await, "OUTPUT_INVALID");
    assert!(text.contains("it is not JSON"), "{text}");
    assert_eq!(models.requests().len(), 4);
}

#[tokio::test]
async fn missing_model_names_its_settings() {
    let world = world().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &prompt("summary", &json!({ "model": "fast" }))).await;
    let told = admin.run("summary", json!({ "text": "x" })).await;
    told.is("409 MODEL_NOT_CONFIGURED");
    let text = told.text_at("/detail");
    assert!(text.contains("`models.fast`") && text.contains("TOOLWRIGHT_MODELS__FAST__MODEL"), "{text}");
    assert_eq!(admin.get("/api/models").await.is("200").json()["items"], json!([]));
    world
        .client(&server, "acme", Role::Viewer)
        .await
        .run("summary", json!({ "text": "x" }))
        .await
        .is("403 NOT_PERMITTED");
}

#[tokio::test]
async fn address_of_a_model_is_guarded() {
    let world = world().await;
    let models = ModelServer::start().await;
    let server =
        server_with(&world, &models, ModelFormat::OpenAi, &[("TOOLWRIGHT_EGRESS__ALLOW", "127.0.0.1:1")]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &prompt("summary", &json!({}))).await;
    let text = failed_with(&admin.run("summary", json!({ "text": "x" })).await, "EGRESS_DENIED");
    assert!(text.contains("`egress.allow`"), "{text}");
    let body = json!({ "label": "mine", "type": "custom", "provider_key": "openai",
        "payload": { "api_key": "k-1234", "endpoint": "http://169.254.169.254/v1" } });
    admin.post("/api/credentials", &body).await.is("201");
    failed_with(&admin.run("summary", json!({ "text": "x" })).await, "EGRESS_DENIED");
    assert_eq!(models.upstream.connections(), 0);
}

#[tokio::test]
async fn run_that_is_cancelled_or_late_hangs_up() {
    let world = world().await;
    let models = ModelServer::start().await;
    let server = server_with(&world, &models, ModelFormat::OpenAi, &[]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    make(&admin, &with(prompt("slow", &json!({})), &json!({ "timeout_ms": 400 }))).await;
    make(&admin, &prompt("summary", &json!({}))).await;
    models.falls_silent_after(ModelFormat::OpenAi, &["wait"]);
    let call = calling(&admin, "summary", json!({ "input": { "text": "x" } }));
    let run = first(&admin, "summary", "running").await;
    models.upstream.connected(1).await;
    cancel(&admin, &run).await.is("200 cancelled");
    assert_eq!(call.await.unwrap().text_at("/status"), "cancelled");
    models.upstream.hung_up(1).await;
    models.falls_silent_after(ModelFormat::OpenAi, &["wait"]);
    let late = admin.run("slow", json!({ "text": "x" })).await;
    late.is("200 timed_out");
    assert_eq!(late.text_at("/error"), "Tool timed out after 400ms");
    assert_eq!(appended(&admin, &late.text_at("/run_id")).await, ["wait"]);
    assert_eq!(late.json()["usage"]["estimated"], true);
    models.upstream.hung_up(2).await;
    once(&admin, &run, "cancelled").await;
}

#[tokio::test]
async fn test_of_a_prompt_is_streamed() {
    let world = world().await;
    let models = ModelServer::start().await;
    let format = ModelFormat::Anthropic;
    let server = server_with(&world, &models, format, &[]);
    let admin = world.client(&server, "acme", Role::Admin).await;
    let mut definition = prompt("draft", &json!({}));
    definition.as_object_mut().unwrap().remove("publish");
    models.streams(format, &["one ", "two"]);
    let body = json!({ "input": { "text": "x" }, "definition": definition });
    let told = admin.post("/api/tools/draft/test/stream", &body).await;
    assert_eq!(told.status.as_u16(), 200, "{}", told.text);
    assert!(told.headers["content-type"].to_str().unwrap().starts_with("text/event-stream"));
    let events: Vec<Value> = told
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("tool.started", "tool.completed"));
    let text: String = events.iter().filter_map(|event| event["payload"]["text"].as_str()).collect();
    assert_eq!(text, "one two");
    assert_eq!(events.last().unwrap()["payload"]["output"], "one two");
    assert_eq!(run_of(&admin, events[0]["run_id"].as_str().unwrap()).await["mode"], "debug");
    let member = world.client(&server, "acme", Role::Member).await;
    member.post("/api/tools/draft/test/stream", &body).await.is("403 NOT_PERMITTED");
    admin.post("/api/tools/nowhere/test/stream", &json!({ "input": {} })).await.is("404 TOOL_NOT_FOUND");
}

#[tokio::test]
async fn faults_of_a_prompt_are_told_when_it_is_saved() {
    let world = world().await;
    let server = world.server();
    let admin = world.client(&server, "acme", Role::Admin).await;
    let faults = async |rest: Value| {
        let told = admin.post("/api/tools", &prompt("broken", &rest)).await;
        told.is("422 INVALID_PARAMS").json()["errors"].clone()
    };
    let told = faults(json!({ "mode": "agent", "tools": ["x"] })).await;
    assert_eq!(told[0]["path"], "/execution_spec/tools");
    assert_eq!(told[1]["path"], "/execution_spec/mode");
    assert_eq!(
        told[1]["message"],
        "must be `direct`: `agent` needs agents, which this version does not have"
    );
    let told = faults(json!({ "prompt_template": "{{ inptu.text }}" })).await;
    assert_eq!(told[0]["path"], "/execution_spec/prompt_template");
    // A field that the schema cannot have is warned of, and not published.
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "additionalProperties": false });
    let typo = with(
        prompt("typo", &json!({ "prompt_template": "{{ input.txet }}" })),
        &json!({ "input_schema": schema }),
    );
    admin.post("/api/tools", &typo).await.is("422 INVALID_PARAMS");
    let saved = admin.post("/api/tools", &with(typo, &json!({ "publish": false }))).await;
    assert_eq!(saved.text_at("/warnings/0/path"), "/execution_spec/prompt_template");
    assert_eq!(saved.text_at("/implementation_type"), "prompt");
}
