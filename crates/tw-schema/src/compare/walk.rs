//! The walk through two documents side by side.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    Bump, Effect, Found, Part,
    alike::{Version, is_plain},
    layers::{Layers, Root, Subschemas, is_word},
};
use crate::{
    outline::Types,
    subschemas::TRANSLATIONS,
    words::{cut, quote_text},
};

/// How many differences are told in full. Behind a reference that is used often there may be many of
/// the same.
const TOLD_MAX: usize = 1_000;
/// How deep instance locations may be nested. References can make that deeper than the document.
const DEEP_MAX: usize = 100;
/// What it costs to keep a difference, beside its text, and how much of that costs a step.
const SAID_COST: usize = 8;
pub(super) const LINE: usize = 16;

/// Keywords that are compared one by one. Any other that is no word is not understood.
const UNDERSTOOD: &[&str] = &[
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "minItems",
    "maxItems",
    "uniqueItems",
    "items",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "minProperties",
    "maxProperties",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
];

/// The context in which two lists of subschemas are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Around {
    /// Whether the gateway fills in defaults here, in the old version and in the new one. It does not
    /// do so inside choices.
    pub(super) from_defaults: bool,
    pub(super) to_defaults: bool,
    /// Whether a keyword further out looks at what members there are, so that one that is filled in
    /// may matter there.
    pub(super) watched: bool,
    /// Whether several rules may meet at the same member by patterns for names, so that none of them
    /// knows what the others name.
    pub(super) mingled: bool,
    /// Whether the caller has already compared the defaults.
    pub(super) default_done: bool,
}

impl Around {
    pub(super) fn without_defaults(self) -> Self {
        Self { from_defaults: false, to_defaults: false, default_done: false, ..self }
    }
}

pub(super) struct Walk<'a> {
    pub(super) part: Part,
    pub(super) from: &'a Root<'a>,
    pub(super) to: &'a Root<'a>,
    pub(super) found: Vec<Found>,
    /// Subschemas that apply beside the compared ones and may name the same members.
    /// Each with the depth of its instance location.
    pub(super) beside: Vec<(Version, &'a Value, usize)>,
    /// How much was compiled to test defaults.
    pub(super) probed: usize,
    /// The pairs under comparison. A pair that comes up inside itself adds nothing.
    open: Vec<Key>,
    /// The verdicts of pairs that were compared to the end without relying on an open pair.
    known: HashMap<Key, Bump>,
    relied: u64,
}

type Key = (Vec<usize>, Vec<usize>, Around, usize);

impl<'a> Walk<'a> {
    pub(super) fn new(part: Part, from: &'a Root<'a>, to: &'a Root<'a>) -> Self {
        Self {
            part,
            from,
            to,
            found: Vec::new(),
            beside: Vec::new(),
            probed: 0,
            open: Vec::new(),
            known: HashMap::new(),
            relied: 0,
        }
    }

    pub(super) fn run(mut self) -> Vec<Found> {
        let (from, to) = (self.from.document.root(), self.to.document.root());
        if !is_plain(from) || !is_plain(to) {
            let message = "changed, and uses references that cannot be compared";
            self.say("", "schema_changed", Effect::Both, message);
            return self.found;
        }
        let defaults = self.part == Part::Input;
        let around = Around {
            from_defaults: defaults,
            to_defaults: defaults,
            watched: false,
            mingled: false,
            default_done: false,
        };
        self.compare(&[from], &[to], "", around);
        if self.is_spent() {
            let message = "is too complex to be compared in full".to_owned();
            self.found.insert(0, Found::new(self.part, "", "schema_changed", Effect::Both, message));
        }
        self.found
    }

    pub(super) fn root(&self, version: Version) -> &'a Root<'a> {
        match version {
            Version::From => self.from,
            Version::To => self.to,
        }
    }

    pub(super) fn say(&mut self, at: &str, kind: &'static str, effect: Effect, message: impl Into<String>) {
        let message = message.into();
        self.spend(SAID_COST + (at.len() + message.len()) / LINE);
        self.found.push(Found::new(self.part, at, kind, effect, message));
    }

    pub(super) fn spend(&self, steps: usize) -> bool {
        self.from.spend(steps)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.from.is_spent()
    }

    /// Compares aside, and returns the differences.
    pub(super) fn aside(&mut self, compare: impl FnOnce(&mut Self)) -> Vec<Found> {
        let before = self.found.len();
        compare(self);
        self.found.split_off(before)
    }

