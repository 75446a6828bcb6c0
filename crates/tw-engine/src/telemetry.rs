//! Runs as spans, for whoever collects traces. Inputs, outputs and texts of tools are not told.

use tw_model::{Caller, Code, RunId, Timestamp, Trace};
use tw_otel::{Attribute, Span, SpanKind, is_sampled};
use tw_store::{PendingCall, Run};

use crate::{Engine, run_log::Resumption};

impl Engine {
    /// The `traceparent` of requests that a run makes. Where traces are collected, one begins with the outermost run of a
    /// caller who has sent none.
    pub(crate) fn traceparent(&self, caller: &Caller, run: RunId) -> Option<String> {
        match &caller.trace {
            Some(trace) => Some(trace.parent(run)),
            None => self.inner.telemetry.is_some().then(|| {
                let root = caller.chain.first().map_or(run, |link| link.run);
                Trace::beginning(root).parent(run)
            }),
        }
    }

    /// Tells of a run that has ended, and of which agent it was. The record of a run that ends here does not name it.
    pub(crate) fn observe(&self, run: &Run, agent: Option<&str>, trace: Option<&Trace>) {
        self.emit(run, trace, |trace| of_run(trace, run, agent));
    }

    /// Tells for what a run has waited, from when to when.
    pub(crate) fn observe_wait(&self, run: &Run, trace: Option<&Trace>, name: &str, span: [Timestamp; 2]) {
        self.emit(run, trace, |trace| of_wait(trace, run, name, span));
    }

    /// Tells of a run that a worker or a person has ended, or that waited for one in vain.
    pub(crate) fn observe_answered(&self, run: &Run, call: &PendingCall) {
        if self.inner.telemetry.is_none() {
            return;
        }
        let trace = Resumption::read(&call.context).ok().and_then(|kept| kept.trace);
        let name = format!("wait for {}", call.waits_for.as_str());
        self.observe_wait(run, trace.as_ref(), &name, [call.created, ended(run)]);
        self.observe(run, run.principal.strip_prefix("agent:"), trace.as_ref());
    }

    /// Where nobody collects traces, this is all that happens.
    fn emit(&self, run: &Run, trace: Option<&Trace>, span: impl FnOnce(&Trace) -> Span) {
        let Some(telemetry) = &self.inner.telemetry else { return };
        let begun;
        let trace = match trace {
            Some(trace) => trace,
            None => {
                begun = Trace::beginning(run.root);
                &begun
            }
        };
        if is_sampled(trace.flags()) {
            telemetry.emit(span(trace));
        }
    }
}

fn ended(run: &Run) -> Timestamp {
    run.finished.unwrap_or_else(Timestamp::now)
}

fn of_run(trace: &Trace, run: &Run, agent: Option<&str>) -> Span {
    let mut attributes: Vec<(&'static str, Attribute)> = vec![
        ("toolwright.tenant", run.tenant.to_string().into()),
        ("toolwright.run_id", run.id.to_string().into()),
        ("toolwright.tool", run.tool.as_str().into()),
        ("toolwright.version", run.version.as_str().into()),
        ("toolwright.status", run.status.as_str().into()),
        ("toolwright.source", run.source.as_str().into()),
    ];
    if let Some(agent) = agent {
        attributes.push(("toolwright.agent", agent.into()));
    }
    let code = run.error_code.map(Code::as_str);
    attributes.extend(code.map(|code| ("error.type", code.into())));
    let parent = match run.parent {
        Some(parent) => Some(Trace::span_of(parent)),
        None => trace.sender().map(str::to_owned),
    };
    Span {
        trace: trace.id().to_owned(),
        id: Trace::span_of(run.id),
        parent,
        name: format!("run {}", run.tool),
        kind: if run.parent.is_some() { SpanKind::Internal } else { SpanKind::Server },
        start: nanos(run.started.unwrap_or(run.requested)),
        end: nanos(ended(run)),
        attributes,
        error: code.map(str::to_owned),
    }
}

fn of_wait(trace: &Trace, run: &Run, name: &str, [from, to]: [Timestamp; 2]) -> Span {
    Span {
        trace: trace.id().to_owned(),
        id: tw_otel::new_id(),
        parent: Some(Trace::span_of(run.id)),
        name: name.to_owned(),
        kind: SpanKind::Internal,
        start: nanos(from),
        end: nanos(to),
        attributes: Vec::new(),
        error: None,
    }
}

fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.micros()).unwrap_or(0).saturating_mul(1_000)
}
