//! The server that is measured, and the bodies that are sent to it.
//!
//! The program `subject` is the real doors, engine and store with tools of its own. The program `tw-bench`
//! starts it, and the floors it is held against, as processes of their own and measures from outside.
//! Nothing here is part of the product.
//!
//! Start with `main.rs`, then `goals/`, one file per goal.

pub mod bodies;
pub mod subject;
mod tools;
pub mod work;
