//! Building the outline of a document.

use std::{collections::HashMap, sync::Arc};

use jsonschema::{Draft, ReferencingError, Registry, Retrieve, Uri, uri};
use serde_json::{Map, Value};

use super::{Additional, Cases, Node, NodeId, Outline, Types};
use crate::{SchemaFault, Violation, pattern, subschemas, words};

const DRAFT: Draft = Draft::Draft202012;

/// The base of a schema without `$id`. It names nothing that could be fetched.
const NO_ID: &str = "json-schema:///";

/// Fetches nothing. A schema comes from a tenant or from a stranger's server, and a reference in it
/// must not make this process knock at an address of their choice.
pub(crate) struct Nowhere;

impl Retrieve for Nowhere {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("{uri} is not part of the schema").into())
    }
}

impl Outline {
    /// The outline of a document that is valid by the meta-schema and names no dialect.
    pub(crate) fn build(document: &Value) -> Result<Self, SchemaFault> {
        let id = document.get("$id").and_then(Value::as_str).unwrap_or(NO_ID);
        let id = id.strip_suffix('#').unwrap_or(id);
        let base = uri::from_str(id).map_err(|_| bad_id())?;
        let registry = Registry::new()
            .retriever(Nowhere)
            .draft(DRAFT)
            .add(base.as_str(), document)
            .and_then(|registry| registry.prepare())
            .map_err(|error| match error {
                ReferencingError::Unretrievable { uri, .. } => {
                    SchemaFault::RemoteReference { reference: uri }
                }
                _ => bad_id(),
            })?;
        let mut builder = Builder::new(&registry);
        let base = Arc::new(base);
        builder.enter(document, &base);
        builder.enter_dynamic_anchors(document, &base);
        while let Some((id, value, base)) = builder.todo.pop() {
            builder.visit(id, value, &base)?;
        }
        builder.link_dynamic_references();
        let mut outline = Outline { nodes: builder.nodes };
        outline.mark_defaults();
        Ok(outline)
    }
}

fn bad_id() -> SchemaFault {
    SchemaFault::Invalid { path: String::new(), violation: Violation::schema_identifier() }
}

fn reference_fault(reference: &str, error: ReferencingError) -> SchemaFault {
    match error {
        ReferencingError::Unretrievable { uri, .. } => SchemaFault::RemoteReference { reference: uri },
        _ => SchemaFault::BrokenReference { reference: reference.to_owned() },
    }
}

