//! The two databases behind one enum, and the macros that write a query once for both.

use std::{
    path::{Path, PathBuf},
    pin::Pin,
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use sqlx::{
    ConnectOptions, Connection, Postgres, Sqlite, Transaction,
    migrate::{Migration, MigrationType, Migrator},
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions},
    sqlite::{
        SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
        SqliteSynchronous,
    },
};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tw_model::TenantId;

use crate::{
    error::{Error, Result},
    presence::{Presence, Present},
};

/// When what is acknowledged is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before the answer. The default.
    #[default]
    Full,
    /// Some time after it. For measuring what the flush costs.
    Buffered,
}

/// Where the data lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A file of our own.
    Sqlite {
        file: PathBuf,
    },
    Postgres {
        url: String,
    },
}

impl Target {
    #[must_use]
    pub fn sqlite_in(data_dir: &Path) -> Self {
        Self::Sqlite { file: data_dir.join("toolwright.sqlite") }
    }
}

/// The open database. Outside this crate nobody sees a pool.
#[derive(Clone, Debug)]
pub(crate) enum Db {
    /// One connection of the pool writes at a time, or the one of the log: SQLite's single writer is a queue
    /// rather than an error.
    Sqlite {
        read: SqlitePool,
        write: SqlitePool,
        file: Arc<File>,
    },
    Pg(Pg),
}

/// The file of SQLite, for those who open it themselves.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    durability: Durability,
    /// Held by whoever writes. Those who wait get it in the order in which they came.
    pub(crate) turn: Arc<Mutex<()>>,
}

/// PostgreSQL, and whether it is there.
#[derive(Clone, Debug)]
pub(crate) struct Pg {
    pub(crate) pool: PgPool,
    pub(crate) presence: Arc<Presence>,
}

/// A connection with its tenants set.
#[derive(Debug)]
pub(crate) enum Conn {
    Sqlite(PoolConnection<Sqlite>),
    Pg(Present<PoolConnection<Postgres>>),
}

/// A transaction with its tenants set.
#[derive(Debug)]
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>, OwnedMutexGuard<()>),
    Pg(Present<Transaction<'static, Postgres>>),
}

/// Runs one expression on whichever database it is: `on!(conn, c => sqlx::query(Q).execute(c).await)`.
macro_rules! on {
    ($conn:expr, $c:ident => $body:expr) => {
        match &mut $conn {
            $crate::db::Conn::Sqlite(connection) => {
                let $c = &mut **connection;
                $body
            }
            $crate::db::Conn::Pg(connection) => {
                let ($c, presence) = connection.parts();
                presence.in_time(async { $body }).await
            }
        }
    };
}
pub(crate) use on;

/// As [`on!`], inside a transaction.
macro_rules! within {
    ($tx:expr, $c:ident => $body:expr) => {
        match &mut *$tx {
            $crate::db::Tx::Sqlite(transaction, _) => {
                let $c = &mut **transaction;
                $body
            }
            $crate::db::Tx::Pg(transaction) => {
                let ($c, presence) = transaction.parts();
                presence.in_time(async { $body }).await
            }
        }
    };
}
pub(crate) use within;

/// How long a request waits for a connection before it is told that the database is away.
const ACQUIRE: Duration = Duration::from_secs(5);
/// How long SQLite waits for somebody outside this process who writes.
const BUSY: Duration = Duration::from_secs(5);
/// For how long a connection that has answered is taken to be there still.
const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// The longest that PostgreSQL works on one statement of ours, and waits for a lock; shorter than
/// [`crate::presence`] waits for its answer.
const STATEMENT_TIMEOUT: &str = "10s";
const LOCK_TIMEOUT: &str = "8s";

/// Leaves PostgreSQL one way to carry out a statement: by the index that is made for it, row by row, whatever the values
/// are and whatever it believes about them. It would take a scan of the whole table for a tenant that has half of it, and
/// keep to that plan for one that has ten rows. The tests read this plan, and an index that is missing shows there.
const ONE_PLAN: [(&str, &str); 5] = [
    ("plan_cache_mode", "force_generic_plan"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// Keeps a pool's future, which takes kilobytes, out of the futures of everybody who may ask for a connection:
/// those of calls are moved about, and mostly ask for none.
fn boxed<'a, T>(
    connecting: impl Future<Output = sqlx::Result<T>> + Send + 'a,
) -> Pin<Box<dyn Future<Output = sqlx::Result<T>> + Send + 'a>> {
    Box::pin(connecting)
}

impl Db {
    pub(crate) async fn open(target: &Target, durability: Durability, connections: u32) -> Result<Self> {
        match target {
            Target::Sqlite { file } => open_sqlite(file, durability).await,
            Target::Postgres { url } => open_postgres(url, durability, connections).await,
        }
    }

