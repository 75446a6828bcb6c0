//! A path in backticks on a page of the repository names something that is there.
//!
//! A path is a word with a slash in it that ends in a slash or in a name with an extension. It is looked
//! for below the repository's root, below `crates/` and beside the page. What a reader fills in
//! (`docs/errors/CODE.md`, `<name>`, `…`), an address and a path of a machine are not looked for.

use super::{Problem, Text};

/// What a build makes, and what pages use as a placeholder.
const NOT_IN_GIT: &[&str] = &["target/", "web/dist/", "web/node_modules/"];
const PLACEHOLDERS: &[&str] = &["CODE.md", "NNNN-some-words.md"];

/// `exists` is asked for paths from the root; folders come with their slash.
pub(crate) fn check(files: &[Text], exists: impl Fn(&str) -> bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (page, text) in files.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, path) in spans(text).into_iter().filter_map(|(line, span)| Some((line, path(span)?))) {
            if !places(page, path).iter().any(|place| exists(place)) {
                let text = format!("`{path}` is not there: name the path it has now, or leave it out");
                problems.push(Problem::new(page.as_str(), line, text));
            }
        }
    }
    problems
}

/// The code spans of a page with their lines, without its code blocks.
fn spans(text: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut in_block = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
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

fn places(page: &str, path: &str) -> [String; 3] {
    let folder = page.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    [path.to_owned(), format!("crates/{path}"), format!("{folder}{path}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: &[&str] = &["docs/adr/", "crates/tw-model/src/code.rs", "docs/images/flow.png"];

    #[test]
    fn path_that_is_there_has_no_problem() {
        let page = "`docs/adr/`, `tw-model/src/code.rs`, `crates/tw-model/src/code.rs:12`, `images/flow.png`";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn path_that_is_not_there_is_told_with_its_line() {
        assert_eq!(
            found("fine\nsee `docs/old.md` and `web/gone/`"),
            [
                "docs/page.md:2: `docs/old.md` is not there: name the path it has now, or leave it out",
                "docs/page.md:2: `web/gone/` is not there: name the path it has now, or leave it out",
            ]
        );
    }

    #[test]
    fn what_is_no_path_of_the_repository_is_left_alone() {
        let page = "`tools/list`, `application/json`, `/api/openapi.json`, `https://a.example/x.js`, `a/<b>.rs`, \
                    `docs/errors/CODE.md`, `target/debug/toolwright.d`, `./x/y.sh`, `cargo x/y.rs`, `*/x.rs`";
        assert_eq!(found(page), [""; 0]);
    }

    #[test]
    fn code_block_is_left_alone() {
        assert_eq!(found("```sh\ncp `docs/old.md` x\n```\n"), [""; 0]);
    }

    fn found(page: &str) -> Vec<String> {
        let files =
            [("docs/page.md".to_owned(), page.to_owned()), ("a.rs".to_owned(), "`no/x.rs`".to_owned())];
        check(&files, |path| THERE.contains(&path)).iter().map(Problem::to_string).collect()
    }
}
