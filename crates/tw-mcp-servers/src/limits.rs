//! How much a tenant may have.

/// How many servers a tenant may have.
pub(crate) const SERVERS_MAX: i64 = 200;
