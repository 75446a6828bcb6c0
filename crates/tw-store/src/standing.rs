//! Standing approvals: a yes to later calls of an agent. They are made with a decision and counted with the start of a
//! run, in the log; here they are found, listed and taken back.

use serde_json::value::RawValue;
use sqlx::AssertSqlSafe;
use tw_model::{StandingApprovalId, StandingStatus, Timestamp, ToolId};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    bytes::{PAGE_BYTES_MAX, until_full},
    db::{on, within},
    error::{Error, Result},
    filter::{Arg, Conditions, bind_args},
    row::row,
    scope::{TenantScope, now_us},
};

/// A standing approval as stored. Whether what it is bound to still holds is not written down.
#[derive(Clone, Debug)]
pub struct StandingApproval {
    pub id: StandingApprovalId,
    /// Whose calls it is for.
    pub principal: String,
    pub tool_id: ToolId,
    pub tool: String,
    pub definition_hash: String,
    pub context: String,
    /// JSON pointers; `None` for the whole input.
    pub fields: Option<Vec<String>>,
    pub values: Box<RawValue>,
    pub values_digest: String,
    pub approved_by: String,
    pub seal: Vec<u8>,
    pub created: Timestamp,
    pub expires: Timestamp,
    pub revoked: Option<Timestamp>,
    pub uses: i64,
}

/// As much of a standing approval as tells whether it may be one for a call.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub id: StandingApprovalId,
    pub fields: Option<Vec<String>>,
    pub values_digest: String,
}

/// Which standing approvals a list shows.
#[derive(Clone, Debug, Default)]
pub struct StandingFilter {
    pub principal: Option<String>,
    pub tool: Option<String>,
    pub status: Option<StandingStatus>,
}

row! {
    #[derive(Debug)]
    struct StandingRow {
        id: Uuid,
        principal: String,
        tool_id: Uuid,
        tool: String,
        definition_hash: String,
        context: String,
        fields: Option<String>,
        field_values: String,
        values_digest: String,
        approved_by: String,
        seal: Vec<u8>,
        created_us: i64,
        expires_us: i64,
        revoked_us: Option<i64>,
        uses: i64,
    }
}

row! {
    #[derive(Debug)]
    struct CandidateRow {
        id: Uuid,
        fields: Option<String>,
        values_digest: String,
    }
}

const SELECT: &str =
    "SELECT id, principal, tool_id, tool, definition_hash, context, fields, field_values, values_digest,
    approved_by, seal, created_us, expires_us, revoked_us, uses FROM standing_approvals";

