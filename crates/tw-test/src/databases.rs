//! A database of its own for every test, on SQLite and on PostgreSQL.
//!
//! On PostgreSQL the migrations run once, in a template, and every test gets a copy of it. Each test is
//! a process of its own, so they agree about the template through the server.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    str::FromStr,
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};
use tempfile::TempDir;
use tw_store::{Options, Store, Target};
use uuid::Uuid;

/// The cluster for the tests, as an address of a database in it that is always there.
const CLUSTER: &str = "TW_TEST_PG";
/// Where the template is made in turn: any number, known to nobody else.
const TEMPLATE_LOCK: i64 = 0x7477_7465_6d70;
const COPY_TRIES: u32 = 100;
const COPY_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// A test needs few connections, and many tests share one server.
const CONNECTIONS: u32 = 8;

/// Declares each test twice, as `sqlite::…` and `postgres::…`. Once per module.
///
/// ```ignore
/// on_both! {
///     async fn key_of_one_tenant_is_unknown_to_another(db: TestDb) {
///         let store = db.store().await;
///     }
/// }
/// ```
#[macro_export]
macro_rules! on_both {
    ($($(#[$meta:meta])* async fn $name:ident($db:ident: $test_db:ty) $body:block)+) => {
        $($(#[$meta])* async fn $name($db: $test_db) $body)+

        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($crate::TestDb::new($crate::Kind::Sqlite).await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($crate::TestDb::new($crate::Kind::Postgres).await).await;
            })+
        }
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// A fresh database with the schema in it, gone when dropped.
#[derive(Debug)]
pub struct TestDb {
    place: Home,
}

#[derive(Debug)]
enum Home {
    Folder(TempDir),
    Database(Box<Database>),
}

impl TestDb {
    pub async fn new(kind: Kind) -> Self {
        let place = match kind {
            Kind::Sqlite => folder().await.map(Home::Folder),
            Kind::Postgres => Database::copy().await.map(Box::new).map(Home::Database),
        };
        Self { place: place.unwrap_or_else(|error| panic!("no database for the test: {error:?}")) }
    }

    /// A fresh database with nothing in it, for a program that migrates it itself.
    pub async fn unmigrated(kind: Kind) -> Self {
        let place = match kind {
            Kind::Sqlite => empty_folder().map(Home::Folder),
            Kind::Postgres => Database::empty().await.map(Box::new).map(Home::Database),
        };
        Self { place: place.unwrap_or_else(|error| panic!("no database for the test: {error:?}")) }
    }

    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.place {
            Home::Folder(_) => Kind::Sqlite,
            Home::Database(_) => Kind::Postgres,
        }
    }

    #[must_use]
    pub fn target(&self) -> Target {
        match &self.place {
            Home::Folder(folder) => Target::sqlite_in(folder.path()),
            Home::Database(database) => database.target(),
        }
    }

    /// Opens the database. Another call is another server on it.
    pub async fn store(&self) -> Store {
        let options = Options { connections: CONNECTIONS, ..Options::new(self.target()) };
        Store::open(&options).await.unwrap_or_else(|error| panic!("the database does not open: {error:?}"))
    }
}

fn empty_folder() -> Result<TempDir> {
    tempfile::Builder::new().prefix("tw-test-").tempdir().context("make a folder")
}

async fn folder() -> Result<TempDir> {
    let folder = empty_folder()?;
    tw_store::migrate(&Target::sqlite_in(folder.path())).await.context("migrate")?;
    Ok(folder)
}

/// A database of the shared cluster.
#[derive(Debug)]
struct Database {
    cluster: PgConnectOptions,
    name: String,
}

impl Database {
    async fn copy() -> Result<Self> {
        let cluster = cluster();
        let mut connection = PgConnection::connect_with(&cluster).await.context("connect to the cluster")?;
        let template = template(&mut connection, &cluster).await.context("make the template")?;
        let name = format!("tw_test_{}", Uuid::now_v7().simple());
        let sql = format!("CREATE DATABASE {name} TEMPLATE {template}");
        let mut tries = 1;
        while let Err(error) = execute(&mut connection, sql.clone()).await {
            // Somebody looks at the template, such as the server's own housekeeping.
            if !has_code(&error, "55006") || tries == COPY_TRIES {
                return Err(error).context("copy the template");
            }
            tries += 1;
            tokio::time::sleep(COPY_AGAIN_AFTER).await;
        }
        connection.close().await.context("leave the cluster")?;
        let copy = Self { cluster, name };
        // A copy has a role of its own, which the next migration makes.
        tw_store::migrate(&copy.target()).await.context("migrate the copy")?;
        Ok(copy)
    }

    async fn empty() -> Result<Self> {
        let cluster = cluster();
        let mut connection = PgConnection::connect_with(&cluster).await.context("connect to the cluster")?;
        let name = format!("tw_test_{}", Uuid::now_v7().simple());
        execute(&mut connection, format!("CREATE DATABASE {name}")).await.context("make a database")?;
        connection.close().await.context("leave the cluster")?;
        Ok(Self { cluster, name })
    }

    fn options(&self) -> PgConnectOptions {
        self.cluster.clone().database(&self.name)
    }

    fn target(&self) -> Target {
        Target::Postgres { url: self.options().to_url_lossy().to_string() }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (cluster, sql) =
            (self.cluster.clone(), format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        // A thread, because a runtime cannot be entered from within another one. Should it fail, the
        // database goes with its cluster.
        let dropping = thread::spawn(move || -> Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut connection = PgConnection::connect_with(&cluster).await?;
                execute(&mut connection, sql).await?;
                Ok(connection.close().await?)
            })
        });
        let _ = dropping.join();
    }
}

fn cluster() -> PgConnectOptions {
    let url = env::var(CLUSTER).unwrap_or_else(|_| {
        panic!(
            "{CLUSTER} names no PostgreSQL cluster: run through `make test` or \
             `cargo xtask with-pg -- cargo nextest run …`"
        )
    });
    let options = PgConnectOptions::from_str(&url);
    options.unwrap_or_else(|error| panic!("{CLUSTER} is no address: {error}")).disable_statement_logging()
}

/// The name of a database with the present schema, made by whichever test comes first.
async fn template(connection: &mut PgConnection, cluster: &PgConnectOptions) -> Result<String> {
    let version = migrations_hash()?;
    let (template, unfinished) =
        (format!("tw_template_{version:016x}"), format!("tw_unfinished_{version:016x}"));
    if exists(connection, &template).await? {
        return Ok(template);
    }
    sqlx::query("SELECT pg_advisory_lock($1)").bind(TEMPLATE_LOCK).execute(&mut *connection).await?;
    if !exists(connection, &template).await? {
        execute(connection, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)")).await?;
        execute(connection, format!("CREATE DATABASE {unfinished}")).await?;
        let url = cluster.clone().database(&unfinished).to_url_lossy();
        tw_store::migrate(&Target::Postgres { url: url.to_string() }).await.context("migrate")?;
        execute(connection, format!("ALTER DATABASE {unfinished} ALLOW_CONNECTIONS false")).await?;
        // The name comes last, so what bears it is whole.
        execute(connection, format!("ALTER DATABASE {unfinished} RENAME TO {template}")).await?;
    }
    sqlx::query("SELECT pg_advisory_unlock($1)").bind(TEMPLATE_LOCK).execute(&mut *connection).await?;
    Ok(template)
}

async fn exists(connection: &mut PgConnection, database: &str) -> Result<bool> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
        .bind(database)
        .fetch_one(connection)
        .await?;
    Ok(count == 1)
}

fn migrations_hash() -> Result<u64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tw-store/migrations/postgres");
    let mut files = fs::read_dir(&folder)
        .with_context(|| format!("list {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.file_name().hash(&mut hasher);
        fs::read(&file).with_context(|| format!("read {}", file.display()))?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

async fn execute(connection: &mut PgConnection, sql: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await?;
    Ok(())
}

fn has_code(error: &anyhow::Error, code: &str) -> bool {
    let database = error.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    database.is_some_and(|error| error.code().as_deref() == Some(code))
}
