//! Versions of tools that nobody may call any more.

use tw_model::{Timestamp, ToolId};

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, within},
    error::{Error, Result},
    scope::{TenantScope, now_us},
};

/// What became of the wish to withdraw a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// Nobody may call it since this moment, which may be long ago.
    At(Timestamp),
    /// It is what runs.
    Live,
    /// The tool has no such version.
    Missing,
}

/// What a withdrawal needs to know of a tool.
#[derive(Debug)]
struct Numbers {
    live: Option<String>,
    /// The tool has, or had, a version of the number asked for.
    has_number: bool,
}

impl TenantScope {
    /// Withdraws a number of a tool: nobody may call it any more, and no publication gets it again. Doing so once more
    /// changes nothing.
    pub async fn withdraw_version(
        &self,
        tool: ToolId,
        version: &str,
        audit: NewAudit,
        by: &By,
    ) -> Result<Withdrawn> {
        const Q: &str = "INSERT INTO withdrawn_versions (tenant_id, tool_id, version, author, withdrawn_us)
            VALUES ($1, $2, $3, $4, $5)";
        let mut tx = self.begin().await?;
        // The lock behind which changes to a tenant queue: nobody publishes meanwhile.
        self.bump_epoch(&mut tx).await?;
        if let Some(at) = self.withdrawn_in(&mut tx, tool, version).await? {
            return Ok(Withdrawn::At(at));
        }
        let numbers = self.numbers_in(&mut tx, tool, version).await?;
        if !numbers.has_number {
            return Ok(Withdrawn::Missing);
        }
        if numbers.live.as_deref() == Some(version) {
            return Ok(Withdrawn::Live);
        }
        let at = now_us();
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(version).bind(&by.actor).bind(at)
            .execute(c).await.map(drop))
        .map_err(Error::doing("withdrawing a version"))?;
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_bumped(tx).await?;
        Ok(Withdrawn::At(Timestamp::from_micros(at)))
    }

    pub(crate) async fn withdrawn_in(
        &self,
        tx: &mut Tx,
        tool: ToolId,
        version: &str,
    ) -> Result<Option<Timestamp>> {
        const Q: &str = "SELECT withdrawn_us FROM withdrawn_versions
            WHERE tenant_id = $1 AND tool_id = $2 AND version = $3";
        let at: Option<i64> = within!(tx, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(version).fetch_optional(c).await)
        .map_err(Error::doing("reading a version"))?;
        Ok(at.map(Timestamp::from_micros))
    }

    async fn numbers_in(&self, tx: &mut Tx, tool: ToolId, version: &str) -> Result<Numbers> {
        const LIVE: &str = "SELECT live_version FROM tools
            WHERE tenant_id = $1 AND id = $2 AND kind = 'tenant_custom' AND deleted_us IS NULL";
        const NUMBER: &str = "SELECT count(*) FROM tool_versions
            WHERE tenant_id = $1 AND tool_id = $2 AND version = $3";
        let live: Option<Option<String>> = within!(tx, c => sqlx::query_scalar(LIVE)
            .bind(self.tenant.uuid()).bind(tool.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a tool"))?;
        let count: i64 = within!(tx, c => sqlx::query_scalar(NUMBER)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(version).fetch_one(c).await)
        .map_err(Error::doing("reading a version"))?;
        Ok(Numbers { live: live.flatten(), has_number: count != 0 })
    }
}
