//! From a schema back to fields.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    FIELD_DEPTH_MAX, FIELDS_MAX, Field, FieldOption, FieldTexts, FieldType,
    check::{Check, Role},
    write,
};
use crate::{
    NODES_MAX, TEXT_BYTES_MAX, canonical, limits::weight, local::Document, outline::Types, pointer,
    subschemas::TRANSLATIONS, words::quote_text,
};

/// How many references in a row are followed.
const REFERENCES_MAX: usize = 32;
/// How much all fields may hold together. A reference may stand for a lot, and often.
const WEIGHT_MAX: usize = NODES_MAX + TEXT_BYTES_MAX / 64;

/// A keyword of a schema that fields cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema cannot be shown as fields: at `{path}`, `{keyword}` {message}")]
pub struct FieldsFault {
    /// A JSON pointer to the subschema, as if references were replaced by their targets.
    pub path: String,
    pub keyword: String,
    pub message: String,
}

impl FieldsFault {
    fn new(path: &str, keyword: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), keyword: keyword.to_owned(), message: message.into() }
    }

    fn unsaid(path: &str, keyword: &str) -> Self {
        Self::new(path, keyword, "has no counterpart in fields")
    }
}

/// Keywords of the root that fields need not express: the tool has a title and a description of its own.
const ROOT_WORDS: &[&str] =
    &["$schema", "$id", "$comment", "$defs", "definitions", "title", "description", TRANSLATIONS];

/// The fields of a schema, in the order of its properties.
///
/// The type of a field comes from `x-toolwright-type`, or else from `type` and `format`. References
/// within the document are followed. An object without `additionalProperties` counts as closed, as most
/// people mean it. An object that is expressly open cannot be expressed.
///
/// # Errors
///
/// The first keyword that fields cannot express. No keyword that decides which values fit, or that a
/// form shows, is dropped silently.
pub fn schema_to_fields(schema: &Value) -> Result<Vec<Field>, FieldsFault> {
    let (document, check) = (Document::new(schema), Check::default());
    let mut restoring = Restoring { document, references: Vec::new(), count: 0, weight: 0, check };
    let mut root = restoring.written_out(schema, "")?.0;
    for word in ROOT_WORDS {
        root.shift_remove(*word);
    }
    restoring.members(root, "", 1)
}

struct Restoring<'a> {
    document: Document<'a>,
    /// The references that are being followed. One that comes up inside itself has no end.
    references: Vec<String>,
    count: usize,
    weight: usize,
    check: Check,
}

