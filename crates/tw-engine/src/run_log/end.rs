//! How runs end: the one place that makes the event, the row and the record of an end.

use std::time::Duration;

use serde_json::value::RawValue;
use tw_model::{Code, Effect, EventKind, RunId, RunStatus, Timestamp, ToolFailure, ToolResult, Usage};
use tw_store::{
    Run,
    log::{Change, Expect, Finished, NewEvent},
};

use super::{payload, raw, storable};

/// What a run may give back.
const OUTPUT_BYTES_MAX: usize = 10 << 20;
/// How much of an error stands in the summary of a failed run.
const SUMMARY_CHARS_MAX: usize = 200;

/// How a run ends.
#[derive(Debug)]
pub(crate) enum End {
    Success(ToolResult),
    Failure { failure: ToolFailure, effect: Option<Effect> },
    TimedOut { limit: Duration, effect: Effect },
    Cancelled { reason: Reason, message: String, note: Option<String>, effect: Option<Effect> },
}

/// Why a run ended without having failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// By somebody who may.
    Cancelled,
    /// An approver said no.
    Denied,
    /// No approver decided in time.
    Expired,
    /// What was to be approved has changed.
    Superseded,
    /// The caller may no longer make the call.
    NotPermitted,
}

impl Reason {
    const ALL: [Self; 5] =
        [Self::Cancelled, Self::Denied, Self::Expired, Self::Superseded, Self::NotPermitted];

    /// The word in the event.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
            Self::NotPermitted => "not_permitted",
        }
    }

    /// Why a run was cancelled; `None` where it was not. The row of one that was has the word for its summary.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let said = run.summary.as_deref().filter(|_| run.status == RunStatus::Cancelled)?;
        Self::ALL.into_iter().find(|reason| reason.as_str() == said)
    }

    const fn code(self) -> Code {
        match self {
            Self::Denied => Code::Denied,
            Self::Cancelled | Self::Expired | Self::Superseded | Self::NotPermitted => Code::Cancelled,
        }
    }
}

impl End {
    pub(crate) fn failed(code: Code, message: impl Into<String>) -> Self {
        Self::Failure { failure: ToolFailure::with_code(code, message), effect: None }
    }

    /// Of a run that nobody is at work on any more.
    pub(crate) fn interrupted(effect: Effect, message: &str) -> Self {
        Self::Failure { failure: ToolFailure::with_code(Code::Interrupted, message), effect: Some(effect) }
    }

    /// Of a parked run that will not run.
    pub(crate) fn void(reason: Reason, message: impl Into<String>) -> Self {
        Self::Cancelled { reason, message: message.into(), note: None, effect: None }
    }

    /// Makes what is written of it.
    pub(crate) fn of(self, run: RunId, tool: &str, duration: Option<Duration>) -> EndRecord {
        self.with(run, tool, duration, Beside::default())
    }

    /// The same, with what the run leaves beside its result.
    pub(crate) fn with(
        self,
        run: RunId,
        tool: &str,
        duration: Option<Duration>,
        beside: Beside,
    ) -> EndRecord {
        let duration_us = duration.map(|duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX));
        match self {
            Self::Success(result) => success(run, result, duration_us, beside),
            Self::Failure { failure, effect } => {
                failure_of(run, tool, RunStatus::Error, (failure, effect), duration_us, beside)
            }
            Self::TimedOut { limit, effect } => {
                let message = format!("Tool timed out after {}ms", limit.as_millis());
                let failure = ToolFailure::with_code(Code::Timeout, message);
                failure_of(run, tool, RunStatus::TimedOut, (failure, Some(effect)), duration_us, beside)
            }
            Self::Cancelled { reason, message, note, effect } => {
                let said = payload::Cancelled {
                    reason: reason.as_str(),
                    error: &message,
                    error_code: reason.code(),
                    note: note.as_deref(),
                    effect,
                    usage: beside.usage.as_ref(),
                };
                let event = payload::event(EventKind::Cancelled, run, &said);
                let finished = Finished {
                    summary: Some(reason.as_str().to_owned()),
                    error: Some(message),
                    error_code: Some(reason.code()),
                    effect,
                    duration_us,
                };
                EndRecord {
                    status: RunStatus::Cancelled,
                    event,
                    finished,
                    output: None,
                    markdown: None,
                    beside,
                }
            }
        }
    }
}

