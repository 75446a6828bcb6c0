//! What an author writes: `execution_spec` of a tool of kind `prompt`.

use serde_json::{Map, Value};
use tw_exec::Lookup;
use tw_model::ToolFailure;
use tw_schema::{Fault, Violation};

use crate::{
    faults::{Faults, below},
    template::{Context, language::Cost, pieces::SecretReferences, text::Text},
    url_template::scalar,
};

const PLACE: &str = "/execution_spec";
const NAMES: &[&str] = &["input"];
const MEMBERS: &[&str] =
    &["kind", "mode", "prompt_template", "system", "model", "output", "temperature", "max_output_tokens"];
const MODEL: &str = "default";
const MODEL_LEN_MAX: usize = 64;
const TEMPERATURE_MAX: f64 = 2.0;
const OUTPUT_TOKENS_MAX: u64 = 1_000_000;

/// What the tool gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptOutput {
    Text,
    Json,
}

/// A question to a model, read and compiled once.
#[derive(Debug)]
pub(super) struct PromptSpec {
    prompt: Text,
    system: Option<Text>,
    /// The name behind `models.`.
    pub(super) model: String,
    pub(super) output: PromptOutput,
    pub(super) temperature: Option<f64>,
    pub(super) max_output_tokens: Option<u64>,
}

/// What is said to the model.
pub(super) struct Said {
    pub(super) system: Option<String>,
    pub(super) prompt: String,
}

impl PromptSpec {
    /// Reads a spec, and tells everything that is wrong with it.
    pub(super) fn read(spec: &Value) -> Result<Self, Vec<Fault>> {
        let mut reader = Reader::default();
        let Some(members) = spec.as_object() else {
            let violation =
                if spec.is_null() { Violation::required() } else { Violation::typed(&["object"], spec) };
            reader.faults.say(PLACE, violation);
            return reader.faults.told(None);
        };
        for name in members.keys().filter(|name| !MEMBERS.contains(&name.as_str())) {
            reader.faults.say(below(PLACE, name), Violation::unknown_member());
        }
        let part = |name: &str| members.get(name).filter(|value| !value.is_null());
        reader.kind(members);
        reader.mode(part("mode"));
        let prompt = reader.template("prompt_template", part("prompt_template"));
        if part("prompt_template").is_none() {
            reader.faults.say(below(PLACE, "prompt_template"), Violation::required());
        }
        let system = reader.template("system", part("system"));
        let model = reader.model(part("model"));
        let output = reader.output(part("output"));
        let temperature = part("temperature").and_then(|value| reader.temperature(value));
        let max_output_tokens = part("max_output_tokens").and_then(|value| reader.output_tokens(value));
        let read =
            prompt.map(|prompt| Self { prompt, system, model, output, temperature, max_output_tokens });
        reader.faults.told(read)
    }

    /// Everything that its expressions look up.
    pub(super) fn lookups(&self) -> Vec<Lookup> {
        let mut found = Vec::new();
        self.prompt.lookups(&mut found);
        self.system.iter().for_each(|system| system.lookups(&mut found));
        found
    }

    pub(super) fn cost(&self) -> Cost {
        self.system.iter().map(Text::cost).fold(self.prompt.cost(), Cost::and)
    }

    pub(super) fn fill(&self, context: &Context) -> Result<Said, ToolFailure> {
        let prompt = filled(&self.prompt, context)?.ok_or_else(|| self.prompt.missing())?;
        if prompt.trim().is_empty() {
            return Err(ToolFailure::invalid(format!(
                "`{PLACE}/prompt_template` must not produce an empty text"
            )));
        }
        let system = self.system.as_ref().map(|system| filled(system, context)).transpose()?.flatten();
        Ok(Said { prompt, system: system.filter(|system| !system.trim().is_empty()) })
    }
}

/// A text; what is no text stands there as JSON.
fn filled(text: &Text, context: &Context) -> Result<Option<String>, ToolFailure> {
    let value = text.value(context)?.filter(|value| !value.is_null());
    Ok(value.map(|value| scalar(&value).unwrap_or_else(|| value.to_string())))
}

#[derive(Default)]
struct Reader {
    faults: Faults,
}

impl Reader {
    fn kind(&mut self, members: &Map<String, Value>) {
        if members.get("kind").is_none_or(|kind| kind != "prompt") {
            self.faults.say(below(PLACE, "kind"), Violation::constant("prompt"));
        }
    }

    fn mode(&mut self, mode: Option<&Value>) {
        let violation = match mode.map(Value::as_str) {
            None => Violation::required(),
            Some(Some("direct")) => return,
            Some(Some("skill")) => Violation::mode_later("skill", "skills and agents"),
            Some(Some("agent")) => Violation::mode_later("agent", "agents"),
            Some(_) => Violation::words(["direct", "skill", "agent"]),
        };
        self.faults.say(below(PLACE, "mode"), violation);
    }

