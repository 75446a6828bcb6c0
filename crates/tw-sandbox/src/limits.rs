//! How much one request may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JqLimits {
    /// From when a worker gets the request to when its answer is read. Waiting for a worker is not in it.
    pub time: Duration,
    /// What the request may have on the heap: the filter, its input, everything in between and the
    /// results as text. The stack of a worker comes on top and has a limit of its own.
    pub memory_bytes: usize,
    pub outputs: usize,
    /// All results together, as JSON.
    pub output_bytes: usize,
}

impl Default for JqLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(1), memory_bytes: 64 << 20, outputs: 1000, output_bytes: 10 << 20 }
    }
}

/// How much one run of a script may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    /// Everything together: waiting for a worker, running, and the calls that the script makes.
    pub time: Duration,
    /// What the script may have on its heap.
    pub memory_bytes: usize,
    pub stack_bytes: usize,
    /// The output, as JSON.
    pub output_bytes: usize,
    /// What it writes to its log; the rest is cut off.
    pub log_bytes: usize,
}

impl ScriptLimits {
    #[must_use]
    pub fn within(time: Duration) -> Self {
        let (memory_bytes, stack_bytes) = (64 << 20, 256 << 10);
        Self { time, memory_bytes, stack_bytes, output_bytes: 1 << 20, log_bytes: 64 << 10 }
    }
}
