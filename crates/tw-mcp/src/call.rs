//! What becomes of `tools/call`.

use std::time::Duration;

use serde_json::{Value, json, value::RawValue};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tw_base::Error;
use tw_engine::{Answer, CallRequest, PendingCall, ToolProgress};
use tw_identity::rights::{Permit, ReadRuns, RunTools};
use tw_model::{Caller, Code, MCP_CONTENT, Mode, RunId, RunStatus, WaitsFor, parted};
use tw_registry::Callable;

use crate::{
    Door,
    era::Era,
    listing::{GET_RUN, Shape},
    mirrored::ParamHeaders,
    rpc::{
        INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, OVER_LIMIT, RpcFault, RpcParams, UNAUTHENTICATED,
    },
};

/// How long a call waits for a person before it is answered as pending. Clients give up after half a minute
/// or a minute, and then nobody has the run's id.
const WAIT_FOR_PERSON: Duration = Duration::from_secs(10);

/// What a client wants to call, and with what.
#[derive(Debug)]
pub(crate) struct WantedCall {
    name: String,
    /// As they came.
    arguments: Box<RawValue>,
    /// What the headers repeat of them, in the revision that knows such headers.
    repeated: Option<ParamHeaders>,
    /// Who hears how far it is.
    progress: Option<mpsc::Sender<ToolProgress>>,
}

impl WantedCall {
    pub(crate) fn read(params: &RpcParams<'_>, repeated: Option<ParamHeaders>) -> Result<Self, RpcFault> {
        params.check_case(&["name", "arguments", "_meta"])?;
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| RpcFault::new(INVALID_PARAMS, "`name` must be a text"))?;
        let given = params.arguments.filter(|arguments| arguments.get() != "null");
        let arguments = given.map_or_else(
            || RawValue::from_string("{}".to_owned()).expect("an empty object is JSON"),
            ToOwned::to_owned,
        );
        Ok(Self { name: name.to_owned(), arguments, repeated, progress: None })
    }
}

impl WantedCall {
    /// The same, with somebody who hears how far it is.
    pub(crate) fn watched(self, progress: Option<mpsc::Sender<ToolProgress>>) -> Self {
        Self { progress, ..self }
    }
}

/// What is told of a call.
#[derive(Debug)]
pub(crate) struct Told {
    /// The result, written.
    pub(crate) result: String,
    /// The run that was made.
    pub(crate) run: Option<RunId>,
}

impl Told {
    fn without_run(result: String) -> Self {
        Self { result, run: None }
    }
}

impl Door {
    /// Calls a tool and writes the result. A tool that failed is a result, not a fault.
    pub(crate) async fn call(
        &self,
        permit: &Permit<RunTools>,
        wanted: WantedCall,
        era: Era,
        unwanted: CancellationToken,
    ) -> Result<Told, RpcFault> {
        let WantedCall { name, arguments, repeated, progress } = wanted;
        if name == GET_RUN {
            return self.get_run(permit, &arguments, era).await.map(Told::without_run);
        }
        // Names are told apart by case here, and nobody was listed an id.
        let tool = match self.engine.registry().callable(permit, &name).await {
            Err(error @ Error::ToolNotFound { .. }) => {
                let error = self.engine.refuse(permit.caller(), &name, error).await;
                return refused(error, &name, era).map(Told::without_run);
            }
            found => found.ok().flatten(),
        };
        if let (Some(tool), Some(repeated)) = (&tool, repeated)
            && let Err(fault) = repeated.check(&tool.def.input_schema, arguments.get())
        {
            return Err(self.turned_away(permit.caller(), &name, fault).await);
        }
        let request = CallRequest {
            tool: name.clone(),
            input: arguments,
            session: None,
            // For a tool its own timeout, for a person less.
            wait: tool.as_ref().and_then(|tool| tool.asks.then_some(WAIT_FOR_PERSON)),
            version: None,
            unsaved: None,
            settings: None,
            secrets: None,
            upstream_key: None,
            mode: Mode::Production,
            idempotency: None,
            unwanted: Some(unwanted),
            progress,
            deadline: None,
            record: None,
        };
        match self.engine.call(permit, request).await {
            Ok(answer) => {
                let run = Some(answer.run.id);
                Ok(Told { result: self.told(answer, tool.as_ref(), era), run })
            }
            Err(error) => refused(error, &name, era).map(Told::without_run),
        }
    }

