//! Forms, version 2.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    reader::{Part, Reader},
    target::{Finder, Found, steps},
};
use crate::{
    Fault, Violation,
    fields::{FieldType, Side, component, variants},
    words::cut,
};

const VERSION: u64 = 2;

const SPEC: &[&str] = &["version", "title", "description", "submit_label", "fields", "sections"];
const SECTION: &[&str] = &["id", "title", "description", "collapsed"];
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
];
const CONDITIONS: &[&str] = &["equals", "not_equals", "in", "exists"];

/// Everything that is wrong with the form of a tool.
///
/// Every path in it must be described by the input schema: a form can ask only for what is known.
#[must_use]
pub fn check_form_spec(spec: &Value, input_schema: &Value) -> Vec<Fault> {
    let mut check =
        Form { reader: Reader::default(), schema: Finder::new(input_schema), document: input_schema };
    check.spec(spec);
    check.reader.told()
}

struct Form<'a> {
    reader: Reader,
    schema: Finder<'a>,
    document: &'a Value,
}

impl Form<'_> {
    fn spec(&mut self, spec: &Value) {
        let Some(part) = self.reader.object(spec, "", SPEC) else { return };
        self.reader.version(part, VERSION);
        for name in ["title", "description", "submit_label"] {
            self.reader.text(part, name);
        }
        let sections = part.get("sections").map(|sections| self.sections(sections)).unwrap_or_default();
        let Some(fields) = part.get("fields") else {
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
            // The part borrows the place only to speak of it.
            let Some(members) = section.as_object() else {
                self.reader.object(section, &at, SECTION);
                continue;
            };
            let Some(part) = self.reader.object(section, &at, SECTION) else { continue };
            self.reader.needed_text(part, "title");
            self.reader.text(part, "description");
            self.reader.flag(part, "collapsed");
            if self.reader.needed_text(part, "id").is_none() {
                continue;
            }
            let Some(id) = members.get("id").and_then(Value::as_str) else { continue };
            if !ids.insert(id) {
                self.reader.say(part.place("id"), Violation::duplicate(cut(id)));
            }
        }
        ids
    }

    fn field(&mut self, field: &Value, at: &str, sections: &HashSet<&str>, paths: &mut HashSet<String>) {
        let Some(part) = self.reader.object(field, at, FIELD) else { return };
        let path = self.path(part);
        if let Some(path) = path
            && !paths.insert(path.to_owned())
        {
            self.reader.say(part.place("path"), Violation::duplicate(cut(path)));
        }
        for name in ["label", "help", "placeholder", "unit"] {
            self.reader.text(part, name);
        }
        self.look(part);
        self.reader.word(part, "width", &["full", "half", "third"]);
        self.reader.count(part, "rows");
        self.reader.flag(part, "hidden");
        if part.get("hidden").is_some_and(|hidden| *hidden == Value::Bool(true))
            && path.is_some_and(|path| self.is_indispensable(path))
        {
            self.reader.say(part.place("hidden"), Violation::hidden_required());
        }
        if let Some(section) = self.reader.text(part, "section")
            && !sections.contains(section)
        {
            self.reader.say(part.place("section"), Violation::unknown_section(cut(section)));
        }
        if let Some(condition) = part.get("show_when") {
            self.condition(condition, &part.place("show_when"), path);
        }
        if let Some(upload) = part.get("upload") {
            self.upload(upload, &part.place("upload"));
        }
    }

    /// The component and the variant of a field: words that some renderer knows.
    fn look(&mut self, part: Part<'_>) {
        let kinds = FieldType::ALL.iter().copied();
        // A component may also be named by the variant of it that is wanted.
        let mut components: Vec<&str> = kinds.clone().map(|kind| component(kind, Side::Input)).collect();
        components.extend(kinds.clone().flat_map(variants).copied());
        components.dedup();
        self.reader.word(part, "component", &components);
        let chosen = part.get("component").and_then(Value::as_str);
        let of_chosen = |kind: &FieldType| {
            chosen.is_none_or(|name| name == component(*kind, Side::Input) || variants(*kind).contains(&name))
        };
        let mut looks: Vec<&str> = kinds.filter(of_chosen).flat_map(variants).copied().collect();
        looks.sort_unstable();
        looks.dedup();
        if !looks.is_empty() {
            self.reader.word(part, "variant", &looks);
        }
    }

    /// Whether an input without what the path leads to never fits: it is required, and nothing fills it in.
    fn is_indispensable(&self, path: &str) -> bool {
        let Some(mut steps) = steps(path) else { return false };
        let Some(last) = steps.pop() else { return false };
        let mut parent = self.document;
        for step in &steps {
            let Some(next) = parent.get("properties").and_then(|members| members.get(&**step)) else {
                return false;
            };
            parent = next;
        }
        let is_required =
            parent["required"].as_array().is_some_and(|names| names.iter().any(|name| *name == *last));
        let property = parent.get("properties").and_then(|members| members.get(&*last));
        is_required && property.is_none_or(|property| property.get("default").is_none())
    }

    /// The path of a part, once it is known to lead somewhere.
    fn path<'a>(&mut self, part: Part<'a>) -> Option<&'a str> {
        let path = self.reader.needed_text(part, "path")?;
        let Some(steps) = steps(path).filter(|steps| !steps.is_empty()) else {
            self.reader.say(part.place("path"), Violation::pointer());
            return None;
        };
        let violation = match self.schema.find(&steps) {
            Found::Described => return Some(path),
            Found::Possible | Found::Nowhere => Violation::not_in_schema(cut(path), "input"),
            Found::Unknown => Violation::schema_unsearchable(cut(path)),
        };
        self.reader.say(part.place("path"), violation);
        None
    }

    /// When a field is shown.
    fn condition(&mut self, condition: &Value, at: &str, field: Option<&str>) {
        let known: Vec<&str> = ["path"].iter().chain(CONDITIONS).copied().collect();
        let Some(part) = self.reader.object(condition, at, &known) else { return };
        let path = self.path(part);
        if path.is_some() && path == field {
            self.reader.say(part.place("path"), Violation::depends_on_itself());
        }
        // Null is a value here like any other.
        let given: Vec<&str> =
            CONDITIONS.iter().copied().filter(|name| part.members.contains_key(*name)).collect();
        if given.len() != 1 {
            self.reader.say(at, Violation::one_member(CONDITIONS));
        }
        match part.members.get("in") {
            None => {}
            Some(Value::Array(values)) if !values.is_empty() => {}
            Some(Value::Array(_)) => self.reader.say(part.place("in"), Violation::min_items(1)),
            Some(other) => self.reader.say(part.place("in"), Violation::typed(&["array"], other)),
        }
        if let Some(value) = part.members.get("exists").filter(|value| !value.is_boolean()) {
            self.reader.say(part.place("exists"), Violation::typed(&["boolean"], value));
        }
    }

    fn upload(&mut self, upload: &Value, at: &str) {
        let Some(part) = self.reader.object(upload, at, &["accept", "max_bytes"]) else { return };
        self.reader.count(part, "max_bytes");
        if let Some(accept) = part.get("accept") {
            for (kind, at) in self.reader.list(accept, &part.place("accept")) {
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
