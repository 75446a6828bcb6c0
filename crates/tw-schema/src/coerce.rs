//! Coercion of an agent's input to its schema.
//!
//! Models write `"5"` for `5`, `discount_rate` for `discountRate` and an object as a text that holds
//! it. If the schema allows only one reading, that reading is taken and reported. If it allows two, the
//! value stays, and validation reports it. Nothing is invented and nothing is dropped. The input of
//! people and programs is not coerced: they get the faults.

mod names;
mod scalar;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Schema,
    outline::{Cases, NodeId, Outline, ROOT, Types, type_name},
    pointer, strict,
};

/// One change to a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coercion {
    /// A JSON pointer into the changed value.
    pub path: String,
    /// The JSON type before and after (`string`, `integer`, …). When a property was renamed, its
    /// names; when a text differed from an `enum` entry only in case, the two texts.
    pub from: String,
    pub to: String,
}

impl Schema {
    /// Coerces a value to the schema, and returns every change.
    ///
    /// It goes through `properties`, `additionalProperties`, `items`, `prefixItems`, `$ref` and
    /// `allOf`, and through an `anyOf` or `oneOf` that only adds null to one form. At each instance
    /// location, and only if the value's own type is not allowed there:
    ///
    /// - a text that is a number, `true` or `false` becomes one;
    /// - a number or a boolean becomes a text, if only a text is allowed;
    /// - a text that is the JSON of an object or an array becomes it;
    /// - a scalar becomes a list of one, if a list of scalars is wanted;
    /// - a text that differs from an `enum` entry only in case becomes that entry.
    ///
    /// An unknown property becomes the one absent property that has it among its `x-aliases`, or
    /// whose name differs only in case, `_` and `-`; the latter not where `additionalProperties`
    /// expressly allows other names. If exactly one required property is absent and its name begins with
    /// the only unknown name (`q` for `query`), the unknown property becomes that one.
    ///
    /// A scalar instead of the root object becomes its only required property, or its only property.
    pub fn coerce(&self, value: &mut Value) -> Vec<Coercion> {
        let mut coercing = Coercing::new(self);
        if self.allows_walk(value) {
            coercing.wrap(value);
            coercing.read(&[ROOT], value, "", 1);
        }
        coercing.done
    }
}

struct Coercing<'a> {
    schema: &'a Schema,
    outline: &'a Outline,
    done: Vec<Coercion>,
}

impl<'a> Coercing<'a> {
    fn new(schema: &'a Schema) -> Self {
        Self { schema, outline: schema.outline(), done: Vec::new() }
    }

    /// Makes an object of a bare scalar that can be meant for one property only.
    fn wrap(&mut self, value: &mut Value) {
        let layers = self.outline.layers_unless_null(&[ROOT]);
        let allowed = self.allowed(&layers);
        let is_bare = match value {
            Value::String(text) => self.structure(text, allowed, 1).is_none(),
            Value::Number(_) | Value::Bool(_) => true,
            _ => false,
        };
        if !is_bare || allowed != Types::OBJECT {
            return;
        }
        let Some(name) = self.only_property(&layers) else { return };
        let subschemas = self.outline.layers_unless_null(&self.outline.member(&layers, name));
        if subschemas.is_empty() || !self.allowed(&subschemas).meets(Types::of_value(value)) {
            return;
        }
        let from = type_name(value).to_owned();
        self.done.push(Coercion { path: String::new(), from, to: "object".to_owned() });
        *value = Value::Object(Map::from_iter([(name.to_owned(), value.take())]));
    }

