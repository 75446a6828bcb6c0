//! What the engine promises, asked of both databases. One binary, so that it links once.
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod tools;
mod world;

mod calls;
mod failures;
mod refusals;
mod sessions;
mod slots;