    /// A call that is not made because its request is wrong counts all the same. To look at a run is no call.
    pub(crate) async fn turned_away(&self, caller: &Caller, name: &str, fault: RpcFault) -> RpcFault {
        if name == GET_RUN {
            return fault;
        }
        match self.engine.count_refused(caller, name).await {
            Ok(()) => fault,
            Err(over) => forbidden(&over),
        }
    }

    async fn get_run(
        &self,
        permit: &Permit<RunTools>,
        arguments: &RawValue,
        era: Era,
    ) -> Result<String, RpcFault> {
        let arguments: Value = serde_json::from_str(arguments.get()).unwrap_or_default();
        let id = arguments.get("run_id").and_then(Value::as_str).and_then(|id| id.parse::<RunId>().ok());
        let Some(id) = id else {
            return Ok(failed("`run_id` must be the id of a run, as a pending answer names it", era));
        };
        let reader = match Permit::<ReadRuns>::check(permit.caller().clone()) {
            Ok(reader) => reader,
            Err(error) => return Ok(failed(&error.to_string(), era)),
        };
        match self.engine.run(&reader, id).await {
            Ok(Answer { run, approval, pending, .. }) => {
                let late = pending.filter(|call| run.status == RunStatus::TimedOut && is_outside(call));
                let url = run.status.is_open().then(|| self.place(&run, approval));
                let mut content = json!({
                    "run_id": run.id.to_string(), "tool": run.tool, "status": run.status.as_str(),
                    "output": run.output, "summary": run.summary, "error": run.error,
                    "error_code": run.error_code, "url": url,
                });
                if let Some(result) = late.and_then(|call| call.result) {
                    content["late_result"] = json!(result);
                }
                Ok(structured(&content.to_string(), era))
            }
            Err(Error::NotFound { .. }) => Ok(failed("there is no such run", era)),
            Err(error) => refused(error, GET_RUN, era),
        }
    }

