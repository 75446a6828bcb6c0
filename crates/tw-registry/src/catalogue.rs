//! The tools of the program, those of a tenant's own, and what a tenant has of both.
//!
//! A tenant is read once and from then on by what changed. A tool of its own stays text until somebody
//! asks for it: a tenant with a hundred thousand tools uses few of them.

mod own;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use serde_json::{Value, json};
use toolwright_sdk::{CodeTool, RunFn};
use tw_exec::{BoxFuture, Call, Ended, Executor, Kinds};
use tw_model::{
    Caller, Layer, Level, Origin, Slug, TenantId, TenantSlug, ToolDef, ToolId, ToolStatus, Unlisted,
    look_alike,
};
use tw_policy::{CallSwitches, Facts, GateOverride};
use tw_schema::{Schema, SchemaCache};
use tw_store::{Override, ReadTool, Store, StoredOverride, Tenant};

pub(crate) use self::own::{Face, content_hash, mark};
pub use self::own::{Own, Side};
use tw_base::{Error, Result};

/// A function of the program, as an executor.
#[derive(Debug)]
struct Function {
    run: RunFn,
    calls: bool,
}

impl Executor for Function {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        let running = (self.run)(call.cx, call.input);
        Box::pin(async move { running.await.into() })
    }

    /// Any text of the input may be the name of a tool that it is to call.
    fn calls_with<'a>(&'a self, input: &'a Value) -> Vec<&'a str> {
        let members = input.as_object().filter(|_| self.calls).into_iter().flatten();
        members.filter_map(|(_, member)| member.as_str()).collect()
    }

    fn is_resumable(&self) -> bool {
        self.calls
    }

    fn is_function(&self) -> bool {
        true
    }
}

/// A tool that the engine itself brings along.
#[derive(Debug)]
pub struct OwnTool {
    pub def: ToolDef,
    pub executor: Arc<dyn Executor>,
}

/// A tool, ready to be called: its definition, compiled schemas, and what runs.
#[derive(Debug)]
pub struct Tool {
    pub def: Arc<ToolDef>,
    pub input: Schema,
    pub output: Option<Schema>,
    pub executor: Arc<dyn Executor>,
    /// Everything an approval is bound to: schemas, implementation, level, policy and version.
    pub definition_hash: String,
    /// By which what is written down outside the program is found again.
    pub content_hash: Option<String>,
    /// The slug and the version as shared text, for the log.
    pub slug: Arc<str>,
    pub version: Arc<str>,
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
            i18n,
            enabled,
            is_active,
            status,
            permission_policy,
            permission_level,
            visible,
            timeout_ms,
        } = stored.layer.clone();
        let mut def = ToolDef::clone(&self.def);
        def.layer = Layer::SystemOverride;
        let renamed = [("name", name.is_some()), ("description", description.is_some())];
        let renamed = renamed.into_iter().filter_map(|(text, is_said)| is_said.then_some(text));
        if let Some(i18n) = i18n.or_else(|| without_texts(def.authored.i18n.as_ref()?, renamed)) {
            Arc::make_mut(&mut def.authored).i18n = Some(i18n);
        }
        def.name = name.unwrap_or(def.name);
        def.description = description.unwrap_or(def.description);
        def.category = category.unwrap_or(def.category);
        def.icon = icon.unwrap_or(def.icon);
        def.tags = tags.unwrap_or(def.tags);
        let (level, policy) = (permission_level, permission_policy);
        let gates = GateOverride { enabled, is_active, status, level, policy };
        gates.lay_over(&mut def, self.executor.always_asks());
        def.visible = visible.or(def.visible);
        def.timeout_ms = timeout_ms.unwrap_or(def.timeout_ms);
        Self {
            definition_hash: definition_hash(&def),
            content_hash: self.content_hash.clone(),
            def: Arc::new(def),
            input: self.input.clone(),
            output: self.output.clone(),
            executor: Arc::clone(&self.executor),
            slug: Arc::clone(&self.slug),
            version: Arc::clone(&self.version),
            revision: stored.revision,
        }
    }
}

