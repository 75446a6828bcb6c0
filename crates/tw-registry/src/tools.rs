//! Looking at the catalogue.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_sdk::{CodeTool, spawn_yielding};
use tw_base::{Error, PageRequest, Result};
use tw_identity::rights::{Permit, ReadHistory, ReadTools};
use tw_model::{Caller, Implementation, Mode, Slug, TenantId, ToolDef, ToolId, Unlisted};
use tw_policy::{Unavailable, holds_required};
use tw_schema::Fault;

use crate::{
    Registry,
    catalogue::{Face, Side, ToolEntry, View},
};

/// Which tools.
#[derive(Clone, Debug, Default)]
pub struct ToolFilter {
    pub status: Option<String>,
    pub implementation_type: Option<String>,
    pub tool_type: Option<String>,
    pub kind: Option<String>,
    pub origin: Option<String>,
    pub category: Option<String>,
    pub available: Option<bool>,
    /// Words to be found in slug, name or description.
    pub q: Option<String>,
}

/// The `tool_type` of what is part of the program, also under a name of a tenant's own.
const BUILT_IN: &str = "built_in";

fn tool_type(face: &Face) -> &'static str {
    if face.builtin_key.is_some() {
        return BUILT_IN;
    }
    Implementation::parse(&face.implementation_type).unwrap_or(Implementation::Unknown).tool_type()
}

/// A tool as a caller sees it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub def: Arc<ToolDef>,
    /// `Err` says why it cannot be called.
    pub available: Result<(), &'static str>,
    /// Names the tool as it stands, for those who want to change it only as they saw it.
    pub mark: String,
    /// How often it was saved.
    pub revision: i64,
    /// What its kind is called, also one that this program does not know.
    pub implementation_type: String,
    /// The wire's word for where it comes from. It is derived, and nobody can set it.
    pub tool_type: &'static str,
    /// The tool of the program that it is another name for.
    pub builtin_key: Option<String>,
    pub tenant: TenantId,
}

/// A tool that was saved, and what its author should know about it. Nothing of that keeps it from running.
#[derive(Clone, Debug)]
pub struct Saved {
    pub tool: Listed,
    pub warnings: Vec<Fault>,
}

impl Listed {
    pub(crate) fn new(
        entry: &ToolEntry,
        caller: &Caller,
        available: Result<(), &'static str>,
    ) -> Result<Self> {
        let (side, tenant) = (side_of(caller), caller.tenant);
        Ok(match entry {
            ToolEntry::Code(tool) => Self {
                def: Arc::clone(&tool.def),
                available,
                mark: format!("{}-{}", tool.def.version, tool.revision),
                revision: tool.revision,
                implementation_type: tool.def.implementation.type_name().to_owned(),
                tool_type: BUILT_IN,
                builtin_key: None,
                tenant,
            },
            ToolEntry::Own(own) => {
                let face = own.face(side);
                Self {
                    def: Arc::new(own.def(side)?),
                    available,
                    mark: own.mark(),
                    revision: own.stored.revision,
                    implementation_type: face.implementation_type.clone(),
                    tool_type: tool_type(face),
                    builtin_key: face.builtin_key.clone(),
                    tenant,
                }
            }
        })
    }
}

impl Listed {
    /// The input as fields: as it was authored, or as the schema can be told. `None` where a schema says
    /// more than fields can.
    #[must_use]
    pub fn fields(&self) -> Option<Value> {
        shown_fields(self.def.authored.fields.as_ref(), &self.def.input_schema)
    }
}

pub(crate) fn shown_fields(authored: Option<&Value>, schema: &Value) -> Option<Value> {
    let derived = || tw_schema::schema_to_fields(schema).ok().map(|fields| json!(fields));
    authored.cloned().or_else(derived)
}

impl Registry {
    /// What tools of the kind `internal` can be made of, by slug.
    pub fn builtins(
        &self,
        permit: &Permit<ReadHistory>,
        page: &PageRequest,
    ) -> Result<tw_base::Page<Arc<ToolDef>>> {
        self.of_the_program("builtins", |tool| tool.builtin, permit, page)
    }