    fn told(&self, answer: Answer, tool: Option<&Callable>, era: Era) -> String {
        let Answer { run, approval, pending, .. } = answer;
        match run.status {
            RunStatus::Success => {
                let output = run.output.as_deref().map_or("null", RawValue::get);
                succeeded(output, tool.map(|tool| Shape::of(tool, era)), era)
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
                let content = content.to_string();
                written(&content, Some(&content), None, era)
            }
            _ => {
                let why = told(&run);
                let code = run.error_code.unwrap_or(Code::ToolFailed);
                let late = run.status == RunStatus::TimedOut && pending.as_ref().is_some_and(is_outside);
                let more = if late {
                    format!("; an answer that comes late is kept, see {GET_RUN} with the run_id {}", run.id)
                } else {
                    String::new()
                };
                failed(&format!("{code}: {why}{more}"), era)
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

/// Why a run ended without a result, in words for a model.
fn told(run: &tw_engine::Run) -> String {
    const DECLINED: &str = "a person declined the call";
    let is_denied = run.error_code == Some(Code::Denied);
    match run.error.as_deref() {
        // The run has the approver's note alone.
        Some(note) if is_denied && note != DECLINED => format!("{DECLINED}: {note}"),
        Some(error) => error.to_owned(),
        None => "the tool failed and did not say why".to_owned(),
    }
}

/// A refusal of a request as a whole.
pub(crate) fn forbidden(error: &Error) -> RpcFault {
    let text = format!("{}: {error}", error.code().as_str());
    match error {
        Error::OverLimit { .. } => {
            RpcFault { status: http::StatusCode::TOO_MANY_REQUESTS, ..RpcFault::new(OVER_LIMIT, text) }
        }
        _ => RpcFault { status: http::StatusCode::FORBIDDEN, ..RpcFault::new(INVALID_REQUEST, text) },
    }
}

/// Tells a refusal: what the model can mend is a result, what the client got wrong a fault.
fn refused(error: Error, name: &str, era: Era) -> Result<String, RpcFault> {
    match &error {
        Error::ToolNotFound { .. } => Err(RpcFault::new(INVALID_PARAMS, format!("Unknown tool: {name}"))),
        Error::Unauthenticated { why } => {
            Err(RpcFault { status: http::StatusCode::UNAUTHORIZED, ..RpcFault::new(UNAUTHENTICATED, *why) })
        }
        Error::InvalidParams { faults, .. } => {
            let mut lines = vec![error.to_string()];
            // The message tells a fault that is alone.
            let told = faults.len() == 1 && faults.iter().all(|fault| lines[0].contains(&fault.message));
            lines.extend(
                faults.iter().filter(|_| !told).map(|fault| format!("`{}` {}", fault.path, fault.message)),
            );
            Ok(failed(&format!("INVALID_PARAMS: {}", lines.join("; ")), era))
        }
        Error::Refused(refusal) => {
            let mut lines = vec![format!("{}: {error}", error.code().as_str())];
            lines.extend(refusal.faults.iter().map(|fault| format!("`{}` {}", fault.path, fault.message)));
            Ok(failed(&lines.join("; "), era))
        }
        Error::MissingParam { param, faults } => {
            let own = format!("/{param}");
            let others = faults.iter().filter(|fault| fault.path != own);
            let lines: String = others.map(|fault| format!("; `{}` {}", fault.path, fault.message)).collect();
            Ok(failed(&format!("MISSING_PARAM: {error}{lines}"), era))
        }
        Error::Store { .. } | Error::Internal { .. } | Error::Record { .. } | Error::ShuttingDown => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a call over MCP failed");
            let text = format!("{}: {error}", error.code().as_str());
            Err(RpcFault {
                status: http::StatusCode::SERVICE_UNAVAILABLE,
                ..RpcFault::new(INTERNAL_ERROR, text)
            })
        }
        error => Ok(failed(&format!("{}: {error}", error.code().as_str()), era)),
    }
}

/// Whether a call waits, or waited, for somebody outside to answer it.
fn is_outside(call: &PendingCall) -> bool {
    matches!(call.waits_for, WaitsFor::Worker | WaitsFor::Person)
}

fn failed(message: &str, era: Era) -> String {
    written(message, None, Some(true), era)
}

/// The result of a tool that ended well. Nothing is known of its shape where the tool is gone by now.
fn succeeded(output: &str, shape: Option<Shape>, era: Era) -> String {
    // Pictures and the like stand in the content, once, and not in the data.
    if output.contains(MCP_CONTENT)
        && let Some((data, blocks)) = serde_json::from_str(output).ok().and_then(|output| parted(&output))
    {
        let data = Value::Object(data).to_string();
        let structured = match shape {
            Some(Shape::InResult) => format!(r#"{{"result":{data}}}"#),
            _ => data,
        };
        return written_blocks(&Value::Array(blocks).to_string(), Some(&structured), Some(false), era);
    }
    let is_object = output.trim_start().starts_with('{');
    let text = serde_json::from_str::<String>(output);
    let text = text.as_deref().unwrap_or(output);
    let as_it_is = match shape {
        Some(Shape::AsItIs) => true,
        Some(Shape::InResult) => false,
        Some(Shape::InResultUnlessObject) | None => is_object,
    };
    match shape {
        _ if as_it_is => written(text, Some(output), Some(false), era),
        Some(_) => written(text, Some(&format!(r#"{{"result":{output}}}"#)), Some(false), era),
        None => written(text, None, Some(false), era),
    }
}

/// A result with the JSON as it is, and the same as text.
fn structured(json: &str, era: Era) -> String {
    written(json, Some(json), Some(false), era)
}

/// A result; whether it is an error is left open while it waits.
fn written(text: &str, structured: Option<&str>, is_error: Option<bool>, era: Era) -> String {
    let content = format!(r#"[{{"type":"text","text":{}}}]"#, quoted(text));
    written_blocks(&content, structured, is_error, era)
}

fn written_blocks(content: &str, structured: Option<&str>, is_error: Option<bool>, era: Era) -> String {
    let mut result = format!(r#"{{"content":{content}"#);
    if let Some(json) = structured {
        result.extend([r#","structuredContent":"#, json]);
    }
    if let Some(is_error) = is_error {
        result.extend([r#","isError":"#, if is_error { "true" } else { "false" }]);
    }
    result.extend([ending(era), "}"]);
    result
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
