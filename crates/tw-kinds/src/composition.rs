//! Tools that are other tools, one after the other.
//!
//! A chain keeps no results of its own. Each step is a call by the name of the step, and the same name is answered by
//! the same run, so a chain that was cut off, or that waited for somebody, is run again from its beginning: the
//! steps that it has done answer as they did, and it goes on from there.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value, json};
use tw_exec::{
    BoxFuture, Call, Called, Callee, Ended, Executor, Expressions, InnerCall, Lookup, STEPS_MAX, StepInput,
};
use tw_model::{Code, Slug, ToolFailure, ToolResult};
use tw_schema::{Fault, Violation};

use crate::{
    apart::{Apart, bytes_of},
    condition::Condition,
    faults::{Faults, below},
    template::{Context, Known, Template, language::Cost},
};

const ID_MAX: usize = 64;
/// What the steps of a chain may give together, as JSON. It is held in memory until the chain ends.
const OUTPUTS_BYTES_MAX: usize = 64 << 20;
pub(crate) const PLACE: &str = "/execution_spec";
/// What a value to go on with belongs to.
const FALLBACK: &str = "on_error: fallback";

#[derive(Debug)]
pub(crate) struct Composition {
    steps: Arc<[Step]>,
    output: Option<Arc<Template>>,
}

#[derive(Debug)]
struct Step {
    id: String,
    tool: Slug,
    input: Template,
    when: Option<Condition>,
    on_error: OnError,
}

/// What a chain does when a step fails.
#[derive(Debug)]
enum OnError {
    Stop,
    Continue,
    Fallback(Value),
}

