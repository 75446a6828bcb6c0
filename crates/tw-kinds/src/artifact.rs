//! Tools that are a script: JavaScript or TypeScript, run in a sandbox.
//!
//! A script that waits for a call, or that was cut off, is run again from its beginning. The time and the random numbers
//! that it sees are those of its run, and a call answers by its number as it did, so it comes to where it was.

mod calls;

use std::{str::FromStr, sync::Arc};

use futures::future::join_all;
use serde_json::Value;
use tw_exec::{BoxFuture, Call, Called, Callee, Ended, Executor, InnerCall, Wait};
use tw_model::{Code, ToolFailure, ToolResult};
use tw_sandbox::{
    CallFailure, SCRIPT_BYTES_MAX, Sandbox, Script, ScriptCall, ScriptError, ScriptFault, ScriptHost,
    ScriptLanguage, ScriptLimits,
};
use tw_schema::{Fault, Violation};

use crate::faults::{Faults, below};
use calls::NamedCalls;

const PLACE: &str = "/implementation";
/// The first two say which version of which artifact the source is. Whoever saves the tool sees to it.
const MEMBERS: [&str; 4] = ["artifact_id", "artifact_version", "language", "source"];
const LANGUAGES: [(&str, ScriptLanguage); 2] =
    [("javascript", ScriptLanguage::JavaScript), ("typescript", ScriptLanguage::TypeScript)];

#[derive(Debug)]
pub(crate) struct Artifact {
    language: ScriptLanguage,
    source: Arc<str>,
    calls: NamedCalls,
    sandbox: Sandbox,
}

impl Artifact {
    pub(crate) fn read(implementation: &Value, sandbox: &Sandbox, is_new: bool) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        for name in implementation.as_object().into_iter().flatten().map(|(name, _)| name) {
            if !MEMBERS.contains(&name.as_str()) {
                faults.say(below(PLACE, name), Violation::unknown_member());
            }
        }
        let language = faults.take(language(implementation.get("language")));
        let source = faults.take(source(implementation.get("source")));
        let (Some(language), Some(source)) = (language, source) else { return faults.told(None) };
        if is_new {
            faults.extend(unread(sandbox, language, source));
        }
        let (source, calls) = (Arc::from(source), NamedCalls::of(source));
        faults.told(Some(Self { language, source, calls, sandbox: sandbox.clone() }))
    }

    /// The tools that the source names where it calls them. Which of them it calls, and others, it decides when it runs.
    pub(crate) fn called(implementation: &Value) -> Vec<Callee> {
        let source = implementation.get("source").and_then(Value::as_str).unwrap_or_default();
        let callee = |name| Callee { path: below(PLACE, "source"), name, is_certain: false };
        NamedCalls::of(source).named.into_iter().map(callee).collect()
    }

    async fn run(&self, call: &Call<'_>) -> Result<Ended, ToolFailure> {
        let run = call.cx.run().uuid().as_u128();
        let script = Script {
            language: self.language,
            source: &self.source,
            input: &call.input,
            // The id of a run begins with the time at which it was made.
            now_ms: u64::try_from(run >> 80).unwrap_or_default(),
            seed: [0, 32, 64, 96]
                .map(|bits| u32::try_from((run >> bits) & u128::from(u32::MAX)).unwrap_or_default()),
        };
        let limits = ScriptLimits::within(call.cx.remaining());
        let lane = call.cx.tenant().uuid().as_u128();
        let mut host = Host { call, made: 0, stop: None };
        let output = self.sandbox.script(lane, script, limits, &mut host).await;
        let Host { made, stop, .. } = host;
        match (output, stop) {
            (_, Some(stop)) => stop,
            (Ok(output), None) => {
                let summary = || match made {
                    0 => format!("{}: done", call.def.name),
                    1 => format!("{}: done with 1 call", call.def.name),
                    made => format!("{}: done with {made} calls", call.def.name),
                };
                ToolResult::returned(output.unwrap_or_default(), summary).map(Ended::Done)
            }
            (Err(error), None) => Err(failure(&error)),
        }
    }
}

fn language(written: Option<&Value>) -> Result<ScriptLanguage, Vec<Fault>> {
    let place = below(PLACE, "language");
    let Some(written) = written else { return Err(vec![Violation::required().at(place)]) };
    let known = LANGUAGES.iter().find(|(word, _)| written == word);
    known
        .map(|(_, language)| *language)
        .ok_or_else(|| vec![Violation::words(LANGUAGES.iter().map(|(word, _)| *word)).at(place)])
}