    /// Compares the subschemas of one instance location before and after.
    pub(super) fn compare(&mut self, from: &[&'a Value], to: &[&'a Value], at: &str, around: Around) {
        let addresses = |subschemas: &[&Value]| {
            subschemas.iter().map(|value| std::ptr::from_ref(*value) as usize).collect()
        };
        let key: Key = (addresses(from), addresses(to), around, self.beside.len());
        match self.known.get(&key) {
            Some(Bump::None) => return,
            Some(bump) if TOLD_MAX < self.found.len() => {
                let effect = match bump {
                    Bump::Major => Effect::Both,
                    Bump::Minor => Effect::Harmless,
                    Bump::Patch | Bump::None => Effect::Same,
                };
                return self.say(at, "schema_changed", effect, "changed in the same way as elsewhere");
            }
            _ => {}
        }
        if self.open.contains(&key) {
            self.relied += 1;
            return;
        }
        if !self.spend(1 + from.len() + to.len() + at.len() / LINE) {
            return;
        }
        if DEEP_MAX <= self.open.len() {
            self.say(at, "schema_changed", Effect::Both, "is too complex to be compared");
            return;
        }
        let (before, relied) = (self.found.len(), self.relied);
        self.open.push(key.clone());
        let (from_layers, to_layers) = (Layers::of(self.from, from), Layers::of(self.to, to));
        self.layers(&from_layers, &to_layers, at, around);
        self.open.pop();
        if self.relied == relied {
            let bump = self.found[before..].iter().map(|found| found.bump).max().unwrap_or(Bump::None);
            self.known.insert(key, bump);
        }
    }

    fn layers(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, around: Around) {
        self.words(from, to, at, around);
        if from.broken || to.broken {
            self.say(at, "schema_changed", Effect::Both, "refers to a schema that does not exist");
            return;
        }
        match (from.is_never(), to.is_never()) {
            (true, true) => return,
            (true, false) => return self.say(at, "schema_changed", Effect::Wider, "is allowed now"),
            (false, true) => return self.say(at, "schema_changed", Effect::Narrower, "is no longer allowed"),
            (false, false) => {}
        }
        self.types(from, to, at);
        self.values(from, to, at);
        let both = from.possible_types() & to.possible_types();
        if both.meets(Types::INTEGER | Types::FRACTION) {
            self.numbers(from, to, at);
        }
        if both.meets(Types::STRING) {
            self.texts(from, to, at);
        }
        if both.meets(Types::ARRAY) {
            self.items(from, to, at, around);
        }
        if both.meets(Types::OBJECT) {
            self.members(from, to, at, around);
        }
        self.choices(from, to, at, around);
        self.opaque(from, to, at);
    }

