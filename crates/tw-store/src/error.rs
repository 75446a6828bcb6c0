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
        source: sqlx::Error,
    },
    #[error("the disk of the database is full")]
    Full {
        #[source]
        source: sqlx::Error,
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
        source: sqlx::Error,
    },
    #[error("a stored value is not what it should be: {what}")]
    Corrupt { what: String },
    #[error("{0}")]
    Startup(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether the same request, unchanged, may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::Full { .. })
    }

    /// Sorts a driver's error by what the caller can do about it.
    pub(crate) fn doing(doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::sorted(doing, source)
    }

    pub(crate) fn sorted(doing: &'static str, source: sqlx::Error) -> Self {
        match &source {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Unavailable { source },
            sqlx::Error::Database(error) => match error.code().as_deref() {
                // PostgreSQL: connection exceptions, shutdown, too many connections, cancelled by timeout.
                Some(code) if code.starts_with("08") || code.starts_with("57") || code == "53300" => {
                    Self::Unavailable { source }
                }
                // PostgreSQL: serialization and deadlock, lock timeout.
                Some("40001" | "40P01" | "55P03") => Self::Unavailable { source },
                Some("53100") => Self::Full { source },
                // SQLite: FULL; BUSY, LOCKED, IOERR, CANTOPEN, READONLY in their extended forms.
                Some(code) => match code.parse::<u32>().map(|number| number & 0xff) {
                    Ok(13) if code.len() < 5 => Self::Full { source },
                    Ok(5 | 6 | 10 | 14 | 8) if code.len() < 5 => Self::Unavailable { source },
                    _ => Self::Database { doing, source },
                },
                None => Self::Database { doing, source },
            },
            _ => Self::Database { doing, source },
        }
    }

    /// As [`Error::doing`], where a unique constraint means that a name is taken.
    pub(crate) fn taken(what: &'static str, doing: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| match &source {
            sqlx::Error::Database(error) if error.is_unique_violation() => Self::Taken { what },
            _ => Self::sorted(doing, source),
        }
    }
}

/// The driver's word for having waited too long, for those who wait outside this crate.
#[must_use]
pub fn timed_out() -> Error {
    Error::Unavailable { source: sqlx::Error::PoolTimedOut }
}