    /// What tools of the kind `function` can be made of, by slug.
    pub fn functions(
        &self,
        permit: &Permit<ReadHistory>,
        page: &PageRequest,
    ) -> Result<tw_base::Page<Arc<ToolDef>>> {
        self.of_the_program("functions", |tool| tool.callable, permit, page)
    }

    fn of_the_program(
        &self,
        list: &str,
        which: impl Fn(&CodeTool) -> bool,
        permit: &Permit<ReadHistory>,
        page: &PageRequest,
    ) -> Result<tw_base::Page<Arc<ToolDef>>> {
        let registered = toolwright_sdk::registered().unwrap_or_default();
        let mut found: Vec<_> = registered
            .into_iter()
            .filter(|tool| which(tool))
            .filter_map(|tool| self.catalogue.as_written((tool.define)().id))
            .map(|tool| Arc::clone(&tool.def))
            .collect();
        found.sort_by(|one, other| one.slug.cmp(&other.slug));
        let total = i64::try_from(found.len()).ok();
        let place = format!("{list}/{}", permit.caller().tenant);
        if let Some(after) = self.secrets.open_cursor(&place, page)? {
            let at = found.iter().position(|def| def.id.uuid() == after);
            found.drain(..at.map_or(0, |at| at + 1));
        }
        found.drain(..found.len().min(usize::try_from(page.offset).unwrap_or(0)));
        Ok(self.secrets.page(found, page, &place, total, |def| def.id.uuid()))
    }
}

impl Registry {
    /// The tools the caller may see, by slug. Returns the page, whether there is more, and how many
    /// there are in all.
    pub async fn tools(
        &self,
        permit: &Permit<ReadTools>,
        filter: &ToolFilter,
        page: &PageRequest,
    ) -> Result<tw_base::Page<Listed>> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let place = format!("tools/{}/{}", caller.tenant, caller.principal.label());
        let after = match self.secrets.open_cursor(&place, page)? {
            Some(after) => Some(self.slug_at(&view, ToolId::from_uuid(after)).await?),
            None => None,
        };
        let count = |number: i64| usize::try_from(number).unwrap_or(0);
        let part = Part { after, offset: count(page.offset), limit: count(page.limit + 1) };
        let (filter, caller) = (filter.clone(), caller.clone());
        // A tenant may have a hundred thousand. How many such walks there are at once, the door bounds.
        let walk = spawn_yielding(move || part.of(&view, &caller, &filter));
        let (listed, total) = walk.await.map_err(|error| Error::internal("listing tools", error))?;
        Ok(self.secrets.page(listed, page, &place, i64::try_from(total).ok(), |listed| listed.def.id.uuid()))
    }

    /// Where a list goes on: after the slug of a tool that may be gone by now.
    async fn slug_at(&self, view: &View, id: ToolId) -> Result<Slug> {
        if let Some(entry) = view.tools.get(&id.to_string()) {
            return Ok(entry.slug().clone());
        }
        let scope = self.store.tenant(view.tenant.id);
        let slug = scope.tool_slug(id).await.map_err(Error::store("reading a tool"))?;
        slug.ok_or_else(|| Error::invalid("/cursor", tw_schema::Violation::cursor_stale()))
    }

    /// One tool, by id, slug or alias.
    pub async fn tool(&self, permit: &Permit<ReadTools>, name: &str) -> Result<Listed> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        self.listed(&view, caller, name)
    }

    pub(crate) fn listed(&self, view: &View, caller: &Caller, name: &str) -> Result<Listed> {
        let (entry, available) = find(view, caller, name)?;
        Listed::new(entry, caller, available)
    }
}

/// A part of the list of tools.
struct Part {
    after: Option<Slug>,
    offset: usize,
    limit: usize,
}

