//! Templates: JSON whose texts hold expressions over an input.
//!
//! A text that is exactly one expression, `{{ input.count }}`, yields the value itself with its type. In
//! a longer text what an expression yields is inserted: texts as they are, everything else as JSON. That
//! happens once; what was inserted is never read as a template again.

mod filters;
pub(crate) mod language;
mod meter;
pub(crate) mod pieces;
mod syntax;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod vocabulary;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use minijinja::value::Serde;
use serde_json::{Map, Value};
use tw_exec::Lookup;
use tw_model::{Code, ToolFailure};
use tw_schema::{Fault, Violation};
use zeroize::Zeroizing;

use crate::faults::{Faults, below};
use language::Cost;
use meter::Meter;
use pieces::SecretReferences;
use text::Text;

/// A value as expressions read it, which costs nothing to copy.
#[derive(Clone, Debug)]
pub(crate) struct Known(minijinja::Value);

impl Known {
    pub(crate) fn of(value: &Value) -> Self {
        Self(minijinja::Value::from(Serde(value)))
    }

    pub(crate) fn members<N: AsRef<str>>(members: impl IntoIterator<Item = (N, Self)>) -> Self {
        let members = members.into_iter().map(|(name, Self(value))| (name.as_ref().to_owned(), value));
        Self(minijinja::Value::from_pairs(members))
    }
}

/// What expressions can read, and the budget that whatever is filled in from it shares.
pub struct Context {
    found: minijinja::Value,
    secrets: BTreeMap<String, Zeroizing<String>>,
    meter: Meter,
}

impl Context {
    /// A context of named values, such as `input`.
    #[must_use]
    pub(crate) fn new<const N: usize>(values: [(&str, Known); N]) -> Self {
        let values = values.into_iter().map(|(name, Known(value))| (name, value));
        Self {
            found: minijinja::Value::from_pairs(values),
            secrets: BTreeMap::new(),
            meter: Meter::default(),
        }
    }

    /// A context of the input alone.
    #[must_use]
    pub fn of_input(input: &Value) -> Self {
        Self::new([("input", Known::of(input))])
    }

    /// What references insert. No expression can read it.
    pub(crate) fn with_secrets(mut self, secrets: BTreeMap<String, Zeroizing<String>>) -> Self {
        self.secrets = secrets;
        self
    }

    pub(crate) fn found(&self) -> &minijinja::Value {
        &self.found
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) fn secret(&self, label: &str) -> Result<&str, ToolFailure> {
        let secret = self.secrets.get(label).map(|secret| secret.as_str());
        secret.ok_or_else(|| {
            ToolFailure::with_code(Code::CredentialMissing, format!("there is no credential `{label}`"))
        })
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("secrets", &self.secrets.keys()).finish_non_exhaustive()
    }
}

/// A JSON value whose texts were compiled once.
#[derive(Debug)]
pub struct Template(Node);

#[derive(Debug)]
enum Node {
    Fixed(Value),
    Text(Text),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// How a template may be nested. What is sent as JSON cannot be deeper by much.
const DEPTH_MAX: usize = 64;

impl Template {
    /// Compiles a value. Its expressions may read `names`; `path` is where the value stands, for faults
    /// and failures.
    pub fn read(value: &Value, path: &str, names: &[&str]) -> Result<Self, Vec<Fault>> {
        Self::read_with(value, path, names, SecretReferences::None)
    }

    pub(crate) fn read_with(
        value: &Value,
        path: &str,
        names: &[&str],
        references: SecretReferences,
    ) -> Result<Self, Vec<Fault>> {
        let mut reader = Reader { names, references, faults: Faults::default() };
        let node = reader.node(value, path, 0);
        reader.faults.told(node).map(Self)
    }

    /// Fills it in. A member of an object whose one expression reads something absent is left out; in a
    /// list, where that would move the others, and for the whole value it is a failure.
    pub fn render(&self, context: &Context) -> Result<Value, ToolFailure> {
        match self.render_if_there(context)? {
            Some(value) => Ok(value),
            None => Err(self.0.missing()),
        }
    }

    /// As [`Template::render`], with `None` where the whole is one expression that reads something absent.
    pub fn render_if_there(&self, context: &Context) -> Result<Option<Value>, ToolFailure> {
        self.0.render(context, Absent::LeftOut)
    }

    /// As [`Template::render`], with null for everything absent: for a result, whose members are promised.
    pub fn render_whole(&self, context: &Context) -> Result<Value, ToolFailure> {
        Ok(self.0.render(context, Absent::Null)?.unwrap_or(Value::Null))
    }

