//! What calls give, and what ends them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use toolwright_sdk::ToolProgress;
use tw_mcp_client::{CallOptions, Error};
use tw_test::{Generation, McpServer, Quirk};

use crate::{House, far, soon};

#[tokio::test]
async fn content_that_is_no_text_comes_as_it_is() {
    let server = McpServer::start(Generation::Present).await;
    let called = House::of(&server).call("picture", json!({})).await.unwrap();
    assert_eq!(called.text(), "a dot");
    let others: Vec<_> = called.others().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(others, ["image", "resource_link"]);
}

#[tokio::test]
async fn tool_that_failed_is_a_result_and_an_error_of_the_protocol_is_none() {
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    let failed = house.call("fail", json!({})).await.unwrap();
    assert_eq!((failed.is_error, failed.text().as_str()), (true, "the cellar is locked"));
    let error = house.call("nothing", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::Protocol { code: -32602, .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("Unknown tool: nothing") && said.contains("tools/call"), "{said}");
    assert!(said.contains(&server.upstream.host_and_port()) && !said.contains("/mcp`"), "{said}");
}

#[tokio::test]
async fn progress_is_handed_on_and_a_ping_is_answered() {
    for generation in [Generation::Present, Generation::Earlier("2025-11-25")] {
        let server = McpServer::start(generation).await;
        let house = House::of(&server);
        let (sender, mut reports) = mpsc::channel(8);
        let cancel = CancellationToken::new();
        let options =
            CallOptions { progress: Some(sender), cancel: cancel.clone(), ..CallOptions::until(far()) };
        let watching = async {
            let first = reports.recv().await.unwrap();
            assert_eq!(
                first,
                ToolProgress { progress: 1.0, total: Some(3.0), message: Some("digging".to_owned()) }
            );
            assert_eq!(reports.recv().await.unwrap().progress, 2.0);
            cancel.cancel();
        };
        let (called, ()) = tokio::join!(house.call_with("slow", json!({}), options), watching);
        assert!(matches!(called.unwrap_err(), Error::Cancelled { .. }));
        let pongs = server.upstream.requests().iter().filter(|asked| is_pong(&asked.body)).count();
        assert_eq!(
            pongs,
            usize::from(generation != Generation::Present),
            "the present revision has no pings"
        );
    }
}

fn is_pong(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body)
        .is_ok_and(|message| message["id"] == "p-1" && message["result"].is_object())
}

#[tokio::test]
async fn cancelled_call_is_told_to_the_server() {
    // The present revision: the connection closes.
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    let options = CallOptions { deadline: soon(), ..CallOptions::until(far()) };
    let error = house.call_with("slow", json!({}), options).await.unwrap_err();
    assert!(matches!(error, Error::Late { .. }), "{error}");
    server.upstream.hung_up(1).await;
    assert!(server.asked("notifications/cancelled").is_empty());

    // An earlier one: by a message, also when the future of the call is dropped.
    for is_dropped in [false, true] {
        let server = McpServer::start(Generation::Earlier("2025-11-25")).await;
        let house = House::of(&server);
        let (sender, mut reports) = mpsc::channel(8);
        let deadline = if is_dropped { far() } else { Instant::now() + Duration::from_millis(900) };
        let options = CallOptions { progress: Some(sender), ..CallOptions::until(deadline) };
        {
            let call = house.call_with("slow", json!({}), options);
            tokio::pin!(call);
            tokio::select! {
                called = &mut call => panic!("{called:?}"),
                _ = reports.recv() => {}
            }
            if !is_dropped {
                assert!(matches!(call.await.unwrap_err(), Error::Late { .. }));
            }
        }
        let called = server.asked("tools/call").remove(0);
        let cancelled = loop {
            match server.asked("notifications/cancelled").pop() {
                Some(cancelled) => break cancelled,
                None => tokio::task::yield_now().await,
            }
        };
        assert_eq!(cancelled["params"]["requestId"], called["id"]);
    }
}

