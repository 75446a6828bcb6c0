//! How long a list is, as far as that is counted.

use sqlx::AssertSqlSafe;

use crate::{
    db::on,
    error::{Error, Result},
    filter::{Conditions, bind_args},
    runs::COUNT_MAX,
    scope::TenantScope,
};

impl TenantScope {
    /// How many rows of a table there are, up to [`COUNT_MAX`]; `None` beyond.
    pub(crate) async fn count(&self, table: &'static str, conditions: &Conditions) -> Result<Option<i64>> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 AS one FROM {table}{} LIMIT {}) AS counted",
            conditions.sql(),
            COUNT_MAX + 1
        );
        let mut conn = self.read().await?;
        let count: i64 = on!(conn, c => bind_args!(sqlx::query_scalar(AssertSqlSafe(sql)), conditions.args())
            .fetch_one(c).await)
        .map_err(Error::doing("counting a list"))?;
        Ok((count <= COUNT_MAX).then_some(count))
    }
}
