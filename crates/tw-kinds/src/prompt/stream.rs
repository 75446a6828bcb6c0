//! Shows the text of an answer while it arrives.

use std::time::{Duration, Instant};

use toolwright_sdk::ToolContext;
use tw_models::TextSink;

/// How long text is collected before it is shown, and how much of it.
const EVERY: Duration = Duration::from_millis(100);
const BYTES_MAX: usize = 4 << 10;

/// Hands text on in groups, in order. What is not taken now is part of the next group.
pub(super) struct Appended<'a> {
    cx: &'a ToolContext,
    unsent: String,
    last: Option<Instant>,
}

impl<'a> Appended<'a> {
    pub(super) fn new(cx: &'a ToolContext) -> Self {
        Self { cx, unsent: String::new(), last: None }
    }

    fn is_due(&self) -> bool {
        BYTES_MAX <= self.unsent.len() || self.last.is_none_or(|last| EVERY <= last.elapsed())
    }

    fn flush(&mut self) {
        if !self.unsent.is_empty() && self.cx.append(self.unsent.as_str()) {
            self.unsent.clear();
            self.last = Some(Instant::now());
        }
    }

    /// Hands on what is left. Whoever writes it down gets a turn if it is behind.
    pub(super) async fn finish(mut self) {
        const TURNS: usize = 100;
        for _ in 0..TURNS {
            self.flush();
            if self.unsent.is_empty() {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

impl TextSink for Appended<'_> {
    fn text(&mut self, piece: &str) {
        self.unsent.push_str(piece);
        if self.is_due() {
            self.flush();
        }
    }

    fn idle(&mut self) {
        if self.is_due() {
            self.flush();
        }
    }
}

/// For an answer that nobody reads before it is whole.
pub(super) struct Unshown;

impl TextSink for Unshown {
    fn text(&mut self, _: &str) {}
}
