//! The state of a server, as far as it decides where a call goes and what is sent along.

use std::collections::BTreeSet;

use serde_json::Value;
use tw_base::{Error, Result};
use tw_model::{McpServerId, TenantId};
use tw_store::StoredMcpServer;

use crate::{servers::McpServerAdmin, stdio::stdio_name};

/// What the name or id of a server leads to.
#[derive(Debug)]
pub struct ServerStamp {
    pub named: String,
    /// `None` where there is none.
    pub found: Option<StampedServer>,
}

#[derive(Debug)]
pub struct StampedServer {
    pub id: McpServerId,
    /// Of its address and its headers, as they are stored, and of the sign-in whose token is sent.
    pub digest: blake3::Hash,
    /// The credentials in its headers, by what stands behind `secret:`.
    pub credentials: BTreeSet<String>,
}

impl McpServerAdmin {
    /// What names and ids of servers lead to now. No credential is opened, and no server is asked.
    pub async fn stamps(&self, tenant: TenantId, named: BTreeSet<String>) -> Result<Vec<ServerStamp>> {
        let mut stamps = Vec::new();
        for named in named {
            let found = match self.find(tenant, &named).await? {
                Some(server) => Some(self.stamped(tenant, &server).await?),
                None => None,
            };
            stamps.push(ServerStamp { named, found });
        }
        Ok(stamps)
    }

    async fn stamped(&self, tenant: TenantId, server: &StoredMcpServer) -> Result<StampedServer> {
        let headers = self.open(tenant, server.id, "headers", &server.headers).await?;
        let values = headers.as_object().into_iter().flat_map(|headers| headers.values());
        let values = values.filter_map(Value::as_str);
        let mut hasher = blake3::Hasher::new();
        for part in [&server.url, &server.headers] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        // A token that is refreshed stays the one of the same sign-in.
        let grant = self.store.tenant(tenant).mcp_grant(server.id).await;
        if let Some(grant) = grant.map_err(Error::store("reading a sign-in"))? {
            hasher.update(grant.id.as_bytes());
        }
        if let Some(name) = stdio_name(server)
            && let Some(process) = self.process(tenant, name).await?
        {
            hasher.update(process.command().digest().as_bytes());
        }
        Ok(StampedServer {
            id: server.id,
            digest: hasher.finalize(),
            credentials: values.flat_map(references).map(str::to_owned).collect(),
        })
    }
}

/// The credentials that a header refers to.
fn references(value: &str) -> impl Iterator<Item = &str> {
    value.split(' ').filter_map(reference)
}

/// What stands behind `secret:`, where a word of a header refers to a credential.
pub(crate) fn reference(word: &str) -> Option<&str> {
    word.strip_prefix("secret:").filter(|reference| !reference.is_empty())
}
