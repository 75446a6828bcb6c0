//! Making and changing tools.
//!
//! Whatever door it comes through, a change is read, laid over what is stored, checked as a whole and
//! written only if nobody else has written in between.

mod draft;
mod history;

use std::sync::Arc;

use serde_json::{Value, json};
use tw_model::{
    Actor, Caller, Definition, Layer, Level, Listing, Policy, Slug, Switches, Timestamp, ToolDef, ToolId,
    ToolStatus, redacted,
};
use tw_schema::{Digest, Fault, canonical, canonical_manifest, canonical_patch};
use tw_store::{By, Changed, Claim, Left, NewAudit, Note, Override, StoredTool, moment_after};

use self::draft::Sent;
pub use self::history::{Compared, History, UsedBy};
use super::tools::{Listed, find, shown_fields};
use crate::{
    Engine,
    catalogue::{Entry, View},
    error::{Error, Result},
    rights::{CreateTools, DeleteTools, Permit, PublishTools, Right, UpdateTools},
};

/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;
const VERSION_FIRST: &str = "1.0.0";
/// A number stands in headers, paths and file names.
const VERSION_LEN_MAX: usize = 64;

/// How a tool has to be found for a change to be made, and who asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The mark the tool had when it was read; `None` for however it is.
    pub mark: Option<&'a str>,
    pub request_id: Option<&'a str>,
    /// Who it is that changes something, where that is not whoever's right it is done by.
    pub actor: Option<&'a Actor>,
}

/// Who did it, for the audit log and the history.
fn by(caller: &Caller, asked: Asked<'_>) -> By {
    let by = super::by(caller, asked.request_id);
    match asked.actor {
        None => by,
        Some(actor) => By { actor: serde_json::to_string(actor).expect("an actor is plain JSON"), ..by },
    }
}

/// Names a tool as it stands.
pub(super) fn mark(stored: &StoredTool) -> String {
    format!("{}-{}-{:x}", stored.version, stored.revision, stored.updated.micros())
}

impl Engine {
    /// Makes a tool: a draft, or with `"publish": true` one that is live at once.
    pub async fn create_tool(
        &self,
        permit: &Permit<CreateTools>,
        body: &Value,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        if body.get("publish") == Some(&Value::Bool(true)) {
            needs::<PublishTools>(caller)?;
        }
        let body = body.clone();
        let new = off_the_runtime(move || read_new(&body)).await??;
        self.insert(caller, new, asked).await
    }

