//! From fields to a schema.

use serde_json::{Map, Value, json};

use super::{Field, FieldTexts, FieldType, check::Check};
use crate::{Fault, Schema, subschemas::TRANSLATIONS};

/// Digits with the signs that people put between them.
pub(super) const PHONE_PATTERN: &str = "^\\+?[0-9(][0-9 ()./-]{2,30}$";

/// The schema of a list of fields: a closed object with the properties in their order.
///
/// # Errors
///
/// All faults of the fields, with JSON pointers into the list. A schema that is returned compiles.
pub fn fields_to_schema(fields: &[Field]) -> Result<Value, Vec<Fault>> {
    let mut check = Check::default();
    check.all(fields, "", 1);
    if check.faults.count() != 0 {
        return Err(check.faults.told());
    }
    compiled(fields)
}

/// The schema of fields that are known to be sound.
pub(crate) fn compiled(fields: &[Field]) -> Result<Value, Vec<Fault>> {
    let schema = closed_object(fields);
    // The limits of a schema as a whole are not those of its fields.
    Schema::compile(&schema).map_err(|fault| vec![fault.fault()])?;
    Ok(schema)
}

fn closed_object(fields: &[Field]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), schema_of(field))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(schema)
}

/// The schema of one field that is known to be sound.
pub(super) fn schema_of(field: &Field) -> Value {
    let mut schema = match shape(field) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let mut note = |keyword: &str, text: &Option<String>| {
        if let Some(text) = text {
            schema.insert(keyword.to_owned(), json!(text));
        }
    };
    note("title", &field.label);
    note("description", &field.description);
    note("x-variant", &field.variant);
    if !field.i18n.is_empty() {
        let languages = field.i18n.iter().map(|(tag, texts)| (tag.clone(), translation(texts)));
        schema.insert(TRANSLATIONS.to_owned(), languages.collect::<Map<_, _>>().into());
    }
    if let Some(default) = &field.default {
        schema.insert("default".to_owned(), default.clone());
    }
    Value::Object(schema)
}

/// The texts of one language, as a schema names them.
fn translation(texts: &FieldTexts) -> Value {
    let mut said = Map::new();
    for (keyword, text) in [("title", &texts.label), ("description", &texts.description)] {
        if let Some(text) = text {
            said.insert(keyword.to_owned(), json!(text));
        }
    }
    if !texts.option_labels.is_empty() {
        said.insert("x-enum-labels".to_owned(), json!(texts.option_labels));
    }
    Value::Object(said)
}

/// The keywords that a value of this field must meet.
fn shape(field: &Field) -> Value {
    match field.kind {
        FieldType::Text => json!({ "type": "string" }),
        FieldType::Number if field.variant.as_deref() == Some("integer") => json!({ "type": "integer" }),
        FieldType::Number => json!({ "type": "number" }),
        FieldType::Boolean => json!({ "type": "boolean" }),
        FieldType::Date => json!({ "type": "string", "format": date_format(field.variant.as_deref()) }),
        FieldType::Enum => choices(field),
        FieldType::Url => json!({ "type": "string", "format": "uri" }),
        FieldType::Email => json!({ "type": "string", "format": "email" }),
        FieldType::Phone => {
            json!({ "type": "string", "pattern": PHONE_PATTERN, "x-toolwright-type": "phone" })
        }
        FieldType::Media => pointing(field, "x-accept"),
        FieldType::Relation => pointing(field, "x-entity-type"),
        FieldType::Object if field.fields.is_empty() => json!({ "type": "object" }),
        FieldType::Object => closed_object(&field.fields),
        FieldType::Array => list(field),
    }
}

fn date_format(variant: Option<&str>) -> &'static str {
    match variant {
        Some("datetime") => "date-time",
        Some("time") => "time",
        _ => "date",
    }
}

fn choices(field: &Field) -> Value {
    let values: Vec<&Value> = field.options.iter().map(|option| &option.value).collect();
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
    let mut schema = Map::new();
    // Some providers want a type beside every list of choices. A mixed list has none.
    let name = if all(Value::is_string) {
        Some("string")
    } else if all(Value::is_boolean) {
        Some("boolean")
    } else if all(|value| value.is_i64() || value.is_u64()) {
        Some("integer")
    } else if all(Value::is_number) {
        Some("number")
    } else {
        None
    };
    if let Some(name) = name {
        schema.insert("type".to_owned(), json!(name));
    }
    schema.insert("enum".to_owned(), json!(values));
    if field.options.iter().any(|option| option.label.is_some()) {
        let labels: Vec<&Option<String>> = field.options.iter().map(|option| &option.label).collect();
        schema.insert("x-enum-labels".to_owned(), json!(labels));
    }
    Value::Object(schema)
}

/// A text that names something that is kept elsewhere.
fn pointing(field: &Field, keyword: &str) -> Value {
    let mut schema = json!({ "type": "string", "x-toolwright-type": field.kind });
    if let Some(target) = &field.target {
        schema[keyword] = json!(target);
    }
    schema
}

fn list(field: &Field) -> Value {
    let Some(items) = &field.items else { return json!({ "type": "array" }) };
    let mut schema = json!({ "type": "array", "items": schema_of(items) });
    // Forms know a picker of several entities by these two, at the array itself.
    if items.kind == FieldType::Relation
        && let Some(target) = &items.target
    {
        schema["x-entity-type"] = json!(target);
        schema["x-entity-select"] = json!("multiple");
    }
    schema
}
