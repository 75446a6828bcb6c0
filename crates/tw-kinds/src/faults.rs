//! What is wrong with a definition, and where.

use tw_schema::{Fault, Violation};

/// The pointer to a member or an item below a place.
pub(crate) fn below(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Collects faults, so that an author sees all of them at once.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn say(&mut self, path: impl Into<String>, violation: Violation) {
        self.0.push(violation.at(path));
    }

    pub(crate) fn extend(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.0.extend(faults);
    }

    /// What was read; `None` where it was not, which is then told.
    pub(crate) fn take<T>(&mut self, read: Result<T, Vec<Fault>>) -> Option<T> {
        read.map_err(|faults| self.0.extend(faults)).ok()
    }

    pub(crate) fn told<T>(self, value: Option<T>) -> Result<T, Vec<Fault>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}