    /// Makes a tool like another one: a draft under another slug.
    pub async fn clone_tool(
        &self,
        permit: &Permit<CreateTools>,
        name: &str,
        body: &Value,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, _) = find(&view, caller, name)?;
        let mut sent = Sent::new(members(body)?);
        let slug = read_slug(&mut sent);
        let mut renamed = Definition::default();
        sent.rename(&mut renamed);
        sent.refuse_unknown();
        if slug.is_none() && sent.faults.iter().all(|fault| fault.path != "/slug") {
            sent.say("/slug", "is needed");
        }
        faultless(sent.faults)?;
        let slug = slug.ok_or_else(|| Error::invalid("/slug", "is needed"))?;
        let Entry::Own(own) = entry else {
            return Err(Error::Conflict {
                why: "a tool that is part of the program cannot be cloned: what it runs is not written down"
                    .to_owned(),
            });
        };
        let mut definition: Definition = parse(&own.stored.definition)?;
        // A name stands for one tool.
        definition.authored.aliases.clear();
        if !renamed.name.is_empty() {
            definition.name = renamed.name;
        }
        checked(&slug, definition.clone()).await?;
        let switches = Switches { status: ToolStatus::Draft, ..own.stored.switches.clone() };
        let new = New { slug, definition, switches, version: VERSION_FIRST.to_owned(), publish: false };
        self.insert(caller, new, asked).await
    }

    async fn insert(&self, caller: &Caller, new: New, asked: Asked<'_>) -> Result<Listed> {
        let New { slug, definition, switches, version, publish } = new;
        let id = ToolId::new();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        is_free(&view, id, &slug)?;
        names_are_free(&view, id, &definition)?;
        let text = as_text(&definition);
        let now = Timestamp::now();
        let by = by(caller, asked);
        let mut stored = StoredTool {
            id,
            slug: slug.clone(),
            switches,
            definition: text,
            version,
            live: None,
            live_version: None,
            published: None,
            revision: 1,
            updated: now,
            created: now,
            created_by: by.actor.clone(),
            is_deleted: false,
        };
        let mut notes = vec![Note::Save];
        if publish {
            go_live(&mut stored);
            notes.push(Note::Publish);
        }
        let audit = NewAudit {
            action: if publish { "tool.created_and_published" } else { "tool.created" }.to_owned(),
            object: format!("tool:{slug}"),
            before: None,
            after: Some(audited(&stored)),
            note: None,
        };
        let hash = content_hash(&stored.definition);
        let is_taken_by = |other: &StoredTool| shares_a_name(&stored, other);
        let claim = Some(Claim { free_at: view.epoch, is_taken_by: &is_taken_by });
        let left = Left { claim, notes: &notes, content_hash: &hash, audit };
        let scope = self.inner.store.tenant(caller.tenant);
        scope.insert_tool(&stored, left, &by).await.map_err(|error| match error {
            tw_store::Error::Taken { what: "slug" } => taken(&slug),
            error => Error::store("making a tool")(error),
        })?;
        self.after_change(caller, &id.to_string()).await
    }

    /// Changes a tool. Of the tenant's own everything can be changed, and what it says is a draft until
    /// it is published; over one that is part of the program the change is laid, and holds at once.
    pub async fn change_tool(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        body: &Value,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, _) = find(&view, caller, name)?;
        match entry {
            Entry::Code(tool) => self.lay_over(caller, &tool.def, body, asked).await,
            Entry::Own(own) => {
                let publish = body.get("publish") == Some(&Value::Bool(true));
                if publish {
                    needs::<PublishTools>(caller)?;
                }
                self.save(caller, own.stored.id, asked, body, publish).await
            }
        }
    }

    async fn save(
        &self,
        caller: &Caller,
        id: ToolId,
        asked: Asked<'_>,
        body: &Value,
        publish: bool,
    ) -> Result<Listed> {
        for _ in 0..TRIES {
            let (stored, view) = self.stored(caller, id, asked).await?;
            let (mut after, definition) = with_change(&stored, &view, body)?;
            let text = checked(&stored.slug, definition).await?;
            after.definition = text;
            after.revision += 1;
            let mut notes = vec![Note::Save];
            if publish {
                go_live(&mut after);
                notes.push(Note::Publish);
            }
            let action = if publish { "tool.changed_and_published" } else { "tool.changed" };
            let step = Step { notes: &notes, action, names_free_at: Some(view.epoch) };
            if self.write(caller, stored, after, step, asked).await? {
                return self.after_change(caller, &id.to_string()).await;
            }
        }
        Err(busy())
    }

    /// Makes what was saved last what runs.
    pub async fn publish_tool(
        &self,
        permit: &Permit<PublishTools>,
        name: &str,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let id = self.own_id(caller, name, "is published with the program it is part of").await?;
        for _ in 0..TRIES {
            let (stored, _) = self.stored(caller, id, asked).await?;
            let definition: Definition = parse(&stored.definition)?;
            checked(&stored.slug, definition).await?;
            let mut after = stored.clone();
            go_live(&mut after);
            let step = Step { notes: &[Note::Publish], action: "tool.published", names_free_at: None };
            if self.write(caller, stored, after, step, asked).await? {
                return self.after_change(caller, &id.to_string()).await;
            }
        }
        Err(busy())
    }

    /// Gives what was saved last a new number, greater than the one it has.
    pub async fn new_version(
        &self,
        permit: &Permit<PublishTools>,
        name: &str,
        number: &str,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let id = self.own_id(caller, name, "has the number its author gave it").await?;
        let wanted = read_version(number).map_err(|message| Error::invalid("/new_version", message))?;
        for _ in 0..TRIES {
            let (stored, _) = self.stored(caller, id, asked).await?;
            let current = semver::Version::parse(&stored.version);
            // Build metadata says nothing about which of two comes first.
            if current.is_ok_and(|current| wanted.cmp_precedence(&current).is_le()) {
                let why =
                    format!("the new version has to be greater than {}, and {number} is not", stored.version);
                return Err(Error::Conflict { why });
            }
            let mut after = stored.clone();
            after.version = wanted.to_string();
            let step = Step { notes: &[Note::Version], action: "tool.versioned", names_free_at: None };
            if self.write(caller, stored, after, step, asked).await? {
                return self.after_change(caller, &id.to_string()).await;
            }
        }
        Err(busy())
    }

    /// Makes an old revision the newest save. What runs stays what it is.
    pub async fn restore_tool(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        revision: i64,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let id = self.own_id(caller, name, "has no revisions").await?;
        let scope = self.inner.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let (stored, view) = self.stored(caller, id, asked).await?;
            let snapshot =
                scope.tool_snapshot(id, revision).await.map_err(Error::store("reading a revision"))?;
            let snapshot = snapshot.ok_or(Error::NotFound { what: "revision of this tool" })?;
            let definition: Definition = parse(&snapshot.content)?;
            names_are_free(&view, id, &definition)?;
            let text = checked(&stored.slug, definition).await?;
            let mut after = stored.clone();
            after.definition = text;
            after.revision += 1;
            let names_free_at = Some(view.epoch);
            let step = Step { notes: &[Note::Save], action: "tool.restored", names_free_at };
            if self.write(caller, stored, after, step, asked).await? {
                return self.after_change(caller, &id.to_string()).await;
            }
        }
        Err(busy())
    }

    /// Removes a tool of the tenant's own, or the tenant's override of one that is part of the program.
    pub async fn remove_tool(
        &self,
        permit: &Permit<DeleteTools>,
        name: &str,
        asked: Asked<'_>,
    ) -> Result<()> {
        let caller = permit.caller();
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, available) = find(&view, caller, name)?;
        match entry {
            Entry::Code(tool) => {
                let listed = Listed::new(entry, super::tools::side_of(caller), available)?;
                is_as_read(&listed.mark, asked)?;
                let scope = self.inner.store.tenant(caller.tenant);
                let by = by(caller, asked);
                let seen = asked.mark.map(|_| listed.revision);
                let removed = scope.remove_override(&tool.def.slug, seen, &by).await;
                match removed.map_err(Error::store("removing an override"))? {
                    Changed::Done(()) => {}
                    Changed::Stale(()) => return Err(Error::Stale { what: "tool" }),
                    Changed::Missing => {
                        let why = "the tool is part of the program and cannot be removed; \
                            `enabled: false` hides it";
                        return Err(Error::Conflict { why: why.to_owned() });
                    }
                }
            }
            Entry::Own(own) => {
                let id = own.stored.id;
                let users = history::users_of(&view, entry);
                if !users.is_empty() {
                    let names: Vec<_> = users.iter().map(|user| user.slug.as_str()).collect();
                    let why = format!("the tool is used by {}", names.join(", "));
                    return Err(Error::Conflict { why });
                }
                self.remove_own(caller, id, asked).await?;
            }
        }
        self.inner.identity.epochs.ask(caller.tenant).await?;
        Ok(())
    }

    async fn remove_own(&self, caller: &Caller, id: ToolId, asked: Asked<'_>) -> Result<()> {
        for _ in 0..TRIES {
            let (stored, _) = self.stored(caller, id, asked).await?;
            let after = StoredTool { is_deleted: true, ..stored.clone() };
            let step = Step { notes: &[], action: "tool.removed", names_free_at: None };
            if self.write(caller, stored, after, step, asked).await? {
                return Ok(());
            }
        }
        Err(busy())
    }

    /// The id of a tool of the tenant's own.
    async fn own_id(&self, caller: &Caller, name: &str, otherwise: &str) -> Result<ToolId> {
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        match find(&view, caller, name)?.0 {
            Entry::Own(own) => Ok(own.stored.id),
            Entry::Code(tool) => Err(Error::Conflict { why: format!("`{}` {otherwise}", tool.def.slug) }),
        }
    }

    /// The tool as it is now, if it is still as it was read, and the tenant as it is at least by now.
    async fn stored(&self, caller: &Caller, id: ToolId, asked: Asked<'_>) -> Result<(StoredTool, Arc<View>)> {
        let scope = self.inner.store.tenant(caller.tenant);
        let stored = scope.custom_tool(id).await.map_err(Error::store("reading a tool"))?;
        let stored = stored.ok_or_else(|| Error::ToolNotFound { tool: id.to_string() })?;
        is_as_read(&mark(&stored), asked)?;
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        Ok((stored, view))
    }

    /// Writes a change, unless somebody else came first: then `false`.
    async fn write(
        &self,
        caller: &Caller,
        before: StoredTool,
        mut after: StoredTool,
        step: Step<'_>,
        asked: Asked<'_>,
    ) -> Result<bool> {
        let Step { notes, action, names_free_at } = step;
        after.updated = moment_after(before.updated);
        let audit = NewAudit {
            action: action.to_owned(),
            object: format!("tool:{}", after.slug),
            before: Some(audited(&before)),
            after: (!after.is_deleted).then(|| audited(&after)),
            note: None,
        };
        let hash = content_hash(&after.definition);
        let is_taken_by = |other: &StoredTool| shares_a_name(&after, other);
        let claim = names_free_at.map(|free_at| Claim { free_at, is_taken_by: &is_taken_by });
        let left = Left { claim, notes, content_hash: &hash, audit };
        let scope = self.inner.store.tenant(caller.tenant);
        let by = by(caller, asked);
        let changed = scope.update_tool(&after, before.updated, left, &by).await;
        match changed.map_err(Error::store("changing a tool"))? {
            Changed::Done(()) => Ok(true),
            Changed::Stale(()) | Changed::Missing if asked.mark.is_some() => {
                Err(Error::Stale { what: "tool" })
            }
            Changed::Stale(()) | Changed::Missing => Ok(false),
        }
    }

    /// The tool as its author sees it after a change.
    async fn after_change(&self, caller: &Caller, name: &str) -> Result<Listed> {
        let epoch = self.inner.identity.epochs.ask(caller.tenant).await?;
        let view = self.inner.catalogue.view(caller.tenant, epoch).await?;
        self.listed(&view, caller, name)
    }

    /// Lays a change over a tool of the program for the caller's tenant. It holds at once, everywhere.
    async fn lay_over(
        &self,
        caller: &Caller,
        shown: &ToolDef,
        body: &Value,
        asked: Asked<'_>,
    ) -> Result<Listed> {
        let body = layer_body(body, shown)?;
        let written = self.inner.catalogue.as_written(shown.id);
        let written = Arc::clone(&written.ok_or(Error::NotFound { what: "tool" })?.def);
        let scope = self.inner.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let stored = scope.overrides().await.map_err(Error::store("reading overrides"))?;
            let key = shown.slug.key();
            let stored = stored.into_iter().find(|stored| stored.slug.to_ascii_lowercase() == key);
            let revision = stored.as_ref().map_or(0, |stored| stored.revision);
            is_as_read(&format!("{}-{revision}", shown.version), asked)?;
            let mut layer = stored.map(|stored| stored.layer).unwrap_or_default();
            read_layer(&body, &mut layer, shown, &written)?;
            let by = by(caller, asked);
            let changed = scope.set_override(&shown.slug, layer, Some(revision), &by).await;
            match changed.map_err(Error::store("changing a tool"))? {
                Changed::Done(_) => return self.after_change(caller, &shown.id.to_string()).await,
                Changed::Stale(_) | Changed::Missing if asked.mark.is_some() => {
                    return Err(Error::Stale { what: "tool" });
                }
                Changed::Stale(_) | Changed::Missing => {}
            }
        }
        Err(busy())
    }
}