    /// A connection for reading, on which `tenants` are the only ones that exist.
    pub(crate) async fn read(&self, tenants: &str) -> Result<Conn> {
        match self {
            Self::Sqlite { read, .. } => {
                let connection = boxed(read.acquire()).await;
                Ok(Conn::Sqlite(connection.map_err(Error::doing("connecting"))?))
            }
            Self::Pg(pg) => Ok(Conn::Pg(pg.read(tenants).await?)),
        }
    }

    /// As [`Db::read`], for a list whose order is that of an index. PostgreSQL takes the fence around the tenants for a
    /// second condition that few rows fulfil, and would rather gather all rows of a filter and sort them.
    pub(crate) async fn read_in_order(&self, tenants: &str) -> Result<Conn> {
        match self {
            Self::Sqlite { .. } => self.read(tenants).await,
            Self::Pg(pg) => Ok(Conn::Pg(pg.read_by(SET_IN_ORDER, tenants).await?)),
        }
    }

    pub(crate) async fn begin(&self, tenants: &str) -> Result<Tx> {
        match self {
            Self::Sqlite { write, file, .. } => {
                let turn = tokio::time::timeout(ACQUIRE, Arc::clone(&file.turn).lock_owned());
                let turn = turn.await.map_err(|_| crate::timed_out())?;
                // A transaction that starts by reading and then writes would fail at once with BUSY.
                let transaction = boxed(write.begin_with("BEGIN IMMEDIATE")).await;
                Ok(Tx::Sqlite(transaction.map_err(Error::doing("beginning a transaction"))?, turn))
            }
            Self::Pg(pg) => {
                let transaction = pg.begin(tenants).await.map_err(Error::doing("beginning a transaction"))?;
                Ok(Tx::Pg(transaction))
            }
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { read, write, .. } => {
                read.close().await;
                write.close().await;
            }
            Self::Pg(pg) => pg.pool.close().await,
        }
    }
}

impl File {
    /// A connection for writing, outside the pools.
    pub(crate) fn connect(&self) -> rusqlite::Result<rusqlite::Connection> {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(BUSY)?;
        let synchronous = match self.durability {
            Durability::Full => "FULL",
            Durability::Buffered => "NORMAL",
        };
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        Ok(connection)
    }
}

/// Says which tenants exist on a connection, and that a plan may sort; see [`Db::read`].
const SET: &str = "SELECT set_config('tw.tenants', $1, false), set_config('enable_sort', 'on', false)";
/// The same for [`Db::read_in_order`].
const SET_IN_ORDER: &str =
    "SELECT set_config('tw.tenants', $1, false), set_config('enable_sort', 'off', false)";

impl Pg {
    /// A connection on which no tenant is set, or still the one of whoever had it before. For what is no
    /// tenant's; everything else comes from [`Db::read`].
    pub(crate) async fn acquire(&self) -> sqlx::Result<Present<PoolConnection<Postgres>>> {
        Ok(Present::new(self.presence.find(boxed(self.pool.acquire())).await?, &self.presence))
    }

    pub(crate) async fn read(&self, tenants: &str) -> Result<Present<PoolConnection<Postgres>>> {
        self.read_by(SET, tenants).await
    }

    async fn read_by(&self, set: &'static str, tenants: &str) -> Result<Present<PoolConnection<Postgres>>> {
        let mut connection = self.acquire().await.map_err(Error::doing("connecting"))?;
        let (c, presence) = connection.parts();
        // Every query about a tenant's things gets its connection here or from `begin`, so what an earlier
        // request has set never holds for a later one.
        let set = sqlx::query(set).bind(tenants).execute(c);
        presence.in_time(set).await.map_err(Error::doing("setting the tenant"))?;
        Ok(connection)
    }

    /// A transaction for these tenants, begun and bound to them in one trip to the database.
    pub(crate) async fn begin(&self, tenants: &str) -> sqlx::Result<Present<Transaction<'static, Postgres>>> {
        // Ids in braces, nothing else: see `tenants_setting`.
        let begin = format!(
            "BEGIN; SELECT set_config('tw.tenants', '{tenants}', true), set_config('enable_sort', 'on', true)"
        );
        let transaction = self.pool.begin_with(sqlx::AssertSqlSafe(begin));
        Ok(Present::new(self.presence.find(boxed(transaction)).await?, &self.presence))
    }
}

impl Tx {
    pub(crate) async fn commit(self) -> Result<()> {
        match self {
            Self::Sqlite(transaction, _turn) => {
                transaction.commit().await.map_err(Error::doing("committing"))
            }
            Self::Pg(transaction) => transaction.commit().await,
        }
    }
}

