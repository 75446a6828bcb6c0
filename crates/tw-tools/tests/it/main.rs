//! The shipped tools from outside.

mod conformance;