impl Composition {
    pub(crate) fn read(spec: &Value, is_new: bool) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        let Some(members) = spec.as_object() else {
            let violation =
                if spec.is_null() { Violation::required() } else { Violation::typed(&["object"], spec) };
            faults.say(PLACE, violation);
            return faults.told(None);
        };
        for (name, value) in members {
            match name.as_str() {
                "kind" if value == "composition" => {}
                "kind" => faults.say(below(PLACE, "kind"), Violation::constant("composition")),
                "steps" | "output" => {}
                _ => faults.say(below(PLACE, name), Violation::unknown_member()),
            }
        }
        let empty = Vec::new();
        let steps = match members.get("steps") {
            Some(Value::Array(steps)) if (1..=STEPS_MAX).contains(&steps.len()) => steps,
            _ => {
                faults.say(below(PLACE, "steps"), Violation::item_count(1, STEPS_MAX));
                &empty
            }
        };
        let mut read: Vec<Step> = Vec::with_capacity(steps.len());
        for (index, step) in steps.iter().enumerate() {
            let place = format!("{PLACE}/steps/{index}");
            let Some(step) = faults.take(Step::read(step, &place)) else { continue };
            if read.iter().any(|before| before.id == step.id) {
                faults.say(format!("{place}/id"), Violation::duplicate(step.id.as_str()));
            }
            read.push(step);
        }
        let output = members.get("output").filter(|output| !output.is_null());
        let output =
            output.map(|output| Template::read(output, &below(PLACE, "output"), &["input", "steps"]));
        let output = output.and_then(|output| faults.take(output));
        let read = Self { steps: read.into(), output: output.map(Arc::new) };
        // A chain that was saved before this was looked at still runs.
        if is_new {
            faults.extend(read.unknown_steps());
        }
        faults.told(Some(read))
    }

    /// The tools that the steps name, each with its path. Also of steps that cannot be read otherwise.
    pub(crate) fn called(spec: &Value) -> Vec<Callee> {
        let steps = spec.get("steps").and_then(Value::as_array).into_iter().flatten().enumerate();
        let named = steps.filter_map(|(index, step)| {
            let name = step.get("tool")?.as_str()?.to_owned();
            Some(Callee { path: format!("{PLACE}/steps/{index}/tool"), name, is_certain: true })
        });
        named.collect()
    }

    pub(crate) fn expressions(&self) -> Expressions {
        let mut found = Expressions::default();
        for (index, step) in self.steps.iter().enumerate() {
            let place = |part| format!("{PLACE}/steps/{index}/{part}");
            step.input.lookups(&mut found.lookups);
            let when = step.when.iter().flat_map(Condition::reads);
            found.lookups.extend(when.map(|name| Lookup { path: place("when"), name: name.clone() }));
            let (id, tool) = (step.id.clone(), step.tool.to_string());
            let (path, members) = (place("input"), step.input.members());
            let falls_back = matches!(step.on_error, OnError::Fallback(_));
            found.steps.push(StepInput { id, tool, path, members, falls_back });
        }
        if let Some(output) = &self.output {
            output.lookups(&mut found.lookups);
        }
        found
    }

    async fn run(&self, call: &Call<'_>) -> Result<Ended, ToolFailure> {
        let apart = Apart { tenant: call.cx.tenant(), deadline: call.cx.deadline() };
        let mut done = Done::new(&call.input);
        let mut last = Value::Null;
        for (at, step) in self.steps.iter().enumerate() {
            let outcome = match self.input(apart, at, &done).await {
                Ok(None) => {
                    last = Value::Null;
                    done.add(step, "skipped", &Given::nothing(), None)?;
                    continue;
                }
                Ok(Some(input)) => {
                    let tool = step.tool.as_str();
                    call.inner.call(InnerCall { name: &step.id, tool, input: &input, settings: None }).await
                }
                Err(failure) => Err(failure),
            };
            let outcome = match outcome {
                Ok(Called::Open(wait)) => return Ok(Ended::Waits(wait)),
                Ok(Called::Ended(ended)) => ended.map(|result| Given::of(result.data)),
                Err(failure) => Err(failure),
            };
            let (status, given, failure) = match outcome {
                Ok(given) => ("success", given, None),
                Err(failure) => ("error", Given::of(step.instead(&failure)?), Some(failure)),
            };
            done.add(step, status, &given, failure.as_ref())?;
            last = given.value;
        }
        let data = match &self.output {
            Some(output) => self.rendered(apart, Arc::clone(output), &done).await?,
            None => last,
        };
        let steps = self.steps.len();
        ToolResult::returned(data, || format!("{}: {} of {steps} steps done", call.def.name, done.successes))
            .map(Ended::Done)
    }

    /// The input of a step; `None` where its condition does not hold.
    async fn input(&self, apart: Apart, at: usize, done: &Done) -> Result<Option<Value>, ToolFailure> {
        let context = done.context();
        if self.steps[at].cost().is_small(done.bytes) {
            return self.steps[at].input(&context);
        }
        let steps = Arc::clone(&self.steps);
        apart.run(move || steps[at].input(&context)).await
    }

    async fn rendered(&self, apart: Apart, output: Arc<Template>, done: &Done) -> Result<Value, ToolFailure> {
        let context = done.context();
        if output.cost().is_small(done.bytes) {
            return output.render_whole(&context);
        }
        apart.run(move || output.render_whole(&context)).await
    }

    /// What it says about steps that are not there, or not yet.
    fn unknown_steps(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut say = |place: String, reads: &BTreeSet<String>, before: &[Step]| {
            let ids = reads.iter().filter_map(|read| read.strip_prefix("steps.")?.split('.').next());
            for id in ids.filter(|id| before.iter().all(|step| step.id != *id)).collect::<BTreeSet<_>>() {
                faults.push(Violation::unknown_step(id).at(&place));
            }
        };
        for (index, step) in self.steps.iter().enumerate() {
            let place = |part| format!("{PLACE}/steps/{index}/{part}");
            let mut reads = BTreeSet::new();
            step.input.reads(&mut reads);
            say(place("input"), &reads, &self.steps[..index]);
            if let Some(when) = &step.when {
                say(place("when"), when.reads(), &self.steps[..index]);
            }
        }
        if let Some(output) = &self.output {
            let mut reads = BTreeSet::new();
            output.reads(&mut reads);
            say(below(PLACE, "output"), &reads, &self.steps);
        }
        faults
    }
}

/// What a step gave: for the next ones to read, and as it is.
struct Given {
    value: Value,
    known: Known,
    bytes: usize,
}

impl Given {
    fn of(value: Value) -> Self {
        Self { known: Known::of(&value), bytes: value.to_string().len(), value }
    }

    fn nothing() -> Self {
        Self::of(Value::Null)
    }
}

/// What a chain has so far, as its expressions read it.
struct Done {
    input: Known,
    steps: Vec<(String, Known)>,
    /// Of the input and of everything that the steps gave.
    bytes: usize,
    outputs: usize,
    successes: usize,
}

impl Done {
    fn new(input: &Value) -> Self {
        Self { input: Known::of(input), steps: Vec::new(), bytes: bytes_of(input), outputs: 0, successes: 0 }
    }

    fn context(&self) -> Context {
        let steps = self.steps.iter().map(|(id, step)| (id, step.clone()));
        Context::new([("input", self.input.clone()), ("steps", Known::members(steps))])
    }

    fn add(
        &mut self,
        step: &Step,
        status: &str,
        given: &Given,
        failure: Option<&ToolFailure>,
    ) -> Result<(), ToolFailure> {
        self.bytes = self.bytes.saturating_add(given.bytes);
        self.outputs += given.bytes;
        if OUTPUTS_BYTES_MAX < self.outputs {
            let message = format!("the outputs of the steps are over {OUTPUTS_BYTES_MAX} bytes together");
            return Err(ToolFailure::with_code(Code::BudgetExceeded, message));
        }
        let error = failure.map(|failure| json!({ "code": failure.code, "message": failure.message }));
        let error = error.map(|error| ("error", Known::of(&error)));
        let members = [("status", Known::of(&json!(status))), ("output", given.known.clone())];
        self.steps.push((step.id.clone(), Known::members(members.into_iter().chain(error))));
        self.successes += usize::from(status == "success");
        Ok(())
    }
}

