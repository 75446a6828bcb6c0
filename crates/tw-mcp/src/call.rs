//! What becomes of `tools/call`.

use std::time::Duration;

use serde_json::{Value, json, value::RawValue};
use tokio_util::sync::CancellationToken;
use tw_engine::{
    Answer, CallRequest, Error,
    rights::{Permit, ReadRuns, RunTools},
};
use tw_model::{Mode, RunId, RunStatus};

use crate::{
    Door,
    era::Era,
    listing::GET_RUN,
    rpc::{Fault, INTERNAL_ERROR, INVALID_PARAMS, Params, UNAUTHENTICATED},
};

/// How long a call waits for a person before it is answered as pending. Clients give up after half a minute
/// or a minute, and then nobody has the run's id.
const WAIT_FOR_PERSON: Duration = Duration::from_secs(10);

/// What a client wants to call, and with what.
#[derive(Debug)]
pub(crate) struct Wanted {
    name: String,
    /// As they came.
    arguments: Box<RawValue>,
}

impl Wanted {
    pub(crate) fn read(params: &Params<'_>) -> Result<Self, Fault> {
        params.check_case(&["name", "arguments", "_meta"])?;
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Fault::new(INVALID_PARAMS, "`name` is a text and is needed"))?;
        let given = params.arguments.filter(|arguments| arguments.get() != "null");
        let arguments = given.map_or_else(
            || RawValue::from_string("{}".to_owned()).expect("an empty object is JSON"),
            ToOwned::to_owned,
        );
        Ok(Self { name: name.to_owned(), arguments })
    }
}

impl Door {
    /// Calls a tool and writes the result. A tool that failed is a result, not a fault.
    pub(crate) async fn call(
        &self,
        permit: &Permit<RunTools>,
        wanted: Wanted,
        era: Era,
        unwanted: CancellationToken,
    ) -> Result<String, Fault> {
        let Wanted { name, arguments } = wanted;
        if name == GET_RUN {
            return self.get_run(permit, &arguments, era).await;
        }
        let request = CallRequest {
            tool: name.clone(),
            input: arguments,
            session: None,
            wait: self.patience(permit, &name).await,
            version: None,
            unsaved: None,
            mode: Mode::Production,
            idempotency: None,
            unwanted: Some(unwanted),
            deadline: None,
        };
        match self.engine.call(permit, request).await {
            Ok(answer) => Ok(self.told(answer, era)),
            Err(error) => refused(error, &name, era),
        }
    }

    /// How long to wait: for a tool its own timeout, for a person less.
    async fn patience(&self, permit: &Permit<RunTools>, name: &str) -> Option<Duration> {
        let asks = self.engine.asks(permit, name).await.unwrap_or(false);
        asks.then_some(WAIT_FOR_PERSON)
    }

    async fn get_run(
        &self,
        permit: &Permit<RunTools>,
        arguments: &RawValue,
        era: Era,
    ) -> Result<String, Fault> {
        let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
        let id = arguments.get("run_id").and_then(Value::as_str).and_then(|id| id.parse::<RunId>().ok());
        let Some(id) = id else {
            return Ok(failed("`run_id` is the id of a run, as a pending answer names it", era));
        };
        let reader = match Permit::<ReadRuns>::check(permit.caller().clone()) {
            Ok(reader) => reader,
            Err(error) => return Ok(failed(&error.to_string(), era)),
        };
        match self.engine.run(&reader, id).await {
            Ok(Answer { run, approval, .. }) => {
                let url = run.status.is_open().then(|| self.place(&run, approval));
                let content = json!({
                    "run_id": run.id.to_string(), "tool": run.tool, "status": run.status.as_str(),
                    "output": run.output, "summary": run.summary, "error": run.error,
                    "error_code": run.error_code, "url": url,
                });
                Ok(structured(&content.to_string(), false, era))
            }
            Err(Error::NotFound { .. }) => Ok(failed("there is no such run", era)),
            Err(error) => refused(error, GET_RUN, era),
        }
    }

    fn told(&self, answer: Answer, era: Era) -> String {
        let Answer { run, approval, .. } = answer;
        match run.status {
            RunStatus::Success => {
                let output = run.output.as_deref().map_or("null", RawValue::get);
                // Before the present revision structured content was an object, always.
                if era == Era::Present || output.trim_start().starts_with('{') {
                    structured(output, false, era)
                } else {
                    text(output, false, era)
                }
            }
            status if status.is_open() => {
                let mut content = json!({
                    "status": if status == RunStatus::NeedsApproval { "needs_approval" } else { "pending" },
                    "run_id": run.id.to_string(),
                    "url": self.place(&run, approval),
                });
                if let (Some(id), Some(members)) = (approval, content.as_object_mut()) {
                    members.insert("approval_id".to_owned(), json!(id.to_string()));
                }
                structured(&content.to_string(), false, era)
            }
            _ => {
                let why = run.error.as_deref().unwrap_or("the tool failed and did not say why");
                let code = run.error_code.as_deref().unwrap_or("TOOL_FAILED");
                failed(&format!("{code}: {why}"), era)
            }
        }
    }

    /// Where a person looks at an open run.
    fn place(&self, run: &tw_engine::Run, approval: Option<tw_model::ApprovalId>) -> String {
        let base = self.settings.base.trim_end_matches('/');
        match approval {
            Some(id) => format!("{base}/approvals/{id}"),
            None => format!("{base}/runs/{}", run.id),
        }
    }
}

/// Tells a refusal: what the model can mend is a result, what the client got wrong a fault.
fn refused(error: Error, name: &str, era: Era) -> Result<String, Fault> {
    match &error {
        Error::ToolNotFound { .. } => Err(Fault::new(INVALID_PARAMS, format!("Unknown tool: {name}"))),
        Error::Unauthenticated { why } => {
            Err(Fault { status: http::StatusCode::UNAUTHORIZED, ..Fault::new(UNAUTHENTICATED, *why) })
        }
        Error::InvalidParams { faults, .. } => {
            let lines: Vec<String> =
                faults.iter().map(|fault| format!("`{}` {}", fault.path, fault.message)).collect();
            Ok(failed(&format!("INVALID_PARAMS: {}", lines.join("; ")), era))
        }
        Error::Store { .. } | Error::Record { .. } | Error::ShuttingDown => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a call over MCP failed");
            let text = format!("{}: {error}", error.code().as_str());
            Err(Fault { status: http::StatusCode::SERVICE_UNAVAILABLE, ..Fault::new(INTERNAL_ERROR, text) })
        }
        error => Ok(failed(&format!("{}: {error}", error.code().as_str()), era)),
    }
}

fn failed(message: &str, era: Era) -> String {
    text(message, true, era)
}

fn text(message: &str, is_error: bool, era: Era) -> String {
    let content = quoted(message);
    format!(r#"{{"content":[{{"type":"text","text":{content}}}],"isError":{is_error}{}}}"#, ending(era))
}

/// A result with the JSON as it is, and the same as text.
fn structured(json: &str, is_error: bool, era: Era) -> String {
    let content = quoted(json);
    format!(
        r#"{{"content":[{{"type":"text","text":{content}}}],"structuredContent":{json},"isError":{is_error}{}}}"#,
        ending(era)
    )
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text can be written as JSON")
}

fn ending(era: Era) -> &'static str {
    match era {
        Era::Present => r#","resultType":"complete""#,
        Era::Earlier => "",
    }
}
