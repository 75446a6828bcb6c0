//! Black-box tests: a real server, real HTTP, real databases, looked at from outside.
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![expect(unreachable_pub, reason = "a test binary has no outside; `pub` says what other files use")]

mod agents;
mod bad_input;
mod calls;
mod canary;
mod commands;
mod conduct;
mod credentials;
mod fairness;
mod first_steps;
mod isolation;
mod kill;
mod kinds;
mod load;
mod managed_secrets;
mod mcp;
mod mcp_clients;
mod mcp_servers;
mod mcp_sign_in;
mod mcp_upstreams;
mod otel;
mod outage;
mod people;
mod registry;
mod replicas;
mod rights;
mod shutdown;
mod stricter;
mod upgrade;
mod ways_out;
mod webhooks;
mod world;
