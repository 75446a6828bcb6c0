//! What somebody sends, read as a whole: every fault is told, or a definition comes of it.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use toolwright_sdk::{HeavyPool, Overload};
use tw_base::{Error, Result, faultless, members};
use tw_exec::{Kinds, slug_violation};
use tw_model::{Definition, Layer, Slug, Switches, TenantId};
use tw_schema::{Fault, Violation, canonical_manifest, canonical_patch};
use tw_store::{ArtifactChange, StoredTool};

use super::{
    draft::{self, Sent},
    gate::Waived,
    names::names_are_free,
};
use crate::{catalogue::View, tools::shown_fields};

pub(super) const VERSION_FIRST: &str = "1.0.0";
/// How long a definition may take to be checked, or two to be compared, behind other costly work of the tenant.
const WORK_LIMIT: Duration = Duration::from_secs(10);
pub(super) const CHECKING: &str = "checking a definition";
/// What is done while all tools of a tenant are looked through: there may be a hundred thousand.
pub(crate) const LOOKING_FOR_USERS: &str = "looking for what uses it";
/// A number stands in headers, paths and file names.
const VERSION_LEN_MAX: usize = 64;

/// A definition that is to become a tool.
#[derive(Clone)]
pub(super) struct New {
    pub(super) slug: Slug,
    pub(super) definition: Definition,
    pub(super) switches: Switches,
    pub(super) version: String,
    pub(super) publish: bool,
    /// What becomes of the artifact that the definition names.
    pub(super) artifact: Option<ArtifactChange>,
}

/// A definition that is to become a tool, before it is checked as a whole.
pub(super) struct Unchecked {
    pub(super) new: New,
    /// What is wrong with what was sent.
    pub(super) told: Vec<Fault>,
    was_unread: bool,
}

impl Unchecked {
    /// The same with everything that is wrong with it.
    pub(super) fn checked(self, kinds: &dyn Kinds) -> (New, Vec<Fault>) {
        let mut found = draft::check(&self.new.slug, &self.new.definition, kinds);
        if self.was_unread {
            // It may well have been there, in the words that could not be read.
            found.retain(|fault| !["/input_schema", "/implementation_type"].contains(&fault.path.as_str()));
        }
        (self.new, told_once(self.told, found))
    }
}

/// Reads a new tool. Without a slug nothing more can be asked about it.
pub(super) fn read_new(body: &Value) -> Result<Unchecked> {
    let has_category = body.get("category").is_some();
    let (body, unread) = in_our_words(&draft::without_own(body), canonical_manifest)?;
    let mut members = members(&body)?;
    // One that was only made of the slug is no fault of the author's.
    if !has_category && members.get("category").and_then(Value::as_str).is_none_or(draft::is_no_word) {
        members.shift_remove("category");
    }
    let mut sent = Sent::new(members);
    let was_unread = !unread.is_empty();
    sent.faults = unread;
    let (mut definition, mut switches) = (Definition::default(), Switches::default());
    sent.drop_read_only(Layer::TenantCustom);
    let publish = sent.take::<bool>("publish").flatten().unwrap_or(false);
    Waived::read(&mut sent);
    let slug = read_slug(&mut sent);
    let version = match sent.take::<String>("version").flatten() {
        None => VERSION_FIRST.to_owned(),
        Some(version) => {
            if let Err(violation) = read_version(&version) {
                sent.say("/version", violation);
            }
            version
        }
    };
    sent.onto(&mut definition);
    sent.switch(&mut switches);
    sent.refuse_unknown();
    if slug.is_none() && !sent.faults.iter().any(|fault| fault.path == "/slug") {
        sent.say("/slug", Violation::required());
    }
    let told = std::mem::take(&mut sent.faults);
    let Some(slug) = slug else { return Err(Error::refused(told)) };
    let new = New { slug, definition, switches, version, publish, artifact: None };
    Ok(Unchecked { new, told, was_unread })
}

/// A body in the canonical words, without what could not be put into them, and what is wrong with that.
fn in_our_words(body: &Value, read: fn(&Value) -> Result<Value, Vec<Fault>>) -> Result<(Value, Vec<Fault>)> {
    let faults = match read(body) {
        Ok(body) => return Ok((body, Vec::new())),
        Err(faults) => faults,
    };
    let mut rest = body.clone();
    if let Some(members) = rest.as_object_mut() {
        for fault in &faults {
            let key = fault.path.split('/').nth(1).unwrap_or_default();
            members.shift_remove(&key.replace("~1", "/").replace("~0", "~"));
        }
    }
    match read(&rest) {
        Ok(rest) => Ok((rest, faults)),
        Err(_) => Err(Error::refused(faults)),
    }
}

/// What could not be read is told once, not again as what is missing then.
fn told_once(mut told: Vec<Fault>, found: Vec<Fault>) -> Vec<Fault> {
    let mut unread: Vec<_> = told.iter().map(|fault| fault.path.clone()).collect();
    if told.iter().any(|fault| fault.path.starts_with("/implementation/artifact_")) {
        // They would have come with the artifact.
        unread.extend(["/implementation/language", "/implementation/source"].map(str::to_owned));
    }
    told.extend(found.into_iter().filter(|fault| !unread.contains(&fault.path)));
    told
}

