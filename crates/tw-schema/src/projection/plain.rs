//! A schema as providers can be told it: without conditions, and with one kind of alternatives.

use serde_json::{Map, Value, json};

use super::{SchemaChange, Unprojectable};
use crate::{local::Document, pointer};

/// How many references are followed to read one schema.
const HOPS_MAX: usize = 64;

/// A schema that was read: alternatives and conditions of an object are folded into it.
#[derive(Debug)]
pub(super) struct Plain {
    pub(super) keywords: Map<String, Value>,
    /// The types but `null`. A type that is not said and follows from the rest is said here.
    pub(super) types: Vec<String>,
    pub(super) nullable: bool,
    pub(super) notes: Vec<Note>,
    /// Whether an alternative takes any value.
    is_open_union: bool,
}

/// What was folded, at a keyword of the schema.
#[derive(Debug)]
pub(super) struct Note {
    keyword: String,
    change: &'static str,
    detail: &'static str,
}

impl Note {
    pub(super) fn at(&self, path: &str) -> SchemaChange {
        let path = pointer::join(path, &self.keyword);
        SchemaChange { path, change: self.change, detail: self.detail.to_owned() }
    }
}

/// What a schema is about.
#[derive(Debug)]
pub(super) enum Shape<'a> {
    /// Any value, or an open map: it travels as a text of JSON.
    Encoded,
    Refers(&'a str),
    Union(&'a [Value]),
    Object,
    Array(&'a Value),
    Scalar,
}

impl Plain {
    /// Reads a subschema.
    pub(super) fn of(document: &Document<'_>, written: &Value, path: &str) -> Result<Self, Unprojectable> {
        Self::read(document, written, path, &mut Vec::new())
    }

    /// `followed`: the references that were followed already to find out whether alternatives are open.
    fn read(
        document: &Document<'_>,
        written: &Value,
        path: &str,
        followed: &mut Vec<String>,
    ) -> Result<Self, Unprojectable> {
        let mut fold = Fold { document, notes: Vec::new(), hops: 0 };
        let keywords = written.as_object().cloned().unwrap_or_default();
        let keywords = fold.folded(keywords, path, false)?;
        let is_open_union = is_open_union(document, &keywords, followed);
        Ok(Self::with(keywords, fold.notes, is_open_union))
    }

    /// Reads a whole schema, whose alternatives are folded into one object.
    pub(super) fn of_root(
        document: &Document<'_>,
        written: &Map<String, Value>,
    ) -> Result<Self, Unprojectable> {
        let mut fold = Fold { document, notes: Vec::new(), hops: 0 };
        let mut keywords = written.clone();
        if let Some(reference) = keywords.shift_remove("$ref") {
            let reference = reference.as_str().unwrap_or_default();
            let target = fold.resolved(reference, "")?;
            fold.merge(&mut keywords, target, "")?;
        }
        let mut keywords = fold.folded(keywords, "", true)?;
        keywords.entry("type").or_insert_with(|| json!("object"));
        Ok(Self::with(keywords, fold.notes, false))
    }

    fn with(mut keywords: Map<String, Value>, notes: Vec<Note>, is_open_union: bool) -> Self {
        let mut types: Vec<String> = match keywords.get("type") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => {
                several.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            _ => implied_types(&keywords),
        };
        let mut nullable = types.iter().any(|kind| kind == "null");
        types.retain(|kind| kind != "null");
        if let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
            let before = branches.len();
            branches.retain(|branch| branch.get("type") != Some(&json!("null")));
            nullable |= branches.len() < before;
        }
        if let Some(Value::Array(values)) = keywords.get("enum") {
            nullable |= types.is_empty() && values.contains(&Value::Null);
        }
        // An integer is a number, and some providers take one of them.
        if types.len() == 2 && types.contains(&"integer".to_owned()) && types.contains(&"number".to_owned()) {
            types.retain(|kind| kind == "number");
        }
        Self { keywords, types, nullable, notes, is_open_union }
    }

    pub(super) fn shape(&self) -> Shape<'_> {
        if let Some(reference) = self.keywords.get("$ref").and_then(Value::as_str) {
            return Shape::Refers(reference);
        }
        if let Some(branches) = self.keywords.get("anyOf").and_then(Value::as_array) {
            return match branches.as_slice() {
                [] => Shape::Encoded,
                _ if self.is_open_union => Shape::Encoded,
                branches => Shape::Union(branches),
            };
        }
        match self.types.as_slice() {
            [one] if one == "object" => {
                let has_names = self.properties().next().is_some();
                if has_names || self.is_closed() { Shape::Object } else { Shape::Encoded }
            }
            [one] if one == "array" => match self.keywords.get("items") {
                Some(items @ Value::Object(rules)) if !rules.is_empty() => Shape::Array(items),
                _ => Shape::Encoded,
            },
            [] => Shape::Encoded,
            types if types.iter().all(|kind| kind != "object" && kind != "array") => Shape::Scalar,
            _ => Shape::Encoded,
        }
    }

    pub(super) fn properties(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.keywords.get("properties").and_then(Value::as_object).into_iter().flatten()
    }

    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        self.keywords.get("properties")?.get(name)
    }

    pub(super) fn required(&self) -> Vec<&str> {
        let names = self.keywords.get("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Whether no other properties are accepted.
    pub(super) fn is_closed(&self) -> bool {
        self.keywords.get("additionalProperties") == Some(&Value::Bool(false))
            && !self.keywords.contains_key("patternProperties")
    }
}

/// The types that a schema without `type` is about.
fn implied_types(keywords: &Map<String, Value>) -> Vec<String> {
    let has = |keyword: &str| keywords.contains_key(keyword);
    if let Some(Value::Array(values)) = keywords.get("enum") {
        let mut types: Vec<String> = Vec::new();
        for value in values {
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            if !types.iter().any(|known| known == kind) {
                types.push(kind.to_owned());
            }
        }
        return types;
    }
    let implied = match () {
        () if has("properties") || has("required") => "object",
        () if has("items") || has("prefixItems") => "array",
        () if has("pattern") || has("minLength") || has("maxLength") => "string",
        () if has("minimum") || has("maximum") || has("multipleOf") => "number",
        () => return Vec::new(),
    };
    vec![implied.to_owned()]
}

/// Whether one of the alternatives takes any value, behind its references too. Each reference is followed once, so that
/// circles end.
fn is_open_union(document: &Document<'_>, keywords: &Map<String, Value>, followed: &mut Vec<String>) -> bool {
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    branches.into_iter().flatten().any(|branch| {
        let mut branch = branch;
        while let Some(reference) = branch.get("$ref").and_then(Value::as_str) {
            if followed.iter().any(|known| known == reference) {
                return false;
            }
            followed.push(reference.to_owned());
            let Some(target) = document.resolve(reference) else { return true };
            branch = target;
        }
        let plain = Plain::read(document, branch, "", followed);
        plain.is_ok_and(|plain| matches!(plain.shape(), Shape::Encoded | Shape::Union(_)))
    })
}

/// Reading one schema.
struct Fold<'a> {
    document: &'a Document<'a>,
    notes: Vec<Note>,
    hops: usize,
}

