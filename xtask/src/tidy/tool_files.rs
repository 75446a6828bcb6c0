//! A tool is a file with `#[tool]` and one `mod` line beside it. A file without the line compiles
//! nowhere and would be missing from the catalogue in silence.

use super::{Problem, Text};

pub(crate) const SOURCES: &str = "crates/tw-tools/src";

pub(crate) fn check(files: &[Text]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, _) in files.iter().filter(|(path, _)| path != &format!("{SOURCES}/lib.rs")) {
        let Some((folder, module)) = place(path) else { continue };
        // Tests of a file stand beside it, and that file takes them in by their path.
        if module.ends_with("_tests") {
            continue;
        }
        if !files.iter().any(|(parent, text)| is_parent(parent, folder) && declares(text, module)) {
            let text = format!("write `mod {module};` in {folder}/{}", parent_name(folder));
            problems.push(Problem::new(path.as_str(), 1, text));
        }
    }
    problems
}

/// The folder whose module declares the file, and the module's name. A `mod.rs` stands for its folder.
fn place(path: &str) -> Option<(&str, &str)> {
    let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"))?;
    module.rsplit_once('/')
}

fn parent_name(folder: &str) -> &'static str {
    if folder == SOURCES { "lib.rs" } else { "mod.rs" }
}

fn is_parent(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) == Some(parent_name(folder))
}

fn declares(text: &str, module: &str) -> bool {
    let declaration = format!("mod {module};");
    text.lines().map(str::trim).any(|line| {
        line == declaration || line.starts_with("pub") && line.ends_with(&format!(" {declaration}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_tool_has_no_problem() {
        let files =
            [("lib.rs", "pub mod text;"), ("text/mod.rs", "mod count;"), ("text/count.rs", "#[tool(slug)]")];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn orphan_is_told_which_line_it_lacks() {
        let files = [
            ("lib.rs", "mod text;"),
            ("text/mod.rs", "mod counts;\n// mod count;"),
            ("text/count.rs", "#[tool]"),
        ];
        assert_eq!(
            found(&files),
            ["crates/tw-tools/src/text/count.rs:1: write `mod count;` in crates/tw-tools/src/text/mod.rs"]
        );
    }

    #[test]
    fn orphan_folder_is_told_too() {
        let files = [("lib.rs", ""), ("text/mod.rs", "pub(crate) mod count;"), ("text/count.rs", "#[tool]")];
        assert_eq!(
            found(&files),
            ["crates/tw-tools/src/text/mod.rs:1: write `mod text;` in crates/tw-tools/src/lib.rs"]
        );
    }

    #[test]
    fn what_several_tools_share_is_declared_like_a_tool() {
        let files = [("lib.rs", "mod units;"), ("units.rs", "fn convert() {}"), ("units_tests.rs", "")];
        assert_eq!(found(&files), [""; 0]);
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let full = |(path, text): &(&str, &str)| (format!("{SOURCES}/{path}"), (*text).to_owned());
        check(&files.iter().map(full).collect::<Vec<_>>()).iter().map(Problem::to_string).collect()
    }
}
