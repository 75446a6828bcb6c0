//! Tools that need no running: they give back what they were given, or are a built-in under a name of one's own.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::OnceCell;
use toolwright_sdk::{BoxFuture, CodeTool, registered};
use tw_engine::{Call, Ended, Executor};
use tw_model::ToolResult;
use tw_schema::Fault;

use crate::{faults::fault, opened};

pub(crate) fn read(implementation: &Value) -> Result<Box<dyn Executor>, Vec<Fault>> {
    let key = implementation.get("builtin_key").filter(|key| !key.is_null());
    // Whatever else is written there is kept, and nothing of it is called.
    let Some(key) = key else { return Ok(Box::new(Echo)) };
    let found = key.as_str().and_then(builtin);
    let Some(tool) = found else {
        let known: Vec<_> = builtins().map(|tool| (tool.define)().slug.to_string()).collect();
        let message = format!("is one of {}", known.join(", "));
        return Err(vec![fault("/implementation/builtin_key", message)]);
    };
    Ok(Box::new(BuiltIn { tool, settings: OnceCell::new() }))
}

fn builtins() -> impl Iterator<Item = &'static CodeTool> {
    registered().unwrap_or_default().into_iter().filter(|tool| tool.builtin)
}

fn builtin(key: &str) -> Option<&'static CodeTool> {
    builtins().find(|tool| (tool.define)().slug.as_str() == key)
}

/// Gives back its input.
#[derive(Debug)]
struct Echo;

impl Executor for Echo {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        let result = ToolResult {
            data: json!({ "success": true, "args": call.input }),
            summary: format!("{}: gave back its input", call.def.name),
            markdown: None,
        };
        Box::pin(std::future::ready(Ended::Done(result)))
    }
}

/// A tool of the program, with settings of the tenant's.
#[derive(Debug)]
struct BuiltIn {
    tool: &'static CodeTool,
    settings: OnceCell<Arc<Value>>,
}

impl Executor for BuiltIn {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            let settings =
                self.settings.get_or_try_init(|| async { opened(&call).await.map(Arc::new) }).await;
            match settings {
                Ok(settings) => {
                    let cx = call.cx.with_settings(Arc::clone(settings));
                    (self.tool.run)(cx, call.input).await.into()
                }
                Err(failure) => Ended::Failed(failure),
            }
        })
    }
}
