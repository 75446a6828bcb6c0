//! What runs a tool that somebody wrote down: one file per execution kind, and what they share.
//!
//! A kind reads the `implementation` of a definition once, when the tool is saved or first called, and
//! tells everything that is wrong with it. What it has read is then called with an input and a world
//! ([`http::World`]), which is all that it may touch. A kind never opens a connection by other means than the client of
//! `tw-egress`, never sees a store or another tenant, and never lets an input become code: what a
//! caller sends is inserted into a template, once and as it is.
//!
//! Start with [`Template`], which every kind uses; then [`http::HttpSpec`].

mod all;
mod apart;
mod artifact;
mod circuit;
mod composition;
mod condition;
mod faults;
mod function;
mod headers;
pub mod http;
mod internal;
mod mcp;
mod outside;
mod program;
mod prompt;
mod sealed_chain;
mod template;
mod url_template;

pub use all::AllKinds;
pub use condition::Condition;
pub use template::{Context, Template};
pub use url_template::UrlTemplate;
