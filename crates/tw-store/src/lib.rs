//! Where everything is kept: SQLite out of the box, PostgreSQL for many replicas, one code base.
//!
//! This room knows SQL and nobody else does. Every query about a tenant's things goes through a
//! [`TenantScope`]; on PostgreSQL row-level security stands behind it as a second fence. What has to be
//! found before a tenant is known is in [`lookup`], which returns ids and nothing else. No rule about
//! who may do what belongs here.
//!
//! Start with [`Store`], then [`log`], the one way to change a run.

mod approvals;
mod artifacts;
mod audit;
mod audit_line;
mod backup;
mod bytes;
mod calls;
mod count;
mod credentials;
mod db;
mod deaths;
mod error;
mod filter;
mod idempotency;
mod keys;
mod listing;
pub mod log;
mod logins;
mod lookup;
mod mcp_drifts;
mod mcp_grants;
mod mcp_servers;
mod meta;
mod presence;
mod private;
mod registry;
mod replicas;
mod roles;
mod row;
mod runs;
mod scope;
mod sessions;
mod slots;
mod standing;
mod tenants;
mod test_cases;
mod tools;
mod usage;
mod users;
mod wake;
mod webhooks;
mod withdrawals;

pub use approvals::{Approval, OpenApproval};
pub use artifacts::{ArtifactChange, ArtifactVersion, StoredArtifact};
pub use audit::{AuditFilter, AuditRecord};
pub use audit_line::{By, NewAudit};
pub use bytes::PAGE_BYTES_MAX;
pub use calls::{PendingCall, Wanted};
pub use credentials::{Rewrap, SealedSecret, StoredCredential, WrappedKey};
pub use db::{Durability, Target, migrate, pending_migrations};
pub use error::{Cause, Error, Result, timed_out};
pub use idempotency::{KeyScope, Used};
pub use keys::{ApiKey, NewKey};
pub use listing::{RunFilter, RunPlace};
pub use logins::{Login, NewLogin, Opens};
pub use mcp_drifts::{DriftStatus, Import, McpDrift};
pub use mcp_grants::{McpSignIn, RenewedGrant, StoredMcpGrant};
pub use mcp_servers::{LastAnswer, StoredMcpServer};
pub use registry::{Claim, Left, Note, Premise, ReadTool, Snapshot, StoredTool, ToolVersion, moment_after};
pub use runs::{COUNT_MAX, Run};
pub use scope::{Options, Store, TenantScope};
pub use sessions::{Event, Session};
pub use standing::{Candidate, StandingApproval, StandingFilter};
pub use tenants::{Changed, Tenant, TenantChange};
pub use test_cases::{AddedCase, TestCase, TestResult};
pub use tools::{Override, StoredOverride};
pub use usage::{NewUsage, SpendingLimit, SpendingLimits};
pub use users::{Added, NewUser, User, normal_email};
pub use wake::{SessionWatch, Wake};
pub use webhooks::{DeliveryTry, ToldApproval, ToldRun, Webhook, WebhookDelivery};
pub use withdrawals::Withdrawn;