    pub(crate) fn labels(&self, into: &mut BTreeSet<String>) {
        self.0.labels(into);
    }

    pub(crate) fn cost(&self) -> Cost {
        self.0.cost()
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self, into: &mut BTreeSet<String>) {
        self.0.texts(&mut |text| text.reads(into));
    }

    /// Everything that is looked up, with the place of each expression.
    pub(crate) fn lookups(&self, into: &mut Vec<Lookup>) {
        self.0.texts(&mut |text| text.lookups(into));
    }

    /// The members that it always has or may have; `None` for what is not written as an object.
    pub(crate) fn members(&self) -> Option<BTreeSet<String>> {
        match &self.0 {
            Node::Object(members) => Some(
                members.iter().filter(|(_, node)| !node.is_null()).map(|(name, _)| name.clone()).collect(),
            ),
            Node::Fixed(Value::Object(members)) => Some(
                members.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.clone()).collect(),
            ),
            _ => None,
        }
    }
}

/// What becomes of an expression that reads something absent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    LeftOut,
    Null,
}

impl Node {
    fn render(&self, context: &Context, absent: Absent) -> Result<Option<Value>, ToolFailure> {
        match self {
            Self::Fixed(value) => Ok(Some(value.clone())),
            Self::Text(text) => match (text.filled(context, absent)?, absent) {
                (None, Absent::Null) => Ok(Some(Value::Null)),
                (value, _) => Ok(value),
            },
            Self::List(items) => {
                let item = |node: &Self| node.render(context, absent)?.ok_or_else(|| node.missing());
                Ok(Some(Value::Array(items.iter().map(item).collect::<Result<_, _>>()?)))
            }
            Self::Object(members) => {
                let mut filled = Map::new();
                for (name, node) in members {
                    if let Some(value) = node.render(context, absent)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Ok(Some(Value::Object(filled)))
            }
        }
    }

    fn missing(&self) -> ToolFailure {
        match self {
            Self::Text(text) => text.missing(),
            _ => ToolFailure::invalid("a template has no value"),
        }
    }

    fn labels(&self, into: &mut BTreeSet<String>) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(text) => text.labels(into),
            Self::List(items) => items.iter().for_each(|item| item.labels(into)),
            Self::Object(members) => members.iter().for_each(|(_, member)| member.labels(into)),
        }
    }

    fn cost(&self) -> Cost {
        match self {
            Self::Fixed(_) => Cost::default(),
            Self::Text(text) => text.cost(),
            Self::List(items) => items.iter().map(Self::cost).fold(Cost::default(), Cost::and),
            Self::Object(members) => {
                members.iter().map(|(_, member)| member.cost()).fold(Cost::default(), Cost::and)
            }
        }
    }

    fn texts(&self, look: &mut dyn FnMut(&Text)) {
        match self {
            Self::Fixed(_) => {}
            Self::Text(text) => look(text),
            Self::List(items) => items.iter().for_each(|item| item.texts(look)),
            Self::Object(members) => members.iter().for_each(|(_, member)| member.texts(look)),
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Fixed(Value::Null))
    }
}

struct Reader<'a> {
    names: &'a [&'a str],
    references: SecretReferences,
    faults: Faults,
}

impl Reader<'_> {
    fn node(&mut self, value: &Value, path: &str, depth: usize) -> Option<Node> {
        if DEPTH_MAX < depth {
            self.faults.say(path, Violation::nesting(DEPTH_MAX));
            return None;
        }
        match value {
            Value::String(text) => {
                let read = Text::read(text, path, self.names, self.references);
                read.map(Node::Text).map_err(|violation| self.faults.say(path, violation)).ok()
            }
            Value::Array(items) => {
                let at = |index: usize| below(path, &index.to_string());
                let nodes: Vec<_> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.node(item, &at(index), depth + 1))
                    .collect();
                nodes.into_iter().collect::<Option<_>>().map(Node::List)
            }
            Value::Object(members) => {
                let nodes: Vec<_> = members
                    .iter()
                    .map(|(name, member)| {
                        let at = below(path, name);
                        if name.contains("{{") || name.contains("{%") {
                            self.faults.say(&at, Violation::fixed_name());
                        }
                        Some((name.clone(), self.node(member, &at, depth + 1)?))
                    })
                    .collect();
                nodes.into_iter().collect::<Option<_>>().map(Node::Object)
            }
            fixed => Some(Node::Fixed(fixed.clone())),
        }
    }
}
