//! Input schemas in the forms that providers of models accept, and arguments on their way back.
//!
//! A provider accepts a part of JSON Schema. [`project`] rewrites a schema until it fits and says what it changed; a call
//! is still checked against the tool's own schema. [`unproject`] turns the arguments of a model back into an input of the
//! tool: it needs the tool's own schema and the format, and nothing that was kept.
//!
//! [`project`] and [`unproject`] read a schema in the same way, by [`plain`]: alternatives and conditions are folded into
//! one object where a provider has no room for them. What no provider has a form for (any value, an open map) travels as
//! a text of JSON.

mod dialect;
mod plain;
mod unproject;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{digest::Digest, local::Document, pointer};

use dialect::Dialect;
use plain::{Plain, Shape};

pub use unproject::unproject;

/// The member that carries a whole input as a text of JSON, where the input has no members to name.
const WHOLE: &str = "arguments";
/// How long a name may be that every provider accepts.
const NAME_MAX: usize = 64;
/// How many subschemas are written. References that are written out can make many of few.
const NODES_MAX: usize = 20_000;

/// The form in which a program takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolFormat {
    Mcp,
    OpenAi,
    OpenAiStrict,
    Anthropic,
    AiSdk,
    Gemini,
}

impl ToolFormat {
    pub const ALL: [Self; 6] =
        [Self::Mcp, Self::OpenAi, Self::OpenAiStrict, Self::Anthropic, Self::AiSdk, Self::Gemini];

    /// The word used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::OpenAi => "openai",
            Self::OpenAiStrict => "openai-strict",
            Self::Anthropic => "anthropic",
            Self::AiSdk => "ai-sdk",
            Self::Gemini => "gemini",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The name that a tool has in this format. MCP takes a slug as it is.
    #[must_use]
    pub fn tool_name(self, slug: &str) -> String {
        match self {
            Self::Mcp => slug.to_owned(),
            Self::OpenAi | Self::OpenAiStrict | Self::Anthropic | Self::AiSdk | Self::Gemini => {
                wire_name(slug)
            }
        }
    }
}

/// A slug has no `__`, so that the name leads back to it; a long one ends with a part of its hash.
fn wire_name(slug: &str) -> String {
    let name = slug.replace('.', "__");
    if name.len() <= NAME_MAX {
        return name;
    }
    let hash = Digest::of(slug.as_bytes()).to_string();
    let hash = &hash[hash.len() - 8..];
    format!("{}_{hash}", &name[..NAME_MAX - 9])
}

/// A schema in a provider's form.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    pub schema: Value,
    pub changes: Vec<SchemaChange>,
}

/// A place where the provider's form says something else than the tool's schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaChange {
    /// The JSON pointer into the tool's schema.
    pub path: String,
    /// What was done there, as a stable word.
    pub change: &'static str,
    pub detail: String,
}

/// Why a schema has no form that the provider accepts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unprojectable {
    #[error("the reference `{reference}` at `{path}` cannot be followed")]
    Reference { path: String, reference: String },
    #[error("the input must be an object")]
    NoObject,
    #[error("{what}: {found}, at most {most} are accepted")]
    TooMuch { what: &'static str, found: usize, most: usize },
}

/// Rewrites an input schema for a format, and says what changed.
///
/// # Example
///
/// ```
/// use serde_json::json;
/// use tw_schema::{ToolFormat, project};
///
/// let schema = json!({ "type": "object", "properties": { "city": { "type": "string", "minLength": 1 } } });
/// let strict = project(&schema, ToolFormat::OpenAiStrict)?;
/// assert_eq!(strict.schema["required"], json!(["city"]));
/// assert_eq!(strict.schema["properties"]["city"]["type"], json!(["string", "null"]));
/// assert!(strict.changes.iter().any(|change| change.path == "/properties/city/minLength"));
/// # Ok::<(), tw_schema::Unprojectable>(())
/// ```
pub fn project(schema: &Value, format: ToolFormat) -> Result<Projected, Unprojectable> {
    let schema = crate::without_booleans(&crate::without_translations(schema));
    let Some(dialect) = Dialect::of(format) else {
        return Ok(Projected { schema, changes: Vec::new() });
    };
    let document = Document::new(&schema);
    let mut projector =
        Projector { dialect, document: &document, changes: Vec::new(), open: Vec::new(), nodes: 0 };
    let projected = if dialect.whole { projector.whole()? } else { projector.root_only()? };
    dialect.check(&projected)?;
    Ok(Projected { schema: projected, changes: projector.changes })
}

struct Projector<'a> {
    dialect: &'static Dialect,
    document: &'a Document<'a>,
    changes: Vec<SchemaChange>,
    /// The references that are being written out.
    open: Vec<String>,
    nodes: usize,
}

