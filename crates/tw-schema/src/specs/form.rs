//! Forms, version 2.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    reader::{Object, Reader},
    target::{Finder, Target, tokens},
};
use crate::{
    Fault, Violation,
    fields::{ComponentSide, FieldType, component, variants},
    words::cut,
};

const VERSION: u64 = 2;

const SPEC: &[&str] = &["version", "title", "description", "submit_label", "fields", "sections", "i18n"];
const SECTION: &[&str] = &["id", "title", "description", "collapsed", "i18n"];
const FIELD: &[&str] = &[
    "path",
    "label",
    "help",
    "placeholder",
    "component",
    "variant",
    "unit",
    "width",
    "section",
    "show_when",
    "upload",
    "rows",
    "hidden",
    "i18n",
];
const CONDITIONS: &[&str] = &["equals", "not_equals", "in", "exists"];

/// All faults of a tool's form.
///
/// Every path in it must be described by the input schema: a form can ask only for what is known.
#[must_use]
pub fn check_form_spec(spec: &Value, input_schema: &Value) -> Vec<Fault> {
    let mut check = Form { reader: Reader::default(), schema: Finder::new(input_schema) };
    check.spec(spec);
    check.reader.told()
}

struct Form<'a> {
    reader: Reader,
    schema: Finder<'a>,
}