/// Translations without some of their texts: what the program says in German does not translate what a tenant says
/// instead.
fn without_texts(translations: &Value, texts: impl Iterator<Item = &'static str>) -> Option<Value> {
    let mut left = translations.clone();
    for text in texts {
        for language in left.as_object_mut()?.values_mut().filter_map(Value::as_object_mut) {
            language.shift_remove(text);
        }
    }
    Some(left)
}

impl Tool {
    /// The concurrency group that each call of it needs a slot in.
    pub fn group(&self) -> Option<&str> {
        self.def.execution.max_concurrency.map(|_| self.def.execution.concurrency_group.as_str())
    }

    /// Whether whoever makes this call has a slot for it.
    pub fn has_slot(&self, caller: &Caller) -> bool {
        self.group().is_some_and(|group| caller.chain.iter().any(|link| link.group.as_deref() == Some(group)))
    }

    /// How dangerous a call with this input is.
    #[must_use]
    pub fn level_of(&self, input: &Value) -> Option<Level> {
        self.executor.level_of(input).max(self.def.level)
    }

    /// Whether a call with this input changes nothing outside and asks nobody, by the tool's own word. What it calls has
    /// words of its own.
    #[must_use]
    pub fn is_harmless(&self, input: &Value) -> bool {
        let is_low = match self.level_of(input) {
            Some(Level::Read | Level::Draft) => true,
            Some(Level::Write | Level::Destructive) => false,
            None => self.def.is_pure(),
        };
        is_low && !self.executor.asks_outside()
    }

    /// What is known about caller, tool and tenant before there is an input.
    #[must_use]
    pub fn facts(&self, caller: &Caller, view: &View) -> Facts {
        Facts::of(&self.def, caller, view.setting("approve_all_writes"))
    }

    /// Whether a run that was cut off may be made again under the same idempotency key: it changes nothing, or the
    /// service that it calls is told the key and does a thing once.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.def.is_idempotent() || self.executor.sends_idempotency_key()
    }

    /// Whether running a call twice cannot be noticed.
    pub fn may_run_twice(&self) -> bool {
        let is_plain = self.executor.is_function() && !self.executor.is_resumable();
        is_plain && self.def.execution.is_pure && !self.def.has_effects()
    }

    /// The tool as every tenant has it, by the operator's word.
    fn for_everybody(&self, stored: &StoredOverride) -> Self {
        let mut tool = self.with(stored);
        Arc::make_mut(&mut tool.def).layer = self.def.layer;
        tool.revision = 0;
        tool
    }
}