impl Executor for Composition {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move { self.run(&call).await.unwrap_or_else(Ended::Failed) })
    }

    fn calls(&self) -> Vec<&str> {
        self.steps.iter().map(|step| step.tool.as_str()).collect()
    }

    fn is_resumable(&self) -> bool {
        true
    }
}

impl Step {
    fn cost(&self) -> Cost {
        self.when.iter().map(Condition::cost).fold(self.input.cost(), Cost::and)
    }

    /// What it is called with; `None` where its condition does not hold.
    fn input(&self, context: &Context) -> Result<Option<Value>, ToolFailure> {
        match self.when.as_ref().map_or(Ok(true), |when| when.holds(context))? {
            true => self.input.render(context).map(Some),
            false => Ok(None),
        }
    }

    /// What stands for its output where it has failed, if the chain goes on.
    fn instead(&self, failure: &ToolFailure) -> Result<Value, ToolFailure> {
        match &self.on_error {
            OnError::Stop => {
                let message = format!("step `{}` ({}): {}", self.id, self.tool, failure.message);
                Err(ToolFailure::with_code(failure.code, message))
            }
            OnError::Continue => Ok(Value::Null),
            OnError::Fallback(value) => Ok(value.clone()),
        }
    }

    fn read(step: &Value, place: &str) -> Result<Self, Vec<Fault>> {
        const NAMES: &[&str] = &["input", "steps"];
        let mut faults = Faults::default();
        let Some(members) = step.as_object() else {
            faults.say(place, Violation::typed(&["object"], step));
            return faults.told(None);
        };
        for name in members.keys() {
            if !matches!(name.as_str(), "id" | "tool" | "input" | "when" | "on_error" | "fallback") {
                faults.say(below(place, name), Violation::unknown_member());
            }
        }
        let id = members.get("id").and_then(Value::as_str).filter(|id| is_id(id));
        if id.is_none() {
            let is_there = members.get("id").is_some_and(|id| !id.is_null());
            let violation = if is_there { Violation::step_id(ID_MAX) } else { Violation::required() };
            faults.say(below(place, "id"), violation);
        }
        let tool = match members.get("tool").and_then(Value::as_str).map(str::parse::<Slug>) {
            Some(Ok(tool)) => Some(tool),
            Some(Err(error)) => {
                faults.say(below(place, "tool"), tw_exec::slug_violation(&error));
                None
            }
            None => {
                faults.say(below(place, "tool"), Violation::required());
                None
            }
        };
        let empty = Value::Object(Map::new());
        let input = members.get("input").unwrap_or(&empty);
        let single = input.as_str().is_some_and(|text| text.starts_with("{{"));
        if !input.is_object() && !single {
            faults.say(below(place, "input"), Violation::step_input());
        }
        let input = faults.take(Template::read(input, &below(place, "input"), NAMES));
        let when = match members.get("when") {
            None | Some(Value::Null) => None,
            Some(Value::String(when)) => faults.take(Condition::read(when, &below(place, "when"), NAMES)),
            Some(other) => {
                faults.say(below(place, "when"), Violation::typed(&["string"], other));
                None
            }
        };
        let fallback = members.get("fallback");
        let on_error = match members.get("on_error").map(|word| word.as_str()) {
            None | Some(Some("stop")) => Some(OnError::Stop),
            Some(Some("continue")) => Some(OnError::Continue),
            Some(Some("fallback")) => match fallback {
                Some(value) => Some(OnError::Fallback(value.clone())),
                None => {
                    faults.say(below(place, "fallback"), Violation::required_with(FALLBACK));
                    None
                }
            },
            Some(_) => {
                faults.say(below(place, "on_error"), Violation::words(["stop", "continue", "fallback"]));
                None
            }
        };
        if fallback.is_some() && matches!(on_error, Some(OnError::Stop | OnError::Continue)) {
            faults.say(below(place, "fallback"), Violation::only_with(FALLBACK));
        }
        let parts = (id, tool, input, on_error);
        let (Some(id), Some(tool), Some(input), Some(on_error)) = parts else { return faults.told(None) };
        faults.told(Some(Self { id: id.to_owned(), tool, input, when, on_error }))
    }
}

/// Names that expressions can say.
fn is_id(id: &str) -> bool {
    let mut letters = id.chars();
    let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    starts && id.len() <= ID_MAX && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
