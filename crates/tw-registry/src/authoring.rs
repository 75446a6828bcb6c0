//! Making and changing tools.
//!
//! Whatever door it comes through, a change is read, laid over what is stored, checked as a whole and
//! written only if nobody else has written in between.

mod adopt;
mod callees;
mod doubts;
mod draft;
mod edit;
mod gate;
mod history;
mod names;
mod outputs;
mod overrides;
mod publish;
mod read;

use std::sync::Arc;

use serde_json::Value;
use tw_model::{
    Actor, Caller, Definition, Implementation, Switches, TenantId, Timestamp, ToolId, ToolStatus,
};
use tw_schema::{Fault, Violation};
use tw_store::{
    ArtifactChange, By, Changed, Claim, Import, Left, NewAudit, Note, Override, Premise, StoredTool,
};

pub(crate) use self::read::{LOOKING_FOR_USERS, in_lane};
pub use self::{
    adopt::decided,
    gate::Waived,
    history::{Compared, History},
    publish::Publication,
};
use self::{
    callees::{calls_others, may_concern_callers},
    draft::Sent,
    edit::{Edit, TRIES, UpsetBy, audited, busy, go_live, is_as_read},
    history::is_unused,
    names::{is_free, is_invisible, names_are_free, shares_a_name, taken},
    overrides::{layer_body, read_layer},
    read::{CHECKING, New, VERSION_FIRST, as_text, checked, parse, read_new, read_slug, with_change},
};
use crate::{
    Registry,
    catalogue::{Own, ToolEntry, View, content_hash},
    pin::Pin,
    tools::{Listed, Saved, find},
};
use tw_base::{Error, Result, faultless, members};
use tw_identity::rights::{CreateTools, DeleteTools, Permit, PublishTools, Right, UpdateTools};

/// Where an imported tool comes from, and the text of what it is pinned to.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) import: Import,
    pub(crate) remote: String,
}

/// How a tool has to be found for a change to be made, and who asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditContext<'a> {
    /// The marks of which the tool has to have one, as when it was read; `None` for however it is.
    pub marks: Option<&'a [String]>,
    pub request_id: Option<&'a str>,
    /// Who it is that changes something, where that is not whoever's right it is done by.
    pub actor: Option<&'a Actor>,
}

/// Who did it, for the audit log and the history.
fn by(caller: &Caller, asked: EditContext<'_>) -> By {
    let by = tw_base::by(caller, asked.request_id);
    match asked.actor {
        None => by,
        Some(actor) => By { actor: serde_json::to_string(actor).expect("an actor is plain JSON"), ..by },
    }
}

impl Registry {
    /// Makes a tool: a draft, or with `"publish": true` one that is live at once.
    pub async fn create_tool(
        &self,
        permit: &Permit<CreateTools>,
        body: &Value,
        asked: EditContext<'_>,
    ) -> Result<Saved> {
        let caller = permit.caller();
        if body.get("publish") == Some(&Value::Bool(true)) {
            needs::<PublishTools>(caller)?;
        }
        let (new, faults) = self.read_new(caller.tenant, body.clone()).await?;
        let definition = new.definition.clone();
        let tool = self.insert(caller, new, faults, None, asked).await?;
        Ok(Saved { tool, warnings: self.warnings(caller, &definition).await? })
    }