/// Why the tools of the program cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error(transparent)]
    Duplicate(#[from] toolwright_sdk::DuplicateSlug),
    #[error("a tool claims the slug `{slug}`, which the engine has for one of its own: {place}")]
    Reserved { slug: Slug, place: String },
    #[error("the {part} schema of `{slug}` ({place}) cannot be used: {source}")]
    Schema { part: &'static str, slug: Slug, place: String, source: tw_schema::SchemaFault },
}

/// A tool in a tenant's catalogue.
#[derive(Clone, Debug)]
pub enum ToolEntry {
    /// Of the program, as the tenant has it.
    Code(Arc<Tool>),
    /// Of the tenant's own.
    Own(Arc<Own>),
}

impl ToolEntry {
    pub fn id(&self) -> ToolId {
        match self {
            Self::Code(tool) => tool.def.id,
            Self::Own(own) => own.stored.id,
        }
    }

    pub fn slug(&self) -> &Slug {
        match self {
            Self::Code(tool) => &tool.def.slug,
            Self::Own(own) => &own.stored.slug,
        }
    }

    pub fn status(&self) -> ToolStatus {
        match self {
            Self::Code(tool) => tool.def.status,
            Self::Own(own) => own.stored.switches.status,
        }
    }

    /// Whether what was saved last is other than what runs.
    pub fn has_draft(&self) -> bool {
        match self {
            Self::Code(_) => false,
            Self::Own(own) => own.has_draft(),
        }
    }

    pub fn is_active(&self) -> bool {
        match self {
            Self::Code(tool) => tool.def.is_active,
            Self::Own(own) => own.stored.switches.is_active,
        }
    }

    /// Whether nobody may call it until somebody has decided about what changed on the server it comes from.
    pub fn is_held(&self) -> bool {
        match self {
            Self::Code(_) => false,
            Self::Own(own) => own.stored.import.as_ref().is_some_and(|import| import.held),
        }
    }

    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        match self {
            Self::Code(tool) => tool.def.origin,
            Self::Own(own) => own.origin(),
        }
    }

    /// Whether the tool is in the catalogue of a tenant, or the reason why not.
    pub fn in_catalogue(&self, tenant: &TenantSlug) -> Result<(), Unlisted> {
        match self {
            Self::Code(tool) => tool.def.in_catalogue(tenant.as_str()),
            Self::Own(own) => own.in_catalogue(tenant.as_str()),
        }
    }

    /// Whether the tool is the tenant's own: it has revisions, and everything about it can be changed.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// The right that a call needs beside the one to run tools.
    pub fn required_permission(&self) -> Option<&str> {
        match self {
            Self::Code(tool) => tool.def.required_permission.as_ref().map(tw_model::Permission::as_str),
            Self::Own(own) => own.face(Side::Live).required_permission.as_deref(),
        }
    }

    /// The kind of a side, where this program does not know it.
    pub fn unknown_kind(&self, side: Side) -> Option<&str> {
        match self {
            Self::Code(_) => None,
            Self::Own(own) => own.face(side).unknown_kind(),
        }
    }

    /// What decides whether a side of it can be called at all: the one source of calls, lists and `explain`.
    pub fn switches(&self, tenant: &TenantSlug, side: Side) -> CallSwitches {
        let is_live = match self {
            Self::Code(_) => true,
            Self::Own(own) => own.stored.live.is_some(),
        };
        let status = match self.status() {
            // What was never published is a draft, whatever its status says.
            ToolStatus::Published if side == Side::Live && !is_live => ToolStatus::Draft,
            status => status,
        };
        CallSwitches {
            listed: self.in_catalogue(tenant),
            is_active: self.is_active(),
            is_held: self.is_held(),
            is_known_kind: self.unknown_kind(side).is_none(),
            status,
        }
    }

    /// The tools that it names, by the names it knows them by: in what runs or in what was saved last.
    pub fn calls(&self) -> Vec<&str> {
        match self {
            Self::Code(tool) => tool.executor.calls(),
            Self::Own(own) => own.calls().collect(),
        }
    }

    /// The tool of the tenant's own, or a refusal that says why one of the program is none.
    pub fn own(&self, otherwise: &str) -> Result<&Arc<Own>> {
        match self {
            Self::Own(own) => Ok(own),
            Self::Code(tool) => Err(Error::Conflict { why: format!("`{}` {otherwise}", tool.def.slug) }),
        }
    }
}

/// Tools by slug (in lower case), by id and by their other names.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    by_slug: HashMap<String, ToolEntry>,
    by_id: HashMap<ToolId, ToolEntry>,
    aliases: HashMap<String, ToolId>,
    /// In the order of their slugs, once somebody has asked.
    sorted: OnceLock<Arc<[ToolEntry]>>,
}

impl Tools {
    fn add(&mut self, tool: Arc<Tool>) {
        for alias in &tool.def.authored.aliases {
            self.aliases.entry(alias.to_ascii_lowercase()).or_insert(tool.def.id);
        }
        self.by_slug.insert(tool.def.slug.key(), ToolEntry::Code(Arc::clone(&tool)));
        self.by_id.insert(tool.def.id, ToolEntry::Code(tool));
    }

    /// As [`Tools::add`], for a tenant that may have a tool of its own under the same name.
    fn add_for(&mut self, tool: Arc<Tool>, tenant: &TenantSlug) {
        let key = tool.def.slug.key();
        let own = match self.by_slug.get(&key) {
            Some(ToolEntry::Own(own)) if is_of_others(&tool.def, tenant) => {
                Some(ToolEntry::Own(Arc::clone(own)))
            }
            _ => None,
        };
        self.add(tool);
        if let Some(own) = own {
            self.by_slug.insert(key, own);
        }
    }

