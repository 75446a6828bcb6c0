//! The tools that come with the program.
//!
//! One file per tool, in a folder by category, and one `mod` line beside it: a tool registers
//! itself. A tool knows its input and its [`ToolContext`](toolwright_sdk::ToolContext) and must never
//! reach for a store, a door or another tool (`function_call` alone looks one up, and only among those
//! that read). Every tool has a page under `docs/tools/`, and the numbers of its worked example are
//! also a test.
//!
//! Start with `analysis/roi_calculator.rs`; `tests/it/conformance.rs` is what every tool is held against.

mod analysis;
mod data;
mod figures;
mod names;
mod time;
mod web;

/// Refers to this crate, so that the linker keeps it and its tools.
///
/// Tools register themselves when the program starts; a crate that nothing refers to is left out of
/// the program, and its tools with it.
pub fn link() {}
