//! The tools of the program, and what of them a tenant has.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use serde_json::json;
use toolwright_sdk::{CodeTool, RunFn};
use tw_model::{Layer, Slug, TenantId, TenantSlug, ToolDef, ToolId};
use tw_schema::{Schema, SchemaCache};
use tw_store::{Override, Store, StoredOverride, Tenant};

use crate::error::{Error, Result};

/// A tool, ready to be called: its definition, compiled schemas, and what runs.
#[derive(Debug)]
pub struct Tool {
    pub def: ToolDef,
    pub(crate) input: Schema,
    pub(crate) output: Option<Schema>,
    pub(crate) run: RunFn,
    /// Everything an approval is bound to: schemas, implementation, level, policy and version.
    pub(crate) definition_hash: String,
    /// The slug and the version as shared text, for the log.
    pub(crate) slug: Arc<str>,
    pub(crate) version: Arc<str>,
    /// The revision of the tenant's override that lies on the tool; 0 for none.
    pub revision: i64,
}

impl Tool {
    /// The tool as one tenant has it.
    ///
    /// Only what a person sees, switches and the gate can be overridden, never what runs or what it
    /// takes, and the level only upwards: the author's word about the danger stands.
    fn with(&self, stored: &StoredOverride) -> Self {
        let Override {
            name,
            description,
            category,
            icon,
            tags,
            enabled,
            is_active,
            status,
            permission_policy,
            permission_level,
            visible,
            timeout_ms,
        } = stored.layer.clone();
        let mut def = self.def.clone();
        def.layer = Layer::SystemOverride;
        def.name = name.unwrap_or(def.name);
        def.description = description.unwrap_or(def.description);
        def.category = category.unwrap_or(def.category);
        def.icon = icon.unwrap_or(def.icon);
        def.tags = tags.unwrap_or(def.tags);
        def.enabled = enabled.or(def.enabled);
        def.is_active = is_active.unwrap_or(def.is_active);
        def.status = status.unwrap_or(def.status);
        def.policy = permission_policy.or(def.policy);
        def.level = permission_level.max(def.level);
        def.visible = visible.or(def.visible);
        def.timeout_ms = timeout_ms.unwrap_or(def.timeout_ms);
        Self {
            definition_hash: definition_hash(&def),
            def,
            input: self.input.clone(),
            output: self.output.clone(),
            run: self.run,
            slug: Arc::clone(&self.slug),
            version: Arc::clone(&self.version),
            revision: stored.revision,
        }
    }
}

/// Why the tools of the program cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error(transparent)]
    Duplicate(#[from] toolwright_sdk::DuplicateSlug),
    #[error("the {part} schema of `{slug}` ({place}) cannot be used: {source}")]
    Schema { part: &'static str, slug: Slug, place: String, source: tw_schema::SchemaFault },
}

/// Tools by slug (in lower case) and by id.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    by_slug: HashMap<String, Arc<Tool>>,
    by_id: HashMap<ToolId, Arc<Tool>>,
}

impl Tools {
    fn add(&mut self, tool: Arc<Tool>) {
        self.by_slug.insert(tool.def.slug.key(), Arc::clone(&tool));
        self.by_id.insert(tool.def.id, tool);
    }

    /// By id or slug.
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        if let Ok(id) = name.parse::<ToolId>() {
            return self.by_id.get(&id);
        }
        // Most names come in the case they were declared in, and mostly that is lower case.
        self.by_slug.get(name).or_else(|| self.by_slug.get(&name.to_ascii_lowercase()))
    }

    pub(crate) fn by_id(&self, id: ToolId) -> Option<&Arc<Tool>> {
        self.by_id.get(&id)
    }

    /// In the order of their slugs.
    pub(crate) fn sorted(&self) -> Vec<Arc<Tool>> {
        let mut tools: Vec<_> = self.by_slug.values().cloned().collect();
        tools.sort_by(|a, b| a.def.slug.cmp(&b.def.slug));
        tools
    }
}

/// A tenant as of one epoch: its settings, and its tools.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) epoch: i64,
    pub(crate) tenant: Tenant,
    pub(crate) tools: Arc<Tools>,
}

