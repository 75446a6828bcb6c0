//! Looking for a secret where none may be.

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tw_store::Target;
use tw_test::TestDb;

/// Everything that is stored: the files of SQLite as they are, every row of every table of PostgreSQL.
pub async fn everything_stored(db: &TestDb) -> Vec<u8> {
    match db.target() {
        Target::Sqlite { file } => {
            let mut bytes = Vec::new();
            for entry in std::fs::read_dir(file.parent().unwrap()).unwrap() {
                bytes.extend(std::fs::read(entry.unwrap().path()).unwrap_or_default());
            }
            bytes
        }
        Target::Postgres { url } => {
            let mut connection = PgConnection::connect(&url).await.unwrap();
            let tables: Vec<String> =
                sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
                    .fetch_all(&mut connection)
                    .await
                    .unwrap();
            let mut bytes = Vec::new();
            for table in tables {
                let sql = AssertSqlSafe(format!("SELECT t::text FROM {table} t"));
                let rows: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap();
                bytes.extend(rows.concat().into_bytes());
            }
            bytes
        }
    }
}

/// Whether a text stands somewhere, as it is or in hexadecimal.
pub fn holds(bytes: &[u8], text: &str) -> bool {
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    let found = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    found(text.as_bytes()) || found(hex.as_bytes())
}
