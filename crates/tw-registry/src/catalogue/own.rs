//! A tool of a tenant's own.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::Value;
use tw_base::{Error, Result};
use tw_exec::{Kinds, Written};
use tw_model::{Definition, Implementation, Layer, Listing, Origin, ToolDef, Unlisted};
use tw_schema::{Digest, SchemaCache};
use tw_store::StoredTool;

use super::{Tool, definition_hash};

/// Which of the two a tool can have: what runs, or what was saved last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Live,
    Draft,
}

/// What lists and filters look at, read without the rest.
#[derive(Clone, Debug, Deserialize)]
pub struct Face {
    pub name: String,
    pub description: String,
    pub category: String,
    pub implementation_type: String,
    #[serde(default)]
    pub required_permission: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    builtin_template_id: Option<serde::de::IgnoredAny>,
    /// The tool of the program that it is another name for.
    #[serde(skip)]
    pub builtin_key: Option<String>,
    /// The tools that it names.
    #[serde(skip)]
    pub calls: Vec<String>,
}

/// The parts of a definition that its kind reads.
#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    implementation: Value,
    #[serde(default)]
    execution_spec: Option<Value>,
}

impl Face {
    pub fn read(text: &str, kinds: &dyn Kinds) -> serde_json::Result<Self> {
        let mut face: Self = serde_json::from_str(text)?;
        let kind = Implementation::parse(&face.implementation_type);
        if let Some(kind) = kind.filter(|kind| kinds.can_call(*kind)) {
            let Parts { implementation, execution_spec } = &serde_json::from_str(text)?;
            let execution_spec = execution_spec.as_ref();
            let written = Written { kind, implementation, execution_spec, is_new: false };
            face.builtin_key = kinds.builtin_key(written).map(str::to_owned);
            face.calls = kinds.called(written).into_iter().map(|callee| callee.name).collect();
        }
        Ok(face)
    }

    /// Whether an older system made it of a built-in: found by its name, and not listed.
    pub fn is_legacy_clone(&self) -> bool {
        self.builtin_template_id.is_some()
    }

    /// The kind, where this program does not know it.
    pub fn unknown_kind(&self) -> Option<&str> {
        Implementation::parse(&self.implementation_type).is_none().then_some(&*self.implementation_type)
    }
}

/// A tool of a tenant's own: as stored, and as far as somebody has asked for it.
#[derive(Debug)]
pub struct Own {
    pub stored: StoredTool,
    draft_face: Arc<Face>,
    live_face: Option<Arc<Face>>,
    draft: OnceLock<Arc<Tool>>,
    live: OnceLock<Arc<Tool>>,
}

impl Own {
    pub fn read(stored: StoredTool, kinds: &dyn Kinds) -> Result<Self> {
        let face = |text: &str| -> Result<Arc<Face>> {
            Face::read(text, kinds).map(Arc::new).map_err(|error| corrupt(&stored, &error))
        };
        let draft_face = face(&stored.definition)?;
        let live_face = match &stored.live {
            Some(live) if *live == stored.definition => Some(Arc::clone(&draft_face)),
            Some(live) => Some(face(live)?),
            None => None,
        };
        Ok(Self { stored, draft_face, live_face, draft: OnceLock::new(), live: OnceLock::new() })
    }

    pub(super) fn origin(&self) -> Origin {
        if self.stored.import.is_some() { Origin::Mcp } else { Origin::Database }
    }

    /// Names the tool as it stands.
    pub(crate) fn mark(&self) -> String {
        mark(&self.stored)
    }

    pub fn has_draft(&self) -> bool {
        self.stored.live.as_ref() != Some(&self.stored.definition)
            || self.stored.live_version.as_ref() != Some(&self.stored.version)
    }

    /// The side, or the other one where a tool has never been published.
    pub fn face(&self, side: Side) -> &Face {
        match (side, &self.live_face) {
            (Side::Live, Some(face)) => face,
            _ => &self.draft_face,
        }
    }

