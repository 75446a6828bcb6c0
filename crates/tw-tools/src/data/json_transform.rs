//! `json_transform`: what a jq filter makes of a value.
//!
//! The filter runs in a worker process with limits of its own. Examples are in
//! `docs/tools/json_transform.md`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "data": { "orders": [{ "id": 1, "total": 40 }, { "id": 2, "total": 2 }] },
    "expression": ".orders | map(.total) | add",
}))]
#[schemars(example = serde_json::json!({ "data": ["b", "a"], "expression": ".[]" }))]
struct Input {
    /// The value to transform. Any JSON.
    #[schemars(title = "Data")]
    #[schemars(extend("type" = ["object", "array", "string", "number", "boolean", "null"]))]
    data: Value,
    /// A jq filter, such as `.orders | map(.total) | add`. It may give one result, several, or none.
    #[schemars(title = "Expression", length(min = 1, max = 16_384), example = &".orders[] | .id")]
    expression: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The first result; null when there is none.
    #[schemars(title = "Result")]
    result: Value,
    /// All results, in order.
    #[schemars(title = "Results")]
    results: Vec<Value>,
}

/// Transforms JSON with a jq filter: picks fields, filters and sorts lists, counts, adds up, groups,
/// renames, builds another shape.
///
/// Use it whenever data is at hand and has to be cut down or brought into another form, instead of
/// rewriting it by hand. It reads nothing but `data`: fetch with `http_request` first. For dates and
/// times use `datetime_utils`.
#[tool(
    slug = "json_transform",
    name = "Transform JSON",
    category = "data",
    icon = "workflow",
    version = "1.0.0",
    level = "read",
    timeout_ms = 10_000,
    tags = ["json", "jq", "filter", "map"],
    form = "json_transform.form.json",
    texts = [("de", "json_transform.de.json")],
    open_world = false,
    builtin,
    callable
)]
async fn json_transform(cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let results = cx.jq(&input.expression, &input.data).await?;
    let summary = match results.len() {
        0 => "no result".to_owned(),
        1 => "1 result".to_owned(),
        count => format!("{count} results"),
    };
    let result = results.first().cloned().unwrap_or(Value::Null);
    Ok(Reply::new(Output { result, results }, summary))
}
