//! Tools that are a function of the program, of those that tools may call.

use serde_json::Value;
use toolwright_sdk::{CodeTool, registered};
use tw_exec::{BoxFuture, Call, Ended, Executor, InnerCall};
use tw_schema::{Fault, Violation};

use crate::faults::{Faults, below};

/// A function that tools may call.
#[derive(Debug)]
pub(crate) struct Function {
    slug: String,
}

impl Function {
    /// The function that an implementation names, with its path.
    pub(crate) fn called(implementation: &Value) -> Option<(String, String)> {
        let name = implementation.get("function_name")?.as_str()?;
        let named = |tool: &CodeTool| tool.callable && (tool.define)().slug.as_str() == name;
        let is_known = registered().unwrap_or_default().into_iter().any(named);
        is_known.then(|| ("/implementation/function_name".to_owned(), name.to_owned()))
    }

    pub(crate) fn read(implementation: &Value) -> Result<Self, Vec<Fault>> {
        let place = "/implementation/function_name";
        let known = || {
            let callable = registered().unwrap_or_default().into_iter().filter(|tool| tool.callable);
            Violation::words(callable.map(|tool| (tool.define)().slug.to_string()))
        };
        let mut faults = Faults::default();
        for name in implementation.as_object().into_iter().flatten().map(|(name, _)| name) {
            if name != "function_name" {
                faults.say(below("/implementation", name), Violation::unknown_member());
            }
        }
        let found = match implementation.get("function_name") {
            Some(Value::String(name)) => {
                let named = |tool: &&CodeTool| tool.callable && (tool.define)().slug.as_str() == name;
                let found = registered().unwrap_or_default().into_iter().find(named);
                found.ok_or_else(|| vec![known().at(place)])
            }
            Some(_) => Err(vec![known().at(place)]),
            None => Err(vec![Violation::required().at(place)]),
        };
        let found = faults.take(found).map(|tool| Self { slug: (tool.define)().slug.to_string() });
        faults.told(found)
    }
}

impl Executor for Function {
    /// The function is called as the tool that it is, so that everything said about that tool counts here too.
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            let inner = InnerCall { name: "function", tool: &self.slug, input: &call.input, settings: None };
            call.inner.call(inner).await.into()
        })
    }

    fn calls(&self) -> Vec<&str> {
        vec![&self.slug]
    }

    fn is_resumable(&self) -> bool {
        true
    }
}