    /// Makes a tool like another one: a draft under another slug.
    pub async fn clone_tool(
        &self,
        permit: &Permit<CreateTools>,
        name: &str,
        body: &Value,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, _) = find(&view, caller, name)?;
        let mut sent = Sent::new(members(body)?);
        let slug = read_slug(&mut sent);
        let mut renamed = Definition::default();
        sent.rename(&mut renamed);
        sent.refuse_unknown();
        if slug.is_none() && sent.faults.iter().all(|fault| fault.path != "/slug") {
            sent.say("/slug", Violation::required());
        }
        faultless(sent.faults)?;
        let slug = slug.ok_or_else(|| Error::invalid("/slug", Violation::required()))?;
        let ToolEntry::Own(own) = entry else {
            return Err(Error::Conflict {
                why: "a built-in tool cannot be cloned: it has no definition to copy".to_owned(),
            });
        };
        let mut definition: Definition = parse(&own.stored.definition)?;
        // A name stands for one tool.
        definition.authored.aliases.clear();
        definition.builtin_template_id = None;
        if !renamed.name.is_empty() {
            definition.name = renamed.name;
        }
        self.vault.open_definition(caller.tenant, own.stored.id, &mut definition).await?;
        checked(caller.tenant, &slug, definition.clone(), self.catalogue.kinds(), Vec::new()).await?;
        let switches = Switches { status: ToolStatus::Draft, ..own.stored.switches.clone() };
        let artifact = Pin::of(&definition.authored.implementation).map(|pin| ArtifactChange::Kept(pin.id));
        let version = VERSION_FIRST.to_owned();
        let new = New { slug, definition, switches, version, publish: false, artifact };
        self.insert(caller, new, Vec::new(), None, asked).await
    }

    /// Reads a new tool with the artifact that it names, and tells everything that is wrong with it.
    async fn read_new(&self, tenant: TenantId, body: Value) -> Result<(New, Vec<Fault>)> {
        let read = in_lane(tenant, CHECKING, move || read_new(&body)).await?;
        let mut unchecked = read?;
        let New { slug, definition, artifact, .. } = &mut unchecked.new;
        let (pinned, wrong) = self.pin(tenant, slug, definition, None).await?;
        *artifact = pinned;
        unchecked.told.extend(wrong);
        let kinds = Arc::clone(self.catalogue.kinds());
        in_lane(tenant, CHECKING, move || unchecked.checked(&*kinds)).await
    }

    /// Makes a tool, unless something is wrong with it beside the `faults` that are known already.
    async fn insert(
        &self,
        caller: &Caller,
        new: New,
        faults: Vec<Fault>,
        origin: Option<&Origin>,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let (id, mut epoch) = (ToolId::new(), caller.epoch);
        for _ in 0..TRIES {
            let view = self.catalogue.view(caller.tenant, epoch).await?;
            let (wrong, calls_any) = self.check_calls(caller, &view, (id, &new.slug), &new.definition)?;
            let doubts =
                if new.publish { self.doubts(caller, &view, &new.definition).await? } else { Vec::new() };
            faultless([&*faults, &*wrong, &*doubts].concat())?;
            is_free(&view, id, &new.slug)?;
            names_are_free(&view, id, &new.definition)?;
            let is_upset_by = |other: &StoredTool| may_concern_callers(&**self.catalogue.kinds(), other);
            let premise = calls_any.then_some(Premise { as_of: view.epoch, is_upset_by: &is_upset_by });
            if self.insert_at(caller, id, &new, origin, (view.epoch, premise), asked).await? {
                return self.after_change(caller, &id.to_string()).await;
            }
            epoch = self.identity.epochs().ask(caller.tenant).await?;
        }
        Err(busy())
    }

    /// Writes a new tool, unless somebody else came first with something that may forbid it: then `false`.
    async fn insert_at(
        &self,
        caller: &Caller,
        id: ToolId,
        new: &New,
        origin: Option<&Origin>,
        (epoch, premise): (i64, Option<Premise<'_>>),
        asked: EditContext<'_>,
    ) -> Result<bool> {
        let (slug, publish) = (new.slug.clone(), new.publish);
        let by = by(caller, asked);
        let definition = self.to_be_kept(caller, id, new.definition.clone()).await?;
        let import = origin.map(|origin| Box::new(origin.import.clone()));
        let mut stored = StoredTool { definition, import, ..stored_as(id, new.clone(), by.actor.clone()) };
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
        let claim = Some(Claim { free_at: epoch, is_taken_by: &is_taken_by });
        let (artifact, pins) = (new.artifact.as_ref(), origin.map(|origin| &*origin.remote));
        let content_hash = &hash;
        let left = Left { premise, claim, notes: &notes, content_hash, artifact, accepts: None, pins, audit };
        let scope = self.store.tenant(caller.tenant);
        let made = scope.insert_tool(&stored, left, &by).await.map_err(|error| match error {
            tw_store::Error::Taken { what: "slug" } => taken(&slug),
            error => Error::store("making a tool")(error),
        })?;
        Ok(matches!(made, Changed::Done(())))
    }

    /// Changes a tool. Of the tenant's own everything can be changed, and what it says is a draft until
    /// it is published; over one that is part of the program the change is laid, and holds at once.
    pub async fn change_tool(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        body: &Value,
        asked: EditContext<'_>,
    ) -> Result<Saved> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, _) = find(&view, caller, name)?;
        match entry {
            // What is laid over a tool of the program is nothing that there could be a word about.
            ToolEntry::Code(tool) => {
                let tool = self.lay_over(caller, &tool.def, body, asked).await?;
                Ok(Saved { tool, warnings: Vec::new() })
            }
            ToolEntry::Own(own) => {
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
        asked: EditContext<'_>,
        body: &Value,
        publish: bool,
    ) -> Result<Saved> {
        let plan = |stored: &StoredTool, view: &View| {
            let (after, definition, faults) = with_change(stored, view, body)?;
            if !publish && only_switches(stored, &definition)? {
                faultless(faults)?;
                return Ok(Edit::of_switches(after));
            }
            let (notes, action): (&[Note], _) = if publish {
                (&[Note::Save, Note::Publish], "tool.changed_and_published")
            } else {
                (&[Note::Save], "tool.changed")
            };
            let definition = Some(definition);
            Ok(Edit { definition, faults, notes, action, claims_names: true, ..Edit::of_switches(after) })
        };
        let saved = if publish {
            self.publish_own(caller, id, asked, Waived::in_body(body), plan).await?
        } else {
            self.edit_own(caller, id, asked, plan).await?
        };
        let warnings = self.warnings(caller, &parse(&saved.definition)?).await?;
        Ok(Saved { tool: self.after_change(caller, &id.to_string()).await?, warnings })
    }

    /// What was saved though it serves its author badly, or cannot be published as it is.
    async fn warnings(&self, caller: &Caller, definition: &Definition) -> Result<Vec<Fault>> {
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let doubts = self.doubts(caller, &view, definition).await?;
        Ok(doubts.into_iter().chain(draft::warnings(definition)).collect())
    }

    /// Makes an old revision the newest save. What runs stays what it is.
    pub async fn restore_tool(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        revision: i64,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let caller = permit.caller();
        let id = self.own_id(caller, name, "has no revisions").await?;
        let scope = self.store.tenant(caller.tenant);
        let snapshot = scope.tool_snapshot(id, revision).await.map_err(Error::store("reading a revision"))?;
        let snapshot = snapshot.ok_or(Error::NotFound { what: "revision of this tool" })?;
        let definition = self.unpinned_if_gone(caller, parse(&snapshot.content)?).await?;
        let plan = |stored: &StoredTool, view: &View| {
            names_are_free(view, id, &definition)?;
            let (definition, notes) = (Some(definition.clone()), &[Note::Save]);
            let edit = Edit::of_switches(stored.clone());
            Ok(Edit { definition, notes, action: "tool.restored", claims_names: true, ..edit })
        };
        self.edit_own(caller, id, asked, plan).await?;
        self.after_change(caller, &id.to_string()).await
    }

    /// Removes a tool of the tenant's own, or the tenant's override of one that is part of the program.
    pub async fn remove_tool(
        &self,
        permit: &Permit<DeleteTools>,
        name: &str,
        asked: EditContext<'_>,
    ) -> Result<()> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let (entry, available) = find(&view, caller, name)?;
        match entry {
            ToolEntry::Code(tool) => {
                let listed = Listed::new(entry, caller, available)?;
                is_as_read(&listed.mark, asked)?;
                let scope = self.store.tenant(caller.tenant);
                let by = by(caller, asked);
                let seen = asked.marks.map(|_| listed.revision);
                let removed = scope.remove_override(&tool.def.slug, seen, &by).await;
                match removed.map_err(Error::store("removing an override"))? {
                    Changed::Done(()) => {}
                    Changed::Stale(()) => return Err(Error::Stale { what: "tool" }),
                    Changed::Missing => return Err(not_removable()),
                }
            }
            ToolEntry::Own(own) => {
                let id = own.stored.id;
                let plan = |stored: &StoredTool, view: &View| {
                    is_unused(view, id)?;
                    let after = StoredTool { is_deleted: true, ..stored.clone() };
                    let (action, upset_by) = ("tool.removed", Some(calls_others as UpsetBy));
                    Ok(Edit { action, upset_by, ..Edit::of_switches(after) })
                };
                self.edit_own(caller, id, asked, plan).await?;
            }
        }
        self.identity.epochs().ask(caller.tenant).await?;
        Ok(())
    }

    /// As [`Registry::pin`], for a change to a tool.
    async fn pin_change(
        &self,
        tenant: TenantId,
        stored: &StoredTool,
        definition: &mut Definition,
    ) -> Result<(Option<ArtifactChange>, Vec<Fault>)> {
        let before: Definition = parse(&stored.definition)?;
        let is_same_kind = before.implementation_type == definition.implementation_type;
        let before = is_same_kind.then_some(&before.authored.implementation);
        self.pin(tenant, &stored.slug, definition, before).await
    }

    /// An old definition of a script without the artifact that it names, if that is removed. Its source is at hand.
    async fn unpinned_if_gone(&self, caller: &Caller, mut definition: Definition) -> Result<Definition> {
        let Some(pin) = Pin::of(&definition.authored.implementation) else { return Ok(definition) };
        let found = self.store.tenant(caller.tenant).artifact(pin.id).await;
        if found.map_err(Error::store("reading an artifact"))?.is_none() {
            pin.leave(&mut definition.authored.implementation);
        }
        Ok(definition)
    }

    /// The id of a tool of the tenant's own.
    async fn own_id(&self, caller: &Caller, name: &str, otherwise: &str) -> Result<ToolId> {
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        Ok(find(&view, caller, name)?.0.own(otherwise)?.stored.id)
    }
}

