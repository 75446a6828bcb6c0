//! What became of imported tools on their server. Pure.

use std::collections::{HashMap, HashSet};

use crate::remote::{RemoteDefinition, RemoteDifference, differences};

/// What was imported of one tool.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    pub(super) hash: String,
    pub(super) remote: RemoteDefinition,
}

/// What is found of an imported tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    /// It is what was imported.
    Same,
    Changed {
        now: Box<RemoteDefinition>,
        diff: Vec<RemoteDifference>,
    },
    /// Another name, and the same otherwise.
    Renamed {
        now: Box<RemoteDefinition>,
        diff: Vec<RemoteDifference>,
    },
    Removed {
        diff: Vec<RemoteDifference>,
    },
}

impl Found {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed { .. } => "changed",
            Self::Renamed { .. } => "renamed",
            Self::Removed { .. } => "removed",
        }
    }

    pub(super) fn now(&self) -> Option<&RemoteDefinition> {
        match self {
            Self::Changed { now, .. } | Self::Renamed { now, .. } => Some(now),
            Self::Same | Self::Removed { .. } => None,
        }
    }

    pub(super) fn diff(&self) -> &[RemoteDifference] {
        match self {
            Self::Same => &[],
            Self::Changed { diff, .. } | Self::Renamed { diff, .. } | Self::Removed { diff } => diff,
        }
    }
}

/// Compares what was imported with what a server lists. A tool counts as the new name of another only where its own name
/// was not `listed_before`.
pub(super) fn compare(
    pinned: &[Pinned],
    listed: &[RemoteDefinition],
    listed_before: &HashSet<String>,
) -> Vec<Found> {
    let by_name: HashMap<&str, &RemoteDefinition> =
        listed.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    let mut taken: HashSet<&str> = pinned.iter().map(|pinned| pinned.remote.name.as_str()).collect();
    let mut found = Vec::new();
    for Pinned { hash, remote } in pinned {
        found.push(match by_name.get(remote.name.as_str()) {
            Some(now) if now.pinned().1 == *hash => Found::Same,
            Some(now) => {
                Found::Changed { now: Box::new((*now).clone()), diff: differences(remote, Some(now)) }
            }
            None => {
                let is_new = |tool: &&RemoteDefinition| {
                    !taken.contains(tool.name.as_str()) && !listed_before.contains(&tool.name)
                };
                match listed.iter().filter(is_new).find(|tool| remote.is_renamed(tool)) {
                    Some(now) => {
                        taken.insert(&now.name);
                        Found::Renamed { now: Box::new(now.clone()), diff: differences(remote, Some(now)) }
                    }
                    None => Found::Removed { diff: differences(remote, None) },
                }
            }
        });
    }
    found
}
