//! What tests of several crates need: databases of both kinds, made fresh and gone afterwards.
//!
//! Nothing here is part of the product. Start with [`on_both!`], which declares a test for both
//! databases, and [`TestDb`], what such a test is given.

pub mod databases;
pub mod postgres;

pub use databases::{Kind, TestDb};
