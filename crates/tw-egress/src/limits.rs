//! How much of time and memory a request may take.

use std::time::Duration;

/// The bounds of every request. What is over one of them ends in a typed error, never in a longer wait
/// or a larger process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// From the first look-up to the last byte of the answer, where the request names no end itself.
    pub total: Duration,
    /// For finding the address, connecting and shaking hands.
    pub connect: Duration,
    /// Of the status line and the headers of an answer together, and once more of all that only says that
    /// an answer will follow (`103 Early Hints`). At least 8 KiB.
    pub head_bytes: usize,
    pub headers: usize,
    /// Of the body of an answer, after decompression.
    pub body_bytes: usize,
    /// How long an unused connection is kept for the next request. Less than the 5 s of common servers, so
    /// that it is us who close it.
    pub idle: Duration,
    pub idle_per_host: usize,
}

impl RequestLimits {
    /// The HTTP library needs some room to read a head at all.
    pub(crate) fn head_max(&self) -> usize {
        self.head_bytes.max(8 << 10)
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            head_bytes: 64 << 10,
            headers: 100,
            body_bytes: 10 << 20,
            idle: Duration::from_secs(4),
            idle_per_host: 8,
        }
    }
}
