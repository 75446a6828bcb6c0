//! The files of SQLite are for nobody but the owner of the process: they hold hashes of passwords and every input.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// What SQLite adds to the name of a database for the files beside it. It gives them the mode of the database.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Makes the database file, if there is none, and takes it and those beside it away from everybody else.
pub(crate) fn keep(file: &Path) -> Result<()> {
    match create(file) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            let file = file.display();
            return Err(Error::Startup(format!("the database file {file} cannot be made: {error}")));
        }
    }
    for end in BESIDE {
        let mut name = OsString::from(file);
        name.push(end);
        narrow(&PathBuf::from(name));
    }
    Ok(())
}

/// A new file that nobody else can read.
pub(crate) fn create(file: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

#[cfg(unix)]
fn narrow(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(found) = fs::metadata(file) else { return };
    let mode = found.permissions().mode();
    if mode & 0o077 == 0 {
        return;
    }
    // A file of somebody else cannot be narrowed, and may be meant so.
    match fs::set_permissions(file, fs::Permissions::from_mode(mode & 0o700)) {
        Ok(()) => tracing::info!(file = %file.display(), "others could read this file, and no longer can"),
        Err(error) => tracing::warn!(file = %file.display(), %error, "others can read this file"),
    }
}

#[cfg(not(unix))]
fn narrow(_: &Path) {}
