//! Who changed what: one line per change, written with the change itself and never touched again.

use serde_json::Value;
use sqlx::AssertSqlSafe;
use tw_model::{AuditId, Timestamp};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    bytes::{PAGE_BYTES_MAX, until_full},
    db::{Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions, bind_args},
    row::row,
    scope::{TenantScope, now_us},
};

/// A line as written.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRecord {
    pub id: AuditId,
    pub at: Timestamp,
    pub actor: Value,
    pub action: String,
    pub object: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub request_id: Option<String>,
    pub note: Option<String>,
}

/// Which lines are asked for. What is `None` does not matter.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub action: Option<String>,
    pub object: Option<String>,
    /// From this moment on.
    pub since: Option<Timestamp>,
    /// Up to this moment, and not the moment itself.
    pub until: Option<Timestamp>,
}

row! {
    #[derive(Debug)]
    struct AuditRow {
        id: Uuid,
        at_us: i64,
        actor: String,
        action: String,
        object: String,
        before: Option<String>,
        after: Option<String>,
        request_id: Option<String>,
        note: Option<String>,
    }
}

impl TenantScope {
    /// Writes a line about something that is no change in this database, such as a refused call.
    pub async fn audit(&self, by: &By, entry: NewAudit) -> Result<()> {
        let mut tx = self.begin().await?;
        self.audit_in(&mut tx, by, entry).await?;
        tx.commit().await
    }

    /// Writes a line in the transaction of the change it tells of, so neither stands without the other.
    pub(crate) async fn audit_in(&self, tx: &mut Tx, by: &By, entry: NewAudit) -> Result<()> {
        const Q: &str = "INSERT INTO audit_log
            (id, tenant_id, at_us, actor, action, object, before, after, request_id, note)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let text = |value: Option<Value>| value.map(|value| value.to_string());
        let (before, after) = (text(entry.before), text(entry.after));
        within!(tx, c => sqlx::query(Q)
            .bind(AuditId::new().uuid()).bind(self.tenant.uuid()).bind(now_us()).bind(&by.actor)
            .bind(entry.action).bind(entry.object).bind(before).bind(after)
            .bind(by.request_id.as_deref()).bind(entry.note).execute(c).await.map(drop))
        .map_err(Error::doing("writing the audit"))
    }

    /// Lines older than `before`, newest first: of large ones fewer, at least two, and then it says that it left some
    /// out.
    pub async fn audit_page(
        &self,
        filter: &AuditFilter,
        before: Option<AuditId>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<AuditRecord>, bool)> {
        let mut conditions = self.audit_conditions(filter);
        if let Some(before) = before {
            conditions.and("id <", Arg::Id(before.uuid()));
        }
        let sql = format!(
            "SELECT id, at_us, actor, action, object, before, after, request_id, note FROM audit_log{}
             ORDER BY id DESC LIMIT ${} OFFSET ${}",
            conditions.sql(),
            conditions.args().len() + 1,
            conditions.args().len() + 2,
        );
        let mut conn = self.read().await?;
        let (rows, is_cut): (Vec<AuditRow>, bool) = on!(conn, c => {
            let found = bind_args!(sqlx::query_as(AssertSqlSafe(sql)), conditions.args())
                .bind(limit).bind(offset).fetch(c);
            until_full(found, PAGE_BYTES_MAX, AuditRow::bytes).await
        })
        .map_err(Error::doing("reading the audit"))?;
        Ok((rows.into_iter().map(AuditRow::record).collect::<Result<_>>()?, is_cut))
    }

    /// How many lines there are, as far as that is counted.
    pub async fn count_audit(&self, filter: &AuditFilter) -> Result<Option<i64>> {
        self.count("audit_log", &self.audit_conditions(filter)).await
    }

    fn audit_conditions(&self, filter: &AuditFilter) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        if let Some(action) = &filter.action {
            conditions.and("action =", Arg::Text(action.clone()));
        }
        if let Some(object) = &filter.object {
            conditions.and("object =", Arg::Text(object.clone()));
        }
        if let Some(since) = filter.since {
            conditions.and("at_us >=", Arg::Int(since.micros()));
            conditions.and("id >=", Arg::Id(first_id_at(since.micros() - BEFORE_US)));
        }
        if let Some(until) = filter.until {
            conditions.and("at_us <", Arg::Int(until.micros()));
            conditions.and("id <", Arg::Id(first_id_at(until.micros().saturating_add(AFTER_US))));
        }
        conditions
    }
}

/// By how much the id of a line may be older than the moment it tells, and by how much younger: a line waits for its
/// transaction. Ids begin with the time, so that a span of time is a span of the index.
const BEFORE_US: i64 = 10_000_000;
const AFTER_US: i64 = 600_000_000;

/// The smallest id that is made at this moment.
fn first_id_at(micros: i64) -> Uuid {
    let millis = u128::try_from(micros.max(0) / 1000).unwrap_or(0).min((1 << 48) - 1);
    Uuid::from_u128(millis << 80)
}

impl AuditRow {
    /// What varies, as far as it can be large.
    fn bytes(&self) -> usize {
        [&self.before, &self.after, &self.note].into_iter().flatten().map(String::len).sum()
    }

    fn record(self) -> Result<AuditRecord> {
        let id = self.id;
        let parse = |text: String| {
            serde_json::from_str(&text)
                .map_err(|_| Error::Corrupt { what: format!("audit line {id} is not JSON") })
        };
        Ok(AuditRecord {
            id: AuditId::from_uuid(id),
            at: Timestamp::from_micros(self.at_us),
            actor: parse(self.actor)?,
            action: self.action,
            object: self.object,
            before: self.before.map(parse).transpose()?,
            after: self.after.map(parse).transpose()?,
            request_id: self.request_id,
            note: self.note,
        })
    }
}