/// One change to a tool, by name, and what it leaves in the history.
struct Step<'a> {
    notes: &'a [Note],
    action: &'a str,
    /// The epoch as of which the names it claims were free.
    names_free_at: Option<i64>,
}

/// A tool with a change to it, and what it would say, which is yet to be checked as a whole.
fn with_change(stored: &StoredTool, view: &View, body: &Value) -> Result<(StoredTool, Definition)> {
    let mut after = stored.clone();
    let mut definition: Definition = parse(&stored.definition)?;
    let shown = shown_fields(definition.authored.fields.as_ref(), &definition.input_schema);
    let body = draft::without_echoes(body, &definition.input_schema, shown.as_ref());
    let body = canonical_patch(&body).map_err(faulty)?;
    let mut sent = Sent::new(members(&body)?);
    sent.drop_read_only(Layer::TenantCustom);
    let _ = sent.take::<bool>("publish");
    if let Some(slug) = read_slug(&mut sent)
        && slug.key() != stored.slug.key()
    {
        sent.say("/slug", "cannot be changed; clone the tool under another one");
    }
    if let Some(Some(version)) = sent.take::<String>("version")
        && version != stored.version
    {
        sent.say("/version", "is changed by `POST /api/tools/{tool}/version?new_version=X.Y.Z`");
    }
    sent.onto(&mut definition);
    sent.switch(&mut after.switches);
    sent.refuse_unknown();
    faultless(sent.faults)?;
    names_are_free(view, stored.id, &definition)?;
    Ok((after, definition))
}

