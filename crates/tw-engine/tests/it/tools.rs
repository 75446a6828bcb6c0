//! The tools of these tests. They register themselves in this binary and nowhere else.
//!
//! What they do to the world is counted under the `key` of their input, so that a test can prove how
//! often something happened. A gate holds a tool in mid-flight until the test lets it go on.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

static EFFECTS: LazyLock<Mutex<HashMap<String, u32>>> = LazyLock::new(Mutex::default);
static GATES: LazyLock<Mutex<HashMap<String, Arc<Gate>>>> = LazyLock::new(Mutex::default);

/// Something that a tool does to the world.
fn do_effect(key: &str) -> u32 {
    let mut effects = EFFECTS.lock().unwrap();
    let count = effects.entry(key.to_owned()).or_default();
    *count += 1;
    *count
}

/// How often the tools did something to the world under this key.
pub(crate) fn effects(key: &str) -> u32 {
    EFFECTS.lock().unwrap().get(key).copied().unwrap_or(0)
}

/// Where tools wait until a test opens it.
pub(crate) struct Gate {
    entered: watch::Sender<usize>,
    left: watch::Sender<usize>,
    open: watch::Sender<bool>,
}

/// A tool at a gate, until it has passed or was dropped.
struct Waiting(Arc<Gate>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.left.send_modify(|count| *count += 1);
    }
}

/// The gate of this name, closed at first.
pub(crate) fn gate(key: &str) -> Arc<Gate> {
    let new = || Gate {
        entered: watch::Sender::new(0),
        left: watch::Sender::new(0),
        open: watch::Sender::new(false),
    };
    Arc::clone(GATES.lock().unwrap().entry(key.to_owned()).or_insert_with(|| Arc::new(new())))
}

impl Gate {
    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// How many tools have come here.
    pub(crate) fn entered(&self) -> usize {
        *self.entered.borrow()
    }

    /// How many are here now.
    pub(crate) fn inside(&self) -> usize {
        self.entered() - *self.left.borrow()
    }

    /// Waits until so many tools have come here.
    pub(crate) async fn reached(&self, count: usize) {
        at_least(&self.entered, count, "came to the gate").await;
    }

    /// Waits until so many tools are gone from here, having passed or been stopped.
    pub(crate) async fn emptied(&self, count: usize) {
        at_least(&self.left, count, "left the gate").await;
    }

    fn enter(self: &Arc<Self>) -> Waiting {
        self.entered.send_modify(|count| *count += 1);
        Waiting(Arc::clone(self))
    }

    async fn pass(self: Arc<Self>) {
        let waiting = self.enter();
        let mut open = self.open.subscribe();
        open.wait_for(|open| *open).await.unwrap();
        drop(waiting);
    }
}

async fn at_least(count: &watch::Sender<usize>, wanted: usize, what: &str) {
    let mut count = count.subscribe();
    let reached =
        tokio::time::timeout(Duration::from_secs(20), count.wait_for(|count| wanted <= *count)).await;
    assert!(reached.is_ok(), "fewer than {wanted} {what}");
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Text {
    /// What to say.
    #[schemars(length(max = 1000))]
    text: String,
    /// How often to say it.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 9))]
    times: u32,
}

fn once() -> u32 {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
struct Said {
    text: String,
}

/// Says it back.
#[tool(
    slug = "test.echo",
    name = "Echo",
    category = "test",
    icon = "text",
    version = "1.0.0",
    level = "read",
    pure
)]
async fn echo(_cx: ToolContext, input: Text) -> Result<Reply<Said>, ToolFailure> {
    let text = input.text.repeat(input.times as usize);
    let summary = format!("said {} bytes", text.len());
    Ok(Reply::new(Said { text }, summary).markdown("**said**"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keyed {
    /// What the effect is counted under.
    #[schemars(length(min = 1, max = 100))]
    key: String,
    /// How much of it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1000))]
    amount: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    /// How often it was done by now.
    count: u32,
    amount: u32,
}

fn done(input: &Keyed) -> Result<Reply<Done>, ToolFailure> {
    let count = do_effect(&input.key);
    Ok(Reply::new(Done { count, amount: input.amount }, format!("done {count}")))
}

/// Changes the world.
#[tool(
    slug = "test.write",
    name = "Write",
    category = "test",
    icon = "pen",
    version = "1.2.0",
    level = "write"
)]
async fn write(_cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    done(&input)
}

/// Changes the world beyond repair.
#[tool(
    slug = "test.destroy",
    name = "Destroy",
    category = "test",
    icon = "bomb",
    version = "1.0.0",
    level = "destructive"
)]
async fn destroy(_cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    done(&input)
}

