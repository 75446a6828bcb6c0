//! Ids, one type per noun, so that a run's id never stands where a tenant's is wanted.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id must be a UUID such as 01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11")]
pub struct IdError;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id: UUIDv7, so ids of one process sort by the time they were made.
            #[must_use]
            #[expect(clippy::new_without_default, reason = "every call gives another value")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            #[must_use]
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                // Only the hyphenated form: one id has one spelling in a URL.
                if text.len() != 36 {
                    return Err(IdError);
                }
                Uuid::try_parse(text).map(Self).map_err(|_| IdError)
            }
        }
    )+};
}

ids! {
    TenantId,
    UserId,
    ToolId,
    /// A run's id is also the id of its `tool.started` event.
    RunId,
    SessionId,
    EventId,
    KeyId,
    LoginId,
    ApprovalId,
    /// A yes that holds for later calls as well.
    StandingApprovalId,
    /// A call that waits for somebody. What waits for an approval has that approval's id.
    PendingCallId,
    AuditId,
    CredentialId,
    TestCaseId,
    McpServerId,
    /// A change to an imported tool on its server.
    McpDriftId,
    /// A script of a tenant, with all of its versions.
    ArtifactId,
    /// One request to a language model.
    UsageId,
    WebhookId,
    /// One event on its way to one webhook. It is the same however often it is tried.
    WebhookDeliveryId,
    /// One boot of one server process.
    ReplicaId,
}

impl TenantId {
    /// Rows of this tenant hold for every tenant. On the wire it is `null`.
    pub const GLOBAL: Self = Self(Uuid::nil());
}

impl From<RunId> for SessionId {
    /// A call outside any session is a session of its own, under the run's id.
    fn from(run: RunId) -> Self {
        Self(run.0)
    }
}

impl From<RunId> for EventId {
    fn from(run: RunId) -> Self {
        Self(run.0)
    }
}

impl ToolId {
    /// The id of a tool defined in code: the same on every machine, because it comes from the slug.
    #[must_use]
    pub fn of_code(slug: &str) -> Self {
        /// The namespace of tools that are defined in code.
        const NAMESPACE: Uuid = Uuid::from_u128(0x6f0c_5f6e_3d1b_4c58_9a57_7e0b_1d42_c3a9);
        Self(Uuid::new_v5(&NAMESPACE, slug.to_ascii_lowercase().as_bytes()))
    }
}
