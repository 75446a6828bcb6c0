//! What is wrong with a definition, and where.

use serde_json::Value;
use tw_schema::Fault;

/// The pointer to a member or an item below a place.
pub(crate) fn below(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

pub(crate) fn fault(path: impl Into<String>, message: impl Into<String>) -> Fault {
    Fault { path: path.into(), message: message.into() }
}

/// Collects faults, so that an author sees all of them at once.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn say(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(fault(path, message));
    }

    /// What was read; `None` where it was not, which is then told.
    pub(crate) fn take<T>(&mut self, read: Result<T, Vec<Fault>>) -> Option<T> {
        read.map_err(|faults| self.0.extend(faults)).ok()
    }

    pub(crate) fn told<T>(self, value: Option<T>) -> Result<T, Vec<Fault>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}

/// What a value is, for a sentence.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
