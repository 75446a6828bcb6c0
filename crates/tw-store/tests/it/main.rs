//! What the store promises, asked of both databases. One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod audit;
mod fence;
mod keys;
mod log;
mod logins;
mod lookup;
mod mcp_grants;
mod mcp_servers;
mod meta;
mod one_trip;
mod plans;
mod schema;
mod slots;
mod tenants;
mod users;
mod versions;
mod world;
