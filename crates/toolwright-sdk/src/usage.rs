//! Counts what a call asks of language models.

use std::sync::{Arc, Mutex, PoisonError};

use tw_model::Usage;

/// What a run has asked of models so far. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct UsageMeter(Arc<Mutex<Option<Usage>>>);

impl UsageMeter {
    pub fn add(&self, usage: Usage) {
        // What a panic left behind is a whole sum.
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = Some(match sum.take() {
            Some(before) => before.and(usage),
            None => usage,
        });
    }

    /// The sum; `None` where no model was asked.
    #[must_use]
    pub fn total(&self) -> Option<Usage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
