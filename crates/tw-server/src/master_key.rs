//! Finding the master key, or making it.

use std::{
    env, fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use tw_base::MasterKey;
use tw_engine::Operator;
use tw_store::Target;

use crate::{
    config::Config,
    fail::{Hint, refusal},
    folder,
};

const VARIABLE: &str = "TOOLWRIGHT_MASTER_KEY";
const FILE: &str = "master.key";

/// Where a master key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    Environment,
    File(PathBuf),
    /// Made a moment ago.
    Made(PathBuf),
}

#[derive(Debug)]
pub(crate) struct FoundKey {
    pub(crate) key: MasterKey,
    pub(crate) source: KeySource,
}

/// The key as configured or as made by an earlier start; `None` where there is none.
pub(crate) fn find(config: &Config, target: &Target) -> Result<Option<FoundKey>> {
    if let Some(text) = env::var(VARIABLE).ok().filter(|text| !text.trim().is_empty()) {
        let key =
            parse(&text).with_context(|| format!("{VARIABLE} is not a valid master key")).hint(MAKE_ONE)?;
        return Ok(Some(FoundKey { key, source: KeySource::Environment }));
    }
    if let Some(file) = &config.master_key_file {
        let key =
            read(file)?.with_context(|| format!("`master_key_file`: there is no file {}", file.display()));
        return Ok(Some(FoundKey { key: key.hint(MAKE_ONE)?, source: KeySource::File(file.clone()) }));
    }
    let Some(file) = own_file(target) else { return Ok(None) };
    Ok(read(&file)?.map(|key| FoundKey { key, source: KeySource::File(file) }))
}

/// As [`find`]; an embedded database gets a key of its own at its first start.
pub(crate) fn find_or_make(config: &Config, target: &Target) -> Result<FoundKey> {
    if let Some(found) = find(config, target)? {
        return Ok(found);
    }
    let Some(file) = own_file(target) else {
        let what = format!("PostgreSQL needs a master key: set {VARIABLE} or `master_key_file`");
        return Err(refusal(what, MAKE_ONE));
    };
    if make(&file).with_context(|| format!("cannot write {}", file.display()))? {
        let key =
            read(&file)?.context("the new master key file was deleted during the start; start again")?;
        return Ok(FoundKey { key, source: KeySource::Made(file) });
    }
    // Another process was faster, and its key is the one.
    let key = read(&file)?.context("the new master key file was deleted during the start; start again")?;
    Ok(FoundKey { key, source: KeySource::File(file) })
}

const MAKE_ONE: &str = "`toolwright master-key` prints a new one: the base64 of 32 bytes. \
                        A database that is in use needs the key it was started with";

/// Refuses a key that the database does not belong to.
pub(crate) async fn check(found: &FoundKey, operator: &Operator) -> Result<()> {
    if operator.check_master_key(&found.key).await.context("cannot check the master key")? {
        return Ok(());
    }
    let hint = "stored secrets can be read only with the key they were written with: start with that key";
    match &found.source {
        KeySource::Environment => Err(refusal(
            format!("the database belongs to another master key than the one in {VARIABLE}"),
            hint,
        )),
        KeySource::File(file) => {
            let what =
                format!("the database belongs to another master key than the one in {}", file.display());
            Err(refusal(what, hint))
        }
        KeySource::Made(file) => {
            // It serves for nothing, and would only look like the right one later.
            fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
            let what = format!("the master key of this database is not there: {} is missing", file.display());
            Err(refusal(what, format!("put the file back, or set {VARIABLE} or `master_key_file`")))
        }
    }
}

/// Who else can read the key, in words; `None` where all is well.
pub(crate) fn exposure(source: &KeySource) -> Option<String> {
    match source {
        KeySource::Environment => None,
        KeySource::File(file) | KeySource::Made(file) => exposed(file).then(|| {
            format!("every user of this machine can read the master key: chmod 600 {}", file.display())
        }),
    }
}

#[cfg(unix)]
fn exposed(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}

