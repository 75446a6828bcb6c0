//! Which names a tool may go by: one name, one tool.

use tw_model::{Definition, Slug, ToolId};
use tw_store::StoredTool;

use crate::{
    catalogue::View,
    error::{Error, Result},
};

pub(in crate::admin) fn is_free(view: &View, id: ToolId, slug: &Slug) -> Result<()> {
    let is_taken = view.tools.takes(slug.as_str(), id) && !is_invisible(view, slug.as_str());
    if is_taken { Err(taken(slug)) } else { Ok(()) }
}

pub(in crate::admin) fn names_are_free(view: &View, id: ToolId, definition: &Definition) -> Result<()> {
    let is_taken = |alias: &&String| view.tools.takes(alias, id) && !is_invisible(view, alias);
    match definition.authored.aliases.iter().find(is_taken) {
        Some(alias) => Err(Error::Conflict { why: format!("the name `{alias}` belongs to another tool") }),
        None => Ok(()),
    }
}

/// Whether two tools of a tenant's own could be found by the same name.
pub(in crate::admin) fn shares_a_name(tool: &StoredTool, other: &StoredTool) -> bool {
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
pub(in crate::admin) fn is_invisible(view: &View, name: &str) -> bool {
    view.tools.get(name).is_some_and(|entry| entry.in_catalogue(view.slug()) == Err("not_for_this_tenant"))
}

pub(in crate::admin) fn taken(slug: &Slug) -> Error {
    Error::Conflict { why: format!("there is a tool `{slug}` already") }
}