    /// Compares titles, descriptions and other keywords that do not decide which values fit.
    fn words(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, around: Around) {
        let root = self.from;
        let all = |layers: &Layers<'a>, keyword| {
            layers.every(keyword).map(|value| root.text(value)).collect::<Vec<_>>()
        };
        let changed = |keyword: &'a str| all(from, keyword) != all(to, keyword);
        if changed("title") {
            self.say(at, "title_changed", Effect::Same, "has another title");
        }
        if changed("description") {
            self.say(at, "description_changed", Effect::Same, "has another description");
        }
        if changed(TRANSLATIONS) {
            self.say(at, "translation_changed", Effect::Same, "has another translation");
        }
        if !around.default_done && changed("default") {
            self.say(at, "default_changed", Effect::Same, "has another default, which is only shown");
        }
        // These have a say of their own, or are followed where they are used.
        let apart = [
            "title",
            "description",
            TRANSLATIONS,
            "default",
            "$schema",
            "$id",
            "$anchor",
            "$defs",
            "definitions",
        ];
        let keywords = from.all.iter().chain(&to.all).flat_map(|layer| layer.map.keys());
        let mut keywords: Vec<&'a String> = keywords.collect();
        keywords.sort_unstable();
        keywords.dedup();
        for keyword in keywords {
            let understood = UNDERSTOOD.contains(&keyword.as_str()) || apart.contains(&keyword.as_str());
            if understood || !self.spend(from.all.len() + to.all.len()) || !changed(keyword) {
                continue;
            }
            // Of what is not understood nobody knows whether it matters.
            let effect = if is_word(keyword) { Effect::Same } else { Effect::Both };
            let message = format!("`{}` changed", cut(keyword));
            self.say(at, "schema_changed", effect, message);
        }
    }

    fn types(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        let lost = from.possible_types().without(to.types());
        let gained = to.possible_types().without(from.types());
        let (lost, gained) = (names(lost), names(gained));
        match (lost.is_empty(), gained.is_empty()) {
            (true, true) => {}
            (true, false) => {
                self.say(at, "type_widened", Effect::Wider, format!("may also be {}", gained.join(" or ")));
            }
            (false, true) => {
                let message = format!("may no longer be {}", lost.join(" or "));
                self.say(at, "type_changed", Effect::Narrower, message);
            }
            (false, false) => {
                let message = format!("was {} and is now {}", lost.join(" or "), gained.join(" or "));
                self.say(at, "type_changed", Effect::Both, message);
            }
        }
    }

    /// Lists of the only values that fit.
    fn values(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        match (from.values(), to.values()) {
            (None, None) => {}
            (None, Some(_)) => {
                self.say(at, "enum_value_removed", Effect::Narrower, "must now be one of a list");
            }
            (Some(_), None) => {
                self.say(at, "enum_value_added", Effect::Wider, "need no longer be one of a list");
            }
            (Some(from), Some(to)) => {
                let text_of = |values: &[(String, &Value)]| -> HashSet<String> {
                    values.iter().map(|(text, _)| text.clone()).collect()
                };
                let (known, kept) = (text_of(from), text_of(to));
                for (text, value) in from.iter().filter(|(text, _)| !kept.contains(text)) {
                    let message = format!("may no longer be {}", shown(text, value));
                    self.say(at, "enum_value_removed", Effect::Narrower, message);
                }
                for (text, value) in to.iter().filter(|(text, _)| !known.contains(text)) {
                    let message = format!("may also be {}", shown(text, value));
                    self.say(at, "enum_value_added", Effect::Wider, message);
                }
            }
        }
    }

    fn items(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, around: Around) {
        self.counts(from, to, at, "minItems", "maxItems", "item");
        self.switch(from, to, at, "uniqueItems");
        if from.says_any(&["unevaluatedItems"]) || to.says_any(&["unevaluatedItems"]) {
            self.only_the_same(from, to, at, "unevaluatedItems");
            return;
        }
        let watching = ["enum", "const", "not", "if", "anyOf", "oneOf", "contains", "uniqueItems"];
        let watched = around.watched || from.says_any(&watching) || to.says_any(&watching);
        let inside = self.inside(from, to, Around { watched, default_done: false, ..around });
        let beside = self.beside.len();
        self.put_beside(from, to, at);
        let lists = from.every("prefixItems").chain(to.every("prefixItems")).filter_map(Value::as_array);
        let numbered = lists.map(Vec::len).max().unwrap_or(0);
        for index in (0..numbered).map(Some).chain([None]) {
            if !self.spend(from.all.len() + to.all.len()) {
                break;
            }
            let pair: (Subschemas<'a>, Subschemas<'a>) = (from.item(index), to.item(index));
            if !pair.0.is_empty() || !pair.1.is_empty() {
                let token = index.map_or_else(|| "*".to_owned(), |index| index.to_string());
                self.compare(&pair.0, &pair.1, &format!("{at}/{token}"), inside);
            }
        }
        self.beside.truncate(beside);
    }

    /// The context of members and items.
    pub(super) fn inside(&self, from: &Layers<'a>, to: &Layers<'a>, around: Around) -> Around {
        Around {
            from_defaults: around.from_defaults && !from.nullable,
            to_defaults: around.to_defaults && !to.nullable,
            ..around
        }
    }
}

/// The depth of an instance location; the root has none.
pub(super) fn depth(at: &str) -> usize {
    at.matches('/').count()
}

/// The names of types, in the words of a sentence.
fn names(types: Types) -> Vec<&'static str> {
    let number = Types::INTEGER | Types::FRACTION;
    let words = [
        (Types::STRING, "a text"),
        (number, "a number"),
        (Types::BOOLEAN, "a boolean"),
        (Types::OBJECT, "an object"),
        (Types::ARRAY, "an array"),
        (Types::NULL, "null"),
    ];
    let mut names: Vec<&str> =
        words.into_iter().filter(|(one, _)| types.meets(*one)).map(|(_, name)| name).collect();
    for name in &mut names {
        if *name == "a number" && types & number != number {
            *name = if types.meets(Types::INTEGER) { "a whole number" } else { "a fraction" };
        }
    }
    names
}

fn shown(text: &str, value: &Value) -> String {
    value.as_str().map_or_else(|| cut(text), quote_text)
}
