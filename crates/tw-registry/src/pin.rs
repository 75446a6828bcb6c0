//! Which version of which artifact a tool runs.

use serde_json::{Map, Value, json};
use tw_base::{Error, Result, read_value};
use tw_model::{ArtifactId, Definition, Implementation, Slug, TenantId, Timestamp};
use tw_schema::{Digest, Fault, Violation};
use tw_store::{ArtifactChange, StoredArtifact};

use crate::Registry;

const ID: &str = "artifact_id";
const VERSION: &str = "artifact_version";
const LANGUAGE: &str = "language";
const SOURCE: &str = "source";

/// One version of one artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pin {
    pub(crate) id: ArtifactId,
    pub(crate) version: i64,
}

impl Pin {
    /// What an `implementation` that was stored names.
    pub(crate) fn of(implementation: &Value) -> Option<Self> {
        let id = implementation.get(ID)?.as_str()?.parse().ok()?;
        Some(Self { id, version: implementation.get(VERSION)?.as_i64()? })
    }

    /// Takes the names of artifact and version out, and leaves the source.
    pub(crate) fn leave(self, implementation: &mut Value) {
        let Some(members) = implementation.as_object_mut() else { return };
        for key in [ID, VERSION] {
            members.shift_remove(key);
        }
    }
}

/// A script, as far as it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Text<'a> {
    language: Option<&'a str>,
    source: Option<&'a str>,
}

impl<'a> Text<'a> {
    fn of(implementation: &'a Value) -> Self {
        let text = |key: &str| implementation.get(key).and_then(Value::as_str);
        Self { language: text(LANGUAGE), source: text(SOURCE) }
    }

    fn or(self, other: Self) -> Self {
        Self { language: self.language.or(other.language), source: self.source.or(other.source) }
    }
}

impl Registry {
    /// Gives a definition of a script the source of the artifact that it names, or an artifact for its source, and says
    /// what of that has to be written with the tool. `before` is the `implementation` that the tool has.
    ///
    /// - A version that is named is taken, with its source, unless another source stands beside it. That is the next
    ///   version where it stands in the place of the one that was read, and a fault where both were changed.
    /// - Without a number, a source that is not the newest is the next version; without a source, the newest is meant.
    pub(crate) async fn pin(
        &self,
        tenant: TenantId,
        slug: &Slug,
        definition: &mut Definition,
        before: Option<&Value>,
    ) -> Result<(Option<ArtifactChange>, Vec<Fault>)> {
        let is_script = definition.implementation_type == Implementation::Artifact.type_name();
        let implementation = &mut definition.authored.implementation;
        let Some(members) = implementation.as_object().filter(|_| is_script) else {
            return Ok((None, Vec::new()));
        };
        let said = match said(members) {
            Ok(said) => said,
            Err(fault) => return Ok((None, vec![fault])),
        };
        let stored = before.and_then(Pin::of);
        let Some(id) = said.id.or(stored.map(|pin| pin.id)) else {
            if said.version.is_some() {
                return Ok((None, vec![Violation::required().at(format!("/implementation/{ID}"))]));
            }
            let text = Text::of(implementation);
            // A tool that was never given an artifact gets one with its next script.
            let is_as_before = before.is_some_and(|before| Text::of(before) == text);
            let Text { language: Some(language), source: Some(source) } = text else {
                return Ok((None, Vec::new()));
            };
            if is_as_before {
                return Ok((None, Vec::new()));
            }
            // Who makes it is known when it is written.
            let artifact = first(slug.to_string(), language, source, String::new());
            let source = source.to_owned();
            put(implementation, &artifact, None);
            return Ok((Some(ArtifactChange::Made { artifact, source }), Vec::new()));
        };
        let scope = self.store.tenant(tenant);
        let head = scope.artifact(id).await.map_err(Error::store("reading an artifact"))?;
        let Some(head) = head else {
            return Ok((None, vec![Violation::artifact_unknown().at(format!("/implementation/{ID}"))]));
        };
        let sent = Text::of(implementation);
        let old = before.filter(|_| stored.is_some()).map(Text::of);
        // What was read and comes back means what it was read of.
        let is_echo = old.is_some_and(|old| sent.or(old) == old);
        let echoed = stored.filter(|pin| pin.id == id && is_echo && sent.source.is_some());
        let number = said.version.or(echoed.map(|pin| pin.version)).unwrap_or(head.version);
        let is_as_stored = stored == Some(Pin { id, version: number });
        let base = self.version_of(tenant, id, number).await?;
        let Some(base) = base else {
            let violation = Violation::artifact_version(head.version);
            return Ok((None, vec![violation.at(format!("/implementation/{VERSION}"))]));
        };
        let of_base = Text { language: Some(&base.language), source: base.source.as_deref() };
        let wanted = sent.or(of_base);
        if wanted == of_base || (is_echo && !is_as_stored) {
            let pinned = StoredArtifact { version: number, language: base.language.clone(), ..head };
            put(implementation, &pinned, base.source.as_deref());
            return Ok((Some(ArtifactChange::Kept(id)), Vec::new()));
        }
        if said.version.is_some() && !is_as_stored {
            let violation = Violation::artifact_source(number);
            return Ok((None, vec![violation.at(format!("/implementation/{SOURCE}"))]));
        }
        let Text { language: Some(language), source: Some(source) } = wanted else {
            return Ok((None, Vec::new()));
        };
        let newest = self.version_of(tenant, id, head.version).await?;
        let is_newest = newest
            .is_some_and(|newest| newest.language == language && newest.source.as_deref() == Some(source));
        let source = source.to_owned();
        if is_newest {
            put(implementation, &head, Some(&source));
            return Ok((Some(ArtifactChange::Kept(id)), Vec::new()));
        }
        let after = next(&head, language, &source);
        put(implementation, &after, Some(&source));
        Ok((Some(ArtifactChange::Next { before: head, after, source }), Vec::new()))
    }
}

