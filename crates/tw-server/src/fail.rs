//! Errors for people: what went wrong, and what to do about it.

use std::fmt;

/// An error with a word on what to do.
#[derive(Debug)]
struct Hinted {
    error: anyhow::Error,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.error)
    }
}

impl std::error::Error for Hinted {}

/// Adds a hint to what has failed.
pub(crate) trait Hint<T> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Hint<T> for Result<T, E> {
    fn hint(self, hint: impl Into<String>) -> anyhow::Result<T> {
        self.map_err(|error| hinted(error.into(), hint))
    }
}

/// An error with its hint, from two texts.
pub(crate) fn refusal(what: impl fmt::Display, hint: impl Into<String>) -> anyhow::Error {
    hinted(anyhow::anyhow!("{what}"), hint)
}

fn hinted(error: anyhow::Error, hint: impl Into<String>) -> anyhow::Error {
    Hinted { error, hint: hint.into() }.into()
}

/// What is printed of an error: the causes in one line, then the hint.
pub(crate) fn text(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Hinted>() {
        Some(hinted) => format!("error: {error:#}\nhint: {}", hinted.hint),
        None => format!("error: {error:#}"),
    }
}

/// The reader of our output has gone away, as `head` does when it has enough.
#[derive(Debug)]
pub(crate) struct Unread;

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads the output")
    }
}

impl std::error::Error for Unread {}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn hint_survives_what_is_said_around_it() {
        let failed: anyhow::Result<()> = Err(anyhow::anyhow!("the file is empty"));
        let error = failed.context("cannot read the key").hint("make another").unwrap_err();
        assert_eq!(text(&error), "error: cannot read the key: the file is empty\nhint: make another");

        let error = Err::<(), _>(error).context("cannot start").unwrap_err();
        assert_eq!(
            text(&error),
            "error: cannot start: cannot read the key: the file is empty\nhint: make another"
        );
    }
}
