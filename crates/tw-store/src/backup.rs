//! A copy of the whole database, taken while it is in use.

use std::{fs, io, path::Path};

use crate::{
    db::{Conn, Db},
    error::{Error, Result},
    private::create,
    scope::Store,
};

impl Store {
    /// Writes a copy to a new file, as of one moment, without stopping anybody. The copy is on disk when
    /// this returns, and nobody but the owner of the process can read it.
    pub async fn backup(&self, file: &Path) -> Result<()> {
        let Db::Sqlite { .. } = &self.db else {
            return Err(Error::Refused {
                why: "a PostgreSQL database is backed up with its own tools: use pg_dump",
            });
        };
        let name = file.to_str().ok_or(Error::Refused { why: "the name of a backup file must be UTF-8" })?;
        let Conn::Sqlite(mut connection) = self.db.read("{}").await? else {
            unreachable!("the database is SQLite, so its connection is too")
        };
        // An empty file is one that SQLite writes into; made here, it is ours and closed to others.
        create(file).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Refused { why: "the backup file exists already" },
            _ => Error::Startup(format!("the backup file cannot be made: {error}")),
        })?;
        let copied = sqlx::query("VACUUM INTO $1").bind(name).execute(&mut *connection).await;
        let copied = copied.map(drop).map_err(Error::doing("copying the database"));
        let copied = copied.and_then(|()| {
            let synced = fs::File::open(file).and_then(|file| file.sync_all());
            synced.map_err(|error| Error::Startup(format!("the backup cannot be brought to disk: {error}")))
        });
        if copied.is_err() {
            // Half a backup is worse than none.
            let _ = fs::remove_file(file);
        }
        copied
    }
}
