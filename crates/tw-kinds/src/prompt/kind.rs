//! The kind itself: a model, asked for a run.

use std::sync::Arc;

use serde_json::Value;
use toolwright_sdk::{Credentials, ToolContext};
use tw_exec::{BoxFuture, Call, Ended, Executor, Expressions, Refusal, Services};
use tw_model::{Caller, Code, ToolFailure, ToolResult};
use tw_models::{ModelAnswer, ModelAsker, ModelRequest, ModelStop, ModelTurn, Models, TurnRole};
use tw_schema::{Fault, Schema};

use super::{
    json,
    spec::{PromptOutput, PromptSpec, Said},
    stream::{Appended, Unshown},
};
use crate::{
    apart::{Apart, INLINE_BYTES_MAX, bytes_of},
    template::Context,
};

#[derive(Debug)]
pub(crate) struct Prompt(Arc<PromptSpec>);

impl Prompt {
    pub(crate) fn read(spec: &Value) -> Result<Self, Vec<Fault>> {
        PromptSpec::read(spec).map(|spec| Self(Arc::new(spec)))
    }

    pub(crate) fn expressions(&self) -> Expressions {
        Expressions { lookups: self.0.lookups(), ..Expressions::default() }
    }

    async fn ask(&self, call: &Call<'_>) -> Result<ToolResult, ToolFailure> {
        let said = self.filled(&call.cx, &call.input).await?;
        let asking = Asking {
            spec: &self.0,
            models: call.cx.service::<Models>()?,
            asker: ModelAsker::of(&call.cx)?,
            cx: &call.cx,
        };
        match self.0.output {
            PromptOutput::Text => asking.text(said).await,
            PromptOutput::Json => asking.json(said, call.def.output_schema.as_deref()).await,
        }
    }

    /// Fills it in, apart from everybody else unless that is certain to be cheap.
    async fn filled(&self, cx: &ToolContext, input: &Value) -> Result<Said, ToolFailure> {
        if self.0.cost().is_small(bytes_of(input)) {
            return self.0.fill(&Context::of_input(input));
        }
        let (spec, input) = (Arc::clone(&self.0), input.clone());
        apart(cx).run(move || spec.fill(&Context::of_input(&input))).await
    }
}

fn apart(cx: &ToolContext) -> Apart {
    Apart { tenant: cx.tenant(), deadline: cx.deadline() }
}

/// One run.
struct Asking<'a> {
    spec: &'a PromptSpec,
    models: &'a Models,
    asker: ModelAsker,
    cx: &'a ToolContext,
}

impl Asking<'_> {
    async fn text(&self, said: Said) -> Result<ToolResult, ToolFailure> {
        let request = self.request(said.system, vec![user(said.prompt)], 1);
        let mut shown = Appended::new(self.cx);
        let answer = self.models.ask(&self.asker, &self.spec.model, &request, &mut shown).await;
        // Also what came before a failure.
        shown.finish().await;
        let answer = answer?;
        let summary = summary(&answer, answer.text.chars().count());
        Ok(ToolResult { data: Value::String(answer.text), summary, markdown: None })
    }

    /// An answer that does not fit goes back once, with what is wrong with it.
    async fn json(&self, said: Said, schema: Option<&Value>) -> Result<ToolResult, ToolFailure> {
        let instruction = json::instruction(schema);
        let system =
            Some(said.system.map_or_else(|| instruction.clone(), |own| format!("{own}\n\n{instruction}")));
        let schema = self.compiled(schema).await?;
        let mut turns = vec![user(said.prompt)];
        let mut pass = 1;
        loop {
            let request = self.request(system.clone(), turns, pass);
            let answer = self.models.ask(&self.asker, &self.spec.model, &request, &mut Unshown).await?;
            let characters = answer.text.chars().count();
            let summary = summary(&answer, characters);
            let (text, read) = self.read(answer.text, schema.clone()).await?;
            let why = match read {
                Ok(data) => return Ok(ToolResult { data, summary, markdown: None }),
                Err(why) if answer.stop == ModelStop::Length => {
                    format!("it was cut off at `max_output_tokens`, and {why}")
                }
                Err(why) => why,
            };
            if 1 < pass {
                let message = format!("the model's answer is invalid, and so was the one before: {why}");
                return Err(ToolFailure::with_code(Code::OutputInvalid, message));
            }
            turns = request.turns;
            turns.push(ModelTurn { role: TurnRole::Assistant, text });
            turns.push(user(json::correction(&why)));
            pass += 1;
        }
    }

    fn request(&self, system: Option<String>, turns: Vec<ModelTurn>, pass: u32) -> ModelRequest {
        ModelRequest {
            system,
            turns,
            json: self.spec.output == PromptOutput::Json,
            temperature: self.spec.temperature,
            max_output_tokens: self.spec.max_output_tokens,
            pass,
        }
    }

    async fn compiled(&self, schema: Option<&Value>) -> Result<Option<Schema>, ToolFailure> {
        let Some(schema) = schema.cloned() else { return Ok(None) };
        let compile = move || {
            Schema::compile(&schema).map_err(|_| {
                ToolFailure::with_code(Code::Internal, "the tool's output schema cannot be used")
            })
        };
        apart(self.cx).run(compile).await.map(Some)
    }

    /// Reads an answer, a large one apart from everybody else, and gives its text back.
    async fn read(
        &self,
        text: String,
        schema: Option<Schema>,
    ) -> Result<(String, Result<Value, String>), ToolFailure> {
        let is_quick = schema.as_ref().is_none_or(|schema| schema.is_quick(text.len()));
        let is_small = text.len() <= INLINE_BYTES_MAX && is_quick;
        let read = move || {
            let read = json::read(&text, schema.as_ref());
            Ok((text, read))
        };
        if is_small { read() } else { apart(self.cx).run(read).await }
    }
}

fn user(text: String) -> ModelTurn {
    ModelTurn { role: TurnRole::User, text }
}

fn summary(answer: &ModelAnswer, characters: usize) -> String {
    let cut = if answer.stop == ModelStop::Length { ", cut off at `max_output_tokens`" } else { "" };
    format!("{} answered with {characters} characters{cut}", answer.usage.model)
}

impl Executor for Prompt {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move { self.ask(&call).await.into() })
    }

    /// A model that is not there, or has no key, is told before anything runs.
    fn check<'a>(
        &'a self,
        caller: &'a Caller,
        services: &'a Services,
        _: &'a Value,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(async move {
            let (Some(models), Some(credentials)) =
                (services.get::<Models>(), services.get::<dyn Credentials>())
            else {
                return Ok(());
            };
            let checked = models.check(caller.tenant, &**credentials, &self.0.model).await;
            checked.map_err(|failure| Refusal {
                code: failure.code,
                message: failure.message,
                faults: Vec::new(),
            })
        })
    }
}
