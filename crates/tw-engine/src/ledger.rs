//! Keeps what tenants spend on language models within their budgets.

use toolwright_sdk::BoxFuture;
use tw_identity::spending_limits;
use tw_model::{Code, TenantId, Timestamp, ToolFailure, Usage, UsageId};
use tw_models::{Ledger, Reservation};
use tw_store::{NewUsage, SpendingLimit, Store};

#[derive(Debug)]
pub(crate) struct TenantLedger {
    store: Store,
}

impl TenantLedger {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    async fn set_aside(&self, tenant: TenantId, worst: &Reservation) -> Result<UsageId, ToolFailure> {
        let scope = self.store.tenant(tenant);
        let found = scope.tenant().await.map_err(|error| away(&error))?;
        let limits = found.map(|tenant| spending_limits(&tenant.settings)).unwrap_or_default();
        let (id, at) = (UsageId::new(), Timestamp::now());
        let new = NewUsage { id, run: worst.run, name: worst.name.clone(), worst: worst.usage.clone() };
        match scope.reserve_usage(&new, &limits, at).await.map_err(|error| away(&error))? {
            Ok(()) => Ok(id),
            Err(limit) => Err(over(limit)),
        }
    }
}

impl Ledger for TenantLedger {
    fn reserve<'a>(
        &'a self,
        tenant: TenantId,
        worst: &'a Reservation,
    ) -> BoxFuture<'a, Result<UsageId, ToolFailure>> {
        Box::pin(self.set_aside(tenant, worst))
    }

    fn settle(&self, tenant: TenantId, id: UsageId, worst: Usage, real: Usage) -> BoxFuture<'static, ()> {
        let scope = self.store.tenant(tenant);
        Box::pin(async move {
            // What was set aside then stays counted, which errs on the side of the budget.
            if let Err(error) = scope.settle_usage(id, &worst, &real).await {
                tracing::warn!(%error, %tenant, "what a model took could not be written down");
            }
        })
    }
}

fn over(limit: SpendingLimit) -> ToolFailure {
    let (name, next) = match limit {
        SpendingLimit::CostPerDay => ("cost_per_day", "tomorrow (UTC)"),
        SpendingLimit::CostPerMonth => ("cost_per_month", "next month (UTC)"),
        SpendingLimit::TokensPerDay => ("tokens_per_day", "tomorrow (UTC)"),
    };
    let message = format!(
        "the request to the model was not sent: it could go over the tenant's budget `{name}`; try again {next}, or an \
         admin raises `budgets.{name}` in the settings"
    );
    ToolFailure::with_code(Code::BudgetExceeded, message)
}

fn away(error: &tw_store::Error) -> ToolFailure {
    tracing::error!(error = error as &dyn std::error::Error, "a request to a model could not be set aside");
    ToolFailure::with_code(Code::Internal, "the tenant's budget could not be read; the server's log says why")
}