/// What an `implementation` that was sent names.
struct Said {
    id: Option<ArtifactId>,
    version: Option<i64>,
}

fn said(members: &Map<String, Value>) -> std::result::Result<Said, Fault> {
    let sent = |key: &str| members.get(key).cloned().unwrap_or_default();
    let path = |key: &str| format!("/implementation/{key}");
    let id: Option<String> = read_value(&path(ID), sent(ID))?;
    // What is no id names no artifact.
    let id = id.map(|id| id.parse().map_err(|_| Violation::artifact_unknown().at(path(ID)))).transpose()?;
    let version: Option<u32> = read_value(&path(VERSION), sent(VERSION))?;
    Ok(Said { id, version: version.map(i64::from) })
}

/// Writes down which version a script is, and with a `source` what it says.
fn put(implementation: &mut Value, artifact: &StoredArtifact, source: Option<&str>) {
    let Some(members) = implementation.as_object_mut() else { return };
    let source = source.map(Value::from).or_else(|| members.get(SOURCE).cloned());
    for key in [ID, VERSION, LANGUAGE, SOURCE] {
        members.shift_remove(key);
    }
    let others = std::mem::take(members);
    members.insert(ID.to_owned(), json!(artifact.id));
    members.insert(VERSION.to_owned(), json!(artifact.version));
    members.insert(LANGUAGE.to_owned(), json!(artifact.language));
    members.insert(SOURCE.to_owned(), source.unwrap_or_default());
    members.extend(others);
}

/// The digest of a source, with the name of its algorithm.
fn checksum(source: &str) -> String {
    format!("blake3:{}", Digest::of(source.as_bytes()))
}

/// A new artifact, in its first version.
pub(crate) fn first(name: String, language: &str, source: &str, author: String) -> StoredArtifact {
    let now = Timestamp::now();
    StoredArtifact {
        id: ArtifactId::new(),
        name,
        version: 1,
        language: language.to_owned(),
        checksum: checksum(source),
        created: now,
        updated: now,
        created_by: author,
    }
}

/// An artifact with a next version.
pub(crate) fn next(before: &StoredArtifact, language: &str, source: &str) -> StoredArtifact {
    StoredArtifact {
        version: before.version + 1,
        language: language.to_owned(),
        checksum: checksum(source),
        updated: before.moment_after(),
        ..before.clone()
    }
}
