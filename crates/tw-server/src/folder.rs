//! The data folder of an embedded database: who may look into it, and who works on it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::Path,
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use tw_store::Target;

use crate::fail::{Hint, refusal};

const SERVE_LOCK: &str = "serve.lock";
const PREPARE_LOCK: &str = "prepare.lock";
/// Whoever only looks whether the lock is held holds it for a moment.
const LOCK_TRIES: u32 = 5;
const LOCK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Makes the folder, for its owner alone, where it is not there yet.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(folder)
        .with_context(|| format!("cannot make the data folder {}", folder.display()))
        .hint("name another with --data-dir")
}

/// The folder an embedded database is in.
pub(crate) fn of(target: &Target) -> Option<&Path> {
    match target {
        Target::Sqlite { file } => file.parent(),
        Target::Postgres { .. } => None,
    }
}

/// The right to prepare an embedded database, until dropped. PostgreSQL has locks of its own.
#[derive(Debug)]
pub(crate) struct PrepareLock {
    _lock: Option<File>,
}

/// Waits until nobody else prepares the database, be it a server or a command.
pub(crate) fn turn(target: &Target) -> Result<PrepareLock> {
    let Some(folder) = of(target) else { return Ok(PrepareLock { _lock: None }) };
    prepare(folder)?;
    let file = open(&folder.join(PREPARE_LOCK))?;
    file.lock().context("cannot wait for another process that prepares the database")?;
    Ok(PrepareLock { _lock: Some(file) })
}

/// Brings the schema up to date, one process after the other.
pub(crate) async fn migrate(target: &Target) -> Result<()> {
    let _turn = turn(target)?;
    tw_store::migrate(target).await.context("cannot bring the database up to date")
}

fn open(file: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file);
    opened.with_context(|| format!("cannot open {}", file.display()))
}

/// The right to be the one server of a folder, until dropped or until the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct ServeLock {
    file: File,
}

impl ServeLock {
    pub(crate) fn take(folder: &Path) -> Result<Self> {
        let file = open(&folder.join(SERVE_LOCK))?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < LOCK_TRIES => thread::sleep(LOCK_AGAIN_AFTER),
                Err(TryLockError::WouldBlock) => return Err(taken(folder, &file)),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock {}", folder.display()));
                }
            }
        }
        file.set_len(0).context("cannot write the lock file")?;
        Ok(Self { file })
    }

    /// Writes down where the server is reached, for the commands that print links.
    pub(crate) fn announce(&mut self, url: &str) -> io::Result<()> {
        self.file.write_all(url.as_bytes())
    }
}

fn taken(folder: &Path, file: &File) -> anyhow::Error {
    let at = address(file).map(|url| format!(", at {url}")).unwrap_or_default();
    refusal(
        format!("another server is running on the data folder {}{at}", folder.display()),
        "stop it first, or name another folder with --data-dir; several servers can share a PostgreSQL database",
    )
}

/// Who serves a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    None,
    Running { url: Option<String> },
}

/// Whether a server is running on the folder.
pub(crate) fn server(folder: &Path) -> io::Result<Server> {
    let file = match File::open(folder.join(SERVE_LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Server::None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Server::None),
        Err(TryLockError::WouldBlock) => Ok(Server::Running { url: address(&file) }),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn address(mut file: &File) -> Option<String> {
    let mut text = String::new();
    // Where a locked file cannot be read, the address is simply not known.
    file.read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_has_one_server_and_says_where() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(server(folder.path()).unwrap(), Server::None);

        let mut lock = ServeLock::take(folder.path()).unwrap();
        assert_eq!(server(folder.path()).unwrap(), Server::Running { url: None });
        lock.announce("http://127.0.0.1:7420").unwrap();
        let url = Some("http://127.0.0.1:7420".to_owned());
        assert_eq!(server(folder.path()).unwrap(), Server::Running { url });

        let refused = ServeLock::take(folder.path()).unwrap_err().to_string();
        assert!(refused.contains(&folder.path().display().to_string()), "{refused}");
        assert!(refused.contains("http://127.0.0.1:7420"), "{refused}");

        drop(lock);
        assert_eq!(server(folder.path()).unwrap(), Server::None);
        ServeLock::take(folder.path()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn new_folder_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("a/b");
        prepare(&folder).unwrap();
        prepare(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
