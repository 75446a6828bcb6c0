//! Faults: reports of what is wrong with a value, for programs and for people.
//!
//! A fault has a code and its values, for programs and for translators, and a message in English. The message is made
//! from the code and the values here and nowhere else, so they cannot contradict each other.

mod codes;
mod schema;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use codes::FaultCode;
pub use schema::SchemaFault;

use crate::pointer;

/// How many faults are reported of one value at most.
pub const FAULTS_MAX: usize = 100;

/// How many characters of a value are repeated, and how many values of a list.
const CHARACTERS_MAX: usize = 300;
const VALUES_MAX: usize = 100;

/// One fault of a value: its location, and the rule that the value breaks there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The instance location, as a JSON pointer; the empty text is the root. For a missing or unknown
    /// property it points to the property, not to the object around it.
    pub path: String,
    pub code: FaultCode,
    /// The values of the message.
    pub params: Map<String, Value>,
    pub message: String,
}

impl Fault {
    /// The location and the broken rule.
    pub(crate) fn into_parts(self) -> (String, Violation) {
        (self.path, Violation { code: self.code, params: self.params })
    }

    /// The same fault, in a larger document that holds the value at `pointer`.
    #[must_use]
    pub fn below(mut self, pointer: &str) -> Self {
        self.path.insert_str(0, pointer);
        self
    }

    /// Whether the outermost object lacks a required member.
    #[must_use]
    pub fn is_missing_member(&self) -> bool {
        self.code == FaultCode::Required && self.path.matches('/').count() == 1
    }
}

/// A broken rule, without its location.
///
/// Every [`FaultCode`] has a constructor, which takes the values of its message.
///
/// # Example
///
/// ```
/// use tw_schema::{FaultCode, Violation};
///
/// let fault = Violation::range(1, 200).at("/limit");
/// assert_eq!(fault.code, FaultCode::Range);
/// assert_eq!(fault.params["max"], 200);
/// assert_eq!(fault.message, "must be a whole number from 1 to 200");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    code: FaultCode,
    params: Map<String, Value>,
}

impl Violation {
    fn new<const N: usize>(code: FaultCode, params: [(&str, Value); N]) -> Self {
        let given = params.into_iter().filter(|(_, value)| !value.is_null());
        Self { code, params: given.map(|(name, value)| (name.to_owned(), bounded(value))).collect() }
    }

    /// A value that must be one of several words.
    #[must_use]
    pub fn words<W: Into<Value>>(words: impl IntoIterator<Item = W>) -> Self {
        Self::one_of(words.into_iter().map(Into::into).collect::<Vec<_>>(), Value::Null)
    }

    /// A value of the wrong type. `expected` names types of JSON Schema.
    #[must_use]
    pub fn typed(expected: &[&'static str], found: &Value) -> Self {
        let mut expected = expected.to_vec();
        // Null comes last, as people say it, and every type once.
        expected.sort_unstable_by_key(|name| (*name == "null", *name));
        expected.dedup();
        Self::wrong_type(expected, type_name(found))
    }

    #[must_use]
    pub fn at(self, path: impl Into<String>) -> Fault {
        let message = self.to_string();
        Fault { path: path.into(), code: self.code, params: self.params, message }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::filled(self.code.template(), &self.params))
    }
}

/// The type of a value. A whole number counts as `number`.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value cut to a bounded length. It may come from a caller or an author, and be of any size.
fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(&text, CHARACTERS_MAX)),
        Value::Array(values) => values.into_iter().take(VALUES_MAX).map(bounded).collect(),
        Value::Object(_) => Value::String(cut(&value.to_string(), CHARACTERS_MAX)),
        short => short,
    }
}

/// A text, cut when it is long.
pub(crate) fn cut(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Collects faults while a document is read, and keeps the first [`FAULTS_MAX`].
#[derive(Debug, Default)]
pub(crate) struct FirstFaults {
    told: Vec<Fault>,
    count: usize,
}

impl FirstFaults {
    pub(crate) fn say(&mut self, path: impl Into<String>, violation: Violation) {
        self.push(violation.at(path));
    }

    pub(crate) fn push(&mut self, fault: Fault) {
        self.count += 1;
        if self.told.len() < FAULTS_MAX {
            self.told.push(fault);
        }
    }

    /// How many faults there were, including those that were not kept.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The faults, in the order of their locations.
    pub(crate) fn told(mut self) -> Vec<Fault> {
        self.told.sort_by(|left, right| pointer::document_order(&left.path, &right.path));
        self.told
    }
}