struct Builder<'r> {
    registry: &'r Registry<'r>,
    nodes: Vec<Node>,
    /// Which node stands for which place in the document, by its address. Nothing moves while the
    /// registry borrows it.
    known: HashMap<usize, NodeId>,
    todo: Vec<(NodeId, &'r Value, Arc<Uri<String>>)>,
    anchors: HashMap<&'r str, Vec<NodeId>>,
    dynamic: Vec<(NodeId, &'r str)>,
}

impl<'r> Builder<'r> {
    fn new(registry: &'r Registry<'r>) -> Self {
        let known = HashMap::new();
        let anchors = HashMap::new();
        Self { registry, nodes: Vec::new(), known, todo: Vec::new(), anchors, dynamic: Vec::new() }
    }

    /// The node of a subschema, which is put on the list when it is new.
    fn enter(&mut self, value: &'r Value, base: &Arc<Uri<String>>) -> NodeId {
        let address = std::ptr::from_ref(value) as usize;
        if let Some(id) = self.known.get(&address) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.known.insert(address, id);
        self.todo.push((id, value, base.clone()));
        id
    }

    /// The base URI inside `value`, which an `$id` changes.
    fn base_in(&self, value: &Value, base: &Arc<Uri<String>>) -> Option<Arc<Uri<String>>> {
        if value.get("$id").is_none() {
            return Some(base.clone());
        }
        let resolver = self.registry.resolver(base.as_ref().clone());
        Some(resolver.in_subresource(DRAFT.create_resource_ref(value)).ok()?.base_uri())
    }

    /// A dynamic reference may lead to a subschema that no other reference names, so all that could
    /// be its target are entered beforehand.
    fn enter_dynamic_anchors(&mut self, document: &'r Value, base: &Arc<Uri<String>>) {
        let mut open = vec![(document, base.clone())];
        while let Some((value, base)) = open.pop() {
            let Some(base) = self.base_in(value, &base) else { continue };
            if let Some(name) = value.get("$dynamicAnchor").and_then(Value::as_str) {
                let id = self.enter(value, &base);
                self.anchors.entry(name).or_default().push(id);
            }
            match value {
                Value::Array(items) => open.extend(items.iter().map(|item| (item, base.clone()))),
                Value::Object(members) => {
                    open.extend(members.values().map(|member| (member, base.clone())));
                }
                _ => {}
            }
        }
    }

    /// Which of the anchors of one name a dynamic reference leads to depends on how it was reached.
    /// All of them are noted as tried, by one node for each name: noted at every reference they
    /// could be as many as the square of the schema.
    fn link_dynamic_references(&mut self) {
        let mut meeting: HashMap<&str, NodeId> = HashMap::new();
        for (id, name) in std::mem::take(&mut self.dynamic) {
            let Some(targets) = self.anchors.get(name) else { continue };
            let met = *meeting.entry(name).or_insert_with(|| {
                self.nodes.push(Node { tried: targets.clone(), ..Node::default() });
                self.nodes.len() - 1
            });
            self.nodes[id].tried.push(met);
        }
    }

    fn visit(&mut self, id: NodeId, value: &'r Value, base: &Arc<Uri<String>>) -> Result<(), SchemaFault> {
        let Value::Object(schema) = value else {
            if value == &Value::Bool(false) {
                self.nodes[id].types = Types::of_keyword(&Value::Array(Vec::new()));
            }
            return Ok(());
        };
        // References lead to places where the meta-schema has not looked.
        subschemas::check_dialect(schema)
            .and_then(|()| subschemas::check_own(schema))
            .map_err(subschemas::SubschemaFault::somewhere)?;
        let base = self.base_in(value, base).unwrap_or_else(|| base.clone());
        let mut node = Node::default();
        read_plain(schema, &mut node);
        self.read_references(id, schema, &base, &mut node)?;
        self.read_choices(schema, &base, &mut node);
        self.read_members(schema, &base, &mut node);
        self.read_items(schema, &base, &mut node);
        self.nodes[id] = node;
        Ok(())
    }

    fn read_references(
        &mut self,
        id: NodeId,
        schema: &'r Map<String, Value>,
        base: &Arc<Uri<String>>,
        node: &mut Node,
    ) -> Result<(), SchemaFault> {
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = schema.get(keyword).and_then(Value::as_str) else { continue };
            let resolved = self
                .registry
                .resolver(base.as_ref().clone())
                .lookup(reference)
                .map_err(|error| reference_fault(reference, error))?;
            let (contents, resolver, draft) = resolved.into_inner();
            if draft != DRAFT {
                let violation = Violation::schema_draft(words::cut(reference));
                return Err(SchemaFault::Invalid { path: String::new(), violation });
            }
            let target = self.enter(contents, &resolver.base_uri());
            node.all.push(target);
            if keyword == "$dynamicRef"
                && let Some((_, name)) = reference.rsplit_once('#')
            {
                self.dynamic.push((id, name));
            }
        }
        node.all.extend(self.list(schema, "allOf", base));
        Ok(())
    }

    fn read_choices(&mut self, schema: &'r Map<String, Value>, base: &Arc<Uri<String>>, node: &mut Node) {
        for keyword in ["anyOf", "oneOf"] {
            let branches = self.list(schema, keyword, base);
            let values = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            let full: Vec<NodeId> = branches
                .iter()
                .zip(values)
                .filter(|(_, value)| value.get("type").and_then(Value::as_str) != Some("null"))
                .map(|(id, _)| *id)
                .collect();
            if full.len() == 1 {
                node.unless_null.extend(full);
            }
            node.tried.extend(branches);
        }
        for keyword in ["not", "if", "then", "else"] {
            node.tried.extend(schema.get(keyword).map(|value| self.enter(value, base)));
        }
        // The second was split in two long ago, and the validator still takes it. Names of properties
        // that have to be there as well are no subschemas.
        for keyword in ["dependentSchemas", "dependencies"] {
            let values = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
            let subschemas = values.filter(|(_, value)| !value.is_array());
            node.tried.extend(subschemas.map(|(_, value)| self.enter(value, base)));
        }
    }

    fn read_members(&mut self, schema: &'r Map<String, Value>, base: &Arc<Uri<String>>, node: &mut Node) {
        node.properties = self.map(schema, "properties", base);
        node.by_name = node.properties.iter().cloned().collect();
        node.patterns = self.map(schema, "patternProperties", base).into_iter().map(|(_, id)| id).collect();
        node.additional = match schema.get("additionalProperties") {
            None => Additional::Unsaid,
            Some(Value::Bool(false)) => Additional::Closed,
            Some(Value::Bool(true)) => Additional::Open,
            Some(value) => Additional::Schema(self.enter(value, base)),
        };
        for keyword in ["propertyNames", "unevaluatedProperties"] {
            node.other_members.extend(schema.get(keyword).map(|value| self.enter(value, base)));
        }
    }

    fn read_items(&mut self, schema: &'r Map<String, Value>, base: &Arc<Uri<String>>, node: &mut Node) {
        node.prefix = self.list(schema, "prefixItems", base);
        node.items = schema.get("items").map(|value| self.enter(value, base));
        for keyword in ["contains", "unevaluatedItems"] {
            node.other_items.extend(schema.get(keyword).map(|value| self.enter(value, base)));
        }
    }

    fn list(
        &mut self,
        schema: &'r Map<String, Value>,
        keyword: &str,
        base: &Arc<Uri<String>>,
    ) -> Vec<NodeId> {
        let values = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        values.map(|value| self.enter(value, base)).collect()
    }

    fn map(
        &mut self,
        schema: &'r Map<String, Value>,
        keyword: &str,
        base: &Arc<Uri<String>>,
    ) -> Vec<(String, NodeId)> {
        let values = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
        values.map(|(name, value)| (name.clone(), self.enter(value, base))).collect()
    }
}

