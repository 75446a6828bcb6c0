//! A path in backticks, on a page of the repository or in a comment, names something that is there.
//!
//! - A path is a word with a slash in it that ends in a slash or in a name with an extension. It is looked for below
//!   the repository's root, below `crates/`, beside the page and in the crate of the comment.
//! - A file name without a folder (`rights.rs`) is the name of some file.
//! - A path into a crate of the house (`tw_policy::strictest`) ends in a word that its sources have.
//!
//! What a reader fills in (`docs/errors/CODE.md`, `<name>`, `…`), an address and a path of a machine are not looked
//! for.

use std::collections::{BTreeMap, BTreeSet};

use super::{Problem, Text};

/// What a build makes, and what pages use as a placeholder.
const NOT_IN_GIT: &[&str] = &["target/", "web/dist/", "web/node_modules/"];
const PLACEHOLDERS: &[&str] = &["CODE.md", "NNNN-some-words.md"];

/// Where a name without a folder is meant as a file. `settings.json` may be one of somebody else's.
const SOURCES: &[&str] = &["rs", "ts", "tsx", "sql"];

/// `exists` is asked for paths from the root; folders come with their slash.
pub(crate) fn check(files: &[Text], exists: impl Fn(&str) -> bool) -> Vec<Problem> {
    let names: BTreeSet<&str> = files.iter().map(|(path, _)| name_of(path)).collect();
    let words = words_by_crate(files);
    let mut problems = Vec::new();
    for (page, text) in files {
        for (line, span) in spans(page, text) {
            let is_there = if let Some(path) = path(span) {
                places(page, path).iter().any(|place| exists(place))
            } else if is_source_name(span) {
                names.contains(span)
            } else if let Some((of, last)) = crate_path(span) {
                words.get(&of).is_some_and(|words| words.contains(last))
            } else {
                true
            };
            if !is_there {
                let text = format!("`{span}` is not there: name what it is now, or leave it out");
                problems.push(Problem::new(page.as_str(), line, text));
            }
        }
    }
    problems
}

/// The words in the sources of every crate, by the crate's name in paths.
fn words_by_crate(files: &[Text]) -> BTreeMap<String, BTreeSet<&str>> {
    let mut words: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let Some((name, _)) = path.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/")) else {
            continue;
        };
        let of_file = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.entry(name.replace('-', "_")).or_default().extend(of_file);
    }
    words
}

/// The code spans of a page, or of the comments of a source, with their lines and without code blocks.
fn spans<'a>(page: &str, text: &'a str) -> Vec<(usize, &'a str)> {
    let prose: fn(&'a str) -> Option<&'a str> = match page.rsplit_once('.') {
        Some((_, "md")) => |line| Some(line.trim_start()),
        Some((_, "rs")) => {
            |line| Some(line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!', ' ']))
        }
        _ => return Vec::new(),
    };
    let mut spans = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        let Some(line) = prose(line) else { continue };
        if line.starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            // Every second part of a line lies between backticks.
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (index + 1, span)));
        }
    }
    spans
}

/// The path that a code span names, without a line number behind it.
fn path(span: &str) -> Option<&str> {
    let path = match span.rsplit_once(':') {
        Some((path, line)) if line.bytes().all(|b| b.is_ascii_digit() || b == b'-') => path,
        _ => span,
    };
    let plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_'));
    let (folders, name) = path.rsplit_once('/')?;
    let relative = !folders.is_empty() && !path.starts_with(['/', '.']);
    let known = NOT_IN_GIT.iter().any(|start| path.starts_with(start)) || PLACEHOLDERS.contains(&name);
    (plain && relative && !known && (name.is_empty() || has_extension(name))).then_some(path)
}

fn has_extension(name: &str) -> bool {
    let short = |end: &str| (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase());
    name.rsplit_once('.').is_some_and(|(_, end)| short(end))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_source_name(span: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let end = span.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() && span.chars().all(plain));
    end.is_some_and(|(_, end)| SOURCES.contains(&end))
}

