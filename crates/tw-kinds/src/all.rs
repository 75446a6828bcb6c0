//! The one place that knows every kind.

use serde_json::Value;
use tw_exec::{Executor, Kinds, Written};
use tw_model::Implementation;
use tw_schema::Fault;

use crate::{
    composition::Composition,
    faults::fault,
    function::Function,
    http::{Circuits, Http},
    internal,
    outside::Outside,
};

/// All kinds of tools that can be written down outside the program.
#[derive(Debug, Default)]
pub struct AllKinds {
    circuits: Circuits,
}

impl Kinds for AllKinds {
    fn read(&self, written: Written<'_>) -> Result<Box<dyn Executor>, Vec<Fault>> {
        let Written { kind, implementation, execution_spec, is_new, .. } = written;
        if let (Some(_), true) = (execution_spec, kind != Implementation::Composition) {
            let message = format!("is not for `{}` tools", kind.type_name());
            return Err(vec![fault("/execution_spec", message)]);
        }
        match kind {
            Implementation::Code => {
                Err(vec![fault("/implementation_type", "is for tools that are part of the program")])
            }
            Implementation::Unknown => {
                Err(vec![fault("/implementation_type", "is not a kind that this program knows")])
            }
            Implementation::Internal => internal::read(implementation, is_new),
            Implementation::Http => Http::read(implementation, &self.circuits, is_new).map(boxed),
            // Whoever names an address wants it called, at once, whatever the tool is to be.
            Implementation::External | Implementation::Space if implementation.get("url").is_some() => {
                Http::read(implementation, &self.circuits, is_new).map(boxed)
            }
            Implementation::External | Implementation::Space => {
                Outside::read(kind, implementation).map(boxed)
            }
            Implementation::Function => Function::read(implementation).map(boxed),
            Implementation::Composition => {
                Composition::read(execution_spec.unwrap_or(&Value::Null), is_new).map(boxed)
            }
        }
    }

    fn called(&self, written: Written<'_>) -> Vec<(String, String)> {
        match written.kind {
            Implementation::Internal => internal::called(written.implementation).into_iter().collect(),
            Implementation::Function => Function::called(written.implementation).into_iter().collect(),
            Implementation::Composition => {
                Composition::called(written.execution_spec.unwrap_or(&Value::Null))
            }
            Implementation::Code
            | Implementation::Http
            | Implementation::External
            | Implementation::Space => Vec::new(),
        }
    }
}

fn boxed<E: Executor + 'static>(executor: E) -> Box<dyn Executor> {
    Box::new(executor)
}
