//! Reading fields from JSON, and collecting their faults.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    Field, FieldOption, FieldTexts, FieldType,
    check::{Check, Role},
};
use crate::{Fault, Violation, pointer};

/// The parts of a field, in the order in which people read them.
const PARTS: &[&str] = &[
    "name",
    "type",
    "label",
    "description",
    "required",
    "default",
    "variant",
    "options",
    "fields",
    "items",
    "target",
    "i18n",
];

/// Reads a list of fields and checks it.
///
/// # Errors
///
/// All faults, with JSON pointers into the list; also those that [`super::fields_to_schema`] would
/// report.
pub fn parse_fields(value: &Value) -> Result<Vec<Field>, Vec<Fault>> {
    let mut check = Check::default();
    let fields = check.read_list(value, "", 1);
    if check.faults.count() == 0 { Ok(fields) } else { Err(check.faults.told()) }
}

impl Check {
    fn read_list(&mut self, value: &Value, at: &str, level: usize) -> Vec<Field> {
        let Some(items) = value.as_array() else {
            self.say(at, Violation::typed(&["array"], value));
            return Vec::new();
        };
        let name = |item: &'_ Value| item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let names: Vec<String> = items.iter().map(name).collect();
        self.names(names.iter().map(String::as_str), at);
        let fields = items.iter().enumerate();
        fields
            .filter_map(|(index, item)| self.read_field(item, &format!("{at}/{index}"), level, Role::Member))
            .collect()
    }

    fn read_field(&mut self, value: &Value, at: &str, level: usize, role: Role) -> Option<Field> {
        if !self.enter(at, level) {
            return None;
        }
        let Some(members) = value.as_object() else {
            self.say(at, Violation::typed(&["object"], value));
            return None;
        };
        let before = self.faults.count();
        for name in members.keys().filter(|name| !PARTS.contains(&name.as_str())) {
            self.say(pointer::join(at, name), Violation::unknown_member());
        }
        let kind = self.read_type(members, at)?;
        let mut field = Field::new(self.read_text(members, "name", at).unwrap_or_default(), kind);
        field.label = self.read_text(members, "label", at);
        field.description = self.read_text(members, "description", at);
        field.variant = self.read_text(members, "variant", at);
        field.target = self.read_text(members, "target", at);
        field.default = given(members, "default").cloned();
        match given(members, "required") {
            None => {}
            Some(Value::Bool(required)) => field.required = *required,
            Some(required) => {
                self.say(pointer::join(at, "required"), Violation::typed(&["boolean"], required))
            }
        }
        field.options = self.read_options(members, at);
        field.i18n = self.read_texts(members, at);
        // A fault in a part of this field makes the rest of it not worth judging; one in a field
        // inside it only forbids to judge its default.
        let sound = self.faults.count() == before;
        if let Some(fields) = given(members, "fields") {
            field.fields = self.read_list(fields, &pointer::join(at, "fields"), level + 1);
        }
        if let Some(items) = given(members, "items") {
            field.items =
                self.read_field(items, &pointer::join(at, "items"), level + 1, Role::Item).map(Box::new);
        }
        let sound_below = self.faults.count() == before;
        if sound && (sound_below || field.items.is_some() || given(members, "items").is_none()) {
            self.own(&field, at, role, sound_below);
        }
        Some(field)
    }

    fn read_type(&mut self, members: &Map<String, Value>, at: &str) -> Option<FieldType> {
        let at = pointer::join(at, "type");
        match given(members, "type") {
            None => self.say(at, Violation::required()),
            Some(Value::String(name)) => match FieldType::parse(name) {
                Some(kind) => return Some(kind),
                None => self.say(at, Violation::words(FieldType::ALL.iter().map(|kind| kind.as_str()))),
            },
            Some(other) => self.say(at, Violation::typed(&["string"], other)),
        }
        None
    }

    fn read_text(&mut self, members: &Map<String, Value>, part: &str, at: &str) -> Option<String> {
        match given(members, part)? {
            Value::String(text) => Some(text.clone()),
            other => {
                self.say(pointer::join(at, part), Violation::typed(&["string"], other));
                None
            }
        }
    }

    fn read_texts(&mut self, members: &Map<String, Value>, at: &str) -> BTreeMap<String, FieldTexts> {
        let at = pointer::join(at, "i18n");
        let Some(said) = given(members, "i18n") else { return BTreeMap::new() };
        let Some(languages) = said.as_object() else {
            self.say(at, Violation::typed(&["object"], said));
            return BTreeMap::new();
        };
        let languages = languages.iter();
        languages
            .map(|(tag, texts)| (tag.clone(), self.read_language(texts, &pointer::join(&at, tag))))
            .collect()
    }

    fn read_language(&mut self, texts: &Value, at: &str) -> FieldTexts {
        let Some(members) = texts.as_object() else {
            self.say(at, Violation::typed(&["object"], texts));
            return FieldTexts::default();
        };
        for name in
            members.keys().filter(|name| !["label", "description", "option_labels"].contains(&name.as_str()))
        {
            self.say(pointer::join(at, name), Violation::unknown_member());
        }
        FieldTexts {
            label: self.read_text(members, "label", at),
            description: self.read_text(members, "description", at),
            option_labels: self.read_labels(members, &pointer::join(at, "option_labels")),
        }
    }

    fn read_labels(&mut self, members: &Map<String, Value>, at: &str) -> Vec<Option<String>> {
        let labels = match given(members, "option_labels") {
            None => return Vec::new(),
            Some(Value::Array(labels)) => labels,
            Some(other) => {
                self.say(at, Violation::typed(&["array"], other));
                return Vec::new();
            }
        };
        let mut read = Vec::new();
        for (index, label) in labels.iter().enumerate() {
            if !label.is_string() && !label.is_null() {
                self.say(format!("{at}/{index}"), Violation::typed(&["string", "null"], label));
            }
            read.push(label.as_str().map(str::to_owned));
        }
        read
    }

    fn read_options(&mut self, members: &Map<String, Value>, at: &str) -> Vec<FieldOption> {
        let at = pointer::join(at, "options");
        let options = match given(members, "options") {
            None => return Vec::new(),
            Some(Value::Array(options)) => options,
            Some(other) => {
                self.say(at, Violation::typed(&["array"], other));
                return Vec::new();
            }
        };
        let read = options.iter().enumerate();
        read.filter_map(|(index, option)| self.read_option(option, &format!("{at}/{index}"))).collect()
    }

    fn read_option(&mut self, option: &Value, at: &str) -> Option<FieldOption> {
        let Some(members) = option.as_object() else {
            // Most lists of choices have no labels, and then this is how people write them.
            return Some(FieldOption { value: option.clone(), label: None });
        };
        for name in members.keys().filter(|name| !["value", "label"].contains(&name.as_str())) {
            self.say(pointer::join(at, name), Violation::unknown_member());
        }
        let label = self.read_text(members, "label", at);
        let Some(value) = members.get("value") else {
            self.say(pointer::join(at, "value"), Violation::required());
            return None;
        };
        Some(FieldOption { value: value.clone(), label })
    }
}

/// A part, if it is present. Null counts as absent, as forms send it.
fn given<'a>(members: &'a Map<String, Value>, part: &str) -> Option<&'a Value> {
    members.get(part).filter(|value| !value.is_null())
}
