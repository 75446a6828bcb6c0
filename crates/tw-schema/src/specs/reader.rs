//! Reading the objects of a spec, and collecting their faults.

use serde_json::{Map, Value};

use crate::{
    Fault, Violation,
    fault::FirstFaults,
    i18n::{Bound, check_translations},
    pointer,
};

/// How many entries a list in a spec may have.
const ENTRIES_MAX: usize = 1_000;
/// How many bytes a text in a spec may have.
const TEXT_BYTES_MAX: usize = 10_000;

/// Collects faults while a spec is read.
#[derive(Debug, Default)]
pub(super) struct Reader {
    faults: FirstFaults,
}

/// One object of a spec, and the JSON pointer to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'a> {
    pub(super) members: &'a Map<String, Value>,
    pub(super) at: &'a str,
}

impl<'a> Object<'a> {
    /// A member, if it is present. Null counts as absent, as forms send it.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn pointer(&self, name: &str) -> String {
        pointer::join(self.at, name)
    }
}

impl Reader {
    pub(super) fn say(&mut self, at: impl Into<String>, violation: Violation) {
        self.faults.say(at, violation);
    }

    pub(super) fn told(self) -> Vec<Fault> {
        self.faults.told()
    }

    /// An object none of whose members is unknown. Unknown ones are told, and do not hide the rest.
    pub(super) fn object<'a>(&mut self, value: &'a Value, at: &'a str, known: &[&str]) -> Option<Object<'a>> {
        let Some(members) = value.as_object() else {
            self.say(at, Violation::typed(&["object"], value));
            return None;
        };
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            self.say(pointer::join(at, name), Violation::unknown_member());
        }
        Some(Object { members, at })
    }

    /// A text that may be left out.
    pub(super) fn text<'a>(&mut self, object: Object<'a>, name: &str) -> Option<&'a str> {
        match object.get(name)? {
            Value::String(text) if text.len() <= TEXT_BYTES_MAX => Some(text),
            Value::String(_) => {
                self.say(object.pointer(name), Violation::max_bytes(TEXT_BYTES_MAX));
                None
            }
            other => {
                self.say(object.pointer(name), Violation::typed(&["string"], other));
                None
            }
        }
    }

    /// A text that must be there and must not be empty.
    pub(super) fn needed_text<'a>(&mut self, object: Object<'a>, name: &str) -> Option<&'a str> {
        if object.get(name).is_none() {
            self.say(object.pointer(name), Violation::required());
            return None;
        }
        let text = self.text(object, name)?;
        if text.is_empty() {
            self.say(object.pointer(name), Violation::not_empty());
            return None;
        }
        Some(text)
    }

    /// One of a few words.
    pub(super) fn word<'a>(&mut self, object: Object<'a>, name: &str, words: &[&str]) -> Option<&'a str> {
        let value = object.get(name)?;
        let word = value.as_str().filter(|word| words.contains(word));
        if word.is_none() {
            self.say(object.pointer(name), Violation::words(words.iter().copied()));
        }
        word
    }

    /// The translations of an object's texts, under its member `i18n`.
    pub(super) fn translations(&mut self, object: Object<'_>, texts: &[&str]) {
        if let Some(translations) = object.get("i18n") {
            let bounds: Vec<_> = texts.iter().map(|name| (*name, Bound::at_most(TEXT_BYTES_MAX))).collect();
            let at = object.pointer("i18n");
            check_translations(translations, &bounds)
                .into_iter()
                .for_each(|fault| self.faults.push(fault.below(&at)));
        }
    }

    pub(super) fn flag(&mut self, object: Object<'_>, name: &str) {
        if let Some(value) = object.get(name).filter(|value| !value.is_boolean()) {
            self.say(object.pointer(name), Violation::typed(&["boolean"], value));
        }
    }

    /// A positive whole number.
    pub(super) fn count(&mut self, object: Object<'_>, name: &str) {
        if object.get(name).is_some_and(|value| value.as_u64().is_none_or(|count| count == 0)) {
            self.say(object.pointer(name), Violation::positive());
        }
    }

    /// The version of the spec's own language, which is a number and must be said.
    pub(super) fn version(&mut self, object: Object<'_>, version: u64) {
        if object.get("version").and_then(Value::as_u64) != Some(version) {
            self.say(object.pointer("version"), Violation::constant(version));
        }
    }

    /// The entries of a list with their places.
    pub(super) fn list<'a>(&mut self, value: &'a Value, at: &str) -> Vec<(&'a Value, String)> {
        match value {
            Value::Array(entries) if entries.len() <= ENTRIES_MAX => {
                entries.iter().enumerate().map(|(index, entry)| (entry, format!("{at}/{index}"))).collect()
            }
            Value::Array(_) => {
                self.say(at, Violation::max_items(ENTRIES_MAX));
                Vec::new()
            }
            other => {
                self.say(at, Violation::typed(&["array"], other));
                Vec::new()
            }
        }
    }
}