impl Part {
    /// The tools of the part, and how many there are in all.
    fn of(&self, view: &View, caller: &Caller, filter: &ToolFilter) -> (Vec<Listed>, usize) {
        let side = side_of(caller);
        let mut found: Vec<(&ToolEntry, Result<(), &'static str>)> = Vec::new();
        for entry in view.tools.sorted().iter() {
            if let Some(available) = seen(entry, caller, view)
                && filter.takes(entry, side, available.is_ok())
            {
                found.push((entry, available));
            }
        }
        let from = match &self.after {
            Some(after) => found.partition_point(|(entry, _)| entry.slug() <= after),
            None => 0,
        };
        let readable = found.iter().skip(from + self.offset).filter_map(|(entry, available)| {
            // One that cannot be read must not take the list with it.
            Listed::new(entry, caller, *available)
                .inspect_err(|error| {
                    let (slug, error) = (entry.slug(), error as &dyn std::error::Error);
                    tracing::error!(%slug, error, "a tool is left out of the list");
                })
                .ok()
        });
        (readable.take(self.limit).collect(), found.len())
    }
}

/// The tool as the caller finds it in the catalogue.
pub(crate) fn find<'v>(
    view: &'v View,
    caller: &Caller,
    name: &str,
) -> Result<(&'v ToolEntry, Result<(), &'static str>)> {
    let missing = || Error::ToolNotFound { tool: name.to_owned() };
    let entry = view.tools.get(name).ok_or_else(missing)?;
    let available = seen(entry, caller, view).ok_or_else(missing)?;
    Ok((entry, available))
}

/// Whoever writes tools sees what was saved last, everybody else what runs.
pub(crate) fn side_of(caller: &Caller) -> Side {
    if writes_tools(caller) { Side::Draft } else { Side::Live }
}

fn writes_tools(caller: &Caller) -> bool {
    caller.permissions.has("tools.tenant.update") && !caller.principal.is_agent()
}

/// Whether the caller sees the tool at all, and whether it could be called. What a call is refused for must not be
/// shown as available.
pub fn seen(entry: &ToolEntry, caller: &Caller, view: &View) -> Option<Result<(), &'static str>> {
    let available = entry.switches(view.slug(), Side::Live).available(Mode::Production);
    match available {
        // A tool of other tenants does not exist here, for nobody. One's own can be taken back from them.
        Err(Unavailable::Hidden(Unlisted::NotForThisTenant)) if !entry.is_own() => None,
        // Who may switch it on has to be able to see it. An agent never may, whatever its role.
        Err(why @ Unavailable::Hidden(_)) => writes_tools(caller).then_some(Err(why.as_str())),
        _ if !holds_required(caller, entry.required_permission()) => {
            // Whoever made a tool must be able to unmake it.
            let author = entry.is_own() && writes_tools(caller);
            author.then_some(Err("not_permitted"))
        }
        available => Some(available.map_err(Unavailable::as_str)),
    }
}

impl ToolFilter {
    fn takes(&self, entry: &ToolEntry, side: Side, available: bool) -> bool {
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        let of_kind = match entry {
            ToolEntry::Code(tool) => {
                let def = &tool.def;
                is(&self.implementation_type, def.implementation.type_name())
                    && is(&self.tool_type, BUILT_IN)
                    && is(&self.kind, def.layer.as_str())
                    && is(&self.origin, def.origin.as_str())
                    && is(&self.category, &def.category)
                    && self.mentioned([def.slug.as_str(), &def.name, &def.description])
            }
            ToolEntry::Own(own) => {
                let face = own.face(side);
                !face.is_legacy_clone()
                    && is(&self.implementation_type, &face.implementation_type)
                    && is(&self.tool_type, tool_type(face))
                    && is(&self.kind, "tenant_custom")
                    && is(&self.origin, entry.origin().as_str())
                    && is(&self.category, &face.category)
                    && self.mentioned([own.stored.slug.as_str(), &face.name, &face.description])
            }
        };
        of_kind
            && is(&self.status, entry.status().as_str())
            && self.available.is_none_or(|wanted| wanted == available)
    }

    fn mentioned(&self, texts: [&str; 3]) -> bool {
        let Some(words) = self.q.as_deref() else { return true };
        let text = texts.join(" ").to_lowercase();
        words.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}
