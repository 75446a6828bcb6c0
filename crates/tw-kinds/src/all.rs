//! The one place that knows every kind.

use serde_json::Value;
use tw_exec::{BoxFuture, Call, Callee, Ended, Executor, Expressions, Kinds, Written, WrittenOutput};
use tw_model::{Implementation, ToolFailure};
use tw_sandbox::Sandbox;
use tw_schema::{Fault, Violation};

use crate::{
    artifact::Artifact,
    composition::{self, Composition},
    function::Function,
    http::{Circuits, Http},
    internal,
    mcp::Mcp,
    outside::Outside,
    prompt::Prompt,
    sealed_chain::SealedChain,
};

/// All kinds of tools that can be written down outside the program.
#[derive(Debug)]
pub struct AllKinds {
    circuits: Circuits,
    /// Where scripts are read and run.
    sandbox: Sandbox,
}

impl AllKinds {
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self { circuits: Circuits::default(), sandbox }
    }
}

impl Kinds for AllKinds {
    fn read(&self, written: Written<'_>) -> Read {
        let kind = Kind::of(written.kind);
        if written.execution_spec.is_some() && !kind.takes_spec {
            return Err(vec![Violation::not_for_kind(written.kind.type_name()).at("/execution_spec")]);
        }
        (kind.read)(self, written)
    }

    fn called(&self, written: Written<'_>) -> Vec<Callee> {
        Kind::of(written.kind).called.map_or_else(Vec::new, |called| called(written))
    }

    fn expressions(&self, written: Written<'_>) -> Expressions {
        (Kind::of(written.kind).expressions)(written)
    }

    fn can_call(&self, kind: Implementation) -> bool {
        Kind::of(kind).called.is_some()
    }

    fn builtin_key<'a>(&self, written: Written<'a>) -> Option<&'a str> {
        (Kind::of(written.kind).builtin_key)(written.implementation)
    }
}

/// A definition that was read, or every fault of it.
type Read = Result<Box<dyn Executor>, Vec<Fault>>;