impl Projector<'_> {
    fn note(&mut self, path: &str, change: &'static str, detail: impl Into<String>) {
        self.changes.push(SchemaChange { path: path.to_owned(), change, detail: detail.into() });
    }

    /// Brings only the root into shape; everything below stays as its author wrote it.
    fn root_only(&mut self) -> Result<Value, Unprojectable> {
        let Value::Object(written) = self.document.root() else { return Err(Unprojectable::NoObject) };
        let root = Plain::of_root(self.document, written)?;
        self.changes.extend(root.notes.iter().map(|note| note.at("")));
        if !matches!(root.shape(), Shape::Object | Shape::Encoded) {
            return Err(Unprojectable::NoObject);
        }
        if root.keywords.contains_key("not") {
            self.note("/not", "dropped", "the rule is checked when the tool is called");
        }
        let mut schema = root.keywords;
        let folded = [
            "$schema",
            "$id",
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "enum",
            "const",
            "dependentSchemas",
            "dependentRequired",
            "dependencies",
        ];
        schema.retain(|keyword, _| !folded.contains(&keyword.as_str()) && !keyword.starts_with("x-"));
        schema.insert("type".to_owned(), json!("object"));
        schema.entry("properties").or_insert_with(|| json!({}));
        let schema = Value::Object(schema);
        references_hold(&schema)?;
        Ok(schema)
    }

    fn whole(&mut self) -> Result<Value, Unprojectable> {
        let Value::Object(written) = self.document.root() else { return Err(Unprojectable::NoObject) };
        let root = Plain::of_root(self.document, written)?;
        let is_object = matches!(root.shape(), Shape::Object);
        let mut schema = if is_object {
            self.write(&root, "")?
        } else {
            self.changes.extend(root.notes.iter().map(|note| note.at("")));
            let detail = format!("the input is open, so it is sent as JSON text in the member `{WHOLE}`");
            self.note("", "wrapped", detail);
            let text = json!({ "type": "string", "description": "The input, as JSON text" });
            self.object([(WHOLE.to_owned(), text)].into_iter().collect(), &[WHOLE])
        };
        if is_object && !self.dialect.inlines {
            for keyword in ["$defs", "definitions"] {
                let Some(Value::Object(definitions)) = written.get(keyword) else { continue };
                let mut projected = Map::new();
                for (name, definition) in definitions {
                    let path = pointer::join(&pointer::join("", keyword), name);
                    projected.insert(name.clone(), self.node(definition, &path)?);
                }
                schema.insert(keyword.to_owned(), Value::Object(projected));
            }
        }
        let schema = Value::Object(schema);
        references_hold(&schema)?;
        Ok(schema)
    }

    fn node(&mut self, written: &Value, path: &str) -> Result<Value, Unprojectable> {
        let plain = Plain::of(self.document, written, path)?;
        Ok(Value::Object(self.write(&plain, path)?))
    }

    /// Writes one schema that was read.
    fn write(&mut self, plain: &Plain, path: &str) -> Result<Map<String, Value>, Unprojectable> {
        self.nodes += 1;
        if NODES_MAX < self.nodes {
            let (found, most) = (self.nodes, NODES_MAX);
            return Err(Unprojectable::TooMuch {
                what: "subschemas, with references written out",
                found,
                most,
            });
        }
        self.changes.extend(plain.notes.iter().map(|note| note.at(path)));
        let mut schema = match plain.shape() {
            Shape::Encoded => self.encoded(path, "any value is accepted here, so it is sent as JSON text"),
            Shape::Refers(reference) => self.referring(reference, path)?,
            Shape::Union(branches) => {
                let mut written = Vec::new();
                for (index, branch) in branches.iter().enumerate() {
                    let path = pointer::join(&pointer::join(path, "anyOf"), &index.to_string());
                    written.push(self.node(branch, &path)?);
                }
                [("anyOf".to_owned(), Value::Array(written))].into_iter().collect()
            }
            Shape::Object => self.object_of(plain, path)?,
            Shape::Array(items) => {
                let items = self.node(items, &pointer::join(path, "items"))?;
                let mut schema: Map<String, Value> =
                    [("type".to_owned(), json!("array"))].into_iter().collect();
                schema.insert("items".to_owned(), items);
                schema
            }
            Shape::Scalar => self.scalar(plain, path),
        };
        self.describe(&mut schema, plain, path);
        if !schema.contains_key("$ref") {
            self.keep_rules(&mut schema, plain, path);
        }
        if plain.nullable {
            self.dialect.make_nullable(&mut schema);
        }
        Ok(schema)
    }

    fn encoded(&mut self, path: &str, why: &str) -> Map<String, Value> {
        self.note(path, "json_text", why);
        [("type".to_owned(), json!("string"))].into_iter().collect()
    }

    fn referring(&mut self, reference: &str, path: &str) -> Result<Map<String, Value>, Unprojectable> {
        if !self.dialect.inlines {
            return Ok([("$ref".to_owned(), json!(reference))].into_iter().collect());
        }
        if self.open.iter().any(|open| open == reference) {
            return Ok(
                self.encoded(path, "the schema contains itself here, so this part is sent as JSON text")
            );
        }
        let missing = || Unprojectable::Reference { path: path.to_owned(), reference: reference.to_owned() };
        let target = self.document.resolve(reference).ok_or_else(missing)?;
        let target = Plain::of(self.document, target, path)?;
        self.open.push(reference.to_owned());
        let written = self.write(&target, path);
        self.open.pop();
        written
    }

    fn object_of(&mut self, plain: &Plain, path: &str) -> Result<Map<String, Value>, Unprojectable> {
        let required = plain.required();
        let mut properties = Map::new();
        for (name, property) in plain.properties() {
            let path = pointer::join(&pointer::join(path, "properties"), name);
            let mut written = self.node(property, &path)?;
            if self.dialect.closed && !required.contains(&name.as_str()) {
                if let Value::Object(schema) = &mut written {
                    self.dialect.make_nullable(schema);
                }
                self.note(&path, "nullable", "the property is optional: `null` stands for a missing one");
            }
            properties.insert(name.clone(), written);
        }
        if self.dialect.closed && !plain.is_closed() {
            self.note(path, "closed", "other properties are not accepted");
        }
        Ok(self.object(properties, &required))
    }

    fn object(&self, properties: Map<String, Value>, required: &[&str]) -> Map<String, Value> {
        let mut schema: Map<String, Value> = [("type".to_owned(), json!("object"))].into_iter().collect();
        let named = |name: &&str| properties.contains_key(*name);
        let required: Vec<&str> = if self.dialect.closed {
            properties.keys().map(String::as_str).collect()
        } else {
            required.iter().copied().filter(named).collect()
        };
        if self.dialect.closed || !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("properties".to_owned(), Value::Object(properties));
        if self.dialect.closed {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
        schema
    }

    fn scalar(&mut self, plain: &Plain, path: &str) -> Map<String, Value> {
        let mut schema = Map::new();
        let values = plain.keywords.get("enum").and_then(Value::as_array);
        let values: Option<Vec<&Value>> =
            values.map(|values| values.iter().filter(|v| !v.is_null()).collect());
        match plain.types.as_slice() {
            [one] => drop(schema.insert("type".to_owned(), json!(one))),
            several if self.dialect.flags_null => {
                let branches: Vec<Value> = several.iter().map(|one| json!({ "type": one })).collect();
                schema.insert("anyOf".to_owned(), Value::Array(branches));
            }
            several => drop(schema.insert("type".to_owned(), json!(several))),
        }
        match values {
            Some(values) if self.dialect.text_enums && !values.iter().all(|value| value.is_string()) => {
                let path = pointer::join(path, "enum");
                self.note(
                    &path,
                    "described",
                    "only texts can be enumerated; the values are in the description",
                );
            }
            Some(values) => drop(schema.insert("enum".to_owned(), json!(values))),
            None => {}
        }
        schema
    }

    /// What a model reads about a value, with all that has no keyword of its own.
    fn describe(&mut self, schema: &mut Map<String, Value>, plain: &Plain, path: &str) {
        let mut texts: Vec<String> = Vec::new();
        let said = |keyword: &str| plain.keywords.get(keyword).and_then(Value::as_str);
        texts.extend(said("description").or_else(|| said("title")).map(str::to_owned));
        if matches!(plain.shape(), Shape::Encoded) {
            texts.push("(JSON text)".to_owned());
        }
        let values = plain.keywords.get("enum").and_then(Value::as_array);
        if let Some(values) = values.filter(|_| !schema.contains_key("enum")) {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            texts.push(format!("(one of {})", values.join(", ")));
        }
        if let Some(default) = plain.keywords.get("default") {
            texts.push(format!("(default: {default})"));
            self.note(&pointer::join(path, "default"), "described", "the default is in the description");
        }
        // A reference stands alone: its target describes itself.
        if !texts.is_empty() && !schema.contains_key("$ref") {
            schema.insert("description".to_owned(), Value::String(texts.join(" ")));
        }
    }

    fn keep_rules(&mut self, schema: &mut Map<String, Value>, plain: &Plain, path: &str) {
        for (keyword, value) in &plain.keywords {
            if !dialect::is_rule(keyword) {
                continue;
            }
            let is_kept = match keyword.as_str() {
                "format" => value.as_str().is_some_and(|name| self.dialect.formats.contains(&name)),
                keyword => self.dialect.keeps.contains(&keyword),
            };
            if is_kept && !matches!(plain.shape(), Shape::Encoded) {
                schema.insert(keyword.clone(), value.clone());
            } else {
                self.note(
                    &pointer::join(path, keyword),
                    "dropped",
                    "the rule is checked when the tool is called",
                );
            }
        }
    }
}

/// What was cut away must not be referred to.
fn references_hold(schema: &Value) -> Result<(), Unprojectable> {
    let document = Document::new(schema);
    let mut lost = None;
    crate::subschemas::each(schema, "", &mut |node, path| {
        if let Some(reference) = node.get("$ref").and_then(Value::as_str)
            && document.resolve(reference).is_none()
        {
            lost.get_or_insert((path.to_owned(), reference.to_owned()));
        }
    });
    match lost {
        Some((path, reference)) => Err(Unprojectable::Reference { path, reference }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
