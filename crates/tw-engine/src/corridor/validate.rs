//! Does the input fit, and can the call be made at all.

use std::{ops::Deref, sync::Arc, time::Duration};

use serde_json::{Value, value::RawValue};
use toolwright_sdk::{HeavyPool, INLINE_BYTES_MAX, Overload};
use tw_base::{Error, Result};
use tw_model::{Level, PermissionSet, RunId, TenantId};
use tw_policy::Rule;
use tw_registry::{Tool, View};
use tw_schema::Violation;
use tw_vault::{CallSecrets, DefinitionParts, Vault};

use super::authorize::Authorized;
use crate::{
    Inside,
    run_log::{input_digest, raw},
};

/// A call whose input fits the tool's schema, with defaults filled in, and the rule that decides it. Made by [`validate`]
/// alone.
#[derive(Debug)]
pub(crate) struct Valid(ValidParts);

/// What is known of a call whose input fits.
#[derive(Debug)]
pub(crate) struct ValidParts {
    pub(crate) tool: Arc<Tool>,
    pub(super) rule: Rule,
    pub(crate) level: Option<Level>,
    /// Whether it changes nothing outside and asks nobody.
    pub(super) is_harmless: bool,
    pub(crate) value: Value,
    /// The same as text, as it is written down: the caller's own bytes wherever nothing had to be changed or hidden.
    pub(crate) text: Box<RawValue>,
    /// What everybody may do who has a say in the call.
    pub(super) permissions: PermissionSet,
    /// What the input holds and no record may show.
    pub(super) secrets: Option<Arc<CallSecrets>>,
}

impl Deref for Valid {
    type Target = ValidParts;

    fn deref(&self) -> &ValidParts {
        &self.0
    }
}

impl Valid {
    /// The digest of the input as it is written down.
    pub(crate) fn input_digest(&self) -> String {
        match &self.secrets {
            None => input_digest(&self.value),
            Some(_) => input_digest(&serde_json::from_str(self.text.get()).unwrap_or_default()),
        }
    }

    /// The input for a run that has to wait, where what is written down does not do.
    pub(crate) fn sealed_for(&self, run: RunId) -> Option<String> {
        self.secrets.as_ref().map(|secrets| secrets.seal(run, &self.value))
    }

    pub(crate) fn into_parts(self) -> ValidParts {
        self.0
    }

    /// Hides the secrets that the caller has written in these parts of the input; those of a large one apart from
    /// everybody else.
    async fn hiding(mut self, parts: DefinitionParts, tenant: TenantId, vault: &Vault) -> Result<Self> {
        let (value, looked_in) = (std::mem::take(&mut self.0.value), parts.clone());
        let hide = move || {
            let hidden = looked_in.hide(&value).map(|hidden| (raw(&hidden.shown), hidden));
            (value, hidden)
        };
        let (value, hidden) = if self.text.get().len() <= INLINE_BYTES_MAX {
            hide()
        } else {
            let hidden = HeavyPool::shared().run(tenant, self.tool.def.timeout(), hide).await;
            hidden.map_err(overloaded)?
        };
        self.0.value = value;
        if let Some((text, hidden)) = hidden {
            self.0.text = text;
            self.0.secrets = Some(vault.callers_secrets(tenant, parts, hidden).await?);
        }
        Ok(self)
    }
}

/// Whose words an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// A model gets what it plainly meant: what does not fit is converted where that loses nothing.
    OfModel,
    /// People get an error they can see next to the field, also where they edit what an agent asked for.
    OfPerson,
}

/// Everything that can be known to be wrong with a call before it runs. Nobody is asked to approve a call that could
/// not be made.
pub(super) async fn validate(
    authorized: Authorized<'_>,
    input: &RawValue,
    words: Words,
    given: Option<&Arc<CallSecrets>>,
    view: &View,
    inside: &Inside,
) -> Result<Valid> {
    let by_caller = given.and_then(|given| given.callers_parts());
    let secrets = given.filter(|_| by_caller.is_none()).cloned();
    let bytes = input.get().len();
    let (value, text) = if bytes <= INLINE_BYTES_MAX && authorized.tool().input.is_quick(bytes) {
        fitting(authorized.tool(), input, words, secrets.as_deref())?
    } else {
        let (tool, input) = (Arc::clone(authorized.tool()), input.to_owned());
        let (tenant, limit) = (authorized.caller().tenant, tool.def.timeout());
        let hidden = secrets.clone();
        let fitting = move || fitting(&tool, &input, words, hidden.as_deref());
        let fitting = HeavyPool::shared().run(tenant, limit, fitting).await;
        fitting.map_err(overloaded)??
    };
    authorized.check(&inside.services, &value).await?;
    let (rule, level) = (authorized.rule(view, &value), authorized.level(&value));
    let (permissions, is_harmless) = (authorized.permissions(), authorized.is_harmless(&value));
    let tool = Arc::clone(authorized.tool());
    let valid = Valid(ValidParts { tool, rule, level, is_harmless, value, text, permissions, secrets });
    // What was passed on is hidden wherever it stands, and so is whatever stands where secrets stand.
    if valid.secrets.is_some() {
        return Ok(valid);
    }
    let parts = view.definition_parts(&valid.tool, &valid.value);
    // What was hidden before stays hidden, whatever the tool calls by now.
    let parts = match by_caller {
        Some(before) => parts.and(before),
        None => parts,
    };
    match parts {
        DefinitionParts::None => Ok(valid),
        parts => Box::pin(valid.hiding(parts, authorized.caller().tenant, &inside.vault)).await,
    }
}

/// A large input is read and checked apart from everybody else, as far as there is room for that.
pub(crate) fn overloaded(overload: Overload) -> Error {
    Error::RateLimited { why: overload.to_string(), retry_after: Duration::from_secs(1) }
}

/// Holds the input against the tool's schema.
fn fitting(
    tool: &Tool,
    input: &RawValue,
    words: Words,
    secrets: Option<&CallSecrets>,
) -> Result<(Value, Box<RawValue>)> {
    let schema = &tool.input;
    let mut value: Value =
        serde_json::from_str(input.get()).map_err(|_| Error::invalid("/input", Violation::json()))?;
    let mut changed = false;
    if words == Words::OfModel {
        changed |= !schema.coerce(&mut value).is_empty();
    }
    changed |= schema.with_defaults(&mut value);
    if !schema.is_valid(&value) {
        let faults = schema.faults(&value);
        let what = match &*faults {
            [fault] => format!("the input does not fit: `{}` {}", place(&fault.path), fault.message),
            faults => format!("the input has {} faults", faults.len()),
        };
        return Err(match schema.first_missing(&value) {
            // The first by the schema's order, which a person has given it.
            Some(param) => Error::MissingParam { param, faults },
            None => Error::InvalidParams { what, faults },
        });
    }
    let text = match secrets {
        Some(secrets) => raw(&secrets.shown(&value)),
        None if changed => raw(&value),
        None => input.to_owned(),
    };
    Ok((value, text))
}

fn place(path: &str) -> &str {
    if path.is_empty() { "input" } else { path.trim_start_matches('/') }
}