impl Engine {
    /// Whether a tool could be made of this, as far as that can be known before it is tried.
    pub(super) async fn check_new(&self, view: &View, body: &Value) -> Result<()> {
        let body = body.clone();
        let New { slug, definition, .. } = off_the_runtime(move || read_new(&body)).await??;
        is_free(view, ToolId::new(), &slug)?;
        names_are_free(view, ToolId::new(), &definition)
    }

    /// Whether a tool could be changed like this, as far as that can be known before it is tried.
    pub(super) async fn check_change(&self, view: &View, entry: &Entry, body: &Value) -> Result<()> {
        match entry {
            Entry::Own(own) => {
                let (_, definition) = with_change(&own.stored, view, body)?;
                checked(&own.stored.slug, definition).await.map(drop)
            }
            Entry::Code(tool) => {
                let written = self.inner.catalogue.as_written(tool.def.id);
                let written = written.ok_or(Error::NotFound { what: "tool" })?;
                let body = layer_body(body, &tool.def)?;
                read_layer(&body, &mut Override::default(), &tool.def, &written.def)
            }
        }
    }
}

/// A definition that is to become a tool.
struct New {
    slug: Slug,
    definition: Definition,
    switches: Switches,
    version: String,
    publish: bool,
}

fn read_new(body: &Value) -> Result<New> {
    let has_category = body.get("category").is_some();
    let body = canonical_manifest(body).map_err(faulty)?;
    let mut members = members(&body)?;
    // One that was only made of the slug is no fault of the author's.
    if !has_category && members.get("category").and_then(Value::as_str).is_none_or(draft::is_no_word) {
        members.shift_remove("category");
    }
    let mut sent = Sent::new(members);
    let (mut definition, mut switches) = (Definition::default(), Switches::default());
    sent.drop_read_only(Layer::TenantCustom);
    let publish = sent.take::<bool>("publish").flatten().unwrap_or(false);
    let slug = read_slug(&mut sent);
    let version = match sent.take::<String>("version").flatten() {
        None => VERSION_FIRST.to_owned(),
        Some(version) => {
            if let Err(message) = read_version(&version) {
                sent.say("/version", message);
            }
            version
        }
    };
    sent.onto(&mut definition);
    sent.switch(&mut switches);
    sent.refuse_unknown();
    if slug.is_none() && !sent.faults.iter().any(|fault| fault.path == "/slug") {
        sent.say("/slug", "is needed");
    }
    let checked = slug.as_ref().map(|slug| draft::check(slug, &definition)).unwrap_or_default();
    // What could not be read is told once.
    for fault in checked {
        if !sent.faults.iter().any(|told| told.path == fault.path) {
            sent.faults.push(fault);
        }
    }
    faultless(std::mem::take(&mut sent.faults))?;
    let slug = slug.ok_or_else(|| Error::invalid("/slug", "is needed"))?;
    Ok(New { slug, definition, switches, version, publish })
}