/// A definition of a tool that is not what a call by its name would run.
#[derive(Clone, Debug)]
pub enum Unsaved {
    /// As it would be sent to be saved.
    Change(Value),
    /// What is about to go live, read and checked.
    Draft(ToolEntry),
}

impl Registry {
    /// What a tool would be with a definition that is not saved: of one that there is, changed; else new.
    pub async fn unsaved(&self, view: &View, name: &str, body: &Value) -> Result<ToolEntry> {
        self.as_if_saved(view, name, body).await.map_err(|error| error.below("/definition"))
    }

    async fn as_if_saved(&self, view: &View, name: &str, body: &Value) -> Result<ToolEntry> {
        let stored = match view.tools.get(name).filter(|_| !is_invisible(view, name)) {
            Some(ToolEntry::Code(tool)) => {
                let why = format!("`{}` is a built-in tool; test it without `definition`", tool.def.slug);
                return Err(Error::Conflict { why });
            }
            Some(ToolEntry::Own(own)) => {
                let (after, mut definition, mut faults) = with_change(&own.stored, view, body)?;
                faults.extend(self.pin_change(view.tenant.id, &own.stored, &mut definition).await?.1);
                let kinds = self.catalogue.kinds();
                let definition = checked(view.tenant.id, &after.slug, definition, kinds, faults).await?;
                StoredTool { definition, ..after }
            }
            None => {
                let mut body = members(body)?;
                body.entry("slug").or_insert_with(|| name.into());
                let (new, faults) = self.read_new(view.tenant.id, Value::Object(body)).await?;
                faultless(faults)?;
                if !new.slug.as_str().eq_ignore_ascii_case(name) {
                    return Err(Error::invalid("/slug", Violation::slug_other()));
                }
                let no_tool_yet = ToolId::new();
                names_are_free(view, no_tool_yet, &new.definition)?;
                stored_as(no_tool_yet, new, String::new())
            }
        };
        Ok(ToolEntry::Own(Arc::new(Own::read(stored, &**self.catalogue.kinds())?)))
    }
}

