//! What can be asked of the log.

use std::sync::Arc;

use tw_model::{
    ApprovalId, ApprovalStatus, Channel, Code, Effect, EventId, EventKind, Level, Mode, PendingCallId,
    PendingState, ReplicaId, RunId, RunStatus, SessionId, Source, StandingApprovalId, TenantId, Timestamp,
    ToolId, WaitsFor,
};

use crate::{
    audit_line::{By, NewAudit},
    error::Error,
};

/// One atomic step of one run: events, and what they make of the run's row.
#[derive(Clone, Debug)]
pub struct Entry {
    pub tenant: TenantId,
    pub run: RunId,
    /// The run's own id for a call outside any session.
    pub session: SessionId,
    pub tool: Arc<str>,
    /// Who did this, as JSON.
    pub actor: Arc<str>,
    pub at: Timestamp,
    pub transition: Transition,
    /// At least one, except where a run only stops to wait, or goes on.
    pub events: Vec<NewEvent>,
    /// A line of the audit about this step. It stands exactly if the step does.
    pub audit: Option<Box<Audit>>,
}

/// Events about a session that are about no run. They share the numbers of its other events.
#[derive(Clone, Debug)]
pub struct SessionNote {
    pub tenant: TenantId,
    /// A stored session.
    pub session: SessionId,
    /// Who did this, as JSON.
    pub actor: Arc<str>,
    pub at: Timestamp,
    /// At least one.
    pub events: Vec<NewEvent>,
    pub audit: Option<Box<Audit>>,
}

/// A line of the audit: who, and what.
#[derive(Clone, Debug)]
pub struct Audit {
    pub by: By,
    pub what: NewAudit,
}

/// Whatever shares a transaction of the log.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Run(Entry),
    Note(SessionNote),
    /// A line of the audit alone.
    Line {
        tenant: TenantId,
        at: Timestamp,
        audit: Box<Audit>,
    },
}

impl Item {
    pub(crate) fn tenant(&self) -> TenantId {
        match self {
            Self::Run(entry) => entry.tenant,
            Self::Note(note) => note.tenant,
            Self::Line { tenant, .. } => *tenant,
        }
    }

    pub(crate) fn at(&self) -> Timestamp {
        match self {
            Self::Run(entry) => entry.at,
            Self::Note(note) => note.at,
            Self::Line { at, .. } => *at,
        }
    }

    pub(crate) fn audit(&self) -> Option<&Audit> {
        match self {
            Self::Run(entry) => entry.audit.as_deref(),
            Self::Note(note) => note.audit.as_deref(),
            Self::Line { audit, .. } => Some(audit),
        }
    }

    pub(crate) fn events(&self) -> &[NewEvent] {
        match self {
            Self::Run(entry) => &entry.events,
            Self::Note(note) => &note.events,
            Self::Line { .. } => &[],
        }
    }

    /// The session whose row numbers its events, where they are not numbered by a run of its own session.
    pub(crate) fn stored_session(&self) -> Option<SessionId> {
        match self {
            Self::Run(entry) => (entry.session != entry.run.into()).then_some(entry.session),
            Self::Note(note) => Some(note.session),
            Self::Line { .. } => None,
        }
    }