/// Changes the world, for agents too.
#[tool(
    slug = "test.auto",
    name = "Auto",
    category = "test",
    icon = "pen",
    version = "1.0.0",
    level = "write",
    policy = "auto"
)]
async fn auto(_cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    done(&input)
}

/// Changes the world once the gate of its key is open.
#[tool(
    slug = "test.gate",
    name = "Gate",
    category = "test",
    icon = "door-open",
    version = "1.0.0",
    level = "write"
)]
async fn gated(_cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    gate(&input.key).pass().await;
    done(&input)
}

/// Answers once the gate of its key is open.
#[tool(
    slug = "test.gate_read",
    name = "Gate for reading",
    category = "test",
    icon = "door-open",
    version = "1.0.0",
    level = "read"
)]
async fn gated_read(_cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    gate(&input.key).pass().await;
    done(&input)
}

/// As the gate, one at a time.
#[tool(
    slug = "test.limited",
    name = "Limited",
    category = "test",
    icon = "door-open",
    version = "1.0.0",
    level = "write",
    concurrency_group = "narrow",
    max_concurrency = 1
)]
async fn limited(_cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    gate(&input.key).pass().await;
    done(&input)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Span {
    /// What the effect is counted under.
    key: String,
    /// How long it takes.
    #[schemars(range(min = 0, max = 100_000))]
    ms: u64,
}

async fn take_time(cx: ToolContext, input: Span) -> Result<Value, ToolFailure> {
    tokio::select! {
        () = cx.cancelled() => Err(ToolFailure::new("told to stop")),
        () = tokio::time::sleep(Duration::from_millis(input.ms)) => Ok(json!({ "count": do_effect(&input.key) })),
    }
}

/// Takes its time.
#[tool(
    slug = "test.slow",
    name = "Slow",
    category = "test",
    icon = "timer",
    version = "1.0.0",
    level = "read"
)]
async fn slow(cx: ToolContext, input: Span) -> Result<Value, ToolFailure> {
    take_time(cx, input).await
}

/// Takes its time, then changes the world.
#[tool(
    slug = "test.slow_write",
    name = "Slow write",
    category = "test",
    icon = "timer",
    version = "1.0.0",
    level = "write"
)]
async fn slow_write(cx: ToolContext, input: Span) -> Result<Value, ToolFailure> {
    take_time(cx, input).await
}

/// Has little time.
#[tool(
    slug = "test.hasty",
    name = "Hasty",
    category = "test",
    icon = "timer",
    version = "1.0.0",
    level = "write",
    timeout_ms = 150
)]
async fn hasty(cx: ToolContext, input: Span) -> Result<Value, ToolFailure> {
    take_time(cx, input).await
}

/// Has little time and only reads.
#[tool(
    slug = "test.hasty_read",
    name = "Hasty read",
    category = "test",
    icon = "timer",
    version = "1.0.0",
    level = "read",
    timeout_ms = 150
)]
async fn hasty_read(cx: ToolContext, input: Span) -> Result<Value, ToolFailure> {
    take_time(cx, input).await
}

