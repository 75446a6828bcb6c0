//! What each event says. The keys are part of the published log format.

use serde::Serialize;
use serde_json::value::RawValue;
use tw_model::{
    ApprovalId, Caller, Channel, Code, Effect, EventId, EventKind, Level, Mode, PendingCallId, RunId,
    RunStatus, Source, StandingApprovalId, Timestamp, ToolId, Usage,
};
use tw_registry::Tool;
use tw_store::log::NewEvent;

/// What the log has to know of a run beyond its input, so that the table of runs can be made again from
/// the events alone.
#[derive(Serialize)]
pub(crate) struct About<'a> {
    pub(crate) tool: &'a str,
    pub(crate) tool_id: ToolId,
    pub(crate) version: &'a str,
    pub(crate) source: Source,
    pub(crate) channel: Channel,
    pub(crate) mode: Mode,
    pub(crate) effectful: bool,
    pub(crate) repeatable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_run_id: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root_run_id: Option<RunId>,
}

impl<'a> About<'a> {
    pub(crate) fn new(caller: &Caller, tool: &'a Tool, mode: Mode) -> Self {
        Self {
            tool: &tool.slug,
            tool_id: tool.def.id,
            version: &tool.version,
            source: caller.source,
            channel: caller.channel,
            mode,
            effectful: tool.def.has_effects(),
            repeatable: tool.is_repeatable(),
            parent_run_id: caller.chain.last().map(|link| link.run),
            root_run_id: caller.chain.first().map(|link| link.run),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Started<'a> {
    #[serde(flatten)]
    pub(crate) about: About<'a>,
    pub(crate) input: &'a RawValue,
}

#[derive(Serialize)]
pub(crate) struct Completed<'a> {
    pub(crate) output: &'a RawValue,
    pub(crate) summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) markdown: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) logs: &'a [String],
    pub(crate) duration_ms: i64,
    pub(crate) duration_us: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<&'a Usage>,
}

#[derive(Serialize)]
pub(crate) struct Failed<'a> {
    /// `error` or `timed_out`. The code does not tell: a tool may have one of its own for lack of time.
    pub(crate) status: RunStatus,
    pub(crate) error: &'a str,
    pub(crate) error_code: &'a str,
    pub(crate) summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) markdown: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) logs: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_us: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<&'a Usage>,
}

#[derive(Serialize)]
pub(crate) struct Cancelled<'a> {
    pub(crate) reason: &'a str,
    /// The reason in words.
    pub(crate) error: &'a str,
    pub(crate) error_code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<&'a Usage>,
}

#[derive(Serialize)]
pub(crate) struct OutputAppended<'a> {
    pub(crate) text: &'a str,
}

/// An answer that came after the run had ended.
#[derive(Serialize)]
pub(crate) struct LateResult<'a> {
    pub(crate) call_id: PendingCallId,
    pub(crate) by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct NeedsApproval<'a> {
    #[serde(flatten)]
    pub(crate) about: About<'a>,
    pub(crate) approval_id: ApprovalId,
    pub(crate) input: &'a RawValue,
    pub(crate) level: Option<Level>,
    pub(crate) rule: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) expires_at: Timestamp,
}

#[derive(Serialize)]
pub(crate) struct Approved<'a> {
    pub(crate) approval_id: ApprovalId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<&'a RawValue>,
    /// The yes to later calls that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standing_approval_id: Option<StandingApprovalId>,
}

/// A call that was approved before it was made.
#[derive(Serialize)]
pub(crate) struct ApprovedByStanding<'a> {
    pub(crate) standing: bool,
    pub(crate) standing_approval_id: StandingApprovalId,
    pub(crate) approved_by: &'a str,
}

/// An event with its payload as text. A run's `tool.started` has the run's own id.
pub(crate) fn event(kind: EventKind, run: RunId, payload: &impl Serialize) -> NewEvent {
    let id = match kind {
        EventKind::Started => run.into(),
        _ => EventId::new(),
    };
    NewEvent { id, kind, payload: serde_json::to_string(payload).expect("payloads are plain JSON") }
}
