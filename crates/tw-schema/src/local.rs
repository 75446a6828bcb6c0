//! References within one document.
//!
//! The validator has a registry of its own for every kind of reference. The modules that read a
//! schema the way a person does (fields, specs, comparison) need only the kind that people write:
//! `#`, `#/$defs/name` and `#anchor`. They follow no other reference, and each of them says so.

use std::{borrow::Cow, collections::HashMap};

use serde_json::Value;

/// A document, with its anchors.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    root: &'a Value,
    /// `None` for a name that occurs twice: one of the two may be mere data.
    anchors: HashMap<&'a str, Option<&'a Value>>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        let mut anchors = HashMap::new();
        let mut open = vec![root];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(name) = members.get("$anchor").and_then(Value::as_str) {
                        anchors.entry(name).and_modify(|place| *place = None).or_insert(Some(value));
                    }
                    open.extend(members.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Self { root, anchors }
    }

    pub(crate) fn root(&self) -> &'a Value {
        self.root
    }

    /// The subschema that a reference names, if it is in the document.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&'a Value> {
        let fragment = percent_decoded(reference.strip_prefix('#')?)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        *self.anchors.get(&*fragment)?
    }
}

/// A fragment of a URI as the text it stands for.
fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16).map(|digit| digit as u8);
        let (high, low) = (digit()?, digit()?);
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_into_the_document_are_found_in_every_spelling() {
        let document = json!({ "$defs": { "a b": { "$anchor": "here", "type": "string" }, "c/d": true } });
        let places = Document::new(&document);
        for reference in ["#/$defs/a b", "#/$defs/a%20b", "#/%24defs/a%20b", "#here"] {
            assert_eq!(places.resolve(reference), Some(&document["$defs"]["a b"]), "{reference}");
        }
        assert_eq!(places.resolve("#/$defs/c~1d"), Some(&json!(true)));
        assert_eq!(places.resolve("#"), Some(&document));
    }

    #[test]
    fn references_that_lead_elsewhere_find_nothing() {
        let twice = json!([{ "$anchor": "twice" }, { "$anchor": "twice" }]);
        let document = json!({ "$defs": { "a": {} }, "examples": twice });
        for reference in [
            "#/$defs/b",
            "#twice",
            "#b",
            "",
            "other.json",
            "https://example.com/#/$defs/a",
            "#%",
            "#%zz",
            "#%ff",
        ] {
            assert_eq!(Document::new(&document).resolve(reference), None, "{reference}");
        }
    }
}
