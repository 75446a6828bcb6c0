//! A tool's texts in another language.
//!
//! A file beside the tool has them, each under the text that it translates. So a text is translated once wherever it
//! stands, and a text that changes loses its translation instead of keeping a wrong one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tw_model::ToolDef;

/// The texts of a form and of its parts.
const FORM_TEXTS: [&str; 3] = ["title", "description", "submit_label"];
const SECTION_TEXTS: [&str; 2] = ["title", "description"];
const FIELD_TEXTS: [&str; 4] = ["label", "help", "placeholder", "unit"];
/// What people read of a node of a schema.
const NODE_TEXTS: [&str; 3] = ["title", "description", "x-unit"];
/// Units that a page writes by the rules of its language, or leaves out.
const KNOWN_UNITS: [&str; 12] = [
    "currency", "percent", "points", "count", "times", "years", "months", "weeks", "days", "hours",
    "minutes", "seconds",
];
const LABELS: &str = "x-enum-labels";

/// The translations of one tool into one language.
pub(crate) struct Dictionary {
    language: &'static str,
    texts: BTreeMap<String, String>,
    used: BTreeSet<String>,
}

impl Dictionary {
    pub(crate) fn read(language: &'static str, text: &str) -> serde_json::Result<Self> {
        Ok(Self { language, texts: serde_json::from_str(text)?, used: BTreeSet::new() })
    }

    /// What translates nothing.
    pub(crate) fn unused(&self) -> Vec<&str> {
        self.texts.keys().map(String::as_str).filter(|text| !self.used.contains(*text)).collect()
    }

    fn find(&mut self, text: &str) -> Option<String> {
        let found = self.texts.get(text)?.clone();
        self.used.insert(text.to_owned());
        Some(found)
    }

    fn find_in(&mut self, object: &Map<String, Value>, name: &str) -> Option<(String, Value)> {
        let text = object.get(name)?.as_str()?;
        self.find(text).map(|found| (name.to_owned(), json!(found)))
    }

    /// The translations of a tool's name and description.
    pub(crate) fn tool(&mut self, def: &ToolDef) -> Option<Value> {
        let texts = [("name", &def.name), ("description", &def.description)];
        let found =
            texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(self.find(text)?))));
        let found: Map<_, _> = found.collect();
        (!found.is_empty()).then(|| json!({ self.language: found }))
    }

    /// The translation of the label of a section.
    pub(crate) fn label(&mut self, label: &str) -> Option<Value> {
        self.find(label).map(|found| json!({ self.language: { "label": found } }))
    }

    pub(crate) fn form(&mut self, form: &mut Value) {
        self.object(form, &FORM_TEXTS);
        for (list, texts) in [("sections", &SECTION_TEXTS[..]), ("fields", &FIELD_TEXTS[..])] {
            let parts = form.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            parts.for_each(|part| self.object(part, texts));
        }
    }

    fn object(&mut self, object: &mut Value, names: &[&str]) {
        let Some(members) = object.as_object_mut() else { return };
        let found: Map<_, _> = names.iter().filter_map(|name| self.find_in(members, name)).collect();
        self.put(members, "i18n", found);
    }

    /// Translates a schema and those inside it. A property without a title is known by its name.
    pub(crate) fn schema(&mut self, schema: &mut Value, name: Option<&str>) {
        let Value::Object(node) = schema else { return };
        let is_unit = |text: &str| text == "x-unit" && is_known_unit(node);
        let texts = NODE_TEXTS.into_iter().filter(|text| !is_unit(text));
        let mut found: Map<_, _> = texts.filter_map(|text| self.find_in(node, text)).collect();
        let constant = node.get("const").and_then(Value::as_str).map(str::to_owned);
        if let (false, Some(name)) = (node.contains_key("title"), constant.as_deref().or(name))
            && let Some(title) = self.find(name)
        {
            found.insert("title".to_owned(), json!(title));
        }
        let choices = node.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        let labels: Vec<_> = choices.iter().map(|choice| self.find(choice.as_str()?)).collect();
        if labels.iter().any(Option::is_some) {
            found.insert(LABELS.to_owned(), json!(labels));
        }
        self.put(node, "x-i18n", found);
        for (keyword, said) in node {
            match (keyword.as_str(), said) {
                ("properties", Value::Object(named)) => {
                    named.iter_mut().for_each(|(name, property)| self.schema(property, Some(name)));
                }
                ("$defs", Value::Object(named)) => {
                    named.values_mut().for_each(|part| self.schema(part, None));
                }
                ("items" | "additionalProperties", said) => self.schema(said, None),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                    parts.iter_mut().for_each(|part| self.schema(part, None));
                }
                _ => {}
            }
        }
    }

    fn put(&self, members: &mut Map<String, Value>, key: &str, found: Map<String, Value>) {
        if found.is_empty() {
            return;
        }
        let languages = members.entry(key).or_insert_with(|| json!({}));
        if let Some(languages) = languages.as_object_mut() {
            languages.insert(self.language.to_owned(), Value::Object(found));
        }
    }
}

