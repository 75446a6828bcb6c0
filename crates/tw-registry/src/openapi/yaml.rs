//! A document as text: JSON, or YAML with what JSON can say.
//!
//! The parser gives events and makes nothing, so what an author can make expensive is counted here: what aliases repeat,
//! and how deep things lie.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use serde_json::{Map, Number, Value};
use tw_schema::Violation;

/// As deep as JSON may be.
const DEPTH_MAX: usize = 128;
/// What a document may come to, aliases included: bytes of text, and [`VALUE`] for every value.
const SIZE_MAX: usize = 16 << 20;
/// About what a value takes in memory beside its text. Aliases can repeat a short one a million times.
const VALUE: usize = 64;
/// Where a mapping takes over another one. No other program agrees on what that means.
const MERGE: &str = "<<";

/// Reads a document.
pub(super) fn read(text: &str) -> Result<Value, Violation> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return tw_schema::parse(text.as_bytes()).map_err(|fault| Violation::invalid(fault.to_string()));
    }
    let mut parser = Parser::new_from_str(text);
    let mut reader = Reader::default();
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| unread(&error))?;
        let (line, column) = (span.start.line(), span.start.col() + 1);
        reader.take(event).map_err(|why| Violation::yaml(line, column, why))?;
    }
    Ok(reader.whole.unwrap_or_default())
}

fn unread(error: &ScanError) -> Violation {
    let at = error.marker();
    Violation::yaml(at.line(), at.col() + 1, error.info())
}

/// A value with what it comes to.
#[derive(Clone)]
struct Sized {
    value: Value,
    size: usize,
}

/// A list or an object that is not closed yet.
struct Open {
    anchor: usize,
    size: usize,
    inside: Inside,
}

enum Inside {
    List(Vec<Value>),
    Object(Map<String, Value>, Option<String>),
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    anchors: HashMap<usize, Sized>,
    size: usize,
    whole: Option<Value>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref());
                self.size += VALUE + text.len();
                self.close(anchor, Sized { value, size: VALUE + text.len() })
            }
            Event::SequenceStart(anchor, _) => self.begin(anchor, Inside::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.begin(anchor, Inside::Object(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { anchor, size, inside }) = self.open.pop() else {
                    return Err("it ends too early");
                };
                let value = match inside {
                    Inside::List(items) => Value::Array(items),
                    Inside::Object(members, _) => Value::Object(members),
                };
                self.close(anchor, Sized { value, size })
            }
            Event::Alias(anchor) => {
                // What lies around the alias has no value yet, so nothing can hold itself.
                let Some(known) = self.anchors.get(&anchor) else {
                    return Err("the alias has no anchor before it");
                };
                // Counted before it is copied.
                if SIZE_MAX < self.size.saturating_add(known.size) {
                    return Err("with its aliases it is too large");
                }
                let known = known.clone();
                self.size += known.size;
                self.close(0, known)
            }
            Event::DocumentStart(_) if self.whole.is_some() => Err("there is more than one document"),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, inside: Inside) -> Result<(), &'static str> {
        if DEPTH_MAX <= self.open.len() {
            return Err("it is nested too deeply");
        }
        if let Some(Open { inside: Inside::Object(_, None), .. }) = self.open.last() {
            return Err("a key must be a text");
        }
        self.size += VALUE;
        self.open.push(Open { anchor, size: VALUE, inside });
        Ok(())
    }

    /// Puts a value that is whole where it belongs.
    fn close(&mut self, anchor: usize, whole: Sized) -> Result<(), &'static str> {
        if SIZE_MAX < self.size {
            return Err("it is too large");
        }
        if anchor != 0 {
            self.anchors.insert(anchor, whole.clone());
            self.size += whole.size;
        }
        let Some(around) = self.open.last_mut() else {
            self.whole = Some(whole.value);
            return Ok(());
        };
        around.size += whole.size;
        match &mut around.inside {
            Inside::List(items) => items.push(whole.value),
            Inside::Object(members, name) => match name.take() {
                Some(name) => _ = members.insert(name, whole.value),
                None => {
                    let text = as_name(whole.value)?;
                    if text == MERGE {
                        return Err("`<<` is not supported: write the members out");
                    }
                    if members.contains_key(&text) {
                        return Err("the key appears twice");
                    }
                    *name = Some(text);
                }
            },
        }
        Ok(())
    }
}