#[tokio::test]
async fn answer_that_is_none_is_told_and_the_call_is_not_repeated() {
    let answers = [
        (Quirk::WrongId, "it answers another request"),
        (Quirk::CutStream, "the stream ended before the answer"),
        (Quirk::Answer { status: "200 OK", kind: "application/json", body: "{".to_owned() }, "it is no JSON"),
        (
            Quirk::Answer { status: "200 OK", kind: "text/html", body: "<p>hi".to_owned() },
            "its type is `text/html`",
        ),
        (Quirk::Answer { status: "202 Accepted", kind: "text/plain", body: String::new() }, "without a body"),
        (Quirk::Result(json!({ "content": "text" })), "`content` must be a list"),
        (Quirk::Result(json!({})), "neither `content` nor `structuredContent`"),
        (
            Quirk::Answer { status: "500 Oops", kind: "text/plain", body: "no disk".to_owned() },
            "HTTP 500: no disk",
        ),
        (Quirk::Redirect("http://169.254.169.254/".to_owned()), "answered HTTP 307"),
        (Quirk::Reset, "broke before the answer was complete"),
    ];
    for (quirk, why) in answers {
        for generation in [Generation::Present, Generation::Earlier("2025-11-25")] {
            let server = McpServer::start(generation).await;
            let house = House::of(&server);
            house.call("add", json!({})).await.unwrap();
            server.set(quirk.clone());
            let error = house.call("add", json!({})).await.unwrap_err();
            assert!(error.to_string().contains(why), "{quirk:?}: {error}");
            assert!(error.effect_possible() && !error.is_repeatable(), "{error:?}");
            assert_eq!(server.asked("tools/call").len(), 2, "{quirk:?}");
        }
    }
}

#[tokio::test]
async fn server_that_asks_back_is_told_apart() {
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    server.set(Quirk::Result(json!({ "resultType": "input_required", "inputRequests": {} })));
    let error = house.call("add", json!({})).await.unwrap_err();
    assert!(matches!(error, Error::InputRequired { .. }), "{error}");
    server.set(Quirk::Result(json!({ "resultType": "task" })));
    let error = house.call("add", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("`resultType` is unknown"), "{error}");
}

#[tokio::test]
async fn silence_and_dripping_end_at_the_deadline() {
    for quirk in [Quirk::Silence, Quirk::Drip] {
        let server = McpServer::start(Generation::Present).await;
        let house = House::of(&server);
        house.call("add", json!({})).await.unwrap();
        server.set(quirk);
        let began = Instant::now();
        let error = house.call_with("add", json!({}), CallOptions::until(soon())).await.unwrap_err();
        assert!(matches!(error, Error::Late { .. }), "{error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        server.upstream.hung_up(1).await;
    }
    // Also where it is silent from the start, and nobody knows its generation.
    let server = McpServer::start(Generation::Present).await;
    server.set_from_the_start(Quirk::Silence);
    let error = House::of(&server).call_with("add", json!({}), CallOptions::until(soon())).await.unwrap_err();
    assert!(matches!(error, Error::Late { .. }), "{error}");
}

#[tokio::test]
async fn server_that_wants_to_know_who_calls_is_told_apart_with_what_it_asks_for() {
    let challenge =
        "Bearer resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource\"";
    let server = McpServer::start(Generation::Present).await;
    server.set_from_the_start(Quirk::Unauthorized(challenge));
    let house = House::of(&server);
    for error in [house.list().await.unwrap_err(), house.call("add", json!({})).await.unwrap_err()] {
        let Error::Unauthorized { challenge: told, .. } = &error else { panic!("{error}") };
        assert_eq!(told.as_deref(), Some(challenge));
        assert!(!error.effect_possible());
    }
    assert!(
        server.asked("initialize").is_empty(),
        "whoever is not let in learns nothing by asking otherwise"
    );
}

#[tokio::test]
async fn what_was_not_reached_may_be_repeated() {
    let server = McpServer::start(Generation::Present).await;
    let house = House::of(&server);
    house.call("add", json!({})).await.unwrap();
    drop(server);
    let error = loop {
        // The connection that was kept may break once.
        let error = house.call("add", json!({})).await.unwrap_err();
        if !error.effect_possible() {
            break error;
        }
    };
    assert!(error.is_repeatable() && error.is_well() == Some(false), "{error}");
}
