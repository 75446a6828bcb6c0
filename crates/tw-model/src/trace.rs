//! The W3C `traceparent` of a request, by which others tell what belongs together.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::RunId;

/// The trace that a call is part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    id: String,
    /// The span of the one who sent it; `None` where the trace begins here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    flags: String,
}

/// A header that is no `traceparent`, which counts as not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no `traceparent`")]
pub struct NoTrace;

impl Trace {
    /// The trace that begins with a run, where its caller has sent none.
    #[must_use]
    pub fn beginning(root: RunId) -> Self {
        Self { id: root.uuid().simple().to_string(), parent: None, flags: "01".to_owned() }
    }

    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The span that whoever sent it was in.
    #[must_use]
    pub fn sender(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    #[must_use]
    pub fn flags(&self) -> &str {
        &self.flags
    }

    /// The id of the span that is a run.
    #[must_use]
    pub fn span_of(run: RunId) -> String {
        // Ids of runs begin with the time; what tells two of a moment apart is at their end.
        format!("{:016x}", run.uuid().as_u128() & u128::from(u64::MAX))
    }

    /// What is sent to others on behalf of a run.
    #[must_use]
    pub fn parent(&self, run: RunId) -> String {
        format!("00-{}-{}-{}", self.id, Self::span_of(run), self.flags)
    }
}

impl FromStr for Trace {
    type Err = NoTrace;

    fn from_str(text: &str) -> Result<Self, NoTrace> {
        let is_hex = |text: &str, len| {
            text.len() == len && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let is_id = |text: &str, len| is_hex(text, len) && text.bytes().any(|byte| byte != b'0');
        match text.split('-').collect::<Vec<_>>()[..] {
            [version, trace, parent, flags, ..]
                if is_hex(version, 2)
                    && version != "ff"
                    && is_id(trace, 32)
                    && is_id(parent, 16)
                    && is_hex(flags, 2) =>
            {
                let parent = Some(parent.to_owned());
                Ok(Self { id: trace.to_owned(), parent, flags: flags.to_owned() })
            }
            _ => Err(NoTrace),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_stays_the_same_and_the_span_is_the_run() {
        let trace: Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
        let run = RunId::new();
        let parent = trace.parent(run);
        let next: Trace = parent.parse().unwrap();
        assert_eq!((next.id(), next.flags()), (trace.id(), "01"));
        assert_eq!(next.sender(), Some(Trace::span_of(run).as_str()));
        assert_eq!(trace.sender(), Some("b7ad6b7169203331"));
        assert!(parent.starts_with("00-0af7651916cd43dd8448eb211c80319c-") && parent.ends_with("-01"));
        assert!(!parent.contains("b7ad6b7169203331"));
        assert_ne!(parent, trace.parent(RunId::new()));
    }

    #[test]
    fn trace_that_begins_with_a_run_has_an_id_that_others_take() {
        let run = RunId::new();
        let begun = Trace::beginning(run);
        assert_eq!(begun.parent(run).parse::<Trace>().unwrap().id(), begun.id());
        assert_eq!(begun.sender(), None);
    }

    #[test]
    fn header_that_is_none_counts_as_not_sent() {
        let nil = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        for text in ["", "x", nil, "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"] {
            assert_eq!(text.parse::<Trace>(), Err(NoTrace), "{text}");
        }
    }
}
