//! Names of tools as model providers take them.
//!
//! Providers allow letters, digits, `_` and `-`, and 64 characters; our slugs have dots and may be
//! twice as long. A dot becomes `__`, which no slug contains, so a short name reads back by itself.
//! A long one does not: that is why a toolset keeps a table, and why two tools that would share a
//! name are an error and never a coin toss.

use std::collections::HashMap;

/// How many characters a provider allows.
pub const FUNCTION_NAME_MAX: usize = 64;

/// How many characters of the digest stand at the end of a name that was cut.
const HASH_LEN: usize = 8;

/// The name under which a model calls the tool of this slug.
///
/// ```
/// assert_eq!(tw_schema::function_name("data.searchRecords"), "data__searchRecords");
/// ```
#[must_use]
pub fn function_name(slug: &str) -> String {
    let name = slug.replace('.', "__");
    if name.chars().count() <= FUNCTION_NAME_MAX {
        return name;
    }
    let hash = blake3::hash(slug.as_bytes()).to_hex();
    let kept: String = name.chars().take(FUNCTION_NAME_MAX - HASH_LEN - 1).collect();
    format!("{kept}_{}", &hash[..HASH_LEN])
}

/// The function names of one toolset, both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable {
    names: Vec<(String, String)>,
    by_wire: HashMap<String, usize>,
    by_slug: HashMap<String, usize>,
}

/// Two tools of one toolset that a model could not tell apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{first}` and `{second}` would both be called `{wire}`")]
pub struct Collision {
    pub wire: String,
    pub first: String,
    pub second: String,
}

impl NameTable {
    /// The table of these slugs. A slug that is given twice is there once.
    ///
    /// # Errors
    ///
    /// When two different slugs have the same function name.
    pub fn new<S: AsRef<str>>(slugs: impl IntoIterator<Item = S>) -> Result<Self, Collision> {
        let mut table = Self::default();
        for slug in slugs {
            table.add(slug.as_ref())?;
        }
        Ok(table)
    }

    fn add(&mut self, slug: &str) -> Result<(), Collision> {
        if self.by_slug.contains_key(slug) {
            return Ok(());
        }
        let wire = function_name(slug);
        if let Some(index) = self.by_wire.get(&wire) {
            let first = self.names[*index].1.clone();
            return Err(Collision { wire, first, second: slug.to_owned() });
        }
        let index = self.names.len();
        self.by_wire.insert(wire.clone(), index);
        self.by_slug.insert(slug.to_owned(), index);
        self.names.push((wire, slug.to_owned()));
        Ok(())
    }

    #[must_use]
    pub fn slug(&self, wire: &str) -> Option<&str> {
        self.by_wire.get(wire).map(|index| self.names[*index].1.as_str())
    }

    #[must_use]
    pub fn wire(&self, slug: &str) -> Option<&str> {
        self.by_slug.get(slug).map(|index| self.names[*index].0.as_str())
    }

    /// Pairs of function name and slug, in the order in which the slugs were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(wire, slug)| (wire.as_str(), slug.as_str()))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dots_become_two_underscores() {
        assert_eq!(function_name("web_search"), "web_search");
        assert_eq!(function_name("data.searchRecords"), "data__searchRecords");
        assert_eq!(function_name("a.b.c"), "a__b__c");
    }

    #[test]
    fn name_past_64_characters_is_cut_and_ends_in_a_hash() {
        let fits = "a".repeat(64);
        assert_eq!(function_name(&fits), fits);
        let long = format!("{}x", "a".repeat(64));
        let name = function_name(&long);
        assert_eq!(name.len(), 64);
        assert!(name.starts_with(&"a".repeat(55)));
        let hash = name[55..].strip_prefix('_').unwrap();
        assert!(hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
        // The dots count as two: 63 characters of slug make 65 of name.
        let dotted = format!("{}.b.c", "a".repeat(59));
        assert_eq!((dotted.len(), function_name(&dotted).len()), (63, 64));
    }

    #[test]
    fn long_names_with_a_common_beginning_stay_apart() {
        let common = "a".repeat(100);
        let slugs: Vec<String> = (0..1000).map(|n| format!("{common}{n}")).collect();
        let table = NameTable::new(&slugs).unwrap();
        for slug in &slugs {
            assert_eq!(table.wire(slug).and_then(|wire| table.slug(wire)), Some(slug.as_str()));
        }
    }

    #[test]
    fn two_slugs_of_one_name_are_refused_with_both_named() {
        // No slug contains `__`, but a table must not rely on who made its slugs.
        let collision = NameTable::new(["a.b", "c", "a__b"]).unwrap_err();
        assert_eq!(collision.to_string(), "`a.b` and `a__b` would both be called `a__b`");
        let long = "a".repeat(70);
        let collision = NameTable::new([long.clone(), function_name(&long)]).unwrap_err();
        assert_eq!((collision.first, collision.second), (long.clone(), function_name(&long)));
    }

    #[test]
    fn table_leads_both_ways_and_keeps_the_order() {
        let table = NameTable::new(["b.x", "a", "b.x"]).unwrap();
        assert_eq!(table.iter().collect::<Vec<_>>(), [("b__x", "b.x"), ("a", "a")]);
        assert_eq!((table.len(), table.is_empty()), (2, false));
        assert_eq!((table.slug("b__x"), table.wire("b.x")), (Some("b.x"), Some("b__x")));
        assert_eq!((table.slug("b.x"), table.wire("b__x")), (None, None));
    }

    proptest! {
        #[test]
        fn every_slug_has_a_name_that_providers_take(
            slug in "[a-zA-Z][a-zA-Z0-9-]{0,40}(\\.[a-zA-Z][a-zA-Z0-9_]{0,8}[a-z0-9]){0,8}",
        ) {
            let name = function_name(&slug);
            prop_assert!(name.len() <= FUNCTION_NAME_MAX);
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
            if slug.replace('.', "__").len() <= FUNCTION_NAME_MAX && !slug.contains("__") && !slug.contains("_.") {
                prop_assert_eq!(name.replace("__", "."), slug);
            }
        }
    }
}
