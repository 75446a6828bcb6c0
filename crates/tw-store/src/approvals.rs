//! The approvals inbox.

use serde_json::value::RawValue;
use sqlx::AssertSqlSafe;
use tw_model::{ApprovalId, ApprovalStatus, Level, PendingState, RunId, Timestamp, ToolId, UserId};
use uuid::Uuid;

use crate::{
    bytes::{PAGE_BYTES_MAX, until_full},
    db::on,
    error::{Error, Result},
    filter::{Arg, Conditions, bind_args},
    row::row,
    scope::TenantScope,
};

/// What a person is asked to decide.
#[derive(Clone, Debug)]
pub struct Approval {
    pub id: ApprovalId,
    pub run: RunId,
    pub tool_id: ToolId,
    pub tool: String,
    pub version: String,
    /// The input as asked for, or as changed by the approver.
    pub input: Box<RawValue>,
    pub input_digest: String,
    pub definition_hash: String,
    pub seal: Vec<u8>,
    pub level: Option<Level>,
    pub reason: String,
    /// The principal that asked.
    pub requested_by: String,
    pub owner: UserId,
    pub requested: Timestamp,
    pub expires: Timestamp,
    pub status: ApprovalStatus,
    pub decided_by: Option<String>,
    pub decided: Option<Timestamp>,
    pub note: Option<String>,
    pub changes: Option<Box<RawValue>>,
    /// What resuming needs, as JSON.
    pub context: String,
    /// The state of the waiting call.
    pub state: PendingState,
}

/// An approval that nobody has decided on, without what can be large.
#[derive(Clone, Debug)]
pub struct OpenApproval {
    pub id: ApprovalId,
    pub tool_id: ToolId,
    pub version: String,
}

row! {
    #[derive(Debug)]
    struct ApprovalRow {
        id: Uuid,
        run_id: Uuid,
        tool_id: Uuid,
        tool: String,
        version: String,
        input: String,
        input_digest: String,
        definition_hash: String,
        seal: Vec<u8>,
        level: Option<String>,
        reason: String,
        requested_by: String,
        owner_id: Uuid,
        requested_us: i64,
        expires_us: i64,
        status: String,
        decided_by: Option<String>,
        decided_us: Option<i64>,
        note: Option<String>,
        changes: Option<String>,
        context: String,
        state: String,
    }
}

const SELECT: &str = "SELECT a.id, a.run_id, a.tool_id, a.tool, a.version, a.input, a.input_digest, a.definition_hash,
    a.seal, a.level, a.reason, a.requested_by, a.owner_id, a.requested_us, a.expires_us, a.status, a.decided_by,
    a.decided_us, a.note, a.changes, p.context, p.state
    FROM approvals a JOIN pending_calls p ON p.run_id = a.run_id";

impl TenantScope {
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>> {
        self.one_approval("a.id =", id.uuid()).await
    }

    pub async fn approval_of_run(&self, run: RunId) -> Result<Option<Approval>> {
        self.one_approval("a.run_id =", run.uuid()).await
    }

