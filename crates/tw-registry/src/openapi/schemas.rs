//! JSON Schema 2020-12 of the schemas of a document, without references.

use serde_json::{Map, Value, json};

use super::document::Document;

/// How many subschemas one operation may have once its references are resolved.
const NODES_MAX: usize = 5_000;
const DEPTH_MAX: usize = 48;

/// What is said for readers of the document and means nothing in a schema.
const DROPPED: &[&str] = &[
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "discriminator",
    "externalDocs",
    "nullable",
    "readOnly",
    "writeOnly",
    "xml",
];
const WITH_SCHEMA: &[&str] = &[
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const WITH_LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
const WITH_MAP: &[&str] = &["$defs", "dependentSchemas", "patternProperties", "properties"];

/// Which way a value goes: services do not take what is `readOnly` and do not give what is `writeOnly`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Sent,
    Received,
}

pub(super) struct Schemas<'a> {
    document: Document<'a>,
    direction: Direction,
    nodes: usize,
    /// The references on the way to where we are.
    trail: Vec<&'a str>,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(document: Document<'a>, direction: Direction) -> Self {
        Self { document, direction, nodes: 0, trail: Vec::new() }
    }

    /// A schema with everything that it refers to in it.
    pub(super) fn resolved(&mut self, schema: &'a Value) -> Result<Value, String> {
        self.at(schema, 0)
    }

    fn at(&mut self, schema: &'a Value, depth: usize) -> Result<Value, String> {
        self.nodes += 1;
        if NODES_MAX < self.nodes || DEPTH_MAX < depth {
            return Err("a schema is too large once its references are resolved".to_owned());
        }
        let Some(members) = schema.as_object() else { return Ok(schema.clone()) };
        let Some(reference) = members.get("$ref").and_then(Value::as_str) else {
            return self.members(members, depth);
        };
        if self.trail.contains(&reference) {
            return Err(format!("`{reference}` refers to itself"));
        }
        let target = self.document.target(reference)?;
        self.trail.push(reference);
        let resolved = self.at(target, depth + 1);
        self.trail.pop();
        let beside: Map<_, _> =
            members.iter().filter(|(name, _)| *name != "$ref").map(|(k, v)| (k.clone(), v.clone())).collect();
        // What stands beside a reference means nothing in 3.0.
        if self.document.is_3_0 || beside.is_empty() {
            return resolved;
        }
        let texts = ["title", "description", "default", "examples", "deprecated"];
        match resolved? {
            Value::Object(mut resolved) if beside.keys().all(|name| texts.contains(&name.as_str())) => {
                resolved.extend(beside);
                Ok(Value::Object(resolved))
            }
            resolved => {
                let beside = members.iter().filter(|(name, _)| *name != "$ref");
                let mut own = Map::new();
                for (name, value) in beside {
                    own.insert(name.clone(), self.keyword(name, value, depth)?);
                }
                Ok(json!({ "allOf": [resolved, own] }))
            }
        }
    }

    fn members(&mut self, members: &'a Map<String, Value>, depth: usize) -> Result<Value, String> {
        let mut made = Map::new();
        for (name, value) in members {
            if DROPPED.contains(&name.as_str()) || name == "example" {
                continue;
            }
            made.insert(name.clone(), self.keyword(name, value, depth)?);
        }
        if let Some(example) = members.get("example")
            && !made.contains_key("examples")
        {
            made.insert("examples".to_owned(), json!([example]));
        }
        self.leave_out_properties(members, &mut made);
        if self.document.is_3_0 {
            exclusive(&mut made, "exclusiveMinimum", "minimum");
            exclusive(&mut made, "exclusiveMaximum", "maximum");
            if members.get("nullable") == Some(&Value::Bool(true)) {
                return Ok(nullable(made));
            }
        }
        Ok(Value::Object(made))
    }

    fn keyword(&mut self, name: &str, value: &'a Value, depth: usize) -> Result<Value, String> {
        match value {
            Value::Array(items) if WITH_LIST.contains(&name) => {
                items.iter().map(|item| self.at(item, depth + 1)).collect()
            }
            Value::Object(members) if WITH_MAP.contains(&name) => {
                let mut made = Map::new();
                for (name, schema) in members {
                    made.insert(name.clone(), self.at(schema, depth + 1)?);
                }
                Ok(Value::Object(made))
            }
            value if WITH_SCHEMA.contains(&name) => self.at(value, depth + 1),
            value => Ok(value.clone()),
        }
    }

    /// Leaves properties out that do not go this way.
    fn leave_out_properties(&self, members: &'a Map<String, Value>, made: &mut Map<String, Value>) {
        let mark = match self.direction {
            Direction::Sent => "readOnly",
            Direction::Received => "writeOnly",
        };
        let is_marked = |schema: &'a Value| {
            let followed = self.document.follow(schema).unwrap_or(schema);
            [schema, followed].iter().any(|schema| schema.get(mark) == Some(&Value::Bool(true)))
        };
        let properties = members.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, _) in properties.filter(|(_, schema)| is_marked(schema)) {
            if let Some(Value::Object(properties)) = made.get_mut("properties") {
                properties.remove(name);
            }
            if let Some(Value::Array(required)) = made.get_mut("required") {
                required.retain(|required| required != name);
            }
        }
    }
}

/// In 3.0 a bound says beside its number that the number itself is out.
fn exclusive(schema: &mut Map<String, Value>, keyword: &str, bound: &str) {
    match schema.get(keyword) {
        Some(Value::Bool(true)) => match schema.remove(bound) {
            Some(number) => _ = schema.insert(keyword.to_owned(), number),
            None => _ = schema.remove(keyword),
        },
        Some(Value::Bool(false)) => _ = schema.remove(keyword),
        _ => {}
    }
}

fn nullable(mut schema: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get("type") {
        Some(Value::String(name)) => {
            let types = json!([name, "null"]);
            schema.insert("type".to_owned(), types);
            Value::Object(schema)
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}
