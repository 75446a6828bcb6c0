//! The server that is measured, and the bodies that are sent to it.
//!
//! The programs `subject` and `crowd` are the real doors, engine and store with tools of their own; they
//! differ only in how many tools they have. The program `tw-bench` starts them, and the floors they are
//! held against, as processes of their own and measures from outside. Nothing here is part of the
//! product.
//!
//! Start with `main.rs`, then `goals/`, one file per goal.

pub mod bodies;
pub mod subject;
mod tools;

/// How many tools `crowd` has beyond those of `subject`.
pub const CROWD: u32 = 1_600;

/// The slug of one of them.
#[must_use]
pub fn crowd_slug(number: u32) -> String {
    format!("crowd.tool{number}")
}
