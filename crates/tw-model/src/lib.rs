//! What exists: names, ids, definitions, calls, runs, events.
//!
//! This room holds nouns and their rules, and nothing that does anything: no clock, no database, no
//! network, no async. Whatever enters it through a constructor is well formed, so that nobody
//! downstream checks again. It must never depend on another crate of the house.
//!
//! Start with [`ToolDef`], what a tool is; then [`Caller`], who calls; then [`RunStatus`] and
//! [`EventKind`], what a call leaves behind.

mod allowed_hosts;
mod authored;
mod bearer;
mod call;
mod code;
mod content;
mod credential;
mod definition;
mod event;
mod id;
mod kept_secrets;
mod language;
mod name;
mod outcome;
mod pending;
mod permission;
mod role;
mod secret_name;
mod secret_texts;
mod slug;
mod time;
mod tool;
mod trace;
mod upstream_key;
mod usage;
mod webhook;

pub use allowed_hosts::{ALLOWED_HOSTS_MAX, AllowedHost, AllowedHostError};
pub use authored::Authored;
pub use bearer::{BearerError, bearer};
pub use call::{
    Actor, ActsAs, Caller, CallerParts, Channel, Link, Mode, Party, Principal, RunStatus, Source,
};
pub use code::Code;
pub use content::{MCP_CONTENT, parted, with_content};
pub use credential::{CredentialType, Label, LabelError};
pub use definition::{
    Definition, REDACTED, SEALED, Switches, each_secret, holds_sealed, left_redacted, redacted, unredacted,
};
pub use event::{Effect, EventKind};
pub use id::{
    ApprovalId, ArtifactId, AuditId, CredentialId, EventId, IdError, KeyId, LoginId, McpDriftId, McpServerId,
    PendingCallId, ReplicaId, RunId, SessionId, StandingApprovalId, TenantId, TestCaseId, ToolId, UsageId,
    UserId, WebhookDeliveryId, WebhookId,
};
pub use kept_secrets::with_kept_secrets;
pub use language::Language;
pub use name::{NAME_MAX, NameError, check_name};
pub use outcome::{ToolFailure, ToolResult};
pub use pending::{ApprovalStatus, PendingState, StandingStatus, WaitsFor};
pub use permission::{Permission, PermissionError, PermissionSet};
pub use role::Role;
pub use secret_name::{looks_secret, name_ends_in, names_a_secret};
pub use secret_texts::secret_texts;
pub use slug::{Slug, SlugError, TenantSlug, look_alike};
pub use time::Timestamp;
pub use tool::{
    Execution, Implementation, Layer, Level, Listing, Origin, OutputSection, Policy, SectionKind, ToolDef,
    ToolStatus, Unlisted,
};
pub use trace::{NoTrace, Trace};
pub use upstream_key::{upstream_key, upstream_key_within};
pub use usage::{Money, Usage};
pub use webhook::{DeliveryStatus, WebhookEvent, WebhookOff};
