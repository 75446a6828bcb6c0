//! What the engine promises, asked of both databases. One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod tools;
mod world;

mod approvals;
mod calls;
mod cancel;
mod drain;
mod explain;
mod failures;
mod faults;
mod idempotency;
mod log;
mod manage;
mod operator;
mod orphans;
mod projection;
mod races;
mod refusals;
mod resume;
mod revocation;
mod sessions;
mod slots;
mod waiting;
