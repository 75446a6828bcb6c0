//! The room of JSON: reading it strictly, giving it one text, and holding it against a schema.
//!
//! It must never do IO, never fetch what a schema refers to, never run for longer than its input
//! warrants, and never know what a tool or a tenant is. It depends on no other crate of ours.
//!
//! Start with [`scan`], which every byte from outside passes; then [`canonical`], the one text of a
//! value; then [`Schema`], which is compiled once and shared. The order in which a call uses a
//! schema is: [`Schema::coerce`] (agents only), [`Schema::with_defaults`],
//! [`Schema::first_missing`], [`Schema::is_valid`] and, when it is not, [`Schema::faults`].

mod cache;
mod canonical;
mod coerce;
mod cost;
mod defaults;
mod digest;
mod limits;
mod outline;
mod path;
mod schema;
mod strict;
mod words;

pub use cache::SchemaCache;
pub use canonical::{canonical, digest};
pub use coerce::Coercion;
pub use digest::{Digest, DigestError};
pub use limits::{DEPTH_MAX as SCHEMA_DEPTH_MAX, ENUM_MAX, NODES_MAX, PATTERNS_MAX, TEXT_BYTES_MAX};
pub use schema::{FAULTS_MAX, Schema, SchemaFault};
pub use strict::{DEPTH_MAX as JSON_DEPTH_MAX, JsonFault, JsonFaultKind, parse, scan};
pub use words::Fault;
