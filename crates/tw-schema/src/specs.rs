//! Forms and views that somebody drew up for a tool, held against its schemas.
//!
//! A form that names a field which is not there shows nothing, and nobody is told. So a spec is
//! checked when it is saved: every place it names must be one that the schema knows, and every word
//! in it must be one that the renderer understands.

mod form;
mod reader;
mod target;
mod view;

pub use form::check_form_spec;
pub use view::{check_sections, check_view_spec};

#[cfg(test)]
mod tests;