impl Fold<'_> {
    fn note(&mut self, keyword: &str, change: &'static str, detail: &'static str) {
        self.notes.push(Note { keyword: keyword.to_owned(), change, detail });
    }

    fn resolved(&mut self, reference: &str, path: &str) -> Result<Map<String, Value>, Unprojectable> {
        self.hops += 1;
        let target = self.document.resolve(reference).filter(|_| self.hops <= HOPS_MAX);
        let lost = || Unprojectable::Reference { path: path.to_owned(), reference: reference.to_owned() };
        Ok(target.ok_or_else(lost)?.as_object().cloned().unwrap_or_default())
    }

    /// A branch as an object that can be merged: what it refers to, and all that it says together.
    fn branch(&mut self, branch: &Value, path: &str) -> Result<Map<String, Value>, Unprojectable> {
        let mut keywords = branch.as_object().cloned().unwrap_or_default();
        if let Some(reference) = keywords.shift_remove("$ref") {
            let target = self.resolved(reference.as_str().unwrap_or_default(), path)?;
            self.merge(&mut keywords, target, path)?;
        }
        let notes = std::mem::take(&mut self.notes);
        let keywords = self.folded(keywords, path, false);
        self.notes = notes;
        keywords
    }

    fn folded(
        &mut self,
        mut keywords: Map<String, Value>,
        path: &str,
        is_root: bool,
    ) -> Result<Map<String, Value>, Unprojectable> {
        if let Some(only) = keywords.shift_remove("const") {
            keywords.insert("enum".to_owned(), json!([only]));
        }
        if keywords.contains_key("$ref") && keywords.keys().any(|keyword| is_structure(keyword)) {
            let reference = keywords.shift_remove("$ref").unwrap_or_default();
            let target = self.resolved(reference.as_str().unwrap_or_default(), path)?;
            self.merge(&mut keywords, target, path)?;
        }
        if let Some(Value::Array(parts)) = keywords.shift_remove("allOf") {
            self.note(
                "allOf",
                "merged",
                "the parts are one schema here; all of them are checked at the call",
            );
            for part in &parts {
                let part = self.branch(part, path)?;
                self.merge(&mut keywords, part, path)?;
            }
        }
        self.fold_conditions(&mut keywords, path)?;
        if let Some(branches) = keywords.shift_remove("oneOf") {
            self.note(
                "oneOf",
                "any_of",
                "that exactly one alternative fits is checked when the tool is called",
            );
            keywords.entry("anyOf").or_insert(branches);
        }
        let is_object = is_root || keywords.contains_key("properties");
        if is_object && let Some(Value::Array(branches)) = keywords.shift_remove("anyOf") {
            self.note(
                "anyOf",
                "flattened",
                "the alternatives are one object here; which fit is checked at the call",
            );
            self.flatten(&mut keywords, &branches, path)?;
        }
        if let Some(Value::Array(items)) = keywords.shift_remove("prefixItems") {
            self.note("prefixItems", "any_of", "the order of the items is checked when the tool is called");
            let mut distinct: Vec<Value> = Vec::new();
            let rest = keywords.shift_remove("items").filter(|rest| rest.get("not") != Some(&json!({})));
            for item in items.into_iter().chain(rest) {
                if !distinct.contains(&item) {
                    distinct.push(item);
                }
            }
            let items = if distinct.len() == 1 { distinct.remove(0) } else { json!({ "anyOf": distinct }) };
            keywords.insert("items".to_owned(), items);
        }
        Ok(keywords)
    }

    /// Properties that only a condition asks for are optional ones.
    fn fold_conditions(
        &mut self,
        keywords: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), Unprojectable> {
        let mut branches = Vec::new();
        for keyword in ["if", "then", "else"] {
            if let Some(branch) = keywords.shift_remove(keyword) {
                self.note(keyword, "flattened", "the condition is checked when the tool is called");
                if keyword != "if" {
                    branches.push(branch);
                }
            }
        }
        for keyword in ["dependentSchemas", "dependencies", "dependentRequired"] {
            if let Some(by_name) = keywords.shift_remove(keyword) {
                self.note(keyword, "flattened", "the condition is checked when the tool is called");
                let by_name = by_name.as_object().cloned().unwrap_or_default();
                branches.extend(by_name.into_iter().map(|(_, branch)| branch).filter(Value::is_object));
            }
        }
        for branch in branches {
            let mut branch = self.branch(&branch, path)?;
            let mut optional = Map::new();
            optional.extend(branch.shift_remove("properties").map(|own| ("properties".to_owned(), own)));
            self.merge(keywords, optional, path)?;
        }
        Ok(())
    }

    /// Folds alternatives into the object that they are alternatives of.
    fn flatten(
        &mut self,
        keywords: &mut Map<String, Value>,
        branches: &[Value],
        path: &str,
    ) -> Result<(), Unprojectable> {
        let mut always: Option<Vec<Value>> = None;
        let mut properties: Map<String, Value> = Map::new();
        for branch in branches {
            let mut branch = self.branch(branch, path)?;
            let required = match branch.shift_remove("required") {
                Some(Value::Array(names)) => names,
                _ => Vec::new(),
            };
            always = Some(match always {
                None => required,
                Some(names) => names.into_iter().filter(|name| required.contains(name)).collect(),
            });
            if let Some(Value::Object(own)) = branch.shift_remove("properties") {
                for (name, property) in own {
                    match properties.get_mut(&name) {
                        None => drop(properties.insert(name, property)),
                        Some(known) => *known = either(known.take(), property),
                    }
                }
            }
        }
        let mut folded = Map::new();
        folded.insert("properties".to_owned(), Value::Object(properties));
        folded.insert("required".to_owned(), Value::Array(always.unwrap_or_default()));
        self.merge(keywords, folded, path)
    }

    /// Adds what another schema says, which holds as well.
    fn merge(
        &mut self,
        keywords: &mut Map<String, Value>,
        other: Map<String, Value>,
        path: &str,
    ) -> Result<(), Unprojectable> {
        for (keyword, said) in other {
            match (keyword.as_str(), keywords.get_mut(&keyword), said) {
                ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                    for (name, property) in more {
                        known.entry(name).or_insert(property);
                    }
                }
                ("required", Some(Value::Array(known)), Value::Array(more)) => {
                    for name in more {
                        if !known.contains(&name) {
                            known.push(name);
                        }
                    }
                }
                ("enum", Some(Value::Array(known)), Value::Array(more)) => {
                    known.retain(|value| more.contains(value));
                }
                ("$defs" | "definitions", _, _) => {}
                ("$ref", _, Value::String(reference)) => {
                    let target = self.resolved(&reference, path)?;
                    self.merge(keywords, target, path)?;
                }
                (_, None, said) => drop(keywords.insert(keyword, said)),
                // The first that says something is what the model reads; the call checks both.
                (_, Some(_), _) => {}
            }
        }
        Ok(())
    }
}

fn is_structure(keyword: &str) -> bool {
    matches!(
        keyword,
        "type" | "properties" | "required" | "items" | "prefixItems" | "enum" | "allOf" | "anyOf" | "oneOf"
    )
}

/// A property that two alternatives have.
fn either(one: Value, other: Value) -> Value {
    if one == other {
        return one;
    }
    let values = |schema: &Value| match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    };
    if let (Some(mut values_of_one), Some(values_of_other)) = (values(&one), values(&other)) {
        for value in values_of_other {
            if !values_of_one.contains(&value) {
                values_of_one.push(value);
            }
        }
        let mut merged = one.as_object().cloned().unwrap_or_default();
        merged.shift_remove("const");
        merged.insert("enum".to_owned(), Value::Array(values_of_one));
        return Value::Object(merged);
    }
    match one {
        Value::Object(mut union) if union.len() == 1 && union.contains_key("anyOf") => {
            if let Some(Value::Array(branches)) = union.get_mut("anyOf")
                && !branches.contains(&other)
            {
                branches.push(other);
            }
            Value::Object(union)
        }
        one => json!({ "anyOf": [one, other] }),
    }
}
