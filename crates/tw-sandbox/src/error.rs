//! Why a filter or a script gave no result.
//!
//! All but the last are about the filter or its input, and their texts are for whoever wrote it.

use std::{io, time::Duration};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the filter cannot be read: {message}")]
    Filter { message: String },
    /// The filter raised an error, or did what cannot be done, such as adding a number to an object.
    #[error("the filter failed: {message}")]
    Failed { message: String },
    #[error("the filter did not end within {after:?}")]
    Time { after: Duration },
    #[error("the filter needs more than {bytes} bytes of memory")]
    Memory { bytes: usize },
    #[error("the filter gives more than {max} results")]
    Outputs { max: usize },
    #[error("the results of the filter are over {max} bytes")]
    OutputBytes { max: usize },
    /// Nothing is known about the filter: it was not run, or not to its end.
    #[error("{why}")]
    Worker { why: &'static str, source: Option<io::Error> },
}

impl Error {
    /// Whether the same filter on the same input may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Worker { .. } => true,
            Self::Filter { .. }
            | Self::Failed { .. }
            | Self::Time { .. }
            | Self::Memory { .. }
            | Self::Outputs { .. }
            | Self::OutputBytes { .. } => false,
        }
    }
}

/// Why a script gave no output.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It raised an exception. `code` is there where that came from a call and was not handled.
    #[error("{}", with_line(message, *line))]
    Exception { message: String, line: Option<u32>, code: Option<String> },
    #[error("the script needs more than {} MiB of memory", bytes >> 20)]
    Memory { bytes: usize },
    #[error("the output {why}")]
    Output { why: String },
    #[error("the script did not end within {after:?}")]
    Time { after: Duration },
    /// Nothing is known about the script: it was not run, or not to its end.
    #[error("{why}")]
    Worker { why: &'static str, source: Option<io::Error> },
}

fn with_line(message: &str, line: Option<u32>) -> String {
    line.map_or_else(|| message.to_owned(), |line| format!("{message} (line {line})"))
}

/// No worker was to be had.
#[derive(Debug)]
pub(crate) struct NoWorker {
    pub(crate) why: &'static str,
    pub(crate) source: Option<io::Error>,
}

impl From<NoWorker> for Error {
    fn from(NoWorker { why, source }: NoWorker) -> Self {
        Self::Worker { why, source }
    }
}

impl From<NoWorker> for ScriptError {
    fn from(NoWorker { why, source }: NoWorker) -> Self {
        Self::Worker { why, source }
    }
}
