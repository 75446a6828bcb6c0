//! The subschemas of one instance location: its own, and those they include by `$ref` and `allOf`.

use std::{
    cell::{Cell, OnceCell},
    collections::HashSet,
};

use serde_json::{Map, Value};

use crate::{canonical, limits::weight, local::Document, outline::Types};

/// Subschemas that all apply to the same instance location.
pub(super) type Subschemas<'a> = Vec<&'a Value>;

/// How many branches of choices inside choices are looked at to learn the types they allow.
const BRANCHES_MAX: usize = 500;
/// How deep such choices are followed.
const CHOICES_DEEP: usize = 6;
/// How many required members are tried as tags of a form.
const TAGS_MAX: usize = 16;

static NULL: Value = Value::Null;

/// One of the two documents, and the steps that are left for the comparison of both.
#[derive(Debug)]
pub(super) struct Root<'a> {
    pub(super) document: Document<'a>,
    left: &'a Cell<u64>,
}

impl<'a> Root<'a> {
    pub(super) fn new(root: &'a Value, left: &'a Cell<u64>) -> Self {
        Self { document: Document::new(root), left }
    }

    /// Takes steps. When none are left the comparison ends soon, with a meaningless result. Its caller
    /// asks [`Self::is_spent`] at the end and then reports the schema as too complex.
    pub(super) fn spend(&self, steps: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(steps as u64));
        !self.is_spent()
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// The canonical text of a value, which costs what there is to read.
    pub(super) fn text(&self, value: &Value) -> String {
        let has_steps = !self.is_spent() && self.spend(weight(value));
        if has_steps { canonical(value) } else { String::new() }
    }
}

/// Keywords that say nothing about which values fit.
pub(super) fn is_word(keyword: &str) -> bool {
    let words = [
        "title",
        "description",
        "examples",
        "default",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
        "$id",
        "$anchor",
        "$defs",
        "definitions",
    ];
    words.contains(&keyword) || keyword.starts_with("x-")
}

/// One of the subschemas of an instance location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    pub(super) map: &'a Map<String, Value>,
    /// Whether its `anyOf` or `oneOf` only adds null to another layer, and is no choice.
    wraps: bool,
}

/// All subschemas of an instance location.
#[derive(Clone, Debug)]
pub(super) struct Layers<'a> {
    root: &'a Root<'a>,
    /// The location's own subschemas, without those they include.
    pub(super) subschemas: Subschemas<'a>,
    pub(super) all: Vec<Layer<'a>>,
    /// A `false` is among them, so nothing fits.
    never: bool,
    /// A reference among them leads nowhere, or something is no schema.
    pub(super) broken: bool,
    /// Null fits, although the layers refuse it. Most generators write an optional object this way, so
    /// it does not count as a choice.
    pub(super) nullable: bool,
    values: OnceCell<Option<Vec<(String, &'a Value)>>>,
    possible_types: OnceCell<Types>,
}

