//! What tenants spend on language models, set aside before it is spent.

use tw_model::{Money, RunId, Timestamp, Usage, UsageId};

use crate::{
    db::{Tx, within},
    error::{Error, Result},
    scope::{TenantScope, now_us},
};

/// What a tenant may spend. `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendingLimits {
    pub cost_per_day: Option<Money>,
    pub cost_per_month: Option<Money>,
    pub tokens_per_day: Option<u64>,
}

/// The limit that a request would go over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpendingLimit {
    CostPerDay,
    CostPerMonth,
    TokensPerDay,
}

/// A request to a model that is about to be sent, with the most that it can take.
#[derive(Clone, Debug)]
pub struct NewUsage {
    pub id: UsageId,
    pub run: RunId,
    /// What the configuration calls the model.
    pub name: String,
    pub worst: Usage,
}

/// No sum of such amounts comes near what a column can hold.
const AMOUNT_MAX: i64 = 1 << 50;

impl TenantScope {
    /// Sets the most that a request can take aside, unless that goes over a limit. Whoever sets something aside at the
    /// same time waits for the row of the day, so both together never go over.
    pub async fn reserve_usage(
        &self,
        new: &NewUsage,
        limits: &SpendingLimits,
        at: Timestamp,
    ) -> Result<Result<(), SpendingLimit>> {
        let mut tx = self.begin().await?;
        let (tokens, cost) =
            self.add_to_day(&mut tx, at.day(), tokens_of(&new.worst), cost_of(&new.worst)).await?;
        let over = |sum: i64, limit: Option<i64>| limit.is_some_and(|limit| limit < sum);
        let money = |limit: Option<Money>| limit.map(|limit| amount(limit.nanos()));
        if over(tokens, limits.tokens_per_day.map(amount)) {
            return Ok(Err(SpendingLimit::TokensPerDay));
        }
        // A model without a price cannot go over what is counted in money.
        if new.worst.cost.is_some() {
            if over(cost, money(limits.cost_per_day)) {
                return Ok(Err(SpendingLimit::CostPerDay));
            }
            let limit = money(limits.cost_per_month);
            if limit.is_some() && over(self.cost_since(&mut tx, at.first_day_of_month()).await?, limit) {
                return Ok(Err(SpendingLimit::CostPerMonth));
            }
        }
        self.add_usage(&mut tx, new, at).await?;
        tx.commit().await?;
        Ok(Ok(()))
    }

    /// Replaces what was set aside by what the request took. Again, it changes nothing.
    pub async fn settle_usage(&self, id: UsageId, worst: &Usage, real: &Usage) -> Result<()> {
        const Q: &str = "UPDATE usage_records SET input_tokens = $3, output_tokens = $4, cached_tokens = $5,
            cache_write_tokens = $6, cost_nanos = $7, estimated = $8, settled_us = $9
            WHERE tenant_id = $1 AND id = $2 AND settled_us IS NULL RETURNING day";
        let mut tx = self.begin().await?;
        let day: Option<i64> = within!(&mut tx, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(id.uuid())
            .bind(amount(real.input_tokens)).bind(amount(real.output_tokens))
            .bind(amount(real.cached_tokens)).bind(amount(real.cache_write_tokens))
            .bind(real.cost.map(|cost| amount(cost.nanos()))).bind(real.estimated).bind(now_us())
            .fetch_optional(c).await)
        .map_err(Error::doing("settling what a model took"))?;
        if let Some(day) = day {
            let tokens = tokens_of(real) - tokens_of(worst);
            self.add_to_day(&mut tx, day, tokens, cost_of(real) - cost_of(worst)).await?;
        }
        tx.commit().await
    }

    /// The sums of a day, with this added.
    async fn add_to_day(&self, tx: &mut Tx, day: i64, tokens: i64, cost: i64) -> Result<(i64, i64)> {
        const Q: &str = "INSERT INTO usage_days (tenant_id, day, tokens, cost_nanos) VALUES ($1, $2, $3, $4)
            ON CONFLICT (tenant_id, day) DO UPDATE SET tokens = usage_days.tokens + excluded.tokens,
                cost_nanos = usage_days.cost_nanos + excluded.cost_nanos
            RETURNING tokens, cost_nanos";
        within!(tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(day).bind(tokens).bind(cost).fetch_one(c).await)
        .map_err(Error::doing("counting what models took"))
    }

    async fn cost_since(&self, tx: &mut Tx, day: i64) -> Result<i64> {
        const Q: &str = "SELECT CAST(coalesce(sum(cost_nanos), 0) AS BIGINT) FROM usage_days
            WHERE tenant_id = $1 AND day >= $2";
        within!(tx, c => sqlx::query_scalar(Q).bind(self.tenant.uuid()).bind(day).fetch_one(c).await)
            .map_err(Error::doing("counting what models took"))
    }

    async fn add_usage(&self, tx: &mut Tx, new: &NewUsage, at: Timestamp) -> Result<()> {
        const Q: &str =
            "INSERT INTO usage_records (tenant_id, id, run_id, day, name, provider, model, input_tokens,
            output_tokens, cached_tokens, cache_write_tokens, cost_nanos, estimated, created_us)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $10, $11, $12)";
        let worst = &new.worst;
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(new.id.uuid()).bind(new.run.uuid()).bind(at.day())
            .bind(&new.name).bind(&worst.provider).bind(&worst.model)
            .bind(amount(worst.input_tokens)).bind(amount(worst.output_tokens))
            .bind(worst.cost.map(|cost| amount(cost.nanos()))).bind(worst.estimated).bind(at.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("setting aside what a model may take"))
    }
}

fn amount(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).min(AMOUNT_MAX)
}

fn tokens_of(usage: &Usage) -> i64 {
    amount(usage.input_tokens.saturating_add(usage.output_tokens))
}

fn cost_of(usage: &Usage) -> i64 {
    usage.cost.map_or(0, |cost| amount(cost.nanos()))
}
