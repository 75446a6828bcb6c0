//! Tools that are a function of the program, of those that tools may call.

use serde_json::Value;
use tw_exec::{BoxFuture, Call, Callee, Ended, Executor, InnerCall};
use tw_schema::{Fault, Violation};

use crate::{
    faults::{Faults, below},
    program::functions,
};

const PATH: &str = "/implementation";
const NAME: &str = "function_name";

/// A function that tools may call.
#[derive(Debug)]
pub(crate) struct Function {
    slug: &'static str,
}

impl Function {
    /// The function that an implementation names, with its path.
    pub(crate) fn called(implementation: &Value) -> Option<Callee> {
        let name = implementation.get(NAME)?.as_str()?;
        functions().any(|(slug, _)| slug == name).then(|| Callee {
            path: below(PATH, NAME),
            name: name.to_owned(),
            is_certain: true,
        })
    }

    pub(crate) fn read(implementation: &Value) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        for name in implementation.as_object().into_iter().flatten().map(|(name, _)| name) {
            if name != NAME {
                faults.say(below(PATH, name), Violation::unknown_member());
            }
        }
        let found = match implementation.get(NAME) {
            Some(name) => functions()
                .find(|(slug, _)| name == slug)
                .ok_or_else(|| Violation::words(functions().map(|(slug, _)| slug))),
            None => Err(Violation::required()),
        };
        let found = found.map_err(|violation| vec![violation.at(below(PATH, NAME))]);
        let found = faults.take(found).map(|(slug, _)| Self { slug });
        faults.told(found)
    }
}

impl Executor for Function {
    /// The function is called as the tool that it is, so that everything said about that tool counts here too.
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            let inner = InnerCall { name: "function", tool: self.slug, input: &call.input, settings: None };
            call.inner.call(inner).await.into()
        })
    }

    fn calls(&self) -> Vec<&str> {
        vec![self.slug]
    }

    fn is_resumable(&self) -> bool {
        true
    }
}