    /// By id, slug or alias.
    pub fn get(&self, name: &str) -> Option<&ToolEntry> {
        if let Ok(id) = name.parse::<ToolId>() {
            return self.by_id.get(&id);
        }
        // Most names come in the case they were declared in, and mostly that is lower case.
        self.by_slug.get(name).or_else(|| {
            let key = name.to_ascii_lowercase();
            self.by_slug.get(&key).or_else(|| self.by_id.get(self.aliases.get(&key)?))
        })
    }

    pub fn sorted(&self) -> &Arc<[ToolEntry]> {
        self.sorted.get_or_init(|| {
            let mut entries: Vec<_> = self.by_slug.values().cloned().collect();
            entries.sort_by(|a, b| a.slug().cmp(b.slug()));
            entries.into()
        })
    }

    /// Whether somebody looking for `name` would find something else than `id`.
    pub fn takes(&self, name: &str, id: ToolId) -> bool {
        self.get(name).is_some_and(|entry| entry.id() != id)
    }

    /// The tools with a name that could be taken for this one.
    pub fn looking_like(&self, name: &str) -> impl Iterator<Item = &ToolEntry> {
        let slugs = self.by_slug.iter().filter(move |(slug, _)| look_alike(slug, name));
        let aliases = self.aliases.iter().filter(move |(alias, _)| look_alike(alias, name));
        slugs.map(|(_, entry)| entry).chain(aliases.filter_map(|(_, id)| self.by_id.get(id)))
    }

    /// Forgets a tool of the tenant's own.
    fn forget(&mut self, id: ToolId) {
        if let Some(ToolEntry::Own(before)) = self.by_id.remove(&id) {
            let key = before.stored.slug.key();
            if matches!(self.by_slug.get(&key), Some(ToolEntry::Own(own)) if own.stored.id == id) {
                self.by_slug.remove(&key);
            }
            self.aliases.retain(|_, of| *of != id);
        }
    }

    /// Takes in a tool of the tenant's own as it is now.
    fn put(&mut self, read: ReadTool, tenant: &TenantSlug, kinds: &dyn Kinds) {
        let stored = match read {
            ReadTool::Tool(stored) => stored,
            // One that cannot be read must not take the others with it, nor go on as it was.
            ReadTool::Unreadable { id, why } => {
                self.forget(id);
                return left_out(id, &why);
            }
        };
        let (id, key) = (stored.id, stored.slug.key());
        self.forget(id);
        if stored.is_deleted {
            return;
        }
        let own = match Own::read(stored, kinds) {
            Ok(own) => own,
            Err(error) => return left_out(id, &error),
        };
        // A tool of the program that the tenant can see is never hidden behind one of its own.
        let hidden =
            matches!(self.by_slug.get(&key), Some(ToolEntry::Code(code)) if !is_of_others(&code.def, tenant));
        for alias in own.aliases() {
            let alias = alias.to_ascii_lowercase();
            if matches!(self.by_slug.get(&alias), Some(ToolEntry::Code(code)) if is_of_others(&code.def, tenant))
            {
                self.by_slug.remove(&alias);
            }
            self.aliases.insert(alias, id);
        }
        let entry = ToolEntry::Own(Arc::new(own));
        if !hidden {
            self.by_slug.insert(key, entry.clone());
        }
        self.by_id.insert(id, entry);
    }
}

