//! Tools that are a tool of somebody else's MCP server.
//!
//! `spec.rs` reads what an author wrote; the server is then a URL with headers, or one that the tenant has a name for.

mod kind;
mod spec;

pub(crate) use kind::Mcp;
