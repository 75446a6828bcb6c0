//! The words for how it went with a server.

/// The server answered, and its tools are known.
pub(crate) const READY: &str = "ready";
/// The server asks who calls, and does not take what it is sent.
pub(crate) const UNAUTHORIZED: &str = "unauthorized";
/// No answer came.
pub(crate) const UNREACHABLE: &str = "unreachable";
/// What it answered is of no use.
pub(crate) const FAILED: &str = "failed";
