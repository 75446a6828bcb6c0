//! A feature of the web app does not import from another.
//!
//! What two features need belongs below both: in `kit`, in `api`, or in the features `form` and `result`, which
//! exist for the others.

use super::{Problem, Text};

pub(crate) const FOLDER: &str = "web/src/features/";
const FOR_ALL: &[&str] = &["form", "result"];

pub(crate) fn check(files: &[Text]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| is_source(path)) {
        let Some(own) = feature(path) else { continue };
        for (line, other) in imported(path, text) {
            if other == own || FOR_ALL.contains(&other.as_str()) {
                continue;
            }
            let text =
                format!("feature `{own}` imports from feature `{other}`: move what both need to `~/kit`");
            problems.push(Problem::new(path.as_str(), line, text));
        }
    }
    problems
}

/// Tests may compare one feature with another.
fn is_source(path: &str) -> bool {
    path.starts_with(FOLDER) && (path.ends_with(".ts") || path.ends_with(".tsx")) && !path.contains(".test.")
}

fn feature(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.split_once('/').map(|(feature, _)| feature)
}

/// The features that a file imports from, with the lines.
fn imported(path: &str, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, quote) in text.match_indices(['\'', '"', '`']) {
        if !is_import(&text[..index]) {
            continue;
        }
        let Some((specifier, _)) = text[index + 1..].split_once(quote) else { continue };
        if let Some(other) = resolve(path, specifier).as_deref().and_then(feature) {
            found.push((text[..index].matches('\n').count() + 1, other.to_owned()));
        }
    }
    found
}

/// Whether what stands before a quote makes it an import: `from`, `import` or `import(`.
fn is_import(before: &str) -> bool {
    let before = before.trim_end();
    let called = before.strip_suffix('(').map(str::trim_end);
    let last = called.unwrap_or(before).rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
    last == Some("import") || called.is_none() && last == Some("from")
}

/// Where an import leads, as a path from the root; nothing for a package.
fn resolve(path: &str, specifier: &str) -> Option<String> {
    if let Some(inner) = specifier.strip_prefix("~/") {
        return Some(format!("web/src/{inner}"));
    }
    let (folder, _) = path.rsplit_once('/')?;
    let mut parts: Vec<&str> = folder.split('/').collect();
    if !specifier.starts_with('.') {
        return None;
    }
    for part in specifier.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_from_below_have_no_problem() {
        let text = "import { a } from '~/kit/a'\nimport { b } from '~/features/form/b'\nimport c from './c'\n\
                    import d from '../result/d'\nimport { useQuery } from '@tanstack/react-query'";
        assert_eq!(found("tools/page.tsx", text), [""; 0]);
    }

    #[test]
    fn import_from_another_feature_is_told_with_its_line() {
        let expected = "web/src/features/tools/page.tsx:2: feature `tools` imports from feature `runs`: \
                        move what both need to `~/kit`";
        assert_eq!(found("tools/page.tsx", "\nimport { b } from '~/features/runs/b'"), [expected]);
        assert_eq!(found("tools/page.tsx", "\nexport * from '../runs/b'"), [expected]);
        assert_eq!(found("tools/page.tsx", "\nimport \"~/features/runs/b\""), [expected]);
        for page in ["'../runs/page'", "\"../runs/page\"", " `../runs/page`", "'~/features/runs/page'"] {
            assert_eq!(
                found("tools/page.tsx", &format!("\nconst page = lazy(() => import({page}))")),
                [expected]
            );
        }
        assert_eq!(found("tools/page.tsx", "import(\n  '../runs/page',\n)"), [expected]);
    }

    #[test]
    fn text_that_only_looks_like_an_import_is_left_alone() {
        let text = "const from = ['../runs/b']\nArray.from('../runs/b')\nreimport('../runs/b')\nt('from', '../runs/b')";
        assert_eq!(found("tools/page.tsx", text), [""; 0]);
    }

    #[test]
    fn deeper_folder_is_still_the_same_feature() {
        assert_eq!(found("admin/editor/panel.tsx", "import { b } from '../versions/b'"), [""; 0]);
    }

    #[test]
    fn test_may_import_from_another_feature() {
        assert_eq!(found("tools/page.test.tsx", "import { b } from '~/features/runs/b'"), [""; 0]);
    }

    fn found(path: &str, text: &str) -> Vec<String> {
        let files = [(format!("{FOLDER}{path}"), text.to_owned())];
        check(&files).iter().map(Problem::to_string).collect()
    }
}
