//! Checks of a tool's forms and views against its schemas.
//!
//! A form that names a missing field would silently show nothing. So a spec is checked when it is saved:
//! the schema must describe every path in it, and the renderer must know every word in it.

mod form;
mod reader;
mod target;
mod view;

pub use form::check_form_spec;
pub use view::{check_sections, check_view_spec};

#[cfg(test)]
mod tests;
