//! The one place that knows every kind.

use serde_json::Value;
use tw_exec::{BoxFuture, Call, Ended, Executor, Kinds, Written};
use tw_model::{Implementation, ToolFailure};
use tw_schema::{Fault, Violation};

use crate::{
    composition::Composition,
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
        let takes_spec = matches!(kind, Implementation::Composition | Implementation::Custom);
        if let (Some(_), false) = (execution_spec, takes_spec) {
            return Err(vec![Violation::not_for_kind(kind.type_name()).at("/execution_spec")]);
        }
        match kind {
            Implementation::Code => Err(vec![Violation::program_only().at("/implementation_type")]),
            Implementation::Unknown => Err(vec![Violation::kind_unknown().at("/implementation_type")]),
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
            Implementation::Custom => match execution_spec {
                Some(spec) => Composition::read(spec, is_new).map(boxed),
                None => Ok(Box::new(Unspecified)),
            },
        }
    }

    fn called(&self, written: Written<'_>) -> Vec<(String, String)> {
        match written.kind {
            Implementation::Internal => internal::called(written.implementation).into_iter().collect(),
            Implementation::Function => Function::called(written.implementation).into_iter().collect(),
            Implementation::Composition | Implementation::Custom => {
                Composition::called(written.execution_spec.unwrap_or(&Value::Null))
            }
            Implementation::Code
            | Implementation::Http
            | Implementation::External
            | Implementation::Space
            | Implementation::Unknown => Vec::new(),
        }
    }
}

/// A `custom` tool of which nobody has said yet what it does.
#[derive(Debug)]
struct Unspecified;

impl Executor for Unspecified {
    fn run<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Ended> {
        let failure =
            ToolFailure::new("this `custom` tool has no `execution_spec`, so there is nothing to run");
        Box::pin(std::future::ready(Ended::Failed(failure)))
    }
}

fn boxed<E: Executor + 'static>(executor: E) -> Box<dyn Executor> {
    Box::new(executor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(kind: Implementation, execution_spec: Option<&Value>) -> Result<Box<dyn Executor>, Vec<Fault>> {
        let implementation = &json!({});
        AllKinds::default().read(Written {
            kind,
            implementation,
            execution_spec,
            is_async: false,
            is_new: true,
        })
    }

    #[test]
    fn custom_tool_is_what_its_execution_spec_says() {
        let chain = json!({ "kind": "composition", "steps": [{ "id": "a", "tool": "json_transform" }] });
        let read_chain = read(Implementation::Custom, Some(&chain)).unwrap();
        assert_eq!(read_chain.calls(), ["json_transform"]);
        assert!(read(Implementation::Custom, None).is_ok(), "it can be saved before it can run");
        let unknown = read(Implementation::Custom, Some(&json!({ "kind": "poem" }))).unwrap_err();
        assert_eq!(unknown[0].path, "/execution_spec/kind");
        assert!(read(Implementation::Http, Some(&chain)).is_err());
    }
}
