//! What authors expect of their tools: inputs, and what has to come of them.

use tw_model::{RunId, TestCaseId, Timestamp, ToolId};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions},
    row::row,
    scope::{TenantScope, now_us},
    tenants::Changed,
};

/// A test case as stored. Input and expectation are JSON, and text here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    pub id: TestCaseId,
    pub tool: ToolId,
    pub name: String,
    pub input: String,
    pub expect: String,
    /// How it went last; void once the case changes.
    pub result: Option<TestResult>,
    pub created: Timestamp,
    /// Moves with every change, so it names the row as it stands. A result is no change.
    pub updated: Timestamp,
    /// Who made it, as [`By::actor`].
    pub created_by: String,
}

/// How a test case went against what was saved of its tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// The name of the content that it went against.
    pub content_hash: String,
    pub passed: bool,
    pub run: Option<RunId>,
    pub at: Timestamp,
}

/// What became of the wish to add a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedCase {
    Done,
    /// The tool has as many as it may have.
    Full,
    /// There is no such tool.
    NoTool,
}

row! {
    #[derive(Debug)]
    struct CaseRow {
        id: Uuid,
        tool_id: Uuid,
        name: String,
        input: String,
        expect: String,
        result_hash: Option<String>,
        result_passed: Option<bool>,
        result_run_id: Option<Uuid>,
        result_us: Option<i64>,
        created_us: i64,
        updated_us: i64,
        created_by: String,
    }
}

/// The test cases of the tool `$2` of the tenant `$1`; a condition follows.
macro_rules! cases {
    ($rest:literal) => {
        concat!(
            "SELECT id, tool_id, name, input, expect, result_hash, result_passed, result_run_id, result_us, created_us,
             updated_us, created_by FROM test_cases WHERE tenant_id = $1 AND tool_id = $2 ",
            $rest
        )
    };
}

