//! Entries of the log, as simple as they can be.

use std::sync::Arc;

use tw_model::{
    Channel, EventId, EventKind, Mode, ReplicaId, RunId, SessionId, Source, TenantId, Timestamp, ToolId,
};
use tw_store::log::{Entry, NewEvent, NewRun, Transition};

/// A run of some tool by some user, which changes nothing.
#[must_use]
pub fn new_run(run: RunId, replica: ReplicaId, epoch: i64) -> NewRun {
    NewRun {
        parent: None,
        root: run,
        tool_id: ToolId::of_code("echo"),
        version: Arc::from("1.0.0"),
        source: Source::Api,
        channel: Channel::Rest,
        mode: Mode::Production,
        principal: Arc::from("user:1"),
        effectful: false,
        repeatable: true,
        replica,
        epoch,
        claim: None,
        park: None,
        wait: None,
        standing: None,
    }
}

/// An entry about a run in a session, with one event.
#[must_use]
pub fn entry(
    tenant: TenantId,
    (run, session): (RunId, SessionId),
    kind: EventKind,
    transition: Transition,
) -> Entry {
    let id = if kind == EventKind::Started { run.into() } else { EventId::new() };
    Entry {
        tenant,
        run,
        session,
        tool: Arc::from("echo"),
        actor: Arc::from(r#"{"kind":"system"}"#),
        at: Timestamp::now(),
        transition,
        events: vec![NewEvent { id, kind, payload: "{}".to_owned() }],
        audit: None,
    }
}