/// A new tool as it is kept.
fn stored_as(id: ToolId, new: New, created_by: String) -> StoredTool {
    let now = Timestamp::now();
    StoredTool {
        id,
        definition: as_text(&new.definition),
        slug: new.slug,
        switches: new.switches,
        version: new.version,
        live: None,
        live_version: None,
        published: None,
        revision: 1,
        updated: now,
        created: now,
        created_by,
        is_deleted: false,
        import: None,
    }
}

impl Registry {
    /// Whether a tool could be made of this, as far as that can be known before it is tried.
    pub(super) async fn check_new(&self, caller: &Caller, view: &View, body: &Value) -> Result<()> {
        let (New { slug, definition, publish, .. }, mut faults) =
            self.read_new(caller.tenant, body.clone()).await?;
        let id = ToolId::new();
        faults.extend(self.check_calls(caller, view, (id, &slug), &definition)?.0);
        if publish {
            faults.extend(self.doubts(caller, view, &definition).await?);
        }
        faultless(faults)?;
        is_free(view, id, &slug)?;
        names_are_free(view, id, &definition)
    }

    /// Whether a tool could be changed like this, as far as that can be known before it is tried.
    pub(super) async fn check_change(
        &self,
        caller: &Caller,
        view: &View,
        entry: &ToolEntry,
        body: &Value,
    ) -> Result<()> {
        match entry {
            ToolEntry::Own(own) => {
                let (id, slug) = (own.stored.id, &own.stored.slug);
                let (after, mut definition, mut faults) = with_change(&own.stored, view, body)?;
                let publish = body.get("publish") == Some(&Value::Bool(true));
                if !publish && only_switches(&own.stored, &definition)? {
                    return faultless(faults);
                }
                faults.extend(self.pin_change(view.tenant.id, &own.stored, &mut definition).await?.1);
                faults.extend(self.check_calls(caller, view, (id, slug), &definition)?.0);
                if publish {
                    faults.extend(self.doubts(caller, view, &definition).await?);
                }
                checked(caller.tenant, slug, definition.clone(), self.catalogue.kinds(), faults).await?;
                if publish {
                    self.breaks(caller, &after, definition, Waived::in_body(body)).await?;
                }
                Ok(())
            }
            ToolEntry::Code(tool) => {
                let written = self.catalogue.as_written(tool.def.id);
                let written = written.ok_or(Error::NotFound { what: "tool" })?;
                let body = layer_body(body, &tool.def)?;
                read_layer(&body, &mut Override::default(), &tool.def, written)
            }
        }
    }
}

/// Whether a change leaves the definition of a tool as it is that this program cannot check, being of a kind it does
/// not know. Then the switches are all that changes, and what was saved by a newer program is kept to the letter.
fn only_switches(stored: &StoredTool, definition: &Definition) -> Result<bool> {
    let is_known = Implementation::parse(&definition.implementation_type).is_some();
    Ok(!is_known && parse::<Definition>(&stored.definition)? == *definition)
}

/// Whether a tool could be removed, as far as that can be known before it is tried.
pub(super) fn check_removal(view: &View, entry: &ToolEntry) -> Result<()> {
    match entry {
        ToolEntry::Own(own) => is_unused(view, own.stored.id),
        // The revision is that of what the tenant has laid over it.
        ToolEntry::Code(tool) if tool.revision == 0 => Err(not_removable()),
        ToolEntry::Code(_) => Ok(()),
    }
}

fn not_removable() -> Error {
    let why = "a built-in tool cannot be removed; set `enabled` to false to hide it";
    Error::Conflict { why: why.to_owned() }
}

fn needs<R: Right>(caller: &Caller) -> Result<()> {
    Permit::<R>::check(caller.clone()).map(drop)
}