impl<'a> Layers<'a> {
    pub(super) fn of(root: &'a Root<'a>, subschemas: &[&'a Value]) -> Self {
        Self::build(root, subschemas, subschemas.len() == 1)
    }

    /// Collects the layers. A choice between null and one form is seen through only where that form
    /// is all there is.
    fn build(root: &'a Root<'a>, subschemas: &[&'a Value], single: bool) -> Self {
        let subschemas = subschemas.to_vec();
        let mut layers = Self {
            root,
            subschemas,
            all: Vec::new(),
            never: false,
            broken: false,
            nullable: false,
            values: OnceCell::new(),
            possible_types: OnceCell::new(),
        };
        let mut seen = HashSet::new();
        let mut open: Vec<&Value> = layers.subschemas.iter().rev().copied().collect();
        while let Some(value) = open.pop() {
            if !seen.insert(std::ptr::from_ref(value) as usize) {
                continue;
            }
            if !root.spend(1 + value.as_object().map_or(0, Map::len)) {
                break;
            }
            match value {
                Value::Bool(true) => {}
                Value::Bool(false) => layers.never = true,
                Value::Object(map) => {
                    let alone =
                        single && open.is_empty() && layers.all.iter().all(|layer| layer.says_nothing());
                    let below = layers.enter(map, alone);
                    open.extend(below.into_iter().rev());
                }
                _ => layers.broken = true,
            }
        }
        layers
    }

    /// Adds a layer, and returns the subschemas that it includes.
    fn enter(&mut self, map: &'a Map<String, Value>, alone: bool) -> Vec<&'a Value> {
        let mut below = Vec::new();
        if let Some(reference) = map.get("$ref") {
            match reference.as_str().and_then(|reference| self.root.document.resolve(reference)) {
                Some(target) => below.push(target),
                None => self.broken = true,
            }
        }
        below.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten());
        let inner = if alone { self.beside_null(map) } else { None };
        self.nullable |= inner.is_some();
        self.all.push(Layer { map, wraps: inner.is_some() });
        below.extend(inner);
        below
    }

    /// The other form, when a subschema is nothing but a choice between null and one form.
    fn beside_null(&self, map: &'a Map<String, Value>) -> Option<&'a Value> {
        let mut spoken = map.iter().filter(|(keyword, _)| !is_word(keyword));
        let (keyword, branches) = spoken.next()?;
        if spoken.next().is_some() || !["anyOf", "oneOf"].contains(&keyword.as_str()) {
            return None;
        }
        let [first, second] = branches.as_array()?.as_slice() else { return None };
        let is_null = |branch: &Value| {
            branch.get("type").is_some_and(|name| name == "null")
                && branch.as_object().is_some_and(|map| map.keys().all(|key| key == "type" || is_word(key)))
        };
        let inner = match (is_null(first), is_null(second)) {
            (true, false) => second,
            (false, true) => first,
            _ => return None,
        };
        // Null must not fit both forms of a `oneOf`. A form that is such a choice again has no type
        // of its own, and null fits it.
        let fits_null = || Self::build(self.root, &[inner], false).types().meets(Types::NULL);
        (keyword == "anyOf" || !fits_null()).then_some(inner)
    }

    /// Whether nothing fits here.
    pub(super) fn is_never(&self) -> bool {
        let values_empty = || self.values().is_some_and(|values| values.is_empty());
        !self.types().meets(Types::ANY) || (!self.nullable && values_empty())
    }

    /// The types that `type` allows.
    pub(super) fn types(&self) -> Types {
        let keywords = self.all.iter().filter_map(|layer| layer.map.get("type"));
        let all = if self.never { Types::ANY.without(Types::ANY) } else { Types::ANY };
        let types = keywords.fold(all, |types, keyword| types & Types::of_keyword(keyword));
        if self.nullable { types | Types::NULL } else { types }
    }

    /// Types outside of which nothing fits, by all that is said about them.
    pub(super) fn possible_types(&self) -> Types {
        *self
            .possible_types
            .get_or_init(|| self.possible_types_within(CHOICES_DEEP, &mut BRANCHES_MAX.clone()))
    }

    fn possible_types_within(&self, deep: usize, branches: &mut usize) -> Types {
        let nothing = Types::ANY.without(Types::ANY);
        let mut types = self.types();
        if let Some(values) = self.values() {
            types = types & values.iter().fold(nothing, |types, (_, value)| types | Types::of_value(value));
        }
        for choice in self.choices() {
            let mut of_choice = if self.nullable { Types::NULL } else { nothing };
            for branch in choice.branches {
                if deep == 0 || *branches == 0 {
                    of_choice = Types::ANY;
                    break;
                }
                *branches -= 1;
                of_choice =
                    of_choice | Self::of(self.root, &[branch]).possible_types_within(deep - 1, branches);
            }
            types = types & of_choice;
        }
        types
    }

    /// The values that `enum` and `const` allow, by their canonical text; nothing when they say
    /// nothing. A choice between constants is the same thing in more words.
    pub(super) fn values(&self) -> Option<&[(String, &'a Value)]> {
        self.values.get_or_init(|| self.find_values()).as_deref()
    }

    fn find_values(&self) -> Option<Vec<(String, &'a Value)>> {
        let mut lists: Vec<Vec<&'a Value>> = Vec::new();
        for layer in &self.all {
            lists.extend(constants(layer.map));
            lists.extend(
                layer
                    .choices()
                    .filter_map(|(keyword, branches)| list_of_constants(self.root, keyword, branches)),
            );
        }
        let mut lists = lists.into_iter();
        let first = lists.next()?;
        let mut values: Vec<(String, &Value)> = Vec::new();
        let mut seen = HashSet::new();
        for value in first {
            let text = self.root.text(value);
            if seen.insert(text.clone()) {
                values.push((text, value));
            }
        }
        for list in lists {
            let list: HashSet<String> = list.into_iter().map(|value| self.root.text(value)).collect();
            values.retain(|(text, _)| list.contains(text));
        }
        if self.nullable && !seen.contains("null") {
            values.push(("null".to_owned(), &NULL));
        }
        Some(values)
    }

    /// The choices that are more than lists of constants.
    pub(super) fn choices(&self) -> Vec<Choice<'a>> {
        let all = self.all.iter().flat_map(|layer| layer.choices());
        all.filter(|(keyword, branches)| list_of_constants(self.root, keyword, branches).is_none())
            .map(|(keyword, branches)| Choice { keyword, branches })
            .collect()
    }

    /// The required members that must be one of few constants, with these.
    pub(super) fn tags(&self) -> Vec<(&'a str, HashSet<String>)> {
        let required = self.every("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        let tag = |name: &'a str| {
            let named = |layer: &Layer<'a>| layer.map.get("properties").and_then(|map| map.get(name));
            let subschemas: Subschemas<'a> = self.all.iter().filter_map(named).collect();
            let layers = Self::of(self.root, &subschemas);
            let values = layers.values()?;
            Some((name, values.iter().map(|(text, _)| text.clone()).collect()))
        };
        required.take(TAGS_MAX).filter_map(tag).collect()
    }

    /// The default that the gateway fills in here. It ignores defaults behind a choice.
    pub(super) fn default(&self) -> Option<&'a Value> {
        let seen = 1 + self.all.iter().position(|layer| layer.wraps).unwrap_or(self.all.len());
        self.all.iter().take(seen).find_map(|layer| layer.map.get("default"))
    }

    /// The first subschema that says anything about which values fit, with all others below it.
    pub(super) fn top(&self) -> Option<&Layer<'a>> {
        let single = self.subschemas.len() == 1;
        self.all.iter().find(|layer| !layer.wraps && !layer.says_nothing()).filter(|_| single)
    }

    /// Every value of a keyword.
    pub(super) fn every(&self, keyword: &'a str) -> impl Iterator<Item = &'a Value> {
        self.all.iter().filter_map(move |layer| layer.map.get(keyword))
    }

    pub(super) fn says_any(&self, keywords: &[&'a str]) -> bool {
        keywords.iter().any(|keyword| self.all.iter().any(|layer| layer.says(keyword)))
    }

    /// The subschemas of the item at an index; without an index, of the items behind `prefixItems`.
    pub(super) fn item(&self, index: Option<usize>) -> Subschemas<'a> {
        let of = |layer: &Layer<'a>| {
            let numbered = layer.map.get("prefixItems").and_then(Value::as_array);
            let numbered = numbered.zip(index).and_then(|(items, index)| items.get(index));
            numbered.or_else(|| layer.map.get("items"))
        };
        self.all.iter().filter_map(of).collect()
    }
}

impl<'a> Layer<'a> {
    /// Whether it has this keyword. A wrapper does not count as a choice.
    fn says(&self, keyword: &str) -> bool {
        self.map.contains_key(keyword) && !(self.wraps && ["anyOf", "oneOf"].contains(&keyword))
    }

