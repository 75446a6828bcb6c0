//! Who calls, through which door, and how a run ends.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    KeyId, LoginId, PermissionSet, Role, RunId, Slug, TenantId, TenantSlug, Timestamp, Trace, UserId,
};

/// Who a call is made for: a person, or an agent of the tenant. Never the key, so that rotating a
/// key changes nothing about who did what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    User { id: UserId },
    Agent { slug: String, owner: UserId },
}

impl Principal {
    /// One word that is unique within the tenant, for columns, seals and scopes.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::User { id } => format!("user:{id}"),
            Self::Agent { slug, .. } => format!("agent:{slug}"),
        }
    }

    /// The person behind the call.
    #[must_use]
    pub fn owner(&self) -> UserId {
        match self {
            Self::User { id } => *id,
            Self::Agent { owner, .. } => *owner,
        }
    }

    #[must_use]
    pub fn is_agent(&self) -> bool {
        matches!(self, Self::Agent { .. })
    }
}

/// What an API key stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActsAs {
    User,
    Agent,
}

impl ActsAs {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::User, Self::Agent].into_iter().find(|acts_as| acts_as.as_str() == text)
    }
}

/// Where a call came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Web,
    Agent,
    Api,
    Embed,
}

impl Source {
    pub const ALL: [Self; 4] = [Self::Web, Self::Agent, Self::Api, Self::Embed];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Agent => "agent",
            Self::Api => "api",
            Self::Embed => "embed",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == text)
    }
}

/// Which door a call came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Rest,
    Mcp,
}

impl Channel {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Mcp => "mcp",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Rest, Self::Mcp].into_iter().find(|channel| channel.as_str() == text)
    }
}

/// Whether the published definition runs, or the draft on top of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Production,
    Debug,
}

impl Mode {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Production => "production",
            Self::Debug => "debug",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Production, Self::Debug].into_iter().find(|mode| mode.as_str() == text)
    }
}

/// The state of a run. `Running`, `Pending` and `NeedsApproval` are open, the rest is for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Running,
    Success,
    Error,
    Pending,
    NeedsApproval,
    Cancelled,
    TimedOut,
}

impl RunStatus {
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Success,
        Self::Error,
        Self::Pending,
        Self::NeedsApproval,
        Self::Cancelled,
        Self::TimedOut,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Error => "error",
            Self::Pending => "pending",
            Self::NeedsApproval => "needs_approval",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Pending | Self::NeedsApproval)
    }

    /// Open, and nobody is at work on it.
    #[must_use]
    pub const fn waits(self) -> bool {
        matches!(self, Self::Pending | Self::NeedsApproval)
    }
}

/// Somebody who has a say in a call, with the role they have it by: their rights are worked out anew from this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    pub principal: Principal,
    pub role: Role,
}

/// One step of the way a call came: the run that made it, and of which tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub run: RunId,
    pub tool: Slug,
    /// Who made it. `None` in what was stored before links named it: whoever made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Party>,
    /// Who changed its input before it was approved. What it calls is done with their words, so they need the right too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<Party>,
    /// The concurrency group that it has a place in, which is then also for whatever it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Who did something, as the log and the audit show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    #[serde(flatten)]
    pub principal: Principal,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
}

/// Who calls, as established by a door's credentials check and by nothing in a body or a query.
///
/// Cheap to clone; one value serves all requests of a key until its tenant changes.
/// Its parts can be read by everybody, and set by nobody: `tw-identity` makes callers of credentials, and what may
/// change on the way has a method here.
#[derive(Clone, Debug)]
pub struct Caller(CallerParts);

/// The parts of a [`Caller`].
#[derive(Clone, Debug)]
pub struct CallerParts {
    pub tenant: TenantId,
    pub tenant_slug: TenantSlug,
    pub principal: Principal,
    pub display_name: Arc<str>,
    pub role: Role,
    pub permissions: PermissionSet,
    pub source: Source,
    pub channel: Channel,
    /// The key the call came with, if it came with one.
    pub key: Option<KeyId>,
    /// The login the call came with, if it came from a browser.
    pub login: Option<LoginId>,
    /// When that key or login expires.
    pub expires: Option<Timestamp>,
    /// The catalogue, key and role state of the tenant that these rights were read from.
    pub epoch: i64,
    /// The runs this call was made from, outermost first. Empty for a call from outside.
    pub chain: Arc<[Link]>,
    /// What the call is part of, where its caller said so.
    pub trace: Option<Arc<Trace>>,
}

impl std::ops::Deref for Caller {
    type Target = CallerParts;

    fn deref(&self) -> &CallerParts {
        &self.0
    }
}

impl Caller {
    /// For `tw-identity`, which has looked at the credentials.
    #[must_use]
    pub fn new(parts: CallerParts) -> Self {
        Self(parts)
    }

    #[must_use]
    pub fn into_parts(self) -> CallerParts {
        self.0
    }

    #[must_use]
    pub fn actor(&self) -> Actor {
        Actor { principal: self.principal.clone(), key: self.key }
    }

    #[must_use]
    pub fn party(&self) -> Party {
        Party { principal: self.principal.clone(), role: self.role }
    }

    /// Whose words the call is made with, where that is not its caller: whoever changed the input of a run above it, the
    /// innermost first.
    #[must_use]
    pub fn edited_by(&self) -> Option<&Party> {
        self.chain.iter().rev().find_map(|link| link.edited_by.as_ref())
    }

    /// Whether the key or login behind the call is expired at this moment.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// The same caller by a door, for a request that is part of `trace`.
    #[must_use]
    pub fn via(self, channel: Channel, trace: Option<Trace>) -> Self {
        Self(CallerParts { channel, trace: trace.map(Arc::new), ..self.0 })
    }

    /// The same caller in a call that these runs have led to.
    #[must_use]
    pub fn within(self, chain: Arc<[Link]>) -> Self {
        Self(CallerParts { chain, ..self.0 })
    }

    /// The same caller, for a state of the tenant that was found to leave its rights as they are.
    #[must_use]
    pub fn as_of(self, epoch: i64) -> Self {
        Self(CallerParts { epoch, ..self.0 })
    }
}