impl Form<'_> {
    fn spec(&mut self, spec: &Value) {
        let Some(object) = self.reader.object(spec, "", SPEC) else { return };
        self.reader.version(object, VERSION);
        for name in ["title", "description", "submit_label"] {
            self.reader.text(object, name);
        }
        self.reader.translations(object, &["title", "description", "submit_label"]);
        let sections = object.get("sections").map(|sections| self.sections(sections)).unwrap_or_default();
        let Some(fields) = object.get("fields") else {
            self.reader.say("/fields", Violation::required());
            return;
        };
        let mut paths = HashSet::new();
        for (field, at) in self.reader.list(fields, "/fields") {
            self.field(field, &at, &sections, &mut paths);
        }
    }

    /// The ids of the sections.
    fn sections<'a>(&mut self, sections: &'a Value) -> HashSet<&'a str> {
        let mut ids = HashSet::new();
        for (section, at) in self.reader.list(sections, "/sections") {
            // The object borrows the pointer only for its faults.
            let Some(members) = section.as_object() else {
                self.reader.object(section, &at, SECTION);
                continue;
            };
            let Some(object) = self.reader.object(section, &at, SECTION) else { continue };
            self.reader.needed_text(object, "title");
            self.reader.text(object, "description");
            self.reader.flag(object, "collapsed");
            self.reader.translations(object, &["title", "description"]);
            if self.reader.needed_text(object, "id").is_none() {
                continue;
            }
            let Some(id) = members.get("id").and_then(Value::as_str) else { continue };
            if !ids.insert(id) {
                self.reader.say(object.pointer("id"), Violation::duplicate(cut(id)));
            }
        }
        ids
    }

    fn field(&mut self, field: &Value, at: &str, sections: &HashSet<&str>, paths: &mut HashSet<String>) {
        let Some(object) = self.reader.object(field, at, FIELD) else { return };
        let path = self.path(object);
        if let Some(path) = path
            && !paths.insert(path.to_owned())
        {
            self.reader.say(object.pointer("path"), Violation::duplicate(cut(path)));
        }
        for name in ["label", "help", "placeholder", "unit"] {
            self.reader.text(object, name);
        }
        self.reader.translations(object, &["label", "help", "placeholder", "unit"]);
        self.look(object);
        self.reader.word(object, "width", &["full", "half", "third"]);
        self.reader.count(object, "rows");
        self.reader.flag(object, "hidden");
        if object.get("hidden").is_some_and(|hidden| *hidden == Value::Bool(true))
            && path.and_then(tokens).is_some_and(|tokens| self.schema.is_indispensable(&tokens))
        {
            self.reader.say(object.pointer("hidden"), Violation::hidden_required());
        }
        if let Some(section) = self.reader.text(object, "section")
            && !sections.contains(section)
        {
            self.reader.say(object.pointer("section"), Violation::unknown_section(cut(section)));
        }
        if let Some(condition) = object.get("show_when") {
            self.condition(condition, &object.pointer("show_when"), path);
        }
        if let Some(upload) = object.get("upload") {
            self.upload(upload, &object.pointer("upload"));
        }
    }

    /// The component and the variant of a field: words that some renderer knows.
    fn look(&mut self, object: Object<'_>) {
        let kinds = FieldType::ALL.iter().copied();
        // A component may also be named by the variant of it that is wanted.
        let mut components: Vec<&str> =
            kinds.clone().map(|kind| component(kind, ComponentSide::Input)).collect();
        components.extend(kinds.clone().flat_map(variants).copied());
        components.dedup();
        self.reader.word(object, "component", &components);
        let chosen = object.get("component").and_then(Value::as_str);
        let of_chosen = |kind: &FieldType| {
            chosen.is_none_or(|name| {
                name == component(*kind, ComponentSide::Input) || variants(*kind).contains(&name)
            })
        };
        let mut looks: Vec<&str> = kinds.filter(of_chosen).flat_map(variants).copied().collect();
        looks.sort_unstable();
        looks.dedup();
        if !looks.is_empty() {
            self.reader.word(object, "variant", &looks);
        }
    }

    /// The path of an object, if the schema describes it.
    fn path<'a>(&mut self, object: Object<'a>) -> Option<&'a str> {
        let path = self.reader.needed_text(object, "path")?;
        let Some(tokens) = tokens(path).filter(|tokens| !tokens.is_empty()) else {
            self.reader.say(object.pointer("path"), Violation::pointer());
            return None;
        };
        let violation = match self.schema.find(&tokens) {
            Target::Described => return Some(path),
            Target::Possible | Target::Nowhere => Violation::not_in_schema(cut(path), "input"),
            Target::Unknown => Violation::schema_unsearchable(cut(path)),
        };
        self.reader.say(object.pointer("path"), violation);
        None
    }

    /// When a field is shown.
    fn condition(&mut self, condition: &Value, at: &str, field: Option<&str>) {
        let known: Vec<&str> = ["path"].iter().chain(CONDITIONS).copied().collect();
        let Some(object) = self.reader.object(condition, at, &known) else { return };
        let path = self.path(object);
        if path.is_some() && path == field {
            self.reader.say(object.pointer("path"), Violation::depends_on_itself());
        }
        // Null is a value here like any other.
        let given: Vec<&str> =
            CONDITIONS.iter().copied().filter(|name| object.members.contains_key(*name)).collect();
        if given.len() != 1 {
            self.reader.say(at, Violation::one_member(CONDITIONS));
        }
        match object.members.get("in") {
            None => {}
            Some(Value::Array(values)) if !values.is_empty() => {}
            Some(Value::Array(_)) => self.reader.say(object.pointer("in"), Violation::min_items(1)),
            Some(other) => self.reader.say(object.pointer("in"), Violation::typed(&["array"], other)),
        }
        if let Some(value) = object.members.get("exists").filter(|value| !value.is_boolean()) {
            self.reader.say(object.pointer("exists"), Violation::typed(&["boolean"], value));
        }
    }

    fn upload(&mut self, upload: &Value, at: &str) {
        let Some(object) = self.reader.object(upload, at, &["accept", "max_bytes"]) else { return };
        self.reader.count(object, "max_bytes");
        if let Some(accept) = object.get("accept") {
            for (kind, at) in self.reader.list(accept, &object.pointer("accept")) {
                if !kind.as_str().is_some_and(is_file_kind) {
                    self.reader.say(at, Violation::file_kind());
                }
            }
        }
    }
}

fn is_file_kind(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_'))
    };
    match (text.strip_prefix('.'), text.split_once('/')) {
        (Some(ending), None) => plain(ending),
        (_, Some((kind, "*"))) => plain(kind) || kind == "*",
        (_, Some((kind, subtype))) => plain(kind) && plain(subtype),
        (None, None) => false,
    }
}