fn left_out(id: ToolId, error: &(dyn std::error::Error + 'static)) {
    tracing::error!(%id, error, "a tool is left out");
}

/// Whether a tool of the program is there for other tenants only.
fn is_of_others(def: &ToolDef, tenant: &TenantSlug) -> bool {
    def.in_catalogue(tenant.as_str()) == Err(Unlisted::NotForThisTenant)
}

/// A tenant as of one epoch: its settings, and its tools.
#[derive(Debug)]
pub struct View {
    pub epoch: i64,
    pub tenant: Tenant,
    pub tools: Arc<Tools>,
    layers: Layers,
}

/// What is said about the tools of the program: to everybody, and by the tenant.
#[derive(Debug, Default, PartialEq)]
struct Layers {
    everybody: Vec<StoredOverride>,
    tenant: Vec<StoredOverride>,
}

impl View {
    pub fn setting(&self, name: &str) -> bool {
        self.tenant.settings.get(name).and_then(serde_json::Value::as_bool).unwrap_or(false)
    }

    pub fn slug(&self) -> &TenantSlug {
        &self.tenant.slug
    }

    /// Whether the operator has switched a tool of the program off for every tenant.
    pub fn is_off_for_everybody(&self, slug: &Slug) -> bool {
        let of_tool = |stored: &&StoredOverride| stored.slug.eq_ignore_ascii_case(slug.as_str());
        let said = self.layers.everybody.iter().find(of_tool);
        said.is_some_and(|stored| stored.layer.enabled == Some(false))
    }
}

/// The views of all tenants that were asked for, each replaced when its epoch moves on.
#[derive(Debug)]
pub struct Catalogue {
    store: Store,
    code: Arc<Tools>,
    schemas: SchemaCache,
    kinds: Arc<dyn Kinds>,
    views: RwLock<HashMap<TenantId, Arc<View>>>,
}

impl Catalogue {
    pub fn new(
        store: Store,
        registered: &[&CodeTool],
        own: Vec<OwnTool>,
        schemas: SchemaCache,
        kinds: Arc<dyn Kinds>,
    ) -> Result<Self, CatalogueError> {
        let mut code = Tools::default();
        for OwnTool { def, executor } in own {
            code.add(Arc::new(prepare(def, executor, "the engine", &schemas)?));
        }
        for tool in registered {
            let (def, place) = ((tool.define)(), tool.location.to_string());
            if code.get(def.slug.as_str()).is_some() {
                return Err(CatalogueError::Reserved { slug: def.slug, place });
            }
            let executor = Arc::new(Function { run: tool.run, calls: tool.calls });
            code.add(Arc::new(prepare(def, executor, &place, &schemas)?));
        }
        Ok(Self { store, code: Arc::new(code), schemas, kinds, views: RwLock::default() })
    }

    /// The tenant as of `epoch` or later.
    pub async fn view(&self, tenant: TenantId, epoch: i64) -> Result<Arc<View>> {
        let known = self.known(tenant);
        if let Some(view) = known.filter(|view| epoch <= view.epoch) {
            return Ok(view);
        }
        self.reload(tenant).await
    }

    fn known(&self, tenant: TenantId) -> Option<Arc<View>> {
        self.views.read().unwrap_or_else(PoisonError::into_inner).get(&tenant).cloned()
    }

    /// Reads what has changed. The epoch is read first, so what is read after it is at least as new.
    pub async fn reload(&self, tenant: TenantId) -> Result<Arc<View>> {
        let known = self.known(tenant);
        let scope = self.store.tenant(tenant);
        let epoch = scope.epoch().await.map_err(Error::store("reading the tenant's epoch"))?;
        let row = scope.tenant().await.map_err(Error::store("reading the tenant"))?;
        let row = row.ok_or(Error::NotFound { what: "tenant" })?;
        let everybody = self.store.tenant(TenantId::GLOBAL).overrides().await;
        let layers = Layers {
            everybody: everybody.map_err(Error::store("reading overrides"))?,
            tenant: scope.overrides().await.map_err(Error::store("reading overrides"))?,
        };
        let since = known.as_ref().map_or(-1, |view| view.epoch);
        let changed = scope.tools_changed_since(since).await.map_err(Error::store("reading tools"))?;
        let same_layer = known.as_ref().is_some_and(|view| view.layers == layers);
        let tools = match &known {
            Some(view) if same_layer && changed.is_empty() => Arc::clone(&view.tools),
            Some(view) => self.changed(view, &layers, changed, &row.slug),
            None => self.overlay(Tools::clone(&self.code), &layers, changed, &row.slug),
        };
        let view = Arc::new(View { epoch, tenant: row, tools, layers });
        let mut views = self.views.write().unwrap_or_else(PoisonError::into_inner);
        let newest = views.entry(tenant).or_insert_with(|| Arc::clone(&view));
        if newest.epoch < view.epoch {
            *newest = Arc::clone(&view);
        }
        Ok(Arc::clone(newest))
    }

    /// The tools of an older view with what has changed since.
    fn changed(
        &self,
        before: &View,
        layers: &Layers,
        changed: Vec<ReadTool>,
        tenant: &TenantSlug,
    ) -> Arc<Tools> {
        let mut tools = Tools::clone(&before.tools);
        for gone in before.layers.everybody.iter().chain(&before.layers.tenant) {
            if let Some(ToolEntry::Code(code)) = self.code.get(&gone.slug) {
                tools.add_for(Arc::clone(code), tenant);
            }
        }
        self.overlay(tools, layers, changed, tenant)
    }

    /// The tools with a tenant's overrides on top, and its own beside them.
    fn overlay(
        &self,
        mut tools: Tools,
        layers: &Layers,
        own: Vec<ReadTool>,
        tenant: &TenantSlug,
    ) -> Arc<Tools> {
        if *layers == Layers::default() && own.is_empty() && tools.by_id.len() == self.code.by_id.len() {
            return Arc::clone(&self.code);
        }
        tools.sorted = OnceLock::new();
        // An override outlives the tool it was made for, should a later version drop that.
        for stored in &layers.everybody {
            if let Some(ToolEntry::Code(tool)) = self.code.get(&stored.slug) {
                tools.add_for(Arc::new(tool.for_everybody(stored)), tenant);
            }
        }
        for stored in &layers.tenant {
            if let Some(ToolEntry::Code(tool)) = tools.get(&stored.slug) {
                let tool = Arc::new(tool.with(stored));
                tools.add_for(tool, tenant);
            }
        }
        for read in own {
            tools.put(read, tenant, &*self.kinds);
        }
        Arc::new(tools)
    }

    /// The tool of the program as its author wrote it.
    pub fn as_written(&self, id: ToolId) -> Option<&Arc<Tool>> {
        match self.code.by_id.get(&id) {
            Some(ToolEntry::Code(tool)) => Some(tool),
            _ => None,
        }
    }

    /// A tool ready to be called: what is live, or what was saved last.
    pub fn ready(&self, entry: &ToolEntry, side: Side) -> Result<Option<Arc<Tool>>> {
        match entry {
            ToolEntry::Code(tool) => Ok(Some(Arc::clone(tool))),
            ToolEntry::Own(own) => own.ready(side, &self.schemas, &*self.kinds),
        }
    }

    /// A tool of the tenant's own as it was under another number.
    pub fn ready_at(&self, own: &Own, content: &str, version: &str) -> Result<Arc<Tool>> {
        own.prepare(content, version, &self.schemas, &*self.kinds)
    }

    /// A schema that was taken from a tool before.
    pub fn schema(&self, document: &Value) -> Result<Schema> {
        self.schemas.get_or_compile(document).map_err(|fault| {
            Error::internal("reading a schema", format!("the schema of a pending call: {fault}"))
        })
    }

    pub fn kinds(&self) -> &Arc<dyn Kinds> {
        &self.kinds
    }
}

fn prepare(
    def: ToolDef,
    executor: Arc<dyn Executor>,
    place: &str,
    schemas: &SchemaCache,
) -> Result<Tool, CatalogueError> {
    let compile = |part, document| {
        schemas.get_or_compile(document).map_err(|source| CatalogueError::Schema {
            part,
            slug: def.slug.clone(),
            place: place.to_owned(),
            source,
        })
    };
    let input = compile("input", &def.input_schema)?;
    let output = def.output_schema.as_deref().map(|schema| compile("output", schema)).transpose()?;
    Ok(Tool {
        definition_hash: definition_hash(&def),
        content_hash: None,
        input,
        output,
        executor,
        slug: Arc::from(def.slug.as_str()),
        version: Arc::from(def.version.to_string()),
        revision: 0,
        def: Arc::new(def),
    })
}

fn definition_hash(def: &ToolDef) -> String {
    let mut bound = json!({
        // What people of other languages read binds nobody.
        "input_schema": tw_schema::without_translations(&def.input_schema),
        "output_schema": def.output_schema.as_deref().map(tw_schema::without_translations),
        "implementation": def.implementation,
        "level": def.level,
        "policy": def.policy,
        "version": def.version.to_string(),
    });
    // What is written down outside the program decides what runs as well.
    if def.layer == Layer::TenantCustom {
        bound["settings"] = def.authored.implementation.clone();
        bound["execution_spec"] = json!(def.authored.execution_spec);
    }
    tw_schema::digest(&bound).to_string()
}