async fn open_sqlite(file: &Path, durability: Durability) -> Result<Db> {
    crate::private::keep(file)?;
    let synchronous = match durability {
        Durability::Full => SqliteSynchronous::Full,
        Durability::Buffered => SqliteSynchronous::Normal,
    };
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .statement_cache_capacity(256);
    let options = traced(options);
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ACQUIRE)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_release(|connection, _| Box::pin(has_no_transaction(connection)))
        .connect_with(options.clone())
        .await
        .map_err(Error::doing("opening the database file"))?;
    let read = SqlitePoolOptions::new()
        .max_connections(4)
        .acquire_timeout(ACQUIRE)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_with(options.read_only(true))
        .await
        .map_err(Error::doing("opening the database file for reading"))?;
    let file = File { path: file.to_owned(), durability, turn: Arc::default() };
    Ok(Db::Sqlite { read, write, file: Arc::new(file) })
}

/// Whether the connection can begin another transaction. SQLite itself ends one that finds the disk full or
/// broken, and the driver, which then fails to end it, would take it for open from then on.
async fn has_no_transaction(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    if connection.is_in_transaction() {
        // What was just dropped is still on its way to be rolled back; this waits until it has been.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

fn pg_options(url: &str) -> Result<PgConnectOptions> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|error| Error::Startup(format!("the database URL cannot be read: {error}")))?;
    Ok(traced(options.application_name("toolwright")))
}

/// Tells every statement, without its values, at the lowest level of the log: for whoever looks why one is slow.
fn traced<O: ConnectOptions>(options: O) -> O {
    let level = |word: &str| word.parse().expect("the word names a level");
    options.log_statements(level("trace")).log_slow_statements(level("off"), Duration::MAX)
}

