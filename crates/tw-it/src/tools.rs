//! Tools that do, visibly, what tests need done.

use std::{io::Write, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    /// What was done.
    done: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// Anything.
    value: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Echoed {
    /// The same.
    value: Value,
}

/// Gives back what it is given.
#[tool(
    slug = "test.echo",
    name = "Echo",
    category = "test",
    icon = "repeat",
    version = "1.0.0",
    level = "read",
    pure
)]
async fn echo(_cx: ToolContext, input: Echo) -> Result<Reply<Echoed>, ToolFailure> {
    Ok(Reply::new(Echoed { value: input.value }, "echoed"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The file that counts the effects: one line each.
    file: String,
    /// The line.
    line: String,
    /// How long to wait before the effect.
    #[serde(default)]
    before_ms: u64,
    /// How long to wait after the effect.
    #[serde(default)]
    after_ms: u64,
}

async fn write_line(input: Line) -> Result<Reply<Done>, ToolFailure> {
    tokio::time::sleep(Duration::from_millis(input.before_ms)).await;
    let written = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&input.file)
        .and_then(|mut file| file.write_all(format!("{}\n", input.line).as_bytes()));
    written.map_err(|error| ToolFailure::new(format!("the line was not written: {error}")))?;
    tokio::time::sleep(Duration::from_millis(input.after_ms)).await;
    Ok(Reply::new(Done { done: input.line }, "wrote a line"))
}

/// Adds a line to a file: an effect that can be counted, also after the server was killed.
#[tool(
    slug = "test.write",
    name = "Write",
    category = "test",
    icon = "pen",
    version = "1.0.0",
    level = "write"
)]
async fn write(_cx: ToolContext, input: Line) -> Result<Reply<Done>, ToolFailure> {
    write_line(input).await
}

/// As `test.write`, and cannot be undone.
#[tool(
    slug = "test.destroy",
    name = "Destroy",
    category = "test",
    icon = "trash",
    version = "1.0.0",
    level = "destructive"
)]
async fn destroy(_cx: ToolContext, input: Line) -> Result<Reply<Done>, ToolFailure> {
    write_line(input).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Slow {
    /// How long.
    ms: u64,
}

/// Takes its time, and does nothing.
#[tool(
    slug = "test.slow",
    name = "Slow",
    category = "test",
    icon = "clock",
    version = "1.0.0",
    level = "read"
)]
async fn slow(cx: ToolContext, input: Slow) -> Result<Reply<Done>, ToolFailure> {
    tokio::time::sleep(Duration::from_millis(input.ms).min(cx.remaining() * 2)).await;
    Ok(Reply::new(Done { done: format!("{} ms", input.ms) }, "waited"))
}

/// Takes half a second at the most.
#[tool(
    slug = "test.impatient",
    name = "Impatient",
    category = "test",
    icon = "timer",
    version = "1.0.0",
    level = "read",
    timeout_ms = 500
)]
async fn impatient(_cx: ToolContext, input: Slow) -> Result<Reply<Done>, ToolFailure> {
    tokio::time::sleep(Duration::from_millis(input.ms)).await;
    Ok(Reply::new(Done { done: format!("{} ms", input.ms) }, "waited"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Words {
    /// What to say.
    message: String,
}

/// Fails with the message it is given.
#[tool(slug = "test.fail", name = "Fail", category = "test", icon = "x", version = "1.0.0", level = "read")]
async fn fail(_cx: ToolContext, input: Words) -> Result<Reply<Done>, ToolFailure> {
    Err(ToolFailure::new(input.message))
}

/// Crashes.
#[tool(
    slug = "test.panic",
    name = "Panic",
    category = "test",
    icon = "bomb",
    version = "1.0.0",
    level = "read"
)]
async fn panic(_cx: ToolContext, input: Words) -> Result<Reply<Done>, ToolFailure> {
    panic!("{}", input.message)
}

/// Says the message word by word while it runs.
#[tool(
    slug = "test.append",
    name = "Append",
    category = "test",
    icon = "text",
    version = "1.0.0",
    level = "draft"
)]
async fn append(cx: ToolContext, input: Words) -> Result<Reply<Done>, ToolFailure> {
    for word in input.message.split(' ') {
        cx.append(word);
        tokio::task::yield_now().await;
    }
    Ok(Reply::new(Done { done: input.message }, "said it"))
}

/// Needs a right that only admins and builders hold.
#[tool(
    slug = "test.guarded",
    name = "Guarded",
    category = "test",
    icon = "lock",
    version = "1.0.0",
    level = "read",
    required_permission = "entities.team.delete"
)]
async fn guarded(_cx: ToolContext, input: Words) -> Result<Reply<Done>, ToolFailure> {
    Ok(Reply::new(Done { done: input.message }, "let in"))
}

/// Is there for one tenant only.
#[tool(
    slug = "test.private",
    name = "Private",
    category = "test",
    icon = "eye-off",
    version = "1.0.0",
    level = "read",
    tenants = ["acme"]
)]
async fn private(_cx: ToolContext, input: Words) -> Result<Reply<Done>, ToolFailure> {
    Ok(Reply::new(Done { done: input.message }, "let in"))
}

/// Is there once it has been switched on.
#[tool(
    slug = "test.optin",
    name = "Opt in",
    category = "test",
    icon = "toggle-left",
    version = "1.0.0",
    level = "read",
    opt_in
)]
async fn optin(_cx: ToolContext, input: Words) -> Result<Reply<Done>, ToolFailure> {
    Ok(Reply::new(Done { done: input.message }, "switched on"))
}