fn success(run: RunId, result: ToolResult, duration_us: Option<i64>, beside: Beside) -> EndRecord {
    let output = raw(&result.data);
    if OUTPUT_BYTES_MAX < output.get().len() {
        let message = format!("the tool's output is over {OUTPUT_BYTES_MAX} bytes");
        let failure = ToolFailure::with_code(Code::OutputInvalid, message);
        return failure_of(run, "", RunStatus::Error, (failure, None), duration_us, beside);
    }
    let said = payload::Completed {
        output: &output,
        summary: &result.summary,
        markdown: result.markdown.as_deref(),
        logs: &beside.logs,
        duration_ms: duration_us.unwrap_or(0) / 1000,
        duration_us: duration_us.unwrap_or(0),
        usage: beside.usage.as_ref(),
    };
    let event = payload::event(EventKind::Completed, run, &said);
    let finished = Finished { summary: Some(storable(&result.summary)), duration_us, ..Finished::default() };
    let (status, output) = (RunStatus::Success, Some(output));
    EndRecord { status, event, finished, output, markdown: result.markdown, beside }
}

fn failure_of(
    run: RunId,
    tool: &str,
    status: RunStatus,
    (failure, effect): (ToolFailure, Option<Effect>),
    duration_us: Option<i64>,
    beside: Beside,
) -> EndRecord {
    let ToolFailure { code, message, said } = failure;
    let (mut output, mut summary, mut markdown) = (None, None, None);
    if let Some(result) = said {
        output = Some(raw(&result.data)).filter(|output| output.get().len() <= OUTPUT_BYTES_MAX);
        summary = Some(result.summary);
        markdown = result.markdown;
    }
    let summary = summary.unwrap_or_else(|| brief(tool, &message));
    let said = payload::Failed {
        status,
        error: &message,
        error_code: code.as_str(),
        summary: &summary,
        output: output.as_deref(),
        markdown: markdown.as_deref(),
        logs: &beside.logs,
        effect,
        duration_ms: duration_us.map(|duration| duration / 1000),
        duration_us,
        usage: beside.usage.as_ref(),
    };
    let event = payload::event(EventKind::Failed, run, &said);
    let finished = Finished {
        summary: Some(storable(&summary)),
        error: Some(storable(&message)),
        error_code: Some(code),
        effect,
        duration_us,
    };
    EndRecord { status, event, finished, output, markdown, beside }
}

/// One line about a failure, for those who read many.
fn brief(tool: &str, message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let mut brief: String = line.chars().take(SUMMARY_CHARS_MAX).collect();
    if brief.len() < message.len() {
        brief.push('…');
    }
    if tool.is_empty() { brief } else { format!("{tool}: {brief}") }
}

/// What a run leaves beside its result.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// What the tool wrote to its log.
    pub(crate) logs: Vec<String>,
    /// What language models were asked for.
    pub(crate) usage: Option<Usage>,
}

/// An end, as the log takes it.
#[derive(Debug)]
pub(crate) struct EndRecord {
    pub(crate) status: RunStatus,
    pub(crate) event: NewEvent,
    finished: Finished,
    output: Option<Box<RawValue>>,
    markdown: Option<String>,
    beside: Beside,
}

impl EndRecord {
    /// The change of a run that is in this state.
    pub(crate) fn change(&self, expect: Expect) -> Change {
        Change { to: Some(self.status), finished: Some(self.finished.clone()), ..Change::expecting(expect) }
    }

    /// The record of the run as it is then, without reading it back.
    pub(crate) fn onto(self, run: Run, at: Timestamp) -> Run {
        let Finished { summary, error, error_code, effect, duration_us } = self.finished;
        Run {
            status: self.status,
            output: self.output,
            markdown: self.markdown,
            logs: self.beside.logs,
            summary,
            error,
            error_code,
            effect,
            duration_us: duration_us.or(run.duration_us),
            finished: Some(at),
            usage: self.beside.usage,
            ..run
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn failed_run_keeps_what_the_tool_said() {
        let said = ToolResult { data: json!({ "left": 3 }), summary: "3 left".to_owned(), markdown: None };
        let failure = ToolFailure { said: Some(Box::new(said)), ..ToolFailure::new("not all were sent") };
        let ended = End::Failure { failure, effect: None }.of(RunId::new(), "mail.send", None);
        assert_eq!(ended.finished.summary.as_deref(), Some("3 left"));
        assert_eq!(ended.output.map(|output| output.to_string()).as_deref(), Some(r#"{"left":3}"#));
    }

    #[test]
    fn failed_run_has_a_summary_of_one_line() {
        let ended = End::failed(Code::ToolFailed, "first\nsecond").of(RunId::new(), "t", None);
        assert_eq!(ended.finished.summary.as_deref(), Some("t: first…"));
        assert_eq!(ended.finished.error.as_deref(), Some("first\nsecond"));
    }
}