    fn template(&mut self, name: &str, value: Option<&Value>) -> Option<Text> {
        let at = below(PLACE, name);
        let text = match value? {
            Value::String(text) if text.trim().is_empty() => {
                self.faults.say(at, Violation::not_empty());
                return None;
            }
            Value::String(text) => text,
            other => {
                self.faults.say(at, Violation::typed(&["string"], other));
                return None;
            }
        };
        let read = Text::read(text, &at, NAMES, SecretReferences::None);
        read.map_err(|violation| self.faults.say(at, violation)).ok()
    }

    fn model(&mut self, value: Option<&Value>) -> String {
        let Some(value) = value else { return MODEL.to_owned() };
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        match value.as_str() {
            Some(name) if name.is_empty() || MODEL_LEN_MAX < name.len() => {
                self.faults.say(below(PLACE, "model"), Violation::length(1, MODEL_LEN_MAX));
            }
            Some(name) if !name.chars().all(letters) => {
                self.faults.say(below(PLACE, "model"), Violation::characters());
            }
            Some(name) => return name.to_owned(),
            None => self.faults.say(below(PLACE, "model"), Violation::typed(&["string"], value)),
        }
        MODEL.to_owned()
    }

    fn output(&mut self, value: Option<&Value>) -> PromptOutput {
        match value.map(Value::as_str) {
            None | Some(Some("text")) => PromptOutput::Text,
            Some(Some("json")) => PromptOutput::Json,
            Some(_) => {
                self.faults.say(below(PLACE, "output"), Violation::words(["text", "json"]));
                PromptOutput::Text
            }
        }
    }

    fn temperature(&mut self, value: &Value) -> Option<f64> {
        let at = below(PLACE, "temperature");
        match value.as_f64() {
            None => self.faults.say(at, Violation::typed(&["number"], value)),
            Some(number) if number < 0.0 => self.faults.say(at, Violation::minimum(0)),
            Some(number) if TEMPERATURE_MAX < number => self.faults.say(at, Violation::maximum(2)),
            Some(number) => return Some(number),
        }
        None
    }

    fn output_tokens(&mut self, value: &Value) -> Option<u64> {
        let tokens = value.as_u64().filter(|tokens| (1..=OUTPUT_TOKENS_MAX).contains(tokens));
        if tokens.is_none() {
            self.faults.say(below(PLACE, "max_output_tokens"), Violation::range(1, OUTPUT_TOKENS_MAX));
        }
        tokens
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(rest: Value, places: &[(&str, &str)]) {
        let mut spec = json!({ "kind": "prompt", "mode": "direct", "prompt_template": "hi {{ input.a }}" });
        spec.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let faults = PromptSpec::read(&spec).err().unwrap_or_default();
        let found: Vec<_> = faults.iter().map(|fault| (fault.path.as_str(), fault.code.as_str())).collect();
        assert_eq!(found, places, "{spec}");
    }

    #[test]
    fn every_fault_is_told_at_its_place() {
        check(json!({}), &[]);
        check(json!({ "system": "s", "model": "cheap-1", "output": "json", "temperature": 0 }), &[]);
        check(json!({ "tools": [] }), &[("/execution_spec/tools", "unknown_member")]);
        check(json!({ "mode": null }), &[("/execution_spec/mode", "required")]);
        check(json!({ "mode": "skill" }), &[("/execution_spec/mode", "mode_later")]);
        check(json!({ "mode": "chat" }), &[("/execution_spec/mode", "enum")]);
        check(json!({ "prompt_template": null }), &[("/execution_spec/prompt_template", "required")]);
        check(json!({ "prompt_template": " " }), &[("/execution_spec/prompt_template", "not_empty")]);
        check(
            json!({ "prompt_template": "{{ input.a", "system": "{% include 'x' %}" }),
            &[
                ("/execution_spec/prompt_template", "expression_unclosed"),
                ("/execution_spec/system", "statement"),
            ],
        );
        check(
            json!({ "prompt_template": "{{ env.KEY }}" }),
            &[("/execution_spec/prompt_template", "unknown_name_in_expression")],
        );
        check(
            json!({ "model": "A", "output": "xml", "temperature": 3, "max_output_tokens": 0 }),
            &[
                ("/execution_spec/model", "characters"),
                ("/execution_spec/output", "enum"),
                ("/execution_spec/temperature", "maximum"),
                ("/execution_spec/max_output_tokens", "range"),
            ],
        );
    }

    #[test]
    fn input_is_inserted_once_and_never_read_as_a_template() {
        let spec = json!({ "kind": "prompt", "mode": "direct", "prompt_template": "{{ input.a }}", "system": "{{ input.b }}" });
        let spec = PromptSpec::read(&spec).unwrap();
        let said = spec.fill(&Context::of_input(&json!({ "a": "{{ 7*7 }} secret:x", "b": [1] }))).unwrap();
        assert_eq!((said.prompt.as_str(), said.system.as_deref()), ("{{ 7*7 }} secret:x", Some("[1]")));
        let failure = spec.fill(&Context::of_input(&json!({}))).err().unwrap();
        assert_eq!(failure.code, tw_model::Code::InvalidParams);
    }
}