impl Restoring<'_> {
    /// The members of an object schema, which is used up by it.
    fn members(
        &mut self,
        mut schema: Map<String, Value>,
        at: &str,
        level: usize,
    ) -> Result<Vec<Field>, FieldsFault> {
        let fault = |keyword| FieldsFault::unsaid(at, keyword);
        if take(&mut schema, "type").is_some_and(|name| name != "object") {
            return Err(FieldsFault::new(at, "type", "must be \"object\""));
        }
        if take(&mut schema, "additionalProperties").is_some_and(|value| value != false) {
            return Err(fault("additionalProperties"));
        }
        let Some(Value::Object(properties)) = take(&mut schema, "properties") else {
            return Err(FieldsFault::new(at, "properties", "must name the members"));
        };
        let required = match take(&mut schema, "required") {
            None => Vec::new(),
            Some(Value::Array(names)) => names,
            Some(_) => return Err(FieldsFault::new(at, "required", "must be a list")),
        };
        let named = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
        if !required.iter().all(named) {
            return Err(FieldsFault::new(at, "required", "names a member that is not described"));
        }
        only_known(&schema, at)?;
        let at = pointer::join(at, "properties");
        let mut fields = Vec::new();
        for (name, property) in &properties {
            let mut field = self.field(property, &pointer::join(&at, name), level, Some(name))?;
            field.required = required.iter().any(|required| required == name);
            fields.push(field);
        }
        Ok(fields)
    }

    /// One field; an item of an array has no name.
    fn field(
        &mut self,
        schema: &Value,
        at: &str,
        level: usize,
        name: Option<&str>,
    ) -> Result<Field, FieldsFault> {
        self.count += 1;
        if FIELDS_MAX < self.count || FIELD_DEPTH_MAX < level {
            let keyword = if name.is_some() { "properties" } else { "items" };
            return Err(FieldsFault::new(at, keyword, "holds too many fields, or too deep ones"));
        }
        let (mut schema, followed) = self.written_out(schema, at)?;
        // What holds other fields is weighed with them.
        let flat = schema.iter().filter(|(keyword, _)| !["properties", "items"].contains(&keyword.as_str()));
        self.weight += flat.map(|(_, value)| weight(value)).sum::<usize>();
        if WEIGHT_MAX < self.weight {
            return Err(FieldsFault::new(at, "$ref", "makes the fields too large"));
        }
        self.references.extend(followed.iter().cloned());
        let written = schema.clone();
        let kind = kind_of(&schema, at)?;
        take(&mut schema, "x-toolwright-type");
        let mut field = Field::new(name.unwrap_or_default(), kind);
        field.label = take_text(&mut schema, "title", at)?;
        field.description = take_text(&mut schema, "description", at)?;
        field.i18n = take_texts(&mut schema, at)?;
        field.default = take(&mut schema, "default");
        field.variant = take_text(&mut schema, "x-variant", at)?.or_else(|| variant_of(kind, &schema));
        match kind {
            FieldType::Enum => field.options = take_options(&mut schema, at)?,
            FieldType::Media => field.target = take_text(&mut schema, "x-accept", at)?,
            FieldType::Relation => field.target = take_text(&mut schema, "x-entity-type", at)?,
            FieldType::Array => self.items(&mut schema, &mut field, at, level)?,
            FieldType::Object if schema.len() > 1 => {
                field.fields = self.members(std::mem::take(&mut schema), at, level + 1)?;
                if field.fields.is_empty() {
                    return Err(FieldsFault::new(at, "properties", "is empty"));
                }
            }
            _ => {}
        }
        for keyword in ["type", "format", "pattern"] {
            take(&mut schema, keyword);
        }
        only_known(&schema, at)?;
        agree(&written, &field, at)?;
        self.sound(&field, at, if name.is_some() { Role::Member } else { Role::Item })?;
        self.references.truncate(self.references.len() - followed.len());
        Ok(field)
    }

    fn items(
        &mut self,
        schema: &mut Map<String, Value>,
        field: &mut Field,
        at: &str,
        level: usize,
    ) -> Result<(), FieldsFault> {
        let Some(items) = take(schema, "items") else {
            return Err(FieldsFault::new(at, "items", "must say what the items are"));
        };
        let mut items = self.field(&items, &pointer::join(at, "items"), level + 1, None)?;
        // Some put the type of the entity at the array, and plain texts into it.
        let target = take_text(schema, "x-entity-type", at)?;
        if take(schema, "x-entity-select").is_some_and(|how| how != "multiple") {
            return Err(FieldsFault::unsaid(at, "x-entity-select"));
        }
        match (target, items.kind) {
            (None, _) => {}
            (Some(target), FieldType::Text) => {
                items.kind = FieldType::Relation;
                items.target = Some(target);
            }
            (target, FieldType::Relation) if target == items.target => {}
            _ => return Err(FieldsFault::new(at, "x-entity-type", "is not what the items are")),
        }
        field.items = Some(Box::new(items));
        Ok(())
    }

    /// A subschema with its references replaced by what they name, and those references. What stands
    /// beside a reference wins where it is only words.
    fn written_out(
        &self,
        schema: &Value,
        at: &str,
    ) -> Result<(Map<String, Value>, Vec<String>), FieldsFault> {
        let mut followed: Vec<String> = Vec::new();
        let mut written = Map::new();
        let mut next = schema;
        loop {
            let Some(members) = next.as_object() else {
                return Err(FieldsFault::new(at, "type", "must be said"));
            };
            let unspoken = ["$ref", "$anchor", "$comment"];
            for (keyword, value) in
                members.iter().filter(|(keyword, _)| !unspoken.contains(&keyword.as_str()))
            {
                let words = ["title", "description", TRANSLATIONS, "default", "$defs", "definitions"];
                match written.get(keyword) {
                    None => _ = written.insert(keyword.clone(), value.clone()),
                    Some(same) if same == value || words.contains(&keyword.as_str()) => {}
                    Some(_) => {
                        return Err(FieldsFault::new(at, keyword, "is said differently beside a reference"));
                    }
                }
            }
            let Some(reference) = members.get("$ref") else { return Ok((written, followed)) };
            let Some(reference) = reference.as_str() else { return Err(FieldsFault::unsaid(at, "$ref")) };
            if self.references.iter().chain(&followed).any(|open| open == reference) || reference == "#" {
                return Err(FieldsFault::new(at, "$ref", "leads back to itself"));
            }
            let Some(target) = self.document.resolve(reference) else {
                let message = format!("leads to {}, which is not in the schema", quote_text(reference));
                return Err(FieldsFault::new(at, "$ref", message));
            };
            if REFERENCES_MAX <= followed.len() {
                return Err(FieldsFault::new(at, "$ref", "leads through too many others"));
            }
            followed.push(reference.to_owned());
            next = target;
        }
    }

    /// Whether the field would be accepted if somebody authored it.
    fn sound(&mut self, field: &Field, at: &str, role: Role) -> Result<(), FieldsFault> {
        self.check.own(field, "", role, true);
        let Some(fault) = std::mem::take(&mut self.check.faults).told().into_iter().next() else {
            return Ok(());
        };
        let part = fault.path.split('/').nth(1).unwrap_or_default();
        let keyword = match part {
            "name" => "properties",
            "options" => "enum",
            "variant" => "x-variant",
            "i18n" => TRANSLATIONS,
            "target" if field.kind == FieldType::Relation => "x-entity-type",
            "target" => "x-accept",
            other => other,
        };
        Err(FieldsFault::new(at, keyword, fault.message))
    }
}

