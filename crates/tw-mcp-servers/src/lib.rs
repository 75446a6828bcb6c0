//! The MCP servers of others that a tenant uses: registered, asked for their tools, and watched.
//!
//! A list here never asks a server: it shows what the server said last. Servers are asked when somebody adds, changes or
//! refreshes one, and by and by in the background, each on one replica. What they say is held against what was imported
//! by `tw-registry`, which holds the tools that changed.
//!
//! Start with [`McpServerAdmin`]; `ask.rs` is the one way to a server, and `read.rs` reads what is sent here. Somebody signs
//! in by `sign_in.rs`, and what comes of it is kept by `grants.rs`.

mod admin;
mod ask;
mod grants;
mod hasten;
mod limits;
mod listing;
mod read;
mod servers;
mod sign_in;
mod stamp;
mod started;
mod state;
mod stdio;
mod sweep;

pub use crate::{
    admin::{Decision, SentImport, ServerDetail, ServerSummary, server_mark},
    listing::{ListedTool, ServerAbout, ToolState},
    servers::{McpServerAdmin, Parts},
    sign_in::{CallbackSent, OwnAddress},
    stamp::{ServerStamp, StampedServer},
    stdio::{StdioServer, stdio_name},
};