impl TenantScope {
    /// Adds a test case to a tool that has fewer than `most`.
    pub async fn create_test_case(
        &self,
        new: &TestCase,
        most: i64,
        audit: NewAudit,
        by: &By,
    ) -> Result<AddedCase> {
        const TOOL: &str = "SELECT count(*) FROM tools
            WHERE tenant_id = $1 AND id = $2 AND kind = 'tenant_custom' AND deleted_us IS NULL";
        const COUNT: &str = "SELECT count(*) FROM test_cases WHERE tenant_id = $1 AND tool_id = $2";
        const Q: &str = "INSERT INTO test_cases
            (tenant_id, tool_id, id, name, input, expect, created_us, updated_us, created_by)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)";
        let mut tx = self.begin().await?;
        // The lock behind which changes to a tenant queue: nobody adds another or removes the tool meanwhile.
        self.bump_epoch(&mut tx).await?;
        let count = async |tx: &mut Tx, sql: &'static str| -> Result<i64> {
            within!(tx, c => sqlx::query_scalar(sql)
                .bind(self.tenant.uuid()).bind(new.tool.uuid()).fetch_one(c).await)
            .map_err(Error::doing("counting test cases"))
        };
        if count(&mut tx, TOOL).await? == 0 {
            return Ok(AddedCase::NoTool);
        }
        if most <= count(&mut tx, COUNT).await? {
            return Ok(AddedCase::Full);
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(new.tool.uuid()).bind(new.id.uuid()).bind(&new.name).bind(&new.input)
            .bind(&new.expect).bind(new.created.micros()).bind(&new.created_by)
            .execute(c).await.map(drop))
        .map_err(Error::doing("adding a test case"))?;
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_bumped(tx).await?;
        Ok(AddedCase::Done)
    }

    pub async fn test_case(&self, tool: ToolId, id: TestCaseId) -> Result<Option<TestCase>> {
        const Q: &str = cases!("AND id = $3");
        let mut conn = self.read().await?;
        let row: Option<CaseRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a test case"))?;
        Ok(row.map(CaseRow::read))
    }

    /// Test cases of a tool after the one given, oldest first.
    pub async fn test_cases(
        &self,
        tool: ToolId,
        after: Option<TestCaseId>,
        limit: i64,
    ) -> Result<Vec<TestCase>> {
        const Q: &str = cases!("AND id > $3 ORDER BY id LIMIT $4");
        let after = after.map_or(Uuid::nil(), TestCaseId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<CaseRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing test cases"))?;
        Ok(rows.into_iter().map(CaseRow::read).collect())
    }

    /// How many test cases a tool has.
    pub async fn count_test_cases(&self, tool: ToolId) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and("tool_id =", Arg::Id(tool.uuid()));
        self.count("test_cases", &conditions).await
    }

    /// Writes a test case over the one that was last changed at `seen`. Its result is void.
    pub async fn change_test_case(
        &self,
        after: &TestCase,
        seen: Timestamp,
        audit: NewAudit,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str = "UPDATE test_cases SET name = $5, input = $6, expect = $7, updated_us = $8,
            result_hash = NULL, result_passed = NULL, result_run_id = NULL, result_us = NULL
            WHERE tenant_id = $1 AND tool_id = $2 AND id = $3 AND updated_us = $4";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let changed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(after.tool.uuid()).bind(after.id.uuid()).bind(seen.micros())
            .bind(&after.name).bind(&after.input).bind(&after.expect).bind(after.updated.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("changing a test case"))?;
        if changed == 0 {
            return Ok(Changed::Stale(()));
        }
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_bumped(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Removes a test case; `false` where there is none.
    pub async fn remove_test_case(
        &self,
        tool: ToolId,
        id: TestCaseId,
        audit: NewAudit,
        by: &By,
    ) -> Result<bool> {
        const Q: &str = "DELETE FROM test_cases WHERE tenant_id = $1 AND tool_id = $2 AND id = $3";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let removed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(id.uuid())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("removing a test case"))?;
        if removed == 0 {
            return Ok(false);
        }
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_bumped(tx).await?;
        Ok(true)
    }

    /// Notes how a test case went that is still as it was at `seen`. Changes nothing that callers may see or do, so
    /// the epoch stays.
    pub async fn note_test_result(
        &self,
        tool: ToolId,
        id: TestCaseId,
        seen: Timestamp,
        result: &TestResult,
    ) -> Result<()> {
        const Q: &str = "UPDATE test_cases
            SET result_hash = $5, result_passed = $6, result_run_id = $7, result_us = $8
            WHERE tenant_id = $1 AND tool_id = $2 AND id = $3 AND updated_us = $4";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).bind(id.uuid()).bind(seen.micros())
            .bind(&result.content_hash).bind(result.passed).bind(result.run.map(RunId::uuid))
            .bind(result.at.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("noting how a test case went"))?;
        tx.commit().await
    }

    /// Removes what was expected of a tool that is removed itself.
    pub(crate) async fn forget_test_cases(&self, tx: &mut Tx, tool: ToolId) -> Result<()> {
        const Q: &str = "DELETE FROM test_cases WHERE tenant_id = $1 AND tool_id = $2";
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(tool.uuid()).execute(c).await.map(drop))
        .map_err(Error::doing("removing test cases"))
    }
}

impl TestCase {
    /// The moment of a change to it: now, but later than the one before.
    #[must_use]
    pub fn moment_after(&self) -> Timestamp {
        Timestamp::from_micros(now_us().max(self.updated.micros() + 1))
    }
}

impl CaseRow {
    fn read(self) -> TestCase {
        let result = match (self.result_hash, self.result_passed, self.result_us) {
            (Some(content_hash), Some(passed), Some(at)) => Some(TestResult {
                content_hash,
                passed,
                run: self.result_run_id.map(RunId::from_uuid),
                at: Timestamp::from_micros(at),
            }),
            _ => None,
        };
        TestCase {
            id: TestCaseId::from_uuid(self.id),
            tool: ToolId::from_uuid(self.tool_id),
            name: self.name,
            input: self.input,
            expect: self.expect,
            result,
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
            created_by: self.created_by,
        }
    }
}
