//! One type name, one meaning.
//!
//! Whoever reads `Entry` in one crate has met it in another, and takes it for that. So a type that is known outside its
//! module (`pub` or `pub(crate)`) has a name that no other crate gives to such a type. Names within one module are that
//! module's business.

use std::collections::BTreeMap;

use super::{
    Problem,
    modules::Sources,
    source::{code, is_test_file},
};

/// Names that mean the same wherever they stand: each crate has one of its own, by a habit of the language.
const EVERYWHERE: &[&str] = &["Error", "Result"];

const FOLDER: &str = "crates/";

/// Where a name is declared first.
struct Declared<'a> {
    folder: &'a str,
    path: &'a str,
    line: usize,
}

pub(crate) fn check(crates: &[Sources]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut names: BTreeMap<String, Declared<'_>> = BTreeMap::new();
    for Sources { folder, files } in crates.iter().filter(|sources| sources.folder.starts_with(FOLDER)) {
        for (path, text) in files.iter().filter(|(path, _)| !is_test_file(path)) {
            for (index, text) in code(text).lines().enumerate() {
                let Some(name) = declared(text).filter(|name| !EVERYWHERE.contains(name)) else { continue };
                let line = index + 1;
                let first = names.entry(name.to_owned()).or_insert(Declared { folder, path, line });
                if first.folder != folder {
                    let other = format!("{}:{}", first.path, first.line);
                    let text =
                        format!("`{name}` is a type of another crate too ({other}): rename one of them");
                    problems.push(Problem::new(path.as_str(), line, text));
                }
            }
        }
    }
    problems
}

/// The name of the type that a line declares for more than its module.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
    let (word, rest) = line.strip_prefix("unsafe ").unwrap_or(line).split_once(' ')?;
    let is_type = matches!(word, "struct" | "enum" | "trait" | "type" | "union");
    let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
    // What a macro declares has its name where the macro is used.
    (is_type && 0 < end).then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_in_two_crates_is_told_with_both_places() {
        let found = found(&[
            ("crates/a/src", "\npub struct Entry<'a> {"),
            ("crates/b/src", "pub(crate) enum Entry {\n    pub(crate) type Other = u8;"),
            ("crates/c/src", "pub unsafe trait Other: Send {"),
        ]);
        let told = [
            "crates/b/src/x.rs:1: `Entry` is a type of another crate too (crates/a/src/x.rs:2): rename one of them",
            "crates/c/src/x.rs:1: `Other` is a type of another crate too (crates/b/src/x.rs:2): rename one of them",
        ];
        assert_eq!(found, told);
    }

    #[test]
    fn names_of_a_module_of_a_crate_and_of_every_crate_may_come_again() {
        let text = "pub struct Entry;\npub enum Error {}\nfn a() {}";
        for other in ["struct Entry;", "pub(super) struct Entry;", "pub enum Error {}", "pub fn Entry() {}"] {
            assert_eq!(found(&[("crates/a/src", text), ("crates/b/src", other)]), [""; 0], "{other}");
        }
        assert_eq!(found(&[("crates/a/src", text), ("xtask/src", text)]), [""; 0]);
        assert_eq!(found(&[("crates/a/src", "pub struct A;\npub struct A;")]), [""; 0]);
        let test = "#[cfg(test)]\nmod tests { \npub struct Entry;\n }";
        assert_eq!(found(&[("crates/a/src", text), ("crates/b/src", test)]), [""; 0]);
    }

    fn found(crates: &[(&str, &str)]) -> Vec<String> {
        let sources = crates.iter().map(|(folder, text)| Sources {
            folder: (*folder).to_owned(),
            files: vec![(format!("{folder}/x.rs"), (*text).to_owned())],
        });
        check(&sources.collect::<Vec<_>>()).iter().map(Problem::to_string).collect()
    }
}