    fn says_nothing(&self) -> bool {
        self.map.keys().all(|keyword| keyword == "$ref" || is_word(keyword))
    }

    fn choices(self) -> impl Iterator<Item = (&'static str, &'a Vec<Value>)> {
        let keywords = ["anyOf", "oneOf"].into_iter().filter(move |_| !self.wraps);
        keywords.filter_map(move |keyword| Some((keyword, self.map.get(keyword)?.as_array()?)))
    }
}

/// One `anyOf` or `oneOf`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    pub(super) keyword: &'static str,
    pub(super) branches: &'a Vec<Value>,
}

fn constants(map: &Map<String, Value>) -> Vec<Vec<&Value>> {
    let constant = map.get("const").map(|value| vec![value]);
    let list = map.get("enum").and_then(Value::as_array).map(|values| values.iter().collect());
    constant.into_iter().chain(list).collect()
}

/// The constants of a choice all of whose branches are nothing but constants.
fn list_of_constants<'a>(root: &Root<'_>, keyword: &str, branches: &'a [Value]) -> Option<Vec<&'a Value>> {
    let mut all = Vec::new();
    for branch in branches {
        let map = branch.as_object()?;
        if !map.keys().all(|key| ["const", "enum", "type"].contains(&key.as_str()) || is_word(key)) {
            return None;
        }
        let [list] = <[Vec<&Value>; 1]>::try_from(constants(map)).ok()?;
        let types = map.get("type").map_or(Types::ANY, Types::of_keyword);
        all.extend(list.into_iter().filter(|value| types.meets(Types::of_value(value))));
    }
    let different: HashSet<String> = all.iter().map(|value| root.text(value)).collect();
    // What fits two branches of a `oneOf` fits neither.
    (keyword == "anyOf" || different.len() == all.len()).then_some(all)
}