/// A name. `200` for a status is one too.
fn as_name(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null => Ok("null".to_owned()),
        Value::Array(_) | Value::Object(_) => Err("a key must be a text"),
    }
}

/// A scalar by the core schema of YAML 1.2. What JSON has no number for stays a text.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if style != ScalarStyle::Plain || is_text {
        return Value::from(text);
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::from(text), Value::Number)
}

fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    // Neither `inf` nor `1_000` is a number.
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = body.bytes().any(|byte| byte.is_ascii_digit())
        && body.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if !is_number {
        return None;
    }
    let whole = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn refused(text: &str) -> String {
        read(text).map_or_else(|violation| violation.at("").message, |value| panic!("{value}"))
    }

    #[test]
    fn document_is_what_its_text_says() {
        let text = "# A shop\nopenapi: 3.0.3\ninfo: { title: Shop, version: 1.0 }\npaths:\n  /a:\n    get: &get\n      \
                    tags: [one, \"2\", 3, 0x10, -4.5e1, ~, yes, .inf, 2026-01-01]\n      description: |\n        Two\n        lines\n      \
                    responses:\n        200: {}\n        default: { description: '' }\n    post: *get\nempty:\n";
        let get = json!({
            "tags": ["one", "2", 3, 16, -45.0, null, "yes", ".inf", "2026-01-01"], "description": "Two\nlines\n",
            "responses": { "200": {}, "default": { "description": "" } },
        });
        assert_eq!(
            read(text).unwrap_or_else(|violation| panic!("{:?}", violation.at(""))),
            json!({
                "openapi": "3.0.3", "info": { "title": "Shop", "version": 1.0 },
                "paths": { "/a": { "get": get, "post": get } }, "empty": null,
            })
        );
        assert_eq!(read(" {\"a\": 18446744073709551615}").ok(), Some(json!({ "a": u64::MAX })));
        assert_eq!(
            read("a: 18446744073709551615\nb: !!str 1\n").ok(),
            Some(json!({ "a": u64::MAX, "b": "1" }))
        );
        assert_eq!(read("").ok(), Some(Value::Null));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        assert_eq!(
            refused("a: 1\nb: 2\na: 3\n"),
            "cannot be read as YAML in line 3, column 1: the key appears twice"
        );
        assert!(refused("a: [1, 2\nb: 3\n").starts_with("cannot be read as YAML in line "));
        assert!(refused("a: 1\n---\nb: 2\n").ends_with("there is more than one document"));
        assert!(refused("a: &a [*a]\n").contains("the alias has no anchor"));
        assert!(refused("base: &b { a: 1 }\nc:\n  <<: *b\n").contains("`<<` is not supported"));
        assert!(refused("? [a]\n: 1\n").contains("a key must be a text"));
        assert!(refused("{\"a\": 1, \"a\": 2}").contains("duplicate"));
    }

    #[test]
    fn bombs_are_refused_before_they_go_off() {
        let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for level in 1..12 {
            let items = vec![format!("*a{}", level - 1); 10].join(", ");
            laughs.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        assert!(refused(&laughs).contains("too large"));
        // Few letters and many values: what they take in memory counts.
        let short: String = (1..6)
            .map(|level| {
                format!("s{level}: &s{level} [{}]\n", vec![format!("*s{}", level - 1); 9].join(", "))
            })
            .collect();
        assert!(refused(&format!("s0: &s0 [x, x, x, x, x, x, x, x, x]\n{short}")).contains("too large"));
        assert!(refused(&"[".repeat(100_000)).contains("YAML"));
        let deep: String = (0..500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        assert!(refused(&deep).contains("nested too deeply"));
        assert!(
            refused(&format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(100)))
                .contains("too large")
        );
    }
}
