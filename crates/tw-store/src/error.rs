//! What can go wrong between the house and its database.

/// Why the store did not do what was asked.
///
/// A variant exists where a caller acts on it differently; everything else is the database's own fault
/// and is kept as the source, for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is known to have happened; the same request may succeed later.
    #[error("the database cannot be reached")]
    Unavailable {
        #[source]
        source: Cause,
    },
    #[error("the disk of the database is full")]
    Full {
        #[source]
        source: Cause,
    },
    #[error("`{what}` is taken")]
    Taken { what: &'static str },
    /// What was asked would leave the data in a state that it must not be in.
    #[error("{why}")]
    Refused { why: &'static str },
    #[error("the database answered with an error while {doing}")]
    Database {
        doing: &'static str,
        #[source]
        source: Cause,
    },
    #[error("a stored value is not what it should be: {what}")]
    Corrupt { what: String },
    #[error("{0}")]
    Startup(String),
}

/// What one of the drivers said.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    #[error(transparent)]
    Sqlx(#[from] sqlx::Error),
    /// From the writer of the log on SQLite.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether the same request, unchanged, may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full { .. })
    }

    /// Sorts a driver's error by what the caller can do about it.
    pub(crate) fn doing<E: Into<Cause>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::sorted(doing, source.into())
    }

    pub(crate) fn sorted(doing: &'static str, source: Cause) -> Self {
        match source.sort() {
            Sort::Away => Self::Unavailable { source },
            Sort::Full => Self::Full { source },
            Sort::Other => Self::Database { doing, source },
        }
    }

    /// The thread that should have done it broke off.
    pub(crate) fn crashed() -> Self {
        Self::Unavailable { source: sqlx::Error::WorkerCrashed.into() }
    }

    /// As [`Error::doing`], where a unique constraint means that a name is taken.
    pub(crate) fn taken(what: &'static str, doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| match &source {
            sqlx::Error::Database(error) if error.is_unique_violation() => Self::Taken { what },
            _ => Self::sorted(doing, source.into()),
        }
    }
}

/// What a caller can do about a driver's error: come back, make room, or nothing.
enum Sort {
    Away,
    Full,
    Other,
}

impl Cause {
    /// Whether PostgreSQL refused it to the user who asked.
    pub(crate) fn is_lack_of_rights(&self) -> bool {
        matches!(self, Self::Sqlx(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42501"))
    }

    fn sort(&self) -> Sort {
        let error = match self {
            Self::Sqlite(error) => {
                return error.sqlite_error().map_or(Sort::Other, |error| of_sqlite(error.extended_code));
            }
            Self::Sqlx(sqlx::Error::Database(error)) => error,
            Self::Sqlx(
                sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed,
            ) => return Sort::Away,
            Self::Sqlx(_) => return Sort::Other,
        };
        match error.code().as_deref() {
            // PostgreSQL: connection exceptions, shutdown, too many connections, cancelled by timeout.
            Some(code) if code.starts_with("08") || code.starts_with("57") || code == "53300" => Sort::Away,
            // PostgreSQL: serialization and deadlock, lock timeout.
            Some("40001" | "40P01" | "55P03") => Sort::Away,
            Some("53100") => Sort::Full,
            // SQLite's codes are shorter.
            Some(code) if code.len() < 5 => code.parse().map_or(Sort::Other, of_sqlite),
            _ => Sort::Other,
        }
    }
}

/// FULL; BUSY, LOCKED, IOERR, CANTOPEN, READONLY in their extended forms.
fn of_sqlite(code: i32) -> Sort {
    match code & 0xff {
        13 => Sort::Full,
        5 | 6 | 8 | 10 | 14 => Sort::Away,
        _ => Sort::Other,
    }
}

/// The driver's word for having waited too long, for those who wait outside this crate.
#[must_use]
pub fn timed_out() -> Error {
    Error::Unavailable { source: sqlx::Error::PoolTimedOut.into() }
}
