//! Each tenant that the configuration names has the servers of the configuration among its own.

use std::sync::{Arc, PoisonError};

use tw_base::{Error, Result};
use tw_mcp_client::{McpCommand, McpProcess};
use tw_model::{McpServerId, TenantId, Timestamp};
use tw_store::{By, LastAnswer, StoredMcpServer};

use crate::{
    limits::SERVERS_MAX,
    servers::McpServerAdmin,
    stdio::{SCHEME, StdioServer, stdio_name},
};

impl McpServerAdmin {
    /// Gives every tenant that the configuration names its servers. A tenant that is made later has them later.
    pub(crate) async fn keep_stdio(&self) -> Result<()> {
        for StdioServer { command, tenants } in &self.stdio.configured {
            for slug in tenants {
                let tenant = self.store.find_tenant(slug).await;
                let Some(tenant) = tenant.map_err(Error::store("looking for a tenant"))? else { continue };
                if self.stdio.process(tenant, &command.name).is_none()
                    && self.has_stdio(tenant, command).await?
                {
                    let process = Arc::new(McpProcess::new(command.clone()));
                    let mut processes = self.stdio.processes.lock().unwrap_or_else(PoisonError::into_inner);
                    processes.entry((tenant, command.name.clone())).or_insert(process);
                }
            }
        }
        Ok(())
    }

    /// Whether a tenant has a server of the configuration under its name; it is made where nothing has the name.
    async fn has_stdio(&self, tenant: TenantId, command: &McpCommand) -> Result<bool> {
        let url = format!("{SCHEME}{}", command.name);
        let scope = self.store.tenant(tenant);
        let found = scope.mcp_server_by_name(&command.name).await;
        if let Some(found) = found.map_err(Error::store("reading an MCP server"))? {
            let is_ours = found.url == url;
            if !is_ours {
                let mut homonyms = self.stdio.homonyms.lock().unwrap_or_else(PoisonError::into_inner);
                if homonyms.insert((tenant, command.name.clone())) {
                    let name = &command.name;
                    tracing::warn!(%tenant, name, "an MCP server of the configuration has the name of another");
                }
            }
            return Ok(is_ours);
        }
        let (now, by) = (Timestamp::now(), By::operator());
        let server = StoredMcpServer {
            id: McpServerId::new(),
            name: command.name.clone(),
            url,
            headers: "{}".to_owned(),
            allowed_tools: None,
            oauth: None,
            answer: LastAnswer { status: crate::state::UNREACHABLE.to_owned(), ..LastAnswer::default() },
            created: now,
            updated: now,
            created_by: by.actor.clone(),
        };
        match scope.create_mcp_server(&server, None, now, SERVERS_MAX, &by).await {
            // Another replica was quicker.
            Ok(()) | Err(tw_store::Error::Taken { .. }) => {}
            Err(error) => return Err(Error::store("adding an MCP server")(error)),
        }
        self.epochs.ask(tenant).await.map(|_| true)
    }

    /// The process that is a server of this tenant; `None` where the configuration does not say so, or no longer.
    pub(crate) async fn process(&self, tenant: TenantId, name: &str) -> Result<Option<Arc<McpProcess>>> {
        if let Some(process) = self.stdio.process(tenant, name) {
            return Ok(Some(process));
        }
        self.keep_stdio().await?;
        Ok(self.stdio.process(tenant, name))
    }

    /// Refuses to change what the configuration says. A server that it does not name any more may go.
    pub(crate) async fn not_of_the_operator(
        &self,
        tenant: TenantId,
        server: &StoredMcpServer,
        is_removed: bool,
    ) -> Result<()> {
        let Some(name) = stdio_name(server) else { return Ok(()) };
        if is_removed && self.process(tenant, name).await?.is_none() {
            return Ok(());
        }
        let why = "the configuration of the server starts this MCP server, and alone changes it".to_owned();
        Err(Error::Conflict { why })
    }
}
