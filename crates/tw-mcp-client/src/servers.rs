//! The MCP servers that a tenant has a name for.

use std::fmt;

use toolwright_sdk::BoxFuture;
use tw_model::{TenantId, ToolFailure};

use crate::Target;

/// Finds a server of a tenant, offered to tools by [`toolwright_sdk::Services`].
pub trait McpServers: fmt::Debug + Send + Sync {
    /// Where the server with this name or id is and what is sent to it, with its credentials open. Of a name that the
    /// tenant has not given, and of one that another tenant has, a failure that says the same.
    fn target<'a>(&'a self, tenant: TenantId, server: &'a str) -> BoxFuture<'a, Result<Target, ToolFailure>>;
}