/// What a kind does with a definition.
struct Kind {
    /// Whether `execution_spec` says what runs.
    takes_spec: bool,
    read: fn(&AllKinds, Written<'_>) -> Read,
    /// `None` for a kind that calls no other tools.
    called: Option<fn(Written<'_>) -> Vec<Callee>>,
    builtin_key: fn(&Value) -> Option<&str>,
    expressions: fn(Written<'_>) -> Expressions,
}

impl Kind {
    /// The one place where kinds are told apart by what they do.
    fn of(kind: Implementation) -> Self {
        match kind {
            Implementation::Code => {
                Self::reading(|_, _| Err(vec![Violation::program_only().at("/implementation_type")]))
            }
            Implementation::Unknown => {
                Self::reading(|_, _| Err(vec![Violation::kind_unknown().at("/implementation_type")]))
            }
            Implementation::Internal => Self {
                called: Some(|written| internal::called(written.implementation).into_iter().collect()),
                builtin_key: internal::builtin_key,
                ..Self::reading(|_, written| internal::read(written.implementation, written.is_new))
            },
            Implementation::Http => Self { expressions: Http::expressions, ..Self::reading(http) },
            Implementation::External | Implementation::Space => {
                Self { expressions: Http::expressions, ..Self::reading(outside) }
            }
            Implementation::Function => Self {
                called: Some(|written| Function::called(written.implementation).into_iter().collect()),
                ..Self::reading(|_, written| Function::read(written.implementation).map(boxed))
            },
            Implementation::Artifact => Self {
                called: Some(|written| Artifact::called(written.implementation)),
                ..Self::reading(|kinds, written| {
                    Artifact::read(written.implementation, &kinds.sandbox, written.is_new).map(boxed)
                })
            },
            Implementation::Mcp => Self::reading(|kinds, written| {
                Mcp::read(written.implementation, &kinds.circuits, written.is_new).map(boxed)
            }),
            Implementation::Composition => Self::chaining(chain),
            Implementation::Prompt => Self {
                takes_spec: true,
                expressions: expressions_of_prompt,
                ..Self::reading(|_, written| Prompt::read(spec_of(written)).map(boxed))
            },
            Implementation::Custom => Self::chaining(|kinds, written| match written.execution_spec {
                Some(_) => chain(kinds, written),
                None => Ok(Box::new(Unspecified)),
            }),
        }
    }

    /// A kind that takes no `execution_spec` and calls no other tools.
    fn reading(read: fn(&AllKinds, Written<'_>) -> Read) -> Self {
        let expressions = |_: Written<'_>| Expressions::default();
        Self { takes_spec: false, read, called: None, builtin_key: |_| None, expressions }
    }

    /// A kind whose `execution_spec` is a chain.
    fn chaining(read: fn(&AllKinds, Written<'_>) -> Read) -> Self {
        let expressions = expressions_of_chain;
        Self { takes_spec: true, called: Some(called_by_chain), expressions, ..Self::reading(read) }
    }
}

fn http(kinds: &AllKinds, written: Written<'_>) -> Read {
    Http::read(written.implementation, &kinds.circuits, written.is_new).map(boxed)
}

/// Whoever names an address wants it called, at once, whatever the tool is to be.
fn outside(kinds: &AllKinds, written: Written<'_>) -> Read {
    if written.implementation.get("url").is_some() {
        return http(kinds, written);
    }
    Outside::read(written.kind, written.implementation).map(boxed)
}

fn spec_of(written: Written<'_>) -> &Value {
    written.execution_spec.unwrap_or(&Value::Null)
}

fn chain(_: &AllKinds, written: Written<'_>) -> Read {
    SealedChain::read(spec_of(written), written.is_new)
}

fn called_by_chain(written: Written<'_>) -> Vec<Callee> {
    Composition::called(spec_of(written))
}

fn expressions_of_prompt(written: Written<'_>) -> Expressions {
    Prompt::read(spec_of(written)).map(|prompt| prompt.expressions()).unwrap_or_default()
}

fn expressions_of_chain(written: Written<'_>) -> Expressions {
    let chain = Composition::read(spec_of(written), written.is_new);
    let found = chain.map(|chain| chain.expressions()).unwrap_or_default();
    let output = spec_of(written).get("output").filter(|output| !output.is_null());
    let path = format!("{}/output", composition::PLACE);
    let output = output.map(|value| WrittenOutput { path, value: value.clone() });
    Expressions { output, ..found }
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
    use tw_sandbox::Worker;

    use super::*;

    fn kinds() -> AllKinds {
        AllKinds::new(Sandbox::new(Worker::this_program()))
    }

    fn read(kind: Implementation, execution_spec: Option<&Value>) -> Result<Box<dyn Executor>, Vec<Fault>> {
        let implementation = &json!({});
        kinds().read(Written { kind, implementation, execution_spec, is_new: true })
    }

    #[test]
    fn kind_that_can_call_none_names_none() {
        let implementation = &json!({ "builtin_key": "a", "function_name": "a", "url": "https://h.test/" });
        let spec = json!({ "kind": "composition", "steps": [{ "id": "a", "tool": "b" }] });
        for kind in Implementation::AUTHORED.iter().copied() {
            let kinds = kinds();
            let written = Written { kind, implementation, execution_spec: Some(&spec), is_new: true };
            let called: Vec<_> = kinds.called(written).into_iter().map(|callee| callee.name).collect();
            let is_chain = matches!(kind, Implementation::Composition | Implementation::Custom);
            assert_eq!(called, if is_chain { vec!["b"] } else { Vec::new() }, "{kind:?}");
            assert!(called.is_empty() || kinds.can_call(kind), "{kind:?}");
            assert_eq!(kinds.builtin_key(written).is_some(), kind == Implementation::Internal, "{kind:?}");
        }
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