/// The texts of a tool that people read and that a language lacks, each as the file of the tool would name it.
pub(crate) fn untranslated(tool: &ToolDef, language: &str) -> Vec<String> {
    let mut missing = BTreeSet::new();
    let has = |translations: Option<&Value>, name: &str| {
        translations.and_then(|all| all.get(language)?.get(name)).is_some()
    };
    let own = tool.authored.i18n.as_ref();
    for (name, text) in [("name", &tool.name), ("description", &tool.description)] {
        if !has(own, name) {
            missing.insert(text.clone());
        }
    }
    for section in tool.output_sections.iter().filter(|section| !has(section.i18n.as_ref(), "label")) {
        missing.insert(section.label.clone());
    }
    if let Some(form) = &tool.authored.form_spec {
        let parts = |list: &str| form.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
        let mut texts = |part: &Value, names: &[&str]| {
            let said = names.iter().filter_map(|name| Some((*name, part.get(name)?.as_str()?)));
            missing.extend(
                said.filter(|(name, _)| !has(part.get("i18n"), name)).map(|(_, text)| text.to_owned()),
            );
        };
        texts(form, &FORM_TEXTS);
        parts("sections").iter().for_each(|part| texts(part, &SECTION_TEXTS));
        // A placeholder is mostly an example, and a unit a sign: those may stay as they are.
        parts("fields").iter().for_each(|part| texts(part, &FIELD_TEXTS[..2]));
    }
    let sections: BTreeSet<&str> = tool.output_sections.iter().map(|section| section.key.as_str()).collect();
    let mut schemas = Schemas { language, missing: &mut missing };
    schemas.node(&tool.input_schema, None);
    for (name, property) in
        tool.output_schema.iter().flat_map(|schema| schema["properties"].as_object()).flatten()
    {
        // A section has a label, and a currency is shown beside its amounts.
        let is_shown = !sections.contains(name.as_str()) && name != "currency";
        schemas.node(property, is_shown.then_some(name));
    }
    let defs = tool.output_schema.iter().flat_map(|schema| schema.get("$defs")?.as_object()).flatten();
    defs.for_each(|(_, part)| schemas.node(part, None));
    missing.into_iter().collect()
}

fn is_known_unit(node: &Map<String, Value>) -> bool {
    node.get("x-unit").and_then(Value::as_str).is_some_and(|unit| KNOWN_UNITS.contains(&unit))
}

struct Schemas<'a> {
    language: &'a str,
    missing: &'a mut BTreeSet<String>,
}

impl Schemas<'_> {
    fn node(&mut self, schema: &Value, name: Option<&str>) {
        let Value::Object(node) = schema else { return };
        let translated = node.get("x-i18n").and_then(|all| all.get(self.language));
        let has = |text: &str| translated.and_then(|said| said.get(text)).is_some();
        for text in NODE_TEXTS.into_iter().filter(|text| *text != "x-unit" || !is_known_unit(node)) {
            self.missing
                .extend(node.get(text).and_then(Value::as_str).filter(|_| !has(text)).map(str::to_owned));
        }
        let constant = node.get("const").and_then(Value::as_str);
        if !node.contains_key("title") && !has("title") {
            self.missing.extend(constant.or(name).map(str::to_owned));
        }
        let choices = node.get("enum").and_then(Value::as_array).into_iter().flatten();
        let labels = translated.and_then(|said| said.get(LABELS));
        for (index, choice) in
            choices.enumerate().filter_map(|(index, choice)| Some((index, choice.as_str()?)))
        {
            // `GET` is the same in every language.
            let is_name = choice.chars().all(|c| c.is_ascii_uppercase());
            if !is_name && labels.and_then(|labels| labels.get(index)).is_none_or(Value::is_null) {
                self.missing.insert(choice.to_owned());
            }
        }
        for (keyword, said) in node {
            match (keyword.as_str(), said) {
                ("properties", Value::Object(named)) => {
                    named.iter().for_each(|(name, property)| self.node(property, Some(name)));
                }
                ("$defs", Value::Object(named)) => named.values().for_each(|part| self.node(part, None)),
                ("items" | "additionalProperties", said) => self.node(said, None),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                    parts.iter().for_each(|part| self.node(part, None));
                }
                _ => {}
            }
        }
    }
}
