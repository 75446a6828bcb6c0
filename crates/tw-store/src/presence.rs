//! Whether PostgreSQL is there, and how long to wait where it is not.
//!
//! A database can go away without a word: it takes what is sent and never answers, or its machine is gone
//! and nobody says so. Nothing here waits for that without a bound. And while it is known to be away, most
//! requests are told so after a moment; one at a time still waits as long as it takes to find it again.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{Connection, PgConnection, Postgres, Transaction, pool::PoolConnection};
use tokio::{sync::Semaphore, time::timeout};

use crate::error::{Error, Result};

/// How long PostgreSQL may take to answer a statement. It has a shorter limit of its own, so that it
/// usually says itself what took so long.
const ANSWER: Duration = Duration::from_secs(11);
/// How long a request waits for a connection to a database that is away.
const MOMENT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Presence {
    away: AtomicBool,
    /// Held by the one who looks for a database that is away.
    looking: Semaphore,
}

impl Default for Presence {
    fn default() -> Self {
        Self { away: AtomicBool::new(false), looking: Semaphore::new(1) }
    }
}

impl Presence {
    /// Waits for a connection from the pool.
    pub(crate) async fn find<T>(&self, connecting: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
        let away = self.away.load(Ordering::Acquire);
        let looking = if away { self.looking.try_acquire().ok() } else { None };
        let patience = if away && looking.is_none() { MOMENT } else { ANSWER };
        let found = timeout(patience, connecting).await.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        match &found {
            Ok(_) => self.away.store(false, Ordering::Release),
            Err(sqlx::Error::PoolTimedOut | sqlx::Error::Io(_)) => self.is_silent(),
            Err(_) => {}
        }
        found
    }

    /// Waits for an answer to one statement.
    pub(crate) async fn in_time<T>(
        &self,
        statement: impl Future<Output = sqlx::Result<T>>,
    ) -> sqlx::Result<T> {
        timeout(ANSWER, statement).await.unwrap_or_else(|_| {
            self.is_silent();
            Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "the database does not answer")))
        })
    }

    pub(crate) fn is_silent(&self) {
        self.away.store(true, Ordering::Release);
    }

    /// Whether a connection that somebody is done with goes back into the pool. The pool itself would wait
    /// for ever for one that does not answer, and count it as in use.
    pub(crate) async fn is_worth_keeping(&self, connection: &mut PgConnection) -> sqlx::Result<bool> {
        if !self.away.load(Ordering::Acquire) {
            return Ok(true);
        }
        match timeout(MOMENT, connection.ping()).await {
            Ok(pinged) => pinged.map(|()| true),
            // An error, and not just a no: then the connection is cut rather than ended in good order.
            Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }
}

/// A connection or a transaction, with what has to be told when it does not answer.
#[derive(Debug)]
pub(crate) struct Present<T> {
    pub(crate) inner: T,
    pub(crate) presence: Arc<Presence>,
}

impl<T> Present<T> {
    pub(crate) fn new(inner: T, presence: &Arc<Presence>) -> Self {
        Self { inner, presence: Arc::clone(presence) }
    }
}

impl Present<PoolConnection<Postgres>> {
    pub(crate) fn parts(&mut self) -> (&mut PgConnection, &Presence) {
        (&mut self.inner, &self.presence)
    }
}

impl Present<Transaction<'static, Postgres>> {
    pub(crate) async fn commit(self) -> Result<()> {
        let Self { inner, presence } = self;
        presence.in_time(inner.commit()).await.map_err(Error::doing("committing"))
    }

    pub(crate) fn parts(&mut self) -> (&mut PgConnection, &Presence) {
        (&mut self.inner, &self.presence)
    }
}
