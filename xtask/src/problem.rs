//! What a house rule finds.

use std::fmt;

/// One thing to put right, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(file: impl Into<String>, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.into(), line, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}