fn source(written: Option<&Value>) -> Result<&str, Vec<Fault>> {
    let violation = match written {
        None => Violation::required(),
        Some(Value::String(source)) if source.len() <= SCRIPT_BYTES_MAX => return Ok(source),
        Some(Value::String(_)) => Violation::max_bytes(SCRIPT_BYTES_MAX),
        Some(other) => Violation::typed(&["string"], other),
    };
    Err(vec![violation.at(below(PLACE, "source"))])
}

/// What is wrong with a source that is about to be saved.
fn unread(sandbox: &Sandbox, language: ScriptLanguage, source: &str) -> Vec<Fault> {
    let violation = |fault| match fault {
        ScriptFault::Syntax { line, column, why } => Violation::script(line, column, why),
        ScriptFault::NoExport => Violation::script_export(),
    };
    let violations: Vec<_> = match sandbox.check_script(language, source) {
        Ok(faults) => faults.into_iter().map(violation).collect(),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a source could not be checked");
            vec![Violation::invalid(error.to_string())]
        }
    };
    violations.into_iter().map(|violation| violation.at(below(PLACE, "source"))).collect()
}

fn failure(error: &ScriptError) -> ToolFailure {
    let code = match error {
        ScriptError::Exception { code, .. } => {
            let of_call = code.as_deref().and_then(|code| Code::from_str(code).ok());
            of_call.unwrap_or(Code::SandboxException)
        }
        ScriptError::Memory { .. } => Code::SandboxMemory,
        ScriptError::Output { .. } => Code::SandboxOutput,
        ScriptError::Time { .. } => Code::Timeout,
        ScriptError::Worker { .. } => {
            tracing::warn!(error = error as &dyn std::error::Error, "a script could not be run");
            Code::ToolFailed
        }
    };
    ToolFailure::with_code(code, error.to_string())
}

/// What a script may ask for, and why it was not run to its end.
struct Host<'a> {
    call: &'a Call<'a>,
    made: usize,
    stop: Option<Result<Ended, ToolFailure>>,
}

impl ScriptHost for Host<'_> {
    fn log(&mut self, line: String) {
        self.call.cx.log(line);
    }

    fn restart(&mut self) {
        self.call.cx.clear_log();
    }

    async fn call(
        &mut self,
        first: usize,
        calls: Vec<ScriptCall>,
    ) -> Option<Vec<Result<Value, CallFailure>>> {
        let made = calls.iter().enumerate().map(async |(at, ScriptCall { tool, input })| {
            let name = format!("call-{}", first + at);
            self.call.inner.call(InnerCall { name: &name, tool, input, settings: None }).await
        });
        let made = join_all(made).await;
        self.made = first + calls.len();
        let mut answers = Vec::with_capacity(made.len());
        let mut open = None;
        for (at, called) in made.into_iter().enumerate() {
            match called {
                Ok(Called::Open(wait)) => open = Some(both(open, wait)),
                Ok(Called::Ended(ended)) => answers.push(ended.map(|result| result.data).map_err(told)),
                Err(failure) if failure.code == Code::IdempotencyMismatch => {
                    self.stop = Some(Err(diverged(first + at, &calls[at].tool)));
                    return None;
                }
                Err(failure) => answers.push(Err(told(failure))),
            }
        }
        if let Some(wait) = open {
            self.stop = Some(Ok(Ended::Waits(wait)));
            return None;
        }
        Some(answers)
    }
}

fn told(failure: ToolFailure) -> CallFailure {
    CallFailure { code: failure.code.as_str().to_owned(), message: failure.message }
}

fn diverged(index: usize, tool: &str) -> ToolFailure {
    let message = format!(
        "a resumed script must make the same calls again: call {} (`{tool}`) now has another tool or input",
        index + 1
    );
    ToolFailure::with_code(Code::SandboxException, message)
}

/// What a run waits for that waits for both.
fn both(one: Option<Wait>, other: Wait) -> Wait {
    match (one, other) {
        (Some(Wait::Runs { mut ids, needs_approval }), Wait::Runs { ids: more, needs_approval: asks }) => {
            ids.extend(more);
            Wait::Runs { ids, needs_approval: needs_approval || asks }
        }
        (Some(Wait::Replica), _) => Wait::Replica,
        (_, wait) => wait,
    }
}

impl Executor for Artifact {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move { self.run(&call).await.unwrap_or_else(Ended::Failed) })
    }

    fn calls(&self) -> Vec<&str> {
        self.calls.named.iter().map(String::as_str).collect()
    }

    /// A script itself reaches nothing; what it calls by names that it makes up may reach anything.
    fn reaches_out(&self) -> bool {
        self.calls.others
    }

    fn is_resumable(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
