//! Toolwright as a client of somebody else's MCP server, over HTTP, or over the pipes of a process that the operator's
//! configuration starts.
//!
//! A server is a stranger: what it lists and answers has limits, is searched for the credentials that were sent to it,
//! and no address in it is ever called. Everything leaves by the guarded client of the tenant. Which revision a server
//! speaks is learned by asking it and remembered with its session; no session is ever shared between tenants, or
//! between credentials of one tenant.
//!
//! Start with [`Client`]; which revision is spoken is decided in `era.rs`, and the one request is sent in
//! `exchange.rs`. [`oauth`] signs in to servers that ask for it.

mod client;
mod connect;
mod deserted;
mod era;
mod error;
mod exchange;
mod limits;
mod listing;
mod mirrored;
pub mod oauth;
mod outcome;
mod process;
mod rpc;
mod servers;
mod target;
mod watch;

pub use client::Client;
pub use era::{EARLIER, PRESENT};
pub use error::{At, Error, Overrun};
pub use limits::{CallOptions, ListLimits};
pub use listing::{Annotations, Icon, LeftOut, RemoteTool, ServerInfo, ToolListing as Listing};
pub use outcome::CallResult;
pub use process::{McpCommand, McpProcess};
pub use servers::McpServers;
pub use target::{Bearer, McpTarget as Target, NoToken, Renewal};
pub use watch::ListWatch;
