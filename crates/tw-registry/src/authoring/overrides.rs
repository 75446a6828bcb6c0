//! What a tenant lays over a tool of the program. It holds at once, everywhere.

use std::sync::Arc;

use serde_json::{Value, json};
use tw_base::{Error, Result, faultless, members, name_violation};
use tw_model::{Caller, Layer, Level, Listing, Policy, ToolDef, ToolStatus, check_name};
use tw_schema::{Violation, canonical, canonical_patch};
use tw_store::{Changed, Override};

use super::{
    EditContext, by,
    draft::{self, Sent},
    edit::{TRIES, busy, is_as_read},
};
use crate::{
    Registry,
    catalogue::Tool,
    tools::{Listed, shown_fields},
};

const TEXT_MAX: usize = 4000;
const TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1000;

impl Registry {
    /// Lays a change over a tool of the program for the caller's tenant.
    pub(super) async fn lay_over(
        &self,
        caller: &Caller,
        shown: &ToolDef,
        body: &Value,
        asked: EditContext<'_>,
    ) -> Result<Listed> {
        let body = layer_body(body, shown)?;
        let written = self.catalogue.as_written(shown.id);
        let written = Arc::clone(written.ok_or(Error::NotFound { what: "tool" })?);
        let scope = self.store.tenant(caller.tenant);
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
                Changed::Stale(_) | Changed::Missing if asked.marks.is_some() => {
                    return Err(Error::Stale { what: "tool" });
                }
                Changed::Stale(_) | Changed::Missing => {}
            }
        }
        Err(busy())
    }
}

/// What somebody sends about a tool of the program, in the canonical words.
pub(super) fn layer_body(body: &Value, shown: &ToolDef) -> Result<Value> {
    let fields = shown_fields(shown.authored.fields.as_ref(), &shown.input_schema);
    let body = draft::without_echoes(body, &shown.input_schema, fields.as_ref());
    canonical_patch(&body).map_err(Error::refused)
}

/// Reads what a tenant lays over a tool of the program. What is sent as it is shown changes nothing, so
/// that what was read can be saved.
pub(super) fn read_layer(body: &Value, layer: &mut Override, shown: &ToolDef, written: &Tool) -> Result<()> {
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
        ("accept_breaking", json!(false)),
        ("ignore_tests", json!(false)),
    ];
    let mut faults = Vec::new();
    for (key, value) in fixed {
        if members.remove(key).is_some_and(|sent| canonical(&sent) != canonical(&value)) {
            faults.push(Violation::program_part().at(format!("/{key}")));
        }
    }
    let same = [
        ("name", json!(shown.name)),
        ("description", json!(shown.description)),
        ("i18n", json!(shown.authored.i18n)),
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
        (sent.take("tags"), sent.take::<Value>("i18n")),
        [sent.take("enabled"), sent.take("is_active"), sent.take("visible")],
        sent.take("timeout_ms"),
    );
    if let (_, (_, Some(Some(translations))), ..) = &said {
        faults.extend(draft::translation_faults(translations, TEXT_MAX));
    }
    sent.refuse_unknown();
    faults.append(&mut sent.faults);
    faultless(faults)?;
    let ([name, description, category, icon], (tags, i18n), [enabled, is_active, visible], timeout_ms) = said;
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
    lay(i18n, &mut layer.i18n);
    lay(enabled, &mut layer.enabled);
    lay(is_active, &mut layer.is_active);
    lay(visible, &mut layer.visible);
    lay(timeout_ms, &mut layer.timeout_ms);
    lay(status, &mut layer.status);
    lay(level, &mut layer.permission_level);
    lay(policy, &mut layer.permission_policy);
    check(layer, written)
}

fn check(layer: &Override, tool: &Tool) -> Result<()> {
    if let Some(name) = &layer.name {
        check_name(name).map_err(|error| Error::invalid("/name", name_violation(&error)))?;
    }
    for (path, text) in
        [("/description", &layer.description), ("/category", &layer.category), ("/icon", &layer.icon)]
    {
        if text.as_ref().is_some_and(|text| text.trim().is_empty() || TEXT_MAX < text.len()) {
            return Err(Error::invalid(path, Violation::byte_length(1, TEXT_MAX)));
        }
    }
    if layer.tags.as_ref().is_some_and(|tags| 50 < tags.len() || tags.iter().any(|tag| 100 < tag.len())) {
        return Err(Error::invalid("/tags", Violation::tags(50, 100)));
    }
    if layer.status.is_some_and(|status| !matches!(status, ToolStatus::Deprecated | ToolStatus::Disabled)) {
        return Err(Error::invalid("/status", Violation::status_of_program()));
    }
    if layer.permission_level.is_some_and(|level| Some(level) < tool.def.level) {
        let violation = Violation::level_raised(tool.def.level.map_or("none", Level::as_str));
        return Err(Error::invalid("/permission_level", violation));
    }
    if layer.permission_policy == Some(Policy::Auto) && tool.executor.always_asks() {
        return Err(Error::invalid("/permission_policy", Violation::policy_fixed("always_ask")));
    }
    if layer.timeout_ms.is_some_and(|timeout| !(1..=TIMEOUT_MS_MAX).contains(&timeout)) {
        return Err(Error::invalid("/timeout_ms", Violation::range(1, TIMEOUT_MS_MAX)));
    }
    Ok(())
}
