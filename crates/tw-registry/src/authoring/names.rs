//! Which names a tool may go by: one name, one tool.

use tw_base::{Error, Result};
use tw_model::{Definition, Slug, ToolId, Unlisted, look_alike};
use tw_schema::Violation;
use tw_store::StoredTool;

use crate::catalogue::{ToolEntry, View};

pub(crate) fn is_free(view: &View, id: ToolId, slug: &Slug) -> Result<()> {
    let is_taken = view.tools.takes(slug.as_str(), id) && !is_invisible(view, slug.as_str());
    if is_taken { Err(taken(slug)) } else { looks_like_no_other(view, id, slug.as_str()) }
}

pub(crate) fn names_are_free(view: &View, id: ToolId, definition: &Definition) -> Result<()> {
    let is_taken = |alias: &&String| view.tools.takes(alias, id) && !is_invisible(view, alias);
    match definition.authored.aliases.iter().find(is_taken) {
        Some(alias) => Err(Error::Taken {
            why: format!("the name `{alias}` belongs to another tool"),
            fault: Box::new(Violation::taken(alias.as_str()).at("/aliases")),
        }),
        None => definition.authored.aliases.iter().try_for_each(|alias| looks_like_no_other(view, id, alias)),
    }
}

/// Refuses a name that people and models would take for that of another tool in sight.
fn looks_like_no_other(view: &View, id: ToolId, name: &str) -> Result<()> {
    let in_sight = |entry: &&ToolEntry| {
        entry.id() != id && entry.in_catalogue(view.slug()) != Err(Unlisted::NotForThisTenant)
    };
    let other = view.tools.looking_like(name).find(in_sight).map(|entry| entry.slug().as_str());
    // A reserved word itself is no slug at all, and told so elsewhere.
    let is_near = |word: &&str| look_alike(word, name) && !word.eq_ignore_ascii_case(name);
    let reserved = Slug::RESERVED.iter().copied().find(is_near);
    match other.or(reserved) {
        None => Ok(()),
        Some(other) => {
            let why = format!(
                "`{name}` is too similar to `{other}`: names must differ in more than case, `.`, `_` and `-`"
            );
            Err(Error::Conflict { why })
        }
    }
}

/// Whether two tools of a tenant's own could be taken for each other by a name.
pub(crate) fn shares_a_name(tool: &StoredTool, other: &StoredTool) -> bool {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(default)]
        aliases: Vec<String>,
    }
    let names = |tool: &StoredTool| {
        let texts = [Some(&tool.definition), tool.live.as_ref()];
        let named = texts.into_iter().flatten().filter_map(|text| serde_json::from_str::<Named>(text).ok());
        named.flat_map(|named| named.aliases).chain([tool.slug.to_string()]).collect::<Vec<_>>()
    };
    let (ours, theirs) = (names(tool), names(other));
    tool.id != other.id && theirs.iter().any(|name| ours.iter().any(|our| look_alike(our, name)))
}

/// A tool of other tenants' takes no name away here.
pub(crate) fn is_invisible(view: &View, name: &str) -> bool {
    view.tools
        .get(name)
        .is_some_and(|entry| entry.in_catalogue(view.slug()) == Err(Unlisted::NotForThisTenant))
}

pub(crate) fn taken(slug: &Slug) -> Error {
    let fault = Box::new(Violation::taken(slug.as_str()).at("/slug"));
    Error::Taken { why: format!("there is a tool `{slug}` already"), fault }
}
