//! Profiles: servers and their keys by name, in a file that only its owner can read.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use etcetera::BaseStrategy;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::fail::{Hint, refusal};

/// The profile where none is named.
pub(super) const DEFAULT: &str = "default";

/// A server, and a key for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) url: String,
    pub(super) key: String,
}

/// The file with all profiles. What else a person wrote into it stays.
#[derive(Debug)]
pub(super) struct Profiles {
    path: PathBuf,
    document: DocumentMut,
}

/// The default profile, where there is one.
pub(super) fn default() -> Result<Option<Profile>> {
    // Somebody without a home has no profiles.
    let Ok(path) = path() else { return Ok(None) };
    Profiles::read(path)?.get(DEFAULT)
}

/// A profile that has to be there.
pub(super) fn named(name: &str) -> Result<Profile> {
    let profiles = Profiles::open()?;
    let known = profiles.names().collect::<Vec<_>>().join(", ");
    profiles.get(name)?.ok_or_else(|| {
        let known =
            if known.is_empty() { "there is none yet".to_owned() } else { format!("there are: {known}") };
        refusal(
            format!("no profile named `{name}`"),
            format!("{known}; `toolwright login --profile {name}` makes it"),
        )
    })
}

fn path() -> Result<PathBuf> {
    let home = etcetera::choose_base_strategy().context("cannot find your home folder");
    Ok(home.hint("set HOME, or give --url and --key")?.config_dir().join("toolwright").join("profiles.toml"))
}

impl Profiles {
    pub(super) fn open() -> Result<Self> {
        Self::read(path()?)
    }

    fn read(path: PathBuf) -> Result<Self> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let document = text.parse().with_context(|| format!("{} is not TOML", path.display()))?;
        Ok(Self { path, document })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.document.iter().filter(|(_, item)| item.is_table_like()).map(|(name, _)| name)
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<Profile>> {
        let Some(table) = self.document.get(name).and_then(Item::as_table_like) else { return Ok(None) };
        let text = |member: &str| {
            let text = table.get(member).and_then(Item::as_str).map(str::to_owned);
            text.with_context(|| format!("the profile `{name}` has no `{member}`")).hint(format!(
                "`toolwright login --profile {name}` writes it anew, to {}",
                self.path.display()
            ))
        };
        Ok(Some(Profile { url: text("url")?, key: text("key")? }))
    }

    pub(super) fn set(&mut self, name: &str, profile: &Profile) {
        let table = self.document.entry(name).or_insert_with(|| Item::Table(Table::new()));
        if !table.is_table_like() {
            *table = Item::Table(Table::new());
        }
        table["url"] = value(&profile.url);
        table["key"] = value(&profile.key);
    }

    /// Forgets a profile. `false` where there is none.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        self.document.remove(name).is_some()
    }

    /// Writes the file whole or not at all, for its owner alone.
    pub(super) fn save(&self) -> Result<()> {
        let folder = self.path.parent().context("the profiles have no folder")?;
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(folder)?;
            // A temporary file is its owner's alone from the start.
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(self.document.to_string().as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
            Ok(())
        };
        write().with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_is_read_as_it_was_saved_and_comments_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("profiles.toml");
        let mut profiles = Profiles::read(path.clone()).unwrap();
        assert_eq!(profiles.get("work").unwrap(), None);
        let work = Profile { url: "https://tools.example.com".to_owned(), key: "tw_1_2".to_owned() };
        profiles.set("work", &work);
        profiles.save().unwrap();
        fs::write(&path, format!("# mine\n{}", fs::read_to_string(&path).unwrap())).unwrap();

        let mut profiles = Profiles::read(path.clone()).unwrap();
        profiles.set(DEFAULT, &Profile { key: "tw_3_4".to_owned(), ..work.clone() });
        profiles.save().unwrap();

        let profiles = Profiles::read(path.clone()).unwrap();
        assert_eq!(profiles.get("work").unwrap(), Some(work));
        assert_eq!(profiles.names().collect::<Vec<_>>(), ["work", "default"]);
        assert!(fs::read_to_string(&path).unwrap().starts_with("# mine\n"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn profile_without_a_key_names_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("profiles.toml");
        fs::write(&path, "[work]\nurl = \"http://127.0.0.1:7420\"\n").unwrap();
        let error = Profiles::read(path).unwrap().get("work").unwrap_err();
        assert_eq!(error.to_string(), "the profile `work` has no `key`");
    }
}