/// The type of a field. What told it is compared later with what the field says.
fn kind_of(schema: &Map<String, Value>, at: &str) -> Result<FieldType, FieldsFault> {
    if let Some(kind) = schema.get("x-toolwright-type") {
        let kind = kind.as_str().and_then(FieldType::parse);
        return kind.ok_or_else(|| FieldsFault::new(at, "x-toolwright-type", "is none of the twelve types"));
    }
    if schema.contains_key("enum") {
        return Ok(FieldType::Enum);
    }
    let format = schema.get("format").and_then(Value::as_str);
    match (schema.get("type").and_then(Value::as_str), format) {
        (Some("string"), None | Some("password")) if schema.contains_key("x-entity-type") => {
            Ok(FieldType::Relation)
        }
        (Some("string"), None | Some("password")) => Ok(FieldType::Text),
        (Some("string"), Some("date" | "date-time" | "time")) => Ok(FieldType::Date),
        (Some("string"), Some("uri")) => Ok(FieldType::Url),
        (Some("string"), Some("email")) => Ok(FieldType::Email),
        (Some("number" | "integer"), None) => Ok(FieldType::Number),
        (Some("boolean"), None) => Ok(FieldType::Boolean),
        (Some("object"), None) => Ok(FieldType::Object),
        (Some("array"), None) => Ok(FieldType::Array),
        (Some(_), Some(_)) => Err(FieldsFault::unsaid(at, "format")),
        (None, _) => {
            // A choice between forms is the usual reason for a missing type, and the better word.
            let choice = ["anyOf", "oneOf", "allOf", "const", "if", "not"];
            let keyword = choice.into_iter().find(|keyword| schema.contains_key(*keyword));
            Err(keyword.map_or_else(
                || FieldsFault::new(at, "type", "must be one type"),
                |keyword| FieldsFault::unsaid(at, keyword),
            ))
        }
        (Some(_), None) => Err(FieldsFault::unsaid(at, "type")),
    }
}