    /// The one property that an object has to have, or the one that it can have.
    fn only_property(&self, layers: &[NodeId]) -> Option<&'a str> {
        let outline = self.outline;
        let only = |mut names: Vec<&'a str>| {
            names.dedup();
            (names.len() == 1).then(|| names[0])
        };
        let required: Vec<&str> =
            layers.iter().flat_map(|id| outline.nodes[*id].required.iter().map(String::as_str)).collect();
        if !required.is_empty() {
            return only(required);
        }
        let declared = layers.iter().flat_map(|id| &outline.nodes[*id].properties);
        only(declared.map(|(name, _)| name.as_str()).collect())
    }

    /// Coerces the value at one instance location. `level` is its depth; the root is at 1.
    fn read(&mut self, subschemas: &[NodeId], value: &mut Value, at: &str, level: usize) {
        if subschemas.is_empty() || value.is_null() {
            return;
        }
        let layers = self.outline.layers_unless_null(subschemas);
        self.read_type(&layers, value, at, level);
        self.read_case(&layers, value, at);
        match value {
            Value::Object(members) => {
                self.rename(&layers, members, at);
                for (name, member) in members.iter_mut() {
                    let subschemas = self.outline.member(&layers, name);
                    if !subschemas.is_empty() {
                        self.read(&subschemas, member, &pointer::join(at, name), level + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let subschemas = self.outline.item(&layers, index);
                    if !subschemas.is_empty() {
                        self.read(&subschemas, item, &format!("{at}/{index}"), level + 1);
                    }
                }
            }
            _ => {}
        }
    }

    /// Gives a value the type that the schema wants, when its own is not allowed.
    fn read_type(&mut self, layers: &[NodeId], value: &mut Value, at: &str, level: usize) {
        let allowed = self.allowed(layers);
        if allowed.meets(Types::of_value(value)) {
            return;
        }
        let read = match value {
            Value::String(text) => {
                scalar::from_text(text, allowed).or_else(|| self.structure(text, allowed, level))
            }
            Value::Number(_) | Value::Bool(_) => scalar::to_text(value, allowed),
            _ => None,
        };
        let read = read.or_else(|| self.list_of_one(layers, value, allowed, level));
        if let Some(read) = read {
            let (from, to) = (type_name(value).to_owned(), type_name(&read).to_owned());
            self.done.push(Coercion { path: at.to_owned(), from, to });
            *value = read;
        }
    }

    fn allowed(&self, layers: &[NodeId]) -> Types {
        layers.iter().fold(Types::ANY, |types, id| types & self.outline.nodes[*id].types)
    }

    /// The object or array that a text holds. It must be strict JSON, and must not take the whole
    /// value deeper than a reader would follow.
    fn structure(&self, text: &str, allowed: Types, level: usize) -> Option<Value> {
        let text = text.trim();
        if !allowed.meets(Types::OBJECT | Types::ARRAY) || !text.starts_with(['{', '[']) {
            return None;
        }
        let value = strict::parse(text.as_bytes()).ok()?;
        let fits = allowed.meets(Types::of_value(&value)) && self.schema.allows_walk(&value);
        (fits && level - 1 + depth(&value) <= strict::DEPTH_MAX).then_some(value)
    }

    /// A scalar as the only item of an array, if every item of it must be a scalar and this one can
    /// be read as such.
    fn list_of_one(&self, layers: &[NodeId], value: &Value, allowed: Types, level: usize) -> Option<Value> {
        let scalars = Types::ANY.without(Types::ARRAY | Types::OBJECT);
        if !allowed.meets(Types::ARRAY) || !scalars.meets(Types::of_value(value)) || strict::DEPTH_MAX < level
        {
            return None;
        }
        let subschemas = self.outline.item(layers, 0);
        let layers = self.outline.layers_unless_null(&subschemas);
        let wanted = self.allowed(&layers);
        if wanted.without(scalars) != Types::ANY.without(Types::ANY) {
            return None;
        }
        let mut item = value.clone();
        let mut coercing = Coercing::new(self.schema);
        coercing.read_type(&layers, &mut item, "", level + 1);
        wanted.meets(Types::of_value(&item)).then(|| Value::Array(vec![value.clone()]))
    }

    /// Takes the entry of an `enum` that a text is but for its case.
    fn read_case(&mut self, layers: &[NodeId], value: &mut Value, at: &str) {
        let Value::String(text) = value else { return };
        let lists = layers.iter().filter_map(|id| self.outline.nodes[*id].cases.as_ref());
        let lists: Vec<&Cases> = lists.collect();
        let Some(entry) = scalar::entry_but_for_case(text, &lists) else { return };
        let (from, to) = (text.clone(), entry.to_owned());
        *text = to.clone();
        self.done.push(Coercion { path: at.to_owned(), from, to });
    }
}

/// How many levels of arrays and objects a value has.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
