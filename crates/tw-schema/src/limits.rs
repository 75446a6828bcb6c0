//! How large a schema may be, checked before anything walks it by recursion.

use serde_json::Value;

use crate::SchemaFault;

/// How many values (objects, arrays, scalars) a schema may consist of.
pub const NODES_MAX: usize = 50_000;
/// How deep they may be nested.
pub const DEPTH_MAX: usize = 64;
/// How many entries one `enum` may have.
pub const ENUM_MAX: usize = 10_000;
/// How many bytes its keys and strings may have together.
pub const TEXT_BYTES_MAX: usize = 4 << 20;
/// How many regular expressions it may hold. Each takes memory of its own once compiled.
pub const PATTERNS_MAX: usize = 256;

/// What all regular expressions together may take, and the least and the most for one.
const PATTERNS_BYTES: usize = 32 << 20;
const PATTERN_BYTES_LEAST: usize = 256 << 10;
const PATTERN_BYTES_MOST: usize = 10 << 20;

/// Refuses a document that is too large to be worth compiling.
///
/// The walk keeps its own stack, so a document nested a million levels deep is refused like any
/// other; and it stops at the first limit, so a huge one costs no more than a large one.
pub(crate) fn check(document: &Value) -> Result<Within, SchemaFault> {
    if !document.is_object() && !document.is_boolean() {
        return Err(SchemaFault::NotASchema);
    }
    let mut count = Within::default();
    let mut open = vec![(document, 1)];
    while let Some((value, depth)) = open.pop() {
        if DEPTH_MAX < depth {
            return Err(SchemaFault::TooLarge { what: "levels", max: DEPTH_MAX });
        }
        count.add(value)?;
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    Ok(count)
}

/// What a document within the limits consists of.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Within {
    nodes: usize,
    text_bytes: usize,
    patterns: usize,
}

impl Within {
    /// How much memory each of the regular expressions may take when compiled. Few of them may be
    /// large ones; many have to share.
    pub(crate) fn pattern_bytes_max(&self) -> usize {
        (PATTERNS_BYTES / self.patterns.max(1)).clamp(PATTERN_BYTES_LEAST, PATTERN_BYTES_MOST)
    }

    fn add(&mut self, value: &Value) -> Result<(), SchemaFault> {
        self.nodes += 1;
        match value {
            Value::String(text) => self.text_bytes += text.len(),
            Value::Object(members) => {
                self.text_bytes += members.keys().map(String::len).sum::<usize>();
                self.patterns += usize::from(members.get("pattern").is_some_and(Value::is_string));
                self.patterns += members
                    .get("patternProperties")
                    .and_then(Value::as_object)
                    .map_or(0, serde_json::Map::len);
                let entries = members.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
                within("entries in one `enum`", entries, ENUM_MAX)?;
            }
            _ => {}
        }
        within("values", self.nodes, NODES_MAX)?;
        within("bytes of text", self.text_bytes, TEXT_BYTES_MAX)?;
        within("regular expressions", self.patterns, PATTERNS_MAX)
    }
}

/// Roughly what it costs to read or to copy a value: its parts, and its text by the line.
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

fn within(what: &'static str, found: usize, max: usize) -> Result<(), SchemaFault> {
    if found <= max { Ok(()) } else { Err(SchemaFault::TooLarge { what, max }) }
}