/// Reads the keywords of a subschema that hold no other subschemas.
fn read_plain(schema: &Map<String, Value>, node: &mut Node) {
    if let Some(keyword) = schema.get("type") {
        node.types = Types::of_keyword(keyword);
    }
    read_entries(schema, node);
    node.default = schema.get("default").cloned();
    node.differing = schema.get("uniqueItems") == Some(&Value::Bool(true));
    let names = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let patterns =
        schema.get("pattern").and_then(Value::as_str).into_iter().chain(names.map(|(name, _)| name.as_str()));
    node.patterns_weight = patterns.fold(0, |sum, pattern| sum.saturating_add(pattern::weight(pattern)));
    node.required = texts(schema, "required");
    node.aliases = texts(schema, "x-aliases");
    node.unevaluated =
        schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems");
}

fn read_entries(schema: &Map<String, Value>, node: &mut Node) {
    let constant = schema.get("const").map(std::slice::from_ref);
    let Some(entries) = constant.or_else(|| Some(schema.get("enum")?.as_array()?.as_slice())) else { return };
    let none = Types::of_keyword(&Value::Array(Vec::new()));
    let of_entries = entries.iter().fold(none, |types, entry| types | Types::of_value(entry));
    node.types = node.types & of_entries;
    let mut cases = Cases::new();
    for text in entries.iter().filter_map(Value::as_str) {
        cases.entry(text.to_lowercase()).or_default().push(text.to_owned());
    }
    node.cases = Some(cases);
    // A list of nothing but texts is hashed.
    node.compared = if entries.iter().all(Value::is_string) { 0 } else { entries.len() };
}

fn texts(schema: &Map<String, Value>, keyword: &str) -> Vec<String> {
    let values = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
    values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
}
