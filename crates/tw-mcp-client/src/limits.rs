//! How much a server may answer, and how long it may take.

use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use toolwright_sdk::ToolProgress;

/// The bounds of a list. Over one of them there is no list: half of one would look as if the rest had been removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLimits {
    pub tools: usize,
    pub pages: usize,
    /// Of all pages together.
    pub bytes: usize,
    /// When the last page has to be there.
    pub deadline: Instant,
}

impl ListLimits {
    /// The usual bounds.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Self { tools: 2_000, pages: 200, bytes: 8 << 20, deadline }
    }
}

/// What a call may take, and who hears of it.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// When the answer has to be complete.
    pub deadline: Instant,
    /// Ends the call, and tells the server so. A call whose future is dropped is told to the server as well.
    pub cancel: CancellationToken,
    /// Where the server's own reports go. What nobody takes in time is left out.
    pub progress: Option<mpsc::Sender<ToolProgress>>,
    /// The `traceparent` of what this call is part of.
    pub trace: Option<String>,
    /// How large the answer may be, with everything that the server says before it.
    pub bytes: usize,
}

impl CallOptions {
    /// A call that nobody cancels or watches.
    #[must_use]
    pub fn until(deadline: Instant) -> Self {
        Self { deadline, cancel: CancellationToken::new(), progress: None, trace: None, bytes: 10 << 20 }
    }
}
