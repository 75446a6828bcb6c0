//! Finding the subschemas that a path in a spec leads to.

use std::{cell::Cell, collections::HashSet};

use serde_json::Value;

use crate::{local::Document, outline::Types};

/// How deep the subschemas of one instance location are followed to learn whether it is closed. Beyond
/// that it counts as open.
const CLOSED_DEEP: usize = 16;
/// How many subschemas are looked at for all paths of one spec.
const STEPS_MAX: usize = 200_000;

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To an instance location that the schema describes.
    Described,
    /// To an instance location that the schema does not describe and does not forbid.
    Possible,
    /// Nowhere: no value that fits the schema has such a location.
    Nowhere,
    /// The schema has too many branches to search all of them.
    Unknown,
}

/// The reference tokens of a path: a JSON pointer in which `*` stands for every item of an array. `None`
/// when the path is no pointer.
pub(super) fn tokens(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    let token = |token: &str| {
        let rest = token.replace("~0", "").replace("~1", "");
        (!rest.contains('~')).then(|| token.replace("~1", "/").replace("~0", "~"))
    };
    path.strip_prefix('/')?.split('/').map(token).collect()
}

/// Follows paths through one schema.
#[derive(Debug)]
pub(super) struct Finder<'a> {
    document: Document<'a>,
    left: Cell<usize>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(schema: &'a Value) -> Self {
        Self { document: Document::new(schema), left: Cell::new(STEPS_MAX) }
    }

    /// Follows a path through the schema.
    pub(super) fn find(&self, tokens: &[String]) -> Target {
        let mut subschemas = vec![self.document.root()];
        for token in tokens {
            let all = self.everything_at(&subschemas);
            let described = below(&all, token);
            if self.left.get() == 0 {
                return Target::Unknown;
            }
            if described.is_empty() {
                let shut = subschemas.iter().any(|schema| self.is_shut(schema, token, CLOSED_DEEP));
                return if shut { Target::Nowhere } else { Target::Possible };
            }
            subschemas = described;
        }
        Target::Described
    }

    fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        0 < left
    }

    /// Whether no value fits without a member at this path: it is required, and has no default.
    pub(super) fn is_indispensable(&self, tokens: &[String]) -> bool {
        let Some((last, parents)) = tokens.split_last() else { return false };
        let mut subschemas = vec![self.document.root()];
        for token in parents {
            subschemas = below(&self.always_at(&subschemas), token);
        }
        let parent = self.always_at(&subschemas);
        let requires = |schema: &&Value| {
            schema["required"].as_array().is_some_and(|names| names.iter().any(|name| name == last))
        };
        let described = self.always_at(&below(&parent, last));
        parent.iter().any(requires) && described.iter().all(|schema| schema.get("default").is_none())
    }

    /// Every subschema that applies for sure where these do: behind references, and all of `allOf`.
    fn always_at(&self, subschemas: &[&'a Value]) -> Vec<&'a Value> {
        self.spread(subschemas, false)
    }

    /// Every subschema that may apply where these do: behind references, and in every branch of every
    /// choice, since a spec may name a member that only one branch describes.
    fn everything_at(&self, subschemas: &[&'a Value]) -> Vec<&'a Value> {
        self.spread(subschemas, true)
    }

    fn spread(&self, subschemas: &[&'a Value], into_choices: bool) -> Vec<&'a Value> {
        let mut all: Vec<&Value> = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<&Value> = subschemas.iter().rev().copied().collect();
        while let Some(schema) = open.pop() {
            if !self.spend() {
                break;
            }
            if !seen.insert(std::ptr::from_ref(schema) as usize) {
                continue;
            }
            all.push(schema);
            let reference = schema.get("$ref").and_then(Value::as_str);
            open.extend(reference.and_then(|reference| self.document.resolve(reference)));
            let keywords: &[&str] = if into_choices { &["allOf", "anyOf", "oneOf"] } else { &["allOf"] };
            for keyword in keywords {
                open.extend(schema.get(*keyword).and_then(Value::as_array).into_iter().flatten());
            }
            if !into_choices {
                continue;
            }
            open.extend(["if", "then", "else"].iter().filter_map(|keyword| schema.get(keyword)));
            let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
            open.extend(dependent.into_iter().flat_map(|schemas| schemas.values()));
        }
        all
    }

    /// Whether a subschema leaves no room for a token that nothing describes.
    fn is_shut(&self, schema: &Value, token: &str, deep: usize) -> bool {
        if *schema == false {
            return true;
        }
        if deep == 0 || !schema.is_object() || !self.spend() {
            return false;
        }
        let shut = |schema: &Value| self.is_shut(schema, token, deep - 1);
        let is_index = token == "*" || token.parse::<usize>().is_ok();
        let types = schema.get("type").map_or(Types::ANY, Types::of_keyword);
        let room = if is_index { Types::ARRAY | Types::OBJECT } else { Types::OBJECT };
        let says = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(false));
        let closed = says("additionalProperties") || says("unevaluatedProperties");
        let members_shut = closed || !types.meets(Types::OBJECT);
        let items_shut = !is_index || says("items") || !types.meets(Types::ARRAY);
        if !types.meets(room) || (members_shut && items_shut) {
            return true;
        }
        let branches =
            |keyword: &str| schema.get(keyword).and_then(Value::as_array).filter(|list| !list.is_empty());
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.and_then(|reference| self.document.resolve(reference)).is_some_and(shut)
            || branches("allOf").is_some_and(|list| list.iter().any(shut))
            || ["anyOf", "oneOf"]
                .iter()
                .any(|keyword| branches(keyword).is_some_and(|list| list.iter().all(shut)))
    }
}

/// The subschemas one token further.
fn below<'a>(all: &[&'a Value], token: &str) -> Vec<&'a Value> {
    let describes = |schema: &&'a Value| -> Vec<&'a Value> {
        let property = schema.get("properties").and_then(|properties| properties.get(token));
        let numbered = schema.get("prefixItems").and_then(Value::as_array);
        let items = schema.get("items");
        let item = match (token, token.parse::<usize>()) {
            ("*", _) => items.into_iter().chain(numbered.into_iter().flatten()).collect(),
            (_, Ok(index)) => numbered.and_then(|items| items.get(index)).or(items).into_iter().collect(),
            _ => Vec::new(),
        };
        // A map has no names of its own; its values are every member.
        let rest = schema.get("additionalProperties").filter(|rest| token == "*" && rest.is_object());
        property.into_iter().chain(item).chain(rest).collect()
    };
    all.iter().flat_map(describes).filter(|schema| **schema != false).collect()
}
