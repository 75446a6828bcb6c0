//! What each provider accepts of JSON Schema.

use serde_json::{Map, Value, json};

use super::{ToolFormat, Unprojectable};

/// The rules of a provider.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Whether every subschema is rewritten, or the root alone.
    pub(super) whole: bool,
    /// Whether objects list all their properties as required, and accept no others.
    pub(super) closed: bool,
    /// Whether references are written out.
    pub(super) inlines: bool,
    /// Whether `null` is a keyword of its own, and `type` a single word.
    pub(super) flags_null: bool,
    /// Whether only texts can be enumerated.
    pub(super) text_enums: bool,
    /// The rules that are kept, beside the structure.
    pub(super) keeps: &'static [&'static str],
    pub(super) formats: &'static [&'static str],
    limits: Option<Limits>,
}

#[derive(Debug)]
struct Limits {
    properties: usize,
    depth: usize,
    enum_values: usize,
    characters: usize,
}

/// Providers that accept JSON Schema as it is, in an object without alternatives at its root.
const ROOT_ONLY: Dialect = Dialect {
    whole: false,
    closed: false,
    inlines: false,
    flags_null: false,
    text_enums: false,
    keeps: &[],
    formats: &[],
    limits: None,
};

/// Structured outputs of OpenAI.
const OPENAI_STRICT: Dialect = Dialect {
    whole: true,
    closed: true,
    inlines: false,
    flags_null: false,
    text_enums: false,
    keeps: &[
        "pattern",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    limits: Some(Limits { properties: 5_000, depth: 10, enum_values: 1_000, characters: 120_000 }),
};

/// The schemas of Gemini's function declarations, which are those of OpenAPI 3.0 in part.
const GEMINI: Dialect = Dialect {
    whole: true,
    closed: false,
    inlines: true,
    flags_null: true,
    text_enums: true,
    keeps: &["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern"],
    formats: &["date-time"],
    limits: None,
};

/// Keywords that restrict values without giving them a structure.
pub(super) fn is_rule(keyword: &str) -> bool {
    matches!(
        keyword,
        "pattern"
            | "format"
            | "multipleOf"
            | "minimum"
            | "maximum"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "minItems"
            | "maxItems"
            | "uniqueItems"
            | "minLength"
            | "maxLength"
            | "minProperties"
            | "maxProperties"
            | "propertyNames"
            | "patternProperties"
            | "contains"
            | "minContains"
            | "maxContains"
            | "not"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
    )
}

impl Dialect {
    /// Nothing for a format that takes any schema.
    pub(super) fn of(format: ToolFormat) -> Option<&'static Self> {
        match format {
            ToolFormat::Mcp => None,
            ToolFormat::OpenAi | ToolFormat::Anthropic | ToolFormat::AiSdk => Some(&ROOT_ONLY),
            ToolFormat::OpenAiStrict => Some(&OPENAI_STRICT),
            ToolFormat::Gemini => Some(&GEMINI),
        }
    }

    /// Accepts `null` beside everything else.
    pub(super) fn make_nullable(&self, schema: &mut Map<String, Value>) {
        if self.flags_null {
            schema.insert("nullable".to_owned(), json!(true));
            return;
        }
        let nothing = json!({ "type": "null" });
        if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
            if !branches.contains(&nothing) {
                branches.push(nothing);
            }
            return;
        }
        if schema.contains_key("$ref") {
            let own = Value::Object(std::mem::take(schema));
            schema.insert("anyOf".to_owned(), json!([own, nothing]));
            return;
        }
        match schema.get_mut("type") {
            Some(Value::Array(types)) if !types.contains(&json!("null")) => types.push(json!("null")),
            Some(one @ Value::String(_)) => *one = json!([one.clone(), "null"]),
            _ => {}
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }

    /// Whether the provider takes so much.
    pub(super) fn check(&self, schema: &Value) -> Result<(), Unprojectable> {
        let Some(limits) = &self.limits else { return Ok(()) };
        let size = Size::of(schema);
        for (what, found, most) in [
            ("properties", size.properties, limits.properties),
            ("levels of objects and lists", size.depth, limits.depth),
            ("values in enumerations", size.enum_values, limits.enum_values),
            ("characters in names and values", size.characters, limits.characters),
        ] {
            if most < found {
                return Err(Unprojectable::TooMuch { what, found, most });
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Size {
    properties: usize,
    depth: usize,
    enum_values: usize,
    characters: usize,
}

impl Size {
    fn of(schema: &Value) -> Self {
        let mut size = Self::default();
        crate::subschemas::each(schema, "", &mut |node, path| {
            for (name, _) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
                size.properties += 1;
                size.characters += name.chars().count();
            }
            for (name, _) in node.get("$defs").and_then(Value::as_object).into_iter().flatten() {
                size.characters += name.chars().count();
            }
            for value in node.get("enum").and_then(Value::as_array).into_iter().flatten() {
                size.enum_values += 1;
                size.characters +=
                    value.as_str().map_or_else(|| value.to_string().len(), |text| text.chars().count());
            }
            size.depth = size.depth.max(level(path));
        });
        size
    }
}

/// How many objects and lists a value is within, and itself.
fn level(path: &str) -> usize {
    let tokens: Vec<&str> = path.split('/').skip(1).collect();
    let (mut level, mut at) = (1, 0);
    while let Some(token) = tokens.get(at) {
        match *token {
            "items" => (level, at) = (level + 1, at + 1),
            "properties" => (level, at) = (level + 1, at + 2),
            // A definition starts anew, and the branches of a union are on its level.
            _ => at += 2,
        }
    }
    level
}