#[cfg(not(unix))]
fn exposed(_: &Path) -> bool {
    false
}

/// Where the key of an embedded database is kept, unless somebody names another place.
pub(crate) fn own_file(target: &Target) -> Option<PathBuf> {
    folder::of(target).map(|folder| folder.join(FILE))
}

fn parse(text: &str) -> Result<MasterKey> {
    MasterKey::parse(text).context("it is not the base64 of 32 bytes")
}

pub(crate) fn read(file: &Path) -> Result<Option<MasterKey>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read the master key in {}", file.display()));
        }
    };
    let key = parse(&text)
        .with_context(|| format!("{} is not a valid master key", file.display()))
        .hint(MAKE_ONE)?;
    Ok(Some(key))
}

/// Writes a new key so that the file is there whole or not at all. Says whether it was this call's.
fn make(file: &Path) -> std::io::Result<bool> {
    let folder = file.parent().unwrap_or(Path::new("."));
    match written(folder, &MasterKey::generate())?.persist_noclobber(file) {
        Ok(_) => {}
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error.error),
    }
    // The name has to be on disk before anything is written that only this key can read.
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    Ok(true)
}

/// Puts another key in the place of one, at once.
pub(crate) fn replace(file: &Path, key: &MasterKey) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    written(folder, key)?.persist(file)?;
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}

fn written(folder: &Path, key: &MasterKey) -> std::io::Result<tempfile::NamedTempFile> {
    // The permissions of such a file are its owner's alone from the start.
    let mut new = tempfile::Builder::new().prefix(".master.key.").tempfile_in(folder)?;
    writeln!(new, "{}", key.to_text())?;
    new.as_file().sync_all()?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(folder: &Path) -> Target {
        Target::sqlite_in(folder)
    }

    #[cfg(unix)]
    #[test]
    fn made_key_is_for_its_owner_alone_and_stays_the_same() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let target = in_folder(folder.path());
        let config = Config::default();
        assert!(find(&config, &target).unwrap().is_none());

        let made = find_or_make(&config, &target).unwrap();
        let file = folder.path().join(FILE);
        assert_eq!(made.source, KeySource::Made(file.clone()));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(exposure(&made.source), None);

        let again = find_or_make(&config, &target).unwrap();
        assert_eq!(again.source, KeySource::File(file));
        assert_eq!(again.key.fingerprint(), made.key.fingerprint());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
    }

    #[cfg(unix)]
    #[test]
    fn key_file_that_everybody_can_read_is_told() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, MasterKey::generate().to_text()).unwrap();
        let config = Config { master_key_file: Some(file.clone()), ..Config::default() };
        for (mode, told) in [(0o600, false), (0o640, false), (0o644, true)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let found = find(&config, &in_folder(folder.path())).unwrap().unwrap();
            assert_eq!(exposure(&found.source).is_some(), told, "{mode:o}");
        }
    }

    #[test]
    fn second_of_two_makers_takes_the_key_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        assert!(make(&file).unwrap());
        let first = fs::read_to_string(&file).unwrap();
        assert!(!make(&file).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), first);
    }

    #[test]
    fn postgres_without_a_key_is_told_both_settings() {
        let target = Target::Postgres { url: "postgres://u@localhost/db".to_owned() };
        let text = crate::fail::text(&find_or_make(&Config::default(), &target).unwrap_err());
        for part in [VARIABLE, "master_key_file", "toolwright master-key"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn file_without_a_key_is_refused_and_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        fs::write(&file, "canary").unwrap();
        let config = Config { master_key_file: Some(file.clone()), ..Config::default() };
        let text = crate::fail::text(&find(&config, &in_folder(folder.path())).unwrap_err());
        assert!(text.contains("is not a valid master key") && !text.contains("canary"), "{text}");

        fs::remove_file(&file).unwrap();
        let text = crate::fail::text(&find(&config, &in_folder(folder.path())).unwrap_err());
        assert!(text.contains("there is no file"), "{text}");
    }
}