impl View {
    pub(crate) fn setting(&self, name: &str) -> bool {
        self.tenant.settings.get(name).and_then(serde_json::Value::as_bool).unwrap_or(false)
    }

    pub(crate) fn slug(&self) -> &TenantSlug {
        &self.tenant.slug
    }
}

/// The views of all tenants that were asked for, each replaced when its epoch moves on.
#[derive(Debug)]
pub(crate) struct Catalogue {
    store: Store,
    code: Arc<Tools>,
    views: RwLock<HashMap<TenantId, Arc<View>>>,
}

impl Catalogue {
    pub(crate) fn new(
        store: Store,
        registered: &[&CodeTool],
        schemas: &SchemaCache,
    ) -> Result<Self, CatalogueError> {
        let mut code = Tools::default();
        for tool in registered {
            code.add(Arc::new(prepare(tool, schemas)?));
        }
        Ok(Self { store, code: Arc::new(code), views: RwLock::default() })
    }

    /// The tenant as of `epoch` or later.
    pub(crate) async fn view(&self, tenant: TenantId, epoch: i64) -> Result<Arc<View>> {
        let known = self.views.read().unwrap_or_else(PoisonError::into_inner).get(&tenant).cloned();
        if let Some(view) = known.filter(|view| epoch <= view.epoch) {
            return Ok(view);
        }
        self.reload(tenant).await
    }

    /// Reads the tenant again. The epoch is read first, so what is read after it is at least as new.
    pub(crate) async fn reload(&self, tenant: TenantId) -> Result<Arc<View>> {
        let scope = self.store.tenant(tenant);
        let epoch = scope.epoch().await.map_err(Error::store("reading the tenant's epoch"))?;
        let row = scope.tenant().await.map_err(Error::store("reading the tenant"))?;
        let row = row.ok_or(Error::NotFound { what: "tenant" })?;
        let overrides = scope.overrides().await.map_err(Error::store("reading overrides"))?;
        let view = Arc::new(View { epoch, tenant: row, tools: self.overlay(&overrides) });
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        let newest = views.entry(tenant).or_insert_with(|| Arc::clone(&view));
        if newest.epoch < view.epoch {
            *newest = Arc::clone(&view);
        }
        Ok(Arc::clone(newest))
    }
}

impl Catalogue {
    /// The tools with a tenant's overrides on top. Tenants without any share one table.
    fn overlay(&self, overrides: &[StoredOverride]) -> Arc<Tools> {
        if overrides.is_empty() {
            return Arc::clone(&self.code);
        }
        let mut tools = Tools { by_slug: self.code.by_slug.clone(), by_id: self.code.by_id.clone() };
        for stored in overrides {
            // An override outlives the tool it was made for, should a later version drop that.
            if let Some(tool) = self.code.get(&stored.slug) {
                tools.add(Arc::new(tool.with(stored)));
            }
        }
        Arc::new(tools)
    }

    /// The tool as its author wrote it.
    pub(crate) fn as_written(&self, id: ToolId) -> Option<&Arc<Tool>> {
        self.code.by_id(id)
    }
}

fn prepare(tool: &CodeTool, schemas: &SchemaCache) -> Result<Tool, CatalogueError> {
    let def = (tool.define)();
    let compile = |part, document| {
        schemas.get_or_compile(document).map_err(|source| CatalogueError::Schema {
            part,
            slug: def.slug.clone(),
            place: tool.place.to_string(),
            source,
        })
    };
    let input = compile("input", &def.input_schema)?;
    let output = def.output_schema.as_deref().map(|schema| compile("output", schema)).transpose()?;
    Ok(Tool {
        definition_hash: definition_hash(&def),
        input,
        output,
        run: tool.run,
        slug: Arc::from(def.slug.as_str()),
        version: Arc::from(def.version.to_string()),
        revision: 0,
        def,
    })
}

fn definition_hash(def: &ToolDef) -> String {
    tw_schema::digest(&json!({
        "input_schema": *def.input_schema,
        "output_schema": def.output_schema.as_deref(),
        "implementation": def.implementation,
        "level": def.level,
        "policy": def.policy,
        "version": def.version.to_string(),
    }))
    .to_string()
}
