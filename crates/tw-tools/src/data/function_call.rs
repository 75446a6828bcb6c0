//! `function_call`: runs a function of the program by its name.
//!
//! Which functions there are is said in `docs/tools/function_call.md`, and by the tool itself when it
//! is asked for one that is not there.

use std::{collections::BTreeSet, sync::LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, registered, tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "function_name": "datetime_utils",
    "arguments": { "operation": "diff", "value": "2024-02-28", "other": "2024-03-01" },
}))]
struct Input {
    /// The function to run, such as `json_transform`.
    #[schemars(title = "Function", length(min = 1, max = 128), example = &"json_transform")]
    function_name: String,
    /// Its input, as it takes it when it is called as a tool.
    #[serde(default)]
    #[schemars(title = "Arguments")]
    arguments: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    #[schemars(title = "Function")]
    function_name: String,
    /// What the function gave back.
    #[schemars(title = "Result")]
    result: Value,
}

/// Runs one of the program's own functions by name: calculators, date and time, jq.
///
/// Use it where the name of the function is known only when the call is made. A function that you
/// know beforehand is called directly, as the tool of that name. It does not run tools that people made.
// Only what is pure or reads a clock is `callable`, so this one reads as well.
#[tool(
    slug = "function_call",
    name = "Call a function",
    category = "data",
    icon = "code",
    version = "1.0.0",
    level = "read",
    timeout_ms = 10_000,
    tags = ["function", "call"],
    form = "function_call.form.json",
    texts = [("de", "function_call.de.json")],
    open_world = false,
    builtin,
    calls
)]
async fn function_call(cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    find(&input.function_name)?;
    let given = cx.call_tool("function", &input.function_name, &Value::Object(input.arguments)).await?;
    let summary = format!("{}: {}", input.function_name, given.summary);
    let reply = Reply::new(Output { function_name: input.function_name, result: given.data }, summary);
    Ok(match given.markdown {
        Some(markdown) => reply.markdown(markdown),
        None => reply,
    })
}

/// The names of what may be called. Defining a tool builds its schemas, which is not for every call.
static CALLABLE: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let callable = registered().unwrap_or_default().into_iter().filter(|tool| tool.callable);
    callable.map(|tool| (tool.define)().slug.to_string()).collect()
});

fn find(name: &str) -> Result<(), ToolFailure> {
    if CALLABLE.contains(name) {
        return Ok(());
    }
    let known: Vec<_> = CALLABLE.iter().map(String::as_str).collect();
    Err(ToolFailure::invalid(format!("there is no function '{name}'; there are {}", known.join(", "))))
}