async fn open_postgres(url: &str, durability: Durability, connections: u32) -> Result<Db> {
    let flush = match durability {
        Durability::Full => "on",
        Durability::Buffered => "off",
    };
    let options = pg_options(url)?.options([
        ("statement_timeout", STATEMENT_TIMEOUT),
        ("lock_timeout", LOCK_TIMEOUT),
        ("idle_in_transaction_session_timeout", "30s"),
        ("synchronous_commit", flush),
        // Our statements are short; to compile one would take longer than it runs.
        ("jit", "off"),
    ]);
    let options = options.options(ONE_PLAN);
    let presence = Arc::new(Presence::default());
    let released = Arc::clone(&presence);
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .min_connections(1)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .before_acquire(|connection, seen| {
            Box::pin(async move {
                // One that has just answered need not be asked whether it is there.
                if TRUSTED_FOR < seen.idle_for {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(|connection, _| Box::pin(crate::roles::take(connection)))
        .after_release(move |connection, _| {
            let presence = Arc::clone(&released);
            Box::pin(async move { presence.is_worth_keeping(connection).await })
        })
        .connect_with(options)
        .await
        .map_err(Error::doing("connecting to PostgreSQL"))?;
    Ok(Db::Pg(Pg { pool, presence }))
}

macro_rules! migrations {
    ($folder:literal: $($version:literal $name:literal),+ $(,)?) => {
        vec![$(Migration::new(
            $version,
            std::borrow::Cow::Borrowed($name),
            MigrationType::Simple,
            sqlx::SqlSafeStr::into_sql_str(include_str!(concat!("../migrations/", $folder, "/", $name, ".sql"))),
            false,
        )),+]
    };
}

fn migrations(target: &Target) -> Vec<Migration> {
    match target {
        Target::Sqlite { .. } => {
            migrations!["sqlite": 1 "0001_spine", 2 "0002_tools", 3 "0003_people_per_tenant", 4 "0004_registry",
                5 "0005_credentials", 6 "0006_pending", 7 "0007_places", 8 "0008_tellings",
                9 "0009_append_only", 10 "0010_due", 11 "0011_log", 12 "0012_runs", 13 "0013_roles", 14 "0014_flat", 15 "0015_audit",
                16 "0016_test_cases", 17 "0017_standing_approvals", 18 "0018_language", 19 "0019_usage",
                20 "0020_mcp_servers", 22 "0022_webhooks", 24 "0024_artifacts", 26 "0026_standing_lists",
                27 "0027_mcp_sign_ins", 29 "0029_one_trip"]
        }
        Target::Postgres { .. } => {
            migrations!["postgres": 1 "0001_spine", 2 "0002_tools", 3 "0003_people_per_tenant", 4 "0004_registry",
                5 "0005_credentials", 6 "0006_pending", 7 "0007_places", 8 "0008_tellings",
                9 "0009_append_only", 10 "0010_due", 11 "0011_log", 12 "0012_runs", 13 "0013_roles", 14 "0014_flat", 15 "0015_audit",
                16 "0016_test_cases", 17 "0017_standing_approvals", 18 "0018_language", 19 "0019_usage",
                20 "0020_mcp_servers", 22 "0022_webhooks", 24 "0024_artifacts", 26 "0026_standing_lists",
                27 "0027_mcp_sign_ins", 29 "0029_one_trip"]
        }
    }
}

/// Brings the schema up to date. Running it twice, or from two machines at once, does no harm.
pub async fn migrate(target: &Target) -> Result<()> {
    const LACKS_RIGHTS: &str = ". The user in the database URL must be able to create the server's role: run `ALTER ROLE name CREATEROLE` (needed only until the migration is done), or let an administrator run `toolwright migrate`";
    let failed = |error: sqlx::migrate::MigrateError| match error {
        sqlx::migrate::MigrateError::VersionMissing(version) => Error::Startup(format!(
            "the database was migrated by a newer Toolwright (migration {version} is unknown here): use that version"
        )),
        sqlx::migrate::MigrateError::Execute(error)
        | sqlx::migrate::MigrateError::ExecuteMigration(error, _) => match Error::doing("migrating")(error) {
            Error::Database { source, .. } => {
                let what_to_do = if source.is_lack_of_rights() { LACKS_RIGHTS } else { "" };
                Error::Startup(format!("the database cannot be migrated: {source}{what_to_do}"))
            }
            error => error,
        },
        error => Error::Startup(format!("the database cannot be migrated: {error}")),
    };
    let migrator = Migrator::with_migrations(migrations(target));
    match target {
        Target::Sqlite { file } => {
            crate::private::keep(file)?;
            let options = SqliteConnectOptions::new()
                .filename(file)
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .busy_timeout(Duration::from_secs(30));
            let mut connection = SqliteConnection::connect_with(&options)
                .await
                .map_err(Error::doing("opening the database file"))?;
            migrator.run(&mut connection).await.map_err(failed)?;
            connection.close().await.map_err(Error::doing("closing the database file"))
        }
        Target::Postgres { url } => {
            let mut connection = PgConnection::connect_with(&pg_options(url)?)
                .await
                .map_err(Error::doing("connecting to PostgreSQL"))?;
            migrator.run(&mut connection).await.map_err(failed)?;
            let settled = crate::roles::settle(&mut connection).await;
            settled.map_err(|error| failed(sqlx::migrate::MigrateError::Execute(error)))?;
            connection.close().await.map_err(Error::doing("closing the connection"))
        }
    }
}

/// The names of the migrations that the database lacks, in order. Looks, and changes nothing.
pub async fn pending_migrations(target: &Target) -> Result<Vec<String>> {
    const DONE: &str = "SELECT version FROM _sqlx_migrations WHERE success";
    let doing = "looking for migrations";
    let done: Vec<i64> = match target {
        Target::Sqlite { file } => {
            const THERE: &str = "SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'";
            let options = SqliteConnectOptions::new().filename(file).read_only(true);
            let mut connection =
                SqliteConnection::connect_with(&options).await.map_err(Error::doing(doing))?;
            let there: i64 =
                sqlx::query_scalar(THERE).fetch_one(&mut connection).await.map_err(Error::doing(doing))?;
            match there {
                0 => Vec::new(),
                _ => {
                    sqlx::query_scalar(DONE).fetch_all(&mut connection).await.map_err(Error::doing(doing))?
                }
            }
        }
        Target::Postgres { url } => {
            const THERE: &str = "SELECT to_regclass('_sqlx_migrations') IS NOT NULL";
            let mut connection =
                PgConnection::connect_with(&pg_options(url)?).await.map_err(Error::doing(doing))?;
            let there: bool =
                sqlx::query_scalar(THERE).fetch_one(&mut connection).await.map_err(Error::doing(doing))?;
            match there {
                false => Vec::new(),
                true => {
                    sqlx::query_scalar(DONE).fetch_all(&mut connection).await.map_err(Error::doing(doing))?
                }
            }
        }
    };
    let lacking = migrations(target).into_iter().filter(|migration| !done.contains(&migration.version));
    Ok(lacking.map(|migration| migration.description.into_owned()).collect())
}

/// The value of `tw.tenants` for these tenants.
pub(crate) fn tenants_setting(tenants: impl IntoIterator<Item = TenantId>) -> String {
    let mut text = String::from("{");
    for (index, tenant) in tenants.into_iter().enumerate() {
        if index != 0 {
            text.push(',');
        }
        text.push_str(&tenant.to_string());
    }
    text.push('}');
    text
}