/// A number for a version, or what is wrong with it.
fn read_version(text: &str) -> Result<semver::Version, String> {
    if VERSION_LEN_MAX < text.len() {
        return Err(format!("has at most {VERSION_LEN_MAX} characters"));
    }
    semver::Version::parse(text)
        .map_err(|error| format!("`{text}` is not a semantic version such as 1.2.3: {error}"))
}

fn read_slug(sent: &mut Sent) -> Option<Slug> {
    match sent.take::<String>("slug")??.parse() {
        Ok(slug) => Some(slug),
        Err(error) => {
            sent.say("/slug", tw_model::SlugError::to_string(&error));
            None
        }
    }
}

fn members(body: &Value) -> Result<serde_json::Map<String, Value>> {
    body.as_object().cloned().ok_or_else(|| Error::invalid("", "is an object"))
}

/// Reads what a tenant lays over a tool of the program. What is sent as it is shown changes nothing, so
/// that what was read can be saved.
fn read_layer(body: &Value, layer: &mut Override, shown: &ToolDef, written: &ToolDef) -> Result<()> {
    let mut members = members(body)?;
    let fixed = [
        ("slug", json!(shown.slug.as_str())),
        ("version", json!(shown.version.to_string())),
        ("input_schema", (*shown.input_schema).clone()),
        ("output_schema", json!(shown.output_schema.as_deref())),
        ("implementation_type", json!(shown.implementation.type_name())),
        ("implementation", shown.authored.implementation.clone()),
        ("execution", json!(shown.execution)),
        ("required_permission", json!(shown.required_permission)),
        ("tenant_slugs", json!(shown.tenant_slugs)),
        ("output_sections", json!(shown.output_sections)),
        ("collaborative", json!(shown.collaborative)),
        ("is_async", json!(shown.is_async)),
        ("aliases", json!(shown.authored.aliases)),
        ("execution_spec", Value::Null),
        ("form_spec", json!(shown.authored.form_spec)),
        ("view_spec", json!(shown.authored.view_spec)),
        // By now these are others than those that are shown, or taken back, and then there are none to.
        ("fields", Value::Null),
        ("publish", json!(false)),
    ];
    let mut faults = Vec::new();
    for (key, value) in fixed {
        if members.remove(key).is_some_and(|sent| canonical(&sent) != canonical(&value)) {
            let message = "of a tool that is part of the program cannot be changed".to_owned();
            faults.push(Fault { path: format!("/{key}"), message });
        }
    }
    let same = [
        ("name", json!(shown.name)),
        ("description", json!(shown.description)),
        ("category", json!(shown.category)),
        ("icon", json!(shown.icon)),
        ("tags", json!(shown.tags)),
        ("status", json!(shown.status)),
        ("permission_level", json!(shown.level)),
        ("visible", json!(shown.visible)),
        ("timeout_ms", json!(shown.timeout_ms)),
        ("is_active", json!(shown.is_active)),
        ("enabled", json!(shown.enabled.unwrap_or(shown.listing == Listing::OptOut))),
        ("permission_policy", json!(shown.policy)),
    ];
    for (key, value) in same {
        if members.get(key).is_some_and(|sent| *sent == value) {
            members.remove(key);
        }
    }
    let mut sent = Sent::new(members);
    sent.drop_read_only(Layer::Code);
    let status = sent.take_word("status", ToolStatus::ALL, ToolStatus::as_str);
    let level = sent.take_word("permission_level", Level::ALL, Level::as_str);
    let policy = sent.take_word("permission_policy", Policy::ALL, Policy::as_str);
    let said = (
        [sent.take("name"), sent.take("description"), sent.take("category"), sent.take("icon")],
        sent.take("tags"),
        [sent.take("enabled"), sent.take("is_active"), sent.take("visible")],
        sent.take("timeout_ms"),
    );
    sent.refuse_unknown();
    faults.append(&mut sent.faults);
    faultless(faults)?;
    let ([name, description, category, icon], tags, [enabled, is_active, visible], timeout_ms) = said;
    fn lay<T>(said: Option<Option<T>>, place: &mut Option<T>) {
        if let Some(said) = said {
            *place = said;
        }
    }
    lay(name, &mut layer.name);
    lay(description, &mut layer.description);
    lay(category, &mut layer.category);
    lay(icon, &mut layer.icon);
    lay(tags, &mut layer.tags);
    lay(enabled, &mut layer.enabled);
    lay(is_active, &mut layer.is_active);
    lay(visible, &mut layer.visible);
    lay(timeout_ms, &mut layer.timeout_ms);
    lay(status, &mut layer.status);
    lay(level, &mut layer.permission_level);
    lay(policy, &mut layer.permission_policy);
    super::overrides::check(layer, written)
}

