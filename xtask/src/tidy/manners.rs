//! The repository says nothing about the machine it was written on.

use std::{env, path::Path};

use super::{Problem, Text};

pub(crate) fn check(root: &Path, files: &[Text]) -> Vec<Problem> {
    let home = env::var("HOME").unwrap_or_default();
    refuse(&private_paths(&root.to_string_lossy(), &home), files)
}

/// The paths that must not appear. One with a single step, such as `/app`, is too common a word to
/// look for as a checkout; as a home (`/root`) it counts with what comes behind it.
fn private_paths(root: &str, home: &str) -> Vec<String> {
    let steps = |path: &str| path.split('/').filter(|step| !step.is_empty()).count();
    let checkout = (steps(root) > 1).then(|| root.to_owned());
    let home = (steps(home) > 0).then(|| format!("{}/", home.trim_end_matches('/')));
    checkout.into_iter().chain(home).collect()
}

fn refuse(private: &[String], files: &[Text]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| !exempt(path)) {
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = private.iter().find(|private| names(line, private)) {
                let text = format!("`{found}` is a path on your machine: write a path inside the repository");
                problems.push(Problem::new(path.as_str(), index + 1, text));
            }
        }
    }
    problems
}

/// The lock file is cargo's; inside a container image, `/root` is not a machine of ours.
fn exempt(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "Cargo.lock" || name.contains("Dockerfile")
}

/// Whether the line names the path itself and not a longer word that contains it.
fn names(line: &str, private: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    line.match_indices(private).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + private.len()..].chars().next();
        !before.is_some_and(word) && (private.ends_with('/') || !after.is_some_and(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_paths_are_refused_with_their_line() {
        assert_eq!(found("docs/a.md", "fine\nsee /srv/ada/toolwright/docs"), ["docs/a.md:2"]);
        assert_eq!(found("a.sh", "cd '/srv/ada/toolwright'"), ["a.sh:1"]);
        assert_eq!(found("a.sh", "PATH=/homes/ada/bin"), ["a.sh:1"]);
    }

    #[test]
    fn longer_words_and_other_places_are_not() {
        assert_eq!(found("a.md", "/srv/ada/toolwright-old and x/srv/ada/toolwright"), [""; 0]);
        assert_eq!(found("a.md", "/homes/ada, /homes/bert/bin, x/homes/ada/bin"), [""; 0]);
        assert_eq!(found("web/Dockerfile", "COPY . /homes/ada/bin"), [""; 0]);
        assert_eq!(found("Cargo.lock", "/srv/ada/toolwright"), [""; 0]);
    }

    #[test]
    fn short_paths_are_no_checkout() {
        assert_eq!(private_paths("/app", "/ada"), ["/ada/"]);
        assert_eq!(private_paths("/srv/app", "/"), ["/srv/app"]);
        assert_eq!(private_paths("/app", ""), [""; 0]);
    }

    fn found(path: &str, text: &str) -> Vec<String> {
        let private = private_paths("/srv/ada/toolwright", "/homes/ada");
        let problems = refuse(&private, &[(path.to_owned(), text.to_owned())]);
        problems.iter().map(|problem| format!("{}:{}", problem.file, problem.line)).collect()
    }
}
