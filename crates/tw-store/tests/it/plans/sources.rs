//! Every piece of SQL that is written down in the sources of the store.

use std::{fs, path::Path};

use tw_test::Kind;

use super::recorder::single_blanks;

/// A piece of SQL in a string literal.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) file: String,
    /// What is fixed of it, in order, with single blanks.
    parts: Vec<String>,
    /// The one database that it is for.
    only: Option<Kind>,
}

impl Piece {
    /// Whether it has to be said on this database.
    pub(super) fn is_for(&self, kind: Kind) -> bool {
        self.only.is_none_or(|only| only == kind)
    }

    pub(super) fn is_part_of(&self, statement: &str) -> bool {
        let mut rest = statement;
        self.parts.iter().all(|part| match rest.split_once(part.as_str()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    }

    pub(super) fn text(&self) -> String {
        self.parts.join(" … ")
    }
}

/// The settings that leave PostgreSQL one plan, as `db.rs` has them.
pub(super) fn one_plan() -> Vec<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/db.rs");
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(".options(ONE_PLAN)"), "the pool has these settings");
    let (_, after) = text.split_once("const ONE_PLAN").unwrap();
    let (settings, _) = after.split_once("];").unwrap();
    let mut words = literals(settings).into_iter().map(|(_, word)| word);
    std::iter::from_fn(|| words.next().zip(words.next())).collect()
}

/// All pieces of SQL of this crate.
pub(super) fn pieces() -> Vec<Piece> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut pieces = Vec::new();
    for (file, text) in files {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (before, literal) in literals(code) {
            if is_sql(&before, &literal) {
                let parts = literal.split(['{', '}']).step_by(2).map(single_blanks);
                let parts = parts.filter(|part| !part.is_empty()).collect();
                pieces.push(Piece { only: only(&file, &before), file: file.clone(), parts });
            }
        }
    }
    pieces
}

fn collect(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().display().to_string();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn is_sql(before: &str, literal: &str) -> bool {
    let text = literal.trim_start();
    let begins =
        ["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "WITH ", "VACUUM ", "BEGIN", "ORDER BY "];
    let compares = [" =", " <", " >", " <=", " >=", " <>"];
    let has_value =
        text.match_indices('$').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    begins.iter().any(|word| text.starts_with(word))
        || compares.iter().any(|operator| text.ends_with(operator))
        || text.contains(" JOIN ")
        || has_value
        || before.ends_with("and_always(")
        || before.ends_with("any_of(")
}

/// The database that a piece is for, by the file it is in or the word before it.
fn only(file: &str, before: &str) -> Option<Kind> {
    let word = |words: &[&str]| words.iter().filter_map(|word| before.rfind(word)).max();
    let is_postgres = ["log/postgres.rs", "log/one_trip.rs"].iter().any(|name| file.ends_with(name));
    match (file.ends_with("log/sqlite.rs"), is_postgres) {
        (true, _) => return Some(Kind::Sqlite),
        (_, true) => return Some(Kind::Postgres),
        _ => {}
    }
    match (word(&["SQLITE:", "sqlite:", "Sqlite"]), word(&["PG:", "postgres:", "Pg("])) {
        (Some(sqlite), Some(postgres)) if sqlite < postgres => Some(Kind::Postgres),
        (None, Some(_)) => Some(Kind::Postgres),
        (Some(_), _) => Some(Kind::Sqlite),
        (None, None) => None,
    }
}

/// The string literals of Rust code, each with a few characters of what is before it on one line.
fn literals(code: &str) -> Vec<(String, String)> {
    const BEFORE: usize = 60;
    let chars: Vec<char> = code.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let (mut index, mut before) = (0, String::new());
    while index < chars.len() {
        match (at(index), at(index + 1)) {
            ('/', '/') => {
                while index < chars.len() && at(index) != '\n' {
                    index += 1;
                }
            }
            ('\'', '\\') => index += 4,
            ('\'', _) if at(index + 2) == '\'' => index += 3,
            ('r', '#') if at(index + 2) == '"' => {
                index += 3;
                while index < chars.len() && (at(index), at(index + 1)) != ('"', '#') {
                    index += 1;
                }
                index += 2;
            }
            ('"', _) => {
                let mut literal = String::new();
                index += 1;
                while index < chars.len() && at(index) != '"' {
                    if at(index) == '\\' {
                        index += 1;
                    }
                    literal.push(at(index));
                    index += 1;
                }
                index += 1;
                let context = single_blanks(&before);
                let start = context.char_indices().rev().nth(BEFORE).map_or(0, |(at, _)| at);
                found.push((context[start..].to_owned(), literal));
                before.clear();
            }
            (char, _) => {
                before.push(char);
                index += 1;
            }
        }
    }
    found
}
