//! Facts about the whole installation, such as the check of its master key. Each is settled once, and replaced
//! by an operator alone.

use crate::{
    db::{on, within},
    error::{Error, Result},
    scope::Store,
};

const SELECT: &str = "SELECT value FROM meta WHERE key = $1";

impl Store {
    pub async fn meta(&self, key: &str) -> Result<Option<String>> {
        let mut conn = self.db.read("{}").await?;
        on!(conn, c => sqlx::query_scalar(SELECT).bind(key).fetch_optional(c).await)
            .map_err(Error::doing("reading a fact"))
    }

    /// Stores a value where there is none, and says what is stored. Of two servers that settle the same
    /// fact at once, both get the same answer.
    pub async fn set_meta_once(&self, key: &str, value: &str) -> Result<String> {
        const Q: &str = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
        let mut tx = self.db.begin("{}").await?;
        within!(&mut tx, c => sqlx::query(Q).bind(key).bind(value).execute(c).await.map(drop))
            .map_err(Error::doing("settling a fact"))?;
        let stored = within!(&mut tx, c => sqlx::query_scalar(SELECT).bind(key).fetch_one(c).await)
            .map_err(Error::doing("reading a fact"))?;
        tx.commit().await?;
        Ok(stored)
    }

    /// Puts another value in the place of one.
    pub async fn replace_meta(&self, key: &str, value: &str) -> Result<()> {
        const Q: &str = "UPDATE meta SET value = $1 WHERE key = $2";
        let mut tx = self.db.begin("{}").await?;
        within!(&mut tx, c => sqlx::query(Q).bind(value).bind(key).execute(c).await.map(drop))
            .map_err(Error::doing("replacing a fact"))?;
        tx.commit().await
    }
}
