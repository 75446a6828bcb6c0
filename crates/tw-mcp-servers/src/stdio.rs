//! Servers that the operator's configuration starts: each tenant that it names has one under the configured name.
//!
//! They stand beside those that tenants register, so that tools are imported from them and held like all others. Nothing
//! that is sent to the API starts a process, or changes one.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use tw_mcp_client::{McpCommand, McpProcess};
use tw_model::{TenantId, TenantSlug};
use tw_store::StoredMcpServer;

/// The address of a server that has none begins so. No address that is sent may.
pub(crate) const SCHEME: &str = "stdio:";

/// A server of the configuration.
#[derive(Clone, Debug)]
pub struct StdioServer {
    pub command: McpCommand,
    /// Who has it; the process of one is not that of another.
    pub tenants: Vec<TenantSlug>,
}

/// The servers of the configuration, and the processes of those that were asked.
#[derive(Debug)]
pub(crate) struct StdioServers {
    pub(crate) configured: Vec<StdioServer>,
    pub(crate) processes: Mutex<HashMap<(TenantId, String), Arc<McpProcess>>>,
    /// Those whose name a tenant has given to another server, and of whom the log has said so.
    pub(crate) homonyms: Mutex<HashSet<(TenantId, String)>>,
}

impl StdioServers {
    pub(crate) fn new(configured: Vec<StdioServer>) -> Self {
        Self { configured, processes: Mutex::default(), homonyms: Mutex::default() }
    }

    pub(crate) fn process(&self, tenant: TenantId, name: &str) -> Option<Arc<McpProcess>> {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.get(&(tenant, name.to_owned())).cloned()
    }
}

/// The name of the process behind a server, where it is one.
#[must_use]
pub fn stdio_name(server: &StoredMcpServer) -> Option<&str> {
    server.url.strip_prefix(SCHEME)
}