/// The crate of a path in code, and the path's last word.
fn crate_path(span: &str) -> Option<(String, &str)> {
    let path = span.split_once(['(', '<', '!']).map_or(span, |(path, _)| path);
    let (of, rest) =
        path.split_once("::").filter(|(of, _)| of.starts_with("tw_") || *of == "toolwright_sdk")?;
    let last = rest.rsplit("::").next().unwrap_or(rest);
    let plain = !last.is_empty() && last.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain.then(|| (of.to_owned(), last))
}

/// Where a path may be meant from: the root, the crates, the page's own folder, and the crate that the page is in.
fn places(page: &str, path: &str) -> Vec<String> {
    let folder = page.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let own = page.split_once("/src/").or_else(|| page.split_once("/tests/"));
    let own = own.map(|(own, _)| [format!("{own}/{path}"), format!("{own}/src/{path}")]);
    let mut places = vec![path.to_owned(), format!("crates/{path}"), format!("{folder}{path}")];
    places.extend(own.into_iter().flatten());
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: &[&str] =
        &["docs/adr/", "crates/tw-model/src/code.rs", "docs/images/flow.png", "crates/tw-model/src/a/"];

    #[test]
    fn path_that_is_there_has_no_problem() {
        let page = "`docs/adr/`, `tw-model/src/code.rs`, `crates/tw-model/src/code.rs:12`, `images/flow.png`, \
                    `code.rs`, `tw_model::Code`, `tw_model::code::Code::new(…)`";
        assert_eq!(found("docs/page.md", page), [""; 0]);
    }

    #[test]
    fn what_is_not_there_is_told_with_its_line() {
        let told =
            |what| format!("docs/page.md:2: `{what}` is not there: name what it is now, or leave it out");
        assert_eq!(
            found(
                "docs/page.md",
                "fine\nsee `docs/old.md` and `web/gone/`, `gone.rs` and `tw_model::Gone`, `tw_gone::Code`"
            ),
            ["docs/old.md", "web/gone/", "gone.rs", "tw_model::Gone", "tw_gone::Code"].map(told)
        );
    }

    #[test]
    fn comment_of_a_source_is_held_like_a_page() {
        let text =
            "//! See `src/a/`, `a/` and `b/`.\nlet text = \"`c/`\"; // `d/`\n    /// `no/x.rs`\n// `gone.rs`";
        let files = found("crates/tw-model/src/tool.rs", text);
        let told: Vec<_> = files.iter().filter_map(|problem| problem.split('`').nth(1)).collect();
        assert_eq!(told, ["b/", "no/x.rs", "gone.rs"]);
    }

    #[test]
    fn what_is_no_path_of_the_repository_is_left_alone() {
        let page = "`tools/list`, `application/json`, `/api/openapi.json`, `https://a.example/x.js`, `a/<b>.rs`, \
                    `docs/errors/CODE.md`, `target/debug/toolwright.d`, `./x/y.sh`, `cargo x/y.rs`, `*/x.rs`, \
                    `settings.json`, `*.rs`, `.rs`, `tw_`, `std::fs`, `tw_model::*`";
        assert_eq!(found("docs/page.md", page), [""; 0]);
    }

    #[test]
    fn code_block_is_left_alone() {
        assert_eq!(found("docs/page.md", "```sh\ncp `docs/old.md` x\n```\n"), [""; 0]);
        assert_eq!(found("a.rs", "/// ```\n/// `docs/old.md`\n/// ```\n"), [""; 0]);
    }

    fn found(page: &str, text: &str) -> Vec<String> {
        let files = [(page, text), ("crates/tw-model/src/code.rs", "pub enum Code {} fn new() {}")];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        check(&files, |path| THERE.contains(&path)).iter().map(Problem::to_string).collect()
    }
}
