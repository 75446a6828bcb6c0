//! Names of permissions, and sets of them.

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a permission, such as `tools.tenant.run`.
///
/// Groups joined by dots, 64 bytes at most; a group starts with a letter and goes on with `a-z`,
/// `0-9` or `_`. The same name stands in a role, an audit line and an error text, so the alphabet is
/// narrow on purpose: nothing in a name ever needs escaping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission(Arc<str>);

/// Why a text is not a permission.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    #[error("a permission must have 1 to {max} bytes, not {len}", max = Permission::LEN_MAX)]
    Length { len: usize },
    #[error("a permission cannot contain {found:?}")]
    Character { found: char },
    #[error("every group of a permission must start with a letter")]
    GroupStart,
}

impl Permission {
    pub const LEN_MAX: usize = 64;

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Permission {
    type Err = PermissionError;

    fn from_str(text: &str) -> Result<Self, PermissionError> {
        if text.is_empty() || Self::LEN_MAX < text.len() {
            return Err(PermissionError::Length { len: text.len() });
        }
        let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '.');
        if let Some(found) = text.chars().find(|c| !allowed(*c)) {
            return Err(PermissionError::Character { found });
        }
        if text.split('.').any(|group| !group.starts_with(|c: char| c.is_ascii_lowercase())) {
            return Err(PermissionError::GroupStart);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a principal may do. Cheap to clone: keys of one role share one set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PermissionSet(Arc<BTreeSet<Permission>>);

impl PermissionSet {
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        // Sets are small (tens of names), and a lookup by `&str` needs no allocation this way.
        self.0.iter().any(|permission| permission.as_str() == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Permission> {
        self.0.iter()
    }

    /// What both sides hold: the rights of a call that one principal makes on behalf of another.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        if Arc::ptr_eq(&self.0, &other.0) {
            return self.clone();
        }
        Self(Arc::new(self.0.intersection(&other.0).cloned().collect()))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().collect()))
    }
}