/// The variant that is plain from the schema when `x-variant` does not say it.
fn variant_of(kind: FieldType, schema: &Map<String, Value>) -> Option<String> {
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let variant = match (kind, text("type"), text("format")) {
        (FieldType::Date, _, Some("date-time")) => "datetime",
        (FieldType::Date, _, Some("time")) => "time",
        (FieldType::Number, Some("integer"), _) => "integer",
        (FieldType::Text, _, Some("password")) => "password",
        _ => return None,
    };
    Some(variant.to_owned())
}

fn take(schema: &mut Map<String, Value>, keyword: &str) -> Option<Value> {
    schema.shift_remove(keyword)
}

fn take_text(
    schema: &mut Map<String, Value>,
    keyword: &str,
    at: &str,
) -> Result<Option<String>, FieldsFault> {
    match take(schema, keyword) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(FieldsFault::new(at, keyword, "must be a text")),
    }
}

fn take_texts(
    schema: &mut Map<String, Value>,
    at: &str,
) -> Result<BTreeMap<String, FieldTexts>, FieldsFault> {
    let fault = |message| FieldsFault::new(at, TRANSLATIONS, message);
    let languages = match take(schema, TRANSLATIONS) {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(languages)) => languages,
        Some(_) => return Err(fault("must be an object")),
    };
    let read = |(tag, texts): (String, Value)| {
        let Value::Object(mut texts) = texts else { return Err(fault("must hold objects")) };
        let read = FieldTexts {
            label: take_text(&mut texts, "title", at)?,
            description: take_text(&mut texts, "description", at)?,
            option_labels: take(&mut texts, "x-enum-labels")
                .map(serde_json::from_value)
                .transpose()
                .map_err(|_| fault("must have a list of texts as labels"))?
                .unwrap_or_default(),
        };
        match texts.keys().next() {
            None => Ok((tag, read)),
            Some(_) => Err(fault("has a text that fields have not")),
        }
    };
    languages.into_iter().map(read).collect()
}

fn take_options(schema: &mut Map<String, Value>, at: &str) -> Result<Vec<FieldOption>, FieldsFault> {
    let Some(Value::Array(values)) = take(schema, "enum") else {
        return Err(FieldsFault::new(at, "enum", "must list the choices"));
    };
    let labels = match take(schema, "x-enum-labels") {
        None => vec![Value::Null; values.len()],
        Some(Value::Array(labels)) if labels.len() == values.len() => labels,
        Some(_) => return Err(FieldsFault::new(at, "x-enum-labels", "must have one entry for each choice")),
    };
    let option = |(value, label)| match label {
        Value::Null => Ok(FieldOption { value, label: None }),
        Value::String(label) => Ok(FieldOption { value, label: Some(label) }),
        _ => Err(FieldsFault::new(at, "x-enum-labels", "must hold texts")),
    };
    values.into_iter().zip(labels).map(option).collect()
}

fn only_known(schema: &Map<String, Value>, at: &str) -> Result<(), FieldsFault> {
    schema.keys().next().map_or(Ok(()), |keyword| Err(FieldsFault::unsaid(at, keyword)))
}

/// Checks that the field gives the same schema again.
fn agree(written: &Map<String, Value>, field: &Field, at: &str) -> Result<(), FieldsFault> {
    let again = write::schema_of(field);
    for keyword in ["type", "format", "pattern"] {
        let Some(value) = written.get(keyword) else { continue };
        let is_hint = keyword == "format" && value == "password";
        let fits = match field.kind {
            FieldType::Enum if keyword == "type" => {
                let types = Types::of_keyword(value);
                field.options.iter().all(|option| types.meets(Types::of_value(&option.value)))
            }
            _ => again.get(keyword).is_some_and(|again| canonical(again) == canonical(value)),
        };
        if !fits && !is_hint {
            return Err(FieldsFault::unsaid(at, keyword));
        }
    }
    Ok(())
}
