//! The book of what tenants spend on models.

use std::fmt;

use toolwright_sdk::BoxFuture;
use tw_model::{RunId, TenantId, ToolFailure, Usage, UsageId};

/// What a request may take at the most, or took.
#[derive(Clone, Debug)]
pub struct Reservation {
    pub run: RunId,
    /// The name behind `models.`.
    pub name: String,
    pub usage: Usage,
}

/// Keeps what tenants spend within their budgets.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Sets the worst case of a request aside before it is sent, so that parallel runs never overspend. A request that
    /// does not fit into the tenant's budgets fails with `BUDGET_EXCEEDED`.
    fn reserve<'a>(
        &'a self,
        tenant: TenantId,
        worst: &'a Reservation,
    ) -> BoxFuture<'a, Result<UsageId, ToolFailure>>;

    /// Replaces what was set aside by what the request took.
    fn settle(&self, tenant: TenantId, id: UsageId, worst: Usage, real: Usage) -> BoxFuture<'static, ()>;
}