/// Does blocking work that looks at nothing but its gate.
#[tool(
    slug = "test.block",
    name = "Block",
    category = "test",
    icon = "brick-wall",
    version = "1.0.0",
    level = "write"
)]
async fn block(cx: ToolContext, input: Keyed) -> Result<Reply<Done>, ToolFailure> {
    let key = input.key.clone();
    cx.blocking(move |_| {
        let gate = gate(&key);
        let _waiting = gate.enter();
        for _ in 0..4000 {
            if *gate.open.borrow() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        do_effect(&key);
    })
    .await?;
    done(&input)
}

/// Fails.
#[tool(slug = "test.fail", name = "Fail", category = "test", icon = "x", version = "1.0.0", level = "read")]
async fn fail(_cx: ToolContext, input: Text) -> Result<Value, ToolFailure> {
    Err(ToolFailure::new(input.text))
}

/// Fails for lack of time that was somebody else's.
#[tool(
    slug = "test.gives_up",
    name = "Give up",
    category = "test",
    icon = "x",
    version = "1.0.0",
    level = "read"
)]
async fn give_up(_cx: ToolContext, input: Text) -> Result<Value, ToolFailure> {
    Err(ToolFailure::with_code(toolwright_sdk::Code::Timeout, input.text))
}

/// Panics.
#[tool(
    slug = "test.panic",
    name = "Panic",
    category = "test",
    icon = "x",
    version = "1.0.0",
    level = "write"
)]
async fn crash(_cx: ToolContext, input: Text) -> Result<Value, ToolFailure> {
    panic!("{}", input.text);
}

/// A text that claims to be a number.
#[derive(Debug, Serialize, JsonSchema)]
struct Wrong {
    #[schemars(with = "u32")]
    number: String,
}

/// Gives back what its schema forbids.
#[tool(
    slug = "test.bad_output",
    name = "Bad output",
    category = "test",
    icon = "x",
    version = "1.0.0",
    level = "read"
)]
async fn bad_output(_cx: ToolContext, input: Text) -> Result<Wrong, ToolFailure> {
    Ok(Wrong { number: input.text })
}

/// Says three things on the way.
#[tool(
    slug = "test.append",
    name = "Append",
    category = "test",
    icon = "list",
    version = "1.0.0",
    level = "read"
)]
async fn append(cx: ToolContext, input: Text) -> Result<Reply<Said>, ToolFailure> {
    for word in ["one", "two", "three"] {
        cx.append(word);
    }
    Ok(Reply::new(Said { text: input.text }, "said four things"))
}

/// For those who administer.
#[tool(
    slug = "test.secret",
    name = "Secret",
    category = "test",
    icon = "lock",
    version = "1.0.0",
    level = "read",
    required_permission = "settings.tenant.write"
)]
async fn secret(_cx: ToolContext, input: Text) -> Result<Said, ToolFailure> {
    Ok(Said { text: input.text })
}

/// For another tenant.
#[tool(
    slug = "test.hidden",
    name = "Hidden",
    category = "test",
    icon = "lock",
    version = "1.0.0",
    level = "read",
    tenants = ["other"]
)]
async fn hidden(_cx: ToolContext, input: Text) -> Result<Said, ToolFailure> {
    Ok(Said { text: input.text })
}

/// For whoever switches it on.
#[tool(
    slug = "test.optin",
    name = "Opt in",
    category = "test",
    icon = "lock",
    version = "1.0.0",
    level = "read",
    opt_in
)]
async fn optin(_cx: ToolContext, input: Text) -> Result<Said, ToolFailure> {
    Ok(Said { text: input.text })
}

/// Takes several things, some of them needed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Form {
    /// The first.
    first: String,
    /// The second.
    second: u32,
    /// The third.
    #[serde(default)]
    third: Option<bool>,
    /// More of them.
    #[serde(default)]
    #[schemars(length(max = 2))]
    more: Vec<u32>,
}

/// Gives back the form as it was understood.
#[tool(
    slug = "test.form",
    name = "Form",
    category = "test",
    icon = "form",
    version = "1.0.0",
    level = "read"
)]
async fn form(_cx: ToolContext, input: Form) -> Result<Value, ToolFailure> {
    Ok(json!({ "first": input.first, "second": input.second, "third": input.third, "more": input.more }))
}

/// Tells for whom it works.
#[tool(
    slug = "test.whoami",
    name = "Who am I",
    category = "test",
    icon = "user",
    version = "1.0.0",
    level = "read",
    input_less
)]
async fn whoami(cx: ToolContext) -> Result<Value, ToolFailure> {
    Ok(json!({
        "tenant": cx.tenant_slug(),
        "user": cx.user(),
        "agent": cx.agent(),
        "source": cx.source(),
        "run": cx.run(),
        "session": cx.session(),
    }))
}
