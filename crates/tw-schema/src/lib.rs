//! JSON and JSON Schema: strict parsing, canonical text, validation, and comparison of versions.
//!
//! The crate must never do IO, never fetch a remote reference, never run for longer than its input
//! warrants, and never know a tenant or a caller. Of tools it knows only their manifests. It depends
//! on no other crate of ours.
//!
//! Start with [`scan`], which checks every JSON text from outside; then [`canonical`], which gives
//! equal values equal texts; then [`Schema`], which is compiled once and shared. A call uses a schema
//! in this order: [`Schema::coerce`] (agents only), [`Schema::with_defaults`],
//! [`Schema::first_missing`], [`Schema::is_valid`] and, if the value is invalid, [`Schema::faults`].
//!
//! [`canonical_manifest`] translates a tool's manifest from any dialect. [`fields_to_schema`] and
//! [`schema_to_fields`] convert between the two forms of an input. [`check_form_spec`],
//! [`check_view_spec`] and [`check_sections`] check forms and views against the schemas of their tool.
//! [`check_schema_translations`] and [`check_translations`] check what is written for people of other
//! languages. [`project`] rewrites an input for the providers of models, and [`unproject`] turns their arguments
//! back. [`compare`] finds the changes of a new version that break users of the old one.

mod advice;
mod cache;
mod canonical;
mod coerce;
mod compare;
mod cost;
mod defaults;
mod digest;
mod fault;
mod fields;
mod i18n;
mod limits;
mod local;
mod manifest;
mod members;
mod mirrored;
mod outline;
mod pattern;
mod pointer;
mod projection;
mod schema;
mod specs;
mod strict;
mod subschemas;
mod words;

pub use advice::input_warnings;
pub use cache::SchemaCache;
pub use canonical::{canonical, digest};
pub use coerce::Coercion;
pub use compare::{Bump, Comparison, Difference, Part, SchemaPair, compare};
pub use digest::{Digest, DigestError};
pub use fault::{FAULTS_MAX, Fault, FaultCode, SchemaFault, Violation};
pub use fields::{
    ComponentSide, FIELD_DEPTH_MAX, FIELD_NAME_MAX, FIELDS_MAX, Field, FieldOption, FieldTexts, FieldType,
    FieldsFault, component, fields_to_schema, parse_fields, schema_to_fields, variants,
};
pub use i18n::{Bound, check_schema_translations, check_translations};
pub use limits::{
    BRANCHES_MAX, DEPTH_MAX as SCHEMA_DEPTH_MAX, ENUM_MAX, NODES_MAX, PATTERN_TEXT_MAX, PATTERNS_MAX,
    PROPERTIES_MAX, TEXT_BYTES_MAX,
};
pub use manifest::{canonical_manifest, canonical_patch, slug_from_name};
pub use members::{Unnamed, known_instead};
pub use mirrored::{MirroredParam, mirrored_params, without_unfit_mirrors};
pub use projection::{Projected, SchemaChange, ToolFormat, Unprojectable, project, unproject};
pub use schema::Schema;
pub use specs::{check_form_spec, check_sections, check_view_spec};
pub use strict::{DEPTH_MAX as JSON_DEPTH_MAX, JsonFault, JsonFaultKind, parse, scan};
pub use subschemas::{moved, without_booleans, without_translations};
