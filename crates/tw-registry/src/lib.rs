//! The tools that a tenant has: the catalogue, what each caller sees of it, and how tools are made and changed.
//!
//! `catalogue.rs` has the tools as of an epoch; [`Registry`] is what doors ask.

mod artifacts;
mod authoring;
mod cases;
mod catalogue;
mod definitions;
mod explain;
mod manage;
mod mcp;
mod openapi;
mod pin;
mod references;
mod remote;
mod tools;
mod toolset;

use std::sync::{Arc, OnceLock};

use tw_base::{Lanes, Secrets};
use tw_exec::Kinds;
use tw_identity::Identity;
use tw_schema::SchemaCache;
use tw_store::Store;
use tw_vault::Vault;

pub use crate::{
    artifacts::{ArtifactWithSource, SentArtifact, artifact_mark},
    authoring::{Compared, EditContext, History, Publication, Unsaved, Waived, decided},
    cases::{
        AT_ONCE, Against, BATCH_TIME, COMPARE_TIME, Case, CaseCall, CaseEnd, CaseReport, CaseResult,
        CaseRunner, Diff, EndStatus, Expectation, Outcome, SentCase,
    },
    catalogue::{Catalogue, CatalogueError, Own, Side, Tool, ToolEntry, View},
    explain::{Check, ExplainAbout, Explained, ExplainedFor},
    manage::definition as manage_tools,
    mcp::{ImportedTool, McpImport, McpSource, SkippedRemote, Suspicion, makes_slugs, suspicions},
    openapi::{ImportNote, ImportedTools, SkippedOperation},
    remote::{RemoteDefinition, RemoteDifference, differences},
    tools::{Listed, Saved, ToolFilter, seen},
    toolset::{Callable, ToolsetKey},
};

/// The tools of all tenants.
#[derive(Debug)]
pub struct Registry {
    store: Store,
    catalogue: Arc<Catalogue>,
    vault: Vault,
    identity: Arc<Identity>,
    secrets: Secrets,
    /// One change at a time for each tenant: two that were checked side by side would have one of them checked again.
    edits: Lanes,
    /// Set once the engine is there.
    runner: OnceLock<Arc<dyn CaseRunner>>,
}

impl Registry {
    /// Prepares every tool that is part of the program.
    ///
    /// # Errors
    ///
    /// When two tools share a slug, or a schema cannot be used.
    pub fn new(
        store: Store,
        vault: Vault,
        identity: Arc<Identity>,
        secrets: Secrets,
        kinds: Arc<dyn Kinds>,
    ) -> Result<Arc<Self>, CatalogueError> {
        let registered = toolwright_sdk::registered()?;
        let manage = Arc::new(manage::ManageTools::default());
        let own = vec![manage::ManageTools::tool(&manage)];
        let catalogue = Catalogue::new(store.clone(), &registered, own, SchemaCache::new(), kinds)?;
        let (catalogue, edits) = (Arc::new(catalogue), Lanes::new(1));
        let runner = OnceLock::new();
        let registry = Arc::new(Self { store, catalogue, vault, identity, secrets, edits, runner });
        manage.serve(&registry);
        Ok(registry)
    }

    #[must_use]
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }
}
