//! `json_transform` and `function_call`.

use serde_json::json;
use toolwright_sdk::{Code, Level};

use crate::{house::Hut, run, tool};

#[tokio::test]
async fn filter_gives_its_first_result_and_all_of_them() {
    let transform = async |data, expression| {
        let input = json!({ "data": data, "expression": expression });
        run("json_transform", Hut::near(&[]).context(), input).await
    };
    let three = transform(json!([3, 1, 2]), "sort | .[]").await.unwrap();
    assert_eq!(three.data, json!({ "result": 1, "results": [1, 2, 3] }));
    assert_eq!(three.summary, "3 results");

    let none = transform(json!({ "a": 1 }), "empty").await.unwrap();
    assert_eq!(none.data, json!({ "result": null, "results": [] }));
    assert_eq!(none.summary, "no result");

    let nothing = transform(json!(null), ".").await.unwrap();
    assert_eq!(nothing.data, json!({ "result": null, "results": [null] }));

    assert_eq!(transform(json!(1), ".[").await.unwrap_err().code, Code::InvalidParams);
    assert_eq!(transform(json!(1), ".[0]").await.unwrap_err().code, Code::ToolFailed);
}

#[tokio::test]
async fn function_is_run_by_its_name() {
    let input =
        json!({ "function_name": "json_transform", "arguments": { "data": [1, 2], "expression": "add" } });
    let called = run("function_call", Hut::near(&[]).context(), input).await.unwrap();
    assert_eq!(
        called.data,
        json!({ "function_name": "json_transform", "result": { "result": 3, "results": [3] } })
    );
    assert_eq!(called.summary, "json_transform: 1 result");

    let input = json!({ "function_name": "json_transform", "arguments": { "data": [1, 2] } });
    let failure = run("function_call", Hut::near(&[]).context(), input).await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    assert!(failure.message.contains("expression"), "{failure}");
}

#[tokio::test]
async fn unknown_function_is_answered_with_those_there_are() {
    // Tools that reach out, and this one itself, are tools and no functions.
    for name in ["nope", "http_request", "web_fetch", "function_call", "JSON_TRANSFORM", ""] {
        let input = json!({ "function_name": name });
        let failure = run("function_call", Hut::near(&[]).context(), input).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidParams);
        let expected = format!("there is no function '{name}'; there are ai-readiness-assessment, ");
        assert!(failure.message.starts_with(&expected), "{failure}");
        assert!(failure.message.contains("datetime_utils") && failure.message.contains("json_transform"));
    }
}

#[test]
fn whatever_may_be_called_as_a_function_only_reads() {
    tw_tools::link();
    let tools = toolwright_sdk::registered().unwrap();
    for definition in tools.iter().filter(|tool| tool.callable).map(|tool| (tool.define)()) {
        assert_eq!(definition.level, Some(Level::Read), "{}", definition.slug);
    }
    let builtins: Vec<_> =
        tools.iter().filter(|tool| tool.builtin).map(|tool| (tool.define)().slug).collect();
    let expected = [
        "datetime_utils",
        "function_call",
        "http_request",
        "json_transform",
        "mcp_call",
        "web_fetch",
        "web_search",
    ];
    assert_eq!(builtins.iter().map(|slug| slug.as_str()).collect::<Vec<_>>(), expected);
    for slug in ["http_request", "mcp_call"] {
        assert_eq!((tool(slug).define)().level, Some(Level::Write));
    }
}