    async fn one_approval(&self, column: &'static str, id: Uuid) -> Result<Option<Approval>> {
        let mut conditions = Conditions::default();
        conditions.and("a.tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and(column, Arg::Id(id));
        Ok(self.select_approvals(conditions, "").await?.0.pop())
    }

    /// Approvals, oldest first, from the one after `after`: of large ones fewer, at least two, and then it says that it
    /// left some out.
    pub async fn approvals(
        &self,
        status: Option<ApprovalStatus>,
        after: Option<ApprovalId>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Approval>, bool)> {
        let mut conditions = self.approval_conditions(status);
        if let Some(after) = after {
            conditions.and("a.id >", Arg::Id(after.uuid()));
        }
        self.select_approvals(conditions, &format!(" ORDER BY a.id LIMIT {limit} OFFSET {offset}")).await
    }

    /// The approvals that nobody has decided on, by id, from the one after `after`.
    pub async fn open_approvals(&self, after: Option<ApprovalId>, most: usize) -> Result<Vec<OpenApproval>> {
        const Q: &str = "SELECT id, tool_id, version FROM approvals
            WHERE tenant_id = $1 AND status = 'pending' AND id > $2 ORDER BY id LIMIT $3";
        let after = after.map_or(Uuid::nil(), ApprovalId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<(Uuid, Uuid, String)> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(i64::try_from(most).unwrap_or(i64::MAX)).fetch_all(c).await)
        .map_err(Error::doing("reading approvals"))?;
        let open = rows.into_iter().map(|(id, tool, version)| OpenApproval {
            id: ApprovalId::from_uuid(id),
            tool_id: ToolId::from_uuid(tool),
            version,
        });
        Ok(open.collect())
    }

    pub async fn count_approvals(&self, status: Option<ApprovalStatus>) -> Result<Option<i64>> {
        let conditions = self.approval_conditions(status);
        let most = crate::runs::COUNT_MAX;
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 AS one FROM approvals a{} LIMIT {}) AS counted",
            conditions.sql(),
            most + 1
        );
        let mut conn = self.read().await?;
        let count: i64 = on!(conn, c => bind_args!(sqlx::query_scalar(AssertSqlSafe(sql)), conditions.args())
            .fetch_one(c).await)
        .map_err(Error::doing("counting approvals"))?;
        Ok((count <= most).then_some(count))
    }

    fn approval_conditions(&self, status: Option<ApprovalStatus>) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.and("a.tenant_id =", Arg::Id(self.tenant.uuid()));
        if let Some(status) = status {
            conditions.and("a.status =", Arg::Text(status.as_str().to_owned()));
        }
        conditions
    }

    async fn select_approvals(&self, conditions: Conditions, tail: &str) -> Result<(Vec<Approval>, bool)> {
        let sql = format!("{SELECT}{}{tail}", conditions.sql());
        let mut conn = self.read().await?;
        let (rows, is_cut): (Vec<ApprovalRow>, bool) = on!(conn, c => {
            let found = bind_args!(sqlx::query_as(AssertSqlSafe(sql)), conditions.args()).fetch(c);
            until_full(found, PAGE_BYTES_MAX, ApprovalRow::bytes).await
        })
        .map_err(Error::doing("reading approvals"))?;
        Ok((rows.into_iter().map(ApprovalRow::approval).collect::<Result<_>>()?, is_cut))
    }
}

impl ApprovalRow {
    /// What varies, as far as it can be large.
    fn bytes(&self) -> usize {
        self.input.len() + self.changes.as_ref().map_or(0, String::len) + self.context.len()
    }

    fn approval(self) -> Result<Approval> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("{what} of approval {}", self.id) };
        let raw = |text: String, what: &str| RawValue::from_string(text).map_err(|_| corrupt(what));
        let level = match &self.level {
            Some(level) => Some(Level::parse(level).ok_or_else(|| corrupt("the level"))?),
            None => None,
        };
        Ok(Approval {
            id: ApprovalId::from_uuid(self.id),
            run: RunId::from_uuid(self.run_id),
            tool_id: ToolId::from_uuid(self.tool_id),
            input: raw(self.input.clone(), "the input")?,
            changes: self.changes.clone().map(|changes| raw(changes, "the changes")).transpose()?,
            level,
            owner: UserId::from_uuid(self.owner_id),
            tool: self.tool,
            version: self.version,
            input_digest: self.input_digest,
            definition_hash: self.definition_hash,
            seal: self.seal,
            reason: self.reason,
            requested_by: self.requested_by,
            requested: Timestamp::from_micros(self.requested_us),
            expires: Timestamp::from_micros(self.expires_us),
            status: ApprovalStatus::parse(&self.status).ok_or_else(|| corrupt("the status"))?,
            decided_by: self.decided_by,
            decided: self.decided_us.map(Timestamp::from_micros),
            note: self.note,
            context: self.context,
            state: PendingState::parse(&self.state).ok_or_else(|| corrupt("the state"))?,
        })
    }
}
