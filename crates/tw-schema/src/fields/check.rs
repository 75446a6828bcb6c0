//! Checks of fields.

use std::collections::HashSet;

use super::{FIELD_DEPTH_MAX, FIELD_NAME_MAX, FIELDS_MAX, Field, FieldType, variants, write};
use crate::{NODES_MAX, Schema, Violation, canonical, fault::FirstFaults, i18n, limits::weight, pointer};

/// How much may be compiled to check defaults. Those of objects inside one another are compiled once
/// for every level.
const COMPILED_MAX: usize = 4 * NODES_MAX;

/// Whether a field stands in a list, where it needs a name, or describes the items of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Member,
    Item,
}

/// Collects the faults of a list of fields.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub(super) faults: FirstFaults,
    count: usize,
    compiled: usize,
}

impl Check {
    pub(super) fn say(&mut self, at: impl Into<String>, violation: Violation) {
        self.faults.say(at, violation);
    }

    /// Whether a field may be looked into. A list that is too long or too deep is told so once and
    /// left alone.
    pub(super) fn enter(&mut self, at: &str, level: usize) -> bool {
        self.count += 1;
        if FIELDS_MAX < self.count {
            if self.count == FIELDS_MAX + 1 {
                self.say("", Violation::field_count(FIELDS_MAX));
            }
            return false;
        }
        if FIELD_DEPTH_MAX < level {
            self.say(at, Violation::nesting(FIELD_DEPTH_MAX));
            return false;
        }
        true
    }

    pub(super) fn all(&mut self, fields: &[Field], at: &str, level: usize) {
        self.names(fields.iter().map(|field| field.name.as_str()), at);
        for (index, field) in fields.iter().enumerate() {
            self.one(field, &format!("{at}/{index}"), level, Role::Member);
        }
    }

    fn one(&mut self, field: &Field, at: &str, level: usize, role: Role) {
        if !self.enter(at, level) {
            return;
        }
        let before = self.faults.count();
        self.all(&field.fields, &pointer::join(at, "fields"), level + 1);
        if let Some(items) = &field.items {
            self.one(items, &pointer::join(at, "items"), level + 1, Role::Item);
        }
        let sound_below = self.faults.count() == before;
        self.own(field, at, role, sound_below);
    }

    /// Names that stand twice in one list. Each is told at its second place.
    pub(super) fn names<'a>(&mut self, names: impl Iterator<Item = &'a str>, at: &str) {
        let mut seen = HashSet::new();
        for (index, name) in names.enumerate() {
            if !name.is_empty() && !seen.insert(name) {
                self.say(format!("{at}/{index}/name"), Violation::duplicate(name));
            }
        }
    }

    /// Checks a field without the fields inside it. `sound_below` says whether those are sound.
    pub(super) fn own(&mut self, field: &Field, at: &str, role: Role, sound_below: bool) {
        let before = self.faults.count();
        if role == Role::Member {
            self.name(&field.name, at);
        }
        self.parts(field, at);
        self.options(field, at);
        self.texts(field, at);
        if let Some(variant) = &field.variant
            && !variants(field.kind).contains(&variant.as_str())
        {
            self.say(pointer::join(at, "variant"), Violation::words(variants(field.kind).iter().copied()));
        }
        if let Some(default) = &field.default
            && sound_below
            && self.faults.count() == before
        {
            self.default(field, default, at);
        }
    }

    fn name(&mut self, name: &str, at: &str) {
        let at = pointer::join(at, "name");
        if name.is_empty() {
            self.say(at, Violation::required());
        } else if FIELD_NAME_MAX < name.chars().count() {
            self.say(at, Violation::max_length(FIELD_NAME_MAX));
        }
    }

    /// Parts that belong to some types only.
    fn parts(&mut self, field: &Field, at: &str) {
        let kind = field.kind;
        let mut foreign = |part: &str, given: bool, belongs: bool| {
            if given && !belongs {
                self.say(pointer::join(at, part), Violation::not_for_type(kind.as_str()));
            }
        };
        foreign("options", !field.options.is_empty(), kind == FieldType::Enum);
        foreign("fields", !field.fields.is_empty(), kind == FieldType::Object);
        foreign("items", field.items.is_some(), kind == FieldType::Array);
        foreign("target", field.target.is_some(), matches!(kind, FieldType::Media | FieldType::Relation));
        if kind == FieldType::Array && field.items.is_none() {
            self.say(pointer::join(at, "items"), Violation::required());
        }
        if field.target.as_ref().is_some_and(String::is_empty) {
            self.say(pointer::join(at, "target"), Violation::not_empty());
        }
    }

    fn options(&mut self, field: &Field, at: &str) {
        let at = pointer::join(at, "options");
        if field.kind == FieldType::Enum && field.options.is_empty() {
            self.say(at, Violation::min_items(1));
            return;
        }
        let mut seen = HashSet::new();
        for (index, option) in field.options.iter().enumerate() {
            let at = format!("{at}/{index}/value");
            if option.value.is_null() || option.value.is_object() || option.value.is_array() {
                self.say(at, Violation::scalar());
            } else if !seen.insert(canonical(&option.value)) {
                self.say(at, Violation::duplicate(option.value.clone()));
            }
        }
    }

    /// The translations, by the names that fields have for what they translate.
    fn texts(&mut self, field: &Field, at: &str) {
        let at = pointer::join(at, "i18n");
        for (tag, texts) in &field.i18n {
            let at = pointer::join(&at, tag);
            if !i18n::is_language(tag) {
                self.say(&at, Violation::language());
            }
            let labels = texts.option_labels.len();
            if labels != 0 && labels != field.options.len() {
                let count = field.options.len();
                self.say(pointer::join(&at, "option_labels"), Violation::item_count(count, count));
            }
        }
    }

    /// A default has to pass the very check that a caller's value will meet.
    fn default(&mut self, field: &Field, default: &serde_json::Value, at: &str) {
        let at = pointer::join(at, "default");
        let mut without = field.clone();
        without.default = None;
        let schema = write::schema_of(&without);
        self.compiled += weight(&schema) + weight(default);
        if COMPILED_MAX < self.compiled {
            return self.say(at, Violation::defaults_nested());
        }
        match Schema::compile(&schema) {
            Err(fault) => self.faults.push(fault.fault().below(&at)),
            Ok(schema) => {
                let mut value = default.clone();
                schema.with_defaults(&mut value);
                for fault in schema.faults(&value) {
                    self.faults.push(fault.below(&at));
                }
            }
        }
    }
}