    /// The tools that it names, in what runs or in what was saved last.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        let live = self.live_face.iter().filter(|live| !Arc::ptr_eq(live, &self.draft_face));
        let live = live.flat_map(|face| &face.calls);
        live.chain(&self.draft_face.calls).map(String::as_str)
    }

    pub(super) fn aliases(&self) -> impl Iterator<Item = &String> {
        let live = self.live_face.iter().flat_map(|face| &face.aliases);
        live.chain(&self.draft_face.aliases)
    }

    pub fn in_catalogue(&self, tenant_slug: &str) -> Result<(), Unlisted> {
        let switches = &self.stored.switches;
        if !switches.tenant_slugs.is_empty() && !switches.tenant_slugs.iter().any(|slug| slug == tenant_slug)
        {
            return Err(Unlisted::NotForThisTenant);
        }
        if switches.enabled == Some(false) { Err(Unlisted::SwitchedOff) } else { Ok(()) }
    }

    /// What is shown of a side, without compiling anything.
    pub fn def(&self, side: Side) -> Result<ToolDef> {
        let stored = &self.stored;
        match (side, &stored.live, &stored.live_version) {
            (Side::Live, Some(live), Some(version)) => self.define(live, version),
            _ => self.define(&stored.definition, &stored.version),
        }
    }

    pub(super) fn ready(
        &self,
        side: Side,
        schemas: &SchemaCache,
        kinds: &dyn Kinds,
    ) -> Result<Option<Arc<Tool>>> {
        let stored = &self.stored;
        let (cell, text, version) = match (side, &stored.live, &stored.live_version) {
            (Side::Draft, _, _) => (&self.draft, &stored.definition, &stored.version),
            (Side::Live, Some(live), Some(version)) => (&self.live, live, version),
            (Side::Live, _, _) => return Ok(None),
        };
        if let Some(tool) = cell.get() {
            return Ok(Some(Arc::clone(tool)));
        }
        let tool = self.prepare(text, version, schemas, kinds)?;
        Ok(Some(Arc::clone(cell.get_or_init(|| tool))))
    }

    pub(super) fn prepare(
        &self,
        text: &str,
        version: &str,
        schemas: &SchemaCache,
        kinds: &dyn Kinds,
    ) -> Result<Arc<Tool>> {
        let def = self.define(text, version)?;
        if def.implementation == Implementation::Unknown {
            let face = Face::read(text, kinds).map_err(|error| corrupt(&self.stored, &error))?;
            let (tool, kind) = (self.stored.slug.to_string(), face.implementation_type);
            return Err(Error::UnknownKind { tool, kind });
        }
        let compile =
            |schema: &Value| schemas.get_or_compile(schema).map_err(|fault| corrupt(&self.stored, &fault));
        let written = Written {
            kind: def.implementation,
            implementation: &def.authored.implementation,
            execution_spec: def.authored.execution_spec.as_ref(),
            is_new: false,
        };
        let executor = kinds.read(written).map_err(|faults| {
            let first = faults.first().map(|fault| format!("{} {}", fault.path, fault.message));
            corrupt(&self.stored, &first.unwrap_or_default())
        })?;
        Ok(Arc::new(Tool {
            definition_hash: definition_hash(&def),
            content_hash: Some(content_hash(text)),
            input: compile(&def.input_schema)?,
            output: def.output_schema.as_deref().map(compile).transpose()?,
            executor: Arc::from(executor),
            slug: Arc::from(def.slug.as_str()),
            version: Arc::from(version),
            revision: self.stored.revision,
            def: Arc::new(def),
        }))
    }

    fn define(&self, text: &str, version: &str) -> Result<ToolDef> {
        let stored = &self.stored;
        let definition: Definition = serde_json::from_str(text).map_err(|error| corrupt(stored, &error))?;
        let (switches, timeout_ms) = (&stored.switches, definition.limit_ms());
        Ok(ToolDef {
            id: stored.id,
            slug: stored.slug.clone(),
            name: definition.name,
            description: definition.description,
            category: definition.category,
            icon: definition.icon,
            tags: switches.tags.clone(),
            version: version.parse().map_err(|error: semver::Error| corrupt(stored, &error))?,
            layer: Layer::TenantCustom,
            origin: self.origin(),
            status: switches.status,
            enabled: switches.enabled,
            is_active: switches.is_active,
            listing: Listing::OptOut,
            level: definition.permission_level,
            policy: switches.permission_policy,
            required_permission: definition.required_permission,
            tenant_slugs: switches.tenant_slugs.clone(),
            output_sections: definition.output_sections,
            collaborative: definition.collaborative,
            visible: definition.visible,
            is_async: definition.is_async,
            timeout_ms,
            execution: definition.execution,
            open_world: None,
            input_schema: Arc::new(definition.input_schema),
            output_schema: definition.output_schema.map(Arc::new),
            implementation: Implementation::parse(&definition.implementation_type)
                .unwrap_or(Implementation::Unknown),
            authored: Arc::new(definition.authored),
            published_at: stored.published,
            has_draft: self.has_draft(),
        })
    }
}

fn corrupt(stored: &StoredTool, why: &dyn std::fmt::Display) -> Error {
    Error::internal("reading a tool", format!("the tool {}: {why}", stored.slug))
}

/// The name of a content: equal text, equal name.
pub(crate) fn content_hash(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// Names a tool as it stands.
pub(crate) fn mark(stored: &StoredTool) -> String {
    format!("{}-{}-{:x}", stored.version, stored.revision, stored.updated.micros())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tw_exec::{Callee, Executor, Expressions};
    use tw_schema::Fault;

    use super::*;

    /// Kinds of which one names tools, in a member that no real kind has.
    #[derive(Debug)]
    struct OneCalls;

    impl Kinds for OneCalls {
        fn read(&self, _: Written<'_>) -> Result<Box<dyn Executor>, Vec<Fault>> {
            Err(Vec::new())
        }

        fn called(&self, written: Written<'_>) -> Vec<Callee> {
            let names = written.implementation["asks"].as_array().into_iter().flatten();
            let names = names.filter_map(Value::as_str).map(str::to_owned);
            names.map(|name| Callee { path: String::new(), name, is_certain: true }).collect()
        }

        fn expressions(&self, _: Written<'_>) -> Expressions {
            Expressions::default()
        }

        fn can_call(&self, kind: Implementation) -> bool {
            kind == Implementation::Http
        }

        fn builtin_key<'a>(&self, written: Written<'a>) -> Option<&'a str> {
            written.implementation["stands_for"].as_str()
        }
    }

    #[track_caller]
    fn check(kind: Implementation, calls: &[&str], builtin_key: Option<&str>) {
        let implementation = json!({ "asks": ["a", "b"], "stands_for": "c", "builtin_key": "d" });
        let spec = json!({ "steps": [{ "tool": "e" }] });
        let text = json!({ "name": "", "description": "", "category": "", "implementation_type": kind.type_name(),
            "implementation": implementation, "execution_spec": spec });
        let face = Face::read(&text.to_string(), &OneCalls).unwrap();
        assert_eq!(face.calls, calls, "{kind:?}");
        assert_eq!(face.builtin_key.as_deref(), builtin_key, "{kind:?}");
    }

    #[test]
    fn kind_alone_says_which_tools_a_definition_names() {
        check(Implementation::Http, &["a", "b"], Some("c"));
        check(Implementation::Composition, &[], None);
    }
}
