//! Servers are asked again by and by: each by one replica, few at a time, the longest due first.

use std::time::Duration;

use futures::{StreamExt, stream};
use tw_base::{Error, Result};
use tw_model::{McpServerId, TenantId, Timestamp};
use tw_store::By;

use crate::servers::McpServerAdmin;

/// How many are taken in one go, and how many of them are asked at once.
const TAKEN: i64 = 20;
const AT_ONCE: usize = 4;
/// For how long a server belongs to the replica that took it; longer than asking it may take.
const CLAIMED_FOR: Duration = Duration::from_secs(60);

impl McpServerAdmin {
    /// Resolves once there are servers that are not to wait for their time.
    pub async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Asks the servers that are due. Whatever goes wrong with one is no matter of the others.
    pub async fn refresh_due(&self) -> Result<usize> {
        self.keep_stdio().await?;
        let now = Timestamp::now();
        let due = self.store.due_mcp_servers(now, TAKEN).await;
        let due = due.map_err(Error::store("looking for MCP servers"))?;
        let count = due.len();
        stream::iter(due)
            .for_each_concurrent(AT_ONCE, async |(tenant, id)| {
                if let Err(error) = self.refresh_one(tenant, id, now).await {
                    tracing::warn!(%id, error = &error as &dyn std::error::Error, "an MCP server was not refreshed");
                }
            })
            .await;
        Ok(count)
    }

    async fn refresh_one(&self, tenant: TenantId, id: McpServerId, now: Timestamp) -> Result<()> {
        let scope = self.store.tenant(tenant);
        let claimed = scope.claim_mcp_server(id, now, now.plus(CLAIMED_FOR)).await;
        if !claimed.map_err(Error::store("taking an MCP server"))? {
            return Ok(());
        }
        let server = scope.mcp_server(id).await.map_err(Error::store("reading an MCP server"))?;
        let Some(server) = server else { return Ok(()) };
        self.renew(tenant, server, &By::system()).await.map(drop)
    }
}
