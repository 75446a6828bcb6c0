//! What the databases do without us: rows like our events, in groups, and nothing else.

use std::time::Instant;

use anyhow::{Context, Result};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tw_model::Timestamp;
use uuid::Uuid;

use crate::data::{ACTOR, APPENDED};

/// Rows per commit on SQLite, and per statement of it.
const SQLITE_GROUP: usize = 512;
const SQLITE_STATEMENT: usize = 64;
/// Rows per commit on PostgreSQL, and how many clients there are.
const POSTGRES_GROUP: usize = 128;
const POSTGRES_CLIENTS: usize = 4;

const COLUMNS: &str = "(tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)";

pub(crate) async fn create_database(cluster: String, name: String) -> Result<()> {
    let mut connection = PgConnection::connect(&cluster).await?;
    connection.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await?;
    Ok(connection.close().await?)
}

/// A connection for loading data: fast, and not safe in a crash.
pub(crate) async fn sqlite_for_loading(file: &std::path::Path) -> Result<SqliteConnection> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .synchronous(SqliteSynchronous::Off)
        .pragma("cache_size", "-400000")
        .pragma("temp_store", "memory")
        .disable_statement_logging();
    options.connect().await.context("open the database file")
}

/// Rows per second of one writer on SQLite with `synchronous=FULL`.
pub(crate) async fn sqlite(file: &std::path::Path, rows: usize) -> Result<f64> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging();
    let mut connection = options.connect().await.context("open the floor's file")?;
    connection
        .execute(
            "CREATE TABLE IF NOT EXISTS events (tenant_id BLOB NOT NULL, session_id BLOB NOT NULL, seq INTEGER NOT NULL,
             id BLOB NOT NULL, type TEXT NOT NULL, run_id BLOB NOT NULL, tool TEXT NOT NULL, actor TEXT NOT NULL,
             payload TEXT NOT NULL, at_us INTEGER NOT NULL) STRICT;
             CREATE UNIQUE INDEX IF NOT EXISTS events_order ON events (session_id, seq)",
        )
        .await?;
    let values = vec!["(?,?,?,?,?,?,?,?,?,?)"; SQLITE_STATEMENT].join(",");
    let insert = format!("INSERT INTO events {COLUMNS} VALUES {values}");
    let insert: &'static str = insert.leak();
    let (tenant, groups) = (Uuid::now_v7(), rows / SQLITE_GROUP);
    let began = Instant::now();
    for _ in 0..groups {
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        for _ in 0..SQLITE_GROUP / SQLITE_STATEMENT {
            let mut query = sqlx::query(insert);
            for _ in 0..SQLITE_STATEMENT {
                let run = Uuid::now_v7();
                query = query
                    .bind(tenant)
                    .bind(run)
                    .bind(1_i64)
                    .bind(Uuid::now_v7())
                    .bind("tool.output_appended")
                    .bind(run)
                    .bind("add")
                    .bind(ACTOR)
                    .bind(APPENDED)
                    .bind(Timestamp::now().micros());
            }
            query.execute(&mut *transaction).await?;
        }
        transaction.commit().await?;
    }
    let took = began.elapsed();
    connection.close().await?;
    Ok((groups * SQLITE_GROUP) as f64 / took.as_secs_f64())
}

/// Rows per second of four clients on PostgreSQL.
pub(crate) async fn postgres(url: &str, rows: usize) -> Result<f64> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(
        "CREATE TABLE IF NOT EXISTS events (tenant_id uuid NOT NULL, session_id uuid NOT NULL, seq bigint NOT NULL,
         id uuid NOT NULL, type text NOT NULL, run_id uuid NOT NULL, tool text NOT NULL, actor text NOT NULL,
         payload text NOT NULL, at_us bigint NOT NULL);
         CREATE UNIQUE INDEX IF NOT EXISTS events_order ON events (session_id, seq)",
    )
    .execute(&mut connection)
    .await?;
    connection.close().await?;
    let mut clients = Vec::new();
    for _ in 0..POSTGRES_CLIENTS {
        clients.push(PgConnection::connect(url).await?);
    }
    let groups = rows / POSTGRES_GROUP / POSTGRES_CLIENTS;
    let began = Instant::now();
    let tasks: Vec<_> = clients.into_iter().map(|client| tokio::spawn(insert(client, groups))).collect();
    for task in tasks {
        task.await??;
    }
    Ok((groups * POSTGRES_GROUP * POSTGRES_CLIENTS) as f64 / began.elapsed().as_secs_f64())
}

async fn insert(mut client: PgConnection, groups: usize) -> Result<()> {
    const INSERT: &str = "INSERT INTO events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
        SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::uuid[], $7::text[],
        $8::text[], $9::text[], $10::bigint[])";
    let tenants = vec![Uuid::now_v7(); POSTGRES_GROUP];
    for _ in 0..groups {
        let runs: Vec<Uuid> = (0..POSTGRES_GROUP).map(|_| Uuid::now_v7()).collect();
        let ids: Vec<Uuid> = (0..POSTGRES_GROUP).map(|_| Uuid::now_v7()).collect();
        let times: Vec<i64> = (0..POSTGRES_GROUP).map(|_| Timestamp::now().micros()).collect();
        sqlx::query(INSERT)
            .bind(&tenants)
            .bind(&runs)
            .bind(vec![1_i64; POSTGRES_GROUP])
            .bind(ids)
            .bind(vec!["tool.output_appended"; POSTGRES_GROUP])
            .bind(&runs)
            .bind(vec!["add"; POSTGRES_GROUP])
            .bind(vec![ACTOR; POSTGRES_GROUP])
            .bind(vec![APPENDED; POSTGRES_GROUP])
            .bind(times)
            .execute(&mut client)
            .await?;
    }
    Ok(client.close().await?)
}
