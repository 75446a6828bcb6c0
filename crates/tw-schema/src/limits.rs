//! The limits of a schema's size, checked before anything walks it by recursion.

use serde_json::Value;

use crate::{SchemaFault, pointer, words};

/// How many values (objects, arrays, scalars) a schema may consist of.
pub const NODES_MAX: usize = 50_000;
/// How deep they may be nested.
pub const DEPTH_MAX: usize = 64;
/// How many entries all `enum`s together may have.
pub const ENUM_MAX: usize = 10_000;
/// How many properties one object may have, and how many of them may be required.
pub const PROPERTIES_MAX: usize = 2_000;
/// How many subschemas one choice, one list of items or one set of definitions may have.
pub const BRANCHES_MAX: usize = 1_000;
/// How many bytes its keys and strings may have together.
pub const TEXT_BYTES_MAX: usize = 4 << 20;
/// How many regular expressions it may hold. Each takes memory of its own once compiled.
pub const PATTERNS_MAX: usize = 256;
/// How many bytes one of them may have.
pub const PATTERN_TEXT_MAX: usize = 8 << 10;

/// The memory for all compiled regular expressions together, and the least and the most for one.
const PATTERNS_BYTES: usize = 7 << 20;
const PATTERN_BYTES_LEAST: usize = 24 << 10;
const PATTERN_BYTES_MOST: usize = PATTERNS_BYTES;

/// Refuses a document that is too large to be worth compiling.
///
/// The walk keeps its own stack, so a document nested a million levels deep is refused like any
/// other; and it stops at the first limit, so a huge one costs no more than a large one.
pub(crate) fn check(document: &Value) -> Result<Within, SchemaFault> {
    if !document.is_object() && !document.is_boolean() {
        return Err(SchemaFault::NotASchema);
    }
    let mut count = Within::default();
    // Every value with its parent, so that a fault can say where it is.
    let mut visited = vec![Visited { value: document, parent: 0, token: Token::Root, depth: 1 }];
    let mut next = 0;
    while let Some(&Visited { value, depth, .. }) = visited.get(next) {
        let wide = match value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        let fits = within("levels", depth, DEPTH_MAX)
            .and_then(|()| within("values", visited.len() + wide, NODES_MAX))
            .and_then(|()| count.add(value));
        fits.map_err(|Beyond { what, max }| SchemaFault::TooLarge {
            path: pointer_to(&visited, next),
            what,
            max,
        })?;
        let below = |value, token| Visited { value, parent: next, token, depth: depth + 1 };
        match value {
            Value::Array(items) => {
                visited.extend(items.iter().enumerate().map(|(index, item)| below(item, Token::Item(index))));
            }
            Value::Object(members) => {
                visited.extend(members.iter().map(|(name, member)| below(member, Token::Member(name))));
            }
            _ => {}
        }
        next += 1;
    }
    Ok(count)
}

/// A value of the document, with the index of the value that holds it.
#[derive(Clone, Copy)]
struct Visited<'a> {
    value: &'a Value,
    parent: usize,
    token: Token<'a>,
    depth: usize,
}

/// The last reference token of the value's JSON pointer.
#[derive(Clone, Copy)]
enum Token<'a> {
    Root,
    Item(usize),
    Member(&'a str),
}

fn pointer_to(visited: &[Visited<'_>], index: usize) -> String {
    let Visited { parent, token, .. } = visited[index];
    match token {
        Token::Root => String::new(),
        Token::Item(index) => pointer::join(&pointer_to(visited, parent), &index.to_string()),
        Token::Member(name) => pointer::join(&pointer_to(visited, parent), &words::cut(name)),
    }
}

/// A limit that is exceeded.
struct Beyond {
    what: &'static str,
    max: usize,
}

/// The sizes of a document within the limits.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Within {
    text_bytes: usize,
    patterns: usize,
    choices: usize,
}

impl Within {
    /// How much memory each of the regular expressions may take when compiled. Few of them may be
    /// large ones; many have to share.
    pub(crate) fn pattern_bytes_max(&self) -> usize {
        (PATTERNS_BYTES / self.patterns.max(1)).clamp(PATTERN_BYTES_LEAST, PATTERN_BYTES_MOST)
    }

    fn add(&mut self, value: &Value) -> Result<(), Beyond> {
        match value {
            Value::String(text) => self.text_bytes += text.len(),
            Value::Object(members) => {
                for (keyword, said) in members {
                    self.text_bytes += keyword.len();
                    self.add_keyword(keyword, said)?;
                }
            }
            _ => {}
        }
        within("bytes of text", self.text_bytes, TEXT_BYTES_MAX)?;
        within("regular expressions", self.patterns, PATTERNS_MAX)
    }

    fn add_keyword(&mut self, keyword: &str, said: &Value) -> Result<(), Beyond> {
        match (keyword, said) {
            ("enum", Value::Array(entries)) => {
                self.choices += entries.len();
                within("entries in all `enum`s together", self.choices, ENUM_MAX)
            }
            ("properties", Value::Object(properties)) => {
                within("properties in one object", properties.len(), PROPERTIES_MAX)
            }
            ("required", Value::Array(names)) => {
                within("required properties in one object", names.len(), PROPERTIES_MAX)
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(branches)) => {
                within("subschemas in one list", branches.len(), BRANCHES_MAX)
            }
            (
                "$defs" | "definitions" | "dependentSchemas" | "dependentRequired" | "dependencies",
                Value::Object(named),
            ) => within("entries in one set of subschemas", named.len(), BRANCHES_MAX),
            ("pattern", Value::String(pattern)) => self.add_pattern(pattern),
            ("patternProperties", Value::Object(named)) => {
                named.keys().try_for_each(|pattern| self.add_pattern(pattern))
            }
            _ => Ok(()),
        }
    }

    fn add_pattern(&mut self, pattern: &str) -> Result<(), Beyond> {
        self.patterns += 1;
        within("bytes in one regular expression", pattern.len(), PATTERN_TEXT_MAX)
    }
}

/// The approximate cost of reading or copying a value: its parts, and its text by the line.
pub(crate) fn weight(value: &Value) -> usize {
    const LINE: usize = 64;
    let mut weight = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        weight += 1;
        match value {
            Value::String(text) => weight += text.len() / LINE,
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                weight += members.keys().map(|name| name.len() / LINE).sum::<usize>();
                open.extend(members.values());
            }
            _ => {}
        }
    }
    weight
}

fn within(what: &'static str, found: usize, max: usize) -> Result<(), Beyond> {
    if found <= max { Ok(()) } else { Err(Beyond { what, max }) }
}
