//! The room of JSON: reading it strictly, giving it one text, and holding it against a schema.
//!
//! It must never do IO, never fetch what a schema refers to, never run for longer than its input
//! warrants, and never know a tenant or a caller. Of tools it knows only how they are written down.
//! It depends on no other crate of ours.
//!
//! Start with [`scan`], which every byte from outside passes; then [`canonical`], the one text of a
//! value; then [`Schema`], which is compiled once and shared. The order in which a call uses a
//! schema is: [`Schema::coerce`] (agents only), [`Schema::with_defaults`],
//! [`Schema::first_missing`], [`Schema::is_valid`] and, when it is not, [`Schema::faults`].
//!
//! Whoever writes a tool down passes [`canonical_manifest`] first, whatever dialect it came in;
//! [`fields_to_schema`] and [`schema_to_fields`] lead between the two forms of an input;
//! [`check_form_spec`] and its neighbours hold what is drawn against what is known; and [`compare`]
//! says what a new version means to those who use the old one.

mod cache;
mod canonical;
mod coerce;
mod compare;
mod cost;
mod defaults;
mod digest;
mod fault;
mod fields;
mod limits;
mod local;
mod manifest;
mod outline;
mod pattern;
mod pointer;
mod schema;
mod specs;
mod strict;
mod subschemas;
mod words;

pub use cache::SchemaCache;
pub use canonical::{canonical, digest};
pub use coerce::Coercion;
pub use compare::{Bump, Comparison, Definition, Difference, Part, compare};
pub use digest::{Digest, DigestError};
pub use fault::{FAULTS_MAX, Fault, FaultCode, SchemaFault, Violation};
pub use fields::{
    FIELD_DEPTH_MAX, FIELD_NAME_MAX, FIELDS_MAX, Field, FieldOption, FieldType, FieldsFault, Side, component,
    fields_to_schema, parse_fields, schema_to_fields, variants,
};
pub use limits::{
    BRANCHES_MAX, DEPTH_MAX as SCHEMA_DEPTH_MAX, ENUM_MAX, NODES_MAX, PATTERN_TEXT_MAX, PATTERNS_MAX,
    PROPERTIES_MAX, TEXT_BYTES_MAX,
};
pub use manifest::{canonical_manifest, canonical_patch, slug_from_name};
pub use schema::Schema;
pub use specs::{check_form_spec, check_sections, check_view_spec};
pub use strict::{DEPTH_MAX as JSON_DEPTH_MAX, JsonFault, JsonFaultKind, parse, scan};
pub use subschemas::{moved, without_booleans};
