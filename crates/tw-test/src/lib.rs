//! What tests of several crates need: databases of both kinds, made fresh and gone afterwards, and
//! upstreams that behave badly.
//!
//! Nothing here is part of the product. Start with [`on_both!`], which declares a test for both
//! databases, and [`TestDb`], what such a test is given; for what calls other people's servers, with
//! [`Upstream`], for what asks language models, with [`ModelServer`], and for what calls MCP servers, with
//! [`McpServer`], behind an [`AuthServer`] where it asks to sign in.

pub mod databases;
pub mod entries;
pub mod hostile;
pub mod mcp;
pub mod models;
pub mod postgres;
pub mod receiver;
pub mod sign_in;

pub use databases::{Kind, TestDb};
pub use hostile::Upstream;
pub use mcp::{Generation, McpServer, Quirk};
pub use models::{ModelFormat, ModelServer};
pub use receiver::{HookMessage, Receiver};
pub use sign_in::AuthServer;

/// How often a race is run: often enough to see every order come up, and in `make soak` until rare ones do.
#[must_use]
pub fn trials() -> usize {
    if std::env::var_os("TW_SOAK").is_some() { 1000 } else { 60 }
}