/// A definition as it is stored, if nothing is wrong with it. The order of its properties is the
/// author's.
async fn checked(slug: &Slug, definition: Definition) -> Result<Arc<str>> {
    let slug = slug.clone();
    let check = move || (draft::check(&slug, &definition), as_text(&definition));
    let (faults, text) = off_the_runtime(check).await?;
    faultless(faults)?;
    Ok(text)
}

fn as_text(definition: &Definition) -> Arc<str> {
    serde_json::to_string(definition).expect("a definition is plain JSON").into()
}

/// A hostile schema takes a while to be refused, and nobody else should wait for that.
async fn off_the_runtime<T: Send + 'static>(check: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(check).await.map_err(|_| failed("checking a definition"))
}

/// For work of our own that came to no end.
fn failed(doing: &'static str) -> Error {
    Error::Store { doing, source: tw_store::Error::Corrupt { what: format!("{doing} broke off") } }
}

/// What somebody sends about a tool of the program, in the canonical words.
fn layer_body(body: &Value, shown: &ToolDef) -> Result<Value> {
    let fields = shown_fields(shown.authored.fields.as_ref(), &shown.input_schema);
    let body = draft::without_echoes(body, &shown.input_schema, fields.as_ref());
    canonical_patch(&body).map_err(faulty)
}