/// A number for a version, or what is wrong with it.
pub(crate) fn read_version(text: &str) -> Result<semver::Version, Violation> {
    if VERSION_LEN_MAX < text.len() {
        return Err(Violation::max_length(VERSION_LEN_MAX));
    }
    semver::Version::parse(text).map_err(|error| Violation::version(error.to_string()))
}

pub(crate) fn read_slug(sent: &mut Sent) -> Option<Slug> {
    match sent.take::<String>("slug")??.parse() {
        Ok(slug) => Some(slug),
        Err(error) => {
            sent.say("/slug", slug_violation(&error));
            None
        }
    }
}

/// A tool with a change to it, and what it would say, which is yet to be checked as a whole, with what is wrong with
/// the change itself.
pub(crate) fn with_change(
    stored: &StoredTool,
    view: &View,
    body: &Value,
) -> Result<(StoredTool, Definition, Vec<Fault>)> {
    let mut after = stored.clone();
    let mut definition: Definition = parse(&stored.definition)?;
    let shown = shown_fields(definition.authored.fields.as_ref(), &definition.input_schema);
    let body = draft::without_echoes(body, &definition.input_schema, shown.as_ref());
    let (body, unread) = in_our_words(&body, canonical_patch)?;
    let mut sent = Sent::new(members(&body)?);
    sent.faults = unread;
    sent.drop_read_only(Layer::TenantCustom);
    let _ = sent.take::<bool>("publish");
    Waived::read(&mut sent);
    if let Some(slug) = read_slug(&mut sent)
        && slug.key() != stored.slug.key()
    {
        sent.say("/slug", Violation::slug_fixed());
    }
    if let Some(Some(version)) = sent.take::<String>("version")
        && version != stored.version
    {
        sent.say("/version", Violation::version_fixed());
    }
    sent.onto(&mut definition);
    sent.switch(&mut after.switches);
    sent.refuse_unknown();
    if sent.faults.is_empty() {
        names_are_free(view, stored.id, &definition)?;
    }
    Ok((after, definition, sent.faults))
}

/// A definition as it is stored, if nothing is wrong with it beside what is `told` already. The order of its
/// properties is the author's.
pub(crate) async fn checked(
    tenant: TenantId,
    slug: &Slug,
    definition: Definition,
    kinds: &Arc<dyn Kinds>,
    told: Vec<Fault>,
) -> Result<Arc<str>> {
    let (slug, kinds) = (slug.clone(), Arc::clone(kinds));
    let check = move || (draft::check(&slug, &definition, &*kinds), as_text(&definition));
    let (found, text) = in_lane(tenant, CHECKING, check).await?;
    faultless(told_once(told, found))?;
    Ok(text)
}

pub(crate) fn as_text(definition: &Definition) -> Arc<str> {
    serde_json::to_string(definition).expect("a definition is plain JSON").into()
}

/// A hostile schema takes a while to be refused, and no other tenant should wait for that.
pub(crate) async fn in_lane<T: Send + 'static>(
    tenant: TenantId,
    doing: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    HeavyPool::shared().run(tenant, WORK_LIMIT, work).await.map_err(|overload| refused(doing, overload))
}

fn refused(doing: &'static str, overload: Overload) -> Error {
    let why = match overload {
        Overload::Crashed => return Error::internal(doing, overload),
        Overload::Stopping => return Error::ShuttingDown,
        Overload::Full => format!("{doing}: {overload}"),
        Overload::Late { after } => {
            format!("{doing} took longer than {after:?}: make it smaller, or try again in a moment")
        }
    };
    Error::RateLimited { why, retry_after: Duration::from_secs(1) }
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::internal("reading a definition", error))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn tenant_that_has_much_to_be_checked_is_told_to_wait_and_no_other() {
        let (busy, quiet) = (TenantId::new(), TenantId::new());
        let (finish, may_finish) = std::sync::mpsc::channel::<()>();
        let mut first = Box::pin(in_lane(busy, CHECKING, move || may_finish.recv().is_ok()));
        assert!(first.as_mut().now_or_never().is_none());
        // As many as may wait: the queue has an end.
        let mut waiting = Vec::new();
        let refused = loop {
            let mut next = Box::pin(in_lane(busy, CHECKING, || true));
            match next.as_mut().now_or_never() {
                Some(ended) => break ended.unwrap_err(),
                None => waiting.push(next),
            }
            assert!(waiting.len() < 1000, "there is no end to the queue");
        };

        assert!(matches!(refused, Error::RateLimited { .. }), "{refused}");
        assert!(in_lane(quiet, CHECKING, || true).await.unwrap(), "another tenant does not wait");
        finish.send(()).unwrap();
        assert!(first.await.unwrap());
    }

    #[test]
    fn definition_that_takes_too_long_is_refused_with_the_limit_and_a_way_out() {
        let late = refused(CHECKING, Overload::Late { after: WORK_LIMIT });
        assert_eq!(
            late.to_string(),
            "checking a definition took longer than 10s: make it smaller, or try again in a moment"
        );
        assert!(late.retry_after().is_some());
    }
}
