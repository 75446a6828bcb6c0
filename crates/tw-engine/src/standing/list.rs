//! Looking at standing approvals, and taking them back.

use tw_base::{Error, Page, PageRequest, Result};
use tw_identity::rights::{DecideApprovals, Permit, ReadApprovals};
use tw_model::{Caller, StandingApprovalId, StandingStatus, TenantId, Timestamp};
use tw_registry::View;
use tw_store::{NewAudit, StandingApproval, StandingFilter};

use super::{STANDING_MAX, read};
use crate::{Engine, run_log::definitions_hash};

/// A standing approval, and how it stands now.
#[derive(Debug)]
pub struct JudgedStanding {
    pub row: StandingApproval,
    pub status: StandingStatus,
}

impl Engine {
    /// The tenant's standing approvals, newest first.
    pub async fn standing_approvals(
        &self,
        permit: &Permit<ReadApprovals>,
        filter: &StandingFilter,
        page: &PageRequest,
    ) -> Result<Page<JudgedStanding>> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let place = format!("standing-approvals/{}/{}", caller.tenant, caller.principal.label());
        let before = self.inner.secrets.open_cursor(&place, page)?.map(StandingApprovalId::from_uuid);
        let id = |standing: &JudgedStanding| standing.row.id.uuid();
        if let Some(status @ (StandingStatus::Active | StandingStatus::Void)) = filter.status {
            // Which of those that have not run out are void is not written down; there are never many.
            let rows = self.open_standing(caller.tenant, filter).await?;
            let mut judged = self.judged(caller, rows).await?;
            judged.retain(|standing| standing.status == status);
            let total = i64::try_from(judged.len()).ok();
            judged.retain(|standing| before.is_none_or(|before| standing.row.id < before));
            let skipped = judged.len().min(usize::try_from(page.offset).unwrap_or(0));
            return Ok(self.inner.secrets.page(judged.split_off(skipped), page, &place, total, id));
        }
        let rows = scope.standing_approvals(filter, before, page.offset, page.limit + 1).await;
        let (rows, is_cut) = rows.map_err(Error::store("reading standing approvals"))?;
        let page = &page.cut(rows.len(), is_cut);
        let total = scope.count_standing_approvals(filter).await;
        let total = total.map_err(Error::store("counting standing approvals"))?;
        let judged = self.judged(caller, rows).await?;
        Ok(self.inner.secrets.page(judged, page, &place, total, id))
    }

    /// All that have neither run out nor were taken back, newest first.
    async fn open_standing(
        &self,
        tenant: TenantId,
        filter: &StandingFilter,
    ) -> Result<Vec<StandingApproval>> {
        let scope = self.inner.store.tenant(tenant);
        let mut all: Vec<StandingApproval> = Vec::new();
        loop {
            let before = all.last().map(|row| row.id);
            let rows = scope.standing_approvals(filter, before, 0, STANDING_MAX).await;
            let (rows, is_cut) = rows.map_err(Error::store("reading standing approvals"))?;
            all.extend(rows);
            if !is_cut {
                return Ok(all);
            }
        }
    }

    async fn judged(&self, caller: &Caller, rows: Vec<StandingApproval>) -> Result<Vec<JudgedStanding>> {
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await?;
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        let mut judged = Vec::with_capacity(rows.len());
        for row in rows {
            let status = self.status_of(caller, &view, &row, now).await?;
            judged.push(JudgedStanding { row, status });
        }
        Ok(judged)
    }

    async fn status_of(
        &self,
        reader: &Caller,
        view: &View,
        row: &StandingApproval,
        now: Timestamp,
    ) -> Result<StandingStatus> {
        if row.revoked.is_some() {
            return Ok(StandingStatus::Revoked);
        }
        if row.expires <= now {
            return Ok(StandingStatus::Expired);
        }
        let Some(context) = read(row) else { return Ok(StandingStatus::Void) };
        let pinned = context.pinned.as_deref();
        let definitions = self.definitions_of(view, row.tool_id, pinned, context.way.mode()).await?;
        let hash = definitions_hash(definitions.iter().map(|tool| &**tool));
        let (Some(tool), true) = (definitions.first(), hash == row.definition_hash) else {
            return Ok(StandingStatus::Void);
        };
        let Some(agent) = self.if_member(reader, &context.agent).await? else {
            return Ok(StandingStatus::Void);
        };
        let stands = self.judge(&agent, row, &context, tool).await?.is_some();
        Ok(if stands { StandingStatus::Active } else { StandingStatus::Void })
    }

    /// Takes a standing approval back, at once and on every replica.
    pub async fn revoke_standing(
        &self,
        permit: &Permit<DecideApprovals>,
        id: StandingApprovalId,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        let row = scope.standing_approval(id).await.map_err(Error::store("reading a standing approval"))?;
        let row = row.ok_or(Error::NotFound { what: "standing approval" })?;
        if row.revoked.is_some() {
            return Ok(());
        }
        let before = serde_json::json!({
            "agent": row.principal, "tool": row.tool, "fields": row.fields, "approved_by": row.approved_by,
            "expires_at": row.expires, "uses": row.uses,
        });
        let line = NewAudit {
            action: "standing_approval.revoked".to_owned(),
            object: format!("standing_approval:{id}"),
            before: Some(before),
            after: None,
            note: None,
        };
        let revoked = scope.revoke_standing(id, line, &tw_base::by(caller, request_id)).await;
        // Of two who take it back at once the second finds it done.
        revoked.map(drop).map_err(Error::store("revoking a standing approval"))
    }
}
