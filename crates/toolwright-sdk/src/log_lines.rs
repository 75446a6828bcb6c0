//! The log of a run: lines that a tool writes for its author.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

/// What the log of one run may hold. What comes beyond it is left out.
const BYTES_MAX: usize = 128 << 10;

/// The lines of a run's log. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct LogLines(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    lines: Vec<String>,
    bytes: usize,
}

impl LogLines {
    pub fn add(&self, line: String) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A line without letters is one too.
        let bytes = log.bytes + line.len() + 1;
        if bytes <= BYTES_MAX {
            log.bytes = bytes;
            log.lines.push(line);
        }
    }

    /// The lines so far, which are gone then.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_has_a_bound_and_is_empty_once_it_was_taken() {
        let log = LogLines::default();
        log.add("a".to_owned());
        log.add("b".repeat(BYTES_MAX));
        log.clone().add("c".to_owned());
        assert_eq!(log.take(), ["a", "c"]);
        assert!(log.take().is_empty());
    }
}