fn is_free(view: &View, id: ToolId, slug: &Slug) -> Result<()> {
    let is_taken = view.tools.takes(slug.as_str(), id) && !is_invisible(view, slug.as_str());
    if is_taken { Err(taken(slug)) } else { Ok(()) }
}

fn names_are_free(view: &View, id: ToolId, definition: &Definition) -> Result<()> {
    let is_taken = |alias: &&String| view.tools.takes(alias, id) && !is_invisible(view, alias);
    match definition.authored.aliases.iter().find(is_taken) {
        Some(alias) => Err(Error::Conflict { why: format!("the name `{alias}` belongs to another tool") }),
        None => Ok(()),
    }
}

/// Whether two tools of a tenant's own could be found by the same name.
fn shares_a_name(tool: &StoredTool, other: &StoredTool) -> bool {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(default)]
        aliases: Vec<String>,
    }
    let names = |tool: &StoredTool| {
        let texts = [Some(&tool.definition), tool.live.as_ref()];
        let named = texts.into_iter().flatten().filter_map(|text| serde_json::from_str::<Named>(text).ok());
        let aliases = named.flat_map(|named| named.aliases).map(|alias| alias.to_ascii_lowercase());
        aliases.chain([tool.slug.key()]).collect::<Vec<_>>()
    };
    tool.id != other.id && names(other).iter().any(|name| names(tool).contains(name))
}

/// A tool of other tenants' takes no name away here.
fn is_invisible(view: &View, name: &str) -> bool {
    view.tools.get(name).is_some_and(|entry| entry.in_catalogue(view.slug()) == Err("not_for_this_tenant"))
}

fn taken(slug: &Slug) -> Error {
    Error::Conflict { why: format!("there is a tool `{slug}` already") }
}

fn busy() -> Error {
    Error::Conflict { why: "others keep changing the tool at this moment; try again".to_owned() }
}

fn is_as_read(mark: &str, asked: Asked<'_>) -> Result<()> {
    match asked.mark {
        Some(seen) if seen != mark => Err(Error::Stale { what: "tool" }),
        _ => Ok(()),
    }
}

fn go_live(stored: &mut StoredTool) {
    stored.live = Some(Arc::clone(&stored.definition));
    stored.live_version = Some(stored.version.clone());
    stored.published = stored.published.or_else(|| Some(Timestamp::now()));
    stored.switches.status = ToolStatus::Published;
}

/// The name of a content: equal text, equal name.
fn content_hash(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

fn needs<R: Right>(caller: &Caller) -> Result<()> {
    Permit::<R>::check(caller.clone()).map(drop)
}

fn faulty(mut faults: Vec<Fault>) -> Error {
    faults.truncate(tw_schema::FAULTS_MAX);
    let first = faults.first().map_or_else(String::new, |fault| {
        format!("`{}` {}", fault.path.trim_start_matches('/'), fault.message)
    });
    Error::InvalidParams { what: first, faults }
}

fn faultless(faults: Vec<Fault>) -> Result<()> {
    if faults.is_empty() { Ok(()) } else { Err(faulty(faults)) }
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Store {
        doing: "reading a definition",
        source: tw_store::Error::Corrupt { what: error.to_string() },
    })
}

/// A tool as the audit log has it.
fn audited(stored: &StoredTool) -> Value {
    let definition = shown_definition(&stored.definition);
    json!({
        "version": stored.version, "live_version": stored.live_version, "revision": stored.revision,
        "switches": stored.switches, "definition": definition,
    })
}

/// A stored definition as it may be shown.
fn shown_definition(text: &str) -> Value {
    let mut definition: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(implementation) = definition.get_mut("implementation") {
        *implementation = redacted(implementation);
    }
    definition
}
