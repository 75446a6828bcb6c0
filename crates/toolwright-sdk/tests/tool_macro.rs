//! `#[tool]` as an author meets it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_sdk::{
    Code, CodeTool, Level, Policy, Reply, Submission, ToolContext, ToolFailure, conformance, registered, tool,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The text to count.
    #[schemars(title = "Text", length(max = 100))]
    text: String,
    /// How often
    /// to count it.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 9))]
    times: u32,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    words: usize,
    /// Always written, so it is always there for a reader.
    #[serde(default)]
    lines: usize,
}

/// Counts words
/// and lines.
///
/// For a file, read it first.
#[tool(
    slug = "text.wordCount",
    name = "Word count",
    category = "text",
    icon = "text",
    version = "1.2.3",
    level = "draft",
    policy = "always_ask",
    required_permission = "tools.tenant.run",
    tenants = ["ims"],
    opt_in,
    sections = [("words", "Words", "summary"), ("lines", "Lines", "chart", r#"{"x": "line"}"#)],
    collaborative,
    aggregate = most_words,
    visible,
    is_async,
    timeout_ms = 5_000,
    pure,
    concurrency_group = "cpu",
    max_concurrency = 2,
    tags = ["words", "lines"]
)]
async fn word_count(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    if input.text.is_empty() {
        return Err(ToolFailure::new("there is nothing to count"));
    }
    let times = input.times as usize;
    let output = Output {
        words: times * input.text.split_whitespace().count(),
        lines: times * input.text.lines().count(),
    };
    let summary = format!("{} words", output.words);
    Ok(Reply::new(output, summary).markdown("some words"))
}

fn most_words(submissions: Vec<Submission>) -> Result<Value, ToolFailure> {
    let most = submissions.iter().filter_map(|submission| submission.output["words"].as_u64()).max();
    Ok(json!({ "words": most }))
}

type Answered<T> = Result<T, ToolFailure>;

/// Says for whom it works.
#[tool(
    slug = "Echo",
    name = "Echo",
    category = "test",
    icon = "megaphone",
    version = "0.1.0",
    level = "read",
    input_less
)]
async fn echo(cx: ToolContext) -> Answered<Whom> {
    Ok(Whom { tenant: cx.tenant_slug().to_owned() })
}

#[derive(Debug, Serialize, JsonSchema)]
struct Whom {
    tenant: String,
}

fn tools() -> [&'static CodeTool; 2] {
    registered().expect("no slug is claimed twice").try_into().expect("there are two tools")
}

#[test]
fn declaration_becomes_a_definition() {
    let [_, tool] = tools();
    let definition = (tool.define)();
    assert_eq!(definition.slug.as_str(), "text.wordCount");
    assert_eq!(definition.id, tw_model::ToolId::of_code("text.wordcount"));
    assert_eq!(definition.description, "Counts words and lines.\n\nFor a file, read it first.");
    assert_eq!((definition.level, definition.policy), (Some(Level::Draft), Some(Policy::AlwaysAsk)));
    assert_eq!(definition.required_permission.as_ref().unwrap().as_str(), "tools.tenant.run");
    assert_eq!(definition.version.to_string(), "1.2.3");
    assert_eq!((definition.enabled, definition.is_active), (None, true));
    assert_eq!(definition.in_catalogue("ims").map_err(|why| why.as_str()), Err("not_switched_on"));
    assert_eq!(definition.in_catalogue("demo").map_err(|why| why.as_str()), Err("not_for_this_tenant"));
    assert_eq!((definition.visible, definition.is_async, definition.timeout_ms), (Some(true), true, 5_000));
    assert!(definition.execution.is_pure && definition.collaborative);
    assert_eq!(definition.execution.concurrency_group, "cpu");
    assert_eq!(definition.execution.max_concurrency, Some(2));
    assert_eq!(definition.tags, ["words", "lines"]);
    let chart = serde_json::to_value(&definition.output_sections[1]).unwrap();
    assert_eq!(
        chart,
        json!({ "key": "lines", "label": "Lines", "type": "chart", "config": { "x": "line" } })
    );
    assert!(tool.location.to_string().contains("tool_macro.rs:"), "{}", tool.location);
    assert_eq!(conformance::problems(&definition, tool.input_less), [""; 0]);
}

#[test]
fn schemas_come_from_the_types_in_the_order_they_are_written() {
    let [_, tool] = tools();
    let definition = (tool.define)();
    let expected = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "text": { "title": "Text", "description": "The text to count.", "type": "string", "maxLength": 100 },
            "times": {
                "description": "How often to count it.", "type": "integer",
                "minimum": 1, "maximum": 9, "default": 1,
            },
        },
        "additionalProperties": false,
        "required": ["text"],
    });
    assert_eq!(*definition.input_schema, expected);
    let output = definition.output_schema.as_ref().unwrap();
    assert_eq!(output["required"], json!(["words", "lines"]));
    assert_eq!(output.get("title"), None);
}

#[tokio::test]
async fn tool_runs_and_answers_in_the_one_shape() {
    let [_, tool] = tools();
    let result = (tool.run)(ToolContext::for_test(), json!({ "text": "one two" })).await.unwrap();
    assert_eq!(result.data, json!({ "words": 2, "lines": 1 }));
    assert_eq!((result.summary.as_str(), result.markdown.as_deref()), ("2 words", Some("some words")));
    let submission = Submission { input: json!({}), output: result.data };
    assert_eq!(tool.aggregate.unwrap()(vec![submission]), Ok(json!({ "words": 2 })));
}

#[tokio::test]
async fn failure_of_the_function_is_passed_on() {
    let [_, tool] = tools();
    let failure = (tool.run)(ToolContext::for_test(), json!({ "text": "" })).await.unwrap_err();
    assert_eq!(failure, ToolFailure::new("there is nothing to count"));
}

#[tokio::test]
async fn input_that_does_not_fit_the_type_is_invalid_and_never_reaches_the_function() {
    let [echo, tool] = tools();
    let cx = ToolContext::for_test();
    let failure = (tool.run)(cx.clone(), json!({ "text": "a", "txet": 1 })).await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    let message = "text.wordCount: unknown field `txet`, expected `text` or `times`";
    assert_eq!(failure.message, message);
    assert_eq!((echo.run)(cx, json!({ "a": 1 })).await.unwrap_err().code, Code::InvalidParams);
}

#[tokio::test]
async fn input_less_tool_takes_an_empty_object_and_gets_a_summary() {
    let [echo, _] = tools();
    let definition = (echo.define)();
    assert!(echo.input_less);
    assert_eq!(conformance::problems(&definition, true), [""; 0]);
    let result = (echo.run)(ToolContext::for_test(), json!({})).await.unwrap();
    assert_eq!(result.data, json!({ "tenant": "test" }));
    assert_eq!(result.summary, "Echo: done");
}
