//! What a server listed last, as it is kept and as it is shown.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_mcp_client::Listing;
use tw_model::Level;
use tw_registry::{ImportedTool, RemoteDefinition, Suspicion, suspicions};

/// What a server says about itself, and what of its list cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAbout {
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    /// The revision of the protocol that it is asked in.
    pub revision: Option<String>,
    /// Entries of its list that are no tools: name and reason.
    #[serde(default)]
    pub left_out: Vec<(String, String)>,
}

/// How many entries that are no tools are remembered.
const LEFT_OUT_MAX: usize = 50;

/// Whether a remote tool is a tool here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// Not imported.
    New,
    Imported,
    /// Imported, and other than it was then. Nobody may call it until somebody has decided.
    Held,
}

/// A tool of a server, and what is known of it here.
#[derive(Clone, Debug)]
pub struct ListedTool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub annotations: Option<Value>,
    /// The name of its definition.
    pub hash: Option<String>,
    /// The level that the server's hints speak for.
    pub proposed_level: Option<Level>,
    /// Whether the server has it in the list it gave last.
    pub listed: bool,
    pub state: ToolState,
    pub imported: Option<ImportedTool>,
    pub warnings: Vec<Suspicion>,
}

impl ServerAbout {
    pub(crate) fn of(listing: &Listing) -> Self {
        let server = &listing.server;
        let left_out = listing.left_out.iter().take(LEFT_OUT_MAX);
        Self {
            name: server.name.clone(),
            title: server.title.clone(),
            version: server.version.clone(),
            revision: listing.revision.clone(),
            left_out: left_out.map(|left_out| (left_out.name.clone(), left_out.why.clone())).collect(),
        }
    }

    /// As it was kept.
    #[must_use]
    pub fn kept(text: Option<&str>) -> Option<Self> {
        serde_json::from_str(text?).ok()
    }
}

/// The tools of a list, as they are kept.
pub(crate) fn remote_tools(listing: Listing) -> Vec<RemoteDefinition> {
    let tool = |tool: tw_mcp_client::RemoteTool| RemoteDefinition {
        annotations: tool.raw.get("annotations").filter(|hints| hints.is_object()).cloned(),
        name: tool.name,
        title: tool.title,
        description: tool.description,
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
    };
    listing.tools.into_iter().map(tool).collect()
}

/// What was kept of a list. One that cannot be read is none.
pub(crate) fn kept_tools(text: Option<&str>) -> Vec<RemoteDefinition> {
    let read = text.map(serde_json::from_str).transpose();
    read.inspect_err(|error| tracing::error!(%error, "the list of an MCP server cannot be read"))
        .ok()
        .flatten()
        .unwrap_or_default()
}

/// Whether a tool may be imported.
pub(crate) fn is_allowed(allowed: Option<&[String]>, name: &str) -> bool {
    allowed.is_none_or(|allowed| allowed.iter().any(|each| each == name))
}

/// The tools that may be imported, in the server's order, then those that were imported and are not there any more.
pub(crate) fn shown(
    listed: Vec<RemoteDefinition>,
    imported: Vec<ImportedTool>,
    allowed: Option<&[String]>,
) -> Vec<ListedTool> {
    let mut imported: HashMap<String, ImportedTool> =
        imported.into_iter().map(|tool| (tool.import.tool.clone(), tool)).collect();
    let mut shown = Vec::new();
    for remote in listed {
        let here = imported.remove(&remote.name);
        if here.is_none() && !is_allowed(allowed, &remote.name) {
            continue;
        }
        shown.push(ListedTool {
            hash: Some(remote.pinned().1),
            proposed_level: Some(remote.proposed_level()),
            warnings: suspicions(&remote),
            listed: true,
            state: state(here.as_ref()),
            imported: here,
            name: remote.name,
            title: remote.title,
            description: remote.description,
            annotations: remote.annotations,
        });
    }
    let mut gone: Vec<_> = imported.into_iter().collect();
    gone.sort_by(|one, other| one.0.cmp(&other.0));
    shown.extend(gone.into_iter().map(|(name, tool)| ListedTool {
        name,
        title: None,
        description: None,
        annotations: None,
        hash: None,
        proposed_level: None,
        listed: false,
        state: state(Some(&tool)),
        imported: Some(tool),
        warnings: Vec::new(),
    }));
    shown
}

fn state(imported: Option<&ImportedTool>) -> ToolState {
    match imported {
        None => ToolState::New,
        Some(tool) if tool.import.held => ToolState::Held,
        Some(_) => ToolState::Imported,
    }
}
