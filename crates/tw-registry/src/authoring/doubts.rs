//! What would fail when somebody calls a tool, and can be told before: expressions over fields that do not exist,
//! inputs that a step does not get though its tool requires them, and outputs that cannot fit their schema. A save tells
//! them as warnings, and nothing that has them is published.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use tw_base::Result;
use tw_exec::{Expressions, Lookup, StepInput};
use tw_model::{Caller, Definition, Implementation};
use tw_schema::{Fault, Unnamed, Violation, known_instead};

use super::{
    draft::written,
    outputs::misfits,
    read::{CHECKING, in_lane},
};
use crate::{
    Registry,
    catalogue::{Side, Tool, View},
    tools::seen,
};

/// How many are told, and how many fields each names that could be meant.
const TOLD_MAX: usize = 50;
const KNOWN_MAX: usize = 10;
/// What a step that was done has, beside what its tool gave.
const OF_STEP: &[&str] = &["output", "status", "error"];

impl Registry {
    /// Everything of the kind that a definition has.
    pub(super) async fn doubts(
        &self,
        caller: &Caller,
        view: &View,
        definition: &Definition,
    ) -> Result<Vec<Fault>> {
        let Some(kind) = Implementation::parse(&definition.implementation_type) else {
            return Ok(Vec::new());
        };
        let (kinds, read) = (Arc::clone(self.catalogue.kinds()), definition.clone());
        let expressions =
            in_lane(caller.tenant, CHECKING, move || kinds.expressions(written(kind, &read, false))).await?;
        let mut tools = HashMap::new();
        for step in &expressions.steps {
            let entry = view.tools.get(&step.tool).filter(|entry| seen(entry, caller, view).is_some());
            let tool = entry.map(|entry| self.catalogue.ready(entry, Side::Live)).transpose()?;
            if let Some(tool) = tool.flatten() {
                tools.insert(step.id.as_str(), tool);
            }
        }
        let fixed = expressions.steps.iter().filter(|step| !step.falls_back).map(|step| step.id.as_str());
        let outputs = fixed.filter_map(|id| Some((id, tools.get(id)?.as_ref()))).collect();
        let mut doubts: Vec<Fault> = expressions
            .lookups
            .iter()
            .filter_map(|lookup| unknown_field(lookup, &definition.input_schema, &outputs))
            .chain(missing_inputs(&expressions, &tools))
            .chain(misfits(expressions.output.as_ref(), definition.output_schema.as_ref()))
            .collect();
        doubts.truncate(TOLD_MAX);
        Ok(doubts)
    }
}

fn unknown_field(
    Lookup { path, name }: &Lookup,
    input: &Value,
    outputs: &HashMap<&str, &Tool>,
) -> Option<Fault> {
    let names: Vec<&str> = name.split('.').collect();
    let (known_from, (depth, known)) = match names.as_slice() {
        ["input", rest @ ..] => (1, known_instead(input, rest, Unnamed::Absent)?),
        ["steps", _, part, ..] if !OF_STEP.contains(part) => {
            (2, (0, OF_STEP.iter().map(|part| (*part).to_owned()).collect()))
        }
        ["steps", id, "output", rest @ ..] => {
            let def = &outputs.get(id)?.def;
            // Who writes a schema for a service's answer need not name everything that is in it.
            let unnamed = match def.implementation {
                Implementation::Code => Unnamed::Absent,
                _ => Unnamed::Allowed,
            };
            (3, known_instead(def.output_schema.as_ref()?, rest, unnamed)?)
        }
        _ => return None,
    };
    let at = known_from + depth;
    let (before, name) = (names[..at].join("."), names[..=at].join("."));
    let known: Vec<Value> =
        known.iter().take(KNOWN_MAX).map(|known| format!("{before}.{known}").into()).collect();
    Some(Violation::unknown_field_in_expression(name, known).at(path))
}

fn missing_inputs(expressions: &Expressions, tools: &HashMap<&str, Arc<Tool>>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for StepInput { id, tool, path, members, .. } in &expressions.steps {
        let (Some(members), Some(called)) = (members, tools.get(id.as_str())) else { continue };
        let schema = &called.def.input_schema;
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let has_default =
            |name: &str| schema.pointer(&format!("/properties/{}/default", escaped(name))).is_some();
        let missing =
            required.filter_map(Value::as_str).filter(|name| !members.contains(*name) && !has_default(name));
        faults.extend(missing.map(|name| {
            Violation::step_input_missing(tool.as_str()).at(format!("{path}/{}", escaped(name)))
        }));
    }
    faults
}

/// A name as a JSON pointer has it.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