    pub(crate) fn as_run(&self) -> Option<&Entry> {
        match self {
            Self::Run(entry) => Some(entry),
            Self::Note(_) | Self::Line { .. } => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct NewEvent {
    pub id: EventId,
    pub kind: EventKind,
    /// A JSON object, as text.
    pub payload: String,
}

#[derive(Clone, Debug)]
pub enum Transition {
    Open(Box<NewRun>),
    Change(Box<Change>),
}

/// A run that begins with this entry.
#[derive(Clone, Debug)]
pub struct NewRun {
    pub parent: Option<RunId>,
    pub root: RunId,
    pub tool_id: ToolId,
    pub version: Arc<str>,
    pub source: Source,
    pub channel: Channel,
    pub mode: Mode,
    pub principal: Arc<str>,
    pub effectful: bool,
    pub repeatable: bool,
    /// Who runs it now.
    pub replica: ReplicaId,
    /// The tenant's epoch that the caller's rights were read from. A newer one sends the call back.
    pub epoch: i64,
    pub claim: Option<Claim>,
    /// The run waits for somebody instead of running.
    pub park: Option<Park>,
    /// The run can be taken up again where it stopped, and this row is how that is known.
    pub wait: Option<NewWait>,
    /// The standing approval by which it runs, which counts its uses.
    pub standing: Option<StandingApprovalId>,
}

/// An idempotency key taken together with the run it names.
#[derive(Clone, Debug)]
pub struct Claim {
    pub route: String,
    pub key: String,
    pub body_hash: [u8; 32],
    pub expires: Timestamp,
    /// The interrupted run whose place the new one may take.
    pub instead_of: Option<RunId>,
}

/// The rows of a run that waits for an approval.
#[derive(Clone, Debug)]
pub struct Park {
    /// Whatever resuming needs, as JSON.
    pub context: String,
    pub approval: NewApproval,
}

/// The row of a run that waits for anything but an approval.
#[derive(Clone, Debug)]
pub struct NewWait {
    /// Of a row that is new; a run that waits again keeps the one it has.
    pub id: PendingCallId,
    pub waits_for: WaitsFor,
    pub state: PendingState,
    pub context: String,
    /// The runs that are waited for. It goes on when all of them have ended.
    pub children: Vec<RunId>,
    /// When the run itself is out of time.
    pub deadline: Option<Timestamp>,
    pub expires: Timestamp,
}

#[derive(Clone, Debug)]
pub struct NewApproval {
    pub id: ApprovalId,
    pub input: String,
    pub input_digest: String,
    pub definition_hash: String,
    pub seal: Vec<u8>,
    pub level: Option<Level>,
    pub reason: String,
    pub owner: tw_model::UserId,
    pub expires: Timestamp,
}

/// What happens to a run that exists.
#[derive(Clone, Debug)]
pub struct Change {
    pub expect: Expect,
    /// `None` leaves the status alone.
    pub to: Option<RunStatus>,
    pub finished: Option<Finished>,
    /// The replica that runs it from now on; the lease epoch goes up by one.
    pub claimed_by: Option<ReplicaId>,
    /// As [`NewRun::epoch`], where an effect is about to happen.
    pub epoch: Option<i64>,
    pub decision: Option<ApprovalDecision>,
    pub wait: Option<WaitChange>,
}

/// What becomes of the row of a run that waits, where its status does not say so.
#[derive(Clone, Debug)]
pub enum WaitChange {
    /// The run stops to wait.
    Park(NewWait),
    /// What was waited for has come.
    Answered { result: String, by: String },
    /// Nobody came in time.
    Expired,
    /// The run has ended without having waited in the end.
    Over,
    /// The answer has come after the run had ended, and is kept beside it. Goes with [`Expect::Ended`]. An entry whose
    /// call was answered before, or is closed, is [`Rejected::Answered`].
    Late { result: String, by: String },
}

impl Change {
    /// A change of nothing yet, to a run in this state.
    #[must_use]
    pub fn expecting(expect: Expect) -> Self {
        Self { expect, to: None, finished: None, claimed_by: None, epoch: None, decision: None, wait: None }
    }

    /// Whether it leaves the run's row as it is, but for the number of its last event.
    pub(crate) fn only_numbers(&self) -> bool {
        let row = self.to.is_none() && self.finished.is_none() && self.claimed_by.is_none();
        row && matches!(self.wait, None | Some(WaitChange::Late { .. }))
    }
}

/// The state the run has to be in, or the entry is rejected.
#[derive(Clone, Copy, Debug)]
pub enum Expect {
    /// Running, under this lease.
    Lease(i64),
    Status(RunStatus),
    /// Not ended yet.
    Open,
    Ended,
}

/// How a run ended.
#[derive(Clone, Debug, Default)]
pub struct Finished {
    pub summary: Option<String>,
    pub error: Option<String>,
    pub error_code: Option<Code>,
    pub effect: Option<Effect>,
    pub duration_us: Option<i64>,
}

/// What becomes of the approval of the run.
#[derive(Clone, Debug)]
pub struct ApprovalDecision {
    pub status: ApprovalStatus,
    pub by: Option<String>,
    pub note: Option<String>,
    /// What the approver changed, as JSON.
    pub changes: Option<String>,
    /// The input that was approved, where it was changed.
    pub input: Option<EditedInput>,
    /// The yes to later calls that comes with it.
    pub standing: Option<Box<NewStanding>>,
}

/// A standing approval, as it is made.
#[derive(Clone, Debug)]
pub struct NewStanding {
    pub id: StandingApprovalId,
    pub principal: String,
    pub tool_id: ToolId,
    pub tool: String,
    pub definition_hash: String,
    /// What its seal is made of beside the columns, as JSON.
    pub context: String,
    /// JSON pointers, as JSON; `None` for the whole input.
    pub fields: Option<String>,
    /// JSON.
    pub values: String,
    pub values_digest: String,
    pub approved_by: String,
    pub seal: Vec<u8>,
    pub created: Timestamp,
    pub expires: Timestamp,
}

/// An input as an approver changed it, and what follows from it.
#[derive(Clone, Debug)]
pub struct EditedInput {
    /// JSON.
    pub input: String,
    pub digest: String,
    pub seal: Vec<u8>,
    /// The level of the call with this input.
    pub level: Option<Level>,
    /// Whatever resuming needs, as JSON: as before, and who changed the input.
    pub context: String,
}

/// The entry is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The sequence number of the last of its events.
    pub seq: i64,
    /// The run's lease from now on.
    pub lease_epoch: i64,
}

/// The entry is not known to be on disk. Except after [`Rejected::Failed`], nothing of it happened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Rejected {
    /// What the caller may do has changed since it was read; read it again.
    #[error("the tenant is at epoch {epoch} now")]
    Stale { epoch: i64 },
    #[error("there is no such run")]
    NoRun,
    #[error("the run is {status:?}")]
    Status { status: RunStatus },
    #[error("there is no such session")]
    NoSession,
    #[error("the idempotency key is taken")]
    Claimed,
    #[error("the call was answered before, or is closed")]
    Answered,
    #[error("the log is closed")]
    Closed,
    /// The database broke off. If that was in the middle of a commit, the entry may yet be there.
    #[error(transparent)]
    Failed(Arc<Error>),
}
