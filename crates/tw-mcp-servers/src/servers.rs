//! What is needed to keep servers and to ask them.

use std::sync::Arc;

use tokio::sync::Notify;
use toolwright_sdk::{Credentials, Network};
use tw_base::{Lanes, Secrets};
use tw_identity::Epochs;
use tw_mcp_client::Client;
use tw_registry::Registry;
use tw_store::Store;
use tw_vault::Vault;

use crate::{
    grants::Grants,
    hasten::Hastening,
    stdio::{StdioServer, StdioServers},
};

/// How many requests to servers a tenant may have under way at once, beside calls of tools.
const ASKED_AT_ONCE: usize = 4;

/// The MCP servers of tenants, as their administrators see them.
pub struct McpServerAdmin {
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) epochs: Arc<Epochs>,
    pub(crate) secrets: Secrets,
    pub(crate) registry: Arc<Registry>,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) network: Arc<dyn Network>,
    pub(crate) client: Client,
    pub(crate) lanes: Lanes,
    pub(crate) wanted: Arc<Notify>,
    pub(crate) grants: Grants,
    pub(crate) stdio: StdioServers,
}

impl std::fmt::Debug for McpServerAdmin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServerAdmin").field("vault", &self.vault).finish_non_exhaustive()
    }
}

/// What a [`McpServerAdmin`] is made with.
#[derive(Debug)]
pub struct Parts {
    pub store: Store,
    pub vault: Vault,
    pub epochs: Arc<Epochs>,
    pub secrets: Secrets,
    pub registry: Arc<Registry>,
    pub credentials: Arc<dyn Credentials>,
    pub network: Arc<dyn Network>,
    pub client: Client,
    /// Those that the configuration starts.
    pub stdio: Vec<StdioServer>,
}

impl McpServerAdmin {
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts { store, vault, epochs, secrets, registry, credentials, network, client, stdio } = parts;
        let stdio = StdioServers::new(stdio);
        let (lanes, wanted) = (Lanes::new(ASKED_AT_ONCE), Arc::new(Notify::new()));
        client.watched_by(Arc::new(Hastening::new(store.clone(), Arc::clone(&wanted))));
        let grants = Grants {
            store: store.clone(),
            vault: vault.clone(),
            credentials: Arc::clone(&credentials),
            network: Arc::clone(&network),
        };
        Self {
            store,
            vault,
            epochs,
            secrets,
            registry,
            credentials,
            network,
            client,
            lanes,
            wanted,
            grants,
            stdio,
        }
    }
}
