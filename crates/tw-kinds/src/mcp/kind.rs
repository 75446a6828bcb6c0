//! The kind itself: what an author wrote, called for a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use serde_json::{Map, Value};
use tokio::{
    sync::{OnceCell, mpsc},
    time::{Instant, sleep},
};
use toolwright_sdk::ToolProgress;
use tw_exec::{BoxFuture, Call, Ended, Executor};
use tw_mcp_client::{CallOptions, CallResult, Client, Error, McpServers, Target};
use tw_model::{Code, MCP_CONTENT, ToolFailure, ToolResult};
use tw_schema::{Fault, Schema};

use super::spec::{McpSpec, Server};
use crate::{
    circuit::{CircuitKey, Circuits},
    http::short_wait,
};

/// How often a call is made that never reached its server, and changes nothing.
const TRIES_MAX: u32 = 3;
/// How many reports of progress may wait to be written down.
const REPORTS_MAX: usize = 16;

#[derive(Debug)]
pub(crate) struct Mcp {
    circuits: Circuits,
    /// A digest of what the author wrote.
    definition: u64,
    /// Read again with the secrets that lie sealed in what was written.
    spec: OnceCell<Arc<McpSpec>>,
}

impl Mcp {
    pub(crate) fn read(
        implementation: &Value,
        circuits: &Circuits,
        is_new: bool,
    ) -> Result<Self, Vec<Fault>> {
        McpSpec::read(implementation, is_new)?;
        let mut hasher = DefaultHasher::new();
        implementation.to_string().hash(&mut hasher);
        Ok(Self { circuits: circuits.clone(), definition: hasher.finish(), spec: OnceCell::new() })
    }

    async fn call(&self, call: &Call<'_>) -> Result<ToolResult, ToolFailure> {
        let spec = self.spec.get_or_try_init(|| async {
            McpSpec::read(&call.secrets.implementation().await?, false)
                .map(Arc::new)
                .map_err(|_| ToolFailure::with_code(Code::Internal, "the tool's definition cannot be read"))
        });
        let spec = spec.await?;
        let target = target(spec, call).await?;
        let arguments = match &call.input {
            Value::Object(members) => members.clone(),
            Value::Null => Map::new(),
            _ => return Err(ToolFailure::invalid("the input of a tool of this kind must be an object")),
        };
        let client = call.cx.service::<Client>()?;
        let (tenant, tool, mode) = (call.cx.tenant(), call.def.id, call.mode);
        let circuit = self.circuits.get(CircuitKey { tenant, tool, definition: self.definition, mode });
        let pass = circuit.enter(call.cx.deadline())?;
        let called = ask(client, call, &target, &spec.tool, &arguments).await;
        match called.as_ref().map_or_else(Error::is_well, |_| Some(true)) {
            Some(true) => pass.succeeded(),
            Some(false) => pass.failed(),
            None => drop(pass),
        }
        let host = tw_egress::Site::in_text(&target.url);
        let data = made_of(call, called?).await?;
        Ok(ToolResult { data, summary: format!("`{}` of {host}", spec.tool), markdown: None })
    }
}

/// The server, with its credentials open.
async fn target(spec: &McpSpec, call: &Call<'_>) -> Result<Target, ToolFailure> {
    let tenant = call.cx.tenant();
    match &spec.server {
        Server::Named(name) => match call.cx.service::<dyn McpServers>() {
            Ok(servers) => servers.target(tenant, name).await,
            Err(_) => Err(ToolFailure::new(format!("there is no MCP server `{name}`"))),
        },
        Server::At(at) => {
            let mut opened = BTreeMap::new();
            for label in spec.labels() {
                let secret = call.cx.secret(&label).await?;
                opened.insert(label, secret);
            }
            at.target(tenant, opened)
        }
    }
}

/// Asks the server; again where the request never reached it and the tool changes nothing.
async fn ask(
    client: &Client,
    call: &Call<'_>,
    target: &Target,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<CallResult, Error> {
    let (progress, mut reports) = mpsc::channel(REPORTS_MAX);
    let options = CallOptions {
        progress: Some(progress),
        trace: call.cx.trace().map(str::to_owned),
        ..CallOptions::until(call.cx.deadline())
    };
    let asking = async {
        let mut tries = 1;
        loop {
            let called = client.call_tool(target, tool, arguments, options.clone()).await;
            let may_repeat = tries < TRIES_MAX && call.def.is_idempotent();
            let wait = short_wait(tries);
            match called {
                Err(error)
                    if may_repeat && error.is_repeatable() && Instant::now() + wait < call.cx.deadline() =>
                {
                    tries += 1;
                    sleep(wait).await;
                }
                called => return called,
            }
        }
    };
    tokio::pin!(asking);
    let called = loop {
        tokio::select! {
            called = &mut asking => break called,
            Some(report) = reports.recv() => tell(call, report),
        }
    };
    // The last ones may have come together with the answer.
    while let Ok(report) = reports.try_recv() {
        tell(call, report);
    }
    called
}

/// Hands a report of progress on, to those who watch the run and as a line of its log.
fn tell(call: &Call<'_>, report: ToolProgress) {
    let ToolProgress { progress, total, message } = &report;
    let of_total = total.map_or_else(String::new, |total| format!(" of {total}"));
    let message = message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
    call.cx.log(format!("progress {progress}{of_total}{message}"));
    call.cx.progress(report);
}

/// The outcome of a run. Blocks that are no text stand beside the data where the tool's output schema allows it.
async fn made_of(call: &Call<'_>, called: CallResult) -> Result<Value, ToolFailure> {
    let called = called.succeeded()?;
    let Some(with_content) = called.data_with_content() else {
        if called.others().next().is_some() {
            call.cx.log("dropped the content blocks that are not text: the structured content must be an object to hold them");
        }
        return Ok(called.data());
    };
    let Some(schema) = call.def.output_schema.clone() else { return Ok(with_content) };
    let fits = move || {
        let fits = Schema::compile(&schema).is_ok_and(|schema| schema.is_valid(&with_content));
        fits.then_some(with_content)
    };
    if let Some(with_content) = call.cx.heavy(fits).await? {
        return Ok(with_content);
    }
    call.cx.log(format!(
        "dropped the content blocks that are not text: `output_schema` does not allow `{MCP_CONTENT}`"
    ));
    Ok(called.data())
}

impl Executor for Mcp {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move { self.call(&call).await.into() })
    }

    fn credentials(&self, implementation: &Value) -> BTreeSet<String> {
        // What cannot be read is not sent either.
        McpSpec::read(implementation, false).map(|spec| spec.labels()).unwrap_or_default()
    }

    fn mcp_servers(&self, implementation: &Value) -> BTreeSet<String> {
        match McpSpec::read(implementation, false) {
            Ok(McpSpec { server: Server::Named(name), .. }) => BTreeSet::from([name]),
            Ok(_) | Err(_) => BTreeSet::new(),
        }
    }
}