impl TenantScope {
    /// Those that may let a call of this principal to this tool through, oldest first.
    pub async fn standing_candidates(
        &self,
        principal: &str,
        tool: ToolId,
        definition_hash: &str,
    ) -> Result<Vec<Candidate>> {
        const Q: &str = "SELECT id, fields, values_digest FROM standing_approvals
            WHERE tenant_id = $1 AND principal = $2 AND tool_id = $3 AND definition_hash = $4 AND expires_us > $5
            AND revoked_us IS NULL ORDER BY expires_us";
        let mut conn = self.read().await?;
        let rows: Vec<CandidateRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(principal).bind(tool.uuid()).bind(definition_hash).bind(now_us())
            .fetch_all(c).await)
        .map_err(Error::doing("looking for standing approvals"))?;
        rows.into_iter().map(CandidateRow::candidate).collect()
    }

    pub async fn standing_approval(&self, id: StandingApprovalId) -> Result<Option<StandingApproval>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and("id =", Arg::Id(id.uuid()));
        Ok(self.select_standing(&conditions, "").await?.0.pop())
    }

    /// Standing approvals before the one given, newest first: of large ones fewer, at least two, and then it says that
    /// it left some out. Those that are void count as active here.
    pub async fn standing_approvals(
        &self,
        filter: &StandingFilter,
        before: Option<StandingApprovalId>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<StandingApproval>, bool)> {
        let mut conditions = self.standing_conditions(filter);
        if let Some(before) = before {
            conditions.and("id <", Arg::Id(before.uuid()));
        }
        self.select_standing(&conditions, &format!(" ORDER BY id DESC LIMIT {limit} OFFSET {offset}")).await
    }

    /// How many a list would show, where those that are void count as active.
    pub async fn count_standing_approvals(&self, filter: &StandingFilter) -> Result<Option<i64>> {
        self.count("standing_approvals", &self.standing_conditions(filter)).await
    }

    /// Takes a standing approval back. What callers may do changes with it, so no start that relied on it is written
    /// afterwards. `false` where it was taken back before, or there is none.
    pub async fn revoke_standing(&self, id: StandingApprovalId, audit: NewAudit, by: &By) -> Result<bool> {
        const Q: &str = "UPDATE standing_approvals SET revoked_us = $3
            WHERE tenant_id = $1 AND id = $2 AND revoked_us IS NULL";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let revoked = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(now_us())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("revoking a standing approval"))?;
        if revoked == 0 {
            return Ok(false);
        }
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    fn standing_conditions(&self, filter: &StandingFilter) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        match filter.status {
            None => {}
            Some(StandingStatus::Revoked) => conditions.and_always("revoked_us IS NOT NULL"),
            Some(StandingStatus::Expired) => {
                conditions.and_always("revoked_us IS NULL");
                conditions.and("expires_us <=", Arg::Int(now_us()));
            }
            Some(StandingStatus::Active | StandingStatus::Void) => {
                conditions.and_always("revoked_us IS NULL");
                conditions.and("expires_us >", Arg::Int(now_us()));
            }
        }
        if let Some(principal) = &filter.principal {
            conditions.and("principal =", Arg::Text(principal.clone()));
        }
        if let Some(tool) = &filter.tool {
            conditions.and("tool =", Arg::Text(tool.clone()));
        }
        conditions
    }

    async fn select_standing(
        &self,
        conditions: &Conditions,
        tail: &str,
    ) -> Result<(Vec<StandingApproval>, bool)> {
        let sql = format!("{SELECT}{}{tail}", conditions.sql());
        let mut conn = self.read_in_order().await?;
        let (rows, is_cut): (Vec<StandingRow>, bool) = on!(conn, c => {
            let found = bind_args!(sqlx::query_as(AssertSqlSafe(sql)), conditions.args()).fetch(c);
            until_full(found, PAGE_BYTES_MAX, |row: &StandingRow| row.field_values.len() + row.context.len()).await
        })
        .map_err(Error::doing("reading standing approvals"))?;
        Ok((rows.into_iter().map(StandingRow::standing).collect::<Result<_>>()?, is_cut))
    }
}

fn corrupt(what: &str, id: Uuid) -> Error {
    Error::Corrupt { what: format!("{what} of standing approval {id}") }
}

fn pointers(fields: Option<&str>, id: Uuid) -> Result<Option<Vec<String>>> {
    fields.map(serde_json::from_str).transpose().map_err(|_| corrupt("the fields", id))
}

impl CandidateRow {
    fn candidate(self) -> Result<Candidate> {
        Ok(Candidate {
            id: StandingApprovalId::from_uuid(self.id),
            fields: pointers(self.fields.as_deref(), self.id)?,
            values_digest: self.values_digest,
        })
    }
}

impl StandingRow {
    fn standing(self) -> Result<StandingApproval> {
        Ok(StandingApproval {
            id: StandingApprovalId::from_uuid(self.id),
            fields: pointers(self.fields.as_deref(), self.id)?,
            values: RawValue::from_string(self.field_values).map_err(|_| corrupt("the values", self.id))?,
            principal: self.principal,
            tool_id: ToolId::from_uuid(self.tool_id),
            tool: self.tool,
            definition_hash: self.definition_hash,
            context: self.context,
            values_digest: self.values_digest,
            approved_by: self.approved_by,
            seal: self.seal,
            created: Timestamp::from_micros(self.created_us),
            expires: Timestamp::from_micros(self.expires_us),
            revoked: self.revoked_us.map(Timestamp::from_micros),
            uses: self.uses,
        })
    }
}
