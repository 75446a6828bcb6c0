//! Every error code has its page, and every page its code.

use std::collections::BTreeMap;

use super::Problem;

/// The one place where codes are declared, as `Variant => "CODE", status, "title";`.
pub(crate) const CODES: &str = "crates/tw-model/src/code.rs";
pub(crate) const PAGES: &str = "docs/errors";

pub(crate) fn check(source: Option<&str>, pages: &[String]) -> Vec<Problem> {
    let Some(source) = source else {
        return vec![Problem::new(CODES, 1, "the file that declares the error codes is not there")];
    };
    let codes = codes(source);
    let mut problems = Vec::new();
    if codes.is_empty() {
        problems.push(Problem::new(CODES, 1, "no error code was found in a `codes! { … }`"));
    }
    for (code, line) in &codes {
        if !pages.contains(&format!("{code}.md")) {
            problems.push(Problem::new(CODES, *line, format!("{code} has no page, write {PAGES}/{code}.md")));
        }
    }
    // A README may say what the folder is; everything else is a page.
    for page in pages.iter().filter(|page| *page != "README.md") {
        if !page.strip_suffix(".md").is_some_and(|code| codes.contains_key(code)) {
            let text = format!("no error code has this page, declare it in {CODES} or remove the page");
            problems.push(Problem::new(format!("{PAGES}/{page}"), 1, text));
        }
    }
    problems
}

/// The codes inside `codes! { … }` and their lines. The call ends at the first `}` that starts a line.
fn codes(source: &str) -> BTreeMap<&str, usize> {
    let lines = source.lines().enumerate().skip_while(|(_, line)| !line.starts_with("codes!"));
    let body = lines.take_while(|(_, line)| !line.starts_with('}'));
    body.filter_map(|(index, line)| Some((code(line)?, index + 1))).collect()
}

/// The first string literal behind `=>`, when it is written like a code.
fn code(line: &str) -> Option<&str> {
    let (_, declared) = line.split_once("=>")?;
    let (code, _) = declared.trim_start().strip_prefix('"')?.split_once('"')?;
    let shaped = code.starts_with(|c: char| c.is_ascii_uppercase())
        && code.chars().all(|c| matches!(c, 'A'..='Z' | '0'..='9' | '_'));
    shaped.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
macro_rules! codes {
    ($($name:ident => $code:literal, $status:literal, $title:literal;)*) => { };
}

codes! {
    /// No such tool.
    ToolNotFound => "TOOL_NOT_FOUND", 404, "No tool of that name is in the catalogue";
    Conflict => "CONFLICT", 409, "Someone else was first";
}

fn other(level: Level) -> &'static str {
    match level { Level::Read => "READ" }
}
"#;

    #[test]
    fn codes_and_pages_that_match_have_no_problem() {
        assert_eq!(found(Some(SOURCE), "CONFLICT.md README.md TOOL_NOT_FOUND.md"), [""; 0]);
    }

    #[test]
    fn code_without_a_page_is_named_with_its_line() {
        assert_eq!(
            found(Some(SOURCE), "CONFLICT.md"),
            [
                "crates/tw-model/src/code.rs:8: TOOL_NOT_FOUND has no page, write docs/errors/TOOL_NOT_FOUND.md"
            ]
        );
    }

    #[test]
    fn page_without_a_code_is_named() {
        let problems = found(Some(SOURCE), "CONFLICT.md READ.md TOOL_NOT_FOUND.md notes.txt");
        assert_eq!(problems.len(), 2);
        assert!(
            problems[0].starts_with("docs/errors/READ.md:1: no error code has this page"),
            "{problems:?}"
        );
        assert!(problems[1].starts_with("docs/errors/notes.txt:1:"), "{problems:?}");
    }

    #[test]
    fn missing_or_empty_declaration_does_not_pass() {
        assert_eq!(
            found(None, "CONFLICT.md"),
            ["crates/tw-model/src/code.rs:1: the file that declares the error codes is not there"]
        );
        assert_eq!(found(Some("// nothing yet"), "").len(), 1);
    }

    fn found(source: Option<&str>, pages: &str) -> Vec<String> {
        let pages: Vec<String> = pages.split_whitespace().map(str::to_owned).collect();
        check(source, &pages).iter().map(Problem::to_string).collect()
    }
}
